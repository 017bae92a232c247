"""The compiler's problems of the scripts that are open."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence

from ..compiler.compiled import CompileOptions
from ..compiler.reading import read_script
from ..compiler.session import CompileSession
from ..grammar.problems import Problem, Problems
from ..grammar.records import dataclass
from ..grammar.source import Source
from .documents import Document

Prepare = Callable[[Source, Problems], Source]
"""Obeys sqlcmd's directives of a script; adds what is wrong with them."""


@dataclass(frozen=True)
class Finding:
    """A problem at characters ``start`` … ``end - 1`` of the document."""

    start: int
    end: int
    problem: Problem


def check(
    documents: Sequence[Document], options: CompileOptions, prepare: Prepare
) -> list[tuple[Document, list[Finding]]]:
    """Return what is wrong with each document; definitions of all of them are known to each.

    Never raises: an error of the compiler itself is a finding at the beginning of the document.
    """
    return [
        (document, _check(document, [one for one in documents if one is not document], options, prepare))
        for document in documents
    ]


def _check(
    document: Document, others: Sequence[Document], options: CompileOptions, prepare: Prepare
) -> list[Finding]:
    problems = Problems()
    try:
        source = prepare(document.source, problems)
        session = CompileSession(options)
        session.announce([one for other in others for one in read_script(other.source).definitions])
        for _ in session.compile_script(source):
            pass
        problems.extend(session.problems)
    except Exception as error:
        # The editor must go on; stderr is its log of the server.
        traceback.print_exc()
        problems.add(
            f"internal error: {type(error).__name__}: {error}",
            document.source.span(0, 0),
            hint="this is a defect of pgsb, please report it with the script",
        )
    return [found for problem in problems if (found := _placed(problem, document)) is not None]


def _placed(problem: Problem, document: Document) -> Finding | None:
    """Return a problem with its place in the document; None for one of a file that it reads in."""
    span = problem.span
    if span.source is document.source:
        return Finding(span.start, max(span.end, span.start), problem)
    # A text of sqlcmd's directives has other offsets.
    name, line, column = span.source.author_place(span.start)
    if name != document.source.name or line > document.source.line_count:
        return None
    start = document.source.line_start(line) + column - 1
    last_name, last_line, last_column = span.source.author_place(span.end, behind=span.end > span.start)
    if last_name != name:  # it runs into a file that :r reads
        return Finding(start, start, problem)
    return Finding(start, max(document.source.line_start(last_line) + last_column - 1, start), problem)

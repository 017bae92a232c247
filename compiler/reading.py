"""Reading a script: all of it before any batch is compiled, as bodies may name what comes later."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import pairwise

from ..grammar.batches import BatchText, split
from ..grammar.problems import Problems
from ..grammar.records import dataclass
from ..grammar.source import Source
from . import nodes
from .builder.batches import parse_batch
from .check.statements import check_chains

Announced = tuple[nodes.Batch, Problems]
"""A batch that defines something, and what is wrong with it."""
HELD = 256 * 1024
"""Characters of the batches of a script that define nothing, up to which their tokens are held."""
_DEFINING = frozenset({"PROC", "PROCEDURE", "FUNCTION", "USE"})


@dataclass
class ReadScript:
    """A script whose batches are known, and of those that define something the nodes."""

    source: Source
    definitions: list[Announced]
    batches: deque[BatchText | Announced] | None
    """All batches in order; None of a script whose text is too long to hold the tokens of all."""
    lexed: Problems
    """What is wrong with its tokens."""


def read_script(source: Source) -> ReadScript:
    """Read what a script defines; the tokens of its other batches are held unless they are many."""
    lexed = Problems()
    definitions: list[Announced] = []
    batches: deque[BatchText | Announced] | None = deque()
    held = 0
    for text in split(source, lexed):
        found: BatchText | Announced = text
        if _may_define(text):
            problems = Problems()
            found = _read_batch(text, problems), problems
            definitions.append(found)
        else:
            held += text.end - text.start
        if batches is not None:
            batches.append(found)
        if held > HELD:
            batches = None
    return ReadScript(source, definitions, batches, lexed)


def batches_of(read: ReadScript, problems: Problems) -> Iterator[nodes.Batch]:
    """Yield the batches of a script; what is wrong with each goes to ``problems`` as its turn comes."""
    if read.batches is None:
        batches = _again(read, problems)
    else:
        problems.extend(read.lexed)
        batches = _taken(read.batches)
    for found in batches:
        if isinstance(found, BatchText):
            yield _read_batch(found, problems)
        else:
            batch, wrong = found
            problems.extend(wrong)
            yield batch


def _again(read: ReadScript, problems: Problems) -> Iterator[BatchText | Announced]:
    """Read the tokens of a long script a second time."""
    known = {batch.span.start: (batch, wrong) for batch, wrong in read.definitions}
    for text in split(read.source, problems):
        yield known.get(text.start, text)


def _taken(held: deque[BatchText | Announced]) -> Iterator[BatchText | Announced]:
    """Yield what is held from the front, letting go of each."""
    while held:
        yield held.popleft()


def _read_batch(text: BatchText, problems: Problems) -> nodes.Batch:
    batch = parse_batch(text, problems)
    check_chains(batch, problems)
    return batch


def _may_define(text: BatchText) -> bool:
    """Tell whether other batches may have to know what this one says, wherever it stands."""
    words = [token.word for token in text.tokens]
    if not _DEFINING.isdisjoint(words):
        return True
    return "TYPE" in words and ("CREATE", "TYPE") in pairwise(words)

"""What is wrong with a script: every finding with its place, its SQL Server number and a hint.

Passes add to one :class:`Problems` and go on; the caller prints all of them together::

    orders.sql:14:17: error: no contract named 'OrderContract'
       14 |     ON CONTRACT [OrderContract]
          |                 ^^^^^^^^^^^^^^^
    hint: CREATE CONTRACT OrdersContract stands at line 5
"""

from __future__ import annotations

import difflib
import re
import sys
import unicodedata
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import itemgetter

from .records import dataclass
from .source import Source, Span

NAME_MISSING = (
    "An object or column name is missing or empty. For SELECT INTO statements, verify each column has a "
    'name. For other statements, look for empty alias names. Aliases defined as "" or [] are not allowed. '
    "Change the alias to a valid name."
)
"""Error 1038."""
NESTED_TOO_DEEPLY = (
    "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up "
    "into smaller queries."
)
"""Error 191."""
ROOM_TO_RECURSE = 20_000
"""Calls of Python's inside one another: as deep as T-SQL may nest."""
SYNONYM_OF_QUEUE = "Synonym '{}' is defined over queue '{}'. Synonyms on queues are not allowed."
NO_SYNONYM_FOR_QUEUES = "a synonym cannot stand for a queue: write the queue's name"

# Names and messages in a text are often other people's: what a terminal would act on instead of showing.
_CONTROL = {code: "\N{MIDDLE DOT}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r"}

# These reorder what is shown behind them: a message would read as another.
_REORDERING = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\N{MIDDLE DOT}")

_ESCAPED = {code: f"\\u{code:04x}" for code in range(127, 160)}


class RoomToRecurse:
    """Python's default limit is met by a few dozen nested parentheses."""

    __slots__ = ("_limit",)

    def __enter__(self) -> None:
        self._limit = sys.getrecursionlimit()
        if self._limit < ROOM_TO_RECURSE:
            sys.setrecursionlimit(ROOM_TO_RECURSE)

    def __exit__(self, *error: object) -> None:
        if self._limit < ROOM_TO_RECURSE:
            sys.setrecursionlimit(self._limit)


def visible(text: str) -> str:
    """Return the text with a dot for each character that a terminal would act on instead of showing it.

    Tabs and the ends of lines stay.
    """
    return text.translate(_CONTROL)


def shown_json(text: str) -> str:
    """Return a JSON text with escapes for what a terminal would act on; JSON itself asks for some of them."""
    return text.translate(_ESCAPED)


def visible_lines(text: str) -> str:
    """As `visible`; what would reorder a line is a dot too, and a carriage return that would cover one."""
    return visible(text).translate(_REORDERING).replace("\r\n", "\n").replace("\r", "\N{MIDDLE DOT}")


__all__ = ["CompileError", "Problem", "Problems", "Unbound", "did_you_mean", "differ_in_digits", "similar"]

_SIMILAR = 0.75
"""How much of two names is the same where one may be a slip of the pen, as difflib measures it."""
_SHORTEST, _MOST_LEFT_OUT = 3, 3
_MOST_COMPARED = 500
_DIGITS = re.compile(r"\d+")
_TAB_WIDTH = 8
_LONGEST_LINE = 160
# What stands behind these words, also in a text inside a text; how far before a shown place it is looked for.
_SECRET = re.compile(
    r"(\b\w*(?:PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|KEY_SOURCE)\s*[=(]?\s*(?:N?(?:''(?=[^'\s,;)])|')|0x))"
    r"((?<='')[^']*|(?<=')(?:[^']|'')*|[0-9A-F]+)",
    re.IGNORECASE,
)
_REACH_OF_SECRETS = 1000
_ELLIPSIS = "…"


def similar(name: str, known: Iterable[str]) -> str | None:
    """Return the known name of which another may be a slip of the pen: digits tell names apart.

    The case of letters does not count. Very short names are like too many; of very many none is looked for.
    """
    names = {one.lower(): one for one in known if one.lower() != name.lower()}
    if len(name) < _SHORTEST or len(names) > _MOST_COMPARED:
        return None
    letters = sorted(name.lower())
    exchanged = next((one for one in names if sorted(one) == letters), None)
    if exchanged is not None and not differ_in_digits(exchanged, name.lower()):
        return names[exchanged]
    about_as_long = [one for one in names if abs(len(one) - len(name)) <= _MOST_LEFT_OUT]
    cutoff = _SIMILAR if len(name) > _SHORTEST else 1.0
    found = difflib.get_close_matches(name.lower(), about_as_long, 1, cutoff)
    return None if not found or differ_in_digits(found[0], name.lower()) else names[found[0]]


def differ_in_digits(one: str, other: str) -> bool:
    """Tell whether two names are the same but for digits: those are two names, and no slip of the pen."""
    return _DIGITS.sub("", one) == _DIGITS.sub("", other)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return the hint that names the one that is `similar`, if there is one."""
    near = similar(name, known)
    return None if near is None else f"did you mean '{near}'?"


@dataclass(frozen=True, slots=True)
class Unbound:
    """A name that no column, table or system view has, as far as the compiler knows them."""

    relations: tuple[str, ...] | None
    """All around it that the server has, as PostgreSQL reads them; None: it would be itself a relation."""
    owner: str | None
    """The one whose column it would be; None: of any of them; empty: of none, which has no others."""
    name: str
    """Folded."""
    known: tuple[str, ...] | None
    """The names that there are; None: all tables that the scripts make."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding.

    ``number`` is the number SQL Server gives this error (102, 137, …), None where it has
    none or we do not know it. ``severity`` is "error" or "warning": a warning does not stop
    the compiler. One with ``unbound`` is the server's to decide, when the batch begins: there it is
    an error.
    """

    message: str
    span: Span
    hint: str | None = None
    number: int | None = None
    severity: str = "error"
    unbound: Unbound | None = None

    def __str__(self) -> str:
        """Return the report of this problem: place, sentence, source line, caret, hint."""
        name, line, column = self.span.source.author_place(self.span.start)
        number = f" {self.number}" if self.number is not None else ""
        head = f"{name}:{line}:{column}: {self.severity}{number}: {self.message}"
        parts = [head, *_excerpt(self.span)]
        if self.hint:
            parts.append(f"hint: {self.hint}")
        return visible_lines("\n".join(parts))


class Problems:
    """The findings of one script, in the order of their places when read.

    The same sentence at the same place is kept once, so that two passes may find it.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._problems: dict[tuple[str, int, int, str], Problem] = {}
        # Of each source, by place, as they come: each batch asks for its own, of thousands maybe.
        self._errors: dict[int, list[tuple[int, int, Problem]]] = {}
        self._error_count = 0

    def add(
        self,
        message: str,
        at: Span,
        hint: str | None = None,
        number: int | None = None,
        severity: str = "error",
        unbound: Unbound | None = None,
    ) -> Problem:
        """Record one finding and return it."""
        problem = Problem(message, at, hint, number, severity, unbound)
        kept = self._problems.setdefault((at.source.name, at.start, at.end, message), problem)
        if kept is problem:
            self._note(problem)
        return kept

    def _note(self, problem: Problem) -> None:
        if problem.severity == "error":
            errors = self._errors.setdefault(id(problem.span.source), [])
            insort(errors, (problem.span.start, self._error_count, problem))
            self._error_count += 1

    def extend(self, problems: Problems) -> None:
        """Take over what another pass found."""
        for problem in problems:
            self.add(
                problem.message,
                problem.span,
                problem.hint,
                problem.number,
                problem.severity,
                problem.unbound,
            )

    def __iter__(self) -> Iterator[Problem]:
        """Yield the findings by source, in the order of their places."""
        if not self._problems:
            return iter(())
        return iter(sorted(self._problems.values(), key=lambda p: (p.span.source.name, p.span.start)))

    def __len__(self) -> int:
        """Return how many there are, warnings included."""
        return len(self._problems)

    def since(self, count: int) -> tuple[Problem, ...]:
        """Return what was added after the first ``count`` findings, in the order of adding."""
        return tuple(islice(self._problems.values(), count, None)) if count < len(self._problems) else ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The findings that stop the compiler, in the order of their places."""
        return tuple(problem for problem in self if problem.severity == "error")

    @property
    def unbound(self) -> tuple[Problem, ...]:
        """The findings that the server decides, in the order of their places."""
        return tuple(problem for problem in self if problem.unbound is not None)

    def revise(self, change: Callable[[Problem], Problem | None]) -> None:
        """Put what ``change`` returns in place of each finding; None takes it back."""
        revised = ((place, change(problem)) for place, problem in self._problems.items())
        self._problems = {place: problem for place, problem in revised if problem is not None}
        self._errors, self._error_count = {}, 0
        for problem in self._problems.values():
            self._note(problem)

    @property
    def error_count(self) -> int:
        """How many of them stop the compiler."""
        return self._error_count

    def within(self, span: Span) -> tuple[Problem, ...]:
        """Return the errors that begin inside ``span`` (a batch, say), in order."""
        errors = self._errors.get(id(span.source), [])
        first = bisect_left(errors, span.start, key=itemgetter(0))
        behind = bisect_right(errors, span.end, key=itemgetter(0))
        return tuple(problem for _, _, problem in errors[first:behind])

    def report(self) -> str:
        """Return the text that tells the user about all of them, empty when there are none."""
        return "\n\n".join(str(problem) for problem in self)

    def raise_if_any(self) -> None:
        """Raise CompileError when there is at least one error."""
        if self.errors:
            raise CompileError(self)


class CompileError(Exception):
    """A script that cannot be compiled; ``problems`` says why."""

    def __init__(self, problems: Problems) -> None:
        """Keep the findings; the message of the exception is their report."""
        super().__init__(problems.report())
        self.problems = problems


def _excerpt(span: Span) -> list[str]:
    """Return the source line and a line with carets under ``span``.

    Tabs are spread to blanks and carets are counted in terminal cells, so that the carets
    stand under the right characters also after tabs, wide and combining characters. Of a very
    long line the neighbourhood of the place is shown.
    """
    source, line = span.source, span.line
    text = source.line_text(line)
    begin = source.line_start(line)
    first = min(span.column - 1, len(text))
    last = min(max(span.end - begin, first + 1), max(len(text), first + 1))
    before_mark = after_mark = ""
    if len(text) > _LONGEST_LINE:
        window = max(0, min(first - _LONGEST_LINE // 3, len(text) - _LONGEST_LINE))
        before_mark = _ELLIPSIS if window > 0 else ""
        after_mark = _ELLIPSIS if window + _LONGEST_LINE < len(text) else ""
        text = text[window : window + _LONGEST_LINE]
        begin += window
        first, last = first - window, min(last - window, len(text) + 1)
    text = _without_secrets(source, begin, begin + len(text))
    shown, left = _spread(before_mark + text[:first], 0)
    marked, right = _spread(text[first:last], left)
    rest, _ = _spread(text[last:] + after_mark, right)
    number = f"{source.origin(line)[1]:5d}"
    return [
        f"{number} | {shown}{marked}{rest}".rstrip(),
        f"{' ' * len(number)} | {' ' * left}{'^' * max(1, right - left)}",
    ]


def _without_secrets(source: Source, start: int, end: int) -> str:
    """Return the text of this place with a star for each character of a password or a secret.

    Reports go where scripts do not: into the logs of builds and deployments.
    """
    before = max(0, start - _REACH_OF_SECRETS)
    text = _SECRET.sub(lambda found: found[1] + "*" * len(found[2]), source.text[before:end])
    return text[start - before :]


def _spread(text: str, column: int) -> tuple[str, int]:
    """Replace tabs and control characters; return the text and the terminal column after it."""
    out: list[str] = []
    for character in text:
        if character == "\t":
            width = _TAB_WIDTH - column % _TAB_WIDTH
            out.append(" " * width)
        elif unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            width = 1
            out.append("·")
        else:
            width = _cells(character)
            out.append(character)
        column += width
    return "".join(out), column


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1

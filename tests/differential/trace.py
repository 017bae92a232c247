"""What a program did: its events, and the same as lines of text.

The lines are for people, for expectations and for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import rules
from . import syntax as s

Row = dict[str, s.Value]


@dataclass(frozen=True)
class Printed:
    """PRINT, or RAISERROR of severity 10 and below."""

    text: str


@dataclass(frozen=True)
class Message:
    """An error that reached the client."""

    number: int
    severity: int
    state: int
    procedure: str | None
    line: int
    text: str


@dataclass(frozen=True)
class Rows:
    """A result set."""

    rows: tuple[tuple[s.Value, ...], ...]


@dataclass(frozen=True)
class Affected:
    """(n rows affected)."""

    count: int


Event = Printed | Message | Rows | Affected


@dataclass
class Trace:
    """What a program did: per batch the events, then the tables, then @@TRANCOUNT."""

    batches: list[list[Event]] = field(default_factory=list)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    trancount: int = 0


ANYWHERE = "anywhere"


def line(event: Event) -> str:
    """One event. Texts that name the server's own objects are left out."""
    match event:
        case Printed(text):
            return f"print {text}"
        case Message(number, severity, state, procedure, place, text):
            shown = f": {text}" if number in rules.EXACT_TEXT or number > 50000 else ""
            where = f"{procedure} line {place}" if procedure else f"line {place}"
            if place < 0:
                where = ANYWHERE
            return f"error {number} level {severity} state {state} {where}{shown}"
        case Rows(rows):
            return "rows " + " ".join("(" + ", ".join(map(value, row)) + ")" for row in rows)
        case Affected(count):
            return f"affected {count}"
    raise TypeError(event)


def value(item: int | str | None) -> str:
    return "NULL" if item is None else (repr(item) if isinstance(item, str) else str(item))


def lines(trace: Trace, *, counts: bool = True) -> list[str]:
    """The whole trace; ``counts``: with (n rows affected)."""
    text: list[str] = []
    for number, events in enumerate(trace.batches, 1):
        text.append(f"batch {number}")
        text += ["  " + line(event) for event in events if counts or not isinstance(event, Affected)]
    for name, rows in sorted(trace.tables.items()):
        text.append(
            f"table {name}:" + "".join(" (" + ", ".join(map(value, row.values())) + ")" for row in rows)
        )
    text.append(f"@@TRANCOUNT {trace.trancount}")
    return text

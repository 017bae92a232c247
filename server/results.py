"""What a running script produces, in order: result sets, PRINT, errors, row counts.

Compiled code sends everything that comes from inside a block or procedure as
notices with private SQLSTATEs (SP001, SR001, SC001, SE001); a plain SELECT comes
as an ordinary result. Here both become the same events, with values written the
way SQL Server's tools show them.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.errors import Diagnostic
from psycopg.pq.abc import PGresult


@dataclass(frozen=True)
class Number:
    """A numeric value, with every digit the server sent."""

    digits: str


# What a cell can hold once formatted: NULL, a number, or text.
Cell = None | Number | str


@dataclass(frozen=True)
class Rows:
    """A result set, or a piece of one.

    ``columns`` is None in every piece but the first; a name is None for a column
    without one. ``last`` is False while more pieces of this result follow.
    """

    columns: tuple[str | None, ...] | None
    rows: list[list[Cell]]
    last: bool = True


@dataclass(frozen=True)
class Print:
    """PRINT, or RAISERROR with severity 0 to 10, whose state it has."""

    text: str
    state: int = field(default=0, compare=False)


@dataclass(frozen=True)
class RowCount:
    """How many rows a statement touched (not sent under SET NOCOUNT ON)."""

    count: int


@dataclass(frozen=True)
class ErrorEvent:
    """An error as SQL Server numbers it.

    ``line`` counts from the first line of the batch, of the procedure named or of dynamic SQL;
    ``sqlstate`` is PostgreSQL's code, None when the error was found before the
    server saw the statement. ``report`` is the compiler's account with the source
    line and caret, for errors that it found.
    """

    number: int
    severity: int
    state: int
    procedure: str | None
    line: int
    message: str
    hint: str | None = None
    sqlstate: str | None = None
    report: str | None = None
    place: str | None = None
    """``orders.sql:14``: where in the script; None where the script has no name."""
    dynamic: bool = False
    """``line`` is one of dynamic SQL."""
    made: bool = False
    """The batch that makes the procedure has it: ``place`` is the line's own, not the batch's."""


Event = Rows | Print | RowCount | ErrorEvent

# ---------------------------------------------------------------- values

# PostgreSQL's type numbers → the family that decides how a value is shown.
_FAMILIES = {
    16: "bool",
    17: "bytea",
    20: "number",
    21: "number",
    23: "number",
    26: "number",
    700: "number",
    701: "number",
    1700: "number",
    1082: "date",
    1083: "time",
    1114: "timestamp",
    1184: "timestamptz",
    2950: "uuid",
    1042: "char",
}
# Their names, as compiled code writes them into a result notice.
_FAMILY_OF_NAME = {
    "boolean": "bool",
    "bool": "bool",
    "bytea": "bytea",
    "bigint": "number",
    "integer": "number",
    "int": "number",
    "smallint": "number",
    "int2": "number",
    "int4": "number",
    "int8": "number",
    "oid": "number",
    "real": "number",
    "float4": "number",
    "float8": "number",
    "double precision": "number",
    "numeric": "number",
    "decimal": "number",
    "sys.bit": "number",
    "date": "date",
    "time": "time",
    "time without time zone": "time",
    "timestamp": "timestamp",
    "timestamp without time zone": "timestamp",
    "timestamptz": "timestamptz",
    "timestamp with time zone": "timestamptz",
    "uuid": "uuid",
}
_TIMESTAMP = re.compile(r"(-?\d{4,})-(\d\d)-(\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(.*)", re.DOTALL)


@dataclass(frozen=True)
class ColumnType:
    """How to show a column: its family and the digits of its fraction of a second, where known."""

    family: str
    fraction: int | None = None

    @classmethod
    def of_name(cls, name: str | None) -> "ColumnType":
        """From a type name such as ``timestamp(3) without time zone`` or ``sys.bit``; None is unknown."""
        if name is None:
            return cls("unknown")
        size = re.search(r"\((\d+)\)", name)
        bare = re.sub(r"\s*\([^)]*\)", "", name).strip().lower()
        family = _FAMILY_OF_NAME.get(bare, "text")
        return cls(family, int(size[1]) if size and family in ("time", "timestamp", "timestamptz") else None)

    @classmethod
    def of_result(cls, result: PGresult, column: int) -> "ColumnType":
        """From an ordinary result's description."""
        family = _FAMILIES.get(result.ftype(column), "text")
        modifier = result.fmod(column)
        timed = family in ("time", "timestamp", "timestamptz")
        return cls(family, modifier if timed and modifier >= 0 else None)

    def with_fraction(self, digits: int | None) -> "ColumnType":
        """The same with so many digits behind the second, where it has a second and does not know them."""
        timed = self.family in ("time", "timestamp", "timestamptz")
        return ColumnType(self.family, digits) if timed and self.fraction is None else self

    def format(self, text: str) -> Cell:
        """One value as SQL Server's tools print it, from PostgreSQL's text or JSON form."""
        match self.family:
            case "number":
                return Number(text)
            case "bool":
                return Number("1" if text in ("t", "true") else "0")
            case "bytea":
                return "0x" + text[2:].upper() if text.startswith("\\x") else text
            case "uuid":
                return text.upper()
            case "time":
                whole, _, fraction = text.partition(".")
                return _with_fraction(whole, fraction, self.fraction)
            case "timestamp" | "timestamptz":
                return self._format_timestamp(text)
            case _:
                return text

    def _format_timestamp(self, text: str) -> str:
        match = _TIMESTAMP.fullmatch(text)
        if match is None:  # infinity, or a date before Christ
            return text
        year, month, day, time, fraction, zone = match.groups()
        shown = _with_fraction(f"{year}-{month}-{day} {time}", fraction or "", self.fraction)
        if self.family == "timestamptz":
            zone = zone if ":" in zone else f"{zone}:00"
            return f"{shown} {zone}"
        return shown + zone


def _with_fraction(whole: str, fraction: str, digits: int | None) -> str:
    """Seconds with so many decimals; unknown: three, as DATETIME has, or as many as the value needs."""
    if digits is None:
        digits = max(3, len(fraction.rstrip("0")))
    return f"{whole}.{fraction.ljust(digits, '0')[:digits]}" if digits else whole


def _cell_of_json(value: Any, type_: ColumnType) -> Cell:
    if value is None:
        return None
    if isinstance(value, bool):
        return Number("1" if value else "0")
    if isinstance(value, Number):
        return value
    if isinstance(value, str):
        # A number that JSON cannot hold ("NaN", "Infinity") comes as a string.
        return value if type_.family == "number" else type_.format(value)
    return _json_text(value)


def _json_text(value: Any) -> str:
    """As jsonb's own text, each number with the digits that came."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_json_text(name)}: {_json_text(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json_text, value)) + "]"
    return value.digits if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


class RowReader:
    """Reads the rows of an ordinary SELECT (text format), in as many pieces as they come in.

    ``spelled``: the names of its columns in the script, where they are known. ``fractions``: the digits
    behind the seconds of what PostgreSQL does not know them of.
    """

    def __init__(
        self, spelled: Sequence[str | None] | None = None, fractions: Sequence[int | None] = ()
    ) -> None:
        self._spelled = spelled
        self._fractions = fractions
        self._types: list[ColumnType] | None = None
        self.names: tuple[str | None, ...] = ()

    def read(self, result: PGresult) -> list[list[Cell]]:
        """The rows of one piece."""
        if self._types is None:
            columns = range(result.nfields)
            self._types = [ColumnType.of_result(result, column) for column in columns]
            self.names = tuple(_column_name(result.fname(column)) for column in columns)
            if self._spelled is not None and len(self._spelled) == len(self.names):
                self.names = tuple(self._spelled)
            if len(self._fractions) == len(self._types):
                pairs = zip(self._types, self._fractions, strict=True)
                self._types = [type_.with_fraction(digits) for type_, digits in pairs]
        rows: list[list[Cell]] = []
        for row in range(result.ntuples):
            cells: list[Cell] = []
            for column, type_ in enumerate(self._types):
                value = result.get_value(row, column)
                cells.append(None if value is None else type_.format(value.decode()))
            rows.append(cells)
        return rows


def _column_name(name: bytes | None) -> str | None:
    """PostgreSQL names every column; this is what it calls those that have no name."""
    decoded = name.decode() if name else ""
    return None if decoded in ("", "?column?") else decoded


# ---------------------------------------------------------------- notices and errors

_PLACE = re.compile(
    r"Msg (?P<number>-?\d+), Level (?P<severity>\d+), State (?P<state>\d+)"
    r"(?:, Procedure (?P<procedure>.*?))?(?:, Line (?P<line>\d+)(?P<dynamic> of dynamic SQL)?)?\s*$",
    re.MULTILINE,
)
# An error, shown before, ends the rest of the script: ssb_internal.end_batch.
SCRIPT_ENDED = "SX002"
# Set by the server when a query is cancelled: what SSMS prints then.
CANCELED = "57014"
_BY_USER = "canceling statement due to user request"


@dataclass
class NoticeReader:
    """Turns the notices of one connection into events and hands them on, as they arrive.

    ``emit`` takes the events; ``other`` takes notices that are PostgreSQL's own
    (severity, text).
    """

    emit: Callable[[Event], None]
    other: Callable[[str, str], None] = lambda severity, text: None
    translate: Callable[[str], object] | None = None
    """Answers a session that asks for the translation of dynamic SQL (SX001)."""
    use_keys: Callable[[str], object] | None = None
    """Answers a session whose statement needs a key or a file (SX002)."""
    next_batch: Callable[[], object] | None = None
    """Is told that a batch among those of one transaction has come to its end (SB001)."""
    _types: list[ColumnType] = field(default_factory=list)

    def __call__(self, notice: Diagnostic) -> None:
        """Handle one notice: for `psycopg.Connection.add_notice_handler`."""
        text = notice.message_primary or ""
        match notice.sqlstate:
            case "SP001":
                place = _PLACE.match(notice.message_detail or "")
                self.emit(Print(text, int(place["state"]) if place else 0))
            case "SR001":
                self.emit(self._rows(text))
            case "SC001":
                self.emit(RowCount(int(notice.message_detail or "0")))
            case "SE001":
                self.emit(_error(notice))
            case "SB001" if self.next_batch is not None:
                self.next_batch()
            case "SX001" if self.translate is not None:
                self._answer(self.translate, text)
            case "SX002" if self.use_keys is not None:
                self._answer(self.use_keys, text)
            case _:
                self.other(notice.severity_nonlocalized or notice.severity or "NOTICE", text)

    def _answer(self, answers: Callable[[str], object], request: str) -> None:
        """Answer on a connection of its own; without one the session that asks ends, or stops waiting."""
        try:
            answers(request)
        except psycopg.OperationalError as error:
            self.other("WARNING", f"pgsb could not answer the session: {' '.join(str(error).split())}")

    def _rows(self, payload: str) -> Rows:
        data = json.loads(payload, parse_int=Number, parse_float=Number)
        names: tuple[str | None, ...] | None = None
        if "columns" in data:
            self._types = [ColumnType.of_name(column.get("type")) for column in data["columns"]]
            names = tuple(column.get("name") for column in data["columns"])
            # A script may have been compiled against another shape of the table than the server has.
            width = len(data["rows"][0]) if data["rows"] else len(names)
            if width != len(names):
                names = (*names, *[None] * width)[:width]
                self._types = [*self._types, *[ColumnType("unknown")] * width][:width]
        rows = [
            [_cell_of_json(value, type_) for value, type_ in zip(row, self._types, strict=True)]
            for row in data["rows"]
        ]
        return Rows(names, rows, bool(data.get("last", True)))


def error_of(error: psycopg.Error, line: int = 1) -> ErrorEvent:
    """What SQL Server would print for an error of the server; ``line`` where the error names no place."""
    if error.sqlstate == CANCELED:
        # By Ctrl-C and pg_cancel_backend; or by statement_timeout, which nobody here has asked for.
        said = error.diag.message_primary or _BY_USER
        reason = "by user" if said == _BY_USER else f"({said})"
        return ErrorEvent(0, 11, 0, None, line, f"Query was canceled {reason}.", sqlstate=CANCELED)
    if error.diag.message_primary is None:  # from the client library: the connection is gone
        return ErrorEvent(0, 20, 0, None, line, str(error).strip(), sqlstate=error.sqlstate)
    return _error(error.diag, line)


def number_of_sqlstate(sqlstate: str | None) -> int | None:
    """SQL Server's number in one of our SQLSTATEs: S8426 is 8426, T and four base-36 digits the long ones."""
    if sqlstate and sqlstate[0] == "S" and sqlstate[1:].isdigit():
        return int(sqlstate[1:])
    if sqlstate and sqlstate[0] == "T" and sqlstate != "TZZZZ":
        return int(sqlstate[1:], 36)
    return None


# Of errors that the runtime's functions raise by number alone; as ssb_internal.default_state has them.
_DEFAULT_STATES = {235: 0, 242: 3, 515: 2, 547: 0, 628: 0, 2714: 6, 8114: 5, 8115: 2, 8169: 2}


def _error(diag: Diagnostic, line: int = 1) -> ErrorEvent:
    place = _PLACE.match(diag.message_detail or "")
    found = place.groupdict() if place else {}
    number = int(found.get("number") or number_of_sqlstate(diag.sqlstate) or 50000)
    return ErrorEvent(
        number=number,
        severity=int(found.get("severity") or 16),
        state=int(found.get("state") or _DEFAULT_STATES.get(number, 1)),
        procedure=found.get("procedure") or None,
        line=int(found.get("line") or line),
        message=diag.message_primary or "",
        hint=diag.message_hint,
        sqlstate=diag.sqlstate,
        dynamic=found.get("dynamic") is not None,
    )

"""Writes events as text: tables like sqlcmd's, JSON lines, or CSV; and where a script says (:out, :error)."""

import csv
import json
import sys
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TextIO

from ..grammar.problems import shown_json as shown_json
from ..grammar.problems import visible as visible
from .results import Cell, ErrorEvent, Event, Number, Print, RowCount, Rows

_UNNAMED = "(No column name)"
# Rows looked at before the widths of a table are settled, and the time; later ones may be wider.
_ROWS_FOR_WIDTHS = 5000
_SECONDS_FOR_WIDTHS = 0.2
_RED, _PLAIN = "\x1b[31m", "\x1b[0m"


class Writer(Protocol):
    """What a table is written to: any text file."""

    def write(self, text: str, /) -> object:
        """Take text."""

    def flush(self) -> object:
        """Show it."""


class Renderer(Protocol):
    """Takes events in order."""

    def write(self, event: Event) -> None:
        """Write one event, at once."""

    def close(self) -> None:
        """Finish what is begun."""


@dataclass(frozen=True)
class Layout:
    """How sqlcmd's options have a table: ``-h``, ``-s``, ``-W``, ``-w``.

    ``headers``: 0 once, -1 never, else again after so many rows. ``width``: lines are broken after
    so many characters; None: never.
    """

    headers: int = 0
    separator: str = " "
    trims: bool = False
    width: int | None = None


class TableRenderer:
    """What SQL Server Management Studio's text output shows, and sqlcmd."""

    def __init__(
        self, out: Writer, *, color: bool = False, places: bool = False, layout: Layout | None = None
    ) -> None:
        """``places``: errors tell file and line, for scripts that are files."""
        self._out = out
        self._color = color
        self._places = places
        self._layout = layout or Layout()
        self._since = 0.0
        self._columns: tuple[str | None, ...] | None = None
        self._held: list[list[Cell]] = []
        self._widths: list[int] | None = None
        self._count = 0

    def write(self, event: Event) -> None:
        """Write one event; rows wait for the end of their result, up to some thousands."""
        if isinstance(event, Rows):
            self._rows(event)
            return
        self._flush(end=True)
        match event:
            case Print(text):
                self._line(text)
            case RowCount(count):
                self._line(f"({count} {'row' if count == 1 else 'rows'} affected)\n")
            case ErrorEvent():
                self._error(event)
        self._out.flush()

    def close(self) -> None:
        """Write what is still held."""
        self._flush(end=True)
        self._out.flush()

    def _error(self, event: ErrorEvent) -> None:
        procedure = f", Procedure {event.procedure}" if event.procedure else ""
        numbers = f"Msg {event.number}, Level {event.severity}, State {event.state}"
        body = event.report or (f"{event.message}\nhint: {event.hint}" if event.hint else event.message)
        if self._places and event.place and not event.report:
            elsewhere = event.dynamic or (event.procedure and not event.made)
            where = "in the batch at" if elsewhere else "at"
            body = f"{body}\n{where} {event.place}"
        text = visible(f"{numbers}{procedure}, Line {event.line}\n{body}")
        self._out.write(f"{_RED}{text}{_PLAIN}\n" if self._color and event.severity > 10 else f"{text}\n")

    def _rows(self, event: Rows) -> None:
        if event.columns is not None:
            self._flush(end=True)
            self._columns = event.columns
        if not self._held:
            self._since = time.monotonic()
        self._held.extend(event.rows)
        late = self._widths is not None or time.monotonic() - self._since > _SECONDS_FOR_WIDTHS
        if event.last or late or len(self._held) >= _ROWS_FOR_WIDTHS:
            self._flush(end=event.last)

    def _flush(self, *, end: bool) -> None:
        if self._columns is None:
            return
        names = [name or _UNNAMED for name in self._columns]
        cells = [[visible(_text(cell)) for cell in row] for row in self._held]
        if self._widths is None:
            self._widths = [_width(name) for name in names]
            for row in cells:
                for index, text in enumerate(row):
                    self._widths[index] = max(self._widths[index], _width(text))
            if self._layout.headers >= 0:
                self._header(names)
        for values, row in zip(self._held, cells, strict=True):
            if self._layout.headers > 0 and self._count and self._count % self._layout.headers == 0:
                self._line("")
                self._header(names)
            self._row(row, [isinstance(value, Number) for value in values])
            self._count += 1
        self._held.clear()
        if end:
            self._line("")
            self._columns, self._widths, self._count = None, None, 0
        self._out.flush()

    def _header(self, names: list[str]) -> None:
        assert self._widths is not None
        self._row(names, [False] * len(names))
        widths = [_width(name) for name in names] if self._layout.trims else self._widths
        self._broken(self._layout.separator.join("-" * width for width in widths))

    def _row(self, texts: list[str], right: list[bool]) -> None:
        assert self._widths is not None
        separator = self._layout.separator
        if self._layout.trims:
            self._broken(separator.join(text.rstrip(" ") for text in texts))
        else:
            self._broken(separator.join(_padded(texts, self._widths, right)).rstrip(" "))

    def _broken(self, line: str) -> None:
        width = self._layout.width
        if width is None or len(line) <= width:
            self._line(line)
            return
        for start in range(0, len(line), width):
            self._line(line[start : start + width])

    def _line(self, text: str) -> None:
        self._out.write(visible(text) + "\n")


class RecordRenderer:
    """Result sets as records, a line for each column: for rows that are wider than the screen."""

    def __init__(self, out: Writer) -> None:
        self._out = out
        self._names: list[str] = []
        self._count = 0

    def write(self, event: Rows) -> None:
        """Write a result set, or a piece of one."""
        if event.columns is not None:
            self._names = [name or _UNNAMED for name in event.columns]
            self._count = 0
        widest = max(map(_width, self._names), default=0)
        for row in event.rows:
            self._count += 1
            self._out.write(f"-[ RECORD {self._count} ]".ljust(widest + 2, "-") + "\n")
            for name, cell in zip(self._names, row, strict=True):
                before = name + " " * (widest - _width(name))
                for line in visible(_text(cell)).split("\n"):
                    self._out.write(f"{before} | {line}".rstrip(" ") + "\n")
                    before = " " * widest
        if event.last:
            self._out.write("\n")
        self._out.flush()


def table_width(event: Rows) -> int:
    """Terminal cells of a table that holds these rows."""
    widths = [_width(name or _UNNAMED) for name in event.columns or ()]
    for row in event.rows:
        widths = [max(width, _width(_text(cell))) for width, cell in zip(widths, row, strict=True)]
    return sum(widths) + len(widths) - 1


class JsonRenderer:
    """One JSON object a line; a result set of any size is written as its rows come."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._open = False
        self._first = True

    def write(self, event: Event) -> None:
        """Write one event."""
        if isinstance(event, Rows):
            if event.columns is not None:
                self._end()
                self._out.write(f'{{"type":"result","columns":{_json(list(event.columns))},"rows":[')
                self._open, self._first = True, True
            for row in event.rows:
                self._out.write(("" if self._first else ",") + "[" + ",".join(map(_json_cell, row)) + "]")
                self._first = False
            if event.last:
                self._end()
        else:
            self._end()
            self._out.write(_json(_plain(event)) + "\n")
        self._out.flush()

    def close(self) -> None:
        """Close a result set that was cut short."""
        self._end()
        self._out.flush()

    def _end(self) -> None:
        if self._open:
            self._out.write("]}\n")
            self._open = False


class CsvRenderer:
    """Result sets as CSV with a header, an empty line between two; everything else goes to ``messages``."""

    def __init__(self, out: TextIO, messages: TextIO) -> None:
        self._out = out
        self._writer = csv.writer(out, lineterminator="\n")
        self._messages = TableRenderer(messages)
        self._any = False

    def write(self, event: Event) -> None:
        """Write one event."""
        if isinstance(event, RowCount):
            return
        if not isinstance(event, Rows):
            self._out.flush()
            self._messages.write(event)
            return
        if event.columns is not None:
            if self._any:
                self._out.write("\n")
            self._any = True
            self._writer.writerow([name or "" for name in event.columns])
        for row in event.rows:
            self._writer.writerow(["" if cell is None else _text(cell) for cell in row])
        self._out.flush()

    def close(self) -> None:
        """Flush."""
        self._out.flush()


def _text(cell: Cell) -> str:
    if cell is None:
        return "NULL"
    # 1E+20, as SQL Server's tools write it.
    return cell.digits.replace("e", "E") if isinstance(cell, Number) else cell


def _width(text: str) -> int:
    """Terminal cells of the longest line."""
    if text.isascii() and "\n" not in text:
        return len(text)
    return max(sum(map(_cells, line)) for line in text.split("\n"))


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _padded(texts: list[str], widths: list[int], right: list[bool]) -> list[str]:
    parts = []
    for text, width, to_right in zip(texts, widths, right, strict=True):
        room = " " * max(0, width - _width(text))
        parts.append(room + text if to_right else text + room)
    return parts


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _json_cell(cell: Cell) -> str:
    if isinstance(cell, Number):
        # NaN and the infinities are no JSON.
        return cell.digits if cell.digits.lstrip("-")[:1].isdigit() else _json(cell.digits)
    return _json(cell)


def _plain(event: Event) -> dict[str, object]:
    match event:
        case Print(text):
            return {"type": "print", "text": text}
        case RowCount(count):
            return {"type": "rowcount", "count": count}
        case ErrorEvent():
            shown: dict[str, object] = {
                "type": "error",
                "number": event.number,
                "severity": event.severity,
                "state": event.state,
                "procedure": event.procedure,
                "line": event.line,
                "message": event.message,
            }
            if event.hint:
                shown["hint"] = event.hint
            if event.place:
                shown["file"], _, line = event.place.rpartition(":")
                shown["file_line"] = int(line)
            return shown
        case Rows():
            raise TypeError("rows are written piecewise")


@dataclass(frozen=True)
class Output:
    """From ``offset`` of a script on, results (or only errors) go to ``file``; None: as without it."""

    offset: int
    errors: bool
    file: str | None


class Redirection:
    """Hands events to ``default``, or to the file that the script names."""

    def __init__(self, default: Callable[[Event], None]) -> None:
        self._default = default
        self._results: TableRenderer | None = None
        self._errors: TableRenderer | None = None
        self._files: dict[str, tuple[TextIO, TableRenderer]] = {}

    def follow(self, outputs: Sequence[Output], offset: int) -> None:
        """Take the files that hold at an offset of the script. Raises OSError for one it cannot write."""
        for errors in (False, True):
            wanted = None
            for one in outputs:
                if one.errors == errors and one.offset <= offset:
                    wanted = one.file
            renderer = None if wanted is None else self._open(wanted)
            if errors:
                self._errors = renderer
            else:
                if self._results is not None and self._results is not renderer:
                    self._results.close()
                self._results = renderer

    def _open(self, name: str) -> TableRenderer:
        if name.lower() == "stderr":
            return TableRenderer(sys.stderr)
        if name not in self._files:
            file = open(name, "w", encoding="utf-8", newline="\n")  # noqa: SIM115
            self._files[name] = (file, TableRenderer(file))
        return self._files[name][1]

    def write(self, event: Event) -> None:
        """Hand one event on."""
        chosen = self._errors if isinstance(event, ErrorEvent) and self._errors is not None else self._results
        if chosen is None:
            self._default(event)
        else:
            chosen.write(event)

    def close(self) -> None:
        """Close the files."""
        for file, renderer in self._files.values():
            renderer.close()
            file.close()
        self._files.clear()

"""The daemon's log: structured lines on a stream, and the newest ones in ssb.broker_log."""

import contextlib
import json
import logging
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TextIO

from ..server.render import shown_json, visible

_LEVELS = ("debug", "info", "warning", "error")
# Lines that wait for the database: more than this are counted and left out.
_PENDING = 5_000
# The same warning or error in a row: so many times in full, then when they are twice as many.
_TOLD_IN_FULL = 5


@dataclass(frozen=True)
class Line:
    """One event; ``pid`` is the @@SPID of the reader."""

    level: str
    event: str
    message: str
    queue: str | None = None
    program: str | None = None
    pid: int | None = None
    error_number: int | None = None
    logged_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())

    def age(self) -> float:
        """Seconds since it was logged."""
        return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(self.logged_at)).total_seconds())


Sink = Callable[[Line], None]


def text_line(line: Line) -> str:
    """One line for people: time, level, queue, reader, what."""
    where = " ".join(
        part
        for part in (
            line.queue,
            line.program,
            f"[{line.pid}]" if line.pid else None,
            f"Msg {line.error_number}" if line.error_number else None,
        )
        if part
    )
    text = f"{line.event}{' ' if where else ''}{where}: {line.message}"
    return f"{line.logged_at[:23]}Z {line.level:7} {_on_one_line(text)}"


def _on_one_line(text: str) -> str:
    """Names and messages are other people's: nothing in them begins a line or moves a terminal's cursor."""
    return "".join(one if one.isprintable() else " " for one in text)


def json_line(line: Line) -> str:
    """One JSON object: `Line`'s fields without those that are empty."""
    told = {name: value for name, value in asdict(line).items() if value is not None}
    return shown_json(json.dumps(told, ensure_ascii=False))


def _print(text: str, stream: TextIO) -> None:
    """Write a line at once, or not at all.

    A disk that is full, or a reader of the log that has gone, stops no service program: the table
    ssb.broker_log has the line, too.
    """
    with contextlib.suppress(OSError):
        print(text, file=stream, flush=True)


def stream_sink(form: str = "text", level: str = "info", stream: TextIO | None = None) -> Sink:
    """Writes lines of at least ``level`` to ``stream`` (stderr). ``form`` is "text" or "json"."""
    render = json_line if form == "json" else text_line
    lowest = _LEVELS.index(level)

    def write(line: Line) -> None:
        if _LEVELS.index(line.level) >= lowest:
            _print(render(line), stream or sys.stderr)

    return write


def program_sink(stream: TextIO) -> Sink:
    """Writes only what service programs say and what goes wrong: for those who watch a script."""

    def write(line: Line) -> None:
        if line.event in ("print", "output", "result_set"):
            _print(f"{line.program and _on_one_line(line.program)}: {visible(line.message)}", stream)
        elif line.level in ("warning", "error"):
            _print(text_line(line), stream)

    return write


class BrokerLog:
    """Hands every line to ``sink`` at once and keeps it for the table until `take` is called."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._pending: deque[Line] = deque()
        self._lost = 0
        self._repeats: dict[tuple[str, str | None, str | None], tuple[str, int]] = {}

    def _repeated(self, line: Line, gist: str) -> int:
        """How often in a row this queue's program has said the same."""
        key = (line.event, line.queue, line.program)
        said, count = self._repeats.get(key, ("", 0))
        count = count + 1 if said == gist else 1
        self._repeats[key] = (gist, count)
        return count

    def write(
        self,
        level: str,
        event: str,
        message: str,
        *,
        queue: str | None = None,
        program: str | None = None,
        pid: int | None = None,
        error_number: int | None = None,
        gist: str | None = None,
        in_full: int = _TOLD_IN_FULL,
    ) -> bool:
        """Log one event. Returns whether it was told.

        A warning or an error with the same ``gist`` (the message, unless given) as the last one is told
        ``in_full`` times, then when there are twice as many.
        """
        line = Line(level, event, message, queue, program, pid, error_number)
        count = self._repeated(line, gist or message) if level in ("warning", "error") else 1
        if count > in_full and count & (count - 1):
            return False
        self._keep(line)
        if count > in_full:
            # The message stays as it is: the quarantine shows it.
            again = f"{event}: {count} times in a row now; told again when there are twice as many"
            self._keep(Line("info", "repeated", again, queue, program))
        return True

    def tell_anew(self, *events: str) -> None:
        """What was wrong is over: when one of these events comes again, it is told in full."""
        for key in [key for key in self._repeats if key[0] in events]:
            del self._repeats[key]

    def _keep(self, line: Line) -> None:
        self._sink(line)
        if line.level == "debug":
            return
        if len(self._pending) >= _PENDING:
            self._lost += 1
        else:
            self._pending.append(line)

    def take(self) -> list[Line]:
        """The lines that are not in the table yet; they count as written from now on."""
        lines = list(self._pending)
        self._pending.clear()
        if self._lost:
            lines.append(
                Line("warning", "log_overflow", f"{self._lost} lines are only in the daemon's own log")
            )
            self._lost = 0
        return lines

    def put_back(self, lines: list[Line]) -> None:
        """They could not be written after all; the oldest beyond the limit are counted, as in `_keep`."""
        kept = lines[max(0, len(lines) + len(self._pending) - _PENDING) :]
        self._lost += len(lines) - len(kept)
        self._pending.extendleft(reversed(kept))


class PsycopgLog(logging.Handler):
    """Takes psycopg's own remarks (a connection broke while its statement was cancelled) as debug lines.

    Without a handler Python writes them to stderr, between the lines of the log.
    """

    def __init__(self, log: BrokerLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        self._log.write("debug", "psycopg", record.getMessage())

    def __enter__(self) -> None:
        logging.getLogger("psycopg").addHandler(self)

    def __exit__(self, *exception: object) -> None:
        logging.getLogger("psycopg").removeHandler(self)

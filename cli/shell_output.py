"""How the prompt shows results: as a table, as records where that is too wide, by pages where too long."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from typing import TextIO

from ..server.render import RecordRenderer, TableRenderer, table_width
from ..server.results import Cell, Event, RowCount, Rows

Size = Callable[[], os.terminal_size | None]
"""The terminal's columns and lines, None where the output is no terminal."""


class ShellRenderer:
    """Writes events; ``records`` is ``on``, ``off`` or ``auto``: for results wider than the terminal."""

    def __init__(
        self, out: TextIO, *, color: bool = False, size: Size = lambda: None, pager: str | None = None
    ) -> None:
        """``pager`` is a command for results that are longer than the screen, None: there is none."""
        self._size = size
        self._screen = _Screen(out, size)
        self._pager = pager
        self.pages = pager is not None
        self._table = TableRenderer(self._screen, color=color)
        self._records = RecordRenderer(self._screen)
        self._as_records = False
        self.records = "auto"
        self.counts = True
        self.first_cell: Cell = None

    def write(self, event: Event) -> None:
        """Write one event, a result set when it is whole or more than a screen."""
        if not isinstance(event, Rows):
            self.close()
            if self.counts or not isinstance(event, RowCount):
                self._table.write(event)
            return
        if event.columns is not None:
            self.close()
            self._as_records = self.records == "on" or (self.records == "auto" and self._is_wide(event))
            self.first_cell = event.rows[0][0] if event.rows and event.rows[0] else None
            self._screen.begin(self._pager if self.pages else None)
        if self._as_records:
            self._records.write(event)
        else:
            self._table.write(event)
        if event.last:
            self.close()

    def close(self) -> None:
        """Write what is still held."""
        self._table.close()
        self._screen.end()

    def _is_wide(self, event: Rows) -> bool:
        size = self._size()
        return size is not None and table_width(event) > size.columns


class _Screen:
    """Passes text on; what comes between `begin` and `end` goes to a pager once it is more than a screen."""

    def __init__(self, out: TextIO, size: Size) -> None:
        self._out = out
        self._size = size
        self._held: list[str] = []
        self._lines = 0
        self._limit: int | None = None
        self._pager: list[str] = []
        self._process: subprocess.Popen[str] | None = None

    def begin(self, pager: str | None) -> None:
        """A result begins."""
        size = self._size()
        try:
            self._pager = shlex.split(pager or "")
        except ValueError:  # a quotation that does not end is no command
            self._pager = []
        if size is not None and self._pager and shutil.which(self._pager[0]):
            self._limit = max(size.lines - 2, 1)

    def write(self, text: str, /) -> None:
        """Take a piece of text."""
        if self._process is not None:
            self._feed(self._process, text)
        elif self._limit is None:
            self._out.write(text)
        else:
            self._held.append(text)
            self._lines += text.count("\n")
            if self._lines > self._limit:
                self._out.flush()
                self._process = _start(self._pager)
                self._feed(self._process, "".join(self._held))
                self._held.clear()

    def flush(self) -> None:
        """Show it, unless it waits for the whole result."""
        if self._limit is None:
            self._out.flush()

    def end(self) -> None:
        """The result is whole: wait until it was read."""
        process, self._process, self._limit, self._lines = self._process, None, None, 0
        if process is not None:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()
        self._out.write("".join(self._held))
        self._held.clear()
        self._out.flush()

    @staticmethod
    def _feed(process: subprocess.Popen[str], text: str) -> None:
        assert process.stdin is not None
        # Who has left the pager has seen enough.
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(text)


def _start(command: list[str]) -> subprocess.Popen[str]:
    # F: what is no longer than the screen stays on it; R: colours; S: long lines are not broken.
    environment = {"LESS": "FRSX", **os.environ}
    return subprocess.Popen(command, stdin=subprocess.PIPE, text=True, encoding="utf-8", env=environment)


def default_pager() -> str:
    """The pager that the user's environment names, as psql finds it."""
    for name in ("PSQL_PAGER", "PAGER"):
        if os.environ.get(name):
            return os.environ[name]
    return "less"

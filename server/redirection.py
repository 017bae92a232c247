"""Where results and errors go while a script says so: sqlcmd's :out and :error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

from .render import TableRenderer
from .results import ErrorEvent, Event


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

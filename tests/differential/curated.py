"""Cases kept as T-SQL with what they must do: cases/*.sql."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import cases

from . import reader
from . import syntax as s

FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """A script and its trace without row counts, empty tables and @@TRANCOUNT 0."""

    name: str
    script: str
    expected: tuple[str, ...]

    @property
    def program(self) -> s.Program:
        return reader.read(self.script)


def load() -> list[Case]:
    """Every kept case, in the order of the files."""
    return [
        Case(
            case.label,
            re.sub(r"(?m)^-- page:.*\n", "", case.source),
            tuple(line.removeprefix("-- ") for line in case.expect.splitlines() if line.startswith("-- ")),
        )
        for case in cases.read_folder(FOLDER)
    ]


def shown(lines: list[str]) -> tuple[str, ...]:
    """A trace as the files show it."""
    return tuple(line for line in lines if not re.fullmatch(r"table \w+:|@@TRANCOUNT 0", line))

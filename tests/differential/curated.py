"""Cases kept as T-SQL with what they must do: cases/*.sql."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

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
    found: list[Case] = []
    for path in sorted(FOLDER.glob("*.sql")):
        for part in re.split(r"(?m)^-- case: ", path.read_text(encoding="utf-8"))[1:]:
            name, _, rest = part.partition("\n")
            script, _, expected = rest.partition("-- expect:\n")
            script = re.sub(r"(?m)^-- (page|found):.*\n", "", script)
            lines = tuple(line[3:] for line in expected.splitlines() if line.startswith("-- "))
            found.append(Case(f"{path.stem}: {name}", script, lines))
    return found


def shown(lines: list[str]) -> tuple[str, ...]:
    """A trace as the files show it."""
    return tuple(line for line in lines if not re.fullmatch(r"table \w+:|@@TRANCOUNT 0", line))

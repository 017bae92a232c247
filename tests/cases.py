"""Cases kept as text: the one reader of ``-- case`` files and of lines with an arrow.

A file of cases begins with a head that belongs to all of them. Then comes, for each case,
``-- case: name``, its source, and sections, each begun by its mark: ``-- expect`` (what comes out),
``-- shows`` (what running it shows). A case is kept again by `rewrite`, which PGSB_GOLDEN=rewrite
(make golden) asks for; the diff is read in review.

A line ``what -> expected`` is a case of its own; ``--`` begins a comment, blank lines are nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

REWRITING = os.environ.get("PGSB_GOLDEN") == "rewrite"
_MARK = re.compile(r"^-- (case: .*|expect|shows)\n", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """One case: where it stands, its source and its sections, each with a line end behind it."""

    path: Path
    name: str
    source: str
    sections: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """File and name, for the list of tests."""
        return f"{self.path.stem}: {self.name}"

    @property
    def expect(self) -> str:
        """What comes out, without the line ends behind it."""
        return self.sections["expect"].rstrip("\n")

    @property
    def shows(self) -> str:
        """What running it shows, without the line ends behind it."""
        return self.sections["shows"].rstrip("\n")

    def __str__(self) -> str:
        """Return the case as its file has it."""
        parts = [f"-- case: {self.name}", self.source]
        for mark, text in self.sections.items():
            parts += [f"-- {mark}", text]
        return "\n".join(part.rstrip("\n") for part in parts) + "\n"


def read(path: Path) -> list[Case]:
    """Return the cases of a file, in order."""
    parts = _MARK.split(path.read_text(encoding="utf-8"))
    found: list[Case] = []
    for mark, text in zip(parts[1::2], parts[2::2], strict=True):
        if mark.startswith("case: "):
            found.append(Case(path, mark.removeprefix("case: "), text))
        else:
            found[-1].sections[mark] = text
    return found


def read_folder(folder: Path) -> list[Case]:
    """Return the cases of every .sql file of a folder; each has a name of its own within its file."""
    found = [case for path in sorted(folder.glob("*.sql")) for case in read(path)]
    labels = [case.label for case in found]
    assert len(labels) == len(set(labels)), {label for label in labels if labels.count(label) > 1}
    return found


def head(path: Path) -> str:
    """Return what stands before the first case."""
    return _MARK.split(path.read_text(encoding="utf-8"))[0]


def rewrite(path: Path, sections: Callable[[Case], dict[str, str] | None]) -> None:
    """Write the sections of a file's cases anew; None leaves a case as it is."""
    kept = [
        case if made is None else replace(case, sections=made)
        for case in read(path)
        for made in (sections(case),)
    ]
    path.write_text(head(path) + "\n".join(str(case) for case in kept), encoding="utf-8")


def arrows(path: Path) -> Iterator[tuple[str, str, str | None]]:
    """Yield the lines of a file: place, what stands before the last arrow, what behind it.

    The third part is None without an arrow: the caller knows what such a line sets.
    """
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("--"):
            left, arrow, right = line.rpartition(" -> ")
            yield f"{path.stem}:{number}", left if arrow else line, right if arrow else None

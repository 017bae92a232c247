"""Text in, text out: cases in a file named after the pass, each also run in a server.

A case is T-SQL, the PostgreSQL text it compiles to (``-- expect``) and what running it shows
(``-- shows``). ``PGSB_GOLDEN=rewrite`` (make golden) writes both anew; the diff is read in review.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from end_to_end.tsql import Tsql

from pgsb.compiler.pipeline import CompileOptions, compile_script
from pgsb.grammar.source import Source
from support import Database

CASES = Path(__file__).parent / "cases"
_MARK = re.compile(r"^-- (case: .*|expect|shows)\n", re.M)


@dataclass
class Case:
    """One case of a file: its name, its source and what is kept of it."""

    path: Path
    name: str
    source: str
    expect: str
    shows: str

    def __str__(self) -> str:
        """Return the case as its file has it."""
        parts = [f"-- case: {self.name}", self.source, "-- expect", self.expect, "-- shows", self.shows]
        return "\n".join(part.rstrip("\n") for part in parts) + "\n"


def read(path: Path) -> list[Case]:
    """Return the cases of a file."""
    parts = _MARK.split(path.read_text(encoding="utf-8"))
    found: list[Case] = []
    for mark, text in zip(parts[1::2], parts[2::2], strict=True):
        if mark.startswith("case: "):
            found.append(Case(path, mark.removeprefix("case: "), text, "", ""))
        elif mark == "expect":
            found[-1].expect = text
        else:
            found[-1].shows = text
    return found


ALL = [case for path in sorted(CASES.glob("*.sql")) for case in read(path)]


def compiled(case: Case) -> str:
    """Return the PostgreSQL text of a case, or its problems."""
    script = compile_script(Source("case.sql", case.source), CompileOptions())
    if script.problems.errors:
        return f"{script.problems.report()}\n"
    return script.text().rstrip("\n") + "\n"


def shown(case: Case, database: Database) -> str:
    """Return what running a case shows."""
    session = Tsql(database.dsn)
    try:
        text = session.run(case.source, "case.sql")
    finally:
        session.connection.close()
    # Names that the server chooses.
    text = re.sub(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", "<uuid>", text)
    return text.rstrip("\n").replace(database.name, "<database>") + "\n"


def rewrite(path: Path, make: Callable[[Case], Case]) -> None:
    """Write the cases of a file anew."""
    path.write_text("\n".join(str(make(case)) for case in read(path)), encoding="utf-8")


@pytest.mark.parametrize("case", ALL, ids=[f"{case.path.stem}: {case.name}" for case in ALL])
def test_case(case: Case, database: Database) -> None:
    text, output = compiled(case), shown(case, database)
    if os.environ.get("PGSB_GOLDEN") == "rewrite":
        rewrite(
            case.path,
            lambda c: Case(c.path, c.name, c.source, text, output) if c.name == case.name else c,
        )
        return
    assert text == case.expect
    assert output.rstrip("\n") == case.shows.rstrip("\n")


def test_compiling_twice_gives_the_same_text() -> None:
    for case in ALL:
        assert compiled(case) == compiled(case), case.name


def test_names_of_cases_are_unique_within_their_file() -> None:
    names = [(case.path, case.name) for case in ALL]
    assert len(names) == len(set(names))

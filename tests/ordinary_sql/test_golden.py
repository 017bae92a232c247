"""T-SQL in, PostgreSQL (or the problems) out: the cases of cases/*.sql; each result also runs on a server.

A case is ``-- case: name``, the text, ``-- expect``, the translation.  PGSB_GOLDEN=rewrite
writes what comes out in place of what was expected; the diff is read in review.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from ordinary_sql.translating import Givens, runnable, translate, translated

from support import Connection, Database

_FOLDER = Path(__file__).parent / "cases"
_CASE = re.compile(
    r"^-- case: (?P<name>.*)\n(?P<text>(?:.*\n)*?)-- expect\n(?P<expected>(?:(?!-- case: ).*\n?)*)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Case:
    """One case and the file it stands in."""

    file: str
    name: str
    text: str
    expected: str

    @property
    def kind(self) -> str:
        """expressions, conditions or statements: the beginning of the file's name."""
        return self.file.partition("_")[0]


def _givens(text: str) -> Givens:
    givens = Givens()
    head = text.partition("-- case: ")[0]
    for line in head.splitlines():
        if line.strip() and not line.startswith("--"):
            givens.add(line)
    return givens


def _cases() -> Iterator[Case]:
    for path in sorted(_FOLDER.glob("*.sql")):
        text = path.read_text(encoding="utf-8")
        for match in _CASE.finditer(text):
            yield Case(path.stem, match["name"], match["text"], match["expected"].rstrip("\n"))


_FILES = {path.stem: _givens(path.read_text(encoding="utf-8")) for path in sorted(_FOLDER.glob("*.sql"))}
_CASES = list(_cases())
_REWRITING = os.environ.get("PGSB_GOLDEN") == "rewrite"


@pytest.mark.skipif(_REWRITING, reason="the expectations are being rewritten")
@pytest.mark.parametrize("case", _CASES, ids=[f"{case.file}: {case.name}" for case in _CASES])
def test_case(case: Case) -> None:
    assert translate(case.text, _FILES[case.file], case.kind) == case.expected


def test_every_case_has_its_own_name() -> None:
    names = [(case.file, case.name) for case in _CASES]
    assert len(names) == len(set(names)) > 250


@pytest.mark.skipif(not _REWRITING, reason="make golden rewrites")
def test_rewrite() -> None:
    for path in sorted(_FOLDER.glob("*.sql")):
        givens, kind = _FILES[path.stem], path.stem.partition("_")[0]

        def rewritten(match: re.Match[str], givens: Givens = givens, kind: str = kind) -> str:
            result = translate(match["text"], givens, kind)
            return f"-- case: {match['name']}\n{match['text']}-- expect\n{result}\n\n"

        text = _CASE.sub(rewritten, path.read_text(encoding="utf-8")).rstrip("\n") + "\n"
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("file", sorted(_FILES))
def test_what_comes_out_runs(
    file: str, new_database: Callable[[], Database], connect: Callable[[str], Connection]
) -> None:
    """Every translation of a file runs on a server, each in a transaction of its own that is rolled back."""
    givens = _FILES[file]
    connection = connect(new_database().dsn)
    connection.execute("CREATE SCHEMA IF NOT EXISTS dbo")
    connection.execute("CREATE SCHEMA IF NOT EXISTS sales")
    connection.execute("CREATE SCHEMA IF NOT EXISTS trader1_dbo")
    for statement in givens.set_up:
        connection.execute(statement)
    failures = []
    for case in _CASES:
        if case.file != file:
            continue
        result, problems = translated(case.text, givens, case.kind)
        if problems.errors:
            continue
        try:
            with connection.transaction(force_rollback=True):
                connection.execute(runnable(result, givens, case.kind))
        except psycopg.Error as error:
            if (error.diag.sqlstate or "X")[0] in "ST":
                continue  # an error of SQL Server's own, about the values
            failures.append(f"{case.name}: {error}\n{case.expected}")
    assert not failures, "\n\n".join(failures)

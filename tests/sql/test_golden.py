"""T-SQL in, PostgreSQL (or the problems) out: the cases of cases/*.sql; each result also runs on a server.

A case is ``-- case: name``, the text, ``-- expect``, the translation.  PGSB_GOLDEN=rewrite
writes what comes out in place of what was expected; the diff is read in review.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cases
import psycopg
import pytest
from cases import Case
from sql.translating import Givens, runnable, sql_text, translate, translated

from pgsb.compiler.sql.translate import translate_condition, translate_expression
from pgsb.grammar.problems import Problems
from support import Connection, Database

ALL = cases.read_folder(Path(__file__).parent / "cases")


def _kind(case: Case) -> str:
    """expressions, conditions or statements: the beginning of the file's name."""
    return case.path.stem.partition("_")[0]


def _givens(path: Path) -> Givens:
    givens = Givens()
    for line in cases.head(path).splitlines():
        if line.strip() and not line.startswith("--"):
            givens.add(line)
    return givens


_FILES = {path: _givens(path) for path in sorted({case.path for case in ALL})}


# A test for each file, which tells all of its cases that are wrong.
@pytest.mark.parametrize("file", sorted(_FILES), ids=[path.stem for path in sorted(_FILES)])
def test_cases(file: Path) -> None:
    results = [(case, translate(case.source, _FILES[file], _kind(case))) for case in ALL if case.path == file]
    if cases.REWRITING:
        by_name = {case.name: result for case, result in results}
        cases.rewrite(file, lambda case: {"expect": by_name[case.name]})
        return
    wrong = [
        f"{case.name}:\n{result}\nnot\n{case.expect}" for case, result in results if result != case.expect
    ]
    assert not wrong, "\n\n".join(wrong)


def test_translating_leaves_trees_as_they_are() -> None:
    """Analyses and the next translation find in a node what was read."""
    read = [(case.source.rstrip("\n"), case.path) for case in ALL if _kind(case) != "statements"]
    applied = (
        "(SELECT SUM(c.value('.', 'int')) FROM (SELECT CAST('<r/>' AS xml) AS x) AS s"
        " CROSS APPLY x.nodes('/r') AS t(c))"
    )
    for text, path in [*read, (applied, read[0][1])]:
        piece = sql_text(text)
        before = repr(piece.tree)
        work = translate_condition if path.stem.startswith("conditions") else translate_expression
        work(piece, _FILES[path], Problems())
        assert repr(piece.tree) == before, text


def test_there_are_cases() -> None:
    assert len(ALL) > 250


@pytest.mark.parametrize("file", sorted(_FILES), ids=[path.stem for path in sorted(_FILES)])
def test_what_comes_out_runs(
    file: Path, new_database: Callable[[], Database], connect: Callable[[str], Connection]
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
    for case in ALL:
        if case.path != file:
            continue
        result, problems = translated(case.source, givens, _kind(case))
        if problems.errors:
            continue
        try:
            with connection.transaction(force_rollback=True):
                connection.execute(runnable(result, givens, _kind(case)))
        except psycopg.Error as error:
            if (error.diag.sqlstate or "X")[0] in "ST":
                continue  # an error of SQL Server's own, about the values
            failures.append(f"{case.name}: {error}\n{case.source}")
    assert not failures, "\n\n".join(failures)

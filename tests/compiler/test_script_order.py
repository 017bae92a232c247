"""Scripts of a project come into an order that runs, and an order that runs stays."""

from __future__ import annotations

from random import Random

import pytest

from pgsb.compiler.script_order import in_running_order
from pgsb.grammar.source import Source


def ordered(*texts: str) -> list[int]:
    sources = [Source(f"{number}.sql", text) for number, text in enumerate(texts)]
    found = in_running_order(sources)
    assert sorted(map(id, found)) == sorted(map(id, sources))
    return [sources.index(source) for source in found]


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(
            ("CREATE TABLE t (a int)", "SELECT a FROM t\nGO\nDROP TABLE t", "CREATE TABLE t (b int)"),
            id="a table is made again",
        ),
        pytest.param(
            ("CREATE TABLE t (v int)", "ALTER TABLE t ADD b int", "CREATE VIEW v AS SELECT b FROM t"),
            id="a column has the name of a view over its table",
        ),
        pytest.param(
            ("CREATE PROCEDURE p AS EXEC q", "CREATE PROCEDURE q AS EXEC p"), id="modules call one another"
        ),
        pytest.param(
            (
                "CREATE QUEUE q WITH ACTIVATION (PROCEDURE_NAME = [dbo] . [p], EXECUTE AS OWNER)",
                "CREATE PROCEDURE p AS RECEIVE * FROM q",
            ),
            id="a queue before its program",
        ),
        pytest.param(
            ("CREATE TABLE #t (a int)\nINSERT t VALUES (1)", "CREATE TABLE #T (a int)"), id="temporary tables"
        ),
        pytest.param(("PRINT 'CREATE TABLE t'; EXEC t", "-- CREATE TABLE t", ""), id="texts and comments"),
    ],
)
def test_an_order_that_runs_stays(texts: tuple[str, ...]) -> None:
    assert ordered(*texts) == [*range(len(texts))]


def test_what_is_named_comes_before() -> None:
    assert ordered(
        "GRANT EXECUTE ON dbo.p TO reader",
        "CREATE OR ALTER PROCEDURE dbo.p AS RECEIVE * FROM [In box]",
        "CREATE SERVICE [//S] ON QUEUE [In box] ([//C])",
        "CREATE QUEUE dbo.[In box] WITH ACTIVATION (PROCEDURE_NAME = dbo.p, MAX_QUEUE_READERS = 1)",
        "CREATE CONTRACT [//C] ([//M] SENT BY ANY)",
        "CREATE MESSAGE TYPE [//M] VALIDATION = VALID_XML WITH SCHEMA COLLECTION Shapes",
        "CREATE XML SCHEMA COLLECTION dbo.Shapes AS N'<schema/>'",
        "CREATE USER reader WITHOUT LOGIN",
    ) == [3, 1, 7, 0, 6, 5, 4, 2]


def test_a_script_stays_behind_the_one_in_whose_database_it_begins() -> None:
    assert ordered(
        "SELECT a FROM t",
        "USE One\nGO\nCREATE VIEW v AS SELECT a FROM t",
        "GRANT SELECT ON v TO public",
        "USE One\nGO\nCREATE TABLE t (a int)",
        "CREATE INDEX i ON t (a)",
    ) == [0, 3, 4, 1, 2]


def test_every_shuffled_project_runs_in_its_order() -> None:
    chance = Random(20)
    for _ in range(60):
        count = chance.randint(2, 12)
        needs = {
            number: [other for other in range(number) if chance.random() < 0.3] for number in range(count)
        }
        texts = [
            f"CREATE VIEW v{number} AS SELECT * FROM {', '.join(f'v{one}' for one in needs[number]) or 'x'}"
            for number in range(count)
        ]
        shuffled = chance.sample(range(count), count)
        places = [shuffled[place] for place in ordered(*(texts[number] for number in shuffled))]
        for number, others in needs.items():
            assert all(places.index(other) < places.index(number) for other in others)

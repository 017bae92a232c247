"""Some hundred garbled scripts; `python -m tests.mutation --check 100000 --run 2500` are the many."""

import pytest
from mutation import mutants, outcomes

from support import Database

# Each did something else once: an internal error, an error of PostgreSQL's.
SEEN = (
    "DBCC CHECKIDENT (t, RESEED, )",
    "ALTER QUEUE [] REBUILD",
    "SELECT 1 FROM '' t",
    "SELECT n FROM (VALUES (1), (2)) AS n",
    "EXEC sp_getapplock @Resource = 'r', @LockMode = 'Exclusive', @LockMode = 'Session'",
    "SELECT q.x FROM t AS q CROSS APPLY (SELECT 1 AS x) AS q",
    "CREATE TABLE m (a INT); INSERT INTO m VALUES (1, 2)",
    "CREATE TABLE m (a INT);\nGO\nSELECT * FROM m TABLESAMPLE (999 PERCENT)",
    "CREATE ENDPOINT e AS TCP (LISTENER_PORT = {) FOR SERVICE_BROKER ()",
    "CREATE ENDPOINT e AS TCP (LISTENER_PORT == 4022, 20 = ALL) FOR SERVICE_BROKER ()",
    "CREATE FUNCTION f(@a INT, @b dbo.ty READONLY) RETURNS TABLE AS RETURN SELECT @a AS a",
)


def test_a_number_is_the_same_script_each_time() -> None:
    assert mutants.mutant(0, 7) == mutants.mutant(0, 7) != mutants.mutant(0, 8)


def test_no_garbled_script_is_an_internal_error() -> None:
    found = {number: outcomes.check(mutants.mutant(1, number))[1] for number in range(400)}
    assert {number: defect for number, defect in found.items() if defect} == {}


@pytest.mark.one_postgres
@pytest.mark.parametrize("text", SEEN)
def test_what_once_went_wrong(database: Database, text: str) -> None:
    passed, defect = outcomes.check(text)
    assert defect is None
    if passed:
        assert outcomes.run(text, database.dsn) is None


@pytest.mark.long
@pytest.mark.one_postgres
def test_what_passes_check_fails_only_as_sql_server_does(database: Database) -> None:
    ran, defects = 0, {}
    for number in range(600):
        text = mutants.mutant(2, number, mildly=True)
        passed, defect = outcomes.check(text)
        if passed and defect is None:
            ran += 1
            defect = outcomes.run(text, database.dsn)
        if defect is not None:
            defects[number] = defect
    assert defects == {}
    assert ran > 15

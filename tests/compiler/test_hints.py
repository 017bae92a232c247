"""Hints of the runtime's errors reach the client through blocks, TRY and XACT_ABORT."""

import pytest
from end_to_end.tsql import Tsql

from support import Database

STATEMENT = "EXECUTE AS USER = 'nobody_there';"


@pytest.mark.parametrize(
    "script",
    [
        STATEMENT,
        f"DECLARE @i int = 1; {STATEMENT} PRINT 'on';",
        f"SET XACT_ABORT ON; DECLARE @i int = 1; {STATEMENT}",
        f"BEGIN TRY {STATEMENT} END TRY BEGIN CATCH THROW; END CATCH",
        f"CREATE PROCEDURE dbo.p AS {STATEMENT}\nGO\nEXEC dbo.p;",
    ],
)
def test_hints(database: Database, script: str) -> None:
    session = Tsql(database.dsn)
    session.run(script)
    (error,) = session.errors
    assert error.number == 15517
    caught = "CATCH" in script
    assert caught or (error.hint is not None and "CREATE ROLE nobody_there" in error.hint)
    session.run("DECLARE @i int = 1; RAISERROR('mine', 16, 1);")
    assert [error.hint for error in session.errors] == [None]
    session.close()

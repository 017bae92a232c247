"""A deployment in two sessions at once: the second finds what the first made."""

from collections.abc import Callable

import pytest
from end_to_end.sessions import Session, until_blocked
from end_to_end.tsql import Tsql

from support import Connection, Database


@pytest.mark.parametrize(
    ("first", "second", "numbers", "message"),
    [
        (
            "CREATE TABLE dbo.Orders (a INT)",
            "IF OBJECT_ID('dbo.Orders') IS NULL CREATE TABLE dbo.Orders (a INT)",
            [2714],
            "There is already an object ",
        ),
        (
            "CREATE PROCEDURE dbo.Work AS PRINT 1",
            "CREATE PROCEDURE dbo.Work AS PRINT 2",
            [2714],
            "There is already an object ",
        ),
        ("CREATE SCHEMA Sales", "CREATE SCHEMA Sales", [2714, 2759], "There is already an object named '"),
        (
            "CREATE INDEX ix ON dbo.Stock (a)",
            "CREATE INDEX ix ON dbo.Stock (a)",
            [2714],
            "There is already an object ",
        ),
        ("ALTER PROCEDURE dbo.Kept AS PRINT 1", "ALTER PROCEDURE dbo.Kept AS PRINT 2", [], "2"),
        ("GRANT RECEIVE ON dbo.Q TO clerk", "GRANT RECEIVE ON dbo.Q TO clerk", [], "GRANT"),
        ("GRANT RECEIVE ON dbo.Q TO clerk", "DENY RECEIVE ON dbo.Q TO clerk", [], "DENY"),
    ],
)
def test_the_second_of_two(
    database: Database,
    connect: Callable[..., Connection],
    first: str,
    second: str,
    numbers: list[int],
    message: str,
) -> None:
    prepared = Tsql(database.dsn)
    prepared.run(
        "CREATE TABLE dbo.Stock (a INT)\nGO\nCREATE PROCEDURE dbo.Kept AS PRINT 0\nGO\nCREATE QUEUE dbo.Q\n"
        "CREATE USER clerk WITHOUT LOGIN",
    )
    prepared.close()
    looker = connect()
    one = Session(
        database.dsn, f"BEGIN TRAN\nGO\n{first}\nGO\nEXEC sp_getapplock 'go', 'Exclusive'\nGO\nCOMMIT"
    )
    holder = Tsql(database.dsn)
    holder.run("EXEC sp_getapplock 'go', 'Exclusive', 'Session'")
    one.start()
    until_blocked(looker, one.pid)
    two = Session(database.dsn, second)
    two.start()
    until_blocked(looker, two.pid)
    holder.run("EXEC sp_releaseapplock 'go', 'Session'")
    one.join()
    two.join()
    holder.close()
    assert one.tsql.errors == []
    assert [error.number for error in two.tsql.errors] == numbers
    if numbers:
        assert message in two.tsql.errors[0].message
    elif "RECEIVE" in second:
        found = looker.execute(
            "SELECT state_desc FROM sys.database_permissions WHERE permission_name = 'RECEIVE'"
        )
        assert [state for (state,) in found] == [message]
    else:
        last = Tsql(database.dsn)
        last.run("EXEC dbo.Kept")
        assert last.prints == [message]
        last.close()

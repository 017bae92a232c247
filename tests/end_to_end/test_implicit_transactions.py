"""SET IMPLICIT_TRANSACTIONS ON: what begins a transaction where none is open."""

from collections.abc import Callable

import pytest
from end_to_end.tsql import Tsql

from support import Database

ON = "SET NOCOUNT ON SET IMPLICIT_TRANSACTIONS ON\nGO\n"
COUNT = " PRINT @@TRANCOUNT"


@pytest.fixture(scope="module")
def begun(new_database: Callable[..., Database]) -> Database:
    made = new_database()
    tsql = Tsql(made.dsn)
    tsql.run_well(
        "CREATE TABLE t (a int PRIMARY KEY) INSERT t VALUES (1)\n"
        "CREATE QUEUE q CREATE SERVICE s ON QUEUE q ([DEFAULT])\nGO\n"
        "CREATE PROCEDURE p AS INSERT t VALUES (7) PRINT CONCAT('in p ', @@TRANCOUNT)\nGO\n"
        "DECLARE @h uniqueidentifier BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' WITH ENCRYPTION = OFF\n"
        ";SEND ON CONVERSATION @h"
    )
    tsql.close()
    return made


@pytest.fixture
def cloned(request: pytest.FixtureRequest) -> Database | None:
    found: Database | None = request.getfixturevalue("begun") if "prepared" in request.fixturenames else None
    return found


@pytest.fixture
def prepared(tsql: Tsql) -> Tsql:
    return tsql


@pytest.mark.parametrize(
    ("statement", "depth"),
    [
        ("INSERT t VALUES (2)", 1),
        ("UPDATE t SET a = a WHERE 1 = 0", 1),
        ("SELECT a FROM t", 1),
        ("SELECT 1 AS x", 0),
        ("DECLARE @x int SELECT @x = 1 SET @x = 2 PRINT @x", 0),
        ("CREATE TABLE u (a int)", 1),
        ("SELECT 1 AS x INTO u", 1),
        ("CREATE SYNONYM y FOR dbo.t", 1),
        ("CREATE ROLE r", 1),
        ("DROP TABLE t", 1),
        ("TRUNCATE TABLE t", 1),
        ("BEGIN TRAN", 2),
        ("IF 1 = 1 DELETE t", 1),
        ("IF 1 = 0 DELETE t", 0),
        ("BEGIN TRY DELETE t END TRY BEGIN CATCH END CATCH", 1),
        ("RECEIVE TOP (1) status FROM q", 1),
        ("WAITFOR (RECEIVE TOP (1) status FROM q), TIMEOUT 10", 1),
        ("EXEC p", 1),
        ("EXEC sp_executesql N'INSERT t VALUES (9)'", 1),
        ("DECLARE c CURSOR LOCAL FOR SELECT a FROM t OPEN c", 1),
    ],
)
def test_a_statement_begins_a_transaction(prepared: Tsql, statement: str, depth: int) -> None:
    prepared.run_well(f"{ON}{statement}{COUNT}\nGO\nPRINT @@TRANCOUNT")
    assert prepared.prints[-2:] == [str(depth)] * 2


def test_what_nobody_commits_is_rolled_back(prepared: Tsql) -> None:
    prepared.run_well(
        f"{ON}INSERT t VALUES (2) COMMIT INSERT t VALUES (3) INSERT t VALUES (4) ROLLBACK EXEC p ROLLBACK"
    )
    prepared.run_well("SELECT a FROM t COMMIT SET IMPLICIT_TRANSACTIONS OFF INSERT t VALUES (5)" + COUNT)
    assert (prepared.results, prepared.prints) == ([[["1"], ["2"]]], ["0"])


def test_the_counts_of_nested_ones(prepared: Tsql) -> None:
    """An unseen BEGIN TRANSACTION stands before the one that is written."""
    prepared.run_well(
        f"{ON}BEGIN TRAN INSERT t VALUES (2){COUNT}\nGO\nCOMMIT{COUNT} COMMIT{COUNT}\nGO\n"
        f"INSERT t VALUES (3) BEGIN TRAN INSERT t VALUES (4){COUNT} ROLLBACK{COUNT}\n"
        "PRINT CONCAT('option ', @@OPTIONS & 2)\nGO\nSET IMPLICIT_TRANSACTIONS OFF PRINT @@OPTIONS & 2"
    )
    assert prepared.prints == ["2", "1", "0", "2", "0", "option 2", "0"]


def test_errors_in_them(prepared: Tsql) -> None:
    prepared.run(
        f"{ON}INSERT t VALUES (1) PRINT CONCAT(@@ERROR, ' ', @@TRANCOUNT) ROLLBACK\n"
        "BEGIN TRY INSERT t VALUES (2) INSERT t VALUES (CAST('x' AS int)) END TRY\n"
        "BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', XACT_STATE(), ' ', @@TRANCOUNT) ROLLBACK END CATCH\n"
        "UPDATE t SET a = a IF @@ROWCOUNT = 1 SELECT a FROM t\nGO\n"
        f"ROLLBACK SET XACT_ABORT ON INSERT t VALUES (1)\nGO\nPRINT @@TRANCOUNT"
    )
    assert [text for text in prepared.prints if "terminated" not in text] == ["2627 1", "245 -1 1", "0"]
    assert prepared.results == [[["1"]]]


@pytest.mark.parametrize(
    "statement",
    [
        "IF 1 = 1 SET IMPLICIT_TRANSACTIONS ON",
        "WHILE 1 = 1 SET IMPLICIT_TRANSACTIONS ON",
        "EXEC ('SET IMPLICIT_TRANSACTIONS ON')",
        "CREATE PROCEDURE pp AS SET IMPLICIT_TRANSACTIONS ON",
        "CREATE PROCEDURE pp AS SET NOEXEC ON",
        "CREATE TRIGGER pp ON t AFTER INSERT AS SET NOEXEC ON",
    ],
)
def test_where_the_options_are_refused(prepared: Tsql, statement: str) -> None:
    shown = prepared.run(statement)
    assert [error.number for error in prepared.errors] == [102]
    assert "not supported" in shown

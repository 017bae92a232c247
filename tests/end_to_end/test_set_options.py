"""SET options that a script sets on one of its ways: what the next batches see of them."""

import pytest
from end_to_end.tsql import Tsql

from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.problems import Problem
from pgsb.grammar.source import Source

ONE_WAY = [
    "IF 1 = 1 SET {}",
    "BEGIN TRY SET {} END TRY BEGIN CATCH END CATCH",
    "WHILE 1 = 1 BEGIN SET {} BREAK END",
    "IF 1 = 0 GOTO after\nSET {}\nafter:",
]


@pytest.mark.parametrize("way", ONE_WAY)
def test_what_one_way_sets_holds_in_the_next_batches(tsql: Tsql, way: str) -> None:
    tsql.run_well(
        f"CREATE TABLE t (a int NOT NULL)\nGO\n{way.format('NOCOUNT ON')}\nGO\nSELECT 1\nGO\nSELECT 2"
    )
    assert tsql.counts == []
    tsql.run_well("SET NOCOUNT OFF\nGO\nSELECT 1")
    assert tsql.counts == [1]
    tsql.run(
        f"{way.format('XACT_ABORT ON')}\nGO\nINSERT t VALUES (1)\nINSERT t VALUES (NULL)\nINSERT t VALUES (2)"
    )
    assert [error.number for error in tsql.errors] == [515]
    tsql.run_well("SELECT a FROM t")
    assert tsql.results == [[["1"]]]
    tsql.run(
        f"{way.format('XACT_ABORT OFF')}\nGO\nINSERT t VALUES (NULL)\nINSERT t VALUES (3)\nSELECT a FROM t"
    )
    assert tsql.results == [[["1"], ["3"]]]


def test_what_a_string_sets_ends_with_it(tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE t (a int)\nINSERT t VALUES (1), (2)\nSET NOCOUNT ON\nSET ROWCOUNT 1")
    tsql.run_well("EXEC ('SET NOCOUNT OFF SET ROWCOUNT 0')\nGO\nSELECT a FROM t")
    assert (tsql.results, tsql.counts) == ([[["1"]]], [])
    tsql.run_well(
        "SET NOCOUNT OFF\nSET ROWCOUNT 0\nEXEC ('SET NOCOUNT ON SET ROWCOUNT 1')\nGO\nSELECT a FROM t"
    )
    assert (tsql.results, tsql.counts) == ([[["1"], ["2"]]], [2])


def test_what_a_module_or_a_string_sets_for_the_connection_ends_with_it(tsql: Tsql) -> None:
    both = "SET LOCK_TIMEOUT 55 SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"
    tsql.run_well(
        f"CREATE TABLE t (a int)\nGO\nCREATE PROCEDURE inner_p AS {both} RAISERROR ('x', 16, 1)"
        "\nGO\nCREATE PROCEDURE p AS SET LOCK_TIMEOUT 10 EXEC ('SET LOCK_TIMEOUT 20 PRINT @@LOCK_TIMEOUT')"
        " PRINT @@LOCK_TIMEOUT BEGIN TRY EXEC inner_p END TRY BEGIN CATCH PRINT @@LOCK_TIMEOUT END CATCH"
        f"\nGO\nCREATE TRIGGER tr ON t AFTER INSERT AS {both} PRINT @@LOCK_TIMEOUT"
        "\nGO\nSET LOCK_TIMEOUT 7\nSET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
    )
    level = "SELECT current_setting('default_transaction_isolation')"
    for text, printed in {
        "EXEC p": ["20", "10", "10"],
        f"EXEC ('{both} PRINT @@LOCK_TIMEOUT')": ["55"],
        f"DECLARE @s nvarchar(200) = N'{both}' SET @s = @s + N' PRINT @@LOCK_TIMEOUT' EXEC (@s)": ["55"],
        f"EXEC sp_executesql N'{both} PRINT @@LOCK_TIMEOUT'": ["55"],
        "INSERT t VALUES (1)": ["55"],
        "BEGIN TRY EXEC inner_p END TRY BEGIN CATCH END CATCH": [],
    }.items():
        tsql.run_well(text)
        assert tsql.prints == printed, text
        tsql.run_well("PRINT @@LOCK_TIMEOUT")
        assert (tsql.prints, tsql.scalar(level)) == (["7"], "repeatable read"), text


def test_a_transaction_does_not_change_to_snapshot(tsql: Tsql) -> None:
    to_snapshot = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT"
    tsql.run_well(f"{to_snapshot} BEGIN TRAN {to_snapshot} COMMIT")
    for level in ("REPEATABLE READ", "READ COMMITTED"):
        tsql.run_well(f"SET TRANSACTION ISOLATION LEVEL {level}")
        tsql.run(f"BEGIN TRAN {to_snapshot} PRINT 'on'\nGO\nPRINT @@TRANCOUNT")
        assert ([error.number for error in tsql.errors], tsql.prints) == ([3951], ["0"])
    caught = "BEGIN CATCH PRINT XACT_STATE() ROLLBACK END CATCH"
    tsql.run_well(f"BEGIN TRAN BEGIN TRY {to_snapshot} END TRY {caught}")
    assert tsql.prints == ["-1"]


def warnings_of(script: str) -> list[Problem]:
    problems = compile_script(Source("test.sql", script)).problems
    problems.raise_if_any()
    return list(problems)


def test_lock_timeout_0_is_told_as_0(tsql: Tsql) -> None:
    tsql.run_well("SET LOCK_TIMEOUT 0 PRINT @@LOCK_TIMEOUT SET LOCK_TIMEOUT -1 PRINT @@LOCK_TIMEOUT")
    assert tsql.prints == ["0", "-1"]


def test_the_next_statement_has_the_callers_isolation_level(tsql: Tsql) -> None:
    tsql.run_well("CREATE PROCEDURE p AS SET TRANSACTION ISOLATION LEVEL SERIALIZABLE PRINT 1")
    level = "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
    for call in ("EXEC p", "EXEC ('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE')"):
        tsql.run_well(f"{call} {level}")
        assert tsql.results == [[["2"]]], call
    tsql.run_well(f"SET TRANSACTION ISOLATION LEVEL SNAPSHOT EXEC p {level}")
    assert tsql.results == [[["5"]]]


def test_a_session_tells_the_level_that_was_set(tsql: Tsql) -> None:
    tsql.run_well("CREATE QUEUE q")
    level = "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
    levels = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "SNAPSHOT"]
    for number, name in enumerate(levels, 1):
        setting = f"SET TRANSACTION ISOLATION LEVEL {name} {level}"
        tsql.run_well(f"CREATE PROCEDURE p{number} AS {setting} RECEIVE * FROM q")
        tsql.run_well(f"EXEC p{number}\nGO\n{setting}")
        assert tsql.results == [[[str(number)]], [], [[str(number)]]], name


def test_a_procedure_that_receives_keeps_its_level_by_its_own_statements() -> None:
    """What it calls is told: nothing there is locked."""
    set_up = "CREATE QUEUE q CREATE TABLE t (a int)\nGO\nCREATE PROCEDURE other AS SELECT a FROM t\nGO\n"
    receiving = (
        "SET TRANSACTION ISOLATION LEVEL {} RECEIVE * FROM q EXEC sp_executesql N'SELECT a FROM t' EXEC other"
    )
    for level, hint in {"SERIALIZABLE": "HOLDLOCK", "REPEATABLE READ": "REPEATABLEREAD"}.items():
        (warning,) = warnings_of(f"{set_up}CREATE PROCEDURE p AS {receiving.format(level)}")
        assert warning.message.startswith(f"What a procedure called here reads is not kept at {level}")
        assert warning.hint is not None and f"WITH ({hint})" in warning.hint
        assert warning.span.text == "EXEC other"
    assert warnings_of(f"{set_up}CREATE PROCEDURE p AS {receiving.format('READ COMMITTED')}") == []
    assert (
        warnings_of(f"{set_up}CREATE PROCEDURE p AS SET TRANSACTION ISOLATION LEVEL SERIALIZABLE EXEC other")
        == []
    )

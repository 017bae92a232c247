"""What ROLLBACK does not undo, and what of a session its triggers see."""

import pytest
from end_to_end.tsql import Tsql

SETTINGS = (
    "SET DATEFIRST 3 SET DATEFORMAT dmy SET LOCK_TIMEOUT 1234 SET CONTEXT_INFO 0x01"
    " EXEC sp_set_session_context N'k', N'v' SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
)
TOLD = (
    "SELECT @@DATEFIRST, MONTH(CAST('05/06/2026' AS datetime)), @@LOCK_TIMEOUT,"
    " SUBSTRING(CONTEXT_INFO(), 1, 1),"
    " SESSION_CONTEXT(N'k'), transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
)
ENDS = {
    "before": f"{SETTINGS} BEGIN TRAN ROLLBACK",
    "within": f"BEGIN TRAN {SETTINGS} ROLLBACK",
    "nested": f"BEGIN TRAN BEGIN TRAN {SETTINGS} ROLLBACK",
    "savepoint": f"BEGIN TRAN SAVE TRAN s {SETTINGS} ROLLBACK TRAN s COMMIT",
    "catch": f"BEGIN TRY BEGIN TRAN {SETTINGS} SELECT 1/0 AS x END TRY BEGIN CATCH ROLLBACK END CATCH",
    "error": f"BEGIN TRAN {SETTINGS} SET XACT_ABORT ON SELECT 1/0 AS x",
    "doomed": f"BEGIN TRY BEGIN TRAN {SETTINGS} SELECT CAST('x' AS int) END TRY BEGIN CATCH END CATCH",
}


@pytest.mark.parametrize("end", ENDS)
def test_no_rollback_undoes_settings(tsql: Tsql, end: str) -> None:
    tsql.run(f"{ENDS[end]}\nGO\n{TOLD}")
    assert tsql.results[-1] == [["3", "6", "1234", "0x01", "v", "3"]]


@pytest.mark.parametrize(
    "end",
    [
        "BEGIN TRAN USE Elsewhere ROLLBACK",
        "BEGIN TRAN SAVE TRAN s USE Elsewhere ROLLBACK TRAN s COMMIT",
        "BEGIN TRAN USE Elsewhere SELECT CAST('x' AS int) AS x",
    ],
)
def test_no_rollback_undoes_use(tsql: Tsql, end: str) -> None:
    tsql.run_well("CREATE DATABASE Elsewhere")
    text = "DECLARE @s nvarchar(50) SET @s = CONCAT(N'PRINT ', N'DB_NAME()') EXEC (@s)"
    tsql.run(f"{end}\nGO\nPRINT DB_NAME() {text}")
    assert tsql.prints == ["Elsewhere", "Elsewhere"]


def test_a_later_rollback_keeps_the_lock_timeout(tsql: Tsql) -> None:
    """Nothing of it was ever committed."""
    end = "BEGIN TRAN ROLLBACK PRINT @@LOCK_TIMEOUT"
    tsql.run_well(f"SET LOCK_TIMEOUT 700 {end} {end}")
    assert tsql.prints == ["700", "700"]


def test_a_procedures_date_options_end_with_it(tsql: Tsql) -> None:
    tsql.run_well(
        "CREATE PROCEDURE p AS SET DATEFIRST 1 SET DATEFORMAT dmy SET LANGUAGE French"
        " PRINT CONCAT(@@DATEFIRST, @@LANGUAGE, MONTH(CAST('05/06/2026' AS datetime)))\nGO\n"
        "SET DATEFIRST 2 EXEC p"
        " PRINT CONCAT(@@DATEFIRST, @@LANGUAGE, MONTH(CAST('05/06/2026' AS datetime)))\n"
        "EXEC ('SET DATEFIRST 4 PRINT @@DATEFIRST') PRINT CONCAT(@@DATEFIRST, DATEPART(weekday, '20260101'))"
    )
    assert [text for text in tsql.prints if "language" not in text] == [
        "1Français6",
        "2us_english5",
        "4",
        "23",
    ]


@pytest.mark.parametrize(
    ("script", "fetched"),
    [
        ("EXEC opened FETCH g BEGIN TRAN ROLLBACK FETCH g", "12"),
        ("EXEC opened BEGIN TRAN FETCH g ROLLBACK FETCH g BEGIN TRAN FETCH g ROLLBACK FETCH g", "1234"),
        ("BEGIN TRAN EXEC opened FETCH g ROLLBACK FETCH g BEGIN TRAN ROLLBACK FETCH g", "123"),
        ("BEGIN TRAN SAVE TRAN s EXEC opened FETCH g ROLLBACK TRAN s FETCH g ROLLBACK FETCH g", "123"),
        ("EXEC opened FETCH LAST FROM g BEGIN TRAN CLOSE g OPEN g FETCH g ROLLBACK FETCH g", "412"),
        ("EXEC opened BEGIN TRAN DEALLOCATE g ROLLBACK DELETE t WHERE a = 1 EXEC opened FETCH g", "2"),
    ],
)
def test_no_rollback_undoes_a_global_cursor(tsql: Tsql, script: str, fetched: str) -> None:
    """One of several procedures and batches: it is no variable of one of them."""
    tsql.run_well("CREATE TABLE t (a int) INSERT t VALUES (1), (2), (3), (4)")
    tsql.run_well(
        "CREATE PROCEDURE opened AS DECLARE g CURSOR GLOBAL SCROLL FOR SELECT a FROM t ORDER BY a OPEN g"
    )
    tsql.run_well(f"SET NOCOUNT ON {script}")
    assert "".join(rows[0][0] or "" for rows in tsql.results) == fetched


def test_prepared_documents_outlive_their_transaction(tsql: Tsql) -> None:
    tsql.run_well(
        "DECLARE @d int, @e int EXEC sp_xml_preparedocument @d OUTPUT, N'<a b=\"1\"/>'\n"
        "BEGIN TRAN EXEC sp_xml_preparedocument @e OUTPUT, N'<a b=\"2\"/>' ROLLBACK\n"
        "SELECT b FROM OPENXML(@d, '/a') WITH (b int) UNION ALL SELECT b FROM OPENXML(@e, '/a') WITH (b int)"
    )
    assert tsql.results == [[["1"], ["2"]]]


def test_identity_insert_outlives_its_transaction(tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE t (a int IDENTITY) CREATE TABLE u (a int IDENTITY)")
    tsql.run("BEGIN TRAN SET IDENTITY_INSERT t ON ROLLBACK\nGO\nSET IDENTITY_INSERT u ON")
    assert [error.number for error in tsql.errors] == [8107]


@pytest.mark.parametrize(
    "call", ["SET NOCOUNT ON INSERT t VALUES (1)", "EXEC p", "EXEC ('SET NOCOUNT ON EXEC p')"]
)
def test_a_trigger_counts_no_rows_where_its_caller_does_not(tsql: Tsql, call: str) -> None:
    tsql.run_well("CREATE TABLE t (a int) CREATE TABLE log (a int)")
    tsql.run_well("CREATE TRIGGER tr ON t AFTER INSERT AS INSERT log SELECT a FROM inserted")
    tsql.run_well("CREATE PROCEDURE p AS SET NOCOUNT ON BEGIN TRAN ROLLBACK INSERT t VALUES (1)")
    tsql.run_well(call)
    assert tsql.counts == []
    tsql.run_well(f"{call} SET NOCOUNT OFF INSERT t VALUES (2)")
    assert tsql.counts == [1, 1]


def test_nocount_of_a_procedure_is_not_its_callers(tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE t (a int) CREATE TABLE log (a int)")
    tsql.run_well("CREATE TRIGGER tr ON t AFTER INSERT AS INSERT log SELECT a FROM inserted")
    tsql.run_well("CREATE PROCEDURE p AS SET NOCOUNT ON INSERT t VALUES (1)")
    tsql.run_well("EXEC p INSERT t VALUES (2)")
    assert tsql.counts == [1, 1]
    tsql.connection.execute("CALL dbo.p()")
    tsql.run_well("INSERT t VALUES (3)")
    assert tsql.counts == [1, 1]


def test_nocount_of_a_trigger_is_that_of_the_triggers_it_fires(tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE t (a int) CREATE TABLE log (a int) CREATE TABLE more (a int)")
    tsql.run_well("CREATE TRIGGER tr ON t AFTER INSERT AS SET NOCOUNT ON INSERT log SELECT a FROM inserted")
    tsql.run_well("CREATE TRIGGER inner_tr ON log AFTER INSERT AS INSERT more SELECT a FROM inserted")
    tsql.run_well("INSERT t VALUES (1) PRINT 'behind' INSERT log VALUES (1)")
    assert tsql.counts == [1, 1, 1]


def test_a_trigger_knows_how_deep_its_transaction_is(tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE t (a int)")
    tsql.run_well("CREATE TRIGGER tr ON t AFTER INSERT AS PRINT @@TRANCOUNT")
    insert = "INSERT t VALUES (1)"
    for deeper in ("BEGIN TRAN", "BEGIN TRAN", "BEGIN TRAN", "COMMIT", "COMMIT", "COMMIT"):
        insert += f" {deeper} INSERT t VALUES (1)"
    tsql.run_well(f"{insert} BEGIN TRAN BEGIN TRAN ROLLBACK INSERT t VALUES (1)")
    assert tsql.prints == ["1", "1", "2", "3", "2", "1", "1", "1"]


def test_a_loop_ended_by_its_condition_has_an_error(tsql: Tsql) -> None:
    tsql.run("WHILE 1 / 0 = 1 PRINT 'in' PRINT @@ERROR WHILE 1 / 1 = 0 PRINT 'in' PRINT @@ERROR")
    assert tsql.prints == ["8134", "0"]


@pytest.mark.parametrize(
    "call", ["EXEC sp_executesql N'PRINT @@ERROR'", "EXEC ('PRINT @@ERROR')", "EXEC sp_mine"]
)
def test_a_declaration_with_a_value_resets_the_error(tsql: Tsql, call: str) -> None:
    """Whoever reads it: a text, or a procedure of the script with a name such as the system's."""
    tsql.run_well("CREATE PROCEDURE sp_mine AS PRINT @@ERROR")
    tsql.run(
        f"CREATE OR ALTER PROCEDURE sp_mine AS PRINT @@ERROR\nGO\nEXEC nosuch\nGO\nDECLARE @i int = 0 {call}"
    )
    assert tsql.prints == ["0"]


def test_insert_execute_in_another_is_an_error_of_its_statement(tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE t (a int)")
    tsql.run_well("CREATE PROCEDURE one AS SELECT 1")
    tsql.run_well("CREATE PROCEDURE inner_one AS\nINSERT t EXEC one\nPRINT @@ERROR SELECT 2")
    tsql.run_well("CREATE PROCEDURE by_text AS EXEC ('INSERT t EXEC one')")
    tsql.run(
        "INSERT t EXEC inner_one\nSELECT a FROM t\n"
        "BEGIN TRY INSERT t EXEC inner_one END TRY"
        " BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_PROCEDURE(), ' ', ERROR_LINE()) END CATCH\n"
        "BEGIN TRY INSERT t EXEC by_text END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH"
    )
    assert [(error.number, error.procedure, error.line) for error in tsql.errors] == [(8164, "inner_one", 2)]
    assert tsql.prints == ["8164", "8164 inner_one 2", "8164"]
    assert tsql.results == [[["2"]]]


MISSES = {
    "SELECT * FROM nosuch": "tr",
    "BEGIN TRY SELECT * FROM nosuch END TRY BEGIN CATCH PRINT 'no' END CATCH": "tr",
    "INSERT nosuch VALUES (1)": "tr",
    "EXEC miss": "miss",
    "EXEC ('SELECT * FROM nosuch')": "",
}


@pytest.mark.parametrize("body", MISSES)
def test_a_trigger_that_misses_a_table_undoes_its_statement(tsql: Tsql, body: str) -> None:
    tsql.run_well("CREATE TABLE t (a int)\nGO\nCREATE PROCEDURE miss AS SELECT * FROM nosuch PRINT 'no'")
    tsql.run_well(f"CREATE TRIGGER tr ON t AFTER INSERT AS {body} PRINT 'no'")
    tsql.run(
        "INSERT t VALUES (1) PRINT 'no'\nGO\nBEGIN TRAN INSERT t VALUES (1) PRINT 'no'\nGO\nPRINT @@TRANCOUNT"
    )
    assert [(error.number, error.procedure or "") for error in tsql.errors] == [(208, MISSES[body])] * 2
    assert tsql.prints == ["0"]
    tsql.run_well(
        "BEGIN TRAN BEGIN TRY INSERT t VALUES (1) END TRY"
        " BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), XACT_STATE()) ROLLBACK END CATCH SELECT COUNT(*) FROM t"
    )
    assert (tsql.prints, tsql.results) == (["208-1"], [[["0"]]])

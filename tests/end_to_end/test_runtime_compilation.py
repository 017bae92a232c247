"""Dynamic SQL of which only the run time knows the text: who may answer, and who cannot."""

import json
import uuid
from pathlib import Path
from typing import Any

import psycopg
import pytest
from end_to_end.tsql import Tsql

from activation import until
from pgsb.compiler.pipeline import CompileOptions, compile_script
from pgsb.grammar.source import Source
from pgsb.server import translate
from pgsb.server.learn import read_state
from support import Database

TEXT = "DECLARE @s nvarchar(100); SELECT @s = v FROM (VALUES (N'PRINT ''done''')) AS x (v); EXEC (@s)"


def test_a_client_that_cannot_translate_gets_an_error_there(database: Database) -> None:
    said: list[str | None] = []
    compiled = compile_script(Source("plain.sql", f"PRINT 'before' {TEXT} PRINT 'after'"), CompileOptions())
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary))
        connection.execute(compiled.text().encode())
    before, error, after = said
    assert (before, after) == ("before", "after")
    assert error is not None and "`pgsb run`" in error


def test_repeatable_read_is_told_why_not(tsql: Tsql) -> None:
    tsql.run(f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN TRAN; {TEXT}; COMMIT")
    assert [error.number for error in tsql.errors] == [102]


OWN_TABLES = """
CREATE PROCEDURE dbo.of_caller AS
DECLARE @s nvarchar(max)
SET @s = CONCAT(N'INSERT #Own VALUES (''x'', 3); SELECT id FROM #Own ORDER BY id FOR JSON AUTO', '')
EXEC (@s)
GO
CREATE PROCEDURE dbo.report AS
CREATE TABLE #Own (Id int IDENTITY, Kind varchar(9), N tinyint)
INSERT #Own VALUES ('a', 200), ('b', 2)
DECLARE @s nvarchar(max)
SET @s = CONCAT(N'SELECT * FROM #Own PIVOT (SUM(N) FOR Kind IN (', '[a], [b])) p ORDER BY Id')
EXEC (@s)
SET @s = CONCAT(N'SELECT N + N AS twice FROM #Own WHERE Id = ', 1)
EXEC (@s)
DROP TABLE #Own
CREATE TABLE #Own (id int IDENTITY, t varchar(9), u int)
EXEC dbo.of_caller
CREATE TABLE dbo.made_now (Id int IDENTITY, t varchar(9))
SET @s = CONCAT(N'INSERT dbo.made_now VALUES (''y''); SELECT * FROM dbo.made_now FOR XML RAW', '')
EXEC (@s)
GO
"""


def test_tables_that_only_the_session_sees_are_known(tsql: Tsql) -> None:
    tsql.run_well(OWN_TABLES)
    shown = tsql.run("BEGIN TRAN EXEC dbo.report COMMIT")
    assert [error.number for error in tsql.errors] == [8115]
    for part in ("Id a    b", " 1  200 NULL", '[{"id":1}]', '<row Id="1" t="y"/>'):
        assert part in shown


def test_tables_that_the_batch_drops_later_are_known(tsql: Tsql) -> None:
    for table in ("#Late", "##Late"):
        tsql.run_well(
            f"CREATE TABLE {table} (Id int IDENTITY, V int) "
            f"DECLARE @s nvarchar(max) = CONCAT(N'INSERT {table} VALUES (', 3, N') SELECT * FROM {table}') "
            "EXEC (@s) "
            f"DROP TABLE {table}"
        )
        assert tsql.results == [[["1", "3"]]], table


@pytest.mark.parametrize(
    "text",
    [
        "DECLARE @t TABLE (a int) BEGIN TRAN INSERT @t VALUES (1) ROLLBACK INSERT @t VALUES (2)",
        "DECLARE @t TABLE (a int) BEGIN TRY BEGIN TRAN INSERT @t VALUES (1) SELECT CAST('x' AS int)"
        " END TRY BEGIN CATCH ROLLBACK INSERT @t VALUES (2) END CATCH",
    ],
)
def test_no_rollback_takes_the_types_of_table_variables_away(tsql: Tsql, text: str) -> None:
    quoted = f"{text} SELECT a FROM @t ORDER BY a".replace("'", "''")
    tsql.run_well(f"DECLARE @s nvarchar(max) SELECT @s = v FROM (VALUES (N'{quoted}')) AS x (v) EXEC (@s)")
    assert tsql.results[-1] == [["1"], ["2"]]


def test_a_parameter_is_a_table(tsql: Tsql) -> None:
    tsql.run_well("CREATE TYPE dbo.ids AS TABLE (Id int PRIMARY KEY, Note varchar(9))")
    tsql.run(
        "DECLARE @i dbo.ids, @n int "
        "DECLARE @s nvarchar(max) = CONCAT(N'SELECT @n = 10 * ISNULL(SUM(Id), 0) FROM @f', '') "
        "INSERT @i VALUES (1, 'a,\"b'), (2, NULL) "
        "EXEC sp_executesql @s, N'@f dbo.ids READONLY, @n int OUTPUT', @i, @n OUTPUT PRINT @n "
        "EXEC sp_executesql @s, N'@f dbo.ids READONLY, @n int OUTPUT', @n = @n OUTPUT PRINT @n "
        "EXEC sp_executesql @s, N'@f dbo.ids READONLY, @n int OUTPUT', 3, @n OUTPUT "
        "EXEC sp_executesql @s, N'@f dbo.nids, @n int OUTPUT', 1, @n OUTPUT"
    )
    assert (tsql.prints, [error.number for error in tsql.errors]) == (["30", "0"], [206, 2715])


def test_a_line_with_go_is_part_of_the_text(tsql: Tsql) -> None:
    tsql.run("EXEC ('SELECT 1\nGO\nSELECT 2') DECLARE @s nvarchar(99) = CONCAT('PRINT 1\nGO', '') EXEC (@s)")
    assert [(error.number, error.line, error.dynamic) for error in tsql.errors] == [(102, 2, True)]


def test_what_cannot_be_compiled_is_an_error_of_the_statement(tsql: Tsql) -> None:
    broken = TEXT.replace("PRINT ''done''", "SELEC 1 FROM")
    tsql.run(f"BEGIN TRY {broken} END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH")
    assert tsql.prints == ["156"]


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The first three connections for answers are ended by others before they are used; their pids."""
    pids: list[int] = []
    opened = translate._open

    def open_and_kill(conninfo: str) -> psycopg.Connection[Any]:
        connection = opened(conninfo)
        if len(pids) < 3:
            pids.append(connection.info.backend_pid)
            with opened(conninfo) as other:
                other.execute("SELECT pg_terminate_backend(%s, 10000)", (pids[-1],))
        return connection

    monkeypatch.setattr(translate, "_open", open_and_kill)
    return pids


def test_a_text_is_translated_though_connections_for_it_are_ended(tsql: Tsql, killed: list[int]) -> None:
    tsql.run(TEXT)
    assert (tsql.prints, tsql.errors, len(killed)) == (["done"], [], 3)


def test_texts_share_a_connection_for_a_while_and_see_what_others_change(
    database: Database, connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of the daemon's programs: it knows no script."""
    opened: list[str] = []
    open_one = translate._open
    monkeypatch.setattr(translate, "_open", lambda dsn: (opened.append(dsn), open_one(dsn))[1])
    owner, session = connect(database.dsn), connect(database.dsn)
    owner.execute("CREATE TABLE dbo.t (a integer); INSERT INTO dbo.t VALUES (1)")
    translator = translate.Translator(database.dsn)
    said: list[str | None] = []

    def answer(notice: psycopg.errors.Diagnostic) -> None:
        if notice.sqlstate == "SX001":
            translator(notice.message_primary or "")
        else:
            said.append(notice.message_primary)

    session.add_notice_handler(answer)
    session.execute(translate.SETTING)
    double = TEXT.replace("PRINT ''done''", "DECLARE @x varchar(9) = (SELECT a + a FROM dbo.t) PRINT @x")
    script = compile_script(Source("plain.sql", double), CompileOptions()).text().encode()
    session.execute(script)
    learned = translator._learned
    session.execute('CREATE TABLE pg_temp."#t" (a integer)')
    session.execute(script)
    assert translator._learned is learned  # What is temporary was nothing to learn.
    owner.execute("ALTER TABLE dbo.t ALTER COLUMN a TYPE varchar(9)")
    session.execute(script)
    assert (said, len(opened)) == (["2", "2", "11"], 1)
    others = "SELECT FROM pg_stat_activity WHERE datname = %s AND application_name = 'pgsb translator'"
    translator._second._close_unused()  # It is no time yet.
    assert len(owner.execute(others, [database.name]).fetchall()) == 1
    with monkeypatch.context() as later:
        later.setattr(translate, "_KEPT", 0.0)
        translator._second._close_unused()
    until(lambda: not owner.execute(others, [database.name]).fetchall())
    session.execute(script)
    assert (said[3:], len(opened)) == (["11"], 2)
    translator.close()
    until(lambda: not owner.execute(others, [database.name]).fetchall())


def test_a_change_that_commits_after_a_later_one_is_seen(database: Database, connect: Any) -> None:
    first, second = connect(database.dsn), connect(database.dsn)
    first.execute("CREATE TABLE dbo.t (a integer); CREATE TABLE dbo.u (a integer)")
    with first.transaction():
        first.execute("ALTER TABLE dbo.t ALTER COLUMN a TYPE bigint")
        second.execute("ALTER TABLE dbo.u ALTER COLUMN a TYPE bigint")
        before = read_state(second)
    assert read_state(second) != before


@pytest.mark.long
def test_keys_are_used_though_connections_for_it_are_ended(
    tsql: Tsql, killed: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGSB_KEYS", str(tmp_path / "keys"))
    tsql.run_well("CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'x'; CREATE CERTIFICATE c WITH SUBJECT = 's'")
    assert tsql.connection.execute("SELECT name FROM sys.certificates").fetchall() == [("c",)]
    assert len(killed) == 3


def test_an_answer_given_twice_is_one(database: Database, connect: Any) -> None:
    owner, token = connect(database.dsn), uuid.uuid4()
    for _ in range(2):
        translate.give_answer(database.dsn, token, ["SELECT 1"], None, None, None)
    assert owner.execute("SELECT token FROM ssb.translation").fetchall() == [(token,)]


def test_only_the_same_user_can_answer_and_only_once(
    database: Database, connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = connect(database.dsn)
    token = uuid.uuid4()
    owner.execute("SELECT ssb_internal.answer_translation(%s, ARRAY['SELECT 1'])", [token])
    role = f"stranger_{uuid.uuid4().hex[:8]}"
    owner.execute(f"CREATE ROLE {role} LOGIN")
    try:
        with owner.transaction(force_rollback=True):
            owner.execute(f"SET SESSION AUTHORIZATION {role}")
            taken = owner.execute(
                "SELECT statements FROM ssb_internal.take_translation(%s)", [token]
            ).fetchone()
            assert taken == (None,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                owner.execute("SELECT * FROM ssb.translation")
        taken = owner.execute("SELECT statements FROM ssb_internal.take_translation(%s)", [token]).fetchone()
        assert taken == (["SELECT 1"],)
        again = owner.execute("SELECT statements FROM ssb_internal.take_translation(%s)", [token]).fetchone()
        assert again == (None,)
    finally:
        owner.execute(f"DROP ROLE {role}")


def test_the_request_names_what_the_client_needs(database: Database) -> None:
    seen: list[dict[str, Any]] = []
    compiled = compile_script(Source("plain.sql", TEXT), CompileOptions())
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("SET pgsb.translator = 'on'; SET statement_timeout = '300ms'")
        connection.add_notice_handler(
            lambda notice: (
                seen.append(json.loads(notice.message_primary or "")) if notice.sqlstate == "SX001" else None
            )
        )
        with pytest.raises(psycopg.errors.QueryCanceled):  # it waits, and can be cancelled
            connection.execute(compiled.text().encode())
    assert seen[0]["text"] == "PRINT 'done'"
    assert seen[0]["marks"] == []
    assert (seen[0]["level"], seen[0]["levels"]) == (1, 1)

"""What one statement of T-SQL becomes is done as a whole, or not at all: an ALTER that fails leaves what there was."""
# ruff: noqa: E501 (queries are easier to read unbroken)

import shutil
import subprocess
from collections.abc import Callable, Iterator

import psycopg
import pytest
from end_to_end.terminal import Terminal
from end_to_end.tsql import Tsql

from pgsb.compiler.compiled import CompileOptions
from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source
from support import Database

pytestmark = pytest.mark.one_postgres

MADE = """
CREATE TABLE t (a int, b int)
GO
CREATE PROCEDURE p @a int AS RETURN
GO
CREATE FUNCTION f (@a int) RETURNS int AS BEGIN RETURN 1 END
GO
CREATE FUNCTION rows_of (@a int) RETURNS TABLE AS RETURN SELECT 1 AS one
GO
CREATE VIEW v AS SELECT a, b FROM t
GO
CREATE TRIGGER vi ON v INSTEAD OF INSERT AS INSERT t (a) SELECT a FROM inserted
GO
CREATE TRIGGER ti ON t AFTER INSERT AS PRINT 'first'
"""
# Each is made anew; the last word tells how it is.
ALTERED = {
    "p": "CREATE OR ALTER PROCEDURE P @a int, @more int = 1 AS RETURN",
    "f": "ALTER FUNCTION f (@a int, @more int) RETURNS bigint AS BEGIN RETURN 2 END",
    "rows_of": "ALTER FUNCTION rows_of (@a int) RETURNS TABLE AS RETURN SELECT 1 AS one, 2 AS two",
    "v": "ALTER VIEW v AS SELECT a AS c, b, a FROM t",
    "ti": "ALTER TRIGGER ti ON t AFTER INSERT, UPDATE AS PRINT 'second'",
}
# What PostgreSQL alone finds: the compiler does not know them.
REFUSED = {
    "p": "ALTER PROCEDURE p @a nosuch AS RETURN",
    "f": "ALTER FUNCTION f (@a nosuch) RETURNS int AS BEGIN RETURN 1 END",
    "rows_of": "ALTER FUNCTION rows_of (@a int) RETURNS TABLE AS RETURN SELECT x FROM nosuch",
    "v": "ALTER VIEW v AS SELECT a FROM nosuch",
}
STATE = """
SELECT string_agg(concat_ws(' ', name, owner, acl, comment, body, source, of), E'\\n' ORDER BY name, of) FROM (
    SELECT proname::text AS name, proowner::regrole AS owner, proacl::text AS acl, obj_description(oid, 'pg_proc') AS comment,
           pg_get_functiondef(oid) AS body, ssb_internal.source_of('dbo', proname) AS source,
           (SELECT string_agg(format('%s%s', tgname, tgenabled), ',' ORDER BY tgname) FROM pg_trigger WHERE tgfoid = p.oid) AS of
      FROM pg_proc AS p WHERE pronamespace = 'dbo'::regnamespace
    UNION ALL
    SELECT relname, relowner::regrole, relacl::text, obj_description(oid, 'pg_class'),
           pg_get_viewdef(oid), ssb_internal.source_of('dbo', relname),
           (SELECT string_agg(attname || coalesce(attacl::text, ''), ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid)
      FROM pg_class AS c WHERE relnamespace = 'dbo'::regnamespace AND relkind = 'v') AS o
"""
FAILS = """
CREATE FUNCTION public.fail() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_tag LIKE current_setting('test.tag') THEN
        PERFORM pg_terminate_backend(pg_backend_pid()) WHERE current_setting('test.kills') = 'on';
        RAISE EXCEPTION 'No % today.', tg_tag;
    END IF;
END $$;
CREATE EVENT TRIGGER fail ON ddl_command_end EXECUTE FUNCTION public.fail();
CREATE EVENT TRIGGER fail_to_drop ON sql_drop EXECUTE FUNCTION public.fail();
SET test.tag = ''; SET test.kills = 'off';
"""


def grant(run: Callable[[bytes], object]) -> None:
    """Give the modules what an ALTER has to keep."""
    run(b"CREATE ROLE failing_reader; GRANT CREATE ON SCHEMA dbo TO failing_reader")
    for kind, name in (("PROCEDURE", "p"), ("FUNCTION", "f"), ("FUNCTION", "rows_of"), ("FUNCTION", "ti")):
        run(f"GRANT EXECUTE ON {kind} dbo.{name} TO failing_reader WITH GRANT OPTION".encode())
        run(f"COMMENT ON {kind} dbo.{name} IS 'Said of it.'".encode())
    run(b"GRANT SELECT (b) ON dbo.v TO failing_reader; COMMENT ON VIEW dbo.v IS 'Said of it.'")
    run(FAILS.encode())


@pytest.fixture
def made(tsql: Tsql) -> Iterator[Tsql]:
    """The modules, and an event trigger that fails at the statements of a tag."""
    tsql.run_well(MADE)
    grant(tsql.connection.execute)
    yield tsql
    with psycopg.connect(tsql.connection.info.dsn, autocommit=True) as other:
        other.execute("SET test.tag = ''; DROP EVENT TRIGGER fail; DROP EVENT TRIGGER fail_to_drop")
        other.execute("DROP OWNED BY failing_reader CASCADE; DROP ROLE failing_reader")


# The statements of an ALTER, as PostgreSQL tells of them: the old one goes, the new one comes, and gets what the old one had.
STEPS = ["DROP %", "CREATE %", "GRANT"]


@pytest.mark.long
def test_an_alter_that_fails_at_any_step_leaves_what_there_was(made: Tsql, database: Database) -> None:
    before = made.scalar(STATE)
    assert "Said of it." in before and "failing_reader" in before and "CREATE TRIGGER ti" in before
    for name, text in ALTERED.items():
        for tag in STEPS:
            made.connection.execute(f"SET test.tag = '{tag}'".encode())
            shown = made.run(f"{text}\nGO\nSELECT 1 AS after, @@TRANCOUNT AS trancount")
            assert len(made.errors) == 1 and " today." in shown, (name, tag, shown)
            assert made.results == [[["1", "0"]]]
            assert made.scalar(STATE) == before, (name, tag)
    made.connection.execute("SET test.tag = ''")
    for name, text in REFUSED.items():
        assert "nosuch" in made.run(text), name
        assert made.scalar(STATE) == before, name
    # A DDL trigger that raises, and one that takes it back.
    for fails, number in (("THROW 50001, 'No.', 1", 50001), ("ROLLBACK", 3609)):
        made.run_well(f"CREATE TRIGGER no ON DATABASE FOR DDL_DATABASE_LEVEL_EVENTS AS {fails}")
        for name, text in ALTERED.items():
            made.run(text)
            assert [e.number for e in made.errors] == [number], (name, made.errors)
        made.run_well("DISABLE TRIGGER no ON DATABASE\nDROP TRIGGER no ON DATABASE")
        assert made.scalar(STATE) == before
    for text in ALTERED.values():
        made.run_well(text)
    after = made.scalar(STATE)
    assert after.count("Said of it.") == before.count("Said of it.") + 1  # the trigger has a second event
    assert made.scalar("SELECT count(*) FROM ssb.noted_module") == 0


def test_a_session_killed_between_leaves_what_there_was(made: Tsql, database: Database) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as other:
        before = other.execute(STATE.encode()).fetchall()
        for name, tag in (("p", "CREATE %"), ("v", "GRANT")):
            session = Tsql(database.dsn)
            session.connection.execute(f"SET test.tag = '{tag}'; SET test.kills = 'on'".encode())
            with pytest.raises(Exception, match="lost"):
                session.run(ALTERED[name])
            session.close()
            assert other.execute(STATE.encode()).fetchall() == before


def test_as_text_for_psql_too(made: Tsql, database: Database) -> None:
    psql = shutil.which("psql")
    assert psql is not None
    before = made.scalar(STATE)
    options = CompileOptions(keep_source=True)
    text = compile_script(Source("x.sql", "\nGO\n".join(ALTERED.values())), options).text()
    switch = "SET test.kills = 'off'; SET test.tag = '{}';\n".format
    # In a migration's transaction, too: the first ones go well, the last one takes them back.
    first, last = text[: text.rindex("DO $whole$")], text[text.rindex("DO $whole$") :]
    late = f"{switch('')}{first}{switch('GRANT')}{last}"
    for script, option, errors in (
        (switch("GRANT") + text, "ON_ERROR_STOP=0", len(ALTERED)),
        (switch("GRANT") + text, "ON_ERROR_STOP=1", 1),
        (late, "ON_ERROR_STOP=1", 1),
    ):
        command = [psql, "-X", "-q", "-d", database.dsn, "-v", option, *["-1"] * (script == late)]
        shown = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
        assert shown.stderr.count("No GRANT today") == shown.stderr.count("ERROR") == errors
        assert made.scalar(STATE) == before


def test_in_an_open_transaction_the_statement_alone_is_undone(made: Tsql, database: Database) -> None:
    before = made.scalar(STATE)
    terminal = Terminal(database.dsn)
    terminal.connection.execute("SET test.tag = 'GRANT'; SET test.kills = 'off'")
    runner = terminal.runner
    try:
        assert runner.run(Source("a", "BEGIN TRAN\nINSERT t (a) VALUES (7)"))
        assert runner.depth == 1
        assert not runner.run(Source("b", ALTERED["p"]))
        assert not runner.run(Source("c", ALTERED["v"]))
        assert runner.depth == 1
        assert runner.run(Source("d", "COMMIT"))
    finally:
        terminal.close()
    assert made.scalar(STATE) == before
    assert made.scalar("SELECT count(*) FROM dbo.t") == 1
    # And where the script holds the transaction, or a string the module: what is kept of its text is the new one.
    made.run_well(f"BEGIN TRAN\nGO\n{ALTERED['p']}\nGO\nCOMMIT\nGO\nEXEC ('{ALTERED['v']}')")
    for name, text in (
        ("p", ALTERED["p"].replace("OR ALTER", " ")),
        ("v", ALTERED["v"].replace("ALTER", "CREATE")),
    ):
        assert made.scalar(f"SELECT ssb_internal.source_of('dbo', '{name}')").strip() == text


def test_a_ddl_trigger_that_alters_the_same_module_loses_nothing(made: Tsql) -> None:
    made.run_well(
        "CREATE TRIGGER again ON DATABASE FOR ALTER_PROCEDURE AS"
        " IF TRIGGER_NESTLEVEL() < 2 EXEC ('ALTER PROCEDURE p @b int AS RETURN 3')"
    )
    made.run_well(ALTERED["p"])
    grants, comment = made.connection.execute(
        "SELECT proacl::text, obj_description(oid, 'pg_proc') FROM pg_proc WHERE oid = 'dbo.p'::regproc"
    ).fetchone() or (None, "")
    assert "failing_reader=X*" in grants and "Said of it." in comment


def test_a_text_that_is_not_kept_does_not_stay_the_old_one(made: Tsql) -> None:
    kept = "SELECT array_agg(name ORDER BY name) FROM ssb.module_source"
    assert made.scalar(kept) == ["f", "p", "rows_of", "ti", "v", "vi"]
    text = compile_script(Source("x.sql", f"{ALTERED['p']}\nGO\n{ALTERED['v']}")).text()
    made.connection.execute(text.encode())
    made.run_well("DROP FUNCTION f\nDROP TRIGGER ti\nDROP VIEW v")
    assert made.scalar(kept) == ["rows_of"]
    # Nor that of a trigger on definitions, whose function has another name.
    made.run_well("CREATE TRIGGER x ON DATABASE FOR CREATE_VIEW AS PRINT 'x'")
    assert made.scalar(kept) == ["rows_of", "x"]
    altered = "ALTER TRIGGER x ON DATABASE FOR CREATE_VIEW AS PRINT 'y'"
    made.connection.execute(compile_script(Source("x.sql", altered)).text().encode())
    assert made.scalar(kept) == ["rows_of"]
    made.run_well(altered)
    assert made.scalar(kept) == ["rows_of", "x"]
    made.run_well("DROP TRIGGER x ON DATABASE")
    assert made.scalar(kept) == ["rows_of"]


def test_other_statements_of_several_parts(made: Tsql) -> None:
    made.connection.execute("SET test.tag = 'COMMENT'")
    made.run("CREATE TABLE Two (A int, MixedCase int)")
    assert len(made.errors) == 1
    assert made.scalar("SELECT to_regclass('dbo.two') IS NULL")

"""Modules that run with their owner's rights use nothing that their caller has put into pg_temp or settings.

Mallory may fire dbo's triggers and no more. Each trap notes as whom it was sprung: never as another
than Mallory.
"""
# ruff: noqa: E501 (what is planted is easier to read unbroken)

import json
from collections.abc import Callable, Iterator

import psycopg
import pytest
from attack.planting.scripts import end_sessions, run_well

from pgsb.compiler.session import CompileSession
from pgsb.grammar.source import Source
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

_SETUP = """
CREATE TABLE dbo.t (id int PRIMARY KEY, word nvarchar(50));
CREATE TABLE dbo.log (id int, word nvarchar(50));
GO
CREATE VIEW dbo.v AS SELECT id, word FROM dbo.t;
GO
CREATE PROCEDURE dbo.note_it AS INSERT dbo.log VALUES (0, 'noted');
GO
"""
_OWNER = """
CREATE TABLE public.ran_as (name text, what text);
GRANT ALL ON public.ran_as TO PUBLIC;
CREATE SCHEMA mallory AUTHORIZATION mallory;
GRANT USAGE ON SCHEMA dbo, mallory TO PUBLIC;
GRANT SELECT, INSERT ON dbo.t, dbo.v TO mallory;
"""
_TRAPS = """
CREATE FUNCTION pg_temp.note(text) RETURNS integer LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO public.ran_as VALUES (current_user, $1); RETURN 1; END $$;
CREATE FUNCTION pg_temp.sprung() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO public.ran_as VALUES (current_user, 'trigger'); RETURN NEW; END $$;
"""


@pytest.fixture(scope="module")
def stage(new_database: Callable[..., Database]) -> Database:
    made = new_database()
    run_well(made.dsn, _SETUP)
    return made


@pytest.fixture
def cloned(stage: Database) -> Database:
    return stage


@pytest.fixture
def owner(database: Database, connect: Callable[..., Connection]) -> Connection:
    connection = connect(database.dsn)
    connection.execute("CREATE ROLE mallory LOGIN")
    connection.execute(_OWNER)
    return connection


@pytest.fixture
def mallory(owner: Connection, database: Database) -> Iterator[Connection]:
    with psycopg.connect(database.dsn, autocommit=True, user="mallory") as connection:
        connection.execute(_TRAPS)
        try:
            yield connection
        finally:
            caught = owner.execute("SELECT name, what FROM public.ran_as WHERE name <> 'mallory'").fetchall()
            connection.close()
            end_sessions(owner, "mallory")
            owner.execute("DROP OWNED BY mallory CASCADE; DROP ROLE mallory")
        assert caught == []


def _trigger(database: Database, body: str, kind: str = "AFTER INSERT", on: str = "dbo.t") -> None:
    run_well(database.dsn, f"CREATE TRIGGER dbo.tr ON {on} WITH EXECUTE AS OWNER {kind} AS\n{body}")


def _fire(mallory: Connection, on: str = "dbo.t") -> str:
    """Fire the trigger; returns the message of the error that comes of it."""
    try:
        mallory.execute(f"INSERT INTO {on} (id, word) VALUES (1, 'x')".encode())
    except psycopg.Error as error:
        return str(error.diag.message_primary)
    return ""


def _log(owner: Connection) -> list[tuple[object, ...]]:
    return owner.execute("SELECT id, word FROM dbo.log").fetchall()


def test_exec_by_name_does_not_call_a_trampoline_of_the_caller(
    database: Database, owner: Connection, mallory: Connection
) -> None:
    _trigger(database, "DECLARE @p sysname = 'dbo.note_it'; EXEC @p")
    role = owner.execute("SELECT current_user::regrole::oid").fetchone()
    assert role is not None
    for name in (f"ssb_trampoline_{by}{digit:x}" for by in ("", f"{role[0]}_") for digit in range(16)):
        for parameters in ("arguments text[], session ssb.session", "VARIADIC arguments text[]"):
            mallory.execute(
                f"CREATE PROCEDURE pg_temp.{name}({parameters}) LANGUAGE plpgsql AS"
                " $$ BEGIN PERFORM pg_temp.note('trampoline'); END $$".encode()
            )
    mallory.execute("SET pgsb.trampoline = 'x'; SET pgsb.answer = '{}'")
    assert _fire(mallory) == ""
    assert _log(owner) == [(0, "noted")]


@pytest.mark.parametrize(
    "name, message",
    [("'#p'", "does not use"), ("CONCAT('#', 'p')", "Could not find stored procedure")],
    ids=["its text names it", "only the run time knows"],
)
def test_a_temporary_procedure_of_the_caller_is_not_run_with_rights_of_another(
    database: Database, owner: Connection, mallory: Connection, name: str, message: str
) -> None:
    _trigger(database, f"DECLARE @p sysname = {name}; EXEC @p")
    mallory.execute(
        "CREATE PROCEDURE pg_temp.\"#p\"() LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_temp.note('#p'); END $$"
    )
    assert message in _fire(mallory)


def test_the_callers_client_does_not_write_what_a_definer_executes(
    database: Database, owner: Connection, mallory: Connection
) -> None:
    _trigger(database, "DECLARE @s nvarchar(max) = (SELECT word FROM inserted); EXEC (@s)")
    statement = (
        "CREATE OR REPLACE PROCEDURE pg_temp.ssb_text(arguments text[], session ssb.session) LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_temp.note('text'); END $$"
    )

    def answer(diagnostic: psycopg.errors.Diagnostic) -> None:
        if diagnostic.sqlstate == "SX001":
            token = json.loads(str(diagnostic.message_primary))["token"]
            with psycopg.connect(database.dsn, autocommit=True, user="mallory") as second:
                second.execute("SELECT ssb_internal.answer_translation(%s, %s)", [token, [statement]])

    mallory.add_notice_handler(answer)
    mallory.execute("SET pgsb.translator = 'on'; SET client_min_messages = notice")
    message = _fire(mallory)
    assert "would write what is executed" in message, message


_PLANTED_ROWS = {
    "view": "CREATE VIEW pg_temp.\"dbo.tr@inserted\" AS SELECT pg_temp.note('view') AS id, 'x'::varchar(50) AS word",
    "policy": 'CREATE TABLE pg_temp."dbo.tr@inserted" (id integer, word varchar(50));'
    ' GRANT ALL ON pg_temp."dbo.tr@inserted" TO PUBLIC;'
    ' ALTER TABLE pg_temp."dbo.tr@inserted" ENABLE ROW LEVEL SECURITY;'
    " CREATE POLICY p ON pg_temp.\"dbo.tr@inserted\" USING (pg_temp.note('policy') = 1)",
    "trigger": 'CREATE TABLE pg_temp."dbo.tr@inserted" (id integer, word varchar(50));'
    ' GRANT ALL ON pg_temp."dbo.tr@inserted" TO PUBLIC;'
    ' CREATE TRIGGER t BEFORE INSERT OR DELETE ON pg_temp."dbo.tr@inserted"'
    " FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.sprung()",
}


@pytest.mark.parametrize("planted", _PLANTED_ROWS)
@pytest.mark.parametrize("on", ["dbo.t", "dbo.v"])
def test_instead_of_triggers_read_no_relation_of_the_caller(
    database: Database, owner: Connection, mallory: Connection, planted: str, on: str
) -> None:
    _trigger(database, "INSERT dbo.log SELECT id, word FROM inserted", "INSTEAD OF INSERT", on)
    mallory.execute(_PLANTED_ROWS[planted].encode())
    assert 'pg_temp."dbo.tr@inserted"' in _fire(mallory, on)
    mallory.execute("DISCARD TEMP")
    mallory.execute(_TRAPS)
    assert _fire(mallory, on) == ""
    assert _log(owner) == [(1, "x")]
    # Once more in the same session, whose table stands already.
    assert _fire(mallory, on) == ""
    assert _log(owner) == [(1, "x"), (1, "x")]


_CURSOR = """
DECLARE c CURSOR GLOBAL FOR SELECT id FROM inserted; OPEN c; FETCH NEXT FROM c; CLOSE c; DEALLOCATE c;
EXEC dbo.note_it
"""
_CURSOR_TABLES = (
    "CREATE TEMPORARY TABLE ssb_cursor (key text PRIMARY KEY, at integer NOT NULL, row_count integer,"
    " can_scroll boolean, is_fixed boolean, columns text {extra});"
    "CREATE TEMPORARY TABLE ssb_cursor_row (key text, place integer, cells text[], PRIMARY KEY (key, place));"
    "GRANT ALL ON ssb_cursor, ssb_cursor_row TO PUBLIC;"
)
_PLANTED_CURSORS = {
    "trigger": _CURSOR_TABLES.format(extra="") + "CREATE TRIGGER t BEFORE INSERT OR UPDATE ON ssb_cursor"
    " FOR EACH ROW EXECUTE FUNCTION pg_temp.sprung()",
    "default": _CURSOR_TABLES.format(extra=", more integer DEFAULT pg_temp.note('default')"),
    "check": _CURSOR_TABLES.format(extra=", CHECK (pg_temp.note('check') = 1)"),
    "rule": _CURSOR_TABLES.format(extra="")
    + "CREATE RULE r AS ON INSERT TO ssb_cursor DO ALSO SELECT pg_temp.note('rule')",
    "view": "CREATE TEMPORARY VIEW ssb_cursor AS SELECT 'c'::text AS key, 0 AS at, pg_temp.note('view') AS row_count,"
    " true AS can_scroll, true AS is_fixed, ''::text AS columns; GRANT ALL ON ssb_cursor TO PUBLIC",
}


@pytest.mark.parametrize("planted", _PLANTED_CURSORS)
def test_global_cursors_are_kept_in_no_table_of_the_caller(
    database: Database, owner: Connection, mallory: Connection, planted: str
) -> None:
    _trigger(database, _CURSOR)
    mallory.execute(_PLANTED_CURSORS[planted].encode())
    assert "ssb_cursor" in _fire(mallory)
    mallory.execute("DISCARD TEMP")
    mallory.execute(_TRAPS)
    assert _fire(mallory) == ""
    assert _log(owner) == [(0, "noted")]


_PLANTED_TABLES = {
    "view": 'CREATE VIEW pg_temp."#x" AS SELECT pg_temp.note(\'view\') AS id; GRANT ALL ON pg_temp."#x" TO PUBLIC',
    "trigger": 'CREATE TABLE pg_temp."#x" (id integer); GRANT ALL ON pg_temp."#x" TO PUBLIC;'
    ' CREATE TRIGGER t BEFORE INSERT ON pg_temp."#x" FOR EACH ROW EXECUTE FUNCTION pg_temp.sprung()',
    "default": "CREATE TABLE pg_temp.\"#x\" (id integer, n integer DEFAULT pg_temp.note('default'));"
    ' GRANT ALL ON pg_temp."#x" TO PUBLIC',
    "generated": "CREATE FUNCTION pg_temp.calm(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS"
    " 'SELECT pg_temp.note(''generated'')';"
    ' CREATE TABLE pg_temp."#x" (id integer, n integer GENERATED ALWAYS AS (pg_temp.calm(id)) STORED);'
    ' GRANT ALL ON pg_temp."#x" TO PUBLIC',
    "check": "CREATE TABLE pg_temp.\"#x\" (id integer CHECK (pg_temp.note('check') = 1));"
    ' GRANT ALL ON pg_temp."#x" TO PUBLIC',
    "index": "CREATE FUNCTION pg_temp.calm(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS"
    " 'SELECT pg_temp.note(''index'')';"
    ' CREATE TABLE pg_temp."#x" (id integer); CREATE INDEX ON pg_temp."#x" (pg_temp.calm(id));'
    ' GRANT ALL ON pg_temp."#x" TO PUBLIC',
    "child": 'CREATE TABLE pg_temp."#x" (id integer); CREATE TABLE pg_temp.child () INHERITS (pg_temp."#x");'
    ' GRANT ALL ON pg_temp."#x" TO PUBLIC',
    "type": "CREATE TYPE pg_temp.bait AS ENUM ('a'); CREATE FUNCTION pg_temp.of_int(integer) RETURNS pg_temp.bait"
    " LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_temp.note('cast'); RETURN 'a'; END $$;"
    " CREATE CAST (integer AS pg_temp.bait) WITH FUNCTION pg_temp.of_int(integer) AS ASSIGNMENT;"
    ' CREATE TABLE pg_temp."#x" (id pg_temp.bait); GRANT ALL ON pg_temp."#x" TO PUBLIC',
}


@pytest.mark.parametrize("planted", _PLANTED_TABLES)
@pytest.mark.parametrize("through", ["the trigger", "a procedure"])
def test_temporary_tables_of_the_caller_are_plain_or_refused(
    database: Database, owner: Connection, mallory: Connection, planted: str, through: str
) -> None:
    use = "INSERT #x (id) SELECT 1; EXEC dbo.note_it"
    if through == "a procedure":
        run_well(database.dsn, f"CREATE PROCEDURE dbo.uses AS {use}")
        use = "EXEC dbo.uses"
    _trigger(database, use)
    mallory.execute(_PLANTED_TABLES[planted].encode())
    assert '"#x"' in _fire(mallory)
    assert _log(owner) == []
    mallory.execute(
        'DROP TABLE IF EXISTS pg_temp."#x" CASCADE' if planted != "view" else 'DROP VIEW pg_temp."#x"'
    )
    mallory.execute('CREATE TABLE pg_temp."#x" (id integer PRIMARY KEY); GRANT ALL ON pg_temp."#x" TO PUBLIC')
    assert _fire(mallory) == ""
    assert mallory.execute('SELECT id FROM pg_temp."#x"').fetchall() == [(1,)]


def test_the_database_of_a_definer_is_its_own_not_the_callers(
    database: Database, owner: Connection, mallory: Connection
) -> None:
    run_well(database.dsn, "CREATE DATABASE evil")
    owner.execute("GRANT ALL ON SCHEMA evil_dbo TO mallory")
    mallory.execute(
        "CREATE PROCEDURE evil_dbo.note_it() LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO public.ran_as VALUES (current_user, 'other database'); END $$"
    )
    _trigger(database, "DECLARE @p sysname = 'dbo.note_it'; EXEC @p")
    mallory.execute("SET pgsb.database = 'evil'")
    assert _fire(mallory) == ""
    assert _log(owner) == [(0, "noted")]
    assert mallory.execute("SHOW pgsb.database").fetchone() == ("evil",)


def test_nobody_hangs_a_definers_trigger_on_a_table_of_his_own(
    database: Database, owner: Connection, mallory: Connection
) -> None:
    _trigger(database, "INSERT dbo.log SELECT id, word FROM inserted")
    mallory.execute("CREATE TABLE mallory.own (id integer, word varchar(50))")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        mallory.execute(
            "CREATE TRIGGER t AFTER INSERT ON mallory.own REFERENCING NEW TABLE AS inserted"
            " FOR EACH STATEMENT EXECUTE FUNCTION dbo.tr()"
        )
    run_well(database.dsn, "DROP TRIGGER dbo.tr")
    _trigger(database, "INSERT dbo.log SELECT id, word FROM inserted", "INSTEAD OF INSERT")
    for function in ("tr", '"tr@rows"'):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            mallory.execute(
                "CREATE TRIGGER t AFTER INSERT ON mallory.own FOR EACH STATEMENT"
                f" EXECUTE FUNCTION dbo.{function}()".encode()
            )
    assert _fire(mallory) == ""
    assert _log(owner) == [(1, "x")]


def test_ddl_triggers_fall_for_nothing_either(
    database: Database, owner: Connection, mallory: Connection
) -> None:
    run_well(
        database.dsn,
        "CREATE TRIGGER watch ON DATABASE WITH EXECUTE AS SELF FOR CREATE_QUEUE AS\n"
        "DECLARE @p sysname = 'dbo.note_it', @n int; EXEC @p; SELECT @n = id FROM #x",
    )
    owner.execute("SELECT ssb.grant_permission('{CREATE QUEUE}', 'DATABASE', NULL, '{mallory}')")
    role = owner.execute("SELECT current_user::regrole::oid").fetchone()
    assert role is not None
    for name in (f"ssb_trampoline_{by}{digit:x}" for by in ("", f"{role[0]}_") for digit in range(16)):
        mallory.execute(
            f"CREATE PROCEDURE pg_temp.{name}(arguments text[], session ssb.session) LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM pg_temp.note('trampoline'); END $$".encode()
        )
    mallory.execute(_PLANTED_TABLES["view"].encode())
    with pytest.raises(psycopg.Error, match='"#x"'):
        mallory.execute("SELECT ssb.create_queue('mallory.q')")
    mallory.execute('DROP VIEW pg_temp."#x"; CREATE TABLE pg_temp."#x" (id integer)')
    mallory.execute("SELECT ssb.create_queue('mallory.q')")
    assert _log(owner) == [(0, "noted")]


def test_the_text_of_a_module_is_its_owners(
    database: Database, owner: Connection, mallory: Connection
) -> None:
    run_well(database.dsn, "CREATE TRIGGER watch ON DATABASE FOR DROP_QUEUE AS PRINT 'x'")
    owner.execute("GRANT CREATE ON SCHEMA dbo TO mallory")
    modules = ("dbo.note_it", "dbo.v", "dbo.watch", "dbo.none")
    asked = "SELECT name, text FROM ssb.module_source ORDER BY name"
    before = owner.execute(asked).fetchall()
    assert {name for name, _ in before} >= {"note_it", "v", "watch"}
    mallory.execute('CREATE FUNCTION dbo."note_it@mine"() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$')
    for module in modules:
        mallory.execute("SELECT ssb_internal.keep_source(%s, 'forged')", [module])
    assert owner.execute(asked).fetchall() == before
    mallory.execute("CREATE FUNCTION mallory.f() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    mallory.execute("SELECT ssb_internal.keep_source('mallory.f', 'her own')")
    assert ("f", "her own") in owner.execute(asked).fetchall()


_EVASIONS = {
    # Each as it was seen to keep dbo's trigger from firing, or from seeing what is updated.
    "a trigger of the same name": (
        "CREATE FUNCTION mallory.tr() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO dbo.t (id, word) VALUES (1, 'x'); RETURN NULL; END $$;"
        " CREATE TRIGGER t AFTER INSERT ON mallory.own EXECUTE FUNCTION mallory.tr()",
        "INSERT INTO mallory.own VALUES (1)",
    ),
    "a stack that names it": (
        "CREATE FUNCTION mallory.hides() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN EXECUTE"
        " 'INSERT INTO dbo.t (id, word) VALUES (1, ''x'') /*\nPL/pgSQL function dbo.tr() line 1 at SQL statement\n*/';"
        " RETURN NULL; END $f$;"
        " CREATE TRIGGER t AFTER INSERT ON mallory.own EXECUTE FUNCTION mallory.hides()",
        "INSERT INTO mallory.own VALUES (1)",
    ),
    "a setting that says it runs": (
        "SET pgsb.instead = 'dbo.tr'",
        "INSERT INTO dbo.t (id, word) VALUES (1, 'x')",
    ),
    "a setting and a stack": (
        "SET pgsb.instead = 'dbo.tr'",
        "DO $d$ BEGIN EXECUTE 'INSERT INTO dbo.t (id, word) VALUES (1, ''x'')"
        " /*\nPL/pgSQL function dbo.tr() line 1 at SQL statement\n*/'; END $d$",
    ),
    "a setting and a stack that counts a routine twice": (
        "SET pgsb.instead = 'dbo.tr'",
        "DO $d$ BEGIN EXECUTE 'INSERT INTO dbo.t (id, word) VALUES (1, ''x'')"
        " /*\nPL/pgSQL function inline_code_block x(int)\nPL/pgSQL function dbo.tr() line 1\n*/'; END $d$",
    ),
}


@pytest.mark.parametrize("kind", ["AFTER INSERT", "INSTEAD OF INSERT"])
@pytest.mark.parametrize("evasion", _EVASIONS)
def test_nobody_keeps_a_trigger_from_firing(
    database: Database, owner: Connection, mallory: Connection, evasion: str, kind: str
) -> None:
    run_well(
        database.dsn, f"CREATE TRIGGER dbo.tr ON dbo.t {kind} AS INSERT dbo.log SELECT id, word FROM inserted"
    )
    owner.execute("GRANT INSERT ON dbo.log TO mallory")
    mallory.execute("CREATE TABLE mallory.own (id integer)")
    preparation, statement = _EVASIONS[evasion]
    mallory.execute(preparation.encode())
    mallory.execute(statement.encode())
    assert _log(owner) == [(1, "x")]


def test_nobody_changes_what_update_of_a_column_says(
    database: Database, owner: Connection, mallory: Connection
) -> None:
    """Not before the UPDATE, and not by a function that runs in it."""
    run_well(
        database.dsn,
        "CREATE TRIGGER dbo.tr ON dbo.t AFTER UPDATE AS\n"
        "IF UPDATE(word) INSERT dbo.log SELECT id, word FROM inserted\n"
        "IF UPDATE(id) INSERT dbo.log VALUES (99, 'id')",
    )
    owner.execute("GRANT INSERT ON dbo.log TO mallory; GRANT UPDATE ON dbo.t TO mallory")
    owner.execute("INSERT INTO dbo.t VALUES (1, 'a')")
    name = owner.execute("SELECT ssb_internal.setting_of_updates('dbo.t'::regclass, 'tr')").fetchone()
    assert name is not None
    mallory.execute(
        "CREATE FUNCTION pg_temp.evil() RETURNS text LANGUAGE plpgsql AS"
        f" $$ BEGIN PERFORM set_config('{name[0]}', '{{id}}', true); RETURN 'x'; END $$".encode()
    )
    mallory.execute(f"SET pgsb.updates = 'tr.id'; SET \"{name[0]}\" = '{{id}}'".encode())
    mallory.execute("UPDATE dbo.t SET word = pg_temp.evil()")
    assert _log(owner) == [(1, "x")]


def test_a_trigger_s_function_is_at_no_time_everybody_s_to_hang(
    database: Database, owner: Connection, mallory: Connection
) -> None:
    """Between CREATE FUNCTION and REVOKE somebody could hang it on a table of his own, where it stays."""
    source = Source(
        "<test>",
        "CREATE TRIGGER dbo.tr ON dbo.t WITH EXECUTE AS OWNER AFTER INSERT AS PRINT 'x'\nGO\n"
        "CREATE TRIGGER dbo.instead ON dbo.t WITH EXECUTE AS OWNER INSTEAD OF DELETE AS PRINT 'x'\nGO\n"
        "CREATE TRIGGER watch ON DATABASE FOR CREATE_QUEUE AS PRINT 'x'\n",
    )
    made = 0
    for batch in CompileSession().compile_batches(source, lambda: False):
        for statement in batch.statements:
            owner.execute(statement.sql.encode())
            functions = owner.execute(
                "SELECT p.oid::regprocedure::text, has_function_privilege('mallory', p.oid, 'EXECUTE')"
                " FROM pg_proc AS p"
                " WHERE p.pronamespace = 'dbo'::regnamespace AND p.prorettype = 'trigger'::regtype"
            ).fetchall()
            assert [name for name, may in functions if may] == [], statement.sql
            made = len(functions)
    assert made == 4


def test_no_function_believes_a_row_that_its_caller_makes(owner: Connection, mallory: Connection) -> None:
    """With the owner's rights it would read whatever sequence the row names."""
    assert not owner.execute(
        "SELECT p.oid::regprocedure::text FROM pg_proc AS p JOIN unnest(p.proargtypes) AS a (type) ON true"
        " JOIN pg_class AS c ON c.reltype = a.type AND c.relkind IN ('r', 'p')"
        " WHERE p.pronamespace::regnamespace::text IN ('ssb', 'ssb_internal', 'sys') AND p.prosecdef"
        " AND has_function_privilege('mallory', p.oid, 'EXECUTE')"
    ).fetchall()


def test_the_history_of_a_table_has_the_moments_of_its_changes(
    database: Database, owner: Connection, mallory: Connection
) -> None:
    run_well(
        database.dsn,
        "CREATE TABLE dbo.timed (id int PRIMARY KEY, s datetime2 GENERATED ALWAYS AS ROW START,"
        " e datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (s, e))"
        " WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.former));\nINSERT dbo.timed (id) VALUES (1)",
    )
    owner.execute("GRANT UPDATE, SELECT ON dbo.timed TO mallory")
    for moment in ("1999-01-01 00:00:00.000000", "2999-01-01 00:00:00.000000", "x"):
        mallory.execute(f"SET pgsb.system_time = '{moment}'".encode())
        mallory.execute("UPDATE dbo.timed SET id = id + 1")
    assert owner.execute(
        "SELECT count(*) FROM dbo.former WHERE e - (now() AT TIME ZONE 'UTC') BETWEEN '-1 min' AND '1 min'"
    ).fetchall() == [(3,)]

"""Objects of every kind, planted before code with other rights runs: none of them may run with those rights.

Every SECURITY DEFINER function in the catalog is called, so that a new one is covered, and every kind of module that
a script makes is fired. PGSB_PLANTING_ROUNDS=100 goes on for longer; PGSB_PLANTING_SEED chooses other values.
"""
# ruff: noqa: E501 (what is planted is easier to read unbroken)

import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from attack.planting.calls import calls, functions
from attack.planting.scripts import end_sessions, run_well
from attack.planting.shadows import COUNTER, plant, reached

from support import Connection, Database

# Which names the runtime's text leaves open is the same on each.
pytestmark = pytest.mark.one_postgres

_ROUNDS = int(os.environ.get("PGSB_PLANTING_ROUNDS", "1"))
_SEED = int(os.environ.get("PGSB_PLANTING_SEED", "1"))
_RUNTIME = Path(__file__).parents[3] / "runtime_sql"

_OWNER = f"""
CREATE ROLE mallory LOGIN;
CREATE ROLE carol;
CREATE SCHEMA mallory AUTHORIZATION mallory;
GRANT USAGE ON SCHEMA dbo TO PUBLIC;
CREATE FUNCTION public.trap() RETURNS integer LANGUAGE plpgsql AS
    $$ BEGIN IF current_user <> 'mallory' THEN PERFORM pg_catalog.nextval('{COUNTER}'); END IF; RETURN 1; END $$;
CREATE FUNCTION public.trap_row() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM public.trap(); RETURN NEW; END $$;
SELECT ssb.grant_permission('{{CREATE QUEUE,CREATE SERVICE,CREATE MESSAGE TYPE,CREATE CONTRACT,CREATE ROUTE}}',
                            'DATABASE', NULL, '{{mallory}}');
"""
_PLANTED = """
CREATE TYPE pg_temp.bait AS ENUM ('a');
CREATE FUNCTION pg_temp.of_bait(pg_temp.bait) RETURNS integer LANGUAGE plpgsql AS
    $$ BEGIN RETURN public.trap(); END $$;
CREATE CAST (pg_temp.bait AS integer) WITH FUNCTION pg_temp.of_bait(pg_temp.bait) AS IMPLICIT;
CREATE FUNCTION pg_temp.to_bait(text) RETURNS pg_temp.bait LANGUAGE plpgsql AS
    $$ BEGIN PERFORM public.trap(); RETURN 'a'; END $$;
CREATE CAST (text AS pg_temp.bait) WITH FUNCTION pg_temp.to_bait(text) AS ASSIGNMENT;
CREATE VIEW pg_temp.trap AS SELECT 1 AS id WHERE public.trap() = 1;
GRANT ALL ON pg_temp.trap TO PUBLIC;
CREATE TABLE mallory.own (id integer DEFAULT public.trap(), word text, b pg_temp.bait);
CREATE TRIGGER t BEFORE INSERT OR UPDATE OR DELETE ON mallory.own FOR EACH ROW EXECUTE FUNCTION public.trap_row();
"""
_SETTINGS = (
    *(
        "pgsb.database",
        "pgsb.trampoline",
        "pgsb.answer",
        "pgsb.translator",
        "pgsb.instead",
        "pgsb.updates",
        "pgsb.status",
    ),
    *(
        "pgsb.tries",
        "pgsb.roles",
        "pgsb.event_data",
        "pgsb.opened_cursor",
        "pgsb.rowcount",
        "pgsb.nocount",
    ),
)
_WORDS = (
    "",
    "on",
    "1",
    "0",
    "dbo.tr",
    "evil",
    "{a,b}",
    "{}",
    "mallory.own",
    "public.trap()",
    "x'||public.trap()||'",
)


def _temporary_names() -> list[str]:
    """Names that the runtime's text has in pg_temp, and of the tables and views that it reads."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(_RUNTIME.rglob("*.sql")))
    return sorted(
        {name.strip('"') for name in re.findall(r"pg_temp\.(\w+)\b(?!\s*\()", text)}
        | set(re.findall(r"TEMPORARY TABLE (?:IF NOT EXISTS )?(\w+)", text))
        | {
            "#x",
            "dbo.tr@inserted",
            "dbo.tr@deleted",
            "inserted",
            "deleted",
            "message",
            "queue",
            "conversation_endpoint",
        }
    )


def _relation(name: str, kind: int) -> str:
    quoted = f'pg_temp."{name}"'
    columns = "key text, at integer, row_count integer, can_scroll boolean, is_fixed boolean, columns text, place integer"
    return [
        f"CREATE VIEW {quoted} AS SELECT public.trap() AS id, 'x'::varchar(50) AS word",
        f"CREATE TABLE {quoted} (id integer DEFAULT public.trap(), word varchar(50), {columns}, cells text[])",
        f"CREATE TABLE {quoted} (id integer, word varchar(50), CHECK (public.trap() = 1))",
        f"CREATE TABLE {quoted} (id integer, word varchar(50));"
        f" CREATE TRIGGER t BEFORE INSERT OR UPDATE OR DELETE ON {quoted} FOR EACH ROW EXECUTE FUNCTION public.trap_row();"
        f" ALTER TABLE {quoted} ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON {quoted} USING (public.trap() = 1)",
        f"CREATE TABLE {quoted} (id integer, word pg_temp.bait)",
        f"CREATE TABLE {quoted} (id integer, word varchar(50));"
        f" CREATE RULE r AS ON INSERT TO {quoted} DO ALSO SELECT public.trap()",
    ][kind] + f"; GRANT ALL ON {quoted} TO PUBLIC"


def _plant_all(connection: Connection, dice: random.Random) -> None:
    """All of pg_temp and the settings, in a fresh session."""
    connection.execute(_PLANTED)
    for name in _temporary_names():
        if name != "trap" and dice.random() < 0.9:
            try:
                connection.execute(_relation(name, dice.randrange(6)).encode())
            except psycopg.errors.DuplicateTable:
                continue
    for name in (*(f"ssb_trampoline_{digit:x}" for digit in range(16)), "ssb_text", "ssb_batch", "#p"):
        connection.execute(
            f'CREATE PROCEDURE pg_temp."{name}"(arguments text[], session ssb.session) LANGUAGE plpgsql AS'
            " $$ BEGIN PERFORM public.trap(); END $$".encode()
        )
    for name in _SETTINGS:
        if dice.random() < 0.7:
            connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, dice.choice(_WORDS)])


@pytest.fixture
def owner(database: Database, connect: Callable[..., Connection]) -> Connection:
    connection = connect(database.dsn)
    connection.execute(f"CREATE SEQUENCE {COUNTER}; GRANT ALL ON {COUNTER} TO PUBLIC".encode())
    connection.execute(_OWNER.encode())
    return connection


@pytest.fixture
def mallory(owner: Connection, database: Database) -> Iterator[Callable[[], Connection]]:
    """Opens sessions of Mallory's, everything planted in each."""
    dice = random.Random(_SEED)
    opened: list[Connection] = []

    def session() -> Connection:
        connection = psycopg.connect(database.dsn, autocommit=True, user="mallory")
        opened.append(connection)
        connection.execute("DROP TABLE IF EXISTS mallory.own CASCADE")
        _plant_all(connection, dice)
        connection.execute("SET statement_timeout = '300ms'; SET client_min_messages = warning")
        return connection

    try:
        yield session
    finally:
        for connection in opened:
            connection.close()
        end_sessions(owner, "mallory")
        owner.execute("DELETE FROM ssb.permission WHERE grantee = 'mallory'")
        for role in ("mallory", "carol"):
            # The schema's shadows are more than one transaction may drop; they go with the database.
            owner.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER; DROP OWNED BY {role} CASCADE".encode())
            owner.execute(f"DROP ROLE {role}".encode())


@pytest.mark.long
def test_no_definer_of_the_runtime_runs_what_its_caller_planted(
    owner: Connection, mallory: Callable[[], Connection]
) -> None:
    plant(owner, "mallory", "mallory", exact=True)
    found = functions(owner, only_definers=True)
    assert len(found) > 100
    for number in range(_ROUNDS):
        session = mallory()
        # Shadows before PostgreSQL's own.
        session.execute("SET search_path = mallory, pg_temp, pg_catalog")
        went_well = 0
        for statement in calls(found, seed=_SEED + number, rounds=2):
            try:
                with session.transaction():
                    session.execute(statement.encode())
                    went_well += 1
                    raise psycopg.Rollback
            except psycopg.Error:
                if session.closed:
                    raise
            assert reached(owner) == 0, statement
        assert went_well > 30
        session.close()


_BODIES = (
    "DECLARE @p sysname = 'dbo.note_it'; EXEC @p",
    "DECLARE @q sysname = '#p'; EXEC @q",
    "DECLARE @s nvarchar(max) = (SELECT MAX(word) FROM dbo.t); EXEC (@s)",
    "EXEC sp_executesql N'INSERT dbo.log SELECT @a, UPPER(@b) + ''x''', N'@a int, @b nvarchar(9)', 1, N'y'",
    "DECLARE c CURSOR GLOBAL FOR SELECT id FROM dbo.t; OPEN c; FETCH NEXT FROM c; CLOSE c; DEALLOCATE c",
    "INSERT #x (id) SELECT 1; SELECT * FROM #x; DELETE #x; UPDATE #x SET word = 'x'",
    "CREATE TABLE #x (id int); INSERT #x VALUES (1); EXEC dbo.uses",
    "SELECT CONCAT(id, word), word + 'x', LEN(word), FORMAT(id, 'N') FROM dbo.t WHERE word LIKE 'x%' FOR XML PATH",
    "DECLARE @t TABLE (id int PRIMARY KEY, w nvarchar(9)); INSERT @t SELECT id, word FROM dbo.t; SELECT * FROM @t FOR JSON AUTO",
    "BEGIN TRY SELECT 1 / 0 END TRY BEGIN CATCH PRINT ERROR_MESSAGE(); EXEC dbo.note_it END CATCH",
    "MERGE dbo.log AS l USING dbo.t AS t ON l.id = t.id WHEN NOT MATCHED THEN INSERT (id, word) VALUES (t.id, t.word);",
    "INSERT dbo.log EXEC dbo.shows",
)
_KINDS = (
    ("trigger", "CREATE TRIGGER dbo.tr ON dbo.t WITH EXECUTE AS {as_} AFTER INSERT, UPDATE AS"),
    (
        "trigger",
        "CREATE TRIGGER dbo.tr ON dbo.t WITH EXECUTE AS {as_} INSTEAD OF INSERT AS INSERT dbo.log SELECT id, word FROM inserted;",
    ),
    (
        "trigger",
        "CREATE TRIGGER dbo.tr ON dbo.v WITH EXECUTE AS {as_} INSTEAD OF INSERT AS INSERT dbo.log SELECT id, word FROM inserted;",
    ),
    ("ddl", "CREATE TRIGGER tr ON DATABASE FOR CREATE_QUEUE, CREATE_TABLE AS"),
    ("ddl", "CREATE TRIGGER tr ON DATABASE WITH EXECUTE AS {as_} FOR CREATE_QUEUE, CREATE_TABLE AS"),
)
_MODULES = """
CREATE TABLE dbo.t (id int, word nvarchar(50)); CREATE TABLE dbo.log (id int, word nvarchar(50));
INSERT dbo.t VALUES (7, 'PRINT 1');
GO
CREATE VIEW dbo.v AS SELECT id, word FROM dbo.t
GO
CREATE PROCEDURE dbo.note_it AS INSERT dbo.log VALUES (0, 'noted')
GO
CREATE PROCEDURE dbo.shows AS SELECT id, word FROM dbo.t
GO
CREATE PROCEDURE dbo.uses AS BEGIN INSERT #x (id) VALUES (2); SELECT UPPER(word) FROM #x END
GO
CREATE FUNCTION dbo.f(@a int) RETURNS nvarchar(50) WITH EXECUTE AS OWNER AS
BEGIN RETURN (SELECT MAX(UPPER(word) + CONCAT(@a, id)) FROM dbo.t) END
GO
CREATE FUNCTION dbo.tf(@a int) RETURNS @r TABLE (id int, word nvarchar(50)) WITH EXECUTE AS OWNER AS
BEGIN INSERT @r SELECT id + @a, LOWER(word) FROM dbo.t; RETURN END
GO
"""
_GRANTS = """
GRANT SELECT, INSERT, UPDATE ON dbo.t, dbo.v TO mallory;
GRANT ALL ON ALL TABLES IN SCHEMA dbo TO carol;
"""
_FIRE = (
    "INSERT INTO dbo.t (id, word) VALUES (1, 'x')",
    "INSERT INTO dbo.v (id, word) SELECT public.trap(), 'y'",
    "UPDATE dbo.t SET word = 'z'",
    "SELECT ssb.create_queue('mallory.q')",
    "CREATE TABLE mallory.made (id integer)",
    "SELECT dbo.f(1)",
    "SELECT * FROM dbo.tf(1)",
    "SELECT dbo.f(public.trap())",
)


@pytest.mark.long
def test_no_module_with_rights_of_its_own_runs_what_its_caller_planted(
    database: Database, owner: Connection, mallory: Callable[[], Connection]
) -> None:
    run_well(database.dsn, _MODULES)
    owner.execute(_GRANTS)
    plant(owner, "mallory", "mallory", exact=True)
    dice = random.Random(_SEED)
    for _ in range(_ROUNDS):
        for target, head in _KINDS:
            body = "\n".join(dice.sample(_BODIES, 4))
            principal = dice.choice(("OWNER", "SELF", "'carol'"))
            run_well(database.dsn, f"{head.format(as_=principal)}\n{body}")
            session = mallory()
            session.execute("SET search_path = mallory, pg_temp, pg_catalog")
            for statement in _FIRE:
                try:
                    session.execute(statement.encode())
                except psycopg.Error:
                    assert not session.closed
                assert reached(owner) == 0, (head, body, statement)
            session.close()
            owner.execute(
                "SELECT ssb.drop_queue(q.name) FROM ssb.queue AS q WHERE q.name = 'mallory.q'; DROP TABLE IF EXISTS mallory.made"
            )
            run_well(
                database.dsn, "DROP TRIGGER tr ON DATABASE" if target == "ddl" else "DROP TRIGGER dbo.tr"
            )


def test_what_is_planted_does_run_as_whoever_uses_it(
    owner: Connection, mallory: Callable[[], Connection]
) -> None:
    """The traps are live: else the tests above could not fail."""
    session = mallory()
    session.execute("GRANT USAGE ON SCHEMA mallory TO PUBLIC; GRANT ALL ON mallory.own TO PUBLIC")
    owner.execute("INSERT INTO mallory.own (word) VALUES ('x')")
    assert reached(owner) > 0

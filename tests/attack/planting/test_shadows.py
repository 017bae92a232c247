"""No call of a script's or of the runtime's comes to a function or operator that somebody made in public.

A superuser runs the scripts, an ordinary role modules of each kind, and the daemon a program. PostgreSQL finds no
function and no operator in pg_temp without its schema's name; types and relations there are planted by test_fuzz.
"""
# ruff: noqa: E501 (the script is easier to read unbroken)

import re
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from attack.planting.calls import calls, functions
from attack.planting.shadows import plant, reached
from end_to_end.tsql import Tsql
from psycopg.conninfo import make_conninfo

from pgsb.compiler.pipeline import CompileOptions, compile_script
from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from pgsb.grammar.source import Source
from support import Connection, Database

_TESTS = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def shadowed(new_database: Callable[[], Database]) -> Database:
    """Shadows in public and in the schema of the superuser's own name, which his search_path has first."""
    database = new_database()
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(
            "CREATE SCHEMA IF NOT EXISTS pgsb; CREATE TABLE public.plain AS SELECT 'a'::varchar AS a"
        )
        assert plant(connection, "public", "nobody") > 20000
        # They catch what names no schema: else this test could not fail.
        with pytest.raises(psycopg.Error):
            connection.execute(
                "SELECT upper(a), 1 / (length(a) - 1) FROM public.plain WHERE a = 'a'::varchar"
            )
            connection.execute("SELECT pg_catalog.int4div(1, 0)")
        assert connection.execute("SELECT upper(a) FROM public.plain").fetchone() == (None,)
        assert reached(connection) > 0
        connection.execute("ALTER SEQUENCE public.shadows_reached RESTART")
    return database


def _scripts() -> list[str]:
    whole = (_TESTS / "sql" / "scripts.sql").read_text(encoding="utf-8")
    cases = re.findall(r"^-- case: [^\n]*\n(.*?)^-- expect", whole, re.M | re.S)
    texts = [
        path.read_text(encoding="utf-8") for path in sorted((_TESTS / "end_to_end" / "scripts").glob("*.sql"))
    ]
    return [*cases, *(text for text in texts if "WAITFOR" not in text.upper())]


def _different(scripts: list[str]) -> list[str]:
    """The scripts that call or write in SQL what none before them does: what is the same is planned the same.

    Words in capitals count too: IN, BETWEEN, ORDER BY and their like look operators up.
    """
    compiled = [compile_script(Source("script.sql", text), CompileOptions()) for text in scripts]
    words = [
        {word for one in batches.batches for part in one.statements for word in _WORDS.findall(part.sql)}
        for batches in compiled
    ]
    found: set[str] = set()
    kept = []
    for text, its in sorted(zip(scripts, words, strict=True), key=lambda pair: -len(pair[1])):
        if not its <= found:
            kept.append(text)
            found |= its
    return kept


# Calls with their schemas, operators, and SQL's own words.
_WORDS = re.compile(
    r"\b(?:ssb\w*|sys|pg_catalog)\.[\w.\"]+\s*\(|(?<![\w.\"])[a-z]\w*\s*\(|OPERATOR\([^)]*\)|\b[A-Z]{2,}\b"
)


# 20,000 overloads cost PostgreSQL 15 ten times what they cost 18; what a text names is the same in both.
@pytest.mark.long
@pytest.mark.one_postgres
def test_scripts_reach_no_shadow(shadowed: Database) -> None:
    texts = _different(_scripts())
    assert len(texts) > 50
    with closing(Tsql(shadowed.dsn)) as session:
        for text in texts:
            session.run(text)
            session.run("IF @@TRANCOUNT > 0 ROLLBACK")
            assert reached(session.connection) == 0, text


_EACH_KIND = """
CREATE TABLE dbo.seen (id int IDENTITY PRIMARY KEY, word nvarchar(50) DEFAULT N'a' CHECK (LEN(word) > 0), at datetime DEFAULT GETDATE())
GO
CREATE VIEW dbo.shown AS SELECT id, UPPER(word) + CONCAT(N'-', id) AS word FROM dbo.seen WHERE word LIKE N'a%'
GO
CREATE FUNCTION dbo.twofold (@a int) RETURNS int AS BEGIN RETURN ROUND(@a * 2.0, 0) + (SELECT COUNT(*) FROM dbo.seen WHERE id = @a) END
GO
CREATE FUNCTION dbo.few (@a int) RETURNS TABLE AS RETURN SELECT id, SUBSTRING(word, 1, 2) AS word FROM dbo.seen WHERE id >= @a
GO
CREATE FUNCTION dbo.many (@a int) RETURNS @r TABLE (id int, word nvarchar(50)) AS
BEGIN INSERT @r SELECT id + @a, REPLACE(word, N'a', N'b') FROM dbo.seen WHERE word <> N'' RETURN END
GO
CREATE TRIGGER dbo.on_seen ON dbo.seen AFTER INSERT, UPDATE, DELETE AS
INSERT dbo.told SELECT N'x' + word + CAST(id AS nvarchar(9)) FROM inserted WHERE id % 2 IN (0, 1)
GO
CREATE TRIGGER dbo.on_shown ON dbo.shown INSTEAD OF INSERT AS INSERT dbo.seen (word) SELECT LOWER(word) FROM inserted
GO
CREATE PROCEDURE dbo.program AS
BEGIN
    DECLARE @h uniqueidentifier, @t sysname, @b varbinary(max)
    WHILE 1 = 1
    BEGIN
        RECEIVE TOP (1) @h = conversation_handle, @t = message_type_name, @b = message_body FROM dbo.work_of_program
        IF @@ROWCOUNT = 0 BREAK
        INSERT dbo.told SELECT UPPER(@t) + CONCAT(N':', CAST(@b AS nvarchar(max)), dbo.twofold(2))
        INSERT dbo.seen (word) VALUES (N'abc')
        IF @t NOT LIKE N'http%' SEND ON CONVERSATION @h (N'answer' + CAST(SCOPE_IDENTITY() AS nvarchar(9)))
        END CONVERSATION @h
    END
END
GO
CREATE QUEUE dbo.work_of_program
CREATE QUEUE dbo.answers
CREATE SERVICE [//Program] ON QUEUE dbo.work_of_program ([DEFAULT])
CREATE SERVICE [//Asker] ON QUEUE dbo.answers ([DEFAULT])
GO
INSERT dbo.shown (word) VALUES (N'AB'), (N'AC')
UPDATE dbo.seen SET word = word + N'c' WHERE id BETWEEN 1 AND 9
SELECT s.word, dbo.twofold(s.id), m.word FROM dbo.few(1) AS s JOIN dbo.many(0) AS m ON m.id = s.id ORDER BY s.word DESC
SELECT * FROM dbo.shown FOR JSON PATH
DECLARE @h uniqueidentifier, @p sysname = N'dbo.program', @s nvarchar(max) = N'SELECT COUNT(*) FROM dbo.seen WHERE word >= N''a'''
BEGIN DIALOG @h FROM SERVICE [//Asker] TO SERVICE '//Program' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'one');
EXEC (@s)
EXEC @p
EXEC sp_executesql N'SELECT UPPER(word) FROM dbo.seen WHERE id = @i', N'@i int', 1
DELETE dbo.seen WHERE id = 1
GO
DECLARE @h uniqueidentifier
BEGIN DIALOG @h FROM SERVICE [//Asker] TO SERVICE '//Program' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'two');
GO
ALTER QUEUE dbo.work_of_program WITH ACTIVATION (STATUS = ON, PROCEDURE_NAME = dbo.program, MAX_QUEUE_READERS = 1, EXECUTE AS OWNER)
GO
"""
_OF_OWNER = """
CREATE TABLE dbo.told (what nvarchar(200))
GO
CREATE TRIGGER on_database ON DATABASE FOR CREATE_QUEUE, CREATE_VIEW AS
INSERT dbo.told SELECT LEFT(CAST(EVENTDATA() AS nvarchar(max)), 200)
GO
"""
_PLAIN = """
CREATE ROLE plain_writer LOGIN;
GRANT CREATE ON DATABASE {database} TO plain_writer; GRANT ALL ON SCHEMA dbo TO plain_writer;
SELECT ssb.create_principal('plain_writer', 'USER'); SELECT ssb.add_member('db_owner', 'plain_writer');
"""


@pytest.mark.long
@pytest.mark.one_postgres
def test_no_kind_of_module_reaches_a_shadow_as_an_ordinary_role(
    shadowed: Database, connect: Callable[..., Connection]
) -> None:
    """Batch, procedure, functions, view, triggers, DDL trigger, dynamic SQL, and a program that the daemon starts."""
    owner = connect(shadowed.dsn)
    owner.execute("SET search_path = pg_catalog")
    with closing(Tsql(shadowed.dsn)) as session:
        session.run_well(_OF_OWNER)
    owner.execute(_PLAIN.format(database=shadowed.name).encode())
    owner.execute("GRANT ALL ON dbo.told TO plain_writer")
    try:
        with closing(Tsql(make_conninfo(shadowed.dsn, user="plain_writer"))) as session:
            session.run_well(_EACH_KIND)
        assert reached(owner) == 0
        with EmbeddedBroker(BrokerOptions(shadowed.dsn, grace=2.0)):
            deadline = time.monotonic() + 60
            while owner.execute("SELECT FROM dbo.told WHERE what LIKE '%:two%'").fetchone() is None:
                assert time.monotonic() < deadline, "the program has not run"
                time.sleep(0.05)
        assert reached(owner) == 0
        made = owner.execute("SELECT count(*) FROM dbo.told WHERE what LIKE '<EVENT%'").fetchone()
        assert made == (3,)
    finally:
        owner.execute("DELETE FROM ssb.role_member WHERE member = 'plain_writer'")
        owner.execute("REASSIGN OWNED BY plain_writer TO CURRENT_USER; DROP OWNED BY plain_writer")
        owner.execute("DROP ROLE plain_writer")


@pytest.mark.long
@pytest.mark.one_postgres
def test_no_function_of_ours_reaches_a_shadow(shadowed: Database, connect: Callable[..., Connection]) -> None:
    connection = connect(shadowed.dsn)
    connection.execute(
        "CREATE SCHEMA mallory; CREATE TABLE mallory.own (id integer); CREATE TEMP TABLE trap (id integer)"
    )
    # The test's own questions are not to be caught.
    connection.execute("SET search_path = pg_catalog")
    found = functions(connection, only_definers=False)
    connection.execute("RESET search_path")
    assert len(found) > 1000
    connection.execute("SET statement_timeout = '200ms'; SET client_min_messages = warning")
    done = 0
    for statement in calls(found, seed=1, rounds=1):
        try:
            with connection.transaction():
                connection.execute(f"{statement}".encode())
                done += 1
                raise psycopg.Rollback
        except psycopg.Error:
            continue
        finally:
            assert reached(connection) == 0, statement
    assert done > 300

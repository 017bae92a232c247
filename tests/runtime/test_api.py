"""Schema ssb shows the API: all in it is documented. What stands in ssb and sys has a COMMENT."""

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from end_to_end.tsql import Tsql

from pgsb.runtime_sql.installer import install
from support import Connection, Database

ROOT = Path(__file__).parents[2]
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
COMMENTS = ROOT / "runtime_sql" / "comments"

WHAT_TO_DO = (
    "put it into ssb_internal, or give it words in runtime_sql/comments/, and in docs/api.md if it is in ssb"
)

_SILENT = """
SELECT p.oid::regprocedure::text FROM pg_proc AS p
 WHERE p.pronamespace = ANY ('{ssb,sys}'::regnamespace[]) AND obj_description(p.oid, 'pg_proc') IS NULL
UNION ALL
SELECT c.oid::regclass || coalesce('.' || a.attname, '') FROM pg_class AS c
 CROSS JOIN LATERAL (SELECT attnum, attname FROM pg_attribute
                      WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
                     UNION ALL SELECT 0, NULL) AS a
 WHERE c.relnamespace = ANY ('{ssb,sys}'::regnamespace[]) AND (c.relkind = 'v' OR c.relname = 'message')
   AND CASE WHEN a.attnum > 0 THEN col_description(c.oid, a.attnum)
            WHEN c.relkind = 'c' THEN obj_description(c.reltype, 'pg_type')
            ELSE obj_description(c.oid, 'pg_class') END IS NULL
UNION ALL
SELECT t.oid::regtype::text FROM pg_type AS t
 WHERE t.typnamespace = ANY ('{ssb,sys}'::regnamespace[]) AND t.typtype = 'd'
   AND obj_description(t.oid, 'pg_type') IS NULL
"""
"""What users see in ssb and sys that has no comment."""

_COMMENTS = """
SELECT coalesce(p.proname::text, c.relname || coalesce('.' || a.attname, '')), min(d.description)
  FROM pg_description AS d
  LEFT JOIN pg_proc AS p ON d.classoid = 'pg_proc'::regclass AND p.oid = d.objoid
  LEFT JOIN pg_type AS t ON d.classoid = 'pg_type'::regclass AND t.oid = d.objoid
  LEFT JOIN pg_class AS c ON c.oid = coalesce(t.typrelid, d.objoid) AND p.oid IS NULL
  LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = d.objsubid AND d.objsubid > 0
 WHERE coalesce(p.pronamespace, c.relnamespace) = %s::regnamespace AND (p.oid IS NULL) = %s
 GROUP BY 1
"""
"""The comments of a schema's routines, or of its relations and their columns."""


def test_every_routine_of_ssb_is_documented(connect: Callable[..., Connection]) -> None:
    found = connect().execute("SELECT proname::text FROM pg_proc WHERE pronamespace = 'ssb'::regnamespace")
    routines = {name for (name,) in found}
    documented = set(re.findall(r"\bssb\.(\w+)\(", API))
    assert sorted(routines - documented) == [], WHAT_TO_DO
    assert sorted(documented - routines) == [], "docs/api.md names what is not there"


def test_parameters_have_their_documented_names(connect: Callable[..., Connection]) -> None:
    """Who calls by name (``top => 5``) finds in docs/api.md what there is."""
    there: dict[str, list[set[str]]] = {}
    for name, parameters in connect().execute(
        "SELECT p.proname::text, p.proargnames[:p.pronargs] FROM pg_proc AS p"
        " WHERE p.pronamespace = 'ssb'::regnamespace"
    ):
        there.setdefault(name, []).append(set(parameters or ()))
    told = 0
    for block in API.split("```")[1::2]:
        if not block.startswith("\n"):
            continue  # an example
        for name, text in re.findall(r"\bssb\.(\w+)\(((?:[^()]|\([^()]*\))*)\)", re.sub(r"--.*", "", block)):
            names = {one.split()[0] for one in re.split(r",\s+", text.strip()) if one and "…" not in one}
            assert any(names <= have if "…" in text else names == have for have in there[name]), (name, names)
            told += 1
    assert told > 100


def test_all_that_users_see_has_a_comment(connect: Callable[..., Connection]) -> None:
    assert connect().execute(_SILENT).fetchall() == [], WHAT_TO_DO


@pytest.mark.one_postgres
def test_the_broker_alone_has_its_comments(
    empty_database: Database, connect: Callable[..., Connection]
) -> None:
    connection = connect(empty_database.dsn)
    install(connection, parts="broker")
    assert connection.execute(_SILENT).fetchall() == []
    assert connection.execute(
        "SELECT obj_description('sys.services'::regclass, 'pg_class'), to_regclass('sys.sysindexes')"
    ).fetchone() == (
        "The services of the session's T-SQL database, and the three that the system brings.",
        None,
    )


@pytest.mark.one_postgres
@pytest.mark.parametrize(
    ("file", "schema", "kind"),
    [
        ("ssb", "ssb", "routines"),
        ("ssb", "ssb", "relations"),
        ("sys_views", "sys", "relations"),
        ("sys_functions", "sys", "routines"),
    ],
)
def test_words_describe_what_is_there(
    connect: Callable[..., Connection], file: str, schema: str, kind: str
) -> None:
    """Each line is the comment of something, and nothing is said that another line says for it."""
    said, parents = _words(file, schema, kind)
    comments = dict(connect().execute(_COMMENTS, (schema, kind == "relations")).fetchall())
    own = {key: words for key, words in said.items() if not key.startswith("*")}
    assert [key for key, words in own.items() if comments.get(key) != words] == []
    shared = {key.split(".")[1] for key in comments if "." in key and key not in said}
    assert [key for key in said if key.startswith("*.") and key[2:] not in shared] == []
    columns = [key.split(".") for key in own if "." in key]
    elsewhere = {
        f"{relation}.{column}": said.get(f"{parents.get(relation)}.{column}") or said.get(f"*.{column}")
        for relation, column in columns
    }
    assert [key for key, words in elsewhere.items() if said[key] == words] == []
    assert [key for key, words in said.items() if key != "*" and not words.endswith(".")] == []


def _words(file: str, schema: str, kind: str) -> tuple[dict[str, str], dict[str, str]]:
    """What a file in comments/ says of each name, and whose words a relation has besides its own."""
    text = (COMMENTS / f"{file}.sql").read_text(encoding="utf-8")
    (lines,) = re.findall(rf"describe_{kind}\('{schema}', \$words\$\n(.*?)\$words\$", text, re.S)
    said: dict[str, str] = {}
    parents: dict[str, str] = {}
    relations = [""]
    for line in filter(None, lines.splitlines()):
        head, _, words = line.partition(": ")
        names, _, parent = head.strip().partition(" < ")
        keys = names.split(", ")
        if line.startswith(" "):
            keys = [f"{relation}.{key}" for relation in relations for key in keys]
        else:
            relations = keys
        if parent:
            parents[names] = parent
        assert said.keys().isdisjoint(keys), f"said twice: {keys}"
        said |= dict.fromkeys(keys, words)
    return said, parents


_SOME_OF_EVERYTHING = """
CREATE TABLE dbo.parent (id int IDENTITY PRIMARY KEY, code varchar(9) UNIQUE, twice AS id * 2)
CREATE TABLE dbo.child (a int CHECK (a > 0), b nvarchar(max) DEFAULT 'b',
                        parent int REFERENCES dbo.parent (id) ON DELETE CASCADE)
CREATE INDEX ix_child ON dbo.child (a DESC) INCLUDE (b) WHERE a > 1
CREATE TABLE dbo.dated (id int PRIMARY KEY, since datetime2 GENERATED ALWAYS AS ROW START,
                        till datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (since, till))
    WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.dated_before))
CREATE TYPE dbo.code FROM varchar(9) NOT NULL
CREATE TYPE dbo.codes AS TABLE (code varchar(9))
CREATE SEQUENCE dbo.numbers AS int START WITH 3
CREATE SYNONYM dbo.other FOR dbo.parent
INSERT INTO dbo.parent (code) VALUES ('x')
GO
CREATE VIEW dbo.codes_shown AS SELECT code FROM dbo.parent
GO
CREATE PROCEDURE dbo.act @a int, @b varchar(9) = 'b', @c int OUTPUT AS SET @c = @a
GO
CREATE PROCEDURE dbo.react AS RETURN
GO
CREATE FUNCTION dbo.doubled (@a int) RETURNS int AS BEGIN RETURN @a * 2 END
GO
CREATE TRIGGER dbo.watch ON dbo.parent AFTER INSERT, UPDATE AS PRINT 'seen'
GO
CREATE TRIGGER watch_tables ON DATABASE FOR DDL_TABLE_EVENTS AS PRINT 'seen'
GO
CREATE USER Guest_worker WITHOUT LOGIN
CREATE ROLE Helpers
ALTER ROLE Helpers ADD MEMBER Guest_worker
CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Passw0rd!'
EXEC sp_addextendedproperty 'about', 'x', 'SCHEMA', 'dbo', 'TABLE', 'parent'
CREATE MESSAGE TYPE [//all/note]
CREATE CONTRACT [//all/notes] ([//all/note] SENT BY ANY)
CREATE QUEUE dbo.near
    WITH ACTIVATION (PROCEDURE_NAME = dbo.react, MAX_QUEUE_READERS = 1, EXECUTE AS OWNER, STATUS = OFF)
CREATE QUEUE dbo.far WITH RETENTION = ON
CREATE SERVICE [//all/near] ON QUEUE dbo.near
CREATE SERVICE [//all/far] ON QUEUE dbo.far ([//all/notes])
CREATE ROUTE elsewhere WITH SERVICE_NAME = '//all/away', ADDRESS = 'TCP://there:4022'
CREATE REMOTE SERVICE BINDING bound TO SERVICE '//all/away' WITH USER = Guest_worker
CREATE BROKER PRIORITY first_of_all FOR CONVERSATION SET (PRIORITY_LEVEL = 9)
CREATE EVENT NOTIFICATION noted ON QUEUE dbo.near FOR QUEUE_ACTIVATION
    TO SERVICE '//all/far', 'current database'
GRANT SEND ON SERVICE::[//all/far] TO Guest_worker
GRANT CREATE QUEUE TO Helpers
DECLARE @near uniqueidentifier, @away uniqueidentifier
BEGIN DIALOG @near FROM SERVICE [//all/near] TO SERVICE '//all/far' ON CONTRACT [//all/notes]
    WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @near MESSAGE TYPE [//all/note] ('x');
BEGIN DIALOG @away FROM SERVICE [//all/near] TO SERVICE '//all/away' ON CONTRACT [//all/notes]
    WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @away MESSAGE TYPE [//all/note] ('x');
END CONVERSATION @near
"""
_ALWAYS = re.compile(r"Always (?P<value>-?\d+|NULL|empty|[A-Z_]\w*(?: Server)?)\b")


@pytest.mark.long(on="older")
def test_what_is_always_the_same_is(database: Database) -> None:
    """A comment that says "Always 0" says so of every row; a view without rows has none."""
    with closing(Tsql(database.dsn)) as session:
        shown = session.run(_SOME_OF_EVERYTHING)
        assert "Msg" not in shown, shown
        columns = session.connection.execute(
            "SELECT c.relname, a.attname, col_description(c.oid, a.attnum),"
            " obj_description(c.oid, 'pg_class')"
            " FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0"
            " WHERE c.relnamespace = 'sys'::regnamespace AND c.relkind = 'v' ORDER BY 1"
        ).fetchall()
        seen, filled = 0, set()
        for view in dict.fromkeys(view for view, *_ in columns):
            of_view = [(column, words) for name, column, words, _ in columns if name == view]
            for (row,) in session.connection.execute(
                f"SELECT to_jsonb(v) FROM sys.{view} AS v LIMIT 200".encode()
            ):
                filled.add(view)
                for column, words in of_view:
                    if always := _ALWAYS.match(words):
                        value = row[column]
                        text = "NULL" if value is None else str(value).strip() or "empty"
                        assert (view, column, text) == (view, column, always["value"])
                        seen += 1
        assert seen > 1500
        empty = {view for view, _, _, words in columns if words.startswith("No rows: ")}
        assert filled & empty == set()
        assert len(filled) > 90


@pytest.mark.one_postgres
def test_compiled_text_calls_what_is_there(connect: Callable[..., Connection]) -> None:
    """The expected texts of the compiler call functions by name: each of them exists where they say."""
    cases = Path(__file__).parents[1] / "compiler" / "cases"
    called = {
        match
        for path in cases.rglob("*")
        if path.is_file()
        for match in re.findall(r"\b(ssb(?:_internal)?\.\w+)\(", path.read_text(encoding="utf-8"))
    }
    there = {
        row[0]
        for row in connect().execute(
            "SELECT pronamespace::regnamespace::text || '.' || proname FROM pg_proc"
            " UNION ALL SELECT relnamespace::regnamespace::text || '.' || relname FROM pg_class"
        )
    }
    assert len(called) > 100
    assert sorted(called - there) == []

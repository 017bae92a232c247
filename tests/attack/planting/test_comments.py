"""The runtime keeps names in comments. What somebody writes on objects of his own disturbs nobody else."""
# ruff: noqa: E501 (what is planted is easier to read unbroken)

from collections.abc import Callable, Iterator

import psycopg
import pytest
from attack.planting.scripts import end_sessions, run_well
from psycopg import sql

from support import Connection, Database

# Which texts the runtime takes for its own is the same on each.
pytestmark = pytest.mark.one_postgres

_ENDS = (
    "a.b.c.d.e.f",
    "]x[.''",
    '"',
    "dbo.t",
    '"other.dbo".t',
    "",
    "x" * 5000,
    "$$ \\' %s {} \x01",
    'dbo."t',
)
_STARTS = (
    "synonym for ",
    "T-SQL name: ",
    "pgsb switched off: ",
    "pgsb switched off: FOREIGN KEY ",
    "T-SQL name: v\nsynonym for ",
    "T-SQL name: f\nT-SQL parameters: @",
    "T-SQL name: c\npgsb switched off: ",
    "AS TABLE ",
)
_TEXTS = [
    start + end
    for start in _STARTS
    for end in (_ENDS[:4] if start.startswith(("T-SQL name: ", "AS")) else _ENDS)
]
_EACH_KIND = """
CREATE TABLE mallory.own{0} (a integer CONSTRAINT c{0} CHECK (a > 0));
CREATE VIEW mallory.v{0} AS SELECT 1 AS a;
CREATE FUNCTION mallory.f{0}() RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE SEQUENCE mallory.s{0};
"""
_COMMENTED = (
    "TABLE mallory.own{0}",
    "COLUMN mallory.own{0}.a",
    "CONSTRAINT c{0} ON mallory.own{0}",
    "VIEW mallory.v{0}",
    "FUNCTION mallory.f{0}()",
    "SEQUENCE mallory.s{0}",
)


_OF_OTHERS = """
SELECT o.name, o.type, o.schema_id, c.name, p.name, sys.object_name(o.object_id), i.name FROM sys.objects AS o
  LEFT JOIN sys.columns AS c ON c.object_id = o.object_id LEFT JOIN sys.parameters AS p ON p.object_id = o.object_id
  LEFT JOIN sys.indexes AS i ON i.object_id = o.object_id
 WHERE sys.schema_name(o.schema_id) <> 'mallory' AND o.name <> 't' ORDER BY o.object_id, 4, 5, 7
"""
_OF_MALLORY = "SELECT lower(o.name) FROM sys.objects AS o WHERE sys.schema_name(o.schema_id) = 'mallory'"


@pytest.fixture
def mallory(database: Database, connect: Callable[..., Connection]) -> Iterator[Connection]:
    """A role with a schema of its own, in it for each text one object of each kind that has comments."""
    owner = connect(database.dsn)
    owner.execute(
        "CREATE ROLE mallory LOGIN; CREATE SCHEMA mallory AUTHORIZATION mallory; GRANT USAGE ON SCHEMA dbo TO PUBLIC;"
        " INSERT INTO ssb.schema_of_database (name, database_id, schema_name) VALUES ('mallory', 5, 'mallory')"
    )
    try:
        with psycopg.connect(database.dsn, user="mallory", autocommit=True) as connection:
            for number in range(len(_TEXTS)):
                connection.execute(_EACH_KIND.format(number).encode())
            yield connection
    finally:
        end_sessions(owner, "mallory")
        owner.execute(
            "DELETE FROM ssb.schema_of_database WHERE name = 'mallory'; DROP OWNED BY mallory CASCADE"
        )
        owner.execute("DROP ROLE mallory")


@pytest.mark.long
def test_nobody_else_sees_an_error(
    database: Database, connect: Callable[..., Connection], mallory: Connection
) -> None:
    watcher = connect(database.dsn)
    watcher.execute(
        "CREATE TABLE dbo.theirs (id integer CONSTRAINT pk_theirs PRIMARY KEY, word varchar(9) DEFAULT 'x');"
        " CREATE FUNCTION dbo.theirs_too(a integer) RETURNS integer LANGUAGE sql AS 'SELECT a';"
        " SELECT ssb.create_queue('dbo.their_queue')"
    )
    told = watcher.execute(_OF_OTHERS).fetchall()
    views = [
        name
        for (name,) in watcher.execute(
            "SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relnamespace IN ('sys'::regnamespace, 'ssb'::regnamespace) AND c.relkind = 'v'"
            " ORDER BY 1"
        ).fetchall()
    ]
    assert len(views) > 100
    for number, text in enumerate(_TEXTS):
        for target in _COMMENTED:
            mallory.execute(sql.SQL(f"COMMENT ON {target.format(number)} IS {{}}").format(text))
    run_well(database.dsn, "CREATE DATABASE other\nGO\nUSE other\nGO\nCREATE TABLE dbo.t (a int)")
    run_well(database.dsn, "CREATE TABLE dbo.t (a int)\nGO\nDROP TABLE dbo.t\nGO\nDROP DATABASE other")
    # Of what is not hers nothing else is said, and what is hers is named as it is, but for case.
    assert watcher.execute(_OF_OTHERS).fetchall() == told
    hers = sorted(f"{kind}{number}" for kind in ("c", "f", "own", "s", "v") for number in range(len(_TEXTS)))
    assert sorted(name for (name,) in watcher.execute(_OF_MALLORY).fetchall()) == hers
    for view in views:
        watcher.execute(f"SELECT * FROM {view}".encode())

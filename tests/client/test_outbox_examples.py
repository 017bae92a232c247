"""examples/outbox: messages and an own table in one transaction, by each driver that is here."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from pgsb.bulk.session import jdbc_jar
from pgsb.server.problems import ServerError
from support import Connection, Database, rest_is_long

pytestmark = pytest.mark.one_postgres

EXAMPLES = Path(__file__).parents[2] / "examples" / "outbox"
PRINTED = "poison: not sold here\nreceipt for tea\n"
ERROR_TOO = PRINTED + "no such conversation\n"


@pytest.fixture
def prepared(database: Database, connect: Callable[..., Connection]) -> Connection:
    connection = connect()
    connection.execute((EXAMPLES / "setup.sql").read_bytes())
    return connection


@pytest.fixture
def login(prepared: Connection) -> dict[str, str]:
    """How a driver without sockets reaches the database: host, port, user and password."""
    prepared.execute("DROP ROLE IF EXISTS outbox; CREATE ROLE outbox LOGIN SUPERUSER PASSWORD 'outbox'")
    addresses = prepared.execute("SHOW listen_addresses").fetchone()
    given = conninfo_to_dict(prepared.info.dsn)
    login = {"host": "127.0.0.1", "port": str(given["port"]), "user": "outbox", "password": "outbox"}
    login["dbname"] = prepared.info.dbname
    if addresses == ("",):
        # A driver without sockets cannot reach it.
        pytest.skip("the test server listens on no address, only on a socket")
    return login


def shown(command: list[str], **environment: str) -> str:
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def left(connection: Connection) -> None:
    """The row of what was sold, with its receipt; no message and no conversation."""
    rows = connection.execute("SELECT product, receipt FROM dbo.purchase").fetchall()
    assert rows == [("tea", "receipt for tea")]
    for queue in ("dbo.customer_queue", "dbo.counter_queue"):
        assert connection.execute("SELECT * FROM ssb.receive(%s)", [queue]).fetchall() == []
    ends = "SELECT count(*) FROM sys.conversation_endpoints WHERE state <> 'CD'"
    assert connection.execute(ends).fetchone() == (0,)


@pytest.mark.parametrize(
    "driver", rest_is_long(["psycopg", "sqlalchemy", "django", "asyncpg"], "sqlalchemy", "asyncpg")
)
def test_python(prepared: Connection, database: Database, driver: str) -> None:
    if importlib.util.find_spec(driver) is None:
        # All four are in the extra dev: only a hand-made environment lacks one.
        pytest.skip(f"{driver} is not installed")
    program = str(EXAMPLES / f"with_{driver}.py")
    assert shown([sys.executable, program], DATABASE_URL=database.dsn) == PRINTED
    left(prepared)


def test_node(prepared: Connection, database: Database) -> None:
    node = shutil.which("node")
    if node is None:
        # The example is for people who have Node; nothing else of the project needs it.
        pytest.skip("node is not installed")
    # Where npm has put pg: `npm install pg` in a folder, NODE_PATH=that folder/node_modules.
    found = subprocess.run([node, "-e", "require('pg')"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip("npm's pg is not found: npm install pg, and NODE_PATH is its node_modules")
    given = {f"PG{name.upper()}": str(value) for name, value in conninfo_to_dict(database.dsn).items()}
    given["PGDATABASE"] = given.pop("PGDBNAME")
    assert shown([node, str(EXAMPLES / "with_node.mjs")], **given) == ERROR_TOO
    left(prepared)


@pytest.mark.long
def test_java(prepared: Connection, login: dict[str, str]) -> None:
    java = shutil.which("java")
    if java is None or shutil.which("javac") is None:
        pytest.skip("no Java development kit is installed")
    try:
        jar = jdbc_jar()
    except ServerError as error:
        # The driver comes from outside the package; the error says where it is looked for.
        pytest.skip(str(error))
    url = "jdbc:postgresql://{host}:{port}/{dbname}?user={user}&password={password}".format(**login)
    assert shown([java, "-cp", str(jar), str(EXAMPLES / "Outbox.java"), url]) == ERROR_TOO
    left(prepared)


def test_dotnet(prepared: Connection, login: dict[str, str], tmp_path: Path) -> None:
    dotnet = shutil.which("dotnet")
    if dotnet is None:
        pytest.skip("no .NET SDK is installed")
    shown([dotnet, "new", "console", "--output", str(tmp_path), "--force"])
    shown([dotnet, "add", str(tmp_path), "package", "Npgsql"])
    shutil.copy(EXAMPLES / "Outbox.cs", tmp_path / "Program.cs")
    words = "Host={host};Port={port};Database={dbname};Username={user};Password={password}".format(**login)
    assert shown([dotnet, "run", "--project", str(tmp_path), words]) == ERROR_TOO
    left(prepared)


def test_the_server_takes_each_statement_of_the_dotnet_program(prepared: Connection) -> None:
    # Where no .NET SDK is, that much is known of it.
    text = (EXAMPLES / "Outbox.cs").read_text()
    statements = [piece for piece in text.split('"') if piece.startswith(("SELECT", "INSERT", "UPDATE"))]
    assert len(statements) == 8
    for statement in statements:
        prepared.execute(f"PREPARE tried AS {statement}".encode())
        prepared.execute("DEALLOCATE tried")

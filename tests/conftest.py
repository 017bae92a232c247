"""Fixtures of all tests: a PostgreSQL of our own, and databases with the runtime in them.

PGSB_TEST_POSTGRES chooses the PostgreSQL: a major version ("18", "15", found as
the private server finds them), a bin directory, or docker:17 (the official image,
where a Docker engine answers); several, separated by commas,
run the tests that need a server on each (those marked one_postgres on the
first only). Without it: 18 from the wheel.
Every process of pytest-xdist has a server of its own.

Tests marked long take three quarters of a second of a processor and more each (processes killed by the
hundred, loads, whole pages of the documents, most of the browser's and of Spark's), or a second and a half of
waiting, or the way that another test of the file takes: they run with --long, and where their file is named.
So does what runs on the second PostgreSQL and further ones, but for tests/runtime: the engine's own tests run
on each always, unless they are marked ``long(on="older")``: they take as long.
"""

import atexit
import contextlib
import fcntl
import gc
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from containers import PREFIX, postgres_container
from psycopg import sql

from pgsb.server.binaries import find_binaries
from pgsb.server.embedded import PrivateServer
from support import Connection, Database, server_home

_TEMPLATE = "pgsb_template"
# Service master keys of test databases: not among those of whoever runs the tests.
# One folder for all workers, which end without their last words.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["PGSB_KEYS"] = tempfile.mkdtemp(prefix="pgsb-keys-")
    atexit.register(shutil.rmtree, os.environ["PGSB_KEYS"], ignore_errors=True)
    # … and one for the servers' first state.
    os.environ["PGSB_TEST_SERVERS"] = str(server_home("pgsb-servers-"))
    atexit.register(shutil.rmtree, os.environ["PGSB_TEST_SERVERS"], ignore_errors=True)


_WANTED = os.environ.get("PGSB_TEST_POSTGRES", "18").split(",")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--long``."""
    parser.addoption("--long", action="store_true", help="run the tests that are marked long, too")


def pytest_configure(config: pytest.Config) -> None:
    """Tell the tests' modules, which are read later, whether all is wanted: also where a file is named."""
    is_long = config.getoption("long") or any(one.partition("::")[0].endswith(".py") for one in config.args)
    os.environ["PGSB_TEST_LONG"] = "1" if is_long else ""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what needs a server on each PostgreSQL that was asked for; once where it makes no difference."""
    if len(_WANTED) > 1 and "postgres" in metafunc.fixturenames:
        first_only = metafunc.definition.get_closest_marker("one_postgres") or not (
            metafunc.config.getoption("long") or _runs_on_each(metafunc.config, metafunc.definition.path)
        )
        wanted = _WANTED[:1] if first_only else _WANTED
        names = [f"pg{one}" if one.isdigit() else one for one in wanted]
        metafunc.parametrize("postgres", wanted, ids=names, indirect=True, scope="session")


def _runs_on_each(config: pytest.Config, path: Path) -> bool:
    """Whether the tests in `path` run on each PostgreSQL without --long: the engine's, and who is named."""
    tests = Path(__file__).parent
    named = [config.invocation_params.dir / one.partition("::")[0] for one in config.args]
    return any(path.is_relative_to(one) for one in [tests / "runtime", *named] if one != tests)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What needs Spark comes first: so one process has all of it, and starts the one session."""
    if not config.getoption("long"):
        named = {Path(one.partition("::")[0]).name for one in config.args}
        left = [one for one in items if _is_long(one) and one.path.name not in named]
        config.hook.pytest_deselected(items=left)
        items[:] = [one for one in items if one not in left]
    items.sort(key=lambda item: "spark" not in getattr(item, "fixturenames", ()))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Lark makes the parser's tables once, before the workers begin: each would take seconds for it."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        from lark.exceptions import LarkError

        from pgsb.grammar.tables import tables

        with contextlib.suppress(LarkError):  # what is wrong with the grammar tests tell
            tables()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """In a new checkout one worker compiles the tests, and the others wait and read what it has made."""
    compiled = Path(os.environ["PGSB_TEST_SERVERS"]) / "compiled"
    new = not any((Path(__file__).parent / "runtime" / "__pycache__").glob("test_*.pyc"))
    if "PYTEST_XDIST_WORKER" in os.environ and new and not sys.dont_write_bytecode:
        with open(f"{compiled}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not compiled.exists():
                compiled.touch()
                return (yield)
    return (yield)


def _is_long(item: pytest.Item) -> bool:
    """Whether a test is marked long, or long on the older PostgreSQL and would run there."""
    mark = item.get_closest_marker("long")
    if mark is None or mark.kwargs.get("on") != "older":
        return mark is not None
    call = getattr(item, "callspec", None)
    return call is not None and call.params.get("postgres", _WANTED[0]) != _WANTED[0]


# What is collected stays: nothing of it is garbage to look for.
gc.disable()


def pytest_collection_finish() -> None:
    """What has been collected stays, and tests make much: the garbage collector looks seldom."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)
    gc.enable()


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Iterator[str]:
    """DSN (database `postgres`, superuser) of a server for this test process."""
    wanted = str(getattr(request, "param", _WANTED[0]))
    if wanted.startswith(PREFIX):
        with postgres_container(wanted) as dsn:
            yield dsn
        return
    home = server_home("pgsb-test-")
    if "PYTEST_XDIST_WORKER" in os.environ:
        _copy_server(_made_server(wanted), home)
    server = _server(home, wanted)
    try:
        yield server.start().replace("/pgsb?", "/postgres?")
    finally:
        server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)


def _server(home: Path, wanted: str) -> PrivateServer:
    return PrivateServer(
        home,
        wanted=wanted,
        settings={
            "max_connections": "150",
            "shared_buffers": "64MB",
            "autovacuum": "off",
            "max_prepared_transactions": "4",
            "max_wal_size": "512MB",
            "checkpoint_timeout": "1h",
            "log_min_messages": "fatal",
            # Else each session loads it; and some servers have it so (plpgsql_check asks for it).
            "shared_preload_libraries": "plpgsql",
        },
        durable=False,
    )


def _made_server(wanted: str) -> Path:
    """The home of a server with the template, which is stopped: the first process makes it for all."""
    home = Path(os.environ["PGSB_TEST_SERVERS"]) / re.sub(r"\W", "_", wanted)
    with open(f"{home}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            making = home.with_suffix(".new")
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir(mode=0o711)
            server = _server(making, wanted)
            try:
                _make_template(server.start().replace("/pgsb?", "/postgres?"))
            finally:
                server.stop()
            making.rename(home)
    return home


def _copy_server(made: Path, home: Path) -> None:
    """Its files with their owners; but neither the socket nor the port."""
    copied = [str(one) for one in made.iterdir() if one.name == "password" or (one / "PG_VERSION").exists()]
    subprocess.run(["cp", "-a", *copied, str(home)], check=True)
    for options in home.glob("*/postmaster.opts"):
        options.unlink()


@pytest.fixture(scope="session")
def pg_major(postgres: str) -> int:
    """Major version of the test server, such as 18."""
    with psycopg.connect(postgres) as connection:
        return connection.info.server_version // 10000


@pytest.fixture(scope="session")
def shares_sessions(pytestconfig: pytest.Config, pg_major: int) -> bool:
    """Whether a module's tests share sessions. With --long each has new ones on the older PostgreSQL.

    So what goes wrong in a session's first statements alone is found, too.
    """
    return pg_major >= 18 or not pytestconfig.getoption("long")


@pytest.fixture(scope="session")
def has_libxml(postgres: str) -> bool:
    """Whether the test server was built with libxml."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        try:
            connection.execute("SELECT '<a/>'::xml")
        except psycopg.errors.FeatureNotSupported:
            return False
        return True


@pytest.fixture(scope="session")
def admin(postgres: str) -> Iterator[Connection]:
    """The session that makes and drops databases: one for each would cost a quarter of what that does."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        if connection.info.server_version >= 180000:
            connection.execute("SET file_copy_method = clone")  # the kernel copies
        yield connection


@pytest.fixture(scope="session")
def template(postgres: str, admin: Connection) -> str:
    """Name of a database with the runtime, which `database` clones."""
    if not admin.execute("SELECT FROM pg_database WHERE datname = %s", [_TEMPLATE]).rowcount:
        _make_template(postgres)
    with psycopg.connect(_dsn(postgres, _TEMPLATE)):
        pass  # it leaves the file of the catalogs' cache, which each clone's first session would write else
    return _TEMPLATE


def _make_template(postgres: str) -> None:
    from pgsb.runtime_sql.installer import install

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {_TEMPLATE}")
    with psycopg.connect(_dsn(postgres, _TEMPLATE), autocommit=True) as connection:
        install(connection)
        # A fifth less to copy. The runtime's own tables stay as an installation leaves them: plans
        # depend on it.
        for (catalog,) in connection.execute(
            "SELECT oid::regclass::text FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'pg_catalog'::regnamespace AND NOT relisshared"
        ).fetchall():
            connection.execute(f"VACUUM (FULL) {catalog}")


@pytest.fixture(scope="session")
def new_database(postgres: str, admin: Connection, template: str) -> Callable[..., Database]:
    """Makes further databases with the runtime, for tests that need several or share one in a module.

    ``new_database(of)`` clones another one, to which nobody is connected. The caller drops nothing: they go
    with the server.
    """
    numbers = itertools.count(1)

    def make(of: Database | None = None) -> Database:
        name = f"test_{next(numbers)}"
        _clone(admin, of.name if of is not None else template, name)
        return Database(name, _dsn(postgres, name))

    return make


@pytest.fixture(scope="session")
def utf16(postgres: str, admin: Connection) -> Database:
    """A database that keeps nvarchar as UTF-16, for all tests: each names what it makes for itself."""
    from pgsb.runtime_sql.installer import install

    made = Database("test_utf16", _dsn(postgres, "test_utf16"))
    _clone(admin, "template1", made.name)
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        install(connection, nvarchar="utf16")
    return made


@pytest.fixture
def cloned() -> Database | None:
    """What `database` is a clone of: None is the runtime alone. A folder may have one with more in it."""
    return None


@pytest.fixture
def database(
    admin: Connection, new_database: Callable[..., Database], cloned: Database | None
) -> Iterator[Database]:
    """A fresh database with the runtime installed, dropped after the test."""
    made = new_database(cloned)
    yield made
    _drop(admin, made.name)


@pytest.fixture
def empty_database(postgres: str, admin: Connection) -> Iterator[Database]:
    """A fresh database without the runtime, dropped after the test."""
    name = "test_empty"
    _clone(admin, "template1", name)
    yield Database(name, _dsn(postgres, name))
    _drop(admin, name)


@pytest.fixture
def connect(postgres: str, request: pytest.FixtureRequest) -> Iterator[Callable[..., Connection]]:
    """Opens connections to `database` (or to `dsn`), autocommit unless told; closed after the test."""
    opened: list[Connection] = []

    def open_one(dsn: str | None = None, *, autocommit: bool = True, **options: Any) -> Connection:
        if dsn is None:
            dsn = request.getfixturevalue("database").dsn
        connection = psycopg.connect(dsn, autocommit=autocommit, **options)
        opened.append(connection)
        return connection

    yield open_one
    for connection in opened:
        connection.close()


def _dsn(postgres: str, name: str) -> str:
    return postgres.replace("/postgres?", f"/{name}?")


def _clone(admin: Connection, template: str, name: str) -> None:
    command = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
    if admin.info.server_version >= 150000:
        command += sql.SQL(" STRATEGY FILE_COPY")  # the other way writes it all to the log, too
    admin.execute(command)


def _drop(admin: Connection, name: str) -> None:
    # DROP DATABASE waits for sessions in steps of 100 ms, also for those that are just ending.
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline and admin.execute(ended, [name]).rowcount:
        time.sleep(0.002)
    admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def psql(postgres: str) -> str:
    """Path of the psql that belongs to the test server; pg_dump stands beside it."""
    with psycopg.connect(postgres) as connection:
        row = connection.execute("SELECT setting FROM pg_config() WHERE name = 'BINDIR'").fetchone()
    assert row is not None
    beside = Path(row[0]) / "psql"
    return str(beside) if beside.exists() else find_binaries("18").program("psql")

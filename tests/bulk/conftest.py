"""A queue with messages, and one SparkSession for all tests of this folder."""

import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bulk_desk import SMALL, Desk, make_desk
from psycopg.conninfo import make_conninfo

from pgsb.bulk.options import JobOptions
from pgsb.bulk.problems import BulkError
from pgsb.bulk.session import jdbc_jar, require_java, spark_session
from support import Connection, Database


@pytest.fixture(scope="session")
def tcp(postgres: str) -> Callable[[Database], str]:
    """The DSN of a database over 127.0.0.1: Java has no unix sockets."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        port = connection.execute("SHOW port").fetchone()
        data = connection.execute("SHOW data_directory").fetchone()
        user = connection.execute("SELECT current_user").fetchone()
    assert port and data and user
    password = (Path(data[0]).parent / "password").read_text().strip()

    def dsn(database: Database) -> str:
        return make_conninfo(
            host="127.0.0.1", port=port[0], user=user[0], password=password, dbname=database.name
        )

    return dsn


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Spark's folder without the archive of its Python part: each of its processes would compile that anew.

    They find the one that is installed, with its bytecode. The commands' tests run what users run.
    """
    import pyspark

    installed = Path(pyspark.__file__).parent
    home = tmp_path_factory.mktemp("spark")
    for name in ("bin", "jars"):
        (home / name).symlink_to(installed / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(home))
        yield home


@pytest.fixture(scope="session")
def spark(postgres: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A session that retries a failed task twice, or a skip that says what is missing.

    By ``postgres`` all its tests stand together: one process of pytest-xdist starts Spark, not each.
    """
    if importlib.util.find_spec("pyspark") is None:
        # An extra of 500 MB, which scripts/test installs unless the registry has none.
        pytest.skip("pyspark is not installed (pip install '.[spark]')")
    try:
        require_java()
        jdbc_jar()
    except BulkError as error:
        # Java and the JDBC driver come from outside the package; the error says which is missing.
        pytest.skip(f"{error} ({error.hint})")
    request.getfixturevalue("spark_home")
    os.environ.setdefault("SPARK_LOG_LEVEL", "ERROR")
    session = spark_session("pgsb tests", JobOptions(master="local[2,3]", settings=SMALL))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def desk_database(new_database: Callable[..., Database]) -> Database:
    """What `database` is a clone of where `desk` is asked for. Nobody connects."""
    made = new_database()
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        make_desk(connection, made)
    return made


@pytest.fixture
def cloned(request: pytest.FixtureRequest) -> Database | None:
    found: Database | None = (
        request.getfixturevalue("desk_database") if "desk" in request.fixturenames else None
    )
    return found


@pytest.fixture
def desk(database: Database, connect: Callable[..., Connection]) -> Desk:
    """A source and a target service with their queues."""
    return Desk(connect(), database)

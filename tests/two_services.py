"""Fixtures: a database with two services, made once and cloned for each test that asks for `sql`.

A folder's conftest.py takes them: ``from two_services import cloned, sql, two_services  # noqa: F401``.
"""

from collections.abc import Callable

import psycopg
import pytest

from support import Connection, Database


@pytest.fixture(scope="session")
def two_services(new_database: Callable[..., Database]) -> Database:
    """//From on dbo.from_queue, //To on dbo.to_queue, dbo.done for what a program did. Nobody connects."""
    made = new_database()
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        connection.execute(
            """
            SELECT ssb.ensure_schema('dbo');
            SELECT ssb.create_queue('dbo.from_queue');
            SELECT ssb.create_queue('dbo.to_queue');
            SELECT ssb.create_service('//From', 'dbo.from_queue');
            SELECT ssb.create_service('//To', 'dbo.to_queue', '{DEFAULT}');
            CREATE TABLE dbo.done (
                body text NOT NULL, pid integer DEFAULT pg_backend_pid(),
                at timestamptz DEFAULT clock_timestamp());
            """
        )
    return made


@pytest.fixture
def cloned(request: pytest.FixtureRequest) -> Database | None:
    found: Database | None = (
        request.getfixturevalue("two_services") if "sql" in request.fixturenames else None
    )
    return found


@pytest.fixture
def sql(connect: Callable[..., Connection]) -> Connection:
    """A session on `database` with the two services."""
    return connect()

"""Fixtures: a database for all tests of a module, sessions on it, and a pair of services.

A folder's conftest.py takes them: ``from sessions import another, pair, session, shared  # noqa: F401``.
"""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from runtime.broker import Pair, Session

from support import Database


@pytest.fixture(scope="module")
def shared(new_database: Callable[[], Database]) -> Database:
    return new_database()


@pytest.fixture
def session(shared: Database) -> Iterator[Session]:
    """An autocommit session on the module's database."""
    with psycopg.connect(shared.dsn, autocommit=True) as connection:
        yield Session(connection)


@pytest.fixture
def another(shared: Database) -> Iterator[Callable[[], Session]]:
    """Further sessions, with transactions that the test ends."""
    opened: list[psycopg.Connection[Any]] = []

    def open_one() -> Session:
        opened.append(psycopg.connect(shared.dsn))
        return Session(opened[-1])

    yield open_one
    for connection in opened:
        connection.close()


@pytest.fixture
def pair(session: Session) -> Pair:
    return Pair(session)

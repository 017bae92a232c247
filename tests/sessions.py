"""Fixtures: a database for all tests of a module, sessions on it, and a pair of services.

A folder's conftest.py takes them all: ``from sessions import another, maker, pair, session, shared``.
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


@pytest.fixture(scope="module")
def maker(shared: Database) -> Iterator[Session]:
    """Makes what `pair` gives: a session of its own for each pair would read the runtime's functions anew."""
    with psycopg.connect(shared.dsn, autocommit=True) as connection:
        yield Session(connection)


@pytest.fixture
def pair(maker: Session, session: Session) -> Pair:
    """Two services, used by `session`."""
    made = Pair(maker)
    made.session = session
    return made

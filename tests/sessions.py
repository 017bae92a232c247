"""Fixtures: a database for all tests of a module, sessions on it, and a pair of services.

A folder's conftest.py takes them all: ``from sessions import …`` as tests/runtime has it.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from runtime.broker import Pair, Session

from support import Connection, Database

# DISCARD ALL, but that the plans of functions stay.
_AS_NEW = """
CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; DEALLOCATE ALL; UNLISTEN *;
SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES
"""


# So many pairs has each module's database from the beginning. More are made when they are wanted.
_READY = 16


@pytest.fixture(scope="session")
def with_pairs(new_database: Callable[..., Database]) -> tuple[Database, list[Pair]]:
    """A database with pairs, which those of the modules are clones of: one is half as much as a clone."""
    made = new_database()
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        return made, [Pair(Session(connection)) for _ in range(_READY)]


@pytest.fixture(scope="module")
def shared(new_database: Callable[..., Database], with_pairs: tuple[Database, list[Pair]]) -> Database:
    return new_database(with_pairs[0])


@pytest.fixture(scope="module")
def ready(shared: Database, with_pairs: tuple[Database, list[Pair]]) -> list[Pair]:
    """Pairs of the module's database that no test has had."""
    return [copy.copy(one) for one in with_pairs[1]]


class Lender:
    """Lends sessions of a database to test after test, as a pooler does: they have read the functions.

    What comes back closed is not lent again; nothing is unless they are ``shared``. ``begin`` is what a
    session of this kind begins with.
    """

    def __init__(
        self, dsn: str, shared: bool, begin: Callable[[Connection], None] | None = None, **options: Any
    ) -> None:
        self._dsn, self._shared, self._begin, self._options = dsn, shared, begin, options
        self._free: list[Connection] = []
        # psycopg warns of one that is forgotten while its session goes on.
        self._lent: list[Connection] = []

    def lend(self, *, autocommit: bool = True) -> Connection:
        """A session as good as a new one: psycopg's settings and the server's are as at first."""
        if self._free:
            connection = psycopg.Connection(self._free.pop().pgconn)
            connection.autocommit = True
            if "prepare_threshold" in self._options:
                connection.prepare_threshold = self._options["prepare_threshold"]
            connection.execute(_AS_NEW)
        else:
            connection = psycopg.connect(self._dsn, autocommit=True, **self._options)
        self._lent.append(connection)
        if self._begin is not None:
            self._begin(connection)
        connection.autocommit = autocommit
        return connection

    def take_back(self, connection: Connection) -> None:
        """A transaction that the test has left open is rolled back, as at the end of a session."""
        if connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            connection.rollback()
        if self._shared and connection.info.transaction_status == TransactionStatus.IDLE:
            self._free.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        for connection in self._lent:
            connection.close()


@pytest.fixture(scope="module")
def lender(shared: Database, shares_sessions: bool) -> Iterator[Lender]:
    made = Lender(shared.dsn, shares_sessions)
    yield made
    made.close()


@pytest.fixture
def session(lender: Lender) -> Iterator[Session]:
    """An autocommit session on the module's database."""
    connection = lender.lend()
    yield Session(connection)
    lender.take_back(connection)


@pytest.fixture
def another(lender: Lender) -> Iterator[Callable[[], Session]]:
    """Further sessions, with transactions that the test ends."""
    opened: list[Connection] = []

    def open_one() -> Session:
        opened.append(lender.lend(autocommit=False))
        return Session(opened[-1])

    yield open_one
    for connection in opened:
        lender.take_back(connection)


@pytest.fixture(scope="module")
def maker(shared: Database) -> Iterator[Session]:
    """Makes what `pair` gives: a session of its own for each pair would read the runtime's functions anew."""
    with psycopg.connect(shared.dsn, autocommit=True) as connection:
        yield Session(connection)


@pytest.fixture
def pair(request: pytest.FixtureRequest, ready: list[Pair], session: Session) -> Pair:
    """Two services, used by `session`."""
    made = ready.pop() if ready else Pair(request.getfixturevalue("maker"))
    made.session = session
    return made

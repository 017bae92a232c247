"""Two services and a connection, for measures, checks and pages that look at them."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from end_to_end.conftest import pgsb  # noqa: F401
from observe_desk import Shop, open_shop
from two_services import sql, two_services  # noqa: F401

from activation import Daemon
from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from support import Connection, Database


@pytest.fixture
def daemon(database: Database) -> Iterator[Callable[..., Daemon]]:
    """Starts daemons: ``daemon(grace=1)``; all are stopped after the test."""
    started: list[Daemon] = []

    def start(dsn: str = database.dsn, **options: Any) -> Daemon:
        one: Daemon
        broker = EmbeddedBroker(BrokerOptions(dsn, **{"grace": 2.0, **options}), lambda line: one.write(line))
        one = Daemon(broker)
        broker.__enter__()
        started.append(one)
        assert broker.wait_until_leading()
        return one

    yield start
    for one in started:
        one.broker.stop()


@pytest.fixture(scope="module")
def opened_shop(new_database: Callable[..., Database]) -> tuple[Database, Shop]:
    """What `database` is a clone of where `shop` is asked for. A module's own: what it shows has an age."""
    made = new_database()
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        return made, open_shop(connection)


@pytest.fixture
def cloned(request: pytest.FixtureRequest) -> Database | None:
    asked = request.fixturenames
    if "shop" in asked:
        found: Database = request.getfixturevalue("opened_shop")[0]
        return found
    return request.getfixturevalue("two_services") if "sql" in asked else None


@pytest.fixture
def shop(opened_shop: tuple[Database, Shop], connect: Callable[..., Connection]) -> Shop:
    """The handles of a shop in `database`, of which a session has claimed a message."""
    session = connect()
    # Its pages show a shop, and not the copy of one (124).
    session.execute("UPDATE ssb.database SET guid_made_in = ssb_internal.database_identity()")
    session.execute("SELECT ssb_internal.claim_messages('dbo.counter', 1)")
    return opened_shop[1]

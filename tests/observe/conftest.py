"""Two services and a connection, for measures, checks and pages that look at them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

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


@pytest.fixture
def sql(connect: Callable[..., Connection]) -> Connection:
    """A session with two services: //From on dbo.from_queue, //To on dbo.to_queue."""
    connection = connect()
    connection.execute(
        """
        SELECT ssb.ensure_schema('dbo');
        SELECT ssb.create_queue('dbo.from_queue');
        SELECT ssb.create_queue('dbo.to_queue');
        SELECT ssb.create_service('//From', 'dbo.from_queue');
        SELECT ssb.create_service('//To', 'dbo.to_queue', '{DEFAULT}');
        CREATE TABLE IF NOT EXISTS dbo.done (
            body text NOT NULL, pid integer DEFAULT pg_backend_pid(),
            at timestamptz DEFAULT clock_timestamp());
        """
    )
    return connection

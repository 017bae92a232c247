"""Two services and a connection, for measures, checks and pages that look at them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from two_services import cloned, sql, two_services  # noqa: F401

from activation import Daemon
from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from support import Database


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

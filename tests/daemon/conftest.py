"""A daemon in a thread, its log in a list, and services that programs are written for."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from instances import FAR, NEAR, Side
from secured import others_certificate, own_certificate, script

from activation import Daemon
from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from support import Connection, Database


@pytest.fixture
def daemon(database: Database) -> Iterator[Callable[..., Daemon]]:
    """Starts daemons: ``daemon(grace=1)``; all are stopped after the test."""
    started: list[Daemon] = []

    def start(dsn: str = database.dsn, *, wait: bool = True, **options: Any) -> Daemon:
        one: Daemon
        broker = EmbeddedBroker(BrokerOptions(dsn, **{"grace": 2.0, **options}), lambda line: one.write(line))
        one = Daemon(broker)
        broker.__enter__()
        started.append(one)
        if wait:
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


@pytest.fixture
def near(new_database: Callable[[], Database]) -> Iterator[Side]:
    side = Side(new_database(), "dbo.near_queue", "//Near")
    side.do("SELECT ssb.create_route('ToFar', %s, '//Far')", FAR)
    yield side
    side.connection.close()


@pytest.fixture
def far(new_database: Callable[[], Database]) -> Iterator[Side]:
    side = Side(new_database(), "dbo.far_queue", "//Far")
    side.do("SELECT ssb.create_route('ToNear', %s, '//Near')", NEAR)
    yield side
    side.connection.close()


@pytest.fixture
def daemons(near: Side, far: Side) -> Iterator[Callable[..., Daemon]]:
    """Starts daemons: ``daemons(near)``; they know both addresses."""
    started: list[Daemon] = []

    def start(side: Side, **options: Any) -> Daemon:
        one: Daemon
        addresses = {NEAR.lower(): near.database.dsn, FAR.lower(): far.database.dsn}
        broker = EmbeddedBroker(
            BrokerOptions(side.database.dsn, **{"grace": 1.0, "addresses": addresses, **options}),
            lambda line: one.write(line),
        )
        one = Daemon(broker)
        broker.__enter__()
        started.append(one)
        assert broker.wait_until_leading()
        return one

    yield start
    for one in started:
        one.broker.stop()


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGSB_KEYS", str(tmp_path / "keys"))


@pytest.fixture
def full(near: Side, far: Side, keys: None, tmp_path: Path) -> None:
    """Full security: everything that Microsoft's page for it lists."""
    own_certificate(near, "Near", tmp_path)
    own_certificate(far, "Far", tmp_path)
    others_certificate(near, "Far", tmp_path)
    others_certificate(far, "Near", tmp_path)
    script(near, "CREATE REMOTE SERVICE BINDING ToFar TO SERVICE '//Far' WITH USER = FarThere")
    script(far, "GRANT SEND ON SERVICE::[//Far] TO NearThere")

"""A daemon in a thread, its log in a list, and services that programs are written for."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from instances import FAR, NEAR, Side, make_side
from secured import others_certificate, own_certificate, script
from two_services import cloned, sql, two_services  # noqa: F401

from activation import Daemon
from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from support import Database


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


@pytest.fixture(scope="session")
def plain_pair(new_database: Callable[..., Database]) -> tuple[Database, Database]:
    """Two instances that know the way to each other, for `near` and `far` to be clones of."""
    near = make_side(new_database(), "dbo.near_queue", "//Near")
    far = make_side(new_database(), "dbo.far_queue", "//Far")
    near.do("SELECT ssb.create_route('ToFar', %s, '//Far')", FAR)
    far.do("SELECT ssb.create_route('ToNear', %s, '//Near')", NEAR)
    for side in (near, far):
        side.connection.close()
    return near.database, far.database


@pytest.fixture(scope="session")
def full_pair(
    new_database: Callable[..., Database],
    plain_pair: tuple[Database, Database],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Database, Database, Path]:
    """The pair with full security, everything that Microsoft's page for it lists; and its files and keys."""
    files = tmp_path_factory.mktemp("full")
    near = Side(new_database(plain_pair[0]), "dbo.near_queue", "//Near")
    far = Side(new_database(plain_pair[1]), "dbo.far_queue", "//Far")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGSB_KEYS", str(files / "keys"))
        own_certificate(near, "Near", files)
        own_certificate(far, "Far", files)
        others_certificate(near, "Far", files)
        others_certificate(far, "Near", files)
        script(near, "CREATE REMOTE SERVICE BINDING ToFar TO SERVICE '//Far' WITH USER = FarThere")
        script(far, "GRANT SEND ON SERVICE::[//Far] TO NearThere")
    for side in (near, far):
        side.connection.close()
    return near.database, far.database, files


@pytest.fixture
def pair(request: pytest.FixtureRequest) -> tuple[Database, Database]:
    """What `near` and `far` are clones of."""
    name = "full_pair" if "full" in request.fixturenames else "plain_pair"
    near, far, *_ = request.getfixturevalue(name)
    return near, far


@pytest.fixture
def near(new_database: Callable[..., Database], pair: tuple[Database, Database]) -> Iterator[Side]:
    side = Side(new_database(pair[0]), "dbo.near_queue", "//Near")
    yield side
    side.connection.close()


@pytest.fixture
def far(new_database: Callable[..., Database], pair: tuple[Database, Database]) -> Iterator[Side]:
    side = Side(new_database(pair[1]), "dbo.far_queue", "//Far")
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
def full(
    near: Side, far: Side, keys: None, full_pair: tuple[Database, Database, Path], tmp_path: Path
) -> None:
    """Full security: `near` and `far` have it, and the test its files."""
    shutil.copytree(full_pair[2], tmp_path, dirs_exist_ok=True)

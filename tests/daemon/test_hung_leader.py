"""A leader that hangs is replaced within seconds, and never do two lead: SIGSTOP, a dead network."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from activation import DRAIN, Daemon, activate, done, send, until
from pgsb.daemon.leader import HeartbeatWatch
from pgsb.daemon.readers import dsn_reached, open_connection
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Start = Callable[..., Daemon]

# Of the daemon's sessions: who has the lead, and what else belongs to a leader.
_LEADERS = "SELECT count(*) FROM ssb_internal.holders_of(ssb_internal.leader_lock())"
_SESSIONS = "SELECT array_agg(h ORDER BY h) FROM ssb_internal.holders_of(ssb_internal.leader_fence()) AS h"


@pytest.fixture
def process(database: Database) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts daemons as processes of their own."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "pgsb.cli.main", "broker", "--dsn", database.dsn, "--grace", "1"],
                stderr=subprocess.PIPE,
            )
        )
        return started[-1]

    yield start
    for one in started:
        one.send_signal(signal.SIGCONT)
        one.kill()
        one.communicate()


def _value(sql: Connection, query: str) -> Any:
    row = sql.execute(query).fetchone()
    return row[0] if row else None


@pytest.mark.long
def test_a_stopped_process_is_replaced_and_stands_by_when_it_goes_on(
    sql: Connection, process: Callable[[], subprocess.Popen[bytes]], daemon: Start
) -> None:
    activate(sql, DRAIN)
    first = process()
    until(lambda: _value(sql, "SELECT count(*) FROM ssb.broker_daemons WHERE is_leading") == 1)
    send(sql, "before")
    until(lambda: done(sql) == ["before"])
    second = daemon(wait=False)
    second.wait_for("standing_by")
    before = set(_value(sql, _SESSIONS))
    first.send_signal(signal.SIGSTOP)
    stopped = time.monotonic()
    send(sql, "meanwhile")
    second.wait_for("leader_hangs", f"[{first.pid}] leads and has been silent")
    second.wait_for("leading")
    until(lambda: done(sql) == ["before", "meanwhile"])
    assert time.monotonic() - stopped < 30  # some seconds, on a machine that has nothing else to do
    # Nothing of the first one's is left that could do anything.
    assert _value(sql, _LEADERS) == 1
    assert not before & set(_value(sql, _SESSIONS))
    first.send_signal(signal.SIGCONT)
    assert first.stderr is not None
    for line in first.stderr:
        if b"standing_by" in line:
            break
    assert second.broker.wait_until_leading(0)
    send(sql, "after")
    until(lambda: done(sql) == ["before", "meanwhile", "after"])
    assert _value(sql, _LEADERS) == 1
    # And it is ready to take over again.
    second.broker.stop()
    until(lambda: _value(sql, "SELECT count(*) FROM ssb.broker_daemons WHERE is_leading") == 1)
    send(sql, "again")
    until(lambda: done(sql) == ["before", "meanwhile", "after", "again"])


@pytest.mark.long
def test_who_stands_by_behind_a_leader_that_lives_is_not_waited_for(sql: Connection, daemon: Start) -> None:
    """As `pgsb run --activate` beside a daemon; one that is just ending is waited for."""
    first = daemon()
    second = daemon(wait=False)
    assert not second.broker.wait_until_leading(600, behind=0.2)
    second.wait_for("standing_by")
    first.broker.stop()
    assert second.broker.wait_until_leading(60, behind=60)


def test_a_server_that_hangs_deposes_nobody(sql: Connection, daemon: Start) -> None:
    """Whoever stands by has not seen the heartbeat stop when it could not look."""
    watch = HeartbeatWatch(6.0)
    assert [watch.is_hung(7, at) for at in (100.0, 100.5, 101.0)] == [False] * 3
    assert not watch.is_hung(7, 160.0)
    assert [watch.is_hung(7, 160.0 + at / 2) for at in range(1, 13)] == [False] * 12
    assert watch.is_hung(7, 166.5)
    assert not watch.is_hung(8, 167.0)
    assert not watch.is_hung(8, 168.0)


def test_sessions_of_another_leader_may_not_be_used(sql: Connection, daemon: Start) -> None:
    first = daemon(heartbeat=0.1)
    assert _value(sql, "SELECT ssb_internal.broker_joined(pg_backend_pid())") is False
    first.broker.stop()


def test_no_program_runs_on_another_server_than_the_leaders(
    sql: Connection, database: Database, daemon: Start
) -> None:
    """As where an address has moved to a promoted standby, or a failed server of a list is back."""
    activate(sql, DRAIN)
    running = daemon(reader_dsn=make_conninfo(database.dsn, dbname="postgres"))
    running.wait_for("server_lost", "arrive at another server or database than the leader's")
    running.broker.stop()

    there = {name: str(value) for name, value in conninfo_to_dict(database.dsn).items()}
    hosts = make_conninfo(database.dsn, host=f"/no/where,{there['host']}", port=f"1,{there['port']}")

    async def reached(dsn: str) -> str:
        async with await open_connection(dsn, {}) as connection:
            return dsn_reached(dsn, connection)

    assert conninfo_to_dict(asyncio.run(reached(hosts))) == conninfo_to_dict(database.dsn)
    assert asyncio.run(reached(database.dsn)) == database.dsn


class _Network:
    """Forwards connections to the server; when `cut` nothing comes or goes, and nothing is closed."""

    def __init__(self, target: str, folder: Path, port: str) -> None:
        self._target = target
        self._path = folder / f".s.PGSQL.{port}"
        self._is_whole = threading.Event()
        self._is_whole.set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()))

    async def _main(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_unix_server(self._serve, str(self._path))
        self._ready.set()
        await self._ended.wait()
        server.close()
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._until_whole()
        far_reader, far_writer = await asyncio.open_unix_connection(self._target)
        try:
            await asyncio.gather(self._pump(reader, far_writer), self._pump(far_reader, writer))
        except (asyncio.CancelledError, OSError):
            pass
        finally:
            for one in (writer, far_writer):
                one.transport.abort()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            await self._until_whole()
            sink.write(data)
            await sink.drain()
        sink.close()

    async def _until_whole(self) -> None:
        while not self._is_whole.is_set():
            await asyncio.sleep(0.05)

    def __enter__(self) -> "_Network":
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    def cut(self) -> None:
        self._is_whole.clear()

    def mend(self) -> None:
        self._is_whole.set()


@pytest.fixture
def network(database: Database) -> Iterator[tuple[_Network, str]]:
    """A way to the server that can be cut, and the DSN that goes by it."""
    known = conninfo_to_dict(database.dsn)
    host, port = str(known["host"]), str(known.get("port", "5432"))
    folder = Path(tempfile.mkdtemp(prefix="pgsb-net-", dir="/tmp"))
    try:
        with _Network(os.path.join(host, f".s.PGSQL.{port}"), folder, port) as network:
            yield network, make_conninfo(database.dsn, host=str(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.long
def test_a_leader_behind_a_dead_network_is_replaced_and_knows_it(
    network: tuple[_Network, str], sql: Connection, daemon: Start
) -> None:
    way, dsn = network
    activate(sql, DRAIN)
    first = daemon(dsn, heartbeat=0.3)
    second = daemon(heartbeat=0.3, wait=False)
    second.wait_for("standing_by")
    way.cut()
    send(sql, "meanwhile")
    second.wait_for("leader_hangs")
    until(lambda: done(sql) == ["meanwhile"])
    # The first has given up by itself, though nothing told it.
    first.wait_for("server_lost", "does not answer")
    assert not first.broker.wait_until_leading(0)
    way.mend()
    until(lambda: len(first.messages("standing_by")) == 1)
    assert _value(sql, _LEADERS) == 1


@pytest.mark.long
def test_a_leader_whose_lease_is_over_starts_nothing(sql: Connection, daemon: Start) -> None:
    """Only its listener hangs: it could start programs, and must not."""
    activate(sql, DRAIN)
    running = daemon(heartbeat=0.2)
    send(sql, "a")
    until(lambda: done(sql) == ["a"])
    (listener,) = sql.execute("SELECT ssb_internal.holders_of(ssb_internal.leader_lock())").fetchone() or (
        None,
    )
    assert isinstance(listener, int)
    os.kill(listener, signal.SIGSTOP)
    try:
        time.sleep(1.0)  # the lease is 0.6 s
        send(sql, "b")
        time.sleep(0.1)
        assert done(sql) == ["a"]
        running.wait_for("server_lost", "does not answer")
    finally:
        os.kill(listener, signal.SIGCONT)
    until(lambda: done(sql) == ["a", "b"])


def test_only_the_runtimes_owner_may_end_a_leader(
    sql: Connection, database: Database, connect: Callable[..., Connection]
) -> None:
    role = f"nobody_{database.name}"
    sql.execute(f"CREATE ROLE {role} LOGIN")
    try:
        stranger = connect(make_conninfo(database.dsn, user=role))
        for call in ("broker_end_leader()", "broker_joined(1)", "broker_try_to_lead()", "holders_of(1)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                stranger.execute(f"SELECT ssb_internal.{call}")
        stranger.close()
    finally:
        sql.execute(f"DROP ROLE {role}")

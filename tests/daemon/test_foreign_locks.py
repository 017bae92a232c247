"""A role without rights takes the daemon's locks, or floods what it hears: activation is late, at worst."""

from collections.abc import Callable, Iterator

import psycopg
import pytest

from activation import DRAIN, Daemon, activate, done, send, until
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Start = Callable[..., Daemon]


@pytest.fixture
def stranger(
    database: Database, connect: Callable[..., Connection]
) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    owner = connect()
    owner.execute("CREATE ROLE lock_stranger LOGIN")
    try:
        with psycopg.connect(database.dsn, user="lock_stranger", autocommit=True) as connection:
            yield connection
    finally:
        owner.execute("DROP ROLE lock_stranger")


@pytest.mark.long
@pytest.mark.parametrize("suffix", ["", "_shared"])
def test_the_leaders_lock(
    sql: Connection, daemon: Start, stranger: psycopg.Connection[tuple[object, ...]], suffix: str
) -> None:
    activate(sql, DRAIN)
    (lock,) = sql.execute("SELECT ssb_internal.leader_lock()").fetchone() or ()
    stranger.execute(f"SELECT pg_advisory_lock{suffix}({lock})".encode())
    one = daemon(wait=False, heartbeat=0.2)
    one.wait_for("leader_hangs", f"session {stranger.info.backend_pid} of role lock_stranger, no daemon")
    one.wait_for("leading")
    send(sql, "one")
    until(lambda: done(sql) == ["one"])


@pytest.mark.long
def test_a_flood_of_notifications_ends_no_leadership(
    sql: Connection, daemon: Start, stranger: psycopg.Connection[tuple[object, ...]]
) -> None:
    """What is heard for longer than a leader may be silent: its heartbeats are answered meanwhile."""
    activate(sql, DRAIN)
    leader = daemon(heartbeat=0.2)
    for channel in ("ssb_arrival", "ssb_definition", "ssb_transport"):
        stranger.execute(
            "SELECT count(pg_notify(%s, n::text || repeat('x', 3000))) FROM generate_series(1, 40000) AS n",
            (channel,),
        )
    send(sql, "one")
    until(lambda: done(sql) == ["one"])
    assert leader.messages("server_lost") == []


@pytest.mark.parametrize("suffix", ["", "_shared"])
def test_the_fence(
    sql: Connection, daemon: Start, stranger: psycopg.Connection[tuple[object, ...]], suffix: str
) -> None:
    activate(sql, DRAIN)
    (fence,) = sql.execute("SELECT ssb_internal.leader_fence()").fetchone() or ()
    stranger.execute(f"SELECT pg_advisory_lock{suffix}({fence})".encode())
    daemon()
    send(sql, "one")
    until(lambda: done(sql) == ["one"])


def test_who_may_not_end_the_holder_says_who_it_is(
    sql: Connection, stranger: psycopg.Connection[tuple[object, ...]]
) -> None:
    (lock,) = sql.execute("SELECT ssb_internal.leader_lock()").fetchone() or ()
    sql.execute(f"SELECT pg_advisory_lock({lock})".encode())
    (pid,) = sql.execute("SELECT pg_backend_pid()").fetchone() or ()
    sql.execute("GRANT USAGE ON SCHEMA ssb, ssb_internal TO lock_stranger")
    sql.execute("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ssb_internal TO lock_stranger")
    sql.execute("GRANT SELECT ON ssb.broker_daemon TO lock_stranger")
    try:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match=f"session {pid} of role"):
            stranger.execute("SELECT ssb_internal.broker_end_leader()")
    finally:
        sql.execute("DROP OWNED BY lock_stranger")


@pytest.mark.parametrize("suffix", ["", "_shared"])
def test_the_transports_lock(
    sql: Connection, stranger: psycopg.Connection[tuple[object, ...]], suffix: str
) -> None:
    stranger.execute(f"SELECT pg_advisory_lock{suffix}(1397965382)".encode())
    sql.execute("SET statement_timeout = '20s'")
    sql.execute("SELECT ssb_internal.share_transport_lock()")
    assert sql.execute("SELECT ssb_internal.has_transport_daemon()").fetchone() == (True,)
    sql.execute("SELECT pg_advisory_unlock_all()")
    # Only he who keeps daemons out is ended. Who shares it makes others wait for a daemon that is not there.
    assert sql.execute("SELECT ssb_internal.has_transport_daemon()").fetchone() == (suffix == "_shared",)

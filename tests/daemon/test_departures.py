"""Who sends tells the daemon, but where it reads set after set anyway."""

import threading
from collections.abc import Callable

import psycopg
import pytest
from instances import Side

from activation import Daemon, until

_STREAMING = "SELECT coalesce(pg_sequence_last_value('ssb.transport_streaming'), 0)"
_LOCK = "SELECT pg_advisory_lock{}(1397965384, %s)"


def _peer(near: Side) -> tuple[object, int]:
    """A dialog whose first message waits for transport, and for which peer. Its session listens."""
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "first")
    near.do("LISTEN ssb_transport")
    return handle, near.value("SELECT peer_id FROM ssb.transport_peer")


def _told(near: Side, seconds: float = 0.0) -> list[str]:
    stop_after = 1 if seconds else None
    return [notice.payload for notice in near.connection.notifies(timeout=seconds, stop_after=stop_after)]


@pytest.mark.one_postgres
def test_nobody_is_told_while_set_after_set_is_read(near: Side) -> None:
    handle, peer = _peer(near)
    near.send(handle, "//Ask", "second")
    assert _told(near, 5) == [str(peer)]
    assert near.value("SELECT ssb_internal.start_streaming(%s)", peer) is True
    near.send(handle, "//Ask", "third")
    near.do("SELECT ssb.send_batch(%s, array_fill('//Ask'::text, ARRAY[2]), '{a,b}')", [handle] * 2)
    near.do("SELECT ssb.send_batch(%s, '{//Ask,//Xml}', '{c,<d/>}')", [handle] * 2)
    near.send(near.begin("//Far"), "//Ask", "of a new dialog")
    near.do(
        "SELECT ssb.send(ssb.begin_dialog('//Near', '//Far', '//Talk', lifetime => 60, encryption => false),"
        " '//Ask', 'which has an end')"
    )
    assert _told(near) == []
    assert near.value("SELECT ssb_internal.stop_streaming(%s)", peer) is True
    near.send(handle, "//Ask", "last")
    assert _told(near, 5) == [str(peer)]


@pytest.mark.one_postgres
def test_who_told_nobody_is_waited_for(near: Side) -> None:
    """Their messages are seen when they have committed, and nothing else would say so."""
    handle, peer = _peer(near)
    near.do("SELECT ssb_internal.start_streaming(%s)", peer)
    with psycopg.connect(near.database.dsn) as sender:
        sender.execute("SELECT ssb.send(%s, '//Ask', 'not seen yet')", [handle])
        assert near.value("SELECT ssb_internal.stop_streaming(%s)", peer) is False
        assert near.value(_STREAMING) == 0
        other = near.begin("//Far")
        near.send(other, "//Ask", "one that comes later")
        assert _told(near, 5) == [str(peer)]
        sender.commit()
        assert near.value("SELECT ssb_internal.stop_streaming(%s)", peer) is True
        assert near.value("SELECT count(*) FROM ssb.transmission") == 3


@pytest.mark.one_postgres
def test_peers_are_told_apart(near: Side) -> None:
    for peer in (1, 3, 62):
        assert near.value("SELECT ssb_internal.start_streaming(%s)", peer) is True
    assert near.value("SELECT ssb_internal.start_streaming(63)") is False, "of those one is always told"
    assert near.value("SELECT ssb_internal.stop_streaming(3)") is True
    among = "SELECT array_agg(p) FROM generate_series(-1, 130) AS p WHERE ssb_internal.is_streaming_to(p)"
    assert near.value(among) == [1, 62]
    assert near.value("SELECT ssb_internal.stop_streaming(NULL)") is True
    assert near.value(among) is None


@pytest.mark.one_postgres
def test_a_strangers_lock_keeps_nothing_from_leaving(near: Side) -> None:
    handle, peer = _peer(near)
    near.do("SELECT ssb_internal.start_streaming(%s)", peer)
    with psycopg.connect(near.database.dsn, autocommit=True) as stranger:
        stranger.execute(_LOCK.format("").encode(), [peer])
        near.send(handle, "//Ask", "second")
        assert _told(near, 5) == [str(peer)]
    with psycopg.connect(near.database.dsn, autocommit=True) as stranger:
        stranger.execute(_LOCK.format("_shared").encode(), [peer])
        assert near.value("SELECT ssb_internal.stop_streaming(%s)", peer) is False
        near.send(handle, "//Ask", "third")
        assert _told(near, 5) == [str(peer)], "the daemon looks again and again, and is told too"


def test_a_daemon_reads_on_while_messages_stream(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    # As if an earlier daemon had been killed while messages streamed.
    handle, peer = _peer(near)
    near.do("SELECT ssb_internal.start_streaming(%s)", peer)
    daemons(near)
    far.receive(1)
    assert near.value(_STREAMING) == 0
    near.do("UNLISTEN ssb_transport")
    sent = 1
    is_over = threading.Event()

    def stream() -> None:
        nonlocal sent
        with psycopg.connect(near.database.dsn, autocommit=True) as sender:
            while not is_over.is_set():
                sender.execute(
                    "SELECT ssb.send_batch(array_fill(%s::uuid, ARRAY[1000]),"
                    " array_fill('//Ask'::text, ARRAY[1000]), array_fill('more'::bytea, ARRAY[1000]))",
                    [handle],
                )
                sent += 1000

    sender = threading.Thread(target=stream)
    sender.start()
    try:
        until(lambda: near.value(_STREAMING) == 1 << (peer - 1))
    finally:
        is_over.set()
        sender.join()
    until(lambda: near.waiting() == [])
    until(lambda: near.value(_STREAMING) == 0)
    near.send(handle, "//Ask", "last")
    until(lambda: near.waiting() == [])
    arrived = "SELECT array_agg(message_sequence_number ORDER BY queuing_order) FROM ssb.message_stored"
    assert far.value(arrived) == list(range(1, sent + 1))

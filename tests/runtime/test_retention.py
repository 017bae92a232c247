"""RETENTION = ON: messages stay in the queue, with their status, until the side ends."""

from collections.abc import Callable

import pytest
from runtime.broker import END, ERROR, Pair, Session, refused


def contents(session: Session, queue: str) -> list[tuple[int, str, str | None]]:
    return [
        (status, kind, None if body is None else body.decode())
        for status, kind, body in session.rows(
            f"SELECT status, message_type_name, message_body FROM {queue} ORDER BY queuing_order"
        )
    ]


def test_received_messages_stay_with_status_0_and_sent_ones_with_3(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.far)
    near = pair.dialog()
    session.send(near, pair.request, "a")
    session.send(near, pair.request, "b")
    assert contents(session, pair.far) == [(1, pair.request, "a"), (1, pair.request, "b")]
    (message,) = session.receive(pair.far, 1)
    assert contents(session, pair.far) == [(0, pair.request, "a"), (1, pair.request, "b")]
    session.send(message.handle, pair.reply, "c")
    assert contents(session, pair.far) == [
        (0, pair.request, "a"),
        (1, pair.request, "b"),
        (3, pair.reply, "c"),
    ]
    assert contents(session, pair.near) == [(1, pair.reply, "c")]
    assert session.bodies(pair.far) == ["b"]
    assert session.bodies(pair.far) == []
    assert [status for status, *_ in contents(session, pair.far)] == [0, 0, 3]
    session.end(message.handle)
    assert contents(session, pair.far) == []
    assert [m.type for m in session.receive(pair.near)] == [pair.reply, END]


@pytest.mark.parametrize("far_first", [False, True])
def test_nothing_is_kept_beyond_the_end(session: Session, pair: Pair, far_first: bool) -> None:
    for queue in (pair.near, pair.far):
        session.do("SELECT ssb.alter_queue(%s, retention => true)", queue)
    near, far = pair.conversing()
    session.send(far, pair.reply, "x")
    assert session.bodies(pair.near) == ["x"]
    kept = (
        "SELECT count(*) FROM ssb.retained_message AS m JOIN ssb.queue AS q USING (queue_id)"
        f" WHERE q.name IN ('{pair.near}', '{pair.far}')"
    )
    assert session.value(kept) == 4
    first, second = (far, near) if far_first else (near, far)
    session.end(first)
    assert session.value(kept) == 2
    session.end(second)
    assert session.value(kept) == 0


def test_retained_messages_are_not_received_again_after_rollback(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.far)
    near = pair.dialog()
    for i in range(5):
        session.send(near, pair.request, str(i))
    with session.connection.transaction(force_rollback=True):
        assert session.bodies(pair.far, 3) == ["0", "1", "2"]
    assert session.bodies(pair.far, 3) == ["0", "1", "2"]
    assert session.bodies(pair.far) == ["3", "4"]
    assert [status for status, *_ in contents(session, pair.far)] == [0] * 5


def test_switched_off_it_keeps_what_it_has(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.far)
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, retention => false)", pair.far)
    session.send(near, pair.request, "x")
    assert session.bodies(pair.far) == ["x"]
    assert contents(session, pair.far) == [(0, pair.request, "hello")]
    session.end(far)
    assert contents(session, pair.far) == []


def test_a_retaining_queue_that_is_off_refuses_to_send(session: Session, pair: Pair) -> None:
    _near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false, retention => true)", pair.far)
    with refused(9618):
        session.send(far, pair.reply)
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    session.send(far, pair.reply)
    assert len(session.receive(pair.near)) == 1


def test_send_from_a_retaining_queue_obeys_as_any_other(session: Session, pair: Pair) -> None:
    near, far = pair.conversing(lifetime=600)
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.near)
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.far)
    with refused(8432):
        session.send(near, pair.reply, "x")
    with refused(8434):
        session.send(far, pair.request, "x")
    session.do("SELECT ssb.alter_queue(%s, retention => false)", pair.far)
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    pair.say(near, "waits")
    assert len(session.transmissions(near)) == 1
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    assert session.bodies(pair.far) == ["waits"]
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.near)
    with refused(9618):
        pair.say(near, "is not sent")
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.near)
    for _ in range(5):
        with session.connection.transaction(force_rollback=True):
            pair.say(near, "poison")
            session.send(far, pair.reply)
            assert session.bodies(pair.near) == [None]
    session.send(far, pair.reply)
    for _ in range(5):
        with session.connection.transaction(force_rollback=True):
            assert session.bodies(pair.near) == [None]
    with refused(9618):
        pair.say(near, "the queue was stopped")
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.near)
    session.do(
        "UPDATE ssb.conversation_endpoint SET lifetime = lifetime - i, due_at = due_at - i"
        " FROM make_interval(secs => 601) AS i WHERE conversation_handle = %s",
        near,
    )
    with refused(8429):
        pair.say(near, "too late")
    assert contents(session, pair.near) == [(3, pair.request, "waits"), (1, pair.reply, None)]


@pytest.mark.parametrize("body", ["<a/>", "<a>", ""])
def test_what_a_retaining_queue_sends_is_validated(session: Session, pair: Pair, body: str) -> None:
    session.do("SELECT ssb.alter_message_type(%s, 'WELL_FORMED_XML')", pair.request)
    near = pair.dialog()
    session.send(near, pair.note, "first")
    assert session.bodies(pair.far) == ["first"]
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.near)
    pair.say(near, body)
    errors = session.receive(pair.near)
    assert [message.type for message in errors] == [ERROR] * (body == "<a>")
    assert session.bodies(pair.far) == ([] if errors else [body or None])


def test_it_counts_from_the_commit_of_its_definition(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    """For a session that has sent and received on the dialog before."""
    sender, owner = another(), another()
    sender.connection.autocommit = True
    near = pair.dialog(sender)
    sender.send(near, pair.request, "first")
    assert sender.bodies(pair.far, 1) == ["first"]
    owner.do("SELECT ssb.alter_queue(%s, retention => true)", pair.near)
    owner.do("SELECT ssb.alter_queue(%s, retention => true)", pair.far)
    sender.send(near, pair.request, "before")
    owner.commit()
    sender.send(near, pair.request, "after")
    assert sender.bodies(pair.far, 1) == ["before"]
    assert contents(session, pair.near) == [(3, pair.request, "after")]
    assert contents(session, pair.far) == [(0, pair.request, "before"), (1, pair.request, "after")]

"""What comes first of a conversation: its DialogTimer message, then an Error, then the others by number."""

import uuid
from collections.abc import Callable

import psycopg
import pytest
from runtime.broker import ERROR, TIMER, Pair, Session
from runtime.test_time import pass_time

from support import Database, end_counted

REPLY = "reply"


def _types(session: Session, pair: Pair, top: int | None = None) -> list[str]:
    return [message.type for message in session.receive(pair.near, top)]


def _timer(session: Session, handle: uuid.UUID) -> None:
    session.do("SELECT ssb.begin_conversation_timer(%s, 60)", handle)
    pass_time(session, handle, 60)


@pytest.mark.parametrize("top", [None, 1])
def test_a_timer_comes_before_what_came_earlier(session: Session, pair: Pair, top: int | None) -> None:
    near, far = pair.conversing()
    for _ in range(3):
        session.send(far, pair.reply)
    _timer(session, near)
    session.do("SELECT ssb.deliver_due(%s)", pair.near)
    session.send(far, pair.reply)
    found: list[str] = []
    while some := _types(session, pair, top):
        found += some
    assert found == [TIMER, *[pair.reply] * 4]


@pytest.mark.parametrize("top", [None, 1, 2])
def test_an_error_comes_before_messages_and_after_a_timer(
    session: Session, pair: Pair, top: int | None
) -> None:
    near, far = pair.conversing()
    session.send(far, pair.reply)
    session.send(far, pair.reply)
    _timer(session, near)
    session.do("SELECT ssb.end_conversation(%s, 42, 'no more')", far)
    session.do("SELECT ssb.deliver_due(%s)", pair.near)
    found: list[str] = []
    while some := _types(session, pair, top):
        found += some
    assert found == [TIMER, ERROR, pair.reply, pair.reply]
    assert session.value("SELECT count(*) FROM ssb.urgent_conversation") == 0


def test_other_conversations_keep_their_turn(session: Session, pair: Pair) -> None:
    first, first_far = pair.conversing()
    second, second_far = pair.conversing()
    session.send(first_far, pair.reply)
    session.send(second_far, pair.reply)
    session.do("SELECT ssb.end_conversation(%s, 42, 'no more')", second_far)
    found = [(m.type, m.handle) for _ in range(3) for m in session.receive(pair.near, 1)]
    assert found == [(pair.reply, first), (ERROR, second), (pair.reply, second)]


def test_a_rollback_keeps_the_order(session: Session, pair: Pair, another: Callable[[], Session]) -> None:
    _, far = pair.conversing()
    session.send(far, pair.reply)
    session.do("SELECT ssb.end_conversation(%s, 42, 'no more')", far)
    reader = another()
    assert _types(reader, pair, 1) == [ERROR]
    reader.connection.rollback()
    assert _types(reader, pair, 1) == [ERROR]
    reader.connection.commit()
    assert _types(reader, pair, 1) == [pair.reply]
    reader.connection.commit()


def test_an_error_that_comes_while_a_reader_is_at_work(
    session: Session, pair: Pair, another: Callable[[], Session]
) -> None:
    """The sender does not wait for the reader, and the reader's next RECEIVE sees the Error first."""
    _, far = pair.conversing()
    session.send(far, pair.reply)
    session.send(far, pair.reply)
    reader = another()
    assert _types(reader, pair, 1) == [pair.reply]
    session.do("SELECT ssb.end_conversation(%s, 42, 'no more')", far)
    assert _types(reader, pair, 1) == [ERROR]
    assert _types(reader, pair, 1) == [pair.reply]
    reader.connection.commit()


def test_a_timer_overtakes_a_message_whose_sender_commits_later(
    session: Session, pair: Pair, another: Callable[[], Session]
) -> None:
    near, far = pair.conversing()
    sender = another()
    sender.send(far, pair.reply)
    _timer(session, near)
    session.do("SELECT ssb.deliver_due(%s)", pair.near)
    sender.connection.commit()
    assert _types(session, pair, 1) == [TIMER]
    assert _types(session, pair, 1) == [pair.reply]


def test_retention_and_a_changed_queue_keep_the_order(session: Session, pair: Pair) -> None:
    _, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.near)
    session.send(far, pair.reply)
    session.do("SELECT ssb.end_conversation(%s, 42, 'no more')", far)
    other = f"{pair.near}_other"
    session.do("SELECT ssb.create_queue(%s, retention => true)", other)
    session.do("SELECT ssb.alter_service(%s, queue => %s)", pair.initiator, other)
    assert [m.type for m in session.receive(other)] == [ERROR, pair.reply]


def test_an_error_overtakes_a_message_that_is_being_received(
    session: Session, pair: Pair, another: Callable[[], Session]
) -> None:
    _, far = pair.conversing()
    session.send(far, pair.reply)
    reader = another()
    assert _types(reader, pair, 1) == [pair.reply]
    session.do("SELECT ssb.end_conversation(%s, 42, 'no more')", far)
    reader.connection.rollback()
    assert _types(session, pair, 1) == [ERROR]
    assert _types(session, pair, 1) == [pair.reply]


def test_an_error_that_overtakes_nothing_is_not_urgent(session: Session, pair: Pair) -> None:
    far = pair.conversing()[1]
    counted = "SELECT pg_sequence_last_value('ssb.urgent_conversations')"
    before = session.value(counted)
    session.do("SELECT ssb.end_conversation(%s, 42, 'no more')", far)
    assert session.value(counted) == before
    assert _types(session, pair) == [ERROR]


def test_what_is_urgent_goes_with_its_conversation(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.send(far, pair.reply)
    session.do("SELECT ssb.end_conversation(%s, 42, 'no more')", far)
    session.do("SELECT ssb.end_conversation(%s)", near)
    assert _types(session, pair) == []
    assert session.value("SELECT count(*) FROM ssb.urgent_conversation") == 0


@pytest.mark.one_postgres
def test_a_session_that_knows_its_queue_sees_the_first_of_a_database(database: Database) -> None:
    """RECEIVE looks for them only where one was counted: see schema/messages.sql."""
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        session = Session(connection)
        pair = Pair(session)
        far = pair.conversing()[1]
        for _ in range(3):
            session.send(far, pair.reply)
            assert _types(session, pair) == [pair.reply]
        assert session.value("SELECT pg_sequence_last_value('ssb.urgent_conversations')") is None
        session.send(far, pair.reply)
        counted = "SELECT pg_sequence_last_value('ssb.urgent_conversations') IS NOT NULL"
        with psycopg.connect(database.dsn) as ending:
            Session(ending).end(far, error=42, description="no more")
            # Not committed, and not to be seen; but nobody may forget that it comes.
            session.do("SELECT ssb_internal.broker_sweep('{}')")
            assert session.value(counted)
        assert _types(session, pair) == [ERROR, pair.reply]
        # Who looks still takes the fast path, where nothing is urgent.
        far = pair.conversing()[1]
        session.send(far, pair.reply)
        assert _types(session, pair, 1) == [pair.reply]
        session.do("SELECT ssb_internal.broker_sweep('{}')")
        assert not session.value(counted)


def test_readers_pass_what_is_gone_where_something_was_urgent_before(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    """They would look at all of it again each time, until VACUUM removes it."""
    near, far = pair.conversing()
    session.send(far, pair.reply)
    _timer(session, near)
    session.do("SELECT ssb.deliver_due(%s)", pair.near)
    assert _types(session, pair) == [TIMER, pair.reply]
    assert session.value("SELECT pg_sequence_last_value('ssb.urgent_conversations')") >= 1
    reader = another()
    reader.do("SET track_functions = 'all'")
    session.do("SELECT pg_stat_reset()")
    for _ in range(3):
        for _ in range(130):
            session.send(far, pair.reply, "x")
        for _ in range(130):
            assert _types(reader, pair, 1) == [pair.reply]
            reader.commit()
    queue_id = session.value("SELECT queue_id FROM ssb.queue WHERE name = %s", pair.near)
    assert reader.value("SELECT ssb_internal.low_water(%s, 5::smallint, 0)", queue_id) >= 200
    end_counted(reader.connection, session.connection)
    slow = "SELECT calls FROM pg_stat_user_functions WHERE funcname = 'receive_slow_path'"
    assert session.column(slow) == []


def test_what_is_urgent_goes_with_its_queue(session: Session, pair: Pair) -> None:
    """Of all queues together: while one row is there, each RECEIVE looks for its own."""
    near, far = pair.conversing()
    session.send(far, pair.reply)
    _timer(session, near)
    session.do("SELECT ssb.deliver_due(%s)", pair.near)
    urgent = (
        "SELECT count(*) FROM ssb.urgent_conversation AS u"
        " WHERE NOT EXISTS (SELECT FROM ssb.queue AS q WHERE q.queue_id = u.queue_id)"
    )
    before = session.value("SELECT count(*) FROM ssb.urgent_conversation")
    session.do("SELECT ssb.drop_service(%s)", pair.initiator)
    session.do("SELECT ssb.drop_queue(%s)", pair.near)
    assert session.value(urgent) == 0
    assert session.value("SELECT count(*) FROM ssb.urgent_conversation") == before - 1

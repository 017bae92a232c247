"""Five rollbacks in a row switch a queue off, whoever rolled back and however."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from runtime.broker import TIMER, Pair, Session, refused, start_and_block
from runtime.test_time import pass_time


def vanish(session: Session, *readers: Session) -> None:
    """Close the readers' connections; returns when the server has rolled back what they did."""
    pids = [reader.pid for reader in readers]
    for reader in readers:
        reader.connection.close()
    while session.rows("SELECT FROM pg_stat_activity WHERE pid = ANY (%s)", pids):
        pass


def roll_back(session: Session, queue: str, times: int) -> None:
    for _ in range(times):
        with session.connection.transaction(force_rollback=True):
            assert session.receive(queue) != []


def enabled(session: Session, queue: str) -> tuple[int, int]:
    found = session.rows(
        "SELECT is_receive_enabled, is_enqueue_enabled FROM sys.service_queues WHERE 'dbo.' || name = %s",
        queue,
    )
    return found[0][0], found[0][1]


def test_the_fifth_rollback_disables(session: Session, pair: Pair) -> None:
    near = pair.dialog()
    session.send(near, pair.request, "poison")
    roll_back(session, pair.far, 4)
    assert enabled(session, pair.far) == (1, 1)
    roll_back(session, pair.far, 1)
    assert enabled(session, pair.far) == (0, 0)
    with refused(9617):
        session.receive(pair.far)
    assert session.column(f"SELECT message_body FROM {pair.far}") == [b"poison"]
    session.send(near, pair.request, "later")
    assert len(session.transmissions(near)) == 1
    assert enabled(session, pair.far) == (0, 0)


def test_who_has_seen_the_poison_does_not_stop_a_queue_that_is_switched_on_meanwhile(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    near = pair.dialog()
    session.send(near, pair.request, "poison")
    roll_back(session, pair.far, 5)
    admin, looking = another(), another()
    admin.do("SELECT FROM ssb.queue WHERE name = %s FOR NO KEY UPDATE", pair.far)
    # Who tidies up does not wait; who uses the queue does.
    look_at = "SELECT ssb_internal.disable_if_poisoned(q) FROM ssb.queue AS q WHERE q.name = %s"
    look = start_and_block(session, looking, lambda: looking.do(look_at, pair.far))
    # A sender does not wait; his message does.
    session.send(near, pair.request, "later")
    assert len(session.transmissions(near)) == 1
    admin.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    admin.commit()
    look.result()
    looking.commit()
    assert enabled(session, pair.far) == (1, 1)
    assert session.bodies(pair.far) == ["poison", "later"]


def test_switched_on_again_it_starts_anew(session: Session, pair: Pair) -> None:
    near = pair.dialog()
    session.send(near, pair.request, "1")
    roll_back(session, pair.far, 5)
    session.send(near, pair.request, "2")
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    assert enabled(session, pair.far) == (1, 1)
    assert session.transmissions(near) == []
    roll_back(session, pair.far, 4)
    assert session.bodies(pair.far) == ["1", "2"]


def test_a_commit_between_them_starts_anew(session: Session, pair: Pair) -> None:
    for _ in range(2):
        session.send(pair.dialog(), pair.request)
    roll_back(session, pair.far, 4)
    assert len(session.receive(pair.far)) == 1
    roll_back(session, pair.far, 4)
    assert enabled(session, pair.far) == (1, 1)
    roll_back(session, pair.far, 1)
    assert enabled(session, pair.far) == (0, 0)


def test_a_commit_of_another_conversation_counts_too(session: Session, pair: Pair) -> None:
    first, second = pair.conversing()[0], pair.conversing()[0]
    for handle in (first, second):
        session.send(handle, pair.request)
    roll_back(session, pair.far, 4)
    other = session.column(f"SELECT conversation_handle FROM {pair.far}")[1]
    assert len(session.receive(pair.far, conversation=other)) == 1
    roll_back(session, pair.far, 1)
    assert enabled(session, pair.far) == (1, 1)


def test_rollbacks_of_an_empty_receive_do_not_count(session: Session, pair: Pair) -> None:
    for _ in range(7):
        with session.connection.transaction(force_rollback=True):
            assert session.receive(pair.far) == []
    assert enabled(session, pair.far) == (1, 1)


def test_a_transaction_that_receives_twice_is_one_rollback(session: Session, pair: Pair) -> None:
    for _ in range(3):
        session.send(pair.dialog(), pair.request)
    for _ in range(4):
        with session.connection.transaction(force_rollback=True):
            assert len(session.receive(pair.far)) == 1
            assert len(session.receive(pair.far)) == 1
    assert enabled(session, pair.far) == (1, 1)


def test_back_to_a_savepoint_is_no_rollback_of_the_transaction(session: Session, pair: Pair) -> None:
    session.send(pair.dialog(), pair.request, "x")
    with session.connection.transaction():
        for _ in range(6):
            with session.connection.transaction(force_rollback=True):
                assert session.bodies(pair.far) == ["x"]
        assert session.bodies(pair.far) == ["x"]
    assert enabled(session, pair.far) == (1, 1)


def test_a_poisonous_timer_message_counts_although_receive_made_it(session: Session, pair: Pair) -> None:
    near, _ = pair.conversing()
    session.do("SELECT ssb.begin_conversation_timer(%s, 1)", near)
    session.do(
        "UPDATE ssb.conversation_endpoint SET dialog_timer = now(), due_at = now() WHERE"
        " conversation_handle = %s",
        near,
    )
    roll_back(session, pair.near, 5)
    assert enabled(session, pair.near) == (0, 0)


def test_a_poisonous_message_that_overtakes_others_counts(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.send(far, pair.reply, "1")
    session.do("SELECT ssb.begin_conversation_timer(%s, 60)", near)
    pass_time(session, near, 60)
    session.do("SELECT ssb.deliver_due(%s)", pair.near)
    for _ in range(5):
        assert enabled(session, pair.near) == (1, 1)
        with session.connection.transaction(force_rollback=True):
            assert [message.type for message in session.receive(pair.near, 1)] == [TIMER]
    assert enabled(session, pair.near) == (0, 0)


def test_a_poisonous_message_of_a_higher_level_counts_where_its_group_is_asked_for(
    session: Session, pair: Pair
) -> None:
    first = pair.dialog()
    session.do("SELECT ssb.create_broker_priority(%s, %s, priority_level => 9)", pair.contract, pair.contract)
    second = pair.dialog(related_conversation=first)
    session.do("SELECT ssb.drop_broker_priority(%s)", pair.contract)
    for near in (first, second):
        pair.say(near, "job")
    for message in [*session.receive(pair.far), *session.receive(pair.far)]:
        session.send(message.handle, pair.reply, f"of {message.handle}")
    group = session.group(first)
    for _ in range(5):
        assert enabled(session, pair.near) == (1, 1)
        with session.connection.transaction(force_rollback=True):
            (taken,) = session.receive(pair.near, 1, conversation_group=group)
            assert taken.handle == second
    assert enabled(session, pair.near) == (0, 0)


def test_handling_may_be_switched_off(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.alter_queue(%s, poison_message_handling => false)", pair.far)
    session.send(pair.dialog(), pair.request, "x")
    roll_back(session, pair.far, 7)
    assert enabled(session, pair.far) == (1, 1)
    assert session.bodies(pair.far) == ["x"]


@pytest.mark.parametrize("begins_off", [False, True])
def test_handling_that_comes_on_starts_anew(session: Session, pair: Pair, begins_off: bool) -> None:
    alter = "SELECT ssb.alter_queue(%s, poison_message_handling => %s)"
    session.do(alter, pair.far, not begins_off)
    session.send(pair.dialog(), pair.request, "x")
    roll_back(session, pair.far, 4)
    session.do(alter, pair.far, False)
    session.do(alter, pair.far, True)
    roll_back(session, pair.far, 4)
    assert enabled(session, pair.far) == (1, 1)
    session.do(alter, pair.far, True)
    roll_back(session, pair.far, 1)
    assert enabled(session, pair.far) == (0, 0)


@pytest.mark.parametrize(
    "option", ["poison_message_handling => false", "max_rollbacks => 8", "quarantine => true"]
)
def test_a_queue_that_was_stopped_stays_so(session: Session, pair: Pair, option: str) -> None:
    session.send(pair.dialog(), pair.request, "x")
    roll_back(session, pair.far, 5)
    session.do(f"SELECT ssb.alter_queue(%s, {option})", pair.far)
    assert enabled(session, pair.far) == (0, 0)
    with refused(9617):
        session.receive(pair.far)
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    assert session.bodies(pair.far) == ["x"]


@pytest.mark.parametrize("limit", [1, 2, 8])
def test_the_limit_is_the_queues_own(session: Session, pair: Pair, limit: int) -> None:
    session.do("SELECT ssb.alter_queue(%s, max_rollbacks => %s)", pair.far, limit)
    session.send(pair.dialog(), pair.request)
    roll_back(session, pair.far, limit - 1)
    assert enabled(session, pair.far) == (1, 1)
    roll_back(session, pair.far, 1)
    assert enabled(session, pair.far) == (0, 0)


def test_many_sessions_count_together(session: Session, another: Callable[[], Session], pair: Pair) -> None:
    session.send(pair.dialog(), pair.request)
    for _ in range(5):
        vanish(session, held(another, pair.far))
    assert enabled(session, pair.far) == (0, 0)


def test_somebody_who_can_commit_makes_it_last_and_tells(session: Session, pair: Pair) -> None:
    listener, queue = (
        pair.far + "_events",
        "http://schemas.microsoft.com/SQL/Notifications/PostEventNotification",
    )
    session.do(
        "SELECT ssb.create_queue(%s), ssb.create_service(%s, %s, ARRAY[%s])",
        listener,
        listener,
        listener,
        queue,
    )
    session.do(
        "SELECT ssb.create_event_notification('disabled', '{broker_queue_disabled}', 'QUEUE',"
        " %s, 'current database', %s)",
        listener,
        pair.far,
    )
    session.send(pair.dialog(), pair.request)
    roll_back(session, pair.far, 5)
    session.value("SELECT ssb.deliver_due(%s)", pair.far)
    assert session.rows(
        "SELECT is_receive_enabled, is_enqueue_enabled FROM ssb.queue WHERE name = %s", pair.far
    ) == [(False, False)]
    (event,) = session.receive(listener)
    assert event.type == "http://schemas.microsoft.com/SQL/Notifications/EventNotification"
    assert event.body is not None
    assert "<EventType>BROKER_QUEUE_DISABLED</EventType>" in event.body
    assert f"<ObjectName>{pair.far.removeprefix('dbo.')}</ObjectName>" in event.body
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    roll_back(session, pair.far, 5)
    session.value("SELECT ssb.deliver_due(%s)", pair.far)
    assert len(session.receive(listener)) == 1
    session.end(event.handle)
    assert session.column("SELECT 1 FROM sys.event_notifications WHERE service_name = %s", listener) == []


def held(another: Callable[[], Session], queue: str, top: int | None = None) -> Session:
    """A reader with a message in hand, in an open transaction."""
    reader = another()
    reader.do("BEGIN")
    assert reader.receive(queue, top) != []
    return reader


def test_five_at_once_on_five_messages(session: Session, another: Callable[[], Session], pair: Pair) -> None:
    for _ in range(6):
        session.send(pair.dialog(), pair.request)
    readers = [held(another, pair.far) for _ in range(5)]
    for reader in readers:
        reader.rollback()
    with refused(9617):
        session.receive(pair.far)
    assert enabled(session, pair.far) == (0, 0)


def test_four_at_once_and_one_more(session: Session, another: Callable[[], Session], pair: Pair) -> None:
    for _ in range(6):
        session.send(pair.dialog(), pair.request)
    readers = [held(another, pair.far) for _ in range(4)]
    vanish(session, *readers)
    roll_back(session, pair.far, 1)
    assert enabled(session, pair.far) == (0, 0)


def test_a_commit_among_those_at_once_is_believed(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    for _ in range(8):
        session.send(pair.dialog(), pair.request)
    readers = [held(another, pair.far) for _ in range(7)]
    for number, reader in enumerate(readers):
        reader.commit() if number == 4 else reader.rollback()
    assert len(session.receive(pair.far)) == 1
    assert enabled(session, pair.far) == (1, 1)


def test_one_transaction_with_many_messages_is_one_rollback(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    for _ in range(8):
        session.send(pair.dialog(), pair.request)
    with session.connection.transaction(force_rollback=True):
        for _ in range(8):
            # As compiled programs do: each statement in a subtransaction of its own.
            with session.connection.transaction():
                assert len(session.receive(pair.far, 1)) == 1
    for reader in [held(another, pair.far, 1) for _ in range(8)]:
        reader.commit()
    assert enabled(session, pair.far) == (1, 1)


def test_readers_that_are_never_all_at_rest(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    for _ in range(12):
        session.send(pair.dialog(), pair.request)
    readers = [held(another, pair.far) for _ in range(4)]
    rollbacks = 0
    with refused(9617):
        while rollbacks < 40:
            reader = readers[rollbacks % 4]
            reader.rollback()
            rollbacks += 1
            reader.do("BEGIN")
            assert reader.receive(pair.far) != []
    assert rollbacks <= 9


@pytest.mark.long(on="older")
def test_a_reader_that_commits_between_resets_the_count(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    for _ in range(13):
        session.send(pair.dialog(), pair.request)
    for _ in range(12):
        failing, working = held(another, pair.far), held(another, pair.far)
        working.commit()
        failing.rollback()
    assert enabled(session, pair.far) == (1, 1)


def test_after_a_while_without_rollbacks_nothing_is_counted_any_more(session: Session, pair: Pair) -> None:
    roll = "SELECT pg_sequence_last_value(state_sequence) < 2 FROM ssb.queue WHERE name = %s"
    for _ in range(20):
        session.send(pair.dialog(), pair.request)
    roll_back(session, pair.far, 2)
    assert len(session.receive(pair.far)) == 1
    assert session.value(roll, pair.far) is False
    for _ in range(17):
        assert len(session.receive(pair.far)) == 1
    assert session.value(roll, pair.far) is True


@pytest.mark.long(on="older")
def test_readers_that_all_commit_are_never_counted(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    for _ in range(150):
        near = pair.dialog()
        for _ in range(4):
            session.send(near, pair.request)

    def drain(reader: Session) -> int:
        count = 0
        while reader.receive(pair.far, 1):
            reader.commit()
            count += 1
        reader.rollback()
        return count

    readers = [another() for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        received = sum(pool.map(drain, readers))
    received += drain(readers[0])
    assert received == 600
    assert enabled(session, pair.far) == (1, 1)
    on_record = "SELECT ssb_internal.queue_state(q.state_sequence) >= 2 FROM ssb.queue AS q WHERE q.name = %s"
    assert session.value(on_record, pair.far) is False

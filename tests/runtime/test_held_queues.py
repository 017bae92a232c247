"""A queue that somebody drops or alters in a transaction that stays open holds up no queue of others.

Whoever may make a queue can do that, by mistake or on purpose. The daemon looks after all queues in one
statement, and every ROLLBACK of a script looks at those whose end somebody wants to hear of.
"""

from collections.abc import Callable, Iterator

import pytest
from runtime.broker import ERROR, Pair, Session
from runtime.test_poison import roll_back
from runtime.test_time import pass_time

_SWEEP = "SELECT ssb_internal.broker_sweep('{}')"


@pytest.fixture
def looking(session: Session) -> Iterator[Session]:
    """A session that does not wait for ever."""
    session.do("SET statement_timeout = '10s'")
    yield session
    session.do("RESET statement_timeout")


@pytest.fixture
def held(maker: Session) -> Pair:
    """Services of somebody else."""
    return Pair(maker)


def drop(somebody: Session, pair: Pair) -> None:
    somebody.do("SELECT ssb.drop_service(%s)", pair.target)
    somebody.do("SELECT ssb.drop_queue(%s)", pair.far)


def falls_due(session: Session, pair: Pair) -> None:
    """A timer that is over: what comes of it is received elsewhere."""
    near, _ = pair.conversing()
    session.do("SELECT ssb.begin_conversation_timer(%s, 60)", near)
    pass_time(session, near, 60)


def has_come(session: Session, pair: Pair) -> bool:
    found: bool = session.value(
        "SELECT EXISTS (SELECT FROM ssb.message_stored AS m JOIN ssb.queue AS q USING (queue_id)"
        " WHERE q.name = %s AND m.message_type_id = 3)",
        pair.near,
    )
    return found


def test_the_daemon_looks_past_a_queue_that_is_being_dropped(
    looking: Session, another: Callable[[], Session], pair: Pair, held: Pair
) -> None:
    falls_due(looking, pair)
    drop(somebody := another(), held)
    looking.do(_SWEEP)
    assert has_come(looking, pair)
    number = looking.value("SELECT queue_id FROM ssb.queue WHERE name = %s", held.far)
    assert looking.rows("SELECT * FROM ssb_internal.broker_probe(%s)", number) == []
    for state in ("NOTIFIED", "INACTIVE"):
        looking.do("SELECT ssb_internal.broker_state(%s, %s)", number, state)
    looking.do("SELECT ssb_internal.broker_forget(%s)", number)
    looking.do("SELECT ssb.deliver_due()")
    somebody.connection.rollback()
    looking.do("SELECT ssb_internal.broker_state(%s, 'INACTIVE')", number)
    assert looking.value(f"SELECT last_value & 1 FROM ssb.queue_state_{number}") == 1


def test_the_daemons_samples_leave_out_a_queue_that_is_being_dropped(
    looking: Session, another: Callable[[], Session], pair: Pair, held: Pair
) -> None:
    """They come by the connection that does all else for the daemon."""
    pair.conversing()
    held.conversing()
    drop(another(), held)
    looking.do("SELECT ssb_internal.sample_queues()")
    sampled = looking.rows(
        "SELECT q.name FROM ssb.queue AS q, ssb.queue_sample AS n WHERE q.queue_id = ANY (n.queue_ids)"
    )
    assert (pair.far,) in sampled
    assert (held.far,) not in sampled


def test_a_rollback_looks_past_a_queue_that_is_being_dropped(
    looking: Session, another: Callable[[], Session], held: Pair
) -> None:
    looking.do("SELECT ssb.create_queue('dbo.told')")
    looking.do(
        "SELECT ssb.create_service('told', 'dbo.told',"
        " ARRAY['http://schemas.microsoft.com/SQL/Notifications/PostEventNotification'])"
    )
    looking.do(
        "SELECT ssb.create_event_notification('n', '{BROKER_QUEUE_DISABLED}', 'QUEUE', 'told',"
        " 'current database', %s)",
        held.far,
    )
    drop(another(), held)
    assert looking.value("SELECT ssb_internal.tell_of_poison()") is False


def test_the_daemon_looks_past_a_poisoned_queue_that_is_being_altered(
    looking: Session, another: Callable[[], Session], pair: Pair, held: Pair
) -> None:
    looking.send(held.dialog(session=looking), held.request, "poison")
    roll_back(looking, held.far, 5)
    falls_due(looking, pair)
    somebody = another()
    somebody.do("SELECT ssb.alter_queue(%s, retention => true)", held.far)
    looking.do(_SWEEP)
    assert has_come(looking, pair)
    somebody.connection.rollback()
    looking.do(_SWEEP)
    assert not looking.value("SELECT is_receive_enabled FROM ssb.queue WHERE name = %s", held.far)


def test_a_lifetime_ends_although_the_far_queue_is_poisoned_and_being_altered(
    looking: Session, another: Callable[[], Session], held: Pair
) -> None:
    near = held.dialog(session=looking, lifetime=60)
    looking.send(near, held.request, "poison")
    roll_back(looking, held.far, 5)
    somebody = another()
    somebody.do("SELECT ssb.alter_queue(%s, retention => true)", held.far)
    pass_time(looking, near, 60)
    looking.do(_SWEEP)
    assert [message.type for message in looking.receive(held.near)] == [ERROR]

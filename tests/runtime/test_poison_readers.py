"""Rollbacks of several readers count in the order in which their transactions end.

Sessions in lockstep: each test says who receives, rolls back and commits, and when.
"""

from collections.abc import Callable

import psycopg
import pytest
from runtime.broker import Pair, Session, refused

pytestmark = pytest.mark.one_postgres

Another = Callable[[], Session]


def fill(session: Session, pair: Pair, messages: int, *, used: bool) -> None:
    """Messages, each of a dialog of its own; on a queue from which something was received before, or not."""
    if used:
        session.send(pair.dialog(), pair.request)
        assert len(session.receive(pair.far)) == 1
    for _ in range(messages):
        session.send(pair.dialog(), pair.request)


def take(reader: Session, queue: str) -> Session:
    """The reader has a message in hand, in an open transaction."""
    reader.do("BEGIN")
    assert len(reader.receive(queue, 1)) == 1
    return reader


def fail(session: Session, queue: str, times: int = 1) -> None:
    for _ in range(times):
        take(session, queue).rollback()


def is_open(session: Session, queue: str) -> bool:
    found = session.value(
        "SELECT is_receive_enabled FROM sys.service_queues WHERE 'dbo.' || name = %s", queue
    )
    return bool(found)


@pytest.mark.parametrize("used", [False, True])
def test_one_reader_is_stopped_by_the_fifth(session: Session, pair: Pair, used: bool) -> None:
    fill(session, pair, 3, used=used)
    fail(session, pair.far, 4)
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("number", [2, 4, 8, 16])
def test_readers_that_always_fail(
    session: Session, another: Another, pair: Pair, number: int, used: bool
) -> None:
    """Where something was received before, nobody can tell whether the very first rollback came last."""
    fill(session, pair, number, used=used)
    readers = [take(another(), pair.far) for _ in range(number)]
    ended = 0
    with refused(9617):
        while ended < 100:
            reader = readers[ended % number]
            reader.rollback()
            ended += 1
            take(reader, pair.far)
    assert ended == (6 if used else 5)


@pytest.mark.parametrize("used", [False, True])
def test_a_slow_reader_from_before_the_first_rollback_resets_when_it_commits(
    session: Session, another: Another, pair: Pair, used: bool
) -> None:
    fill(session, pair, 4, used=used)
    # Not the first message: behind one that is held, those tried before are passed for a while.
    take(session, pair.far)
    slow = take(another(), pair.far)
    session.rollback()
    fail(session, pair.far, 2)
    slow.commit()
    fail(session, pair.far, 4)
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


def test_a_slow_reader_that_began_among_the_failing_resets_when_it_commits(
    session: Session, another: Another, pair: Pair
) -> None:
    fill(session, pair, 4, used=True)
    fail(session, pair.far, 2)
    slow = take(another(), pair.far)
    fail(session, pair.far, 2)
    slow.commit()
    fail(session, pair.far, 4)
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


def test_those_that_roll_back_after_a_commit_count_though_they_began_before(
    session: Session, another: Another, pair: Pair
) -> None:
    fill(session, pair, 8, used=True)
    fail(session, pair.far, 2)
    readers = [take(another(), pair.far) for _ in range(5)]
    take(session, pair.far).commit()
    for reader in readers[:4]:
        reader.rollback()
    assert is_open(session, pair.far)
    readers[4].rollback()
    assert not is_open(session, pair.far)


def test_a_commit_after_the_fifth_is_too_late(session: Session, another: Another, pair: Pair) -> None:
    fill(session, pair, 8, used=True)
    fail(session, pair.far, 2)
    take(session, pair.far).commit()
    readers = [take(another(), pair.far) for _ in range(6)]
    for reader in readers[:5]:
        reader.rollback()
    readers[5].commit()
    assert not is_open(session, pair.far)
    with refused(9617):
        session.receive(pair.far)


def test_the_first_does_not_count_once_others_are_seen(
    session: Session, another: Another, pair: Pair
) -> None:
    fill(session, pair, 4, used=True)
    fail(session, pair.far, 2)
    take(another(), pair.far)
    fail(session, pair.far, 3)
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


def test_a_transaction_under_way_counts_once_however_often_it_received(
    session: Session, another: Another, pair: Pair
) -> None:
    fill(session, pair, 8, used=True)
    several = another()
    take(session, pair.far)
    several.do("BEGIN")
    for _ in range(3):
        with several.connection.transaction():
            assert len(several.receive(pair.far, 1)) == 1
    session.rollback()
    fail(session, pair.far, 3)
    several.rollback()
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


def test_back_to_a_savepoint_and_commit_resets(session: Session, another: Another, pair: Pair) -> None:
    fill(session, pair, 4, used=True)
    fail(session, pair.far, 4)
    other = another()
    other.do("BEGIN; SAVEPOINT a")
    assert len(other.receive(pair.far, 1)) == 1
    other.do("ROLLBACK TO a")
    other.commit()
    fail(session, pair.far, 4)
    assert is_open(session, pair.far)


def test_back_to_a_savepoint_and_received_again_is_one_attempt(
    session: Session, another: Another, pair: Pair
) -> None:
    fill(session, pair, 4, used=True)
    fail(session, pair.far, 3)
    other = another()
    other.do("BEGIN")
    for _ in range(4):
        other.do("SAVEPOINT a")
        assert len(other.receive(pair.far, 1)) == 1
        other.do("ROLLBACK TO a")
    assert is_open(session, pair.far)
    other.rollback()
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_other_isolation_levels_count_too(session: Session, another: Another, pair: Pair, level: str) -> None:
    fill(session, pair, 3, used=True)
    reader = another()
    for _ in range(5):
        assert is_open(session, pair.far)
        reader.do(f"BEGIN ISOLATION LEVEL {level}")
        assert len(reader.receive(pair.far, 1)) == 1
        reader.rollback()
    reader.do(f"BEGIN ISOLATION LEVEL {level}")
    with refused(9617):
        reader.receive(pair.far, 1)


def test_a_sender_is_no_receiver(session: Session, another: Another, pair: Pair) -> None:
    """Neither is its rollback counted, nor does its commit reset, though it saw the queue's state."""
    fill(session, pair, 3, used=True)
    dialogs = [pair.dialog() for _ in range(2)]
    loser, winner = another(), another()
    for sender, dialog in zip((loser, winner), dialogs, strict=True):
        sender.do("BEGIN")
        sender.send(dialog, pair.request)
    fail(session, pair.far, 3)
    loser.rollback()
    winner.commit()
    fail(session, pair.far)
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


def test_an_empty_receive_of_a_transaction_that_wrote_is_no_attempt(
    session: Session, another: Another, pair: Pair
) -> None:
    fill(session, pair, 1, used=True)
    failing, empty = take(another(), pair.far), another()
    empty.do("BEGIN; CREATE TEMPORARY TABLE t (n integer)")
    assert empty.receive(pair.far) == []
    failing.rollback()
    fail(session, pair.far, 4)
    empty.rollback()
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


def test_the_limit_of_the_queue_holds_for_several_readers(
    session: Session, another: Another, pair: Pair
) -> None:
    fill(session, pair, 4, used=True)
    session.do("SELECT ssb.alter_queue(%s, max_rollbacks => 3)", pair.far)
    fail(session, pair.far, 2)
    slow = take(another(), pair.far)
    slow.commit()
    readers = [take(another(), pair.far) for _ in range(3)]
    readers[0].rollback()
    readers[1].rollback()
    assert is_open(session, pair.far)
    readers[2].rollback()
    assert not is_open(session, pair.far)


def test_with_quarantine_a_commit_between_resets_too(session: Session, another: Another, pair: Pair) -> None:
    fill(session, pair, 4, used=True)
    session.do("SELECT ssb.alter_queue(%s, quarantine => true)", pair.far)
    fail(session, pair.far, 2)
    slow = take(another(), pair.far)
    fail(session, pair.far, 2)
    slow.commit()
    fail(session, pair.far, 4)
    assert session.value("SELECT count(*) FROM ssb.quarantined_group") == 0
    fail(session, pair.far)
    assert len(session.receive(pair.far, 1)) == 1
    assert session.column(
        "SELECT g.rollbacks FROM ssb.quarantined_group AS g JOIN ssb.queue AS q USING (queue_id)"
        " WHERE q.name = %s",
        pair.far,
    ) == [5]
    assert is_open(session, pair.far)


def test_handling_switched_off_forgets_what_is_on_record(session: Session, pair: Pair) -> None:
    fill(session, pair, 2, used=True)
    fail(session, pair.far, 3)
    session.do("SELECT ssb.alter_queue(%s, poison_message_handling => false)", pair.far)
    fail(session, pair.far, 9)
    assert (
        session.value(
            "SELECT ssb_internal.queue_state(state_sequence) FROM ssb.queue WHERE name = %s", pair.far
        )
        == 0
    )
    session.do("SELECT ssb.alter_queue(%s, poison_message_handling => true)", pair.far)
    assert len(session.receive(pair.far, 1)) == 1
    assert is_open(session, pair.far)


def test_switched_on_again_pardons_those_under_way(session: Session, another: Another, pair: Pair) -> None:
    fill(session, pair, 8, used=True)
    fail(session, pair.far, 2)
    readers = [take(another(), pair.far) for _ in range(5)]
    for reader in readers[:4]:
        reader.rollback()
    assert not is_open(session, pair.far)
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    readers[4].rollback()
    fail(session, pair.far, 4)
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


def test_a_rollback_after_a_long_good_time_is_the_first_of_a_row(session: Session, pair: Pair) -> None:
    fill(session, pair, 40, used=True)
    for _ in range(2):
        fail(session, pair.far, 4)
        for _ in range(17):
            take(session, pair.far).commit()
        assert (
            session.value(
                "SELECT ssb_internal.queue_state(state_sequence) FROM ssb.queue WHERE name = %s", pair.far
            )
            == 0
        )
    fail(session, pair.far, 4)
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


@pytest.mark.long
def test_more_readers_than_can_be_written_down(session: Session, another: Another, pair: Pair) -> None:
    fill(session, pair, 80, used=True)
    fail(session, pair.far, 2)
    take(session, pair.far).commit()
    readers = [take(another(), pair.far) for _ in range(70)]
    for reader in reversed(readers[62:]):
        reader.rollback()
    assert is_open(session, pair.far)
    for reader in readers[:5]:
        reader.rollback()
    assert not is_open(session, pair.far)


def test_nothing_stays_on_record_of_a_queue_that_is_dropped(session: Session, pair: Pair) -> None:
    fill(session, pair, 2, used=True)
    fail(session, pair.far, 3)
    queue_id = session.value("SELECT queue_id FROM ssb.queue WHERE name = %s", pair.far)
    on_record = "SELECT count(*) FROM ssb_internal.attempts_on_record(%s)"
    assert session.value(on_record, queue_id) == 1
    session.do("SELECT ssb.drop_service(%s), ssb.drop_queue(%s)", pair.target, pair.far)
    assert session.value(on_record, queue_id) == 0


def test_a_pardon_of_another_server_does_not_last(session: Session, pair: Pair) -> None:
    fill(session, pair, 3, used=True)
    session.do(
        "UPDATE ssb.queue SET attempts_since = pg_current_xact_id()::text::bigint + 1000000 WHERE name = %s",
        pair.far,
    )
    fail(session, pair.far, 4)
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


def test_numbers_of_another_server_say_nothing(session: Session, pair: Pair) -> None:
    """As a restored dump leaves them: transactions that this server has not seen yet."""
    fill(session, pair, 3, used=True)
    fail(session, pair.far, 2)
    session.do(
        "SELECT setval(ssb_internal.attempt_sequence(60), (q.queue_id::bigint << 32)"
        " | ((pg_current_xact_id()::text::bigint + 1000000) & 4294967295)),"
        " setval('ssb.attempts_in_use', pg_sequence_last_value('ssb.attempts_in_use') | (1::bigint << 59))"
        " FROM ssb.queue AS q WHERE q.name = %s",
        pair.far,
    )
    fail(session, pair.far, 2)
    assert is_open(session, pair.far)
    fail(session, pair.far)
    assert not is_open(session, pair.far)


def test_a_role_that_may_only_receive_counts_like_any_other(
    session: Session, another: Another, pair: Pair
) -> None:
    fill(session, pair, 3, used=True)
    role = "reader_" + pair.far.removeprefix("dbo.")
    session.do(f'CREATE ROLE "{role}"; GRANT USAGE ON SCHEMA ssb TO "{role}"')
    try:
        session.do("SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', %s, %s)", pair.far, [role])
        reader = another()
        reader.do(f'SET ROLE "{role}"')
        reader.commit()
        fail(reader, pair.far, 4)
        take(reader, pair.far).commit()
        fail(reader, pair.far, 4)
        assert is_open(session, pair.far)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.do("SELECT setval('ssb.attempts_in_use', 0)")
        reader.rollback()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.do("INSERT INTO ssb.attempt_end VALUES (1)")
        reader.rollback()
        fail(reader, pair.far)
        assert not is_open(session, pair.far)
        reader.connection.close()
    finally:
        session.do(f'DROP OWNED BY "{role}"; DROP ROLE "{role}"')

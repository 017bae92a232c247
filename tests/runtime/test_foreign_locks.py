"""Anybody may take an advisory lock: at worst a delay for the engine."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from runtime.broker import Pair, Session, Waiting, start_and_block
from runtime.test_rotation import fill_and_drain

from support import Database

# The keys of locks that the engine takes, or took.
MESSAGE_TYPE, SECOND, SENDERS, KEYS = 1397965377, 1397965378, 1397965379, 1397965381
HOLD = "SELECT pg_advisory_lock(%s, hashtext(%s))"
SHARE = "SELECT pg_advisory_lock_shared(%s, hashtext(%s))"


@pytest.fixture
def stranger(shared: Database, session: Session) -> Iterator[Session]:
    """An autocommit session of a role without any rights."""
    session.do("CREATE ROLE lock_stranger LOGIN")
    try:
        with psycopg.connect(shared.dsn, user="lock_stranger", autocommit=True) as connection:
            yield Session(connection)
    finally:
        session.do("DROP ROLE lock_stranger")


@pytest.fixture
def prompt(another: Callable[[], Session]) -> Session:
    """A session that fails rather than wait for long."""
    one = another()
    one.do("SET statement_timeout = '20s'")
    one.commit()
    return one


def send_new(session: Session, pair: Pair, body: bytes = b"") -> None:
    session.do(
        "SELECT ssb.send_new(%s, %s, %s, %s, %s::bytea)",
        pair.initiator,
        pair.target,
        pair.contract,
        pair.request,
        body,
    )


def test_first_messages_are_sent(session: Session, stranger: Session, prompt: Session, pair: Pair) -> None:
    stranger.do(HOLD, MESSAGE_TYPE, pair.request)
    prompt.send(pair.dialog(prompt), pair.request, "by SEND")
    send_new(prompt, pair, b"in one")
    # With a lifetime the slow path does it.
    prompt.send(pair.dialog(prompt, lifetime=600), pair.request, "with care")
    prompt.commit()
    assert [session.bodies(pair.far) for _ in range(3)] == [["by SEND"], ["in one"], ["with care"]]


@pytest.mark.parametrize("hold", [HOLD, SHARE])
def test_a_message_type_is_altered(
    session: Session, stranger: Session, prompt: Session, pair: Pair, hold: str
) -> None:
    send_new(session, pair)
    stranger.do(hold, MESSAGE_TYPE, pair.request)
    prompt.do("SELECT ssb.alter_message_type(%s, 'EMPTY')", pair.request)
    prompt.commit()
    # What is sent now is validated: the target answers with an Error.
    send_new(session, pair, b"not empty")
    assert session.column("SELECT message_type_name FROM ssb.receive(%s)", pair.near) == [
        "http://schemas.microsoft.com/SQL/ServiceBroker/Error"
    ]


@pytest.mark.parametrize("hold", [HOLD, SHARE])
def test_alter_and_senders_wait_for_each_other_all_the_same(
    session: Session, another: Callable[[], Session], stranger: Session, pair: Pair, hold: str
) -> None:
    stranger.do(hold, MESSAGE_TYPE, pair.request)
    sender, owner = another(), another()
    send_new(sender, pair)
    altering = start_and_block(
        session, owner, lambda: owner.do("SELECT ssb.alter_message_type(%s, 'EMPTY')", pair.request)
    )
    sender.commit()
    altering.result()
    sending = start_and_block(session, sender, lambda: send_new(sender, pair, b"not empty"))
    owner.commit()
    sending.result()
    sender.commit()
    assert session.column("SELECT message_type_name FROM ssb.receive(%s)", pair.near) == [
        "http://schemas.microsoft.com/SQL/ServiceBroker/Error"
    ]


def test_only_a_change_is_waited_for(
    session: Session, another: Callable[[], Session], stranger: Session, prompt: Session, pair: Pair
) -> None:
    """Senders without the advisory lock wait neither for each other nor for CREATE MESSAGE TYPE."""
    stranger.do(HOLD, MESSAGE_TYPE, pair.request)
    first = another()
    first.do("SELECT ssb.create_message_type(%s)", pair.request + "/other")
    send_new(first, pair)
    send_new(prompt, pair)
    prompt.commit()
    first.rollback()


def test_alter_obeys_the_lock_timeout(
    session: Session, another: Callable[[], Session], prompt: Session, pair: Pair
) -> None:
    sender = another()
    send_new(sender, pair)
    prompt.do("SET LOCAL lock_timeout = '100ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        prompt.do("SELECT ssb.alter_message_type(%s, 'EMPTY')", pair.request)
    prompt.rollback()
    sender.rollback()


def test_messages_rotate(session: Session, stranger: Session, prompt: Session, pair: Pair) -> None:
    session.do("TRUNCATE ssb.message_0, ssb.message_1")
    stranger.do("SELECT pg_advisory_lock(%s), pg_advisory_lock(%s, 0)", SECOND, SECOND)
    fill_and_drain(session, pair, 500)
    assert session.value("SELECT ssb.rotate_messages(60000)") == "switched"
    assert session.value("SELECT ssb.rotate_messages(60000)") == "truncated"


def test_one_session_at_a_time_rotates(session: Session, another: Callable[[], Session], pair: Pair) -> None:
    session.do("TRUNCATE ssb.message_0, ssb.message_1")
    fill_and_drain(session, pair, 500)
    first = another()
    assert first.value("SELECT ssb.rotate_messages(60000)") == "switched"
    assert session.value("SELECT ssb.rotate_messages(60000)") == "nothing"
    first.commit()
    assert session.value("SELECT ssb.rotate_messages(60000)") == "truncated"


def test_definitions_change_and_paths_are_kept(stranger: Session, prompt: Session, pair: Pair) -> None:
    stranger.do("SELECT pg_advisory_lock(%s, 0)", SECOND)
    prompt.do("SELECT ssb.create_service(%s, %s)", pair.initiator + "/other", pair.near)
    prompt.commit()
    send_new(prompt, pair)
    assert prompt.value("SELECT count(*) FROM ssb.dialog_path WHERE to_service = %s", pair.target) == 1
    prompt.commit()


def test_a_waiting_receive_finds_what_comes(
    session: Session, stranger: Session, prompt: Session, pair: Pair
) -> None:
    order = "SELECT order_sequence::oid::integer FROM ssb.queue WHERE name = %s"
    stranger.do("SELECT pg_advisory_lock(%s, %s)", SENDERS, session.value(order, pair.far))
    prompt.connection.autocommit = True
    until = "clock_timestamp() + interval '60 seconds'"
    waiting = Waiting(
        lambda: prompt.do(f"CALL ssb.wait_for_message(%s, {until}, may_commit => true)", pair.far)
    )
    assert waiting.is_running()
    send_new(session, pair, b"here")
    waiting.result()
    assert prompt.bodies(pair.far) == ["here"]


def test_keys_are_made(stranger: Session, prompt: Session) -> None:
    stranger.do("SELECT pg_advisory_lock(%s, 0)", KEYS)
    prompt.do("SELECT ssb_internal.lock_keys()")
    prompt.rollback()


@pytest.mark.parametrize("mode", ["ROW SHARE", "SHARE"])
def test_nobody_else_may_take_the_locks_that_count(stranger: Session, mode: str) -> None:
    for table in ("change_lock", "rotation", "master_key", "contract_message_usage"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), stranger.connection.transaction():
            stranger.do(f"LOCK TABLE ssb.{table} IN {mode} MODE")

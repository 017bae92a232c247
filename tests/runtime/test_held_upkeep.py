"""What the engine tidies up waits for nobody: whoever touches a row of it may keep his transaction open."""

import uuid
from collections.abc import Callable, Iterator

import psycopg
import pytest
from runtime.broker import Pair, Session

from support import Database

pytestmark = pytest.mark.one_postgres

_TRACE = "00-11111111111111111111111111111111-2222222222222222-01"


@pytest.fixture
def stranger(shared: Database, session: Session) -> Iterator[Callable[[], Session]]:
    """Sessions of a role that may connect, and no more."""
    opened = []

    def open_one() -> Session:
        opened.append(psycopg.connect(shared.dsn, user="held_stranger"))
        return Session(opened[-1])

    session.do("CREATE ROLE held_stranger LOGIN; CREATE SCHEMA held_stranger AUTHORIZATION held_stranger")
    session.commit()
    yield open_one
    for connection in opened:
        connection.close()
    session.do("DROP OWNED BY held_stranger CASCADE; DROP ROLE held_stranger")
    session.commit()


@pytest.fixture
def prompt(another: Callable[[], Session]) -> Session:
    """A session that fails rather than wait for long."""
    one = another()
    one.do("SET lock_timeout = '2s'")
    one.commit()
    return one


def test_dynamic_sql_is_translated_while_a_stranger_forgets_old_answers(
    session: Session, stranger: Callable[[], Session], prompt: Session
) -> None:
    answer = "SELECT ssb_internal.answer_translation(%s, '{SELECT 1}')"
    holder = stranger()
    holder.do(answer, uuid.uuid4())
    holder.commit()
    session.do("UPDATE ssb.translation SET made_at = clock_timestamp() - interval '1 hour'")
    session.commit()
    holder.do(answer, uuid.uuid4())
    prompt.do(answer, uuid.uuid4())
    prompt.commit()
    holder.rollback()
    prompt.do(answer, uuid.uuid4())
    prompt.commit()
    assert session.value("SELECT count(*) FROM ssb.translation") == 2
    session.do("DELETE FROM ssb.translation")


def test_the_daemon_samples_while_a_stranger_holds_a_key_of_a_dropped_table(
    session: Session, stranger: Callable[[], Session], prompt: Session
) -> None:
    holder, other = stranger(), stranger()
    holder.do("CREATE TABLE held_stranger.gone (id integer)")
    table = holder.value("SELECT 'held_stranger.gone'::regclass::oid")
    holder.do("SELECT ssb_internal.lock_key(%s, 'a')", table)
    holder.commit()
    holder.do("SELECT ssb_internal.lock_key(%s, 'a')", table)
    other.do("DROP TABLE held_stranger.gone")
    other.commit()
    prompt.do("SELECT ssb_internal.sample_queues()")
    prompt.commit()
    holder.rollback()
    prompt.do("SELECT ssb_internal.sample_queues()")
    prompt.commit()
    assert session.value("SELECT count(*) FROM ssb.key_lock WHERE table_id = %s", table) == 0


def test_the_daemon_samples_while_a_message_of_yesterday_is_received(
    session: Session, another: Callable[[], Session], prompt: Session, pair: Pair
) -> None:
    handle = pair.dialog()
    session.send(handle, pair.request, "traced")
    session.do("SELECT ssb.trace_message(%s, %s)", handle, _TRACE)
    session.do("UPDATE ssb.message_trace SET noted_at = clock_timestamp() - interval '2 days'")
    session.commit()
    receiving = another()
    receiving.do("SELECT ssb.receive(%s)", pair.far)
    assert receiving.value(
        "SELECT count(*) FROM sys.conversation_endpoints AS e CROSS JOIN LATERAL"
        " ssb.message_traces(e.conversation_handle, ARRAY(SELECT generate_series(0, 100)::bigint)) AS t"
        " WHERE e.is_initiator = 0 AND e.conversation_id ="
        " (SELECT o.conversation_id FROM sys.conversation_endpoints AS o WHERE o.conversation_handle = %s)",
        handle,
    )
    prompt.do("SELECT ssb_internal.sample_queues()")
    prompt.commit()
    receiving.rollback()


def test_what_is_due_comes_about_while_somebody_has_altered_a_poisoned_queue(
    session: Session, another: Callable[[], Session], prompt: Session, pair: Pair
) -> None:
    session.do(
        "SELECT ssb.create_queue('dbo.told'), ssb.create_service('//told', 'dbo.told',"
        " '{http://schemas.microsoft.com/SQL/Notifications/PostEventNotification}'),"
        " ssb.create_event_notification('poison_told', '{BROKER_QUEUE_DISABLED}', 'QUEUE', '//told',"
        " 'current database', %s)",
        pair.far,
    )
    waiting = pair.dialog()
    session.send(waiting, pair.request, "poison")
    for _ in range(5):
        with session.connection.transaction(force_rollback=True):
            assert session.receive(pair.far) != []
    admin = another()
    admin.do("SELECT ssb.alter_database(current_database(), 'DISABLE_BROKER')")
    prompt.do("SELECT ssb.deliver_due()")
    assert not prompt.value("SELECT ssb_internal.tell_of_poison()")
    prompt.commit()
    admin.rollback()
    assert prompt.value("SELECT ssb_internal.tell_of_poison()")
    prompt.commit()
    enabled = "SELECT is_receive_enabled::integer FROM ssb.queue WHERE name = %s"
    assert session.value(enabled, pair.far) == 0
    session.do("SELECT ssb.drop_event_notification('poison_told', 'QUEUE', %s)", pair.far)
    session.do("SELECT ssb.drop_service('//told'), ssb.drop_queue('dbo.told')")

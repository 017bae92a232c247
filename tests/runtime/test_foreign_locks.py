"""Anybody may take an advisory lock: at worst a delay for the engine."""

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from runtime.broker import TIMER, Pair, Session, Waiting, start_and_block
from runtime.test_rotation import fill_and_drain
from runtime.test_time import pass_time

from support import Database

pytestmark = pytest.mark.one_postgres

# The keys of locks that the engine takes, or took.
MESSAGE_TYPE, SECOND, SENDERS, KEYS, STREAM = 1397965377, 1397965378, 1397965379, 1397965381, 1397965383
HOLD = "SELECT pg_advisory_lock(%s, hashtext(%s))"
SHARE = "SELECT pg_advisory_lock_shared(%s, hashtext(%s))"


_PATIENCE = 0.3


@pytest.fixture(scope="module", autouse=True)
def little_patience(maker: Session) -> None:
    """Who changes a definition waits for a stranger for a moment only, and not for two seconds."""
    named = "ssb_internal.lock_definition(text,boolean)"
    text = maker.value("SELECT pg_get_functiondef(%s::regprocedure)", named)
    patience, short = "nullif(v_timeout, 0), 2000), 2000)", int(_PATIENCE * 1000)
    assert text.count(patience) == 1
    maker.connection.execute(text.replace(patience, patience.replace("2000", str(short))).encode())


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


def test_first_messages_are_sent(session: Session, stranger: Session, prompt: Session, pair: Pair) -> None:
    stranger.do(HOLD, MESSAGE_TYPE, pair.request)
    prompt.send(pair.dialog(prompt), pair.request, "by SEND")
    pair.send_new(b"in one", prompt)
    # With a lifetime the slow path does it.
    prompt.send(pair.dialog(prompt, lifetime=600), pair.request, "with care")
    prompt.commit()
    assert [session.bodies(pair.far) for _ in range(3)] == [["by SEND"], ["in one"], ["with care"]]


@pytest.mark.parametrize("hold", [HOLD, SHARE])
def test_a_service_changes_and_first_messages_are_sent_to_it(
    session: Session, stranger: Session, prompt: Session, pair: Pair, hold: str
) -> None:
    pair.send_new(b"which keeps the path", session)
    (key,) = session.column("SELECT 'service ' || service_id FROM ssb.service WHERE name = %s", pair.target)
    stranger.do(hold, MESSAGE_TYPE, key)
    prompt.send(pair.dialog(prompt), pair.request, "by SEND")
    pair.send_new(b"in one", prompt)
    prompt.send(pair.dialog(prompt, lifetime=600), pair.request, "with care")
    prompt.commit()
    other = pair.far + "_too"
    prompt.do("SELECT ssb.create_queue(%s)", other)
    prompt.do("SELECT ssb.alter_service(%s, queue => %s)", pair.target, other)
    prompt.commit()
    received = [body for _ in range(4) for body in session.bodies(other)]
    assert received == ["which keeps the path", "by SEND", "in one", "with care"]
    prompt.do("SELECT ssb.drop_service(%s)", pair.target)
    prompt.commit()


@pytest.mark.long
@pytest.mark.parametrize("how", ["path", "no path", "send_new", "send_new elsewhere"])
def test_dialogs_are_begun_from_a_service_and_whoever_drops_it_waits(
    session: Session,
    another: Callable[[], Session],
    stranger: Session,
    prompt: Session,
    pair: Pair,
    how: str,
) -> None:
    elsewhere = f"{pair.target}/elsewhere"
    session.do("SELECT ssb.create_route(%s, 'TCP://there.example:4022', %s)", elsewhere, elsewhere)
    far = elsewhere if how == "send_new elsewhere" else pair.target
    if how != "no path":
        for _ in range(2):
            pair.send_new(b"which keeps the path", session, far=far)
    key = session.value("SELECT 'service ' || service_id FROM ssb.service WHERE name = %s", pair.initiator)
    stranger.do(SHARE, MESSAGE_TYPE, key)
    if how.startswith("send_new"):
        pair.send_new(b"job", prompt, far=far)
    else:
        pair.dialog(prompt)
    owner = another()
    dropping = start_and_block(
        session, owner, lambda: owner.do("SELECT ssb.drop_service(%s)", pair.initiator)
    )
    time.sleep(3 * _PATIENCE)  # longer than a stranger is waited for
    assert dropping.is_running()
    prompt.commit()
    dropping.result()
    owner.commit()
    left = "SELECT count(*) FROM ssb.conversation_endpoint WHERE service_name = %s AND closed_at IS NULL"
    assert session.value(left, pair.initiator) == 0


@pytest.mark.parametrize("hold", [HOLD, SHARE])
def test_a_message_type_is_altered(
    session: Session, stranger: Session, prompt: Session, pair: Pair, hold: str
) -> None:
    pair.send_new(b"", session)
    stranger.do(hold, MESSAGE_TYPE, pair.request)
    prompt.do("SELECT ssb.alter_message_type(%s, 'EMPTY')", pair.request)
    prompt.commit()
    # What is sent now is validated: the target answers with an Error.
    pair.send_new(b"not empty", session)
    assert session.column("SELECT message_type_name FROM ssb.receive(%s)", pair.near) == [
        "http://schemas.microsoft.com/SQL/ServiceBroker/Error"
    ]


@pytest.mark.parametrize("hold", [HOLD, SHARE])
def test_alter_and_senders_wait_for_each_other_all_the_same(
    session: Session, another: Callable[[], Session], stranger: Session, pair: Pair, hold: str
) -> None:
    stranger.do(hold, MESSAGE_TYPE, pair.request)
    sender, owner = another(), another()
    pair.send_new(b"", sender)
    altering = start_and_block(
        session, owner, lambda: owner.do("SELECT ssb.alter_message_type(%s, 'EMPTY')", pair.request)
    )
    sender.commit()
    altering.result()
    sending = start_and_block(session, sender, lambda: pair.send_new(b"not empty", sender))
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
    pair.send_new(b"", first)
    pair.send_new(b"", prompt)
    prompt.commit()
    first.rollback()


def test_alter_obeys_the_lock_timeout(
    session: Session, another: Callable[[], Session], prompt: Session, pair: Pair
) -> None:
    sender = another()
    pair.send_new(b"", sender)
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
    pair.send_new(b"", prompt)
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
    pair.send_new(b"here", session)
    waiting.result()
    assert prompt.bodies(pair.far) == ["here"]


def test_timers_come(session: Session, stranger: Session, prompt: Session, pair: Pair) -> None:
    near = pair.dialog()
    session.do("SELECT ssb.begin_conversation_timer(%s, 60)", near)
    pass_time(session, near, 60)
    order = "SELECT order_sequence::oid::integer FROM ssb.queue WHERE name = %s"
    stranger.do("SELECT pg_advisory_lock(%s, %s)", SENDERS, session.value(order, pair.near))
    assert [message.type for message in prompt.receive(pair.near)] == [TIMER]


def test_keys_are_made(stranger: Session, prompt: Session) -> None:
    stranger.do("SELECT pg_advisory_lock(%s, 0)", KEYS)
    prompt.do("SELECT ssb_internal.lock_keys()")
    prompt.rollback()


def test_a_streams_name_is_had(session: Session, stranger: Session, prompt: Session) -> None:
    next_number = int(session.value("SELECT last_value + 1 FROM ssb.claim_id"))
    for number in range(next_number, next_number + 3):
        stranger.do("SELECT pg_advisory_lock(%s, %s)", STREAM, number)
    prompt.do("SELECT FROM ssb_internal.run_stream('orders')")
    prompt.commit()
    # The one who has it is named: the stranger's locks prove nothing.
    assert session.value("SELECT pid FROM ssb_internal.run_stream('orders')") == prompt.value(
        "SELECT pg_backend_pid()"
    )


@pytest.mark.parametrize("mode", ["ROW SHARE", "SHARE"])
def test_nobody_else_may_take_the_locks_that_count(stranger: Session, mode: str) -> None:
    for table in (
        "ssb_locks.definitions",
        "ssb_locks.rotation",
        "ssb_locks.master_keys",
        "ssb.contract_message_usage",
        "ssb.named_lock",
        "ssb.begun_group",
        "ssb.key_lock",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), stranger.connection.transaction():
            stranger.do(f"LOCK TABLE {table} IN {mode} MODE")


def hold_what_is_found(session: Session, stranger: Session) -> int:
    """In a transaction of the stranger's that goes on: PREPARE asks for no right. Returns how many he has."""
    stranger.do("BEGIN")
    tables = session.column(
        "SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relkind IN ('r', 'S')"
        " AND c.relnamespace IN (SELECT n.oid FROM pg_namespace AS n WHERE n.nspname ~ '^ssb') ORDER BY 1"
    )
    for number, table in enumerate(tables):
        for name, statement in (
            (f"held_{number}_write", f"WITH w AS (DELETE FROM {table}) SELECT"),
            (f"held_{number}_lock", f"SELECT FROM {table} FOR UPDATE"),
        ):
            stranger.do("SAVEPOINT s")
            try:
                stranger.do(f"PREPARE {name} AS {statement}")
            except psycopg.errors.InsufficientPrivilege:
                stranger.do("ROLLBACK TO s")
    return len(stranger.column("SELECT DISTINCT relation FROM pg_locks WHERE pid = pg_backend_pid()"))


def test_who_prepares_statements_about_all_tables_holds_up_nobody(
    session: Session, stranger: Session, prompt: Session, pair: Pair
) -> None:
    session.do(
        "SELECT ssb.create_principal('lock_member', 'USER'), ssb.create_principal('lock_team', 'ROLE')"
    )
    session.commit()
    assert hold_what_is_found(session, stranger) > 60
    try:
        stranger.do(HOLD, MESSAGE_TYPE, pair.request)
        for name in (pair.initiator, pair.target):
            stranger.do(
                HOLD,
                MESSAGE_TYPE,
                session.value("SELECT 'service ' || service_id FROM ssb.service WHERE name = %s", name),
            )
        prompt.send(pair.dialog(prompt), pair.request, "by SEND")
        pair.send_new(b"in one", prompt)
        prompt.send(pair.dialog(prompt, lifetime=600), pair.request, "with care")
        assert prompt.value("SELECT ssb_internal.definition_is_settled()")
        prompt.commit()
        assert [prompt.bodies(pair.far) for _ in range(3)] == [["by SEND"], ["in one"], ["with care"]]
        prompt.do("SELECT ssb_internal.lock_keys()")
        prompt.do("SELECT ssb.create_endpoint('lock_endpoint', 'STOPPED', 4022)")
        prompt.do("SELECT ssb.add_member('lock_team', 'lock_member')")
        prompt.rollback()
        assert prompt.value("SELECT ssb.rotate_messages(0)") != "nothing"
        prompt.commit()
    finally:
        stranger.do("ROLLBACK; SELECT pg_advisory_unlock_all()")
        session.do(
            "SELECT ssb.drop_principal('lock_team', 'ROLE'), ssb.drop_principal('lock_member', 'USER')"
        )
        session.commit()


def _change_of(session: Session, pair: Pair, kind: str) -> tuple[str, str, str]:
    """What senders share of a pair's message type or service, a statement that changes it, and its name."""
    if kind == "service":
        key = session.value("SELECT 'service ' || service_id FROM ssb.service WHERE name = %s", pair.target)
        return key, "SELECT ssb.drop_service(%s)", pair.target
    return pair.request, "SELECT ssb.alter_message_type(%s, 'EMPTY')", pair.request


def _send_for_seconds(prompt: Session, others: Pair) -> None:
    """New dialogs of another pair, as long as several tries of a lock take."""
    for _ in range(8):
        prompt.send(others.dialog(prompt), others.request, "by SEND")
        others.send_new(b"in one", prompt)
        prompt.commit()
        time.sleep(0.5)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["message type", "service"])
def test_others_send_while_an_owner_changes_what_is_his_and_goes_on(
    session: Session,
    another: Callable[[], Session],
    stranger: Session,
    prompt: Session,
    pair: Pair,
    kind: str,
) -> None:
    """With an advisory lock he would bring himself to the lock of a table that all read."""
    others = Pair(session)
    key, change, name = _change_of(session, pair, kind)
    table = "service" if kind == "service" else "message_type"
    session.do(f"UPDATE ssb.{table} SET owner = 'lock_stranger' WHERE name = %s", name)
    session.commit()
    owner = another()
    owner.do("SET ROLE lock_stranger")
    stranger.do(SHARE, MESSAGE_TYPE, key)
    try:
        changing = start_and_block(session, owner, lambda: owner.do(change, name))
        _send_for_seconds(prompt, others)
        assert changing.is_running()
    finally:
        stranger.do("SELECT pg_advisory_unlock_all()")
    changing.result()
    owner.rollback()
    owner.do("RESET ROLE")
    owner.commit()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["message type", "service"])
def test_others_send_while_a_change_waits_for_one_who_reads(
    session: Session,
    another: Callable[[], Session],
    stranger: Session,
    prompt: Session,
    pair: Pair,
    kind: str,
) -> None:
    """A lock that is waited for keeps others out, too: not for ever."""
    key, change, name = _change_of(session, pair, kind)
    others = Pair(session)
    session.commit()
    owner = another()
    try:
        stranger.do(HOLD, MESSAGE_TYPE, key)
        another().do(f"SELECT FROM ssb.{'dialog_path' if kind == 'service' else 'contract_message_usage'}")
        changing = start_and_block(session, owner, lambda: owner.do(change, name))
        _send_for_seconds(prompt, others)
        assert changing.is_running()
    finally:
        session.do("SELECT pg_cancel_backend(%s)", owner.pid)
        stranger.do("SELECT pg_advisory_unlock_all()")
    with pytest.raises(psycopg.errors.QueryCanceled):
        changing.result()


# The advisory locks that the engine takes, by the file that takes them: how many calls, and where it is shown
# what a holder can do.
TAKEN = {
    "runtime_sql/activation/broker_state.sql": (
        3,
        "daemon/test_foreign_locks.py: the leader's lock, the fence",
    ),
    # Tried, and not waited for, as by SEND; whoever keeps it is met by a RECEIVE that waits.
    "runtime_sql/bulk/answer_claim.sql": (1, "here: a waiting RECEIVE"),
    "runtime_sql/bulk/claim_messages.sql": (
        1,
        "bulk/test_claims.py, runtime/test_security_definer.py: a claim's lock",
    ),
    "runtime_sql/bulk/claims.sql": (
        1,
        "bulk/test_claims.py, runtime/test_security_definer.py: a claim's lock",
    ),
    "runtime_sql/bulk/streams.sql": (1, "here: a stream's name"),
    # Of a claim that is alive, and then for three seconds at most.
    "runtime_sql/conversations/conversation_groups.sql": (2, "bulk/test_claims.py: MOVE CONVERSATION"),
    "runtime_sql/conversations/deliver.sql": (2, "here: first messages, a waiting RECEIVE"),
    "runtime_sql/conversations/deliver_due.sql": (1, "here: timers"),
    "runtime_sql/conversations/dialog_fast_path.sql": (4, "here: first messages, a waiting RECEIVE"),
    "runtime_sql/conversations/end_conversation.sql": (1, "here: ENDs and sets"),
    "runtime_sql/conversations/end_conversations.sql": (1, "here: ENDs and sets"),
    "runtime_sql/conversations/send.sql": (1, "here: a waiting RECEIVE"),
    "runtime_sql/conversations/send_new.sql": (4, "here: first messages, a waiting RECEIVE"),
    "runtime_sql/conversations/send_retained.sql": (1, "here: a waiting RECEIVE"),
    "runtime_sql/conversations/send_sets.sql": (2, "here: ENDs and sets"),
    "runtime_sql/conversations/wait_for_message.sql": (1, "here: a waiting RECEIVE"),
    "runtime_sql/definitions/message_types.sql": (2, "here: a message type is altered, a service changes"),
    "runtime_sql/functions/metadata/session_functions.sql": (
        8,
        "sp_getapplock: the user's own, with a timeout",
    ),
    "runtime_sql/installer.py": (1, "upgrade/test_installing.py"),
    "runtime_sql/session/temporary_tables.sql": (1, "a try: nobody waits for it"),
    "runtime_sql/session/open_batches.sql": (1, "end_to_end/test_interactive.py: the shell's transaction"),
    "runtime_sql/transport/departures.sql": (2, "daemon/test_departures.py: who tells nobody"),
    "runtime_sql/transport/incoming.sql": (3, "daemon/test_foreign_locks.py: the transport's lock"),
    "runtime_sql/transport/incoming_sets.sql": (4, "here: messages of other instances"),
    "runtime_sql/transport/remote_routing.sql": (1, "here: dialogs are begun from a service"),
    "server/open_transaction.py": (1, "end_to_end/test_interactive.py: the shell's transaction"),
}


_FOLDERS = ("runtime_sql", "daemon", "server", "bulk", "client", "observe", "cli", "security", "compiler")
# As a call, or as a name that compiled text will call.
_TAKES = re.compile(r"\bpg_(?:try_)?advisory_(?:xact_)?lock(?:_shared)?(?:\(|[\"'])")


def test_every_advisory_lock_is_listed() -> None:
    root = Path(__file__).parents[2]
    files = [
        path for folder in _FOLDERS for path in (root / folder).rglob("*") if path.suffix in (".py", ".sql")
    ]
    counts = {
        path.relative_to(root).as_posix(): len(_TAKES.findall(path.read_text("utf-8")))
        for path in files
        if path.parent.name != "migrations"
    }
    taken = {path: count for path, count in counts.items() if count}
    assert taken == {path: count for path, (count, _) in TAKEN.items()}


def test_ends_and_sets(session: Session, stranger: Session, prompt: Session, pair: Pair) -> None:
    order = "SELECT order_sequence::oid::integer FROM ssb.queue WHERE name = %s"
    handle, far = pair.conversing()
    for queue in (pair.near, pair.far):
        stranger.do("SELECT pg_advisory_lock(%s, %s)", SENDERS, session.value(order, queue))
    prompt.do(
        "SELECT ssb.send_batch(ARRAY[%s, %s], ARRAY[%s, %s], ARRAY['a', 'b']::bytea[])",
        handle,
        handle,
        pair.request,
        pair.request,
    )
    prompt.end(far)
    prompt.commit()
    assert [message.type.rpartition("/")[2] for message in session.receive(pair.near)] == ["EndDialog"]


def bring(session: Session, pair: Pair, *conversations: uuid.UUID, number: int = 0) -> list[int]:
    """A message of each, as another instance's daemon brings them. Returns which comes next of each."""
    dialogs = [
        {
            "conversation_id": str(conversation),
            "is_initiator": True,
            "key": str(conversation),
            "to_service": pair.target,
            "from_service": "//Remote",
            "from_instance": str(uuid.UUID(int=1)),
            "contract": pair.contract,
            "is_encrypted": False,
        }
        for conversation in conversations
    ]
    count = len(conversations)
    values = [json.dumps(dialogs), list(range(count)), [number] * count, [pair.request] * count]
    (row,) = session.rows(
        "SELECT next_numbers, others FROM ssb_internal.take_from_peer(%s::jsonb, %s::integer[], %s::bigint[],"
        " %s::text[], %s::text[], %s::bytea[])",
        *values,
        ["message"] * count,
        [b"brought"] * count,
    )
    next_numbers, others = row
    for one in others or []:
        next_numbers[one["place"]] = one["next_number"]
    found: list[int] = next_numbers
    return found


@pytest.fixture
def endpoint(session: Session) -> Iterator[None]:
    """What lets messages of other instances in."""
    session.do("SELECT ssb.create_endpoint('e', 'STARTED', 4022)")
    yield
    session.do("SELECT ssb.drop_endpoint('e')")


@pytest.mark.usefixtures("endpoint")
def test_messages_of_other_instances_are_taken(
    session: Session, stranger: Session, prompt: Session, pair: Pair
) -> None:
    order = "SELECT order_sequence::oid::integer FROM ssb.queue WHERE name = %s"
    one, two = uuid.uuid4(), uuid.uuid4()
    stranger.do("SELECT pg_advisory_lock(%s, %s)", SENDERS, session.value(order, pair.far))
    stranger.do(HOLD, MESSAGE_TYPE, pair.request)
    for number in range(2):
        assert bring(prompt, pair, one, two, number=number) == [number + 1] * 2
    assert bring(prompt, pair, one, number=2) == [3]
    prompt.commit()
    assert sorted(session.bodies(pair.far) for _ in range(3)) == [[], ["brought"] * 2, ["brought"] * 3]


@pytest.mark.usefixtures("endpoint")
def test_a_dialog_that_two_bring_begins_once(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    one, two = uuid.uuid4(), uuid.uuid4()
    first, second = another(), another()
    assert bring(first, pair, one, two) == [1, 1]
    bringing = start_and_block(session, second, lambda: bring(second, pair, two, one))
    first.commit()
    assert bringing.result() == [1, 1]
    second.commit()
    sides = "SELECT count(*) FROM ssb.conversation_endpoint WHERE conversation_id = ANY (%s)"
    assert session.value(sides, [one, two]) == 2
    assert [session.bodies(pair.far) for _ in range(3)] == [["brought"], ["brought"], []]


def test_a_group_that_two_begin_is_one(
    session: Session, another: Callable[[], Session], stranger: Session, pair: Pair
) -> None:
    group = uuid.uuid4()
    first, second = another(), another()
    stranger.do(
        "SELECT pg_advisory_lock(hashtextextended(%s, s.id)) FROM generate_series(65536, 66000) AS s(id)",
        str(group),
    )
    one = pair.dialog(first, related_conversation_group=group)
    beginning = start_and_block(
        session, second, lambda: pair.dialog(second, related_conversation_group=group)
    )
    first.commit()
    other = beginning.result()
    second.commit()
    leaders = (
        "SELECT count(DISTINCT lock_id) FROM ssb.conversation_endpoint WHERE conversation_handle = ANY (%s)"
    )
    assert session.value(leaders, [one, other]) == 1


def test_a_name_is_free_after_a_rollback(session: Session, another: Callable[[], Session]) -> None:
    first = another()
    first.do("SELECT ssb_internal.lock_name('n'); SAVEPOINT s; SELECT ssb_internal.lock_name('m')")
    first.do("SELECT ssb_internal.lock_name('n'); ROLLBACK TO s")
    session.do("SELECT ssb_internal.lock_name('m')")
    first.rollback()
    session.do("SELECT ssb_internal.lock_name('n')")


@pytest.fixture
def unique(session: Session) -> Iterator[str]:
    """A table with IGNORE_DUP_KEY = ON."""
    session.do(
        "CREATE TABLE public.unique_key (k integer UNIQUE);"
        " CREATE TRIGGER leave_out BEFORE INSERT ON public.unique_key FOR EACH ROW"
        " EXECUTE FUNCTION sys.leave_out_duplicate('k')"
    )
    yield "public.unique_key"
    session.do("DROP TABLE public.unique_key")


def test_a_key_that_two_insert_goes_in_once(
    session: Session, another: Callable[[], Session], stranger: Session, unique: str
) -> None:
    stranger.do(
        "SELECT pg_advisory_lock(%s::regclass::oid::integer, s) FROM generate_series(0, 1023) AS s(s)", unique
    )
    first, second = another(), another()
    first.do("INSERT INTO public.unique_key VALUES (1)")
    inserting = start_and_block(
        session, second, lambda: second.do("INSERT INTO public.unique_key VALUES (1), (2)")
    )
    first.commit()
    inserting.result()
    second.commit()
    assert session.column("SELECT k FROM public.unique_key ORDER BY k") == [1, 2]


def test_a_key_that_two_search_for(
    session: Session, another: Callable[[], Session], stranger: Session, unique: str
) -> None:
    """As HOLDLOCK does: the numbers that were once its locks are anybody's."""
    stranger.do("SELECT pg_advisory_lock(1397965390, s) FROM generate_series(0, 1023) AS s(s)")
    lock = "SELECT sys.lock_key(%s, %s)"
    first, second, third = another(), another(), another()
    first.do(lock, unique, "1")
    searching = start_and_block(session, second, lambda: second.do(lock, unique, "1"))
    third.do(lock, unique, "2")
    first.rollback()
    searching.result()


def test_a_temporary_tables_keys_are_its_sessions_alone(session: Session) -> None:
    session.do("CREATE TEMPORARY TABLE own (k integer UNIQUE); SELECT sys.lock_key('own', '1')")
    assert session.value("SELECT count(*) FROM ssb.key_lock WHERE table_id = 'own'::regclass") == 0


def test_keys_are_locked_by_those_who_insert(session: Session, stranger: Session, unique: str) -> None:
    lock = "SELECT ssb_internal.lock_key(%s::regclass, '1')"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        stranger.do(lock, unique)
    session.do("GRANT INSERT (k) ON public.unique_key TO lock_stranger")
    stranger.do(lock, unique)
    session.do("REVOKE INSERT (k) ON public.unique_key FROM lock_stranger")
    session.do("GRANT DELETE ON public.unique_key TO lock_stranger")
    stranger.do(lock, unique)
    session.do("REVOKE DELETE ON public.unique_key FROM lock_stranger")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        stranger.do(lock, unique)
    # What inserts for him has the table's lock, whoever the session is.
    session.do(
        "CREATE FUNCTION public.insert_for_him() RETURNS void LANGUAGE sql SECURITY DEFINER"
        " AS 'INSERT INTO public.unique_key VALUES (1), (1)'"
    )
    stranger.do("SELECT public.insert_for_him()")
    session.do("DROP FUNCTION public.insert_for_him")
    assert session.column("SELECT k FROM public.unique_key") == [1]


@pytest.mark.long
def test_the_locks_of_a_statement_that_is_only_prepared_are_no_right(
    session: Session, stranger: Session, prompt: Session, unique: str
) -> None:
    session.do("GRANT SELECT ON public.unique_key TO lock_stranger")
    session.commit()
    try:
        stranger.do(f"BEGIN; PREPARE for_its_lock AS INSERT INTO {unique} VALUES (1)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), stranger.connection.transaction():
            stranger.do("SELECT ssb_internal.lock_key(%s::regclass, '1')", unique)
        with pytest.raises(psycopg.errors.InsufficientPrivilege), stranger.connection.transaction():
            stranger.do("INSERT INTO ssb.key_lock (table_id, slot) VALUES (%s::regclass, 1)", unique)
        prompt.do("INSERT INTO public.unique_key SELECT generate_series(1, 5000)")
        prompt.commit()
        # What others have locked nobody sees who may not.
        assert stranger.rows("SELECT table_id, slot FROM ssb.key_lock FOR UPDATE") == []
    finally:
        stranger.do("ROLLBACK")


@pytest.mark.parametrize("through", ["view", "view of a view", "partitioned table", "rule"])
def test_keys_are_locked_by_those_who_insert_through_something_else(
    session: Session, stranger: Session, unique: str, through: str
) -> None:
    session.do("GRANT SELECT ON public.unique_key TO lock_stranger")
    session.do("CREATE VIEW public.unique_view AS SELECT k FROM public.unique_key")
    session.do("CREATE VIEW public.through_view AS SELECT k FROM public.unique_view")
    session.do("CREATE TABLE public.whole (k integer) PARTITION BY RANGE (k)")
    session.do("ALTER TABLE public.whole ATTACH PARTITION public.unique_key FOR VALUES FROM (0) TO (10)")
    session.do("CREATE TABLE public.ruled (k integer)")
    session.do("CREATE RULE r AS ON INSERT TO public.ruled DO INSTEAD INSERT INTO unique_key VALUES (NEW.k)")
    table = {
        "view": "unique_view",
        "view of a view": "through_view",
        "partitioned table": "whole",
        "rule": "ruled",
    }[through]
    session.do(f"GRANT INSERT ON public.{table} TO lock_stranger")
    session.commit()
    stranger.do(f"INSERT INTO public.{table} VALUES (1), (1)")
    assert session.column("SELECT k FROM public.unique_key") == [1]
    session.do("DROP VIEW public.through_view, public.unique_view; DROP TABLE public.ruled")
    session.do("ALTER TABLE public.whole DETACH PARTITION public.unique_key; DROP TABLE public.whole")
    session.commit()


def test_a_view_of_ones_own_gives_no_right_to_lock_keys(
    session: Session, stranger: Session, unique: str
) -> None:
    session.do("CREATE SCHEMA lock_stranger AUTHORIZATION lock_stranger")
    session.commit()
    stranger.do(f"CREATE VIEW lock_stranger.v AS SELECT k FROM {unique}")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        stranger.do("SELECT ssb_internal.lock_key(%s::regclass, '1')", unique)
    session.do("DROP SCHEMA lock_stranger CASCADE")
    session.commit()


def test_what_is_locked_is_not_changed(session: Session, stranger: Session, unique: str) -> None:
    session.do("GRANT INSERT, SELECT ON public.unique_key TO lock_stranger")
    session.commit()
    stranger.do(f"INSERT INTO {unique} VALUES (1)")
    mine = "SELECT slot FROM ssb.key_lock WHERE table_id = %s::regclass"
    assert len(stranger.column(mine, unique)) == 1
    for statement in ("UPDATE ssb.key_lock SET slot = 2", "DELETE FROM ssb.key_lock"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.do(statement)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        stranger.do("INSERT INTO ssb.key_lock (table_id, slot) VALUES (%s::regclass, 1024)", unique)


def test_no_key_stays_locked_behind_its_table(session: Session) -> None:
    rows = "SELECT count(*) FROM ssb.key_lock WHERE table_id = %s"
    for kind, kept in (("TEMPORARY", 0), ("UNLOGGED", 2)):
        session.do(
            f"CREATE {kind} TABLE left_behind (k integer UNIQUE);"
            " CREATE TRIGGER leave_out BEFORE INSERT ON left_behind FOR EACH ROW"
            " EXECUTE FUNCTION sys.leave_out_duplicate('k'); INSERT INTO left_behind VALUES (1), (2), (1)"
        )
        table = session.value("SELECT 'left_behind'::regclass::oid")
        assert session.column("SELECT k FROM left_behind ORDER BY k") == [1, 2]
        session.do("SELECT ssb_internal.sample_queues()")
        assert session.value(rows, table) == kept
        session.do("DROP TABLE left_behind")
        session.do("SELECT ssb_internal.sample_queues()")
        assert session.value(rows, table) == 0


def test_the_runtimes_own_schemas_are_nobodys(session: Session) -> None:
    own = "('ssb', 'ssb_internal', 'ssb_locks', 'ssb_staging')"
    assert session.rows(f"SELECT name FROM sys.schemas WHERE name IN {own}") == []
    assert session.column("SELECT name FROM sys.tables WHERE name IN ('rotation', 'definitions')") == []

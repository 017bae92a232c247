"""Nothing of the transport waits for a transaction that somebody keeps open.

Other dialogs and other instances would wait with it.
"""

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from instances import Side

from activation import Daemon, until

pytestmark = pytest.mark.one_postgres

_REPLY = (
    "SELECT * FROM ssb.take_from_afar(jsonb_build_array(jsonb_build_object("
    "'conversation_id', %(conversation)s::uuid, 'is_initiator', false, 'key', %(key)s::uuid,"
    " 'to_service', '//Near', 'from_service', '//Far', 'contract', '//Talk', 'is_encrypted', false)),"
    " '{{0}}', '{{{number}}}', '{{//Answer}}', '{{message}}', '{{a}}')"
)
_HOLDS = {
    "taken away": "SELECT ssb.end_conversation(%(handle)s, cleanup => true)",
    "ended with an error": "SELECT ssb.end_conversation(%(handle)s, 5, 'no more')",
    "traced": (
        "SELECT ssb.trace_message(%(handle)s, '00-11111111111111111111111111111111-2222222222222222-01')"
    ),
    "answered": _REPLY.format(number=0),
    "answered with a gap": _REPLY.format(number=7),
}
"""What other sessions do with a dialog: its users, and the instance at its other end."""
_ANSWER = (
    "SELECT ssb_internal.settle_sent(jsonb_build_array("
    "jsonb_build_object('endpoint_id', %(endpoint)s::bigint, {})))"
)
_NEXT = (
    "SELECT numbers FROM ssb.transport_peer AS p CROSS JOIN LATERAL ssb_internal.next_set(p.peer_id,"
    " gen_random_uuid(), 500, 1000000, 500000, '{{}}', NULL, NULL, NULL, NULL, {})"
)
_SETTLED = "ARRAY[%(endpoint)s::bigint], '{2}', '{NULL}', '{NULL}'"
_STATEMENTS = {
    "read": _NEXT.format("NULL, NULL, NULL, NULL"),
    "read and settle": _NEXT.format(_SETTLED),
    "taken": _ANSWER.format("'next_number', 2"),
    "not taken": _ANSWER.format("'next_number', 0, 'status', 'the queue is off'"),
    "the first is taken": _ANSWER.format("'next_number', 1, 'status', 'the queue is off'"),
    "refused": _ANSWER.format("'next_number', 1, 'refusal_code', -8408, 'refusal', 'no such contract'"),
    "a fragment is taken": _ANSWER.format("'next_number', 0, 'taken_bytes', 100"),
    "nobody there": (
        "SELECT ssb_internal.note_transport_failure(p.peer_id, 'nobody there') FROM ssb.transport_peer AS p"
    ),
    "tried again": "SELECT ssb_internal.try_parked(p.peer_id, 100) FROM ssb.transport_peer AS p",
    "a new route": "SELECT ssb_internal.follow_routes(NULL), ssb_internal.heed_clock()",
    "tidied": "SELECT ssb_internal.forget_remote_conversations()",
    "certificates": "SELECT ssb_internal.retry_secured()",
    "sampled": "SELECT ssb_internal.sample_queues('{\"messages_dropped\": 1}')",
    "swept": "SELECT ssb_internal.broker_sweep('{}')",
}


@pytest.fixture
def holder(near: Side) -> Iterator[psycopg.Connection[Any]]:
    """A session whose transaction stays open."""
    with psycopg.connect(near.database.dsn) as connection:
        yield connection
        connection.rollback()


def _values(near: Side, handle: Any) -> dict[str, Any]:
    ((endpoint, conversation, key),) = near.connection.execute(
        "SELECT endpoint_id, conversation_id, session_key FROM ssb.conversation_endpoint"
        " JOIN ssb.remote_conversation USING (endpoint_id, conversation_id) WHERE conversation_handle = %s",
        [handle],
    ).fetchall()
    return {"handle": handle, "endpoint": endpoint, "conversation": conversation, "key": key}


@pytest.mark.parametrize("hold", _HOLDS)
@pytest.mark.parametrize("is_parked", [False, True], ids=["under way", "parked"])
def test_the_daemons_statements_pass_what_is_held(
    near: Side, holder: psycopg.Connection[Any], hold: str, is_parked: bool
) -> None:
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "zero")
    with holder.transaction():
        holder.execute("SELECT ssb.send(%s, '//Ask', 'one'::text)", [handle])
    near.send(handle, "//Ask", "two")
    values = _values(near, handle)
    near.connection.execute(_STATEMENTS["read"].encode())
    if is_parked:
        near.do("SELECT ssb_internal.put_off(ARRAY[%s::bigint], 'off')", values["endpoint"])
        near.do("UPDATE ssb.remote_conversation SET retry_at = clock_timestamp() - interval '1 second'")
    holder.execute(_HOLDS[hold].encode(), values)
    waited = []
    for name, statement in _STATEMENTS.items():
        try:
            with near.connection.transaction(force_rollback=True):
                near.do("SET LOCAL lock_timeout = '2s'")
                near.connection.execute(statement.encode(), values if "%(" in statement else None)
        except psycopg.errors.LockNotAvailable:
            waited.append(name)
    assert waited == []


@pytest.mark.parametrize("statement", ["read and settle", "taken", "not taken", "refused", "tried again"])
def test_what_was_held_leaves_when_it_is_let_go(
    near: Side, holder: psycopg.Connection[Any], statement: str
) -> None:
    held, free = near.begin("//Far"), near.begin("//Far")
    for handle in (held, free):
        near.send(handle, "//Ask", "zero", "one")
    near.connection.execute(_STATEMENTS["read"].encode())
    if statement == "tried again":
        near.do("SELECT ssb_internal.put_off(array_agg(endpoint_id), 'off') FROM ssb.remote_conversation")
        near.do("UPDATE ssb.remote_conversation SET retry_at = clock_timestamp() - interval '1 second'")
    holder.execute(_HOLDS["taken away"].encode(), _values(near, held))
    for handle in (held, free):
        values = _values(near, handle)
        near.connection.execute(
            _STATEMENTS[statement].encode(), values if "%(" in _STATEMENTS[statement] else None
        )
    left = "SELECT conversation_handle = %s FROM sys.transmission_queue ORDER BY message_sequence_number"
    if statement in ("read and settle", "taken", "refused"):
        assert near.column(left, free) == [False, False]
    holder.rollback()
    near.do("UPDATE ssb.remote_conversation SET retry_at = clock_timestamp() WHERE retry_at IS NOT NULL")
    numbers = near.value(
        _STATEMENTS["read"].replace(
            "SELECT numbers", "SELECT ARRAY(SELECT n FROM unnest(numbers) AS n ORDER BY n)"
        )
    )
    assert numbers == ([0, 1] if statement in ("read and settle", "taken", "refused") else [0, 0, 1, 1])
    near.connection.execute(_STATEMENTS["taken"].encode(), _values(near, held))
    assert True not in near.column(left, held)


@pytest.mark.long
def test_other_dialogs_go_on_while_one_is_being_ended(
    near: Side, far: Side, holder: psycopg.Connection[Any], daemons: Callable[..., Daemon]
) -> None:
    near.do("SELECT ssb.create_route('ToOther', address, '//Other') FROM sys.routes WHERE name = 'ToFar'")
    far.do("SELECT ssb.create_queue('dbo.other_queue')")
    far.do("SELECT ssb.create_service('//Other', 'dbo.other_queue', '{//Talk}')")
    far.do("SELECT ssb.grant_permission('{SEND}', 'SERVICE', '//Other', '{public}')")
    far.do("SELECT ssb.alter_queue('dbo.far_queue', status => false)")
    daemons(near)
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "to a queue that is off")
    until(lambda: near.value("SELECT failures > 0 FROM ssb.remote_conversation"), 30)
    holder.execute("SELECT ssb.end_conversation(%s, cleanup => true)", [handle])
    received = "SELECT count(*) FROM dbo.other_queue"
    for number in range(1, 6):
        near.send(near.begin("//Other"), "//Ask", "on its way")
        until(lambda number=number: far.value(received) == number, 30)
    holder.rollback()
    far.do("SELECT ssb.alter_queue('dbo.far_queue', status => true)")
    assert [body for _, _, body in far.receive()] == ["to a queue that is off"]


@pytest.mark.long
@pytest.mark.parametrize("is_new", [False, True], ids=["known", "begun"])
def test_sealed_messages_are_opened_while_one_of_their_dialogs_is_held(
    near: Side,
    far: Side,
    full: None,
    daemons: Callable[..., Daemon],
    holder_there: psycopg.Connection[Any],
    is_new: bool,
) -> None:
    """By whoever takes part in it, and brings a message of it in the clear."""
    daemons(near)
    if not is_new:
        daemons(far)
    handle = near.begin("//Far", encryption=True)
    near.send(handle, "//Ask", "first")
    if not is_new:
        far.receive()
    values = _values(near, handle)
    _bring(
        holder_there,
        values["conversation"],
        0 if is_new else 1,
        key=values["key"],
        to_service="//Far",
        from_service="//Near",
    )
    if is_new:
        daemons(far)
    else:
        near.send(handle, "//Ask", "second")
    near.send(near.begin("//Far", encryption=True), "//Ask", "another's")
    held = "second" if not is_new else "first"
    got: list[str | None] = []
    until(lambda: got.extend(body for _, _, body in far.receive(0)) or "another's" in got, 30)
    assert held not in got
    holder_there.rollback()
    until(lambda: got.extend(body for _, _, body in far.receive(0)) or held in got, 60)
    assert sorted(filter(None, got)) == sorted({held, "another's"})


_FAILS_ONCE = """
CREATE SEQUENCE dbo.tried;
CREATE FUNCTION dbo.fail_once() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF nextval('dbo.tried') = 1 THEN RAISE 'not as one'; END IF; RETURN NEW; END $$;
CREATE TRIGGER fail_once BEFORE INSERT ON ssb.message_0 FOR EACH ROW EXECUTE FUNCTION dbo.fail_once()
"""


def test_a_set_that_is_taken_dialog_by_dialog_is_answered_as_any_other(
    near: Side, peers: Callable[[str], psycopg.Connection[Any]]
) -> None:
    courier = peers("courier")
    near.do(_FAILS_ONCE)
    header = {"is_initiator": True, "to_service": "//Near", "from_service": "//Afar", "contract": "//Talk"}
    headers = [
        {**header, "conversation_id": str(uuid.uuid4()), "key": str(uuid.uuid4()), "is_encrypted": False}
        for _ in range(2)
    ]
    answered = courier.execute(
        "SELECT next_numbers, instances, ARRAY(SELECT (o -> 'next_number')::integer"
        " FROM jsonb_array_elements(others) AS o)"
        " FROM ssb_internal.take_from_peer(%s::jsonb, '{0,1}', '{0,0}', '{//Ask,//Ask}',"
        " '{message,message}', '{a,a}')",
        [json.dumps(headers)],
    ).fetchall()
    assert answered == [([0, 0], [None, None], [1, 1])]


def test_a_sealed_set_that_cannot_be_taken_as_one_does_not_end_the_daemon(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon]
) -> None:
    far.do(_FAILS_ONCE)
    daemons(near)
    for body in ("one", "two"):
        near.send(near.begin("//Far", encryption=True), "//Ask", body)
    until(lambda: near.value("SELECT count(*) FROM ssb.dialog_key") > 0)
    daemons(far)
    assert sorted(str(body) for _, _, body in far.receive(2)) == ["one", "two"]
    until(lambda: near.waiting() == [], 30)


@pytest.mark.long
def test_a_defect_in_what_opens_messages_does_not_end_the_daemon(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon]
) -> None:
    far.do(
        "ALTER FUNCTION ssb_internal.take_here RENAME TO really_take_here;"
        " CREATE FUNCTION ssb_internal.take_here(d ssb.arrived_dialog[], p integer[], n bigint[], t text[],"
        " k text[], b bytea[], o boolean, OUT next_numbers bigint[], OUT instances text[], OUT others jsonb)"
        " LANGUAGE sql AS 'SELECT NULL::bigint[], NULL::text[], NULL::jsonb'"
    )
    there = daemons(far)
    daemons(near)
    near.send(near.begin("//Far", encryption=True), "//Ask", "sealed")
    there.wait_for("internal_error", "AssertionError")
    far.do("DROP FUNCTION ssb_internal.take_here")
    far.do("ALTER FUNCTION ssb_internal.really_take_here RENAME TO take_here")
    assert [body for _, _, body in far.receive()] == ["sealed"]
    until(lambda: near.waiting() == [], 60)


@pytest.fixture
def holder_there(far: Side) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(far.database.dsn) as connection:
        yield connection
        connection.rollback()


@pytest.fixture
def peers(near: Side) -> Iterator[Callable[[str], psycopg.Connection[Any]]]:
    """Sessions of two instances that may connect, and send to //Near."""
    opened = []

    def open_one(role: str) -> psycopg.Connection[Any]:
        opened.append(psycopg.connect(near.database.dsn, user=role))
        opened[-1].execute("SET lock_timeout = '2s'")
        opened[-1].commit()
        return opened[-1]

    near.do("CREATE ROLE courier LOGIN; CREATE ROLE rival LOGIN")
    near.do("SELECT ssb.grant_permission('{CONNECT}', 'ENDPOINT', 'BrokerEndpoint', '{courier,rival}')")
    near.do("SELECT ssb.grant_permission('{SEND}', 'SERVICE', '//Near', '{courier,rival}')")
    yield open_one
    for connection in opened:
        connection.close()
    near.do("DROP OWNED BY courier, rival CASCADE; DROP ROLE courier; DROP ROLE rival")


def _bring(by: psycopg.Connection[Any], conversation: Any, number: int, *, key: Any, **more: Any) -> Any:
    header = {
        "conversation_id": str(conversation),
        "is_initiator": True,
        "key": str(key),
        "to_service": "//Near",
        "from_service": "//Afar",
        "from_instance": str(uuid.uuid4()),
        "contract": "//Talk",
        "is_encrypted": False,
        **more,
    }
    return by.execute(
        "SELECT next_number, status FROM ssb.take_from_afar(%s::jsonb, '{0}', ARRAY[%s::bigint], '{//Ask}',"
        " '{message}', '{a}')",
        [json.dumps([header]), number],
    ).fetchone()


@pytest.mark.parametrize("many", [False, True], ids=["alone", "in a set"])
def test_an_instance_holds_no_dialog_of_another_one(
    near: Side, peers: Callable[[str], psycopg.Connection[Any]], many: bool
) -> None:
    courier, rival = peers("courier"), peers("rival")
    conversation, key = uuid.uuid4(), uuid.uuid4()
    assert _bring(courier, conversation, 0, key=key) == (1, None)
    courier.commit()
    # Everybody is told the number.
    assert rival.execute("SELECT conversation_id FROM sys.conversation_endpoints").fetchall() == [
        (conversation,)
    ]
    if many:
        headers = [
            {
                "conversation_id": str(one),
                "is_initiator": True,
                "key": str(uuid.uuid4()),
                "to_service": "//Near",
                "from_service": "//Afar",
                "contract": "//Talk",
                "is_encrypted": False,
            }
            for one in (conversation, uuid.uuid4())
        ]
        found = rival.execute(
            "SELECT place, next_number, left(status, 30) FROM ssb.take_from_afar(%s::jsonb, '{0,1}', '{1,0}',"
            " '{//Ask,//Ask}', '{message,message}', '{a,a}') ORDER BY place",
            [json.dumps(headers)],
        ).fetchall()
        assert found == [(0, 0, "The message does not come from"), (1, 1, None)]
    else:
        assert "does not come from" in _bring(rival, conversation, 1, key=uuid.uuid4())[1]
    assert _bring(courier, conversation, 1, key=key) == (2, None)


def test_instances_do_not_wait_for_each_others_transactions(
    near: Side, peers: Callable[[str], psycopg.Connection[Any]]
) -> None:
    courier, rival = peers("courier"), peers("rival")
    # A message that is dropped is counted.
    for by in (rival, courier):
        assert "does not" not in str(_bring(by, uuid.uuid4(), 5, key=uuid.uuid4())[1])
    courier.commit()
    rival.commit()
    counted = (
        "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Dropped Messages Total'"
    )
    assert near.value(counted) == 2
    near.do("SELECT ssb_internal.sample_queues('{\"messages_dropped\": 3}')")
    assert near.value(counted) == 5
    # One that has to go on.
    near.do(
        "SELECT ssb.create_route('ToBeyond', 'TCP://beyond.example:4022', '//Beyond', database => 'msdb')"
    )
    for by in (rival, courier):
        assert (
            "forwarding is disabled"
            in _bring(by, uuid.uuid4(), 0, key=uuid.uuid4(), to_service="//Beyond")[1]
        )
    near.do(
        "SET lock_timeout = '2s'; SELECT ssb.alter_endpoint('BrokerEndpoint', message_forwarding => true)"
    )
    courier.rollback()
    rival.rollback()


def test_answers_that_somebody_is_taking_are_left_to_him(
    near: Side, peers: Callable[[str], psycopg.Connection[Any]]
) -> None:
    courier = peers("courier")
    number = uuid.uuid4()
    near.do("SELECT ssb_internal.keep_answers(%s, 'courier', '[]')", number)
    near.do("UPDATE ssb.set_answer SET answered_at = clock_timestamp() - interval '1 hour'")
    asked = "SELECT set_id FROM ssb_internal.set_answers(ARRAY[%s::uuid], 0)"
    assert courier.execute(asked, [number]).fetchall() == [(number,)]
    near.do("SET lock_timeout = '2s'")
    near.do("SELECT ssb_internal.forget_remote_conversations()")
    courier.rollback()
    near.do("SELECT ssb_internal.forget_remote_conversations()")
    assert courier.execute(asked, [number]).fetchall() == []

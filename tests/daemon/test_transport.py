"""Dialogs between two instances: two databases, each with its daemon, or with the far one's alone."""

from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import pytest
from instances import END, ERROR, FAR, NEAR, Side, make_side
from psycopg.conninfo import make_conninfo

from activation import Daemon, until
from pgsb.daemon import peer, transport_sets, transport_values
from pgsb.runtime_sql.installer import install
from support import Database


def test_a_dialog_crosses_and_its_ends_too(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one", "two")
    assert all("another instance" in status for status in near.waiting())
    assert len(near.waiting()) == 2
    daemons(near)
    daemons(far)
    got = far.receive(2)
    assert [(kind, body) for _, kind, body in got] == [("//Ask", "one"), ("//Ask", "two")]
    there = got[0][0]
    assert there != handle
    until(lambda: near.waiting() == [])
    ids = "SELECT conversation_id FROM sys.conversation_endpoints WHERE state_desc = 'CONVERSING'"
    assert near.column(ids) == far.column(ids)
    far.send(there, "//Answer", "three")
    assert near.receive(1) == [(handle, "//Answer", "three")]
    instance = "SELECT far_broker_instance FROM sys.conversation_endpoints"
    assert near.column(instance) == [far.guid().upper()]
    assert far.column(instance) == [near.guid().upper()]
    far.do("SELECT ssb.end_conversation(%s)", there)
    assert near.receive(1) == [(handle, END, None)]
    assert near.states() == ["DISCONNECTED_INBOUND"]
    until(lambda: far.states() == ["CLOSED"])
    near.do("SELECT ssb.end_conversation(%s)", handle)
    assert near.states() == []


def test_an_error_crosses_both_ways(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    daemons(near)
    daemons(far)
    first, second = near.begin("//Far"), near.begin("//Far")
    near.send(first, "//Ask", "first")
    near.send(second, "//Ask", "second")
    there = {body: handle for handle, _, body in far.receive(2)}
    far.do("SELECT ssb.end_conversation(%s, 500, 'no tea')", there["first"])
    ((handle, kind, body),) = near.receive(1)
    assert (handle, kind) == (first, ERROR)
    assert "<Code>500</Code><Description>no tea</Description>" in str(body)
    near.do("SELECT ssb.end_conversation(%s, 7, 'never mind')", second)
    ((handle, kind, body),) = far.receive(1)
    assert (handle, kind) == (there["second"], ERROR)
    assert "never mind" in str(body)
    assert "ERROR" in far.states()
    far.do("SELECT ssb.end_conversation(%s)", handle)
    until(lambda: near.states() == ["ERROR"])
    near.do("SELECT ssb.end_conversation(%s)", first)
    assert near.states() == []
    assert set(far.states()) == {"CLOSED"}


def test_an_initiator_that_ends_first_waits_until_the_far_side_knows(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "and out")
    near.do("SELECT ssb.end_conversation(%s)", handle)
    assert near.states() == ["DISCONNECTED_OUTBOUND"]
    daemons(near)
    got = far.receive(2)
    assert [(kind, body) for _, kind, body in got] == [("//Ask", "and out"), (END, None)]
    assert far.states() == ["DISCONNECTED_INBOUND"]
    with pytest.raises(psycopg.Error, match="not in a valid state for SEND"):
        far.send(got[0][0], "//Answer", "too late")
    far.do("SELECT ssb.end_conversation(%s)", got[0][0])
    assert far.states() == ["CLOSED"]
    until(lambda: near.states() == [])


@pytest.mark.long
def test_cleanup_tells_nobody(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    daemons(near)
    daemons(far)
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "hello")
    ((there, _, _),) = far.receive(1)
    until(lambda: near.waiting() == [])
    near.do("SELECT ssb.end_conversation(%s, cleanup => true)", handle)
    assert near.states() == []
    assert far.states() == ["CONVERSING"]
    far.send(there, "//Answer", "is anybody there")
    until(lambda: any("dropped" in status for status in far.waiting()))
    far.do("SELECT ssb.end_conversation(%s, cleanup => true)", there)
    assert far.waiting() == []
    assert far.states() == []


def test_what_waits_says_why(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    daemon = daemons(near, addresses={})
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "hello")
    until(lambda: any("pgsb broker --address" in status for status in near.waiting()))
    assert FAR in near.value("SELECT ssb.get_transmission_status(%s)", handle)
    daemon.wait_for("transport_failed", FAR)
    daemon.broker.stop()
    far.do("SELECT ssb.alter_endpoint('BrokerEndpoint', 'STOPPED')")
    daemons(near)
    until(lambda: any("endpoint is not started in database" in status for status in near.waiting()))
    far.do("SELECT ssb.alter_endpoint('BrokerEndpoint', 'STARTED')")
    assert [body for _, _, body in far.receive(1)] == ["hello"]
    # The daemon is just reading when the endpoint goes: what is sent after that stays all the same.
    slow = near.value("SELECT pg_get_functiondef('ssb_internal.try_parked'::regproc)")
    near.do(slow.replace("BEGIN", "BEGIN PERFORM pg_sleep(0.1);", 1))
    near.send(handle, "//Ask", "meanwhile")
    assert [body for _, _, body in far.receive(1)] == ["meanwhile"]
    near.do("SELECT ssb.drop_endpoint('BrokerEndpoint')")
    near.send(handle, "//Ask", "again")
    until(lambda: any("transport is disabled or not configured." in status for status in near.waiting()))
    near.do("SELECT ssb.create_endpoint('Another', 'STARTED', 4022)")
    assert [body for _, _, body in far.receive(1)] == ["again"]


def test_what_the_target_cannot_take_comes_back_as_an_error(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    daemons(near)
    daemons(far)
    near.do("SELECT ssb.create_message_type('//Unknown')")
    near.do("SELECT ssb.create_contract('//Other', '{//Ask}', '{INITIATOR}')")
    near.do("SELECT ssb.create_contract('//Wider', '{//Ask,//Unknown}', '{INITIATOR,INITIATOR}')")
    far.do("SELECT ssb.create_contract('//Wider', '{//Ask}', '{INITIATOR}')")
    far.do("SELECT ssb.alter_service('//Far', add_contracts => '{//Wider}')")
    begin = "SELECT ssb.begin_dialog('//Near', '//Far', %s, encryption => false)"
    for contract, kind, body, code in [
        ("//Other", "//Ask", "x", -8408),
        ("//Wider", "//Unknown", "x", -8498),
        ("//Talk", "//Xml", "<a>", -9615),
    ]:
        handle = near.value(begin, contract)
        with near.connection.transaction():  # else the error may be back before the second one
            near.send(handle, kind, body, "more")
        ((back, type_name, error),) = near.receive(1)
        assert (back, type_name) == (handle, ERROR)
        assert f"<Code>{code}</Code>" in str(error)
        assert near.states() == ["ERROR"]
        near.do("SELECT ssb.end_conversation(%s)", handle)
        assert near.states() == []
        assert near.waiting() == []
    assert set(far.states()) == {"ERROR"}


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_shut_queue_holds_up_its_own_dialogs_only(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    far.do("SELECT ssb.create_queue('dbo.shut', status => false)")
    far.do("SELECT ssb.create_service('//Shut', 'dbo.shut', '{//Talk}')")
    near.do("SELECT ssb.create_route('ToShut', %s, '//Shut')", FAR)
    daemons(near)
    stuck = near.begin("//Shut")
    near.send(stuck, "//Ask", "a", "b")
    near.send(near.begin("//Far"), "//Ask", "c")
    assert [body for _, _, body in far.receive(1)] == ["c"]
    until(lambda: len(near.waiting()) == 2 and all("could not be delivered" in one for one in near.waiting()))
    far.do("SELECT ssb.alter_queue('dbo.shut', status => true)")
    bodies = "SELECT convert_from(message_body, 'UTF8') FROM dbo.shut ORDER BY queuing_order"
    until(lambda: far.column(bodies) == ["a", "b"])


@pytest.mark.long
@pytest.mark.one_postgres
@pytest.mark.one_postgres
def test_a_full_disk_over_there_is_tried_now_and_then_not_dialog_by_dialog(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    far.do("CREATE SEQUENCE dbo.tries; GRANT ALL ON dbo.tries TO PUBLIC")
    far.do(
        "CREATE FUNCTION dbo.full() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM nextval('dbo.tries');"
        " RAISE 'No space left on device' USING ERRCODE = '53100'; END$$;"
        " CREATE TRIGGER full_disk BEFORE INSERT ON ssb.conversation_endpoint EXECUTE FUNCTION dbo.full()"
    )
    with near.connection.transaction():
        for number in range(60):
            near.send(near.begin("//Far"), "//Ask", str(number))
    running = daemons(near)
    running.wait_for("transport_failed", "No space left on device")
    until(lambda: all("No space left on device" in status for status in near.waiting()))
    assert far.value("SELECT last_value FROM dbo.tries") < 30
    far.do("DROP TRIGGER full_disk ON ssb.conversation_endpoint")
    assert sorted(int(body or "") for _, _, body in far.receive(60)) == [*range(60)]
    running.wait_for("transport_connected", "takes messages again")


@pytest.mark.long
def test_a_missing_service_is_waited_for(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    near.do("SELECT ssb.create_route('ToLater', %s, '//Later')", FAR)
    daemons(near)
    near.send(near.begin("//Later"), "//Ask", "early")
    until(lambda: any("matched a LOCAL route" in status for status in near.waiting()))
    far.do("SELECT ssb.create_service('//Later', 'dbo.far_queue', '{//Talk}')")
    assert [body for _, _, body in far.receive(1)] == ["early"]


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_lifetime_ends_on_both_sides(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    daemons(near)
    handle = near.begin("//Far", lifetime=4)
    near.send(handle, "//Ask", "quick")
    got = far.receive(2)
    assert [kind for _, kind, _ in got] == ["//Ask", ERROR]
    assert "-8489" in str(got[1][2])
    assert [kind for _, kind, _ in near.receive(1)] == [ERROR]


def test_connections_are_shown(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    shown = (
        "SELECT count(*) FROM sys.dm_broker_connections WHERE state_desc = 'LOGGED_IN' AND total_sends > 0"
    )
    assert near.value(shown) == 0
    daemon = daemons(near)
    near.send(near.begin("//Far"), "//Ask", "hello")
    until(lambda: near.value(shown) == 1)
    daemon.broker.stop()
    until(lambda: near.value(shown) == 0)


@pytest.mark.one_postgres
def test_a_dropped_service_tells_the_other_side_and_answers_with_an_error(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    """Open dialogs get an Error, an end that was told before arrives; its queue may be dropped at once."""
    daemons(near)
    open_one, ended = near.begin("//Far"), near.begin("//Far")
    near.send(open_one, "//Ask", "open")
    near.send(ended, "//Ask", "ended")
    handles = {body: handle for handle, _, body in far.receive(2)}
    far.send(handles["ended"], "//Answer", "bye")
    far.do("SELECT ssb.end_conversation(%s)", handles["ended"])
    far.do("SELECT ssb.drop_service('//Far')")
    far.do("SELECT ssb.drop_queue('dbo.far_queue')")
    with far.connection.transaction(force_rollback=True):
        far.do("SELECT ssb.end_conversation(%s, cleanup => true)", handles["open"])
        assert far.states() == ["DISCONNECTED_OUTBOUND"]
    daemons(far)
    got = {(handle, kind): body for handle, kind, body in near.receive(3)}
    assert set(got) == {(open_one, ERROR), (ended, "//Answer"), (ended, END)}
    assert "-8470" in str(got[open_one, ERROR])
    until(lambda: far.value("SELECT count(*) FROM ssb.conversation_endpoint") == 0)


@pytest.mark.one_postgres
def test_both_sides_may_be_one_instance(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    """A route whose address is the own one: the messages go round."""
    near.do("SELECT ssb.create_service('//Echo', 'dbo.near_queue', '{//Talk}')")
    near.do("SELECT ssb.create_route('ToEcho', %s, '//Echo')", NEAR)
    near.do("SELECT ssb.create_route('ToMe', %s, '//Near')", NEAR)
    daemons(near)
    handle = near.begin("//Echo")
    near.send(handle, "//Ask", "one")
    ((there, _, body),) = near.receive(1)
    assert body == "one"
    near.send(there, "//Answer", "two")
    assert near.receive(1) == [(handle, "//Answer", "two")]


def test_a_set_that_was_taken_but_not_settled_is_taken_once(
    near: Side, far: Side, daemons: Callable[..., Daemon], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moment between the commit over there and the one here, at which a daemon may be killed."""
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one", "two")
    near.do("SELECT ssb.end_conversation(%s)", handle)
    take, taken = peer.Peer._take, []

    async def take_and_die(one: peer.Peer, values: Sequence[Any], dialogs: int) -> Any:
        answers = await take(one, values, dialogs)
        taken.append(transport_values.count_of(values[2]))
        if len(taken) < 3:
            raise psycopg.OperationalError("killed")
        return answers

    monkeypatch.setattr(peer.Peer, "_take", take_and_die)
    daemons(near)
    until(lambda: near.waiting() == [])
    assert taken == [3, 3, 3]
    assert [(kind, body) for _, kind, body in far.receive(3)] == [
        ("//Ask", "one"),
        ("//Ask", "two"),
        (END, None),
    ]


@pytest.mark.long
@pytest.mark.one_postgres
def test_an_instance_that_answers_nonsense_stops_nobody_else(
    near: Side,
    far: Side,
    daemons: Callable[..., Daemon],
    connect: Callable[..., Any],
    empty_database: Database,
) -> None:
    odd = connect(empty_database.dsn)
    odd.execute("CREATE SCHEMA ssb")
    near.do("SELECT ssb.create_route('ToOdd', %s, '//Odd')", empty_database.dsn)
    near.send(near.begin("//Odd"), "//Ask", "a")
    daemons(near)
    until(lambda: any("take_from_afar" in status for status in near.waiting()))
    for answer in (
        "SELECT 7, 1::bigint, NULL::text, NULL::integer, NULL::text, NULL::text",
        "SELECT 0, 'x'::text, NULL::text, NULL::integer, NULL::text, NULL::text",
    ):
        odd.execute(
            "DROP FUNCTION IF EXISTS ssb.take_from_afar;"
            " CREATE FUNCTION ssb.take_from_afar(jsonb, integer[], bigint[], text[],"
            " text[], bytea[], OUT place integer, OUT next_number "
            + ("bigint" if "bigint" in answer else "text")
            + ", OUT status text, OUT refusal_code integer, OUT refusal text, OUT instance text)"
            f" RETURNS SETOF record LANGUAGE sql AS $$ {answer} $$"
        )
        until(lambda: any("answers that cannot be read" in status for status in near.waiting()))
        near.send(near.begin("//Far"), "//Ask", "b")
        assert [body for _, _, body in far.receive(1)] == ["b"]
    odd.execute("DROP FUNCTION ssb.take_from_afar; CREATE SCHEMA ssb_internal")
    until(lambda: all("take_from_afar" in status for status in near.waiting()))
    odd.execute(
        "CREATE FUNCTION ssb_internal.take_from_peer(jsonb, integer[], bigint[], text[], text[], bytea[],"
        " OUT next_numbers bigint[], OUT instances text[], OUT others jsonb) LANGUAGE sql AS $$"
        " SELECT array_fill(0::bigint, n), array_fill(NULL::text, n), '[5]'::jsonb"
        " FROM (SELECT ARRAY[jsonb_array_length($1)]) AS d (n) $$"
    )
    until(lambda: all("answers that cannot be read" in status for status in near.waiting()))


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_route_that_comes_while_the_group_is_in_use_is_followed(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    near.do("SELECT ssb.drop_route('ToFar')")
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "early")
    daemons(near)
    with psycopg.connect(near.database.dsn) as holder:
        holder.execute("SELECT ssb.begin_conversation_timer(%s, 1000)", [handle])
        near.do("SELECT ssb.create_route('ToFar', %s, '//Far')", FAR)
        assert any("could not be found" in status for status in near.waiting())
    assert [body for _, _, body in far.receive(1)] == ["early"]


def test_the_highest_priority_leaves_first(
    near: Side, far: Side, daemons: Callable[..., Daemon], monkeypatch: pytest.MonkeyPatch
) -> None:
    near.do("SELECT ssb.create_service('//Urgent', 'dbo.near_queue', '{//Talk}')")
    near.do("SELECT ssb.create_broker_priority('p', local_service => '//Urgent', priority_level => 9)")
    near.do("SELECT ssb.alter_database(NULL, 'HONOR_BROKER_PRIORITY', 'ON')")
    usual = near.begin("//Far")
    near.send(usual, "//Ask", "a", "b", "c")
    urgent = near.value("SELECT ssb.begin_dialog('//Urgent', '//Far', '//Talk', encryption => false)")
    near.send(urgent, "//Ask", "x", "y")
    # As if no more had room in a set.
    monkeypatch.setattr(transport_sets, "MESSAGES", 1)
    daemons(near)
    assert [body for _, _, body in far.receive(5)] == ["x", "y", "a", "b", "c"]


@pytest.mark.one_postgres
def test_a_target_has_the_priority_that_is_for_its_service(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    far.do("SELECT ssb.create_service('//Slow', 'dbo.far_queue', '{//Talk}')")
    near.do("SELECT ssb.create_route('ToSlow', %s, '//Slow')", FAR)
    far.do("SELECT ssb.create_broker_priority('p', local_service => '//Far', priority_level => 8)")
    for service, body in (("//Far", "8"), ("//Slow", "5"), ("//Far", "8"), ("//Slow", "5")):
        near.send(near.begin(service), "//Ask", body)
    daemons(near)
    told = "SELECT priority::text || convert_from(message_body, 'UTF8') FROM dbo.far_queue ORDER BY 1"
    until(lambda: far.column(told) == ["55", "55", "88", "88"])


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_large_body_and_an_empty_one_cross(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    daemons(near)
    handle = near.begin("//Far")
    near.do("SELECT ssb.send(%s, '//Ask', decode(repeat('00ff', 5000000), 'hex'))", handle)
    near.do("SELECT ssb.send(%s, '//Ask', ''::bytea), ssb.send(%s, '//Ask')", handle, handle)
    bodies = "SELECT length(message_body) FROM dbo.far_queue ORDER BY queuing_order"
    until(lambda: far.column(bodies) == [10_000_000, 0, None])


@pytest.mark.one_postgres
def test_an_error_comes_although_the_group_is_in_use(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    """A service program that waits inside its transaction hears of what happened afar."""
    daemons(near)
    handle = near.begin("//Far")
    with psycopg.connect(near.database.dsn) as program:
        near.send(handle, "//Xml", "<a>")
        program.execute("SELECT ssb.begin_conversation_timer(%s, 1000)", [handle])
        query = "SELECT message_type_name FROM ssb.receive('dbo.near_queue')"
        until(lambda: program.execute(query).fetchall() == [(ERROR,)])


@pytest.mark.one_postgres
def test_a_program_that_answers_and_stays_in_its_transaction_holds_up_nobody(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    """Neither what comes from the same instance, on its own dialog too, nor what that has sent before."""
    daemons(near)
    daemons(far)
    first, second = near.begin("//Far"), near.begin("//Far")
    for handle in (first, second):
        near.send(handle, "//Ask", "one")
    asked = far.receive(2)[0][0]
    with psycopg.connect(far.database.dsn) as program:
        program.execute("SELECT ssb.send(%s, '//Answer', 'wait'::text)", [asked])
        with near.connection.transaction():
            for handle in (first, second):
                near.send(handle, "//Ask", "two")
        until(lambda: near.waiting() == [], 20)
    # The next message looks for its route, and what arrives meanwhile is settled, not sent again and again.
    with psycopg.connect(near.database.dsn) as program:
        near.do("SELECT ssb.create_route('Unused', 'LOCAL', '//Unused')")
        near.send(second, "//Ask", "three")
        near.do("SELECT ssb.alter_route('Unused', 'TCP://nowhere:1')")
        program.execute("SELECT ssb.send(%s, '//Ask', 'four'::text)", [second])
        until(lambda: near.waiting() == [], 20)


@pytest.mark.parametrize("is_ended_first", [False, True])
@pytest.mark.one_postgres
def test_restored_dialogs_fail_on_both_sides(
    near: Side, far: Side, daemons: Callable[..., Daemon], is_ended_first: bool
) -> None:
    """ERROR_BROKER_CONVERSATIONS, for an instance that has forgotten what the other one has counted.

    ``is_ended_first``: its program is quicker than the daemon, or the other instance was not there.
    """
    daemon = daemons(near)
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one", "two", "three")
    far.receive(3)
    until(lambda: near.waiting() == [])
    daemon.broker.stop()
    # As after a restore to the moment after the first message.
    near.do("UPDATE ssb.conversation_endpoint SET sent_count = 1")
    near.do("UPDATE ssb.remote_conversation SET acknowledged = 1")
    near.do("SELECT ssb.alter_database(NULL, 'ERROR_BROKER_CONVERSATIONS')")
    if not is_ended_first:
        daemons(near)
    for side, code in ((near, "-9719"), (far, "-9720")):
        ((conversation, kind, body),) = side.receive(1)
        assert kind == ERROR
        assert code in str(body)
        assert side.states() == ["ERROR"]
        if is_ended_first:
            side.do("SELECT ssb.end_conversation(%s)", conversation)
            if side is near:
                assert near.states() == ["DISCONNECTED_OUTBOUND"]
                daemons(near)
    until(lambda: near.waiting() == [])
    assert not is_ended_first or (near.states(), far.states()) == ([], ["CLOSED"])


@pytest.mark.one_postgres
@pytest.mark.parametrize("restored", ["near", "far"])
def test_a_restored_instance_is_found_out(
    near: Side, far: Side, daemons: Callable[..., Daemon], restored: str
) -> None:
    """509 in the one that was restored, 510 in the other where it waits for it."""

    def found(side: Side, number: int) -> list[Any]:
        query = "SELECT object, remedy FROM ssb.diagnose(parts => '{transport}') WHERE number = %s"
        return side.rows(query, number)

    daemon = daemons(near)
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one", "two", "three")
    far.receive(3)
    until(lambda: near.waiting() == [])
    assert found(near, 509) == found(far, 509) == found(near, 510) == []
    daemon.broker.stop()
    side = near if restored == "near" else far
    if side is far:
        daemons(far).broker.stop()
        # As after a restore to the moment after the first message.
        far.do("UPDATE ssb.remote_conversation SET next_number = 1")
    # Another server, another of its histories, another database.
    side.do("UPDATE ssb.runtime_version SET lineage = '1 00000001 5'")
    remedy = f"ALTER DATABASE [{side.database.name}] SET ERROR_BROKER_CONVERSATIONS;"
    assert found(side, 509) == [(side.database.name, remedy)]
    daemons(side)
    until(lambda: side.value("SELECT lineage_since IS NOT NULL FROM ssb.runtime_version"))
    assert found(side, 509) == [(side.database.name, remedy)]
    if side is far:
        near.send(handle, "//Ask", "four")
        daemons(near)
        until(lambda: [name for name, _ in found(near, 510)] == ["//Far"])
    side.do("SELECT ssb.alter_database(NULL, 'ERROR_BROKER_CONVERSATIONS')")
    assert found(side, 509) == []


@pytest.mark.long
@pytest.mark.one_postgres
def test_messages_are_counted_without_a_gap(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    daemon = daemons(near)
    handle = near.begin("//Far")
    near.send(handle, "//Ask", *"abc")
    until(lambda: near.waiting() == [])
    daemon.broker.stop()
    near.send(handle, "//Ask", *"de")
    sequence = "SELECT send_sequence FROM sys.conversation_endpoints"
    assert near.value(sequence) == 5
    daemons(near)
    until(lambda: near.waiting() == [])
    near.do("SELECT ssb.end_conversation(%s)", handle)
    numbers = "SELECT message_sequence_number FROM dbo.far_queue ORDER BY queuing_order"
    until(lambda: far.column(numbers) == [0, 1, 2, 3, 4, 5])


@pytest.mark.long
@pytest.mark.one_postgres
def test_an_event_notification_may_tell_a_service_elsewhere(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    contract = "http://schemas.microsoft.com/SQL/Notifications/PostEventNotification"
    far.do("SELECT ssb.create_service('//Watcher', 'dbo.far_queue', %s)", [contract])
    near.do("SELECT ssb.create_route('ToWatcher', %s, '//Watcher')", FAR)
    near.do("SELECT ssb.create_queue('dbo.watched', status => true)")
    near.do(
        "SELECT ssb.create_event_notification('n', '{BROKER_QUEUE_DISABLED}', 'QUEUE', '//Watcher', %s,"
        " queue => 'dbo.watched')",
        far.guid(),
    )
    near.do(
        "SELECT ssb_internal.fire_queue_event(q, 'BROKER_QUEUE_DISABLED') FROM ssb.queue AS q"
        " WHERE name = 'dbo.watched'"
    )
    daemons(near)
    daemons(far)
    ((handle, _, body),) = far.receive(1)
    assert "BROKER_QUEUE_DISABLED" in str(body)
    far.do(
        "SELECT ssb.create_route('Back', %s, %s)",
        NEAR,
        "http://schemas.microsoft.com/SQL/Notifications/EventNotificationService",
    )
    far.do("SELECT ssb.end_conversation(%s)", handle)
    until(lambda: near.value("SELECT count(*) FROM sys.event_notifications") == 0)
    until(lambda: far.states() == ["CLOSED"])


@pytest.mark.long
def test_a_daemon_that_may_little_carries_all_the_same(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    """Both logins are no superusers: of the daemon the runtime's owner, over there a role with two grants."""
    far.do("CREATE ROLE courier LOGIN")
    try:
        far.do("SELECT ssb.grant_permission('{CONNECT}', 'ENDPOINT', 'BrokerEndpoint', '{courier}')")
        daemons(near, addresses={FAR.lower(): make_conninfo(far.database.dsn, user="courier")})
        near.send(near.begin("//Far"), "//Ask", "hello")
        until(lambda: any("permission to access" in status for status in near.waiting()))
        far.do("SELECT ssb.grant_permission('{SEND}', 'SERVICE', '//Far', '{courier}')")
        assert [body for _, _, body in far.receive(1)] == ["hello"]
        assert near.column("SELECT remote_user_name FROM sys.dm_broker_connections") == ["courier"]
    finally:
        far.do("DROP OWNED BY courier CASCADE")
        far.do("DROP ROLE courier")


@pytest.mark.long
def test_the_owner_of_a_database_is_enough_for_the_daemon(
    near: Side, far: Side, daemons: Callable[..., Daemon], postgres: str, empty_database: Database
) -> None:
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("CREATE ROLE transport_owner LOGIN")
        admin.execute(f"ALTER DATABASE {empty_database.name} OWNER TO transport_owner")
    dsn = make_conninfo(empty_database.dsn, user="transport_owner")
    with psycopg.connect(dsn, autocommit=True) as connection:
        install(connection)
    plain = make_side(Database(empty_database.name, dsn), "dbo.near_queue", "//Plain")
    running: list[Daemon] = []
    try:
        plain.do("SELECT ssb.create_route('ToFar', %s, '//Far')", FAR)
        far.do("SELECT ssb.create_route('ToPlain', 'TCP://plain:4022', '//Plain')")
        running.append(daemons(plain))
        running.append(daemons(far, addresses={"tcp://plain:4022": dsn}))
        handle = plain.begin("//Far")
        plain.send(handle, "//Ask", "hello")
        ((there, _, _),) = far.receive(1)
        far.send(there, "//Answer", "and to you")
        assert plain.receive(1) == [(handle, "//Answer", "and to you")]
        assert plain.value("SELECT count(*) FROM sys.dm_broker_connections") == 1
    finally:
        for daemon in running:
            daemon.broker.stop()
        plain.connection.close()
        with psycopg.connect(empty_database.dsn, autocommit=True) as admin:
            admin.execute("DROP OWNED BY transport_owner CASCADE")
            admin.execute(f"ALTER DATABASE {empty_database.name} OWNER TO CURRENT_USER")
            admin.execute("DROP ROLE transport_owner")


@pytest.mark.one_postgres
def test_what_does_not_arrive_is_measured_and_found(near: Side, daemons: Callable[..., Daemon]) -> None:
    near.send(near.begin("//Far"), "//Ask", "one", "two")
    found = "SELECT detail FROM ssb.diagnose() WHERE number = 507"
    failing = "SELECT failing FROM ssb_internal.transport_measures() WHERE address IS NOT NULL"
    assert (near.column(found), near.column(failing)) == ([], [0])
    running = daemons(near, addresses={FAR.lower(): "host=127.0.0.1 port=1 connect_timeout=2"})
    running.wait_for("transport_failed")
    until(lambda: near.column(failing) == [2])
    (detail,) = near.column(found)
    assert detail.startswith(f"2 messages: The instance at '{FAR}' cannot be reached: ")
    waiting = "SELECT wait_type FROM sys.dm_os_waiting_tasks WHERE wait_type LIKE 'BROKER%' ORDER BY 1"
    until(lambda: {"BROKER_EVENTHANDLER", "BROKER_TRANSMITTER"} <= set(near.column(waiting)))
    counter = (
        "SELECT cntr_value FROM sys.dm_os_performance_counters"
        " WHERE counter_name = 'Pending Msg Frags for Send I/O'"
    )
    assert near.column(counter) == [2]


@pytest.mark.long
@pytest.mark.one_postgres
def test_many_messages_for_one_place_do_not_hide_that_others_do_not_arrive(near: Side) -> None:
    near.do("SELECT ssb.create_route('ToPlain', 'TCP://plain:4022', '//Plain')")
    for service in ("//Far", "//Nobody", "//Plain"):
        near.send(near.begin(service), "//Ask", "old")
    crowd = near.begin("//Crowd")
    near.send(crowd, "//Ask", "new")
    near.do(
        "SELECT ssb_internal.note_transport_failure(p.peer_id, 'out of reach') FROM ssb.transport_peer AS p"
        " WHERE p.address = %s",
        FAR,
    )
    near.do(
        "SELECT ssb_internal.put_off(array_agg(t.endpoint_id), 'full') FROM ssb.transmission AS t"
        " WHERE t.to_service = '//Plain'"
    )
    # As 100,000 more SENDs leave them.
    near.do(
        "INSERT INTO ssb.transmission (database_id, endpoint_id, to_service, message_sequence_number,"
        " message_type_name, is_end_of_dialog, is_conversation_error, enqueued_at, transmission_status)"
        " SELECT t.database_id, t.endpoint_id, t.to_service, n, t.message_type_name, false, false,"
        " t.enqueued_at, t.transmission_status"
        " FROM ssb.transmission AS t, generate_series(1, 100000) AS n WHERE t.to_service = '//Crowd'"
    )
    found = "SELECT object || ': ' || detail FROM ssb.diagnose() WHERE number = 507 ORDER BY 1"
    assert near.column(found) == [
        f"{FAR.lower()}: at least 1 message: out of reach",
        "tcp://plain:4022: at least 1 message: full",
    ]
    undelivered = (
        'SELECT object FROM ssb.diagnose(limits => \'{"waiting": "0 s"}\') WHERE number = 501 ORDER BY 1'
    )
    assert {"//Crowd", "//Nobody"} <= set(near.column(undelivered))
    reasons = "SELECT to_service, messages FROM ssb_internal.transmission_reasons() ORDER BY 1"
    assert near.connection.execute(reasons).fetchall() == [
        ("//Crowd", 100_001),
        ("//Far", 1),
        ("//Nobody", 1),
        ("//Plain", 1),
    ]


@pytest.mark.long
@pytest.mark.one_postgres
def test_what_was_sent_is_counted(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    near.send(near.begin("//Far"), "//Ask", "12345", "678")
    running = daemons(near, sample=0.1)
    assert far.receive(2)
    counted = (
        "SELECT trim(counter_name), cntr_value FROM sys.dm_os_performance_counters"
        " WHERE object_name = 'SQLServer:Broker/DBM Transport'"
    )
    until(lambda: dict(near.connection.execute(counted).fetchall())["Send I/O Bytes Total"] == 8)
    values = dict(near.connection.execute(counted).fetchall())
    assert values["Message Fragment Sends/sec"] == values["Msg Fragment Send Size Avg Base"] == 2
    assert values["Send I/O Len Avg"] == values["Msg Fragment Send Size Avg"] == 8
    assert values["Send I/O Len Avg Base"] == values["Send I/Os/sec"]
    assert values["Pending Bytes for Send I/O"] == 0
    # The connection is gone, the total stays.
    running.broker.stop()
    assert dict(near.connection.execute(counted).fetchall())["Send I/O Bytes Total"] == 8


@pytest.mark.one_postgres
def test_a_timeline_tells_what_this_instance_knows_of_the_other(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    timeline = (
        "SELECT side, event, message_sequence_number, status, detail"
        " FROM ssb.conversation_timeline(%s) WHERE event NOT IN ('begin', 'received')"
    )
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one", "two")
    waiting = f"The route leads to '{FAR}', another instance. The message waits for transport."
    told = near.connection.execute(timeline, [handle]).fetchall()
    assert told[1:] == [("initiator", "message", number, "waits for delivery", waiting) for number in (0, 1)]
    daemons(near)
    daemons(far)
    got = far.receive(2)
    until(lambda: near.waiting() == [])
    at_far = f"another instance at {FAR}: it has the messages before number 2 of this side"
    told = near.connection.execute(timeline, [handle]).fetchall()
    assert told == [("target", "transport", None, None, at_far)]
    far.do("SELECT ssb.end_conversation(%s, 9, 'no more')", got[0][0])
    until(lambda: near.states() == ["ERROR"])
    told = near.connection.execute(timeline, [handle]).fetchall()
    assert ("target", "transport", None, "the other side has ended it (ER)", at_far) in told
    assert ("target", "message", 0, "waits in queue", "dbo.near_queue") in told
    until(lambda: far.waiting() == [])
    ended = far.connection.execute(timeline, [got[0][0]]).fetchall()
    assert ("target", "error", None, "the other side has it", "END CONVERSATION WITH ERROR") in ended

"""Dialogs between two instances: two databases, each with its daemon, or with the far one's alone."""

import asyncio
import json
import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import pytest
from instances import END, ERROR, FAR, NEAR, Side, make_side
from psycopg.conninfo import make_conninfo

from activation import Daemon, until
from pgsb.daemon import peer, transport_sets, transport_values
from pgsb.daemon.readers import open_connection
from pgsb.daemon.transport_values import RawStatement, integer, number_of, raw_row
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


@pytest.mark.one_postgres
def test_a_mirror_is_tried_second(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    near.do("SELECT ssb.drop_route('ToFar')")
    near.do(
        "SELECT ssb.create_route('ToFar', 'TCP://gone.example:1', '//Far', %s, mirror_address => %s)",
        far.guid(),
        FAR,
    )
    daemons(near)
    near.send(near.begin("//Far"), "//Ask", "by the mirror")
    assert [body for _, _, body in far.receive(1)] == ["by the mirror"]


@pytest.mark.one_postgres
def test_a_connection_uri_is_an_address(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    near.do("SELECT ssb.alter_route('ToFar', %s)", far.database.dsn)
    daemons(near, addresses={})
    near.send(near.begin("//Far"), "//Ask", "straight")
    assert [body for _, _, body in far.receive(1)] == ["straight"]
    for address in (
        "postgresql://courier:secret@far/db",
        "postgresql://far/db?password=secret",
        "postgresql://far/db?passwor%64=secret",
    ):
        for words in ("%s", "'TCP://a:1', '//Far', 'i', mirror_address => %s"):
            with pytest.raises(psycopg.Error, match="password") as caught:
                near.do(f"SELECT ssb.create_route('r', {words})", address)
            assert "secret" not in str(caught.value)


@pytest.mark.one_postgres
def test_a_host_whose_name_can_be_none_is_told(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    near.do("SELECT ssb.alter_route('ToFar', 'postgresql://a..b/db')")
    running = daemons(near, addresses={})
    near.send(near.begin("//Far"), "//Ask", "later")
    until(lambda: any("no connection URI" in status for status in near.waiting()), 10)
    near.do("SELECT ssb.alter_route('ToFar', %s)", far.database.dsn)
    assert [body for _, _, body in far.receive(1)] == ["later"]
    assert running.messages("internal_error") == []


@pytest.mark.one_postgres
def test_a_transport_route_takes_the_address_from_the_name(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    far.do("SELECT ssb.create_service(%s, 'dbo.far_queue', '{//Talk}')", f"{FAR}/Far")
    near.do("SELECT ssb.create_route('AnyOther', 'TRANSPORT')")
    near.do("SELECT ssb.drop_route('AutoCreatedLocal')")
    daemons(near)
    near.send(near.begin(f"{FAR}/Far"), "//Ask", "by name")
    assert [body for _, _, body in far.receive(1)] == ["by name"]
    near.send(near.begin("//Nowhere"), "//Ask", "lost")
    assert any("could not be found" in status for status in near.waiting())


@pytest.mark.one_postgres
def test_a_route_that_has_expired_is_none(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    near.do("SELECT ssb.alter_route('ToFar', lifetime => 1000)")
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "hello")
    near.do("UPDATE ssb.route SET expires_at = clock_timestamp() WHERE name = 'ToFar'")
    daemons(near)
    until(lambda: any("could not be found" in status for status in near.waiting()))
    near.do("SELECT ssb.alter_route('ToFar', lifetime => 1000)")
    assert [body for _, _, body in far.receive(1)] == ["hello"]
    # It counts for new dialogs only.
    near.do("UPDATE ssb.route SET expires_at = clock_timestamp() WHERE name = 'ToFar'")
    near.send(near.begin("//Far"), "//Ask", "a new one")
    near.send(handle, "//Ask", "an old one")
    assert [body for _, _, body in far.receive(1)] == ["an old one"]


@pytest.mark.one_postgres
def test_the_most_exact_route_counts(near: Side) -> None:
    near.do("SELECT ssb.drop_route('ToFar')")
    name = "TCP://by.name:1/Far"
    for route, address, service, instance in [
        ("a", "TRANSPORT", None, None),
        ("b", "TCP://any:1", None, None),
        ("c", "TCP://named:1", name, None),
        ("d", "TCP://exact:1", name, "i"),
    ]:
        near.do("SELECT ssb.create_route(%s, %s, %s, %s)", route, address, service, instance)
    found = "SELECT address FROM ssb_internal.find_route(5, %s, %s, NULL, false)"
    assert near.value(found, name, None) == "TCP://named:1"
    assert near.value(found, name, "I") == "TCP://exact:1"
    assert near.value(found, name, "j") == "TCP://named:1"
    # AutoCreatedLocal says as much, but the service is not here.
    assert {near.value(found, "//Other", None) for _ in range(30)} == {"TCP://any:1"}
    near.do("SELECT ssb.drop_route('AutoCreatedLocal')")
    assert near.value(found, "//Other", None) == "TCP://any:1"
    near.do("SELECT ssb.drop_route('b'), ssb.drop_route('c'), ssb.drop_route('d')")
    assert near.value(found, name, None) == "TCP://by.name:1"
    assert near.value(found, "//Other", None) is None


def test_a_change_of_routes_brings_a_dialog_home_until_it_has_left(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    near.do("SELECT ssb.create_service('//Far', 'dbo.near_queue', '{//Talk}')")
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one")
    near.do("SELECT ssb.drop_route('ToFar')")
    assert [body for _, _, body in near.receive(1)] == ["one"]
    near.do("SELECT ssb.create_route('ToFar', %s, '//Far')", FAR)
    away = near.begin("//Far")
    near.send(away, "//Ask", "two")
    daemon = daemons(near)
    assert [body for _, _, body in far.receive(1)] == ["two"]
    daemon.broker.stop()
    near.do("SELECT ssb.drop_route('ToFar')")
    near.send(away, "//Ask", "three")
    near.send(handle, "//Ask", "four")
    assert any("could not be found" in status for status in near.waiting())
    assert [body for _, _, body in near.receive(1)] == ["four"]
    near.do("SELECT ssb.create_route('ToFar', %s, '//Far')", FAR)
    daemons(near)
    assert [body for _, _, body in far.receive(1)] == ["three"]


@pytest.mark.one_postgres
def test_a_reply_needs_a_route_back(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    far.do("SELECT ssb.drop_route('ToNear')")
    daemons(near)
    daemons(far)
    near.send(near.begin("//Far"), "//Ask", "hello")
    ((there, _, _),) = far.receive(1)
    far.send(there, "//Answer", "where are you")
    assert any("could not be found" in status for status in far.waiting())
    far.do("SELECT ssb.create_route('ToNear', %s, '//Near', %s)", NEAR, near.guid().upper())
    assert [body for _, _, body in near.receive(1)] == ["where are you"]


@pytest.mark.one_postgres
def test_the_broker_instance_is_obeyed(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    daemons(near)
    wrong = near.begin("//Far", broker_instance="11111111-2222-3333-4444-555555555555")
    near.send(wrong, "//Ask", "to nobody")
    near.send(near.begin("//Far", broker_instance=far.guid().upper()), "//Ask", "to you")
    assert [body for _, _, body in far.receive(1)] == ["to you"]
    until(lambda: any("matched a LOCAL route" in status for status in near.waiting()))
    near.do("SELECT ssb.end_conversation(%s)", wrong)
    near.do("SELECT ssb.end_conversation(%s, cleanup => true)", wrong)
    assert near.waiting() == []


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


@pytest.mark.one_postgres
def test_a_missing_service_is_waited_for(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    near.do("SELECT ssb.create_route('ToLater', %s, '//Later')", FAR)
    daemons(near)
    near.send(near.begin("//Later"), "//Ask", "early")
    until(lambda: any("matched a LOCAL route" in status for status in near.waiting()))
    far.do("SELECT ssb.create_service('//Later', 'dbo.far_queue', '{//Talk}')")
    assert [body for _, _, body in far.receive(1)] == ["early"]


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
def test_a_dropped_service_answers_with_an_error(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    daemons(near)
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "hello")
    far.receive(1)
    far.do("SELECT ssb.drop_service('//Far')")
    near.send(handle, "//Ask", "still there?")
    ((_, kind, body),) = near.receive(1)
    assert kind == ERROR
    assert "-8470" in str(body)


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
        until(lambda: any("answers that are none" in status for status in near.waiting()))
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
    until(lambda: all("answers that are none" in status for status in near.waiting()))


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
def test_restored_dialogs_fail_on_both_sides(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    """ERROR_BROKER_CONVERSATIONS, for an instance that has forgotten what the other one has counted."""
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
    daemons(near)
    for side, code in ((near, "-9719"), (far, "-9720")):
        ((_, kind, body),) = side.receive(1)
        assert kind == ERROR
        assert code in str(body)
        assert side.states() == ["ERROR"]
    until(lambda: near.waiting() == [])


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
    assert values["Message Fragment Sends/sec"] == 2
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


def _read_set(near: Side) -> Any:
    """The numbers of the next set's messages."""
    return near.value(
        "SELECT numbers FROM ssb.transport_peer AS p CROSS JOIN LATERAL ssb_internal.next_set(p.peer_id,"
        " gen_random_uuid(), 500, 1000000, 500000, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
    )


@pytest.mark.one_postgres
def test_dialogs_with_hardly_a_message_each_are_read_as_they_stand(near: Side) -> None:
    def begin(messages: int, **options: Any) -> int:
        handle = near.begin("//Far", **options)
        near.send(handle, "//Ask", *(str(number) for number in range(messages)))
        found: int = near.value(
            "SELECT endpoint_id FROM ssb.conversation_endpoint WHERE conversation_handle = %s", handle
        )
        return found

    def read(*, messages: int) -> list[tuple[int, int, int]]:
        """Of each message the dialog, its place in the set, the number."""
        ((endpoints, dialogs, places, numbers),) = near.connection.execute(
            "SELECT endpoints, dialogs::jsonb, places, numbers FROM ssb.transport_peer AS p"
            " CROSS JOIN LATERAL ssb_internal.next_set(p.peer_id, NULL, %s, 1000000, 500000, '{}',"
            " NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
            [messages],
        ).fetchall()
        ids = dict(
            near.connection.execute(
                "SELECT conversation_id::text, endpoint_id FROM ssb.conversation_endpoint"
            ).fetchall()
        )
        assert [ids[dialog["conversation_id"]] for dialog in dialogs] == endpoints
        return [(endpoints[place], place, number) for place, number in zip(places, numbers, strict=True)]

    single = [begin(1) for _ in range(9)]
    secret = begin(1, encryption=True)
    double = begin(2)
    last = begin(1)
    expected = [(endpoint, place, 0) for place, endpoint in enumerate(single)]
    expected += [(double, 9, 0), (double, 9, 1), (last, 10, 0)]
    # The one that is to be encrypted waits for a binding, and the next look passes it.
    assert read(messages=24) == read(messages=24) == expected
    assert near.column(
        "SELECT left(transmission_status, 15) FROM ssb.transmission WHERE endpoint_id = %s", secret
    ) == ["Dialog security"]
    assert read(messages=10) == expected[:10]
    assert read(messages=11) == [*expected[:10], expected[11]]
    # Of one behind the first eight no more go than its share.
    long = begin(7)
    assert read(messages=24) == [*expected, *((long, 11, number) for number in range(3))]


_TAKE = (
    "ssb_internal.take_from_peer(%s::jsonb, %s::integer[], %s::bigint[], %s::text[], %s::text[], %s::bytea[])"
)


def _header() -> dict[str, Any]:
    """Of a dialog with //Far that begins in another instance."""
    return {
        "conversation_id": str(uuid.uuid4()),
        "is_initiator": True,
        "key": str(uuid.uuid4()),
        "to_service": "//Far",
        "from_service": "//Near",
        "from_instance": str(uuid.uuid4()),
        "contract": "//Talk",
        "is_encrypted": False,
    }


@pytest.mark.one_postgres
def test_a_quiet_dialog_is_taken_by_its_rows(far: Side) -> None:
    """What comes next of one dialog, and nothing else, does without the arrays of larger sets."""
    header = _header()
    far.do("SET track_functions = 'all'")

    longer = (
        "SELECT coalesce(pg_stat_get_xact_function_calls(p.oid), 0) FROM pg_proc AS p"
        " WHERE p.proname = 'take_plain'"
    )

    def take(*numbers: int) -> tuple[int, bool]:
        """Which number comes next, and whether it went the short way."""
        count = len(numbers)
        with far.connection.transaction():
            before = far.value(longer)
            (answer,) = far.connection.execute(
                "SELECT coalesce((t.others -> 0 ->> 'next_number')::bigint, t.next_numbers[1])"
                " FROM ssb_internal.take_from_peer(%s::jsonb, %s::integer[], %s::bigint[], %s::text[],"
                " %s::text[], %s::bytea[]) AS t",
                [
                    json.dumps([header]),
                    [0] * count,
                    list(numbers),
                    ["//Ask"] * count,
                    ["message"] * count,
                    [str(number).encode() for number in numbers],
                ],
            ).fetchall()
            calls = far.value(longer)
        return answer[0], calls == before

    assert take(0) == (1, False)
    assert take(1) == (2, True)
    assert take(2, 3, 4) == (5, True)
    assert take(4, 5) == (6, False)  # one of them has come already
    assert take(7) == (6, False)  # one is missing
    assert take(6, 8, 7, 9)[1] is False
    assert [body for _, _, body in far.receive(7)][:6] == ["0", "1", "2", "3", "4", "5"]
    far.do("SELECT ssb.alter_queue('dbo.far_queue', status => 'OFF')")
    assert take(10)[1] is False


def test_a_quiet_dialog_is_looked_up_by_its_indexes(far: Side) -> None:
    """Also where the plan is made when VACUUM has just found no dialog: it joined all to all."""
    plans: list[str] = []
    far.connection.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
    far.do("LOAD 'auto_explain'")
    headers = [_header() for _ in range(300)]
    with (
        far.connection.transaction(force_rollback=True),
        psycopg.connect(far.database.dsn, autocommit=True) as other,
    ):
        far.do(
            f"SELECT FROM {_TAKE}",
            json.dumps(headers),
            *(list(range(300)), [0] * 300, ["//Ask"] * 300, ["message"] * 300, [b"first"] * 300),
        )
        other.execute("VACUUM ANALYZE ssb.conversation_endpoint")
        other.execute("VACUUM ANALYZE ssb.remote_conversation")
        far.do("SET LOCAL auto_explain.log_min_duration = 0")
        far.do("SET LOCAL auto_explain.log_nested_statements = on")
        far.do("SET LOCAL auto_explain.log_level = 'notice'")
        answer = far.value(
            f"SELECT next_numbers FROM {_TAKE}",
            *(json.dumps(headers[17:18]), [0], [1], ["//Ask"], ["message"], [b"second"]),
        )
        far.do("SET LOCAL auto_explain.log_min_duration = -1")
    assert answer == [2]
    (plan,) = (one for one in plans if "UPDATE ssb.remote_conversation" in one and "Update on" in one)
    scans = re.findall(r"Scan using \w+ on (\w+)[^\n]*\n\s+Index Cond", plan)
    assert sorted(scans) == [
        *("contract_message_usage", "conversation_endpoint", "remote_conversation", "remote_conversation")
    ]


@pytest.mark.one_postgres
def test_a_send_tells_which_instance_it_is_for(near: Side) -> None:
    """So the daemon need not look for which."""
    handles = [near.begin("//Far") for _ in range(2)]
    for handle in handles:
        near.send(handle, "//Ask", "first")
    known = str(near.value("SELECT peer_id FROM ssb.transport_peer"))
    near.do("LISTEN ssb_transport")
    near.send(handles[0], "//Ask", "second")
    near.do("SELECT ssb.send_batch(%s, array_fill('//Ask'::text, ARRAY[4]), '{a,b,c,d}')", handles * 2)
    near.do("SELECT ssb.send_batch(%s, array_fill('//Ask'::text, ARRAY[4]), '{e,f,g,h}')", handles[:1] * 4)
    told = [notice.payload for notice in near.connection.notifies(timeout=1, stop_after=3)]
    assert told == [known] * 3
    numbers = "SELECT message_sequence_number FROM ssb.transmission ORDER BY endpoint_id, transmission_id"
    assert near.column(numbers) == [*range(8), *range(3)]


def test_what_leaves_is_on_the_disk(near: Side) -> None:
    """Also of a sender who has not waited for that."""
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "first")
    assert _read_set(near) == [0]
    near.do("SET synchronous_commit = off")
    for number in range(2, 12):
        near.send(handle, "//Ask", "more")
        written = near.value("SELECT pg_current_wal_insert_lsn()")
        assert len(_read_set(near)) == number
        assert near.value("SELECT pg_current_wal_flush_lsn() >= %s::pg_lsn", written)


def test_a_new_dialog_does_not_wait_until_all_that_is_parked_was_tried(near: Side) -> None:
    for number in range(40):
        near.send(near.begin("//Far"), "//Ask", f"parked {number}")
    near.do(
        "SELECT ssb_internal.put_off(array_agg(r.endpoint_id), 'not taken') FROM ssb.remote_conversation AS r"
    )
    near.do("UPDATE ssb.remote_conversation SET retry_at = now()")
    near.send(near.begin("//Far"), "//Ask", "new")
    bodies = near.value(
        "SELECT bodies FROM ssb.transport_peer AS p CROSS JOIN LATERAL ssb_internal.next_set(p.peer_id,"
        " NULL, 10, 1000000, 500000, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
    )
    assert len(bodies) == 6
    assert b"new" in bodies


def test_settling_alone_waits_for_no_disk(near: Side, far: Side) -> None:
    """A crash may take it back: the message is sent again, and taken for what it is."""
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "first")
    columns = "dialogs, places, numbers, message_types, kinds, bodies, ids, endpoints"
    read = (
        f"SELECT {columns} FROM ssb.transport_peer AS p CROSS JOIN LATERAL ssb_internal.next_set(p.peer_id,"
        " gen_random_uuid(), 500, 1000000, 500000, '{}', NULL, NULL, NULL,"
        " %s::bigint[], %s::bigint[], %s::bigint[], %s::text[], NULL)"
    )

    def look(*settled: Any) -> tuple[list[Any], str]:
        """What a set has, and whether the call waits for the disk."""
        with near.connection.transaction():
            rows = near.connection.execute(read, settled or [None] * 4).fetchall()
            return rows, near.value("SHOW synchronous_commit")

    def take(row: Any) -> tuple[list[int], list[str | None]]:
        dialogs, *arrays = row[:6]
        (answer,) = far.connection.execute(
            "SELECT next_numbers, instances FROM ssb_internal.take_from_peer(%s::jsonb, %s::integer[],"
            " %s::bigint[], %s::text[], %s::text[], %s::bytea[])",
            [dialogs, *arrays],
        ).fetchall()
        return answer

    (first,), waits = look()
    assert waits == "on"  # the dialog is marked: it may have arrived
    answer = take(first)
    assert answer[0] == [1]
    near.send(handle, "//Ask", "second")
    (second,), waits = look(*first[6:], *answer)
    assert (second[2], waits) == ([1], "on")
    answer = take(second)
    with near.connection.transaction(force_rollback=True):
        assert look(*second[6:], *answer) == ([], "off")
    # As after a crash: it is there again, and the other side has it already.
    (again,), _ = look()
    assert again[2] == [1]
    assert take(again)[0] == [2]
    assert look(*again[6:], *answer)[0] == []
    assert near.waiting() == []
    assert [body for _, _, body in far.receive(2)] == ["first", "second"]


@pytest.mark.one_postgres
def test_a_raw_statement_is_prepared_once_and_outlives_errors(near: Side) -> None:
    statement = RawStatement("SELECT 7 / $1::integer AS seventh")

    async def run() -> list[Any]:
        connection = await open_connection(near.database.dsn, {})
        found: list[Any] = []
        try:
            for value in (7, 0, None, -1):
                try:
                    result = await statement.run(connection, [integer(value)])
                except psycopg.errors.DivisionByZero:
                    found.append("zero")
                else:
                    (one,) = raw_row(result, (None,)) or (None,)
                    found.append(number_of(one))
            with pytest.raises(psycopg.errors.UndefinedTable):
                await RawStatement("SELECT FROM nowhere").run(connection, [])
            with pytest.raises(psycopg.InternalError, match="COMMAND_OK"):
                await RawStatement("SET jit = off").run(connection, [])
            cursor = await connection.execute("SELECT count(*) FROM pg_prepared_statements")
            found += await cursor.fetchone() or ()
        finally:
            await connection.close()
        with pytest.raises(psycopg.OperationalError):
            await statement.run(connection, [integer(1)])
        return found

    assert asyncio.run(run()) == [1, "zero", None, -7, 2]


def _grow(side: Side, rows: int) -> None:
    """VACUUM comes by while so much is being sent, which is not: the planner believes that nothing waits.

    The indexes stay as high as they have become.
    """
    columns = (
        "database_id, endpoint_id, to_service, message_sequence_number, message_type_name, is_end_of_dialog,"
        " is_conversation_error, enqueued_at, body, transmission_status, peer_id"
    )
    side.send(side.begin("//Far"), "//Ask", "waits")
    with (
        side.connection.transaction(force_rollback=True),
        psycopg.connect(side.database.dsn, autocommit=True) as other,
    ):
        side.do(
            f"INSERT INTO ssb.transmission ({columns})"
            f" SELECT {columns} FROM (SELECT * FROM ssb.transmission LIMIT 1) AS t, generate_series(1, %s)",
            rows,
        )
        other.execute("DELETE FROM ssb.transmission")
        other.execute("VACUUM ANALYZE ssb.transmission")


def test_what_waits_is_read_in_the_order_of_its_index(near: Side) -> None:
    plans: list[str] = []
    near.connection.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
    near.do("LOAD 'auto_explain'")
    # The index by peer has one more level than the one by endpoint.
    _grow(near, 50_000)
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one", "two")
    for setting in ("log_min_duration = 0", "log_nested_statements = on", "log_level = notice"):
        near.do(f"SET auto_explain.{setting}")
    assert _read_set(near) == [0, 1]
    walks = [plan for plan in plans if "walk AS" in plan]
    assert len(walks) == 2
    for plan in walks:
        assert "Index Scan using transmission_by_peer" in plan
        assert "Sort Key" not in plan
    # That one has one more than the primary key.
    _grow(near, 80_000)
    plans.clear()
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one", "two")
    near.do("SELECT ssb.send_batch(%s::uuid[], %s::text[], %s::bytea[])", [handle], ["//Ask"], [b"three"])
    near.value("SELECT ssb.get_transmission_status(%s)", handle)
    near.do("SELECT ssb_internal.deliver_waiting(endpoint_id) FROM ssb.conversation_endpoint")
    near.do("UPDATE ssb.remote_conversation SET retry_at = now()")
    assert _read_set(near) == [0, 1, 2]
    assert [plan for plan in plans if re.search(r"using transmission_pkey.*\n\s*Filter", plan)] == []

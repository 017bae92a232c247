"""Which of several routes a dialog takes, and what a connection must be."""

import random
from collections.abc import Callable

import psycopg
import pytest
from instances import FAR, Side

from activation import Daemon, until
from pgsb.daemon import peer_connection


def route(side: Side, service: str, instance: str | None = None) -> tuple[str, str | None]:
    row = side.connection.execute(
        "SELECT address, mirror_address FROM ssb_internal.find_route(5, %s, %s, NULL, false)",
        [service, instance],
    ).fetchone()
    assert row is not None
    return row


def add(side: Side, name: str, address: str, **options: str) -> None:
    words = "".join(f", {option} => %s" for option in options)
    side.do(f"SELECT ssb.create_route(%s, %s{words})", name, address, *options.values())


def test_local_is_taken_only_where_the_service_is(near: Side) -> None:
    """A LOCAL route and one that leads away, both for the name: today's service here, tomorrow's there."""
    add(near, "a", "LOCAL", service_name="//Both")
    add(near, "b", "TCP://one:4022", service_name="//Both")
    assert {route(near, "//Both") for _ in range(20)} == {("TCP://one:4022", None)}
    near.do("SELECT ssb.create_service('//Both', 'dbo.near_queue')")
    assert {route(near, "//Both") for _ in range(20)} == {("LOCAL", None)}
    # Of an instance that the dialog names: one without it here.
    assert route(near, "//Both", "11111111-1111-1111-1111-111111111111") == ("TCP://one:4022", None)


def test_a_route_with_the_name_and_the_instance_says_most(near: Side) -> None:
    one, two = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
    add(near, "a", "TCP://any:4022", service_name="//S")
    add(near, "b", "TCP://one:4022", service_name="//S", broker_instance=one)
    assert route(near, "//S", one) == ("TCP://one:4022", None)
    assert route(near, "//S", two) == ("TCP://any:4022", None)
    assert route(near, "//S") == ("TCP://any:4022", None)
    near.do("SELECT ssb.drop_route('a')")
    # No route for this instance, but the one of every name: which is here.
    assert route(near, "//S", two) == ("LOCAL", None)
    assert route(near, "//S") == ("TCP://one:4022", None)


def test_several_share_new_dialogs_and_a_mirror_comes_first(near: Side) -> None:
    add(near, "a", "TCP://one:4022", service_name="//S")
    add(near, "b", "TCP://two:4022", service_name="//S")
    assert {route(near, "//S")[0] for _ in range(60)} == {"TCP://one:4022", "TCP://two:4022"}
    instance = "11111111-1111-1111-1111-111111111111"
    add(
        near, "c", "TCP://p:4022", service_name="//S", broker_instance=instance, mirror_address="TCP://m:4022"
    )
    add(near, "d", "TCP://q:4022", service_name="//S", broker_instance=instance)
    assert {route(near, "//S", instance) for _ in range(20)} == {("TCP://p:4022", "TCP://m:4022")}


_LOCAL = ("LOCAL", None)
_ONE, _TWO = ("TCP://one.example:4022/", None), ("TCP://two.example:4022/", None)
_GUIDS = ("5fb8d92b-ed69-4c80-afbb-2aa6a7d3cb2d", "81b1d3d0-288e-4d2c-b1d3-456cbb944b4f")


@pytest.mark.parametrize(
    ("routes", "of_msdb", "outgoing", "incoming"),
    [
        # 1. Nothing but AutoCreatedLocal.
        ([], [], {"//Here": {_LOCAL}, "//Away": {_LOCAL}}, {"//Here": {_LOCAL}, "//Away": {_LOCAL}}),
        # 2. One service is elsewhere, for those who begin here.
        (
            [("//Away", None, *_ONE)],
            [],
            {"//Away": {_ONE}, "//Here": {_LOCAL}},
            {"//Away": {_LOCAL}},
        ),
        # 3. … in a database that is mirrored.
        (
            [("//Away", _GUIDS[0], _ONE[0], _TWO[0])],
            [],
            {"//Away": {(_ONE[0], _TWO[0])}, "//Here": {_LOCAL}},
            {"//Away": {_LOCAL}},
        ),
        # 4. Everything that is not here is elsewhere.
        ([(None, None, *_ONE)], [], {"//Away": {_ONE}, "//Here": {_LOCAL}}, {"//Away": {_LOCAL}}),
        # 5. One of two, by turns; the one that the dialog names.
        (
            [("//Away", _GUIDS[0], *_ONE), ("//Away", _GUIDS[1], *_TWO)],
            [],
            {"//Away": {_ONE, _TWO}, f"//Away {_GUIDS[1]}": {_TWO}, "//Here": {_LOCAL}},
            {"//Away": {_LOCAL}},
        ),
        # 6. Forwarded is what comes for one service, though there is one of that name here.
        (
            [],
            [("//Here", None, *_ONE)],
            {"//Here": {_LOCAL}, "//Away": {_LOCAL}},
            {"//Here": {_ONE}, "//Away": {_LOCAL}},
        ),
        # 7. Forwarded is what comes for services that are not here.
        ([], [(None, None, *_ONE)], {"//Away": {_LOCAL}}, {"//Away": {_ONE}, "//Here": {_LOCAL}}),
    ],
)
def test_examples_of_routing_tables(
    near: Side,
    routes: list[tuple[str | None, ...]],
    of_msdb: list[tuple[str | None, ...]],
    outgoing: dict[str, set[tuple[str, str | None]]],
    incoming: dict[str, set[tuple[str, str | None]]],
) -> None:
    """What Microsoft's page of examples tells, with routes and words of our own."""
    near.do("SELECT ssb.create_service('//Here', 'dbo.near_queue', '{//Talk}')")
    for database, table in ((None, routes), ("msdb", of_msdb)):
        for number, (service, instance, address, mirror) in enumerate(table):
            near.do(
                "SELECT ssb.create_route(%s, %s, %s, %s, mirror_address => %s, database => %s)",
                f"r{number}",
                address,
                service,
                instance,
                mirror,
                database,
            )
    for words, expected in outgoing.items():
        assert {route(near, *words.split()) for _ in range(40)} == expected
    for service, expected in incoming.items():
        hops = near.connection.execute(
            "SELECT address, mirror_address FROM ssb_internal.next_hops(jsonb_build_array(jsonb_build_object("
            "'conversation_id', gen_random_uuid(), 'is_initiator', true, 'to_service', %s::text)))",
            [service],
        ).fetchall()
        assert set(hops or [_LOCAL]) == expected


def test_transport_is_last_but_for_local_without_the_service(near: Side) -> None:
    add(near, "t", "TRANSPORT")
    assert route(near, "TCP://there:4022/Service") == ("TCP://there:4022", None)
    assert route(near, "//Plain") == ("LOCAL", None)
    near.do("SELECT ssb.create_service('TCP://there:4022/Service', 'dbo.near_queue')")
    assert route(near, "TCP://there:4022/Service") == ("LOCAL", None)


def test_a_service_that_is_elsewhere_is_reached_beside_a_local_route_of_its_name(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    """It was a matter of chance, and half the messages stayed for ever."""
    add(near, "local", "LOCAL", service_name="//Far")
    daemons(near)
    for number in range(8):
        near.send(near.begin("//Far"), "//Ask", str(number))
    assert {body for _, _, body in far.receive(8)} == {str(number) for number in range(8)}
    assert near.waiting() == []


def test_a_known_route_is_taken_until_routes_change(near: Side, far: Side) -> None:
    """SEND looks for the route once, and again when a definition has changed, or somebody is changing one."""
    known = "SELECT route_epoch IS NOT NULL FROM ssb.conversation_endpoint ORDER BY endpoint_id DESC"
    to = "SELECT address FROM ssb.remote_conversation ORDER BY endpoint_id DESC LIMIT 1"
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "a", "b")
    assert near.value(known) is True
    near.do("SELECT ssb.alter_route('ToFar', 'TCP://other:4022')")
    near.send(handle, "//Ask", "c")
    assert near.value(to) == "TCP://other:4022"
    numbers = "SELECT message_sequence_number FROM ssb.transmission ORDER BY transmission_id"
    assert near.column(numbers) == [0, 1, 2]
    for kind, error in (("//Nothing", "is not found"), ("//Xml", None)):
        if error is None:
            near.send(handle, kind, "<a/>")
        else:
            with pytest.raises(psycopg.Error, match=error):
                near.send(handle, kind, "x")
    assert near.column(numbers) == [0, 1, 2, 3]
    with psycopg.connect(near.database.dsn) as changing:
        changing.execute("SELECT ssb.create_route('late', %s, '//Late')", [FAR])
        other = near.begin("//Far")
        near.send(other, "//Ask", "a")
        assert near.value(known) is False
    near.send(other, "//Ask", "b")
    assert near.value(known) is True
    # A route that will expire is asked for its time with each message.
    near.do("SELECT ssb.alter_route('ToFar', lifetime => 1000)")
    last = near.begin("//Far")
    near.send(last, "//Ask", "a", "b")
    assert near.value(known) is False


def test_an_endpoint_that_requires_encryption_sends_nothing_without_tls(
    near: Side, far: Side, daemons: Callable[..., Daemon], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken for a connection through the network: the socket's address is hidden from the transport."""
    monkeypatch.setattr(peer_connection, "_is_local", lambda _: False)
    daemons(near)
    near.send(near.begin("//Far"), "//Ask", "hello")
    until(lambda: any("has no TLS" in status for status in near.waiting()), 20)
    assert far.value("SELECT count(*) FROM ssb.message_stored") == 0
    near.do("SELECT ssb.alter_endpoint('BrokerEndpoint', encryption => 'SUPPORTED')")
    assert [body for _, _, body in far.receive(1)] == ["hello"]
    assert FAR in near.column("SELECT address FROM ssb.transport_connection")


def test_a_route_for_another_service_holds_no_dialog_that_waits(near: Side) -> None:
    """However many wait, only those that it may lead elsewhere are looked at."""
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "waits")
    ((status,),) = near.connection.execute("SELECT transmission_status FROM sys.transmission_queue")
    assert FAR in status
    with psycopg.connect(near.database.dsn) as another:
        another.execute("SELECT ssb.create_route('other', 'TCP://other.example:4022', '//Other')")
        near.do("SET lock_timeout = '5s'")
        near.send(handle, "//Ask", "goes on")
        another.execute("SELECT ssb.alter_route('other', 'TCP://moved.example:4022')")
        another.execute("SELECT ssb.drop_route('other')")
        near.send(handle, "//Ask", "and on")
        # Nor does one for theirs hold them while its transaction is open: who brings messages would wait.
        another.execute("SELECT ssb.alter_route('ToFar', 'TCP://open.example:4022')")
        near.send(handle, "//Ask", "and on")
        near.do("SELECT FROM ssb.remote_conversation FOR UPDATE NOWAIT")
        another.execute("ROLLBACK")
        another.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        another.execute("SELECT ssb.create_route('another', 'TCP://another.example:4022', '//Far')")
        near.send(handle, "//Ask", "and on")
        another.commit()
        near.do("SELECT ssb.drop_route('another')")
    near.do("SELECT ssb.alter_route('ToFar', 'TCP://moved.example:4022')")
    assert [("moved.example" in one, FAR in one) for one in near.waiting()] == [(True, False)] * 5
    # One of no service is for all of them, but theirs says more.
    near.do("SELECT ssb.create_route('any', 'TCP://any.example:4022')")
    assert all("moved.example" in one for one in near.waiting())
    near.do("SELECT ssb.drop_route('ToFar')")
    assert ["any.example" in one for one in near.waiting()] == [True] * 5


_PLACES = (
    "LOCAL",
    "TCP://one.example:4022",
    "tcp://ONE.example:4022",
    "TCP://two.example:4022",
    "TCP://three.example:4022",
)


def test_dialogs_that_are_led_elsewhere_are_those_that_find_route_leads_elsewhere(near: Side) -> None:
    """Routes are looked at once for a service; here beside asking for each dialog, by chance."""
    chance = random.Random(17)
    near.do("SELECT ssb.create_service('//Here', 'dbo.near_queue', '{//Talk}')")
    services = ("//Here", "//Away", "TCP://one.example:4022/S")
    handles = [
        near.begin(chance.choice(services), broker_instance=chance.choice((None, *_GUIDS))) for _ in range(24)
    ]
    near.do("SELECT ssb.create_route('away', 'TCP://all.example:4022', '//Away')")
    for handle in handles:
        near.send(handle, "//Ask", "waits")
    waiting = near.column("SELECT DISTINCT endpoint_id FROM ssb.transmission")
    assert len(waiting) > 10
    near.do(
        "INSERT INTO ssb.remote_conversation"
        " (endpoint_id, conversation_id, is_initiator, database_id, service_id)"
        " SELECT e.endpoint_id, e.conversation_id, true, e.database_id, e.service_id"
        " FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = ANY (%s) ON CONFLICT DO NOTHING",
        waiting,
    )
    led, plain = 0, 0
    for _ in range(8):
        with near.connection.transaction(force_rollback=True):
            near.do("DELETE FROM ssb.route WHERE database_id = 5")
            for number in range(chance.randrange(6)):
                service = chance.choice((None, *services[:2]))
                address = chance.choice((*_PLACES, "TRANSPORT") if service is None else _PLACES)
                near.do(
                    "INSERT INTO ssb.route (database_id, name, service_name, broker_instance, expires_at,"
                    " address, mirror_address, owner) VALUES (5, %s, %s, %s, %s, %s, %s, 'dbo')",
                    str(number),
                    service,
                    chance.choice((None, *_GUIDS)) if service else None,
                    chance.choice((None, None, "yesterday", "tomorrow")),
                    address,
                    chance.choice((None, "TCP://m:1")) if address.lower().startswith("tcp") else None,
                )
            for endpoint in waiting:
                near.do(
                    "UPDATE ssb.remote_conversation SET address = %s, mirror_address = %s, is_under_way = %s"
                    " WHERE endpoint_id = %s",
                    address := chance.choice((None, *_PLACES[1:])),
                    chance.choice((None, None, "TCP://m:1")) if address else None,
                    chance.random() < 0.4,
                    endpoint,
                )
            # More than one is equally good: asked so often, each is found.
            expected = {
                endpoint: (now, {(to, mirror) for to, mirror in ways})
                for endpoint, now, ways in near.connection.execute(
                    "SELECT e.endpoint_id, ARRAY[upper(r.address), r.mirror_address],"
                    " (SELECT array_agg(DISTINCT ARRAY[nullif(upper(f.address), 'LOCAL'), f.mirror_address])"
                    "    FROM generate_series(1, 40) AS n CROSS JOIN LATERAL ssb_internal.find_route("
                    "         CASE WHEN n > 0 THEN 5 END, e.far_service, e.far_broker_instance, r.address,"
                    "         r.is_under_way) AS f)"
                    " FROM ssb.conversation_endpoint AS e"
                    " JOIN ssb.remote_conversation AS r USING (endpoint_id) WHERE e.endpoint_id = ANY (%s)",
                    [waiting],
                )
            }
            for with_near in (False, True):
                astray = {
                    endpoint: addresses and {*zip(map(str.upper, addresses), mirrors, strict=True)}
                    for endpoint, addresses, mirrors in near.connection.execute(
                        "SELECT endpoint_id, addresses, mirror_addresses"
                        " FROM ssb_internal.astray_dialogs(5, NULL, %s)",
                        [with_near],
                    )
                }
                assert astray.keys() == {
                    endpoint
                    for endpoint, (now, ways) in expected.items()
                    if tuple(now) not in ways or (with_near and now[0] is None)
                }
                for endpoint, ways in astray.items():
                    assert ways is None or ways == expected[endpoint][1]
                led, plain = led + len(astray), plain + sum(ways is not None for ways in astray.values())
    assert plain > 50 and led - plain > 50


def test_a_new_route_moves_what_waits_as_one(near: Side) -> None:
    """Dialogs that had no way and dialogs that waited for another instance; what somebody holds follows."""
    near.do("SELECT ssb.drop_route('ToFar')")
    for _ in range(24):
        near.send(near.begin("//Far"), "//Ask", "a", "b")
    where = (
        "SELECT p.address FROM ssb.transmission AS t LEFT JOIN ssb.transport_peer AS p USING (peer_id)"
        " LEFT JOIN ssb.remote_conversation AS r USING (endpoint_id)"
        " WHERE r.address IS NOT DISTINCT FROM p.address ORDER BY t.transmission_id"
    )
    assert near.column(where) == [None] * 48
    with psycopg.connect(near.database.dsn) as another:
        held = another.execute(
            "SELECT endpoint_id FROM ssb.conversation_endpoint ORDER BY endpoint_id LIMIT 1 FOR UPDATE"
        ).fetchone()
        near.do("SELECT ssb.create_route('one', 'TCP://one.example:4022', '//Far')")
        assert near.column(where) == [None] * 2 + ["TCP://one.example:4022"] * 46
        near.do("SELECT ssb_internal.follow_routes('')")
        assert near.column(where)[:3] == [None] * 2 + ["TCP://one.example:4022"]
    assert near.value("SELECT ssb_internal.follow_routes('')") is not None
    assert near.column(where) == ["TCP://one.example:4022"] * 48
    assert held is not None
    near.do("SELECT ssb.create_route('two', 'TCP://two.example:4022', '//Far')")
    assert near.column(where) == ["TCP://one.example:4022"] * 48
    # Several share those that lose theirs, and a dialog's messages stay together.
    near.do("SELECT ssb.create_route('three', 'TCP://three.example:4022', '//Far')")
    near.do("SELECT ssb.drop_route('one')")
    moved = near.column(where)
    assert {*moved} == {"TCP://two.example:4022", "TCP://three.example:4022"}
    assert moved[::2] == moved[1::2]
    assert all("two.example" in one or "three.example" in one for one in near.waiting())

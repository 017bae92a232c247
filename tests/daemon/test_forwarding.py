"""Messages that pass through other instances: near → one → two → far, four databases with a daemon each."""

import json
import os
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from instances import END, FAR, NEAR, Side, make_side
from secured import begin, script

from activation import Daemon, until
from pgsb.daemon import peer
from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from support import Database, rest_is_long

pytestmark = pytest.mark.one_postgres

_ONE, _TWO = "TCP://one.example:4022", "TCP://two.example:4022"
_DISABLED = "Could not forward the message because forwarding is disabled in this SQL Server instance."


class Chain:
    """The four instances, in order, and daemons that know every address."""

    def __init__(self, sides: list[Side]) -> None:
        self.near, self.one, self.two, self.far = self.sides = sides
        self.addresses = {
            address.lower(): side.database.dsn
            for address, side in zip((NEAR, _ONE, _TWO, FAR), sides, strict=True)
        }
        self.daemons: dict[Side, Daemon] = {}

    def start(self, *sides: Side) -> None:
        for side in sides:
            self.daemons[side] = self._start(side)

    def _start(self, side: Side) -> Daemon:
        one: Daemon
        options = BrokerOptions(side.database.dsn, grace=1.0, addresses=self.addresses)
        one = Daemon(EmbeddedBroker(options, lambda line: one.write(line)))
        one.broker.__enter__()
        assert one.broker.wait_until_leading()
        return one

    def start_process(self, side: Side) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            "pgsb.cli.main",
            "broker",
            "--dsn",
            side.database.dsn,
            "--grace",
            "1",
        ]
        for address, dsn in self.addresses.items():
            command += ["--address", f"{address}={dsn}"]
        return subprocess.Popen(command)

    def stop(self) -> None:
        for daemon in self.daemons.values():
            daemon.broker.stop()

    def route(self, side: Side, service: str, address: str, database: str = "msdb") -> None:
        side.do(
            "SELECT ssb.create_route(%s, %s, %s, database => %s)",
            f"To{service.strip('/')}",
            address,
            service,
            database,
        )


@pytest.fixture
def chain(near: Side, far: Side, new_database: Callable[[], Database]) -> Iterator[Chain]:
    middle = [make_side(new_database(), f"dbo.{name}_queue", f"//{name}") for name in ("One", "Two")]
    chain = Chain([near, *middle, far])
    near.do("SELECT ssb.alter_route('ToFar', %s)", _ONE)
    far.do("SELECT ssb.alter_route('ToNear', %s)", _TWO)
    chain.route(chain.one, "//Far", _TWO)
    chain.route(chain.one, "//Near", NEAR)
    chain.route(chain.two, "//Far", FAR)
    chain.route(chain.two, "//Near", _ONE)
    for side in middle:
        side.do("SELECT ssb.alter_endpoint('BrokerEndpoint', message_forwarding => true)")
    yield chain
    chain.stop()
    for side in middle:
        side.connection.close()


def discarded(side: Side) -> int:
    number: int = side.value(
        "SELECT cntr_value FROM sys.dm_os_performance_counters"
        " WHERE counter_name = 'Forwarded Msg Discarded Total'"
    )
    return number


@pytest.mark.long
def test_a_dialog_and_its_ends_pass_through_two_instances(chain: Chain) -> None:
    chain.start(*chain.sides)
    near, far = chain.near, chain.far
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one", "two")
    got = far.receive(2)
    assert [body for _, _, body in got] == ["one", "two"]
    until(lambda: near.waiting() == [])
    far.send(got[0][0], "//Answer", "three")
    far.do("SELECT ssb.end_conversation(%s)", got[0][0])
    assert near.receive(2) == [(handle, "//Answer", "three"), (handle, END, None)]
    near.do("SELECT ssb.end_conversation(%s)", handle)
    assert near.states() == []
    assert near.guid() != far.guid()
    for side in (chain.one, chain.two):
        # Nothing is kept of what went by.
        assert side.value("SELECT count(*) FROM ssb.remote_conversation") == 0
        until(lambda side=side: side.value("SELECT count(*) FROM ssb.forwarded_set") == 0)
        assert side.value("SELECT value FROM ssb.broker_counter WHERE name = 'forwarded'") >= 4


@pytest.mark.long
def test_a_hub_is_administered_in_t_sql(near: Side, far: Side, new_database: Callable[[], Database]) -> None:
    """From the endpoint to its end, as the administrator of an instance between two others types it."""
    hub = make_side(new_database(), "dbo.hub_queue", "//Hub")
    settings = (
        "SELECT is_message_forwarding_enabled, message_forwarding_size FROM sys.service_broker_endpoints"
    )
    script(hub, "DROP ENDPOINT BrokerEndpoint")
    near.do("SELECT ssb.alter_route('ToFar', %s)", _ONE)
    far.do("SELECT ssb.alter_route('ToNear', %s)", _ONE)
    chain = Chain([near, hub, hub, far])
    chain.addresses[_ONE.lower()] = hub.database.dsn
    try:
        chain.start(near, hub, far)
        handle = near.begin("//Far")
        near.send(handle, "//Ask", "one")
        until(lambda: any("endpoint is not started" in status for status in near.waiting()))
        script(
            hub,
            f"""USE master
            GO
            CREATE ENDPOINT Hub STATE = STARTED AS TCP (LISTENER_PORT = 4022)
                FOR SERVICE_BROKER (AUTHENTICATION = WINDOWS)
            GO
            USE msdb
            GO
            DROP ROUTE AutoCreatedLocal
            CREATE ROUTE ToFar WITH SERVICE_NAME = '//Far', ADDRESS = '{FAR}'
            CREATE ROUTE ToNear WITH SERVICE_NAME = '//Near', ADDRESS = '{NEAR}'""",
        )
        assert hub.connection.execute(settings).fetchall() == [(False, 10)]
        until(lambda: near.waiting() == [_DISABLED], 30)
        script(
            hub,
            "ALTER ENDPOINT Hub FOR SERVICE_BROKER (MESSAGE_FORWARDING = ENABLED, MESSAGE_FORWARD_SIZE = 20)",
        )
        assert hub.connection.execute(settings).fetchall() == [(True, 20)]
        ((there, _, body),) = far.receive(1)
        assert body == "one"
        far.send(there, "//Answer", "two")
        assert near.receive(1) == [(handle, "//Answer", "two")]
        # Without AutoCreatedLocal nothing from outside is for the hub itself.
        near.do("SELECT ssb.create_route('ToHub', %s, '//Hub')", _ONE)
        stranger = near.begin("//Hub")
        near.send(stranger, "//Ask", "hello")
        until(lambda: any("service name could not be found" in status for status in near.waiting()), 30)
        script(hub, "ALTER ENDPOINT Hub FOR SERVICE_BROKER (MESSAGE_FORWARDING = DISABLED)")
        near.send(handle, "//Ask", "three")
        until(lambda: _DISABLED in near.waiting(), 30)
        script(hub, "ALTER ENDPOINT Hub STATE = STOPPED")
        until(lambda: any("endpoint is not started" in status for status in near.waiting()), 30)
        assert hub.connection.execute(settings).fetchall() == [(False, 20)]
        script(
            hub,
            """ALTER ENDPOINT Hub STATE = STARTED
            ALTER ENDPOINT Hub FOR SERVICE_BROKER (MESSAGE_FORWARDING = ENABLED)""",
        )
        assert [body for _, _, body in far.receive(1)] == ["three"]
        assert hub.value("SELECT count(*) FROM ssb.message_stored") == 0
    finally:
        chain.stop()
        hub.connection.close()


@pytest.mark.long
def test_security_is_between_the_ends(chain: Chain, near: Side, far: Side, full: None) -> None:
    """Those between have no keys, and bring what they cannot read."""
    chain.one.do("CREATE TABLE dbo.seen AS SELECT * FROM ssb.forwarded_set WITH NO DATA")
    chain.one.do(
        "CREATE FUNCTION dbo.keep() RETURNS trigger LANGUAGE plpgsql AS"
        " $$BEGIN INSERT INTO dbo.seen SELECT NEW.*; RETURN NULL; END$$"
    )
    chain.one.do(
        "CREATE TRIGGER keep AFTER INSERT ON ssb.forwarded_set FOR EACH ROW EXECUTE FUNCTION dbo.keep()"
    )
    chain.start(*chain.sides)
    handle = begin(near, "//Far")
    near.send(handle, "//Ask", "secret one")
    ((there, _, body),) = far.receive(1)
    assert body == "secret one"
    far.send(there, "//Answer", "secret two")
    assert near.receive(1) == [(handle, "//Answer", "secret two")]
    until(lambda: near.waiting() + far.waiting() == [])
    seen = chain.one.column("SELECT array_to_string(bodies, '', '') || dialogs::text FROM dbo.seen")
    assert seen
    for word in ("secret", b"secret".hex(), "//Ask", b"//Ask".hex()):
        assert all(word not in one for one in seen)
    assert far.column("SELECT security FROM ssb.remote_conversation") == ["F"]
    # One that changes a byte, or says on its own that all has arrived, changes nothing.
    chain.one.do(
        "CREATE OR REPLACE FUNCTION dbo.keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
        " NEW.bodies[1] := set_byte(NEW.bodies[1], 20, get_byte(NEW.bodies[1], 20) # 1); RETURN NEW; END$$"
    )
    chain.one.do("DROP TRIGGER keep ON ssb.forwarded_set")
    chain.one.do(
        "CREATE TRIGGER keep BEFORE INSERT ON ssb.forwarded_set FOR EACH ROW EXECUTE FUNCTION dbo.keep()"
    )
    near.send(handle, "//Ask", "secret three")
    chain.daemons[far].wait_for("message_dropped")
    assert len(near.waiting()) == 1
    chain.one.do("DROP TRIGGER keep ON ssb.forwarded_set")
    assert [body for _, _, body in far.receive(1)] == ["secret three"]


@pytest.mark.long
@pytest.mark.parametrize("at", rest_is_long(["one", "two"], "two"))
def test_dialogs_that_are_sealed_as_one_block_part_on_the_way(chain: Chain, full: None, at: str) -> None:
    """Where an instance has several routes to their service each takes its own, and is sealed by itself."""
    near, far, fork = chain.near, chain.far, getattr(chain, at)
    ways = {"one": [_TWO, FAR], "two": [FAR, f"{FAR}0"]}[at]
    fork.do("SELECT ssb.create_route('Other', %s, '//Far', database => 'msdb')", ways[1])
    chain.addresses[f"{FAR}0".lower()] = far.database.dsn
    fork.do("CREATE TABLE dbo.went AS SELECT address, dialogs FROM ssb.forwarded_set WITH NO DATA")
    fork.do(
        "CREATE FUNCTION dbo.keep() RETURNS trigger LANGUAGE plpgsql AS"
        " $$BEGIN INSERT INTO dbo.went VALUES (NEW.address, NEW.dialogs); RETURN NULL; END$$"
    )
    fork.do("CREATE TRIGGER keep AFTER INSERT ON ssb.forwarded_set FOR EACH ROW EXECUTE FUNCTION dbo.keep()")
    bodies = [f"message {n}" for n in range(16)]
    for body in bodies:
        near.send(begin(near, "//Far"), "//Ask", body, body)
    chain.start(*chain.sides)
    assert sorted(body for _, _, body in far.receive(32)) == sorted(bodies * 2)
    until(lambda: near.waiting() == [])
    assert set(fork.column("SELECT address FROM dbo.went")) == set(ways)
    went = fork.column("SELECT d ? 'key_id' FROM dbo.went AS w CROSS JOIN jsonb_array_elements(dialogs) AS d")
    assert len(went) >= 16 and all(went)


@pytest.mark.long
def test_what_is_dropped_waits_at_its_sender_and_tells_why(chain: Chain) -> None:
    """Forwarding disabled; beyond MESSAGE_FORWARD_SIZE; in a circle; no way on; the next one is not there."""
    near, one, two, far = chain.sides
    one.do("SELECT ssb.alter_endpoint('BrokerEndpoint', message_forwarding => false)")
    chain.start(near, one)
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "hello")
    until(lambda: near.waiting() == [_DISABLED])
    assert discarded(one) >= 1
    one.do(
        "SELECT ssb.alter_endpoint('BrokerEndpoint', message_forwarding => true, message_forward_size => 1)"
    )
    near.do("SELECT ssb.alter_route('ToFar', %s)", _ONE)
    # Two has no daemon yet.
    until(lambda: any("has no daemon" in status for status in near.waiting()))
    large = near.begin("//Far")
    near.do(
        "SELECT ssb.send(%s, '//Ask', decode(repeat('00ff', 200000), 'hex')) FROM generate_series(1, 8)",
        large,
    )
    until(lambda: any("MESSAGE_FORWARD_SIZE = 1 MB" in status for status in near.waiting()))
    near.do("SELECT ssb.end_conversation(%s, cleanup => true)", large)
    two.do("SELECT ssb.alter_route('ToFar', %s, database => 'msdb')", _ONE)
    chain.start(two)
    until(lambda: any("in a circle" in status for status in near.waiting()))
    # Not for long: it may be on its way once more.
    until(lambda: [side.value("SELECT count(*) FROM ssb.forwarded_set") for side in (one, two)] == [0, 0])
    two.do("SELECT ssb.alter_route('ToFar', %s, database => 'msdb')", FAR)
    far.do("SELECT ssb.alter_endpoint('BrokerEndpoint', 'STOPPED')")
    until(lambda: any("not started" in status for status in near.waiting()))
    far.do("SELECT ssb.alter_endpoint('BrokerEndpoint', 'STARTED')")
    assert [body for _, _, body in far.receive(1)] == ["hello"]
    until(lambda: near.waiting() == [])


def test_what_passes_through_is_shown_and_ends_with_its_time(chain: Chain) -> None:
    """Hops and seconds are counted; what nobody sends on in time is dropped."""
    one = chain.one
    one.do("SELECT pg_advisory_lock_shared(1397965382)")  # as if its daemon were there

    def bring(hops: int, seconds: float, number: int = 0) -> Any:
        header = {
            "conversation_id": str(uuid.uuid4()),
            "is_initiator": True,
            "key": str(uuid.uuid4()),
            "to_service": "//Far",
            "to_instance": None,
            "from_service": "//Near",
            "from_instance": str(uuid.uuid4()),
            "contract": "//Talk",
            "lifetime": None,
            "is_encrypted": False,
            "hops_remaining": hops,
            "time_to_live": 60,
            "time_consumed": 60 - seconds,
            "set": str(uuid.uuid4()),
        }
        here = header | {"conversation_id": str(uuid.uuid4()), "to_service": "//One"}
        rows = one.connection.execute(
            "SELECT place, next_number, status FROM ssb.take_from_afar(%s::jsonb, '{0,1}', %s,"
            " '{//Ask,//Ask}', '{message,message}', '{a,b}') ORDER BY place",
            [json.dumps([header, here]), [number, 0]],
        ).fetchall()
        return header, rows

    # One dialog of a set is for here, the other one goes on: it is answered later.
    header, rows = bring(3, 50.0, 7)
    assert rows == [(0, None, None), (1, 1, None)]
    shown = one.connection.execute(
        "SELECT conversation_id::text, is_initiator, to_service_name, from_service_name,"
        " adjacent_broker_address, message_sequence_number, hops_remaining, time_to_live, time_consumed"
        " FROM sys.dm_broker_forwarded_messages"
    ).fetchall()
    assert [row[:8] for row in shown] == [
        (header["conversation_id"], True, "//Far", "//Near", _TWO, 7, 3, 60)
    ]
    assert shown[0][8] >= 10
    assert "too often, or for too long" in bring(0, 50.0)[1][0][2]
    assert "too often, or for too long" in bring(3, 0.0)[1][0][2]
    one.do("UPDATE ssb.forwarded_set SET expires_at = clock_timestamp()")
    one.do("SELECT ssb_internal.forwarded_sets(%s, NULL, '{}')", _TWO)
    ((answer,),) = one.value(
        "SELECT array_agg(answers) FROM ssb_internal.set_answers(%s::uuid[], 0)", [header["set"]]
    )
    assert answer["place"] == 0
    assert "too long" in answer["status"]
    assert one.value("SELECT count(*) FROM sys.dm_broker_forwarded_messages") == 0


@pytest.mark.long
def test_a_large_body_passes_through_an_instance_with_little_room(chain: Chain, full: None) -> None:
    """In fragments, sealed and in the clear; and many messages that are more together than has room."""
    near, one, two, far = chain.sides
    for side in (one, two):
        side.do("SELECT ssb.alter_endpoint('BrokerEndpoint', message_forward_size => 1)")
    far.do("SELECT ssb.create_service('//Open', 'dbo.far_queue', '{//Talk}')")
    near.do("SELECT ssb.create_route('ToOpen', %s, '//Open')", _ONE)
    chain.route(one, "//Open", _TWO)
    chain.route(two, "//Open", FAR)
    for handle in (begin(near, "//Far"), near.begin("//Open")):
        near.do(
            "SELECT ssb.send(%s, '//Ask', convert_to(rpad(n::text, n, '.'), 'UTF8'))"
            " FROM (VALUES (1500000), (300000), (300001), (300002), (300003), (5)) AS v (n)",
            handle,
        )
    chain.start(*chain.sides)
    until(lambda: far.value("SELECT count(*) FROM dbo.far_queue") == 12, 60)
    lengths = (
        "SELECT array_agg(length(message_body) ORDER BY queuing_order) FROM dbo.far_queue"
        " WHERE convert_from(substring(message_body FOR 7), 'UTF8') LIKE length(message_body)::text || '%%'"
        " GROUP BY conversation_handle"
    )
    assert far.column(lengths) == [[1500000, 300000, 300001, 300002, 300003, 5]] * 2


def test_nobody_asks_for_the_answers_to_anothers_set(chain: Chain) -> None:
    one = chain.one
    one.do(
        "INSERT INTO ssb.set_answer (set_id, sender, answers) VALUES (%s, 'another', '[]')", uuid.UUID(int=7)
    )
    assert one.column("SELECT answers FROM ssb_internal.set_answers(%s, 0)", [uuid.UUID(int=7)]) == []


@pytest.mark.long
def test_whoever_brings_a_set_does_not_say_how_far_it_may_go(near: Side) -> None:
    """Nothing goes in a circle for longer than what a daemon sends, and none has more in memory than that."""
    near.do("SELECT ssb.create_route('ToFar', %s, '//Far', database => 'msdb')", FAR)
    for said, hops, seconds in (
        ({}, 16, 60),
        ({"hops_remaining": None, "time_to_live": None, "time_consumed": None}, 16, 60),
        ({"hops_remaining": 2**31 - 1, "time_to_live": 1e300, "time_consumed": -1e300}, 16, None),
        ({"hops_remaining": 3, "time_to_live": 50, "time_consumed": 20}, 3, 30),
        ({"hops_remaining": -(2**31), "time_to_live": "NaN", "time_consumed": "NaN"}, -(2**31), None),
        ({"time_to_live": "Infinity", "time_consumed": "-Infinity"}, 16, None),
    ):
        dialog = {"conversation_id": str(uuid.uuid4()), "is_initiator": True, "to_service": "//Far"} | said
        (found,) = near.rows(
            "SELECT hops_remaining, seconds_left FROM ssb_internal.next_hops(%s)", json.dumps([dialog])
        )
        assert found[0] == hops
        assert found[1] == seconds if seconds is not None else found[1] < 0
        kept = near.value("SELECT ssb_internal.part_of_dialogs(%s, '{0}') -> 0", json.dumps([dialog]))
        assert kept["hops_remaining"] == hops and kept["time_to_live"] <= 60 and kept["time_consumed"] >= 0
    take = "SELECT ssb_internal.take_sealed(gen_random_uuid(), %s, %s::int[], %s::bigint[], %s::bytea[], %s)"
    few = ["[{}]", [0], [0], [b""], []]
    for at, too_much in (
        (0, json.dumps(["x" * 2**25])),
        (0, json.dumps([{"conversation_ids": [5] * 10_001}])),
        (0, json.dumps([{"conversation_ids": [5] * 2000, "to_service": "x" * 2**15}])),
        (1, [0] * 10_001),
        (3, [b"x" * 2**25]),
        (4, ["x"] * 2001),
    ):
        with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="none that a daemon makes"):
            near.do(take, *few[:at], too_much, *few[at + 1 :])


@pytest.mark.long
def test_what_cannot_be_read_holds_up_nobody_elses_messages(chain: Chain) -> None:
    """JSON that PostgreSQL takes and Python does not read: whoever may connect can bring it."""
    near, one, far = chain.near, chain.one, chain.far
    chain.start(*chain.sides)
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one")
    assert [body for _, _, body in far.receive(1)] == ["one"]
    chain.daemons.pop(chain.two).broker.stop()
    for header in ("[" * 3000 + "]" * 3000, "1" * 5000):
        one.do(
            "SELECT ssb_internal.take_sealed(gen_random_uuid(), jsonb_build_array(jsonb_build_object("
            "'conversation_id', gen_random_uuid(), 'is_initiator', true, 'to_service', '//Far', 'key_id',"
            " gen_random_uuid(), 'from_service', '//Near', 'contract', 'DEFAULT', 'more', %s::jsonb)),"
            " '{0}', '{0}', '{\\x00}', '{}')",
            header,
        )
    chain.start(chain.two)
    began = time.monotonic()
    near.send(handle, "//Ask", "two")
    assert [body for _, _, body in far.receive(1)] == ["two"]
    until(lambda: one.value("SELECT count(*) FROM ssb.forwarded_set") == 0)
    # What passes through ends by itself after a minute.
    assert time.monotonic() < began + 50


@pytest.mark.long
def test_every_message_comes_once_and_in_order_while_daemons_die(
    chain: Chain, full: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sealed and in the clear. PGSB_KILLED_DAEMONS=200 makes it longer."""
    monkeypatch.setattr(peer, "_ANSWER_SECONDS", 1.0)  # of those that run in this process
    kills = int(os.environ.get("PGSB_KILLED_DAEMONS", "2"))
    near, far = chain.near, chain.far
    chance = random.Random(20261123)
    far.do("SELECT ssb.create_service('//Open', 'dbo.far_queue', '{//Talk}')")
    near.do("SELECT ssb.create_route('ToOpen', %s, '//Open')", _ONE)
    chain.route(chain.one, "//Open", _TWO)
    chain.route(chain.two, "//Open", FAR)
    handles = [begin(near, "//Far") for _ in range(3)] + [near.begin("//Open") for _ in range(3)]
    victims = [chain.one, chain.two, *chance.choices(chain.sides, k=kills)][:kills]
    running = {side: chain.start_process(side) for side in set(victims)}
    chain.start(*(side for side in chain.sides if side not in running))
    came: dict[Any, list[int]] = {}
    sent = 0

    def hear() -> bool:
        rows = far.connection.execute(
            "SELECT conversation_handle, convert_from(message_body, 'UTF8')::integer"
            " FROM ssb.receive('dbo.far_queue', 1000)"
        ).fetchall()
        for handle, number in rows:
            came.setdefault(handle, []).append(number)
        return sum(len(numbers) for numbers in came.values()) >= sent * len(handles)

    try:
        for victim in victims:
            near.do(
                "SELECT ssb.send(h, '//Ask', rpad(n::text, CASE n %% 20 WHEN 7 THEN 1200000 ELSE 6 END))"
                " FROM unnest(%s::uuid[]) AS h, generate_series(%s::integer, %s::integer) AS n",
                handles,
                sent,
                sent + 19,
            )
            sent += 20
            # Some way through this round's messages, or none, or all.
            goal = sum(map(len, came.values())) + chance.randrange(120)
            until(lambda goal=goal: hear() or sum(map(len, came.values())) >= goal, 120)  # type: ignore[misc]
            running[victim].kill()
            running[victim].wait()
            running[victim] = chain.start_process(victim)
        until(hear, 120)
        until(lambda: near.waiting() == [])
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    assert list(came.values()) == [list(range(sent))] * len(handles)

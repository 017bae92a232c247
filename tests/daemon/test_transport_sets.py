"""How messages are read, taken and settled in sets, by the statements that the daemons execute."""

import asyncio
import json
import re
import time
import uuid
from typing import Any

import psycopg
import pytest
from instances import ERROR, Side

from pgsb.daemon.peer import Peer, Sent
from pgsb.daemon.readers import open_connection
from pgsb.daemon.transport_sets import (
    MESSAGES,
    MOST_MESSAGES,
    START,
    OwnSet,
    Position,
    Settled,
    bigints,
    next_size,
)
from pgsb.daemon.transport_values import RawStatement, integer, number_of, raw_row


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
    # Behind the broker's own Error nothing comes.
    far.do("SELECT ssb.alter_queue('dbo.far_queue', status => 'ON')")
    far.do("SELECT ssb.alter_database(NULL, 'ERROR_BROKER_CONVERSATIONS')")
    assert take(10) == (11, False)
    assert [kind for _, kind, _ in far.receive()] == [ERROR]


@pytest.mark.parametrize(
    "change",
    [
        "SELECT ssb.alter_message_type('//Xml', 'NONE')",
        "SELECT ssb.alter_service('//Other', queue => 'dbo.far_queue')",
        "SELECT ssb.drop_service('//Other')",
        "SELECT ssb.drop_service('//Other'), ssb.drop_queue('dbo.other')",
    ],
)
@pytest.mark.one_postgres
def test_a_definition_that_is_being_changed_holds_only_its_own_messages(far: Side, change: str) -> None:
    far.do("SELECT ssb.create_queue('dbo.other')")
    far.do("SELECT ssb.create_service('//Other', 'dbo.other', '{//Talk}')")
    dialogs = [_header(), {**_header(), "to_service": "//Other"}]
    with psycopg.connect(far.database.dsn) as another:
        another.execute(change)
        far.do("SET lock_timeout = '5s'")
        ((taken, told),) = far.connection.execute(
            f"SELECT t.next_numbers, t.others FROM {_TAKE} AS t",
            [json.dumps(dialogs), [0, 1], [0, 0], ["//Ask", "//Xml"], ["message"] * 2, [b"<a/>"] * 2],
        )
        assert taken[0] == 1 and taken[1] == 0
        assert "is being changed" in told[0]["status"]
    assert len(far.receive(1)) == 1


@pytest.mark.parametrize(
    "change",
    [
        "SELECT ssb.drop_service('//Other')",
        "SELECT ssb.drop_service('//Other'), ssb.drop_queue('dbo.other')",
        "SELECT ssb.alter_queue('dbo.other', retention => true)",
    ],
)
@pytest.mark.one_postgres
def test_a_dialog_whose_queue_is_being_changed_holds_only_its_own_messages(far: Side, change: str) -> None:
    far.do("SELECT ssb.create_queue('dbo.other')")
    far.do("SELECT ssb.create_service('//Other', 'dbo.other', '{//Talk}')")
    dialogs = [_header(), {**_header(), "to_service": "//Other"}]

    def take(number: int) -> list[int]:
        ((taken, told),) = far.connection.execute(
            f"SELECT t.next_numbers, t.others FROM {_TAKE} AS t",
            [json.dumps(dialogs), [0, 1], [number] * 2, ["//Ask"] * 2, ["message"] * 2, [b"a"] * 2],
        )
        assert [one["place"] for one in told or []] == ([1] if number else [])
        next_numbers: list[int] = taken
        return next_numbers

    take(0)
    for _ in range(5):
        with far.connection.transaction(force_rollback=True):
            far.do("SELECT ssb.receive('dbo.other')")
    with psycopg.connect(far.database.dsn) as another:
        another.execute(change)
        far.do("SET statement_timeout = '5s'")
        assert take(1) == [2, 0]


@pytest.mark.one_postgres
def test_dialogs_are_taken_as_far_as_their_numbers_go_in_order(far: Side) -> None:
    headers = [_header(), _header()]
    stored = "SELECT convert_from(body, 'UTF8') FROM ssb.message_stored ORDER BY queuing_order"

    def take(*messages: tuple[int, int | None], kinds: list[str] | None = None) -> list[int]:
        """Of each dialog which number comes next."""
        count = len(messages)
        ((numbers, others),) = far.connection.execute(
            f"SELECT t.next_numbers, t.others FROM {_TAKE} AS t",
            [
                json.dumps(headers),
                [place for place, _ in messages],
                [number for _, number in messages],
                ["//Ask"] * count,
                kinds or ["message"] * count,
                [f"{place}.{number}".encode() for place, number in messages],
            ],
        )
        found = dict(enumerate(numbers)) | {one["place"]: one["next_number"] for one in others or []}
        for place in range(2):
            own = [body for body in far.column(stored) if body.startswith(f"{place}.")]
            assert own == [f"{place}.{number}" for number in range(found[place])]
        return [found[place] for place in range(2)]

    assert take(*((0, number) for number in range(5)), *((1, number) for number in range(6))) == [5, 6]
    # The numbers that come next, but not of these dialogs.
    assert take((0, 5), (1, 6), (1, 6), (0, 7)) == [6, 7]
    # By turns; one that has come; one that is missing; the other dialog alone.
    assert take((0, 6), (1, 7), (0, 7), (1, 8)) == [8, 9]
    assert take((0, 7), (0, 8), (1, 9)) == [9, 10]
    assert take((0, 9), (1, 11)) == [10, 10]
    assert take((1, 10)) == [10, 11]
    assert take((0, 10), (1, 11), (1, 12)) == [11, 13]
    assert take((1, 13), (0, 11)) == [12, 14]
    assert take((0, 12), (1, 14), kinds=["message", "message", "message"]) == [13, 15]


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


@pytest.mark.one_postgres
def test_what_is_parked_is_tried_after_the_servers_clock_went_back(near: Side) -> None:
    for late in ("20 seconds", "1 hour"):
        near.send(near.begin("//Far"), "//Ask", late)
        near.do(
            "UPDATE ssb.remote_conversation SET retry_at = now() + %s::interval WHERE retry_at IS NULL", late
        )
    near.do("SELECT ssb_internal.heed_clock()")
    parked = "SELECT retry_at > now() FROM ssb.remote_conversation ORDER BY endpoint_id"
    assert near.column(parked) == [True, False]


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


@pytest.mark.long
def test_what_waits_is_read_in_the_order_of_its_index(near: Side) -> None:
    plans: list[str] = []
    near.connection.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
    near.do("LOAD 'auto_explain'")
    # The index by peer has one more level than the primary key.
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
    # A dialog's messages are found by the primary key; nobody reads all of it, or of another index, instead.
    _grow(near, 80_000)
    plans.clear()
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one", "two")
    near.do("SELECT ssb.send_batch(%s::uuid[], %s::text[], %s::bytea[])", [handle], ["//Ask"], [b"three"])
    near.value("SELECT ssb.get_transmission_status(%s)", handle)
    near.do("SELECT ssb_internal.deliver_waiting(endpoint_id) FROM ssb.conversation_endpoint")
    near.do("UPDATE ssb.remote_conversation SET retry_at = now()")
    assert _read_set(near) == [0, 1, 2]
    near.value(f"SELECT count(*) FROM {_SETTLE}", handle)
    assert near.value("SELECT count(*) FROM ssb.transmission") == 0
    scans = [scan for plan in plans for scan in re.findall(r"using (transmission_\w+) .*\n\s*(.*)", plan)]
    assert {name for name, _ in scans} == {"transmission_pkey", "transmission_by_peer"}
    keys = [condition for name, condition in scans if name == "transmission_pkey"]
    assert keys and all(re.match(r"Index Cond: .*endpoint_id", key) for key in keys), keys
    assert any("message_sequence_number < " in key for key in keys)


_SETTLE = """
(SELECT ssb_internal.settle_taken(ARRAY[min(e.endpoint_id)], '{3}', '{NULL}', '{NULL}')
   FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = %s) AS s
"""
"""The other instance has three messages of this dialog."""


@pytest.mark.one_postgres
def test_what_has_arrived_leaves_and_nothing_else(near: Side) -> None:
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "zero", "one", "two")
    near.send(near.begin("//Far"), "//Ask", "zero")
    _read_set(near)
    near.send(handle, "//Ask", "three")
    near.value(f"SELECT count(*) FROM {_SETTLE}", handle)
    left = "SELECT message_sequence_number FROM ssb.transmission ORDER BY 1"
    assert near.column(left) == [0, 3]
    # Once more, as after an answer that was lost.
    near.value(f"SELECT count(*) FROM {_SETTLE}", handle)
    assert near.column(left) == [0, 3]
    assert sorted(_read_set(near)) == [0, 3]


def test_a_daemon_of_an_earlier_version_settles(near: Side) -> None:
    near.send(near.begin("//Far"), "//Ask", "zero", "one")
    _read_set(near)
    answer = "jsonb_build_array(jsonb_build_object('endpoint_id', r.endpoint_id, 'next_number', 1))"
    near.do(
        f"SELECT ssb_internal.settle_sent({answer}, '{{1,2}}'::bigint[]) FROM ssb.remote_conversation AS r"
    )
    assert near.column("SELECT message_sequence_number FROM ssb.transmission") == [1]


def test_a_set_costs_the_same_whatever_has_left(near: Side) -> None:
    """VACUUM cannot remove it while somebody's snapshot is older, and comes once in a minute anyway."""
    handles = [near.begin("//Far") for _ in range(2)]
    for handle in handles:
        near.send(handle, "//Ask", "first")

    def read() -> int:
        """How many pages of the table and its indexes."""
        tables = "{ssb.transmission,ssb.transmission_by_peer,ssb.transmission_pkey}"
        pages = f"SELECT sum(pg_stat_get_xact_blocks_fetched(c)) FROM unnest('{tables}'::regclass[]) AS c"
        with near.connection.transaction():
            before = near.value(pages)
            assert _read_set(near) == [last, last]
            found: int = near.value(pages) - before
        return found

    last = 0
    first = read()
    with psycopg.connect(near.database.dsn) as other:
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT FROM ssb.transmission").fetchall()
        for _ in range(10):
            for handle in handles:
                near.do(
                    "SELECT ssb.send_batch(array_fill(%s::uuid, '{500}'), array_fill('//Ask'::text, '{500}'),"
                    " array_fill('more'::bytea, '{500}'))",
                    handle,
                )
        last = 5000
        near.do(
            "SELECT ssb_internal.settle_taken(array_agg(r.endpoint_id), '{5000,5000}', '{NULL,NULL}',"
            " '{NULL,NULL}') FROM ssb.remote_conversation AS r"
        )
        assert read() < first + 30


@pytest.mark.one_postgres
def test_what_leaves_is_in_no_index_by_service(near: Side) -> None:
    """Only what waits here for a service is looked for by its name."""
    size = "SELECT pg_relation_size('ssb.transmission_by_service')"
    empty = near.value(size)
    handle = near.begin("//Far")
    for _ in range(2):
        near.send(handle, "//Ask", *("x" for _ in range(300)))
    assert near.value("SELECT count(*) FROM ssb.transmission WHERE peer_id IS NOT NULL") == 600
    assert near.value(size) == empty
    near.send(near.begin("//Nowhere"), "//Ask", "y")
    assert near.value("SELECT count(*) FROM ssb.transmission WHERE peer_id IS NULL") == 1
    assert near.value(size) > empty


def _own(messages: int, length: int, *, is_full: bool, dialogs: int = 1) -> OwnSet:
    after = Position(5, 1, 1) if is_full else START
    ids = bigints(range(messages))
    return OwnSet(uuid.uuid4(), (), ids, bigints(range(dialogs)), [], [], messages * length, after)


def test_full_sets_of_short_bodies_grow() -> None:
    assert next_size(_own(500, 100, is_full=True), 500) == 1000
    assert next_size(_own(1000, 100, is_full=True), 1000) == MOST_MESSAGES
    assert next_size(_own(700, 100, is_full=False), 1000) == MESSAGES
    # 4 MB in all: of bodies longer than a share of that each would be measured first.
    assert next_size(_own(500, 1800, is_full=True), 500) == 1000
    assert next_size(_own(500, 3000, is_full=True), 500) == MESSAGES
    assert next_size(_own(1000, 1800, is_full=True), 1000) == 1000
    assert next_size(_own(1000, 3000, is_full=True), 1000) == MESSAGES
    # No more than 500 dialogs.
    assert next_size(_own(500, 100, is_full=True, dialogs=125), 1000) == MOST_MESSAGES
    assert next_size(_own(500, 100, is_full=True, dialogs=250), 1000) == 1000
    assert next_size(_own(500, 100, is_full=True, dialogs=500), 500) == MESSAGES
    assert next_size(_own(50, 100, is_full=False), 500, is_paused=True) == MOST_MESSAGES
    assert next_size(_own(50, 1800, is_full=False), 500, is_paused=True) == MESSAGES


def test_sets_grow_where_all_was_taken_at_once() -> None:
    own = _own(500, 100, is_full=True)
    peer = Peer(1, "TCP://far:4022", None)
    now = time.monotonic()
    peer.settled = [Settled(own.ids, own.endpoints, own.ids, own.ids)]
    assert peer.has_delivered(own, now) == 0.0
    assert peer.set_messages == 1000
    # Refused, or by an instance that passes it on and may hold no more.
    peer.settled = []
    peer.has_delivered(own, now)
    assert peer.set_messages == MESSAGES
    # Steady: after some sets there is a pause, and room for what comes in it.
    for place in range(20):
        peer.settled = [Settled(own.ids, own.endpoints, own.ids, own.ids)]
        began = time.monotonic() - 0.1 + 0.005 * place
        pause = peer.has_delivered(_own(100, 100, is_full=False), began)
    assert pause > 0.0
    assert peer.set_messages == MOST_MESSAGES
    asyncio.run(peer.hang_up())
    assert peer.set_messages == MESSAGES


def test_what_waits_for_answers_is_read_on_at_once() -> None:
    peer = Peer(1, "TCP://far:4022", None, set_messages=1000)

    async def settle(answers: Any) -> None:
        raise AssertionError(answers)

    peer.sent[uuid.uuid4()] = Sent({0: 1}, settle, None)
    for place in range(20):
        began = time.monotonic() - 0.1 + 0.005 * place
        assert peer.has_delivered(_own(100, 100, is_full=False), began) == 0.0
    assert peer.set_messages == MESSAGES

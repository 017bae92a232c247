"""Messages that a dialog sends as one: the transmission queue's index by peer has the last of them alone.

Each has to leave all the same, in its order, wherever a set ends.
"""

import json
import uuid
from typing import Any

import pytest
from instances import Side

pytestmark = pytest.mark.one_postgres

_NEXT = """
SELECT endpoints, places, numbers, ids FROM ssb.transport_peer AS p
 CROSS JOIN LATERAL ssb_internal.next_set(p.peer_id, NULL, %s, 1000000, 500000, '{}', %s, %s, %s,
                                                 NULL, NULL, NULL, NULL, NULL)
"""
_BEHIND = "SELECT after_priority, after_endpoint, after_id" + _NEXT.split("ids", 1)[1]
_TAKE = (
    "ssb_internal.take_from_peer(%s::jsonb, %s::integer[], %s::bigint[], %s::text[], %s::text[], %s::bytea[])"
)
_INDEXED = "SELECT count(*) FROM ssb.transmission WHERE peer_id IS NOT NULL AND is_last_of_run"


def _begun(near: Side) -> tuple[Any, int]:
    """A dialog, and its endpoint, of which nothing waits: number 0 has arrived."""
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "0")
    endpoint = near.value(
        "SELECT endpoint_id FROM ssb.conversation_endpoint WHERE conversation_handle = %s", handle
    )
    near.connection.execute(_NEXT, [500, None, None, None]).fetchall()
    _settle(near, endpoint, 1)
    return handle, endpoint


def _settle(near: Side, endpoint: int, next_number: int) -> None:
    near.do(
        "SELECT ssb_internal.settle_taken(ARRAY[%s], ARRAY[%s], '{NULL}', '{NULL}')", endpoint, next_number
    )


def _send(near: Side, *handles: Any) -> None:
    """A message on each, by one call."""
    bodies = [b"%d" % number for number in range(len(handles))]
    near.do("SELECT ssb.send_batch(%s, %s, %s)", list(handles), ["//Ask"] * len(handles), bodies)


def _read(near: Side, messages: int, behind: tuple[Any, ...] = (None, None, None)) -> list[tuple[int, int]]:
    """Of each message the dialog and the number."""
    found = near.connection.execute(_NEXT, [messages, *behind]).fetchall()
    return [
        (endpoints[place], number)
        for endpoints, places, numbers, _ in found
        for place, number in zip(places, numbers, strict=True)
    ]


def _all_in_sets(near: Side, messages: int) -> list[tuple[int, int]]:
    """Everything, set by set, each settled before the next one is read."""
    behind: tuple[Any, ...] = (None, None, None)
    found: list[tuple[int, int]] = []
    while those := _read(near, messages, behind):
        (behind,) = near.connection.execute(_BEHIND, [messages, *behind]).fetchall()
        for endpoint, number in those:
            _settle(near, endpoint, number + 1)
        found += those
    return found


def test_of_a_run_the_last_message_alone_is_in_the_index(near: Side) -> None:
    dialogs = [_begun(near) for _ in range(3)]
    _send(near, *[dialogs[0][0]] * 40)
    assert near.value(_INDEXED) == 1
    _send(near, *[handle for handle, _ in dialogs] * 5)
    assert near.value(_INDEXED) == 4
    last = (
        "SELECT max(message_sequence_number) FROM ssb.transmission WHERE is_last_of_run GROUP BY endpoint_id"
    )
    assert sorted(near.column(last)) == [5, 5, 45]
    near.send(dialogs[1][0], "//Ask", "alone")
    assert near.value(_INDEXED) == 5


@pytest.mark.parametrize("messages", [3, 8, 500])
def test_sets_that_end_in_the_middle_of_runs_leave_nothing_behind(near: Side, messages: int) -> None:
    dialogs = [_begun(near) for _ in range(3)]
    _send(near, *[dialogs[0][0]] * 20)
    _send(near, *[handle for handle, _ in dialogs] * 5)
    _send(near, *[dialogs[2][0]] * 7)
    found = _all_in_sets(near, messages)
    for (_, endpoint), count in zip(dialogs, (25, 5, 12), strict=True):
        assert [number for one, number in found if one == endpoint] == list(range(1, count + 1))
    assert near.value("SELECT count(*) FROM ssb.transmission") == 0


def test_a_run_behind_dialogs_with_a_message_each_is_read_from_its_first(near: Side) -> None:
    """Those are read as they stand in the index, which has of the run the last one."""
    dialogs = [_begun(near) for _ in range(10)]
    for handle, _ in dialogs[:8]:
        near.send(handle, "//Ask", "one")
    _send(near, *[dialogs[8][0]] * 4)
    near.send(dialogs[9][0], "//Ask", "one")
    expected = [(endpoint, 1) for _, endpoint in dialogs[:8]]
    expected += [(dialogs[8][1], number) for number in range(1, 5)] + [(dialogs[9][1], 1)]
    assert _read(near, 40) == expected


def test_what_is_tried_of_a_parked_run_is_found(near: Side) -> None:
    handle, endpoint = _begun(near)
    _send(near, *[handle] * 40)
    near.do("SELECT ssb_internal.put_off(ARRAY[%s], 'not taken')", endpoint)
    assert _read(near, 500) == []
    near.do("UPDATE ssb.remote_conversation SET retry_at = now()")
    assert _read(near, 500) == [(endpoint, number) for number in range(1, 17)]
    _settle(near, endpoint, 17)
    assert _read(near, 500) == [(endpoint, number) for number in range(17, 41)]


def test_a_failure_is_told_of_every_message_of_a_run(near: Side) -> None:
    handle, _ = _begun(near)
    _send(near, *[handle] * 10)
    near.do("SELECT ssb_internal.note_transport_failure(min(peer_id), 'nobody') FROM ssb.transport_peer")
    assert near.column("SELECT transmission_status FROM ssb.transmission") == ["nobody"] * 10


def test_more_bodies_than_messages_are_no_messages(far: Side) -> None:
    """Whatever the other instance sends: of one type and queue a set is written as it stands."""
    conversations = [uuid.uuid4() for _ in range(2)]
    dialogs = json.dumps(
        [
            {
                "conversation_id": str(conversation),
                "is_initiator": True,
                "key": str(uuid.uuid4()),
                "to_service": "//Far",
                "from_service": "//Near",
                "from_instance": str(uuid.uuid4()),
                "contract": "//Talk",
                "is_encrypted": False,
            }
            for conversation in conversations
        ]
    )

    def take(numbers: list[int], bodies: list[bytes | None]) -> Any:
        values = [dialogs, [0, 0, 1, 1], numbers, ["//Ask"] * 4, ["message"] * 4, bodies]
        return far.connection.execute(f"SELECT next_numbers, others FROM {_TAKE}", values).fetchone()

    assert take([0, 1, 0, 1], [b"a", b"b", b"c", b"d"]) == ([2, 2], None)
    assert take([2, 3, 2, 3], [b"e", b"f", b"g", b"h", b"more"]) == ([4, 4], None)
    far.do("SELECT setval('ssb.rotation_state', 1)")  # new ones go to the other table
    assert take([4, 5, 4, 5], [b"i", b"j", b"k", b"l"]) == ([6, 6], None)
    rows = far.connection.execute(
        "SELECT m.tableoid::regclass::text, r.conversation_id, m.message_sequence_number,"
        " convert_from(m.body, 'UTF8') FROM ssb.message_stored AS m"
        " JOIN ssb.remote_conversation AS r ON r.endpoint_id = m.endpoint_id ORDER BY m.queuing_order"
    ).fetchall()
    tables = ["ssb.message_0"] * 8 + ["ssb.message_1"] * 4
    numbers = [0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5]
    of = [conversations[0], conversations[0], conversations[1], conversations[1]] * 3
    assert rows == list(zip(tables, of, numbers, "abcdefghijkl", strict=True))

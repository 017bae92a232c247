"""Arrays that are cut, and answers of instances of which nobody knows what they are. Without a server."""

import asyncio
import uuid
from collections.abc import Mapping
from typing import Any, cast

import pytest

from pgsb.daemon.answers import Row
from pgsb.daemon.open_keys import OpenKeys
from pgsb.daemon.peer import Peer
from pgsb.daemon.peer_connection import Unreachable
from pgsb.daemon.readers import Connection
from pgsb.daemon.sealed_arrivals import blocks_of
from pgsb.daemon.transport_sets import START, OwnSet, Settled, all_settled, bigints, json_of, placed
from pgsb.daemon.transport_values import (
    NULL,
    Malformed,
    Raw,
    RawBigints,
    RawBodies,
    RawIntegers,
    RawJson,
    RawStatement,
    RawTexts,
    RawUuids,
    array_of,
    checked_list,
    cut,
    element,
    elements_of,
    loaded,
)


def texts(*values: str | None) -> RawTexts:
    found: RawTexts = array_of(
        RawTexts, len(values), [element(None if value is None else value.encode()) for value in values]
    )
    return found


class Answering:
    """A connection to an instance that gives one row, and the row."""

    def __init__(self, row: list[tuple[int, bytes | None]]) -> None:
        self.row = row
        self.closed = False
        self.ntuples, self.nfields = 1, len(row)

    def get_value(self, row: int, column: int) -> bytes | None:
        return self.row[column][1]

    def ftype(self, column: int) -> int:
        return self.row[column][0]


def own_set() -> OwnSet:
    """Two messages of one dialog, one of another."""
    values = (
        json_of([{"n": 0}, {"n": 1}]),
        array_of(RawIntegers, 3, [placed(0, 2), placed(1, 1)]),
        bigints([0, 1, 7]),
        texts("a", "a", "b"),
        texts("message", "message", "message"),
        array_of(RawBodies, 3, [element(b"one"), element(None), element(b"")]),
    )
    return OwnSet(uuid.uuid4(), values, bigints([11, 12, 13]), bigints([5, 6]), [], [], 3, START)


def hand_over(*row: Raw | tuple[int, bytes | None]) -> tuple[Peer, list[Mapping[int, Row]]]:
    """What an answer leads to: what is kept to be settled, and what was settled at once."""
    answer = [(one.oid, bytes(one)) if isinstance(one, Raw) else one for one in row]
    peer = Peer(1, "TCP://far:4022", None, far=cast(Connection, Answering(answer)))
    heard: list[Mapping[int, Row]] = []

    async def settle(answers: Mapping[int, Row]) -> None:
        heard.append(answers)

    async def run(self: RawStatement, connection: object, values: object) -> object:
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RawStatement, "run", run)
        asyncio.run(peer.hand_over_raw(own_set(), settle))
    return peer, heard


def test_an_answer_that_is_broken_anywhere_settles_nothing() -> None:
    next_numbers, instances, none = bigints([2, 8]), texts("there", None), (RawJson.oid, None)
    peer, heard = hand_over(next_numbers, instances, none)
    assert [loaded(one) for one in (peer.settled[0].next_numbers, peer.settled[0].instances)] == [
        [2, 8],
        ["there", None],
    ]
    assert heard == []
    told = json_of([{"place": 1, "next_number": 7, "status": "later"}])
    peer, heard = hand_over(bigints([2, 0]), instances, told)
    assert peer.settled == [] and [answer["next_number"] for answer in heard[0].values()] == [2, 7]

    broken: list[tuple[Any, ...]] = [
        (RawBigints(next_numbers[:at]), instances, none) for at in range(len(next_numbers))
    ]
    broken += [(next_numbers, RawTexts(instances[:at]), none) for at in range(len(instances))]
    broken += [(RawBigints(next_numbers + b"\0"), instances, none), (next_numbers, texts("there"), none)]
    broken += [(bigints([2**62 + 1, 8]), instances, none), (next_numbers, texts("x" * 37, None), none)]
    # A bit of what says how many there are, of what type, and how long each is.
    for at in (3, 10, 11, 15, 22, 23, 34, 35):
        changed = bytearray(next_numbers)
        changed[at] ^= 1
        broken.append((RawBigints(changed), instances, none))
    for at in (3, 11, 15, 23, 24 + len("there") + 3):
        changed = bytearray(instances)
        changed[at] ^= 1
        broken.append((next_numbers, RawTexts(changed), none))
    broken += [
        (array_of(RawBigints, 2, [element(b"\0" * 8), element(None)]), instances, none),
        (bigints([2, -8]), instances, none),
        (bigints([2, 0]), instances, none),  # not taken, and nobody says why
        (next_numbers, array_of(RawTexts, 2, [element(b"\xff"), element(b"a\0b")]), none),
        (next_numbers, instances, (RawJson.oid, b"")),
        (next_numbers, instances, (RawJson.oid, b"\x02[]")),
        (next_numbers, instances, (RawJson.oid, b"\x01[")),
        (next_numbers, instances, (RawJson.oid, b"\x01" + b"[" * 100_000)),
        (bigints([2, 0]), instances, json_of([5])),
        (bigints([2, 0]), instances, json_of([{"place": 9, "next_number": 1}])),
        (bigints([2, 0]), instances, json_of([{"place": 1, "next_number": "1"}])),
        ((RawTexts.oid, bytes(next_numbers)), instances, none),
        ((RawBigints.oid, None), instances, none),
        (next_numbers, instances),
    ]
    for row in broken:
        with pytest.raises(Unreachable, match="gives answers that cannot be read"):
            hand_over(*row)


def test_a_set_is_cut_between_its_dialogs_and_put_together_again() -> None:
    own = own_set()
    first, second = own.runs()
    assert (first.place, first.count, second.place, second.count) == (0, 2, 1, 1)
    assert first.bodies == element(b"one") + element(None)
    part = own.part([second.place])
    assert [loaded(value) for value in part.values] == [
        [{"n": 1, "to_instance": None, "lifetime": None, "traces": {}, "set": str(own.set_id)}],
        [0],
        [7],
        ["b"],
        ["message"],
        [b""],
    ]
    assert (loaded(part.ids), loaded(part.endpoints)) == ([13], [6])
    key = uuid.uuid4()
    keys = array_of(RawUuids, 1, [element(key.bytes)])
    settled = all_settled(
        [
            Settled(bigints([1, 2]), bigints([5]), bigints([3]), texts("x")),
            Settled(bigints([4]), bigints([6]), bigints([9]), texts(None), keys),
        ]
    )
    assert settled is not None
    assert settled.key_ids is not None
    assert [
        loaded(one)
        for one in (settled.ids, settled.endpoints, settled.next_numbers, settled.instances, settled.key_ids)
    ] == [[1, 2, 4], [5, 6], [3, 9], ["x", None], [None, key]]


@pytest.mark.parametrize("values", [[b"abc", None, b"", b"d"], [b"same"] * 4, [None] * 4])
def test_elements_are_as_many_as_they_are_said_to_be(values: list[bytes | None]) -> None:
    elements = b"".join(map(element, values))
    assert cut(elements, [1, 0, 3]) == [element(values[0]), b"", b"".join(map(element, values[1:]))]
    for counts in ([3], [5], [1, 4], []):
        with pytest.raises(Malformed):
            cut(elements, counts)
    for wrong in (elements[:-1], elements + b"\0", b"\xff\xff\xff\xfe" + elements[4:]):
        with pytest.raises(Malformed):
            cut(wrong, [4])


def test_what_came_sealed_is_found_where_its_first_message_is() -> None:
    """A block begins at the dialog that names its key, and whoever connects may bring anything."""
    dialogs: Any = [{"key_id": "k", "conversation_ids": ["x", "y"]}, {"key_id": "l"}]
    # Behind an instance that has passed it on each dialog tells of itself.
    passed_on: Any = [{"key_id": "k"}, {}, {"key_id": "l"}]
    places = array_of(RawIntegers, 5, [placed(0, 1), placed(1, 1), placed(0, 1), placed(2, 2)])
    numbers = bigints([3, 4, 5, 1, 2])
    bodies = array_of(RawBodies, 5, [element(b"a"), NULL * 2, element(b"bb"), NULL])
    for told in (dialogs, passed_on):
        first, second = blocks_of(told, places, numbers, bodies) or []
        assert (first.count, first.dialogs, first.header, first.sealed) == (3, 2, told[0], b"a")
        assert (second.count, second.dialogs, second.header, second.sealed) == (2, 1, told[-1], b"bb")
        assert first.places == b"".join(placed(place, 1) for place in (0, 1, 0))
        assert second.places == placed(0, 2)
        assert first.numbers + second.numbers == elements_of(numbers)
    for wrong in (
        array_of(RawBodies, 5, [NULL * 5]),
        array_of(RawBodies, 4, [element(b"a"), NULL * 2, element(b"c")]),
        array_of(RawBodies, 6, [element(b"a"), NULL * 2, element(b"c"), NULL * 2]),
        array_of(RawBodies, 5, [element(b"a"), NULL, element(b"c"), NULL * 2]),
        array_of(RawBodies, 5, [element(b"a"), NULL * 4]),
        array_of(RawBodies, 5, [element(b"a"), NULL, element(b"b"), element(b"c"), NULL]),
        array_of(RawBodies, 0, []),
    ):
        assert blocks_of(dialogs, places, numbers, wrong) is None
    unlike = [[dialogs[0] | {"conversation_ids": ids}, dialogs[1]] for ids in ([], ["x"], 5, "xy", None)]
    for others in (
        *([], {}, [5], [{}, {"key_id": "k"}], [{"key_id": "k"}], [None], *unlike),
        *(dialogs[:1], passed_on[:2], passed_on[::2]),
    ):
        assert blocks_of(others, places, numbers, bodies) is None
    assert blocks_of(dialogs, places, bigints([3, 4, 5, 1]), bodies) is None
    for some in ([0, 1, 0, 2], [0, 1, 0, 2, 3], [0, 1, -1, 2, 2], [0, 2, 0, 2, 2]):
        rows = array_of(
            RawIntegers, len(some), [element(one.to_bytes(4, "big", signed=True)) for one in some]
        )
        assert blocks_of(dialogs, rows, numbers, bodies) is None


def test_arrays_are_those_of_the_driver() -> None:
    assert checked_list(texts("a", None, "ü"), 3) == ["a", None, "ü"] == loaded(texts("a", None, "ü"))
    assert loaded(array_of(RawTexts, 0, [])) == [] == checked_list(array_of(RawTexts, 0, []), 0)
    assert elements_of(array_of(RawTexts, 0, [])) == b""


def test_open_keys_are_so_many_and_go_when_they_are_not_used() -> None:
    names = [(uuid.uuid4(), b"sealed") for _ in range(4)]
    keys = OpenKeys(3)
    for name in names[:3]:
        keys.keep(name, name[0].bytes)
    assert keys.get(names[0]) == names[0][0].bytes
    keys.keep(names[3], b"")
    assert keys.get(names[1]) is None  # the one that was not used for longest
    assert keys.get((names[0][0], b"sealed otherwise")) is None
    keys.keep_only({names[0], names[3]}, 60)
    assert keys.ids == {names[0][0], names[3][0]}
    keys.keep_only(set(names), -1)
    assert keys.ids == set()

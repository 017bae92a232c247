"""Sets of messages on their way: raw, as the own instance has read them, or by dialogs."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from .readers import Connection
from .spans import Crossing, SpanSink
from .transport_values import (
    Raw,
    RawBigints,
    RawBodies,
    RawDoubles,
    RawIntegers,
    RawJson,
    RawStatement,
    RawText,
    RawTexts,
    RawUuids,
    array_of,
    bigint,
    bigints_of,
    count_of,
    cut,
    cut_fixed,
    element,
    elements_of,
    integer,
    loaded,
    number_of,
    numbers_of,
    packed,
    raw_row,
)

Row = dict[str, Any]

MESSAGES = 500
"""Of a first set, at most."""
MOST_MESSAGES = 2_000
"""… where sets are full and answered in time, or sealed: what a set costs is not its messages'."""
BYTES = 4 * 2**20
FRAGMENT = 480 * 2**10
"""Of a larger body, at most, in a set (runtime_sql/transport/fragments.sql). Two go through an instance with
MESSAGE_FORWARD_SIZE = 1."""

_NEXT_SET = RawStatement(
    "SELECT dialogs, places, numbers, message_types, kinds, bodies, ids, endpoints, sides, conversation_ids,"
    " keys, contracts, lifetimes, traced, bytes, after_priority, after_endpoint, after_id"
    " FROM ssb_internal.next_set($1::integer, $2::uuid, $3::integer, $4::bigint, $5::bigint, $6::bigint[],"
    " $7::integer, $8::bigint, $9::bigint, $10::bigint[], $11::bigint[], $12::bigint[], $13::text[],"
    " $14::uuid[])"
)
_COLUMNS = (
    *(RawText, RawIntegers, RawBigints, RawTexts, RawTexts, RawBodies, RawBigints, RawBigints),
    *(RawJson, RawUuids, RawUuids, RawTexts, RawDoubles, RawJson, None, None, None, None),
)
_OVERHEAD = 200
"""What ssb_internal.next_set counts for a message beside its body."""


@dataclass
class Batch:
    """Messages of several dialogs; ``keys`` and ``headers`` are the dialogs'."""

    keys: list[int]
    headers: list[Row]
    places: list[int]
    numbers: list[int]
    message_types: list[str | None]
    kinds: list[str | None]
    bodies: list[bytes | None]

    def part(self, places: Sequence[int]) -> "Batch":
        """The messages of some of the dialogs."""
        now_at = {place: at for at, place in enumerate(places)}
        of = [number for number, place in enumerate(self.places) if place in now_at]
        return Batch(
            [self.keys[place] for place in places],
            [self.headers[place] for place in places],
            [now_at[self.places[number]] for number in of],
            [self.numbers[number] for number in of],
            [self.message_types[number] for number in of],
            [self.kinds[number] for number in of],
            [self.bodies[number] for number in of],
        )


@dataclass(frozen=True)
class Settled:
    """Dialogs of which all that was sent was taken, to be settled when the next set is read."""

    ids: Raw
    endpoints: Raw
    next_numbers: Raw
    instances: Raw
    key_ids: Raw | None = None
    """Of those that were sealed."""


def all_settled(those: Sequence[Settled]) -> Settled | None:
    """As one."""
    if len(those) < 2:
        return those[0] if those else None
    dialogs = sum(count_of(one.endpoints) for one in those)
    no_key = element(None)
    keys = [
        elements_of(one.key_ids) if one.key_ids is not None else no_key * count_of(one.endpoints)
        for one in those
    ]
    return Settled(
        array_of(
            RawBigints, sum(count_of(one.ids) for one in those), (elements_of(one.ids) for one in those)
        ),
        array_of(RawBigints, dialogs, (elements_of(one.endpoints) for one in those)),
        array_of(RawBigints, dialogs, (elements_of(one.next_numbers) for one in those)),
        array_of(RawTexts, dialogs, (elements_of(one.instances) for one in those)),
        array_of(RawUuids, dialogs, keys),
    )


@dataclass(frozen=True)
class Run:
    """What a set has of one dialog, as elements of arrays."""

    place: int
    """Of the dialog in the set."""
    count: int
    numbers: bytes
    message_types: bytes
    kinds: bytes
    bodies: bytes
    ids: bytes


def json_of(value: Any) -> RawJson:
    """As jsonb. Raises ValueError for infinity and its like."""
    return json_in(json.dumps(value, allow_nan=False).encode())


def json_in(text: bytes) -> RawJson:
    """As jsonb."""
    return RawJson(b"\x01" + text)


def placed(place: int, count: int) -> bytes:
    """So many elements of places."""
    return element(place.to_bytes(4, "big")) * count


def bigints(values: Sequence[int]) -> RawBigints:
    """As an array."""
    found: RawBigints = array_of(RawBigints, len(values), [packed(values, "q")])
    return found


@dataclass(frozen=True)
class Position:
    """Behind which dialog, and which of its messages, the next set begins."""

    priority: int | None = None
    endpoint: int | None = None
    message: int | None = None


START = Position()


@dataclass(frozen=True)
class Side:
    """Dialogs of a set that have to be sealed, and go the same way between the same two services."""

    said: Row
    """Security, certificates, the newest key, and what the far side has to know of all of them."""
    endpoints: Sequence[int]
    columns: tuple[bytes, bytes, bytes, bytes]
    """What it has to know of each: conversation ids, keys, contracts, lifetimes, elements of arrays."""


@dataclass(frozen=True)
class OwnSet:
    """Of this instance's messages the next ones for a peer: a row of ssb_internal.next_set."""

    set_id: uuid.UUID
    values: tuple[Any, ...]
    """Dialogs, places, numbers, types, kinds, bodies, raw."""
    ids: RawBigints
    endpoints: RawBigints
    sides: list[Side]
    """Empty where all dialogs are in the clear."""
    traced: list[Row]
    length: int
    """Of the bodies, in bytes."""
    after: Position

    @property
    def messages(self) -> int:
        """How many."""
        return count_of(self.ids)

    @property
    def dialogs(self) -> int:
        """How many."""
        return count_of(self.endpoints)

    @property
    def is_full(self) -> bool:
        """Whether more may wait behind it."""
        return self.after.endpoint is not None

    def headers(self) -> list[Row]:
        """Of the dialogs, with what goes without saying between instances."""
        told: list[Row] = loaded(self.values[0])
        for one in told:
            for name in ("to_instance", "lifetime"):
                one.setdefault(name, None)
            one.setdefault("traces", {})
        return told

    def batch(self) -> Batch:
        """The same for Python."""
        messages = (loaded(value) for value in self.values[1:])
        return Batch(loaded(self.endpoints), self.headers(), *messages)

    def part(self, places: Sequence[int]) -> "OwnSet":
        """Some of the dialogs."""
        headers, endpoints = self.headers(), loaded(self.endpoints)
        runs = [run for run in self.runs() if run.place in places]
        now_at = {place: at for at, place in enumerate(dict.fromkeys(run.place for run in runs))}
        count = sum(run.count for run in runs)
        values = (
            json_of([headers[place] | {"set": str(self.set_id)} for place in now_at]),
            array_of(RawIntegers, count, (placed(now_at[run.place], run.count) for run in runs)),
            array_of(RawBigints, count, (run.numbers for run in runs)),
            array_of(RawTexts, count, (run.message_types for run in runs)),
            array_of(RawTexts, count, (run.kinds for run in runs)),
            array_of(RawBodies, count, (run.bodies for run in runs)),
        )
        return OwnSet(
            self.set_id,
            values,
            array_of(RawBigints, count, (run.ids for run in runs)),
            bigints([endpoints[place] for place in now_at]),
            [],
            [],
            sum(len(run.bodies) for run in runs),
            self.after,
        )

    def runs(self) -> list[Run]:
        """The same dialog by dialog."""
        _, places, numbers, message_types, kinds, bodies = self.values
        found = [(place, len(list(those))) for place, those in groupby(numbers_of(places))]
        counts = [count for _, count in found]
        columns = (
            cut_fixed(numbers, counts),
            *(cut(elements_of(column), counts) for column in (message_types, kinds, bodies)),
            cut_fixed(self.ids, counts),
        )
        return [Run(*one, *parts) for one, *parts in zip(found, *columns, strict=True)]

    def crossing(self, batch: Batch, sink: SpanSink | None, address: str) -> Crossing | None:
        """Let traces travel beside their messages, below a new span each where ``sink`` takes spans.

        Instances that know nothing of traces leave them where they are.
        """
        rows = [self._traced_row(batch, one) for one in self.traced]
        crossing = Crossing(sink, address, rows) if sink is not None else None
        for one, row in zip(self.traced, rows, strict=True):
            header = batch.headers[batch.places[one["at"]]]
            header["traces"][str(row["message_sequence_number"])] = row["trace"]
        return crossing

    def _traced_row(self, batch: Batch, one: Row) -> Row:
        at = one["at"]
        return {
            "endpoint_id": batch.keys[batch.places[at]],
            "message_sequence_number": batch.numbers[at],
            "to_service": batch.headers[batch.places[at]]["to_service"],
            "message_type": batch.message_types[at],
            "trace": one["trace"],
            "sent": one["sent"],
        }


def next_size(own: OwnSet, messages: int, *, is_paused: bool = False) -> int:
    """Of the set behind this one, at most, which was to have so many; ``is_paused``: more will have come."""
    more = MOST_MESSAGES if is_paused else min(2 * messages, MOST_MESSAGES)
    if own.sides:
        return more
    if not own.is_full and not is_paused:
        return MESSAGES
    # Bodies that are longer than a message's share of a set have to be measured before they are read. What is
    # looked up of dialogs, or written for new ones, grows faster than their number.
    share = 2 * own.length // own.messages + _OVERHEAD
    for size in (more, messages):
        if size * share <= BYTES and size * own.dialogs <= MESSAGES * own.messages:
            return size
    return MESSAGES


async def next_set(
    near: Connection,
    peer_id: int,
    under_way: list[int],
    after: Position,
    settled: Settled | None,
    *,
    messages: int,
    takes_fragments: bool,
) -> OwnSet | None:
    """Settle the last set and read the next one; None when there is none. Raises psycopg.Error."""
    set_id = uuid.uuid4()
    last: Sequence[Raw | None] = (
        (settled.ids, settled.endpoints, settled.next_numbers, settled.instances, settled.key_ids)
        if settled
        else [None] * 5
    )
    result = await _NEXT_SET.run(
        near,
        [
            *(integer(peer_id), set_id.bytes, integer(messages)),
            *(bigint(BYTES), bigint(FRAGMENT if takes_fragments else None), bigints(under_way)),
            *(integer(after.priority), bigint(after.endpoint), bigint(after.message)),
            *last,
        ],
    )
    row = raw_row(result, _COLUMNS)
    if row is None:
        return None
    dialogs, *values, ids, endpoints, sides, uuids, keys, contracts, lifetimes = row[:13]
    traced, length, priority, endpoint, message = row[13:]
    assert isinstance(dialogs, RawText)
    assert isinstance(ids, RawBigints)
    assert isinstance(endpoints, RawBigints)
    assert isinstance(sides, Raw | None)
    assert isinstance(traced, Raw | None)
    return OwnSet(
        set_id,
        (json_in(dialogs), *values),
        ids,
        endpoints,
        _sides(loaded(sides) or [], endpoints, (uuids, keys, contracts, lifetimes)),
        loaded(traced) or [],
        (number_of(length) or 0) - _OVERHEAD * count_of(ids),
        Position(number_of(priority), number_of(endpoint), number_of(message)),
    )


def _sides(told: list[Row], of_set: RawBigints, columns: Sequence[Any]) -> list[Side]:
    endpoints = [one.pop("endpoints") or bigints_of(elements_of(of_set)) for one in told]
    if len(told) < 2:
        parts = [[elements_of(column)] for column in columns if column is not None]
    else:
        counts = [len(those) for those in endpoints]
        parts = [cut(elements_of(column), counts) for column in columns]
    return [
        Side(said, those, (parts[0][at], parts[1][at], parts[2][at], parts[3][at]))
        for at, (said, those) in enumerate(zip(told, endpoints, strict=True))
    ]

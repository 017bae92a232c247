"""Sealed sets of messages that another instance has brought.

What goes is in sealed_sets.py.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ..security.dialogs import Contents, NotGenuine, nonce_of
from .transport_sets import json_of, placed
from .transport_values import (
    LENGTH,
    NULL,
    Malformed,
    Raw,
    RawBigints,
    RawBodies,
    RawDoubles,
    RawIntegers,
    RawJson,
    RawStatement,
    RawTexts,
    RawUuids,
    array_of,
    cut,
    cut_fixed,
    elements_of,
    loaded,
    moved,
    numbers_of,
    packed,
    require_elements,
    unpacked,
)

Row = dict[str, Any]

_OF_DIALOGS = 4
_KINDS: tuple[type[Raw], ...] = (
    *(RawUuids, RawUuids, RawTexts, RawDoubles),
    *(RawIntegers, RawBigints, RawTexts, RawTexts, RawBodies),
)
"""Of what ssb_internal.take_opened takes: so many columns of dialogs, and those of messages."""


@dataclass(frozen=True)
class ArrivedBlock:
    """A block of a set that came: places, counted from its first dialog, and numbers; all else is sealed."""

    header: Row
    """What all its dialogs have in common, and what somebody on the way has said of the first."""
    dialogs: int
    count: int
    places: bytes
    numbers: bytes
    sealed: bytes

    @property
    def nonce(self) -> bytes:
        """To which its answer is bound."""
        return nonce_of(self.sealed)

    @property
    def conversation(self) -> Any:
        """The id of the first dialog, as it is told outside."""
        told = self.header.get("conversation_ids")
        return told[0] if isinstance(told, list) else self.header.get("conversation_id")


@dataclass(frozen=True)
class SealedArrival:
    """A set that another instance has brought: a row of ssb_internal.next_sealed_set."""

    blocks: list[ArrivedBlock] | None
    """None: there are none in it."""
    exchanges: list[str]
    keys: list[Row]

    @classmethod
    def read(cls, row: Sequence[Any]) -> "SealedArrival":
        """From such a row, raw."""
        _, dialogs, places, numbers, bodies, exchanges, keys = row
        return cls(blocks_of(loaded(dialogs), places, numbers, bodies), loaded(exchanges), loaded(keys))


NEXT_ARRIVAL = RawStatement(
    "SELECT set_id, dialogs, places, numbers, bodies, exchanges, keys"
    " FROM ssb_internal.next_sealed_set($1::uuid, $2::jsonb)"
)
ARRIVAL_COLUMNS = (None, RawJson, RawIntegers, RawBigints, RawBodies, RawTexts, RawJson)
TAKE_OPENED = RawStatement(
    "SELECT next_numbers, instances, others FROM ssb_internal.take_opened($1::jsonb, $2::uuid[], $3::uuid[],"
    " $4::text[], $5::double precision[], $6::integer[], $7::bigint[], $8::text[], $9::text[], $10::bytea[])"
)
OPENED_COLUMNS = (RawBigints, RawTexts, RawJson)


def blocks_of(
    dialogs: Any, places: RawIntegers, numbers: RawBigints, bodies: RawBodies
) -> list[ArrivedBlock] | None:
    """A block's first dialog names its key, and its first message has the body, which is that of all of it.

    It tells the ids of all its dialogs; behind an instance that has passed it on, each dialog tells its own.
    None where arrays and dialogs do not belong together: whoever has brought them.
    """
    if not (isinstance(dialogs, list) and all(isinstance(one, dict) for one in dialogs)):
        return None
    starts = [place for place, one in enumerate(dialogs) if "key_id" in one]
    try:
        sealed = _bodies_of(elements_of(bodies))
        counts = [count for _, count in sealed]
        parts = cut_fixed(numbers, counts)
        placed_at = numbers_of(places)
    except (Malformed, struct.error):
        return None
    if not starts or starts[0] != 0 or len(starts) != len(sealed) or len(placed_at) != sum(counts):
        return None
    found = []
    at = first = 0
    for (start, end), (body, count), part in zip(
        pairwise([*starts, len(dialogs)]), sealed, parts, strict=True
    ):
        told = [one.get("conversation_ids", [None]) for one in dialogs[start:end]]
        if not all(isinstance(ids, list) for ids in told):
            return None
        behind = first + sum(map(len, told))
        own = placed_at[at : at + count]
        at += count
        if not first <= min(own) <= max(own) < behind:
            return None
        placed_here = packed([place - first for place in own], "i")
        found.append(ArrivedBlock(dialogs[start], behind - first, count, placed_here, part, body))
        first = behind
    return found


def _bodies_of(elements: bytes) -> list[tuple[bytes, int]]:
    """Each with the messages that it is of: those behind the first have none. Raises Malformed."""
    found = []
    at = 0
    while at < len(elements):
        (length,) = LENGTH.unpack_from(elements, at)
        if length < 0:
            raise Malformed
        at += LENGTH.size
        body = elements[at : at + length]
        at += length
        count = 1
        while elements.startswith(NULL, at):
            at += len(NULL)
            count += 1
        found.append((body, count))
    if at != len(elements):
        raise Malformed
    return found


def require_whole(block: ArrivedBlock, contents: Contents) -> None:
    """Raise NotGenuine where the columns have not as many elements as the block has messages, or dialogs.

    Whoever has the key may still have sealed what would move the messages, or dialogs, of others.
    """
    try:
        require_elements(contents.conversation_ids, block.dialogs, 16)
        require_elements(contents.keys, block.dialogs, 16)
        require_elements(contents.contracts, block.dialogs)
        require_elements(contents.lifetimes, block.dialogs, 8)
        for column in (contents.types, contents.kinds, contents.bodies):
            require_elements(column, block.count)
    except Malformed:
        raise NotGenuine("they are not as many as their numbers, or as their conversations") from None


@dataclass
class Opened:
    """What was opened of a set, for ssb_internal.take_opened."""

    blocks: list[Row] = field(default_factory=list)
    """What the dialogs of each have in common."""
    dialogs: int = 0
    count: int = 0
    columns: tuple[list[bytes], ...] = field(default_factory=lambda: tuple([] for _ in _KINDS))
    """Of the dialogs ids, keys, contracts, lifetimes; of messages places, numbers, types, kinds, bodies."""

    def add(self, block: ArrivedBlock, contents: Contents, common: Mapping[str, Any]) -> range:
        """Returns where its dialogs are now; ``common``: what the server has to know of each of them."""
        first = self.dialogs
        traces = block.header.get("traces")
        more = {"traces": traces} if isinstance(traces, dict) else {}
        self.blocks.append({"dialogs": block.dialogs, **common, **more})
        parts = (
            *(contents.conversation_ids, contents.keys, contents.contracts, contents.lifetimes),
            *(moved(block.places, first), block.numbers, contents.types, contents.kinds, contents.bodies),
        )
        for column, part in zip(self.columns, parts, strict=True):
            column.append(part)
        self.dialogs += block.dialogs
        self.count += block.count
        return range(first, self.dialogs)

    def values(self) -> list[Raw]:
        """As the server takes them."""
        counts = [self.dialogs] * _OF_DIALOGS + [self.count] * (len(_KINDS) - _OF_DIALOGS)
        arrays = zip(_KINDS, counts, self.columns, strict=True)
        return [json_of(self.blocks), *(array_of(kind, count, column) for kind, count, column in arrays)]

    def apart(self) -> "list[Opened]":
        """The same dialog by dialog."""
        of_dialogs = [cut(b"".join(column), [1] * self.dialogs) for column in self.columns[:_OF_DIALOGS]]
        found: list[Opened] = []
        for block in self.blocks:
            for at in range(block["dialogs"]):
                told = block.get("traces", {}).get(str(at))
                more = {"dialogs": 1, "traces": {"0": told} if told is not None else {}}
                own = [[column[len(found)]] for column in of_dialogs]
                found.append(Opened([block | more], 1, 0, (*own, *([] for _ in _KINDS[_OF_DIALOGS:]))))
        places, *others = self.columns[_OF_DIALOGS:]
        single = [cut(b"".join(column), [1] * self.count) for column in others]
        for place, *message in zip(unpacked(b"".join(places), "4xi"), *single, strict=True):
            one = found[place]
            one.count += 1
            for column, part in zip(one.columns[_OF_DIALOGS:], (placed(0, 1), *message), strict=True):
                column.append(part)
        return found

"""Sealed sets of messages that another instance has brought.

What goes is in sealed_sets.py.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ..security.dialogs import Contents, NotGenuine, nonce_of
from .transport_sets import placed
from .transport_values import (
    LENGTH,
    NULL,
    Malformed,
    Raw,
    RawBigints,
    RawBodies,
    RawIntegers,
    RawJson,
    RawTexts,
    array_of,
    cut,
    cut_fixed,
    elements_of,
    loaded,
    numbers_of,
    packed,
    unpacked,
)

Row = dict[str, Any]


@dataclass(frozen=True)
class ArrivedBlock:
    """A block of a set that came: places, counted from its first dialog, and numbers; all else is sealed."""

    headers: Sequence[Row]
    count: int
    places: bytes
    numbers: bytes
    sealed: bytes

    @property
    def header(self) -> Row:
        """Of the first dialog, which has what all have in common."""
        return self.headers[0]

    @property
    def nonce(self) -> bytes:
        """To which its answer is bound."""
        return nonce_of(self.sealed)


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


NEXT_ARRIVAL = (
    "SELECT set_id, dialogs, places, numbers, bodies, exchanges, keys"
    " FROM ssb_internal.next_sealed_set(%b::uuid, %b::jsonb)"
)
ARRIVAL_COLUMNS = (None, RawJson, RawIntegers, RawBigints, RawBodies, RawTexts, RawJson)


def blocks_of(
    dialogs: Any, places: RawIntegers, numbers: RawBigints, bodies: RawBodies
) -> list[ArrivedBlock] | None:
    """A block's first dialog names its key, and its first message has the body, which is that of all of it.

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
    at = 0
    for (first, end), (body, count), part in zip(
        pairwise([*starts, len(dialogs)]), sealed, parts, strict=True
    ):
        own = placed_at[at : at + count]
        at += count
        if not first <= min(own) <= max(own) < end:
            return None
        found.append(
            ArrivedBlock(dialogs[first:end], count, moved(own, -first), part, body),
        )
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


def moved(places: Sequence[int], by: int) -> bytes:
    """Places, counted from elsewhere: elements of an integer[]."""
    return packed([place + by for place in places] if by else places, "i")


def require_whole(block: ArrivedBlock, contents: Contents) -> None:
    """Raise NotGenuine where the columns have not as many elements as the block has messages, or dialogs.

    Whoever has the key may still have sealed what would move the messages of others.
    """
    if len(contents.dialogs) != len(block.headers):
        raise NotGenuine("they are of another number of dialogs")
    try:
        for column in (contents.types, contents.kinds, contents.bodies):
            cut(column, [block.count])
    except Malformed:
        raise NotGenuine("they are not as many as their numbers") from None


@dataclass
class Opened:
    """What was opened of a set, for ssb_internal.take_opened."""

    dialogs: list[Row] = field(default_factory=list)
    count: int = 0
    columns: tuple[list[bytes], ...] = field(default_factory=lambda: ([], [], [], [], []))
    """Places, numbers, types, kinds, bodies: elements of arrays."""

    def add(self, block: ArrivedBlock, contents: Contents, common: Mapping[str, Any]) -> range:
        """Returns where its dialogs are now; ``common``: what the server has to know of each of them."""
        first = len(self.dialogs)
        for header, (conversation_id, key, contract, lifetime) in zip(
            block.headers, contents.dialogs, strict=True
        ):
            more = {"traces": header["traces"]} if header.get("traces") else {}
            self.dialogs.append(
                {
                    "conversation_id": conversation_id,
                    "key": key,
                    "contract": contract,
                    "lifetime": lifetime,
                    **common,
                    **more,
                }
            )
        places = moved(unpacked(block.places, "4xi"), first) if first else block.places
        parts = (places, block.numbers, contents.types, contents.kinds, contents.bodies)
        for column, part in zip(self.columns, parts, strict=True):
            column.append(part)
        self.count += block.count
        return range(first, len(self.dialogs))

    def values(self) -> list[Raw]:
        """Arrays."""
        kinds: tuple[type[Raw], ...] = (RawIntegers, RawBigints, RawTexts, RawTexts, RawBodies)
        return [array_of(kind, self.count, column) for kind, column in zip(kinds, self.columns, strict=True)]

    def apart(self) -> "list[Opened]":
        """The same dialog by dialog."""
        found = [Opened([dialog]) for dialog in self.dialogs]
        single = [cut(b"".join(column), [1] * self.count) for column in self.columns[1:]]
        for place, *message in zip(unpacked(b"".join(self.columns[0]), "4xi"), *single, strict=True):
            one = found[place]
            one.count += 1
            for column, part in zip(one.columns, (placed(0, 1), *message), strict=True):
                column.append(part)
        return found

"""Sealed sets of messages that go to another instance, and how its answers are read.

security/dialogs.py says what a block is and how it is sealed, sealed_arrivals.py reads what has come; the
server's part is in runtime_sql/transport/dialog_security.sql. What all dialogs of a block have in common is
known from the server's own words (`Side`), so nothing here is done for each dialog or message, but where an
answer says more than that all was taken, or a set is divided.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..security.dialogs import BLOCK_VERSION, BOUND, Contents, NotGenuine, PairCipher
from .answers import Taken, checked_taken, plain_answers, read_answer
from .transport_sets import OwnSet, Run, Settled, Side, bigints, json_of
from .transport_values import (
    NULL,
    Malformed,
    RawBigints,
    RawBodies,
    RawIntegers,
    RawJson,
    RawTexts,
    RawUuids,
    array_of,
    bigints_of,
    count_of,
    cut,
    element,
    elements_of,
    moved,
    packed,
    unpacked,
)

_MESSAGE = element(b"message")
"""The kind of all messages but fragments and ends."""
_NO_ANSWER = "The other instance has not answered."

Row = dict[str, Any]


@dataclass
class SealedBlock:
    """Messages of dialogs that are sealed as one, and what is needed to read the answer.

    Columns are elements of arrays; places are those of the block's dialogs.
    """

    cipher: PairCipher
    key_id: uuid.UUID
    side: Side
    places: bytes
    numbers: bytes
    types: bytes
    kinds: bytes
    bodies: bytes
    ids: bytes
    traces: Mapping[str, Row] = field(default_factory=dict)
    """By place."""
    nonce: bytes = b""

    @classmethod
    def whole(
        cls, cipher: PairCipher, key_id: uuid.UUID, own: OwnSet, traces: Mapping[int, Row]
    ) -> "SealedBlock":
        """A set all of whose dialogs are one side's, in its order."""
        (side,) = own.sides
        places, numbers, types, kinds, bodies = (elements_of(column) for column in own.values[1:])
        return cls(
            cipher,
            key_id,
            side,
            *(places, numbers, types, kinds, bodies),
            elements_of(own.ids),
            {str(place): one for place, one in traces.items()},
        )

    @classmethod
    def of_runs(
        cls,
        cipher: PairCipher,
        key_id: uuid.UUID,
        side: Side,
        runs: Sequence[Run],
        endpoints: Sequence[int],
        traces: Mapping[int, Row],
    ) -> "SealedBlock":
        """The runs of a side; ``endpoints`` are the dialogs of the set that they are of."""
        place_of = {endpoint: place for place, endpoint in enumerate(side.endpoints)}
        places = [place_of[endpoints[run.place]] for run in runs]
        each = list(zip(places, runs, strict=True))
        return cls(
            cipher,
            key_id,
            side,
            packed([place for place, run in each for _ in range(run.count)], "i"),
            b"".join(run.numbers for run in runs),
            b"".join(run.message_types for run in runs),
            b"".join(run.kinds for run in runs),
            b"".join(run.bodies for run in runs),
            b"".join(run.ids for run in runs),
            {str(place): traces[run.place] for place, run in each if run.place in traces},
        )

    @property
    def endpoints(self) -> Sequence[int]:
        """Its dialogs."""
        return self.side.endpoints

    @property
    def count(self) -> int:
        """Of its messages."""
        return len(self.ids) // len(element(bytes(8)))

    def placed(self, first: int) -> bytes:
        """The messages' places where the block's first dialog has this one."""
        return moved(self.places, first)

    def told(self) -> Row:
        """What travels in the clear: what routing needs, and what an instance on the way shows.

        Traces are numbers of spans, which say nothing of the message.
        """
        conversations = _uuids(self.side.columns[0], len(self.endpoints))
        common = {name: self.side.said[name] for name in BOUND if self.side.said[name] is not None}
        began = {"key_id": str(self.key_id), "version": BLOCK_VERSION, "conversation_ids": conversations}
        return common | began | ({"traces": self.traces} if self.traces else {})

    def sealed(self) -> bytes:
        """As it travels."""
        contents = Contents(*self.side.columns, self.types, self.kinds, self.bodies)
        self.nonce, sealed = self.cipher.seal(self.side.said, self.places, self.numbers, contents)
        return sealed

    def read(self, given: Row) -> "BlockAnswer":
        """Read the answer; one that is not genuine settles nothing."""
        count = len(self.endpoints)
        try:
            if "sealed" in given:
                said = self.cipher.open_answer(self.nonce, given["sealed"])
                arrays = RawBigints(said.next_numbers), RawTexts(said.instances)
                taken = checked_taken(*arrays, RawJson(said.others) if said.others else None, count)
                return BlockAnswer(self.key_id, taken, self._others(taken))
            # Whoever says so, it loses nothing: the message waits.
            status = plain_answers({0: given})[0]["status"] or _NO_ANSWER
        except NotGenuine as error:
            status = f"The answer of the other instance is not genuine: {error}."
        except Malformed:
            status = "The answer of the other instance is not genuine: it is no answer."
        nothing = Taken(
            bigints([0] * count), array_of(RawTexts, count, [NULL * count]), [(0, None)] * count, []
        )
        told = {at: {"next_number": 0, "status": status} for at in range(count)}
        return BlockAnswer(None, nothing, told)

    def _others(self, taken: Taken) -> dict[int, Row]:
        """Raise Malformed where one is no answer: whoever has the key may still write anything."""
        told = {}
        for one in taken.others:
            read, place = read_answer(one), one.get("place")
            if read is None or read["next_number"] is None or not isinstance(place, int):
                raise Malformed
            if not 0 <= place < len(self.endpoints):
                raise Malformed
            told[place] = read
        return told

    def rows(self, answer: "BlockAnswer", places: Iterable[int] | None = None) -> list[Row]:
        """For ssb_internal.settle_sent: some of its dialogs; None: all."""
        key = {} if answer.key_id is None else {"key_id": str(answer.key_id)}
        told = answer.taken.rows
        return [
            {"endpoint_id": self.endpoints[at], **key}
            | answer.others.get(at, {"next_number": told[at][0], "instance": told[at][1]})
            for at in (range(len(self.endpoints)) if places is None else places)
        ]

    def settled(self, answer: "BlockAnswer") -> tuple[Settled | None, list[int]]:
        """The dialogs of which all was taken, and the places of the rest."""
        if not answer.others and self.kinds == _MESSAGE * self.count:
            return (
                Settled(
                    array_of(RawBigints, self.count, [self.ids]),
                    bigints(self.endpoints),
                    answer.taken.next_numbers,
                    answer.taken.instances,
                    self._key_of_each(len(self.endpoints)),
                ),
                [],
            )
        expected, ids = self._by_dialog()
        taken: list[int] = []
        rest: list[int] = []
        for at, (next_number, _) in enumerate(answer.taken.rows):
            told = answer.others.get(at, {"next_number": next_number})
            is_plain = all(told.get(one) is None for one in ("status", "refusal", "taken_bytes"))
            is_taken = is_plain and expected[at] is not None and told["next_number"] == expected[at]
            (taken if is_taken else rest).append(at)
        if not taken:
            return None, rest
        instances = [answer.others.get(at, {}).get("instance", answer.taken.rows[at][1]) for at in taken]
        settled = Settled(
            array_of(RawBigints, sum(len(ids[at]) for at in taken), [one for at in taken for one in ids[at]]),
            bigints([self.endpoints[at] for at in taken]),
            bigints([number for at in taken if (number := expected[at]) is not None]),
            array_of(
                RawTexts,
                len(taken),
                [element(one.encode() if one is not None else None) for one in instances],
            ),
            self._key_of_each(len(taken)),
        )
        return settled, rest

    def _key_of_each(self, count: int) -> RawUuids:
        keys: RawUuids = array_of(RawUuids, count, [element(self.key_id.bytes) * count])
        return keys

    def _by_dialog(self) -> tuple[list[int | None], list[list[bytes]]]:
        """Where all of each is taken, None: there is more to it than messages; its messages' ids."""
        expected: list[int | None] = [None] * len(self.endpoints)
        ids: list[list[bytes]] = [[] for _ in self.endpoints]
        messages = zip(
            unpacked(self.places, "4xi"),
            bigints_of(self.numbers),
            cut(self.kinds, [1] * self.count),
            cut(self.ids, [1] * self.count),
            strict=True,
        )
        for at, number, kind, one in messages:
            # (Of two priorities, those of one dialog may be in another order.)
            is_next = kind == _MESSAGE and (not ids[at] or expected[at] == number)
            expected[at] = number + 1 if is_next else None
            ids[at].append(one)
        return expected, ids


@dataclass(frozen=True)
class BlockAnswer:
    """What the far side has said of a block, dialog by dialog."""

    key_id: uuid.UUID | None
    """None: it has said nothing of its own."""
    taken: Taken
    others: dict[int, Row]
    """By place: where there is more to say."""


@dataclass(frozen=True)
class SealedSet:
    """What goes to ssb_internal.take_sealed, and its blocks, which have a name until they are answered."""

    set_id: str
    values: list[Any]
    blocks: dict[int, SealedBlock]
    """By name: the endpoint of the first dialog."""
    places: dict[int, int]
    """The names, by the place of the first dialog."""

    @classmethod
    def of(cls, blocks: Sequence[SealedBlock], exchanges: Sequence[str]) -> "SealedSet":
        """Seal the blocks; ``exchanges`` tell the far side of keys."""
        set_id = str(uuid.uuid4())
        dialogs: list[Row] = []
        places: dict[int, int] = {}
        columns: tuple[list[bytes], ...] = [], [], []
        total = first = 0
        for block in blocks:
            places[first] = block.endpoints[0]
            body = element(block.sealed()) + NULL * (block.count - 1)
            for column, part in zip(columns, (block.placed(first), block.numbers, body), strict=True):
                column.append(part)
            dialogs.append(block.told())
            first += len(block.endpoints)
            total += block.count
        values = [
            set_id,
            json_of(dialogs),
            array_of(RawIntegers, total, columns[0]),
            array_of(RawBigints, total, columns[1]),
            array_of(RawBodies, total, columns[2]),
            list(exchanges),
        ]
        return cls(set_id, values, {block.endpoints[0]: block for block in blocks}, places)

    def endpoints(self, name: int) -> Sequence[int]:
        """Of a block."""
        return self.blocks[name].endpoints


def is_of_one_side(own: OwnSet) -> bool:
    """Tell whether all dialogs of a set are one side's, in the set's order."""
    return (
        len(own.sides) == 1
        and len(own.sides[0].endpoints) == count_of(own.endpoints)
        and packed(own.sides[0].endpoints, "q") == elements_of(own.endpoints)
    )


def runs_of(own: OwnSet, endpoints: Sequence[int]) -> dict[int, list[Run]]:
    """What a set has of each dialog; ``endpoints``: the set's."""
    found: dict[int, list[Run]] = {}
    for run in own.runs():
        found.setdefault(endpoints[run.place], []).append(run)
    return found


def divided(side: Side) -> list[Side]:
    """The same dialog by dialog."""
    count = len(side.endpoints)
    parts = zip(*(cut(column, [1] * count) for column in side.columns), strict=True)
    return [
        Side(side.said, [endpoint], columns) for endpoint, columns in zip(side.endpoints, parts, strict=True)
    ]


def _uuids(elements: bytes, count: int) -> list[str]:
    """Elements of this server's uuid[], as text. (By the class of that name it takes five times as long.)"""
    digits = elements.hex()
    each = [digits[at + 8 : at + 40] for at in range(0, 40 * count, 40)]
    return [f"{one[:8]}-{one[8:12]}-{one[12:16]}-{one[16:20]}-{one[20:]}" for one in each]

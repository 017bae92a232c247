"""Sealed sets of messages that go to another instance, and how its answers are read.

security/dialogs.py says what a block is and how it is sealed, sealed_arrivals.py reads what has come; the
server's part is in runtime_sql/transport/dialog_security.sql.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..security.dialogs import BLOCK_VERSION, BOUND, Contents, Dialog, NotGenuine, PairCipher
from .answers import MOST, is_instance, is_text, plain_answers, read_answer
from .transport_sets import Run, Settled, bigints, json_of
from .transport_values import (
    NULL,
    RawBigints,
    RawBodies,
    RawIntegers,
    RawTexts,
    RawUuids,
    array_of,
    bigints_of,
    element,
    number_of,
    packed,
)

_MESSAGE = element(b"message")
"""The kind of all messages but fragments and ends."""

_NO_ANSWER = "The other instance has not answered."


Row = dict[str, Any]


@dataclass
class SealedBlock:
    """Messages of dialogs that are sealed as one, and what is needed to read the answer."""

    cipher: PairCipher
    key_id: uuid.UUID
    header: Row
    """Of its first dialog, which has what all have in common."""
    endpoints: list[int] = field(default_factory=list)
    dialogs: list[Dialog] = field(default_factory=list)
    outside: list[Row] = field(default_factory=list)
    ids: list[bytes] = field(default_factory=list)
    """Of each dialog's messages, elements of a bigint[]."""
    next_numbers: list[int | None] = field(default_factory=list)
    """Where all of a dialog is taken; None: that has to be looked at, an end or a fragment is among them."""
    runs: list[Run] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    """Of each run: its dialog's, and how many messages it has."""
    nonce: bytes = b""

    def add(self, run: Run, endpoint: int, header: Row) -> None:
        """Add a run of a dialog that is not in here yet."""
        self.endpoints.append(endpoint)
        self.dialogs.append(
            Dialog(header["conversation_id"], header["key"], header["contract"], header["lifetime"])
        )
        # In the clear: what an instance on the way shows, and numbers of spans, which say nothing of
        # the message.
        outside = {"conversation_id": header["conversation_id"]}
        if header["traces"]:
            outside["traces"] = header["traces"]
        self.outside.append(outside)
        self.ids.append(run.ids)
        self.next_numbers.append(next_number(run))
        self._add(run, len(self.endpoints) - 1)

    def add_more(self, run: Run, endpoint: int) -> None:
        """Add another run of a dialog, which was behind others: of two priorities."""
        at = self.endpoints.index(endpoint)
        self.ids[at] += run.ids
        self.next_numbers[at] = None
        self._add(run, at)

    def _add(self, run: Run, at: int) -> None:
        self.runs.append(run)
        self.places.append((at, run.count))

    def placed(self, first: int) -> bytes:
        """The messages' places where the block's first dialog has this one: elements of an integer[]."""
        return packed([first + at for at, count in self.places for _ in range(count)], "i")

    def sealed(self) -> bytes:
        """As it travels."""
        contents = Contents(
            self.dialogs,
            *(
                b"".join(getattr(run, name) for run in self.runs)
                for name in ("message_types", "kinds", "bodies")
            ),
        )
        self.nonce, sealed = self.cipher.seal(self.header, self.placed(0), self.numbers(), contents)
        return sealed

    def numbers(self) -> bytes:
        """Of its messages, elements of a bigint[]."""
        return b"".join(run.numbers for run in self.runs)

    def read(self, given: Row) -> "BlockAnswer":
        """Read the answer; one that is not genuine settles nothing."""
        try:
            if "sealed" in given:
                return self._checked(self.cipher.open_answer(self.nonce, given["sealed"]))
            # Whoever says so, it loses nothing: the message waits.
            status = plain_answers({0: given})[0]["status"] or _NO_ANSWER
        except NotGenuine as error:
            status = f"The answer of the other instance is not genuine: {error}."
        count = len(self.endpoints)
        told = {"next_number": 0, "status": status}
        return BlockAnswer(None, [0] * count, [None] * count, dict.fromkeys(range(count), told))

    def _checked(self, said: Row) -> "BlockAnswer":
        """Raise NotGenuine where it is no answer: whoever has the key may still write anything."""
        count = len(self.endpoints)
        numbers, instances, others = (said.get(name) for name in ("next_numbers", "instances", "others"))
        if not (
            isinstance(numbers, list)
            and len(numbers) == count
            and all(type(one) is int and 0 <= one <= MOST for one in numbers)
            and isinstance(instances, list)
            and len(instances) == count
            and all(one is None or is_text(one) for one in set(instances))
            and all(is_instance(one) for one in set(instances))
            and isinstance(others, list)
        ):
            raise NotGenuine("it is no answer")
        told = {}
        for one in others:
            read = read_answer(one) if isinstance(one, dict) else None
            if read is None or read["next_number"] is None or one.get("place") not in range(count):
                raise NotGenuine("it is no answer")
            told[one["place"]] = read
        return BlockAnswer(self.key_id, numbers, instances, told)

    def rows(self, answer: "BlockAnswer", places: Iterable[int] | None = None) -> list[Row]:
        """For ssb_internal.settle_sent: some of its dialogs; None: all."""
        key = {} if answer.key_id is None else {"key_id": str(answer.key_id)}
        return [
            {"endpoint_id": self.endpoints[at], **key}
            | answer.others.get(
                at, {"next_number": answer.next_numbers[at], "instance": answer.instances[at]}
            )
            for at in (range(len(self.endpoints)) if places is None else places)
        ]

    def settled(self, answer: "BlockAnswer") -> tuple[Settled | None, list[int]]:
        """The dialogs of which all was taken, and the places of the rest."""
        taken: Sequence[int] = range(len(self.endpoints))
        rest: list[int] = []
        if answer.others or answer.next_numbers != self.next_numbers:
            taken, rest = [], []
            for at, expected in enumerate(self.next_numbers):
                told = answer.others.get(at, {"next_number": answer.next_numbers[at]})
                is_plain = all(told.get(one) is None for one in ("status", "refusal", "taken_bytes"))
                is_taken = is_plain and expected is not None and told["next_number"] == expected
                (taken if is_taken else rest).append(at)
        if not taken:
            return None, rest
        ids = b"".join(self.ids[at] for at in taken)
        instances = [answer.others.get(at, {}).get("instance", answer.instances[at]) for at in taken]
        settled = Settled(
            array_of(RawBigints, len(bigints_of(ids)), [ids]),
            bigints([self.endpoints[at] for at in taken]),
            bigints([number for at in taken if (number := self.next_numbers[at]) is not None]),
            array_of(
                RawTexts,
                len(taken),
                [element(one.encode() if one is not None else None) for one in instances],
            ),
            array_of(RawUuids, len(taken), [element(self.key_id.bytes) * len(taken)]),
        )
        return settled, rest


@dataclass(frozen=True)
class BlockAnswer:
    """What the far side has said of a block, dialog by dialog."""

    key_id: uuid.UUID | None
    """None: it has said nothing of its own."""
    next_numbers: list[int]
    instances: list[str | None]
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
        total = 0
        for block in blocks:
            places[len(dialogs)] = block.endpoints[0]
            count = sum(count for _, count in block.places)
            body = element(block.sealed()) + NULL * (count - 1)
            for column, part in zip(
                columns, (block.placed(len(dialogs)), block.numbers(), body), strict=True
            ):
                column.append(part)
            common = {name: block.header[name] for name in BOUND if block.header[name] is not None}
            began = {"key_id": str(block.key_id), "version": BLOCK_VERSION}
            dialogs += [block.outside[0] | common | began, *block.outside[1:]]
            total += count
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


def next_number(run: Run) -> int | None:
    """Where all of a run is taken; None: there is more to it than messages."""
    return (number_of(run.numbers[-8:]) or 0) + 1 if run.kinds == _MESSAGE * run.count else None

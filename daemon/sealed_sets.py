"""Sealed sets of messages: what goes to another instance, how its answers are read, what one has brought.

security/dialogs.py says how messages are sealed; the server's part is in
runtime_sql/transport/dialog_security.sql.
"""

import struct
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..security.dialogs import DialogCipher, NotGenuine
from .answers import plain_answers, read_answer
from .transport_sets import Run, Settled, bigints
from .transport_values import (
    LENGTH,
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
    cut,
    cut_fixed,
    element,
    elements_of,
    loaded,
    numbers_of,
)

_MESSAGE = element(b"message")
"""The kind of all messages but fragments and ends."""

_NO_ANSWER = "The other instance has not answered."

Row = dict[str, Any]


@dataclass(frozen=True)
class SealedDialog:
    """What one dialog has in a set, and what is needed to read the answer."""

    cipher: DialogCipher
    key_id: uuid.UUID
    ids: bytes
    """Of its messages, elements of a bigint[]."""
    next_number: int | None
    """Where all is taken; None: that has to be looked at, an end or a fragment is among them."""


@dataclass(frozen=True)
class SealedSet:
    """What goes to ssb_internal.take_sealed."""

    set_id: str
    values: list[Any]
    dialogs: dict[int, SealedDialog]
    """By endpoint, in the order of the set."""

    def answer(self, endpoint: int, given: Row) -> Row:
        """Read the answer to one dialog; one that is not genuine settles nothing."""
        dialog = self.dialogs[endpoint]
        answer: Row = {"next_number": 0}
        try:
            if "sealed" in given:
                answer |= _checked_answer(dialog.cipher.open_answer(self.set_id, given["sealed"]))
                answer["key_id"] = str(dialog.key_id)
            else:
                # Whoever says so, it loses nothing: the message waits.
                answer["status"] = plain_answers({endpoint: given})[0]["status"] or _NO_ANSWER
        except NotGenuine as error:
            answer["status"] = f"The answer of the other instance is not genuine: {error}."
        return {"endpoint_id": endpoint} | answer

    def settled(self, answers: Sequence[Row]) -> tuple[Settled | None, list[Row]]:
        """Of such answers those of dialogs of which all was taken, and the rest."""
        taken: list[Row] = []
        rest: list[Row] = []
        for answer in answers:
            dialog = self.dialogs[answer["endpoint_id"]]
            is_taken = dialog.next_number is not None and answer["next_number"] == dialog.next_number
            is_plain = all(answer.get(name) is None for name in ("status", "refusal", "taken_bytes"))
            (taken if is_taken and is_plain else rest).append(answer)
        if not taken:
            return None, rest
        dialogs = [self.dialogs[answer["endpoint_id"]] for answer in taken]
        instances = (answer.get("instance") for answer in taken)
        ids = b"".join(dialog.ids for dialog in dialogs)
        settled = Settled(
            array_of(RawBigints, len(bigints_of(ids)), [ids]),
            bigints([answer["endpoint_id"] for answer in taken]),
            bigints([answer["next_number"] for answer in taken]),
            array_of(
                RawTexts,
                len(taken),
                [element(one.encode() if one is not None else None) for one in instances],
            ),
            array_of(RawUuids, len(taken), [element(dialog.key_id.bytes) for dialog in dialogs]),
        )
        return settled, rest


def _checked_answer(answer: Any) -> Row:
    """Raise NotGenuine where it is none: also whoever has the key may write anything."""
    read = read_answer(answer) if isinstance(answer, dict) else None
    if read is None or read["next_number"] is None:
        raise NotGenuine("it is none")
    return read


@dataclass(frozen=True)
class Travelling:
    """What a set that came has of the dialog at a place: messages, their numbers, all else sealed."""

    place: int
    count: int
    numbers: bytes
    sealed: bytes


@dataclass(frozen=True)
class SealedArrival:
    """A set that another instance has brought: a row of ssb_internal.next_sealed_set."""

    set_id: uuid.UUID
    dialogs: Any
    runs: list[Travelling] | None
    """None: its arrays are none that belong together."""
    exchanges: list[str]
    keys: list[Row]

    @classmethod
    def read(cls, row: Sequence[Any]) -> "SealedArrival":
        """From such a row, raw."""
        set_id, dialogs, places, numbers, bodies, exchanges, keys = row
        return cls(
            uuid.UUID(bytes=set_id),
            loaded(dialogs),
            runs_of(places, numbers, bodies),
            loaded(exchanges),
            loaded(keys),
        )


NEXT_ARRIVAL = (
    "SELECT set_id, dialogs, places, numbers, bodies, exchanges, keys"
    " FROM ssb_internal.next_sealed_set(%b::uuid, %b::jsonb)"
)
ARRIVAL_COLUMNS = (None, RawJson, RawIntegers, RawBigints, RawBodies, RawTexts, RawJson)


def runs_of(places: RawIntegers, numbers: RawBigints, bodies: RawBodies) -> list[Travelling] | None:
    """A run's first message has the body, which is that of all of it; the others have none."""
    found: list[tuple[int, int, bytes]] = []
    try:
        elements = elements_of(bodies)
        at = 0
        for place, those in groupby(numbers_of(places)):
            left = len(list(those))
            while left:
                (length,) = LENGTH.unpack_from(elements, at)
                at += LENGTH.size
                if length < 0:
                    return None
                body = elements[at : at + length]
                at += length
                count = left
                if not elements.startswith(NULL * (left - 1), at):
                    # A forwarder has put two runs of a dialog beside each other.
                    count = 1
                    while count < left and elements.startswith(NULL, at + len(NULL) * (count - 1)):
                        count += 1
                at += len(NULL) * (count - 1)
                left -= count
                found.append((place, count, body))
        parts = cut_fixed(numbers, [count for _, count, _ in found])
    except (Malformed, struct.error):
        return None
    if at != len(elements):
        return None
    return [
        Travelling(place, count, part, body) for (place, count, body), part in zip(found, parts, strict=True)
    ]


def next_number(run: Run) -> int | None:
    """Where all of a run is taken; None: there is more to it than messages."""
    return bigints_of(run.numbers)[-1] + 1 if run.kinds == _MESSAGE * run.count else None


def whole(
    run: Travelling, opened: tuple[uuid.UUID, float | None, bytes, bytes, bytes]
) -> tuple[uuid.UUID, float | None, bytes, bytes, bytes]:
    """Raise NotGenuine where the columns have not as many elements as the run has messages.

    Whoever has the key may still have sealed what would move the messages of others.
    """
    try:
        for column in opened[2:]:
            cut(column, [run.count])
    except Malformed:
        raise NotGenuine("they are not as many as their numbers") from None
    return opened

"""Answers to sets go where their messages came from: this instance's own queue, or who has brought them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from psycopg.rows import dict_row

from .answers import Row, Settle, Tell, plain_answers
from .peer import Peer
from .readers import Connection
from .sealed_sets import SealedSet
from .transport_sets import Batch
from .transport_values import number_of


@dataclass
class Forwarded:
    """A set that passes through: what the next instance answers goes to whoever has brought it."""

    near: Connection
    row: Row
    """Of ssb_internal.forwarded_sets."""
    open: set[int] = field(default_factory=set)

    async def go_on(self, peer: Peer) -> None:
        """Raises Unreachable."""
        row = self.row
        headers = row["dialogs"]
        keys = [header.pop("place") for header in headers]
        if row["exchanges"] is None:
            self.open = set(keys)
            batch = Batch(
                keys,
                headers,
                row["places"],
                row["numbers"],
                row["message_types"],
                row["kinds"],
                row["bodies"],
            )
            await peer.hand_over(batch, self.settle, row["forwarded_id"])
        else:
            values = [
                None,
                json.dumps(headers),
                row["places"],
                row["numbers"],
                row["bodies"],
                row["exchanges"],
            ]
            # A block is answered as one, at its first dialog.
            blocks = {at: keys[at] for at, header in enumerate(headers) if "key_id" in header}
            self.open = set(blocks.values())
            await peer.hand_over_sealed(values, blocks, self.settle, row["forwarded_id"])

    async def settle(self, answers: Mapping[int, Row]) -> None:
        """Hand answers back."""
        self.open -= answers.keys()
        told = [given | {"place": place} for place, given in answers.items()]
        has_arrived = any(given.get("status") is None for given in told)
        await self.near.execute(
            "SELECT ssb_internal.answer_forwarded(%s, %s::jsonb, %s, %s)",
            [self.row["forwarded_id"], json.dumps(told), not self.open, has_arrived],
        )


async def next_forwarded(near: Connection, peer: Peer) -> Forwarded | None:
    """A set that has to go on to this peer, and is not on its way."""
    async with near.cursor(row_factory=dict_row, binary=True) as cursor:
        await cursor.execute(
            "SELECT * FROM ssb_internal.forwarded_sets(%s, %s, %s::bigint[])",
            [peer.address, peer.mirror, peer.forwarded_under_way],
        )
        try:
            row = await cursor.fetchone()
        except (ValueError, RecursionError):
            # JSON of whoever sent it, which Python cannot read: it goes nowhere, and holds up nobody else's.
            number = number_of(cursor.pgresult.get_value(0, 0)) if cursor.pgresult is not None else None
            row = None
            await near.execute("SELECT ssb_internal.answer_forwarded(%s, '[]', true, false)", [number])
    return Forwarded(near, row) if row is not None else None


def sealed_settler(near: Connection, peer: Peer, sealed: SealedSet, tell: Tell | None) -> Settle:
    """Reads sealed answers, by block, and settles this instance's own messages by them.

    Where all of a dialog was taken, when the next set is read.
    """
    answered: set[int] = set()

    async def settle(answers: Mapping[int, Row]) -> None:
        own: list[Row] = []
        rest: list[Row] = []
        for name, given in answers.items():
            if given.get("is_apart") is True and len(sealed.endpoints(name)) > 1:
                # An instance on the way, from which its dialogs go on by different ways: they are read again.
                peer.seals_apart = True
                continue
            block = sealed.blocks[name]
            said = block.read(given)
            if tell is not None:
                own += block.rows(said)
            # A second answer, to what was taken for lost: the same may be under way again, or settled.
            settled, places = (None, None) if name in answered else block.settled(said)
            if settled is not None:
                peer.settled.append(settled)
            rest += block.rows(said, places)
        answered.update(answers)
        if rest:
            await settle_sent(near, rest)
        if tell is not None:
            tell(own)

    return settle


def plain_settler(near: Connection, tell: Tell | None) -> Settle:
    """Settles this instance's own messages in the clear."""

    async def settle(answers: Mapping[int, Row]) -> None:
        await settle_sent(near, plain_answers(answers), tell)

    return settle


async def settle_sent(near: Connection, answers: list[Row], tell: Tell | None = None) -> None:
    """Delete what has arrived of these dialogs, and note why the rest waits."""
    await near.execute("SELECT ssb_internal.settle_sent(%s::jsonb)", [json.dumps(answers)])
    if tell is not None:
        tell(answers)

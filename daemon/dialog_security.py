"""Dialog security in the daemon: keys of pairs of services, sealing what leaves, opening what comes.

The database has certificates and keys sealed (runtime_sql/transport/dialog_security.sql); here they are
opened with the service master key, and stay in this process's memory for as long as they are used.
"""

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
from cryptography import x509
from psycopg.rows import dict_row

from ..security.certificates import public_key_of, read_certificate
from ..security.dialogs import (
    BLOCK_VERSION,
    BOUND,
    CLOCKS_DIFFER,
    RENEW_AFTER,
    Answer,
    Exchange,
    NotGenuine,
    PairCipher,
    is_for_sending,
    make_exchange,
    open_exchange,
    read_exchange,
    require_current,
)
from ..security.keys import WrongKey, seal, unseal
from ..security.problems import KeyProblem
from ..security.statements import SESSION_KEY, KeyStatements
from .open_keys import KEPT_KEYS, OpenKeys
from .readers import Connection
from .sealed_arrivals import (
    ARRIVAL_COLUMNS,
    NEXT_ARRIVAL,
    OPENED_COLUMNS,
    TAKE_OPENED,
    ArrivedBlock,
    Opened,
    SealedArrival,
    require_whole,
)
from .sealed_sets import SealedBlock, SealedSet, divided, is_of_one_side, runs_of
from .transport_sets import OwnSet, json_of
from .transport_values import (
    NULL,
    RawBigints,
    RawJson,
    RawTexts,
    array_of,
    bigint,
    bigints_of,
    cut,
    element,
    elements_of,
    loaded,
    raw_row,
)

# What is raised by a set that nobody has checked.
_UNREADABLE = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
    psycopg.DataError,
)
_KEPT_SECONDS = 900.0
_KEPT_CIPHERS = 10_000
NO_SESSION_KEY = (
    "The session keys for this conversation could not be created or accessed. The database master key is"
    " required for this operation."
)

_ZERO = element(bigint(0))
"""An element of a bigint[]."""

Row = dict[str, Any]


@dataclass(frozen=True)
class PairKey:
    """An open key of a pair of services; ``exchange`` tells the far side of one that was made here."""

    key_id: uuid.UUID
    key: bytes
    exchange: str | None
    made_at: datetime


class DialogSecurity:
    """Of one daemon. ``report`` tells of what was dropped, ``count`` counts what was not genuine."""

    def __init__(self, report: Callable[[str], None], count: Callable[[], None]) -> None:
        self._statements = KeyStatements()
        self._report = report
        self._count = count
        self._pairs: dict[uuid.UUID, PairKey] = {}
        """What is sent is sealed with one of these."""
        self._ciphers: dict[tuple[uuid.UUID, bytes, bool], PairCipher] = {}
        self._opened = OpenKeys()

    async def forget_keys(self, near: Connection) -> None:
        """Those that the database has no more, were renewed, or not used for long. Raises psycopg.Error."""
        rows = await self._known(near, list(self._opened.ids | self._pairs.keys()))
        self._opened.keep_only({(row["key_id"], bytes(row["sealed_key"])) for row in rows}, _KEPT_SECONDS)
        there = {row["key_id"] for row in rows}
        now = datetime.now(UTC)
        for pair in list(self._pairs.values()):
            if pair.key_id not in there or not is_for_sending(pair.made_at, now):
                del self._pairs[pair.key_id]
        held = self._opened.ids | self._pairs.keys()
        for name in [name for name in self._ciphers if name[0] not in held]:
            del self._ciphers[name]

    def _forget_pair(self, key_id: uuid.UUID | None) -> None:
        """A newer key has taken its place."""
        if key_id is not None and self._pairs.pop(key_id, None) is not None:
            for name in [name for name in self._ciphers if name[0] == key_id]:
                del self._ciphers[name]

    # ------------------------------------------------------------ sending

    async def seal(
        self, near: Connection, own: OwnSet, traces: Mapping[int, Row], *, is_apart: bool = False
    ) -> tuple[SealedSet | None, list[Row]]:
        """Seal what a set has of its sides; and answers for the dialogs whose keys are not to be had.

        ``traces``: by the dialogs' places in the set. ``is_apart``: each dialog is a block of its own.
        """
        refused: list[Row] = []
        blocks: list[SealedBlock] = []
        exchanges: dict[uuid.UUID, str] = {}
        found: dict[tuple[Any, ...], PairKey] = {}
        is_whole = not is_apart and is_of_one_side(own)
        endpoints: list[int] = [] if is_whole else loaded(own.endpoints)
        runs = {} if is_whole else runs_of(own, endpoints)
        for side in own.sides:
            try:
                key = await self._key_for(near, side.said, found)
            except KeyProblem as problem:
                status = f"{NO_SESSION_KEY} ({problem.message})"
                refused += [
                    {"endpoint_id": one, "next_number": 0, "status": status} for one in side.endpoints
                ]
                continue
            if key.exchange is not None:
                exchanges[key.key_id] = key.exchange
            cipher = self._cipher(key.key_id, key.key, side.said["is_initiator"])
            if is_whole:
                blocks.append(SealedBlock.whole(cipher, key.key_id, own, traces))
                continue
            for part in divided(side) if is_apart else [side]:
                those = [run for endpoint in part.endpoints for run in runs[endpoint]]
                blocks.append(SealedBlock.of_runs(cipher, key.key_id, part, those, endpoints, traces))
        return SealedSet.of(blocks, list(exchanges.values())) if blocks else None, refused

    def _cipher(self, key_id: uuid.UUID, key: bytes, is_initiator: bool) -> PairCipher:
        """That of a pair's direction, which is the same for each of its blocks."""
        # With the key: what somebody else calls by the same id is another one.
        name = key_id, key, is_initiator
        cipher = self._ciphers.get(name)
        if cipher is None:
            if len(self._ciphers) >= _KEPT_CIPHERS:
                self._ciphers.clear()
            cipher = self._ciphers[name] = PairCipher(key_id, key, is_initiator)
        return cipher

    async def _key_for(self, near: Connection, side: Row, found: dict[tuple[Any, ...], PairKey]) -> PairKey:
        """``found``: keys of this set's pairs that were not open before."""
        told = uuid.UUID(side["key_id"]) if side["key_id"] else None
        key = self._pairs.get(told) if told is not None else None
        now = datetime.now(UTC)
        if key is not None and (key.exchange is None or is_for_sending(key.made_at, now)):
            return key
        if side["security"] == "A" and not side["is_initiator"]:
            # Anonymous: the initiator's key serves both directions.
            rows = await self._known(near, [told]) if told is not None else []
            if not rows:
                raise KeyProblem(28050, "The initiator's key is not there any more.")
            key = PairKey(rows[0]["key_id"], await self._unseal(rows[0]), None, rows[0]["made_at"])
            self._keep_pair(key)
            return key
        which = side["database_id"], side["from_service"], side["to_service"], side["near"], side["far"]
        if which in found:
            return found[which]
        async with near.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(
                "SELECT k.*, ssb_internal.master_key_json(k.database_id) AS master"
                " FROM ssb_internal.outbound_key(%s, %s, %s, %s, %s, %s, %s) AS k",
                [*which, now - RENEW_AFTER, now + CLOCKS_DIFFER],
            )
            row = await cursor.fetchone()
        if row is not None:
            key = PairKey(row["key_id"], await self._unseal(row), row["exchange"], row["made_at"])
        else:
            key = await self._make_key(near, which)
        if key.key_id != told:
            self._forget_pair(told)
        self._keep_pair(key)
        found[which] = key
        return key

    def _keep_pair(self, key: PairKey) -> None:
        self._pairs[key.key_id] = key
        if len(self._pairs) > KEPT_KEYS:
            del self._pairs[next(iter(self._pairs))]

    async def _make_key(self, near: Connection, which: tuple[Any, ...]) -> PairKey:
        database_id, from_service, to_service, own, far = which
        material = await self._material(near, database_id, own, far)
        if material["other"] is None:
            raise KeyProblem(28050, "The certificate of the other side has gone.")
        signer = None
        if own is not None:
            signer = own, await asyncio.to_thread(self._statements.private_key, material["own"], None)
        master = await asyncio.to_thread(self._statements.master_key, material["master"])
        public = public_key_of(_certificate(material["other"]))
        key_id, key, exchange, made_at = make_exchange(from_service, to_service, (far, public), signer)
        await near.execute(
            "SELECT ssb_internal.keep_dialog_key(%s, %s, true, %s, %s, %s,"
            " (SELECT c.owner FROM ssb.certificate AS c"
            " WHERE c.database_id = %s AND ssb_internal.fingerprint(c) = %s), %s, %s, %s, %s, %s, %s)",
            [
                key_id,
                database_id,
                own is None,
                from_service,
                to_service,
                database_id,
                own,
                material["other"]["owner"],
                own,
                far,
                seal(master, key, SESSION_KEY),
                exchange,
                made_at,
            ],
        )
        return PairKey(key_id, key, exchange, made_at)

    # ------------------------------------------------------------ keys

    async def _known(self, near: Connection, key_ids: list[uuid.UUID]) -> list[Row]:
        async with near.cursor(row_factory=dict_row) as cursor:
            await cursor.execute("SELECT * FROM ssb_internal.keys_of(%s::uuid[])", [key_ids])
            return await cursor.fetchall()

    async def _material(
        self, near: Connection, database_id: int, own: str | None, other: str | None
    ) -> dict[str, Any]:
        cursor = await near.execute("SELECT ssb_internal.key_material(%s, %s, %s)", [database_id, own, other])
        row = await cursor.fetchone()
        assert row is not None
        found: dict[str, Any] = row[0]
        return found

    async def _open_key(self, row: Row) -> bytes:
        """A key of the database; ``row`` has its ``master``, or it is open already."""
        name = row["key_id"], bytes(row["sealed_key"])
        key = self._opened.get(name)
        if key is None:
            key = await self._unseal(row)
            self._opened.keep(name, key)
        return key

    async def _unseal(self, row: Row) -> bytes:
        master = await asyncio.to_thread(self._statements.master_key, row["master"])
        try:
            return unseal(master, bytes(row["sealed_key"]), SESSION_KEY)
        except WrongKey:
            raise KeyProblem(28050, "The key is sealed by another master key.") from None

    # ------------------------------------------------------------ receiving

    async def open_sets(self, near: Connection) -> None:
        """Open what other instances have brought, hand it to its queues and answer, while there is some.

        Raises psycopg.Error.
        """
        answered: list[bytes | None] = [None, None]
        while True:
            row = raw_row(await NEXT_ARRIVAL.run(near, answered), ARRIVAL_COLUMNS)
            if row is None:
                return
            answered = [row[0], await self._open_set(near, row)]

    async def _open_set(self, near: Connection, row: Sequence[Any]) -> RawJson:
        """The answers, which are JSON as the database takes it."""
        try:
            return json_of(await self._open(near, SealedArrival.read(row)))
        except _UNREADABLE:
            # Whoever may connect can bring anything: also JSON that nests deeper, or has longer numbers, than
            # Python reads.
            self._report("a set of sealed messages that cannot be read was dropped")
            return json_of([])

    async def _keys_of(
        self, near: Connection, sealed: SealedArrival, blocks: Sequence[ArrivedBlock]
    ) -> dict[tuple[str, str], Row]:
        """Those of a set's blocks that are known here, by id and service."""
        keys = {(row["key_id"], row["near_service"]): row for row in sealed.keys}
        headers = [block.header for block in blocks]
        if all((one["key_id"], one["to_service"]) in keys for one in headers):
            return {name: _key_row(row) for name, row in keys.items()}
        # Perhaps they come with it.
        for text in sealed.exchanges:
            try:
                await self._learn_key(near, read_exchange(text))
            except (NotGenuine, KeyProblem) as error:
                self._report(f"an exchange of keys was not accepted: {error}")
        rows = await self._known(near, [uuid.UUID(one["key_id"]) for one in headers])
        return {(str(row["key_id"]), row["near_service"]): row for row in rows}

    async def _open(self, near: Connection, sealed: SealedArrival) -> list[Row]:
        if sealed.blocks is None:
            raise ValueError("arrays that do not belong together")
        keys = await self._keys_of(near, sealed, sealed.blocks)
        answers: list[Row] = []
        opened = Opened()
        kept: list[tuple[ArrivedBlock, int, PairCipher, range]] = []
        place = 0
        for block in sealed.blocks:
            header = block.header
            # Where only some blocks of a set are for here: the place in the whole.
            told = header.get("place", place)
            place += block.dialogs
            cipher = None
            try:
                if header.get("version") != BLOCK_VERSION:
                    raise NotGenuine("it was sealed by another version of the runtime")
                key = keys.get((header["key_id"], header["to_service"]))
                if key is None:
                    raise NotGenuine("its key is not known here")
                # A target's first answer begins nothing: the dialog is known, however old its key is.
                begins = header["is_initiator"] and 0 in bigints_of(block.numbers)
                _require_fit(header, key, begins=begins)
                secret = await self._known_key(near, key)
                cipher = self._cipher(key["key_id"], secret, header["is_initiator"])
                contents = cipher.open(header, block.places, block.numbers, block.sealed)
                require_whole(block, contents)
            except (NotGenuine, KeyProblem) as error:
                self._report_block(block, str(error))
                if cipher is None:
                    status = f"Dialog security does not let the message in: {error}."
                    answers.append({"place": told, "status": status})
                else:
                    self._count()
                    said = _said_of_all(block.dialogs, f"A message was dropped: {error}.")
                    answers.append({"place": told, "sealed": cipher.seal_answer(block.nonce, said)})
                continue
            common = {name: header.get(name) for name in BOUND} | {
                "security": "A" if key["is_anonymous"] else "F",
                "database_id": key["database_id"],
                "far_user": key["far_user"] if not key["is_anonymous"] or key["is_outbound"] else None,
                "key_id": header["key_id"],
            }
            kept.append((block, told, cipher, opened.add(block, contents, common)))
        next_numbers, instances, others = await self._take(near, opened)
        counts = [len(dialogs) for *_, dialogs in kept]
        columns = zip(cut(next_numbers, counts), cut(instances, counts), strict=True)
        for (block, told, cipher, dialogs), (numbers, names) in zip(kept, columns, strict=True):
            more = (
                [others[at] | {"place": at - dialogs.start} for at in dialogs if at in others]
                if others
                else []
            )
            said = _answer(len(dialogs), numbers, names, more)
            answers.append({"place": told, "sealed": cipher.seal_answer(block.nonce, said)})
        return answers

    def _report_block(self, block: ArrivedBlock, reason: str) -> None:
        """Names are whatever whoever has brought it says."""
        others = f" and {block.dialogs - 1} others" if block.dialogs > 1 else ""
        self._report(
            f"{block.count} messages of conversation {block.conversation}{others}, from number"
            f" {bigints_of(block.numbers)[0]}, were dropped: {reason}"
        )

    async def _known_key(self, near: Connection, key: Row) -> bytes:
        if "master" not in key and self._opened.get((key["key_id"], key["sealed_key"])) is None:
            for row in await self._known(near, [key["key_id"]]):
                if row["database_id"] == key["database_id"]:
                    key = row
        return await self._open_key(key)

    async def _take(self, near: Connection, opened: Opened) -> tuple[bytes, bytes, dict[int, Row]]:
        """Hand messages to their queues; a dialog that the server cannot take holds up no other.

        By dialog, elements of arrays: the next numbers, 0 where ``others`` tells, by place; and which
        instance this is.
        """
        if not opened.count:
            return b"", b"", {}
        try:
            row = raw_row(await TAKE_OPENED.run(near, opened.values()), OPENED_COLUMNS)
        except psycopg.Error as error:
            if near.closed:
                raise
            if opened.dialogs == 1:
                words = " ".join((error.diag.message_primary or str(error)).split())
                status = f"The message cannot be taken now: {words}"
                return _ZERO, NULL, {0: {"next_number": 0, "status": status}}
            numbers, names = b"", b""
            told: dict[int, Row] = {}
            for place, one in enumerate(opened.apart()):
                number, name, other = await self._take(near, one)
                numbers += number or _ZERO
                names += name or NULL
                told.update((place, more) for more in other.values())
            return numbers, names, told
        next_numbers, instances, others = row or [None] * 3
        assert isinstance(next_numbers, RawBigints)
        assert isinstance(instances, RawTexts)
        assert isinstance(others, RawJson | None)
        told = {one["place"]: one for one in loaded(others) or []}
        return elements_of(next_numbers), elements_of(instances), told

    async def _learn_key(self, near: Connection, exchange: Exchange) -> None:
        """Open an exchange and keep its key, if it is new here. Raises NotGenuine, KeyProblem."""
        if await self._known(near, [exchange.key_id]):
            return
        cursor = await near.execute(
            "SELECT * FROM ssb_internal.exchange_places(%s, %s, %s)",
            [exchange.to_service, exchange.far, exchange.near],
        )
        found = await cursor.fetchall()
        if not found:
            raise NotGenuine(
                f"service '{exchange.to_service}' is not here, or its owner does not have the certificate for"
                " which the key was wrapped, or nobody has the sender's, or one of the two is not valid now"
            )
        for database_id, near_user, far_user in found:
            material = await self._material(near, database_id, exchange.far, exchange.near)
            own = await asyncio.to_thread(self._statements.private_key, material["own"], None)
            sender = public_key_of(_certificate(material["other"])) if exchange.near is not None else None
            key = open_exchange(exchange, own, sender)
            master = await asyncio.to_thread(self._statements.master_key, material["master"])
            await near.execute(
                "SELECT ssb_internal.keep_dialog_key(%s, %s, false, %s, %s, %s, %s, %s, %s, %s, %s, NULL,"
                " %s)",
                [
                    exchange.key_id,
                    database_id,
                    exchange.is_anonymous,
                    exchange.to_service,
                    exchange.from_service,
                    near_user,
                    far_user if exchange.near is not None else None,
                    exchange.far,
                    exchange.near,
                    seal(master, key, SESSION_KEY),
                    exchange.made_at,
                ],
            )


def _answer(count: int, numbers: bytes, names: bytes, others: list[Row]) -> Answer:
    """``numbers`` and ``names``: elements of arrays, a dialog each."""
    return Answer(
        array_of(RawBigints, count, [numbers]),
        array_of(RawTexts, count, [names]),
        json_of(others) if others else b"",
    )


def _said_of_all(count: int, status: str) -> Answer:
    """An answer to a block of so many dialogs of which nothing is taken."""
    others = [{"place": place, "next_number": 0, "status": status} for place in range(count)]
    return _answer(count, _ZERO * count, NULL * count, others)


def _key_row(row: Row) -> Row:
    """A key as ssb_internal.next_sealed_set tells it in JSON, as ssb_internal.keys_of does."""
    return row | {
        "key_id": uuid.UUID(row["key_id"]),
        "sealed_key": bytes.fromhex(row["sealed_key"]),
        "made_at": datetime.fromtimestamp(row["made_at"], UTC),
    }


def _certificate(found: Row) -> x509.Certificate:
    return read_certificate(bytes.fromhex(found["der"]))


def _require_fit(header: Row, key: Row, *, begins: bool) -> None:
    """Raise NotGenuine where the key is not one for what the header says."""
    if key["near_service"] != header["to_service"] or key["far_service"] != header["from_service"]:
        raise NotGenuine("its key is another pair of services'")
    if key["is_outbound"] and not (key["is_anonymous"] and not header["is_initiator"]):
        raise NotGenuine("its key is this instance's own")
    if not key["is_outbound"] and key["is_anonymous"] and not header["is_initiator"]:
        raise NotGenuine("an anonymous side cannot answer so")
    if begins:
        require_current(key["made_at"], datetime.now(UTC))

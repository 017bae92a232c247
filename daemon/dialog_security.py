"""Dialog security in the daemon: keys of pairs of services, sealing what leaves, opening what comes.

The database has certificates and keys sealed (runtime_sql/transport/dialog_security.sql); here they are
opened with the service master key, and stay in this process's memory for as long as they are used.
"""

import asyncio
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
from cryptography import x509
from psycopg.rows import dict_row

from ..security.certificates import public_key_of, read_certificate
from ..security.dialogs import (
    BOUND,
    RENEW_AFTER,
    DialogCipher,
    Exchange,
    NotGenuine,
    is_current,
    make_exchange,
    open_exchange,
    read_exchange,
)
from ..security.keys import WrongKey, seal, unseal
from ..security.problems import KeyProblem
from ..security.statements import KeyStatements
from .readers import Connection
from .transport_sets import Batch

_KEPT_CIPHERS = 10_000
_LONGEST_NAME = 4096
_SESSION_KEY = "dialog key"
NO_SESSION_KEY = (
    "The session keys for this conversation could not be created or accessed. The database master key is"
    " required for this operation."
)
_HEADER = (
    "conversation_id is_initiator key to_service to_instance from_service from_instance contract lifetime"
    " is_encrypted"
).split()

Row = dict[str, Any]
Message = tuple[int, int, str, str, bytes | None]
"""The place of its dialog, its number, type, kind and body."""


@dataclass(frozen=True)
class PairKey:
    """An open key of a pair of services; ``exchange`` tells the far side of one that was made here."""

    key_id: uuid.UUID
    key: bytes
    exchange: str | None
    made_at: datetime


@dataclass(frozen=True)
class SealedSet:
    """What goes to ssb_internal.take_sealed, and what is needed to read the answers."""

    set_id: str
    values: list[Any]
    places: dict[int, int]
    """By its endpoint each dialog's place in the set."""
    ciphers: list[DialogCipher]
    key_ids: list[uuid.UUID]

    def answer(self, endpoint: int, given: Row) -> Row:
        """Read the answer to one dialog; one that is not genuine settles nothing."""
        place = self.places[endpoint]
        answer: Row = {"next_number": 0}
        try:
            if "sealed" in given:
                answer |= self.ciphers[place].open_answer(self.set_id, given["sealed"])
                answer["key_id"] = str(self.key_ids[place])
            else:
                # Whoever says so, it loses nothing: the message waits.
                answer["status"] = str(given.get("status") or "The other instance has not answered.")
        except NotGenuine as error:
            answer["status"] = f"The answer of the other instance is not genuine: {error}."
        return {"endpoint_id": endpoint} | answer


class DialogSecurity:
    """Of one daemon. ``report`` tells of what was dropped, ``count`` counts what was not genuine."""

    def __init__(self, report: Callable[[str], None], count: Callable[[], None]) -> None:
        self._statements = KeyStatements()
        self._report = report
        self._count = count
        self._outbound: dict[tuple[Any, ...], PairKey] = {}
        self._ciphers: dict[tuple[Any, ...], DialogCipher] = {}
        self._opened: dict[tuple[uuid.UUID, bytes], bytes] = {}

    # ------------------------------------------------------------ sending

    async def seal(
        self, near: Connection, batch: Batch, sides: Mapping[int, Row]
    ) -> tuple[SealedSet | None, list[Row]]:
        """Seal a set of messages; and answers for the dialogs whose keys are not to be had.

        ``sides``, by endpoint: security, certificates and keys, as ssb_internal.next_set tells them.
        """
        refused: list[Row] = []
        made = SealedSet(str(uuid.uuid4()), [], {}, [], [])
        headers: list[Row] = []
        exchanges: dict[uuid.UUID, str] = {}
        now_at: dict[int, int] = {}
        current: set[uuid.UUID] = set()
        for place, (endpoint, header) in enumerate(zip(batch.keys, batch.headers, strict=True)):
            try:
                key = await self._key_for(near, header | sides[endpoint], current)
            except KeyProblem as problem:
                status = f"{NO_SESSION_KEY} ({problem.message})"
                refused.append({"endpoint_id": endpoint, "next_number": 0, "status": status})
                continue
            header |= {"key_id": str(key.key_id), "set": made.set_id}
            now_at[place] = made.places[endpoint] = len(headers)
            headers.append(header)
            made.ciphers.append(self._cipher(key.key_id, key.key, header))
            made.key_ids.append(key.key_id)
            if key.exchange is not None:
                exchanges[key.key_id] = key.exchange
        if not headers:
            return None, refused
        places, numbers, bodies = [], [], []
        for place, number, message_type, kind, body in zip(
            batch.places, batch.numbers, batch.message_types, batch.kinds, batch.bodies, strict=True
        ):
            if place in now_at:
                at = now_at[place]
                places.append(at)
                numbers.append(number)
                lifetime = headers[at]["lifetime"]
                bodies.append(made.ciphers[at].seal(number, str(message_type), str(kind), lifetime, body))
        made.values.extend(
            [made.set_id, json.dumps(headers), places, numbers, bodies, list(exchanges.values())]
        )
        return made, refused

    def _cipher(self, key_id: uuid.UUID, key: bytes, header: Row) -> DialogCipher:
        """That of a dialog's direction, which is the same for each of its sets."""
        # With the key: what somebody else calls by the same id is another one.
        name = key_id, key, *(header[one] for one in BOUND)
        cipher = self._ciphers.get(name)
        if cipher is None:
            if sum(len(str(one)) for one in name) > _LONGEST_NAME:
                # Not to be kept: nothing has shown yet that the header is genuine.
                return DialogCipher(key_id, key, header)
            if len(self._ciphers) >= _KEPT_CIPHERS:
                self._ciphers.clear()
            cipher = self._ciphers[name] = DialogCipher(key_id, key, header)
        return cipher

    async def _key_for(self, near: Connection, row: Row, current: set[uuid.UUID]) -> PairKey:
        """``current``: keys that this set has found to be there."""
        if row["security"] == "A" and not row["is_initiator"]:
            # Anonymous: the initiator's key serves both directions.
            found = (
                await self._known(near, [uuid.UUID(row["inbound_key_id"])]) if row["inbound_key_id"] else []
            )
            if not found:
                raise KeyProblem(28050, "The initiator's key is not there any more.")
            return PairKey(found[0]["key_id"], await self._open_key(found[0]), None, found[0]["made_at"])
        now = datetime.now(UTC)
        which = tuple(row[name] for name in ("database_id", "from_service", "to_service", "near", "far"))
        key = self._outbound.get(which)
        if (
            key is not None
            and key.made_at > now - RENEW_AFTER
            and (key.key_id in current or await self._known(near, [key.key_id]))
        ):
            current.add(key.key_id)
            return key
        async with near.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(
                "SELECT k.*, ssb_internal.master_key_json(k.database_id) AS master"
                " FROM ssb_internal.outbound_key(%s, %s, %s, %s, %s, %s) AS k",
                [*which, now - RENEW_AFTER],
            )
            found_row = await cursor.fetchone()
        if found_row is not None:
            key = PairKey(
                found_row["key_id"],
                await self._open_key(found_row),
                found_row["exchange"],
                found_row["made_at"],
            )
        else:
            key = await self._make_key(near, row, which)
        self._outbound[which] = key
        return key

    async def _make_key(self, near: Connection, row: Row, which: tuple[Any, ...]) -> PairKey:
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
                seal(master, key, _SESSION_KEY),
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
        name = row["key_id"], bytes(row["sealed_key"])
        if name not in self._opened:
            master = await asyncio.to_thread(self._statements.master_key, row["master"])
            try:
                self._opened[name] = unseal(master, name[1], _SESSION_KEY)
            except WrongKey:
                raise KeyProblem(28050, "The key is sealed by another master key.") from None
        return self._opened[name]

    # ------------------------------------------------------------ receiving

    async def open_set(self, near: Connection, sealed: Row) -> None:
        """Open one set that another instance has brought, hand it to its queues, and answer."""
        answers: list[Row]
        try:
            answers = await self._open(near, sealed)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, psycopg.DataError):
            # Whoever may connect can bring anything.
            self._report("a set of sealed messages that cannot be read was dropped")
            answers = []
        await near.execute(
            "SELECT ssb_internal.answer_sealed(%s, %s::jsonb)", [sealed["set_id"], json.dumps(answers)]
        )

    async def _open(self, near: Connection, sealed: Row) -> list[Row]:
        for text in sealed["exchanges"]:
            try:
                await self._learn_key(near, read_exchange(text))
            except (NotGenuine, KeyProblem) as error:
                self._report(f"an exchange of keys was not accepted: {error}")
        dialogs = sealed["dialogs"]
        keys = {
            (str(row["key_id"]), row["near_service"]): row
            for row in await self._known(near, [uuid.UUID(one["key_id"]) for one in dialogs])
        }
        answers: list[Row] = []
        ciphers: dict[int, DialogCipher] = {}
        opened: list[Row] = []
        kept: dict[int, int] = {}
        messages: list[Message] = []
        dropped: dict[int, str] = {}
        by_place: dict[int, list[tuple[int, bytes]]] = {}
        for place, number, body in zip(sealed["places"], sealed["numbers"], sealed["bodies"], strict=True):
            by_place.setdefault(place, []).append((number, bytes(body)))
        for place, header in enumerate(dialogs):
            # Where only some dialogs of a set are for here: the place in the whole.
            told = header.get("place", place)
            key = keys.get((header["key_id"], header["to_service"]))
            numbers = [number for number, _ in by_place.get(place, [])]
            try:
                if key is None:
                    raise NotGenuine("its key is not known here")
                _require_fit(header, key, 0 in numbers)
                ciphers[place] = self._cipher(key["key_id"], await self._open_key(key), header)
            except (NotGenuine, KeyProblem) as error:
                answers.append(
                    {"place": told, "status": f"Dialog security does not let the message in: {error}."}
                )
                self._report(f"messages of conversation {header['conversation_id']} were dropped: {error}")
                continue
            kept[place] = len(opened)
            lifetime = None
            for number, body in sorted(by_place.get(place, [])):
                try:
                    kind = ciphers[place].open(number, body)
                except NotGenuine as error:
                    dropped[place] = str(error)
                    self._count()
                    self._report(
                        f"message {number} of conversation {header['conversation_id']} was dropped: {error}"
                    )
                    break
                lifetime = kind[2]
                messages.append((kept[place], number, kind[0], kind[1], kind[3]))
            opened.append(
                {name: header[name] for name in _HEADER}
                | {
                    # In the clear, and not sealed: numbers of spans, which say nothing of the message.
                    "traces": header.get("traces") or {},
                    "lifetime": lifetime,
                    "is_encrypted": True,
                    "security": "A" if key["is_anonymous"] else "F",
                    "database_id": key["database_id"],
                    "far_user": key["far_user"] if not key["is_anonymous"] or key["is_outbound"] else None,
                    "key_id": header["key_id"],
                }
            )
        taken = await self._take(near, opened, messages)
        for place, cipher in ciphers.items():
            answer = taken.get(kept[place], {"next_number": 0})
            if place in dropped and not answer.get("status") and not answer.get("refusal"):
                answer["status"] = f"A message was dropped: {dropped[place]}."
            header = dialogs[place]
            # The number that the sender gave its set, however often it has been divided since.
            made = str(header.get("set", sealed["set_id"]))
            answers.append({"place": header.get("place", place), "sealed": cipher.seal_answer(made, answer)})
        return answers

    async def _take(self, near: Connection, opened: list[Row], messages: list[Message]) -> dict[int, Row]:
        """Hand messages to their queues; a dialog that the server cannot take holds up no other."""
        if not messages:
            return {}
        try:
            async with near.cursor(row_factory=dict_row) as cursor:
                await cursor.execute(
                    "SELECT * FROM ssb_internal.take_opened(%s::jsonb, %b::integer[], %b::bigint[],"
                    " %b::text[], %b::text[], %b::bytea[])",
                    [json.dumps(opened), *[list(column) for column in zip(*messages, strict=True)]],
                )
                return {row.pop("place"): row for row in await cursor.fetchall()}
        except psycopg.Error as error:
            if near.closed:
                raise
            places = sorted({message[0] for message in messages})
            if len(places) == 1:
                words = " ".join((error.diag.message_primary or str(error)).split())
                return {places[0]: {"next_number": 0, "status": f"The message cannot be taken now: {words}"}}
        taken: dict[int, Row] = {}
        for place in places:
            taken |= await self._take(near, opened, [message for message in messages if message[0] == place])
        return taken

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
                " which the key was wrapped, or nobody has the sender's"
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
                    seal(master, key, _SESSION_KEY),
                    exchange.made_at,
                ],
            )


def _certificate(found: Row) -> x509.Certificate:
    return read_certificate(bytes.fromhex(found["der"]))


def _require_fit(header: Row, key: Row, is_first: bool) -> None:
    """Raise NotGenuine where the key is not one for what the header says."""
    if key["near_service"] != header["to_service"] or key["far_service"] != header["from_service"]:
        raise NotGenuine("its key is another pair of services'")
    if key["is_outbound"] and not (key["is_anonymous"] and not header["is_initiator"]):
        raise NotGenuine("its key is this instance's own")
    if not key["is_outbound"] and key["is_anonymous"] and not header["is_initiator"]:
        raise NotGenuine("an anonymous side cannot answer so")
    if is_first and not is_current(key["made_at"], datetime.now(UTC)):
        raise NotGenuine("its key is too old for a new conversation")

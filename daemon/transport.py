"""Carries messages along routes to other instances.

What has to leave stands in sys.transmission_queue. For each address there is one connection to the
instance there, kept open, and one set of messages under way at a time:

    messages_to_send (here) → take_from_afar (there, one transaction) → settle_sent (here)

Each step may be cut off and done again: the far side knows by its number what has come already. So nothing
is remembered in this process, and replies come the same way, brought by the daemon over there.
"""

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from .config import BrokerOptions
from .counts import Counts
from .dialog_security import DialogSecurity, SealedSet, add_trace, header_of
from .log import BrokerLog
from .monitor import Backoff
from .readers import Connection, open_connection
from .spans import Crossing

_SETTINGS = {
    "statement_timeout": "60000",
    "idle_session_timeout": "0",
    "jit": "off",
}
_LOOK_SECONDS = 1.0
_FORGET_SECONDS = 600.0
_IDLE_SECONDS = 300.0
_FAR_SECONDS = 90.0
_MESSAGES = 500
_BYTES = 4 * 2**20
# Of the other instance as a whole, not of a message: no CONNECT, no started endpoint, no runtime, a standby.
_OF_THE_INSTANCE = ("42501", "55000", "42883", "3F000", "25006")

_NAMES = ("next_number", "status", "refusal_code", "refusal", "instance")
_ANSWER = (int, int, str | None, int | None, str | None, str | None)


class Unreachable(Exception):
    """The other instance: the reason, as a sentence for transmission_status."""


@dataclass
class Peer:
    """What is known of the instance at one address."""

    address: str
    mirror: str | None
    news: asyncio.Event = field(default_factory=asyncio.Event)
    far: Connection | None = None
    connection_id: uuid.UUID = field(default_factory=uuid.uuid4)
    failing: str | None = None
    task: asyncio.Task[None] | None = None


class Transport:
    """The daemon's part that sends. `run` until cancelled; `wake` when something wants to leave."""

    def __init__(
        self,
        options: BrokerOptions,
        log: BrokerLog,
        ask: Callable[..., Awaitable[Any]],
        join: Callable[[Connection], Awaitable[None]],
        counts: Counts,
    ) -> None:
        """``ask`` runs a statement on the daemon's own connection and returns its first row.

        ``join`` makes a session one of this leader's: the next leader ends it.
        """
        self._options = options
        self._log = log
        self._ask = ask
        self._join = join
        self._news = asyncio.Event()
        self._sealed = asyncio.Event()
        self._counts = counts
        self._security = DialogSecurity(self._report_dropped)
        self._peers: dict[tuple[str, str | None], Peer] = {}

    def wake(self) -> None:
        """Messages may be waiting, here or sealed by another instance."""
        self._news.set()
        self._sealed.set()

    def _report_dropped(self, text: str) -> None:
        self._counts.add("messages_dropped")
        self._log.write("warning", "message_dropped", text)

    async def is_settled(self) -> bool:
        """Nothing waits that could leave now."""
        failing = [[peer.address, peer.mirror] for peer in self._peers.values() if peer.failing is not None]
        (waiting,) = await self._ask(
            "SELECT EXISTS (SELECT FROM ssb.sealed_set AS s WHERE s.answers IS NULL)"
            " OR EXISTS (SELECT FROM ssb.transmission AS t"
            " JOIN ssb.remote_conversation AS r ON r.endpoint_id = t.endpoint_id"
            " WHERE r.address IS NOT NULL AND r.retry_at IS NULL AND NOT EXISTS ("
            "  SELECT FROM jsonb_array_elements(%s::jsonb) AS f"
            "  WHERE (f ->> 0, f ->> 1) IS NOT DISTINCT FROM (r.address, r.mirror_address)))",
            json.dumps(failing),
        )
        return not waiting

    async def run(self) -> None:
        """Send what has to leave. Raises psycopg.Error when the connection to the own instance breaks."""
        # Most instances have no dialogs with others: for those no connection is kept.
        while not (await self._ask("SELECT ssb_internal.has_transport()"))[0]:
            await _pause(self._news, 5.0)
            self._news.clear()
        near = await open_connection(self._options.dsn, _SETTINGS, application_name="pgsb transport")
        try:
            await self._join(near)
            # So others see that somebody is here who opens what they have sealed.
            await near.execute("SELECT pg_catalog.pg_advisory_lock_shared(1397965382)")
            opening = asyncio.create_task(self._open_sealed(near))
            try:
                await self._serve(near, opening)
            finally:
                opening.cancel()
                await asyncio.gather(opening, return_exceptions=True)
        finally:
            tasks = [peer.task for peer in self._peers.values() if peer.task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._peers.clear()
            await near.close()

    async def _open_sealed(self, near: Connection) -> None:
        """What other instances have sealed for this one. Raises psycopg.Error."""
        while True:
            self._sealed.clear()
            async with near.cursor(row_factory=dict_row) as cursor:
                await cursor.execute("SELECT * FROM ssb_internal.sealed_sets()")
                sets = await cursor.fetchall()
            for one in sets:
                await self._security.open_set(near, one)
            if not sets:
                await _pause(self._sealed, _LOOK_SECONDS)

    async def _serve(self, near: Connection, opening: asyncio.Task[None]) -> None:
        forgotten = -_FORGET_SECONDS
        while True:
            self._news.clear()
            if opening.done():
                opening.result()
            if time.monotonic() > forgotten + _FORGET_SECONDS:
                forgotten = time.monotonic()
                await near.execute("SELECT ssb_internal.forget_remote_conversations()")
            began = time.monotonic()
            cursor = await near.execute(
                "SELECT address, mirror_address FROM ssb_internal.transport_addresses()"
            )
            for address, mirror in await cursor.fetchall():
                self._peer(near, address, mirror).news.set()
            for key, peer in list(self._peers.items()):
                if peer.task is not None and peer.task.done():
                    del self._peers[key]
                    error = peer.task.exception()
                    if isinstance(error, psycopg.Error):
                        raise error
                    if error is not None:
                        # A defect of ours must not take the other instances, and queues, along.
                        self._log.write("error", "internal_error", f"{type(error).__name__}: {error}")
            # However much waits, looking takes no more than a fifth of the time.
            await asyncio.sleep(4 * (time.monotonic() - began))
            await _pause(self._news, _LOOK_SECONDS)

    def _peer(self, near: Connection, address: str, mirror: str | None) -> Peer:
        peer = self._peers.get((address, mirror))
        if peer is None or peer.task is None or peer.task.done():
            peer = self._peers[address, mirror] = Peer(address, mirror)
            peer.task = asyncio.create_task(self._attend(near, peer))
        return peer

    async def _attend(self, near: Connection, peer: Peer) -> None:
        """One address: send while there is something, wait for more, end after some minutes without."""
        backoff = Backoff(0.1, 5.0)
        used = time.monotonic()
        try:
            while time.monotonic() < used + _IDLE_SECONDS:
                peer.news.clear()
                try:
                    if await self._send_set(near, peer):
                        used = time.monotonic()
                        peer.failing = None
                        backoff.reset()
                        continue
                except Unreachable as error:
                    await self._hang_up(near, peer)
                    await near.execute(
                        "SELECT ssb_internal.note_transport_failure(%s, %s, %s)",
                        [peer.address, peer.mirror, str(error)],
                    )
                    if peer.failing != str(error):
                        peer.failing = str(error)
                        self._log.write("warning", "transport_failed", str(error))
                    used = time.monotonic()
                    await asyncio.sleep(backoff.next())
                    continue
                except psycopg.Error as error:
                    if near.closed:
                        raise
                    # A deadlock, a timeout: of our own server, which is there. Everything can be done again.
                    self._log.write("warning", "transport_failed", _sentence(peer.address, error))
                    used = time.monotonic()
                    await asyncio.sleep(backoff.next())
                    continue
                await _pause(peer.news, _IDLE_SECONDS)
        finally:
            await self._hang_up(near, peer)

    async def _send_set(self, near: Connection, peer: Peer) -> bool:
        """False when there was nothing to send. Raises Unreachable."""
        async with near.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(
                "SELECT * FROM ssb_internal.messages_to_send(%s, %s, %s, %s)",
                [peer.address, peer.mirror, _MESSAGES, _BYTES],
            )
            rows = await cursor.fetchall()
        if not rows:
            return False
        if peer.far is None or peer.far.closed:
            await self._connect(near, peer)
        crossing = Crossing(self._options.spans, peer.address, rows) if self._options.spans else None
        plain = [row for row in rows if row["security"] in (None, "N")]
        answers = await self._hand_over(peer, plain) if plain else []
        if len(plain) < len(rows):
            answers += await self._hand_over_sealed(
                near, peer, [row for row in rows if row["security"] in "AF"]
            )
        await near.execute("SELECT ssb_internal.settle_sent(%s::jsonb)", [json.dumps(answers)])
        if crossing is not None:
            crossing.arrived(answers)
        size = sum(len(row["body"] or b"") for row in rows)
        self._counts.add("transport_sets")
        self._counts.add("transport_messages", len(rows))
        self._counts.add("transport_bytes", size)
        await near.execute(
            "SELECT ssb_internal.transport_used(%s, %s, %s)", [peer.connection_id, size, len(rows)]
        )
        return True

    async def _hand_over(self, peer: Peer, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Call the other instance; what it answered, by our endpoints. Raises Unreachable.

        A set that it cannot take as a whole is sent dialog by dialog, so that one does not hold up all.
        """
        try:
            return await _take(peer, rows)
        except (psycopg.Error, OSError, TimeoutError) as error:
            state = error.sqlstate if isinstance(error, psycopg.Error) else None
            if peer.far is None or peer.far.closed or state is None or state in _OF_THE_INSTANCE:
                raise Unreachable(_sentence(peer.address, error)) from error
            dialogs = list(dict.fromkeys(row["endpoint_id"] for row in rows))
            if len(dialogs) == 1:
                return [
                    {"endpoint_id": dialogs[0], "next_number": 0, "status": _sentence(peer.address, error)}
                ]
        answers = []
        for one in dialogs:
            answers += await self._hand_over(peer, [row for row in rows if row["endpoint_id"] == one])
        return answers

    async def _hand_over_sealed(
        self, near: Connection, peer: Peer, rows: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """As `_hand_over`, with messages that the other instance's daemon has to open. Raises Unreachable."""
        sealed, answers = await self._security.seal(near, rows)
        if sealed is None:
            return answers
        try:
            found = await _take_sealed(peer, sealed)
        except (psycopg.Error, OSError, TimeoutError) as error:
            raise Unreachable(_sentence(peer.address, error)) from error
        return answers + sealed.answers(found)

    async def _connect(self, near: Connection, peer: Peer) -> None:
        """The address, else its mirror. Raises Unreachable with what was wrong with the first."""
        reasons = []
        for address in (peer.address, peer.mirror):
            if address is None:
                continue
            try:
                dsn = find_dsn(address, self._options.addresses)
                far = await open_connection(dsn, _SETTINGS, application_name="pgsb transport")
            except Unreachable as error:
                reasons.append(str(error))
                continue
            except (psycopg.Error, OSError, TimeoutError) as error:
                reasons.append(_sentence(address, error))
                continue
            if reason := await _lack_of_encryption(near, far, address):
                reasons.append(reason)
                await far.close()
                continue
            peer.far = far
            peer.connection_id = uuid.uuid4()
            await near.execute(
                "SELECT ssb_internal.transport_connected(%s, %s, %s, %s)",
                [peer.connection_id, address, far.info.user, far.pgconn.ssl_in_use],
            )
            self._log.write("info", "transport_connected", f"connected to the instance at {address}")
            return
        raise Unreachable(" ".join(reasons))

    async def _hang_up(self, near: Connection, peer: Peer) -> None:
        far, peer.far = peer.far, None
        if far is not None:
            await far.close()
            with contextlib.suppress(psycopg.Error):
                await near.execute("SELECT ssb_internal.transport_closed(%s)", [peer.connection_id])


def find_dsn(address: str, addresses: Mapping[str, str]) -> str:
    """Where the instance with this address is. Raises Unreachable, saying what is missing."""
    if address.lower() in addresses:
        return addresses[address.lower()]
    if not address.startswith(("postgresql://", "postgres://")):
        raise Unreachable(
            f"Where '{address}' is has not been said:"
            f" pgsb broker --address {address}=DSN names the PostgreSQL database."
        )
    try:
        known = conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        raise Unreachable("The address of the route is no connection URI that PostgreSQL can read.") from None
    if known.keys() & {"password", "sslpassword"}:
        raise Unreachable(
            "The address of the route has a password in it, which everybody can read in sys.routes."
        )
    return address


async def _take(peer: Peer, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    places: dict[int, int] = {}
    dialogs: list[dict[str, Any]] = []
    for row in rows:
        if row["endpoint_id"] not in places:
            places[row["endpoint_id"]] = len(dialogs)
            dialogs.append(header_of(row))
        add_trace(dialogs[places[row["endpoint_id"]]], row)
    assert peer.far is not None
    # Beyond its own timeout the far server is not to be believed that it works.
    async with asyncio.timeout(_FAR_SECONDS):
        cursor = await peer.far.execute(
            "SELECT place, next_number, status, refusal_code, refusal, instance FROM ssb.take_from_afar("
            "%s::jsonb, %s::integer[], %s::bigint[], %s::text[], %s::text[], %s::bytea[])",
            [
                json.dumps(dialogs),
                [places[row["endpoint_id"]] for row in rows],
                [row["message_sequence_number"] for row in rows],
                [row["message_type"] for row in rows],
                [row["kind"] for row in rows],
                [row["body"] for row in rows],
            ],
        )
    endpoints = {place: endpoint for endpoint, place in places.items()}
    answers = []
    for row in await cursor.fetchall():
        # Whoever is over there: what is no answer to our question is not put before our functions.
        if row[0] not in endpoints or not all(
            isinstance(value, kind) for value, kind in zip(row, _ANSWER, strict=True)
        ):
            raise Unreachable(f"The instance at '{peer.address}' gives answers that are none.")
        answers.append({"endpoint_id": endpoints[row[0]]} | dict(zip(_NAMES, row[1:], strict=True)))
    return answers


async def _lack_of_encryption(near: Connection, far: Connection, address: str) -> str | None:
    """Why the endpoint's ENCRYPTION forbids this connection; None when it does not.

    What goes through a Unix-domain socket does not leave the machine.
    """
    if far.pgconn.ssl_in_use or far.info.host.startswith(("/", "@")):
        return None
    cursor = await near.execute("SELECT b.encryption FROM ssb.broker_endpoint AS b WHERE b.state = 'STARTED'")
    if await cursor.fetchone() != ("REQUIRED",):
        return None
    return (
        f"The connection to the instance at '{address}' has no TLS, which this instance's endpoint requires"
        " (ENCRYPTION = REQUIRED): sslmode=verify-full in its DSN."
    )


async def _take_sealed(peer: Peer, sealed: SealedSet) -> list[Any]:
    assert peer.far is not None
    async with asyncio.timeout(_FAR_SECONDS):
        cursor = await peer.far.execute(
            "SELECT ssb_internal.take_sealed(%s::uuid, %s::jsonb, %s::integer[], %s::bigint[], %s::bytea[],"
            " %s::text[])",
            sealed.values,
        )
        if await cursor.fetchone() != (True,):
            raise Unreachable(
                f"The instance at '{peer.address}' has no daemon that could open the sealed messages."
            )
        cursor = await peer.far.execute("SELECT ssb_internal.sealed_answers(%s::uuid)", [sealed.set_id])
        row = await cursor.fetchone()
    if row is None or not isinstance(row[0], list):
        raise Unreachable(f"The daemon of the instance at '{peer.address}' has not opened the messages.")
    return row[0]


def _sentence(address: str, error: BaseException) -> str:
    """Why, on one line. libpq and the server name hosts and users, never passwords."""
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    hint = error.diag.message_hint if isinstance(error, psycopg.Error) else None
    words = " ".join((primary or str(error) or type(error).__name__).split())
    said = (
        f"The instance at '{address}' does not take the message: {words}"
        if primary
        else (f"The instance at '{address}' cannot be reached: {words}")
    )
    return said + (f" ({' '.join(hint.split())})" if hint else "")


async def _pause(event: asyncio.Event, seconds: float) -> None:
    """Until the event, at most so many seconds."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()

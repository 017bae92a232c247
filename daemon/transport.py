"""Carries messages along routes to other instances.

What has to leave stands in sys.transmission_queue. For each address there is one connection to the
instance there, kept open, and one set of messages under way at a time:

    next_set (here) → take_from_peer (there, one transaction) → next_set, which settles that one, …

Messages in the clear pass through as they are (transport_values). Each step may be cut off and done
again: the far side knows by its number what has come already. So nothing that matters is remembered in this
process, and replies come the same way, brought by the daemon over there. Messages of others that pass
through this instance (MESSAGE_FORWARDING) go by the same connections.
"""

import asyncio
import contextlib
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg

from .answers import short
from .config import BrokerOptions
from .control import is_passing, one_line
from .counts import Counts
from .dialog_security import DialogSecurity
from .leader import pause
from .log import BrokerLog
from .monitor import Backoff
from .peer import Peer
from .peer_connection import SETTINGS, Unreachable
from .readers import Connection, open_connection
from .sealed_sets import is_of_one_side
from .settling import next_forwarded, plain_settler, sealed_settler, settle_sent
from .transport_sets import START, OwnSet, all_settled, next_set
from .transport_values import accept_raw, loaded

_LOOK_SECONDS = 1.0
_FORGET_SECONDS = 600.0
_IDLE_SECONDS = 300.0
_NOTE_SECONDS = 1.0
_UNTOLD_SECONDS = 0.005
"""Between looks for what nobody will tell of: at first, and twice as long each time, up to _LOOK_SECONDS."""
_LONGEST_PAUSE = 5.0
_SETS_UNDER_WAY = 16
"""Without an answer, at most, for each address: more would be what is sent again when it does not come."""
_PEER_ID = re.compile("[0-9]{1,10}")
_POKED_PEERS = 4
"""As many at most are told at once that something may wait; where there are more, looking tells for which."""


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
        self._security = DialogSecurity(self._report_dropped, lambda: counts.add("messages_corrupted"))
        self._opening: asyncio.Task[None] | None = None
        self._peers: dict[int, Peer] = {}
        self._forgotten_at = -_FORGET_SECONDS
        self._routes: str | None = None
        self._has_told = False
        """All of them that something may wait."""

    def wake(self, which: str) -> None:
        """Messages may be waiting: those that another instance has sealed, or here.

        ``which``: "sealed", the number of the peer they are for, or nothing where that is not known.
        """
        if which == "sealed":
            self._sealed.set()
            return
        peer = self._peers.get(int(which)) if _PEER_ID.fullmatch(which) else None
        if peer is not None and peer.is_attended:
            peer.news.set()
            return
        # They first: else what `_serve` asks has the connection before them, and the message waits for it.
        self._has_told = len(self._peers) <= _POKED_PEERS
        if self._has_told:
            for peer in self._peers.values():
                peer.news.set()
        self._news.set()

    def _report_dropped(self, text: str) -> None:
        self._counts.add("messages_dropped")
        # Names in it are whoever's who has brought the messages.
        self._log.write("warning", "message_dropped", short(text))

    async def is_settled(self) -> bool:
        """Nothing waits that could leave now."""
        failing = [peer.peer_id for peer in self._peers.values() if peer.failing is not None]
        (waiting,) = await self._ask(
            "SELECT EXISTS (SELECT FROM ssb.sealed_set) OR EXISTS (SELECT FROM ssb.forwarded_set)"
            " OR EXISTS (SELECT FROM ssb.transmission AS t"
            " JOIN ssb.remote_conversation AS r ON r.endpoint_id = t.endpoint_id"
            " WHERE t.peer_id <> ALL (%s::integer[]) AND r.retry_at IS NULL)",
            failing,
        )
        return not waiting

    async def run(self) -> None:
        """Send what has to leave. Raises psycopg.Error when the connection to the own instance breaks."""
        # Most instances have no dialogs with others: for those no connection is kept.
        while not (await self._ask("SELECT ssb_internal.has_transport()"))[0]:
            await pause(self._news, 5.0)
            self._news.clear()
        near = await open_connection(self._options.dsn, SETTINGS, application_name="pgsb transport")
        accept_raw(near)
        try:
            await self._join(near)
            # So others see that somebody is here who opens what they have sealed.
            await near.execute("SELECT ssb_internal.share_transport_lock()")
            # An earlier daemon may have ended in the middle of what streamed.
            await near.execute("SELECT ssb_internal.stop_streaming(NULL)")
            self._opening = asyncio.create_task(self._open_sealed(near))
            try:
                await self._serve(near)
            finally:
                self._opening.cancel()
                await asyncio.gather(self._opening, return_exceptions=True)
        finally:
            tasks = [peer.task for peer in self._peers.values() if peer.task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._peers.clear()
            await near.close()

    async def _open_sealed(self, near: Connection) -> None:
        """What other instances have sealed for this one. Raises psycopg.Error."""
        backoff = Backoff(_LOOK_SECONDS, _LONGEST_PAUSE)
        while True:
            self._sealed.clear()
            if await self._is_done(near, self._security.open_sets(near)):
                backoff.reset()
                await pause(self._sealed, _LOOK_SECONDS)
            else:
                await asyncio.sleep(backoff.next())

    async def _is_done(self, near: Connection, step: Awaitable[None]) -> bool:
        """False where the own server cannot do it for now, which is told. Raises psycopg.Error."""
        try:
            await step
        except psycopg.Error as error:
            if near.closed or not is_passing(error):
                raise
            self._tell_own(error)
            return False
        return True

    def _tell_own(self, error: psycopg.Error) -> None:
        self._log.write("warning", "transport_failed", f"This instance's own server: {one_line(error)}")

    def _go_on_opening(self, near: Connection) -> None:
        """Raises psycopg.Error, where the own server is lost."""
        if self._opening is None or not self._opening.done():
            return
        error = self._opening.exception()
        if isinstance(error, psycopg.Error):
            raise error
        # As in `_look`: others' messages, and programs, are not to end with what one instance has sealed.
        self._log.write("error", "internal_error", f"{type(error).__name__}: {error}")
        self._opening = asyncio.create_task(self._open_sealed(near))

    async def _serve(self, near: Connection) -> None:
        backoff = Backoff(_LOOK_SECONDS, _LONGEST_PAUSE)
        while True:
            self._news.clear()
            self._go_on_opening(near)
            began = time.monotonic()
            if not await self._is_done(near, self._look(near)):
                await asyncio.sleep(backoff.next())
                continue
            backoff.reset()
            # However much waits, looking takes no more than a fifth of the time.
            await asyncio.sleep(4 * (time.monotonic() - began))
            await pause(self._news, _LOOK_SECONDS)

    async def _look(self, near: Connection) -> None:
        """What wants to leave, for whom. Raises psycopg.Error."""
        if time.monotonic() > self._forgotten_at + _FORGET_SECONDS:
            self._forgotten_at = time.monotonic()
            await near.execute("SELECT ssb_internal.forget_remote_conversations()")
            await self._security.forget_keys(near)
        cursor = await near.execute(
            "SELECT ssb_internal.follow_routes(%s), ssb_internal.heed_clock()", [self._routes]
        )
        self._routes, _ = await cursor.fetchone() or (None, None)
        told = [key for key, peer in self._peers.items() if self._has_told and peer.is_attended]
        self._has_told = False
        cursor = await near.execute("SELECT * FROM ssb_internal.transport_peers(%s::integer[])", [told])
        for peer_id, address, mirror, has_forwarded in await cursor.fetchall():
            peer = self._peer(near, peer_id, address, mirror)
            peer.has_forwarded = has_forwarded
            peer.news.set()
        for key, peer in list(self._peers.items()):
            if peer.task is not None and peer.task.done():
                del self._peers[key]
                error = peer.task.exception()
                if isinstance(error, psycopg.Error):
                    raise error
                if error is not None:
                    # A defect of ours must not take the other instances, and queues, along.
                    self._log.write("error", "internal_error", f"{type(error).__name__}: {error}")

    def _peer(self, near: Connection, peer_id: int, address: str, mirror: str | None) -> Peer:
        peer = self._peers.get(peer_id)
        if peer is None or not peer.is_attended:
            peer = self._peers[peer_id] = Peer(peer_id, address, mirror)
            peer.task = asyncio.create_task(self._attend(near, peer))
        return peer

    async def _attend(self, near: Connection, peer: Peer) -> None:
        """One address: send while there is something, wait for more, end after some minutes without."""
        backoff = Backoff(0.1, _LONGEST_PAUSE)
        untold = Backoff(_UNTOLD_SECONDS, _LOOK_SECONDS)
        used = time.monotonic()
        try:
            while time.monotonic() < used + _IDLE_SECONDS:
                if peer.news.is_set():
                    peer.news.clear()
                    peer.reads_left = None
                try:
                    may_read = len(peer.sent) < _SETS_UNDER_WAY and peer.reads_left != 0
                    has_sent = may_read and await self._send_set(near, peer)
                    if may_read:
                        peer.has_read(has_sent)
                    if not has_sent:
                        peer.pace.found_nothing()
                    if peer.has_forwarded:
                        peer.has_forwarded = await self._send_forwarded(near, peer)
                        has_sent = peer.has_forwarded or has_sent
                    may_wait = not has_sent or peer.reads_left == 0
                    if await peer.listen(may_wait=may_wait) or has_sent or peer.is_listening:
                        used = time.monotonic()
                        if not peer.refused_in_a_row:
                            self._note_success(peer)
                            backoff.reset()
                        continue
                    if peer.streams or peer.has_untold:
                        if not peer.has_untold:
                            untold.reset()
                        if not await self._has_all_told(near, peer):
                            await pause(peer.news, untold.next())
                        continue
                except Unreachable as error:
                    await self._hang_up(near, peer)
                    await self._is_done(near, self._note_failure(near, peer, str(error)))
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
                    self._tell_own(error)
                    used = time.monotonic()
                    await asyncio.sleep(backoff.next())
                    continue
                await self._is_done(near, self._note_use(near, peer))
                await pause(peer.news, _LOOK_SECONDS if peer.sent else _IDLE_SECONDS)
        finally:
            if peer.streams:
                with contextlib.suppress(psycopg.Error):
                    await self._has_all_told(near, peer)
            await self._hang_up(near, peer)

    def _note_success(self, peer: Peer) -> None:
        if peer.failing is not None:
            peer.failing = None
            self._log.write(
                "info", "transport_connected", f"the instance at {peer.address} takes messages again"
            )

    async def _note_failure(self, near: Connection, peer: Peer, reason: str) -> None:
        await near.execute(
            "SELECT ssb_internal.note_transport_failure(%s, %s), ssb_internal.refuse_forwarded(%s, %s, %s)",
            [peer.peer_id, reason, peer.address, peer.mirror, reason],
        )

    async def _send_set(self, near: Connection, peer: Peer) -> bool:
        """This instance's own messages. False when there was nothing to send. Raises Unreachable."""
        settled, peer.settled = all_settled(peer.settled), []
        takes_fragments = peer.takes_arrays
        began = time.monotonic()
        own = await next_set(
            near,
            peer.peer_id,
            peer.endpoints_under_way,
            peer.after,
            settled,
            messages=peer.set_messages,
            takes_fragments=takes_fragments,
        )
        if own is None:
            peer.after = START
            return False
        await self._connect(near, peer)
        if takes_fragments and not peer.takes_arrays:
            return True  # whoever answers there does not know of fragments: read again, without
        peer.after = own.after
        if not own.sides and not own.traced:
            await peer.hand_over_raw(own, plain_settler(near, None))
        else:
            await self._send_by_dialogs(near, peer, own)
        await self._count_use(near, peer, own.length, own.messages)
        seconds = peer.has_delivered(own, began)
        if (seconds or own.is_full) and not peer.streams:
            cursor = await near.execute("SELECT ssb_internal.start_streaming(%s)", [peer.peer_id])
            (peer.streams,) = await cursor.fetchone() or (False,)
        if seconds:
            await asyncio.sleep(seconds)
        return True

    async def _has_all_told(self, near: Connection, peer: Peer) -> bool:
        """Who sends tells it again; False: somebody may be at it who began before. One more look is due."""
        peer.streams, peer.has_untold = False, True
        cursor = await near.execute("SELECT ssb_internal.stop_streaming(%s)", [peer.peer_id])
        (have_all,) = await cursor.fetchone() or (True,)
        peer.has_untold = not have_all
        return not peer.has_untold

    async def _send_by_dialogs(self, near: Connection, peer: Peer, own: OwnSet) -> None:
        """A set with dialogs that have to be sealed, or messages with traces."""
        tell = None
        traces: dict[int, Any] = {}
        plain: list[int] = []
        if not is_of_one_side(own):
            of_sides = {endpoint for side in own.sides for endpoint in side.endpoints}
            plain = [place for place, one in enumerate(loaded(own.endpoints)) if one not in of_sides]
        if own.traced:
            batch = own.batch()
            crossing = own.crossing(batch, self._options.spans, peer.address)
            tell = crossing.arrived if crossing is not None else None
            traces = {place: one["traces"] for place, one in enumerate(batch.headers) if one["traces"]}
            if plain:
                await peer.hand_over(batch.part(plain), plain_settler(near, tell))
        elif plain:
            part = own.part(plain)
            await peer.hand_over_raw(part, plain_settler(near, None))
        if not own.sides:
            return
        sealed, refused = await self._security.seal(near, own, traces, is_apart=peer.seals_apart)
        if refused:
            await settle_sent(near, refused)
        if sealed is not None:
            settle = sealed_settler(near, peer, sealed, tell)
            await peer.hand_over_sealed(sealed.values, sealed.places, settle, dialogs=sealed.endpoints)

    async def _send_forwarded(self, near: Connection, peer: Peer) -> bool:
        """A set of others' messages. False when there was none. Raises Unreachable."""
        forwarded = await next_forwarded(near, peer)
        if forwarded is None:
            return False
        await self._connect(near, peer)
        await forwarded.go_on(peer)
        bodies = forwarded.row["bodies"]
        await self._count_use(near, peer, sum(len(body or b"") for body in bodies), len(bodies))
        return True

    async def _count_use(self, near: Connection, peer: Peer, length: int, messages: int) -> None:
        self._counts.add("transport_sets")
        self._counts.add("transport_messages", messages)
        self._counts.add("transport_bytes", length)
        peer.unnoted = peer.unnoted[0] + length, peer.unnoted[1] + messages
        if time.monotonic() > peer.noted_at + _NOTE_SECONDS:
            await self._note_use(near, peer)

    async def _note_use(self, near: Connection, peer: Peer) -> None:
        """For sys.dm_broker_connections."""
        if peer.unnoted != (0, 0):
            values = [peer.connection_id, *peer.unnoted]
            peer.unnoted, peer.noted_at = (0, 0), time.monotonic()
            await near.execute("SELECT ssb_internal.transport_used(%s, %s, %s)", values)

    async def _connect(self, near: Connection, peer: Peer) -> None:
        if peer.far is None or peer.far.closed:
            address = await peer.connect(near, self._options.addresses)
            if peer.failing is None:
                self._log.write("info", "transport_connected", f"connected to the instance at {address}")

    async def _hang_up(self, near: Connection, peer: Peer) -> None:
        if await peer.hang_up():
            with contextlib.suppress(psycopg.Error):
                await near.execute("SELECT ssb_internal.transport_closed(%s)", [peer.connection_id])

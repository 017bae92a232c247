"""The instance at one address: a connection to it, and sets of messages on their way there.

A set is answered by dialog: some at once, others later, where the instance passes their messages on, or its
own daemon has to open them. For those one asks again (ssb_internal.set_answers). What is never answered is
sent again; the destination knows by its number what has come already.
"""

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.pq.abc import PGresult

from .answers import NAMES, Row, Settle, Taken, by_place, checked_taken, read_answer
from .pacing import Pace
from .peer_connection import FAR_SECONDS, OF_THE_INSTANCE, Unreachable, find_dsn, open_far, sentence
from .readers import Connection
from .transport_sets import MESSAGES, START, Batch, OwnSet, Position, Settled, next_size
from .transport_values import (
    Malformed,
    Raw,
    RawBigints,
    RawJson,
    RawStatement,
    RawTexts,
    UnexpectedType,
    accept_raw,
    loaded,
    raw_row,
)

_ANSWER_SECONDS = 5.0
"""After these without an answer a dialog's messages are sent again."""
_SHORT_OF = ("53", "58")
_TRIES_WHERE_SHORT = 3
"""Where the other server's disk or memory seems to be at its end, so many are tried before all wait: one may
be too large for what is left."""
_FORGET_SECONDS = 90.0
_LISTEN_SECONDS = 0.1
_VALUES = "%b::jsonb, %b::integer[], %b::bigint[], %b::text[], %b::text[], %b::bytea[]"
_TAKE_ARRAYS = f"SELECT next_numbers, instances, others FROM ssb_internal.take_from_peer({_VALUES})"
_TAKE_RAW = RawStatement(
    "SELECT next_numbers, instances, others FROM ssb_internal.take_from_peer("
    "$1::jsonb, $2::integer[], $3::bigint[], $4::text[], $5::text[], $6::bytea[])"
)
_TAKE = (
    "SELECT place, next_number, status, refusal_code, refusal, instance, NULL::bigint"
    f" FROM ssb.take_from_afar({_VALUES})"
)
_HAS_ARRAYS = (
    "SELECT pg_catalog.to_regprocedure("
    "'ssb_internal.take_from_peer(jsonb, integer[], bigint[], text[], text[], bytea[])') IS NOT NULL"
)
_NOT_ACKNOWLEDGED = "The message has been sent on its way, and its destination has not acknowledged it."


@dataclass
class Sent:
    """A set that has left, and what of it has no answer yet: dialogs, or blocks of them (place → key)."""

    unanswered: dict[int, int]
    settle: Settle
    forwarded_id: int | None
    """None: the messages are this instance's own."""
    dialogs: Callable[[int], Sequence[int]] | None = None
    """The endpoints of a block; None: a key is an endpoint."""
    sent_at: float = field(default_factory=time.monotonic)
    is_late: bool = False


@dataclass
class Peer:
    """What is known of the instance at one address."""

    peer_id: int
    address: str
    mirror: str | None
    news: asyncio.Event = field(default_factory=asyncio.Event)
    far: Connection | None = None
    connection_id: uuid.UUID = field(default_factory=uuid.uuid4)
    takes_arrays: bool = True
    """False: its version answers dialog by dialog."""
    failing: str | None = None
    task: asyncio.Task[None] | None = None
    after: Position = START
    settled: list[Settled] = field(default_factory=list)
    """To be settled when the next set is read."""
    set_messages: int = MESSAGES
    """How many the next set may have."""
    pace: Pace = field(default_factory=Pace)
    seals_apart: bool = False
    """Each dialog by itself: an instance on the way has asked for it."""
    has_forwarded: bool = False
    """Others' messages may have to go on to it."""
    streams: bool = False
    """Who sends to it has been told to tell nobody: set after set is read anyway."""
    has_untold: bool = False
    """… and again that it has to, and some of those who have told nobody may be at it still."""
    reads_left: int | None = None
    """How often something may be there to read; None: that is not known."""
    unnoted: tuple[int, int] = (0, 0)
    """Bytes and messages that sys.dm_broker_connections does not tell yet."""
    noted_at: float = 0.0
    listened_at: float = 0.0
    refused_in_a_row: int = 0
    """For want of disk or memory over there."""
    sent: dict[uuid.UUID, Sent] = field(default_factory=dict)

    @property
    def is_attended(self) -> bool:
        """Whether its task runs."""
        return self.task is not None and not self.task.done()

    @property
    def endpoints_under_way(self) -> list[int]:
        """This instance's dialogs that wait for an answer."""
        waiting = [one for one in self.sent.values() if one.forwarded_id is None and not one.is_late]
        return [
            endpoint
            for one in waiting
            for key in one.unanswered.values()
            for endpoint in (one.dialogs(key) if one.dialogs is not None else (key,))
        ]

    @property
    def forwarded_under_way(self) -> list[int]:
        """Others' sets that wait for an answer, by ssb.forwarded_set."""
        return [one.forwarded_id for one in self.sent.values() if one.forwarded_id is not None]

    @property
    def is_listening(self) -> bool:
        """Whether an answer is expected at any moment."""
        return any(not one.is_late for one in self.sent.values())

    def has_read(self, has_found: bool) -> None:
        """A set was read. Where none was found, only answers make room for one: each for one."""
        if not has_found:
            self.reads_left = 0 if self.is_listening else None
        elif self.reads_left is not None:
            self.reads_left -= 1

    def has_delivered(self, own: OwnSet, began: float) -> float:
        """A set that was read at this time has been handed over. Returns the seconds until the next."""
        messages = self.set_messages
        # What waits for answers, as where an instance on the way may have room for no more, stays as it is.
        may_grow = bool(own.sides or (self.settled and not self.sent))
        self.set_messages = next_size(own, messages) if may_grow else MESSAGES
        if self.sent or self.has_forwarded:
            self.pace.found_nothing()  # answers, and others' messages, do not wait
            return 0.0
        pause = self.pace.pause(began, time.monotonic(), own.messages, is_full=own.is_full)
        if pause and may_grow:
            self.set_messages = next_size(own, messages, is_paused=True)
        return pause

    # ------------------------------------------------------------ sending

    async def hand_over_raw(self, own: OwnSet, settle: Settle) -> None:
        """Call the other instance with a set as it is. Raises Unreachable.

        Where all was taken, that is settled when the next set is read; ``settle`` hears of everything else.
        """
        try:
            taken = await self._take(own.values, own.dialogs)
        except (psycopg.Error, OSError, TimeoutError) as error:
            await self._hand_over_parts(own.batch(), settle, None, self._reason(error))
            return
        if isinstance(taken, Taken) and not taken.others:
            self.settled.append(Settled(own.ids, own.endpoints, taken.next_numbers, taken.instances))
            return
        await self._heard(own.set_id, loaded(own.endpoints), taken, settle, None)

    async def hand_over(self, batch: Batch, settle: Settle, forwarded_id: int | None = None) -> None:
        """Call the other instance, and settle what it answers at once. Raises Unreachable.

        A set that it cannot take as a whole is sent dialog by dialog, so that one does not hold up all.
        """
        set_id = uuid.uuid4()
        values = [
            json.dumps([header | {"set": str(set_id)} for header in batch.headers]),
            *(batch.places, batch.numbers, batch.message_types, batch.kinds, batch.bodies),
        ]
        try:
            taken = await self._take(values, len(batch.keys))
        except (psycopg.Error, OSError, TimeoutError) as error:
            await self._hand_over_parts(batch, settle, forwarded_id, self._reason(error))
            return
        await self._heard(set_id, batch.keys, taken, settle, forwarded_id)

    async def _hand_over_parts(
        self, batch: Batch, settle: Settle, forwarded_id: int | None, reason: str
    ) -> None:
        if len(batch.keys) == 1:
            await settle({batch.keys[0]: {"status": reason}})
            return
        for place in range(len(batch.keys)):
            await self.hand_over(batch.part([place]), settle, forwarded_id)

    async def _heard(
        self,
        set_id: uuid.UUID,
        keys: list[int],
        taken: "Taken | dict[int, Row | None]",
        settle: Settle,
        forwarded_id: int | None,
    ) -> None:
        found = self._by_dialog(taken, len(keys)) if isinstance(taken, Taken) else taken
        answers = {keys[place]: given for place, given in found.items() if given is not None}
        if answers:
            await settle(answers)
        waiting = {place: key for place, key in enumerate(keys) if found.get(place, {}) is None}
        if waiting:
            self.sent[set_id] = Sent(waiting, settle, forwarded_id)

    async def hand_over_sealed(
        self,
        values: list[Any],
        keys: Mapping[int, int],
        settle: Settle,
        forwarded_id: int | None = None,
        dialogs: Callable[[int], Sequence[int]] | None = None,
    ) -> None:
        """As `hand_over`, of what only the destination opens; ``values`` are ssb_internal.take_sealed's.

        ``keys`` of the blocks, by their first dialogs' places; ``dialogs`` tells the endpoints of one.
        """
        set_id = uuid.uuid4() if forwarded_id is not None else uuid.UUID(values[0])
        assert self.far is not None
        try:
            async with asyncio.timeout(FAR_SECONDS):
                cursor = await self.far.execute(
                    "SELECT ssb_internal.take_sealed(%s::uuid, %b::jsonb, %b::integer[], %b::bigint[],"
                    " %b::bytea[], %s::text[])",
                    [set_id, *values[1:]],
                )
                row = await cursor.fetchone()
                self.refused_in_a_row = 0
        except (psycopg.Error, OSError, TimeoutError) as error:
            reason = self._reason(error)
            await settle({key: {"status": reason} for key in keys.values()})
            return
        except (ValueError, RecursionError):
            raise self._senseless() from None
        if row is None or row[0] is None:
            raise Unreachable(
                f"The instance at '{self.address}' has no daemon that could open the sealed messages."
            )
        found = by_place(row[0])
        answers = {key: found[place] for place, key in keys.items() if place in found}
        if answers:
            await settle(answers)
        waiting = {place: key for place, key in keys.items() if place not in found}
        if waiting:
            self.sent[set_id] = Sent(waiting, settle, forwarded_id, dialogs)

    async def _take(self, values: Sequence[Any], dialogs: int) -> "Taken | dict[int, Row | None]":
        """What was answered: as arrays, or by place; None: later."""
        assert self.far is not None
        # Beyond its own timeout the far server is not to be believed that it works.
        async with asyncio.timeout(FAR_SECONDS):
            if not self.takes_arrays:
                async with self.far.cursor(binary=True) as cursor:
                    await cursor.execute(_TAKE, values, prepare=True)
                    rows = await cursor.fetchall()
                    self.refused_in_a_row = 0
                    return self._rows(rows, dialogs)
            if all(isinstance(value, Raw) for value in values):
                result: PGresult | None = await _TAKE_RAW.run(self.far, values)
            else:
                async with self.far.cursor(binary=True) as cursor:
                    await cursor.execute(_TAKE_ARRAYS, values, prepare=True)
                    result = cursor.pgresult
            self.refused_in_a_row = 0
            try:
                numbers, instances, others = raw_row(result, (RawBigints, RawTexts, RawJson)) or [None] * 3
                return checked_taken(numbers, instances, others, dialogs)
            except (UnexpectedType, Malformed):
                raise self._senseless() from None

    def _senseless(self) -> Unreachable:
        return Unreachable(f"The instance at '{self.address}' gives answers that cannot be read.")

    def _rows(self, rows: list[Any], dialogs: int) -> dict[int, Row | None]:
        found: dict[int, Row | None] = {}
        for place, *values in rows:
            given = read_answer(dict(zip(NAMES, values, strict=True)))
            # Whoever is over there: what is no answer to our question is not put before our functions.
            if not isinstance(place, int) or not 0 <= place < dialogs or given is None:
                raise self._senseless()
            found[place] = None if given["next_number"] is None and given["status"] is None else given
        return found

    def _by_dialog(self, taken: "Taken", dialogs: int) -> dict[int, Row | None]:
        rows: list[Any] = [
            (place, number, None, None, None, instance, None)
            for place, (number, instance) in enumerate(taken.rows)
            if number
        ]
        rows += [(one.get("place"), *(one.get(name) for name in NAMES)) for one in taken.others]
        return self._rows(rows, dialogs)

    def _reason(self, error: BaseException) -> str:
        """Why messages were not taken. Raises Unreachable where it is for the instance as a whole."""
        state = error.sqlstate if isinstance(error, psycopg.Error) else None
        is_of_all = self.far is None or self.far.closed or state is None or state in OF_THE_INSTANCE
        if state is not None and state.startswith(_SHORT_OF):
            self.refused_in_a_row += 1
            is_of_all = is_of_all or self.refused_in_a_row > _TRIES_WHERE_SHORT
        if is_of_all:
            raise Unreachable(sentence(self.address, error)) from error
        return sentence(self.address, error)

    # ------------------------------------------------------------ answers

    async def listen(self, may_wait: bool) -> bool:
        """Settle answers that have come since. Raises Unreachable."""
        now = time.monotonic()
        if not self.sent or not (may_wait or now > self.listened_at + _LISTEN_SECONDS / 2):
            return False
        self.listened_at = now
        assert self.far is not None
        try:
            async with asyncio.timeout(FAR_SECONDS):
                cursor = await self.far.execute(
                    "SELECT set_id, answers FROM ssb_internal.set_answers(%s::uuid[], %s)",
                    [list(self.sent), _LISTEN_SECONDS if may_wait and self.is_listening else 0.0],
                )
                rows = await cursor.fetchall()
        except (psycopg.Error, OSError, TimeoutError) as error:
            raise Unreachable(sentence(self.address, error)) from error
        except (ValueError, RecursionError):
            raise self._senseless() from None
        for set_id, given in rows:
            if not isinstance(set_id, uuid.UUID):
                raise self._senseless()
            sent = self.sent.get(set_id)
            if sent is None:
                continue
            found = by_place(given)
            answers = {key: found[place] for place, key in sent.unanswered.items() if place in found}
            sent.unanswered = {place: key for place, key in sent.unanswered.items() if place not in found}
            if not sent.unanswered:
                del self.sent[set_id]
            if self.reads_left is not None:
                self.reads_left += 1
            if answers:
                await sent.settle(answers)
        await self._grow_old()
        if not rows:
            self.reads_left = None
        return bool(rows)

    async def _grow_old(self) -> None:
        now = time.monotonic()
        for set_id, sent in list(self.sent.items()):
            if now > sent.sent_at + _FORGET_SECONDS:
                del self.sent[set_id]
            elif now > sent.sent_at + _ANSWER_SECONDS and not sent.is_late:
                sent.is_late = True
                self.set_messages = MESSAGES
                if sent.forwarded_id is None:
                    await sent.settle(
                        {key: {"status": _NOT_ACKNOWLEDGED} for key in sent.unanswered.values()}
                    )

    # ------------------------------------------------------------ the connection

    async def connect(self, near: Connection, addresses: Mapping[str, str]) -> str:
        """To the address, else to its mirror; returns which. Raises Unreachable with what was wrong."""
        reasons = []
        cursor = await near.execute("SELECT ssb_internal.endpoint_encryption()")
        (ours,) = await cursor.fetchone() or (None,)
        for address in (self.address, self.mirror):
            if address is None:
                continue
            try:
                far = self.far = await open_far(address, find_dsn(address, addresses), ours)
                accept_raw(far)
                async with asyncio.timeout(FAR_SECONDS):
                    (self.takes_arrays,) = await (await far.execute(_HAS_ARRAYS)).fetchone() or (False,)
            except Unreachable as error:
                reasons.append(str(error))
                continue
            except (psycopg.Error, OSError, TimeoutError) as error:
                await self.hang_up()
                reasons.append(sentence(address, error))
                continue
            self.connection_id = uuid.uuid4()
            await near.execute(
                "SELECT ssb_internal.transport_connected(%s, %s, %s, %s)",
                [self.connection_id, address, far.info.user, far.pgconn.ssl_in_use],
            )
            return address
        raise Unreachable(" ".join(reasons))

    async def hang_up(self) -> bool:
        """Close the connection; what is under way is sent again. False: there was none."""
        self.sent.clear()
        self.after = START
        self.set_messages = MESSAGES
        self.pace = Pace()
        self.seals_apart = False
        self.refused_in_a_row = 0
        far, self.far = self.far, None
        if far is not None:
            await far.close()
        return far is not None

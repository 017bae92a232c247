"""One queue: when it wants a reader, and how many.

The states are those of sys.dm_broker_queue_monitors. INACTIVE: the queue is empty
and senders have been asked for a NOTIFY. NOTIFIED: messages wait, and a reader was
started or QUEUE_ACTIVATION sent. RECEIVES_OCCURRING: messages have been received
since.
"""

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import Protocol

import psycopg

from .readers import ActiveQueue

INACTIVE, NOTIFIED, RECEIVES_OCCURRING = "INACTIVE", "NOTIFIED", "RECEIVES_OCCURRING"

# A NOTIFY can be lost when its sender looked just before we asked: look again, soon.
_SECOND_LOOKS = (0.02, 0.2)
_LONGEST_TICK = 1.0
_LONGEST_PAUSE = 600.0
_PAUSE_FACTOR = 20.0
# SQL Server fires QUEUE_ACTIVATION again when the queue is not drained after this long.
_NOTIFY_AGAIN = 5.0


@dataclass(frozen=True)
class Head:
    """The first message in a group that nobody holds: its order, and seconds since it came.

    ``tried_by``: the transaction that received it last and rolled back; 0: none did.
    """

    order: int
    waited: float
    tried_by: int = 0


@dataclass(frozen=True)
class Ended:
    """A reader has ended, with an error or without.

    ``lasted``: seconds that an external program ran, which may be costly to start; 0 of a procedure, and
    more where it is no use to try soon.
    """

    failed: bool
    lasted: float = 0.0


class Host(Protocol):
    """What a monitor needs of the daemon."""

    patience: float
    longest_backoff: float

    async def probe(self, queue: ActiveQueue) -> Head | None:
        """The first message that a new reader would get."""

    async def follow(self) -> None:
        """Until what was told of definitions so far is known: the queue's activation may be off."""

    async def set_state(self, queue: ActiveQueue, state: str, *, started: bool = False) -> None:
        """Show the state; INACTIVE also asks senders for a NOTIFY."""

    async def forget(self, queue: ActiveQueue) -> None:
        """The queue is no longer monitored."""

    async def fire(self, queue: ActiveQueue) -> None:
        """Send QUEUE_ACTIVATION."""

    def start_reader(self, monitor: "QueueMonitor") -> bool:
        """Start one reader; False when the daemon has no room for it."""

    def limit_reached(self) -> None:
        """One more reader was wanted, and MAX_QUEUE_READERS are at work."""

    def report(self, level: str, event: str, message: str, queue: ActiveQueue) -> None:
        """Write a line to the log."""

    def is_lost(self) -> bool:
        """True when the daemon's own connection is gone."""


class Backoff:
    """Pauses that double from ``first`` to ``longest`` seconds, until `reset`."""

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self.strikes = 0

    def next(self, lasted: float = 0.0) -> float:
        """The pause after one more failure.

        What took ``lasted`` seconds to fail is tried again after as long, and ever more seldom then, up to
        twenty times that or ten minutes.
        """
        self.strikes += 1
        longest = max(self._longest, min(_LONGEST_PAUSE, _PAUSE_FACTOR * lasted))
        return min(longest, max(self._first, lasted) * 2.0 ** min(self.strikes - 1, 30))

    def reset(self) -> None:
        """It works again."""
        self.strikes = 0


@dataclass
class QueueMonitor:
    """Watches one queue until `retire`; `run` is its task."""

    host: Host
    queue: ActiveQueue
    readers: int = 0
    state: str = ""
    head: Head | None = None
    retired: bool = False
    woken_at: float | None = None
    """When a quiet queue was woken, until its program is called: time.monotonic()."""
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _ended: list[Ended] = field(default_factory=list)
    _may_start_at: float = 0.0
    _has_failed: bool = False
    _last_order: int | None = None
    _known_attempt: tuple[int, int] | None = None
    """Order of the first message, and who had tried it in vain before the running readers started."""
    _backoff: Backoff = field(init=False)

    def __post_init__(self) -> None:
        self._backoff = Backoff(0.05, self.host.longest_backoff)

    @property
    def is_quiet(self) -> bool:
        """Nothing waits and nothing runs, as far as is known."""
        return self.state == INACTIVE and not self.readers

    def wake(self) -> None:
        """A message came, a reader ended, or the definition changed: look now."""
        if self.is_quiet:
            self.woken_at = time.monotonic()
        self._woken.set()

    def redefine(self, queue: ActiveQueue) -> None:
        """The queue was altered: what failed before may work now."""
        self.queue = queue
        self._backoff.reset()
        self._has_failed = False
        self._may_start_at = 0.0
        self.wake()

    def retire(self) -> None:
        """Start nothing more; running readers end by themselves."""
        self.retired = True
        self.wake()

    def reader_ended(self, ended: Ended) -> None:
        """The daemon reports the end of a reader that `Host.start_reader` started."""
        self.readers -= 1
        self._has_failed = ended.failed
        self._ended.append(ended)
        self.wake()

    async def run(self) -> None:
        """Watch until retired. psycopg.Error comes out only when the daemon's connection is lost."""
        while not self.retired:
            try:
                await self._sleep()
                await self.host.follow()
                if not self.retired:
                    await (self._serve() if self.queue.title else self._announce())
            except psycopg.Error as error:
                if self.host.is_lost():
                    raise
                self.host.report("error", "monitor_failed", str(error).strip(), self.queue)
                await self._wait(1.0)
        await self.host.forget(self.queue)

    async def _sleep(self) -> None:
        """Until there is a message for which no reader runs."""
        self._woken.clear()
        self.woken_at = None
        await self._show(INACTIVE)
        for pause in (0.0, *_SECOND_LOOKS, None):
            if pause != 0.0 and await self._wait(pause):
                return
            self.head = await self.host.probe(self.queue)
            if self.head is not None:
                self.woken_at = time.monotonic()
                return

    async def _serve(self) -> None:
        """Start readers until the queue is empty and the last of them has ended."""
        pause = 0.0
        self._last_order = None
        # The NOTIFY said that there is a message: ask no further, start. After a failure it is asked:
        # that rollback may have been the one that disables the queue.
        is_first = not self._has_failed
        while not self.retired:
            if is_first and time.monotonic() >= self._may_start_at:
                self._start(1)
            is_first = False
            # The reader's statement goes out before ours.
            await asyncio.sleep(0)
            await self._show(NOTIFIED if self.state == INACTIVE else self.state)
            pause = min(_LONGEST_TICK, pause * 1.5 or self.host.patience)
            wait = pause
            if not self.readers:
                wait = max(0.0, min(pause, self._may_start_at - time.monotonic()))
            await self._wait(wait)
            ended, self._ended = self._ended, []
            if self.readers >= self.queue.max_readers and not ended:
                waiting = await self.host.probe(self.queue)
                if waiting is not None and waiting.waited >= self.host.patience:
                    self.host.limit_reached()
                continue
            head = self.head = await self.host.probe(self.queue)
            self._judge(ended, head)
            if head is None:
                await self._show(RECEIVES_OCCURRING)
                if not self.readers:
                    return
                continue
            if head.order != self._last_order:
                pause = 0.0
            self._last_order = head.order
            if time.monotonic() >= self._may_start_at:
                self._start(self._wanted(head))

    def _judge(self, ended: list[Ended], head: Head | None) -> None:
        """After readers have ended: was it any use? If not, the next one waits a while."""
        failed = any(one.failed for one in ended)
        has_moved = head is not None and self._last_order is not None and head.order != self._last_order
        if self.queue.program is not None and not ended and (self.readers or self._ended):
            # It may hold all that waits for minutes, and give it back: a bulk job does.
            return
        # What a program that was killed held may come back in a moment.
        is_drained = head is None and not (failed and self.queue.program is not None)
        # Of several readers that fail, each leaves another message first.
        if is_drained or (has_moved and not failed):
            self._backoff.reset()
            return
        if not ended:
            return
        if failed or (head is not None and head.order == self._last_order):
            lasted = max(one.lasted for one in ended)
            self._may_start_at = time.monotonic() + self._backoff.next(lasted)
            strikes = self._backoff.strikes
            if not failed and strikes & (strikes - 1) == 0:
                event, what = "nothing_received", "ended without receiving while messages wait"
                if head is not None and head.tried_by and (head.order, head.tried_by) != self._known_attempt:
                    event, what = "rolled_back", "received and rolled back, and ended without an error"
                self.host.report("warning", event, f"{what} ({strikes} in a row)", self.queue)

    def _wanted(self, head: Head) -> int:
        """How many readers more: one for an empty stage, then twice as many as long as a message waits."""
        room = self.queue.max_readers - self.readers
        if not self.readers:
            return min(room, 1)
        if head.waited < self.host.patience:
            return 0
        return min(room, self.readers)

    def _start(self, count: int) -> None:
        if not self.readers:
            # What another session has received and rolled back before says nothing of these readers.
            self._known_attempt = None if self.head is None else (self.head.order, self.head.tried_by)
        for _ in range(count):
            if self.readers >= self.queue.max_readers or not self.host.start_reader(self):
                break
            self.readers += 1

    async def _announce(self) -> None:
        """QUEUE_ACTIVATION: once when messages come, again when they are received and do not end."""
        fired_at = 0.0
        fired_for: int | None = None
        while not self.retired:
            head = self.head = await self.host.probe(self.queue)
            if head is None:
                if fired_for is not None:
                    await self._show(RECEIVES_OCCURRING)
                return
            if fired_for is None or (
                head.order != fired_for and time.monotonic() - fired_at >= _NOTIFY_AGAIN
            ):
                try:
                    await self.host.fire(self.queue)
                except psycopg.errors.LockNotAvailable:
                    # Somebody ends the notification in a transaction that is open: the next look tries again.
                    pass
                else:
                    fired_for, fired_at = head.order, time.monotonic()
                    await self._show(NOTIFIED)
            elif head.order != fired_for:
                await self._show(RECEIVES_OCCURRING)
            await self._wait(_LONGEST_TICK)

    async def _show(self, state: str) -> None:
        if state != self.state:
            was_quiet = self.state == INACTIVE
            self.state = state
            try:
                await self.host.set_state(self.queue, state, started=was_quiet and state == NOTIFIED)
            except psycopg.Error:
                # Where it was INACTIVE, senders have not been asked.
                self.state = ""
                raise

    async def _wait(self, seconds: float | None) -> bool:
        """True when woken before the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
                self._woken.clear()
                return True
        return False

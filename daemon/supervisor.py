"""All queues that want the daemon: a monitor for each, told what happens to its queue."""

import asyncio
import difflib
import re
import time

import psycopg

from .config import BrokerOptions
from .control import Control, is_passing, one_line
from .leader import pause
from .log import BrokerLog
from .monitor import Backoff, Head, QueueMonitor
from .readers import ActiveQueue
from .runs import Runs, wait_for

_DEFINITIONS_SECONDS = 30.0


class Supervisor:
    """The monitors of one leader, and what they need (`monitor.Host`)."""

    def __init__(self, options: BrokerOptions, log: BrokerLog, control: Control, runs: Runs) -> None:
        self._options = options
        self._log = log
        self._control = control
        self._runs = runs
        self.patience = options.patience
        self.longest_backoff = options.longest_backoff
        self.monitors: dict[int, QueueMonitor] = {}
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self._quarantined: set[int] | None = None
        self.redefined = asyncio.Event()
        self._known = asyncio.Event()
        """Nothing was told of definitions that is not known here."""
        self.redefine()

    def redefine(self) -> None:
        """Definitions have changed."""
        self.redefined.set()
        self._known.clear()

    def wake(self, payload: str) -> None:
        """A message has come to the queue of this number."""
        # Whoever may connect can send a NOTIFY: '²' is a digit too, and int() refuses it.
        if re.fullmatch("[0-9]{1,10}", payload) and (monitor := self.monitors.get(int(payload))):
            monitor.wake()

    async def sweep(self) -> None:
        """Bring about what is due, and find what a lost NOTIFY hid; for ever."""
        failures = 0
        backoff = Backoff(0.1, self._options.sweep)
        while True:
            began = time.monotonic()
            quiet = [number for number, monitor in self.monitors.items() if monitor.is_quiet]
            try:
                # The server's clock alone: this machine's may be another.
                awake, due_in = await self._control.one(
                    "SELECT awake, date_part('epoch', next_due - clock_timestamp())"
                    " FROM ssb_internal.broker_sweep(%s)",
                    quiet,
                )
                failures = 0
                backoff.reset()
            except psycopg.Error as error:
                # A queue may be dropped while we look; that does not happen three times in a row.
                failures += 1
                is_told = failures >= 3
                if self.is_lost() or (is_told and not is_passing(error)):
                    raise
                self._log.write("error" if is_told else "debug", "sweep_failed", one_line(error))
                await asyncio.sleep(backoff.next())
                continue
            for number in awake:
                if monitor := self.monitors.get(number):
                    monitor.wake()
            await self._report_quarantined()
            wait = self._options.sweep
            if due_in is not None:
                wait = min(wait, max(0.005, due_in))
            # However long it takes, it takes no more than a fifth of the time.
            await asyncio.sleep(max(wait, 4 * (time.monotonic() - began)))

    async def follow_definitions(self) -> None:
        """A monitor for each queue that wants one, whenever definitions change; for ever."""
        while True:
            await pause(self.redefined, _DEFINITIONS_SECONDS)
            self.redefined.clear()
            rows = await self._control.rows("SELECT * FROM ssb_internal.broker_queues()")
            queues = {row[0]: ActiveQueue(*row) for row in rows}
            gone = {one: self.monitors.pop(one) for one in list(self.monitors) if one not in queues}
            for retired in gone.values():
                retired.retire()
            await self._report_disabled(gone)
            for number, queue in queues.items():
                monitor = self.monitors.get(number)
                if monitor is None or monitor.queue.program != queue.program:
                    self._tell_unknown_program(queue)
                if monitor is None:
                    before = self.tasks.get(number)
                    monitor = self.monitors[number] = QueueMonitor(self, queue)
                    self.tasks[number] = asyncio.create_task(_after(before, monitor))
                elif monitor.queue != queue:
                    monitor.redefine(queue)
            for number in [one for one, task in self.tasks.items() if task.done() and not task.exception()]:
                del self.tasks[number]
            if not self.redefined.is_set():
                self._known.set()

    def _tell_unknown_program(self, queue: ActiveQueue) -> None:
        """Before its first message comes: that would wait until somebody looks."""
        known = self._options.programs
        if queue.program is None or queue.program in known:
            return
        nearest = difflib.get_close_matches(queue.program, known, 1)
        self._log.write(
            "error",
            "no_program",
            f"the configuration knows no program {queue.program!r}, which the queue names"
            + (f": did you mean {nearest[0]!r}?" if nearest else ""),
            queue=queue.name,
            program=queue.program,
        )

    async def _report_quarantined(self) -> None:
        """Groups that were set aside since the last look."""
        known = self._quarantined
        rows = await self._control.rows("SELECT * FROM ssb_internal.groups_set_aside()")
        self._quarantined = {number for number, *_ in rows}
        for number, queue, group, message in rows:
            if known is not None and number not in known:
                self._log.write(
                    "warning",
                    "quarantined",
                    f"conversation group {group} is set aside: {message}",
                    queue=queue,
                )

    async def _report_disabled(self, gone: dict[int, QueueMonitor]) -> None:
        """A queue that poison has stopped is an operator's business."""
        if not gone:
            return
        for number, message in await self._control.rows(
            "SELECT * FROM ssb_internal.poisoned_queues(%s)", list(gone)
        ):
            self.report(
                "error",
                "queue_disabled",
                "poison messages have disabled the queue"
                + (f" ({message})" if message else "")
                + "; ALTER QUEUE ... WITH STATUS = ON opens it again",
                gone[number].queue,
            )

    async def drain(self, hurry: asyncio.Event) -> None:
        """Start nothing more, and let what runs finish for the grace period."""
        for monitor in self.monitors.values():
            monitor.retire()
        self._known.set()  # so nobody waits for it
        await self._runs.drain(hurry)
        await wait_for(list(self.tasks.values()), 5.0)

    async def abandon(self) -> None:
        """Forget every queue and stop every program that still runs."""
        tasks = list(self.tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, self._runs.abandon(), return_exceptions=True)

    # ------------------------------------------------------------ what monitors ask for

    async def probe(self, queue: ActiveQueue) -> Head | None:
        """See `monitor.Host`."""
        rows = await self._control.rows("SELECT * FROM ssb_internal.broker_probe(%s)", queue.queue_id)
        return Head(*rows[0]) if rows else None

    async def follow(self) -> None:
        """See `monitor.Host`."""
        await pause(self._known, _DEFINITIONS_SECONDS)

    async def set_state(self, queue: ActiveQueue, state: str, *, started: bool = False) -> None:
        """See `monitor.Host`."""
        await self._control.one(
            "SELECT ssb_internal.broker_state(%s, %s, %s)", queue.queue_id, state, started
        )

    async def forget(self, queue: ActiveQueue) -> None:
        """See `monitor.Host`."""
        await self._control.one("SELECT ssb_internal.broker_forget(%s)", queue.queue_id)

    async def fire(self, queue: ActiveQueue) -> None:
        """See `monitor.Host`."""
        await self._control.one("SELECT ssb_internal.fire_queue_activation(%s)", queue.queue_id)
        self.report("info", "queue_activation", "QUEUE_ACTIVATION sent", queue)

    def start_reader(self, monitor: QueueMonitor) -> bool:
        """See `monitor.Host`."""
        return self._runs.start(monitor)

    def limit_reached(self) -> None:
        """See `monitor.Host`."""
        self._runs.note_limit()

    def report(self, level: str, event: str, message: str, queue: ActiveQueue) -> None:
        """See `monitor.Host`."""
        self._log.write(level, event, message, queue=queue.name, program=queue.title)

    def is_lost(self) -> bool:
        """See `monitor.Host`."""
        return self._control.is_lost()

    # ------------------------------------------------------------ for those who wait

    async def is_settled(self) -> bool:
        """Nothing waits in an activated queue, and no program is at work."""
        if self.redefined.is_set() or self.is_lost() or self._runs.is_starting:
            return False
        pids = [reader.session.pid for reader in self._runs.readers]
        idle = (await self._control.one("SELECT ssb_internal.idle_readers(%s)", pids))[0]
        if len(idle) < len(pids):
            return False
        # A message that is set aside, or of which only a notification tells, waits for people.
        activated = [number for number, monitor in self.monitors.items() if monitor.queue.title]
        awake, _ = await self._control.one("SELECT * FROM ssb_internal.broker_sweep(%s)", activated)
        for number in awake:
            if (monitor := self.monitors.get(number)) and await self.probe(monitor.queue):
                return False
        return True


async def _after(before: asyncio.Task[None] | None, monitor: QueueMonitor) -> None:
    """A queue whose activation was off and on again: the old monitor goes first."""
    if before is not None:
        await asyncio.wait([before])
    await monitor.run()

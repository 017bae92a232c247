"""Runs of service programs: starts them, logs what they say, and ends them when the daemon ends."""

import asyncio
import time
from typing import Any

import psycopg

from ..server.problems import SERVER_GONE
from ..server.results import Event
from .config import BrokerOptions
from .control import Control, one_line
from .counts import Counts
from .leader import Leadership
from .log import BrokerLog
from .monitor import Ended, QueueMonitor
from .programs import ProgramRuns
from .readers import (
    ActiveQueue,
    LostConnection,
    Outcome,
    ProgramError,
    Reader,
    Sessions,
    apply_settings,
    describe,
)
from .spans import Activation

_DRAIN_STEP = 0.1
# Who is no member of pg_monitor sees of another role's session no more than its process and database.
_IS_HERE = (
    "SELECT EXISTS (SELECT FROM pg_catalog.pg_stat_activity AS a"
    " WHERE a.pid = %s AND a.datname = pg_catalog.current_database()"
    " AND coalesce(a.backend_start = %s::timestamptz, true))"
)
# Memory, disk, locks: where the server has none left for a moment, five tries at once would stop the queue.
_SHORT_OF = (701, 823, 1105, 1204)
_SHORT_SECONDS = 5.0


class Runs:
    """All programs that run for one leader."""

    def __init__(
        self,
        options: BrokerOptions,
        log: BrokerLog,
        control: Control,
        leadership: Leadership,
        counts: Counts,
        room: int,
    ) -> None:
        """``room`` bounds the readers of all queues together."""
        self._options = options
        self._log = log
        self._control = control
        self._leadership = leadership
        self._counts = counts
        self._room = room
        self._programs = ProgramRuns(options)
        self._running: dict[asyncio.Task[None], Reader | None] = {}
        self._is_closed = False
        self.sessions = Sessions(options.reader_dsn or options.dsn, options.parked, self._is_here)

    @property
    def readers(self) -> list[Reader]:
        """Those that have a session; external programs have none of ours."""
        return [reader for reader in self._running.values() if reader is not None]

    @property
    def is_starting(self) -> bool:
        """A program runs that is external, or has no session yet."""
        return None in self._running.values()

    def start(self, monitor: QueueMonitor) -> bool:
        """Start the queue's program; False when there is no room, or another daemon may be leading."""
        if len(self._running) >= self._room or self._is_closed or not self._leadership.is_valid:
            self.note_limit()
            return False
        task = asyncio.create_task(self._run(monitor))
        self._running[task] = None
        self._counts.add("readers_started")
        return True

    def note_limit(self) -> None:
        """A reader was wanted, and as many as may be are at work."""
        self._counts.add("limit_reached")

    async def abandon(self) -> None:
        """Stop all at once; what they had not committed never happened."""
        self._is_closed = True
        for reader in self.readers:
            reader.cancelled = True
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._running.clear()

    async def drain(self, hurry: asyncio.Event) -> None:
        """Start nothing more. What runs may finish for the grace period; who only waits need not."""
        self._is_closed = True
        running = sum(1 for task in self._running if not task.done())
        if running:
            self._log.write(
                "info", "draining", f"{running} readers are running; up to {self._options.grace:g} s for them"
            )
        deadline = time.monotonic() + self._options.grace
        while self._running and time.monotonic() < deadline and not hurry.is_set():
            by_pid = {reader.session.pid: reader for reader in self.readers}
            for pid in (await self._control.one("SELECT ssb_internal.idle_readers(%s)", list(by_pid)))[0]:
                await by_pid[pid].cancel()
            await wait_for(list(self._running), _DRAIN_STEP)
        for reader in self.readers:
            self._log.write(
                "warning",
                "reader_stopped",
                "still running after the grace period: rolled back",
                queue=reader.queue.name,
                program=reader.queue.title,
                pid=reader.session.pid,
            )
            await reader.cancel()
        await wait_for(list(self._running), 2.0)

    async def _run(self, monitor: QueueMonitor) -> None:
        queue = monitor.queue
        task = asyncio.current_task()
        assert task is not None
        outcome: Outcome | None = None
        began = time.monotonic()
        spans = self._options.spans
        activation = spans and Activation(spans, queue.name, queue.database, queue.title)
        try:
            if queue.program is not None:
                outcome = await self._programs.run(
                    queue, self._log, activation.environment if activation else {}
                )
            else:
                outcome = await self._run_procedure(task, monitor, activation)
        except ProgramError as error:
            self._report("error", "not_started", str(error), queue, error_number=error.number)
        except (LostConnection, psycopg.Error, OSError, TimeoutError) as error:
            if not self._control.is_lost():
                self._report("error", "not_started", one_line(error), queue)
        except Exception as error:
            # A defect of ours must not take the other queues along.
            self._report("error", "internal_error", f"{type(error).__name__}: {one_line(error)}", queue)
        finally:
            self._running.pop(task, None)
            if activation:
                failure = outcome.error.message if outcome and outcome.error else None
                activation.end(failure if outcome else "not started")
            if outcome is None:
                self._counts.add("not_started")
            elif outcome.error is not None:
                self._counts.add("readers_failed")
            lasted = time.monotonic() - began if queue.program is not None else 0.0
            if outcome and outcome.error and outcome.error.number in _SHORT_OF:
                lasted = _SHORT_SECONDS
            monitor.reader_ended(Ended(outcome is None or outcome.error is not None, lasted))

    async def _run_procedure(
        self, task: asyncio.Task[None], monitor: QueueMonitor, activation: Activation | None
    ) -> Outcome:
        queue = monitor.queue
        session = await self.sessions.take(queue)
        reader = Reader(queue, session)
        self._running[task] = reader

        def emit(event: Event) -> None:
            level, name, message, number = describe(event)
            self._report(level, name, message, queue, pid=session.pid, error_number=number)

        try:
            if session.registered != queue:
                await self._control.one(
                    "SELECT ssb_internal.reader_began(%s, %s, %s, %s, %s)",
                    queue.queue_id,
                    session.pid,
                    session.backend_start,
                    queue.procedure,
                    queue.role,
                )
                session.registered = queue
            self._counts.add("procedures_started")
            if monitor.woken_at is not None:
                self._counts.observe(time.monotonic() - monitor.woken_at)
                monitor.woken_at = None
            if activation is not None:
                await apply_settings(session.connection, activation.settings)
            outcome = await reader.run(self._number_of, emit)
        except BaseException:
            await session.connection.close()
            raise
        if outcome.queue_dropped:
            self._report("info", "queue_dropped", "the queue was dropped while its program waited", queue)
        if outcome.error is not None and not reader.cancelled:
            # It is no error of the program's that we cancelled it, or that the server goes down.
            gone = outcome.error.sqlstate in SERVER_GONE or session.connection.closed
            self._report(
                "warning" if gone else "error",
                "reader_lost" if gone else "reader_failed",
                describe(outcome.error)[2],
                queue,
                pid=session.pid,
                error_number=outcome.error.number or None,
            )
        await self.sessions.give_back(session)
        if session.connection.closed and not self._control.is_lost():
            await self._control.one("SELECT ssb_internal.reader_ended(%s)", session.pid)
        return outcome

    async def _is_here(self, pid: int, backend_start: str) -> bool:
        answer: bool = (await self._control.one(_IS_HERE, pid, backend_start))[0]
        return answer

    async def _number_of(self, error: psycopg.Error) -> int | None:
        if self._control.is_lost():
            return None
        row = await self._control.one(
            "SELECT ssb_internal.error_number(%s, %s)", error.sqlstate, error.diag.message_primary
        )
        return int(row[0]) if row[0] is not None else None

    def _report(self, level: str, event: str, message: str, queue: ActiveQueue, **further: Any) -> None:
        self._log.write(level, event, message, queue=queue.name, program=queue.title, **further)


async def wait_for(tasks: list[asyncio.Task[None]], seconds: float) -> None:
    """Until one of them has ended, at most so many seconds."""
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)

"""The daemon: one leader for a database, which starts readers until it is told to stop.

Two connections besides those of the readers: the *ear* LISTENs and holds the
advisory lock that makes this daemon the leader; the *hand* does everything else.
When either breaks, everything is given up and begun again: the state is in the
database, and a transaction that was not committed never happened.
"""

import asyncio
import contextlib
import json
import os
import platform
import random
import re
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import psycopg

from .. import __version__
from ..server.results import Event
from .config import BrokerOptions
from .log import BrokerLog, PsycopgLog, Sink, stream_sink
from .monitor import Backoff, Ended, Head, QueueMonitor
from .programs import ProgramRuns
from .readers import (
    ActiveQueue,
    Connection,
    Outcome,
    ProgramError,
    Reader,
    Sessions,
    describe,
    open_connection,
)
from .transport import Transport

# pg_try_advisory_lock's key: any constant that is ours.
LEADER_LOCK = 0x5353_4201
_STANDBY_SECONDS = 0.5
# The server must notice within two seconds that a leader's machine is gone.
_EAR_SETTINGS = {
    "tcp_keepalives_idle": "1",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "1",
    "tcp_user_timeout": "2000",
    "statement_timeout": "0",
    "idle_session_timeout": "0",
}
_HAND_SETTINGS = {
    "statement_timeout": "30000",
    "idle_session_timeout": "0",
    # What it writes is looked up again after a crash, or done again.
    "synchronous_commit": "off",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
}
_LOG_SECONDS = 0.2
_TEND_SECONDS = 1.0
_DRAIN_STEP = 0.1
_TIDY_ROUNDS = 5
_TIDY_TRIES = 40
# What makes a reader's end no error: we cancelled it, or the server goes down.
_SERVER_GONE = ("57P01", "57P02", "57P03")


class LostConnection(Exception):
    """The server cannot be reached, or went away."""


class Broker:
    """One daemon. `run` until `stop`; both on the same event loop."""

    def __init__(self, options: BrokerOptions, sink: Sink | None = None) -> None:
        self.options = options
        self.patience = options.patience
        self.longest_backoff = options.longest_backoff
        self.log = BrokerLog(sink or stream_sink())
        self.leading = asyncio.Event()
        self._stopping = asyncio.Event()
        self._is_hurried = False
        self._monitors: dict[int, QueueMonitor] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._readers: dict[asyncio.Task[None], Reader | None] = {}
        self._programs = ProgramRuns(options)
        self._redefined = asyncio.Event()
        self._transport = Transport(options, self.log, self._call)
        self._hand: Connection | None = None
        self._sessions: Sessions | None = None
        self._room = 0
        self._reported: dict[int, float] = {}
        self._backoff = Backoff(0.1, 5.0)

    def stop(self) -> None:
        """Drain and end: `run` returns within the grace period and a little more, called again without it."""
        self._is_hurried = self._stopping.is_set()
        self._stopping.set()

    async def run(self) -> None:
        """Lead, or stand by until the leader goes; start again after every loss of the server."""
        with PsycopgLog(self.log):
            await self._run()

    async def _run(self) -> None:
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                async with self._leadership() as ear:
                    await self._lead(ear)
            except (LostConnection, OSError, TimeoutError, psycopg.Error) as error:
                if time.monotonic() - began > 30:
                    self._backoff.reset()
                pause = self._backoff.next() * random.uniform(0.75, 1.25)
                # Not only lost connections: a runtime that is being upgraded looks broken, too.
                is_gone = not isinstance(error, psycopg.Error) or error.diag.sqlstate is None
                self.log.write(
                    "warning" if is_gone else "error",
                    "server_lost" if is_gone else "failed",
                    f"{_one_line(error)}; trying again in {pause:.1f} s",
                )
                await _pause(self._stopping, pause)
        self.log.write("info", "stopped", "the daemon has stopped")

    # ------------------------------------------------------------ leadership

    @contextlib.asynccontextmanager
    async def _leadership(self) -> AsyncIterator[Connection]:
        """The ear, holding the leader's lock."""
        ear = await open_connection(self.options.dsn, _EAR_SETTINGS, application_name="pgsb broker")
        try:
            await self._wait_for_promotion(ear)
            is_waiting = False
            while not self._stopping.is_set():
                row = await _one(ear, "SELECT pg_catalog.pg_try_advisory_lock(%s)", LEADER_LOCK)
                if row[0]:
                    break
                if not is_waiting:
                    is_waiting = True
                    await ear.execute("SELECT ssb.broker_began(%s, %s, false)", _introduction())
                    self.log.write("info", "standing_by", "another daemon leads; ready to take over")
                await _pause(self._stopping, _STANDBY_SECONDS)
            yield ear
        finally:
            await ear.close()

    async def _wait_for_promotion(self, ear: Connection) -> None:
        """A standby can neither be written to nor LISTENed to: be there when it becomes the server."""
        is_told = False
        while not self._stopping.is_set() and (await _one(ear, "SELECT pg_catalog.pg_is_in_recovery()"))[0]:
            if not is_told:
                is_told = True
                self.log.write("info", "standing_by", "the server is a standby; waiting for its promotion")
            await _pause(self._stopping, _STANDBY_SECONDS)

    async def _lead(self, ear: Connection) -> None:
        if self._stopping.is_set():
            return
        hand = await open_connection(self.options.dsn, _HAND_SETTINGS, application_name="pgsb broker")
        self._hand = hand
        self._sessions = Sessions(self.options.reader_dsn or self.options.dsn, self.options.parked)
        try:
            await ear.execute("LISTEN ssb_arrival; LISTEN ssb_definition; LISTEN ssb_transport")
            await ear.execute("SELECT ssb.broker_began(%s, %s, true)", _introduction())
            self._room = self.options.max_readers or int(
                0.6 * int((await _one(hand, "SELECT pg_catalog.current_setting('max_connections')"))[0])
            )
            self._redefined.set()
            self._backoff.reset()
            self.log.write("info", "leading", f"this daemon leads ({_introduction()[0]})")
            await self._work(ear)
        finally:
            self.leading.clear()
            self._hand = None
            sessions, self._sessions = self._sessions, None
            await self._abandon()
            with contextlib.suppress(psycopg.Error):
                await sessions.close()
            await hand.close()

    async def _work(self, ear: Connection) -> None:
        """Run everything until told to stop; raise as soon as one part loses the server."""
        parts: list[asyncio.Task[Any]] = [
            asyncio.create_task(part)
            for part in (
                self._listen(ear),
                self._sweep(),
                self._follow_definitions(),
                self._keep_log(),
                self._tend_sessions(),
                self._watch_readers(),
                self._transport.run(),
            )
        ]
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            while not self._stopping.is_set():
                waited: list[asyncio.Task[Any]] = [*parts, stopping, *self._tasks.values()]
                await asyncio.wait(
                    [*parts, stopping, *self._tasks.values()],
                    return_when=asyncio.FIRST_COMPLETED,
                    timeout=1.0,
                )
                for task in waited:
                    if task.done() and not task.cancelled() and (error := task.exception()):
                        raise error
            await self._drain()
            await self._write_log()
        finally:
            for part in [stopping, *parts]:
                part.cancel()
            await asyncio.gather(stopping, *parts, return_exceptions=True)

    async def _abandon(self) -> None:
        """Forget every queue and stop every reader that still runs."""
        tasks = [*self._tasks.values(), *self._readers]
        for reader in self._readers.values():
            if reader is not None:
                reader.cancelled = True
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()
        self._monitors.clear()
        self._readers.clear()

    async def _drain(self) -> None:
        """Let running programs finish for the grace period; those that only wait need not."""
        assert self._hand is not None
        for monitor in self._monitors.values():
            monitor.retire()
        running = sum(1 for task in self._readers if not task.done())
        if running:
            self.log.write(
                "info", "draining", f"{running} readers are running; up to {self.options.grace:g} s for them"
            )
        deadline = time.monotonic() + self.options.grace
        while self._readers and time.monotonic() < deadline and not self._is_hurried:
            await self._cancel_idle()
            await _wait_for(list(self._readers), _DRAIN_STEP)
        for reader in list(self._readers.values()):
            if reader is not None:
                self.log.write(
                    "warning",
                    "reader_stopped",
                    "still running after the grace period: rolled back",
                    queue=reader.queue.name,
                    program=reader.queue.title,
                    pid=reader.session.pid,
                )
                await reader.cancel()
        await _wait_for(list(self._readers), 2.0)
        await _wait_for(list(self._tasks.values()), 5.0)

    async def _cancel_idle(self) -> None:
        readers = {reader.session.pid: reader for reader in self._readers.values() if reader is not None}
        for pid in (await self._call("SELECT ssb.idle_readers(%s)", list(readers)))[0]:
            await readers[pid].cancel()

    # ------------------------------------------------------------ parts

    async def _listen(self, ear: Connection) -> None:
        self.leading.set()
        async for notice in ear.notifies():
            if notice.channel == "ssb_definition":
                self._redefined.set()
            elif notice.channel == "ssb_transport":
                self._transport.wake()
            # Whoever may connect can send one: '²' is a digit too, and int() refuses it.
            elif re.fullmatch("[0-9]{1,10}", notice.payload) and (
                monitor := self._monitors.get(int(notice.payload))
            ):
                monitor.wake()
        raise LostConnection("the server ended the daemon's session")

    async def _sweep(self) -> None:
        """Bring about what is due, and find what a lost NOTIFY hid."""
        failures = 0
        while True:
            began = time.monotonic()
            quiet = [number for number, monitor in self._monitors.items() if monitor.is_quiet]
            try:
                awake, next_due = await self._call("SELECT * FROM ssb.broker_sweep(%s)", quiet)
                failures = 0
            except psycopg.Error as error:
                # A queue may be dropped under our eyes: that does not happen three times.
                failures += 1
                if self.is_lost() or failures == 3:
                    raise
                self.log.write("debug", "sweep_failed", _one_line(error))
                await asyncio.sleep(0.1)
                continue
            for number in awake:
                if monitor := self._monitors.get(number):
                    monitor.wake()
            pause = self.options.sweep
            if next_due is not None:
                pause = min(pause, max(0.005, (next_due - datetime.now(UTC)).total_seconds()))
            # However long it takes, it takes no more than a fifth of the time.
            await asyncio.sleep(max(pause, 4 * (time.monotonic() - began)))

    async def _follow_definitions(self) -> None:
        while True:
            await _pause(self._redefined, 30.0)
            self._redefined.clear()
            assert self._hand is not None
            cursor = await self._hand.execute("SELECT * FROM ssb.broker_queues()")
            queues = {row[0]: ActiveQueue(*row) for row in await cursor.fetchall()}
            gone = {one: self._monitors.pop(one) for one in list(self._monitors) if one not in queues}
            for retired in gone.values():
                retired.retire()
            await self._report_disabled(gone)
            for number, queue in queues.items():
                monitor = self._monitors.get(number)
                if monitor is None:
                    before = self._tasks.get(number)
                    monitor = self._monitors[number] = QueueMonitor(self, queue)
                    self._tasks[number] = asyncio.create_task(_after(before, monitor))
                elif monitor.queue != queue:
                    monitor.redefine(queue)
            for number in [one for one, task in self._tasks.items() if task.done() and not task.exception()]:
                del self._tasks[number]

    async def _report_disabled(self, gone: dict[int, QueueMonitor]) -> None:
        """A queue that poison has stopped is an operator's business."""
        if not gone:
            return
        assert self._hand is not None
        cursor = await self._hand.execute("SELECT * FROM ssb.poisoned_queues(%s)", [list(gone)])
        for (number,) in await cursor.fetchall():
            self.report(
                "error",
                "queue_disabled",
                "poison messages have disabled the queue; ALTER QUEUE ... WITH STATUS = ON opens it again",
                gone[number].queue,
            )

    async def _keep_log(self) -> None:
        while True:
            await asyncio.sleep(_LOG_SECONDS)
            await self._write_log()

    async def _write_log(self) -> None:
        lines = self.log.take()
        if not lines:
            return
        try:
            # json.dumps writes NUL as \u0000, which jsonb refuses.
            await self._call(
                "SELECT ssb.write_broker_log(%s::text::jsonb)",
                json.dumps([asdict(line) for line in lines]).replace("\\u0000", "\\ufffd"),
            )
        except BaseException:
            self.log.put_back(lines)
            raise

    async def _tend_sessions(self) -> None:
        """Connections for the next readers; now and then what somebody must do for all queues."""
        round_ = failures = 0
        while True:
            sessions = self._sessions
            if sessions is None:
                return
            try:
                await sessions.tend()
                failures = 0
            except psycopg.Error as error:
                if self.is_lost():
                    raise
                # Tried again and again, told ever more seldom.
                failures += 1
                if failures & (failures - 1) == 0:
                    self.log.write("error", "no_connection", f"no connection for readers: {_one_line(error)}")
            round_ += 1
            if round_ % _TIDY_ROUNDS == 0:
                try:
                    await self._tidy()
                except psycopg.Error as error:
                    if self.is_lost():
                        raise
                    self.log.write("debug", "tidy_up_failed", _one_line(error))
            await asyncio.sleep(_TEND_SECONDS)

    async def _tidy(self) -> None:
        """The steps of ssb.tidy, one by one: the connection serves others between them."""
        tries = 0
        while tries <= _TIDY_TRIES:
            (step,) = await self._call("SELECT ssb.tidy_up()")
            if step in ("nothing", "truncated"):
                return
            if step == "waiting":
                tries += 1
                await asyncio.sleep(0.01)

    async def _watch_readers(self) -> None:
        """Report programs that never return, or loop without receiving."""
        heads: dict[int, tuple[int | None, float]] = {}
        while True:
            await asyncio.sleep(min(1.0, self.options.slow_reader / 4))
            now = time.monotonic()
            slow = [
                reader
                for reader in self._readers.values()
                if reader is not None and now - reader.started > self.options.slow_reader
            ]
            if not slow:
                continue
            assert self._hand is not None
            cursor = await self._hand.execute(
                "SELECT pid, extract(epoch FROM clock_timestamp() - xact_start)::float8"
                " FROM pg_catalog.pg_stat_activity WHERE pid = ANY (%s) AND backend_xid IS NOT NULL",
                [[reader.session.pid for reader in slow]],
            )
            in_transaction = dict(await cursor.fetchall())
            for number in {reader.queue.queue_id for reader in slow}:
                monitor = self._monitors.get(number)
                head = await self.probe(monitor.queue) if monitor else None
                order = head.order if head else None
                if number not in heads or heads[number][0] != order or order is None:
                    heads[number] = (order, now)
            for reader in slow:
                pid = reader.session.pid
                order, since = heads[reader.queue.queue_id]
                if in_transaction.get(pid, 0) > self.options.slow_reader:
                    message = f"has been in one transaction for {in_transaction[pid]:.0f} s"
                elif order is not None and now - since > self.options.slow_reader:
                    message = (
                        f"runs for {now - reader.started:.0f} s and receives nothing while messages wait"
                    )
                else:
                    self._reported.pop(pid, None)
                    continue
                # Again when it is twice as old as at the last report.
                if now - reader.started >= self._reported.get(pid, 0.0):
                    self._reported[pid] = 2 * (now - reader.started)
                    self.log.write(
                        "warning",
                        "slow_reader",
                        message,
                        queue=reader.queue.name,
                        program=reader.queue.title,
                        pid=pid,
                    )

    # ------------------------------------------------------------ what monitors ask for

    async def probe(self, queue: ActiveQueue) -> Head | None:
        """See `monitor.Host`."""
        assert self._hand is not None
        cursor = await self._hand.execute("SELECT * FROM ssb.broker_probe(%s)", [queue.queue_id])
        row = await cursor.fetchone()
        return Head(*row) if row else None

    async def set_state(self, queue: ActiveQueue, state: str, *, started: bool = False) -> None:
        """See `monitor.Host`."""
        await self._call("SELECT ssb.broker_state(%s, %s, %s)", queue.queue_id, state, started)

    async def forget(self, queue: ActiveQueue) -> None:
        """See `monitor.Host`."""
        await self._call("SELECT ssb.broker_forget(%s)", queue.queue_id)

    async def fire(self, queue: ActiveQueue) -> None:
        """See `monitor.Host`."""
        await self._call("SELECT ssb.fire_queue_activation(%s)", queue.queue_id)
        self.report("info", "queue_activation", "QUEUE_ACTIVATION sent", queue)

    def report(self, level: str, event: str, message: str, queue: ActiveQueue) -> None:
        """See `monitor.Host`."""
        self.log.write(level, event, message, queue=queue.name, program=queue.title)

    def is_lost(self) -> bool:
        """See `monitor.Host`."""
        return self._hand is None or self._hand.closed

    def start_reader(self, monitor: QueueMonitor) -> bool:
        """See `monitor.Host`."""
        if len(self._readers) >= self._room or self._stopping.is_set():
            return False
        task = asyncio.create_task(self._run_reader(monitor))
        self._readers[task] = None
        return True

    async def _run_reader(self, monitor: QueueMonitor) -> None:
        queue = monitor.queue
        task = asyncio.current_task()
        assert task is not None
        outcome: Outcome | None = None
        try:
            if queue.program is not None:
                outcome = await self._programs.run(queue, self.log)
            else:
                outcome = await self._run_procedure(task, queue)
        except ProgramError as error:
            self.log.write(
                "error",
                "not_started",
                str(error),
                queue=queue.name,
                program=queue.title,
                error_number=error.number,
            )
        except (psycopg.Error, OSError, TimeoutError) as error:
            if not self.is_lost():
                self.log.write(
                    "error", "not_started", _one_line(error), queue=queue.name, program=queue.title
                )
        except Exception as error:
            # A defect of ours must not take the other queues along.
            self.log.write(
                "error",
                "internal_error",
                f"{type(error).__name__}: {_one_line(error)}",
                queue=queue.name,
                program=queue.title,
            )
        finally:
            self._readers.pop(task, None)
            monitor.reader_ended(Ended(failed=outcome is None or outcome.error is not None))

    async def _run_procedure(self, task: asyncio.Task[None], queue: ActiveQueue) -> Outcome:
        sessions = self._sessions
        assert sessions is not None
        session = await sessions.take(queue)
        reader = Reader(queue, session)
        self._readers[task] = reader

        def emit(event: Event) -> None:
            level, name, message, number = describe(event)
            self.log.write(
                level,
                name,
                message,
                queue=queue.name,
                program=queue.procedure,
                pid=session.pid,
                error_number=number,
            )

        try:
            if session.registered != queue:
                await self._call(
                    "SELECT ssb.reader_began(%s, %s, %s, %s, %s)",
                    queue.queue_id,
                    session.pid,
                    session.backend_start,
                    queue.procedure,
                    queue.role,
                )
                session.registered = queue
            outcome = await reader.run(self._number_of, emit)
        except BaseException:
            await session.connection.close()
            raise
        self._reported.pop(session.pid, None)
        if outcome.error is not None and not reader.cancelled:
            gone = outcome.error.sqlstate in _SERVER_GONE or session.connection.closed
            self.log.write(
                "warning" if gone else "error",
                "reader_lost" if gone else "reader_failed",
                outcome.error.message,
                queue=queue.name,
                program=queue.procedure,
                pid=session.pid,
                error_number=outcome.error.number or None,
            )
        await sessions.give_back(session)
        if session.connection.closed and not self.is_lost():
            await self._call("SELECT ssb.reader_ended(%s)", session.pid)
        return outcome

    async def _number_of(self, error: psycopg.Error) -> int | None:
        if self.is_lost():
            return None
        row = await self._call("SELECT ssb.error_number(%s, %s)", error.sqlstate, error.diag.message_primary)
        return int(row[0]) if row[0] is not None else None

    async def _call(self, query: str, *parameters: Any) -> Any:
        if self._hand is None:
            raise LostConnection("the daemon has no connection")
        return await _one(self._hand, query, *parameters)

    # ------------------------------------------------------------ for those who wait

    async def is_settled(self) -> bool:
        """Nothing waits in an activated queue, and no program is at work."""
        if not self.leading.is_set() or self._redefined.is_set() or self.is_lost():
            return False
        pids = [reader.session.pid for reader in self._readers.values() if reader is not None]
        if len(pids) < len(self._readers):
            return False
        idle = (await self._call("SELECT ssb.idle_readers(%s)", pids))[0]
        if len(idle) < len(pids):
            return False
        # A message that is set aside, or of which only a notification tells, waits for people.
        activated = [number for number, monitor in self._monitors.items() if monitor.queue.title]
        awake, _ = await self._call("SELECT * FROM ssb.broker_sweep(%s)", activated)
        for number in awake:
            if (monitor := self._monitors.get(number)) and await self.probe(monitor.queue):
                return False
        return await self._transport.is_settled()


def _introduction() -> list[Any]:
    return [f"{platform.node()} [{os.getpid()}]", __version__]


async def _one(connection: Connection, query: str, *parameters: Any) -> Any:
    cursor = await connection.execute(query, list(parameters) or None)
    return await cursor.fetchone()


async def _pause(event: asyncio.Event, seconds: float) -> None:
    """Until the event, at most so many seconds."""
    # Not asyncio.wait_for: in Python 3.11 it may swallow a cancellation.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def _wait_for(tasks: list[asyncio.Task[None]], seconds: float) -> None:
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)


async def _after(before: asyncio.Task[None] | None, monitor: QueueMonitor) -> None:
    """A queue whose activation was off and on again: the old monitor goes first."""
    if before is not None:
        await asyncio.wait([before])
    await monitor.run()


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__

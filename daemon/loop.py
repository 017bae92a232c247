"""The daemon: leads for a database and starts readers until it is told to stop.

Three connections besides those of the readers and the transport: the one that makes this daemon the
leader, the listener, which hears what comes by NOTIFY (both in leader.py), and the control connection,
which does everything else (control.py). When one breaks, everything is given up and begun
again: the state is in the database, and a transaction that was not committed never
happened.
"""

import asyncio
import contextlib
import json
import random
import time
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from ..server.problems import SERVER_GONE
from .config import BrokerOptions
from .control import SETTINGS, Control, is_passing, one_line
from .counts import Counts
from .leader import Candidate, Leadership, introduction, pause
from .log import BrokerLog, PsycopgLog, Sink, stream_sink
from .monitor import Backoff
from .program_checks import tell_missing
from .readers import Connection, LostConnection, dsn_reached, open_connection
from .runs import Runs
from .spans import recorded
from .supervisor import Supervisor
from .transport_choice import AnyTransport, make_transport
from .watchdog import Watchdog

_LOG_SECONDS = 0.2
_SPAN_SECONDS = 1.0
_LONGEST_PAUSE = 5.0
# A term that was shorter says nothing against growing pauses.
_GOOD_TERM_SECONDS = 5.0
_TEND_SECONDS = 1.0
_TIDY_ROUNDS = 5
_TIDY_TRIES = 40
_CHANNELS = ("ssb_arrival", "ssb_definition", "ssb_transport")


@dataclass
class _Term:
    """What one leadership works with."""

    leadership: Leadership
    listener: Connection
    control: Control
    runs: Runs
    supervisor: Supervisor
    transport: AnyTransport
    watchdog: Watchdog


class Broker:
    """One daemon. `run` until `stop`; both on the same event loop."""

    def __init__(self, options: BrokerOptions, sink: Sink | None = None) -> None:
        self.options = options
        self.log = BrokerLog(sink or stream_sink())
        self.leading = asyncio.Event()
        self.counts = Counts()
        self._stopping = asyncio.Event()
        self._sampling = asyncio.Lock()
        self._hurry = asyncio.Event()
        self._candidate = Candidate(options, self.log, self._stopping, self.counts)
        self._term: _Term | None = None
        self._backoff = Backoff(0.1, _LONGEST_PAUSE)
        self._is_read_only = False
        self._told_stopped = False

    def stop(self) -> None:
        """Drain and end: `run` returns within the grace period and a little more, called again without it."""
        if self._stopping.is_set():
            self._hurry.set()
        self._stopping.set()

    async def run(self) -> None:
        """Lead, or stand by until the leader goes; start again after every loss of the server."""
        beside = [
            asyncio.create_task(self._beat()),
            asyncio.create_task(tell_missing(self.options.programs.values(), self.log)),
        ]
        try:
            with PsycopgLog(self.log):
                await self._run()
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    async def _beat(self) -> None:
        """A sign of life of this process, for those who ask from another thread."""
        while True:
            self.counts.beat_at = time.monotonic()
            await asyncio.sleep(1.0)

    async def _run(self) -> None:
        candidate = self._candidate
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                async with candidate.leadership() as leadership:
                    if not self._stopping.is_set():
                        await self._lead(leadership)
            except (LostConnection, OSError, TimeoutError, psycopg.Error) as error:
                if time.monotonic() - began > 30:
                    self._recover()
                self.counts.state = "lost"
                wait = self._backoff.next() * random.uniform(0.75, 1.25)
                self._tell_loss(error, wait)
                await pause(self._stopping, wait)
        self._tell_stopped()

    def _tell_stopped(self) -> None:
        if not self._told_stopped:
            self._told_stopped = True
            self.log.write("info", "stopped", "the daemon has stopped")

    def _recover(self) -> None:
        """All was well for a while: the next loss is one of its own."""
        self._backoff.reset()
        self.log.tell_anew("server_lost", "failed")

    def _tell_loss(self, error: Exception, wait: float) -> None:
        if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
            # As services make a database whose disk is full. Every try ends so: the first one is told.
            if not self._is_read_only:
                self.log.write(
                    "warning",
                    "read_only",
                    "the database takes no changes (default_transaction_read_only); waiting until it does",
                )
            self._is_read_only = True
            return
        told = one_line(error)
        if isinstance(error, psycopg.errors.InvalidSchemaName):
            # Dropped and made anew, as for a restore that has not come to its end.
            told = f"there is no runtime in the database: {error.diag.message_primary}"
        # Not only lost connections: a runtime that is being upgraded looks broken, too.
        is_gone = not isinstance(error, psycopg.Error) or error.diag.sqlstate in (None, *SERVER_GONE)
        self.log.write(
            "warning" if is_gone else "error",
            "server_lost" if is_gone else "failed",
            f"{told}; trying again in {wait:.1f} s",
            # A server that is away for a night would fill the log, and ssb.broker_log when it is back.
            gist=told,
        )

    async def _lead(self, leadership: Leadership) -> None:
        # First of all: what the leader before has left ends here.
        await leadership.session.execute("SELECT ssb_internal.broker_began(%s, %s, true)", introduction())
        # Of several servers in the DSN, all that this leader does is at the one where it leads.
        options = replace(self.options, dsn=dsn_reached(self.options.dsn, leadership.session))
        async with leadership.listener(options.dsn, *_CHANNELS) as listener:
            await self._lead_listening(options, leadership, listener)

    async def _lead_listening(
        self, options: BrokerOptions, leadership: Leadership, listener: Connection
    ) -> None:
        connection = await open_connection(options.dsn, SETTINGS, application_name="pgsb broker")
        control = Control(connection)
        term: _Term | None = None
        try:
            await leadership.join(connection)
            term = self._term = await self._begin_term(options, leadership, listener, control)
            self._is_read_only = False
            self.log.write("info", "leading", f"this daemon leads ({introduction()[0]})")
            began = time.monotonic()
            try:
                await self._work(term)
            finally:
                if time.monotonic() - began > _GOOD_TERM_SECONDS:
                    self._recover()
        finally:
            self.leading.clear()
            self.counts.state = "lost"
            self._term = None
            if term is not None:
                await term.supervisor.abandon()
                with contextlib.suppress(psycopg.Error):
                    await term.runs.sessions.close()
            await control.close()

    async def _begin_term(
        self, options: BrokerOptions, leadership: Leadership, listener: Connection, control: Control
    ) -> _Term:
        room = options.max_readers or int(
            0.6 * int((await control.one("SELECT pg_catalog.current_setting('max_connections')"))[0])
        )
        runs = Runs(options, self.log, control, leadership, self.counts, room)
        supervisor = Supervisor(options, self.log, control, runs)

        return _Term(
            leadership,
            listener,
            control,
            runs,
            supervisor,
            make_transport(options, self.log, control.one, leadership.join, self.counts),
            Watchdog(options, self.log, control, runs, supervisor),
        )

    async def _work(self, term: _Term) -> None:
        """Run everything until told to stop; raise as soon as one part loses the server."""
        parts: list[asyncio.Task[Any]] = [
            asyncio.create_task(part)
            for part in (
                self._listen(term),
                term.leadership.keep(),
                term.supervisor.sweep(),
                term.supervisor.follow_definitions(),
                self._keep_log(term.control),
                self._tend_sessions(term),
                term.watchdog.watch(),
                self._sample(term.control),
                self._tell_spans(term.control),
                term.transport.run(),
            )
        ]
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            while not self._stopping.is_set():
                waited: list[asyncio.Task[Any]] = [*parts, stopping, *term.supervisor.tasks.values()]
                await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED, timeout=1.0)
                for task in waited:
                    if task.done() and not task.cancelled() and (error := task.exception()):
                        raise error
            await term.supervisor.drain(self._hurry)
            # While there is a connection: nobody else tells ssb.broker_log since when no daemon leads.
            self._tell_stopped()
            await self._write_log(term.control)
            # What was counted since the last sample stays, also where a daemon runs for seconds only.
            await self._take_sample(term.control)
            if self.options.spans is not None:
                await self._take_spans(term.control)
        finally:
            for part in [stopping, *parts]:
                part.cancel()
            await asyncio.gather(stopping, *parts, return_exceptions=True)

    async def _listen(self, term: _Term) -> None:
        def heard(notice: psycopg.Notify) -> None:
            if notice.channel == "ssb_definition":
                term.supervisor.redefine()
            elif notice.channel == "ssb_transport":
                term.transport.wake(notice.payload)
            else:
                term.supervisor.wake(notice.payload)

        self.leading.set()
        self.counts.state = "leading"
        async for notice in term.listener.notifies():
            heard(notice)

    async def _keep_log(self, control: Control) -> None:
        backoff = Backoff(_LOG_SECONDS, _LONGEST_PAUSE)
        while True:
            if await self._write_log(control):
                backoff.reset()
                await asyncio.sleep(_LOG_SECONDS)
            else:
                await asyncio.sleep(backoff.next())

    async def _write_log(self, control: Control) -> bool:
        """False where the table takes no lines for now: they are kept."""
        try:
            await control.write_log(self.log)
        except psycopg.Error as error:
            if control.is_lost() or not is_passing(error):
                raise
            self.log.write("error", "log_failed", f"ssb.broker_log takes no lines: {one_line(error)}")
            return False
        return True

    async def _tend_sessions(self, term: _Term) -> None:
        """Connections for the next readers; now and then what somebody must do for all queues."""
        round_ = failures = 0
        while True:
            try:
                await term.runs.sessions.tend()
                failures = 0
            except psycopg.Error as error:
                if term.control.is_lost():
                    raise
                # Tried again and again, told ever more seldom.
                failures += 1
                if failures & (failures - 1) == 0:
                    self.log.write("error", "no_connection", f"no connection for readers: {one_line(error)}")
            round_ += 1
            if round_ % _TIDY_ROUNDS == 0:
                try:
                    await self._tidy(term.control)
                except psycopg.Error as error:
                    if term.control.is_lost():
                        raise
                    self.log.write("debug", "tidy_up_failed", one_line(error))
            await asyncio.sleep(_TEND_SECONDS)

    async def _sample(self, control: Control) -> None:
        while True:
            began = time.monotonic()
            await self._take_sample(control)
            # However many queues there are, looking takes no more than a hundredth of the time.
            await asyncio.sleep(max(self.options.sample, 100 * (time.monotonic() - began)))

    async def _take_sample(self, control: Control) -> None:
        """Note the state of all queues, for rates and history, and what was counted here."""
        # Two at once would write the same counts twice.
        async with self._sampling:
            news = self.counts.news()
            try:
                await control.one("SELECT ssb_internal.sample_queues(%s::jsonb)", json.dumps(news))
                self.counts.written(news)
            except psycopg.Error as error:
                if control.is_lost():
                    raise
                self.log.write("debug", "sample_failed", one_line(error))

    async def _tell_spans(self, control: Control) -> None:
        """What SQL has recorded of SEND and RECEIVE."""
        while self.options.spans is not None:
            if not await self._take_spans(control):
                await asyncio.sleep(_SPAN_SECONDS)
        await asyncio.Event().wait()

    async def _take_spans(self, control: Control) -> bool:
        """False when there were none."""
        assert self.options.spans is not None
        try:
            (rows,) = await control.one(
                "SELECT coalesce(jsonb_agg(to_jsonb(s)), '[]') FROM ssb_internal.take_spans() AS s"
            )
        except psycopg.Error as error:
            if control.is_lost() or not is_passing(error):
                raise
            self.log.write("debug", "spans_failed", one_line(error))
            return False
        for row in rows:
            self.options.spans(recorded(row))
        return bool(rows)

    async def _tidy(self, control: Control) -> None:
        """The steps of ssb.tidy, one by one: the connection serves others between them."""
        tries = 0
        while tries <= _TIDY_TRIES:
            (step,) = await control.one("SELECT ssb.tidy_up()")
            if step in ("nothing", "truncated"):
                return
            if step == "waiting":
                tries += 1
                await asyncio.sleep(0.01)

    async def is_settled(self) -> bool:
        """Nothing waits in an activated queue or to be sent away, and no program is at work.

        Of the daemon that leads, where this one stands by.
        """
        term = self._term
        if term is None:
            with contextlib.suppress(psycopg.Error):
                return await self._candidate.leader_is_settled()
            return False
        if not self.leading.is_set() or term.control.is_lost():
            return False
        return await term.supervisor.is_settled() and await term.transport.is_settled()

"""One daemon leads for a database; others stand by.

Who leads holds an advisory lock in a session of its own. A
process that dies loses its session and so the lock. One that hangs (stopped,
swapped out, cut off from the server behind something that answers in its place)
keeps both. So the leader counts up a sequence, the heartbeat:

- The leader starts nothing unless its last heartbeat was answered within the lease.
- Who stands by asks for the lock, and looks at the heartbeat as often. If it stays
  the same for much longer than the lease, the session with the leader's lock is ended.
- Whoever gets the lock first ends every session that the leader before has left:
  its listener, control and transport sessions, which hold a lock of their own (the fence), and
  its readers. Only then does it lead. A leader that wakes up finds them ended and stands by.
- It LISTENs in another session, the listener. Anybody may NOTIFY on any channel, and where a flood of that
  comes, nothing that is asked in the session that hears it is answered before: no heartbeat either.

The time that counts is each process's own; the clocks of machines are not compared.
"""

import asyncio
import contextlib
import os
import platform
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql

from .. import __version__
from .config import BrokerOptions
from .control import one_row
from .counts import Counts
from .log import BrokerLog
from .readers import UNLIMITED, Connection, LostConnection, open_connection

_STANDBY_SECONDS = 0.5
# As the leader judges itself (Supervisor.is_settled, Transport.is_settled); which instances it cannot reach
# it alone knows.
_LEADER_IS_SETTLED = """
SELECT NOT EXISTS (SELECT FROM ssb_internal.broker_queues() AS q
                    CROSS JOIN LATERAL ssb_internal.broker_probe(q.queue_id)
                    WHERE q.procedure_name IS NOT NULL OR q.program IS NOT NULL)
   AND NOT EXISTS (SELECT FROM ssb_internal.running_tasks() AS t
                    WHERE t.pid <> ALL (ssb_internal.idle_readers(ARRAY[t.pid])))
   AND NOT EXISTS (SELECT FROM ssb.sealed_set) AND NOT EXISTS (SELECT FROM ssb.forwarded_set)
   AND NOT EXISTS (SELECT FROM ssb.transmission AS t
                     JOIN ssb.remote_conversation AS r ON r.endpoint_id = t.endpoint_id
                    WHERE t.peer_id IS NOT NULL AND r.retry_at IS NULL)
"""
# The server must notice within two seconds that a leader's machine is gone.
_LEADER_SETTINGS = {
    **UNLIMITED,
    "tcp_keepalives_idle": "1",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "1",
    "tcp_user_timeout": "2000",
    "statement_timeout": "0",
    "idle_session_timeout": "0",
}
# In heartbeats: the leader stops starting things well before another one takes its place.
_LEASE = 3
_HUNG_AFTER = 6


def now() -> float:
    """Seconds that go on while the machine sleeps, where the system has such a clock."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def introduction() -> list[Any]:
    """Machine and process, and version: what ssb.broker_daemons shows."""
    return [f"{platform.node()} [{os.getpid()}]", __version__]


@dataclass
class Leadership:
    """The session with the leader's lock, and until when it may act."""

    session: Connection
    pid: int
    """The server process of that session; a pooler tells clients other numbers."""
    heartbeat: float
    _beaten_at: float = field(default_factory=now)

    @property
    def is_valid(self) -> bool:
        """False when another daemon may be about to take over: start nothing."""
        return now() - self._beaten_at < _LEASE * self.heartbeat

    async def join(self, connection: Connection) -> None:
        """Make the session one of this leader's, which its successor ends. Raises LostConnection."""
        if not (await one_row(connection, "SELECT ssb_internal.broker_joined(%s)", self.pid))[0]:
            raise LostConnection("another daemon leads now")

    async def beat(self) -> None:
        """Count the heartbeat up. Raises psycopg.Error, LostConnection."""
        sent = now()
        try:
            async with asyncio.timeout(_HUNG_AFTER * self.heartbeat):
                await self.session.execute("SELECT pg_catalog.nextval('ssb.broker_heartbeat')")
        except TimeoutError:
            raise LostConnection("the server does not answer") from None
        # When it was sent: what came between does not make the lease longer.
        self._beaten_at = sent

    async def keep(self) -> None:
        """Count the heartbeat up until the session ends."""
        while True:
            await self.beat()
            # It LISTENs to nothing: this waits, and fails as soon as the session is gone.
            async for _ in self.session.notifies(timeout=self.heartbeat):
                pass

    @contextlib.asynccontextmanager
    async def listener(self, dsn: str, *channels: str) -> AsyncIterator[Connection]:
        """A session of this leader's that LISTENs. Raises psycopg.Error, LostConnection."""
        connection = await open_connection(dsn, _LEADER_SETTINGS, application_name="pgsb broker")
        try:
            await self.join(connection)
            for channel in channels:
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            yield connection
        finally:
            await _hang_up(connection)


async def _hang_up(connection: Connection) -> None:
    """Not politely: a server that does not answer would keep us here."""
    with contextlib.suppress(psycopg.Error, TimeoutError):
        async with asyncio.timeout(2):
            await connection.close()


class Candidate:
    """A daemon that wants to lead."""

    def __init__(
        self, options: BrokerOptions, log: BrokerLog, stopping: asyncio.Event, counts: Counts
    ) -> None:
        self._options = options
        self._counts = counts
        self._log = log
        self._stopping = stopping
        self._waiting: Connection | None = None

    async def leader_is_settled(self) -> bool:
        """While this one stands by: nothing waits for the leader, and none of its programs is at work.

        False when it does not stand by. Raises psycopg.Error.
        """
        if self._waiting is None:
            return False
        answer: bool = (await one_row(self._waiting, _LEADER_IS_SETTLED))[0]
        return answer

    @contextlib.asynccontextmanager
    async def leadership(self) -> AsyncIterator[Leadership]:
        """Wait until this daemon leads, or is to stop. Raises psycopg.Error, LostConnection."""
        session = await open_connection(self._options.dsn, _LEADER_SETTINGS, application_name="pgsb broker")
        try:
            await self._wait_for_promotion(session)
            await self._wait_for_lock(session)
            (pid,) = await one_row(session, "SELECT pg_catalog.pg_backend_pid()")
            yield Leadership(session, pid, self._options.heartbeat)
        finally:
            self._waiting = None
            await _hang_up(session)

    async def _wait_for_promotion(self, session: Connection) -> None:
        """A standby can neither be written to nor LISTENed to: be there when it becomes the server."""
        is_told = False
        while (
            not self._stopping.is_set()
            and (await one_row(session, "SELECT pg_catalog.pg_is_in_recovery()"))[0]
        ):
            if not is_told:
                is_told = True
                self._counts.state = "standing_by"
                self._log.write("info", "standing_by", "the server is a standby; waiting for its promotion")
            await pause(self._stopping, _STANDBY_SECONDS)

    async def _wait_for_lock(self, session: Connection) -> None:
        is_told = False
        watch = HeartbeatWatch(_HUNG_AFTER * self._options.heartbeat)
        while not self._stopping.is_set():
            (leads, heartbeat) = await one_row(session, "SELECT * FROM ssb_internal.broker_try_to_lead()")
            if leads:
                self._waiting = None
                return
            if not is_told:
                is_told = True
                await session.execute("SELECT ssb_internal.broker_began(%s, %s, false)", introduction())
                self._counts.state = "standing_by"
                self._log.write("info", "standing_by", "another daemon leads; ready to take over")
                self._waiting = session
            if watch.is_hung(heartbeat, now()):
                await self._end_hung_leader(session)
                watch = HeartbeatWatch(_HUNG_AFTER * self._options.heartbeat)
            await pause(self._stopping, min(_STANDBY_SECONDS, self._options.heartbeat))

    async def _end_hung_leader(self, session: Connection) -> None:
        try:
            (host,) = await one_row(session, "SELECT ssb_internal.broker_end_leader()")
        except psycopg.errors.InsufficientPrivilege as error:
            self._log.write("error", "leader_hangs", f"cannot end its session: {error.diag.message_primary}")
            return
        if host is not None:
            self._log.write(
                "warning",
                "leader_hangs",
                f"{host} leads and has been silent for {_HUNG_AFTER * self._options.heartbeat:g} s: "
                "its session is ended",
            )


class HeartbeatWatch:
    """Tells a leader that hangs from a server, or a standby, that did."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._heartbeat: int | None = None
        self._since = self._looked_at = 0.0

    def is_hung(self, heartbeat: int | None, at: float) -> bool:
        """True when it has been the same for too long, without a gap in looking."""
        # After a gap nobody knows who was silent: the server, this process, or the leader.
        if heartbeat != self._heartbeat or at - self._looked_at > self._seconds / 2:
            self._heartbeat, self._since = heartbeat, at
        self._looked_at = at
        return at - self._since > self._seconds


async def pause(event: asyncio.Event, seconds: float) -> None:
    """Until the event, at most so many seconds."""
    # Not asyncio.wait_for: in Python 3.11 it may swallow a cancellation.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()

"""Connections with limits, and answers that all who look share."""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from ...server.connect import FORM_SETTINGS, UNENDED, Target
from ..hung_servers import given_up

Row = dict[str, Any]
_Pool = AsyncConnectionPool[psycopg.AsyncConnection[Row]]
_CONNECTIONS = 4


class Busy(Exception):
    """No connection came free, or the database did not answer in time; the text is for the reader."""


@dataclass
class _Remembered:
    value: list[Row] = field(default_factory=list)
    at: float = float("-inf")
    took: tuple[float, float] = (0.0, 0.0)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def cost(self) -> float:
        """Seconds that a look takes: of the last two the quicker, as a session's first one plans."""
        return min(self.took)


class Instance:
    """One PostgreSQL database. Reads are read-only transactions that a timeout ends."""

    def __init__(self, name: str, target: Target, timeout: float) -> None:
        self.name = name
        self.target = target
        self.resubmitted: dict[str, list[str]] = {}
        """By user: the groups of the last resubmit, for its undo."""
        self._timeout = timeout
        self._remembered: dict[str, _Remembered] = {}
        self._background: set[asyncio.Task[list[Row]]] = set()
        self._pool = self._sessions(_CONNECTIONS)
        self._looks: dict[str, _Pool] = {}
        """A session for each answer that is remembered: it has read the catalog rows of all queues."""

    def _sessions(self, most: int) -> _Pool:
        return AsyncConnectionPool(
            make_conninfo(self.target.dsn, connect_timeout=5),
            min_size=0,
            max_size=most,
            max_idle=60,
            timeout=self._timeout,
            open=False,
            configure=self._configure,
            kwargs={
                "autocommit": True,
                "prepare_threshold": None,
                "fallback_application_name": "pgsb dashboard",
                "row_factory": dict_row,
            },
        )

    async def open(self) -> None:
        """Be ready; nothing is connected before the first question."""
        await self._pool.open(wait=False)

    async def close(self) -> None:
        """Give all connections back."""
        await asyncio.gather(*(pool.close(timeout=2) for pool in (self._pool, *self._looks.values())))

    async def _configure(self, connection: psycopg.AsyncConnection[Row]) -> None:
        await connection.execute(
            f"SET statement_timeout = {int(self._timeout * 1000)};"
            f" SET jit = off; SET TimeZone = 'UTC'; {FORM_SETTINGS}; {UNENDED}"
        )

    @asynccontextmanager
    async def connection(self, pool: _Pool | None = None) -> Any:
        """A connection that may write. Raises Busy."""
        try:
            async with (pool or self._pool).connection() as connection:
                # The server's own timeout comes first, unless it hangs.
                with given_up(connection, 2 * self._timeout):
                    yield connection
        except psycopg.errors.QueryCanceled as error:
            raise Busy(f"The database took longer than {self._timeout:g} s for this.") from error
        except psycopg.OperationalError as error:
            # PoolTimeout is one: nobody could connect, or all connections are at work.
            raise Busy(f"The database cannot be reached: {' '.join(str(error).split())}") from error

    async def rows(self, query: str, *parameters: Any, pool: _Pool | None = None) -> list[Row]:
        """Ask, in a transaction that can change nothing. Raises Busy, psycopg.Error."""
        async with self.connection(pool) as connection, connection.transaction():
            await connection.execute("SET TRANSACTION READ ONLY")
            cursor = await connection.execute(query, list(parameters) or None)
            return cast(list[Row], await cursor.fetchall())

    async def change(self, query: str, *parameters: Any) -> Any:
        """Do it; the first column of the first row. Raises Busy, psycopg.Error."""
        async with self.connection() as connection:
            cursor = await connection.execute(query, list(parameters) or None)
            row = await cursor.fetchone() if cursor.description is not None else None
        # What was looked at before is out of date.
        self._remembered.clear()
        return next(iter(row.values())) if row else None

    def in_background(self, asked: Coroutine[Any, Any, list[Row]]) -> asyncio.Task[list[Row]]:
        """A question that is answered also when nobody waits for it any more."""
        task = asyncio.create_task(asked)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        # An error that nobody waited for comes again with the next question.
        task.add_done_callback(lambda one: one.cancelled() or one.exception())
        return task

    async def remembered(
        self, name: str, seconds: float, query: str, *parameters: Any, pauses: float = 50.0
    ) -> list[Row]:
        """The answer, asked anew at most every so many seconds, and after so many times what it took.

        Raises Busy, psycopg.Error.
        """
        one = self._remembered.setdefault(name, _Remembered())
        async with one.lock:
            if time.monotonic() - one.at > max(seconds, pauses * one.cost):
                if name not in self._looks:
                    self._looks[name] = self._sessions(1)
                    await self._looks[name].open(wait=False)
                began = time.monotonic()
                one.value = await self.rows(query, *parameters, pool=self._looks[name])
                one.at = time.monotonic()
                one.took = (one.took[1], one.at - began)
            return one.value

    def load(self) -> float:
        """Seconds that a look at all queues takes."""
        return self._remembered["queues"].cost if "queues" in self._remembered else 0.0

"""Reports programs that never return, or run on without receiving."""

import asyncio
import time

from .config import BrokerOptions
from .control import Control
from .log import BrokerLog
from .readers import Reader
from .runs import Runs
from .supervisor import Supervisor


class Watchdog:
    """Looks at the readers of one leader now and then."""

    def __init__(
        self, options: BrokerOptions, log: BrokerLog, control: Control, runs: Runs, supervisor: Supervisor
    ) -> None:
        self._slow = options.slow_reader
        self._log = log
        self._control = control
        self._runs = runs
        self._supervisor = supervisor
        # By reader: the age at which it is reported next. By queue: the first message, and since when.
        self._report_at: dict[int, float] = {}
        self._heads: dict[int, tuple[int | None, float]] = {}

    async def watch(self) -> None:
        """For ever. Raises psycopg.Error."""
        while True:
            await asyncio.sleep(min(1.0, self._slow / 4))
            running = {id(reader) for reader in self._runs.readers}
            self._report_at = {one: age for one, age in self._report_at.items() if one in running}
            now = time.monotonic()
            slow = [reader for reader in self._runs.readers if now - reader.started > self._slow]
            if slow:
                await self._look_at(slow, now)

    async def _look_at(self, slow: list[Reader], now: float) -> None:
        rows = await self._control.rows(
            "SELECT pid, extract(epoch FROM clock_timestamp() - xact_start)::float8"
            " FROM pg_catalog.pg_stat_activity WHERE pid = ANY (%s) AND backend_xid IS NOT NULL",
            [reader.session.pid for reader in slow],
        )
        in_transaction: dict[int, float] = dict(rows)
        for number in {reader.queue.queue_id for reader in slow}:
            await self._note_head(number, now)
        for reader in slow:
            age = now - reader.started
            order, since = self._heads[reader.queue.queue_id]
            if (seconds := in_transaction.get(reader.session.pid, 0)) > self._slow:
                message = f"has been in one transaction for {seconds:.0f} s"
            elif order is not None and now - since > self._slow:
                message = f"runs for {age:.0f} s and receives nothing while messages wait"
            else:
                self._report_at.pop(id(reader), None)
                continue
            # Again when it is twice as old as at the last report.
            if age >= self._report_at.get(id(reader), 0.0):
                self._report_at[id(reader)] = 2 * age
                self._log.write(
                    "warning",
                    "slow_reader",
                    message,
                    queue=reader.queue.name,
                    program=reader.queue.title,
                    pid=reader.session.pid,
                )

    async def _note_head(self, number: int, now: float) -> None:
        monitor = self._supervisor.monitors.get(number)
        head = await self._supervisor.probe(monitor.queue) if monitor else None
        order = head.order if head else None
        if order is None or self._heads.get(number, (None, 0.0))[0] != order:
            self._heads[number] = (order, now)

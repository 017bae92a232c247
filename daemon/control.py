"""The control connection: what the daemon asks and tells, one statement at a time."""

import json
from dataclasses import asdict
from typing import Any

import psycopg

from .log import BrokerLog
from .readers import UNLIMITED, Connection

SETTINGS = {
    **UNLIMITED,
    "statement_timeout": "30000",
    "idle_session_timeout": "0",
    # What it writes is looked up again after a crash, or done again.
    "synchronous_commit": "off",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
}


class Control:
    """Statements on one connection. All raise psycopg.Error."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def is_lost(self) -> bool:
        """True when the connection is gone: nothing can be done before the next one."""
        return self._connection.closed

    async def one(self, query: str, *parameters: Any) -> Any:
        """The first row."""
        return await one_row(self._connection, query, *parameters)

    async def rows(self, query: str, *parameters: Any) -> list[Any]:
        """All rows."""
        cursor = await self._connection.execute(query, list(parameters) or None)
        return await cursor.fetchall()

    async def write_log(self, log: BrokerLog) -> None:
        """Append the log's new lines to ssb.broker_log; they are kept for the next time if that fails."""
        lines = log.take()
        if not lines:
            return
        try:
            told = [asdict(line) | {"age": line.age()} for line in lines]
            # json.dumps writes NUL as \u0000, which jsonb refuses.
            await self.one(
                "SELECT ssb_internal.write_broker_log(%s::text::jsonb)",
                json.dumps(told).replace("\\u0000", "\\ufffd"),
            )
        except BaseException:
            log.put_back(lines)
            raise

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()


def is_passing(error: psycopg.Error) -> bool:
    """Whether it may work later: disk or memory is short, a limit or another session was in the way."""
    state = error.sqlstate or ""
    return state[:2] in ("40", "53") or state in ("55P03", "57014")


async def one_row(connection: Connection, query: str, *parameters: Any) -> Any:
    """The first row of a statement. Raises psycopg.Error."""
    cursor = await connection.execute(query, list(parameters) or None)
    return await cursor.fetchone()


def one_line(error: BaseException) -> str:
    """The error's text on one line; its type where it has none."""
    return " ".join(str(error).split()) or type(error).__name__

"""A connection that speaks Service Broker, for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any
from uuid import UUID

import psycopg
import psycopg.sql
from psycopg.rows import tuple_row

from ..server.connect import (
    CHECK_INTERVAL,
    IN_ENGLISH,
    ISOLATION,
    LANGUAGE_SETTINGS,
    plain_scheme,
    trace_settings,
)
from .errors import BrokerError
from .messages import DEFAULT, Message
from .session import COLUMNS, ENCODING, numbered
from .values import (
    MOST_BIGINT,
    Body,
    bytes_of,
    end_of,
    handle_of,
    interval_of,
    number_of,
    of_one_group,
    seconds_of,
    text_of,
)


async def connect_async(dsn: str = "", *, database: str | None = None) -> AsyncSession:
    """Open a session for asyncio; arguments and errors are those of `connect`."""
    connection = await psycopg.AsyncConnection.connect(
        plain_scheme(dsn),
        autocommit=True,
        client_encoding="utf8",
        fallback_application_name="pgsb client",
    )
    try:
        cursor = await connection.execute("SELECT pg_catalog.pg_backend_pid()")
        is_own = await cursor.fetchone() == (connection.info.backend_pid,)
        await connection.execute(
            (f"{LANGUAGE_SETTINGS}; {ISOLATION}; {IN_ENGLISH}" if is_own else LANGUAGE_SETTINGS).encode()
        )
        if settings := trace_settings():
            await connection.execute(settings.encode())
        # Servers on some platforms cannot look.
        with contextlib.suppress(psycopg.errors.InvalidParameterValue):
            await connection.execute(CHECK_INTERVAL)
        if not is_own:
            # A pooler may give each transaction another session, which has not seen what was prepared.
            connection.prepare_threshold = None
        session = AsyncSession(connection)
        if database:
            await session.use(database)
    except BaseException:
        await connection.close()
        raise
    return session


class AsyncSession:
    """As `Session`, on a psycopg.AsyncConnection, ``sql``, which is the application's as well.

    One call at a time: a session is for one task. A wait that is cancelled is cancelled on the server. What
    receives outside of a transaction is not: messages that it has are returned, as nobody else gets them
    any more, and the next call that receives or waits obeys.
    """

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self.sql = connection
        self._encoding: str | None = None
        self._disobeyed: asyncio.Task[Any] | None = None

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        await self.sql.close()

    async def use(self, database: str) -> None:
        """Make this the current T-SQL database. Raises BrokerError 911 for an unknown one."""
        await self._call("SELECT ssb.use_database(%s)", database)

    async def become(self, role: str) -> None:
        """SET ROLE: act as this role from now on. Raises psycopg.Error without the right to."""
        await self.sql.execute(psycopg.sql.SQL("SET ROLE {}").format(psycopg.sql.Identifier(role)))

    def transaction(self) -> AbstractAsyncContextManager[Any]:
        """One transaction: committed at the end of ``async with``, rolled back by an exception."""
        return self.sql.transaction()

    @contextlib.asynccontextmanager
    async def pipeline(self) -> AsyncIterator[None]:
        """psycopg's pipeline; see `Session.pipeline`."""
        with numbered():
            async with self.sql.pipeline():
                yield

    async def begin_dialog(
        self,
        from_service: str,
        to_service: str,
        contract: str = DEFAULT,
        *,
        broker_instance: str | None = None,
        related_to: UUID | None = None,
        group: UUID | None = None,
        lifetime: int | None = None,
        encryption: bool = True,
    ) -> UUID:
        """Begin a dialog and return the handle of its initiator's side; see `Session.begin_dialog`."""
        row = await self._row(
            "SELECT ssb.begin_dialog(%s, %s, %s, %s, %s, %s, %s, %s)",
            text_of("from_service", from_service),
            text_of("to_service", to_service),
            text_of("contract", contract),
            text_of("broker_instance", broker_instance),
            *of_one_group(related_to, group),
            number_of("lifetime", lifetime),
            bool(encryption),
        )
        handle: UUID = row[0]
        return handle

    async def send(self, conversation: UUID, message_type: str = DEFAULT, body: Body = None) -> None:
        """Send one message; text goes as nvarchar, None for types without a body. Raises BrokerError."""
        handle, type_ = handle_of(conversation), text_of("message_type", message_type)
        if body is None:
            await self._call("SELECT ssb.send(%s, %s)", handle, type_)
        else:
            data = await self._bytes_of(body)
            await self._call("SELECT ssb.send(%s, %s, %b::bytea)", handle, type_, data)

    async def send_new(
        self,
        from_service: str,
        to_service: str,
        contract: str = DEFAULT,
        message_type: str = DEFAULT,
        body: str | bytes | bytearray | memoryview = b"",
    ) -> UUID:
        """Begin a dialog and send its first message in one statement; see `Session.send_new`."""
        row = await self._row(
            "SELECT ssb.send_new(%s, %s, %s, %s, %b::bytea)",
            text_of("from_service", from_service),
            text_of("to_service", to_service),
            text_of("contract", contract),
            text_of("message_type", message_type),
            await self._bytes_of(body),
        )
        handle: UUID = row[0]
        return handle

    async def receive(
        self,
        queue: str,
        count: int | None = None,
        *,
        wait: float | None = None,
        conversation: UUID | None = None,
        group: UUID | None = None,
    ) -> list[Message]:
        """Receive messages of one conversation group; see `Session.receive`."""
        deadline = time.monotonic() + seconds_of("wait", wait)
        while True:
            received = await self._messages(
                "ssb.receive(%s, %s, %s, %s)",
                text_of("queue", queue),
                number_of("count", count, MOST_BIGINT),
                handle_of(conversation),
                handle_of(group),
            )
            left = deadline - time.monotonic()
            if received or left <= 0:
                return received
            await self.wait(queue, left, conversation=conversation, group=group)

    async def wait(
        self, queue: str, seconds: float, *, conversation: UUID | None = None, group: UUID | None = None
    ) -> None:
        """Until a message may be there or the time is over; promises nothing. Raises BrokerError."""
        self._obey()
        is_idle = self.sql.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        try:
            await self._call(
                "CALL ssb.wait_for_message(%s,"
                " pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => %s), %s, %s, %s)",
                text_of("queue", queue),
                interval_of(seconds_of("seconds", seconds)),
                handle_of(conversation),
                handle_of(group),
                is_idle,
            )
        except psycopg.errors.QueryCanceled:
            # psycopg has cancelled the wait on the server for a task that was cancelled.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError from None
            raise

    async def reply(self, message: Message, message_type: str = DEFAULT, body: Body = None) -> None:
        """Send on the conversation of a received message. Raises BrokerError."""
        await self.send(message.conversation, message_type, body)

    async def end(
        self,
        conversation: UUID | Message,
        *,
        error: int | None = None,
        description: str | None = None,
        cleanup: bool = False,
    ) -> None:
        """End this side; see `Session.end`."""
        await self._call(
            "SELECT ssb.end_conversation(%s, %s, %s, %s)", *end_of(conversation, error, description, cleanup)
        )

    async def receive_and_end(
        self, queue: str, count: int | None = None, *, groups: int = 1
    ) -> list[Message]:
        """Receive and end the conversations, in one statement; see `Session.receive_and_end`."""
        return await self._messages(
            "ssb.receive_and_end(%s, %s, %s)",
            text_of("queue", queue),
            number_of("count", count, MOST_BIGINT),
            number_of("groups", groups),
        )

    async def end_finished(self, queue: str, count: int = 1000, *, errors: bool = False) -> int:
        """End conversations whose far sides have ended; see `Session.end_finished`."""
        row = await self._row(
            "SELECT ssb.end_finished(%s, %s, %s)",
            text_of("queue", queue),
            number_of("count", count, MOST_BIGINT),
            bool(errors),
        )
        ended: int = row[0]
        return ended

    async def set_trace(self, traceparent: str | None, tracestate: str | None = None) -> None:
        """What is sent from now on carries this W3C trace context; what is received continues its own.

        None: no longer. Raises psycopg.Error for what is no traceparent.
        """
        await self._call("SELECT ssb.set_trace_context(%s, %s)", traceparent, tracestate)

    async def set_timer(self, conversation: UUID, seconds: int) -> None:
        """After so many seconds a DialogTimer message comes to this side's own queue. Raises BrokerError."""
        await self._call(
            "SELECT ssb.begin_conversation_timer(%s, %s)",
            handle_of(conversation),
            number_of("seconds", seconds),
        )

    async def _messages(self, function: str, *parameters: Any) -> list[Message]:
        self._obey()
        if not self._commits_by_itself():
            return await self._received(function, *parameters)
        # asyncio.wait_for, asyncio.timeout and Task.cancel come at any moment: also when the server has
        # committed that the messages are gone.
        receiving = asyncio.ensure_future(self._received(function, *parameters))
        try:
            return await asyncio.shield(receiving)
        except asyncio.CancelledError:
            try:
                received = await receiving
            except (psycopg.Error, BrokerError):
                received = []
            if not received:
                raise
            self._disobeyed = asyncio.current_task()
            return received

    async def _received(self, function: str, *parameters: Any) -> list[Message]:
        with numbered():
            query = f"SELECT {COLUMNS} FROM {function}"
            cursor = await self._cursor().execute(query, parameters, binary=True)
            return [Message(*row) for row in await cursor.fetchall()]

    def _commits_by_itself(self) -> bool:
        return (
            self.sql.autocommit
            and self.sql.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
            and self.sql.pgconn.pipeline_status == psycopg.pq.PipelineStatus.OFF
        )

    def _obey(self) -> None:
        """Raise the CancelledError that `_messages` has kept back, unless it was a timeout that is over."""
        task, self._disobeyed = self._disobeyed, None
        if task is not None and task is asyncio.current_task() and task.cancelling():
            raise asyncio.CancelledError

    async def _bytes_of(self, body: str | bytes | bytearray | memoryview) -> bytes | bytearray | memoryview:
        if isinstance(body, str) and self._encoding is None:
            self._encoding = (await self._row(ENCODING))[0]
        return bytes_of(body, self._encoding)

    # What answers nothing is not waited for in a pipeline.
    async def _call(self, query: str, *parameters: Any) -> None:
        with numbered():
            await self._cursor().execute(query, parameters)

    async def _row(self, query: str, *parameters: Any) -> Any:
        with numbered():
            cursor = await self._cursor().execute(query, parameters)
            return await cursor.fetchone()

    def _cursor(self) -> psycopg.AsyncCursor[tuple[Any, ...]]:
        return psycopg.AsyncCursor(self.sql, row_factory=tuple_row)

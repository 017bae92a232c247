"""A connection that speaks Service Broker."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any
from uuid import UUID

import psycopg
import psycopg.sql
from psycopg.rows import tuple_row

from ..server.connect import is_direct, plain_scheme, prepare_session
from .errors import BrokerError
from .messages import DEFAULT, Message
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

COLUMNS = (
    "conversation_handle, conversation_group_id, message_type_name, message_body, service_name,"
    " service_contract_name, message_sequence_number, queuing_order, priority, validation::pg_catalog.text,"
    " message_enqueue_time, ssb.nvarchar_encoding()"
)
ENCODING = "SELECT ssb.nvarchar_encoding()"


def connect(dsn: str = "", *, database: str | None = None) -> "Session":
    """Open a session. ``dsn`` as psycopg or SQLAlchemy takes it, empty: from the PG* variables.

    ``database`` is the T-SQL database, None: the default one. Raises psycopg.OperationalError.
    """
    # utf8: in SQL_ASCII, PGCLIENTENCODING's or the role's, psycopg would give names as bytes.
    connection = psycopg.connect(
        plain_scheme(dsn),
        autocommit=True,
        client_encoding="utf8",
        fallback_application_name="pgsb client",
    )
    try:
        is_own = is_direct(connection)
        prepare_session(connection, is_own=is_own)
        if not is_own:
            # A pooler may give each transaction another session, which has not seen what was prepared.
            connection.prepare_threshold = None
        session = Session(connection)
        if database:
            session.use(database)
    except BaseException:
        connection.close()
        raise
    return session


class Session:
    """Dialogs and messages on one psycopg connection, ``sql``, which is the application's as well.

    Outside `transaction` each call commits by itself. Inside, messages and everything
    done through ``sql`` commit or roll back together, and the lock of a received
    message's conversation group is held to the end.
    """

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.sql = connection
        self._encoding: str | None = None

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        self.sql.close()

    def use(self, database: str) -> None:
        """Make this the current T-SQL database. Raises BrokerError 911 for an unknown one."""
        self._call("SELECT ssb.use_database(%s)", database)

    def become(self, role: str) -> None:
        """SET ROLE: act as this role from now on. Raises psycopg.Error without the right to."""
        self.sql.execute(psycopg.sql.SQL("SET ROLE {}").format(psycopg.sql.Identifier(role)))

    def transaction(self) -> AbstractContextManager[Any]:
        """One transaction: committed at the end of ``with``, rolled back by an exception."""
        return self.sql.transaction()

    @contextmanager
    def pipeline(self) -> Iterator[None]:
        """psycopg's pipeline: calls that return nothing (send, reply, end, …) do not wait for the server.

        An error comes with a later call that returns something, or at the end of ``with``: BrokerError there
        too. Without `transaction` around it the calls may commit together, or one by one.
        """
        with numbered(), self.sql.pipeline():
            yield

    def begin_dialog(
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
        """Begin a dialog and return the handle of its initiator's side.

        ``related_to`` is a conversation, ``group`` a conversation group, with which it
        shares its lock; ``lifetime`` is in seconds. Without ``encryption`` it may leave this
        instance in the clear: docs/security.md. Raises BrokerError.
        """
        row = self._row(
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

    def send(self, conversation: UUID, message_type: str = DEFAULT, body: Body = None) -> None:
        """Send one message; text goes as nvarchar, None for types without a body. Raises BrokerError."""
        handle, type_ = handle_of(conversation), text_of("message_type", message_type)
        if body is None:
            self._call("SELECT ssb.send(%s, %s)", handle, type_)
        else:
            data = self._bytes_of(body)
            self._call("SELECT ssb.send(%s, %s, %b::bytea)", handle, type_, data)

    def send_new(
        self,
        from_service: str,
        to_service: str,
        contract: str = DEFAULT,
        message_type: str = DEFAULT,
        body: str | bytes | bytearray | memoryview = b"",
    ) -> UUID:
        """Begin a dialog and send its first message in one statement; returns the dialog's handle.

        Raises BrokerError; then there is no dialog either.
        """
        row = self._row(
            "SELECT ssb.send_new(%s, %s, %s, %s, %b::bytea)",
            text_of("from_service", from_service),
            text_of("to_service", to_service),
            text_of("contract", contract),
            text_of("message_type", message_type),
            self._bytes_of(body),
        )
        handle: UUID = row[0]
        return handle

    def receive(
        self,
        queue: str,
        count: int | None = None,
        *,
        wait: float | None = None,
        conversation: UUID | None = None,
        group: UUID | None = None,
    ) -> list[Message]:
        """Receive messages of one conversation group: all that are there, or at most ``count``.

        ``queue`` is 'schema.name'. ``wait``: up to so many seconds until one comes, `math.inf`
        without end; 0 or None do not wait. ``conversation`` or ``group`` restricts the choice. Raises
        BrokerError: 9617 for a queue that is off.
        """
        deadline = time.monotonic() + seconds_of("wait", wait)
        while True:
            received = self._receive(queue, count, conversation, group)
            left = deadline - time.monotonic()
            if received or left <= 0:
                return received
            # What it saw may be another reader's by the time we ask for it.
            self.wait(queue, left, conversation=conversation, group=group)

    def wait(
        self, queue: str, seconds: float, *, conversation: UUID | None = None, group: UUID | None = None
    ) -> None:
        """Until a message may be there or the time is over; promises nothing. Raises BrokerError."""
        # Between transactions waiting holds back no VACUUM.
        is_idle = self.sql.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        self._call(
            "CALL ssb.wait_for_message(%s,"
            " pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => %s), %s, %s, %s)",
            text_of("queue", queue),
            interval_of(seconds_of("seconds", seconds)),
            handle_of(conversation),
            handle_of(group),
            is_idle,
        )

    def reply(self, message: Message, message_type: str = DEFAULT, body: Body = None) -> None:
        """Send on the conversation of a received message. Raises BrokerError."""
        self.send(message.conversation, message_type, body)

    def end(
        self,
        conversation: UUID | Message,
        *,
        error: int | None = None,
        description: str | None = None,
        cleanup: bool = False,
    ) -> None:
        """End this side. With ``error`` (above 0) the far side gets an Error message.

        ``cleanup`` removes this side without telling the other, so it goes with no ``error``:
        ValueError. Raises BrokerError.
        """
        self._call(
            "SELECT ssb.end_conversation(%s, %s, %s, %s)", *end_of(conversation, error, description, cleanup)
        )

    def receive_and_end(self, queue: str, count: int | None = None, *, groups: int = 1) -> list[Message]:
        """Receive from up to ``groups`` conversation groups and end their conversations, in one statement.

        At most ``count`` messages of each group. A conversation of which messages are left is
        not ended: the call that receives its last one ends it. Raises BrokerError.
        """
        with numbered():
            rows = (
                self._cursor()
                .execute(
                    f"SELECT {COLUMNS} FROM ssb.receive_and_end(%s, %s, %s)",
                    [
                        text_of("queue", queue),
                        number_of("count", count, MOST_BIGINT),
                        number_of("groups", groups),
                    ],
                    binary=True,
                )
                .fetchall()
            )
        return [Message(*row) for row in rows]

    def end_finished(self, queue: str, count: int = 1000, *, errors: bool = False) -> int:
        """End up to ``count`` conversations whose far sides have ended, as a set; returns how many.

        Those whose far side sent an Error only with ``errors``. Raises BrokerError.
        """
        ended: int = self._row(
            "SELECT ssb.end_finished(%s, %s, %s)",
            text_of("queue", queue),
            number_of("count", count, MOST_BIGINT),
            bool(errors),
        )[0]
        return ended

    def set_trace(self, traceparent: str | None, tracestate: str | None = None) -> None:
        """What is sent from now on carries this W3C trace context; what is received continues its own.

        None: no longer. Raises psycopg.Error for what is no traceparent.
        """
        self._call("SELECT ssb.set_trace_context(%s, %s)", traceparent, tracestate)

    def set_timer(self, conversation: UUID, seconds: int) -> None:
        """After so many seconds a DialogTimer message comes to this side's own queue. Raises BrokerError."""
        self._call(
            "SELECT ssb.begin_conversation_timer(%s, %s)",
            handle_of(conversation),
            number_of("seconds", seconds),
        )

    # In binary: a body as text is twice as long, and takes four times as long to come.
    def _receive(
        self, queue: str, count: int | None, conversation: UUID | None, group: UUID | None
    ) -> list[Message]:
        with numbered():
            rows = (
                self._cursor()
                .execute(
                    f"SELECT {COLUMNS} FROM ssb.receive(%s, %s, %s, %s)",
                    [
                        text_of("queue", queue),
                        number_of("count", count, MOST_BIGINT),
                        handle_of(conversation),
                        handle_of(group),
                    ],
                    binary=True,
                )
                .fetchall()
            )
        return [Message(*row) for row in rows]

    def _bytes_of(self, body: str | bytes | bytearray | memoryview) -> bytes | bytearray | memoryview:
        if isinstance(body, str) and self._encoding is None:
            self._encoding = self._row(ENCODING)[0]
        return bytes_of(body, self._encoding)

    # What answers nothing is not waited for in a pipeline.
    def _call(self, query: str, *parameters: Any) -> None:
        with numbered():
            self._cursor().execute(query, parameters)

    def _row(self, query: str, *parameters: Any) -> Any:
        with numbered():
            return self._cursor().execute(query, parameters).fetchone()

    def _cursor(self) -> psycopg.Cursor[tuple[Any, ...]]:
        # The application may want its own rows as dictionaries.
        return psycopg.Cursor(self.sql, row_factory=tuple_row)


@contextmanager
def numbered() -> Iterator[None]:
    """Turn errors with one of the broker's SQLSTATEs into BrokerError."""
    try:
        yield
    except psycopg.Error as error:
        state = error.sqlstate or ""
        if state[:1] in ("S", "T") and error.diag.message_primary is not None:
            raise BrokerError.of(error) from error
        if isinstance(error, psycopg.errors.InvalidSchemaName) and '"ssb' in str(error):
            error.add_note("This database has no Service Broker yet: pgsb install --dsn ...")
        raise

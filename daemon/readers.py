"""Connections of readers, and one run of a service program.

A service program is CALLed outside any transaction block, so that its COMMIT and
ROLLBACK are real, on a connection of its own, as the principal that EXECUTE AS
names. After a run the connection is cleaned and parked for the next one: starting
a program is then one CALL, not a login.
"""

import asyncio
import contextlib
import errno
import os
import select
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from ..server.connect import FORMS, IN_ENGLISH, ISOLATION, LANGUAGE_SETTINGS, OUTPUT_SETTINGS
from ..server.results import ErrorEvent, Event, NoticeReader, Print, Rows, error_of, number_of_sqlstate
from ..server.translate import Translator

Connection = psycopg.AsyncConnection[Any]

# The server looks once a second whether its client is still there: a daemon that
# was killed leaves no program running.
_READER_SETTINGS = {"client_connection_check_interval": "1000"}
# What a role's limits are for, its programs, is none of the daemon's own sessions.
UNLIMITED = {"lock_timeout": "0", "idle_in_transaction_session_timeout": "0", "transaction_timeout": "0"}
# Some platforms' servers cannot look whether their clients are there; transaction_timeout came with 17.
_NOT_EVERYWHERE = ("client_connection_check_interval", "transaction_timeout")
# Everything that a program may leave behind in its session. RESET ALL comes before
# the settings that the next run needs, ours among them.
_CLEAN = (
    "RESET SESSION AUTHORIZATION; RESET ALL; CLOSE ALL; UNLISTEN *;"
    " SELECT pg_catalog.pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES"
)
_PARKED_SECONDS = 60.0
# A session that has run a program has its plans: to start on a new one takes eight times the server's
# processor time. So the last few wait longer, at 5 MB each.
_WARM = 4
_WARM_SECONDS = 3600.0
# undefined_function, invalid_schema_name: with no context it is our CALL that failed.
_NO_SUCH_PROCEDURE = ("42883", "3F000")
# A program may drop its own procedure, as those of query notifications do: all is done and committed
# then, but PostgreSQL looks the procedure up once more when it returns.
_HAS_DROPPED_ITSELF = "cache lookup failed for function "
# What ssb_internal.end_program_without_queue raises.
_WITHOUT_QUEUE = ("57014", "The queue of this program was dropped while it waited.")
_RETURNS = "while casting return value to function's return type"
# What EXEC of the procedure would say: it is missing, or has parameters that nobody gives (201).
# The second name is the one that is told: as the script wrote it.
_WHY_NOT = """
SELECT (found.error).number, (found.error).severity, (found.error).state,
       (found.error).procedure, (found.error).line, (found.error).message
  FROM ssb_internal.write_trampoline(
           %(procedure)s, '{}',
           coalesce((SELECT pg_catalog.regexp_replace(q.activation_procedure, '\\[(\\w+)\\]', '\\1', 'g')
                       FROM sys.service_queues AS q WHERE q.object_id = %(queue)s), %(procedure)s),
           1, false) AS found
 WHERE found.name IS NULL
"""


@dataclass(frozen=True)
class ActiveQueue:
    """A queue that wants readers, or an event: a row of ssb_internal.broker_queues()."""

    queue_id: int
    name: str
    database: str | None
    procedure: str | None
    program: str | None
    principal: str
    role: str | None
    max_readers: int
    has_notification: bool

    @property
    def title(self) -> str | None:
        """The procedure's or the program's name."""
        return self.procedure or self.program


@dataclass
class Session:
    """A reader's connection, set up for one role and T-SQL database."""

    connection: Connection
    pid: int
    backend_start: str
    key: tuple[str | None, str | None] | None = None
    emit: Callable[[Event], None] = lambda event: None
    registered: ActiveQueue | None = None
    """The queue for which ssb.activated_task shows it."""
    parked_at: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """How a run ended. ``error`` is None for a program that returned, or lost its queue while it waited."""

    error: ErrorEvent | None = None
    queue_dropped: bool = False


class LostConnection(Exception):
    """The server cannot be reached, or went away, or another daemon leads."""


class ProgramError(Exception):
    """A program cannot be started, for a reason that SQL Server numbers."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


def no_such_principal(
    queue: ActiveQueue, reason: str = "here it is the PostgreSQL role of that name: CREATE ROLE makes it"
) -> ProgramError:
    """EXECUTE AS names somebody who is no PostgreSQL role, or whom the readers' login may not become."""
    return ProgramError(
        15517,
        f'Cannot execute as the database principal because the principal "{queue.principal}" does '
        "not exist, this type of principal cannot be impersonated, or you do not have permission. "
        f"({reason})",
    )


async def open_connection(dsn: str, settings: dict[str, str], **parameters: Any) -> Connection:
    """An autocommit connection whose statements go one by one in the simple protocol.

    TCP keepalives let both ends notice a dead peer within seconds. ``parameters`` are libpq's,
    used unless the DSN has them.
    """
    parameters = {
        "connect_timeout": 10,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "client_encoding": "utf8",
        **parameters,
    }
    known = conninfo_to_dict(dsn)
    try:
        connection = await psycopg.AsyncConnection.connect(
            make_conninfo(dsn, **{name: value for name, value in parameters.items() if name not in known}),
            autocommit=True,
            prepare_threshold=None,
        )
    except psycopg.OperationalError as error:
        if full := _no_more_files():
            raise psycopg.OperationalError(full) from error
        raise
    try:
        own = {"default_transaction_isolation": "read committed"}
        await apply_settings(connection, {**FORMS, **own, **settings})
    except BaseException:
        await connection.close()
        raise
    return connection


def _no_more_files() -> str | None:
    """Why no socket can be opened: libpq says no word of it."""
    try:
        os.close(os.dup(2))
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            return f"{error.strerror}: raise their limit (ulimit -n, LimitNOFILE), or lower --max-readers"
    return None


def dsn_reached(dsn: str, connection: Connection) -> str:
    """The DSN for that one of its hosts which the connection, made by it, has reached."""
    known = conninfo_to_dict(dsn)
    hosts = (
        known.get("host") or os.environ.get("PGHOST"),
        known.get("hostaddr"),
        os.environ.get("PGHOSTADDR"),
    )
    # Programs get it too: what names one host stays as it was written, as a URI or in words.
    if not any("," in str(one) for one in hosts):
        return dsn
    info = connection.info
    # The name stays: passwords are found by it, and the server's certificate is checked against it.
    place = {"host": info.host, "hostaddr": info.hostaddr, "port": str(info.port)}
    return make_conninfo(dsn, **{name: value for name, value in place.items() if value})


async def apply_settings(connection: Connection, settings: dict[str, str]) -> None:
    """SET them. Not by the DSN's ``options``: PgBouncer, also pooling sessions, lets nobody in with those."""
    for name, value in settings.items():
        try:
            await connection.execute(sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(value)))
        except (psycopg.errors.InvalidParameterValue, psycopg.errors.UndefinedObject):
            if name not in _NOT_EVERYWHERE:
                raise


class Sessions:
    """Opens, parks and closes readers' connections."""

    def __init__(
        self, dsn: str, parked: int, is_here: Callable[[int, str], Awaitable[bool]] | None = None
    ) -> None:
        """``is_here`` tells whether the leader's server has the session of this process and start."""
        self._dsn = dsn
        self._is_here = is_here
        self._limit = parked
        self._parked: list[Session] = []
        self._spare: Session | None = None
        self._translator: Translator | None = None
        self._translating = threading.Lock()

    async def take(self, queue: ActiveQueue) -> Session:
        """A session that is ready for the queue's program.

        Raises ProgramError, psycopg.Error, LostConnection where it would be on another server.
        """
        if queue.role is None:
            raise no_such_principal(queue)
        key = (queue.role, queue.database)
        # Best the one that served this queue before: nothing is left to do for it.
        fitting = [one for one in self._parked if one.key == key]
        for session in sorted(fitting, key=lambda one: one.registered != queue):
            self._parked.remove(session)
            if _is_alive(session.connection):
                return session
            await session.connection.close()
        spare, self._spare = self._spare, None
        session = spare if spare is not None and _is_alive(spare.connection) else await self._open()
        try:
            await _prepare(session, queue.role, queue.database)
        except psycopg.errors.InsufficientPrivilege as error:
            login = session.connection.info.user
            await session.connection.close()
            raise no_such_principal(
                queue, f"{error.diag.message_primary}: GRANT {queue.role} TO {login}"
            ) from error
        except BaseException:
            await session.connection.close()
            raise
        return session

    async def give_back(self, session: Session) -> None:
        """Clean the session and park it; close it where it is not worth keeping."""
        session.emit = lambda event: None
        connection = session.connection
        try:
            if len(self._parked) < self._limit and not connection.closed and session.key is not None:
                if connection.info.transaction_status != TransactionStatus.IDLE:
                    await connection.rollback()
                role, database = session.key
                await connection.execute(_CLEAN)
                await apply_settings(connection, _READER_SETTINGS)
                await _prepare(session, role, database)
                session.parked_at = time.monotonic()
                self._parked.append(session)
                return
        except psycopg.Error:
            # Whatever it is, the next run gets a new session.
            pass
        await connection.close()

    async def tend(self) -> None:
        """Have one connection ready; close those not wanted for a minute, the last four for an hour."""
        now = time.monotonic()
        by_age = sorted(self._parked, key=lambda one: -one.parked_at)
        kept = [
            one
            for place, one in enumerate(by_age)
            if now - one.parked_at <= (_WARM_SECONDS if place < _WARM else _PARKED_SECONDS)
        ]
        # At once: while one is being closed others may be taken.
        closing, self._parked = by_age[len(kept) :], kept
        for session in closing:
            await session.connection.close()
        if self._spare is None:
            self._spare = await self._open()

    async def close(self) -> None:
        """Close every connection that no reader uses."""
        spare, self._spare = self._spare, None
        for session in [*self._parked, *([spare] if spare else [])]:
            await session.connection.close()
        self._parked.clear()
        if self._translator is not None:
            # In a thread: it may be answering still.
            await asyncio.to_thread(self._translator.close)

    async def _open(self) -> Session:
        connection = await open_connection(self._dsn, _READER_SETTINGS, application_name="pgsb reader")
        try:
            row = await (
                await connection.execute(
                    "SELECT pid, backend_start::text FROM pg_catalog.pg_stat_activity"
                    " WHERE pid = pg_catalog.pg_backend_pid()"
                )
            ).fetchone()
            assert row is not None
            # An address may have moved to another server since, as where a standby was promoted and the old
            # server still serves who is connected: its copy of the queue is not this leader's.
            if self._is_here is not None and not await self._is_here(row[0], row[1]):
                raise LostConnection(
                    "connections for readers arrive at another server or database than the leader's"
                )
        except BaseException:
            await connection.close()
            raise
        session = Session(connection, row[0], row[1])
        loop = asyncio.get_running_loop()
        # In a thread: the event loop has other readers to serve.
        connection.add_notice_handler(
            NoticeReader(
                lambda event: session.emit(event),
                translate=lambda text: loop.run_in_executor(None, self._translate, text),
            )
        )
        return session

    def _translate(self, text: str) -> None:
        """Answer a program that runs dynamic SQL of which only the run time knows the text."""
        # Where there is no connection for it, the program's own ends too, or it stops waiting.
        with contextlib.suppress(psycopg.OperationalError), self._translating:
            if self._translator is None:
                self._translator = Translator(self._dsn)
            self._translator(text)


async def _prepare(session: Session, role: str | None, database: str | None) -> None:
    assert role is not None
    await session.connection.execute(
        sql.SQL(
            f"{OUTPUT_SETTINGS}; {LANGUAGE_SETTINGS}; {ISOLATION}; {IN_ENGLISH};"
            " SET pgsb.translator = 'on';"
            " SELECT ssb.use_database({database}); SET ROLE {role}"
        ).format(database=sql.Literal(database), role=sql.Identifier(role))
    )
    session.key = (role, database)


def _is_alive(connection: Connection) -> bool:
    """False when the server has closed it, as far as this end can see."""
    if connection.closed:
        return False
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)


@dataclass
class Reader:
    """One run of a queue's procedure."""

    queue: ActiveQueue
    session: Session
    started: float = field(default_factory=time.monotonic)
    error: ErrorEvent | None = None
    cancelled: bool = False

    async def run(self, number_of: Callable[[psycopg.Error], Any], emit: Callable[[Event], None]) -> Outcome:
        """CALL the procedure; ``emit`` gets its PRINTs, errors and result sets.

        ``number_of`` is awaited for the SQL Server number of a PostgreSQL error.
        """
        self.session.emit = emit
        assert self.queue.procedure is not None
        try:
            await self.session.connection.execute(f"CALL {self.queue.procedure}()".encode())
        except psycopg.Error as error:
            if error.sqlstate in _NO_SUCH_PROCEDURE and error.diag.context is None:
                return Outcome(await self._why_not(error))
            if _has_dropped_itself(error):
                return Outcome()
            if (error.sqlstate, error.diag.message_primary) == _WITHOUT_QUEUE:
                return Outcome(queue_dropped=True)
            number = None
            if number_of_sqlstate(error.sqlstate) is None and error.diag.message_primary is not None:
                number = await number_of(error)
            event = error_of(error)
            return Outcome(replace(event, number=number) if number else event)
        return Outcome()

    async def _why_not(self, error: psycopg.Error) -> ErrorEvent:
        """Return the error of a procedure that cannot be called without arguments."""
        procedure = self.queue.procedure
        with contextlib.suppress(psycopg.Error):
            names = {"procedure": procedure, "queue": self.queue.queue_id}
            row = await (await self.session.connection.execute(_WHY_NOT, names)).fetchone()
            if row is not None:
                return ErrorEvent(*row)
        # It was made just now.
        return error_of(error)

    async def cancel(self) -> None:
        """Stop the running statement."""
        self.cancelled = True
        with contextlib.suppress(psycopg.Error, asyncio.TimeoutError):
            await self.session.connection.cancel_safe(timeout=2)


def _has_dropped_itself(error: psycopg.Error) -> bool:
    context = error.diag.context or ""
    return str(error).startswith(_HAS_DROPPED_ITSELF) and context.endswith(_RETURNS) and "\n" not in context


def describe(event: Event) -> tuple[str, str, str, int | None]:
    """Level, event name, text and error number with which something a program said is logged."""
    if isinstance(event, Print):
        return "info", "print", event.text, None
    if isinstance(event, ErrorEvent):
        place = f" ({event.procedure}, line {event.line})" if event.procedure else ""
        return "error", "error", event.message + place, event.number
    if isinstance(event, Rows):
        shown = [
            ["NULL" if cell is None else str(getattr(cell, "digits", cell)) for cell in row]
            for row in event.rows[:20]
        ]
        head = ", ".join(name or "(No column name)" for name in event.columns or ())
        return "info", "result_set", f"{head}: {'; '.join(', '.join(row) for row in shown)}", None
    return "debug", "row_count", f"({event.count} rows affected)", None

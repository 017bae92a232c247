"""Runs compiled batches on a connection and reports what they produce, as it happens."""

import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum, auto
from types import FrameType
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from ..compiler.check.error_levels import level_of
from ..compiler.compiled import CompiledBatch, CompiledStatement, ends_batch
from ..grammar.problems import Problem
from .results import (
    CANCELED,
    SCRIPT_ENDED,
    Cell,
    ErrorEvent,
    Event,
    NoticeReader,
    Print,
    RowCount,
    RowReader,
    Rows,
    error_of,
    number_of_sqlstate,
)
from .spelling import as_written, told_script, with_script

if TYPE_CHECKING:
    from .open_transaction import OpenTransaction

# Rows that are handed on together, and the seconds after which fewer are.
_PIECE, _PATIENCE = 1000, 0.1
_COUNTED = {"INSERT", "UPDATE", "DELETE", "MERGE"}
_TERMINATED = _COUNTED | {"CREATE INDEX", "ALTER TABLE"}
_ENDED_BY_TRIGGER = frozenset({3609, 3616})
# What only ALTER DATABASE fails with, as ssb_internal.spoils_database says.
_OF_DATABASES = frozenset({5011, 5016, 5030, 5058, 15309})
_ACCESSED_COLUMN, _DEPENDS = 4922, 5074
_OF_CONSTRAINTS = frozenset({1505, 2714, 3725, 3728, 8111, *range(1767, 1780)})


class Outcome(Enum):
    """How a statement went."""

    DONE = auto()
    FAILED = auto()
    """The batch goes on after it."""
    BATCH_ENDED = auto()


class Executor:
    """Runs batches on one connection from `connect`; ``emit`` gets every event in order.

    ``other`` gets the server's own notices (severity, text), ``translate`` the dynamic SQL
    that a session wants translated (`translate.Translator`), ``use_keys`` what it wants to be done
    with keys, and the statement that runs (`key_statements.KeyAnswerer`). ``interactive``: batches
    come one by one, and what @@ERROR and @@ROWCOUNT of the next may ask for is kept. Ctrl-C cancels
    the running statement and raises KeyboardInterrupt.
    """

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        emit: Callable[[Event], None],
        other: Callable[[str, str], None] = lambda severity, text: None,
        translate: Callable[[str], None] | None = None,
        use_keys: Callable[[str, str], None] | None = None,
        *,
        interactive: bool = False,
    ) -> None:
        self._connection = connection
        self._interactive = interactive
        self._open: OpenTransaction | None = None
        self._status = (0, 0)
        self._emit_to = emit
        self._failed = False
        self._script = ""
        self._batch: CompiledBatch | None = None
        self._ended = 0
        self.told: list[CompiledBatch] = []
        """Of the last batch that ran, those among it whose problems were emitted in their places."""
        self.broken_off: int | None = None
        """The line of the last of its joined batches that ran, where an error ended them all."""
        self._running = ""
        self._use_keys = use_keys
        self._unwritable: OSError | None = None
        connection.add_notice_handler(
            NoticeReader(
                self._emit_notice,
                other,
                translate,
                self._answer_keys if use_keys is not None else None,
                self._begin_next,
            )
        )

    def run(self, batch: CompiledBatch) -> bool:
        """Run one batch as often as its GO says; False when an error came up.

        As in SQL Server an error ends its statement or its batch, never the script.
        """
        self._failed = False
        self.broken_off = None
        self._batch, self._ended = batch, 0
        if batch.statements:
            self.told = []
        if batch.joined:
            self._connection.execute("SELECT pg_catalog.set_config('pgsb.tells_batches', 'on', false)")
        if batch.open:
            self._run_open(batch)
            return not self._failed
        for _ in range(batch.repeat):
            for whole in batch.wholes:
                run = self._run_statement if len(whole) == 1 else self._run_parts
                if run(batch, *whole) is Outcome.BATCH_ENDED:
                    break
            if self._connection.closed:
                break
            if self._interactive and batch.plain and batch.statements:
                self._keep_status()
        return not self._failed

    @property
    def depth(self) -> int:
        """@@TRANCOUNT: above 0 a transaction is open between two batches."""
        return 0 if self._open is None else self._open.depth

    def close(self) -> None:
        """Leave an open transaction; the server rolls it back."""
        if self._open is not None:
            self._open.close()

    def _run_open(self, batch: CompiledBatch) -> None:
        """Run a batch that begins inside a transaction, or may leave one open."""
        if self._open is None:
            # Only a prompt has such batches: a script ends its transactions.
            from .open_transaction import OpenTransaction

            self._open = OpenTransaction(self._connection)
        for _ in range(batch.repeat):
            self._script = batch.statements[0].span.source.text
            self._running = "\n".join(statement.sql for statement in batch.statements)
            was_open = self.depth > 0
            try:
                with _interruptible(self._connection):
                    statements = [statement.sql for statement in batch.statements]
                    self._open.run([*told_script(self._script), *statements])
            except KeyboardInterrupt:
                if was_open:
                    self._emit(Print("The open transaction is rolled back."))
                raise
            except psycopg.Error as error:
                if self._unwritable is not None:
                    raise self._unwritable from error
                self._emit(error_of(error))
                return
            if self._unwritable is not None:
                raise self._unwritable

    def keep_refusal(self, event: ErrorEvent) -> None:
        """@@ERROR after a batch that did not compile: deployments ask for it behind each GO."""
        if not self.depth:
            self._status = (event.number, 0)
            self._keep_status()

    def _keep_status(self) -> None:
        """@@ERROR and @@ROWCOUNT after what had no session, for the batch that may come next."""
        self._connection.execute(
            "SELECT pg_catalog.set_config('pgsb.status', pg_catalog.concat_ws(',', %s::text, %s::text,"
            " coalesce(nullif(pg_catalog.split_part(pg_catalog.current_setting('pgsb.status', true),"
            " ',', 3), ''), '0')), false)",
            self._status,
        )

    def _run_parts(self, batch: CompiledBatch, *parts: CompiledStatement) -> Outcome:
        """Run what one statement of the script became: all of it, or nothing of it."""
        self._connection.execute("BEGIN")
        try:
            for part in (*parts, CompiledStatement("COMMIT", False, parts[0].span, verb=parts[0].verb)):
                status = self._status
                outcome = self._run_statement(batch, part)
                if outcome is not Outcome.DONE:
                    return outcome
            self._status = status
            return Outcome.DONE
        finally:
            self._roll_back()

    def _roll_back(self) -> None:
        """End the transaction of a statement that failed or was cancelled."""
        if self._connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            self._connection.execute("ROLLBACK")

    def _run_statement(self, batch: CompiledBatch, statement: CompiledStatement) -> Outcome:
        self._script = statement.span.source.text
        self._running = statement.sql
        try:
            with _interruptible(self._connection):
                if statement.returns_rows:
                    self._stream(statement)
                else:
                    with self._connection.cursor() as cursor:
                        # Of several batches in one transaction the first is the batch's span.
                        text = self._script if batch.joined or batch.span is None else batch.span.text
                        cursor.execute(with_script(statement, text).encode())
                        self._report(statement, cursor)
        except psycopg.Error as error:
            if self._unwritable is not None:
                raise self._unwritable from error
            if error.sqlstate == SCRIPT_ENDED:
                return Outcome.BATCH_ENDED
            if batch.joined and error.sqlstate != CANCELED:
                self.broken_off = batch.line_after(self._ended)
            self._roll_back()
            line = statement.span.line - batch.line + 1
            event = self._event(statement, error, line)
            of_trigger = self._is_of_trigger(event)
            if of_trigger and event.number in _ENDED_BY_TRIGGER:
                event = replace(event, procedure=None, line=line)  # of the statement that fired it
            self._status = (event.number, 0)
            if event.number == _ACCESSED_COLUMN:
                *dependants, message = event.message.split("\n")
                for text in dependants:
                    self._emit(replace(event, number=_DEPENDS, state=1, message=text))
                event = replace(event, message=message)
            self._emit(event)
            verb = statement.verb.partition(": ")[0]
            if verb.startswith("ALTER TABLE"):
                verb = "ALTER TABLE"  # whatever it does to a column
            if behind := self._behind(event, verb):
                self._status = (behind.number, 0)
                self._emit(behind)
            if self._connection.closed or event.severity >= 20:
                return Outcome.BATCH_ENDED
            if self._is_terminated(event, "INSERT" if of_trigger else verb):
                self._emit(Print("The statement has been terminated."))  # message 3621
            # The rows of a table variable that cannot be declared are of no type: the rest cannot run.
            is_declaration = "ssb_internal.define_row_type" in statement.names
            if of_trigger or is_declaration or verb == "USE" or ends_batch(event.number, xact_abort=False):
                return Outcome.BATCH_ENDED
            return Outcome.FAILED
        if self._unwritable is not None:
            raise self._unwritable
        return Outcome.DONE

    def _is_of_trigger(self, event: ErrorEvent) -> bool:
        """Whether an error ended the batch because a trigger made it."""
        if event.procedure is None:
            return False
        row = self._connection.execute("SELECT ssb_internal.is_of_trigger(%s)", [event.procedure]).fetchone()
        return row is not None and bool(row[0])

    def _behind(self, event: ErrorEvent, verb: str) -> ErrorEvent | None:
        """Error 1750, of a constraint not made, 3727, of one not dropped, 5069 or 2759."""
        if verb == "CREATE SCHEMA":
            message = "CREATE SCHEMA failed due to previous errors."
            return replace(event, number=2759, state=0, severity=16, message=message, hint=None)
        if event.number in _OF_DATABASES:
            message = "ALTER DATABASE statement failed."
            return replace(event, number=5069, state=1, severity=16, message=message, hint=None)
        if event.number not in _OF_CONSTRAINTS:
            return None
        row = self._connection.execute(
            "SELECT ssb_internal.spoils_constraint(%s, %s, %s)", [event.number, event.state, verb]
        ).fetchone()
        if row is None or not row[0]:
            return None
        number, state, message = 1750, 1, "Could not create constraint or index. See previous errors."
        if event.number in (3725, 3728):
            number, state, message = 3727, 0, "Could not drop constraint. See previous errors."
        return replace(event, number=number, state=state, severity=16, message=message, hint=None)

    def _is_terminated(self, event: ErrorEvent, verb: str) -> bool:
        """Whether SQL Server says so behind an error: not where SET XACT_ABORT is ON."""
        if verb not in _TERMINATED:
            return False
        row = self._connection.execute(
            "SELECT ssb_internal.terminates_statement(%s, %s)"
            " AND coalesce(pg_catalog.current_setting('pgsb.xact_abort', true), '') NOT IN ('true', 'on')",
            [event.number, verb],
        ).fetchone()
        return row is not None and bool(row[0])

    def _report(self, statement: CompiledStatement, cursor: psycopg.Cursor[Any]) -> None:
        verb = (cursor.statusmessage or "").split(" ")[0]
        makes_rows = verb == "SELECT" and cursor.description is None  # CREATE TABLE … AS
        self._count(statement, cursor.rowcount if verb in _COUNTED or makes_rows else None)

    def _count(self, statement: CompiledStatement, count: int | None) -> None:
        self._status = (0, count or 0)
        if count is not None and statement.counts_rows:
            self._emit(RowCount(count))

    def _stream(self, statement: CompiledStatement) -> None:
        """Run a query and emit its rows as they come, so that none of them are kept."""
        pgconn = self._connection.pgconn
        reader = RowReader(statement.columns, statement.fractions)
        held: list[list[Cell]] = []
        count = 0
        begun = False
        finished: PGresult | None = None
        failed: PGresult | None = None

        def emit(*, last: bool) -> None:
            nonlocal begun
            self._emit(Rows(None if begun else reader.names, held.copy(), last))
            held.clear()
            begun = True

        pgconn.send_query(statement.sql.encode())
        pgconn.set_single_row_mode()
        try:
            while True:
                while pgconn.is_busy():
                    if not select.select([pgconn.socket], [], [], _PATIENCE if held else None)[0]:
                        emit(last=False)
                        continue
                    pgconn.consume_input()
                result = pgconn.get_result()
                if result is None:
                    break
                if result.status == ExecStatus.SINGLE_TUPLE:
                    held += reader.read(result)
                    count += 1
                    if len(held) >= _PIECE:
                        emit(last=False)
                elif result.status == ExecStatus.TUPLES_OK:
                    reader.read(result)  # without rows it is the only one that names the columns
                    finished = result
                elif result.status == ExecStatus.FATAL_ERROR:
                    failed = result
        except BaseException:
            self._abandon()
            raise
        if failed is not None:
            if held or begun:
                emit(last=True)
            raise error_from_result(failed, encoding="utf-8")
        if finished is not None:
            emit(last=True)
            self._count(statement, count)
        else:
            self._count(statement, None)

    def _abandon(self) -> None:
        """Cancel a query whose rows nobody takes any more, and make the connection free."""
        if self._connection.closed:
            return
        self._connection.cancel_safe()
        while self._connection.pgconn.get_result() is not None:
            pass

    def _event(self, statement: CompiledStatement, error: psycopg.Error, line: int) -> ErrorEvent:
        if number_of_sqlstate(error.sqlstate) is None and error.diag.message_primary is not None:
            return self._translated(statement, error, line) or error_of(error, line)
        return error_of(error, line)

    def _translated(self, statement: CompiledStatement, error: psycopg.Error, line: int) -> ErrorEvent | None:
        """An error of PostgreSQL's own with SQL Server's number and text; the runtime knows them."""
        status = self._connection.info.transaction_status
        if status not in (TransactionStatus.IDLE, TransactionStatus.INTRANS) or error.sqlstate == CANCELED:
            return None
        row = self._connection.execute(
            "SELECT e.number, e.severity, e.state, e.message FROM ssb_internal.native_error(%s, %s, %s,"
            " %s) AS e",
            [error.sqlstate, error.diag.message_primary, error.diag.message_detail, statement.verb],
        ).fetchone()
        if row is None or row[0] is None:
            return None
        number, severity, state, message = row
        # What PostgreSQL advises fits its own words only.
        hint = error.diag.message_hint if message == error.diag.message_primary else None
        return ErrorEvent(number, severity, state, None, line, message, hint, error.sqlstate)

    def _line(self, event: ErrorEvent) -> int:
        """The line of an error in the script; of one in a module or in dynamic SQL, its batch's first."""
        first = self._batch.line_after(self._ended) if self._batch is not None else 1
        return first + event.line - 1 if event.procedure is None and not event.dynamic else first

    def _place(self, line: int) -> str | None:
        """File and line as an editor takes them."""
        batch = self._batch
        if batch is None or batch.span is None:
            return None
        file, line = batch.span.source.origin(line)
        return None if file.startswith("<") else f"{file}:{line}"

    def _begin_next(self) -> None:
        self._ended += 1
        for runs, refused in self._batch.refused if self._batch is not None else ():
            if runs == self._ended:
                self.told.append(refused)
                for problem in refused.problems:
                    self._guarded(self._emit_to, error_event(problem, refused))

    def _answer_keys(self, request: str) -> None:
        assert self._use_keys is not None
        self._use_keys(request, self._running)

    def _emit_notice(self, event: Event) -> None:
        self._guarded(self._emit, event)

    def _guarded(self, emit: Callable[[Event], None], event: Event) -> None:
        """Emit inside libpq's callback, which no exception can leave: it comes after the statement."""
        if self._unwritable is not None:
            return
        try:
            emit(event)
        except OSError as error:  # the reader of our output has gone, or a disk is full
            self._unwritable = error
            self._connection.cancel_safe()

    def _emit(self, event: Event) -> None:
        if isinstance(event, ErrorEvent):
            line = self._line(event)
            # A module's text is in the database, and its errors have its spelling.
            in_script = event.procedure is None
            message = as_written(event.message, self._script, line) if in_script else event.message
            module = self._batch.module if self._batch is not None else None
            event = replace(event, message=message, place=self._place(line))
            if event.procedure is None and module is not None and not event.dynamic:
                event = replace(event, procedure=module, made=True)
            self._failed = self._failed or event.severity > 10
        self._emit_to(event)


@contextmanager
def _interruptible(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Let Ctrl-C cancel the statement also while a notice of it is being shown.

    An exception cannot leave the callback that libpq calls for a notice: KeyboardInterrupt
    would be lost there. It is raised after the statement, which is cancelled, instead.
    """
    before = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or before is not signal.default_int_handler:
        yield
        return
    interrupted = False
    callbacks = {"_notice_handler", "__call__"}  # of psycopg, and of NoticeReader

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        at = frame
        while at is not None:
            if at.f_code.co_name in callbacks:
                interrupted = True
                connection.cancel_safe()
                return
            at = at.f_back
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except psycopg.errors.QueryCanceled:
        if not interrupted:
            raise
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted:
        raise KeyboardInterrupt


def error_event(problem: Problem, batch: CompiledBatch) -> ErrorEvent:
    """What SQL Server would say about a batch that does not compile, with our account of the place."""
    number = problem.number or 102
    severity, state = level_of(number)
    return ErrorEvent(
        number=number,
        severity=severity,
        state=state,
        procedure=batch.module,
        line=max(1, problem.span.line - batch.line + 1),
        message=problem.message,
        hint=problem.hint,
        report=str(problem),
    )

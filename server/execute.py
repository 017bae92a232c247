"""Runs compiled batches on a connection and reports what they produce, as it happens."""

import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum, auto
from types import FrameType
from typing import Any

import psycopg
from psycopg.pq import ExecStatus, TransactionStatus

from ..compiler.pipeline import CompiledBatch, CompiledStatement, ends_batch
from .results import (
    CANCELED,
    SCRIPT_ENDED,
    ErrorEvent,
    Event,
    NoticeReader,
    RowCount,
    error_of,
    number_of_sqlstate,
    rows_of_result,
)
from .spelling import as_written

_COUNTED = {"INSERT", "UPDATE", "DELETE", "MERGE"}


class Outcome(Enum):
    """How a statement went."""

    DONE = auto()
    FAILED = auto()
    """The batch goes on after it."""
    BATCH_ENDED = auto()


class Executor:
    """Runs batches on one connection from `connect`; ``emit`` gets every event in order.

    ``other`` gets the server's own notices (severity, text), ``translate`` the dynamic SQL
    that a session wants translated (`translate.Translator`). Ctrl-C cancels the running
    statement and raises KeyboardInterrupt.
    """

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        emit: Callable[[Event], None],
        other: Callable[[str, str], None] = lambda severity, text: None,
        translate: Callable[[str], None] | None = None,
    ) -> None:
        self._connection = connection
        self._emit_to = emit
        self._failed = False
        self._script = ""
        self._unwritable: OSError | None = None
        connection.add_notice_handler(NoticeReader(self._emit_notice, other, translate))

    def run(self, batch: CompiledBatch) -> bool:
        """Run one batch as often as its GO says; False when an error came up.

        As in SQL Server an error ends its statement or its batch, never the script.
        """
        self._failed = False
        for _ in range(batch.repeat):
            skipping = False
            for statement in batch.statements:
                skipping = skipping and statement.continues
                if skipping:
                    continue
                self._script = statement.span.source.text
                outcome = self._run_statement(batch, statement)
                if outcome is Outcome.BATCH_ENDED:
                    break
                skipping = outcome is Outcome.FAILED
            if self._connection.closed:
                break
        return not self._failed

    def _run_statement(self, batch: CompiledBatch, statement: CompiledStatement) -> Outcome:
        try:
            with _interruptible(self._connection), self._connection.cursor() as cursor:
                cursor.execute(statement.sql.encode())
                self._report(statement, cursor)
        except psycopg.Error as error:
            if self._unwritable is not None:
                raise self._unwritable from error
            if error.sqlstate == SCRIPT_ENDED:
                return Outcome.BATCH_ENDED
            event = self._event(statement, error, statement.span.line - batch.line + 1)
            self._emit(event)
            if self._connection.closed or event.severity >= 20 or ends_batch(event.number, xact_abort=False):
                return Outcome.BATCH_ENDED
            return Outcome.FAILED
        if self._unwritable is not None:
            raise self._unwritable
        return Outcome.DONE

    def _report(self, statement: CompiledStatement, cursor: psycopg.Cursor[Any]) -> None:
        result = cursor.pgresult
        if result is None:
            return
        count: int | None = None
        if result.status == ExecStatus.TUPLES_OK and statement.returns_rows:
            rows = rows_of_result(result, statement.columns)
            self._emit(rows)
            count = len(rows.rows)
        elif (cursor.statusmessage or "").split(" ")[0] in _COUNTED:
            count = cursor.rowcount
        if count is not None and statement.counts_rows:
            self._emit(RowCount(count))

    def _event(self, statement: CompiledStatement, error: psycopg.Error, line: int) -> ErrorEvent:
        if number_of_sqlstate(error.sqlstate) is None and error.diag.message_primary is not None:
            return self._translated(statement, error, line) or error_of(error, line)
        return error_of(error, line)

    def _translated(self, statement: CompiledStatement, error: psycopg.Error, line: int) -> ErrorEvent | None:
        """An error of PostgreSQL's own with SQL Server's number and text; the runtime knows them."""
        status = self._connection.info.transaction_status
        if status not in (TransactionStatus.IDLE, TransactionStatus.INTRANS) or error.sqlstate == CANCELED:
            return None
        verb = re.match(r"(?:\s|--.*\n)*(INSERT|UPDATE|DELETE|MERGE|DROP|ALTER TABLE)\b", statement.sql)
        switched = statement.sql.startswith("SELECT ssb.switch_constraints(")
        name = verb[1] if verb else "ALTER TABLE" if switched else ""
        row = self._connection.execute(
            "SELECT e.number, e.severity, e.state, e.message FROM ssb.native_error(%s, %s, %s, %s) AS e",
            [error.sqlstate, error.diag.message_primary, error.diag.message_detail, name],
        ).fetchone()
        if row is None or row[0] is None:
            return None
        number, severity, state, message = row
        # What PostgreSQL advises fits its own words only.
        hint = error.diag.message_hint if message == error.diag.message_primary else None
        return ErrorEvent(number, severity, state, None, line, message, hint, error.sqlstate)

    def _emit_notice(self, event: Event) -> None:
        """Emit inside libpq's callback, which no exception can leave: it comes after the statement."""
        if self._unwritable is not None:
            return
        try:
            self._emit(event)
        except OSError as error:  # the reader of our output has gone, or a disk is full
            self._unwritable = error
            self._connection.cancel_safe()

    def _emit(self, event: Event) -> None:
        if isinstance(event, ErrorEvent):
            event = replace(event, message=as_written(event.message, self._script))
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

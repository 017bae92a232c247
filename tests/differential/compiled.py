"""Program → trace, through pgsb and PostgreSQL: the same road as `pgsb run`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from pgsb.compiler.pipeline import CompileOptions, CompileSession
from pgsb.grammar.source import Source
from pgsb.server import results
from pgsb.server.execute import Executor

from . import render
from . import syntax as s
from .engine import CONTRACT, MESSAGE, QUEUES
from .trace import Affected, Event, Message, Printed, Rows, Trace

# A statement that waits or loops is a failure of its own, not the end of the check. The server's
# own notices ("… does not exist, skipping") are no part of a script's messages.
SETTINGS = "SET statement_timeout = '20s'; SET client_min_messages = warning"


class Refused(Exception):
    """The compiler refused a program that T-SQL accepts."""


def table_definitions() -> str:
    """The tables of the check as T-SQL, with named constraints."""
    batches = []
    for table in s.TABLES:
        columns = []
        for column in table.columns:
            text = f"{column.name} {column.type} {'NULL' if column.nullable else 'NOT NULL'}"
            if column.primary_key:
                text += f" CONSTRAINT pk_{table.name} PRIMARY KEY"
            if column.check_below is not None:
                text += f" CONSTRAINT ck_{table.name} CHECK ({column.name} < {column.check_below})"
            columns.append(text)
        batches.append(f"CREATE TABLE dbo.{table.name} ({', '.join(columns)});\nGO\n")
    return "".join(batches)


def broker_definitions() -> str:
    """The services of :mod:`.engine` as T-SQL."""
    text = f"CREATE MESSAGE TYPE [{MESSAGE}] VALIDATION = NONE;\n"
    text += f"CREATE CONTRACT [{CONTRACT}] ([{MESSAGE}] SENT BY ANY);\n"
    for service, queue in QUEUES.items():
        text += f"CREATE QUEUE dbo.{queue} WITH POISON_MESSAGE_HANDLING (STATUS = OFF);\n"
        text += f"CREATE SERVICE [{service}] ON QUEUE dbo.{queue} ([{CONTRACT}]);\n"
    return text


class Runner:
    """One connection that runs programs, one after the other, each from empty tables."""

    def __init__(self, dsn: str) -> None:
        self.connection: psycopg.Connection[Any] = psycopg.connect(dsn, autocommit=True)
        self.connection.execute(SETTINGS)
        self.events: list[Event] = []
        self.strange: list[str] = []
        self.pending: list[tuple[s.Value, ...]] = []
        self.executor = Executor(self.connection, self._take, self._other)
        # A session that knows the tables, as it does where one script defines and uses them.
        self.prepared = self._session()
        for _ in self.prepared.compile_script(Source("tables.sql", table_definitions())):
            pass
        self.broker = False
        self.connection.execute("CREATE SCHEMA IF NOT EXISTS dbo")
        self.strange.clear()
        self._set_up("dbo.t1", table_definitions())

    def _set_up(self, relation: str, script: str) -> None:
        if self.connection.execute("SELECT to_regclass(%s)", [relation]).fetchone() == (None,):
            self._run_source(self._session(), Source("setup.sql", script))
            if self.events or self.strange:
                raise Refused(f"{relation}: {self.events} {self.strange}")

    def close(self) -> None:
        self.connection.close()

    def _session(self) -> CompileSession:
        return CompileSession(CompileOptions(default_database=self.connection.info.dbname))

    def _other(self, severity: str, text: str) -> None:
        self.strange.append(f"{severity}: {text}")

    def _take(self, event: results.Event) -> None:
        match event:
            case results.Print(text):
                self.events.append(Printed(text))
            case results.RowCount(count):
                self.events.append(Affected(count))
            case results.Rows(columns, rows, last):
                if columns is not None:
                    self.pending = []
                self.pending += [tuple(map(cell, row)) for row in rows]
                if last:
                    self.events.append(Rows(tuple(self.pending)))
            case results.ErrorEvent():
                procedure = event.procedure
                if procedure is not None:
                    procedure = procedure.lower().removeprefix("dbo.")
                self.events.append(
                    Message(event.number, event.severity, event.state, procedure, event.line, event.message)
                )

    def _run_source(self, session: CompileSession, source: Source) -> None:
        for batch in session.compile_script(source):
            if batch.problems:
                raise Refused("; ".join(str(problem) for problem in batch.problems))
            self.executor.run(batch)

    def _run_script(self, script: str) -> Trace:
        """What the client sees of a script, then the tables. All events are in one list.

        Raises Refused when the compiler does not accept it.
        """
        self._clean()
        self._run_source(copy.deepcopy(self.prepared), Source("case.sql", script))
        trace = Trace([self.events])
        self.events += [Printed(f"notice {text}") for text in self.strange]
        if self.connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            trace.trancount = 1
            self.connection.execute("ROLLBACK")
        for table in s.TABLES:
            names = [column.name for column in table.columns]
            rows = self.connection.execute(
                f"SELECT {', '.join(names)} FROM dbo.{table.name} ORDER BY {table.key}"
            )
            trace.tables[table.name] = [dict(zip(names, row, strict=True)) for row in rows]
        for queue in QUEUES.values():
            trace.tables[queue] = self._queue(queue)
        return trace

    def run(self, program: s.Program) -> Trace:
        """What the client sees of a program, then the tables and queues."""
        return self.run_kept(program, render.script(program))

    def run_kept(self, program: s.Program, script: str) -> Trace:
        """As `run`, for the text that ``program`` was read from."""
        if not self.broker and any(isinstance(node, s.Receive | s.Send) for node in s.walk(program)):
            self._clean()
            self._set_up("dbo.q1", broker_definitions())
            self.broker = True
        return self._run_script(script)

    def _queue(self, name: str) -> list[dict[str, s.Value]]:
        if not self.broker:
            return []
        rows = self.connection.execute(
            f"SELECT message_type_name, sys.text_of(message_body) FROM dbo.{name} ORDER BY queuing_order"
        )
        return [{"type": kind, "body": body} for kind, body in rows]

    def _clean(self) -> None:
        self.events = []
        self.strange = []
        self.pending = []
        self.connection.execute("DISCARD TEMP")
        with self.connection.transaction():
            if self.broker:
                self.connection.execute(
                    "SELECT ssb.end_conversation(conversation_handle, cleanup => true) "
                    "FROM sys.conversation_endpoints"
                )
            self.connection.execute(CLEAN)
        # What a batch keeps for the next one of its session must not reach the next program.
        self.connection.execute("RESET ALL")
        self.connection.execute(SETTINGS)


CLEAN = """
DO $$
DECLARE
    v_trigger record;
    v_routine regprocedure;
BEGIN
    FOR v_trigger IN
        SELECT t.tgname, t.tgrelid::regclass AS relation FROM pg_catalog.pg_trigger AS t
         WHERE NOT t.tgisinternal AND t.tgrelid IN ('dbo.t1'::regclass, 'dbo.t2'::regclass)
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', v_trigger.tgname, v_trigger.relation);
    END LOOP;
    FOR v_routine IN
        SELECT p.oid::regprocedure FROM pg_catalog.pg_proc AS p
         WHERE p.pronamespace = 'dbo'::regnamespace AND p.proname ~ '^(p|f|tr)[0-9]'
    LOOP
        EXECUTE 'DROP ROUTINE ' || v_routine;
    END LOOP;
    DELETE FROM dbo.t1;
    DELETE FROM dbo.t2;
END;
$$
"""


def cell(value: results.Cell) -> s.Value:
    """A shown value as the interpreter has it."""
    return int(value.digits) if isinstance(value, results.Number) else value


@contextmanager
def runner(dsn: str) -> Iterator[Runner]:
    """A runner that is closed at the end."""
    made = Runner(dsn)
    try:
        yield made
    finally:
        made.close()

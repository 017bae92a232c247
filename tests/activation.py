"""What the daemon's tests share: a daemon with its log, T-SQL and PL/pgSQL programs, sending and waiting."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import dialogs

from pgsb.compiler.pipeline import CompileOptions, compile_script
from pgsb.daemon.embedded import EmbeddedBroker
from pgsb.daemon.log import Line
from pgsb.grammar.source import Source
from support import Connection


@dataclass
class Daemon:
    """One running daemon and what it logged."""

    broker: EmbeddedBroker
    lines: list[Line] = field(default_factory=list)
    _news: threading.Condition = field(default_factory=threading.Condition)

    def write(self, line: Line) -> None:
        with self._news:
            self.lines.append(line)
            self._news.notify_all()

    def wait_for(self, event: str, text: str = "", seconds: float = 60.0) -> Line:
        """The first line of this event whose message contains the text, when it has come."""

        def found() -> Line | None:
            return next((one for one in self.lines if one.event == event and text in one.message), None)

        with self._news:
            if not self._news.wait_for(found, seconds):
                raise AssertionError(f"no line {event!r} with {text!r} in {self.lines}")
            line = found()
            assert line is not None
            return line

    def messages(self, event: str) -> list[str]:
        return [line.message for line in self.lines if line.event == event]


def tsql(connection: Connection, script: str) -> None:
    """Run a T-SQL script; it must compile and run without an error."""
    compiled = compile_script(Source("test.sql", script), CompileOptions())
    compiled.problems.raise_if_any()
    for batch in compiled.batches:
        for statement in batch.statements:
            connection.execute(statement.sql.encode())


def send(connection: Connection, *bodies: str, conversation: Any = None) -> Any:
    """Send bodies on one dialog, a new one unless told; returns its handle."""
    if conversation is None:
        conversation = dialogs.begin(connection, "//From", "//To")
    dialogs.send(connection, conversation, *bodies)
    return conversation


def activate(connection: Connection, program: str, *, readers: int = 1, execute_as: str = "OWNER") -> None:
    """Make dbo.program, a PL/pgSQL procedure with this body, the program of dbo.to_queue."""
    connection.execute(f"CREATE OR REPLACE PROCEDURE dbo.program() LANGUAGE plpgsql AS $p$ {program} $p$")
    connection.execute(
        "SELECT ssb.alter_queue('dbo.to_queue', activation_status => true,"
        " activation_procedure => 'dbo.program', max_queue_readers => %s, execute_as => %s)",
        [readers, execute_as],
    )


def done(connection: Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT body FROM dbo.done ORDER BY at").fetchall()]


def until(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """What the condition returns once it is true; asked every 20 ms."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)
    return answer


DRAIN = """
DECLARE m ssb.message; n integer;
BEGIN
    LOOP
        n := 0;
        FOR m IN SELECT * FROM ssb.receive('dbo.to_queue', 1) LOOP
            n := n + 1;
            IF m.message_type_name = 'DEFAULT' THEN
                INSERT INTO dbo.done (body) VALUES (convert_from(m.message_body, 'UTF8'));
            ELSE
                PERFORM ssb.end_conversation(m.conversation_handle);
            END IF;
        END LOOP;
        COMMIT;
        EXIT WHEN n = 0;
    END LOOP;
END;
"""
"""A program that writes each body to dbo.done, one transaction a message, until the queue is empty."""

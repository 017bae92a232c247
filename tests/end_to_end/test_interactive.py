"""Output as it happens, Ctrl-C, and the shell."""

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from pgsb.cli.run import Runner, compile_settings
from pgsb.cli.shell import Shell, _interact, _Words
from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source
from pgsb.server import connect as servers
from pgsb.server.execute import Executor
from pgsb.server.render import TableRenderer
from pgsb.server.results import Event, Print
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Connect = Callable[..., Connection]
Start = Callable[[str], "subprocess.Popen[str]"]
COMMAND = [sys.executable, "-c", "from pgsb.cli.main import main; main()", "run"]


@pytest.fixture
def start(database: Database) -> Iterator[Callable[[str], "subprocess.Popen[str]"]]:
    """Starts `pgsb run` on a script, in a process that the test can watch."""
    started: list[subprocess.Popen[str]] = []

    def run(script: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [*COMMAND, "--dsn", database.dsn, "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdin is not None
        process.stdin.write(script)
        process.stdin.close()
        process.stdin = None
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C as Python handles it at its start, here and in children.

    Who runs the tests in the background may have made this process ignore it, and a child inherits that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_output_comes_while_the_batch_still_runs(start: Start, connect: Connect) -> None:
    other = connect()
    other.execute("SELECT ssb.create_queue('dbo.q')")
    other.execute("SELECT ssb.create_service('//Self', queue => 'dbo.q', contracts => '{DEFAULT}')")
    wait = "WAITFOR (RECEIVE TOP (1) message_type_name FROM q);"
    process = start(f"PRINT 'waiting';\n{wait}\nPRINT 'done';")
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    assert process.poll() is None
    other.execute("SELECT ssb.send(ssb.begin_dialog('//Self', '//Self'), body => 'x'::bytea)")
    rest, errors = process.communicate()
    assert process.returncode == 0, errors
    assert rest.startswith("message_type_name\n") and rest.endswith("done\n")


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_cancels_the_batch_on_the_server(start: Start, connect: Connect) -> None:
    process = start(
        "CREATE TABLE t (a INT);\nGO\nPRINT 'begin';\nBEGIN TRANSACTION;\nINSERT INTO t VALUES (1);\n"
        "PRINT 'in it';\nWAITFOR DELAY '00:10:00';\nCOMMIT;"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begin\n"
    while process.stdout.readline() != "in it\n":
        pass
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in errors
    watch = connect()
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgsb'"
    while watch.execute(sessions).fetchone() != (0,):
        time.sleep(0.01)
    assert watch.execute("SELECT count(*) FROM dbo.t").fetchone() == (0,)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_output_is_shown(database: Database) -> None:
    """The interrupt comes inside the callback for a notice, which no exception may leave."""

    def emit(event: Event) -> None:
        if event == Print("in it"):
            signal.raise_signal(signal.SIGINT)

    with servers.connect(servers.Target(database.dsn, False, "the test")) as connection:
        executor = Executor(connection, emit)
        batch = compile_script(Source("script", "PRINT 'in it'; WAITFOR DELAY '00:10:00';")).batches[0]
        with pytest.raises(KeyboardInterrupt):
            executor.run(batch)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_who_stops_reading_the_output_stops_the_script(start: Start, connect: Connect) -> None:
    process = start(
        "CREATE TABLE t (a INT);\nGO\nPRINT 'begin';\nDECLARE @i INT = 0;\n"
        "WHILE @i < 999999 BEGIN PRINT REPLICATE('x', 4000); SET @i += 1; END;\nGO\nINSERT INTO t VALUES (1);"
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == "begin\n"
    process.stdout.close()
    assert process.wait() == 1
    assert process.stderr.read() == ""
    assert connect().execute("SELECT count(*) FROM dbo.t").fetchone() == (0,)


# ---------------------------------------------------------------- the shell


class Terminal:
    """A shell whose keys and output are the test's."""

    def __init__(self, dsn: str) -> None:
        self.connection: psycopg.Connection[Any] = servers.connect(servers.Target(dsn, False, "the test"))
        self.out = io.StringIO()
        renderer = TableRenderer(self.out)
        settings = compile_settings(self.connection, None, "cs")
        self.shell = Shell(Runner(self.connection, settings, renderer), renderer)

    def type(self, keys: str) -> str:
        """Type keys at the prompt until the shell is left."""
        with create_pipe_input() as pipe:
            pipe.send_text(keys)
            prompt: PromptSession[str] = PromptSession(input=pipe, output=DummyOutput())
            _interact(self.connection, self.shell, prompt)
        return self.out.getvalue()


@pytest.fixture
def terminal(database: Database) -> Iterator[Terminal]:
    made = Terminal(database.dsn)
    yield made
    made.connection.close()


def test_go_runs_what_was_typed(terminal: Terminal) -> None:
    assert terminal.type("PRINT 'a'\rPRINT 'b'\rGO\rprint 'c'\rgo 2\r:quit\r") == "a\nb\nc\nc\n"


def test_the_session_goes_on_over_batches(terminal: Terminal) -> None:
    shown = terminal.type("CREATE DATABASE Shop\rGO\rUSE Shop\rGO\rPRINT DB_NAME()\rGO\rexit\r")
    assert shown == "Shop\n"


def test_ctrl_c_forgets_the_line_and_ctrl_d_leaves(terminal: Terminal) -> None:
    assert terminal.type("PRINT 'forgotten'\r\x03PRINT 'kept'\rGO\r\x04") == "kept\n"


def test_a_mistake_is_shown_and_the_shell_goes_on(terminal: Terminal) -> None:
    shown = terminal.type("SELECT 1 +\rGO\rPRINT 'still here'\rGO\r:quit\r")
    assert "<shell>:1:11: error 102" in shown
    assert shown.endswith("still here\n")


def test_go_inside_a_string_or_comment_is_text(terminal: Terminal) -> None:
    assert terminal.type("PRINT 'a\rGO\rb'\r/*\rGO\r*/\rGO\r:quit\r") == "a\nGO\nb\n"


def test_the_prompt_counts_lines(terminal: Terminal) -> None:
    assert terminal.shell.prompt == "1> "
    terminal.shell.line("PRINT 'a'")
    assert terminal.shell.prompt == "2> "
    terminal.shell.line("GO")
    assert terminal.shell.prompt == "1> "


def test_directives(terminal: Terminal, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "script.sql").write_text("PRINT 'from a file'\nGO\n")
    assert terminal.type(f":r {tmp_path}/script.sql\r:quit\r") == "from a file\n"
    terminal.type(":r nowhere.sql\r:nonsense\rPRINT 1\r:list\r:reset\r:help\r:quit\r")
    shown = capsys.readouterr()
    assert "cannot read nowhere.sql" in shown.err and "unknown directive ':nonsense'" in shown.err
    assert "PRINT 1" in shown.out and "GO [n]" in shown.out
    assert terminal.shell.prompt == "1> "


def test_words_of_the_language_and_names_of_the_database_are_completed(terminal: Terminal) -> None:
    terminal.type("CREATE QUEUE OrdersQueue\rCREATE SERVICE [//Shop] ON QUEUE OrdersQueue\rGO\r:quit\r")
    words = _Words(terminal.connection)

    def complete(text: str) -> list[str]:
        return [one.text for one in words.get_completions(Document(text), CompleteEvent())]

    assert "RECEIVE" in complete("rec")
    assert "ordersqueue" in complete("SELECT * FROM ord")
    assert "//Shop" in complete("TO SERVICE '//S")
    assert complete("") == []


def test_lines_from_a_pipe_are_run_like_a_script(database: Database) -> None:
    environment = {**os.environ, "NO_COLOR": "1"}
    shown = subprocess.run(
        [*COMMAND[:-1], "shell", "--dsn", database.dsn],
        input="PRINT 'a'\nGO\nPRINT 'no GO at the end'\n",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (shown.returncode, shown.stdout) == (0, "a\nno GO at the end\n")

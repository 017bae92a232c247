"""Output as it happens, Ctrl-C, and the shell."""

import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from end_to_end.terminal import Terminal
from end_to_end.tsql import Tsql

from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source
from pgsb.server import connect as servers
from pgsb.server.execute import Executor
from pgsb.server.results import Event, Print
from support import Connection, Database, rest_is_long

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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.fixture
def terminal(database: Database) -> Iterator[Terminal]:
    made = Terminal(database.dsn)
    yield made
    made.close()


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
    name = terminal.connection.info.dbname
    assert terminal.shell.prompt == f"{name} 1> "
    terminal.shell.line("PRINT 'a'")
    assert terminal.shell.prompt == f"{name} 2> "
    terminal.shell.line("GO")
    assert terminal.shell.prompt == f"{name} 1> "


def test_a_shell_learns_of_tables_that_another_session_makes_and_changes(
    terminal: Terminal, database: Database
) -> None:
    other = Tsql(database.dsn)
    insert = "INSERT kept VALUES (N'x')"
    for change in (
        "CREATE TABLE kept (id int IDENTITY(7, 1) PRIMARY KEY, what nvarchar(20))",
        "DROP TABLE kept CREATE TABLE kept (what nvarchar(20), twice AS what + what)",
    ):
        other.run_well(change)
        terminal.shell.line(insert)
        terminal.shell.line("GO")
        other.run_well("SELECT * FROM kept")
        assert len(other.results[0]) == 1, change
    other.close()


def test_directives(terminal: Terminal, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "script.sql").write_text("PRINT 'from a file'\nGO\n")
    assert terminal.type(f":r {tmp_path}/script.sql\r:quit\r") == "from a file\n"
    terminal.type(":r nowhere.sql\r:nonsense\r\\nosuch\rPRINT 1\r:list\r:reset\r:help\r:quit\r")
    shown = capsys.readouterr()
    assert "cannot read nowhere.sql" in shown.err and "unknown directive ':nonsense'" in shown.err
    assert r"unknown command '\nosuch'" in shown.err
    assert "PRINT 1" in shown.out and "GO [n]" in shown.out
    assert terminal.shell.count == 0


def test_a_form_feed_in_a_file_begins_no_line(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "old.sql").write_text("-- page 1\fGO\nPRINT 'a' -- \fPRINT 'b'\nGO\n")
    assert terminal.type(f":r {tmp_path}/old.sql\r:quit\r") == "a\n"


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


# ---------------------------------------------------------------- transactions over batches

TABLE = "CREATE TABLE t (a INT PRIMARY KEY);INSERT t VALUES (1), (2);SET NOCOUNT ON\rGO\r"
ROWS = "SELECT COUNT(*) AS n FROM t\rGO\r"


def typed(lines: str) -> str:
    return lines.replace("\n", "\r")


def test_a_transaction_stays_open_after_go(terminal: Terminal, database: Database, connect: Connect) -> None:
    shell, name = terminal.shell, terminal.connection.info.dbname
    assert shell.prompt == f"{name} 1> "
    for line in ("CREATE TABLE t (a INT)", "GO", "BEGIN TRAN", "GO", "INSERT t VALUES (1)", "GO"):
        shell.line(line)
    assert (shell.depth, shell.prompt) == (1, f"{name}* 1> ")
    other = connect()
    assert other.execute("SELECT count(*) FROM dbo.t").fetchone() == (0,)
    shell.line("COMMIT")
    shell.line("GO")
    assert (shell.depth, shell.prompt) == (0, f"{name} 1> ")
    assert other.execute("SELECT count(*) FROM dbo.t").fetchone() == (1,)


def test_rollback_takes_back_what_earlier_batches_did(terminal: Terminal) -> None:
    shown = terminal.type(
        f"{TABLE}BEGIN TRAN\rGO\rDELETE t\rGO\r{ROWS}ROLLBACK\rGO\rSELECT COUNT(*) AS n FROM t\rGO\r:quit\r"
    )
    assert [line for line in shown.split() if line.isdigit()] == ["0", "2"]


# Each is typed at the prompt and run as a script: both print the same, and leave the same rows.
SCRIPTS = {
    "commit": "BEGIN TRAN\nGO\nINSERT t VALUES (3)\nGO\nCOMMIT\nGO\n",
    "commit and begin again in one batch": "BEGIN TRAN\nGO\nINSERT t VALUES (3)\nCOMMIT\nBEGIN TRAN\n"
    "INSERT t VALUES (4)\nGO\nROLLBACK\nGO\n",
    "rollback under a condition": "BEGIN TRAN\nGO\nDELETE t\nGO\nIF @@TRANCOUNT > 0 ROLLBACK\nGO\n",
    "nested": "BEGIN TRAN\nBEGIN TRAN\nGO\nDELETE t WHERE a = 1\nCOMMIT\nPRINT @@TRANCOUNT\nGO\nROLLBACK\n"
    "PRINT @@TRANCOUNT\nGO\n",
    "an error leaves it open": "BEGIN TRAN\nGO\nINSERT t VALUES (3)\nGO\nINSERT t VALUES (1)\nGO\n"
    "PRINT @@ERROR\nPRINT @@TRANCOUNT\nGO\nCOMMIT\nGO\n",
    "xact_abort rolls back": "SET XACT_ABORT ON\nBEGIN TRAN\nGO\nINSERT t VALUES (3)\nGO\n"
    "INSERT t VALUES (1)\nGO\nPRINT @@TRANCOUNT\nGO\n",
    "try and catch": "BEGIN TRAN\nGO\nBEGIN TRY\nINSERT t VALUES (3)\nINSERT t VALUES (1)\nCOMMIT\nEND TRY\n"
    "BEGIN CATCH\nPRINT ERROR_NUMBER()\nROLLBACK\nEND CATCH\nPRINT @@TRANCOUNT\nGO\n",
    "a savepoint": "BEGIN TRAN\nINSERT t VALUES (3)\nSAVE TRAN s\nINSERT t VALUES (4)\nROLLBACK TRAN s\nGO\n"
    "COMMIT\nGO\n",
    "variables end with their batch": "BEGIN TRAN\nDECLARE @a INT = 7\nINSERT t VALUES (@a)\nGO\n"
    "DECLARE @a INT = 8\nINSERT t VALUES (@a)\nCOMMIT\nGO\n",
    "repeated": "BEGIN TRAN\nGO\nINSERT t SELECT MAX(a) + 1 FROM t\nGO 3\nCOMMIT\nGO\n",
    "a module made and called in it": "BEGIN TRAN\nGO\nCREATE PROCEDURE p @a INT AS INSERT t VALUES (@a)\n"
    "GO\nEXEC p 5\nGO\nCOMMIT\nGO\n",
    "a temporary table": "BEGIN TRAN\nGO\nSELECT a INTO #kept FROM t\nGO\nINSERT t SELECT a + 10 FROM #kept\n"
    "COMMIT\nGO\n",
    "what the batch before did": "INSERT t VALUES (3), (4)\nGO\nPRINT @@ROWCOUNT\nGO\nINSERT t VALUES (3)\n"
    "GO\nPRINT @@ERROR\nGO\nSELECT a FROM t\nGO\nPRINT @@ROWCOUNT\nGO\n",
    "a batch with a mistake": "BEGIN TRAN\nGO\nDELETE t\nGO\nPRINT @none\nGO\nROLLBACK\nGO\n",
    "messages": "CREATE QUEUE q\nCREATE SERVICE [//S] ON QUEUE q ([DEFAULT])\nGO\nBEGIN TRAN\nGO\n"
    "DECLARE @d UNIQUEIDENTIFIER\nBEGIN DIALOG @d FROM SERVICE [//S] TO SERVICE '//S'\n"
    "WITH ENCRYPTION = OFF;\nSEND ON CONVERSATION @d (N'x')\nGO\nCOMMIT\nGO\n"
    "BEGIN TRAN\nGO\nRECEIVE message_type_name FROM q\nGO\nROLLBACK\nGO\n"
    "SELECT message_type_name FROM q\nGO\n",
}


# Each takes two databases and two sessions: these run always.
_ORDINARY = (
    "nested",
    "an error leaves it open",
    "a savepoint",
    "repeated",
    "messages",
    "a batch with a mistake",
)


@pytest.mark.parametrize(
    "script", rest_is_long(SCRIPTS.values(), *(SCRIPTS[name] for name in _ORDINARY)), ids=SCRIPTS.keys()
)
def test_transactions_are_those_of_a_script(new_database: Callable[[], Database], script: str) -> None:
    whole = f"{TABLE}{script}SELECT a FROM t ORDER BY a\nGO\n".replace("\r", "\n")
    shown = []
    for interactive in (True, False):
        terminal = Terminal(new_database().dsn, interactive=interactive)
        if interactive:
            terminal.type(typed(whole) + ":quit\r")
        else:
            terminal.runner.run(Source("<shell>", whole))
            terminal.renderer.close()
        shown.append(terminal.out.getvalue())
        terminal.close()
    # Places in a script count its lines, those of the prompt the batch's.
    prompt, run = (re.sub(r"<shell>:\d+|^ +\d+ \|", "", text, flags=re.MULTILINE) for text in shown)
    assert prompt == run


@pytest.mark.parametrize(("answer", "rows"), [("c\r", 3), ("rollback\r", 2), ("\r:quit\rr\r", 2)])
def test_leaving_with_an_open_transaction_asks(
    terminal: Terminal, connect: Connect, answer: str, rows: int
) -> None:
    terminal.type(f"{TABLE}BEGIN TRAN\rINSERT t VALUES (3)\rGO\r:quit\r{answer}")
    assert connect().execute("SELECT count(*) FROM dbo.t").fetchone() == (rows,)
    assert terminal.shell.depth == 0


@pytest.mark.parametrize("end", ["COMMIT", "THROW 50000, 'no', 1"])
def test_a_timeout_is_that_of_the_session_again_after_a_transaction(terminal: Terminal, end: str) -> None:
    terminal.connection.execute("SET statement_timeout = '17s'")
    terminal.type(f"{TABLE}BEGIN TRAN\rGO\r{end}\rGO\r:quit\rr\r")
    assert terminal.connection.execute("SHOW statement_timeout").fetchone() == ("17s",)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_rolls_the_open_transaction_back_and_says_so(terminal: Terminal) -> None:
    for line in (*TABLE.split("\r"), "BEGIN TRAN", "DELETE t", "GO"):
        if line:
            terminal.shell.line(line)

    class Interrupting(io.StringIO):
        def write(self, text: str) -> int:
            if "in it" in text:
                signal.raise_signal(signal.SIGINT)
            return super().write(text)

    terminal.send_to(Interrupting())
    terminal.shell.line("PRINT 'in it'; WAITFOR DELAY '00:10:00'")
    with pytest.raises(KeyboardInterrupt):
        terminal.shell.line("GO")
    assert "The open transaction is rolled back." in terminal.out.getvalue()
    assert terminal.shell.depth == 0
    assert terminal.connection.execute("SELECT count(*) FROM dbo.t").fetchone() == (2,)


@pytest.mark.long
def test_the_end_of_a_pipe_rolls_back_and_says_so(database: Database, connect: Connect) -> None:
    shown = subprocess.run(
        [*COMMAND[:-1], "shell", "--dsn", database.dsn],
        input=TABLE.replace("\r", "\n") + "BEGIN TRAN\nGO\nDELETE t\nGO\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0
    assert shown.stderr == "the transaction that was left open is rolled back\n"
    assert connect().execute("SELECT count(*) FROM dbo.t").fetchone() == (2,)


@pytest.mark.long
def test_a_shell_that_is_killed_leaves_no_transaction(database: Database, connect: Connect) -> None:
    process = subprocess.Popen(
        [*COMMAND[:-1], "shell", "--dsn", database.dsn],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(TABLE.replace("\r", "\n") + "BEGIN TRAN\nGO\nDELETE t\nPRINT 'deleted'\nGO\n")
    process.stdin.flush()
    while process.stdout.readline() != "deleted\n":
        pass
    process.kill()
    process.communicate()
    watch = connect()
    while watch.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE query ~ 'run_batches' AND pid <> pg_backend_pid()"
    ).fetchone() != (0,):
        time.sleep(0.01)
    assert watch.execute("SELECT count(*) FROM dbo.t").fetchone() == (2,)


def test_who_queues_for_the_locks_of_an_open_transaction_only_delays_it(
    terminal: Terminal, database: Database, connect: Connect
) -> None:
    """pg_locks shows everybody which key is held. A stranger waits for each, and keeps what he gets."""
    shell, other = terminal.shell, connect()
    for line in ("CREATE TABLE t (a INT)", "GO", "BEGIN TRAN", "GO"):
        shell.line(line)
    held = (
        "SELECT (classid::bigint << 32) + objid::bigint FROM pg_locks"
        " WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND pid <> pg_backend_pid()"
    )
    strangers = []
    for number in range(3):
        row = other.execute(held).fetchone()
        assert row is not None
        strangers.append(stranger := connect())
        stranger.pgconn.send_query(f"SELECT pg_advisory_lock({row[0]})".encode())
        shell.line(f"INSERT t VALUES ({number})")
        shell.line("GO")
    shell.line("COMMIT")
    shell.line("GO")
    assert other.execute("SELECT count(*) FROM dbo.t").fetchone() == (3,)
    for stranger in strangers:
        stranger.pgconn.finish()


def test_a_stricter_isolation_level_is_refused_between_batches(terminal: Terminal) -> None:
    shown = terminal.type(
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE\rGO\rBEGIN TRAN\rGO\rPRINT @@TRANCOUNT\rGO\r:quit\r"
    )
    assert "only at the isolation level READ COMMITTED" in shown
    assert shown.endswith("\n0\n")

"""External activation: Python callables and command lines, and only those that the daemon allows."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from activation import Daemon, done, send, until
from pgsb.daemon.config import Program, parse_program, read_programs
from pgsb.daemon.monitor import Backoff, Ended, Head, QueueMonitor
from pgsb.daemon.readers import ActiveQueue
from pgsb.server.problems import ServerError
from support import Connection

Start = Callable[..., Daemon]


def activate(sql: Connection, name: str) -> None:
    sql.execute(
        "SELECT ssb.alter_queue('dbo.to_queue', activation_status => true, external_program => %s,"
        " max_queue_readers => 1, execute_as => 'OWNER')",
        [name],
    )


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_python_service_program_answers(
    sql: Connection, daemon: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "greeting.py").write_text(
        """
import pgsb.client

@pgsb.client.service_program(patience=0.1)
def greet(session, message):
    print("greeting", message.text, flush=True)
    session.sql.execute("INSERT INTO dbo.done (body) VALUES (%s)", [message.text])
    session.reply(message, body="hello " + message.text)
"""
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    activate(sql, "greeter")
    running = daemon(programs={"greeter": Program("greeter", callable="greeting:greet")})
    send(sql, "a", "b")
    until(lambda: done(sql) == ["a", "b"])
    running.wait_for("output", "greeting b")
    until(lambda: sql.execute("SELECT 1 FROM dbo.from_queue HAVING count(*) = 2").fetchone())


@pytest.mark.one_postgres
def test_a_command_line_runs(sql: Connection, daemon: Start) -> None:
    program = (
        "import os, psycopg\n"
        "with psycopg.connect(os.environ['DATABASE_URL']) as c:\n"
        "    c.execute(\"INSERT INTO dbo.done (body) SELECT convert_from(message_body, 'UTF8')\"\n"
        "              ' FROM ssb.receive(%s)', [os.environ['PGSB_QUEUE']])\n"
    )
    activate(sql, "reader")
    daemon(programs={"reader": Program("reader", command=(sys.executable, "-c", program))})
    send(sql, "a")
    until(lambda: done(sql) == ["a"])


@pytest.mark.one_postgres
def test_a_program_that_the_configuration_does_not_know_never_runs(
    sql: Connection, daemon: Start, tmp_path: Path
) -> None:
    victim = tmp_path / "made"
    activate(sql, f"touch {victim}")
    running = daemon(programs={"other": Program("other", command=("true",))})
    running.wait_for("no_program", f"knows no program 'touch {victim}'")
    send(sql, "a")
    line = running.wait_for("not_started", "knows no program")
    assert line.error_number == 9614
    assert not victim.exists()
    activate(sql, "others")
    running.wait_for("no_program", "knows no program 'others', which the queue names: did you mean 'other'?")


@pytest.mark.one_postgres
def test_a_failing_command_is_reported_with_its_output(sql: Connection, daemon: Start) -> None:
    activate(sql, "broken")
    running = daemon(programs={"broken": Program("broken", command=("sh", "-c", "echo so sorry; exit 3"))})
    send(sql, "a")
    running.wait_for("output", "so sorry")
    assert running.wait_for("program_failed").message == "ended with status 3: so sorry"
    # What fails again and again is told once, and so is its output.
    until(lambda: running.broker.counts.totals["readers_failed"] >= 4)
    assert len(running.messages("output")) == len(running.messages("program_failed")) == 1


# Fails as its file says, or receives all that waits; each line differs in a number and a handle.
MOODY = """
import os, sys, uuid, psycopg
mood = open(sys.argv[1]).read()
if mood != "well":
    print("claim", os.getpid(), "of", uuid.uuid4(), "is", mood, flush=True)
    sys.exit(3)
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    connection.execute("SELECT FROM ssb.receive(%s)", [os.environ["PGSB_QUEUE"]])
print("received", flush=True)
"""


@pytest.mark.long
@pytest.mark.one_postgres
def test_an_error_is_told_again_when_it_is_another_and_when_the_program_works_again(
    sql: Connection, daemon: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Backoff, "next", lambda backoff, lasted=0.0: 0.01)
    mood = tmp_path / "mood"
    mood.write_text("bad")
    activate(sql, "moody")
    command = (sys.executable, "-c", MOODY, str(mood))
    running = daemon(programs={"moody": Program("moody", command=command)})
    totals = running.broker.counts.totals
    send(sql, "a")
    until(lambda: totals["readers_failed"] >= 3)
    (told,) = running.messages("program_failed")
    assert re.fullmatch(r"ended with status 3: claim \d+ of [-0-9a-f]{36} is bad", told)
    assert [told] == [f"ended with status 3: {said}" for said in running.messages("output")]
    before = totals["readers_failed"]
    mood.write_text("worse")
    until(lambda: totals["readers_failed"] >= before + 3)
    assert [one.rsplit(" ", 1)[1] for one in running.messages("program_failed")] == ["bad", "worse"]
    mood.write_text("well")
    line = running.wait_for("program_works")
    assert re.fullmatch(r"works again, having failed \d+ times", line.message)
    assert running.messages("output")[2:] == ["received"]
    # Once it has worked the same error is news.
    mood.write_text("worse")
    send(sql, "b")
    until(lambda: len(running.messages("output")) == 4)


@pytest.mark.long
@pytest.mark.one_postgres
def test_what_runs_for_longer_than_it_did_when_it_failed_is_heard(
    sql: Connection, daemon: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that goes on for days is not kept silent for its last failure."""
    monkeypatch.setattr("pgsb.daemon.programs._HEARD_AFTER", 0.0)
    mood = tmp_path / "mood"
    mood.write_text("bad")
    script = "if grep -q bad $0; then echo sorry; exit 3; fi; echo I go on; exec sleep 300"
    activate(sql, "lasting")
    running = daemon(programs={"lasting": Program("lasting", command=("sh", "-c", script, str(mood)))})
    send(sql, "a")
    running.wait_for("program_failed", "sorry")
    mood.write_text("well")
    running.wait_for("output", "I go on")
    running.broker.stop()


def test_what_is_costly_to_start_is_started_ever_more_seldom() -> None:
    pauses = Backoff(0.05, 5.0)
    assert [pauses.next(50.0) for _ in range(6)] == [50, 100, 200, 400, 600, 600]
    pauses.reset()
    assert [round(pauses.next(0.1), 2) for _ in range(7)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0]
    pauses.reset()
    assert [pauses.next() for _ in range(8)][-1] == 5.0


def _noted_pauses(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """How long each program that failed had run, and how long it is not started for that."""
    pauses: list[tuple[float, float]] = []
    real = Backoff.next

    def noted(backoff: Backoff, lasted: float = 0.0) -> float:
        pauses.append((lasted, real(backoff, lasted)))
        return pauses[-1][1]

    monkeypatch.setattr(Backoff, "next", noted)
    return pauses


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_bulk_job_that_keeps_failing_is_started_ever_more_seldom_and_told_once(
    sql: Connection, daemon: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails as it starts, so that no rollback counts and nothing stops the queue."""
    pauses = _noted_pauses(monkeypatch)
    activate(sql, "booking")
    command = (sys.executable, "-c", "from pgsb.cli.main import main; main()")
    command += ("spark", "run", "--program", "nowhere:book")
    running = daemon(programs={"booking": Program("booking", command=command)})
    send(sql, "a")
    until(lambda: len(pauses) >= 3)
    running.broker.stop()
    # As long as it had run, then twice as long, then four times.
    assert all(pause == lasted * 2**number > 0 for number, (lasted, pause) in enumerate(pauses[:3]))
    failure = "Error: the program's module nowhere cannot be imported: No module named 'nowhere'"
    (said,) = running.messages("output")
    assert said.splitlines() == [failure, "hint: is it on PYTHONPATH, and are its packages installed?"]
    assert running.messages("program_failed") == [f"ended with status 1: {failure}"]


class _Held:
    """A daemon for one queue, whose message is held while a reader runs, and a look longer: then it fails."""

    patience, longest_backoff = 0.001, 5.0

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.looks = 0
        queue = ActiveQueue(1, "dbo.q", None, None, "job", "dbo", "dbo", 2, False)
        self.monitor = QueueMonitor(self, queue)

    async def probe(self, queue: ActiveQueue) -> Head | None:
        if not self.looks:
            return Head(1, 0.0)
        self.looks -= 1
        if self.looks == 1:
            self.failures -= 1
            self.monitor.reader_ended(Ended(True, 0.01))
            if not self.failures:
                self.monitor.retire()
        return None

    def start_reader(self, monitor: QueueMonitor) -> bool:
        self.looks = 5
        return True

    async def follow(self) -> None:
        pass

    async def set_state(self, queue: ActiveQueue, state: str, *, started: bool = False) -> None:
        pass

    async def forget(self, queue: ActiveQueue) -> None:
        pass

    async def fire(self, queue: ActiveQueue) -> None:
        pass

    def limit_reached(self) -> None:
        pass

    def report(self, level: str, event: str, message: str, queue: ActiveQueue) -> None:
        pass

    def is_lost(self) -> bool:
        return False


@pytest.mark.long
def test_a_failed_job_waits_longer_though_nothing_waited_while_it_ran(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bulk job claims the whole queue, and gives it back; one that is killed a moment later."""
    pauses = _noted_pauses(monkeypatch)
    asyncio.run(_Held(5).monitor.run())
    assert [pause for _, pause in pauses] == [0.05, 0.1, 0.2, 0.4]


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_program_that_does_not_stop_gets_sigterm(sql: Connection, daemon: Start) -> None:
    activate(sql, "sleeper")
    running = daemon(
        grace=0.2, programs={"sleeper": Program("sleeper", command=("sh", "-c", "echo up; exec sleep 3600"))}
    )
    send(sql, "a")
    running.wait_for("output", "up")
    running.broker.stop()
    assert sql.execute("SELECT count(*) FROM dbo.to_queue").fetchone() == (1,)


def _is_alive(pid: int) -> bool:
    """Whether it runs: what is dead and waits to be reaped does not."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.long
@pytest.mark.one_postgres
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
@pytest.mark.parametrize("heard", ["", "trap '' TERM; "], ids=["obedient", "deaf"])
def test_what_a_program_has_started_ends_with_it(
    sql: Connection, daemon: Start, tmp_path: Path, heard: str
) -> None:
    """A shell that waits for its child: the child gets the signals as well."""
    child = tmp_path / "child"
    script = f"{heard}sleep 3600 & echo $! > {child}.new; mv {child}.new {child}; echo up; wait; wait"
    activate(sql, "parent")
    running = daemon(grace=0.3, programs={"parent": Program("parent", command=("sh", "-c", script))})
    send(sql, "a")
    running.wait_for("output", "up")
    pid = int(child.read_text())
    assert _is_alive(pid)
    running.broker.stop()
    until(lambda: not _is_alive(pid))


@pytest.mark.long
@pytest.mark.one_postgres
def test_what_a_program_leaves_behind_does_not_count_as_the_program(
    sql: Connection, daemon: Start, tmp_path: Path
) -> None:
    """A process in the background that holds the output open must not keep the queue's only reader."""
    left = tmp_path / "left"
    program = (
        "import os, psycopg, subprocess\n"
        "with psycopg.connect(os.environ['DATABASE_URL']) as c:\n"
        "    c.execute(\"INSERT INTO dbo.done (body) SELECT convert_from(message_body, 'UTF8')\"\n"
        "              ' FROM ssb.receive(%s)', [os.environ['PGSB_QUEUE']])\n"
        f"print(subprocess.Popen(['sleep', '3600']).pid, file=open({str(left)!r}, 'a'))\n"
        "print('the last word')\n"
    )
    activate(sql, "leaver")
    running = daemon(programs={"leaver": Program("leaver", command=(sys.executable, "-c", program))})
    try:
        for body in ("a", "b"):
            send(sql, body)
            until(lambda body=body: body in done(sql))
        running.wait_for("output", "the last word")
    finally:
        for pid in left.read_text().split():
            os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("a=shop.work:handle", Program("a", callable="shop.work:handle")),
        ("a=/usr/bin/env true", Program("a", command=("/usr/bin/env", "true"))),
        ("a=sh -c 'echo b:c'", Program("a", command=("sh", "-c", "echo b:c"))),
    ],
)
def test_programs_are_read_from_options(text: str, program: Program) -> None:
    assert parse_program(text) == program


@pytest.mark.parametrize("text", ["", "a", "a=", "=b", "a='b c"])
def test_an_unreadable_option_is_refused(text: str) -> None:
    with pytest.raises(ServerError):
        parse_program(text)


def test_programs_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "programs.toml"
    file.write_text('[programs]\nbilling = "shop.billing:handle"\nmailer = ["/bin/mailer", "--once"]\n')
    assert read_programs(file) == {
        "billing": Program("billing", callable="shop.billing:handle"),
        "mailer": Program("mailer", command=("/bin/mailer", "--once")),
    }


@pytest.mark.parametrize(
    "text", ["[programs]\na = 1", '[programs]\na = "\'b c"', "[other]\n", "programs = 1", "a ="]
)
def test_an_unreadable_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "programs.toml"
    file.write_text(text)
    with pytest.raises(ServerError):
        read_programs(file)


def test_queue_activation_is_sent_to_a_service(sql: Connection, daemon: Start) -> None:
    sql.execute(
        """
        SELECT ssb.create_queue('dbo.events');
        SELECT ssb.create_service('//Events', 'dbo.events',
            '{http://schemas.microsoft.com/SQL/Notifications/PostEventNotification}');
        SELECT ssb.create_event_notification('activate', '{QUEUE_ACTIVATION}', 'QUEUE', '//Events',
            'current database', queue => 'dbo.to_queue');
        """
    )
    daemon()
    send(sql, "a")
    event = until(lambda: sql.execute("SELECT convert_from(message_body, 'UTF8') FROM dbo.events").fetchone())
    assert "<EventType>QUEUE_ACTIVATION</EventType>" in event[0]
    assert "<ObjectName>to_queue</ObjectName>" in event[0]
    # Once, until somebody has received.
    send(sql, "b")
    assert sql.execute("SELECT count(*) FROM dbo.events").fetchone() == (1,)


@pytest.mark.one_postgres
def test_a_traceback_is_one_row_of_the_log(sql: Connection, daemon: Start, tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text(
        "print('before', flush=True)\ntry:\n    1 / 0\n"
        "except ZeroDivisionError as error:\n    raise KeyError('x') from error\n"
    )
    activate(sql, "fails")
    running = daemon(programs={"fails": Program("fails", command=(sys.executable, str(script)))})
    send(sql, "x")
    running.wait_for("program_failed")
    entries = running.messages("output")[:2]
    assert entries[0] == "before"
    assert entries[1].startswith("Traceback (most recent call last):\n  File ")
    assert "ZeroDivisionError: division by zero" in entries[1]
    assert entries[1].endswith("KeyError: 'x'")


@pytest.mark.long
@pytest.mark.one_postgres
def test_programs_that_are_not_there_are_told_at_the_start(
    sql: Connection, daemon: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bookkeeping.py").write_text("def handle(session, message): ...\nprint('noise')\n")
    (tmp_path / "half.py").write_text("def handle(:\n")
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    wrong = {
        "a": ("bookeeping:handle", ["No module named 'bookeeping'", "did you mean 'bookkeeping'?"]),
        "b": ("bookkeeping:handel", ["has no attribute 'handel'", "did you mean 'handle'?"]),
        "c": ("half:handle", ["half.py", "SyntaxError"]),
        "d": ("nosuchcommand --once", ["PATH has no program of that name"]),
        "e": (f"{tmp_path}/plain", ["may execute"]),
        "f": (f"{tmp_path}/gone", ["there is no such file"]),
    }
    right = ["well=bookkeeping:handle", "also=true --once"]
    programs = [*(f"{name}={text}" for name, (text, _) in wrong.items()), *right]
    running = daemon(programs={one.name: one for one in map(parse_program, programs)})
    running.wait_for("no_program", f"{tmp_path}/gone")
    told = {line.program: line for line in running.lines if line.event == "no_program"}
    assert list(told) == list(wrong)
    for name, (_, words) in wrong.items():
        assert told[name].level == "error"
        assert all(word in told[name].message for word in words), told[name]


@pytest.mark.one_postgres
def test_a_module_that_loads_for_ever_does_not_keep_the_daemon_from_ending(
    sql: Connection, daemon: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = tmp_path / "began"
    (tmp_path / "endless.py").write_text(
        f"import os, time\nopen({str(began)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    running = daemon(programs={"x": Program("x", callable="endless:handle")})
    until(lambda: began.exists() and began.read_text())
    running.broker.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(int(began.read_text()), 0)

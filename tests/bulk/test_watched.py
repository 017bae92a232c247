"""A job as people see it, what its executors are given, and processes of it that die alone."""

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import needs_spark  # noqa: F401
import psycopg
import pytest
from bulk_desk import SMALL, Desk

import pgsb.bulk.watching
import pgsb.cli.spark
from pgsb.bulk import BulkError, Outputs, load_program
from pgsb.bulk.claim import claim
from pgsb.bulk.columns import declared_schema
from pgsb.bulk.complete import complete
from pgsb.bulk.connections import connect as connect_to
from pgsb.bulk.job import run_job
from pgsb.bulk.options import JobOptions
from pgsb.bulk.progress import Progress
from pgsb.bulk.read import read
from pgsb.bulk.streaming import completing
from pgsb.cli.spark import Bar
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Connect = Callable[..., Connection]
Tcp = Callable[[Database], str]

# What --py-files brings: the program itself and what it imports.
BOOKING = """
import json, os, signal, time
from pathlib import Path
from pgsb.bulk import Outputs
import shipped_rates

def book(messages, context):
    flag = Path(os.environ["PGSB_TEST_FLAG"])

    def value(batches):
        import pyarrow
        from packed import factors
        from pyspark import TaskContext

        for batch in batches:
            rate = factors.FACTOR * shipped_rates.RATE
            sums = [int(body) * rate for body in batch["message_body"].to_pylist()]
            handles = batch["conversation_handle"]
            columns = [handles, pyarrow.array([1] * len(sums)), pyarrow.array(sums)]
            yield pyarrow.RecordBatch.from_arrays(columns, names=["conversation_handle", "messages", "sum"])
        if flag.exists():
            flag.with_suffix(".begun").touch()
            while flag.exists():
                time.sleep(0.05)
        elif TaskContext.get().attemptNumber() == 0:
            # A worker alone, when all its rows are on their way.
            flag.with_suffix(".killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)

    spark = context.spark.sparkContext
    if flag.exists():
        pid = spark._jvm.java.lang.ProcessHandle.current().pid()
        flag.with_suffix(".told").write_text(json.dumps([pid, spark.uiWebUrl, spark.applicationId]))
    chosen = messages.select("conversation_handle", "message_body")
    rows = chosen.mapInArrow(value, "conversation_handle string, messages long, sum long")
    return Outputs(tables={"dbo.total": rows}, replies=messages.selectExpr(
        "conversation_handle", "'note' AS message_type_name", "message_body"), end_all=True)
"""


def _packages(place: Path) -> tuple[str, str]:
    """A zip of modules, and an archive with a package."""
    modules, archive = place / "modules.zip", place / "env.tar.gz"
    with zipfile.ZipFile(modules, "w") as file:
        file.writestr("shipped_booking.py", BOOKING)
        file.writestr("shipped_rates.py", "RATE = 10\n")
    with tarfile.open(archive, "w:gz") as file:
        text = b"FACTOR = 7\n"
        member = tarfile.TarInfo("factors.py")
        member.size = len(text)
        file.addfile(member, io.BytesIO(text))
    return str(modules), f"{archive}#packed"


@pytest.mark.long
def test_processes_that_die_alone_lose_and_repeat_nothing(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The JVM of a job of its own first, then a Python worker; with modules and an archive for executors."""
    desk.send(2, 3)
    flag = tmp_path / "hold"
    flag.touch()
    begun, told = flag.with_suffix(".begun"), flag.with_suffix(".told")
    modules, archive = _packages(tmp_path)
    command = [sys.executable, "-c", "from pgsb.cli.main import main; main()", "spark", "run"]
    command += ["--queue", "dbo.target", "--program", "shipped_booking:book", "--master", "local[1]"]
    command += ["--py-files", modules, "--archives", archive]
    for name in set(SMALL) - {"spark.ui.enabled"}:
        command += ["--conf", f"{name}={SMALL[name]}"]
    environment = {**os.environ, "DATABASE_URL": tcp(desk.database), "PGSB_TEST_FLAG": str(flag)}
    job = subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    watcher = connect()
    try:
        while not begun.exists() and job.poll() is None:
            watcher.execute("SELECT pg_sleep(0.05)")
        assert begun.exists(), job.communicate()
        pid, url, application = json.loads(told.read_text())
        with urllib.request.urlopen(f"{url}/api/v1/applications/{application}/jobs", timeout=60) as answer:
            descriptions = {one["description"] for one in json.load(answer)}
        assert desk.value("SELECT count(*) FROM ssb.claim") == 1
        os.kill(pid, signal.SIGKILL)
        _, errors = job.communicate(timeout=120)
    finally:
        flag.unlink()
        job.kill()
        job.wait()
    assert job.returncode == 1 and "the program failed: Spark's JVM was killed (SIGKILL)" in errors, errors
    # Spark's UI is on where nobody has switched it off, and says what its jobs are for.
    assert descriptions == {f"dbo.target, claim 1: {one}" for one in ("replies", "rows for dbo.total")}
    assert (desk.waiting(), desk.value("SELECT count(*) FROM ssb.claim")) == (6, 0)

    seen: list[tuple[str, str]] = []
    shares: list[tuple[int, int]] = []

    def report(step: str, progress: Progress) -> None:
        seen.append((step, progress.stage))
        shares.append((progress.tasks, progress.all_tasks))

    monkeypatch.setenv("PGSB_TEST_FLAG", str(flag))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(pgsb.bulk.watching, "_EVERY", 0.01)
    program = load_program("shipped_booking:book", [modules])
    options = JobOptions(py_files=(modules,), archives=(archive,), partitions=2, report=report)
    done = run_job(tcp(desk.database), "dbo.target", program, options)
    assert flag.with_suffix(".killed").exists()
    assert (done.claims, done.completed, done.written, done.replied) == (1, 6, 6, 6)
    assert desk.connection.execute("SELECT sum FROM dbo.total ORDER BY sum").fetchall() == [
        (value,) for value in (70, 70, 140, 140, 210, 210)
    ]
    assert sorted(body for name, body in desk.replies() if name == "note") == ["1", "1", "2", "2", "3", "3"]
    assert desk.waiting() == 0
    assert list(dict.fromkeys(seen)) == [
        ("claimed", ""),
        ("tasks", "replies"),
        ("tasks", "rows for dbo.total"),
        ("completed", ""),
    ]
    assert all(done <= tasks for done, tasks in shares) and max(tasks for _, tasks in shares) == 4
    # That of the tests: switched off.
    assert spark.sparkContext.uiWebUrl is None


def test_what_executors_are_to_get_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(BulkError, match=f"there is no file {tmp_path}/no.zip, which the executors"):
        load_program("nowhere:book", [f"{tmp_path}/no.zip"])


def test_the_bar_moves_by_tasks_and_says_what_is_done_and_how_long_it_will_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(pgsb.cli.spark, "time", SimpleNamespace(monotonic=lambda: clock.now))
    terminal = SimpleNamespace(stderr=SimpleNamespace(isatty=lambda: True))
    bar = Bar()
    progress = Progress(claims=1, claimed=40)
    with monkeypatch.context() as patch:
        patch.setattr(pgsb.cli.spark, "sys", terminal)
        bar("claimed", progress)
        clock.now = 112.0
        progress.stage, progress.tasks, progress.all_tasks = "rows for dbo.total", 3, 12
        bar("tasks", progress)
        progress.stage, progress.tasks, progress.all_tasks = "", 12, 12
        bar("tasks", progress)
        progress.tasks = progress.all_tasks = 0
        progress.completed, progress.seconds = 40, 20.0
        bar("completed", progress)
    drawn = [line.partition(" claimed ")[0] for line in capsys.readouterr().err.split("\r")[1:]]
    assert drawn == [
        f"[{' ' * 30}]",
        # A quarter took twelve seconds.
        f"[{'#' * 8}{' ' * 22}] rows for dbo.total, 3/12 tasks, about 36 s left;",
        f"[{'#' * 30}] 12/12 tasks;",
        f"[{'#' * 30}]",
    ]
    # Elsewhere a line for each step, and none for tasks.
    bar("tasks", progress)
    bar("completed", progress)
    assert capsys.readouterr().err.splitlines() == [
        "completed: claimed 40, completed 40, written 0 rows, replied 0, failed 0: 2 messages/s"
    ]


class _OnAnotherMachine:
    """A session of Spark Connect's, as far as it is told from one whose driver is here."""

    __module__ = "pyspark.sql.connect.session"


def test_spark_connect_is_refused_where_the_drivers_jvm_is_needed(
    desk: Desk, tcp: Tcp, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import SparkSession

    # Not even Java is on such a machine.
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    monkeypatch.setattr(SparkSession, "getActiveSession", classmethod(lambda cls: _OnAnotherMachine()))
    said = "a bulk job runs in Spark's driver, and this session is Spark Connect's"
    with pytest.raises(BulkError, match=said) as refused:
        run_job(tcp(desk.database), "dbo.target", lambda messages: Outputs())
    assert "pgsb spark script" in str(refused.value.hint)
    frame: Any = SimpleNamespace(sparkSession=_OnAnotherMachine())
    with pytest.raises(BulkError, match=said):
        completing(lambda messages: Outputs(), tcp(desk.database))(frame, 0)
    # And step by step, where PySpark told of an attribute that nobody had asked for.
    desk.send(1, 1)
    session: Any = _OnAnotherMachine()
    with psycopg.connect(tcp(desk.database), autocommit=True) as owner:
        held = claim(owner, "dbo.target")
        assert held is not None
        for step in (
            lambda: read(session, held),
            lambda: complete(held, Outputs(replies=frame)),
            lambda: declared_schema(session, desk.database.dsn, "dbo.target", "trade"),
        ):
            with pytest.raises(BulkError, match=said):
                step()


@pytest.mark.long
def test_the_statement_of_a_claiming_session_ends_with_its_client(
    desk: Desk, tcp: Tcp, connect: Connect
) -> None:
    """A driver that is killed while the server works for it: nobody reads the answer."""
    dsn = tcp(desk.database)
    with connect_to(dsn, "test") as session:
        assert session.execute("SHOW client_connection_check_interval").fetchone() == ("1s",)
    work = (
        "import sys\nfrom pgsb.bulk.connections import connect\n"
        "connect(sys.argv[1], 'killed').execute('SELECT pg_sleep(3600)')"
    )
    driver = subprocess.Popen([sys.executable, "-c", work, dsn])
    watcher = connect()

    def statements() -> int:
        return desk.value(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name = 'killed' AND query LIKE '%pg_sleep(3600)'"
        )

    try:
        while not statements():
            assert driver.poll() is None
            watcher.execute("SELECT pg_sleep(0.05)")
    finally:
        driver.kill()
        driver.wait()
    # A second; without the setting it is an hour.
    for _ in range(600):
        if not statements():
            break
        watcher.execute("SELECT pg_sleep(0.1)")
    assert not statements()

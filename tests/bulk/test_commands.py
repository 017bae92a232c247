"""``pgsb spark run --continuous``, ``spark-submit spark_submit.py``, and jobs that act as another role."""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bulk_desk import Desk
from click.testing import CliRunner

from pgsb.bulk import claim
from pgsb.bulk.session import jdbc_jar
from pgsb.cli import spark as spark_module
from pgsb.cli.spark import spark_command
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Connect = Callable[..., Connection]
Tcp = Callable[[Database], str]
PROGRAMS = Path(__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "spark.md"
sys.path.insert(0, str(PROGRAMS))


@pytest.fixture(autouse=True)
def same_signals_after() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.long
def test_continuous_waits_for_more_until_it_is_told_to_end(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.send(1, 2)
    seen: list[int] = []

    def sender() -> None:
        """Sends again when the first messages are done, and then ends the command."""
        with psycopg.connect(desk.database.dsn, autocommit=True) as connection:
            mine = Desk(connection, desk.database)
            for wanted in (1, 2):
                for _ in range(1200):
                    seen.append(mine.value("SELECT count(*) FROM dbo.total"))
                    if seen[-1] == wanted:
                        break
                    connection.execute("SELECT pg_sleep(0.05)")
                if wanted == 1:
                    mine.send(1, 3)
        os.kill(os.getpid(), signal.SIGTERM)

    # Until the command has its own: a signal to it must not end the tests.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    thread = threading.Thread(target=sender)
    thread.start()
    arguments = ["run", "--dsn", tcp(desk.database), "--queue", "dbo.target", "--continuous"]
    result = CliRunner().invoke(spark_command, [*arguments, "--program", "programs:totals"])
    thread.join()
    assert result.exit_code == 0, result.output
    assert seen[-1] == 2
    assert result.stdout.startswith("claimed 5, completed 5, written 2 rows, replied 2, failed 0:")
    assert desk.waiting() == 0


def test_behind_ctrl_c_the_jvm_says_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark told of tasks that were cut off, with its stack, when the prompt was there again."""
    pyspark = pytest.importorskip("pyspark")
    said: list[tuple[str, bool]] = []

    class Context:
        def setLogLevel(self, level: str) -> None:
            said.append((level, threading.current_thread() is threading.main_thread()))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pyspark.SparkContext, "_active_spark_context", Context())
    monkeypatch.setattr(spark_module, "run_job", interrupted)
    arguments = ["run", "--dsn", "host=nowhere", "--queue", "dbo.target", "--program", "programs:totals"]
    result = CliRunner().invoke(spark_command, arguments)
    assert isinstance(result.exception, (SystemExit, KeyboardInterrupt))
    assert said == [("OFF", False)]


@pytest.mark.long
def test_a_job_under_spark_submit_that_is_killed_frees_its_messages(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, tmp_path: Path
) -> None:
    """``spark`` only says that Spark can run here: spark-submit starts its own."""
    desk.send(2, 3)
    flag = tmp_path / "hold"
    submit = Path(sys.executable).parent / "spark-submit"
    lean = "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    # The line of the page, with the driver as a file: nothing is loaded from a network here.
    (line,) = re.findall(r"^spark-submit .*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    script = CliRunner().invoke(spark_command, ["script"]).output.strip()
    words = shlex.split(line.replace('"$(pgsb spark script)"', script))
    places = {word: place for place, word in enumerate(words)}
    words[places["--packages"] : places["--packages"] + 2] = ["--jars", str(jdbc_jar())]
    words[places["--queue"] + 1] = "dbo.target"
    words[places["--program"] + 1] = "programs:totals_until_held"
    command = [str(submit), "--master", "local[1]", "--conf", lean, "--conf", "spark.ui.enabled=false"]
    # The program comes along: it lies neither here nor on PYTHONPATH.
    command += [
        *words[1:],
        "--py-files",
        str(PROGRAMS / "programs.py"),
        "--continuous",
        "--conf",
        "spark.sql.shuffle.partitions=2",
    ]
    environment = {
        **os.environ,
        "DATABASE_URL": tcp(desk.database),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PGSB_TEST_FLAG": str(flag),
    }
    for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_HOME"):
        environment.pop(name, None)
    with (tmp_path / "log").open("wb") as log:
        job = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    watcher = connect()

    def wait_for(reached: Callable[[], bool]) -> None:
        while not reached():
            assert job.poll() is None, (tmp_path / "log").read_text()
            watcher.execute("SELECT pg_sleep(0.05)")

    try:
        wait_for(lambda: bool(desk.value("SELECT count(*) FROM dbo.total") == 2))
        flag.touch()
        # At once: the job waits, and claims what is there when it wakes.
        with desk.connection.transaction():
            desk.send(2, 5)
        wait_for(flag.with_suffix(".begun").exists)
        assert claim(connect(), "dbo.target") is None
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    deadline = time.monotonic() + 2
    held = None
    while held is None and time.monotonic() < deadline:
        held = claim(watcher, "dbo.target")
    assert held is not None and held.messages == 10
    assert desk.connection.execute("SELECT messages, sum FROM dbo.total").fetchall() == [(3, 6)] * 2
    assert [one for one in desk.replies() if one[0] == "note"] == [("note", "6")] * 2


@pytest.mark.long
def test_a_job_acts_as_the_role_that_execute_as_names(
    spark: Any, desk: Desk, tcp: Tcp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon says it in PGSB_ROLE: the role's rights count, in the driver and in the executors."""
    desk.connection.execute('DROP ROLE IF EXISTS "bulk job\'s"')
    desk.connection.execute('CREATE ROLE "bulk job\'s"')
    desk.connection.execute("ALTER TABLE dbo.total ADD by_role text DEFAULT current_user")
    desk.send(2, 3)
    monkeypatch.setenv("PGSB_ROLE", "bulk job's")
    arguments = ["run", "--dsn", tcp(desk.database), "--queue", "dbo.target", "--program", "programs:totals"]
    try:
        denied = CliRunner().invoke(spark_command, arguments)
        assert denied.exit_code == 1
        assert "The RECEIVE permission was denied" in denied.output
        desk.connection.execute(
            "SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', 'dbo.target', ARRAY['bulk job''s'])"
        )
        denied = CliRunner().invoke(spark_command, arguments)
        assert denied.exit_code == 1
        assert "The INSERT permission was denied on the object 'total', database" in denied.output
        assert desk.waiting() == 6
        desk.connection.execute('GRANT USAGE ON SCHEMA dbo TO "bulk job\'s"')
        desk.connection.execute('GRANT INSERT ON dbo.total TO "bulk job\'s"')
        done = CliRunner().invoke(spark_command, arguments)
        assert done.exit_code == 0, done.output
        seen = desk.connection.execute("SELECT messages, sum, by_role FROM dbo.total").fetchall()
        assert seen == [(3, 6, "bulk job's")] * 2
    finally:
        desk.connection.execute('DROP OWNED BY "bulk job\'s"')
        desk.connection.execute('DROP ROLE "bulk job\'s"')

"""A cluster of two workers with real executors and real speculation: six JVMs, so only when it is asked for.

    PGSB_TEST_CLUSTER=1 python -m pytest tests/bulk/test_cluster.py

Spark starts no copy of a task on the host where the task runs, so the workers are 127.0.0.1 and 127.0.0.2:
one machine, where all of 127.0.0.0/8 is (Linux).
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bulk_desk import Desk

from support import Database

pytestmark = [
    pytest.mark.one_postgres,
    pytest.mark.timeout(900),
    pytest.mark.skipif("PGSB_TEST_CLUSTER" not in os.environ, reason="PGSB_TEST_CLUSTER is not set"),
]
PROGRAMS = Path(__file__).parent


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a standalone cluster with two workers of one core."""
    import pyspark

    home = tmp_path_factory.mktemp("cluster")
    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> Path:
        log = home / f"{name}.log"
        environment = {**os.environ, "SPARK_NO_DAEMONIZE": "1", "SPARK_WORKER_DIR": str(home / name)}
        environment["PYSPARK_PYTHON"] = sys.executable
        with log.open("wb") as output:
            command = [str(spark_class), f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]]
            started.append(
                subprocess.Popen(
                    command, stdout=output, stderr=output, env=environment, start_new_session=True
                )
            )
        return log

    def said(log: Path, pattern: str) -> re.Match[str]:
        deadline = time.monotonic() + 120
        while (found := re.search(pattern, log.read_text(errors="replace"))) is None:
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.2)
        return found

    try:
        log = start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        url = said(log, r"spark://127\.0\.0\.1:\d+")[0]
        for number in (1, 2):
            options = ["--host", f"127.0.0.{number}", "--cores", "1", "--memory", "700m", "--webui-port", "0"]
            said(start(f"worker{number}", "worker.Worker", *options, url), "registered with master")
        yield url
    finally:
        for process in reversed(started):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_speculative_copy_counts_once(
    desk: Desk, tcp: Callable[[Database], str], master: str, tmp_path: Path
) -> None:
    desk.send(8, 3)
    flag = tmp_path / "attempt"
    settings = {
        "spark.speculation": "true",
        "spark.speculation.interval": "200ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.multiplier": "1.1",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.locality.wait": "0",
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.PGSB_TEST_FLAG": str(flag),
    }
    command = [sys.executable, "-c", "from pgsb.cli.main import main; main()", "spark", "run"]
    command += ["--queue", "dbo.target", "--program", "programs:totals_with_a_straggler", "--master", master]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    path = os.pathsep.join([str(PROGRAMS), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {
        **os.environ,
        "DATABASE_URL": tcp(desk.database),
        "PYTHONPATH": path,
        "PYSPARK_PYTHON": sys.executable,
        "PGSB_TEST_FLAG": str(flag),
    }
    log = tmp_path / "log"
    with log.open("wb") as errors:
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, check=False
        )
    assert done.returncode == 0, log.read_text()
    assert done.stdout.startswith("claimed 24, completed 24, written 8 rows, replied 8, failed 0:")
    # Both attempts have handed on all their rows; the first was never reported.
    assert flag.with_suffix(".0").exists() and flag.with_suffix(".1").exists()
    assert desk.connection.execute("SELECT messages, sum FROM dbo.total").fetchall() == [(3, 6)] * 8
    assert [one for one in desk.replies() if one[0] == "note"] == [("note", "6")] * 8
    assert desk.waiting() == 0

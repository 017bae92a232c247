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
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bulk_desk import Desk

from pgsb.bulk.datasource import register
from support import Database

pytestmark = [
    pytest.mark.one_postgres,
    pytest.mark.timeout(900),
    pytest.mark.skipif("PGSB_TEST_CLUSTER" not in os.environ, reason="PGSB_TEST_CLUSTER is not set"),
]
PROGRAMS = Path(__file__).parent
Tcp = Callable[[Database], str]
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
STATE_STORE_PACKAGE = "org.apache.spark.sql.execution.streaming.state"


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


def _run(
    dsn: str,
    master: str,
    options: list[str],
    settings: dict[str, str],
    environment: dict[str, str],
    place: Path,
) -> str:
    """What `pgsb spark run` prints."""
    command = [sys.executable, "-c", "from pgsb.cli.main import main; main()", "spark", "run"]
    command += ["--queue", "dbo.target", "--master", master, *options]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    log = place / "log"
    with log.open("wb") as errors:
        done = subprocess.run(
            command,
            env={**os.environ, "DATABASE_URL": dsn, **environment},
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            check=False,
        )
    assert done.returncode == 0, log.read_text()
    return done.stdout


SENT = """
from pgsb.bulk import Outputs


def book(messages):
    def where(batches):
        import os, sent_rates, pyarrow

        for batch in batches:
            more = int(os.environ["SENT_WITH_IT"])
            sums = [int(body) * sent_rates.RATE + more for body in batch[1].to_pylist()]
            yield pyarrow.RecordBatch.from_arrays(
                [batch[0], pyarrow.array(sums)], names=["conversation_handle", "sum"]
            )

    chosen = messages.select("conversation_handle", "message_body")
    return Outputs(tables={"dbo.total": chosen.mapInArrow(where, "conversation_handle string, sum long")})
"""


def test_executors_get_modules_and_an_environment(
    desk: Desk, tcp: Callable[[Database], str], master: str, tmp_path: Path
) -> None:
    """--py-files and --archives; the Python in the archive stands for that of a packed environment."""
    desk.send(4, 2)
    with zipfile.ZipFile(tmp_path / "modules.zip", "w") as modules:
        modules.writestr("sent_booking.py", SENT)
        modules.writestr("sent_rates.py", "RATE = 10\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nSENT_WITH_IT=3 exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    with tarfile.open(tmp_path / "env.tar.gz", "w:gz") as archive:
        archive.add(python, "bin/python")
    options = ["--program", "sent_booking:book", "--py-files", "modules.zip"]
    options += ["--archives", "env.tar.gz#env"]
    environment = {"PYSPARK_PYTHON": "./env/bin/python"}
    settings = {"spark.executor.memory": "512m", "spark.driver.host": "127.0.0.1"}
    told = _run(tcp(desk.database), master, options, settings, environment, tmp_path)
    assert told.startswith("claimed 8, completed 8, written 8 rows")
    sums = desk.connection.execute("SELECT sum, count(*) FROM dbo.total GROUP BY sum ORDER BY sum").fetchall()
    assert sums == [(13, 4), (23, 4)]


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
    environment = {"PYTHONPATH": os.pathsep.join([str(PROGRAMS), os.environ.get("PYTHONPATH", "")])}
    environment |= {"PYSPARK_PYTHON": sys.executable, "PGSB_TEST_FLAG": str(flag)}
    options = ["--program", "programs:totals_with_a_straggler"]
    told = _run(tcp(desk.database), master, options, settings, environment, tmp_path)
    assert told.startswith("claimed 24, completed 24, written 8 rows, replied 8, failed 0:")
    # Both attempts have handed on all their rows; the first was never reported.
    assert flag.with_suffix(".0").exists() and flag.with_suffix(".1").exists()
    assert desk.connection.execute("SELECT messages, sum FROM dbo.total").fetchall() == [(3, 6)] * 8
    assert [one for one in desk.replies() if one[0] == "note"] == [("note", "6")] * 8
    assert desk.waiting() == 0


CONNECT = """
import sys
from pathlib import Path
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pgsb.bulk import BulkError, Outputs
from pgsb.bulk.datasource import register
from pgsb.bulk.job import run_job
from pgsb.bulk.streaming import completing

dsn, place = sys.argv[1], Path(sys.argv[2])
spark = SparkSession.builder.remote("local[2]").getOrCreate()
register(spark)
queue = {"dsn": dsn, "queue": "dbo.target"}
services = {"dsn": dsn, "fromService": "source", "toService": "target", "contract": "trades"}
frame = spark.createDataFrame([("a",), ("b",)], "message_body string")
frame.write.format("pgsb").mode("append").options(**services, messageType="trade").save()
look = spark.read.format("pgsb").options(**queue).load()
print("look", sorted(bytes(row.message_body) for row in look.collect()))
try:
    run_job(dsn, "dbo.target", lambda messages: Outputs())
except BulkError as error:
    print("job", error)
source = spark.readStream.format("pgsb").options(**queue).load()
def run(writer, name):
    query = writer.option("checkpointLocation", str(place / name)).trigger(availableNow=True).start()
    try:
        query.awaitTermination(300)
    except StreamingQueryException as error:
        return error
    return query.exception()
def book(messages):
    return Outputs()

refused = run(source.writeStream.foreachBatch(completing(book, dsn)), "one")
print("completing", "Spark Connect" in str(refused))
bodies = source.selectExpr("CAST(message_body AS STRING) AS body")
print("stream", run(bodies.writeStream.format("parquet").option("path", str(place / "out")), "one"))
print(sorted(row.body for row in spark.read.parquet(str(place / "out")).collect()))
"""


def test_spark_connect_reads_streams_and_sends_and_does_not_run_jobs(
    desk: Desk, tcp: Callable[[Database], str], tmp_path: Path
) -> None:
    """A server of its own, and a client; where grpcio, which Spark Connect needs, is installed."""
    pytest.importorskip("grpc")
    script = tmp_path / "client.py"
    script.write_text(CONNECT)
    command = [sys.executable, str(script), tcp(desk.database), str(tmp_path)]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "look [b'a', b'b']",
        "job a bulk job runs in Spark's driver, and this session is Spark Connect's",
        "completing True",
        "stream None",
        "['a', 'b']",
    ]
    assert desk.waiting() == 0


def test_state_of_a_stream_that_is_stopped_and_starts_again(
    spark: Any, desk: Desk, tcp: Tcp, tmp_path: Path
) -> None:
    """A count, messages without repetitions and a processor of one's own, each started three times.

    Where protobuf is installed, in which the processor's worker talks to Spark.
    """
    pytest.importorskip("google.protobuf")
    from pyspark.sql.streaming import StatefulProcessor

    class Counter(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.count = handle.getValueState("count", "count long")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:
            import pandas

            state = self.count.get()
            count = (state[0] if state else 0) + sum(len(frame) for frame in rows)
            self.count.update((count,))
            yield pandas.DataFrame({"body": [key[0]], "count": [count]})

        def close(self) -> None:
            pass

    def own(bodies: Any) -> Any:
        return bodies.groupBy("body").transformWithStateInPandas(
            Counter(), "body string, count long", "Update", "None"
        )

    register(spark)
    source = spark.readStream.format("pgsb").option("dsn", tcp(desk.database)).option("queue", "dbo.target")
    bodies = (
        source.option("maxMessagesPerTrigger", "4").load().selectExpr("CAST(message_body AS STRING) AS body")
    )
    spark.conf.set(STATE_STORE, f"{STATE_STORE_PACKAGE}.RocksDBStateStoreProvider")
    try:
        for name, change, mode in (
            ("own", own, "append"),
            ("counted", lambda frame: frame.groupBy("body").count(), "complete"),
            ("distinct", lambda frame: frame.dropDuplicates(["body"]), "append"),
        ):
            for body in (b"a", b"b", b"a"):
                desk.send(2, 3, body=body)
                writer = change(bodies).writeStream.outputMode(mode).queryName(name)
                writer = writer.option("checkpointLocation", str(tmp_path / f"{name}.checkpoint"))
                if mode == "complete":
                    query = writer.format("memory").start()
                else:
                    query = writer.format("parquet").option("path", str(tmp_path / name)).start()
                try:
                    query.processAllAvailable()
                finally:
                    query.stop()
            assert desk.waiting() == 0
    finally:
        spark.conf.unset(STATE_STORE)
    counts = spark.read.parquet(str(tmp_path / "own")).groupBy("body").max("count").collect()
    assert sorted(map(tuple, counts)) == [("a", 12), ("b", 6)]
    assert sorted(map(tuple, spark.table("counted").collect())) == [("a", 12), ("b", 6)]
    assert sorted(map(tuple, spark.read.parquet(str(tmp_path / "distinct")).collect())) == [("a",), ("b",)]

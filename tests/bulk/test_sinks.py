"""Spark's own sinks behind a stream of ours: each message once, and what the options and the progress say."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import needs_spark  # noqa: F401
import pytest
from bulk_desk import Desk

from pgsb.bulk import BulkError, Outputs
from pgsb.bulk.claim import claim, find_claim
from pgsb.bulk.complete import complete
from pgsb.bulk.datasource import register
from pgsb.bulk.looking import QueueReader
from pgsb.bulk.source_options import read_options
from pgsb.bulk.streaming import QueueStreamReader
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Tcp = Callable[[Database], str]
# What each session says of itself.
NOTES = "INSERT INTO dbo.session (name) VALUES (current_setting('application_name'))"


def _stream(spark: Any, dsn: str, **options: str) -> Any:
    register(spark)
    reader = spark.readStream.format("pgsb").option("dsn", dsn).option("queue", "dbo.target")
    return reader.options(**options).load()


def _bodies(frame: Any) -> Any:
    return frame.selectExpr("CAST(message_body AS STRING) AS body")


@pytest.mark.long
def test_memory_and_console_get_each_message_once(spark: Any, desk: Desk, tcp: Tcp, tmp_path: Path) -> None:
    """Two batches each, and on the way: the bytes of a batch, what each session runs first, the progress."""
    dsn = tcp(desk.database)
    desk.connection.execute("CREATE TABLE dbo.session (name text)")
    desk.send(2, 2, body=b"four")
    options = {"maxBytesPerTrigger": "8", "numPartitions": "1", "sessionInitStatement": NOTES}
    frame = _bodies(_stream(spark, dsn, **options))
    query = frame.writeStream.format("memory").queryName("seen").start()
    try:
        query.processAllAvailable()
        progress = query.recentProgress
    finally:
        query.stop()
    assert [row.body for row in spark.table("seen").collect()] == ["four"] * 4
    assert desk.waiting() == 0
    # Eight bytes are one conversation: what is claimed is in the queue until the next batch begins.
    told = [json.loads(one.json)["sources"][0]["latestOffset"] for one in progress if one.numInputRows]
    assert [(one["waiting"], one["claims"], one["claimed"], one["completed"]) for one in told] == [
        (4, 1, 2, 0),
        (2, 1, 2, 2),
    ]
    assert all(one["oldestSeconds"] > 0 for one in told)
    names = desk.connection.execute("SELECT name, count(*) FROM dbo.session GROUP BY 1 ORDER BY 1")
    assert names.fetchall() == [("pgsb stream claim", 1), ("pgsb stream read", 2)]

    desk.send(1, 1, body=b"first")
    desk.send(1, 1, body=b"second")
    printed = tmp_path / "printed"
    # Spark prints in the JVM, by Scala's stream of the thread that starts the query.
    scala = getattr(getattr(spark._jvm.scala, "Console$"), "MODULE$")
    before = scala.out()
    scala.setOutDirect(spark._jvm.java.io.PrintStream(str(printed)))
    query = _bodies(_stream(spark, dsn, maxMessagesPerTrigger="1")).writeStream.format("console").start()
    try:
        query.processAllAvailable()
    finally:
        query.stop()
        scala.setOutDirect(before)
    found = re.findall(r"Batch: \d|first|second", printed.read_text())
    assert found == ["Batch: 0", "first", "Batch: 1", "second"]
    assert desk.waiting() == 0


@pytest.mark.long
def test_files_get_each_message_once_also_of_a_query_that_ends_before_sparks_commit(
    spark: Any, desk: Desk, tcp: Tcp, tmp_path: Path
) -> None:
    dsn = tcp(desk.database)
    desk.send(3, 2)
    place, out = tmp_path / "checkpoint", tmp_path / "out"
    commits = place / "commits"

    def no_commit(batches: Any) -> Any:
        yield from batches
        # While the batch runs: where Spark will note that the batch is through there is no folder.
        if commits.is_dir():
            commits.rename(commits.with_suffix(".away"))
            commits.touch()

    def start(frame: Any) -> Any:
        writer = frame.writeStream.format("parquet").option("path", str(out))
        return writer.option("checkpointLocation", str(place)).trigger(availableNow=True).start()

    bodies = _bodies(_stream(spark, dsn, maxMessagesPerTrigger="2"))
    query = start(bodies.mapInArrow(no_commit, bodies.schema))
    with pytest.raises(Exception, match="commits"):
        query.awaitTermination(300)
    assert (out / "_spark_metadata" / "0").exists()
    assert desk.waiting() == 6
    commits.unlink()
    shutil.move(commits.with_suffix(".away"), commits)
    assert not list(commits.glob("0"))
    desk.send(1, 1)
    query = start(bodies)
    assert query.awaitTermination(300) and query.exception() is None
    assert sorted(row.body for row in spark.read.parquet(str(out)).collect()) == ["1"] * 4 + ["2"] * 3
    assert desk.waiting() == 0
    assert desk.value("SELECT count(*) FROM ssb.claim") == 0


@pytest.mark.long
def test_files_get_each_message_once_also_of_a_driver_that_is_killed_before_sparks_commit(
    spark: Any, desk: Desk, tcp: Tcp, tmp_path: Path
) -> None:
    """Driver and JVM at once, by a signal nobody hears: where Spark was quicker, the next batch is it."""
    dsn = tcp(desk.database)
    place, out = tmp_path / "checkpoint", tmp_path / "out"
    script = Path(__file__).with_name("killed_stream.py")
    folders = (Path(__file__).parent, Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
        environment.pop(name, None)
    for batch in range(5):
        desk.send(2, 2)
        command = [sys.executable, str(script), dsn, str(place), str(out), str(batch)]
        killed = subprocess.run(
            command, env=environment, capture_output=True, text=True, start_new_session=True, check=False
        )
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert (out / "_spark_metadata" / str(batch)).exists()
        if not (place / "commits" / str(batch)).exists():
            break
    else:
        pytest.fail("Spark's commit was always there before the signal")
    sent = (batch + 1) * 4
    assert desk.value("SELECT state FROM ssb.claims") == "waiting"
    assert desk.waiting() == sent - 2 * batch
    query = (
        _stream(spark, dsn, maxMessagesPerTrigger="2")
        .selectExpr("CAST(message_body AS STRING) AS body", "queuing_order AS place")
        .writeStream.format("parquet")
        .option("path", str(out))
        .option("checkpointLocation", str(place))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(300) and query.exception() is None
    rows = spark.read.parquet(str(out)).collect()
    assert len(rows) == sent and len({row.place for row in rows}) == sent
    assert sorted(row.body for row in rows) == ["1"] * (sent // 2) + ["2"] * (sent // 2)
    assert desk.waiting() == 0
    assert desk.value("SELECT count(*) FROM ssb.claim") == 0


def test_a_pattern_that_nothing_matches_lists_some_queues_and_not_all(desk: Desk) -> None:
    options = read_options({"dsn": desk.database.dsn, "queue": "dbo.none*"})
    with pytest.raises(BulkError, match="no queue matches") as few:
        options.queues(desk.connection)
    assert few.value.hint and few.value.hint.startswith("there are dbo.source, dbo.target; ")
    for number in range(20):
        desk.connection.execute("SELECT ssb.create_queue(%s)", (f"dbo.other{number}",))
    with pytest.raises(BulkError, match="no queue matches") as many:
        options.queues(desk.connection)
    assert many.value.hint and " and 2 more; *, ?" in many.value.hint


def test_rows_come_as_many_at_a_time_as_fetchsize_says(desk: Desk) -> None:
    desk.send(1, 5)
    options = {"dsn": desk.database.dsn, "queue": "dbo.target", "fetchsize": "2", "numPartitions": "1"}
    look = QueueReader(read_options(options))
    assert [batch.num_rows for part in look.partitions() for batch in look.read(part)] == [2, 2, 1]
    reader = QueueStreamReader(read_options(options))
    start = reader.initialOffset()
    end = reader.latestOffset(start)
    rows = [batch.num_rows for part in reader.partitions(start, end) for batch in reader.read(part)]
    reader.stop()
    assert rows == [2, 2, 1]


@pytest.mark.parametrize("size", ["1", "2"])
def test_a_part_is_read_to_its_end_whatever_its_rows_are(desk: Desk, size: str) -> None:
    """As of bodies of 50 MB, which come one by one; and of conversations that somebody ends meanwhile."""
    desk.send(8, 2)
    options = {"dsn": desk.database.dsn, "queue": "dbo.target", "fetchsize": size, "numPartitions": "1"}
    reader = QueueStreamReader(read_options(options))
    start = reader.initialOffset()
    end = reader.latestOffset(start)
    desk.connection.execute(
        "SELECT ssb.end_conversation(c.handle) FROM (SELECT conversation_handle AS handle FROM dbo.target"
        " GROUP BY 1 ORDER BY min(queuing_order) LIMIT 5) AS c"
    )
    (part,) = reader.partitions(start, end)
    assert sum(batch.num_rows for batch in reader.read(part)) == desk.waiting() == 6
    reader.stop()


def test_what_a_program_completes_is_in_the_streams_progress(
    desk: Desk, connect: Callable[..., Connection]
) -> None:
    """By `completing`: in a session of its own, under the stream's hands."""
    desk.send(3, 1)
    reader = QueueStreamReader(read_options({"dsn": desk.database.dsn, "queue": "dbo.target"}))
    start = reader.initialOffset()
    end = reader.latestOffset(start)
    reader.partitions(start, end)
    ((queue, claim_id, claimed_at),) = end["claims"]
    told = reader.reportLatestOffset()
    assert told is not None and (told["claimed"], told["completed"]) == (3, 0)
    held = find_claim(connect(), queue, claim_id, claimed_at)
    assert held is not None
    complete(held, Outputs(unread="complete"), desk.database.dsn)
    reader.commit(end)
    assert reader.latestOffset(end) == end
    told = reader.reportLatestOffset()
    reader.stop()
    assert told == {
        "waiting": 0,
        "oldestSeconds": None,
        "setAside": 0,
        "claims": 0,
        "claimed": 0,
        "completed": 3,
    }


def test_what_is_set_aside_does_not_count_as_waiting(desk: Desk, connect: Callable[..., Connection]) -> None:
    """Nor is it taken for what waits at the start, of which as many messages are taken."""
    desk.send(1, 3)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    handle = desk.value("SELECT conversation_handle FROM dbo.target LIMIT 1")
    owner.execute(
        "SELECT ssb_internal.fail_conversations(%s, ARRAY[%s], ARRAY[NULL::bigint], '{bad}')",
        (held.claim_id, str(handle)),
    )
    complete(held, Outputs(unread="complete", failures="quarantine"), desk.database.dsn)
    options = {"dsn": desk.database.dsn, "queue": "dbo.target"}

    def progress() -> dict[str, Any]:
        reader = QueueStreamReader(read_options(options))
        reader.initialOffset()
        told = reader.reportLatestOffset()
        reader.stop()
        assert told is not None
        return told

    assert [progress()[name] for name in ("waiting", "oldestSeconds", "setAside")] == [0, None, 3]
    desk.send(2, 1)
    told = progress()
    assert (told["waiting"], told["setAside"]) == (2, 3)
    first = desk.value(
        "SELECT extract(epoch FROM clock_timestamp() - min(enqueued_at)) FROM ssb.message_stored AS m"
        " WHERE m.endpoint_id NOT IN (SELECT g.endpoint_id FROM ssb.quarantined_group AS g)"
    )
    assert 0 < told["oldestSeconds"] <= first
    reader = QueueStreamReader(read_options(options))
    start = reader.initialOffset()
    reader.prepareForTriggerAvailableNow()
    # As many came since as are set aside.
    desk.send(3, 1)
    reader.latestOffset(start)
    reader.stop()
    assert desk.value("SELECT messages FROM ssb.claims") == 2

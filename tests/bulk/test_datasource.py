"""``format("pgsb")``: queues as a source and a sink, found by name, with any of Spark's sinks."""

import functools
import re
import subprocess
import sys
import time
import traceback
import uuid
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import needs_spark  # noqa: F401
import psycopg
import pytest
from bulk_desk import Desk
from pooler import Pooler

from pgsb.bulk import BulkError, ClaimLost, Outputs, connections, streaming, writing
from pgsb.bulk.datasource import QueueDataSource, register
from pgsb.bulk.looking import FilteredReader, QueueReader
from pgsb.bulk.problems import NotConnected
from pgsb.bulk.rows import STREAM_SCHEMA
from pgsb.bulk.sending import Dialogs, not_sent, send_rows
from pgsb.bulk.sending import send as send_frame
from pgsb.bulk.source_options import read_options
from pgsb.bulk.streaming import QueueStreamReader, completing
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Connect = Callable[..., Connection]
Tcp = Callable[[Database], str]
_RECEIVE = "SELECT ssb.{}_permission('{{RECEIVE}}', 'OBJECT', 'dbo.target', '{{pgsb_other_stream}}')"


def _source(spark: Any, dsn: str, **options: str) -> Any:
    register(spark)
    reader = spark.readStream.format("pgsb").option("dsn", dsn).option("queue", "dbo.target")
    return reader.options(**options).load()


def _structure(columns: str) -> Any:
    """The columns as Spark's type, without its JVM."""
    from pyspark.sql.types import StructType

    structure = StructType()
    for name, kind in (one.split(" ") for one in columns.split(", ")):
        structure.add(name.strip("`"), {"int": "integer", "timestamp_ltz": "timestamp"}.get(kind, kind))
    return structure


def _run(writer: Any, place: Path) -> None:
    """Everything that waits, then the end."""
    query = writer.option("checkpointLocation", str(place / "checkpoint")).trigger(availableNow=True).start()
    assert query.awaitTermination(300)
    assert query.exception() is None


@pytest.mark.long
def test_a_batch_survives_its_driver_and_comes_again_under_its_offset(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, tmp_path: Path
) -> None:
    dsn = tcp(desk.database)
    desk.send(2, 2)
    seen: list[list[int]] = []

    def fails(frame: Any, number: int) -> None:
        seen.append(sorted(row.queuing_order for row in frame.select("queuing_order").collect()))
        raise RuntimeError("the driver dies")

    query = (
        _source(spark, dsn)
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .foreachBatch(fails)
        .start()
    )
    with pytest.raises(Exception, match="the driver dies"):
        query.awaitTermination(300)
    # Nobody else gets them meanwhile, though no session holds them.
    desk.connection.execute("SELECT ssb_internal.sweep_claims()")
    assert connect().execute("SELECT FROM ssb.receive('dbo.target')").fetchall() == []
    assert desk.value("SELECT state FROM ssb.claims") == "waiting"
    desk.send(1, 1)

    def notes(frame: Any, number: int) -> None:
        seen.append(sorted(row.queuing_order for row in frame.select("queuing_order").collect()))

    _run(_source(spark, dsn).writeStream.foreachBatch(notes), tmp_path)
    assert seen[0] == seen[1] and len(seen[1]) == 4 and len(seen[2]) == 1
    assert desk.waiting() == 0


@pytest.mark.long
def test_a_stream_whose_claim_has_ended_says_so(spark: Any, desk: Desk, tcp: Tcp, tmp_path: Path) -> None:
    dsn = tcp(desk.database)
    desk.send(1, 2)

    def fails(frame: Any, number: int) -> None:
        raise RuntimeError("the driver dies")

    options = {"checkpointLocation": str(tmp_path / "checkpoint")}
    query = _source(spark, dsn).writeStream.options(**options).foreachBatch(fails).start()
    with pytest.raises(Exception, match="the driver dies"):
        query.awaitTermination(300)
    desk.connection.execute("SELECT ssb_internal.drop_claim(claim_id) FROM ssb.claim")
    query = _source(spark, dsn).writeStream.options(**options).foreachBatch(fails).start()
    with pytest.raises(Exception, match="its messages are in the queue again"):
        query.awaitTermination(300)
    # It passes the claim that has ended, and takes the next.
    passes = completing(lambda messages: Outputs(), dsn, "dbo.target")
    _run(_source(spark, dsn, failOnDataLoss="false").writeStream.foreachBatch(passes), tmp_path)
    assert desk.waiting() == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame.where("message_body = '1'"), "2 of the 4 messages of claim"),
        (lambda frame: frame.where("false"), "4 of the 4 messages of claim"),
        (lambda frame: frame.groupBy("conversation_handle").count(), "cannot be told, since claim_id"),
    ],
    ids=["filtered", "all of it", "aggregated"],
)
def test_what_was_filtered_away_is_not_deleted_unseen(
    spark: Any, desk: Desk, tcp: Tcp, tmp_path: Path, change: Callable[[Any], Any], said: str
) -> None:
    dsn = tcp(desk.database)
    desk.send(2, 2)
    frames = change(_source(spark, dsn))
    mode = "complete" if "count" in frames.columns else "append"

    def count(messages: Any) -> Outputs:
        rows = messages.selectExpr("CAST(count(*) AS LONG) AS messages")
        return Outputs(tables={"dbo.total": rows})

    def start(process: Any) -> Any:
        place = str(tmp_path / "checkpoint")
        writer = frames.writeStream.outputMode(mode).option("checkpointLocation", place)
        return writer.trigger(availableNow=True).foreachBatch(process).start()

    with pytest.raises(Exception, match=said):
        start(completing(count, dsn)).awaitTermination(300)
    assert desk.waiting() == 4
    if mode == "complete":
        query = start(completing(count, dsn, unread="complete"))
        assert query.awaitTermination(300) and query.exception() is None
        assert desk.waiting() == 0


def test_a_look_takes_nothing_and_sees_several_queues_and_views(spark: Any, desk: Desk, tcp: Tcp) -> None:
    register(spark)
    desk.send(2, 2)
    dsn = tcp(desk.database)
    rows = spark.read.format("pgsb").options(dsn=dsn, queue="dbo.t*, dbo.source").load()
    assert sorted((row.queue, bytes(row.message_body)) for row in rows.collect()) == [
        ("dbo.target", b"1"),
        ("dbo.target", b"1"),
        ("dbo.target", b"2"),
        ("dbo.target", b"2"),
    ]
    assert desk.waiting() == 4
    for is_asked in ("false", "true"):
        spark.conf.set("spark.sql.python.filterPushdown.enabled", is_asked)
        chosen = rows.where("queuing_order > 0 AND message_body = X'31'")
        assert chosen.count() == 1
        planned = chosen._jdf.queryExecution().executedPlan().toString()
        assert ("Filter (" in planned) is (is_asked == "false")
    ends = spark.read.format("pgsb").options(dsn=dsn, view="sys.conversation_endpoints").load()
    assert ends.where("is_initiator = 1").select("state_desc").distinct().collect()[0][0] == "CONVERSING"
    assert dict(ends.dtypes)["conversation_handle"] == "string"
    # What this session calls a timestamp has no time zone.
    spark.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
    try:
        again = spark.read.format("pgsb").options(dsn=dsn, queue="dbo.target").load()
        assert dict(again.dtypes)["message_enqueue_time"] == "timestamp"
        assert again.where("message_enqueue_time < current_timestamp()").count() == 4
    finally:
        spark.conf.unset("spark.sql.timestampType")


def test_what_where_asks_is_asked_of_the_server(desk: Desk) -> None:
    from pyspark.sql import datasource as spark_filters

    if not hasattr(spark_filters, "EqualTo"):
        pytest.skip("this Spark hands no filters over")
    names = ("EqualTo", "In", "Not", "GreaterThan", "IsNull", "EqualNullSafe", "StringStartsWith")
    equal, among, no, greater, null, same, begins = (getattr(spark_filters, name) for name in names)
    handle, _ = desk.send(2, 2)
    handle = str(desk.value("SELECT conversation_handle::text FROM dbo.target LIMIT 1"))
    moment = desk.value("SELECT max(message_enqueue_time)::timestamp AT TIME ZONE 'UTC' FROM dbo.target")
    options = read_options({"dsn": desk.database.dsn, "queue": "dbo.target, dbo.source"})

    def asked(*filters: Any) -> tuple[int, int]:
        """Messages, and filters that are left to Spark."""
        look = FilteredReader(options)
        left = list(look.pushFilters(list(filters)))
        return sum(batch.num_rows for part in look.partitions() for batch in look.read(part)), len(left)

    assert asked(equal(("conversation_handle",), handle), equal(("message_body",), b"2")) == (1, 0)
    assert asked(among(("conversation_handle",), (handle,))) == (2, 0)
    # As texts they differ.
    assert asked(equal(("conversation_handle",), handle.upper())) == (0, 0)
    assert asked(no(equal(("conversation_handle",), handle.upper()))) == (4, 0)
    assert asked(equal(("message_type_name",), "TRADE")) == asked(equal(("validation",), "N ")) == (0, 0)
    assert asked(begins(("message_type_name",), "tr"), same(("queue",), "dbo.target")) == (4, 0)
    assert asked(greater(("message_type_name",), "a'\\")) == asked(null(("claim_id",))) == (4, 0)
    assert asked(greater(("message_enqueue_time",), moment)) == (0, 0)
    # PostgreSQL has no such text, and not every zone is known.
    assert asked(equal(("message_type_name",), "a\0")) == (4, 1)
    assert asked(equal(("message_enqueue_time",), moment.replace(tzinfo=None)))[1] == 1
    assert asked(equal(("message_body", "part"), 1), among(("priority",), (5, None))) == (4, 2)


@pytest.mark.long
def test_frames_are_sent_on_handles_on_keys_and_on_dialogs_of_their_own(
    spark: Any, desk: Desk, tcp: Tcp
) -> None:
    register(spark)
    dsn = tcp(desk.database)
    services = {"dsn": dsn, "fromService": "source", "toService": "target", "contract": "trades"}

    def send(frame: Any, **options: str) -> None:
        frame.write.format("pgsb").mode("append").options(**options, messageType="trade").save()

    bodies = spark.createDataFrame([("a",), ("b",)], "message_body string").coalesce(1)
    send(bodies, **services)
    assert desk.value("SELECT count(DISTINCT conversation_handle) FROM dbo.target") == 2
    keyed = bodies.selectExpr("message_body", "'k' AS key")
    send(keyed, **services)
    send(keyed, **services, recycle="true")
    send(keyed, **services, recycle="true")
    sizes = desk.connection.execute(
        "SELECT count(*) FROM dbo.target GROUP BY conversation_handle ORDER BY 1"
    ).fetchall()
    assert sizes == [(1,), (1,), (2,), (4,)]
    handle = desk.value("SELECT ssb.begin_dialog('source', 'target', 'trades')")
    send(bodies.selectExpr("message_body", f"'{handle}' AS conversation_handle"), dsn=dsn)
    this = "5e0f0d5c-7d5c-4f5e-9d5e-0123456789ab"
    for _ in range(2):
        send(bodies, **services, sendId=this)
    assert desk.waiting() == 2 + 2 + 4 + 2 + 2


@pytest.mark.long
def test_what_a_send_has_left_is_sent_under_the_number_that_its_error_tells(
    spark: Any, desk: Desk, tcp: Tcp
) -> None:
    """Its tasks count one by one: who had not given a number could only send all of it again."""
    register(spark)
    dsn = tcp(desk.database)
    services = {"dsn": dsn, "fromService": "source", "toService": "target", "contract": "trades"}
    dialogs = Dialogs("source", "target", "trades")

    def frame(last: str) -> Any:
        kind = f"IF(id = 5, '{last}', 'trade') AS message_type_name"
        return spark.range(0, 6, 1, 3).selectExpr("CAST(id AS STRING) AS message_body", kind)

    def write(frame: Any, **options: str) -> None:
        frame.write.format("pgsb").mode("append").options(**services, **options).save()

    with pytest.raises(Exception, match='The message type "nix" is not found') as failed:
        write(frame("nix"))
    told = re.search(
        r'option\("sendId", "([0-9a-f-]+)"\), on a frame in the same partitions', str(failed.value)
    )
    assert told is not None and desk.waiting() <= 4
    write(frame("trade"), sendId=told[1])
    assert desk.waiting() == 6
    with pytest.raises(BulkError, match='The message type "nix" is not found') as failed_send:
        send_frame(frame("nix"), dsn, dialogs=dialogs)
    told = re.search(r'send_id=uuid.UUID\("([0-9a-f-]+)"\)', str(failed_send.value.hint))
    assert told is not None
    send_frame(frame("trade"), dsn, dialogs=dialogs, send_id=uuid.UUID(told[1]))
    sent = desk.connection.execute("SELECT convert_from(message_body, 'UTF8') FROM dbo.target ORDER BY 1")
    assert [body for (body,) in sent] == [str(number // 2) for number in range(12)]


@pytest.mark.long
def test_columns_to_send_are_found_in_any_case_and_no_type_is_the_options(
    spark: Any, desk: Desk, tcp: Tcp
) -> None:
    register(spark)
    dsn = tcp(desk.database)
    rows = [("a", None, "k"), ("b", "note", "k")]
    columns = "Message_Body string, message_TYPE_name string, KEY string"
    frame = spark.createDataFrame(rows, columns).coalesce(1)
    services = {"dsn": dsn, "fromService": "source", "toService": "target", "contract": "trades"}
    frame.write.format("pgsb").mode("append").options(**services, messageType="trade").save()
    assert send_frame(frame, dsn, dialogs=Dialogs("source", "target", "trades"), message_type="trade") == 2
    sent = desk.connection.execute(
        "SELECT convert_from(message_body, 'UTF8'), message_type_name FROM dbo.target ORDER BY queuing_order"
    ).fetchall()
    assert sent == [("a", "trade"), ("b", "note")] * 2


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ("message_body string", {"path": "target"}, "do not go to a place such as 'target'"),
        ("message_body string, Message_Body string", {}, "two columns 'message_body'"),
        ("message_body string, Sum long", {}, "no column 'Sum'"),
        ("message_body string", {"queue": "dbo.target"}, '"queue" is for reading'),
        ("message_body string, key int", {"fromService": "source"}, "in the program: f.col(…).cast"),
        ("message_body variant", {"fromService": "source"}, "in the program: f.to_json"),
        ("message_body string", {"maxAge": "1 hour"}, "kept"),
        ("message_body string", {"fromService": "source", "sendId": ""}, 'the option "sendId" is empty'),
    ],
)
def test_what_cannot_be_a_message_is_told(columns: str, options: dict[str, str], said: str) -> None:
    # The server is asked last, and none is there.
    source = QueueDataSource({"dsn": "host=127.0.0.1 port=1", "toService": "target", **options})
    with pytest.raises(BulkError) as refused:
        source.writer(_structure(columns), False)
    assert said in "".join(traceback.format_exception(refused.value))


@pytest.mark.long
def test_a_stream_sends_each_batch_once(spark: Any, desk: Desk, tcp: Tcp, tmp_path: Path) -> None:
    register(spark)
    dsn = tcp(desk.database)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.txt").write_text("a\nb\n")
    lines = (
        spark.readStream.format("text").load(str(tmp_path / "in")).withColumnRenamed("value", "message_body")
    )
    services = {"dsn": dsn, "fromService": "source", "toService": "target", "contract": "trades"}
    _run(lines.writeStream.format("pgsb").options(**services, messageType="trade"), tmp_path)
    assert desk.waiting() == 2
    # As if the driver had died before Spark noted that the batch was through.
    for path in (tmp_path / "checkpoint" / "commits").glob("*0*"):
        path.unlink()
    _run(lines.writeStream.format("pgsb").options(**services, messageType="trade"), tmp_path)
    assert desk.waiting() == 2


@pytest.mark.parametrize(
    ("options", "said", "hint"),
    [
        ({"queu": "x"}, "has no option 'queu'", "did you mean queue?"),
        ({"subscribe": "x"}, "has no option 'subscribe'", '"queue", …) says what is read'),
        ({"maxOffsetsPerTrigger": "x"}, "no option 'maxoffsetspertrigger'", "mean maxMessagesPerTrigger?"),
        ({"startingOffsets": "earliest"}, "no option 'startingoffsets'", "begins with what waits"),
        ({"kafka.security.protocol": "SSL"}, "no option 'kafka.security", "for Kafka's client"),
        ({"batchsize": "10"}, "no option 'batchsize'", "sends its rows in packs"),
        ({"dsn": "dbname=d", "toService": "x"}, '"toService" is for writing', 'spark.sql("SELECT …").write'),
        ({"dsn": "dbname=d", "maxAge": "1 hour"}, '"toService" is for writing|"maxAge" is for', None),
        ({"queue": "x", "option.queue": "x", "provider": "pgsb"}, "table USING pgsb", "TEMPORARY VIEW"),
        ({}, 'the option "dsn" is missing', "dbname=shop"),
        ({"dsn": "dbname=d", "maxMessagesPerTrigger": "many"}, "must be a number", None),
        ({"dsn": "dbname=d", "numPartitions": "2147483647"}, "and at most 100,000", None),
        (
            {"dsn": "dbname=d", "url": "postgresql:///e"},
            '"dsn" and "url" mean the same, and differ',
            "leave one",
        ),
        (
            {"dsn": "dbname=d", "maxBytes": "8", "maxBytesPerTrigger": "9"},
            "mean the same, and differ",
            "leave one",
        ),
        ({"dsn": "dbname=d", "claimTimeout": "9" * 18}, "and at most 2,147,483,647", None),
        ({"dsn": "dbname=d", "maxBytesPerTrigger": "8388608t"}, "and at most 9,223,372,036,854,775", None),
        ({"dsn": "dbname=d", "role": " "}, 'the option "role" is empty', "leave it away"),
        ({"dsn": "dbname=d", "streamName": ""}, 'the option "streamName" is empty', None),
        ({"dsn": "", "user": ""}, 'the option "dsn" is empty', None),
        ({"dsn": "dbname=d", "streamName": "a\0b"}, 'the option "streamName" has a NUL', None),
        ({"dsn": "dbname=d", "failOnDataLoss": "no"}, "must be true or false", None),
        ({"url": "jdbc:postgresql://h/d?reWriteBatchedInserts=true"}, "cannot be read", "other names"),
    ],
)
def test_an_option_that_is_wrong_is_named(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, str], said: str, hint: str | None
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    with pytest.raises(BulkError, match=said) as refused:
        read_options(options)
    # All that Spark tells its user of an error in a source is its traceback.
    assert hint is None or hint in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(("size", "count"), [("8", 8), (" 10m ", 10 << 20), ("1GB", 1 << 30), ("2b", 2)])
def test_a_size_is_written_as_spark_writes_it(size: str, count: int) -> None:
    assert read_options({"dsn": "dbname=d", "maxBytesPerTrigger": size}).max_bytes == count


@pytest.mark.parametrize("queue", ["dbo.nowhere", "dbo.total"])
def test_what_is_no_queue_is_told_before_a_task_runs(desk: Desk, queue: str) -> None:
    with pytest.raises(BulkError, match=f"there is no queue {queue}"):
        QueueReader(read_options({"dsn": desk.database.dsn, "queue": queue}))


def test_a_queue_is_found_however_its_name_is_written(desk: Desk) -> None:
    desk.connection.execute('SELECT ssb.create_queue(\'dbo."day ""b"".x, y"\')')

    def queues(text: str) -> list[str]:
        found = read_options({"dsn": desk.database.dsn, "queue": text}).queues(desk.connection)
        QueueReader(read_options({"dsn": desk.database.dsn, "queue": text}))
        return found

    odd = 'dbo."day ""b"".x, y"'
    assert queues("dbo.Target, TARGET,dbo.source") == ["dbo.target", "dbo.source"]
    assert queues(f"{odd},dbo.source") == [odd, "dbo.source"]
    assert queues("DBO.*") == [odd, "dbo.source", "dbo.target"]
    assert queues("dbo.D?y*") == [odd]


def test_somebody_who_may_only_look_needs_no_other_right(desk: Desk) -> None:
    desk.connection.execute("CREATE ROLE pgsb_looker")
    try:
        desk.connection.execute("GRANT USAGE ON SCHEMA dbo TO pgsb_looker")
        desk.connection.execute("GRANT SELECT ON dbo.target TO pgsb_looker")
        for queue in ("Target", "dbo.ta*"):
            QueueReader(read_options({"dsn": desk.database.dsn, "queue": queue, "role": "pgsb_looker"}))
    finally:
        desk.connection.execute("DROP OWNED BY pgsb_looker; DROP ROLE pgsb_looker")


def test_a_database_without_the_runtime_is_named(empty_database: Database) -> None:
    with pytest.raises(BulkError, match=f"no runtime in the database {empty_database.name}"):
        QueueReader(read_options({"dsn": empty_database.dsn, "queue": "dbo.target"}))


def test_what_an_older_spark_cannot_do_is_told_before_it_is_begun(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream would claim its first batch, and would stand still behind it: no start is told there."""
    desk.send(1, 1)
    reader = QueueStreamReader(
        read_options({"dsn": desk.database.dsn, "queue": "dbo.target", "streamName": "s"})
    )
    with pytest.raises(BulkError, match="does not tell a source where its stream stands") as refused:
        reader.latestOffset()
    assert "Spark 4.2" in "".join(traceback.format_exception(refused.value))
    assert desk.value("SELECT count(*) FROM ssb.claim") == 0
    # As the module has it where there is none.
    rows = type("Rows", (), {"__module__": writing.__name__})
    monkeypatch.setattr(writing, "DataSourceStreamArrowWriter", rows)
    source = QueueDataSource({"dsn": desk.database.dsn, "fromService": "source", "toService": "target"})
    with pytest.raises(BulkError, match=r"Spark 4\.1"):
        source.streamWriter(_structure("message_body string"), False)


def test_a_stream_waits_for_a_server_that_was_there(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    # The module's own name for it: a thread of another library sleeps as it always did.
    monkeypatch.setattr(streaming, "time", SimpleNamespace(sleep=slept.append, monotonic=time.monotonic))
    options = {"dsn": desk.database.dsn, "queue": "dbo.target"}
    # Nothing was claimed, and so nothing is lost.
    with pytest.raises(NotConnected):
        reader = QueueStreamReader(read_options({**options, "dsn": "host=127.0.0.1 port=1"}))
        reader.latestOffset(reader.initialOffset())
    assert slept == []
    reader = QueueStreamReader(read_options(options))
    start = reader.initialOffset()
    assert [reader.latestOffset(start) for _ in range(2)] == [start, start]
    # Empty queues are looked at once a second.
    assert len(slept) == 2 and slept[0] == 0 and 0 < slept[1] <= 1
    desk.send(1, 1)
    reader.prepareForTriggerAvailableNow()
    desk.connection.execute(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'pgsb stream claim'"
    )
    # Nothing new would end the run, though a message waits.
    assert len((reader.latestOffset(start))["claims"]) == 1
    reader.stop()


def test_two_queries_of_one_name_do_not_share_its_claims(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"dsn": desk.database.dsn, "queue": "dbo.target", "streamName": "s"}
    desk.send(1, 1)
    first, second, forgotten = (QueueStreamReader(read_options(options)) for _ in range(3))
    # Where another source of its query fails at this, Spark never stops it.
    forgotten.prepareForTriggerAvailableNow()
    start = first.initialOffset()
    end = first.latestOffset(start)
    monkeypatch.setattr(streaming, "_SECONDS_TO_DIE", 0.0)
    for look in (second.latestOffset, functools.partial(second.partitions, start), second.commit):
        with pytest.raises(BulkError, match=r"the stream s runs already: process \d+ of PostgreSQL's, since"):
            look(end)
    # Another role's stream of that name is another one, as its claims are.
    desk.connection.execute("CREATE ROLE pgsb_other_stream")
    desk.connection.execute(_RECEIVE.format("grant"))
    try:
        desk.connection.execute("SET ROLE pgsb_other_stream")
        assert desk.connection.execute("SELECT FROM ssb_internal.run_stream('s')").rowcount == 0
    finally:
        desk.connection.execute("RESET ROLE")
        desk.connection.execute(_RECEIVE.format("revoke"))
        desk.connection.execute("DROP ROLE pgsb_other_stream")
    # A driver that hangs and whose session is ended has lost the name, and does not take it again.
    desk.connection.execute(
        "SELECT pg_terminate_backend(pid, 60000) FROM ssb.running_stream WHERE role = current_user"
    )
    assert second.latestOffset(start) == end
    assert first.latestOffset(start) == start
    with pytest.raises(BulkError, match="the stream s runs already"):
        first.latestOffset(start)
    second.stop()
    # A stopped one leaves nothing behind, when the server has noticed.
    monkeypatch.undo()
    assert first.latestOffset(start) == end
    first.stop()


def test_a_pooler_that_lends_sessions_to_transactions_is_refused(desk: Desk) -> None:
    with Pooler(desk.database.dsn, "transaction") as pooler:
        reader = QueueStreamReader(read_options({"dsn": pooler.dsn, "queue": "dbo.target"}))
        with pytest.raises(BulkError, match="is a pooler that gives each transaction another session"):
            reader.latestOffset(reader.initialOffset())
        reader.stop()


def _made_anew(desk: Desk) -> None:
    desk.connection.execute("SELECT ssb.drop_service('target')")
    desk.connection.execute("SELECT ssb.drop_queue('dbo.target')")
    desk.connection.execute("SELECT ssb.create_queue('dbo.target')")
    desk.connection.execute(
        "SELECT ssb.create_service('target', queue => 'dbo.target', contracts => '{trades}')"
    )


def test_a_batch_whose_queue_was_made_anew_is_lost_and_not_empty(desk: Desk) -> None:
    """And the stream goes on, on the new one, where it is told to."""
    options = {"dsn": desk.database.dsn, "queue": "dbo.target"}
    desk.send(1, 2)
    first = QueueStreamReader(read_options(options))
    start = first.initialOffset()
    end = first.latestOffset(start)
    _made_anew(desk)
    with pytest.raises(BulkError, match=r"has ended: .* went with the queue"):
        first.partitions(start, end)
    first.stop()
    desk.send(1, 3)
    again = QueueStreamReader(read_options({**options, "failOnDataLoss": "false"}))
    assert again.partitions(start, end) == []
    assert desk.value("SELECT ssb_internal.claim_was_completed(%s, %s)", *end["claims"][0][1:]) is True
    behind = again.latestOffset(end)
    assert [(row[0], row[1] != end["claims"][0][1]) for row in behind["claims"]] == [("dbo.target", True)]
    # The old claim waits for nobody.
    assert desk.value("SELECT count(*) FROM ssb.claim") == 1
    parts = again.partitions(end, behind)
    assert sum(batch.num_rows for part in parts for batch in again.read(part)) == 3
    again.commit(behind)
    assert desk.waiting() == 0
    again.stop()


@pytest.mark.parametrize(
    "offset",
    [
        {"orders": {"0": 23}},
        {"stream": "s"},
        {"stream": "s", "claims": 3},
        {"stream": "s", "claims": [["dbo.target", 1]]},
        {"stream": "s", "claims": [["dbo.target", 1, "yesterday"]]},
        {"stream": "s", "claims": [["dbo.target", 2**31, "2026-01-01T00:00:00+00:00"]]},
    ],
)
def test_the_checkpoint_of_another_source_is_told(desk: Desk, offset: dict[str, Any]) -> None:
    reader = QueueStreamReader(read_options({"dsn": desk.database.dsn, "queue": "dbo.target"}))
    asked: list[Callable[[], object]] = [
        lambda: reader.latestOffset(offset),
        lambda: reader.partitions({}, offset),
        lambda: reader.commit(offset),
    ]
    for ask in asked:
        with pytest.raises(BulkError, match="the checkpoint is that of another source"):
            ask()
    assert desk.value("SELECT is_called FROM ssb.claim_id") is False


def test_a_pooler_that_leaves_the_role_out_is_refused(desk: Desk) -> None:
    """The claims would be the login's, and made with its rights."""
    with Pooler(desk.database.dsn, "session", ignored="options") as pooler:
        reader = QueueStreamReader(
            read_options({"dsn": pooler.dsn, "role": "pg_monitor", "queue": "dbo.target"})
        )
        with pytest.raises(BulkError, match="leaves out the role pg_monitor of the address"):
            reader.latestOffset(reader.initialOffset())
        reader.stop()
    with connections.connect(connections.acting_as(desk.database.dsn, "pg_monitor"), "test") as session:
        assert session.execute("SHOW role").fetchall() == [("pg_monitor",)]


@pytest.mark.parametrize(
    ("options", "role"),
    [
        ("", None),
        ("-c jit=off", None),
        ("-c role=clerk -c jit=off", "clerk"),
        ("-crole=a --ROLE=b", "b"),
        (r"-c role=the\ night\\shift", r"the night\shift"),
    ],
)
def test_the_role_of_an_address_is_found_in_its_options(options: str, role: str | None) -> None:
    assert connections.role_of(options) == role


def test_a_stream_waits_for_its_driver_to_die(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"dsn": desk.database.dsn, "queue": "dbo.target", "streamName": "s"}
    desk.send(1, 1)
    first, second = (QueueStreamReader(read_options(options)) for _ in range(2))
    start = first.initialOffset()
    end = first.latestOffset(start)

    def dies(seconds: float) -> None:
        first.stop()

    monkeypatch.setattr(streaming, "time", SimpleNamespace(sleep=dies, monotonic=time.monotonic))
    assert second.latestOffset(start) == end
    second.stop()


@pytest.mark.parametrize(("asked", "is_ending"), [({}, True), ({"endConversations": "false"}, False)])
def test_a_stream_ends_conversations_that_the_other_side_has_ended(
    desk: Desk, asked: dict[str, str], is_ending: bool
) -> None:
    options = {"dsn": desk.database.dsn, "queue": "dbo.target", **asked}
    ended, failed, _ = desk.send(3, 2)
    desk.connection.execute(
        "SELECT ssb.end_conversation(%s), ssb.end_conversation(%s, 1, 'no')", (ended, failed)
    )
    reader = QueueStreamReader(read_options(options))
    start = reader.initialOffset()
    end = reader.latestOffset(start)
    _reads(reader, start, end)
    # Nothing is ended before Spark has the batch.
    assert (
        desk.value(
            "SELECT count(*) FROM ssb.conversation_endpoint WHERE NOT is_initiator AND closed_at IS NULL"
        )
        == 3
    )
    reader.commit(end)
    reader.stop()
    states = desk.connection.execute(
        "SELECT state FROM sys.conversation_endpoints WHERE is_initiator = 0 AND state <> 'CD' ORDER BY 1"
    ).fetchall()
    assert states == ([("CO",)] if is_ending else [("CO",), ("DI",), ("ER",)])
    assert desk.waiting() == 0


def test_a_stream_does_not_wait_for_a_disk_that_is_full(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = QueueStreamReader(read_options({"dsn": desk.database.dsn, "queue": "dbo.target"}))
    start = reader.initialOffset()
    reader.latestOffset(start)

    def fails(start: object) -> None:
        raise psycopg.errors.DiskFull("could not extend file")

    monkeypatch.setattr(reader, "_next", fails)
    with pytest.raises(BulkError, match=r"cannot go on: could not extend file \(SQLSTATE 53100\)") as refused:
        reader.latestOffset(start)
    assert not isinstance(refused.value, ClaimLost)


def test_a_stream_that_comes_again_with_other_partitions_reads_all_of_its_claim(desk: Desk) -> None:
    options = {"dsn": desk.database.dsn, "queue": "dbo.target", "streamName": "s"}
    desk.send(6, 1)
    before = QueueStreamReader(read_options({**options, "numPartitions": "3"}))
    start = before.initialOffset()
    end = before.latestOffset(start)
    before.stop()
    after = QueueStreamReader(read_options({**options, "numPartitions": "1"}))
    batches = [batch for part in after.partitions(start, end) for batch in after.read(part)]
    assert sum(batch.num_rows for batch in batches) == 6
    # A claim of another database may have the same number.
    (queue, number, _), *_ = end["claims"]
    end["claims"] = [(queue, number, "2026-01-01T00:00:00+00:00")]
    with pytest.raises(BulkError, match="has ended"):
        after.partitions(start, end)
    after.stop()


def _reads(stream: QueueStreamReader, start: dict[str, Any], end: dict[str, Any]) -> None:
    parts = stream.partitions(start, end)
    assert sum(batch.num_rows for part in parts for batch in stream.read(part))


def test_a_batch_that_the_sink_has_skipped_is_not_completed(desk: Desk) -> None:
    """Files skip batches of a new checkpoint whose numbers they have had: the messages are nowhere else."""
    options = {"dsn": desk.database.dsn, "queue": "dbo.target", "streamName": "s"}
    desk.send(2, 1)
    first, second = (QueueStreamReader(read_options(options)) for _ in "12")
    start = first.initialOffset()
    end = first.latestOffset(start)
    with pytest.raises(BulkError, match=r"of the 2 messages of claim .*, none was read"):
        first.latestOffset(end)
    # What another checkpoint's run has read counts for that one only.
    _reads(first, start, end)
    first.stop()
    assert second.latestOffset(second.initialOffset()) == end
    with pytest.raises(BulkError, match="none was read") as refused:
        second.commit(end)
    assert "ssb.release_claim" in str(refused.value.hint) and desk.waiting() == 2
    _reads(second, start, end)
    assert second.latestOffset(end) == end and desk.waiting() == 0
    second.stop()
    # Unless that is meant.
    desk.send(1, 1)
    third = QueueStreamReader(read_options({**options, "unread": "complete"}))
    third.commit(third.latestOffset(end))
    assert desk.waiting() == 0
    third.stop()
    with pytest.raises(BulkError, match='option "unread" is refuse or complete, not x'):
        read_options({**options, "unread": "x"})


@pytest.mark.parametrize("is_setting_aside", [False, True])
def test_batches_that_fail_count_as_rollbacks(desk: Desk, is_setting_aside: bool) -> None:
    options = {"dsn": desk.database.dsn, "queue": "dbo.target", "streamName": "s"}
    desk.send(2, 2)
    handling = f"poison_message_handling => true, max_rollbacks => 3, quarantine => {is_setting_aside}"
    desk.connection.execute(f"SELECT ssb.alter_queue('dbo.target', {handling})".encode())
    stream = QueueStreamReader(read_options(options))
    start = stream.initialOffset()
    end = stream.latestOffset(start)
    for _ in range(3):
        # The same run asks again of the batch that it has begun.
        assert [len(stream.partitions(start, end)) for _ in "12"] == [2, 2]
        stream.stop()
        stream = QueueStreamReader(read_options(options))
    if not is_setting_aside:
        with pytest.raises(BulkError, match=r"the queue dbo\.target is off, and claim"):
            stream.partitions(start, end)
        assert desk.value("SELECT is_receive_enabled FROM ssb.queue WHERE name = 'dbo.target'") is False
        stream.stop()
        return
    # The group of the first message is set aside, and the batch comes without it: its part is empty.
    assert [sum(batch.num_rows for batch in stream.read(one)) for one in stream.partitions(start, end)] == [
        0,
        2,
    ]
    assert desk.value("SELECT messages FROM ssb.claims") == 2
    _reads(stream, start, end)
    assert stream.latestOffset(end) == end
    stream.stop()
    assert desk.value("SELECT count(*) FROM ssb.quarantine") == desk.waiting() == 2
    again = "SELECT ssb.resubmit_quarantined(conversation_group_id) FROM ssb.quarantine LIMIT 1"
    assert desk.value(again) == 2
    assert len(desk.connection.execute("SELECT FROM ssb.receive('dbo.target')").fetchall()) == 2


def test_what_waits_at_the_start_is_taken_of_each_queue(desk: Desk) -> None:
    desk.connection.execute("SELECT ssb.create_queue('dbo.a')")
    desk.connection.execute("SELECT ssb.create_service('a', queue => 'dbo.a', contracts => '{trades}')")

    def send() -> None:
        for service in ("a", "target"):
            desk.connection.execute(
                "SELECT ssb.send(ssb.begin_dialog('source', %s, 'trades'), 'trade', '1'::bytea)", (service,)
            )

    send()
    reader = QueueStreamReader(read_options({"dsn": desk.database.dsn, "queue": "dbo.a,dbo.target"}))
    start = reader.initialOffset()
    reader.prepareForTriggerAvailableNow()
    send()
    claims = [claim[0] for claim in reader.latestOffset(start)["claims"]]
    reader.stop()
    assert claims == ["dbo.a", "dbo.target"]


def test_a_run_of_what_waits_is_no_success_where_the_queue_is_off(desk: Desk) -> None:
    """What was sent to it meanwhile is not in the queue: such a run ended as if nothing were left to do."""
    desk.connection.execute("SELECT ssb.alter_queue('dbo.target', status => false)")
    desk.send(2, 1)
    reader = QueueStreamReader(read_options({"dsn": desk.database.dsn, "queue": "dbo.target"}))
    reader.prepareForTriggerAvailableNow()
    start = reader.initialOffset()
    with pytest.raises(BulkError, match=r"^the queue dbo\.target is off"):
        reader.latestOffset(start)
    reader.stop()


def test_a_run_of_what_waits_takes_what_a_claim_would_find(desk: Desk) -> None:
    """A timer that is due has no message yet, before somebody receives or a daemon comes by."""
    desk.send(1, 1)
    reader = QueueStreamReader(read_options({"dsn": desk.database.dsn, "queue": "dbo.target"}))
    start = reader.initialOffset()
    handle = desk.value("SELECT conversation_handle FROM ssb.receive('dbo.target')")
    desk.connection.execute("SELECT ssb.begin_conversation_timer(%s, 1)", (handle,))
    desk.connection.execute("SELECT pg_sleep(1.1)")
    reader.prepareForTriggerAvailableNow()
    assert len(reader.latestOffset(start)["claims"]) == 1
    reader.stop()


def test_a_claim_of_an_old_ones_number_is_read_and_not_completed(desk: Desk) -> None:
    """Where a backup was restored the checkpoint knows claims whose numbers are given anew."""
    desk.send(1, 2)
    options = read_options({"dsn": desk.database.dsn, "queue": "dbo.target"})
    reader = QueueStreamReader(options)
    taken = reader.latestOffset(reader.initialOffset())
    reader.stop()
    ((queue, number, _),) = taken["claims"]
    old = taken | {"claims": [[queue, number, "2020-01-01T00:00:00+00:00"]]}
    reader = QueueStreamReader(options)
    assert reader.latestOffset(old) == taken and desk.waiting() == 2
    reader.stop()


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_stream_that_comes_again_under_another_role_says_so(desk: Desk, is_committed: bool) -> None:
    """Its claim waits for the role that began it, and would come back when it is no longer waited for."""
    desk.send(1, 2)
    options = {"dsn": desk.database.dsn, "queue": "dbo.target", "failOnDataLoss": "false"}
    before = QueueStreamReader(read_options(options))
    start = before.initialOffset()
    end = before.latestOffset(start)
    _reads(before, start, end)
    before.stop()
    desk.connection.execute("CREATE ROLE pgsb_other_stream")
    desk.connection.execute(_RECEIVE.format("grant"))
    try:
        after = QueueStreamReader(read_options({**options, "role": "pgsb_other_stream"}))
        with pytest.raises(BulkError, match=r"claim \d+ of dbo.target, .* is of the role ") as refused:
            if is_committed:
                after.latestOffset(end)
            else:
                after.partitions(start, end)
        after.stop()
        desk.connection.execute("DELETE FROM ssb.running_stream WHERE role = 'pgsb_other_stream'")
    finally:
        desk.connection.execute(_RECEIVE.format("revoke"))
        desk.connection.execute("DROP ROLE pgsb_other_stream")
    assert "option role" in str(refused.value.hint) and desk.waiting() == 2
    again = QueueStreamReader(read_options(options))
    assert again.latestOffset(end) == end and desk.waiting() == 0
    again.stop()


def test_an_init_that_begins_a_transaction_is_refused(desk: Desk) -> None:
    """Tasks would see nothing of what is claimed in it."""
    options = {"dsn": desk.database.dsn, "queue": "dbo.target", "sessionInitStatement": "BEGIN"}
    reader = QueueStreamReader(read_options(options))
    with pytest.raises(BulkError, match="begins a transaction"):
        reader.latestOffset(reader.initialOffset())
    reader.stop()


@pytest.mark.parametrize(
    ("age", "said"), [("soon", "'soon': invalid"), ("-1 hour", "'-1 hour', and must be")]
)
def test_an_age_that_is_none_is_told_before_a_task_runs(desk: Desk, age: str, said: str) -> None:
    options = {"fromService": "source", "toService": "target", "recycle": "true", "maxAge": age}
    source = QueueDataSource({"dsn": desk.database.dsn, **options})
    with pytest.raises(BulkError, match=f'"maxAge" is {said}'):
        source.writer(_structure("message_body string, key string"), False)


def test_how_a_frame_is_sent_is_one_of_two_words_and_a_lifetime_a_number() -> None:
    """A word that there is not sent each partition by itself, where all or nothing was meant."""
    frame: Any = SimpleNamespace(columns=["message_body", "conversation_handle"])
    with pytest.raises(BulkError, match=r"^transactions is partition or all, not ALL$"):
        send_frame(frame, "dbname=shop", transactions="ALL")  # type: ignore[arg-type]
    with pytest.raises(BulkError, match=r"^lifetime is 0, and must be a number from 1 to 2,147,483,647$"):
        Dialogs("source", "target", lifetime=0)


def test_a_dialog_that_is_kept_needs_a_key(desk: Desk) -> None:
    import pyarrow

    columns = [pyarrow.array(["k", None]), pyarrow.array(["trade"] * 2), pyarrow.array([b"1", b"2"])]
    dialogs = Dialogs("source", "target", "trades")
    with pytest.raises(BulkError, match=r"^key is null in a row"):
        send_rows(desk.connection, iter([tuple(columns)]), dialogs, uuid.uuid4(), 0, recycle="1 hour")


def test_what_a_server_refuses_is_a_sentence_of_the_stream(desk: Desk) -> None:
    read_only = "SET default_transaction_read_only = on"
    options = {"dsn": desk.database.dsn, "queue": "dbo.target", "sessionInitStatement": read_only}
    reader = QueueStreamReader(read_options(options))
    with pytest.raises(BulkError, match="read-only") as error:
        reader.latestOffset(reader.initialOffset())
    reader.stop()
    assert "target_session_attrs" in str(error.value.hint)


def test_a_queue_that_is_not_the_programs_is_not_passed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [("dbo.day1", 1, ""), ("dbo.day2", 2, "")]
    monkeypatch.setattr(streaming, "_claims_of_batch", lambda frame: claims)
    frame: Any = None
    with pytest.raises(BulkError, match=r"has messages of dbo\.day2 and completing\(…\) is for dbo\.day1"):
        completing(lambda messages: Outputs(), desk.database.dsn, "dbo.day1")(frame, 0)


def test_a_programs_queue_may_be_written_in_any_case(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [("dbo.target", 1, "2026-01-01T00:00:00+00:00")]
    monkeypatch.setattr(streaming, "_claims_of_batch", lambda frame: claims)
    frame: Any = None
    # It goes on to its claim, which there is not.
    with pytest.raises(ClaimLost, match="claim 1 has ended"):
        completing(lambda messages: Outputs(), desk.database.dsn, "Target")(frame, 0)


def test_where_completing_leads_is_read_at_once_and_told(
    desk: Desk, empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def program(messages: Any) -> Outputs:
        return Outputs()

    with pytest.raises(BulkError, match="address of the server cannot be read"):
        completing(program, "jdbc:mysql://h/d")
    monkeypatch.setattr(streaming, "_claims_of_batch", lambda frame: [("q", 1, "2026-01-01T00:00:00+00:00")])
    frame: Any = None
    with pytest.raises(BulkError, match="there is no runtime in the database"):
        completing(program, empty_database.dsn)(frame, 0)
    with pytest.raises(ClaimLost, match="is not that of pg_monitor in the database"):
        completing(program, desk.database.dsn, role="pg_monitor")(frame, 0)


def test_a_batch_of_another_stream_is_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The query went on, and the program never ran."""
    monkeypatch.setattr(streaming, "_claims_of_batch", lambda frame: [])
    other: Any = SimpleNamespace(columns=["timestamp", "value"])
    with pytest.raises(BulkError, match=r'is of no stream of format\("pgsb"\)'):
        completing(lambda messages: Outputs(), "dbname=shop")(other, 0)
    # A query of two sources, of which that one had nothing yet.
    empty: Any = SimpleNamespace(columns=["claim_id", "queuing_order", "value"])
    completing(lambda messages: Outputs(), "dbname=shop")(empty, 0)


def test_what_completing_is_told_is_read_at_once() -> None:
    with pytest.raises(BulkError, match=r"^unread is refuse or complete, not Refuse$"):
        completing(lambda messages: Outputs(), "dbname=shop", unread="Refuse")  # type: ignore[arg-type]
    with pytest.raises(BulkError, match=r"^the role is empty\n"):
        completing(lambda messages: Outputs(), "dbname=shop", role="")


@pytest.mark.long
def test_columns_that_are_not_the_sources_are_refused_at_once(spark: Any, desk: Desk, tcp: Tcp) -> None:
    register(spark)
    given = spark.read.format("pgsb").option("dsn", tcp(desk.database)).option("queue", "dbo.target")
    with pytest.raises(Exception, match="has columns of its own"):
        given.schema("queuing_order bigint, message_body binary").load().count()
    assert given.schema(STREAM_SCHEMA).load().count() == 0


def test_what_load_is_given_is_the_queue(desk: Desk) -> None:
    def found(**options: str) -> list[str]:
        reader = QueueDataSource({"dsn": desk.database.dsn, **options}).reader(_structure(STREAM_SCHEMA))
        return [part.relation for part in reader.partitions()]

    assert found(path="dbo.target") == found(queue="dbo.target") == ["dbo.target"]
    assert found(paths='["dbo.target", "dbo.source"]') == ["dbo.target", "dbo.source"]
    with pytest.raises(BulkError, match=r"load\(…\) and queue are told: dbo.source, dbo.target"):
        found(path="dbo.source", queue="dbo.target")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"queue": "dbo.target", "path": "dbo.source"}, "load(…) and queue are told: dbo.source, dbo.target"),
        ({"view": "sys.services"}, "a view cannot be streamed"),
        ({"queue": "dbo.nowhere"}, "there is no queue dbo.nowhere"),
    ],
)
def test_what_is_wrong_with_a_stream_is_one_sentence(desk: Desk, options: dict[str, str], said: str) -> None:
    """All that Spark shows is a traceback, and what streamReader itself raises is not the end of it."""
    source = QueueDataSource({"dsn": desk.database.dsn, **options})
    reader = source.streamReader(_structure(source.schema()))
    try:
        with pytest.raises(BulkError, match=re.escape(said)) as refused:
            reader.latestOffset(reader.initialOffset())
    finally:
        reader.stop()
    shown = traceback.format_exception(refused.value)
    assert len(refused.traceback) == 2 and not any("direct cause" in one for one in shown)


def test_what_a_task_is_refused_is_one_sentence(desk: Desk) -> None:
    look = QueueReader(read_options({"dsn": desk.database.dsn, "queue": "dbo.target"}))
    desk.connection.execute("SELECT ssb.drop_service('target'), ssb.drop_queue('dbo.target')")
    with pytest.raises(BulkError, match="does not exist") as refused:
        list(look.read(look.partitions()[0]))
    assert len(refused.traceback) == 2 and refused.value.__cause__ is None
    assert 'repartition("key")' in str(not_sent(psycopg.errors.DeadlockDetected("deadlock")).hint)


def test_options_are_known_in_any_case_and_by_the_words_of_jdbc() -> None:
    options = read_options(
        {"URL": "jdbc:postgresql://db:5433/shop", "User": "ann", "PASSWORD": "s", "numpartitions": "4"}
    )
    assert options.dsn.split() and {"user=ann", "password=s", "host=db", "port=5433"} <= set(
        options.dsn.split()
    )
    assert (options.partitions, options.max_messages, options.wait) == (4, 1_000_000, 604800)


def _found_by_spark(*folders: str) -> list[str]:
    """The formats that Spark finds in a Python's path."""
    look = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import pkgutil, importlib\n"
        "names = [one.name for one in pkgutil.iter_modules() if one.name.startswith('pyspark_')]\n"
        "print(*[importlib.import_module(one).DefaultSource.name() for one in names])"
    )
    done = subprocess.run([sys.executable, "-c", look, *folders], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_spark_finds_the_format_by_its_name() -> None:
    assert "pgsb" in _found_by_spark(str(Path(__file__).parents[2] / "bulk" / "found_by_spark"))


@pytest.mark.skipif(
    not list(Path(sys.prefix).glob("installed*")), reason="scripts/setup did not make this environment"
)
def test_spark_finds_it_in_a_checkout_that_setup_made() -> None:
    assert "pgsb" in _found_by_spark()

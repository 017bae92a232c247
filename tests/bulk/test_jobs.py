"""Jobs on Spark: what they read, write and reply, and what faults leave behind."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bulk_desk import Desk
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import pgsb.bulk.complete as complete_module
from pgsb.bulk import BulkError, Outputs, claim, each, load_program
from pgsb.bulk.connections import connect as connect_to
from pgsb.bulk.connections import task_session
from pgsb.bulk.job import run_job
from pgsb.bulk.options import JobOptions
from pgsb.bulk.program import Context
from pgsb.bulk.read import COLUMNS, read
from pgsb.bulk.sending import Dialogs, send
from pgsb.bulk.staging import Staged, stage
from support import Connection, Database, rest_is_long

pytestmark = pytest.mark.one_postgres

Connect = Callable[..., Connection]
Tcp = Callable[[Database], str]
PROGRAMS = Path(__file__).parent
sys.path.insert(0, str(PROGRAMS))
totals = load_program("programs:totals")


def _totals(desk: Desk) -> list[tuple[int, int]]:
    return desk.connection.execute("SELECT messages, sum FROM dbo.total ORDER BY 1, 2").fetchall()


@pytest.mark.long
def test_a_job_writes_results_replies_and_ends(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.send(3, 4)
    progress = run_job(tcp(desk.database), "dbo.target", totals, JobOptions(max_messages=8))
    assert (progress.claims, progress.completed, progress.written, progress.replied) == (2, 12, 3, 3)
    assert _totals(desk) == [(4, 10)] * 3
    ends = ("http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog", None)
    assert sorted(desk.replies(), key=str) == sorted([("note", "10")] * 3 + [ends] * 3, key=str)
    assert desk.waiting() == 0


@pytest.mark.long
def test_tables_and_columns_are_found_as_spark_and_postgresql_find_names(
    spark: Any, desk: Desk, tcp: Tcp
) -> None:
    desk.connection.execute(
        'CREATE TABLE dbo."Rate.x %s" ("Sh%are" integer, price numeric(4, 1) CHECK (price < 5), n integer)'
    )
    desk.send(9, 1)
    first = desk.value("SELECT min(queuing_order) FROM dbo.target")

    def rates(messages: Any) -> Outputs:
        message = ("conversation_handle", "queuing_order")
        rates = messages.selectExpr(*message, "1 AS `Sh%are`", f"queuing_order - {first} AS price", "2 AS N")
        totals = messages.selectExpr(*message, "CAST(1 AS BIGINT) AS Messages", "CAST(2 AS BIGINT) AS SUM")
        replies = messages.selectExpr(
            "Conversation_Handle", "message_body AS Message_BODY", "'note' AS MESSAGE_type_name"
        )
        # Rows of the first table are refused: the others are moved by a statement with values.
        tables = {'dbo."Rate.x %s"': rates, "dbo.TOTAL": totals}
        return Outputs(tables=tables, replies=replies, failures="quarantine")

    run_job(tcp(desk.database), "dbo.Target", rates, JobOptions(mode="once"))
    assert desk.value('SELECT array_agg(price::integer ORDER BY price) FROM dbo."Rate.x %s" WHERE n = 2') == [
        0, 1, 2, 3, 4,
    ]  # fmt: skip
    assert _totals(desk) == [(1, 2)] * 5
    assert desk.replies() == [("note", "1")] * 5
    assert desk.value("SELECT count(*) FROM ssb.quarantine") == 4


@pytest.mark.long
@pytest.mark.parametrize("is_counted", rest_is_long([False, True], True))
def test_a_claim_is_read_with_the_queues_columns_in_order(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, is_counted: bool
) -> None:
    """By its conversations, and, where it is known to have most messages, by ranges of them."""
    messages = 2500 if is_counted else 25
    desk.send(4, messages)
    if is_counted:
        desk.connection.execute("VACUUM ANALYZE ssb.message_0, ssb.message_1")
    held = claim(connect(), "dbo.target", partitions=6)
    assert held is not None
    assert [one is not None for one in held.ranges] == (
        [True, True, False, True, True, False] if is_counted else []
    )
    frame = read(spark, held, tcp(desk.database))
    assert tuple(frame.columns) == COLUMNS
    parts = frame.rdd.mapPartitions(
        lambda rows: [[(row.conversation_handle, int(bytes(row.message_body))) for row in rows]]
    ).collect()
    seen: set[str] = set()
    for part in parts:
        handles = {handle for handle, _ in part}
        assert not handles & seen
        seen |= handles
        for handle in handles:
            assert [body for one, body in part if one == handle] == list(range(1, messages + 1))
    assert len(seen) == 4
    held.connection.execute("SELECT ssb_internal.require_read(%s)", (held.claim_id,))


@pytest.mark.long
def test_filters_and_columns_are_pushed_down(spark: Any, desk: Desk, tcp: Tcp, connect: Connect) -> None:
    desk.send(1, 3)
    held = claim(connect(), "dbo.target")
    assert held is not None
    frame = read(spark, held, tcp(desk.database), ordered=False)
    notes = frame.where("message_type_name = 'note'").select("queuing_order")
    plan = notes._jdf.queryExecution().executedPlan().toString()
    assert "EqualTo(message_type_name,note)" in plan
    # What the scan returns, in brackets behind the relation: the one column that is asked for.
    assert plan.split(" AS m)")[1].split("PushedFilters")[0].count("#") == 1
    assert notes.count() == 0


@pytest.mark.long
@pytest.mark.parametrize("split", rest_is_long([None, 2], 2))
def test_a_filter_on_any_column_leaves_the_claim_read_to_its_end(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, split: int | None
) -> None:
    """Where a column had no value behind the rows, PostgreSQL took from the filter that nothing is there."""
    for column in ("queuing_order", "message_body"):
        desk.send(1, 4)
        held = claim(connect(), "dbo.target")
        assert held is not None
        frame = read(spark, held, tcp(desk.database), split=split)
        assert frame.where(f"{column} IS NOT NULL").count() == 4
        held.connection.execute("SELECT ssb_internal.require_read(%s)", (held.claim_id,))


class Counted:
    """A way to a server, by which the bytes that come from there are counted."""

    def __init__(self, dsn: str) -> None:
        self._port = int(str(conninfo_to_dict(dsn)["port"]))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.dsn = make_conninfo(dsn, port=self._listener.getsockname()[1])
        self.received = 0
        self._opened = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._port))
                self._opened += [client, server]
                for pair in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, here: socket.socket, there: socket.socket, is_counted: bool) -> None:
        with contextlib.suppress(OSError):
            while some := here.recv(65536):
                self.received += len(some) * is_counted
                there.sendall(some)
            there.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for one in self._opened:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@pytest.mark.long
def test_bodies_come_as_bytes_and_not_as_their_text(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect
) -> None:
    desk.send(1, 1, body=b"x" * 500_000)
    held = claim(connect(), "dbo.target")
    assert held is not None
    way = Counted(tcp(desk.database))
    with contextlib.closing(way):
        (length,) = read(spark, held, way.dsn).selectExpr("length(base64(message_body))").first()
    assert length > 600_000
    # PostgreSQL's text of it would be a million.
    assert 500_000 < way.received < 600_000


@pytest.mark.parametrize(
    ("deed", "is_measured"),
    [
        ("a row each", False),
        ("many rows in one", True),
        *(pytest.param(deed, True, marks=pytest.mark.long) for deed in ("large bodies", "a limit")),
    ],
)
def test_batches_are_measured_where_they_may_become_large(
    spark: Any, desk: Desk, tcp: Tcp, monkeypatch: pytest.MonkeyPatch, deed: str, is_measured: bool
) -> None:
    desk.send(1, 3, body=b"x" * (5000 if deed == "large bodies" else 10))
    limit = "spark.sql.execution.arrow.maxBytesPerBatch"
    before = "1000000" if deed == "a limit" else spark.conf.get(limit)
    seen = []

    def staged(frame: Any, *arguments: Any) -> Staged:
        seen.append(frame.sparkSession.conf.get(limit))
        return stage(frame, *arguments)

    monkeypatch.setattr(complete_module, "stage", staged)

    def program(messages: Any) -> Outputs:
        rows = messages.selectExpr("conversation_handle", "1L AS messages", "2L AS sum")
        return Outputs(tables={"dbo.total": rows.distinct() if deed == "many rows in one" else rows})

    if deed == "a limit":
        spark.conf.set(limit, before)
    try:
        run_job(tcp(desk.database), "dbo.target", program)
    finally:
        assert spark.conf.get(limit) == before
        spark.conf.unset(limit)
    assert seen == [before if is_measured else str(2**31 - 1)]


@pytest.mark.long
def test_pythons_look_for_cycles_leaves_modules_out(spark: Any, desk: Desk, tcp: Tcp) -> None:
    """PySpark asks for one behind each task; those that wrote rows are asked here."""
    desk.send(1, 2)

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        import gc

        import pyarrow

        for _ in batches:
            yield pyarrow.RecordBatch.from_pydict(
                {"seen": [len(gc.get_objects())], "left_out": [gc.get_freeze_count()]}
            )

    def program(messages: Any) -> Outputs:
        return Outputs(
            tables={"dbo.total": messages.selectExpr("conversation_handle", "1L AS messages", "2L AS sum")}
        )

    run_job(tcp(desk.database), "dbo.target", program)
    rows = spark.range(2, numPartitions=2).mapInArrow(look, "seen long, left_out long").collect()
    assert any(0 < row.seen < row.left_out for row in rows)


@pytest.mark.long
def test_pythons_workers_have_their_modules_when_they_begin(spark: Any) -> None:
    """A job that looks now and then would wait each time for two workers that import them."""

    def begin(batches: Iterator[Any]) -> Iterator[Any]:
        import os

        parent = Path(f"/proc/{os.getppid()}/cmdline").read_text().split("\0")
        for batch in batches:
            yield batch.from_pydict({"parent": [" ".join(parent[1:4])]})

    frame = spark.range(1, numPartitions=1).mapInArrow(begin, "parent string")
    assert [row.parent for row in frame.collect()] == ["-m pgsb.bulk.workers pyspark.worker"]
    imported = (
        "import sys; sys.argv[1:] = ['pyspark.worker']; import pyspark.daemon;"
        "pyspark.daemon.manager = lambda: print(*sys.modules); from pgsb.bulk import workers; workers.main()"
    )
    ran = subprocess.run([sys.executable, "-c", imported], capture_output=True, text=True, check=True)
    needed = {"pyarrow", "numpy", "psycopg", "pyspark.worker", "pgsb.bulk.packed_rows", "pgsb.bulk.rows"}
    assert needed <= set(ran.stdout.split())


def test_a_long_conversation_can_be_split(spark: Any, desk: Desk, tcp: Tcp, connect: Connect) -> None:
    desk.send(1, 100)
    held = claim(connect(), "dbo.target")
    assert held is not None
    frame = read(spark, held, tcp(desk.database), split=4)
    sizes = frame.rdd.mapPartitions(lambda rows: [sum(1 for _ in rows)]).collect()
    assert len(sizes) == 4 and sum(sizes) == 100
    assert max(sizes) <= 30


def test_a_message_that_fails_is_named_and_stays(
    spark: Any, desk: Desk, tcp: Tcp, caplog: pytest.LogCaptureFixture
) -> None:
    desk.send(1, 2)
    desk.send(1, 1, body=b"no number")
    desk.send(1, 2, body=b"77")

    def double(message: Mapping[str, Any]) -> Mapping[str, Any]:
        number = int(message["message_body"])
        return {"doubled": 2 * number if number < 77 else "much"}

    errors: list[Any] = []

    def program(messages: Any) -> Outputs:
        good, failed = each(messages, double, "doubled long")
        errors.extend(failed.collect())
        return Outputs(
            tables={"dbo.total": good.selectExpr("conversation_handle", "1L AS messages", "doubled AS sum")},
            errors=failed,
        )

    progress = run_job(tcp(desk.database), "dbo.target", program, JobOptions(mode="once"))
    assert (progress.completed, progress.failed) == (2, 2)
    assert _totals(desk) == [(1, 2), (1, 4)]
    left = desk.connection.execute(
        "SELECT conversation_handle::text, queuing_order FROM dbo.target ORDER BY queuing_order"
    ).fetchall()
    errors.sort(key=lambda row: row.queuing_order)
    # The first of the two that are no numbers: what follows it is not processed.
    assert [(row.conversation_handle, row.queuing_order) for row in errors] == left[:2]
    assert "ValueError: invalid literal for int()" in errors[0].error
    assert errors[1].error.startswith("doubled: Could not convert 'much'")
    # Who has no table of errors reads it in the log.
    handle, order = left[0]
    assert f": message {order} of conversation {handle} failed: ValueError: invalid literal" in caplog.text


def test_a_program_that_raises_loses_nothing(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.send(1, 3)

    def explode(_row: Any) -> Any:
        raise ValueError("no such currency")

    def program(messages: Any) -> Outputs:
        messages.rdd.map(explode).collect()
        return Outputs()

    with pytest.raises(BulkError, match="ValueError: no such currency"):
        run_job(tcp(desk.database), "dbo.target", program)
    assert desk.waiting() == 3
    assert desk.value("SELECT count(*) FROM ssb.claim") == 0


@pytest.mark.long
def test_tasks_may_take_longer_than_a_transaction_may_be_idle(spark: Any, desk: Desk, tcp: Tcp) -> None:
    """The readers' sessions were ended, and with them the note that they had read to the end."""
    desk.send(2, 2)
    desk.connection.execute(
        f"ALTER DATABASE {desk.database.name} SET idle_in_transaction_session_timeout = '100ms'"
    )

    def program(messages: Any, context: Context) -> Outputs:
        table = context.table("sys.service_queues", fetchsize="1").selectExpr("CAST(name AS STRING) AS name")

        def slow(batches: Any) -> Any:
            for batch in batches:
                time.sleep(0.5)
                yield batch

        rows = messages.crossJoin(table).where("name = 'target'").select("conversation_handle")
        rows = rows.mapInArrow(slow, "conversation_handle string")
        return Outputs({"dbo.total": rows}, rows.selectExpr("*", "'note' AS message_type_name"))

    assert run_job(tcp(desk.database), "dbo.target", program).written == 4
    with task_session(desk.database.dsn, "a task") as task, connect_to(desk.database.dsn, "a claim") as held:
        with held.transaction():
            time.sleep(0.3)
            held.execute("SELECT")
        task.execute("SELECT")


@pytest.mark.long
@pytest.mark.parametrize("stops", rest_is_long([False, True], True))
def test_what_fails_when_the_job_is_to_stop_is_no_rollback(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, stops: bool
) -> None:
    desk.send(1, 3)
    stopping = threading.Event()

    def program(messages: Any) -> Outputs:
        if stops:
            stopping.set()
        raise ConnectionError("Spark's JVM was stopped, too")

    told = "stopped in its tasks: Conn" if stops else "the program failed: Conn"
    for _ in range(5):
        stopping.clear()
        with pytest.raises(BulkError, match=told):
            run_job(tcp(desk.database), "dbo.target", program, JobOptions(should_stop=stopping.is_set))
    assert desk.value("SELECT count(*) FROM ssb.claim") == 0
    if stops:
        assert claim(connect(), "dbo.target") is not None
    else:
        with pytest.raises(BulkError, match="disabled"):
            claim(connect(), "dbo.target")


@pytest.mark.long
def test_a_program_without_outputs_and_a_column_that_is_not_there_are_told(
    spark: Any, desk: Desk, tcp: Tcp
) -> None:
    desk.send(1, 1)

    def nothing(_messages: Any) -> Any:
        return None

    def wrong(messages: Any) -> Outputs:
        return Outputs(tables={"dbo.total": messages.selectExpr("1 AS messages", "2 AS summe")})

    def nowhere(messages: Any) -> Outputs:
        return Outputs(tables={"dbo.nowhere": messages})

    with pytest.raises(BulkError, match=r"^there is no table dbo\.nowhere"):
        run_job(tcp(desk.database), "dbo.target", nowhere)

    def misspelled(messages: Any) -> Outputs:
        replies = messages.selectExpr("conversation_handle", "'note' AS message_type_name", "1 AS body")
        return Outputs(replies=replies)

    def counted(messages: Any) -> Outputs:
        counts = messages.groupBy("conversation_handle").count()
        return Outputs(replies=counts.withColumnRenamed("count", "message_body"))

    with pytest.raises(BulkError, match=r"^the column 'message_body' is bigint, not string or binary"):
        run_job(tcp(desk.database), "dbo.target", counted)
    with pytest.raises(BulkError, match=r"'replies' has no column message_body, but .* know: 'body'"):
        run_job(tcp(desk.database), "dbo.target", misspelled)
    with pytest.raises(BulkError, match=r"^the program returned NoneType, not pgsb\.bulk\.Outputs$"):
        run_job(tcp(desk.database), "dbo.target", nothing)
    with pytest.raises(BulkError, match=r"^the table dbo\.total has no column 'summe'\n"):
        run_job(tcp(desk.database), "dbo.target", wrong)
    assert desk.waiting() == 1
    assert desk.value("SELECT count(*) FROM ssb.claim") == 0


def test_an_output_for_what_takes_no_rows_is_refused_before_it_runs(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.connection.execute("CREATE MATERIALIZED VIEW dbo.kept AS SELECT 1 AS messages")
    desk.connection.execute("CREATE VIEW dbo.counted AS SELECT count(*)::integer AS messages FROM dbo.kept")
    desk.connection.execute("CREATE SEQUENCE dbo.numbers")
    desk.connection.execute("SELECT ssb.alter_queue('dbo.target', poison_message_handling => false)")
    desk.send(1, 1)
    for relation, column in (("kept", "messages"), ("counted", "messages"), ("numbers", "last_value")):

        def program(messages: Any, relation: str = relation, column: str = column) -> Outputs:
            return Outputs(tables={f"dbo.{relation}": messages.selectExpr(f"1 AS {column}")})

        with pytest.raises(BulkError, match=rf"^dbo\.{relation} takes no rows"):
            run_job(tcp(desk.database), "dbo.target", program)
    for name in ("", "a.b.c.d", "elsewhere.dbo.total", "dbo.to\0tal"):

        def nowhere(messages: Any, name: str = name) -> Outputs:
            return Outputs(tables={name: messages.selectExpr("1 AS messages")})

        # PostgreSQL itself has a word for it, or, from version 16 on, no such table.
        with pytest.raises(BulkError, match="is no table") as refused:
            run_job(tcp(desk.database), "dbo.target", nowhere)
        assert (name or "''") in str(refused.value) or repr(name) in str(refused.value)
    assert desk.waiting() == 1


@pytest.mark.long
def test_columns_are_found_whatever_characters_their_names_have(spark: Any, desk: Desk, tcp: Tcp) -> None:
    """PySpark itself takes names for expressions where it hands rows to Python."""
    desk.connection.execute('CREATE TABLE dbo.odd ("a.b" integer, "c`d" text, "e ""f%s" text)')
    desk.send(1, 2)

    def program(messages: Any) -> Outputs:
        # As packs, and with a number that becomes text row by row.
        odd = messages.selectExpr("7 AS `a.b`", "'x' AS `c``d`", 'priority AS `e "f%s`')
        return Outputs(tables={"dbo.odd": odd, "DBO.odd": odd.select("`a.b`", "`c``d`")})

    run_job(tcp(desk.database), "dbo.target", program, JobOptions(mode="once"))
    rows = desk.connection.execute(b'SELECT "a.b", "c`d", "e ""f%s" FROM dbo.odd ORDER BY 3')
    assert rows.fetchall() == [(7, "x", "5")] * 2 + [(7, "x", None)] * 2


@pytest.mark.long
def test_columns_that_are_there_twice_and_handles_that_are_null_are_told(
    spark: Any, desk: Desk, tcp: Tcp
) -> None:
    desk.send(1, 1)

    def said(outputs: Callable[[Any], Outputs]) -> str:
        with pytest.raises(BulkError) as refused:
            run_job(tcp(desk.database), "dbo.target", outputs, JobOptions(mode="once"))
        assert desk.waiting() == 1
        return str(refused.value)

    twice = "the output for dbo.total has two columns"
    assert said(lambda m: Outputs(tables={"dbo.total": m.selectExpr("1 AS sum", "2 AS Sum")})).startswith(
        f"{twice} 'sum' and 'Sum'"
    )
    joined = said(lambda m: Outputs(ends=m.join(m, "queuing_order").select("*")))
    assert joined.startswith("the output 'ends' has two columns 'conversation_handle'")
    lost = said(lambda m: Outputs(replies=m.selectExpr("NULL AS conversation_handle", "message_body")))
    assert "conversation_handle is null in a row of the output 'replies'" in lost

    def replies(kind: str) -> Callable[[Any], Outputs]:
        columns = ("conversation_handle", f"{kind} AS message_type_name", "message_body")
        return lambda messages: Outputs(replies=messages.selectExpr(*columns))

    assert "message_type_name is null in a row of the output 'replies'" in said(replies("NULL"))
    assert "message_type_name holds 'no\\x00te'" in said(replies("'no\\0te'"))


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "until_empty"},
        {"partitions": 0},
        {"partitions": 2**31},
        {"max_messages": "many"},
        {"max_bytes": 2**63},
        {"max_messages": True},
    ],
)
def test_a_word_and_numbers_that_are_none_are_refused_at_once(options: dict[str, Any]) -> None:
    """A mode that there is not went on for ever."""
    ((name, _),) = options.items()
    with pytest.raises(BulkError, match=f"^{name} is "):
        JobOptions(**options)


@pytest.mark.long
def test_a_task_that_runs_twice_counts_once(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.send(2, 3)

    def program(messages: Any) -> Outputs:
        done = totals(messages)

        def fail_late(batches: Any) -> Any:
            from pyspark import TaskContext

            yield from batches
            # After its rows are on their way, and before it is done.
            context = TaskContext.get()
            assert context is not None
            if context.attemptNumber() == 0:
                raise RuntimeError("the executor dies")

        replies = done.replies
        assert replies is not None
        return Outputs(
            tables=done.tables, replies=replies.mapInArrow(fail_late, replies.schema), end_all=True
        )

    progress = run_job(tcp(desk.database), "dbo.target", program)
    assert progress.replied == 2
    assert [reply for reply in desk.replies() if reply[0] == "note"] == [("note", "6")] * 2


@pytest.mark.long
def test_a_claim_whose_session_is_cut_is_taken_again(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.send(2, 3)
    cuts: list[int] = []

    def program(messages: Any) -> Outputs:
        if not cuts:
            cuts.append(
                desk.value(
                    "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
                    " WHERE application_name = 'pgsb bulk claim' AND datname = current_database()"
                )
            )
        return totals(messages)

    progress = run_job(tcp(desk.database), "dbo.target", program, JobOptions(poll=0.05))
    assert cuts == [1]
    assert (progress.claims, progress.completed) == (2, 6)
    assert _totals(desk) == [(3, 6)] * 2


@pytest.mark.long
def test_two_jobs_and_a_reader_share_a_queue(spark: Any, desk: Desk, tcp: Tcp, connect: Connect) -> None:
    desk.send(6, 5)
    reader = connect(autocommit=False)
    first = claim(connect(), "dbo.target", max_messages=10)
    assert first is not None
    taken = reader.execute(
        "SELECT convert_from(message_body, 'UTF8')::int FROM ssb.receive('dbo.target')"
    ).fetchall()
    assert [row[0] for row in taken] == [1, 2, 3, 4, 5]
    progress = run_job(tcp(desk.database), "dbo.target", totals)
    reader.commit()
    assert progress.completed == 15
    assert desk.waiting() == first.messages == 10


def test_frames_are_sent_in_order_and_once(spark: Any, desk: Desk, tcp: Tcp) -> None:
    rows = [(f"k{i % 3}", f"{i // 3 + 1}") for i in range(30)]
    frame = spark.createDataFrame(rows, "key string, message_body string").repartition(2, "key")
    this = uuid.uuid4()
    dialogs = Dialogs("source", "target", "trades")
    sent = send(frame, tcp(desk.database), message_type="trade", dialogs=dialogs, send_id=this)
    assert sent == 30
    again = send(frame, tcp(desk.database), message_type="trade", dialogs=dialogs, send_id=this)
    assert again == 0
    got = desk.connection.execute(
        "SELECT conversation_handle,"
        "       array_agg(convert_from(message_body, 'UTF8')::int ORDER BY queuing_order)"
        "  FROM dbo.target GROUP BY 1"
    ).fetchall()
    assert [bodies for _, bodies in got] == [list(range(1, 11))] * 3


@pytest.mark.long
def test_what_cannot_be_sent_is_said(spark: Any, desk: Desk, tcp: Tcp) -> None:
    frame = spark.createDataFrame([("x",)], "message_body string")
    with pytest.raises(BulkError, match="nosuch"):
        send(frame, tcp(desk.database), message_type="nosuch", dialogs=Dialogs("source", "target", "trades"))
    assert desk.waiting() == 0


@pytest.mark.long
@pytest.mark.parametrize(("is_overlapping", "sessions"), [(False, 1), (True, 2)])
def test_all_claims_of_a_job_are_made_in_the_same_sessions(
    spark: Any, desk: Desk, tcp: Tcp, is_overlapping: bool, sessions: int
) -> None:
    desk.send(4, 1)
    pids: list[int] = []

    def report(step: str, progress: Any) -> None:
        if step == "claimed":
            pids.append(desk.value("SELECT pid FROM ssb.claims ORDER BY claim_id DESC LIMIT 1"))

    options = JobOptions(max_messages=1, overlap=is_overlapping, report=report)
    run_job(tcp(desk.database), "dbo.target", totals, options)
    assert len(pids) == 4 and len(set(pids)) == sessions
    assert desk.waiting() == 0
    # And they end with the job.
    left = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid = ANY (%s)"
    while desk.value(left, pids):
        desk.connection.execute("SELECT pg_sleep(0.02)")


@pytest.mark.long
def test_a_claim_is_computed_while_another_is_completed(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.send(5, 2)
    # Nobody can complete while this lock is held: the second claim is computed meanwhile.
    lock = psycopg.connect(desk.database.dsn)
    lock.execute("LOCK TABLE dbo.total IN EXCLUSIVE MODE")
    computed: list[str] = []

    def report(step: str, progress: Any) -> None:
        computed.append(step)
        if computed.count("claimed") == 3:
            lock.rollback()

    def program(messages: Any) -> Outputs:
        if computed.count("claimed") == 2:
            assert "completed" not in computed
            lock.rollback()
        return totals(messages)

    with lock:
        progress = run_job(
            tcp(desk.database),
            "dbo.target",
            program,
            JobOptions(max_messages=4, overlap=True, report=report),
        )
    assert (progress.claims, progress.completed, progress.written, progress.replied) == (3, 10, 5, 5)
    assert [step for step in computed if step != "tasks"][:3] == ["claimed", "claimed", "completed"]
    assert _totals(desk) == [(2, 3)] * 5
    assert desk.waiting() == 0


@pytest.mark.long
def test_with_overlap_what_fails_goes_back_and_is_told_once(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.send(4, 2)
    desk.connection.execute("ALTER TABLE dbo.total ADD CHECK (sum <> 3) NOT VALID")
    with pytest.raises(BulkError, match="violates check constraint"):
        run_job(tcp(desk.database), "dbo.target", totals, JobOptions(max_messages=2, overlap=True))
    assert desk.waiting() == 8
    assert _totals(desk) == []
    # A claim that is lost while it is completed is taken again.
    desk.connection.execute("ALTER TABLE dbo.total DROP CONSTRAINT total_sum_check")
    cut: list[int] = []

    def report(step: str, progress: Any) -> None:
        if step == "claimed" and progress.claims == 2 and not cut:
            cut.append(
                desk.value(
                    "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
                    " WHERE application_name = 'pgsb bulk claim' AND datname = current_database()"
                )
            )

    lock = psycopg.connect(desk.database.dsn)
    lock.execute("LOCK TABLE dbo.total IN EXCLUSIVE MODE")

    def program(messages: Any) -> Outputs:
        if cut:
            lock.rollback()
        return totals(messages)

    with lock:
        options = JobOptions(max_messages=2, overlap=True, report=report, poll=0.05)
        progress = run_job(tcp(desk.database), "dbo.target", program, options)
    assert cut == [2]
    assert progress.completed == 8
    assert _totals(desk) == [(2, 3)] * 4

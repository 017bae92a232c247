"""Exactly once: servers that restart, tasks that run twice, streams that stop, readers beside each other."""

import contextlib
import functools
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bulk_desk import Desk, make_desk
from end_to_end.tsql import Tsql

import pgsb.bulk.complete as complete_module
from pgsb.bulk import Outputs, claim, load_program
from pgsb.bulk.claim import Claim
from pgsb.bulk.complete import complete
from pgsb.bulk.copying_ahead import CopyAhead, _GivenUpError
from pgsb.bulk.job import run_job
from pgsb.bulk.options import JobOptions
from pgsb.bulk.progress import Progress
from pgsb.bulk.read import read
from pgsb.bulk.staging import Staged, stage
from pgsb.bulk.tables import PackedTable
from pgsb.runtime_sql.installer import install
from pgsb.server.embedded import PrivateServer
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Connect = Callable[..., Connection]
Tcp = Callable[[Database], str]
sys.path.insert(0, str(Path(__file__).parent))
totals = load_program("programs:totals")


class Restarted:
    """A PostgreSQL of the test's own, which comes back on the same port."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        settings = {"port": port, "shared_buffers": "32MB", "log_min_messages": "fatal"}
        # A durable one: what was committed before it is stopped at once must be there afterwards.
        self.server = PrivateServer(home, settings=settings)
        self.server.start()
        self.dsn = self.server.loopback_dsn()

    def restart(self) -> None:
        self.server.stop(immediate=True)
        self.server.start()


@pytest.fixture(scope="module")
def restarted() -> Iterator[Restarted]:
    home = Path(tempfile.mkdtemp(prefix="pgsb-restart-"))
    if os.geteuid() == 0:
        home.chmod(0o711)
    made = Restarted(home)
    try:
        with psycopg.connect(made.dsn, autocommit=True) as connection:
            install(connection)
            make_desk(connection, Database("pgsb", made.dsn))
        yield made
    finally:
        made.server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.long
def test_restarts_of_postgresql_in_the_middle_repeat_nothing(
    spark: Any, restarted: Restarted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first claim is read, after the second one's results are staged, in COPY beside the third
    one's tasks and behind the fourth one's.
    """
    desk = Desk(psycopg.connect(restarted.dsn, autocommit=True), Database("pgsb", restarted.dsn))
    desk.send(3, 4)
    desk.connection.close()
    moments = ["reading", "completing", "copying ahead", "copying"]

    def restart_at(moment: str) -> None:
        if moments[:1] == [moment]:
            moments.pop(0)
            restarted.restart()

    def program(messages: Any) -> Outputs:
        restart_at("reading")
        return totals(messages)

    finish = complete_module._finish

    def finish_after_restart(*arguments: Any) -> Any:
        restart_at("completing")
        return finish(*arguments)

    packs_ahead = CopyAhead._packs

    def packs_ahead_of_restart(ahead: CopyAhead) -> Iterator[bytes]:
        if moments == ["copying"]:
            raise _GivenUpError
        for one in packs_ahead(ahead):
            yield one
            restart_at("copying ahead")

    packs = PackedTable._packs

    def packs_around_restart(*arguments: Any) -> Iterator[Any]:
        for some in packs(*arguments):
            yield some
            restart_at("copying")

    monkeypatch.setattr(complete_module, "_finish", finish_after_restart)
    monkeypatch.setattr(CopyAhead, "_packs", packs_ahead_of_restart)
    monkeypatch.setattr(PackedTable, "_packs", packs_around_restart)
    done = run_job(restarted.dsn, "dbo.target", program, JobOptions(poll=0.05))
    assert not moments
    assert (done.claims, done.completed, done.replied) == (5, 12, 3)
    with psycopg.connect(restarted.dsn, autocommit=True) as connection:
        desk = Desk(connection, Database("pgsb", restarted.dsn))
        assert connection.execute("SELECT messages, sum FROM dbo.total").fetchall() == [(4, 10)] * 3
        assert [one for one in desk.replies() if one[0] == "note"] == [("note", "10")] * 3
        assert desk.waiting() == 0


def test_a_commit_whose_answer_is_lost_is_not_repeated(
    spark: Any, desk: Desk, tcp: Tcp, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.send(2, 3)
    finish = complete_module._finish

    def finish_without_answer(held: Claim, *arguments: Any) -> Any:
        commit = held.connection.transaction

        @contextlib.contextmanager
        def lose() -> Iterator[None]:
            with commit():
                yield
            held.connection.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        monkeypatch.setattr(held.connection, "transaction", lose)
        return finish(held, *arguments)

    monkeypatch.setattr(complete_module, "_finish", finish_without_answer)
    done = run_job(tcp(desk.database), "dbo.target", totals)
    assert (done.claims, done.completed, done.written, done.replied) == (1, 6, 2, 2)
    assert desk.value("SELECT count(*) FROM dbo.total") == 2
    assert [one for one in desk.replies() if one[0] == "note"] == [("note", "6")] * 2


@pytest.mark.long
def test_of_two_attempts_at_a_partition_one_counts(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As speculation leaves it: both attempts have written all their rows, Spark reports one."""
    desk.send(2, 3)
    dsn = tcp(desk.database)
    held = claim(connect(), "dbo.target")
    assert held is not None

    def stage_twice(*arguments: Any, **options: Any) -> Staged:
        loser = stage(*arguments, **options)
        winner = stage(*arguments, **options)
        assert not set(loser.attempts) & set(winner.attempts) and loser.rows == winner.rows
        return winner

    monkeypatch.setattr(complete_module, "stage", stage_twice)
    done = complete(held, totals(read(spark, held, dsn)), dsn)
    assert (done.deleted, done.written, done.replied) == (6, 2, 2)
    assert desk.connection.execute("SELECT messages, sum FROM dbo.total").fetchall() == [(3, 6)] * 2
    assert [one for one in desk.replies() if one[0] == "note"] == [("note", "6")] * 2


def test_an_attempt_that_still_writes_keeps_nobody_waiting(desk: Desk, connect: Connect) -> None:
    desk.send(1, 1)
    owner, late = connect(), connect(autocommit=False)
    owner.execute("SET lock_timeout = '20s'")
    held = claim(owner, "dbo.target")
    assert held is not None
    row = owner.execute("SELECT ssb_internal.create_staging(%s, 'ends')", (held.claim_id,)).fetchone()
    assert row is not None
    late.execute(f"INSERT INTO {row[0]} SELECT conversation_handle, NULL, NULL, 7 FROM dbo.target")
    assert complete(held, Outputs(unread="complete"), desk.database.dsn).deleted == 1
    late.rollback()
    assert claim(owner, "dbo.target") is None
    assert desk.value("SELECT to_regclass(%s) IS NULL", row[0])


def _stream(spark: Any, dsn: str, checkpoint: Path, process: Callable[[Any, int], None]) -> Any:
    source = spark.readStream.format("pgsb").option("dsn", dsn).option("queue", "dbo.target")
    writer = source.option("partitions", "1").load().writeStream.foreachBatch(process)
    return writer.option("checkpointLocation", str(checkpoint)).start()


def _until(watcher: Connection, reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not reached():
        assert time.monotonic() < deadline
        watcher.execute("SELECT pg_sleep(0.05)")


@pytest.mark.long
def test_a_stream_goes_on_from_its_checkpoint(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, tmp_path: Path
) -> None:
    """It is stopped by an error before a batch was completed, then by one after, each time started again."""
    from pgsb.bulk.datasource import register
    from pgsb.bulk.streaming import completing

    register(spark)
    dsn = tcp(desk.database)
    process = completing(totals, dsn, "dbo.target")
    watcher = connect()

    def dies_before(frame: Any, number: int) -> None:
        raise RuntimeError("before")

    def dies_after(frame: Any, number: int) -> None:
        process(frame, number)
        if desk.waiting() == 0:
            raise RuntimeError("after")

    desk.send(2, 3)
    for fault in (dies_before, dies_after):
        query = _stream(spark, dsn, tmp_path, fault)
        _until(watcher, functools.partial(lambda one: not one.isActive, query))
        assert fault.__name__.removeprefix("dies_") in str(query.exception())
    assert desk.value("SELECT count(*) FROM dbo.total") == 2
    desk.send(1, 3)
    told: list[Any] = []

    def program(messages: Any, context: Any) -> Any:
        told.append((context.queue, context.claim_id, context.server.dsn, context.table("dbo.total").count()))
        told.append([one.messages for one in context.conversations.collect()])
        assert context.spark.range(1).count() == 1
        return totals(messages)

    query = _stream(spark, dsn, tmp_path, completing(program, dsn, "dbo.target"))
    try:
        _until(watcher, lambda: desk.value("SELECT count(*) FROM dbo.total") == 3 or not query.isActive)
    finally:
        query.stop()
    assert desk.connection.execute("SELECT messages, sum FROM dbo.total").fetchall() == [(3, 6)] * 3
    assert [one for one in desk.replies() if one[0] == "note"] == [("note", "6")] * 3
    assert desk.waiting() == 0
    # The batch's session, a copy of this one, has not stayed the active one.
    assert type(spark).getActiveSession() is spark
    # The program was told what it works for, as one that run_job runs is.
    ((queue, claim_id, at, totals_before), messages) = told
    assert (queue, totals_before, messages) == ("dbo.target", 2, [3]) and claim_id > 0
    assert f"dbname={desk.database.name}" in at


READER = """
CREATE TABLE Seen (Place INT IDENTITY, Reader VARCHAR(10), Conversation UNIQUEIDENTIFIER, Body VARCHAR(20));
GO
CREATE PROCEDURE Reader AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @handle UNIQUEIDENTIFIER, @body VARCHAR(20);
    WHILE 1 = 1
    BEGIN
        BEGIN TRANSACTION;
        SET @handle = NULL;
        RECEIVE TOP (1) @handle = conversation_handle, @body = CAST(message_body AS VARCHAR(20)) FROM Target;
        IF @handle IS NULL
        BEGIN
            COMMIT;
            BREAK;
        END
        INSERT INTO Seen (Reader, Conversation, Body) VALUES ('T-SQL', @handle, @body);
        SEND ON CONVERSATION @handle MESSAGE TYPE [note] (@body);
        COMMIT;
    END
END
GO
"""


@pytest.mark.long
def test_two_jobs_and_a_compiled_reader_process_each_message_once_and_in_order(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect
) -> None:
    session = Tsql(desk.database.dsn)
    session.run_well(READER)
    session.close()
    dsn = tcp(desk.database)
    handles = desk.send(12, 10)
    done_sending = threading.Event()

    def bulk(messages: Any) -> Outputs:
        seen = messages.selectExpr(
            "'bulk' AS reader", "conversation_handle AS conversation", "CAST(message_body AS STRING) AS body"
        )
        replies = messages.selectExpr("conversation_handle", "'note' AS message_type_name", "message_body")
        return Outputs(tables={"dbo.seen": seen}, replies=replies)

    # Both jobs hold a claim before the reader begins, and until it has read what is left.
    claimed = threading.Barrier(3)
    was_read = threading.Event()

    def job() -> None:
        begun: list[str] = []

        def report(step: str, progress: Progress) -> None:
            if not begun:
                begun.append(step)
                claimed.wait(60)
                was_read.wait(60)

        while not (done_sending.is_set() and desk_is_empty()):
            run_job(dsn, "dbo.target", bulk, JobOptions(max_messages=20, report=report))

    def reader() -> None:
        with psycopg.connect(desk.database.dsn, autocommit=True) as connection:
            claimed.wait(60)
            while not (done_sending.is_set() and desk_is_empty()):
                connection.execute("CALL dbo.reader()")
                was_read.set()

    def desk_is_empty() -> bool:
        with psycopg.connect(desk.database.dsn, autocommit=True) as connection:
            return connection.execute("SELECT count(*) FROM dbo.target").fetchone() == (0,)

    failures: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                work()
            except BaseException as error:
                failures.append(error)

        return run

    threads = [threading.Thread(target=guarded(work)) for work in (job, job, reader)]
    for thread in threads:
        thread.start()
    sender = connect()
    for number in range(11, 21):
        for handle in handles:
            sender.execute("SELECT ssb.send(%s, 'trade', %s::text)", (handle, str(number)))
    done_sending.set()
    for thread in threads:
        thread.join(120)
    assert not failures
    wanted = [list(range(1, 21))] * 12
    seen = desk.connection.execute(
        "SELECT array_agg(body::int ORDER BY place) FROM dbo.seen GROUP BY conversation"
    ).fetchall()
    assert [row[0] for row in seen] == wanted
    answered = desk.connection.execute(
        "SELECT array_agg(convert_from(message_body, 'UTF8')::int ORDER BY queuing_order)"
        "  FROM dbo.source GROUP BY conversation_handle"
    ).fetchall()
    assert [row[0] for row in answered] == wanted
    readers = desk.connection.execute("SELECT DISTINCT reader FROM dbo.seen ORDER BY 1").fetchall()
    assert readers == [("T-SQL",), ("bulk",)]


def test_a_dead_claim_is_free_within_two_seconds(desk: Desk, connect: Connect) -> None:
    """The owner is killed by the operating system: nobody says good-bye to the server."""
    desk.send(1, 3)
    script = (
        "import sys, psycopg\nfrom pgsb.bulk import claim\n"
        "held = claim(psycopg.connect(sys.argv[1], autocommit=True), 'dbo.target')\n"
        "print(held.messages, flush=True)\nsys.stdin.read()\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", script, desk.database.dsn], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert owner.stdout is not None and owner.stdin is not None
    assert owner.stdout.readline() == b"3\n"
    session = connect()
    assert claim(session, "dbo.target") is None
    owner.kill()
    deadline = time.monotonic() + 2
    held = None
    while held is None and time.monotonic() < deadline:
        held = claim(session, "dbo.target")
    assert held is not None and held.messages == 3
    owner.communicate()

"""Another server takes over: a standby is promoted in mid-batch, or a host no longer answers."""

import contextlib
import os
import shutil
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import psycopg
import pytest
from bulk_desk import Desk, make_desk
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import pgsb.bulk.complete as complete_module
from pgsb.bulk import Outputs, claim
from pgsb.bulk import connections as connections_module
from pgsb.bulk.claim import Claim, abandon
from pgsb.bulk.connections import Server, reached, task_session
from pgsb.bulk.connections import connect as connect_to
from pgsb.bulk.job import run_job
from pgsb.bulk.options import JobOptions
from pgsb.bulk.program import Context
from pgsb.bulk.read import read
from pgsb.runtime_sql.installer import install
from pgsb.server.embedded import PrivateServer
from support import Connection, Database, server_home

pytestmark = pytest.mark.one_postgres

Connect = Callable[..., Connection]
Tcp = Callable[[Database], str]


@dataclass(frozen=True)
class Cluster:
    """A primary, its standby, which has what is committed, and a DSN that leads to whichever is writable."""

    primary: PrivateServer
    standby: PrivateServer
    dsn: str

    def fail_over(self) -> None:
        """The primary is gone from one moment to the next, and the standby takes its place."""
        self.primary.stop(immediate=True)
        with psycopg.connect(self.standby.loopback_dsn(), autocommit=True) as connection:
            connection.execute("SELECT pg_promote()")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    homes = [server_home("pgsb-primary-"), server_home("pgsb-standby-")]
    settings = {"shared_buffers": "32MB", "log_min_messages": "fatal", "fsync": "off"}
    servers = [PrivateServer(home, settings=settings) for home in homes]
    primary, standby = servers
    try:
        primary.start()
        with psycopg.connect(primary.loopback_dsn(), autocommit=True) as connection:
            install(connection)
            make_desk(connection, Database("pgsb", primary.loopback_dsn()))
        primary.stop()
        shutil.copytree(homes[0], homes[1], dirs_exist_ok=True, symlinks=True)
        data = standby.status().data
        assert data is not None
        for place in (homes[1], *homes[1].rglob("*")):
            owner = (homes[0] / place.relative_to(homes[1])).stat()
            os.chown(place, owner.st_uid, owner.st_gid)
        primary.start()
        (data / "standby.signal").touch()
        parts = conninfo_to_dict(primary.loopback_dsn())
        source = make_conninfo(**{**parts, "dbname": None}, application_name="standby")
        with (data / "postgresql.auto.conf").open("a") as file:
            file.write(f"primary_conninfo = '{source}'\n")
        standby.start()
        with psycopg.connect(primary.loopback_dsn(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            connection.execute("SELECT pg_reload_conf()")
            until = time.monotonic() + 30
            while connection.execute("SELECT sync_state FROM pg_stat_replication").fetchall() != [("sync",)]:
                assert time.monotonic() < until
                time.sleep(0.05)
        there = conninfo_to_dict(standby.loopback_dsn())
        dsn = make_conninfo(
            **{**parts, "host": "127.0.0.1,127.0.0.1", "port": f"{parts['port']},{there['port']}"},
            target_session_attrs="read-write",
        )
        yield Cluster(primary, standby, dsn)
    finally:
        for server, home in zip(servers, homes, strict=True):
            server.stop(immediate=True)
            shutil.rmtree(home, ignore_errors=True)


def answered(messages: Any, context: Context) -> Outputs:
    """A row for each message, and an answer to each conversation of which nothing is read for that."""
    return Outputs(
        tables={
            "dbo.total": messages.selectExpr(
                "conversation_handle", "1 AS messages", "CAST(CAST(message_body AS STRING) AS LONG) AS sum"
            )
        },
        replies=context.conversations.selectExpr(
            "conversation_handle", "'note' AS message_type_name", "CAST(messages AS STRING) AS message_body"
        ),
        end_all=True,
    )


@pytest.mark.long
def test_a_job_goes_on_where_a_standby_was_promoted(spark: Any, cluster: Cluster) -> None:
    with psycopg.connect(cluster.primary.loopback_dsn(), autocommit=True) as connection:
        Desk(connection, Database("pgsb", cluster.dsn)).send(3, 4)
    looks: list[int] = []

    def program(messages: Any, context: Context) -> Outputs:
        looks.append(context.table("dbo.total").count())
        if len(looks) == 1:
            cluster.fail_over()
        return answered(messages, context)

    done = run_job(cluster.dsn, "dbo.target", program, JobOptions(poll=0.05))
    assert (looks, done.claims, done.completed, done.written, done.replied) == ([0, 0], 2, 12, 12, 3)
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        desk = Desk(connection, Database("pgsb", cluster.dsn))
        rows = connection.execute("SELECT sum, count(*) FROM dbo.total GROUP BY 1 ORDER BY 1").fetchall()
        assert rows == [(number, 3) for number in (1, 2, 3, 4)]
        assert [one for one in desk.replies() if one[0] == "note"] == [("note", "4")] * 3
        assert desk.waiting() == 0


@pytest.mark.long
def test_a_commit_is_known_on_the_server_that_has_taken_over(
    spark: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The primary was gone before it could say that the claim is completed."""
    with psycopg.connect(cluster.primary.loopback_dsn(), autocommit=True) as connection:
        Desk(connection, Database("pgsb", cluster.dsn)).send(3, 4)
    finish = complete_module._finish

    def finish_without_answer(held: Claim, *arguments: Any) -> Any:
        commit = held.connection.transaction

        @contextlib.contextmanager
        def lose() -> Iterator[None]:
            with commit():
                yield
            cluster.fail_over()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        monkeypatch.setattr(held.connection, "transaction", lose)
        return finish(held, *arguments)

    monkeypatch.setattr(complete_module, "_finish", finish_without_answer)
    done = run_job(cluster.dsn, "dbo.target", answered, JobOptions(poll=0.05))
    assert (done.claims, done.completed, done.written, done.replied) == (1, 12, 12, 3)
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        desk = Desk(connection, Database("pgsb", cluster.dsn))
        assert desk.value("SELECT count(*) FROM dbo.total") == 12
        assert [one for one in desk.replies() if one[0] == "note"] == [("note", "4")] * 3
        assert desk.waiting() == 0


@pytest.mark.long
def test_a_stream_goes_on_where_a_standby_was_promoted(spark: Any, cluster: Cluster, tmp_path: Path) -> None:
    """Its query ends within the batch; started again it has the same claim, on the other server."""
    from pgsb.bulk.datasource import register
    from pgsb.bulk.streaming import completing

    register(spark)
    with psycopg.connect(cluster.primary.loopback_dsn(), autocommit=True) as connection:
        Desk(connection, Database("pgsb", cluster.dsn)).send(3, 4)
    process = completing(answered, cluster.dsn, "dbo.target")
    moments = ["before", "after"]

    def fails_over(frame: Any, number: int) -> None:
        if moments == ["before", "after"]:
            moments.pop(0)
            cluster.fail_over()
        process(frame, number)

    def dies_behind(frame: Any, number: int) -> None:
        process(frame, number)
        moments.pop(0)
        raise RuntimeError("behind")

    stream = spark.readStream.format("pgsb").option("dsn", cluster.dsn).option("queue", "dbo.target")
    for step, said in ((fails_over, "127.0.0.1"), (dies_behind, "behind"), (process, None)):
        writer = stream.option("partitions", "1").load().writeStream.foreachBatch(step)
        query = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()
        if said is None:
            query.awaitTermination(120)
        else:
            with pytest.raises(Exception, match=said):
                query.awaitTermination(120)
        assert not query.isActive
    assert not moments
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        desk = Desk(connection, Database("pgsb", cluster.dsn))
        rows = connection.execute("SELECT sum, count(*) FROM dbo.total GROUP BY 1 ORDER BY 1").fetchall()
        assert rows == [(number, 3) for number in (1, 2, 3, 4)]
        assert [one for one in desk.replies() if one[0] == "note"] == [("note", "4")] * 3
        assert desk.waiting() == 0


@pytest.mark.long
def test_messages_that_were_sent_before_a_fail_over_are_not_sent_again(
    spark: Any, cluster: Cluster, tmp_path: Path
) -> None:
    """One task has committed, the other is about to send; the same send is run again."""
    from pgsb.bulk.datasource import register

    register(spark)
    begun, over = tmp_path / "begun", tmp_path / "over"

    def waits(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is not None and context.partitionId() == 1:
            begun.touch()
            while not over.exists():
                time.sleep(0.05)
        yield from batches

    def fail_over() -> None:
        with psycopg.connect(cluster.primary.loopback_dsn(), autocommit=True) as connection:
            desk = Desk(connection, Database("pgsb", cluster.dsn))
            while not begun.exists() or desk.waiting() < 4:
                time.sleep(0.05)
        cluster.fail_over()
        over.touch()

    rows = spark.range(0, 8, 1, 2).selectExpr("CAST(id AS STRING) AS message_body")
    options = {"fromService": "source", "toService": "target", "contract": "trades", "messageType": "trade"}
    writer = rows.mapInArrow(waits, rows.schema).write.format("pgsb").mode("append")
    writer = writer.options(dsn=cluster.dsn, sendId=str(uuid.uuid4()), **options)
    thread = threading.Thread(target=fail_over)
    thread.start()
    with pytest.raises(Exception, match="messages cannot be sent"):
        writer.save()
    thread.join()
    writer.save()
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        bodies = connection.execute("SELECT convert_from(message_body, 'UTF8') FROM dbo.target").fetchall()
        assert sorted(bodies) == [(str(number),) for number in range(8)]


@pytest.mark.long
def test_tasks_of_a_claim_whose_session_has_ended_are_cancelled(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, tmp_path: Path
) -> None:
    """What they compute could not count any more, and the messages are others' by now."""
    desk.send(2, 3)
    flag = tmp_path / "begun"
    watcher = connect()

    def cut() -> None:
        while not flag.exists():
            time.sleep(0.05)
        watcher.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = 'pgsb bulk claim' AND datname = current_database()"
        )

    def takes_its_time(batches: Iterator[Any]) -> Iterator[Any]:
        is_first = not flag.exists()
        flag.touch()
        if is_first:
            time.sleep(600)
        yield from batches

    def program(messages: Any) -> Outputs:
        slow = messages.repartition(1).mapInArrow(takes_its_time, messages.schema)
        total = slow.selectExpr("conversation_handle", "1 AS messages", "2 AS sum")
        return Outputs(tables={"dbo.total": total})

    thread = threading.Thread(target=cut)
    thread.start()
    began = time.monotonic()
    done = run_job(tcp(desk.database), "dbo.target", program, JobOptions(poll=0.05))
    thread.join()
    assert (done.claims, done.completed, done.written) == (2, 6, 6)
    assert time.monotonic() - began < 300


@pytest.mark.long
def test_conversations_are_not_those_of_another_server(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, new_database: Callable[[], Database]
) -> None:
    """As where an address leads elsewhere by now: none would be answered, and their messages be deleted."""
    desk.send(2, 3)
    held = claim(connect(), "dbo.target")
    assert held is not None
    identity = reached(held.connection).identity

    def conversations(dsn: str) -> Any:
        context = Context(spark, Server(dsn, identity), "dbo.target", held.claim_id, held.partitions)
        return context.conversations

    here = conversations(tcp(desk.database))
    assert (here.count(), here.where("messages = 3").count()) == (2, 2)
    assert here.where("service_name = 'none'").count() == 0
    elsewhere = conversations(tcp(new_database()))
    for wanted in (elsewhere, elsewhere.where("conversation_handle IS NOT NULL")):
        with pytest.raises(Exception, match="was made in another database"):
            wanted.collect()
    abandon(held)
    with pytest.raises(Exception, match=f"there is no claim {held.claim_id}"):
        here.collect()


@pytest.mark.long
def test_a_server_that_hangs_does_not_keep_a_list_of_hosts_from_its_next_one(
    desk: Desk, tcp: Tcp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGCONNECT_TIMEOUT", raising=False)
    monkeypatch.setitem(connections_module._NOTICING, "connect_timeout", 2)
    parts = conninfo_to_dict(tcp(desk.database))
    with socket.socket() as silent:
        # The system takes the connection; nobody answers.
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        dsn = make_conninfo(**{**parts, "host": "127.0.0.1,127.0.0.1", "port": f"{port},{parts['port']}"})
        with connect_to(dsn, "test") as connection:
            assert connection.info.port == int(str(parts["port"]))
        with task_session(dsn, "test") as connection:
            assert connection.info.port == int(str(parts["port"]))


def test_who_waits_for_a_server_asks_whether_its_machine_is_there(desk: Desk, tcp: Tcp) -> None:
    def asked(connection: Connection) -> tuple[int, ...]:
        with socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as shared:
            return tuple(
                shared.getsockopt(socket.IPPROTO_TCP, option)
                for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
            )

    dsn = tcp(desk.database)
    patient = make_conninfo(dsn, keepalives_idle=50, connect_timeout=7)
    for opened in (connect_to, task_session):
        with opened(dsn, "test") as connection:
            assert asked(connection) == (10, 5, 3)
        with opened(patient, "test") as connection:
            assert asked(connection) == (50, 5, 3)
            kept = conninfo_to_dict(reached(connection).dsn)
            assert (kept["keepalives_idle"], kept["connect_timeout"]) == ("50", "7")


def test_java_gives_up_a_claims_server_that_keeps_silent(desk: Desk, tcp: Tcp, connect: Connect) -> None:
    """It cannot be told when to ask. What a program reads beside may take as long as it wants."""

    class Asked:
        """A session of Spark's that only hears where it is to read."""

        def __init__(self) -> None:
            self.urls: list[str] = []
            self.frame = MagicMock()

        @property
        def read(self) -> "Asked":
            return self

        def jdbc(self, url: str, *_others: Any, **_named: Any) -> Any:
            self.urls.append(url)
            return self.frame

        def format(self, _name: str) -> "Asked":
            return self

        def option(self, _name: str, _value: str) -> "Asked":
            return self

        def options(self, **options: str) -> "Asked":
            self.urls += [options["url"]] if "url" in options else []
            return self

        def load(self) -> Any:
            return self.frame

    desk.send(1, 1)
    held = claim(connect(), "dbo.target")
    assert held is not None
    dsn = tcp(desk.database)
    asked: Any = Asked()
    read(asked, held, dsn)
    with connect_to(dsn, "test") as connection:
        context = Context(asked, reached(connection), "dbo.target", held.claim_id, held.partitions)
    assert context.conversations is not None and context.table("dbo.total") is not None
    assert ["&socketTimeout=600" in url for url in asked.urls] == [True, True, False]

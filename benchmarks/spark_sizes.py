"""Bulk jobs of all shapes: one message, one long conversation, a million short ones, large bodies.

    python -m benchmarks.spark_sizes [--shapes 1x1,1x1000000,1000000x1,8MB] [--memory 1g] [--postgres 18]
                                      [--each MESSAGES]
    python -m benchmarks.spark_sizes --claims [--postgres 18]

A shape is CONVERSATIONSxMESSAGES of 200 bytes, or 8MB: 60 bodies of 8 MB on 6 conversations. Each is one
run of pgsb.bulk.job.run_job on local[2] with benchmarks.spark's program: a row, a reply and an end for each
conversation. Prints seconds for claiming, computing and completing, and what the driver holds: its JVM's
live heap (what the last collection left, the largest of the run) and its Python's peak. A shape is one claim,
or with --each claims of so many messages: in `--shapes 10000x100,100000x100 --each 1000000` the second has
ten times the messages, and should hold no more.

With --claims there is no Spark: for growing numbers of conversations of 100 messages it prints what claiming
them and completing the claim (a reply and an end for each) cost in microseconds per message: by the
clock, and of the server's processor, which other work on the machine does not change (Linux only).

Dialogs and their first messages come by BEGIN DIALOG and SEND, each committed, so their rows lie in pages as
in life: where one statement inserts them, a claim's updates find no room there (docs/spark.md). Further
messages are copies of the first: what SEND writes, without its cost.
The messages of all conversations are interleaved: the first of each, then the second of each, and so on.
Run in a checkout, from its root. A shape of a million takes minutes.
"""

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import psycopg

from pgsb.bulk import claim
from pgsb.bulk.job import run_job
from pgsb.bulk.options import JobOptions, Mode
from pgsb.bulk.progress import Progress
from pgsb.bulk.session import spark_session

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.queues.server import running
from benchmarks.spark import define, over_tcp, totals

LARGE = 8 * 1024 * 1024
BEGIN_AND_SEND = """
CREATE OR REPLACE PROCEDURE pg_temp.begin_and_send(p_conversations integer, p_body bytea)
LANGUAGE plpgsql
AS $$
DECLARE
    v_handle uuid;
BEGIN
    FOR n IN 1..p_conversations LOOP
        v_handle := ssb.begin_dialog('//Bulk/Source', '//Bulk/Target', '//Bulk/Items');
        PERFORM ssb.send(v_handle, '//Bulk/Item', p_body);
        COMMIT;
    END LOOP;
END;
$$
"""
MADE = """
INSERT INTO pg_temp.made
SELECT e.endpoint_id, e.far_endpoint_id
  FROM ssb.conversation_endpoint AS e WHERE e.is_initiator AND e.endpoint_id > %(before)s
"""
COPY_MESSAGES = """
INSERT INTO ssb.message_0
SELECT d.far, nextval(e.far_order), n - 1, clock_timestamp(),
       m.queue_id, m.message_type_id, m.priority, m.validation,
       convert_to(lpad(n::text, 10, '0') || repeat('x', %(size)s - 10), 'UTF8')
  FROM (SELECT o.far, n FROM pg_temp.made AS o, generate_series(2, %(messages)s) AS n ORDER BY n, o.far) AS d,
       (SELECT * FROM pg_temp.made LIMIT 1) AS s
  JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = s.near
  JOIN ssb.message_stored AS m ON m.endpoint_id = s.far
"""
LAST_ORDERS = """
UPDATE ssb.conversation_endpoint AS e SET sent_count = %(messages)s, sent_order = o.last
  FROM (SELECT m.endpoint_id, max(m.queuing_order) AS last FROM ssb.message_0 AS m GROUP BY 1) AS o
 WHERE e.far_endpoint_id = o.endpoint_id AND e.is_initiator
"""


def fill(connection: psycopg.Connection[Any], conversations: int, messages: int, size: int) -> None:
    """``messages`` bodies of ``size`` bytes on each of so many new dialogs to the bulk queue."""
    for statement in (
        "CREATE TEMP TABLE IF NOT EXISTS made (near bigint, far bigint)",
        "TRUNCATE made",
        BEGIN_AND_SEND,
        "SET synchronous_commit = off",
    ):
        connection.execute(statement.encode())
    numbers = {
        "before": _one(connection, "SELECT coalesce(max(endpoint_id), 0) FROM ssb.conversation_endpoint"),
        "messages": messages,
        "size": size,
    }
    first = f"{1:010}".encode() + b"x" * (size - 10)
    connection.execute("CALL pg_temp.begin_and_send(%s, %s)", [conversations, first])
    connection.execute("RESET synchronous_commit")
    if messages > 1:
        for statement in (
            MADE,
            COPY_MESSAGES,
            "ANALYZE ssb.conversation_endpoint, ssb.message_0",
            LAST_ORDERS,
        ):
            connection.execute(statement.encode(), numbers)
    connection.execute("VACUUM ANALYZE")


class Memory:
    """What the driver holds, of its JVM and of its Python."""

    def __init__(self, spark: Any) -> None:
        jvm = spark.sparkContext._jvm
        self._pools = [
            pool
            for pool in jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
            if pool.isCollectionUsageThresholdSupported()
        ]
        self._collect = jvm.java.lang.System.gc

    def reset(self) -> None:
        """Collect, and forget the peaks so far."""
        self._collect()
        for pool in self._pools:
            pool.resetPeakUsage()
        Path("/proc/self/clear_refs").write_text("5")

    def shown(self) -> str:
        """MiB: the largest use of the old generation, what is live now, and Python's peak."""
        peak = sum(
            pool.getPeakUsage().getUsed()
            for pool in self._pools
            if "Old" in pool.getName() or "Tenured" in pool.getName()
        )
        self._collect()
        live = sum(pool.getCollectionUsage().getUsed() for pool in self._pools)
        status = Path("/proc/self/status").read_text()
        python = int(status.split("VmHWM:")[1].split()[0]) // 1024
        return (
            f"JVM old generation peak {peak >> 20} MiB, live after {live >> 20} MiB; Python peak {python} MiB"
        )


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--shapes", default="1x1,1x1000000,1000000x1,8MB")
    parser.add_argument("--claims", action="store_true", help="time claims alone, without Spark")
    parser.add_argument("--each", type=int, help="messages of a claim; all, if it is left out")
    parser.add_argument("--memory", default="1g", help="of the JVM")
    parser.add_argument("--postgres", help="a major version or a bin directory")
    arguments = parser.parse_args()
    with running(arguments.postgres) as server:
        dsn = over_tcp(server.dsn)
        connection = psycopg.connect(dsn, autocommit=True)
        define(connection)
        if arguments.claims:
            print(f"PostgreSQL {server.version}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
            for conversations in (1, 10, 100, 1000, 10_000):
                _time_claims(connection, conversations)
            return
        settings = {"spark.log.level": "OFF", "spark.driver.memory": arguments.memory}
        spark = spark_session("pgsb sizes", JobOptions(master="local[2]", settings=settings))
        memory = Memory(spark)
        print(
            f"PostgreSQL {server.version}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
            f"JVM {arguments.memory}"
        )
        for shape in arguments.shapes.split(","):
            count, _, each = shape.partition("x")
            conversations, messages, size = (6, 10, LARGE) if shape == "8MB" else (int(count), int(each), 200)
            connection.execute("TRUNCATE dbo.totals")
            fill(connection, conversations, messages, size)
            memory.reset()
            _run(dsn, shape, conversations * messages, memory, arguments.each)
            got = connection.execute("SELECT count(*), sum(items) FROM dbo.totals").fetchone()
            replies = _one(
                connection, "SELECT count(*) FROM dbo.sourcequeue WHERE message_type_name = '//Bulk/Item'"
            )
            if got != (conversations, conversations * messages) or replies != conversations:
                raise SystemExit(f"wrong results: {got}, {replies} replies")
            connection.execute("TRUNCATE ssb.message_0, ssb.message_1, ssb.conversation_endpoint")
        spark.stop()


def _run(dsn: str, shape: str, messages: int, memory: Memory, each: int | None) -> None:
    steps: dict[str, float] = {}
    began = time.perf_counter()

    def note(step: str, progress: Progress) -> None:
        now = time.perf_counter() - began
        steps.setdefault(step, now)
        if step == "completed":
            steps[step] = now

    mode: Mode = "once" if each is None else "until-empty"
    done = run_job(dsn, "dbo.bulkqueue", totals, JobOptions(mode=mode, max_messages=each, report=note))
    if done.completed != messages:
        raise SystemExit(f"{done.completed} of {messages} messages were completed")
    print(
        f"{shape:>12}: claim {steps['claimed']:6.2f} s, all {steps['completed']:7.2f} s,"
        f" {messages / steps['completed']:>9,.0f} messages/s; "
        f"{memory.shown()}; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def _time_claims(connection: psycopg.Connection[Any], conversations: int) -> None:
    """The median of three claims of that many conversations of 100 messages."""
    claims: list[tuple[float, float]] = []
    completions: list[tuple[float, float]] = []
    messages = conversations * 100
    for _ in range(3):
        fill(connection, conversations, 100, 200)
        before = _clocks(connection)
        held = claim(connection, "dbo.bulkqueue", partitions=2)
        claims.append(_since(before, connection))
        assert held is not None and held.messages == messages
        staging = _one(connection, f"SELECT ssb_internal.create_staging({held.claim_id}, 'replies')")
        connection.execute(
            f"INSERT INTO {staging} SELECT conversation_handle, '//Bulk/Item', 'x', row_number() OVER (), 1"
            f"  FROM ssb_internal.claimed_message WHERE claim_id = {held.claim_id}"
            "   AND message_sequence_number = 0".encode()
        )
        outputs = {"kind": "replies", "staging": staging, "attempts": [1], "rows": conversations}
        before = _clocks(connection)
        row = connection.execute(
            "SELECT deleted, replied FROM ssb_internal.complete_claim(%s, %s, end_all => true)",
            (held.claim_id, json.dumps([outputs])),
        ).fetchone()
        completions.append(_since(before, connection))
        if row != (messages, conversations):
            raise SystemExit(f"{row} of {messages} messages and {conversations} replies")
        connection.execute("SELECT ssb_internal.unlock_claim(%s)", (held.claim_id,))
        connection.execute("TRUNCATE ssb.message_0, ssb.message_1, ssb.conversation_endpoint")
    shown = []
    for step, times in (("claim", claims), ("complete", completions)):
        wall, processor = (statistics.median(one[k] for one in times) / messages * 1e6 for k in (0, 1))
        shown.append(f"{step} {wall:7.2f} µs/message ({processor:5.2f} of the processor)")
    print(f"{messages:>9,} messages: {', '.join(shown)}; load {os.getloadavg()[0]:.1f}", flush=True)


def _clocks(connection: psycopg.Connection[Any]) -> tuple[float, float]:
    """Seconds by the clock, and of processor time of the session's backend (in steps of 10 ms)."""
    told = Path(f"/proc/{connection.info.backend_pid}/stat").read_text().rpartition(")")[2].split()
    return time.perf_counter(), (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def _since(before: tuple[float, float], connection: psycopg.Connection[Any]) -> tuple[float, float]:
    now = _clocks(connection)
    return now[0] - before[0], now[1] - before[1]


def _one(connection: psycopg.Connection[Any], query: str) -> Any:
    row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


if __name__ == "__main__":
    main()

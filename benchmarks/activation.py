"""Activation measured: latency beside a plain LISTEN loop, scale-up, idle cost.

python benchmarks/activation.py [--postgres 18] [--rounds 300]: starts a server of its own.

- Latency: commit of SEND to the first statement of the program, idle system. The
  peer is a Python loop that LISTENs, takes the notification and CALLs the same program.
- Scale-up: 10,000 messages over 500 groups with MAX_QUEUE_READERS 1, 4, 16.
- Idle cost: CPU seconds of daemon and server for 200 activated queues without messages.
"""

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from pgsb.runtime_sql.installer import install
from pgsb.server.embedded import PrivateServer

SERVICES = """
SELECT ssb.create_queue('dbo.from_queue'), ssb.create_queue('dbo.to_queue');
SELECT ssb.create_service('//From', 'dbo.from_queue');
SELECT ssb.create_service('//To', 'dbo.to_queue', '{DEFAULT}');
CREATE TABLE dbo.seen (body text, at timestamptz, pid integer DEFAULT pg_backend_pid(), grp uuid);
CREATE PROCEDURE dbo.program() LANGUAGE plpgsql AS $$
DECLARE
    v_start timestamptz := clock_timestamp();
    m ssb.message;
    n integer;
BEGIN
    LOOP
        n := 0;
        FOR m IN SELECT * FROM ssb.receive('dbo.to_queue', 1) LOOP
            n := n + 1;
            INSERT INTO dbo.seen (body, at, grp)
            VALUES (convert_from(m.message_body, 'UTF8'), v_start, m.conversation_group_id);
        END LOOP;
        COMMIT;
        EXIT WHEN n = 0;
    END LOOP;
END;
$$;
"""
ACTIVATE = (
    "SELECT ssb.alter_queue('dbo.to_queue', activation_status => true, activation_procedure => 'dbo.program',"
    " max_queue_readers => {readers})"
)


def latencies(sql: psycopg.Connection[Any], rounds: int) -> list[float]:
    """Milliseconds from the commit of SEND to the program's first statement, one message at a time."""
    row = sql.execute("SELECT ssb.begin_dialog('//From', '//To')").fetchone()
    assert row is not None
    found = []
    for number in range(rounds):
        sql.execute("SELECT ssb.send(%s, 'DEFAULT', %s::text)", [row[0], str(number)])
        # Both clocks are the server's machine's.
        committed = time.time()
        while not (
            seen := sql.execute(
                "SELECT extract(epoch FROM at)::float8 FROM dbo.seen WHERE body = %s", [str(number)]
            ).fetchone()
        ):
            time.sleep(0.002)
        found.append(max(0.0, (seen[0] - committed) * 1000))
        time.sleep(random.uniform(0.03, 0.09))  # until the program has ended and the system is idle
    sql.execute("TRUNCATE dbo.seen")
    return found


def listen_loop(dsn: str) -> None:
    """The peer: LISTEN, CALL the program at every notification."""
    with (
        psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as ear,
        psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as caller,
    ):
        ear.execute("LISTEN ssb_arrival")
        caller.execute("SELECT ssb.watch_queue('dbo.to_queue', true)")
        for _ in ear.notifies():
            caller.execute("CALL dbo.program()")


def measure_latency(dsn: str, rounds: int) -> dict[str, Any]:
    """p50 and p99 of both, in milliseconds."""
    with psycopg.connect(dsn, autocommit=True) as sql:
        sql.execute(ACTIVATE.format(readers=1))
        found = []
        # Each in a process of its own, as they would run.
        for command in (["-m", "pgsb.cli.main", "broker", "--dsn", dsn], [__file__, "--peer", dsn]):
            with subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL) as process:
                time.sleep(4.0)
                found.append(latencies(sql, rounds))
                process.send_signal(signal.SIGTERM)
        daemon, plain = found
    return {"daemon_ms": _percentiles(daemon), "listen_loop_ms": _percentiles(plain)}


def _percentiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100)
    return {"p50": round(cuts[49], 2), "p99": round(cuts[98], 2), "max": round(max(values), 2)}


def measure_scale(dsn: str, readers: int, messages: int = 10_000, groups: int = 500) -> dict[str, Any]:
    """Time to drain, readers seen, and how evenly the groups came to their turn."""
    with psycopg.connect(dsn, autocommit=True) as sql:
        sql.execute("SELECT ssb.alter_queue('dbo.to_queue', activation_status => false)")
        sql.execute("TRUNCATE dbo.seen")
        sql.execute(
            "SELECT ssb.send(h, 'DEFAULT', n::text)"
            " FROM (SELECT array_agg(ssb.begin_dialog('//From', '//To')) AS a"
            " FROM generate_series(1, %s)) AS d, generate_series(1, %s) AS n,"
            " LATERAL (SELECT a[1 + n %% %s] AS h) AS x",
            [groups, messages, groups],
        )
        with EmbeddedBroker(BrokerOptions(dsn), lambda line: None) as broker:
            assert broker.wait_until_leading()
            time.sleep(1.0)
            began = time.monotonic()
            sql.execute(ACTIVATE.format(readers=readers))
            most = 0
            while True:
                row = sql.execute(
                    "SELECT (SELECT count(*) FROM ssb.running_tasks()), (SELECT count(*) FROM dbo.seen)"
                ).fetchone()
                assert row is not None
                most = max(most, row[0])
                if row[1] >= messages:
                    break
                time.sleep(0.05)
            seconds = time.monotonic() - began
        # Fairness: how far, in messages done by everybody, the slowest group's end lies behind the first's.
        spread = sql.execute(
            "WITH o AS (SELECT grp, row_number() OVER (ORDER BY ctid) AS place FROM dbo.seen),"
            " e AS (SELECT grp, max(place) AS last, count(*) FROM o GROUP BY grp)"
            " SELECT count(*), min(last), max(last) FROM e"
        ).fetchone()
        assert spread is not None
    return {
        "max_queue_readers": readers,
        "readers_seen": most,
        "seconds": round(seconds, 2),
        "messages_per_second": round(messages / seconds),
        "groups": spread[0],
        "first_group_done_at": spread[1],
        "last_group_done_at": spread[2],
    }


def measure_idle(dsn: str, queues: int = 200, seconds: float = 20.0) -> dict[str, Any]:
    """CPU of the daemon and of its server processes, in percent of one core."""
    with psycopg.connect(dsn, autocommit=True) as sql:
        for number in range(queues):
            sql.execute(
                f"SELECT ssb.create_queue('dbo.idle_{number}', activation_status => true,"
                " activation_procedure => 'dbo.program', max_queue_readers => 1)"
            )
        daemon = subprocess.Popen(
            [sys.executable, "-m", "pgsb.cli.main", "broker", "--dsn", dsn], stderr=subprocess.DEVNULL
        )
        time.sleep(5.0)
        backends = [
            row[0]
            for row in sql.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'pgsb %'"
            ).fetchall()
        ]
        before = {pid: _cpu(pid) for pid in [daemon.pid, *backends]}
        time.sleep(seconds)
        used = {pid: _cpu(pid) - before[pid] for pid in before}
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()
    return {
        "queues": queues,
        "daemon_percent": round(100 * used.pop(daemon.pid) / seconds, 2),
        "server_percent": round(100 * sum(used.values()) / seconds, 2),
    }


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process has used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure everything and print one JSON object a line."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--postgres", default="18")
    options.add_argument("--rounds", type=int, default=300)
    options.add_argument("--peer", metavar="DSN", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.peer:
        listen_loop(chosen.peer)
    home = Path(tempfile.mkdtemp(prefix="pgsb-bench-"))
    home.chmod(0o711)
    server = PrivateServer(home, wanted=chosen.postgres)
    try:
        dsn = server.start()
        with psycopg.connect(dsn, autocommit=True) as sql:
            install(sql)
            sql.execute(SERVICES)
        print(json.dumps(measure_latency(dsn, chosen.rounds)), flush=True)
        for readers in (1, 4, 16):
            print(json.dumps(measure_scale(dsn, readers)), flush=True)
        print(json.dumps(measure_idle(dsn)), flush=True)
    finally:
        server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()

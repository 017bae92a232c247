"""Activation measured: latency beside a plain LISTEN loop, scale-up, idle cost.

python benchmarks/activation.py [--postgres 18] [--rounds 60] [--repeats 5]
[--kills 20] [--quick] [--only scale]: starts a server of its own.

- Latency: commit of SEND to the first statement of the program, idle system. The
  peer is a Python loop that LISTENs, takes the notification and CALLs the same program.
  Both run all the time, each for a queue of its own, and get messages in turn.
- Takeover: of two daemons the leading one is killed (kill -9), a message is sent at once:
  seconds until the other leads, and until it has started the program.
- Scale-up: 10,000 messages over 500 groups with MAX_QUEUE_READERS 1, 4, 16, by a program that
  takes and commits one message after the other, and by one that takes up to 100 of a group.
- Idle cost: CPU seconds of daemon and server for 200 activated queues without messages.

Numbers come as [min, median, max] of the repeats, with the machine's load.
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

from pgsb.runtime_sql.installer import install
from pgsb.server.embedded import PrivateServer

from .queues.server import ended_by_term

SERVICES = """
SELECT ssb.create_queue('dbo.from_queue');
SELECT ssb.create_service('//From', 'dbo.from_queue');
CREATE TABLE dbo.seen (body text, at timestamptz, pid integer DEFAULT pg_backend_pid(), grp uuid);
"""
# The daemon leaves a queue with no readers alone; SEND still NOTIFYs the peer.
SERVICE = """
SELECT ssb.create_queue('dbo.{name}_queue');
SELECT ssb.create_service('//{name}', 'dbo.{name}_queue', '{{DEFAULT}}');
"""
PROGRAM = """
CREATE PROCEDURE dbo.{name}_{program}() LANGUAGE plpgsql AS $$
DECLARE
    v_start timestamptz := clock_timestamp();
    m ssb.message;
    n integer;
BEGIN
    LOOP
        n := 0;
        FOR m IN SELECT * FROM ssb.receive('dbo.{name}_queue', {top}) LOOP
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
    "SELECT ssb.alter_queue('dbo.{name}_queue', activation_status => true,"
    " activation_procedure => 'dbo.{name}_{program}', max_queue_readers => {readers})"
)
TOPS = {"program": 1, "sets": 100}
"""How much each program takes at once."""

_BROKER = [sys.executable, "-m", "pgsb.cli.main", "broker", "--dsn"]


def latencies(sql: psycopg.Connection[Any], rounds: int) -> dict[str, list[float]]:
    """Milliseconds from the commit of SEND to the program's first statement, one message at a time."""
    dialogs = {name: _dialog(sql, name) for name in ("daemon", "loop")}
    found: dict[str, list[float]] = {name: [] for name in dialogs}
    for number in range(rounds):
        for name in random.sample(list(dialogs), 2):
            body = f"{name} {number}"
            sql.execute("SELECT ssb.send(%s, 'DEFAULT', %s::text)", [dialogs[name], body])
            # Both clocks are the server's machine's.
            committed = time.time()
            while not (
                seen := sql.execute(
                    "SELECT extract(epoch FROM at)::float8 FROM dbo.seen WHERE body = %s", [body]
                ).fetchone()
            ):
                time.sleep(0.002)
            found[name].append(max(0.0, (seen[0] - committed) * 1000))
            time.sleep(random.uniform(0.02, 0.06))  # until the program has ended and the system is idle
    sql.execute("TRUNCATE dbo.seen")
    return found


def _start_daemon(sql: psycopg.Connection[Any], dsn: str) -> "subprocess.Popen[bytes]":
    """A daemon that leads."""
    daemon = subprocess.Popen([*_BROKER, dsn], stderr=subprocess.DEVNULL)
    while not sql.execute("SELECT 1 FROM ssb.broker_daemons WHERE is_leading").fetchone():
        time.sleep(0.05)
    return daemon


def _dialog(sql: psycopg.Connection[Any], name: str) -> Any:
    row = sql.execute("SELECT ssb.begin_dialog('//From', %s)", [f"//{name}"]).fetchone()
    assert row is not None
    return row[0]


def listen_loop(dsn: str) -> None:
    """The peer: LISTEN, CALL the program at every notification."""
    with (
        psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as listener,
        psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as caller,
    ):
        listener.execute("LISTEN ssb_arrival")
        caller.execute("SELECT ssb.watch_queue('dbo.loop_queue', true)")
        row = caller.execute("SELECT queue_id FROM ssb.queue WHERE name = 'dbo.loop_queue'").fetchone()
        assert row is not None
        for notice in listener.notifies():
            if notice.payload == str(row[0]):
                caller.execute("CALL dbo.loop_program()")


def measure_latency(dsn: str, rounds: int, repeats: int) -> dict[str, Any]:
    """p50 and p99 of both, and the difference within each repeat, in milliseconds."""
    with psycopg.connect(dsn, autocommit=True) as sql:
        sql.execute(
            ACTIVATE.format(name="daemon", readers=1, program="program")
            + ";"
            + ACTIVATE.format(name="loop", readers=0, program="program")
        )
        # Each in a process of its own, as they would run. A daemon that begins to lead takes
        # all requests for NOTIFY back, so the peer comes second.
        running = [_start_daemon(sql, dsn), subprocess.Popen([sys.executable, __file__, "--peer", dsn])]
        time.sleep(2.0)
        latencies(sql, 10)
        runs = [latencies(sql, rounds) for _ in range(repeats)]
        for process in running:
            process.send_signal(signal.SIGTERM)
            process.wait()
    cuts = [{name: statistics.quantiles(run[name], n=100) for name in run} for run in runs]
    return {
        f"p{percent}_ms": {
            **{name: spread([cut[name][percent - 1] for cut in cuts]) for name in ("daemon", "loop")},
            "difference": spread([cut["daemon"][percent - 1] - cut["loop"][percent - 1] for cut in cuts]),
        }
        for percent in (50, 99)
    }


def spread(values: list[float]) -> list[float]:
    """Minimum, median, maximum."""
    return [round(value, 2) for value in (min(values), statistics.median(values), max(values))]


def measure_scale(dsn: str, readers: int, program: str, messages: int, groups: int) -> dict[str, Any]:
    """Time to drain, readers seen, how evenly the groups took turns, and the daemon's CPU."""
    with psycopg.connect(dsn, autocommit=True) as sql:
        sql.execute("SELECT ssb.alter_queue('dbo.daemon_queue', activation_status => false)")
        sql.execute("TRUNCATE dbo.seen")
        sql.execute(
            "SELECT ssb.send(h, 'DEFAULT', n::text)"
            " FROM (SELECT array_agg(ssb.begin_dialog('//From', '//daemon')) AS a"
            " FROM generate_series(1, %s)) AS d, generate_series(1, %s) AS n,"
            " LATERAL (SELECT a[1 + n %% %s] AS h) AS x",
            [groups, messages, groups],
        )
        daemon = _start_daemon(sql, dsn)
        time.sleep(1.0)
        cpu = _cpu(daemon.pid)
        began = time.monotonic()
        sql.execute(ACTIVATE.format(name="daemon", readers=readers, program=program))
        most = 0
        while True:
            row = sql.execute(
                "SELECT (SELECT count(*) FROM ssb_internal.running_tasks()), (SELECT count(*) FROM dbo.seen)"
            ).fetchone()
            assert row is not None
            most = max(most, row[0])
            if row[1] >= messages:
                break
            time.sleep(0.1)
        seconds = time.monotonic() - began
        cpu = _cpu(daemon.pid) - cpu
        # Those that have ended are parked; none is younger than the run.
        sessions = sql.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'pgsb reader'")
        server = sum(_cpu(row[0]) for row in sessions.fetchall())
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()
        # Fairness: after how many messages done by everybody the first and the last group were done.
        ends = sql.execute(
            "WITH o AS (SELECT grp, row_number() OVER (ORDER BY ctid) AS place FROM dbo.seen),"
            " e AS (SELECT grp, max(place) AS last, count(*) FROM o GROUP BY grp)"
            " SELECT count(*), min(last), max(last) FROM e"
        ).fetchone()
        assert ends is not None
    return {
        "top": TOPS[program],
        "max_queue_readers": readers,
        "readers_seen": most,
        "seconds": round(seconds, 2),
        "messages_per_second": round(messages / seconds),
        "daemon_percent": round(100 * cpu / seconds, 1),
        # What all cores could do at this price is the limit of any number of readers.
        "readers_us_per_message": round(1e6 * server / messages),
        "groups": ends[0],
        "first_group_done_at": ends[1],
        "last_group_done_at": ends[2],
    }


def measure_idle(dsn: str, queues: int = 200, seconds: float = 20.0) -> dict[str, Any]:
    """CPU of the daemon and of its server processes, in percent of one core."""
    with psycopg.connect(dsn, autocommit=True) as sql:
        for number in range(queues):
            sql.execute(
                f"SELECT ssb.create_queue('dbo.idle_{number}', activation_status => true,"
                " activation_procedure => 'dbo.daemon_program', max_queue_readers => 1)"
            )
        daemon = _start_daemon(sql, dsn)
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
        for number in range(queues):
            sql.execute(f"SELECT ssb.drop_queue('dbo.idle_{number}')")
    return {
        "queues": queues,
        "daemon_percent": round(100 * used.pop(daemon.pid) / seconds, 2),
        "server_percent": round(100 * sum(used.values()) / seconds, 2),
    }


def measure_takeover(dsn: str, kills: int) -> dict[str, Any]:
    """Seconds from kill -9 of the leading daemon until the other leads, and until its program runs."""
    leads: list[float] = []
    runs: list[float] = []
    with psycopg.connect(dsn, autocommit=True) as sql:
        sql.execute("TRUNCATE dbo.seen;" + ACTIVATE.format(name="daemon", readers=1, program="program"))
        dialog = _dialog(sql, "daemon")
        daemons = [_start_daemon(sql, dsn)]
        for number in range(kills):
            daemons.append(subprocess.Popen([*_BROKER, dsn], stderr=subprocess.DEVNULL))
            _wait(sql, "SELECT 1 FROM ssb.broker_daemons HAVING count(*) = 2 AND count(leads_since) = 1")
            # Not always at the same point of the other's rounds.
            time.sleep(random.uniform(0.5, 1.5))
            victim = daemons.pop(0)
            killed = time.time()
            victim.kill()
            sql.execute("SELECT ssb.send(%s, 'DEFAULT', %s::text)", [dialog, str(number)])
            victim.wait()
            ran = _wait(sql, f"SELECT extract(epoch FROM at)::float8 FROM dbo.seen WHERE body = '{number}'")
            led = _wait(sql, "SELECT extract(epoch FROM leads_since)::float8 FROM ssb.broker_daemons")
            runs.append(ran - killed)
            leads.append(led - killed)
        daemons[0].send_signal(signal.SIGTERM)
        daemons[0].wait()
    return {"kills": kills, "leads_after_s": spread(leads), "program_runs_after_s": spread(runs)}


def _wait(sql: psycopg.Connection[Any], query: str) -> Any:
    """The first value that the query returns, once it returns one."""
    while not (row := sql.execute(query.encode()).fetchone()) or row[0] is None:
        time.sleep(0.005)
    return row[0]


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process has used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _show(result: dict[str, Any]) -> None:
    print(json.dumps({**result, "load": round(os.getloadavg()[0], 1)}), flush=True)


def main() -> None:
    """Measure everything and print one JSON object a line."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--postgres", default="18")
    options.add_argument("--rounds", type=int, default=60)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--kills", type=int, default=20)
    options.add_argument("--messages", type=int, default=10_000, help="of the scale-up, 20 a group")
    options.add_argument("--quick", action="store_true", help="one repeat of everything, 4,000 messages")
    options.add_argument("--only", choices=["latency", "takeover", "idle", "scale"])
    options.add_argument("--peer", metavar="DSN", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.quick:
        chosen.rounds, chosen.repeats, chosen.kills, chosen.messages = 20, 1, 2, 4_000
    if chosen.peer:
        listen_loop(chosen.peer)
    with ended_by_term():
        _measure(chosen)


def _measure(chosen: argparse.Namespace) -> None:
    home = Path(tempfile.mkdtemp(prefix="pgsb-bench-"))
    home.chmod(0o711)
    server = PrivateServer(home, wanted=chosen.postgres)
    try:
        dsn = server.start()
        with psycopg.connect(dsn, autocommit=True) as sql:
            install(sql)
            sql.execute(SERVICES)
            for name in ("daemon", "loop"):
                sql.execute(SERVICE.format(name=name))
                for program, top in TOPS.items():
                    sql.execute(PROGRAM.format(name=name, program=program, top=top))
        wanted = [chosen.only] if chosen.only else ["latency", "takeover", "idle", "scale"]
        if "latency" in wanted:
            _show(measure_latency(dsn, chosen.rounds, chosen.repeats))
        if "takeover" in wanted:
            _show(measure_takeover(dsn, chosen.kills))
        if "idle" in wanted:
            _show(measure_idle(dsn, seconds=5.0 if chosen.quick else 20.0))
        for _ in range(max(1, chosen.repeats // 2) if "scale" in wanted else 0):
            for program in TOPS:
                for readers in (1, 4, 16):
                    _show(measure_scale(dsn, readers, program, chosen.messages, chosen.messages // 20))
    finally:
        server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()

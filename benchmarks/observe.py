"""What the measures, checks and the dashboard cost on 1,000 queues and 1,000,000 conversations.

Run: python benchmarks/observe.py [--queues N] [--conversations N]
Server time of the first overview page, of later ones, and the server's share of a core while a page is open,
and while none is.
"""

import argparse
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import psycopg

from pgsb.observe.dashboard.options import Options
from pgsb.observe.dashboard.serve import DashboardThread
from pgsb.runtime_sql import installer
from pgsb.server.connect import Target
from pgsb.server.embedded import PrivateServer

from .queues.server import ended_by_term

_CONVERSATIONS = """
INSERT INTO ssb.conversation_endpoint (
    endpoint_id, conversation_handle, lock_id, sent_count, queue_id, contract_id, near_order, near_state,
    priority, is_initiator, conversation_group_id, conversation_id, is_encrypted, is_system, database_id,
    service_id, service_name, contract_name, far_service, far_endpoint_id, far_queue_id, started_at)
SELECT n.id, gen_random_uuid(), n.id, 1, s.queue_id, 6, q.order_sequence, q.state_sequence, 5, n.id %% 2 = 0,
       gen_random_uuid(), gen_random_uuid(), false, false, 5, s.service_id, s.name, 'DEFAULT', s.name,
       CASE n.id %% 2 WHEN 0 THEN n.id + 1 ELSE n.id - 1 END, s.queue_id, now() - n.id * interval '1 second'
  FROM (SELECT nextval('ssb.endpoint_id') AS id FROM generate_series(1, %s)) AS n
  JOIN (SELECT v.*, row_number() OVER () AS place FROM ssb.service AS v) AS s ON s.place = n.id / 2 %% %s + 1
  JOIN ssb.queue AS q ON q.queue_id = s.queue_id
"""
_MESSAGES = """
INSERT INTO ssb.message_0 (endpoint_id, queuing_order, message_sequence_number, enqueued_at, queue_id,
                           message_type_id, priority, validation, body)
SELECT e.endpoint_id, nextval(e.near_order), 0, now(), e.queue_id, 14, 5, 'N', '\\x00'
  FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id %% 5 = 1
"""


def fill(connection: psycopg.Connection[Any], queues: int, conversations: int) -> None:
    """Queues with a service each, conversations over all of them, a message for every fifth side."""
    connection.execute(
        "SELECT ssb.ensure_schema('dbo'); CREATE PROCEDURE dbo.program() LANGUAGE sql AS 'SELECT 1'"
    )
    connection.execute(
        "SELECT ssb.create_queue('dbo.q' || n), ssb.create_service('//s' || n, 'dbo.q' || n, '{DEFAULT}')"
        " FROM generate_series(1, %s) AS n",
        [queues],
    )
    connection.execute(_CONVERSATIONS, [conversations, queues])
    connection.execute(_MESSAGES.replace("%%", "%").encode())
    # A tenth of the queues has a program: of those queue_measures looks for groups that want readers.
    connection.execute(
        "SELECT ssb.alter_queue('dbo.q' || n, activation_status => true, max_queue_readers => 4,"
        " activation_procedure => 'dbo.program', execute_as => 'OWNER') FROM generate_series(1, %s, 10) AS n",
        [queues],
    )
    connection.execute("VACUUM ANALYZE")


def processor_seconds(pids: set[int]) -> float:
    """Processor time of these processes."""
    total = 0
    for pid in pids:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(stat[11]) + int(stat[12])
    return total / 100


def server_seconds(connection: psycopg.Connection[Any]) -> float:
    """Processor time of the whole server but for this session: of processes that have ended, too."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    own = Path(f"/proc/{row[0]}/stat").read_text().rpartition(")")[2].split()
    postmaster = int(own[1])
    stat = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    ended = sum(map(int, stat[11:15])) / 100
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return ended + processor_seconds({int(pid) for pid in children} - {int(row[0])})


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queues", type=int, default=1000)
    parser.add_argument("--conversations", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    with ended_by_term(), tempfile.TemporaryDirectory(prefix="pgsb-observe-", dir="/dev/shm") as home:
        Path(home).chmod(0o711)
        server = PrivateServer(Path(home), settings={"shared_buffers": "256MB"}, durable=False)
        try:
            measure(server.start(), options)
        finally:
            server.stop(immediate=True)


def measure(dsn: str, options: argparse.Namespace) -> None:
    """Fill the database, ask each measure, keep a page open."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        installer.install(connection)
        began = time.monotonic()
        fill(connection, options.queues, options.conversations)
        print(f"filled in {time.monotonic() - began:.0f} s")
        for name, query in [
            ("queue_measures", "SELECT count(*) FROM ssb_internal.queue_measures(NULL, 1000)"),
            ("sample_queues", "SELECT ssb_internal.sample_queues()"),
            ("diagnose", "SELECT count(*) FROM ssb.diagnose()"),
            ("traffic", "SELECT count(*) FROM ssb_internal.traffic()"),
            ("find_conversations", "SELECT count(*) FROM ssb_internal.find_conversations(p_state => 'CO')"),
        ]:
            times = []
            own = {connection.info.backend_pid}
            used = processor_seconds(own)
            for _ in range(5):
                began = time.monotonic()
                connection.execute(query.encode())
                times.append(1000 * (time.monotonic() - began))
            used = 200 * (processor_seconds(own) - used)
            low, middle, high = min(times), sorted(times)[2], max(times)
            print(f"{name:20} {low:7.0f} {middle:7.0f} {high:7.0f} ms (min, median, max of 5),", end=" ")
            print(f"processor {used:.0f} ms")
        # What the filling has left to be cleaned up is not the dashboard's.
        connection.execute("CHECKPOINT")
        time.sleep(5)
        before, began = server_seconds(connection), time.monotonic()
        time.sleep(options.seconds)
        idle = (server_seconds(connection) - before) / (time.monotonic() - began)
        with DashboardThread(Options({"shop": Target(dsn, False, "")}, timeout=30)) as running:
            used, began = server_seconds(connection), time.monotonic()
            page(running.url)
            took = 1000 * (time.monotonic() - began)
            first = 1000 * (server_seconds(connection) - used)
            time.sleep(10)
            used = 1000 * (server_seconds(connection) - used)
            print(f"first page           {took:7.0f} ms, processor of the server", end=" ")
            print(f"{first:.0f} ms, {used:.0f} with checks")
            before, began, pages = server_seconds(connection), time.monotonic(), 0
            while time.monotonic() - began < options.seconds:
                refresh = page(running.url)
                pages += 1
                time.sleep(refresh / 1000)
            took = time.monotonic() - began
            share = (server_seconds(connection) - before) / took
            print(
                f"while open           {100 * share:7.2f} % of a core, {pages} pages in {took:.0f} s;",
                end=" ",
            )
            print(f"without a page {100 * idle:.2f} %")


def page(url: str) -> float:
    """Get the overview as a browser does; milliseconds until it asks again."""
    with urllib.request.urlopen(f"{url}/i/shop/", timeout=60) as answer:
        text = answer.read().decode()
    return float(text.split('data-refresh="')[1].split('"')[0])


if __name__ == "__main__":
    main()

"""Readers, daemons and servers die at random moments: every message is processed once, nothing is stuck.

The side effect of the program is a row in a table. 30 rounds in all.
"""

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from crashing import Crashing

from activation import until
from pgsb.server.embedded import PrivateServer
from support import server_home

ROUNDS = 30
CONVERSATIONS = 6


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    home = server_home("pgsb-crash-")
    server = PrivateServer(
        home,
        wanted=os.environ.get("PGSB_TEST_POSTGRES", "18").split(",")[0],
        # The same port after a restart; no TCP, so that no other server is in its way.
        settings={"port": "5432", "listen_addresses": "", "shared_buffers": "32MB", "fsync": "off"},
    )
    try:
        server.start()
        yield server
    finally:
        server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def crashing(server: PrivateServer, request: pytest.FixtureRequest) -> Iterator[Crashing]:
    crashing = Crashing(server, f"crash_{len(request.node.name)}")
    try:
        yield crashing
        crashing.stop_daemons()
    finally:
        crashing.close()


PROGRAM = """
CREATE PROCEDURE dbo.program() LANGUAGE plpgsql AS $$
DECLARE m ssb.message; n integer;
BEGIN
    LOOP
        n := 0;
        FOR m IN SELECT * FROM ssb.receive('dbo.to_queue', 1) LOOP
            n := n + 1;
            INSERT INTO dbo.done (conversation, number)
            VALUES (m.conversation_handle, convert_from(m.message_body, 'UTF8')::integer);
            PERFORM pg_sleep(0.002);
        END LOOP;
        COMMIT;
        EXIT WHEN n = 0;
    END LOOP;
END;
$$;
"""


@pytest.mark.long
def test_every_message_is_processed_exactly_once(crashing: Crashing) -> None:
    random.seed(20261120)
    sql = crashing.connect()
    sql.execute(
        """
        SELECT ssb.create_queue('dbo.from_queue'), ssb.create_queue('dbo.to_queue', max_rollbacks => 250);
        SELECT ssb.create_service('//From', 'dbo.from_queue');
        SELECT ssb.create_service('//To', 'dbo.to_queue', '{DEFAULT}');
        CREATE TABLE dbo.done (place bigint GENERATED ALWAYS AS IDENTITY, conversation uuid, number integer);
        """
        + PROGRAM
        + "SELECT ssb.alter_queue('dbo.to_queue', activation_status => true,"
        " activation_procedure => 'dbo.program', max_queue_readers => 3, poison_message_handling => false)"
    )
    handles = [
        row[0]
        for row in sql.execute(
            "SELECT ssb.begin_dialog('//From', '//To') FROM generate_series(1, %s)", [CONVERSATIONS]
        )
    ]
    crashing.start_daemon()
    crashing.start_daemon()
    faults: list[Callable[[], None]] = [
        crashing.kill_readers,
        crashing.replace_daemon,
        crashing.kill_readers,
        crashing.crash_server,
    ]
    sent = 0
    for number in range(ROUNDS):
        sql = crashing.connect()
        with sql.transaction():
            for handle in handles:
                for _ in range(3):
                    sent += 1
                    sql.execute("SELECT ssb.send(%s, 'DEFAULT', %s::text)", [handle, str(sent)])
        time.sleep(random.uniform(0, 0.1))  # the moment of the fault
        faults[number % 4]()
    sql = crashing.connect()
    until(lambda: sql.execute("SELECT count(*) FROM dbo.done").fetchone() == (sent,), 120)
    assert sql.execute("SELECT count(DISTINCT number) FROM dbo.done").fetchone() == (sent,)
    # In each conversation in the order of sending.
    assert sql.execute(
        "SELECT count(*) FROM (SELECT number < lag(number) OVER (PARTITION BY conversation ORDER BY place)"
        " AS is_late FROM dbo.done) AS d WHERE is_late"
    ).fetchone() == (0,)
    # No queue is stuck, and no reader is left but those that idle daemons keep.
    assert sql.execute("SELECT count(*) FROM dbo.to_queue").fetchone() == (0,)
    until(lambda: sql.execute("SELECT count(*) FROM ssb_internal.running_tasks()").fetchone() == (0,))
    until(
        lambda: (
            sql.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgsb reader'"
                " AND state <> 'idle'"
            ).fetchone()
            == (0,)
        )
    )


@pytest.mark.long
def test_a_daemon_takes_over_from_one_that_was_killed(crashing: Crashing) -> None:
    sql = crashing.connect()
    crashing.start_daemon()
    leader = until(lambda: _leader(sql))
    crashing.start_daemon()
    until(lambda: sql.execute("SELECT 1 FROM ssb.broker_daemons WHERE NOT is_leading").fetchone())
    crashing.kill_daemon()
    # Two seconds on a machine that is not busy: the one that stands by asks every half second.
    until(lambda: _leader(sql) not in (None, leader), 60)


def _leader(sql: psycopg.Connection[Any]) -> str | None:
    row = sql.execute("SELECT host FROM ssb.broker_daemons WHERE is_leading").fetchone()
    return row[0] if row else None


@pytest.mark.long
def test_a_killed_backend_of_a_reader_is_survived(crashing: Crashing) -> None:
    """kill -9 of a server process: PostgreSQL ends all sessions and recovers, the daemon comes back."""
    sql = crashing.connect()
    sql.execute(
        """
        SELECT ssb.create_queue('dbo.from_queue'), ssb.create_queue('dbo.to_queue');
        SELECT ssb.create_service('//From', 'dbo.from_queue');
        SELECT ssb.create_service('//To', 'dbo.to_queue', '{DEFAULT}');
        CREATE TABLE dbo.done (body text);
        CREATE PROCEDURE dbo.program() LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO dbo.done SELECT convert_from(message_body, 'UTF8') FROM ssb.receive('dbo.to_queue');
            PERFORM pg_sleep(1);
        END;
        $$;
        SELECT ssb.alter_queue('dbo.to_queue', activation_status => true,
            activation_procedure => 'dbo.program', max_queue_readers => 1);
        """
    )
    crashing.start_daemon()
    sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//To'), 'DEFAULT', 'a'::text)")
    row = until(
        lambda: sql.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'pgsb reader'"
            " AND backend_xid IS NOT NULL AND wait_event = 'PgSleep'"
        ).fetchone()
    )
    os.kill(row[0], signal.SIGKILL)
    until(lambda: crashing.ask("SELECT array_agg(body) FROM dbo.done") == (["a"],))
    assert crashing.ask("SELECT count(*) FROM dbo.to_queue") == (0,)

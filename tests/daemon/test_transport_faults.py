"""Two servers, a daemon for each: 5,000 messages each way on 50 dialogs, while daemons, servers or lines die.

Nothing is lost, doubled or out of order, and every dialog ends on both sides.
"""

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from broken_line import BrokenLine
from crashing import Crashing

from activation import until
from pgsb.server.embedded import PrivateServer
from support import server_home

ROUNDS = 20
DIALOGS = 50
IN_A_ROUND = 5

_COMMON = """
SELECT ssb.create_endpoint('BrokerEndpoint', 'STARTED', 4022);
SELECT ssb.create_message_type('//Ask');
SELECT ssb.create_message_type('//Answer');
SELECT ssb.create_contract('//Talk', '{//Ask,//Answer}', '{INITIATOR,TARGET}');
SELECT ssb.create_queue('dbo.q', max_rollbacks => 250, poison_message_handling => false);
"""
_ECHO = """
CREATE TABLE dbo.done (place bigint GENERATED ALWAYS AS IDENTITY, conversation uuid, number integer);
CREATE PROCEDURE dbo.program() LANGUAGE plpgsql AS $$
DECLARE m ssb.message; n integer;
BEGIN
    LOOP
        n := 0;
        FOR m IN SELECT * FROM ssb.receive('dbo.q', 10) LOOP
            n := n + 1;
            IF m.message_type_name = '//Ask' THEN
                INSERT INTO dbo.done (conversation, number)
                VALUES (m.conversation_handle, convert_from(m.message_body, 'UTF8')::integer);
                PERFORM ssb.send(m.conversation_handle, '//Answer', m.message_body);
            ELSE
                PERFORM ssb.end_conversation(m.conversation_handle);
            END IF;
        END LOOP;
        COMMIT;
        EXIT WHEN n = 0;
    END LOOP;
END;
$$;
SELECT ssb.alter_queue('dbo.q', activation_status => true, activation_procedure => 'dbo.program',
                       max_queue_readers => 3);
"""


class Instance(Crashing):
    """A crashing server whose daemon knows where the other one is."""

    def __init__(self, server: PrivateServer, database: str) -> None:
        super().__init__(server, database)
        self.address = ""

    def start_daemon(self) -> None:
        command = [sys.executable, "-m", "pgsb.cli.main", "broker", "--dsn", self.dsn, "--grace", "1"]
        self.daemons.append(subprocess.Popen([*command, "--address", self.address]))


@pytest.fixture
def instances() -> Iterator[tuple[Instance, Instance]]:
    homes = [server_home("pgsb-two-") for _ in range(2)]
    servers = []
    made: list[Instance] = []
    try:
        for number, home in enumerate(homes):
            server = PrivateServer(
                home,
                wanted=os.environ.get("PGSB_TEST_POSTGRES", "18").split(",")[0],
                settings={"port": "5432", "listen_addresses": "", "shared_buffers": "32MB", "fsync": "off"},
            )
            servers.append(server)
            server.start()
            made.append(Instance(server, f"instance_{number}"))
        near, far = made
        near.address = f"TCP://far.example:4022={far.dsn}"
        far.address = f"TCP://near.example:4022={near.dsn}"
        yield near, far
        for one in made:
            one.stop_daemons()
    finally:
        for one in made:
            one.close()
        for server in servers:
            server.stop(immediate=True)
        for home in homes:
            shutil.rmtree(home, ignore_errors=True)


@pytest.mark.long
@pytest.mark.one_postgres
def test_5000_messages_each_way_survive_every_crash(instances: tuple[Instance, Instance]) -> None:
    near, far = instances
    _talk(near, far, [near.replace_daemon, far.replace_daemon, near.crash_server, far.crash_server])


@pytest.mark.long
@pytest.mark.one_postgres
def test_5000_messages_each_way_survive_a_line_that_breaks(instances: tuple[Instance, Instance]) -> None:
    near, far = instances
    homes = [server_home("pgsb-line-") for _ in instances]
    lines = []
    try:
        for of, to, name, home in ((near, far, "far", homes[0]), (far, near, "near", homes[1])):
            lines.append(BrokenLine(to.dsn, home))
            of.address = f"TCP://{name}.example:4022={lines[-1].dsn}"
        _talk(
            near,
            far,
            [
                break_it
                for line in lines
                for break_it in (line.lose_an_answer, line.cut_within_a_message, line.cut)
            ],
        )
        assert all(line.breaks >= 4 for line in lines)
    finally:
        for line in lines:
            line.close()
        for home in homes:
            shutil.rmtree(home, ignore_errors=True)


def _talk(near: Instance, far: Instance, faults: Sequence[Callable[[], None]]) -> None:
    """Ask and answer on dialogs that begin at ``near``, a fault in each round; nothing may be missing."""
    random.seed(20261123)
    sql = near.connect()
    sql.execute(_COMMON + "SELECT ssb.create_service('//Near', 'dbo.q', '{//Talk}')")
    sql.execute("SELECT ssb.create_route('ToFar', 'TCP://far.example:4022', '//Far')")
    there = far.connect()
    there.execute(_COMMON + "SELECT ssb.create_service('//Far', 'dbo.q', '{//Talk}')" + ";" + _ECHO)
    there.execute("SELECT ssb.create_route('ToNear', 'TCP://near.example:4022', '//Near')")
    handles = [
        row[0]
        for row in sql.execute(
            "SELECT ssb.begin_dialog('//Near', '//Far', '//Talk', encryption => false)"
            " FROM generate_series(1, %s)",
            [DIALOGS],
        )
    ]
    near.start_daemon()
    far.start_daemon()
    for number in range(ROUNDS):
        sql = near.connect()
        sql.execute(
            "SELECT ssb.send(h, '//Ask', n::text) FROM unnest(%s::uuid[]) AS h,"
            " generate_series(%s::integer, %s::integer) AS n",
            [handles, number * IN_A_ROUND, number * IN_A_ROUND + IN_A_ROUND - 1],
        )
        time.sleep(random.uniform(0, 0.5))  # the moment of the fault
        faults[number % len(faults)]()
    sql = near.connect()
    heard: dict[Any, list[int]] = {handle: [] for handle in handles}
    total = ROUNDS * IN_A_ROUND

    def all_heard() -> bool:
        got = sql.execute(
            "SELECT conversation_handle, message_type_name, convert_from(message_body, 'UTF8')"
            " FROM ssb.receive('dbo.q')"
        ).fetchall()
        for handle, kind, body in got:
            assert kind == "//Answer", body
            heard[handle].append(int(body))
        return sum(len(numbers) for numbers in heard.values()) >= total * DIALOGS

    until(all_heard, 200)
    assert all(numbers == list(range(total)) for numbers in heard.values())
    there = far.connect()
    assert there.execute(
        "SELECT count(*), count(DISTINCT (conversation, number)), count(DISTINCT conversation) FROM dbo.done"
    ).fetchone() == (total * DIALOGS, total * DIALOGS, DIALOGS)
    assert there.execute(
        "SELECT count(*) FROM (SELECT number <> 1 + lag(number) OVER (PARTITION BY conversation"
        " ORDER BY place) AS is_wrong FROM dbo.done) AS d WHERE is_wrong"
    ).fetchone() == (0,)
    for handle in handles:
        sql.execute("SELECT ssb.end_conversation(%s)", [handle])
    until(lambda: sql.execute("SELECT count(*) FROM sys.transmission_queue").fetchone() == (0,))
    until(lambda: sql.execute("SELECT count(*) FROM sys.conversation_endpoints").fetchone() == (0,))
    states = "SELECT DISTINCT state_desc, count(*) FROM sys.conversation_endpoints GROUP BY 1"
    until(lambda: there.execute(states).fetchall() == [("CLOSED", DIALOGS)])
    assert there.execute("SELECT count(*) FROM sys.transmission_queue").fetchone() == (0,)

"""The workload of the paper "Service Broker: Performance and Scalability Techniques".

50 clients send single messages on dialogs that they reuse; readers take up to
10,000 messages at a time into a table variable and write each body to a table.
Beside it the same on a bare table with hand-written SQL. What counts is how
many bodies are in the table at the end.
"""

import threading
import time
from dataclasses import dataclass

from ..tsql import run_script
from .peer import BODY, Peer
from .peers.bare import BareTable
from .peers.ours import Ours
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import BenchServer, Connection, pgbench

CLIENTS, READERS = 50, 2
TARGET = (Target(("bare table",), 0.6),)
# How a reader's sessions call themselves, so that they can be watched apart from the senders'.
READER = "reader"

_READER = """
CREATE TABLE dbo.Arrived (Id BIGINT NOT NULL, Body NVARCHAR(MAX) NOT NULL);
GO
CREATE PROCEDURE dbo.TakeAll AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @messages TABLE (Id BIGINT, Type NVARCHAR(256), Body VARBINARY(MAX));
    BEGIN TRANSACTION;
    RECEIVE TOP (10000) queuing_order, message_type_name, message_body FROM dbo.target INTO @messages;
    INSERT INTO dbo.Arrived (Id, Body)
    SELECT Id, CAST(Body AS NVARCHAR(MAX)) FROM @messages WHERE Type = N'm';
    COMMIT TRANSACTION;
END;
"""

_BARE_READER = """WITH gone AS (DELETE FROM bare WHERE id = ANY (ARRAY(
    SELECT id FROM bare ORDER BY id LIMIT 10000 FOR UPDATE SKIP LOCKED)) RETURNING id, body)
INSERT INTO arrived (id, body) SELECT id, convert_from(body, 'UTF8') FROM gone;
"""


@dataclass
class Side:
    """A queue under this workload: pgbench scripts of one sender and of one reader.

    ``arrived`` is the table to which the readers write bodies.
    """

    peer: Peer
    server: BenchServer
    connection: Connection
    send: str
    read: str
    arrived: str

    def clear(self) -> None:
        """Empty the queue and the table, on a server that has nothing to write."""
        self.peer.clear(self.connection)
        self.connection.execute(f"TRUNCATE {self.arrived}".encode())
        self.connection.execute("VACUUM ANALYZE")

    def count(self) -> int:
        """How many bodies have arrived."""
        row = self.connection.execute(f"SELECT count(*) FROM {self.arrived}".encode()).fetchone()
        assert row is not None
        return int(row[0])


def ours(server: BenchServer) -> Side:
    """Our queue, read by a compiled procedure."""
    peer = Ours()
    own = server.database("bench_paper")
    connection = own.connect()
    peer.install(own, connection)
    run_script(connection, _READER)
    scripts = peer.enqueue(1)
    assert scripts is not None
    return Side(peer, own, connection, scripts[0], "CALL dbo.takeall();\n", "dbo.arrived")


def bare(server: BenchServer) -> Side:
    """The bare table, with hand-written SQL."""
    peer = BareTable()
    own = server.database("bench_paper_bare")
    connection = own.connect()
    peer.install(own, connection)
    connection.execute("CREATE TABLE arrived (id bigint NOT NULL, body text NOT NULL)")
    send = f"\\set g random(1, {CLIENTS})\nINSERT INTO bare (grp, body) VALUES (:g, '{BODY}');\n"
    return Side(peer, own, connection, send, _BARE_READER, "arrived")


def round_trip(side: Side, seconds: float, synchronous_commit: bool) -> float:
    """Bodies that arrive in a second while senders send and readers read. None may be lost or come twice."""
    side.connection.execute(f"TRUNCATE {side.arrived}".encode())
    before = side.peer.left(side.connection)
    # A reader between two messages does not burn a core: it pauses for 5 ms.
    readers = threading.Thread(
        target=pgbench,
        args=(side.server, [side.read + "\\sleep 5 ms\n"]),
        kwargs={
            "clients": READERS,
            "seconds": seconds,
            "synchronous_commit": synchronous_commit,
            "application": READER,
        },
    )
    readers.start()
    started = time.perf_counter()
    sent = pgbench(
        side.server, [side.send], clients=CLIENTS, seconds=seconds, synchronous_commit=synchronous_commit
    )
    readers.join()
    took = time.perf_counter() - started
    arrived, left = side.count(), side.peer.left(side.connection)
    if before + sent.transactions != arrived + left:
        raise AssertionError(
            f"{side.peer.name}: {before} + {sent.transactions} were sent, {arrived} arrived, {left} wait"
        )
    return arrived / took


def paper(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Messages per second through both queues, end to end."""
    scenario = Scenario(
        "The paper's workload, 50 senders, 2 readers TOP(10000)", "special", 1, CLIENTS, targets=TARGET
    )
    outcome = Outcome(scenario)
    sides = [ours(server), bare(server)]
    for _ in range(3 if quick else 7):
        for side in sides:
            rate = round_trip(side, 6 if quick else 20, synchronous_commit)
            outcome.rates.setdefault(side.peer.name, []).append(rate)
    for side in sides:
        side.clear()
        side.connection.close()
    say(scenario.name)
    return [outcome]

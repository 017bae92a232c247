"""The workload of the paper "Service Broker: Performance and Scalability Techniques".

50 clients send single messages on dialogs that they reuse; readers take up to
10,000 messages at a time into a table variable and write each body to a table.
Beside it the same on a bare table with hand-written SQL. What counts is how
many bodies are in the table at the end.
"""

import threading
import time

from ..tsql import run_script
from .peer import BODY
from .peers.bare import BareTable
from .peers.ours import Ours
from .report import OURS
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import BenchServer, Connection, pgbench

_CLIENTS, _READERS = 50, 2

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


def paper(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Messages per second through both queues, end to end."""
    scenario = Scenario(
        "The paper's workload, 50 senders, 2 readers TOP(10000)",
        "special",
        1,
        _CLIENTS,
        targets=(Target(("bare table",), 0.6),),
    )
    outcome = Outcome(scenario)
    own, bare = server.database("bench_paper"), server.database("bench_paper_bare")
    ours = Ours()
    with own.connect() as connection, bare.connect() as other:
        ours.install(own, connection)
        run_script(connection, _READER)
        BareTable().install(bare, other)
        other.execute("CREATE TABLE arrived (id bigint NOT NULL, body text NOT NULL)")
        seconds = 6 if quick else 20
        # A reader between two messages does not burn a core: it pauses for 5 ms.
        pause = "\\sleep 5 ms\n"
        bare_send = [f"\\set g random(1, {_CLIENTS})\nINSERT INTO bare (grp, body) VALUES (:g, '{BODY}');\n"]
        for _ in range(3 if quick else 7):
            for name, place, watcher, send, read, table in (
                (OURS, own, connection, ours.enqueue(1), "CALL dbo.takeall();\n", "dbo.arrived"),
                ("bare table", bare, other, bare_send, _BARE_READER, "arrived"),
            ):
                watcher.execute(f"TRUNCATE {table}")
                readers = threading.Thread(
                    target=pgbench,
                    args=(place, [read + pause]),
                    kwargs={
                        "clients": _READERS,
                        "seconds": seconds,
                        "synchronous_commit": synchronous_commit,
                    },
                )
                readers.start()
                started = time.perf_counter()
                pgbench(
                    place,
                    send or [],
                    clients=_CLIENTS,
                    seconds=seconds,
                    synchronous_commit=synchronous_commit,
                )
                readers.join()
                took = time.perf_counter() - started
                outcome.rates.setdefault(name, []).append(_count(watcher, table) / took)
        ours.clear(connection)
    say(scenario.name)
    return [outcome]


def _count(connection: Connection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
    assert row is not None
    return int(row[0])

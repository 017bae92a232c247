"""Whole conversations, and many connections."""

from .peers.ours import Ours
from .report import OURS
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import BenchServer, pgbench

# The initiator's side, the target's, and the initiator's again: one transaction each.
_DIALOG = """SELECT ssb.begin_dialog('source', 'target', 'c') AS h \\gset
BEGIN;
SELECT ssb.send(:h, 'm', '{body}'::bytea);
COMMIT;
BEGIN;
SELECT conversation_handle AS r FROM ssb.receive('dbo.target', 1) \\gset
SELECT ssb.end_conversation(:r);
COMMIT;
BEGIN;
SELECT conversation_handle AS r FROM ssb.receive('dbo.source', 1) \\gset
SELECT ssb.end_conversation(:r);
COMMIT;
"""


def dialogs(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """BEGIN DIALOG, SEND, RECEIVE, END on both sides: complete dialogs per second of one client."""
    own = server.database("bench_dialogs")
    connection = own.connect()
    Ours().install(own, connection)
    scenario = Scenario("New dialog per message, 1 client", "special", 1, 1, unit="dialogs/s")
    outcome = Outcome(scenario)
    for _ in range(3 if quick else 7):
        connection.execute("VACUUM ANALYZE")
        done = pgbench(
            own,
            [_DIALOG.format(body="x" * 200)],
            clients=1,
            seconds=2 if quick else 10,
            synchronous_commit=synchronous_commit,
            warm_up=1,
        )
        outcome.rates.setdefault(OURS, []).append(done.rate)
    connection.close()
    say(scenario.name)
    return [outcome]


def connections(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """100 connections that send to one queue, beside 8."""
    own = server.database("bench_connections")
    connection = own.connect()
    ours = Ours()
    ours.install(own, connection)
    scripts = ours.enqueue(1)
    assert scripts is not None
    scenario = Scenario(
        "SEND, 1 a transaction, 100 connections",
        "special",
        1,
        100,
        targets=(Target(("8 connections",), 0.8),),
    )
    outcome = Outcome(scenario)
    for _ in range(3 if quick else 7):
        for name, clients in ((OURS, 100), ("8 connections", 8)):
            ours.clear(connection)
            done = pgbench(
                own,
                scripts,
                clients=clients,
                seconds=3 if quick else 10,
                synchronous_commit=synchronous_commit,
                warm_up=2,
            )
            outcome.rates.setdefault(name, []).append(done.rate)
    connection.close()
    say(scenario.name)
    return [outcome]

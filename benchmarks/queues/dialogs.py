"""Whole conversations, and many connections."""

from collections.abc import Sequence
from dataclasses import dataclass

from .peers.ours import Ours
from .profile import Watch
from .report import OURS
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import BenchServer, Connection, pgbench

# The initiator's side, the target's, and the initiator's again: one transaction each. (For \\gset there must
# be exactly one row.)
DIALOG = """SELECT ssb.begin_dialog('source', 'target', 'c') AS h \\gset
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
# Of ours: targets' sides that are closed, sides of dialogs that are not, messages.
_ENDED = """
SELECT (SELECT count(*) FROM ssb.conversation_endpoint AS e WHERE e.closed_at IS NOT NULL),
       (SELECT count(*) FROM ssb.conversation_endpoint AS e WHERE e.closed_at IS NULL),
       (SELECT count(*) FROM ssb.message_stored)
"""


@dataclass
class Place:
    """Where dialogs begin and end: ``script`` is one dialog.

    ``ended`` tells how many have ended, how many sides are open, how many messages wait.
    """

    name: str
    server: BenchServer
    connection: Connection
    script: str
    ended: str = _ENDED

    def count(self) -> tuple[int, int, int]:
        """What ``ended`` tells."""
        row = self.connection.execute(self.ended.encode()).fetchone()
        assert row is not None
        return row[0], row[1], row[2]


def ours(server: BenchServer, body: str) -> Place:
    """Our dialogs."""
    own = server.database("bench_dialogs")
    connection = own.connect()
    Ours().install(own, connection)
    return Place(OURS, own, connection, DIALOG.format(body=body))


def measure_dialogs(
    places: Sequence[Place], name: str, quick: bool, synchronous_commit: bool, say: Say
) -> list[Outcome]:
    """Complete dialogs per second of one client; and of a core that did nothing but what the server does."""
    rates = Outcome(Scenario(f"{name}, 1 client", "special", 1, 1, unit="dialogs/s"))
    cores = Outcome(
        Scenario(
            f"{name}, the server's processor time alone (target: 3,000)",
            "special",
            1,
            1,
            unit="dialogs/s and core",
        )
    )
    for _ in range(3 if quick else 7):
        for place in places:
            place.connection.execute("VACUUM ANALYZE")
            before = place.count()
            with Watch(place.server, skip=1) as watch:
                done = pgbench(
                    place.server,
                    [place.script],
                    clients=1,
                    seconds=2 if quick else 10,
                    synchronous_commit=synchronous_commit,
                    warm_up=1,
                )
            expected = before[0] + done.transactions, *before[1:]
            if place.count() != expected:
                raise AssertionError(f"{place.name}: ended, open, messages: {place.count()}, not {expected}")
            rates.rates.setdefault(place.name, []).append(done.rate)
            seen = watch.profile(done.rate)
            if seen is not None:
                rates.profiles.setdefault(place.name, []).append(seen)
                if seen.processor:
                    cores.rates.setdefault(place.name, []).append(1e6 / seen.processor)
    say(name)
    return [rates, cores]


def dialogs(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """BEGIN DIALOG, SEND, RECEIVE, END on both sides."""
    place = ours(server, "x" * 200)
    outcomes = measure_dialogs([place], "New dialog per message", quick, synchronous_commit, say)
    place.connection.close()
    return outcomes


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

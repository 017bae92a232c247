"""The rounds: every queue does the same work in turn, again and again."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .peer import Peer, Unavailable
from .scenarios import Scenario
from .server import BenchServer, Connection, pgbench

Say = Callable[[str], None]


@dataclass
class Contender:
    """A queue with its database."""

    peer: Peer
    server: BenchServer
    connection: Connection


@dataclass
class Outcome:
    """Messages per second of each queue, one number a round."""

    scenario: Scenario
    rates: dict[str, list[float]] = field(default_factory=dict)


def contenders(server: BenchServer, peers: Sequence[type[Peer]], say: Say) -> list[Contender]:
    """Install what can be had; say what cannot, and why."""
    ready: list[Contender] = []
    for kind in peers:
        peer = kind()
        own = server.database("bench_" + "".join(c if c.isalnum() else "_" for c in peer.name.lower()))
        connection = own.connect()
        try:
            peer.install(own, connection)
        except Unavailable as reason:
            connection.close()
            say(f"left out: {reason}")
            continue
        ready.append(Contender(peer, own, connection))
    return ready


def run(
    scenario: Scenario,
    ready: Sequence[Contender],
    *,
    rounds: int,
    seconds: float,
    synchronous_commit: bool,
    say: Say,
) -> Outcome:
    """Measure one scenario: ``rounds`` times A B C …, so that a slow minute hits all alike."""
    outcome = Outcome(scenario)
    for number in range(rounds):
        for contender in ready:
            rate = _measure(scenario, contender, seconds, synchronous_commit)
            if rate is not None:
                outcome.rates.setdefault(contender.peer.name, []).append(rate)
        say(f"{scenario.name}: round {number + 1} of {rounds}")
    return outcome


def _measure(
    scenario: Scenario, contender: Contender, seconds: float, synchronous_commit: bool
) -> float | None:
    peer, connection = contender.peer, contender.connection
    scripts = {
        "enqueue": lambda: peer.enqueue(scenario.batch),
        "dequeue": lambda: peer.dequeue(scenario.batch),
        "grouped": peer.grouped,
    }[scenario.work]()
    if scripts is None:
        return None
    peer.clear(connection)
    if scenario.work == "enqueue":
        done = pgbench(
            contender.server,
            scripts,
            clients=scenario.clients,
            seconds=seconds,
            synchronous_commit=synchronous_commit,
        )
        _check(
            peer, peer.left(connection) if peer.name != "PgQ" else None, done.transactions * scenario.batch
        )
        peer.clear(connection)
        return done.transactions * scenario.batch / done.seconds
    peer.fill(connection, scenario.messages, scenario.groups, scenario.batch)
    connection.execute("VACUUM ANALYZE")
    time.sleep(0.2)
    each = scenario.messages // scenario.batch // scenario.clients // 2
    # Half of what waits is read: near its end a queue shows its idle cost instead.
    done = pgbench(
        contender.server,
        scripts,
        clients=scenario.clients,
        transactions=max(1, each),
        synchronous_commit=synchronous_commit,
    )
    consumed = scenario.messages - peer.left(connection)
    peer.clear(connection)
    if consumed <= 0:
        raise AssertionError(f"{peer.name} consumed nothing of {scenario.messages} messages")
    if consumed > done.transactions * scenario.batch:
        raise AssertionError(f"{peer.name} lost {consumed - done.transactions * scenario.batch} messages")
    return consumed / done.seconds


def _check(peer: Peer, found: int | None, expected: int) -> None:
    if found is not None and found != expected:
        raise AssertionError(f"{peer.name}: {expected} messages were sent, {found} wait")

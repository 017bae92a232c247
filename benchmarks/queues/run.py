"""The rounds: every queue does the same work in turn, again and again."""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from .peer import Peer, Unavailable
from .profile import Profile, Watch
from .scenarios import Scenario
from .server import BenchServer, Connection, pgbench, settle

Say = Callable[[str], None]

# Seconds. Sessions that have just begun make plans; see `pgbench`.
_WARM_UP = 1


@dataclass
class Contender:
    """A queue with its database."""

    peer: Peer
    server: BenchServer
    connection: Connection


@dataclass
class Outcome:
    """Messages per second of each queue, one number a round; profiles where they were asked for."""

    scenario: Scenario
    rates: dict[str, list[float]] = field(default_factory=dict)
    profiles: dict[str, list[Profile]] = field(default_factory=dict)


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
    profile: bool,
    say: Say,
) -> Outcome:
    """Measure one scenario: ``rounds`` times A B C …, so that a slow minute hits all alike.

    Before that each has a short round or two that do not count. They tell how much there must be to
    read in ``seconds``, and touch after the checkpoint what a queue has that is not its messages.
    """
    outcome = Outcome(scenario)
    settle(ready[0].connection)
    speeds = [_measure(scenario, one, 1, synchronous_commit, None) for one in ready]
    if scenario.work != "enqueue":
        # Those few transactions were sessions' first, which says little of the others.
        speeds = [
            None if speed is None else _measure(scenario, one, 1, synchronous_commit, speed)
            for one, speed in zip(ready, speeds, strict=True)
        ]
    for number in range(rounds):
        for contender, speed in zip(ready, speeds, strict=True):
            if speed is None:
                continue
            name = contender.peer.name
            # Groups grow in number with what there is to read. A fast queue must not have more of them, in
            # which readers rarely meet; one that is far slower is not filled with what it never reads.
            fastest = max(found for found in speeds if found is not None)
            filled = min(fastest, 4 * speed) if scenario.work == "grouped" else speed
            with Watch(contender.server, skip=_WARM_UP) if profile else nullcontext() as watch:
                rate = _measure(scenario, contender, seconds, synchronous_commit, speed, filled)
            assert rate is not None
            outcome.rates.setdefault(name, []).append(rate)
            if watch is not None and (seen := watch.profile(rate)) is not None:
                outcome.profiles.setdefault(name, []).append(seen)
        say(f"{scenario.name}: round {number + 1} of {rounds}")
    return outcome


def _measure(
    scenario: Scenario,
    contender: Contender,
    seconds: float,
    synchronous_commit: bool,
    speed: float | None,
    filled: float | None = None,
) -> float | None:
    """Messages per second, None where a queue has no such work.

    ``speed``: about how many it will be. There is enough to read for ``filled`` a second, or for that speed.
    """
    peer, connection = contender.peer, contender.connection
    scripts = {
        "enqueue": lambda: peer.enqueue(scenario.batch),
        "dequeue": lambda: peer.dequeue(scenario.batch),
        "grouped": peer.grouped,
    }[scenario.work]()
    if scripts is None:
        return None
    peer.clear(connection)
    warm_up = _WARM_UP if speed is not None else 0
    if scenario.work == "enqueue":
        done = pgbench(
            contender.server,
            scripts,
            clients=scenario.clients,
            seconds=seconds,
            synchronous_commit=synchronous_commit,
            warm_up=warm_up,
        )
        _check(
            peer, peer.left(connection) if peer.name != "PgQ" else None, done.transactions * scenario.batch
        )
        peer.clear(connection)
        return done.rate * scenario.batch
    # Half of what waits is read: near its end a queue shows its idle cost instead.
    wanted, share = (2 * int((seconds + warm_up) * (each or 0)) for each in (filled or speed, speed))
    messages = scenario.messages if wanted < scenario.messages else min(wanted, scenario.most())
    messages -= messages % scenario.batch  # PgQ would hand out what is over with its last batch
    groups = (
        scenario.groups * messages // scenario.messages if scenario.work == "grouped" else scenario.groups
    )
    peer.fill(connection, messages, groups, scenario.batch)
    connection.execute("VACUUM ANALYZE")
    time.sleep(0.2)
    share = min(messages // 2, share // 2) if share else messages // 20
    each = max(1, share // scenario.batch // scenario.clients)
    done = pgbench(
        contender.server,
        scripts,
        clients=scenario.clients,
        transactions=each,
        synchronous_commit=synchronous_commit,
        warm_up=warm_up,
    )
    consumed = messages - peer.left(connection)
    peer.clear(connection)
    if consumed <= 0:
        raise AssertionError(f"{peer.name} consumed nothing of {messages} messages")
    if consumed > done.transactions * scenario.batch:
        raise AssertionError(f"{peer.name} lost {consumed - done.transactions * scenario.batch} messages")
    return done.rate * consumed / done.transactions


def _check(peer: Peer, found: int | None, expected: int) -> None:
    if found is not None and found != expected:
        raise AssertionError(f"{peer.name}: {expected} messages were sent, {found} wait")

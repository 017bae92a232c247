"""A transaction that stays open for minutes, so that VACUUM can remove nothing, while messages go through."""

import threading
import time
from functools import partial

from .peers.ours import Ours
from .report import OURS
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import BenchServer, Connection, Run, pgbench

_UNPINNED = "unpinned"


def pinned(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Share of the first stretch's rate, p99 of RECEIVE, and size on disk, pinned and not.

    Ten minutes at 5,000 messages/s in and out, less where the machine gives no more: the rest
    would wait, and the size on disk would be that of a backlog. quick: 30 s at 500/s.
    """
    rate, stretch, stretches = (500.0, 10.0, 3) if quick else (5000.0, 60.0, 10)
    rate = min(rate, 0.6 * _both_ways(server, synchronous_commit))
    say(f"pinned xmin horizon: {rate:,.0f} messages/s in and out")
    unit_rate, unit_time, unit_size = "messages/s, last stretch", "ms, p99 of RECEIVE", "MB at the end"
    speed = Outcome(_scenario(unit_rate, Target(("first stretch",), 0.9)))
    wait = Outcome(_scenario(unit_time, Target(("first stretch",), 2.0, at_most=True)))
    size = Outcome(_scenario(unit_size, Target((_UNPINNED,), 3.0, at_most=True)))
    for is_pinned in (False, True):
        own = server.database("bench_pinned")
        connection = own.connect()
        ours = Ours()
        ours.install(own, connection)
        with own.connect() as other, other.transaction():
            if is_pinned:
                other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                # A snapshot of its own. Having read the messages, it would hold locks on their
                # tables until its end, which no TRUNCATE can pass.
                other.execute("SELECT count(*) FROM pg_class")
            runs = [_stretch(own, ours, rate, stretch, synchronous_commit) for _ in range(stretches)]
            megabytes = _size(connection) / 1e6
        connection.close()
        if not is_pinned:
            size.rates[_UNPINNED] = [megabytes]
            continue
        size.rates[OURS] = [megabytes]
        speed.rates = {OURS: [_speed(runs[-1])], "first stretch": [_speed(runs[0])]}
        wait.rates = {OURS: [runs[-1].percentile(0.99)], "first stretch": [runs[0].percentile(0.99)]}
    say("Pinned xmin horizon")
    return [speed, wait, size]


def _scenario(unit: str, target: Target) -> Scenario:
    return Scenario(
        "Pinned xmin horizon: " + unit, "special", 1, 2, targets=(target,), unit=unit.split(",")[0]
    )


def _both_ways(server: BenchServer, synchronous_commit: bool) -> float:
    """Messages per second that two senders and two readers get through together, at full speed."""
    own = server.database("bench_pinned")
    with own.connect() as connection:
        ours = Ours()
        ours.install(own, connection)
        ours.fill(connection, 100_000, 100, 1)
        return _speed(_stretch(own, ours, None, 5.0, synchronous_commit))


def _speed(run: Run) -> float:
    return run.rate


def _stretch(
    server: BenchServer, ours: Ours, rate: float | None, seconds: float, synchronous_commit: bool
) -> Run:
    """Send and receive at ``rate`` each, None: as fast as it goes; returns what the readers did."""
    reading = ours.dequeue(1)
    assert reading is not None
    work = partial(
        pgbench, server, clients=2, seconds=seconds, rate=rate, synchronous_commit=synchronous_commit
    )
    stop = threading.Event()
    keeper = threading.Thread(target=_rotate, args=(server, stop))
    sender = threading.Thread(target=work, args=(ours.spread(),))
    keeper.start()
    sender.start()
    done = work(reading, latencies=True)
    sender.join()
    stop.set()
    keeper.join()
    return done


def _rotate(server: BenchServer, stop: threading.Event) -> None:
    """What the daemon does while it runs."""
    with server.connect() as connection:
        while not stop.is_set():
            connection.execute("CALL ssb.tidy()")
            time.sleep(0.2)


def _size(connection: Connection) -> int:
    row = connection.execute(
        "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c"
        " WHERE c.relnamespace = 'ssb'::regnamespace AND c.relname ~ '^message_[01]$|^conversation_endpoint$'"
    ).fetchone()
    assert row is not None
    return int(row[0])

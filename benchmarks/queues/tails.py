"""The slowest of many: p99.9 of adding and of taking a message, while a server has its bad moments.

`python -m benchmarks.queues.tails --minutes 10` runs this alone. Two clients add and two take, all queues
at one rate: half of what the slowest of them gets through. Autovacuum is on; there are ten checkpoints; for
three tenths of the time a snapshot is pinned; in the middle pg_dump reads the database. Latencies count from
the moment at which a transaction was due, so what comes before it and takes long counts.
"""

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from pgsb.server.binaries import all_binaries
from pgsb.server.problems import ServerError

from .paced import beside, percentile, read_log, rotate, start
from .peer import Peer, Unavailable
from .peers.graphile import GraphileWorker
from .peers.ours import Ours
from .peers.pgmq import Pgmq
from .report import OURS, table
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import BenchServer, Connection, machine, pgbench, running, settle

_CLIENTS = 2
# Seconds: sessions compile functions and make plans.
_WARM_UP = 5.0
_CHECKPOINTS = 10
_PINNED = (0.3, 0.6)
_DUMP = 0.5
_FULL_SPEED = 3.0
_SHARES = (0.5, 0.99, 0.999, 1.0)
_HEAD = "                                 p50 ms   p99 ms p99.9 ms   max ms    rate/s"


@dataclass
class _Place:
    peer: Peer
    server: BenchServer
    connection: Connection

    def scripts(self) -> tuple[list[str], list[str]]:
        """Those that add a message and those that take one."""
        add, take = self.peer.enqueue(1), self.peer.dequeue(1)
        assert add is not None and take is not None
        return add, take


def tails(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Ten minutes each; quick: half a minute."""
    return measure(server, 30.0 if quick else 600.0, None, synchronous_commit, say)


def measure(
    server: BenchServer, seconds: float, rate: float | None, synchronous_commit: bool, say: Say
) -> list[Outcome]:
    """p99.9 in milliseconds of SEND and of RECEIVE and their like, by queue; nothing may stay behind."""
    places = list(_places(server, say))
    if rate is None:
        rate = 0.5 * min(_full_speed(place, synchronous_commit) for place in places)
    say(f"tails: {rate:,.0f} messages/s in and out, {seconds:g} s each\n{_HEAD}")
    peers = ("pgmq", "graphile-worker")
    outcomes = {
        work: Outcome(
            Scenario(
                f"Tails, {work}: p99.9",
                "special",
                1,
                _CLIENTS,
                targets=(Target(peers, 1.0, at_most=True),),
                unit="ms",
            )
        )
        for work in ("SEND", "RECEIVE")
    }
    for place in places:
        found = _run(place, seconds, rate, synchronous_commit, say)
        for work, times in zip(outcomes, found, strict=True):
            cells = " ".join(f"{percentile(times, share):8.2f}" for share in _SHARES)
            say(f"{place.peer.name:>20} {work:>8} {cells} {len(times) / seconds:9,.0f}")
            outcomes[work].rates[place.peer.name] = [percentile(times, 0.999)]
        place.connection.close()
    return list(outcomes.values())


def _places(server: BenchServer, say: Say) -> Iterator[_Place]:
    for kind in (Ours, Pgmq, GraphileWorker):
        peer: Peer = kind()
        own = server.database(f"bench_tails_{peer.name.replace('-', '_')}")
        connection = own.connect()
        try:
            peer.install(own, connection)
        except Unavailable as reason:
            say(str(reason))
            connection.close()
            continue
        yield _Place(peer, own, connection)


def _full_speed(place: _Place, synchronous_commit: bool) -> float:
    """Messages per second of those that add and those that take together, the slower of the two."""
    add, take = place.scripts()
    place.peer.fill(place.connection, 3_000, 100, 1)
    place.connection.execute("VACUUM ANALYZE")
    rates: list[float] = []

    def run(scripts: list[str]) -> None:
        done = pgbench(
            place.server,
            scripts,
            clients=_CLIENTS,
            seconds=_FULL_SPEED,
            synchronous_commit=synchronous_commit,
            warm_up=1,
        )
        rates.append(done.rate)

    adding = threading.Thread(target=run, args=(add,))
    adding.start()
    run(take)
    adding.join()
    place.peer.clear(place.connection)
    return min(rates)


def _run(
    place: _Place, seconds: float, rate: float, synchronous_commit: bool, say: Say
) -> tuple[list[float], list[float]]:
    """Latencies of adding and of taking, in milliseconds, sorted."""
    settle(place.connection)
    stop = threading.Event()
    begin = time.time() + _WARM_UP
    dumped: list[str] = []
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgsb-bench-")))
        moments = [_checkpoints, _pin, partial(_dump, dumped=dumped)]
        for work in moments:
            stack.enter_context(beside(partial(work, begin=begin, seconds=seconds), place.server, stop))
        if place.peer.name == OURS:
            stack.enter_context(beside(rotate, place.server, stop))
        # What takes goes on when nothing is added any more, for what is left.
        lasting = (seconds + _WARM_UP, seconds + _WARM_UP + 3)
        names = ("add", "take")
        runs = [
            start(place.server, directory, name, scripts, rate, time_, synchronous_commit, _CLIENTS)
            for name, scripts, time_ in zip(names, place.scripts(), lasting, strict=True)
        ]
        for one in runs:
            _, problems = one.communicate()
            if one.returncode != 0:
                raise ServerError(f"pgbench failed: {problems.strip()[-2000:]}")
        stop.set()
        add, take = (
            sorted(took for at, took, _ in read_log(directory, name) if begin <= at < begin + seconds)
            for name in names
        )
    for one_dump in dumped:
        say(one_dump)
    left = place.peer.left(place.connection)
    # What the takers had no turn left for: they come as often as what is added.
    if left > rate * 5:
        say(f"{place.peer.name}: {left} messages stayed behind")
    return add, take


def _checkpoints(server: BenchServer, stop: threading.Event, begin: float, seconds: float) -> None:
    with server.connect() as connection:
        for number in range(_CHECKPOINTS):
            if stop.wait(max(0.0, begin + seconds * (number + 0.5) / _CHECKPOINTS - time.time())):
                return
            connection.execute("CHECKPOINT")


def _pin(server: BenchServer, stop: threading.Event, begin: float, seconds: float) -> None:
    since, until = (begin + seconds * share for share in _PINNED)
    if stop.wait(max(0.0, since - time.time())):
        return
    with server.connect() as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SELECT count(*) FROM pg_class")
        stop.wait(max(0.0, until - time.time()))


def _dump(
    server: BenchServer, stop: threading.Event, begin: float, seconds: float, dumped: list[str]
) -> None:
    candidates = [server.bin / "pg_dump", *(one.bin / "pg_dump" for one in all_binaries())]
    programs = [one for one in candidates if os.access(one, os.X_OK)]
    if not programs:
        dumped.append("no pg_dump on this machine: none was made")
        return
    if stop.wait(max(0.0, begin + seconds * _DUMP - time.time())):
        return
    done = subprocess.run(
        [programs[0], "--format=custom", server.dsn],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        dumped.append(f"pg_dump failed: {done.stderr.strip()[-300:]}")


@click.command()
@click.option("--minutes", default=10.0, show_default=True, help="For each queue.")
@click.option("--quick", is_flag=True, help="Half a minute each.")
@click.option("--rate", type=float, help="Messages/s in and out; default: half of the slowest queue's most.")
@click.option("--postgres", help="Major version or bin directory.")
@click.option("--async-commit", is_flag=True, help="synchronous_commit = off")
def main(minutes: float, quick: bool, rate: float | None, postgres: str | None, async_commit: bool) -> None:
    """Print percentiles for each queue, and what must be reached."""
    with running(postgres) as server:
        click.echo(f"PostgreSQL {server.version}, {machine()}, synchronous_commit {not async_commit}")
        seconds = 30.0 if quick else minutes * 60
        click.echo(table(measure(server, seconds, rate, not async_commit, click.echo)))


if __name__ == "__main__":
    main()

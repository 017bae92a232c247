"""`python -m benchmarks.instances`: one target instance beside three that share the load by routes.

An instance begins a dialog for each job, with a message of 200 bytes, to a service of which there is one
target instance, or three: with a route to each, BEGIN DIALOG draws one. There the job is received and its
dialog ended, and what comes back ends it at the initiator. Each instance has its database and its daemon, all
on one machine: so the rates share its cores, and what counts is the processor time of each part for a job,
which is what a machine of its own would spend on it. Minimum / median / maximum of the rounds, in turns.
"""

import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import click
import psycopg

from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from pgsb.runtime_sql import installer

from .queues.profile import processor_seconds
from .queues.server import BenchServer, machine, running, settle
from .transport import OBJECTS, TEMPLATE, instances, own_threads

_SETS_OF = 100
_PATIENCE_SECONDS = 300.0
_HERE, _THERE = "tcp://here:4022", "tcp://there{}:4022"
_SEND = """
SELECT count(ssb.send(ssb.begin_dialog('//Here', '//There', 'c', encryption => false), 'm',
                      convert_to(rpad('', 200, '.'), 'UTF8')))
  FROM generate_series(1, %s)
"""
_WORK = "SELECT count(*) FROM ssb.receive_and_end('dbo.there', groups => %s)"
_CLEAR = "SELECT ssb.end_finished('dbo.here', %s)"


@dataclass
class Cost:
    """Of one round: jobs a second, and microseconds of processor time a job."""

    rate: float
    sender: float
    targets: float
    daemons: float
    shares: list[float]
    """Of each target instance: the jobs that it did."""


@contextmanager
def _instances(server: BenchServer, number: int, targets: int) -> Iterator[list[str]]:
    """The sender's DSN and then the targets', with routes there and back."""
    names = [f"bench_spread_{number}_{one}" for one in range(targets + 1)]
    with instances(server, names) as dsns:
        for place, dsn in enumerate(dsns):
            with psycopg.connect(dsn, autocommit=True) as connection:
                side, service = ("here", "//Here") if place == 0 else ("there", "//There")
                connection.execute("SELECT ssb.alter_database(NULL, 'NEW_BROKER')")
                connection.execute("SELECT ssb.create_queue(%s)", (f"dbo.{side}",))
                connection.execute("SELECT ssb.create_service(%s, %s, '{c}')", (service, f"dbo.{side}"))
                ways = (
                    [("//There", _THERE.format(one)) for one in range(targets)]
                    if place == 0
                    else [("//Here", _HERE)]
                )
                for one, (far, address) in enumerate(ways):
                    connection.execute("SELECT ssb.create_route(%s, %s, %s)", (f"way{one}", address, far))
        yield dsns


def _sessions(server: BenchServer, dsns: list[str]) -> list[float]:
    """Seconds of processor time of each instance's sessions so far."""
    spent = []
    for dsn in dsns:
        with psycopg.connect(dsn, autocommit=True) as connection:
            rows = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchall()
        spent.append(sum(processor_seconds(pid) or 0.0 for (pid,) in rows))
    return spent


def _round(server: BenchServer, number: int, targets: int, jobs: int) -> Cost:
    with _instances(server, number, targets) as dsns, ExitStack() as stack:
        addresses = {_HERE: dsns[0], **{_THERE.format(one): dsn for one, dsn in enumerate(dsns[1:])}}
        for dsn in dsns:
            broker = EmbeddedBroker(BrokerOptions(dsn, addresses=addresses), lambda _: None)
            if not stack.enter_context(broker).wait_until_leading():
                raise click.ClickException("the daemon does not lead")
        sessions = [stack.enter_context(psycopg.connect(dsn, autocommit=True)) for dsn in dsns]
        done = [0] * targets
        is_over = threading.Event()

        def work(target: int) -> None:
            while not is_over.is_set():
                row = sessions[target + 1].execute(_WORK, (_SETS_OF,)).fetchone()
                assert row is not None
                done[target] += row[0]
                if not row[0]:
                    time.sleep(0.02)

        def carry(wanted: int) -> None:
            """Send so many jobs and wait until all of them are done and their dialogs gone."""
            deadline = time.monotonic() + _PATIENCE_SECONDS
            start = sum(done)
            for _ in range(wanted // _SETS_OF):
                sessions[0].execute(_SEND, (_SETS_OF,))
            left = wanted
            while left:
                row = sessions[0].execute(_CLEAR, (1000,)).fetchone()
                assert row is not None
                left -= row[0]
                if not row[0]:
                    time.sleep(0.02)
                if time.monotonic() > deadline:
                    raise click.ClickException(f"{sum(done) - start} of {wanted} jobs done, {left} not ended")

        workers = [threading.Thread(target=work, args=(one,)) for one in range(targets)]
        for worker in workers:
            worker.start()
        try:
            carry(10 * _SETS_OF)
            first = list(done)
            before, own, began = _sessions(server, dsns), own_threads(), time.monotonic()
            carry(jobs)
            took = time.monotonic() - began
            spent = [b - a for a, b in zip(before, _sessions(server, dsns), strict=True)]
            daemons = own_threads() - own
        finally:
            is_over.set()
            for worker in workers:
                worker.join()
    per = 1e6 / jobs
    shares = [(b - a) / jobs for a, b in zip(first, done, strict=True)]
    return Cost(jobs / took, spent[0] * per, sum(spent[1:]) * per, daemons * per, shares)


def _three(figures: list[float]) -> str:
    return " / ".join(f"{one(figures):7,.0f}" for one in (min, statistics.median, max))


@click.command()
@click.option("--postgres", help="Major version or bin directory.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--jobs", default=20_000, show_default=True)
@click.option("--targets", default=3, show_default=True, help="Instances that share the load.")
def main(postgres: str | None, rounds: int, jobs: int, targets: int) -> None:
    """Jobs on new dialogs, to one target instance and to several."""
    jobs -= jobs % _SETS_OF
    with running(postgres) as server:
        template = server.database(TEMPLATE)
        with template.connect() as connection:
            installer.install(connection)
            connection.execute(OBJECTS.encode())
            settle(connection)
        click.echo(f"PostgreSQL {server.version}, {machine()}, {jobs:,} jobs, {rounds} rounds")
        costs: dict[int, list[Cost]] = {1: [], targets: []}
        for number in range(rounds):
            for count in costs:
                costs[count].append(_round(server, number, count, jobs))
    for count, seen in costs.items():
        click.echo(f"{count} target instances: {_three([one.rate for one in seen])} jobs/s")
        for part in ("sender", "targets", "daemons"):
            click.echo(
                f"{part:>12} {_three([getattr(one, part) for one in seen])} µs of processor time a job"
            )
        click.echo(f"      shares {', '.join(f'{one:.2f}' for one in seen[-1].shares)} in the last round")


if __name__ == "__main__":
    sys.exit(main())

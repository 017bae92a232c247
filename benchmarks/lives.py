"""`python -m benchmarks.lives [REVISION …]`: a dialog's life, plain, with priorities and with retention.

As benchmarks.engines takes it: processor time of the server's process, by turns in databases of one server.
Each kind has a database of its own, as what one queue does changes what END looks for in all of a database.
The ratios are to the plain life of the same engine; with REVISIONs, also to the same life of the first of
them.
"""

import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import click

from .engines import HERE, LIVES, OBJECTS, PROCEDURE, SLICES, install, took
from .queues.server import BenchServer, Connection, machine, running

PLAIN = "plain"
_PRIORITY = "SELECT ssb.create_broker_priority('p', contract => 'c', priority_level => {level})"
_RETENTION = (
    "SELECT ssb.alter_queue(q, retention => true) FROM unnest(ARRAY['dbo.source', 'dbo.target']) AS q"
)
KINDS = {
    PLAIN: "SELECT",
    # What RECEIVE looks for first is the queue's highest level; 5 is every queue's.
    "priority 8": _PRIORITY.format(level=8),
    "priority 3": _PRIORITY.format(level=3),
    "retention": _RETENTION,
    "both": f"{_PRIORITY.format(level=8)}; {_RETENTION}",
}
"""What is defined beside the services, by kind."""

MEASURED = [
    "a life by statements",
    "a life by send_new",
    "BEGIN and SEND",
    "RECEIVE and END, target",
    "RECEIVE and END, initiator",
    "SEND on an open dialog",
    "RECEIVE TOP (1)",
    "SEND, GET GROUP, RECEIVE of it",
    "SEND of three, RECEIVE",
]


@dataclass
class _Case:
    """One engine with one kind of dialogs; ``figures``: µs a turn by name, one a round."""

    engine: str
    kind: str
    connection: Connection
    figures: dict[str, list[float]] = field(default_factory=dict)


def _case(server: BenchServer, number: int, engine: str, kind: str) -> _Case:
    connection = server.database(f"bench_life_{number}").connect()
    install(connection, engine)
    connection.execute("SET synchronous_commit = off")
    connection.execute(OBJECTS)
    connection.execute(KINDS[kind].encode())
    connection.execute(
        "CREATE TABLE bench_open AS SELECT ssb.begin_dialog('source', 'target', 'c') AS handle"
    )
    connection.execute("SELECT ssb.send(o.handle, 'm', 'x'::bytea) FROM bench_open AS o")
    connection.execute("SELECT count(*) FROM ssb.receive('dbo.target', 1)")
    for place, name in enumerate(MEASURED):
        connection.execute(PROCEDURE.format(name=place, steps=LIVES[name]).encode())
    connection.execute("VACUUM ANALYZE")
    return _Case(engine, kind, connection)


def _round(cases: Sequence[_Case], times: int) -> None:
    """Of each figure the median of slices that take turns."""
    order = list(cases)
    slices: dict[tuple[str, str, str], list[float]] = {}
    for _ in range(SLICES):
        for place, name in enumerate(MEASURED):
            random.shuffle(order)
            for case in order:
                call = f"CALL bench_{place}({times // SLICES})".encode()
                seconds = took(case.connection, partial(case.connection.execute, call))
                slices.setdefault((case.engine, case.kind, name), []).append(seconds / (times // SLICES))
    for case in cases:
        for name in MEASURED:
            case.figures.setdefault(name, []).append(statistics.median(slices[case.engine, case.kind, name]))


def _ratio(own: _Case, other: _Case, name: str) -> str:
    ratios = sorted(
        mine / theirs for mine, theirs in zip(own.figures[name], other.figures[name], strict=True)
    )
    return f"{ratios[0]:.2f} / {statistics.median(ratios):.2f} / {ratios[-1]:.2f}"


@click.command()
@click.argument("revisions", nargs=-1)
@click.option("--postgres", help="Major version or bin directory.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--dialogs", default=300, show_default=True, help="Dialogs a round.")
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), help="These, and the plain one."
)
def main(
    revisions: tuple[str, ...], postgres: str | None, rounds: int, dialogs: int, kinds: tuple[str, ...]
) -> None:
    """Lives of several kinds: medians of µs, ratios to the plain life as min / median / max.

    With git REVISIONS, also the ratio to the first of them.
    """
    chosen = [kind for kind in KINDS if not kinds or kind == PLAIN or kind in kinds]
    with running(postgres) as server:
        conditions = machine()
        click.echo(f"PostgreSQL {server.version}, {conditions['cores']} cores, load {conditions['load']}")
        engines = [*revisions, HERE]
        cases = [
            _case(server, number, engine, kind)
            for number, (engine, kind) in enumerate((engine, kind) for engine in engines for kind in chosen)
        ]
        _round(cases, 20 * SLICES)
        for case in cases:
            case.figures.clear()
        for _ in range(rounds):
            _round(cases, dialogs)
        by_place = {(case.engine, case.kind): case for case in cases}
        for name in MEASURED:
            click.echo(f"\n{name}, µs of processor time")
            for case in cases:
                line = f"  {case.engine:14}{case.kind:12}{statistics.median(case.figures[name]):6.0f}"
                if case.kind != PLAIN:
                    line += f"  of plain {_ratio(case, by_place[case.engine, PLAIN], name)}"
                if case.engine != engines[0]:
                    line += f"  of {engines[0]} {_ratio(case, by_place[engines[0], case.kind], name)}"
                click.echo(line)
        for case in cases:
            case.connection.close()


if __name__ == "__main__":
    sys.exit(main())

"""What a database with many conversations, waiting messages and queues costs, beside a small one.

`python -m benchmarks.queues.sizes` runs this alone, with 10,000,000 of the first two and 10,000 queues
(half an hour, 30 GB); `--quick` divides them by 500. Rates are those of one client; disk is what the tables
take, memory what a session has for itself after it has received from every queue.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from .conditions import ManyQueues
from .peer import BODY
from .profile import Watch
from .report import OURS, table
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import SETTINGS, BenchServer, Connection, machine, pgbench, running

_SMALL = "small"
_DIALOGS = 1000
_TARGET = (Target((_SMALL,), 2 / 3),)
_QUICK = 500
_CHOSEN = 100_000


@dataclass(frozen=True)
class Sizes:
    """How many of each."""

    conversations: int = 10_000_000
    messages: int = 10_000_000
    queues: int = 10_000

    def part(self, divisor: int) -> "Sizes":
        """A part of each."""
        return Sizes(self.conversations // divisor, self.messages // divisor, self.queues // divisor)


class _Place(ManyQueues):
    """A database with so many conversations, messages that wait in one queue, and queues beside it."""

    def __init__(self, server: BenchServer, name: str, sizes: Sizes) -> None:
        self.queues = sizes.queues
        super().__init__(server, name, 0, 1)
        self.sizes = sizes
        # The clones' numbers: one message that was received, and one that waits.
        self.connection.execute("SELECT ssb.send(%s, 'm', 'x'::bytea)", (self.peer.handles[0],))
        self.peer.clone_dialogs(self.connection, sizes.conversations)
        # As an application has handles at hand: to look for one among all costs as much as SEND does.
        self.connection.execute(
            "CREATE TABLE bench_chosen AS SELECT row_number() OVER () AS number, d.handle FROM"
            " (SELECT handle FROM bench_dialog ORDER BY random() LIMIT %s) AS d",
            (min(_CHOSEN, sizes.conversations),),
        )
        self.connection.execute("CREATE INDEX ON bench_chosen (number)")
        self.connection.execute("VACUUM ANALYZE")
        self._wait(sizes.messages)
        self.connection.execute("VACUUM ANALYZE")

    def _wait(self, messages: int) -> None:
        """As SEND would have left them, for all conversations in turn; SEND would take most of an hour."""
        for _ in range(0, messages, self.sizes.conversations):
            self.connection.execute(
                """
                INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number,
                                           enqueued_at, message_type_id, priority, validation, body)
                SELECT e.queue_id, e.endpoint_id, nextval(e.near_order), 1,
                       clock_timestamp(), t.message_type_id, 5, 'N', %s
                  FROM ssb.conversation_endpoint AS e
                  JOIN ssb.queue AS q ON q.queue_id = e.queue_id AND q.name = 'dbo.target'
                  JOIN ssb.message_type AS t ON t.name = 'm'
                 ORDER BY e.endpoint_id LIMIT %s
                """,
                (BODY.encode(), min(messages, self.sizes.conversations)),
            )

    def works(self) -> dict[str, tuple[str, int]]:
        """pgbench's script of each kind of work, and how many transactions of it are measured."""
        some = min(2000, self.sizes.messages // 4)
        handle = "(SELECT d.handle FROM bench_chosen AS d WHERE d.number = :d)"
        return {
            "SEND": (
                f"\\set d random(1, {min(_CHOSEN, self.sizes.conversations)})\n"
                f"SELECT ssb.send({handle}, 'm', '{BODY}'::bytea);\n",
                some,
            ),
            "RECEIVE TOP (1)": ("SELECT * FROM ssb.receive('dbo.target', 1);\n", some),
            "a job on a new dialog": (
                f"SELECT ssb.send_new('source', 's0', 'c', 'm', '{BODY}'::bytea);\n"
                "SELECT count(*) FROM ssb.receive_and_end('dbo.q0');\n"
                "SELECT ssb.end_finished('dbo.source', 1);\n",
                some // 2,
            ),
        }

    def disk(self) -> Iterator[tuple[str, float]]:
        """MB of the endpoints, of the messages and of the database, with their indexes."""
        for name, what in (
            ("endpoints", "pg_total_relation_size('ssb.conversation_endpoint')"),
            ("messages", "pg_total_relation_size('ssb.message_0') + pg_total_relation_size('ssb.message_1')"),
            ("database", "pg_database_size(current_database())"),
        ):
            row = self.connection.execute(f"SELECT {what}".encode()).fetchone()
            assert row is not None
            yield name, row[0] / 1e6

    def memory(self) -> float | None:
        """MB that a session has for itself when it has received from each queue; None where nobody tells."""
        with self.server.connect() as session:
            for number in range(self.queues):
                session.execute(f"SELECT count(*) FROM ssb.receive('dbo.q{number}', 1)".encode())
            return _own_memory(session)


def _own_memory(connection: Connection) -> float | None:
    try:
        lines = Path(f"/proc/{connection.info.backend_pid}/status").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("RssAnon:")]
    return int(found[0]) / 1e3 if found else None


def sizes(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """The large database beside the small one, in rounds that take turns."""
    return measure(server, Sizes().part(_QUICK) if quick else Sizes(), quick, synchronous_commit, say)


def measure(
    server: BenchServer,
    large: Sizes,
    quick: bool,
    synchronous_commit: bool,
    say: Say,
    *,
    checkpoint: bool = False,
) -> list[Outcome]:
    """Rates by kind of work; what disk and memory are taken is said as it is seen.

    ``checkpoint``: one comes before each, as often as no server has them: behind it PostgreSQL writes each
    page that is changed for the first time to the WAL as a whole.
    """
    small = Sizes(min(_DIALOGS, large.conversations), 10 * _DIALOGS, min(10, large.queues))
    with _places(server, small, large, say) as places:
        outcomes = []
        for work in places[_SMALL].works():
            rates = Outcome(Scenario(f"Sizes: {work}", "special", 1, 1, targets=_TARGET))
            cost = Outcome(Scenario(f"Sizes: {work}, processor time", "special", 1, 1, unit="µs"))
            for _ in range(3 if quick else 7):
                for name, place in places.items():
                    script, transactions = place.works()[work]
                    if checkpoint:
                        place.connection.execute("CHECKPOINT")
                    with Watch(place.server, skip=0) as watch:
                        done = pgbench(
                            place.server,
                            [script],
                            clients=1,
                            transactions=transactions,
                            synchronous_commit=synchronous_commit,
                        )
                    rates.rates.setdefault(name, []).append(done.rate)
                    seen = watch.profile(done.rate)
                    if seen is not None and seen.processor:
                        cost.rates.setdefault(name, []).append(seen.processor)
            outcomes += [rates, cost] if cost.rates else [rates]
            say(rates.scenario.name)
        for name, place in places.items():
            for what, megabytes in place.disk():
                say(f"{name:>8} {what:>12} {megabytes:12,.1f} MB")
            memory = place.memory()
            if memory is not None:
                say(f"{name:>8} {'a session':>12} {memory:12,.1f} MB, {place.queues:,} queues visited")
    return outcomes


@contextmanager
def _places(server: BenchServer, small: Sizes, large: Sizes, say: Say) -> Iterator[dict[str, _Place]]:
    made: dict[str, _Place] = {}
    wanted: list[tuple[str, Callable[[], _Place]]] = [
        (_SMALL, lambda: _Place(server, "sizes_small", small)),
        (OURS, lambda: _Place(server, "sizes_large", large)),
    ]
    try:
        for name, make in wanted:
            made[name] = make()
            size = made[name].sizes
            say(f"{size.conversations:,} conversations, {size.messages:,} messages, {size.queues:,} queues")
        yield made
    finally:
        for place in made.values():
            place.connection.close()


@click.command()
@click.option("--conversations", default=Sizes.conversations, show_default=True)
@click.option("--messages", default=Sizes.messages, show_default=True)
@click.option("--queues", default=Sizes.queues, show_default=True)
@click.option("--quick", is_flag=True, help=f"All numbers divided by {_QUICK}, three rounds.")
@click.option("--postgres", help="Major version or bin directory.")
@click.option("--async-commit", is_flag=True, help="synchronous_commit = off")
@click.option("--checkpoint", is_flag=True, help="One before each measurement: pages go whole to the WAL.")
@click.option("--shared-buffers", default=SETTINGS["shared_buffers"], show_default=True)
def main(
    conversations: int,
    messages: int,
    queues: int,
    quick: bool,
    postgres: str | None,
    async_commit: bool,
    checkpoint: bool,
    shared_buffers: str,
) -> None:
    """Print rates beside those of a small database, disk and memory."""
    with running(postgres, shared_buffers=shared_buffers) as server:
        click.echo(
            f"PostgreSQL {server.version}, {machine()}, synchronous_commit {not async_commit},"
            f" shared_buffers {shared_buffers}"
        )
        large = Sizes(conversations, messages, queues)
        sizes_of = large.part(_QUICK) if quick else large
        outcomes = measure(server, sizes_of, quick, not async_commit, click.echo, checkpoint=checkpoint)
    click.echo(table(outcomes))


if __name__ == "__main__":
    main()

"""A transaction that stays open for minutes, so that VACUUM can remove nothing, while messages go through.

`python -m benchmarks.queues.pinned --rate 2500 --minutes 10 --async-commit` runs this alone.
"""

import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from pgsb.server.problems import ServerError

from .paced import beside, percentile, read_log, rotate, start
from .peer import BODY
from .peers.ours import Ours
from .report import OURS, table
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import BenchServer, Connection, machine, pgbench, running, settle

_UNPINNED = "unpinned"
_CLIENTS = 2
# Seconds: sessions compile functions and make plans.
_WARM_UP = 5.0
_SAMPLE = 0.5


@dataclass(frozen=True)
class Stretch:
    """What happened in so many seconds.

    ``latencies`` of RECEIVE are milliseconds, sorted, from the moment in which it was due: what comes
    before it and takes long counts. ``own`` are those without that wait. ``megabytes`` is the largest
    size on disk, ``waiting`` how many messages were in the queue at the end, ``switches`` how often
    the message tables were switched.
    """

    rate: float
    latencies: Sequence[float]
    own: Sequence[float]
    megabytes: float
    waiting: int
    switches: int

    def line(self, name: str) -> str:
        """A row of the table that `_HEAD` begins."""
        return (
            f"{name:>12} {self.rate:>10,.0f} {percentile(self.latencies, 0.5):>8.2f}"
            f" {percentile(self.latencies, 0.99):>8.1f} {percentile(self.own, 0.99):>8.1f}"
            f" {self.megabytes:>6.1f} {self.waiting:>8,} {self.switches:>9}"
        )


_HEAD = "     stretch  RECEIVE/s   p50 ms   p99 ms p99 own     MB  waiting  switches"


def pinned(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Share of the first stretch's rate, p99 of RECEIVE, and size on disk, pinned and not.

    Ten minutes at 5,000 messages/s in and out, less where the machine gives no more: the rest
    would wait, and the size on disk would be that of a backlog. quick: 30 s at 500/s.
    """
    rate, seconds, stretches = (500.0, 10.0, 3) if quick else (5000.0, 60.0, 10)
    rate = min(rate, 0.6 * _both_ways(server, synchronous_commit))
    return measure(server, rate, seconds, stretches, synchronous_commit, say)


def measure(
    server: BenchServer, rate: float, seconds: float, stretches: int, synchronous_commit: bool, say: Say
) -> list[Outcome]:
    """Not pinned, for three stretches at most, then pinned. Every message is checked."""
    say(f"pinned xmin horizon: {rate:,.0f} messages/s in and out, stretches of {seconds:g} s")
    say(_HEAD)
    free = _run(server, rate, seconds, min(stretches, 3), synchronous_commit, False, say)
    held = _run(server, rate, seconds, stretches, synchronous_commit, True, say)
    speed = Outcome(_scenario("messages/s, last stretch", Target(("first stretch",), 0.9)))
    wait = Outcome(
        _scenario("ms, p99 of RECEIVE, worst stretch", Target(("first stretch",), 2.0, at_most=True))
    )
    own = Outcome(
        _scenario(
            "ms, p99 without waiting for its turn, worst", Target(("first stretch",), 2.0, at_most=True)
        )
    )
    size = Outcome(_scenario("MB at most", Target((_UNPINNED,), 3.0, at_most=True)))
    speed.rates = {OURS: [held[-1].rate], "first stretch": [held[0].rate]}
    worst = [percentile(one.latencies, 0.99) for one in held]
    wait.rates = {OURS: [max(worst)], "first stretch": [worst[0]]}
    alone = [percentile(one.own, 0.99) for one in held]
    own.rates = {OURS: [max(alone)], "first stretch": [alone[0]]}
    size.rates = {
        OURS: [max(one.megabytes for one in held)],
        _UNPINNED: [max(one.megabytes for one in free)],
    }
    return [speed, wait, own, size]


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
        sender = threading.Thread(
            target=pgbench,
            args=(own, ours.spread()),
            kwargs={"clients": _CLIENTS, "seconds": 5.0, "synchronous_commit": synchronous_commit},
        )
        reading = ours.dequeue(1)
        assert reading is not None
        sender.start()
        done = pgbench(own, reading, clients=_CLIENTS, seconds=5.0, synchronous_commit=synchronous_commit)
        sender.join()
        return done.rate


def _run(
    server: BenchServer,
    rate: float,
    seconds: float,
    stretches: int,
    synchronous_commit: bool,
    is_pinned: bool,
    say: Say,
) -> list[Stretch]:
    own = server.database("bench_pinned")
    connection = own.connect()
    ours = Ours()
    ours.install(own, connection)
    # Rollbacks in a row, which the end of a run may bring, would disable the queue.
    connection.execute("SELECT ssb.alter_queue('dbo.target', poison_message_handling => false)")
    connection.execute(
        "CREATE TABLE received (number bigserial, conversation uuid, sender integer, message bigint,"
        " position bigint)"
    )
    settle(connection)
    samples = _Samples()
    stop = threading.Event()
    # RECEIVE goes on when the senders have stopped, for what is left.
    last = _WARM_UP + seconds * stretches
    with (
        own.connect() as other,
        other.transaction(),
        tempfile.TemporaryDirectory(prefix="pgsb-bench-") as directory,
    ):
        if is_pinned:
            other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            # A snapshot of its own. Having read the messages, it would hold locks on their
            # tables until its end, which no TRUNCATE can pass.
            other.execute("SELECT count(*) FROM pg_class")
        with beside(rotate, own, stop), beside(samples.take, own, stop):
            begin = time.time() + _WARM_UP
            work = [
                start(own, Path(directory), name, scripts, rate, lasting, synchronous_commit, _CLIENTS)
                for name, scripts, lasting in (
                    ("receive", [_reading()], last + 2),
                    ("send", _sending(ours), last),
                )
            ]
            for one in work:
                _, problems = one.communicate()
                if one.returncode != 0:
                    raise ServerError(f"pgbench failed: {problems.strip()[-2000:]}")
            stop.set()
        found = read_log(Path(directory), "receive")
        sent = len(read_log(Path(directory), "send"))
    while connection.execute(_reading()).rowcount:
        pass
    _check(connection, sent)
    connection.close()
    done: list[Stretch] = []
    for number in range(stretches):
        since, until = begin + number * seconds, begin + (number + 1) * seconds
        here = [one for one in found if since <= one[0] < until]
        sizes = [one for one in samples.seen if since <= one[0] < until]
        done.append(
            Stretch(
                len(here) / seconds,
                sorted(took for _, took, _ in here),
                sorted(took - lag for _, took, lag in here),
                max(one[1] for one in sizes) / 1e6,
                sizes[-1][2],
                # Three changes of the state are one switch.
                (sizes[-1][3] - sizes[0][3]) // 3,
            )
        )
        say(done[-1].line(f"{'pinned' if is_pinned else _UNPINNED} {number + 1}"))
    return done


def _sending(ours: Ours) -> list[str]:
    """A script for each dialog; each sender numbers its messages."""
    padding = BODY[:180]
    return [
        f"\\set n :n + 1\nSELECT ssb.send('{handle}', 'm',"
        f" convert_to(concat_ws(' ', :client_id::bigint, :n::bigint, '{padding}'), 'UTF8'));\n"
        for handle in ours.handles
    ]


def _reading() -> str:
    return (
        "INSERT INTO received (conversation, sender, message, position)"
        " SELECT r.conversation_handle, split_part(r.body, ' ', 1)::integer,"
        "       split_part(r.body, ' ', 2)::bigint, r.message_sequence_number"
        "   FROM (SELECT m.conversation_handle, m.message_sequence_number,"
        "                convert_from(m.message_body, 'UTF8') AS body"
        "           FROM ssb.receive('dbo.target', 1) AS m) AS r;\n"
    )


def _check(connection: Connection, sent: int) -> None:
    """Every message once, each sender's in order on each conversation."""
    row = connection.execute(
        """
        SELECT count(*), count(DISTINCT (sender, message)), coalesce(sum(message), 0),
               (SELECT sum(m.last * (m.last + 1) / 2)
                  FROM (SELECT max(message) AS last FROM received GROUP BY sender) AS m),
               coalesce(bool_and(is_after), true)
          FROM (SELECT sender, message,
                       message > lag(message, 1, 0::bigint) OVER senders
                       AND position > lag(position, 1, -1::bigint) OVER all_of_it AS is_after
                  FROM received
                WINDOW all_of_it AS (PARTITION BY conversation ORDER BY number),
                       senders AS (PARTITION BY conversation, sender ORDER BY number)) AS r
        """
    ).fetchone()
    assert row is not None
    count, distinct, total, expected, in_order = row
    assert count == sent, f"{sent} messages were sent, {count} came"
    assert count == distinct, f"{count - distinct} messages came twice"
    assert total == expected, "a message is missing"
    assert in_order, "messages came out of order"


class _Samples:
    """Time (epoch), bytes on disk, messages waiting, changes of ssb.rotation_state."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, int, int, int]] = []

    def take(self, server: BenchServer, stop: threading.Event) -> None:
        """Until told to stop."""
        with server.connect() as connection:
            row = connection.execute(
                "SELECT order_sequence::text FROM ssb.queue WHERE name = 'dbo.target'"
            ).fetchone()
            assert row is not None
            question = (
                "SELECT (SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class AS c"
                "         WHERE c.relnamespace = 'ssb'::regnamespace"
                "           AND c.relname ~ '^message_[01]$|^conversation_endpoint$|^rotation$'),"
                f" (SELECT o.last_value FROM {row[0]} AS o)"
                " - (SELECT r.last_value FROM received_number_seq AS r),"
                " (SELECT s.last_value >> 3 FROM ssb.rotation_state AS s)"
            )
            while not stop.wait(_SAMPLE):
                seen = connection.execute(question).fetchone()
                assert seen is not None
                self.seen.append((time.time(), *seen))


@click.command()
@click.option("--rate", default=2500.0, help="Messages/s in and out.")
@click.option("--minutes", default=10.0)
@click.option("--stretch", default=30.0, help="Seconds.")
@click.option("--postgres", help="Major version or bin directory.")
@click.option("--async-commit", is_flag=True, help="synchronous_commit = off")
def main(rate: float, minutes: float, stretch: float, postgres: str | None, async_commit: bool) -> None:
    """Print a line for each stretch, and what must be reached."""
    with running(postgres) as server:
        click.echo(f"PostgreSQL {server.version}, {machine()}, synchronous_commit {not async_commit}")
        stretches = max(1, round(minutes * 60 / stretch))
        outcomes = measure(server, rate, stretch, stretches, not async_commit, click.echo)
    click.echo(table(outcomes))


if __name__ == "__main__":
    main()

"""What a claim costs those who do not claim: RECEIVE, a look and a small claim behind a large one.

    python -m benchmarks.claimed_front [--messages 1000000] [--per-conversation 100] [--rounds 3]

On one server: RECEIVE TOP (1) in a session that has received before, `ssb.message_is_waiting`, and a claim of
100 messages, first on a queue where nothing is claimed, then with so many claimed messages in front, both on
2,000 messages of 20 conversations. Prints milliseconds (minimum, median, maximum of the rounds' medians),
and the ratios of the minima, which other work on the machine changes least. Run in a checkout, from its root.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from pgsb.bulk import claim
from pgsb.runtime_sql.installer import install

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.queues.server import running

Connection = psycopg.Connection[Any]
DEFINITIONS = (
    "SELECT ssb.create_queue('dbo.source')",
    "SELECT ssb.create_queue('dbo.target')",
    "SELECT ssb.create_message_type('item')",
    "SELECT ssb.create_contract('items', message_types => '{item}', sent_by => '{ANY}')",
    "SELECT ssb.create_service('source', queue => 'dbo.source')",
    "SELECT ssb.create_service('target', queue => 'dbo.target', contracts => '{items}')",
)


@contextmanager
def _session(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def _send(connection: Connection, conversations: int, messages: int) -> None:
    for first in range(0, conversations, 1000):
        count = min(1000, conversations - first)
        rows = connection.execute(
            "SELECT ssb.begin_dialog('source', 'target', 'items') FROM generate_series(1, %s)", (count,)
        ).fetchall()
        handles = [row[0] for row in rows]
        for start in range(0, messages, 10):
            connection.execute(
                "SELECT ssb.send_batch(array_agg(h), array_agg('item'::text), array_agg('x'::bytea))"
                "  FROM unnest(%s::uuid[]) AS h, generate_series(1, %s)",
                (handles, min(10, messages - start)),
            )


def _clock(action: Callable[[], object], times: int) -> float:
    """The median in milliseconds."""
    seconds = []
    for _ in range(times):
        before = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - before)
    return statistics.median(seconds) * 1000


def _round(dsn: str, reader: Connection) -> dict[str, float]:
    def small_claim() -> None:
        with _session(dsn) as session:
            session.execute("SELECT 1")
            before = time.perf_counter()
            held = claim(session, "dbo.target", max_messages=100)
            claims.append((time.perf_counter() - before) * 1000)
            assert held is not None

    claims: list[float] = []
    for _ in range(4):
        small_claim()
    return {
        "RECEIVE TOP (1)": _clock(lambda: reader.execute("SELECT FROM ssb.receive('dbo.target', 1)"), 150),
        "message_is_waiting": _clock(
            lambda: reader.execute("SELECT ssb.message_is_waiting('dbo.target')"), 50
        ),
        "claim of 100": statistics.median(claims[1:]),
    }


def _case(dsn: str, admin: Connection, rounds: int) -> dict[str, list[float]]:
    seen: dict[str, list[float]] = {}
    with _session(dsn) as reader:
        reader.execute("SELECT FROM ssb.receive('dbo.target', 1)")
        for _ in range(rounds):
            _send(admin, 20, 100)
            for name, value in _round(dsn, reader).items():
                seen.setdefault(name, []).append(value)
    return seen


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--per-conversation", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--postgres", default="18")
    options = parser.parse_args()
    with running(options.postgres) as server, _session(server.dsn) as admin:
        dsn = server.dsn
        install(admin)
        for statement in DEFINITIONS:
            admin.execute(statement.encode())
        _case(dsn, admin, 1)  # warm
        without = _case(dsn, admin, options.rounds)
        while admin.execute("SELECT count(*) FROM ssb.receive('dbo.target')").fetchone() != (0,):
            pass
        _send(admin, options.messages // options.per_conversation, options.per_conversation)
        admin.execute("VACUUM ANALYZE")
        with _session(dsn) as owner:
            before = time.perf_counter()
            held = claim(owner, "dbo.target")
            seconds = time.perf_counter() - before
            assert held is not None and held.messages == options.messages
            print(
                f"{held.messages:,} messages of {held.conversations:,} conversations"
                f" claimed in {seconds:.1f} s"
            )
            behind = _case(dsn, admin, options.rounds)
        print(f"{'ms':20}{'nothing claimed':>28}{'behind the claim':>28}{'ratio':>8}")
        for name, values in without.items():
            columns = [
                f"{min(one):8.3f}{statistics.median(one):9.3f}{max(one):9.3f}"
                for one in (values, behind[name])
            ]
            ratio = min(behind[name]) / min(values)
            print(f"{name:20}{columns[0]:>28}{columns[1]:>28}{ratio:8.2f}")


if __name__ == "__main__":
    main()

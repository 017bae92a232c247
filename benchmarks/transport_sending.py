"""`python -m benchmarks.transport_sending`: SEND to another instance, latency, the paper's topology.

SEND: microseconds of processor time of the sender's session for a message of 200 bytes, on a dialog with a
service of another instance and with one of this instance, in sets of 500 (`ssb.send_batch`) and one by one in
a transaction of 500. No daemon runs, and nobody reads.

Latency: from SEND on a quiet dialog to the message in the other instance's queue, beside what is made by
hand: INSERT and NOTIFY, a session that LISTENs, reads, inserts over there and commits. Message by message,
by turns. The daemon and what is made by hand are processes of their own, as they are where they serve: in a
thread of this one each of their steps would wait for whoever looks whether the message has arrived.

Topology: the paper's. Three instances send messages of 100 bytes to a fourth, where a reader takes up to
10,000 at a time into a table; beside it the same senders and reader in one instance. Messages a second, and
processor time of all sessions and daemons. And the same two made by hand, as `benchmarks.transport` does it:
rows are inserted, carried as arrays, and deleted into the table; one hop more costs that, too.

By turns in each round; ratios are minimum / median / maximum of the rounds.
"""

import multiprocessing
import random
import statistics
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product

import click
import psycopg

from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from pgsb.runtime_sql import installer

from .queues.profile import processor_seconds
from .queues.server import BenchServer, Connection, machine, running, settle
from .transport import (
    ADDRESS,
    OBJECTS,
    TEMPLATE,
    Load,
    Pair,
    carry_set_by_hand,
    hand_sessions,
    instances,
    own_threads,
    pair_of,
    send,
    wait_until_carried,
)

SET = 500
_PATIENCE_SECONDS = 60.0
_DIALOGS = 10
_BATCH_OF = 100
"""Dialogs of each of the paper's senders, and how many messages each of their transactions sends."""
_LOCAL = """
SELECT ssb.create_queue('dbo.local');
SELECT ssb.create_service('//Local', 'dbo.local', '{c}');
"""
_BEGIN = "SELECT ssb.begin_dialog('//Here', %s, 'c', encryption => false)"
_BATCH = """
SELECT ssb.send_batch(array_fill(%s::uuid, ARRAY[%s]), array_fill('m'::text, ARRAY[%s]),
                      array_fill(convert_to(rpad('', %s, '.'), 'UTF8'), ARRAY[%s]))
"""
_SINGLE = "SELECT ssb.send(%s, 'm', convert_to(rpad('', 200, '.'), 'UTF8'))"
_QUIET = "SELECT ssb.send(%s, 'm', 'quiet'::bytea)"
# By an index: to look through the known dialogs' messages would be counted as time on the way.
_QUIET_ARRIVED = """
SELECT count(*) FROM ssb.message_stored
 WHERE endpoint_id = (SELECT max(r.endpoint_id) FROM ssb.remote_conversation AS r)
"""
_QUIET_BY_HAND = "WITH a AS (INSERT INTO hand_away (body) VALUES ('quiet')) SELECT pg_notify('hand', '')"
_FIRST = 5
"""Messages that do not count: sessions make their plans."""
_HAND = """
CREATE TABLE hand_away (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea);
CREATE TABLE hand_come (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea);
"""
_TAKE_ALL_BY_HAND = """
WITH come AS (
    DELETE FROM hand_queue
     WHERE queuing_order IN (SELECT q.queuing_order FROM hand_queue AS q ORDER BY q.queuing_order LIMIT 10000)
    RETURNING queuing_order, body)
INSERT INTO arrived SELECT queuing_order, body FROM come
"""
_BATCH_BY_HAND = {
    into: f"""
INSERT INTO {into} (dialog, number, type, body{name})
SELECT %s::uuid, n, 'm', convert_to(rpad('', %s, '.'), 'UTF8'){value}
  FROM generate_series(%s::integer, %s::integer) AS n
"""
    for into, name, value in (
        ("hand_waiting", "", ""),
        ("hand_queue", ", enqueued_at", ", clock_timestamp()"),
    )
}
_TAKE_ALL = """
WITH come AS (SELECT queuing_order, message_body FROM ssb.receive('dbo.there', 10000))
INSERT INTO arrived SELECT queuing_order, message_body FROM come
"""


@dataclass
class Ratios:
    """Of one comparison, a figure of ours and of the other side for each round."""

    name: str
    unit: str
    ours: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)

    def line(self) -> str:
        """As it is printed."""
        ratios = sorted(ours / other for ours, other in zip(self.ours, self.others, strict=True))
        return (
            f"{self.name:44}{statistics.median(self.ours):12,.1f} |{statistics.median(self.others):12,.1f}"
            f" {self.unit:10}| {ratios[0]:.2f} / {statistics.median(ratios):.2f} / {ratios[-1]:.2f}"
        )


def _session_seconds(connection: Connection) -> float:
    return processor_seconds(connection.info.backend_pid) or 0.0


# ---------------------------------------------------------------------------- SEND


def _cost_of(connection: Connection, act: Callable[[], None], messages: int) -> float:
    before = _session_seconds(connection)
    act()
    return (_session_seconds(connection) - before) * 1e6 / messages


def _sending(server: BenchServer, number: int, in_set: Ratios, singly: Ratios) -> None:
    with pair_of(server, number) as pair:
        session = pair.here
        session.execute(_LOCAL)
        handles: dict[str, object] = {}
        for service in ("//There", "//Local"):
            row = session.execute(_BEGIN, [service]).fetchone()
            assert row is not None
            handles[service] = row[0]

        def batches(service: str, count: int = 20) -> Callable[[], None]:
            def act() -> None:
                for _ in range(count):
                    session.execute(_BATCH, [handles[service], SET, SET, 200, SET])

            return act

        def singles(service: str, count: int = 4) -> Callable[[], None]:
            def act() -> None:
                for _ in range(count):
                    with session.transaction(), session.pipeline():
                        for _ in range(SET):
                            session.execute(_SINGLE, [handles[service]])

            return act

        for service in handles:
            session.execute(_SINGLE, [handles[service]])
            batches(service, 2)()
            singles(service, 1)()
        for service, into in (("//There", "ours"), ("//Local", "others")):
            getattr(in_set, into).append(_cost_of(session, batches(service), 20 * SET))
            getattr(singly, into).append(_cost_of(session, singles(service), 4 * SET))


# ---------------------------------------------------------------------------- latency


def _wait_for(connection: Connection, count: str, wanted: int) -> None:
    """Looks five thousand times a second, so that looking leaves the processors to those who carry."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while connection.execute(count).fetchone() != (wanted,):
        if time.monotonic() > deadline:
            raise click.ClickException(f"message {wanted} has not arrived")
        time.sleep(0.0002)


def _carry_by_hand(near_dsn: str, far_dsn: str) -> None:
    """LISTENs for what is put into ``hand_away``, and carries it to ``hand_come``. Until it is ended."""
    with (
        psycopg.connect(near_dsn, autocommit=True) as near,
        psycopg.connect(far_dsn, autocommit=True) as far,
    ):
        near.execute("LISTEN hand")
        while True:
            if rows := near.execute("SELECT id, body FROM hand_away ORDER BY id").fetchall():
                far.execute(
                    "INSERT INTO hand_come (body) SELECT unnest(%s::bytea[])",
                    [[body for _, body in rows]],
                )
                near.execute("DELETE FROM hand_away WHERE id = ANY (%s)", [[one for one, _ in rows]])
            list(near.notifies(stop_after=1))


@contextmanager
def _carried_apart(pair: Pair) -> Iterator[None]:
    """By a daemon, and by hand, each in a process of its own."""
    pair.here.execute(_HAND)
    pair.there.execute(_HAND)
    addresses = ["--dsn", pair.dsns[0], "--address", f"{ADDRESS}={pair.dsns[1]}"]
    command = [sys.executable, "-m", "pgsb.cli.main", "broker", *addresses, "--log-level", "error"]
    hand = multiprocessing.get_context("spawn").Process(target=_carry_by_hand, args=pair.dsns)
    hand.start()
    daemon = subprocess.Popen(command)
    try:
        yield
    finally:
        daemon.terminate()
        hand.terminate()
        daemon.wait()
        hand.join()


def _latencies(pair: Pair, messages: int, known: int) -> tuple[float, float]:
    """Medians of ours and of what is made by hand, in milliseconds: message by message, by turns."""
    took: tuple[list[float], list[float]] = ([], [])
    with _carried_apart(pair):
        if known:
            send(pair, Load(None, known), known)
            wait_until_carried(pair)
        handle = pair.here.execute(_BEGIN, ["//There"]).fetchone()
        assert handle is not None
        turns = (
            (_QUIET, [handle[0]], _QUIET_ARRIVED),
            (_QUIET_BY_HAND, [], "SELECT count(*) FROM hand_come"),
        )
        for number in range(messages + _FIRST):
            for which in random.sample((0, 1), 2):
                statement, values, count = turns[which]
                time.sleep(0.02)
                began = time.perf_counter()
                pair.here.execute(statement, values)
                _wait_for(pair.there, count, number + 1)
                took[which].append(time.perf_counter() - began)
    ours, by_hand = (statistics.median(one[_FIRST:]) * 1e3 for one in took)
    return ours, by_hand


# ---------------------------------------------------------------------------- the paper's topology


@contextmanager
def _instances(server: BenchServer, number: int, senders: int) -> Iterator[list[str]]:
    """The target's DSN and then the senders'; without senders the target sends itself."""
    names = [f"bench_paper_{number}_{one}" for one in range(senders + 1)]
    with instances(server, names) as dsns:
        for place, dsn in enumerate(dsns):
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute("SELECT ssb.alter_database(NULL, 'NEW_BROKER')")
                if place == 0:
                    connection.execute("SELECT ssb.create_queue('dbo.there')")
                    connection.execute("SELECT ssb.create_service('//There', 'dbo.there', '{c}')")
                    connection.execute("CREATE TABLE arrived (id bigint NOT NULL, body bytea NOT NULL)")
                else:
                    connection.execute(f"SELECT ssb.create_route('There', '{ADDRESS}', '//There')".encode())
                if place > 0 or not senders:
                    connection.execute("SELECT ssb.create_queue('dbo.here')")
                    connection.execute("SELECT ssb.create_service('//Here', 'dbo.here', '{c}')")
        yield dsns


def _dialogs(connection: Connection) -> list[object]:
    rows = [connection.execute(_BEGIN, ["//There"]).fetchone() for _ in range(_DIALOGS)]
    return [row[0] for row in rows if row is not None]


def _send_all(connection: Connection, handles: Sequence[object], batches: int, first: int) -> None:
    for number in range(first, first + batches):
        connection.execute(_BATCH, [handles[number % len(handles)], _BATCH_OF, _BATCH_OF, 100, _BATCH_OF])


def _send_all_by_hand(into: str) -> Callable[[Connection, Sequence[object], int, int], None]:
    def send_all(connection: Connection, handles: Sequence[object], batches: int, first: int) -> None:
        for number in range(first, first + batches):
            turn = number // len(handles) * _BATCH_OF
            values = [handles[number % len(handles)], 100, turn, turn + _BATCH_OF - 1]
            connection.execute(_BATCH_BY_HAND[into].encode(), values)

    return send_all


def _take_into_table(connection: Connection, wanted: int, take: str = _TAKE_ALL) -> None:
    arrived = 0
    while arrived < wanted:
        found = connection.execute(take.encode()).rowcount
        arrived += found
        if not found:
            time.sleep(0.002)


def _session_by_hand(dsn: str) -> Connection:
    """Whatever statistics say of tables that are empty now and full then, rows are found by their indexes."""
    return psycopg.connect(dsn, autocommit=True, options="-c enable_seqscan=off -c enable_bitmapscan=off")


@contextmanager
def _carriers_by_hand(far_dsn: str, near_dsns: Sequence[str]) -> Iterator[None]:
    """A thread for each of the senders' instances carries its rows."""
    is_over = threading.Event()

    def carry(near_dsn: str) -> None:
        with _session_by_hand(near_dsn) as near, _session_by_hand(far_dsn) as far:
            sessions = hand_sessions(near, far)
            while not is_over.is_set():
                if not carry_set_by_hand(*sessions):
                    time.sleep(0.002)

    carriers = [threading.Thread(target=carry, args=(dsn,)) for dsn in near_dsns]
    for carrier in carriers:
        carrier.start()
    try:
        yield
    finally:
        is_over.set()
        for carrier in carriers:
            carrier.join()


def _seconds_of_sessions(admin: Connection) -> float:
    rows = admin.execute(
        "SELECT pid FROM pg_stat_activity"
        " WHERE datname LIKE 'bench_paper%' AND backend_type = 'client backend'"
    ).fetchall()
    return sum(processor_seconds(pid) or 0.0 for (pid,) in rows)


def _paper(
    server: BenchServer, number: int, messages: int, senders: int, *, by_hand: bool
) -> tuple[float, float]:
    """Messages a second, and microseconds of processor time a message."""
    take = _TAKE_ALL_BY_HAND if by_hand else _TAKE_ALL
    into = "hand_waiting" if senders else "hand_queue"
    send_all = _send_all_by_hand(into) if by_hand else _send_all
    with _instances(server, number, senders) as dsns, ExitStack() as stack:
        admin = stack.enter_context(server.connect())
        if by_hand:
            stack.enter_context(_carriers_by_hand(dsns[0], dsns[1:]))
        for dsn in () if by_hand else dsns[1:]:
            options = BrokerOptions(dsn, addresses={ADDRESS.lower(): dsns[0]})
            broker = stack.enter_context(EmbeddedBroker(options, lambda _: None))
            if not broker.wait_until_leading():
                raise click.ClickException("the daemon does not lead")
        sources = dsns[1:] or [dsns[0]] * 3
        sessions = [stack.enter_context(psycopg.connect(dsn, autocommit=True)) for dsn in sources]
        reader = stack.enter_context(
            _session_by_hand(dsns[0]) if by_hand else psycopg.connect(dsns[0], autocommit=True)
        )
        # Dialogs begin and sessions make their plans before the clock does.
        dialogs = [
            [uuid.uuid4() for _ in range(_DIALOGS)] if by_hand else _dialogs(session) for session in sessions
        ]
        for session, handles in zip(sessions, dialogs, strict=True):
            send_all(session, handles, _DIALOGS, 0)
        _take_into_table(reader, len(sessions) * _DIALOGS * _BATCH_OF, take)
        batches = messages // len(sessions) // _BATCH_OF
        wanted = batches * _BATCH_OF * len(sessions)
        threads = [
            threading.Thread(target=send_all, args=(session, handles, batches, _DIALOGS))
            for session, handles in zip(sessions, dialogs, strict=True)
        ]
        before, own, began = _seconds_of_sessions(admin), own_threads(), time.monotonic()
        for thread in threads:
            thread.start()
        _take_into_table(reader, wanted, take)
        took = time.monotonic() - began
        for thread in threads:
            thread.join()
        spent = _seconds_of_sessions(admin) - before + own_threads() - own
    return wanted / took, spent * 1e6 / wanted


def _say(ratios: Sequence[Ratios]) -> None:
    for one in ratios:
        click.echo(one.line())


@click.command()
@click.option("--postgres", help="Major version or bin directory.")
@click.option("--rounds", default=3, show_default=True)
@click.option(
    "--only",
    "parts",
    multiple=True,
    type=click.Choice(["send", "latency", "paper"]),
    help="All three if not given.",
)
@click.option("--messages", default=60_000, show_default=True, help="Of the paper's topology.")
@click.option("--known", default=0, show_default=True, help="Dialogs that are known beside the quiet one.")
@click.option("--quick", is_flag=True, help="One round.")
def main(
    postgres: str | None, rounds: int, parts: tuple[str, ...], messages: int, known: int, quick: bool
) -> None:
    """SEND to another instance, latency, and the paper's topology."""
    in_set, singly = Ratios("SEND, sets of 500: remote | local", "µs"), Ratios("SEND, singly", "µs")
    latency = Ratios(f"latency, {known:,} known dialogs: ours | by hand", "ms")
    rate = Ratios("paper's topology: three instances | one", "a second")
    processor = Ratios("paper's topology, processor time", "µs")
    hand_rate = Ratios("the same by hand", "a second")
    hand_processor = Ratios("the same by hand, processor time", "µs")
    asked = parts or ("send", "latency", "paper")
    with running(postgres) as server:
        conditions = machine()
        click.echo(f"PostgreSQL {server.version}, {conditions['cores']} cores, load {conditions['load']}")
        template = server.database(TEMPLATE)
        with template.connect() as connection:
            installer.install(connection)
            connection.execute(OBJECTS)
            if not quick:
                settle(connection)
        for number in range(1 if quick else rounds):
            if "send" in asked:
                _sending(server, 10 * number, in_set, singly)
            if "latency" in asked:
                with pair_of(server, 10 * number + 1) as pair:
                    for into, median in zip(
                        (latency.ours, latency.others),
                        _latencies(pair, 20 if quick else 100, known),
                        strict=True,
                    ):
                        into.append(median)
            if "paper" in asked:
                for by_hand, senders in random.sample(list(product((False, True), (3, 0))), 4):
                    found = _paper(server, 10 * number + 2 + senders, messages, senders, by_hand=by_hand)
                    pairs = (hand_rate, hand_processor) if by_hand else (rate, processor)
                    for ratios, figure in zip(pairs, found, strict=True):
                        (ratios.ours if senders else ratios.others).append(figure)
    shown = (in_set, singly, latency, rate, hand_rate, processor, hand_processor)
    _say([one for one in shown if one.ours])


if __name__ == "__main__":
    sys.exit(main())

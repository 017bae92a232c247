"""What sets cost: a loop of single SENDs in one transaction, and the floor that no queue can go below."""

import time
from collections.abc import Callable

from .peer import BODY
from .peers.bare import BareTable
from .peers.ours import Ours
from .report import OURS
from .run import Outcome, Say
from .scenarios import Scenario
from .server import BenchServer, Connection, pgbench

_LOOP = 1000


def sets(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Messages per second of one client."""
    own, bare = server.database("bench_sets"), server.database("bench_sets_bare")
    ours = Ours()
    rounds, messages = (3, 10_000) if quick else (7, 100_000)
    with own.connect() as connection, bare.connect() as other:
        for one in (connection, other):
            one.execute(f"SET synchronous_commit = {'on' if synchronous_commit else 'off'}")
        ours.install(own, connection)
        BareTable().install(bare, other)
        other.execute(
            "CREATE FUNCTION put(body bytea) RETURNS void LANGUAGE plpgsql"
            " AS $$ BEGIN INSERT INTO bare (grp, body) VALUES (1, put.body); END $$"
        )
        other.execute(_SAME_COLUMNS)
        loop = Outcome(_scenario(f"SEND, a loop of {_LOOP} in one transaction"))
        into = Outcome(_scenario("SEND, 1,000 a transaction, beside COPY"))
        out = Outcome(_scenario("RECEIVE TOP(10000), beside a bulk DELETE"))
        for _ in range(rounds):
            for name, place, connected, call in (
                (OURS, own, connection, f"ssb.send('{ours.handles[0]}', 'm', '{BODY}'::bytea)"),
                ("bare INSERT", bare, other, f"put('{BODY}'::bytea)"),
            ):
                _clear(connected)
                done = pgbench(
                    place,
                    [f"SELECT count({call}) FROM generate_series(1, {_LOOP});\n"],
                    clients=1,
                    seconds=2 if quick else 5,
                    synchronous_commit=synchronous_commit,
                )
                loop.rates.setdefault(name, []).append(done.rate * _LOOP)
            for connected in (connection, other):
                _clear(connected)
                connected.execute("VACUUM")
            into.rates.setdefault(OURS, []).append(_rate(messages, lambda: _send(connection, ours, messages)))
            into.rates.setdefault("COPY", []).append(_rate(messages, lambda: _copy(other, messages)))
            out.rates.setdefault(OURS, []).append(_rate(messages, lambda: _receive(connection)))
            out.rates.setdefault("bulk DELETE", []).append(
                _rate(messages, lambda: other.execute("DELETE FROM same RETURNING *"))
            )
    say("Sets")
    return [loop, into, out]


_SAME_COLUMNS = """
CREATE TABLE same (endpoint_id bigint, queuing_order bigint, message_sequence_number bigint,
                   enqueued_at timestamptz, queue_id integer, message_type_id integer, priority smallint,
                   validation char(2), body bytea);
CREATE INDEX ON same (queue_id, priority DESC, queuing_order);
CREATE INDEX ON same (endpoint_id, queuing_order)
"""


def _scenario(name: str) -> Scenario:
    return Scenario(name + ", 1 client", "special", 1, 1)


def _clear(connection: Connection) -> None:
    row = connection.execute("SELECT to_regnamespace('ssb') IS NOT NULL").fetchone()
    tables = "ssb.message_stored" if row and row[0] else "bare, same"
    connection.execute(f"TRUNCATE {tables}".encode())


def _rate(messages: int, work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return messages / (time.perf_counter() - started)


def _send(connection: Connection, ours: Ours, messages: int) -> None:
    for number in range(messages // 1000):
        handle = ours.handles[number % len(ours.handles)]
        connection.execute(ours.set_of(f"'{handle}'", 1000).encode())


def _copy(connection: Connection, messages: int) -> None:
    end = f"1\t2026-01-01\t1\t1\t5\tN\t{BODY}\n"
    with connection.cursor() as cursor, cursor.copy("COPY same FROM STDIN") as copy:
        for start in range(0, messages, 1000):
            copy.write("".join(f"1\t{start + i}\t{end}" for i in range(1000)))


def _receive(connection: Connection) -> None:
    statement = (
        "SELECT conversation_handle, message_type_name, message_body FROM ssb.receive('dbo.target', 10000)"
    )
    while connection.execute(statement).fetchone() is not None:
        pass

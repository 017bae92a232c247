"""What traces cost SEND and RECEIVE: where nobody traces, and where the session does.

Run: python benchmarks/tracing.py [--rounds N]
Processor time of the session's server process, by turns in one session: the runtime's functions without
their look at pgsb.traceparent, with it, and in a session that traces. The ratio of two turns next to each
other says what the look costs whatever else the machine does; printed are the median and the quartiles.
Last, the look by itself beside one SEND of a client with its commit, as `python -m benchmarks.queues` has it:
what a look costs, as a share of what that benchmark measures.
"""

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

import psycopg

from pgsb.runtime_sql import installer
from pgsb.server.embedded import PrivateServer

from .queues.server import ended_by_term

_MESSAGES = 2000
_LOOK = "current_setting('pgsb.traceparent', true) <> ''"
_FUNCTIONS = (
    "ssb.send(uuid, text, bytea)",
    "ssb.receive(text, bigint, uuid, uuid)",
)
_TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
_TURN = {
    "SEND": f"SELECT count(ssb.send(%s, 'DEFAULT', '\\x00'::bytea)) FROM generate_series(1, {_MESSAGES})",
    "RECEIVE": "SELECT count(*) FROM generate_series(1, 2000), LATERAL ssb.receive('dbo.q', 1)",
}


def processor_time(pid: int) -> int:
    """Nanoseconds."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def definitions(connection: psycopg.Connection[Any]) -> tuple[str, str]:
    """The functions as they are, and without the look: each IF of it is left out."""
    as_they_are = []
    for name in _FUNCTIONS:
        row = connection.execute("SELECT pg_get_functiondef(%s::regprocedure)", [name]).fetchone()
        assert row is not None
        as_they_are.append(str(row[0]))
    without = []
    for text in as_they_are:
        head, _, rest = text.partition(f"IF {_LOOK} THEN")
        assert rest, "the look is not where this looks for it"
        without.append(head.rstrip() + rest.partition("END IF;")[2])
    return "; ".join(as_they_are), "; ".join(without)


def main() -> None:
    """Print a row for each statement and kind of session."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with ended_by_term(), tempfile.TemporaryDirectory(prefix="pgsb-tracing-", dir="/dev/shm") as folder:
        Path(folder).chmod(0o711)
        server = PrivateServer(Path(folder), durable=False)
        try:
            with psycopg.connect(server.start(), autocommit=True) as connection:
                installer.install(connection)
                measure(connection, rounds)
                share(connection, rounds)
        finally:
            server.stop(immediate=True)


def measure(connection: psycopg.Connection[Any], rounds: int) -> None:
    """Turn about, and compare each turn with the one before it without the look."""
    connection.execute("SELECT ssb.create_queue('dbo.p'), ssb.create_queue('dbo.q')")
    connection.execute(
        "SELECT ssb.create_service('//p', 'dbo.p'), ssb.create_service('//q', 'dbo.q', '{DEFAULT}')"
    )
    row = connection.execute("SELECT ssb.begin_dialog('//p', '//q')").fetchone()
    assert row is not None
    with_look, without = definitions(connection)
    pid = connection.info.backend_pid
    ratios: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):
        spent: dict[tuple[str, str], int] = {}
        turns = [("without", without, ""), ("off", with_look, ""), ("on", with_look, _TRACE)]
        for kind, functions, trace in turns if number % 2 else reversed(turns):
            connection.execute(functions.encode())
            connection.execute("SELECT set_config('pgsb.traceparent', %s, false)", [trace])
            for statement, text in _TURN.items():
                began = processor_time(pid)
                connection.execute(
                    text.encode() if "%s" not in text else text.replace("%s", f"'{row[0]}'").encode()
                )
                spent[statement, kind] = processor_time(pid) - began
        connection.execute("TRUNCATE ssb.message_trace")
        # The first round warms up.
        for statement in _TURN:
            for kind in ("off", "on"):
                if number:
                    ratio = spent[statement, kind] / spent[statement, "without"]
                    ratios.setdefault((statement, kind), []).append(ratio)
    for (statement, kind), found in sorted(ratios.items()):
        low, middle, high = statistics.quantiles(found, n=4)
        print(f"{statement:8} traces {kind:3}  {middle:.3f} ({low:.3f} to {high:.3f}) of {len(found)} turns")


_LOOKS = 100_000
_LOOP = f"DO $$ BEGIN FOR i IN 1..{_LOOKS} LOOP %s END LOOP; END $$"


def share(connection: psycopg.Connection[Any], rounds: int) -> None:
    """One look beside one SEND of a client in a transaction of its own: the server's processor time."""
    row = connection.execute("SELECT ssb.begin_dialog('//p', '//q')").fetchone()
    assert row is not None
    connection.execute("SELECT set_config('pgsb.traceparent', NULL, false)")
    pid = connection.info.backend_pid
    looks, sends = [], []
    for _ in range(rounds):
        spent = []
        for body in (f"IF {_LOOK} THEN NULL; END IF;", ""):
            began = processor_time(pid)
            connection.execute((_LOOP % body).encode())
            spent.append(processor_time(pid) - began)
        looks.append((spent[0] - spent[1]) / _LOOKS)
        began = processor_time(pid)
        for _ in range(500):
            connection.execute("SELECT ssb.send(%s, 'DEFAULT', '\\x00'::bytea)", row)
        sends.append((processor_time(pid) - began) / 500)
    look, send = statistics.median(looks), statistics.median(sends)
    spread = statistics.quantiles(sends, n=4)
    part = 100 * look / send
    print(f"one look {look / 1000:.2f} µs, one SEND of a client {send / 1000:.0f} µs: {part:.2f} %;")
    print(f"the quartiles of SEND in this run lie {100 * (spread[2] - spread[0]) / send:.1f} % apart")


if __name__ == "__main__":
    main()

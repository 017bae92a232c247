"""From the commit of SEND to the return of a RECEIVE that waited, beside a LISTEN loop on a bare table.

Both sides are the same Python client, so its cost is in both figures.
"""

import statistics
import threading
import time
from collections.abc import Callable

from .peers.bare import BareTable
from .peers.ours import Ours
from .report import OURS
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import BenchServer, Connection

_BARE = "bare LISTEN loop"


def latency(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Idle readers: median and 99th percentile in milliseconds, one value a round."""
    messages = 100 if quick else 1000
    outcomes = {
        share: Outcome(
            Scenario(
                f"Latency of a waiting RECEIVE, p{share}",
                "special",
                1,
                1,
                targets=(Target((_BARE,), 1.5, at_most=True),),
                unit="ms",
            )
        )
        for share in (50, 99)
    }
    own, bare = server.database("bench_latency"), server.database("bench_latency_bare")
    ours = Ours()
    with own.connect() as connection, bare.connect() as other:
        ours.install(own, connection)
        BareTable().install(bare, other)
        for _ in range(2 if quick else 5):
            for name, place, send, wait in (
                (OURS, own, _send(ours.handles[0]), _wait),
                (_BARE, bare, _notify, _listen),
            ):
                times = _measure(place, send, wait, messages)
                for share, outcome in outcomes.items():
                    cut = statistics.quantiles(times, n=100)[share - 1]
                    outcome.rates.setdefault(name, []).append(cut)
    say("Latency of a waiting RECEIVE")
    return list(outcomes.values())


def _measure(
    server: BenchServer,
    send: Callable[[Connection], None],
    wait: Callable[[Connection], bool],
    messages: int,
) -> list[float]:
    """Send one message after the other, each when the reader has waited for a while."""
    arrived = threading.Semaphore(0)
    times: list[float] = []
    came_at = 0.0
    stopping = False

    def read() -> None:
        nonlocal came_at
        with server.connect() as reader:
            if wait is _listen:
                reader.execute("LISTEN bare")
            while not stopping:
                if wait(reader):
                    came_at = time.perf_counter()
                    arrived.release()

    thread = threading.Thread(target=read)
    thread.start()
    try:
        with server.connect() as sender:
            for _ in range(messages):
                time.sleep(0.02)
                send(sender)
                committed_at = time.perf_counter()
                if not arrived.acquire(timeout=10):
                    raise AssertionError("a message did not arrive within 10 seconds")
                times.append(max(0.0, (came_at - committed_at) * 1000))
    finally:
        stopping = True
        thread.join()
    return times


def _send(handle: str) -> Callable[[Connection], None]:
    def send(connection: Connection) -> None:
        connection.execute("SELECT ssb.send(%s, 'm', 'x'::bytea)", (handle,))

    return send


def _wait(connection: Connection) -> bool:
    connection.execute(
        "CALL ssb.wait_for_message('dbo.target', clock_timestamp() + interval '500 ms', may_commit => true)"
    )
    return connection.execute("SELECT * FROM ssb.receive('dbo.target', 1)").fetchone() is not None


def _notify(connection: Connection) -> None:
    with connection.transaction():
        connection.execute("INSERT INTO bare (grp, body) VALUES (1, 'x'::bytea)")
        connection.execute("NOTIFY bare")


def _listen(connection: Connection) -> bool:
    for _ in connection.notifies(timeout=0.5, stop_after=1):
        pass
    chosen = "SELECT id FROM bare ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
    row = connection.execute(f"DELETE FROM bare WHERE id = ({chosen}) RETURNING id, grp, body").fetchone()
    return row is not None

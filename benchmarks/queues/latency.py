"""From the commit of SEND to the return of a RECEIVE that waited, beside a LISTEN loop on a bare table.

Ours is a compiled procedure with WAITFOR (RECEIVE …). All are called by the same
Python client, so its cost is in every figure. The lower bound that waits inside the server: a
procedure that tries its DELETE on the bare table, and sleeps for the shortest time that
there is, again and again.
"""

import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..tsql import run_script
from .peers.bare import BareTable
from .peers.ours import Ours
from .report import OURS
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import BenchServer, Connection, pgbench

_BARE = "bare LISTEN loop"
_LOWER_BOUND = "lower bound that waits in the server"

_READER = """
CREATE PROCEDURE dbo.TakeOne @found INT OUTPUT AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @handle UNIQUEIDENTIFIER, @body VARBINARY(MAX);
    WAITFOR (RECEIVE TOP (1) @handle = conversation_handle, @body = message_body FROM dbo.target),
        TIMEOUT 500;
    SET @found = CASE WHEN @handle IS NULL THEN 0 ELSE 1 END;
END;
"""

# pg_sleep rounds up to whole milliseconds.
_BARE_READER = """
CREATE PROCEDURE take_one(INOUT taken integer DEFAULT 0)
LANGUAGE plpgsql
AS $$
BEGIN
    FOR v_round IN 1..500 LOOP
        DELETE FROM bare WHERE id = (SELECT id FROM bare ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED);
        IF FOUND THEN
            taken := 1;
            RETURN;
        END IF;
        COMMIT;
        PERFORM pg_sleep(0.0009);
    END LOOP;
END;
$$;
"""


def latency(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Idle, and beside the same work at half speed: median and 99th percentile in ms, one value a round."""
    messages = 200 if quick else 1000
    own, bare = server.database("bench_latency"), server.database("bench_latency_bare")
    ours, table = Ours(), BareTable()
    outcomes: list[Outcome] = []
    with own.connect() as connection, bare.connect() as other:
        ours.install(own, connection)
        run_script(connection, _READER)
        connection.execute(
            "SELECT ssb.create_queue('dbo.busy'),"
            " ssb.create_service('busy', queue => 'dbo.busy', contracts => '{c}')"
        )
        busy = connection.execute("SELECT ssb.begin_dialog('source', 'busy', 'c')").fetchone()
        assert busy is not None
        table.install(bare, other)
        other.execute("CREATE TABLE busy (LIKE bare INCLUDING ALL)")
        other.execute(_BARE_READER)
        works = {
            OURS: (
                own,
                f"SELECT ssb.send('{busy[0]}', 'm', 'x'::bytea);\n"
                "SELECT * FROM ssb.receive('dbo.busy', 1);\n",
            ),
            _BARE: (
                bare,
                "INSERT INTO busy (grp, body) VALUES (1, 'x');\n"
                "DELETE FROM busy WHERE id = (SELECT id FROM busy ORDER BY id LIMIT 1"
                " FOR UPDATE SKIP LOCKED) RETURNING id, grp, body;\n",
            ),
        }
        for load in ("idle", "half load"):
            found = {share: _outcome(load, share) for share in (50, 99)}
            for _ in range(3 if quick else 5):
                for name, send, wait in (
                    (OURS, _send(ours.handles[0]), _wait),
                    (_BARE, _notify, _listen),
                    (_LOWER_BOUND, _insert, _look),
                ):
                    place, script = works[OURS if name == OURS else _BARE]
                    with _beside(place, script, load, messages * 0.05, synchronous_commit):
                        times = _measure(place, send, wait, messages)
                    for share, outcome in found.items():
                        outcome.rates.setdefault(name, []).append(
                            statistics.quantiles(times, n=100)[share - 1]
                        )
            outcomes += found.values()
        outcomes.append(_idle_cost(own, 4 if quick else 20))
    say("Latency of a waiting RECEIVE")
    return outcomes


def _outcome(load: str, share: int) -> Outcome:
    return Outcome(
        Scenario(
            f"Latency of a waiting RECEIVE, {load}, p{share}",
            "special",
            1,
            1,
            targets=(Target((_BARE,), 1.5, at_most=True),),
            unit="ms",
            limits=(_LOWER_BOUND,),
        )
    )


@contextmanager
def _beside(
    server: BenchServer, script: str, load: str, seconds: float, synchronous_commit: bool
) -> Iterator[None]:
    """The same kind of work on another queue, at half the speed that one client reaches."""
    if load == "idle":
        yield
        return
    full = pgbench(server, [script], clients=1, seconds=1, synchronous_commit=synchronous_commit)
    rate = max(1.0, full.rate / 2)
    work = threading.Thread(
        target=pgbench,
        args=(server, [script]),
        kwargs={
            "clients": 1,
            "seconds": seconds,
            "rate": rate,
            "synchronous_commit": synchronous_commit,
        },
    )
    work.start()
    try:
        yield
    finally:
        work.join()


def _idle_cost(server: BenchServer, seconds: int) -> Outcome:
    """Share of a core that a waiting RECEIVE on an empty queue takes, in percent, over ten of them."""
    waiting = [server.connect() for _ in range(10)]
    statement = (
        "CALL ssb.wait_for_message('dbo.target', clock_timestamp() + make_interval(secs => {}),"
        " may_commit => true)"
    )
    threads = [
        threading.Thread(target=one.execute, args=(statement.format(seconds + 7).encode(),))
        for one in waiting
    ]
    for thread in threads:
        thread.start()
    time.sleep(6)  # until each has come to its longest pause
    pids = [one.info.backend_pid for one in waiting]
    before = sum(map(_processor_seconds, pids))
    time.sleep(seconds)
    used = sum(map(_processor_seconds, pids)) - before
    for thread in threads:
        thread.join()
    for one in waiting:
        one.close()
    outcome = Outcome(
        Scenario("Idle WAITFOR, each (target: under 0.2)", "special", 1, 10, unit="% of a core")
    )
    outcome.rates[OURS] = [used / seconds / len(pids) * 100]
    return outcome


def _processor_seconds(pid: int) -> float:
    """Time that a process has run, from Linux's scheduler, which counts nanoseconds."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


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
                    raise AssertionError(f"a message did not arrive within 10 seconds ({wait.__name__})")
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
    row = connection.execute("CALL dbo.takeone(NULL, NULL)").fetchone()
    return row is not None and row[0] == 1


def _notify(connection: Connection) -> None:
    with connection.transaction():
        connection.execute("INSERT INTO bare (grp, body) VALUES (1, 'x'::bytea)")
        connection.execute("NOTIFY bare")


def _insert(connection: Connection) -> None:
    connection.execute("INSERT INTO bare (grp, body) VALUES (1, 'x'::bytea)")


def _look(connection: Connection) -> bool:
    row = connection.execute("CALL take_one()").fetchone()
    return row is not None and row[0] == 1


def _listen(connection: Connection) -> bool:
    for _ in connection.notifies(timeout=0.5, stop_after=1):
        pass
    chosen = "SELECT id FROM bare ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
    row = connection.execute(f"DELETE FROM bare WHERE id = ({chosen}) RETURNING id, grp, body").fetchone()
    return row is not None

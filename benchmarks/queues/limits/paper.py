"""The paper's workload: a bare table, the lower bound with dialogs, and ours; and which half is expensive.

The lower bound sends as `LowerBoundSends`, and receives up to 10,000 messages of one dialog in one
statement into the table: no table variable, no message types, no states, no errors.
"""

from .. import paper as workload
from ..paper import CLIENTS, READER, READERS, TARGET, Side, round_trip
from ..peers.lower_bound import LowerBoundQueue
from ..profile import Watch
from ..run import Outcome, Say
from ..scenarios import Scenario
from ..server import BenchServer, pgbench, settle

# So long the sessions' beginnings do not count in profiles.
_SKIP = 1


def paper(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """End to end, with the processor time of either half; and the senders without any reader."""
    sides = [workload.bare(server), _lower_bound(server), workload.ours(server)]
    whole = _outcome(f"the paper's workload, {CLIENTS} senders, {READERS} readers TOP(10000)")
    senders = _outcome(f"the paper's workload, {CLIENTS} senders and no reader")
    settle(sides[0].connection)
    for number in range(3 if quick else 7):
        for side in sides:
            side.clear()
            _both(whole, side, 6 if quick else 20, synchronous_commit)
            side.clear()
            _senders_alone(senders, side, 2 if quick else 8, synchronous_commit)
        say(f"{whole.scenario.name}: round {number + 1}")
    for side in sides:
        side.clear()
        side.connection.close()
    return [whole, senders]


def _outcome(name: str) -> Outcome:
    return Outcome(
        Scenario(f"Limits: {name}", "special", 1, CLIENTS, targets=TARGET, limits=(LowerBoundQueue.name,))
    )


def _lower_bound(server: BenchServer) -> Side:
    peer = LowerBoundQueue()
    own = server.database("bench_paper_lower_bound")
    connection = own.connect()
    peer.install(own, connection)
    connection.execute("CREATE TABLE arrived (id bigint NOT NULL, body text NOT NULL)")
    scripts = peer.enqueue(1)
    assert scripts is not None
    read = (
        "INSERT INTO arrived (id, body) SELECT r.type_id, convert_from(r.body, 'UTF8')"
        " FROM receive(10000) AS r;\n"
    )
    return Side(peer, own, connection, scripts[0], read, "arrived")


def _both(outcome: Outcome, side: Side, seconds: float, synchronous_commit: bool) -> None:
    with Watch(side.server, _SKIP) as senders, Watch(side.server, _SKIP, READER) as readers:
        rate = round_trip(side, seconds, synchronous_commit)
    outcome.rates.setdefault(side.peer.name, []).append(rate)
    for who, watch in (("senders", senders), ("readers", readers)):
        if (seen := watch.profile(rate)) is not None:
            outcome.profiles.setdefault(f"{side.peer.name}, {who}", []).append(seen)


def _senders_alone(outcome: Outcome, side: Side, seconds: float, synchronous_commit: bool) -> None:
    with Watch(side.server, _SKIP) as watch:
        done = pgbench(
            side.server,
            [side.send],
            clients=CLIENTS,
            seconds=seconds,
            synchronous_commit=synchronous_commit,
            warm_up=_SKIP,
        )
    left = side.peer.left(side.connection)
    assert left == done.transactions, f"{side.peer.name}: {done.transactions} were sent, {left} wait"
    outcome.rates.setdefault(side.peer.name, []).append(done.rate)
    if (seen := watch.profile(done.rate)) is not None:
        outcome.profiles.setdefault(side.peer.name, []).append(seen)

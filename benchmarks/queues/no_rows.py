"""Readers that find nothing free: fewer groups than readers, and an empty queue that is polled."""

from .peers.bare import BareTable
from .peers.ours import Ours
from .profile import Watch
from .run import Contender, Outcome, Say, contenders
from .scenarios import Scenario, Target
from .server import BenchServer, pgbench

_READERS = 8
_TARGET = (Target(("bare table",), 1.2),)


def no_rows(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Beside a bare table with an advisory lock per group: messages/s of 8 readers, and looks/s at nothing.

    The processor time is that of one message, of all the looks that found none included; or of one look.
    """
    rounds, seconds = (3, 2) if quick else (7, 8)
    ready = contenders(server, (Ours, BareTable), say)
    outcomes = []
    for groups in (2, 4, 16):
        name = f"RECEIVE TOP(1), {groups} groups, {_READERS} readers"
        outcome = Outcome(Scenario(name, "special", 1, _READERS, targets=_TARGET))
        for _ in range(rounds):
            for one in ready:
                read_few_groups(outcome, one, groups, seconds, synchronous_commit)
        outcomes.append(outcome)
        say(name)
    for clients in (1, _READERS):
        name = f"RECEIVE from an empty queue, {clients} polling"
        outcome = Outcome(Scenario(name, "special", 1, clients, unit="looks/s"))
        for _ in range(rounds):
            for one in ready:
                one.peer.clear(one.connection)
                _look(outcome, one, clients, seconds, synchronous_commit)
        outcomes.append(outcome)
        say(name)
    for one in ready:
        one.connection.close()
    return outcomes


def read_few_groups(
    outcome: Outcome, one: Contender, groups: int, seconds: int, synchronous_commit: bool
) -> None:
    """A round of eight readers on so many groups: messages/s, and the profile of one."""
    one.peer.clear(one.connection)
    # More than is read in that time: at its end a queue shows its idle cost instead.
    filled = 20_000 * (seconds + 1)
    one.peer.fill(one.connection, filled, groups, 1)
    one.connection.execute("VACUUM ANALYZE")
    _look(outcome, one, _READERS, seconds, synchronous_commit, filled)
    assert one.peer.left(one.connection) > 0


def _look(
    outcome: Outcome,
    one: Contender,
    clients: int,
    seconds: int,
    synchronous_commit: bool,
    filled: int | None = None,
) -> None:
    """Count looks, or where messages were ``filled`` in, those that found one."""
    scripts = one.peer.grouped()
    assert scripts is not None
    with Watch(one.server, skip=1) as watch:
        done = pgbench(
            one.server,
            scripts,
            clients=clients,
            seconds=seconds,
            synchronous_commit=synchronous_commit,
            warm_up=1,
        )
    rate = done.rate
    if filled is not None:
        rate *= (filled - one.peer.left(one.connection)) / done.transactions
    outcome.rates.setdefault(one.peer.name, []).append(rate)
    if (seen := watch.profile(rate)) is not None:
        outcome.profiles.setdefault(one.peer.name, []).append(seen)

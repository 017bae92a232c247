"""RECEIVE TOP(1) with groups in order: the bare table, the lower bound with either lock, and ours.

The bare table, with advisory locks, has one statement that is not in a function. The lower bound does in a
function, with its owner's rights and a pinned search_path, what keeps a group in order, and no more: no
states, no errors, no second queue. Each of them reads a group's messages after it has the group's lock or,
as the bare table does, returns no rows where what it saw is gone.
"""

from collections.abc import Sequence
from contextlib import ExitStack

from psycopg.pq import TransactionStatus

from ..no_rows import read_few_groups
from ..peers.bare import BareTable
from ..peers.lower_bound import AdvisoryReceives, LowerBoundReceives
from ..peers.ours import Ours
from ..run import Contender, Outcome, Say, contenders, run
from ..scenarios import Scenario, Target
from ..server import BenchServer
from .order import READERS, check_order
from .slices import UNCOUNTED, Caller, calls_of, last_statement, take_turns

_TARGET = (Target((BareTable.name,), 1.2),)
_LOWER_BOUNDS = (LowerBoundReceives.name, AdvisoryReceives.name)


def groups(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Processor time of a message, alone and beside other readers; of a look at nothing; rates of eight."""
    ready = contenders(server, (BareTable, LowerBoundReceives, AdvisoryReceives, Ours), say)
    for one in ready:
        if not isinstance(one.peer, Ours):  # `verify` has checked ours
            check_order(one, 4000 if quick else 40_000)
    outcomes = []
    for size, others, calls in ((10, 0, 50), (10, 7, 8), (10, 7, 50), (1000, 7, 8)):
        for setting in ("off", "on"):
            outcomes.append(_price(ready, size, others, calls, setting, quick))
            say(outcomes[-1].scenario.name)
    for messages in (2000, 60_000):
        outcomes.append(_price_of_nothing(ready, messages, quick))
        say(outcomes[-1].scenario.name)
    for size in (10, 1000):
        # So many messages that none has to be added for the speed, which would add groups.
        messages = 100_000 if quick else 400_000
        scenario = Scenario(
            f"Limits: RECEIVE TOP(1), {messages // size:,} groups of {size:,}, {READERS} readers",
            "grouped",
            1,
            READERS,
            messages,
            messages // size,
            _TARGET,
            limits=_LOWER_BOUNDS,
        )
        outcomes.append(
            run(
                scenario,
                ready,
                rounds=3 if quick else 7,
                seconds=2 if quick else 8,
                synchronous_commit=synchronous_commit,
                profile=True,
                say=say,
            )
        )
    for count in (2, 10):
        name = f"Limits: RECEIVE TOP(1), {count} groups, {READERS} readers"
        outcome = Outcome(Scenario(name, "special", 1, READERS, targets=_TARGET, limits=_LOWER_BOUNDS))
        for _ in range(3 if quick else 7):
            for one in ready:
                read_few_groups(outcome, one, count, 2 if quick else 8, synchronous_commit)
        outcomes.append(outcome)
        say(name)
    for one in ready:
        one.connection.close()
    return outcomes


def _price(
    ready: Sequence[Contender], size: int, others: int, calls: int, setting: str, quick: bool
) -> Outcome:
    """Microseconds a message of one reader, in slices of so many calls.

    As many groups as there are ``others`` are in their hands for the time of a slice.
    """
    slices = (2000 if quick else 6000) // calls
    # Each of those that are free has more than is read of it, also where all are read from evenly.
    count = max(20, 2 * (calls_of(slices, calls) + slices * others) // size)
    name = f"Limits: RECEIVE TOP(1), groups of {size:,}"
    if others:
        name += f", {others} in other hands for {UNCOUNTED + calls} messages"
    name += f", processor time, synchronous_commit {setting}"
    outcome = Outcome(Scenario(name, "special", 1, 1, unit="us a message"))
    with ExitStack() as stack:
        hands = []
        for one in ready:
            one.connection.execute(f"SET synchronous_commit = {setting}".encode())
            _fill(one, count * size, count)
            hands.append(stack.enter_context(_Others(one, others)))

        def pass_on(number: int) -> None:
            for some in hands:
                some.take()

        take_turns(outcome, _callers(ready), slices, calls, before=pass_on)
    for one in ready:
        one.peer.clear(one.connection)
    return outcome


def _price_of_nothing(ready: Sequence[Contender], messages: int, quick: bool) -> Outcome:
    """Microseconds of a look while both groups of the queue are in other hands."""
    name = f"Limits: RECEIVE that finds nothing free, 2 groups, {messages:,} messages, processor time"
    outcome = Outcome(Scenario(name, "special", 1, 1, unit="us a look"))
    with ExitStack() as stack:
        for one in ready:
            _fill(one, messages, 2)
            stack.enter_context(_Others(one, 2)).take()
        take_turns(outcome, _callers(ready), slices=10 if quick else 40, calls=10)
        for one in ready:
            left = one.peer.left(one.connection)
            assert left == messages, f"{one.peer.name} received {messages - left} messages of locked groups"
    for one in ready:
        one.peer.clear(one.connection)
    return outcome


def _fill(one: Contender, messages: int, count: int) -> None:
    one.peer.clear(one.connection)
    one.peer.fill(one.connection, messages, count, 1)
    one.connection.execute("VACUUM ANALYZE")


def _statement(one: Contender) -> str:
    scripts = one.peer.grouped()
    assert scripts is not None
    return last_statement(one.connection, scripts[0])


def _callers(ready: Sequence[Contender]) -> list[Caller]:
    return [Caller(one.peer.name, one.connection, _statement(one)) for one in ready]


class _Others:
    """Readers that stay in their transactions, each with one message."""

    def __init__(self, contender: Contender, readers: int) -> None:
        self._statement = _statement(contender).encode()
        self._sessions = [contender.server.connect() for _ in range(readers)]

    def __enter__(self) -> "_Others":
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._sessions:
            one.close()

    def take(self) -> None:
        """All commit what they have; then each receives the next that is free."""
        for one in self._sessions:
            if one.info.transaction_status == TransactionStatus.INTRANS:
                one.execute("COMMIT")
        for one in self._sessions:
            one.execute("BEGIN")
            assert one.execute(self._statement).fetchone() is not None

"""SEND and RECEIVE, from a row in a table to the lower bound that keeps conversations; and ours."""

from collections.abc import Sequence

from ..peers.bare import BareTable
from ..peers.lower_bound import (
    FunctionReceives,
    FunctionSends,
    LowerBoundReceives,
    LowerBoundSends,
    OpenSends,
    PinnedReceives,
    PinnedSends,
    RightfulSends,
    RowAlone,
    StatementReceives,
    StatementSends,
)
from ..peers.ours import Ours
from ..peers.pgmq import Pgmq
from ..run import Contender, Outcome, Say, contenders, run
from ..scenarios import Scenario, Target
from ..server import BenchServer
from .slices import Caller, calls_of, last_statement, take_turns

_SEND = (
    RowAlone,
    BareTable,
    StatementSends,
    FunctionSends,
    PinnedSends,
    LowerBoundSends,
    RightfulSends,
    OpenSends,
)
_RECEIVE = (BareTable, StatementReceives, FunctionReceives, PinnedReceives, LowerBoundReceives)
# Between whom there are targets.
_RIVALS = (BareTable, LowerBoundSends, LowerBoundReceives, Ours, Pgmq)
_LOWER_BOUND = (LowerBoundSends.name,)


def statements(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """The price of each step, and rates of those between whom there are targets. Five minutes when quick."""
    bare, pgmq = Target(("bare table",), 0.75), Target(("pgmq",), 1.3)
    ready = contenders(server, (*_SEND, Ours, Pgmq), say)
    outcomes = _prices("SEND", ready, 1, quick, say)
    outcomes += _prices("SEND of 1,000", ready, 1000, quick, say)
    for clients in (1, 8):
        name = f"Limits: SEND, 1 a transaction, {clients} clients"
        scenario = Scenario(name, "enqueue", 1, clients, targets=(bare, pgmq), limits=_LOWER_BOUND)
        outcomes.append(_rates(scenario, ready, quick, synchronous_commit, say))
    scenario = Scenario(
        "Limits: SEND, 1,000 a transaction",
        "enqueue",
        1000,
        1,
        targets=(Target(("pgmq",), 1.0),),
        limits=_LOWER_BOUND,
    )
    outcomes.append(_rates(scenario, ready, quick, synchronous_commit, say))
    for one in ready:
        one.connection.close()

    ready = contenders(server, (*_RECEIVE, Ours), say)
    outcomes += _prices("RECEIVE TOP(1)", ready, 1, quick, say)
    outcomes += _prices("RECEIVE TOP(1000)", ready, 1000, quick, say)
    targets = (Target(("bare table",), 0.9),)
    for clients in (1, 8):
        name = f"Limits: RECEIVE TOP(1), 10,000 groups, {clients} readers"
        scenario = Scenario(name, "dequeue", 1, clients, 20_000, 10_000, targets, limits=_LOWER_BOUND)
        outcomes.append(_rates(scenario, ready, quick, synchronous_commit, say))
    for one in ready:
        one.connection.close()
    return outcomes


def _rates(
    scenario: Scenario, ready: Sequence[Contender], quick: bool, synchronous_commit: bool, say: Say
) -> Outcome:
    return run(
        scenario,
        [one for one in ready if type(one.peer) in _RIVALS],
        rounds=3 if quick else 7,
        seconds=2 if quick else 8,
        synchronous_commit=synchronous_commit,
        profile=True,
        say=say,
    )


def _prices(what: str, ready: Sequence[Contender], batch: int, quick: bool, say: Say) -> list[Outcome]:
    """Microseconds of processor time a message, one number a slice; without and with the flush."""
    outcomes = []
    slices, calls = 40 if quick else 120, 50 if batch == 1 else 3
    is_send = what.startswith("SEND")

    def make_room(number: int) -> None:
        if is_send and number % 10 == 0:
            for one in ready:
                one.peer.clear(one.connection)

    for setting in ("off", "on"):
        name = f"Limits: {what}, processor time, synchronous_commit {setting}"
        outcome = Outcome(Scenario(name, "special", batch, 1, unit="us a message"))
        callers: list[Caller] = []
        for one in ready:
            one.connection.execute(f"SET synchronous_commit = {setting}".encode())
            one.peer.clear(one.connection)
            if is_send:
                scripts = one.peer.enqueue(batch)
            else:
                messages = calls_of(slices, calls) * batch
                one.peer.fill(one.connection, messages, max(1, messages // batch // 2), batch)
                scripts = one.peer.dequeue(batch)
            assert scripts is not None
            callers.append(Caller(one.peer.name, one.connection, last_statement(one.connection, scripts[0])))
        take_turns(outcome, callers, slices, calls, before=make_room)
        for one in ready:
            one.peer.clear(one.connection)
        say(name)
        outcomes.append(outcome)
    return outcomes

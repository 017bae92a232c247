"""How cheap a queue with conversations can be: the least, step by step, beside ours.

So what each thing costs is seen, how far a target can be reached at all, and how far ours is from that.

The prices are processor time of the server process, in slices of a few calls that take turns: they tell
steps apart that differ by a few hundredths, whatever else the machine does.
"""

import random
import re
from collections.abc import Sequence
from uuid import UUID

from .peers.bare import BareTable
from .peers.least import (
    FunctionReceives,
    FunctionSends,
    LeastReceives,
    LeastSends,
    OpenSends,
    PinnedReceives,
    PinnedSends,
    RightfulSends,
    RowAlone,
    StatementReceives,
    StatementSends,
)
from .peers.ours import Ours
from .peers.pgmq import Pgmq
from .profile import processor_seconds
from .run import Contender, Outcome, Say, contenders, run
from .scenarios import Scenario, Target
from .server import BenchServer, Connection

_SEND = (
    RowAlone,
    BareTable,
    StatementSends,
    FunctionSends,
    PinnedSends,
    LeastSends,
    RightfulSends,
    OpenSends,
)
_RECEIVE = (BareTable, StatementReceives, FunctionReceives, PinnedReceives, LeastReceives)
# Between whom there are targets.
_RIVALS = (BareTable, LeastSends, LeastReceives, Ours, Pgmq)
_LEAST = LeastSends.name


def limits(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """The price of each step, and rates of those between whom there are targets. Five minutes when quick."""
    bare, pgmq = Target(("bare table",), 0.75), Target(("pgmq",), 1.3)
    ready = contenders(server, (*_SEND, Ours, Pgmq), say)
    outcomes = _prices("SEND", ready, 1, quick, say)
    outcomes += _prices("SEND of 1,000", ready, 1000, quick, say)
    for clients in (1, 8):
        name = f"Limits: SEND, 1 a transaction, {clients} clients"
        scenario = Scenario(name, "enqueue", 1, clients, targets=(bare, pgmq), limit=_LEAST)
        outcomes.append(_rates(scenario, ready, quick, synchronous_commit, say))
    scenario = Scenario(
        "Limits: SEND, 1,000 a transaction",
        "enqueue",
        1000,
        1,
        targets=(Target(("pgmq",), 1.0),),
        limit=_LEAST,
    )
    outcomes.append(_rates(scenario, ready, quick, synchronous_commit, say))
    _close(ready)

    ready = contenders(server, (*_RECEIVE, Ours), say)
    outcomes += _prices("RECEIVE TOP(1)", ready, 1, quick, say)
    outcomes += _prices("RECEIVE TOP(1000)", ready, 1000, quick, say)
    targets = (Target(("bare table",), 0.9),)
    for clients in (1, 8):
        name = f"Limits: RECEIVE TOP(1), 10,000 groups, {clients} readers"
        scenario = Scenario(name, "dequeue", 1, clients, 20_000, 10_000, targets, limit=_LEAST)
        outcomes.append(_rates(scenario, ready, quick, synchronous_commit, say))
    _close(ready)
    return outcomes


def _close(ready: Sequence[Contender]) -> None:
    for one in ready:
        one.connection.close()


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
    for setting in ("off", "on"):
        name = f"Limits: {what}, processor time, synchronous_commit {setting}"
        outcome = Outcome(Scenario(name, "special", batch, 1, unit="us a message"))
        statements: list[tuple[Contender, str]] = []
        for one in ready:
            one.connection.execute(f"SET synchronous_commit = {setting}".encode())
            one.peer.clear(one.connection)
            if what.startswith("SEND"):
                scripts = one.peer.enqueue(batch)
            else:
                messages = slices * (calls + _UNCOUNTED) * batch
                one.peer.fill(one.connection, messages, max(1, messages // batch // 2), batch)
                scripts = one.peer.dequeue(batch)
            assert scripts is not None
            statements.append((one, _statement(one.connection, scripts[0])))
        for number in range(slices):
            random.shuffle(statements)
            for one, statement in statements:
                if what.startswith("SEND") and number % 10 == 0:
                    one.peer.clear(one.connection)
                took = _processor_time(one.connection, statement, calls)
                if took is not None:
                    outcome.rates.setdefault(one.peer.name, []).append(took / calls / batch * 1e6)
        for one in ready:
            one.peer.clear(one.connection)
        outcome.rates = {one.peer.name: outcome.rates[one.peer.name] for one in ready if outcome.rates}
        say(name)
        outcomes.append(outcome)
    return outcomes


# Calls at a slice's beginning: plans that are old are made anew, and others have used the caches.
_UNCOUNTED = 3


def _processor_time(connection: Connection, statement: str, calls: int) -> float | None:
    """Seconds that the server's process takes for the calls; None where the system does not tell."""
    for _ in range(_UNCOUNTED):
        connection.execute(statement.encode(), prepare=True)
    before = processor_seconds(connection.info.backend_pid)
    for _ in range(calls):
        connection.execute(statement.encode(), prepare=True)
    after = processor_seconds(connection.info.backend_pid)
    return None if before is None or after is None else after - before


def _statement(connection: Connection, script: str) -> str:
    """The last statement of a pgbench script, with what the lines before it give to the first client."""
    values = {"client_id": "0"}
    *before, last = [line for line in script.splitlines() if line]
    for line in before:
        words = line.split()
        if words[-1] == "\\gset":
            cursor = connection.execute(_filled(line.removesuffix("\\gset"), values).encode())
            row = cursor.fetchone()
            assert row is not None and cursor.description is not None
            values |= {
                column.name: f"'{value}'" if isinstance(value, UUID) else str(value)
                for column, value in zip(cursor.description, row, strict=True)
            }
        elif words[:1] == ["\\set"]:
            values[words[1]] = "1"
    return _filled(last.rstrip(";"), values)


def _filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"(?<!:):(\w+)\b", lambda match: values.get(match[1], match[0]), text)

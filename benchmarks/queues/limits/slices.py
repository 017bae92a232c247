"""Processor time of the server's process, in slices of a few calls that take turns.

So steps are told apart that differ by a few hundredths, whatever else the machine does.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from ..profile import processor_seconds
from ..run import Outcome
from ..server import Connection

# Calls at a slice's beginning: plans that are old are made anew, and others have used the caches.
UNCOUNTED = 3


@dataclass(frozen=True)
class Caller:
    """A statement, and the session that executes it; ``name`` is whose it is."""

    name: str
    connection: Connection
    statement: str

    def call(self, times: int) -> float | None:
        """Execute it so often. Seconds that the server's process took, None where the system tells none."""
        before = processor_seconds(self.connection.info.backend_pid)
        for _ in range(times):
            self.connection.execute(self.statement.encode(), prepare=True)
        after = processor_seconds(self.connection.info.backend_pid)
        return None if before is None or after is None else after - before


def take_turns(
    outcome: Outcome,
    callers: Sequence[Caller],
    slices: int,
    calls: int,
    before: Callable[[int], None] = lambda number: None,
) -> None:
    """Add to ``outcome`` microseconds a message, one number a slice.

    ``before`` is called before the callers' turns, with the number of slices that each has had.
    """
    order = list(callers)
    for one in callers:
        outcome.rates[one.name] = []
    for number in range(slices):
        before(number)
        random.shuffle(order)
        for one in order:
            one.call(UNCOUNTED)
            took = one.call(calls)
            if took is not None:
                outcome.rates[one.name].append(took / calls / outcome.scenario.batch * 1e6)
    outcome.rates = {name: found for name, found in outcome.rates.items() if found}


def calls_of(slices: int, calls: int) -> int:
    """How often each statement is executed in all."""
    return slices * (UNCOUNTED + calls)


def last_statement(connection: Connection, script: str) -> str:
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

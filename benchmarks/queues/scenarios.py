"""What is measured: one entry a line of the table in docs/benchmarks.md.

A scenario names the work; `run` does it for every queue that can, round after
round. Targets are ratios between our queue and another in the same round.
"""

from dataclasses import dataclass, field
from typing import Literal

Work = Literal["enqueue", "dequeue", "grouped", "special"]


@dataclass(frozen=True)
class Target:
    """Ours must reach ``ratio`` × the best of ``peers``; with ``at_most``, stay within it (times, sizes)."""

    peers: tuple[str, ...]
    ratio: float
    at_most: bool = False


@dataclass(frozen=True)
class Scenario:
    """``batch`` messages a transaction, ``clients`` connections.

    Queues that are read are filled first: at least ``messages`` in ``groups``, more of them
    for a fast queue. "special" work is done by a module of its own: see `special`.
    ``limits`` names who is the lower bound: how far a target can be reached at all.
    """

    name: str
    work: Work
    batch: int
    clients: int
    messages: int = 0
    groups: int = 1
    targets: tuple[Target, ...] = field(default=())
    unit: str = "messages/s"
    limits: tuple[str, ...] = ()

    def most(self) -> int:
        """To how many messages a queue is filled at most, so that filling does not take minutes."""
        return max(self.messages, 400_000)


def scenarios(scale: float) -> list[Scenario]:
    """All of them; ``scale`` shrinks or grows the numbers of messages."""
    found: list[Scenario] = []
    for clients in (1, 2, 8):
        targets = (Target(("bare table",), 0.75), Target(("pgmq",), 1.3))
        found.append(
            Scenario(f"SEND, 1 a transaction, {clients} clients", "enqueue", 1, clients, targets=targets)
        )
    for batch in (100, 1000):
        found.append(
            Scenario(f"SEND, {batch} a transaction", "enqueue", batch, 1, targets=(Target(("pgmq",), 1.0),))
        )
    single = int(20_000 * scale)
    for clients in (1, 2, 8):
        targets = (Target(("bare table",), 0.9), Target(("pgmq",), 2.5))
        name = f"RECEIVE TOP(1), 10,000 groups, {clients} readers"
        found.append(Scenario(name, "dequeue", 1, clients, single, 10_000, targets))
    rivals = ("pgmq", "graphile-worker", "procrastinate")
    for size in (10, 1000):
        targets = (Target(("bare table",), 1.2), Target(rivals, 3.0))
        name = f"RECEIVE TOP(1), groups of {size:,}, 8 readers"
        found.append(
            Scenario(name, "grouped", 1, 8, int(10_000 * scale), max(1, int(10_000 * scale) // size), targets)
        )
    for batch in (100, 1000, 10_000):
        wanted = [Target(("pgmq.pop",), 1.5)]
        if batch == 100:
            wanted.append(Target(("PgQ",), 1.0))
        messages = max(20 * batch, int(100_000 * scale))
        name = f"RECEIVE TOP({batch:,})"
        found.append(Scenario(name, "dequeue", batch, 1, messages, max(1, messages // batch), tuple(wanted)))
    return found

"""100 connections that send to one queue, beside 8: what of it is the server's own.

The bare table knows no dialogs; the lower bound (`LowerBoundSends`) locks the one it sends on, of which
each client has its own.
"""

from ..peers.bare import BareTable
from ..peers.lower_bound import LowerBoundSends
from ..peers.ours import Ours
from ..run import Outcome, Say, contenders, run
from ..scenarios import Scenario
from ..server import BenchServer

_FEW, _MANY = 8, 100


def connections(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Rates and profiles of both; then of each queue which part of its rate with few many have."""
    ready = contenders(server, (BareTable, LowerBoundSends, Ours), say)
    outcomes = {
        clients: Outcome(
            Scenario(f"Limits: SEND, 1 a transaction, {clients} connections", "enqueue", 1, clients)
        )
        for clients in (_FEW, _MANY)
    }
    share = Outcome(
        Scenario(
            f"Limits: SEND, {_MANY} connections (target: ours 0.8)",
            "special",
            1,
            _MANY,
            unit=f"x {_FEW} connections",
        )
    )
    for number in range(3 if quick else 7):
        # A round of either, then the next: a slow minute hits both.
        for outcome in outcomes.values():
            one = run(
                outcome.scenario,
                ready,
                rounds=1,
                seconds=3 if quick else 10,
                synchronous_commit=synchronous_commit,
                profile=True,
                say=lambda line: None,
            )
            for name, rates in one.rates.items():
                outcome.rates.setdefault(name, []).extend(rates)
            for name, profiles in one.profiles.items():
                outcome.profiles.setdefault(name, []).extend(profiles)
        say(f"{share.scenario.name}: round {number + 1}")
    for name in outcomes[_MANY].rates:
        share.rates[name] = [
            many / few
            for many, few in zip(outcomes[_MANY].rates[name], outcomes[_FEW].rates[name], strict=True)
        ]
    for contender in ready:
        contender.connection.close()
    return [*outcomes.values(), share]

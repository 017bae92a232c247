"""Ratios of one run: as a table, as JSON, as a plot."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from .profile import Profile
from .run import Outcome

OURS = "pgsb"


def ratios(outcome: Outcome, peer: str, of: str = OURS) -> list[float]:
    """Ours (or another's) divided by the peer's rate, round by round."""
    return [
        ours / theirs
        for ours, theirs in zip(outcome.rates.get(of, []), outcome.rates.get(peer, []), strict=False)
    ]


def table(outcomes: Sequence[Outcome]) -> str:
    """Each scenario with messages/s (min/median/max), and how each target was met."""
    lines: list[str] = []
    for outcome in outcomes:
        lines.append(outcome.scenario.name)
        for name, rates in outcome.rates.items():
            places = 0 if max(rates) >= 100 else 2
            numbers = " ".join(
                f"{value:>11,.{places}f}" for value in (min(rates), statistics.median(rates), max(rates))
            )
            found = ratios(outcome, name) if name != OURS else []
            against = f"   ours is {_spread(found)} of it" if found else ""
            lines.append(f"  {name:<17}{numbers} {outcome.scenario.unit}{against}")
        lines += [_profile(name, found) for name, found in outcome.profiles.items()]
        for target in outcome.scenario.targets:
            present = [peer for peer in target.peers if outcome.rates.get(peer)]
            if not present or OURS not in outcome.rates:
                lines.append(f"  target {target.ratio:g} x {' / '.join(target.peers)}: not measured here")
                continue
            choose = min if target.at_most else max
            best = choose(present, key=lambda peer: statistics.median(outcome.rates[peer]))
            reached = statistics.median(ratios(outcome, best))
            is_met = reached <= target.ratio if target.at_most else reached >= target.ratio
            bound = "at most " if target.at_most else ""
            verdict = "reached" if is_met else "MISSED"
            lines.append(f"  target {bound}{target.ratio:g} x {best}: {reached:.2f} {verdict}")
            for limit in outcome.scenario.limits:
                lines.append(f"    {limit} reaches {_spread(ratios(outcome, best, limit))} x {best}")
        lines.append("")
    return "\n".join(lines)


def _profile(name: str, profiles: Sequence[Profile]) -> str:
    """Processor time and WAL a message, and what sessions did (medians, from 2 % on)."""
    processor = [one.processor for one in profiles if one.processor is not None]
    names = sorted({wait for one in profiles for wait in one.waits})
    shares = {wait: statistics.median(one.waits.get(wait, 0.0) for one in profiles) for wait in names}
    waits = ", ".join(
        f"{wait} {share:.0%}"
        for wait, share in sorted(shares.items(), key=lambda item: -item[1])
        if share >= 0.02
    )
    took = f"{_spread(processor)} us of processor, " if processor else ""
    return f"    {name}: {took}{statistics.median(one.wal for one in profiles):,.0f} bytes of WAL; {waits}"


def _spread(values: Sequence[float]) -> str:
    return f"{min(values):.2f} / {statistics.median(values):.2f} / {max(values):.2f}"


def write_json(path: Path, outcomes: Sequence[Outcome], conditions: dict[str, object]) -> None:
    """All rates of all rounds, and what they were measured on."""
    document = {
        "conditions": conditions,
        "scenarios": [
            {
                "name": o.scenario.name,
                "unit": o.scenario.unit,
                "rounds": o.rates,
                "profiles": {name: [asdict(one) for one in found] for name, found in o.profiles.items()},
            }
            for o in outcomes
        ],
    }
    path.write_text(json.dumps(document, indent=2) + "\n")


def plot(path: Path, outcomes: Sequence[Outcome]) -> None:
    """A bar for each queue and scenario: its median rate as a share of ours."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(outcomes), 1, figsize=(9, 1.2 + 1.1 * len(outcomes)), squeeze=False)
    for axis, outcome in zip(axes[:, 0], outcomes, strict=True):
        names = list(outcome.rates)
        medians = [statistics.median(outcome.rates[name]) for name in names]
        axis.barh(names, medians, color=["tab:blue" if name == OURS else "tab:gray" for name in names])
        axis.invert_yaxis()
        axis.set_title(outcome.scenario.name, fontsize=9, loc="left")
        axis.tick_params(labelsize=7)
    axes[-1, 0].set_xlabel("median of the rounds, in the scenario's unit")
    figure.tight_layout()
    figure.savefig(path, dpi=110)

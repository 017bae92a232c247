"""One case: run it twice, compare, and make a failing one small."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from . import interpreter, minimise, render, trace
from . import syntax as s
from .rules import Doubtful
from .trace import Trace


class Side(Protocol):
    """The compiled side: :class:`.compiled.Runner`."""

    def run(self, program: s.Program) -> Trace:
        """The trace of a program."""


@dataclass
class Disagreement:
    """A program on which the two sides differ."""

    program: s.Program
    expected: list[str]
    actual: list[str]

    def report(self) -> str:
        """The program with line numbers, and both traces."""
        parts = []
        for text in render.batches(self.program):
            numbered = [f"{number:3} {line}" for number, line in enumerate(text.split("\n"), 1)]
            parts.append("\n".join(numbered) + "\n    GO")
        difference = difflib.unified_diff(
            self.expected, self.actual, "interpreter", "compiled", n=30, lineterm=""
        )
        return "\n".join(parts) + "\n\n" + "\n".join(difference)


def flat(found: Trace) -> list[str]:
    """The trace without the borders of batches: compiled code may run several batches as one."""
    return [line for line in trace.lines(found) if not line.startswith("batch ")]


def compare(program: s.Program, side: Side) -> Disagreement | None:
    """None when both sides agree. Raises Doubtful or TooLong when the case decides nothing."""
    render.batches(program)
    expected = flat(interpreter.run(program, limits=True))
    try:
        actual = flat(side.run(program))
    except Exception as error:
        actual = [f"crash {type(error).__name__}: {error}"]
    return None if same(expected, actual) else Disagreement(program, expected, actual)


def same(expected: list[str], actual: list[str]) -> bool:
    """Equal, but for errors that may carry any place."""

    def matches(one: str, other: str) -> bool:
        start, anywhere, end = one.partition(trace.ANYWHERE)
        return one == other or (bool(anywhere) and other.startswith(start) and other.endswith(end))

    return len(expected) == len(actual) and all(map(matches, expected, actual))


def smaller(found: Disagreement, side: Side, attempts: int = 400) -> Disagreement:
    """The same kind of disagreement on a smaller program."""
    best = found

    def still_fails(candidate: s.Program) -> bool:
        nonlocal best
        try:
            again = compare(candidate, side)
        except (Doubtful, interpreter.TooLong, ValueError, KeyError, IndexError, AssertionError):
            return False
        if again is None or kind(again) != kind(found):
            return False
        best = again
        return True

    minimise.minimise(found.program, still_fails, attempts)
    render.batches(best.program)
    return best


def kind(found: Disagreement) -> str:
    """What sort of failure it is: a crash or refusal must not shrink into a mere difference."""
    first = found.actual[0].split("\n")[0]
    # The same complaint, wherever and of whatever.
    return re.sub(r"'[^']*'|\d+", "…", first) if first.startswith("crash ") else ""


Check = Callable[[s.Program], Disagreement | None]

"""GOTO, labels and savepoints: where they stand in a body."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...grammar.records import dataclass
from .. import nodes
from ..catalog.names import fold

_JUMPS = (nodes.Goto, nodes.Label, nodes.SaveTransaction)
_MODULES = (nodes.CreateProcedure, nodes.CreateFunction, nodes.CreateTrigger)


def _inside(statement: nodes.Statement) -> tuple[nodes.Statement, ...]:
    """Return the statements of the same body inside a statement: a module has a body of its own."""
    return () if isinstance(statement, _MODULES) else nodes.children_of(statement)


def _all_of(body: Sequence[nodes.Statement]) -> list[nodes.Statement]:
    """Return the statements of a body at any depth: a module has a body of its own."""
    return nodes.all_of(statement for statement in body if not isinstance(statement, _MODULES))


def needs_jumps(body: Sequence[nodes.Statement]) -> bool:
    """Tell whether a body has GOTO, labels or savepoints."""
    return any(isinstance(statement, _JUMPS) for statement in _all_of(body))


def has_savepoints(body: Sequence[nodes.Statement]) -> bool:
    """Tell whether SAVE TRANSACTION stands anywhere in a body."""
    return any(isinstance(statement, nodes.SaveTransaction) for statement in _all_of(body))


def labels(body: Sequence[nodes.Statement]) -> list[nodes.Label]:
    """Return the labels in a body, at any depth."""
    return [statement for statement in _all_of(body) if isinstance(statement, nodes.Label)]


# ------------------------------------------------------------------ regions

DEEPEST = 60
"""Blocks and loops of labels inside one another; a body with more is better read as states."""


@dataclass
class Region:
    """Statements ``first`` … ``last`` of a list that a label needs a block or a loop around."""

    label: str
    first: int
    last: int
    backward: bool
    name: str = ""
    """Label of the block or loop."""


class Irreducible(Exception):
    """The jumps of a body cannot be nested."""


class Jumps:
    """Where the jumps of a body go; what is asked of a statement is counted once."""

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self._jumps: dict[int, Counter[str]] = {}
        self._labels: dict[int, frozenset[str]] = {}

    def jumps(self, statement: nodes.Statement) -> Counter[str]:
        """Return how many GOTOs inside a statement name each label, folded."""
        found = self._jumps.get(id(statement))
        if found is None:
            found = Counter()
            if isinstance(statement, nodes.Goto):
                found[fold(statement.label.text)] += 1
            for inner in _inside(statement):
                found.update(self.jumps(inner))
            self._jumps[id(statement)] = found
        return found

    def labels(self, statement: nodes.Statement) -> frozenset[str]:
        """Return the labels inside a statement, folded; its own where it is one."""
        found = self._labels.get(id(statement))
        if found is None:
            own = {fold(statement.name.text)} if isinstance(statement, nodes.Label) else set()
            found = frozenset(own).union(*map(self.labels, _inside(statement)))
            self._labels[id(statement)] = found
        return found

    def regions(self, body: Sequence[nodes.Statement]) -> list[Region]:
        """Return the regions of the labels that stand directly in ``body``. Raises Irreducible."""
        sources: dict[str, list[int]] = {}
        for index, statement in enumerate(body):
            for name in self.jumps(statement):
                sources.setdefault(name, []).append(index)
        regions: list[Region] = []
        for place, statement in enumerate(body):
            if not isinstance(statement, nodes.Label):
                continue
            name = fold(statement.name.text)
            jumped_from = sources.get(name)
            if not jumped_from:
                continue
            if jumped_from[0] < place:
                regions.append(Region(name, jumped_from[0], place - 1, False))
            if jumped_from[-1] >= place:
                regions.append(Region(name, place, jumped_from[-1], True))
        _nest(regions)
        return regions

    def check(self, body: Sequence[nodes.Statement]) -> None:
        """Raise Irreducible unless every list of the body can be nested, and no jump enters one."""
        self.regions(body)
        self._check_entries(body)
        for statement in body:
            inner = _inside(statement)
            if isinstance(statement, nodes.If):
                self._check_entries(inner)
                for branch in inner:
                    self.check([branch])
            elif isinstance(statement, nodes.TryCatch):
                self.check(statement.body)
                self.check(statement.handler)
            elif inner:
                self.check(inner)

    def _check_entries(self, body: Sequence[nodes.Statement]) -> None:
        """Raise Irreducible where a jump goes from one statement into another one."""
        all_jumps: Counter[str] | None = None
        for statement in body:
            inside = self.labels(statement)
            if isinstance(statement, nodes.Label) or not inside:
                continue
            if all_jumps is None:
                all_jumps = Counter()
                for other in body:
                    all_jumps.update(self.jumps(other))
            own = self.jumps(statement)
            if any(all_jumps[name] > own[name] for name in inside):
                raise Irreducible


def _nest(regions: list[Region]) -> None:
    """Widen regions until no two cross: a block may begin earlier, a loop may end later.

    One pass from left to right; ``around`` are the regions that are open, the outermost first.
    """
    around: list[Region] = []
    for region in sorted(regions, key=lambda one: (one.first, -one.last)):
        while around and around[-1].last < region.first:
            around.pop()
        place = len(around)
        while place and around[place - 1].last < region.last:
            other = around[place - 1]
            if other.first == region.first or not region.backward:
                region.first = other.first
                place -= 1
                continue
            if not other.backward:
                raise Irreducible
            other.last = region.last
            place -= 1
        if region.backward:
            # Those that were widened end where it ends, and stay around it.
            while place < len(around) and around[place].first < region.first:
                place += 1
        around.insert(place, region)
        if len(around) > DEEPEST:
            raise Irreducible

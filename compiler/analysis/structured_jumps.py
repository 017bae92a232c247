"""GOTO as structured statements: a pass from nodes to nodes, before anything of a body is lowered.

A label that is jumped to from above becomes a block that ends where the label stands (:class:`JumpBlock`),
one that is jumped to from below a loop that begins there (:class:`JumpLoop`); GOTO says which of them it
leaves or begins anew (:class:`Jump`). What cannot be nested so — a jump into a block, or into the middle of
such a loop — becomes :class:`States`, and so does a body with savepoints.

The nodes are blocks, jumps and loops of the script to every analysis: labels stay where they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...grammar.records import dataclass, replace
from .. import nodes
from ..catalog.names import fold
from .jumps import Irreducible, Jumps, Region, has_savepoints, labels, needs_jumps


@dataclass(frozen=True, kw_only=True)
class Structured(nodes.Block):
    """The whole of a body with labels, its jumps nested."""

    names: tuple[str, ...]
    """Names of its blocks and loops."""


@dataclass(frozen=True, kw_only=True)
class States(nodes.Block):
    """The whole of a body whose jumps cannot be nested, or one with savepoints: numbered states."""


@dataclass(frozen=True, kw_only=True)
class JumpBlock(nodes.Block):
    """Statements before a label; a jump to the label leaves them."""

    name: str


@dataclass(frozen=True, kw_only=True)
class JumpLoop(nodes.Block):
    """Statements from a label on; a jump to the label begins them anew, their end leaves them."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Jump(nodes.Goto):
    """GOTO out of a block or loop."""

    block: str
    """The name of the JumpBlock that it leaves, or of the JumpLoop that it begins anew."""
    again: bool
    tries: int
    """How many TRY and CATCH blocks are left on the way."""
    catches: int


@dataclass(frozen=True, kw_only=True)
class NamedWhile(nodes.While):
    """A WHILE beside other loops: BREAK and CONTINUE say which one they mean."""


def structured(body: tuple[nodes.Statement, ...]) -> tuple[nodes.Statement, ...]:
    """Return a body without jumps that only GOTO can make; one without any as it is.

    Modules that it defines stay as they are: each has a body of its own.
    """
    if not needs_jumps(body):
        return body
    span = body[0].span.to(body[-1].span)
    tokens = tuple(token for statement in body for token in statement.tokens)
    if has_savepoints(body):
        return (States(span=span, tokens=tokens, statements=_named_loops(body)),)
    try:
        structure = _Structure(body)
    except Irreducible:
        return (States(span=span, tokens=tokens, statements=_named_loops(body)),)
    statements = structure.statements(body, 0, 0)
    return (Structured(span=span, tokens=tokens, statements=statements, names=tuple(structure.names)),)


@dataclass(frozen=True)
class _Target:
    """Where a jump to a label goes, and how many TRY and CATCH blocks are around it."""

    name: str
    tries: int
    catches: int


class _Structure:
    """The pass over one body. Raises Irreducible."""

    def __init__(self, body: Sequence[nodes.Statement]) -> None:
        self._jumps = Jumps()
        self._jumps.check(body)
        self._places = {fold(label.name.text): label.span.start for label in labels(body)}
        self._targets: dict[tuple[str, bool], _Target] = {}
        self.names: dict[str, None] = {}

    def statements(
        self, body: Sequence[nodes.Statement], tries: int, catches: int
    ) -> tuple[nodes.Statement, ...]:
        """Return a list of statements with the blocks and loops that its labels need."""
        regions = self._jumps.regions(body)
        of_label = Counter(region.label for region in regions)
        beginning: dict[int, list[Region]] = {}
        for region in regions:
            both = of_label[region.label] > 1
            region.name = self._new(f"{region.label}_again" if region.backward and both else region.label)
            self._targets[region.label, region.backward] = _Target(region.name, tries, catches)
            beginning.setdefault(region.first, []).append(region)
        for here in beginning.values():
            here.sort(key=lambda region: -region.last)
        return tuple(self._range(body, 0, len(body) - 1, beginning, tries, catches))

    def _new(self, wanted: str) -> str:
        name, number = wanted, 0
        while name in self.names:
            number += 1
            name = f"{wanted}_{number}"
        self.names[name] = None
        return name

    def _range(
        self,
        body: Sequence[nodes.Statement],
        first: int,
        last: int,
        beginning: dict[int, list[Region]],
        tries: int,
        catches: int,
    ) -> Iterator[nodes.Statement]:
        """Give statements ``first`` … ``last``; of regions that begin at one, the widest is outermost."""
        index = first
        while index <= last:
            here = beginning.get(index)
            if not here:
                yield self._one(body[index], tries, catches)
                index += 1
                continue
            outermost = here.pop(0)
            inner = tuple(self._range(body, outermost.first, outermost.last, beginning, tries, catches))
            span = body[outermost.first].span.to(body[outermost.last].span)
            kind = JumpLoop if outermost.backward else JumpBlock
            yield kind(span=span, statements=inner, name=outermost.name)
            index = outermost.last + 1

    def _one(self, statement: nodes.Statement, tries: int, catches: int) -> nodes.Statement:
        match statement:
            case nodes.Goto():
                return self._goto(statement, tries, catches)
            case nodes.Block() | nodes.AtomicBlock():
                return replace(statement, statements=self.statements(statement.statements, tries, catches))
            case nodes.If(then=then, otherwise=otherwise):
                other = None if otherwise is None else self._one(otherwise, tries, catches)
                return replace(statement, then=self._one(then, tries, catches), otherwise=other)
            case nodes.While(body=body):
                return _named(statement, self._one(body, tries, catches))
            case nodes.TryCatch(body=tried, handler=handler):
                return replace(
                    statement,
                    body=self.statements(tried, tries + 1, catches),
                    handler=self.statements(handler, tries, catches + 1),
                )
        return statement

    def _goto(self, statement: nodes.Goto, tries: int, catches: int) -> nodes.Statement:
        name = fold(statement.label.text)
        again = statement.span.start > self._places.get(name, statement.span.end)
        target = self._targets.get((name, again))
        if target is None:
            return statement  # no such label: lowering says so
        return Jump(
            span=statement.span,
            tokens=statement.tokens,
            comments=statement.comments,
            trailing_comments=statement.trailing_comments,
            label=statement.label,
            block=target.name,
            again=again,
            tries=tries - target.tries,
            catches=catches - target.catches,
        )


def _named(loop: nodes.While, body: nodes.Statement) -> NamedWhile:
    return NamedWhile(
        span=loop.span,
        tokens=loop.tokens,
        comments=loop.comments,
        trailing_comments=loop.trailing_comments,
        condition=loop.condition,
        body=body,
    )


def _named_loops(body: Sequence[nodes.Statement]) -> tuple[nodes.Statement, ...]:
    return tuple(map(_with_named_loops, body))


def _with_named_loops(statement: nodes.Statement) -> nodes.Statement:
    match statement:
        case nodes.Block() | nodes.AtomicBlock():
            return replace(statement, statements=_named_loops(statement.statements))
        case nodes.If(then=then, otherwise=otherwise):
            other = None if otherwise is None else _with_named_loops(otherwise)
            return replace(statement, then=_with_named_loops(then), otherwise=other)
        case nodes.While(body=body):
            return _named(statement, _with_named_loops(body))
        case nodes.TryCatch(body=tried, handler=handler):
            return replace(statement, body=_named_loops(tried), handler=_named_loops(handler))
    return statement

"""GOTO as structured code, where the source allows it.

A label that is jumped to from above becomes a labelled block that ends where the label
stands (``EXIT error_exit``); one that is jumped to from below becomes a loop that begins
there (``CONTINUE retry``).  What cannot be nested so — a jump into a block, or into the
middle of such a loop — goes to the state machine (:mod:`.state_machine`), and so does a body
with savepoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import nodes
from . import plpgsql as pl
from .flow_status import has_labels
from .lower import Context, Jump, Loop, lower
from .names import fold, quote


def needs_jumps(body: Sequence[nodes.Statement]) -> bool:
    """Tell whether a body has GOTO or savepoints."""
    return has_labels(tuple(body)) or has_savepoints(body)


def has_savepoints(body: Sequence[nodes.Statement]) -> bool:
    """Tell whether SAVE TRANSACTION stands anywhere in a body."""
    return any(
        isinstance(statement, nodes.SaveTransaction) or has_savepoints(nodes.children_of(statement))
        for statement in body
    )


def gotos(statement: nodes.Statement) -> list[nodes.Goto]:
    """Return the GOTOs in a statement."""
    if isinstance(statement, nodes.Goto):
        return [statement]
    return [goto for inner in nodes.children_of(statement) for goto in gotos(inner)]


def labels(body: Sequence[nodes.Statement]) -> list[nodes.Label]:
    """Return the labels in a body, at any depth."""
    result: list[nodes.Label] = []
    for statement in body:
        if isinstance(statement, nodes.Label):
            result.append(statement)
        result += labels(nodes.children_of(statement))
    return result


# ------------------------------------------------------------------ regions


@dataclass
class _Region:
    """Statements ``first`` … ``last`` of a list that a label needs a block or a loop around."""

    label: str
    first: int
    last: int
    backward: bool


class Irreducible(Exception):
    """The jumps of a body cannot be nested."""


def _regions(body: Sequence[nodes.Statement]) -> list[_Region]:
    """Return the regions of the labels that stand directly in ``body``. Raises Irreducible."""
    regions: list[_Region] = []
    for place, statement in enumerate(body):
        if not isinstance(statement, nodes.Label):
            continue
        name = fold(statement.name.text)
        sources = [
            index
            for index, other in enumerate(body)
            if any(fold(goto.label.text) == name for goto in gotos(other))
        ]
        forward = [index for index in sources if index < place]
        backward = [index for index in sources if index >= place]
        if forward:
            regions.append(_Region(name, forward[0], place - 1, False))
        if backward:
            regions.append(_Region(name, place, backward[-1], True))
    _nest(regions)
    return regions


def _nest(regions: list[_Region]) -> None:
    """Widen regions until no two cross: a block may begin earlier, a loop may end later."""
    changed = True
    while changed:
        changed = False
        for one in regions:
            for other in regions:
                if not (one.first < other.first <= one.last < other.last):
                    continue
                if not other.backward:
                    other.first = one.first
                elif one.backward:
                    one.last = other.last
                else:
                    raise Irreducible
                changed = True


def _check(body: Sequence[nodes.Statement]) -> None:
    """Raise Irreducible unless every list of the body can be nested, and no jump enters one."""
    _regions(body)
    for index, statement in enumerate(body):
        inner = nodes.children_of(statement)
        names = {fold(label.name.text) for label in labels(inner)}
        elsewhere = [goto for i, other in enumerate(body) if i != index for goto in gotos(other)]
        if any(fold(goto.label.text) in names for goto in elsewhere):
            raise Irreducible
        if isinstance(statement, nodes.If):
            branches = [statement.then] + ([statement.otherwise] if statement.otherwise else [])
            for branch in branches:
                own = {fold(label.name.text) for label in labels([branch])}
                others = [goto for other in branches if other is not branch for goto in gotos(other)]
                if any(fold(goto.label.text) in own for goto in others):
                    raise Irreducible
                _check([branch])
        elif isinstance(statement, nodes.TryCatch):
            _check(statement.body)
            _check(statement.handler)
        else:
            _check(inner)


# ------------------------------------------------------------------ lowering


def lower_with_jumps(body: tuple[nodes.Statement, ...], ctx: Context) -> list[pl.Statement]:
    """Lower a body with GOTO or savepoints."""
    ctx.label_loops = True
    ctx.label_places = {fold(label.name.text): label.span.start for label in labels(body)}
    if has_savepoints(body):
        from .state_machine import lower_machine

        return lower_machine(body, ctx)
    try:
        _check(body)
    except Irreducible:
        from .state_machine import lower_machine

        return lower_machine(body, ctx)
    return lower_list(body, ctx)


def lower_list(body: Sequence[nodes.Statement], ctx: Context) -> list[pl.Statement]:
    """Lower a list of statements with the blocks and loops that its labels need."""
    regions = _regions(body)
    tries, catches = len(ctx.tries), ctx.catches
    for region in regions:
        both = any(other.label == region.label and other is not region for other in regions)
        stem = quote(f"{region.label}_again" if region.backward and both else region.label)
        used = stem if stem not in ctx.used_labels else ctx.label(stem)
        ctx.used_labels.add(used)
        ctx.jumps[region.label, region.backward] = Jump(used, tries, catches)
    result = _lower_range(body, 0, len(body) - 1, regions, ctx)
    return result


def _lower_range(
    body: Sequence[nodes.Statement], first: int, last: int, regions: list[_Region], ctx: Context
) -> list[pl.Statement]:
    """Lower statements ``first`` … ``last``; of regions that begin at one, the widest is outermost."""
    from .lower import lower_body

    result: list[pl.Statement] = []
    index = first
    plain_from = first
    while index <= last:
        here = [region for region in regions if region.first == index and region.last <= last]
        if not here:
            index += 1
            continue
        result += lower_body(body[plain_from:index], ctx)
        outermost = max(here, key=lambda region: region.last)
        rest = [region for region in regions if region is not outermost]
        inner = _lower_range(body, outermost.first, outermost.last, rest, ctx)
        jump = ctx.jumps[outermost.label, outermost.backward]
        if outermost.backward:
            result.append(pl.Loop((*inner, pl.Exit(jump.label)), label=jump.label))
        else:
            result.append(pl.Block(tuple(inner), label=jump.label))
        index = plain_from = outermost.last + 1
    result += lower_body(body[plain_from : last + 1], ctx)
    return result


@lower.register
def lower_label(node: nodes.Label, ctx: Context) -> list[pl.Statement]:
    """A label stands where its block ends or its loop begins; in the output it is a remark."""
    return [pl.Comment(f"-- {node.name.text}:")]


@lower.register
def lower_goto(node: nodes.Goto, ctx: Context) -> list[pl.Statement]:
    """Lower GOTO to EXIT of the label's block, or CONTINUE of its loop."""
    from .lower_flow import leave_blocks

    name = fold(node.label.text)
    if ctx.machine is not None and name in ctx.machine_places:
        # Labels of a state machine stand outside TRY: all blocks on the way are left.
        target = ctx.machine_tries.get(name, (0, 0))
        return [*leave_blocks(ctx, Loop(*target)), *ctx.machine.go(ctx.machine_places[name])]
    place = ctx.label_places.get(name)
    if place is None:
        ctx.problem(
            f"A GOTO statement references the label '{node.label.text}' but the label has not been declared.",
            node.label.span,
            number=133,
        )
        return []
    backward = node.span.start > place
    jump = ctx.jumps.get((name, backward))
    if jump is None:
        ctx.problem(f"cannot jump to '{node.label.text}' from here", node.span)
        return []
    leave = leave_blocks(ctx, Loop(jump.tries, jump.catches))
    if backward:
        return [*leave, pl.Continue(jump.label)]
    return [*leave, pl.Exit(jump.label)]

"""GOTO as structured code, where the source allows it.

A label that is jumped to from above becomes a labelled block that ends where the label
stands (``EXIT error_exit``); one that is jumped to from below becomes a loop that begins
there (``CONTINUE retry``).  What cannot be nested so — a jump into a block, or into the
middle of such a loop — goes to the state machine (:mod:`.state_machine`), and so does a body
with savepoints.
"""

from __future__ import annotations

from .. import nodes
from ..analysis.jumps import Irreducible, has_savepoints, labels
from ..catalog.names import fold
from ..plpgsql import nodes as pl
from .context import Context
from .dispatch import lower
from .leaving import leave_blocks
from .state_machine import lower_machine
from .statement_lists import lower_list


def lower_with_jumps(body: tuple[nodes.Statement, ...], ctx: Context) -> list[pl.Statement]:
    """Lower a body with GOTO or savepoints."""
    ctx.label_loops = True
    ctx.label_places = {fold(label.name.text): label.span.start for label in labels(body)}
    if has_savepoints(body):
        return lower_machine(body, ctx)
    try:
        ctx.body_jumps.check(body)
    except Irreducible:
        return lower_machine(body, ctx)
    return lower_list(body, ctx)


@lower.register
def lower_label(node: nodes.Label, ctx: Context) -> list[pl.Statement]:
    """A label stands where its block ends or its loop begins; in the output it is a remark."""
    return [pl.Comment(f"-- {node.name.text}:")]


@lower.register
def lower_goto(node: nodes.Goto, ctx: Context) -> list[pl.Statement]:
    """Lower GOTO to EXIT of the label's block, or CONTINUE of its loop."""
    name = fold(node.label.text)
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
    return [*leave_blocks(ctx, jump.tries, jump.catches), *jump.go]

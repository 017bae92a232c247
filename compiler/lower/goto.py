"""GOTO, as the pass :mod:`..analysis.structured_jumps` leaves it: EXIT of a block, CONTINUE of a loop."""

from __future__ import annotations

from .. import nodes
from ..analysis.structured_jumps import Jump, JumpBlock, JumpLoop, Structured
from ..catalog.names import in_comment, quote
from ..plpgsql import nodes as pl
from .context import Context
from .dispatch import lower
from .leaving import leave_blocks
from .statement_lists import forget_options, lower_statements, options_set


@lower.register
def lower_structured(node: Structured, ctx: Context) -> list[pl.Statement]:
    """Lower a body with labels: no other block of it is named as they are."""
    ctx.reserved_labels |= set(node.names)
    return lower_statements(node.statements, ctx)


@lower.register
def lower_jump_block(node: JumpBlock, ctx: Context) -> list[pl.Statement]:
    """The block before a label."""
    block = pl.Block(tuple(lower_statements(node.statements, ctx)), label=quote(node.name))
    forget_options(options_set(node.statements), ctx)
    return [block]


@lower.register
def lower_jump_loop(node: JumpLoop, ctx: Context) -> list[pl.Statement]:
    """The loop from a label on."""
    name = quote(node.name)
    forget_options(options_set(node.statements), ctx)
    return [pl.Loop((*lower_statements(node.statements, ctx), pl.Exit(name)), label=name)]


@lower.register
def lower_jump(node: Jump, ctx: Context) -> list[pl.Statement]:
    """GOTO: leave the TRY and CATCH blocks on the way."""
    name = quote(node.block)
    go = pl.Continue(name) if node.again else pl.Exit(name)
    return [*leave_blocks(ctx, len(ctx.tries) - node.tries, ctx.catches - node.catches), go]


@lower.register
def lower_label(node: nodes.Label, ctx: Context) -> list[pl.Statement]:
    """A label stands where its block ends or its loop begins; in the output it is a remark."""
    return [pl.Comment(f"-- {in_comment(node.name.text)}:")]


@lower.register
def lower_goto(node: nodes.Goto, ctx: Context) -> list[pl.Statement]:
    """A GOTO to no label of the body."""
    ctx.problem(
        f"A GOTO statement references the label '{node.label.text}' but the label has not been declared.",
        node.label.span,
        number=133,
    )
    return []

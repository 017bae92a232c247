"""Lists of statements: one after the other, with the blocks and loops that the labels of GOTO need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from .. import nodes
from ..analysis.constants import assigned
from ..analysis.jumps import Region
from ..catalog.names import quote
from ..plpgsql import nodes as pl
from .context import Context, Jump
from .dialogs import fused, lower_fused
from .dispatch import lower


def lower_list(body: Sequence[nodes.Statement], ctx: Context) -> list[pl.Statement]:
    """Lower a list of statements with the blocks and loops that its labels need."""
    regions = ctx.body_jumps.regions(body)
    tries, catches = len(ctx.tries), ctx.catches
    of_label = Counter(region.label for region in regions)
    beginning: dict[int, list[Region]] = {}
    for region in regions:
        both = of_label[region.label] > 1
        stem = quote(f"{region.label}_again" if region.backward and both else region.label)
        used = stem if stem not in ctx.used_labels else ctx.label(stem)
        ctx.used_labels.add(used)
        region.name = used
        go = pl.Continue(used) if region.backward else pl.Exit(used)
        ctx.jumps[region.label, region.backward] = Jump((go,), tries, catches)
        beginning.setdefault(region.first, []).append(region)
    for here in beginning.values():
        here.sort(key=lambda region: -region.last)
    return _lower_range(body, 0, len(body) - 1, beginning, ctx)


def _lower_range(
    body: Sequence[nodes.Statement],
    first: int,
    last: int,
    beginning: dict[int, list[Region]],
    ctx: Context,
) -> list[pl.Statement]:
    """Lower statements ``first`` … ``last``; of regions that begin at one, the widest is outermost."""
    result: list[pl.Statement] = []
    index = first
    plain_from = first
    while index <= last:
        here = beginning.get(index)
        if not here:
            index += 1
            continue
        result += lower_body(body[plain_from:index], ctx)
        outermost = here.pop(0)
        inner = _lower_range(body, outermost.first, outermost.last, beginning, ctx)
        if outermost.backward:
            result.append(pl.Loop((*inner, pl.Exit(outermost.name)), label=outermost.name))
        else:
            result.append(pl.Block(tuple(inner), label=outermost.name))
        index = plain_from = outermost.last + 1
    result += lower_body(body[plain_from : last + 1], ctx)
    return result


def lower_statements(body: Sequence[nodes.Statement], ctx: Context) -> list[pl.Statement]:
    """Lower a list of statements, whatever labels stand in it."""
    if ctx.label_places and any(isinstance(statement, nodes.Label) for statement in body):
        return lower_list(body, ctx)
    return lower_body(body, ctx)


def lower_body(body: Sequence[nodes.Statement], ctx: Context) -> list[pl.Statement]:
    """Lower statements one after the other, with their comments and the blank lines between them."""
    result: list[pl.Statement] = []
    last_line = 0
    pair: tuple[nodes.BeginDialog, nodes.Send] | None = None
    for statement, following in zip_longest(body, body[1:]):
        first = statement.comments[0].span.line if statement.comments else statement.span.line
        if result and first > last_line + 1 and pair is None:
            result.append(pl.Blank())
        last_line = statement.span.end_line
        result += comments(statement.comments)
        result += comments(statement.trailing_comments)
        if isinstance(statement, nodes.While | nodes.Label):
            # The body may run again with what it has changed; after a label nothing is sure.
            ctx.constants.forget(assigned(body if isinstance(statement, nodes.Label) else [statement]))
        if pair is not None:
            result += lower_fused(*pair, ctx)
            pair = None
        else:
            pair = fused(statement, following, ctx)
            result += lower(statement, ctx) if pair is None else []
        ctx.constants.follow(statement)
        if not isinstance(statement, nodes.Declare | nodes.SetOption | nodes.EmptyStatement):
            ctx.started = True
    return result


def comments(written: Sequence[nodes.Comment]) -> list[pl.Statement]:
    """Keep the programmer's comments."""
    return [pl.Comment(comment.text) for comment in written]


def single(statement: nodes.Statement) -> Sequence[nodes.Statement]:
    """Return the statements of a branch: the inside of BEGIN … END, or the one statement."""
    if isinstance(statement, nodes.Block) and not statement.comments:
        return statement.statements
    return (statement,)


def lower_branch(statement: nodes.Statement, ctx: Context) -> list[pl.Statement]:
    """Lower the body of IF or WHILE, its comments included."""
    result = lower_statements(single(statement), ctx)
    if isinstance(statement, nodes.Block):
        result += comments(statement.closing_comments)
        result = [*comments(statement.trailing_comments), *result]
    return result

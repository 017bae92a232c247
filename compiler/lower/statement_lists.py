"""Lists of statements: one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from .. import nodes
from ..analysis.structured_jumps import JumpBlock, JumpLoop
from ..plpgsql import nodes as pl
from .context import Context
from .dialogs import fused, lower_fused
from .dispatch import lower

_JUMPS = (JumpBlock, JumpLoop)
_NO_START = (nodes.Declare, nodes.SetOption, nodes.EmptyStatement)
"""After these a body has not started: what is declared next can have its initial value in DECLARE."""


def lower_statements(body: Sequence[nodes.Statement], ctx: Context) -> list[pl.Statement]:
    """Lower a list of statements, blocks and loops of labels among them."""
    result: list[pl.Statement] = []
    plain_from = 0
    for index, statement in enumerate(body):
        if isinstance(statement, _JUMPS):
            result += [*lower_body(body[plain_from:index], ctx), *lower(statement, ctx)]
            plain_from = index + 1
    return [*result, *lower_body(body[plain_from:], ctx)]


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
        if pair is not None:
            result += lower_fused(*pair, ctx)
            pair = None
        else:
            pair = fused(statement, following, ctx)
            result += lower(statement, ctx) if pair is None else []
        if not isinstance(statement, _NO_START):
            ctx.started = True
    return result


def options_set(body: Sequence[nodes.Statement]) -> set[str]:
    """Return which of NOCOUNT and XACT_ABORT statements set."""
    found: set[str] = set()
    for statement in nodes.all_of(body):
        if isinstance(statement, nodes.SetOption):
            found |= {"NOCOUNT", "XACT_ABORT"} & set(statement.names)
    return found


def forget_options(names: Iterable[str], ctx: Context) -> None:
    """Options that were set on one of the ways to a place, or are set before control comes back to it."""
    for name in names:
        ctx.forget_option(name.lower())


def comments(written: Sequence[nodes.Comment]) -> list[pl.Statement]:
    """Keep the programmer's comments."""
    return [pl.Comment(comment.text) for comment in written]


def place_of_last(body: Sequence[pl.Statement]) -> int | None:
    """Return where the last statement stands that is no comment."""
    places = range(len(body) - 1, -1, -1)
    return next((place for place in places if not isinstance(body[place], pl.Comment)), None)


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

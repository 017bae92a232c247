"""Cursors."""

from __future__ import annotations

from . import nodes
from . import plpgsql as pl
from .lower import Context


def declare_cursor_variable(variable: nodes.Variable, ctx: Context) -> None:
    """Declare ``@c CURSOR``."""
    ctx.problem("cursor variables", variable.span)


def assign_cursor(node: nodes.SetVariable, ctx: Context) -> list[pl.Statement]:
    """``SET @c = other``."""
    return []

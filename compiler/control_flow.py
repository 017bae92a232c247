"""GOTO."""

from __future__ import annotations

from collections.abc import Sequence

from . import nodes
from . import plpgsql as pl
from .flow_status import has_labels
from .lower import Context


def needs_jumps(body: Sequence[nodes.Statement]) -> bool:
    """Tell whether a body has GOTO."""
    return has_labels(tuple(body))


def lower_with_jumps(body: tuple[nodes.Statement, ...], ctx: Context) -> list[pl.Statement]:
    """Lower a body with GOTO."""
    ctx.problem("GOTO", body[0].span)
    return []

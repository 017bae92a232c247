"""System procedures."""

from __future__ import annotations

from . import nodes
from . import plpgsql as pl
from .lower import Context


def lower_system_procedure(node: nodes.Execute, ctx: Context) -> list[pl.Statement] | None:
    """Lower EXEC of a system procedure; None when it is none."""
    return None

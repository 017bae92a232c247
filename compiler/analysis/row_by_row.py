"""Whether an expression has a value for each row by itself, or is one of many rows."""

from __future__ import annotations

from sqlglot import exp

from .. import nodes
from ..catalog.names import AGGREGATES


def looks_at_other_rows(text: nodes.SqlText) -> bool:
    """Tell whether an aggregate or window function is called; what a query within calls is its own."""
    if text.tree is None:
        return False  # reported where it is translated
    own = text.tree.walk(prune=_is_query)
    return any(
        isinstance(node, exp.Window) or (isinstance(node, exp.Anonymous) and node.name.upper() in AGGREGATES)
        for node in own
    )


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query)

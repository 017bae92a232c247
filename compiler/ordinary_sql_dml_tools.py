"""What INSERT, UPDATE and MERGE share."""

from __future__ import annotations

from sqlglot import exp


def is_default(node: exp.Expr) -> bool:
    """The word DEFAULT in place of a value."""
    return (
        isinstance(node, exp.Column)
        and node.name.upper() == "DEFAULT"
        and node.args.get("table") is None
        and not node.this.args.get("quoted")
    )

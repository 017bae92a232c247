"""What INSERT, UPDATE and MERGE share."""

from __future__ import annotations

from sqlglot import exp

from .names import ObjectName, literal
from .ordinary_sql_context import Context

COLUMNS_DIFFER = "Column name or number of supplied values does not match table definition."
"""Error 213."""
ROWS_DIFFER = "The number of columns for each row in a table value constructor must be the same."
"""Error 10709."""


def is_default(node: exp.Expr) -> bool:
    """The word DEFAULT in place of a value."""
    return (
        isinstance(node, exp.Column)
        and node.name.upper() == "DEFAULT"
        and node.args.get("table") is None
        and not node.this.args.get("quoted")
    )


def advance_identity(name: ObjectName, table: str, ctx: Context) -> tuple[str, ...]:
    """What follows an INSERT under SET IDENTITY_INSERT ON: explicit values push the identity on."""
    if not ctx.scope.identity_insert(name):
        return ()
    return (f"SELECT sys.advance_identity({literal(table)})",)

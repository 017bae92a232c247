"""What INSERT, UPDATE and MERGE share."""

from __future__ import annotations

from sqlglot import exp

from .names import ObjectName, literal
from .ordinary_sql_context import Context

COLUMNS_DIFFER = "Column name or number of supplied values does not match table definition."
"""Error 213."""
NAME_MISSING = (
    "An object or column name is missing or empty. For SELECT INTO statements, verify each column has a "
    'name. For other statements, look for empty alias names. Aliases defined as "" or [] are not allowed. '
    "Change the alias to a valid name."
)
"""Error 1038."""
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


def values_differ(columns: int, values: int) -> str:
    """Error 109 or 110: an INSERT names more or fewer columns than VALUES has values."""
    return (
        f"There are {'more' if columns > values else 'fewer'} columns in the INSERT statement than values "
        "specified in the VALUES clause. The number of values in the VALUES clause must match the number of "
        "columns specified in the INSERT statement."
    )

"""Sentences of SQL Server that several statements raise, and the word DEFAULT in place of a value."""

from __future__ import annotations

from sqlglot import exp

from ..catalog import types as tm

COLUMNS_DIFFER = "Column name or number of supplied values does not match table definition."
"""Error 213."""


ROWS_DIFFER = "The number of columns for each row in a table value constructor must be the same."
"""Error 10709."""

NO_ROW_COUNT = (
    "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer."
)
"""Error 1060."""


def counts_rows(type_: tm.SqlType | None) -> bool:
    """Whether TOP takes a number of a type: an integer, or a decimal without places behind the point."""
    if type_ is None or type_.family in ("integer", "bit", "unknown", "user"):
        return True
    return type_.name in ("decimal", "numeric") and not type_.scale


def is_default(node: exp.Expr) -> bool:
    """The word DEFAULT in place of a value."""
    return (
        isinstance(node, exp.Column)
        and node.name.upper() == "DEFAULT"
        and node.args.get("table") is None
        and not node.this.args.get("quoted")
    )


def values_differ(columns: int, values: int) -> str:
    """Error 109 or 110: an INSERT names more or fewer columns than VALUES has values."""
    return (
        f"There are {'more' if columns > values else 'fewer'} columns in the INSERT statement than values "
        "specified in the VALUES clause. The number of values in the VALUES clause must match the number of "
        "columns specified in the INSERT statement."
    )

"""INSERT, UPDATE, DELETE, MERGE: every module, so that its handlers are registered."""

from . import (
    columns,
    cte_targets,
    insert,
    merge,
    nested,
    output,
    set_clause,
    set_variables,
    table_variable_rows,
    table_variables,
    update_delete,
)

__all__ = [
    "columns",
    "cte_targets",
    "insert",
    "merge",
    "nested",
    "output",
    "set_clause",
    "set_variables",
    "table_variable_rows",
    "table_variables",
    "update_delete",
]

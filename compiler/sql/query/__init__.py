"""SELECT and what surrounds it: every module, so that its handlers are registered."""

from . import (
    assignment,
    for_clause,
    for_json,
    for_xml,
    for_xml_explicit,
    from_clause,
    lock_hints,
    pivot,
    row_limits,
    select,
    set_operations,
    table_functions,
)

__all__ = [
    "assignment",
    "for_clause",
    "for_json",
    "for_xml",
    "for_xml_explicit",
    "from_clause",
    "lock_hints",
    "pivot",
    "row_limits",
    "select",
    "set_operations",
    "table_functions",
]

"""The names and values that FOR XML turns into text."""

from __future__ import annotations

from ....grammar.records import dataclass
from ...target import nodes as n
from ..values import Value


@dataclass
class Shape:
    """The names and values of a query whose rows become XML."""

    names: list[str | None]
    values: list[Value]
    tables: list[str | None]
    """For AUTO: the element (table) that each column belongs to."""


def atom(value: Value) -> n.Node:
    """A value as FOR XML prints it."""
    code = value.code
    if value.is_null:
        code = n.Cast(code, "text")
    elif value.pg == "numeric" and value.type is not None and value.type.name == "bigint":
        code = n.Cast(code, "bigint")
    return n.Call("sys.xml_atom", (code,))

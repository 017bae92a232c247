"""FOR XML EXPLICIT: the columns of a universal table, ``element!tag!name!directive``."""

from __future__ import annotations

from sqlglot import exp

from ...target import nodes as n
from ..context import Context
from ..query_result import Shape, atom
from ..values import Value

_DIRECTIVES = frozenset("element elementxsinil xml cdata hide id idref idrefs nmtoken nmtokens".split())
_RAW = frozenset({"xml", "cdata"})
"""Directives whose values are not escaped."""


def explicit(shape: Shape, ctx: Context, node: exp.Expr, order: tuple[n.OrderItem, ...]) -> n.Node:
    """The expression that nests the rows; sys.xml_explicit does it row by row."""
    if len(shape.names) < 3:
        ctx.problem(
            "FOR XML EXPLICIT requires at least three columns, including the tag column, the parent column, "
            "and at least one data column.",
            node,
            number=6801,
        )
        return n.NULL
    for place, wanted in enumerate(("TAG", "PARENT")):
        if (shape.names[place] or "").upper() != wanted:
            ctx.problem(
                f"FOR XML EXPLICIT requires column {place + 1} to be named '{wanted}' instead of "
                f"'{shape.names[place] or ''}'.",
                node,
                number=6820,
            )
            return n.NULL
    columns: list[n.Node] = []
    values = [_plain(value) for value in shape.values[:2]]
    for name, value in zip(shape.names[2:], shape.values[2:], strict=True):
        parts = (name or "").split("!")
        directive = parts[3].lower() if len(parts) > 3 else ""
        if not 2 <= len(parts) <= 4 or not parts[0] or not parts[1].isdecimal():
            ctx.problem(
                f"FOR XML EXPLICIT query contains the invalid column name '{name or ''}'. Use the "
                "TAGNAME!TAGID!ATTRIBUTENAME[!..] format where TAGID is a positive integer.",
                node,
                number=6802,
            )
            return n.NULL
        if directive == "xmltext":
            ctx.unsupported(f"the directive {parts[3]!r} of FOR XML EXPLICIT", node)
            return n.NULL
        if directive and directive not in _DIRECTIVES:
            ctx.problem(
                f"In the FOR XML EXPLICIT clause, mode '{parts[3]}' in a column name is invalid.",
                node,
                number=6824,
            )
            return n.NULL
        element, tag, attribute = [*parts, ""][:3]
        four = (element, tag, attribute, directive)
        columns.append(n.Elements(tuple(map(n.Text, four))))
        values.append(_plain(value) if directive in _RAW else atom(value))
    rows = n.Call("array_agg", (n.Array(tuple(values)),), order)
    return n.Call("sys.xml_explicit", (n.Array(tuple(columns)), rows))


def _plain(value: Value) -> n.Node:
    return n.Cast(value.code if value.is_null else n.Paren(value.code), "text")

"""FOR XML EXPLICIT: the columns of a universal table, ``element!tag!name!directive``."""

from __future__ import annotations

from sqlglot import exp

from ...catalog.names import literal
from ..context import Context
from ..values import Value
from .for_xml_values import Shape, atom

_DIRECTIVES = frozenset("element elementxsinil xml cdata hide id idref idrefs nmtoken nmtokens".split())
_RAW = frozenset({"xml", "cdata"})
"""Directives whose values are not escaped."""


def explicit(shape: Shape, ctx: Context, node: exp.Expr, order: str | None) -> str:
    """The expression that nests the rows; sys.xml_explicit does it row by row."""
    if len(shape.names) < 3:
        ctx.problem(
            "FOR XML EXPLICIT requires at least three columns, including the tag column, the parent column, "
            "and at least one data column.",
            node,
            number=6801,
        )
        return "NULL"
    for place, wanted in enumerate(("TAG", "PARENT")):
        if (shape.names[place] or "").upper() != wanted:
            ctx.problem(
                f"FOR XML EXPLICIT requires column {place + 1} to be named '{wanted}' instead of "
                f"'{shape.names[place] or ''}'.",
                node,
                number=6820,
            )
            return "NULL"
    columns: list[str] = []
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
            return "NULL"
        if directive and directive not in _DIRECTIVES:
            ctx.unsupported(f"the directive {parts[3]!r} of FOR XML EXPLICIT", node)
            return "NULL"
        element, tag, attribute = [*parts, ""][:3]
        four = (element, tag, attribute, directive)
        columns.append(f"[{', '.join(map(literal, four))}]")
        values.append(_plain(value) if directive in _RAW else atom(value))
    ordering = f" ORDER BY {order}" if order else ""
    rows = f"array_agg(ARRAY[{', '.join(values)}]{ordering})"
    return f"sys.xml_explicit(ARRAY[{', '.join(columns)}], {rows})"


def _plain(value: Value) -> str:
    return "NULL::text" if value.is_null else f"({value.text})::text"

"""FOR XML and FOR JSON: what the two have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from . import ordinary_sql_for_json as for_json
from . import ordinary_sql_for_xml as for_xml
from .ordinary_sql_context import Context
from .ordinary_sql_for_xml import Shape
from .ordinary_sql_interface import ResultColumn
from .ordinary_sql_reading import ForXml


@dataclass(frozen=True)
class Form:
    """One clause: the column it gives, and how it turns rows into text."""

    auto: bool
    """Rows are nested by table."""
    column: ResultColumn
    whole: Callable[[Shape, exp.Expr, bool, str | None], str]
    """Columns, query, whether there may be many rows, their order → expression."""


def form(clause: ForXml, ctx: Context) -> Form | None:
    """Read the clause; None after a problem."""
    if clause.args["kind"] == "JSON":
        json = for_json.options(clause, ctx)
        if json is None:
            return None

        def as_json(shape: Shape, node: exp.Expr, many: bool, order: str | None) -> str:
            return for_json.whole(json, shape, ctx, node, many=many, order=order)

        return Form(json.mode == "AUTO", for_json.result_column(), as_json)
    xml = for_xml.options(clause, ctx)
    if xml is None:
        return None

    def as_xml(shape: Shape, node: exp.Expr, many: bool, order: str | None) -> str:
        return for_xml.whole(xml, shape, ctx, node, many=many, order=order)

    return Form(xml.mode == "AUTO", for_xml.result_column(xml), as_xml)

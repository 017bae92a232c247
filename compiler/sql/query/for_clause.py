"""FOR XML and FOR JSON: what the two have in common."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ....grammar.records import dataclass
from ...catalog.objects import ResultColumn
from ...target import nodes as n
from ...target import queries as q
from ..context import Context
from ..parse.nodes import ForXml
from ..query_result import QueryTree, Shape
from ..values import Value
from . import for_json, for_xml


@dataclass(frozen=True)
class Form:
    """One clause: the column it gives, and how it turns rows into text."""

    auto: bool
    """Rows are nested by table."""
    column: ResultColumn
    whole: Callable[[Shape, exp.Expr, bool, tuple[n.OrderItem, ...]], n.Node]
    """Columns, query, whether there may be many rows, their order → expression."""


def form(clause: ForXml, ctx: Context) -> Form | None:
    """Read the clause; None after a problem."""
    if clause.args["kind"] == "JSON":
        json = for_json.options(clause, ctx)
        if json is None:
            return None

        def as_json(shape: Shape, node: exp.Expr, many: bool, order: tuple[n.OrderItem, ...]) -> n.Node:
            return for_json.whole(json, shape, ctx, node, many=many, order=order)

        return Form(json.mode == "AUTO", for_json.result_column(), as_json)
    xml = for_xml.options(clause, ctx)
    if xml is None:
        return None

    def as_xml(shape: Shape, node: exp.Expr, many: bool, order: tuple[n.OrderItem, ...]) -> n.Node:
        return for_xml.whole(xml, shape, ctx, node, many=many, order=order)

    return Form(xml.mode == "AUTO", for_xml.result_column(xml), as_xml)


def as_document(node: exp.Expr, result: QueryTree, values: list[Value] | None, ctx: Context) -> QueryTree:
    """Put FOR XML or FOR JSON around a finished query."""
    clause = node.args.get("for_")
    if clause is None or clause.args["kind"] == "BROWSE":
        return result
    found = form(clause, ctx)
    if found is None:
        return result
    if result.columns is None or values is None:
        what = f"FOR {clause.args['kind']} over '*' of a table that the script does not create"
        refused = ctx.unsupported_if_there(what, node, "name the columns")
        if refused is None:
            return result
        # One row whatever the table has: it is refused without rows, too.
        rows = q.Aliased(
            n.Subquery(q.Select((n.Call("count", (n.STAR,)),), q.Aliased(n.Subquery(result.code), "r"))), "n"
        )
        return QueryTree(
            q.Select((refused,), rows),
            (found.column,),
            [Value(n.NOTHING, found.column.type)],
        )
    shape = Shape(
        [column.name for column in result.columns],
        for_xml.labelled(values),
        for_xml.column_tables(node, len(values), ctx),
    )
    expression = found.whole(shape, node, True, ())
    return QueryTree(
        for_xml.wrap(result.code, len(values), expression),
        (found.column,),
        [Value(n.NOTHING, found.column.type)],
        one_row=True,
        at_most_one=True,
    )

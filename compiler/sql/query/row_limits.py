"""TOP, OFFSET, FETCH and SET ROWCOUNT."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ....grammar.records import replace
from ...catalog import types as tm
from ...catalog.names import fold
from ...target import nodes as n
from ...target import queries as q
from .. import values as v
from ..context import Context
from ..conversions import convert
from ..expressions.names import scalar
from ..parse.dml import Top
from ..parse.nodes import is_variable
from ..parse.token_reader import TOP_WITH_OFFSET
from ..query_result import NOTHING_SELECTED
from ..values import Value

NO_ROW_COUNT = (
    "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer."
)
"""Error 1060."""


def top(node: exp.Select, ctx: Context) -> tuple[n.Node | None, n.Node | None, bool]:
    """(LIMIT, percentage, WITH TIES)."""
    limit = node.args.get("limit")
    if not isinstance(limit, exp.Limit):
        return None, None, False
    value = _count_outside(limit.expression, ctx)
    options = limit.args.get("limit_options")
    with_ties = bool(options is not None and options.args.get("with_ties"))
    if with_ties and node.args.get("order") is None:
        ctx.problem(
            "The TOP N WITH TIES clause is not allowed without a corresponding ORDER BY clause.",
            node,
            number=1062,
        )
    if options is not None and options.args.get("percent") and value.constant == 100:
        return None, None, False
    if options is not None and options.args.get("percent"):
        return None, value.code, with_ties
    _need_integer(value, limit.expression, ctx)
    return _top_count(value), None, with_ties


_INSIDE = (exp.Subquery, exp.CTE, exp.In, exp.Exists, exp.Any, exp.All)


def refuse_order(node: exp.Expr, ctx: Context, *, inside: bool = False) -> None:
    """Error 1033 for ORDER BY in a query ``inside`` another one, of which no TOP … FOR XML makes use."""
    order = node.args.get("order")
    if order is None or not (inside or isinstance(node.parent, _INSIDE)):
        return
    if all(node.args.get(key) is None for key in ("limit", "offset", "for_")):
        ctx.problem(
            "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and "
            "common table expressions, unless TOP, OFFSET or FOR XML is also specified.",
            order,
            number=1033,
        )


def _count_outside(node: exp.Expr, ctx: Context) -> Value:
    """TOP's and OFFSET's expressions see no column of the query."""
    column = next((one for one in node.find_all(exp.Column) if not is_variable(one)), None)
    if column is not None and ctx.frame.is_outermost and node.find(exp.Query) is None:
        return ctx.problem(
            f'The reference to column "{column.name}" is not allowed in an argument to a TOP, OFFSET, or '
            "FETCH clause. Only references to columns at an outer scope or standalone expressions and "
            "subqueries are allowed here.",
            column,
            number=4115,
        )
    inside, qualified = ctx.frame, ctx.qualified
    assert inside.parent is not None
    # PostgreSQL looks for columns there all the same, so variables keep their label.
    ctx.qualified = ctx.has_relations
    ctx.frame = inside.parent
    try:
        return scalar(node, ctx)
    finally:
        ctx.frame, ctx.qualified = inside, qualified


def limit_of(top: Top | None, ctx: Context, counted: Callable[[], n.Node]) -> n.Node | None:
    """LIMIT of a statement that changes rows: its TOP, and SET ROWCOUNT where that is in force.

    ``counted``: the query whose rows a percentage is taken of.
    """
    if top is None:
        return None
    limit: n.Node | None = None
    if top.count is not None:
        count = scalar(top.count, ctx)
        if not top.percent:
            _need_integer(count, top.count, ctx)
            limit = _top_count(count)
        elif count.constant != 100:
            all_rows = q.Aliased(n.Subquery(counted()), "counted")
            share = _share(n.Call("count", (n.STAR,)), count.code)
            limit = n.Subquery(q.Select((share,), all_rows, breaks=q.Breaks.NEVER))
    return within_row_limit(limit, ctx)


def _share(total: n.Node, percent: n.Node) -> n.Node:
    """The number of rows that a percentage of them is."""
    part = n.Product("*", total, percent if isinstance(percent, n.Paren) else n.Paren(percent))
    return n.Call("ceil", (n.Product("/", part, n.Number("100.0")),))


def limited(query: n.Node, top: Top | None, ctx: Context) -> n.Node:
    """The first rows of an INSERT's query."""
    limit = limit_of(top, ctx, lambda: query)
    if limit is None:
        return query
    return q.Select((n.STAR,), q.Aliased(n.Subquery(query), "chosen"), limit=limit, breaks=q.Breaks.NEVER)


def top_rows(
    rows: list[list[Value]], types: list[tm.SqlType | None], top: Top, ctx: Context
) -> tuple[list[list[Value]] | None, n.Node | None]:
    """The rows of an INSERT's VALUES under TOP: those that are left, or a query of all of them."""
    if len(rows) == 1 and top.count is None:
        return rows, None
    known = scalar(top.count, ctx).constant if top.count is not None else None
    if isinstance(known, int) and ctx.scope.row_limit is None:
        left = rows[: -(-len(rows) * known // 100) if top.percent else known]
        if left:
            return left, None
    if any(cell.code is n.DEFAULT for row in rows for cell in row):
        ctx.unsupported("TOP with DEFAULT among the values", top.count)
        return rows, None
    cells = (
        tuple(
            v.cast(cell, type_.postgres, type_).code if type_ is not None else cell.code
            for cell, type_ in pairs
        )
        for pairs in (zip(row, types or [None] * len(row), strict=True) for row in rows)
    )
    return None, q.Values(tuple(cells))


def changing_top(top: Top | None, ctx: Context) -> Top | None:
    """The TOP of a statement that changes rows, made where there is none but SET ROWCOUNT."""
    return Top(None) if top is None and ctx.scope.row_limit is not None else top


def limit_rows(node: exp.Expr) -> None:
    """Mark a statement's own query: SET ROWCOUNT limits it, not the queries inside it."""
    while isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
        node = node.this
    node.meta["limits_rows"] = True


def limits_rows(node: exp.Expr) -> bool:
    """Whether SET ROWCOUNT limits this query."""
    return bool(node.meta.get("limits_rows"))


def within_row_limit(limit: n.Node | None, ctx: Context) -> n.Node | None:
    """LIMIT under SET ROWCOUNT, which counts where it is the smaller one; NULL is no limit."""
    spelling = ctx.scope.row_limit
    if spelling is None:
        return limit
    rows = n.Variable(spelling)
    return rows if limit is None else n.Call("LEAST", (limit, rows))


def counts_rows(type_: tm.SqlType | None) -> bool:
    """Whether TOP takes a number of a type: an integer, or a decimal without places behind the point."""
    if type_ is None or type_.family in ("integer", "bit", "unknown", "user"):
        return True
    return type_.name in ("decimal", "numeric") and not type_.scale


def _need_integer(value: Value, node: exp.Expr, ctx: Context) -> None:
    if not counts_rows(value.type):
        ctx.problem(NO_ROW_COUNT, node, number=1060)


def _top_count(value: Value) -> n.Node:
    """A row count that is no literal is looked at: NULL would be no limit to PostgreSQL."""
    count = row_count(value)
    return count.code if isinstance(value.constant, int) else n.Call("sys.top_count", (count.code,))


def row_count(value: Value) -> Value:
    """A row count for LIMIT: numbers that are no integers are cut by T-SQL."""
    if value.type is not None and value.type.family not in ("integer", "bit", "unknown"):
        return convert(value, tm.BIGINT)
    return value


def offset_fetch(node: exp.Expr, ctx: Context) -> tuple[n.Node | None, n.Node | None]:
    """(LIMIT, OFFSET) of ``OFFSET n ROWS FETCH NEXT m ROWS ONLY``."""
    offset = node.args.get("offset")
    fetch = node.args.get("limit")
    skipped: n.Node | None = None
    if offset is not None:
        number = _count_outside(offset.expression, ctx)
        _need_integer(number, offset.expression, ctx)
        skipped = row_count(number).code
    if skipped == n.Integer(0):
        skipped = None
    limit: n.Node | None = None
    if isinstance(fetch, exp.Fetch):
        count = fetch.args.get("count")
        limit = n.Integer(1)
        if count is not None:
            wanted = _count_outside(count, ctx)
            _need_integer(wanted, count, ctx)
            limit = _top_count(wanted)
        if offset is None:
            word = fetch.args.get("direction") or "FIRST"
            ctx.problem(f"Invalid usage of the option {word} in the FETCH statement.", fetch, number=153)
    if isinstance(fetch, exp.Fetch) and isinstance(limit, n.Integer) and limit.value == 0:
        ctx.problem(
            "The number of rows provided for a FETCH clause must be greater then zero.", fetch, number=10744
        )
    if offset is not None and isinstance(fetch, exp.Limit):
        ctx.problem(TOP_WITH_OFFSET, offset, number=10741)
    if offset is not None and node.args.get("order") is None:
        ctx.problem("OFFSET needs ORDER BY before it", offset, number=102)
    return limit, skipped


def top_percent(
    query: q.Select,
    names: list[str | None],
    values: list[Value] | None,
    percent: n.Node,
    ctx: Context,
) -> q.Select:
    """TOP (n) PERCENT of a query: the row's place and the number of rows are counted beside the columns.

    WITH TIES the rows are counted apart: the last row's peers belong to no place.
    """
    if query.ties:
        all_rows = replace(query, order=(), limit=None, offset=None, ties=False, locks=())
        share = n.Cast(_share(n.Call("count", (n.STAR,)), percent), "bigint")
        counted = q.Select((share,), q.Aliased(n.Subquery(all_rows), "counted"))
        return replace(query, limit=n.Subquery(counted), locks=())
    if values is None:
        ctx.unsupported("TOP … PERCENT with '*' of a table that the script does not create")
        return NOTHING_SELECTED
    labels = [f"c{place}" for place in range(1, len(values) + 1)]
    inner = replace(
        query,
        items=tuple(q.Labelled(value.code, label) for value, label in zip(values, labels, strict=True)),
        limit=None,
        offset=None,
        locks=(),
    )
    columns = [n.Name((label,)) for label in labels]
    shown = (
        q.Labelled(column, fold(name)) if name else column
        for column, name in zip(columns, names, strict=True)
    )
    place, total = n.Name(("place",)), n.Name(("total",))
    with_place = (
        n.STAR,
        q.Labelled(n.Over(n.Call("row_number")), "place"),
        q.Labelled(n.Over(n.Call("count", (n.STAR,))), "total"),
    )
    numbered = q.Select(with_place, q.Aliased(n.Subquery(inner), "ordered"))
    return q.Select(
        tuple(shown),
        q.Aliased(n.Subquery(numbered), "numbered"),
        where=n.Comparison("<=", place, _share(total, percent)),
        order=(n.OrderItem(place),),
        limit=query.limit,
    )

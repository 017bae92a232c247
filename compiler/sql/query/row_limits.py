"""TOP, OFFSET, FETCH and SET ROWCOUNT."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ...catalog import types as tm
from ...catalog.names import identifier
from ...target import nodes as n
from .. import values as v
from ..context import Context
from ..conversions import convert
from ..expressions.names import scalar
from ..parse.dml import Top
from ..values import Value
from ..writer import select


def top(node: exp.Select, ctx: Context) -> tuple[str | None, str | None, bool]:
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
        return None, value.text, with_ties
    return _top_count(value), None, with_ties


def _count_outside(node: exp.Expr, ctx: Context) -> Value:
    """TOP's and OFFSET's expressions see no column of the query."""
    inside, qualified = ctx.frame, ctx.qualified
    assert inside.parent is not None
    # PostgreSQL looks for columns there all the same, so variables keep their label.
    ctx.qualified = ctx.has_relations
    ctx.frame = inside.parent
    try:
        return scalar(node, ctx)
    finally:
        ctx.frame, ctx.qualified = inside, qualified


def limit_of(top: Top | None, ctx: Context, counted: Callable[[], str]) -> str | None:
    """LIMIT of a statement that changes rows: its TOP, and SET ROWCOUNT where that is in force.

    ``counted``: the query whose rows a percentage is taken of.
    """
    if top is None:
        return None
    limit: str | None = None
    if top.count is not None:
        count = scalar(top.count, ctx)
        if not top.percent:
            limit = _top_count(count)
        elif count.constant != 100:
            limit = f"(SELECT ceil(count(*) * ({count.text}) / 100.0) FROM ({counted()}) AS counted)"
    return within_row_limit(limit, ctx)


def limited(query: str, top: Top | None, ctx: Context) -> str:
    """The first rows of an INSERT's query."""
    limit = limit_of(top, ctx, lambda: query)
    return query if limit is None else f"SELECT * FROM ({query}) AS chosen LIMIT {limit}"


def top_rows(
    rows: list[list[Value]], types: list[tm.SqlType | None], top: Top, ctx: Context
) -> tuple[list[list[Value]] | None, str | None]:
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
    cells = [
        [
            v.cast(cell, type_.postgres, type_).text if type_ is not None else cell.text
            for cell, type_ in pairs
        ]
        for pairs in (zip(row, types or [None] * len(row), strict=True) for row in rows)
    ]
    return None, "VALUES " + ", ".join(f"({', '.join(row)})" for row in cells)


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


def within_row_limit(limit: str | None, ctx: Context) -> str | None:
    """LIMIT under SET ROWCOUNT, which counts where it is the smaller one; NULL is no limit."""
    rows = ctx.scope.row_limit
    return limit if rows is None else (rows if limit is None else f"LEAST({limit}, {rows})")


def _top_count(value: Value) -> str:
    """A row count that is no literal is looked at: NULL would be no limit to PostgreSQL."""
    count = row_count(value)
    return count.text if isinstance(value.constant, int) else v.call("sys.top_count", count.code).text


def row_count(value: Value) -> Value:
    """A row count for LIMIT: numbers that are no integers are cut by T-SQL."""
    if value.type is not None and value.type.family not in ("integer", "bit", "unknown"):
        return convert(value, tm.BIGINT)
    return value


def offset_fetch(node: exp.Expr, ctx: Context) -> tuple[str | None, str | None]:
    """(LIMIT, OFFSET) of ``OFFSET n ROWS FETCH NEXT m ROWS ONLY``."""
    offset = node.args.get("offset")
    fetch = node.args.get("limit")
    offset_text = row_count(_count_outside(offset.expression, ctx)).text if offset is not None else None
    if offset_text == "0":
        offset_text = None
    limit_text = None
    if isinstance(fetch, exp.Fetch):
        count = fetch.args.get("count")
        limit_text = row_count(_count_outside(count, ctx)).text if count is not None else "1"
        if offset is None:
            ctx.problem("Invalid usage of the option FIRST in the FETCH statement.", fetch, number=153)
    if offset is not None and node.args.get("order") is None:
        ctx.problem("OFFSET needs ORDER BY before it", offset, number=102)
    return limit_text, offset_text


def top_percent(
    names: list[str | None],
    values: list[Value] | None,
    percent: str,
    from_text: str | None,
    joins: list[tuple[str, str, str | None]],
    where: str | None,
    group_text: str | None,
    having: str | None,
    order: str | None,
    distinct: bool,
    limit: str | None,
    ctx: Context,
) -> str:
    """TOP (n) PERCENT: the row's place and the number of rows are counted beside the columns."""
    if values is None:
        ctx.unsupported("TOP … PERCENT with '*' of a table that the script does not create")
        return "SELECT NULL"
    labels = [f"c{place}" for place in range(1, len(values) + 1)]
    inner = select(
        expressions=[f"{value.text} AS {label}" for value, label in zip(values, labels, strict=True)],
        distinct=distinct,
        from_=from_text,
        joins=joins,
        where=where,
        group=group_text,
        having=having,
        order=order,
    )
    shown = [
        f"{label} AS {identifier(name)}" if name else label for label, name in zip(labels, names, strict=True)
    ]
    numbered = select(
        expressions=["*", "row_number() OVER () AS place", "count(*) OVER () AS total"],
        from_=f"({inner}) AS ordered",
    )
    return select(
        expressions=shown,
        from_=f"({numbered}) AS numbered",
        where=f"place <= ceil(total * ({percent}) / 100.0)",
        order="place",
        limit=limit,
    )

"""TOP, OFFSET and FETCH."""

from __future__ import annotations

from sqlglot import exp

from . import ordinary_sql_values as v
from . import type_map as tm
from .names import identifier
from .ordinary_sql_context import Context
from .ordinary_sql_expressions import scalar
from .ordinary_sql_values import Value
from .ordinary_sql_writing import select


def top(node: exp.Select, ctx: Context) -> tuple[str | None, str | None, bool]:
    """(LIMIT, percentage, WITH TIES)."""
    limit = node.args.get("limit")
    if not isinstance(limit, exp.Limit):
        return None, None, False
    value = _count_outside(limit.expression, ctx)
    options = limit.args.get("limit_options")
    with_ties = bool(options is not None and options.args.get("with_ties"))
    if with_ties and node.args.get("order") is None:
        ctx.problem("TOP … WITH TIES needs ORDER BY", node, number=1062)
    if options is not None and options.args.get("percent") and value.constant == 100:
        return None, None, False
    if options is not None and options.args.get("percent"):
        return None, value.text, with_ties
    return row_count(value), None, with_ties


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


def row_count(value: Value) -> str:
    """A row count for LIMIT: numbers that are no integers are cut by T-SQL."""
    if value.type is not None and value.type.family not in ("integer", "bit", "unknown"):
        return v.convert(value, tm.BIGINT).text
    return value.text


def offset_fetch(node: exp.Expr, ctx: Context) -> tuple[str | None, str | None]:
    """(LIMIT, OFFSET) of ``OFFSET n ROWS FETCH NEXT m ROWS ONLY``."""
    offset = node.args.get("offset")
    fetch = node.args.get("limit")
    offset_text = row_count(_count_outside(offset.expression, ctx)) if offset is not None else None
    if offset_text == "0":
        offset_text = None
    limit_text = None
    if isinstance(fetch, exp.Fetch):
        count = fetch.args.get("count")
        limit_text = row_count(_count_outside(count, ctx)) if count is not None else "1"
        if offset is None:
            ctx.problem("FETCH needs OFFSET before it", fetch, number=153)
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
    )

"""Window functions, ordered aggregates, ORDER BY."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from . import ordinary_sql_values as v
from .ordinary_sql_calls import function_value
from .ordinary_sql_context import Context, expression, handles
from .ordinary_sql_expressions import scalar
from .ordinary_sql_values import Value

_WINDOW_PARTS = frozenset("this partition_by order spec alias over".split())


@handles(exp.Window)
def _window(node: exp.Window, ctx: Context) -> Value:
    aggregates = ctx.frame.aggregates
    ctx.only(node, _WINDOW_PARTS)
    inner = node.this
    if isinstance(inner, exp.IgnoreNulls):
        return ctx.unsupported("IGNORE NULLS", node, hint="PostgreSQL has it from 19 on")
    if isinstance(inner, exp.RespectNulls):
        inner = inner.this  # which is what happens anyway
    value = function_value(inner, ctx) if isinstance(inner, exp.Anonymous) else expression(inner, ctx)
    ctx.frame.aggregates = aggregates
    if isinstance(node.this, exp.WithinGroup):
        return ctx.unsupported(
            "an ordered aggregate with OVER",
            node,
            hint="PostgreSQL has it without OVER only; group by the partition",
        )
    if node.args.get("alias") is not None:
        return ctx.unsupported("a named window", node)
    parts = []
    if node.args.get("partition_by"):
        keys = ", ".join(scalar(key, ctx).text for key in node.args["partition_by"])
        parts.append(f"PARTITION BY {keys}")
    order = node.args.get("order")
    if order is not None:
        parts.append(order_by(order, ctx))
    spec = node.args.get("spec")
    if spec is not None:
        parts.append(_frame(spec, ctx))
    text = f"{value.text} OVER ({' '.join(parts)})"
    return v.unwrap(replace(value, text=text, level=v.ATOM))


def _frame(spec: exp.WindowSpec, ctx: Context) -> str:
    def side(value: Any, direction: Any) -> str:
        text = value if isinstance(value, str) else scalar(value, ctx).text
        return f"{text} {direction}" if direction else text

    start = side(spec.args.get("start"), spec.args.get("start_side"))
    end = spec.args.get("end")
    kind = spec.args.get("kind", "ROWS").upper()
    if end is None:
        return f"{kind} {start}"
    return f"{kind} BETWEEN {start} AND {side(end, spec.args.get('end_side'))}"


def order_by(order: exp.Order, ctx: Context, *, resolve: Any = None) -> str:
    """``ORDER BY …`` with T-SQL's place of NULLs: first when ascending, last when descending."""
    return "ORDER BY " + ", ".join(order_item(item, ctx, resolve=resolve) for item in order.expressions)


def order_item(item: exp.Ordered, ctx: Context, *, resolve: Any = None) -> str:
    """One item of ORDER BY."""
    value = resolve(item.this) if resolve is not None else None
    if value is None:
        value = scalar(item.this, ctx)
    text = value.text
    insensitive = value.collation is None and ctx.scope.case_insensitive and value.is_string
    if (value.collation == "ci" or insensitive) and not value.is_literal:
        text = f"lower({text})"
    descending = bool(item.args.get("desc"))
    if descending:
        text += " DESC"
    ordinal = value.is_literal and isinstance(item.this, exp.Literal)
    if (value.nullable or ordinal) and not value.is_null and "SELECT NULL" not in text:
        text += " NULLS LAST" if descending else " NULLS FIRST"
    return text


@handles(exp.WithinGroup)
def _within_group(node: exp.WithinGroup, ctx: Context) -> Value:
    inner = node.this
    value = expression(inner, ctx)
    order = node.expression
    text = order_by(order, ctx)
    if isinstance(inner, exp.Anonymous) and inner.name.upper() == "STRING_AGG":
        return replace(value, text=f"{value.text[:-1]} {text})")
    ctx.frame.aggregates += 1
    return replace(value, text=f"{value.text} WITHIN GROUP ({text})")

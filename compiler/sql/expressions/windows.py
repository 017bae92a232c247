"""Window functions, ordered aggregates, ORDER BY."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from ...catalog import types as tm
from ...catalog.names import fold
from .. import values as v
from ..context import Context, place
from ..conversions import convert, reconcile
from ..dispatch import expression, handles
from ..parse.nodes import JsonText, NextValue
from ..values import Value
from .calls import function_value
from .names import scalar

_WINDOW_PARTS = frozenset("this partition_by order spec alias over".split())


@handles(exp.Window)
def _window(node: exp.Window, ctx: Context) -> Value:
    aggregates = ctx.frame.aggregates
    ctx.only(node, _WINDOW_PARTS)
    inner = node.this
    if isinstance(inner, exp.RespectNulls):
        inner = inner.this  # which is what happens anyway
    base = _named(node, ctx)
    if isinstance(inner, NextValue):
        return _next_values(node, inner, base, ctx)
    if isinstance(inner, JsonText):
        return ctx.problem(f"The function '{inner.args['kind']}' takes no OVER clause.", node)
    if isinstance(inner, exp.IgnoreNulls):
        value = _present(inner.this, base, ctx)
        ctx.frame.aggregates = aggregates
        return value
    if isinstance(inner, exp.WithinGroup):
        value = _percentile(inner, base, ctx)
        ctx.frame.aggregates = aggregates
        return value
    value = function_value(inner, ctx) if isinstance(inner, exp.Anonymous) else expression(inner, ctx)
    ctx.frame.aggregates = aggregates
    text = f"{value.text} {_over(base, ctx)}"
    return v.unwrap(replace(value, text=text, level=v.ATOM))


def _over(base: dict[str, Any], ctx: Context, frame: str | None = None) -> str:
    """``OVER (…)`` of what the clause says; ``frame`` instead of its own."""
    parts = _partition(base, ctx)
    order = base["order"]
    # ORDER BY (SELECT NULL): T-SQL wants something there; PostgreSQL would sort all rows by it.
    if order is not None and not all(_is_constant_query(item.this) for item in order.expressions):
        parts.append(order_by(order, ctx))
    if frame is None and base["spec"] is not None:
        frame = _frame(base["spec"], ctx)
    return f"OVER ({' '.join([*parts, frame] if frame else parts)})"


def _is_constant_query(node: exp.Expr) -> bool:
    """``(SELECT NULL)``, ``(SELECT 1)``: the same for every row."""
    query = node.this if isinstance(node, exp.Subquery) else None
    if not isinstance(query, exp.Select) or len(query.expressions) != 1:
        return False
    alone = all(not value for key, value in query.args.items() if key != "expressions")
    return alone and isinstance(query.expressions[0], (exp.Null, exp.Literal, exp.National))


def _next_values(node: exp.Window, inner: NextValue, base: dict[str, Any], ctx: Context) -> Value:
    """NEXT VALUE FOR … OVER (ORDER BY …): PostgreSQL numbers the rows after it has ordered the query."""
    select = node.find_ancestor(exp.Select)
    order = base["order"]
    does_not = "NEXT VALUE FOR function does not support"
    if base["partition_by"]:
        return ctx.problem(f"{does_not} the PARTITION BY clause.", node, number=11716)
    if base["spec"] is not None:
        return ctx.problem(f"{does_not} the ROWS and RANGE clauses.", node, number=11737)
    if select is None or order is None:
        return ctx.problem(f"{does_not} an empty OVER clause.", node, number=11718)
    own = select.args.get("order")
    if own is None:
        select.set("order", order.copy())
    elif own != order:
        return ctx.unsupported("NEXT VALUE FOR … OVER in a query with another ORDER BY", node)
    return expression(inner, ctx)


def _present(call: exp.Expr, base: dict[str, Any], ctx: Context) -> Value:
    """FIRST_VALUE, LAST_VALUE, LAG and LEAD with IGNORE NULLS, by aggregates that skip NULL."""
    upper = call.name.upper() if isinstance(call, exp.Anonymous) else ""
    if upper not in ("FIRST_VALUE", "LAST_VALUE", "LAG", "LEAD") or not isinstance(call, exp.Anonymous):
        return ctx.problem("Incorrect syntax near 'IGNORE'.", call, number=102)
    if base["order"] is None:
        return ctx.problem(
            f"The function '{upper}' must have an OVER clause with ORDER BY.", call, number=4112
        )
    # Checks the arguments and knows the type; how the rows are found is written here.
    plain = function_value(call, ctx)
    if not call.expressions:
        return plain
    if upper in ("LAG", "LEAD"):
        return _present_offset(call, plain, base, ctx, ahead=upper == "LEAD")
    value = scalar(call.expressions[0], ctx)
    latest = upper == "LAST_VALUE"
    spec = base["spec"]
    if spec is not None and spec.args.get("end") == "UNBOUNDED" and spec.args.get("start") != "UNBOUNDED":
        # A frame whose beginning moves is summed up anew for each row, one whose end moves is not.
        base, latest = _mirrored(base), not latest
    name = "sys.last_present" if latest else "sys.first_present"
    return Value(f"{name}({value.text}) {_over(base, ctx)}", v.ATOM, plain.type)


def _present_offset(
    call: exp.Anonymous, plain: Value, base: dict[str, Any], ctx: Context, *, ahead: bool
) -> Value:
    """LAG and LEAD: the n-th value that is not NULL among the rows before this one, seen from there."""
    arguments = [scalar(argument, ctx) for argument in call.expressions]
    over = _over(_mirrored(base) if ahead else base, ctx, "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING")
    value = arguments[0]
    if len(arguments) == 3:
        (value, default), _ = reconcile([arguments[0], arguments[2]])
    offset = arguments[1] if len(arguments) > 1 else v.integer(1)
    if offset.constant == 1:
        found = f"sys.last_present({value.text}) {over}"
    else:
        present = f"FILTER (WHERE {value.at(v.COMPARE)} IS NOT NULL)"
        found = (
            f"CASE WHEN {offset.at(v.COMPARE)} = 0 THEN {value.text} ELSE (array_agg({value.text}) {present} "
            f"{over})[1 + count({value.text}) {over} - {offset.at(v.MULTIPLY)}] END"
        )
    if len(arguments) == 3:
        found = f"COALESCE({found}, {default.text})"
    return Value(found, v.ATOM, plain.type)


_OTHER_SIDE = {"PRECEDING": "FOLLOWING", "FOLLOWING": "PRECEDING"}


def _mirrored(base: dict[str, Any]) -> dict[str, Any]:
    """The same rows in the opposite order."""
    order, spec = base["order"].copy(), base["spec"]
    for item in order.expressions:
        item.set("desc", not item.args.get("desc"))
    if spec is not None:
        spec = exp.WindowSpec(
            kind=spec.args.get("kind"),
            start=spec.args.get("end"),
            start_side=_OTHER_SIDE.get(spec.args.get("end_side")),
            end=spec.args.get("start"),
            end_side=_OTHER_SIDE.get(spec.args.get("start_side")),
        )
    return {**base, "order": order, "spec": spec}


def _named(node: exp.Window, ctx: Context) -> dict[str, Any]:
    """What an OVER clause says, the window of the WINDOW clause that it names included."""
    found = {key: node.args.get(key) for key in ("partition_by", "order", "spec")}
    name = node.args.get("alias")
    select = node.find_ancestor(exp.Select)
    windows = (select.args.get("windows") or []) if select is not None else []
    seen: set[str] = set()
    while name is not None:
        window = next((w for w in windows if fold(w.this.name) == fold(name.name)), None)
        if window is None or fold(name.name) in seen:
            says = "is not defined" if window is None else "refers to itself"
            ctx.problem(f"the window '{name.name}' {says}", name if place(name)[0] is not None else node)
            break
        seen.add(fold(name.name))
        for key in found:
            found[key] = found[key] or window.args.get(key)
        name = window.args.get("alias")
    return found


def _partition(base: dict[str, Any], ctx: Context) -> list[str]:
    keys = ", ".join(scalar(key, ctx).text for key in base["partition_by"] or ())
    return [f"PARTITION BY {keys}"] if keys else []


def _percentile(node: exp.WithinGroup, base: dict[str, Any], ctx: Context) -> Value:
    """PERCENTILE_CONT and PERCENTILE_DISC … OVER: an element of the partition's sorted values."""
    call = node.this
    items = node.expression.expressions if isinstance(node.expression, exp.Order) else []
    upper = call.name.upper() if isinstance(call, exp.Anonymous) else ""
    if upper not in ("PERCENTILE_CONT", "PERCENTILE_DISC") or len(call.expressions) != 1 or len(items) != 1:
        return ctx.problem("incorrect syntax near WITHIN GROUP", call, number=102)
    if base["order"] is not None:
        return ctx.problem(
            f"The function '{upper}' may not have ORDER BY in OVER clause.", call, number=10758
        )
    if base["spec"] is not None:
        return ctx.problem(f"The function '{upper}' may not have a window frame.", call, number=10752)
    share = scalar(call.expressions[0], ctx)
    value = scalar(items[0].this, ctx)
    continuous = upper == "PERCENTILE_CONT"
    taken = convert(value, tm.FLOAT) if continuous else value
    parts = _partition(base, ctx)
    parts.append(f"ORDER BY {value.text}{' DESC' if items[0].args.get('desc') else ''}")
    parts.append("ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")
    present = f" FILTER (WHERE {value.at(v.COMPARE)} IS NOT NULL)"
    array = f"array_agg({taken.text}){present} OVER ({' '.join(parts)})"
    return v.call(f"sys.{upper.lower()}", share.text, array, type=tm.FLOAT if continuous else value.type)


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


def order_item(item: exp.Ordered, ctx: Context, *, resolve: Any = None, results: bool = False) -> str:
    """One item of ORDER BY.

    ``resolve`` finds an item of the select list: how ORDER BY names it, and its expression.
    With ``results`` the rows of DISTINCT or UNION are ordered, for which PostgreSQL takes
    nothing but their columns: the database's collation decides then.
    """
    value: Value | None = None
    name: str | None = None
    if resolve is not None:
        value, name = resolve(item.this)
    if value is None:
        value = scalar(item.this, ctx)
    if value.type is not None and value.type.family == "xml":
        ctx.problem(
            "The XML data type cannot be compared or sorted, except when using the IS NULL operator.",
            item,
            number=305,
        )
    folds = value.collation or ("ci" if ctx.scope.case_insensitive and value.is_string else "")
    text = value.text
    if not results and not (value.is_literal and name is None):
        if folds.endswith("_ai"):
            text = f"sys.without_accents({text})"
        if folds in ("ci", "ci_ai"):
            text = f"lower({text})"
    if name is not None and text == value.text:
        # PostgreSQL knows an alias and a position alone, not in an expression.
        text = name
    descending = bool(item.args.get("desc"))
    if descending:
        text += " DESC"
    ordinal = value.is_literal and name is None and isinstance(item.this, exp.Literal)
    if (value.nullable or ordinal) and not value.is_null and not _selects_null(item.this):
        text += " NULLS LAST" if descending else " NULLS FIRST"
    return text


def _selects_null(node: exp.Expr) -> bool:
    """Tell whether ``(SELECT NULL)`` stands where an order is wanted and there is none."""
    return any(isinstance(query.expressions[0], exp.Null) for query in node.find_all(exp.Select))


@handles(exp.WithinGroup)
def _within_group(node: exp.WithinGroup, ctx: Context) -> Value:
    inner = node.this
    value = expression(inner, ctx)
    order = node.expression
    if not isinstance(order, exp.Order):
        return ctx.problem("incorrect syntax near WITHIN GROUP: ORDER BY is missing", inner, number=102)
    text = order_by(order, ctx)
    if isinstance(inner, exp.Anonymous) and inner.name.upper() == "STRING_AGG":
        return replace(value, text=f"{value.text[:-1]} {text})")
    ctx.frame.aggregates += 1
    return replace(value, text=f"{value.text} WITHIN GROUP ({text})")

"""Window functions, ordered aggregates, ORDER BY."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from ....grammar.records import dataclass, replace
from ...catalog import types as tm
from ...catalog.names import fold
from ...target import nodes as n
from .. import values as v
from ..context import Context, place
from ..conversions import convert
from ..dispatch import expression, handles
from ..functions.builders import with_default
from ..functions.builtin import is_of_one_row
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
    over = _named(node, ctx)
    if isinstance(inner, NextValue):
        return _next_values(node, inner, over, ctx)
    alone = inner.args["kind"] if isinstance(inner, JsonText) else inner.name.upper()
    if isinstance(inner, JsonText) or (isinstance(inner, exp.Anonymous) and is_of_one_row(alone)):
        return ctx.problem(
            f"The function '{alone}' is not a valid windowing function, and cannot be used with the OVER "
            "clause.",
            node,
            number=4113,
        )
    if isinstance(inner, exp.IgnoreNulls):
        value = _present(inner.this, over, ctx)
        ctx.frame.aggregates = aggregates
        return value
    if isinstance(inner, exp.WithinGroup):
        value = _percentile(inner, over, ctx)
        ctx.frame.aggregates = aggregates
        return value
    _check_window(inner.name.upper() if isinstance(inner, exp.Anonymous) else "", over, node, ctx)
    value = function_value(inner, ctx) if isinstance(inner, exp.Anonymous) else expression(inner, ctx)
    ctx.frame.aggregates = aggregates
    return v.unwrap(replace(value, code=_over(value.code, over, ctx)))


_RANKING = frozenset("ROW_NUMBER RANK DENSE_RANK NTILE PERCENT_RANK CUME_DIST LAG LEAD".split())
_OF_PLACE = frozenset(("FIRST_VALUE", "LAST_VALUE"))


@dataclass(frozen=True)
class OverClause:
    """What stands in an OVER clause."""

    partition_by: tuple[exp.Expr, ...]
    order: exp.Order | None
    spec: exp.WindowSpec | None
    """The frame."""


def _check_window(function: str, over: OverClause, node: exp.Window, ctx: Context) -> None:
    """Report an OVER clause that lacks its order, or has a frame that means nothing."""
    order, spec = over.order, over.spec
    if order is None and function in _RANKING | _OF_PLACE:
        ctx.problem(f"The function '{function}' must have an OVER clause with ORDER BY.", node, number=4112)
    elif spec is not None and function in _RANKING:
        ctx.problem(f"The function '{function}' may not have a window frame.", node, number=10752)
    elif spec is not None and order is None:
        ctx.problem("Window frame with ROWS or RANGE must have an ORDER BY clause.", node, number=10756)
    elif spec is not None and str(spec.args.get("kind")).upper() == "RANGE":
        sides = (spec.args.get("start"), spec.args.get("end"))
        if any(isinstance(side, exp.Expr) for side in sides):
            ctx.problem(
                "RANGE is only supported with UNBOUNDED and CURRENT ROW window frame delimiters.",
                node,
                number=4194,
            )


def _over(call: n.Node, over: OverClause, ctx: Context, frame: n.Frame | None = None) -> n.Over:
    """``call OVER (…)`` of what the clause says; ``frame`` instead of its own."""
    partition = _partition(over, ctx)
    order = over.order
    items: tuple[n.OrderItem, ...] = ()
    for item in order.expressions if order is not None else ():
        if isinstance(item.this, exp.Literal | exp.National | exp.Null):
            is_number = isinstance(item.this, exp.Literal) and not item.this.is_string and item.this.is_int
            ctx.problem(
                "Windowed functions, aggregates and NEXT VALUE FOR functions do not support "
                f"{'integer indices' if is_number else 'constants'} as ORDER BY clause expressions.",
                item,
                number=5308 if is_number else 5309,
            )
    # ORDER BY (SELECT NULL): T-SQL wants something there; PostgreSQL would sort all rows by it.
    if order is not None and not all(_is_constant_query(item.this) for item in order.expressions):
        items = order_items(order, ctx)
    if frame is None and over.spec is not None:
        frame = _frame(over.spec, ctx)
    return n.Over(call, partition, items, frame)


def _is_constant_query(node: exp.Expr) -> bool:
    """``(SELECT NULL)``, ``(SELECT 1)``: the same for every row."""
    query = node.this if isinstance(node, exp.Subquery) else None
    if not isinstance(query, exp.Select) or len(query.expressions) != 1:
        return False
    alone = all(not value for key, value in query.args.items() if key != "expressions")
    return alone and isinstance(query.expressions[0], (exp.Null, exp.Literal, exp.National))


def _next_values(node: exp.Window, inner: NextValue, over: OverClause, ctx: Context) -> Value:
    """NEXT VALUE FOR … OVER (ORDER BY …): PostgreSQL numbers the rows after it has ordered the query."""
    select = node.find_ancestor(exp.Select)
    order = over.order
    does_not = "NEXT VALUE FOR function does not support"
    if over.partition_by:
        return ctx.problem(f"{does_not} the PARTITION BY clause.", node, number=11716)
    if over.spec is not None:
        return ctx.problem(f"{does_not} the ROWS and RANGE clauses.", node, number=11737)
    if select is None or order is None:
        return ctx.problem(f"{does_not} an empty OVER clause.", node, number=11718)
    own = select.args.get("order")
    if own is None:
        select.set("order", order.copy())
    elif own != order:
        return ctx.unsupported("NEXT VALUE FOR … OVER in a query with another ORDER BY", node)
    return expression(inner, ctx)


def _present(call: exp.Expr, over: OverClause, ctx: Context) -> Value:
    """FIRST_VALUE, LAST_VALUE, LAG and LEAD with IGNORE NULLS, by aggregates that skip NULL."""
    upper = call.name.upper() if isinstance(call, exp.Anonymous) else ""
    if upper not in ("FIRST_VALUE", "LAST_VALUE", "LAG", "LEAD") or not isinstance(call, exp.Anonymous):
        return ctx.problem("Incorrect syntax near 'IGNORE'.", call, number=102)
    if over.order is None:
        return ctx.problem(
            f"The function '{upper}' must have an OVER clause with ORDER BY.", call, number=4112
        )
    # Checks the arguments and knows the type; how the rows are found is written here.
    plain = function_value(call, ctx)
    if not call.expressions:
        return plain
    if upper in ("LAG", "LEAD"):
        return _present_offset(call, plain, over, ctx, ahead=upper == "LEAD")
    value = scalar(call.expressions[0], ctx)
    latest = upper == "LAST_VALUE"
    spec = over.spec
    if spec is not None and spec.args.get("end") == "UNBOUNDED" and spec.args.get("start") != "UNBOUNDED":
        # A frame whose beginning moves is summed up anew for each row, one whose end moves is not.
        over, latest = _mirrored(over), not latest
    name = "sys.last_present" if latest else "sys.first_present"
    return Value(_over(n.Call(name, (v.of_known_type(value),)), over, ctx), plain.type)


_BEFORE = n.Frame("ROWS", n.Bound(n.Word("UNBOUNDED"), "PRECEDING"), n.Bound(n.Integer(1), "PRECEDING"))
_ALL_ROWS = n.Frame(
    "ROWS", n.Bound(n.Word("UNBOUNDED"), "PRECEDING"), n.Bound(n.Word("UNBOUNDED"), "FOLLOWING")
)


def _present_offset(
    call: exp.Anonymous, plain: Value, over: OverClause, ctx: Context, *, ahead: bool
) -> Value:
    """LAG and LEAD: the n-th value that is not NULL among the rows before this one, seen from there."""
    arguments = [scalar(argument, ctx) for argument in call.expressions]
    window = _over(n.NOTHING, _mirrored(over) if ahead else over, ctx, _BEFORE)
    value = arguments[0]
    if len(arguments) == 3:
        value, default = with_default(arguments[0], arguments[2])
    offset = arguments[1] if len(arguments) > 1 else v.integer(1)
    value = replace(value, code=v.of_known_type(value))
    found: n.Node
    if offset.constant == 1:
        found = replace(window, call=n.Call("sys.last_present", (value.code,)))
    else:
        present = n.Call("array_agg", (value.code,), filter=n.IsNull(value.code, negated=True))
        count = replace(window, call=n.Call("count", (value.code,)))
        place = n.Sum("-", n.Sum("+", n.Integer(1), count), offset.code)
        element = n.Element(replace(window, call=present), place)
        found = n.Case(((n.Comparison("=", offset.code, n.Integer(0)), value.code),), default=element)
    if len(arguments) == 3:
        found = n.Call("COALESCE", (found, default.code))
    return Value(found, plain.type)


_OTHER_SIDE = {"PRECEDING": "FOLLOWING", "FOLLOWING": "PRECEDING"}


def _mirrored(over: OverClause) -> OverClause:
    """The same rows in the opposite order."""
    assert over.order is not None
    order, spec = over.order.copy(), over.spec
    for item in order.expressions:
        item.set("desc", not item.args.get("desc"))
    if spec is not None:
        spec = exp.WindowSpec(
            kind=spec.args.get("kind"),
            start=spec.args.get("end"),
            start_side=_OTHER_SIDE.get(str(spec.args.get("end_side"))),
            end=spec.args.get("start"),
            end_side=_OTHER_SIDE.get(str(spec.args.get("start_side"))),
        )
    return replace(over, order=order, spec=spec)


def _said(node: exp.Expr) -> OverClause:
    parts = node.args
    return OverClause(tuple(parts.get("partition_by") or ()), parts.get("order"), parts.get("spec"))


def _named(node: exp.Window, ctx: Context) -> OverClause:
    """What an OVER clause says, the window of the WINDOW clause that it names included."""
    found = _said(node)
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
        named = _said(window)
        found = OverClause(
            found.partition_by or named.partition_by, found.order or named.order, found.spec or named.spec
        )
        name = window.args.get("alias")
    return found


def _partition(over: OverClause, ctx: Context) -> tuple[n.Node, ...]:
    keys = [(key, scalar(key, ctx)) for key in over.partition_by]
    for key, value in keys:
        refuse_sorted_xml(value, key, ctx)
    return tuple(value.code for _, value in keys)


def _percentile(node: exp.WithinGroup, over: OverClause, ctx: Context) -> Value:
    """PERCENTILE_CONT and PERCENTILE_DISC … OVER: an element of the partition's sorted values."""
    call = node.this
    items = node.expression.expressions if isinstance(node.expression, exp.Order) else []
    upper = call.name.upper() if isinstance(call, exp.Anonymous) else ""
    if upper not in ("PERCENTILE_CONT", "PERCENTILE_DISC") or len(call.expressions) != 1 or len(items) != 1:
        return ctx.problem("incorrect syntax near WITHIN GROUP", call, number=102)
    if over.order is not None:
        return ctx.problem(
            f"The function '{upper}' may not have ORDER BY in OVER clause.", call, number=10758
        )
    if over.spec is not None:
        return ctx.problem(f"The function '{upper}' may not have a window frame.", call, number=10752)
    share = scalar(call.expressions[0], ctx)
    value = scalar(items[0].this, ctx)
    continuous = upper == "PERCENTILE_CONT"
    taken = convert(value, tm.FLOAT) if continuous else value
    order = (n.OrderItem(value.code, bool(items[0].args.get("desc"))),)
    present = n.Call("array_agg", (taken.code,), filter=n.IsNull(value.code, negated=True))
    array = n.Over(present, _partition(over, ctx), order, _ALL_ROWS)
    return v.call(f"sys.{upper.lower()}", share.code, array, type=tm.FLOAT if continuous else value.type)


def _frame(spec: exp.WindowSpec, ctx: Context) -> n.Frame:
    def side(value: Any, direction: Any) -> n.Bound:
        code = n.Word(value) if isinstance(value, str) else scalar(value, ctx).code
        return n.Bound(code, direction or "")

    start = side(spec.args.get("start"), spec.args.get("start_side"))
    end = spec.args.get("end")
    kind = spec.args.get("kind", "ROWS").upper()
    return n.Frame(kind, start, side(end, spec.args.get("end_side")) if end is not None else None)


def order_items(order: exp.Order, ctx: Context) -> tuple[n.OrderItem, ...]:
    """``ORDER BY …`` with T-SQL's place of NULLs: first when ascending, last when descending."""
    return tuple(order_item(item, ctx) for item in order.expressions)


def order_item(
    item: exp.Ordered,
    ctx: Context,
    *,
    resolve: Callable[[exp.Expr], tuple[Value | None, n.Node | None]] | None = None,
    results: bool = False,
) -> n.OrderItem:
    """One item of ORDER BY.

    ``resolve`` finds an item of the select list: how ORDER BY names it, and its expression.
    With ``results`` the rows of DISTINCT or UNION are ordered, for which PostgreSQL takes
    nothing but their columns: the database's collation decides then.
    """
    value: Value | None = None
    name: n.Node | None = None
    if resolve is not None:
        value, name = resolve(item.this)
    if value is None:
        value = scalar(item.this, ctx)
    refuse_sorted_xml(value, item, ctx)
    folds = value.collation or ("ci" if ctx.scope.case_insensitive and value.is_string else "")
    code = value.code
    if not results and not (value.is_literal and name is None):
        if folds.endswith("_ai"):
            code = n.Call("sys.without_accents", (code,))
        if folds in ("ci", "ci_ai"):
            code = n.Call("lower", (code,))
    if name is not None and code is value.code:
        # PostgreSQL knows an alias and a position alone, not in an expression.
        code = name
    descending = bool(item.args.get("desc"))
    ordinal = value.is_literal and name is None and isinstance(item.this, exp.Literal)
    nulls = ""
    if (value.nullable or ordinal) and not value.is_null and not _selects_null(item.this):
        nulls = "LAST" if descending else "FIRST"
    return n.OrderItem(code, descending, nulls)


def refuse_sorted_xml(value: Value, node: exp.Expr, ctx: Context) -> None:
    """Refuse to sort or to group by XML: whether PostgreSQL could depends on how it was built."""
    if value.type is not None and value.type.family == "xml":
        ctx.problem(
            "The XML data type cannot be compared or sorted, except when using the IS NULL operator.",
            node,
            number=305,
        )


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
    items = order_items(order, ctx)
    call = value.code
    if isinstance(inner, exp.Anonymous) and inner.name.upper() == "STRING_AGG" and isinstance(call, n.Call):
        return replace(value, code=replace(call, order=items))
    ctx.frame.aggregates += 1
    return replace(value, code=n.WithinGroup(call, items))

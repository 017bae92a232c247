"""JSON_OBJECT, JSON_ARRAY and the aggregates JSON_OBJECTAGG, JSON_ARRAYAGG.

Values are written as FOR JSON writes them; what is JSON already is not quoted again.  For NULL an
object has a null and an array nothing, unless the call says otherwise.
"""

from __future__ import annotations

from sqlglot import exp

from ...catalog import types as tm
from ...target import nodes as n
from .. import values as v
from ..context import Context
from ..conversions import as_text
from ..dispatch import handles
from ..json_values import is_json, json_value, key_text
from ..parse.nodes import JsonText
from ..values import Value
from .names import scalar
from .windows import order_items


@handles(JsonText)
def _json_text(node: JsonText, ctx: Context) -> Value:
    kind = node.args["kind"]
    nulls = bool(node.args["nulls"])
    left, right = ("{", "}") if node.args["keys"] or kind.startswith("JSON_OBJECT") else ("[", "]")
    values = [json_value(scalar(value, ctx), is_json(value), nulls=nulls) for value in node.expressions]
    keys = [_key(key, ctx) for key in node.args["keys"]]
    members = list(map(n.joined, keys, values)) if keys else values
    if kind.endswith("AGG"):
        ctx.frame.aggregates += 1
        order = node.args.get("order")
        ordering = order_items(order, ctx) if order is not None else ()
        listed = n.Call("string_agg", (members[0], n.Text(",")), ordering)
        whole = n.Call("concat", (n.Text(left), listed, n.Text(right)))
        some = n.Comparison(">", n.Call("count", (n.STAR,)), n.Integer(0))
        return Value(n.Case(((some, whole),)), tm.NVARCHAR_MAX)
    if not members:
        return Value(n.Text(left + right), tm.NVARCHAR_MAX, nullable=False)
    listed = n.Call("concat_ws", (n.Text(","), *members))
    return v.call("concat", n.Text(left), listed, n.Text(right), type=tm.NVARCHAR_MAX, nullable=False)


def _key(node: exp.Expr, ctx: Context) -> n.Node:
    """A member's name with the colon behind it."""
    key = as_text(scalar(node, ctx))
    if isinstance(key.constant, str):
        return n.Text(key_text(key.constant) + ":")
    return n.joined(n.Call("sys.json_atom", (key.code,)), n.Text(":"))

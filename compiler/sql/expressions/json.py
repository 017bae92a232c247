"""JSON_OBJECT, JSON_ARRAY and the aggregates JSON_OBJECTAGG, JSON_ARRAYAGG.

Values are written as FOR JSON writes them; what is JSON already is not quoted again.  For NULL an
object has a null and an array nothing, unless the call says otherwise.
"""

from __future__ import annotations

from sqlglot import exp

from ...catalog import types as tm
from ...catalog.names import literal
from .. import values as v
from ..context import Context
from ..conversions import as_text
from ..dispatch import handles
from ..json_values import is_json, json_value, key_text
from ..parse.nodes import JsonText
from ..values import Value
from .names import scalar
from .windows import order_by


@handles(JsonText)
def _json_text(node: JsonText, ctx: Context) -> Value:
    kind = node.args["kind"]
    nulls = bool(node.args["nulls"])
    left, right = ("{", "}") if node.args["keys"] or kind.startswith("JSON_OBJECT") else ("[", "]")
    values = [json_value(scalar(value, ctx), is_json(value), nulls=nulls) for value in node.expressions]
    keys = [_key(key, ctx) for key in node.args["keys"]]
    members = [f"{key} || {value}" for key, value in zip(keys, values, strict=True)] if keys else values
    if kind.endswith("AGG"):
        ctx.frame.aggregates += 1
        order = node.args.get("order")
        ordering = f" {order_by(order, ctx)}" if order is not None else ""
        joined = f"string_agg({members[0]}, ','{ordering})"
        text = f"CASE WHEN count(*) > 0 THEN concat('{left}', {joined}, '{right}') END"
        return Value(text, v.ATOM, tm.NVARCHAR_MAX)
    if not members:
        return Value(literal(left + right), v.ATOM, tm.NVARCHAR_MAX, nullable=False)
    text = f"concat('{left}', concat_ws(',', {', '.join(members)}), '{right}')"
    return Value(text, v.ATOM, tm.NVARCHAR_MAX, nullable=False)


def _key(node: exp.Expr, ctx: Context) -> str:
    """A member's name with the colon behind it."""
    key = as_text(scalar(node, ctx))
    if isinstance(key.constant, str):
        return literal(key_text(key.constant) + ":")
    return f"sys.json_atom({key.text}) || ':'"

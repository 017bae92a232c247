"""Whether an expression is JSON already, and how a value is written inside of JSON."""

from __future__ import annotations

import json

from sqlglot import exp

from ..target import nodes as n
from .parse.nodes import JsonText
from .values import Value, shown_decimals, with_domain


def is_json(node: exp.Expr) -> bool:
    """Whether an expression is JSON already, which nothing quotes again."""
    if isinstance(node, exp.Paren):
        return is_json(node.this)
    if isinstance(node, JsonText):
        return True
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in ("JSON_QUERY", "JSON_MODIFY")
    if isinstance(node, (exp.Subquery, exp.Select)):
        clause = node.args.get("for_") or (
            node.this.args.get("for_") if isinstance(node.this, exp.Expr) else None
        )
        return (
            clause is not None
            and clause.args["kind"] == "JSON"
            and all(option.name != "WITHOUT_ARRAY_WRAPPER" for option in clause.args.get("options") or [])
        )
    return False


def key_text(name: str) -> str:
    """A member's name as JSON text."""
    return json.dumps(name, ensure_ascii=False).replace("/", "\\/")


def json_value(value: Value, raw: bool, *, nulls: bool) -> n.Node:
    """A value as JSON text; NULL is null where there are to be ``nulls``, else it stays NULL.

    ``raw``: it is JSON already.
    """
    code = value.code
    if value.is_null:
        code = n.Cast(n.NULL, "text")
    elif value.type is not None and value.type.name == "bit" and not raw:
        code = n.Call("sys.json_bit", (code,))
    elif not raw:
        if value.pg == "numeric" and value.type is not None and value.type.name == "bigint":
            code = n.Cast(code, "bigint")
        else:
            code = with_domain(value).code
        code = n.Call("sys.json_atom", (code, *shown_decimals(value)))
    return n.Call("coalesce", (code, n.Text("null"))) if nulls else code

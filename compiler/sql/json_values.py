"""Whether an expression is JSON already, and how a value is written inside of JSON."""

from __future__ import annotations

import json

from sqlglot import exp

from .parse.nodes import JsonText
from .values import Value


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


def json_value(value: Value, raw: bool, *, nulls: bool) -> str:
    """A value as JSON text; NULL is null where there are to be ``nulls``, else it stays NULL.

    ``raw``: it is JSON already.
    """
    if value.is_null:
        text = "NULL::text"
    elif raw:
        text = value.text
    elif value.type is not None and value.type.name == "bit":
        text = f"sys.json_bit({value.text})"
    elif value.pg == "numeric" and value.type is not None and value.type.name == "bigint":
        text = f"sys.json_atom({value.text}::bigint)"
    else:
        text = f"sys.json_atom({value.text})"
    return f"coalesce({text}, 'null')" if nulls else text

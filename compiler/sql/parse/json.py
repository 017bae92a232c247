"""The arguments of JSON_OBJECT, JSON_ARRAY and their aggregates, which have a syntax of their own."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType as T

from .nodes import JsonText
from .token_reader import TokenReader


def read_json_text(reader: TokenReader, kind: str) -> exp.Expr:
    """The arguments of ``kind``, behind its opening parenthesis and up to the closing one."""
    start = reader.token_before_parenthesis()
    keyed = kind in ("JSON_OBJECT", "JSON_OBJECTAGG")
    single = kind.endswith("AGG")
    keys: list[exp.Expr] = []
    values: list[exp.Expr] = []
    nulls: bool | None = None
    order: exp.Expr | None = None
    if single or not reader.peek(T.R_PAREN):
        nulls = _nulls(reader) if not single else None
        while nulls is None:
            if keyed:
                keys.append(reader.expression_() or reader.fail())
                if not reader.take(T.COLON):
                    reader.fail()
            values.append(reader.expression_() or reader.fail())
            if single or not reader.take(T.COMMA):
                break
        if kind == "JSON_ARRAYAGG" and reader.peek(T.ORDER_BY):
            order = reader.order()
        nulls = _nulls(reader) if nulls is None else nulls
    if reader.word("RETURNING") and not reader.word("JSON"):
        reader.fail()
    node = JsonText(
        kind=kind, keys=keys, expressions=values, order=order, nulls=keyed if nulls is None else nulls
    )
    node.meta["start"], node.meta["end"] = start.start, start.end
    return node


def _nulls(reader: TokenReader) -> bool | None:
    """``NULL ON NULL`` or ``ABSENT ON NULL``; None where neither comes next."""
    if reader.word("NULL", "ON", "NULL"):
        return True
    return False if reader.word("ABSENT", "ON", "NULL") else None

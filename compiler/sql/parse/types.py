"""Types as they are written, and the conversions whose arguments they are."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType as T

from .nodes import Conversion, TypeName
from .token_reader import TokenReader

__all__ = ["read_cast", "read_convert", "read_type_name"]

_FIRST = frozenset((T.VAR, T.IDENTIFIER, T.XML, T.ROWS, T.RANGE))
_VARYING = frozenset(("char", "character", "binary", "national char", "national character"))


def read_type_name(reader: TokenReader) -> TypeName:
    """A type: ``int``, ``decimal(10, 2)``, ``varchar(max)``, ``double precision``, ``dbo.phone``."""
    token = reader.current
    if token is None or (token.token_type not in _FIRST and token.text.lower() not in ("double", "national")):
        reader.fail()
    reader.advance()
    name, schema, end = token.text, None, token.end
    if reader.take(T.DOT):
        part = reader.current
        if part is None or part.token_type not in (T.VAR, T.IDENTIFIER, T.XML):
            reader.fail()
        reader.advance()
        schema, name, end = name, part.text, part.end
    lowered = name.lower()
    if lowered == "double" and reader.word("PRECISION"):
        name = "double precision"
    elif lowered == "national" and not reader.at_end:
        name = f"national {reader.current_text}"
        reader.advance()
        lowered = name.lower()
    if lowered in _VARYING and reader.word("VARYING"):
        name += " varying"
    arguments: list[int] = []
    collection: list[str | bool] | None = None
    if reader.take(T.L_PAREN):
        while True:
            part = reader.current
            if part is not None and part.token_type == T.NUMBER and part.text.isdecimal():
                arguments.append(int(part.text))
            elif part is not None and part.text.lower() == "max":
                arguments.append(-1)
            elif part is not None and lowered == "xml":
                collection = _read_collection(reader)
                break
            else:
                reader.fail()
            reader.advance()
            if reader.take(T.COMMA):
                continue
            end = reader.current.end if reader.current is not None else end
            if not reader.take(T.R_PAREN):
                reader.fail()
            break
    node = TypeName(this=name, arguments=arguments, schema=schema, collection=collection)
    node.meta["start"], node.meta["end"] = token.start, end
    return node


def _read_collection(reader: TokenReader) -> list[str | bool]:
    """``[CONTENT | DOCUMENT] [schema.]collection)`` of an xml type."""
    document = reader.word("DOCUMENT")
    if not document:
        reader.word("CONTENT")
    parts: list[str | bool] = []
    while True:
        part = reader.current
        if part is None or part.token_type not in (T.VAR, T.IDENTIFIER):
            reader.fail()
        reader.advance()
        parts.append(part.text)
        if not reader.take(T.DOT):
            break
    if not reader.take(T.R_PAREN):
        reader.fail()
    return [*parts, document]


def read_cast(reader: TokenReader, kind: str) -> exp.Expr:
    """``value AS type [USING culture])``: the arguments of CAST, PARSE and their TRY_ forms."""
    value = reader.expression_() or reader.fail()
    if not reader.take(T.ALIAS):
        reader.fail()
    to = read_type_name(reader)
    style = (reader.expression_() or reader.fail()) if reader.word("USING") else None
    return Conversion(this=value, to=to, style=style, kind=kind)


def read_convert(reader: TokenReader, kind: str) -> exp.Expr:
    """``type, value [, style])``: the arguments of CONVERT and TRY_CONVERT."""
    to = read_type_name(reader)
    if not reader.take(T.COMMA):
        reader.fail()
    value = reader.expression_() or reader.fail()
    style = (reader.expression_() or reader.fail()) if reader.take(T.COMMA) else None
    return Conversion(this=value, to=to, style=style, kind=kind)

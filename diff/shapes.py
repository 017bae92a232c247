"""What a node says, as a value that compares: without places, comments and layout."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ..compiler import nodes
from ..grammar.tokens import Token, TokenKind


def shape_of(value: Any) -> Any:
    """A hashable value that two nodes share when they say the same.

    Names of objects compare without case, and without the schema dbo; names of message types,
    contracts and services with case, as Service Broker compares them.
    """
    if isinstance(value, nodes.SqlText):
        return shape_of_tokens(value.tokens)
    if isinstance(value, nodes.Identifier):
        return value.text
    if isinstance(value, nodes.QualifiedName):
        return key_of(value)
    if isinstance(value, nodes.Node):
        fields = (one for one in dataclasses.fields(value) if one.compare and one.name != "span")
        return (type(value).__name__, *((one.name, shape_of(getattr(value, one.name))) for one in fields))
    if isinstance(value, tuple):
        return tuple(map(shape_of, value))
    return value


def shape_of_tokens(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The words of a text: keywords and names without case, other tokens as written."""
    return tuple(_word(token) for token in tokens if token.text != ";")


def _word(token: Token) -> str:
    if token.kind in (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED, TokenKind.VARIABLE):
        return token.name.lower()
    return token.text


def key_of(name: nodes.QualifiedName) -> str:
    """A name as T-SQL compares it: without case; dbo is what stands where no schema does."""
    parts = [name.database, name.schema or nodes.Identifier(span=name.span, text="dbo"), name.name]
    return ".".join(part.text.lower() for part in parts if part is not None)

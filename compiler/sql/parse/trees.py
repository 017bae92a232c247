"""Pieces of text → trees: where everything that is asked of an expression begins."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

from sqlglot import exp

from ....grammar.lexer import string_value
from ....grammar.problems import ROOM_TO_RECURSE, RoomToRecurse
from ....grammar.tokens import Token, TokenKind
from .reader import Reader
from .token_reader import placed
from .tokens import Unreadable, to_sqlglot

__all__ = ["READERS", "read_expression", "readable_expression"]


class _Readers(threading.local):
    """One reader a thread: it keeps its place in the text it reads."""

    def __init__(self) -> None:
        self.reader = Reader()


READERS = _Readers()


def read_expression(tokens: Sequence[Token]) -> exp.Expr:
    """Return the expression or search condition that the tokens are. Raises Unreadable."""
    node = _operand(tokens[0]) if len(tokens) == 1 else None
    if node is not None:
        return node
    reader = READERS.reader
    if sys.getrecursionlimit() >= ROOM_TO_RECURSE:
        return reader.whole(to_sqlglot(tokens), reader.expression_)
    with RoomToRecurse():
        return reader.whole(to_sqlglot(tokens), reader.expression_)


def readable_expression(tokens: Sequence[Token]) -> exp.Expr | None:
    """Return what :func:`read_expression` does; None where nothing can be read, or it nests too deeply."""
    try:
        return read_expression(tokens) if tokens else None
    except (Unreadable, RecursionError):
        return None


def _operand(token: Token) -> exp.Expr | None:
    """What most expressions are, a variable or a literal, as the reader would give it."""
    kind = token.kind
    if kind is TokenKind.VARIABLE:
        return exp.Column(this=placed(exp.Identifier(this=token.text, quoted=False), token))
    if kind is TokenKind.STRING:
        text = string_value(token)
        return placed(exp.National(this=text) if token.text[0] in "nN" else exp.Literal.string(text), token)
    return placed(exp.Literal.number(token.text), token) if kind is TokenKind.NUMBER else None

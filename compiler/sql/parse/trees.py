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

_NUMBER = TokenKind.NUMBER
_STRING = TokenKind.STRING
_VARIABLE = TokenKind.VARIABLE


class _Readers(threading.local):
    """One reader a thread: it keeps its place in the text it reads."""

    def __init__(self) -> None:
        self.reader = Reader()


READERS = _Readers()


def read_expression(tokens: Sequence[Token]) -> exp.Expr:
    """Return the expression or search condition that the tokens are. Raises Unreadable."""
    node = _short(tokens)
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


_BETWEEN_TWO: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
}


def _short(tokens: Sequence[Token]) -> exp.Expr | None:
    """What most expressions are, as the reader would give it: an operand, or a sign between two."""
    if len(tokens) == 1:
        return _operand(tokens[0])
    if len(tokens) != 3:
        return None
    first, second, third = tokens
    if second.word in _BETWEEN_TWO:
        left, right = _operand(first), _operand(third)
        return (
            None if left is None or right is None else _BETWEEN_TWO[second.word](this=left, expression=right)
        )
    if second.word == "IS" and third.word == "NULL":
        left = _operand(first)
        return None if left is None else exp.Is(this=left, expression=exp.Null())
    return None


def _operand(token: Token) -> exp.Expr | None:
    """A variable or a literal."""
    kind = token.kind
    if kind is _VARIABLE:
        return exp.Column(this=placed(exp.Identifier(this=token.text, quoted=False), token))
    if kind is _STRING:
        text = string_value(token)
        return placed(exp.National(this=text) if token.text[0] in "nN" else exp.Literal.string(text), token)
    return placed(exp.Literal.number(token.text), token) if kind is _NUMBER else None

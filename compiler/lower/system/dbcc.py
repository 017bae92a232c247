"""DBCC: CHECKIDENT sets an identity; what the others look after, PostgreSQL looks after by itself."""

from __future__ import annotations

from collections.abc import Sequence

from ...grammar.lexer import string_value
from ...grammar.source import Span
from ...grammar.tokens import Token, TokenKind
from .. import nodes
from ..catalog.types import BIGINT, NVARCHAR_MAX
from ..plpgsql import nodes as pl
from .context import Context


def check_identity(node: nodes.AdministrativeStatement, ctx: Context) -> list[pl.Invoke]:
    """``DBCC CHECKIDENT ( table [, NORESEED | RESEED [, value]] ) [WITH NO_INFOMSGS]``."""
    tokens = list(node.text.tokens)
    words = [token.word for token in tokens]
    parts = _arguments(tokens, words)
    mode = parts[1][0].word if len(parts) > 1 and len(parts[1]) == 1 else "RESEED"
    if not all(parts) or not parts or len(parts) > 3 or mode not in ("RESEED", "NORESEED"):
        ctx.problem("DBCC CHECKIDENT expects (table [, NORESEED | RESEED [, value]])", node.span, number=102)
        return []
    options: list[tuple[str, pl.Expr]] = []
    if mode == "NORESEED":
        options.append(("reseed", pl.FALSE))
    if len(parts) == 3:
        options.append(("value", ctx.value(_text(parts[2], node), BIGINT)))
    if "NO_INFOMSGS" in words:
        options.append(("messages", pl.FALSE))
    return [
        pl.Invoke("sys.check_identity", (_table(parts[0], node, ctx),), (*options, *ctx.database_argument()))
    ]


def _arguments(tokens: Sequence[Token], words: Sequence[str]) -> list[list[Token]]:
    """What stands between the parentheses, split at the commas."""
    if "(" not in words:
        return []
    parts: list[list[Token]] = [[]]
    depth = 0
    for token, word in zip(tokens[words.index("(") + 1 :], words[words.index("(") + 1 :], strict=True):
        if word == ")" and depth == 0:
            return parts
        depth += (word == "(") - (word == ")")
        if word == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return []


def _text(tokens: Sequence[Token], node: nodes.AdministrativeStatement) -> nodes.SqlText:
    span = Span(node.span.source, tokens[0].start, tokens[-1].end)
    return nodes.SqlText(span=span, tokens=tuple(tokens))


def _table(tokens: Sequence[Token], node: nodes.AdministrativeStatement, ctx: Context) -> pl.Expr:
    """The table's name as a string: it is written as one, as a name, or stands in a variable."""
    first = tokens[0]
    if len(tokens) == 1 and first.kind == TokenKind.STRING:
        return pl.Text(string_value(first))
    if len(tokens) == 1 and first.text.startswith("@"):
        return ctx.value(_text(tokens, node), NVARCHAR_MAX)
    return pl.Text(_text(tokens, node).text)

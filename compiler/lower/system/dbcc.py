"""BACKUP, DBCC, KILL and their like: what they look after, PostgreSQL looks after by itself.

KILL ends a session, DBCC CHECKIDENT sets an identity.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....grammar.lexer import string_value
from ....grammar.source import Span
from ....grammar.tokens import Token, TokenKind
from ... import nodes
from ...catalog.names import is_placeholder
from ...catalog.types import BIGINT, INT, NVARCHAR_MAX
from ...plpgsql import nodes as pl
from ..context import Context
from ..dispatch import invocations


@invocations.register
def administrative(node: nodes.AdministrativeStatement, ctx: Context) -> list[pl.Invoke] | None:
    """BACKUP, DBCC, CHECKPOINT …: accepted, for PostgreSQL has its own tools for them."""
    if node.kind == "DBCC" and "CHECKIDENT" in node.text.words[:2]:
        return _check_identity(node, ctx)
    if node.kills_session:
        return _kill(node, ctx)
    return []


def _kill(node: nodes.AdministrativeStatement, ctx: Context) -> list[pl.Invoke]:
    """KILL: the number is a constant, or a piece of dynamic SQL that only the run time knows."""
    token = node.text.tokens[1]
    if token.text.startswith("@") and not is_placeholder(token.text):
        ctx.problem(f"Incorrect syntax near '{token.text}'.", node.span, number=102)
        return []
    span = Span(node.span.source, token.start, token.end)
    session = ctx.value(nodes.SqlText(span=span, tokens=(token,)), INT)
    options = (("status_only", pl.TRUE),) if "STATUSONLY" in node.text.words else ()
    kill = pl.Invoke("ssb_internal.kill", (session,), options)
    if ctx.scope.session is None:
        return [kill]
    return [pl.Invoke("ssb_internal.refuse_kill_in_transaction", (ctx.session_field("trancount"),)), kill]


def _check_identity(node: nodes.AdministrativeStatement, ctx: Context) -> list[pl.Invoke]:
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

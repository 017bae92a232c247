"""INSERT … SELECT … FROM (INSERT, UPDATE, DELETE or MERGE with OUTPUT) AS alias [(columns)].

The inner statement becomes a common table expression under the alias, and the outer SELECT
reads it as it reads any other.
"""

from __future__ import annotations

from ....grammar.records import dataclass
from ....grammar.tokens import Token, TokenKind
from ...catalog.names import fold
from ...catalog.objects import ColumnInfo
from ...target import queries as q
from ..context import Captured, Context
from ..dispatch import statement

_VERBS = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})
_NAMES = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)


@dataclass
class Composed:
    """An INSERT with another changing statement in its FROM."""

    outer: list[Token]
    """The INSERT, with the alias where the other statement stood."""
    inner: list[Token]
    alias: Token
    columns: list[str]


def find(tokens: list[Token]) -> Composed | None:
    """Take the statement in FROM out of an INSERT; None when there is none."""
    for start in range(1, len(tokens) - 2):
        words = (tokens[start].word, tokens[start + 1].word)
        if words != ("FROM", "(") or tokens[start + 2].word not in _VERBS:
            continue
        end, depth = start + 2, 1
        while end < len(tokens) and depth:
            depth += (tokens[end].word == "(") - (tokens[end].word == ")")
            end += 1
        tail = end + (end < len(tokens) and tokens[end].word == "AS")
        if tail >= len(tokens) or tokens[tail].kind not in _NAMES:
            return None
        columns: list[str] = []
        after = tail + 1
        if after < len(tokens) and tokens[after].word == "(":
            after += 1
            while after < len(tokens) and tokens[after].word != ")":
                if tokens[after].word != ",":
                    columns.append(_name(tokens[after]))
                after += 1
            after += 1
        outer = [*tokens[: start + 1], tokens[tail], *tokens[after:]]
        return Composed(outer, tokens[start + 2 : end - 1], tokens[tail], columns)
    return None


_NESTED = "INSERT, UPDATE, DELETE, or MERGE statement"


def _name(token: Token) -> str:
    return token.name


def rows(composed: Composed, ctx: Context) -> Captured | None:
    """Translate the inner statement; its rows are then in scope under the alias."""
    verb = composed.inner[0].word
    outer, ctx.captured = ctx.captured, Captured()
    ctx.push()
    try:
        made = statement(verb, composed.inner, ctx)
        captured = ctx.captured
    finally:
        ctx.pop()
        ctx.captured = outer
    if not captured.filled:
        if made is not None:
            if any(token.word == "OUTPUT" for token in composed.inner):
                problem = 10720, f"An OUTPUT INTO clause is not allowed in a nested {_NESTED}."
            else:
                problem = 10716, f"A nested {_NESTED} must have an OUTPUT clause."
            ctx.problem(problem[1], number=problem[0])
        return None
    name = _name(composed.alias)
    labels = composed.columns or [item.name or "" for item in captured.items]
    if len(labels) != len(captured.items):
        ctx.wrong_column_list(name, len(captured.items), len(labels), composed.alias)
        return None
    if not all(labels) or "*" in labels:
        place = labels.index("") + 1 if "" in labels else 1
        ctx.problem(
            f"No column name was specified for column {place} of '{name}'.", composed.alias, number=8155
        )
        return None
    ctx.ctes[fold(name)] = tuple(
        ColumnInfo(label, item.value.type if item.value is not None else None)
        for label, item in zip(labels, captured.items, strict=True)
    )
    captured.definitions.append(q.Definition(fold(name), captured.rows, tuple(map(fold, labels))))
    return captured

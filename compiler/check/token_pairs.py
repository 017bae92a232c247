"""Neighbours that no queries and DML has: a comma before FROM, an operator without an operand.

Where text is kept as written, its translator reads it with a grammar of many dialects that
forgives what T-SQL does not (``SELECT a, FROM t``). Two words in a row tell most of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from ...grammar.hints import incorrect_syntax
from ...grammar.problems import Problems
from ...grammar.source import Span
from ...grammar.tokens import TokenKind
from .. import nodes

__all__ = ["check_text", "expressions_of", "queries_of"]

_SQL_KINDS = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"})
_COMPARISONS = frozenset({"=", "<", ">", "<=", ">=", "<>", "!=", "!<", "!>"})
_BINARY = frozenset({"/", "%", "&", "|", "^"}) | _COMPARISONS
_NEED_OPERAND = (
    frozenset(
        {",", "+", "-", "~", "AND", "OR", "WHERE", "HAVING", "BY", "LIKE", "BETWEEN", "WHEN", "THEN", "ELSE"}
    )
    | _BINARY
)
_BEGIN_NO_OPERAND = (
    frozenset(
        {")", ",", "AND", "OR", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "UNION", "EXCEPT", "INTERSECT"}
    )
    | frozenset(
        {
            "AS",
            "IN",
            "LIKE",
            "BETWEEN",
            "IS",
            "JOIN",
            "INNER",
            "WHEN",
            "THEN",
            "ELSE",
            "END",
            "OPTION",
            "INTO",
        }
    )
    | _BINARY
)
_NOT_AFTER_PARENTHESIS = frozenset({",", "AND", "OR", "FROM", "WHERE", "HAVING"}) | _BINARY
_WITH_CURSOR = (nodes.DeclareCursor, nodes.SetCursorVariable)
_WITH_EXPRESSIONS = (
    nodes.If,
    nodes.While,
    nodes.SetVariable,
    nodes.Print,
    nodes.Return,
    nodes.Send,
)
_NOT_AFTER_SELECT = frozenset({",", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "INTO"})


def check_text(statement: nodes.Statement, problems: Problems) -> None:
    """Report impossible neighbours in the queries and DML of one statement (not of those inside it)."""
    for text in (*queries_of(statement), *expressions_of(statement)):
        _check(text, problems)


def queries_of(statement: nodes.Statement) -> Iterator[nodes.SqlText]:
    """Give the query or the DML of one statement."""
    if isinstance(statement, nodes.SqlStatement):
        if statement.kind in _SQL_KINDS:
            yield statement.text
    elif isinstance(statement, nodes.CreateView):
        yield statement.query
    elif isinstance(statement, _WITH_CURSOR):
        yield statement.cursor.query
    elif isinstance(statement, nodes.CreateFunction) and statement.query is not None:
        yield statement.query


def expressions_of(statement: nodes.Statement) -> Iterator[nodes.SqlText]:
    """Give the expressions of one statement that is no query."""
    if isinstance(statement, nodes.Receive):
        for item in statement.items:
            if not isinstance(item, nodes.ReceiveStar):
                yield item.expression
    elif isinstance(statement, nodes.WaitForMessage):
        yield from expressions_of(statement.statement)
    elif isinstance(statement, _WITH_EXPRESSIONS):
        for field in fields(statement):
            value = getattr(statement, field.name)
            if isinstance(value, nodes.SqlText):
                yield value


def _check(text: nodes.SqlText, problems: Problems) -> None:
    tokens, words = text.tokens, text.words
    if "MATCH" in words:
        return  # the arrows of a graph pattern look like operators
    before = ""
    for place, word in enumerate(words):
        if word in _BEGIN_NO_OPERAND:
            impossible = (
                before in _NEED_OPERAND
                or (before == "(" and word in _NOT_AFTER_PARENTHESIS)
                or (before == "SELECT" and word in _NOT_AFTER_SELECT)
                or (before == "DISTINCT" and word == ",")
            )
            if impossible and word == "ORDER" and words[place + 1 : place + 2] == ("GROUP",):
                impossible = False  # a hint of OPTION (…)
        else:
            # ``1, ..5``: no name is behind the dot.
            impossible = before == "." and tokens[place].kind is TokenKind.NUMBER
        if impossible:
            _report(text, tokens[place].start, tokens[place].end, problems, *incorrect_syntax(tokens[place]))
            return
        before = word
    if before in _NEED_OPERAND or before in ("SELECT", "FROM", "JOIN", "SET"):
        token = text.tokens[-1]
        _report(text, token.end, token.end, problems, *incorrect_syntax(token))


def _report(text: nodes.SqlText, start: int, end: int, problems: Problems, message: str, number: int) -> None:
    span = Span(text.span.source, start, end)
    before = text.span.source.text[text.span.start : start].rstrip()
    word = before.split()[-1] if before.split() else ""
    problems.add(
        message, span, hint=f"something is missing after '{word[-20:]}'" if word else None, number=number
    )

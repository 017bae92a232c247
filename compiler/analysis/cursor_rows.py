"""WHERE CURRENT OF: which cursors are named so, and how the row that one stands on is found again.

The cursor's query gives the row's primary key besides its columns where the script tells the
key, else the row's ctid, which an UPDATE at the cursor renews. Both come behind the columns
that FETCH sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sqlglot import exp

from ...grammar.lexer import bracketed
from ...grammar.tokens import Token, TokenKind
from .. import nodes
from ..catalog.names import ObjectName, fold, quote
from ..catalog.objects import RowPlace, TableInfo
from ..sql.parse.dml import from_items, read_delete, read_update
from ..sql.parse.tokens import Unreadable
from ..sql.parse.trees import READERS

__all__ = ["RowPlace", "located_cursors", "with_row_place"]

_NAMES = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)
_NOT_UPDATABLE = frozenset({"DISTINCT", "GROUP", "UNION", "EXCEPT", "INTERSECT"})
_ENDS_FROM = frozenset({"WHERE", "ORDER", "FOR", "OPTION", "OFFSET"})
_NO_ALIAS = _ENDS_FROM | frozenset("WITH JOIN INNER LEFT RIGHT FULL CROSS OUTER ON".split())


def located_cursors(body: Sequence[nodes.Statement]) -> dict[str, ObjectName]:
    """Return the cursors that UPDATE or DELETE … WHERE CURRENT OF name, with the tables they change."""
    result: dict[str, ObjectName] = {}
    for statement in body:
        if (
            isinstance(statement, nodes.SqlStatement)
            and statement.kind in ("UPDATE", "DELETE")
            and ("CURRENT", "OF") in pairwise(statement.text.words)
        ):
            result.update(_at_cursor(statement))
        result |= located_cursors(nodes.children_of(statement))
    return result


def _at_cursor(statement: nodes.SqlStatement) -> Iterator[tuple[str, ObjectName]]:
    """Yield the cursor and the table of UPDATE or DELETE; nothing where the statement cannot be read."""
    read = read_update if statement.kind == "UPDATE" else read_delete
    try:
        change = read(list(statement.text.tokens), READERS.reader)
    except (Unreadable, RecursionError):
        return  # reported where it is translated
    if change.cursor is not None:
        named = [item for item in from_items(change) if isinstance(item, exp.Table) and item.alias]
        wanted = fold(change.target.name)
        table = next((item for item in named if fold(item.alias) == wanted), change.target)
        name = ObjectName(table.name, table.db or None, table.catalog or None)
        yield fold(change.cursor.lstrip("@")), name


def _name_at(tokens: Sequence[Token], index: int) -> list[str]:
    parts: list[str] = []
    while index < len(tokens) and tokens[index].kind in _NAMES:
        parts.append(tokens[index].name)
        if index + 1 >= len(tokens) or tokens[index + 1].word != ".":
            break
        index += 2
    return parts[-3:] or [""]


def with_row_place(
    text: nodes.SqlText, table: ObjectName, info: TableInfo | None
) -> tuple[nodes.SqlText, RowPlace] | None:
    """Add to a cursor's query what finds the row of ``table`` again.

    None where a row of the query is no single row of the table.
    """
    words = text.words
    depth = 0
    start: int | None = None
    for index, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if depth:
            continue
        if word in _NOT_UPDATABLE:
            return None
        if word == "FROM" and start is None:
            start = index
    if start is None:
        return None
    alias = _alias(text.tokens, start, table)
    if alias is None:
        return None
    key = next((key.columns for key in info.keys if key.primary), None) if info is not None else None
    columns: list[tuple[str, str]] = []
    for name in key or ():
        column = next((c for c in info.columns if fold(c.name) == fold(name)), None) if info else None
        if column is None or column.type is None:
            columns.clear()
            break
        columns.append((name, column.type.postgres))
    place = RowPlace(tuple((quote(fold(name)), type_) for name, type_ in columns) or (("ctid", "tid"),))
    added: list[Token] = []
    at = text.tokens[start].start
    for name in [name for name, _ in columns] or ["ctid"]:
        added.append(Token(TokenKind.SYMBOL, ",", at, at, ","))
        added.append(Token(TokenKind.BRACKETED, bracketed(alias), at, at, ""))
        added.append(Token(TokenKind.SYMBOL, ".", at, at, "."))
        added.append(Token(TokenKind.BRACKETED, bracketed(name), at, at, ""))
    tokens = (*text.tokens[:start], *added, *text.tokens[start:])
    return nodes.SqlText(span=text.span, tokens=tokens), place


def _alias(tokens: Sequence[Token], start: int, table: ObjectName) -> str | None:
    """The name under which FROM knows the table; None when it does not name it."""
    depth = 0
    index = start + 1
    while index < len(tokens):
        token = tokens[index]
        depth += (token.word == "(") - (token.word == ")")
        if depth == 0 and token.word in _ENDS_FROM:
            return None
        if depth == 0 and token.kind in _NAMES and tokens[index - 1].word in ("FROM", "JOIN", ","):
            parts = _name_at(tokens, index)
            index += 2 * len(parts) - 1
            if fold(parts[-1]) != fold(table.name):
                continue
            after = tokens[index] if index < len(tokens) else None
            if after is not None and after.word == "AS":
                after = tokens[index + 1] if index + 1 < len(tokens) else None
            if after is not None and after.kind in _NAMES and after.word not in _NO_ALIAS:
                return after.name
            return parts[-1]
        index += 1
    return None

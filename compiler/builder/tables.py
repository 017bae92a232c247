"""The parenthesised definition of a table → columns and constraints.

Its grammar is looser than it looks: a trailing comma is taken, and a table constraint may
follow a column without a comma before it.
"""

from __future__ import annotations

from ...grammar.tokens import TokenKind
from .. import nodes
from .reader import Reader

__all__ = ["table_definition"]

_CONSTRAINT_WORDS = frozenset({"CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "INDEX", "PERIOD"})


def table_definition(start: int, end: int, read: Reader) -> nodes.TableDefinition:
    """Read the tokens from the opening parenthesis at ``start`` to before ``end``."""
    columns: list[nodes.ColumnDefinition] = []
    constraints: list[nodes.SqlText] = []
    elements = list(read.split(start + 1, end - 1))
    for first, last in elements:
        if first >= last:
            if (first, last) == elements[-1] and columns:
                continue  # the comma after the last element
            read.unexpected(last, "expected a column")
            continue
        if _begins_constraint(first, last, read):
            constraints.append(read.text_at(first, last))
            continue
        separated = _missing_comma(first, last, read)
        columns.append(_column(first, separated, read))
        if separated < last:
            constraints.append(read.text_at(separated, last))
    return nodes.TableDefinition(
        span=read.span_of_tokens(start, end),
        text=read.text_at(start, end),
        columns=tuple(columns),
        constraints=tuple(constraints),
    )


def _begins_constraint(first: int, last: int, read: Reader) -> bool:
    word = read.tokens[first].word
    if word not in _CONSTRAINT_WORDS:
        return False
    if word == "PERIOD":  # not reserved: a column may have this name
        return first + 1 < last and read.tokens[first + 1].word == "FOR"
    return True


def _missing_comma(first: int, last: int, read: Reader) -> int:
    """Return where a table constraint begins that follows a column without a comma, else ``last``.

    ``PRIMARY KEY (columns)`` and ``UNIQUE (columns)`` name columns only as table constraints.
    """
    depth = 0
    for index in range(first + 1, last):
        word = read.tokens[index].word
        if word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
        elif depth == 0 and word in ("PRIMARY", "UNIQUE", "FOREIGN"):
            after = index + (1 if word == "UNIQUE" else 2)
            while after < last and read.tokens[after].word in ("CLUSTERED", "NONCLUSTERED"):
                after += 1
            if after < last and read.tokens[after].word == "(":
                named = index - 2
                return named if named > first and read.tokens[named].word == "CONSTRAINT" else index
    return last


def _column(first: int, last: int, read: Reader) -> nodes.ColumnDefinition:
    if read.tokens[first].kind not in (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED) or (
        read.tokens[first].kind is TokenKind.WORD and not read.is_name(first)
    ):
        read.unexpected(first, "expected the name of a column")
    name = read.identifier_at(first)
    position = first + 1
    type_: nodes.DataType | None = None
    typed = read.is_name(position) or read.tokens[position].word in ("NATIONAL", "DOUBLE")
    if position < last and typed:
        type_, position = read.data_type_at(position, last)
    elif position < last and read.tokens[position].word != "AS" and name.text.lower() != "timestamp":
        read.unexpected(position, "expected the type of the column")
    return nodes.ColumnDefinition(
        span=read.span_of_tokens(first, last),
        name=name,
        type=type_,
        rest=read.text_at(position, last) if position < last else None,
    )

"""Where a word that is not reserved is read as an alias.

RECEIVE and SEND are no reserved words, so ``SELECT a FROM t RECEIVE * FROM q`` gives the table an
alias and then fails at ``*``: RECEIVE wants a semicolon before it
(https://learn.microsoft.com/sql/t-sql/statements/receive-transact-sql).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .tokens import RESERVED_WORDS, STATEMENT_WORDS, Token, TokenKind

__all__ = ["may_be_alias"]

_NAMES = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)
_BEFORE_A_TABLE = frozenset({"FROM", "JOIN", "APPLY"})
_BEFORE_A_COLUMN = frozenset({"SELECT", "DISTINCT", "ALL", "PERCENT", "TIES"})
# Nothing in these clauses has an alias.
_OTHER_CLAUSES = frozenset({"WHERE", "GROUP", "HAVING", "ORDER", "ON", "OPTION", "FOR", "INTO", "VALUES"})
_STATEMENTS = STATEMENT_WORDS - {"END"}
_ASSIGNING = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|="})


def may_be_alias(tokens: Sequence[Token], index: int) -> bool:
    """Tell whether the word at ``index`` follows a column or a table of a query that has no alias yet."""
    item: list[Token] = []
    behind_comma = False
    for position in _backwards(tokens, index):
        token = tokens[position]
        word = token.word
        if word in _BEFORE_A_TABLE:
            return _is_of_query(tokens, position) and _takes_alias(item, of_table=True)
        if word in _BEFORE_A_COLUMN:
            return _takes_alias(_without_top(item), of_table=False)
        if word in _STATEMENTS or (word in _OTHER_CLAUSES and not (behind_comma and word == "ON")):
            return False
        if word == ",":
            behind_comma = True
        elif not behind_comma:
            item.insert(0, token)
    return False


def _backwards(tokens: Sequence[Token], index: int) -> Iterator[int]:
    """Yield the places before ``index`` in this statement; of parentheses and CASE only the last one."""
    depth = 0
    for position in range(index - 1, -1, -1):
        word = tokens[position].word
        if word in (")", "END"):
            if depth == 0:
                yield position
            depth += 1
        elif word in ("(", "CASE", "BEGIN"):
            depth -= 1
            if depth < 0:
                return
        elif depth == 0:
            if word == ";":
                return
            yield position


def _is_of_query(tokens: Sequence[Token], index: int) -> bool:
    """Tell whether FROM, JOIN or APPLY at ``index`` is a query's: DELETE and FETCH name no alias there."""
    others = 0
    for position in _backwards(tokens, index):
        word = tokens[position].word
        if word in ("SELECT", "UPDATE", "MERGE"):
            return True
        if word == "DELETE":
            return others > 0
        if word in _STATEMENTS:
            return False
        others += word in _BEFORE_A_TABLE
    return False


def _without_top(item: list[Token]) -> list[Token]:
    """Leave out TOP and its number."""
    return item[2:] if item and item[0].word == "TOP" else item


def _takes_alias(item: list[Token], *, of_table: bool) -> bool:
    """Tell whether a column's expression or a table's name is complete and has no alias yet."""
    if not item or (item[-1].kind is TokenKind.SYMBOL and item[-1].word != ")"):
        return False
    words = {token.word for token in item}
    if "AS" in words or (of_table and "WITH" in words):
        return False
    if not of_table and len(item) > 1 and item[1].word in _ASSIGNING and item[0].kind is not TokenKind.NUMBER:
        return False
    return not _has_alias(item)


def _has_alias(item: list[Token]) -> bool:
    """Tell whether two operands follow each other: the second is the alias of the first."""
    if len(item) < 2 or item[-1].kind not in (*_NAMES, TokenKind.STRING):
        return False
    before = item[-2]
    if before.kind is TokenKind.SYMBOL:
        return before.word == ")"
    return before.word == "END" or before.word not in RESERVED_WORDS

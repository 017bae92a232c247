"""The row of docs/dialect.md that tells what becomes of a statement."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from ..compiler.builder.batches import parse_batches
from ..compiler.nodes.core import Statement, children_of
from ..grammar.lexer import lex
from ..grammar.problems import Problems
from ..grammar.records import dataclass
from ..grammar.source import Source, Span
from ..grammar.tokens import TokenKind

_ROW = re.compile(r"^\| `([^`]+)` \| (.+) \|$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
# What nearly every query has: a row that has nothing else is about something that its words do not show.
_OF_EVERY_QUERY = frozenset(
    "SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE MERGE ORDER BY AS ON".split()
)
_QUERIES = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH"})


@dataclass(frozen=True)
class Row:
    """A row of the page: the sample, what becomes of it, and the words by which a statement is like it."""

    sample: str
    answer: str
    head: tuple[str, ...]
    """The keywords that the sample begins with."""
    words: frozenset[str]
    """All of its keywords."""


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows of the page, in their order."""
    page = files(__package__).joinpath("dialect.md").read_text(encoding="utf-8")
    return tuple(_row(sample, _LINK.sub(r"\1", answer)) for sample, answer in _ROW.findall(page))


def _row(sample: str, answer: str) -> Row:
    tokens = list(lex(Source("sample", sample), Problems()))
    # The page writes keywords in capitals, names in small letters.
    keywords = [token.text == token.word and token.kind is TokenKind.WORD for token in tokens]
    length = keywords.index(False) if False in keywords else len(tokens)
    words = frozenset(token.word for token, is_one in zip(tokens, keywords, strict=True) if is_one)
    return Row(sample, answer, tuple(token.word for token in tokens[:length]), words)


def row_at(source: Source, offset: int) -> tuple[Row, Span] | None:
    """Return the row for the innermost statement at ``offset``, and the statement; None where none fits."""
    found: Span | None = None
    own: list[str] = []
    for batch in parse_batches(source, Problems()):
        if not batch.span.start <= offset <= batch.span.end:
            continue
        statements = batch.statements
        while statement := _around(statements, offset):
            statements = children_of(statement)
            found = statement.span
            end = min((child.span.start for child in statements), default=found.end)
            own = [
                token.word for token in lex(Source("statement", source.text[found.start : end]), Problems())
            ]
    row = _row_for(own) if found is not None else None
    return (row, found) if row is not None and found is not None else None


def _around(statements: tuple[Statement, ...], offset: int) -> Statement | None:
    for statement in statements:
        if statement.span.start <= offset <= statement.span.end:
            return statement
    return None


def _row_for(words: list[str]) -> Row | None:
    """Return the row whose words are in the statement, the one with the most; else a near one."""
    same = [row for row in rows() if row.head and tuple(words[: len(row.head)]) == row.head]
    if not same:
        return None
    held = frozenset(words)
    whole = [row for row in same if row.words <= held]
    if words[0] in _QUERIES:
        whole = [row for row in whole if not row.words <= _OF_EVERY_QUERY]
    if whole:
        return max(whole, key=lambda row: len(row.words))
    # A sample shows many options at once: it serves for fewer too, where nothing of the kind is refused.
    longest = max(len(row.head) for row in same)
    near = [row for row in same if len(row.head) == longest]
    if words[0] in _QUERIES or any(row.answer.startswith("refused") for row in same):
        return None
    return min(near, key=lambda row: len(row.words - held))

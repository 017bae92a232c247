"""A script → its batches, split at the lines that hold GO and nothing else.

GO is a word of the client tools, not of T-SQL: it stands alone on its line, in any case, with
an optional count and an optional comment after it, and never inside a comment or string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from .lexer import lex
from .problems import Problems
from .records import dataclass
from .source import Source, Span
from .tokens import Token, TokenKind

__all__ = ["BatchText", "split"]

_BLANKS = "[ \t\u00a0]*"
_AFTER_GO = re.compile(rf"{_BLANKS}(?P<count>\d*){_BLANKS}(?P<rest>\r|\n|\Z|--|/\*)?")
_WRONG_AFTER_GO = re.compile(rf"{_BLANKS}[;\w'\[]")
_LINE_END = re.compile(r"[\r\n]|\Z")
_MOST_REPEATS = 2**31 - 1
_COMMENT = TokenKind.COMMENT


@dataclass(frozen=True)
class BatchText:
    """The tokens of one batch; ``start`` … ``end`` is its text without the GO line.

    ``comments`` are its comments, in order. ``repeat`` is the count after GO, 1 without.
    """

    source: Source
    start: int
    end: int
    repeat: int = 1
    tokens: list[Token] = field(default_factory=list, repr=False)
    comments: list[Token] = field(default_factory=list, repr=False)

    @property
    def span(self) -> Span:
        """The range of the batch's text."""
        return Span(self.source, self.start, self.end)

    @property
    def line(self) -> int:
        """The line of the file on which the batch's text begins."""
        return self.source.line_of(self.start)


def split(source: Source, problems: Problems) -> Iterator[BatchText]:
    """Yield the batches of ``source`` one by one, those without any token left out.

    Reads the text once and holds one batch at a time.
    """
    text = source.text
    tokens: list[Token] = []
    comments: list[Token] = []
    start = resume = 0
    for token in lex(source, problems):
        if token.start < resume:
            continue  # the count or the comment of a GO line
        if token.kind is _COMMENT:
            comments.append(token)
            continue
        is_go = token.word == "GO" and not source.is_one_batch
        if is_go and _opens_line(text, token, tokens[-1].end if tokens else start):
            count = _separator(source, token, problems)
            if count is not None:
                if tokens:
                    yield BatchText(source, start, token.start, count, tokens, comments)
                tokens, comments = [], []
                resume = start = _next_line(text, token.end)
                continue
        tokens.append(token)
    if tokens:
        yield BatchText(source, start, len(text), 1, tokens, comments)


def _opens_line(text: str, token: Token, previous_end: int) -> bool:
    """Tell whether nothing but blanks and comments stands before ``token`` on its line."""
    return (
        previous_end == 0
        or (previous_end <= token.start and text[previous_end - 1] in "\r\n")
        or any(mark in text[previous_end : token.start] for mark in "\r\n")
    )


def _separator(source: Source, token: Token, problems: Problems) -> int | None:
    """Return the count of the GO line that ``token`` opens, None when it is a name after all."""
    match = _AFTER_GO.match(source.text, token.end)
    if match is not None and match["rest"] is not None:
        # More digits than any count has would only be work for int().
        count = int((match["count"] or "1").lstrip("0")[:20] or 0)
        if count > _MOST_REPEATS:
            problems.add(
                f"The count of GO is larger than {_MOST_REPEATS}.", source.span(token.start, match.end())
            )
            return 1
        return count
    if _WRONG_AFTER_GO.match(source.text, token.end):
        line_end = _LINE_END.search(source.text, token.end)
        assert line_end is not None
        problems.add(
            "Incorrect syntax was encountered while parsing GO.",
            source.span(token.start, line_end.start()),
            hint="GO stands alone on its line: nothing may follow but a count and a comment",
        )
        return 1
    return None


def _next_line(text: str, offset: int) -> int:
    match = _LINE_END.search(text, offset)
    assert match is not None
    end = match.end()
    return end + 1 if text.startswith("\r\n", match.start()) else end

"""What changes nothing in T-SQL changes nothing in PostgreSQL: comments, letter case, brackets, line ends."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pgsb.compiler.pipeline import CompileOptions, compile_script
from pgsb.grammar.batches import split
from pgsb.grammar.problems import Problems
from pgsb.grammar.source import Source
from pgsb.grammar.tokens import RESERVED_WORDS, Token, TokenKind

PROJECT = Path(__file__).parents[2]
COMMENT = "/* ' [ ; BEGIN */"
# ELSE IF with a comment at it is no ELSIF.
ELSE_IF = re.compile(r"\bELSE\s+IF\b", re.IGNORECASE)
# Scripts of PostgreSQL's are among the examples.
SCRIPTS = [
    path
    for path in sorted((PROJECT / "examples").rglob("*.sql"))
    if path.parent.name != "compiled" and path.relative_to(PROJECT) != Path("examples/outbox/setup.sql")
]


def _between(text: str, gap: Callable[[str], str], spelled: Callable[[Token], str]) -> str:
    """The script with what stands between two tokens of a batch, and each token, put otherwise."""
    written, end = [], 0
    for batch in split(Source("script.sql", text), Problems()):
        for place, token in enumerate(batch.tokens):
            between = text[end : token.start]
            written += [gap(between) if place else between, spelled(token)]
            end = token.end
    return "".join([*written, text[end:]])


def _as_it_is(part: str) -> str:
    return part


def _text_of(token: Token) -> str:
    return token.text


def _keyword(token: Token) -> str:
    return token.text.swapcase() if token.word in RESERVED_WORDS else token.text


def _quoted(token: Token) -> str:
    return '"' + token.name.replace('"', '""') + '"' if token.kind is TokenKind.BRACKETED else token.text


FRAMES: dict[str, Callable[[str], str]] = {
    "comments": lambda text: _between(text, lambda gap: gap + COMMENT, _text_of),
    "keywords": lambda text: _between(text, _as_it_is, _keyword),
    "quotes": lambda text: _between(text, _as_it_is, _quoted),
    "tabs": lambda text: _between(text, lambda gap: gap if gap.strip() else gap.replace(" ", "\t"), _text_of),
    "line ends": lambda text: text.replace("\n", "\r\n"),
}


def _compiled(text: str) -> str | None:
    """What a script compiles to, without comments and layout; None where something is wrong with it."""
    script = compile_script(Source("script.sql", text), CompileOptions())
    if script.problems.errors:
        return None
    return " ".join(script.text().replace(COMMENT, " ").replace("\\r\\n", "\\n").split())


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_example_compiles_to_the_same_in_every_frame(script: Path) -> None:
    text = Source.read(script).text
    compiled = _compiled(text)
    assert compiled is not None
    for frame, framed in FRAMES.items():
        if frame == "comments" and ELSE_IF.search(text):
            continue
        assert framed(text) != text or frame == "quotes"
        assert _compiled(framed(text)) == compiled, frame

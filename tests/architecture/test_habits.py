"""Text decides nothing: names are Token.name, questions go to tokens, trees and fields, not to strings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgsb import compiler
from pgsb.grammar.lexer import name_parts, one_name, open_quote
from pgsb.grammar.tokens import TokenKind

ROOT = Path(compiler.__file__).resolve().parents[1]
FOLDERS = "assess bulk cli client compiler daemon diff editor observe server".split()
"""What handles T-SQL or what was made of it. The lexer is in grammar/, the emitters write and do not read."""
ONLY_COMPILER = {
    "quotes stripped instead of names.unquoted",  # elsewhere those of files' names
    "a tree written out to be searched",
    "source text asked for a word",
    "source text compared instead of SqlText.alone",
}
HABITS = {
    "brackets stripped instead of Token.name": r"""strip\(.{0,3}\[\]""",
    "quotes stripped instead of names.unquoted": r"""strip\(('"'|chr\(34\))\)""",
    "quotes counted": r"""count\(["']'["'][,)]""",
    "emitted SQL asked for its beginning": r"""\.sql(\.upper\(\))?\.startswith|\bsql\.(upper\(|startswith)""",
    "emitted SQL searched": r"(search|match|sub|split|find\w+)\(.*\.sql\b|text_of\([^()]*\)\.\w|in text_of\(",
    "a translated value asked by its text": r"\b(value|item|left|right|inner)\.text\.(starts|ends)with",
    "a tree written out to be searched": r"(?<![\w.])repr\((?!self)",
    "source text asked for a word": r"""span\.text(\.upper\(\)|\.lower\(\)|\[)|in \w+\.span\.text""",
    "source text compared instead of SqlText.alone": r"""\.text\.strip\(\)""",
    "brackets written instead of lexer.bracketed": r"""replace\(["']\]["'], ["']\]\]["']\)""",
}


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_is_given_up(habit: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for folder in (["compiler"] if habit in ONLY_COMPILER else FOLDERS)
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(HABITS[habit], line)
    ]
    assert found == []


# In a Turkish database LOWER and UPPER make other letters of I and i.
_CALL = r"""(lower|upper)\((?:[^()\n]|\([^()\n]*\))*(?<!COLLATE "C")\)"""
OF_THE_LOCALE = re.compile(
    rf"\b{_CALL}\s*(=|<>|(NOT )?IN|(NOT )?LIKE)\s*\(?\s*'[^'é]|\bCASE {_CALL}", re.ASCII
)


def test_the_systems_words_have_letters_of_no_locale() -> None:
    assert OF_THE_LOCALE.search("WHEN lower(name) = 'public'")
    assert not OF_THE_LOCALE.search("""WHEN lower(name COLLATE "C") IN ('public')""")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "runtime_sql").rglob("*.sql"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if OF_THE_LOCALE.search(line) and not line.startswith("--")
    ]
    assert found == []


def test_every_habit_would_be_found() -> None:
    lines = [
        "name = token.text.strip('[]\"')",
        "label.strip('\"')",
        'if before.count("\'") % 2:',
        'value.sql.startswith("sys.convert_")',
        'if text_of(query).startswith("SELECT"):',
        'if not value.text.startswith("rpad("):',
        "text = repr(code)",
        "head = statement.span.text.upper()",
        'node.top.text.strip() == "1"',
        """f"[{name.replace(']', ']]')}]\"""",
    ]
    for pattern, line in zip(HABITS.values(), lines, strict=True):
        assert re.search(pattern, line), line


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", ["a"]),
        ("[db]..[a]]b]", ["db", "", "a]b"]),
        ('"x""y".z', ['x"y', "z"]),
        ("a b", None),
        ("a.", None),
        ("", None),
    ],
)
def test_a_name_in_a_string_has_parts(text: str, parts: list[str] | None) -> None:
    assert name_parts(text) == parts


@pytest.mark.parametrize(
    ("typed", "name"),
    [("a b", "a b"), ("[a]]b]", "a]b"), ('"a""b"', 'a"b'), ("a.b", "a.b"), ("shop's", "shop's")],
)
def test_a_name_that_is_typed(typed: str, name: str) -> None:
    assert one_name(typed) == name


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("SELECT 'it''s", TokenKind.STRING),
        ("SELECT 'it''s'", None),
        ("SELECT [it's", TokenKind.BRACKETED),
        ("SELECT [it's] ", None),
        ("-- it's\nSELECT ", None),
    ],
)
def test_what_is_open_where_a_text_breaks_off(text: str, inside: TokenKind | None) -> None:
    assert open_quote(text) is inside

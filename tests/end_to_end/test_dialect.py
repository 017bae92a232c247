"""docs/dialect.md tells the truth: each sample is compiled."""

import os
import re
import textwrap
from pathlib import Path

import pytest

from pgsb.compiler.pipeline import CompileOptions, compile_script
from pgsb.compiler.sql.functions.builtin import AGGREGATES, FUNCTIONS, REFUSED
from pgsb.grammar.source import Source

PAGE = Path(__file__).parents[2] / "docs" / "dialect.md"
ROWS = re.findall(r"^\| `([^`]+)` \| (\w+)(.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
DECLARATIONS = """
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER, @s NVARCHAR(MAX), @n INT, @b VARBINARY(MAX),
    @x XML, @t TABLE (handle UNIQUEIDENTIFIER, type SYSNAME, body VARBINARY(MAX)), @c CURSOR;
"""
# These must open their batch.
MODULE = re.compile(
    r"\s*(CREATE|ALTER)\s+(OR\s+ALTER\s+)?(PROCEDURE|FUNCTION|TRIGGER|VIEW|RULE)\b", re.IGNORECASE
)


def test_every_row_has_one_of_the_five_answers() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert len(rows) == len(ROWS)
    assert {answer for _, answer, _ in ROWS} == {"supported", "accepted", "different", "beyond", "refused"}


@pytest.mark.parametrize(("sample", "answer", "how"), ROWS)
def test_a_statement_is_treated_as_the_page_says(sample: str, answer: str, how: str) -> None:
    text = sample if MODULE.match(sample) or "@" not in sample else DECLARATIONS + sample
    problems = compile_script(Source("sample.sql", text), CompileOptions()).problems
    if answer == "refused":
        assert problems.errors, "it compiles"
    else:
        assert not problems.errors, problems.report()
    if answer != "supported":
        assert how.strip(" :;,"), "say how or why"


def test_the_functions_listed_are_those_that_the_compiler_knows() -> None:
    text = PAGE.read_text(encoding="utf-8")
    listed = re.search(r"^## Functions\n.*?^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert listed is not None
    known = sorted({name.upper() for name in (*FUNCTIONS, *AGGREGATES)} - set(REFUSED))
    expected = textwrap.fill(" ".join(known), 116, break_on_hyphens=False) + "\n"
    if os.environ.get("PGSB_GOLDEN") == "rewrite":
        PAGE.write_text(text[: listed.start(1)] + expected + text[listed.end(1) :], encoding="utf-8")
    else:
        assert listed[1] == expected

"""A script with five mistakes has five of them reported, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgsb.compiler.builder.batches import parse_script
from pgsb.grammar import hints, parser
from pgsb.grammar.batches import split
from pgsb.grammar.problems import Problems
from pgsb.grammar.source import Source
from pgsb.grammar.tokens import Token
from support import examples

_RIGHT = (
    "PRINT 'x'",
    "SELECT a FROM t WHERE b = 1",
    "SET NOCOUNT ON",
    "IF 1 = 1 BEGIN PRINT 'y' END ELSE PRINT 'z'",
    "CREATE QUEUE q",
    "EXEC p 1, @a = 2",
    "BEGIN TRAN",
    "BEGIN TRY SELECT 1 END TRY BEGIN CATCH THROW; END CATCH",
)
_WRONG = (
    "CREATE QUEUE 'q'",
    "CREATE SERVICE s ON q",
    "CREATE CONTRACT c (m SENT TO ANY)",
    "CREATE MESSAGE TYPE m VALIDATION = VALID_XML",
    "ALTER QUEUE q WITH STATUS = MAYBE",
    "SELECT 1)",
    "SELECT a,, b FROM t",
    "UPDATE t WHERE a = 1",
    "IF PRINT 'x'",
    "WHILE 1 = PRINT 'x'",
    "EXEC p 1 + 1",
    "RECEIVE FROM q",
    "SEND ON @h",
    "END CONVERSATION h",
    "BEGIN DIALOG @h FROM a TO SERVICE 'b'",
    "WAITFOR (RECEIVE * FROM q) TIMEOUT 1",
    "RAISERROR ('x', 16)",
    "THROW 1, 2",
    "FETCH NEXT c",
    "nonsense here",
    "RETURN 1",
    "BREAK",
    "GOTO nowhere",
    "SET @undeclared = 1",
    "USE 'x'",
    "COMMIT TRANSACTION 'x'",
    "BEGIN TRAN 5",
    "BEGIN END",
    "GRANT LOOK ON t TO u",
)


@settings(max_examples=examples(250), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(_RIGHT), st.sampled_from(_WRONG)), min_size=1, max_size=6))
def test_every_mistake_is_reported_at_its_line(parts: list[tuple[str, str]]) -> None:
    lines = ["PRINT 'begin'"]
    expected = []
    for right, wrong in parts:
        lines += [right + ";", wrong + ";"]
        expected.append(len(lines))
    problems = Problems()
    parse_script(Source("x.sql", "\n".join(lines)), problems)
    assert [problem.span.line for problem in problems] == expected


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(_RIGHT), st.sampled_from(_WRONG)), min_size=1, max_size=4))
def test_mistakes_inside_a_procedure_are_reported_too(parts: list[tuple[str, str]]) -> None:
    not_there = ("RETURN 1",)  # right in a procedure
    lines = ["CREATE PROCEDURE p AS", "BEGIN", "  BEGIN TRY"]
    expected = []
    for right, wrong in parts:
        lines += [right + ";", wrong + ";"]
        if wrong not in not_there:
            expected.append(len(lines))
    lines += ["  END TRY BEGIN CATCH THROW END CATCH", "END", "GO", "CREATE QUEUE"]
    expected.append(len(lines))
    problems = Problems()
    parse_script(Source("x.sql", "\n".join(lines)), problems)
    assert [problem.span.line for problem in problems] == expected


def test_declared_terminals_are_no_keywords() -> None:
    """A declared terminal and a keyword of the same name would be one for Lark."""
    files = [path for path in resources.files("pgsb.grammar").iterdir() if path.name.endswith(".lark")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    declared = {name for line in re.findall(r"^%declare (.*)$", text, re.MULTILINE) for name in line.split()}
    assert "GROUP" in declared
    assert not declared & set(re.findall(r'"([A-Z_]+)"', text))


def test_a_batch_that_is_all_wrong_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each error had all tokens before it read again: the time grew with the square of the text."""
    seen: list[range] = []

    def noted(tokens: Sequence[Token], source: Source, places: range) -> str | None:
        seen.append(places)
        return hints.misplaced_quote(tokens, source, places)

    monkeypatch.setattr(parser, "misplaced_quote", noted)
    wrong = "CREATE QUEU q 'a';\nFROM (b c d\n" * 200
    problems = Problems()
    (batch,) = split(Source("a.sql", wrong), problems)
    parser.parse_batch(batch, problems)
    assert len(list(problems)) >= 200
    assert sum(map(len, seen)) < len(batch.tokens)


def test_a_quote_that_is_missing_is_told_of_every_error_behind_it() -> None:
    problems = Problems()
    (batch,) = split(Source("a.sql", "CREATE QUEU a;\nPRINT 'it's';\nCREATE QUEU b;\nDROP QUEU c"), problems)
    parser.parse_batch(batch, problems)
    told = ["the string at line 2" in (problem.hint or "") for problem in problems]
    assert told[0] is False and told[1] is True


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("BEGIN TRY\nPRINT 1\nEND TRY\nPRINT 2", 4),
        ("BEGIN TRY\nPRINT 1\nEND TRY", 3),
        ("CREATE PROCEDURE p AS\nBEGIN\nBEGIN TRY\nPRINT 1\nEND TRY\nPRINT 2\nEND", 6),
        ("IF 1 = 1\nBEGIN TRY\nPRINT 1\nEND TRY\nELSE\nPRINT 2", 5),
        (
            "WHILE 1 = 1\nBEGIN\nBEGIN TRY\nBEGIN TRY\nBREAK\nEND TRY\nEND TRY\nBEGIN CATCH\nEND CATCH\nEND",
            7,
        ),
    ],
)
def test_a_try_without_a_catch_is_one_error(text: str, line: int) -> None:
    """And what follows is read: the blocks around it have their ENDs."""
    problems = Problems()
    parse_script(Source("x.sql", text + "\nGO\nCREATE QUEUE"), problems)
    found = [(one.span.line, one.hint) for one in problems]
    assert [number for number, _ in found] == [line, text.count("\n") + 3]
    assert found[0][1] is not None and "is followed by BEGIN CATCH" in found[0][1]

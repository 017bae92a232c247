"""A script means the same however it is laid out: with comments, blanks, line ends, keywords in any case."""

import random
import re
from pathlib import Path

import cases
import pytest
from cases import Case

from pgsb.compiler.pipeline import CompileOptions, compile_script
from pgsb.grammar.lexer import lex
from pgsb.grammar.problems import Problems
from pgsb.grammar.source import Source
from pgsb.grammar.tokens import RESERVED_WORDS, Token, TokenKind

ALL = cases.read_folder(Path(__file__).parent / "cases")
_MARK = "/*mark*/"
_LINES_OF_TOOLS = re.compile(r"^[ \t]*(?:GO\b|:|!!)", re.IGNORECASE)


def _compiled(text: str) -> str | None:
    """The PostgreSQL text without blanks and marks; None where there is something wrong with the script."""
    script = compile_script(Source("case.sql", text), CompileOptions())
    return None if script.problems.errors else re.sub(r"\s", "", script.text().replace(_MARK, "")).lower()


def _without_comments(text: str) -> str:
    for token in reversed(list(lex(Source("case.sql", text), Problems()))):
        if token.kind is TokenKind.COMMENT:
            lines = token.text.count("\n")
            text = f"{text[: token.start]} {lines * chr(10)}{text[token.end :]}"
    return text


def _laid_out_otherwise(text: str, chance: random.Random) -> str:
    result: list[str] = []
    position = 0
    before = ""
    for token in lex(Source("case.sql", text), Problems()):
        line = text[text.rfind("\n", 0, token.start) + 1 : token.end]
        if _LINES_OF_TOOLS.match(line):
            result.append(text[position : token.end])
        else:
            gap = text[position : token.start].replace("\n", chance.choice(("\n", "\r\n")))
            # A comment at an ELSE keeps its place there: ELSE IF is no ELSIF then.
            mark = chance.choice(("", " ", "\t", _MARK)) if "ELSE" not in (before, token.word) else ""
            result += [gap, mark, _in_another_case(token, chance)]
        position, before = token.end, token.word
    return "".join([*result, text[position:]])


def _in_another_case(token: Token, chance: random.Random) -> str:
    if token.word not in RESERVED_WORDS:
        return token.text
    return chance.choice((token.text.upper(), token.text.lower(), token.text.title()))


@pytest.mark.parametrize("case", ALL, ids=[case.label for case in ALL])
def test_a_case_compiles_to_the_same_however_it_is_laid_out(case: Case) -> None:
    text = _without_comments(case.source)
    expected = _compiled(text)
    if expected is not None:
        other = _laid_out_otherwise(text, random.Random(case.label))
        assert other != text
        assert _compiled(other) == expected, other


@pytest.mark.parametrize(
    "body",
    [
        "CREATE FUNCTION dbo.f () RETURNS int AS BEGIN RETURN 1;\n{}\nEND",
        "CREATE FUNCTION dbo.f () RETURNS @t TABLE (a int) AS BEGIN INSERT @t VALUES (1); RETURN;\n{}\nEND",
        "CREATE PROCEDURE dbo.p AS BEGIN TRY SELECT 1 / 0; END TRY BEGIN CATCH THROW;\n{}\nEND CATCH",
        "CREATE PROCEDURE dbo.p AS BEGIN PRINT 'x'; RETURN;\n{}\nEND",
        "a: PRINT 'x' IF @@TRANCOUNT = 1 GOTO b BEGIN TRAN GOTO a;\n{}\nb: PRINT 'y' COMMIT GOTO a",
    ],
)
def test_nothing_is_put_behind_what_ends_a_body(body: str) -> None:
    """A comment at the end of a body used to hide the RETURN in front of it, and another one was added."""
    assert _compiled(body.format(_MARK)) == _compiled(body.format(""))


# What other tools take for the end of a line; it ends no comment, in T-SQL and in PostgreSQL.
_NO_LINE_ENDS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@pytest.mark.parametrize(
    "script",
    [
        "DECLARE @i int = 1\n-- a{}DROP TABLE t\nPRINT @i",
        "DECLARE @i int = 1\nPRINT @i\n-- a{}DROP TABLE t",
        "DECLARE @i int = 1\nPRINT @i /* a{}DROP TABLE t */",
        "CREATE PROCEDURE dbo.p AS\n-- a{}DROP TABLE t\nPRINT 1",
        "-- a{}DROP TABLE t\nCREATE FUNCTION dbo.f () RETURNS int AS BEGIN RETURN 1 END",
        "SELECT 1 -- a{}DROP TABLE t",
        "-- a{}DROP TABLE t\nGO\nSELECT 1",
    ],
)
def test_what_stands_in_a_comment_never_runs(script: str) -> None:
    """The rest of a line comment with a form feed in it was a statement."""
    for end in _NO_LINE_ENDS:
        text = compile_script(Source("case.sql", script.format(end))).text()
        code = re.sub(r"--[^\r\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
        assert "DROP TABLE" not in code, repr(end)


@pytest.mark.parametrize(
    "script",
    [
        "[a\nDROP TABLE t]: PRINT 1 IF @@TRANCOUNT = 1 GOTO [a\nDROP TABLE t]",
        "IF @@TRANCOUNT = 1 GOTO [a\nDROP TABLE t] BEGIN TRAN [a\nDROP TABLE t]: COMMIT",
        "[a\rDROP TABLE t]: PRINT 'x' IF @@TRANCOUNT = 1 GOTO b BEGIN TRAN GOTO [a\rDROP TABLE t] b: COMMIT",
        "BEGIN TRAN SAVE TRAN [a\nDROP TABLE t] INSERT u VALUES (1) ROLLBACK TRAN [a\nDROP TABLE t] COMMIT",
    ],
)
def test_a_name_of_two_lines_is_no_statement(script: str) -> None:
    """The second line of the remark that a label or savepoint becomes was one."""
    code = compile_script(Source("case.sql", script)).text()
    for pattern in (r"'(?:[^']|'')*'", r'"(?:[^"]|"")*"', r"--[^\r\n]*"):
        code = re.sub(pattern, "", code, flags=re.DOTALL)
    assert "drop table" not in code.lower(), code

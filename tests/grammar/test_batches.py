"""GO: where a script is split, and where it is not."""

from __future__ import annotations

import pytest

from pgsb.grammar.batches import split
from pgsb.grammar.problems import Problems
from pgsb.grammar.source import Source


def batches(text: str) -> list[tuple[int, int, str]]:
    problems = Problems()
    found = [
        (batch.line, batch.repeat, " ".join(token.text for token in batch.tokens))
        for batch in split(Source("x.sql", text), problems)
    ]
    assert not problems.report()
    return found


@pytest.mark.parametrize(
    "separator",
    ["GO", "go", "Go", "  GO  ", "\tgo\t", "GO -- note", "GO /* note */", "GO\r", "\u00a0GO\u00a0", "GO 1"],
)
def test_go_alone_on_its_line_splits(separator: str) -> None:
    assert [batch[2] for batch in batches(f"SELECT 1\n{separator}\nSELECT 2")] == ["SELECT 1", "SELECT 2"]


def test_the_count_repeats_a_batch() -> None:
    assert batches("SELECT 1\nGO 5\nSELECT 2\ngo 12 -- a dozen\n") == [
        (1, 5, "SELECT 1"),
        (3, 12, "SELECT 2"),
    ]


def test_batches_without_statements_are_left_out() -> None:
    assert batches("GO\nGO\n-- note\nGO\nSELECT 1\nGO\nGO") == [(5, 1, "SELECT 1")]


def test_a_batch_begins_on_the_line_after_go() -> None:
    assert [batch[0] for batch in batches("\n\nSELECT 1\nGO\n\n-- note\nSELECT 2\r\nGO\r\nSELECT 3")] == [
        1,
        5,
        9,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'a\nGO\nb'",
        "SELECT 1 /* a\nGO\nb */",
        "SELECT [a\nGO\nb]",
        'SELECT "a\nGO\nb"',
        "SELECT 1 GO",
        "SELECT 1 AS go",
        "SELECT a.\nGO_x",
        "SELECT a,\ngo.b FROM go",
        "SELECT a,\ngo, b FROM t",
        "SELECT 1 -- GO\n",
        "SELECT /* /* */\nGO\n*/ 1",
        "-- 'not a string\nSELECT 1 -- '\n",
    ],
)
def test_go_elsewhere_is_no_separator(text: str) -> None:
    assert len(batches(text)) == 1


def test_go_after_a_comment_that_ends_on_its_line_splits() -> None:
    assert len(batches("SELECT 1 /*\n*/ GO\nSELECT 2")) == 2


def test_quotes_in_comments_and_comments_in_quotes_mean_nothing() -> None:
    assert batches("SELECT '--', '/*' -- it's\nGO\nSELECT '*/' /* it's */") == [
        (1, 1, "SELECT '--' , '/*'"),
        (3, 1, "SELECT '*/'"),
    ]


def test_an_unclosed_string_ends_at_the_next_go() -> None:
    problems = Problems()
    found = list(split(Source("x.sql", "SELECT 1\nGO\nPRINT 'abc\nGO\nSELECT 2"), problems))
    assert [batch.line for batch in found] == [1, 3, 5]
    (problem,) = problems
    assert (problem.number, problem.span.line, problem.span.column) == (105, 3, 7)
    assert problem.message == "Unclosed quotation mark after the character string 'abc'."


def test_double_quotes_are_strings_after_set_quoted_identifier_off() -> None:
    (batch,) = split(
        Source(
            "x.sql", 'SELECT "a" SET QUOTED_IDENTIFIER OFF SELECT "b" SET QUOTED_IDENTIFIER ON SELECT "c"'
        ),
        Problems(),
    )
    kinds = [token.kind.name for token in batch.tokens if token.text.startswith('"')]
    assert kinds == ["QUOTED", "STRING", "QUOTED"]


def test_an_n_before_double_quotes_belongs_to_a_string_alone() -> None:
    text = 'SELECT N"a" SET QUOTED_IDENTIFIER OFF SELECT N"b""", N "c" SET QUOTED_IDENTIFIER ON SELECT N"d"'
    (batch,) = split(Source("x.sql", text), Problems())
    quoted = [token for token in batch.tokens if '"' in token.text]
    assert [(token.kind.name, token.text) for token in quoted] == [
        ("QUOTED", '"a"'),
        ("STRING", 'N"b"""'),
        ("STRING", '"c"'),
        ("QUOTED", '"d"'),
    ]


def test_a_database_option_does_not_change_what_double_quotes_are() -> None:
    (batch,) = split(Source("x.sql", 'ALTER DATABASE d SET QUOTED_IDENTIFIER OFF SELECT "b"'), Problems())
    assert batch.tokens[-1].kind.name == "QUOTED"


def test_batches_are_read_one_by_one() -> None:
    text = "SELECT 1\nGO\n" * 3 + "SELECT 'unclosed"
    problems = Problems()
    found = split(Source("x.sql", text), problems)
    next(found)
    assert not len(problems)
    assert len(list(found)) == 3
    assert len(problems) == 1

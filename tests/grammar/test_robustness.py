"""Whatever the text is, there is an answer: nodes or problems with places, never a traceback."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from node_outline import outline

from pgsb.compiler import nodes
from pgsb.compiler.builder.batches import parse_script
from pgsb.grammar.problems import Problems
from pgsb.grammar.source import Source
from pgsb.grammar.tokens import RESERVED_WORDS
from support import examples

_NAMES_AND_KEYWORDS = """
DIALOG CONVERSATION SEND RECEIVE MESSAGE TYPE QUEUE SERVICE CONTRACT MOVE GET TRY CATCH TIMER TIMEOUT DELAY
OUTPUT THROW NEXT GO STATUS ACTIVATION a b.c [x] "q" @v @@ROWCOUNT #t N'x' 'it''s' 1 1.5 0x1F $2 $action
( ) , ; . = += * + - <> :: : { } ! /*c*/ /* ' [ ’ \\ ? é
"""
_WORDS = [
    *sorted(RESERVED_WORDS),
    *_NAMES_AND_KEYWORDS.split(),
    *("\n", "\nGO\n", "\nGO 2\n", "\u00a0", "\t", "--c\n", "[x y]", "\U0001f600"),
]
_soup = st.lists(st.sampled_from(_WORDS), max_size=60).map(" ".join)


def _parse(text: str) -> tuple[nodes.Script, Problems]:
    problems = Problems()
    return parse_script(Source("soup.sql", text), problems), problems


@settings(max_examples=examples(400), deadline=None)
@given(_soup)
def test_any_words_are_parsed_or_refused_with_a_place(text: str) -> None:
    _, problems = _parse(text)
    for problem in problems:
        assert 0 <= problem.span.start <= problem.span.end <= len(text)
        assert "soup.sql:" in str(problem)


@pytest.mark.long
@settings(max_examples=examples(150), deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    _, problems = _parse(text)
    problems.report()


# Statements that stand alone; those that T-SQL wants a semicolon before are not among them.
_STATEMENTS = (
    "SELECT a, b AS c, CASE WHEN a = 1 THEN 2 ELSE 3 END FROM t WHERE a IN (SELECT 1) ORDER BY a",
    "SELECT 1 UNION ALL SELECT 2",
    "SELECT TOP (1) a INTO #x FROM t AS send",
    "INSERT INTO t (a) VALUES (1), (2)",
    "INSERT t SELECT a FROM u",
    "UPDATE t SET a = 1 FROM t JOIN u ON t.a = u.a",
    "DELETE FROM t WHERE a = 1",
    "CREATE TABLE t (a int, b xml)",
    "ALTER TABLE t ADD b int",
    "DROP TABLE IF EXISTS t, u",
    "TRUNCATE TABLE t",
    "CREATE INDEX ix ON t (a)",
    "EXEC p 1, 'x', @a = 2",
    "EXEC ('SELECT 1')",
    "PRINT 'x' + 'y'",
    "SET NOCOUNT ON",
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "BEGIN TRAN",
    "BEGIN TRANSACTION named",
    "COMMIT",
    "ROLLBACK TRAN",
    "SAVE TRAN s",
    "IF 1 = 1 PRINT 'a' ELSE PRINT 'b'",
    "IF EXISTS (SELECT 1) BEGIN SELECT 1 END",
    "WHILE 1 = 0 BEGIN BREAK CONTINUE END",
    "BEGIN PRINT 'a' PRINT 'b' END",
    "BEGIN TRY SELECT 1 END TRY BEGIN CATCH PRINT 'c' END CATCH",
    "RAISERROR ('x', 16, 1) WITH NOWAIT",
    "WAITFOR DELAY '00:00:01'",
    "WAITFOR (RECEIVE * FROM q), TIMEOUT 100",
    "RECEIVE TOP (1) message_body, conversation_handle FROM q",
    "SEND ON CONVERSATION '00000000-0000-0000-0000-000000000000' MESSAGE TYPE m (N'x')",
    "SEND ON CONVERSATION ('00000000-0000-0000-0000-000000000000')",
    "END CONVERSATION '00000000-0000-0000-0000-000000000000' WITH CLEANUP",
    "MOVE CONVERSATION '00000000-0000-0000-0000-000000000000' TO '00000000-0000-0000-0000-000000000000'",
    "CREATE QUEUE q WITH STATUS = ON",
    "CREATE MESSAGE TYPE m VALIDATION = NONE",
    "CREATE CONTRACT c (m SENT BY ANY)",
    "CREATE SERVICE s ON QUEUE q (c)",
    "ALTER QUEUE q WITH ACTIVATION (DROP)",
    "DROP SERVICE s",
    "GRANT SEND ON SERVICE::s TO PUBLIC",
    "ALTER DATABASE d SET ENABLE_BROKER WITH ROLLBACK IMMEDIATE",
    "DECLARE c CURSOR LOCAL FOR SELECT a FROM t",
    "OPEN c",
    "FETCH NEXT FROM c",
    "CLOSE c",
    "DEALLOCATE c",
    "USE d",
    "DBCC CHECKIDENT ('t')",
    "BACKUP DATABASE d TO DISK = 'x' WITH INIT",
    "EXECUTE AS USER = 'u'",
    "REVERT",
    "DISABLE TRIGGER tr ON t",
)
_UNRESERVED = ("RECEIVE", "SEND", "MOVE", "GET")
_SEPARATORS = (" ", "\n", ";", ";\n", " ; ", "\n\n-- note\n", " /* note */ ", "\t", ";;", "\u00a0")


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(_STATEMENTS), st.sampled_from(_SEPARATORS)), min_size=2, max_size=8)
)
def test_statements_end_in_the_same_place_whatever_stands_between_them(parts: list[tuple[str, str]]) -> None:
    # A label first, so that no part begins the batch.
    text = "here: "
    ended = True
    for statement, separator in parts:
        # Behind a column or a table these words would be its alias.
        text += ";" if statement.startswith(_UNRESERVED) and not ended else ""
        text += statement + separator
        ended = ";" in separator
    shown = [line for line in outline(text).splitlines() if not line.lstrip().startswith(("#", "warning"))]
    apart = [
        line
        for statement, _ in parts
        for line in outline("here: " + statement).splitlines()
        if not line.startswith(("Label", "warning"))
    ]
    assert [line.split("  #")[0] for line in shown[1:]] == apart


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.sampled_from(_STATEMENTS), min_size=1, max_size=5), st.integers(0, 400))
def test_a_script_that_breaks_off_is_refused_or_parsed(parts: list[str], cut: int) -> None:
    _parse("\n".join(parts)[:cut])


@pytest.mark.parametrize(
    ("opening", "inside", "closing"),
    [
        ("(", "1", ")"),
        ("BEGIN ", "PRINT 'x' ", "END "),
        ("IF 1 = 1 ", "PRINT 'x' ", ""),
        ("WHILE 1 = 0 ", "BREAK ", ""),
        ("BEGIN TRY ", "PRINT 'x' ", "END TRY BEGIN CATCH END CATCH "),
        ("SELECT (", "SELECT 1", ")"),
        ("BEGIN ", "", ""),
        ("(", "", ""),
        ("CASE WHEN 1 = 1 THEN ", "2 ", "END "),
        ("/*", "*/", "*/"),
        ("NOT ", "", ""),
        ("{", "1", "}"),
    ],
)
def test_deep_nesting_is_parsed_or_refused(opening: str, inside: str, closing: str) -> None:
    deep = examples(10_000)
    for prefix in ("", "SET @x = "):
        _, problems = _parse(prefix + opening * deep + inside + closing * deep)
        problems.report()


def test_what_is_nested_too_deeply_is_refused_with_its_number() -> None:
    _, problems = _parse("BEGIN " * 10_000 + "PRINT 'x' " + "END " * 10_000)
    assert [problem.number for problem in problems] == [191]
    _, problems = _parse("PRINT " + "(" * 10_000 + "1" + ")" * 10_000)
    assert [problem.number for problem in problems] == [191]


def test_a_long_chain_of_else_if_is_not_nesting() -> None:
    script, problems = _parse("DECLARE @a int " + "IF @a = 1 PRINT 'x' ELSE " * 1_000 + "PRINT 'y'")
    assert not problems.report()
    depth = 0
    statement: nodes.Statement | None = script.batches[0].statements[1]
    while isinstance(statement, nodes.If):
        depth, statement = depth + 1, statement.otherwise
    assert depth == 1_000


def test_a_long_script_is_parsed() -> None:
    text = "".join(
        f"IF EXISTS (SELECT 1 FROM t WHERE a = {n}) BEGIN EXEC p {n}, N'x' END -- line {n}\n"
        for n in range(5_000)
    )
    script, problems = _parse(text)
    assert not len(problems)
    assert len(script.batches[0].statements) == 5_000
    assert script.batches[0].statements[-1].span.line == 5_000


def test_each_batch_has_its_own_errors_however_many_there_are() -> None:
    """Counting and searching all of them for each batch took minutes for tens of thousands."""
    count = 20_000
    problems = Problems()
    source = Source("many.sql", "x" * count)
    began = time.process_time()
    for place in reversed(range(count)):
        problems.add("wrong", source.span(place, place + 1))
        problems.add("odd", source.span(place, place + 1), severity="warning")
        assert problems.error_count == count - place
        assert [one.span.start for one in problems.within(source.span(place, place))] == [place]
    assert time.process_time() - began < 10
    assert problems.within(Source("other.sql", "x").span(0, 1)) == ()
    assert [one.span.start for one in problems.within(source.span(7, 9))] == [7, 8, 9]
    problems.revise(lambda one: None if one.span.start == 8 else one)
    assert [one.span.start for one in problems.within(source.span(7, 9))] == [7, 9]
    assert problems.error_count == len(problems.errors) == count - 1

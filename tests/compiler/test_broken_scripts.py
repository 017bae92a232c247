"""Scripts that are cut, doubled or garbled: each gets its problems with their places, never a traceback."""

import pytest

from pgsb.compiler.pipeline import CompileOptions, check_scripts
from pgsb.grammar.source import Source
from support import rest_is_long

BROKEN = {
    ";": None,
    ";;": None,
    "SELECT *'x' FROM elsewhere FOR XML AUTO": (1, 9),
    "ALTER TRIGGER tr1 ON mt FOR ##INSERT AS PRINT 'x'": (1, 29),
    "SELECT IDENTITY(int, 1, .1) AS no, name INTO numbered FROM customers": (1, 8),
    "CREATE TYPE dbo.ids AS TABLE": (1, 1),
    "CREATE TYPE a.b.c.d AS TABLE (i int)": (1, 1),
    "CREATE TYPE a b AS TABLE (i int)": (1, 1),
    "EXEC p;1e": (1, 8),
    "SELECT LAST_VALUE() IGNORE NULLS OVER (ORDER BY a) FROM t": (1, 8),
    "SELECT STRING_AGG(name, ',') WITHIN GROUP () FROM customers": (1, 8),
    "DECLARE @a varchar(\u00b256)": (1, 12),
    "SELECT {fn TIMESTAMPDIFF('!x')}": (1, 12),
    "GO " + "9" * 5000: (1, 1),
    "DECLARE @s nvarchar(9); EXEC ('PRINT ''x' ++ @s)": (1, 31),
    "SELECT id + 1 AS a INTO  FROM orders": (1, 26),
    "DECLARE @x xml(dbo..)": (1, 16),
    "DBCC CHECKIDENT (t, RESEED, )": (1, 1),
    'SELECT ROW(p.a)::dbo."/*p@plain" FROM t': (1, 8),
    "EXEC [p\ud800]": (1, 6),
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_script_has_a_place(text: str) -> None:
    problems = check_scripts([Source("script.sql", text)], CompileOptions())
    places = [(problem.span.line, problem.span.column) for problem in problems]
    assert places[:1] == ([BROKEN[text]] if BROKEN[text] is not None else [])


def test_a_table_variable_that_cannot_be_read_is_told_once() -> None:
    text = "DECLARE @t TABLE (a int b int); INSERT @t VALUES (1); RECEIVE * FROM q INTO @t; SELECT a FROM @t"
    problems = check_scripts([Source("script.sql", text)], CompileOptions())
    assert [problem.number for problem in problems] == [102]


def test_modules_inside_modules_of_dynamic_sql_are_read_once() -> None:
    """Each level used to be written out inside the one around it: 2ⁿ texts."""
    nested = "CREATE PROCEDURE dbo.made AS PRINT ''x'' " * 200
    problems = check_scripts([Source("script.sql", f"EXEC (N'{nested}')")], CompileOptions())
    assert {problem.number for problem in problems} == {111, 191}  # the second: nested too deeply


@pytest.mark.parametrize("count", rest_is_long([199, 3000], 199))
def test_chains_of_else_if_have_an_end(count: int) -> None:
    chain = "IF 1 = 1 PRINT 1 ELSE " * count + "PRINT 1"
    problems = check_scripts([Source("script.sql", chain)], CompileOptions())
    assert [problem.number for problem in problems] == ([191] if count > 199 else [])


def test_what_doubles_itself_has_an_end() -> None:
    """Texts that variables hold, and stars over stars, were followed until memory was full."""
    text = "DECLARE @s nvarchar(max) = N'x'; " + "SET @s = @s + @s; " * 60 + "EXEC (@s)"
    assert not check_scripts([Source("script.sql", text)], CompileOptions()).errors
    parts = [f"c{n} AS (SELECT * FROM c{n - 1} AS a CROSS JOIN c{n - 1} AS b)" for n in range(1, 40)]
    text = f"WITH c0 AS (SELECT 1 AS a), {', '.join(parts)} SELECT * FROM c39"
    assert 1056 in {one.number for one in check_scripts([Source("script.sql", text)], CompileOptions())}


@pytest.mark.parametrize(
    ("statement", "column"),
    [
        ("SELECT a FROM t WHERE b = 1 2", 29),
        ("SELECT a FRM b c d", 14),
        (";WITH c AS (SELECT 1 2 AS x) SELECT x FROM c", 22),
        ("UPDATE t SET a = 1 b", 20),
        ("DELETE t WHERE a b", 18),
        ("INSERT t SELECT 1 2 3", 19),
        ("INSERT t SELECT a FROM (DELETE u OUTPUT deleted.a) AS d WHERE a b", 65),
        ("MERGE t USING s ON t.a = s.a b WHEN MATCHED THEN DELETE;", 30),
        ("PRINT 'a' + LEFT('b' 1)", 22),
        ("RECEIVE LEFT(message_type_name 1) FROM q", 32),
        ("BEGIN PRINT 'x' SELECT a FROM t WHERE b = 1 2 END", 45),
        ("DECLARE c CURSOR FOR SELECT a FROM t WHERE b = 1 2", 50),
    ],
)
def test_what_cannot_be_read_is_told_beside_other_errors(statement: str, column: int) -> None:
    """It used to come to light when all errors of the batch that the grammar finds were mended."""
    for before, behind in (
        ("PRINT )", "PRINT 1"),
        ("SET @undeclared = 1", ""),
        ("BEGIN TRAN SELECT )", "COMMIT"),
    ):
        text = f"{before}\n{statement}\n{behind}"
        problems = check_scripts([Source("script.sql", text)], CompileOptions())
        assert [(p.number, p.span.line, p.span.column) for p in problems][1:] == [(102, 2, column)], before


@pytest.mark.parametrize(
    "text",
    [
        "DECLARE c CURSOR FRO\nSELECT a FROM t\nFOR UPDATE OF a\nPRINT 1",
        "CREATE VIEW v v2 AS\nSELECT a FROM t WITH CHECK OPTION",
        "PRINT )\n;WITH d AS (SELECT 1 AS a) SELECT a FROM d",
        "PRINT )\nINSERT t SELECT a FROM (DELETE u OUTPUT deleted.a) AS d",
        "PRINT )\nSELECT a FROM t WITH (NOLOCK) OPTION (RECOMPILE)",
        "PRINT )\nUPDATE t SET a = 1 OUTPUT inserted.a INTO u WHERE CURRENT OF c",
        "PRINT )\nSELECT a FROM t FOR XML PATH('r'), ROOT('rs')",
        "PRINT )\n;WITH XMLNAMESPACES ('urn:a' AS a) SELECT 1 AS [a:b] FOR XML PATH",
        "PRINT )\nINSERT t EXEC p 1",
        "PRINT )\n(SELECT 1 AS a) UNION ALL (SELECT 2) ORDER BY a",
    ],
)
def test_what_can_be_read_is_no_error_beside_others(text: str) -> None:
    problems = check_scripts([Source("script.sql", text)], CompileOptions())
    assert len(problems.errors) == 1, problems.report()

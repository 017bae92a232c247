"""What the compiler finds out without running anything: depths, liveness, safety, known texts."""

import pytest
from sqlglot import exp

from pgsb.compiler import nodes
from pgsb.compiler.analysis.constants import Constants, Piece, plain
from pgsb.compiler.analysis.cursor_rows import LocatedTable, located_cursors, with_row_place
from pgsb.compiler.analysis.live_status import DEAD, Live, Status, read_at_start
from pgsb.compiler.analysis.may_fail import cannot_raise, condition_cannot_raise
from pgsb.compiler.analysis.mentions import temporary_names, tokens_of
from pgsb.compiler.analysis.transaction_depth import ANY, CLOSED, Depths
from pgsb.compiler.builder.batches import parse_script
from pgsb.compiler.catalog.names import ObjectName
from pgsb.compiler.catalog.scope import Catalog, Scope
from pgsb.compiler.catalog.types import INT, TINYINT, SqlType, decimal, nvarchar
from pgsb.compiler.lower.placeholders import place
from pgsb.grammar.problems import Problems
from pgsb.grammar.source import Source


def body(text: str) -> tuple[nodes.Statement, ...]:
    problems = Problems()
    script = parse_script(Source("x.sql", text), problems)
    assert not problems.errors, problems.report()
    return script.batches[0].statements


def expression(text: str) -> exp.Expr | None:
    """Return the tree of an expression over @i int, @n nvarchar(10), @u uniqueidentifier."""
    declared = "DECLARE @i int, @n nvarchar(10), @u uniqueidentifier, @t tinyint; PRINT "
    statement = body(declared + text)[-1]
    assert isinstance(statement, nodes.Print)
    return statement.value.tree


@pytest.fixture(scope="module")
def scope() -> Scope:
    made = Scope(Catalog())
    for name, type_ in (("@i", INT), ("@n", nvarchar(10)), ("@t", TINYINT)):
        made.declare(name, type_)
    made.declare("@u", SqlType("uniqueidentifier"))
    return made


IN_TRY = "BEGIN TRAN; BEGIN TRY PRINT 1; COMMIT END TRY BEGIN CATCH"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("BEGIN TRAN; COMMIT", {0}),
        ("BEGIN TRAN; BEGIN TRAN; COMMIT", {1}),
        ("BEGIN TRAN; BEGIN TRAN; ROLLBACK", {0}),
        ("BEGIN TRAN; IF 1 = 2 COMMIT ELSE ROLLBACK", {0}),
        ("BEGIN TRAN; IF @@ERROR <> 0 ROLLBACK", {0, 1}),
        (f"{IN_TRY} IF @@TRANCOUNT > 0 ROLLBACK END CATCH", {0}),
        (f"{IN_TRY} IF XACT_STATE() <> 0 ROLLBACK END CATCH", {0}),
        (f"{IN_TRY} PRINT 2 END CATCH", {0, 1}),
        ("WHILE 1 = 1 BEGIN BEGIN TRAN; IF @@ROWCOUNT = 0 BEGIN COMMIT; BREAK END COMMIT END", {0}),
        ("BEGIN TRAN; GOTO done; COMMIT; done: PRINT 1", {1}),
        ("BEGIN TRAN; SAVE TRAN s; ROLLBACK TRAN s", {1}),
        ("BEGIN TRAN t; ROLLBACK TRAN t", {0, 1}),
    ],
)
def test_depth_after_a_batch(text: str, after: set[int]) -> None:
    assert Depths(body(text), CLOSED).exit == after


def test_depth_inside_a_loop_is_that_of_every_round() -> None:
    statements = body("WHILE @@ROWCOUNT = 0 BEGIN PRINT 1; BEGIN TRAN END")
    loop = statements[0]
    assert isinstance(loop, nodes.While)
    assert Depths(statements, CLOSED).before(nodes.children_of(loop.body)[0]) == ANY


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("PRINT 1; PRINT @@ERROR", Live(True, False)),
        ("PRINT 1; IF @@ROWCOUNT = 0 PRINT 2", Live(False, True)),
        ("PRINT 1; DECLARE @a int; PRINT @@ERROR", Live(True, False)),
        ("PRINT 1; PRINT 2; PRINT @@ERROR", DEAD),
        ("PRINT 1; BEGIN TRY PRINT @@ROWCOUNT END TRY BEGIN CATCH END CATCH", Live(False, True)),
        ("PRINT 1; GOTO x; PRINT 2; x: PRINT @@ERROR", Live(True, False)),
    ],
)
def test_what_is_read_after_the_first_statement(text: str, live: Live) -> None:
    statements = body(text)
    assert Status(statements, DEAD).after(statements[0]) == live


def test_a_loop_reads_what_its_last_statement_left() -> None:
    statements = body("WHILE @@ROWCOUNT > 0 BEGIN PRINT 1; PRINT 2 END")
    loop = statements[0]
    assert isinstance(loop, nodes.While)
    assert isinstance(loop.body, nodes.Block)
    first, last = loop.body.statements
    status = Status(statements, DEAD)
    assert status.after(first) == DEAD
    assert status.after(last) == Live(False, True)


def test_a_batch_that_reads_what_the_one_before_left() -> None:
    assert read_at_start(body("SELECT @@ROWCOUNT")) != DEAD
    assert read_at_start(body("PRINT 1; SELECT @@ROWCOUNT")) == DEAD


@pytest.mark.parametrize(
    ("text", "target", "safe"),
    [
        ("1", INT, True),
        ("300", TINYINT, False),
        ("@i", INT, True),
        ("@i", TINYINT, False),
        ("@t", INT, True),
        ("@i + 1", INT, False),
        ("@n + N'x'", nvarchar(3), True),
        ("@n + @i", nvarchar(3), False),
        ("@n", INT, False),
        ("NULL", INT, True),
        ("ISNULL(@n, N'')", nvarchar(10), True),
        ("CONCAT(@n, @i)", nvarchar(10), True),
        ("NEWID()", SqlType("uniqueidentifier"), True),
        ("ERROR_NUMBER()", INT, True),
        ("(SELECT 1)", INT, False),
        ("SUBSTRING(@n, 1, 2)", nvarchar(10), False),
        ("999", decimal(5, 2), True),
        ("12345", decimal(5, 2), False),
        ("999.999", decimal(5, 2), False),
        ("-1000", decimal(5, 2), False),
        ("@@ROWCOUNT", decimal(5, 2), False),
        ("ERROR_LINE()", decimal(9, 0), False),
        ("ERROR_LINE()", decimal(10, 0), True),
    ],
)
def test_expressions_that_can_never_fail(scope: Scope, text: str, target: SqlType, safe: bool) -> None:
    assert cannot_raise(expression(text), scope, target) is safe


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("@i = 1", True),
        ("(@i = 1 AND @n <> N'a') OR @u IS NULL", True),
        ("NOT (@i > 1)", True),
        ("@u IS NOT NULL", True),
        ("@n = 1", False),
        ("@i + 1 > 2", False),
        ("EXISTS (SELECT 1)", False),
        ("@@ROWCOUNT = 0", True),
        ("ISNULL(@n, N'') = N'x'", True),
        ("@n IN (N'a', 'b') AND @i NOT IN (1, 2) OR (@n IN ('q', @n))", True),
        ("NOT (@i IN (1, NULL))", True),
        ("@n IN ('a', 2)", False),
        ("@i IN (1, @i + 1)", False),
        ("@n IN (SELECT name FROM t)", False),
    ],
)
def test_conditions_that_can_never_fail(scope: Scope, text: str, safe: bool) -> None:
    declared = "DECLARE @i int, @n nvarchar(10), @u uniqueidentifier; IF "
    statement = body(f"{declared}{text} PRINT 1")[-1]
    assert isinstance(statement, nodes.If)
    assert condition_cannot_raise(statement.condition.tree, scope) is safe


def known(text: str) -> str | None:
    """Return what is known of @sql behind the statements of a text."""
    statements = body(f"DECLARE @sql nvarchar(max), @a nvarchar(10); {text}; EXEC (@sql)")
    last = statements[-1]
    assert isinstance(last, nodes.ExecuteString)
    template = Constants(statements).before(last).value(last.text)
    if template is None:
        return None
    return plain(template) if plain(template) is not None else place(template)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SET @sql = N'PRINT 1'", "PRINT 1"),
        ("SET @sql = N'a'; IF @a = '' GOTO l; SET @sql = N'b'; l: SET @a = ''", None),
        ("SET @sql = N'a'; l: SET @a = @a + 'x'; IF @a <> 'xx' GOTO l", "a"),
        ("SET @sql = N'a'; l: IF @a = 'xx' SET @sql = N'b'; SET @a = @a + 'x'; IF @a <> 'xxx' GOTO l", None),
        ("SET @sql = N'a'; GOTO l; SET @sql = N'b'; l: SET @a = ''", "a"),
        ("SET @sql = N'a'; WHILE @a <> 'x' BEGIN SET @sql = N'b'; BREAK END", None),
        ("SET @sql = N'a'; BEGIN TRY SET @sql = N'b' END TRY BEGIN CATCH SET @sql = N'c' END CATCH", None),
        ("SET @sql = N'PRINT '; SET @sql = @sql + N'2'", "PRINT 2"),
        ("SELECT @sql = N'a' + N'b'", "ab"),
        ("SET @sql = N'a'; SET @sql += N'b'", "ab"),
        ("SET @sql = N'SELECT * FROM ' + QUOTENAME(@a)", "SELECT * FROM  pgsb_placeholder_1_ "),
        ("SET @sql = N'PRINT ''' + @a + N''''", "PRINT 'pgsb_placeholder_1_'"),
        ("SET @sql = N'SELECT 1 + ' + @a", "SELECT 1 + @pgsb_placeholder_1_"),
        ("SET @sql = N'SELECT * FROM #t' + @a", "SELECT * FROM #tpgsb_placeholder_1_"),
        ("SET @sql = N'SELECT * FROM /* t */ ' + @a", "SELECT * FROM /* t */ pgsb_placeholder_1_"),
        ("SET @sql = N'SELECT 1. + ' + @a", "SELECT 1. + @pgsb_placeholder_1_"),
        ("SET @sql = N'x' + @a; SET @a = N'later'", None),
        ("IF @@SPID = 1 SET @sql = N'a'", None),
        ("SET @sql = @a", None),
        # Of a difference no part is known.
        ("SET @sql = N'SELECT ' + @a - 1", None),
    ],
)
def test_text_that_is_known(text: str, expected: str | None) -> None:
    assert known(text) == expected


def test_a_piece_tells_its_variables() -> None:
    (part,) = body("DECLARE @n nvarchar(10); PRINT QUOTENAME(@n)")[1:]
    assert isinstance(part, nodes.Print)
    assert Piece(part.value).variables == {"@n"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('SELECT * FROM #a JOIN [#b c] ON 1 = 1 JOIN tempdb.."#d""e" ON 1 = 1', {"#a", "#b c", '#d"e'}),
        ("EXEC('SELECT * FROM #a; EXEC(''SELECT * FROM [#b]]c]'')')", {"#a", "#b]c"}),
        ("SELECT 1 -- #a\n/* 'SELECT * FROM #b' */", set()),
    ],
)
def test_temporary_names_stand_in_strings_too(text: str, names: set[str]) -> None:
    assert temporary_names(tokens_of(Source("text", text))) == names


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("UPDATE dbo.[t]]u] SET a = 1 WHERE CURRENT OF C", ObjectName("t]u", "dbo")),
        ("UPDATE TOP (1) t SET a = 1 WHERE CURRENT OF c", ObjectName("t")),
        ("UPDATE x SET a = 1 FROM s.t AS x WHERE CURRENT OF GLOBAL c", ObjectName("t", "s")),
        ("WITH x AS (SELECT 1 AS a) DELETE FROM t WHERE CURRENT OF c OPTION (MAXDOP 1)", ObjectName("t")),
        ("DELETE t WHERE a IN (SELECT [CURRENT] FROM [OF])", None),
    ],
)
def test_the_table_that_is_changed_at_a_cursor(text: str, table: ObjectName | None) -> None:
    problems = Problems()
    (batch,) = parse_script(Source("text", text), problems).batches
    found = {cursor: one.name for cursor, one in located_cursors(batch.statements).items()}
    assert found == ({} if table is None else {"c": table})


@pytest.mark.parametrize(
    ("query", "relation"),
    [
        ("SELECT a FROM t WHERE a IN (SELECT a FROM u GROUP BY a)", "t"),
        ("SELECT (SELECT MAX(b) FROM u), COUNT(*) OVER () FROM u JOIN dbo.t AS [x]]y] ON 1 = 1", "x]y"),
        ("SELECT 1 FROM (u CROSS JOIN t AS x)", "x"),
        ("SELECT MAX(a) FROM t", None),
        ("SELECT DISTINCT a FROM t", None),
        ("SELECT a FROM t UNION ALL SELECT a FROM t", None),
        ("SELECT a FROM u", None),
        ("SELECT 1 FROM s.t AS y CROSS JOIN t AS x", "x"),
        ("SELECT 1 FROM s.t AS y", "y"),
    ],
)
def test_the_row_that_a_cursor_stands_on(query: str, relation: str | None) -> None:
    source = Source("text", query)
    text = nodes.SqlText(span=source.span(0, len(query)), tokens=tuple(tokens_of(source)))
    found = with_row_place(text, LocatedTable(ObjectName("t"), frozenset()), None)
    column = found[0].expressions[-1].unalias() if found else None
    quoted = [exp.to_identifier(name, quoted=True) for name in ("ctid", relation)]
    assert column == (relation and exp.Column(this=quoted[0], table=quoted[1]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DECLARE @s varchar(8) = 'SELECT 12345'", "SELECT 1"),
        ("DECLARE @s nvarchar(8); SET @s = N'SELECT 12345'", "SELECT 1"),
        ("DECLARE @s varchar(10) = 'SELECT 1'; SET @s += '2345'", "SELECT 123"),
        ("DECLARE @s varchar = 'SELECT 1'", "S"),
        ("DECLARE @s nvarchar(max) = N'SELECT 12345'", "SELECT 12345"),
        ("DECLARE @n varchar(9) DECLARE @s varchar(8) = 'SELECT 12' + @n", None),
    ],
)
def test_a_variable_cuts_off_what_is_too_long_for_it(text: str, expected: str | None) -> None:
    statements = body(f"{text}; EXEC (@s)")
    assert plain(Constants(statements).before(statements[-1]).of_variable("@s")) == expected


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("12345", nvarchar(3), False),
        ("123", nvarchar(3), True),
        ("@i", nvarchar(10), False),
        ("@i", nvarchar(11), True),
        ("@i", SqlType("varchar", length=3), True),  # an asterisk
        ("@t", nvarchar(3), True),
        ("@@ERROR", nvarchar(5), False),
        ("12.5", SqlType("varchar", length=3), False),
    ],
)
def test_a_number_that_may_be_too_long_for_a_string_may_raise(
    text: str, target: SqlType, expected: bool, scope: Scope
) -> None:
    assert cannot_raise(expression(text), scope, target) == expected

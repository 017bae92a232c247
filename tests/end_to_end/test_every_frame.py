"""A script means the same in every frame: in whichever statement an error is raised, on whichever server."""

from collections.abc import Callable

import pytest
from end_to_end.conftest import Outcome
from end_to_end.tsql import Tsql

from pgsb.compiler.compiled import ends_batch
from support import Database, rest_is_long

FAILING = {
    "JSON_VALUE('{}', 'strict $.a')": "13608|16|2",
    "JSON_MODIFY('{', '$.a', 1)": "13609|16|4",
    "SET_BIT(1, 99)": "1023|15|1",
    "SUBSTRING('abc', 1, -1)": "537|16|3",
    "CONVERT(varchar(5), NEWID())": "8170|16|2",
    "DATEDIFF(second, '1900-01-01', '2100-01-01')": "535|16|0",
    "POWER(10, 20)": "232|16|3",
    "CAST('x' AS smalldatetime)": "295|16|3",
    "CAST(300 AS tinyint)": "220|16|2",
    "1 / 0": "8134|16|1",
}
STATEMENTS = [
    "SELECT {} AS x",
    "DECLARE @x nvarchar(99) = {}",
    "DECLARE @x nvarchar(99) SET @x = {}",
    "DECLARE @x nvarchar(99) SELECT @x = {} FROM t",
    "PRINT {}",
    "IF ISNULL(NULLIF({}, NULL), NULL) IS NULL PRINT 'no'",
    "INSERT t SELECT {}",
    "UPDATE t SET s = {}",
    "DELETE t WHERE s = CONCAT({}, 'a')",
    "DECLARE @t TABLE (s nvarchar(99)) INSERT @t VALUES ({})",
    "BEGIN TRAN RECEIVE TOP (1) message_type_name, {} AS x FROM q",
]


@pytest.mark.parametrize("expression", FAILING)
def test_an_error_is_the_same_in_every_statement(tsql: Tsql, expression: str) -> None:
    tsql.run_well(
        "CREATE TABLE t (s nvarchar(99)) INSERT t VALUES ('x')\n"
        "CREATE QUEUE q CREATE SERVICE s ON QUEUE q ([DEFAULT])\n"
        "DECLARE @h uniqueidentifier BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' WITH ENCRYPTION = OFF\n"
        ";SEND ON CONVERSATION @h"
    )
    caught = (
        "BEGIN TRY {} END TRY\nBEGIN CATCH IF @@TRANCOUNT > 0 ROLLBACK"
        " PRINT CONCAT(ERROR_NUMBER(), '|', ERROR_SEVERITY(), '|', ERROR_STATE()) END CATCH"
    )
    tsql.run_well("\nGO\n".join(caught.format(statement.format(expression)) for statement in STATEMENTS))
    assert tsql.prints == [FAILING[expression]] * len(STATEMENTS)


# Whether PostgreSQL could sort XML depends on how it was built.
SORTING = {
    "SELECT x FROM t ORDER BY x": 305,
    "SELECT x FROM t GROUP BY x": 305,
    "SELECT ROW_NUMBER() OVER (PARTITION BY x ORDER BY id) AS n FROM t": 305,
    "SELECT NULLIF(x, x) AS x FROM t": 305,
    "SELECT DISTINCT x FROM t": 421,
    "SELECT COUNT(DISTINCT x) AS n FROM t": 8117,
    "SELECT x FROM t UNION SELECT x FROM t": 5335,
    "SELECT x FROM t EXCEPT SELECT x FROM t": 5335,
    "CREATE TABLE u (x xml PRIMARY KEY)": 1919,
    "CREATE TABLE u (x xml UNIQUE)": 1919,
    "CREATE INDEX i ON t (x)": 1919,
}


@pytest.mark.parametrize("statement", SORTING)
def test_xml_is_not_sorted(tsql: Tsql, statement: str) -> None:
    tsql.run_well(
        "CREATE TABLE t (id int, x xml) SELECT x FROM t UNION ALL SELECT x FROM t SELECT COUNT(x) AS n FROM t"
    )
    tsql.run(statement)
    assert [(error.number, error.severity) for error in tsql.errors] == [(SORTING[statement], 16)]


@pytest.mark.parametrize("frame", ["{}", "BEGIN {}\nEND", "EXEC ('{}')", "IF 1 = 1 {}"])
@pytest.mark.parametrize(
    "statement",
    ["SELECT nowhere.f(1) AS x", "INSERT t SELECT nowhere.f(1)", "SELECT * INTO nowhere.u FROM t"],
)
def test_a_missing_schema_is_one_error(tsql: Tsql, frame: str, statement: str) -> None:
    tsql.run_well("CREATE TABLE t (a int)")
    tsql.run(frame.format(statement))
    number = 4121 if "nowhere.f" in statement else 2760
    assert [(error.number, error.message.split('"')[1]) for error in tsql.errors] == [(number, "nowhere")]


@pytest.mark.parametrize("frame", ["{}", "EXEC ('{}')"])
@pytest.mark.parametrize(
    "made", ["VIEW nowhere.v AS SELECT 1 AS a", "SYNONYM nowhere.s FOR t", "SEQUENCE nowhere.n"]
)
def test_nothing_is_made_in_a_missing_schema(tsql: Tsql, frame: str, made: str) -> None:
    tsql.run(frame.format(f"CREATE {made}"))
    assert [(error.number, error.message.split('"')[1]) for error in tsql.errors] == [(2760, "nowhere")]


def test_blanks_and_comments_stand_between_any_two_tokens(tsql: Tsql) -> None:
    for minus in ("-", "- ", "-/* /* x */ */\n"):
        tsql.run_well(
            f"SET LOCK_TIMEOUT {minus}1 SET TEXTSIZE {minus}1\n"
            f"CREATE SEQUENCE s AS int START WITH {minus}1 INCREMENT BY {minus}1 MAXVALUE {minus}1\n"
            f"DECLARE @x int = NEXT VALUE FOR s PRINT @x - @@LOCK_TIMEOUT DROP SEQUENCE s"
        )
        assert tsql.prints == ["0"]


QUOTED = """SET QUOTED_IDENTIFIER OFF
GO
PRINT "a"
EXEC (N"PRINT 'b'" + N" PRINT N'b'")
DECLARE @s nvarchar(99) = REPLACE(N'PRINT ?', '?', CONCAT('"', 'c', '"'))
EXEC sp_executesql @s
GO
CREATE PROCEDURE p AS EXEC ("PRINT 'd'") EXEC sp_executesql N'PRINT "e"'
GO
SET QUOTED_IDENTIFIER ON
GO
EXEC p
EXEC ('SET QUOTED_IDENTIFIER OFF PRINT "f"')
CREATE TABLE t ("g h" int) INSERT t VALUES (1)
EXEC ('DECLARE @x int SELECT @x = "g h" FROM t PRINT @x')
GO
"""


@pytest.mark.parametrize("frame", ["{}", "BEGIN {}\nEND", "EXEC ('{}')"])
def test_what_cannot_be_dropped_leaves_the_rest(tsql: Tsql, frame: str) -> None:
    tsql.run_well("CREATE TABLE a (x int) CREATE TABLE b (x int)")
    tsql.run(frame.format("DROP TABLE a, nothing, b PRINT @@ERROR"))
    assert [error.number for error in tsql.errors] == [3701] and tsql.prints == ["3701"]
    assert tsql.scalar("SELECT COUNT(*) FROM sys.tables") in (0, "0")


def test_a_name_of_several_lines_is_found(tsql: Tsql) -> None:
    tsql.run_well("CREATE PROCEDURE p AS SELECT X\n.\n[Col One] FROM dbo\n.\nt\nGO\nCREATE TABLE t (a int)")
    tsql.run("BEGIN TRY EXEC p END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH\nEXEC p")
    said = 'The multi-part identifier "X.Col One" could not be bound.'
    assert tsql.prints == [said] and [error.message for error in tsql.errors] == [said]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DECLARE @x dbo.[my type]", "Column, parameter, or variable #1: Cannot find data type dbo.my type."),
        ("SELECT * FROM dbo.[2026orders]", "Invalid object name 'dbo.2026orders'."),
    ],
)
def test_what_is_missing_is_told_whatever_its_name(tsql: Tsql, statement: str, said: str) -> None:
    tsql.run(statement)
    assert [error.message for error in tsql.errors] == [said]


# What a module is made of is there in other sessions, and it is at home in its database.
MODULES = """CREATE DATABASE Other
GO
USE Other
GO
CREATE TABLE t (a int)
CREATE TABLE fired (a int)
GO
CREATE PROCEDURE strings AS EXEC sp_executesql N'DECLARE @m TABLE (h int) INSERT @m VALUES (1)
    EXEC (N''DECLARE @m TABLE (h int, g int) INSERT @m VALUES (1, 2) SELECT h + g FROM @m'')'
GO
CREATE PROCEDURE p AS
IF @@TRANCOUNT = 0 BEGIN BEGIN TRAN ROLLBACK END
SELECT COUNT(*) FROM sys.tables WHERE name = 't'
DECLARE @s nvarchar(99) = (SELECT N'SELECT DB_NAME() FROM sys.tables WHERE name = ''t''')
EXEC (@s)
GO
CREATE TRIGGER tr ON fired AFTER INSERT AS
SELECT COUNT(*) FROM sys.tables WHERE name = 't'
DECLARE @s nvarchar(99) = (SELECT N'SELECT DB_NAME() FROM t')
EXEC (@s)
GO
INSERT t VALUES (1)
"""


@pytest.mark.parametrize(
    ("call", "rows"),
    [
        ("EXEC Other.dbo.strings", ["3"]),
        ("EXEC Other.dbo.p", ["1", "Other"]),
        ("DECLARE @p sysname = N'Other.dbo.p' EXEC @p", ["1", "Other"]),
        ("BEGIN TRAN EXEC Other.dbo.p COMMIT", ["1", "Other"]),
        ("EXEC same", ["1", "Other"]),
        ("INSERT Other.dbo.fired VALUES (1)", ["1", "Other"]),
    ],
)
def test_a_module_of_another_database(database: Database, tsql: Tsql, call: str, rows: list[str]) -> None:
    made = Tsql(database.dsn)
    made.run_well(MODULES)
    made.close()
    tsql.run_well("CREATE SYNONYM same FOR Other.dbo.p")
    tsql.run_well(f"{call}\nGO\nSELECT COUNT(*) FROM sys.tables")
    assert [value for result in tsql.results for (value,) in result] == [*rows, "0"]


# In a transaction that can only be rolled back PostgreSQL lets nothing be made: no way to a procedure
# either. So CATCH has a CALL written out.
HANDLER = """CREATE TABLE errs (m nvarchar(200))
GO
CREATE PROCEDURE report @a int, @o int OUTPUT AS
SELECT CONCAT(@a, ERROR_MESSAGE(), XACT_STATE()) SET @o = @a + 1 EXEC inner_report RETURN 3
GO
CREATE PROCEDURE inner_report AS SELECT ERROR_NUMBER()
GO
CREATE PROCEDURE writes AS INSERT errs VALUES ('x') SELECT @@ERROR
GO
CREATE PROCEDURE rolls_back AS ROLLBACK
GO
CREATE PROCEDURE handle @where nvarchar(20), @n bigint = 7, @id int = 0 OUTPUT AS
ROLLBACK INSERT errs VALUES (CONCAT(@where, @n, ERROR_NUMBER())) SET @id += 1 RETURN @@TRANCOUNT + 2
GO
CREATE PROCEDURE note @where varchar(3), @id int = 0 OUTPUT, @how char(1) = 'x' AS
ROLLBACK INSERT errs VALUES (CONCAT(@where, @how, ERROR_NUMBER())) SET @id += 1
"""
DOOMED = "SET XACT_ABORT ON BEGIN TRY BEGIN TRAN SELECT 1 / 0 END TRY BEGIN CATCH {} END CATCH"


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (
            "EXEC @r = report 5, @o OUTPUT SELECT CONCAT(@r, @o)",
            ["5Divide by zero error encountered.-1", "8134", "36"],
        ),
        ("EXEC writes", ["3930"]),
        ("EXEC rolls_back", ["266"]),
        ("EXEC nosuch", ["2812"]),
        ("EXEC rolls_back 1", ["8146"]),
        # What it does not take as it is, and OUTPUT without a variable: it is one statement of the server.
        ("DECLARE @b bigint = 5 EXEC note 'abc', @b", ["3930"]),
        ("EXEC note 'abc'", ["3930"]),
    ],
)
def test_a_doomed_transaction_calls_procedures(
    database: Database, tsql: Tsql, call: str, shown: list[str]
) -> None:
    made = Tsql(database.dsn)
    made.run_well(HANDLER)
    made.close()
    tsql.run_well(
        "SET XACT_ABORT ON DECLARE @r int, @o int BEGIN TRY BEGIN TRAN SELECT 1 / 0 END TRY BEGIN CATCH\n"
        f"BEGIN TRY {call} END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH\n"
        "IF @@TRANCOUNT > 0 ROLLBACK END CATCH"
    )
    assert [value for result in tsql.results for (value,) in result] == shown


@pytest.mark.parametrize(
    ("call", "kept", "id_"),
    [
        ("EXEC rolls_back", [], "5"),
        ("EXEC note 'abcd', @id OUTPUT, 'yz'", ["abcy8134"], "6"),
        ("EXEC note @how = N'é', @id = @id OUTPUT, @where = @s", ["abcé8134"], "6"),
        ("EXEC handle @s, 3, @id", ["abcd38134"], "5"),
        ("EXEC note NULL, @id OUT", ["x8134"], "6"),
    ],
)
@pytest.mark.parametrize("place", rest_is_long(["batch", "module"], "module"))
def test_a_procedure_of_another_script_rolls_a_doomed_transaction_back(
    database: Database, tsql: Tsql, call: str, kept: list[str], id_: str, place: str
) -> None:
    made = Tsql(database.dsn)
    made.run_well(HANDLER)
    made.close()
    body = f"DECLARE @id int = 5, @s nvarchar(9) = N'abcd' {DOOMED.format(call)} SELECT @id, @@TRANCOUNT"
    tsql.run(f"CREATE PROCEDURE works AS {body}\nGO\nEXEC works" if place == "module" else body)
    assert [error.number for error in tsql.errors] == [266]
    assert tsql.results == [[[id_, "0"]]]
    tsql.run_well("SELECT m FROM errs")
    assert tsql.results == [[[m] for m in kept]]


def test_a_procedure_whose_name_others_have_taken_too_is_called(tsql: Tsql) -> None:
    tsql.run_well("CREATE PROCEDURE called AS PRINT 'called'\nGO\nCREATE PROCEDURE calls AS EXEC called\nGO")
    tsql.connection.execute("CREATE PROCEDURE dbo.called(a date) LANGUAGE sql AS 'SELECT'")
    tsql.run_well("EXEC calls")
    assert tsql.prints == ["called"]


def test_what_is_refused_in_a_doomed_transaction_leaves_the_batch_its_state(
    database: Database, tsql: Tsql
) -> None:
    made = Tsql(database.dsn)
    made.run_well(HANDLER)
    made.close()
    # By a name in a variable there is no CALL. The answer of the call before stays what it was.
    body = DOOMED.format(
        "DECLARE @p sysname = N'report', @o int, @r int = 7, @q int = 8 EXEC @r = @p 5, @o OUTPUT\n"
        "SET @p = N'rolls_back' EXEC @q = @p PRINT CONCAT(@r, ' ', @q)"
    )
    body = body.replace("SET XACT_ABORT ON", "").replace("1 / 0", "CAST('x' AS int)")
    tsql.run(f"{body}\nGO\nSELECT @@TRANCOUNT")
    assert [error.number for error in tsql.errors] == [3930, 3998]
    assert tsql.prints == ["3 8"]
    assert tsql.results[-1] == [["0"]]


def test_an_error_in_a_module_has_the_spelling_of_the_module(tsql: Tsql) -> None:
    tsql.run_well("CREATE PROCEDURE p AS SELECT * FROM dbo.nosuch")
    tsql.run("SELECT * FROM nosuch\nGO\nEXEC p")
    names = [error.message.split("'")[1] for error in tsql.errors]
    assert names == ["nosuch", "dbo.nosuch"]


def test_a_system_procedure_is_named_in_messages(tsql: Tsql) -> None:
    tsql.run("EXEC sp_addrolemember @nix = 'a', @membername = 'b'")
    assert tsql.errors[-1].message == "@nix is not a parameter for procedure sp_addrolemember."


def test_double_quotes_mean_the_same_in_dynamic_sql(tsql: Tsql) -> None:
    tsql.run_well(QUOTED)
    assert tsql.prints == ["a", "b", "b", "c", "d", "e", "f", "1"]
    tsql.run_well('SELECT 1 N, t.N"q" FROM (SELECT 2 AS N) AS t')
    assert tsql.columns == [("N", "q")]


def test_double_quotes_mean_the_same_at_a_prompt(pgsb: Callable[..., Outcome], database: Database) -> None:
    typed = pgsb("shell", "--dsn", database.dsn, stdin=QUOTED)
    printed = ["a", "b", "b", "c", "d", "e", "f", "1"]
    assert [line for line in typed.out.splitlines() if len(line) == 1] == printed


@pytest.mark.parametrize(
    "text",
    [
        "N'SELECT a.x FROM dbo.' + QUOTENAME(@t) + N'a WHERE a.x = 3'",
        "N'SELECT a.x FROM dbo.' + QUOTENAME(@t) + @a + N' WHERE a.x = 3'",
        "N'SELECT a.x FROM t' + QUOTENAME(@a) + N'WHERE x = 3'",
        "N'SELECT a.x FROM [dbo].[' + @t + N']' + @a + (N' WHERE x = ' + (N'1' + N'+' + N'2'))",
        "(N'SELECT x FROM dbo.') + (@t + N' ') + (N'WHERE x = 3')",
        "N'SELECT x FROM dbo.' + @t + CHAR(10) + N'WHERE x = 3'",
        "N'SELECT x FROM dbo.' + QUOTENAME(@t) + SPACE(1) + N'WHERE x = 3'",
    ],
)
def test_a_name_ends_where_it_does_in_dynamic_sql(tsql: Tsql, text: str) -> None:
    tsql.run_well("CREATE TABLE t (x int) INSERT t VALUES (1), (3)")
    tsql.run_well(f"DECLARE @t sysname = N't', @a sysname = N'a'\nEXEC ({text})")
    assert tsql.results == [[["3"]]]
    tsql.run_well(
        f"DECLARE @t sysname = N't', @a sysname = N'a', @s nvarchar(max)\nSET @s = {text}\nEXEC (@s)"
    )
    assert tsql.results == [[["3"]]]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT {0}t.a{1}, {0}u.b{1} FROM t JOIN u ON t.a = u.a FOR XML AUTO",
        "SELECT {0}t.a{1}, {0}u.b{1} FROM t JOIN u ON t.a = u.a FOR JSON AUTO",
        "SELECT {0}a{1} FROM u WHERE {0}b{1} = 0x01",
        "PRINT CURSOR_STATUS({0}'local'{1}, {0}N'c'{1})",
        "SELECT {0}a{1}, COUNT(*) FROM u GROUP BY GROUPING SETS (({0}a{1}), ()) ORDER BY {0}a{1}",
    ],
)
def test_parentheses_around_an_operand_mean_nothing(tsql: Tsql, statement: str) -> None:
    tsql.run_well(
        "CREATE TABLE t (a int) CREATE TABLE u (a int, b varbinary(9)) INSERT t VALUES (1)"
        " INSERT u VALUES (1, 0x01), (2, 0x0100)"
    )
    frame = "DECLARE c CURSOR LOCAL FOR SELECT a FROM t OPEN c\n"
    tsql.run_well(frame + statement.format("", ""))
    plain = tsql.results, tsql.prints
    assert any(plain)
    tsql.run_well(frame + statement.format("((", "))"))
    assert (tsql.results, tsql.prints) == plain


@pytest.mark.parametrize("statement", ["SELECT (t.*) FROM t", "PRINT DATEADD((day), 1, '20200101')"])
def test_what_is_no_operand_has_no_parentheses(tsql: Tsql, statement: str) -> None:
    tsql.run_well("CREATE TABLE t (a int)")
    tsql.run(statement)
    assert [error.severity for error in tsql.errors] == [15]


@pytest.mark.parametrize("function", ["@@ROWCOUNT", "@@TRANCOUNT", "ERROR_MESSAGE()", "XACT_STATE()"])
def test_a_view_has_no_session_in_any_frame(tsql: Tsql, function: str) -> None:
    tsql.run(f"CREATE VIEW v AS SELECT {function} AS x")
    (error,) = tsql.errors
    pieces = f"DECLARE @f sysname = '{function}' EXEC ('CREATE VIEW v AS SELECT ' + @f + ' AS x')"
    for made in (f"EXEC ('CREATE VIEW v AS SELECT {function} AS x')", pieces):
        tsql.run(made)
        assert [(one.number, one.message) for one in tsql.errors] == [(error.number, error.message)]


def test_the_same_errors_end_a_batch_of_plain_statements_as_a_block(tsql: Tsql) -> None:
    rolling_back = tsql.connection.execute(
        "SELECT array_agg(n) FROM generate_series(1, 60000) AS n WHERE ssb_internal.rolls_back(n)"
    ).fetchone()
    assert rolling_back is not None
    # Names that cannot be resolved end it, too, and roll nothing back.
    assert {145, 207, 208, 209, 4104, 8120, *rolling_back[0]} == set(filter(ends_batch, range(1, 60001)))


@pytest.mark.parametrize(
    ("sqlstate", "said", "number", "severity"),
    [
        ("53100", 'could not extend file "base/5/1": No space left on device', 1105, 17),
        ("53400", "temporary file size exceeds temp_file_limit (1024kB)", 1105, 17),
        ("53200", "out of memory", 701, 17),
        ("53200", "out of shared memory", 1204, 19),
        ("54001", "stack depth limit exceeded", 8631, 17),
        ("58030", "could not read block 1", 823, 24),
    ],
)
def test_what_the_server_lacks_ends_the_batch_and_rolls_back(
    tsql: Tsql, sqlstate: str, said: str, number: int, severity: int
) -> None:
    tsql.connection.execute(
        "CREATE FUNCTION dbo.lacks() RETURNS integer LANGUAGE plpgsql AS"
        f" $$BEGIN RAISE '{said}' USING ERRCODE = '{sqlstate}'; END$$"
    )
    tsql.run_well("CREATE TABLE t (a int)")
    # A program that takes a message and cannot write down what it says must not commit.
    for fails in ("INSERT t VALUES (dbo.lacks())", "SET @x = dbo.lacks()", "EXEC ('SELECT dbo.lacks()')"):
        tsql.run(f"DECLARE @x int BEGIN TRANSACTION INSERT t VALUES (1) {fails} COMMIT PRINT 'went on'")
        assert [(error.number, error.severity) for error in tsql.errors] == [(number, severity)]
        assert said in (tsql.errors[0].hint or tsql.errors[0].message)
    tsql.run_well("IF EXISTS (SELECT * FROM t) OR @@TRANCOUNT > 0 PRINT 'left over'")
    assert tsql.prints == []
    tried = "BEGIN TRY BEGIN TRANSACTION INSERT t VALUES (dbo.lacks()) END TRY"
    tsql.run_well(f"{tried} BEGIN CATCH PRINT XACT_STATE() ROLLBACK END CATCH")
    assert tsql.prints == ["-1"]


@pytest.mark.parametrize("frame", ["{}", "BEGIN {}\nEND", "EXEC ('{}')", "PRINT '' {}"])
def test_what_exists_already_ends_the_batch(tsql: Tsql, frame: str) -> None:
    tsql.run_well("CREATE QUEUE q CREATE TABLE t (a int)")
    for statement in ("CREATE QUEUE q", "CREATE TABLE t (b int)"):
        tsql.run(frame.format(f"{statement} CREATE QUEUE q2"))
        assert [error.number for error in tsql.errors] == [2714]
    tsql.run_well("SELECT name FROM sys.service_queues WHERE is_ms_shipped = 0")
    assert tsql.results == [[["q"]]]


@pytest.mark.parametrize("before", ["", "DECLARE @x int", "BEGIN DECLARE @x int END"])
def test_the_batch_that_a_trigger_ends_is_named_by_its_statement(tsql: Tsql, before: str) -> None:
    tsql.run_well("CREATE TABLE t (a int)")
    tsql.run_well("CREATE TRIGGER tr ON t AFTER INSERT AS\nPRINT 'fired'\nROLLBACK")
    tsql.run(f"{before}\n\n\nINSERT t VALUES (1)")
    (error,) = tsql.errors
    assert (error.number, error.procedure, error.line) == (3609, None, 4)
    tsql.run_well("CREATE TRIGGER NoDrop ON DATABASE FOR DROP_TABLE AS ROLLBACK")
    tsql.run(f"{before}\n\n\nDROP TABLE t")
    assert [(error.number, error.procedure, error.line) for error in tsql.errors] == [(3609, None, 4)]


@pytest.mark.parametrize("type_", ["char(5)", "nchar(5)", "varchar(5)"])
@pytest.mark.parametrize("fails", ["", "SELECT 1 / 0"])
def test_an_output_parameter_takes_a_whole_value(tsql: Tsql, type_: str, fails: str) -> None:
    tsql.run_well(f"CREATE PROCEDURE p @c {type_} OUTPUT AS PRINT RTRIM(@c) SET @c = RTRIM(@c) + 'z' {fails}")
    for argument in ("'abc'", "@same OUTPUT", "@same", "@short OUTPUT", "@long OUTPUT"):
        tsql.run(
            f"DECLARE @same {type_} = 'abc', @short char(3) = 'abc', @long varchar(20) = 'abc'\n"
            f"EXEC p {argument} PRINT RTRIM(@same) PRINT RTRIM(@short) PRINT RTRIM(@long)"
        )
        assert [error.number for error in tsql.errors] == ([8134] if fails else [])
        changed = {"@same OUTPUT": 1, "@long OUTPUT": 3}.get(argument)
        after = ["abcz" if place == changed else "abc" for place in (1, 2, 3)]
        assert tsql.prints == ["abc", *after], argument


def test_a_parameter_of_a_text_may_be_named_as_one_of_sp_executesql(tsql: Tsql) -> None:
    declared = "N'@stmt nvarchar(9), @params int OUTPUT'"
    tsql.run_well(
        "DECLARE @stmt nvarchar(9) = N'text', @params int = 4\n"
        f"EXEC sp_executesql N'PRINT @stmt SET @params += 1', {declared},"
        " @stmt = @stmt, @params = @params OUTPUT\n"
        "PRINT @params\n"
        "EXEC sp_executesql @stmt = N'PRINT @x', @params = N'@x int', @x = 6\n"
        "EXEC sp_executesql N'PRINT @x', @params = N'@x int', @x = 7"
    )
    assert tsql.prints == ["text", "5", "6", "7"]


def test_the_same_mistake_is_told_each_time_at_a_prompt(
    pgsb: Callable[..., Outcome], database: Database
) -> None:
    typed = pgsb("shell", "--dsn", database.dsn, stdin="EXEC p @a = = 1\nGO\n" * 3)
    said = [line for line in typed.out.splitlines() if "error" in line]
    assert said == ["<shell>:1:13: error 102: Incorrect syntax near '='."] * 3


@pytest.mark.parametrize(
    "branch",
    [
        "CASE WHEN (SELECT COUNT(*) FROM t) > 5 THEN 3 / (@n - @n) ELSE 1 END",
        "CASE WHEN EXISTS (SELECT * FROM t WHERE a = 9) THEN CAST(@s AS int) ELSE 1 END",
        "CASE WHEN NOT EXISTS (SELECT * FROM t WHERE a = 9) THEN 1 ELSE CONVERT(tinyint, @m) END",
        "IIF(EXISTS (SELECT * FROM t WHERE a = 9), 10 % (@n * 2), 1)",
        "ISNULL((SELECT MAX(a) FROM t), 1 / @n)",
        "COALESCE((SELECT MAX(a) FROM t), CAST(@s + N'y' AS int))",
    ],
)
@pytest.mark.parametrize(
    "statement",
    rest_is_long(
        ["SET @r = {}", "SELECT @r = {}", "IF {} = 1 SET @r = 1", "SELECT @r = {} FROM t"],
        "SET @r = {}",
        "SELECT @r = {} FROM t",
    ),
)
def test_a_branch_that_is_not_reached_raises_nothing(tsql: Tsql, branch: str, statement: str) -> None:
    """What it has of variables PostgreSQL would compute beforehand, unless the query tells nothing."""
    tsql.run_well("CREATE TABLE t (a int) INSERT t VALUES (1)")
    declared = "DECLARE @n int = 0, @m int = 300, @s nvarchar(9) = N'x', @r int"
    tsql.run_well(f"{declared} {statement.format(branch)} PRINT @r")
    assert tsql.prints == ["1"]

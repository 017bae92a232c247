"""Bad scripts: a message with its place and number, nothing half-done, never a traceback."""

import codecs
from collections.abc import Callable
from typing import Any

import pytest
from end_to_end.tsql import Tsql

from support import Database

Pgsb = Callable[..., Any]

# Script → where the first message points, SQL Server's number for it, and a word of the message.
MALFORMED = {
    "PRINT 'open": ("1:7", 105, "quotation mark"),
    "PRINT 1 /* open /* nested */": ("1:9", 113, "comment"),
    "SELECT [open": ("1:8", 105, "Unclosed"),
    "CREATE QUEUE": ("1:", 102, ""),
    "PRINT @nobody": ("1:7", 137, "@nobody"),
    "DECLARE @a INT; DECLARE @a INT": ("1:", 134, "@a"),
    "GOTO nowhere": ("1:", 133, "nowhere"),
    "CREATE MESSAGE TYPE m VALIDATION = VALID_XML": ("1:", 102, ""),
    "CREATE XML SCHEMA COLLECTION N'<a/>'": ("1:", 102, ""),
    "CREATE QUEUE q WITH STATUS = MAYBE": ("1:30", 102, "MAYBE"),
    "CREATE ASSEMBLY a FROM 'x.dll'": ("1:1", None, "ASSEMBLY"),
    "BREAK": ("1:1", 135, "BREAK"),
    "CREATE TABLE t (a INT DEFAULT name)": ("1:31", 128, "name"),
    "CREATE TABLE t (a INT); ALTER TABLE t ADD DEFAULT (name) FOR a": ("1:52", 128, "name"),
    "CREATE SYNONYM y FOR q; CREATE SERVICE s ON QUEUE y": ("1:51", 4135, "'y'"),
    "CREATE SYNONYM y FOR q; RECEIVE * FROM y": ("1:40", 4135, "'y'"),
    "CREATE SYNONYM y FOR q; WAITFOR (RECEIVE * FROM y), TIMEOUT 1": ("1:49", 4135, "'y'"),
    "CREATE QUEUE q; CREATE SYNONYM y FOR q; SELECT * FROM sys.tables AS t JOIN dbo.y AS z ON 1 = 1": (
        "1:76",
        4135,
        "'dbo.y'",
    ),
    "CREATE FUNCTION f() RETURNS INT AS BEGIN DECLARE @a INT; FETCH other INTO @a; RETURN @a END": (
        "1:58",
        16916,
        "'other'",
    ),
    "It was a dark and stormy night.": ("1:", 102, ""),
}


@pytest.mark.parametrize("script", MALFORMED)
def test_a_malformed_script_is_refused_with_place_and_number(pgsb: Pgsb, script: str) -> None:
    place, number, word = MALFORMED[script]
    left = pgsb("check", "-", stdin="PRINT 'first line'\nGO\n" + script)
    assert left.status == 1
    line, column = place.split(":")
    first = left.err.splitlines()[0]
    assert first.startswith(f"<stdin>:{int(line) + 2}:{column}"), left.err
    assert f"error{f' {number}' if number else ''}: " in first, left.err
    assert word in left.err
    assert "^" in left.err


_NUMBERS = (
    "SELECT {}",
    "SELECT TOP {} 1 ORDER BY {}",
    "DECLARE @a varchar({}), @b decimal(3, {}) = {}",
    "RAISERROR({}, {}, 1); THROW {}, 'a', 1",
    "CREATE TABLE t (a int IDENTITY({}, 1), b time({}))",
    "CREATE PROCEDURE p;{} AS EXEC p;{}",
    "CREATE QUEUE q WITH ACTIVATION (MAX_QUEUE_READERS = {}, PROCEDURE_NAME = p, EXECUTE AS SELF)",
    "CREATE ROUTE r WITH LIFETIME = {}, ADDRESS = 'LOCAL'",
    "CREATE ENDPOINT e STATE=STARTED AS TCP (LISTENER_PORT={}) FOR SERVICE_BROKER (MESSAGE_FORWARD_SIZE={})",
    "CREATE BROKER PRIORITY p FOR CONVERSATION SET (PRIORITY_LEVEL = {})",
    "WAITFOR (RECEIVE TOP ({}) * FROM q), TIMEOUT {}",
    "SET LOCK_TIMEOUT {}; SET ROWCOUNT {}",
    "IF @@TRANCOUNT > {} PRINT 1",
    "SELECT 1 ORDER BY 1 OFFSET {} ROWS OPTION (MAXDOP {})",
    "SELECT CAST('<a/>' AS xml).value('/a', 'varchar({})')",
    "CREATE SEQUENCE s START WITH {} INCREMENT BY {}",
)


@pytest.mark.parametrize("script", _NUMBERS)
def test_numbers_of_any_length_are_refused(pgsb: Pgsb, script: str) -> None:
    """Python's int() refuses 4,301 digits: that is no answer."""
    number = "9" * 5000
    left = pgsb("check", "-", stdin=script.replace("{}", number))
    assert left.status == 1
    if "'varchar({})'" in script:  # a type in a string is no token
        assert ": error 131: " in left.err
    else:
        assert left.err.startswith(f"<stdin>:1:{script.index('{') + 1}: error 1007: The number '999")


def test_leading_zeros_are_no_digits(pgsb: Pgsb) -> None:
    assert pgsb("check", "-", stdin=f"DECLARE @a varchar({'0' * 5000}10) = {'0' * 5000}7").status == 0


def test_deep_nesting_is_refused_or_run_but_never_crashes(pgsb: Pgsb) -> None:
    deep = 10_000
    for script in (
        "SELECT " + "(" * deep + "1" + ")" * deep,
        "BEGIN " * deep + "PRINT 1 " + "END " * deep,
        "IF 1 = 1 " * deep + "PRINT 1",
        "/*" * deep + "*/" * deep + " PRINT 1",
        "SELECT " + "1 + " * deep + "1",
    ):
        left = pgsb("check", "-", stdin=script)
        assert left.status in (0, 1)
        assert "internal error" not in left.err, left.err[-500:]


@pytest.mark.parametrize(
    ("name", "encode"),
    [
        ("UTF-8 with a mark", lambda text: codecs.BOM_UTF8 + text.encode()),
        ("UTF-16LE with a mark", lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le")),
        ("UTF-16BE with a mark", lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be")),
        ("Windows-1252", lambda text: text.encode("cp1252")),
    ],
)
def test_scripts_come_in_the_encodings_of_sql_servers_tools(
    database: Database, pgsb: Pgsb, name: str, encode: Callable[[str], bytes]
) -> None:
    left = pgsb("run", "--dsn", database.dsn, "-", stdin=encode("PRINT N'Grüße für 5 €';\r\nGO\r\n"))
    assert (left.status, left.out) == (0, "Grüße für 5 €\n")


def test_a_nul_character_is_refused_with_its_place(pgsb: Pgsb) -> None:
    left = pgsb("check", "-", stdin="PRINT 'a\0b'")
    assert left.status == 1
    assert "<stdin>:1:" in left.err


def test_duplicate_and_missing_objects_have_their_numbers(tsql: Tsql) -> None:
    tsql.run_well("CREATE QUEUE Q; CREATE SERVICE S ON QUEUE Q;")
    for statement, number in (
        ("CREATE QUEUE Q", 2714),
        ("CREATE SERVICE S ON QUEUE Q", 15530),
        ("CREATE SERVICE T ON QUEUE Missing", 15151),
        ("DROP QUEUE Q", 3716),
        ("DROP SERVICE Missing", 15151),
    ):
        tsql.run(statement)
        assert [error.number for error in tsql.errors] == [number], statement


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ("ROLE nothing ADD MEMBER clerk", "alter the role 'nothing'"),
        ("ROLE nothing DROP MEMBER clerk", "alter the role 'nothing'"),
        ("ROLE desk ADD MEMBER nobody", "add the principal 'nobody'"),
        ("ROLE desk DROP MEMBER nobody", "drop the principal 'nobody'"),
    ],
)
def test_a_role_or_member_that_is_not_there_is_named_as_what_it_should_be(
    tsql: Tsql, change: str, missing: str
) -> None:
    tsql.run_well("CREATE ROLE desk; CREATE USER clerk WITHOUT LOGIN; ALTER ROLE desk ADD MEMBER clerk;")
    tsql.run(f"ALTER {change}")
    (error,) = tsql.errors
    text = f"Cannot {missing}, because it does not exist or you do not have permission."
    assert (error.number, error.message) == (15151, text)
    tsql.run_well(
        "SELECT USER_NAME(member_principal_id) FROM sys.database_role_members"
        " WHERE role_principal_id = USER_ID('desk')"
    )
    assert tsql.results == [[["clerk"]]]


def test_a_failing_statement_leaves_what_stood_before_it(tsql: Tsql) -> None:
    tsql.run("CREATE QUEUE A; CREATE SERVICE S ON QUEUE nothing; CREATE QUEUE B;")
    assert [error.number for error in tsql.errors] == [15151]
    tsql.run_well("SELECT name FROM sys.service_queues WHERE is_ms_shipped = 0 ORDER BY name")
    assert tsql.results == [[["A"], ["B"]]]


def test_invalid_xml_is_an_error_of_the_statement(tsql: Tsql) -> None:
    tsql.run("DECLARE @x XML = N'<a><b></a>'; PRINT 'not reached';")
    assert [error.number for error in tsql.errors] == [9436]
    assert tsql.prints == []


def test_an_error_inside_a_procedure_names_its_line(tsql: Tsql) -> None:
    tsql.run_well("CREATE PROCEDURE dbo.Fail AS\nBEGIN\n    PRINT 'here';\n    THROW 50001, 'no', 7;\nEND")
    tsql.run("PRINT 'a';\nEXEC dbo.Fail;")
    (error,) = tsql.errors
    assert (error.number, error.state, error.line) == (50001, 7, 4)
    assert error.procedure is not None and error.procedure.lower().endswith("fail")


@pytest.mark.parametrize(
    ("statement", "number", "text"),
    [
        ("INSERT INTO t VALUES (1 / 0)", 8134, "Divide by zero error encountered."),
        ("INSERT INTO t VALUES (NULL)", 515, "Cannot insert the value NULL into column 'a'"),
        ("INSERT INTO t VALUES (7)", 547, "CHECK constraint"),
        ("INSERT INTO t VALUES (1), (1)", 2627, "PRIMARY KEY"),
        ("SELECT * FROM missing", 208, "Invalid object name"),
        ("SELECT missing FROM t", 207, "Invalid column name 'missing'."),
        ("EXEC missing", 2812, "Could not find stored procedure 'missing'."),
        ("SELECT CAST('x' AS INT)", 245, "Conversion failed"),
        ("CREATE TABLE v (b INT REFERENCES k (b))", 1776, "no primary or candidate keys"),
        (
            "CREATE TABLE v (b INT REFERENCES k)",
            1773,
            "implicit reference to object 'k' which does not have a",
        ),
        # What a procedure meets when the table was made anew behind it.
        ("EXEC fills", 206, "Operand type clash: int is incompatible with datetime2"),
    ],
)
def test_errors_of_postgresql_have_sql_servers_number_and_text(
    tsql: Tsql, statement: str, number: int, text: str
) -> None:
    tsql.run_well("CREATE TABLE t (a INT NOT NULL PRIMARY KEY CHECK (a < 5))")
    tsql.run_well("CREATE TABLE k (b INT)")
    if statement == "EXEC fills":
        tsql.run_well("CREATE TABLE u (f INT)\nGO\nCREATE PROCEDURE fills AS\nINSERT u VALUES (1)")
        tsql.connection.execute("DROP TABLE dbo.u; CREATE TABLE dbo.u (f timestamp)")
    tsql.run(f"PRINT 'first line'\nGO\n\n{statement}")
    error, *behind = tsql.errors
    assert [each.number for each in behind] == ([1750] if number in (1773, 1776) else [])
    assert (error.number, error.line) == (number, 2)
    assert text in error.message


def test_a_body_beyond_the_limit_is_an_error_of_the_statement(tsql: Tsql) -> None:
    tsql.run_well("CREATE QUEUE q; CREATE SERVICE [//Self] ON QUEUE q ([DEFAULT]);")
    tsql.run(
        "DECLARE @h UNIQUEIDENTIFIER;\n"
        "BEGIN DIALOG @h FROM SERVICE [//Self] TO SERVICE '//Self' WITH ENCRYPTION = OFF;\n"
        "SEND ON CONVERSATION @h (REPLICATE(CAST('x' AS VARCHAR(MAX)), 2147483647));\n"
        "PRINT 'the next statement runs';"
    )
    assert [error.line for error in tsql.errors] == [3]
    assert tsql.prints == ["the next statement runs"]
    tsql.run_well("SELECT COUNT(*) FROM q")
    assert tsql.results == [[["0"]]]


def test_an_insert_takes_a_thousand_rows(pgsb: Pgsb) -> None:
    rows = [f"({number})" for number in range(1001)]
    script = "CREATE TABLE dbo.t (a INT);\nINSERT INTO dbo.t VALUES\n" + ",\n".join(rows[:1000]) + ";\n"
    assert pgsb("check", "-", stdin=script).status == 0
    left = pgsb("check", "-", stdin=script.replace("(999);", "(999),\n(1000);"))
    assert left.status == 1
    assert "<stdin>:1003:2: error 10738: The number of row value expressions in the INSERT" in left.err
    derived = f"SELECT COUNT(*) FROM (VALUES {', '.join(rows)}) AS v (a);"
    assert pgsb("check", "-", stdin=derived).status == 0


def test_run_warns_as_check_does(pgsb: Pgsb, database: Any) -> None:
    script = "PRINT 'a';\nGO\nDBCC FREEPROCCACHE;\nGO 3\nPRINT 'b';\n"
    left = pgsb("run", "--dsn", database.dsn, "-", stdin=script)
    assert (left.status, left.out.split()) == (0, ["a", "b"])
    assert left.err.count("warning") == 1
    assert left.err.startswith("<stdin>:3:1: warning: DBCC has no effect on PostgreSQL.\n    3 | DBCC ")


def test_an_application_lock_of_the_transaction_needs_one(pgsb: Pgsb, database: Any) -> None:
    ask = "DECLARE @r INT; EXEC @r = sp_getapplock 'stock', 'Exclusive'"
    script = (
        f"{ask}; PRINT @r;\nGO\n"
        f"{ask}, 'Session'; PRINT @r; EXEC sp_releaseapplock 'stock', 'Session';\nGO\n"
        f"BEGIN TRAN; {ask}, 'Transaction'; PRINT @r; COMMIT;\n"
    )
    left = pgsb("run", "--dsn", database.dsn, "-", stdin=script)
    said = "You attempted to acquire a transactional application lock without an active transaction."
    assert (left.status, left.out.splitlines()) == (0, [said, "-999", "0", "0"])


@pytest.mark.parametrize("mark", ["\u202e", "\u2066"])
def test_no_message_is_reordered_by_what_it_names(pgsb: Pgsb, mark: str) -> None:
    left = pgsb("check", "-", stdin=f"SELECT 1 {mark} x(\n")
    assert left.status == 1
    assert "near '·'" in left.err and mark not in left.err

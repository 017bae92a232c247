"""Arguments of EXEC, of a procedure that the script tells and of one that only the run time knows."""

import pytest
from end_to_end.tsql import Tsql

DECLARED = """\
DECLARE @u uniqueidentifier = '6F9619FF-8B86-D011-B42D-00C04FC964FF', @d datetime = '2020-01-02 03:04:05.677',
 @d2 datetime2(3) = '2020-01-02 03:04:05.6789', @m money = 1.5, @f float = 2.5, @n decimal(9,3) = 1.5,
 @b bit = 1, @v varbinary(4) = 0x4142
"""
ARGUMENTS = {
    "varchar(40)": {
        "@u": "6F9619FF-8B86-D011-B42D-00C04FC964FF",
        "@d": "Jan  2 2020  3:04AM",
        "@d2": "2020-01-02 03:04:05.679",
        "@m": 257,
        "@f": "2.5",
        "@n": "1.500",
        "@b": "1",
        "@v": "AB",
        "bare": "bare",
        "[two words]": "two words",
    },
    "int": {
        "@f": "2",
        "@m": "2",
        "@n": "1",
        "3.7": "3",
        "''": "0",
        "' 7 '": "7",
        "'0x1F'": 8114,
        "'1_0'": 8114,
        "word": 8114,
    },
    "bit": {"'true'": "1", "TRUE": "1", "5": "1", "0.4": "1", "'x'": 8114},
    "datetime": {
        "'now'": 8114,
        "tomorrow": 8114,
        "'infinity'": 8114,
        "5": "1900-01-06 00:00:00.000",
        "@d2": "2020-01-02 03:04:05.680",
    },
    "float": {"''": "0", "'nan'": 8114, "@m": "1.5", "'1e3'": "1000"},
    "money": {"$1.5": "1.5000", "'$1,234.5'": "1234.5000", "'x'": 8114},
    "decimal(9,2)": {"@f": "2.50", "'1.005'": "1.01"},
    "uniqueidentifier": {
        "'{6F9619FF-8B86-D011-B42D-00C04FC964FF}'": "6F9619FF-8B86-D011-B42D-00C04FC964FF",
        "5": 206,
    },
    "varbinary(9)": {"'AB'": 257, "bare": 257},
    "xml": {"5": 206, "@n": 206},
    "smallint": {"@d": 257, "@u": 206},
}


@pytest.mark.parametrize("type_", ARGUMENTS)
def test_an_argument_is_converted(tsql: Tsql, type_: str) -> None:
    create = f"CREATE PROCEDURE p @a {type_} AS SELECT @a"
    for argument, expected in ARGUMENTS[type_].items():
        for text in (
            f"DROP PROCEDURE IF EXISTS p\nGO\n{create}\nGO\n{DECLARED}EXEC p {argument}",
            f"{DECLARED}, @name sysname = 'p'\nEXEC @name {argument}",
        ):
            tsql.run(text)
            found = tsql.errors[0].number if tsql.errors else tsql.results[0][0][0]
            assert found == expected, (argument, text)


def test_output_comes_back_as_the_variable_s_type(tsql: Tsql) -> None:
    create = (
        "CREATE PROCEDURE p @d datetime OUTPUT, @n decimal(9,3) OUTPUT, @s varchar(20) OUTPUT AS"
        " SELECT @d = '2021-02-03 04:05:06', @n = 12.5, @s = 'seven'\nRETURN 300"
    )
    for first, called in ((f"{create}\nGO\n", "p"), ("", "@p")):
        tsql.run_well(
            f"{first}DECLARE @d varchar(30), @n int, @s nvarchar(3), @p sysname = 'p', @r decimal(5,1)\n"
            f"EXEC @r = {called} @d OUTPUT, @n OUTPUT, @s OUTPUT\nSELECT @d, @n, @s, @r"
        )
        assert tsql.results == [[["Feb  3 2021  4:05AM", "12", "sev", "300.0"]]]
        for types, number in {
            "@d datetime, @n int, @s int": 245,
            "@d datetime, @n int, @s date": 241,
        }.items():
            tsql.run_well(
                f"DECLARE {types}, @p sysname = 'p'\nBEGIN TRY EXEC {called} @d OUTPUT, @n OUTPUT, @s OUTPUT"
                "\nEND TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_LINE() END CATCH"
            )
            assert tsql.results == [[[str(number), "2"]]]


def test_the_return_code_is_converted(tsql: Tsql) -> None:
    tsql.run_well("CREATE PROCEDURE p AS RETURN 300")
    tsql.run_well(
        "DECLARE @r tinyint = 7\nBEGIN TRY EXEC @r = p END TRY"
        "\nBEGIN CATCH SELECT ERROR_NUMBER(), @r END CATCH"
    )
    assert tsql.results == [[["220", "7"]]]
    tsql.run_well(
        "DECLARE @b bit, @s varchar(5), @f float\nEXEC @b = p EXEC @s = p EXEC @f = p\nSELECT @b, @s, @f"
    )
    assert tsql.results == [[["1", "300", "300"]]]
    tsql.run("DECLARE @u uniqueidentifier\nEXEC @u = p")
    assert [error.number for error in tsql.errors] == [206]


def test_a_text_does_not_run_without_its_values(tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE t (a int)")
    known = "DECLARE @s nvarchar(200) = N'INSERT t VALUES (1)'"
    for declared in (known, f"{known} + LEFT(CAST(@@SPID AS nvarchar(9)), 0)"):
        text = f"{declared}, @u uniqueidentifier = NEWID()\nEXEC sp_executesql @s, N'@p "
        for parameter, number in {"uniqueidentifier', N'junk'": 8169, "varchar(5)', @u": 8170}.items():
            tsql.run(text + parameter)
            assert [error.number for error in tsql.errors] == [number]
            tsql.run_well(f"BEGIN TRY {text}{parameter} END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH")
            assert tsql.results == [[[str(number)]]]
    tsql.run("INSERT t EXEC sp_executesql N'SELECT 1', N'@p uniqueidentifier', N'junk'")
    tsql.run("CREATE PROCEDURE p @s varchar(5) AS INSERT t VALUES (1)")
    tsql.run_well(
        "DECLARE @u uniqueidentifier = NEWID()\nBEGIN TRY EXEC p @u END TRY"
        "\nBEGIN CATCH SELECT ERROR_NUMBER() END CATCH\nSELECT count(*) FROM t"
    )
    assert tsql.results == [[["8114"]], [["0"]]]


def test_arguments_of_a_text_that_the_run_time_knows_keep_their_digits(tsql: Tsql) -> None:
    tsql.run_well(
        "DECLARE @m money = -0.0001, @f float = 0.1,"
        " @d datetime2(7) = '2020-01-02 03:04:05.123456',"
        " @v varbinary(9) = 0x00FF, @n decimal(20,9) = 1.123456789, @i int = 5,"
        " @s nvarchar(200) = N'SELECT @i, @m, @f, @d, @v, @n '\n"
        "SET @f += 0.2 SET @s += LEFT(CAST(@@SPID AS nvarchar(9)), 0) + N' SET @i = 3.7 SET @m = @m * 2'\n"
        "EXEC sp_executesql @s, N'@i int OUTPUT, @m money OUTPUT, @f float, @d datetime2(7), @v varbinary(9),"
        " @n decimal(20,9)', @i OUTPUT, @m OUTPUT, @f, @d, @v, @n\n"
        "SELECT @i, @m, IIF(@f = 0.1E0 + 0.2E0, 1, 0)\n"
        "EXEC sp_executesql @s, N'@i int, @m money, @f float, @d datetime2(7), @v varbinary(9),"
        " @n decimal(20,9)', 3.7, '$1,000.5', @i, @d, @v, @m"
    )
    first = ["5", "-0.0001", "0.30000000000000004", "2020-01-02 03:04:05.123456", "0x00FF", "1.123456789"]
    last = ["3", "1000.5000", "3", "2020-01-02 03:04:05.123456", "0x00FF", "-0.000200000"]
    assert tsql.results == [[first], [["3", "-0.0002", "1"]], [last]]


def test_a_piece_of_a_text_with_arguments_may_be_a_condition(tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE t (a int, b int)\nINSERT t VALUES (1, 5), (2, 6), (3, 7)")
    for piece, rows in {"b > 5": [["3"]], "1 = 0": [], "b = 5 OR b = 7": [["3"]], "1": 4145}.items():
        tsql.run(
            f"DECLARE @c nvarchar(50) = N'{piece}' + LEFT(CAST(@@SPID AS nvarchar(9)), 0), @s nvarchar(200)"
            "\nSET @s = N'SELECT a FROM t WHERE a > @a AND (' + @c + N')'"
            "\nEXEC sp_executesql @s, N'@a int', '2'"
        )
        assert (tsql.errors[0].number if tsql.errors else tsql.results[0]) == rows, piece


def test_a_parameter_of_char_takes_values_of_other_types_whole(tsql: Tsql) -> None:
    tsql.run_well(
        "CREATE PROCEDURE dbo.shows @in char(5), @out char(7) OUTPUT, @or nchar(4) = N'none' AS\n"
        "SET @out = @in + 'z'; PRINT CONCAT('[', @in, '] [', @or, ']')\n"
        "GO\n"
        "DECLARE @int int = 123, @out char(7), @short varchar(3), @small smallint = -3\n"
        "EXEC dbo.shows @int, @out OUTPUT; PRINT CONCAT('[', @out, ']')\n"
        "EXEC dbo.shows @small, @short OUTPUT, @or = 'abcdefgh'; PRINT CONCAT('[', @short, ']')\n"
        "EXEC dbo.shows 1.5, @out OUTPUT, @int\n"
        "EXEC sp_executesql N'SET @o = @p; PRINT @p + ''!''', N'@p char(4), @o char(6) OUTPUT',"
        " @int, @out OUTPUT"
    )
    assert tsql.prints == [
        "[123  ] [none]",
        "[123  z ]",
        "[-3   ] [abcd]",
        "[-3 ]",
        "[1.5  ] [123 ]",
        "123 !",
    ]


def test_procedures_that_are_called_in_turn_are_each_learned_once(tsql: Tsql) -> None:
    """Those of other scripts: what calls them stands in pg_temp, and writing it costs a hundred calls."""
    tsql.run_well("CREATE TABLE called (what varchar(9))")
    for name in ("odd", "even", "third"):
        tsql.run_well(f"CREATE PROCEDURE dbo.{name} @n int, @out int OUTPUT AS SET @out = @n + LEN('{name}')")
    loop = (
        "DECLARE @i int = 0, @sum int = 0, @o int WHILE @i < 20 BEGIN\n"
        "EXEC dbo.odd @i, @o OUTPUT; SET @sum += @o\nEXEC dbo.even @i, @o OUTPUT; SET @sum += @o\n"
        "EXEC dbo.third @i, @out = @o OUTPUT; SET @sum += @o SET @i += 1 END SELECT @sum"
    )
    made = "SELECT max(xmin::text::bigint) FROM pg_proc WHERE pronamespace = pg_my_temp_schema()"
    tsql.run_well(loop)
    assert tsql.results == [[[str(3 * 190 + 20 * 12)]]]
    learned = tsql.scalar(made)
    tsql.run_well(loop)
    assert tsql.scalar(made) == learned
    # What was altered, or has another number of parameters now, is learned anew.
    tsql.run_well("ALTER PROCEDURE dbo.even @n int, @out int OUTPUT AS SET @out = 0")
    tsql.run_well(loop)
    assert tsql.results == [[[str(2 * 190 + 20 * 8)]]]
    tsql.run_well("DROP PROCEDURE dbo.even")
    tsql.run("DECLARE @o int EXEC dbo.even 1, @o OUTPUT")
    assert [error.number for error in tsql.errors] == [2812]
    tsql.run_well("CREATE PROCEDURE dbo.even @n int AS SELECT @n")
    tsql.run("DECLARE @o int EXEC dbo.even 1, @o OUTPUT")
    assert [error.number for error in tsql.errors] == [8144]

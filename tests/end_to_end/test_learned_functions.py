"""Functions that an earlier script made are called with the types of their parameters."""

from end_to_end.tsql import Tsql

from support import Database


def test_constants_go_into_small_parameters_of_earlier_functions(database: Database) -> None:
    maker = Tsql(database.dsn)
    maker.run_well(
        "CREATE FUNCTION dbo.Twice (@n tinyint, @b bit) RETURNS int AS BEGIN RETURN @n * 2 + @b END\nGO\n"
        "CREATE FUNCTION dbo.Row1 (@n smallint, @d date) RETURNS TABLE AS RETURN SELECT @n n, @d AS d\nGO\n"
    )
    maker.close()
    caller = Tsql(database.dsn)
    caller.run_well(
        "DECLARE @s varchar(5) = '4';\n"
        "SELECT dbo.Twice(3, 1), dbo.Twice(@s, 'false');\n"
        "SELECT * FROM dbo.Row1(5, '20240229')"
    )
    assert caller.results == [[["7", "8"]], [["5", "2024-02-29"]]]
    caller.close()


def test_values_of_every_kind_go_into_decimal_parameters_of_earlier_functions(database: Database) -> None:
    maker = Tsql(database.dsn)
    maker.run_well(
        "CREATE FUNCTION dbo.Rounded (@n decimal(5, 1)) RETURNS decimal(5, 2) AS BEGIN RETURN @n END\nGO\n"
        "CREATE FUNCTION dbo.Rows1 (@n decimal(9, 3)) RETURNS TABLE AS RETURN SELECT @n AS n\nGO\n"
    )
    maker.close()
    caller = Tsql(database.dsn)
    values = [
        "2.75E0",
        "CAST(1.5 AS real)",
        "3",
        "CAST(4 AS bigint)",
        "$1.5",
        "'7.25'",
        "CAST(1 AS bit)",
        "1.25",
        "NULL",
    ]
    shown = ["2.80", "1.50", "3.00", "4.00", "1.50", "7.30", "1.00", "1.30", None]
    caller.run_well(f"SELECT {', '.join(f'dbo.Rounded({value})' for value in values)}")
    assert caller.results == [[shown]]
    caller.run_well("DECLARE @f float = 2.5\nSELECT n FROM dbo.Rows1(@f)")
    assert caller.results == [[["2.500"]]]
    caller.run("SELECT dbo.Rounded(99999.9)")
    assert [error.number for error in caller.errors] == [8115]
    caller.close()


def test_dates_and_numbers_go_into_date_parameters_of_earlier_functions(database: Database) -> None:
    maker = Tsql(database.dsn)
    for name, type_, style in (
        ("Moment", "datetime", 121),
        ("Exact", "datetime2", 121),
        ("Minute1", "smalldatetime", 120),
    ):
        maker.run_well(
            f"CREATE FUNCTION dbo.{name} (@d {type_}) RETURNS varchar(30)"
            f" AS BEGIN RETURN CONVERT(varchar(30), @d, {style}) END"
        )
    maker.run_well(
        "CREATE FUNCTION dbo.Minutes (@d smalldatetime) RETURNS TABLE"
        " AS RETURN SELECT CONVERT(varchar(30), @d, 120) AS t"
    )
    maker.close()
    caller = Tsql(database.dsn)
    caller.run_well(
        "DECLARE @n int = 1\n"
        "SELECT dbo.Moment(0), dbo.Moment(1.5), dbo.Moment(@n), dbo.Moment('2030-01-02T03:04:05.123')\n"
        "SELECT dbo.Moment(NULL), dbo.Exact('2030-01-02T03:04:05.123456')\n"
        "SELECT dbo.Minute1('2030-01-02T03:04:31'), dbo.Minute1(1)\n"
        "SELECT t FROM dbo.Minutes('2030-01-02T03:04:31')"
    )
    days = ["1900-01-01 00:00:00.000", "1900-01-02 12:00:00.000", "1900-01-02 00:00:00.000"]
    assert caller.results == [
        [[*days, "2030-01-02 03:04:05.123"]],
        [[None, "2030-01-02 03:04:05.1234560"]],
        [["2030-01-02 03:05:00", "1900-01-02 00:00:00"]],
        [["2030-01-02 03:05:00"]],
    ]
    caller.close()


def test_columns_of_table_valued_functions_are_known_behind_them_and_to_later_scripts(
    database: Database,
) -> None:
    maker = Tsql(database.dsn)
    maker.run_well(
        "CREATE FUNCTION dbo.Kept () RETURNS @r TABLE (OrderId int, IsPaid bit) AS\n"
        "BEGIN INSERT @r VALUES (7, 1); RETURN END\nGO\n"
        "CREATE FUNCTION dbo.Asked (@n int) RETURNS TABLE AS\n"
        "RETURN SELECT @n AS OrderId, CAST(1 AS bit) AS IsPaid\nGO\n"
        "CREATE FUNCTION dbo.Guessed () RETURNS TABLE AS RETURN SELECT OrderId, IsPaid FROM dbo.Kept()\nGO\n"
    )
    for tsql in (maker, Tsql(database.dsn)):
        for function in ("Kept()", "Asked(7)", "Guessed()"):
            asked = (
                f"SELECT TOP (50) PERCENT * FROM dbo.{function}",
                f"SELECT k.* FROM dbo.{function} AS k FOR XML RAW",
                f"SELECT IsPaid FROM dbo.{function} FOR JSON PATH",
            )
            text = tsql.run_well("\n".join(asked))
            assert text.startswith("OrderId IsPaid\n")
            assert tsql.results[1:] == [[['<row OrderId="7" IsPaid="1"/>']], [['[{"IsPaid":true}]']]]
        tsql.close()

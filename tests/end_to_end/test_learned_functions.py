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

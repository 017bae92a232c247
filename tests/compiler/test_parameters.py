"""Parameters have their declared types and defaults, whoever calls; OUTPUT parameters come back."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from end_to_end.tsql import Tsql

from support import Database

PROCEDURES = """
CREATE TABLE dbo.totals (n int);
INSERT dbo.totals VALUES (1), (2);
GO
CREATE PROCEDURE dbo.counts @by int = 2, @n int = 40 OUTPUT AS
SET @n += @by;
PRINT @n;
GO
CREATE PROCEDURE dbo.shows
    @s varchar(5), @d decimal(5,2), @c char(3) = 'a', @t datetime = NULL, @m money = 1.23456,
    @b binary(3) = 0x01, @t2 datetime2(0) = NULL
AS
PRINT CONCAT(@s, '|', @d, '|', @c, '|', CONVERT(varchar(30), @t, 121), '|', CONVERT(varchar(20), @m, 2), '|',
             CONVERT(varchar(10), @b, 1), '|', CONVERT(varchar(30), @t2, 121));
SET @s = @s + 'xyz';
SET @d = 3.14159;
PRINT CONCAT(@s, '|', @d);
GO
CREATE PROCEDURE dbo.doubles @d decimal(4,2), @o decimal(4,2) = NULL OUTPUT AS
SET @o = @d * 2;
RETURN 5;
GO
-- The procedure's name is a table's too.
CREATE PROCEDURE dbo.totals_of @n int OUTPUT, @x varchar(3) = 'abcdef' AS
SELECT @n = COUNT(*) FROM dbo.totals AS totals_of WHERE totals_of.n <= @n;
PRINT @x;
GO
CREATE FUNCTION dbo.cuts (@s varchar(3), @d decimal(4,1)) RETURNS varchar(20) AS
BEGIN
    DECLARE @was decimal(4,1) = @d;
    SET @d = 2.25;
    RETURN CONCAT(@s, '|', @was, '|', @d);
END
GO
CREATE FUNCTION dbo.rounds (@d decimal(10,5)) RETURNS decimal(4,1) AS BEGIN RETURN @d; END
GO
CREATE FUNCTION dbo.lengths (@s varchar(10)) RETURNS TABLE AS RETURN SELECT @s AS s, LEN(@s) AS l;
"""


@pytest.fixture(scope="module")
def shared(new_database: Callable[[], Database]) -> Database:
    database = new_database()
    session = Tsql(database.dsn)
    session.run_well(PROCEDURES)
    session.close()
    return database


@pytest.fixture(params=["known to the compiler", "looked up at run time"])
def run(
    request: pytest.FixtureRequest, shared: Database, database: Database
) -> Iterator[Callable[[str], Tsql]]:
    """Runs a script against the procedures: made in the same script, or earlier."""
    known = request.param == "known to the compiler"
    session = Tsql(database.dsn if known else shared.dsn)

    def run(script: str) -> Tsql:
        session.run(f"{PROCEDURES}\nGO\n{script}" if known else script)
        return session

    yield run
    session.close()


Run = Callable[[str], Tsql]


def test_the_default_of_an_output_parameter(run: Run) -> None:
    assert run("EXEC dbo.counts; EXEC dbo.counts 1, DEFAULT").prints == ["42", "41"]


def test_arguments_become_the_declared_types(run: Run) -> None:
    done = run(
        "EXEC dbo.shows 'abcdefgh', 1.236, 'abcde', '2020-01-02 10:11:12.126', 1.23456, 0x01020304, "
        "'2020-01-02 10:11:12.6';\n"
        "DECLARE @s varchar(20) = 'abcdefgh', @d decimal(9,4) = 1.236; EXEC dbo.shows @s, @d;"
    )
    assert done.prints == [
        "abcde|1.24|abc|2020-01-02 10:11:12.127|1.2346|0x010203|2020-01-02 10:11:13",
        "abcde|3.14",
        "abcde|1.24|a  ||1.2346|0x010000|",
        "abcde|3.14",
    ]


def test_an_application_s_arguments_too(shared: Database) -> None:
    with psycopg.connect(shared.dsn, autocommit=True) as connection:
        shown: list[str | None] = []
        connection.add_notice_handler(lambda notice: shown.append(notice.message_primary))
        connection.execute("CALL dbo.shows('abcdefgh', 1.236)")
        row = connection.execute("CALL dbo.doubles(1.236, NULL)").fetchone()
        assert shown == ["abcde|1.24|a  ||1.2346|0x010000|", "abcde|3.14"]
        assert row is not None and str(row[0]) == "2.48"
        with pytest.raises(psycopg.Error) as error:
            connection.execute("CALL dbo.doubles(1234.5, NULL)")
        assert error.value.sqlstate == "S8114"


def test_what_does_not_fit_fails_the_call(run: Run) -> None:
    done = run("""
        DECLARE @rc int = 77, @o decimal(4,2) = 9;
        BEGIN TRY
            EXEC @rc = dbo.doubles 12345.6, @o OUTPUT;
        END TRY
        BEGIN CATCH
            PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_PROCEDURE(), ' ', ERROR_LINE(), ' ', @rc, ' ', @o);
        END CATCH
        EXEC @rc = dbo.doubles 5.678, @o OUTPUT;
        PRINT CONCAT(@rc, ' ', @o);""")
    assert done.prints == ["8114 doubles 0 77 9.00", "5 11.36"]


def test_output_comes_back_from_a_procedure_named_like_something_in_it(run: Run) -> None:
    assert run("DECLARE @n int = 2; EXEC dbo.totals_of @n OUTPUT; PRINT @n;").prints == ["abc", "2"]


def test_functions_convert_parameters_and_results(run: Run) -> None:
    done = run(
        "SELECT dbo.cuts('abcdef', 1.256), dbo.rounds(1.256);\nSELECT * FROM dbo.lengths('abcdefghijklm');"
    )
    assert done.results == [[["abc|1.3|2.3", "1.3"]], [["abcdefghij", "10"]]]


def test_output_of_sp_executesql_can_stand_in_a_query(run: Run) -> None:
    done = run("""
        DECLARE @got int = 1, @most int = 2;
        EXEC sp_executesql N'SELECT @c = COUNT(*) FROM dbo.totals WHERE n >= @c AND n <= @most',
             N'@most int, @c int OUTPUT', @most = @most, @c = @got OUTPUT;
        PRINT @got;""")
    assert done.prints == ["2"]

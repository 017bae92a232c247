"""Conversions wherever a value changes its type: what does not fit is an error that TRY catches."""

from itertools import product

import pytest
from end_to_end.tsql import Tsql

_NUMBERS = {
    "tinyint": "255",
    "smallint": "-32768",
    "int": "2147483647",
    "bigint": "-9223372036854775808",
    "decimal(5, 2)": "999.99",
    "decimal(38, 0)": "99999999999999999999999999999999999999",
    "money": "922337203685477.5807",
    "real": "3.4E38",
    "float": "1.7E308",
}
_MOMENTS = {
    "date": "'00010101'",
    "smalldatetime": "'20790606 23:59'",
    "datetime": "'17530101'",
    "datetime2": "'0001-01-01 10:11:12.123456'",
}
_BYTES = {"varbinary(30)": "0x0102030405060708090A", "binary(3)": "0x010203"}
_TEXT = {"varchar(30)": "'no number and no moment'"}
_VALUES = _NUMBERS | _MOMENTS | _BYTES | _TEXT
_TO_THE_FIRST = "ISNULL(@none, @from)"
_USES = (
    "SET @to = @from",
    "SELECT @to = @from",
    f"SET @to = {_TO_THE_FIRST}",
    "SET @to = COALESCE(@none, @from)",
    f"PRINT {_TO_THE_FIRST}",
    f"IF @to = {_TO_THE_FIRST} PRINT 'equal'",
    "IF @to = @from PRINT 'equal'",
)


def _pairs() -> list[tuple[str, str]]:
    """Source and target types between which T-SQL converts where nobody asks for it."""
    found = [(source, target) for kind in (_NUMBERS, _MOMENTS, _BYTES) for source in kind for target in kind]
    found += [(text, target) for text in _TEXT for target in _NUMBERS | _MOMENTS]
    return found + [(source, text) for source in _NUMBERS if source != "money" for text in _TEXT]


def _tried(statement: str, caught: str) -> str:
    return f"BEGIN TRY {statement} END TRY BEGIN CATCH {caught} END CATCH"


@pytest.mark.long
@pytest.mark.one_postgres
def test_what_does_not_fit_is_caught_wherever_it_stands(tsql: Tsql) -> None:
    batches = []
    for source, target in _pairs():
        uses = [*_USES, "SET @to += @from"] if target in _NUMBERS | _TEXT else _USES
        declared = (
            f"DECLARE @from {source} = {_VALUES[source]}, @to {target} = {_VALUES[target]}, @none {target}"
        )
        batches.append(
            "\n".join([declared, *(_tried(use, "PRINT 'caught'") for use in uses), "PRINT 'done'"])
        )
    tsql.run_well("\nGO\n".join(batches))
    assert tsql.prints.count("done") == len(batches)
    assert tsql.prints.count("caught") > len(batches)


_ASKED = [
    *_VALUES.items(),
    *{
        "bit": "1",
        "smallmoney": "214748.3647",
        "nchar(6)": "N'-1.5'",
        "nvarchar(max)": "N'20260230'",
        "uniqueidentifier": "'6F9619FF-8B86-D011-B42D-00C04FC964FF'",
        "time": "'23:59:59.9999999'",
        "datetimeoffset": "'9999-12-31 23:59:59 -14:00'",
        "xml": "'<a>1</a>'",
    }.items(),
    *(
        ("varbinary(20)", value)
        for value in ("0x", "0x00", "0xFFFFFF", "0xFFFFFFFFFFFFFFFFFFFFFFFFFF", "NULL")
    ),
    ("datetime", "NULL"),
]
_TARGETS = (
    *("tinyint", "smallint", "int", "bigint", "bit", "decimal(5, 2)", "money", "smallmoney", "real", "float"),
    *("date", "time(3)", "smalldatetime", "datetime", "datetime2(0)", "datetimeoffset", "uniqueidentifier"),
    *(
        "char(50)",
        "varchar(50)",
        "nchar(50)",
        "nvarchar(max)",
        "binary(20)",
        "varbinary(max)",
        "xml",
        "sql_variant",
    ),
)
_OF_OUR_OWN = {206, 4121, 50000}
"""What a function that is missing, or an error of PostgreSQL's, is told as."""


@pytest.mark.long
@pytest.mark.one_postgres
def test_try_convert_fails_only_where_there_is_no_conversion(tsql: Tsql) -> None:
    tried = 0
    for (source, value), target in product(_ASKED, _TARGETS):
        tsql.run(
            f"DECLARE @from {source} = {value}, @to sql_variant;"
            f" SELECT @to = NULL WHERE TRY_CONVERT({target}, @from) IS NULL"
            f" OR TRY_CAST(@from AS {target}) IS NULL;"
            f" PRINT 'tried'; SELECT @to = NULL WHERE CONVERT({target}, @from) IS NULL"
        )
        told = {error.number for error in tsql.errors}
        assert tsql.prints == (["tried"] if told != {529} else []), (source, value, target, tsql.errors)
        assert not told & _OF_OUR_OWN, (source, value, target, tsql.errors)
        tried += bool(tsql.prints)
    assert tried > len(_ASKED) * len(_TARGETS) / 2


@pytest.mark.one_postgres
def test_isnull_makes_of_the_second_value_one_of_the_firsts_type(tsql: Tsql) -> None:
    batches = []
    for source, target in _pairs():
        declared = f"DECLARE @from {source} = {_VALUES[source]}, @none {target}"
        shown = [f"PRINT CONCAT('', {made})" for made in (_TO_THE_FIRST, f"CAST(@from AS {target})")]
        tried = (_tried(statement, "PRINT ERROR_NUMBER()") for statement in shown)
        batches.append("\n".join([declared, *tried]))
    tsql.run_well("\nGO\n".join(batches))
    assert len(tsql.prints) == 2 * len(batches)
    differ = [
        (pair, made, wanted)
        for pair, made, wanted in zip(_pairs(), tsql.prints[::2], tsql.prints[1::2], strict=True)
        if made != wanted
    ]
    assert not differ


@pytest.mark.parametrize(
    ("expression", "number", "message"),
    [
        ("CAST('20790607' AS smalldatetime)", 242, "varchar data type to a smalldatetime"),
        ("CAST(CAST('17521231' AS date) AS datetime)", 242, "date data type to a datetime"),
        ("CAST(CAST('17521231' AS datetime2) AS datetime)", 242, "datetime2 data type to a datetime"),
        ("CAST(CAST('1899' AS datetime2) AS smalldatetime)", 242, "datetime2 data type to a smalldatetime"),
        ("CAST(CAST('18991231' AS datetime) AS smalldatetime)", 242, "datetime data type to a smalldatetime"),
        ("CAST(CAST('1700-01-01 00:00 +00:00' AS datetimeoffset) AS datetime)", 242, "datetimeoffset"),
        ("CAST(3000000 AS datetime)", 8115, "converting expression to data type datetime."),
        ("CAST(2147483647 AS datetime)", 8115, "converting expression to data type datetime."),
        ("CAST(-1e300 AS smalldatetime)", 8115, "converting expression to data type smalldatetime."),
        ("CAST(0x7FFFFFFF00000000 AS datetime)", 210, "converting datetime from binary/varbinary string."),
        ("DATEADD(year, 9000, GETDATE())", 517, "Adding a value to a 'datetime' column caused an overflow."),
        ("DATEADD(year, -300, '20240101')", 517, "'datetime'"),
        ("DATEADD(day, 30000, CAST('20240101' AS smalldatetime))", 517, "'smalldatetime'"),
        ("DATEADD(day, -1, CAST('00010101' AS datetime2))", 517, "'datetime2'"),
        (
            "DATEADD(year, 9000, SYSDATETIMEOFFSET() AT TIME ZONE 'UTC')",
            517,
            "'datetimeoffset'",
        ),
        ("EOMONTH('99991231', 1)", 517, "'date'"),
    ],
)
def test_a_moment_that_the_type_has_not_is_told_with_its_source(
    expression: str, number: int, message: str, tsql: Tsql
) -> None:
    tsql.run(f"SELECT {expression}")
    (error,) = tsql.errors
    assert error.number == number
    assert message in error.message


@pytest.mark.parametrize(
    ("query", "type_name"),
    [
        ("SELECT SUM(v) FROM (VALUES (2147483647), (1)) AS t (v)", "int"),
        ("SELECT SUM(CAST(v AS bigint)) FROM (VALUES (9223372036854775807), (1)) AS t (v)", "bigint"),
        ("SELECT SUM(v) OVER (ORDER BY v) FROM (VALUES (2147483647), (1)) AS t (v)", "int"),
        ("SELECT k FROM (VALUES (1, 2147483647), (1, 1)) AS t (k, v) GROUP BY k HAVING SUM(v) > 1", "int"),
        (
            "SELECT * FROM #p PIVOT (AVG(v) FOR c IN (a)) AS p\n"
            "SELECT * FROM #p PIVOT (SUM(v) FOR c IN (a, b)) AS p",
            "int",
        ),
    ],
)
def test_a_sum_is_of_the_type_of_what_it_adds(query: str, type_name: str, tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE #p (c varchar(5), v int)\nINSERT INTO #p VALUES ('a', 2147483647), ('a', 1)")
    tsql.run(query)
    (error,) = tsql.errors
    assert error.number == 8115
    assert error.message == f"Arithmetic overflow error converting expression to data type {type_name}."


def test_null_stays_null_as_a_moment(tsql: Tsql) -> None:
    tsql.run_well(
        "DECLARE @day date, @number int, @float float, @bytes varbinary(8)\n"
        "IF COALESCE(CAST(@day AS datetime), CAST(@number AS datetime), CAST(@float AS smalldatetime),"
        " CAST(@bytes AS datetime)) IS NULL PRINT 'none'"
    )
    assert tsql.prints == ["none"]


def test_values_together_have_the_type_that_holds_all(tsql: Tsql) -> None:
    shown = tsql.run_well(
        "DECLARE @int int = 300, @small smallmoney = 2.5, @minutes smalldatetime = '20200101',"
        " @whole datetime2(0) = '20200101', @exact datetime2(6) = '2020-01-01 10:11:12.345678'\n"
        "PRINT CASE WHEN 1 = 1 THEN @int ELSE @small END\n"
        "SELECT CONVERT(varchar(40), x) AS x FROM (SELECT @whole AS x UNION ALL SELECT @exact) AS both\n"
        "SELECT @whole AS x UNION ALL SELECT @exact\n"
        # It is compared as a decimal, and stays an int.
        "SELECT NULLIF(@int, 1.5) AS x, NULLIF(@int, 300.00) AS y"
    )
    assert tsql.prints == ["300.00"]
    assert shown.count("2020-01-01 10:11:12.345678") == 2
    assert "\n300 NULL\n" in shown


def test_functions_of_numbers_take_strings_as_float_and_refuse_other_types(tsql: Tsql) -> None:
    shown = tsql.run_well(
        "DECLARE @text varchar(10) = '12.567', @national nvarchar(10) = N' -3.2 '\n"
        "SELECT ABS(@national) AS a, SIGN(@national) AS b, CEILING(@text) AS c, FLOOR(@text) AS d,"
        " ROUND(@text, 1) AS e, POWER(@text, 2) AS f, FLOOR('7.9') AS g, ABS(NULL) AS h"
    )
    assert "\n3.2 -1 13 12 12.6 157.92948900000002 7 NULL\n" in shown
    for function in (
        "ABS(@day)",
        "SIGN(@day)",
        "CEILING(@day)",
        "FLOOR(@day)",
        "ROUND(@day, 1)",
        "POWER(@day, 2)",
    ):
        tsql.run(f"DECLARE @day date SELECT {function}")
        name = function.partition("(")[0].lower()
        assert [(error.number, error.message) for error in tsql.errors] == [
            (8116, f"Argument data type date is invalid for argument 1 of {name} function.")
        ]


def test_sums_and_products_of_decimals_have_38_digits_at_most(tsql: Tsql) -> None:
    # Microsoft's reference, "Precision, scale, and length": the integral part stays, decimals beyond it go.
    shown = tsql.run_well(
        "DECLARE @long decimal(38, 10) = 12345678901234567890.0123456789, @price decimal(19, 4) = 12.3456,"
        " @rate decimal(19, 4) = 1.2345\n"
        "SELECT @long + 7 AS a, @long * 7 AS b, @price * @rate AS c, @price + @rate, @long - @long\n"
        "BEGIN TRY SELECT @long * @long END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH\n"
        "DECLARE @most decimal(38, 0) = 99999999999999999999999999999999999999\n"
        "BEGIN TRY SELECT @most + @most END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH"
    )
    sums = "12345678901234567897.0123456789 86419752308641975230.08641975 15.2406432 13.5801 0.0000000000"
    assert f"\n{' '.join(sums.split())}\n" in "\n".join(" ".join(line.split()) for line in shown.splitlines())
    assert tsql.prints == ["8115", "8115"]

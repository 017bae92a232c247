"""Values that the session keeps: of INSERT … EXEC, and of a cursor for the FETCH of another batch."""

import pytest
from end_to_end.tsql import Tsql

GUID = "6F9619FF-8B86-D011-B42D-00C04FC964FF"
VALUES = {
    "int": {
        "1.5": "1",
        "-1.5": "-1",
        "2.75E0": "2",
        "' 7 '": "7",
        "''": "0",
        "CAST(1 AS bit)": "1",
        "0x05": "5",
        "'x'": 245,
    },
    "bit": {"5": "1", "0.0": "0", "'true'": "1", "'x'": 245},
    "varchar(40)": {
        "CAST('2020-01-02 03:04' AS datetime)": "Jan  2 2020  3:04AM",
        f"CAST('{GUID.lower()}' AS uniqueidentifier)": GUID,
        "0x4142": "AB",
        "1.50": "1.50",
        "CAST('2020-01-02' AS date)": "2020-01-02",
    },
    "varchar(3)": {"'abc'": "abc", "'abcd'": 2628},
    "datetime": {"5.5": "1900-01-06 12:00:00.000", "'20200102'": "2020-01-02 00:00:00.000", "'now'": 241},
    "varbinary(4)": {"5": "0x00000005", "0x4142": "0x4142"},
    "uniqueidentifier": {
        f"'{{{GUID}}}'": GUID,
        "0xFF19966F868B11D0B42D00C04FC964FF": GUID,
    },
    "decimal(5,1)": {"1.25": "1.3", "CAST(2.5 AS money)": "2.5"},
    "float": {"'1e3'": "1000", "1.5": "1.5"},
}


@pytest.mark.parametrize("type_", VALUES)
def test_a_result_s_value_becomes_a_column_s(tsql: Tsql, type_: str) -> None:
    for value, expected in VALUES[type_].items():
        doubled = value.replace("'", "''")
        for declared, table in (
            (f"CREATE TABLE #t (a {type_})", "#t"),
            (f"DECLARE @t TABLE (a {type_})", "@t"),
        ):
            tsql.run(
                f"{declared}\nINSERT {table} EXEC ('SELECT {doubled}')\nSELECT a FROM {table}"
                "\nGO\nDROP TABLE IF EXISTS #t"
            )
            found = tsql.errors[0].number if tsql.errors else tsql.results[0][0][0]
            assert found == expected, (value, table)


@pytest.mark.parametrize("scope", ["LOCAL", "GLOBAL"])
def test_fetch_into_variables_of_other_types(tsql: Tsql, scope: str) -> None:
    """Also where the FETCH is compiled apart from the cursor."""
    tsql.run_well(
        "CREATE TABLE t (f float, m money, d datetime, u uniqueidentifier, s varchar(20), v varbinary(5),"
        " b bit)"
        f"\nINSERT t VALUES (2.75, 1234.5678, '2020-01-02 03:04:05', '{GUID}', 'abcdef', 0x4142, 1), (NULL,"
        "NULL, NULL, NULL, NULL, NULL, NULL)"
    )
    tsql.run_well(
        f"DECLARE c CURSOR {scope} FOR SELECT * FROM t ORDER BY f DESC\nOPEN c"
        + ("\nGO" if scope == "GLOBAL" else "")
        + "\nDECLARE @f int, @m float, @d varchar(30), @u varchar(40), @s varchar(3)"
        ", @v varchar(9), @b varchar(5)"
        "\nFETCH c INTO @f, @m, @d, @u, @s, @v, @b\nSELECT @f, @m, @d, @u, @s, @v, @b"
        "\nFETCH c INTO @f, @m, @d, @u, @s, @v, @b\nSELECT @f, @m, @d, @u, @s, @v, @b\nDEALLOCATE c"
    )
    first = ["2", "1234.5678", "Jan  2 2020  3:04AM", GUID, "abc", "AB", "1"]
    assert tsql.results == [[first], [[None] * 7]]

"""What a later session knows of the tables that an earlier one, or somebody else, has made."""

from collections.abc import Callable

import pytest
from end_to_end.tsql import Tsql

from pgsb.compiler import type_map as tm
from pgsb.compiler.type_map import SqlType
from pgsb.server.learn import type_of
from support import Connection, Database


def test_identity_and_computed_columns_are_left_out_of_inserts(database: Database) -> None:
    first = Tsql(database.dsn)
    first.run_well(
        "CREATE DATABASE Other"
        "\nGO\nCREATE TABLE Kept (id int IDENTITY PRIMARY KEY, what nvarchar(20), n int, twice AS n * 2)"
        "\nGO\nCREATE VIEW Shown AS SELECT id, what FROM Kept"
        "\nGO\nUSE Other"
        "\nGO\nCREATE TABLE There (id int IDENTITY(5, 5), x xml)"
    )
    first.close()
    later = Tsql(database.dsn)
    later.run_well(
        "INSERT Kept VALUES (N'one', 1) INSERT INTO Kept SELECT 'two', 2"
        "\nGO\nINSERT Other.dbo.There VALUES ('<a/>')"
        "\nGO\nSELECT *, what + '!' AS w FROM Kept"
        "\nGO\nSELECT id, x.exist('/a') FROM Other..There"
        "\nGO\nSELECT * FROM Shown WHERE id = 2 FOR XML AUTO"
    )
    kept, there, shown = later.results
    assert kept == [["1", "one", "1", "2", "one!"], ["2", "two", "2", "4", "two!"]]
    assert there == [["5", "1"]]
    assert shown == [['<Shown id="2" what="two"/>']]
    later.close()


def test_a_table_that_psql_made(database: Database, connect: Callable[[str], Connection]) -> None:
    connect(database.dsn).execute(
        "CREATE SCHEMA IF NOT EXISTS dbo; CREATE TABLE dbo.plain (a integer, b varchar(3))"
    )
    tsql = Tsql(database.dsn)
    tsql.run_well("INSERT plain VALUES (1, 'x') SELECT b + CAST(a AS varchar(5)) FROM plain")
    assert tsql.results == [[["x1"]]]
    tsql.close()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("integer", tm.INT),
        ("character varying(20)", tm.varchar(20)),
        ("numeric(19,4)", tm.decimal(19, 4)),
        ("numeric(5)", tm.decimal(5, 0)),
        ("character(2)", SqlType("char", length=2)),
        ("timestamp(3) without time zone", tm.DATETIME),
        ("point", None),
    ],
)
def test_types(written: str, expected: SqlType | None) -> None:
    assert type_of(written) == expected

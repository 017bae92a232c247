"""What a later session knows of the tables that an earlier one, or somebody else, has made."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from end_to_end.tsql import Tsql
from runtime.broker import refused

from pgsb.compiler.catalog import types as tm
from pgsb.compiler.catalog.scope import Catalog
from pgsb.compiler.catalog.types import SqlType
from pgsb.server import learn
from pgsb.server.learn import type_of
from support import Connection, Database


def test_types_that_postgresql_does_not_tell_are_known_to_later_scripts(database: Database) -> None:
    first = Tsql(database.dsn)
    first.run_well(
        "CREATE TABLE Price (id int, Net money, fee smallmoney, rate decimal(19, 4), was money);"
        "\nALTER TABLE Price ADD is_now decimal(19, 4) ALTER TABLE Price ALTER COLUMN was decimal(19, 4)"
        "\nALTER TABLE Price ALTER COLUMN is_now money"
        "\nINSERT Price VALUES (1, 7.5, 2.5, 3.5, 4.5, 5.5)"
        "\nEXEC sp_rename 'dbo.Price.Net', 'Net_Price', 'COLUMN'"
        "\nCREATE TABLE Kind (few tinyint, at datetime2(3), day_ datetime2(0), was datetime, b binary(3))"
        "\nALTER TABLE Kind ADD vb varbinary(2)\nALTER TABLE Kind ADD [Row's \\ Version] rowversion"
        "\nCREATE TYPE dbo.Amount FROM money CREATE TYPE dbo.[Small Flag] FROM tinyint"
        "\nINSERT Kind VALUES (1, '2026-01-02 03:04:05.678', '2026-01-02', '2026-01-02', 0x01, 0x02, DEFAULT)"
        "\nGO\nCREATE VIEW Doubled AS SELECT Net_Price * 2 AS net, rate FROM Price"
        "\nGO\nCREATE FUNCTION Asked (@n int) RETURNS TABLE AS"
        "\nRETURN SELECT Net_Price AS net FROM Price WHERE id = @n"
    )
    first.close()
    later = Tsql(database.dsn)
    texts = "CONCAT(Net_Price, '|', fee, '|', rate, '|', was, '|', is_now)"
    types = "SELECT DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = '{}' ORDER BY {}"
    later.run_well(
        f"SELECT {texts}, Net_Price / 3 FROM Price"
        "\nSELECT CONCAT(net, '|', rate) FROM Doubled"
        "\nSELECT CAST(net AS varchar(9)) FROM Asked(1)"
        "\nSELECT DATEADD(ms, 1, at), CAST(day_ AS varchar(30)), CAST(was AS varchar(30)), b FROM Kind"
        f"\n{types.format('Price', 'ORDINAL_POSITION')}\n{types.format('Kind', 'ORDINAL_POSITION')}"
    )
    price, doubled, asked, kinds, of_price, of_kind = later.results
    assert price == [["7.50|2.50|3.5000|4.5000|5.50", "2.5000"]]
    assert (doubled, asked) == ([["15.00|3.5000"]], [["7.50"]])
    moment = ["2026-01-02 03:04:05.679", "2026-01-02 00:00:00", "Jan  2 2026 12:00AM", "0x010000"]
    assert kinds == [moment]
    assert [name for (name,) in of_price] == ["int", "money", "smallmoney", "numeric", "numeric", "money"]
    of_columns = "tinyint datetime2 datetime2 datetime binary varbinary timestamp"
    assert [name for (name,) in of_kind] == of_columns.split()
    later.run_well(
        "DECLARE @m dbo.Amount = 2.5 SELECT CAST(@m AS varchar(9))"
        "\nCREATE TABLE Sale (a Amount, f [Small Flag])"
        "\nGO\nINSERT Sale VALUES (9.5, 1) SELECT CONCAT(a, f) FROM Sale"
    )
    assert later.results == [[["2.50"]], [["9.501"]]]
    too_much = ("few = 256", "vb = 0x010203", "b = 0x01020304")
    later.run("\nGO\n".join([*(f"UPDATE Kind SET {much}" for much in too_much), "UPDATE Sale SET f = 256"]))
    assert [error.number for error in later.errors if error.severity > 10] == [220, 2628, 2628, 220]
    later.close()


def test_identity_and_computed_columns_are_left_out_of_inserts(database: Database) -> None:
    first = Tsql(database.dsn)
    first.run_well(
        "CREATE DATABASE Other"
        "\nGO\nCREATE TABLE Kept (id int IDENTITY PRIMARY KEY, what nvarchar(20), n int, twice AS n * 2)"
        "\nGO\nCREATE VIEW Shown AS SELECT id, what FROM Kept"
        "\nGO\nUSE Other"
        "\nGO\nCREATE TABLE There (id int IDENTITY(5, 5), x xml, [Last Change] rowversion)"
    )
    first.close()
    later = Tsql(database.dsn)
    later.run_well(
        "INSERT Kept VALUES (N'one', 1) INSERT INTO Kept SELECT 'two', 2"
        "\nGO\nINSERT Other.dbo.There VALUES ('<a/>', DEFAULT)"
        "\nGO\nSELECT *, what + '!' AS w FROM Kept"
        "\nGO\nSELECT id, x.exist('/a') FROM Other..There"
        "\nGO\nSELECT * FROM Shown WHERE id = 2 FOR XML AUTO"
    )
    kept, there, shown = later.results
    assert kept == [["1", "one", "1", "2", "one!"], ["2", "two", "2", "4", "two!"]]
    assert there == [["5", "1"]]
    assert shown == [['<Shown id="2" what="two"/>']]
    later.close()


def test_a_column_that_was_not_altered_keeps_its_type(database: Database, pgsb: Callable[..., Any]) -> None:
    shown = pgsb(
        "run",
        "--dsn",
        database.dsn,
        "-",
        stdin="CREATE TABLE Kept (a varchar(5))\nINSERT Kept VALUES ('a')\nGO\n"
        "ALTER TABLE Kept ALTER COLUMN a int\nGO\nSELECT a + 'b' FROM Kept\nGO\n"
        "ALTER TABLE Kept ALTER COLUMN a nvarchar(9)\nGO\nSELECT a + N'c' FROM Kept",
    )
    assert "Msg 245," in shown.out + shown.err
    assert "ab\n" in shown.out and "ac\n" in shown.out


def test_a_table_that_an_earlier_sessions_procedure_makes(database: Database) -> None:
    first = Tsql(database.dsn)
    columns = "(id int IDENTITY PRIMARY KEY, what nvarchar(20))"
    first.run_well(
        f"CREATE PROCEDURE make_one AS CREATE TABLE One {columns}"
        "\nGO\nCREATE PROCEDURE make_two AS"
        f" DECLARE @t nvarchar(99) = N'CREATE TABLE Two {columns}' EXEC (@t)"
    )
    first.close()
    later = Tsql(database.dsn)
    later.run_well(
        "EXEC make_one\nGO\nEXEC make_two\nGO\nINSERT One VALUES (N'a') INSERT Two VALUES (N'b')"
        "\nGO\nSELECT * FROM One SELECT * FROM Two"
    )
    assert later.results == [[["1", "a"]], [["1", "b"]]]
    later.close()


def test_a_table_whose_name_the_run_time_knows_gets_what_an_insert_without_columns_fills(
    database: Database,
) -> None:
    first = Tsql(database.dsn)
    first.run_well(
        "CREATE PROCEDURE keep @t sysname, @v nvarchar(20) AS"
        " DECLARE @s nvarchar(200) = N'INSERT dbo.' + QUOTENAME(@t) + N' VALUES (@v)'"
        " EXEC sp_executesql @s, N'@v nvarchar(20)', @v"
        " SET @s = N'INSERT INTO ' + QUOTENAME(@t) + N' SELECT @v + N''2'' '"
        " EXEC sp_executesql @s, N'@v nvarchar(20)', @v"
        "\nGO\nCREATE TABLE [My Log] (id int IDENTITY, [What Now] nvarchar(20),"
        " twice AS [What Now] + [What Now])"
        "\nGO\nCREATE TABLE Plain (a nvarchar(20))"
        "\nGO\nEXEC keep 'My Log', N'x' EXEC keep 'Plain', N'y'"
        "\nGO\nSELECT id, [What Now], twice FROM [My Log] ORDER BY id SELECT * FROM Plain ORDER BY a"
    )
    assert first.results == [[["1", "x", "xx"], ["2", "x2", "x2x2"]], [["y"], ["y2"]]]
    first.run("EXEC keep 'Missing', N'z'")
    assert {error.number for error in first.errors} == {208}
    first.close()


def test_a_table_that_psql_made(database: Database, connect: Callable[[str], Connection]) -> None:
    connect(database.dsn).execute(
        "CREATE SCHEMA IF NOT EXISTS dbo; CREATE TABLE dbo.plain (a integer, b varchar(3))"
    )
    tsql = Tsql(database.dsn)
    tsql.run_well("INSERT plain VALUES (1, 'x') SELECT b + CAST(a AS varchar(5)) FROM plain")
    assert tsql.results == [[["x1"]]]
    tsql.close()


def test_what_belongs_to_an_extension_is_no_object(
    database: Database, connect: Callable[[str], Connection]
) -> None:
    connect(database.dsn).execute(
        "CREATE EXTENSION pg_buffercache SCHEMA public;"
        " CREATE FUNCTION public.own() RETURNS int LANGUAGE sql RETURN 1"
    )
    tsql = Tsql(database.dsn)
    tsql.run_well("SELECT name FROM sys.objects WHERE schema_id = SCHEMA_ID('public') ORDER BY name")
    assert tsql.results == [[["own"]]]
    tsql.close()


def test_a_table_with_capitals_in_its_name_is_pointed_out(
    database: Database, connect: Callable[[str], Connection]
) -> None:
    sql = connect(database.dsn)
    sql.execute('CREATE SCHEMA IF NOT EXISTS dbo; CREATE TABLE dbo."OrderLines" ("Id" integer)')
    tsql = Tsql(database.dsn)
    tsql.run("SELECT * FROM dbo.OrderLines")
    (error,) = tsql.errors
    rename = 'ALTER TABLE dbo."OrderLines" RENAME TO orderlines'
    assert error.number == 208 and error.hint is not None and rename in error.hint
    sql.execute(f'{rename}; ALTER TABLE dbo.orderlines RENAME "Id" TO id'.encode())
    tsql.run_well("SELECT Id FROM dbo.OrderLines")
    tsql.run("SELECT * FROM dbo.OrderLine")
    assert [error.hint for error in tsql.errors] == [None]
    tsql.close()


_OF_SERIAL = """
INSERT made VALUES ('a', 1)
SELECT SCOPE_IDENTITY(), @@IDENTITY, IDENT_CURRENT('made')
INSERT made SELECT 'b', 2
GO
SET IDENTITY_INSERT made ON
INSERT made (id, what) VALUES (100, 'c')
SET IDENTITY_INSERT made OFF
GO
CREATE PROCEDURE adds AS INSERT made (what) VALUES ('d') RETURN SCOPE_IDENTITY()
GO
DECLARE @id int
EXEC @id = adds
SELECT @id, COLUMNPROPERTY(OBJECT_ID('made'), 'id', 'IsIdentity'), COUNT(*) FROM sys.identity_columns
DBCC CHECKIDENT (made, RESEED, 500) WITH NO_INFOMSGS
INSERT made OUTPUT inserted.id VALUES ('e', 3)
"""


def test_a_serial_column_is_an_identity_column(
    database: Database, connect: Callable[[str], Connection]
) -> None:
    connect(database.dsn).execute(
        "CREATE SCHEMA IF NOT EXISTS dbo; CREATE TABLE dbo.made (id serial, what text, n integer);"
        "CREATE TABLE dbo.by_default (id integer GENERATED BY DEFAULT AS IDENTITY, what text);"
        "CREATE SEQUENCE dbo.used;"
        "CREATE TABLE dbo.other (a integer DEFAULT nextval('dbo.used'), b integer DEFAULT 1)"
    )
    tsql = Tsql(database.dsn)
    tsql.run_well(_OF_SERIAL)
    assert tsql.results == [[["1", "1", "1"]], [["101", "1", "2"]], [["501"]]]
    tsql.run_well(
        "ALTER TABLE made ALTER COLUMN id bigint\nALTER TABLE by_default ALTER COLUMN id bigint\n"
        "SELECT COUNT(*) FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('made')"
    )
    assert tsql.results == [[["0"]]]
    tsql.run_well("INSERT other VALUES (5, 6) SELECT a, b FROM other")
    assert tsql.results == [[["5", "6"]]]
    for text in (
        "INSERT made (id, what) VALUES (7, 'f')",
        "DECLARE @id int = 7 INSERT by_default (what, id) VALUES ('f', @id)",
        "INSERT made (id, what) EXEC ('SELECT 7, NULL')",
        "MERGE made USING (SELECT 7) s (id) ON s.id = made.id WHEN NOT MATCHED THEN INSERT (id) VALUES (7);",
        "UPDATE by_default SET id = 7",
    ):
        tsql.run(f"{text}\nGO\nSELECT COUNT(*) FROM made WHERE id = 7")
        assert [error.number for error in tsql.errors] == [8102 if text.startswith("UPDATE") else 544], text
        assert tsql.results[-1] == [["0"]]
    tsql.close()


def test_what_is_wrong_with_a_value_for_another_tools_table(
    database: Database, connect: Callable[[str], Connection]
) -> None:
    connect(database.dsn).execute(
        "CREATE SCHEMA IF NOT EXISTS dbo; CREATE TYPE dbo.mood AS ENUM ('glad');"
        "CREATE DOMAIN dbo.above AS integer CHECK (VALUE > 0);"
        "CREATE TABLE dbo.odd (m dbo.mood, a dbo.above, r int4range, j jsonb);"
        "CREATE TABLE dbo.parts (id integer) PARTITION BY RANGE (id);"
        "CREATE TABLE dbo.low PARTITION OF dbo.parts FOR VALUES FROM (0) TO (10)"
    )
    tsql = Tsql(database.dsn)
    tsql.run_well("DECLARE @m varchar(9) = 'glad' INSERT odd (m) VALUES (CAST(@m AS dbo.mood))")
    for text, number, said in (
        ("INSERT parts VALUES (50)", 547, '"PARTITION BY RANGE (id)"'),
        ("INSERT parts VALUES (50)", 547, 'table "dbo.parts". No partition takes (id) = (50).'),
        ("INSERT low VALUES (50)", 547, '"FOR VALUES FROM (0) TO (10)"'),
        ("INSERT odd (a) VALUES (0)", 547, 'type "dbo.above"'),
        ("INSERT odd (m) VALUES ('bad')", 245, "'bad' to data type mood."),
        ("INSERT odd (r) VALUES ('bad')", 245, "'bad' to data type range."),
        ("INSERT odd (j) VALUES ('bad')", 245, "'bad' to data type json."),
    ):
        tsql.run(text)
        (error,) = tsql.errors
        assert error.number == number and said in str(error), (text, error)
    tsql.close()


_OF_BOOLEANS = """
INSERT flags VALUES (1, 1), (2, 0), (3, NULL) INSERT flags (id, is_on) SELECT id + 3, is_on FROM flags
GO
DECLARE @b bit = 1, @was bit
UPDATE flags SET @was = is_on = 0 WHERE id = 1 AND is_on = @b
UPDATE flags SET is_on = ~is_on OUTPUT deleted.is_on, inserted.is_on WHERE id = 2
SELECT @was, @b FROM (SELECT * FROM flags WHERE is_on <> 0) AS f WHERE f.is_on = @b AND f.id = 2
SELECT is_on, COUNT(*) FROM flags GROUP BY is_on ORDER BY is_on
SELECT is_on & 1, is_on + 1, ISNULL(is_on, 0), CONVERT(varchar(5), is_on) FROM flags WHERE id = 2
MERGE flags AS t USING (SELECT 2 AS id, CAST(0 AS bit) AS f UNION SELECT 9, 1) AS s ON t.id = s.id
WHEN MATCHED AND t.is_on = 1 THEN UPDATE SET is_on = s.f
WHEN NOT MATCHED THEN INSERT (id, is_on) VALUES (s.id, s.f);
DECLARE c CURSOR FOR SELECT is_on FROM flags WHERE id = 9
OPEN c FETCH NEXT FROM c INTO @was CLOSE c DEALLOCATE c
SELECT @was, dbo.both(@was, 1)
GO
CREATE TABLE kept (f bit) CREATE TABLE seen (f bit)
GO
CREATE TRIGGER noted ON flags AFTER DELETE AS INSERT seen SELECT is_on FROM deleted WHERE is_on = 1
GO
INSERT kept SELECT f.is_on FROM flags AS f JOIN flags AS g ON f.is_on = g.is_on AND g.id = 9
INSERT flags (id, is_on) SELECT 20, f FROM kept GROUP BY f
DELETE flags WHERE is_on IN (1)
SELECT (SELECT COUNT(*) FROM kept), (SELECT COUNT(*) FROM seen WHERE f = 1)
"""


def test_a_boolean_of_a_table_that_another_tool_made_is_a_bit(
    database: Database, connect: Callable[[str], Connection]
) -> None:
    connect(database.dsn).execute(
        "CREATE SCHEMA IF NOT EXISTS dbo; CREATE TABLE dbo.flags (id integer, is_on boolean);"
        "CREATE FUNCTION dbo.both(a boolean, b boolean) RETURNS boolean LANGUAGE sql AS 'SELECT a AND b'"
    )
    tsql = Tsql(database.dsn)
    tsql.run_well(_OF_BOOLEANS)
    assert tsql.results == [
        *([["0", "1"]], [["0", "1"]]),
        [[None, "2"], ["0", "2"], ["1", "2"]],
        *([["1", "2", "1", "1"]], [["1", "1"]], [["2", "3"]]),
    ]
    tsql.close()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("integer", tm.INT),
        ("boolean", tm.BIT_KEPT_AS_BOOLEAN),
        ("character varying(20)", tm.varchar(20)),
        ("numeric(19,4)", tm.decimal(19, 4)),
        ("numeric(5)", tm.decimal(5, 0)),
        ("character(2)", SqlType("char", length=2)),
        ("timestamp(3) without time zone", tm.DATETIME),
        ("timestamp(6) without time zone", tm.DATETIME2),
        ("timestamp(6) with time zone", tm.DATETIMEOFFSET),
        ("time(0) without time zone", SqlType("time", scale=0)),
        ('sys."bit"', tm.BIT),
        ("point", None),
    ],
)
def test_types(written: str, expected: SqlType | None) -> None:
    assert type_of(written, national=False) == expected


def test_types_where_nvarchar_has_its_own_bytes() -> None:
    assert type_of("character varying(20)", national=True) == tm.nvarchar(20)
    assert type_of("character(2)", national=True) == SqlType("nchar", length=2)


def test_types_of_an_earlier_script(database: Database) -> None:
    first = Tsql(database.dsn)
    first.run_well(
        "CREATE TYPE phone FROM varchar(5) NOT NULL"
        "\nCREATE TYPE dbo.lines AS TABLE (id int PRIMARY KEY, note nvarchar(20) DEFAULT N'-',"
        " CHECK (id > 0))"
        "\nGO\nCREATE PROCEDURE total @rows dbo.lines READONLY, @n int OUTPUT"
        " AS SELECT @n = SUM(id) FROM @rows"
    )
    first.close()
    later = Tsql(database.dsn)
    later.run_well(
        "IF TYPE_ID(N'dbo.lines') IS NULL CREATE TYPE dbo.lines AS TABLE (other int)"
        "\nDECLARE @r lines, @p phone = 'more than five', @n int"
        "\nINSERT @r (id) VALUES (2), (3)"
        "\nINSERT @r VALUES (4, N'it''s, \"quoted\"')"
        "\nEXEC total @r, @n OUTPUT"
        "\nSELECT @n, @p, note FROM @r WHERE id <> 3"
        "\nCREATE TABLE Calls (who phone, whom phone NULL)"
        "\nSELECT name, is_table_type, is_nullable FROM sys.types WHERE is_user_defined = 1 ORDER BY name"
    )
    assert later.results == [
        [["9", "more ", "-"], ["9", "more ", 'it\'s, "quoted"']],
        [["lines", "1", "0"], ["phone", "0", "0"]],
    ]
    shown = later.run("INSERT Calls VALUES (NULL, NULL)\nGO\nDECLARE @r lines INSERT @r (id) VALUES (2), (2)")
    assert "Cannot insert the value NULL into column 'who'" in shown
    assert "Msg 2627" in shown
    later.close()


def test_a_synonym_is_no_view(database: Database) -> None:
    tsql = Tsql(database.dsn)
    tsql.run_well(
        "CREATE TABLE T (a int)\nGO\nCREATE VIEW V AS SELECT a FROM T\nGO\nCREATE SYNONYM S FOR dbo.T"
        "\nSELECT name FROM sys.views"
        "\nSELECT name, type, base_object_name FROM sys.synonyms"
    )
    assert tsql.results == [[["V"]], [["S", "SN", "[dbo].[T]"]]]
    # Nor does it stand for a queue, whoever asks.
    tsql.run_well("CREATE QUEUE Q\nCREATE SYNONYM SQ FOR dbo.Q")
    tsql.close()
    later = Tsql(database.dsn)
    later.run("SELECT q.status FROM T JOIN SQ AS q ON q.priority = T.a")
    assert [error.number for error in later.errors] == [4135]
    later.close()
    with psycopg.connect(database.dsn) as connection, refused(4135):
        connection.execute("SELECT * FROM dbo.sq")


def test_global_temporary_tables(database: Database) -> None:
    tsql = Tsql(database.dsn)
    tsql.run_well(
        "SELECT 1 AS a INTO ##g\nINSERT tempdb..##g VALUES (2)\nSELECT a FROM ##g ORDER BY a\nDROP TABLE ##g"
    )
    assert tsql.results == [[["1"], ["2"]]]
    tsql.run_well("CREATE TABLE ##g (a int)\nDROP TABLE IF EXISTS ##g\nCREATE TABLE ##g (a int)")
    another = Tsql(database.dsn)
    another.run("CREATE TABLE ##g (b int)")
    assert [error.number for error in another.errors] == [2714]
    tsql.close()
    holds = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1397965392"
    while another.connection.execute(holds).fetchone() != (0,):
        pass
    for _ in "12":
        another.run("SELECT 1 AS b INTO ##g")
    assert [error.number for error in another.errors] == [2714]
    another.close()


def test_a_row_outside_of_a_view_with_check_option(database: Database) -> None:
    tsql = Tsql(database.dsn)
    tsql.run_well(
        "CREATE TABLE T (a int)\nGO\nCREATE VIEW V AS SELECT a FROM T WHERE a > 5 WITH CHECK OPTION"
    )
    assert "Msg 550, Level 16, State 1" in tsql.run("INSERT V VALUES (1)")
    tsql.close()


def test_hidden_columns_of_a_system_versioned_table_stay_hidden(database: Database) -> None:
    first = Tsql(database.dsn)
    first.run_well(
        "CREATE TABLE dbo.Price (id int PRIMARY KEY, amount int,"
        " f datetime2 GENERATED ALWAYS AS ROW START HIDDEN, u datetime2 GENERATED ALWAYS AS ROW END,"
        " PERIOD FOR SYSTEM_TIME (f, u)) WITH (SYSTEM_VERSIONING = ON)"
    )
    first.close()
    later = Tsql(database.dsn)
    later.run_well(
        "INSERT dbo.Price VALUES (1, 5, DEFAULT) UPDATE dbo.Price SET amount = 6"
        "\nGO\nALTER TABLE dbo.Price ADD note varchar(5)"
        "\nGO\nSELECT * FROM dbo.Price"
        "\nGO\nSELECT id, amount, note FROM dbo.Price FOR SYSTEM_TIME ALL ORDER BY amount"
    )
    now, versions = later.results
    assert now == [["1", "6", "9999-12-31 23:59:59.999999", None]]
    assert versions == [["1", "5", None], ["1", "6", None]]
    later.run("UPDATE dbo.Price SET f = '2026-01-01'")
    assert [error.number for error in later.errors] == [13537]
    later.close()


def test_a_table_made_while_the_tables_are_read_is_no_error(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Tsql(database.dsn)
    first.run_well(
        "CREATE TABLE Price (id int PRIMARY KEY, a datetime2 GENERATED ALWAYS AS ROW START, "
        "b datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (a, b))"
    )
    first.close()
    # As if another session had made it just after the query of the tables, before that of their periods.
    monkeypatch.setattr(learn, "_TABLES", f"SELECT * FROM ({learn._TABLES}) AS t WHERE false")
    later = Tsql(database.dsn)
    later.run_well("SELECT 1 AS one")
    later.close()


def test_a_table_whose_maker_ends_after_another_is_learned(
    database: Database, connect: Callable[[str], Connection]
) -> None:
    running, slow, quick = Tsql(database.dsn), connect(database.dsn), connect(database.dsn)
    running.run_well("CREATE PROCEDURE dbo.looks AS RETURN 0")
    with slow.transaction():
        slow.execute("CREATE TABLE dbo.slow (a int GENERATED ALWAYS AS IDENTITY, b int)")
        quick.execute("CREATE TABLE dbo.quick (a int GENERATED ALWAYS AS IDENTITY, b int)")
        running.run_well("EXEC dbo.looks\nGO\nINSERT dbo.quick VALUES (7)")
    running.run_well("EXEC dbo.looks\nGO\nINSERT dbo.slow VALUES (8)\nGO\nSELECT b FROM dbo.slow")
    assert running.results[-1] == [["8"]]
    running.close()


def test_rows_of_functions_are_described_where_there_are_some_and_nowhere_else(
    tsql: Tsql, monkeypatch: pytest.MonkeyPatch
) -> None:
    tsql.run_well("CREATE FUNCTION dbo.one (@n int) RETURNS int AS BEGIN RETURN @n END")
    monkeypatch.setattr(learn, "_ROWS_OF_FUNCTIONS", "SELECT FROM no_such_table")
    learn.learn_tables(tsql.connection, Catalog())
    for argument in ("int", "text"):  # of a name that two have no call is known
        returns = "RETURNS TABLE (n int) LANGUAGE sql AS 'SELECT 1'"
        tsql.connection.execute(f"CREATE FUNCTION dbo.two ({argument}) {returns}".encode())
    with pytest.raises(psycopg.errors.UndefinedTable):
        learn.learn_tables(tsql.connection, Catalog())
    monkeypatch.undo()
    known = Catalog()
    learn.learn_tables(tsql.connection, known)
    assert list(known.functions) == [("dbo", "one")]

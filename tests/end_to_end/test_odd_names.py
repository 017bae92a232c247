"""Whatever things are called: with dots, quotes and blanks, of 63 bytes, as PostgreSQL spells nothing."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from end_to_end.tsql import Tsql
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgsb.runtime_sql.installer import install
from support import Connection, Database, rest_is_long

NAMES = ["plain", '[a.b"c,d]', "[100%_x]", "l" * 57, "m" * 63, "[" + "n.ä" * 42 + "]"]
# A name that wants quotes, the longest of PostgreSQL's, and one that is longer.
_ODDEST = (NAMES[1], NAMES[4], NAMES[5])
COLUMNS = ("o" * 60 + "1", "o" * 60 + "2")


@pytest.mark.parametrize("name", rest_is_long(NAMES, *_ODDEST))
def test_a_trigger_of_three_events_is_one(tsql: Tsql, name: str) -> None:
    tsql.run_well(f"CREATE TABLE t (id int, {COLUMNS[0]} int, {COLUMNS[1]} int)")
    asked = "".join(f" IF UPDATE({column}) PRINT '{column[-1]}'" for column in COLUMNS)
    tsql.run_well(
        f"CREATE TRIGGER {name} ON t AFTER INSERT, UPDATE, DELETE AS PRINT 'fired'{asked}"
        " IF EXISTS (SELECT * FROM inserted WHERE id = 7) UPDATE t SET id = 8"
    )
    changes = f"\nINSERT t VALUES (1, 1, 1)\nUPDATE t SET {COLUMNS[1]} = 2\nUPDATE t SET id = 7\nDELETE t"
    tsql.run_well(changes)
    assert tsql.prints == ["fired", "1", "2", "fired", "2", "fired", "fired"]
    of_table = "FROM sys.triggers AS t WHERE t.parent_id = object_id('t')"
    tsql.run_well(
        f"SELECT name {of_table}\nSELECT e.type FROM sys.trigger_events AS e"
        f" WHERE e.object_id IN (SELECT t.object_id {of_table}) ORDER BY 1"
    )
    assert tsql.results == [[[name.strip("[]")]], [["1"], ["2"], ["3"]]]
    tsql.run_well(f"DISABLE TRIGGER {name} ON t{changes}")
    assert tsql.prints == []
    tsql.run_well(f"ENABLE TRIGGER {name} ON t{changes}")
    assert len(tsql.prints) == 7
    tsql.run_well(f"ALTER TRIGGER {name} ON t AFTER DELETE AS PRINT 'gone'\nGO{changes}")
    assert tsql.prints == ["gone"]
    tsql.run_well(f"DROP TRIGGER {name}{changes}")
    assert tsql.prints == []


@pytest.mark.parametrize("name", rest_is_long(NAMES, *_ODDEST))
def test_an_instead_of_trigger_changes_its_own_table(tsql: Tsql, name: str) -> None:
    tsql.run_well("CREATE TABLE t (id int)")
    create = f"CREATE TRIGGER {name} ON t INSTEAD OF INSERT, UPDATE AS DELETE t"
    tsql.run_well(
        f"{create} INSERT t SELECT id + 1 FROM inserted\nGO\nINSERT t VALUES (1), (2)\nUPDATE t SET id = 5"
    )
    events = (
        "SELECT e.type, t.is_instead_of_trigger"
        " FROM sys.trigger_events AS e JOIN sys.triggers AS t ON t.object_id = e.object_id"
    )
    tsql.run_well(f"SELECT id FROM t\n{events} WHERE t.parent_id = object_id('t') ORDER BY 1")
    assert tsql.results == [[["6"], ["6"]], [["1", "1"], ["2", "1"]]]
    tsql.run_well(f"DROP TRIGGER {name}\nDELETE t\nINSERT t VALUES (1)\nSELECT id FROM t")
    assert tsql.results == [[["1"]]]


@pytest.mark.parametrize("name", rest_is_long(NAMES, *_ODDEST))
def test_table_variables_and_functions_of_tables(tsql: Tsql, name: str) -> None:
    variables = (
        "DECLARE @t TABLE (a int) DECLARE @u TABLE (a varchar(9)) INSERT @t VALUES (1) INSERT @u VALUES ('x')"
    )
    for verb in ("CREATE", "ALTER"):
        tsql.run_well(
            f"{verb} PROCEDURE {name} AS {variables} SELECT t.a, u.a FROM @t AS t, @u AS u\nGO\nEXEC {name}"
        )
        assert tsql.results == [[["1", "x"]]]
    tsql.run_well(f"DROP PROCEDURE {name}")
    for text in (
        "@r TABLE (a int) AS BEGIN INSERT @r VALUES (@a) RETURN END",
        "TABLE AS RETURN SELECT @a AS a",
    ):
        tsql.run_well(f"CREATE FUNCTION {name} (@a int) RETURNS {text}\nGO\nSELECT a FROM dbo.{name}(4)")
        assert tsql.results == [[["4"]]]
        tsql.run_well(f"DROP FUNCTION {name}")


def test_a_name_is_not_the_beginning_of_anothers_parts(tsql: Tsql) -> None:
    """Of names that differ behind the cut, and of those that hold what LIKE means otherwise."""
    names = ["m" * 63 + "1", "m" * 63 + "2", "[%]", "[a_]", "[ab]"]
    for number, name in enumerate(names):
        tsql.run_well(
            f"CREATE TABLE t{number} (id int)\nGO\nCREATE TRIGGER {name} ON t{number}"
            f" AFTER INSERT, UPDATE AS PRINT '{number}'"
        )
    changes = "".join(f"\nUPDATE t{number} SET id = 1" for number in range(len(names)))
    for number, name in enumerate(names):
        tsql.run_well(f"DROP TRIGGER {name}{changes}")
        assert tsql.prints == [str(other) for other in range(number + 1, len(names))]


def test_a_trigger_that_is_not_there_cannot_be_switched(tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE t (id int)\nGO\nCREATE TRIGGER tr ON t AFTER INSERT AS PRINT 'fired'")
    for text, number in (
        ("DISABLE TRIGGER tr, missing ON t", 1088),
        ("ALTER TABLE t DISABLE TRIGGER missing", 4920),
    ):
        tsql.run(text)
        assert [error.number for error in tsql.errors] == [number]
    tsql.run_well("INSERT t VALUES (1)")
    assert tsql.prints == ["fired"]


@pytest.mark.parametrize("name", ["a#b", "a@b", "#x", "$y", "1a", "é", "select", "session", "v" * 100])
def test_variables_parameters_and_cursors(tsql: Tsql, name: str) -> None:
    """What is made of a name for a variable of ours is one, too."""
    tsql.run_well(
        f"CREATE PROCEDURE p @{name} int = 3 OUTPUT, @{name}2 varchar(10) = 'z' OUTPUT AS\n"
        f"DECLARE @{name}3 int\n"
        f"DECLARE [{name}] CURSOR LOCAL FOR SELECT @{name} + 1\n"
        f"OPEN [{name}]\nFETCH [{name}] INTO @{name}3\nSET @{name} = @{name}3\n"
        f"EXEC sp_executesql N'SET @{name} *= 10', N'@{name} int OUTPUT', @{name} OUTPUT\n"
    )
    tsql.run_well(
        f"DECLARE @{name} bigint = 5, @{name}2 varchar(20) = 'r'\n"
        f"EXEC p @{name} OUTPUT, @{name}2 = @{name}2 OUTPUT\nSELECT @{name}, @{name}2"
    )
    assert tsql.results == [[["60", "r"]]]


def test_where_current_of_a_table_with_an_odd_key(tsql: Tsql) -> None:
    tsql.run_well(
        'CREATE TABLE [t.x"] ([the key] int, [a"b] int, n int, PRIMARY KEY ([the key], [a"b]))'
        '\nINSERT [t.x"] VALUES (1, 1, 1), (1, 2, 1)'
        '\nGO\nDECLARE c CURSOR FOR SELECT n FROM [t.x"] WHERE [a"b] > 1 FOR UPDATE'
        '\nOPEN c\nFETCH c\nUPDATE [t.x"] SET n = 5 WHERE CURRENT OF c'
    )
    tsql.run_well('SELECT n FROM [t.x"] ORDER BY [a"b]')
    assert tsql.results == [[["1"], ["5"]]]


def test_errors_name_columns_with_blanks(tsql: Tsql) -> None:
    tsql.run_well(
        "CREATE TABLE [Order Details] (id int, [the sum] AS id + 1, [no 1] int)"
        "\nGO\nCREATE VIEW v WITH SCHEMABINDING AS SELECT [no 1] FROM dbo.[Order Details]"
    )
    tsql.run("SELECT [o d].[no 2] FROM (SELECT * FROM [Order Details]) AS [o d]")
    assert [error.message for error in tsql.errors] == ["Invalid column name 'no 2'."]
    tsql.run("ALTER TABLE [Order Details] DROP COLUMN [no 1]")
    assert [error.message for error in tsql.errors] == [
        "The object 'v' is dependent on column 'no 1'.",
        "ALTER TABLE DROP COLUMN no 1 failed because one or more objects access this column.",
    ]


@pytest.mark.parametrize(
    "name", ["found", "diagnostics", "stacked", "use_column", "variable_conflict", "others", "next", "query"]
)
def test_a_variable_is_named_as_what_generated_code_reads(tsql: Tsql, name: str) -> None:
    body = (
        f"SET @{name} += 1\nBEGIN TRY SELECT 1 / 0 END TRY BEGIN CATCH PRINT @{name} END CATCH\n"
        f"DECLARE @t TABLE (id int) INSERT @t VALUES (@{name}), (4)\nPRINT @@ROWCOUNT\n"
    )
    tsql.run_well(
        f"CREATE PROCEDURE p @{name} int AS {body}\nGO\n"
        f"CREATE FUNCTION f (@{name} int) RETURNS int AS\n"
        f"BEGIN IF @{name} > 0 SET @{name} += 1 RETURN @{name} END\nGO\n"
        f"DECLARE @{name} int = 6\n{body}\nEXEC p @{name} = 2\nPRINT dbo.f(@{name})"
    )
    assert tsql.prints == ["7", "2", "3", "2", "8"]


def test_what_is_said_of_parameters_indexes_and_odd_tables_is_kept_apart(tsql: Tsql) -> None:
    """sp_addextendedproperty."""
    tsql.run_well(
        "CREATE TABLE [a]]b] (x int NOT NULL PRIMARY KEY, y int)\nCREATE INDEX first ON [a]]b] (x)\n"
        "CREATE INDEX second ON [a]]b] (y)\nGO\nCREATE PROCEDURE p @one int, @two int AS RETURN"
    )
    add = "EXEC sp_addextendedproperty 'says', {}, 'SCHEMA', 'dbo', {}\n"
    table, procedure = "'TABLE', 'a]b'", "'PROCEDURE', 'p'"
    tsql.run_well(
        add.format("'table'", table)
        + add.format("'y'", f"{table}, 'COLUMN', 'y'")
        + add.format("'second'", f"{table}, 'INDEX', 'second'")
        + add.format("'@one'", f"{procedure}, 'PARAMETER', '@one'")
        + add.format("'@two'", f"{procedure}, 'PARAMETER', '@two'")
        + "DROP INDEX first ON [a]]b]\nGO\nALTER PROCEDURE p @one int, @two int, @three int = 3 AS RETURN"
    )
    asked = "FROM fn_listextendedproperty('says', 'SCHEMA', 'dbo', {}, {}, NULL)"
    listed = ((procedure, "'PARAMETER'"), (table, "'INDEX'"))
    tsql.run_well(
        "SELECT class_desc, object_name(major_id), minor_id, value FROM sys.extended_properties ORDER BY 4\n"
        + "".join(f"SELECT objname, value {asked.format(*one)}\n" for one in listed)
    )
    assert tsql.results == [
        [
            ["PARAMETER", "p", "1", "@one"],
            ["PARAMETER", "p", "2", "@two"],
            ["INDEX", "a]b", "2", "second"],
            ["OBJECT_OR_COLUMN", "a]b", "0", "table"],
            ["OBJECT_OR_COLUMN", "a]b", "2", "y"],
        ],
        [["@one", "@one"], ["@two", "@two"]],
        [["second", "second"]],
    ]
    for kind in ("CONSTRAINT", "INDEX", "TRIGGER", "COLUMN"):
        tsql.run(add.format("'nobody'", f"{table}, '{kind}', 'nobody'"))
        assert [error.number for error in tsql.errors] == [15135], kind


def test_a_synonym_is_shown_with_the_brackets_of_its_names(tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE [a]]b] (x int)\nCREATE SYNONYM other FOR [a]]b]")
    assert tsql.scalar("SELECT base_object_name FROM sys.synonyms") == "[dbo].[a]]b]"


def test_a_column_of_an_alias_type_shows_what_it_is_made_of(tsql: Tsql) -> None:
    tsql.run_well("CREATE TYPE phone FROM nvarchar(20)\nGO\nCREATE TABLE t (p phone)")
    tsql.run_well("SELECT DATA_TYPE, CHARACTER_MAXIMUM_LENGTH FROM INFORMATION_SCHEMA.COLUMNS")
    assert tsql.results == [[["nvarchar", "20"]]]


CAPITALS = """
CREATE TABLE dbo.[İşlem IDs] (ID int IDENTITY, [İ] int, I int, Info nvarchar(9) CHECK (Info <> 'x'))
CREATE QUEUE dbo.IslemQ CREATE SERVICE IslemS ON QUEUE dbo.ISLEMQ
GO
CREATE PROCEDURE dbo.[İşle] @ID int AS SELECT [İ], i, INFO FROM dbo.[İŞLEM ids] WHERE id = @id
GO
SET IDENTITY_INSERT dbo.[İşlem IDS] ON
INSERT dbo.[İşlem ids] (id, [İ], I, info) VALUES (5, 6, 7, 'y')
SET IDENTITY_INSERT dbo.[İşlem IDS] OFF
DECLARE @p sysname = N'dbo.[İşle]' EXEC @p 5
EXEC ('EXEC dbo.İŞLE @id = 5')
SELECT OBJECT_ID('DBO.[İŞLEM IDS]') - OBJECT_ID('dbo.[İşlem ids]'), COL_LENGTH('dbo.[İşlem ids]', 'İ')
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.[İşlem IDs]') ORDER BY column_id
ALTER QUEUE dbo.ISLEMQ WITH STATUS = OFF
"""


def _holds_capitals(tsql: Tsql) -> None:
    tsql.run_well(CAPITALS)
    row = ["6", "7", "y"]
    assert tsql.results == [[row], [row], [["0", "4"]], [["ID"], ["İ"], ["I"], ["Info"]]]


def test_an_i_has_a_dot_or_none(tsql: Tsql) -> None:
    _holds_capitals(tsql)


@pytest.fixture
def turkish(postgres: str, admin: Connection) -> Iterator[Tsql]:
    """A session on a database whose LOWER makes another letter of I."""
    try:
        admin.execute("CREATE DATABASE test_turkish TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'tr'")
    except psycopg.DatabaseError:
        pytest.skip("this PostgreSQL has no ICU, or knows no databases with it")
    dsn = postgres.replace("/postgres?", "/test_turkish?")
    with psycopg.connect(dsn, autocommit=True) as connection:
        install(connection)
    session = Tsql(dsn)
    yield session
    session.close()
    admin.execute("DROP DATABASE test_turkish WITH (FORCE)")


def test_a_turkish_database_finds_names(turkish: Tsql) -> None:
    _holds_capitals(turkish)
    turkish.run_well("SELECT LOWER('I')")
    assert turkish.results == [[["ı"]]]


def test_a_turkish_database_finds_what_has_an_i_in_its_name(turkish: Tsql) -> None:
    turkish.run_well(
        "CREATE DATABASE INVENTORY\nGO\nUSE INVENTORY\nGO\nCREATE QUEUE Inq\n"
        "CREATE TABLE Items (Id int)\nCREATE INDEX IX_Items ON Items (Id)\nGO\nUSE inventory\nGO\n"
        "SELECT COUNT(*) FROM INQ\nSELECT name FROM sys.databases WHERE name = 'INVENTORY'\n"
        "SELECT name FROM sys.indexes WHERE name = 'IX_Items'\n"
        "EXEC sp_addextendedproperty 'd', 'x', 'schema', 'dbo', 'table', 'ITEMS', 'column', 'ID'\n"
        "SELECT objname FROM fn_listextendedproperty(NULL, 'schema', 'dbo', 'table', 'Items', 'column', NULL)"
    )
    assert turkish.results == [[["0"]], [["INVENTORY"]], [["IX_Items"]], [["Id"]]]


def test_a_turkish_database_knows_the_words_of_the_system(turkish: Tsql) -> None:
    turkish.run_well(
        "CREATE TABLE t (id int identity) CREATE MESSAGE TYPE m VALIDATION = none\n"
        "CREATE CONTRACT c (m SENT BY initiator) CREATE ROUTE r WITH ADDRESS = 'transport'\n"
        "GRANT insert ON t TO public\n"
        "SELECT COLUMNPROPERTY(OBJECT_ID('t'), 'ID', 'ISIDENTITY'), DATENAME(MINUTE, '20:30'),"
        " SCHEMA_ID('INFORMATION_SCHEMA'), DATABASEPROPERTYEX(DB_NAME(), 'updateabilıty'),"
        " (SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 't')"
    )
    assert turkish.results == [[["1", "30", "3", None, "1"]]]
    turkish.run_well(
        "DECLARE @ID int = 5, @x xml\n"
        'SET @x = CAST(\'<?xml version="1.0" encoding="ISO-8859-1"?><a/>\' AS varbinary(99))\n'
        "SELECT @x.value('sql:variable(\"@ID\")', 'int')"
    )
    assert turkish.results == [[["5"]]]
    turkish.run_well("SELECT CAST('APRIL 1 2024' AS date), SOUNDEX('Smith')")
    assert turkish.results == [[["2024-04-01", "S530"]]]
    turkish.run("DROP TRIGGER nothing")
    assert turkish.errors[0].message.startswith("Cannot drop the trigger 'nothing'")
    # The order of names in an error is the same everywhere.
    choice = '<s:choice><s:element name="a"/><s:element name="B"/></s:choice>'
    schema = f'<s:element name="r"><s:complexType>{choice}</s:complexType></s:element>'
    schema = f'<s:schema xmlns:s="http://www.w3.org/2001/XMLSchema">{schema}</s:schema>'
    turkish.run(f"CREATE XML SCHEMA COLLECTION c AS N'{schema}'\nGO\nDECLARE @x xml(c) = N'<r/>'")
    assert "'B','a'" in turkish.errors[0].message


def test_names_too_long_for_postgresql_are_shown_whole(tsql: Tsql) -> None:
    long = "n" * 100
    tsql.run_well(f"""
        CREATE QUEUE {long}
        CREATE TABLE t (a int, b int)
        CREATE INDEX {long} ON t (a)
        CREATE INDEX {long}2 ON t (b)
    """)
    names = (
        "SELECT name FROM sys.service_queues WHERE is_ms_shipped = 0 "
        "SELECT name FROM sys.indexes WHERE name LIKE 'n%' ORDER BY name"
    )
    tsql.run_well(names)
    assert tsql.results == [[[long]], [[long], [f"{long}2"]]]
    tsql.run_well(f"EXEC sp_rename 't', 'of_another_name' DROP INDEX {long}2 ON of_another_name")
    tsql.run_well(f"EXEC sp_rename 'of_another_name.{long}', '{long.upper()}', 'INDEX'")
    tsql.run_well(names)
    assert tsql.results == [[[long]], [[long.upper()]]]


def test_a_new_name_may_be_another_spelling_of_the_old(tsql: Tsql) -> None:
    tsql.run_well("CREATE TABLE t (a int CONSTRAINT ck CHECK (a > 0)) CREATE INDEX ix ON t (a)")
    tsql.run_well(
        "EXEC sp_rename 't', 'T' EXEC sp_rename 'T.a', 'A', 'COLUMN' EXEC sp_rename 'T.ix', 'Ix', 'INDEX'"
        " EXEC sp_rename 'ck', 'Ck'"
    )
    tsql.run_well(
        "SELECT name FROM sys.objects WHERE is_ms_shipped = 0 ORDER BY name DESC"
        " SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('t')"
        " SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('t') AND name IS NOT NULL"
    )
    assert tsql.results == [[["T"], ["Ck"]], [["A"]], [["Ix"]]]


@pytest.mark.long
@pytest.mark.parametrize("name", rest_is_long(["Ann", "ann@shop.example", 'a "b" 100%'], 'a "b" 100%'))
def test_a_role_may_be_called_as_its_account(
    empty_database: Database, connect: Callable[..., Connection], name: str
) -> None:
    """Services that log in people name roles by their addresses."""
    admin = connect(empty_database.dsn)
    role = sql.Identifier(name)
    admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
    try:
        admin.execute(
            sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(sql.Identifier(empty_database.name), role)
        )
        dsn = make_conninfo(empty_database.dsn, user=name)
        with psycopg.connect(dsn, autocommit=True) as owner:
            install(owner)
        session = Tsql(dsn)
        session.run_well(
            "CREATE PROCEDURE dbo.p @n int AS SELECT @n AS n\nGO\n"
            "CREATE PROCEDURE dbo.q AS BEGIN CREATE TABLE #u (n int); INSERT #u EXEC dbo.p 7;"
            " SELECT * FROM #u END\nGO\n"
            "DECLARE @name sysname = 'dbo.p'; EXEC @name 4; EXEC dbo.q;"
            " EXEC sp_executesql N'SELECT @a + 1', N'@a int', 8\nGO\n"
            "CREATE DATABASE shop\nGO\nALTER AUTHORIZATION ON DATABASE::shop TO dbo"
        )
        assert session.results == [[["4"]], [["7"]], [["9"]]]
        session.run("EXEC nowhere")
        assert [error.number for error in session.errors] == [2812]
        session.close()
    finally:
        admin.execute(sql.SQL("DROP OWNED BY {0} CASCADE; DROP ROLE {0}").format(role))


def test_names_with_dots_are_told_as_they_are_written(tsql: Tsql) -> None:
    tsql.run_well(
        "CREATE SCHEMA [App.v2]\nGO\nCREATE PROCEDURE asks AS SELECT 1 FROM [App.v2].[No.Such] AS n"
    )
    missing = {
        "EXEC asks": "App.v2.No.Such",
        "RECEIVE * FROM [App.v2].[In Queue]": "App.v2.In Queue",
        "EXEC ('SELECT 1 FROM [Dbo].[No.Such]')": "Dbo.No.Such",
        "SELECT 1 FROM [App.v2].NoSuch": "App.v2.NoSuch",
    }
    for statement, name in missing.items():
        tsql.run(f"BEGIN TRY EXEC asks END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH\nGO\n{statement}")
        assert tsql.prints == ["Invalid object name 'App.v2.No.Such'."]
        assert [error.message for error in tsql.errors] == [f"Invalid object name '{name}'."]


def test_what_is_in_a_schema_with_a_dot_is_renamed(tsql: Tsql) -> None:
    tsql.run_well(
        "CREATE SCHEMA [App.v2]\nGO\nCREATE TABLE [App.v2].[T.x] (a INT, [b.c] INT)\n"
        "CREATE INDEX i ON [App.v2].[T.x] (a)\n"
        "EXEC sp_rename N'[App.v2].[T.x].[b.c]', N'd', N'COLUMN'\n"
        "EXEC sp_rename N'[App.v2].[T.x].i', N'j', N'INDEX'\n"
        "EXEC sp_rename N'[App.v2].[T.x]', N'U'\nGO\n"
        "SELECT a, d FROM [App.v2].U\n"
        "SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('[App.v2].U') AND index_id > 0"
    )
    assert tsql.results == [[], [["j"]]]


NAMED_LIKE_THE_RUNTIMES = """
CREATE TABLE Message (Message_Id int IDENTITY PRIMARY KEY, Conversation_Handle int NOT NULL,
    Twice AS Conversation_Handle * 2)
CREATE TABLE Queue (Name int)
CREATE INDEX IX_Name ON Queue (Name)
GO
INSERT Message (Conversation_Handle) VALUES (NULL)
GO
EXEC ('INSERT Message (Message_Id, Conversation_Handle) VALUES (1, 2)')
GO
EXEC ('UPDATE Message SET Message_Id = 5')
GO
EXEC ('UPDATE Message SET Twice = 5')
GO
CREATE INDEX IX_Name ON Queue (Name)
GO
INSERT Message (Conversation_Handle) VALUES (7)
ALTER TABLE Message ADD Body int NOT NULL
"""


def test_tables_named_like_those_of_the_runtime_are_the_ones_that_errors_mean(tsql: Tsql) -> None:
    """ssb.message and ssb.queue are others; the schema in PostgreSQL's message is not told."""
    told = tsql.run(NAMED_LIKE_THE_RUNTIMES)
    for shown in (
        f"column 'Conversation_Handle', table '{tsql.scalar('SELECT current_database()')}.dbo.Message'",
        "for identity column in table 'Message' when",
        "Cannot update identity column 'Message_Id'.",
        'The column "Twice" cannot be modified',
        "name 'IX_Name' already exists on table 'Queue'.",
        "Column 'Body' cannot be added to non-empty table 'Message'",
    ):
        assert shown in told, told

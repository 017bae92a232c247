"""How deep procedures, functions and triggers nest: @@NESTLEVEL, error 217, recursive triggers."""

from collections.abc import Callable, Iterator

import pytest
from end_to_end.tsql import Tsql

from support import Database

SCRIPT = """
CREATE TABLE dbo.a (n int);
CREATE TABLE dbo.b (n int);
GO
CREATE PROCEDURE dbo.level AS SELECT @@NESTLEVEL;
GO
CREATE PROCEDURE dbo.levels AS
SELECT @@NESTLEVEL;
EXEC ('SELECT @@NESTLEVEL');
EXEC sp_executesql N'SELECT @@NESTLEVEL';
EXEC dbo.level;
GO
CREATE PROCEDURE dbo.endless @s int = 0 OUTPUT AS
SET @s += 1;
EXEC dbo.endless @s OUTPUT;
GO
CREATE PROCEDURE dbo.ping @n int AS
IF @n = 0 RETURN;
DECLARE @next int = @n - 1;
EXEC dbo.pong @next;
GO
CREATE PROCEDURE dbo.pong @n int AS
IF @n = 0 RETURN;
DECLARE @next int = @n - 1;
EXEC dbo.ping @next;
GO
CREATE FUNCTION dbo.total (@n int) RETURNS int AS
BEGIN
    IF @n = 1 RETURN 1;
    RETURN @n + dbo.total(@n - 1);
END
GO
CREATE FUNCTION dbo.function_level () RETURNS int AS BEGIN RETURN @@NESTLEVEL; END
GO
CREATE PROCEDURE dbo.level_of_function AS SELECT dbo.function_level();
"""


@pytest.fixture(scope="module")
def shared(new_database: Callable[[], Database]) -> Database:
    database = new_database()
    session = Tsql(database.dsn)
    session.run_well(SCRIPT)
    session.close()
    return database


@pytest.fixture
def tsql(shared: Database) -> Iterator[Tsql]:
    session = Tsql(shared.dsn)
    yield session
    session.close()


def shown(session: Tsql) -> list[str | None]:
    return [row[0] for rows in session.results for row in rows]


def test_nestlevel_counts_procedures_strings_and_functions(tsql: Tsql) -> None:
    tsql.run_well(
        "SELECT @@NESTLEVEL;\nGO\nEXEC dbo.levels;\n"
        "GO\nEXEC dbo.level_of_function;\nSELECT dbo.function_level();"
    )
    assert shown(tsql) == ["0", "1", "2", "3", "2", "2", "1"]


def test_the_33rd_level_is_refused_and_rolls_back(tsql: Tsql) -> None:
    tsql.run(
        "BEGIN TRAN; INSERT dbo.a VALUES (1); EXEC dbo.endless; PRINT 'never';\nGO\n"
        "DECLARE @n INT = (SELECT COUNT(*) FROM dbo.a); PRINT CONCAT(@@TRANCOUNT, ' ', @n);"
    )
    assert [(error.number, error.procedure, error.line) for error in tsql.errors] == [(217, "endless", 3)]
    assert tsql.prints == ["0 0"]


def test_a_caught_217_dooms(tsql: Tsql) -> None:
    tsql.run_well("""
        DECLARE @s int;
        BEGIN TRAN;
        BEGIN TRY EXEC dbo.endless @s OUTPUT; END TRY
        BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', XACT_STATE(), ' ', @s); ROLLBACK; END CATCH
        EXEC dbo.level;""")
    assert tsql.prints == ["217 -1 "] and shown(tsql) == ["1"]


def test_procedures_that_call_each_other_are_counted(tsql: Tsql) -> None:
    tsql.run_well("EXEC dbo.ping 31;")
    tsql.run("EXEC dbo.ping 32;")
    assert [error.number for error in tsql.errors] == [217]


def test_functions_are_counted(tsql: Tsql) -> None:
    tsql.run_well("SELECT dbo.total(32);")
    assert shown(tsql) == ["528"]
    tsql.run("SELECT dbo.total(33);")
    assert [error.number for error in tsql.errors] == [217]


def test_triggers_that_fire_each_other_are_counted(tsql: Tsql) -> None:
    tsql.run_well("""
        CREATE TABLE dbo.c (n int);
        CREATE TABLE dbo.d (n int);
        GO
        CREATE TRIGGER dbo.c_to_d ON dbo.c AFTER INSERT AS
        IF (SELECT MAX(n) FROM inserted) > 1 INSERT dbo.d SELECT n - 1 FROM inserted;
        GO
        CREATE TRIGGER dbo.d_to_c ON dbo.d AFTER INSERT AS
        IF (SELECT MAX(n) FROM inserted) > 1 INSERT dbo.c SELECT n - 1 FROM inserted;
        ELSE PRINT CONCAT(@@NESTLEVEL, ' ', TRIGGER_NESTLEVEL(), ' ',
                          TRIGGER_NESTLEVEL(OBJECT_ID('dbo.c_to_d')));
        GO
        INSERT dbo.c VALUES (32);""")
    assert tsql.prints == ["32 32 16"]
    tsql.run("INSERT dbo.c VALUES (33);\nGO\nSELECT COUNT(*) FROM dbo.c;")
    assert [error.number for error in tsql.errors] == [217]
    assert shown(tsql) == ["16"]


@pytest.mark.parametrize("name", ["stamp", 'sta"m(p', "sta\nmp"])
def test_a_trigger_does_not_fire_itself_by_default(tsql: Tsql, name: str) -> None:
    tsql.run_well(f"""
        DROP TABLE IF EXISTS dbo.stamped
        CREATE TABLE dbo.stamped (n int, changes int DEFAULT 0);
        GO
        CREATE TRIGGER dbo.[{name}] ON dbo.stamped AFTER INSERT, UPDATE AS
        UPDATE dbo.stamped SET changes += 1 WHERE n IN (SELECT n FROM inserted) AND changes < 3;
        GO
        INSERT dbo.stamped (n) VALUES (1);
        SELECT changes FROM dbo.stamped;
        UPDATE dbo.stamped SET n = 1;
        SELECT changes FROM dbo.stamped;""")
    assert shown(tsql) == ["1", "2"]


def test_recursive_triggers_on_lets_it(database: Database) -> None:
    tsql = Tsql(database.dsn)
    tsql.run_well("""
        ALTER DATABASE CURRENT SET RECURSIVE_TRIGGERS ON
        CREATE TABLE dbo.counted (n int);
        GO
        CREATE TRIGGER dbo.again ON dbo.counted AFTER INSERT AS
        IF TRIGGER_NESTLEVEL() < 5 INSERT dbo.counted SELECT n + 1 FROM inserted;
        GO
        INSERT dbo.counted VALUES (1);
        SELECT MAX(n) FROM dbo.counted;""")
    assert shown(tsql) == ["5"]
    tsql.close()

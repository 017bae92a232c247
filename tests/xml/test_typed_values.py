"""Variables, columns and parameters of type xml(collection) are validated when they are assigned."""

from collections.abc import Iterator

import pytest
from end_to_end.tsql import Tsql

from support import Database

SETUP = """
CREATE XML SCHEMA COLLECTION dbo.numbers AS N'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:element name="n" type="xs:int"/></xs:schema>';
GO
CREATE TABLE dbo.kept (id int IDENTITY, x xml(dbo.numbers), y xml(DOCUMENT numbers) NULL);
GO
CREATE PROCEDURE dbo.takes @x xml(numbers) AS PRINT @x.value('(/n)[1]', 'int');
"""


@pytest.fixture
def session(database: Database) -> Iterator[Tsql]:
    opened = Tsql(database.dsn)
    opened.run_well(SETUP)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("INSERT dbo.kept (x) VALUES ('<n>q</n>')", 6926),
        ("INSERT dbo.kept (x) VALUES ('<n>1</n><n>2</n>')", None),
        ("INSERT dbo.kept (y) VALUES ('<n>1</n><n>2</n>')", 6901),
        ("DECLARE @x xml(numbers) = '<m/>'", 6913),
        ("DECLARE @x xml(CONTENT dbo.numbers); SET @x = N'<n>3</n>'; SELECT @x = '<n/>'", 6926),
        ("SELECT CAST('<n>x</n>' AS xml(numbers))", 6926),
        ("DECLARE @t TABLE (x xml(numbers)); INSERT @t VALUES ('<n>z</n>')", 6926),
        ("EXEC dbo.takes '<n>z</n>'", 6926),
        ("DECLARE @x xml(nowhere)", 6314),
        ("DROP XML SCHEMA COLLECTION numbers", 6328),
    ],
)
def test_assignments(session: Tsql, statement: str, number: int | None) -> None:
    session.run(statement)
    assert [error.number for error in session.errors] == ([] if number is None else [number])


def test_valid_values_work_like_other_xml(session: Tsql) -> None:
    session.run_well("""
        INSERT dbo.kept (x) VALUES ('<n>5</n>');
        DECLARE @x xml(numbers) = '<n>7</n>', @plain xml;
        SET @plain = @x;
        SELECT @x.value('(/n)[1]', 'int'), (SELECT x.query('/n') FROM dbo.kept), @plain,
               (SELECT @x AS q FOR XML PATH('r'));
        EXEC dbo.takes @x;
        BEGIN TRY SET @x = '<n>no</n>'; END TRY
        BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', CAST(@x AS nvarchar(20))); END CATCH
        DROP TABLE dbo.kept;
        DROP XML SCHEMA COLLECTION numbers;""")
    assert session.results == [[["7", "<n>5</n>", "<n>7</n>", "<r><q><n>7</n></q></r>"]]]
    assert session.prints == ["7", "6926 <n>7</n>"]


@pytest.mark.long
def test_collections_follow_their_database(database: Database) -> None:
    session = Tsql(database.dsn)
    collection = SETUP[: SETUP.index("GO")]
    session.run_well(f"""
        CREATE DATABASE first
        GO
        USE first
        GO
        {collection}
        GO
        CREATE TABLE t (x xml(numbers));
        DECLARE @t TABLE (x xml(numbers)); INSERT @t VALUES ('<n>1</n>');
        GO
        USE master
        GO
        ALTER DATABASE first MODIFY NAME = second
        GO
        USE second
        GO
        DECLARE @x xml(numbers) = '<n>2</n>'; INSERT t VALUES (@x);
        GO
        USE master
        GO
        DROP DATABASE second
        GO
        CREATE DATABASE first
        GO
        USE first
        GO
        {collection}""")
    session.run("DECLARE @x xml(numbers) = '<n>none</n>';")
    assert [error.number for error in session.errors] == [6926]
    session.close()

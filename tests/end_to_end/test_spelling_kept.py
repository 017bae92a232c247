"""Names stay as they were written: for a later script, in views, keys of JSON and XML, and errors."""

from collections.abc import Callable

from end_to_end.tsql import Tsql

from support import Connection, Database

MADE = """
CREATE TABLE dbo.Orders (OrderID int PRIMARY KEY, CustomerName nvarchar(20) NOT NULL, note int)
INSERT Orders VALUES (1, N'x', 2)
GO
CREATE VIEW dbo.OrderView AS SELECT OrderID AS TheId, CustomerName FROM Orders
GO
SELECT OrderID AS CopyId, note INTO Copies FROM Orders
ALTER TABLE Orders ADD AddedLater int
GO
EXEC sp_rename 'Copies', 'CopiesMade'
EXEC sp_rename 'dbo.CopiesMade.CopyId', 'CopiedId', 'COLUMN'
GO
"""
READ = """
SELECT * FROM orders
SELECT * FROM orderview FOR JSON PATH
SELECT * FROM copiesmade FOR XML RAW
SELECT name FROM sys.objects WHERE name IN ('orders', 'ORDERVIEW', 'copiesmade') ORDER BY name
SELECT COLUMN_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'ORDERS' ORDER BY ORDINAL_POSITION
SELECT OBJECT_NAME(OBJECT_ID('orders')) AS object, COL_NAME(OBJECT_ID('orders'), 1) AS col
EXEC sp_columns 'orders', @column_name = 'customer%'
GO
INSERT orders VALUES (1, N'y', 3, 4)
GO
INSERT orders (orderid) VALUES (2)
"""


def test_a_later_script_sees_the_names_as_they_were_written(tsql: Tsql, database: Database) -> None:
    tsql.run_well(MADE)
    same = tsql.run(READ)
    session = Tsql(database.dsn)
    later = session.run(READ)
    session.close()
    assert later == same
    for shown in (
        "OrderID CustomerName note AddedLater",
        '[{"TheId":1,"CustomerName":"x"}]',
        '<row CopiedId="1" note="2"/>',
        "in object 'dbo.Orders'",
        "column 'CustomerName'",
    ):
        assert shown in later


def test_a_dropped_table_leaves_no_spelling(tsql: Tsql, connect: Callable[..., Connection]) -> None:
    """Nor does one that PostgreSQL renames."""
    tsql.run_well(
        "CREATE TABLE dbo.Gone (TheId int)\nGO\nDROP TABLE dbo.Gone\nGO\nCREATE TABLE dbo.gone (theid int)"
    )
    connection = connect()
    names = "SELECT o.name, c.name FROM sys.tables AS o JOIN sys.columns AS c USING (object_id)"
    assert connection.execute(names).fetchall() == [("gone", "theid")]
    tsql.run_well("DROP TABLE dbo.gone\nGO\nCREATE TABLE dbo.Gone (TheId int)")
    assert connection.execute(names).fetchall() == [("Gone", "TheId")]
    connection.execute("ALTER TABLE dbo.gone RENAME TO found; ALTER TABLE dbo.found RENAME theid TO another")
    assert connection.execute(names).fetchall() == [("found", "another")]

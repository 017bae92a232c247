"""Names stay as they were written: for a later script, in views, keys of JSON and XML, and errors."""
# ruff: noqa: E501 (what is made is easier to read unbroken)

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


PARTS = """
CREATE TABLE dbo.Orders (
    OrderID int CONSTRAINT PK_Orders PRIMARY KEY, Amount int CONSTRAINT DF_Amount DEFAULT 5, Other int,
    CONSTRAINT CK_Amount CHECK (Amount > 0), CONSTRAINT FK_Other FOREIGN KEY (Other) REFERENCES Orders (OrderID),
    CONSTRAINT UQ_Amount UNIQUE (Amount), INDEX IX_Within (Other))
CREATE UNIQUE INDEX IX_Orders_Other ON Orders (Other, Amount)
CREATE UNIQUE INDEX UX_Other ON Orders (Other) WHERE Other > 0
ALTER TABLE Orders ADD Later int CONSTRAINT DF_Later DEFAULT 1, CONSTRAINT CK_Later CHECK (Later > 0)
ALTER TABLE Orders ADD CONSTRAINT DF_Other DEFAULT 1 FOR Other
ALTER TABLE Orders NOCHECK CONSTRAINT CK_Later
CREATE TABLE dbo.Renamed (One int CONSTRAINT DF_One DEFAULT 1, CONSTRAINT CK_Old CHECK (One > 0))
CREATE INDEX IX_Old ON Renamed (One)
EXEC sp_rename 'CK_Old', 'CK_New'
EXEC sp_rename 'Renamed.IX_Old', 'IX_New', 'INDEX'
EXEC sp_rename 'Renamed.One', 'Uno', 'COLUMN'
CREATE SEQUENCE dbo.TheNumbers AS int START WITH 1 MAXVALUE 1
DECLARE @used int = NEXT VALUE FOR TheNumbers
CREATE TYPE dbo.TheId FROM int
CREATE TYPE dbo.TheRows AS TABLE (TheId int PRIMARY KEY)
CREATE SYNONYM dbo.TheOrders FOR dbo.Orders
GO
CREATE PROCEDURE dbo.PlaceOrder @OrderID int, @Note nvarchar(50) = NULL, @Out int = NULL OUTPUT AS SET @Out = @OrderID
GO
ALTER PROCEDURE dbo.PlaceOrder @OrderID int, @TheNote nvarchar(50) = NULL, @Out int = NULL OUTPUT AS
DECLARE @Rows TABLE (a int) INSERT @Rows VALUES (1) SET @Out = @OrderID
GO
CREATE FUNCTION dbo.TwiceOf (@TheNumber int) RETURNS int AS BEGIN RETURN 2 * @TheNumber END
GO
CREATE FUNCTION dbo.RowsOf (@TheNumber int) RETURNS TABLE AS RETURN SELECT OrderID FROM Orders WHERE Amount > @TheNumber
GO
CREATE TRIGGER TR_Orders ON dbo.Orders AFTER INSERT, UPDATE AS SET NOCOUNT ON
GO
CREATE TRIGGER TR_Database ON DATABASE FOR CREATE_VIEW AS PRINT 'x'
GO
"""
NAMES = """
SELECT name, RTRIM(type) AS type FROM sys.objects WHERE is_ms_shipped = 0 AND type <> 'IT' ORDER BY name
SELECT OBJECT_NAME(object_id) AS object, name FROM sys.parameters WHERE parameter_id > 0 ORDER BY object_id, parameter_id
SELECT name FROM sys.indexes ORDER BY name
SELECT name FROM sys.triggers ORDER BY name
SELECT name FROM sys.types WHERE is_user_defined = 1 ORDER BY name
SELECT name, is_disabled FROM sys.check_constraints ORDER BY name
SELECT name, is_system_named FROM sys.default_constraints ORDER BY name
SELECT CONSTRAINT_NAME FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS ORDER BY 1
SELECT UNIQUE_CONSTRAINT_NAME FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS
SELECT ROUTINE_NAME FROM INFORMATION_SCHEMA.ROUTINES ORDER BY 1
SELECT OBJECT_NAME(OBJECT_ID('ck_amount')), OBJECT_NAME(OBJECT_ID('df_later')), OBJECT_NAME(OBJECT_ID('placeorder')),
       OBJECT_NAME(OBJECT_ID('theorders', 'SN')), TYPE_NAME(TYPE_ID('theid')),
       CASE WHEN OBJECT_DEFINITION(OBJECT_ID('tr_orders')) LIKE 'CREATE TRIGGER TR_Orders%' THEN 'kept' END
"""
ERRORS = """
DECLARE @p sysname = 'dbo.placeorder'
EXEC @p
EXEC @p 1, 2, 3, 4
EXEC @p 1, @nonsense = 1
DECLARE @n int
EXEC @p @n OUTPUT
GO
EXEC dbo.placeorder
GO
EXEC dbo.placeorder 1, @nonsense = 1
GO
INSERT orders (orderid, amount) VALUES (1, -1)
INSERT orders (orderid, amount, other) VALUES (1, 1, NULL)
INSERT orders (orderid, amount, other) VALUES (1, 2, NULL)
INSERT orders (orderid, amount, other) VALUES (2, 1, NULL)
INSERT orders (orderid, amount, other) VALUES (2, 2, 9)
INSERT orders (orderid, amount, other) VALUES (2, 2, 1)
INSERT orders (orderid, amount, other) VALUES (3, 3, 1)
DELETE orders WHERE orderid = 1
INSERT renamed VALUES (-1)
DECLARE @m int = NEXT VALUE FOR thenumbers
GO
ALTER TABLE orders CHECK CONSTRAINT ck_later
GO
UPDATE orders SET later = -1 WHERE orderid = 1
"""


def test_so_are_those_of_constraints_parameters_and_modules(tsql: Tsql, database: Database) -> None:
    tsql.run_well(PARTS)
    names, errors = tsql.run_well(NAMES), tsql.run(f"BEGIN TRAN\n{ERRORS}\nGO\nROLLBACK")
    session = Tsql(database.dsn)
    assert session.run_well(NAMES) == names
    later = session.run(f"BEGIN TRAN\n{ERRORS}\nGO\nROLLBACK")
    session.close()
    assert later == errors
    for shown in (
        *("PK_Orders", "CK_Amount", "FK_Other", "UQ_Amount", "DF_Amount", "DF_Later", "DF_Other", "CK_New"),
        *("DF_One", "IX_Within", "IX_Orders_Other", "UX_Other", "IX_New", "TheNumbers", "TheId", "TheRows"),
        *("TheOrders", "PlaceOrder", "@OrderID", "@TheNote", "@Out", "TwiceOf", "RowsOf", "@TheNumber"),
        *("TR_Orders", "TR_Database", "kept"),
    ):
        assert shown in names, names
        assert shown.lower() == shown or shown.lower() not in names, names
    for shown in (
        "Procedure or function 'PlaceOrder' expects parameter '@OrderID'",
        "Procedure or function PlaceOrder has too many arguments",
        "is not a parameter for procedure PlaceOrder.",
        'CHECK constraint "CK_Amount"',
        "PRIMARY KEY constraint 'PK_Orders'",
        "UNIQUE KEY constraint 'UQ_Amount'",
        'FOREIGN KEY SAME TABLE constraint "FK_Other"',
        "unique index 'UX_Other'",
        'SAME TABLE REFERENCE constraint "FK_Other"',
        'CHECK constraint "CK_New"',
        "sequence object 'TheNumbers'",
        'CHECK constraint "CK_Later"',
    ):
        assert shown in errors, errors


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


def test_caught_messages_name_what_is_missing_as_it_is_written(tsql: Tsql) -> None:
    tsql.run_well(
        "CREATE TABLE Orders (A int)\nGO\nCREATE PROCEDURE Asks AS\n\nSELECT a FROM [Dbo].NoSuch"
        "\nGO\nCREATE TRIGGER Fires ON Orders AFTER INSERT AS DELETE NoSuch"
    )
    tried = {
        "EXEC Asks": "Invalid object name 'Dbo.NoSuch'.",
        "INSERT Orders VALUES (1)": "Invalid object name 'NoSuch'.",
        "EXEC ('SELECT 1 FROM NoSuch')": "Invalid object name 'NoSuch'.",
        "EXEC (@text)": "Invalid object name 'dbo.NoThing'.",
        "EXEC dbo.NoProc": "Could not find stored procedure 'dbo.NoProc'.",
        "DROP TABLE NoSuch": "Cannot drop the table 'NoSuch', because it does not exist or you do not have permission.",
        "DROP INDEX Ix ON NoSuch": "Cannot drop the index 'NoSuch.Ix', because it does not exist or you do not have permission.",
        "DROP INDEX Ix ON dbo.Orders": "Cannot drop the index 'dbo.Orders.Ix', because it does not exist or you do not have permission.",
        "DROP INDEX Ix ON #NoSuch": "Cannot drop the index '#NoSuch.Ix', because it does not exist or you do not have permission.",
        "EXEC ('SELECT 1 FROM no_Schema.T')": "Invalid object name 'no_Schema.T'.",
        "TRUNCATE TABLE no_Schema.T": 'Cannot find the object "no_Schema.T" because it does not exist or you do not have permissions.',
        "ALTER TABLE Nowhere.Sales.T ADD b int": 'Cannot find the object "Nowhere.Sales.T" because it does not exist or you do not have permissions.',
        "EXEC ('TRUNCATE TABLE ' + @name)": 'Cannot find the object "NoSuch" because it does not exist or you do not have permissions.',
        "ALTER INDEX ALL ON dbo.NoSuch REBUILD": 'Cannot find the object "dbo.NoSuch" because it does not exist or you do not have permissions.',
        "ALTER TABLE NoSuch ADD b int": 'Cannot find the object "NoSuch" because it does not exist or you do not have permissions.',
        "GRANT SELECT ON dbo.NoSuch TO public": "Cannot find the object 'NoSuch', because it does not exist or you do not have permission.",
        "CREATE TABLE dbo.Orders (a int)": "There is already an object named 'Orders' in the database.",
        "ALTER TABLE Orders DROP CONSTRAINT Ck": "Could not drop constraint. See previous errors.",
    }
    for statement, message in tried.items():
        tsql.run_well(
            "DECLARE @text nvarchar(99) = REPLACE('SELECT 1 FROM dbo.NoXing', 'X', 'Th'), @name sysname = N'NoSuch'"
            f"\nBEGIN TRY\n{statement} /* a '/*nested*/ comment */\nEND TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH"
        )
        assert tsql.prints == [message]
    tsql.run_well(
        "BEGIN TRAN\nGO\nBEGIN TRY DROP TABLE NoSuch END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH\nGO\nCOMMIT"
    )
    assert tsql.prints == [tried["DROP TABLE NoSuch"]]


def test_an_identifier_that_is_bound_to_nothing_is_told_whole(tsql: Tsql) -> None:
    tsql.run_well(
        "CREATE PROCEDURE Asks AS\n-- y.B\nSELECT 'y.C', o.A, [Y] . [The B] FROM Orders AS o\nGO\n"
        "CREATE TABLE Orders (A int)\nCREATE QUEUE Inbox"
    )
    for statement, identifier in {
        "SELECT X.A FROM Orders": "X.A",
        "SELECT o.A FROM Orders AS o WHERE dbo.Orders.A = 1": "dbo.Orders.A",
        "UPDATE Orders SET A = Other . B": "Other.B",
        "SELECT Node.Col.value('.', 'int') FROM Orders": "Node.Col",
        "RECEIVE Box.status FROM Inbox": "Box.status",
        "EXEC ('SELECT Z.[A] FROM Orders')": "Z.A",
        "EXEC Asks": "Y.The B",
    }.items():
        message = f'The multi-part identifier "{identifier}" could not be bound.'
        tsql.run(statement)
        assert [(error.number, error.message) for error in tsql.errors] == [(4104, message)], statement
        text = statement.replace("'", "''")
        tsql.run_well(f"BEGIN TRY\nEXEC (N'{text}')\nEND TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH")
        assert tsql.prints == [message], statement

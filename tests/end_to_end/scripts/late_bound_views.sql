-- A view is bound when it is used: what it selects from may be altered, dropped and made anew.
CREATE QUEUE dbo.Watched
CREATE SERVICE Watcher ON QUEUE dbo.Watched ([http://schemas.microsoft.com/SQL/Notifications/PostEventNotification])
GO
CREATE EVENT NOTIFICATION Watching ON DATABASE FOR DDL_TABLE_VIEW_EVENTS TO SERVICE 'Watcher', 'current database'
GO
CREATE TABLE dbo.Items (Id INT PRIMARY KEY, Name VARCHAR(20), Price MONEY)
GO
CREATE FUNCTION dbo.Twice (@n INT) RETURNS INT AS BEGIN RETURN @n * 2 END
GO
CREATE VIEW dbo.ItemNames AS SELECT Id, Name, dbo.Twice(Id) AS Twofold FROM dbo.Items
GO
CREATE VIEW dbo.LongNames AS SELECT Id, Name FROM dbo.ItemNames WHERE LEN(Name) > 3
GO
CREATE VIEW dbo.Cheap AS SELECT Id, Price FROM dbo.Items WHERE Price < 10 WITH CHECK OPTION
GO
CREATE VIEW dbo.Bound WITH SCHEMABINDING AS SELECT Price FROM dbo.Items
GO
CREATE TRIGGER dbo.LongNamesInsert ON dbo.LongNames INSTEAD OF INSERT AS INSERT INTO dbo.Items (Id, Name) SELECT Id, Name FROM inserted
GO
GRANT SELECT ON dbo.ItemNames TO public
INSERT INTO dbo.Items VALUES (1, 'bolt', 2.5), (2, 'nut', 30)
GO
PRINT 'another length, then another type: the views follow'
ALTER TABLE dbo.Items ALTER COLUMN Name NVARCHAR(100)
INSERT INTO dbo.LongNames VALUES (3, REPLICATE('x', 30))
SELECT Id, LEN(Name) AS Length FROM dbo.LongNames ORDER BY Id
ALTER TABLE dbo.Items ALTER COLUMN Id BIGINT NOT NULL
GO
ALTER TABLE dbo.Items ALTER COLUMN Price DECIMAL(9, 2)
GO
PRINT 'a function, and a view of a view'
DROP FUNCTION dbo.Twice
GO
SELECT * FROM dbo.ItemNames
GO
SELECT * FROM dbo.LongNames
GO
CREATE FUNCTION dbo.twice (@n INT) RETURNS BIGINT AS BEGIN RETURN @n * 20 END
GO
SELECT Id, Twofold FROM dbo.ItemNames ORDER BY Id
SELECT Id FROM dbo.LongNames ORDER BY Id
GO
ALTER VIEW dbo.ItemNames AS SELECT Id, UPPER(Name) AS Name, dbo.Twice(Id) AS Twofold FROM dbo.Items
GO
SELECT Name FROM dbo.LongNames WHERE Id = 1
GO
PRINT 'WITH SCHEMABINDING'
DROP TABLE dbo.Items
GO
ALTER TABLE dbo.Items DROP COLUMN Price
GO
SELECT OBJECT_NAME(object_id) AS name, is_schema_bound FROM sys.sql_modules WHERE OBJECT_NAME(object_id) IN ('Bound', 'Cheap') ORDER BY 1
DROP VIEW dbo.Bound
GO
ALTER TABLE dbo.Items DROP COLUMN Price
GO
BEGIN TRY
    SELECT * FROM dbo.Cheap
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number, ERROR_MESSAGE() AS message
END CATCH
EXEC sp_refreshview 'dbo.Cheap'
GO
ALTER TABLE dbo.Items ADD Price MONEY
GO
INSERT INTO dbo.Cheap VALUES (9, 99)
GO
PRINT 'the table anew'
DROP TABLE dbo.Items
GO
EXEC sp_rename 'dbo.Cheap', 'Cheapest'
EXEC sp_refreshview 'dbo.LongNames'
EXEC sp_refreshview 'dbo.ItemNames'
GO
SELECT 1 AS Id, CAST('bolt' AS VARCHAR(20)) AS Name, CAST(3 AS MONEY) AS Price INTO dbo.Items
GO
SELECT Name FROM dbo.LongNames
SELECT * FROM dbo.Cheapest
GO
PRINT 'a queue'
CREATE QUEUE dbo.q
GO
CREATE VIEW dbo.Waiting AS SELECT COUNT(*) AS messages FROM dbo.q
GO
DROP QUEUE dbo.q
GO
SELECT * FROM dbo.Waiting
GO
CREATE QUEUE dbo.q
GO
SELECT * FROM dbo.Waiting
GO
PRINT 'no more events than statements'
DROP EVENT NOTIFICATION Watching ON DATABASE
SELECT CAST(message_body AS XML).value('(/EVENT_INSTANCE/EventType)[1]', 'sysname') AS event, CAST(message_body AS XML).value('(/EVENT_INSTANCE/ObjectName)[1]', 'sysname') AS name
FROM dbo.Watched WHERE message_type_name LIKE '%EventNotification' ORDER BY queuing_order
GO
PRINT 'a synonym hinders nothing, and shows what is there now'
CREATE TABLE dbo.Stock (Id INT, Name VARCHAR(9), Amount INT)
GO
CREATE SYNONYM dbo.Goods FOR dbo.Stock
GO
ALTER TABLE dbo.Stock DROP COLUMN Name
GO
ALTER TABLE dbo.Stock ALTER COLUMN Amount BIGINT
GO
DROP TABLE dbo.Stock
GO
CREATE TABLE dbo.Stock (Number INT)
GO
SELECT * FROM dbo.Goods
GO
PRINT 'what COUNT gives is an int to a function, too'
GO
SELECT dbo.twice(q.n) AS n FROM (SELECT COUNT(*) AS n FROM dbo.Stock) AS q
GO

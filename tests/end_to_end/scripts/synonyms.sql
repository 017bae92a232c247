-- Synonyms are followed by name: their objects may come later, go, and come back with other columns.
CREATE SCHEMA app;
GO
CREATE SYNONYM app.Cust FOR dbo.Customers;
CREATE SYNONYM app.AddOne FOR dbo.AddOneImpl;
CREATE SYNONYM app.Do FOR dbo.DoIt;
GO
CREATE PROCEDURE app.ListAll AS SELECT c.Id, Cust.Name FROM app.Cust JOIN app.Cust c ON c.Id = Cust.Id ORDER BY 1;
GO
EXEC app.ListAll;
GO
CREATE TABLE dbo.Customers (Id INT IDENTITY PRIMARY KEY, Name NVARCHAR(20));
GO
CREATE FUNCTION dbo.AddOneImpl(@a INT) RETURNS INT AS BEGIN RETURN @a + 1 END;
GO
CREATE PROCEDURE dbo.DoIt @n INT AS PRINT CONCAT('did ', @n);
GO
INSERT app.Cust VALUES (N'Ann'), (N'Bob');
UPDATE app.Cust SET Name = N'Anna' WHERE Cust.Id = 1;
UPDATE c SET Name += N'!' FROM app.Cust AS c WHERE c.Id = 2;
DELETE app.Cust WHERE Name = 'x';
MERGE app.Cust AS t USING (VALUES (2, N'Bobby'), (3, N'Cid')) AS s (Id, Name) ON t.Id = s.Id
WHEN MATCHED THEN UPDATE SET Name = s.Name WHEN NOT MATCHED THEN INSERT (Name) VALUES (s.Name);
EXEC app.ListAll;
SELECT app.AddOne(41);
EXEC app.Do 7;
SELECT name, base_object_name FROM sys.synonyms ORDER BY name;
GO
DROP TABLE dbo.Customers;
GO
SELECT * FROM app.Cust;
GO
CREATE TABLE dbo.Customers (Id INT, Name NVARCHAR(20), Extra BIT);
INSERT app.Cust VALUES (9, N'Zoe', 1);
GO
EXEC app.ListAll;
SELECT * FROM app.Cust;
MERGE app.Cust USING (SELECT 9 AS Id) AS s ON Cust.Id = s.Id WHEN MATCHED THEN UPDATE SET Extra = 0;
SELECT Extra FROM app.Cust;
IF OBJECT_ID('app.Cust', 'SN') IS NOT NULL DROP SYNONYM app.Cust;
DROP SYNONYM IF EXISTS app.Cust;
GO
DROP SYNONYM app.Cust;
GO
-- Every other DROP leaves both the synonym and what it stands for.
CREATE TABLE dbo.Kept (Id INT);
CREATE QUEUE dbo.KeptQueue;
GO
CREATE VIEW dbo.KeptView AS SELECT 1 AS one;
GO
CREATE SYNONYM app.KeptTable FOR dbo.Kept;
CREATE SYNONYM app.KeptQ FOR dbo.KeptQueue;
CREATE SYNONYM app.KeptV FOR dbo.KeptView;
GO
DROP TABLE app.KeptTable;
GO
DROP TABLE IF EXISTS app.KeptTable;
GO
DROP VIEW app.KeptV;
GO
DROP QUEUE app.KeptQ;
GO
DROP PROCEDURE app.Do;
GO
DROP FUNCTION app.AddOne;
GO
ALTER SCHEMA app TRANSFER dbo.KeptView;
ALTER SCHEMA dbo TRANSFER app.KeptTable;
GO
-- No other object of the name is made, nor altered.
CREATE QUEUE app.KeptQ;
GO
CREATE OR ALTER VIEW app.KeptV AS SELECT 2 AS two;
GO
CREATE OR ALTER PROCEDURE app.Do AS PRINT 'none';
GO
ALTER TABLE app.KeptView ADD two INT;
GO
ALTER QUEUE app.KeptQ REBUILD;
GO
SELECT SCHEMA_NAME(schema_id) AS [schema], name, type FROM sys.objects WHERE name LIKE 'Kept%' OR name IN ('Do', 'DoIt', 'AddOne', 'AddOneImpl') ORDER BY name;
GO
-- What one stands for is changed: dynamic SQL and later batches go with it, what a module has compiled tells so.
CREATE TABLE dbo.Blue (Id INT);
CREATE TABLE dbo.Green (Id INT);
CREATE SYNONYM app.Live FOR dbo.Blue;
GO
CREATE PROCEDURE app.Fill AS EXEC ('INSERT app.Live VALUES (1)'); INSERT app.Live VALUES (2); PRINT 'filled';
GO
CREATE PROCEDURE app.Turn @to SYSNAME AS
DROP SYNONYM app.Live;
DECLARE @make NVARCHAR(200) = N'CREATE SYNONYM app.Live FOR dbo.' + @to;
EXEC (@make);
GO
EXEC app.Turn 'Green';
GO
SET NOCOUNT ON;
INSERT app.Live VALUES (3);
EXEC app.Fill;
EXEC app.Turn 'Blue';
EXEC app.Fill;
PRINT 'and on';
GO
BEGIN TRANSACTION;
EXEC app.Turn 'Green';
EXEC ('INSERT app.Live VALUES (4)');
COMMIT;
GO
SELECT 'Blue' AS [table], Id FROM dbo.Blue UNION ALL SELECT 'Green', Id FROM dbo.Green ORDER BY 1, 2;
DROP SYNONYM app.Live;
EXEC app.Fill;
GO

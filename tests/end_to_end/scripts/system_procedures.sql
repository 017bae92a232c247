CREATE TABLE dbo.Orders (OrderID int IDENTITY PRIMARY KEY, Customer nvarchar(50) NULL, Total AS OrderID * 2)
CREATE INDEX IX_C ON dbo.Orders (Customer DESC)
INSERT Orders (Customer) VALUES ('a')
GO
CREATE PROCEDURE dbo.GetOrders @Id int, @Name nvarchar(20) = N'x'
AS
BEGIN
    SELECT * FROM dbo.Orders; -- all
END
GO
CREATE QUEUE dbo.Q
GO
EXEC sp_help 'dbo.Orders'
EXEC sp_help GetOrders
EXEC sp_helpindex Orders
EXEC sp_helptext 'dbo.GetOrders'
EXEC sp_helptext 'nope'
EXEC sp_help nope
EXEC sp_spaceused Orders
EXEC sp_spaceused N'dbo.Q'
CREATE TABLE #c (q sysname, o sysname, t sysname, c sysname, ty sysname, n varchar(3), p int)
INSERT #c EXEC sp_columns 'Orders'
SELECT o, t, c, ty, n, p FROM #c
EXEC sp_depends 'Orders'
EXEC sp_MSforeachtable 'print ''?''; select count(*) as n from ?'
declare @r int
PRINT @r
GO
-- the trigger of orders
CREATE TRIGGER trO ON dbo.Orders AFTER INSERT AS PRINT 'x'
GO
CREATE VIEW vO AS SELECT OrderID FROM Orders
GO
EXEC sp_helptext 'trO'
SELECT OBJECT_DEFINITION(OBJECT_ID('vO')) d
SELECT m.definition FROM sys.sql_modules m JOIN sys.objects o ON o.object_id = m.object_id WHERE o.name = 'GetOrders' AND m.definition LIKE '%dbo.Orders%'
SELECT text FROM syscomments WHERE id = OBJECT_ID('dbo.GetOrders')
GO
EXEC sp_addmessage 50010, 16, N'bad %s'
EXEC sp_altermessage 50010, 'WITH_LOG', 'true'
SELECT is_event_logged FROM sys.messages WHERE message_id = 50010
EXEC sp_altermessage 50010, 'LOG', 'true'
EXEC sp_altermessage 50011, 'WITH_LOG', 'false'
EXEC sp_dropmessage 8134
GO
RAISERROR(50010, -1, -1, 'thing')
RAISERROR(50010, 10, 1, 'x')
EXEC sp_help nope
BEGIN TRY RAISERROR(50010, -1, -1, 'thing') END TRY BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_SEVERITY()) END CATCH
GO
-- the text of a module is that of a CREATE, whatever made it
CREATE OR ALTER PROCEDURE dbo.kept AS PRINT 1
GO
SELECT definition FROM sys.sql_modules WHERE object_id = OBJECT_ID('dbo.kept')
GO
/* again */ ALTER PROC dbo.kept AS PRINT 2 -- ALTER PROC
GO
EXEC sp_helptext 'dbo.kept'
EXEC ('CREATE OR ALTER VIEW dbo.kept_view AS SELECT 1 AS a')
SELECT OBJECT_DEFINITION(OBJECT_ID('dbo.kept_view')) AS d
GO
CREATE DATABASE Seen
GO
USE Seen
GO
SELECT DB_NAME(dbid) AS here FROM sys.sysprocesses WHERE spid = @@SPID
SELECT DB_NAME(database_id) AS here FROM sys.dm_exec_requests WHERE session_id = @@SPID
GO
-- names that are not there, and owners of databases
CREATE TABLE dbo.Renamed (a INT)
GO
CREATE VIEW dbo.Readers AS SELECT a FROM dbo.Renamed
GO
EXEC sp_depends 'Renamed'
EXEC sp_depends 'dbo.Readers'
EXEC sp_depends 'nothing'
EXEC sp_helpindex 'Renamed'
EXEC sp_helpindex 'nothing'
EXEC sp_helptrigger 'nothing'
EXEC sp_helpdb 'nothing'
EXEC sp_helprolemember 'nothing'
EXEC sp_who 'nobody'
GO
EXEC sp_rename 'Renamed', NULL
EXEC sp_rename 'Renamed', ''
EXEC sp_rename NULL, 'x'
EXEC sp_rename 'Renamed', 'x', 'BANANA'
EXEC sp_rename 'NoDb.dbo.Renamed', 'x'
GO
CREATE DATABASE Owned
GO
USE Owned
GO
EXEC sp_changedbowner 'nobody'
GO
EXEC sp_changedbowner 'sa'
SELECT SUSER_SNAME(owner_sid) AS owner FROM sys.databases WHERE name = DB_NAME()
GO
EXEC sp_configure 'clr enabled'
EXEC sp_configure 'nonsense'
GO
DECLARE @rc int = 7
EXEC @rc = sp_configure 'nonsense'
PRINT @rc
EXEC @rc = sp_configure 'clr enabled', 1
PRINT @rc
SET @rc = 7
EXEC @rc = sp_updatestats
PRINT @rc
EXEC @rc = sp_help 'nothing'
PRINT @rc
EXEC @rc = sp_addtype 'Code', 'varchar(11)', 'NULL'
PRINT @rc
EXEC @rc = sp_addtype 'Code', 'varchar(11)', 'NULL'
PRINT @rc
EXEC @rc = sp_droptype 'Code'
PRINT @rc
EXEC @rc = sp_droptype 'Code'
PRINT @rc
DECLARE @handle int
SET @rc = 7
EXEC @rc = sp_xml_preparedocument @handle OUTPUT, '<a/>'
PRINT @rc
GO
CREATE TYPE dbo.Listed AS TABLE (a int)
GO
CREATE TYPE dbo.Listed AS TABLE (a int)
GO

CREATE DATABASE [My-App]
GO
USE [My-App]
GO
CREATE SCHEMA [my parts]
GO
CREATE QUEUE [my parts].[the q]
CREATE TABLE [my parts].[the table] (a INT)
GO
CREATE PROCEDURE dbo.each_statement @s SYSNAME, @t SYSNAME, @q SYSNAME AS
DECLARE @sql NVARCHAR(MAX), @full NVARCHAR(600)
SET @sql = N'ALTER QUEUE ' + QUOTENAME(@s) + N'.' + QUOTENAME(@q) + N' WITH RETENTION = ON'
EXEC (@sql)
EXEC ('INSERT [' + @s + '].[' + @t + '] (a) VALUES (1)')
EXEC ('ALTER TABLE [' + @s + '].[' + @t + '] ADD z INT NULL')
SET @full = QUOTENAME(DB_NAME()) + '.' + QUOTENAME(@s) + '.' + QUOTENAME(@t)
EXEC ('SELECT a, z FROM ' + @full)
SET @sql = N'RECEIVE message_body FROM ' + QUOTENAME(@s) + N'.' + QUOTENAME(@q)
EXEC (@sql)
SET @full = QUOTENAME(@s) + '.' + QUOTENAME(@t)
EXEC ('DROP TABLE ' + @full)
SET @sql = N'DROP QUEUE ' + QUOTENAME(@s) + N'.' + QUOTENAME(@q)
EXEC (@sql)
EXEC ('
SELECT a FROM [' + @s + '].[' + @t + ']')
GO
EXEC dbo.each_statement 'my parts', 'the table', 'the q'
GO
DROP QUEUE [my parts].[the q]
GO
ALTER QUEUE [my parts].[the q] WITH STATUS = ON
GO
USE master
GO
CREATE SCHEMA [my parts]
GO
CREATE QUEUE [my parts].[the q]
CREATE TABLE [my parts].[the table] (a INT)
GO
DECLARE @s SYSNAME = (SELECT name FROM sys.schemas WHERE name LIKE 'my%'), @t SYSNAME = (SELECT name FROM sys.tables WHERE name = 'the table')
EXEC ('INSERT [' + @s + '].[' + @t + '] (a) VALUES (2)')
EXEC ('SELECT a FROM [' + @s + '].[' + @t + ']')
EXEC ('ALTER QUEUE [' + @s + '].[the q] WITH STATUS = OFF')
EXEC ('SELECT a FROM [' + @s + '].[no table]')
IF EXISTS (SELECT * FROM sys.schemas GROUP BY principal_id HAVING COUNT(*) > 1) PRINT 'a star of EXISTS is no column'
GO
SELECT q.name, i.index_id, i.name, p.rows, s.rows
  FROM sys.service_queues AS q
  JOIN sys.internal_tables AS t ON t.parent_object_id = q.object_id
  JOIN sys.indexes AS i ON i.object_id = t.object_id
  JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
  JOIN sysindexes AS s ON s.id = i.object_id AND s.indid = i.index_id
 ORDER BY i.index_id

SET NOCOUNT ON
GO
CREATE SCHEMA app
GO
CREATE TYPE app.Ids AS TABLE (id INT PRIMARY KEY, note NVARCHAR(20) NULL)
GO
DECLARE @l app.Ids, @n INT, @col SYSNAME = N'note', @sql NVARCHAR(400) = N'SELECT @n = COUNT(*) FROM @p WHERE note IS NOT NULL'
INSERT @l VALUES (1, N'a'), (3, NULL)
EXEC sp_executesql @sql, N'@p app.Ids READONLY, @n INT OUTPUT', @p = @l, @n = @n OUTPUT
PRINT @n
EXEC sp_executesql N'SELECT p.id, l.note FROM @p p JOIN @l l ON l.id = p.id ORDER BY p.id', N'@p app.Ids READONLY, @l app.Ids READONLY', @l, @l
SET @sql = N'SELECT ' + QUOTENAME(@col) + N' FROM @p ORDER BY id'
EXEC sp_executesql @sql, N'@p app.Ids READONLY', @l
EXEC sp_executesql N'SELECT COUNT(*) AS none FROM @p', N'@p app.Ids READONLY'
GO
SET NOCOUNT ON
CREATE TABLE t (a int, b nvarchar(10)) INSERT t VALUES (1, 'x'), (2, 'y')
GO
DECLARE @c SYSNAME = N'b', @d NVARCHAR(100) = 'a, b', @a NVARCHAR(20) = 'The Alias'
EXEC ('SELECT ' + @c + ' FROM t')
EXEC ('SELECT [' + @c + '], COUNT(*) AS n FROM t GROUP BY [' + @c + '] ORDER BY 1')
EXEC ('SELECT ' + @d + ' FROM t ORDER BY ' + @c + ' DESC')
EXEC ('SELECT a AS [' + @a + '] FROM t')
DECLARE @q NVARCHAR(200) = N'SELECT ' + QUOTENAME(@c) + N' AS ' + QUOTENAME(@a) + N' FROM t WHERE ' + QUOTENAME(@c) + N' = @v'
EXEC sp_executesql @q, N'@v nvarchar(10)', N'y'
SET @q = N'UPDATE t SET ' + QUOTENAME(@c) + N' = @v WHERE a = 1; SELECT MAX(' + QUOTENAME(@c) + N') FROM t'
EXEC sp_executesql @q, N'@v nvarchar(10)', N'z'
GO
SET NOCOUNT ON
CREATE QUEUE q
GO
DECLARE @s NVARCHAR(200), @t NVARCHAR(200), @m SYSNAME SELECT @s = N'http://a.b/c' + LEFT(name, 0), @t = N'x].y''z' + LEFT(name, 0), @m = N'm.1' + LEFT(name, 0) FROM sys.schemas WHERE name = 'dbo'
EXEC ('CREATE SERVICE [' + @s + '] ON QUEUE q ([DEFAULT])')
EXEC ('CREATE SERVICE ' + QUOTENAME(@t) + ' ON QUEUE q ([DEFAULT])')
EXEC ('CREATE MESSAGE TYPE [' + @m + '] CREATE CONTRACT [//c/' + @m + '] ([' + @m + '] SENT BY ANY)')
EXEC ('SELECT 1 AS [' + @s + ']')
EXEC ('CREATE TABLE [' + @m + '] ([' + @s + '] int) INSERT [' + @m + '] VALUES (1) SELECT [' + @s + '] FROM dbo.[' + @m + ']')
SELECT name FROM sys.services WHERE name NOT LIKE 'http://schemas%' ORDER BY name
SELECT name FROM sys.service_contracts WHERE name LIKE '//c%'
SELECT name FROM sys.service_message_types WHERE name LIKE 'm%'
SELECT name FROM sys.tables ORDER BY name
EXEC ('CREATE QUEUE [' + @m + ' In] CREATE XML SCHEMA COLLECTION [X' + @m + '] AS N''<x:schema xmlns:x="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t"/>''')
SELECT q.name, c.name, n.name FROM sys.service_queues q, sys.xml_schema_collections c JOIN sys.xml_schema_namespaces n ON n.xml_collection_id = c.xml_collection_id WHERE q.name LIKE 'm%'
GO
-- names that are too long, as a whole and with what stands around the variable
DECLARE @n NVARCHAR(300) = REPLICATE(N'q', 128)
EXEC ('CREATE QUEUE x' + @n)
EXEC ('CREATE QUEUE dbo.[x' + @n + ']')
EXEC ('CREATE TABLE x' + @n + ' (a int)')
EXEC ('SELECT a AS x' + @n + ' FROM t')
EXEC ('CREATE QUEUE ' + @n)
SET @n += N'q'
EXEC ('CREATE QUEUE ' + @n)
GO
SELECT LEN(name) AS l FROM sys.service_queues WHERE name LIKE '%qq%'
GO

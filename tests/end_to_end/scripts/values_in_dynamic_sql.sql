SET NOCOUNT ON
CREATE QUEUE q CREATE SERVICE s ON QUEUE q ([DEFAULT])
GO
DECLARE @h UNIQUEIDENTIFIER, @sql NVARCHAR(MAX), @q NVARCHAR(100), @n INT = 2
BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' WITH ENCRYPTION = OFF
SET @q = QUOTENAME(CAST(@h AS NVARCHAR(36)), '''')
EXEC ('SEND ON CONVERSATION ' + @q + ' (0x41)')
SET @sql = N'SEND ON CONVERSATION ' + QUOTENAME(@h, '''') + N' (''it''''s'')'
EXEC (@sql)
SET @sql = N'IF ' + @q + N' IS NOT NULL BEGIN CONVERSATION TIMER (' + @q + ') TIMEOUT = ' + CAST(@n * 100 AS VARCHAR(10))
EXEC (@sql)
SET @sql = N'RECEIVE TOP (' + LTRIM(STR(@n)) + N') CAST(message_body AS VARCHAR(10)) b FROM q WHERE conversation_handle = ' + @q
EXEC (@sql)
SET @sql = N'DECLARE @x NVARCHAR(100) SET @x = ' + @q + ' PRINT LEN(@x) SELECT COUNT(*) FROM sys.conversation_endpoints WHERE conversation_handle IN (' + @q + N', ''00000000-0000-0000-0000-000000000000'')'
EXEC (@sql)
SET @sql = N'PRINT ' + ISNULL(NULL, N'NULL') + N' END CONVERSATION ' + @q + ' WITH ERROR = ' + LTRIM(STR(@n)) + N' DESCRIPTION = ' + QUOTENAME('why''not', '''')
EXEC (@sql)
RECEIVE CAST(message_body AS NVARCHAR(MAX)) x FROM q
GO
CREATE TABLE t (name nvarchar(10), id int, d datetime, u uniqueidentifier)
INSERT t VALUES (N'a', 1, '20200101', '00000000-0000-0000-0000-000000000001'), (N'b', 2, '20210101', '00000000-0000-0000-0000-000000000002')
GO
DECLARE @list NVARCHAR(MAX), @sql NVARCHAR(MAX), @d NVARCHAR(40)
SELECT @list = COALESCE(@list + ',', '') + '''' + name + '''' FROM t
EXEC ('SELECT COUNT(*) n FROM t WHERE name IN (' + @list + ')')
SET @d = '''20200601'''
EXEC ('SELECT COUNT(*) n FROM t WHERE d > ' + @d)
SET @d = '''00000000-0000-0000-0000-000000000001'''
EXEC ('SELECT COUNT(*) n FROM t WHERE u = ' + @d)
SET @d = '1'
EXEC ('SELECT COUNT(*) n FROM t WHERE id = ' + @d + ' AND name <> ''x''')
EXEC ('UPDATE t SET id = id + ' + @d + ' WHERE id < 2')
SET @d = '''c'''
EXEC ('INSERT t (name, id) VALUES (' + @d + ', 3)')
EXEC ('UPDATE t SET name = name + ' + @d)
SELECT name, id FROM t ORDER BY name
GO
SET NOCOUNT ON
CREATE TABLE aLog (x int); CREATE TABLE [b c] (x int); CREATE TABLE dLog (x int)
INSERT aLog VALUES (1), (2)
GO
CREATE PROC dropall @names NVARCHAR(MAX), @from NVARCHAR(MAX), @tab SYSNAME, @schema SYSNAME = N'dbo' AS
EXEC ('SELECT COUNT(*) AS n FROM ' + @from)
EXEC ('SELECT COUNT(*) AS n FROM ' + @schema + '.' + @tab)
EXEC (N'DROP TABLE ' + @names)
GO
EXEC dropall '[aLog], [b c]', 'aLog AS a CROSS JOIN sys.types WHERE name = ''int''', '[aLog]'
EXEC dropall 'dLog', 'dbo.dLog', 'dLog'
SELECT COUNT(*) AS n FROM sys.tables
GO
DECLARE @p SYSNAME = 'sp_executesql', @what NVARCHAR(100) = 'QUEUE', @n SYSNAME = 'dq', @tail NVARCHAR(100) = ' WITH STATUS = OFF'
EXEC ('CREATE ' + @what + ' ' + @n + @tail)
EXEC ('ALTER QUEUE ' + @n + ' WITH ' + 'STATUS = ON')
SELECT name, is_receive_enabled FROM sys.service_queues WHERE is_ms_shipped = 0
DECLARE @list NVARCHAR(MAX)
SELECT @list = ISNULL(@list + '; ', '') + 'DROP QUEUE ' + name FROM sys.service_queues WHERE is_ms_shipped = 0
EXEC (@list)
SELECT COUNT(*) AS n FROM sys.service_queues WHERE is_ms_shipped = 0
GO
SET NOCOUNT ON
DECLARE @i INT = 3, @w NVARCHAR(100) = N'1 = 1 AND 2 > 1', @none NVARCHAR(10)
EXEC (N'SELECT ' + @i + ' AS three WHERE ' + @w + @none)
EXEC (@none + 'SELECT 4 AS four')
EXEC ('DECLARE @x INT SET @x = ' + @i + ' IF ' + @w + ' PRINT @x')

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

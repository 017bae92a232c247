SET NOCOUNT ON
CREATE QUEUE A CREATE SERVICE [svc/A] ON QUEUE A ([DEFAULT]) CREATE QUEUE B CREATE SERVICE [svc/B] ON QUEUE B ([DEFAULT])
GO
-- procs that take names of queues, services, types from callers
CREATE PROC SendTo @from SYSNAME, @to NVARCHAR(256), @type SYSNAME = N'DEFAULT', @body NVARCHAR(MAX) = NULL, @h UNIQUEIDENTIFIER = NULL OUTPUT AS
BEGIN
  DECLARE @sql NVARCHAR(MAX) = N'BEGIN DIALOG CONVERSATION @h FROM SERVICE [' + @from + N'] TO SERVICE N''' + REPLACE(@to, '''', '''''') + N''' WITH ENCRYPTION = OFF; SEND ON CONVERSATION @h MESSAGE TYPE [' + @type + N'] (@body);'
  EXEC sp_executesql @sql, N'@h UNIQUEIDENTIFIER OUTPUT, @body NVARCHAR(MAX)', @h = @h OUTPUT, @body = @body
END
GO
CREATE PROC ReadFrom @queue NVARCHAR(300), @top INT = 1, @where NVARCHAR(200) = N'' AS
BEGIN
  DECLARE @sql NVARCHAR(MAX)
  SET @sql = 'WAITFOR (RECEIVE TOP (' + CAST(@top AS VARCHAR) + ') service_name, CAST(message_body AS NVARCHAR(MAX)) AS body FROM ' + @queue + ' ' + @where + '), TIMEOUT 50'
  EXEC (@sql)
END
GO
CREATE PROC Depth @queue SYSNAME, @n INT OUTPUT AS
DECLARE @s NVARCHAR(200) SELECT @s = 'SELECT @c = COUNT(*) FROM [' + @queue + '] WITH (NOLOCK)'
EXEC sp_executesql @s, N'@c INT OUT', @c = @n OUT
GO
CREATE PROC SetQueue @queue SYSNAME, @on BIT AS
DECLARE @s NVARCHAR(200) = N'ALTER QUEUE ' + @queue + N' WITH STATUS = ' + CASE WHEN @on = 1 THEN N'ON' ELSE N'OFF' END
EXEC (@s)
GO
DECLARE @h UNIQUEIDENTIFIER, @n INT, @w NVARCHAR(200)
EXEC SendTo 'svc/A', 'svc/B', @body = N'one', @h = @h OUT
EXEC SendTo 'svc/A', 'svc/B', @body = N'two'
EXEC Depth 'B', @n OUT PRINT @n
SET @w = 'WHERE conversation_handle = ''' + CAST((SELECT TOP 1 conversation_handle FROM B ORDER BY queuing_order) AS CHAR(36)) + ''''
EXEC ReadFrom 'dbo.B', @where = @w
EXEC ReadFrom '[B]', 5
EXEC ReadFrom 'B'
EXEC SetQueue 'B', 0
SELECT is_receive_enabled FROM sys.service_queues WHERE name = 'B'
EXEC SetQueue 'dbo.B', 1
EXEC SendTo 'no such', 'svc/B'
GO
DECLARE @kill NVARCHAR(MAX) = ''
SELECT @kill += 'END CONVERSATION ''' + CAST(conversation_handle AS NVARCHAR(36)) + ''' WITH CLEANUP; ' FROM sys.conversation_endpoints
EXEC sp_executesql @kill
SELECT COUNT(*) FROM sys.conversation_endpoints
GO
DECLARE @x XML = '<a><q n="A"/><q n="B"/></a>', @cmd NVARCHAR(MAX)
SELECT @cmd = (SELECT 'ALTER QUEUE ' + q.value('@n', 'sysname') + ' WITH RETENTION = ON; ' FROM @x.nodes('/a/q') t(q) FOR XML PATH(''), TYPE).value('.', 'nvarchar(max)')
EXEC (@cmd)
SELECT name, is_retention_enabled FROM sys.service_queues WHERE is_ms_shipped = 0 ORDER BY name
EXEC ('USE master; SELECT DB_NAME() d')
EXEC sp_executesql N'SELECT @a + @b AS s, @@NESTLEVEL AS l', N'@a INT, @b INT = 4', 3
EXEC ('EXEC (''SELECT 1 AS nested'')')
GO

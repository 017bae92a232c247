-- generic reader with dynamic SQL over any queue
SET NOCOUNT ON
CREATE QUEUE G1 CREATE QUEUE G2
CREATE SERVICE G1 ON QUEUE G1 ([DEFAULT]) CREATE SERVICE G2 ON QUEUE G2 ([DEFAULT])
CREATE TABLE Routing (queue_name sysname PRIMARY KEY, handler sysname)
INSERT Routing VALUES (N'G1', N'dbo.HandleUpper'), (N'G2', N'dbo.HandleLength')
CREATE TABLE Handled (id int identity, queue_name sysname, result nvarchar(200))
GO
CREATE PROC dbo.HandleUpper @body nvarchar(max), @out nvarchar(200) OUTPUT AS SET @out = UPPER(@body)
GO
CREATE PROC dbo.HandleLength @body nvarchar(max), @out nvarchar(200) OUTPUT AS SELECT @out = CAST(LEN(@body) AS nvarchar(20))
GO
CREATE PROC dbo.ReadQueue @queue sysname, @max int = 10 AS
BEGIN
  DECLARE @sql nvarchar(max), @h uniqueidentifier, @body nvarchar(max), @mt sysname, @handler sysname, @res nvarchar(200), @rows int
  SELECT @handler = handler FROM Routing WHERE queue_name = @queue
  SET @sql = N'WAITFOR (RECEIVE TOP (1) @h = conversation_handle, @mt = message_type_name, @body = CAST(message_body AS nvarchar(max)) FROM ' + QUOTENAME(@queue) + N'), TIMEOUT 0; SET @rows = @@ROWCOUNT'
  WHILE @max > 0
  BEGIN
    SELECT @h = NULL, @max -= 1
    BEGIN TRAN
    EXEC sp_executesql @sql, N'@h uniqueidentifier OUTPUT, @mt sysname OUTPUT, @body nvarchar(max) OUTPUT, @rows int OUTPUT', @h OUTPUT, @mt OUTPUT, @body OUTPUT, @rows = @rows OUTPUT
    IF @rows = 0 BEGIN COMMIT BREAK END
    IF @mt = N'DEFAULT'
    BEGIN
      EXEC @handler @body, @res OUTPUT
      INSERT Handled (queue_name, result) VALUES (@queue, @res)
    END
    ELSE IF @mt LIKE N'%ServiceBroker/E%' END CONVERSATION @h
    COMMIT
  END
END
GO
DECLARE @h uniqueidentifier, @svc nvarchar(256) = N'G2', @from sysname = 'G1'
BEGIN DIALOG @h FROM SERVICE @from TO SERVICE @svc WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'hello'); SEND ON CONVERSATION @h (N'world!')
BEGIN DIALOG @h FROM SERVICE G2 TO SERVICE 'G1' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'abc')
END CONVERSATION @h
EXEC ReadQueue 'G2'
EXEC ReadQueue @queue = N'G1'
SELECT * FROM Handled
GO
-- INSERT ... EXEC of a receiving procedure, and of text
DECLARE @h uniqueidentifier
BEGIN DIALOG @h FROM SERVICE G1 TO SERVICE 'G2' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'one'); SEND ON CONVERSATION @h (N'two'); SEND ON CONVERSATION @h (N'three')
GO
CREATE PROC TakeSome @n int AS RECEIVE TOP (@n) queuing_order, CAST(message_body AS nvarchar(20)) AS txt FROM G2
GO
CREATE TABLE #got (o bigint, txt nvarchar(20))
INSERT INTO #got EXEC TakeSome 2
INSERT #got (o, txt) EXEC ('RECEIVE TOP (1) queuing_order, CAST(message_body AS nvarchar(20)) FROM G2')
SELECT txt FROM #got ORDER BY o
DROP TABLE #got
GO
-- queue depth over all queues
DECLARE @depth TABLE (q sysname, n int)
DECLARE @q sysname, @s nvarchar(max)
DECLARE qs CURSOR LOCAL FOR SELECT QUOTENAME(SCHEMA_NAME(schema_id)) + '.' + QUOTENAME(name) FROM sys.service_queues WHERE is_ms_shipped = 0
OPEN qs FETCH NEXT FROM qs INTO @q
WHILE @@FETCH_STATUS = 0
BEGIN
  SET @s = N'SELECT ''' + @q + N''', COUNT(*) FROM ' + @q + N' WITH (NOLOCK) HAVING COUNT(*) >= 0'
  INSERT @depth EXEC (@s)
  FETCH NEXT FROM qs INTO @q
END
CLOSE qs DEALLOCATE qs
SELECT * FROM @depth ORDER BY q
DECLARE @all nvarchar(max) = N''
SELECT @all = @all + N'DROP SERVICE ' + QUOTENAME(s.name) + N'; DROP QUEUE ' + QUOTENAME(SCHEMA_NAME(q.schema_id)) + N'.' + QUOTENAME(q.name) + N';' + CHAR(13) + CHAR(10)
FROM sys.services s JOIN sys.service_queues q ON q.object_id = s.service_queue_id WHERE q.is_ms_shipped = 0 ORDER BY s.name
PRINT @all
EXEC sys.sp_executesql @all
SELECT COUNT(*) FROM sys.service_queues WHERE is_ms_shipped = 0
GO

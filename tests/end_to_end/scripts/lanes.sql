-- Request throttling: n queues, work goes to the shortest one
CREATE TABLE Lanes (LaneNo TINYINT PRIMARY KEY, QueueName AS (N'LaneQueue' + CONVERT(NVARCHAR(3), LaneNo)), SvcName AS CAST(N'LaneSvc' + CONVERT(NVARCHAR(3), LaneNo) AS NVARCHAR(128)) PERSISTED, Depth INT NOT NULL DEFAULT 0)
GO
DECLARE @i TINYINT SET @i = 1
WHILE @i <= 3
BEGIN
  INSERT Lanes (LaneNo) VALUES (@i)
  DECLARE @s NVARCHAR(1000)
  SELECT @s = 'CREATE QUEUE ' + QueueName + ' WITH STATUS = ON, POISON_MESSAGE_HANDLING (STATUS = OFF) CREATE SERVICE [' + SvcName + '] ON QUEUE ' + QueueName + ' ([DEFAULT])' FROM Lanes WHERE LaneNo = @i
  EXEC sp_executesql @s
  SET @i = @i + 1
END
CREATE QUEUE GateQueue CREATE SERVICE GateSvc ON QUEUE GateQueue
GO
CREATE PROC Submit (@payload NVARCHAR(200), @lane INT OUTPUT) AS
SET NOCOUNT ON
DECLARE @dlg UNIQUEIDENTIFIER, @svc NVARCHAR(128)
SELECT TOP 1 @lane = LaneNo, @svc = SvcName FROM Lanes WITH (UPDLOCK, ROWLOCK) ORDER BY Depth, LaneNo
UPDATE Lanes SET Depth += 1 WHERE LaneNo = @lane
BEGIN DIALOG @dlg FROM SERVICE GateSvc TO SERVICE @svc WITH ENCRYPTION = OFF, LIFETIME = 60
IF @@ERROR <> 0 RETURN -1
SEND ON CONVERSATION @dlg (@payload)
RETURN @@ERROR
GO
DECLARE @n INT = 0, @l INT, @rc INT, @p NVARCHAR(200)
WHILE @n < 7
BEGIN
  SELECT @n += 1, @p = CONCAT(N'job ', @n)
  EXEC @rc = Submit @p, @l OUT
  PRINT FORMATMESSAGE('%s -> lane %d (%d)', @p, @l, @rc)
END
SELECT LaneNo, QueueName, SvcName, Depth FROM Lanes ORDER BY LaneNo
GO
CREATE PROC Drain @lane INT, @max INT = 100 AS
BEGIN
  SET NOCOUNT ON
  DECLARE @done TABLE (id INT IDENTITY(1,1), h UNIQUEIDENTIFIER, t SYSNAME, txt NVARCHAR(200), UNIQUE (h, id))
  DECLARE @sql NVARCHAR(MAX) = REPLACE(REPLACE(N'
    DECLARE @got TABLE (conversation_handle UNIQUEIDENTIFIER, message_type_name NVARCHAR(256), message_body VARBINARY(MAX));
    RECEIVE TOP ({m}) conversation_handle, message_type_name, message_body FROM LaneQueue{n} INTO @got;
    SELECT conversation_handle, message_type_name, CAST(message_body AS NVARCHAR(200)) FROM @got;', '{n}', @lane), '{m}', @max)
  DECLARE @before INT = 0
  WHILE 1 = 1
  BEGIN
    INSERT INTO @done (h, t, txt) EXEC (@sql)
    IF @@ROWCOUNT = 0 BREAK
  END
  DECLARE @h UNIQUEIDENTIFIER
  SET @h = (SELECT MIN(CAST(h AS CHAR(36))) FROM @done)
  WHILE @h IS NOT NULL
  BEGIN
    BEGIN TRY END CONVERSATION @h END TRY
    BEGIN CATCH IF ERROR_NUMBER() NOT IN (8426, 8427) THROW END CATCH
    SET @h = (SELECT MIN(CAST(h AS CHAR(36))) FROM @done WHERE CAST(h AS CHAR(36)) > CAST(@h AS CHAR(36)))
  END
  UPDATE Lanes SET Depth -= (SELECT COUNT(*) FROM @done WHERE t = 'DEFAULT') WHERE LaneNo = @lane
  SELECT @lane AS lane, txt FROM @done WHERE t = N'DEFAULT' ORDER BY id
END
GO
DECLARE @i INT = 1
WHILE @i < 4 BEGIN EXEC Drain @i, 2 SET @i += 1 END
GO
SELECT LaneNo, Depth FROM Lanes ORDER BY LaneNo
DECLARE @got TABLE (h UNIQUEIDENTIFIER, t NVARCHAR(256))
WHILE EXISTS (SELECT * FROM GateQueue) BEGIN
  RECEIVE conversation_handle, message_type_name FROM GateQueue INTO @got
END
SELECT t, COUNT(*) n FROM @got GROUP BY t ORDER BY t
DECLARE e CURSOR FOR SELECT h FROM @got
DECLARE @x UNIQUEIDENTIFIER
OPEN e FETCH e INTO @x
WHILE @@FETCH_STATUS = 0 BEGIN END CONVERSATION @x FETCH e INTO @x END
CLOSE e DEALLOCATE e
SELECT COUNT(*) open_ends FROM sys.conversation_endpoints WHERE state NOT IN ('CD')
GO
-- teardown in dependency order
DECLARE @cmd NVARCHAR(MAX) = N''
SELECT @cmd = @cmd + N'DROP SERVICE ' + QUOTENAME(name) + N'; ' FROM sys.services WHERE name LIKE 'LaneSvc%' OR name = 'GateSvc'
SELECT @cmd += N'DROP QUEUE ' + QUOTENAME(SCHEMA_NAME(schema_id)) + N'.' + QUOTENAME(name) + CHAR(13) + CHAR(10) FROM sys.service_queues WHERE is_ms_shipped = 0
EXEC (@cmd)
SELECT COUNT(*) AS queues FROM sys.service_queues WHERE is_ms_shipped = 0
DROP TABLE Lanes
GO

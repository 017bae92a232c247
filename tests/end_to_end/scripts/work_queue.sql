SET XACT_ABORT ON; SET NOCOUNT ON
GO
IF OBJECT_ID('dbo.WorkLog') IS NOT NULL DROP TABLE dbo.WorkLog
IF OBJECT_ID('dbo.Retry', 'U') IS NOT NULL DROP TABLE dbo.Retry
IF OBJECT_ID('dbo.usp_DoWork', 'P') IS NOT NULL DROP PROC dbo.usp_DoWork
IF EXISTS (SELECT * FROM sys.services WHERE name = 'WorkService') DROP SERVICE WorkService
IF EXISTS (SELECT * FROM sys.service_queues WHERE name = 'WorkQueue') DROP QUEUE WorkQueue
GO
CREATE TABLE dbo.WorkLog (id int identity, item int, result varchar(100), at datetime default getdate())
CREATE TABLE dbo.Retry (dialog_handle uniqueidentifier primary key, attempts int not null default 0, last_error nvarchar(2048), next_try datetime)
GO
CREATE MESSAGE TYPE Work VALIDATION = WELL_FORMED_XML
CREATE MESSAGE TYPE WorkDone VALIDATION = EMPTY
CREATE CONTRACT WorkContract (Work SENT BY INITIATOR, WorkDone SENT BY TARGET)
CREATE QUEUE WorkQueue
CREATE QUEUE WorkReply
CREATE SERVICE WorkService ON QUEUE WorkQueue (WorkContract)
CREATE SERVICE WorkClient ON QUEUE WorkReply
GO
CREATE PROC dbo.usp_Enqueue @item int, @fail bit = 0, @h uniqueidentifier = NULL OUTPUT
AS
SET NOCOUNT ON
DECLARE @x xml
SELECT @x = (SELECT @item AS [@id], @fail AS [@fail] FOR XML PATH('task'))
IF @h IS NULL
BEGIN DIALOG @h FROM SERVICE WorkClient TO SERVICE 'WorkService' ON CONTRACT WorkContract WITH ENCRYPTION = OFF, LIFETIME = 3600;
SEND ON CONVERSATION @h MESSAGE TYPE Work (@x);
RETURN 0
GO
CREATE PROC dbo.usp_DoWork
AS
BEGIN
SET NOCOUNT ON; SET XACT_ABORT OFF
DECLARE @h uniqueidentifier, @mt sysname, @body xml, @id int, @err int, @msg nvarchar(2048), @n int
WHILE 1=1
BEGIN
  SET @h = NULL
  BEGIN TRAN
  WAITFOR (RECEIVE TOP(1) @h = conversation_handle, @mt = message_type_name, @body = CAST(message_body AS xml) FROM WorkQueue), TIMEOUT 100
  IF @h IS NULL BEGIN COMMIT; BREAK END
  SAVE TRAN work_start
  BEGIN TRY
    IF @mt = 'Work'
    BEGIN
      SET @id = @body.value('(/task/@id)[1]','int')
      INSERT dbo.WorkLog (item, result) VALUES (@id, 'started')
      IF @body.value('(/task/@fail)[1]','bit') = 1
        RAISERROR('item %d cannot be done', 16, 7, @id)
      UPDATE dbo.WorkLog SET result = 'done' WHERE item = @id
      ;SEND ON CONVERSATION @h MESSAGE TYPE WorkDone
      END CONVERSATION @h
    END
    ELSE IF @mt = 'http://schemas.microsoft.com/SQL/ServiceBroker/DialogTimer'
    BEGIN
      PRINT 'timer'
    END
    ELSE IF @mt IN ('http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog','http://schemas.microsoft.com/SQL/ServiceBroker/Error')
      END CONVERSATION @h
    ELSE
      END CONVERSATION @h WITH ERROR = 1 DESCRIPTION = 'unexpected message'
    COMMIT
  END TRY
  BEGIN CATCH
    SELECT @err = ERROR_NUMBER(), @msg = ERROR_MESSAGE()
    IF XACT_STATE() = -1
    BEGIN
      ROLLBACK
      PRINT 'doomed: ' + @msg
      BREAK
    END
    IF XACT_STATE() = 1
    BEGIN
      ROLLBACK TRAN work_start
      UPDATE dbo.Retry SET attempts = attempts + 1, last_error = @msg, next_try = DATEADD(ss, 30, GETDATE()) WHERE dialog_handle = @h
      IF @@ROWCOUNT = 0
        INSERT dbo.Retry (dialog_handle, attempts, last_error, next_try) VALUES (@h, 1, @msg, DATEADD(second, 30, GETDATE()))
      SELECT @n = attempts FROM dbo.Retry WHERE dialog_handle = @h
      IF @n >= 3
        END CONVERSATION @h WITH ERROR = @err DESCRIPTION = @msg
      ELSE
        BEGIN CONVERSATION TIMER (@h) TIMEOUT = 30
      COMMIT
    END
  END CATCH
END
END
GO
DECLARE @i int, @h uniqueidentifier; SET @i = 1
WHILE @i <= 3 BEGIN SET @h = NULL; EXEC dbo.usp_Enqueue @i, @h = @h OUTPUT; SET @i += 1 END
EXEC usp_Enqueue @item = 4, @fail = 1
GO
EXEC dbo.usp_DoWork
GO
SELECT item, result FROM dbo.WorkLog ORDER BY id
SELECT attempts, last_error, CASE WHEN next_try > GETDATE() THEN 'later' END AS nt FROM Retry
SELECT message_type_name, COUNT(*) AS n FROM WorkReply GROUP BY message_type_name WITH ROLLUP
SELECT CASE WHEN DATEDIFF(SECOND, GETUTCDATE(), dialog_timer) BETWEEN 20 AND 30 THEN 1 END AS soon FROM sys.conversation_endpoints WHERE dialog_timer IS NOT NULL AND dialog_timer > '20000101'
GO
DECLARE @t TABLE (h uniqueidentifier, mt sysname, body varbinary(max))
DECLARE @c int
WHILE 1 = 1
BEGIN
	DELETE @t
	RECEIVE conversation_handle, message_type_name, message_body FROM WorkReply INTO @t
	IF @@ROWCOUNT = 0 BREAK
	DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT h, mt FROM @t WHERE mt LIKE '%/EndDialog'
	DECLARE @h uniqueidentifier, @mt sysname
	OPEN c
	FETCH NEXT FROM c INTO @h, @mt
	WHILE @@FETCH_STATUS = 0
	BEGIN
		END CONVERSATION @h
		FETCH NEXT FROM c INTO @h, @mt
	END
	CLOSE c; DEALLOCATE c
	SELECT mt, COUNT(*) n FROM @t GROUP BY mt
END
SELECT COUNT(*) AS endpoints FROM sys.conversation_endpoints WHERE state <> 'CD'
GO

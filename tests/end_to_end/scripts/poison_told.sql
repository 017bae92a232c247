-- The fifth ROLLBACK disables the queue and is told at once; to switch poison handling off does not enable it again.
SET NOCOUNT ON
CREATE QUEUE BadQ
CREATE QUEUE TellQ
CREATE SERVICE BadS ON QUEUE BadQ ([DEFAULT])
CREATE SERVICE TellS ON QUEUE TellQ ([http://schemas.microsoft.com/SQL/Notifications/PostEventNotification])
CREATE EVENT NOTIFICATION BadNote ON QUEUE BadQ FOR BROKER_QUEUE_DISABLED TO SERVICE 'TellS', 'current database'
GO
CREATE PROCEDURE Fail AS
  BEGIN TRY
    BEGIN TRAN;
    RECEIVE TOP (1) * FROM BadQ
    RAISERROR ('no', 16, 1)
  END TRY
  BEGIN CATCH
    IF @@TRANCOUNT > 0 ROLLBACK
  END CATCH
GO
DECLARE @h UNIQUEIDENTIFIER, @b VARBINARY(MAX), @n INT = 0
BEGIN DIALOG @h FROM SERVICE BadS TO SERVICE 'BadS' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'bad')
WHILE @n < 4
BEGIN
  BEGIN TRAN;
  RECEIVE TOP (1) @b = message_body FROM BadQ
  ROLLBACK
  SET @n += 1
END
SELECT COUNT(*) AS told FROM TellQ
BEGIN TRAN;
RECEIVE TOP (1) @b = message_body FROM BadQ
ROLLBACK
DECLARE @x XML
WAITFOR (RECEIVE TOP (1) @x = message_body FROM TellQ), TIMEOUT 1000
SELECT @x.value('(//EventType)[1]', 'sysname') AS event, @x.value('(//SchemaName)[1]', 'sysname') AS sch, @x.value('(//ObjectName)[1]', 'sysname') AS obj
ALTER QUEUE BadQ WITH POISON_MESSAGE_HANDLING (STATUS = OFF)
SELECT is_receive_enabled, is_poison_message_handling_enabled FROM sys.service_queues WHERE name = 'BadQ';
RECEIVE * FROM BadQ
GO
DROP EVENT NOTIFICATION BadNote ON QUEUE BadQ
ALTER QUEUE BadQ WITH STATUS = ON, POISON_MESSAGE_HANDLING (STATUS = ON)
DECLARE @n INT = 0, @b VARBINARY(MAX)
WHILE @n < 5 BEGIN BEGIN TRAN; RECEIVE TOP (1) @b = message_body FROM BadQ; ROLLBACK; SET @n += 1 END
ALTER QUEUE BadQ WITH POISON_MESSAGE_HANDLING (STATUS = OFF)
SELECT is_receive_enabled FROM sys.service_queues WHERE name = 'BadQ'
ALTER QUEUE BadQ WITH STATUS = ON;
RECEIVE CAST(message_body AS NVARCHAR(9)) AS body FROM BadQ
GO

-- Who waits for a timer or for the end of a LIFETIME and looks into the queue finds it there, daemon or not.
CREATE QUEUE DueQueue
CREATE QUEUE FarQueue
CREATE SERVICE Due ON QUEUE DueQueue ([DEFAULT])
CREATE SERVICE Far ON QUEUE FarQueue ([DEFAULT])
GO
CREATE PROCEDURE wait_a_second AS
WAITFOR DELAY '00:00:01.1'
SELECT message_type_name FROM DueQueue
SELECT dialog_timer FROM sys.conversation_endpoints WHERE is_initiator = 1
GO
DECLARE @timed UNIQUEIDENTIFIER, @mortal UNIQUEIDENTIFIER
BEGIN DIALOG @timed FROM SERVICE Due TO SERVICE 'Far'
BEGIN CONVERSATION TIMER (@timed) TIMEOUT = 1
BEGIN TRANSACTION
WAITFOR DELAY '00:00:00.01'
COMMIT
EXEC wait_a_second
END CONVERSATION @timed WITH CLEANUP;
RECEIVE message_type_name FROM DueQueue;
BEGIN DIALOG @mortal FROM SERVICE Due TO SERVICE 'Far' WITH LIFETIME = 1;
SEND ON CONVERSATION @mortal (N'x')
WAITFOR DELAY '00:00:01.1'
SELECT message_type_name FROM DueQueue
SELECT message_type_name FROM FarQueue ORDER BY message_type_name
GO

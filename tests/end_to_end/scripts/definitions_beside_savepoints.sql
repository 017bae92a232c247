-- What no transaction holds is committed by itself, in a batch with savepoints too: definitions as well as rows.
SET NOCOUNT ON
CREATE QUEUE Inbox
CREATE QUEUE Spare
CREATE SERVICE Desk ON QUEUE Inbox ([DEFAULT])
CREATE TABLE dbo.Note (Id INT)
GO
ALTER QUEUE Inbox WITH RETENTION = ON
CREATE MESSAGE TYPE Made
CREATE CONTRACT Made (Made SENT BY ANY)
ALTER SERVICE Desk ON QUEUE Spare
CREATE SYNONYM dbo.Notes FOR dbo.Note
ALTER TABLE dbo.Note ADD Text NVARCHAR(20)
GRANT SEND ON SERVICE::Desk TO PUBLIC
CREATE ROUTE Made WITH SERVICE_NAME = 'Made', ADDRESS = 'LOCAL'
BEGIN TRAN
SAVE TRAN before
ROLLBACK TRAN before
ROLLBACK
SELECT is_retention_enabled FROM sys.service_queues WHERE name = 'Inbox'
SELECT name FROM sys.service_message_types WHERE name = 'Made'
SELECT name FROM sys.service_contracts WHERE name = 'Made'
SELECT q.name FROM sys.services AS s JOIN sys.service_queues AS q ON q.object_id = s.service_queue_id WHERE s.name = 'Desk'
SELECT name FROM sys.synonyms
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.Note') ORDER BY column_id
SELECT permission_name FROM sys.database_permissions WHERE class_desc = 'SERVICE' AND permission_name = 'SEND'
SELECT name FROM sys.routes WHERE name = 'Made'
GO
-- A reader that gives up on a message, with the poison handling that it has set before.
DECLARE @h UNIQUEIDENTIFIER, @i INT = 0
ALTER SERVICE Desk ON QUEUE Inbox
BEGIN DIALOG @h FROM SERVICE Desk TO SERVICE 'Desk' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h
ALTER QUEUE Inbox WITH RETENTION = OFF, POISON_MESSAGE_HANDLING (STATUS = OFF)
WHILE @i < 6
BEGIN
    SET @i += 1
    BEGIN TRAN;
    RECEIVE TOP (1) @h = conversation_handle FROM Inbox
    PRINT CONCAT(@@ROWCOUNT, ' ', @@ERROR)
    SAVE TRAN work
    INSERT dbo.Note (Id) VALUES (@i)
    ROLLBACK TRAN work
    ROLLBACK
END
GO
CREATE PROCEDURE dbo.Prepare AS
ALTER QUEUE Inbox WITH STATUS = OFF
BEGIN TRAN
SAVE TRAN before
INSERT dbo.Note (Id) VALUES (7)
ROLLBACK TRAN before
ROLLBACK
GO
EXEC dbo.Prepare
SELECT is_receive_enabled FROM sys.service_queues WHERE name = 'Inbox'
SELECT COUNT(*) AS notes FROM dbo.Note
GO

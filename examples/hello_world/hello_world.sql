-- Hello World: one service asks, another answers, both say goodbye.
-- Can be run again: the database is made anew each time.

USE master;
GO
IF EXISTS (SELECT * FROM sys.databases WHERE name = 'HelloWorld')
    DROP DATABASE HelloWorld;
GO
CREATE DATABASE HelloWorld;
GO
USE HelloWorld;
GO

-- What may be said, and by whom.
CREATE MESSAGE TYPE [//Hello/Question] VALIDATION = WELL_FORMED_XML;
CREATE MESSAGE TYPE [//Hello/Answer] VALIDATION = NONE;
CREATE CONTRACT [//Hello/Contract] (
    [//Hello/Question] SENT BY INITIATOR,
    [//Hello/Answer] SENT BY TARGET
);

-- Each side has a queue; a service is the name under which others reach it.
CREATE QUEUE AskerQueue;
CREATE QUEUE GreeterQueue;
CREATE SERVICE [//Hello/Asker] ON QUEUE AskerQueue;
CREATE SERVICE [//Hello/Greeter] ON QUEUE GreeterQueue ([//Hello/Contract]);
GO

-- The asker begins a dialog and sends its question.
SET NOCOUNT ON;
DECLARE @dialog UNIQUEIDENTIFIER;
BEGIN TRANSACTION;
BEGIN DIALOG CONVERSATION @dialog
    FROM SERVICE [//Hello/Asker]
    TO SERVICE '//Hello/Greeter'
    ON CONTRACT [//Hello/Contract]
    WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @dialog
    MESSAGE TYPE [//Hello/Question] (N'<question from="World">Is anybody there?</question>');
COMMIT;
PRINT 'The question is sent.';
GO

-- A queue can be looked at like a table.
SELECT status, message_type_name, CAST(message_body AS NVARCHAR(MAX)) AS body
FROM GreeterQueue;
GO

-- The greeter receives the question, answers it and ends its side.
SET NOCOUNT ON;
DECLARE @dialog UNIQUEIDENTIFIER, @type SYSNAME, @body XML;
BEGIN TRANSACTION;
WAITFOR (
    RECEIVE TOP (1)
        @dialog = conversation_handle,
        @type = message_type_name,
        @body = CAST(message_body AS XML)
    FROM GreeterQueue
), TIMEOUT 1000;
IF @type = '//Hello/Question'
BEGIN
    DECLARE @who NVARCHAR(100) = @body.value('(/question/@from)[1]', 'nvarchar(100)');
    PRINT 'Received from ' + @who + ': ' + @body.value('(/question)[1]', 'nvarchar(100)');
    SEND ON CONVERSATION @dialog MESSAGE TYPE [//Hello/Answer] (N'Hello ' + @who + N'!');
    END CONVERSATION @dialog;
END;
COMMIT;
GO

-- The asker finds the answer and the end of the dialog, in this order, and ends its side.
SET NOCOUNT ON;
DECLARE @dialog UNIQUEIDENTIFIER, @type SYSNAME, @body NVARCHAR(MAX);
WHILE 1 = 1
BEGIN
    BEGIN TRANSACTION;
    RECEIVE TOP (1)
        @dialog = conversation_handle,
        @type = message_type_name,
        @body = CAST(message_body AS NVARCHAR(MAX))
    FROM AskerQueue;
    IF @@ROWCOUNT = 0
    BEGIN
        COMMIT;
        BREAK;
    END;
    IF @type = '//Hello/Answer'
        PRINT 'The answer is: ' + @body;
    ELSE IF @type = 'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog'
    BEGIN
        PRINT 'The greeter said goodbye.';
        END CONVERSATION @dialog;
    END;
    COMMIT;
END;
GO

-- Nothing is left of the dialog on the asker's side.
SELECT COUNT(*) AS open_conversations
FROM sys.conversation_endpoints
WHERE state <> 'CD';
GO

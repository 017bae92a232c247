-- A service that answers by itself: the queue starts its program when a message arrives.
-- Needs the daemon: pgsb run --activate greeter.sql, or pgsb broker beside it.
-- Can be run again: the database is made anew each time.

USE master;
GO
IF EXISTS (SELECT * FROM sys.databases WHERE name = 'Greeter')
    DROP DATABASE Greeter;
GO
CREATE DATABASE Greeter;
GO
USE Greeter;
GO
CREATE QUEUE AskerQueue;
CREATE QUEUE GreeterQueue;
CREATE SERVICE [//Greeter/Asker] ON QUEUE AskerQueue;
CREATE SERVICE [//Greeter/Greeter] ON QUEUE GreeterQueue ([DEFAULT]);
GO

-- The service program: one transaction a message, until none comes for half a second.
CREATE PROCEDURE dbo.Greet
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @dialog UNIQUEIDENTIFIER, @type SYSNAME, @name NVARCHAR(MAX);
    WHILE 1 = 1
    BEGIN
        BEGIN TRANSACTION;
        WAITFOR (
            RECEIVE TOP (1)
                @dialog = conversation_handle,
                @type = message_type_name,
                @name = CAST(message_body AS NVARCHAR(MAX))
            FROM GreeterQueue
        ), TIMEOUT 500;
        IF @@ROWCOUNT = 0
        BEGIN
            ROLLBACK;
            BREAK;
        END;
        IF @type = 'DEFAULT'
        BEGIN
            PRINT 'greeting ' + @name;
            SEND ON CONVERSATION @dialog (N'Hello, ' + @name + N'!');
        END
        ELSE
            END CONVERSATION @dialog;
        COMMIT;
    END;
END;
GO
ALTER QUEUE GreeterQueue WITH ACTIVATION (
    STATUS = ON,
    PROCEDURE_NAME = dbo.Greet,
    MAX_QUEUE_READERS = 2,
    EXECUTE AS OWNER
);
GO

-- From here on nobody calls dbo.Greet. Two messages go out; two answers come back.
SET NOCOUNT ON;
DECLARE @dialog UNIQUEIDENTIFIER, @answer NVARCHAR(MAX), @answers INT = 0;
BEGIN DIALOG @dialog
    FROM SERVICE [//Greeter/Asker] TO SERVICE '//Greeter/Greeter'
    WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @dialog (N'World');
SEND ON CONVERSATION @dialog (N'Moon');
WHILE @answers < 2
BEGIN
    WAITFOR (
        RECEIVE TOP (1) @answer = CAST(message_body AS NVARCHAR(MAX)) FROM AskerQueue
    ), TIMEOUT 10000;
    IF @@ROWCOUNT = 0
    BEGIN
        PRINT 'No answer: is the daemon running?';
        BREAK;
    END;
    PRINT @answer;
    SET @answers = @answers + 1;
END;
END CONVERSATION @dialog;
GO

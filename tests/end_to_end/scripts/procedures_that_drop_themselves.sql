-- A procedure that clears up after itself takes itself away, directly, by what it executes, or on the last of several calls.
CREATE QUEUE OnceQueue
CREATE SERVICE Once ON QUEUE OnceQueue ([DEFAULT])
GO
CREATE PROCEDURE clear_up AS
BEGIN
    BEGIN TRANSACTION;
    RECEIVE TOP (0) conversation_handle FROM OnceQueue;
    IF EXISTS (SELECT * FROM sys.services WHERE name = 'Once') DROP SERVICE Once;
    IF OBJECT_ID('OnceQueue', 'SQ') IS NOT NULL DROP QUEUE OnceQueue;
    DROP PROCEDURE clear_up;
    COMMIT TRANSACTION;
    SELECT name FROM sys.procedures;
    PRINT 'cleared';
END
GO
BEGIN TRANSACTION
EXEC clear_up
ROLLBACK
GO
SELECT name FROM sys.service_queues WHERE is_ms_shipped = 0
EXEC clear_up
SELECT name FROM sys.service_queues WHERE is_ms_shipped = 0
EXEC clear_up
GO
CREATE PROCEDURE [a "b".c d] AS
DECLARE @seen TABLE (a INT)
INSERT @seen VALUES (1)
DROP PROCEDURE [a "b".c d]
INSERT @seen VALUES (2)
SELECT a FROM @seen
EXEC ('CREATE PROCEDURE [a "b".c d] AS PRINT ''another''')
EXEC [a "b".c d]
RETURN 7
GO
DECLARE @code INT
EXEC @code = [a "b".c d]
PRINT @code
EXEC [a "b".c d]
DROP PROCEDURE [a "b".c d]
GO
CREATE PROCEDURE takes_away AS DROP PROCEDURE main_one
GO
CREATE PROCEDURE main_one AS
BEGIN
    EXEC takes_away
    BEGIN TRY
        EXEC takes_away
    END TRY
    BEGIN CATCH
        PRINT ERROR_MESSAGE()
    END CATCH
END
GO
EXEC main_one
GO
CREATE PROCEDURE count_down @n INT AS
IF @n > 0
BEGIN
    SET @n -= 1
    EXEC count_down @n
    RETURN
END
DROP PROCEDURE count_down
GO
EXEC count_down 3
GO
CREATE PROCEDURE becomes_another AS
EXEC ('ALTER PROCEDURE becomes_another @said NVARCHAR(10) = N''new'' AS PRINT @said')
PRINT 'old'
GO
EXEC becomes_another
EXEC becomes_another
DROP PROCEDURE becomes_another, takes_away
SELECT name FROM sys.procedures
GO
CREATE TRIGGER told ON DATABASE FOR CREATE_PROCEDURE, ALTER_PROCEDURE, DROP_PROCEDURE, RENAME AS
PRINT EVENTDATA().value('concat((/EVENT_INSTANCE/EventType)[1], " ", (/EVENT_INSTANCE/ObjectName)[1])', 'NVARCHAR(100)')
GO
CREATE PROCEDURE told_one AS DROP PROCEDURE told_one
GO
EXEC told_one
GO
CREATE PROCEDURE told_two AS EXEC ('ALTER PROCEDURE told_two @more INT = 1 AS PRINT @more')
GO
EXEC told_two
EXEC told_two
DROP PROCEDURE told_two
GO

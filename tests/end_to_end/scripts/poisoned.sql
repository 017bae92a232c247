SET NOCOUNT ON
GO
CREATE QUEUE PoisonQ
CREATE QUEUE WatchQ
CREATE SERVICE PoisonS ON QUEUE PoisonQ ([DEFAULT])
CREATE SERVICE WatchS ON QUEUE WatchQ ([http://schemas.microsoft.com/SQL/Notifications/PostEventNotification])
CREATE EVENT NOTIFICATION PoisonSeen ON QUEUE PoisonQ FOR BROKER_QUEUE_DISABLED TO SERVICE 'WatchS', 'current database'
CREATE TABLE Handled (id INT IDENTITY PRIMARY KEY, body VARCHAR(50), tries INT)
GO
CREATE PROCEDURE HandleOne @fail BIT AS
BEGIN
    DECLARE @h UNIQUEIDENTIFIER, @b VARCHAR(50), @err INT
    BEGIN TRY
        BEGIN TRANSACTION outermost
            RECEIVE TOP (1) @h = conversation_handle, @b = CAST(message_body AS VARCHAR(50)) FROM PoisonQ
            IF @@ROWCOUNT = 0 BEGIN ROLLBACK TRANSACTION outermost; RETURN 1 END
            BEGIN TRANSACTION
                INSERT Handled (body, tries) VALUES (@b, @@TRANCOUNT)
                IF @fail = 1 SELECT 1 / 0
            COMMIT TRANSACTION
        COMMIT TRANSACTION outermost
        RETURN 0
    END TRY
    BEGIN CATCH
        SET @err = ERROR_NUMBER()
        WHILE @@TRANCOUNT > 0 ROLLBACK
        RETURN @err
    END CATCH
END
GO
DECLARE @h UNIQUEIDENTIFIER, @rc INT, @i INT = 0
BEGIN DIALOG @h FROM SERVICE PoisonS TO SERVICE 'PoisonS' WITH ENCRYPTION = OFF
SEND ON CONVERSATION @h ('bad apple')
WHILE @i < 7
BEGIN
    SET @i += 1
    EXEC @rc = HandleOne @fail = 1
    PRINT CONCAT('try ', @i, ': ', @rc)
    IF EXISTS (SELECT * FROM sys.service_queues WHERE name = 'PoisonQ' AND is_receive_enabled = 0) BREAK
END
SELECT is_receive_enabled r, is_enqueue_enabled e, is_poison_message_handling_enabled p FROM sys.service_queues WHERE name = 'PoisonQ'
EXEC @rc = HandleOne 0
PRINT @rc

SEND ON CONVERSATION @h ('waits')
SELECT COUNT(*) waiting FROM sys.transmission_queue
SELECT CAST(message_body AS XML).value('(/EVENT_INSTANCE/EventType)[1]', 'sysname') e, CAST(message_body AS XML).value('(/EVENT_INSTANCE/ObjectName)[1]', 'sysname') o FROM WatchQ
ALTER QUEUE PoisonQ WITH STATUS = ON
EXEC @rc = HandleOne 0 PRINT @rc
EXEC @rc = HandleOne 0 PRINT @rc
EXEC @rc = HandleOne 0 PRINT @rc
SELECT body, tries FROM Handled
ALTER QUEUE PoisonQ WITH POISON_MESSAGE_HANDLING (STATUS = OFF)
SEND ON CONVERSATION @h ('never mind')
SET @i = 0
again: SET @i = @i + 1
EXEC HandleOne 1
IF @i < 8 GOTO again
SELECT is_receive_enabled r, (SELECT COUNT(*) FROM PoisonQ) n FROM sys.service_queues WHERE name = 'PoisonQ'
GO

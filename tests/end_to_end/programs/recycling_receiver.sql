-- The receiver of both variants: keeps what arrives, in order, and ends a dialog at its EndOfStream.
CREATE MESSAGE TYPE [Audit] VALIDATION = NONE;
CREATE MESSAGE TYPE [EndOfStream] VALIDATION = EMPTY;
CREATE CONTRACT [AuditContract] ([Audit] SENT BY INITIATOR, [EndOfStream] SENT BY INITIATOR);
CREATE CONTRACT [OtherContract] ([Audit] SENT BY INITIATOR, [EndOfStream] SENT BY INITIATOR);
CREATE QUEUE sender_queue;
CREATE QUEUE receiver_queue;
CREATE SERVICE [Sender] ON QUEUE sender_queue;
CREATE SERVICE [Receiver] ON QUEUE receiver_queue ([AuditContract], [OtherContract]);
CREATE TABLE arrived (id INT IDENTITY PRIMARY KEY, dialog UNIQUEIDENTIFIER, type SYSNAME, body VARCHAR(100));
GO
CREATE PROCEDURE receive_all
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @dialog UNIQUEIDENTIFIER, @type SYSNAME, @body VARBINARY(MAX);
    WHILE 1 = 1
    BEGIN
        BEGIN TRANSACTION;
        SET @dialog = NULL;
        WAITFOR (RECEIVE TOP (1) @dialog = conversation_handle, @type = message_type_name, @body = message_body
                 FROM receiver_queue), TIMEOUT 200;
        IF @dialog IS NULL
        BEGIN
            COMMIT;
            BREAK;
        END
        INSERT INTO arrived (dialog, type, body) VALUES (@dialog, @type, CAST(@body AS VARCHAR(100)));
        IF @type = N'EndOfStream'
            END CONVERSATION @dialog;
        COMMIT;
    END
END
GO
ALTER QUEUE receiver_queue WITH ACTIVATION
    (STATUS = ON, MAX_QUEUE_READERS = 2, PROCEDURE_NAME = receive_all, EXECUTE AS OWNER);
GO

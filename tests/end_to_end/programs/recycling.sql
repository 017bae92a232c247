-- Each session keeps one dialog per pair of services; a timer ends its use, the receiver ends it.
CREATE TABLE session_dialogs (
    session INT NOT NULL,
    sender SYSNAME NOT NULL,
    receiver SYSNAME NOT NULL,
    contract SYSNAME NOT NULL,
    dialog UNIQUEIDENTIFIER NOT NULL UNIQUE,
    PRIMARY KEY (session, sender, receiver, contract));
GO
CREATE PROCEDURE push (
    @sender SYSNAME, @receiver SYSNAME, @contract SYSNAME, @type SYSNAME, @body VARBINARY(MAX))
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @dialog UNIQUEIDENTIFIER, @failure INT, @tries INT = 0;
    BEGIN TRANSACTION;
    WHILE @tries < 10
    BEGIN
        SET @dialog = NULL;
        -- The row must stay until the message is sent: the timer's program waits for it.
        SELECT @dialog = dialog FROM session_dialogs WITH (HOLDLOCK)
            WHERE session = @@SPID AND sender = @sender AND receiver = @receiver AND contract = @contract;
        IF @dialog IS NULL
        BEGIN
            BEGIN DIALOG CONVERSATION @dialog FROM SERVICE @sender TO SERVICE @receiver
                ON CONTRACT @contract WITH ENCRYPTION = OFF;
            BEGIN CONVERSATION TIMER (@dialog) TIMEOUT = 3600;
            INSERT INTO session_dialogs VALUES (@@SPID, @sender, @receiver, @contract, @dialog);
        END;
        SEND ON CONVERSATION @dialog MESSAGE TYPE @type (@body);
        SET @failure = @@ERROR;
        IF @failure = 0
            GOTO Sent;
        DELETE FROM session_dialogs WHERE dialog = @dialog;
        SET @tries += 1;
    END
    RAISERROR (N'Nothing could be sent. Error %i.', 16, 1, @failure) WITH LOG;
Sent:
    COMMIT;
END
GO
CREATE PROCEDURE look_after_dialogs
AS
BEGIN
    DECLARE @dialog UNIQUEIDENTIFIER, @type SYSNAME, @body VARBINARY(MAX), @code INT, @text NVARCHAR(4000);
    BEGIN TRANSACTION;
    RECEIVE TOP (1) @dialog = conversation_handle, @type = message_type_name, @body = message_body
        FROM sender_queue;
    IF @dialog IS NOT NULL
    BEGIN
        DELETE FROM session_dialogs WHERE dialog = @dialog;
        IF @type = N'http://schemas.microsoft.com/SQL/ServiceBroker/DialogTimer'
            SEND ON CONVERSATION @dialog MESSAGE TYPE [EndOfStream];
        IF @type IN (N'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog',
                     N'http://schemas.microsoft.com/SQL/ServiceBroker/Error')
            END CONVERSATION @dialog;
        IF @type = N'http://schemas.microsoft.com/SQL/ServiceBroker/Error'
        BEGIN
            WITH XMLNAMESPACES (DEFAULT 'http://schemas.microsoft.com/SQL/ServiceBroker/Error')
            SELECT @code = CAST(@body AS XML).value('(/Error/Code)[1]', 'INT'),
                   @text = CAST(@body AS XML).value('(/Error/Description)[1]', 'NVARCHAR(4000)');
            RAISERROR (N'The receiver says %i: %s', 16, 1, @code, @text) WITH LOG;
        END
    END
    COMMIT;
END
GO
ALTER QUEUE sender_queue WITH ACTIVATION
    (STATUS = ON, MAX_QUEUE_READERS = 1, PROCEDURE_NAME = look_after_dialogs, EXECUTE AS OWNER);
GO

-- Senders keep a dialog for each pair of services and use it again until it ends.
CREATE QUEUE FromQ CREATE QUEUE ToQ
CREATE SERVICE Here ON QUEUE FromQ CREATE SERVICE There ON QUEUE ToQ ([DEFAULT])
CREATE TABLE Kept (sender sysname, receiver sysname, talk uniqueidentifier NOT NULL UNIQUE, PRIMARY KEY (sender, receiver))
GO
CREATE PROCEDURE Say @sender sysname, @receiver sysname, @words nvarchar(100) AS
SET NOCOUNT ON
DECLARE @talk uniqueidentifier, @tries int = 0
again:
SELECT @talk = talk FROM Kept WITH (UPDLOCK) WHERE sender = @sender AND receiver = @receiver
IF @talk IS NULL
BEGIN
    BEGIN DIALOG CONVERSATION @talk FROM SERVICE @sender TO SERVICE @receiver WITH ENCRYPTION = OFF
    INSERT Kept VALUES (@sender, @receiver, @talk)
END;
SEND ON CONVERSATION @talk (@words)
IF @@ERROR = 0 RETURN 0
DELETE Kept WHERE talk = @talk
SELECT @talk = NULL, @tries += 1
IF @tries < 3 GOTO again
RETURN 1
GO
EXEC Say Here, There, N'one'
EXEC Say Here, There, N'two'
DECLARE @talk uniqueidentifier = (SELECT talk FROM Kept)
END CONVERSATION @talk
EXEC Say Here, There, N'three'
SELECT COUNT(DISTINCT conversation_handle) AS dialogs, COUNT(*) AS messages FROM ToQ
SELECT CAST(message_body AS nvarchar(20)) AS words, message_sequence_number AS nr FROM ToQ WHERE message_body IS NOT NULL ORDER BY queuing_order
GO

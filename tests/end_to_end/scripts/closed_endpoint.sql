-- A target that is CLOSED stays for half an hour: security_timestamp tells until when.
SET NOCOUNT ON
CREATE QUEUE Near CREATE QUEUE Far
CREATE SERVICE [//Near] ON QUEUE Near
CREATE SERVICE [//Far] ON QUEUE Far ([DEFAULT])
GO
CREATE VIEW Sides AS
SELECT is_initiator, state, DATEDIFF(minute, DATEADD(second, -20, GETUTCDATE()), security_timestamp) AS minutes
FROM sys.conversation_endpoints
GO
DECLARE @near UNIQUEIDENTIFIER, @far UNIQUEIDENTIFIER;
BEGIN DIALOG @near FROM SERVICE [//Near] TO SERVICE '//Far' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @near (N'first');
RECEIVE TOP (1) @far = conversation_handle FROM Far;
SELECT is_initiator, state, minutes / 2 AS minutes FROM Sides ORDER BY is_initiator;
END CONVERSATION @far;
END CONVERSATION @near;
SELECT is_initiator, state, CASE WHEN minutes BETWEEN 29 AND 31 THEN '30' ELSE STR(minutes) END AS minutes FROM Sides ORDER BY is_initiator;

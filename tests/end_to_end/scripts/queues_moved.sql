-- ALTER SCHEMA … TRANSFER of a queue: its messages, service and dialogs go with it, what was granted on it does not.
SET NOCOUNT ON
GO
CREATE USER Clerk WITHOUT LOGIN
CREATE QUEUE Inbox WITH RETENTION = ON
CREATE QUEUE Outbox
CREATE SERVICE [//In] ON QUEUE Inbox ([DEFAULT])
CREATE SERVICE [//Out] ON QUEUE Outbox
GRANT RECEIVE ON Inbox TO Clerk
GO
CREATE SCHEMA Office
GO
DECLARE @h UNIQUEIDENTIFIER
BEGIN DIALOG @h FROM SERVICE [//Out] TO SERVICE '//In' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'before')
ALTER SCHEMA Office TRANSFER dbo.Inbox;
SEND ON CONVERSATION @h (N'behind')
SELECT SCHEMA_NAME(schema_id) AS in_schema, name FROM sys.service_queues WHERE is_ms_shipped = 0 ORDER BY name
SELECT COUNT(*) AS still_granted FROM sys.database_permissions WHERE grantee_principal_id = USER_ID('Clerk') AND class = 1;
RECEIVE CAST(message_body AS NVARCHAR(10)) AS body FROM Office.Inbox
SELECT status, CAST(message_body AS NVARCHAR(10)) AS body FROM Office.Inbox ORDER BY queuing_order
GO
RECEIVE * FROM dbo.Inbox
GO
ALTER SCHEMA Nowhere TRANSFER Office.Inbox
GO
CREATE QUEUE dbo.Inbox
GO
ALTER SCHEMA dbo TRANSFER OBJECT::Office.Inbox
GO
DROP QUEUE dbo.Inbox
ALTER SCHEMA dbo TRANSFER OBJECT::Office.Inbox
DROP SCHEMA Office
ALTER QUEUE Inbox WITH RETENTION = OFF
SELECT SCHEMA_NAME(schema_id) AS in_schema, is_retention_enabled FROM sys.service_queues WHERE name = 'Inbox'

-- Events of GRANT, DENY, REVOKE and ALTER AUTHORIZATION name tables, views and modules as they are spelled where they were made.
SET NOCOUNT ON
CREATE TABLE dbo.AuditLog (Id INT)
GO
CREATE PROCEDURE dbo.KeepLog AS RETURN 1
GO
CREATE VIEW dbo.[Whole Log] AS SELECT Id FROM dbo.AuditLog
GO
CREATE QUEUE NoticeQueue
CREATE SERVICE Notices ON QUEUE NoticeQueue ([http://schemas.microsoft.com/SQL/Notifications/PostEventNotification])
CREATE USER Auditor WITHOUT LOGIN
CREATE EVENT NOTIFICATION Rights ON DATABASE FOR DDL_DATABASE_SECURITY_EVENTS TO SERVICE 'Notices', 'current database'
GO
GRANT SELECT ON AUDITLOG TO Auditor
GRANT EXECUTE ON OBJECT::dbo.keeplog TO Auditor
DENY SELECT ON [whole log] TO Auditor
REVOKE SELECT ON dbo.auditlog FROM Auditor
ALTER AUTHORIZATION ON OBJECT::dbo.AUDITLOG TO dbo
GO
SELECT e.i.value('(EventType)[1]', 'sysname') AS event, e.i.value('(SchemaName)[1]', 'sysname') AS [schema],
       e.i.value('(ObjectName)[1]', 'sysname') AS name, e.i.value('(ObjectType)[1]', 'sysname') AS type
  FROM (SELECT CAST(message_body AS XML) AS body, queuing_order FROM NoticeQueue) AS q CROSS APPLY q.body.nodes('/EVENT_INSTANCE') AS e (i)
 ORDER BY q.queuing_order

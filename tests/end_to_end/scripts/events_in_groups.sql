-- sys.events has each event of a group; the lists of events and groups are SQL Server's.
CREATE QUEUE dbo.Audit
CREATE SERVICE Auditor ON QUEUE Audit ([http://schemas.microsoft.com/SQL/Notifications/PostEventNotification])
GO
CREATE EVENT NOTIFICATION Definitions ON DATABASE FOR DDL_QUEUE_EVENTS, CREATE_QUEUE, DROP_ROUTE TO SERVICE 'Auditor', 'current database'
CREATE EVENT NOTIFICATION Stopped ON QUEUE Audit FOR BROKER_QUEUE_DISABLED TO SERVICE 'Auditor', 'current database'
GO
CREATE TRIGGER Roles ON DATABASE FOR DDL_CONTRACT_EVENTS AS PRINT 'contract'
GO
SELECT n.name, e.type, e.type_desc, e.is_trigger_event, e.event_group_type, e.event_group_type_desc
FROM sys.events AS e JOIN sys.event_notifications AS n ON n.object_id = e.object_id ORDER BY n.name, e.type
SELECT t.name, e.* FROM sys.trigger_events AS e JOIN sys.triggers AS t ON t.object_id = e.object_id ORDER BY e.type
SELECT COUNT(*) AS server_events FROM sys.server_events
-- The reference's own query.
;WITH Tree (name, parent_type, type, level, sort) AS (
	SELECT CONVERT(varchar(255), type_name), parent_type, type, 1, CONVERT(varchar(255), type_name)
	FROM sys.trigger_event_types WHERE type_name = 'DDL_SSB_EVENTS'
	UNION ALL
	SELECT CONVERT(varchar(255), REPLICATE('|   ', level) + e.type_name), e.parent_type, e.type, level + 1,
		CONVERT(varchar(255), RTRIM(sort) + '|   ' + e.type_name)
	FROM sys.trigger_event_types AS e INNER JOIN Tree AS d ON e.parent_type = d.type)
SELECT parent_type, type, name FROM Tree ORDER BY sort
SELECT type_name FROM sys.event_notification_event_types WHERE parent_type IS NULL ORDER BY type
GO
CREATE EVENT NOTIFICATION Typo ON DATABASE FOR CREATE_TABEL TO SERVICE 'Auditor', 'current database'
GO
CREATE EVENT NOTIFICATION Typo ON DATABASE FOR CREATE_TABLE, DDL_TABEL_EVENTS TO SERVICE 'Auditor', 'current database'
GO
CREATE TRIGGER Typo ON DATABASE FOR CREATE_QUEUE, AUDIT_LOGIN AS PRINT 'no event of a definition'
GO
EXEC (N'CREATE TRIGGER Typo ON DATABASE FOR ALTER_CONTRACT AS PRINT ''there is no such statement''')
GO
SELECT TOP (0) * FROM sys.service_queues
SELECT TOP (0) * FROM sys.service_broker_endpoints
SELECT TOP (0) * FROM sys.dm_broker_connections
GO
GO
-- ON DATABASE nothing is for what happens outside of databases
CREATE EVENT NOTIFICATION Wrong1 ON DATABASE FOR CREATE_DATABASE TO SERVICE 'EventService', 'current database'
GO
CREATE EVENT NOTIFICATION Wrong2 ON DATABASE FOR CREATE_TABLE, DDL_LOGIN_EVENTS TO SERVICE 'EventService', 'current database'
GO
CREATE TRIGGER Wrong3 ON DATABASE FOR CREATE_TABLE, DDL_ENDPOINT_EVENTS AS PRINT 'x'
GO
CREATE TRIGGER ByWhom ON ALL SERVER FOR DDL_DATABASE_EVENTS, CREATE_TABLE AS PRINT 'by ' + EVENTDATA().value('(/EVENT_INSTANCE/UserName)[1]', 'sysname')
GO
CREATE TABLE dbo.Late (a INT)
GO
DROP TRIGGER ByWhom ON ALL SERVER
GO

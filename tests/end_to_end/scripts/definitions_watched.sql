-- Event notifications: what was created and dropped, read from the queue of a service.
CREATE QUEUE Watch
CREATE SERVICE Watcher ON QUEUE Watch ([http://schemas.microsoft.com/SQL/Notifications/PostEventNotification])
CREATE EVENT NOTIFICATION definitions ON DATABASE FOR DDL_SSB_EVENTS TO SERVICE 'Watcher', 'current database'
GO
CREATE QUEUE Thing
CREATE MESSAGE TYPE Word
DROP QUEUE Thing
GO
SET NOCOUNT ON
DECLARE @events TABLE (place bigint, e xml)
RECEIVE queuing_order, CAST(message_body AS xml) FROM Watch INTO @events
SELECT e.value('(/EVENT_INSTANCE/EventType)[1]', 'sysname') AS what,
       e.value('data(/EVENT_INSTANCE/ObjectName)[1]', 'sysname') AS name,
       CASE WHEN CAST(CAST(e.query('/EVENT_INSTANCE/PostTime/text()') AS nvarchar(50)) AS datetime) > '2020' THEN 'recent' END AS posted
FROM @events ORDER BY place
CREATE EVENT NOTIFICATION united ON DATABASE WITH FAN_IN FOR CREATE_TYPE TO SERVICE '//Any', 'current database'
SELECT name, parent_class_desc, CASE creator_sid WHEN SUSER_SID() THEN 'mine' END AS creator FROM sys.event_notifications ORDER BY 1
DROP EVENT NOTIFICATION definitions, united ON DATABASE
GO

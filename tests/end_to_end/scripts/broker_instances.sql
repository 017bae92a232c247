-- broker identity and databases: NEW_BROKER, ENABLE_BROKER, ERROR_BROKER_CONVERSATIONS, instance addressed dialogs
SET NOCOUNT ON
USE [master]
GO
CREATE DATABASE [East]; CREATE DATABASE [West];
GO
DECLARE @db sysname, @sql nvarchar(max)
DECLARE d CURSOR FOR SELECT name FROM sys.databases WHERE name IN ('East', 'West') ORDER BY name
OPEN d
FETCH NEXT FROM d INTO @db
WHILE @@FETCH_STATUS = 0
BEGIN
  SET @sql = N'USE ' + QUOTENAME(@db) + N'; CREATE QUEUE dbo.Inbox; CREATE SERVICE [//Region] ON QUEUE dbo.Inbox ([DEFAULT]); CREATE QUEUE dbo.Outbox; CREATE SERVICE [//' + @db + N'/Out] ON QUEUE dbo.Outbox;'
  EXEC (@sql)
  FETCH NEXT FROM d INTO @db
END
CLOSE d DEALLOCATE d
GO
USE East
GO
DECLARE @h uniqueidentifier, @west nvarchar(128) = (SELECT CAST(service_broker_guid AS nvarchar(128)) FROM sys.databases WHERE name = N'West')
BEGIN DIALOG CONVERSATION @h FROM SERVICE [//East/Out] TO SERVICE N'//Region', @west WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'to the west');
BEGIN DIALOG CONVERSATION @h FROM SERVICE [//East/Out] TO SERVICE N'//Region', N'CURRENT DATABASE' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'to the east');
SELECT (SELECT COUNT(*) FROM East.dbo.Inbox) AS east, (SELECT COUNT(*) FROM West..Inbox) AS west
SELECT CASE far_broker_instance WHEN @west THEN 'west' ELSE 'east' END AS far FROM sys.conversation_endpoints WHERE is_initiator = 1 ORDER BY 1
GO
ALTER DATABASE West SET DISABLE_BROKER WITH ROLLBACK IMMEDIATE
GO
DECLARE @h uniqueidentifier
SELECT @h = conversation_handle FROM sys.conversation_endpoints e JOIN sys.databases d ON e.far_broker_instance = CAST(d.service_broker_guid AS nvarchar(128)) WHERE d.name = 'West' AND e.is_initiator = 1;
SEND ON CONVERSATION @h (N'later')
SELECT COUNT(*) waiting, CASE WHEN MAX(transmission_status) <> '' THEN 'told why' END FROM sys.transmission_queue
ALTER DATABASE [West] SET ENABLE_BROKER
SELECT COUNT(*) waiting FROM sys.transmission_queue
SELECT CAST(message_body AS nvarchar(20)) b FROM West.dbo.Inbox ORDER BY queuing_order
GO
ALTER DATABASE West SET ERROR_BROKER_CONVERSATIONS
SELECT message_type_name, CAST(message_body AS xml).value('declare namespace e="http://schemas.microsoft.com/SQL/ServiceBroker/Error"; (/e:Error/e:Code)[1]', 'int') c FROM East.dbo.Outbox
SELECT state FROM West.sys.conversation_endpoints
GO
DECLARE @old uniqueidentifier, @new uniqueidentifier
SELECT @old = service_broker_guid FROM sys.databases WHERE name = 'East'
ALTER DATABASE East SET NEW_BROKER
SELECT @new = service_broker_guid FROM sys.databases WHERE name = 'East'
SELECT CASE WHEN @old <> @new THEN 'new identity' END, (SELECT COUNT(*) FROM East.sys.conversation_endpoints) AS conversations, (SELECT COUNT(*) FROM East.dbo.Inbox) AS messages
SELECT name, is_broker_enabled FROM sys.databases WHERE name IN ('East', 'West') ORDER BY 1
GO
USE master
GO
EXEC sp_MSforeachdb 'IF ''?'' IN (''East'', ''West'') BEGIN USE [?]; SELECT DB_NAME() AS db, COUNT(*) AS q FROM sys.service_queues WHERE is_ms_shipped = 0 END'
DROP DATABASE East, West
GO

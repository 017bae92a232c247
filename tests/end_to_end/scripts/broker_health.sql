CREATE QUEUE dbo.WorkQ WITH ACTIVATION (STATUS = OFF, PROCEDURE_NAME = dbo.none, MAX_QUEUE_READERS = 4, EXECUTE AS OWNER);
CREATE QUEUE dbo.ReplyQ WITH RETENTION = ON;
CREATE MESSAGE TYPE [m/a] VALIDATION = NONE
CREATE CONTRACT [m/c] ([m/a] SENT BY ANY)
CREATE SERVICE [svc/work] ON QUEUE dbo.WorkQ ([m/c], [DEFAULT])
CREATE SERVICE [svc/reply] ON QUEUE dbo.ReplyQ
GO
CREATE PROCEDURE dbo.usp_BrokerHealth @detail bit = 1, @warn int = 3, @problems int = 0 OUTPUT
AS
BEGIN
SET NOCOUNT ON
SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED
DECLARE @db sysname = DB_NAME(), @sql nvarchar(max), @name sysname, @n int, @off bit
IF NOT EXISTS (SELECT 1 FROM sys.databases WHERE name = @db AND is_broker_enabled = 1)
  RAISERROR ('broker is disabled in %s', 16, 1, @db) WITH NOWAIT
DECLARE @q TABLE (name sysname PRIMARY KEY, depth int, oldest int, receive_on bit, enqueue_on bit, act nvarchar(300), readers smallint)
DECLARE queues CURSOR LOCAL FAST_FORWARD FOR
  SELECT QUOTENAME(SCHEMA_NAME(schema_id)) + '.' + QUOTENAME(name) FROM sys.service_queues WHERE is_ms_shipped = 0 ORDER BY name
OPEN queues
FETCH NEXT FROM queues INTO @name
WHILE @@FETCH_STATUS = 0 BEGIN
  SET @sql = N'SELECT @n = COUNT(*) FROM ' + @name + N' WITH (NOLOCK) WHERE status = 1'
  EXEC sp_executesql @sql, N'@n int OUTPUT', @n OUTPUT
  INSERT @q SELECT @name, @n, NULL, is_receive_enabled, is_enqueue_enabled, activation_procedure, max_readers FROM sys.service_queues WHERE object_id = OBJECT_ID(@name)
  IF @n > @warn SET @problems += 1
  FETCH NEXT FROM queues INTO @name
END
CLOSE queues DEALLOCATE queues
IF @detail = 1 SELECT name, depth, receive_on, enqueue_on, act, readers FROM @q
SELECT s.name AS [service], ISNULL(c.name, '-') AS [contract], q.name AS queue
FROM sys.services s
JOIN sys.service_queue_usages u ON u.service_id = s.service_id
JOIN sys.service_queues q ON q.object_id = u.service_queue_id
LEFT JOIN sys.service_contract_usages cu ON cu.service_id = s.service_id
LEFT JOIN sys.service_contracts c ON c.service_contract_id = cu.service_contract_id
WHERE s.service_id > 65535 OR q.is_ms_shipped = 0
ORDER BY 1, 2
SELECT ce.state, ce.state_desc, ce.is_initiator, CASE ce.is_initiator WHEN 1 THEN 'initiator' ELSE 'target' END side, s.name AS [local], ce.far_service, COUNT(*) AS n,
  MAX(CASE WHEN ce.far_broker_instance IS NULL THEN 'none' ELSE 'known' END) far_broker, MAX(ce.security_timestamp) - MAX(ce.security_timestamp) AS z
FROM sys.conversation_endpoints AS ce LEFT OUTER JOIN sys.services AS s ON ce.service_id = s.service_id
GROUP BY ce.state, ce.state_desc, ce.is_initiator, s.name, ce.far_service ORDER BY 1, 3 DESC, 5
SELECT TOP (10) to_service_name, from_service_name, service_contract_name, message_type_name, is_conversation_error, is_end_of_dialog, priority, CAST(message_body AS varchar(100)) AS body,
  CASE WHEN transmission_status LIKE '%could not be found%' OR transmission_status LIKE '%target service%' THEN 'no target' WHEN transmission_status = '' THEN '' ELSE transmission_status END AS why
FROM sys.transmission_queue ORDER BY enqueue_time
IF EXISTS (SELECT * FROM sys.transmission_queue) SELECT @problems = @problems + COUNT(DISTINCT conversation_handle) FROM sys.transmission_queue
SELECT cg.conversation_group_id, cg.service_id FROM sys.conversation_groups cg LEFT JOIN sys.conversation_endpoints ce ON ce.conversation_group_id = cg.conversation_group_id WHERE ce.conversation_handle IS NULL
SELECT DB_NAME(m.database_id) AS db, OBJECT_NAME(m.queue_id, m.database_id) q, m.state, m.tasks_waiting FROM sys.dm_broker_queue_monitors m WHERE m.database_id = DB_ID()
SELECT t.spid, t.procedure_name FROM sys.dm_broker_activated_tasks t
SELECT COUNT(*) connections FROM sys.dm_broker_connections
SELECT COUNT(*) forwarded FROM sys.dm_broker_forwarded_messages
SELECT r.name, r.address, r.remote_service_name FROM sys.routes r
RETURN CASE WHEN @problems > 0 THEN 1 ELSE 0 END
END
GO
DECLARE @h uniqueidentifier, @i int = 0
WHILE @i < 5 BEGIN
 BEGIN DIALOG @h FROM SERVICE [svc/reply] TO SERVICE 'svc/work' ON CONTRACT [m/c] WITH ENCRYPTION = OFF;
 SEND ON CONVERSATION @h MESSAGE TYPE [m/a] (0x01); SET @i += 1
END
BEGIN DIALOG @h FROM SERVICE [svc/reply] TO SERVICE 'svc/nobody' ON CONTRACT [m/c] WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h MESSAGE TYPE [m/a] ('lost');
END CONVERSATION @h
ALTER QUEUE WorkQ WITH STATUS = OFF
BEGIN DIALOG @h FROM SERVICE [svc/reply] TO SERVICE 'svc/work' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h ('held');
GO
DECLARE @p int = 0, @rc int
EXEC @rc = usp_BrokerHealth @problems = @p OUT
PRINT 'problems ' + STR(@p, 3) + ' rc ' + CAST(@rc AS char(2)) + '.'
GO
ALTER QUEUE WorkQ WITH STATUS = ON
GO
DECLARE @p int = 0
EXEC usp_BrokerHealth 0, 10, @p OUT
PRINT @p
GO
-- cleanup job
SET NOCOUNT ON
DECLARE @h uniqueidentifier, @n int = 0
DECLARE job INSENSITIVE CURSOR FOR SELECT conversation_handle FROM sys.conversation_endpoints WHERE is_system = 0
OPEN job
WHILE 1=1 BEGIN
 FETCH NEXT FROM job INTO @h
 IF @@FETCH_STATUS <> 0 BREAK
 BEGIN TRY END CONVERSATION @h WITH CLEANUP SET @n += 1 END TRY
 BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH
END
CLOSE job
DEALLOCATE job
SELECT @n AS cleaned, (SELECT COUNT(*) FROM sys.conversation_endpoints) AS endpoints, (SELECT COUNT(*) FROM sys.transmission_queue) AS transmission, (SELECT COUNT(*) FROM WorkQ) AS work, (SELECT COUNT(*) FROM ReplyQ) AS reply
GO
ALTER DATABASE CURRENT SET NEW_BROKER WITH ROLLBACK IMMEDIATE
ALTER DATABASE CURRENT SET ERROR_BROKER_CONVERSATIONS
SELECT is_broker_enabled, CASE WHEN service_broker_guid IS NULL THEN 'no' ELSE 'guid' END g, is_trustworthy_on, is_honor_broker_priority_on FROM sys.databases WHERE database_id = DB_ID()
GO

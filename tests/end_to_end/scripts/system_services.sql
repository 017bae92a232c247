-- What each database of SQL Server's brings: three services with their queues, under numbers of its own.
SELECT s.service_id, s.name, q.name AS queue, SCHEMA_NAME(q.schema_id) AS [schema], q.is_ms_shipped, q.is_receive_enabled
  FROM sys.services AS s JOIN sys.service_queues AS q ON q.object_id = s.service_queue_id ORDER BY s.service_id
SELECT s.name, c.name AS contract FROM sys.services AS s JOIN sys.service_contract_usages AS u ON u.service_id = s.service_id
  JOIN sys.service_contracts AS c ON c.service_contract_id = u.service_contract_id ORDER BY s.service_id, c.name
SELECT name, type, is_ms_shipped FROM sys.objects WHERE type = 'SQ' ORDER BY name
SELECT COUNT(*) AS usages FROM sys.service_queue_usages
GO
CREATE DATABASE Other
GO
USE Other
GO
CREATE QUEUE q
CREATE SERVICE s ON QUEUE q
SELECT name, is_ms_shipped FROM sys.service_queues ORDER BY name
SELECT name FROM sys.services WHERE service_id > 65535
GO
DROP QUEUE QueryNotificationErrorsQueue
GO
DROP SERVICE [http://schemas.microsoft.com/SQL/ServiceBroker/ServiceBroker]
GO

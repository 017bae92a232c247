CREATE MESSAGE TYPE Rq VALIDATION = EMPTY; CREATE MESSAGE TYPE Rs VALIDATION = NONE
CREATE CONTRACT Rc (Rq SENT BY INITIATOR, Rs SENT BY TARGET)
CREATE QUEUE A WITH RETENTION = ON; CREATE QUEUE B
CREATE SERVICE SA ON QUEUE A; CREATE SERVICE SB ON QUEUE B (Rc)
CREATE BROKER PRIORITY hi FOR CONVERSATION SET (CONTRACT_NAME = Rc, LOCAL_SERVICE_NAME = SB, REMOTE_SERVICE_NAME = ANY, PRIORITY_LEVEL = 9)
GO
DECLARE @h uniqueidentifier, @g uniqueidentifier, @h2 uniqueidentifier
BEGIN DIALOG @h FROM SERVICE SA TO SERVICE 'SB' ON CONTRACT Rc WITH ENCRYPTION = OFF, LIFETIME = 600;
SEND ON CONVERSATION @h MESSAGE TYPE Rq;
SELECT status, message_type_name, priority FROM A
SELECT status, message_type_name, priority, message_body FROM B
WAITFOR (GET CONVERSATION GROUP @g FROM B), TIMEOUT 100
SELECT CASE WHEN @g IS NULL THEN 'none' ELSE 'got' END g
RECEIVE TOP (1) @h2 = conversation_handle FROM B WHERE conversation_group_id = @g;
SEND ON CONVERSATION @h2 MESSAGE TYPE Rs (N'answer');
RECEIVE message_type_name, CAST(message_body AS nvarchar(20)) b, status FROM A WHERE conversation_handle = @h
SELECT status, message_type_name, CAST(message_body AS nvarchar(20)) b FROM A ORDER BY queuing_order
SELECT priority, state_desc, is_initiator FROM sys.conversation_endpoints ORDER BY is_initiator
DECLARE @ng uniqueidentifier = NEWID()
MOVE CONVERSATION @h TO @ng
SELECT COUNT(*) n FROM sys.conversation_groups WHERE conversation_group_id = @ng
END CONVERSATION @h2 END CONVERSATION @h
SELECT COUNT(*) left_in_a FROM A
GO
ALTER QUEUE A WITH RETENTION = OFF, STATUS = OFF
SELECT is_receive_enabled, is_enqueue_enabled, is_retention_enabled FROM sys.service_queues WHERE name = 'A'
GO
DECLARE @h uniqueidentifier
BEGIN DIALOG @h FROM SERVICE SB TO SERVICE 'SA' WITH ENCRYPTION = OFF
SEND ON CONVERSATION @h ('x')
GO
DECLARE @h uniqueidentifier
CREATE SERVICE SD ON QUEUE A ([DEFAULT])
BEGIN DIALOG @h FROM SERVICE SB TO SERVICE 'SD' WITH ENCRYPTION = OFF
SEND ON CONVERSATION @h ('x')
SELECT transmission_status FROM sys.transmission_queue
SELECT GET_TRANSMISSION_STATUS(@h) s
ALTER QUEUE A WITH STATUS = ON
SELECT COUNT(*) waiting FROM sys.transmission_queue
SELECT COUNT(*) arrived FROM A
GO
ALTER DATABASE CURRENT SET DISABLE_BROKER
DECLARE @h uniqueidentifier
BEGIN DIALOG @h FROM SERVICE SB TO SERVICE 'SD' WITH ENCRYPTION = OFF
SEND ON CONVERSATION @h ('y')
SELECT transmission_status FROM sys.transmission_queue
ALTER DATABASE CURRENT SET ENABLE_BROKER WITH ROLLBACK IMMEDIATE
SELECT COUNT(*) waiting FROM sys.transmission_queue
SELECT COUNT(*) arrived FROM A
GO

-- version 1
CREATE MESSAGE TYPE [v/m1] VALIDATION = NONE
CREATE CONTRACT [v/c1] ([v/m1] SENT BY INITIATOR)
CREATE QUEUE VQ CREATE SERVICE [v/s] ON QUEUE VQ ([v/c1])
CREATE TABLE SchemaVersion (Version INT NOT NULL, Applied DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP)
INSERT SchemaVersion (Version) VALUES (1)
GO
CREATE PROC VProc AS RECEIVE * FROM VQ
GO
DECLARE @h UNIQUEIDENTIFIER
BEGIN DIALOG @h FROM SERVICE [v/s] TO SERVICE 'v/s' ON CONTRACT [v/c1] WITH ENCRYPTION = OFF
SEND ON CONVERSATION @h MESSAGE TYPE [v/m1] ('old')
GO
-- upgrade to version 2
SET XACT_ABORT ON
GO
IF (SELECT MAX(Version) FROM SchemaVersion) <> 1 BEGIN RAISERROR ('wrong version', 16, 1) SET NOEXEC ON END
GO
BEGIN TRANSACTION
GO
CREATE MESSAGE TYPE [v/m2] VALIDATION = WELL_FORMED_XML
IF @@ERROR <> 0 SET NOEXEC ON
GO
ALTER MESSAGE TYPE [v/m1] VALIDATION = EMPTY
GO
CREATE CONTRACT [v/c2] AUTHORIZATION [dbo] ([v/m2] SENT BY ANY, [v/m1] SENT BY TARGET)
GO
CREATE QUEUE VQ2 WITH STATUS = ON, RETENTION = ON
GO
ALTER SERVICE [v/s] ON QUEUE VQ2 (ADD CONTRACT [v/c2], DROP CONTRACT [v/c1])
GO
ALTER PROC VProc @max INT = 10 WITH RECOMPILE AS
BEGIN
  DECLARE @t TABLE (n BIGINT, b NVARCHAR(100))
  RECEIVE TOP (@max) message_sequence_number, CAST(message_body AS NVARCHAR(100)) FROM VQ2 INTO @t
  SELECT n, b FROM @t ORDER BY n
  RETURN (SELECT COUNT(*) FROM @t)
END
GO
ALTER TABLE SchemaVersion ADD Note NVARCHAR(50) NULL CONSTRAINT DF_Note DEFAULT N'none' WITH VALUES
GO
INSERT SchemaVersion (Version, Note) VALUES (2, N'moved')
GO
IF @@TRANCOUNT > 0 COMMIT TRANSACTION
SET NOEXEC OFF
GO
SELECT Version, Note FROM SchemaVersion ORDER BY 1
SELECT s.name, q.name AS queue, c.name AS contract FROM sys.services s JOIN sys.service_queues q ON q.object_id = s.service_queue_id LEFT JOIN sys.service_contract_usages u ON u.service_id = s.service_id LEFT JOIN sys.service_contracts c ON c.service_contract_id = u.service_contract_id WHERE s.name = 'v/s'
SELECT m.name, m.validation_desc, c.name AS contract, u.is_sent_by_initiator i, u.is_sent_by_target t FROM sys.service_message_types m LEFT JOIN sys.service_contract_message_usages u ON u.message_type_id = m.message_type_id LEFT JOIN sys.service_contracts c ON c.service_contract_id = u.service_contract_id WHERE m.name LIKE 'v/%' ORDER BY 1, 3
GO
DECLARE @n INT
EXEC @n = VProc
PRINT @n
GO
DECLARE @h UNIQUEIDENTIFIER
BEGIN DIALOG @h FROM SERVICE [v/s] TO SERVICE 'v/s' ON CONTRACT [v/c1] WITH ENCRYPTION = OFF
SEND ON CONVERSATION @h MESSAGE TYPE [v/m1]
GO
DECLARE @h UNIQUEIDENTIFIER
BEGIN DIALOG @h FROM SERVICE [v/s] TO SERVICE 'v/s' ON CONTRACT [v/c2] WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h MESSAGE TYPE [v/m2] (N'<new/>');
SEND ON CONVERSATION @h MESSAGE TYPE [v/m1];
GO
DECLARE @n INT
EXEC @n = VProc @max = 1
PRINT @n
SELECT status, message_type_name FROM VQ2 ORDER BY queuing_order
GO
DROP QUEUE VQ
GO
DROP CONTRACT [v/c1]
GO
DROP MESSAGE TYPE [v/m2]
GO
SELECT is_conversation_error, message_type_name, transmission_status FROM sys.transmission_queue
GO

-- '*' of the views of sys: in XML and JSON, and as values beside dynamic text.
CREATE QUEUE dbo.OrdersQ
CREATE SERVICE Shop ON QUEUE OrdersQ ([DEFAULT])
GO
SELECT * FROM sys.service_contracts WHERE name = 'DEFAULT' FOR XML PATH
SELECT * FROM sys.service_contracts WHERE name = 'DEFAULT' FOR XML RAW
SELECT * FROM sys.service_contracts WHERE name = 'DEFAULT' FOR XML AUTO
SELECT * FROM sys.service_contracts WHERE name = 'DEFAULT' FOR JSON PATH
SELECT s.*, c.name AS contract FROM sys.service_contract_usages AS u JOIN sys.services AS s ON s.service_id = u.service_id
JOIN sys.service_contracts AS c ON c.service_contract_id = u.service_contract_id
WHERE s.name = 'Shop' FOR XML RAW, ROOT('all')
SELECT TOP (0) * FROM INFORMATION_SCHEMA.SCHEMATA
SELECT TOP (0) * FROM msdb.sys.routes
GO
DECLARE @h uniqueidentifier
BEGIN DIALOG @h FROM SERVICE Shop TO SERVICE 'Shop' ON CONTRACT [DEFAULT];
SEND ON CONVERSATION @h ('x')
DECLARE @whole nvarchar(max) = N'SELECT conversation_handle, dialog_timer, last_send_tran_id FROM sys.conversation_endpoints WHERE is_initiator = 1'
SELECT conversation_handle, dialog_timer, last_send_tran_id FROM (SELECT * FROM sys.conversation_endpoints) AS e WHERE is_initiator = 1
EXEC (@whole)
SELECT * FROM sys.conversation_groups
GO
-- Two tables with columns of one name.
CREATE TABLE p (Id int, Name nvarchar(10), Since datetime2 GENERATED ALWAYS AS ROW START HIDDEN NOT NULL,
	Until datetime2 GENERATED ALWAYS AS ROW END HIDDEN NOT NULL, PERIOD FOR SYSTEM_TIME (Since, Until))
CREATE TABLE q (Id int, Name nvarchar(10))
INSERT p (Id, Name) VALUES (1, 'x')
INSERT q VALUES (1, 'y')
GO
SELECT p.* FROM p JOIN q ON p.Id = q.Id FOR XML AUTO
SELECT * FROM p JOIN q ON p.Id = q.Id FOR XML AUTO
SELECT * FROM p JOIN q ON p.Id = q.Id FOR XML PATH
SELECT p.Id, q.* FROM p JOIN q ON p.Id = q.Id FOR JSON AUTO
SELECT q.* FROM p JOIN q ON p.Id = q.Id FOR JSON PATH
GO
-- Tables of the system databases, before anything else is there.
USE master
GO
CREATE TABLE dbo.First (Id int)
INSERT dbo.First VALUES (1)
SELECT * FROM master.dbo.First
GO
USE msdb
CREATE TABLE Second (Id int)
GO
SELECT * FROM Second
SELECT DB_NAME() AS here, COUNT(*) AS tables FROM sys.tables
SELECT COUNT(*) AS tables FROM model.sys.tables
GO

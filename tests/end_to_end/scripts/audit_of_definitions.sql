-- DBA audit of schema changes through event notifications
SET NOCOUNT ON
GO
IF DB_ID('AuditLab') IS NOT NULL
BEGIN
	ALTER DATABASE AuditLab SET SINGLE_USER WITH ROLLBACK IMMEDIATE
	DROP DATABASE AuditLab
END
GO
CREATE DATABASE AuditLab
ON PRIMARY (NAME = N'AuditLab', FILENAME = N'C:\Data\AuditLab.mdf', SIZE = 8MB, FILEGROWTH = 10%)
LOG ON (NAME = N'AuditLab_log', FILENAME = N'C:\Data\AuditLab.ldf')
COLLATE SQL_Latin1_General_CP1_CI_AS
GO
ALTER AUTHORIZATION ON DATABASE::AuditLab TO sa
ALTER DATABASE AuditLab SET ENABLE_BROKER, TRUSTWORTHY ON WITH ROLLBACK IMMEDIATE
GO
USE AuditLab
GO
CREATE SCHEMA Audit AUTHORIZATION dbo
GO
CREATE TABLE Audit.DdlEvents
(
	EventNo		int IDENTITY(1,1) NOT NULL CONSTRAINT PK_DdlEvents PRIMARY KEY CLUSTERED,
	EventType	sysname NOT NULL,
	PostTime	datetime NOT NULL CONSTRAINT DF_DdlEvents_PostTime DEFAULT (GETDATE()),
	SchemaName	sysname NULL,
	ObjectName	sysname NULL,
	ObjectType	nvarchar(60) NULL,
	CommandText	nvarchar(max) NULL,
	RawEvent	xml NOT NULL
)
GO
CREATE QUEUE Audit.DdlQueue WITH STATUS = ON, RETENTION = OFF
GO
CREATE SERVICE [Audit/Ddl] AUTHORIZATION dbo ON QUEUE Audit.DdlQueue
	([http://schemas.microsoft.com/SQL/Notifications/PostEventNotification])
GO
CREATE ROUTE AuditRoute WITH SERVICE_NAME = N'Audit/Ddl', ADDRESS = N'LOCAL'
GO
CREATE PROCEDURE Audit.CollectDdl
WITH EXECUTE AS OWNER
AS
BEGIN
	SET NOCOUNT, XACT_ABORT ON
	DECLARE	@h uniqueidentifier, @t sysname, @body xml, @rows int
	WHILE 1 = 1
	BEGIN
		BEGIN TRANSACTION
		WAITFOR
		(
			RECEIVE TOP (1)
				@h = conversation_handle,
				@t = message_type_name,
				@body = CONVERT(xml, message_body)
			FROM Audit.DdlQueue
		), TIMEOUT 200
		SET @rows = @@ROWCOUNT
		IF @rows = 0
		BEGIN
			COMMIT
			BREAK
		END
		IF @t = N'http://schemas.microsoft.com/SQL/Notifications/EventNotification'
			INSERT Audit.DdlEvents (EventType, PostTime, SchemaName, ObjectName, ObjectType, CommandText, RawEvent)
			SELECT	@body.value('(/EVENT_INSTANCE/EventType)[1]', 'sysname'),
				@body.value('(/EVENT_INSTANCE/PostTime)[1]', 'datetime'),
				@body.value('(/EVENT_INSTANCE/SchemaName)[1]', 'sysname'),
				@body.value('(/EVENT_INSTANCE/ObjectName)[1]', 'sysname'),
				@body.value('(/EVENT_INSTANCE/ObjectType)[1]', 'nvarchar(60)'),
				@body.value('(/EVENT_INSTANCE/TSQLCommand/CommandText)[1]', 'nvarchar(max)'),
				@body
		ELSE IF @t IN (N'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog', N'http://schemas.microsoft.com/SQL/ServiceBroker/Error')
			END CONVERSATION @h
		COMMIT TRANSACTION
	END
END
GO
ALTER QUEUE Audit.DdlQueue WITH ACTIVATION (STATUS = ON, PROCEDURE_NAME = Audit.CollectDdl, MAX_QUEUE_READERS = 1, EXECUTE AS OWNER)
GO
CREATE EVENT NOTIFICATION CatchDdl ON DATABASE FOR DDL_TABLE_EVENTS, DDL_VIEW_EVENTS, DDL_PROCEDURE_EVENTS, DDL_SSB_EVENTS
	TO SERVICE N'Audit/Ddl', N'current database'
GO
CREATE TABLE dbo.Customer (Id int PRIMARY KEY, Name nvarchar(50))
GO
ALTER TABLE dbo.Customer ADD Email nvarchar(100) NULL
GO
CREATE VIEW dbo.vCustomer AS SELECT Id, Name FROM dbo.Customer
GO
CREATE PROCEDURE dbo.GetCustomer @id int AS SELECT * FROM dbo.Customer WHERE Id = @id
GO
CREATE UNIQUE NONCLUSTERED INDEX IX_Email ON dbo.Customer (Email) WHERE Email IS NOT NULL
GO
BEGIN TRANSACTION
DROP PROCEDURE dbo.GetCustomer
ROLLBACK -- and nobody hears of it
GO
CREATE MESSAGE TYPE [audit/test] VALIDATION = NONE
GO
DROP VIEW dbo.vCustomer
DROP PROCEDURE dbo.GetCustomer
DROP TABLE dbo.Customer
DROP MESSAGE TYPE [audit/test]
GO
EXEC Audit.CollectDdl
GO
SELECT EventType, SchemaName, ObjectName, ObjectType, LEFT(REPLACE(CommandText, CHAR(10), ' '), 40) AS CommandText FROM Audit.DdlEvents ORDER BY EventNo
GO
SELECT en.name, e.type_desc, en.service_name, en.parent_class_desc
FROM sys.event_notifications en JOIN sys.events e ON e.object_id = en.object_id ORDER BY e.type
GO
DROP EVENT NOTIFICATION CatchDdl ON DATABASE
GO
SELECT COUNT(*) AS left_over FROM sys.event_notifications
GO
USE master
GO
DROP DATABASE AuditLab
GO

SET NOCOUNT ON
GO
CREATE TABLE dbo.DatabaseLog (DatabaseLogID int IDENTITY NOT NULL, PostTime datetime NOT NULL, DatabaseUser sysname NOT NULL, Event sysname NOT NULL, [Schema] sysname NULL, Object sysname NULL, TSQL nvarchar(max) NOT NULL, XmlEvent xml NOT NULL)
GO
CREATE TRIGGER ddlLog ON DATABASE FOR DDL_DATABASE_LEVEL_EVENTS AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @data XML, @schema sysname, @object sysname, @eventType sysname;
    SET @data = EVENTDATA();
    SET @eventType = @data.value('(/EVENT_INSTANCE/EventType)[1]', 'sysname');
    SET @schema = @data.value('(/EVENT_INSTANCE/SchemaName)[1]', 'sysname');
    SET @object = @data.value('(/EVENT_INSTANCE/ObjectName)[1]', 'sysname')
    IF @object IS NOT NULL PRINT '  ' + @eventType + ' - ' + ISNULL(@schema + '.', '') + @object;
    ELSE PRINT '  ' + @eventType
    INSERT dbo.DatabaseLog (PostTime, DatabaseUser, Event, [Schema], Object, TSQL, XmlEvent)
    VALUES (GETDATE(), CONVERT(sysname, CURRENT_USER), @eventType, CONVERT(sysname, @schema), CONVERT(sysname, @object),
        @data.value('(/EVENT_INSTANCE/TSQLCommand)[1]', 'nvarchar(max)'), @data);
END;
GO
CREATE TABLE t (a int identity primary key, b rowversion, c varchar(10) default 'x')
EXEC sp_addextendedproperty 'MS_Description', 'what <c> is', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'c'
EXEC sp_updateextendedproperty 'MS_Description', 'another', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'c'
SELECT n.query('ObjectType, TargetObjectName, PropertyName, PropertyValue') FROM dbo.DatabaseLog CROSS APPLY XmlEvent.nodes('/EVENT_INSTANCE[EventType="CREATE_EXTENDED_PROPERTY"]') AS e (n)
EXEC sp_dropextendedproperty 'MS_Description', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'c'
GO
CREATE INDEX ix ON t (c)
GO
ALTER TABLE t ADD d int
EXEC sp_rename 't.d', 'e', 'COLUMN'
CREATE SYNONYM sy FOR t
CREATE SEQUENCE sq START WITH 1
CREATE TYPE nm FROM nvarchar(10)
DROP SYNONYM sy
DROP SEQUENCE sq
DROP TYPE nm
DROP INDEX ix ON t
GO
CREATE FUNCTION f(@a int) RETURNS int AS BEGIN RETURN @a + 1 END
GO
ALTER FUNCTION f(@a int, @b int) RETURNS int AS BEGIN RETURN @a + @b END
GO
CREATE PROC p AS DECLARE @t TABLE (a int) INSERT @t VALUES (1) SELECT * FROM @t CREATE TABLE #x (a int) SELECT * INTO #y FROM @t
GO
CREATE OR ALTER PROC p @a int AS SELECT @a
GO
EXEC p 1
GO
CREATE TRIGGER tr ON t AFTER INSERT, UPDATE AS PRINT 'dml'
GO
ALTER TRIGGER tr ON t AFTER UPDATE AS IF UPDATE(c) PRINT 'dml'
GO
DROP TRIGGER tr
DROP PROC p
DROP FUNCTION f
GO
CREATE VIEW v AS SELECT 1 a
GO
ALTER VIEW v AS SELECT 1 a, 2 b
GO
CREATE QUEUE q WITH STATUS = ON
CREATE SERVICE s ON QUEUE q ([DEFAULT])
ALTER QUEUE q WITH STATUS = OFF
DROP SERVICE s
DROP QUEUE q
GO
CREATE SCHEMA sch
GO
DROP SCHEMA sch
SELECT * INTO z FROM t
GO
CREATE TRIGGER noDrop ON DATABASE AFTER DROP_TABLE AS
    RAISERROR ('You must disable trigger "noDrop" to drop tables', 10, 1)
    ROLLBACK
GO
DROP TABLE z
GO
SELECT COUNT(*) still FROM sys.tables WHERE name = 'z'
SELECT name, parent_class_desc, is_disabled FROM sys.triggers WHERE parent_class = 0 ORDER BY name
SELECT t.name, e.event_group_type_desc, COUNT(*) AS events, MIN(e.type_desc) AS first FROM sys.triggers t JOIN sys.trigger_events e ON e.object_id = t.object_id GROUP BY t.name, e.event_group_type_desc ORDER BY 1
GO
DISABLE TRIGGER noDrop ON DATABASE
GO
DROP TABLE z
GO
ENABLE TRIGGER ALL ON DATABASE
GO
BEGIN TRY DROP TABLE v EXEC('DROP TABLE t') END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH
GO
SELECT @@TRANCOUNT tc
DROP TRIGGER noDrop ON DATABASE
IF EXISTS (SELECT * FROM sys.triggers WHERE parent_class_desc = 'DATABASE' AND name = N'ddlLog') DISABLE TRIGGER [ddlLog] ON DATABASE
CREATE TABLE quiet (a int)
DROP TRIGGER ddlLog ON DATABASE
GO
SELECT Event, [Schema], Object, LEFT(REPLACE(TSQL, CHAR(10), ' '), 40) t FROM DatabaseLog ORDER BY DatabaseLogID
SELECT COUNT(*) FROM sys.triggers
GO
CREATE TRIGGER srv ON ALL SERVER FOR DDL_DATABASE_EVENTS AS PRINT CONVERT(nvarchar(200), EVENTDATA().query('(/EVENT_INSTANCE/EventType/text(), /EVENT_INSTANCE/ObjectName/text())'))
GO
CREATE DATABASE other WITH TRUSTWORTHY ON
GO
ALTER DATABASE other SET DISABLE_BROKER
ALTER DATABASE other MODIFY NAME = another
DROP DATABASE another
SELECT name FROM sys.server_triggers
DROP TRIGGER srv ON ALL SERVER
GO
CREATE TRIGGER lg ON ALL SERVER FOR LOGON AS PRINT 'x'
GO
CREATE TYPE alias FROM int
GO
CREATE TRIGGER fails ON DATABASE FOR CREATE_TABLE, CREATE_SEQUENCE, CREATE_QUEUE, DROP_TYPE AS
DECLARE @n int = 0
SET @n = 1 / @n
GO
CREATE PROC told @of varchar(9) AS
SELECT @of of_, ERROR_NUMBER() n, ERROR_PROCEDURE() p, ERROR_LINE() l, XACT_STATE() x
GO
BEGIN TRAN BEGIN TRY CREATE TABLE one (a int) END TRY BEGIN CATCH EXEC told 'table' ROLLBACK END CATCH
BEGIN TRAN BEGIN TRY CREATE SEQUENCE one END TRY BEGIN CATCH EXEC told 'sequence' ROLLBACK END CATCH
BEGIN TRAN BEGIN TRY CREATE QUEUE one END TRY BEGIN CATCH EXEC told 'queue' ROLLBACK END CATCH
BEGIN TRAN BEGIN TRY EXEC sp_droptype 'alias' END TRY BEGIN CATCH EXEC told 'type' ROLLBACK END CATCH
DROP TRIGGER fails ON DATABASE
GO
CREATE TABLE heard (n int IDENTITY, event sysname, object sysname, command nvarchar(200))
CREATE TABLE indexed (a int)
CREATE INDEX ix ON indexed (a)
GO
CREATE TRIGGER hears ON ALL SERVER FOR DDL_EVENTS AS
DECLARE @e xml = EVENTDATA()
INSERT heard SELECT @e.value('(//EventType)[1]', 'sysname'), @e.value('(//ObjectName)[1]', 'sysname'), @e.value('(//CommandText)[1]', 'nvarchar(200)')
GO
SET NOCOUNT ON
CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'not to be told'
ALTER MASTER KEY ADD ENCRYPTION BY PASSWORD = 'nor this'
CREATE CERTIFICATE cert WITH SUBJECT = 'x'
ALTER CERTIFICATE cert WITH ACTIVE FOR BEGIN_DIALOG = OFF
DROP CERTIFICATE cert
DROP MASTER KEY
CREATE ENDPOINT ep STATE = STOPPED AS TCP (LISTENER_PORT = 4022) FOR SERVICE_BROKER (AUTHENTICATION = WINDOWS)
ALTER ENDPOINT ep STATE = STARTED
DROP ENDPOINT ep
CREATE XML SCHEMA COLLECTION xsc AS '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>'
DROP XML SCHEMA COLLECTION xsc
EXEC sp_rename 'indexed', 'renamed'
DROP TRIGGER hears ON ALL SERVER
SELECT event, object, CASE WHEN event LIKE '%KEY' OR event LIKE '%CERT%' THEN command END command FROM heard ORDER BY n
GO

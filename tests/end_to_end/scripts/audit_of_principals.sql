-- Users, logins, roles, members, grants and owners, as event notifications tell of them.
SET NOCOUNT ON
CREATE QUEUE dbo.Audit
CREATE SERVICE Auditor ON QUEUE dbo.Audit ([http://schemas.microsoft.com/SQL/Notifications/PostEventNotification])
GO
CREATE EVENT NOTIFICATION OfDatabase ON DATABASE FOR DDL_DATABASE_SECURITY_EVENTS TO SERVICE 'Auditor', 'current database'
CREATE EVENT NOTIFICATION OfServer ON SERVER FOR DDL_LOGIN_EVENTS, DDL_GDR_SERVER_EVENTS, ADD_SERVER_ROLE_MEMBER TO SERVICE 'Auditor', 'current database'
GO
CREATE LOGIN audited_login WITH PASSWORD = 'x'
CREATE USER Audited FOR LOGIN audited_login
CREATE ROLE Auditors
EXEC sp_addrolemember 'Auditors', 'Audited'
ALTER ROLE db_owner ADD MEMBER Audited
ALTER ROLE db_owner DROP MEMBER Audited
ALTER USER Audited WITH DEFAULT_SCHEMA = dbo
CREATE TABLE dbo.Watched (a int)
CREATE QUEUE dbo.WatchedQueue
CREATE SERVICE WatchedService ON QUEUE dbo.WatchedQueue
GO
GRANT SELECT, INSERT ON dbo.Watched TO public
GRANT RECEIVE ON dbo.WatchedQueue TO Auditors, Audited WITH GRANT OPTION AS dbo
DENY SEND ON SERVICE::WatchedService TO Audited
REVOKE GRANT OPTION FOR RECEIVE ON dbo.WatchedQueue FROM Audited CASCADE
GRANT CREATE QUEUE TO Auditors
ALTER AUTHORIZATION ON SERVICE::WatchedService TO Auditors
ALTER AUTHORIZATION ON dbo.WatchedQueue TO SCHEMA OWNER
BEGIN TRAN
DENY SELECT ON dbo.Watched TO public
ROLLBACK
ALTER AUTHORIZATION ON SERVICE::WatchedService TO dbo
ALTER ROLE Auditors DROP MEMBER Audited
DROP USER Audited
DROP ROLE Auditors
DROP LOGIN audited_login
GO
DECLARE @told TABLE (n bigint IDENTITY, body xml)
DECLARE @left int = 1
WHILE @left > 0
BEGIN
    DECLARE @batch TABLE (body varbinary(max), n bigint)
    DELETE @batch
    RECEIVE message_body, queuing_order FROM dbo.Audit INTO @batch
    SET @left = @@ROWCOUNT
    INSERT @told (body) SELECT body FROM @batch ORDER BY n
END
SELECT e.i.value('EventType[1]', 'sysname') AS event, e.i.value('UserName[1]', 'sysname') AS [by], e.i.value('SchemaName[1]', 'sysname') AS [schema],
       REPLACE(e.i.value('ObjectName[1]', 'sysname'), DB_NAME(), 'this one') AS object, e.i.value('ObjectType[1]', 'sysname') AS type, e.i.value('RoleName[1]', 'sysname') AS role,
       e.i.value('OwnerName[1]', 'sysname') AS owner, e.i.value('Grantor[1]', 'sysname') AS grantor,
       CAST(e.i.query('Permissions/Permission/text()') AS nvarchar(100)) AS permissions,
       CAST(e.i.query('for $g in Grantees/Grantee return concat(string($g), " ")') AS nvarchar(100)) AS grantees,
       e.i.value('GrantOption[1]', 'bit') AS [option]
FROM @told CROSS APPLY body.nodes('/EVENT_INSTANCE') AS e (i) ORDER BY CASE WHEN e.i.exist('EventType[contains(., "LOGIN") or contains(., "SERVER")]') = 1 THEN 1 ELSE 0 END, n
GO
CREATE TRIGGER NoGrants ON DATABASE FOR GRANT_DATABASE, ADD_ROLE_MEMBER AS
PRINT EVENTDATA().value('(/EVENT_INSTANCE/EventType)[1]', 'sysname') + N' undone'
ROLLBACK
GO
GRANT SELECT ON dbo.Watched TO public
GO
EXEC sp_addrolemember 'db_datareader', 'guest'
GO
DROP TRIGGER NoGrants ON DATABASE
DROP EVENT NOTIFICATION OfServer ON SERVER
SELECT COUNT(*) AS members FROM sys.database_role_members
GO

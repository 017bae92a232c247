-- who has to be there: the login of a user, the user that a module runs as
SET NOCOUNT ON
CREATE TABLE dbo.t (a INT)
GO
CREATE USER u1 FOR LOGIN NoSuchLogin
GO
CREATE USER NoSuchLogin
GO
CREATE LOGIN One WITH PASSWORD = 'Xx123456!'
CREATE LOGIN Two WITH PASSWORD = 'Xx123456!'
CREATE USER One
CREATE USER Other FOR LOGIN One
GO
CREATE USER One FOR LOGIN One
CREATE USER Without WITHOUT LOGIN
CREATE USER [DOM\Joe]
CREATE USER Boss FOR LOGIN sa
ALTER USER Without WITH LOGIN = NoSuchLogin
ALTER USER Without WITH LOGIN = One
ALTER USER Without WITH LOGIN = Two
EXEC sp_adduser 'NoSuchLogin'
EXEC sp_grantdbaccess 'NoSuchLogin', 'u2'
GO
CREATE PROCEDURE dbo.p WITH EXECUTE AS 'Ghost' AS PRINT 'x'
GO
CREATE FUNCTION dbo.f() RETURNS INT WITH EXECUTE AS 'Ghost' AS BEGIN RETURN 1 END
GO
CREATE TRIGGER dbo.tr ON dbo.t WITH EXECUTE AS 'Ghost' AFTER INSERT AS PRINT 'x'
GO
CREATE TRIGGER tr ON DATABASE WITH EXECUTE AS 'Ghost' FOR CREATE_TABLE AS PRINT 'x'
GO
CREATE FUNCTION dbo.f() RETURNS INT WITH EXECUTE AS 'dbo' AS BEGIN RETURN 1 END
GO
ALTER FUNCTION dbo.f() RETURNS INT WITH EXECUTE AS 'Ghost' AS BEGIN RETURN 2 END
GO
PRINT dbo.f()
SELECT name FROM sys.objects WHERE name IN ('p', 'f', 'tr')
SELECT name FROM sys.database_principals WHERE name IN ('u1', 'u2', 'NoSuchLogin', 'One', 'Other', 'Without', 'DOM\Joe', 'Boss') ORDER BY name
GO
-- each has a number of its own, also beside PostgreSQL's roles
CREATE ROLE r1
CREATE ROLE r2
CREATE ROLE r3
CREATE ROLE r4
CREATE ROLE r5
GO
SELECT principal_id FROM sys.database_principals GROUP BY principal_id HAVING COUNT(*) > 1
SELECT USER_NAME(USER_ID('r1')) AS a, USER_NAME(USER_ID('guest')) AS b, USER_NAME(16384) AS c, USER_ID('sys') AS d, SUSER_NAME(SUSER_ID()) AS e, USER_NAME(USER_ID(SUSER_NAME())) AS f
GO
-- what reports of members and grants join, and what a login made once more is asked for
IF SUSER_ID(N'counted') IS NULL CREATE LOGIN counted WITH PASSWORD = 'x'
IF SUSER_ID(N'counted') IS NULL PRINT 'made again'
CREATE USER reads WITHOUT LOGIN
ALTER ROLE db_datareader ADD MEMBER reads
CREATE ENDPOINT told STATE = STARTED AS TCP (LISTENER_PORT = 4022) FOR SERVICE_BROKER (AUTHENTICATION = WINDOWS)
GO
GRANT CONNECT ON ENDPOINT::told TO counted AS sa
GO
SELECT r.name AS [role], m.name AS member, m.authentication_type_desc AS logs_in, USER_NAME(rm.role_principal_id) AS again
FROM sys.database_role_members AS rm JOIN sys.database_principals AS r ON r.principal_id = rm.role_principal_id
JOIN sys.database_principals AS m ON m.principal_id = rm.member_principal_id WHERE m.name IN ('dbo', 'reads') ORDER BY 1
SELECT SUSER_NAME(p.grantee_principal_id) AS grantee, SUSER_NAME(p.grantor_principal_id) AS grantor, p.permission_name, SUSER_NAME(1) AS one,
       SUSER_SNAME(SUSER_SID('sa')) AS sa, SUSER_ID('sysadmin') AS three
FROM sys.server_permissions AS p WHERE p.class_desc = 'ENDPOINT'
DROP ENDPOINT told
DROP USER reads
DROP LOGIN counted

USE master
CREATE LOGIN SenderLogin WITH PASSWORD = 'Passw0rd!', CHECK_POLICY = OFF
GO
CREATE DATABASE SecDemo
GO
USE SecDemo
CREATE USER SenderUser FOR LOGIN SenderLogin WITH DEFAULT_SCHEMA = dbo
CREATE USER TargetUser WITHOUT LOGIN
CREATE ROLE BrokerRole AUTHORIZATION dbo
ALTER ROLE BrokerRole ADD MEMBER SenderUser
GO
CREATE SCHEMA [App] AUTHORIZATION [dbo]
GO
CREATE QUEUE App.Q1
CREATE QUEUE [App].[Q2] WITH STATUS = ON
CREATE SERVICE [//sec/1] AUTHORIZATION dbo ON QUEUE App.Q1
CREATE SERVICE [//sec/2] AUTHORIZATION TargetUser ON QUEUE App.Q2 ([DEFAULT])
GRANT SEND ON SERVICE::[//sec/2] TO SenderUser
GRANT SEND ON SERVICE::[//sec/1] TO BrokerRole AS dbo
GRANT RECEIVE ON OBJECT::App.Q2 TO TargetUser WITH GRANT OPTION
GRANT SELECT, RECEIVE ON [App].[Q1] TO [public]
DENY SEND ON SERVICE::[//sec/1] TO TargetUser
REVOKE SEND ON SERVICE::[//sec/1] FROM TargetUser
GRANT CONTROL ON SCHEMA::App TO BrokerRole
GRANT EXECUTE ON SCHEMA::[App] TO SenderUser
GRANT VIEW DEFINITION TO SenderUser
GRANT ALTER ANY SERVICE, ALTER ANY CONTRACT, ALTER ANY MESSAGE TYPE, ALTER ANY ROUTE TO BrokerRole
GRANT CONNECT TO SenderUser
SELECT pr.name, pe.state_desc, pe.permission_name, pe.class_desc, COALESCE(s.name, OBJECT_NAME(pe.major_id)) obj
FROM sys.database_permissions pe JOIN sys.database_principals pr ON pr.principal_id = pe.grantee_principal_id
LEFT JOIN sys.services s ON pe.class = 17 AND s.service_id = pe.major_id
WHERE pe.class IN (1, 17) ORDER BY 1, 3, 5
SELECT s.name, p.name AS owner FROM sys.services s JOIN sys.database_principals p ON p.principal_id = s.principal_id WHERE s.name LIKE '//sec/%' ORDER BY 1
SELECT USER_NAME(r.member_principal_id) m, USER_NAME(role_principal_id) r FROM sys.database_role_members r
SELECT IS_MEMBER('BrokerRole'), HAS_PERMS_BY_NAME('//sec/1', 'SERVICE', 'SEND') h, SUSER_ID() - SUSER_ID() z, DATABASE_PRINCIPAL_ID('BrokerRole') - USER_ID('BrokerRole') d
SELECT permission_name FROM fn_my_permissions('//sec/1', 'SERVICE') ORDER BY 1
SELECT permission_name FROM sys.fn_my_permissions(N'App.Q1', N'OBJECT') ORDER BY 1
SELECT COUNT(*) AS none FROM fn_my_permissions('nothing', 'SERVICE')
ALTER AUTHORIZATION ON SERVICE::[//sec/1] TO TargetUser
ALTER AUTHORIZATION ON App.Q1 TO TargetUser
DROP USER SenderUser
DROP SERVICE [//sec/1]
DROP SERVICE [//sec/2]
DROP QUEUE App.Q1 DROP QUEUE App.Q2
GO
USE master
DROP DATABASE SecDemo
DROP LOGIN SenderLogin
GO
GO
-- ALL is the permissions that a program needs: CONTROL and ALTER stay as they are
CREATE USER Whole WITHOUT LOGIN
CREATE QUEUE WholeQueue
CREATE SERVICE WholeService ON QUEUE WholeQueue
GRANT ALTER, CONTROL ON SERVICE::WholeService TO Whole
GRANT ALTER, VIEW DEFINITION ON WholeQueue TO Whole
GRANT ALL PRIVILEGES ON WholeQueue TO Whole
SELECT class_desc, permission_name, state FROM sys.database_permissions WHERE grantee_principal_id = USER_ID('Whole') ORDER BY class, permission_name
REVOKE ALL ON WholeQueue FROM Whole
SELECT class_desc, permission_name, state FROM sys.database_permissions WHERE grantee_principal_id = USER_ID('Whole') ORDER BY class, permission_name
GO
-- a service has no ALL; a fixed role's permissions, the server's and another database's are not granted here
GRANT ALL ON SERVICE::WholeService TO Whole
GO
GRANT SEND ON SERVICE::WholeService TO db_owner
GO
USE msdb
GO
GRANT RECEIVE ON master.dbo.q TO Whole
GRANT CREATE DATABASE, VIEW SERVER STATE TO Whole
GO

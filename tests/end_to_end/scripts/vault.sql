-- who may do what: certificates, users, signatures, impersonation
SET NOCOUNT ON
GO
CREATE DATABASE Vault
GO
USE Vault
GO
CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Str0ng!'
CREATE USER Clerk WITHOUT LOGIN
CREATE USER Boss WITHOUT LOGIN WITH DEFAULT_SCHEMA = dbo
CREATE ROLE Senders AUTHORIZATION dbo
EXEC sp_addrolemember 'Senders', 'Clerk'
ALTER ROLE Senders ADD MEMBER Boss
CREATE CERTIFICATE VaultCert AUTHORIZATION Boss WITH SUBJECT = N'dialog security', START_DATE = '01/01/2020', EXPIRY_DATE = '12/31/2030' ACTIVE FOR BEGIN_DIALOG = ON
GO
CREATE MESSAGE TYPE Ask AUTHORIZATION Boss VALIDATION = NONE
CREATE CONTRACT AskOnly AUTHORIZATION Boss (Ask SENT BY ANY)
CREATE QUEUE VaultQueue
CREATE SERVICE VaultService AUTHORIZATION Boss ON QUEUE VaultQueue (AskOnly)
GO
GRANT SEND ON SERVICE::VaultService TO Senders
DENY SEND ON SERVICE::VaultService TO public
REVOKE SEND ON SERVICE::VaultService FROM public
GRANT RECEIVE ON VaultQueue TO Clerk WITH GRANT OPTION
GRANT RECEIVE ON OBJECT::dbo.VaultQueue TO Boss
GRANT REFERENCES ON CONTRACT::AskOnly TO public
GRANT CONTROL ON SERVICE::VaultService TO Clerk
GRANT ALTER ON MESSAGE TYPE::Ask TO Clerk
GRANT TAKE OWNERSHIP ON CONTRACT::AskOnly TO Clerk
GRANT CREATE QUEUE, CREATE SERVICE, CREATE MESSAGE TYPE, CREATE CONTRACT TO Clerk
GRANT EXECUTE, VIEW DATABASE STATE TO Clerk
DENY ALTER ANY SERVICE TO Clerk
GO
REVOKE GRANT OPTION FOR RECEIVE ON VaultQueue FROM Clerk CASCADE
GO
SELECT USER_NAME(p.grantee_principal_id) who, p.class_desc, p.permission_name, p.state_desc, CASE p.class WHEN 1 THEN OBJECT_NAME(p.major_id) WHEN 17 THEN (SELECT name FROM sys.services WHERE service_id = p.major_id) WHEN 16 THEN (SELECT name FROM sys.service_contracts WHERE service_contract_id = p.major_id) WHEN 15 THEN (SELECT name FROM sys.service_message_types WHERE message_type_id = p.major_id) ELSE '-' END AS [on]
FROM sys.database_permissions p WHERE USER_NAME(p.grantee_principal_id) IN ('Clerk', 'Boss', 'Senders') AND p.permission_name <> 'CONNECT' ORDER BY 1, 3, 2
SELECT s.name, USER_NAME(s.principal_id) owner FROM sys.services s WHERE s.name = 'VaultService'
ALTER AUTHORIZATION ON SERVICE::VaultService TO dbo
ALTER AUTHORIZATION ON CONTRACT::AskOnly TO Clerk
ALTER AUTHORIZATION ON MESSAGE TYPE::Ask TO Clerk
ALTER AUTHORIZATION ON OBJECT::dbo.VaultQueue TO SCHEMA OWNER
SELECT 'service' k, USER_NAME(principal_id) o FROM sys.services WHERE name = 'VaultService' UNION ALL SELECT 'contract', USER_NAME(principal_id) FROM sys.service_contracts WHERE name = 'AskOnly' UNION ALL SELECT 'type', USER_NAME(principal_id) FROM sys.service_message_types WHERE name = 'Ask'
SELECT r.name role, m.name member FROM sys.database_role_members x JOIN sys.database_principals r ON r.principal_id = x.role_principal_id JOIN sys.database_principals m ON m.principal_id = x.member_principal_id WHERE r.name = 'Senders' ORDER BY 2
SELECT name, subject, is_active_for_begin_dialog FROM sys.certificates WHERE name = 'VaultCert'
ALTER CERTIFICATE VaultCert WITH ACTIVE FOR BEGIN_DIALOG = OFF
SELECT HAS_PERMS_BY_NAME('VaultService', 'SERVICE', 'SEND') send
GO
DROP USER Clerk
GO
GRANT SEND ON SERVICE::NoSuch TO Boss
GRANT RECEIVE ON NoSuchQueue TO Boss
GRANT SEND ON SERVICE::VaultService TO Nobody
GRANT RECEIVE ON SERVICE::VaultService TO Boss
GO
USE master
DROP DATABASE Vault
GO

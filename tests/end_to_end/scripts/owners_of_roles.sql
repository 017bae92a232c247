-- a role has an owner; the procedures of version 2000 have error numbers of their own
CREATE USER Ops WITHOUT LOGIN;
CREATE ROLE OpsRole AUTHORIZATION Ops;
CREATE ROLE Plain;
GO
CREATE ROLE OpsRole2 AUTHORIZATION nobody_here
GO
SELECT name, USER_NAME(owning_principal_id) o FROM sys.database_principals WHERE name LIKE 'Op%' OR name = 'Plain' ORDER BY name
GO
DROP USER Ops
GO
ALTER AUTHORIZATION ON ROLE::OpsRole TO dbo
GO
DROP USER Ops
GO
EXEC sp_addrolemember N'OpsRole', N'nobody_here'
GO
EXEC sp_addrolemember N'NoRole', N'OpsRole'
GO
EXEC sp_droprolemember N'NoRole', N'OpsRole'
GO
EXEC sp_droprolemember N'OpsRole', N'OpsNoo'
EXEC sp_droprole 'Ops12'
PRINT 'on'
GO
BEGIN TRY EXEC sp_addrolemember N'OpsRole', N'nobody' END TRY
BEGIN CATCH SELECT ERROR_NUMBER() n, ERROR_SEVERITY() v, ERROR_STATE() s, ERROR_MESSAGE() m END CATCH
GO
EXEC sp_addrolemember N'OpsRole', N'Plain'
SELECT IS_ROLEMEMBER('OpsRole', 'Plain')
EXEC sp_droprolemember 'OpsRole', 'Plain'
EXEC sp_droprole 'OpsRole'
GO
CREATE ROLE r1
EXEC sp_addrolemember 'r1','r1'
GO
ALTER ROLE r1 ADD MEMBER r1
GO
EXEC sp_addrolemember 'r1','nob'
EXEC sp_addrole 'r2', 'r1'
SELECT USER_NAME(owning_principal_id) FROM sys.database_principals WHERE name = 'r2'

CREATE TABLE dbo.Customer (CustomerID int IDENTITY(1,1) NOT NULL CONSTRAINT PK_Customer PRIMARY KEY, Name nvarchar(50) NOT NULL, Balance money NULL CONSTRAINT DF_Bal DEFAULT (0), Code char(3) CONSTRAINT UQ_Code UNIQUE, Age tinyint CONSTRAINT CK_Age CHECK (Age > 17))
CREATE TABLE dbo.Orders (OrderID int PRIMARY KEY, CustomerID int CONSTRAINT FK_O_C REFERENCES dbo.Customer(CustomerID) ON DELETE CASCADE)
CREATE NONCLUSTERED INDEX IX_Name ON dbo.Customer (Name DESC) INCLUDE (Balance)
GO
CREATE PROCEDURE dbo.GetCustomer @CustomerID int, @Name nvarchar(50) OUTPUT AS SELECT 1
GO
CREATE VIEW dbo.vCust AS SELECT CustomerID FROM dbo.Customer
GO
SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME LIKE 'c%' OR TABLE_NAME = 'vCust' ORDER BY TABLE_NAME
IF EXISTS (SELECT * FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'dbo' AND TABLE_NAME = 'Customer') PRINT 'found'
SELECT COLUMN_NAME, ORDINAL_POSITION, IS_NULLABLE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'Customer' ORDER BY ORDINAL_POSITION
IF NOT EXISTS (SELECT 1 FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = N'Customer' AND COLUMN_NAME = N'Email') ALTER TABLE dbo.Customer ADD Email nvarchar(100) NULL
IF COL_LENGTH('dbo.Customer', 'Email') IS NOT NULL PRINT 'email added'
SELECT ROUTINE_NAME, ROUTINE_TYPE FROM INFORMATION_SCHEMA.ROUTINES
SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS WHERE TABLE_NAME = 'Customer' ORDER BY 1
SELECT COLUMN_NAME FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE WHERE CONSTRAINT_NAME = 'PK_Customer'
SELECT fk.name, OBJECT_NAME(fk.parent_object_id) AS tab, COL_NAME(fc.parent_object_id, fc.parent_column_id) AS col, OBJECT_NAME(fk.referenced_object_id) AS ref FROM sys.foreign_keys fk JOIN sys.foreign_key_columns fc ON fc.constraint_object_id = fk.object_id
SELECT i.name, c.name AS col, ic.is_descending_key, ic.is_included_column FROM sys.indexes i JOIN sys.index_columns ic ON ic.object_id = i.object_id AND ic.index_id = i.index_id JOIN sys.columns c ON c.object_id = ic.object_id AND c.column_id = ic.column_id WHERE i.object_id = OBJECT_ID('dbo.Customer') AND i.name = 'IX_Name' ORDER BY ic.index_column_id
SELECT p.name, p.is_output, TYPE_NAME(p.user_type_id) t FROM sys.parameters p WHERE p.object_id = OBJECT_ID('dbo.GetCustomer')
SELECT name, seed_value, increment_value FROM sys.identity_columns WHERE object_id = OBJECT_ID('Customer')
SELECT COUNT(*) AS n FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('Customer')
SELECT name FROM sysobjects WHERE xtype = 'U' AND name = 'Customer'
SELECT name FROM syscolumns WHERE id = OBJECT_ID('Customer') AND name = 'Balance'
SELECT COUNT(*) c FROM master.dbo.sysprocesses WHERE spid = @@SPID
SET LOCK_TIMEOUT 1500
SET DATEFORMAT dmy
SELECT c.protocol_type, c.encrypt_option, c.auth_scheme, s.date_format, s.date_first, s.lock_timeout, r.user_id
  FROM sys.dm_exec_connections AS c JOIN sys.dm_exec_sessions AS s ON s.session_id = c.session_id JOIN sys.dm_exec_requests AS r ON r.connection_id = c.connection_id
 WHERE c.session_id = @@SPID
SET DATEFORMAT mdy
SET LOCK_TIMEOUT -1
SELECT COUNT(*) c FROM sys.dm_exec_requests r CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) t WHERE r.session_id = @@SPID
IF EXISTS (SELECT * FROM sys.configurations WHERE name = 'clr enabled' AND value_in_use = 0) PRINT 'no clr'
EXEC sys.sp_addextendedproperty @name = N'MS_Description', @value = N'People', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N'Customer'
EXEC sp_addextendedproperty N'MS_Description', N'Name of', N'user', N'dbo', N'table', N'Customer', N'column', N'Name'
EXEC sp_addextendedproperty N'MS_Description', N'again', N'user', N'dbo', N'table', N'Customer', N'column', N'Name'
EXEC sp_updateextendedproperty N'MS_Description', N'The name', N'user', N'dbo', N'table', N'Customer', N'column', N'Name'
SELECT objtype, objname, name, value FROM fn_listextendedproperty(NULL, 'schema', 'dbo', 'table', 'Customer', 'column', 'Name')
SELECT COUNT(*) c FROM sys.fn_listextendedproperty(N'x', N'SCHEMA', N'dbo', N'TABLE', N'Nope', NULL, NULL)
SELECT OBJECT_NAME(ep.major_id) o, COL_NAME(ep.major_id, ep.minor_id) c, ep.value FROM sys.extended_properties ep WHERE ep.class = 1 ORDER BY minor_id
SELECT TOP 1 name FROM sys.fn_unknown_thing(1)
PRINT 'after'
GO

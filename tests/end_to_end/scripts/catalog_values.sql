-- What the catalog views say where the reference leaves no choice.
CREATE DATABASE Values_of
GO
USE Values_of
CREATE USER Keeper WITHOUT LOGIN
GO
CREATE SCHEMA kept AUTHORIZATION Keeper
GO
CREATE TABLE dbo.heap (a int, b smalldatetime, x xml)
CREATE UNIQUE INDEX ix_heap ON dbo.heap (a)
CREATE TABLE dbo.keyed (id int IDENTITY(5, 5) PRIMARY KEY, a int)
CREATE INDEX ix_keyed ON dbo.keyed (a)
GO
ALTER TABLE dbo.heap ADD CONSTRAINT ck_heap CHECK (a > 0 OR b IS NULL)
GO
CREATE VIEW dbo.checked AS SELECT a FROM dbo.heap WHERE a > 0 WITH CHECK OPTION
GO
INSERT INTO dbo.heap (a) VALUES (1), (2)
PRINT 'a heap is index 0, a primary key 1, others count from 2'
SELECT OBJECT_NAME(i.object_id) t, CASE WHEN i.index_id <> 1 THEN i.name END n, i.index_id, i.type, i.type_desc, i.is_primary_key p, p.rows
  FROM sys.indexes i JOIN sys.partitions p ON p.object_id = i.object_id AND p.index_id = i.index_id
 WHERE i.object_id IN (OBJECT_ID('dbo.heap'), OBJECT_ID('dbo.keyed')) ORDER BY 1 DESC, 3
SELECT s.index_id, INDEXPROPERTY(s.object_id, 'ix_heap', 'IndexID') same FROM sys.index_columns s WHERE s.object_id = OBJECT_ID('dbo.heap')
SELECT COUNT(*) FROM sys.stats WHERE object_id = OBJECT_ID('dbo.heap')
SELECT indid, rows FROM sysindexes WHERE id = OBJECT_ID('dbo.heap') ORDER BY 1
SELECT index_id, index_type_desc FROM sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID('dbo.heap'), NULL, NULL, NULL) ORDER BY 1
PRINT 'an identity column has no last value before the first'
SELECT seed_value, increment_value, last_value, IDENT_CURRENT('dbo.keyed') c FROM sys.identity_columns WHERE object_id = OBJECT_ID('dbo.keyed')
INSERT INTO dbo.keyed (a) VALUES (1)
SELECT last_value FROM sys.identity_columns WHERE object_id = OBJECT_ID('dbo.keyed')
PRINT 'options'
ALTER DATABASE Values_of SET RECOVERY SIMPLE
ALTER DATABASE Values_of SET READ_ONLY
SELECT recovery_model, recovery_model_desc, is_read_only FROM sys.databases WHERE name = 'Values_of'
ALTER DATABASE Values_of SET RECOVERY BULK_LOGGED
ALTER DATABASE Values_of SET READ_WRITE
SELECT recovery_model, recovery_model_desc, is_read_only FROM sys.databases WHERE name = 'Values_of'
PRINT 'types and information schema'
SELECT name, system_type_id, user_type_id FROM sys.types WHERE name IN ('nvarchar', 'sysname') ORDER BY 1
SELECT COLUMN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH c, DATETIME_PRECISION d FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'heap' ORDER BY 1
SELECT COLUMN_NAME FROM INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE WHERE CONSTRAINT_NAME = 'ck_heap' ORDER BY 1
SELECT CHECK_OPTION FROM INFORMATION_SCHEMA.VIEWS WHERE TABLE_NAME = 'checked'
SELECT SCHEMA_NAME, SCHEMA_OWNER FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME IN ('dbo', 'kept') ORDER BY 1
GO
-- Those of the database alone
CREATE SEQUENCE dbo.Numbers AS int START WITH 5 INCREMENT BY 2
CREATE TYPE dbo.Code FROM nvarchar(10)
CREATE TYPE dbo.Amount FROM decimal(9, 2)
CREATE TYPE dbo.Rows AS TABLE (a int)
SELECT * FROM INFORMATION_SCHEMA.SEQUENCES
SELECT DOMAIN_SCHEMA, DOMAIN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH c, CHARACTER_SET_NAME s, NUMERIC_PRECISION p, NUMERIC_PRECISION_RADIX r
  FROM INFORMATION_SCHEMA.DOMAINS ORDER BY 2
CREATE TABLE dbo.Aliased (c dbo.Code, a dbo.Amount, f float, v varchar(5), s sysname, d date)
SELECT COLUMN_NAME, DATA_TYPE, NUMERIC_PRECISION_RADIX r, CHARACTER_SET_CATALOG k, CHARACTER_SET_NAME s, DOMAIN_CATALOG, DOMAIN_SCHEMA, DOMAIN_NAME
  FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'Aliased'
PRINT 'principals and permissions'
SELECT name, is_fixed_role FROM sys.database_principals WHERE name IN ('public', 'db_owner', 'Keeper') ORDER BY 1
GRANT CREATE QUEUE, CREATE MESSAGE TYPE, ALTER ANY ROUTE, VIEW DEFINITION TO Keeper
GRANT IMPERSONATE ON USER::dbo TO Keeper
SELECT class, class_desc, type, permission_name, state FROM sys.database_permissions WHERE grantee_principal_id = USER_ID('Keeper') ORDER BY 4
SELECT DISTINCT major_id FROM sys.database_permissions WHERE class = 0
GO
USE master
GO
DROP DATABASE Values_of
GO

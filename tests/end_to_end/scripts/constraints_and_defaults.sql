CREATE TABLE dbo.P (id int NOT NULL CONSTRAINT PK_P PRIMARY KEY, name nvarchar(20) NOT NULL CONSTRAINT DF_P_name DEFAULT N'x', n int DEFAULT 0, c AS id * 2, CONSTRAINT CK_P CHECK (n >= 0))
CREATE TABLE dbo.C (id int IDENTITY PRIMARY KEY, p int NOT NULL CONSTRAINT FK_C_P REFERENCES dbo.P(id) ON DELETE CASCADE ON UPDATE NO ACTION)
CREATE UNIQUE INDEX IX_P ON dbo.P (name DESC) INCLUDE (n) WHERE n > 1
GO
SELECT c.name, d.definition, d.name FROM sys.columns c JOIN sys.default_constraints d ON c.default_object_id = d.object_id WHERE c.object_id = OBJECT_ID('dbo.P') ORDER BY c.column_id
SELECT name, delete_referential_action_desc, update_referential_action, is_disabled, is_not_trusted FROM sys.foreign_keys
SELECT i.name, i.has_filter, i.filter_definition, i.type_desc, ic.key_ordinal, ic.is_descending_key, ic.is_included_column, COL_NAME(ic.object_id, ic.column_id) col FROM sys.indexes i JOIN sys.index_columns ic ON ic.object_id = i.object_id AND ic.index_id = i.index_id WHERE i.object_id = OBJECT_ID('dbo.P') ORDER BY i.index_id, ic.index_column_id
SELECT k.name, k.type, i.name, k.is_system_named FROM sys.key_constraints k JOIN sys.indexes i ON i.object_id = k.parent_object_id AND i.index_id = k.unique_index_id ORDER BY k.name
SELECT name, temporal_type, is_memory_optimized, is_ms_shipped FROM sys.tables ORDER BY name
SELECT c.name, t.name, c.max_length, c.collation_name, c.is_identity, c.is_computed, c.is_sparse, c.is_rowguidcol FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('P') ORDER BY 1
SELECT name, definition, is_disabled FROM sys.check_constraints
SELECT o.name, o.xtype FROM sysobjects o WHERE o.parent_obj = OBJECT_ID('dbo.C') ORDER BY 1
SELECT id.name, ident.rows FROM sysobjects id JOIN sysindexes ident ON ident.id = id.id AND ident.indid < 2 WHERE id.xtype = 'U' ORDER BY 1
GO
DECLARE @n sysname, @sql nvarchar(max)
SELECT @n = d.name FROM sys.default_constraints d JOIN sys.columns c ON c.object_id = d.parent_object_id AND c.column_id = d.parent_column_id WHERE d.parent_object_id = OBJECT_ID('dbo.P') AND c.name = 'n'
SET @sql = N'ALTER TABLE dbo.P DROP CONSTRAINT ' + QUOTENAME(@n)
EXEC (@sql)
ALTER TABLE dbo.P DROP CONSTRAINT DF_P_name
SELECT COUNT(*) FROM sys.default_constraints
GO
CREATE TABLE dbo.Q (a int CONSTRAINT DF_Q_a DEFAULT 1, b int)
ALTER TABLE dbo.Q ADD CONSTRAINT DF_Q_b DEFAULT 2 FOR b
GO
SELECT name, type FROM sys.objects WHERE parent_object_id = OBJECT_ID('dbo.Q') ORDER BY name
IF OBJECT_ID('dbo.DF_Q_b', 'D') IS NOT NULL ALTER TABLE dbo.Q DROP CONSTRAINT DF_Q_b
IF EXISTS (SELECT * FROM dbo.sysobjects WHERE id = OBJECT_ID(N'[DF_Q_a]') AND type = 'D')
BEGIN
ALTER TABLE [dbo].[Q] DROP CONSTRAINT [DF_Q_a]
END
INSERT dbo.Q DEFAULT VALUES
SELECT * FROM dbo.Q
SELECT COUNT(*) FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('dbo.Q')
GO
ALTER TABLE dbo.Q DROP CONSTRAINT nothing
GO
ALTER TABLE dbo.Q DROP CONSTRAINT IF EXISTS nothing
GO

CREATE TABLE dbo.Odd ([my col] int CONSTRAINT [it's an "odd" one] DEFAULT 1, n int CONSTRAINT DF_Odd_n DEFAULT 2, m int DEFAULT 3)
GO
SELECT name FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('dbo.Odd') ORDER BY name
DECLARE @n sysname, @sql nvarchar(max)
DECLARE c CURSOR LOCAL FOR SELECT name FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('dbo.Odd') ORDER BY name
OPEN c
FETCH NEXT FROM c INTO @n
WHILE @@FETCH_STATUS = 0
BEGIN
  SET @sql = N'ALTER TABLE dbo.Odd DROP CONSTRAINT ' + QUOTENAME(@n)
  EXEC (@sql)
  FETCH NEXT FROM c INTO @n
END
CLOSE c DEALLOCATE c
SELECT COUNT(*) n FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('dbo.Odd')
GO
GO
-- A sysname that says nothing of NULL does not take it.
CREATE TABLE dbo.Named (a INT, b SYSNAME, c sysname NULL);
INSERT dbo.Named (a) VALUES (1);
INSERT dbo.Named (b) VALUES (N'x');
DECLARE @names TABLE (a INT, b SYSNAME);
INSERT @names (a) VALUES (1);
SELECT name, is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('dbo.Named') ORDER BY column_id;

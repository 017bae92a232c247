-- Tables, with their triggers, and procedures go to another schema
CREATE TABLE dbo.t1 (id int identity primary key, n int)
CREATE TABLE dbo.log1 (what varchar(50))
GO
CREATE TRIGGER dbo.t1_ins ON dbo.t1 AFTER INSERT, UPDATE AS
DECLARE @x TABLE (a int)
IF UPDATE(n) INSERT dbo.log1 SELECT CONCAT('ins ', n) FROM inserted
GO
CREATE TRIGGER dbo.t1_io ON dbo.t1 INSTEAD OF DELETE AS
PRINT 'no'
GO
CREATE SCHEMA arch
GO
SET NOCOUNT ON
ALTER SCHEMA arch TRANSFER dbo.t1
GO
INSERT arch.t1 (n) VALUES (2)
DELETE arch.t1
SELECT * FROM dbo.log1
SELECT OBJECT_SCHEMA_NAME(object_id) s, name, OBJECT_NAME(parent_id) p, LEFT(OBJECT_DEFINITION(object_id), 30) d FROM sys.triggers
GO
ALTER TRIGGER arch.t1_ins ON arch.t1 AFTER INSERT AS
DECLARE @x TABLE (a int)
INSERT @x VALUES (1)
INSERT dbo.log1 SELECT CONCAT('ins2 ', n) FROM inserted
GO
INSERT arch.t1 (n) VALUES (3)
SELECT * FROM dbo.log1
GO
DISABLE TRIGGER arch.t1_ins ON arch.t1
INSERT arch.t1 (n) VALUES (4)
ENABLE TRIGGER t1_ins ON arch.t1
GO
CREATE TRIGGER dbo.t1_ins ON dbo.log1 AFTER INSERT AS PRINT 'log'
GO
INSERT arch.t1 (n) VALUES (5)
DROP TRIGGER arch.t1_ins, arch.t1_io
DROP TRIGGER dbo.t1_ins
INSERT arch.t1 (n) VALUES (6)
SELECT * FROM dbo.log1
GO
DROP TABLE arch.t1
DROP TABLE dbo.log1

GO
CREATE PROC dbo.pp AS
DECLARE @x TABLE (a int)
INSERT @x VALUES (7)
SELECT a FROM @x
GO
ALTER SCHEMA arch TRANSFER dbo.pp
GO
EXEC arch.pp
SELECT OBJECT_DEFINITION(OBJECT_ID(N'arch.pp')) AS d
SELECT COUNT(*) FROM sys.sql_modules WHERE object_id = OBJECT_ID('arch.pp')
GO
ALTER PROC arch.pp AS SELECT 9
GO
EXEC arch.pp
DROP PROC arch.pp
DROP SCHEMA arch

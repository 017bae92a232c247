-- sp_executesql of another database makes modules there: how one script deploys to several databases.
SET NOCOUNT ON
CREATE DATABASE Branch
GO
EXEC Branch.sys.sp_executesql N'CREATE PROCEDURE dbo.Known AS SELECT DB_NAME() AS known'
EXEC Branch..sp_executesql N'CREATE TABLE dbo.Kept (a INT)'
EXEC Branch..sp_executesql N'-- as it is written
CREATE TRIGGER dbo.Tells ON dbo.Kept AFTER INSERT AS SELECT a FROM inserted'
DECLARE @text NVARCHAR(MAX) = REPLACE(N'
CREATE PROCEDURE dbo.Of_{db} AS SELECT DB_NAME() AS late, @@PROCID - OBJECT_ID(''dbo.Of_{db}'') AS zero', '{db}', DB_NAME(DB_ID('Branch')))
DECLARE @in NVARCHAR(300) = QUOTENAME(N'Branch') + N'.sys.sp_executesql'
EXEC @in @text
EXEC @in N'CREATE OR ALTER PROCEDURE dbo.Alters AS SELECT 1 AS one'
EXEC @in N'ALTER PROCEDURE dbo.Alters AS SELECT 2 AS two'
EXEC @in N'USE Branch; CREATE PROCEDURE dbo.Never AS SELECT 1'
GO
EXEC Branch.dbo.Known
EXEC Branch.dbo.Of_Branch
EXEC Branch.dbo.Alters
INSERT Branch.dbo.Kept VALUES (7)
SELECT name FROM Branch.sys.procedures ORDER BY name
GO
USE Branch
SELECT OBJECT_DEFINITION(OBJECT_ID('dbo.Known')) AS text UNION ALL SELECT OBJECT_DEFINITION(OBJECT_ID('dbo.Tells'))
SELECT OBJECT_DEFINITION(OBJECT_ID('dbo.Of_Branch')) AS text

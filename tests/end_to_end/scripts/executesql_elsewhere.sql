-- sp_executesql and other system procedures with a database in their name run in that database.
CREATE DATABASE Ua
CREATE DATABASE [U b]
GO
USE Ua
GO
SET NOCOUNT ON
CREATE TABLE here (a INT)
GO
DECLARE @p NVARCHAR(300) = N'[U b].sys.sp_executesql', @sql NVARCHAR(100) = N'SELECT DB_NAME() AS d'
EXEC @p @sql
SET @p = QUOTENAME('U b') + N'.sys.sp_executesql'
EXEC @p N'SELECT DB_NAME() AS d, @x AS x', N'@x INT', 5
DECLARE @db SYSNAME, @rc INT, @out SYSNAME
SELECT @db = name FROM sys.databases WHERE name = 'U b'
SET @p = QUOTENAME(@db) + N'..sp_executesql'
EXEC @rc = @p @sql
PRINT @rc
SET @p = N'sp_executesql'
EXEC @p @sql
EXEC @rc = [U b]..sp_executesql N'SET @o = DB_NAME(); CREATE TABLE made_there (a INT)', N'@o SYSNAME OUTPUT', @o = @out OUTPUT
PRINT CONCAT(@out, ' ', @rc, ' ', DB_NAME())
EXEC [U b].dbo.sp_executesql @stmt = N'EXEC (''CREATE PROCEDURE pp AS SELECT DB_NAME() AS in_proc'')'
EXEC [U b].dbo.pp
EXEC [U b]..sp_columns 'made_there'
EXEC [U b].sys.sp_rename 'dbo.made_there', 'renamed_there'
SELECT name FROM [U b].sys.tables
SELECT name FROM sys.tables
GO
DECLARE @sql NVARCHAR(MAX)
SELECT @sql = N'SELECT DB_NAME() AS late, COUNT(*) AS c FROM ' + QUOTENAME(t.name) FROM [U b].sys.tables t
EXEC [U b].sys.sp_executesql @sql
PRINT DB_NAME()
GO
-- In a procedure; what fails there comes back all the same.
CREATE PROCEDURE everywhere @db SYSNAME AS
  DECLARE @exec NVARCHAR(300) = QUOTENAME(@db) + N'.sys.sp_executesql', @n INT
  EXEC @exec N'SELECT @n = COUNT(*) FROM sys.tables WHERE name LIKE ''%here''', N'@n INT OUTPUT', @n OUTPUT
  PRINT CONCAT(@db, ' ', @n, ' ', DB_NAME())
GO
EXEC everywhere 'U b'
EXEC everywhere 'Ua'
BEGIN TRY
  EXEC [U b].sys.sp_executesql N'SELECT 1 / 0'
END TRY
BEGIN CATCH
  PRINT ERROR_MESSAGE() + ' ' + DB_NAME()
END CATCH
SELECT name FROM sys.tables
GO
-- Another procedure, whose name ends alike.
CREATE PROCEDURE [my sp_executesql] @a SYSNAME AS PRINT 'mine: ' + @a
GO
DECLARE @p SYSNAME = N'[my sp_executesql]'
EXEC @p N'SELECT 1'
GO

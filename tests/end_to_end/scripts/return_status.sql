-- What a procedure returns that says nothing: 0, or 10 minus the severity of the gravest error in it, caught or not.
SET NOCOUNT ON
GO
CREATE PROC says_five AS RETURN 5
GO
CREATE PROC calls_one AS EXEC says_five
GO
CREATE PROC fails AS SELECT 1 / 0 IF 1 = 1 RETURN
GO
CREATE PROC catches AS BEGIN TRY RAISERROR('x', 14, 1) END TRY BEGIN CATCH PRINT 'caught' END CATCH
GO
CREATE PROC fails_thrice AS RAISERROR('x', 12, 1) RAISERROR('y', 16, 1) RAISERROR('z', 11, 1)
GO
CREATE PROC says_none AS SELECT 1 / 0 RETURN 0
GO
CREATE PROC tells AS RAISERROR('no error', 10, 1)
GO
CREATE PROC calls_failing AS DECLARE @r int EXEC @r = fails_thrice PRINT @r
GO
DECLARE @r int, @name sysname = 'fails'
EXEC @r = calls_one PRINT @r
EXEC @r = fails PRINT @r
EXEC @r = catches PRINT @r
EXEC @r = fails_thrice PRINT @r
EXEC @r = says_none PRINT @r
EXEC @r = tells PRINT @r
EXEC @r = calls_failing PRINT @r
EXEC @r = @name PRINT @r
GO
-- sp_executesql returns the last @@ERROR of its text.
DECLARE @r int, @text nvarchar(100) = N'SELECT 1 / 0'
EXEC @r = sp_executesql N'EXEC says_five' PRINT @r
EXEC @r = sp_executesql N'SELECT 1 / 0' PRINT @r
EXEC @r = sp_executesql N'SELECT 1 / 0 PRINT 1' PRINT @r
SET @text += ' '
EXEC @r = sp_executesql @text PRINT @r
EXEC @r = sp_executesql N'SELECT * FROM nosuch' PRINT @r
SET @r = 77
BEGIN TRY EXEC @r = sp_executesql N'SELECT 1 / 0' END TRY BEGIN CATCH PRINT @r END CATCH
GO
-- A text that is NULL, since a piece of it is, does not run.
DECLARE @none sysname, @text nvarchar(100), @r int
SET @text = N'CREATE QUEUE ' + QUOTENAME(@none)
EXEC (@text)
EXEC @r = sp_executesql @text PRINT @r
EXEC (N'PRINT ''' + @none + '''')
EXEC (N'PRINT ' + CAST(1 AS nvarchar(9)))

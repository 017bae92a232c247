-- What sp_executesql runs is a batch: it may begin with a procedure's name, beside parameters and in another database too.
CREATE PROCEDURE dbo.told @v INT, @w NVARCHAR(10) = N'd' OUTPUT AS PRINT CONCAT(@v, @w, ' at ', @@NESTLEVEL) SET @w = N'out'
GO
DECLARE @o NVARCHAR(10) = N'in', @text NVARCHAR(100) = N'dbo.told @v = @a', @any NVARCHAR(200) = DB_NAME() + N'.sys.sp_executesql'
EXEC sp_executesql N'told @a, @b OUTPUT', N'@a INT, @b NVARCHAR(10) OUTPUT', 1, @o OUTPUT
PRINT @o
EXEC sp_executesql @text, N'@a INT', 2
EXEC sp_executesql N'
-- and a comment before it
told @v = @a PRINT @a', N'@a INT', @a = 3
EXEC @any N'told @a', N'@a INT', 4
SET @text = (SELECT TOP (1) name FROM sys.procedures WHERE name = 'told') + N' @a'
EXEC sp_executesql @text, N'@a INT', 5
EXEC sp_executesql N'DECLARE @b INT; told 6', N'@a INT', 0
GO
-- A change that a cursor does not allow is a statement that has been terminated.
CREATE TABLE dbo.walked (a INT PRIMARY KEY)
INSERT dbo.walked VALUES (1)
DECLARE fixed CURSOR STATIC FOR SELECT a FROM dbo.walked
OPEN fixed
FETCH fixed
DELETE dbo.walked WHERE CURRENT OF fixed
PRINT @@ERROR
CLOSE fixed
DEALLOCATE fixed
GO

-- @ and @@ are names, and @a is not @@a
CREATE PROCEDURE dbo.pp @ INT, @@ INT, @a INT = 7, @@a INT = 8 OUTPUT AS
PRINT CONCAT(@, '-', @@, '-', @a, '-', @@a)
SET @@a = 99
GO
DECLARE @@o INT, @o INT = 5
EXEC dbo.pp @@ = 1, @ = 2, @@a = @@o OUTPUT
PRINT CONCAT(@@o, '/', @o)
EXEC dbo.pp 5, 6, @a = 3
EXEC dbo.pp 5, 6, @b = 3
EXEC dbo.pp 5
EXEC dbo.pp @@ = 1, @ = 2, @@ = 3
GO
DECLARE @p SYSNAME = N'dbo.' + LEFT(N'pp', 2)
EXEC @p @@ = 1, @ = 2, @@a = 4
EXEC sp_executesql N'PRINT CONCAT(@, ''+'', @@, ''+'', @@a)', N'@ INT, @@ INT, @a INT, @@a INT', @ = 1, @@ = 2, @a = 3, @@a = 4
DECLARE @r INT, @s NVARCHAR(100) = N'SET @@b = @a + @@a' + LEFT(@@SERVERNAME, 0)
EXEC sp_executesql @s, N'@a INT, @@a INT, @@b INT OUTPUT', @a = 1, @@a = 2, @@b = @r OUTPUT
PRINT @r
SELECT name FROM sys.parameters WHERE object_id = OBJECT_ID('dbo.pp') ORDER BY parameter_id
GO
CREATE PROCEDURE dbo.old @@Name NVARCHAR(20), @@Size INT OUTPUT AS SET @@Size = LEN(@@Name)
GO
DECLARE @@n INT
EXEC dbo.old @@Name = N'abc', @@Size = @@n OUTPUT
PRINT @@n
EXEC dbo.old 'abcd', @@n OUTPUT
PRINT @@n
EXEC dbo.old @Name = N'abc', @@Size = @@n OUTPUT

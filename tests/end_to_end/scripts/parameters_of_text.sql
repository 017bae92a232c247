EXEC sp_executesql N'SELECT @a + @b AS s', N'@a INT, @b INT', 3
GO
EXEC sp_executesql N'SELECT @a + @b AS s', N'@a INT, @b INT', @b = 3, @c = 4
GO
EXEC sp_executesql N'SELECT 1 AS s', N'@a INT', 1, 2
GO
EXEC sp_executesql N'SELECT @a + @b AS s, @c AS c', N'@a INT, @b INT = 4, @c NVARCHAR(10) = N''d''', 3
BEGIN TRY EXEC sp_executesql N'SELECT @a', N'@a INT' END TRY BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ISNULL(ERROR_PROCEDURE(), '-')) END CATCH
DECLARE @r INT EXEC @r = sp_executesql N'SELECT @a', N'@a INT OUTPUT' PRINT @r
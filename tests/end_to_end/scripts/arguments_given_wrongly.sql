-- Calls whose arguments do not go with the procedure, and what they leave in the variables.
SET NOCOUNT ON
GO
CREATE PROCEDURE dbo.Restock @article INT = 1, @amount INT = 5, @left INT = NULL OUTPUT AS
SET @left = @amount RETURN @article
GO
CREATE PROCEDURE dbo.Stocktake AS RETURN 5
GO
DECLARE @code INT = -1, @name SYSNAME = N'dbo.Stocktake'
EXEC dbo.Stocktake
EXEC @code = dbo.Stocktake 1
PRINT @code
EXEC @code = @name 1
PRINT @code
EXEC @code = dbo.Nothing
PRINT @code
SET @name = N'dbo.Restock'
EXEC dbo.Restock @amount = 1, @AMOUNT = 2
EXEC @name @amount = 1, @AMOUNT = 2
EXEC dbo.Restock 1, @article = 2
EXEC sp_executesql N'PRINT @a', N'@a INT', 1, @a = 2
EXEC sp_executesql N'PRINT @a', N'@a INT', @a = 1, @a = 2
DECLARE @text NVARCHAR(MAX) = N'PRINT @a ' + LEFT(DB_NAME(), 0), @narrow VARCHAR(20) = 'PRINT 1'
EXEC sp_executesql @text, N'@a INT', @a = 1, @a = 2
EXEC sp_executesql @narrow
EXEC sp_executesql 'PRINT 1'
EXEC sp_executesql N'PRINT @a', '@a INT', 1
PRINT 'still here'
GO
EXEC dbo.Restock @article = 1, 2
GO
DECLARE @t TABLE (a INT)
INSERT @t EXEC dbo.Restock @article = 1, 2
GO
EXEC dbo.Restock 1, 2, 3 OUTPUT
GO
EXEC dbo.Restock @left = 'much' OUT
GO
-- Table types
CREATE TYPE dbo.Articles AS TABLE (article INT)
GO
CREATE PROCEDURE dbo.WithoutReadonly @given dbo.Articles AS SELECT COUNT(*) FROM @given
GO
CREATE PROCEDURE dbo.Changes @given dbo.Articles READONLY AS
DELETE @given
INSERT @given VALUES (1)
DECLARE @own dbo.Articles
INSERT @own OUTPUT inserted.article INTO @given VALUES (2)
GO
DECLARE @given dbo.Articles
INSERT @given VALUES (1)
EXEC sp_executesql N'UPDATE @g SET article = 2', N'@g dbo.Articles READONLY', @given
SELECT article FROM @given
GO
-- Locks of the application, and cursors that are none
DECLARE @r INT
EXEC @r = sp_releaseapplock N'counter', N'Session'
PRINT @r
DECLARE @c CURSOR, @d CURSOR, @n INT
FETCH NEXT FROM @c INTO @n
SET @c = CURSOR FOR SELECT 1
OPEN @c
DEALLOCATE @c
CLOSE @c
OPEN @d
GO
-- What is no table of the type
CREATE PROCEDURE dbo.Counts @given dbo.Articles READONLY AS SELECT COUNT(*) AS articles FROM @given
GO
DECLARE @other TABLE (article INT)
EXEC dbo.Counts @other
GO
EXEC dbo.Counts 5
GO
EXEC dbo.Counts NULL
GO
EXEC dbo.Counts
DROP TYPE dbo.Articles
GO

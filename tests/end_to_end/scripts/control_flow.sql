-- control flow odds and ends
DECLARE @i int = 0, @msg varchar(100)
outer_loop:
SET @i = @i + 1
WHILE @i < 10
BEGIN
	SET @i += 1
	IF @i = 3 CONTINUE
	IF @i = 5 BREAK
	PRINT 'i=' + LTRIM(STR(@i))
END
IF @i < 7 GOTO outer_loop
IF @i > 3 AND (@i < 100 OR @i IS NULL) AND NOT EXISTS (SELECT 1 WHERE 1 = 0) PRINT 'yes' ELSE PRINT 'no'
IF (SELECT COUNT(*) FROM sys.databases) > 0
	IF 1 = 2 PRINT 'a'
	ELSE PRINT 'dangling'
BEGIN TRY
	BEGIN TRY
		RAISERROR('inner', 11, 1)
		PRINT 'not'
	END TRY
	BEGIN CATCH
		SET @msg = ERROR_MESSAGE() + ' again'
		RAISERROR(@msg, 16, 3)
	END CATCH
END TRY
BEGIN CATCH
	PRINT ERROR_MESSAGE() + ' ' + CAST(ERROR_STATE() AS varchar)
	BEGIN TRY THROW 51000, '15%% thrown', 7 END TRY
	BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ERROR_STATE(), ' ', ERROR_MESSAGE()) END CATCH
	PRINT ERROR_MESSAGE()
END CATCH
DECLARE @c CURSOR
SET @c = CURSOR SCROLL STATIC FOR SELECT n FROM (VALUES (1), (2), (3)) v(n) ORDER BY n
OPEN @c
DECLARE @n int
FETCH LAST FROM @c INTO @n PRINT @n
FETCH PRIOR FROM @c INTO @n PRINT @n
FETCH ABSOLUTE 1 FROM @c INTO @n PRINT @n
FETCH RELATIVE 2 FROM @c INTO @n PRINT @n
FETCH NEXT FROM @c INTO @n PRINT @@FETCH_STATUS
CLOSE @c DEALLOCATE @c
EXEC sp_executesql N'SET @o = @a * 2', N'@a int, @o int OUTPUT', @a = 21, @o = @n OUTPUT
PRINT @n
DECLARE @tbl TABLE (k int PRIMARY KEY, v varchar(10) DEFAULT 'd')
INSERT @tbl (k) VALUES (1), (2)
UPDATE @tbl SET v = 'u' + CAST(k AS varchar) WHERE k = 2
SELECT t.*, (SELECT MAX(k) FROM @tbl) mx FROM @tbl t
BEGIN TRAN
	INSERT @tbl VALUES (3, 'x')
	SAVE TRAN sp1
	CREATE TABLE #tt (a int)
	INSERT #tt VALUES (1)
	ROLLBACK TRAN sp1
	IF OBJECT_ID('tempdb..#tt') IS NULL PRINT 'gone'
ROLLBACK
SELECT COUNT(*) AS kept FROM @tbl
SELECT @@TRANCOUNT tc, XACT_STATE() xs
WAITFOR DELAY '00:00:00.05'
RETURN
PRINT 'unreachable'
GO
CREATE PROC rec @n int, @r bigint OUTPUT AS
IF @n <= 1 SET @r = 1
ELSE BEGIN DECLARE @m int = @n - 1, @x bigint; EXEC rec @m, @x OUTPUT; SET @r = @n * @x END
GO
DECLARE @r bigint EXEC rec 10, @r OUT PRINT @r
GO
CREATE PROC ret @a int AS IF @a > 1 RETURN @a * 10 RETURN -1
GO
DECLARE @x int EXEC @x = ret 5 PRINT @x EXEC @x = ret 0 PRINT @x
GO
CREATE FUNCTION dbo.fn_split (@s nvarchar(max), @d nchar(1)) RETURNS @r TABLE (pos int IDENTITY(1,1), item nvarchar(100)) AS
BEGIN
	DECLARE @p int
	WHILE LEN(@s) > 0
	BEGIN
		SET @p = CHARINDEX(@d, @s)
		IF @p = 0 BEGIN INSERT @r (item) VALUES (@s) BREAK END
		INSERT @r (item) VALUES (LEFT(@s, @p - 1))
		SET @s = SUBSTRING(@s, @p + 1, LEN(@s))
	END
	RETURN
END
GO
SELECT * FROM dbo.fn_split(N'a,bb,ccc', N',')
GO
CREATE FUNCTION dbo.fn_age (@b date, @now date) RETURNS int AS BEGIN RETURN DATEDIFF(YEAR, @b, @now) - CASE WHEN DATEADD(YEAR, DATEDIFF(YEAR, @b, @now), @b) > @now THEN 1 ELSE 0 END END
GO
SELECT dbo.fn_age('2000-06-15', '2024-06-14') a, dbo.fn_age('2000-06-15', '2024-06-15') b
GO
CREATE TYPE dbo.IdList AS TABLE (id int NOT NULL PRIMARY KEY)
GO
CREATE PROC UseList @ids dbo.IdList READONLY AS SELECT SUM(id) s FROM @ids
GO
DECLARE @l dbo.IdList
INSERT @l VALUES (1), (5)
EXEC UseList @l
EXEC UseList @ids = @l
GO

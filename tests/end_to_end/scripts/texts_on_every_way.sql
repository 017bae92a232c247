-- What EXEC runs is the text that the variable holds on the way that control took.
DECLARE @s nvarchar(100) = N'PRINT ''as declared''', @n int = 1
IF @n = 0 SET @s = N'PRINT ''of the other branch'''; ELSE EXEC (@s)
GO
DECLARE @s nvarchar(100) = N'PRINT ''as declared''', @n int = 1
BEGIN TRY
    SET @s = N'PRINT ''before the error'''
    SET @n = 1 / (@n - 1)
    SET @s = N'PRINT ''behind the error'''
END TRY
BEGIN CATCH
    EXEC (@s)
END CATCH
GO
DECLARE @s nvarchar(100) = N'PRINT ''as declared''', @n int = 1
IF @n = 1 GOTO behind
SET @s = N'PRINT ''skipped'''
behind:
EXEC (@s)
GO
-- … through a loop, and from below.
DECLARE @s nvarchar(100) = N'PRINT ''as declared''', @n int = 1
again:
EXEC (@s)
SET @s = N'PRINT ''changed on the way'''
SET @n = @n + 1
IF @n < 3 GOTO again
GO
-- … and into the middle of a loop.
DECLARE @s nvarchar(100) = N'PRINT ''as declared''', @n int = 1
IF @n = 1 GOTO inside
WHILE @n < 3
BEGIN
    SET @s = N'PRINT ''from the top of the loop'''
    inside:
    EXEC (@s)
    SET @n = @n + 1
END
GO
-- A label may be called as the compiler calls blocks.
DECLARE @i int = 0, @j int = 0
loop_1:
SET @i = @i + 1
SET @j = 0
WHILE @j < 2
BEGIN
    SET @j = @j + 1
    IF @i < 3 GOTO loop_1
END
PRINT CONCAT(@i, ' ', @j)
GO
-- Options too are what they are on the way that control took: a count, none and one, none and one.
IF 1 = 1 GOTO counted
SET NOCOUNT ON
counted:
DECLARE @t TABLE (a int)
INSERT @t VALUES (1)
GO
SET NOCOUNT ON
DECLARE @t TABLE (a int), @n int = 0
again:
INSERT @t VALUES (1)
SET NOCOUNT OFF
SET @n = @n + 1
IF @n < 2 GOTO again
GO
SET NOCOUNT ON
DECLARE @t TABLE (a int), @n int = 0
WHILE @n < 2
BEGIN
    INSERT @t VALUES (1)
    SET NOCOUNT OFF
    SET @n = @n + 1
END

-- The remainder is of whole and decimal numbers.
DECLARE @f float = 2.5, @r real = 1;
PRINT 'before';
SELECT @f % 2;
GO
DECLARE @f float = 2.5, @r real = 1;
SELECT @r % @f;
GO
DECLARE @b bit = 1;
SELECT @b * @b;
GO
DECLARE @s sysname = 'x';
CREATE TABLE #readings (value float, parts int);
INSERT #readings VALUES (7.5, 2);
EXEC (N'SELECT value % parts FROM #readings');
GO
SELECT CAST(7.5 AS decimal(9, 2)) % 2 AS rest, 7 % 4 AS whole;

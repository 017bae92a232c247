-- Functions with smallint, tinyint, bit and date parameters, called with plain constants.
CREATE FUNCTION dbo.Season (@y smallint, @m tinyint, @long bit) RETURNS varchar(20) AS
BEGIN
    RETURN CASE WHEN @m IN (12, 1, 2) THEN 'winter' WHEN @m BETWEEN 3 AND 5 THEN 'spring' ELSE 'later' END
         + CASE WHEN @long = 1 THEN ' of ' + CAST(@y AS char(4)) ELSE '' END
END
GO
CREATE FUNCTION dbo.Days (@from date, @n tinyint, @open bit = 1) RETURNS TABLE AS
RETURN SELECT DATEADD(day, v.i, @from) AS d, @open AS isopen FROM (VALUES (0), (1), (2), (3)) AS v (i) WHERE v.i < @n
GO
CREATE FUNCTION dbo.Parts (@s varchar(20), @top smallint) RETURNS @t TABLE (n int IDENTITY, part varchar(20)) AS
BEGIN
    INSERT @t (part) SELECT TOP (@top) value FROM STRING_SPLIT(@s, '-')
    RETURN
END
GO
DECLARE @i int = 4, @s varchar(10) = '2', @d datetime = '2024-02-28 10:00'
SELECT dbo.Season(2024, 1, 1) a, dbo.Season(2024, @i, 0) b, dbo.Season('2024', 7, 'true') c, dbo.Season(NULL, 1, NULL) d
SELECT * FROM dbo.Days('20240228', 2, DEFAULT)
SELECT x.d, x.isopen FROM dbo.Days(@d, @s, 0) AS x ORDER BY x.d DESC
SELECT p.part FROM (VALUES (1), (2)) AS k (n) CROSS APPLY dbo.Parts('a-b-c', k.n) AS p WHERE k.n = 2 ORDER BY p.n
IF dbo.Season(2024, 12, 0) = 'winter' PRINT 'cold'

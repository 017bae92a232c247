SET NOCOUNT ON
IF OBJECT_ID('tempdb..#work') IS NOT NULL DROP TABLE #work
CREATE TABLE #work (id int identity(1,1) not null, grp varchar(10) null, amt decimal(10,2), d datetime default getdate(), primary key clustered (id))
INSERT INTO #work (grp, amt) VALUES ('a', 1.5), ('a', 2.5), ('b', NULL), ('c', 7)
INSERT INTO #work (grp, amt) SELECT grp, amt * 2 FROM #work WHERE amt IS NOT NULL
SELECT grp, SUM(amt) AS total, COUNT(*) AS n, AVG(amt) a, MAX(amt) m, COUNT(amt) c FROM #work GROUP BY grp HAVING COUNT(*) > 1 ORDER BY total DESC
SELECT TOP 2 WITH TIES grp, amt FROM #work ORDER BY grp
SELECT ROW_NUMBER() OVER (PARTITION BY grp ORDER BY amt DESC) rn, RANK() OVER (ORDER BY grp) r, SUM(amt) OVER (PARTITION BY grp ORDER BY id ROWS UNBOUNDED PRECEDING) run, LAG(amt) OVER (ORDER BY id) prev FROM #work ORDER BY id
;WITH tree AS (SELECT 1 AS lvl, CAST('root' AS varchar(100)) AS path UNION ALL SELECT lvl + 1, CAST(path + '/' + CAST(lvl AS varchar) AS varchar(100)) FROM tree WHERE lvl < 4) SELECT * FROM tree OPTION (MAXRECURSION 100)
UPDATE w SET w.amt = w.amt + x.t, w.grp = UPPER(w.grp) OUTPUT deleted.amt AS old, inserted.amt AS new FROM #work w INNER JOIN (SELECT grp, COUNT(*) t FROM #work GROUP BY grp) x ON x.grp = w.grp WHERE w.id < 3
DELETE w FROM #work w LEFT JOIN (SELECT MIN(id) id FROM #work GROUP BY grp) k ON k.id = w.id WHERE k.id IS NULL
PRINT @@ROWCOUNT
MERGE #work AS t USING (VALUES (1, 100), (99, 5)) AS s (id, amt) ON t.id = s.id WHEN MATCHED THEN UPDATE SET amt = s.amt WHEN NOT MATCHED THEN INSERT (grp, amt) VALUES ('new', s.amt) OUTPUT $action, inserted.id, inserted.amt;
SET IDENTITY_INSERT #work ON
INSERT #work (id, grp) VALUES (500, 'ident')
SET IDENTITY_INSERT #work OFF
INSERT #work DEFAULT VALUES
SELECT SCOPE_IDENTITY() s, @@IDENTITY i, IDENT_CURRENT('tempdb..#work') c
SELECT id, grp, ISNULL(amt, 0) amt, COALESCE(grp, 'none') g, NULLIF(grp, 'new') nn, IIF(amt > 5, 'big', 'small') sz, CASE WHEN grp LIKE '[a-c]%' THEN 1 ELSE 0 END lk FROM #work ORDER BY 1
SELECT a.grp, b.cnt FROM (SELECT DISTINCT grp FROM #work) a CROSS APPLY (SELECT COUNT(*) cnt FROM #work w WHERE w.grp = a.grp) b ORDER BY a.grp
SELECT [A], [B], [c] FROM (SELECT grp, amt FROM #work) s PIVOT (SUM(amt) FOR grp IN ([A], [B], [c])) p
SELECT DATEADD(MONTH, DATEDIFF(MONTH, 0, '20240215'), 0) AS som, EOMONTH('20240215') eom, DATEPART(ISO_WEEK, '20240101') w, DATENAME(WEEKDAY, '20240101') dn, CONVERT(varchar(10), CAST('20240102' AS datetime), 103) c103, CONVERT(char(8), CAST('2024-01-02' AS datetime), 112) c112, FORMAT(CAST('20240102' AS date), 'yyyy/MM/dd') f, CAST('2024-01-02 03:04:05' AS datetime) + 1 AS plus1
SELECT LEFT('abcdef', 3) l, RIGHT('abc', 2) r, SUBSTRING('abcdef', 2, 3) s, CHARINDEX('c', 'abc') ci, PATINDEX('%[0-9]%', 'ab3') pi, STUFF('abcdef', 2, 3, 'X') st, REPLICATE('0', 3) + '5' rep, LEN('abc  ') len, DATALENGTH(N'abc') dl, REVERSE('abc') rev, QUOTENAME('a]b') q, STR(3.14159, 8, 2) str, REPLACE('aXbX', 'x', '-') rpl, LTRIM(RTRIM('  x ')) t, UPPER('a') + LOWER('B') ul, SPACE(2) + '|' sp, ASCII('A') asc_, CHAR(65) ch, NCHAR(8364) nc, CONCAT('a', NULL, 1) cc, CHECKSUM('a') - CHECKSUM('a') chk, ISNUMERIC('12') isn
SELECT 7 / 2 i, 7 / 2.0 d, 7 % 3 m, CAST(7 AS float) / 2 f, ROUND(2.567, 2) r, CEILING(2.1) c, FLOOR(-2.1) fl, ABS(-3) a, POWER(2, 10) p, SQRT(16) s, SIGN(-5) sg, CAST(2.5 AS int) ci, CONVERT(int, 2.7) cv, 1.0 / 3 third, CAST(1 AS bit) b, CAST('true' AS bit) bt
SELECT name = STUFF((SELECT ', ' + grp FROM #work WHERE grp IS NOT NULL ORDER BY id FOR XML PATH(''), TYPE).value('.', 'nvarchar(max)'), 1, 2, '')
SELECT HASHBYTES('MD5', 'a') h, CONVERT(varchar(34), HASHBYTES('MD5', 'a'), 1) hx, CAST(0x41 AS varchar) v, CAST('abc' AS varbinary(10)) vb, CONVERT(varbinary(4), 258) i4, CAST(0x00000102 AS int) bi
DROP TABLE #work
GO
GO
-- Literals as arguments of window functions.
CREATE TABLE literals (b INT)
INSERT literals VALUES (1), (2)
SELECT LAST_VALUE('x') IGNORE NULLS OVER (ORDER BY b), FIRST_VALUE(N'y') OVER (ORDER BY b), LAST_VALUE(NULL) OVER (ORDER BY b),
       LAG('y') OVER (ORDER BY b), LEAD('y', 1, 'z') OVER (ORDER BY b), LAG('y', 1, 'z') IGNORE NULLS OVER (ORDER BY b),
       LAG('y', 2) IGNORE NULLS OVER (ORDER BY b), LAG(b, 1, NULL) OVER (ORDER BY b)
FROM literals ORDER BY b
GO
WITH x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x WHERE a < 101) SELECT COUNT(*) AS n FROM x
GO
WITH x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x) SELECT COUNT(*) AS n FROM x
PRINT 'goes on'
GO
WITH x (a, s) AS (SELECT 1, 'a' UNION ALL SELECT y.a + 1, s + 'b' FROM x AS y JOIN literals AS l ON l.b = y.a)
SELECT * FROM x ORDER BY a OPTION (FORCE ORDER, MAXRECURSION 2)
GO
WITH x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x WHERE a < 500) SELECT COUNT(*) AS n FROM x OPTION (MAXRECURSION 0)
GO
WITH x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x) SELECT COUNT(*) AS n FROM x OPTION (MAXRECURSION 40000)
GO
CREATE TABLE small (a SMALLMONEY)
GO
INSERT small VALUES (300000)
GO
INSERT small VALUES (-300000.5)
GO
DECLARE @s SMALLMONEY = 200000, @m MONEY = 300000
SELECT @s + @s
SET @s = @m
SET @s = @s / 3 * 2
SELECT @s, TRY_CAST(300000 AS SMALLMONEY), CAST(214748.3647 AS SMALLMONEY)
SELECT CAST(922337203685478 AS MONEY)
GO
DECLARE @t TABLE (a INT, v ROWVERSION)
INSERT @t (a) VALUES (1), (2)
DECLARE @v BINARY(8) = (SELECT v FROM @t WHERE a = 2)
UPDATE @t SET a = 3 WHERE a = 1
SELECT a, CASE WHEN v > @v THEN 'later' WHEN v = @v THEN 'same' END AS version FROM @t ORDER BY a
GO
CREATE TABLE under (a INT PRIMARY KEY, b INT)
INSERT under VALUES (1, 1), (2, 2), (3, 3)
GO
CREATE VIEW over_it AS SELECT a, b FROM under
GO
UPDATE v SET b = v.b + u.a FROM over_it AS v JOIN under AS u ON u.a = v.a WHERE u.a > 1
UPDATE over_it SET b = 9 FROM over_it WHERE a = 1
DELETE v FROM over_it AS v WHERE v.a = 3
SELECT a, b FROM under ORDER BY a
GO
DELETE TOP (1) FROM over_it
GO
UPDATE v SET b = 0 FROM over_it AS v LEFT JOIN under AS u ON u.a = v.b
GO
-- The default of LAG and LEAD is of the value's type.
SELECT n, LAG(n * 3, 1, 2.7) OVER (ORDER BY n) AS back, LEAD(n, 2, -n / 4.0) OVER (ORDER BY n) AS ahead, LAG(m, 1, 2.55555) OVER (ORDER BY n) AS paid,
       LAG(f, 1, 9) OVER (ORDER BY n) AS flag, LAG(d, 1, '20260101') OVER (ORDER BY n) AS day_, LAG(n, 1, 1.9) IGNORE NULLS OVER (ORDER BY n) AS present
FROM (VALUES (1, CAST(1.5 AS MONEY), CAST(0 AS BIT), CAST('20250101' AS DATE)), (5, 2, 1, NULL), (9, 3, NULL, NULL)) AS v (n, m, f, d) ORDER BY n
BEGIN TRY SELECT LAG(d, 1, 'no day') OVER (ORDER BY d) FROM (SELECT CAST('20250101' AS DATE) AS d) AS v END TRY BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_MESSAGE()) END CATCH
GO

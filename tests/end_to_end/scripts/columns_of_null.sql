-- A column that is NULL in every row is an int, and NULL for a column is of the column's type.
SET NOCOUNT ON
CREATE TABLE dbo.Seen (Id INT PRIMARY KEY, At_ DATETIME, N INT, M MONEY, B VARBINARY(5), Bt BIT, G UNIQUEIDENTIFIER, V VARCHAR(5))
GO
INSERT dbo.Seen (Id, At_, N, M, B, Bt, G) SELECT DISTINCT 1, NULL, NULL, NULL, NULL, NULL, NULL
INSERT dbo.Seen (Id, At_, N) SELECT DISTINCT 2, '20240101', '7'
INSERT dbo.Seen (Id, At_, N, M, B, Bt) SELECT 3, q.z, q.z, q.z, q.z, q.z FROM (SELECT NULL z) q;
WITH c (i, d) AS (SELECT 4, NULL UNION ALL SELECT 5, NULL) INSERT dbo.Seen (Id, At_, N) SELECT i, d, d FROM c
INSERT dbo.Seen (Id, At_, N) SELECT x.i, x.d, x.n FROM (VALUES (6, NULL, NULL), (7, NULL, NULL)) x (i, d, n)
MERGE dbo.Seen t USING (SELECT 8 i, NULL d UNION ALL SELECT 2, NULL) s ON s.i = t.Id
WHEN MATCHED THEN UPDATE SET At_ = s.d WHEN NOT MATCHED THEN INSERT (Id, At_, N) VALUES (s.i, s.d, NULL);
SELECT Id, At_, N FROM dbo.Seen ORDER BY Id
UPDATE dbo.Seen SET At_ = NULL, N = NULL, M = NULL, B = NULL, Bt = NULL, G = NULL OUTPUT deleted.Id, deleted.N, inserted.N WHERE Id = 2
UPDATE s SET G = NULL, At_ = '20240229', N = '8' OUTPUT deleted.At_, inserted.At_, inserted.N FROM dbo.Seen s JOIN (SELECT 2 i) q ON q.i = s.Id
UPDATE TOP (1) s SET G = (SELECT NULL), At_ = NULL OUTPUT 'was ' + CONVERT(VARCHAR(10), deleted.At_, 120) w FROM dbo.Seen s WHERE Id = 2
DECLARE @t TABLE (k INT PRIMARY KEY, d DATETIME)
INSERT @t VALUES (1, NULL), (2, '20240101')
UPDATE @t SET d = NULL OUTPUT deleted.d WHERE k = 2
SELECT SUM(q.z) s, COUNT(q.z) c, MIN(q.z) + 1 m FROM (SELECT NULL z) q
SELECT ISNULL(q.z, 7) i, COALESCE(q.z, CAST('19000101' AS DATETIME)) c, CASE WHEN q.z IS NULL THEN 1 ELSE q.z END e FROM (SELECT NULL z) q
SELECT COUNT(*) n FROM dbo.Seen s LEFT JOIN (SELECT NULL k, 1 x) q ON q.k = s.Id WHERE q.x IS NULL
SELECT COUNT(*) n FROM (SELECT NULL z UNION ALL SELECT NULL) q WHERE q.z = 5
SELECT z, d FROM (SELECT NULL z, NULL d UNION ALL SELECT 5, CAST('20240229' AS DATE)) q ORDER BY z
SELECT ISNULL((SELECT NULL), 5) i, COALESCE((SELECT NULL), 'x') c
GO
INSERT dbo.Seen (Id, G) SELECT 9, q.z FROM (SELECT NULL z) q
GO
CREATE VIEW dbo.Blank AS SELECT Id, NULL AS z FROM dbo.Seen
GO
CREATE FUNCTION dbo.Blanks () RETURNS TABLE AS RETURN SELECT Id, NULL AS z, (SELECT NULL) AS y FROM dbo.Seen
GO
SELECT COUNT(*) n, SUM(z) s FROM dbo.Blank WHERE z IS NULL
SELECT COUNT(*) n, SUM(z) s FROM dbo.Blanks() WHERE z IS NULL
SELECT COLUMNPROPERTY(OBJECT_ID('dbo.Blank'), 'z', 'Precision') p
DROP FUNCTION dbo.Blanks
DROP VIEW dbo.Blank
GO
-- Its row type is a view's, and goes with it, also where the function is altered.
CREATE FUNCTION dbo.Untold () RETURNS TABLE AS RETURN SELECT 1 AS a, (SELECT NULL WHERE 1 = 1) AS y
GO
ALTER FUNCTION dbo.Untold () RETURNS TABLE AS RETURN SELECT 2 AS a, (SELECT NULL WHERE 1 = 1) AS y, 3 AS b
GO
SELECT * FROM dbo.Untold()
DROP FUNCTION dbo.Untold
SELECT COUNT(*) n FROM sys.views WHERE name LIKE 'Untold%'
GO

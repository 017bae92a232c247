-- UPDATE and DELETE through a common table expression whose columns are listed, as in the usual removal of duplicates; OUTPUT tells what it
-- computes, and columns by its names; and its rows are locked where it numbers them.
CREATE TABLE dbo.Job (Id INT PRIMARY KEY, Grp INT, Due DATETIME2(0), Note NVARCHAR(20));
INSERT dbo.Job VALUES (1, 1, '2020-01-03', N'a'), (2, 1, '2020-01-02', N'b'), (3, 1, '2020-01-01', N'c'), (4, 2, '2020-01-04', N'd'), (5, 2, NULL, N'e');
GO
WITH twice (k, rn) AS (SELECT Id, ROW_NUMBER() OVER (PARTITION BY Grp ORDER BY Id) FROM dbo.Job WHERE Due IS NOT NULL)
DELETE twice OUTPUT deleted.k, deleted.rn WHERE rn > 2;
WITH renamed (k, what) AS (SELECT Id, Note FROM dbo.Job)
UPDATE renamed SET what = what + N'!' OUTPUT inserted.k, inserted.what, deleted.what AS was WHERE k = 1;
WITH every (k, g, d, n, later) AS (SELECT *, DATEADD(hour, 1, Due) FROM dbo.Job)
UPDATE every SET d = later OUTPUT inserted.*, deleted.d WHERE k = 2;
WITH every (k, g, d, n) AS (SELECT * FROM dbo.Job WITH (UPDLOCK)) DELETE FROM every WHERE d IS NULL;
SELECT * FROM dbo.Job ORDER BY Id;
GO
DECLARE @picked TABLE (Id INT, Note NVARCHAR(20), Place BIGINT);
WITH c AS (SELECT TOP (2) *, ROW_NUMBER() OVER (ORDER BY Due DESC) AS place FROM dbo.Job WITH (ROWLOCK, READPAST, UPDLOCK) WHERE Due IS NOT NULL ORDER BY Due DESC)
UPDATE c SET Grp += place OUTPUT inserted.Id, inserted.Note, inserted.place INTO @picked;
SELECT * FROM @picked ORDER BY Place;
WITH c (k, g, d, n, place) AS (SELECT *, ROW_NUMBER() OVER (ORDER BY Due) FROM dbo.Job WITH (XLOCK, READPAST))
UPDATE c SET n = n + CAST(place AS NVARCHAR(5)) OUTPUT inserted.*, deleted.place WHERE place < 3;
UPDATE x SET Grp = place OUTPUT inserted.Id, inserted.Grp, inserted.place
  FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY Id) AS place FROM dbo.Job WITH (READPAST)) AS x WHERE place > 1;
GO
DECLARE @t TABLE (Id INT, Grp INT);
INSERT @t VALUES (1, 1), (1, 2), (2, 5);
WITH c (k, rn) AS (SELECT Id, ROW_NUMBER() OVER (PARTITION BY Id ORDER BY Grp) FROM @t) DELETE c WHERE rn > 1;
WITH c (k, g) AS (SELECT * FROM @t) UPDATE c SET g = g * 10 OUTPUT inserted.k, inserted.g, deleted.g AS was WHERE k = 2;
SELECT * FROM @t;
GO
WITH c (k) AS (SELECT Id, Grp FROM dbo.Job) DELETE c;
GO
WITH c (k, g, more) AS (SELECT Id, Grp FROM dbo.Job) DELETE c;
GO
DECLARE @t TABLE (Id INT);
WITH c AS (SELECT Id, Id * 2 AS twice FROM @t) DELETE c OUTPUT deleted.twice;
GO

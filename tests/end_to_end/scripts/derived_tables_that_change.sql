-- UPDATE and DELETE through a derived table: beside joined tables, with listed columns, named as its own table.
CREATE TABLE dbo.t (id int PRIMARY KEY, g int, v nvarchar(10), n int)
CREATE TABLE dbo.p (id int, w nvarchar(10))
INSERT dbo.t VALUES (1,1,N'a',0),(2,1,N'b',0),(3,2,N'c',0),(4,2,N'd',0)
INSERT dbo.p VALUES (1,N'A'),(3,N'C')
GO
UPDATE x SET v = p.w, n = x.rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY id) AS rn FROM dbo.t) AS x JOIN dbo.p AS p ON p.id = x.id WHERE x.rn = 1
SELECT * FROM dbo.t ORDER BY id
GO
UPDATE x SET n = 7 FROM dbo.p AS p JOIN (SELECT id, n FROM dbo.t) AS x ON p.id = x.id AND x.id > 1
SELECT * FROM dbo.t ORDER BY id
GO
DELETE x OUTPUT deleted.id, deleted.rn FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS rn FROM dbo.t) AS x LEFT JOIN dbo.p ON p.id = x.id WHERE p.id IS NULL AND x.rn > 3
SELECT * FROM dbo.t ORDER BY id
GO
UPDATE t SET v = N'self' FROM (SELECT id, v FROM dbo.t WHERE g = 2) AS t
SELECT * FROM dbo.t ORDER BY id
GO
UPDATE t SET b = N'list' FROM (SELECT id, v FROM dbo.t WHERE g = 1) AS t (a, b), dbo.p WHERE p.id = t.a
SELECT * FROM dbo.t ORDER BY id
GO
WITH q AS (SELECT id FROM dbo.p) DELETE x FROM (SELECT id FROM dbo.t) AS x WHERE EXISTS (SELECT * FROM q WHERE q.id = x.id) AND x.id > 1
SELECT * FROM dbo.t ORDER BY id
GO
DELETE TOP (1) x FROM (SELECT TOP (5) id FROM dbo.t ORDER BY id DESC) AS x CROSS JOIN dbo.p
SELECT * FROM dbo.t ORDER BY id
GO
DECLARE @t TABLE (id int, v nvarchar(9))
INSERT @t VALUES (1, N'a'), (2, N'b'), (3, N'c')
UPDATE x SET v = p.w FROM (SELECT id, v FROM @t) AS x JOIN dbo.p ON p.id = x.id
DELETE x FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) AS rn FROM @t) AS x WHERE x.rn = 2
SELECT * FROM @t ORDER BY id
GO

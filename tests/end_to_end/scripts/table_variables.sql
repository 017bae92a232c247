DECLARE @t TABLE (rn int identity(10,5) primary key, h uniqueidentifier unique default newid(), x int default 7 check (x > 3), unique (x, rn))
INSERT INTO @t (x) SELECT a FROM (select 5 as a union select 6) x WHERE a > 1
INSERT INTO @t (x) VALUES (8), (9)
INSERT @t DEFAULT VALUES
INSERT INTO @t (x) SELECT 1
INSERT INTO @t (h) SELECT newid()
select rn, x, case when h is null then 'null' end from @t
GO
DECLARE @t TABLE (rn int identity check (rn > 0), y int, x int check (x > 3))
INSERT INTO @t (y) SELECT 1
INSERT INTO @t (x) SELECT 1
INSERT INTO @t (x) SELECT 5
SELECT * FROM @t
GO
DECLARE @t TABLE (a int, b int default 3, c as a + b)
INSERT @t (a) VALUES (1), (2)
INSERT @t (a) SELECT 5
SELECT * FROM @t
GO

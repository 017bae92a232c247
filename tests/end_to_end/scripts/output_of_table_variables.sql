-- What OUTPUT tells of a table variable that is changed through an expression: the expression's columns, those that it
-- computes too, and those of the tables beside it.
DECLARE @t TABLE (a INT, b NVARCHAR(5)), @o TABLE (a INT, v INT), @log TABLE (a INT, v INT, n INT);
INSERT @t VALUES (1, N'x'), (1, N'y'), (2, N'z'), (3, N'q');
INSERT @o VALUES (1, 100), (2, 200);
WITH c AS (SELECT a, b, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS rn FROM @t)
DELETE c OUTPUT deleted.a, deleted.rn, deleted.b WHERE rn > 1;
WITH c AS (SELECT a, a + 1 AS n FROM @t) UPDATE c SET a = a * 10 OUTPUT deleted.n, inserted.n, inserted.a, deleted.a;
WITH c (k, twice) AS (SELECT a, a * 2 FROM @t) UPDATE c SET k = k / 10 OUTPUT deleted.*, inserted.* WHERE k < 30;
WITH c AS (SELECT TOP (1) *, a * 3 AS thrice FROM @t ORDER BY a DESC) DELETE c OUTPUT deleted.*;
UPDATE d SET b = N'new' OUTPUT deleted.a, x.v, deleted.nn INTO @log
FROM (SELECT a, b, a * 7 AS nn FROM @t) AS d JOIN @o AS x ON x.a = d.a;
SELECT a, v, n FROM @log ORDER BY a;
UPDATE TOP (1) t SET a = o.v OUTPUT inserted.a, deleted.a, o.a, o.v + 1 FROM @t AS t JOIN @o AS o ON o.a = t.a;
DELETE t OUTPUT deleted.*, o.v FROM @t AS t LEFT JOIN @o AS o ON o.a = t.a;
SELECT a, b FROM @t;
GO
-- OUTPUT … INTO the table variable that changes: the rows stand behind the changed ones.
DECLARE @t TABLE (a INT, b INT);
INSERT @t VALUES (1, 2), (3, 4);
UPDATE @t SET a = a + 10 OUTPUT deleted.a, deleted.b INTO @t;
SELECT a, b FROM @t;
DELETE @t OUTPUT deleted.b, deleted.a INTO @t WHERE a > 10;
INSERT @t OUTPUT inserted.a, inserted.b INTO @t VALUES (7, 7);
SELECT a, b FROM @t;

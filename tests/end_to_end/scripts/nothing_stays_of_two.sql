-- Nothing stays of a statement that fails, neither in the table variable nor in that of OUTPUT … INTO.
DECLARE @t TABLE (a INT NOT NULL), @u TABLE (a INT PRIMARY KEY, b INT NOT NULL);
INSERT @t (a) OUTPUT inserted.a, 0 INTO @u VALUES (1), (2);
INSERT @t (a) OUTPUT inserted.a, 0 INTO @u VALUES (1);
INSERT @t (a) OUTPUT inserted.a, NULL INTO @u VALUES (5), (6);
UPDATE @t SET a = NULL OUTPUT deleted.a + 100, 0 INTO @u;
DELETE @t OUTPUT 1, 7 INTO @u WHERE a = 2;
SELECT * FROM @t;
SELECT * FROM @u;
UPDATE @t SET a = a + 10 OUTPUT inserted.a, deleted.a INTO @u;
DELETE @t OUTPUT deleted.a * 10, 7 INTO @u WHERE a = 12;
INSERT @t (a) OUTPUT inserted.a, 0 INTO @u SELECT 20;
INSERT @t (a) OUTPUT -inserted.a INTO @t VALUES (30);
SELECT * FROM @t;
SELECT * FROM @u;
GO

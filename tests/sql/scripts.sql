-- Whole scripts and their result sets: columns apart by |, result sets by an empty line.

-- case: the last row wins
DECLARE @n int; SELECT @n = v FROM (VALUES (3), (1), (2)) AS t(v) ORDER BY v; SELECT @n
-- expect
3

-- case: no row leaves a variable alone
DECLARE @n int = 7; SELECT @n = v FROM (VALUES (3)) AS t(v) WHERE v > 5; SELECT @n, @@ROWCOUNT
-- expect
7 | 0

-- case: an aggregate over no row is NULL
DECLARE @n int = 7; SELECT @n = MAX(v) FROM (VALUES (3)) AS t(v) WHERE v > 5; SELECT @n
-- expect
NULL

-- case: a string grows row by row
DECLARE @s varchar(max) = ''; SELECT @s = @s + v + ';' FROM (VALUES ('a'), ('c'), ('b')) AS t(v)
ORDER BY v DESC; SELECT @s
-- expect
c;b;a;

-- case: assignments follow one another
DECLARE @a int = 1, @b int; SELECT @a = @a + 1, @b = @a * 10; SELECT @a, @b
-- expect
2 | 20

-- case: a list grows by CASE, casts, conditions and collations over its own value
CREATE TABLE grows (id int PRIMARY KEY, name nvarchar(20));
INSERT grows VALUES (1, 'a'), (2, NULL), (3, 'c');
DECLARE @s nvarchar(max) = N'', @n int = 0;
SELECT @s += CASE @s WHEN N'' THEN N'' ELSE N', ' END + ISNULL(name, '-') FROM grows ORDER BY id;
SELECT @s;
SELECT @s = CASE WHEN @s = 'zz' THEN N'never' WHEN NOT (name LIKE 'a' OR @n > id) THEN @s + '!' ELSE @s + '.' END
  FROM grows ORDER BY id;
SELECT @s;
SELECT @s = CAST(@s AS nvarchar(4)) + IIF(id IN (1, 2), 'x', @s) COLLATE Latin1_General_CI_AS FROM grows ORDER BY id;
SELECT @s;
SELECT @n = CASE WHEN @n IN (SELECT id FROM grows) THEN @n + 10 ELSE @n + id END FROM grows ORDER BY id;
SELECT @n
-- expect
a, -, c

a, -, c..!

a, -a, -x

14

-- case: @@ROWCOUNT is an int for procedures and functions too, and a wide number fits a narrow parameter
CREATE TABLE counted (a int, b bigint);
INSERT counted VALUES (1, 2), (3, 4);
GO
CREATE FUNCTION dbo.twice (@a int) RETURNS int AS BEGIN RETURN @a * 2 END
GO
CREATE PROCEDURE dbo.tells @a int, @d decimal(5, 2) = 0, @r real = 0 AS SELECT @a, @d, @r; RETURN @@ROWCOUNT + @a
GO
DECLARE @b bigint = 7, @f float = 2.5, @rc int;
UPDATE counted SET a = 0;
SELECT dbo.twice(@@ROWCOUNT), REPLICATE('x', @@ROWCOUNT);
EXEC @rc = dbo.tells @b, @f, @f;
SELECT @rc
-- expect
4 | xx

7 | 2.50 | 2.5

8

-- case: zeros at the end of bytes do not count, except in columns
SET CONTEXT_INFO 0x01;
DECLARE @a varbinary(10) = 0x0100, @none varbinary(4) = 0x;
SELECT CASE WHEN CONTEXT_INFO() = 0x01 THEN 1 END, CASE WHEN @a = 0x01 AND NOT @a > 0x01 THEN 1 END, CASE WHEN @none = 0x0000 THEN 1 END
-- expect
1 | 1 | 1

-- case: SELECT INTO with IDENTITY beside variables
DECLARE @n int;
SELECT IDENTITY(int, 10, 5) AS rid, v INTO #numbered FROM (VALUES (7), (8)) AS t(v);
INSERT #numbered (v) VALUES (9);
SELECT @n = SUM(rid) FROM #numbered; SELECT @n
-- expect
45

-- case: a table variable changed through a common table expression
DECLARE @t TABLE (id int, v int, place int NOT NULL DEFAULT 4), @b TABLE (id int, nv int), @gone TABLE (id int);
INSERT @t (id, v) VALUES (1, 10), (2, 20), (3, 30), (3, 31), (3, 29);
UPDATE @t SET place = 5 WHERE id = 1;
WITH c AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY v DESC) AS rn FROM @t) DELETE FROM c WHERE rn > 1;
WITH c AS (SELECT TOP (2) id AS k, v AS w FROM @t AS x ORDER BY v DESC) UPDATE c SET w = w + 1, k += 100;
SELECT id, v, place FROM @t;
INSERT @b VALUES (102, 7);
WITH c AS (SELECT id, v FROM @t) UPDATE c SET v = b.nv OUTPUT deleted.v, inserted.v FROM c JOIN @b AS b ON b.id = c.id;
WITH c AS (SELECT TOP (1) * FROM @t ORDER BY id DESC) DELETE c OUTPUT deleted.id INTO @gone;
SELECT t.id, g.id FROM @t AS t CROSS JOIN @gone AS g
-- expect
1 | 10 | 5
102 | 21 | 4
103 | 32 | 4

21 | 7

1 | 103
102 | 103

-- case: top with ties
SELECT TOP (1) WITH TIES v FROM (VALUES (2), (1), (2)) AS t(v) ORDER BY v DESC
-- expect
2
2

-- case: top percent rounds up
SELECT TOP (34) PERCENT v FROM (VALUES (1), (2), (3), (4)) AS t(v) ORDER BY v
-- expect
1
2

-- case: NULLs come first
SELECT v FROM (VALUES (2), (NULL), (1)) AS t(v) ORDER BY v;
SELECT v FROM (VALUES (2), (NULL), (1)) AS t(v) ORDER BY v DESC;
SELECT 1 AS v UNION ALL SELECT NULL ORDER BY 1
-- expect
NULL
1
2

2
1
NULL

NULL
1

-- case: offset and fetch
DECLARE @n int = 2;
SELECT v FROM (VALUES (1), (2), (3), (4)) AS t(v) ORDER BY v OFFSET 1 ROWS FETCH NEXT @n ROWS ONLY
-- expect
2
3

-- case: rollup
SELECT k, SUM(v) FROM (VALUES ('a', 1), ('a', 2), ('b', 5)) AS t(k, v) GROUP BY ROLLUP(k) ORDER BY 2
-- expect
a | 3
b | 5
NULL | 8

-- case: a recursive query that grows a string
WITH r AS (SELECT 1 AS i, CAST('x' AS varchar(10)) AS s
UNION ALL SELECT i + 1, CAST(s + 'y' AS varchar(10)) FROM r WHERE i < 3)
SELECT i, s FROM r ORDER BY i
-- expect
1 | x
2 | xy
3 | xyy

-- case: cross and outer apply
SELECT t.v, x.w FROM (VALUES (1), (2)) AS t(v) CROSS APPLY (SELECT t.v * 10 AS w WHERE t.v > 1) AS x;
SELECT t.v, x.w FROM (VALUES (1), (2)) AS t(v) OUTER APPLY (SELECT t.v * 10 AS w WHERE t.v > 1) AS x
ORDER BY t.v
-- expect
2 | 20

1 | NULL
2 | 20

-- case: a union finds the common type
SELECT 1 AS v UNION ALL SELECT '2' ORDER BY v
-- expect
1
2

-- case: identity, defaults and computed columns
CREATE TABLE dbo.s1 (id int IDENTITY(5, 5) PRIMARY KEY, a int, b int DEFAULT 3, c AS a * b PERSISTED,);
INSERT INTO s1 (a) VALUES (2); INSERT s1 VALUES (4, 5);
SELECT id, a, b, c FROM s1 ORDER BY id
-- expect
5 | 2 | 3 | 6
10 | 4 | 5 | 20

-- case: identity insert
CREATE TABLE dbo.s2 (id int IDENTITY, a int);
SET IDENTITY_INSERT s2 ON; INSERT INTO s2 (id, a) VALUES (50, 1); SET IDENTITY_INSERT s2 OFF;
INSERT INTO s2 (a) VALUES (2); SELECT id, a FROM s2 ORDER BY id
-- expect
50 | 1
51 | 2

-- case: update through a join
CREATE TABLE dbo.s3 (id int, v int); CREATE TABLE dbo.s3b (id int, w int);
INSERT s3 VALUES (1, 0), (2, 0), (3, 0); INSERT s3b VALUES (1, 10), (2, 20);
UPDATE t SET v = b.w + t.id FROM s3 t JOIN s3b b ON b.id = t.id WHERE b.w > 5;
SELECT @@ROWCOUNT; SELECT id, v FROM s3 ORDER BY id
-- expect
2

1 | 11
2 | 22
3 | 0

-- case: update through a left join
CREATE TABLE dbo.s4 (id int PRIMARY KEY, v int); CREATE TABLE dbo.s4b (id int, w int);
INSERT s4 VALUES (1, 0), (2, 0); INSERT s4b VALUES (1, 10);
UPDATE t SET v = ISNULL(b.w, -1) FROM s4 t LEFT JOIN s4b b ON b.id = t.id;
SELECT id, v FROM s4 ORDER BY id
-- expect
1 | 10
2 | -1

-- case: update gives old and new values
CREATE TABLE dbo.s5 (id int PRIMARY KEY, v int); INSERT s5 VALUES (1, 5), (2, 6);
UPDATE s5 SET v = v * 10 OUTPUT inserted.id, deleted.v, inserted.v WHERE id = 2
-- expect
2 | 6 | 60

-- case: update into variables
CREATE TABLE dbo.s6 (id int, v int); INSERT s6 VALUES (1, 5);
DECLARE @new int, @old int;
UPDATE s6 SET @new = v = v + 1 WHERE id = 1; UPDATE s6 SET @old = v, v = 0 WHERE id = 1;
SELECT @new, @old, v FROM s6
-- expect
6 | 6 | 0

-- case: delete through a join, top and output
CREATE TABLE dbo.s7 (id int, v int); INSERT s7 VALUES (1, 1), (2, 1), (3, 2), (4, 2);
DELETE a FROM s7 a JOIN s7 b ON b.id = a.id + 1 WHERE b.v = 2 AND a.v = 1;
DELETE TOP (1) FROM s7 OUTPUT deleted.v WHERE v = 2;
SELECT COUNT(*) FROM s7
-- expect
2

2

-- case: delete duplicates
CREATE TABLE dbo.s8 (v int); INSERT s8 VALUES (1), (1), (2), (2), (2);
WITH d AS (SELECT ROW_NUMBER() OVER (PARTITION BY v ORDER BY v) AS n FROM s8) DELETE FROM d WHERE n > 1;
SELECT @@ROWCOUNT; SELECT v FROM s8 ORDER BY v
-- expect
3

1
2

-- case: take from a table used as a queue
CREATE TABLE dbo.s9 (id int PRIMARY KEY, v varchar(5)); INSERT s9 VALUES (1, 'a'), (2, 'b');
WITH q AS (SELECT TOP (1) * FROM s9 WITH (ROWLOCK, READPAST) ORDER BY id DESC)
DELETE FROM q OUTPUT deleted.id, deleted.v;
SELECT id FROM s9
-- expect
2 | b

1

-- case: merge
CREATE TABLE dbo.s10 (id int PRIMARY KEY, v int); INSERT s10 VALUES (1, 1), (2, 2), (3, 3);
MERGE s10 WITH (HOLDLOCK) AS t USING (VALUES (2, 20), (4, 40)) AS s (id, v) ON t.id = s.id
WHEN MATCHED THEN UPDATE SET v = t.v + s.v
WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)
WHEN NOT MATCHED BY SOURCE AND t.id = 1 THEN DELETE
OUTPUT $action, inserted.v, deleted.v;
SELECT @@ROWCOUNT; SELECT id, v FROM s10 ORDER BY id
-- expect
UPDATE | 22 | 2
INSERT | 40 | NULL
DELETE | NULL | 1

3

2 | 22
3 | 3
4 | 40

-- case: merge counts its rows
CREATE TABLE dbo.s11 (id int, v int); INSERT s11 VALUES (1, 1);
MERGE s11 AS t USING (SELECT 1 AS id UNION ALL SELECT 2) AS s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET v = 9 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 0);
SELECT @@ROWCOUNT; SELECT id, v FROM s11 ORDER BY id
-- expect
2

1 | 9
2 | 0

-- case: output into a table variable
CREATE TABLE dbo.s12 (id int IDENTITY, v int); DECLARE @ids table (id int, v int);
INSERT INTO s12 (v) OUTPUT inserted.id, inserted.v INTO @ids VALUES (7), (8);
UPDATE s12 SET v = v + 1 OUTPUT deleted.id, deleted.v INTO @ids (id, v) WHERE v = 8;
DELETE FROM s12 OUTPUT deleted.id INTO @ids (id);
SELECT id, v FROM @ids ORDER BY id, v
-- expect
1 | NULL
1 | 7
2 | NULL
2 | 8
2 | 8

-- case: select into a temporary table
SELECT v, v * 2 AS w INTO #t1 FROM (VALUES (1), (2)) AS t(v);
INSERT INTO #t1 VALUES (3, 9); SELECT v, w FROM #t1 ORDER BY v; DROP TABLE #t1
-- expect
1 | 2
2 | 4
3 | 9

-- case: table variable: update, delete, identity, default
DECLARE @t table (id int IDENTITY, a int, b varchar(5) DEFAULT 'x');
INSERT @t (a) VALUES (1); INSERT @t (a, b) SELECT v, 'y' FROM (VALUES (2), (3)) AS s(v);
UPDATE @t SET a = a * 10 WHERE b = 'y'; SELECT @@ROWCOUNT;
DELETE FROM @t WHERE a = 20; SELECT id, a, b FROM @t ORDER BY id
-- expect
2

1 | 1 | x
3 | 30 | y

-- case: table variable joined in update and delete
DECLARE @t table (id int, v int); INSERT @t VALUES (1, 0), (2, 0), (3, 0);
UPDATE t SET v = s.w FROM @t t JOIN (VALUES (1, 10), (3, 30)) AS s(id, w) ON s.id = t.id;
DELETE t FROM @t t JOIN (VALUES (3)) AS s(id) ON s.id = t.id;
SELECT id, v FROM @t ORDER BY id
-- expect
1 | 10
2 | 0

-- case: table variable survives rollback
DECLARE @t table (v int); BEGIN TRANSACTION; INSERT @t VALUES (1); ROLLBACK; SELECT COUNT(*) FROM @t
-- expect
1

-- case: duplicates left out of a table variable
DECLARE @t table (a int, b int, PRIMARY KEY (a, b) WITH (IGNORE_DUP_KEY = ON));
INSERT @t VALUES (1, 1); INSERT @t VALUES (1, 1); INSERT @t SELECT 1, v FROM (VALUES (1), (2), (2)) AS s(v);
SELECT @@ROWCOUNT; SELECT a, b FROM @t ORDER BY b
-- expect
1

1 | 1
1 | 2

-- case: duplicates left out of a table
CREATE TABLE dbo.s13 (k int PRIMARY KEY WITH (IGNORE_DUP_KEY = ON), v int);
INSERT s13 VALUES (1, 1), (1, 2), (2, 3); SELECT @@ROWCOUNT; SELECT k, v FROM s13 ORDER BY k
-- expect
2

1 | 1
2 | 3

-- case: xml: rows of nodes
DECLARE @x xml = '<o id="7"><l q="2">a</l><l q="3">b</l></o>';
SELECT l.value('../@id', 'int'), l.value('@q', 'int'), l.value('.', 'char(1)') FROM @x.nodes('/o/l') AS t(l)
-- expect
7 | 2 | a
7 | 3 | b

-- case: xml: namespaces
DECLARE @x xml = '<e xmlns="urn:e"><c>5</c></e>', @n int;
WITH XMLNAMESPACES ('urn:e' AS p) SELECT @n = @x.value('(/p:e/p:c)[1]', 'int');
WITH XMLNAMESPACES (DEFAULT 'urn:e') SELECT @n, @x.value('(/e/c)[1]', 'int')
-- expect
5 | 5

-- case: xml: modify a variable and a column
DECLARE @x xml = '<a><b>1</b></a>'; SET @x.modify('replace value of (/a/b/text())[1] with "2"');
CREATE TABLE dbo.s14 (x xml); INSERT s14 VALUES (@x);
UPDATE s14 SET x.modify('insert <c/> into (/a)[1]'); SELECT x FROM s14
-- expect
<a><b>2</b><c/></a>

-- case: xml: for xml, nested and typed
SELECT o.id AS '@id', (SELECT l.v AS '@v' FROM (VALUES (1, 5), (1, 6), (2, 7)) AS l(o, v)
WHERE l.o = o.id FOR XML PATH('l'), TYPE)
FROM (VALUES (1), (2)) AS o(id) ORDER BY o.id FOR XML PATH('o'), ROOT('all')
-- expect
<all><o id="1"><l v="5"/><l v="6"/></o><o id="2"><l v="7"/></o></all>

-- case: xml: for xml auto over a join
SELECT c.id, o.v FROM (VALUES (1), (2)) AS c(id) JOIN (VALUES (1, 5), (1, 6), (2, 7)) AS o(id, v)
ON o.id = c.id ORDER BY c.id, o.v FOR XML AUTO
-- expect
<c id="1"><o v="5"/><o v="6"/></c><c id="2"><o v="7"/></c>

-- case: tables of two databases in one statement
CREATE DATABASE Other1
GO
USE Other1; CREATE TABLE dbo.s15 (v int); INSERT s15 VALUES (4);
USE master
GO
SELECT o.v FROM Other1.dbo.s15 AS o WHERE o.v = (SELECT MAX(v) FROM Other1..s15)
-- expect
4

-- case: percent of integers
SELECT 7 / 2, -7 / 2, 7 % -2, 7.0 / 2
-- expect
3 | -3 | 1 | 3.500000

-- case: case of a parameter and a column of one name
CREATE TABLE dbo.s16 (v int); INSERT s16 VALUES (1), (2); DECLARE @v int = 2;
SELECT v FROM s16 WHERE v = @v; DELETE FROM s16 WHERE v = @v; SELECT COUNT(*) FROM s16
-- expect
2

1

-- case: FOR JSON PATH writes every type, and leaves NULL out
CREATE TABLE json_types (id int, n nvarchar(20), amount money, at datetime, b bit, f float, u uniqueidentifier, x varbinary(8), d decimal(9,3), c char(3));
INSERT json_types VALUES (1, N'a"b\/', 1.5, '2020-01-02 03:04:05.123', 1, 1.5, 'A326E034-D4CF-4E8B-8D98-4D7E1926C904', 0x0102FF, 1.25, 'x');
INSERT json_types (id) VALUES (2);
SELECT * FROM json_types ORDER BY id FOR JSON AUTO;
SELECT id, n AS [a.b], b AS [a.c] FROM json_types ORDER BY id DESC FOR JSON PATH, ROOT('r'), INCLUDE_NULL_VALUES;
SELECT id, n AS [a.b], b AS [a.c] FROM json_types ORDER BY id FOR JSON PATH, ROOT;
SELECT id FROM json_types WHERE id = 2 FOR JSON PATH, WITHOUT_ARRAY_WRAPPER;
SELECT (SELECT id FROM json_types WHERE id = 3 FOR JSON PATH) AS none
-- expect
[{"id":1,"n":"a\"b\\\/","amount":1.5000,"at":"2020-01-02T03:04:05.123","b":true,"f":1.500000000000000e+000,"u":"A326E034-D4CF-4E8B-8D98-4D7E1926C904","x":"AQL\/","d":1.250,"c":"x  "},{"id":2}]

{"r":[{"id":2,"a":{"b":null,"c":null}},{"id":1,"a":{"b":"a\"b\\\/","c":true}}]}

{"root":[{"id":1,"a":{"b":"a\"b\\\/","c":true}},{"id":2}]}

{"id":2}

NULL

-- case: FOR JSON nests by table, by subquery, and keeps what JSON_QUERY gives
CREATE TABLE json_heads (id int, name nvarchar(10));
CREATE TABLE json_lines (head int, part nvarchar(10), n int);
INSERT json_heads VALUES (1, 'one'), (2, 'two'), (3, 'three');
INSERT json_lines VALUES (1, 'x', 2), (1, 'y', 3), (2, 'z', 4);
SELECT h.id, h.name, l.part, l.n FROM json_heads AS h JOIN json_lines AS l ON l.head = h.id ORDER BY h.id, l.part FOR JSON AUTO;
SELECT id, (SELECT part, n FROM json_lines WHERE head = h.id ORDER BY part FOR JSON PATH) AS lines FROM json_heads AS h ORDER BY id FOR JSON PATH;
SELECT JSON_QUERY('{"a":1}') AS raw, '{"a":1}' AS text, (SELECT 1 AS b FOR JSON PATH, WITHOUT_ARRAY_WRAPPER) AS inside FOR JSON PATH;
SELECT name, COUNT(*) AS lines FROM json_heads JOIN json_lines ON head = id GROUP BY name ORDER BY name FOR JSON PATH;
SELECT 1 AS a UNION ALL SELECT 2 FOR JSON PATH;
DECLARE @body nvarchar(max) = (SELECT 7 AS [order.id], N'é' AS [order.name] FOR JSON PATH, WITHOUT_ARRAY_WRAPPER);
SELECT @body, JSON_VALUE(@body, '$.order.id')
-- expect
[{"id":1,"name":"one","l":[{"part":"x","n":2},{"part":"y","n":3}]},{"id":2,"name":"two","l":[{"part":"z","n":4}]}]

[{"id":1,"lines":[{"part":"x","n":2},{"part":"y","n":3}]},{"id":2,"lines":[{"part":"z","n":4}]},{"id":3}]

[{"raw":{"a":1},"text":"{\"a\":1}","inside":"{\"b\":1}"}]

[{"name":"one","lines":2},{"name":"two","lines":1}]

[{"a":1},{"a":2}]

{"order":{"id":7,"name":"é"}} | 7

-- case: money constants
SELECT $1, $1.5, -$2, $1,000
-- expect
1.0000 | 1.5000 | -2.0000 | 1000.0000

-- case: functions count their rows and walk cursors
CREATE TABLE json_numbers (n int);
INSERT json_numbers VALUES (1), (2), (3);
GO
CREATE FUNCTION dbo.doubled_rows () RETURNS @t TABLE (a int) AS
BEGIN
    INSERT @t SELECT n FROM json_numbers;
    IF @@ROWCOUNT = 3 INSERT @t VALUES (30);
    RETURN;
END
GO
CREATE FUNCTION dbo.summed () RETURNS int AS
BEGIN
    DECLARE @n int, @s int = 0;
    DECLARE c CURSOR LOCAL FOR SELECT n FROM json_numbers;
    OPEN c;
    FETCH NEXT FROM c INTO @n;
    WHILE @@FETCH_STATUS = 0
    BEGIN
        SET @s += @n;
        FETCH NEXT FROM c INTO @n;
    END
    CLOSE c;
    DEALLOCATE c;
    RETURN @s;
END
GO
SELECT dbo.summed(), (SELECT SUM(a) FROM dbo.doubled_rows())
-- expect
6 | 36

-- case: columns of RECEIVE with their queue's name before them
CREATE QUEUE dbo.qualified;
CREATE SERVICE [//qualified] ON QUEUE dbo.qualified ([DEFAULT]);
GO
DECLARE @h uniqueidentifier, @b varbinary(max);
BEGIN DIALOG @h FROM SERVICE [//qualified] TO SERVICE '//qualified' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'one');
SEND ON CONVERSATION @h (N'two');
RECEIVE TOP (1) qualified.message_type_name, CAST(dbo.qualified.message_body AS nvarchar(10)) AS body FROM dbo.qualified;
RECEIVE TOP (1) @b = qualified.message_body FROM qualified;
SELECT CAST(@b AS nvarchar(10))
-- expect
DEFAULT | one

two

-- case: OUTPUT of an INSERT into a table variable
DECLARE @t table (id int IDENTITY(10, 5) PRIMARY KEY, a int, b AS a * 2);
DECLARE @kept table (id int, a int), @plain table (a int, n nvarchar(10));
INSERT @t (a) OUTPUT inserted.id, inserted.a INTO @kept VALUES (1), (2);
INSERT @t (a) OUTPUT inserted.id, inserted.b VALUES (5);
INSERT @t (a) OUTPUT inserted.id AS k OUTPUT inserted.id, inserted.a INTO @kept (id, a) SELECT a + 100 FROM @t;
INSERT @plain OUTPUT inserted.* VALUES (1, 'x');
SELECT * FROM @kept
-- expect
20 | 10

25
30
35

1 | x

10 | 1
15 | 2
25 | 101
30 | 102
35 | 105

-- case: MERGE gives back source columns that it does not insert
CREATE TABLE dbo.mg1 (id int IDENTITY PRIMARY KEY, v varchar(10), k int);
DECLARE @map TABLE (old int, new int, act varchar(10));
MERGE mg1 USING (VALUES (10, 'a'), (11, 'b'), (12, 'a')) AS s (sid, v) ON 1 = 0
WHEN NOT MATCHED THEN INSERT (v) VALUES (s.v) OUTPUT s.sid, inserted.id, $action INTO @map;
SELECT * FROM @map;
MERGE mg1 USING (VALUES (11, 'x'), (13, 'c')) AS s (sid, v) ON mg1.id = s.sid - 9
WHEN MATCHED THEN UPDATE SET k = s.sid WHEN NOT MATCHED THEN INSERT (v) VALUES (UPPER(s.v))
WHEN NOT MATCHED BY SOURCE THEN DELETE
OUTPUT $action, ISNULL(inserted.id, deleted.id), s.*, deleted.k, inserted.*;
-- expect
10 | 1 | INSERT
11 | 2 | INSERT
12 | 3 | INSERT

UPDATE | 2 | 11 | x | NULL | 2 | b | 11
INSERT | 4 | 13 | c | NULL | 4 | C | NULL
DELETE | 1 | NULL | NULL | NULL | NULL | NULL | NULL
DELETE | 3 | NULL | NULL | NULL | NULL | NULL | NULL

-- case: a recursive query over columns with lengths and precisions
CREATE TABLE dbo.rc1 (id int PRIMARY KEY, name nvarchar(50) NOT NULL, boss int);
INSERT rc1 VALUES (1, 'Ann', NULL), (2, 'Bob', 1), (3, 'Cid', 2);
WITH h (id, name, level, path) AS (
  SELECT id, name, 0, CAST(name AS nvarchar(max)) FROM rc1 WHERE boss IS NULL
  UNION ALL SELECT e.id, e.name, h.level + 1, h.path + N'/' + e.name FROM rc1 AS e JOIN h ON e.boss = h.id)
SELECT path, level FROM h ORDER BY path;
WITH n AS (SELECT CAST('20100101' AS datetime) AS d UNION ALL SELECT DATEADD(day, 1, d) FROM n WHERE d < '20100102')
SELECT d FROM n
-- expect
Ann | 0
Ann/Bob | 1
Ann/Bob/Cid | 2

2010-01-01 00:00:00.000
2010-01-02 00:00:00.000

-- case: OUTPUT of UPDATE and DELETE on a table variable
SET NOCOUNT ON;
CREATE TABLE dbo.tvo1 (a int, b varchar(10));
DECLARE @t TABLE (id int IDENTITY PRIMARY KEY, v varchar(10) NOT NULL), @u TABLE (a int, o varchar(10), n varchar(10));
INSERT @t (v) VALUES ('x'), ('y'), ('w');
UPDATE @t SET v = 'z' OUTPUT deleted.v, inserted.* WHERE id = 1;
UPDATE TOP (1) @t SET v = v + '!' OUTPUT inserted.id, deleted.v, inserted.v INTO @u WHERE id > 1;
DELETE TOP (1) FROM @t OUTPUT deleted.id, deleted.v INTO tvo1;
SELECT * FROM @u;
SELECT * FROM tvo1;
SELECT * FROM @t
-- expect
x | 1 | z

2 | y | y!

1 | z

2 | y!
3 | w

-- case: DEFAULT for the last arguments of a table-valued function
EXEC ('CREATE FUNCTION dbo.df1 (@a int = 2, @b int = 3) RETURNS TABLE AS RETURN SELECT @a AS a, @b AS b');
EXEC ('SELECT * FROM dbo.df1(1, DEFAULT) UNION ALL SELECT * FROM dbo.df1(DEFAULT, DEFAULT)')
-- expect
1 | 3
2 | 3

-- case: a string beside a string is its alias
SELECT v + d AS s FROM (SELECT 'a' 'v', N'b' 'd') AS t
-- expect
ab

-- case: SET options as a number, the rows of the cursor opened last
SET NOCOUNT ON;
DECLARE c CURSOR STATIC FOR SELECT v FROM (VALUES (1), (2)) AS t (v);
DECLARE d CURSOR FOR SELECT 1;
SELECT @@CURSOR_ROWS, @@OPTIONS & 512, @@OPTIONS & 16384;
OPEN c;
SELECT @@CURSOR_ROWS;
OPEN d;
SELECT @@CURSOR_ROWS;
DECLARE e SCROLL CURSOR FOR SELECT 1;
OPEN e;
SELECT @@CURSOR_ROWS
-- expect
0 | 512 | 0

2

-1

1

-- case: views and functions of what does not exist here have columns and no rows
SELECT (SELECT COUNT(*) FROM sys.dm_exec_cached_plans WHERE usecounts > 1) + (SELECT COUNT(*) FROM sys.dm_os_schedulers)
     + (SELECT COUNT(*) FROM sys.sql_expression_dependencies AS d WHERE d.referenced_entity_name = 'x')
     + (SELECT COUNT(*) FROM sys.dm_io_virtual_file_stats(NULL, NULL))
     + (SELECT COUNT(*) FROM sys.dm_db_index_physical_stats(DB_ID(), NULL, NULL, NULL, 'LIMITED')
         WHERE avg_fragmentation_in_percent > 30)
-- expect
0

-- case: a method on a query over a derived table
SET NOCOUNT ON;
CREATE TABLE dbo.mq1 (act char(1));
INSERT mq1 VALUES ('U'), ('I'), ('U');
SELECT STUFF((SELECT ',' + QUOTENAME(act) FROM (SELECT DISTINCT act FROM mq1) AS x ORDER BY act FOR XML PATH(''), TYPE)
             .value('.', 'nvarchar(max)'), 1, 1, '');
SELECT (SELECT n + 1 AS [@n] FROM (SELECT COUNT(*) AS n FROM mq1) AS c FOR XML PATH('r'), TYPE).query('/r').value('(/r/@n)[1]', 'int')
-- expect
[I],[U]

4

-- case: the filegroup of SELECT INTO, hints of OPTION
SELECT 1 AS a INTO #fg1 ON [PRIMARY];
SELECT a FROM #fg1 ORDER BY a OPTION (MAXRECURSION 5, ORDER GROUP, MAXDOP 1)
-- expect
1

-- case: new values of a table variable are computed for the rows of WHERE alone
SET NOCOUNT ON;
DECLARE @t TABLE (id int, x xml, v int);
INSERT @t VALUES (1, '<a b="1"/>', 5), (2, NULL, 0);
UPDATE @t SET x.modify('replace value of (/a/@b)[1] with "5"') WHERE id = 1;
UPDATE @t SET v = 10 / v WHERE v <> 0;
SELECT * FROM @t
-- expect
1 | <a b="5"/> | 2
2 | NULL | 0

-- case: types of columns in the catalog views
CREATE TABLE dbo.ct1 (b bit NOT NULL, d datetime, d2 datetime2, s smalldatetime, x xml, u uniqueidentifier);
SELECT c.COLUMN_NAME, c.DATA_TYPE, t.name FROM INFORMATION_SCHEMA.COLUMNS AS c
JOIN sys.columns AS k ON k.object_id = OBJECT_ID('dbo.ct1') AND k.name = c.COLUMN_NAME
JOIN sys.types AS t ON t.user_type_id = k.user_type_id
WHERE c.TABLE_NAME = 'ct1' ORDER BY c.ORDINAL_POSITION
-- expect
b | bit | bit
d | datetime | datetime
d2 | datetime2 | datetime2
s | smalldatetime | smalldatetime
x | xml | xml
u | uniqueidentifier | uniqueidentifier

-- case: numbers that meet a decimal have its decimals
SET NOCOUNT ON;
CREATE TABLE dbo.dec1 (k varchar(5), amt decimal(10,2), m money, n int);
INSERT dec1 VALUES ('a', 10, 1, 5), ('b', NULL, NULL, NULL);
SELECT ISNULL(amt, 0), COALESCE(m, 0), CASE WHEN k = 'a' THEN n ELSE 1.5 END, IIF(amt IS NULL, 0, amt) FROM dec1 ORDER BY k;
SELECT SUM(CASE WHEN k = 'b' THEN amt ELSE 0 END), 'x' + CAST(ISNULL(SUM(m), 0) AS varchar(20)) FROM dec1;
SELECT amt FROM dec1 WHERE k = 'a' UNION ALL SELECT 0 UNION ALL SELECT n FROM dec1 WHERE k = 'a'
-- expect
10.00 | 1.0000 | 5.0 | 10.00
0.00 | 0.0000 | 1.5 | 0.00

0.00 | x1.00

10.00
0.00
5.00

-- case: system functions as version 2000 calls them
EXEC sp_addextendedproperty 'fn1', 'one';
SELECT value FROM ::fn_listextendedproperty('fn1', DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT);
SELECT GETANSINULL() + GETANSINULL('d')
-- expect
one

2

-- case: catalog of version 2000, as install scripts ask it
SET NOCOUNT ON;
CREATE TABLE dbo.sys1 (a int);
EXEC ('CREATE PROCEDURE dbo.sys2 AS RETURN');
SELECT name FROM sysobjects WHERE id = OBJECT_ID('dbo.sys1') AND sysstat & 0xf = 3;
SELECT name FROM dbo.sysobjects WHERE id = OBJECT_ID(N'[dbo].[sys2]') AND sysstat & 0xf = 4;
DECLARE @directory nvarchar(520);
SELECT @directory = SUBSTRING(filename, 1, CHARINDEX(N'master.mdf', LOWER(filename)) - 1)
FROM master.dbo.sysaltfiles WHERE dbid = 1 AND fileid = 1;
SELECT LEN(@directory)
-- expect
sys1

sys2

1

-- case: columns with the database and no schema in front
SELECT TOP (1) RTRIM(master..spt_values.type) FROM master..spt_values WHERE master..spt_values.number = 0
-- expect
P

-- case: windows that skip NULL
CREATE TABLE dbo.gaps (id int, v int);
INSERT gaps VALUES (1, 10), (2, NULL), (3, NULL), (4, 40), (5, NULL);
SELECT id,
       LAST_VALUE(v) IGNORE NULLS OVER (ORDER BY id),
       FIRST_VALUE(v) IGNORE NULLS OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING),
       LAG(v) IGNORE NULLS OVER (ORDER BY id),
       LEAD(v) IGNORE NULLS OVER (ORDER BY id),
       LAG(v, 2, -1) IGNORE NULLS OVER w,
       LAG(v) RESPECT NULLS OVER w
FROM gaps WINDOW w AS (ORDER BY id) ORDER BY id
-- expect
1 | 10 | 40 | NULL | 40 | -1 | NULL
2 | 10 | 40 | 10 | 40 | -1 | 10
3 | 10 | 40 | 10 | 40 | -1 | NULL
4 | 40 | NULL | 10 | NULL | -1 | NULL
5 | 40 | NULL | 40 | NULL | 10 | 40

-- case: json of many rows
CREATE TABLE dbo.pairs (k varchar(5), n int, g int);
INSERT pairs VALUES ('a', 1, 1), ('b', 2, 1), ('c', NULL, 2);
SELECT JSON_OBJECTAGG(k:n), JSON_OBJECTAGG(k:n ABSENT ON NULL), JSON_ARRAYAGG(n) FROM pairs;
SELECT g, JSON_ARRAYAGG(JSON_OBJECT('k':k, 'n':n) ORDER BY k DESC) FROM pairs GROUP BY g ORDER BY g;
SELECT JSON_ARRAYAGG(n) FROM pairs WHERE n IS NULL;
SELECT JSON_ARRAYAGG(n) FROM pairs WHERE g = 9
-- expect
{"a":1,"b":2,"c":null} | {"a":1,"b":2} | [1,2]

1 | [{"k":"b","n":2},{"k":"a","n":1}]
2 | [{"k":"c","n":null}]

[]

NULL

-- case: a table-valued function may be called by its name alone
CREATE FUNCTION dbo.two_of (@n int) RETURNS @r TABLE (a int, b int) AS
BEGIN INSERT @r VALUES (@n, @n + 1); RETURN; END
GO
SELECT * FROM two_of(1);
SELECT x.i + x.j FROM two_of(5) AS x (i, j);
SELECT v.n, t.b FROM (VALUES (1), (2)) AS v (n) CROSS APPLY two_of(v.n) AS t ORDER BY v.n
-- expect
1 | 2

11

1 | 2
2 | 3

-- case: the columns of STRING_SPLIT
SELECT * FROM STRING_SPLIT('a,b', ',');
SELECT * FROM STRING_SPLIT('a,b', ',', 1);
SELECT * FROM STRING_SPLIT('a', ',', 0);
DECLARE @i int = 7, @s varchar(10) = 'x';
SET @i = @i << 2; SET @s ||= 'y';
SELECT @i, @s
-- expect
a
b

a | 1
b | 2

a

28 | xy

-- case: indexes inside and behind a table, of all kinds
CREATE TABLE dbo.indexed (id int, a int, timestamp, INDEX store CLUSTERED COLUMNSTORE ORDER (id),
    INDEX part NONCLUSTERED COLUMNSTORE (a) WHERE a > 1, INDEX usual (a) INCLUDE (id));
ALTER TABLE indexed ADD INDEX more (id, a), INDEX only_one UNIQUE NONCLUSTERED (id);
INSERT indexed (id, a) VALUES (1, 2);
BEGIN TRY INSERT indexed (id, a) VALUES (1, 3) END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH;
SELECT a, DATALENGTH(timestamp) FROM indexed
-- expect
2601

2 | 8

-- case: MERGE puts in defaults
CREATE TABLE dbo.defaults (id int IDENTITY, a int DEFAULT 7, b varchar(5) DEFAULT 'q');
MERGE defaults USING (VALUES (50), (51)) AS s (id) ON s.id = defaults.id WHEN NOT MATCHED THEN INSERT DEFAULT VALUES;
MERGE defaults USING (VALUES (52)) AS s (id) ON s.id = defaults.id
WHEN NOT MATCHED THEN INSERT DEFAULT VALUES OUTPUT $action, inserted.id, inserted.b, s.id;
MERGE defaults USING (VALUES (53)) AS s (id) ON s.id = defaults.id WHEN NOT MATCHED THEN INSERT VALUES (DEFAULT, 'z');
SELECT * FROM defaults ORDER BY id
-- expect
INSERT | 3 | q | 52

1 | 7 | q
2 | 7 | q
3 | 7 | q
4 | 7 | z

-- case: sequences number rows in an order, and start again
CREATE SEQUENCE dbo.turns AS int START WITH 8 MAXVALUE 9 CYCLE;
CREATE TABLE dbo.turned (n int, x int);
SELECT NEXT VALUE FOR turns, NEXT VALUE FOR turns;
ALTER SEQUENCE turns RESTART WITH 3 NO MAXVALUE NO CYCLE NO CACHE;
INSERT turned SELECT NEXT VALUE FOR turns OVER (ORDER BY x DESC), x FROM (VALUES (1), (3), (2)) AS v (x);
SELECT * FROM turned ORDER BY n;
SELECT NEXT VALUE FOR dbo.turns OVER (ORDER BY x), x FROM turned
-- expect
8 | 8

3 | 3
4 | 2
5 | 1

6 | 1
7 | 2
8 | 3

-- case: a memory-optimized table type
CREATE TYPE dbo.quick AS TABLE (a int NOT NULL, INDEX h NONCLUSTERED HASH (a) WITH (BUCKET_COUNT = 4))
WITH (MEMORY_OPTIMIZED = ON);
GO
DECLARE @q dbo.quick; INSERT @q VALUES (1); SELECT a AS N'with N', 2 N'without AS' FROM @q
-- expect
1 | 2

-- case: an operator in SET changes the target's column, whoever else has one of that name
CREATE TABLE dbo.stock_of (id int, n int, v varchar(max), x xml);
CREATE TABLE dbo.moves (id int, n int, v varchar(max), x xml);
INSERT stock_of VALUES (1, 1, 'abc', '<a/>'); INSERT moves VALUES (1, 5, 'def', '<b/>');
UPDATE stock_of SET n += 1 FROM stock_of JOIN moves ON stock_of.id = moves.id;
UPDATE s SET n += m.n FROM moves AS m JOIN stock_of AS s ON s.id = m.id;
UPDATE stock_of SET v.WRITE('X', 0, 1), x.modify('insert <c/> into (/a)[1]') FROM stock_of JOIN moves ON stock_of.id = moves.id;
MERGE stock_of USING moves ON stock_of.id = moves.id WHEN MATCHED THEN UPDATE SET n *= moves.n;
SELECT n, v, x FROM stock_of;
DECLARE @t TABLE (id int, n int); INSERT @t VALUES (1, 100);
UPDATE t SET n += moves.n FROM moves JOIN @t AS t ON t.id = moves.id;
SELECT n FROM @t;
UPDATE TOP (1) stock_of SET n -= moves.n FROM moves WHERE moves.id = stock_of.id;
UPDATE stock_of SET n += moves.n FROM stock_of WITH (READPAST) JOIN moves ON stock_of.id = moves.id WHERE moves.n = 5;
SELECT n FROM stock_of;
DELETE TOP (1) stock_of FROM moves WHERE moves.id = stock_of.id;
SELECT COUNT(*) FROM stock_of
-- expect
35 | Xbc | <a><c/></a>

105

35

0

-- case: an index in the place of another one
CREATE TABLE dbo.rebuilt (a int, b int);
CREATE INDEX one ON rebuilt (a);
CREATE UNIQUE INDEX one ON rebuilt (a, b) WITH (FILLFACTOR = 80, DROP_EXISTING = ON);
INSERT rebuilt VALUES (1, 1), (1, 2);
BEGIN TRY INSERT rebuilt VALUES (1, 2) END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH;
BEGIN TRY CREATE INDEX one ON rebuilt (b) WITH (DROP_EXISTING = OFF) END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_MESSAGE() END CATCH;
CREATE TABLE dbo.pointed_at (id int PRIMARY KEY); CREATE TABLE dbo.pointing (id int REFERENCES pointed_at);
BEGIN TRY TRUNCATE TABLE pointed_at END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH
-- expect
2601

1913 | The operation failed because an index or statistics with name 'one' already exists on table 'rebuilt'.

4712

-- case: checksums of whole rows
CREATE TABLE dbo.summed (a int, b varchar(5)); INSERT summed VALUES (1, 'x'), (1, 'x'), (2, 'y');
SELECT COUNT(DISTINCT CHECKSUM(*)), COUNT(DISTINCT BINARY_CHECKSUM(*)), MIN(CASE WHEN CHECKSUM(*) = CHECKSUM(a, b) THEN 1 ELSE 0 END) FROM summed
-- expect
2 | 2 | 1

-- case: table-valued parameters of functions
CREATE TYPE dbo.pairs_of AS TABLE (i int, s varchar(5));
GO
CREATE FUNCTION dbo.times (@k int, @rows dbo.pairs_of READONLY) RETURNS TABLE AS RETURN SELECT i * @k AS n FROM @rows;
GO
CREATE FUNCTION dbo.sum_of (@rows dbo.pairs_of READONLY, @more int) RETURNS int AS
BEGIN RETURN (SELECT SUM(i) + @more FROM @rows) END
GO
DECLARE @q dbo.pairs_of; INSERT @q VALUES (1, 'a'), (2, 'b');
SELECT n FROM times(5, @q) ORDER BY n;
SELECT v.x, t.n FROM (VALUES (10), (20)) AS v (x) CROSS APPLY dbo.times(v.x, @q) AS t ORDER BY v.x, t.n;
SELECT dbo.sum_of(@q, 10)
-- expect
5
10

10 | 10
10 | 20
20 | 20
20 | 40

13

-- case: constants are rounded as datetime and smalldatetime round
DECLARE @d datetime = '2024-02-29 23:59:59.999', @s smalldatetime = '2024-02-29 12:34:31', @e datetime = '2024-02-29T10:11:12.345';
SELECT @d, @s, @e;
SET @s = @e; SELECT @s;
CREATE TABLE dbo.rounded (d datetime, s smalldatetime);
INSERT rounded VALUES ('2024-02-29 23:59:59.998', '20240229 12:34:30');
INSERT rounded SELECT '2024-02-29 23:59:59.999', GETDATE() - GETDATE() + @e;
SELECT d, s FROM rounded WHERE d >= '2024-02-29 23:59:59.998' ORDER BY d
-- expect
2024-03-01 00:00:00.000 | 2024-02-29 12:35:00 | 2024-02-29 10:11:12.347

2024-02-29 10:11:00

2024-02-29 23:59:59.997 | 2024-02-29 12:35:00
2024-03-01 00:00:00.000 | 2024-02-29 10:11:00

-- case: rows of UNION ALL that are all literals or NULL take the types of the columns they go into
CREATE TABLE union_rows (n decimal(9,2) NULL, d datetime, u uniqueidentifier, b bit, s smallint)
INSERT INTO union_rows SELECT 1, '20200101', NULL, 'true', NULL UNION ALL SELECT 2, '2020-01-02', NULL, 0, '7'
INSERT union_rows (n, d) SELECT '5', NULL UNION SELECT '6', NULL
INSERT union_rows (d) SELECT '20200101 10:20' EXCEPT SELECT '20200102'
SELECT n, d, u, b, s FROM union_rows ORDER BY n, d
-- expect
NULL | 2020-01-01 10:20:00.000 | NULL | NULL | NULL
1.00 | 2020-01-01 00:00:00.000 | NULL | 1 | NULL
2.00 | 2020-01-02 00:00:00.000 | NULL | 0 | 7
5.00 | NULL | NULL | NULL | NULL
6.00 | NULL | NULL | NULL | NULL

-- case: documents in a query of columns of the query around them
DECLARE @t table (id int, n varchar(9)); INSERT @t VALUES (1, 'a'), (2, NULL)
SELECT t.id, (SELECT t.n WHERE t.id IS NOT NULL FOR XML PATH('p'), TYPE) AS x,
       (SELECT t.id AS i FROM @t AS o WHERE o.id < t.id FOR JSON PATH) AS j,
       (SELECT t.id AS [data()] FROM @t AS o FOR XML PATH('')) AS d
FROM @t AS t ORDER BY t.id
SELECT t.id AS [@id], (SELECT t.n WHERE t.id < 2 FOR XML PATH('p'), TYPE) FROM @t AS t ORDER BY 1 FOR XML PATH('q')
-- expect
1 | <p><n>a</n></p> | NULL | 1 1
2 | <p/> | [{"i":2}] | 2 2

<q id="1"><p><n>a</n></p></q><q id="2"/>

-- case: NULLs of an outer join and of a grouping set come first, though the column is NOT NULL
CREATE TABLE outer_left (id int NOT NULL, n int NOT NULL)
CREATE TABLE outer_right (id int NOT NULL, m int NOT NULL)
INSERT outer_left VALUES (1, 10), (2, 20)
INSERT outer_right VALUES (2, 5), (3, 6)
SELECT l.id, r.m FROM outer_left l LEFT JOIN outer_right r ON r.id = l.id ORDER BY r.m
SELECT l.id, r.m FROM outer_left l FULL JOIN outer_right r ON r.id = l.id ORDER BY l.id, r.m
SELECT l.id, r.m FROM outer_left l RIGHT JOIN outer_right r ON r.id = l.id ORDER BY l.id DESC
SELECT l.id, x.m FROM outer_left l OUTER APPLY (SELECT m FROM outer_right r WHERE r.id = l.id) x ORDER BY x.m
SELECT q.m FROM (SELECT r.m FROM outer_left l LEFT JOIN outer_right r ON r.id = l.id) q ORDER BY q.m
SELECT id, SUM(n) FROM outer_left GROUP BY ROLLUP(id) ORDER BY id
-- expect
1 | NULL
2 | 5

NULL | 6
1 | NULL
2 | 5

2 | 5
NULL | 6

1 | NULL
2 | 5

NULL
5

NULL | 30
1 | 10
2 | 20

-- case: AT TIME ZONE and its like, converted at once, are the wall clock there
DECLARE @utc datetime = '2021-07-04 22:00', @zone varchar(50) = 'Pacific Standard Time', @local datetime2(0), @text varchar(40);
SELECT CONVERT(datetime, @utc AT TIME ZONE 'UTC' AT TIME ZONE 'Central European Standard Time'), CAST((@utc AT TIME ZONE 'UTC') AT TIME ZONE 'India Standard Time' AS date);
SELECT CONVERT(varchar(16), @utc AT TIME ZONE 'UTC' AT TIME ZONE @zone, 120), CAST(SWITCHOFFSET(TODATETIMEOFFSET(@utc, '+00:00'), 150) AS time(0));
SET @local = @utc AT TIME ZONE 'UTC' AT TIME ZONE 'Eastern Standard Time';
SET @text = @utc AT TIME ZONE 'UTC' AT TIME ZONE 'Eastern Standard Time';
SELECT @local, @text, CONVERT(varchar(40), @utc AT TIME ZONE @zone, 126), CONVERT(varchar(40), @utc AT TIME ZONE @zone, 127);
SELECT DATEPART(hour, SWITCHOFFSET(@utc, '-07:00')), DAY(@utc AT TIME ZONE 'UTC' AT TIME ZONE 'Tokyo Standard Time'), FORMAT(@utc AT TIME ZONE 'UTC' AT TIME ZONE 'Tokyo Standard Time', 'HH:mm');
SELECT CAST(DATEADD(day, 1, @utc AT TIME ZONE 'UTC' AT TIME ZONE 'Tokyo Standard Time') AS datetime), DATEDIFF(hour, @utc, @utc AT TIME ZONE 'UTC' AT TIME ZONE 'Tokyo Standard Time')
-- expect
2021-07-05 00:00:00.000 | 2021-07-05

2021-07-04 15:00 | 00:30:00

2021-07-04 18:00:00 | 2021-07-04 18:00:00.000 -04:00 | 2021-07-04T22:00:00-07:00 | 2021-07-05T05:00:00Z

15 | 5 | 07:00

2021-07-06 07:00:00.000 | 0

-- case: a string is split by the numbers of a tally table
CREATE FUNCTION dbo.SplitLine (@line varchar(8000), @by char(1)) RETURNS TABLE WITH SCHEMABINDING AS RETURN
WITH E1(N) AS (SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 1), E2(N) AS (SELECT 1 FROM E1 a, E1 b),
Tally(N) AS (SELECT 0 UNION ALL SELECT TOP (DATALENGTH(ISNULL(@line, 1))) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) FROM E2),
Starts(N1) AS (SELECT t.N + 1 FROM Tally t WHERE SUBSTRING(@line, t.N, 1) = @by OR t.N = 0)
SELECT ItemNumber = ROW_NUMBER() OVER (ORDER BY s.N1),
       Item = SUBSTRING(@line, s.N1, ISNULL(NULLIF(CHARINDEX(@by, @line, s.N1), 0) - s.N1, 8000))
FROM Starts s
GO
SELECT ItemNumber, Item FROM dbo.SplitLine('a,bc,,d', ',') ORDER BY ItemNumber
-- expect
1 | a
2 | bc
3 | 
4 | d

-- case: PIVOT behind a join or APPLY takes all that is joined
CREATE TABLE months_wide (id int, jan int, feb int, k varchar(3))
INSERT months_wide VALUES (1, 10, 20, 'x'), (2, 30, NULL, 'y')
SELECT p.id, p.k, p.[m1], p.m2 FROM months_wide w CROSS APPLY (VALUES ('m1', w.jan * 2), ('m2', w.feb)) c (m, v) PIVOT (SUM(v) FOR m IN ([m1], [m2])) p WHERE p.jan > 1 ORDER BY p.id
SELECT p.k, z.n, p.m1 FROM months_wide w CROSS APPLY (VALUES ('m1', w.jan)) c (m, v) PIVOT (SUM(v) FOR m IN ([m1])) p JOIN (VALUES (1, 'one'), (2, 'two')) z (i, n) ON z.i = p.id ORDER BY p.k DESC
SELECT p.* FROM (SELECT id, k FROM months_wide) w JOIN (SELECT id AS i, jan FROM months_wide) j ON j.i = w.id PIVOT (MAX(jan) FOR k IN (x, y)) p ORDER BY p.id
-- expect
1 | x | 20 | 20
2 | y | 60 | NULL

y | two | 30
x | one | 10

1 | 1 | 10 | NULL
2 | 2 | NULL | 30

-- case: the name of a key is none of a table
CREATE TABLE keyed_table (a int CONSTRAINT key_of_table PRIMARY KEY)
BEGIN TRY EXEC ('SELECT * FROM key_of_table') END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH
-- expect
208

-- case: a table has one primary key
BEGIN TRY EXEC ('CREATE TABLE of_two_keys (a int PRIMARY KEY, b int, PRIMARY KEY (b))') END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_MESSAGE() END CATCH
-- expect
8110 | Cannot add multiple PRIMARY KEY constraints to table 'of_two_keys'.

-- case: a name in brackets that begins with @ is a name
CREATE TABLE [@tagged] ([@id] int PRIMARY KEY, [$b] int, [@@c] int NULL)
INSERT [@tagged] ([@id], [$b]) VALUES (1, 2)
DECLARE @id int = 5, @t table ([@id] int, n int), @tagged table (a int)
INSERT @t VALUES (@id, 8)
UPDATE @t SET [@id] = @id + 1 OUTPUT deleted.[@id], inserted.[@id] WHERE [@id] = 5
SELECT t.[@id], [@id], @id AS v FROM [@tagged] AS t WHERE [@id] < @id
SELECT [@id], [$b] AS b FROM [@tagged] FOR XML PATH ('row')
MERGE [@tagged] AS x USING (SELECT 6 AS [@id]) AS y ON x.[@id] = y.[@id] WHEN NOT MATCHED THEN INSERT ([@id]) VALUES (y.[@id]);
ALTER TABLE [@tagged] ADD [@n] int
CREATE INDEX [@i] ON [@tagged] ([@n])
SELECT [@id], [@n] INTO [@copied] FROM [@tagged]
SELECT * FROM [@copied] ORDER BY [@id]
DELETE [@tagged] OUTPUT deleted.[@id] WHERE [@id] = 6
-- expect
5 | 6

1 | 1 | 5

<row id="1"><b>2</b></row>

1 | NULL
6 | NULL

6

-- case: a constant that a decimal has no room for is an error that CATCH gets; the states of conversions
DECLARE @r decimal(5, 2), @f float = 1e9, @m money, @i int = 300
BEGIN TRY SET @r = 12345 END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_STATE() END CATCH
BEGIN TRY SELECT CAST(@f AS decimal(5, 2)) END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_STATE() END CATCH
BEGIN TRY SET @m = 'x' END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_STATE() END CATCH
BEGIN TRY SELECT CAST(@i AS tinyint) END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_STATE() END CATCH
BEGIN TRY SELECT CAST('x' AS uniqueidentifier) END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_STATE() END CATCH
-- expect
8115 | 8

8115 | 6

235 | 0

220 | 2

8169 | 2

-- case: the catalog finds names with other letters than ASCII's
CREATE TABLE [Übung Заказы] ([Имя] int)
DECLARE @table sysname = N'übung заказы'
SELECT name FROM sys.tables WHERE name = N'Übung Заказы'
SELECT t.name, c.name FROM sys.tables AS t JOIN sys.columns AS c ON c.object_id = t.object_id WHERE t.name = @table AND c.name IN (N'имя', N'x')
SELECT name FROM sys.objects WHERE name LIKE N'Übung З%'
-- expect
Übung Заказы

Übung Заказы | Имя

Übung Заказы

-- case: a date in a style of ISO's is a constant: a computed column may compare with it
CREATE TABLE of_iso_dates (a date, b AS CASE WHEN a = CONVERT(date, '99991231', 112) THEN 1 ELSE 0 END, c AS DATEDIFF(day, CONVERT(datetime, '2026-01-01 00:00:00', 120), a))
INSERT of_iso_dates (a) VALUES ('99991231'), ('2026-01-03')
SELECT b, CASE WHEN b = 0 THEN c END FROM of_iso_dates ORDER BY a
SELECT TRY_CONVERT(date, '20260230', 112), CONVERT(datetime2(0), '2026-01-05T10:00:00', 126)
-- expect
0 | 2
1 | NULL

NULL | 2026-01-05 10:00:00

-- case: SET LANGUAGE has the language by its own name
SET LANGUAGE German
SELECT @@LANGUAGE, @@DATEFIRST
SET LANGUAGE us_english
-- expect
Deutsch | 1

-- case: a default keeps the sequence that it takes its value of
CREATE SEQUENCE dbo.needed
CREATE TABLE dbo.needs (a int CONSTRAINT DF_Needs DEFAULT (NEXT VALUE FOR dbo.needed))
BEGIN TRY DROP SEQUENCE dbo.needed END TRY BEGIN CATCH SELECT ERROR_MESSAGE() END CATCH
-- expect
Cannot DROP SEQUENCE 'dbo.needed' because it is being referenced by object 'DF_Needs'.

-- case: privileges in INFORMATION_SCHEMA
CREATE TABLE dbo.Shown (a int, b int)
GRANT SELECT, DELETE ON dbo.Shown TO public
SELECT GRANTEE, TABLE_SCHEMA, TABLE_NAME, PRIVILEGE_TYPE, IS_GRANTABLE FROM INFORMATION_SCHEMA.TABLE_PRIVILEGES WHERE TABLE_NAME = 'shown' ORDER BY PRIVILEGE_TYPE
SELECT COLUMN_NAME, PRIVILEGE_TYPE FROM INFORMATION_SCHEMA.COLUMN_PRIVILEGES WHERE TABLE_NAME = 'Shown' ORDER BY COLUMN_NAME
-- expect
public | dbo | Shown | DELETE | NO
public | dbo | Shown | SELECT | NO

a | SELECT
b | SELECT

-- case: a row takes one value of a sequence, in whichever order its columns are written
CREATE SEQUENCE dbo.drawn AS int START WITH 1
CREATE TABLE dbo.draws (a int, b int, c int)
DECLARE @t TABLE (a int, b int)
INSERT draws (c, a) VALUES (NEXT VALUE FOR drawn, NEXT VALUE FOR drawn)
INSERT draws (c, a) VALUES (NEXT VALUE FOR drawn, NEXT VALUE FOR drawn), (NEXT VALUE FOR drawn, NEXT VALUE FOR drawn)
UPDATE draws SET c = NEXT VALUE FOR drawn, b = NEXT VALUE FOR drawn + 10 WHERE a = 1;
WITH q AS (SELECT * FROM draws WHERE a = 2) UPDATE q SET c = NEXT VALUE FOR drawn, b = NEXT VALUE FOR drawn;
MERGE draws USING (SELECT 3 AS a) AS s ON s.a = draws.a WHEN MATCHED THEN UPDATE SET c = NEXT VALUE FOR drawn, b = NEXT VALUE FOR drawn;
INSERT @t (b, a) VALUES (NEXT VALUE FOR drawn, NEXT VALUE FOR drawn)
SELECT * FROM draws ORDER BY a
SELECT * FROM @t
UPDATE @t SET b = NEXT VALUE FOR drawn, a = NEXT VALUE FOR drawn
SELECT * FROM @t
-- expect
1 | 14 | 4
2 | 5 | 5
3 | 6 | 6

7 | 7

8 | 8

-- case: each row has a NEWID() of its own, where its statement names no column too
DECLARE @t TABLE (a int, g uniqueidentifier)
CREATE TABLE dbo.Own (a int, g uniqueidentifier)
INSERT @t (a) VALUES (1), (2), (3)
UPDATE @t SET g = NEWID()
INSERT Own SELECT a, g FROM @t
SELECT COUNT(DISTINCT g) FROM Own
UPDATE Own SET g = (SELECT NEWID())
SELECT COUNT(DISTINCT g) FROM Own
SELECT COUNT(DISTINCT x) FROM Own CROSS APPLY (SELECT NEWID() AS x) AS q
SELECT COUNT(DISTINCT x) FROM Own OUTER APPLY (SELECT NEWID() AS x WHERE 1 = 1) AS q
-- expect
3

3

3

3

-- case: all rows of a statement have one moment, and one RAND()
CREATE TABLE dbo.Moments (a int CHECK (a > 0), d datetime CHECK (d <= GETDATE()), m datetime2, r float)
DECLARE @t TABLE (m datetime2)
INSERT Moments SELECT TOP 2000 number + 1, GETDATE(), SYSDATETIME(), RAND() FROM master..spt_values WHERE type = 'P'
SELECT COUNT(DISTINCT d), COUNT(DISTINCT m), COUNT(DISTINCT r) FROM Moments
UPDATE Moments SET d = CURRENT_TIMESTAMP, m = SYSUTCDATETIME(), r = RAND() OUTPUT SYSDATETIME() INTO @t
SELECT COUNT(DISTINCT d), COUNT(DISTINCT m), COUNT(DISTINCT r) FROM Moments
SELECT COUNT(DISTINCT m) FROM @t
SELECT DATEDIFF(day, GETDATE(), d), COUNT(*) FROM Moments WHERE d <= GETDATE() GROUP BY DATEDIFF(day, GETDATE(), d) HAVING DATEDIFF(day, GETDATE(), d) <= 0
-- expect
1 | 1 | 1

1 | 1 | 1

1

0 | 2000

-- case: what cannot be computed fails where it is reached alone
CREATE TABLE dbo.Reached (id int)
INSERT Reached VALUES (1), (2)
DECLARE @zero int = 0, @text varchar(9) = 'x'
SELECT CASE WHEN id > 0 THEN id ELSE 1 / 0 END, ISNULL(id, CAST('no id' AS int)), IIF(id < 0, 1 / @zero, id), COALESCE(id, CAST(@text AS int)) FROM Reached ORDER BY id
INSERT Reached SELECT CONVERT(int, 'none') + 5 % 0 FROM Reached WHERE id = 3
SELECT CASE WHEN @@TRANCOUNT = 0 THEN 5 ELSE CAST('in a transaction' AS int) END
-- expect
1 | 1 | 1 | 1
2 | 2 | 2 | 2

5

-- case: changes of table variables touch the rows found, in the order in which they lie
DECLARE @t TABLE (id int IDENTITY PRIMARY KEY, a int, b varchar(10) NOT NULL, u uniqueidentifier, UNIQUE (a));
DECLARE @i int = 0;
WHILE @i < 10 BEGIN INSERT @t (a, b) VALUES (@i * 10, CONCAT('r', @i)); SET @i += 1 END;
DELETE FROM @t WHERE id IN (1, 5, 10); DELETE FROM @t WHERE id = 99; DELETE FROM @t WHERE id = 2;
UPDATE @t SET b = b + '!' WHERE a % 40 = 20;
UPDATE @t SET u = NEWID(), a = (SELECT MAX(a) FROM @t) + 1 WHERE id = 3;
UPDATE TOP (2) @t SET a = a * 3;
SELECT id, a, b FROM @t; SELECT COUNT(u) FROM @t;
DELETE FROM @t WHERE id > 3; DELETE FROM @t WHERE id = 3; INSERT @t (a, b) VALUES (1, 'q');
SELECT id, a FROM @t
-- expect
3 | 243 | r2!
4 | 90 | r3
6 | 50 | r5
7 | 60 | r6!
8 | 70 | r7
9 | 80 | r8

1

11 | 1

-- case: a query in EXISTS may stand in more parentheses
IF EXISTS (((SELECT 1))) SELECT 'a' WHERE NOT EXISTS ((SELECT 1 WHERE 1 = 0) UNION (SELECT 2 WHERE 1 = 0))
-- expect
a

-- case: windows by name
CREATE TABLE dbo.t (a int, b varchar(3));
INSERT INTO dbo.t VALUES (1, 'x'), (2, 'x'), (3, 'y'), (NULL, 'y');
GO
SELECT a, SUM(a) OVER w AS total, ROW_NUMBER() OVER (w ORDER BY a DESC) AS place, COUNT(*) OVER (o ROWS UNBOUNDED PRECEDING) AS n
FROM dbo.t WINDOW w AS (PARTITION BY b), o AS (w ORDER BY a) ORDER BY b, a;
SELECT window.a FROM dbo.t AS window WHERE window.b = 'x' ORDER BY window.a;
-- expect
CREATE TABLE dbo.t (
    a integer,
    b varchar(3)
);

INSERT INTO dbo.t VALUES (1, 'x'), (2, 'x'), (3, 'y'), (NULL, 'y');

SELECT a, sum(a) OVER (PARTITION BY b) AS total, row_number() OVER (PARTITION BY b ORDER BY a DESC NULLS LAST) AS place, count(*) OVER (PARTITION BY b ORDER BY a NULLS FIRST ROWS UNBOUNDED PRECEDING) AS n
FROM dbo.t
ORDER BY b NULLS FIRST, a NULLS FIRST;

SELECT "window".a FROM dbo.t AS "window" WHERE "window".b = 'x' ORDER BY "window".a NULLS FIRST;
-- shows
(4 rows affected)

a    total place n
---- ----- ----- -
   1     3     2 1
   2     3     1 2
NULL     3     2 1
   3     3     1 2

(4 rows affected)

a
-
1
2

(2 rows affected)

-- case: a window that is not defined, or defined by itself
SELECT SUM(1) OVER missing;
GO
SELECT SUM(1) OVER a WINDOW a AS (b), b AS (a);
-- expect
case.sql:1:20: error: the window 'missing' is not defined
    1 | SELECT SUM(1) OVER missing;
      |                    ^^^^^^^

case.sql:3:45: error: the window 'a' refers to itself
    3 | SELECT SUM(1) OVER a WINDOW a AS (b), b AS (a);
      |                                             ^
-- shows
Msg 102, Level 15, State 1, Line 1
case.sql:1:20: error: the window 'missing' is not defined
    1 | SELECT SUM(1) OVER missing;
      |                    ^^^^^^^
Msg 102, Level 15, State 1, Line 1
case.sql:3:45: error: the window 'a' refers to itself
    3 | SELECT SUM(1) OVER a WINDOW a AS (b), b AS (a);
      |                                             ^

-- case: PERCENTILE_CONT and PERCENTILE_DISC over partitions, without NULL
CREATE TABLE dbo.t (a int, b varchar(3));
INSERT INTO dbo.t VALUES (1, 'x'), (2, 'x'), (4, 'x'), (NULL, 'x'), (7, 'y');
GO
SELECT DISTINCT b, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY a) OVER (PARTITION BY b) AS cont,
    PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY a DESC) OVER (PARTITION BY b) AS disc,
    PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY b) OVER () AS last
FROM dbo.t ORDER BY b;
-- expect
CREATE TABLE dbo.t (
    a integer,
    b varchar(3)
);

INSERT INTO dbo.t VALUES (1, 'x'), (2, 'x'), (4, 'x'), (NULL, 'x'), (7, 'y');

SELECT DISTINCT b, sys.percentile_cont(0.25, array_agg(a::double precision) FILTER (WHERE a IS NOT NULL) OVER (PARTITION BY b ORDER BY a ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) AS cont, sys.percentile_disc(0.5, array_agg(a) FILTER (WHERE a IS NOT NULL) OVER (PARTITION BY b ORDER BY a DESC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) AS disc, sys.percentile_disc(0.9, array_agg(b) FILTER (WHERE b IS NOT NULL) OVER (ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) AS last
FROM dbo.t
ORDER BY b NULLS FIRST;
-- shows
(5 rows affected)

b cont disc last
- ---- ---- ----
x  1.5    2 y
y    7    7 y

(2 rows affected)

-- case: TABLESAMPLE
CREATE TABLE dbo.t (a int);
INSERT INTO dbo.t VALUES (1), (2);
GO
SELECT COUNT(*) AS n FROM dbo.t TABLESAMPLE SYSTEM (100 PERCENT) WITH (NOLOCK);
SELECT COUNT(*) AS n FROM dbo.t AS x TABLESAMPLE (100 ROWS) REPEATABLE (3) WHERE x.a > 1;
-- expect
CREATE TABLE dbo.t (
    a integer
);

INSERT INTO dbo.t VALUES (1), (2);

SELECT count(*) AS n FROM dbo.t TABLESAMPLE SYSTEM (100::double precision);

SELECT count(*) AS n
FROM dbo.t AS x TABLESAMPLE SYSTEM (sys.percent_of_rows('dbo.t', 100::double precision)) REPEATABLE (3)
WHERE x.a > 1;
-- shows
(2 rows affected)

n
-
2

(1 row affected)

n
-
1

(1 row affected)

-- case: ODBC's escape clauses
CREATE TABLE dbo.t (a int);
INSERT INTO dbo.t VALUES (1);
GO
DECLARE @n int = {fn LENGTH('abc')}, @at datetime = {ts '2026-01-31 10:11:12'};
IF {fn MOD(@n, 2)} = 1 PRINT {fn CONCAT('odd', {fn UCASE('!x')})};
SELECT {d '2026-01-31'} AS d, {t '10:11:12'} AS t, {guid '6F9619FF-8B86-D011-B42D-00C04FC964FF'} AS g;
SELECT {fn LOCATE('b', 'abcb', 3)} AS l, {fn INSERT('abcdef', 2, 3, 'X')} AS i, {fn TRUNCATE(1.789, 1)} AS tr,
    {fn BIT_LENGTH('abc')} AS bits, {fn POSITION('b' IN 'abc')} AS p, {fn CONVERT('12', SQL_INTEGER)} + 1 AS c;
SELECT {fn DAYNAME(@at)} AS dn, {fn EXTRACT(YEAR FROM @at)} AS y, {fn TIMESTAMPADD(SQL_TSI_DAY, 1, @at)} AS later,
    {fn TIMESTAMPDIFF(SQL_TSI_MONTH, {d '2026-01-31'}, {d '2026-03-31'})} AS months;
SELECT u.a FROM {oj dbo.t LEFT OUTER JOIN dbo.t AS u ON u.a = t.a} WHERE 'a%b' LIKE 'a!%b' {escape '!'};
GO
SELECT {foo 'x'};
-- expect
case.sql:13:13: error 102: incorrect syntax near 'x'
   13 | SELECT {foo 'x'};
      |             ^^^
-- shows
(1 row affected)

odd!X
d          t               g
---------- --------------- ------------------------------------
2026-01-31 10:11:12.000000 <uuid>

(1 row affected)

l i    tr    bits p c
- ---- ----- ---- - --
4 aXef 1.700   24 2 13

(1 row affected)

dn       y    later                   months
-------- ---- ----------------------- ------
Saturday 2026 2026-02-01 10:11:12.000      2

(1 row affected)

a
-
1

(1 row affected)

Msg 102, Level 15, State 1, Line 1
case.sql:13:13: error 102: incorrect syntax near 'x'
   13 | SELECT {foo 'x'};
      |             ^^^

-- case: CRYPT_GEN_RANDOM
SELECT DATALENGTH(CRYPT_GEN_RANDOM(100)) AS n, IIF(CRYPT_GEN_RANDOM(8) = CRYPT_GEN_RANDOM(8), 'same', 'other') AS again;
-- expect
SELECT sys.datalength(sys.crypt_gen_random(100)) AS n, CASE WHEN sys.crypt_gen_random(8) = sys.crypt_gen_random(8) THEN 'same' ELSE 'other' END AS again;
-- shows
n   again
--- -----
100 other

(1 row affected)

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

SELECT a, sum(a) OVER (PARTITION BY b)::integer AS total, row_number() OVER (PARTITION BY b ORDER BY a DESC NULLS LAST) AS place, count(*) OVER (PARTITION BY b ORDER BY a NULLS FIRST ROWS UNBOUNDED PRECEDING) AS n
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

-- case: TABLESAMPLE of a queue and of a view of the system
CREATE QUEUE dbo.q;
GO
SELECT COUNT(*) AS n FROM dbo.q TABLESAMPLE (10 PERCENT);
SELECT COUNT(*) AS n FROM sys.objects AS o TABLESAMPLE (5 ROWS);
-- expect
case.sql:3:27: error 494: The TABLESAMPLE clause can only be used with local tables.
    3 | SELECT COUNT(*) AS n FROM dbo.q TABLESAMPLE (10 PERCENT);
      |                           ^^^

case.sql:4:27: error 494: The TABLESAMPLE clause can only be used with local tables.
    4 | SELECT COUNT(*) AS n FROM sys.objects AS o TABLESAMPLE (5 ROWS);
      |                           ^^^
-- shows
Msg 494, Level 16, State 1, Line 1
case.sql:3:27: error 494: The TABLESAMPLE clause can only be used with local tables.
    3 | SELECT COUNT(*) AS n FROM dbo.q TABLESAMPLE (10 PERCENT);
      |                           ^^^
Msg 494, Level 16, State 1, Line 2
case.sql:4:27: error 494: The TABLESAMPLE clause can only be used with local tables.
    4 | SELECT COUNT(*) AS n FROM sys.objects AS o TABLESAMPLE (5 ROWS);
      |                           ^^^

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
SELECT {d '2026-01-31'} AS d, CONVERT(varchar(8), {t '10:11:12'}, 108) AS t, {guid '6F9619FF-8B86-D011-B42D-00C04FC964FF'} AS g;
SELECT {fn LOCATE('b', 'abcb', 3)} AS l, {fn INSERT('abcdef', 2, 3, 'X')} AS i, {fn TRUNCATE(1.789, 1)} AS tr,
    {fn BIT_LENGTH('abc')} AS bits, {fn POSITION('b' IN 'abc')} AS p, {fn CONVERT('12', SQL_INTEGER)} + 1 AS c;
SELECT {fn DAYNAME(@at)} AS dn, {fn EXTRACT(YEAR FROM @at)} AS y, {fn TIMESTAMPADD(SQL_TSI_DAY, 1, @at)} AS later,
    {fn TIMESTAMPDIFF(SQL_TSI_MONTH, {d '2026-01-31'}, {d '2026-03-31'})} AS months;
SELECT u.a FROM {oj dbo.t LEFT OUTER JOIN dbo.t AS u ON u.a = t.a} WHERE 'a%b' LIKE 'a!%b' {escape '!'};
GO
SELECT {foo 'x'};
-- expect
case.sql:13:13: error 102: Incorrect syntax near 'x'.
   13 | SELECT {foo 'x'};
      |             ^^^
hint: something is missing before 'x', a comma or an operator maybe
-- shows
(1 row affected)

odd!X
d                       t        g
----------------------- -------- ------------------------------------
2026-01-31 00:00:00.000 10:11:12 <uuid>

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
case.sql:13:13: error 102: Incorrect syntax near 'x'.
   13 | SELECT {foo 'x'};
      |             ^^^
hint: something is missing before 'x', a comma or an operator maybe

-- case: CRYPT_GEN_RANDOM
SELECT DATALENGTH(CRYPT_GEN_RANDOM(100)) AS n, IIF(CRYPT_GEN_RANDOM(8) = CRYPT_GEN_RANDOM(8), 'same', 'other') AS again;
-- expect
SELECT sys.datalength(sys.crypt_gen_random(100)) AS n, CASE WHEN rtrim(sys.crypt_gen_random(8), '\x00') = rtrim(sys.crypt_gen_random(8), '\x00') THEN 'same' ELSE 'other' END AS again;
-- shows
n   again
--- -----
100 other

(1 row affected)

-- case: MERGE … OUTPUT inserted.* and deleted.* of a table that the script does not make
EXEC ('CREATE TABLE dbo.z (a int PRIMARY KEY, b varchar(5)); INSERT dbo.z VALUES (1, ''x''), (2, ''y'')');
CREATE TABLE dbo.kept (act varchar(10), a1 int, b1 varchar(5), a2 int, b2 varchar(5));
GO
MERGE dbo.z USING (SELECT 2 AS a UNION ALL SELECT 3) AS s ON z.a = s.a
WHEN MATCHED THEN UPDATE SET b = 'Y' WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, 'n') WHEN NOT MATCHED BY SOURCE THEN DELETE
OUTPUT $action, inserted.*, deleted.*;
GO
MERGE dbo.z AS t USING (SELECT 2 AS a UNION ALL SELECT 4) AS s ON t.a = s.a
WHEN MATCHED THEN UPDATE SET b = 'Z' WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, 'n')
OUTPUT $action, inserted.*, deleted.* INTO dbo.kept;
SELECT * FROM dbo.kept ORDER BY a1;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        caller ssb.session;
    BEGIN
        caller := session;
        session := ssb_internal.enter_string(session);
        <<string_1>>
        BEGIN
            BEGIN
                CREATE TABLE dbo.z (
                    a integer PRIMARY KEY,
                    b varchar(5)
                );
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, ''); EXIT string_1 WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            BEGIN
                INSERT INTO dbo.z VALUES (1, 'x'), (2, 'y');
                IF session.tells_identity THEN session.identity := ssb_internal.identity_told('dbo.z', false, NULL); END IF;
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                PERFORM ssb_internal.show_count(session);
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT string_1 WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END string_1;
        session := ssb_internal.leave(session, caller);
        EXIT batch WHEN session.leaving;
        BEGIN
            CREATE TABLE dbo.kept (
                act varchar(10),
                a1 integer,
                b1 varchar(5),
                a2 integer,
                b2 varchar(5)
            );
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, ''); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

SELECT ssb_internal.refuse_output('dbo.z', ARRAY['DELETE', 'INSERT', 'UPDATE']);

WITH s AS (SELECT 2 AS a UNION ALL SELECT 3),
twice AS (SELECT ssb_internal.matched_twice()
          FROM dbo.z AS z, s
          WHERE z.a = s.a
          GROUP BY z.ctid HAVING count(*) > 1),
updated AS (UPDATE dbo.z AS z
            SET b = 'Y'
            FROM s, (SELECT old.*::dbo.z AS deleted FROM dbo.z AS old) AS old_row
            WHERE (old_row.deleted).a = z.a AND z.a = s.a
            RETURNING 'UPDATE'::text AS c1, z.a AS c2, z.b AS c3, (old_row.deleted).a AS c4, (old_row.deleted).b AS c5),
inserted AS (INSERT INTO dbo.z (a, b)
             SELECT s.a, 'n'
             FROM s
             WHERE NOT EXISTS (SELECT FROM dbo.z AS z WHERE z.a = s.a)
             RETURNING 'INSERT'::text AS c1, a AS c2, b AS c3, NULL::integer AS c4, NULL::varchar(5) AS c5),
deleted AS (DELETE FROM dbo.z AS z
            WHERE NOT EXISTS (SELECT FROM s WHERE z.a = s.a)
            RETURNING 'DELETE'::text AS c1, NULL::integer AS c2, NULL::varchar(5) AS c3, z.a AS c4, z.b AS c5)
SELECT c1 AS "$action", c2 AS a, c3 AS b, c4 AS a, c5 AS b
FROM (SELECT * FROM updated UNION ALL SELECT * FROM inserted UNION ALL SELECT * FROM deleted) AS changed
WHERE NOT EXISTS (SELECT FROM twice);

WITH s AS (SELECT 2 AS a UNION ALL SELECT 4),
twice AS (SELECT ssb_internal.matched_twice()
          FROM dbo.z AS t, s
          WHERE t.a = s.a
          GROUP BY t.ctid HAVING count(*) > 1),
updated AS (UPDATE dbo.z AS t
            SET b = 'Z'
            FROM s, (SELECT old.*::dbo.z AS deleted FROM dbo.z AS old) AS old_row
            WHERE (old_row.deleted).a = t.a AND t.a = s.a
            RETURNING 'UPDATE'::text AS c1, t.a AS c2, t.b AS c3, (old_row.deleted).a AS c4, (old_row.deleted).b AS c5),
inserted AS (INSERT INTO dbo.z (a, b)
             SELECT s.a, 'n'
             FROM s
             WHERE NOT EXISTS (SELECT FROM dbo.z AS t WHERE t.a = s.a)
             RETURNING 'INSERT'::text AS c1, a AS c2, b AS c3, NULL::integer AS c4, NULL::varchar(5) AS c5)
INSERT INTO dbo.kept (act, a1, b1, a2, b2)
SELECT c1, c2, c3, c4, c5 FROM (SELECT * FROM updated UNION ALL SELECT * FROM inserted) AS changed
WHERE NOT EXISTS (SELECT FROM twice);

SELECT * FROM dbo.kept ORDER BY a1 NULLS FIRST;
-- shows
(2 rows affected)

$action a    b    a    b
------- ---- ---- ---- ----
UPDATE     2 Y       2 y
INSERT     3 n    NULL NULL
DELETE  NULL NULL    1 x

(3 rows affected)

(2 rows affected)

act    a1 b1 a2   b2
------ -- -- ---- ----
UPDATE  2 Z     2 Y
INSERT  4 n  NULL NULL

(2 rows affected)

-- case: TOP (n) PERCENT WITH TIES takes the peers of the last row
CREATE TABLE dbo.t (a int, b int);
INSERT dbo.t VALUES (1, 1), (2, 1), (3, 2), (4, 2), (5, 2);
GO
SELECT TOP (50) PERCENT WITH TIES a FROM dbo.t ORDER BY b;
SELECT TOP (25) PERCENT WITH TIES b, COUNT(*) AS n FROM dbo.t GROUP BY b ORDER BY b DESC;
-- expect
CREATE TABLE dbo.t (
    a integer,
    b integer
);

INSERT INTO dbo.t VALUES (1, 1), (2, 1), (3, 2), (4, 2), (5, 2);

SELECT a
FROM dbo.t
ORDER BY b NULLS FIRST
FETCH FIRST ((SELECT ceil(count(*) * (50) / 100.0)::bigint
              FROM (SELECT a FROM dbo.t) AS counted)) ROWS WITH TIES;

SELECT b, count(*) AS n
FROM dbo.t
GROUP BY b
ORDER BY b DESC NULLS LAST
FETCH FIRST ((SELECT ceil(count(*) * (25) / 100.0)::bigint
              FROM (SELECT b, count(*) AS n FROM dbo.t GROUP BY b) AS counted)) ROWS WITH TIES;
-- shows
(5 rows affected)

a
-
1
2
3
4
5

(5 rows affected)

b n
- -
2 3

(1 row affected)

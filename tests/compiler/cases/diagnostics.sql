-- case: an undeclared variable behind FETCH … INTO is a scalar one, behind INSERT INTO a table
DECLARE c CURSOR FOR SELECT 1;
FETCH NEXT FROM c INTO @missing;
GO
EXECUTE AS CALLER WITH COOKIE INTO @missing;
GO
INSERT INTO @missing VALUES (1);
-- expect
case.sql:2:24: error 137: Must declare the scalar variable "@missing".
    2 | FETCH NEXT FROM c INTO @missing;
      |                        ^^^^^^^^

case.sql:4:36: error 137: Must declare the scalar variable "@missing".
    4 | EXECUTE AS CALLER WITH COOKIE INTO @missing;
      |                                    ^^^^^^^^

case.sql:6:13: error 1087: Must declare the table variable "@missing".
    6 | INSERT INTO @missing VALUES (1);
      |             ^^^^^^^^
-- shows
Msg 137, Level 15, State 2, Line 2
case.sql:2:24: error 137: Must declare the scalar variable "@missing".
    2 | FETCH NEXT FROM c INTO @missing;
      |                        ^^^^^^^^
Msg 137, Level 15, State 2, Line 1
case.sql:4:36: error 137: Must declare the scalar variable "@missing".
    4 | EXECUTE AS CALLER WITH COOKIE INTO @missing;
      |                                    ^^^^^^^^
Msg 1087, Level 15, State 2, Line 1
case.sql:6:13: error 1087: Must declare the table variable "@missing".
    6 | INSERT INTO @missing VALUES (1);
      |             ^^^^^^^^

-- case: options of a database that exclude each other, and collations of columns that there are not
ALTER DATABASE d SET SINGLE_USER, RECOVERY SIMPLE, MULTI_USER WITH ROLLBACK IMMEDIATE
GO
CREATE TABLE t (a varchar(9) COLLATE No_Such, b varchar(9) COLLATE Latin1_General_100_BIN2_UTF8)
GO
CREATE TABLE t (a varchar(9))
ALTER TABLE t ALTER COLUMN a varchar(8) COLLATE No_Such
-- expect
case.sql:1:52: error 5062: The option "MULTI_USER" conflicts with another requested option. The options cannot both be requested at the same time.
    1 | ALTER DATABASE d SET SINGLE_USER, RECOVERY SIMPLE, MULTI_USER WITH ROLLBACK IMMEDIATE
      |                                                    ^^^^^^^^^^

case.sql:3:38: error 448: Invalid collation 'No_Such'.
    3 | CREATE TABLE t (a varchar(9) COLLATE No_Such, b varchar(9) COLLATE Latin1_General_100_BIN2_UTF8)
      |                                      ^^^^^^^

case.sql:6:49: error 448: Invalid collation 'No_Such'.
    6 | ALTER TABLE t ALTER COLUMN a varchar(8) COLLATE No_Such
      |                                                 ^^^^^^^
-- shows
Msg 5062, Level 16, State 1, Line 1
case.sql:1:52: error 5062: The option "MULTI_USER" conflicts with another requested option. The options cannot both be requested at the same time.
    1 | ALTER DATABASE d SET SINGLE_USER, RECOVERY SIMPLE, MULTI_USER WITH ROLLBACK IMMEDIATE
      |                                                    ^^^^^^^^^^
Msg 448, Level 16, State 1, Line 1
case.sql:3:38: error 448: Invalid collation 'No_Such'.
    3 | CREATE TABLE t (a varchar(9) COLLATE No_Such, b varchar(9) COLLATE Latin1_General_100_BIN2_UTF8)
      |                                      ^^^^^^^
Msg 448, Level 16, State 1, Line 2
case.sql:6:49: error 448: Invalid collation 'No_Such'.
    6 | ALTER TABLE t ALTER COLUMN a varchar(8) COLLATE No_Such
      |                                                 ^^^^^^^

-- case: uniqueidentifier and int do not meet
DECLARE @u uniqueidentifier = NEWID();
SELECT @u + 1;
GO
SELECT NEWID() - NEWID();
GO
DECLARE @u uniqueidentifier = NEWID(), @i int;
SET @i = @u;
PRINT @@ERROR;
-- expect
case.sql:2:1: error 206: Operand type clash: uniqueidentifier is incompatible with int
    2 | SELECT @u + 1;
      | ^^^^^^^^^^^^^

case.sql:4:8: error 402: The data types uniqueidentifier and uniqueidentifier are incompatible in the subtract operator.
    4 | SELECT NEWID() - NEWID();
      |        ^^^^^

case.sql:7:10: error 206: Operand type clash: uniqueidentifier is incompatible with int
    7 | SET @i = @u;
      |          ^^
-- shows
Msg 206, Level 16, State 2, Line 2
case.sql:2:1: error 206: Operand type clash: uniqueidentifier is incompatible with int
    2 | SELECT @u + 1;
      | ^^^^^^^^^^^^^
Msg 402, Level 16, State 1, Line 1
case.sql:4:8: error 402: The data types uniqueidentifier and uniqueidentifier are incompatible in the subtract operator.
    4 | SELECT NEWID() - NEWID();
      |        ^^^^^
Msg 206, Level 16, State 2, Line 2
case.sql:7:10: error 206: Operand type clash: uniqueidentifier is incompatible with int
    7 | SET @i = @u;
      |          ^^

-- case: a table that is not there: ALTER TABLE says 4902
ALTER TABLE dbo.missing ADD a int;
GO
IF 1 = 1 ALTER TABLE dbo.missing DROP COLUMN a;
GO
ALTER TABLE dbo.missing NOCHECK CONSTRAINT ALL;
GO
SELECT * FROM dbo.missing;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

ALTER TABLE dbo.missing ADD COLUMN a integer;

PERFORM ssb_internal.follow_table('dbo.missing');

PERFORM ssb_internal.note_updates('dbo.missing');

END;
$whole$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        IF 1 = 1 THEN
            BEGIN
                PERFORM ssb_internal.refuse_dependants('dbo.missing', ARRAY['a']::text[]);
                ALTER TABLE dbo.missing DROP COLUMN a;
                PERFORM ssb_internal.follow_table('dbo.missing');
                PERFORM ssb_internal.bind_views(true);
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'ALTER TABLE DROP COLUMN: missing');
                EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

SELECT ssb_internal.switch_constraints('dbo.missing', NULL, false, false);

SELECT * FROM dbo.missing;
-- shows
Msg 4902, Level 16, State 1, Line 1
Cannot find the object "dbo.missing" because it does not exist or you do not have permissions.
Msg 4902, Level 16, State 1, Line 1
Cannot find the object "dbo.missing" because it does not exist or you do not have permissions.
Msg 4902, Level 16, State 1, Line 1
Cannot find the object "dbo.missing" because it does not exist or you do not have permissions.
Msg 208, Level 16, State 1, Line 1
Invalid object name 'dbo.missing'.

-- case: COLLATE in comparisons, LIKE, IN and ORDER BY
CREATE TABLE dbo.t (n nvarchar(20));
INSERT INTO dbo.t VALUES (N'a'), (N'A'), (N'ä'), (N'b'), (N'E'), (N'é');
GO
SELECT n AS ci FROM dbo.t WHERE n = 'A' COLLATE Latin1_General_CI_AS;
SELECT n AS cs FROM dbo.t WHERE n COLLATE Latin1_General_CS_AS = 'A';
SELECT n AS bin FROM dbo.t WHERE n = 'a' COLLATE Latin1_General_BIN;
SELECT n AS ci_ai FROM dbo.t WHERE n = N'Ä' COLLATE Latin1_General_CI_AI ORDER BY n COLLATE Latin1_General_BIN2;
SELECT n AS cs_ai FROM dbo.t WHERE n COLLATE Latin1_General_CS_AI LIKE 'e%';
SELECT n AS many FROM dbo.t WHERE n IN ('A' COLLATE Latin1_General_CI_AS, 'B');
SELECT n AS found FROM dbo.t WHERE n COLLATE Latin1_General_CI_AI IN (SELECT N'Ä' UNION SELECT N'B');
SELECT n AS ordered FROM dbo.t ORDER BY n COLLATE Latin1_General_CI_AI, n COLLATE Latin1_General_BIN2;
GO
SELECT n COLLATE No_Such_CI_AS FROM dbo.t;
-- expect
case.sql:13:8: error 448: Invalid collation 'No_Such_CI_AS'.
   13 | SELECT n COLLATE No_Such_CI_AS FROM dbo.t;
      |        ^
-- shows
(6 rows affected)

ci
--
a
A

(2 rows affected)

cs
--
A

(1 row affected)

bin
---
a

(1 row affected)

ci_ai
-----
A
a
ä

(3 rows affected)

cs_ai
-----
é

(1 row affected)

many
----
a
A
b

(3 rows affected)

found
-----
a
A
ä
b

(4 rows affected)

ordered
-------
A
a
ä
b
E
é

(6 rows affected)

Msg 448, Level 16, State 1, Line 1
case.sql:13:8: error 448: Invalid collation 'No_Such_CI_AS'.
   13 | SELECT n COLLATE No_Such_CI_AS FROM dbo.t;
      |        ^

-- case: RECEIVE, SEND and MOVE behind a column or table that has no alias are one
SELECT a FROM t RECEIVE * FROM q
GO
SELECT CASE WHEN 1 = 1 THEN 2 END RECEIVE TOP (1) * FROM q
GO
INSERT INTO t SELECT TOP 1 a, (b) FROM u, (SELECT 1 AS c) AS x, v SEND ON CONVERSATION 'x'
GO
SELECT 1
MOVE CONVERSATION @h TO @g
-- expect
case.sql:1:25: error 102: Incorrect syntax near '*'.
    1 | SELECT a FROM t RECEIVE * FROM q
      |                         ^
hint: write a semicolon before RECEIVE: here it is an alias

case.sql:3:43: error 156: Incorrect syntax near the keyword 'TOP'.
    3 | SELECT CASE WHEN 1 = 1 THEN 2 END RECEIVE TOP (1) * FROM q
      |                                           ^^^
hint: write a semicolon before RECEIVE: here it is an alias

case.sql:5:72: error 156: Incorrect syntax near the keyword 'ON'.
    5 | INSERT INTO t SELECT TOP 1 a, (b) FROM u, (SELECT 1 AS c) AS x, v SEND ON CONVERSATION 'x'
      |                                                                        ^^
hint: write a semicolon before SEND: here it is an alias

case.sql:8:6: error 102: Incorrect syntax near 'CONVERSATION'.
    8 | MOVE CONVERSATION @h TO @g
      |      ^^^^^^^^^^^^
hint: write a semicolon before MOVE: here it is an alias
-- shows
Msg 102, Level 15, State 1, Line 1
case.sql:1:25: error 102: Incorrect syntax near '*'.
    1 | SELECT a FROM t RECEIVE * FROM q
      |                         ^
hint: write a semicolon before RECEIVE: here it is an alias
Msg 156, Level 15, State 1, Line 1
case.sql:3:43: error 156: Incorrect syntax near the keyword 'TOP'.
    3 | SELECT CASE WHEN 1 = 1 THEN 2 END RECEIVE TOP (1) * FROM q
      |                                           ^^^
hint: write a semicolon before RECEIVE: here it is an alias
Msg 156, Level 15, State 1, Line 1
case.sql:5:72: error 156: Incorrect syntax near the keyword 'ON'.
    5 | INSERT INTO t SELECT TOP 1 a, (b) FROM u, (SELECT 1 AS c) AS x, v SEND ON CONVERSATION 'x'
      |                                                                        ^^
hint: write a semicolon before SEND: here it is an alias
Msg 102, Level 15, State 1, Line 2
case.sql:8:6: error 102: Incorrect syntax near 'CONVERSATION'.
    8 | MOVE CONVERSATION @h TO @g
      |      ^^^^^^^^^^^^
hint: write a semicolon before MOVE: here it is an alias

-- case: a number behind a dot that follows no name
SELECT POWER(1, ..5)
-- expect
case.sql:1:18: error 102: Incorrect syntax near '.5'.
    1 | SELECT POWER(1, ..5)
      |                  ^^
hint: something is missing after '.'
-- shows
Msg 102, Level 15, State 1, Line 1
case.sql:1:18: error 102: Incorrect syntax near '.5'.
    1 | SELECT POWER(1, ..5)
      |                  ^^
hint: something is missing after '.'

-- case: FOR XML makes no attribute twice on one tag
CREATE TABLE dbo.t (a int, b int);
CREATE TABLE dbo.u (a int);
GO
SELECT 1 AS x, 2 AS y, 3 AS x FOR XML RAW
GO
SELECT t.a, t.b AS a FROM dbo.t FOR XML AUTO
GO
SELECT *, a FROM dbo.t FOR XML RAW ('r')
GO
SELECT 1 AS [@k], 2 AS [e/@k], 3 AS [e/@k] FOR XML PATH
GO
SELECT 1 AS x, 2 AS X FOR XML RAW
SELECT 1 AS x, 2 AS x FOR XML RAW, ELEMENTS
SELECT t.a, u.a FROM dbo.t JOIN dbo.u ON t.a = u.a FOR XML AUTO
SELECT t.a, t.a FROM dbo.t FOR XML AUTO, ELEMENTS
SELECT 1 AS [e/@k], 2 AS f, 3 AS [e/@k] FOR XML PATH
-- expect
case.sql:4:24: error 6810: Column name 'x' is repeated. The same attribute cannot be generated more than once on the same XML tag.
    4 | SELECT 1 AS x, 2 AS y, 3 AS x FOR XML RAW
      |                        ^

case.sql:6:13: error 6810: Column name 'a' is repeated. The same attribute cannot be generated more than once on the same XML tag.
    6 | SELECT t.a, t.b AS a FROM dbo.t FOR XML AUTO
      |             ^

case.sql:8:11: error 6810: Column name 'a' is repeated. The same attribute cannot be generated more than once on the same XML tag.
    8 | SELECT *, a FROM dbo.t FOR XML RAW ('r')
      |           ^

case.sql:10:32: error 6810: Column name 'e/@k' is repeated. The same attribute cannot be generated more than once on the same XML tag.
   10 | SELECT 1 AS [@k], 2 AS [e/@k], 3 AS [e/@k] FOR XML PATH
      |                                ^
-- shows
Msg 6810, Level 16, State 1, Line 1
case.sql:4:24: error 6810: Column name 'x' is repeated. The same attribute cannot be generated more than once on the same XML tag.
    4 | SELECT 1 AS x, 2 AS y, 3 AS x FOR XML RAW
      |                        ^
Msg 6810, Level 16, State 1, Line 1
case.sql:6:13: error 6810: Column name 'a' is repeated. The same attribute cannot be generated more than once on the same XML tag.
    6 | SELECT t.a, t.b AS a FROM dbo.t FOR XML AUTO
      |             ^
Msg 6810, Level 16, State 1, Line 1
case.sql:8:11: error 6810: Column name 'a' is repeated. The same attribute cannot be generated more than once on the same XML tag.
    8 | SELECT *, a FROM dbo.t FOR XML RAW ('r')
      |           ^
Msg 6810, Level 16, State 1, Line 1
case.sql:10:32: error 6810: Column name 'e/@k' is repeated. The same attribute cannot be generated more than once on the same XML tag.
   10 | SELECT 1 AS [@k], 2 AS [e/@k], 3 AS [e/@k] FOR XML PATH
      |                                ^
XML_<uuid>
----------------------------------------
<row x="1" X="2"/>

(1 row affected)

XML_<uuid>
----------------------------------------
<row><x>1</x><x>2</x></row>

(1 row affected)

XML_<uuid>
----------------------------------------

(0 rows affected)

XML_<uuid>
----------------------------------------

(0 rows affected)

XML_<uuid>
----------------------------------------
<row><e k="1"/><f>2</f><e k="3"/></row>

(1 row affected)

-- case: a lock timeout is an int
SET LOCK_TIMEOUT 2147483648
GO
SET LOCK_TIMEOUT 2147483647
-- expect
case.sql:1:18: error 102: Incorrect syntax near '2147483648'.
    1 | SET LOCK_TIMEOUT 2147483648
      |                  ^^^^^^^^^^
hint: milliseconds, up to 2147483647
-- shows
Msg 102, Level 15, State 1, Line 1
case.sql:1:18: error 102: Incorrect syntax near '2147483648'.
    1 | SET LOCK_TIMEOUT 2147483648
      |                  ^^^^^^^^^^
hint: milliseconds, up to 2147483647

-- case: RECEIVE computes nothing from many messages
RECEIVE COUNT(*) FROM q;
GO
DECLARE @n BIGINT, @m BIGINT;
RECEIVE @n = queuing_order, @m = 1 + MAX(queuing_order) FROM q;
GO
DECLARE @t TABLE (a BIGINT);
WAITFOR (RECEIVE ROW_NUMBER() OVER (ORDER BY queuing_order) FROM q INTO @t), TIMEOUT 10;
-- expect
case.sql:1:9: error 4142: Aggregates are not allowed in the RECEIVE list.
    1 | RECEIVE COUNT(*) FROM q;
      |         ^^^^^^^^
hint: RECEIVE … INTO a table variable, and SELECT from that

case.sql:4:34: error 4142: Aggregates are not allowed in the RECEIVE list.
    4 | RECEIVE @n = queuing_order, @m = 1 + MAX(queuing_order) FROM q;
      |                                  ^^^^^^^^^^^^^^^^^^^^^^
hint: RECEIVE … INTO a table variable, and SELECT from that

case.sql:7:18: error 4142: Aggregates are not allowed in the RECEIVE list.
    7 | WAITFOR (RECEIVE ROW_NUMBER() OVER (ORDER BY queuing_order) FROM q INTO @t), TIMEOUT 10;
      |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: RECEIVE … INTO a table variable, and SELECT from that
-- shows
Msg 4142, Level 16, State 1, Line 1
case.sql:1:9: error 4142: Aggregates are not allowed in the RECEIVE list.
    1 | RECEIVE COUNT(*) FROM q;
      |         ^^^^^^^^
hint: RECEIVE … INTO a table variable, and SELECT from that
Msg 4142, Level 16, State 1, Line 2
case.sql:4:34: error 4142: Aggregates are not allowed in the RECEIVE list.
    4 | RECEIVE @n = queuing_order, @m = 1 + MAX(queuing_order) FROM q;
      |                                  ^^^^^^^^^^^^^^^^^^^^^^
hint: RECEIVE … INTO a table variable, and SELECT from that
Msg 4142, Level 16, State 1, Line 2
case.sql:7:18: error 4142: Aggregates are not allowed in the RECEIVE list.
    7 | WAITFOR (RECEIVE ROW_NUMBER() OVER (ORDER BY queuing_order) FROM q INTO @t), TIMEOUT 10;
      |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: RECEIVE … INTO a table variable, and SELECT from that

-- case: SEND and RECEIVE are no permissions of a database
GRANT SEND TO ann;
DENY RECEIVE ON DATABASE::orders TO ann;
REVOKE VIEW DEFINITION, SEND FROM ann;
-- expect
case.sql:1:7: error 102: Incorrect syntax near 'SEND'.
    1 | GRANT SEND TO ann;
      |       ^^^^
hint: a database has no such permission: write SEND ON SERVICE::name

case.sql:2:6: error 102: Incorrect syntax near 'RECEIVE'.
    2 | DENY RECEIVE ON DATABASE::orders TO ann;
      |      ^^^^^^^
hint: a database has no such permission: write RECEIVE ON the queue

case.sql:3:25: error 102: Incorrect syntax near 'SEND'.
    3 | REVOKE VIEW DEFINITION, SEND FROM ann;
      |                         ^^^^
hint: a database has no such permission: write SEND ON SERVICE::name
-- shows
Msg 102, Level 15, State 1, Line 1
case.sql:1:7: error 102: Incorrect syntax near 'SEND'.
    1 | GRANT SEND TO ann;
      |       ^^^^
hint: a database has no such permission: write SEND ON SERVICE::name
Msg 102, Level 15, State 1, Line 2
case.sql:2:6: error 102: Incorrect syntax near 'RECEIVE'.
    2 | DENY RECEIVE ON DATABASE::orders TO ann;
      |      ^^^^^^^
hint: a database has no such permission: write RECEIVE ON the queue
Msg 102, Level 15, State 1, Line 3
case.sql:3:25: error 102: Incorrect syntax near 'SEND'.
    3 | REVOKE VIEW DEFINITION, SEND FROM ann;
      |                         ^^^^
hint: a database has no such permission: write SEND ON SERVICE::name

-- case: a permission's words are those of one that there is
GRANT VIEW DEFINITON TO ann;
DENY CONTROL DATABASE TO ann;
GRANT ALTER SERVICE ON SCHEMA::dbo TO ann;
REVOKE CREATE TABEL FROM ann;
GRANT ALTER ANY SERVICE, VIEW SERVER STATE, TAKE OWNERSHIP, CREATE DDL EVENT NOTIFICATION TO ann;
-- expect
case.sql:1:7: error 102: Incorrect syntax near 'DEFINITON'.
    1 | GRANT VIEW DEFINITON TO ann;
      |       ^^^^^^^^^^^^^^
hint: no permission is called VIEW DEFINITON

case.sql:2:6: error 102: Incorrect syntax near 'DATABASE'.
    2 | DENY CONTROL DATABASE TO ann;
      |      ^^^^^^^^^^^^^^^^
hint: no permission is called CONTROL DATABASE

case.sql:3:7: error 102: Incorrect syntax near 'SERVICE'.
    3 | GRANT ALTER SERVICE ON SCHEMA::dbo TO ann;
      |       ^^^^^^^^^^^^^
hint: no permission is called ALTER SERVICE

case.sql:4:8: error 102: Incorrect syntax near 'TABEL'.
    4 | REVOKE CREATE TABEL FROM ann;
      |        ^^^^^^^^^^^^
hint: expected what can be created, such as QUEUE, SERVICE or CONTRACT
-- shows
Msg 102, Level 15, State 1, Line 1
case.sql:1:7: error 102: Incorrect syntax near 'DEFINITON'.
    1 | GRANT VIEW DEFINITON TO ann;
      |       ^^^^^^^^^^^^^^
hint: no permission is called VIEW DEFINITON
Msg 102, Level 15, State 1, Line 2
case.sql:2:6: error 102: Incorrect syntax near 'DATABASE'.
    2 | DENY CONTROL DATABASE TO ann;
      |      ^^^^^^^^^^^^^^^^
hint: no permission is called CONTROL DATABASE
Msg 102, Level 15, State 1, Line 3
case.sql:3:7: error 102: Incorrect syntax near 'SERVICE'.
    3 | GRANT ALTER SERVICE ON SCHEMA::dbo TO ann;
      |       ^^^^^^^^^^^^^
hint: no permission is called ALTER SERVICE
Msg 102, Level 15, State 1, Line 4
case.sql:4:8: error 102: Incorrect syntax near 'TABEL'.
    4 | REVOKE CREATE TABEL FROM ann;
      |        ^^^^^^^^^^^^
hint: expected what can be created, such as QUEUE, SERVICE or CONTRACT

-- case: PostgreSQL keeps schemas that begin with pg_ for itself
CREATE DATABASE pg_shop;
GO
CREATE SCHEMA [PG_sales];
GO
ALTER DATABASE Shop MODIFY NAME = pg_shop;
-- expect
case.sql:1:17: error 2760: The specified schema name "pg_shop" either does not exist or you do not have permission to use it.
    1 | CREATE DATABASE pg_shop;
      |                 ^^^^^^^
hint: PostgreSQL keeps names of schemas that begin with pg_ for itself: take another name

case.sql:3:15: error 2760: The specified schema name "PG_sales" either does not exist or you do not have permission to use it.
    3 | CREATE SCHEMA [PG_sales];
      |               ^^^^^^^^^^
hint: PostgreSQL keeps names of schemas that begin with pg_ for itself: take another name

case.sql:5:35: error 2760: The specified schema name "pg_shop" either does not exist or you do not have permission to use it.
    5 | ALTER DATABASE Shop MODIFY NAME = pg_shop;
      |                                   ^^^^^^^
hint: PostgreSQL keeps names of schemas that begin with pg_ for itself: take another name
-- shows
Msg 2760, Level 16, State 1, Line 1
case.sql:1:17: error 2760: The specified schema name "pg_shop" either does not exist or you do not have permission to use it.
    1 | CREATE DATABASE pg_shop;
      |                 ^^^^^^^
hint: PostgreSQL keeps names of schemas that begin with pg_ for itself: take another name
Msg 2760, Level 16, State 1, Line 1
case.sql:3:15: error 2760: The specified schema name "PG_sales" either does not exist or you do not have permission to use it.
    3 | CREATE SCHEMA [PG_sales];
      |               ^^^^^^^^^^
hint: PostgreSQL keeps names of schemas that begin with pg_ for itself: take another name
Msg 2760, Level 16, State 1, Line 1
case.sql:5:35: error 2760: The specified schema name "pg_shop" either does not exist or you do not have permission to use it.
    5 | ALTER DATABASE Shop MODIFY NAME = pg_shop;
      |                                   ^^^^^^^
hint: PostgreSQL keeps names of schemas that begin with pg_ for itself: take another name

-- case: an unknown type is told with the place of what has it
CREATE PROCEDURE p @a int, @b nosuch AS RETURN
GO
DECLARE @x int, @y int, @z nosuch
GO
CREATE TABLE t (a int, b nosuch)
-- expect
case.sql:1:31: error 2715: Column, parameter, or variable #2: Cannot find data type nosuch.
    1 | CREATE PROCEDURE p @a int, @b nosuch AS RETURN
      |                               ^^^^^^

case.sql:3:28: error 2715: Column, parameter, or variable #3: Cannot find data type nosuch.
    3 | DECLARE @x int, @y int, @z nosuch
      |                            ^^^^^^

case.sql:5:26: error 2715: Column, parameter, or variable #2: Cannot find data type nosuch.
    5 | CREATE TABLE t (a int, b nosuch)
      |                          ^^^^^^
-- shows
Msg 2715, Level 16, State 1, Procedure p, Line 1
case.sql:1:31: error 2715: Column, parameter, or variable #2: Cannot find data type nosuch.
    1 | CREATE PROCEDURE p @a int, @b nosuch AS RETURN
      |                               ^^^^^^
Msg 2715, Level 16, State 1, Line 1
case.sql:3:28: error 2715: Column, parameter, or variable #3: Cannot find data type nosuch.
    3 | DECLARE @x int, @y int, @z nosuch
      |                            ^^^^^^
Msg 2715, Level 16, State 1, Line 1
case.sql:5:26: error 2715: Column, parameter, or variable #2: Cannot find data type nosuch.
    5 | CREATE TABLE t (a int, b nosuch)
      |                          ^^^^^^

-- case: a transaction is not named by a number, and a mark has a name
DECLARE @n int = 1;
BEGIN TRAN @n;
SAVE TRAN @n;
ROLLBACK TRAN @n;
GO
BEGIN TRAN WITH MARK 'why';
-- expect
case.sql:2:12: error 3914: The data type "int" is invalid for transaction names or savepoint names. Allowed data types are char, varchar, nchar, varchar(max), nvarchar, and nvarchar(max).
    2 | BEGIN TRAN @n;
      |            ^^

case.sql:3:11: error 3914: The data type "int" is invalid for transaction names or savepoint names. Allowed data types are char, varchar, nchar, varchar(max), nvarchar, and nvarchar(max).
    3 | SAVE TRAN @n;
      |           ^^

case.sql:4:15: error 3914: The data type "int" is invalid for transaction names or savepoint names. Allowed data types are char, varchar, nchar, varchar(max), nvarchar, and nvarchar(max).
    4 | ROLLBACK TRAN @n;
      |               ^^

case.sql:6:1: error 3901: The transaction name must be specified when it is used with the mark option.
    6 | BEGIN TRAN WITH MARK 'why';
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^
-- shows
Msg 3914, Level 16, State 1, Line 2
case.sql:2:12: error 3914: The data type "int" is invalid for transaction names or savepoint names. Allowed data types are char, varchar, nchar, varchar(max), nvarchar, and nvarchar(max).
    2 | BEGIN TRAN @n;
      |            ^^
Msg 3914, Level 16, State 1, Line 3
case.sql:3:11: error 3914: The data type "int" is invalid for transaction names or savepoint names. Allowed data types are char, varchar, nchar, varchar(max), nvarchar, and nvarchar(max).
    3 | SAVE TRAN @n;
      |           ^^
Msg 3914, Level 16, State 1, Line 4
case.sql:4:15: error 3914: The data type "int" is invalid for transaction names or savepoint names. Allowed data types are char, varchar, nchar, varchar(max), nvarchar, and nvarchar(max).
    4 | ROLLBACK TRAN @n;
      |               ^^
Msg 3901, Level 16, State 1, Line 1
case.sql:6:1: error 3901: The transaction name must be specified when it is used with the mark option.
    6 | BEGIN TRAN WITH MARK 'why';
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: a method that no type has
DECLARE @x xml = '<a/>', @i int = 1;
SELECT @x.values('/a');
SELECT @i.values('/a');
-- expect
case.sql:2:11: error 227: "values" is not a valid function, property, or field.
    2 | SELECT @x.values('/a');
      |           ^^^^^^
hint: did you mean 'value'?

case.sql:3:11: error 258: Cannot call methods on int.
    3 | SELECT @i.values('/a');
      |           ^^^^^^
-- shows
Msg 227, Level 15, State 1, Line 2
case.sql:2:11: error 227: "values" is not a valid function, property, or field.
    2 | SELECT @x.values('/a');
      |           ^^^^^^
hint: did you mean 'value'?
Msg 258, Level 15, State 1, Line 3
case.sql:3:11: error 258: Cannot call methods on int.
    3 | SELECT @i.values('/a');
      |           ^^^^^^

-- case: what no table can make right: names given twice, aggregates and windows out of place, too many columns
CREATE TABLE dbo.t (a int, b int);
GO
UPDATE dbo.t SET a = 1, a = 2;
GO
SELECT 1 FROM dbo.t AS x JOIN dbo.t AS x ON 1 = 1;
GO
SELECT a FROM dbo.t WHERE COUNT(*) > 1;
GO
SELECT COUNT(*) FROM dbo.t GROUP BY (SELECT 1);
GO
UPDATE dbo.t SET a = MAX(b);
GO
SELECT a FROM dbo.t WHERE ROW_NUMBER() OVER (ORDER BY a) = 1;
GO
SELECT SUM((SELECT 1)) FROM dbo.t;
GO
SELECT a FROM dbo.t WHERE a IN (SELECT a, b FROM dbo.t) ORDER BY 2;
-- expect
case.sql:3:25: error 264: The column name 'a' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.
    3 | UPDATE dbo.t SET a = 1, a = 2;
      |                         ^

case.sql:5:15: error 1011: The correlation name 'x' is specified multiple times in a FROM clause.
    5 | SELECT 1 FROM dbo.t AS x JOIN dbo.t AS x ON 1 = 1;
      |               ^^^

case.sql:7:27: error 147: An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause or a select list, and the column being aggregated is an outer reference.
    7 | SELECT a FROM dbo.t WHERE COUNT(*) > 1;
      |                           ^^^^^

case.sql:9:45: error 144: Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP BY clause.
    9 | SELECT COUNT(*) FROM dbo.t GROUP BY (SELECT 1);
      |                                             ^

case.sql:11:22: error 157: An aggregate may not appear in the set list of an UPDATE statement.
   11 | UPDATE dbo.t SET a = MAX(b);
      |                      ^^^

case.sql:13:27: error 4108: Windowed functions can only appear in the SELECT or ORDER BY clauses.
   13 | SELECT a FROM dbo.t WHERE ROW_NUMBER() OVER (ORDER BY a) = 1;
      |                           ^^^^^^^^^^

case.sql:15:8: error 130: Cannot perform an aggregate function on an expression containing an aggregate or a subquery.
   15 | SELECT SUM((SELECT 1)) FROM dbo.t;
      |        ^^^

case.sql:17:40: error 116: Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.
   17 | SELECT a FROM dbo.t WHERE a IN (SELECT a, b FROM dbo.t) ORDER BY 2;
      |                                        ^

case.sql:17:66: error 108: The ORDER BY position number 2 is out of range of the number of items in the select list.
   17 | SELECT a FROM dbo.t WHERE a IN (SELECT a, b FROM dbo.t) ORDER BY 2;
      |                                                                  ^
-- shows
Msg 264, Level 16, State 1, Line 1
case.sql:3:25: error 264: The column name 'a' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.
    3 | UPDATE dbo.t SET a = 1, a = 2;
      |                         ^
Msg 1011, Level 16, State 1, Line 1
case.sql:5:15: error 1011: The correlation name 'x' is specified multiple times in a FROM clause.
    5 | SELECT 1 FROM dbo.t AS x JOIN dbo.t AS x ON 1 = 1;
      |               ^^^
Msg 147, Level 15, State 1, Line 1
case.sql:7:27: error 147: An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause or a select list, and the column being aggregated is an outer reference.
    7 | SELECT a FROM dbo.t WHERE COUNT(*) > 1;
      |                           ^^^^^
Msg 144, Level 15, State 1, Line 1
case.sql:9:45: error 144: Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP BY clause.
    9 | SELECT COUNT(*) FROM dbo.t GROUP BY (SELECT 1);
      |                                             ^
Msg 157, Level 15, State 1, Line 1
case.sql:11:22: error 157: An aggregate may not appear in the set list of an UPDATE statement.
   11 | UPDATE dbo.t SET a = MAX(b);
      |                      ^^^
Msg 4108, Level 15, State 1, Line 1
case.sql:13:27: error 4108: Windowed functions can only appear in the SELECT or ORDER BY clauses.
   13 | SELECT a FROM dbo.t WHERE ROW_NUMBER() OVER (ORDER BY a) = 1;
      |                           ^^^^^^^^^^
Msg 130, Level 15, State 1, Line 1
case.sql:15:8: error 130: Cannot perform an aggregate function on an expression containing an aggregate or a subquery.
   15 | SELECT SUM((SELECT 1)) FROM dbo.t;
      |        ^^^
Msg 116, Level 16, State 1, Line 1
case.sql:17:40: error 116: Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.
   17 | SELECT a FROM dbo.t WHERE a IN (SELECT a, b FROM dbo.t) ORDER BY 2;
      |                                        ^
Msg 108, Level 16, State 1, Line 1
case.sql:17:66: error 108: The ORDER BY position number 2 is out of range of the number of items in the select list.
   17 | SELECT a FROM dbo.t WHERE a IN (SELECT a, b FROM dbo.t) ORDER BY 2;
      |                                                                  ^

-- case: what cannot be moved or copied here is refused where it is named
ALTER SCHEMA sc TRANSFER TYPE::dbo.tt
ALTER SCHEMA sc TRANSFER XML SCHEMA COLLECTION::dbo.xc
GO
CREATE DATABASE snap ON (NAME = x, FILENAME = 'x.ss') AS SNAPSHOT OF Trader
-- expect
case.sql:1:32: error: ALTER SCHEMA … TRANSFER TYPE:: is not supported
    1 | ALTER SCHEMA sc TRANSFER TYPE::dbo.tt
      |                                ^^^^^^
hint: create it in the other schema

case.sql:2:49: error: ALTER SCHEMA … TRANSFER XML SCHEMA COLLECTION:: is not supported
    2 | ALTER SCHEMA sc TRANSFER XML SCHEMA COLLECTION::dbo.xc
      |                                                 ^^^^^^
hint: create it in the other schema

case.sql:4:70: error: CREATE DATABASE … AS SNAPSHOT OF is not supported
    4 | CREATE DATABASE snap ON (NAME = x, FILENAME = 'x.ss') AS SNAPSHOT OF Trader
      |                                                                      ^^^^^^
hint: PostgreSQL has no snapshots of databases: pg_dump --snapshot, or a copy by TEMPLATE
-- shows
Msg 102, Level 15, State 1, Line 1
case.sql:1:32: error: ALTER SCHEMA … TRANSFER TYPE:: is not supported
    1 | ALTER SCHEMA sc TRANSFER TYPE::dbo.tt
      |                                ^^^^^^
hint: create it in the other schema
Msg 102, Level 15, State 1, Line 2
case.sql:2:49: error: ALTER SCHEMA … TRANSFER XML SCHEMA COLLECTION:: is not supported
    2 | ALTER SCHEMA sc TRANSFER XML SCHEMA COLLECTION::dbo.xc
      |                                                 ^^^^^^
hint: create it in the other schema
Msg 102, Level 15, State 1, Line 1
case.sql:4:70: error: CREATE DATABASE … AS SNAPSHOT OF is not supported
    4 | CREATE DATABASE snap ON (NAME = x, FILENAME = 'x.ss') AS SNAPSHOT OF Trader
      |                                                                      ^^^^^^
hint: PostgreSQL has no snapshots of databases: pg_dump --snapshot, or a copy by TEMPLATE

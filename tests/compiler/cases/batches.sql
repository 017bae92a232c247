-- case: GO with a count
CREATE TABLE dbo.t (id int IDENTITY, n int);
GO
INSERT INTO dbo.t (n) VALUES (1);
GO 3
SELECT COUNT(*) AS rows FROM dbo.t;
-- expect
CREATE TABLE dbo.t (
    id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
    n integer
);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    FOR repetition IN 1..3 LOOP
        <<batch>>
        BEGIN
            BEGIN
                INSERT INTO dbo.t (n) VALUES (1);
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                PERFORM ssb_internal.show_count(session);
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END batch;
        CALL ssb_internal.end_batch(session, more => true);
    END LOOP;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

SELECT count(*) AS rows FROM dbo.t;
-- shows
(1 row affected)

(1 row affected)

(1 row affected)

rows
----
   3

(1 row affected)

-- case: a batch that does not compile runs none of it, the next one runs
PRINT 'never';
SET @undeclared = 1;
GO
PRINT 'next';
-- expect
case.sql:2:5: error 137: Must declare the scalar variable "@undeclared".
    2 | SET @undeclared = 1;
      |     ^^^^^^^^^^^
-- shows
Msg 137, Level 15, State 2, Line 2
case.sql:2:5: error 137: Must declare the scalar variable "@undeclared".
    2 | SET @undeclared = 1;
      |     ^^^^^^^^^^^
next

-- case: result sets and messages keep their order
PRINT 'first';
SELECT 1 AS a, N'x' AS b, NULL AS c;
PRINT 'second';
SELECT n FROM (VALUES (1), (2)) AS v(n) ORDER BY n;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        PERFORM ssb_internal.print('first');
        BEGIN
            result := NULL;
            OPEN result FOR SELECT 1 AS a, 'x' AS b, NULL AS c;
            session := ssb_internal.show(session, result, '[{"name":"a","type":"integer"},{"name":"b","type":"varchar(1)"},{"name":"c","type":null}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print('second');
        BEGIN
            result := NULL;
            OPEN result FOR SELECT n FROM (VALUES (1), (2)) AS v (n) ORDER BY n NULLS FIRST;
            session := ssb_internal.show(session, result, '[{"name":"n","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
first
a b c
- - ----
1 x NULL

(1 row affected)

second
n
-
1
2

(2 rows affected)

-- case: NOCOUNT
SET NOCOUNT ON;
SELECT 1 AS one;
GO
DECLARE @n int = 1;
SELECT 2 AS two;
SET NOCOUNT OFF;
SELECT 3 AS three;
-- expect
SELECT set_config('pgsb.nocount', 'on', false);

SELECT 1 AS one;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        n integer := 1;
    BEGIN
        BEGIN
            result := NULL;
            OPEN result FOR SELECT 2 AS two;
            session := ssb_internal.show(session, result, '[{"name":"two","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        session.nocount := ssb_internal.no_count(false);
        BEGIN
            result := NULL;
            OPEN result FOR SELECT 3 AS three;
            session := ssb_internal.show(session, result, '[{"name":"three","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
one
---
  1

two
---
  2

three
-----
    3

(1 row affected)

-- case: queries and DML alone stay plain SQL
CREATE TABLE dbo.t (id int PRIMARY KEY, name nvarchar(20));
INSERT INTO dbo.t (id, name) VALUES (1, N'a'), (2, N'b');
UPDATE dbo.t SET name = N'c' WHERE id = 2;
SELECT id, name FROM dbo.t ORDER BY id;
DELETE FROM dbo.t;
-- expect
CREATE TABLE dbo.t (
    id integer PRIMARY KEY,
    name varchar(20)
);

INSERT INTO dbo.t (id, name) VALUES (1, 'a'), (2, 'b');

UPDATE dbo.t SET name = 'c' WHERE id = 2;

SELECT id, name FROM dbo.t ORDER BY id;

DELETE FROM dbo.t;
-- shows
(2 rows affected)

(1 row affected)

id name
-- ----
 1 a
 2 c

(2 rows affected)

(2 rows affected)

-- case: OUTPUT shows rows, from plain statements and from blocks
CREATE TABLE dbo.t (id int IDENTITY, n int);
GO
INSERT INTO dbo.t (n) OUTPUT inserted.id, inserted.n VALUES (7), (8);
GO
DECLARE @n int = 7;
DELETE FROM dbo.t OUTPUT deleted.n WHERE n = @n;
-- expect
CREATE TABLE dbo.t (
    id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
    n integer
);

SELECT ssb_internal.refuse_output('dbo.t', ARRAY['INSERT']);

INSERT INTO dbo.t (n) VALUES (7), (8) RETURNING id, n;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    output_rows text[];
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        n integer := 7;
        next_row record;
    BEGIN
        BEGIN
            PERFORM ssb_internal.refuse_output('dbo.t', ARRAY['DELETE']);
            output_rows := '{}';
            FOR next_row IN DELETE FROM dbo.t WHERE n = batch.n RETURNING n LOOP
                output_rows := array_append(output_rows, ssb_internal.row_values(row_to_json(next_row)));
            END LOOP;
            session := ssb_internal.show_collected(session, output_rows, '[{"name":"n","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
id n
-- -
 1 7
 2 8

(2 rows affected)

n
-
7

(1 row affected)

-- case: names of a plain result's columns are shown as the script spells them

CREATE TABLE dbo.Orders (OrderId int, Amount int);
INSERT INTO dbo.Orders VALUES (1, 2);
GO
SELECT OrderId, Amount AS [Total Amount], o.Amount + 1 FROM dbo.Orders AS o;
DELETE FROM dbo.Orders OUTPUT deleted.OrderId, deleted.Amount AS Was;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

CREATE TABLE dbo.orders (
    orderid integer,
    amount integer
);

PERFORM ssb_internal.keep_spelling('dbo.orders', 'Orders', p_columns => ARRAY['OrderId', 'Amount']);

END;
$whole$;

INSERT INTO dbo.orders VALUES (1, 2);

SELECT orderid, amount AS "total amount", o.amount + 1 FROM dbo.orders AS o;

SELECT ssb_internal.refuse_output('dbo.orders', ARRAY['DELETE']);

DELETE FROM dbo.orders RETURNING orderid, amount AS was;
-- shows
(1 row affected)

OrderId Total Amount (No column name)
------- ------------ ----------------
      1            2                3

(1 row affected)

OrderId Was
------- ---
      1   2

(1 row affected)

-- case: a table lock and its statement are one transaction

CREATE TABLE dbo.target (id int PRIMARY KEY, v int);
INSERT INTO dbo.target VALUES (1, 10);
GO
MERGE dbo.target WITH (HOLDLOCK) AS t USING (SELECT 1 AS id, 20 AS v) AS s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET v = s.v
WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v);
GO
SELECT v FROM dbo.target WITH (TABLOCKX);
-- expect
CREATE TABLE dbo.target (
    id integer PRIMARY KEY,
    v integer
);

INSERT INTO dbo.target VALUES (1, 10);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        BEGIN
            LOCK TABLE dbo.target IN SHARE ROW EXCLUSIVE MODE;
            WITH s AS (SELECT 1 AS id, 20 AS v),
            updated AS (UPDATE dbo.target AS t SET v = s.v FROM s WHERE t.id = s.id RETURNING 1),
            inserted AS (INSERT INTO dbo.target (id, v)
                         SELECT s.id, s.v
                         FROM s
                         WHERE NOT EXISTS (SELECT FROM dbo.target AS t WHERE t.id = s.id)
                         RETURNING 1)
            SELECT count(*) FROM (SELECT FROM updated UNION ALL SELECT FROM inserted) AS changed
            INTO session.rowcount;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'MERGE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        BEGIN
            LOCK TABLE dbo.target IN EXCLUSIVE MODE;
            result := NULL;
            OPEN result FOR SELECT v FROM dbo.target;
            session := ssb_internal.show(session, result, '[{"name":"v","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

(1 row affected)

v
--
20

(1 row affected)

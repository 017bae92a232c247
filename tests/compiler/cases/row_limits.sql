-- case: SET ROWCOUNT limits queries and changes, TOP where it is smaller
CREATE TABLE dbo.t (id int PRIMARY KEY, b varchar(10));
INSERT INTO dbo.t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
GO
SET ROWCOUNT 2;
SELECT id FROM dbo.t ORDER BY id DESC;
SELECT TOP (1) id FROM dbo.t ORDER BY id DESC;
SELECT TOP (75) PERCENT id FROM dbo.t ORDER BY id;
SELECT id FROM dbo.t UNION ALL SELECT id + 10 FROM dbo.t ORDER BY id DESC;
DECLARE @s varchar(100) = '';
SELECT @s = @s + b FROM dbo.t ORDER BY id;
PRINT @s;
UPDATE dbo.t SET b = 'x' WHERE id > 1;
DELETE FROM dbo.t WHERE b = 'x';
INSERT INTO dbo.t SELECT id + 10, b FROM dbo.t;
INSERT INTO dbo.t (id) VALUES (21), (22), (23);
SELECT (SELECT COUNT(*) FROM dbo.t) AS counted_inside;
SET ROWCOUNT 0;
SELECT * FROM dbo.t ORDER BY id;
-- expect
CREATE TABLE dbo.t (
    id integer PRIMARY KEY,
    b varchar(10)
);

INSERT INTO dbo.t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        s varchar(100);
        next_row record;
    BEGIN
        BEGIN
            session.row_limit := ssb_internal.row_limit(2);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id FROM dbo.t ORDER BY id DESC LIMIT session.row_limit;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id FROM dbo.t ORDER BY id DESC LIMIT LEAST(1, session.row_limit);
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT c1 AS id
            FROM (SELECT *, row_number() OVER () AS place, count(*) OVER () AS total
                  FROM (SELECT id AS c1 FROM dbo.t ORDER BY id) AS ordered) AS numbered
            WHERE place <= ceil(total * (75) / 100.0)
            ORDER BY place
            LIMIT session.row_limit;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id FROM dbo.t
            UNION ALL
            SELECT id + 10 FROM dbo.t
            ORDER BY id DESC NULLS LAST
            LIMIT session.row_limit;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        s := '';
        BEGIN
            FOR next_row IN SELECT b::varchar AS c1 FROM dbo.t ORDER BY id LIMIT session.row_limit LOOP
                s := (s || next_row.c1)::varchar(100);
            END LOOP;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(s);
        BEGIN
            UPDATE dbo.t
            SET b = 'x'
            WHERE id = ANY (ARRAY(SELECT id FROM dbo.t WHERE id > 1 LIMIT session.row_limit FOR UPDATE));
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            DELETE FROM dbo.t
            WHERE id = ANY (ARRAY(SELECT id FROM dbo.t WHERE b = 'x' LIMIT session.row_limit FOR UPDATE));
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            INSERT INTO dbo.t
            SELECT * FROM (SELECT id + 10, b FROM dbo.t) AS chosen LIMIT session.row_limit;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            INSERT INTO dbo.t (id)
            SELECT * FROM (VALUES (21::integer), (22::integer), (23::integer)) AS chosen LIMIT session.row_limit;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 12, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT (SELECT count(*) FROM dbo.t) AS counted_inside LIMIT session.row_limit;
            session := ssb_internal.show(session, result, '[{"name":"counted_inside","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 13, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            session.row_limit := ssb_internal.row_limit(0);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 14, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT * FROM dbo.t ORDER BY id LIMIT session.row_limit;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"},{"name":"b","type":"varchar(10)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 15, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(4 rows affected)

id
--
 4
 3

(2 rows affected)

id
--
 4

(1 row affected)

id
--
 1
 2

(2 rows affected)

id
--
14
13

(2 rows affected)

ab
(2 rows affected)

(2 rows affected)

(2 rows affected)

(2 rows affected)

counted_inside
--------------
             6

(1 row affected)

id b
-- ----
 1 a
 4 d
11 a
14 d
21 NULL
22 NULL

(6 rows affected)

-- case: SET ROWCOUNT stays for the next batch, and goes with the procedure that set it
CREATE TABLE dbo.t (id int PRIMARY KEY);
INSERT INTO dbo.t VALUES (1), (2), (3);
GO
CREATE PROCEDURE dbo.first_row AS
SET ROWCOUNT 1;
SELECT id FROM dbo.t ORDER BY id;
GO
SET ROWCOUNT 2;
GO
EXEC dbo.first_row;
SELECT id FROM dbo.t ORDER BY id;
EXEC ('SET ROWCOUNT 1 SELECT id FROM dbo.t ORDER BY id');
SELECT id FROM dbo.t ORDER BY id;
-- expect
CREATE TABLE dbo.t (
    id integer PRIMARY KEY
);

INSERT INTO dbo.t VALUES (1), (2), (3);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.first_row', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.first_row(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $first_row$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.enter(session, caller, 'first_row');
    <<first_row>>
    BEGIN
        EXIT first_row WHEN session.leaving;  -- nested deeper than 32
        BEGIN
            session.row_limit := ssb_internal.row_limit(1);
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT first_row WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id FROM dbo.t ORDER BY id LIMIT session.row_limit;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT first_row WHEN session.leaving;
        END;
    END first_row;
    session := ssb_internal.leave(session, caller);
END;
$first_row$;

END;
$whole$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        BEGIN
            session.row_limit := ssb_internal.row_limit(2);
            session.error := 0; session.rowcount := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
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
    DECLARE
        caller ssb.session;
    BEGIN
        CALL dbo.first_row(session);
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id FROM dbo.t ORDER BY id LIMIT session.row_limit;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        caller := session;
        session := ssb_internal.enter_string(session);
        <<string_1>>
        BEGIN
            BEGIN
                session.row_limit := ssb_internal.row_limit(1);
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_1 WHEN session.leaving;
            END;
            BEGIN
                result := NULL;
                OPEN result FOR SELECT id FROM dbo.t ORDER BY id LIMIT session.row_limit;
                session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"}]');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_1 WHEN session.leaving;
            END;
        END string_1;
        session := ssb_internal.leave(session, caller);
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id FROM dbo.t ORDER BY id LIMIT session.row_limit;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(3 rows affected)

id
--
 1

(1 row affected)

id
--
 1
 2

(2 rows affected)

id
--
 1

(1 row affected)

id
--
 1
 2

(2 rows affected)

-- case: SET ROWCOUNT from a variable, in a loop that deletes
CREATE TABLE dbo.t (id int PRIMARY KEY);
INSERT INTO dbo.t VALUES (1), (2), (3), (4), (5);
GO
SET NOCOUNT ON;
DECLARE @rows int = 2, @rounds int = 0;
SET ROWCOUNT @rows;
WHILE 1 = 1
BEGIN
    DELETE FROM dbo.t;
    IF @@ROWCOUNT = 0 BREAK;
    SET @rounds += 1;
END
SET ROWCOUNT 0;
PRINT @rounds;
SET @rows = NULL;
SET ROWCOUNT @rows;
PRINT @@ERROR;
-- expect
CREATE TABLE dbo.t (
    id integer PRIMARY KEY
);

INSERT INTO dbo.t VALUES (1), (2), (3), (4), (5);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        rows integer := 2;
        rounds integer := 0;
    BEGIN
        session.nocount := ssb_internal.no_count(true);
        BEGIN
            session.row_limit := ssb_internal.row_limit(rows);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        LOOP
            BEGIN
                DELETE FROM dbo.t
                WHERE id = ANY (ARRAY(SELECT id FROM dbo.t LIMIT session.row_limit FOR UPDATE));
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            IF session.rowcount::integer = 0 THEN
                EXIT;
            END IF;
            BEGIN
                rounds := rounds + 1;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
        END LOOP;
        BEGIN
            session.row_limit := ssb_internal.row_limit(0);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(rounds::text);
        rows := NULL;
        BEGIN
            session.row_limit := ssb_internal.row_limit(rows);
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 13, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(session.error::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(5 rows affected)

3
Msg 507, Level 16, State 1, Line 13
Invalid argument for SET ROWCOUNT. Must be a non-null non-negative integer.
507

-- case: TOP PERCENT and TOP with VALUES in changes
CREATE TABLE dbo.t (id int PRIMARY KEY, b varchar(10));
INSERT INTO dbo.t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e');
GO
DECLARE @n int = 2, @t TABLE (a int);
UPDATE TOP (50) PERCENT dbo.t SET b = 'x';
DELETE TOP (40) PERCENT FROM dbo.t WHERE b = 'x';
INSERT TOP (1) INTO dbo.t VALUES (11, 'f'), (12, 'g');
INSERT TOP (@n) INTO dbo.t VALUES (13, 'f'), (14, 'g'), (15, NULL);
INSERT TOP (50) PERCENT INTO dbo.t (id) SELECT id + 100 FROM dbo.t;
INSERT TOP (50) PERCENT INTO @t VALUES (1), (2), (3);
DELETE TOP (50) PERCENT FROM @t;
WITH odd AS (SELECT * FROM dbo.t WHERE id % 2 = 1) DELETE TOP (1) FROM odd;
-- expect
CREATE TABLE dbo.t (
    id integer PRIMARY KEY,
    b varchar(10)
);

INSERT INTO dbo.t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e');

SELECT ssb_internal.define_row_type('pg_temp."@t"', 'a integer');

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        n integer := 2;
        t pg_temp."@t"[] := '{}';
    BEGIN
        BEGIN
            UPDATE dbo.t
            SET b = 'x'
            WHERE id = ANY (ARRAY(SELECT id
                                  FROM dbo.t
                                  LIMIT (SELECT ceil(count(*) * (50) / 100.0) FROM (SELECT 1 FROM dbo.t) AS counted)
                                  FOR UPDATE));
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            DELETE FROM dbo.t
            WHERE id = ANY (ARRAY(SELECT id
                                  FROM dbo.t
                                  WHERE b = 'x'
                                  LIMIT (SELECT ceil(count(*) * (40) / 100.0) FROM (SELECT 1
                                                                                    FROM dbo.t
                                                                                    WHERE b = 'x') AS counted)
                                  FOR UPDATE));
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            INSERT INTO dbo.t VALUES (11, 'f');
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            INSERT INTO dbo.t
            SELECT * FROM (VALUES (13::integer, 'f'::varchar(10)), (14::integer, 'g'::varchar(10)), (15::integer, NULL::varchar(10))) AS chosen LIMIT sys.top_count(n);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            INSERT INTO dbo.t (id)
            SELECT * FROM (SELECT id + 100 FROM dbo.t) AS chosen LIMIT (SELECT ceil(count(*) * (50) / 100.0) FROM (SELECT id + 100
                                                                                                                   FROM dbo.t) AS counted);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            SELECT batch.t || array_agg(ROW(n.a)::pg_temp."@t"), count(*)
            FROM (SELECT * FROM (VALUES (1::integer), (2)) AS chosen LIMIT (SELECT ceil(count(*) * (50) / 100.0) FROM (VALUES (1::integer), (2)) AS counted)) AS n (a)
            INTO t, session.rowcount;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            SELECT sys.without_rows(batch.t, array_agg(t."@place" ORDER BY t."@place")), count(*)
            FROM (SELECT t.*, row_number() OVER (ORDER BY t."@place") AS nth
                  FROM unnest(batch.t) WITH ORDINALITY AS t (a, "@place")) AS t
            WHERE (t.nth <= (SELECT ceil(count(*) * (50) / 100.0) FROM (SELECT 1
                                                                        FROM unnest(batch.t) WITH ORDINALITY AS t (a, "@place")
                                                                        CROSS JOIN LATERAL (SELECT true AS hit
                                                                                            LIMIT 1) AS changed) AS counted)) IS NOT FALSE
            INTO t, session.rowcount;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            WITH odd AS (SELECT *, t.ctid AS row_id FROM dbo.t WHERE id % 2 = 1 FOR UPDATE)
            DELETE FROM dbo.t
            USING odd
            WHERE t.ctid = odd.row_id AND odd.row_id = ANY (ARRAY(SELECT odd.row_id FROM odd LIMIT 1));
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(5 rows affected)

(3 rows affected)

(2 rows affected)

(1 row affected)

(2 rows affected)

(3 rows affected)

(1 row affected)

(1 row affected)

(1 row affected)

-- case: a cursor lives through ROLLBACK
CREATE TABLE dbo.t (id int);
INSERT INTO dbo.t (id) VALUES (1), (2), (3);
GO
DECLARE @id int;
DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT id FROM dbo.t ORDER BY id;
OPEN c;
FETCH NEXT FROM c INTO @id;
WHILE @@FETCH_STATUS = 0
BEGIN
    BEGIN TRANSACTION;
    PRINT @id;
    IF @id = 2 ROLLBACK ELSE COMMIT;
    FETCH NEXT FROM c INTO @id;
END
CLOSE c;
DEALLOCATE c;
-- expect
CREATE TABLE dbo.t (
    id integer
);

INSERT INTO dbo.t (id) VALUES (1), (2), (3);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        id integer;
        c_rows text[];
        c_at integer;
    BEGIN
        BEGIN
            c_at := ssb_internal.declare_cursor('c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.open_cursor('c', c_at);
            SELECT array_agg(ARRAY[q.c1::text]) FROM (SELECT id FROM dbo.t ORDER BY id NULLS FIRST) AS q(c1) INTO c_rows;
            c_at := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'NEXT');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                id := c_rows[c_at][1]::integer;
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        WHILE session.fetch_status = 0 LOOP
            session := ssb_internal.begin_transaction(session);
            PERFORM ssb_internal.print(id::text);
            IF id = 2 THEN
                CALL ssb_internal.rollback_transaction(session, 9);
            ELSE
                CALL ssb_internal.commit_transaction(session, 9);
                EXIT batch WHEN session.leaving;
            END IF;
            BEGIN
                c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'NEXT');
                session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
                IF session.fetch_status = 0 THEN
                    id := c_rows[c_at][1]::integer;
                END IF;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
        END LOOP;
        BEGIN
            c_at := ssb_internal.close_cursor('c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 12, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            c_at := ssb_internal.deallocate_cursor('c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 13, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(3 rows affected)

1
2
3

-- case: scrolling
DECLARE @n int;
DECLARE c SCROLL CURSOR FOR SELECT n FROM (VALUES (10), (20), (30)) AS v(n) ORDER BY n;
OPEN c;
FETCH LAST FROM c INTO @n; PRINT @n;
FETCH PRIOR FROM c INTO @n; PRINT @n;
FETCH ABSOLUTE 1 FROM c INTO @n; PRINT @n;
FETCH RELATIVE 2 FROM c INTO @n; PRINT @n;
FETCH NEXT FROM c INTO @n; PRINT CONCAT(@n, ' ', @@FETCH_STATUS);
FETCH FIRST FROM c;
CLOSE c;
PRINT CURSOR_STATUS('global', 'c');
PRINT CURSOR_STATUS('local', 'c');
DEALLOCATE c;
PRINT CURSOR_STATUS('global', 'c');
FETCH NEXT FROM c INTO @n;
PRINT @@ERROR;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        n integer;
        c_rows text[];
        c_at integer;
    BEGIN
        BEGIN
            c_at := ssb_internal.declare_cursor('c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.open_cursor('c', c_at);
            SELECT array_agg(ARRAY[q.c1::text]) FROM (SELECT n FROM (VALUES (10), (20), (30)) AS v (n) ORDER BY n NULLS FIRST) AS q(c1) INTO c_rows;
            c_at := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'LAST');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                n := c_rows[c_at][1]::integer;
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(n::text);
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'PRIOR');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                n := c_rows[c_at][1]::integer;
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(n::text);
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'ABSOLUTE', 1);
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                n := c_rows[c_at][1]::integer;
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(n::text);
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'RELATIVE', 2);
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                n := c_rows[c_at][1]::integer;
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(n::text);
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'NEXT');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                n := c_rows[c_at][1]::integer;
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(concat(n, ' ', session.fetch_status));
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'FIRST');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                session := ssb_internal.show_collected(session, ARRAY[json_build_array(c_rows[c_at][1]::integer)::text], '[{"name":"n","type":"integer"}]');
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            c_at := ssb_internal.close_cursor('c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.print(ssb_internal.cursor_status(c_at, array_length(c_rows, 1))::text);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.print((-3)::text);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 12, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            c_at := ssb_internal.deallocate_cursor('c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 13, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.print(ssb_internal.cursor_status(c_at, array_length(c_rows, 1))::text);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 14, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'NEXT');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                n := c_rows[c_at][1]::integer;
            END IF;
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 15, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(session.error::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
30
20
10
30
30 -1
n
--
10

(1 row affected)

-1
-3
-3
Msg 16916, Level 16, State 1, Line 15
A cursor with the name 'c' does not exist.
16916

-- case: a cursor variable, and UPDATE at its place
CREATE TABLE dbo.t (id int, n int);
INSERT INTO dbo.t (id, n) VALUES (1, 1), (2, 2);
GO
DECLARE @c CURSOR, @id int;
SET @c = CURSOR FOR SELECT id FROM dbo.t ORDER BY id FOR UPDATE OF n;
OPEN @c;
FETCH NEXT FROM @c INTO @id;
WHILE @@FETCH_STATUS = 0
BEGIN
    UPDATE dbo.t SET n = n * 10 WHERE CURRENT OF @c;
    FETCH NEXT FROM @c INTO @id;
END
CLOSE @c;
DEALLOCATE @c;
SELECT id, n FROM dbo.t ORDER BY id;
-- expect
CREATE TABLE dbo.t (
    id integer,
    n integer
);

INSERT INTO dbo.t (id, n) VALUES (1, 1), (2, 2);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        c_rows text[];
        c_at integer;
        id integer;
        row_place text;
    BEGIN
        c_at := -1;
        BEGIN
            PERFORM ssb_internal.open_cursor('@c', c_at);
            SELECT array_agg(ARRAY[q.c1::text, q.c2::text]) FROM (SELECT id, t.ctid AS pgsb_place_1 FROM dbo.t ORDER BY id NULLS FIRST) AS q(c1, c2) INTO c_rows;
            c_at := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            c_at := ssb_internal.fetch('@c', c_at, array_length(c_rows, 1), 'NEXT');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                id := c_rows[c_at][1]::integer;
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        WHILE session.fetch_status = 0 LOOP
            BEGIN
                PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
                UPDATE dbo.t SET n = n * 10 WHERE t.ctid = c_rows[c_at][2]::tid
                RETURNING ctid INTO row_place;
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                PERFORM ssb_internal.show_count(session);
                IF row_place IS NOT NULL THEN
                    c_rows[c_at][2] := row_place;
                END IF;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            BEGIN
                c_at := ssb_internal.fetch('@c', c_at, array_length(c_rows, 1), 'NEXT');
                session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
                IF session.fetch_status = 0 THEN
                    id := c_rows[c_at][1]::integer;
                END IF;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
        END LOOP;
        BEGIN
            c_at := ssb_internal.close_cursor('@c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            c_at := ssb_internal.deallocate_cursor('@c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id, n FROM dbo.t ORDER BY id NULLS FIRST;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"},{"name":"n","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 12, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

(1 row affected)

(1 row affected)

id n
-- --
 1 10
 2 20

(2 rows affected)

-- case: forward only cursors do not scroll
DECLARE @n int;
DECLARE c CURSOR FORWARD_ONLY FOR SELECT 1;
OPEN c;
FETCH PRIOR FROM c INTO @n;
-- expect
case.sql:4:1: error 16911: fetch: The fetch type prior cannot be used with forward only cursors.
    4 | FETCH PRIOR FROM c INTO @n;
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^
-- shows
Msg 16911, Level 16, State 1, Line 4
case.sql:4:1: error 16911: fetch: The fetch type prior cannot be used with forward only cursors.
    4 | FETCH PRIOR FROM c INTO @n;
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: WHERE CURRENT OF: the row is found by its key, also after it was changed
CREATE TABLE dbo.t (id int PRIMARY KEY, n int);
INSERT INTO dbo.t VALUES (1, 1), (2, 2);
GO
SET NOCOUNT ON;
DECLARE c CURSOR FOR SELECT n, id FROM dbo.t ORDER BY id FOR UPDATE OF n;
OPEN c;
UPDATE dbo.t SET n = 0 WHERE CURRENT OF c;
FETCH NEXT FROM c;
UPDATE dbo.t SET n = 10 WHERE CURRENT OF c;
UPDATE dbo.t SET n = n + 1 WHERE CURRENT OF c;
FETCH NEXT FROM c;
DELETE FROM dbo.t WHERE CURRENT OF c;
SELECT * FROM dbo.t;
-- expect
CREATE TABLE dbo.t (
    id integer PRIMARY KEY,
    n integer
);

INSERT INTO dbo.t VALUES (1, 1), (2, 2);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        c_rows text[];
        c_at integer;
    BEGIN
        session.nocount := ssb_internal.no_count(true);
        BEGIN
            c_at := ssb_internal.declare_cursor('c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.open_cursor('c', c_at);
            SELECT array_agg(ARRAY[q.c1::text, q.c2::text, q.c3::text]) FROM (SELECT n, id, t.id AS pgsb_place_1 FROM dbo.t ORDER BY id) AS q(c1, c2, c3) INTO c_rows;
            c_at := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
            UPDATE dbo.t SET n = 0 WHERE t.id = c_rows[c_at][3]::integer;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'NEXT');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                session := ssb_internal.show_collected(session, ARRAY[json_build_array(c_rows[c_at][1]::integer, c_rows[c_at][2]::integer)::text], '[{"name":"n","type":"integer"},{"name":"id","type":"integer"}]');
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
            UPDATE dbo.t SET n = 10 WHERE t.id = c_rows[c_at][3]::integer;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
            UPDATE dbo.t SET n = n + 1 WHERE t.id = c_rows[c_at][3]::integer;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'NEXT');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                session := ssb_internal.show_collected(session, ARRAY[json_build_array(c_rows[c_at][1]::integer, c_rows[c_at][2]::integer)::text], '[{"name":"n","type":"integer"},{"name":"id","type":"integer"}]');
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
            DELETE FROM dbo.t WHERE t.id = c_rows[c_at][3]::integer;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT * FROM dbo.t;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"},{"name":"n","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

Msg 16931, Level 16, State 1, Line 4
There are no rows in the current fetch buffer.
The statement has been terminated.
n id
- --
1  1

n id
- --
2  2

id n
-- --
 1 11

-- case: WHERE CURRENT OF in a table without a key, among joined ones
CREATE TABLE dbo.a (id int, n int);
CREATE TABLE dbo.b (id int, n int);
INSERT INTO dbo.a VALUES (1, 1), (2, 2);
INSERT INTO dbo.b VALUES (1, 1), (2, 2);
GO
SET NOCOUNT ON;
DECLARE c CURSOR FOR SELECT * FROM dbo.a AS x JOIN dbo.b ON b.id = x.id ORDER BY x.id;
OPEN c;
FETCH NEXT FROM c;
UPDATE a SET n = 10 WHERE CURRENT OF c;
UPDATE a SET n = n + 1 WHERE CURRENT OF c;
SELECT * FROM dbo.a ORDER BY id;
-- expect
CREATE TABLE dbo.a (
    id integer,
    n integer
);

CREATE TABLE dbo.b (
    id integer,
    n integer
);

INSERT INTO dbo.a VALUES (1, 1), (2, 2);

INSERT INTO dbo.b VALUES (1, 1), (2, 2);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        c_rows text[];
        c_at integer;
        row_place text;
    BEGIN
        session.nocount := ssb_internal.no_count(true);
        BEGIN
            c_at := ssb_internal.declare_cursor('c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.open_cursor('c', c_at);
            SELECT array_agg(ARRAY[q.c1::text, q.c2::text, q.c3::text, q.c4::text, q.c5::text]) FROM (SELECT *, x.ctid AS pgsb_place_1
            FROM dbo.a AS x
            JOIN dbo.b ON b.id = x.id
            ORDER BY x.id NULLS FIRST) AS q(c1, c2, c3, c4, c5)
            INTO c_rows;
            c_at := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'NEXT');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                session := ssb_internal.show_collected(session, ARRAY[json_build_array(c_rows[c_at][1]::integer, c_rows[c_at][2]::integer, c_rows[c_at][3]::integer, c_rows[c_at][4]::integer)::text], '[{"name":"id","type":"integer"},{"name":"n","type":"integer"},{"name":"id","type":"integer"},{"name":"n","type":"integer"}]');
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
            UPDATE dbo.a SET n = 10 WHERE a.ctid = c_rows[c_at][5]::tid
            RETURNING ctid INTO row_place;
            IF row_place IS NOT NULL THEN
                c_rows[c_at][5] := row_place;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
            UPDATE dbo.a SET n = n + 1 WHERE a.ctid = c_rows[c_at][5]::tid
            RETURNING ctid INTO row_place;
            IF row_place IS NOT NULL THEN
                c_rows[c_at][5] := row_place;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT * FROM dbo.a ORDER BY id NULLS FIRST;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"},{"name":"n","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

(2 rows affected)

id n id n
-- - -- -
 1 1  1 1

id n
-- --
 1 11
 2  2

-- case: WHERE CURRENT OF changes the columns that FOR UPDATE OF names, none where FOR READ ONLY stands
CREATE TABLE dbo.t (id INT PRIMARY KEY, n INT, m INT);
INSERT INTO dbo.t VALUES (1, 1, 1);
DECLARE c CURSOR LOCAL FOR SELECT id FROM dbo.t FOR UPDATE OF N;
OPEN c
FETCH c
UPDATE dbo.t SET n = 2 WHERE CURRENT OF c;
UPDATE dbo.t SET n = 3, m = 3 WHERE CURRENT OF c;
SELECT n, m, @@ERROR FROM dbo.t;
DECLARE r CURSOR LOCAL FOR SELECT id FROM dbo.t FOR READ ONLY;
OPEN r
FETCH r
DELETE dbo.t WHERE CURRENT OF r;
PRINT @@ERROR
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        c_rows text[];
        c_at integer;
        r_rows text[];
        r_at integer;
    BEGIN
        BEGIN
            CREATE TABLE dbo.t (
                id integer PRIMARY KEY,
                n integer,
                m integer
            );
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, ''); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            INSERT INTO dbo.t VALUES (1, 1, 1);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            c_at := ssb_internal.declare_cursor('c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.open_cursor('c', c_at);
            SELECT array_agg(ARRAY[q.c1::text, q.c2::text]) FROM (SELECT id, t.id AS pgsb_place_1 FROM dbo.t) AS q(c1, c2) INTO c_rows;
            c_at := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'NEXT');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                session := ssb_internal.show_collected(session, ARRAY[json_build_array(c_rows[c_at][1]::integer)::text], '[{"name":"id","type":"integer"}]');
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
            UPDATE dbo.t SET n = 2 WHERE t.id = c_rows[c_at][2]::integer;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb_internal.raise_error(16932, 'The cursor has a FOR UPDATE list and the requested column to be updated is not in this list.');
            UPDATE dbo.t SET n = 3, m = 3 WHERE false;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT n, m, session.error FROM dbo.t;
            session := ssb_internal.show(session, result, '[{"name":"n","type":"integer"},{"name":"m","type":"integer"},{"name":null,"type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            r_at := ssb_internal.declare_cursor('r', r_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.open_cursor('r', r_at);
            SELECT array_agg(ARRAY[q.c1::text]) FROM (SELECT id FROM dbo.t) AS q(c1) INTO r_rows;
            r_at := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            r_at := ssb_internal.fetch('r', r_at, array_length(r_rows, 1), 'NEXT');
            session.fetch_status := CASE WHEN r_at BETWEEN 1 AND array_length(r_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                session := ssb_internal.show_collected(session, ARRAY[json_build_array(r_rows[r_at][1]::integer)::text], '[{"name":"id","type":"integer"}]');
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.raise_error(16929, 'The cursor is READ ONLY.');
            DELETE FROM dbo.t WHERE false;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 12, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(session.error::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

id
--
 1

(1 row affected)

(1 row affected)

Msg 16932, Level 16, State 1, Line 7
The cursor has a FOR UPDATE list and the requested column to be updated is not in this list.
The statement has been terminated.
n m (No column name)
- - ----------------
2 1            16932

(1 row affected)

id
--
 1

(1 row affected)

Msg 16929, Level 16, State 1, Line 12
The cursor is READ ONLY.
The statement has been terminated.
16929

-- case: WHERE CURRENT OF changes the key: the row is found by its place
CREATE TABLE dbo.t (id INT PRIMARY KEY, n INT);
INSERT INTO dbo.t VALUES (1, 1), (2, 2);
DECLARE c CURSOR LOCAL FOR SELECT id FROM dbo.t ORDER BY id;
OPEN c
FETCH c
UPDATE dbo.t SET id = 10 WHERE CURRENT OF c;
UPDATE dbo.t SET n = 5 WHERE CURRENT OF c;
FETCH c
UPDATE dbo.t SET id = 20 WHERE CURRENT OF c;
DELETE dbo.t WHERE CURRENT OF c;
SELECT * FROM dbo.t
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        c_rows text[];
        c_at integer;
        row_place text;
    BEGIN
        BEGIN
            CREATE TABLE dbo.t (
                id integer PRIMARY KEY,
                n integer
            );
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, ''); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            INSERT INTO dbo.t VALUES (1, 1), (2, 2);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            c_at := ssb_internal.declare_cursor('c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.open_cursor('c', c_at);
            SELECT array_agg(ARRAY[q.c1::text, q.c2::text]) FROM (SELECT id, t.ctid AS pgsb_place_1 FROM dbo.t ORDER BY id) AS q(c1, c2) INTO c_rows;
            c_at := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'NEXT');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                session := ssb_internal.show_collected(session, ARRAY[json_build_array(c_rows[c_at][1]::integer)::text], '[{"name":"id","type":"integer"}]');
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
            UPDATE dbo.t SET id = 10 WHERE t.ctid = c_rows[c_at][2]::tid
            RETURNING ctid INTO row_place;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
            IF row_place IS NOT NULL THEN
                c_rows[c_at][2] := row_place;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
            UPDATE dbo.t SET n = 5 WHERE t.ctid = c_rows[c_at][2]::tid
            RETURNING ctid INTO row_place;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
            IF row_place IS NOT NULL THEN
                c_rows[c_at][2] := row_place;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            c_at := ssb_internal.fetch('c', c_at, array_length(c_rows, 1), 'NEXT');
            session.fetch_status := CASE WHEN c_at BETWEEN 1 AND array_length(c_rows, 1) THEN 0 ELSE -1 END;
            IF session.fetch_status = 0 THEN
                session := ssb_internal.show_collected(session, ARRAY[json_build_array(c_rows[c_at][1]::integer)::text], '[{"name":"id","type":"integer"}]');
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
            UPDATE dbo.t SET id = 20 WHERE t.ctid = c_rows[c_at][2]::tid
            RETURNING ctid INTO row_place;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
            IF row_place IS NOT NULL THEN
                c_rows[c_at][2] := row_place;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb_internal.require_row('c', c_at, array_length(c_rows, 1));
            DELETE FROM dbo.t WHERE t.ctid = c_rows[c_at][2]::tid;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT * FROM dbo.t;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"},{"name":"n","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

id
--
 1

(1 row affected)

(1 row affected)

(1 row affected)

id
--
 2

(1 row affected)

(1 row affected)

(1 row affected)

id n
-- -
10 5

(1 row affected)

-- case: WHERE CURRENT OF a cursor that is read-only
CREATE TABLE dbo.t (id int PRIMARY KEY);
GO
DECLARE c CURSOR STATIC FOR SELECT id FROM dbo.t;
DELETE FROM dbo.t WHERE CURRENT OF c;
-- expect
CREATE TABLE dbo.t (
    id integer PRIMARY KEY
);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        c_rows text[];
        c_at integer;
    BEGIN
        BEGIN
            c_at := ssb_internal.declare_cursor('c', c_at);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.raise_error(16929, 'The cursor is READ ONLY.');
            DELETE FROM dbo.t WHERE false;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
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
Msg 16929, Level 16, State 1, Line 2
The cursor is READ ONLY.
The statement has been terminated.

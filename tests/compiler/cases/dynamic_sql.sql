-- case: a string that is known is compiled in place, with a scope of its own
DECLARE @n int = 1;
EXEC (N'DECLARE @n int = 5; PRINT @n; RETURN; PRINT 1');
PRINT @n;
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
        caller ssb.session;
    BEGIN
        n := 1;
        session.error := 0; session.rowcount := 1;
        caller := session;
        session := ssb_internal.enter_string(session);
        <<string_1>>
        DECLARE
            n_2 integer := 5;
        BEGIN
            PERFORM ssb_internal.print(n_2::text);
            EXIT string_1;
            PERFORM ssb_internal.print(1::text);
        END string_1;
        session := ssb_internal.leave(session, caller);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(n::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
5
1

-- case: sp_executesql with parameters
DECLARE @sql nvarchar(200) = N'SET @twice = @n * 2; ', @r int;
SET @sql = @sql + N'PRINT @n';
EXEC sp_executesql @sql, N'@n int, @twice int OUTPUT', @n = 21, @twice = @r OUTPUT;
PRINT @r;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        sql varchar(200) := 'SET @twice = @n * 2; ';
        r integer;
        n_passed integer;
        twice_passed integer;
        caller ssb.session;
        ready boolean;
    BEGIN
        sql := (sql || 'PRINT @n')::varchar(200);
        session.error := 0; session.rowcount := 1;
        BEGIN
            ready := false;
            n_passed := 21;
            twice_passed := r;
            ready := true;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ready THEN
            caller := session;
            session := ssb_internal.enter_string(session, 2);
            <<string_1>>
            DECLARE
                n integer := n_passed;
                twice integer := twice_passed;
            BEGIN
                <<string_1_statements>>
                BEGIN
                    BEGIN
                        twice := n * 2;
                    EXCEPTION WHEN OTHERS THEN
                        session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM);
                        EXIT string_1_statements WHEN session.leaving;
                    END;
                    PERFORM ssb_internal.print(n::text);
                END string_1_statements;
                IF NOT session.leaving THEN
                    twice_passed := twice;
                END IF;
            END string_1;
            session := ssb_internal.leave(session, caller);
            r := twice_passed;
        END IF;
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(r::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
21
42

-- case: an unresolved name ends the string, and is caught outside it
BEGIN TRY
    EXEC (N'SELECT * FROM dbo.no_such_table; PRINT ''never''');
END TRY
BEGIN CATCH
    PRINT ERROR_NUMBER();
END CATCH
-- expect
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
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            caller := session;
            session := ssb_internal.enter_string(session);
            <<string_1>>
            BEGIN
                BEGIN
                    result := NULL;
                    OPEN result FOR SELECT * FROM dbo.no_such_table;
                    session := ssb_internal.show(session, result, NULL);
                EXCEPTION WHEN OTHERS THEN
                    session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_1 WHEN session.leaving;
                END;
                PERFORM ssb_internal.print('never');
            END string_1;
            session := ssb_internal.leave(session, caller);
            EXIT try_1 WHEN session.leaving;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        EXIT batch WHEN session.unresolved;
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print((session.caught).number::text);
            session.caught := NULL;  -- END CATCH
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
208

-- case: a text that only the run time knows is refused
DECLARE @sql nvarchar(100) = (SELECT TOP (1) name FROM sys.databases);
EXEC (@sql);
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        sql varchar(100);
        dynamic_text text;
        arguments text[];
    BEGIN
        BEGIN
            sql := (SELECT name FROM sys.databases LIMIT 1)::varchar(100);
            session.error := 0; session.rowcount := 1;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            dynamic_text := sql;
            arguments := '{}'::text[];
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        CALL ssb_internal.execute_text(dynamic_text, NULL, '{}'::text[], arguments, session, 2, 1);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 2812, Level 16, State 62, Line 1
Could not find stored procedure 'master'.

-- case: modules may be made by dynamic SQL
EXEC (N'CREATE PROCEDURE dbo.made AS PRINT ''made''');
EXEC dbo.made;
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
                PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.made', 'ssb.session');
                EXECUTE 'CREATE OR REPLACE PROCEDURE dbo.made(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $made$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb_internal.enter(session, caller, ''made'');
    <<made>>
    BEGIN
        EXIT made WHEN session.leaving;  -- nested deeper than 32
        PERFORM ssb_internal.print(''made'');
        session.error := 0; session.rowcount := 0;
    END made;
    session := ssb_internal.leave(session, caller);
END;
$made$';
                session.error := 0; session.rowcount := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'CREATE'); EXIT string_1 WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END string_1;
        session := ssb_internal.leave(session, caller);
        EXIT batch WHEN session.leaving;
        CALL dbo.made(session);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
made

-- case: what a string of dynamic SQL says assigns nothing: the parts stay known
DECLARE @s nvarchar(10) = N'b';
EXEC (N'IF ''b'' = ''' + @s + N''' PRINT ''one''');
EXEC (N'PRINT ''hello ' + @s + N'''');
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        s varchar(10);
        caller ssb.session;
        caller_2 ssb.session;
    BEGIN
        s := 'b';
        session.error := 0; session.rowcount := 1;
        caller := session;
        session := ssb_internal.enter_string(session);
        <<string_1>>
        BEGIN
            IF 'b' = 'b' THEN
                PERFORM ssb_internal.print('one');
                session.error := 0; session.rowcount := 0;
            ELSE
                session.error := 0; session.rowcount := 0;
            END IF;
        END string_1;
        session := ssb_internal.leave(session, caller);
        EXIT batch WHEN session.leaving;
        caller_2 := session;
        session := ssb_internal.enter_string(session);
        <<string_2>>
        BEGIN
            PERFORM ssb_internal.print('hello b');
        END string_2;
        session := ssb_internal.leave(session, caller_2);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
one
hello b

-- case: names, values and parts of strings that only the run time knows
CREATE TABLE dbo.orders (id int, s nvarchar(20));
INSERT INTO dbo.orders (id, s) VALUES (1, N'a'), (2, N'b');
CREATE QUEUE dbo.q1;
GO
DECLARE @table sysname = N'orders', @sql nvarchar(max), @n int, @s nvarchar(10) = N'b', @queue sysname = N'q1';
SET @sql = N'SELECT @count = COUNT(*) FROM ' + QUOTENAME(@table) + N' WHERE id <= @most';
EXEC sp_executesql @sql, N'@count int OUTPUT, @most int', @count = @n OUTPUT, @most = 1;
PRINT @n;
SELECT @table = LOWER(@table), @s = LOWER(@s), @queue = LOWER(@queue);
EXEC (N'SELECT id FROM dbo.' + @table + N' WHERE s = ''' + @s + N'''');
EXEC (N'ALTER QUEUE ' + @queue + N' WITH STATUS = OFF');
EXEC (N'PRINT ''hello ' + @s + N'''');
EXEC (N'CREATE TABLE dbo.' + @table + N'_log (id int)');
EXEC (N'DELETE FROM dbo.' + @table + N' WHERE id = ' + @n);
SELECT COUNT(*) AS left_over FROM dbo.orders;
-- expect
CREATE TABLE dbo.orders (
    id integer,
    s varchar(20)
);

INSERT INTO dbo.orders (id, s) VALUES (1, 'a'), (2, 'b');

SELECT ssb.create_queue('dbo.q1');

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    result refcursor;
    hint text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        "table" varchar(128) := 'orders';
        sql text;
        n integer;
        s varchar(10) := 'b';
        queue varchar(128) := 'q1';
        piece_1 text;
        count_passed integer;
        most_passed integer;
        caller ssb.session;
        ready boolean;
        piece_1_2 text;
        piece_2 text;
        caller_2 ssb.session;
        dynamic_text text;
        arguments text[];
        piece_1_3 text;
        caller_3 ssb.session;
        piece_1_4 text;
        caller_4 ssb.session;
        piece_1_5 text;
        caller_5 ssb.session;
        piece_1_6 text;
        piece_2_2 text;
        caller_6 ssb.session;
    BEGIN
        BEGIN
            sql := 'SELECT @count = COUNT(*) FROM ' || sys.quotename("table") || ' WHERE id <= @most';
            session.error := 0; session.rowcount := 1;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            ready := false;
            piece_1 := sys.quotename("table");
            count_passed := n;
            most_passed := 1;
            ready := piece_1 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ready THEN
            caller := session;
            session := ssb_internal.enter_string(session, 2);
            <<string_1>>
            DECLARE
                count integer := count_passed;
                most integer := most_passed;
            BEGIN
                <<string_1_statements>>
                BEGIN
                    BEGIN
                        EXECUTE concat('SELECT count(*) FROM ', ssb_internal.dynamic_name('dbo', piece_1), ' WHERE id <= $1') INTO count USING most;
                    EXCEPTION WHEN OTHERS THEN
                        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                        session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'SELECT');
                        EXIT string_1_statements WHEN session.leaving;
                    END;
                END string_1_statements;
                IF NOT session.leaving THEN
                    count_passed := count;
                END IF;
            END string_1;
            session := ssb_internal.leave(session, caller);
            n := count_passed;
        END IF;
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(n::text);
        BEGIN
            "table" := lower("table");
            s := lower(s);
            queue := lower(queue);
            session.error := 0; session.rowcount := 1;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            ready := false;
            piece_1_2 := "table";
            piece_2 := s;
            ready := piece_1_2 IS NOT NULL AND piece_2 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ssb_internal.are_dynamic_names(piece_1_2) THEN
            IF ready THEN
                caller_2 := session;
                session := ssb_internal.enter_string(session);
                <<string_2>>
                BEGIN
                    BEGIN
                        result := NULL;
                        OPEN result FOR EXECUTE concat('SELECT id FROM ', ssb_internal.dynamic_name('dbo', piece_1_2), ' WHERE s = ''', piece_2, '''');
                        session := ssb_internal.show(session, result, '[{"name":"id","type":null}]');
                    EXCEPTION WHEN OTHERS THEN
                        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                        session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'SELECT');
                        EXIT string_2 WHEN session.leaving;
                    END;
                END string_2;
                session := ssb_internal.leave(session, caller_2);
            END IF;
        ELSE
            BEGIN
                dynamic_text := concat('SELECT id FROM dbo.', "table", ' WHERE s = ''', s, '''');
                arguments := '{}'::text[];
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            CALL ssb_internal.execute_text(dynamic_text, NULL, '{}'::text[], arguments, session, 6, 1);
        END IF;
        EXIT batch WHEN session.leaving;
        BEGIN
            ready := false;
            piece_1_3 := queue;
            ready := piece_1_3 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ssb_internal.are_dynamic_names(piece_1_3) THEN
            IF ready THEN
                caller_3 := session;
                session := ssb_internal.enter_string(session);
                <<string_3>>
                BEGIN
                    BEGIN
                        PERFORM ssb.alter_queue(ssb_internal.dynamic_name('dbo', piece_1_3), status => false);
                        session.error := 0; session.rowcount := 0;
                    EXCEPTION WHEN OTHERS THEN
                        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
                        session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'ALTER', hint);
                        EXIT string_3 WHEN session.leaving;
                    END;
                    IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                END string_3;
                session := ssb_internal.leave(session, caller_3);
            END IF;
        ELSE
            BEGIN
                dynamic_text := concat('ALTER QUEUE ', queue, ' WITH STATUS = OFF');
                arguments := '{}'::text[];
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            CALL ssb_internal.execute_text(dynamic_text, NULL, '{}'::text[], arguments, session, 7, 1);
        END IF;
        EXIT batch WHEN session.leaving;
        BEGIN
            ready := false;
            piece_1_4 := s;
            ready := piece_1_4 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ready THEN
            caller_4 := session;
            session := ssb_internal.enter_string(session);
            <<string_4>>
            BEGIN
                PERFORM ssb_internal.print(concat('hello ', replace(piece_1_4, '''''', '''')));
                session.error := 0; session.rowcount := 0;
            END string_4;
            session := ssb_internal.leave(session, caller_4);
        END IF;
        EXIT batch WHEN session.leaving;
        BEGIN
            ready := false;
            piece_1_5 := "table";
            ready := piece_1_5 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ssb_internal.are_dynamic_names(piece_1_5) THEN
            IF ready THEN
                caller_5 := session;
                session := ssb_internal.enter_string(session);
                <<string_5>>
                BEGIN
                    BEGIN
                        EXECUTE concat('CREATE TABLE ', ssb_internal.dynamic_name('dbo', concat(piece_1_5, '_log')), ' (
    id integer
)');
                    EXCEPTION WHEN OTHERS THEN
                        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                        session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'CREATE');
                        EXIT string_5 WHEN session.leaving;
                    END;
                    IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                END string_5;
                session := ssb_internal.leave(session, caller_5);
            END IF;
        ELSE
            BEGIN
                dynamic_text := concat('CREATE TABLE dbo.', "table", '_log (id int)');
                arguments := '{}'::text[];
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            CALL ssb_internal.execute_text(dynamic_text, NULL, '{}'::text[], arguments, session, 9, 1);
        END IF;
        EXIT batch WHEN session.leaving;
        BEGIN
            ready := false;
            piece_1_6 := "table";
            piece_2_2 := n::text;
            ready := piece_1_6 IS NOT NULL AND piece_2_2 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ssb_internal.are_dynamic_names(piece_1_6) THEN
            IF ready THEN
                caller_6 := session;
                session := ssb_internal.enter_string(session);
                <<string_6>>
                BEGIN
                    BEGIN
                        EXECUTE concat('DELETE FROM ', ssb_internal.dynamic_name('dbo', piece_1_6), ' WHERE id = ', ssb_internal.dynamic_value(piece_2_2));
                        GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                        PERFORM ssb_internal.show_count(session);
                    EXCEPTION WHEN OTHERS THEN
                        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                        session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'DELETE');
                        EXIT string_6 WHEN session.leaving;
                    END;
                    IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                END string_6;
                session := ssb_internal.leave(session, caller_6);
            END IF;
        ELSE
            BEGIN
                dynamic_text := concat('DELETE FROM dbo.', "table", ' WHERE id = ', n::text);
                arguments := '{}'::text[];
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            CALL ssb_internal.execute_text(dynamic_text, NULL, '{}'::text[], arguments, session, 10, 1);
        END IF;
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS left_over FROM dbo.orders;
            session := ssb_internal.show(session, result, '[{"name":"left_over","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

1
id
--
 2

(1 row affected)

hello b
(1 row affected)

left_over
---------
        1

(1 row affected)

-- case: a piece for a database is its name, in brackets or not
DECLARE @db sysname = DB_NAME(), @s sysname = N'dbo', @cmd nvarchar(300);
SET @cmd = N'ALTER QUEUE ' + QUOTENAME(@db) + N'.' + QUOTENAME(@s) + N'.q WITH STATUS = ON; SELECT 1 FROM [' + @db + N'].dbo.q';
EXEC (@cmd);
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    hint text;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        db varchar(128);
        s varchar(128);
        cmd varchar(300);
        piece_1 text;
        piece_2 text;
        piece_3 text;
        caller ssb.session;
        ready boolean;
    BEGIN
        db := sys.db_name();
        s := 'dbo';
        BEGIN
            cmd := ('ALTER QUEUE ' || sys.quotename(db) || '.' || sys.quotename(s) || '.q WITH STATUS = ON; SELECT 1 FROM [' || db || '].dbo.q')::varchar(300);
            session.error := 0; session.rowcount := 1;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            ready := false;
            piece_1 := sys.quotename(db);
            piece_2 := sys.quotename(s);
            piece_3 := db;
            ready := piece_1 IS NOT NULL AND piece_2 IS NOT NULL AND piece_3 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ready THEN
            caller := session;
            session := ssb_internal.enter_string(session);
            <<string_1>>
            BEGIN
                BEGIN
                    PERFORM ssb.alter_queue(concat(quote_ident(ssb_internal.dynamic_schema(piece_2, piece_1)), '.q'), status => true);
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
                    session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'ALTER', hint);
                    EXIT string_1 WHEN session.leaving;
                END;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                BEGIN
                    result := NULL;
                    OPEN result FOR EXECUTE concat('SELECT 1 FROM ', quote_ident(ssb_internal.dynamic_schema('[dbo]', ssb_internal.bracketed_identifier(replace(piece_3, ']]', ']')))), '.q');
                    session := ssb_internal.show(session, result, '[{"name":null,"type":"integer"}]');
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                    session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'SELECT');
                    EXIT string_1 WHEN session.leaving;
                END;
            END string_1;
            session := ssb_internal.leave(session, caller);
        END IF;
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 15151, Level 16, State 1, Line 1
Cannot alter the queue 'q', because it does not exist or you do not have permission.
Msg 208, Level 16, State 1, Line 1
Invalid object name '' + @db + N'.dbo.q'.

-- case: a piece between names that need quotes
DECLARE @v int = 1 + @@SPID * 0, @a sysname = N'o' + LEFT(CAST(@@SPID AS nvarchar(9)), 0), @b sysname = N'p' + LEFT(CAST(@@SPID AS nvarchar(9)), 0);
EXEC (N'SELECT [a b] FROM (SELECT 1 AS [a b], 2 AS [c d]) AS q WHERE [a b] = ' + @v + N' AND [c d] = 2');
EXEC (N'SELECT 1 AS [it''s "' + @a + N'"], ''"'' AS x, N''c:\' + @b + N''' AS y');
EXEC (N'SELECT [' + @a + N'_' + @b + N'] FROM (SELECT 3 AS o_p) AS q');
-- expect
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
        v integer;
        a varchar(128);
        b varchar(128);
        piece_1 text;
        caller ssb.session;
        ready boolean;
        piece_1_2 text;
        piece_2 text;
        caller_2 ssb.session;
        piece_1_3 text;
        piece_2_2 text;
        caller_3 ssb.session;
    BEGIN
        BEGIN
            v := 1 + pg_backend_pid() * 0;
            session.error := 0; session.rowcount := 1;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            a := 'o' || left(sys.convert_nvarchar(pg_backend_pid(), 9), 0);
            session.error := 0; session.rowcount := 1;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            b := 'p' || left(sys.convert_nvarchar(pg_backend_pid(), 9), 0);
            session.error := 0; session.rowcount := 1;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            ready := false;
            piece_1 := v::text;
            ready := piece_1 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ready THEN
            caller := session;
            session := ssb_internal.enter_string(session);
            <<string_1>>
            BEGIN
                BEGIN
                    result := NULL;
                    OPEN result FOR EXECUTE concat('SELECT "a b"
FROM (SELECT 1 AS "a b", 2 AS "c d") AS q
WHERE "a b" = ', ssb_internal.dynamic_value(piece_1), ' AND "c d" = 2');
                    session := ssb_internal.show(session, result, '[{"name":"a b","type":"integer"}]');
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                    session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'SELECT');
                    EXIT string_1 WHEN session.leaving;
                END;
            END string_1;
            session := ssb_internal.leave(session, caller);
        END IF;
        EXIT batch WHEN session.leaving;
        BEGIN
            ready := false;
            piece_1_2 := left(sys.convert_nvarchar(pg_backend_pid(), 9), 0);
            piece_2 := left(sys.convert_nvarchar(pg_backend_pid(), 9), 0);
            ready := piece_1_2 IS NOT NULL AND piece_2 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ready THEN
            caller_2 := session;
            session := ssb_internal.enter_string(session);
            <<string_2>>
            BEGIN
                BEGIN
                    result := NULL;
                    OPEN result FOR EXECUTE concat('SELECT 1 AS ', ssb_internal.dynamic_identifier(ssb_internal.bracketed_identifier(concat('it''s "o', replace(piece_1_2, ']]', ']'), '"'))), E', ''"'' AS x, E''c:\\\\p', replace(piece_2, E'\\', E'\\\\'), ''' AS y');
                    session := ssb_internal.show(session, result, json_build_array(json_build_object('name', concat('it''s "o', replace(piece_1_2, ']]', ']'), '"'), 'type', 'integer'), json_build_object('name', 'x', 'type', 'varchar(1)'), json_build_object('name', 'y', 'type', 'varchar(23)')));
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                    session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'SELECT');
                    EXIT string_2 WHEN session.leaving;
                END;
            END string_2;
            session := ssb_internal.leave(session, caller_2);
        END IF;
        EXIT batch WHEN session.leaving;
        BEGIN
            ready := false;
            piece_1_3 := left(sys.convert_nvarchar(pg_backend_pid(), 9), 0);
            piece_2_2 := left(sys.convert_nvarchar(pg_backend_pid(), 9), 0);
            ready := piece_1_3 IS NOT NULL AND piece_2_2 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ready THEN
            caller_3 := session;
            session := ssb_internal.enter_string(session);
            <<string_3>>
            BEGIN
                BEGIN
                    result := NULL;
                    OPEN result FOR EXECUTE concat('SELECT ', ssb_internal.dynamic_identifier(ssb_internal.bracketed_identifier(concat('o', replace(piece_1_3, ']]', ']'), '_p', replace(piece_2_2, ']]', ']')))), ' FROM (SELECT 3 AS o_p) AS q');
                    session := ssb_internal.show(session, result, json_build_array(json_build_object('name', concat('o', replace(piece_1_3, ']]', ']'), '_p', replace(piece_2_2, ']]', ']')), 'type', NULL)));
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                    session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'SELECT');
                    EXIT string_3 WHEN session.leaving;
                END;
            END string_3;
            session := ssb_internal.leave(session, caller_3);
        END IF;
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
a b
---
  1

(1 row affected)

it's "o" x y
-------- - ----
       1 " c:\p

(1 row affected)

o_p
---
  3

(1 row affected)

-- case: USE holds to the end of its text
CREATE DATABASE Elsewhere
GO
CREATE QUEUE here_only
GO
EXEC ('USE Elsewhere; CREATE QUEUE there_only; SELECT DB_NAME() AS inside')
SELECT name FROM sys.service_queues WHERE is_ms_shipped = 0
GO
-- expect
SELECT ssb.create_database('Elsewhere');

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    hint text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        BEGIN
            PERFORM ssb.create_queue('dbo.here_only');
            session.error := 0; session.rowcount := 0;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'CREATE', hint); EXIT batch WHEN session.leaving;
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
    detail text;
    hint text;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        database_used text;
        caller ssb.session;
        ready boolean;
    BEGIN
        BEGIN
            ready := false;
            database_used := current_setting('pgsb.database', true);
            ready := true;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ready THEN
            caller := session;
            session := ssb_internal.enter_string(session);
            <<string_1>>
            BEGIN
                BEGIN
                    PERFORM ssb.use_database('Elsewhere');
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
                    session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'USE', hint);
                    EXIT string_1 WHEN session.leaving;
                END;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                BEGIN
                    PERFORM ssb.create_queue('elsewhere_dbo.there_only');
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
                    session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'CREATE', hint);
                    EXIT string_1 WHEN session.leaving;
                END;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                BEGIN
                    result := NULL;
                    OPEN result FOR SELECT sys.db_name(sys.db_id('elsewhere')) AS inside;
                    session := ssb_internal.show(session, result, '[{"name":"inside","type":"varchar(128)"}]');
                EXCEPTION WHEN OTHERS THEN
                    session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_1 WHEN session.leaving;
                END;
            END string_1;
            session := ssb_internal.leave(session, caller);
            PERFORM ssb_internal.return_to_database(database_used);
        END IF;
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT name FROM sys.service_queues WHERE is_ms_shipped = 0;
            session := ssb_internal.show(session, result, '[{"name":"name","type":"varchar(128)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
inside
---------
Elsewhere

(1 row affected)

name
---------
here_only

(1 row affected)

-- case: a quote or a bracket that the text doubles is one in the name or value that it means
CREATE QUEUE [par]]cels];
CREATE SERVICE [//it's]]here] ON QUEUE [par]]cels] ([DEFAULT]);
GO
CREATE PROCEDURE dbo.send_to @from NVARCHAR(100), @to NVARCHAR(100), @body NVARCHAR(100) AS
EXEC (N'DECLARE @h UNIQUEIDENTIFIER;
BEGIN DIALOG @h FROM SERVICE [' + REPLACE(@from, ']', ']]') + N'] TO SERVICE ''' + REPLACE(@to, '''', '''''') + N''' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N''' + REPLACE(@body, '''', '''''') + N''');');
GO
EXEC dbo.send_to N'//it''s]here', N'//it''s]here', N'say ''yes''';
SELECT service_name, CAST(message_body AS NVARCHAR(100)) AS body FROM [par]]cels];
-- expect
SELECT ssb.create_queue('dbo."par]cels"');

SELECT ssb.create_service('//it''s]here', queue => 'dbo."par]cels"', contracts => ARRAY['DEFAULT']::text[]);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.send_to', 'varchar, varchar, varchar, ssb.session');

CREATE OR REPLACE PROCEDURE dbo.send_to(
    "from" varchar,
    "to" varchar,
    body varchar,
    INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $send_to$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb_internal.enter(session, caller, 'send_to');
    <<send_to>>
    DECLARE
        piece_1 text;
        piece_2 text;
        piece_3 text;
        caller_2 ssb.session;
        ready boolean;
    BEGIN
        EXIT send_to WHEN session.leaving;  -- nested deeper than 32
        "from" := "from"::varchar(100);
        "to" := "to"::varchar(100);
        body := body::varchar(100);
        BEGIN
            ready := false;
            piece_1 := sys.replace("from", ']', ']]');
            piece_2 := sys.replace("to", '''', '''''');
            piece_3 := sys.replace(body, '''', '''''');
            ready := piece_1 IS NOT NULL AND piece_2 IS NOT NULL AND piece_3 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT send_to WHEN session.leaving;
        END;
        IF ready THEN
            caller_2 := session;
            session := ssb_internal.enter_string(session);
            <<string_1>>
            DECLARE
                h uuid;
                begun uuid;
            BEGIN
                EXIT string_1 WHEN session.leaving;  -- nested deeper than 32
                BEGIN
                    begun := ssb_internal.begin_and_send(replace(piece_1, ']]', ']'), concat(replace(piece_2, '''''', '''')), 'DEFAULT', 'DEFAULT', CAST(concat(replace(piece_3, '''''', '''')) AS text), p_is_encrypted => false);
                EXCEPTION WHEN OTHERS THEN begun := NULL;  -- the statements tell what is wrong
                END;
                IF begun IS NOT NULL THEN
                    h := begun;
                    session.error := 0; session.rowcount := 0;
                    IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                ELSE
                    BEGIN
                        h := ssb.begin_dialog(replace(piece_1, ']]', ']'), concat(replace(piece_2, '''''', '''')), encryption => false);
                    EXCEPTION WHEN OTHERS THEN
                        session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT string_1 WHEN session.leaving;
                    END;
                    IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                    BEGIN
                        PERFORM ssb.send(h, 'DEFAULT', CAST(concat(replace(piece_3, '''''', '''')) AS text));
                        session.error := 0; session.rowcount := 0;
                    EXCEPTION WHEN OTHERS THEN
                        session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT string_1 WHEN session.leaving;
                    END;
                    IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                END IF;
            END string_1;
            session := ssb_internal.leave(session, caller_2);
        END IF;
        EXIT send_to WHEN session.leaving;
    END send_to;
    session := ssb_internal.leave(session, caller);
END;
$send_to$;

END;
$whole$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        CALL dbo.send_to('//it''s]here', '//it''s]here', 'say ''yes''', session);
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT service_name, sys.convert_nvarchar(message_body, 100) AS body FROM dbo."par]cels";
            session := ssb_internal.show(session, result, '[{"name":"service_name","type":"varchar(512)"},{"name":"body","type":"varchar(100)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
service_name body
------------ ---------
//it's]here  say 'yes'

(1 row affected)

-- case: hints over a table that only the run time knows
DECLARE @t SYSNAME = N'K', @id INT = 5, @s NVARCHAR(MAX);
SET @s = N'SELECT Id FROM dbo.' + QUOTENAME(@t) + N' WITH (UPDLOCK, HOLDLOCK) WHERE Id = @i';
EXEC sp_executesql @s, N'@i INT', @i = @id;
-- expect
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
        t varchar(128) := 'K';
        id integer := 5;
        s text;
        piece_1 text;
        i_passed integer;
        caller ssb.session;
        ready boolean;
    BEGIN
        BEGIN
            s := 'SELECT Id FROM dbo.' || sys.quotename(t) || ' WITH (UPDLOCK, HOLDLOCK) WHERE Id = @i';
            session.error := 0; session.rowcount := 1;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            ready := false;
            piece_1 := sys.quotename(t);
            i_passed := id;
            ready := piece_1 IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF ready THEN
            caller := session;
            session := ssb_internal.enter_string(session, 2);
            <<string_1>>
            DECLARE
                i integer := i_passed;
            BEGIN
                BEGIN
                    EXECUTE concat('LOCK TABLE ', ssb_internal.dynamic_name('dbo', piece_1), ' IN SHARE ROW EXCLUSIVE MODE');
                    result := NULL;
                    OPEN result FOR EXECUTE concat('SELECT id FROM ', ssb_internal.dynamic_name('dbo', piece_1), ' WHERE id = $1 FOR UPDATE') USING i;
                    session := ssb_internal.show(session, result, '[{"name":"Id","type":null}]');
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                    session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'SELECT');
                    EXIT string_1 WHEN session.leaving;
                END;
            END string_1;
            session := ssb_internal.leave(session, caller);
        END IF;
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 208, Level 16, State 1, Line 1
Invalid object name 'K'.

-- case: a text that runs as somebody else, known and unknown
CREATE PROCEDURE dbo.run_as @s NVARCHAR(100) AS
EXEC ('DELETE dbo.t') AS USER = 'guest'
EXEC (@s) AS LOGIN = N'Guest'
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.run_as', 'varchar, ssb.session');

CREATE OR REPLACE PROCEDURE dbo.run_as(s varchar, INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $run_as$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.enter(session, caller, 'run_as');
    <<run_as>>
    DECLARE
        caller_2 ssb.session;
        roles_before text;
        impersonates boolean;
        dynamic_text text;
        arguments text[];
        roles_before_2 text;
        impersonates_2 boolean;
    BEGIN
        EXIT run_as WHEN session.leaving;  -- nested deeper than 32
        s := s::varchar(100);
        roles_before := current_setting('pgsb.roles', true);
        impersonates := false;
        BEGIN
            PERFORM ssb_internal.execute_as('guest');
            impersonates := true;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT run_as WHEN session.leaving;
        END;
        IF impersonates THEN
            caller_2 := session;
            session := ssb_internal.enter_string(session);
            <<string_1>>
            BEGIN
                EXIT string_1 WHEN session.leaving;  -- nested deeper than 32
                BEGIN
                    DELETE FROM dbo.t;
                    IF session.tells_identity THEN session.identity := ssb_internal.identity_told('dbo.t', false, session.identity); END IF;
                    GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                    PERFORM ssb_internal.show_count(session);
                    session.error := 0;
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                    session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'DELETE');
                    EXIT string_1 WHEN session.leaving;
                END;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            END string_1;
            session := ssb_internal.leave(session, caller_2);
            PERFORM ssb_internal.revert_to(roles_before);
        END IF;
        EXIT run_as WHEN session.leaving;
        BEGIN
            dynamic_text := s;
            arguments := '{}'::text[];
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT run_as WHEN session.leaving;
        END;
        roles_before_2 := current_setting('pgsb.roles', true);
        impersonates_2 := false;
        BEGIN
            PERFORM ssb_internal.execute_as_login('Guest');
            impersonates_2 := true;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT run_as WHEN session.leaving;
        END;
        IF impersonates_2 THEN
            CALL ssb_internal.execute_text(dynamic_text, NULL, '{}'::text[], arguments, session, 3, 1);
            PERFORM ssb_internal.revert_to(roles_before_2);
        END IF;
        EXIT run_as WHEN session.leaving;
    END run_as;
    session := ssb_internal.leave(session, caller);
END;
$run_as$;

END;
$whole$;
-- shows


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
    CALL ssb.begin_batch(session);
    <<batch>>
    DECLARE
        n integer;
        caller ssb.session;
    BEGIN
        n := 1;
        session.error := 0; session.rowcount := 1;
        caller := session;
        session := ssb.enter_string(session);
        <<string_1>>
        DECLARE
            n_2 integer := 5;
        BEGIN
            PERFORM ssb.print(n_2::text);
            EXIT string_1;
            PERFORM ssb.print(1::text);
        END string_1;
        session := ssb.leave(session, caller);
        EXIT batch WHEN session.leaving;
        PERFORM ssb.print(n::text);
    END batch;
    CALL ssb.end_batch(session);
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
    CALL ssb.begin_batch(session);
    <<batch>>
    DECLARE
        sql varchar(200) := 'SET @twice = @n * 2; ';
        r integer;
        n_passed integer;
        twice_passed integer;
        caller ssb.session;
    BEGIN
        sql := (sql || 'PRINT @n')::varchar(200);
        BEGIN
            n_passed := 21;
            twice_passed := r;
        EXCEPTION WHEN OTHERS THEN session := ssb.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        caller := session;
        session := ssb.enter_string(session);
        DECLARE
            n integer := n_passed;
            twice integer := twice_passed;
        BEGIN
            <<string_1>>
            BEGIN
                BEGIN
                    twice := n * 2;
                EXCEPTION WHEN OTHERS THEN session := ssb.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_1 WHEN session.leaving;
                END;
                PERFORM ssb.print(n::text);
            END string_1;
            IF NOT session.leaving THEN
                twice_passed := twice;
            END IF;
        END;
        session := ssb.leave(session, caller);
        r := twice_passed;
        EXIT batch WHEN session.leaving;
        PERFORM ssb.print(r::text);
    END batch;
    CALL ssb.end_batch(session);
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
    CALL ssb.begin_batch(session);
    <<batch>>
    DECLARE
        caller ssb.session;
    BEGIN
        session.try_depth := session.try_depth + 1;  -- BEGIN TRY
        <<try_1>>
        BEGIN
            caller := session;
            session := ssb.enter_string(session);
            <<string_1>>
            BEGIN
                BEGIN
                    result := NULL;
                    OPEN result FOR SELECT * FROM dbo.no_such_table;
                    session := ssb.show(session, result, NULL);
                EXCEPTION WHEN OTHERS THEN session := ssb.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_1 WHEN session.leaving;
                END;
                PERFORM ssb.print('never');
            END string_1;
            session := ssb.leave(session, caller);
            EXIT try_1 WHEN session.leaving;
        END try_1;
        session.try_depth := session.try_depth - 1;  -- END TRY
        EXIT batch WHEN session.unresolved;
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb.begin_catch(session);
            PERFORM ssb.print(((session.caught).number)::text);
            session.caught := NULL;  -- END CATCH
        END IF;
    END batch;
    CALL ssb.end_batch(session);
END;
$batch$;
-- shows
208

-- case: a text that only the run time knows is refused
DECLARE @sql nvarchar(100) = (SELECT TOP (1) name FROM sys.databases);
EXEC (@sql);
-- expect
case.sql:2:7: error: the text of this dynamic SQL is not known before the program runs, and T-SQL cannot be translated in the server
    2 | EXEC (@sql);
      |       ^^^^
hint: build the text from literals, or pass what varies as parameters of sp_executesql
-- shows
Msg 102, Level 15, State 1, Line 2
case.sql:2:7: error: the text of this dynamic SQL is not known before the program runs, and T-SQL cannot be translated in the server
    2 | EXEC (@sql);
      |       ^^^^
hint: build the text from literals, or pass what varies as parameters of sp_executesql

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
    CALL ssb.begin_batch(session);
    <<batch>>
    DECLARE
        caller ssb.session;
    BEGIN
        caller := session;
        session := ssb.enter_string(session);
        <<string_1>>
        BEGIN
            BEGIN
                PERFORM ssb.prepare_module('CREATE', 'PROCEDURE', 'dbo.made', 'ssb.session');
                EXECUTE 'CREATE OR REPLACE PROCEDURE dbo.made(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $made$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb.enter(session, caller, ''made'');
    <<made>>
    BEGIN
        PERFORM ssb.print(''made'');
        session.error := 0; session.rowcount := 0;
    END made;
    session := ssb.leave(session, caller);
END;
$made$';
                session.error := 0; session.rowcount := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb.failed(session, 1, SQLSTATE, SQLERRM, detail, 'CREATE'); EXIT string_1 WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; END IF;
        END string_1;
        session := ssb.leave(session, caller);
        EXIT batch WHEN session.leaving;
        CALL dbo.made(session);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb.end_batch(session);
END;
$batch$;
-- shows
made

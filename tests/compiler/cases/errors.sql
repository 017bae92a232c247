-- case: TRY is a labelled block, so that COMMIT stays possible inside it
CREATE TABLE dbo.t (id int PRIMARY KEY);
GO
BEGIN TRY
    BEGIN TRANSACTION;
    INSERT INTO dbo.t (id) VALUES (1);
    COMMIT;
    INSERT INTO dbo.t (id) VALUES (1);
    PRINT 'never';
END TRY
BEGIN CATCH
    PRINT ERROR_NUMBER();
    PRINT ERROR_LINE();
END CATCH
SELECT id FROM dbo.t;
-- expect
CREATE TABLE dbo.t (
    id integer PRIMARY KEY
);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            session := ssb_internal.begin_transaction(session);
            BEGIN
                INSERT INTO dbo.t (id) VALUES (1);
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                PERFORM ssb_internal.show_count(session);
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT try_1;
            END;
            CALL ssb_internal.commit_transaction(session, 4);
            EXIT try_1 WHEN session.leaving;
            BEGIN
                INSERT INTO dbo.t (id) VALUES (1);
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                PERFORM ssb_internal.show_count(session);
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT try_1;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            PERFORM ssb_internal.print('never');
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        EXIT batch WHEN session.unresolved;
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print((session.caught).number::text);
            PERFORM ssb_internal.print((session.caught).line::text);
            session.caught := NULL;  -- END CATCH
        END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id FROM dbo.t;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 12, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

2627
5
id
--
 1

(1 row affected)

-- case: an empty CATCH block swallows the error
BEGIN TRY
    DECLARE @n int = 1 / 0;
END TRY
BEGIN CATCH
END CATCH
PRINT 'on';
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
    BEGIN
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            BEGIN
                n := 1 / 0;
            EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT try_1;
            END;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            session.caught := NULL;  -- END CATCH
        END IF;
        PERFORM ssb_internal.print('on');
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
on

-- case: an error inside CATCH goes to the TRY around it, and the outer error comes back afterwards
BEGIN TRY
    BEGIN TRY
        RAISERROR(N'inner', 16, 1);
    END TRY
    BEGIN CATCH
        PRINT ERROR_MESSAGE();
        BEGIN TRY
            RAISERROR(N'nested', 16, 1);
        END TRY
        BEGIN CATCH
            PRINT ERROR_MESSAGE();
        END CATCH
        PRINT ERROR_MESSAGE();
        THROW 50001, N'outer', 1;
    END CATCH
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_MESSAGE(), ' ', ERROR_NUMBER());
END CATCH
PRINT ISNULL(ERROR_MESSAGE(), N'none');
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    caught_1 ssb.error;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
            <<try_2>>
            BEGIN
                session := ssb_internal.raiserror(session, 3, 'inner', 16, 1);
                EXIT try_2;
            END try_2;
            session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
            IF session.leaving THEN  -- BEGIN CATCH
                session := ssb_internal.begin_catch(session);
                PERFORM ssb_internal.print((session.caught).message);
                caught_1 := session.caught;
                session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
                <<try_3>>
                BEGIN
                    session := ssb_internal.raiserror(session, 8, 'nested', 16, 1);
                    EXIT try_3;
                END try_3;
                session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
                IF session.leaving THEN  -- BEGIN CATCH
                    session := ssb_internal.begin_catch(session);
                    PERFORM ssb_internal.print((session.caught).message);
                    session.caught := caught_1;  -- END CATCH
                END IF;
                PERFORM ssb_internal.print((session.caught).message);
                session := ssb_internal.throw(session, 14, 50001, 'outer', 1);
                EXIT try_1;
            END IF;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print(concat((session.caught).message, ' ', (session.caught).number));
            session.caught := NULL;  -- END CATCH
        END IF;
        PERFORM ssb_internal.print(COALESCE((session.caught).message, 'none'));
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
inner
nested
inner
outer 50001
none

-- case: RAISERROR below 11 is a message, from 11 an error that ends nothing
RAISERROR(N'five %d %s', 5, 1, 42, N'x') WITH NOWAIT;
RAISERROR(N'sixteen', 16, 7);
PRINT @@ERROR;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        session := ssb_internal.raiserror(session, 1, 'five %d %s', 5, 1, arguments => ARRAY[42::text, 'x']::text[]);
        session := ssb_internal.raiserror(session, 2, 'sixteen', 16, 7);
        PERFORM ssb_internal.print(session.error::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
five 42 x
Msg 50000, Level 16, State 7, Line 2
sixteen
50000

-- case: THROW outside TRY ends the batch
PRINT 'before';
THROW 50005, N'thrown', 3;
PRINT 'never';
GO
PRINT 'the next batch runs';
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        PERFORM ssb_internal.print('before');
        session := ssb_internal.throw(session, 2, 50005, 'thrown', 3);
        EXIT batch;
        PERFORM ssb_internal.print('never');
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<this_batch>>
    BEGIN
        PERFORM ssb_internal.print('the next batch runs');
    END this_batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
before
Msg 50005, Level 16, State 3, Line 2
thrown
the next batch runs

-- case: a conversion error ends the batch outside TRY
DECLARE @n int;
SET @n = CAST(N'x' AS int);
PRINT 'never';
GO
PRINT 'next';
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
    BEGIN
        BEGIN
            n := sys.convert_int('x', 'nvarchar');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print('never');
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        PERFORM ssb_internal.print('next');
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 245, Level 16, State 1, Line 2
Conversion failed when converting the nvarchar value 'x' to data type int.
next

-- case: XACT_ABORT ends the batch and rolls back, and dooms inside TRY
CREATE TABLE dbo.t (id int PRIMARY KEY);
GO
SET XACT_ABORT ON;
BEGIN TRANSACTION;
INSERT INTO dbo.t (id) VALUES (1);
INSERT INTO dbo.t (id) VALUES (1);
PRINT 'never';
COMMIT;
GO
SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    INSERT INTO dbo.t (id) VALUES (2);
    INSERT INTO dbo.t (id) VALUES (2);
    COMMIT;
END TRY
BEGIN CATCH
    PRINT XACT_STATE();
    BEGIN TRY
        INSERT INTO dbo.t (id) VALUES (3);
    END TRY
    BEGIN CATCH
        PRINT ERROR_NUMBER();
    END CATCH
    ROLLBACK;
END CATCH
SELECT COUNT(*) AS rows FROM dbo.t;
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
    BEGIN
        session.xact_abort := true;
        session := ssb_internal.begin_transaction(session);
        BEGIN
            INSERT INTO dbo.t (id) VALUES (1);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            INSERT INTO dbo.t (id) VALUES (1);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print('never');
        CALL ssb_internal.commit_transaction(session, 6);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    caught_1 ssb.error;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        session.xact_abort := true;
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            session := ssb_internal.begin_transaction(session);
            BEGIN
                INSERT INTO dbo.t (id) VALUES (2);
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                PERFORM ssb_internal.show_count(session);
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT try_1;
            END;
            BEGIN
                INSERT INTO dbo.t (id) VALUES (2);
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                PERFORM ssb_internal.show_count(session);
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT try_1;
            END;
            CALL ssb_internal.commit_transaction(session, 6);
            EXIT try_1 WHEN session.leaving;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        EXIT batch WHEN session.unresolved;
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print(ssb_internal.xact_state(session)::text);
            caught_1 := session.caught;
            session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
            <<try_2>>
            BEGIN
                BEGIN
                    INSERT INTO dbo.t (id) VALUES (3);
                    GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                    PERFORM ssb_internal.show_count(session);
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                    session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT try_2;
                END;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            END try_2;
            session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
            EXIT batch WHEN session.unresolved;
            IF session.leaving THEN  -- BEGIN CATCH
                session := ssb_internal.begin_catch(session);
                PERFORM ssb_internal.print((session.caught).number::text);
                session.caught := caught_1;  -- END CATCH
            END IF;
            CALL ssb_internal.rollback_transaction(session, 16);
            EXIT batch WHEN session.leaving;
            session.caught := NULL;  -- END CATCH
        END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS rows FROM dbo.t;
            session := ssb_internal.show(session, result, '[{"name":"rows","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 18, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

Msg 2627, Level 14, State 1, Line 4
Violation of PRIMARY KEY constraint 't_pkey'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (1).
(1 row affected)

-1
3930
rows
----
   0

(1 row affected)

-- case: an unresolved name is not caught in its own batch but by a caller
CREATE PROCEDURE dbo.reads_nothing AS
BEGIN TRY
    SELECT * FROM dbo.no_such_table;
END TRY
BEGIN CATCH
    PRINT 'not here';
END CATCH
GO
BEGIN TRY
    EXEC dbo.reads_nothing;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ' in ', ERROR_PROCEDURE());
END CATCH
EXEC dbo.reads_nothing;
PRINT 'the caller goes on';
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.reads_nothing', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.reads_nothing(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $reads_nothing$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.enter(session, caller, 'reads_nothing');
    <<reads_nothing>>
    BEGIN
        EXIT reads_nothing WHEN session.leaving;  -- nested deeper than 32
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            BEGIN
                result := NULL;
                OPEN result FOR SELECT * FROM dbo.no_such_table;
                session := ssb_internal.show(session, result, NULL);
            EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT try_1;
            END;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        EXIT reads_nothing WHEN session.unresolved;
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print('not here');
            session.error := 0; session.rowcount := 0;
            session.caught := caller.caught;  -- END CATCH
        END IF;
    END reads_nothing;
    session := ssb_internal.leave(session, caller);
END;
$reads_nothing$;

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
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            CALL dbo.reads_nothing(session);
            EXIT try_1 WHEN session.leaving;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print(concat((session.caught).number, ' in ', nullif((session.caught).procedure, '')));
            session.caught := NULL;  -- END CATCH
        END IF;
        CALL dbo.reads_nothing(session);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print('the caller goes on');
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
208 in reads_nothing
Msg 208, Level 16, State 1, Procedure reads_nothing, Line 3
Invalid object name 'dbo.no_such_table'.
the caller goes on

-- case: severity 19 needs no more than WITH LOG, THROW keeps the caught error as it was
BEGIN TRY
    RAISERROR(N'grave', 19, 2) WITH LOG;
END TRY
BEGIN CATCH
    PRINT ERROR_SEVERITY();
    THROW;
END CATCH
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            session := ssb_internal.raiserror(session, 2, 'grave', 19, 2);
            EXIT try_1;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print((session.caught).severity::text);
            session := ssb_internal.rethrow(session, 6);
            EXIT batch;
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
19
Msg 50000, Level 19, State 2, Line 2
grave

-- case: leaving TRY by BREAK, CONTINUE and RETURN
DECLARE @i int = 0;
WHILE @i < 5
BEGIN TRY
    SET @i = @i + 1;
    IF @i = 1 CONTINUE;
    IF @i = 3 BREAK;
    PRINT @i;
END TRY
BEGIN CATCH
    PRINT 'never';
END CATCH
BEGIN TRY
    RETURN;
END TRY
BEGIN CATCH
END CATCH
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        i integer := 0;
    BEGIN
        WHILE i < 5 LOOP
            session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
            <<try_1>>
            BEGIN
                BEGIN
                    i := i + 1;
                EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT try_1;
                END;
                IF i = 1 THEN
                    session.try_depth := ssb_internal.tries(session.try_depth - 1);
                    CONTINUE;
                END IF;
                IF i = 3 THEN
                    session.try_depth := ssb_internal.tries(session.try_depth - 1);
                    EXIT;
                END IF;
                PERFORM ssb_internal.print(i::text);
            END try_1;
            session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
            IF session.leaving THEN  -- BEGIN CATCH
                session := ssb_internal.begin_catch(session);
                PERFORM ssb_internal.print('never');
                session.caught := NULL;  -- END CATCH
            END IF;
        END LOOP;
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_2>>
        BEGIN
            EXIT batch;
        END try_2;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            session.caught := NULL;  -- END CATCH
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
2

-- case: a function that is not there
PRINT dbo.no_such_function(1);
PRINT @@ERROR;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        BEGIN
            PERFORM ssb_internal.print(sys.convert_nvarchar(dbo.no_such_function(1)));
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(session.error::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 4121, Level 16, State 1, Line 1
Cannot find either column "dbo" or the user-defined function or aggregate "dbo.no_such_function", or the name is ambiguous.
4121

-- case: RAISERROR with a number takes its text from sys.messages

DECLARE @id int = 50005;
EXEC sp_addmessage 50005, 16, N'%s has %d', @replace = 'replace';
RAISERROR (50005, 16, 1, N'a', 3);
RAISERROR (@id, 10, 1, N'b', 4);
RAISERROR (50099, 16, 1);
EXEC sp_dropmessage 50005;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    hint text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        id integer := 50005;
    BEGIN
        BEGIN
            PERFORM sys.addmessage(msgnum => 50005, severity => 16, msgtext => '%s has %d', replace => 'replace');
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
            session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM, detail, 'EXECUTE', hint); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            session := ssb_internal.raiserror(session, 4, sys.message_text(50005, 16, 1), 16, 1, arguments => ARRAY['a', 3::text]::text[], number => 50005);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            session := ssb_internal.raiserror(session, 5, sys.message_text(id, 10, 1), 10, 1, arguments => ARRAY['b', 4::text]::text[], number => id);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            session := ssb_internal.raiserror(session, 6, sys.message_text(50099, 16, 1), 16, 1, number => 50099);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM sys.dropmessage(msgnum => 50005);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
            session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM, detail, 'EXECUTE', hint); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 50005, Level 16, State 1, Line 4
a has 3
b has 4
Msg 18054, Level 16, State 1, Line 6
Error 50099, severity 16, state 1 was raised, but no message with that error number was found in sys.messages. If error is larger than 50000, make sure the user-defined message is added using sp_addmessage.

-- case: EXECUTE AS a principal that has no role says which one is missing

EXECUTE AS USER = 'Nobody_Here';
-- expect
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
            PERFORM ssb_internal.execute_as('Nobody_Here');
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'EXECUTE', hint); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 15517, Level 16, State 1, Line 2
Cannot execute as the database principal because the principal "Nobody_Here" does not exist, this type of principal cannot be impersonated, or you do not have permission.
hint: Here it is the PostgreSQL role of the same name: CREATE ROLE nobody_here, and GRANT it to who runs this.

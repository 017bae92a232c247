-- case: COMMIT and ROLLBACK are real, @@TRANCOUNT counts
CREATE TABLE dbo.t (id int);
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t (id) VALUES (1);
BEGIN TRAN inner_one;
PRINT @@TRANCOUNT;
COMMIT;
ROLLBACK;
PRINT @@TRANCOUNT;
SELECT COUNT(*) AS rows FROM dbo.t;
-- expect
CREATE TABLE dbo.t (
    id integer
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
        session := ssb_internal.begin_transaction(session);
        BEGIN
            INSERT INTO dbo.t (id) VALUES (1);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        session := ssb_internal.begin_transaction(session, 'inner_one');
        PERFORM ssb_internal.print(session.trancount::text);
        CALL ssb_internal.commit_transaction(session, 5);
        EXIT batch WHEN session.leaving;
        CALL ssb_internal.rollback_transaction(session, 6);
        PERFORM ssb_internal.print(session.trancount::text);
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS rows FROM dbo.t;
            session := ssb_internal.show(session, result, '[{"name":"rows","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

2
0
rows
----
   0

(1 row affected)

-- case: without a transaction each statement commits by itself
CREATE TABLE dbo.t (id int NOT NULL);
GO
DECLARE @n int = 1;
INSERT INTO dbo.t (id) VALUES (@n);
ROLLBACK;
SELECT COUNT(*) AS rows FROM dbo.t;
-- expect
CREATE TABLE dbo.t (
    id integer NOT NULL
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
    DECLARE
        n integer := 1;
    BEGIN
        BEGIN
            INSERT INTO dbo.t (id) VALUES (n);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        CALL ssb_internal.rollback_transaction(session, 3);
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS rows FROM dbo.t;
            session := ssb_internal.show(session, result, '[{"name":"rows","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

Msg 3903, Level 16, State 1, Line 3
The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.
rows
----
   1

(1 row affected)

-- case: a transaction that stays open over GO joins the batches
CREATE TABLE dbo.t (id int);
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t (id) VALUES (1);
GO
DECLARE @n int = 2;
INSERT INTO dbo.t (id) VALUES (@n);
PRINT @@TRANCOUNT;
GO
ROLLBACK;
GO
SELECT COUNT(*) AS rows FROM dbo.t;
-- expect
CREATE TABLE dbo.t (
    id integer
);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch_1>>
    BEGIN
        session := ssb_internal.begin_transaction(session);
        BEGIN
            INSERT INTO dbo.t (id) VALUES (1);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch_1 WHEN session.leaving;
        END;
    END batch_1;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_2>>
    DECLARE
        n integer := 2;
    BEGIN
        BEGIN
            INSERT INTO dbo.t (id) VALUES (n);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch_2 WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(session.trancount::text);
    END batch_2;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_3>>
    BEGIN
        CALL ssb_internal.rollback_transaction(session, 1);
        EXIT batch_3 WHEN session.leaving;
    END batch_3;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

SELECT count(*) AS rows FROM dbo.t;
-- shows
(1 row affected)

(1 row affected)

1
rows
----
   0

(1 row affected)

-- case: COMMIT without BEGIN is an error that ends nothing
COMMIT;
PRINT @@ERROR;
ROLLBACK;
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
        CALL ssb_internal.commit_transaction(session, 1);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(session.error::text);
        CALL ssb_internal.rollback_transaction(session, 3);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(session.error::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 3902, Level 16, State 1, Line 1
The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.
3902
Msg 3903, Level 16, State 1, Line 3
The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.
3903

-- case: savepoints are exception blocks, and an earlier statement stays
CREATE TABLE dbo.t (id int);
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t (id) VALUES (1);
SAVE TRANSACTION before_second;
INSERT INTO dbo.t (id) VALUES (2);
ROLLBACK TRANSACTION before_second;
INSERT INTO dbo.t (id) VALUES (3);
COMMIT;
SELECT id FROM dbo.t ORDER BY id;
-- expect
CREATE TABLE dbo.t (
    id integer
);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    session_state text[];
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        pc integer := 1;
        saved_1 boolean := false;
        renew integer := 1;
    BEGIN
        <<machine_1>>
        LOOP
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            IF session.doomed THEN
                PERFORM ssb_internal.forbid_writing();
            END IF;
            IF renew = 0 THEN
                renew := 1;
                CASE pc
                WHEN 3 THEN
                    saved_1 := false;
                    pc := 4;
                    CALL ssb_internal.rollback_transaction(session, 5, 'before_second');
                    EXIT batch WHEN session.leaving;
                WHEN 5 THEN
                    saved_1 := false;
                    pc := 6;
                    CALL ssb_internal.commit_transaction(session, 7);
                    EXIT batch WHEN session.leaving;
                END CASE;
            ELSE
                BEGIN  -- savepoint before_second
                    <<machine_1_states>>
                    LOOP
                        CASE pc
                        WHEN 1 THEN
                            session := ssb_internal.begin_transaction(session);
                            BEGIN
                                INSERT INTO dbo.t (id) VALUES (1);
                                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                                PERFORM ssb_internal.show_count(session);
                            EXCEPTION WHEN OTHERS THEN
                                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                                session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT');
                                EXIT batch WHEN session.leaving;
                            END;
                            session := ssb_internal.save_transaction(session, 3);  -- SAVE TRANSACTION before_second
                            EXIT batch WHEN session.leaving;
                            pc := 2;
                            IF session.error = 0 THEN
                                saved_1 := true;
                                renew := 1;
                                EXIT machine_1_states;
                            END IF;
                            CONTINUE machine_1_states;
                        WHEN 2 THEN
                            BEGIN
                                INSERT INTO dbo.t (id) VALUES (2);
                                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                                PERFORM ssb_internal.show_count(session);
                            EXCEPTION WHEN OTHERS THEN
                                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM, detail, 'INSERT');
                                EXIT batch WHEN session.leaving;
                            END;
                            pc := 3;
                            CONTINUE machine_1_states;
                        WHEN 3 THEN
                            IF saved_1 AND NOT session.doomed THEN
                                pc := 4;
                                session.error := 0; session.rowcount := 0;
                                session_state := ssb_internal.session_state();
                                RAISE EXCEPTION USING ERRCODE = 'SV001', MESSAGE = 'ROLLBACK TRANSACTION before_second';
                            END IF;
                            IF NOT saved_1 AND session.transaction_name IS NOT DISTINCT FROM 'before_second' THEN
                                renew := 0;
                                EXIT machine_1_states;
                            END IF;
                            IF saved_1 THEN
                                session := ssb_internal.refuse_savepoint(session, 5);
                            ELSE
                                CALL ssb_internal.rollback_transaction(session, 5, 'before_second');
                            END IF;
                            EXIT batch WHEN session.leaving;
                            pc := 4;
                            CONTINUE machine_1_states;
                        WHEN 4 THEN
                            session.try_depth := ssb_internal.tries(session.try_depth);
                            PERFORM ssb_internal.restore_session_state(session_state);
                            session_state := NULL;
                            BEGIN
                                INSERT INTO dbo.t (id) VALUES (3);
                                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                                PERFORM ssb_internal.show_count(session);
                            EXCEPTION WHEN OTHERS THEN
                                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                                session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'INSERT');
                                EXIT batch WHEN session.leaving;
                            END;
                            pc := 5;
                            CONTINUE machine_1_states;
                        WHEN 5 THEN
                            IF session.trancount = 1 AND NOT session.doomed THEN
                                renew := 0;
                                EXIT machine_1_states;
                            END IF;
                            CALL ssb_internal.commit_transaction(session, 7);
                            EXIT batch WHEN session.leaving;
                            pc := 6;
                            CONTINUE machine_1_states;
                        WHEN 6 THEN
                            BEGIN
                                result := NULL;
                                OPEN result FOR SELECT id FROM dbo.t ORDER BY id NULLS FIRST;
                                session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"}]');
                            EXCEPTION WHEN OTHERS THEN
                                session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
                            END;
                            pc := 7;
                            IF session.autocommit THEN
                                renew := 1;
                                EXIT machine_1_states;
                            END IF;
                            CONTINUE machine_1_states;
                        WHEN 7 THEN
                            EXIT batch;
                        END CASE;
                    END LOOP machine_1_states;
                EXCEPTION WHEN SQLSTATE 'SV001' THEN renew := 1;
                END;
            END IF;
        END LOOP machine_1;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

(1 row affected)

(1 row affected)

id
--
 1
 3

(2 rows affected)

-- case: a procedure's transaction mismatch is error 266
CREATE PROCEDURE dbo.opens AS BEGIN TRANSACTION;
GO
EXEC dbo.opens;
PRINT @@TRANCOUNT;
ROLLBACK;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.opens', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.opens(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $opens$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb_internal.enter(session, caller, 'opens');
    <<opens>>
    BEGIN
        EXIT opens WHEN session.leaving;  -- nested deeper than 32
        session := ssb_internal.begin_transaction(session);
    END opens;
    session := ssb_internal.leave(session, caller);
END;
$opens$;

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
        CALL dbo.opens(session);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(session.trancount::text);
        CALL ssb_internal.rollback_transaction(session, 3);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 266, Level 16, State 2, Procedure opens, Line 0
Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = 0, current count = 1.
1

-- case: an error at the end of a batch with a doomed transaction
BEGIN TRANSACTION;
BEGIN TRY
    DECLARE @n int = CAST(N'x' AS int);
END TRY
BEGIN CATCH
    PRINT XACT_STATE();
END CATCH
GO
PRINT @@TRANCOUNT;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch_1>>
    DECLARE
        n integer;
    BEGIN
        session := ssb_internal.begin_transaction(session);
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            BEGIN
                n := sys.convert_int('x', 'nvarchar');
            EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT try_1;
            END;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print(ssb_internal.xact_state(session)::text);
            session.caught := NULL;  -- END CATCH
        END IF;
    END batch_1;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_2>>
    BEGIN
        PERFORM ssb_internal.print(session.trancount::text);
    END batch_2;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
-1
Msg 3998, Level 16, State 1, Line 1
Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.
0

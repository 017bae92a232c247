-- case: SET NOEXEC keeps what follows from running, in this batch and the next ones
PRINT 'a';
SET NOEXEC ON;
PRINT 'b';
GO
CREATE TABLE dbo.t (id int);
GO
SET NOEXEC OFF;
PRINT 'c';
SELECT OBJECT_ID('dbo.t') AS made;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        PERFORM ssb_internal.print('a');
        session.noexec := true;
        IF NOT session.noexec THEN
            PERFORM ssb_internal.print('b');
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        IF NOT session.noexec THEN
            BEGIN
                CREATE TABLE dbo.t (
                    id integer
                );
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, ''); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
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
        session.noexec := false;
        PERFORM ssb_internal.print('c');
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.object_id('dbo.t') AS made;
            session := ssb_internal.show(session, result, '[{"name":"made","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
a
c
made
----
NULL

(1 row affected)

-- case: SET NOEXEC in a branch: the rest of the branch, of the loop and of the batch does not run
DECLARE @n int = 0;
WHILE @n < 3
BEGIN
    SET @n += 1;
    IF @n = 2
    BEGIN
        PRINT 'now';
        SET NOEXEC ON;
        PRINT 'never';
    END
    PRINT @n;
    IF @n = 2 BREAK;
END
PRINT 'nor this';
GO
SET NOEXEC OFF
PRINT 'again';
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        n integer := 0;
    BEGIN
        WHILE n < 3 LOOP
            BEGIN
                n := n + 1;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF n = 2 THEN
                PERFORM ssb_internal.print('now');
                session.noexec := true;
                IF NOT session.noexec THEN
                    PERFORM ssb_internal.print('never');
                END IF;
            END IF;
            IF NOT session.noexec THEN
                PERFORM ssb_internal.print(n::text);
                IF n = 2 THEN
                    EXIT;
                END IF;
            END IF;
            IF session.noexec THEN
                EXIT;
            END IF;
        END LOOP;
        IF NOT session.noexec THEN
            PERFORM ssb_internal.print('nor this');
        END IF;
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
        session.noexec := false;
        PERFORM ssb_internal.print('again');
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
1
now
again

-- case: a deployment script rolls back behind SET NOEXEC
SET XACT_ABORT ON
GO
BEGIN TRANSACTION
GO
CREATE TABLE dbo.t (id int)
GO
IF @@ERROR <> 0 SET NOEXEC ON
GO
INSERT INTO dbo.missing VALUES (1)
GO
IF @@ERROR <> 0 SET NOEXEC ON
GO
CREATE PROCEDURE dbo.p AS SELECT 1
GO
COMMIT TRANSACTION
GO
DECLARE @success bit
SET @success = 1
SET NOEXEC OFF
IF @success = 1 PRINT 'succeeded' ELSE BEGIN IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; PRINT 'failed'; END
GO
SELECT OBJECT_ID('dbo.t') AS t, OBJECT_ID('dbo.p') AS p
-- expect
SELECT set_config('pgsb.xact_abort', 'on', false);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch_1>>
    BEGIN
        session := ssb_internal.begin_transaction(session);
    END batch_1;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_2>>
    BEGIN
        BEGIN
            CREATE TABLE dbo.t (
                id integer
            );
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, ''); EXIT batch_2 WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    END batch_2;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_3>>
    BEGIN
        IF session.error <> 0 THEN
            session.noexec := true;
        END IF;
    END batch_3;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_4>>
    BEGIN
        IF NOT session.noexec THEN
            BEGIN
                INSERT INTO dbo.missing VALUES (1);
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch_4 WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
    END batch_4;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_5>>
    BEGIN
        IF NOT session.noexec THEN
            IF session.error <> 0 THEN
                session.noexec := true;
            END IF;
        END IF;
    END batch_5;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_6>>
    BEGIN
        IF NOT session.noexec THEN
            BEGIN
                PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.p', 'ssb.session');
                EXECUTE 'CREATE OR REPLACE PROCEDURE dbo.p(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $p$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.enter(session, caller, ''p'');
    <<p>>
    BEGIN
        EXIT p WHEN session.leaving;  -- nested deeper than 32
        BEGIN
            result := NULL;
            OPEN result FOR SELECT 1;
            session := ssb_internal.show(session, result, ''[{"name":null,"type":"integer"}]'');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT p WHEN session.leaving;
        END;
    END p;
    session := ssb_internal.leave(session, caller);
END;
$p$';
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'CREATE'); EXIT batch_6 WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
    END batch_6;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_7>>
    BEGIN
        IF NOT session.noexec THEN
            CALL ssb_internal.commit_transaction(session, 1);
            EXIT batch_7 WHEN session.leaving;
        END IF;
    END batch_7;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_8>>
    DECLARE
        success sys.bit;
    BEGIN
        IF NOT session.noexec THEN
            success := 1;
        END IF;

        session.noexec := false;
        IF success = 1 THEN
            PERFORM ssb_internal.print('succeeded');
        ELSE
            IF session.trancount > 0 THEN
                CALL ssb_internal.rollback_transaction(session, 4);
            END IF;
            PERFORM ssb_internal.print('failed');
        END IF;
    END batch_8;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_9>>
    BEGIN
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.object_id('dbo.t') AS t, sys.object_id('dbo.p') AS p;
            session := ssb_internal.show(session, result, '[{"name":"t","type":"integer"},{"name":"p","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch_9 WHEN session.leaving;
        END;
    END batch_9;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 208, Level 16, State 1, Line 1
Invalid object name 'dbo.missing'.
failed
t    p
---- ----
NULL NULL

(1 row affected)

-- case: SET NOEXEC ON in a procedure is refused
CREATE PROCEDURE dbo.p AS
IF 1 = 1
    SET NOEXEC ON;
-- expect
case.sql:3:5: error: SET NOEXEC ON in a procedure, function or trigger is not supported.
    3 |     SET NOEXEC ON;
      |     ^^^^^^^^^^^^^
hint: set it in the script, behind the call
-- shows
Msg 102, Level 15, State 1, Procedure p, Line 3
case.sql:3:5: error: SET NOEXEC ON in a procedure, function or trigger is not supported.
    3 |     SET NOEXEC ON;
      |     ^^^^^^^^^^^^^
hint: set it in the script, behind the call

-- case: SET PARSEONLY counts for its whole batch and those up to OFF
PRINT 'a';
SET PARSEONLY ON;
GO
PRINT 'b';
GO
SET PARSEONLY OFF;
PRINT 'c';
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        PERFORM ssb_internal.print('c');
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
c

-- case: SET DATEFIRST, SET DATEFORMAT, SET LANGUAGE
SET DATEFIRST 1;
SELECT @@DATEFIRST AS first, DATEPART(weekday, '20200304') AS day;
DECLARE @n int = 3, @order varchar(3) = 'dmy';
SET DATEFIRST @n;
SELECT @@DATEFIRST AS first, DATEPART(weekday, '20200304') AS day;
SET DATEFORMAT @order;
SELECT CAST('01/02/2020' AS datetime) AS d;
SET LANGUAGE us_english;
SELECT @@DATEFIRST AS first, CAST('01/02/2020' AS datetime) AS d;
SET DATEFORMAT ymd;
SET LANGUAGE 'British';
SELECT @@DATEFIRST AS first, CAST('01/02/2020' AS datetime) AS d;
SET @n = 8;
SET DATEFIRST @n;
GO
CREATE PROCEDURE dbo.p AS SELECT DATEPART(weekday, '20200304') AS day;
GO
SET DATEFIRST 7;
EXEC dbo.p;
SET DATEFIRST 1;
EXEC dbo.p;
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
        n integer;
        "order" varchar(3);
    BEGIN
        BEGIN
            PERFORM sys.set_date_option('DATEFIRST', '1');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.datefirst() AS first, sys.datepart('weekday', timestamp '20200304') AS day;
            session := ssb_internal.show(session, result, '[{"name":"first","type":"smallint"},{"name":"day","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        n := 3;
        "order" := 'dmy';
        BEGIN
            PERFORM sys.set_date_option('DATEFIRST', CAST(n AS text));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.datefirst() AS first, sys.datepart('weekday', timestamp '20200304') AS day;
            session := ssb_internal.show(session, result, '[{"name":"first","type":"smallint"},{"name":"day","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM sys.set_date_option('DATEFORMAT', CAST("order" AS text));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.convert_datetime('01/02/2020') AS d;
            session := ssb_internal.show(session, result, '[{"name":"d","type":"timestamp(3)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM sys.set_date_option('LANGUAGE', 'us_english');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.datefirst() AS first, sys.convert_datetime('01/02/2020') AS d;
            session := ssb_internal.show(session, result, '[{"name":"first","type":"smallint"},{"name":"d","type":"timestamp(3)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM sys.set_date_option('DATEFORMAT', 'ymd');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM sys.set_date_option('LANGUAGE', 'British');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.datefirst() AS first, sys.convert_datetime('01/02/2020') AS d;
            session := ssb_internal.show(session, result, '[{"name":"first","type":"smallint"},{"name":"d","type":"timestamp(3)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 12, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        n := 8;
        BEGIN
            PERFORM sys.set_date_option('DATEFIRST', CAST(n AS text));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 14, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.p', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.p(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $p$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.enter(session, caller, 'p');
    <<p>>
    BEGIN
        EXIT p WHEN session.leaving;  -- nested deeper than 32
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.datepart('weekday', timestamp '20200304') AS day;
            session := ssb_internal.show(session, result, '[{"name":"day","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT p WHEN session.leaving;
        END;
    END p;
    session := ssb_internal.leave(session, caller);
END;
$p$;

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
            PERFORM sys.set_date_option('DATEFIRST', '7');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        CALL dbo.p(session);
        EXIT batch WHEN session.leaving;
        BEGIN
            PERFORM sys.set_date_option('DATEFIRST', '1');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        CALL dbo.p(session);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
first day
----- ---
    1   3

(1 row affected)

first day
----- ---
    3   1

(1 row affected)

d
-----------------------
2020-02-01 00:00:00.000

(1 row affected)

Changed language setting to us_english.
first d
----- -----------------------
    7 2020-01-02 00:00:00.000

(1 row affected)

Changed language setting to British.
first d
----- -----------------------
    1 2020-02-01 00:00:00.000

(1 row affected)

Msg 2742, Level 16, State 1, Line 14
SET DATEFIRST 8 is out of range.
day
---
  4

(1 row affected)

day
---
  3

(1 row affected)

-- case: SET IMPLICIT_TRANSACTIONS begins transactions up to OFF, over batches
CREATE TABLE dbo.t (id int);
GO
SET IMPLICIT_TRANSACTIONS ON;
GO
INSERT INTO dbo.t (id) VALUES (1);
GO
PRINT @@TRANCOUNT;
INSERT INTO dbo.t (id) VALUES (2);
IF 1 = 1 COMMIT;
SELECT id FROM dbo.t;
SET IMPLICIT_TRANSACTIONS OFF;
ROLLBACK;
DELETE FROM dbo.t;
PRINT @@TRANCOUNT;
-- expect
CREATE TABLE dbo.t (
    id integer
);

SELECT set_config('pgsb.implicit_transactions', 'on', false);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch_1>>
    BEGIN
        session := ssb_internal.begin_implicitly(session);
        BEGIN
            INSERT INTO dbo.t (id) VALUES (1);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch_1 WHEN session.leaving;
        END;
    END batch_1;
    CALL ssb_internal.end_batch(session, more => true);
    <<batch_2>>
    BEGIN
        PERFORM ssb_internal.print(session.trancount::text);
        session := ssb_internal.begin_implicitly(session);
        BEGIN
            INSERT INTO dbo.t (id) VALUES (2);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch_2 WHEN session.leaving;
        END;
        IF 1 = 1 THEN
            CALL ssb_internal.commit_transaction(session, 3);
            EXIT batch_2 WHEN session.leaving;
        END IF;
        session := ssb_internal.begin_implicitly(session);
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id FROM dbo.t;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch_2 WHEN session.leaving;
        END;
        PERFORM set_config('pgsb.implicit_transactions', 'off', false);
        CALL ssb_internal.rollback_transaction(session, 6);
        BEGIN
            DELETE FROM dbo.t;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch_2 WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(session.trancount::text);
    END batch_2;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

1
(1 row affected)

id
--
 1
 2

(2 rows affected)

(2 rows affected)

0

-- case: parameters, defaults, OUTPUT and a return code
-- Adds two numbers.
CREATE PROCEDURE dbo.AddUp
    @a int,
    @b int = 5,
    @sum int OUTPUT
AS
SET NOCOUNT ON;
SET @sum = @a + @b;
RETURN 7;
GO
DECLARE @sum int, @rc int;
EXEC @rc = dbo.AddUp 1, 2, @sum OUTPUT;
PRINT CONCAT(@sum, ' ', @rc);
EXEC @rc = dbo.AddUp @sum = @sum OUTPUT, @a = 10;
PRINT CONCAT(@sum, ' ', @rc);
EXEC dbo.AddUp 3, DEFAULT, @sum;
PRINT @sum;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.addup', 'integer, integer, integer, ssb.session');

-- Adds two numbers.
CREATE OR REPLACE PROCEDURE dbo.addup(
    a integer,
    b integer DEFAULT 5,
    INOUT sum integer DEFAULT NULL,
    INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $AddUp$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    sum_at_entry integer := sum;
BEGIN
    CALL ssb_internal.enter(session, caller, 'AddUp');
    <<addup>>
    BEGIN
        EXIT addup WHEN session.leaving;  -- nested deeper than 32
        session.nocount := ssb_internal.no_count(true);
        BEGIN
            sum := a + b;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT addup WHEN session.leaving;
        END;
        session := ssb_internal.set_return(session, 7);
    END addup;
    IF session.leaving THEN
        sum := sum_at_entry;
    END IF;
    session := ssb_internal.leave(session, caller);
END;
$AddUp$;

PERFORM ssb_internal.keep_module_spelling('dbo.addup', 'AddUp');

END;
$whole$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        sum integer;
        rc integer;
        no_sum integer;
    BEGIN
        CALL dbo.addup(1, 2, sum, session);
        rc := coalesce(session.return_code, rc);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(concat(sum, ' ', rc));
        CALL dbo.addup(10, sum => sum, session => session);
        rc := coalesce(session.return_code, rc);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(concat(sum, ' ', rc));
        BEGIN
            no_sum := sum;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        CALL dbo.addup(3, sum => no_sum, session => session);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(sum::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
3 7
15 7
15

-- case: an OUTPUT parameter stays as it was when an error ends the procedure
CREATE PROCEDURE dbo.fails @out int OUTPUT AS
SET @out = 2;
THROW 50001, N'failed', 1;
GO
DECLARE @n int = 1;
BEGIN TRY
    EXEC dbo.fails @n OUTPUT;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_PROCEDURE(), ' ', ERROR_LINE(), ' ', @n);
END CATCH
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.fails', 'integer, ssb.session');

CREATE OR REPLACE PROCEDURE dbo.fails(INOUT "out" integer, INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $fails$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    out_at_entry integer := "out";
BEGIN
    CALL ssb_internal.enter(session, caller, 'fails');
    <<fails>>
    BEGIN
        EXIT fails WHEN session.leaving;  -- nested deeper than 32
        "out" := 2;
        session := ssb_internal.throw(session, 3, 50001, 'failed', 1);
    END fails;
    IF session.leaving THEN
        "out" := out_at_entry;
    END IF;
    session := ssb_internal.leave(session, caller);
END;
$fails$;

END;
$whole$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        n integer := 1;
    BEGIN
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            CALL dbo.fails(n, session);
            EXIT try_1 WHEN session.leaving;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print(concat(nullif((session.caught).procedure, ''), ' ', (session.caught).line, ' ', n));
            session.caught := NULL;  -- END CATCH
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
fails 3 1

-- case: wrong calls fail when they are reached
CREATE PROCEDURE dbo.takes_one @n int AS PRINT @n;
GO
EXEC dbo.takes_one;
PRINT @@ERROR;
EXEC dbo.takes_one 1, 2;
PRINT @@ERROR;
EXEC dbo.takes_one @m = 1;
PRINT @@ERROR;
EXEC dbo.not_there 1;
PRINT @@ERROR;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.takes_one', 'integer, ssb.session');

CREATE OR REPLACE PROCEDURE dbo.takes_one(n integer, INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $takes_one$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb_internal.enter(session, caller, 'takes_one');
    <<takes_one>>
    BEGIN
        EXIT takes_one WHEN session.leaving;  -- nested deeper than 32
        PERFORM ssb_internal.print(n::text);
        session.error := 0; session.rowcount := 0;
    END takes_one;
    session := ssb_internal.leave(session, caller);
END;
$takes_one$;

END;
$whole$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        arguments text[];
    BEGIN
        session := ssb_internal.wrong_call(session, 1, 201, 'Procedure or function ''takes_one'' expects parameter ''@n'', which was not supplied.', 'takes_one');
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(session.error::text);
        session := ssb_internal.wrong_call(session, 3, 8144, 'Procedure or function takes_one has too many arguments specified.', 'takes_one');
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(session.error::text);
        session := ssb_internal.wrong_call(session, 5, 8145, '@m is not a parameter for procedure takes_one.', 'takes_one');
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(session.error::text);
        session.error := 0; session.rowcount := 0;
        BEGIN
            arguments := ARRAY[1::text]::text[];
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        CALL ssb_internal.execute('dbo.not_there', ARRAY[' OF integer']::text[], arguments, session, 7, 'dbo.not_there');
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(session.error::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 201, Level 16, State 4, Procedure takes_one, Line 0
Procedure or function 'takes_one' expects parameter '@n', which was not supplied.
201
Msg 8144, Level 16, State 2, Procedure takes_one, Line 0
Procedure or function takes_one has too many arguments specified.
8144
Msg 8145, Level 16, State 2, Procedure takes_one, Line 0
@m is not a parameter for procedure takes_one.
8145
Msg 2812, Level 16, State 62, Line 7
Could not find stored procedure 'dbo.not_there'.
2812

-- case: the name of the procedure in a variable
CREATE PROCEDURE dbo.doubled @n int OUTPUT, @by int = 2 AS
SET @n = @n * @by;
RETURN 3;
GO
DECLARE @p nvarchar(100) = N'dbo.doubled', @n int = 4, @rc int;
EXEC @rc = @p @n OUTPUT;
PRINT CONCAT(@n, ' ', @rc);
EXEC @p @n = @n OUTPUT, @by = 3;
PRINT @n;
SET @p = N'[dbo].[nobody]';
EXEC @p;
PRINT @@ERROR;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.doubled', 'integer, integer, ssb.session');

CREATE OR REPLACE PROCEDURE dbo.doubled(
    INOUT n integer,
    "by" integer DEFAULT 2,
    INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $doubled$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    n_at_entry integer := n;
BEGIN
    CALL ssb_internal.enter(session, caller, 'doubled');
    <<doubled>>
    BEGIN
        EXIT doubled WHEN session.leaving;  -- nested deeper than 32
        BEGIN
            n := n * "by";
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT doubled WHEN session.leaving;
        END;
        session := ssb_internal.set_return(session, 3);
    END doubled;
    IF session.leaving THEN
        n := n_at_entry;
    END IF;
    session := ssb_internal.leave(session, caller);
END;
$doubled$;

END;
$whole$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        p varchar(100);
        n integer;
        rc integer;
        arguments text[];
    BEGIN
        p := 'dbo.doubled';
        session.error := 0; session.rowcount := 1;
        n := 4;
        session.error := 0; session.rowcount := 1;
        BEGIN
            arguments := ARRAY[n::text]::text[];
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        CALL ssb_internal.execute(ssb_internal.module_name(p), ARRAY[' OUTPUT OF integer']::text[], arguments, session, 2, p);
        BEGIN
            n := arguments[1]::integer;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        rc := coalesce(session.return_code, rc);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(concat(n, ' ', rc));
        session.error := 0; session.rowcount := 0;
        BEGIN
            arguments := ARRAY[n::text, 3::text]::text[];
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        CALL ssb_internal.execute(ssb_internal.module_name(p), ARRAY['@n OUTPUT OF integer', '@by OF integer']::text[], arguments, session, 4, p);
        BEGIN
            n := arguments[1]::integer;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(n::text);
        p := '[dbo].[nobody]';
        session.error := 0; session.rowcount := 1;
        BEGIN
            arguments := '{}'::text[];
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        CALL ssb_internal.execute(ssb_internal.module_name(p), '{}'::text[], arguments, session, 7, p);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(session.error::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
8 3
24
Msg 2812, Level 16, State 62, Line 7
Could not find stored procedure '[dbo].[nobody]'.
2812

-- case: COMMIT and ROLLBACK inside a called procedure are real
CREATE TABLE dbo.t (id int);
GO
CREATE PROCEDURE dbo.gives_up AS
INSERT INTO dbo.t (id) VALUES (2);
ROLLBACK;
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t (id) VALUES (1);
EXEC dbo.gives_up;
PRINT @@TRANCOUNT;
SELECT COUNT(*) AS rows FROM dbo.t;
-- expect
CREATE TABLE dbo.t (
    id integer
);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.gives_up', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.gives_up(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $gives_up$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.enter(session, caller, 'gives_up');
    <<gives_up>>
    BEGIN
        EXIT gives_up WHEN session.leaving;  -- nested deeper than 32
        BEGIN
            INSERT INTO dbo.t (id) VALUES (2);
            IF session.tells_identity THEN session.identity := ssb_internal.identity_told('dbo.t', false, NULL); END IF;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT gives_up WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        CALL ssb_internal.rollback_transaction(session, 3);
        EXIT gives_up WHEN session.leaving;
    END gives_up;
    session := ssb_internal.leave(session, caller);
END;
$gives_up$;

END;
$whole$;

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
        CALL dbo.gives_up(session);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(session.trancount::text);
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS rows FROM dbo.t;
            session := ssb_internal.show(session, result, '[{"name":"rows","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

(1 row affected)

Msg 266, Level 16, State 2, Procedure gives_up, Line 0
Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = 1, current count = 0.
0
rows
----
   0

(1 row affected)

-- case: recursion
CREATE PROCEDURE dbo.countdown @n int AS
BEGIN
    PRINT CONCAT(@n, ' at level ', @@NESTLEVEL);
    IF @n > 0
    BEGIN
        DECLARE @less int = @n - 1;
        EXEC dbo.countdown @less;
    END
END
GO
EXEC dbo.countdown 2;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.countdown', 'integer, ssb.session');

CREATE OR REPLACE PROCEDURE dbo.countdown(n integer, INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $countdown$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb_internal.enter(session, caller, 'countdown');
    <<countdown_body>>
    DECLARE
        n integer := countdown.n;
        less integer;
    BEGIN
        EXIT countdown_body WHEN session.leaving;  -- nested deeper than 32
        PERFORM ssb_internal.print(concat(n, ' at level ', session.nestlevel));
        IF n > 0 THEN
            BEGIN
                less := n - 1;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT countdown_body WHEN session.leaving;
            END;
            IF to_regproc('dbo.countdown') IS NOT NULL OR ssb_internal.is_overloaded('dbo.countdown') THEN
                CALL dbo.countdown(less, session);
            ELSE
                session := ssb_internal.missing_procedure(session, 7, 'dbo.countdown');
            END IF;
            EXIT countdown_body WHEN session.leaving;
        ELSE
            session.error := 0; session.rowcount := 0;
        END IF;
    END countdown_body;
    session := ssb_internal.leave(session, caller);
END;
$countdown$;

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
        CALL dbo.countdown(2, session);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
2 at level 1
1 at level 2
0 at level 3

-- case: the rows of a procedure are inserted
CREATE TABLE dbo.t (id int IDENTITY, n int, s nvarchar(10));
GO
CREATE PROCEDURE dbo.gives_rows AS
SELECT 1, N'one';
SELECT 2, N'two';
GO
INSERT INTO dbo.t (n, s) EXEC dbo.gives_rows;
SELECT id, n, s FROM dbo.t ORDER BY id;
DECLARE @t TABLE (n int, s nvarchar(10));
INSERT INTO @t EXEC (N'SELECT 3, N''three''');
SELECT n, s FROM @t;
-- expect
CREATE TABLE dbo.t (
    id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
    n integer,
    s varchar(10)
);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.gives_rows', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.gives_rows(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $gives_rows$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.enter(session, caller, 'gives_rows');
    <<gives_rows>>
    BEGIN
        EXIT gives_rows WHEN session.leaving;  -- nested deeper than 32
        BEGIN
            result := NULL;
            OPEN result FOR SELECT 1, 'one';
            session := ssb_internal.show(session, result, '[{"name":null,"type":"integer"},{"name":null,"type":"varchar(3)"}]');
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT gives_rows WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT 2, 'two';
            session := ssb_internal.show(session, result, '[{"name":null,"type":"integer"},{"name":null,"type":"varchar(3)"}]');
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT gives_rows WHEN session.leaving;
        END;
    END gives_rows;
    session := ssb_internal.leave(session, caller);
END;
$gives_rows$;

END;
$whole$;

SELECT ssb_internal.define_row_type('pg_temp."@t"', 'n integer, s varchar(10)');

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
        alone boolean;
        t pg_temp."@t"[] := '{}';
        caller ssb.session;
    BEGIN
        alone := session.autocommit;
        session := ssb_internal.begin_insert_execute(session);
        CALL dbo.gives_rows(session);
        session.capturing := false;
        IF NOT session.leaving THEN
            BEGIN
                session := ssb_internal.insert_captured(session, 'dbo.t', ARRAY['n', 's']::text[]);
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'INSERT');
            END;
        END IF;
        CALL ssb_internal.end_insert_execute(session, alone);
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id, n, s FROM dbo.t ORDER BY id;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"},{"name":"n","type":"integer"},{"name":"s","type":"varchar(10)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        alone := session.autocommit;
        session := ssb_internal.begin_insert_execute(session);
        caller := session;
        session := ssb_internal.enter_string(session);
        <<string_1>>
        BEGIN
            BEGIN
                result := NULL;
                OPEN result FOR SELECT 3, 'three';
                session := ssb_internal.show(session, result, '[{"name":null,"type":"integer"},{"name":null,"type":"varchar(5)"}]');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_1 WHEN session.leaving;
            END;
        END string_1;
        session := ssb_internal.leave(session, caller);
        session.capturing := false;
        IF NOT session.leaving THEN
            BEGIN
                SELECT batch.t || array_agg(ROW(ssb_internal.captured_value(r -> 0, 'integer')::integer, sys.fitting(ssb_internal.captured_value(r -> 1, 'string')::text, 10))::pg_temp."@t"), count(*) FROM unnest(ssb_internal.captured_of_width(session.captured, 2)) AS r INTO t, session.rowcount;
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM, detail, 'INSERT');
            END;
        END IF;
        CALL ssb_internal.end_insert_execute(session, alone);
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT n, s FROM unnest(batch.t) AS t;
            session := ssb_internal.show(session, result, '[{"name":"n","type":"integer"},{"name":"s","type":"varchar(10)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

id n s
-- - ---
 1 1 one
 2 2 two

(2 rows affected)

(1 row affected)

n s
- -----
3 three

(1 row affected)

-- case: SET options end with the procedure that sets them
CREATE PROCEDURE dbo.quiet AS SET NOCOUNT ON; SELECT 1 AS one;
GO
EXEC dbo.quiet;
SELECT 2 AS two;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.quiet', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.quiet(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $quiet$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.enter(session, caller, 'quiet');
    <<quiet>>
    BEGIN
        EXIT quiet WHEN session.leaving;  -- nested deeper than 32
        session.nocount := ssb_internal.no_count(true);
        BEGIN
            result := NULL;
            OPEN result FOR SELECT 1 AS one;
            session := ssb_internal.show(session, result, '[{"name":"one","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT quiet WHEN session.leaving;
        END;
    END quiet;
    session := ssb_internal.leave(session, caller);
END;
$quiet$;

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
        CALL dbo.quiet(session);
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT 2 AS two;
            session := ssb_internal.show(session, result, '[{"name":"two","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
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

(1 row affected)

-- case: a temporary table goes with its procedure
CREATE PROCEDURE dbo.counts AS
CREATE TABLE #t (id int);
INSERT INTO #t (id) VALUES (1);
SELECT COUNT(*) AS rows FROM #t;
GO
EXEC dbo.counts;
EXEC dbo.counts;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.counts', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.counts(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $counts$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    detail text;
    result refcursor;
BEGIN
    PERFORM ssb_internal.refuse_planted(ARRAY['#t']::text[]);
    CALL ssb_internal.enter(session, caller, 'counts');
    <<counts>>
    BEGIN
        EXIT counts WHEN session.leaving;  -- nested deeper than 32
        BEGIN
            PERFORM ssb_internal.make_temporary_table(session.nestlevel, 'pg_temp."#t"');
            CREATE TABLE pg_temp."#t" (
                id integer
            );
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, ''); EXIT counts WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            INSERT INTO pg_temp."#t" (id) VALUES (1);
            IF session.tells_identity THEN session.identity := ssb_internal.identity_told('pg_temp."#t"', false, NULL); END IF;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT counts WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS rows FROM pg_temp."#t";
            session := ssb_internal.show(session, result, '[{"name":"rows","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT counts WHEN session.leaving;
        END;
    END counts;
    PERFORM ssb_internal.drop_own_temporary_tables(session, ARRAY['pg_temp."#t"']::text[]);
    IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    session := ssb_internal.leave(session, caller);
END;
$counts$;

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
        CALL dbo.counts(session);
        EXIT batch WHEN session.leaving;
        CALL dbo.counts(session);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

rows
----
   1

(1 row affected)

(1 row affected)

rows
----
   1

(1 row affected)

-- case: CREATE of a name that is taken, ALTER with other parameters, DROP
CREATE PROCEDURE dbo.p AS PRINT 'first';
GO
CREATE PROCEDURE dbo.p AS PRINT 'again';
GO
ALTER PROCEDURE dbo.p @n int AS PRINT @n;
GO
EXEC dbo.p 2;
GO
DROP PROCEDURE dbo.p;
GO
DROP PROCEDURE dbo.p;
GO
DROP PROCEDURE IF EXISTS dbo.p;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.p', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.p(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $p$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb_internal.enter(session, caller, 'p');
    <<p>>
    BEGIN
        EXIT p WHEN session.leaving;  -- nested deeper than 32
        PERFORM ssb_internal.print('first');
        session.error := 0; session.rowcount := 0;
    END p;
    session := ssb_internal.leave(session, caller);
END;
$p$;

END;
$whole$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.p', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.p(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $p$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb_internal.enter(session, caller, 'p');
    <<p>>
    BEGIN
        EXIT p WHEN session.leaving;  -- nested deeper than 32
        PERFORM ssb_internal.print('again');
        session.error := 0; session.rowcount := 0;
    END p;
    session := ssb_internal.leave(session, caller);
END;
$p$;

END;
$whole$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('ALTER', 'PROCEDURE', 'dbo.p', 'integer, ssb.session', p_parameters => ARRAY['IN n', 'INOUT session =']::text[]);

CREATE OR REPLACE PROCEDURE dbo.p(n integer, INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $p$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb_internal.enter(session, caller, 'p');
    <<p>>
    BEGIN
        EXIT p WHEN session.leaving;  -- nested deeper than 32
        PERFORM ssb_internal.print(n::text);
        session.error := 0; session.rowcount := 0;
    END p;
    session := ssb_internal.leave(session, caller);
END;
$p$;

PERFORM ssb_internal.finish_alteration('dbo.p');

END;
$whole$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        arguments text[];
    BEGIN
        BEGIN
            arguments := ARRAY[2::text]::text[];
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        CALL ssb_internal.execute('dbo.p', ARRAY[' OF integer']::text[], arguments, session, 1, 'dbo.p');
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

SELECT ssb_internal.drop_module('PROCEDURE', 'dbo.p');

SELECT ssb_internal.drop_module('PROCEDURE', 'dbo.p');

SELECT ssb_internal.drop_module('PROCEDURE', 'dbo.p', if_exists => true);
-- shows
Msg 2714, Level 16, State 3, Procedure p, Line 1
There is already an object named 'p' in the database.
2
Msg 3701, Level 11, State 5, Line 1
Cannot drop the procedure 'dbo.p', because it does not exist or you do not have permission.

-- case: a table-valued parameter
CREATE TYPE dbo.ids AS TABLE (id int NOT NULL PRIMARY KEY, name nvarchar(10));
GO
CREATE PROCEDURE dbo.takes @rows dbo.ids READONLY AS SELECT COUNT(*) AS n, MAX(id) AS most FROM @rows;
GO
DECLARE @x dbo.ids;
INSERT INTO @x (id, name) VALUES (1, N'a'), (2, N'b');
EXEC dbo.takes @x;
EXEC dbo.takes;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

CREATE TYPE dbo.ids AS (id integer, name varchar(10));

COMMENT ON TYPE dbo.ids IS 'AS TABLE (id int NOT NULL PRIMARY KEY, name nvarchar(10))';

END;
$whole$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.takes', 'dbo.ids[], ssb.session');

CREATE OR REPLACE PROCEDURE dbo.takes(rows dbo.ids[] DEFAULT '{}', INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $takes$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.enter(session, caller, 'takes');
    <<takes>>
    BEGIN
        EXIT takes WHEN session.leaving;  -- nested deeper than 32
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS n, max(id) AS most FROM unnest(takes.rows) AS rows;
            session := ssb_internal.show(session, result, '[{"name":"n","type":"integer"},{"name":"most","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT takes WHEN session.leaving;
        END;
    END takes;
    session := ssb_internal.leave(session, caller);
END;
$takes$;

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
    DECLARE
        x dbo.ids[] := '{}';
    BEGIN
        BEGIN
            SELECT batch.x || array_agg(ROW(sys.not_null(n.id, 'id', '@x'), n.name)::dbo.ids ORDER BY n."@place"), count(*)
            FROM (SELECT n.*, row_number() OVER (PARTITION BY n.id ORDER BY n."@place") AS nth_1
                  FROM (SELECT n.*, row_number() OVER () AS "@place"
                        FROM (VALUES (1::integer, 'a'::varchar(10)), (2, 'b')) AS n (id, name)) AS n) AS n
            LEFT JOIN (SELECT id, true AS found FROM unnest(batch.x) AS r) AS old_1 ON old_1.id = n.id
            WHERE sys.unique_key(n.nth_1 = 1 AND old_1.found IS NULL, 'PRIMARY KEY', '@x', concat(n.id))
            INTO x, session.rowcount;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        CALL dbo.takes(x, session);
        EXIT batch WHEN session.leaving;
        CALL dbo.takes(session => session);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

n most
- ----
2    2

(1 row affected)

n most
- ----
0 NULL

(1 row affected)

-- case: a temporary procedure
CREATE PROCEDURE #twice @n int AS PRINT @n * 2;
GO
EXEC #twice 4;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'pg_temp."#twice"', 'integer, ssb.session');

CREATE OR REPLACE PROCEDURE pg_temp."#twice"(n integer, INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $_twice$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    PERFORM ssb_internal.refuse_planted(ARRAY['#twice']::text[]);
    CALL ssb_internal.enter(session, caller, '#twice');
    <<"#twice">>
    BEGIN
        EXIT "#twice" WHEN session.leaving;  -- nested deeper than 32
        BEGIN
            PERFORM ssb_internal.print((n * 2)::text);
            session.error := 0; session.rowcount := 0;
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT "#twice" WHEN session.leaving;
        END;
    END "#twice";
    session := ssb_internal.leave(session, caller);
END;
$_twice$;

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
        CALL pg_temp."#twice"(4, session);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
8

-- case: decimals and OUTPUT parameters of limited types live in variables, strings are cut at entry
CREATE PROCEDURE dbo.Discounted @name NVARCHAR(10), @price DECIMAL(9, 2) OUTPUT, @at DATETIME = NULL AS
BEGIN
    IF @price IS NULL RETURN 1;
    SET @price = @price * 0.9;
END
GO
DECLARE @p DECIMAL(9, 2) = 10.05;
EXEC dbo.Discounted N'a long name', @p OUTPUT;
PRINT @p;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.discounted', 'varchar, numeric, timestamp, ssb.session');

CREATE OR REPLACE PROCEDURE dbo.discounted(
    name varchar,
    INOUT price numeric,
    at timestamp DEFAULT NULL,
    INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $Discounted$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb_internal.enter(session, caller, 'Discounted');
    <<discounted_body>>
    DECLARE
        price numeric(9,2);
    BEGIN
        EXIT discounted_body WHEN session.leaving;  -- nested deeper than 32
        name := name::varchar(10);
        at := sys.convert_datetime(at);
        BEGIN
            price := discounted.price;
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed_argument(session, 0, 'Discounted', SQLSTATE, SQLERRM, 'numeric'); EXIT discounted_body;
        END;
        <<discounted_statements>>
        BEGIN
            IF price IS NULL THEN
                session := ssb_internal.set_return(session, 1);
                EXIT discounted_statements;
            END IF;
            BEGIN
                price := price * 0.9;
                session.error := 0; session.rowcount := 1;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT discounted_statements WHEN session.leaving;
            END;
        END discounted_statements;
        IF NOT session.leaving THEN
            discounted.price := price;
        END IF;
    END discounted_body;
    session := ssb_internal.leave(session, caller);
END;
$Discounted$;

PERFORM ssb_internal.keep_module_spelling('dbo.discounted', 'Discounted');

END;
$whole$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        p numeric(9,2) := 10.05;
    BEGIN
        CALL dbo.discounted('a long nam', p, session => session);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print(sys.convert_nvarchar(p));
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
9.05

-- case: INSERT EXEC makes text and xml of bytes
DECLARE @i TABLE (id int IDENTITY PRIMARY KEY, b xml, n nvarchar(10) DEFAULT 'usual')
INSERT @i (b) EXEC ('SELECT CAST(''<a/>'' AS varbinary(10)) UNION ALL SELECT CAST(''<b/>'' AS varbinary(10))')
INSERT @i EXEC ('SELECT CAST(''<c/>'' AS varbinary(10)), CAST(''text'' AS varbinary(10))')
CREATE TABLE #b (x varbinary(max), n nvarchar(10))
INSERT #b EXEC ('SELECT 0x0102, CAST(''text'' AS varbinary(10))')
INSERT #b EXEC ('SELECT NULL, N''plain''')
SELECT * FROM @i
SELECT * FROM #b
INSERT @i EXEC ('SELECT 1')
GO
-- expect
SELECT ssb_internal.define_row_type('pg_temp."@i"', 'id integer, b sys.xml, n varchar(10)');

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
        i pg_temp."@i"[] := '{}';
        i_last integer;
        caller ssb.session;
        alone boolean;
        caller_2 ssb.session;
        caller_3 ssb.session;
        caller_4 ssb.session;
        caller_5 ssb.session;
    BEGIN
        alone := session.autocommit;
        session := ssb_internal.begin_insert_execute(session);
        caller := session;
        session := ssb_internal.enter_string(session);
        <<string_1>>
        BEGIN
            BEGIN
                result := NULL;
                OPEN result FOR SELECT sys.convert_varbinary('<a/>', 10) UNION ALL SELECT sys.convert_varbinary('<b/>', 10);
                session := ssb_internal.show(session, result, '[{"name":null,"type":"bytea"}]');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_1 WHEN session.leaving;
            END;
        END string_1;
        session := ssb_internal.leave(session, caller);
        session.capturing := false;
        IF NOT session.leaving THEN
            BEGIN
                SELECT batch.i || array_agg(ROW(COALESCE(GREATEST(batch.i_last, (batch.i)[cardinality(batch.i)].id), 0) + n."@place", n.b, 'usual')::pg_temp."@i" ORDER BY n."@place"), count(*)
                FROM (SELECT n.*, row_number() OVER () AS "@place"
                      FROM (SELECT ssb_internal.captured_value(r -> 0, 'xml')::sys.xml FROM unnest(ssb_internal.captured_of_width(session.captured, 1)) AS r) AS n (b)) AS n
                INTO i, session.rowcount;
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT');
            END;
        END IF;
        CALL ssb_internal.end_insert_execute(session, alone);
        EXIT batch WHEN session.leaving;
        alone := session.autocommit;
        session := ssb_internal.begin_insert_execute(session);
        caller_2 := session;
        session := ssb_internal.enter_string(session);
        <<string_2>>
        BEGIN
            BEGIN
                result := NULL;
                OPEN result FOR SELECT sys.convert_varbinary('<c/>', 10), sys.convert_varbinary('text', 10);
                session := ssb_internal.show(session, result, '[{"name":null,"type":"bytea"},{"name":null,"type":"bytea"}]');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_2 WHEN session.leaving;
            END;
        END string_2;
        session := ssb_internal.leave(session, caller_2);
        session.capturing := false;
        IF NOT session.leaving THEN
            BEGIN
                SELECT batch.i || array_agg(ROW(COALESCE(GREATEST(batch.i_last, (batch.i)[cardinality(batch.i)].id), 0) + n."@place", n.b, sys.fitting((n.n)::text, 10))::pg_temp."@i" ORDER BY n."@place"), count(*)
                FROM (SELECT n.*, row_number() OVER () AS "@place"
                      FROM (SELECT ssb_internal.captured_value(r -> 0, 'xml')::sys.xml, ssb_internal.captured_value(r -> 1, 'string')::text FROM unnest(ssb_internal.captured_of_width(session.captured, 2)) AS r) AS n (b, n)) AS n
                INTO i, session.rowcount;
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM, detail, 'INSERT');
            END;
        END IF;
        CALL ssb_internal.end_insert_execute(session, alone);
        EXIT batch WHEN session.leaving;
        BEGIN
            CREATE TABLE pg_temp."#b" (
                x bytea,
                n varchar(10)
            );
            session.error := 0; session.rowcount := 0;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM, detail, ''); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        alone := session.autocommit;
        session := ssb_internal.begin_insert_execute(session);
        caller_3 := session;
        session := ssb_internal.enter_string(session);
        <<string_3>>
        BEGIN
            BEGIN
                result := NULL;
                OPEN result FOR SELECT '\x0102'::bytea, sys.convert_varbinary('text', 10);
                session := ssb_internal.show(session, result, '[{"name":null,"type":"bytea"},{"name":null,"type":"bytea"}]');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_3 WHEN session.leaving;
            END;
        END string_3;
        session := ssb_internal.leave(session, caller_3);
        session.capturing := false;
        IF NOT session.leaving THEN
            BEGIN
                session := ssb_internal.insert_captured(session, 'pg_temp."#b"', ARRAY['x', 'n']::text[]);
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'INSERT');
            END;
        END IF;
        CALL ssb_internal.end_insert_execute(session, alone);
        EXIT batch WHEN session.leaving;
        alone := session.autocommit;
        session := ssb_internal.begin_insert_execute(session);
        caller_4 := session;
        session := ssb_internal.enter_string(session);
        <<string_4>>
        BEGIN
            BEGIN
                result := NULL;
                OPEN result FOR SELECT NULL, 'plain';
                session := ssb_internal.show(session, result, '[{"name":null,"type":null},{"name":null,"type":"varchar(5)"}]');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_4 WHEN session.leaving;
            END;
        END string_4;
        session := ssb_internal.leave(session, caller_4);
        session.capturing := false;
        IF NOT session.leaving THEN
            BEGIN
                session := ssb_internal.insert_captured(session, 'pg_temp."#b"', ARRAY['x', 'n']::text[]);
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'INSERT');
            END;
        END IF;
        CALL ssb_internal.end_insert_execute(session, alone);
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT * FROM unnest(batch.i) AS i;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"},{"name":"b","type":"sys.xml"},{"name":"n","type":"varchar(10)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT * FROM pg_temp."#b";
            session := ssb_internal.show(session, result, '[{"name":"x","type":"bytea"},{"name":"n","type":"varchar(10)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        alone := session.autocommit;
        session := ssb_internal.begin_insert_execute(session);
        caller_5 := session;
        session := ssb_internal.enter_string(session);
        <<string_5>>
        BEGIN
            BEGIN
                result := NULL;
                OPEN result FOR SELECT 1;
                session := ssb_internal.show(session, result, '[{"name":null,"type":"integer"}]');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_5 WHEN session.leaving;
            END;
        END string_5;
        session := ssb_internal.leave(session, caller_5);
        session.capturing := false;
        IF NOT session.leaving THEN
            BEGIN
                SELECT batch.i || array_agg(ROW(COALESCE(GREATEST(batch.i_last, (batch.i)[cardinality(batch.i)].id), 0) + n."@place", n.b, sys.fitting((n.n)::text, 10))::pg_temp."@i" ORDER BY n."@place"), count(*)
                FROM (SELECT n.*, row_number() OVER () AS "@place"
                      FROM (SELECT ssb_internal.captured_value(r -> 0, 'xml')::sys.xml, ssb_internal.captured_value(r -> 1, 'string')::text FROM unnest(ssb_internal.captured_of_width(session.captured, 2)) AS r) AS n (b, n)) AS n
                INTO i, session.rowcount;
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM, detail, 'INSERT');
            END;
        END IF;
        CALL ssb_internal.end_insert_execute(session, alone);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

(1 row affected)

(1 row affected)

(1 row affected)

id b    n
-- ---- -----
 1 <a/> usual
 2 <b/> usual
 3 <c/> text

(3 rows affected)

x      n
------ -----
0x0102 text
NULL   plain

(2 rows affected)

Msg 213, Level 16, State 1, Line 9
Column name or number of supplied values does not match table definition.

-- case: INSERT EXEC is all or nothing, and no transaction ends in it
CREATE QUEUE arrivals;
CREATE SERVICE [//arrivals] ON QUEUE arrivals ([DEFAULT]);
CREATE TABLE dbo.kept (body nvarchar(10) PRIMARY KEY);
INSERT dbo.kept VALUES (N'one');
DECLARE @h uniqueidentifier;
BEGIN DIALOG @h FROM SERVICE [//arrivals] TO SERVICE '//arrivals' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'one');
SEND ON CONVERSATION @h (N'two');
GO
CREATE PROCEDURE dbo.take @n int AS
SELECT CONCAT(N'at ', @@TRANCOUNT);
BEGIN TRANSACTION;
RECEIVE TOP (@n) CAST(message_body AS nvarchar(10)) FROM arrivals;
COMMIT;
GO
CREATE PROCEDURE dbo.commits AS COMMIT;
GO
CREATE PROCEDURE dbo.rolls_back AS ROLLBACK;
GO
INSERT dbo.kept EXEC dbo.take 1;
SELECT @@ERROR AS error, @@TRANCOUNT AS open_, COUNT(*) AS waiting FROM arrivals;
BEGIN TRY
    INSERT dbo.kept EXEC dbo.take @n = 2;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS error, XACT_STATE() AS state;
END CATCH
DELETE dbo.kept;
INSERT dbo.kept EXEC dbo.take 2;
SELECT body FROM dbo.kept ORDER BY body;
INSERT dbo.kept EXEC dbo.commits;
SELECT @@ERROR AS error, @@TRANCOUNT AS open_;
INSERT dbo.kept EXEC dbo.rolls_back;
PRINT 'not reached';
GO
SELECT @@TRANCOUNT AS open_;
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
        h uuid;
        begun uuid;
    BEGIN
        BEGIN
            PERFORM ssb.create_queue('dbo.arrivals');
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'CREATE', hint); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb.create_service('//arrivals', queue => 'dbo.arrivals', contracts => ARRAY['DEFAULT']::text[]);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'CREATE', hint); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            CREATE TABLE dbo.kept (
                body varchar(10) PRIMARY KEY
            );
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM, detail, ''); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            INSERT INTO dbo.kept VALUES ('one');
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            begun := ssb_internal.begin_and_send('//arrivals', '//arrivals', 'DEFAULT', 'DEFAULT', CAST('one' AS text), p_is_encrypted => false);
        EXCEPTION WHEN OTHERS THEN begun := NULL;  -- the statements tell what is wrong
        END;
        IF begun IS NOT NULL THEN
            h := begun;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        ELSE
            BEGIN
                h := ssb.begin_dialog('//arrivals', '//arrivals', encryption => false);
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            BEGIN
                PERFORM ssb.send(h, 'DEFAULT', CAST('one' AS text));
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
        BEGIN
            PERFORM ssb.send(h, 'DEFAULT', CAST('two' AS text));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.take', 'integer, ssb.session');

CREATE OR REPLACE PROCEDURE dbo.take(n integer, INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $take$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.enter(session, caller, 'take');
    <<take>>
    BEGIN
        EXIT take WHEN session.leaving;  -- nested deeper than 32
        BEGIN
            result := NULL;
            OPEN result FOR SELECT concat('at ', session.trancount);
            session := ssb_internal.show(session, result, '[{"name":null,"type":"text"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT take WHEN session.leaving;
        END;
        session := ssb_internal.begin_transaction(session);
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.convert_nvarchar(message_body, 10) AS column_1 FROM ssb.receive('dbo.arrivals', sys.top_count(n));
            session := ssb_internal.show(session, result, '[{"name":null,"type":"varchar(10)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT take WHEN session.leaving;
        END;
        CALL ssb_internal.commit_transaction(session, 5);
        EXIT take WHEN session.leaving;
    END take;
    session := ssb_internal.leave(session, caller);
END;
$take$;

END;
$whole$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.commits', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.commits(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $commits$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb_internal.enter(session, caller, 'commits');
    <<commits>>
    BEGIN
        EXIT commits WHEN session.leaving;  -- nested deeper than 32
        CALL ssb_internal.commit_transaction(session, 1);
        EXIT commits WHEN session.leaving;
    END commits;
    session := ssb_internal.leave(session, caller);
END;
$commits$;

END;
$whole$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.rolls_back', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.rolls_back(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $rolls_back$
#variable_conflict use_column
DECLARE
    caller ssb.session;
BEGIN
    CALL ssb_internal.enter(session, caller, 'rolls_back');
    <<rolls_back>>
    BEGIN
        EXIT rolls_back WHEN session.leaving;  -- nested deeper than 32
        CALL ssb_internal.rollback_transaction(session, 1);
        EXIT rolls_back WHEN session.leaving;
    END rolls_back;
    session := ssb_internal.leave(session, caller);
END;
$rolls_back$;

END;
$whole$;

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
        alone boolean;
    BEGIN
        alone := session.autocommit;
        session := ssb_internal.begin_insert_execute(session);
        CALL dbo.take(1, session);
        session.capturing := false;
        IF NOT session.leaving THEN
            BEGIN
                session := ssb_internal.insert_captured(session, 'dbo.kept', ARRAY['body']::text[]);
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'INSERT');
            END;
        END IF;
        CALL ssb_internal.end_insert_execute(session, alone);
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT session.error, session.trancount AS open_, count(*) AS waiting FROM dbo.arrivals;
            session := ssb_internal.show(session, result, '[{"name":"error","type":"integer"},{"name":"open_","type":"integer"},{"name":"waiting","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            alone := session.autocommit;
            session := ssb_internal.begin_insert_execute(session);
            CALL dbo.take(2, session);
            session.capturing := false;
            IF NOT session.leaving THEN
                BEGIN
                    session := ssb_internal.insert_captured(session, 'dbo.kept', ARRAY['body']::text[]);
                    PERFORM ssb_internal.show_count(session);
                    session.error := 0;
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                    session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM, detail, 'INSERT');
                END;
            END IF;
            CALL ssb_internal.end_insert_execute(session, alone);
            EXIT try_1 WHEN session.leaving;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        EXIT batch WHEN session.unresolved;
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            BEGIN
                result := NULL;
                OPEN result FOR SELECT (session.caught).number AS error, ssb_internal.xact_state(session) AS state;
                session := ssb_internal.show(session, result, '[{"name":"error","type":"integer"},{"name":"state","type":"smallint"}]');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            session.caught := NULL;  -- END CATCH
        END IF;
        BEGIN
            DELETE FROM dbo.kept;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        alone := session.autocommit;
        session := ssb_internal.begin_insert_execute(session);
        CALL dbo.take(2, session);
        session.capturing := false;
        IF NOT session.leaving THEN
            BEGIN
                session := ssb_internal.insert_captured(session, 'dbo.kept', ARRAY['body']::text[]);
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM, detail, 'INSERT');
            END;
        END IF;
        CALL ssb_internal.end_insert_execute(session, alone);
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT body FROM dbo.kept ORDER BY body;
            session := ssb_internal.show(session, result, '[{"name":"body","type":"varchar(10)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        alone := session.autocommit;
        session := ssb_internal.begin_insert_execute(session);
        CALL dbo.commits(session);
        session.capturing := false;
        IF NOT session.leaving THEN
            BEGIN
                session := ssb_internal.insert_captured(session, 'dbo.kept', ARRAY['body']::text[]);
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 12, SQLSTATE, SQLERRM, detail, 'INSERT');
            END;
        END IF;
        CALL ssb_internal.end_insert_execute(session, alone);
        EXIT batch WHEN session.leaving;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT session.error, session.trancount AS open_;
            session := ssb_internal.show(session, result, '[{"name":"error","type":"integer"},{"name":"open_","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 13, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        alone := session.autocommit;
        session := ssb_internal.begin_insert_execute(session);
        CALL dbo.rolls_back(session);
        session.capturing := false;
        IF NOT session.leaving THEN
            BEGIN
                session := ssb_internal.insert_captured(session, 'dbo.kept', ARRAY['body']::text[]);
                PERFORM ssb_internal.show_count(session);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 14, SQLSTATE, SQLERRM, detail, 'INSERT');
            END;
        END IF;
        CALL ssb_internal.end_insert_execute(session, alone);
        EXIT batch WHEN session.leaving;
        PERFORM ssb_internal.print('not reached');
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
            result := NULL;
            OPEN result FOR SELECT session.trancount AS open_;
            session := ssb_internal.show(session, result, '[{"name":"open_","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

Msg 2627, Level 14, State 1, Line 1
Violation of PRIMARY KEY constraint 'kept_pkey'. Cannot insert duplicate key in object 'dbo.kept'. The duplicate key value is (one).
The statement has been terminated.
error open_ waiting
----- ----- -------
 2627     0       2

(1 row affected)

error state
----- -----
 2627     0

(1 row affected)

(1 row affected)

(3 rows affected)

body
----
at 1
one
two

(3 rows affected)

Msg 3916, Level 16, State 0, Procedure commits, Line 1
Cannot use the COMMIT statement within an INSERT-EXEC statement unless BEGIN TRANSACTION is used first.
(0 rows affected)

error open_
----- -----
    0     0

(1 row affected)

Msg 3915, Level 16, State 0, Procedure rolls_back, Line 1
Cannot use the ROLLBACK statement within an INSERT-EXEC statement.
open_
-----
    0

(1 row affected)

-- case: a system procedure whose name a variable holds, and a handle that a query of NULL gives
DECLARE @p sysname = N'master.sys.sp_getapplock', @rc int
BEGIN TRANSACTION
EXEC @rc = @p @Resource = 'r', @LockMode = 'Exclusive'
COMMIT
END CONVERSATION (SELECT NULL)
PRINT CONCAT('rc ', @rc)
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
        p varchar(128) := 'master.sys.sp_getapplock';
        rc integer;
    BEGIN
        session := ssb_internal.begin_transaction(session);
        BEGIN
            rc := ssb_internal.get_applock(trancount => session.trancount, resource => 'r', mode => 'Exclusive');
            session.error := 0; session.rowcount := 0;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
            session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM, detail, 'EXECUTE', hint); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        CALL ssb_internal.commit_transaction(session, 4);
        EXIT batch WHEN session.leaving;
        BEGIN
            PERFORM ssb.end_conversation(NULL);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(concat('rc ', rc));
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 8418, Level 16, State 1, Line 5
The conversation handle is missing. Specify a conversation handle.
rc 0

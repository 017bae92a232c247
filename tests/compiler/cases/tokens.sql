-- case: an @ in a string is no variable
SELECT 'mail me @home' AS a;
-- expect
SELECT 'mail me @home' AS a;
-- shows
a
-------------
mail me @home

(1 row affected)

-- case: what a string, a comment or brackets say reads no session and locks no table
SELECT '@@ERROR XACT_STATE() TABLOCKX' AS [@@ROWCOUNT] -- ERROR_NUMBER() @x
-- expect
SELECT '@@ERROR XACT_STATE() TABLOCKX' AS "@@rowcount";
-- shows
@@ROWCOUNT
-----------------------------
@@ERROR XACT_STATE() TABLOCKX

(1 row affected)

-- case: a bracket inside of a name is doubled, and stands once in it
CREATE TYPE dbo.[a]]b] AS TABLE (x int);
GO
DECLARE @t dbo.[a]]b];
INSERT INTO @t VALUES (1);
SELECT x FROM @t;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

CREATE TYPE dbo."a]b" AS (x integer);

COMMENT ON TYPE dbo."a]b" IS 'AS TABLE (x int)';

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
        t dbo."a]b"[] := '{}';
    BEGIN
        BEGIN
            t := array_append(t, ROW(1)::dbo."a]b");
            session.rowcount := 1;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT x FROM unnest(batch.t) AS t;
            session := ssb_internal.show(session, result, '[{"name":"x","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

x
-
1

(1 row affected)

-- case: a batch that says batch in a comment alone keeps its label
DECLARE @n int = 1; -- of this batch
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
        n integer := 1;
    BEGIN
        -- of this batch
        PERFORM ssb_internal.print(n::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
1

-- case: SELECT in a string makes no query of PRINT
BEGIN TRY
    PRINT 'SELECT';
    THROW 50001, 'nothing is unresolved', 1;
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE();
END CATCH;
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
            PERFORM ssb_internal.print('SELECT');
            session := ssb_internal.throw(session, 3, 50001, 'nothing is unresolved', 1);
            EXIT try_1;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print((session.caught).message);
            session.caught := NULL;  -- END CATCH
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
SELECT
nothing is unresolved

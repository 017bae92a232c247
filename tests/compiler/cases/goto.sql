-- case: a label below is the end of a block
DECLARE @n int = 1;
IF @n = 1 GOTO ErrorExit;
PRINT 'never';
ErrorExit:
PRINT 'at the exit';
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
        <<errorexit>>
        BEGIN
            IF n = 1 THEN
                EXIT errorexit;
            END IF;
            PERFORM ssb_internal.print('never');
        END errorexit;
        -- ErrorExit:
        PERFORM ssb_internal.print('at the exit');
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
at the exit

-- case: a label above is the beginning of a loop
DECLARE @n int = 0;
again:
SET @n = @n + 1;
PRINT @n;
IF @n < 3 GOTO again;
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
        <<again>>
        LOOP
            -- again:
            BEGIN
                n := n + 1;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            PERFORM ssb_internal.print(n::text);
            IF n < 3 THEN
                CONTINUE again;
            END IF;
            EXIT again;
        END LOOP again;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
1
2
3

-- case: out of TRY and out of a loop
DECLARE @n int = 0;
WHILE 1 = 1
BEGIN
    BEGIN TRY
        SET @n = @n + 1;
        IF @n = 2 GOTO done;
    END TRY
    BEGIN CATCH
        PRINT 'never';
    END CATCH
END
done:
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
        n integer := 0;
    BEGIN
        <<done>>
        BEGIN
            <<loop_1>>
            LOOP
                session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
                <<try_1>>
                BEGIN
                    BEGIN
                        n := n + 1;
                    EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT try_1;
                    END;
                    IF n = 2 THEN
                        session.try_depth := ssb_internal.tries(session.try_depth - 1);
                        EXIT done;
                    END IF;
                END try_1;
                session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
                IF session.leaving THEN  -- BEGIN CATCH
                    session := ssb_internal.begin_catch(session);
                    PERFORM ssb_internal.print('never');
                    session.caught := NULL;  -- END CATCH
                END IF;
            END LOOP loop_1;
        END done;
        -- done:
        PERFORM ssb_internal.print(n::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
2

-- case: into a loop needs a state machine
DECLARE @n int = 5;
GOTO middle;
WHILE @n < 7
BEGIN
    PRINT 'top';
middle:
    SET @n = @n + 1;
    PRINT @n;
END
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        pc integer := 1;
        n integer := 5;
    BEGIN
        <<machine_1>>
        LOOP
            CASE pc
            WHEN 1 THEN
                pc := 2;
                CONTINUE machine_1;
            WHEN 2 THEN
                -- middle:
                BEGIN
                    n := n + 1;
                EXCEPTION WHEN OTHERS THEN
                    session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
                END;
                PERFORM ssb_internal.print(n::text);
                pc := 3;
                CONTINUE machine_1;
            WHEN 3 THEN
                IF n < 7 THEN
                    pc := 4;
                ELSE
                    pc := 6;
                END IF;
                CONTINUE machine_1;
            WHEN 4 THEN
                PERFORM ssb_internal.print('top');
                pc := 2;
                CONTINUE machine_1;
            WHEN 5 THEN
                EXIT batch;
            WHEN 6 THEN
                pc := 5;
                CONTINUE machine_1;
            END CASE;
        END LOOP machine_1;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
6
top
7

-- case: a label that is not there
GOTO nowhere;
-- expect
case.sql:1:6: error 133: A GOTO statement references the label 'nowhere' but the label has not been declared.
    1 | GOTO nowhere;
      |      ^^^^^^^
-- shows
Msg 133, Level 15, State 1, Line 1
case.sql:1:6: error 133: A GOTO statement references the label 'nowhere' but the label has not been declared.
    1 | GOTO nowhere;
      |      ^^^^^^^

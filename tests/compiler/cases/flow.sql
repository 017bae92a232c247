-- case: IF, ELSE IF and ELSE
DECLARE @n int = 2;
IF @n = 1 PRINT 'one';
ELSE IF @n = 2
BEGIN
    PRINT 'two';
    -- still two
    PRINT 'too';
END
ELSE PRINT 'many';
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        n integer := 2;
    BEGIN
        IF n = 1 THEN
            PERFORM ssb_internal.print('one');
        ELSIF n = 2 THEN
            PERFORM ssb_internal.print('two');
            -- still two
            PERFORM ssb_internal.print('too');
        ELSE
            PERFORM ssb_internal.print('many');
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
two
too

-- case: a condition that can fail is computed on its own
DECLARE @n int = 0;
IF EXISTS (SELECT * FROM dbo.no_such_table) PRINT 'never';
PRINT 'the batch has ended: names are resolved when the statement runs';
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<this_batch>>
    DECLARE
        n integer := 0;
        condition boolean;
    BEGIN
        condition := NULL;
        BEGIN
            condition := coalesce(EXISTS (SELECT * FROM dbo.no_such_table), false);
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT this_batch WHEN session.leaving;
        END;
        IF condition THEN
            PERFORM ssb_internal.print('never');
        END IF;
        PERFORM ssb_internal.print('the batch has ended: names are resolved when the statement runs');
    END this_batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 208, Level 16, State 1, Line 2
Invalid object name 'dbo.no_such_table'.

-- case: WHILE with BREAK and CONTINUE
DECLARE @i int = 0;
WHILE 1 = 1
BEGIN
    SET @i = @i + 1;
    IF @i = 2 CONTINUE;
    IF @i > 3 BREAK;
    PRINT @i;
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
        i integer := 0;
    BEGIN
        LOOP
            BEGIN
                i := i + 1;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF i = 2 THEN
                CONTINUE;
            END IF;
            IF i > 3 THEN
                EXIT;
            END IF;
            PERFORM ssb_internal.print(i::text);
        END LOOP;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
1
3

-- case: comments stay where they are
-- at the top
DECLARE @n int; -- a number
/* a block
   of two lines */
SET @n = 1; -- one
PRINT @n;
-- at the end
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
        -- at the top
        -- a number
        /* a block
           of two lines */
        -- one
        n := 1;
        PERFORM ssb_internal.print(n::text);
        -- at the end
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
1

-- case: @@ERROR and @@ROWCOUNT are set where they are read
CREATE TABLE dbo.t (id int NOT NULL);
INSERT INTO dbo.t (id) VALUES (1), (2);
PRINT @@ROWCOUNT;
PRINT @@ROWCOUNT;
INSERT INTO dbo.t (id) VALUES (NULL);
PRINT @@ERROR;
PRINT @@ERROR;
IF @@ERROR = 0 PRINT 'IF has reset it';
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        BEGIN
            CREATE TABLE dbo.t (
                id integer NOT NULL
            );
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, ''); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            INSERT INTO dbo.t (id) VALUES (1), (2);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(session.rowcount::integer::text);
        session.rowcount := 0;
        PERFORM ssb_internal.print(session.rowcount::integer::text);
        BEGIN
            INSERT INTO dbo.t (id) VALUES (NULL);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(session.error::text);
        session.error := 0;
        PERFORM ssb_internal.print(session.error::text);
        session.error := 0;
        IF session.error = 0 THEN
            PERFORM ssb_internal.print('IF has reset it');
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

2
0
Msg 515, Level 16, State 2, Line 5
Cannot insert the value NULL into column 'id', table '<database>.dbo.t'; column does not allow nulls. INSERT fails.
The statement has been terminated.
515
0
IF has reset it

-- case: PRINT of NULL is an empty line
DECLARE @s nvarchar(10);
PRINT N'before';
PRINT @s;
PRINT N'after';
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
    BEGIN
        PERFORM ssb_internal.print('before');
        PERFORM ssb_internal.print(s);
        PERFORM ssb_internal.print('after');
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
before

after

-- case: RETURN ends a batch
PRINT 'first';
RETURN;
PRINT 'never';
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    BEGIN
        PERFORM ssb_internal.print('first');
        EXIT batch;
        PERFORM ssb_internal.print('never');
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
first

-- case: BREAK outside a loop
PRINT 'never';
BREAK;
-- expect
case.sql:2:1: error 135: Cannot use a BREAK statement outside the scope of a WHILE statement.
    2 | BREAK;
      | ^^^^^
-- shows
Msg 135, Level 15, State 1, Line 2
case.sql:2:1: error 135: Cannot use a BREAK statement outside the scope of a WHILE statement.
    2 | BREAK;
      | ^^^^^

-- case: a literal before anything else becomes part of the declaration
DECLARE @handle uniqueidentifier, @count int = 5, @name nvarchar(20) = N'Ada';
PRINT @count;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        handle uuid;
        count integer := 5;
        name varchar(20) := 'Ada';
    BEGIN
        PERFORM ssb_internal.print(count::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
5

-- case: an initial value inside a loop is assigned each time it is passed
DECLARE @i int = 0;
WHILE @i < 2
BEGIN
    DECLARE @seen int;
    DECLARE @fresh int = 0;
    SET @seen = ISNULL(@seen, 0) + 1;
    SET @fresh = @fresh + 1;
    SET @i = @i + 1;
    PRINT CONCAT(@seen, ' ', @fresh);
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
        seen integer;
        fresh integer;
    BEGIN
        WHILE i < 2 LOOP
            fresh := 0;
            BEGIN
                seen := COALESCE(seen, 0) + 1;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            BEGIN
                fresh := fresh + 1;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            BEGIN
                i := i + 1;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            PERFORM ssb_internal.print(concat(seen, ' ', fresh));
        END LOOP;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
1 1
2 1

-- case: variables keep the programmer's spelling and names that PostgreSQL reserves are quoted
DECLARE @messageBody nvarchar(10) = N'x', @order int = 1, @Found int = 2, @end int = 3, @session int = 4;
PRINT CONCAT(@MESSAGEBODY, @order, @found, @END, @session);
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session_2 ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session_2);
    <<batch>>
    DECLARE
        messageBody varchar(10) := 'x';
        "order" integer := 1;
        found_ integer := 2;
        "end" integer := 3;
        session integer := 4;
    BEGIN
        PERFORM ssb_internal.print(concat(messageBody, "order", found_, "end", session));
    END batch;
    CALL ssb_internal.end_batch(session_2);
END;
$batch$;
-- shows
x1234

-- case: a string that is too long is cut without an error
DECLARE @short nvarchar(3);
SET @short = N'abcdef';
PRINT @short;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        short varchar(3);
    BEGIN
        short := 'abc';
        PERFORM ssb_internal.print(short);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
abc

-- case: an assignment that can fail stands in an exception block and leaves the variable alone
DECLARE @n int = 1;
SET @n = @n / 0;
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
        BEGIN
            n := n / 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(n::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 8134, Level 16, State 1, Line 2
Divide by zero error encountered.
1

-- case: compound assignments
DECLARE @n int = 5, @s nvarchar(20) = N'a';
SET @n += 3;
SET @n *= 2;
SET @s += N'b';
PRINT CONCAT(@n, @s);
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        n integer := 5;
        s varchar(20) := 'a';
    BEGIN
        BEGIN
            n := n + 3;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            n := n * 2;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        s := (s || 'b')::varchar(20);
        PERFORM ssb_internal.print(concat(n, s));
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
16ab

-- case: SELECT assigns from left to right and keeps the value where there is no row
DECLARE @a int = 1, @b int = 2;
SELECT @a = 10, @b = @a + 1;
PRINT CONCAT(@a, ' ', @b);
SELECT @a = database_id FROM sys.databases WHERE name = N'no such database';
PRINT CONCAT(@a, ' ', @@ROWCOUNT);
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        a integer := 1;
        b integer := 2;
        next_row record;
    BEGIN
        BEGIN
            a := 10;
            b := a + 1;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(concat(a, ' ', b));
        BEGIN
            session.rowcount := 0;
            FOR next_row IN SELECT database_id::integer AS a FROM sys.databases WHERE lower(name) = 'no such database' LOOP
                a := next_row.a;
                session.rowcount := session.rowcount + 1;
            END LOOP;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(concat(a, ' ', session.rowcount::integer));
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
10 11
10 0

-- case: a variable that is not declared, and one that is declared twice
DECLARE @a int, @A int;
SET @b = 1;
-- expect
case.sql:1:17: error 134: The variable name '@A' has already been declared. Variable names must be unique within a query batch or stored procedure.
    1 | DECLARE @a int, @A int;
      |                 ^^

case.sql:2:5: error 137: Must declare the scalar variable "@b".
    2 | SET @b = 1;
      |     ^^
-- shows
Msg 134, Level 15, State 1, Line 1
case.sql:1:17: error 134: The variable name '@A' has already been declared. Variable names must be unique within a query batch or stored procedure.
    1 | DECLARE @a int, @A int;
      |                 ^^
Msg 137, Level 15, State 2, Line 2
case.sql:2:5: error 137: Must declare the scalar variable "@b".
    2 | SET @b = 1;
      |     ^^

-- case: table variables are arrays that outlive ROLLBACK
DECLARE @bad TABLE (id int NOT NULL, reason nvarchar(20));
BEGIN TRANSACTION;
INSERT INTO @bad (id, reason) VALUES (1, N'late');
ROLLBACK;
SELECT id, reason FROM @bad;
DELETE FROM @bad WHERE id = 1;
PRINT @@ROWCOUNT;
-- expect
SELECT ssb_internal.define_row_type('pg_temp."@bad"', 'id integer, reason varchar(20)');

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
        bad pg_temp."@bad"[] := '{}';
    BEGIN
        session := ssb_internal.begin_transaction(session);
        BEGIN
            bad := array_append(bad, ROW(1, 'late')::pg_temp."@bad");
            session.rowcount := 1;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        CALL ssb_internal.rollback_transaction(session, 4);
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id, reason FROM unnest(batch.bad) AS bad;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"},{"name":"reason","type":"varchar(20)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            SELECT sys.without_rows(batch.bad, array_agg(bad."@place")), count(*)
            FROM unnest(batch.bad) WITH ORDINALITY AS bad (id, reason, "@place")
            WHERE bad.id = 1
            INTO bad, session.rowcount;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'DELETE'); EXIT batch WHEN session.leaving;
        END;
        PERFORM ssb_internal.print(session.rowcount::integer::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

id reason
-- ------
 1 late

(1 row affected)

(1 row affected)

1

-- case: XML is modified in place
DECLARE @x xml = N'<a><b/></a>';
SET @x.modify('insert <c/> into (/a)[1]');
SELECT @x AS x;
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
        x sys.xml := sys.xml_of('<a><b/></a>');
    BEGIN
        BEGIN
            x := sys.xml_modify(x, 'insert <c/> into (/a)[1]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT x;
            session := ssb_internal.show(session, result, '[{"name":"x","type":"sys.xml"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
x
---------------
<a><b/><c/></a>

(1 row affected)

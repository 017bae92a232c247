-- case: a scalar function
CREATE FUNCTION dbo.full_name (@first nvarchar(20), @last nvarchar(20)) RETURNS nvarchar(50) AS
BEGIN
    IF @first IS NULL RETURN @last;
    DECLARE @name nvarchar(50) = @first + N' ' + @last;
    RETURN @name;
END
GO
SELECT dbo.full_name(N'Ada', N'Lovelace') AS name, dbo.full_name(NULL, N'Turing') AS other;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'FUNCTION', 'dbo.full_name', 'varchar, varchar');

CREATE OR REPLACE FUNCTION dbo.full_name(first varchar, last varchar)
RETURNS varchar
STABLE
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $full_name$
#variable_conflict use_column
<<full_name>>
DECLARE
    name varchar(50);
BEGIN
    first := first::varchar(20);
    last := last::varchar(20);
    IF first IS NULL THEN
        RETURN last;
    END IF;
    name := first || ' ' || last;
    RETURN name;
END full_name;
$full_name$;

END;
$whole$;

SELECT dbo.full_name('Ada', 'Lovelace') AS name, dbo.full_name(NULL, 'Turing') AS other;
-- shows
name         other
------------ ------
Ada Lovelace Turing

(1 row affected)

-- case: an inline function
CREATE TABLE dbo.orders (id int, customer int, amount decimal(10, 2));
INSERT INTO dbo.orders (id, customer, amount) VALUES (1, 7, 1.50), (2, 7, 2.50), (3, 8, 4);
GO
CREATE FUNCTION dbo.orders_of (@customer int) RETURNS TABLE AS
RETURN (SELECT id, amount FROM dbo.orders WHERE customer = @customer);
GO
SELECT id, amount FROM dbo.orders_of(7) AS o ORDER BY id;
-- expect
CREATE TABLE dbo.orders (
    id integer,
    customer integer,
    amount numeric(10,2)
);

INSERT INTO dbo.orders (id, customer, amount) VALUES (1, 7, 1.50), (2, 7, 2.50), (3, 8, 4);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'FUNCTION', 'dbo.orders_of', 'integer');

PERFORM ssb_internal.define_row_type('dbo."orders_of@row"', 'id integer, amount numeric(10,2)');

CREATE OR REPLACE FUNCTION dbo.orders_of(customer integer)
RETURNS SETOF dbo."orders_of@row"
STABLE
LANGUAGE sql AS $orders_of$
SELECT q.id::integer, q.amount::numeric(10,2) FROM (
SELECT id, amount FROM dbo.orders WHERE customer = orders_of.customer
) AS q
$orders_of$;

END;
$whole$;

SELECT id, amount FROM dbo.orders_of(7) AS o ORDER BY id NULLS FIRST;
-- shows
(3 rows affected)

id amount
-- ------
 1   1.50
 2   2.50

(2 rows affected)

-- case: a multi-statement function
CREATE FUNCTION dbo.numbers (@n int) RETURNS @t TABLE (n int NOT NULL, square int) AS
BEGIN
    DECLARE @i int = 1;
    WHILE @i <= @n
    BEGIN
        INSERT INTO @t (n, square) VALUES (@i, @i * @i);
        SET @i = @i + 1;
    END
    RETURN;
END
GO
SELECT n, square FROM dbo.numbers(3) AS x ORDER BY n;
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'FUNCTION', 'dbo.numbers', 'integer');

PERFORM ssb_internal.define_row_type('dbo."numbers@row"', 'n integer, square integer');

CREATE OR REPLACE FUNCTION dbo.numbers(n integer)
RETURNS SETOF dbo."numbers@row"
STABLE
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $numbers$
#variable_conflict use_column
<<numbers>>
DECLARE
    t dbo."numbers@row"[] := '{}';
    i integer := 1;
BEGIN
    WHILE i <= n LOOP
        t := array_append(t, ROW(sys.not_null(i, 'n', '@t'), i * i)::dbo."numbers@row");
        i := i + 1;
    END LOOP;
    RETURN QUERY SELECT * FROM unnest(t);
    RETURN;
END numbers;
$numbers$;

END;
$whole$;

SELECT n, square FROM dbo.numbers(3) AS x ORDER BY n;
-- shows
n square
- ------
1      1
2      4
3      9

(3 rows affected)

-- case: a trigger sees inserted and deleted, and its error undoes the statement
CREATE TABLE dbo.t (id int, n int);
CREATE TABLE dbo.log (line nvarchar(100));
GO
CREATE TRIGGER dbo.watch ON dbo.t AFTER INSERT, UPDATE AS
BEGIN
    SET NOCOUNT ON;
    IF UPDATE(n) PRINT 'n is named';
    INSERT INTO dbo.log (line)
    SELECT CONCAT(i.id, ': ', d.n, ' -> ', i.n) FROM inserted AS i LEFT JOIN deleted AS d ON d.id = i.id;
    IF EXISTS (SELECT * FROM inserted WHERE n > 100)
    BEGIN
        RAISERROR(N'too large', 16, 1);
        ROLLBACK;
    END
END
GO
INSERT INTO dbo.t (id, n) VALUES (1, 10);
UPDATE dbo.t SET n = 20;
UPDATE dbo.t SET id = 2;
GO
INSERT INTO dbo.t (id, n) VALUES (3, 1000);
PRINT 'never';
GO
SELECT id, n FROM dbo.t;
SELECT line FROM dbo.log ORDER BY line;
DISABLE TRIGGER dbo.watch ON dbo.t;
INSERT INTO dbo.t (id, n) VALUES (4, 1000);
DROP TRIGGER dbo.watch;
-- expect
CREATE TABLE dbo.t (
    id integer,
    n integer
);

CREATE TABLE dbo.log (
    line varchar(100)
);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_trigger('CREATE', 'dbo.watch', 'dbo.t');

CREATE OR REPLACE FUNCTION dbo.watch()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $watch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    nocount_now_kept text;
BEGIN
    session := ssb_internal.enter_trigger('watch');
    nocount_now_kept := current_setting('pgsb.nocount_now', true);
    <<watch>>
    DECLARE
        condition boolean;
    BEGIN
        session.nocount := ssb_internal.no_count(true);
        condition := NULL;
        BEGIN
            condition := coalesce(true, false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT watch WHEN session.leaving;
        END;
        IF condition THEN
            PERFORM ssb_internal.print('n is named');
        END IF;
        BEGIN
            INSERT INTO dbo.log (line)
            SELECT concat(i.id, ': ', d.n, ' -> ', i.n)
            FROM inserted AS i
            LEFT JOIN (SELECT * FROM inserted WHERE false) AS d ON d.id = i.id;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT watch WHEN session.leaving;
        END;
        condition := NULL;
        BEGIN
            condition := coalesce(EXISTS (SELECT * FROM inserted WHERE n > 100), false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT watch WHEN session.leaving;
        END;
        IF condition THEN
            session := ssb_internal.raiserror(session, 9, 'too large', 16, 1);
            EXIT watch WHEN session.leaving;
            CALL ssb_internal.rollback_transaction(session, 10);
            EXIT watch WHEN session.leaving;
        END IF;
    END watch;
    PERFORM set_config('pgsb.nocount_now', nocount_now_kept, false);
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$watch$;

CREATE TRIGGER watch AFTER INSERT ON dbo.t
    REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 OR ssb_internal.fires('dbo.watch')) EXECUTE FUNCTION dbo.watch();

CREATE OR REPLACE FUNCTION dbo."watch@update"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $watch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    nocount_now_kept text;
BEGIN
    session := ssb_internal.enter_trigger('watch');
    nocount_now_kept := current_setting('pgsb.nocount_now', true);
    <<watch>>
    DECLARE
        condition boolean;
        updates text[] := ssb_internal.columns_named(TG_RELID, 'watch');
    BEGIN
        session.nocount := ssb_internal.no_count(true);
        condition := NULL;
        BEGIN
            condition := coalesce('n' = ANY (watch.updates), false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT watch WHEN session.leaving;
        END;
        IF condition THEN
            PERFORM ssb_internal.print('n is named');
        END IF;
        BEGIN
            INSERT INTO dbo.log (line)
            SELECT concat(i.id, ': ', d.n, ' -> ', i.n)
            FROM inserted AS i
            LEFT JOIN deleted AS d ON d.id = i.id;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT watch WHEN session.leaving;
        END;
        condition := NULL;
        BEGIN
            condition := coalesce(EXISTS (SELECT * FROM inserted WHERE n > 100), false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT watch WHEN session.leaving;
        END;
        IF condition THEN
            session := ssb_internal.raiserror(session, 9, 'too large', 16, 1);
            EXIT watch WHEN session.leaving;
            CALL ssb_internal.rollback_transaction(session, 10);
            EXIT watch WHEN session.leaving;
        END IF;
    END watch;
    PERFORM set_config('pgsb.nocount_now', nocount_now_kept, false);
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$watch$;

CREATE TRIGGER "watch@update" AFTER UPDATE ON dbo.t
    REFERENCING NEW TABLE AS inserted OLD TABLE AS deleted
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 OR ssb_internal.fires('dbo."watch@update"')) EXECUTE FUNCTION dbo."watch@update"();

CREATE TRIGGER "!watch@" AFTER UPDATE ON dbo.t
    FOR EACH STATEMENT EXECUTE FUNCTION ssb_internal.note_update('watch', '', 'n');

PERFORM ssb_internal.note_updates('dbo.t', 'watch');

END;
$whole$;

INSERT INTO dbo.t (id, n) VALUES (1, 10);

UPDATE dbo.t SET n = 20;

UPDATE dbo.t SET id = 2;

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
            INSERT INTO dbo.t (id, n) VALUES (3, 1000);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print('never');
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

SELECT id, n FROM dbo.t;

SELECT line FROM dbo.log ORDER BY line NULLS FIRST;

SELECT ssb_internal.enable_trigger('dbo.t', ARRAY['watch']::text[], false);

INSERT INTO dbo.t (id, n) VALUES (4, 1000);

SELECT ssb_internal.drop_module('TRIGGER', 'dbo.watch');
-- shows
n is named
(1 row affected)

n is named
(1 row affected)

(1 row affected)

n is named
Msg 50000, Level 16, State 1, Procedure watch, Line 9
too large
Msg 3609, Level 16, State 1, Line 1
The transaction ended in the trigger. The batch has been aborted.
id n
-- --
 2 20

(1 row affected)

line
-----------
1:  -> 10
1: 10 -> 20
2:  -> 20

(3 rows affected)

(1 row affected)

-- case: a trigger that sends
CREATE QUEUE dbo.q;
CREATE SERVICE s ON QUEUE dbo.q ([DEFAULT]);
CREATE TABLE dbo.t (id int);
GO
CREATE TRIGGER dbo.tell ON dbo.t AFTER INSERT AS
DECLARE @h uniqueidentifier, @n int;
SELECT @n = COUNT(*) FROM inserted;
BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (CAST(@n AS nvarchar(10)));
GO
INSERT INTO dbo.t (id) VALUES (1), (2);
SELECT CAST(message_body AS nvarchar(10)) AS body FROM dbo.q;
-- expect
SELECT ssb.create_queue('dbo.q');

SELECT ssb.create_service('s', queue => 'dbo.q', contracts => ARRAY['DEFAULT']::text[]);

CREATE TABLE dbo.t (
    id integer
);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_trigger('CREATE', 'dbo.tell', 'dbo.t');

CREATE OR REPLACE FUNCTION dbo.tell()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $tell$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    session := ssb_internal.enter_trigger('tell');
    <<tell>>
    DECLARE
        h uuid;
        n integer;
        begun uuid;
    BEGIN
        BEGIN
            SELECT count(*) FROM inserted INTO n;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT tell WHEN session.leaving;
        END;
        BEGIN
            begun := ssb_internal.begin_and_send('s', 's', 'DEFAULT', 'DEFAULT', sys.convert_nvarchar(n, 10), p_is_encrypted => false);
        EXCEPTION WHEN OTHERS THEN begun := NULL;  -- the statements tell what is wrong
        END;
        IF begun IS NOT NULL THEN
            h := begun;
        ELSE
            BEGIN
                h := ssb.begin_dialog('s', 's', encryption => false);
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT tell WHEN session.leaving;
            END;
            BEGIN
                PERFORM ssb.send(h, 'DEFAULT', sys.convert_nvarchar(n, 10));
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT tell WHEN session.leaving;
            END;
        END IF;
    END tell;
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$tell$;

CREATE TRIGGER tell AFTER INSERT ON dbo.t
    REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 OR ssb_internal.fires('dbo.tell')) EXECUTE FUNCTION dbo.tell();

END;
$whole$;

INSERT INTO dbo.t (id) VALUES (1), (2);

SELECT sys.convert_nvarchar(message_body, 10) AS body FROM dbo.q;
-- shows
(2 rows affected)

body
----
2

(1 row affected)

-- case: views and synonyms
CREATE TABLE dbo.t (id int, n int);
INSERT INTO dbo.t (id, n) VALUES (1, 2);
GO
CREATE VIEW dbo.v (ident, twice) AS SELECT id, n * 2 FROM dbo.t;
GO
ALTER VIEW dbo.v AS SELECT n FROM dbo.t;
GO
CREATE SYNONYM dbo.s FOR dbo.t;
SELECT n FROM dbo.v;
SELECT id FROM dbo.s;
DROP SYNONYM dbo.s;
DROP VIEW dbo.v;
-- expect
CREATE TABLE dbo.t (
    id integer,
    n integer
);

INSERT INTO dbo.t (id, n) VALUES (1, 2);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_view('CREATE', 'dbo.v');

CREATE VIEW dbo.v (ident, twice) AS
SELECT id, n * 2 FROM dbo.t;

END;
$whole$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_view('ALTER', 'dbo.v');

CREATE VIEW dbo.v AS
SELECT n FROM dbo.t;

PERFORM ssb_internal.finish_alteration('dbo.v');

END;
$whole$;

SELECT ssb_internal.create_synonym('dbo.s', 'dbo.t');

SELECT n FROM dbo.v;

SELECT id FROM dbo.t AS s;

SELECT ssb_internal.drop_synonym('dbo.s');

SELECT ssb_internal.drop_relation('VIEW', 'dbo.v');
-- shows
(1 row affected)

n
-
2

(1 row affected)

id
--
 1

(1 row affected)

-- case: what has no counterpart is refused by its name
CREATE TABLE dbo.t (id int);
GO
CREATE TRIGGER ddl ON DATABASE FOR CREATE_TABLE AS PRINT 'x';
-- expect
CREATE TABLE dbo.t (
    id integer
);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_ddl_trigger('CREATE', 'ddl', 'DATABASE');

DO $define$
#variable_conflict use_column
BEGIN
    CREATE OR REPLACE FUNCTION dbo."ddl@database"()
    RETURNS trigger
    SET search_path = pg_catalog, pg_temp
    LANGUAGE plpgsql AS $ddl$
    #variable_conflict use_column
    DECLARE
        session ssb.session;
    BEGIN
        session := ssb_internal.enter_trigger('ddl');
        <<ddl>>
        BEGIN
            PERFORM ssb_internal.print('x');
        END ddl;
        PERFORM ssb_internal.leave_trigger(session);
        RETURN NEW;
    END;
    $ddl$;
    PERFORM ssb_internal.create_ddl_trigger('ddl', 'DATABASE', ARRAY['CREATE_TABLE']::text[], 'dbo."ddl@database"');
    REVOKE EXECUTE ON FUNCTION dbo."ddl@database"() FROM PUBLIC;
END;
$define$;

END;
$whole$;
-- shows


-- case: a function that passes locked rows is volatile, as one that locks them
CREATE TABLE dbo.free_rows (id int PRIMARY KEY);
GO
CREATE FUNCTION dbo.first_free() RETURNS int AS
BEGIN
    DECLARE @id int;
    SELECT TOP (1) @id = id FROM dbo.free_rows WITH (READPAST) ORDER BY id;
    RETURN @id;
END;
GO
INSERT INTO dbo.free_rows VALUES (2), (1);
SELECT dbo.first_free() AS first;
-- expect
CREATE TABLE dbo.free_rows (
    id integer PRIMARY KEY
);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'FUNCTION', 'dbo.first_free', '');

CREATE OR REPLACE FUNCTION dbo.first_free()
RETURNS integer
VOLATILE
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $first_free$
#variable_conflict use_column
<<first_free>>
DECLARE
    id integer;
    next_row record;
BEGIN
    SELECT id::integer AS id_ FROM dbo.free_rows ORDER BY id LIMIT 1 FOR KEY SHARE SKIP LOCKED INTO next_row;
    IF FOUND THEN
        id := next_row.id_;
    END IF;
    RETURN id;
END first_free;
$first_free$;

END;
$whole$;

INSERT INTO dbo.free_rows VALUES (2), (1);

SELECT dbo.first_free() AS first;
-- shows
(2 rows affected)

first
-----
    1

(1 row affected)

-- case: what an IF, a WHILE and a SET read is locked before
CREATE PROCEDURE dbo.first_come @id INT AS
IF NOT EXISTS (SELECT * FROM dbo.heap WITH (UPDLOCK, HOLDLOCK) WHERE id = @id) INSERT dbo.heap (id) VALUES (@id)
ELSE IF EXISTS (SELECT * FROM dbo.heap WITH (TABLOCKX)) PRINT 'taken'
WHILE EXISTS (SELECT * FROM dbo.heap WITH (TABLOCKX)) DELETE dbo.heap
SET @id = (SELECT MAX(id) FROM dbo.heap WITH (XLOCK, SERIALIZABLE))
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.first_come', 'integer, ssb.session');

CREATE OR REPLACE PROCEDURE dbo.first_come(id integer, INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $first_come$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.enter(session, caller, 'first_come');
    <<first_come>>
    DECLARE
        condition boolean;
    BEGIN
        EXIT first_come WHEN session.leaving;  -- nested deeper than 32
        condition := NULL;
        BEGIN
            LOCK TABLE dbo.heap IN SHARE ROW EXCLUSIVE MODE;
            condition := coalesce(NOT EXISTS (SELECT * FROM dbo.heap WHERE id = first_come.id FOR UPDATE), false);
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT first_come WHEN session.leaving;
        END;
        IF condition THEN
            BEGIN
                INSERT INTO dbo.heap (id) VALUES (id);
                IF session.tells_identity THEN session.identity := ssb_internal.identity_told('dbo.heap', FOUND, session.identity); END IF;
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                PERFORM ssb_internal.show_count(session);
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT');
                EXIT first_come WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        ELSIF NOT condition THEN
            condition := NULL;
            BEGIN
                LOCK TABLE dbo.heap IN EXCLUSIVE MODE;
                condition := coalesce(EXISTS (SELECT * FROM dbo.heap), false);
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT first_come WHEN session.leaving;
            END;
            IF condition THEN
                PERFORM ssb_internal.print('taken');
            END IF;
        END IF;
        LOOP
            condition := NULL;
            BEGIN
                LOCK TABLE dbo.heap IN EXCLUSIVE MODE;
                condition := coalesce(EXISTS (SELECT * FROM dbo.heap), false);
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT first_come WHEN session.leaving;
            END;
            EXIT WHEN condition IS NOT TRUE;
            BEGIN
                DELETE FROM dbo.heap;
                IF session.tells_identity THEN session.identity := ssb_internal.identity_told('dbo.heap', false, session.identity); END IF;
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                PERFORM ssb_internal.show_count(session);
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM, detail, 'DELETE');
                EXIT first_come WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END LOOP;
        BEGIN
            LOCK TABLE dbo.heap IN SHARE ROW EXCLUSIVE MODE;
            id := sys.convert_int((SELECT max(id) FROM (SELECT * FROM dbo.heap FOR UPDATE) AS heap));
            session.error := 0; session.rowcount := 1;
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT first_come WHEN session.leaving;
        END;
    END first_come;
    session := ssb_internal.leave(session, caller);
END;
$first_come$;

END;
$whole$;
-- shows


-- case: a procedure that receives keeps its isolation level by locks
CREATE TABLE dbo.counter (id int PRIMARY KEY, n int);
CREATE TABLE dbo.price (id int PRIMARY KEY, amount int);
GO
CREATE PROCEDURE dbo.count_orders AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @h uniqueidentifier, @n int, @amount int;
    SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
    BEGIN TRANSACTION;
    RECEIVE TOP (1) @h = conversation_handle FROM dbo.orders;
    SELECT @n = n FROM dbo.counter WHERE id = 1;
    SELECT @amount = amount FROM dbo.price AS p WHERE p.id = @n;
    SELECT @amount = amount FROM dbo.price AS p WITH (NOLOCK) WHERE p.id = @n;
    UPDATE c SET n = @n + 1 FROM dbo.counter AS c WHERE c.id = 1;
    EXEC ('SELECT amount FROM dbo.price');
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
    SELECT @n = n FROM dbo.counter WHERE id = 1;
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    SELECT @n = n FROM dbo.counter WHERE id = 1;
END
-- expect
CREATE TABLE dbo.counter (
    id integer PRIMARY KEY,
    n integer
);

CREATE TABLE dbo.price (
    id integer PRIMARY KEY,
    amount integer
);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.count_orders', 'ssb.session');

CREATE OR REPLACE PROCEDURE dbo.count_orders(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $count_orders$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    detail text;
    result refcursor;
    default_transaction_isolation_kept text;
    snapshot_kept text;
BEGIN
    CALL ssb_internal.enter(session, caller, 'count_orders');
    default_transaction_isolation_kept := current_setting('default_transaction_isolation');
    snapshot_kept := current_setting('pgsb.snapshot', true);
    <<count_orders>>
    DECLARE
        h uuid;
        n integer;
        amount integer;
        received record;
        next_row record;
        caller_2 ssb.session;
    BEGIN
        EXIT count_orders WHEN session.leaving;  -- nested deeper than 32
        session.nocount := ssb_internal.no_count(true);
        PERFORM set_config('default_transaction_isolation', 'read committed', false);
        PERFORM set_config('pgsb.snapshot', 'serializable', false);
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        session := ssb_internal.begin_transaction(session);
        BEGIN
            SELECT conversation_handle FROM ssb.receive('dbo.orders', 1) INTO received;
            IF FOUND THEN
                h := received.conversation_handle;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT count_orders WHEN session.leaving;
        END;
        BEGIN
            LOCK TABLE dbo.counter IN ROW EXCLUSIVE MODE;
            PERFORM CASE WHEN EXISTS (SELECT 1 FROM dbo.counter WHERE id = 1 FOR UPDATE) THEN NULL ELSE sys.lock_key('dbo.counter', concat_ws('/', rtrim(lower(1::text)))) END;
            FOR next_row IN SELECT n::integer AS n FROM dbo.counter WHERE id = 1 FOR UPDATE LOOP
                n := next_row.n;
            END LOOP;
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT count_orders WHEN session.leaving;
        END;
        BEGIN
            FOR next_row IN SELECT amount::integer AS amount FROM dbo.price AS p WHERE p.id = count_orders.n FOR SHARE LOOP
                amount := next_row.amount;
            END LOOP;
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM); EXIT count_orders WHEN session.leaving;
        END;
        BEGIN
            FOR next_row IN SELECT amount::integer AS amount FROM dbo.price AS p WHERE p.id = count_orders.n LOOP
                amount := next_row.amount;
            END LOOP;
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT count_orders WHEN session.leaving;
        END;
        BEGIN
            LOCK TABLE dbo.counter IN ROW EXCLUSIVE MODE;
            PERFORM CASE WHEN EXISTS (SELECT 1 FROM dbo.counter AS c WHERE c.id = 1 FOR UPDATE) THEN NULL ELSE sys.lock_key('dbo.counter', concat_ws('/', rtrim(lower(1::text)))) END;
            UPDATE dbo.counter AS c SET n = count_orders.n + 1 WHERE c.id = 1;
            IF session.tells_identity THEN session.identity := ssb_internal.identity_told('dbo.counter', false, session.identity); END IF;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM, detail, 'UPDATE');
            EXIT count_orders WHEN session.leaving;
        END;
        caller_2 := session;
        session := ssb_internal.enter_string(session);
        <<string_1>>
        BEGIN
            EXIT string_1 WHEN session.leaving;  -- nested deeper than 32
            BEGIN
                LOCK TABLE dbo.price IN SHARE MODE;
                result := NULL;
                OPEN result FOR SELECT amount FROM dbo.price;
                session := ssb_internal.show(session, result, '[{"name":"amount","type":"integer"}]');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT string_1 WHEN session.leaving;
            END;
        END string_1;
        session := ssb_internal.leave(session, caller_2);
        EXIT count_orders WHEN session.leaving;
        PERFORM set_config('default_transaction_isolation', 'read committed', false);
        PERFORM set_config('pgsb.snapshot', 'repeatable read', false);
        BEGIN
            FOR next_row IN SELECT n::integer AS n FROM dbo.counter WHERE id = 1 FOR UPDATE LOOP
                n := next_row.n;
            END LOOP;
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 14, SQLSTATE, SQLERRM); EXIT count_orders WHEN session.leaving;
        END;
        CALL ssb_internal.commit_transaction(session, 15);
        EXIT count_orders WHEN session.leaving;
        PERFORM set_config('default_transaction_isolation', 'read committed', false);
        PERFORM set_config('pgsb.snapshot', 'off', false);
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            session.rowcount := 0;
            FOR next_row IN SELECT n::integer AS n FROM dbo.counter WHERE id = 1 LOOP
                n := next_row.n;
                session.rowcount := session.rowcount + 1;
            END LOOP;
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 17, SQLSTATE, SQLERRM); EXIT count_orders WHEN session.leaving;
        END;
    END count_orders;
    PERFORM set_config('default_transaction_isolation', default_transaction_isolation_kept, false);
    PERFORM set_config('pgsb.snapshot', snapshot_kept, false);
    IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    session := ssb_internal.leave(session, caller);
END;
$count_orders$;

END;
$whole$;
-- shows


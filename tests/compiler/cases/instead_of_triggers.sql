-- case: INSTEAD OF on a view: once a statement, over its rows
CREATE TABLE dbo.person (id int PRIMARY KEY, name varchar(20));
CREATE TABLE dbo.home (id int PRIMARY KEY, city varchar(20));
GO
CREATE VIEW dbo.people AS SELECT p.id, p.name, h.city FROM dbo.person AS p JOIN dbo.home AS h ON h.id = p.id;
GO
CREATE TRIGGER dbo.people_insert ON dbo.people INSTEAD OF INSERT AS
BEGIN
    PRINT @@ROWCOUNT;
    SET NOCOUNT ON;
    INSERT INTO dbo.person SELECT id, name FROM inserted;
    INSERT INTO dbo.home SELECT i.id, i.city FROM inserted AS i;
END;
GO
CREATE TRIGGER dbo.people_change ON dbo.people INSTEAD OF UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    IF UPDATE(name) PRINT 'name';
    UPDATE p SET name = i.name FROM dbo.person AS p JOIN inserted AS i ON i.id = p.id;
    DELETE FROM dbo.home WHERE id IN (SELECT id FROM deleted EXCEPT SELECT id FROM inserted);
END;
GO
INSERT INTO dbo.people VALUES (1, 'ann', 'Oslo'), (2, 'bob', 'Rome');
INSERT INTO dbo.people (id, name) VALUES (3, 'cid');
UPDATE dbo.people SET name = name + '!' WHERE id < 3;
DELETE FROM dbo.people WHERE city = 'Rome';
SELECT * FROM dbo.people ORDER BY id;
SELECT name, is_instead_of_trigger FROM sys.triggers ORDER BY name;
GO
CREATE TRIGGER dbo.another ON dbo.people INSTEAD OF DELETE AS PRINT 'never';
GO
DROP TRIGGER dbo.people_insert;
GO
CREATE TRIGGER dbo.loops ON dbo.people INSTEAD OF INSERT AS INSERT INTO dbo.people SELECT * FROM inserted;
GO
INSERT INTO dbo.people VALUES (4, 'dan', 'Bonn');
-- expect
CREATE TABLE dbo.person (
    id integer PRIMARY KEY,
    name varchar(20)
);

CREATE TABLE dbo.home (
    id integer PRIMARY KEY,
    city varchar(20)
);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_view('CREATE', 'dbo.people');

CREATE VIEW dbo.people AS
SELECT p.id, p.name, h.city FROM dbo.person AS p JOIN dbo.home AS h ON h.id = p.id;

END;
$whole$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_trigger('CREATE', 'dbo.people_insert', 'dbo.people');

PERFORM ssb_internal.check_instead('dbo.people', 'people_insert', ARRAY['INSERT']::text[]);

CREATE OR REPLACE FUNCTION dbo.people_insert()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $people_insert$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    nocount_now_kept text;
BEGIN
    session := ssb_internal.enter_trigger('people_insert');
    nocount_now_kept := current_setting('pgsb.nocount_now', true);
    PERFORM ssb_internal.enter_instead('dbo.people_insert');
    session.rowcount := (SELECT count(*) FROM pg_temp."dbo.people_insert@inserted");
    <<people_insert>>
    BEGIN
        PERFORM ssb_internal.print(session.rowcount::integer::text);
        session.nocount := ssb_internal.no_count(true);
        BEGIN
            INSERT INTO dbo.person SELECT id, name FROM pg_temp."dbo.people_insert@inserted" AS inserted;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'INSERT');
            EXIT people_insert WHEN session.leaving;
        END;
        BEGIN
            INSERT INTO dbo.home SELECT i.id, i.city FROM pg_temp."dbo.people_insert@inserted" AS i;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'INSERT');
            EXIT people_insert WHEN session.leaving;
        END;
    END people_insert;
    PERFORM set_config('pgsb.nocount_now', nocount_now_kept, false);
    PERFORM ssb_internal.leave_instead('dbo.people_insert');
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$people_insert$;

CREATE OR REPLACE FUNCTION dbo."people_insert@rows"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $keep_rows$
#variable_conflict use_column
BEGIN
    IF TG_LEVEL = 'STATEMENT' THEN
        PERFORM ssb_internal.begin_instead('dbo.people_insert', TG_RELID, 'pg_temp."dbo.people_insert@inserted"');
        RETURN NULL;
    END IF;
    INSERT INTO pg_temp."dbo.people_insert@inserted" SELECT NEW.*;
    RETURN CASE WHEN TG_WHEN = 'INSTEAD OF' THEN NEW END;
END;
$keep_rows$;

PERFORM ssb_internal.create_instead('dbo.people', 'INSERT', 'people_insert', 'dbo.people_insert', 'dbo."people_insert@rows"', 'dbo.people_insert');

END;
$whole$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_trigger('CREATE', 'dbo.people_change', 'dbo.people');

PERFORM ssb_internal.check_instead('dbo.people', 'people_change', ARRAY['UPDATE', 'DELETE']::text[]);

CREATE OR REPLACE FUNCTION dbo.people_change()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $people_change$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    nocount_now_kept text;
BEGIN
    session := ssb_internal.enter_trigger('people_change');
    nocount_now_kept := current_setting('pgsb.nocount_now', true);
    PERFORM ssb_internal.enter_instead('dbo.people_change');
    <<people_change>>
    DECLARE
        condition boolean;
        updates text[] := ssb_internal.columns_named(TG_RELID, 'people_change');
    BEGIN
        session.nocount := ssb_internal.no_count(true);
        condition := NULL;
        BEGIN
            condition := coalesce('name' = ANY (people_change.updates), false);
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT people_change WHEN session.leaving;
        END;
        IF condition THEN
            PERFORM ssb_internal.print('name');
        END IF;
        BEGIN
            UPDATE dbo.person AS p
            SET name = i.name
            FROM pg_temp."dbo.people_change@inserted" AS i
            WHERE i.id = p.id;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'UPDATE');
            EXIT people_change WHEN session.leaving;
        END;
        BEGIN
            DELETE FROM dbo.home
            WHERE id IN (SELECT id FROM pg_temp."dbo.people_change@deleted" AS deleted
                         EXCEPT
                         SELECT id FROM pg_temp."dbo.people_change@inserted" AS inserted);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'DELETE');
            EXIT people_change WHEN session.leaving;
        END;
    END people_change;
    PERFORM set_config('pgsb.nocount_now', nocount_now_kept, false);
    PERFORM ssb_internal.leave_instead('dbo.people_change');
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$people_change$;

CREATE OR REPLACE FUNCTION dbo."people_change@rows"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $keep_rows$
#variable_conflict use_column
BEGIN
    IF TG_LEVEL = 'STATEMENT' THEN
        PERFORM ssb_internal.begin_instead('dbo.people_change', TG_RELID, 'pg_temp."dbo.people_change@inserted"', 'pg_temp."dbo.people_change@deleted"');
        RETURN NULL;
    END IF;
    INSERT INTO pg_temp."dbo.people_change@inserted" SELECT NEW.*;
    INSERT INTO pg_temp."dbo.people_change@deleted" SELECT OLD.*;
    RETURN CASE WHEN TG_WHEN = 'INSTEAD OF' THEN NEW END;
END;
$keep_rows$;

PERFORM ssb_internal.create_instead('dbo.people', 'UPDATE', 'people_change', 'dbo.people_change', 'dbo."people_change@rows"', 'dbo.people_change');

CREATE TRIGGER "!people_change@" AFTER UPDATE ON dbo.people
    FOR EACH STATEMENT EXECUTE FUNCTION ssb_internal.note_update('people_change', '', 'name');

PERFORM ssb_internal.note_updates('dbo.people', 'people_change');

CREATE OR REPLACE FUNCTION dbo."people_change@delete"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $people_change$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    nocount_now_kept text;
BEGIN
    session := ssb_internal.enter_trigger('people_change');
    nocount_now_kept := current_setting('pgsb.nocount_now', true);
    PERFORM ssb_internal.enter_instead('dbo.people_change');
    <<people_change>>
    DECLARE
        condition boolean;
    BEGIN
        session.nocount := ssb_internal.no_count(true);
        condition := NULL;
        BEGIN
            condition := coalesce(false, false);
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT people_change WHEN session.leaving;
        END;
        IF condition THEN
            PERFORM ssb_internal.print('name');
        END IF;
        BEGIN
            UPDATE dbo.person AS p
            SET name = i.name
            FROM (SELECT * FROM pg_temp."dbo.people_change@delete@deleted" WHERE false) AS i
            WHERE i.id = p.id;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'UPDATE');
            EXIT people_change WHEN session.leaving;
        END;
        BEGIN
            DELETE FROM dbo.home
            WHERE id IN (SELECT id FROM pg_temp."dbo.people_change@delete@deleted" AS deleted
                         EXCEPT
                         SELECT id
                         FROM (SELECT * FROM pg_temp."dbo.people_change@delete@deleted" WHERE false) AS inserted);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM, detail, 'DELETE');
            EXIT people_change WHEN session.leaving;
        END;
    END people_change;
    PERFORM set_config('pgsb.nocount_now', nocount_now_kept, false);
    PERFORM ssb_internal.leave_instead('dbo.people_change');
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$people_change$;

CREATE OR REPLACE FUNCTION dbo."people_change@delete@rows"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $keep_rows$
#variable_conflict use_column
BEGIN
    IF TG_LEVEL = 'STATEMENT' THEN
        PERFORM ssb_internal.begin_instead('dbo.people_change', TG_RELID, 'pg_temp."dbo.people_change@delete@deleted"');
        RETURN NULL;
    END IF;
    INSERT INTO pg_temp."dbo.people_change@delete@deleted" SELECT OLD.*;
    RETURN CASE WHEN TG_WHEN = 'INSTEAD OF' THEN OLD END;
END;
$keep_rows$;

PERFORM ssb_internal.create_instead('dbo.people', 'DELETE', 'people_change@delete', 'dbo."people_change@delete"', 'dbo."people_change@delete@rows"', 'dbo.people_change');

END;
$whole$;

INSERT INTO dbo.people VALUES (1, 'ann', 'Oslo'), (2, 'bob', 'Rome');

INSERT INTO dbo.people (id, name) VALUES (3, 'cid');

UPDATE dbo.people SET name = name || '!' WHERE id < 3;

DELETE FROM dbo.people WHERE city = 'Rome';

SELECT * FROM dbo.people ORDER BY id NULLS FIRST;

SELECT name, is_instead_of_trigger FROM sys.triggers ORDER BY name NULLS FIRST;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_trigger('CREATE', 'dbo.another', 'dbo.people');

PERFORM ssb_internal.check_instead('dbo.people', 'another', ARRAY['DELETE']::text[]);

CREATE OR REPLACE FUNCTION dbo.another()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $another$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    session := ssb_internal.enter_trigger('another');
    PERFORM ssb_internal.enter_instead('dbo.another');
    <<another>>
    BEGIN
        PERFORM ssb_internal.print('never');
    END another;
    PERFORM ssb_internal.leave_instead('dbo.another');
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$another$;

CREATE OR REPLACE FUNCTION dbo."another@rows"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $keep_rows$
#variable_conflict use_column
BEGIN
    IF TG_LEVEL = 'STATEMENT' THEN
        PERFORM ssb_internal.begin_instead('dbo.another', TG_RELID, 'pg_temp."dbo.another@deleted"');
        RETURN NULL;
    END IF;
    INSERT INTO pg_temp."dbo.another@deleted" SELECT OLD.*;
    RETURN CASE WHEN TG_WHEN = 'INSTEAD OF' THEN OLD END;
END;
$keep_rows$;

PERFORM ssb_internal.create_instead('dbo.people', 'DELETE', 'another', 'dbo.another', 'dbo."another@rows"', 'dbo.another');

END;
$whole$;

SELECT ssb_internal.drop_module('TRIGGER', 'dbo.people_insert');

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_trigger('CREATE', 'dbo.loops', 'dbo.people');

PERFORM ssb_internal.check_instead('dbo.people', 'loops', ARRAY['INSERT']::text[]);

CREATE OR REPLACE FUNCTION dbo.loops()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $loops$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    session := ssb_internal.enter_trigger('loops');
    PERFORM ssb_internal.enter_instead('dbo.loops');
    <<loops>>
    BEGIN
        BEGIN
            INSERT INTO dbo.people SELECT * FROM pg_temp."dbo.loops@inserted" AS inserted;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT loops WHEN session.leaving;
        END;
    END loops;
    PERFORM ssb_internal.leave_instead('dbo.loops');
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$loops$;

CREATE OR REPLACE FUNCTION dbo."loops@rows"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $keep_rows$
#variable_conflict use_column
BEGIN
    IF TG_LEVEL = 'STATEMENT' THEN
        PERFORM ssb_internal.begin_instead('dbo.loops', TG_RELID, 'pg_temp."dbo.loops@inserted"');
        RETURN NULL;
    END IF;
    INSERT INTO pg_temp."dbo.loops@inserted" SELECT NEW.*;
    RETURN CASE WHEN TG_WHEN = 'INSTEAD OF' THEN NEW END;
END;
$keep_rows$;

PERFORM ssb_internal.create_instead('dbo.people', 'INSERT', 'loops', 'dbo.loops', 'dbo."loops@rows"', 'dbo.loops');

END;
$whole$;

INSERT INTO dbo.people VALUES (4, 'dan', 'Bonn');
-- shows
2
(2 rows affected)

1
(1 row affected)

name
(2 rows affected)

(1 row affected)

id name city
-- ---- ----
 1 ann! Oslo
 3 cid  NULL

(2 rows affected)

name          is_instead_of_trigger
------------- ---------------------
people_change                     1
people_insert                     1

(2 rows affected)

Msg 2111, Level 16, State 1, Procedure another, Line 1
Cannot create trigger 'another' on view 'dbo.people' because an INSTEAD OF DELETE trigger already exists on this object.
Msg 50000, Level 16, State 1, Procedure loops, Line 1
The INSTEAD OF trigger 'dbo.loops' changes the view that it stands for; change the tables under it.

-- case: INSTEAD OF on a table: its own statements change the table
CREATE TABLE dbo.t (id int PRIMARY KEY, n int NOT NULL, gone bit NOT NULL DEFAULT 0);
GO
CREATE TRIGGER dbo.soft ON dbo.t INSTEAD OF DELETE AS
UPDATE dbo.t SET gone = 1 WHERE id IN (SELECT id FROM deleted);
GO
CREATE TRIGGER dbo.filled ON dbo.t INSTEAD OF INSERT AS
INSERT INTO dbo.t (id, n) SELECT id, COALESCE(n, 0) FROM inserted;
GO
SET NOCOUNT ON;
INSERT INTO dbo.t (id, n) VALUES (1, 10), (2, NULL);
DELETE FROM dbo.t WHERE id = 1;
SELECT * FROM dbo.t ORDER BY id;
DROP TRIGGER dbo.soft;
DELETE FROM dbo.t WHERE id = 1;
SELECT * FROM dbo.t;
-- expect
CREATE TABLE dbo.t (
    id integer PRIMARY KEY,
    n integer NOT NULL,
    gone sys.bit NOT NULL DEFAULT 0
);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_trigger('CREATE', 'dbo.soft', 'dbo.t');

PERFORM ssb_internal.check_instead('dbo.t', 'soft', ARRAY['DELETE']::text[]);

CREATE OR REPLACE FUNCTION dbo.soft()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $soft$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    session := ssb_internal.enter_trigger('soft');
    PERFORM ssb_internal.enter_instead('dbo.soft');
    <<soft>>
    BEGIN
        BEGIN
            UPDATE dbo.t SET gone = 1 WHERE id IN (SELECT id FROM pg_temp."dbo.soft@deleted" AS deleted);
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT soft WHEN session.leaving;
        END;
    END soft;
    PERFORM ssb_internal.leave_instead('dbo.soft');
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$soft$;

CREATE OR REPLACE FUNCTION dbo."soft@rows"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $keep_rows$
#variable_conflict use_column
BEGIN
    IF TG_LEVEL = 'STATEMENT' THEN
        PERFORM ssb_internal.begin_instead('dbo.soft', TG_RELID, 'pg_temp."dbo.soft@deleted"');
        RETURN NULL;
    END IF;
    INSERT INTO pg_temp."dbo.soft@deleted" SELECT OLD.*;
    RETURN CASE WHEN TG_WHEN = 'INSTEAD OF' THEN OLD END;
END;
$keep_rows$;

PERFORM ssb_internal.create_instead('dbo.t', 'DELETE', 'soft', 'dbo.soft', 'dbo."soft@rows"', 'dbo.soft');

END;
$whole$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_trigger('CREATE', 'dbo.filled', 'dbo.t');

PERFORM ssb_internal.check_instead('dbo.t', 'filled', ARRAY['INSERT']::text[]);

CREATE OR REPLACE FUNCTION dbo.filled()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $filled$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    session := ssb_internal.enter_trigger('filled');
    PERFORM ssb_internal.enter_instead('dbo.filled');
    <<filled>>
    BEGIN
        BEGIN
            INSERT INTO dbo.t (id, n)
            SELECT id, COALESCE(n, 0) FROM pg_temp."dbo.filled@inserted" AS inserted;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT filled WHEN session.leaving;
        END;
    END filled;
    PERFORM ssb_internal.leave_instead('dbo.filled');
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$filled$;

CREATE OR REPLACE FUNCTION dbo."filled@rows"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $keep_rows$
#variable_conflict use_column
BEGIN
    IF TG_LEVEL = 'STATEMENT' THEN
        PERFORM ssb_internal.begin_instead('dbo.filled', TG_RELID, 'pg_temp."dbo.filled@inserted"');
        RETURN NULL;
    END IF;
    INSERT INTO pg_temp."dbo.filled@inserted" SELECT NEW.*;
    RETURN CASE WHEN TG_WHEN = 'INSTEAD OF' THEN NEW END;
END;
$keep_rows$;

PERFORM ssb_internal.create_instead('dbo.t', 'INSERT', 'filled', 'dbo.filled', 'dbo."filled@rows"', 'dbo.filled');

END;
$whole$;

SELECT set_config('pgsb.nocount', 'on', false);

INSERT INTO dbo.t (id, n) VALUES (1, 10), (2, NULL);

DELETE FROM dbo.t WHERE id = 1;

SELECT * FROM dbo.t ORDER BY id;

SELECT ssb_internal.drop_module('TRIGGER', 'dbo.soft');

DELETE FROM dbo.t WHERE id = 1;

SELECT * FROM dbo.t;
-- shows
id n  gone
-- -- ----
 1 10    1
 2  0    0

id n gone
-- - ----
 2 0    0

-- case: a statement that fails in an INSTEAD OF trigger leaves nothing
CREATE TABLE dbo.t (id int PRIMARY KEY);
GO
CREATE VIEW dbo.v AS SELECT id FROM dbo.t;
GO
CREATE TRIGGER dbo.tr ON dbo.v INSTEAD OF INSERT AS
INSERT INTO dbo.t SELECT id FROM inserted;
GO
SET NOCOUNT ON;
BEGIN TRY
    INSERT INTO dbo.v VALUES (1), (1);
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE();
    PRINT ERROR_PROCEDURE();
END CATCH;
GO
INSERT INTO dbo.v VALUES (2);
SELECT * FROM dbo.v;
-- expect
CREATE TABLE dbo.t (
    id integer PRIMARY KEY
);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_view('CREATE', 'dbo.v');

CREATE VIEW dbo.v AS
SELECT id FROM dbo.t;

END;
$whole$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_trigger('CREATE', 'dbo.tr', 'dbo.v');

PERFORM ssb_internal.check_instead('dbo.v', 'tr', ARRAY['INSERT']::text[]);

CREATE OR REPLACE FUNCTION dbo.tr()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $tr$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
BEGIN
    session := ssb_internal.enter_trigger('tr');
    PERFORM ssb_internal.enter_instead('dbo.tr');
    <<tr>>
    BEGIN
        BEGIN
            INSERT INTO dbo.t SELECT id FROM pg_temp."dbo.tr@inserted" AS inserted;
            GET DIAGNOSTICS session.rowcount = ROW_COUNT;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT tr WHEN session.leaving;
        END;
    END tr;
    PERFORM ssb_internal.leave_instead('dbo.tr');
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$tr$;

CREATE OR REPLACE FUNCTION dbo."tr@rows"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $keep_rows$
#variable_conflict use_column
BEGIN
    IF TG_LEVEL = 'STATEMENT' THEN
        PERFORM ssb_internal.begin_instead('dbo.tr', TG_RELID, 'pg_temp."dbo.tr@inserted"');
        RETURN NULL;
    END IF;
    INSERT INTO pg_temp."dbo.tr@inserted" SELECT NEW.*;
    RETURN CASE WHEN TG_WHEN = 'INSTEAD OF' THEN NEW END;
END;
$keep_rows$;

PERFORM ssb_internal.create_instead('dbo.v', 'INSERT', 'tr', 'dbo.tr', 'dbo."tr@rows"', 'dbo.tr');

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
    BEGIN
        session.nocount := ssb_internal.no_count(true);
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            BEGIN
                INSERT INTO dbo.v VALUES (1), (1);
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM, detail, 'INSERT'); EXIT try_1;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        EXIT batch WHEN session.unresolved;
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print((session.caught).message);
            PERFORM ssb_internal.print(nullif((session.caught).procedure, ''));
            session.caught := NULL;  -- END CATCH
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

INSERT INTO dbo.v VALUES (2);

SELECT * FROM dbo.v;
-- shows
Violation of PRIMARY KEY constraint 't_pkey'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (1).
tr
id
--
 2

-- case: COLUMNS_UPDATED
CREATE TABLE dbo.t (a int, b int, c int, d int, e int, f int, g int, h int, i int);
GO
CREATE TRIGGER dbo.tr ON dbo.t AFTER INSERT, UPDATE, DELETE AS
SELECT COLUMNS_UPDATED() AS bits;
IF COLUMNS_UPDATED() & 2 = 2 PRINT 'b, where it is among four bytes';
IF SUBSTRING(COLUMNS_UPDATED(), 2, 1) & 1 = 1 PRINT 'i';
GO
SET NOCOUNT ON;
INSERT INTO dbo.t (a) VALUES (1);
UPDATE dbo.t SET b = 2, i = 4;
DELETE FROM dbo.t;
-- expect
CREATE TABLE dbo.t (
    a integer,
    b integer,
    c integer,
    d integer,
    e integer,
    f integer,
    g integer,
    h integer,
    i integer
);

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_trigger('CREATE', 'dbo.tr', 'dbo.t');

CREATE OR REPLACE FUNCTION dbo.tr()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $tr$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    session := ssb_internal.enter_trigger('tr');
    <<tr>>
    DECLARE
        condition boolean;
    BEGIN
        BEGIN
            result := NULL;
            OPEN result FOR SELECT ssb_internal.columns_updated(TG_RELID, true) AS bits;
            session := ssb_internal.show(session, result, '[{"name":"bits","type":"bytea"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT tr WHEN session.leaving;
        END;
        condition := NULL;
        BEGIN
            condition := coalesce(sys.convert_int(ssb_internal.columns_updated(TG_RELID, true)) & 2 = 2, false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT tr WHEN session.leaving;
        END;
        IF condition THEN
            PERFORM ssb_internal.print('b, where it is among four bytes');
        END IF;
        condition := NULL;
        BEGIN
            condition := coalesce(sys.convert_int(sys.substring(ssb_internal.columns_updated(TG_RELID, true), 2, 1)) & 1 = 1, false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT tr WHEN session.leaving;
        END;
        IF condition THEN
            PERFORM ssb_internal.print('i');
        END IF;
    END tr;
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$tr$;

CREATE TRIGGER tr AFTER INSERT ON dbo.t
    REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 OR ssb_internal.fires('dbo.tr')) EXECUTE FUNCTION dbo.tr();

CREATE OR REPLACE FUNCTION dbo."tr@update"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $tr$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    session := ssb_internal.enter_trigger('tr');
    <<tr>>
    DECLARE
        condition boolean;
        updates text[] := ssb_internal.columns_named(TG_RELID, 'tr');
    BEGIN
        BEGIN
            result := NULL;
            OPEN result FOR SELECT ssb_internal.columns_updated(TG_RELID, tr.updates) AS bits;
            session := ssb_internal.show(session, result, '[{"name":"bits","type":"bytea"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT tr WHEN session.leaving;
        END;
        condition := NULL;
        BEGIN
            condition := coalesce(sys.convert_int(ssb_internal.columns_updated(TG_RELID, tr.updates)) & 2 = 2, false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT tr WHEN session.leaving;
        END;
        IF condition THEN
            PERFORM ssb_internal.print('b, where it is among four bytes');
        END IF;
        condition := NULL;
        BEGIN
            condition := coalesce(sys.convert_int(sys.substring(ssb_internal.columns_updated(TG_RELID, tr.updates), 2, 1)) & 1 = 1, false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT tr WHEN session.leaving;
        END;
        IF condition THEN
            PERFORM ssb_internal.print('i');
        END IF;
    END tr;
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$tr$;

CREATE TRIGGER "tr@update" AFTER UPDATE ON dbo.t
    REFERENCING NEW TABLE AS inserted OLD TABLE AS deleted
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 OR ssb_internal.fires('dbo."tr@update"')) EXECUTE FUNCTION dbo."tr@update"();

CREATE TRIGGER "!tr@" AFTER UPDATE ON dbo.t
    FOR EACH STATEMENT EXECUTE FUNCTION ssb_internal.note_update('tr', '', '');

PERFORM ssb_internal.note_updates('dbo.t', 'tr');

CREATE OR REPLACE FUNCTION dbo."tr@delete"()
RETURNS trigger
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $tr$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    session := ssb_internal.enter_trigger('tr');
    <<tr>>
    DECLARE
        condition boolean;
    BEGIN
        BEGIN
            result := NULL;
            OPEN result FOR SELECT ssb_internal.columns_updated(TG_RELID, false) AS bits;
            session := ssb_internal.show(session, result, '[{"name":"bits","type":"bytea"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT tr WHEN session.leaving;
        END;
        condition := NULL;
        BEGIN
            condition := coalesce(sys.convert_int(ssb_internal.columns_updated(TG_RELID, false)) & 2 = 2, false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT tr WHEN session.leaving;
        END;
        IF condition THEN
            PERFORM ssb_internal.print('b, where it is among four bytes');
        END IF;
        condition := NULL;
        BEGIN
            condition := coalesce(sys.convert_int(sys.substring(ssb_internal.columns_updated(TG_RELID, false), 2, 1)) & 1 = 1, false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT tr WHEN session.leaving;
        END;
        IF condition THEN
            PERFORM ssb_internal.print('i');
        END IF;
    END tr;
    PERFORM ssb_internal.leave_trigger(session);
    RETURN NULL;
END;
$tr$;

CREATE TRIGGER "tr@delete" AFTER DELETE ON dbo.t
    REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 OR ssb_internal.fires('dbo."tr@delete"')) EXECUTE FUNCTION dbo."tr@delete"();

END;
$whole$;

SELECT set_config('pgsb.nocount', 'on', false);

INSERT INTO dbo.t (a) VALUES (1);

UPDATE dbo.t SET b = 2, i = 4;

DELETE FROM dbo.t;
-- shows
bits
------
0xFF01

i
bits
------
0x0201

i
bits
------
0x0000

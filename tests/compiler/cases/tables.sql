-- case: NOCHECK CONSTRAINT switches constraints off, CHECK CONSTRAINT on again for new rows
CREATE TABLE dbo.p (id int PRIMARY KEY);
CREATE TABLE dbo.t (id int PRIMARY KEY, p int CONSTRAINT fk_t REFERENCES dbo.p, n int CONSTRAINT ck_t CHECK (n > 0));
GO
ALTER TABLE dbo.t NOCHECK CONSTRAINT ALL;
INSERT INTO dbo.t VALUES (1, 7, -1);
SELECT name, is_disabled, is_not_trusted FROM sys.foreign_keys;
SELECT name, is_disabled, is_not_trusted, definition FROM sys.check_constraints;
ALTER TABLE dbo.t CHECK CONSTRAINT fk_t, ck_t;
INSERT INTO dbo.t VALUES (2, 7, 1);
INSERT INTO dbo.t VALUES (2, NULL, -1);
SELECT name, is_disabled, is_not_trusted FROM sys.foreign_keys;
ALTER TABLE dbo.t WITH CHECK CHECK CONSTRAINT ALL;
DELETE FROM dbo.t;
ALTER TABLE dbo.t WITH CHECK CHECK CONSTRAINT ALL;
SELECT name, is_disabled, is_not_trusted FROM sys.foreign_keys;
ALTER TABLE dbo.t NOCHECK CONSTRAINT missing;
-- expect
CREATE TABLE dbo.p (
    id integer PRIMARY KEY
);

DO $whole$
#variable_conflict use_column
BEGIN

CREATE TABLE dbo.t (
    id integer PRIMARY KEY,
    p integer CONSTRAINT fk_t REFERENCES dbo.p,
    n integer CONSTRAINT ck_t CHECK (n > 0)
);

PERFORM ssb_internal.keep_spelling('dbo.t', NULL, p_parts => ARRAY['fk_t', 'ck_t']);

END;
$whole$;

SELECT ssb_internal.switch_constraints('dbo.t', NULL, false, false);

INSERT INTO dbo.t VALUES (1, 7, -1);

SELECT name, is_disabled, is_not_trusted FROM sys.foreign_keys;

SELECT name, is_disabled, is_not_trusted, definition FROM sys.check_constraints;

SELECT ssb_internal.switch_constraints('dbo.t', ARRAY['fk_t', 'ck_t'], true, false);

INSERT INTO dbo.t VALUES (2, 7, 1);

INSERT INTO dbo.t VALUES (2, NULL, -1);

SELECT name, is_disabled, is_not_trusted FROM sys.foreign_keys;

SELECT ssb_internal.switch_constraints('dbo.t', NULL, true, true);

DELETE FROM dbo.t;

SELECT ssb_internal.switch_constraints('dbo.t', NULL, true, true);

SELECT name, is_disabled, is_not_trusted FROM sys.foreign_keys;

SELECT ssb_internal.switch_constraints('dbo.t', ARRAY['missing'], false, false);
-- shows
(1 row affected)

name is_disabled is_not_trusted
---- ----------- --------------
fk_t           1              1

(1 row affected)

name is_disabled is_not_trusted definition
---- ----------- -------------- ----------
ck_t           1              1 (n > 0)

(1 row affected)

Msg 547, Level 16, State 0, Line 6
The INSERT statement conflicted with the FOREIGN KEY constraint "fk_t". The conflict occurred in database "<database>", table "dbo.p", column 'id'.
The statement has been terminated.
Msg 547, Level 16, State 0, Line 7
The INSERT statement conflicted with the CHECK constraint "ck_t". The conflict occurred in database "<database>", table "dbo.t", column 'n'.
The statement has been terminated.
name is_disabled is_not_trusted
---- ----------- --------------
fk_t           0              1

(1 row affected)

Msg 547, Level 16, State 0, Line 9
The ALTER TABLE statement conflicted with the CHECK constraint "ck_t". The conflict occurred in database "<database>", table "dbo.t", column 'n'.
(1 row affected)

name is_disabled is_not_trusted
---- ----------- --------------
fk_t           0              0

(1 row affected)

Msg 4917, Level 16, State 1, Line 13
Constraint 'missing' does not exist.

-- case: a constraint that is switched off can be dropped
CREATE TABLE dbo.p (id int PRIMARY KEY);
CREATE TABLE dbo.t (id int CONSTRAINT pk_t PRIMARY KEY, p int CONSTRAINT fk_t REFERENCES dbo.p);
GO
ALTER TABLE dbo.t NOCHECK CONSTRAINT fk_t;
GO
ALTER TABLE dbo.t NOCHECK CONSTRAINT pk_t;
GO
ALTER TABLE dbo.t DROP CONSTRAINT fk_t;
GO
DROP TABLE dbo.p;
SELECT COUNT(*) AS keys FROM sys.foreign_keys;
-- expect
CREATE TABLE dbo.p (
    id integer PRIMARY KEY
);

DO $whole$
#variable_conflict use_column
BEGIN

CREATE TABLE dbo.t (
    id integer CONSTRAINT pk_t PRIMARY KEY,
    p integer CONSTRAINT fk_t REFERENCES dbo.p
);

PERFORM ssb_internal.keep_spelling('dbo.t', NULL, p_parts => ARRAY['fk_t']);

END;
$whole$;

SELECT ssb_internal.switch_constraints('dbo.t', ARRAY['fk_t'], false, false);

SELECT ssb_internal.switch_constraints('dbo.t', ARRAY['pk_t'], false, false);

ALTER TABLE dbo.t DROP CONSTRAINT fk_t;

SELECT ssb_internal.drop_relation('TABLE', 'dbo.p');

SELECT count(*) AS keys FROM sys.foreign_keys;
-- shows
Msg 11415, Level 16, State 1, Line 1
Object 'pk_t' cannot be disabled or enabled. This action applies only to foreign key and check constraints.
keys
----
   0

(1 row affected)

-- case: UPDATE … SET column.WRITE
CREATE TABLE dbo.t (id int PRIMARY KEY, c varchar(max), b varbinary(max));
INSERT INTO dbo.t VALUES (1, 'hello world', 0x010203), (2, NULL, NULL);
GO
SET NOCOUNT ON;
DECLARE @at bigint = 6;
UPDATE dbo.t SET c.WRITE('W', @at, 1), b.WRITE(0xFFFF, 1, 1) WHERE id = 1;
SELECT * FROM dbo.t WHERE id = 1;
UPDATE dbo.t SET c.WRITE('!', NULL, NULL), b.WRITE(NULL, 1, 0) WHERE id = 1;
SELECT * FROM dbo.t WHERE id = 1;
UPDATE dbo.t SET c.WRITE('x', 0, NULL) OUTPUT inserted.c, deleted.c WHERE id = 1;
UPDATE dbo.t SET c.WRITE('x', 2, 0) WHERE id = 1;
UPDATE dbo.t SET c.WRITE('x', 0, -1) WHERE id = 1;
UPDATE dbo.t SET c.WRITE('x', NULL, NULL) WHERE id = 2;
-- expect
CREATE TABLE dbo.t (
    id integer PRIMARY KEY,
    c text,
    b bytea
);

INSERT INTO dbo.t VALUES (1, 'hello world', '\x010203'::bytea), (2, NULL, NULL);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    result refcursor;
    output_rows text[];
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        at bigint := 6;
        next_row record;
    BEGIN
        session.nocount := ssb_internal.no_count(true);
        BEGIN
            UPDATE dbo.t
            SET c = sys.write(c, 'W', batch.at, 1::bigint), b = sys.write(b, '\xFFFF'::bytea, 1::bigint, 1::bigint)
            WHERE id = 1;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT * FROM dbo.t WHERE id = 1;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"},{"name":"c","type":"text"},{"name":"b","type":"bytea"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            UPDATE dbo.t
            SET c = sys.write(c, '!', NULL::bigint, NULL::bigint), b = sys.write(b, NULL::bytea, 1::bigint, 0::bigint)
            WHERE id = 1;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT * FROM dbo.t WHERE id = 1;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"},{"name":"c","type":"text"},{"name":"b","type":"bytea"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb_internal.refuse_output('dbo.t', ARRAY['UPDATE']);
            output_rows := '{}';
            FOR next_row IN UPDATE dbo.t AS changing
            SET c = changes.v1
            FROM (SELECT t.id AS k1, sys.write(c, 'x', 0::bigint, NULL::bigint) AS v1, t.*::dbo.t AS deleted
                  FROM dbo.t
                  WHERE id = 1
                  FOR UPDATE) AS changes
            WHERE changing.id = changes.k1
            RETURNING changing.c, (changes.deleted).c LOOP
                output_rows := array_append(output_rows, ssb_internal.row_values(row_to_json(next_row)));
            END LOOP;
            session := ssb_internal.show_collected(session, output_rows, '[{"name":"c","type":"text"},{"name":"c","type":"text"}]');
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            UPDATE dbo.t SET c = sys.write(c, 'x', 2::bigint, 0::bigint) WHERE id = 1;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            UPDATE dbo.t SET c = sys.write(c, 'x', 0::bigint, (-1)::bigint) WHERE id = 1;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            UPDATE dbo.t SET c = sys.write(c, 'x', NULL::bigint, NULL::bigint) WHERE id = 2;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM, detail, 'UPDATE'); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

id c           b
-- ----------- ----------
 1 hello World 0x01FFFF03

id c            b
-- ------------ ----
 1 hello World! 0x01

c c
- ------------
x hello World!

Msg 7116, Level 16, State 1, Line 8
Offset 2 is not in the range of available LOB data.
Msg 7135, Level 16, State 1, Line 9
Deletion length -1 is not in the range of available text, ntext, or image data.
Msg 7116, Level 16, State 1, Line 10
Offset 0 is not in the range of available LOB data.

-- case: tables that have no counterpart are refused by one name each
CREATE TABLE dbo.n (a int) AS NODE;
GO
CREATE TABLE dbo.e AS EDGE;
GO
SELECT n.a FROM dbo.n, dbo.e, dbo.n AS m WHERE MATCH(n-(e)->m);
GO
CREATE TABLE dbo.c (a int SPARSE, c xml COLUMN_SET FOR ALL_SPARSE_COLUMNS);
GO
SELECT KEY_GUID('x'), PWDENCRYPT('x');
-- expect
case.sql:1:1: error: CREATE TABLE … AS NODE is not supported
    1 | CREATE TABLE dbo.n (a int) AS NODE;
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

case.sql:3:1: error: CREATE TABLE … AS EDGE is not supported
    3 | CREATE TABLE dbo.e AS EDGE;
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^

case.sql:5:48: error: MATCH over graph tables is not supported
    5 | SELECT n.a FROM dbo.n, dbo.e, dbo.n AS m WHERE MATCH(n-(e)->m);
      |                                                ^^^^^

case.sql:7:41: error 102: a column set over sparse columns is not supported
    7 | CREATE TABLE dbo.c (a int SPARSE, c xml COLUMN_SET FOR ALL_SPARSE_COLUMNS);
      |                                         ^^^^^^^^^^

case.sql:9:8: error: KEY_GUID is not supported: SQL Server's keys and signatures do not exist here
    9 | SELECT KEY_GUID('x'), PWDENCRYPT('x');
      |        ^^^^^^^^

case.sql:9:23: error: PWDENCRYPT is not supported: SQL Server's keys and signatures do not exist here
    9 | SELECT KEY_GUID('x'), PWDENCRYPT('x');
      |                       ^^^^^^^^^^
-- shows
Msg 102, Level 15, State 1, Line 1
case.sql:1:1: error: CREATE TABLE … AS NODE is not supported
    1 | CREATE TABLE dbo.n (a int) AS NODE;
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Msg 102, Level 15, State 1, Line 1
case.sql:3:1: error: CREATE TABLE … AS EDGE is not supported
    3 | CREATE TABLE dbo.e AS EDGE;
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^
Msg 102, Level 15, State 1, Line 1
case.sql:5:48: error: MATCH over graph tables is not supported
    5 | SELECT n.a FROM dbo.n, dbo.e, dbo.n AS m WHERE MATCH(n-(e)->m);
      |                                                ^^^^^
Msg 102, Level 15, State 1, Line 1
case.sql:7:41: error 102: a column set over sparse columns is not supported
    7 | CREATE TABLE dbo.c (a int SPARSE, c xml COLUMN_SET FOR ALL_SPARSE_COLUMNS);
      |                                         ^^^^^^^^^^
Msg 102, Level 15, State 1, Line 1
case.sql:9:8: error: KEY_GUID is not supported: SQL Server's keys and signatures do not exist here
    9 | SELECT KEY_GUID('x'), PWDENCRYPT('x');
      |        ^^^^^^^^
Msg 102, Level 15, State 1, Line 1
case.sql:9:23: error: PWDENCRYPT is not supported: SQL Server's keys and signatures do not exist here
    9 | SELECT KEY_GUID('x'), PWDENCRYPT('x');
      |                       ^^^^^^^^^^

-- case: options of memory-optimized tables
CREATE TABLE dbo.t (a int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 100), b int,
    INDEX ix HASH (b) WITH (BUCKET_COUNT = 8), INDEX iy NONCLUSTERED (b)) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
INSERT INTO dbo.t VALUES (1, 2);
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

CREATE TABLE dbo.t (
    a integer PRIMARY KEY,
    b integer
);

CREATE INDEX t__ix ON dbo.t (b);

CREATE INDEX t__iy ON dbo.t (b);

END;
$whole$;

INSERT INTO dbo.t VALUES (1, 2);
-- shows
(1 row affected)

-- case: only what PostgreSQL writes as a definition is switched on again
CREATE TABLE dbo.t (s varchar(20) CONSTRAINT c CHECK (s <> 'a;b''c--' AND s NOT LIKE '%\_%'));
GO
ALTER TABLE dbo.t NOCHECK CONSTRAINT c;
ALTER TABLE dbo.t WITH CHECK CHECK CONSTRAINT c;
SELECT definition FROM sys.check_constraints;
SELECT ssb_internal.is_definition(d.text) AS known FROM (VALUES (N'CHECK (true); DROP TABLE t; --'), (N'CHECK ((s = E''\''''; evil --''))'),
    (N'FOREIGN KEY (a) REFERENCES dbo."T;"(b)')) AS d (text);
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

CREATE TABLE dbo.t (
    s varchar(20) CONSTRAINT c CHECK (s <> 'a;b''c--' AND s NOT LIKE E'%\\_%' ESCAPE '')
);

PERFORM ssb_internal.keep_spelling('dbo.t', NULL, p_parts => ARRAY['c']);

END;
$whole$;

SELECT ssb_internal.switch_constraints('dbo.t', ARRAY['c'], false, false);

SELECT ssb_internal.switch_constraints('dbo.t', ARRAY['c'], true, true);

SELECT definition FROM sys.check_constraints;

SELECT ssb_internal.is_definition(d.text) AS known
FROM (VALUES ('CHECK (true); DROP TABLE t; --'), (E'CHECK ((s = E''\\''''; evil --''))'), ('FOREIGN KEY (a) REFERENCES dbo."T;"(b)')) AS d (text);
-- shows
definition
-----------------------------------------------------------------------------------------
(((s)::text <> 'a;b''c--'::text) AND ((s)::text !~~ like_escape('%\_%'::text, ''::text)))

(1 row affected)

known
-----
    0
    0
    1

(3 rows affected)

-- case: a system-versioned table, and its rows of other times
CREATE TABLE dbo.price (id int PRIMARY KEY, amount money, f datetime2(0) GENERATED ALWAYS AS ROW START HIDDEN,
    u datetime2(0) GENERATED ALWAYS AS ROW END HIDDEN NOT NULL, PERIOD FOR SYSTEM_TIME (f, u))
    WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.price_was));
GO
INSERT dbo.price VALUES (1, 5);
SELECT * FROM dbo.price;
SELECT p.*, was.amount, p.u FROM dbo.price AS p LEFT JOIN dbo.price FOR SYSTEM_TIME AS OF '2000-01-01' AS was ON was.id = p.id;
SELECT * FROM price FOR SYSTEM_TIME ALL WHERE id = 1;
SELECT id FROM price FOR SYSTEM_TIME CONTAINED IN ('2026-01-01', '2026-02-01') WITH (NOLOCK);
SELECT id FROM dbo.price FOR SYSTEM_TIME FROM '2100-01-01' TO '2200-01-01';
ALTER TABLE dbo.price ADD note varchar(5);
-- expect
DO $whole$
#variable_conflict use_column
BEGIN

CREATE TABLE dbo.price (
    id integer PRIMARY KEY,
    amount numeric(19,4),
    f timestamp(0) NOT NULL,
    u timestamp(0) NOT NULL
);

PERFORM ssb_internal.keep_types('dbo.price', ARRAY['amount', 'f', 'u'], ARRAY['money', 'datetime2(0)', 'datetime2(0)']);

PERFORM ssb_internal.add_period('dbo.price', 'f', 'u', true, true);

PERFORM ssb_internal.start_versioning('dbo.price', 'dbo.price_was');

END;
$whole$;

INSERT INTO dbo.price (id, amount) VALUES (1, 5);

SELECT price.id, price.amount FROM dbo.price;

SELECT p.id, p.amount, was.amount, p.u
FROM dbo.price AS p
LEFT JOIN ssb_internal.row_versions(NULL::dbo.price, 'AS OF', '2000-01-01'::timestamp(6)) AS was ON was.id = p.id;

SELECT price.id, price.amount
FROM ssb_internal.row_versions(NULL::dbo.price, 'ALL') AS price
WHERE id = 1;

SELECT id
FROM ssb_internal.row_versions(NULL::dbo.price, 'CONTAINED IN', '2026-01-01'::timestamp(6), '2026-02-01'::timestamp(6)) AS price;

SELECT id
FROM ssb_internal.row_versions(NULL::dbo.price, 'FROM', '2100-01-01'::timestamp(6), '2200-01-01'::timestamp(6)) AS price;

DO $whole$
#variable_conflict use_column
BEGIN

ALTER TABLE dbo.price ADD COLUMN note varchar(5);

PERFORM ssb_internal.follow_table('dbo.price');

PERFORM ssb_internal.note_updates('dbo.price');

END;
$whole$;
-- shows
(1 row affected)

id amount
-- ------
 1 5.0000

(1 row affected)

id amount amount u
-- ------ ------ -------------------
 1 5.0000 NULL   9999-12-31 23:59:59

(1 row affected)

id amount
-- ------
 1 5.0000

(1 row affected)

id
--

(0 rows affected)

id
--
 1

(1 row affected)

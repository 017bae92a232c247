-- CREATE TABLE, ALTER TABLE, indexes, types, sequences.
-- given
declare @id int = 1, @name nvarchar(50) = N'ann', @total decimal(10,2), @n int = 2, @h uniqueidentifier, @x xml = '<a><b i="1">t</b><b i="2"/></a>', @b varbinary(max) = 0x3C612F3E, @list nvarchar(max) = N''
declare @t table (id int primary key, name nvarchar(50) null)
declare @log table (id int identity(1,1), what nvarchar(100) not null, at datetime default getdate())
declare @bag table (h uniqueidentifier not null, n bigint not null, r xml null, primary key (h, n) with (ignore_dup_key = on))
declare @plain table (a int, b varchar(10))
create table dbo.orders (id int identity(1,1) primary key, customer int not null, name nvarchar(50) not null, amount decimal(10,2) null, placed datetime not null default getdate(), body xml null, done bit not null default 0)
create table dbo.customers (id int not null primary key, name nvarchar(50), city varchar(30), boss int null)
create table dbo.heap (a int, b varchar(20), c datetime)
create table dbo.audit (id int, what nvarchar(100), was decimal(10,2))
create table dbo.keyed (k int not null, v int, primary key (k) with (ignore_dup_key = on))
create table #work (id int, note varchar(20))
queue OrderQueue
sql CREATE TABLE sales.regions (id integer, name text)
sql CREATE TABLE trader1_dbo.stock (id integer, qty integer)
sql CREATE TABLE dbo.elsewhere (a integer, b text, c timestamp, d uuid)
sql CREATE FUNCTION dbo.split(text) RETURNS TABLE (item text) LANGUAGE sql AS 'SELECT unnest(string_to_array($1, '','')) '
sql INSERT INTO dbo.customers VALUES (1, 'ann', 'Oslo', NULL), (2, 'bob', 'Rome', 1)
sql INSERT INTO dbo.orders (customer, name, amount) VALUES (1, 'a', 5), (2, 'b', 7)

-- case: create table
CREATE TABLE dbo.Things (Id int NOT NULL, [Name] nvarchar(50) NULL)
-- expect
CREATE TABLE dbo.things (
    id integer NOT NULL,
    name varchar(50)
);
SELECT ssb_internal.keep_spelling('dbo.things', 'Things', p_columns => ARRAY['Id', 'Name'])

-- case: every type
CREATE TABLE types (a bigint, b int, c smallint, d tinyint, e bit, f decimal(10,2), g numeric, h money, i smallmoney, j float, k real, l float(24), m char(5), n varchar(10), o varchar(max), p text, q nchar(5), r nvarchar(10), s nvarchar(max), t ntext, u sysname, v binary(4), w varbinary(10), x varbinary(max), y image, z date, aa time, bb datetime, cc smalldatetime, dd datetime2, ee datetime2(3), ff datetimeoffset, gg uniqueidentifier, hh xml, ii sql_variant)
-- expect
CREATE TABLE dbo.types (
    a bigint,
    b integer,
    c smallint,
    d smallint,
    e sys.bit,
    f numeric(10,2),
    g numeric(18,0),
    h numeric(19,4),
    i numeric(10,4),
    j double precision,
    k real,
    l real,
    m char(5),
    n varchar(10),
    o text,
    p text,
    q char(5),
    r varchar(10),
    s text,
    t text,
    u varchar(128) NOT NULL,
    v bytea,
    w bytea,
    x bytea,
    y bytea,
    z date,
    aa time(6),
    bb timestamp(3),
    cc timestamp(0),
    dd timestamp(6),
    ee timestamp(3),
    ff timestamptz(6),
    gg uuid,
    hh sys.xml,
    ii text
);
SELECT ssb_internal.keep_types('dbo.types', ARRAY['d', 'h', 'i', 'v', 'w', 'ee'], ARRAY['tinyint', 'money', 'smallmoney', 'binary(4)', 'varbinary(10)', 'datetime2(3)'])

-- case: rowversion
CREATE TABLE a0 (id int, version timestamp)
-- expect
CREATE TABLE dbo.a0 (
    id integer,
    version bytea
);
CREATE TRIGGER rowversion BEFORE INSERT OR UPDATE ON dbo.a0 FOR EACH ROW EXECUTE FUNCTION sys.set_rowversion('version')

-- case: identity
CREATE TABLE a1 (id int IDENTITY PRIMARY KEY, b bigint)
-- expect
CREATE TABLE dbo.a1 (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    b bigint
)

-- case: identity with seed
CREATE TABLE a2 (id int IDENTITY(100, 10) NOT NULL)
-- expect
CREATE TABLE dbo.a2 (
    id integer GENERATED ALWAYS AS IDENTITY (START WITH 100 INCREMENT BY 10) NOT NULL
)

-- case: identity from zero
CREATE TABLE a3 (id int IDENTITY(0, 1))
-- expect
CREATE TABLE dbo.a3 (
    id integer GENERATED ALWAYS AS IDENTITY (START WITH 0 INCREMENT BY 1 MINVALUE 0) NOT NULL
)

-- case: identity downwards
CREATE TABLE a4 (id int IDENTITY(-1, -1))
-- expect
CREATE TABLE dbo.a4 (
    id integer GENERATED ALWAYS AS IDENTITY (START WITH -1 INCREMENT BY -1) NOT NULL
)

-- case: identity of a decimal
CREATE TABLE a5 (id decimal(18, 0) IDENTITY)
-- expect
CREATE TABLE dbo.a5 (
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL
)

-- case: defaults
CREATE TABLE a6 (a int DEFAULT 0, b datetime DEFAULT (getdate()), c varchar(10) NOT NULL CONSTRAINT df_c DEFAULT ('x'), d bit DEFAULT ((1)), e uniqueidentifier DEFAULT NEWID(), f decimal(5,2) DEFAULT -1, g nvarchar(20) DEFAULT SUSER_SNAME())
-- expect
CREATE TABLE dbo.a6 (
    a integer DEFAULT 0,
    b timestamp(3) DEFAULT sys.getdate(),
    c varchar(10) NOT NULL DEFAULT 'x',
    d sys.bit DEFAULT 1,
    e uuid DEFAULT gen_random_uuid(),
    f numeric(5,2) DEFAULT -1,
    g varchar(20) DEFAULT sys.suser_sname()
);
SELECT ssb_internal.name_default('dbo.a6', 'c', 'df_c')

-- case: keys
CREATE TABLE a7 (a int NOT NULL, b int, CONSTRAINT pk_a7 PRIMARY KEY CLUSTERED (a ASC), CONSTRAINT uq_a7 UNIQUE NONCLUSTERED (b DESC))
-- expect
CREATE TABLE dbo.a7 (
    a integer NOT NULL,
    b integer,
    CONSTRAINT pk_a7 PRIMARY KEY (a),
    CONSTRAINT uq_a7 UNIQUE (b)
)

-- case: key options
CREATE TABLE a8 (a int NOT NULL PRIMARY KEY NONCLUSTERED WITH (FILLFACTOR = 80, IGNORE_DUP_KEY = OFF) ON [PRIMARY]) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY] WITH (DATA_COMPRESSION = PAGE)
-- expect
CREATE TABLE dbo.a8 (
    a integer PRIMARY KEY
)

-- case: missing comma before the key
CREATE TABLE a9 (a int NOT NULL, b int NOT NULL PRIMARY KEY (a, b))
-- expect
CREATE TABLE dbo.a9 (
    a integer NOT NULL,
    b integer NOT NULL,
    PRIMARY KEY (a, b)
)

-- case: trailing comma
CREATE TABLE a10 (a int, b int,)
-- expect
CREATE TABLE dbo.a10 (
    a integer,
    b integer
)

-- case: check
CREATE TABLE a11 (a int CHECK (a > 0), b varchar(10), CONSTRAINT ck CHECK (b IN ('x', 'y') OR a < 5))
-- expect
CREATE TABLE dbo.a11 (
    a integer CHECK (a > 0),
    b varchar(10),
    CONSTRAINT ck CHECK (b IN ('x', 'y') OR a < 5)
);
SELECT ssb_internal.keep_spelling('dbo.a11', NULL, p_parts => ARRAY['ck'])

-- case: foreign key
CREATE TABLE a12 (c int REFERENCES customers (id), d int, CONSTRAINT fk FOREIGN KEY (d) REFERENCES dbo.customers (id) ON DELETE CASCADE ON UPDATE NO ACTION)
-- expect
CREATE TABLE dbo.a12 (
    c integer REFERENCES dbo.customers (id),
    d integer,
    CONSTRAINT fk FOREIGN KEY (d) REFERENCES dbo.customers (id) ON DELETE CASCADE
);
SELECT ssb_internal.keep_spelling('dbo.a12', NULL, p_parts => ARRAY['fk'])

-- case: computed
CREATE TABLE a13 (q int, p decimal(10,2), total AS q * p PERSISTED NOT NULL, label AS CAST(q AS varchar(12)) + '!')
-- expect
CREATE TABLE dbo.a13 (
    q integer,
    p numeric(10,2),
    total numeric(21,2) GENERATED ALWAYS AS (q * p) STORED NOT NULL,
    label varchar(13) GENERATED ALWAYS AS (q::varchar(12) || '!') STORED
)

-- case: ignoring duplicates
CREATE TABLE a18 (k int NOT NULL PRIMARY KEY WITH (IGNORE_DUP_KEY = ON), v int)
-- expect
CREATE TABLE dbo.a18 (
    k integer PRIMARY KEY,
    v integer
);
CREATE TRIGGER ignore_dup_key_k BEFORE INSERT ON dbo.a18 FOR EACH ROW EXECUTE FUNCTION sys.leave_out_duplicate('k');
CREATE TRIGGER ignore_dup_key_k__begin BEFORE INSERT ON dbo.a18
    FOR EACH STATEMENT EXECUTE FUNCTION sys.begin_leaving_out()

-- case: noise
CREATE TABLE a14 (a int SPARSE NULL, b uniqueidentifier ROWGUIDCOL NOT NULL, c varchar(10) COLLATE Latin1_General_CI_AS NOT NULL, d int NOT FOR REPLICATION)
-- expect
CREATE TABLE dbo.a14 (
    a integer,
    b uuid NOT NULL,
    c varchar(10) NOT NULL,
    d integer
)

-- case: inline indexes
CREATE TABLE a15 (a int INDEX ix_a, b int, INDEX ix_b NONCLUSTERED (b DESC) INCLUDE (a))
-- expect
CREATE TABLE dbo.a15 (
    a integer,
    b integer
);
CREATE INDEX a15__ix_a ON dbo.a15 (a);
CREATE INDEX a15__ix_b ON dbo.a15 (b DESC) INCLUDE (a)

-- case: temporary
CREATE TABLE #temp (a int PRIMARY KEY, b varchar(10))
-- expect
CREATE TABLE pg_temp."#temp" (
    a integer PRIMARY KEY,
    b varchar(10)
)

-- case: other schema
CREATE TABLE sales.a16 (a int)
-- expect
CREATE TABLE sales.a16 (
    a integer
)

-- case: reserved words
CREATE TABLE a17 ([order] int, [user] varchar(10), [a b] int)
-- expect
CREATE TABLE dbo.a17 (
    "order" integer,
    "user" varchar(10),
    "a b" integer
)

-- case: add columns
ALTER TABLE heap ADD d int NOT NULL DEFAULT 5, e varchar(10)
-- expect
ALTER TABLE dbo.heap
    ADD COLUMN d integer NOT NULL DEFAULT 5,
    ADD COLUMN e varchar(10);
SELECT ssb_internal.note_updates('dbo.heap')

-- case: rows that are there have NULL in a new column, but for WITH VALUES
ALTER TABLE heap ADD f int DEFAULT 5, g int NULL DEFAULT 6 WITH VALUES, h int CONSTRAINT df_h DEFAULT 7 PRIMARY KEY, i int DEFAULT NULL
-- expect
ALTER TABLE dbo.heap
    ADD COLUMN f integer,
    ALTER COLUMN f SET DEFAULT 5,
    ADD COLUMN g integer DEFAULT 6,
    ADD COLUMN h integer DEFAULT 7 PRIMARY KEY,
    ADD COLUMN i integer;
SELECT ssb_internal.name_default('dbo.heap', 'h', 'df_h');
SELECT ssb_internal.note_updates('dbo.heap')

-- case: add constraint
ALTER TABLE heap ADD CONSTRAINT pk_heap PRIMARY KEY (a)
-- expect
ALTER TABLE dbo.heap ADD CONSTRAINT pk_heap PRIMARY KEY (a)

-- case: add constraint without check
ALTER TABLE heap WITH NOCHECK ADD CONSTRAINT fk_heap FOREIGN KEY (a) REFERENCES customers (id)
-- expect
ALTER TABLE dbo.heap ADD CONSTRAINT fk_heap FOREIGN KEY (a) REFERENCES dbo.customers (id) NOT VALID;
SELECT ssb_internal.keep_spelling('dbo.heap', NULL, p_parts => ARRAY['fk_heap'])

-- case: add check
ALTER TABLE dbo.heap WITH CHECK ADD CONSTRAINT ck_heap CHECK (a > 0)
-- expect
ALTER TABLE dbo.heap ADD CONSTRAINT ck_heap CHECK (a > 0);
SELECT ssb_internal.keep_spelling('dbo.heap', NULL, p_parts => ARRAY['ck_heap'])

-- case: add default
ALTER TABLE heap ADD CONSTRAINT df_heap DEFAULT 7 FOR a
-- expect
SELECT ssb_internal.refuse_default('dbo.heap', 'a');
ALTER TABLE dbo.heap ALTER COLUMN a SET DEFAULT 7;
SELECT ssb_internal.name_default('dbo.heap', 'a', 'df_heap')

-- case: check constraint
ALTER TABLE heap CHECK CONSTRAINT ALL
-- expect
SELECT ssb_internal.switch_constraints('dbo.heap', NULL, true, false)

-- case: alter column
ALTER TABLE heap ALTER COLUMN b nvarchar(100) NOT NULL
-- expect
SELECT ssb_internal.refuse_dependants('dbo.heap', ARRAY['b']::text[], p_type => 'varchar(100)');
ALTER TABLE dbo.heap
    ALTER COLUMN b TYPE varchar(100),
    ALTER COLUMN b SET NOT NULL;
SELECT ssb_internal.note_updates('dbo.heap');
SELECT ssb_internal.bind_views(true)

-- case: alter column to another kind
ALTER TABLE heap ALTER COLUMN a varchar(10)
-- expect
SELECT ssb_internal.refuse_dependants('dbo.heap', ARRAY['a']::text[], p_type => 'varchar(10)');
ALTER TABLE dbo.heap ALTER COLUMN a TYPE varchar(10) USING sys.convert_varchar(a, 10);
SELECT ssb_internal.note_updates('dbo.heap');
SELECT ssb_internal.bind_views(true)

-- case: drop column
ALTER TABLE heap DROP COLUMN c
-- expect
SELECT ssb_internal.refuse_dependants('dbo.heap', ARRAY['c']::text[]);
ALTER TABLE dbo.heap DROP COLUMN c;
SELECT ssb_internal.bind_views(true)

-- case: drop constraint
ALTER TABLE audit DROP CONSTRAINT IF EXISTS whatever
-- expect
ALTER TABLE dbo.audit DROP CONSTRAINT IF EXISTS whatever

-- case: disable triggers
ALTER TABLE heap DISABLE TRIGGER ALL
-- expect
SELECT ssb_internal.enable_trigger('dbo.heap', ARRAY[]::text[], false)

-- case: set options
ALTER TABLE heap SET (LOCK_ESCALATION = AUTO)
-- expect


-- case: create index
CREATE INDEX ix_city ON customers (city)
-- expect
CREATE INDEX customers__ix_city ON dbo.customers (city)

-- case: create unique index
CREATE UNIQUE NONCLUSTERED INDEX ux_orders ON dbo.orders (customer ASC, name DESC) INCLUDE (amount) WHERE done = 0 WITH (FILLFACTOR = 90, ONLINE = ON) ON [PRIMARY]
-- expect
CREATE UNIQUE INDEX ux_orders ON dbo.orders (customer, name DESC) INCLUDE (amount) WHERE done = 0

-- case: create index that ignores duplicates
CREATE UNIQUE INDEX ux ON heap (a, b) WITH (IGNORE_DUP_KEY = ON)
-- expect
CREATE UNIQUE INDEX heap__ux ON dbo.heap (a, b);
CREATE TRIGGER ignore_dup_key_a_b BEFORE INSERT ON dbo.heap FOR EACH ROW EXECUTE FUNCTION sys.leave_out_duplicate('a', 'b');
CREATE TRIGGER ignore_dup_key_a_b__begin BEFORE INSERT ON dbo.heap
    FOR EACH STATEMENT EXECUTE FUNCTION sys.begin_leaving_out()

-- case: create clustered index
CREATE CLUSTERED INDEX cx ON heap (a)
-- expect
CREATE INDEX heap__cx ON dbo.heap (a)

-- case: columnstore index
CREATE NONCLUSTERED COLUMNSTORE INDEX ncx ON heap (a)
-- expect
case.sql:1:1: warning: CREATE COLUMNSTORE INDEX has no effect: columnstore indexes do not exist here
    1 | CREATE NONCLUSTERED COLUMNSTORE INDEX ncx ON heap (a)
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: alter index
ALTER INDEX ALL ON heap REBUILD
-- expect
SELECT 'dbo.heap'::regclass
case.sql:1:1: warning: ALTER INDEX has no effect: indexes need no rebuilding here
    1 | ALTER INDEX ALL ON heap REBUILD
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: update statistics
UPDATE STATISTICS heap
-- expect


-- case: drop table
DROP TABLE IF EXISTS nothing_there, dbo.audit
-- expect
DROP TABLE IF EXISTS dbo.nothing_there;
DROP TABLE IF EXISTS dbo.audit

-- case: drop index
DROP INDEX IF EXISTS ix_city ON customers
-- expect
DROP INDEX IF EXISTS dbo.customers__ix_city

-- case: create type
CREATE TYPE dbo.phone FROM varchar(20) NOT NULL
-- expect
CREATE DOMAIN dbo.phone AS varchar(20) CONSTRAINT "columns are NOT NULL" CHECK (true)

-- case: create sequence
CREATE SEQUENCE dbo.s1 AS int START WITH 5 INCREMENT BY 2
-- expect
CREATE SEQUENCE dbo.s1 AS integer START WITH 5 INCREMENT BY 2 MINVALUE -2147483648 MAXVALUE 2147483647

-- case: create plain sequence
CREATE SEQUENCE s2
-- expect
CREATE SEQUENCE dbo.s2 AS bigint MINVALUE -9223372036854775808 MAXVALUE 9223372036854775807 START WITH -9223372036854775808

-- case: truncate
TRUNCATE TABLE dbo.heap
-- expect
TRUNCATE TABLE dbo.heap RESTART IDENTITY

-- case: nocheck constraint
ALTER TABLE heap NOCHECK CONSTRAINT ALL
-- expect
SELECT ssb_internal.switch_constraints('dbo.heap', NULL, false, false)

-- case: index options as version 2000 wrote them
CREATE INDEX ix_old ON customers (city) WITH PAD_INDEX, FILLFACTOR = 50, DROP_EXISTING
-- expect
DROP INDEX IF EXISTS dbo.customers__ix_old;
CREATE INDEX customers__ix_old ON dbo.customers (city)

-- case: a global temporary table
CREATE TABLE ##g (a int)
-- expect
SELECT ssb_internal.hold_global_table('tempdb_dbo."##g"');
CREATE TABLE tempdb_dbo."##g" (
    a integer
)

-- case: a system-versioned table
CREATE TABLE price (id int PRIMARY KEY, price money, f datetime2(0) GENERATED ALWAYS AS ROW START HIDDEN,
    [to] datetime2(0) GENERATED ALWAYS AS ROW END HIDDEN NOT NULL, PERIOD FOR SYSTEM_TIME (f, [to]))
    WITH (DATA_COMPRESSION = PAGE, SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.[Price Was], DATA_CONSISTENCY_CHECK = ON))
-- expect
CREATE TABLE dbo.price (
    id integer PRIMARY KEY,
    price numeric(19,4),
    f timestamp(0) NOT NULL,
    "to" timestamp(0) NOT NULL
);
SELECT ssb_internal.keep_types('dbo.price', ARRAY['price', 'f', 'to'], ARRAY['money', 'datetime2(0)', 'datetime2(0)']);
SELECT ssb_internal.add_period('dbo.price', 'f', 'to', true, true);
SELECT ssb_internal.start_versioning('dbo.price', 'dbo."price was"', 'Price Was')

-- case: a period of columns that are there
ALTER TABLE heap ADD PERIOD FOR SYSTEM_TIME (a, c)
-- expect
SELECT ssb_internal.add_period('dbo.heap', 'a', 'c')

-- case: a period comes with its columns
ALTER TABLE heap ADD f datetime2 GENERATED ALWAYS AS ROW START HIDDEN NOT NULL DEFAULT SYSUTCDATETIME(),
    u datetime2 GENERATED ALWAYS AS ROW END HIDDEN NOT NULL DEFAULT '9999-12-31 23:59:59.9999999', PERIOD FOR SYSTEM_TIME (f, u)
-- expect
ALTER TABLE dbo.heap
    ADD COLUMN f timestamp(6) NOT NULL DEFAULT sys.sysutcdatetime(),
    ADD COLUMN u timestamp(6) NOT NULL DEFAULT sys.convert_datetime2('9999-12-31 23:59:59.9999999')::timestamp(6);
SELECT ssb_internal.note_updates('dbo.heap');
SELECT ssb_internal.add_period('dbo.heap', 'f', 'u', true, true)

-- case: no period any more
ALTER TABLE heap DROP PERIOD FOR SYSTEM_TIME
-- expect
SELECT ssb_internal.drop_period('dbo.heap')

-- case: versioning on and off
ALTER TABLE heap SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.old))
-- expect
SELECT ssb_internal.start_versioning('dbo.heap', 'dbo.old')

-- case: versioning off
ALTER TABLE heap SET (SYSTEM_VERSIONING = OFF)
-- expect
SELECT ssb_internal.stop_versioning('dbo.heap')

-- case: a hidden column is shown
ALTER TABLE heap ALTER COLUMN u DROP HIDDEN
-- expect
SELECT ssb_internal.hide_column('dbo.heap', 'u', false)

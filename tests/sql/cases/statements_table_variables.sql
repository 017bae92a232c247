-- Table variables.
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

-- case: append a row
INSERT INTO @plain (a, b) VALUES (1, 'x')
-- expect
plain := array_append(plain, ROW(1, 'x')::dbo."p@plain")

-- case: append variables
INSERT @plain VALUES (@id, @name)
-- expect
plain := array_append(plain, ROW(id, sys.fitting(name, 10))::dbo."p@plain")

-- case: append by SELECT without FROM
INSERT @plain SELECT @id AS a, b = 'x' + @name
-- expect
plain := array_append(plain, ROW(id, sys.fitting('x' || name, 10))::dbo."p@plain")

-- case: append by SELECT without FROM, what is no value of VALUES
INSERT INTO @plain (a) SELECT COUNT(*)
-- expect
SELECT p.plain || array_agg(ROW(n.a, NULL)::dbo."p@plain"), count(*)
FROM (SELECT count(*)) AS n (a)
INTO plain, row_count

-- case: append by SELECT with a condition
INSERT INTO @plain (a) SELECT @id WHERE @n = 2
-- expect
SELECT p.plain || array_agg(ROW(n.a, NULL)::dbo."p@plain"), count(*)
FROM (SELECT id WHERE n = 2) AS n (a)
INTO plain, row_count

-- case: append with identity and default
INSERT INTO @log (what) VALUES (N'x')
-- expect
log := array_append(log, ROW(COALESCE((p.log)[cardinality(p.log)].id + 1, 1), 'x', sys.getdate())::dbo."p@log")

-- case: append that may be NULL
INSERT INTO @log (what) VALUES (@name)
-- expect
log := array_append(log, ROW(COALESCE((p.log)[cardinality(p.log)].id + 1, 1), sys.not_null(name, 'what', '@log'), sys.getdate())::dbo."p@log")

-- case: append with a key
INSERT INTO @t (id, name) VALUES (1, N'x')
-- expect
new_row := ROW(1, 'x')::dbo."p@t";
PERFORM sys.unique_key(NOT EXISTS (SELECT FROM unnest(p.t) AS r WHERE r.id = new_row.id), 'PRIMARY KEY', '@t', concat(new_row.id));
t := array_append(t, new_row)

-- case: append several
INSERT INTO @plain (a, b) VALUES (1, 'x'), (2, NULL)
-- expect
SELECT p.plain || array_agg(ROW(n.a, n.b)::dbo."p@plain"), count(*)
FROM (VALUES (1::integer, 'x'::varchar(10)), (2, NULL)) AS n (a, b)
INTO plain, row_count

-- case: append of a select
INSERT INTO @plain SELECT id, city FROM customers
-- expect
SELECT p.plain || array_agg(ROW(n.a, sys.fitting((n.b)::text, 10))::dbo."p@plain"), count(*)
FROM (SELECT id, city FROM dbo.customers) AS n (a, b)
INTO plain, row_count

-- case: append of a select with a key
INSERT INTO @t (id, name) SELECT id, name FROM customers
-- expect
SELECT p.t || array_agg(ROW(sys.not_null(n.id, 'id', '@t'), sys.fitting((n.name)::text, 50))::dbo."p@t" ORDER BY n."@place"), count(*)
FROM (SELECT n.*, row_number() OVER (PARTITION BY n.id ORDER BY n."@place") AS nth_1
      FROM (SELECT n.*, row_number() OVER () AS "@place"
            FROM (SELECT id, name FROM dbo.customers) AS n (id, name)) AS n) AS n
LEFT JOIN (SELECT id, true AS found FROM unnest(p.t) AS r) AS old_1 ON old_1.id = n.id
WHERE sys.unique_key(n.nth_1 = 1 AND old_1.found IS NULL, 'PRIMARY KEY', '@t', concat(n.id))
INTO t, row_count

-- case: append ignoring duplicates
INSERT @bag (h, n, r) SELECT @h, 1, (SELECT 1 AS [@a] FOR XML PATH('r'), TYPE) WHERE @h IS NOT NULL
-- expect
SELECT p.bag || array_agg(ROW(sys.not_null(n.h, 'h', '@bag'), sys.not_null(n.n, 'n', '@bag'), n.r)::dbo."p@bag" ORDER BY n."@place"), count(*)
FROM (SELECT n.*, row_number() OVER (PARTITION BY n.h, n.n ORDER BY n."@place") AS nth_1
      FROM (SELECT n.*, row_number() OVER () AS "@place"
            FROM (SELECT h, 1, (SELECT sys.xml_of_content(sys.xml_element('r', concat(sys.xml_attribute('a', sys.xml_atom(1))),
                                                          '')))
                  WHERE h IS NOT NULL) AS n (h, n, r)) AS n) AS n
LEFT JOIN (SELECT h, n, true AS found FROM unnest(p.bag) AS r) AS old_1 ON old_1.h = n.h AND old_1.n = n.n
WHERE sys.ignore_duplicate_key(n.nth_1 = 1 AND old_1.found IS NULL, (SELECT clock_timestamp()))
INTO bag, row_count

-- case: append several with identity
INSERT INTO @log (what) SELECT name FROM customers WHERE name IS NOT NULL
-- expect
SELECT p.log || array_agg(ROW(COALESCE((p.log)[cardinality(p.log)].id, 0) + n."@place", sys.not_null(sys.fitting((n.what)::text, 100), 'what', '@log'), sys.getdate())::dbo."p@log" ORDER BY n."@place"), count(*)
FROM (SELECT n.*, row_number() OVER () AS "@place"
      FROM (SELECT name FROM dbo.customers WHERE name IS NOT NULL) AS n (what)) AS n
INTO log, row_count

-- case: append top
INSERT TOP (1) INTO @plain (a) SELECT id FROM customers
-- expect
SELECT p.plain || array_agg(ROW(n.a, NULL)::dbo."p@plain"), count(*)
FROM (SELECT * FROM (SELECT id FROM dbo.customers) AS chosen LIMIT 1) AS n (a)
INTO plain, row_count

-- case: append default values
INSERT INTO @plain DEFAULT VALUES
-- expect
plain := array_append(plain, ROW(NULL, NULL)::dbo."p@plain")

-- case: update
UPDATE @plain SET b = 'z' WHERE a = @id
-- expect
SELECT sys.with_rows(p.plain, array_agg(plain."@place"), array_agg(ROW(plain.a, 'z'::varchar(10))::dbo."p@plain")), count(*)
FROM unnest(p.plain) WITH ORDINALITY AS plain (a, b, "@place")
WHERE plain.a = p.id
INTO plain, row_count

-- case: update all
UPDATE @plain SET a = a + 1
-- expect
SELECT sys.with_rows(p.plain, array_agg(plain."@place"), array_agg(ROW(plain.a + 1, plain.b)::dbo."p@plain")), count(*)
FROM unnest(p.plain) WITH ORDINALITY AS plain (a, b, "@place")
INTO plain, row_count

-- case: update of a key
UPDATE @t SET id = id + 1
-- expect
SELECT result.new_rows, result.row_count
FROM (SELECT sys.with_rows(p.t, array_agg(t."@place"), array_agg(ROW(sys.not_null(t.id + 1, 'id', '@t', 'UPDATE'), t.name)::dbo."p@t")), count(*)
      FROM unnest(p.t) WITH ORDINALITY AS t (id, name, "@place")) AS result (new_rows, row_count)
WHERE sys.unique_key((SELECT count(*) = count(DISTINCT (r.id)) FROM unnest(result.new_rows) AS r), 'PRIMARY KEY', '@t', '')
INTO t, row_count

-- case: update from a join
UPDATE p SET b = c.city FROM @plain p JOIN customers c ON c.id = p.a
-- expect
SELECT sys.with_rows(p.plain, array_agg(p."@place" ORDER BY p."@place"), array_agg(ROW(p.a, changed.b)::dbo."p@plain" ORDER BY p."@place")), count(*)
FROM unnest(p.plain) WITH ORDINALITY AS p (a, b, "@place")
CROSS JOIN LATERAL (SELECT true AS hit, sys.fitting(c.city, 10) AS b
                    FROM (SELECT) AS this_row
                    JOIN dbo.customers AS c ON c.id = p.a
                    LIMIT 1) AS changed
INTO plain, row_count

-- case: update from a left join
UPDATE p SET b = c.city FROM @plain p LEFT JOIN customers c ON c.id = p.a WHERE p.a > 0
-- expect
SELECT sys.with_rows(p.plain, array_agg(p."@place" ORDER BY p."@place"), array_agg(ROW(p.a, changed.b)::dbo."p@plain" ORDER BY p."@place")), count(*)
FROM unnest(p.plain) WITH ORDINALITY AS p (a, b, "@place")
CROSS JOIN LATERAL (SELECT true AS hit, sys.fitting(c.city, 10) AS b
                    FROM (SELECT) AS this_row
                    LEFT JOIN dbo.customers AS c ON c.id = p.a
                    WHERE p.a > 0
                    LIMIT 1) AS changed
INTO plain, row_count

-- case: update top
UPDATE TOP (1) @plain SET b = 'first'
-- expect
SELECT sys.with_rows(p.plain, array_agg(plain."@place" ORDER BY plain."@place"), array_agg(ROW(plain.a, 'first'::varchar(10))::dbo."p@plain" ORDER BY plain."@place")), count(*)
FROM (SELECT plain.*, row_number() OVER (ORDER BY plain."@place") AS nth
      FROM unnest(p.plain) WITH ORDINALITY AS plain (a, b, "@place")) AS plain
WHERE (plain.nth <= 1) IS NOT FALSE
INTO plain, row_count

-- case: update of a column that must not be NULL
UPDATE @log SET what = @name
-- expect
SELECT sys.with_rows(p.log, array_agg(log."@place"), array_agg(ROW(log.id, sys.not_null(p.name, 'what', '@log', 'UPDATE'), log.at)::dbo."p@log")), count(*)
FROM unnest(p.log) WITH ORDINALITY AS log (id, what, at, "@place")
INTO log, row_count

-- case: delete
DELETE FROM @plain WHERE a = 1
-- expect
SELECT sys.without_rows(p.plain, array_agg(plain."@place")), count(*)
FROM unnest(p.plain) WITH ORDINALITY AS plain (a, b, "@place")
WHERE plain.a = 1
INTO plain, row_count

-- case: delete all
DELETE @plain
-- expect
SELECT '{}'::dbo."p@plain"[], cardinality(p.plain)
INTO plain, row_count

-- case: delete top
DELETE TOP (1) FROM @plain
-- expect
SELECT sys.without_rows(p.plain, array_agg(plain."@place" ORDER BY plain."@place")), count(*)
FROM (SELECT plain.*, row_number() OVER (ORDER BY plain."@place") AS nth
      FROM unnest(p.plain) WITH ORDINALITY AS plain (a, b, "@place")) AS plain
WHERE (plain.nth <= 1) IS NOT FALSE
INTO plain, row_count

-- case: delete from a join
DELETE p FROM @plain p JOIN customers c ON c.id = p.a
-- expect
SELECT sys.without_rows(p.plain, array_agg(p."@place" ORDER BY p."@place")), count(*)
FROM unnest(p.plain) WITH ORDINALITY AS p (a, b, "@place")
CROSS JOIN LATERAL (SELECT true AS hit
                    FROM (SELECT) AS this_row
                    JOIN dbo.customers AS c ON c.id = p.a
                    LIMIT 1) AS changed
INTO plain, row_count

-- case: delete with output
DELETE FROM @plain OUTPUT deleted.a, deleted.b WHERE a > 1
-- expect
SELECT plain.a, plain.b
FROM unnest(p.plain) AS plain (a, b)
WHERE EXISTS (SELECT true AS hit WHERE plain.a > 1 LIMIT 1);
SELECT sys.without_rows(p.plain, array_agg(plain."@place")), count(*)
FROM unnest(p.plain) WITH ORDINALITY AS plain (a, b, "@place")
WHERE plain.a > 1
INTO plain, row_count

-- case: select
SELECT * FROM @t
-- expect
SELECT * FROM unnest(p.t) AS t

-- case: select of itself
INSERT INTO @plain SELECT a + 1, b FROM @plain
-- expect
SELECT p.plain || array_agg(ROW(n.a, sys.fitting((n.b)::text, 10))::dbo."p@plain"), count(*)
FROM (SELECT a + 1, b FROM unnest(p.plain) AS plain) AS n (a, b)
INTO plain, row_count

-- case: exists
SELECT @n = COUNT(*) FROM @bag WHERE h = @h
-- expect
SELECT count(*) FROM unnest(p.bag) AS bag WHERE h = p.h
INTO n

-- case: of the first rows no others are read
SELECT TOP (2) a FROM @plain
-- expect
SELECT a FROM unnest(p.plain[1:2]) AS plain LIMIT 2

-- case: of ordered rows all are
SELECT TOP (2) a FROM @plain ORDER BY b
-- expect
SELECT a FROM unnest(p.plain) AS plain ORDER BY b NULLS FIRST LIMIT 2

-- case: exists reads one row
SELECT @n = 1 WHERE EXISTS (SELECT * FROM @plain) AND NOT EXISTS (SELECT * FROM @plain WHERE a = 1)
-- expect
FOR next_row IN
SELECT 1 AS n
WHERE EXISTS (SELECT * FROM unnest(p.plain[1:1]) AS plain) AND NOT EXISTS (SELECT *
                                                                           FROM unnest(p.plain) AS plain
                                                                           WHERE a = 1)
LOOP n := next_row.n; END LOOP

-- case: undeclared column
INSERT INTO @plain (zz) VALUES (1)
-- expect
case.sql:1:21: error 207: Invalid column name 'zz'.
    1 | INSERT INTO @plain (zz) VALUES (1)
      |                     ^^

-- case: scalar use
SELECT @plain
-- expect
case.sql:1:8: error 137: Must declare the scalar variable "@plain".
    1 | SELECT @plain
      |        ^^^^^^
hint: where it is an argument, check takes the procedure's script too, compile --after it

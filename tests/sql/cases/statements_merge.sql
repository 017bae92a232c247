-- MERGE.
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

-- case: holdlock in using
MERGE heap AS t USING customers WITH (HOLDLOCK) AS s ON t.a = s.id WHEN MATCHED THEN UPDATE SET t.b = s.name;
-- expect
LOCK TABLE dbo.customers IN SHARE MODE;
WITH s AS (SELECT * FROM dbo.customers AS s),
twice AS (SELECT ssb_internal.matched_twice()
          FROM dbo.heap AS t, s
          WHERE t.a = s.id
          GROUP BY t.ctid HAVING count(*) > 1),
updated AS (UPDATE dbo.heap AS t SET b = s.name FROM s WHERE t.a = s.id RETURNING 1)
SELECT count(*) FROM (SELECT FROM updated) AS changed
WHERE NOT EXISTS (SELECT FROM twice) INTO row_count

-- case: upsert
MERGE INTO heap AS t USING (SELECT @id AS id, @name AS name) AS s ON t.a = s.id WHEN MATCHED THEN UPDATE SET b = s.name WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.id, s.name);
-- expect
WITH s AS (SELECT id, name),
updated AS (UPDATE dbo.heap AS t SET b = s.name FROM s WHERE t.a = s.id RETURNING 1),
inserted AS (INSERT INTO dbo.heap (a, b)
             SELECT s.id, s.name
             FROM s
             WHERE NOT EXISTS (SELECT FROM dbo.heap AS t WHERE t.a = s.id)
             RETURNING 1)
SELECT count(*) FROM (SELECT FROM updated UNION ALL SELECT FROM inserted) AS changed INTO row_count

-- case: upsert with holdlock
MERGE heap WITH (HOLDLOCK) AS t USING (VALUES (1, 'x')) AS s (id, name) ON t.a = s.id WHEN MATCHED THEN UPDATE SET t.b = s.name WHEN NOT MATCHED BY TARGET THEN INSERT (a, b) VALUES (id, name);
-- expect
LOCK TABLE dbo.heap IN SHARE ROW EXCLUSIVE MODE;
WITH s (id, name) AS (VALUES (1, 'x')),
updated AS (UPDATE dbo.heap AS t SET b = s.name FROM s WHERE t.a = s.id RETURNING 1),
inserted AS (INSERT INTO dbo.heap (a, b)
             SELECT id, name
             FROM s
             WHERE NOT EXISTS (SELECT FROM dbo.heap AS t WHERE t.a = s.id)
             RETURNING 1)
SELECT count(*) FROM (SELECT FROM updated UNION ALL SELECT FROM inserted) AS changed INTO row_count

-- case: all branches
MERGE customers AS t USING heap AS s ON t.id = s.a WHEN MATCHED AND s.b = 'gone' THEN DELETE WHEN MATCHED THEN UPDATE SET name = s.b WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.a, s.b) WHEN NOT MATCHED BY SOURCE AND t.city IS NULL THEN DELETE;
-- expect
WITH s AS (SELECT * FROM dbo.heap AS s),
twice AS (SELECT ssb_internal.matched_twice()
          FROM dbo.customers AS t, s
          WHERE t.id = s.a
          GROUP BY t.ctid HAVING count(*) > 1),
deleted AS (DELETE FROM dbo.customers AS t
            USING s
            WHERE t.id = s.a AND s.b = 'gone'
            RETURNING 1),
updated AS (UPDATE dbo.customers AS t
            SET name = s.b
            FROM s
            WHERE t.id = s.a AND (s.b = 'gone') IS NOT TRUE
            RETURNING 1),
inserted AS (INSERT INTO dbo.customers (id, name)
             SELECT s.a, s.b
             FROM s
             WHERE NOT EXISTS (SELECT FROM dbo.customers AS t WHERE t.id = s.a)
             RETURNING 1),
deleted_rows AS (DELETE FROM dbo.customers AS t
                 WHERE NOT EXISTS (SELECT FROM s WHERE t.id = s.a) AND t.city IS NULL
                 RETURNING 1)
SELECT count(*) FROM (SELECT FROM deleted UNION ALL
                      SELECT FROM updated UNION ALL
                      SELECT FROM inserted UNION ALL
                      SELECT FROM deleted_rows) AS changed
WHERE NOT EXISTS (SELECT FROM twice) INTO row_count

-- case: with output
MERGE customers AS t USING heap AS s ON t.id = s.a WHEN MATCHED THEN UPDATE SET name = s.b WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.a, s.b) OUTPUT $action, inserted.id, deleted.name, s.a;
-- expect
PERFORM ssb_internal.refuse_output('dbo.customers', ARRAY['INSERT', 'UPDATE']);
WITH s AS (SELECT * FROM dbo.heap AS s),
twice AS (SELECT ssb_internal.matched_twice()
          FROM dbo.customers AS t, s
          WHERE t.id = s.a
          GROUP BY t.ctid HAVING count(*) > 1),
updated AS (UPDATE dbo.customers AS t
            SET name = s.b
            FROM s, (SELECT old.*::dbo.customers AS deleted FROM dbo.customers AS old) AS old_row
            WHERE (old_row.deleted).id = t.id AND t.id = s.a
            RETURNING 'UPDATE'::text AS c1, t.id AS c2, (old_row.deleted).name AS c3, s.a AS c4),
inserted AS (INSERT INTO dbo.customers (id, name)
             SELECT s.a, s.b
             FROM s
             WHERE NOT EXISTS (SELECT FROM dbo.customers AS t WHERE t.id = s.a)
             RETURNING 'INSERT'::text AS c1, id AS c2, NULL::varchar(50) AS c3, id AS c4)
SELECT c1 AS "$action", c2 AS id, c3 AS name, c4 AS a
FROM (SELECT * FROM updated UNION ALL SELECT * FROM inserted) AS changed
WHERE NOT EXISTS (SELECT FROM twice)

-- case: with output into a table variable
MERGE customers AS t USING heap AS s ON t.id = s.a WHEN MATCHED THEN DELETE OUTPUT deleted.id, deleted.name INTO @t;
-- expect
WITH s AS (SELECT * FROM dbo.heap AS s),
twice AS (SELECT ssb_internal.matched_twice()
          FROM dbo.customers AS t, s
          WHERE t.id = s.a
          GROUP BY t.ctid HAVING count(*) > 1),
deleted AS (DELETE FROM dbo.customers AS t
            USING s
            WHERE t.id = s.a
            RETURNING t.id AS c1, t.name AS c2)
SELECT p.t || array_agg(ROW(sys.not_null(n.id, 'id', '@t'), sys.fitting((n.name)::text, 50))::dbo."p@t" ORDER BY n."@place"), count(*)
FROM (SELECT n.*, row_number() OVER (PARTITION BY n.id ORDER BY n."@place") AS nth_1
      FROM (SELECT n.*, row_number() OVER () AS "@place"
            FROM (SELECT c1, c2 FROM (SELECT * FROM deleted) AS changed
            WHERE NOT EXISTS (SELECT FROM twice)) AS n (id, name)) AS n) AS n
LEFT JOIN (SELECT id, true AS found FROM unnest(p.t) AS r) AS old_1 ON old_1.id = n.id
WHERE sys.unique_key(n.nth_1 = 1 AND old_1.found IS NULL, 'PRIMARY KEY', '@t', concat(n.id))
INTO t, row_count

-- case: with output into a table
MERGE customers AS t USING heap AS s ON t.id = s.a WHEN MATCHED THEN DELETE OUTPUT deleted.id, $action INTO audit (id, what);
-- expect
WITH s AS (SELECT * FROM dbo.heap AS s),
twice AS (SELECT ssb_internal.matched_twice()
          FROM dbo.customers AS t, s
          WHERE t.id = s.a
          GROUP BY t.ctid HAVING count(*) > 1),
deleted AS (DELETE FROM dbo.customers AS t
            USING s
            WHERE t.id = s.a
            RETURNING t.id AS c1, 'DELETE'::text AS c2)
INSERT INTO dbo.audit (id, what)
SELECT c1, c2 FROM (SELECT * FROM deleted) AS changed
WHERE NOT EXISTS (SELECT FROM twice)

-- case: table as source
MERGE heap USING customers ON heap.a = customers.id WHEN MATCHED THEN UPDATE SET b = customers.city;
-- expect
WITH customers AS (SELECT * FROM dbo.customers),
twice AS (SELECT ssb_internal.matched_twice()
          FROM dbo.heap AS heap, customers
          WHERE heap.a = customers.id
          GROUP BY heap.ctid HAVING count(*) > 1),
updated AS (UPDATE dbo.heap AS heap
            SET b = customers.city
            FROM customers
            WHERE heap.a = customers.id
            RETURNING 1)
SELECT count(*) FROM (SELECT FROM updated) AS changed
WHERE NOT EXISTS (SELECT FROM twice) INTO row_count

-- case: table variable as source
MERGE heap AS t USING @t AS s ON t.a = s.id WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.id, s.name);
-- expect
WITH s AS (SELECT * FROM unnest(p.t) AS s),
inserted AS (INSERT INTO dbo.heap (a, b)
             SELECT s.id, s.name
             FROM s
             WHERE NOT EXISTS (SELECT FROM dbo.heap AS t WHERE t.a = s.id)
             RETURNING 1)
SELECT count(*) FROM (SELECT FROM inserted) AS changed INTO row_count

-- case: with a cte
WITH s AS (SELECT id FROM customers) MERGE heap AS t USING s ON t.a = s.id WHEN NOT MATCHED THEN INSERT (a) VALUES (s.id);
-- expect
WITH s AS (SELECT id FROM dbo.customers),
inserted AS (INSERT INTO dbo.heap (a)
             SELECT s.id
             FROM s
             WHERE NOT EXISTS (SELECT FROM dbo.heap AS t WHERE t.a = s.id)
             RETURNING 1)
SELECT count(*) FROM (SELECT FROM inserted) AS changed INTO row_count

-- case: with top
MERGE TOP (5) heap AS t USING customers AS s ON t.a = s.id WHEN NOT MATCHED THEN INSERT (a) VALUES (s.id);
-- expect
WITH s AS (SELECT * FROM dbo.customers AS s LIMIT 5),
inserted AS (INSERT INTO dbo.heap (a)
             SELECT s.id
             FROM s
             WHERE NOT EXISTS (SELECT FROM dbo.heap AS t WHERE t.a = s.id)
             RETURNING 1)
SELECT count(*) FROM (SELECT FROM inserted) AS changed INTO row_count

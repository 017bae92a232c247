-- INSERT, UPDATE, DELETE, SELECT … INTO.
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

-- case: hints beside the table that is changed
UPDATE o SET amount = 0 FROM orders AS o JOIN customers AS c WITH (HOLDLOCK) ON c.id = o.customer WHERE c.id = @id
-- expect
PERFORM EXISTS (SELECT 1 FROM dbo.customers AS c WHERE c.id = p.id FOR SHARE);
UPDATE dbo.orders AS o
SET amount = 0
FROM dbo.customers AS c
WHERE c.id = o.customer AND c.id = p.id

-- case: an exclusive hint beside the table that is changed
DELETE o FROM orders AS o JOIN customers AS c WITH (UPDLOCK) ON c.id = o.customer WHERE c.city = 'Oslo'
-- expect
LOCK TABLE dbo.customers IN EXCLUSIVE MODE;
DELETE FROM dbo.orders AS o
USING dbo.customers AS c
WHERE c.id = o.customer AND c.city = 'Oslo'

-- case: insert values
INSERT INTO heap (a, b) VALUES (1, 'x')
-- expect
INSERT INTO dbo.heap (a, b) VALUES (1, 'x')

-- case: insert without INTO
INSERT heap (a) VALUES (@id)
-- expect
INSERT INTO dbo.heap (a) VALUES (id)

-- case: insert without columns
INSERT INTO heap VALUES (1, 'x', NULL)
-- expect
INSERT INTO dbo.heap VALUES (1, 'x', NULL)

-- case: insert without columns into a table with identity
INSERT INTO orders VALUES (1, N'a', 2, GETDATE(), NULL, 0)
-- expect
INSERT INTO dbo.orders (customer, name, amount, placed, body, done)
VALUES (1, 'a', 2, sys.getdate(), NULL, 0)

-- case: insert several rows
INSERT INTO heap (a, b) VALUES (1, 'x'), (2, 'y')
-- expect
INSERT INTO dbo.heap (a, b) VALUES (1, 'x'), (2, 'y')

-- case: insert default
INSERT INTO orders (customer, name, placed) VALUES (1, N'a', DEFAULT)
-- expect
INSERT INTO dbo.orders (customer, name, placed) VALUES (1, 'a', DEFAULT)

-- case: insert default values
INSERT INTO heap DEFAULT VALUES
-- expect
INSERT INTO dbo.heap DEFAULT VALUES

-- case: insert converts
INSERT INTO heap (a, b, c) VALUES ('5', 7, '1 Jan 2020')
-- expect
INSERT INTO dbo.heap (a, b, c) VALUES ('5', 7::varchar(20), sys.convert_datetime('1 Jan 2020'))

-- case: insert xml
INSERT INTO orders (customer, name, body) VALUES (1, N'a', N'<a/>')
-- expect
INSERT INTO dbo.orders (customer, name, body) VALUES (1, 'a', sys.xml_of('<a/>'))

-- case: insert of a select
INSERT INTO heap (a, b) SELECT id, city FROM customers WHERE id > @id
-- expect
INSERT INTO dbo.heap (a, b) SELECT id, city FROM dbo.customers WHERE id > p.id

-- case: insert of a select converts
INSERT INTO heap (a, b) SELECT city, id FROM customers WHERE 1 = 0
-- expect
INSERT INTO dbo.heap (a, b)
SELECT sys.convert_int(city) AS city, id::varchar(20) AS id FROM dbo.customers WHERE 1 = 0

-- case: insert top
INSERT TOP (2) INTO heap (a) SELECT id FROM orders
-- expect
INSERT INTO dbo.heap (a) SELECT * FROM (SELECT id FROM dbo.orders) AS chosen LIMIT 2

-- case: insert with a cte
WITH c AS (SELECT id FROM customers) INSERT INTO heap (a) SELECT id FROM c
-- expect
WITH c AS (SELECT id FROM dbo.customers) INSERT INTO dbo.heap (a) SELECT id FROM c

-- case: insert of a union
INSERT INTO heap (a) SELECT 1 UNION ALL SELECT 2
-- expect
INSERT INTO dbo.heap (a) SELECT 1 UNION ALL SELECT 2

-- case: insert into a temporary table
INSERT INTO #work VALUES (1, 'a')
-- expect
INSERT INTO pg_temp."#work" VALUES (1, 'a')

-- case: insert into another database
INSERT INTO Trader1.dbo.stock (id, qty) VALUES (1, 2)
-- expect
INSERT INTO trader1_dbo.stock (id, qty) VALUES (1, 2)

-- case: insert into an unknown table
INSERT INTO elsewhere (a, b) VALUES (1, 'x')
-- expect
INSERT INTO dbo.elsewhere (a, b) VALUES (1, 'x')

-- case: insert ignoring duplicates
INSERT INTO keyed (k, v) VALUES (1, 2)
-- expect
INSERT INTO dbo.keyed (k, v) VALUES (1, 2)

-- case: insert with output
INSERT INTO orders (customer, name) OUTPUT inserted.id, inserted.placed VALUES (1, N'a')
-- expect
PERFORM ssb_internal.refuse_output('dbo.orders', ARRAY['INSERT']);
INSERT INTO dbo.orders (customer, name) VALUES (1, 'a') RETURNING id, placed

-- case: insert with output star
INSERT INTO orders (customer, name) OUTPUT inserted.* VALUES (1, N'a')
-- expect
PERFORM ssb_internal.refuse_output('dbo.orders', ARRAY['INSERT']);
INSERT INTO dbo.orders (customer, name)
VALUES (1, 'a')
RETURNING id, customer, name, amount, placed, body, done

-- case: insert with output into a table
INSERT INTO orders (customer, name) OUTPUT inserted.id, inserted.name INTO audit (id, what) VALUES (1, N'a')
-- expect
WITH changed AS (INSERT INTO dbo.orders (customer, name)
                 VALUES (1, 'a')
                 RETURNING id AS c1, name AS c2)
INSERT INTO dbo.audit (id, what) SELECT c1, c2 FROM changed

-- case: insert with output into a table variable
INSERT INTO orders (customer, name) OUTPUT inserted.id, inserted.name INTO @t VALUES (1, N'a')
-- expect
WITH changed AS (INSERT INTO dbo.orders (customer, name)
                 VALUES (1, 'a')
                 RETURNING id AS c1, name AS c2)
SELECT p.t || array_agg(ROW(sys.not_null(n.id, 'id', '@t'), sys.fitting((n.name)::text, 50))::dbo."p@t" ORDER BY n."@place"), count(*)
FROM (SELECT n.*, row_number() OVER (PARTITION BY n.id ORDER BY n."@place") AS nth_1
      FROM (SELECT n.*, row_number() OVER () AS "@place"
            FROM (SELECT c1, c2 FROM changed) AS n (id, name)) AS n) AS n
LEFT JOIN (SELECT id, true AS found FROM unnest(p.t) AS r) AS old_1 ON old_1.id = n.id
WHERE sys.unique_key(n.nth_1 = 1 AND old_1.found IS NULL, 'PRIMARY KEY', '@t', concat(n.id))
INTO t, row_count

-- case: insert with two outputs
INSERT INTO orders (customer, name) OUTPUT inserted.id INTO audit (id) OUTPUT inserted.name VALUES (1, N'a')
-- expect
WITH changed AS (INSERT INTO dbo.orders (customer, name)
                 VALUES (1, 'a')
                 RETURNING id AS c1, name AS c2),
kept AS (INSERT INTO dbo.audit (id) SELECT c1 FROM changed)
SELECT c2 AS name FROM changed

-- case: insert with an expression in output
INSERT INTO orders (customer, name) OUTPUT inserted.id * 2 AS twice, @id VALUES (1, N'a')
-- expect
PERFORM ssb_internal.refuse_output('dbo.orders', ARRAY['INSERT']);
INSERT INTO dbo.orders (customer, name) VALUES (1, 'a') RETURNING id * 2 AS twice, p.id

-- case: update
UPDATE orders SET amount = amount * 2, done = 1 WHERE id = @id
-- expect
UPDATE dbo.orders SET amount = amount * 2, done = 1 WHERE id = p.id

-- case: update of all rows
UPDATE heap SET a = NULL
-- expect
UPDATE dbo.heap SET a = NULL

-- case: update with compound
UPDATE orders SET amount += 5, name += N'!' WHERE id = 1
-- expect
UPDATE dbo.orders SET amount = amount + 5, name = name || '!' WHERE id = 1

-- case: update to default
UPDATE orders SET placed = DEFAULT WHERE id = 1
-- expect
UPDATE dbo.orders SET placed = DEFAULT WHERE id = 1

-- case: update converts
UPDATE heap SET a = '5', b = @id, c = '20200101'
-- expect
UPDATE dbo.heap SET a = '5', b = p.id::varchar(20), c = '20200101'

-- case: update with a subquery
UPDATE orders SET name = (SELECT name FROM customers WHERE id = orders.customer)
-- expect
UPDATE dbo.orders SET name = (SELECT name FROM dbo.customers WHERE id = orders.customer)

-- case: update with a case
UPDATE orders SET name = CASE WHEN amount > 5 THEN N'big' ELSE name END
-- expect
UPDATE dbo.orders SET name = CASE WHEN amount > 5 THEN 'big' ELSE name END

-- case: update from a join
UPDATE o SET o.name = c.name FROM orders o INNER JOIN customers c ON c.id = o.customer WHERE c.city = 'Oslo'
-- expect
UPDATE dbo.orders AS o
SET name = c.name
FROM dbo.customers AS c
WHERE c.id = o.customer AND c.city = 'Oslo'

-- case: update from a join by table name
UPDATE orders SET name = c.name FROM orders JOIN customers c ON c.id = orders.customer
-- expect
UPDATE dbo.orders SET name = c.name FROM dbo.customers AS c WHERE c.id = orders.customer

-- case: update from another table
UPDATE orders SET name = customers.name FROM customers WHERE customers.id = orders.customer
-- expect
UPDATE dbo.orders
SET name = customers.name
FROM dbo.customers
WHERE customers.id = orders.customer

-- case: update from three tables
UPDATE o SET amount = 0 FROM orders o JOIN customers c ON c.id = o.customer JOIN heap h ON h.a = c.id
-- expect
UPDATE dbo.orders AS o
SET amount = 0
FROM dbo.customers AS c, dbo.heap AS h
WHERE c.id = o.customer AND h.a = c.id

-- case: update from a left join
UPDATE o SET name = c.name FROM orders o LEFT JOIN customers c ON c.id = o.customer
-- expect
UPDATE dbo.orders AS changing
SET name = changes.v1
FROM (SELECT o.id AS k1, c.name AS v1
      FROM dbo.orders AS o
      LEFT JOIN dbo.customers AS c ON c.id = o.customer
      FOR UPDATE OF o) AS changes
WHERE changing.id = changes.k1

-- case: update of the outer side
UPDATE o SET name = N'x' FROM customers c LEFT JOIN orders o ON o.customer = c.id
-- expect
UPDATE dbo.orders AS changing
SET name = 'x'
FROM (SELECT o.id AS k1 FROM dbo.customers AS c LEFT JOIN dbo.orders AS o ON o.customer = c.id) AS changes
WHERE changing.id = changes.k1

-- case: update from an apply
UPDATE o SET name = x.n FROM orders o CROSS APPLY (SELECT MAX(name) AS n FROM customers c WHERE c.id = o.customer) x
-- expect
UPDATE dbo.orders AS changing
SET name = changes.v1
FROM (SELECT o.id AS k1, x.n AS v1
      FROM dbo.orders AS o
      CROSS JOIN LATERAL (SELECT max(name) AS n FROM dbo.customers AS c WHERE c.id = o.customer) AS x
      FOR UPDATE OF o) AS changes
WHERE changing.id = changes.k1

-- case: update from a derived table
UPDATE o SET amount = d.total FROM orders o JOIN (SELECT customer, SUM(amount) AS total FROM orders GROUP BY customer) AS d ON d.customer = o.customer
-- expect
UPDATE dbo.orders AS o
SET amount = d.total
FROM (SELECT customer, sum(amount) AS total FROM dbo.orders GROUP BY customer) AS d
WHERE d.customer = o.customer

-- case: update from a table variable
UPDATE o SET name = t.name FROM orders o JOIN @t t ON t.id = o.id
-- expect
UPDATE dbo.orders AS o SET name = t.name FROM unnest(p.t) AS t WHERE t.id = o.id

-- case: update top
UPDATE TOP (5) orders SET done = 1 WHERE done = 0
-- expect
UPDATE dbo.orders
SET done = 1
WHERE id = ANY (ARRAY(SELECT id FROM dbo.orders WHERE done = 0 LIMIT 5 FOR UPDATE))

-- case: update top of a heap
UPDATE TOP (1) heap SET a = 1
-- expect
UPDATE dbo.heap
SET a = 1
WHERE ctid = ANY (ARRAY(SELECT ctid FROM dbo.heap LIMIT 1 FOR UPDATE))

-- case: update with readpast
UPDATE orders WITH (READPAST) SET done = 1 WHERE customer = 1
-- expect
UPDATE dbo.orders
SET done = 1
WHERE id = ANY (ARRAY(SELECT id FROM dbo.orders WHERE customer = 1 FOR UPDATE SKIP LOCKED))

-- case: update with output
UPDATE orders SET amount = 1 OUTPUT inserted.id, inserted.amount WHERE id = 1
-- expect
PERFORM ssb_internal.refuse_output('dbo.orders', ARRAY['UPDATE']);
UPDATE dbo.orders SET amount = 1 WHERE id = 1 RETURNING id, amount

-- case: update with old values
UPDATE orders SET amount = amount + 1 OUTPUT deleted.amount, inserted.amount, inserted.id WHERE id = 1
-- expect
PERFORM ssb_internal.refuse_output('dbo.orders', ARRAY['UPDATE']);
UPDATE dbo.orders AS changing
SET amount = changes.v1
FROM (SELECT orders.id AS k1, amount + 1 AS v1, orders.*::dbo.orders AS deleted
      FROM dbo.orders
      WHERE id = 1
      FOR UPDATE) AS changes
WHERE changing.id = changes.k1
RETURNING (changes.deleted).amount, changing.amount, changing.id

-- case: update with old values into a table
UPDATE orders SET amount = 0 OUTPUT inserted.id, inserted.name, deleted.amount INTO audit WHERE id = 1
-- expect
WITH changed AS (UPDATE dbo.orders AS changing
                 SET amount = changes.v1
                 FROM (SELECT orders.id AS k1, 0 AS v1, orders.*::dbo.orders AS deleted
                       FROM dbo.orders
                       WHERE id = 1
                       FOR UPDATE) AS changes
                 WHERE changing.id = changes.k1
                 RETURNING changing.id AS c1, changing.name AS c2, (changes.deleted).amount AS c3)
INSERT INTO dbo.audit (id, what, was) SELECT c1, c2, c3 FROM changed

-- case: update with star of old values
UPDATE heap SET a = 1 OUTPUT deleted.*
-- expect
PERFORM ssb_internal.refuse_output('dbo.heap', ARRAY['UPDATE']);
UPDATE dbo.heap AS changing
SET a = changes.v1
FROM (SELECT heap.ctid AS row_id, 1 AS v1, heap.*::dbo.heap AS deleted FROM dbo.heap FOR UPDATE) AS changes
WHERE changing.ctid = changes.row_id
RETURNING (changes.deleted).a, (changes.deleted).b, (changes.deleted).c

-- case: update with output of another table
UPDATE o SET amount = 1 OUTPUT inserted.id, c.name FROM orders o JOIN customers c ON c.id = o.customer
-- expect
PERFORM ssb_internal.refuse_output('dbo.orders', ARRAY['UPDATE']);
UPDATE dbo.orders AS o
SET amount = 1
FROM dbo.customers AS c
WHERE c.id = o.customer
RETURNING o.id, c.name

-- case: update with old values and another table
UPDATE o SET amount = 1 OUTPUT deleted.amount, c.name FROM orders o JOIN customers c ON c.id = o.customer
-- expect
PERFORM ssb_internal.refuse_output('dbo.orders', ARRAY['UPDATE']);
UPDATE dbo.orders AS changing
SET amount = changes.v1
FROM (SELECT o.id AS k1, 1 AS v1, o.*::dbo.orders AS deleted, c.name AS c_name
      FROM dbo.orders AS o
      JOIN dbo.customers AS c ON c.id = o.customer
      FOR UPDATE OF o) AS changes
WHERE changing.id = changes.k1
RETURNING (changes.deleted).amount, changes.c_name AS name

-- case: update xml
UPDATE orders SET body.modify('delete /a/b') WHERE id = 1
-- expect
UPDATE dbo.orders SET body = sys.xml_modify(body, 'delete /a/b') WHERE id = 1

-- case: update through a cte
WITH c AS (SELECT TOP (1) id, done AS finished FROM orders WHERE done = 0 ORDER BY id) UPDATE c SET finished = 1 OUTPUT inserted.id
-- expect
PERFORM ssb_internal.refuse_output('dbo.orders', ARRAY['UPDATE']);
WITH c AS (SELECT id, done AS finished, orders.ctid AS row_id
           FROM dbo.orders
           WHERE done = 0
           ORDER BY id
           LIMIT 1
           FOR UPDATE)
UPDATE dbo.orders SET done = 1 FROM c WHERE orders.ctid = c.row_id RETURNING orders.id

-- case: update through a cte with row numbers
WITH c AS (SELECT name, ROW_NUMBER() OVER (ORDER BY id) AS rn FROM orders) UPDATE c SET name = N'n' + CAST(rn AS nvarchar(10)) WHERE rn < 3
-- expect
WITH c AS (SELECT name, row_number() OVER (ORDER BY id) AS rn, orders.ctid AS row_id
           FROM dbo.orders)
UPDATE dbo.orders
SET name = 'n' || sys.convert_nvarchar(c.rn, 10)
FROM c
WHERE orders.ctid = c.row_id AND c.rn < 3

-- case: update with a cte in FROM
WITH c AS (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) UPDATE o SET amount = c.n FROM orders o JOIN c ON c.customer = o.customer
-- expect
WITH c AS (SELECT customer, count(*) AS n FROM dbo.orders GROUP BY customer)
UPDATE dbo.orders AS o
SET amount = sys.convert_decimal(c.n::integer, 10, 2)
FROM c
WHERE c.customer = o.customer

-- case: update of an unknown table
UPDATE elsewhere SET a = a + 1, b = b + 'x' WHERE d = @h
-- expect
UPDATE dbo.elsewhere SET a = sys.add(a, 1), b = b || 'x' WHERE d = p.h

-- case: update with tablockx
UPDATE heap WITH (TABLOCKX) SET a = 1
-- expect
LOCK TABLE dbo.heap IN EXCLUSIVE MODE;
UPDATE dbo.heap SET a = 1

-- case: update where current of
UPDATE heap SET a = 1 WHERE CURRENT OF c
-- expect
PERFORM ssb_internal.require_row('c', 1, 1);
UPDATE dbo.heap SET a = 1 WHERE heap.ctid = p.current_row

-- case: delete
DELETE FROM orders WHERE id = @id
-- expect
DELETE FROM dbo.orders WHERE id = p.id

-- case: delete without FROM
DELETE heap
-- expect
DELETE FROM dbo.heap

-- case: delete from a join
DELETE o FROM orders o JOIN customers c ON c.id = o.customer WHERE c.city = 'Rome'
-- expect
DELETE FROM dbo.orders AS o
USING dbo.customers AS c
WHERE c.id = o.customer AND c.city = 'Rome'

-- case: delete FROM FROM
DELETE FROM orders FROM orders o JOIN customers c ON c.id = o.customer
-- expect
DELETE FROM dbo.orders AS o USING dbo.customers AS c WHERE c.id = o.customer

-- case: delete with an anti join
DELETE o FROM orders o LEFT JOIN customers c ON c.id = o.customer WHERE c.id IS NULL
-- expect
DELETE FROM dbo.orders AS changing
USING (SELECT o.id AS k1
       FROM dbo.orders AS o
       LEFT JOIN dbo.customers AS c ON c.id = o.customer
       WHERE c.id IS NULL
       FOR UPDATE OF o) AS changes
WHERE changing.id = changes.k1

-- case: delete with exists
DELETE FROM orders WHERE NOT EXISTS (SELECT * FROM customers WHERE customers.id = orders.customer)
-- expect
DELETE FROM dbo.orders
WHERE NOT EXISTS (SELECT * FROM dbo.customers WHERE customers.id = orders.customer)

-- case: delete top
DELETE TOP (1) FROM orders WHERE done = 1
-- expect
DELETE FROM dbo.orders
WHERE id = ANY (ARRAY(SELECT id FROM dbo.orders WHERE done = 1 LIMIT 1 FOR UPDATE))

-- case: delete top with readpast and output
DELETE TOP (1) FROM heap WITH (ROWLOCK, READPAST) OUTPUT deleted.a, deleted.b
-- expect
PERFORM ssb_internal.refuse_output('dbo.heap', ARRAY['DELETE']);
DELETE FROM dbo.heap
WHERE ctid = ANY (ARRAY(SELECT ctid FROM dbo.heap LIMIT 1 FOR UPDATE SKIP LOCKED))
RETURNING a, b

-- case: delete with output
DELETE FROM orders OUTPUT deleted.id, deleted.name WHERE done = 1
-- expect
PERFORM ssb_internal.refuse_output('dbo.orders', ARRAY['DELETE']);
DELETE FROM dbo.orders WHERE done = 1 RETURNING id, name

-- case: delete with output into
DELETE FROM orders OUTPUT deleted.id, deleted.name, deleted.amount INTO audit (id, what, was) WHERE done = 1
-- expect
WITH changed AS (DELETE FROM dbo.orders
                 WHERE done = 1
                 RETURNING id AS c1, name AS c2, amount AS c3)
INSERT INTO dbo.audit (id, what, was) SELECT c1, c2, c3 FROM changed

-- case: delete with output into a table variable
DELETE FROM orders OUTPUT deleted.id, deleted.name INTO @t (id, name)
-- expect
WITH changed AS (DELETE FROM dbo.orders RETURNING id AS c1, name AS c2)
SELECT p.t || array_agg(ROW(sys.not_null(n.id, 'id', '@t'), sys.fitting((n.name)::text, 50))::dbo."p@t" ORDER BY n."@place"), count(*)
FROM (SELECT n.*, row_number() OVER (PARTITION BY n.id ORDER BY n."@place") AS nth_1
      FROM (SELECT n.*, row_number() OVER () AS "@place"
            FROM (SELECT c1, c2 FROM changed) AS n (id, name)) AS n) AS n
LEFT JOIN (SELECT id, true AS found FROM unnest(p.t) AS r) AS old_1 ON old_1.id = n.id
WHERE sys.unique_key(n.nth_1 = 1 AND old_1.found IS NULL, 'PRIMARY KEY', '@t', concat(n.id))
INTO t, row_count

-- case: delete through a cte
WITH q AS (SELECT TOP (1) * FROM orders WITH (ROWLOCK, READPAST) ORDER BY id) DELETE FROM q OUTPUT deleted.id, deleted.name
-- expect
PERFORM ssb_internal.refuse_output('dbo.orders', ARRAY['DELETE']);
WITH q AS (SELECT *, orders.ctid AS row_id
           FROM dbo.orders
           ORDER BY id
           LIMIT 1
           FOR UPDATE SKIP LOCKED)
DELETE FROM dbo.orders USING q WHERE orders.ctid = q.row_id RETURNING orders.id, orders.name

-- case: delete duplicates
WITH d AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY c) AS rn FROM heap) DELETE FROM d WHERE rn > 1
-- expect
WITH d AS (SELECT *, row_number() OVER (PARTITION BY a ORDER BY c NULLS FIRST) AS rn, heap.ctid AS row_id
           FROM dbo.heap)
DELETE FROM dbo.heap USING d WHERE heap.ctid = d.row_id AND d.rn > 1

-- case: delete through a derived table
DELETE d FROM (SELECT a, ROW_NUMBER() OVER (ORDER BY a) AS rn FROM heap) AS d WHERE rn = 1
-- expect
WITH d AS (SELECT a, row_number() OVER (ORDER BY a NULLS FIRST) AS rn, heap.ctid AS row_id
           FROM dbo.heap)
DELETE FROM dbo.heap USING d WHERE heap.ctid = d.row_id AND d.rn = 1

-- case: delete with a table variable
DELETE o FROM orders o JOIN @t t ON t.id = o.id
-- expect
DELETE FROM dbo.orders AS o USING unnest(p.t) AS t WHERE t.id = o.id

-- case: select into
SELECT id, name INTO copied FROM orders
-- expect
CREATE TABLE dbo.copied AS SELECT id, name FROM dbo.orders

-- case: select into a temporary table
SELECT id, amount * 2 AS twice INTO #copy FROM orders WHERE id > @id
-- expect
CREATE TABLE pg_temp."#copy" AS SELECT id, amount * 2 AS twice FROM dbo.orders WHERE id > p.id

-- case: select into with identity
SELECT IDENTITY(int, 1, 1) AS no, name INTO numbered FROM customers
-- expect
CREATE TABLE dbo.numbered AS
SELECT row_number() OVER ()::integer AS no, name FROM dbo.customers;
ALTER TABLE dbo.numbered ALTER COLUMN no SET NOT NULL, ALTER COLUMN no ADD GENERATED ALWAYS AS IDENTITY (START WITH 1 INCREMENT BY 1);
SELECT setval(pg_get_serial_sequence('dbo.numbered', 'no'), (SELECT max(no) FROM dbo.numbered))

-- case: truncate
TRUNCATE TABLE heap
-- expect
TRUNCATE TABLE dbo.heap RESTART IDENTITY

-- case: rows that a DELETE puts out go on into an INSERT
INSERT INTO audit (id, what) SELECT d.id, d.name + '!' FROM (DELETE FROM dbo.orders OUTPUT deleted.id, deleted.name WHERE done = 1) AS d WHERE d.id > 5
-- expect
WITH composed AS (DELETE FROM dbo.orders WHERE done = 1 RETURNING id AS c1, name AS c2),
d (id, name) AS (SELECT c1, c2 FROM composed)
INSERT INTO dbo.audit (id, what) SELECT d.id, d.name || '!' FROM d WHERE d.id > 5

-- case: rows of a MERGE go on into an INSERT
WITH s AS (SELECT id, name FROM customers)
INSERT audit SELECT m.id, m.act, 0 FROM (MERGE orders AS t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name OUTPUT s.id, $action) AS m (id, act) WHERE m.act = 'UPDATE'
-- expect
WITH s AS (SELECT id, name FROM dbo.customers),
twice AS (SELECT ssb_internal.matched_twice()
          FROM dbo.orders AS t, s
          WHERE t.id = s.id
          GROUP BY t.ctid HAVING count(*) > 1),
updated AS (UPDATE dbo.orders AS t
            SET name = s.name
            FROM s
            WHERE t.id = s.id
            RETURNING s.id AS c1, 'UPDATE'::text AS c2),
m (id, act) AS (SELECT c1, c2 FROM (SELECT * FROM updated) AS changed
WHERE NOT EXISTS (SELECT FROM twice))
INSERT INTO dbo.audit SELECT m.id, m.act, 0 FROM m WHERE m.act = 'UPDATE'

-- case: rows of a statement without OUTPUT
INSERT audit (id) SELECT d.id FROM (DELETE orders) AS d
-- expect
case.sql:1:1: error 10716: A nested INSERT, UPDATE, DELETE, or MERGE statement must have an OUTPUT clause.
    1 | INSERT audit (id) SELECT d.id FROM (DELETE orders) AS d
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: rows of VALUES have one type before the column's
INSERT heap (b) VALUES (1), ('two')
-- expect
INSERT INTO dbo.heap (b) VALUES (1::varchar(20)), (sys.convert_int('two')::varchar(20))

-- case: insert of what is not there
INSERT orders (customer, name) SELECT 3, N'c' WHERE NOT EXISTS (SELECT * FROM orders WITH (UPDLOCK, SERIALIZABLE) WHERE customer = 3)
-- expect
LOCK TABLE dbo.orders IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO dbo.orders (customer, name)
SELECT 3, 'c' WHERE NOT EXISTS (SELECT * FROM dbo.orders WHERE customer = 3 FOR UPDATE)

-- case: update that holds a range
UPDATE orders WITH (SERIALIZABLE) SET name = N'd' WHERE customer = @id
-- expect
LOCK TABLE dbo.orders IN SHARE ROW EXCLUSIVE MODE;
UPDATE dbo.orders SET name = 'd' WHERE customer = p.id

-- case: insert that locks the table
INSERT INTO orders WITH (TABLOCKX) (customer, name) SELECT MAX(customer) + 1, N'e' FROM orders
-- expect
LOCK TABLE dbo.orders IN EXCLUSIVE MODE;
INSERT INTO dbo.orders (customer, name) SELECT max(customer) + 1, 'e' FROM dbo.orders

-- case: delete that locks the table
DELETE orders WITH (TABLOCK, HOLDLOCK) WHERE id = 9
-- expect
LOCK TABLE dbo.orders IN EXCLUSIVE MODE;
DELETE FROM dbo.orders WHERE id = 9

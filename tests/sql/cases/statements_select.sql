-- SELECT: clauses, joins, subqueries, common table expressions, windows.
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

-- case: one row
SELECT TOP (1) name FROM customers WHERE id = @id
-- expect
SELECT name FROM dbo.customers WHERE id = p.id LIMIT 1

-- case: top without parentheses
SELECT TOP 1 * FROM customers
-- expect
SELECT * FROM dbo.customers LIMIT 1

-- case: top of a variable
SELECT TOP (@n) id FROM orders ORDER BY id
-- expect
SELECT id FROM dbo.orders ORDER BY id LIMIT sys.top_count(p.n)

-- case: top of a sum
SELECT TOP (@n + 1) id FROM orders
-- expect
SELECT id FROM dbo.orders LIMIT sys.top_count(p.n + 1)

-- case: top with ties
SELECT TOP 3 WITH TIES id FROM orders ORDER BY amount DESC
-- expect
SELECT id FROM dbo.orders ORDER BY amount DESC NULLS LAST FETCH FIRST 3 ROWS WITH TIES

-- case: top percent
SELECT TOP (10) PERCENT id, name FROM orders ORDER BY id
-- expect
SELECT c1 AS id, c2 AS name
FROM (SELECT *, row_number() OVER () AS place, count(*) OVER () AS total
      FROM (SELECT id AS c1, name AS c2 FROM dbo.orders ORDER BY id) AS ordered) AS numbered
WHERE place <= ceil(total * (10) / 100.0)
ORDER BY place

-- case: distinct
SELECT DISTINCT city FROM customers
-- expect
SELECT DISTINCT city FROM dbo.customers

-- case: star
SELECT * FROM orders
-- expect
SELECT * FROM dbo.orders

-- case: star of an alias
SELECT o.*, c.name FROM orders o JOIN customers c ON c.id = o.customer
-- expect
SELECT o.*, c.name FROM dbo.orders AS o JOIN dbo.customers AS c ON c.id = o.customer

-- case: unnamed columns
SELECT 1, @id + 1, GETDATE()
-- expect
SELECT 1, id + 1, sys.getdate()

-- case: aliases of three kinds
SELECT id AS a, [b c] = name, amount 'd' FROM orders
-- expect
SELECT id AS a, name AS "b c", amount AS d FROM dbo.orders

-- case: alias that is a keyword
SELECT id AS [order], name AS [user] FROM orders
-- expect
SELECT id AS "order", name AS "user" FROM dbo.orders

-- case: where
SELECT id FROM orders WHERE customer = @id AND (amount > 5 OR done = 1)
-- expect
SELECT id FROM dbo.orders WHERE customer = p.id AND (amount > 5 OR done = 1)

-- case: order by
SELECT id, amount FROM orders ORDER BY amount DESC, id
-- expect
SELECT id, amount FROM dbo.orders ORDER BY amount DESC NULLS LAST, id

-- case: order by alias
SELECT id AS k FROM orders ORDER BY k
-- expect
SELECT id AS k FROM dbo.orders ORDER BY k

-- case: order by position
SELECT id, amount FROM orders ORDER BY 2 DESC
-- expect
SELECT id, amount FROM dbo.orders ORDER BY 2 DESC NULLS LAST

-- case: offset and fetch
SELECT id FROM orders ORDER BY id OFFSET 5 ROWS FETCH NEXT @n ROWS ONLY
-- expect
SELECT id FROM dbo.orders ORDER BY id LIMIT sys.top_count(p.n) OFFSET 5

-- case: offset alone
SELECT id FROM orders ORDER BY id OFFSET 5 ROWS
-- expect
SELECT id FROM dbo.orders ORDER BY id OFFSET 5

-- case: group by
SELECT customer, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY customer HAVING COUNT(*) > 1
-- expect
SELECT customer, count(*) AS n, sum(amount) AS total
FROM dbo.orders
GROUP BY customer
HAVING count(*) > 1

-- case: group by rollup
SELECT customer, SUM(amount) FROM orders GROUP BY ROLLUP(customer)
-- expect
SELECT customer, sum(amount) FROM dbo.orders GROUP BY ROLLUP (customer)

-- case: group by with cube
SELECT customer, done, COUNT(*) FROM orders GROUP BY customer, done WITH CUBE
-- expect
SELECT customer, done, count(*) FROM dbo.orders GROUP BY CUBE (customer, done)

-- case: grouping sets
SELECT customer, done, COUNT(*) FROM orders GROUP BY GROUPING SETS ((customer), (done), ())
-- expect
SELECT customer, done, count(*) FROM dbo.orders GROUP BY GROUPING SETS (customer, done, ())

-- case: aggregates
SELECT COUNT(DISTINCT city), MIN(name), MAX(id), AVG(id) FROM customers
-- expect
SELECT count(DISTINCT city), min(name), max(id), trunc(avg(id))::integer FROM dbo.customers

-- case: string agg
SELECT STRING_AGG(name, ',') WITHIN GROUP (ORDER BY id) FROM customers
-- expect
SELECT string_agg(name, ',' ORDER BY id) FROM dbo.customers

-- case: inner join
SELECT o.id, c.name FROM orders AS o INNER JOIN customers AS c ON c.id = o.customer
-- expect
SELECT o.id, c.name FROM dbo.orders AS o JOIN dbo.customers AS c ON c.id = o.customer

-- case: outer joins
SELECT o.id FROM orders o LEFT OUTER JOIN customers c ON c.id = o.customer RIGHT JOIN heap h ON h.a = o.id FULL JOIN audit a ON a.id = o.id
-- expect
SELECT o.id
FROM dbo.orders AS o
LEFT JOIN dbo.customers AS c ON c.id = o.customer
RIGHT JOIN dbo.heap AS h ON h.a = o.id
FULL JOIN dbo.audit AS a ON a.id = o.id

-- case: cross join
SELECT * FROM customers CROSS JOIN heap
-- expect
SELECT * FROM dbo.customers CROSS JOIN dbo.heap

-- case: comma join
SELECT o.id FROM orders o, customers c WHERE o.customer = c.id
-- expect
SELECT o.id FROM dbo.orders AS o, dbo.customers AS c WHERE o.customer = c.id

-- case: join without alias
SELECT orders.id, customers.name FROM dbo.orders JOIN dbo.customers ON customers.id = orders.customer
-- expect
SELECT orders.id, customers.name
FROM dbo.orders
JOIN dbo.customers ON customers.id = orders.customer

-- case: qualified by schema
SELECT dbo.orders.id FROM dbo.orders
-- expect
SELECT orders.id FROM dbo.orders

-- case: nested join
SELECT * FROM orders o LEFT JOIN customers c JOIN heap h ON h.a = c.id ON c.id = o.customer
-- expect
SELECT *
FROM dbo.orders AS o
LEFT JOIN (dbo.customers AS c JOIN dbo.heap AS h ON h.a = c.id) ON c.id = o.customer

-- case: joins in parentheses
SELECT o.id FROM orders o LEFT JOIN (customers c JOIN heap h ON h.a = c.id) ON c.id = o.customer
-- expect
SELECT o.id
FROM dbo.orders AS o
LEFT JOIN (dbo.customers AS c JOIN dbo.heap AS h ON h.a = c.id) ON c.id = o.customer

-- case: join hints are dropped
SELECT o.id FROM orders o INNER HASH JOIN customers c ON c.id = o.customer OPTION (MAXDOP 1, RECOMPILE)
-- expect
SELECT o.id FROM dbo.orders AS o JOIN dbo.customers AS c ON c.id = o.customer

-- case: derived table
SELECT d.n FROM (SELECT COUNT(*) AS n FROM orders) AS d
-- expect
SELECT d.n FROM (SELECT count(*) AS n FROM dbo.orders) AS d

-- case: derived table with column names
SELECT d.x FROM (SELECT id FROM orders) AS d (x)
-- expect
SELECT d.x FROM (SELECT id FROM dbo.orders) AS d (x)

-- case: values
SELECT v.a FROM (VALUES (1, N'x'), (2, N'y')) AS v (a, b)
-- expect
SELECT v.a FROM (VALUES (1, 'x'), (2, 'y')) AS v (a, b)

-- case: cross apply
SELECT o.id, x.d FROM orders o CROSS APPLY (SELECT o.amount * 2 AS d) AS x
-- expect
SELECT o.id, x.d FROM dbo.orders AS o CROSS JOIN LATERAL (SELECT o.amount * 2 AS d) AS x

-- case: outer apply
SELECT o.id, x.name FROM orders o OUTER APPLY (SELECT TOP (1) c.name FROM customers c WHERE c.id = o.customer ORDER BY c.id) x
-- expect
SELECT o.id, x.name
FROM dbo.orders AS o
LEFT JOIN LATERAL (SELECT c.name
                   FROM dbo.customers AS c
                   WHERE c.id = o.customer
                   ORDER BY c.id
                   LIMIT 1) AS x ON true

-- case: table function
SELECT item FROM dbo.split('a,b') AS s
-- expect
SELECT item FROM dbo.split('a,b') AS s

-- case: apply of a table function
SELECT c.id, s.item FROM customers c CROSS APPLY dbo.split(c.name) s
-- expect
SELECT c.id, s.item FROM dbo.customers AS c CROSS JOIN LATERAL dbo.split(c.name) AS s

-- case: string split
SELECT value FROM STRING_SPLIT('a,b', ',')
-- expect
SELECT value FROM sys.string_split('a,b', ',') AS string_split

-- case: openjson
SELECT [key], value FROM OPENJSON('{"a":1}')
-- expect
SELECT key, value FROM sys.openjson('{"a":1}') AS openjson

-- case: openjson with
SELECT j.id, j.name FROM OPENJSON('[{"id":1}]') WITH (id int '$.id', name nvarchar(10)) AS j
-- expect
SELECT j.id, j.name
FROM (SELECT sys.convert_int(sys.json_value(item, '$.id'), 'nvarchar') AS id, sys.json_value(item, '$."name"')::varchar(10) AS name
      FROM sys.openjson_rows('[{"id":1}]') AS items (item)) AS j

-- case: generate series
SELECT value FROM GENERATE_SERIES(1, 5)
-- expect
SELECT value FROM sys.generate_series(1, 5) AS generate_series

-- case: cte
WITH big AS (SELECT id, amount FROM orders WHERE amount > 5) SELECT * FROM big
-- expect
WITH big AS (SELECT id, amount FROM dbo.orders WHERE amount > 5) SELECT * FROM big

-- case: cte with column names
WITH t (a, b) AS (SELECT id, name FROM orders) SELECT a FROM t
-- expect
WITH t (a, b) AS (SELECT id, name FROM dbo.orders) SELECT a FROM t

-- case: two ctes
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT y FROM b
-- expect
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT y FROM b

-- case: recursive cte
WITH tree AS (SELECT id, boss, 0 AS depth FROM customers WHERE boss IS NULL UNION ALL SELECT c.id, c.boss, t.depth + 1 FROM customers c JOIN tree t ON t.id = c.boss) SELECT id, depth FROM tree OPTION (MAXRECURSION 10)
-- expect
WITH RECURSIVE tree AS (SELECT id, boss, 0 AS depth, 0 AS "@level"
                        FROM dbo.customers
                        WHERE boss IS NULL
                        UNION ALL
                        SELECT c.id, c.boss, t.depth + 1, ssb_internal.recursion_level(t."@level", 10) AS "@level"
                        FROM dbo.customers AS c
                        JOIN tree AS t ON t.id = c.boss)
SELECT id, depth FROM tree

-- case: recursive cte that grows a string
WITH p AS (SELECT 1 AS i, CAST('a' AS varchar(20)) AS s UNION ALL SELECT i + 1, CAST(s + 'b' AS varchar(20)) FROM p WHERE i < 3) SELECT s FROM p
-- expect
WITH RECURSIVE p AS (SELECT 1 AS i, 'a'::text AS s, 0 AS "@level"
                     UNION ALL
                     SELECT i + 1, (s || 'b')::varchar(20)::text, ssb_internal.recursion_level(p."@level", 100) AS "@level"
                     FROM p
                     WHERE i < 3)
SELECT s FROM p

-- case: recursive cte that begins with NULL
WITH p AS (SELECT 1 AS i, NULL AS before UNION ALL SELECT i + 1, i FROM p WHERE i < 3) SELECT before FROM p
-- expect
WITH RECURSIVE p AS (SELECT 1 AS i, NULL::integer AS before, 0 AS "@level"
                     UNION ALL
                     SELECT i + 1, i, ssb_internal.recursion_level(p."@level", 100) AS "@level"
                     FROM p
                     WHERE i < 3)
SELECT before FROM p

-- case: union all
SELECT id FROM orders UNION ALL SELECT id FROM customers
-- expect
SELECT id FROM dbo.orders UNION ALL SELECT id FROM dbo.customers

-- case: union of mixed types
SELECT id FROM orders UNION SELECT city FROM customers WHERE 1 = 0
-- expect
SELECT id FROM dbo.orders
UNION
SELECT sys.convert_int(city) AS city FROM dbo.customers WHERE 1 = 0

-- case: except and intersect
SELECT id FROM orders EXCEPT SELECT id FROM customers INTERSECT SELECT a FROM heap
-- expect
SELECT id FROM dbo.orders
EXCEPT
(SELECT id FROM dbo.customers INTERSECT SELECT a FROM dbo.heap)

-- case: union with order
SELECT id, name FROM orders UNION ALL SELECT id, name FROM customers ORDER BY name
-- expect
SELECT id, name FROM dbo.orders
UNION ALL
SELECT id, name FROM dbo.customers
ORDER BY name NULLS FIRST

-- case: union in parentheses
(SELECT id FROM orders) UNION ALL (SELECT TOP 1 id FROM customers ORDER BY id)
-- expect
(SELECT id FROM dbo.orders) UNION ALL (SELECT id FROM dbo.customers ORDER BY id LIMIT 1)

-- case: row number
SELECT id, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY placed DESC) AS rn FROM orders
-- expect
SELECT id, row_number() OVER (PARTITION BY customer ORDER BY placed DESC) AS rn FROM dbo.orders

-- case: running total
SELECT id, SUM(amount) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS t FROM orders
-- expect
SELECT id, sum(amount) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS t
FROM dbo.orders

-- case: lag
SELECT id, LAG(amount, 1, 0) OVER (ORDER BY id) FROM orders
-- expect
SELECT id, lag(amount, 1, 0::numeric(10,2)) OVER (ORDER BY id) FROM dbo.orders

-- case: row number over nothing
SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS rn FROM heap
-- expect
SELECT row_number() OVER () AS rn FROM dbo.heap

-- case: average over a window
SELECT AVG(id) OVER (PARTITION BY customer), AVG(amount) OVER (ORDER BY id) FROM orders
-- expect
SELECT trunc(avg(id) OVER (PARTITION BY customer))::integer, trunc(avg(amount) OVER (ORDER BY id), 6)
FROM dbo.orders

-- case: average of an unknown column
SELECT AVG(a) FROM elsewhere
-- expect
SELECT sys.avg(a) FROM dbo.elsewhere

-- case: top 100 percent
SELECT TOP (100) PERCENT id FROM orders ORDER BY id
-- expect
SELECT id FROM dbo.orders ORDER BY id

-- case: ntile
SELECT NTILE(4) OVER (ORDER BY id) FROM orders
-- expect
SELECT ntile(4) OVER (ORDER BY id) FROM dbo.orders

-- case: exists
SELECT id FROM customers c WHERE EXISTS (SELECT * FROM orders WHERE customer = c.id)
-- expect
SELECT id FROM dbo.customers AS c WHERE EXISTS (SELECT * FROM dbo.orders WHERE customer = c.id)

-- case: in subquery
SELECT id FROM customers WHERE id IN (SELECT customer FROM orders)
-- expect
SELECT id FROM dbo.customers WHERE id IN (SELECT customer FROM dbo.orders)

-- case: scalar subquery
SELECT id, (SELECT COUNT(*) FROM orders o WHERE o.customer = c.id) AS n FROM customers c
-- expect
SELECT id, (SELECT count(*) FROM dbo.orders AS o WHERE o.customer = c.id) AS n
FROM dbo.customers AS c

-- case: pivot
SELECT p.* FROM (SELECT customer, done, amount FROM orders) AS s PIVOT (SUM(amount) FOR done IN ([0], [1])) AS p
-- expect
SELECT p.*
FROM (SELECT customer, sum(amount) FILTER (WHERE done = 0::sys.bit) AS "0", sum(amount) FILTER (WHERE done = 1::sys.bit) AS "1"
      FROM (SELECT customer, done, amount FROM dbo.orders) AS s
      GROUP BY customer) AS p

-- case: unpivot
SELECT u.id, u.k, u.v FROM (SELECT id, name, city FROM customers) AS s UNPIVOT (v FOR k IN (name, city)) AS u
-- expect
SELECT u.id, u.k, u.v
FROM (SELECT s.id, unpivoted.v, unpivoted.k
      FROM (SELECT id, name, city FROM dbo.customers) AS s
      CROSS JOIN LATERAL (VALUES ('name', name), ('city', city)) AS unpivoted (k, v)
      WHERE unpivoted.v IS NOT NULL) AS u

-- case: pivot of an unknown table
SELECT * FROM elsewhere PIVOT (SUM(a) FOR b IN ([x])) AS p
-- expect
case.sql:1:15: error: PIVOT over a table that the script does not create is not supported
    1 | SELECT * FROM elsewhere PIVOT (SUM(a) FOR b IN ([x])) AS p
      |               ^^^^^^^^^
hint: put a derived table that lists the columns in front of PIVOT

-- case: nolock
SELECT id FROM orders WITH (NOLOCK) WHERE id = 1
-- expect
SELECT id FROM dbo.orders WHERE id = 1

-- case: old nolock
SELECT id FROM orders (NOLOCK)
-- expect
SELECT id FROM dbo.orders

-- case: updlock
SELECT id FROM orders WITH (UPDLOCK, ROWLOCK) WHERE id = @id
-- expect
SELECT id FROM dbo.orders WHERE id = p.id FOR UPDATE

-- case: holdlock
SELECT id FROM orders WITH (HOLDLOCK) WHERE customer = @id
-- expect
LOCK TABLE dbo.orders IN SHARE MODE;
SELECT id FROM dbo.orders WHERE customer = p.id

-- case: holdlock in a part of a union
SELECT id FROM orders WITH (HOLDLOCK) WHERE id = @id UNION ALL SELECT id FROM customers WITH (UPDLOCK)
-- expect
SELECT id FROM (SELECT * FROM dbo.orders WHERE id = p.id FOR SHARE) AS orders
UNION ALL
SELECT id FROM (SELECT * FROM dbo.customers FOR UPDATE) AS customers

-- case: holdlock in parentheses of a union
(SELECT id FROM orders WITH (HOLDLOCK) WHERE id = @id) UNION (SELECT id FROM customers)
-- expect
(SELECT id FROM (SELECT * FROM dbo.orders WHERE id = p.id FOR SHARE) AS orders)
UNION
(SELECT id FROM dbo.customers)

-- case: repeatableread in joins
SELECT o.id FROM orders o WITH (REPEATABLEREAD) LEFT JOIN customers c WITH (REPEATABLEREAD) ON c.id = o.customer
-- expect
LOCK TABLE dbo.customers IN SHARE MODE;
SELECT o.id
FROM dbo.orders AS o
LEFT JOIN dbo.customers AS c ON c.id = o.customer
FOR SHARE OF o

-- case: readpast and updlock
SELECT TOP (1) id FROM orders WITH (UPDLOCK, READPAST) WHERE done = 0 ORDER BY id
-- expect
SELECT id FROM dbo.orders WHERE done = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED

-- case: readpast alone
SELECT id FROM orders WITH (READPAST)
-- expect
SELECT id FROM dbo.orders FOR KEY SHARE SKIP LOCKED

-- case: updlock on one of two
SELECT o.id FROM orders o WITH (UPDLOCK) JOIN customers c ON c.id = o.customer
-- expect
SELECT o.id FROM dbo.orders AS o JOIN dbo.customers AS c ON c.id = o.customer FOR UPDATE OF o

-- case: updlock under an aggregate
SELECT MAX(id) FROM orders WITH (UPDLOCK, HOLDLOCK) WHERE customer = @id
-- expect
LOCK TABLE dbo.orders IN SHARE ROW EXCLUSIVE MODE;
SELECT max(id) FROM (SELECT * FROM dbo.orders WHERE customer = p.id FOR UPDATE) AS orders

-- case: updlock on the outer side
SELECT c.id FROM customers c LEFT JOIN orders o WITH (UPDLOCK) ON o.customer = c.id
-- expect
SELECT c.id
FROM dbo.customers AS c
LEFT JOIN (SELECT * FROM dbo.orders AS o FOR UPDATE) AS o ON o.customer = c.id

-- case: tablockx
SELECT COUNT(*) FROM orders WITH (TABLOCKX, HOLDLOCK)
-- expect
LOCK TABLE dbo.orders IN EXCLUSIVE MODE;
SELECT count(*) FROM dbo.orders

-- case: holdlock over a key
SELECT name FROM orders WITH (HOLDLOCK) WHERE id = @id
-- expect
SELECT name FROM dbo.orders WHERE id = p.id FOR SHARE

-- case: updlock and holdlock over a key
SELECT name FROM orders AS o WITH (UPDLOCK, HOLDLOCK) WHERE (o.id = @id AND o.amount > 1)
-- expect
LOCK TABLE dbo.orders IN ROW EXCLUSIVE MODE;
PERFORM CASE WHEN EXISTS (SELECT 1 FROM dbo.orders AS o WHERE o.id = p.id FOR UPDATE) THEN NULL ELSE sys.lock_key('dbo.orders', concat_ws('/', rtrim(lower(p.id::text)))) END;
SELECT name FROM dbo.orders AS o WHERE (o.id = p.id AND o.amount > 1) FOR UPDATE

-- case: updlock and holdlock over computed keys
SELECT boss FROM customers WITH (XLOCK, SERIALIZABLE) WHERE id = ISNULL(@id, 0) + @@SPID
-- expect
LOCK TABLE dbo.customers IN ROW EXCLUSIVE MODE;
PERFORM CASE WHEN EXISTS (SELECT 1
                         FROM dbo.customers
                         WHERE id = COALESCE(p.id, 0) + pg_backend_pid()
                         FOR UPDATE) THEN NULL ELSE sys.lock_key('dbo.customers', concat_ws('/', rtrim(lower((COALESCE(p.id, 0) + pg_backend_pid())::text)))) END;
SELECT boss FROM dbo.customers WHERE id = COALESCE(p.id, 0) + pg_backend_pid() FOR UPDATE

-- case: tablockx in a subquery
SELECT name FROM customers WHERE NOT EXISTS (SELECT * FROM heap WITH (TABLOCKX) WHERE b = 'x')
-- expect
LOCK TABLE dbo.heap IN EXCLUSIVE MODE;
SELECT name FROM dbo.customers WHERE NOT EXISTS (SELECT * FROM dbo.heap WHERE b = 'x')

-- case: index hint
SELECT id FROM orders WITH (INDEX(ix_a), NOLOCK)
-- expect
SELECT id FROM dbo.orders

-- case: queue
SELECT TOP (5) conversation_handle, CAST(message_body AS nvarchar(max)) AS body FROM OrderQueue WITH (NOLOCK) ORDER BY queuing_order
-- expect
SELECT conversation_handle, sys.text_of(message_body) AS body
FROM dbo.orderqueue
ORDER BY queuing_order
LIMIT 5

-- case: queue star
SELECT * FROM OrderQueue
-- expect
SELECT * FROM dbo.orderqueue

-- case: sys view
SELECT name, is_broker_enabled FROM sys.databases WHERE name = DB_NAME()
-- expect
SELECT name, is_broker_enabled
FROM sys.databases
WHERE lower(name COLLATE "default") = lower(sys.db_name() COLLATE "default")

-- case: conversation endpoints
SELECT conversation_handle, state_desc FROM sys.conversation_endpoints WHERE far_service = N'x' AND state <> 'CD'
-- expect
SELECT conversation_handle, state_desc
FROM sys.conversation_endpoints
WHERE far_service = 'x' AND state <> 'CD'

-- case: information schema
SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'dbo'
-- expect
SELECT table_name
FROM sys.information_schema_tables AS tables
WHERE lower(table_schema) = 'dbo'

-- case: temporary table
SELECT * FROM #work
-- expect
SELECT * FROM pg_temp."#work"

-- case: temporary table of tempdb
SELECT id FROM tempdb..#work
-- expect
SELECT id FROM pg_temp."#work"

-- case: other schema
SELECT name FROM sales.regions
-- expect
SELECT name FROM sales.regions

-- case: other database
SELECT qty FROM Trader1.dbo.stock WHERE id = @id
-- expect
SELECT qty FROM trader1_dbo.stock WHERE id = p.id

-- case: other database without schema
SELECT qty FROM Trader1..stock
-- expect
SELECT qty FROM trader1_dbo.stock

-- case: unknown table
SELECT a, b + 'x', a + 1, a + a, c - 1 FROM elsewhere WHERE a = @id
-- expect
SELECT a, b || 'x', sys.add(a, 1), sys.add(a, a), sys.subtract(c, 1)
FROM dbo.elsewhere
WHERE a = p.id

-- case: unknown column type in a sum
SELECT b + N'-' + b FROM elsewhere
-- expect
SELECT b || '-' || b FROM dbo.elsewhere

-- case: table variable
SELECT id, name FROM @t WHERE id = @id
-- expect
SELECT id, name FROM unnest(p.t) AS t WHERE id = p.id

-- case: table variable with alias
SELECT o.id FROM orders o JOIN @t AS x ON x.id = o.id
-- expect
SELECT o.id FROM dbo.orders AS o JOIN unnest(p.t) AS x ON x.id = o.id

-- case: table variable beside a table of its name
SELECT * FROM @plain JOIN heap AS plain ON plain.a = 1
-- expect
SELECT * FROM unnest(p.plain) AS plain_rows JOIN dbo.heap AS plain ON plain.a = 1

-- case: variable that is a column too
SELECT @name, name FROM customers WHERE id = @id AND name = @name
-- expect
SELECT p.name, name FROM dbo.customers WHERE id = p.id AND name = p.name

-- case: no FROM but WHERE
SELECT 1 AS x WHERE @id = 1
-- expect
SELECT 1 AS x WHERE id = 1

-- case: a long query breaks into lines
SELECT o.id, o.name, c.name AS customer_name, c.city, o.amount FROM orders o JOIN customers c ON c.id = o.customer WHERE o.amount > 100 AND c.city = 'Oslo' ORDER BY o.placed DESC, o.id
-- expect
SELECT o.id, o.name, c.name AS customer_name, c.city, o.amount
FROM dbo.orders AS o
JOIN dbo.customers AS c ON c.id = o.customer
WHERE o.amount > 100 AND c.city = 'Oslo'
ORDER BY o.placed DESC, o.id

-- case: for browse
SELECT id FROM orders FOR BROWSE
-- expect
SELECT id FROM dbo.orders

-- case: column of the outer query
SELECT (SELECT o.name) FROM orders o
-- expect
SELECT (SELECT o.name) FROM dbo.orders AS o

-- case: a name is looked up once, not for each row
SELECT t.name FROM sys.tables t JOIN sys.schemas s ON s.schema_id = SCHEMA_ID('dbo') WHERE t.object_id = OBJECT_ID(@name) AND t.object_id = OBJECT_ID(t.name)
-- expect
SELECT t.name
FROM sys.tables AS t
JOIN sys.schemas AS s ON s.schema_id = (SELECT sys.schema_id('dbo'))
WHERE t.object_id = (SELECT sys.object_id(p.name)) AND t.object_id = sys.object_id(t.name)

-- case: named window
SELECT SUM(amount) OVER w FROM orders WINDOW w AS (ORDER BY id)
-- expect
SELECT sum(amount) OVER (ORDER BY id) FROM dbo.orders

-- case: percentile over
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount) OVER (PARTITION BY customer) FROM orders
-- expect
SELECT sys.percentile_cont(0.5, array_agg(amount::double precision) FILTER (WHERE amount IS NOT NULL) OVER (PARTITION BY customer ORDER BY amount ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))
FROM dbo.orders

-- case: tablesample
SELECT * FROM orders TABLESAMPLE (10 PERCENT)
-- expect
SELECT * FROM dbo.orders TABLESAMPLE SYSTEM (10::double precision)

-- case: a column in parentheses keeps its name, CURRENT_USER and its like have none
SELECT (name), CURRENT_USER, o.[user], [user], CURRENT_TIMESTAMP, ((o.name)) FROM (SELECT (name), 1 AS [user] FROM customers) AS o
-- expect
SELECT name, sys.user_name(), o."user", "user", (SELECT sys.getdate()), o.name
FROM (SELECT name, 1 AS "user" FROM dbo.customers) AS o

-- case: HAVING and ORDER BY of what is grouped
SELECT a FROM heap GROUP BY a HAVING DATEPART(year, MAX(c)) > a AND EXISTS (SELECT was FROM audit WHERE heap.a = id) ORDER BY MAX(b), heap.a
-- expect
SELECT a
FROM dbo.heap
GROUP BY a
HAVING sys.datepart('year', max(c)) > a AND EXISTS (SELECT was FROM dbo.audit WHERE heap.a = id)
ORDER BY max(b) NULLS FIRST, heap.a NULLS FIRST

-- SELECT @x = … and UPDATE … SET @x = ….
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

-- case: no relation
SELECT @id = 1, @name = N'x'
-- expect
id := 1;
name := 'x'

-- case: no relation, one after the other
SELECT @id = 1, @n = @id + 1
-- expect
id := 1;
n := id + 1

-- case: compound
SELECT @n += 5
-- expect
n := n + 5

-- case: cut to the variable
SELECT @name = @list
-- expect
name := list::varchar(50)

-- case: from a row
SELECT @name = name FROM customers WHERE id = @id
-- expect
FOR next_row IN
SELECT name::varchar(50) AS name FROM dbo.customers WHERE id = p.id
LOOP name := next_row.name; END LOOP

-- case: two variables
SELECT @name = name, @total = amount FROM orders WHERE id = 1
-- expect
FOR next_row IN
SELECT name::varchar(50) AS name, amount::numeric(10,2) AS total FROM dbo.orders WHERE id = 1
LOOP name := next_row.name; total := next_row.total; END LOOP

-- case: top one
SELECT TOP (1) @id = id FROM orders ORDER BY amount DESC
-- expect
FOR next_row IN
SELECT id::integer AS id FROM dbo.orders ORDER BY amount DESC NULLS LAST LIMIT 1
LOOP id := next_row.id; END LOOP

-- case: last row wins
SELECT @id = id FROM orders ORDER BY amount
-- expect
FOR next_row IN
SELECT id::integer AS id FROM dbo.orders ORDER BY amount NULLS FIRST
LOOP id := next_row.id; END LOOP

-- case: aggregate
SELECT @n = COUNT(*), @total = SUM(amount) FROM orders
-- expect
SELECT count(*), sum(amount) FROM dbo.orders
INTO n, total

-- case: aggregate with a converted type
SELECT @name = MAX(id) FROM orders
-- expect
SELECT max(id)::varchar(50) FROM dbo.orders
INTO name

-- case: grouped aggregate
SELECT @n = COUNT(*) FROM orders GROUP BY customer
-- expect
FOR next_row IN
SELECT count(*)::integer AS n FROM dbo.orders GROUP BY customer
LOOP n := next_row.n; END LOOP

-- case: growing a string
SELECT @list = @list + name + N',' FROM customers ORDER BY id
-- expect
FOR next_row IN
SELECT name::varchar AS c1 FROM dbo.customers ORDER BY id
LOOP list := list || next_row.c1 || ','; END LOOP

-- case: growing with compound
SELECT @list += name FROM customers
-- expect
FOR next_row IN
SELECT name::varchar AS c1 FROM dbo.customers
LOOP list := list || next_row.c1; END LOOP

-- case: numbering
SELECT @n = @n + 1, @id = @n FROM orders
-- expect
FOR next_row IN
SELECT 1 AS c1 FROM dbo.orders
LOOP n := n + 1; id := n; END LOOP

-- case: sum through a variable
SELECT @total = ISNULL(@total, 0) + amount FROM orders WHERE customer = @id
-- expect
FOR next_row IN
SELECT amount::numeric AS c1 FROM dbo.orders WHERE customer = p.id
LOOP total := COALESCE(total, 0.00) + next_row.c1; END LOOP

-- case: lifting an aggregate
SELECT @n = @n + COUNT(*) FROM orders
-- expect
FOR next_row IN
SELECT count(*)::integer AS c1 FROM dbo.orders
LOOP n := n + next_row.c1; END LOOP

-- case: lifting a date part
SELECT @n = @n + DATEDIFF(day, placed, GETDATE()) FROM orders
-- expect
FOR next_row IN
SELECT sys.datediff('day', placed, (SELECT sys.getdate()))::integer AS c1 FROM dbo.orders
LOOP n := n + next_row.c1; END LOOP

-- case: where without FROM
SELECT @id = 5 WHERE @n = 1
-- expect
FOR next_row IN
SELECT 5 AS id WHERE n = 1
LOOP id := next_row.id; END LOOP

-- case: from a table variable
SELECT @name = name FROM @t WHERE id = @id
-- expect
FOR next_row IN
SELECT name::varchar(50) AS name FROM unnest(p.t) AS t WHERE id = p.id
LOOP name := next_row.name; END LOOP

-- case: from a subquery
SELECT @n = (SELECT COUNT(*) FROM orders)
-- expect
n := (SELECT count(*) FROM dbo.orders)

-- case: with a cte
WITH c AS (SELECT MAX(id) AS m FROM orders) SELECT @id = m FROM c
-- expect
FOR next_row IN
WITH c AS (SELECT max(id) AS m FROM dbo.orders) SELECT m::integer AS id FROM c
LOOP id := next_row.id; END LOOP

-- case: from xml
SELECT @n = @x.value('(/a/b/@i)[1]', 'int')
-- expect
n := sys.convert_int(sys.xml_value(x, '(/a/b/@i)[1]'), 'nvarchar')

-- case: from xml with namespaces
WITH XMLNAMESPACES ('urn:a' AS p, DEFAULT 'urn:d') SELECT @name = @x.value('(/p:a/b)[1]', 'nvarchar(50)')
-- expect
name := sys.xml_value(x, '(/p:a/b)[1]', '{"p": "urn:a", "": "urn:d"}')::varchar(50)

-- case: with a lock
SELECT @h = conversation_handle FROM OrderQueue WITH (NOLOCK)
-- expect
FOR next_row IN
SELECT conversation_handle::uuid AS h FROM dbo.orderqueue
LOOP h := next_row.h; END LOOP

-- case: with holdlock
SELECT @id = id FROM orders WITH (HOLDLOCK) WHERE customer = @id
-- expect
LOCK TABLE dbo.orders IN SHARE MODE;
FOR next_row IN
SELECT id::integer AS id FROM dbo.orders WHERE customer = p.id
LOOP id := next_row.id; END LOOP

-- case: variable of a column name
SELECT @name = name FROM customers WHERE name = @name
-- expect
FOR next_row IN
SELECT name::varchar(50) AS name FROM dbo.customers WHERE name = p.name
LOOP name := next_row.name; END LOOP

-- case: column of an unknown table
SELECT @n = a, @name = b, @h = d FROM elsewhere
-- expect
FOR next_row IN
SELECT sys.convert_int(a) AS n, sys.convert_nvarchar(b, 50) AS name, d AS h FROM dbo.elsewhere
LOOP n := next_row.n; name := next_row.name; h := next_row.h; END LOOP

-- case: update: new value
UPDATE keyed SET @n = v = v + 1 WHERE k = 1
-- expect
FOR next_row IN
UPDATE dbo.keyed SET v = v + 1 WHERE k = 1 RETURNING v::integer AS n
LOOP n := next_row.n; END LOOP

-- case: update: old value
UPDATE keyed SET @n = v, v = v + 1 WHERE k = 1
-- expect
FOR next_row IN
UPDATE dbo.keyed AS changing
SET v = changes.v2
FROM (SELECT keyed.k AS k1, v AS v1, v + 1 AS v2 FROM dbo.keyed WHERE k = 1 FOR UPDATE) AS changes
WHERE changing.k = changes.k1
RETURNING sys.convert_int(changes.v1) AS n
LOOP n := next_row.n; END LOOP

-- case: update: value of another column
UPDATE orders SET @name = name, amount = 0 WHERE id = 1
-- expect
FOR next_row IN
UPDATE dbo.orders SET amount = 0 WHERE id = 1 RETURNING name::varchar(50) AS name
LOOP name := next_row.name; END LOOP

-- case: update: only variables
UPDATE keyed SET @n = v WHERE k = 1
-- expect
FOR next_row IN
SELECT v::integer AS n FROM dbo.keyed WHERE k = 1
LOOP n := next_row.n; END LOOP

-- case: update: running total
UPDATE orders SET amount = 1, @n = @n + customer
-- expect
FOR next_row IN
UPDATE dbo.orders SET amount = 1 RETURNING customer::integer AS n_1
LOOP n := n + next_row.n_1; END LOOP

-- case: update: rows depend on the variable
UPDATE keyed SET @n = v = @n + 1
-- expect
case.sql:1:27: error: an UPDATE whose rows depend on a variable that it assigns is not supported
    1 | UPDATE keyed SET @n = v = @n + 1
      |                           ^^
hint: number the rows with ROW_NUMBER() in a common table expression

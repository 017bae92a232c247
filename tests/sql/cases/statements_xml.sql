-- XML methods, .nodes(), FOR XML.
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

-- case: value
SELECT @x.value('(/a/b)[1]', 'nvarchar(20)') AS v
-- expect
SELECT sys.xml_value(x, '(/a/b)[1]')::varchar(20) AS v

-- case: value of every type
SELECT @x.value('(/a/b/@i)[1]', 'int'), @x.value('(/a)[1]', 'bit'), @x.value('(/a)[1]', 'varbinary(max)'), @x.value('(/a)[1]', 'datetime'), @x.value('(/a)[1]', 'uniqueidentifier'), @x.value('(/a)[1]', 'decimal(10, 2)')
-- expect
SELECT sys.convert_int(sys.xml_value(x, '(/a/b/@i)[1]'), 'nvarchar'), sys.xml_boolean(sys.xml_value(x, '(/a)[1]')), sys.xml_base64(sys.xml_value(x, '(/a)[1]'), '(/a)[1]'), sys.convert_datetime(sys.xml_value(x, '(/a)[1]'), 0, 'nvarchar'), sys.convert_uniqueidentifier(sys.xml_value(x, '(/a)[1]')), sys.convert_decimal(sys.xml_value(x, '(/a)[1]'), 10, 2, 'nvarchar')

-- case: query and exist
SELECT @x.query('/a/b'), @x.exist('/a/c')
-- expect
SELECT sys.xml_query(x, '/a/b'), sys.xml_exist(x, '/a/c')

-- case: chained
SELECT @x.query('/a').value('(/a/b)[1]', 'varchar(5)')
-- expect
SELECT sys.xml_value(sys.xml_query(x, '/a'), '(/a/b)[1]')::varchar(5)

-- case: on a column
SELECT body.value('(/a)[1]', 'int'), o.body.exist('/a') FROM orders o WHERE o.body.exist('/a/b') = 1
-- expect
SELECT sys.convert_int(sys.xml_value(body, '(/a)[1]'), 'nvarchar'), sys.xml_exist(o.body, '/a')
FROM dbo.orders AS o
WHERE sys.xml_exist(o.body, '/a/b') = 1

-- case: on a cast
SELECT CAST(@b AS xml).value('(/a)[1]', 'nvarchar(max)')
-- expect
SELECT sys.xml_value(sys.xml_of(b), '(/a)[1]')

-- case: on a subquery
SELECT (SELECT 1 AS a FOR XML PATH('r'), TYPE).value('(/r/a)[1]', 'int')
-- expect
SELECT sys.convert_int(sys.xml_value((SELECT sys.xml_of_content(sys.xml_element('r', '',
                                                                concat(sys.xml_leaf('a', sys.xml_atom(1)))))), '(/r/a)[1]'), 'nvarchar')

-- case: variable in a path
SELECT @x.value('(/a/b[@i=sql:variable("@id")])[1]', 'int')
-- expect
SELECT sys.convert_int(sys.xml_value(x, '(/a/b[@i=sql:variable("@id")])[1]', NULL, jsonb_build_object('@id', id)), 'nvarchar')

-- case: column in a path
SELECT @x.exist('/a/b[@i=sql:column("c.id")]') FROM customers c
-- expect
SELECT sys.xml_exist(p.x, '/a/b[@i=sql:column("c.id")]', NULL, jsonb_build_object('c.id', c.id))
FROM dbo.customers AS c

-- case: namespaces
WITH XMLNAMESPACES ('urn:p' AS p) SELECT @x.value('(/p:a)[1]', 'int')
-- expect
SELECT sys.convert_int(sys.xml_value(x, '(/p:a)[1]', '{"p": "urn:p"}'), 'nvarchar')

-- case: namespace prolog
SELECT @x.value('declare namespace p="urn:p"; (/p:a)[1]', 'int')
-- expect
SELECT sys.convert_int(sys.xml_value(x, 'declare namespace p="urn:p"; (/p:a)[1]'), 'nvarchar')

-- case: nodes of a variable
SELECT T.c.value('@i', 'int') AS i FROM @x.nodes('/a/b') AS T(c)
-- expect
SELECT sys.convert_int(sys.xml_value(t.c, '@i'), 'nvarchar') AS i
FROM sys.xml_nodes(x, '/a/b', upward => 0) AS t (c)

-- case: nodes with a query
SELECT n.query('.'), n.value('.', 'varchar(10)') FROM @x.nodes('/a/b') AS t(n) WHERE n.exist('@i') = 1
-- expect
SELECT sys.xml_query(n, '.'), sys.xml_value(n, '.')::varchar(10)
FROM sys.xml_nodes(x, '/a/b', upward => 0) AS t (n)
WHERE sys.xml_exist(n, '@i') = 1

-- case: nodes looking up
SELECT c.value('../@k', 'int'), c.value('../../@z', 'int') FROM @x.nodes('/a/b') AS T(c)
-- expect
SELECT sys.convert_int(sys.xml_value(c, '../@k'), 'nvarchar'), sys.convert_int(sys.xml_value(c, '../../@z'), 'nvarchar')
FROM sys.xml_nodes(x, '/a/b', upward => 0) AS t (c)

-- case: nodes of a column
SELECT o.id, T.c.value('.', 'int') FROM orders o CROSS APPLY o.body.nodes('/a') AS T(c)
-- expect
SELECT o.id, sys.convert_int(sys.xml_value(t.c, '.'), 'nvarchar')
FROM dbo.orders AS o
CROSS JOIN LATERAL sys.xml_nodes(o.body, '/a', upward => 0) AS t (c)

-- case: nodes of nodes
SELECT U.d.value('@i', 'int') FROM @x.nodes('/a') AS T(c) CROSS APPLY T.c.nodes('b') AS U(d)
-- expect
SELECT sys.convert_int(sys.xml_value(u.d, '@i'), 'nvarchar')
FROM sys.xml_nodes(x, '/a', upward => 0) AS t (c)
CROSS JOIN LATERAL sys.xml_nodes(t.c, 'b', upward => 0) AS u (d)

-- case: outer apply of nodes
SELECT o.id, c.value('.', 'int') FROM orders o OUTER APPLY o.body.nodes('/a/b') AS T(c)
-- expect
SELECT o.id, sys.convert_int(sys.xml_value(c, '.'), 'nvarchar')
FROM dbo.orders AS o
LEFT JOIN LATERAL sys.xml_nodes(o.body, '/a/b', upward => 0) AS t (c) ON true

-- case: insert of nodes
INSERT INTO heap (a) SELECT c.value('@i', 'int') FROM @x.nodes('/a/b') T(c)
-- expect
INSERT INTO dbo.heap (a)
SELECT sys.convert_int(sys.xml_value(c, '@i'), 'nvarchar')
FROM sys.xml_nodes(x, '/a/b', upward => 0) AS t (c)

-- case: count of nodes
SELECT @n = COUNT(*) FROM @x.nodes('//b') AS T(c)
-- expect
SELECT count(*) FROM sys.xml_nodes(x, '//b', upward => 0) AS t (c)
INTO n

-- case: for xml path
SELECT id AS '@id', name, city AS 'address/city' FROM customers FOR XML PATH('customer'), ROOT('customers'), TYPE
-- expect
SELECT sys.xml_of_content(sys.xml_element('customers', '',
                          string_agg(sys.xml_element('customer', concat(sys.xml_attribute('id', sys.xml_atom(id))),
                                     concat(sys.xml_leaf('name', sys.xml_atom(name)),
                                            sys.xml_group('address', '', concat(sys.xml_leaf('city', sys.xml_atom(city)))))), '')))
FROM dbo.customers

-- case: for xml path without rows
SELECT 1 AS a, NULL AS b FOR XML PATH('r')
-- expect
SELECT d.document
FROM (SELECT sys.xml_element('r', '',
             concat(sys.xml_leaf('a', sys.xml_atom(1)),
                    sys.xml_leaf('b', sys.xml_atom(NULL::text))))) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml path without name
SELECT name FROM customers FOR XML PATH
-- expect
SELECT d.document
FROM (SELECT string_agg(sys.xml_element('row', '',
                        concat(sys.xml_leaf('name', sys.xml_atom(name)))), '')
      FROM dbo.customers) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml path empty
SELECT ',' + name FROM customers FOR XML PATH('')
-- expect
SELECT d.document
FROM (SELECT string_agg(concat(sys.xml_atom(',' || name)), '') FROM dbo.customers) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml path ordered
SELECT name AS [data()] FROM customers ORDER BY name DESC FOR XML PATH('')
-- expect
SELECT d.document
FROM (SELECT string_agg(concat(concat_ws(' ', sys.xml_atom(name))), ' ' ORDER BY name DESC NULLS LAST)
      FROM dbo.customers) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml path special columns
SELECT 1 AS '@a', 'x' AS 'text()', 'c' AS 'comment()', '<z/>' AS '*', 2 AS 'n/@m', 3 AS 'n/o' FOR XML PATH('r')
-- expect
SELECT d.document
FROM (SELECT sys.xml_element('r', concat(sys.xml_attribute('a', sys.xml_atom(1))),
             concat(sys.xml_atom('x'),
                    sys.xml_comment('c'),
                    sys.xml_atom('<z/>'),
                    sys.xml_group('n', concat(sys.xml_attribute('m', sys.xml_atom(2))), concat(sys.xml_leaf('o', sys.xml_atom(3))))))) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml path of equal names
SELECT 1 AS td, 2 AS td, '', 3 AS td FOR XML PATH('tr')
-- expect
SELECT d.document
FROM (SELECT sys.xml_element('tr', '',
             concat(sys.xml_group('td', '', concat(sys.xml_atom(1), sys.xml_atom(2))),
                    sys.xml_atom(''),
                    sys.xml_leaf('td', sys.xml_atom(3))))) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml raw
SELECT id, name FROM customers FOR XML RAW('c')
-- expect
SELECT d.document
FROM (SELECT string_agg(sys.xml_element('c', concat(sys.xml_attribute('id', sys.xml_atom(id)),
                                                    sys.xml_attribute('name', sys.xml_atom(name))),
                        ''), '')
      FROM dbo.customers) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml raw elements
SELECT id, city FROM customers FOR XML RAW, ELEMENTS XSINIL, ROOT('r')
-- expect
SELECT d.document
FROM (SELECT sys.xml_element('r', ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
             string_agg(sys.xml_element('row', '',
                        concat(sys.xml_leaf('id', sys.xml_atom(id), true),
                               sys.xml_leaf('city', sys.xml_atom(city), true))), ''))
      FROM dbo.customers) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml auto
SELECT id, name FROM customers AS c FOR XML AUTO
-- expect
SELECT d.document
FROM (SELECT string_agg(sys.xml_element('c', concat(sys.xml_attribute('id', sys.xml_atom(id)),
                                                    sys.xml_attribute('name', sys.xml_atom(name))),
                        ''), '')
      FROM dbo.customers AS c) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml auto nested
SELECT c.id, o.id, o.amount FROM customers c JOIN orders o ON o.customer = c.id ORDER BY c.id FOR XML AUTO, TYPE
-- expect
SELECT sys.xml_of_content(sys.xml_nested(ARRAY['c', 'o'], array_agg(ARRAY[concat('<c', sys.xml_attribute('id', sys.xml_atom(c.id)), '>'), concat('<o', sys.xml_attribute('id', sys.xml_atom(o.id)), sys.xml_attribute('amount', sys.xml_atom(o.amount)), '>')] ORDER BY c.id)))
FROM dbo.customers AS c
JOIN dbo.orders AS o ON o.customer = c.id

-- case: for xml nested
SELECT c.name, (SELECT o.id AS '@id' FROM orders o WHERE o.customer = c.id FOR XML PATH('order'), TYPE) AS orders FROM customers c FOR XML PATH('customer')
-- expect
SELECT d.document
FROM (SELECT string_agg(sys.xml_element('customer', '',
                        concat(sys.xml_leaf('name', sys.xml_atom(c.name)),
                               sys.xml_leaf('orders', sys.xml_atom((SELECT sys.xml_of_content(string_agg(sys.xml_element('order', concat(sys.xml_attribute('id', sys.xml_atom(o.id))),
                                                                                                         ''), ''))
                                                                    FROM dbo.orders AS o
                                                                    WHERE o.customer = c.id))))), '')
      FROM dbo.customers AS c) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml of a group
SELECT city, COUNT(*) AS n FROM customers GROUP BY city FOR XML PATH('g')
-- expect
SELECT d.document
FROM (SELECT string_agg(sys.xml_element('g', '',
                        concat(sys.xml_leaf('city', sys.xml_atom(r.c1)),
                               sys.xml_leaf('n', sys.xml_atom(r.c2)))), '')
      FROM (SELECT city, count(*) AS n FROM dbo.customers GROUP BY city) AS r (c1, c2)) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml of top
SELECT TOP (1) name FROM customers ORDER BY id FOR XML PATH('c')
-- expect
SELECT d.document
FROM (SELECT string_agg(sys.xml_element('c', '',
                        concat(sys.xml_leaf('name', sys.xml_atom(r.c1)))), '')
      FROM (SELECT name FROM dbo.customers ORDER BY id LIMIT 1) AS r (c1)) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml of a union
SELECT 1 AS a UNION ALL SELECT 2 FOR XML PATH('r')
-- expect
SELECT d.document
FROM (SELECT string_agg(sys.xml_element('r', '', concat(sys.xml_leaf('a', sys.xml_atom(r.c1)))), '')
      FROM (SELECT 1 AS a UNION ALL SELECT 2) AS r (c1)) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml with namespaces
WITH XMLNAMESPACES ('urn:p' AS p) SELECT 1 AS 'p:a' FOR XML PATH('p:r'), ROOT('root')
-- expect
SELECT d.document
FROM (SELECT sys.xml_element('root', ' xmlns:p="urn:p"',
             sys.xml_element('p:r', '', concat(sys.xml_leaf('p:a', sys.xml_atom(1)))))) AS d (document)
WHERE d.document IS NOT NULL

-- case: for xml into a variable
SELECT @x = (SELECT 'O' AS [@Status], @name AS [@Name] FOR XML PATH('Response'), TYPE)
-- expect
x := (SELECT sys.xml_of_content(sys.xml_element('Response', concat(sys.xml_attribute('Status', sys.xml_atom('O')),
                                                              sys.xml_attribute('Name', sys.xml_atom(name))),
                           '')))

-- case: for xml of a binary
SELECT @b AS b, @h AS h FOR XML PATH('r'), BINARY BASE64
-- expect
SELECT d.document
FROM (SELECT sys.xml_element('r', '',
             concat(sys.xml_leaf('b', sys.xml_atom(b)), sys.xml_leaf('h', sys.xml_atom(h))))) AS d (document)
WHERE d.document IS NOT NULL

-- case: attribute behind an element
SELECT 1 AS a, 2 AS '@b', 3 AS '@c' FOR XML PATH
-- expect
case.sql:1:8: error 6852: Attribute-centric column '@b' must not come after a non-attribute-centric sibling in XML hierarchy in FOR XML PATH.
    1 | SELECT 1 AS a, 2 AS '@b', 3 AS '@c' FOR XML PATH
      |        ^

-- case: star of an unknown table
SELECT * FROM elsewhere FOR XML AUTO
-- expect
case.sql:1:8: error: FOR XML over '*' of a table that the script does not create is not supported
    1 | SELECT * FROM elsewhere FOR XML AUTO
      |        ^
hint: name the columns

-- case: for json path
SELECT id, customer AS [who.name], 1 AS [who.n] FROM orders ORDER BY id FOR JSON PATH, ROOT('orders')
-- expect
SELECT d.document
FROM (SELECT '{' || '"orders":[' || string_agg(concat('{', concat_ws(',', '"id":' || sys.json_atom(id), '"who":{' || nullif(concat_ws(',', '"name":' || sys.json_atom(customer), '"n":' || sys.json_atom(1)), '') || '}'), '}'), ',' ORDER BY id) || ']}'
      FROM dbo.orders) AS d (document)
WHERE d.document IS NOT NULL

-- case: for json auto nests by table
SELECT c.id, c.city, o.amount FROM customers AS c JOIN orders AS o ON o.customer = c.id ORDER BY c.id FOR JSON AUTO, INCLUDE_NULL_VALUES
-- expect
SELECT d.document
FROM (SELECT '[' || sys.json_auto(ARRAY['"o"'],
                                  array_agg(ARRAY[concat_ws(',', '"id":' || coalesce(sys.json_atom(c.id), 'null'), '"city":' || coalesce(sys.json_atom(c.city), 'null')),
                                                  concat_ws(',', '"amount":' || coalesce(sys.json_atom(o.amount), 'null'))] ORDER BY c.id)) || ']'
      FROM dbo.customers AS c
      JOIN dbo.orders AS o ON o.customer = c.id) AS d (document)
WHERE d.document IS NOT NULL

-- What is refused or wrong, with its place.
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

-- case: names of more than four parts
SELECT * FROM a.b.c.d.e
-- expect
case.sql:1:15: error 117: The object name 'a.b.c.d.e' contains more than the maximum number of prefixes. The maximum is 3.
    1 | SELECT * FROM a.b.c.d.e
      |               ^

-- case: one that is inserted into
INSERT a.b..d.e VALUES (1)
-- expect
case.sql:1:8: error: the linked server 'a' is not supported
    1 | INSERT a.b..d.e VALUES (1)
      |        ^^^^^^^^

-- case: nor is the table that has the rest of the name meant
TRUNCATE TABLE srv.trader1.dbo.stock
-- expect
case.sql:1:1: error: the linked server 'srv' is not supported
    1 | TRUNCATE TABLE srv.trader1.dbo.stock
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: nor altered
ALTER TABLE srv.trader1.dbo.stock ADD x int
-- expect
case.sql:1:1: error: the linked server 'srv' is not supported
    1 | ALTER TABLE srv.trader1.dbo.stock ADD x int
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: nor merged
MERGE srv.trader1.dbo.stock AS t USING (SELECT 1 a) s ON t.id = s.a WHEN MATCHED THEN DELETE;
-- expect
case.sql:1:1: error: the linked server 'srv' is not supported
    1 | MERGE srv.trader1.dbo.stock AS t USING (SELECT 1 a) s ON t.id = s.a WHEN MATCHED THEN DELETE;
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: nor changed
UPDATE srv.trader1.dbo.stock SET qty = 1
-- expect
case.sql:1:8: error: the linked server 'srv' is not supported
    1 | UPDATE srv.trader1.dbo.stock SET qty = 1
      |        ^^^^^^^^^^^^^^^^^^^^^

-- case: linked server
SELECT * FROM srv.db.dbo.t
-- expect
case.sql:1:15: error: the linked server 'srv' is not supported
    1 | SELECT * FROM srv.db.dbo.t
      |               ^^^

-- case: openrowset
SELECT * FROM OPENROWSET('SQLNCLI', 'x', 'y')
-- expect
case.sql:1:15: error: OPENROWSET is not supported: reading other data sources is not supported
    1 | SELECT * FROM OPENROWSET('SQLNCLI', 'x', 'y')
      |               ^^^^^^^^^^

-- case: openxml
SELECT * FROM OPENXML(@id, '/a', 1)
-- expect
case.sql:1:15: error: OPENXML needs its columns behind WITH, or a table
    1 | SELECT * FROM OPENXML(@id, '/a', 1)
      |               ^^^^^^^
hint: the edge table is not made

-- case: openxml with the columns of a table
SELECT * FROM OPENXML(@id, '/a') WITH dbo.t
-- expect
case.sql:1:39: error: OPENXML with the columns of a table that the script does not create is not supported
    1 | SELECT * FROM OPENXML(@id, '/a') WITH dbo.t
      |                                       ^^^
hint: write its columns in parentheses behind WITH

-- case: a table whose name is like a keyword
SELECT a FROM Orders COMPUTE SUM(a)
-- expect
case.sql:1:22: error 156: Incorrect syntax near the keyword 'COMPUTE'.
    1 | SELECT a FROM Orders COMPUTE SUM(a)
      |                      ^^^^^^^
hint: SQL Server 2012 removed COMPUTE: write GROUP BY … WITH ROLLUP, or a second query

-- case: openquery
SELECT * FROM OPENQUERY(srv, 'x')
-- expect
case.sql:1:15: error: OPENQUERY is not supported: linked servers are not supported
    1 | SELECT * FROM OPENQUERY(srv, 'x')
      |               ^^^^^^^^^

-- case: limit
SELECT id FROM orders LIMIT 5
-- expect
case.sql:1:29: error 102: Incorrect syntax near '5'.
    1 | SELECT id FROM orders LIMIT 5
      |                             ^
hint: T-SQL has no LIMIT: write TOP (n) after SELECT, or OFFSET … FETCH after ORDER BY

-- case: postgres cast
SELECT id::text FROM orders
-- expect
case.sql:1:8: error: a method of a CLR type (::) is not supported
    1 | SELECT id::text FROM orders
      |        ^^

-- case: old outer join
SELECT * FROM orders o, customers c WHERE o.customer *= c.id
-- expect
case.sql:1:54: error 102: Incorrect syntax near '*='.
    1 | SELECT * FROM orders o, customers c WHERE o.customer *= c.id
      |                                                      ^^
hint: SQL Server 2012 removed the joins *= and =*: write LEFT JOIN … ON or RIGHT JOIN … ON

-- case: no old outer join the other way round
SELECT * FROM orders o, customers c WHERE o.customer =* c.id
-- expect
case.sql:1:57: error 102: Incorrect syntax near 'c'.
    1 | SELECT * FROM orders o, customers c WHERE o.customer =* c.id
      |                                                         ^
hint: SQL Server 2012 removed the joins *= and =*: write LEFT JOIN … ON or RIGHT JOIN … ON

-- case: mixed assignment and columns
SELECT @id = id, name FROM orders
-- expect
case.sql:1:18: error 141: A SELECT statement that assigns a value to a variable must not be combined with data-retrieval operations.
    1 | SELECT @id = id, name FROM orders
      |                  ^^^^

-- case: undeclared variable
SELECT @nope FROM orders
-- expect
case.sql:1:8: error 137: Must declare the scalar variable "@nope".
    1 | SELECT @nope FROM orders
      |        ^^^^^

-- case: undeclared table variable
SELECT * FROM @nope
-- expect
case.sql:1:15: error 1087: Must declare the table variable "@nope".
    1 | SELECT * FROM @nope
      |               ^^^^^

-- case: unknown function
SELECT frobnicate(id) FROM orders
-- expect
case.sql:1:8: error 195: 'frobnicate' is not a recognized built-in function name.
    1 | SELECT frobnicate(id) FROM orders
      |        ^^^^^^^^^^

-- case: missing FROM item
SELECT id FROM WHERE id = 1
-- expect
case.sql:1:16: error 156: Incorrect syntax near the keyword 'WHERE'.
    1 | SELECT id FROM WHERE id = 1
      |                ^^^^^

-- case: missing expression
SELECT id, FROM orders
-- expect
case.sql:1:12: error 156: Incorrect syntax near the keyword 'FROM'.
    1 | SELECT id, FROM orders
      |            ^^^^

-- case: missing ON
SELECT * FROM orders o JOIN customers c
-- expect
case.sql:1:29: error 102: JOIN needs ON
    1 | SELECT * FROM orders o JOIN customers c
      |                             ^^^^^^^^^

-- case: missing parenthesis
SELECT (id FROM orders
-- expect
case.sql:1:12: error 156: Incorrect syntax near the keyword 'FROM'.
    1 | SELECT (id FROM orders
      |            ^^^^

-- case: two statements
SELECT 1 AS a 2
-- expect
case.sql:1:15: error 102: Incorrect syntax near '2'.
    1 | SELECT 1 AS a 2
      |               ^
hint: something is missing before '2', a comma or an operator maybe

-- case: derived table without alias
SELECT * FROM (SELECT 1 AS a)
-- expect
case.sql:1:23: error 102: a subquery in FROM needs an alias
    1 | SELECT * FROM (SELECT 1 AS a)
      |                       ^

-- case: derived table with an unnamed column
SELECT * FROM (SELECT 1) AS d
-- expect
case.sql:1:23: error 8155: No column name was specified for column 1 of 'd'.
    1 | SELECT * FROM (SELECT 1) AS d
      |                       ^

-- case: union of different widths
SELECT 1 UNION SELECT 1, 2
-- expect
case.sql:1:23: error 205: All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in their target lists.
    1 | SELECT 1 UNION SELECT 1, 2
      |                       ^

-- case: fetch without offset
SELECT id FROM orders ORDER BY id FETCH NEXT 1 ROWS ONLY
-- expect
case.sql:1:46: error 153: Invalid usage of the option NEXT in the FETCH statement.
    1 | SELECT id FROM orders ORDER BY id FETCH NEXT 1 ROWS ONLY
      |                                              ^

-- case: for xml explicit
SELECT 1 AS tag FOR XML EXPLICIT
-- expect
case.sql:1:8: error 6801: FOR XML EXPLICIT requires at least three columns, including the tag column, the parent column, and at least one data column.
    1 | SELECT 1 AS tag FOR XML EXPLICIT
      |        ^

-- case: for json with a root and without an array
SELECT 1 AS a FOR JSON PATH, ROOT('r'), WITHOUT_ARRAY_WRAPPER
-- expect
case.sql:1:15: error 13620: ROOT option and WITHOUT_ARRAY_WRAPPER option cannot be used together in FOR JSON. Remove one of these options.
    1 | SELECT 1 AS a FOR JSON PATH, ROOT('r'), WITHOUT_ARRAY_WRAPPER
      |               ^^^

-- case: for json without a mode
SELECT 1 AS a FOR JSON RAW
-- expect
case.sql:1:24: error 102: Incorrect syntax near 'RAW'.
    1 | SELECT 1 AS a FOR JSON RAW
      |                        ^^^

-- case: for json of a column without a name
SELECT 1 FOR JSON PATH
-- expect
case.sql:1:8: error 13605: Column expressions and data sources without names or aliases cannot be formatted as JSON text using FOR JSON clause. Add alias to the unnamed column or table.
    1 | SELECT 1 FOR JSON PATH
      |        ^
hint: add an alias

-- case: for json of two members of the same name
SELECT 1 AS [a.b], 2 AS c, 3 AS [a.d] FOR JSON PATH
-- expect
case.sql:1:8: error 13601: Property 'a.d' cannot be generated in JSON output due to a conflict with another column name or alias. Use different names and aliases for each column in SELECT list.
    1 | SELECT 1 AS [a.b], 2 AS c, 3 AS [a.d] FOR JSON PATH
      |        ^

-- case: clr method
SELECT hierarchyid::GetRoot()
-- expect
case.sql:1:8: error: a method of a CLR type (::) is not supported
    1 | SELECT hierarchyid::GetRoot()
      |        ^^^^^^^^^^^

-- case: all null case
SELECT CASE WHEN 1 = 1 THEN NULL END
-- expect
case.sql:1:8: error 8133: At least one of the result expressions in a CASE specification must be an expression other than the NULL constant.
    1 | SELECT CASE WHEN 1 = 1 THEN NULL END
      |        ^^^^

-- case: nodes without column
SELECT * FROM @x.nodes('/a') AS t
-- expect
case.sql:1:18: error 318: The table (and its columns) returned by a table-valued method need to be aliased.
    1 | SELECT * FROM @x.nodes('/a') AS t
      |                  ^^^^^
hint: AS T(c)

-- case: method of a number
SELECT @id.value('.', 'int')
-- expect
case.sql:1:12: error 258: Cannot call methods on int.
    1 | SELECT @id.value('.', 'int')
      |            ^^^^^

-- case: value with one argument
SELECT @x.value('(/a)[1]')
-- expect
case.sql:1:11: error 174: The value function requires 2 argument(s).
    1 | SELECT @x.value('(/a)[1]')
      |           ^^^^^

-- case: value of a wrong type
SELECT @x.value('(/a)[1]', 'foo')
-- expect
case.sql:1:11: error 243: Type foo is not a defined system type.
    1 | SELECT @x.value('(/a)[1]', 'foo')
      |           ^^^^^

-- case: method argument that is no literal
SELECT @x.query(@name)
-- expect
case.sql:1:17: error 8172: The argument 1 of the XML data type method "query" must be a string literal.
    1 | SELECT @x.query(@name)
      |                 ^^^^^

-- case: modify in SELECT
SELECT @x.modify('delete /a')
-- expect
case.sql:1:11: error 8137: Incorrect use of the XML data type method 'modify'. A non-mutator method is expected in this context.
    1 | SELECT @x.modify('delete /a')
      |           ^^^^^^

-- case: insert of too many values
INSERT INTO heap (a, b) VALUES (1, 2, 3)
-- expect
case.sql:1:33: error 110: There are fewer columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.
    1 | INSERT INTO heap (a, b) VALUES (1, 2, 3)
      |                                 ^

-- case: insert of too few values
INSERT INTO heap (a, b) VALUES (1)
-- expect
case.sql:1:33: error 109: There are more columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.
    1 | INSERT INTO heap (a, b) VALUES (1)
      |                                 ^

-- case: insert of a select of another width
INSERT INTO heap (a, b) SELECT 1
-- expect
case.sql:1:32: error 120: The select list for the INSERT statement contains fewer items than the insert list. The number of SELECT values must match the number of INSERT columns.
    1 | INSERT INTO heap (a, b) SELECT 1
      |                                ^

-- case: insert twice into a column
INSERT INTO heap (a, a) VALUES (1, 2)
-- expect
case.sql:1:22: error 264: The column name 'a' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.
    1 | INSERT INTO heap (a, a) VALUES (1, 2)
      |                      ^

-- case: update of an identity
UPDATE orders SET id = 5
-- expect
case.sql:1:19: error 8102: Cannot update identity column 'id'.
    1 | UPDATE orders SET id = 5
      |                   ^^

-- case: current of an unknown cursor
DELETE FROM heap WHERE CURRENT OF nope
-- expect
case.sql:1:13: error: WHERE CURRENT OF nope is not supported
    1 | DELETE FROM heap WHERE CURRENT OF nope
      |             ^^^^
hint: the cursor must be declared in the same procedure or batch

-- case: merge without when
MERGE heap AS t USING audit AS s ON t.a = s.id;
-- expect
case.sql:1:46: error 102: MERGE needs a WHEN clause
    1 | MERGE heap AS t USING audit AS s ON t.a = s.id;
      |                                              ^

-- case: merge insert when matched
MERGE heap AS t USING audit AS s ON t.a = s.id WHEN MATCHED THEN INSERT (a) VALUES (1);
-- expect
case.sql:1:1: error 10711: An action of type 'INSERT' is not allowed in the 'WHEN MATCHED' clause of a MERGE statement.
    1 | MERGE heap AS t USING audit AS s ON t.a = s.id WHEN MATCHED THEN INSERT (a) VALUES (1);
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: create table without columns
CREATE TABLE x ()
-- expect
case.sql:1:1: error 102: a table needs at least one column
    1 | CREATE TABLE x ()
      | ^^^^^^^^^^^^^^^^^

-- case: unknown type
CREATE TABLE x (a foo)
-- expect
case.sql:1:19: error 2715: Column, parameter, or variable #1: Cannot find data type foo.
    1 | CREATE TABLE x (a foo)
      |                   ^^^

-- case: column twice
CREATE TABLE x (a int, A int)
-- expect
case.sql:1:24: error 2705: Column names in each table must be unique. Column name 'A' in table 'x' is specified more than once.
    1 | CREATE TABLE x (a int, A int)
      |                        ^

-- case: a table's definition outlives the batch
CREATE TABLE x (a int DEFAULT @@TRANCOUNT, b int CHECK (b > @@ROWCOUNT), c AS @@ERROR)
-- expect
case.sql:1:31: error 112: Variables are not allowed in the CREATE TABLE statement.
    1 | CREATE TABLE x (a int DEFAULT @@TRANCOUNT, b int CHECK (b > @@ROWCOUNT), c AS @@ERROR)
      |                               ^^^^^^^^^^^
hint: @@TRANCOUNT, ERROR_NUMBER() and their like belong to the batch that runs: put them in when inserting

case.sql:1:57: error 112: Variables are not allowed in the CREATE TABLE statement.
    1 | CREATE TABLE x (a int DEFAULT @@TRANCOUNT, b int CHECK (b > @@ROWCOUNT), c AS @@ERROR)
      |                                                         ^
hint: @@TRANCOUNT, ERROR_NUMBER() and their like belong to the batch that runs: put them in when inserting

case.sql:1:79: error 112: Variables are not allowed in the CREATE TABLE statement.
    1 | CREATE TABLE x (a int DEFAULT @@TRANCOUNT, b int CHECK (b > @@ROWCOUNT), c AS @@ERROR)
      |                                                                               ^^^^^^^
hint: @@TRANCOUNT, ERROR_NUMBER() and their like belong to the batch that runs: put them in when inserting

-- case: a default outlives the batch
ALTER TABLE t ADD CONSTRAINT d DEFAULT @@ERROR FOR a
-- expect
case.sql:1:40: error 112: Variables are not allowed in the ALTER TABLE statement.
    1 | ALTER TABLE t ADD CONSTRAINT d DEFAULT @@ERROR FOR a
      |                                        ^^^^^^^
hint: @@TRANCOUNT, ERROR_NUMBER() and their like belong to the batch that runs: put them in when inserting

-- case: volatile computed column
CREATE TABLE x (a AS GETDATE(), b AS NEWID() PERSISTED)
-- expect
case.sql:1:22: error: PostgreSQL stores the computed column 'a', and GETDATE changes from call to call
    1 | CREATE TABLE x (a AS GETDATE(), b AS NEWID() PERSISTED)
      |                      ^^^^^^^
hint: put it into a view

case.sql:1:38: error 4936: Computed column 'b' in table 'x' cannot be persisted because the column is non-deterministic.
    1 | CREATE TABLE x (a AS GETDATE(), b AS NEWID() PERSISTED)
      |                                      ^^^^^
hint: NEWID changes from call to call: put it into a view

-- case: a period without its columns
CREATE TABLE x (a int, PERIOD FOR SYSTEM_TIME (b, c))
-- expect
case.sql:1:1: error 13506: System-versioned table SYSTEM_TIME period definition start column name not matching 'GENERATED ALWAYS AS ROW START' column name.
    1 | CREATE TABLE x (a int, PERIOD FOR SYSTEM_TIME (b, c))
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

case.sql:1:1: error 13507: System-versioned table SYSTEM_TIME period definition end column name not matching 'GENERATED ALWAYS AS ROW END' column name.
    1 | CREATE TABLE x (a int, PERIOD FOR SYSTEM_TIME (b, c))
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: switch partition
ALTER TABLE heap SWITCH TO audit
-- expect
case.sql:1:1: error: ALTER TABLE … SWITCH is not supported
    1 | ALTER TABLE heap SWITCH TO audit
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: into a variable
SELECT id INTO @t FROM orders
-- expect
case.sql:1:16: error 102: SELECT … INTO makes a table; use INSERT for a table variable
    1 | SELECT id INTO @t FROM orders
      |                ^^

-- case: unnamed column into a table
SELECT id + 1 INTO x FROM orders
-- expect
case.sql:1:8: error 1038: An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name. For other statements, look for empty alias names. Aliases defined as "" or [] are not allowed. Change the alias to a valid name.
    1 | SELECT id + 1 INTO x FROM orders
      |        ^^

-- case: change tracking
SELECT * FROM CHANGETABLE(CHANGES dbo.t, 0) AS c
-- expect
case.sql:1:15: error: CHANGETABLE is not supported: change tracking is not supported
    1 | SELECT * FROM CHANGETABLE(CHANGES dbo.t, 0) AS c
      |               ^^^^^^^^^^^

-- case: rows of a cursor
SELECT @@CURSOR_ROWS
-- expect
case.sql:1:8: error: @@CURSOR_ROWS is not supported: a function or view has no cursor that was opened
    1 | SELECT @@CURSOR_ROWS
      |        ^^^^^^^^^^^^^

-- case: a column set
CREATE TABLE t (a int SPARSE, cs xml COLUMN_SET FOR ALL_SPARSE_COLUMNS)
-- expect
case.sql:1:38: error 102: a column set over sparse columns is not supported
    1 | CREATE TABLE t (a int SPARSE, cs xml COLUMN_SET FOR ALL_SPARSE_COLUMNS)
      |                                      ^^^^^^^^^^

-- case: a computed column over a function of the user
CREATE TABLE t (a int, b AS CAST(dbo.f(a) AS int))
-- expect
case.sql:1:34: error: PostgreSQL stores the computed column 'b', and the function f may change
    1 | CREATE TABLE t (a int, b AS CAST(dbo.f(a) AS int))
      |                                  ^^^
hint: put it into a view

-- case: full-text predicates are refused before their arguments are read
SELECT * FROM heap WHERE FREETEXT((b, a), 'x', LANGUAGE 1033)
-- expect
case.sql:1:26: error: FREETEXT is not supported: full-text search is not supported
    1 | SELECT * FROM heap WHERE FREETEXT((b, a), 'x', LANGUAGE 1033)
      |                          ^^^^^^^^

-- case: edge constraints
CREATE TABLE likes (w int, CONSTRAINT ec CONNECTION (person TO person) ON DELETE CASCADE) AS EDGE
-- expect
case.sql:1:42: error 102: graph tables (CONNECTION constraints) are not supported
    1 | CREATE TABLE likes (w int, CONSTRAINT ec CONNECTION (person TO person) ON DELETE CASCADE) AS EDGE
      |                                          ^^^^^^^^^^

-- case: ledger tables
CREATE TABLE ledgers (id int) WITH (LEDGER = ON (APPEND_ONLY = ON))
-- expect
case.sql:1:1: error: a ledger table is not supported
    1 | CREATE TABLE ledgers (id int) WITH (LEDGER = ON (APPEND_ONLY = ON))
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: masks are told
CREATE TABLE masked (id int, mail varchar(50) MASKED WITH (FUNCTION = 'email()') NULL)
-- expect
CREATE TABLE dbo.masked (
    id integer,
    mail varchar(50)
)
case.sql:1:30: warning: MASKED has no effect: the values of 'mail' are shown to everybody
    1 | CREATE TABLE masked (id int, mail varchar(50) MASKED WITH (FUNCTION = 'email()') NULL)
      |                              ^^^^
hint: grant SELECT on a view instead

-- case: types of assemblies
CREATE TYPE point EXTERNAL NAME shapes.[Point]
-- expect
case.sql:1:1: error: CLR assemblies cannot run on PostgreSQL.
    1 | CREATE TYPE point EXTERNAL NAME shapes.[Point]
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: partition numbers
SELECT a FROM heap GROUP BY a, $PARTITION.by_year(a)
-- expect
case.sql:1:43: error: $PARTITION is not supported
    1 | SELECT a FROM heap GROUP BY a, $PARTITION.by_year(a)
      |                                           ^^^^^^^
hint: partition functions do not exist here

-- case: sequence values in two orders
SELECT NEXT VALUE FOR dbo.numbers OVER (ORDER BY a) FROM heap ORDER BY b
-- expect
case.sql:1:23: error: NEXT VALUE FOR … OVER in a query with another ORDER BY is not supported
    1 | SELECT NEXT VALUE FOR dbo.numbers OVER (ORDER BY a) FROM heap ORDER BY b
      |                       ^^^

-- case: generated columns without a period
ALTER TABLE heap ADD f datetime2 GENERATED ALWAYS AS ROW START NOT NULL
-- expect
case.sql:1:22: error 13509: Cannot create generated always column when SYSTEM_TIME period is not defined.
    1 | ALTER TABLE heap ADD f datetime2 GENERATED ALWAYS AS ROW START NOT NULL
      |                      ^

-- case: columns of a ledger
CREATE TABLE x (a int, b bigint GENERATED ALWAYS AS TRANSACTION_ID START)
-- expect
case.sql:1:53: error 102: a ledger table (GENERATED ALWAYS AS TRANSACTION_ID …) is not supported
    1 | CREATE TABLE x (a int, b bigint GENERATED ALWAYS AS TRANSACTION_ID START)
      |                                                     ^^^^^^^^^^^^^^

-- case: newsequentialid outside DEFAULT
SELECT NEWSEQUENTIALID()
-- expect
case.sql:1:8: error 302: The newsequentialid() built-in function can only be used in a DEFAULT expression for a column of type 'uniqueidentifier' in a CREATE TABLE or ALTER TABLE statement. It cannot be combined with other operators to form a complex scalar expression.
    1 | SELECT NEWSEQUENTIALID()
      |        ^^^^^^^^^^^^^^^
hint: NEWID() stands anywhere

-- case: a part of a table is not emptied as a whole
TRUNCATE TABLE dbo.heap WITH (PARTITIONS (1))
-- expect
case.sql:1:16: error: TRUNCATE TABLE … WITH (PARTITIONS (…)) is not supported
    1 | TRUNCATE TABLE dbo.heap WITH (PARTITIONS (1))
      |                ^^^^^^^^
hint: delete the rows by a condition

-- case: nothing stands behind truncate table
TRUNCATE TABLE dbo.heap foo
-- expect
case.sql:1:25: error 102: Incorrect syntax near 'foo'.
    1 | TRUNCATE TABLE dbo.heap foo
      |                         ^^^
hint: something is missing before 'foo', a comma or an operator maybe

-- case: a string is no table
TRUNCATE TABLE ''
-- expect
case.sql:1:16: error 102: Incorrect syntax near ''.
    1 | TRUNCATE TABLE ''
      |                ^^

-- case: a string is no table in from
SELECT a FROM dbo.'heap'
-- expect
case.sql:1:19: error 102: Incorrect syntax near 'heap'.
    1 | SELECT a FROM dbo.'heap'
      |                   ^^^^^^
hint: a name is missing after 'dbo.'

-- case: a string is no alias of a table
SELECT a AS 'x' FROM dbo.heap AS 'y'
-- expect
case.sql:1:34: error 102: Incorrect syntax near 'y'.
    1 | SELECT a AS 'x' FROM dbo.heap AS 'y'
      |                                  ^^^

-- case: a string is no target
UPDATE N'heap' SET a = 1
-- expect
case.sql:1:8: error 102: Incorrect syntax near 'heap'.
    1 | UPDATE N'heap' SET a = 1
      |        ^^^^^^^

-- case: one window each
SELECT ROW_NUMBER() OVER (ORDER BY a) OVER (ORDER BY a) FROM dbo.heap
-- expect
case.sql:1:39: error 156: Incorrect syntax near the keyword 'OVER'.
    1 | SELECT ROW_NUMBER() OVER (ORDER BY a) OVER (ORDER BY a) FROM dbo.heap
      |                                       ^^^^

-- case: the history table is named
CREATE TABLE kept (id int PRIMARY KEY, b datetime2 GENERATED ALWAYS AS ROW START, e datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (b, e)) WITH (SYSTEM_VERSIONING = ON () = kept_history)HISTORY_TABLE
-- expect
case.sql:1:214: error 102: incorrect syntax: the statement ends too early
    1 | …ERATED ALWAYS AS ROW START, e datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (b, e)) WITH (SYSTEM_VERSIONING = ON () = kept_history)HISTORY_TABLE
      |                                                                                                                                                                 ^

-- case: an empty string where a table is named
SELECT a FROM ''
-- expect
case.sql:1:15: error 102: Incorrect syntax near ''.
    1 | SELECT a FROM ''
      |               ^^

-- case: one name of two tables in FROM
SELECT 1 FROM Heap, dbo.Heap
-- expect
case.sql:1:15: error 1013: The objects "dbo.Heap" and "Heap" in the FROM clause have the same exposed names. Use correlation names to distinguish them.
    1 | SELECT 1 FROM Heap, dbo.Heap
      |               ^^^^

-- case: a table with the alias of another
SELECT 1 FROM Heap JOIN audit AS heap ON 1 = 1
-- expect
case.sql:1:15: error 1012: The correlation name 'heap' has the same exposed name as table 'Heap'.
    1 | SELECT 1 FROM Heap JOIN audit AS heap ON 1 = 1
      |               ^^^^

-- case: a column in HAVING outside of the groups
SELECT a FROM dbo.heap GROUP BY a HAVING B > MAX(c)
-- expect
case.sql:1:42: error 8121: Column 'dbo.heap.B' is invalid in the HAVING clause because it is not contained in either an aggregate function or the GROUP BY clause.
    1 | SELECT a FROM dbo.heap GROUP BY a HAVING B > MAX(c)
      |                                          ^

-- case: a column in ORDER BY outside of the groups
SELECT x.a AS c, COUNT(*) FROM heap AS x GROUP BY x.a ORDER BY c, a, x.b
-- expect
case.sql:1:70: error 8127: Column "x.b" is invalid in the ORDER BY clause because it is not contained in either an aggregate function or the GROUP BY clause.
    1 | SELECT x.a AS c, COUNT(*) FROM heap AS x GROUP BY x.a ORDER BY c, a, x.b
      |                                                                      ^

-- case: a constant in ORDER BY
SELECT a FROM heap ORDER BY a, 'x'
-- expect
case.sql:1:32: error 408: A constant expression was encountered in the ORDER BY list, position 2.
    1 | SELECT a FROM heap ORDER BY a, 'x'
      |                                ^^^

-- case: FETCH of no rows
SELECT a FROM heap ORDER BY a OFFSET 1 ROWS FETCH NEXT 0 ROWS ONLY
-- expect
case.sql:1:56: error 10744: The number of rows provided for a FETCH clause must be greater then zero.
    1 | SELECT a FROM heap ORDER BY a OFFSET 1 ROWS FETCH NEXT 0 ROWS ONLY
      |                                                        ^

-- case: OUTPUT INTO of a nested statement
INSERT heap (a) SELECT x.id FROM (DELETE audit OUTPUT deleted.id INTO keyed (k)) AS x
-- expect
case.sql:1:1: error 10720: An OUTPUT INTO clause is not allowed in a nested INSERT, UPDATE, DELETE, or MERGE statement.
    1 | INSERT heap (a) SELECT x.id FROM (DELETE audit OUTPUT deleted.id INTO keyed (k)) AS x
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- case: an order of windows that is no column's
SELECT ROW_NUMBER() OVER (ORDER BY 1), RANK() OVER (ORDER BY 'x') FROM orders ORDER BY @n, NULL
-- expect
case.sql:1:1: error 408: A constant expression was encountered in the ORDER BY list, position 2.
    1 | SELECT ROW_NUMBER() OVER (ORDER BY 1), RANK() OVER (ORDER BY 'x') FROM orders ORDER BY @n, NULL
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

case.sql:1:36: error 5308: Windowed functions, aggregates and NEXT VALUE FOR functions do not support integer indices as ORDER BY clause expressions.
    1 | SELECT ROW_NUMBER() OVER (ORDER BY 1), RANK() OVER (ORDER BY 'x') FROM orders ORDER BY @n, NULL
      |                                    ^

case.sql:1:62: error 5309: Windowed functions, aggregates and NEXT VALUE FOR functions do not support constants as ORDER BY clause expressions.
    1 | SELECT ROW_NUMBER() OVER (ORDER BY 1), RANK() OVER (ORDER BY 'x') FROM orders ORDER BY @n, NULL
      |                                                              ^^^

case.sql:1:88: error 1008: The SELECT item identified by the ORDER BY number 1 contains a variable as part of the expression identifying a column position. Variables are only allowed when ordering by an expression referencing a column name.
    1 | SELECT ROW_NUMBER() OVER (ORDER BY 1), RANK() OVER (ORDER BY 'x') FROM orders ORDER BY @n, NULL
      |                                                                                        ^^

-- case: recursions that do not begin, or are no union
WITH x AS (SELECT 1 AS a UNION SELECT a FROM x), y AS (SELECT a FROM y UNION ALL SELECT 1) SELECT a FROM x
-- expect
case.sql:1:6: error 252: Recursive common table expression 'x' does not contain a top-level UNION ALL operator.
    1 | WITH x AS (SELECT 1 AS a UNION SELECT a FROM x), y AS (SELECT a FROM y UNION ALL SELECT 1) SELECT a FROM x
      |      ^

case.sql:1:50: error 246: No anchor member was specified for recursive query "y".
    1 | WITH x AS (SELECT 1 AS a UNION SELECT a FROM x), y AS (SELECT a FROM y UNION ALL SELECT 1) SELECT a FROM x
      |                                                  ^

-- case: rows of two lengths
INSERT INTO orders (id, city) VALUES (1, 'x'), (2)
-- expect
case.sql:1:25: warning 207: Invalid column name 'city'.
    1 | INSERT INTO orders (id, city) VALUES (1, 'x'), (2)
      |                         ^^^^

case.sql:1:49: error 10709: The number of columns for each row in a table value constructor must be the same.
    1 | INSERT INTO orders (id, city) VALUES (1, 'x'), (2)
      |                                                 ^

-- case: a name twice in a table that is made
SELECT 1 AS a, 2 AS A INTO made
-- expect
case.sql:1:8: error 2705: Column names in each table must be unique. Column name 'A' in table 'made' is specified more than once.
    1 | SELECT 1 AS a, 2 AS A INTO made
      |        ^

-- case: types with a length that they do not have
SELECT CAST(1 AS INT(5)), CAST(1 AS VARCHAR(0)), CAST(1 AS FLOAT(54)), CAST(1 AS DATETIME2(8))
-- expect
case.sql:1:18: error 291: CAST or CONVERT: invalid attributes specified for type 'int'
    1 | SELECT CAST(1 AS INT(5)), CAST(1 AS VARCHAR(0)), CAST(1 AS FLOAT(54)), CAST(1 AS DATETIME2(8))
      |                  ^^^^^^

case.sql:1:37: error 1001: Line 1: Length or precision specification 0 is invalid.
    1 | SELECT CAST(1 AS INT(5)), CAST(1 AS VARCHAR(0)), CAST(1 AS FLOAT(54)), CAST(1 AS DATETIME2(8))
      |                                     ^^^^^^^^^^

case.sql:1:60: error 2750: Column or parameter #1: Specified column precision 54 is greater than the maximum precision of 53.
    1 | SELECT CAST(1 AS INT(5)), CAST(1 AS VARCHAR(0)), CAST(1 AS FLOAT(54)), CAST(1 AS DATETIME2(8))
      |                                                            ^^^^^^^^^

case.sql:1:82: error 1002: Line 1: Specified scale 8 is invalid.
    1 | SELECT CAST(1 AS INT(5)), CAST(1 AS VARCHAR(0)), CAST(1 AS FLOAT(54)), CAST(1 AS DATETIME2(8))
      |                                                                                  ^^^^^^^^^^^^

-- case: a recursion whose parts are of different kinds
WITH Path AS (SELECT 1 AS N UNION ALL SELECT N + 0.5 FROM Path WHERE N < 3) SELECT N FROM Path
-- expect
case.sql:1:6: error 240: Types don't match between the anchor and the recursive part in column "N" of recursive query "Path".
    1 | WITH Path AS (SELECT 1 AS N UNION ALL SELECT N + 0.5 FROM Path WHERE N < 3) SELECT N FROM Path
      |      ^^^^

-- case: hints that exclude each other
SELECT o.id FROM orders AS o WITH (NOLOCK, HOLDLOCK) JOIN customers AS c WITH (ROWLOCK, TABLOCK) ON c.id = o.id JOIN orders AS h WITH (HOLDLOCK, SERIALIZABLE, ROWLOCK) ON h.id = o.id
-- expect
case.sql:1:18: error 1047: Conflicting locking hints specified.
    1 | SELECT o.id FROM orders AS o WITH (NOLOCK, HOLDLOCK) JOIN customers AS c WITH (ROWLOCK, TABLOCK) ON c.id = o.id JOIN orders AS h WITH (HOLDLOCK, SERIALIZABLE, R…
      |                  ^^^^^^

case.sql:1:59: error 1047: Conflicting locking hints specified.
    1 | …T o.id FROM orders AS o WITH (NOLOCK, HOLDLOCK) JOIN customers AS c WITH (ROWLOCK, TABLOCK) ON c.id = o.id JOIN orders AS h WITH (HOLDLOCK, SERIALIZABLE, ROWLOC…
      |                                                       ^^^^^^^^^

-- case: a target that cannot be read past locks
UPDATE orders WITH (NOLOCK) SET city = 'x'
-- expect
case.sql:1:8: error 1065: The NOLOCK and READUNCOMMITTED lock hints are not allowed for target tables of INSERT, UPDATE, DELETE or MERGE statements.
    1 | UPDATE orders WITH (NOLOCK) SET city = 'x'
      |        ^^^^^^^^^^^^^^^^^^^^

-- case: grouping by what an xml has
SELECT x.c.value('.', 'int') FROM (SELECT CAST('<a/>' AS xml) AS d) AS q CROSS APPLY q.d.nodes('/a') AS x(c) GROUP BY x.c.value('.', 'int')
-- expect
case.sql:1:119: error 4148: XML methods are not allowed in a GROUP BY clause.
    1 | SELECT x.c.value('.', 'int') FROM (SELECT CAST('<a/>' AS xml) AS d) AS q CROSS APPLY q.d.nodes('/a') AS x(c) GROUP BY x.c.value('.', 'int')
      |                                                                                                                       ^

-- case: xml where FOR XML makes an attribute, and one inside a path
SELECT CAST('<a/>' AS xml) AS [@x], 1 AS [@y/z] FOR XML PATH
-- expect
case.sql:1:13: error 6851: Column '@x' has invalid data type for attribute-centric XML serialization in FOR XML PATH.
    1 | SELECT CAST('<a/>' AS xml) AS [@x], 1 AS [@y/z] FOR XML PATH
      |             ^^^^^^

case.sql:1:13: error 6850: Column name '@y/z' contains an invalid XML identifier as required by FOR XML; '@'(0x0040) is the first character at fault.
    1 | SELECT CAST('<a/>' AS xml) AS [@x], 1 AS [@y/z] FOR XML PATH
      |             ^^^^^^

-- case: an empty root
SELECT 1 AS a FOR XML PATH, ROOT('')
-- expect
case.sql:1:15: error 6861: Empty root tag name can't be specified with FOR XML.
    1 | SELECT 1 AS a FOR XML PATH, ROOT('')
      |               ^^^

-- case: a directive that is none
SELECT 1 AS Tag, NULL AS Parent, 1 AS [r!1!a!banana] FOR XML EXPLICIT
-- expect
case.sql:1:8: error 6824: In the FOR XML EXPLICIT clause, mode 'banana' in a column name is invalid.
    1 | SELECT 1 AS Tag, NULL AS Parent, 1 AS [r!1!a!banana] FOR XML EXPLICIT
      |        ^

-- case: a prefix declared twice
WITH XMLNAMESPACES ('u' AS p, 'v' AS p) SELECT 1 AS [p:x] FOR XML PATH
-- expect
case.sql:1:38: error 6869: Attempt to redefine namespace prefix 'p'
    1 | WITH XMLNAMESPACES ('u' AS p, 'v' AS p) SELECT 1 AS [p:x] FOR XML PATH
      |                                      ^

-- case: a prefix of no namespace
WITH XMLNAMESPACES ('' AS p) SELECT 1 AS [p:x] FOR XML PATH
-- expect
case.sql:1:27: error 6874: Empty URI is not allowed in WITH XMLNAMESPACES clause.
    1 | WITH XMLNAMESPACES ('' AS p) SELECT 1 AS [p:x] FOR XML PATH
      |                           ^

-- case: the system's prefix
WITH XMLNAMESPACES ('u' AS xml) SELECT 1 AS x FOR XML PATH
-- expect
case.sql:1:28: error 6872: XML namespace prefix 'xml' can only be associated with the URI http://www.w3.org/XML/1998/namespace. This URI cannot be used with other prefixes.
    1 | WITH XMLNAMESPACES ('u' AS xml) SELECT 1 AS x FOR XML PATH
      |                            ^^^

-- case: a name of FOR JSON with a dot too many
SELECT 1 AS [x..y], 2 AS [z.] FOR JSON PATH
-- expect
case.sql:1:8: error 13603: Property 'x..y' cannot be generated in JSON output due to invalid character in the column name or alias. Column name or alias that contains '..', starts or ends with '.' is not allowed in query that has FOR JSON clause.
    1 | SELECT 1 AS [x..y], 2 AS [z.] FOR JSON PATH
      |        ^

case.sql:1:8: error 13603: Property 'z.' cannot be generated in JSON output due to invalid character in the column name or alias. Column name or alias that contains '..', starts or ends with '.' is not allowed in query that has FOR JSON clause.
    1 | SELECT 1 AS [x..y], 2 AS [z.] FOR JSON PATH
      |        ^

-- case: AS JSON of a number
SELECT * FROM OPENJSON('[1]') WITH (a int '$.a' AS JSON)
-- expect
case.sql:1:15: error 13618: AS JSON option can be specified only for column of nvarchar(max) type in WITH clause.
    1 | SELECT * FROM OPENJSON('[1]') WITH (a int '$.a' AS JSON)
      |               ^^^^^^^^

-- case: words that are missing
INSERT t VALUES (1, 2) (3, 4)
-- expect
case.sql:1:24: error 102: Incorrect syntax near '('.
    1 | INSERT t VALUES (1, 2) (3, 4)
      |                        ^
hint: something is missing before '(', a comma or an operator maybe

-- case: identity has both numbers or none
CREATE TABLE t (a INT IDENTITY(11))
-- expect
case.sql:1:34: error 102: Incorrect syntax near ')'.
    1 | CREATE TABLE t (a INT IDENTITY(11))
      |                                  ^

-- case: a nested DML statement whose alias lists too many columns
insert into heap (a) select a from (delete from heap output deleted.a where a > 1) as d (y, z)
-- expect
case.sql:1:87: error 8159: 'd' has fewer columns than were specified in the column list.
    1 | insert into heap (a) select a from (delete from heap output deleted.a where a > 1) as d (y, z)
      |                                                                                       ^

-- case: a nested DML statement with a column without a name
insert into heap (a) select a from (delete from heap output deleted.a + 1 where a > 1) as e
-- expect
case.sql:1:91: error 8155: No column name was specified for column 1 of 'e'.
    1 | insert into heap (a) select a from (delete from heap output deleted.a + 1 where a > 1) as e
      |                                                                                           ^

-- case: OUTPUT has no subquery
INSERT INTO x (a) OUTPUT (SELECT 1) VALUES (1)
-- expect
case.sql:1:34: error 10705: Subqueries are not allowed in the OUTPUT clause.
    1 | INSERT INTO x (a) OUTPUT (SELECT 1) VALUES (1)
      |                                  ^

-- case: nor has OUTPUT INTO, an IN or an EXISTS
DELETE x OUTPUT CASE WHEN deleted.a IN (SELECT 1) OR EXISTS (SELECT 1 AS b) THEN 1 END INTO y
-- expect
case.sql:1:48: error 10705: Subqueries are not allowed in the OUTPUT clause.
    1 | DELETE x OUTPUT CASE WHEN deleted.a IN (SELECT 1) OR EXISTS (SELECT 1 AS b) THEN 1 END INTO y
      |                                                ^

-- case: nor has that of MERGE, told once
MERGE x USING (SELECT 1 AS a) AS s ON s.a = x.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (a) VALUES (1) OUTPUT (SELECT 1);
-- expect
case.sql:1:133: error 10705: Subqueries are not allowed in the OUTPUT clause.
    1 | MERGE x USING (SELECT 1 AS a) AS s ON s.a = x.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (a) VALUES (1) OUTPUT (SELECT 1);
      |                                                                                                                                     ^

-- case: a reserved word as the name of a table
SELECT * FROM order
UPDATE order SET a = 1
-- expect
case.sql:1:15: error 156: Incorrect syntax near the keyword 'order'.
    1 | SELECT * FROM order
      |               ^^^^^
hint: ORDER is a reserved word: as a name it stands in brackets, [order]

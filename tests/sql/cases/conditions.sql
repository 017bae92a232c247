-- Search conditions.
-- given
sql CREATE FUNCTION dbo.fn(integer, text DEFAULT '') RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE FUNCTION sales.fn() RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE FUNCTION trader1_dbo.fn(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE SEQUENCE dbo.numbers
declare @i int = 3, @j bigint = 4, @n decimal(10,2) = 7.5, @m money = 2, @f float = 1.5, @bit bit = 1
declare @s nvarchar(50) = N'text', @v varchar(10) = 'abc', @c char(5) = 'ab', @max nvarchar(max) = N'long', @type sysname = 'x'
declare @d datetime = '2020-01-02', @d2 datetime2(3) = '2020-01-02', @day date = '2020-01-02', @t time = '10:30', @off datetimeoffset = '2020-01-02'
declare @g uniqueidentifier = newid(), @b varbinary(max) = 0x41, @b8 varbinary(8) = 0x01, @x xml = '<a><b i="1">t</b></a>', @tiny tinyint = 1

-- case: equality
@i = 1
-- expect
i = 1

-- case: inequality
@i <> 1
-- expect
i <> 1

-- case: inequality the other way
@i != 1
-- expect
i <> 1

-- case: not less
@i !< 1
-- expect
i >= 1

-- case: not greater
@i !> 1
-- expect
i <= 1

-- case: and or
@i = 1 AND @s = N'a' OR @j > 2
-- expect
i = 1 AND s = 'a' OR j > 2

-- case: or inside and
@i = 1 AND (@s = N'a' OR @j > 2)
-- expect
i = 1 AND (s = 'a' OR j > 2)

-- case: not
NOT @i = 1
-- expect
NOT i = 1

-- case: not of parentheses
NOT (@i = 1 AND @j = 2)
-- expect
NOT (i = 1 AND j = 2)

-- case: is null
@s IS NULL
-- expect
s IS NULL

-- case: is not null
@s IS NOT NULL
-- expect
s IS NOT NULL

-- case: is distinct from
@i IS DISTINCT FROM @j
-- expect
i IS DISTINCT FROM j

-- case: is not distinct from
@i IS NOT DISTINCT FROM @j
-- expect
i IS NOT DISTINCT FROM j

-- case: between
@i BETWEEN 1 AND 5
-- expect
i BETWEEN 1 AND 5

-- case: not between
@i NOT BETWEEN 1 AND 5
-- expect
i NOT BETWEEN 1 AND 5

-- case: between of strings
@i BETWEEN '1' AND '5'
-- expect
i BETWEEN '1' AND '5'

-- case: in
@i IN (1, 2, 3)
-- expect
i IN (1, 2, 3)

-- case: not in
@s NOT IN (N'a', N'b')
-- expect
s NOT IN ('a', 'b')

-- case: in of mixed types
@i IN (1, '2')
-- expect
i IN (1, '2')

-- case: string in numbers
@v IN (1, 2)
-- expect
sys.convert_int(v) IN (1, 2)

-- case: in a subquery
@i IN (SELECT v FROM (VALUES (1)) AS t(v))
-- expect
i IN (SELECT v FROM (VALUES (1)) AS t (v))

-- case: exists
EXISTS (SELECT * FROM (VALUES (1)) AS t(v) WHERE v = @i)
-- expect
EXISTS (SELECT * FROM (VALUES (1)) AS t (v) WHERE v = p.i)

-- case: not exists
NOT EXISTS (SELECT 1 WHERE @i = 2)
-- expect
NOT EXISTS (SELECT 1 WHERE i = 2)

-- case: all
@i >= ALL (SELECT v FROM (VALUES (1)) AS t(v))
-- expect
i >= ALL (SELECT v FROM (VALUES (1)) AS t (v))

-- case: any
@i = ANY (SELECT v FROM (VALUES (1)) AS t(v))
-- expect
i = ANY (SELECT v FROM (VALUES (1)) AS t (v))

-- case: some
@i <> SOME (SELECT v FROM (VALUES (1)) AS t(v))
-- expect
i <> ANY (SELECT v FROM (VALUES (1)) AS t (v))

-- case: like
@s LIKE N'a%'
-- expect
s LIKE 'a%'

-- case: not like
@s NOT LIKE 'a%'
-- expect
s NOT LIKE 'a%'

-- case: like with escape
@s LIKE '10!%' ESCAPE '!'
-- expect
s LIKE '10!%' ESCAPE '!'

-- case: like with backslash
@s LIKE 'a\%'
-- expect
s LIKE E'a\\%' ESCAPE ''

-- case: like with a class
@s LIKE '[a-c]%'
-- expect
sys.like(s, '[a-c]%')

-- case: not like with a class
@s NOT LIKE '%[^0-9]%'
-- expect
NOT sys.like(s, '%[^0-9]%')

-- case: like a variable
@s LIKE @v
-- expect
sys.like(s, v)

-- case: number like
@i LIKE '1%'
-- expect
i::text LIKE '1%'

-- case: string against number
@v = 5
-- expect
sys.convert_int(v) = 5

-- case: number against string variable
@i = @v
-- expect
i = sys.convert_int(v)

-- case: number against literal
@i = '5'
-- expect
i = '5'

-- case: datetime against literal
@d > '2020-01-01'
-- expect
d > '2020-01-01'

-- case: datetime against odd literal
@d > '1 Jan 2020'
-- expect
d > sys.convert_datetime('1 Jan 2020')

-- case: datetime against string variable
@d > @v
-- expect
d > sys.convert_datetime(v)

-- case: date against datetime
@day = @d
-- expect
day = d

-- case: uniqueidentifier against literal
@g = '6F9619FF-8B86-D011-B42D-00C04FC964FF'
-- expect
g = '6F9619FF-8B86-D011-B42D-00C04FC964FF'

-- case: uniqueidentifier against variable
@g = @v
-- expect
g = sys.convert_uniqueidentifier(v)

-- case: bit against one
@bit = 1
-- expect
bit = 1

-- case: bit against string
@bit = 'true'
-- expect
bit = sys.convert_bit('true')

-- case: varbinary against literal
@b = 0x41
-- expect
rtrim(b, '\x00') = '\x41'::bytea

-- case: money against literal
@m = $1.50
-- expect
m = 1.5000

-- case: null comparison
@i = NULL
-- expect
i = NULL

-- case: xml exist
@x.exist('/a/b') = 1
-- expect
sys.xml_exist(x, '/a/b') = 1

-- case: collate ci
@s COLLATE Latin1_General_CI_AS = 'ABC'
-- expect
lower(rtrim(s)) = 'abc'

-- case: collate bin
@s COLLATE Latin1_General_BIN = 'ABC'
-- expect
s COLLATE "C" = 'ABC'

-- case: collate unknown
@s COLLATE Nonsense = 'a'
-- expect
case.sql:1:1: error 448: Invalid collation 'Nonsense'.
    1 | @s COLLATE Nonsense = 'a'
      | ^^

-- case: catalog name without case
EXISTS (SELECT * FROM sys.tables WHERE name = 'OrderLog')
-- expect
EXISTS (SELECT * FROM sys.tables WHERE lower(name) = 'orderlog')

-- case: catalog name with a letter that a Turkish database lowers otherwise
EXISTS (SELECT * FROM sys.tables WHERE name = 'Inventory')
-- expect
EXISTS (SELECT * FROM sys.tables WHERE lower(name COLLATE "C") = 'inventory')

-- case: service name with case
EXISTS (SELECT * FROM sys.services WHERE name = N'//Order')
-- expect
EXISTS (SELECT * FROM sys.services WHERE name = '//Order')

-- case: old system table
EXISTS (SELECT * FROM sysobjects WHERE name = 'T' AND xtype = 'U')
-- expect
EXISTS (SELECT * FROM sys.sysobjects WHERE lower(name) = 't' AND xtype = 'U')

-- case: no condition
@i
-- expect
case.sql:1:1: error 4145: An expression of non-boolean type specified in a context where a condition is expected, near '@i'.
    1 | @i
      | ^^

-- case: condition as a value
(@i = 1) + 1
-- expect
case.sql:1:2: error 102: a condition has no value in T-SQL
    1 | (@i = 1) + 1
      |  ^^
hint: CASE WHEN … THEN 1 ELSE 0 END

case.sql:1:2: error 4145: An expression of non-boolean type specified in a context where a condition is expected, near '1'.
    1 | (@i = 1) + 1
      |  ^^

-- case: undeclared variable
@nope = 1
-- expect
case.sql:1:1: error 137: Must declare the scalar variable "@nope".
    1 | @nope = 1
      | ^^^^^

-- case: nothing behind equals
@i = 
-- expect
case.sql:1:4: error 102: incorrect syntax: the statement ends too early
    1 | @i =
      |    ^

-- case: two strings
@s = 'a' 'b'
-- expect
case.sql:1:6: error 102: two string literals need '+' between them
    1 | @s = 'a' 'b'
      |      ^^^

-- case: column without a table
a = 1
-- expect
case.sql:1:1: error 207: Invalid column name 'a'.
    1 | a = 1
      | ^

-- case: a sql_variant beside a number
SERVERPROPERTY('EngineEdition') = 3 AND SESSION_CONTEXT(N'k') IN (1, 2)
-- expect
sys.try_convert_decimal(sys.serverproperty('EngineEdition'), 38, 10) = 3 AND sys.try_convert_decimal(sys.session_context('k'), 38, 10) IN (1, 2)

-- case: xml is not compared
@x = '<a/>' AND @x IS NOT NULL
-- expect
case.sql:1:1: error 305: The XML data type cannot be compared or sorted, except when using the IS NULL operator.
    1 | @x = '<a/>' AND @x IS NOT NULL
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

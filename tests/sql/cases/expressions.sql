-- Expressions: literals, arithmetic, strings, CASE.
-- given
sql CREATE FUNCTION dbo.fn(integer, text DEFAULT '') RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE FUNCTION sales.fn() RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE FUNCTION trader1_dbo.fn(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE SEQUENCE dbo.numbers
declare @i int = 3, @j bigint = 4, @n decimal(10,2) = 7.5, @m money = 2, @f float = 1.5, @bit bit = 1
declare @s nvarchar(50) = N'text', @v varchar(10) = 'abc', @c char(5) = 'ab', @max nvarchar(max) = N'long', @type sysname = 'x'
declare @d datetime = '2020-01-02', @d2 datetime2(3) = '2020-01-02', @day date = '2020-01-02', @t time = '10:30', @off datetimeoffset = '2020-01-02'
declare @g uniqueidentifier = newid(), @b varbinary(max) = 0x41, @b8 varbinary(8) = 0x01, @x xml = '<a><b i="1">t</b></a>', @tiny tinyint = 1

-- case: integer
42
-- expect
42

-- case: negative integer
-42
-- expect
-42

-- case: double negative
- -5
-- expect
-(-5)

-- case: a sign before a complement
- ~@i
-- expect
-(~i)

-- case: large integer
9999999999
-- expect
9999999999

-- case: decimal
1.50
-- expect
1.50

-- case: decimal without whole part
.5
-- expect
0.5

-- case: decimal without fraction
5.
-- expect
5.

-- case: float literal
1e3
-- expect
1e3::double precision

-- case: money literal
$12.50
-- expect
12.5000

-- case: string
'it''s'
-- expect
'it''s'

-- case: national string
N'ünï'
-- expect
'ünï'

-- case: backslash in a string
'a\b'
-- expect
E'a\\b'

-- case: line end in a string
'a
b'
-- expect
E'a\nb'

-- case: binary literal
0x1F
-- expect
'\x1F'::bytea

-- case: binary literal with odd digits
0xABC
-- expect
'\x0ABC'::bytea

-- case: empty binary literal
0x
-- expect
'\x'::bytea

-- case: null
NULL
-- expect
NULL

-- case: variable
@i
-- expect
i

-- case: variable in any case
@I
-- expect
i

-- case: sum of variables
@i + 1
-- expect
i + 1

-- case: sum keeps no parentheses that do nothing
(@i) + (1)
-- expect
i + 1

-- case: needed parentheses stay
(@i + 1) * 2
-- expect
(i + 1) * 2

-- case: difference
@i - @j
-- expect
i - j

-- case: product of three
@i * 2 * @j
-- expect
i * 2 * j

-- case: integer division
@i / 2
-- expect
i / 2

-- case: modulo
@i % 2
-- expect
i % 2

-- case: decimal division is cut to its scale
@n / 3
-- expect
trunc(n / 3, 6)

-- case: decimal by integer variable
@n / @i
-- expect
trunc(round(n, 23) / i, 13)

-- case: literal division
10 / 4.0
-- expect
trunc(10 / 4.0, 6)

-- case: money division
@m / 3
-- expect
trunc(round(m, 5) / 3, 4)

-- case: float division
@f / 3
-- expect
f / 3

-- case: unary minus of an expression
-(@i + 1)
-- expect
-(i + 1)

-- case: bitwise and
@i & 1
-- expect
i & 1

-- case: bitwise or
@i | 4
-- expect
i | 4

-- case: bitwise xor
@i ^ 4
-- expect
i # 4

-- case: bitwise operators bind like plus
@i & 1 + 2
-- expect
(i & 1) + 2

-- case: complement
~@i
-- expect
~i

-- case: complement of a bit
~@bit
-- expect
1 - bit

-- case: joining strings
@s + N'-' + @v
-- expect
s || '-' || v

-- case: joining keeps blanks of char
@c + '|'
-- expect
rpad(c, 5) || '|'

-- case: joining NULL
@s + NULL
-- expect
s || NULL

-- case: joining parenthesised
@s + ('a' + @v)
-- expect
s || ('a' || v)

-- case: string and number add
'5' + @i
-- expect
'5'::integer + i

-- case: number and string variable add
@i + @v
-- expect
i + sys.convert_int(v)

-- case: string times number
'5' * 2
-- expect
'5'::integer * 2

-- case: datetime plus days
@d + 1
-- expect
sys.add(d, 1)

-- case: datetime minus datetime
@d - @d
-- expect
sys.subtract(d, d)

-- case: datetime minus days
@d - 1
-- expect
sys.subtract(d, 1)

-- case: binary joined
@b + 0x42
-- expect
b || '\x42'::bytea

-- case: simple case
CASE @i WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'many' END
-- expect
CASE i WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'many' END

-- case: searched case
CASE WHEN @i = 1 THEN 'one' WHEN @s IS NULL THEN 'none' END
-- expect
CASE WHEN i = 1 THEN 'one' WHEN s IS NULL THEN 'none' END

-- case: case of mixed types
CASE WHEN @i = 1 THEN 1 ELSE '2' END
-- expect
CASE WHEN i = 1 THEN 1 ELSE '2'::integer END

-- case: case of number and string variable
CASE WHEN @i = 1 THEN @i ELSE @v END
-- expect
CASE WHEN i = 1 THEN i ELSE sys.convert_int(v) END

-- case: case with NULL
CASE @i WHEN 1 THEN NULL ELSE @d END
-- expect
CASE i WHEN 1 THEN NULL ELSE d END

-- case: iif
IIF(@i > 2, 'a', 'b')
-- expect
CASE WHEN i > 2 THEN 'a' ELSE 'b' END

-- case: choose
CHOOSE(@i, 'a', 'b', 'c')
-- expect
CASE i WHEN 1 THEN 'a' WHEN 2 THEN 'b' WHEN 3 THEN 'c' END

-- case: isnull
ISNULL(@s, N'none')
-- expect
COALESCE(s, 'none')

-- case: isnull cuts the replacement
ISNULL(@v, 'a longer replacement')
-- expect
COALESCE(v, 'a longer r')

-- case: isnull converts the replacement
ISNULL(@i, '5')
-- expect
COALESCE(i, '5')

-- case: isnull of NULL
ISNULL(NULL, @i)
-- expect
i

-- case: coalesce
COALESCE(@i, @j, 0)
-- expect
COALESCE(i, j, 0)

-- case: coalesce of mixed types
COALESCE(@i, '5')
-- expect
COALESCE(i, '5'::integer)

-- case: nullif
NULLIF(@v, '')
-- expect
NULLIF(v, '')

-- case: at at rowcount
@@ROWCOUNT
-- expect
p.row_count

-- case: at at error
@@ERROR + 1
-- expect
p.last_error + 1

-- case: at at spid
@@SPID
-- expect
pg_backend_pid()

-- case: at at version
@@VERSION
-- expect
sys.version()

-- case: error message
ERROR_MESSAGE()
-- expect
p.failure

-- case: current timestamp
CURRENT_TIMESTAMP
-- expect
sys.getdate()

-- case: system user
SYSTEM_USER
-- expect
sys.system_user()

-- case: user
USER
-- expect
sys.user_name()

-- case: scalar subquery
(SELECT MAX(v) FROM (VALUES (1), (5)) AS t(v))
-- expect
(SELECT max(v) FROM (VALUES (1), (5)) AS t (v))

-- case: subquery without FROM
(SELECT @i)
-- expect
(SELECT i)

-- case: collate for case
@s COLLATE Latin1_General_CS_AS
-- expect
s

-- case: comments inside
@i /* one */ + -- two
 1
-- expect
i + 1

-- case: user function
dbo.fn(@i, @v)
-- expect
dbo.fn(i, v)

-- case: user function in another schema
sales.fn()
-- expect
sales.fn()

-- case: user function in another database
Trader1.dbo.fn(1)
-- expect
trader1_dbo.fn(1)

-- case: user function with DEFAULT
dbo.fn(@i, DEFAULT)
-- expect
dbo.fn(i)

-- case: double quoted identifiers do not make strings
"nope"
-- expect
case.sql:1:1: error 207: Invalid column name 'nope'.
    1 | "nope"
      | ^^^^^^
hint: a string stands in single quotes; in double quotes it is a name

-- case: at time zone
@d AT TIME ZONE 'UTC'
-- expect
sys.at_time_zone(d, 'UTC')

-- case: next value for
NEXT VALUE FOR dbo.numbers
-- expect
nextval('dbo.numbers')

-- case: signs side by side
~-@i + ~-1 - -@i * ~~@i
-- expect
(~(-i)) + (~(-1)) - -i * (~(~i))

-- case: deep parentheses
((((((((((@i))))))))))
-- expect
i

-- case: long chain
@i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i + @i
-- expect
i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i + i

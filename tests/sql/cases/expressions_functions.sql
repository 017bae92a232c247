-- Built-in functions.
-- given
sql CREATE FUNCTION dbo.fn(integer, text DEFAULT '') RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE FUNCTION sales.fn() RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE FUNCTION trader1_dbo.fn(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE SEQUENCE dbo.numbers
declare @i int = 3, @j bigint = 4, @n decimal(10,2) = 7.5, @m money = 2, @f float = 1.5, @bit bit = 1
declare @s nvarchar(50) = N'text', @v varchar(10) = 'abc', @c char(5) = 'ab', @max nvarchar(max) = N'long', @type sysname = 'x'
declare @d datetime = '2020-01-02', @d2 datetime2(3) = '2020-01-02', @day date = '2020-01-02', @t time = '10:30', @off datetimeoffset = '2020-01-02'
declare @g uniqueidentifier = newid(), @b varbinary(max) = 0x41, @b8 varbinary(8) = 0x01, @x xml = '<a><b i="1">t</b></a>', @tiny tinyint = 1

-- case: LEN(@s)
LEN(@s)
-- expect
sys.len(s)

-- case: DATALENGTH(@v)
DATALENGTH(@v)
-- expect
sys.datalength(v)

-- case: DATALENGTH(@s)
DATALENGTH(@s)
-- expect
sys.datalength_utf16(s)

-- case: LEFT(@s, 3)
LEFT(@s, 3)
-- expect
left(s, 3)

-- case: LEFT(@s, @i)
LEFT(@s, @i)
-- expect
sys.left(s, i)

-- case: RIGHT(@s, 2)
RIGHT(@s, 2)
-- expect
right(s, 2)

-- case: SUBSTRING(@s, 2, 3)
SUBSTRING(@s, 2, 3)
-- expect
substr(s, 2, 3)

-- case: SUBSTRING(@b, 1, 2)
SUBSTRING(@b, 1, 2)
-- expect
sys.substring(b, 1, 2)

-- case: SUBSTRING(@s, @i, @i)
SUBSTRING(@s, @i, @i)
-- expect
sys.substring(s, i, i)

-- case: UPPER(@s)
UPPER(@s)
-- expect
upper(s)

-- case: LOWER(@v)
LOWER(@v)
-- expect
lower(v)

-- case: LTRIM(RTRIM(@s))
LTRIM(RTRIM(@s))
-- expect
ltrim(rtrim(s))

-- case: TRIM(@s)
TRIM(@s)
-- expect
btrim(s)

-- case: TRIM('x' FROM @s)
TRIM('x' FROM @s)
-- expect
btrim(s, 'x')

-- case: REPLACE(@s, 'a', 'b')
REPLACE(@s, 'a', 'b')
-- expect
sys.replace(s, 'a', 'b')

-- case: STUFF(@s, 1, 1, '')
STUFF(@s, 1, 1, '')
-- expect
sys.stuff(s, 1, 1, '')

-- case: CHARINDEX('a', @s)
CHARINDEX('a', @s)
-- expect
sys.charindex('a', s)

-- case: CHARINDEX('a', @s, 2)
CHARINDEX('a', @s, 2)
-- expect
sys.charindex('a', s, 2)

-- case: PATINDEX('%[0-9]%', @s)
PATINDEX('%[0-9]%', @s)
-- expect
sys.patindex('%[0-9]%', s)

-- case: REVERSE(@s)
REVERSE(@s)
-- expect
reverse(s)

-- case: REPLICATE('ab', 3)
REPLICATE('ab', 3)
-- expect
sys.replicate('ab', 3)

-- case: SPACE(2)
SPACE(2)
-- expect
sys.space(2)

-- case: STR(@f, 6, 2)
STR(@f, 6, 2)
-- expect
sys.str(f, 6, 2)

-- case: QUOTENAME(@s)
QUOTENAME(@s)
-- expect
sys.quotename(s)

-- case: CONCAT(@s, '-', @i, @d)
CONCAT(@s, '-', @i, @d)
-- expect
concat(s, '-', i, sys.convert_nvarchar(d))

-- case: CONCAT_WS(',', @s, @i)
CONCAT_WS(',', @s, @i)
-- expect
concat_ws(',', s, i)

-- case: ASCII('a')
ASCII('a')
-- expect
sys.ascii('a')

-- case: CHAR(65)
CHAR(65)
-- expect
sys.char(65)

-- case: NCHAR(8364)
NCHAR(8364)
-- expect
sys.nchar(8364)

-- case: UNICODE(N'a')
UNICODE(N'a')
-- expect
sys.unicode('a')

-- case: FORMAT(@d, 'yyyy-MM-dd')
FORMAT(@d, 'yyyy-MM-dd')
-- expect
sys.format(d, 'yyyy-MM-dd')

-- case: STRING_ESCAPE(@s, 'json')
STRING_ESCAPE(@s, 'json')
-- expect
sys.string_escape(s, 'json')

-- case: HASHBYTES('SHA2_256', @s)
HASHBYTES('SHA2_256', @s)
-- expect
sys.hashbytes('SHA2_256', ssb.nvarchar_bytes(s))

-- case: CHECKSUM(@s, @i)
CHECKSUM(@s, @i)
-- expect
sys.checksum(s, i::text)

-- case: FORMATMESSAGE('%s is %d', @s, @i)
FORMATMESSAGE('%s is %d', @s, @i)
-- expect
sys.formatmessage('%s is %d', s, i::text)

-- case: PARSENAME('a.b', 1)
PARSENAME('a.b', 1)
-- expect
sys.parsename('a.b', 1)

-- case: ABS(@i)
ABS(@i)
-- expect
abs(i)

-- case: CEILING(@n)
CEILING(@n)
-- expect
ceil(n)

-- case: FLOOR(@n)
FLOOR(@n)
-- expect
floor(n)

-- case: FLOOR(@i)
FLOOR(@i)
-- expect
i

-- case: ROUND(@n, 1)
ROUND(@n, 1)
-- expect
sys.round(n, 1)::numeric(10,2)

-- case: ROUND(@n, 0, 1)
ROUND(@n, 0, 1)
-- expect
sys.round(n, 0, 1)

-- case: POWER(2, @i)
POWER(2, @i)
-- expect
sys.power(2, i::double precision)

-- case: SQRT(@f)
SQRT(@f)
-- expect
sys.sqrt(f)

-- case: SIGN(@i)
SIGN(@i)
-- expect
sys.sign(i)

-- case: LOG(@f)
LOG(@f)
-- expect
sys.log(f)

-- case: RAND()
RAND()
-- expect
sys.rand()

-- case: ISNUMERIC(@s)
ISNUMERIC(@s)
-- expect
sys.isnumeric(s)

-- case: PI()
PI()
-- expect
pi()

-- case: ATN2(1, @f)
ATN2(1, @f)
-- expect
atan2(1::double precision, f)

-- case: GETDATE()
GETDATE()
-- expect
sys.getdate()

-- case: SYSDATETIME()
SYSDATETIME()
-- expect
sys.sysdatetime()

-- case: SYSUTCDATETIME()
SYSUTCDATETIME()
-- expect
sys.sysutcdatetime()

-- case: DATEADD(day, 1, @d)
DATEADD(day, 1, @d)
-- expect
sys.dateadd_within(sys.dateadd('day', 1, d), 'datetime')

-- case: DATEADD(mi, -5, GETDATE())
DATEADD(mi, -5, GETDATE())
-- expect
sys.dateadd_within(sys.dateadd('minute', -5, sys.getdate()), 'datetime')

-- case: DATEDIFF(ss, @d, GETDATE())
DATEDIFF(ss, @d, GETDATE())
-- expect
sys.datediff('second', d, sys.getdate())

-- case: DATEDIFF_BIG(ms, @d, @d2)
DATEDIFF_BIG(ms, @d, @d2)
-- expect
sys.datediff_big('millisecond', d, d2)

-- case: DATEPART(dw, @d)
DATEPART(dw, @d)
-- expect
sys.datepart('weekday', d)

-- case: DATENAME(month, @d)
DATENAME(month, @d)
-- expect
sys.datename('month', d)

-- case: YEAR(@d)
YEAR(@d)
-- expect
sys.year(d)

-- case: EOMONTH(@day)
EOMONTH(@day)
-- expect
sys.eomonth(day)

-- case: DATEFROMPARTS(2020, 1, 2)
DATEFROMPARTS(2020, 1, 2)
-- expect
sys.datefromparts(2020, 1, 2)

-- case: ISDATE(@s)
ISDATE(@s)
-- expect
sys.isdate(s)

-- case: SWITCHOFFSET(@off, '+02:00')
SWITCHOFFSET(@off, '+02:00')
-- expect
sys.switchoffset(off, '+02:00')

-- case: NEWID()
NEWID()
-- expect
gen_random_uuid()

-- case: SCOPE_IDENTITY()
SCOPE_IDENTITY()
-- expect
sys.scope_identity()

-- case: DB_NAME()
DB_NAME()
-- expect
sys.db_name()

-- case: DB_ID()
DB_ID()
-- expect
sys.db_id()

-- case: OBJECT_ID(N'dbo.t', N'U')
OBJECT_ID(N'dbo.t', N'U')
-- expect
sys.object_id('dbo.t', 'U')

-- case: OBJECT_NAME(5)
OBJECT_NAME(5)
-- expect
sys.object_name(5)

-- case: SUSER_SNAME()
SUSER_SNAME()
-- expect
sys.suser_sname()

-- case: USER_NAME()
USER_NAME()
-- expect
sys.user_name()

-- case: HOST_NAME()
HOST_NAME()
-- expect
sys.host_name()

-- case: APP_NAME()
APP_NAME()
-- expect
sys.app_name()

-- case: SCHEMA_NAME()
SCHEMA_NAME()
-- expect
sys.schema_name()

-- case: IS_MEMBER('db_owner')
IS_MEMBER('db_owner')
-- expect
sys.is_member('db_owner')

-- case: SERVERPROPERTY('Edition')
SERVERPROPERTY('Edition')
-- expect
sys.serverproperty('Edition')

-- case: COL_LENGTH('t', 'c')
COL_LENGTH('t', 'c')
-- expect
sys.col_length('t', 'c')

-- case: SESSION_CONTEXT(N'k')
SESSION_CONTEXT(N'k')
-- expect
sys.session_context('k')

-- case: JSON_VALUE(@s, '$.a')
JSON_VALUE(@s, '$.a')
-- expect
sys.json_value(s, '$.a')

-- case: ISJSON(@s)
ISJSON(@s)
-- expect
sys.isjson(s)

-- case: JSON_MODIFY(@s, '$.a', @i)
JSON_MODIFY(@s, '$.a', @i)
-- expect
sys.json_modify(s, '$.a', i)

-- case: foo(@i)
foo(@i)
-- expect
case.sql:1:1: error 195: 'foo' is not a recognized built-in function name.
    1 | foo(@i)
      | ^^^

-- case: LEN()
LEN()
-- expect
case.sql:1:1: error 174: The len function requires 1 argument(s).
    1 | LEN()
      | ^^^

-- case: LEN(@s, 1)
LEN(@s, 1)
-- expect
case.sql:1:1: error 174: The len function requires 1 argument(s).
    1 | LEN(@s, 1)
      | ^^^

-- case: DATEADD(fortnight, 1, @d)
DATEADD(fortnight, 1, @d)
-- expect
case.sql:1:9: error 155: 'fortnight' is not a recognized dateadd option.
    1 | DATEADD(fortnight, 1, @d)
      |         ^^^^^^^^^

-- case: DATEADD(@s, 1, @d)
DATEADD(@s, 1, @d)
-- expect
case.sql:1:9: error 1023: Invalid parameter 1 specified for dateadd.
    1 | DATEADD(@s, 1, @d)
      |         ^^

-- case: COMPRESS(@s)
COMPRESS(@s)
-- expect
case.sql:1:1: error: COMPRESS is not supported: GZIP is not in a plain PostgreSQL server
    1 | COMPRESS(@s)
      | ^^^^^^^^

-- case: OPENXML(1)
OPENXML(1)
-- expect
case.sql:1:1: error 195: 'OPENXML' is not a recognized built-in function name.
    1 | OPENXML(1)
      | ^^^^^^^

-- case: CONTAINS(@s, 'x')
CONTAINS(@s, 'x')
-- expect
case.sql:1:1: error: CONTAINS is not supported: full-text search is not supported
    1 | CONTAINS(@s, 'x')
      | ^^^^^^^^

-- case: COUNT(*) + NO_SUCH(1)
COUNT(*) + NO_SUCH(1)
-- expect
case.sql:1:12: error 195: 'NO_SUCH' is not a recognized built-in function name.
    1 | COUNT(*) + NO_SUCH(1)
      |            ^^^^^^^

-- case: json as a new value
JSON_MODIFY(@s, '$.a', JSON_QUERY('[1]'))
-- expect
sys.json_modify(s, '$.a', sys.json_query('[1]')::json)

-- case: the json of a query as a new value
JSON_MODIFY(@s, 'append $.a', (SELECT 1 AS k FOR JSON PATH))
-- expect
sys.json_modify(s, 'append $.a', (SELECT '[' || concat('{', concat_ws(',', '"k":' || sys.json_atom(1)), '}') || ']')::json)

-- case: a bit as a new value
JSON_MODIFY(@s, '$.a', CAST(1 AS bit))
-- expect
sys.json_modify(s, '$.a', (1::sys.bit = 1))

-- case: arguments of types that functions do not take
CONCAT(YEAR(@x), MONTH(@t), EOMONTH(@i), DATETRUNC(day, @n), DATETRUNC(day, @t), DATE_BUCKET(day, 1, @s), DATEPART(day, @g), SWITCHOFFSET(@i, 5), SWITCHOFFSET(@off, @d), @s AT TIME ZONE 'UTC', LTRIM(@x), SUSER_SNAME(@v), GET_TRANSMISSION_STATUS(@i), CRYPT_GEN_RANDOM(5, @s), FORMATMESSAGE(@d, 1))
-- expect
case.sql:1:8: error 8116: Argument data type xml is invalid for argument 1 of year function.
    1 | CONCAT(YEAR(@x), MONTH(@t), EOMONTH(@i), DATETRUNC(day, @n), DATETRUNC(day, @t), DATE_BUCKET(day, 1, @s), DATEPART(day, @g), SWITCHOFFSET(@i, 5), SWITCHOFFSET(@…
      |        ^^^^

case.sql:1:18: error 9810: The datepart month is not supported by date function datepart for data type time.
    1 | CONCAT(YEAR(@x), MONTH(@t), EOMONTH(@i), DATETRUNC(day, @n), DATETRUNC(day, @t), DATE_BUCKET(day, 1, @s), DATEPART(day, @g), SWITCHOFFSET(@i, 5), SWITCHOFFSET(@…
      |                  ^^^^^

case.sql:1:29: error 8116: Argument data type int is invalid for argument 1 of eomonth function.
    1 | CONCAT(YEAR(@x), MONTH(@t), EOMONTH(@i), DATETRUNC(day, @n), DATETRUNC(day, @t), DATE_BUCKET(day, 1, @s), DATEPART(day, @g), SWITCHOFFSET(@i, 5), SWITCHOFFSET(@…
      |                             ^^^^^^^

case.sql:1:42: error 8116: Argument data type decimal is invalid for argument 2 of datetrunc function.
    1 | CONCAT(YEAR(@x), MONTH(@t), EOMONTH(@i), DATETRUNC(day, @n), DATETRUNC(day, @t), DATE_BUCKET(day, 1, @s), DATEPART(day, @g), SWITCHOFFSET(@i, 5), SWITCHOFFSET(@…
      |                                          ^^^^^^^^^

case.sql:1:62: error 9810: The datepart day is not supported by date function datetrunc for data type time.
    1 | …EAR(@x), MONTH(@t), EOMONTH(@i), DATETRUNC(day, @n), DATETRUNC(day, @t), DATE_BUCKET(day, 1, @s), DATEPART(day, @g), SWITCHOFFSET(@i, 5), SWITCHOFFSET(@off, @d)…
      |                                                       ^^^^^^^^^

case.sql:1:82: error 8116: Argument data type nvarchar is invalid for argument 3 of date_bucket function.
    1 | …EOMONTH(@i), DATETRUNC(day, @n), DATETRUNC(day, @t), DATE_BUCKET(day, 1, @s), DATEPART(day, @g), SWITCHOFFSET(@i, 5), SWITCHOFFSET(@off, @d), @s AT TIME ZONE 'U…
      |                                                       ^^^^^^^^^^^

case.sql:1:107: error 8116: Argument data type uniqueidentifier is invalid for argument 2 of datepart function.
    1 | …y, @n), DATETRUNC(day, @t), DATE_BUCKET(day, 1, @s), DATEPART(day, @g), SWITCHOFFSET(@i, 5), SWITCHOFFSET(@off, @d), @s AT TIME ZONE 'UTC', LTRIM(@x), SUSER_SNA…
      |                                                       ^^^^^^^^

case.sql:1:126: error 8116: Argument data type int is invalid for argument 1 of switchoffset function.
    1 | …ay, @t), DATE_BUCKET(day, 1, @s), DATEPART(day, @g), SWITCHOFFSET(@i, 5), SWITCHOFFSET(@off, @d), @s AT TIME ZONE 'UTC', LTRIM(@x), SUSER_SNAME(@v), GET_TRANSMI…
      |                                                       ^^^^^^^^^^^^

case.sql:1:147: error 8116: Argument data type datetime is invalid for argument 2 of switchoffset function.
    1 | …day, 1, @s), DATEPART(day, @g), SWITCHOFFSET(@i, 5), SWITCHOFFSET(@off, @d), @s AT TIME ZONE 'UTC', LTRIM(@x), SUSER_SNAME(@v), GET_TRANSMISSION_STATUS(@i), CRY…
      |                                                       ^^^^^^^^^^^^

case.sql:1:171: error 8116: Argument data type nvarchar is invalid for argument 1 of AT TIME ZONE function.
    1 | …y, @g), SWITCHOFFSET(@i, 5), SWITCHOFFSET(@off, @d), @s AT TIME ZONE 'UTC', LTRIM(@x), SUSER_SNAME(@v), GET_TRANSMISSION_STATUS(@i), CRYPT_GEN_RANDOM(5, @s), FO…
      |                                                       ^^

case.sql:1:194: error 8116: Argument data type xml is invalid for argument 1 of ltrim function.
    1 | …T(@i, 5), SWITCHOFFSET(@off, @d), @s AT TIME ZONE 'UTC', LTRIM(@x), SUSER_SNAME(@v), GET_TRANSMISSION_STATUS(@i), CRYPT_GEN_RANDOM(5, @s), FORMATMESSAGE(@d, 1))
      |                                                           ^^^^^

case.sql:1:205: error 257: Implicit conversion from data type varchar to varbinary is not allowed. Use the CONVERT function to run this query.
    1 | …T(@i, 5), SWITCHOFFSET(@off, @d), @s AT TIME ZONE 'UTC', LTRIM(@x), SUSER_SNAME(@v), GET_TRANSMISSION_STATUS(@i), CRYPT_GEN_RANDOM(5, @s), FORMATMESSAGE(@d, 1))
      |                                                                      ^^^^^^^^^^^

case.sql:1:222: error 206: Operand type clash: int is incompatible with uniqueidentifier
    1 | …T(@i, 5), SWITCHOFFSET(@off, @d), @s AT TIME ZONE 'UTC', LTRIM(@x), SUSER_SNAME(@v), GET_TRANSMISSION_STATUS(@i), CRYPT_GEN_RANDOM(5, @s), FORMATMESSAGE(@d, 1))
      |                                                                                       ^^^^^^^^^^^^^^^^^^^^^^^

case.sql:1:251: error 257: Implicit conversion from data type nvarchar to varbinary is not allowed. Use the CONVERT function to run this query.
    1 | …T(@i, 5), SWITCHOFFSET(@off, @d), @s AT TIME ZONE 'UTC', LTRIM(@x), SUSER_SNAME(@v), GET_TRANSMISSION_STATUS(@i), CRYPT_GEN_RANDOM(5, @s), FORMATMESSAGE(@d, 1))
      |                                                                                                                    ^^^^^^^^^^^^^^^^

case.sql:1:276: error 8116: Argument data type datetime is invalid for argument 1 of formatmessage function.
    1 | …T(@i, 5), SWITCHOFFSET(@off, @d), @s AT TIME ZONE 'UTC', LTRIM(@x), SUSER_SNAME(@v), GET_TRANSMISSION_STATUS(@i), CRYPT_GEN_RANDOM(5, @s), FORMATMESSAGE(@d, 1))
      |                                                                                                                                             ^^^^^^^^^^^^^

-- case: arguments that functions convert
CONCAT(YEAR(@b8), SUSER_SNAME(@i), GET_TRANSMISSION_STATUS(@v), LTRIM(@i, '1'), SWITCHOFFSET(@t, @j), DATE_BUCKET(hour, 2, @t), DATE_BUCKET(day, 1, @off))
-- expect
concat(sys.year(sys.convert_datetime(b8)), sys.suser_sname(sys.convert_varbinary(i, 8000)), ssb.get_transmission_status(sys.convert_uniqueidentifier(v)), ltrim(i::text, '1'), sys.clock_to_varchar(sys.switchoffset(sys.convert_datetime2(t)::timestamp(6), j::integer), sys.switchoffset_clock(sys.convert_datetime2(t)::timestamp(6), j::integer), 7), sys.convert_nvarchar(sys.convert_time(sys.date_bucket('hour', 2, sys.convert_datetime2(t)::timestamp(6)))::time(6)), sys.convert_nvarchar(timezone('UTC', sys.date_bucket('day', 1, timezone('UTC', off)))::timestamptz(6)))

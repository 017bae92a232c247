-- CAST, CONVERT, TRY_ forms, PARSE.
-- given
sql CREATE FUNCTION dbo.fn(integer, text DEFAULT '') RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE FUNCTION sales.fn() RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE FUNCTION trader1_dbo.fn(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'
sql CREATE SEQUENCE dbo.numbers
declare @i int = 3, @j bigint = 4, @n decimal(10,2) = 7.5, @m money = 2, @f float = 1.5, @bit bit = 1
declare @s nvarchar(50) = N'text', @v varchar(10) = 'abc', @c char(5) = 'ab', @max nvarchar(max) = N'long', @type sysname = 'x'
declare @d datetime = '2020-01-02', @d2 datetime2(3) = '2020-01-02', @day date = '2020-01-02', @t time = '10:30', @off datetimeoffset = '2020-01-02'
declare @g uniqueidentifier = newid(), @b varbinary(max) = 0x41, @b8 varbinary(8) = 0x01, @x xml = '<a><b i="1">t</b></a>', @tiny tinyint = 1

-- case: int to varchar
CAST(@i AS varchar(10))
-- expect
sys.convert_varchar(i, 10)

-- case: int to roomy varchar
CAST(@i AS varchar(20))
-- expect
i::varchar(20)

-- case: int to varchar without length
CAST(@i AS varchar)
-- expect
i::varchar(30)

-- case: int to nvarchar max
CAST(@i AS nvarchar(max))
-- expect
i::text

-- case: bigint to int
CAST(@j AS int)
-- expect
j::integer

-- case: int to bigint
CAST(@i AS bigint)
-- expect
i::bigint

-- case: int to tinyint
CAST(@i AS tinyint)
-- expect
sys.convert_tinyint(i)

-- case: varchar to int
CAST(@v AS int)
-- expect
sys.convert_int(v)

-- case: literal to int
CAST('5' AS int)
-- expect
'5'::integer

-- case: decimal to int cuts
CAST(@n AS int)
-- expect
sys.convert_int(n)

-- case: float to int cuts
CAST(@f AS int)
-- expect
sys.convert_int(f)

-- case: int to decimal
CAST(@i AS decimal(10,2))
-- expect
sys.convert_decimal(i, 10, 2)

-- case: decimal to decimal
CAST(@n AS numeric(5,1))
-- expect
n::numeric(5,1)

-- case: int to float
CAST(@i AS float)
-- expect
i::double precision

-- case: string to shorter string
CAST(@s AS nvarchar(5))
-- expect
s::varchar(5)

-- case: string to max
CAST(@s AS nvarchar(max))
-- expect
s

-- case: string to char
CAST(@v AS char(10))
-- expect
v::char(10)

-- case: int to bit
CAST(@i AS bit)
-- expect
sys.convert_bit(i)

-- case: one to bit
CAST(1 AS bit)
-- expect
1::sys.bit

-- case: string to bit
CAST('true' AS bit)
-- expect
sys.convert_bit('true')

-- case: datetime to varchar
CAST(@d AS varchar(30))
-- expect
sys.convert_varchar(d, 30)

-- case: datetime with style
CONVERT(varchar(30), @d, 121)
-- expect
sys.convert_varchar(d, 30, 121)

-- case: datetime2 with style
CONVERT(varchar(30), @d2, 126)
-- expect
sys.datetime2_to_varchar(d2, 3, 30, 126)

-- case: date literal to datetime
CAST('20200101' AS datetime)
-- expect
'20200101'::timestamp(3)

-- case: odd date literal to datetime
CAST('1 Jan 2020' AS datetime)
-- expect
sys.convert_datetime('1 Jan 2020')

-- case: string to datetime with style
CONVERT(datetime, @v, 103)
-- expect
sys.convert_datetime(v, 103)

-- case: datetime to date
CAST(@d AS date)
-- expect
d::date

-- case: date to datetime
CAST(@day AS datetime)
-- expect
sys.convert_datetime(day)

-- case: string to time
CAST('10:30' AS time)
-- expect
'10:30'::time(6)

-- case: money to varchar
CONVERT(varchar(20), @m, 1)
-- expect
sys.money_to_varchar(m, 20, 1)

-- case: uniqueidentifier to varchar
CAST(@g AS varchar(36))
-- expect
sys.convert_varchar(g, 36)

-- case: guid literal
CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier)
-- expect
'6F9619FF-8B86-D011-B42D-00C04FC964FF'::uuid

-- case: string to uniqueidentifier
CAST(@v AS uniqueidentifier)
-- expect
sys.convert_uniqueidentifier(v)

-- case: varbinary to nvarchar
CAST(@b AS nvarchar(max))
-- expect
sys.text_of(b)

-- case: varbinary to varchar of a length
CAST(@b AS varchar(100))
-- expect
sys.convert_varchar(b, 100)

-- case: varbinary to hex
CONVERT(varchar(100), @b, 1)
-- expect
sys.convert_varchar(b, 100, 1)

-- case: varbinary to xml
CAST(@b AS xml)
-- expect
sys.xml_of(b)

-- case: string to xml
CAST(@max AS xml)
-- expect
sys.xml_of(max, 0, true)

-- case: string to xml with style
CONVERT(xml, @max, 1)
-- expect
sys.xml_of(max, 1, true)

-- case: xml to string
CAST(@x AS nvarchar(max))
-- expect
sys.xml_to_text(x)

-- case: xml to short string
CAST(@x AS varchar(100))
-- expect
sys.short_xml_text(sys.xml_to_text(x), 100, false)::varchar(100)

-- case: xml to varbinary
CAST(@x AS varbinary(max))
-- expect
sys.xml_to_bytes(x)

-- case: int to varbinary
CAST(@i AS varbinary(4))
-- expect
sys.convert_varbinary(i, 4)

-- case: datetime to varbinary
CAST(@d AS varbinary(8))
-- expect
sys.convert_varbinary(d, 8)

-- case: varbinary to int
CAST(@b8 AS int)
-- expect
sys.convert_int(b8)

-- case: varbinary to datetime
CAST(@b8 AS datetime)
-- expect
sys.convert_datetime(b8)

-- case: string to varbinary
CAST(@s AS varbinary(max))
-- expect
ssb.nvarchar_bytes(s)

-- case: bit to varbinary
CAST(@bit AS varbinary)
-- expect
sys.convert_varbinary(bit, 30)

-- case: try cast
TRY_CAST(@v AS int)
-- expect
sys.try_convert_int(v)

-- case: try convert with style
TRY_CONVERT(datetime, @v, 103)
-- expect
sys.try_convert_datetime(v, 103)

-- case: try cast to xml
TRY_CAST(@max AS xml)
-- expect
sys.try_xml_of(max, 0, true)

-- case: parse
PARSE(@v AS int USING 'de-DE')
-- expect
sys.parse_int(v, 'de-DE')

-- case: try parse
TRY_PARSE(@v AS date)
-- expect
sys.try_parse_date(v)

-- case: parse with precision and scale
PARSE(@v AS decimal(12,2) USING 'de-DE') + TRY_PARSE(@v AS numeric(9,1)) + PARSE(@v AS decimal)
-- expect
sys.parse_decimal(v, 'de-DE', 12, 2) + sys.try_parse_decimal(v, 'en-US', 9, 1) + sys.parse_decimal(v, 'en-US', 18, 0)

-- case: parse with a scale of seconds
TRY_PARSE(@v AS datetime2(3) USING 'en-US')
-- expect
sys.try_parse_datetime2(v, 'en-US')::timestamp(3)

-- case: a precision that is no constant
TIMEFROMPARTS(1, 1, 1, 0, NULL)
-- expect
case.sql:1:1: error 10760: Scale argument is not valid. Valid expressions for data type time scale argument are integer constants and integer constant expressions.
    1 | TIMEFROMPARTS(1, 1, 1, 0, NULL)
      | ^^^^^^^^^^^^^

-- case: parse into a type that it does not make
PARSE(@v AS nvarchar(10))
-- expect
case.sql:1:7: error 10761: Invalid data type nvarchar in function PARSE.
    1 | PARSE(@v AS nvarchar(10))
      |       ^^

-- case: null of a type
CAST(NULL AS int)
-- expect
NULL::integer

-- case: type names of the standard
CAST(@v AS character varying(20))
-- expect
v::varchar(20)

-- case: double precision
CAST(@i AS double precision)
-- expect
i::double precision

-- case: national character varying
CAST(@v AS national character varying(20))
-- expect
v::varchar(20)

-- case: unknown type
CAST(@i AS foo)
-- expect
case.sql:1:12: error 243: Type foo is not a defined system type.
    1 | CAST(@i AS foo)
      |            ^^^

-- case: refused type
CAST(@i AS geography)
-- expect
case.sql:1:12: error 243: geography needs PostGIS, which this product does not ask for
    1 | CAST(@i AS geography)
      |            ^^^^^^^^^

-- case: length out of range
CAST(@v AS varchar(9000))
-- expect
case.sql:1:12: error 131: The size (9000) given to the type 'varchar' exceeds the maximum allowed for any data type (8000).
    1 | CAST(@v AS varchar(9000))
      |            ^^^^^^^^^^^^^

-- case: scale above precision
CAST(@i AS decimal(3,4))
-- expect
case.sql:1:12: error 2751: Column or parameter #1: Specified column scale 4 is greater than the specified precision of 3.
    1 | CAST(@i AS decimal(3,4))
      |            ^^^^^^^^^^^^

-- Conditions under --collation ci.
-- given
collation ci
declare @s nvarchar(50) = N'text', @v varchar(10) = 'abc', @i int = 1

-- case: equality
@s = N'ABC  '
-- expect
lower(rtrim(s)) = 'abc'

-- case: of two variables
@s = @v
-- expect
lower(rtrim(s)) = lower(rtrim(v))

-- case: number
@i = 1
-- expect
i = 1

-- case: in
@s IN (N'A', N'b')
-- expect
lower(rtrim(s)) IN ('a', 'b')

-- case: like
@s LIKE N'A%'
-- expect
lower(s) LIKE 'a%'

-- case: case sensitive collation
@s COLLATE Latin1_General_CS_AS = N'ABC'
-- expect
s = 'ABC'

-- case: not equal
@s <> @v
-- expect
lower(rtrim(s)) <> lower(rtrim(v))

-- case: between
@s BETWEEN N'A' AND N'Z'
-- expect
lower(rtrim(s)) BETWEEN 'a' AND 'z'

-- case: case
CASE @s WHEN N'A' THEN 1 ELSE 0 END = 1
-- expect
(CASE WHEN lower(rtrim(s)) = 'a' THEN 1 ELSE 0 END = 1)

-- case: searches
charindex('B', @s) + patindex('%X%', @s) > len(replace(@s, 'A', 'b'))
-- expect
sys.charindex('b', lower(s)) + sys.patindex('%x%', lower(s)) > sys.len(sys.replace_ci(s, 'A', 'b'))

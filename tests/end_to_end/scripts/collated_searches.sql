-- CHARINDEX, PATINDEX and REPLACE compare as COLLATE says.
DECLARE @s NVARCHAR(20) = N'Ab.aB café'
SELECT CHARINDEX('B', @s) AS cs, CHARINDEX('B', @s COLLATE Latin1_General_CI_AS) AS ci, CHARINDEX('E', @s COLLATE Latin1_General_CI_AI) AS ai
SELECT PATINDEX('%B.A%', @s) AS cs, PATINDEX('%B.A%', @s COLLATE Latin1_General_CI_AS) AS ci
SELECT REPLACE(@s, 'B.A', '\1&') AS cs, REPLACE(@s COLLATE Latin1_General_CI_AS, 'B.A', '\1&') AS ci
SELECT REPLACE(@s COLLATE Latin1_General_BIN2, 'ab', 'x') AS bin, REPLACE(@s COLLATE Latin1_General_CI_AS, '', 'x') AS empty

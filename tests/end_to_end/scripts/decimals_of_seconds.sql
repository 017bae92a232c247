-- Conversions show as many decimals of seconds as their type has, in plain statements and in blocks.
SET NOCOUNT ON;
GO
SELECT CAST(LTRIM('10:11:12.345678') AS time(0)) AS t0, CONVERT(time(2), LTRIM('10:11:12.3')) AS t2, CAST(LTRIM('10:11:12') AS time) AS t7,
       CAST(LTRIM('2030-01-02') AS datetime2(0)) AS d0, CAST(LTRIM('2030-01-02') AS datetime2(3)) AS d3, CAST(LTRIM('2030-01-02') AS datetime2) AS d7,
       CAST(LTRIM('2030-01-02') AS datetimeoffset(1)) AS o1, TRY_CAST(LTRIM('x') AS time(0)) AS none, PARSE('10:11:12.5' AS time(1)) AS p1;
GO
DECLARE @s varchar(30) = '10:11:12.345678', @day varchar(30) = '2030-01-02';
SELECT CAST(@s AS time(0)) AS t0, CONVERT(time(2), LTRIM('10:11:12.3')) AS t2, CAST(LTRIM('10:11:12') AS time) AS t7,
       CAST(@day AS datetime2(0)) AS d0, CAST(@day AS datetime2(3)) AS d3, CAST(@day AS datetime2) AS d7,
       CAST(@day AS datetimeoffset(1)) AS o1, TRY_CAST(LTRIM('x') AS time(0)) AS none, PARSE('10:11:12.5' AS time(1)) AS p1;
GO

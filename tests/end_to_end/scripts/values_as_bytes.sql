-- Values of all kinds in a binary body, and back.
SET NOCOUNT ON
DECLARE @price MONEY = 2.5, @ratio REAL = 1.5, @due SMALLDATETIME = '2024-05-06T10:00:00', @sum DECIMAL(10, 2) = 12.34,
        @clock TIME(0) = '10:11:12', @moment DATETIME2(3) = '2024-05-06T10:11:12.123', @day DATE = '2024-05-06',
        @where DATETIMEOFFSET(7) = '2024-05-06T10:11:12.1234560+02:00'
SELECT CAST(@ratio AS VARBINARY(4)) AS ratio, CAST(@ratio AS BINARY(4)) AS ratio4, CAST(@due AS VARBINARY(8)) AS due,
       CAST(@due AS BINARY(4)) AS due4, CAST(@sum AS VARBINARY(20)) AS total, CAST(@clock AS VARBINARY(10)) AS clock,
       CAST(@moment AS VARBINARY(10)) AS moment, CAST(@day AS VARBINARY(3)) AS day, CAST(@where AS VARBINARY(12)) AS whereabouts
DECLARE @body VARBINARY(MAX) = CAST(@moment AS BINARY(8)) + CAST(@clock AS BINARY(4)) + CAST(@due AS BINARY(4))
SELECT CAST(SUBSTRING(@body, 1, 8) AS DATETIME2(3)) AS moment, CAST(SUBSTRING(@body, 9, 4) AS TIME(0)) AS clock,
       CAST(SUBSTRING(@body, 13, 4) AS SMALLDATETIME) AS due, CAST(CAST(@where AS VARBINARY(12)) AS DATETIMEOFFSET(3)) AS whereabouts,
       CAST(CAST(@sum AS VARBINARY(20)) AS DECIMAL(10, 2)) AS total
-- Money is rounded to a whole number, decimals are cut; noon counts as the next day.
DECLARE @whole INT
SET @whole = @price
SELECT @whole AS assigned, CAST(-@price AS INT) AS negative, CAST($3.49 AS BIGINT) AS literal, CAST(@sum + 0.5 AS INT) AS cut,
       CAST(CAST('2024-05-06T12:00:00' AS DATETIME) AS INT) - CAST(CAST('2024-05-06T11:59:59' AS DATETIME) AS INT) AS noon
SELECT $1.11 * $1.11 AS square, @price * @price * 2 AS twice
-- Repeated texts that are no (max) end where the type does.
DECLARE @letter NVARCHAR(5) = N'ab', @long VARCHAR(MAX) = 'ab', @times INT = 5000
SELECT LEN(REPLICATE('x', 9000)) AS x, LEN(REPLICATE(N'x', 9000)) AS nx, LEN(REPLICATE(@letter, @times)) AS letters,
       LEN(REPLICATE(@long, @times)) AS whole, LEN(REPLICATE(CAST('x' AS VARCHAR(MAX)), 9000)) AS wide, REPLICATE('ab', 3) AS few
-- Functions of strings take bytes apart; a CAST has them back, what is shown of them is text.
DECLARE @head BINARY(4) = 0x02000100, @text VARBINARY(MAX) = CAST('Hello World' AS VARBINARY(MAX))
SELECT CAST(CAST(REVERSE(@head) AS BINARY(4)) AS INT) AS little, CONVERT(VARBINARY(4), REVERSE(CONVERT(VARBINARY(4), 1))) AS one,
       CAST(RIGHT(@head, 2) AS VARBINARY(2)) AS tail, CAST(STUFF(@head, 2, 1, 0xFF) AS VARBINARY(8)) AS stuffed,
       CAST(REPLACE(0x12000200, 0x00, 0xFFFE) AS VARBINARY(8)) AS escaped, CAST(LEFT(REVERSE(@head), 1) AS VARBINARY(9)) AS nested
SELECT CHARINDEX(0x0100, @head) AS found, CHARINDEX(0x00, @head, 3) AS second, LEFT(@text, 5) AS l, RIGHT(@text, 5) AS r, REVERSE(@text) AS b
GO
-- PRINT shows the digits of bytes, a CAST the text that they are.
DECLARE @body VARBINARY(MAX) = CAST('<a/>' AS VARBINARY(MAX)), @none BINARY(2)
PRINT @body
PRINT @none
PRINT SUBSTRING(@body, 1, 2) + 0x0A
PRINT ISNULL(@none, 0x)
PRINT CAST(@body AS VARCHAR(10))
EXEC sp_executesql N'PRINT @p', N'@p VARBINARY(10)', 0xab
GO
SELECT CAST(0x09 AS TIME)
GO

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
-- FOR XML and FOR JSON: all decimals of the type, or none where all are 0.
DECLARE @seen TABLE (d7 datetime2, d3 datetime2(3), d0 datetime2(0), o7 datetimeoffset, o1 datetimeoffset(1), t7 time, t2 time(2), d datetime);
INSERT @seen VALUES ('2030-01-02T03:04:05.12', '2030-01-02T03:04:05.12', '2030-01-02T03:04:05', '2030-01-02T03:04:05.5+00:00',
                     '2030-01-02T03:04:05.5+00:00', '03:04:05.5', '03:04:05.5', '2030-01-02T03:04:05.120'),
                    ('2030-01-02T03:04:05', '2030-01-02T03:04:05', '2030-01-02T03:04:05', '2030-01-02T03:04:05+00:00',
                     '2030-01-02T03:04:05+00:00', '03:04:05', '03:04:05', '2030-01-02T03:04:05');
SELECT * FROM @seen FOR XML RAW;
SELECT * FROM @seen FOR JSON PATH;
SELECT JSON_OBJECT('d4': CAST('2030-01-02T03:04:05.5' AS datetime2(4))) AS made;
GO
-- of what is computed from columns, alone in its batch as beside variables
CREATE TABLE dbo.Shift (Worker INT, Began DATETIME2(0), Ended DATETIME2(3), Break_ TIME(0), Signed DATETIMEOFFSET(0), Old DATETIME, Minute_ SMALLDATETIME)
INSERT dbo.Shift VALUES (1, '2024-01-01 08:00', '2024-01-01 16:00:30.5', '10:30', '2024-01-02 00:00 +00:00', '2024-01-01 08:00', '2024-01-01 08:00:29')
GO
SELECT MIN(Began) AS began, MAX(Ended) AS ended, MIN(Break_) AS break_, MAX(Signed) AS signed, MAX(Old) AS old, MAX(Minute_) AS minute_ FROM dbo.Shift
GO
WITH first_ AS (SELECT Worker, MIN(Began) AS began, LAG(MIN(Began)) OVER (ORDER BY Worker) AS before FROM dbo.Shift GROUP BY Worker)
SELECT Worker, began, before, COALESCE(before, began) AS either, DATEADD(DAY, 1, began) AS tomorrow FROM first_
GO
DECLARE @worker INT = 1
SELECT MIN(Began) AS began, MAX(Ended) AS ended, MIN(Break_) AS break_, MAX(Signed) AS signed FROM dbo.Shift WHERE Worker = @worker
GO
DROP TABLE dbo.Shift
GO

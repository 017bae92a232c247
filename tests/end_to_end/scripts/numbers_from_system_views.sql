-- Tables of numbers, from what every database has enough of.
SET NOCOUNT ON
SELECT COUNT(*) AS n, MIN(i) AS low, MAX(i) AS high FROM (SELECT TOP (5000) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS i FROM sys.all_objects a CROSS JOIN sys.all_objects b) AS q
SELECT TOP (4) IDENTITY(int, 1, 1) AS n INTO #numbers FROM sys.all_columns a CROSS JOIN sys.all_columns b
SELECT n FROM #numbers ORDER BY n
;WITH t AS (SELECT TOP (7) ROW_NUMBER() OVER (ORDER BY object_id) - 1 AS d FROM sys.all_objects)
SELECT DATENAME(weekday, DATEADD(day, d, '20240101')) AS d FROM t WHERE d > 4 ORDER BY t.d
SELECT name, type_desc, is_ms_shipped FROM sys.all_objects WHERE name = 'all_objects' AND schema_id = SCHEMA_ID('sys')
SELECT v.name, c.name AS [column] FROM sys.system_views v JOIN sys.system_columns c ON c.object_id = v.object_id WHERE v.object_id = OBJECT_ID('sys.service_queues') AND c.name LIKE 'is_poison%'
SELECT name, SCHEMA_NAME(schema_id) AS [schema] FROM sys.all_views WHERE name IN ('TABLES', 'dm_broker_activated_tasks') ORDER BY name
SELECT name, type FROM sys.user_token WHERE name IN (USER_NAME(), 'public') ORDER BY name
SELECT name, type FROM sys.login_token WHERE name = 'public'
IF NOT EXISTS (SELECT * FROM sys.server_event_sessions WHERE name = N'broker') PRINT 'no session'
SELECT COUNT(*) AS own FROM sys.objects WHERE is_ms_shipped = 0
GO
SELECT CAST('abc' AS decimal(5, 2))
GO
SELECT CONVERT(datetime, '20240231')
GO

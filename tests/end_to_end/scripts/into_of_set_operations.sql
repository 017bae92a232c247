-- INTO stands in the first SELECT of a query: what follows it fills the table too.
SELECT 1 AS a INTO #two UNION ALL SELECT 2;
GO
SELECT a FROM #two ORDER BY a;
GO
WITH c AS (SELECT 5 AS a) SELECT a INTO dbo.Rest FROM c EXCEPT SELECT 6;
SELECT a FROM dbo.Rest;
GO
DECLARE @i int = 3;
SELECT @i AS a INTO #w UNION SELECT 4 INTERSECT SELECT 4 ORDER BY a;
SELECT a, @@ROWCOUNT AS n FROM #w;
GO
SELECT 1 AS a UNION ALL SELECT 2 INTO #late;
GO
SELECT a FROM (SELECT 1 AS a INTO #inner) AS x;
GO
INSERT dbo.Rest SELECT 7 INTO #inner;
GO
-- The names in a queue have lengths.
CREATE QUEUE dbo.Names;
GO
SELECT * INTO dbo.Kept FROM dbo.Names;
SELECT message_type_name AS type, status, message_type_name + N'' AS longer INTO #kept FROM dbo.Names AS q;
GO
SELECT name, max_length FROM sys.columns WHERE object_id = OBJECT_ID('dbo.Kept') AND name IN ('service_name', 'validation', 'message_body');
SELECT name, max_length FROM tempdb.sys.columns WHERE object_id = OBJECT_ID('tempdb..#kept');
GO

-- A bit or an xml that may be NULL by CASE, COALESCE, VALUES or UNION stays one.
CREATE FUNCTION dbo.Tree (@level INT) RETURNS XML AS
BEGIN
    RETURN (SELECT @level AS [@level],
                   CASE WHEN @level < 3 THEN (SELECT dbo.Tree(@level + 1) FOR XML PATH(''), ROOT('below'), TYPE) END
            FOR XML PATH('node'), TYPE);
END;
GO
SET NOCOUNT ON;
SELECT dbo.Tree(1) AS tree;
GO
DECLARE @x XML = N'<a/>', @b BIT = 1;
SELECT CASE WHEN @b = 1 THEN @x END AS c, IIF(@b = 1, @x, NULL) AS i, COALESCE(@x, NULL) AS o, CHOOSE(1, @x, NULL) AS h,
       (SELECT CASE WHEN @b = 1 THEN @x END) AS s FOR XML PATH('row');
SELECT CASE WHEN @b = 1 THEN @x END AS c, (SELECT CASE WHEN @b = 1 THEN @b END) AS d FOR JSON PATH;
SELECT a, b FROM (VALUES (@x, @b), (NULL, NULL)) AS v (a, b) FOR XML PATH('row');
SELECT a, b FROM (SELECT NULL AS a, CASE WHEN @b = 1 THEN @b END AS b UNION ALL SELECT @x, NULL) AS u FOR XML PATH('row');
WITH r AS (SELECT 1 AS n, @x AS a UNION ALL SELECT n + 1, CASE WHEN n = 1 THEN a END FROM r WHERE n < 3)
SELECT n, a FROM r FOR XML PATH('row');
GO
CREATE VIEW dbo.Shown AS
SELECT CASE WHEN object_id > 0 THEN is_ms_shipped END AS b, CASE WHEN object_id > 0 THEN CAST('<a/>' AS XML) END AS x FROM sys.objects;
GO
CREATE FUNCTION dbo.Asked (@i INT) RETURNS TABLE AS
RETURN SELECT IIF(@i = 1, CAST(1 AS BIT), NULL) AS b, CASE WHEN @i = 1 THEN CAST('<a/>' AS XML) END AS x;
GO
DECLARE @b BIT = 1;
SELECT CASE WHEN @b = 1 THEN @b END AS b, CASE WHEN @b = 1 THEN CAST('<a/>' AS XML) END AS x, NULL AS n INTO dbo.Copied
UNION ALL SELECT NULL, NULL, NULL;
SELECT DISTINCT CASE WHEN @b = 1 THEN @b END AS b INTO #distinct ORDER BY CASE WHEN @b = 1 THEN @b END;
SELECT OBJECT_NAME(object_id) AS made, name, TYPE_NAME(system_type_id) AS type FROM sys.columns
WHERE object_id IN (OBJECT_ID('dbo.Shown'), OBJECT_ID('dbo.Copied')) ORDER BY made, column_id;
UPDATE dbo.Copied SET b = 7;
SELECT * FROM dbo.Copied FOR XML PATH('row');
SELECT TOP (1) * FROM dbo.Shown FOR JSON PATH;
SELECT * FROM dbo.Asked(1) FOR JSON PATH;
SELECT * FROM dbo.Asked(2) FOR XML PATH('row');
GO

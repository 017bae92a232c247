-- Names that XML and JSON do not take, and queries without what their form needs.
CREATE TABLE dbo.Crate (Id INT PRIMARY KEY, [Net Weight] DECIMAL(9,2), Label NVARCHAR(20) NULL)
INSERT dbo.Crate VALUES (1, 2.5, N'salt'), (2, 4, NULL)
GO
SELECT Id, [Net Weight] FROM dbo.Crate FOR XML PATH('crate')
GO
SELECT Id FROM dbo.Crate FOR XML PATH('a crate')
GO
SELECT Id FROM dbo.Crate FOR XML RAW('crate'), ROOT('2crates')
GO
SELECT Id AS [@c:id] FROM dbo.Crate FOR XML PATH('crate')
GO
SELECT Id FROM dbo.Crate FOR XML PATH('c:crate')
GO
SELECT Id AS [crate/], Label FROM dbo.Crate FOR XML PATH
GO
SELECT COUNT(*), MAX(Id) AS largest FROM dbo.Crate FOR XML AUTO
GO
SELECT 1 AS one FOR XML AUTO
GO
SELECT 1 AS one FOR JSON AUTO
GO
SET NOCOUNT ON
-- Fragments carry their namespaces at each element.
SELECT Id, Label FROM dbo.Crate ORDER BY Id FOR XML PATH(''), ELEMENTS XSINIL
;WITH XMLNAMESPACES ('urn:crates' AS c)
SELECT Id AS [c:id], Label AS [c:more/label] FROM dbo.Crate ORDER BY Id FOR XML PATH('')
-- The prefix xml needs no declaration.
SELECT 'de' AS [@xml:lang], Id FROM dbo.Crate ORDER BY Id FOR XML PATH('crate')
-- XML without a name stands in its row's element.
SELECT c.Id, (SELECT o.Label FROM dbo.Crate AS o WHERE o.Id = c.Id FOR XML AUTO, TYPE) FROM dbo.Crate AS c ORDER BY c.Id FOR XML AUTO
SELECT [key], value FROM OPENJSON(N'  "salt"')
SELECT * FROM OPENJSON(N'12') WITH (a INT)
SELECT [key], value FROM OPENJSON(N'{"a":"salt"}', '$.a')
GO
-- A row of nodes() is no value.
SELECT n.c FROM (SELECT CAST(N'<a/>' AS XML) AS x) AS d CROSS APPLY d.x.nodes('/a') AS n(c)
GO
SELECT * FROM (SELECT CAST(N'<a/>' AS XML) AS x) AS d CROSS APPLY d.x.nodes('/a') AS n(c)
GO
DECLARE @x XML = N'<a/>' SELECT CONVERT(NVARCHAR(9), c) FROM @x.nodes('/a') AS n(c)
GO
-- Views and functions
CREATE VIEW dbo.Weights AS SELECT Id, [Net Weight] * 2 FROM dbo.Crate
GO
CREATE VIEW dbo.Weights AS SELECT Id, Label AS ID FROM dbo.Crate
GO
CREATE VIEW dbo.Weights (Id) AS SELECT Id, Label FROM dbo.Crate
GO
CREATE VIEW dbo.Weights AS SELECT Id FROM dbo.Crate UNION ALL SELECT Id FROM dbo.Crate ORDER BY Id
GO
CREATE FUNCTION dbo.Heavier (@than INT) RETURNS TABLE AS RETURN SELECT Id, [Net Weight] - @than FROM dbo.Crate
GO
CREATE FUNCTION dbo.Heavier (@than INT) RETURNS TABLE AS RETURN (SELECT Id FROM dbo.Crate ORDER BY Id)
GO
SELECT * FROM (SELECT Id FROM dbo.Crate ORDER BY Id) AS c
GO
WITH c AS (SELECT Id FROM dbo.Crate ORDER BY Id) SELECT * FROM c
GO
SELECT Id FROM dbo.Crate WHERE Id IN (SELECT Id FROM dbo.Crate ORDER BY Label)
GO
SELECT TOP (1) Id FROM dbo.Crate ORDER BY Id OFFSET 1 ROWS
GO
SELECT TOP (1) Id FROM dbo.Crate ORDER BY Id OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY
GO
SELECT * FROM (SELECT TOP (1) Id FROM dbo.Crate ORDER BY Id OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY) AS c
GO
SET NOCOUNT ON
SELECT * FROM (SELECT TOP 1 Id FROM dbo.Crate ORDER BY Id DESC) AS c
SELECT (SELECT Id FROM dbo.Crate ORDER BY Id FOR XML RAW) AS x
SELECT * FROM (SELECT Id FROM dbo.Crate ORDER BY Id OFFSET 1 ROWS) AS c
GO
-- OUTPUT to the client beside a trigger
CREATE TRIGGER dbo.Weighed ON dbo.Crate AFTER UPDATE AS SET NOCOUNT ON
GO
UPDATE dbo.Crate SET Label = N'x' OUTPUT inserted.Id
GO
SELECT 0x01 AS b FOR XML RAW
GO
SELECT 0x01 AS b FOR XML RAW, BINARY BASE64
GO

-- A procedure with SELECT *, and columns that its table gets afterwards.
SET NOCOUNT ON
CREATE TABLE dbo.Item (Id int PRIMARY KEY, Sku varchar(10))
INSERT dbo.Item VALUES (1, 'a')
GO
CREATE PROCEDURE dbo.AllItems @max int AS SELECT * FROM dbo.Item WHERE Id <= @max
GO
EXEC dbo.AllItems 5
GO
ALTER TABLE dbo.Item ADD Price money NULL, Note nvarchar(20) NULL
GO
EXEC dbo.AllItems 5
EXEC dbo.AllItems 0
GO
ALTER TABLE dbo.Item DROP COLUMN Sku
GO
EXEC dbo.AllItems 5
SELECT 1 AS a, 2 AS a

-- Tables swapped by a load, renamed columns, constraints.
CREATE TABLE dbo.Price (Sku varchar(10) NOT NULL CONSTRAINT PK_Price PRIMARY KEY, Amount money, CONSTRAINT CK_Amount CHECK (Amount >= 0))
CREATE TABLE dbo.Price_New (Sku varchar(10) NOT NULL CONSTRAINT PK_Price_New PRIMARY KEY, Amount money, ValidFrom date)
INSERT dbo.Price_New VALUES ('a', 1.5, '20240131')
GO
CREATE PROCEDURE dbo.GetPrice @Sku varchar(10) AS SELECT * FROM dbo.Price WHERE Sku = @Sku
GO
BEGIN TRAN
EXEC sp_rename 'dbo.Price', 'Price_Old'
EXEC sp_rename @objname = N'[dbo].[Price_New]', @newname = N'Price'
COMMIT
GO
SELECT * FROM dbo.Price
EXEC sp_rename 'dbo.Price.ValidFrom', 'Since', 'COLUMN'
SELECT * FROM dbo.Price
INSERT dbo.Price (Sku, Amount, Since) SELECT 'b', 2, '20240201' UNION ALL SELECT 'c', 3, '20240301'
EXEC sp_rename 'dbo.PK_Price_New', 'PK_Price_2', 'OBJECT'
EXEC sp_rename 'dbo.CK_Amount', 'CK_Amount_Old'
GO
SELECT Sku, Since FROM dbo.Price ORDER BY Sku
SELECT name FROM sys.objects WHERE type IN ('PK', 'C') AND name LIKE '%price%' OR name LIKE 'ck%' ORDER BY name
EXEC dbo.GetPrice 'a'
EXEC sp_rename 'dbo.Nothing', 'Something'
GO
-- Indexes go with their table, so that its successor may have indexes of the same names; defaults have names too.
SET NOCOUNT ON
CREATE TABLE dbo.Load (i INT CONSTRAINT DF_Load DEFAULT 1, t NVARCHAR(10), CONSTRAINT PK_Load PRIMARY KEY (i))
CREATE INDEX IX_Load_t ON dbo.Load (t)
CREATE INDEX ByText ON dbo.Load (t, i)
EXEC sp_rename 'dbo.Load', 'Load_Old'
EXEC sp_rename 'dbo.PK_Load', 'PK_Old', 'OBJECT'
EXEC sp_rename 'dbo.DF_Load', 'DF_Old'
CREATE TABLE dbo.Load (i INT CONSTRAINT DF_Load DEFAULT 1, t NVARCHAR(10), CONSTRAINT PK_Load PRIMARY KEY (i))
CREATE INDEX IX_Load_t ON dbo.Load (t)
CREATE INDEX Temporary ON dbo.Load (t, i)
EXEC sp_rename 'dbo.Load.Temporary', 'ByText', 'INDEX'
SELECT OBJECT_NAME(object_id) AS t, name FROM sys.indexes WHERE OBJECT_NAME(object_id) LIKE 'Load%' ORDER BY 1, 2
SELECT OBJECT_NAME(parent_object_id) AS t, name FROM sys.default_constraints WHERE name LIKE 'DF%' ORDER BY 1
DROP INDEX ByText ON dbo.Load_Old
DROP INDEX IX_Load_t ON dbo.Load
GO
DECLARE @rc INT
EXEC @rc = sp_rename 'dbo.Load', 'Load_Old'
PRINT @rc
EXEC @rc = sp_rename 'dbo.Load.t', 'i', 'COLUMN'
EXEC sp_rename 'dbo.Load_Old.IX_Load_t', 'pk_old', 'INDEX'
EXEC sp_rename 'dbo.Load.nothing', 'i', 'COLUMN'
EXEC sp_rename 'dbo.Load.nothing', 'i', 'INDEX'
EXEC sp_rename 'dbo.GetPrice', 'ReadPrice'
EXEC @rc = sp_rename 'dbo.Load', 'Load_2'
PRINT @rc
GO

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

-- A DBA changes columns' types: each DEFAULT goes, and comes back as the catalog told it
CREATE SEQUENCE dbo.Numbers
CREATE TABLE dbo.Customer
(
    Id INT NOT NULL DEFAULT (NEXT VALUE FOR dbo.Numbers),
    Status VARCHAR(5) NOT NULL CONSTRAINT DF_Status DEFAULT ('it''s'),
    Made DATETIME NOT NULL DEFAULT (GETDATE()),
    Rate DECIMAL(5, 2) NOT NULL DEFAULT -1.5,
    Tag UNIQUEIDENTIFIER NULL DEFAULT NEWID(),
    Day_ DATE NULL DEFAULT CONVERT(DATE, GETDATE()),
    Since DATE NULL DEFAULT '19000101',
    Bytes VARBINARY(4) NULL DEFAULT 0x0AFF,
    Doc XML NULL DEFAULT '<a/>',
    Spid INT NULL DEFAULT @@SPID,
    Total AS Rate * 2,
    Active BIT NOT NULL CONSTRAINT DF_Active DEFAULT 1,
    Sum_ MONEY NULL DEFAULT $2,
    Late DATETIME NULL DEFAULT DATEADD(DAY, 1, GETUTCDATE()),
    CONSTRAINT CK_Rate CHECK (Rate < 100)
)
GO
SET NOCOUNT ON
SELECT COL_NAME(parent_object_id, parent_column_id) AS col, definition FROM sys.default_constraints
 WHERE parent_object_id = OBJECT_ID('dbo.Customer') ORDER BY parent_column_id
DECLARE @sql NVARCHAR(MAX), @column SYSNAME, @type SYSNAME, @name SYSNAME, @value NVARCHAR(MAX)
DECLARE changes CURSOR LOCAL FAST_FORWARD FOR
    SELECT c.name, ty.new, d.name, d.definition
      FROM (VALUES (N'Status', N'VARCHAR(10)'), (N'Made', N'DATETIME2(3)'), (N'Rate', N'DECIMAL(9, 4)'), (N'Active', N'TINYINT'),
                   (N'Id', N'BIGINT'), (N'Bytes', N'VARBINARY(8)')) AS ty (col, new)
      JOIN sys.columns AS c ON c.object_id = OBJECT_ID('dbo.Customer') AND c.name = ty.col
      JOIN sys.default_constraints AS d ON d.object_id = c.default_object_id
OPEN changes
FETCH NEXT FROM changes INTO @column, @type, @name, @value
WHILE @@FETCH_STATUS = 0
BEGIN
    IF @column = N'Rate' ALTER TABLE dbo.Customer DROP COLUMN Total
    IF @column = N'Rate' ALTER TABLE dbo.Customer DROP CONSTRAINT CK_Rate
    SET @sql = N'ALTER TABLE dbo.Customer DROP CONSTRAINT ' + QUOTENAME(@name) + N';
    ALTER TABLE dbo.Customer ALTER COLUMN ' + QUOTENAME(@column) + N' ' + @type + N';
    ALTER TABLE dbo.Customer ADD CONSTRAINT ' + QUOTENAME(CONCAT(N'DF_Customer_', @column)) + N' DEFAULT ' + @value + N' FOR ' + QUOTENAME(@column)
    EXEC (@sql)
    FETCH NEXT FROM changes INTO @column, @type, @name, @value
END
CLOSE changes
DEALLOCATE changes
GO
SET NOCOUNT ON
INSERT dbo.Customer DEFAULT VALUES
SELECT Id, Status, Rate, Active, Bytes, Sum_, CASE WHEN Made > '2020' AND Tag IS NOT NULL THEN 'set' END AS others FROM dbo.Customer
SELECT name, OBJECT_DEFINITION(object_id) AS definition FROM sys.default_constraints
 WHERE parent_object_id = OBJECT_ID('dbo.Customer') AND is_system_named = 0 ORDER BY parent_column_id
-- columns in their order, without ORDER BY
DECLARE @list NVARCHAR(MAX)
SELECT @list = COALESCE(@list + N', ', N'') + COLUMN_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'Customer'
PRINT @list
GO
CREATE TABLE dbo.Checked (Rate INT CONSTRAINT CK_Checked CHECK (Rate < 100))
SELECT OBJECT_DEFINITION(OBJECT_ID('CK_Checked')) AS definition
GO
CREATE FUNCTION dbo.Doubled (@n DECIMAL(9, 2)) RETURNS DECIMAL(9, 2) AS BEGIN RETURN @n * 2 END
GO
CREATE FUNCTION dbo.Rows_ () RETURNS TABLE AS RETURN SELECT 1 AS n
GO
CREATE PROCEDURE dbo.Nothing AS RETURN 0
GO
SELECT ROUTINE_NAME, DATA_TYPE, ROUTINE_BODY FROM INFORMATION_SCHEMA.ROUTINES ORDER BY ROUTINE_NAME
GO
-- names as they are spelled: of a history, of a computed column behind a view
CREATE TABLE dbo.Price
(
    Article INT PRIMARY KEY, Amount MONEY, Gross AS Amount * 2,
    F DATETIME2 GENERATED ALWAYS AS ROW START, T DATETIME2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (F, T)
) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.PriceWas))
GO
SELECT name, temporal_type_desc, OBJECT_NAME(history_table_id) AS history FROM sys.tables WHERE name LIKE 'Price%' ORDER BY name
SELECT name, TYPE_NAME(user_type_id) AS type FROM sys.columns WHERE object_id = OBJECT_ID('dbo.PriceWas')
DELETE dbo.PriceWas
GO
CREATE VIEW dbo.Prices AS SELECT Article, Gross FROM dbo.Price
GO
UPDATE dbo.Prices SET Gross = 1
GO
EXEC sp_addextendedproperty 'Version', '1'
EXEC sp_addextendedproperty 'Version', '2'
EXEC sp_updateextendedproperty 'Versio', '2'
GO
SELECT SERVERPROPERTY('ProductMajorVersion') AS major, PARSENAME(CAST(SERVERPROPERTY('ProductVersion') AS VARCHAR(20)), 4) AS parsed, @@MICROSOFTVERSION / 0x1000000 AS number
GO

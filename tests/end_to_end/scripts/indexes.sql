CREATE TABLE dbo.Customer (CustomerID int IDENTITY(1,1) NOT NULL CONSTRAINT PK_Customer PRIMARY KEY, Name nvarchar(50) NOT NULL, Balance money NULL)
CREATE NONCLUSTERED INDEX IX_Name ON dbo.Customer (Name DESC) INCLUDE (Balance)
IF NOT EXISTS (SELECT * FROM sys.indexes WHERE name = 'IX_Name' AND object_id = OBJECT_ID('dbo.Customer')) CREATE INDEX IX_Name ON dbo.Customer (Name)
SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.Customer') ORDER BY name
DROP INDEX IX_Name ON dbo.Customer
DROP INDEX Customer.IX_Name

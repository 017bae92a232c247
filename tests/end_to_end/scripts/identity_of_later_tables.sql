-- a procedure made before its table: an INSERT without a column list does not fill the identity column
SET NOCOUNT ON
GO
CREATE PROCEDURE dbo.adds AS INSERT dbo.later VALUES (7)
GO
CREATE PROCEDURE dbo.copies AS INSERT dbo.later SELECT 8
GO
CREATE TABLE dbo.later (a INT, id INT IDENTITY)
GO
EXEC dbo.adds
SELECT a, id FROM dbo.later
DROP TABLE dbo.later
GO
CREATE TABLE dbo.later (id INT IDENTITY, a INT)
GO
EXEC dbo.adds
GO
EXEC dbo.copies
GO
SELECT a, id FROM dbo.later
GO
CREATE OR ALTER PROCEDURE dbo.adds AS INSERT dbo.later VALUES (7)
GO
EXEC dbo.adds
SELECT a, id FROM dbo.later
GO
CREATE TABLE dbo.plain (a INT)
GO

-- Objects that are asked for what they cannot do.
SET NOCOUNT ON
CREATE TABLE dbo.Depot (Id INT PRIMARY KEY, Town VARCHAR(20), Area INT NULL, Plan_ XML NULL)
CREATE TABLE dbo.Ramp (Id INT PRIMARY KEY, Depot INT REFERENCES dbo.Depot (Id))
GO
CREATE VIEW dbo.TownsCounted AS SELECT Town, COUNT(*) AS depots FROM dbo.Depot GROUP BY Town
GO
CREATE VIEW dbo.DepotRamps AS SELECT d.Id, d.Town, r.Id AS Ramp FROM dbo.Depot AS d JOIN dbo.Ramp AS r ON r.Depot = d.Id
GO
CREATE VIEW dbo.Doubled AS SELECT Id, Area * 2 AS Twice FROM dbo.Depot
GO
CREATE VIEW dbo.Everything AS SELECT Id FROM dbo.Depot UNION ALL SELECT Id FROM dbo.Ramp
GO
CREATE VIEW dbo.Towns AS SELECT DISTINCT Town FROM dbo.Depot
GO
UPDATE dbo.TownsCounted SET Town = 'x'
GO
DELETE dbo.DepotRamps
GO
UPDATE dbo.Doubled SET Twice = 2
GO
INSERT dbo.Everything VALUES (1)
GO
INSERT dbo.Towns VALUES ('x')
GO
BEGIN TRY INSERT sys.services (name) VALUES (N'x') END TRY
BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_MESSAGE()) END CATCH
GO
SELECT ~Town FROM dbo.Depot
GO
SELECT Town & 1 FROM dbo.Depot
GO
DROP TABLE dbo.Depot
GO
TRUNCATE TABLE dbo.Depot
GO
ALTER TABLE dbo.Depot ADD town INT
GO
ALTER TABLE dbo.Depot ALTER COLUMN Town INT
GO
ALTER TABLE dbo.Ramp ADD PRIMARY KEY (Depot)
GO
CREATE TABLE dbo.Gate (a INT IDENTITY, b INT IDENTITY(1, 1))
GO
CREATE TABLE dbo.Gate (a VARCHAR(9) IDENTITY)
GO
CREATE TABLE dbo.Gate (a DECIMAL(9, 2) IDENTITY)
GO
EXEC dbo.Depot
EXEC dbo.Towns
GO
-- A database that is not there leaves the script where it was.
USE NoSuchDepots
GO
SELECT * FROM NoSuchDepots.dbo.Depot
GO
SELECT COUNT(*) AS depots FROM dbo.Depot
GO
CREATE DATABASE Elsewhere
GO
USE Elsewhere
SELECT 1 / 0
GO
CREATE TABLE dbo.Here (a INT)
USE NoSuchDepots
GO
SELECT DB_NAME() AS db, name FROM sys.tables
GO
GO
-- DROP of what is there as something else
CREATE QUEUE dbo.Parcels
CREATE SYNONYM dbo.Other FOR dbo.Nothing
EXEC ('CREATE PROCEDURE dbo.Deliver AS RETURN 0')
EXEC ('CREATE FUNCTION dbo.Weight() RETURNS INT AS BEGIN RETURN 1 END')
GO
DROP PROCEDURE dbo.Parcels
DROP PROCEDURE IF EXISTS dbo.Weight
DROP FUNCTION dbo.Deliver
DROP TABLE dbo.Deliver
DROP VIEW IF EXISTS dbo.Weight
DROP QUEUE dbo.Deliver
DROP SYNONYM dbo.Parcels
DROP PROCEDURE dbo.Other
EXEC sp_rename 'dbo.Nobody', 'Somebody', 'OBJECT'
GO
DROP PROCEDURE dbo.Deliver
DROP FUNCTION dbo.Weight
DROP SYNONYM dbo.Other
DROP QUEUE dbo.Parcels
GO

-- A USE that fails, or is not reached, leaves the batches behind it where the session is.
SET NOCOUNT ON
CREATE DATABASE Elsewhere
CREATE TABLE dbo.Here (Id INT)
CREATE QUEUE dbo.HereQueue
GO
BEGIN TRY
    USE Nowhere
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_MESSAGE())
END CATCH
GO
SELECT COUNT(*) AS rows FROM dbo.Here
SELECT COUNT(*) AS messages FROM dbo.HereQueue
GO
IF DB_ID('Nowhere') IS NOT NULL USE Elsewhere
GO
SELECT COUNT(*) AS rows FROM dbo.Here
CREATE QUEUE dbo.Made
GO
SELECT COUNT(*) AS queues FROM sys.service_queues WHERE name IN ('HereQueue', 'Made')
GO
IF DB_ID('Nowhere') IS NULL USE Elsewhere
GO
SELECT COUNT(*) AS queues FROM sys.service_queues WHERE name IN ('HereQueue', 'Made')
GO

-- What SET says in a batch that does not compile has not been said; nor has USE, where the batches run.
CREATE DATABASE Elsewhere
GO
SET NOCOUNT ON
SET XACT_ABORT ON
PRINT (SELECT 1)
GO
CREATE TABLE dbo.Parcel (id INT IDENTITY PRIMARY KEY, weight INT)
INSERT dbo.Parcel (weight) VALUES (3), (4)
GO
BEGIN TRAN
INSERT dbo.Parcel (weight) VALUES (1 / 0)
PRINT CONCAT('still open: ', @@TRANCOUNT)
COMMIT
GO
USE Elsewhere
PRINT (SELECT 1)
GO
SET IDENTITY_INSERT dbo.Parcel ON
PRINT (SELECT 1)
GO
INSERT dbo.Parcel (id, weight) VALUES (7, 7)
GO
SELECT SUM(weight) AS weight FROM dbo.Parcel
GO

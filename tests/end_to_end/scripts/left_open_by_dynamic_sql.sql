-- A transaction that dynamic SQL begins is open in the batches after it, until one of them ends it.
SET NOCOUNT ON
CREATE TABLE Kept (a INT)
GO
EXEC sp_executesql N'BEGIN TRAN INSERT Kept VALUES (1)'
PRINT CONCAT('same batch ', @@TRANCOUNT)
GO
PRINT CONCAT('next batch ', @@TRANCOUNT)
GO
EXEC ('COMMIT')
PRINT CONCAT('ended ', @@TRANCOUNT)
GO
EXEC (N'BEGIN TRANSACTION; INSERT Kept VALUES (2)')
GO
IF @@TRANCOUNT > 0 ROLLBACK
GO
EXEC ('BEGIN TRAN INSERT Kept VALUES (3) COMMIT')
GO
SELECT a, @@TRANCOUNT AS depth FROM Kept ORDER BY a

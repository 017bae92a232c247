-- What stands around an error: the names in it as they are written, its state, @@ERROR behind it, message 3621.
SET NOCOUNT ON
CREATE TABLE Kept (a INT)
GO
ALTER TABLE Kept ADD a INT
GO
ALTER TABLE dbo.Kept ADD A INT
GO
BEGIN TRY
    ALTER TABLE dbo.Kept ADD a INT
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE()
END CATCH
BEGIN TRY
    ALTER TABLE Kept ADD A INT
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE()
END CATCH
GO
SELECT a FROM #none
GO
UPDATE ##none SET a = 1
GO
SELECT a FROM None
GO
BEGIN TRY
    EXEC ('SELECT a FROM #none')
END TRY
BEGIN CATCH
    PRINT ERROR_STATE()
END CATCH
GO
-- A procedure that is missing, or does not take the arguments, runs nothing: the INSERT has its error.
CREATE PROCEDURE Takes @n INT AS SELECT @n
GO
DECLARE @name SYSNAME = N'Nobody'
INSERT Kept EXEC Nobody
PRINT @@ERROR
INSERT Kept EXEC @name
PRINT @@ERROR
SET @name = N'Takes'
INSERT Kept EXEC @name
PRINT @@ERROR
INSERT Kept EXEC @name 5
PRINT CONCAT(@@ERROR, ' ', @@ROWCOUNT)
GO
-- An error of a trigger, where the transaction began in this batch or an earlier one.
CREATE TABLE Small (a INT CHECK (a < 10))
GO
CREATE TRIGGER Copies ON Kept AFTER INSERT AS INSERT Small SELECT a FROM inserted
GO
BEGIN TRAN
INSERT Kept VALUES (50)
PRINT 'not here'
GO
PRINT @@TRANCOUNT
GO
BEGIN TRAN
GO
INSERT Kept VALUES (50)
GO
PRINT @@TRANCOUNT
SET XACT_ABORT ON
BEGIN TRAN
INSERT Small VALUES (50)
GO
PRINT @@TRANCOUNT

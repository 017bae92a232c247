-- A procedure that the script makes later is missing until then, and TRY catches that.
BEGIN TRY EXEC dbo.MadeLater END TRY
BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_MESSAGE()) END CATCH
GO
BEGIN TRY EXEC ('EXEC MadeLater') END TRY
BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_MESSAGE()) END CATCH
EXEC MadeLater
PRINT 'goes on'
GO
CREATE PROCEDURE dbo.MadeLater @n INT = 1 AS PRINT CONCAT('made ', @n)
GO
EXEC MadeLater 2
BEGIN TRY EXEC dbo.MadeLater END TRY BEGIN CATCH PRINT 'not reached' END CATCH
DROP PROCEDURE MadeLater
BEGIN TRY EXEC dbo.MadeLater END TRY
BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_MESSAGE()) END CATCH
GO
-- A module misses what it calls when it runs, before that is made as behind DROP.
SET NOCOUNT ON
CREATE TABLE dbo.Fired (Id INT)
GO
CREATE PROCEDURE dbo.Calls @go INT AS
DECLARE @code INT = 7, @out INT = 8
EXEC @code = dbo.Called @out OUTPUT
PRINT CONCAT(@@ERROR, ' ', @code, ' ', @out, ' ', @@TRANCOUNT)
BEGIN TRY
    EXEC dbo.Called @out OUTPUT
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_PROCEDURE(), ' ', ERROR_LINE(), ' ', XACT_STATE())
END CATCH
EXEC ('EXEC dbo.Called NULL')
PRINT @@ERROR
GO
CREATE PROCEDURE dbo.CallsUnderSavepoint AS
BEGIN TRAN
SAVE TRAN before
EXEC dbo.Called NULL
INSERT dbo.Fired VALUES (1)
ROLLBACK TRAN before
COMMIT
PRINT CONCAT(@@TRANCOUNT, ' ')
GO
CREATE TRIGGER dbo.CallsWhenFired ON dbo.Fired AFTER INSERT AS EXEC dbo.Called NULL
GO
EXEC dbo.Calls 1
BEGIN TRAN
EXEC dbo.Calls 1
ROLLBACK
EXEC dbo.CallsUnderSavepoint
GO
BEGIN TRY INSERT dbo.Fired VALUES (2) END TRY
BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_PROCEDURE(), ' ', XACT_STATE()) END CATCH
GO
CREATE PROCEDURE dbo.Called @o INT OUTPUT AS SET @o = 9 PRINT 'called' RETURN 3
GO
EXEC dbo.Calls 1
EXEC dbo.CallsUnderSavepoint
GO
DROP PROCEDURE dbo.Called
GO
EXEC dbo.Calls 1
GO
-- One that is refused is missing, too.
CREATE PROCEDURE dbo.Refused AS SELECT NoSuch FROM dbo.Fired
GO
EXEC dbo.Refused
PRINT @@ERROR
BEGIN TRY EXEC dbo.Refused END TRY
BEGIN CATCH PRINT ERROR_NUMBER() END CATCH
GO

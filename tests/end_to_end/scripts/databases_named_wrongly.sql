-- SQL Server carries out USE when it compiles a batch, too: one of a database that is not there ends its batch, or its
-- string, whatever TRY stands around it there.
CREATE DATABASE Elsewhere
GO
SET NOCOUNT ON
PRINT 'before'
USE Nowhere
PRINT 'not reached'
GO
USE Nowhere
SELECT 1 AS not_reached
GO
BEGIN TRY
    USE Nowhere
    PRINT 'not reached'
END TRY
BEGIN CATCH
    PRINT 'not caught'
END CATCH
PRINT 'not reached'
GO
PRINT CONCAT('@@ERROR is ', @@ERROR)
GO
EXEC ('USE Nowhere PRINT ''not reached''')
PRINT CONCAT('@@ERROR is ', @@ERROR)
BEGIN TRY
    EXEC ('USE Nowhere PRINT ''not reached''')
END TRY
BEGIN CATCH
    PRINT CONCAT('caught around it: ', ERROR_NUMBER(), ', XACT_STATE() ', XACT_STATE())
END CATCH
GO
-- The transaction goes on.
SET XACT_ABORT ON
BEGIN TRAN
GO
USE Nowhere
GO
PRINT @@TRANCOUNT
COMMIT
GO
USE Elsewhere
CREATE TABLE dbo.Here (a INT)
GO

-- The text of a temporary procedure is kept as long as it is there: errors spell names as it does, sp_helptext shows it.
CREATE PROCEDURE #Look AS
  SELECT * FROM NoSuchTable
GO
CREATE PROCEDURE #Catches AS
BEGIN TRY EXEC #Look END TRY
BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH
GO
EXEC #Look
GO
EXEC #Catches
EXEC tempdb..sp_helptext '#Look'
PRINT OBJECT_DEFINITION(OBJECT_ID('tempdb..#Catches'))
GO
ALTER PROCEDURE #Look AS PRINT 'Altered'
GO
PRINT OBJECT_DEFINITION(OBJECT_ID('tempdb..#Look'))
GO
BEGIN TRANSACTION
DROP PROCEDURE #Look
ROLLBACK
PRINT OBJECT_DEFINITION(OBJECT_ID('tempdb..#Look'))
DROP PROCEDURE #Look
DROP PROCEDURE #Catches
GO
CREATE PROCEDURE ##ForAll AS SELECT * FROM NoSuchTable
GO
EXEC ##ForAll
GO
DROP PROCEDURE ##ForAll
GO
-- Types that are not there are told as they are written, and nothing else of the batch is.
DECLARE @t TABLE (x XML(NoSuchCollection))
PRINT 'not reached'
GO
CREATE TABLE dbo.Typed (x XML(DOCUMENT dbo.NoSuchCollection))
GO
BEGIN TRY EXEC ('DECLARE @x XML(NoSuchCollection)') END TRY
BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH
GO
DECLARE @x dbo.NoSuchType
GO
DECLARE @t dbo.[No such Table]
PRINT 'not reached'
GO

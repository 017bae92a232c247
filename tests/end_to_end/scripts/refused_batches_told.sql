-- Behind a batch that does not compile @@ERROR is its last error, whatever stands around it.
CREATE PROCEDURE dbo.Broken AS SELECT @nothing
GO
IF @@ERROR <> 0 SET NOEXEC ON
GO
PRINT 'a deployment goes no further'
GO
SET NOEXEC OFF
GO
SELECT 1 AS a
GO
PRINT @nothing
SELECT 1 +
GO
PRINT CONCAT(@@ERROR, ' ', @@ROWCOUNT)
GO
PRINT @nothing
GO
EXEC ('PRINT @@ERROR')
GO
BEGIN TRAN
GO
PRINT @a
SELECT 1 +
GO
PRINT @@ERROR
COMMIT
GO
SELECT 1 +
GO
PRINT 'another batch'
GO
PRINT @@ERROR
GO

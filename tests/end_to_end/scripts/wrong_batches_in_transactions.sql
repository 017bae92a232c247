-- batches that do not compile tell so in their places, also within a transaction
SELECT 1 +
GO
PRINT 'one'
BEGIN TRAN
GO
SELECT 1 +
GO
SELECT 2 +
GO
PRINT @@ERROR
PRINT 'four'
GO 2
SELECT 3 +
GO
PRINT 'five'
ROLLBACK
GO
SELECT 4 +
GO
PRINT 'six'
GO
BEGIN TRAN
GO
SELECT 5 +
GO

-- a procedure that rolls back the transaction in which it was made: its batch ends, those behind it run
CREATE TABLE dbo.kept (a INT)
GO
BEGIN TRAN
INSERT dbo.kept VALUES (1)
GO
CREATE PROCEDURE dbo.rolls AS BEGIN
  ROLLBACK
  INSERT dbo.kept VALUES (2)
END
GO
EXEC dbo.rolls
PRINT 'not reached'
GO
PRINT CONCAT('open: ', @@TRANCOUNT)
SELECT 1 / 0 AS in_the_second_line
GO 2
SELECT nonsense FROM
GO
CREATE PROCEDURE dbo.stays AS SELECT a FROM dbo.kept
GO
EXEC dbo.stays

SELECT 1 / 0 AS two_lines_down
GO
COMMIT
GO
IF OBJECT_ID('dbo.rolls') IS NULL PRINT 'gone'
EXEC dbo.stays
GO

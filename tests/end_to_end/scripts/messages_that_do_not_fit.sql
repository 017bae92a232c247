-- RAISERROR whose format and arguments do not go together: errors of the statement, in a transaction too.
BEGIN TRANSACTION
ROLLBACK TRANSACTION nowhere
ROLLBACK
GO
RAISERROR ('number %d', 16, 1, 'text')
RAISERROR ('text %s', 16, 1, 5)
DECLARE @at DATETIME = '2031-05-06', @price MONEY = 5, @form NVARCHAR(20) = N'number %d', @word NVARCHAR(10) = N'five'
RAISERROR ('at %s', 16, 1, @at)
RAISERROR ('%d for %s', 16, 1, 7, @price)
RAISERROR (@form, 16, 1, @word)
RAISERROR ('100%!', 16, 1)
RAISERROR ('%-6s|%04d|%*d', 10, 1, 'ab', 7, 5, 9)
DECLARE @depth BIGINT = 5000000000
RAISERROR ('%d messages', 16, 1, @depth)
RAISERROR ('%I64d messages', 10, 1, @depth)
PRINT 'after them'
GO
BEGIN TRY
    RAISERROR ('number %d', 16, 1, 'text')
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ': ', ERROR_MESSAGE())
END CATCH
GO
PRINT 'the next batch'

-- Procedures that were dropped, or never came to be: a call of one is an error of its statement.
SET NOCOUNT ON
GO
CREATE PROCEDURE dbo.Weigh AS PRINT 'weighed'
GO
EXEC dbo.Weigh
DROP PROCEDURE dbo.Weigh
EXEC dbo.Weigh
PRINT 'after it'
GO
DECLARE @r INT = 4
BEGIN TRY EXEC @r = dbo.Weigh END TRY
BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ', line ', ERROR_LINE(), ', returned ', @r) END CATCH
GO
CREATE PROCEDURE dbo.Weigh AS PRINT 'weighed anew'
GO
EXEC dbo.Weigh
GO
CREATE PROCEDURE dbo.Misspelled AS SELECT 1 AS a FOR XML PATH('two words')
GO
CREATE PROCEDURE dbo.Unreadable AS SELECT FROM
GO
EXEC dbo.Misspelled
EXEC dbo.Unreadable
PRINT 'after both'
GO
CREATE PROCEDURE dbo.Asks AS
BEGIN TRY EXEC dbo.Misspelled END TRY
BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' in ', ERROR_PROCEDURE()) END CATCH
GO
EXEC dbo.Asks
GO

-- Constants and variables that the parameter's type does not hold: 8114, which TRY catches.
CREATE PROCEDURE dbo.Post @Account int, @On datetime = '20200101', @Ref uniqueidentifier = NULL, @Kind tinyint = 1, @Note varchar(20) = 'x' AS
SELECT @Account AS Account, CONVERT(varchar(10), @On, 120) AS [On], @Ref AS Ref, @Kind AS Kind, @Note AS Note
GO
CREATE PROCEDURE dbo.Import @Line varchar(20) AS
BEGIN TRY
    EXEC dbo.Post @Line
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_STATE(), ' ', ERROR_PROCEDURE(), ' ', ERROR_LINE(), ': ', ERROR_MESSAGE())
END CATCH
GO
EXEC dbo.Import '17'
EXEC dbo.Import '17a'
DECLARE @n nvarchar(10) = N'seven', @big int = 700, @rc int
BEGIN TRY EXEC @rc = dbo.Post @n END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH
BEGIN TRY EXEC dbo.Post 1, 'yesterday' END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH
BEGIN TRY EXEC dbo.Post 1, @Ref = 'xyz' END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH
BEGIN TRY EXEC dbo.Post 1, @Kind = @big END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH
EXEC dbo.Post @Account = '42', @On = 'Mar 5 2024', @Note = 12
GO
EXEC dbo.Post 'abc'
PRINT 'not reached'
GO
CREATE SEQUENCE dbo.Numbers START WITH 5 CACHE 20
GO
SELECT NEXT VALUE FOR dbo.Numbers AS n, CAST(1e20 AS float) AS big, CAST(1.5e-7 AS float) AS small
SELECT current_value FROM sys.sequences WHERE name = 'Numbers'
GO
-- What is wrong with XML is told, whoever knows the procedure.
CREATE PROCEDURE dbo.Shred @x xml AS SELECT @x.value('(/a/@b)[1]', 'int') AS b
GO
DECLARE @p sysname = N'dbo.Shred', @s nvarchar(40) = N'<a b="7"></c>'
BEGIN TRY EXEC dbo.Shred '<a>' END TRY BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ': ', ERROR_MESSAGE()) END CATCH
BEGIN TRY EXEC @p @s END TRY BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ': ', ERROR_MESSAGE()) END CATCH
EXEC @p '<a b="8"/>'

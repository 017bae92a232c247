-- Names in errors of a module's dynamic SQL are as the module spells them.
SET NOCOUNT ON
GO
CREATE PROC dbo.Inner1 @k INT AS
  IF @k = 1 EXEC ('SELECT * FROM dbo.Nix')
  IF @k = 2 EXEC sp_executesql N'SELECT NoCol FROM sys.objects'
  IF @k = 3 EXEC ('EXEC dbo.NoProc')
  IF @k = 4 EXEC ('DROP TABLE NoTab')
GO
CREATE PROC dbo.[Outer] AS BEGIN TRY EXEC dbo.Inner1 3 END TRY BEGIN CATCH SELECT 'o', ERROR_MESSAGE() m END CATCH
GO
DECLARE @k INT = 0
WHILE @k < 4 BEGIN
SET @k += 1
BEGIN TRY EXEC dbo.Inner1 @k END TRY BEGIN CATCH SELECT ERROR_NUMBER() n, ERROR_MESSAGE() m, ERROR_PROCEDURE() p END CATCH
END
EXEC dbo.[Outer]
EXEC dbo.Inner1 1
GO

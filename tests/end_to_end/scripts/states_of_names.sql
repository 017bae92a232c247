-- What CURSOR_STATUS, SET IDENTITY_INSERT, sys.parameters and sys.triggers say of what is there, and what is not.
CREATE TABLE dbo.Plain_ (a INT NOT NULL PRIMARY KEY);
CREATE TABLE dbo.Counted (a INT IDENTITY PRIMARY KEY, b INT);
GO
SET IDENTITY_INSERT dbo.Plain_ ON;
PRINT 'the batch goes on';
GO
BEGIN TRY
    SET IDENTITY_INSERT [dbo].[NoSuch] ON;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_MESSAGE());
END CATCH
GO
CREATE PROCEDURE dbo.Fill @a INT AS
SET IDENTITY_INSERT dbo.Counted ON;
INSERT dbo.Counted (a, b) VALUES (@a, 1);
SET IDENTITY_INSERT dbo.Counted OFF;
INSERT dbo.Counted (b) VALUES (2);
GO
EXEC dbo.Fill 7;
SELECT a, b FROM dbo.Counted ORDER BY a;
GO
CREATE TABLE #mine (a INT IDENTITY, b INT);
SET IDENTITY_INSERT #mine ON;
INSERT #mine (a, b) VALUES (5, 1);
SET IDENTITY_INSERT #mine OFF;
SELECT a FROM #mine;
GO
IF CURSOR_STATUS('global', 'c') >= -1 DEALLOCATE c;
DECLARE c CURSOR LOCAL FOR SELECT a FROM dbo.Counted;
PRINT CONCAT('LOCAL declared: ', CURSOR_STATUS('local', 'c'), ' ', CURSOR_STATUS('global', 'c'));
OPEN c;
PRINT CONCAT('LOCAL open: ', CURSOR_STATUS('local', 'c'), ' ', CURSOR_STATUS('global', 'c'));
PRINT CURSOR_STATUS('global', 'c');
CLOSE c;
DEALLOCATE c;
PRINT CURSOR_STATUS('local', 'c');
GO
DECLARE d CURSOR FOR SELECT a FROM dbo.Counted;
OPEN d;
PRINT CONCAT('neither: ', CURSOR_STATUS('local', 'd'), ' ', CURSOR_STATUS('global', 'd'));
DEALLOCATE d;
GO
DECLARE e CURSOR GLOBAL FOR SELECT a FROM dbo.Counted WHERE a < 0;
OPEN e;
PRINT CONCAT('GLOBAL without rows: ', CURSOR_STATUS('local', 'e'), ' ', CURSOR_STATUS('global', 'e'));
GO
PRINT CURSOR_STATUS('global', 'e');
DEALLOCATE e;
PRINT CURSOR_STATUS('global', 'e');
GO
CREATE FUNCTION dbo.Twice (@n INT) RETURNS INT AS BEGIN RETURN @n * 2; END
GO
CREATE FUNCTION dbo.Rows_ (@n INT) RETURNS TABLE AS RETURN SELECT @n AS n;
GO
SELECT OBJECT_NAME(object_id) AS module, parameter_id, name, TYPE_NAME(user_type_id) AS type, is_output
  FROM sys.parameters WHERE object_id IN (OBJECT_ID('dbo.Twice'), OBJECT_ID('dbo.Rows_')) ORDER BY module, parameter_id;
SELECT ORDINAL_POSITION, PARAMETER_MODE, IS_RESULT, PARAMETER_NAME, DATA_TYPE
  FROM INFORMATION_SCHEMA.PARAMETERS WHERE SPECIFIC_NAME = 'Twice' ORDER BY ORDINAL_POSITION;
SELECT TOP (0) * FROM sys.triggers;
GO

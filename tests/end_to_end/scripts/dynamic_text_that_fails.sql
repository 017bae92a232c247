-- A text that cannot be read fails where it is executed; what stands around it runs.
CREATE TABLE dbo.Kept (id int PRIMARY KEY, note nvarchar(20));
GO
PRINT 'before';
BEGIN TRY
    EXEC (N'INSERT dbo.Kept VALUES (1, N''one'');
SELECT * FROM WHERE');
    PRINT 'not reached';
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ' in line ', ERROR_LINE(), ', severity ', ERROR_SEVERITY(), ': ', ERROR_MESSAGE());
END CATCH
EXEC sp_executesql N'UPDATE dbo.Kept SET nothing = @n', N'@n int', @n = 5;
PRINT CONCAT('after: ', @@ERROR);
IF 1 = 0 EXEC ('CREATE FULLTEXT STOPLIST words');
SELECT COUNT(*) AS kept FROM dbo.Kept;
GO
CREATE PROCEDURE dbo.Tries @way int AS
BEGIN
    DECLARE @text nvarchar(200) = N'SELECT FROM dbo.Kept';
    IF @way = 1 EXEC (@text);
    EXEC (N'SELECT note FROM dbo.Kept ORDER');
    RETURN 7;
END;
GO
DECLARE @r int;
EXEC @r = dbo.Tries 1;
PRINT CONCAT('returned ', @r);
BEGIN TRANSACTION;
INSERT dbo.Kept VALUES (2, N'two');
EXEC ('SELECT 1 +');
COMMIT;
SELECT id FROM dbo.Kept;
GO
CREATE PROCEDURE dbo.Tell @text NVARCHAR(200) AS
BEGIN TRY EXEC sp_executesql @text END TRY
BEGIN CATCH SELECT ERROR_NUMBER() AS number, ERROR_SEVERITY() AS severity, ERROR_STATE() AS state END CATCH
GO
EXEC dbo.Tell N'SELECT @nowhere'
EXEC dbo.Tell N'SELECT 1 AS a UNION SELECT 1, 2'
GO

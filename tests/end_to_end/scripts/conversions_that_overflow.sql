-- What does not fit its type ends the statement; what cannot be read ends the batch and dooms the transaction
CREATE TABLE dbo.Reading (At DATETIME NULL, Small TINYINT NULL, Number INT NULL, Price DECIMAL(5, 2) NULL)
GO
INSERT dbo.Reading (Number) VALUES ('9999999999')
PRINT 'after 248'
INSERT dbo.Reading (Small) SELECT '300'
PRINT 'after 244'
UPDATE dbo.Reading SET Number = 1 WHERE At = '31.31.2020'
SELECT CAST('20240230' AS DATETIME) AS never
PRINT 'after 242'
BEGIN TRY
    BEGIN TRANSACTION
    INSERT dbo.Reading (At) VALUES ('20240230')
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ', state ', XACT_STATE())
    IF XACT_STATE() = 1 COMMIT ELSE ROLLBACK
END CATCH
BEGIN TRY
    BEGIN TRANSACTION
    INSERT dbo.Reading (Number) VALUES ('many')
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ', state ', XACT_STATE())
    IF XACT_STATE() = 1 COMMIT ELSE ROLLBACK
END CATCH
INSERT dbo.Reading (Number) VALUES ('many')
PRINT 'not after 245'
GO
-- the error of a decimal names the type that the number had
DECLARE @int INT = 123456, @big BIGINT = 12345678901, @float FLOAT = 1e10, @price DECIMAL(5, 2)
SELECT CAST(@int AS DECIMAL(5, 2))
SELECT CAST(123456 AS DECIMAL(5, 2))
SELECT CAST(@big AS DECIMAL(5, 2))
SELECT CAST(@float AS DECIMAL(5, 2))
SELECT CAST('123456' AS DECIMAL(5, 2))
SELECT CAST('999.999' AS DECIMAL(5, 2))
SET @price = @int
SET @price = @float
INSERT dbo.Reading (Price) VALUES (123456)
INSERT dbo.Reading (Price) SELECT @int
INSERT dbo.Reading (Price) VALUES (1234.5)
SELECT CAST(999 AS DECIMAL(5, 2)), CAST('999.994' AS DECIMAL(5, 2)), CAST(-999 AS DECIMAL(3))
GO
-- XML's dates may have a time zone
SELECT CAST('2024-01-02Z' AS DATE), CAST(' 2024-01-02+14:00 ' AS DATE), TRY_CAST('2024-01-02+15:00' AS DATE), TRY_CAST('2024-01-02Z' AS DATETIME)
DECLARE @sale XML = '<sale day="2024-01-02-05:00"/>'
SELECT @sale.value('/sale[1]/@day', 'date')
GO
SELECT value FROM GENERATE_SERIES(1, 2, 0)
PRINT 'after 4199'
GO

-- Numbers and text that a column or variable cannot hold: the number of the error, and what it calls the value.
CREATE TABLE dbo.Stock (Code NVARCHAR(10), Shelf VARCHAR(10), Boxes SMALLINT, Colour TINYINT, Price NUMERIC(5, 2));
CREATE QUEUE dbo.Doubtful;
GO
INSERT dbo.Stock (Code, Shelf, Boxes, Colour, Price) VALUES (N'A-1', 'top', 32767, 255, 999.99);
INSERT dbo.Stock (Boxes) VALUES (40000);
INSERT dbo.Stock (Colour) SELECT 256;
UPDATE dbo.Stock SET Boxes = Boxes + 1;
UPDATE dbo.Stock SET Boxes += 1;
UPDATE dbo.Stock SET Colour = Colour - 300;
UPDATE dbo.Stock SET Price = Price + 1;
SELECT Boxes * Boxes FROM dbo.Stock;
DECLARE @big INT = 99999, @small SMALLINT = 5;
SET @small = @big;
SET @small = -40000;
SELECT @small = Boxes - 1 FROM dbo.Stock;
PRINT @small;
GO
SELECT CAST(Code AS INT) FROM dbo.Stock;
GO
SELECT CAST(Shelf AS INT) FROM dbo.Stock;
GO
DECLARE @code NVARCHAR(20) = N'99999999999', @n INT;
SET @n = @code;
GO
DECLARE @when NVARCHAR(20) = N'2026-02-30';
SELECT CONVERT(DATETIME, @when, 120);
GO
DECLARE @when NVARCHAR(20) = N'2026-02-30';
SELECT DATEADD(day, 1, CAST(@when AS DATETIME));
GO
DECLARE @body XML = N'<o qty="many"/>';
SELECT @body.value('(/o/@qty)[1]', 'int');
GO
-- A RECEIVE that fails shows no rows, not even none.
ALTER QUEUE dbo.Doubtful WITH STATUS = OFF;
WAITFOR (RECEIVE TOP (1) conversation_handle FROM dbo.Doubtful), TIMEOUT 10;
PRINT 'disabled';
BEGIN TRY
    WAITFOR (RECEIVE TOP (1) conversation_handle FROM dbo.Doubtful), TIMEOUT 10;
END TRY
BEGIN CATCH
    PRINT ERROR_NUMBER();
END CATCH;
ALTER QUEUE dbo.Doubtful WITH STATUS = ON;
WAITFOR (RECEIVE TOP (1) message_sequence_number FROM dbo.Doubtful), TIMEOUT 10;
DECLARE @came TABLE (body VARBINARY(MAX));
WAITFOR (RECEIVE message_body FROM dbo.Doubtful INTO @came), TIMEOUT 10;

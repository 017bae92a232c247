-- What stands behind ROLLBACK in a trigger is run, then the batch ends (3609).
SET NOCOUNT ON
CREATE TABLE dbo.Booking (Id INT PRIMARY KEY, Seats INT)
CREATE TABLE dbo.Refused (Id INT)
GO
CREATE PROCEDURE dbo.Refuse @id INT AS
ROLLBACK TRANSACTION
RAISERROR ('booking %d has too many seats', 16, 1, @id)
GO
CREATE TRIGGER dbo.Checked ON dbo.Booking AFTER INSERT AS
DECLARE @id INT = (SELECT MAX(Id) FROM inserted WHERE Seats > 9)
IF @id IS NULL RETURN
IF @id = 1
BEGIN
    ROLLBACK TRANSACTION
    PRINT CONCAT('transactions ', @@TRANCOUNT, ', state ', XACT_STATE())
    RAISERROR ('booking %d has too many seats', 16, 1, @id)
    RETURN
END
IF @id = 2
BEGIN
    ROLLBACK
    ROLLBACK
END
IF @id = 3 EXEC dbo.Refuse @id
IF @id = 4
BEGIN
    ROLLBACK;
    THROW 50004, 'thrown behind it', 1
END
BEGIN TRY
    IF @id = 5 RAISERROR ('caught in the trigger', 16, 1)
END TRY
BEGIN CATCH
    IF @@TRANCOUNT > 0 ROLLBACK
    DECLARE @message NVARCHAR(200) = ERROR_MESSAGE()
    RAISERROR (@message, 16, 2)
END CATCH
GO
INSERT dbo.Booking VALUES (1, 10)
PRINT 'not reached'
GO
BEGIN TRANSACTION
INSERT dbo.Booking VALUES (0, 1)
INSERT dbo.Booking VALUES (1, 10)
GO
SELECT @@TRANCOUNT AS transactions, COUNT(*) AS bookings FROM dbo.Booking
GO
INSERT dbo.Booking VALUES (2, 10)
GO
INSERT dbo.Booking VALUES (3, 10)
GO
INSERT dbo.Booking VALUES (4, 10)
GO
INSERT dbo.Booking VALUES (5, 10)
GO
DECLARE @i INT = 1
WHILE @i < 6
BEGIN
    BEGIN TRY
        INSERT dbo.Booking VALUES (@i, 10)
    END TRY
    BEGIN CATCH
        PRINT CONCAT(@i, ': ', ERROR_NUMBER(), ' ', ERROR_MESSAGE(), ', ', ERROR_PROCEDURE(), ' ', ERROR_LINE())
        IF @@TRANCOUNT > 0 ROLLBACK
    END CATCH
    SET @i += 1
END
SELECT COUNT(*) AS bookings FROM dbo.Booking
GO

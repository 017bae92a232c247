-- Triggers that refuse a change, and what their callers see: with and without TRY around them.
CREATE TABLE dbo.Stock (Id int PRIMARY KEY, OnHand int NOT NULL)
CREATE TABLE dbo.Moves (Id int IDENTITY PRIMARY KEY, StockId int, Qty int)
INSERT dbo.Stock VALUES (1, 10), (2, 20)
GO
CREATE TRIGGER trg_Stock ON dbo.Stock FOR UPDATE, DELETE AS
IF EXISTS (SELECT * FROM inserted WHERE OnHand < 0)
BEGIN
    RAISERROR ('Stock of %d items would go negative', 16, 2, 1)
    ROLLBACK TRANSACTION
    RETURN
END
IF NOT EXISTS (SELECT * FROM inserted)
    RAISERROR ('Stock rows should be kept', 12, 3)
PRINT 'end of the trigger'
GO
CREATE PROCEDURE dbo.Take @Id int, @Qty int AS
SET NOCOUNT ON
BEGIN TRY
    BEGIN TRANSACTION
    INSERT dbo.Moves (StockId, Qty) VALUES (@Id, @Qty)
    UPDATE dbo.Stock SET OnHand -= @Qty WHERE Id = @Id
    COMMIT
    RETURN 0
END TRY
BEGIN CATCH
    PRINT CONCAT('caught ', ERROR_NUMBER(), ' state ', ERROR_STATE(), ' in ', ERROR_PROCEDURE(), ' line ', ERROR_LINE(), ': ', ERROR_MESSAGE(), ' xact ', XACT_STATE())
    IF @@TRANCOUNT > 0 ROLLBACK
    RETURN 1
END CATCH
GO
DECLARE @rc int
EXEC @rc = dbo.Take 1, 4; PRINT @rc
EXEC @rc = dbo.Take 1, 40; PRINT @rc
SELECT COUNT(*) AS moves FROM dbo.Moves
-- no TRY around it: the message is shown, the batch ends
UPDATE dbo.Stock SET OnHand = -1
PRINT 'not reached'
GO
-- no TRY, no ROLLBACK: the message is shown, the rows are gone
DELETE dbo.Stock WHERE Id = 2
PRINT @@ERROR
SELECT * FROM dbo.Stock
GO
BEGIN TRY
    BEGIN TRY DELETE dbo.Stock END TRY
    BEGIN CATCH PRINT 'inner ' + ERROR_MESSAGE(); THROW END CATCH
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() n, ERROR_SEVERITY() v, ERROR_STATE() s, ERROR_PROCEDURE() p, @@TRANCOUNT t, (SELECT COUNT(*) FROM dbo.Stock) AS rows
END CATCH
-- after ROLLBACK inside TRY and after RETURN out of it
BEGIN TRY
    BEGIN TRAN
    UPDATE dbo.Stock SET OnHand = 5
    ROLLBACK
    UPDATE dbo.Stock SET OnHand = -7
END TRY
BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH
GO
CREATE PROCEDURE dbo.LeavesTry AS BEGIN TRY RETURN 5 END TRY BEGIN CATCH PRINT 'never' END CATCH
GO
DECLARE @rc int
EXEC @rc = dbo.LeavesTry
DELETE dbo.Stock
DECLARE @rows int = (SELECT COUNT(*) FROM dbo.Stock)
PRINT CONCAT('goes on after ', @rc, ', rows ', @rows)
GO
-- a savepoint set inside and outside of TRY
INSERT dbo.Stock VALUES (3, 30)
BEGIN TRAN
SAVE TRAN a
BEGIN TRY
    UPDATE dbo.Stock SET OnHand = 31
    ROLLBACK TRAN a
    DELETE dbo.Stock
END TRY
BEGIN CATCH PRINT CONCAT(ERROR_MESSAGE(), ' xact ', XACT_STATE()); ROLLBACK END CATCH
SELECT * FROM dbo.Stock

-- In a transaction that can only be rolled back no statement of Service Broker works, RECEIVE of nothing neither.
CREATE QUEUE dbo.Waiting
CREATE SERVICE Waiting ON QUEUE dbo.Waiting ([DEFAULT])
GO
CREATE PROCEDURE dbo.TakeOne AS
RECEIVE TOP (1) conversation_handle FROM dbo.Waiting;
PRINT CONCAT('in the procedure @@ERROR is ', @@ERROR);
GO
SET XACT_ABORT ON;
DECLARE @h UNIQUEIDENTIFIER, @rows INT, @t TABLE (h UNIQUEIDENTIFIER);
BEGIN TRAN;
BEGIN TRY
    SELECT 1 / 0;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ', XACT_STATE() ', XACT_STATE());
    BEGIN TRY
        RECEIVE TOP (1) @h = conversation_handle FROM dbo.Waiting;
        PRINT 'received';
    END TRY
    BEGIN CATCH
        PRINT CONCAT(ERROR_NUMBER(), ' of RECEIVE');
    END CATCH;
    BEGIN TRY
        RECEIVE conversation_handle FROM dbo.Waiting INTO @t;
        PRINT 'received';
    END TRY
    BEGIN CATCH
        PRINT CONCAT(ERROR_NUMBER(), ' of RECEIVE INTO');
    END CATCH;
    BEGIN TRY
        WAITFOR (RECEIVE conversation_handle FROM dbo.Waiting), TIMEOUT 20;
        PRINT 'received';
    END TRY
    BEGIN CATCH
        PRINT CONCAT(ERROR_NUMBER(), ' of WAITFOR (RECEIVE)');
    END CATCH;
    BEGIN TRY
        GET CONVERSATION GROUP @h FROM dbo.Waiting;
        PRINT 'got';
    END TRY
    BEGIN CATCH
        PRINT CONCAT(ERROR_NUMBER(), ' of GET CONVERSATION GROUP');
    END CATCH;
    BEGIN TRY
        EXEC ('RECEIVE conversation_handle FROM dbo.Waiting');
        PRINT 'received';
    END TRY
    BEGIN CATCH
        PRINT CONCAT(ERROR_NUMBER(), ' of dynamic SQL');
    END CATCH;
    BEGIN TRY
        EXEC dbo.TakeOne;
        PRINT 'received';
    END TRY
    BEGIN CATCH
        PRINT CONCAT(ERROR_NUMBER(), ' of ', ERROR_PROCEDURE());
    END CATCH;
    PRINT CONCAT('XACT_STATE() ', XACT_STATE(), ', @@TRANCOUNT ', @@TRANCOUNT);
    ROLLBACK;
    RECEIVE conversation_handle FROM dbo.Waiting;
    PRINT CONCAT('afterwards @@ERROR is ', @@ERROR);
END CATCH;
GO
-- It ends the batch, which rolls back.
BEGIN TRAN;
BEGIN TRY
    SELECT 1 / 0;
END TRY
BEGIN CATCH
    RECEIVE conversation_handle FROM dbo.Waiting;
    PRINT 'not reached';
END CATCH;
GO
PRINT @@TRANCOUNT;
GO

-- What the application needs: a counter that answers orders.

CREATE MESSAGE TYPE [//Shop/Order] VALIDATION = WELL_FORMED_XML;
CREATE MESSAGE TYPE [//Shop/Receipt] VALIDATION = NONE;
CREATE CONTRACT [//Shop/Ordering] (
    [//Shop/Order] SENT BY INITIATOR,
    [//Shop/Receipt] SENT BY TARGET
);
CREATE QUEUE dbo.CustomerQueue;
CREATE QUEUE dbo.CounterQueue;
CREATE SERVICE [//Shop/Customer] ON QUEUE dbo.CustomerQueue;
CREATE SERVICE [//Shop/Counter] ON QUEUE dbo.CounterQueue ([//Shop/Ordering]);
CREATE TABLE dbo.Sold (Product NVARCHAR(50) NOT NULL, SoldAt DATETIME NOT NULL DEFAULT GETDATE());
GO

-- Serves every order that waits, each in a transaction of its own.
CREATE PROCEDURE dbo.ServeCounter
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @dialog UNIQUEIDENTIFIER, @type SYSNAME, @order XML, @product NVARCHAR(50);
    WHILE 1 = 1
    BEGIN
        BEGIN TRANSACTION;
        SET @dialog = NULL;
        RECEIVE TOP (1)
            @dialog = conversation_handle,
            @type = message_type_name,
            @order = CAST(message_body AS XML)
        FROM dbo.CounterQueue;
        IF @dialog IS NULL
        BEGIN
            COMMIT;
            RETURN;
        END;
        IF @type = '//Shop/Order'
        BEGIN
            SET @product = @order.value('(/order/@product)[1]', 'nvarchar(50)');
            INSERT INTO dbo.Sold (Product) VALUES (@product);
            SEND ON CONVERSATION @dialog MESSAGE TYPE [//Shop/Receipt] (N'Thank you for buying ' + @product);
        END;
        END CONVERSATION @dialog;
        COMMIT;
    END;
END;
GO

-- A reader of orders. {name}: its name; {declare}, {recall}, {remember}, {forget}: where the
-- answer to an order that failed is kept until that order comes again.
CREATE PROCEDURE {name}
AS
BEGIN
    SET XACT_ABORT ON;
    SET NOCOUNT ON;
    DECLARE @dialog UNIQUEIDENTIFIER, @number BIGINT, @type SYSNAME, @body VARBINARY(MAX), @order XML,
            @answer XML, @guid NVARCHAR(400), @id INT, @text NVARCHAR(2048), @error INT, @pause DATETIME;
    {declare}
    WHILE 1 = 1
    BEGIN TRY
        SELECT @guid = NULL, @id = NULL, @text = NULL, @error = NULL;
        SET @pause = dbo.get_waittime();
        WAITFOR DELAY @pause;
        BEGIN TRAN;
        WAITFOR (RECEIVE TOP (1) @dialog = conversation_handle, @number = message_sequence_number,
                                 @type = message_type_name, @body = message_body
                 FROM OrderRequests), TIMEOUT 1000;
        IF @@ROWCOUNT = 0
        BEGIN
            ROLLBACK;
            BREAK;
        END
        IF @type <> N'OrderRequest'
        BEGIN
            END CONVERSATION @dialog;
            COMMIT;
            CONTINUE;
        END;
        {recall}
        IF @answer IS NULL
        BEGIN
            BEGIN TRY
                SET @order = CAST(@body AS XML);
                SET @guid = @order.value('(/Order/@OrderID)[1]', 'nvarchar(400)');
                EXEC DoOneOrderFromActivation @data = @order, @OrderGuidStr = @guid, @OrderID = @id OUTPUT;
                SET @answer = (SELECT 'O' AS [Status], @guid AS [OrderID], @id AS [InternalOrderID]
                               FOR XML RAW('OrderResponse'), TYPE);
            END TRY
            BEGIN CATCH
                IF XACT_STATE() <> 0 ROLLBACK;
                EXEC slog.catchhandler_sp @@PROCID, 0, @error OUTPUT, NULL, @text OUTPUT;
                -- A deadlock's victim tries again.
                IF @error <> 1205
                BEGIN
                    SET @answer = (SELECT 'E' AS [Status], @text AS [Message], @guid AS [OrderID]
                                   FOR XML RAW('OrderResponse'), TYPE);
                    {remember}
                END
            END CATCH
        END
        IF @@TRANCOUNT > 0
        BEGIN
            SEND ON CONVERSATION @dialog MESSAGE TYPE OrderResponse (@answer);
            END CONVERSATION @dialog;
            COMMIT;
            {forget}
        END
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0 ROLLBACK;
        EXEC slog.catchhandler_sp @@PROCID;
        RETURN 1;
    END CATCH
END

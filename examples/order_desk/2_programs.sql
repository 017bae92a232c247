-- The service programs: one for the desk, one that the three others share.

USE OrderDesk;
GO

-- Take an order: three dialogs in one new conversation group, in one transaction.
CREATE PROCEDURE dbo.TakeOrder
    @orderId INT,
    @customer NVARCHAR(50),
    @product NVARCHAR(20),
    @quantity INT,
    @amount MONEY
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @group UNIQUEIDENTIFIER = NEWID(), @dialog UNIQUEIDENTIFIER, @request XML;
    DECLARE @service NVARCHAR(256), @next INT = 1;

    SET @request = (
        SELECT @orderId AS '@id', @customer AS customer, @product AS product, @quantity AS quantity,
               @amount AS amount
        FOR XML PATH('order'), TYPE
    );
    BEGIN TRANSACTION;
    INSERT INTO dbo.Orders (OrderId, GroupId, Customer, Asked) VALUES (@orderId, @group, @customer, 3);
    WHILE @next <= 3
    BEGIN
        SET @service = CASE @next
            WHEN 1 THEN '//Orders/Stock' WHEN 2 THEN '//Orders/Billing' ELSE '//Orders/Carrier' END;
        BEGIN DIALOG CONVERSATION @dialog
            FROM SERVICE [//Orders/Desk]
            TO SERVICE @service
            ON CONTRACT [//Orders/Asking]
            WITH RELATED_CONVERSATION_GROUP = @group, ENCRYPTION = OFF;
        SEND ON CONVERSATION @dialog MESSAGE TYPE [//Orders/Request] (@request);
        SET @next += 1;
    END;
    COMMIT;
END;
GO

CREATE PROCEDURE dbo.CheckStock @order XML, @refusal NVARCHAR(200) OUTPUT
AS
BEGIN
    DECLARE @product NVARCHAR(20) = @order.value('(/order/product)[1]', 'nvarchar(20)');
    DECLARE @quantity INT = @order.value('(/order/quantity)[1]', 'int');
    UPDATE dbo.Stock SET Quantity = Quantity - @quantity
    WHERE Product = @product AND Quantity >= @quantity;
    IF @@ROWCOUNT = 0
        SET @refusal = N'not enough of: ' + @product;
END;
GO

CREATE PROCEDURE dbo.CheckCredit @order XML, @refusal NVARCHAR(200) OUTPUT
AS
BEGIN
    DECLARE @customer NVARCHAR(50) = @order.value('(/order/customer)[1]', 'nvarchar(50)');
    DECLARE @amount MONEY = @order.value('(/order/amount)[1]', 'money');
    DECLARE @left MONEY;
    UPDATE dbo.Credit SET @left = Amount = Amount - @amount WHERE Customer = @customer;
    IF @left < 0
    BEGIN
        UPDATE dbo.Credit SET Amount = Amount + @amount WHERE Customer = @customer;
        SET @refusal = N'no credit for: ' + @customer;
    END;
END;
GO

-- Answers every request in one of the three queues: Yes, or No with the reason.
CREATE PROCEDURE dbo.AnswerRequests @queue SYSNAME
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @dialog UNIQUEIDENTIFIER, @type SYSNAME, @order XML, @refusal NVARCHAR(200), @found INT;
    WHILE 1 = 1
    BEGIN
        BEGIN TRANSACTION;
        IF @queue = 'StockQueue'
            RECEIVE TOP (1) @dialog = conversation_handle, @type = message_type_name,
                @order = CAST(message_body AS XML) FROM dbo.StockQueue;
        ELSE IF @queue = 'BillingQueue'
            RECEIVE TOP (1) @dialog = conversation_handle, @type = message_type_name,
                @order = CAST(message_body AS XML) FROM dbo.BillingQueue;
        ELSE
            RECEIVE TOP (1) @dialog = conversation_handle, @type = message_type_name,
                @order = CAST(message_body AS XML) FROM dbo.CarrierQueue;
        SET @found = @@ROWCOUNT;
        IF @found = 0 OR @type IS NULL
        BEGIN
            COMMIT;
            RETURN;
        END;

        IF @type = '//Orders/Request'
        BEGIN
            SET @refusal = NULL;
            IF @queue = 'StockQueue'
                EXEC dbo.CheckStock @order, @refusal OUTPUT;
            IF @queue = 'BillingQueue'
                EXEC dbo.CheckCredit @order = @order, @refusal = @refusal OUTPUT;
            IF @refusal IS NULL
                SEND ON CONVERSATION @dialog MESSAGE TYPE [//Orders/Yes] (N'<yes/>');
            ELSE
            BEGIN
                DECLARE @no XML = (SELECT @refusal FOR XML PATH('no'), TYPE);
                SEND ON CONVERSATION @dialog MESSAGE TYPE [//Orders/No] (@no);
            END;
        END;
        END CONVERSATION @dialog;
        COMMIT;
        SET @type = NULL;
    END;
END;
GO

-- The desk: all that waits for one order, then its state, then the next order.
CREATE PROCEDURE dbo.CollectAnswers
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @group UNIQUEIDENTIFIER;
    DECLARE @messages TABLE (
        handle UNIQUEIDENTIFIER, sequence BIGINT, type SYSNAME, body VARBINARY(MAX));
    DECLARE @handle UNIQUEIDENTIFIER, @type SYSNAME, @body VARBINARY(MAX);

    WHILE 1 = 1
    BEGIN
        BEGIN TRANSACTION;
        SET @group = NULL;
        WAITFOR (GET CONVERSATION GROUP @group FROM dbo.DeskQueue), TIMEOUT 100;
        IF @group IS NULL
        BEGIN
            ROLLBACK;
            BREAK;
        END;

        DELETE @messages;
        RECEIVE conversation_handle, message_sequence_number, message_type_name, message_body
        FROM dbo.DeskQueue INTO @messages
        WHERE conversation_group_id = @group;

        DECLARE waiting CURSOR LOCAL FAST_FORWARD FOR
            SELECT handle, type, body FROM @messages ORDER BY handle, sequence;
        OPEN waiting;
        FETCH NEXT FROM waiting INTO @handle, @type, @body;
        WHILE @@FETCH_STATUS = 0
        BEGIN
            IF @type = '//Orders/Yes'
                UPDATE dbo.Orders SET Agreed = Agreed + 1 WHERE GroupId = @group;
            ELSE IF @type = '//Orders/No'
                UPDATE dbo.Orders
                SET Refused = CAST(@body AS XML).value('(/no)[1]', 'nvarchar(200)')
                WHERE GroupId = @group;
            ELSE
                END CONVERSATION @handle;
            FETCH NEXT FROM waiting INTO @handle, @type, @body;
        END;
        CLOSE waiting;
        DEALLOCATE waiting;
        COMMIT;
    END;
END;
GO

-- A desk that takes orders and a customer who reads its receipts: one loop each, with a
-- transaction per message, the group locked before its state is read.
CREATE MESSAGE TYPE [//desk/order] VALIDATION = WELL_FORMED_XML;
CREATE MESSAGE TYPE [//desk/receipt] VALIDATION = WELL_FORMED_XML;
CREATE CONTRACT [//desk/ordering]
    ([//desk/order] SENT BY INITIATOR, [//desk/receipt] SENT BY TARGET);
CREATE QUEUE customer_queue;
CREATE QUEUE desk_queue;
CREATE SERVICE [//customer] ON QUEUE customer_queue;
CREATE SERVICE [//desk] ON QUEUE desk_queue ([//desk/ordering]);
GO
CREATE PROCEDURE take_orders
AS
DECLARE @group UNIQUEIDENTIFIER, @conversation UNIQUEIDENTIFIER, @order XML, @receipt XML
WHILE 1 = 1
BEGIN
    BEGIN TRANSACTION
    SET @group = NULL
    WAITFOR (GET CONVERSATION GROUP @group FROM desk_queue), TIMEOUT 10000
    IF @group IS NULL
    BEGIN
        ROLLBACK
        RETURN
    END

    -- before

    ;RECEIVE TOP (1) @conversation = conversation_handle, @order = message_body
     FROM desk_queue WHERE conversation_group_id = @group

    -- work

    SELECT @receipt = (SELECT 'taken' AS [@state] FOR XML PATH('receipt'), TYPE)
    ;SEND ON CONVERSATION @conversation MESSAGE TYPE [//desk/receipt] (@receipt)
    END CONVERSATION @conversation

    -- after

    COMMIT TRANSACTION
END
GO
CREATE PROCEDURE take_receipts
AS
DECLARE @group UNIQUEIDENTIFIER, @conversation UNIQUEIDENTIFIER, @body VARBINARY(MAX), @type SYSNAME
WHILE 1 = 1
BEGIN
    BEGIN TRANSACTION
    SET @group = NULL
    WAITFOR (GET CONVERSATION GROUP @group FROM customer_queue), TIMEOUT 10000
    IF @group IS NULL
    BEGIN
        ROLLBACK
        RETURN
    END
    ;RECEIVE TOP (1) @conversation = conversation_handle, @body = message_body, @type = message_type_name
     FROM customer_queue WHERE conversation_group_id = @group

    -- receipt

    END CONVERSATION @conversation
    COMMIT TRANSACTION
END
GO
CREATE PROCEDURE place_order (@order XML)
AS
DECLARE @conversation UNIQUEIDENTIFIER
BEGIN DIALOG CONVERSATION @conversation FROM SERVICE [//customer] TO SERVICE '//desk'
    ON CONTRACT [//desk/ordering];
SEND ON CONVERSATION @conversation MESSAGE TYPE [//desk/order] (@order)
GO

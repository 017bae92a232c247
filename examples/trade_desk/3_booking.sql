-- The back office books what it can; a trade over the limit is refused, an unknown symbol
-- ends the dialog with an error.

USE BackOffice;
GO
SET NOCOUNT ON;
DECLARE @dialog UNIQUEIDENTIFIER, @type SYSNAME, @body XML;
DECLARE @symbol NVARCHAR(10), @quantity INT, @price DECIMAL(12, 4), @limit MONEY;

WHILE 1 = 1
BEGIN
    BEGIN TRANSACTION;
    RECEIVE TOP (1)
        @dialog = conversation_handle,
        @type = message_type_name,
        @body = CAST(message_body AS XML)
    FROM dbo.BackQueue;
    IF @@ROWCOUNT = 0
    BEGIN
        ROLLBACK;
        BREAK;
    END;

    IF @type = '//TradeDesk/Trade'
    BEGIN
        WITH XMLNAMESPACES ('urn:trade-desk' AS t)
        SELECT
            @symbol = @body.value('(/t:trade/t:symbol)[1]', 'nvarchar(10)'),
            @quantity = @body.value('(/t:trade/t:quantity)[1]', 'int'),
            @price = @body.value('(/t:trade/t:price)[1]', 'decimal(12, 4)');

        SET @limit = NULL;
        SELECT @limit = Limit FROM dbo.Positions WHERE Symbol = @symbol;
        IF @limit IS NULL
        BEGIN
            DECLARE @why NVARCHAR(200) = N'there is no position in ' + @symbol;
            END CONVERSATION @dialog WITH ERROR = 404 DESCRIPTION = @why;
        END
        ELSE IF @quantity * @price > @limit
        BEGIN
            SEND ON CONVERSATION @dialog MESSAGE TYPE [//TradeDesk/Refused]
                (N'over the limit of ' + CONVERT(NVARCHAR(20), @limit));
            END CONVERSATION @dialog;
        END
        ELSE
        BEGIN
            UPDATE dbo.Positions SET Quantity = Quantity + @quantity WHERE Symbol = @symbol;
            SEND ON CONVERSATION @dialog MESSAGE TYPE [//TradeDesk/Booked];
            END CONVERSATION @dialog;
        END;
    END
    ELSE
        END CONVERSATION @dialog;
    COMMIT;
END;

SELECT Symbol, Quantity, Limit FROM dbo.Positions ORDER BY Symbol;
GO

-- The front office sends four trades, each on a dialog of its own, in one transaction.

USE FrontOffice;
GO
SET NOCOUNT ON;
DECLARE @id INT, @dialog UNIQUEIDENTIFIER, @body XML;
INSERT INTO dbo.Trades (Symbol, Quantity, Price)
VALUES ('ACME', 100, 12.5), ('BOLT', 10, 1000), ('NONE', 1, 1), ('acme', 5, 12.5);

BEGIN TRANSACTION;
SELECT @id = MIN(TradeId) FROM dbo.Trades WHERE Dialog IS NULL;
WHILE @id IS NOT NULL
BEGIN
    BEGIN DIALOG CONVERSATION @dialog
        FROM SERVICE [//TradeDesk/Front]
        TO SERVICE '//TradeDesk/Back'
        ON CONTRACT [//TradeDesk/Trading]
        WITH ENCRYPTION = OFF;

    WITH XMLNAMESPACES (DEFAULT 'urn:trade-desk')
    SELECT @body = (
        SELECT TradeId AS '@id', Symbol AS symbol, Quantity AS quantity, Price AS price
        FROM dbo.Trades WHERE TradeId = @id
        FOR XML PATH('trade'), TYPE
    );
    SEND ON CONVERSATION @dialog MESSAGE TYPE [//TradeDesk/Trade] (@body);

    UPDATE dbo.Trades SET Dialog = @dialog WHERE TradeId = @id;
    SELECT @id = MIN(TradeId) FROM dbo.Trades WHERE Dialog IS NULL;
END;
COMMIT;
GO

-- The last trade's symbol breaks the schema: it never reached the back office's queue.
USE BackOffice;
GO
SELECT message_type_name, message_sequence_number, CAST(message_body AS NVARCHAR(MAX)) AS body
FROM dbo.BackQueue
ORDER BY queuing_order;
GO

-- The front office reads the answers: one conversation group at a time, all its messages at once.

USE FrontOffice;
GO
SET NOCOUNT ON;
DECLARE @answers TABLE (
    handle UNIQUEIDENTIFIER,
    type SYSNAME,
    body VARBINARY(MAX)
);
DECLARE @group UNIQUEIDENTIFIER;

WHILE 1 = 1
BEGIN
    BEGIN TRANSACTION;
    SET @group = NULL;
    GET CONVERSATION GROUP @group FROM dbo.FrontQueue;
    IF @group IS NULL
    BEGIN
        COMMIT;
        BREAK;
    END;

    DELETE FROM @answers;
    RECEIVE conversation_handle, message_type_name, message_body
    FROM dbo.FrontQueue
    INTO @answers
    WHERE conversation_group_id = @group;

    UPDATE t
    SET Answer = CASE a.type
        WHEN '//TradeDesk/Booked' THEN 'booked'
        WHEN '//TradeDesk/Refused' THEN 'refused: ' + CAST(a.body AS NVARCHAR(MAX))
        ELSE 'failed: ' + CAST(a.body AS XML).value(
            'declare namespace e="http://schemas.microsoft.com/SQL/ServiceBroker/Error"; (/e:Error/e:Code)[1]',
            'nvarchar(20)')
        END
    FROM dbo.Trades AS t
    JOIN @answers AS a ON a.handle = t.Dialog
    WHERE a.type <> 'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog';

    DECLARE @ended UNIQUEIDENTIFIER;
    SET @ended = NULL;
    SELECT @ended = handle FROM @answers
    WHERE type IN ('http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog',
                   'http://schemas.microsoft.com/SQL/ServiceBroker/Error');
    IF @ended IS NOT NULL
        END CONVERSATION @ended;
    COMMIT;
END;

SELECT TradeId, Symbol, Quantity, Price, Answer FROM dbo.Trades ORDER BY TradeId;
SELECT COUNT(*) AS waiting FROM sys.transmission_queue;
GO

-- The agency goes through its groups. Both confirmed: the trip is booked, both dialogs end well.
-- One failed: the other provider is told by an error, and the trip is off.

USE Travel;
GO
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @group UNIQUEIDENTIFIER, @type SYSNAME, @text NVARCHAR(MAX), @dialog UNIQUEIDENTIFIER;
DECLARE @trip INT, @flight UNIQUEIDENTIFIER, @hotel UNIQUEIDENTIFIER, @confirmed INT;

next_group:
BEGIN TRY
    BEGIN TRANSACTION;
    SET @group = NULL;
    GET CONVERSATION GROUP @group FROM AgencyQueue;
    IF @group IS NULL
    BEGIN
        COMMIT;
        GOTO done;
    END;
    SELECT @trip = Trip, @flight = Flight, @hotel = Hotel FROM Trips WHERE ConversationGroup = @group;
    SET @confirmed = 0;
    WHILE 1 = 1
    BEGIN
        SET @type = NULL;
        RECEIVE TOP (1) @type = message_type_name, @dialog = conversation_handle,
            @text = CAST(message_body AS NVARCHAR(MAX))
        FROM AgencyQueue WHERE conversation_group_id = @group;
        IF @type IS NULL
            BREAK;
        IF @type = '//Travel/Confirm'
        BEGIN
            SET @confirmed += 1;
            INSERT INTO Log (What) VALUES (CONCAT('trip ', @trip, ': ', @text));
        END;
        IF @type = 'http://schemas.microsoft.com/SQL/ServiceBroker/Error'
        BEGIN
            INSERT INTO Log (What) VALUES (CONCAT('trip ', @trip, ': ', CAST(@text AS XML).value(
                'declare default element namespace "http://schemas.microsoft.com/SQL/ServiceBroker/Error";
                 (/Error/Description)[1]', 'nvarchar(100)')));
            RAISERROR ('trip %d cannot be booked', 16, 1, @trip);
        END;
    END;
    IF @confirmed = 2
    BEGIN
        UPDATE Trips SET State = 'booked' WHERE Trip = @trip;
        END CONVERSATION @flight;
        END CONVERSATION @hotel;
    END;
    COMMIT;
END TRY
BEGIN CATCH
    -- What was received comes back with the roll-back, and with it the log's lines. The
    -- cancelling is a transaction of its own.
    PRINT 'Cancelling: ' + ERROR_MESSAGE();
    IF XACT_STATE() <> 0
        ROLLBACK;
    BEGIN TRANSACTION;
    RECEIVE @type = message_type_name FROM AgencyQueue WHERE conversation_group_id = @group;
    UPDATE Trips SET State = 'cancelled' WHERE Trip = @trip;
    END CONVERSATION @flight WITH ERROR = 1 DESCRIPTION = N'the other half of the trip failed';
    END CONVERSATION @hotel;
    COMMIT;
END CATCH;
GOTO next_group;
done:
PRINT 'All trips are settled.';
GO

SELECT Trip, State FROM Trips ORDER BY Trip;
SELECT What FROM Log ORDER BY Line;
-- The airline reads that its seat for the second trip is free again.
SELECT message_type_name FROM FlightQueue ORDER BY queuing_order;
GO

-- A timer wakes a conversation that waits for an answer for too long.
SET NOCOUNT ON;
DECLARE @dialog UNIQUEIDENTIFIER, @woken UNIQUEIDENTIFIER, @type SYSNAME;
BEGIN DIALOG @dialog FROM SERVICE [//Travel/Agency] TO SERVICE '//Travel/Hotels'
    ON CONTRACT [//Travel/Booking] WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @dialog MESSAGE TYPE [//Travel/Book] (N'<book trip="3"/>');
BEGIN CONVERSATION TIMER (@dialog) TIMEOUT = 1;
WAITFOR (
    RECEIVE TOP (1) @woken = conversation_handle, @type = message_type_name
    FROM AgencyQueue WHERE conversation_handle = @dialog
), TIMEOUT 10000;
IF @woken = @dialog AND @type = 'http://schemas.microsoft.com/SQL/ServiceBroker/DialogTimer'
    PRINT 'Nobody answered for a second: giving up.';
END CONVERSATION @dialog WITH CLEANUP;
GO

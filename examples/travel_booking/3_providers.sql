-- The airline has a seat for both trips; the hotel is full for the second.

USE Travel;
GO
SET NOCOUNT ON;
DECLARE @dialog UNIQUEIDENTIFIER, @body XML;
WHILE 1 = 1
BEGIN
    SET @dialog = NULL;
    RECEIVE TOP (1) @dialog = conversation_handle FROM FlightQueue;
    IF @dialog IS NULL BREAK;
    SEND ON CONVERSATION @dialog MESSAGE TYPE [//Travel/Confirm] (N'seat');
END;

WHILE 1 = 1
BEGIN
    SET @dialog = NULL;
    RECEIVE TOP (1) @dialog = conversation_handle, @body = CAST(message_body AS XML) FROM HotelQueue;
    IF @dialog IS NULL BREAK;
    IF @body.exist('/book[@trip = 2]') = 1
        END CONVERSATION @dialog WITH ERROR = 17 DESCRIPTION = N'no room left';
    ELSE
        SEND ON CONVERSATION @dialog MESSAGE TYPE [//Travel/Confirm] (N'room');
END;
GO

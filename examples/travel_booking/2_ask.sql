-- Two trips: each is a conversation group of two dialogs. The second dialog joins the first's
-- group through RELATED_CONVERSATION.

USE Travel;
GO
SET NOCOUNT ON;
DECLARE @trip INT = 1, @flight UNIQUEIDENTIFIER, @hotel UNIQUEIDENTIFIER, @group UNIQUEIDENTIFIER;
DECLARE @body NVARCHAR(200);
WHILE @trip <= 2
BEGIN
    BEGIN TRANSACTION;
    BEGIN DIALOG @flight FROM SERVICE [//Travel/Agency] TO SERVICE '//Travel/Flights'
        ON CONTRACT [//Travel/Booking] WITH ENCRYPTION = OFF;
    BEGIN DIALOG @hotel FROM SERVICE [//Travel/Agency] TO SERVICE '//Travel/Hotels'
        ON CONTRACT [//Travel/Booking] WITH RELATED_CONVERSATION = @flight, LIFETIME = 3600, ENCRYPTION = OFF;
    SELECT @group = conversation_group_id FROM sys.conversation_endpoints WHERE conversation_handle = @flight;
    INSERT INTO Trips (Trip, ConversationGroup, Flight, Hotel) VALUES (@trip, @group, @flight, @hotel);
    SET @body = N'<book trip="' + CAST(@trip AS NVARCHAR(10)) + N'"/>';
    SEND ON CONVERSATION @flight, @hotel MESSAGE TYPE [//Travel/Book] (@body);
    COMMIT;
    SET @trip += 1;
END;
GO
SELECT c.priority, COUNT(*) AS conversations
FROM sys.conversation_endpoints AS c
WHERE c.is_initiator = 1
GROUP BY c.priority
ORDER BY c.priority;
GO

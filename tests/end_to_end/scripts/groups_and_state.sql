-- Request/response with conversation groups & saved state
CREATE MESSAGE TYPE [Travel/Book] VALIDATION = WELL_FORMED_XML
CREATE MESSAGE TYPE [Travel/Confirm] VALIDATION = WELL_FORMED_XML
CREATE MESSAGE TYPE [Part/Req] VALIDATION = WELL_FORMED_XML
CREATE MESSAGE TYPE [Part/Rsp] VALIDATION = WELL_FORMED_XML
GO
CREATE CONTRACT [Travel/C] ([Travel/Book] SENT BY INITIATOR, [Travel/Confirm] SENT BY TARGET)
CREATE CONTRACT [Part/C] ([Part/Req] SENT BY INITIATOR, [Part/Rsp] SENT BY TARGET)
GO
CREATE QUEUE ClientQ; CREATE QUEUE TravelQ; CREATE QUEUE HotelQ; CREATE QUEUE AirQ
CREATE SERVICE Client ON QUEUE ClientQ
CREATE SERVICE Travel ON QUEUE TravelQ ([Travel/C])
CREATE SERVICE Hotel ON QUEUE HotelQ ([Part/C])
CREATE SERVICE Air ON QUEUE AirQ ([Part/C])
GO
CREATE TABLE State (cg uniqueidentifier NOT NULL PRIMARY KEY, client uniqueidentifier, hotel varchar(20), air varchar(20), started datetime2 DEFAULT SYSUTCDATETIME())
GO
CREATE PROC HotelProc AS
DECLARE @h uniqueidentifier, @b xml, @t sysname
RECEIVE TOP(1) @h = conversation_handle, @b = message_body, @t = message_type_name FROM HotelQ
IF @t = 'Part/Req'
BEGIN
 DECLARE @r nvarchar(max) = N'<room no="' + CONVERT(nvarchar(10), @b.value('count(//guest)', 'int') + 100) + N'"/>';
 SEND ON CONVERSATION @h MESSAGE TYPE [Part/Rsp] (@r);
 END CONVERSATION @h;
END ELSE IF @h IS NOT NULL END CONVERSATION @h
GO
CREATE PROC AirProc AS
DECLARE @h uniqueidentifier, @b xml, @t sysname
RECEIVE TOP(1) @h = conversation_handle, @b = message_body, @t = message_type_name FROM AirQ
IF @t = 'Part/Req'
BEGIN;
 SEND ON CONVERSATION @h MESSAGE TYPE [Part/Rsp] (N'<seat>12F</seat>');
 END CONVERSATION @h;
END ELSE IF @h IS NOT NULL END CONVERSATION @h
GO
CREATE PROC TravelProc AS
BEGIN
SET NOCOUNT ON
DECLARE @cg uniqueidentifier, @h uniqueidentifier, @t sysname, @b xml, @svc nvarchar(512), @dh uniqueidentifier, @contract nvarchar(256)
WHILE 1=1
BEGIN
BEGIN TRAN
WAITFOR (GET CONVERSATION GROUP @cg FROM TravelQ), TIMEOUT 10
IF @cg IS NULL BEGIN ROLLBACK; RETURN END
DECLARE @client uniqueidentifier, @hotel varchar(20), @air varchar(20)
SELECT @client = NULL, @hotel = NULL, @air = NULL
SELECT @client = client, @hotel = hotel, @air = air FROM State WITH (UPDLOCK) WHERE cg = @cg
IF @@ROWCOUNT = 0 INSERT State (cg) VALUES (@cg)
WHILE 1=1
BEGIN
 RECEIVE TOP(1) @h = conversation_handle, @t = message_type_name, @b = CAST(message_body AS XML), @contract = service_contract_name FROM TravelQ WHERE conversation_group_id = @cg
 IF @@ROWCOUNT = 0 BREAK
 IF @t = 'Travel/Book'
 BEGIN
   SET @client = @h
   BEGIN DIALOG @dh FROM SERVICE Travel TO SERVICE 'Hotel' ON CONTRACT [Part/C] WITH RELATED_CONVERSATION = @h, ENCRYPTION = OFF;
   SEND ON CONVERSATION @dh MESSAGE TYPE [Part/Req] (@b);
   BEGIN DIALOG @dh FROM SERVICE Travel TO SERVICE 'Air' ON CONTRACT [Part/C] WITH RELATED_CONVERSATION_GROUP = @cg, ENCRYPTION = OFF;
   SEND ON CONVERSATION @dh MESSAGE TYPE [Part/Req] (@b);
 END
 ELSE IF @t = 'Part/Rsp'
 BEGIN
   IF @b.exist('/room') = 1 SET @hotel = @b.value('(/room/@no)[1]', 'varchar(20)')
   IF @b.exist('/seat') = 1 SET @air = @b.value('(/seat)[1]', 'varchar(20)')
 END
 ELSE IF @t = 'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog' END CONVERSATION @h
END
UPDATE State SET client = @client, hotel = @hotel, air = @air WHERE cg = @cg
IF @hotel IS NOT NULL AND @air IS NOT NULL
BEGIN
  DECLARE @done xml
  SET @done = (SELECT @hotel AS "hotel", @air AS "flight/@seat" FOR XML PATH('booking'));
  SEND ON CONVERSATION @client MESSAGE TYPE [Travel/Confirm] (@done)
  END CONVERSATION @client
  DELETE FROM State WHERE cg = @cg
END
COMMIT
END
END
GO
DECLARE @h uniqueidentifier
BEGIN DIALOG @h FROM SERVICE Client TO SERVICE 'Travel' ON CONTRACT [Travel/C] WITH ENCRYPTION = OFF
;SEND ON CONVERSATION @h MESSAGE TYPE [Travel/Book] (N'<trip><guest>A</guest><guest>B</guest></trip>')
EXEC TravelProc
EXEC HotelProc; EXEC AirProc
EXEC TravelProc
EXEC HotelProc; EXEC AirProc
SELECT CAST(message_body AS xml) AS b, message_type_name FROM ClientQ ORDER BY queuing_order
SELECT COUNT(*) AS left_states FROM State
GO
SELECT s.name AS service, e.state_desc, e.is_initiator, COUNT(*) OVER (PARTITION BY e.conversation_group_id) AS in_group
FROM sys.conversation_endpoints e INNER JOIN sys.services s ON s.service_id = e.service_id ORDER BY 1, 2, 3
GO

-- compensation with retention
SET NOCOUNT ON
CREATE MESSAGE TYPE Reserve VALIDATION = WELL_FORMED_XML CREATE MESSAGE TYPE Cancel VALIDATION = WELL_FORMED_XML
CREATE CONTRACT Booking (Reserve SENT BY INITIATOR, Cancel SENT BY INITIATOR)
CREATE QUEUE TripQ WITH RETENTION = ON
CREATE QUEUE HotelQ WITH RETENTION = ON, STATUS = ON
CREATE SERVICE Trip ON QUEUE TripQ
CREATE SERVICE Hotel ON QUEUE HotelQ (Booking)
CREATE TABLE Rooms (id int PRIMARY KEY, free int CHECK (free >= 0))
INSERT Rooms VALUES (1, 2)
GO
DECLARE @h uniqueidentifier
BEGIN DIALOG @h FROM SERVICE Trip TO SERVICE 'Hotel' ON CONTRACT Booking WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h MESSAGE TYPE Reserve (N'<r room="1" n="1"/>');
SEND ON CONVERSATION @h MESSAGE TYPE Reserve (N'<r room="1" n="1"/>');
SEND ON CONVERSATION @h MESSAGE TYPE Reserve (N'<r room="1" n="1"/>');
SELECT status, message_sequence_number, message_type_name, CAST(message_body AS xml) b FROM TripQ ORDER BY message_sequence_number
GO
DECLARE @h uniqueidentifier, @x xml, @mt sysname, @failed bit = 0
WHILE @failed = 0
BEGIN
  RECEIVE TOP (1) @h = conversation_handle, @mt = message_type_name, @x = CAST(message_body AS xml) FROM HotelQ
  IF @@ROWCOUNT = 0 BREAK
  BEGIN TRY
    UPDATE Rooms SET free -= @x.value('(/r/@n)[1]', 'int') WHERE id = @x.value('(/r/@room)[1]', 'int')
  END TRY
  BEGIN CATCH
    PRINT CONCAT('failed: ', ERROR_NUMBER())
    SET @failed = 1
    -- undo what was done, from the retained messages but the last
    UPDATE r SET free += u.n FROM Rooms r JOIN (SELECT m.room, SUM(m.n) AS n
      FROM (SELECT CAST(message_body AS xml).value('(/r/@room)[1]', 'int') AS room, CAST(message_body AS xml).value('(/r/@n)[1]', 'int') AS n
      FROM HotelQ WHERE status = 0 AND conversation_handle = @h AND message_sequence_number < (SELECT MAX(message_sequence_number) FROM HotelQ WHERE status = 0 AND conversation_handle = @h)) AS m
      GROUP BY m.room) AS u ON u.room = r.id
    END CONVERSATION @h WITH ERROR = 1 DESCRIPTION = N'no rooms'
  END CATCH
END
SELECT free FROM Rooms
SELECT status, COUNT(*) n FROM TripQ GROUP BY status ORDER BY status
DECLARE @d uniqueidentifier
RECEIVE @d = conversation_handle FROM TripQ
SELECT status, COUNT(*) n FROM TripQ GROUP BY status ORDER BY status
END CONVERSATION @d
SELECT COUNT(*) FROM TripQ
SELECT COUNT(*) FROM HotelQ
GO

-- A trading desk sends every trade of the day to the back office. Nobody reads
-- the back office's queue until the exchange has closed.
CREATE MESSAGE TYPE [//EndOfDay/Trade] VALIDATION = NONE
CREATE MESSAGE TYPE [//EndOfDay/Position] VALIDATION = NONE
CREATE CONTRACT [//EndOfDay/Book] (
    [//EndOfDay/Trade] SENT BY INITIATOR,
    [//EndOfDay/Position] SENT BY TARGET)
CREATE QUEUE DeskQueue
CREATE QUEUE BackOfficeQueue
CREATE SERVICE [//EndOfDay/Desk] ON QUEUE DeskQueue ([//EndOfDay/Book])
CREATE SERVICE [//EndOfDay/BackOffice] ON QUEUE BackOfficeQueue ([//EndOfDay/Book])
GO
CREATE TABLE Positions (Account VARCHAR(20) NOT NULL, Symbol VARCHAR(10) NOT NULL,
                        Quantity BIGINT NOT NULL, Value DECIMAL(18, 2) NOT NULL)
GO

-- A travel agency books a flight and a hotel. Both must work out; when one fails, the other is
-- undone by ending its conversation with an error. A timer gives up when nobody answers.

USE master;
GO
IF EXISTS (SELECT * FROM sys.databases WHERE name = 'Travel')
    DROP DATABASE Travel;
GO
CREATE DATABASE Travel;
GO
USE Travel;
GO
CREATE MESSAGE TYPE [//Travel/Book] VALIDATION = WELL_FORMED_XML;
CREATE MESSAGE TYPE [//Travel/Confirm] VALIDATION = NONE;
CREATE CONTRACT [//Travel/Booking] (
    [//Travel/Book] SENT BY INITIATOR,
    [//Travel/Confirm] SENT BY TARGET
);
CREATE QUEUE AgencyQueue;
CREATE QUEUE FlightQueue;
CREATE QUEUE HotelQueue;
CREATE SERVICE [//Travel/Agency] ON QUEUE AgencyQueue;
CREATE SERVICE [//Travel/Flights] ON QUEUE FlightQueue ([//Travel/Booking]);
CREATE SERVICE [//Travel/Hotels] ON QUEUE HotelQueue ([//Travel/Booking]);

-- Those who fly soon are served first.
CREATE BROKER PRIORITY Urgent FOR CONVERSATION
    SET (CONTRACT_NAME = [//Travel/Booking], REMOTE_SERVICE_NAME = N'//Travel/Flights', PRIORITY_LEVEL = 9);

CREATE TABLE Trips (
    Trip INT PRIMARY KEY,
    ConversationGroup UNIQUEIDENTIFIER NOT NULL,
    Flight UNIQUEIDENTIFIER NULL,
    Hotel UNIQUEIDENTIFIER NULL,
    State NVARCHAR(20) NOT NULL DEFAULT 'asked'
);
CREATE TABLE Log (Line INT IDENTITY PRIMARY KEY, What NVARCHAR(200) NOT NULL);
GO

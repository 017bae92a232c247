-- Readings of meters: received by the thousand into a table variable, stored by one INSERT.
CREATE MESSAGE TYPE [//meter/reading] VALIDATION = NONE;
CREATE CONTRACT [//meter/contract] ([//meter/reading] SENT BY ANY);
CREATE QUEUE dbo.meter_queue WITH STATUS = ON, RETENTION = OFF;
CREATE SERVICE [//meter/service] ON QUEUE dbo.meter_queue ([//meter/contract]);
CREATE TABLE readings (id INT IDENTITY PRIMARY KEY, reading VARBINARY(2000) NOT NULL);
CREATE TABLE kept_dialogs (number INT PRIMARY KEY, handle UNIQUEIDENTIFIER NOT NULL);
GO
CREATE PROCEDURE store_readings AS
BEGIN
    DECLARE @batch TABLE (kind SYSNAME, reading VARBINARY(MAX), dialog UNIQUEIDENTIFIER);
    DECLARE @more BIT = 1;
    WHILE @more = 1
    BEGIN
        BEGIN TRAN;
        WAITFOR (RECEIVE TOP (10000) message_type_name, message_body, conversation_handle
                 FROM meter_queue INTO @batch), TIMEOUT 300;
        IF @@ROWCOUNT = 0
        BEGIN
            SET @more = 0;
            ROLLBACK;
        END
        ELSE
        BEGIN
            INSERT INTO readings (reading)
                SELECT CAST(reading AS VARBINARY(2000)) FROM @batch WHERE kind = N'//meter/reading';
            DELETE @batch;
            COMMIT;
        END
    END
END
GO
-- ====
DECLARE @made INT = 0, @kept INT = 0, @handle UNIQUEIDENTIFIER;
WHILE @made < 750
BEGIN
    BEGIN DIALOG CONVERSATION @handle FROM SERVICE [//meter/service] TO SERVICE '//meter/service'
        ON CONTRACT [//meter/contract] WITH ENCRYPTION = ON;
    SET @made += 1;
    IF @made % 150 = 0
    BEGIN
        SET @kept += 1;
        INSERT kept_dialogs VALUES (@kept, @handle);
    END
END
-- ====
DECLARE @handle UNIQUEIDENTIFIER, @body VARCHAR(50) = REPLICATE('x', 50);
DECLARE all_dialogs CURSOR FOR SELECT conversation_handle FROM sys.conversation_endpoints;
OPEN all_dialogs;
FETCH all_dialogs INTO @handle;
WHILE @@FETCH_STATUS = 0
BEGIN
    SEND ON CONVERSATION @handle MESSAGE TYPE [//meter/reading] (@body);
    FETCH all_dialogs INTO @handle;
END
CLOSE all_dialogs;
DEALLOCATE all_dialogs;

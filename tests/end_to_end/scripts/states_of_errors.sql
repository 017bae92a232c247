-- A state is a number from 0 to 255: RAISERROR takes a negative one for 1 and refuses a greater one, of whatever
-- severity; THROW refuses both. A severity above 18 wants WITH LOG, in a variable too.
DECLARE @state INT = 300;
RAISERROR ('constant', 16, 256);
PRINT CONCAT('@@ERROR is ', @@ERROR);
RAISERROR ('variable', 10, @state);
PRINT CONCAT('@@ERROR is ', @@ERROR);
RAISERROR ('below', 16, -5);
RAISERROR ('the last', 16, 255);
BEGIN TRY
    RAISERROR ('information', 5, 256);
    PRINT 'not reached';
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ', severity ', ERROR_SEVERITY(), ', state ', ERROR_STATE(), ': ', ERROR_MESSAGE());
END CATCH;
BEGIN TRY
    THROW 50001, 'thrown', @state;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ', severity ', ERROR_SEVERITY(), ', state ', ERROR_STATE(), ': ', ERROR_MESSAGE());
END CATCH;
SET @state = -1;
BEGIN TRY
    THROW 50001, 'thrown', @state;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ', severity ', ERROR_SEVERITY(), ', state ', ERROR_STATE(), ': ', ERROR_MESSAGE());
END CATCH;
DECLARE @nothing INT;
BEGIN TRY
    THROW @nothing, 'thrown', 1;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ', severity ', ERROR_SEVERITY(), ', state ', ERROR_STATE(), ': ', ERROR_MESSAGE());
END CATCH;
DECLARE @severity INT = 20;
RAISERROR ('the connection goes on', @severity, 1);
PRINT CONCAT('@@ERROR is ', @@ERROR);
SET @severity = 19;
BEGIN TRY
    RAISERROR ('with log', @severity, 1) WITH LOG;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ', severity ', ERROR_SEVERITY(), ', state ', ERROR_STATE(), ': ', ERROR_MESSAGE());
END CATCH;
GO
CREATE PROCEDURE dbo.Tell @state INT AS
RAISERROR ('told', 10, @state);
PRINT CONCAT('@@ERROR is ', @@ERROR);
THROW 50001, 'thrown', @state;
GO
EXEC dbo.Tell 255;
PRINT 'not reached';
GO
EXEC dbo.Tell 256;
PRINT 'not reached';
GO
-- Not a number: outside TRY, too, it ends the batch, and is told.
DECLARE @nothing INT;
THROW @nothing, 'thrown', 1;
GO

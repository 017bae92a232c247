-- A message names a procedure and its arguments; the reader builds the EXEC from them.
CREATE QUEUE Desk
CREATE SERVICE DeskService ON QUEUE Desk ([DEFAULT])
CREATE TABLE Outcome (nr int IDENTITY, what nvarchar(300), number int NULL, said nvarchar(400) NULL)
CREATE TABLE Painted (wall int, colour nvarchar(20))
GO
CREATE PROCEDURE PaintWall @wall int, @colour nvarchar(20) = N'white' AS
IF @wall < 0 RAISERROR(N'no wall %d', 16, 1, @wall)
ELSE INSERT Painted VALUES (@wall, @colour)
GO
CREATE PROCEDURE AskFor @name sysname, @first sql_variant = NULL, @second sql_variant = NULL AS
SET NOCOUNT ON
DECLARE @talk uniqueidentifier, @body xml = (
    SELECT @name AS [@name], CONVERT(nvarchar(50), @first) AS first, CONVERT(nvarchar(50), @second) AS second
    FOR XML PATH('ask'))
BEGIN DIALOG @talk FROM SERVICE DeskService TO SERVICE 'DeskService' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @talk (@body)
GO
CREATE PROCEDURE Serve AS
SET NOCOUNT ON
DECLARE @talk uniqueidentifier, @body xml, @line nvarchar(max)
WHILE 1 = 1
BEGIN
    BEGIN TRANSACTION
    SET @talk = NULL
    RECEIVE TOP (1) @talk = conversation_handle, @body = message_body FROM Desk
    IF @talk IS NULL BEGIN COMMIT BREAK END
    IF @body IS NOT NULL
    BEGIN
        SELECT @line = N'EXEC ' + @body.value('(/ask/@name)[1]', 'sysname')
            + ISNULL(N' ' + @body.value('(/ask/first)[1]', 'nvarchar(50)'), N'')
            + ISNULL(N', ' + QUOTENAME(@body.value('(/ask/second)[1]', 'nvarchar(50)'), ''''), N'')
        SAVE TRANSACTION before_it
        BEGIN TRY
            EXEC (@line)
            INSERT Outcome (what) VALUES (@line)
        END TRY
        BEGIN CATCH
            IF XACT_STATE() = 1 ROLLBACK TRANSACTION before_it
            INSERT Outcome (what, number, said) VALUES (@line, ERROR_NUMBER(), ERROR_MESSAGE())
        END CATCH
    END
    END CONVERSATION @talk
    COMMIT
END
GO
EXEC AskFor 'PaintWall', 3, N'it''s red'
EXEC AskFor 'PaintWall', -3
EXEC AskFor 'NoSuchThing'
EXEC Serve
SELECT what, number, said FROM Outcome ORDER BY nr
SELECT wall, colour FROM Painted
GO

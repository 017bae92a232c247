SET QUOTED_IDENTIFIER OFF
GO
CREATE SCHEMA [chat room]
GO
CREATE QUEUE [chat room].Inbox; CREATE QUEUE [chat room].Hub
CREATE MESSAGE TYPE [say] VALIDATION = NONE; CREATE MESSAGE TYPE [join] VALIDATION = EMPTY; CREATE MESSAGE TYPE [heard]
CREATE CONTRACT talk ([say] SENT BY INITIATOR, [join] SENT BY INITIATOR, [heard] SENT BY TARGET)
CREATE SERVICE hub ON QUEUE [chat room].Hub (talk)
GO
CREATE TABLE [chat room].[Members] ([Nick name] NVARCHAR(20) COLLATE Latin1_General_CS_AS PRIMARY KEY, [h] UNIQUEIDENTIFIER NULL, [Since] DATETIME2(3) DEFAULT SYSUTCDATETIME(), [hub h] UNIQUEIDENTIFIER NULL)
GO
CREATE PROC [chat room].[Join] @nick NVARCHAR(20), @h UNIQUEIDENTIFIER = NULL OUTPUT AS
BEGIN TRY
	DECLARE @svc SYSNAME SET @svc = "member/" + @nick
	IF NOT EXISTS (SELECT * FROM sys.services WHERE name = @svc) BEGIN
		DECLARE @ddl NVARCHAR(500) SET @ddl = "CREATE SERVICE " + QUOTENAME(@svc) + " ON QUEUE [chat room].Inbox"
		EXEC (@ddl)
	END
	BEGIN DIALOG @h FROM SERVICE @svc TO SERVICE "hub" ON CONTRACT talk WITH ENCRYPTION = OFF
	INSERT INTO [chat room].Members ([Nick name], h) VALUES (@nick, @h);
	SEND ON CONVERSATION @h MESSAGE TYPE [join]
	PRINT @nick + " joined"
END TRY
BEGIN CATCH
	IF ERROR_NUMBER() IN (2627, 2601) BEGIN
		END CONVERSATION @h WITH CLEANUP
		SELECT @h = h FROM [chat room].Members WHERE [Nick name] = @nick
		PRINT @nick + " is here already"
	END ELSE BEGIN
		DECLARE @m NVARCHAR(2048), @s INT, @st INT
		SELECT @m = ERROR_MESSAGE(), @s = ERROR_SEVERITY(), @st = ERROR_STATE()
		RAISERROR (@m, @s, @st)
	END
END CATCH
GO
CREATE PROC [chat room].[Pump hub] AS
SET NOCOUNT ON
DECLARE @h UNIQUEIDENTIFIER, @mt SYSNAME, @b VARBINARY(MAX), @sql NVARCHAR(MAX), @list NVARCHAR(MAX), @text NVARCHAR(400), @n INT
next_message:
BEGIN TRANSACTION
RECEIVE TOP(1) @h = conversation_handle, @mt = message_type_name, @b = message_body FROM [chat room].Hub
IF @@ROWCOUNT = 0 GOTO done
IF @mt = "join"
	UPDATE m SET [hub h] = @h FROM [chat room].Members m JOIN sys.conversation_endpoints i ON i.conversation_handle = m.h JOIN sys.conversation_endpoints t ON t.conversation_id = i.conversation_id AND t.is_initiator = 0 WHERE t.conversation_handle = @h
ELSE IF @mt = "say" BEGIN
	SELECT @text = [Nick name] + ": " + CAST(@b AS NVARCHAR(300)) FROM [chat room].Members WHERE [hub h] = @h
	-- one SEND to everybody else
	SELECT @list = NULL, @n = 0
	SELECT @list = COALESCE(@list + ", ", "") + "'" + CAST([hub h] AS NCHAR(36)) + "'", @n = @n + 1 FROM [chat room].Members WHERE [hub h] IS NOT NULL AND [hub h] <> @h
	IF @n > 0 BEGIN
		SET @sql = "SEND ON CONVERSATION (" + @list + ") MESSAGE TYPE [heard] (@t)"
		EXEC sp_executesql @sql, N'@t NVARCHAR(400)', @t = @text
	END
END
ELSE BEGIN
	UPDATE [chat room].Members SET [hub h] = NULL WHERE [hub h] = @h
	END CONVERSATION @h
END
COMMIT
GOTO next_message
done:
COMMIT
GO
DECLARE @a UNIQUEIDENTIFIER, @b UNIQUEIDENTIFIER, @c UNIQUEIDENTIFIER
EXEC [chat room].[Join] "Ann", @a OUT
EXEC [chat room].[Join] @nick = "Bob", @h = @b OUT
EXECUTE [chat room].[Join] "Cid", @c OUTPUT
EXEC [chat room].[Join] "Ann"
EXEC [chat room].[Pump hub]
SEND ON CONVERSATION @a MESSAGE TYPE [say] ("hello")
SEND ON CONVERSATION (@b, @c) MESSAGE TYPE [say] ("hi Ann")
EXEC [chat room].[Pump hub]
SELECT service_name, CAST(message_body AS NVARCHAR(100)) AS said FROM [chat room].Inbox ORDER BY service_name, queuing_order
END CONVERSATION @c
EXEC [chat room].[Pump hub]
SEND ON CONVERSATION @a MESSAGE TYPE [say] ("Cid?")
EXEC [chat room].[Pump hub]
SELECT service_name, message_type_name, COUNT(*) AS n FROM [chat room].Inbox GROUP BY service_name, message_type_name HAVING COUNT(*) > 0 ORDER BY 1, 2
BEGIN TRY
 SEND ON CONVERSATION (@a, @c) MESSAGE TYPE [say] ("to the gone")
END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH
SELECT COUNT(*) AS nothing FROM [chat room].Hub
SELECT [Nick name], CASE WHEN [hub h] IS NULL THEN "left" ELSE "here" END FROM [chat room].Members ORDER BY 1
GO

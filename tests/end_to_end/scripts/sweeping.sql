-- Ends what is left of conversations, by cursor, by loop and from a table; drops what was built.
CREATE QUEUE Dust CREATE SERVICE Sweep ON QUEUE Dust ([DEFAULT])
GO
DECLARE @talk uniqueidentifier, @n int = 6
WHILE @n > 0 BEGIN BEGIN DIALOG @talk FROM SERVICE Sweep TO SERVICE 'Sweep' WITH ENCRYPTION = OFF; SEND ON CONVERSATION @talk (N'x'); SET @n -= 1 END
GO
DECLARE @talk uniqueidentifier
DECLARE few CURSOR FAST_FORWARD FOR SELECT TOP (2) e.conversation_handle FROM sys.conversation_endpoints AS e WITH (NOLOCK) WHERE e.is_initiator = 1
OPEN few
FETCH NEXT FROM few INTO @talk
WHILE @@FETCH_STATUS = 0 BEGIN END CONVERSATION @talk WITH CLEANUP FETCH NEXT FROM few INTO @talk END
CLOSE few DEALLOCATE few
SELECT COUNT(*) AS endpoints FROM sys.conversation_endpoints
GO
DECLARE @open TABLE (nr int IDENTITY PRIMARY KEY, talk uniqueidentifier), @nr int = 1, @talk uniqueidentifier
INSERT @open (talk) SELECT conversation_handle FROM sys.conversation_endpoints WHERE state <> 'CD' AND lifetime > GETUTCDATE()
WHILE @nr <= (SELECT MAX(nr) FROM @open)
BEGIN
    SELECT @talk = talk FROM @open WHERE nr = @nr
    END CONVERSATION @talk WITH CLEANUP
    IF @nr % 5 = 0 RAISERROR('%d ended', 0, 1, @nr) WITH NOWAIT
    SET @nr += 1
END
SELECT (SELECT COUNT(*) FROM Dust) AS messages, (SELECT COUNT(*) FROM sys.transmission_queue) AS waiting
GO
DECLARE @all nvarchar(max) = N''
SELECT @all += N'DROP SERVICE ' + QUOTENAME(name) + N'; ' FROM sys.services WHERE name NOT LIKE N'http://%'
EXEC sys.sp_executesql @all
IF NOT EXISTS (SELECT * FROM sys.services WHERE name = 'Sweep') DROP QUEUE Dust
IF EXISTS (SELECT * FROM sys.sysusers WHERE name = 'nobody') DROP USER nobody
IF EXISTS (SELECT * FROM master..syslogins WHERE name = 'nobody') DROP LOGIN nobody
SELECT COUNT(*) AS queues FROM sys.service_queues WHERE is_ms_shipped = 0
GO

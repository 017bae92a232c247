-- Push to several subscribers
CREATE TABLE Subscribers (id int identity primary key, service_name nvarchar(256) not null unique, dialog uniqueidentifier null)
CREATE TABLE Articles (id int primary key, title nvarchar(100), body nvarchar(max))
CREATE TABLE Received (subscriber sysname, id int, title nvarchar(100))
GO
CREATE MESSAGE TYPE Article VALIDATION = WELL_FORMED_XML
CREATE CONTRACT Feed (Article SENT BY INITIATOR)
CREATE QUEUE PubQ
CREATE SERVICE Publisher ON QUEUE PubQ
GO
DECLARE @i int = 1, @sql nvarchar(max)
WHILE @i <= 3
BEGIN
	SET @sql = N'CREATE QUEUE SubQ' + CAST(@i AS nvarchar(2)) + N'; CREATE SERVICE [Sub' + LTRIM(STR(@i)) + N'] ON QUEUE SubQ' + CONVERT(nvarchar, @i) + N' (Feed);'
	EXEC (@sql)
	INSERT Subscribers (service_name) VALUES (N'Sub' + CAST(@i AS nvarchar(2)))
	SET @i = @i + 1
END
GO
CREATE PROCEDURE PublishArticle @id int
AS
BEGIN
	SET NOCOUNT ON
	DECLARE @svc nvarchar(256), @dialog uniqueidentifier, @sid int, @payload xml
	SELECT @payload = (SELECT id AS '@id', title, body FROM Articles WHERE id = @id FOR XML PATH('article'), TYPE)
	DECLARE subs CURSOR LOCAL FORWARD_ONLY FOR
		SELECT id, service_name, dialog FROM Subscribers
	OPEN subs
	FETCH subs INTO @sid, @svc, @dialog
	WHILE (@@FETCH_STATUS <> -1)
	BEGIN
		IF (@@FETCH_STATUS <> -2)
		BEGIN
			IF @dialog IS NULL
			BEGIN
				BEGIN DIALOG CONVERSATION @dialog FROM SERVICE [Publisher] TO SERVICE @svc ON CONTRACT [Feed] WITH ENCRYPTION = OFF
				UPDATE Subscribers SET dialog = @dialog WHERE CURRENT OF subs
			END;
			SEND ON CONVERSATION @dialog MESSAGE TYPE [Article] (@payload)
		END
		FETCH NEXT FROM subs INTO @sid, @svc, @dialog
	END
	CLOSE subs
	DEALLOCATE subs
END
GO
INSERT Articles VALUES (1, N'Hello', N'World <b>&'), (2, N'Ünïcode', NULL)
EXEC PublishArticle 1
EXEC PublishArticle @id = 2
GO
CREATE PROCEDURE Pull @queue sysname, @subscriber sysname
AS
DECLARE @sql nvarchar(max), @params nvarchar(200), @n int
SET @sql = N'
	DECLARE @t TABLE (h uniqueidentifier, b xml, mt sysname);
	RECEIVE conversation_handle, CAST(message_body AS xml), message_type_name FROM ' + QUOTENAME(@queue) + N' INTO @t;
	INSERT Received (subscriber, id, title)
	SELECT @sub, b.value(''(/article/@id)[1]'', ''int''), b.value(''(/article/title)[1]'', ''nvarchar(100)'') FROM @t WHERE mt = ''Article'';
	SET @n = @@ROWCOUNT;'
SET @params = N'@sub sysname, @n int OUTPUT'
EXEC sp_executesql @sql, @params, @sub = @subscriber, @n = @n OUTPUT
PRINT @subscriber + ' got ' + CAST(@n AS varchar)
RETURN @n
GO
DECLARE @rc int
EXEC @rc = Pull 'SubQ1', 'Sub1' PRINT @rc
EXEC @rc = Pull 'SubQ2', 'Sub2'
EXEC @rc = Pull 'SubQ3', 'Sub3'
SELECT * FROM Received ORDER BY subscriber, id
SELECT s.service_name, COUNT(e.conversation_handle) AS open_dialogs FROM Subscribers s LEFT JOIN sys.conversation_endpoints e ON e.far_service = s.service_name AND e.conversation_handle = s.dialog GROUP BY s.service_name HAVING COUNT(*) >= 1 ORDER BY s.service_name
GO
SELECT q.name, p.rows
FROM sys.objects AS o
INNER JOIN sys.partitions AS p ON p.object_id = o.object_id
INNER JOIN sys.objects AS q ON o.parent_object_id = q.object_id
WHERE p.index_id = 1 AND q.type = 'SQ' AND q.is_ms_shipped = 0
ORDER BY q.name
GO

-- A reader of any queue, whose name comes in a variable: compiled, nobody is asked for a translation.
SET NOCOUNT ON
GO
CREATE SCHEMA app
GO
CREATE QUEUE app.Orders CREATE QUEUE dbo.[Odd Name] CREATE QUEUE dbo.Asker
CREATE SERVICE [//Orders] ON QUEUE app.Orders ([DEFAULT])
CREATE SERVICE [//Odd] ON QUEUE dbo.[Odd Name] ([DEFAULT])
CREATE SERVICE [//Asker] ON QUEUE dbo.Asker
GO
CREATE PROCEDURE dbo.ask @to nvarchar(200), @body nvarchar(max) AS
BEGIN
  DECLARE @h uniqueidentifier
  BEGIN DIALOG @h FROM SERVICE [//Asker] TO SERVICE @to WITH ENCRYPTION = OFF;
  SEND ON CONVERSATION @h (@body)
END
GO
CREATE PROCEDURE dbo.take_one @queue nvarchar(300) AS
BEGIN
  DECLARE @s nvarchar(max) = N'DECLARE @h uniqueidentifier, @b varbinary(max), @n int
WAITFOR (RECEIVE TOP (1) @h = conversation_handle, @b = message_body FROM ' + @queue + N'), TIMEOUT 10
SET @n = @@ROWCOUNT
PRINT CONCAT(@n, N'' '', CAST(@b AS nvarchar(20)))
IF @n = 1 END CONVERSATION @h'
  EXEC (@s)
END
GO
CREATE PROCEDURE dbo.take_all @schema sysname, @queue sysname AS
BEGIN
  DECLARE @name nvarchar(300) = QUOTENAME(@schema) + N'.' + QUOTENAME(@queue), @s nvarchar(max), @g uniqueidentifier
  SET @s = N'GET CONVERSATION GROUP @g FROM ' + @name
  EXEC sp_executesql @s, N'@g uniqueidentifier OUTPUT', @g OUTPUT
  SELECT CASE WHEN @g IS NULL THEN 0 ELSE 1 END AS is_group
  SET @s = N'DECLARE @t TABLE (n int IDENTITY, body varbinary(max))
RECEIVE TOP (10) message_body FROM ' + @name + N' INTO @t WHERE conversation_group_id = @g
SELECT n, CAST(body AS nvarchar(20)) AS body FROM @t'
  EXEC sp_executesql @s, N'@g uniqueidentifier', @g
END
GO
CREATE PROCEDURE dbo.show_some @queue sysname, @top int AS
BEGIN
  DECLARE @s nvarchar(max) = N'RECEIVE TOP (' + CAST(@top AS nvarchar(10)) + N') message_type_name, CAST(message_body AS nvarchar(20)) AS body
FROM app.' + QUOTENAME(@queue)
  EXEC (@s)
END
GO
EXEC dbo.ask N'//Orders', N'one' EXEC dbo.ask N'//Orders', N'two' EXEC dbo.ask N'//Orders', N'three' EXEC dbo.ask N'//Orders', N'four'
EXEC dbo.ask N'//Odd', N'odd'
EXEC dbo.take_one N'app.orders'
EXEC dbo.take_one N'[app].[Orders]'
EXEC dbo.take_one N'[Odd Name]'
EXEC dbo.take_one N'dbo.[Odd Name]'
EXEC dbo.take_one NULL
EXEC dbo.show_some N'Orders', 1
EXEC dbo.take_all N'app', N'Orders'
EXEC dbo.take_all N'app', N'Orders'
GO
-- What is none
EXEC dbo.take_one N'NotThere'
EXEC dbo.take_one N'app.NotThere'
EXEC dbo.take_one N'sys.objects'
GO
EXEC dbo.take_all N'app', N'Orders''; DROP QUEUE app.Orders --'
SELECT name FROM sys.service_queues WHERE name = N'Orders'
GO

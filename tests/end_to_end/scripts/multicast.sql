-- multi-cast send, send to list, conversation group locking helper
CREATE QUEUE M1; CREATE QUEUE M2; CREATE SERVICE M1S ON QUEUE M1 ([DEFAULT]); CREATE SERVICE M2S ON QUEUE M2 ([DEFAULT])
GO
DECLARE @a uniqueidentifier, @b uniqueidentifier, @payload nvarchar(200) = N'to both'
BEGIN DIALOG CONVERSATION @a FROM SERVICE M1S TO SERVICE 'M2S' ON CONTRACT [DEFAULT] WITH ENCRYPTION = OFF
BEGIN DIALOG CONVERSATION @b FROM SERVICE M1S TO SERVICE N'M2S' WITH RELATED_CONVERSATION = @a, ENCRYPTION = OFF
;SEND ON CONVERSATION (@a, @b) MESSAGE TYPE [DEFAULT] (@payload)
SEND ON CONVERSATION (@a, @b) (@payload + N'!')
SELECT COUNT(*) n, COUNT(DISTINCT conversation_group_id) g FROM M2
SELECT COUNT(DISTINCT conversation_group_id) AS groups FROM sys.conversation_endpoints WHERE is_initiator = 1
GO
DECLARE @g uniqueidentifier, @n int
BEGIN TRANSACTION
	GET CONVERSATION GROUP @g FROM dbo.M2
	IF @g IS NOT NULL
	BEGIN
		SELECT @n = COUNT(*) FROM M2 WHERE conversation_group_id = @g
		PRINT 'in group: ' + CONVERT(varchar(10), @n)
		RECEIVE TOP (10) CAST(message_body AS nvarchar(max)) AS m FROM M2 WHERE conversation_group_id = @g
	END
ROLLBACK TRANSACTION
SELECT COUNT(*) AS after_rollback FROM M2
GO
RECEIVE TOP (1) 1 + 1 AS two, message_type_name + N'?' AS mt, LEN(CAST(message_body AS nvarchar(max))) AS l FROM M2
GO
SET NOCOUNT ON
CREATE TABLE #in (h uniqueidentifier, b nvarchar(max))
DECLARE @r TABLE (h uniqueidentifier, b varbinary(max), o bigint)
RECEIVE conversation_handle, message_body, queuing_order FROM M2 INTO @r
INSERT #in SELECT h, CAST(b AS nvarchar(max)) FROM @r ORDER BY o
SELECT b FROM #in
IF EXISTS (SELECT * FROM #in WHERE b LIKE N'%both%') SELECT DISTINCT 'both' AS x FROM #in
GO

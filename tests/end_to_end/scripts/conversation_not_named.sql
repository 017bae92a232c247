-- A variable that is NULL names no conversation: it is never taken for any of them.
SET NOCOUNT ON
CREATE QUEUE Near CREATE QUEUE Far
CREATE SERVICE [//Near] ON QUEUE Near
CREATE SERVICE [//Far] ON QUEUE Far ([DEFAULT])
GO
DECLARE @near UNIQUEIDENTIFIER, @none UNIQUEIDENTIFIER, @body NVARCHAR(20);
BEGIN DIALOG @near FROM SERVICE [//Near] TO SERVICE '//Far' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @near (N'first');
RECEIVE message_body FROM Far WHERE conversation_handle = @none;
RECEIVE TOP (1) @body = message_body FROM Far WHERE conversation_group_id = (@none);
PRINT CONCAT('error ', @@ERROR, ', body ', ISNULL(@body, 'NULL'));
WAITFOR (RECEIVE message_body FROM Far WHERE conversation_group_id = @none), TIMEOUT 60000;
BEGIN TRY
    WAITFOR (RECEIVE TOP (1) @body = message_body FROM Far WHERE conversation_handle = @none), TIMEOUT 60000;
END TRY
BEGIN CATCH
    PRINT CONCAT('caught ', ERROR_NUMBER(), ' ', ERROR_MESSAGE());
END CATCH;
EXEC sp_executesql N'RECEIVE message_body FROM Far WHERE conversation_handle = @h', N'@h UNIQUEIDENTIFIER', @none;
RECEIVE CAST(message_body AS NVARCHAR(20)) AS body FROM Far WHERE conversation_handle = @near;
RECEIVE CAST(message_body AS NVARCHAR(20)) AS body FROM Far;

-- Conversations inside transactions, TRY and loops; see engine.py for the services.
--
-- case: a message received in a transaction that rolls back is there again
-- page: RECEIVE: the message is removed when the transaction commits
DECLARE @h uniqueidentifier;
DECLARE @mt nvarchar(128);
DECLARE @mb nvarchar(20);
BEGIN DIALOG CONVERSATION @h FROM SERVICE [//check/one] TO SERVICE N'//check/two' ON CONTRACT [//check/contract] WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h MESSAGE TYPE [//check/message] (N'first');
SEND ON CONVERSATION @h MESSAGE TYPE [//check/message] (N'second');
BEGIN TRANSACTION;
RECEIVE TOP (1) @h = conversation_handle, @mt = message_type_name, @mb = CAST(message_body AS nvarchar(20)) FROM dbo.q2;
PRINT CONCAT(@@ROWCOUNT, N' ', @mt, N' ', @mb);
ROLLBACK TRANSACTION;
PRINT @mb;
RECEIVE @h = conversation_handle, @mt = message_type_name, @mb = CAST(message_body AS nvarchar(20)) FROM dbo.q2;
PRINT CONCAT(@@ROWCOUNT, N' ', @mb);
WAITFOR (RECEIVE TOP (1) @h = conversation_handle, @mt = message_type_name, @mb = CAST(message_body AS nvarchar(20)) FROM dbo.q2), TIMEOUT 1;
PRINT CONCAT(@@ROWCOUNT, N' ', @mb);
-- expect
-- batch 1
--   print 1 //check/message first
--   print first
--   print 2 second
--   print 0 second
--
-- case: a savepoint brings a message back, a doomed transaction sends nothing
-- page: SAVE TRANSACTION; TRY...CATCH, Uncommittable Transactions
DECLARE @h uniqueidentifier;
DECLARE @mt nvarchar(128);
DECLARE @mb nvarchar(20);
BEGIN TRANSACTION;
BEGIN DIALOG CONVERSATION @h FROM SERVICE [//check/one] TO SERVICE N'//check/two' ON CONTRACT [//check/contract] WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h MESSAGE TYPE [//check/message] (N'a');
SAVE TRANSACTION sp1;
SEND ON CONVERSATION @h MESSAGE TYPE [//check/message] (N'b');
ROLLBACK TRANSACTION sp1;
COMMIT TRANSACTION;
SET XACT_ABORT ON;
BEGIN TRANSACTION;
BEGIN TRY
    RECEIVE TOP (1) @h = conversation_handle, @mt = message_type_name, @mb = CAST(message_body AS nvarchar(20)) FROM dbo.q2;
    THROW 50001, N'bad message', 1;
END TRY
BEGIN CATCH
    BEGIN TRY
        SEND ON CONVERSATION @h MESSAGE TYPE [//check/message] (N'answer');
    END TRY
    BEGIN CATCH
        PRINT CONCAT(ERROR_NUMBER(), N' ', @mb);
        ROLLBACK TRANSACTION;
    END CATCH;
END CATCH;
-- expect
-- batch 1
--   print 3930 a
-- table q2: ('//check/message', 'a')
--
-- case: the end of a conversation reaches the other side, which then cannot send
-- page: END CONVERSATION; SEND
DECLARE @h uniqueidentifier;
DECLARE @t uniqueidentifier;
DECLARE @mt nvarchar(128);
DECLARE @mb nvarchar(20);
BEGIN DIALOG CONVERSATION @h FROM SERVICE [//check/one] TO SERVICE N'//check/two' ON CONTRACT [//check/contract] WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h MESSAGE TYPE [//check/message] (N'a');
RECEIVE TOP (1) @t = conversation_handle, @mt = message_type_name, @mb = CAST(message_body AS nvarchar(20)) FROM dbo.q2;
SEND ON CONVERSATION @t MESSAGE TYPE [//check/message] (N'reply');
END CONVERSATION @t;
BEGIN TRY
    SEND ON CONVERSATION @h MESSAGE TYPE [//check/message] (N'too late');
END TRY
BEGIN CATCH
    PRINT ERROR_NUMBER();
END CATCH;
RECEIVE TOP (1) @h = conversation_handle, @mt = message_type_name, @mb = CAST(message_body AS nvarchar(20)) FROM dbo.q1;
PRINT CONCAT(@mt, N' ', @mb);
RECEIVE TOP (1) @h = conversation_handle, @mt = message_type_name, @mb = CAST(message_body AS nvarchar(20)) FROM dbo.q1;
PRINT CONCAT(@mt, N' ', @mb);
END CONVERSATION @h;
SEND ON CONVERSATION @h MESSAGE TYPE [//check/message] (N'gone');
PRINT @@ERROR;
-- expect
-- batch 1
--   print 8429
--   print //check/message reply
--   print http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog 
--   error 8426 level 16 state 1 line 21
--   print 8426

CREATE QUEUE q1; CREATE SERVICE s1 ON QUEUE q1; CREATE QUEUE q2; CREATE SERVICE s2 ON QUEUE q2 ([DEFAULT]);
GO
DECLARE @h UNIQUEIDENTIFIER;
BEGIN DIALOG @h FROM SERVICE s1 TO SERVICE 's2' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'a'); SEND ON CONVERSATION @h (N'b'); SEND ON CONVERSATION @h (N'c');
GO
DECLARE @s NVARCHAR(MAX) = N'', @n INT = 0, @last NVARCHAR(10), @h UNIQUEIDENTIFIER;
RECEIVE @s = @s + CAST(message_body AS NVARCHAR(MAX)) + N';', @n = @n + 1, @last = CAST(message_body AS NVARCHAR(10)) + CAST(@n AS NVARCHAR(5)), @h = conversation_handle FROM q2;
SELECT @s, @n, @last, @@ROWCOUNT, CASE WHEN @h IS NULL THEN 0 ELSE 1 END;
SEND ON CONVERSATION @h (N'answer');
GO
DECLARE @x NVARCHAR(100) = N'>', @y NVARCHAR(100);
WAITFOR (RECEIVE TOP (1) @x = @x + CAST(message_body AS NVARCHAR(100)), @y = @x + N'!' FROM q1), TIMEOUT 1000;
SELECT @x, @y;
GO
-- Compound assignments accumulate as those with = do.
DECLARE @h UNIQUEIDENTIFIER;
BEGIN DIALOG @h FROM SERVICE s1 TO SERVICE 's2' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'a'); SEND ON CONVERSATION @h (N'b'); SEND ON CONVERSATION @h (N'c');
GO
DECLARE @s NVARCHAR(MAX) = N'>', @n INT = 0, @d INT = 100, @p INT = 1, @bits INT = 0, @all INT = 7;
WAITFOR (
    RECEIVE @s += CAST(message_body AS NVARCHAR(MAX)) + N';', @n += message_sequence_number + 1, @d -= @n - 1,
            @p *= 1 + 1, @BITS |= message_sequence_number, @all &= 6, @all ^= 1
    FROM q2
), TIMEOUT 1000;
SELECT @s, @n, @d, @p, @bits, @all, @@ROWCOUNT;

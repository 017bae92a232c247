-- set-based consumer
CREATE MESSAGE TYPE Ev VALIDATION = WELL_FORMED_XML CREATE CONTRACT EvC (Ev SENT BY INITIATOR)
CREATE QUEUE EvQ CREATE QUEUE SrcQ CREATE SERVICE Src ON QUEUE SrcQ CREATE SERVICE EvS ON QUEUE EvQ (EvC)
CREATE TABLE Events (id int identity(1,1) primary key, src uniqueidentifier, seq bigint, kind varchar(20), val int, at datetime2 default sysutcdatetime())
GO
DECLARE @h uniqueidentifier, @i int = 0, @x xml
BEGIN DIALOG @h FROM SERVICE Src TO SERVICE 'EvS' ON CONTRACT EvC WITH ENCRYPTION = OFF
WHILE @i < 25
BEGIN
	SET @x = (SELECT @i AS [@v], CASE @i % 3 WHEN 0 THEN 'fizz' ELSE 'other' END AS [@k] FOR XML PATH('ev'), TYPE);
	SEND ON CONVERSATION @h MESSAGE TYPE Ev (@x)
	SELECT @i = @i + 1
END
END CONVERSATION @h
GO
CREATE PROCEDURE dbo.ConsumeEvents @batch int = 10 AS
BEGIN
	SET NOCOUNT ON
	DECLARE @msgs TABLE (queuing_order bigint, handle uniqueidentifier, seq bigint, mt sysname, body xml, PRIMARY KEY (queuing_order))
	DECLARE @loops int = 0, @rows int = 1
	WHILE @rows > 0
	BEGIN
		BEGIN TRANSACTION;
		DELETE FROM @msgs;
		WAITFOR (
			RECEIVE TOP (@batch) queuing_order, conversation_handle, message_sequence_number, message_type_name, CAST(message_body AS xml)
			FROM EvQ INTO @msgs
		), TIMEOUT 50;
		SET @rows = @@ROWCOUNT
		IF @rows > 0
		BEGIN
			INSERT INTO dbo.Events (src, seq, kind, val)
			SELECT m.handle, m.seq, e.n.value('@k', 'varchar(20)'), e.n.value('@v', 'int')
			FROM @msgs AS m CROSS APPLY m.body.nodes('/ev') AS e(n)
			WHERE m.mt = N'Ev' ORDER BY m.queuing_order;
			DECLARE @end uniqueidentifier
			SELECT TOP (1) @end = handle FROM @msgs WHERE mt = N'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog'
			IF @@ROWCOUNT > 0 END CONVERSATION @end
			SET @loops += 1
		END
		COMMIT TRANSACTION;
	END
	PRINT CONCAT(@loops, ' batches')
	RETURN @loops
END
GO
DECLARE @n int
EXEC @n = dbo.ConsumeEvents @batch = 8
SELECT @n AS batches, COUNT(*) AS events, MIN(val) mn, MAX(val) mx, SUM(CASE WHEN kind = 'fizz' THEN 1 ELSE 0 END) fizz, COUNT(DISTINCT src) srcs FROM Events
IF EXISTS (SELECT 1 FROM Events e WHERE e.val <> e.seq) PRINT 'out of order'
SELECT state_desc FROM sys.conversation_endpoints
GO

-- Generates a complete broker application from a table of descriptions
SET NOCOUNT ON;
IF OBJECT_ID('dbo.BrokerModel') IS NOT NULL DROP TABLE dbo.BrokerModel;
CREATE TABLE dbo.BrokerModel (Id INT IDENTITY PRIMARY KEY, Entity SYSNAME UNIQUE, KeyType NVARCHAR(40) NOT NULL, Readers TINYINT NOT NULL DEFAULT 1, Retention BIT NOT NULL DEFAULT 0, Lifetime INT NULL);
INSERT dbo.BrokerModel (Entity, KeyType, Readers, Retention, Lifetime) VALUES (N'Invoice', N'INT', 2, 0, NULL), (N'Credit Note', N'UNIQUEIDENTIFIER', 1, 1, 600), (N'O''Brien', N'NVARCHAR(20)', DEFAULT, DEFAULT, 30);
GO
CREATE OR ALTER FUNCTION dbo.ObjName (@entity SYSNAME, @suffix SYSNAME) RETURNS NVARCHAR(300) AS
BEGIN
    RETURN QUOTENAME(REPLACE(@entity, N' ', N'') + @suffix);
END;
GO
CREATE OR ALTER PROCEDURE dbo.GenerateBroker @Entity SYSNAME = NULL, @Execute BIT = 1, @Script NVARCHAR(MAX) = NULL OUTPUT
AS
BEGIN
    DECLARE @crlf NCHAR(2) = NCHAR(13) + NCHAR(10), @one NVARCHAR(MAX);
    DECLARE model CURSOR STATIC LOCAL FOR
        SELECT Entity, KeyType, Readers, Retention, Lifetime FROM dbo.BrokerModel WHERE @Entity IS NULL OR Entity = @Entity ORDER BY Id;
    DECLARE @e SYSNAME, @k NVARCHAR(40), @r TINYINT, @ret BIT, @life INT;
    OPEN model;
    FETCH FROM model INTO @e, @k, @r, @ret, @life;
    SET @Script = N'';
    WHILE @@FETCH_STATUS = 0
    BEGIN
        SET @one = N'
CREATE MESSAGE TYPE {mt} VALIDATION = WELL_FORMED_XML;
CREATE CONTRACT {ct} ({mt} SENT BY ANY);
CREATE QUEUE dbo.{q} WITH RETENTION = {ret};
CREATE SERVICE {sv} ON QUEUE dbo.{q} ({ct});
IF OBJECT_ID(N''dbo.{tn}'') IS NULL CREATE TABLE dbo.{t} (Id {key} NOT NULL, Body XML NULL, At DATETIME NOT NULL DEFAULT GETDATE());';
        SET @one = REPLACE(REPLACE(REPLACE(@one, N'{mt}', dbo.ObjName(@e, N'Message')), N'{ct}', dbo.ObjName(@e, N'Contract')), N'{q}', dbo.ObjName(@e, N'Queue'));
        SET @one = REPLACE(REPLACE(REPLACE(@one, N'{sv}', dbo.ObjName(@e, N'Service')), N'{tn}', REPLACE(dbo.ObjName(@e, N'Log'), '''', '''''')), N'{t}', dbo.ObjName(@e, N'Log'));
        SET @one = REPLACE(REPLACE(@one, N'{key}', @k), N'{ret}', CASE @ret WHEN 1 THEN N'ON' ELSE N'OFF' END);
        IF @Execute = 1 EXEC sys.sp_executesql @one;
        SET @Script += @one;
        -- CREATE PROCEDURE has to be alone
        SET @one = N'
CREATE PROCEDURE dbo.' + dbo.ObjName(@e, N'Send') + N' @Id ' + @k + N', @Body XML = NULL, @h UNIQUEIDENTIFIER = NULL OUTPUT AS
BEGIN
    SET NOCOUNT ON;
    IF @h IS NULL
        BEGIN DIALOG @h FROM SERVICE ' + dbo.ObjName(@e, N'Service') + N' TO SERVICE N' + QUOTENAME(REPLACE(@e, N' ', N'') + N'Service', '''') + N' ON CONTRACT ' + dbo.ObjName(@e, N'Contract')
            + N' WITH ENCRYPTION = OFF' + CASE WHEN @life IS NULL THEN N'' ELSE N', LIFETIME = ' + CAST(@life AS NVARCHAR(10)) END + N';
    SET @Body = COALESCE(@Body, N''<empty/>'');
    SET @Body.modify(''insert attribute id {sql:variable("@Id")} into (/*)[1]'');
    SEND ON CONVERSATION @h MESSAGE TYPE ' + dbo.ObjName(@e, N'Message') + N' (@Body);
END';
        IF @Execute = 1 EXECUTE (@one);
        SET @Script = CONCAT(@Script, @crlf, @one);
        SET @one = N'
CREATE PROCEDURE dbo.' + dbo.ObjName(@e, N'Receive') + N' AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @h UNIQUEIDENTIFIER, @t SYSNAME, @b XML, @n INT = 0;
    WHILE 1 = 1
    BEGIN
        BEGIN TRANSACTION;
        RECEIVE TOP (1) @h = conversation_handle, @t = message_type_name, @b = CAST(message_body AS XML) FROM dbo.' + dbo.ObjName(@e, N'Queue') + N';
        IF @@ROWCOUNT = 0 BEGIN COMMIT; RETURN @n; END;
        IF @t = ' + QUOTENAME(REPLACE(@e, N' ', N'') + N'Message', N'''') + N'
        BEGIN
            INSERT dbo.' + dbo.ObjName(@e, N'Log') + N' (Id, Body) SELECT @b.value(N''(/*/@id)[1]'', N''' + @k + N'''), @b;
            SET @n += 1;
        END
        ELSE END CONVERSATION @h;
        COMMIT;
    END;
END;';
        IF @Execute = 1 EXEC (@one);
        SET @Script = CONCAT(@Script, @crlf, @one);
        SET @one = N'ALTER QUEUE dbo.' + dbo.ObjName(@e, N'Queue') + N' WITH ACTIVATION (STATUS = OFF, PROCEDURE_NAME = dbo.' + dbo.ObjName(@e, N'Receive') + N', MAX_QUEUE_READERS = ' + CONVERT(NVARCHAR(3), @r) + N', EXECUTE AS OWNER)';
        IF @Execute = 1 EXEC sp_executesql @stmt = @one;
        FETCH FROM model INTO @e, @k, @r, @ret, @life;
    END;
    CLOSE model;
    DEALLOCATE model;
END;
GO
DECLARE @s NVARCHAR(MAX);
EXEC dbo.GenerateBroker @Script = @s OUTPUT;
PRINT LEN(@s) - LEN(REPLACE(@s, 'CREATE', 'REATE'));
GO
SELECT name, max_readers, is_retention_enabled, activation_procedure FROM sys.service_queues WHERE is_ms_shipped = 0 ORDER BY name;
SELECT name FROM sys.procedures WHERE name LIKE '%Send' OR name LIKE '%Receive' ORDER BY name;
GO
DECLARE @id UNIQUEIDENTIFIER = 'A326E034-D4CF-4E8B-8D98-4D7E1926C904', @n INT, @h UNIQUEIDENTIFIER;
EXEC dbo.InvoiceSend 7, N'<invoice/>';
EXEC dbo.InvoiceSend @Id = 8;
EXEC dbo.CreditNoteSend @id, '<note>x</note>', @h OUT;
EXEC dbo.CreditNoteSend @id, '<note>y</note>', @h OUT;
EXEC dbo.[O'BrienSend] N'k1';
EXEC @n = dbo.InvoiceReceive; PRINT @n;
EXEC @n = dbo.CreditNoteReceive; PRINT @n;
EXEC @n = [O'BrienReceive]; PRINT @n;
SELECT Id, Body FROM dbo.InvoiceLog; SELECT Id, Body FROM dbo.CreditNoteLog; SELECT Id, Body FROM dbo.[O'BrienLog];
SELECT status, COUNT(*) AS n FROM dbo.CreditNoteQueue GROUP BY status ORDER BY status;
DECLARE @names NVARCHAR(MAX) = STUFF((SELECT N', ' + QUOTENAME(name) FROM sys.tables WHERE name LIKE N'%Log' ORDER BY name FOR XML PATH(''), TYPE).value('.', 'NVARCHAR(MAX)'), 1, 2, N'');
EXEC (N'DROP TABLE ' + @names);
SELECT COUNT(*) AS logs FROM sys.tables WHERE name LIKE N'%Log';
GO

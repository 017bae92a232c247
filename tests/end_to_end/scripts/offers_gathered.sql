USE master;
GO
IF EXISTS (SELECT * FROM sys.databases WHERE name = 'Brokers') DROP DATABASE Brokers;
CREATE DATABASE Brokers;
GO
USE Brokers;
GO
-- Quote collection: one request goes to several suppliers, the answers share a conversation group.
CREATE MESSAGE TYPE [urn:quote/Request]  VALIDATION = WELL_FORMED_XML;
CREATE MESSAGE TYPE [urn:quote/Offer]    VALIDATION = WELL_FORMED_XML;
CREATE MESSAGE TYPE [urn:quote/Decline]  VALIDATION = EMPTY;
CREATE CONTRACT [urn:quote/Contract] (
    [urn:quote/Request] SENT BY INITIATOR,
    [urn:quote/Offer] SENT BY TARGET,
    [urn:quote/Decline] SENT BY TARGET
);
CREATE QUEUE dbo.BuyerQueue;
CREATE SERVICE [urn:svc/Buyer] ON QUEUE dbo.BuyerQueue;
GO
CREATE TABLE dbo.Suppliers (SupplierId INT NOT NULL PRIMARY KEY, ServiceName SYSNAME NOT NULL UNIQUE, Margin DECIMAL(5,2) NULL, Stocked BIT NOT NULL DEFAULT 1);
CREATE TABLE dbo.QuoteState (
    GroupId UNIQUEIDENTIFIER NOT NULL CONSTRAINT PK_QuoteState PRIMARY KEY,
    Item VARCHAR(30) NOT NULL, Qty INT NOT NULL,
    Asked INT NOT NULL, Answered INT NOT NULL DEFAULT (0),
    BestPrice MONEY NULL, BestSupplier SYSNAME NULL,
    Deadline DATETIME NOT NULL,
    Closed BIT NOT NULL CONSTRAINT DF_QuoteState_Closed DEFAULT (0));
GO
-- Every supplier has a queue and a service of its own, made by dynamic SQL.
CREATE PROCEDURE dbo.AddSupplier (@id INT, @margin DECIMAL(5,2), @stocked BIT = 1)
AS
BEGIN
    DECLARE @q SYSNAME = N'SupplierQueue_' + CAST(@id AS NVARCHAR(10)),
            @s SYSNAME = N'urn:svc/Supplier/' + CAST(@id AS NVARCHAR(10)),
            @sql NVARCHAR(MAX);
    SET @sql = N'CREATE QUEUE dbo.' + QUOTENAME(@q) + N';
CREATE SERVICE ' + QUOTENAME(@s) + N' ON QUEUE dbo.' + QUOTENAME(@q) + N' ([urn:quote/Contract]);';
    EXEC (@sql);
    INSERT INTO dbo.Suppliers VALUES (@id, @s, @margin, @stocked);
END;
GO
EXEC dbo.AddSupplier 1, 1.10;
EXEC dbo.AddSupplier @id = 2, @margin = 1.05;
EXEC dbo.AddSupplier 3, NULL, @stocked = 0;
GO
CREATE PROCEDURE dbo.AskForQuotes @item VARCHAR(30), @qty INT, @group UNIQUEIDENTIFIER = NULL OUTPUT
AS
SET NOCOUNT ON;
DECLARE @h UNIQUEIDENTIFIER, @svc SYSNAME, @n INT = 0, @body XML;
SET @group = NEWID();
SET @body = (SELECT @item AS '@sku', @qty AS '@qty' FOR XML PATH('request'));
DECLARE sup CURSOR LOCAL FAST_FORWARD FOR SELECT ServiceName FROM dbo.Suppliers ORDER BY SupplierId;
BEGIN TRAN;
OPEN sup;
FETCH NEXT FROM sup INTO @svc;
WHILE @@FETCH_STATUS = 0
BEGIN
    BEGIN DIALOG CONVERSATION @h
        FROM SERVICE [urn:svc/Buyer] TO SERVICE @svc ON CONTRACT [urn:quote/Contract]
        WITH RELATED_CONVERSATION_GROUP = @group, LIFETIME = 3600, ENCRYPTION = OFF;
    IF @n = 0 BEGIN CONVERSATION TIMER (@h) TIMEOUT = 1800;
    SEND ON CONVERSATION @h MESSAGE TYPE [urn:quote/Request] (@body);
    SET @n += 1;
    FETCH NEXT FROM sup INTO @svc;
END;
CLOSE sup; DEALLOCATE sup;
INSERT dbo.QuoteState (GroupId, Item, Qty, Asked, Deadline) VALUES (@group, @item, @qty, @n, DATEADD(SECOND, 1800, GETDATE()));
COMMIT;
RETURN @n;
GO
CREATE PROCEDURE dbo.RunSupplier @id INT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @sql NVARCHAR(MAX), @h UNIQUEIDENTIFIER, @mt SYSNAME, @b VARBINARY(MAX);
    SET @sql = N'WAITFOR (RECEIVE TOP (1) @h = conversation_handle, @mt = message_type_name, @b = message_body FROM dbo.SupplierQueue_'
             + LTRIM(STR(@id)) + N'), TIMEOUT 100';
again:
    SELECT @h = NULL, @mt = NULL, @b = NULL;
    BEGIN TRANSACTION;
    EXEC sp_executesql @sql, N'@h UNIQUEIDENTIFIER OUTPUT, @mt SYSNAME OUTPUT, @b VARBINARY(MAX) OUT', @h OUTPUT, @mt OUTPUT, @b = @b OUTPUT;
    IF @h IS NULL BEGIN COMMIT; RETURN 0; END
    IF @mt = N'urn:quote/Request'
    BEGIN
        DECLARE @x XML = @b, @offer XML, @m DECIMAL(5,2), @st BIT;
        SELECT @m = Margin, @st = Stocked FROM Suppliers WHERE SupplierId = @id;
        IF @st = 1
        BEGIN
            SET @offer = N'<offer price="' + CAST(CAST(@x.value('(/request/@qty)[1]', 'int') * 2.5 * @m AS MONEY) AS NVARCHAR(20)) + N'"/>';
            SEND ON CONVERSATION @h MESSAGE TYPE [urn:quote/Offer] (@offer);
        END
        ELSE
            SEND ON CONVERSATION @h MESSAGE TYPE [urn:quote/Decline];
        END CONVERSATION @h;
    END
    ELSE END CONVERSATION @h;
    COMMIT TRANSACTION;
    GOTO again;
END;
GO
CREATE PROCEDURE dbo.RunBuyer
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @g UNIQUEIDENTIFIER;
    DECLARE @msgs TABLE (
        Seq BIGINT NOT NULL, Handle UNIQUEIDENTIFIER NOT NULL, MsgType NVARCHAR(256) COLLATE DATABASE_DEFAULT NOT NULL, Body VARBINARY(MAX) NULL,
        PRIMARY KEY CLUSTERED (Handle, Seq));
    WHILE (1 = 1)
    BEGIN
        BEGIN TRANSACTION;
        WAITFOR (GET CONVERSATION GROUP @g FROM dbo.BuyerQueue), TIMEOUT 100;
        IF @g IS NULL
        BEGIN
            ROLLBACK TRANSACTION;
            BREAK;
        END;
        DELETE FROM @msgs;
        RECEIVE message_sequence_number, conversation_handle, message_type_name, message_body
        FROM dbo.BuyerQueue INTO @msgs WHERE conversation_group_id = @g;

        UPDATE s SET Answered = s.Answered + a.n,
               BestPrice = CASE WHEN s.BestPrice IS NULL OR a.p < s.BestPrice THEN a.p ELSE s.BestPrice END
        FROM dbo.QuoteState AS s
        CROSS APPLY (SELECT COUNT(*) AS n, MIN(CAST(m.Body AS XML).value('(/offer/@price)[1]', 'money')) AS p
                     FROM @msgs m WHERE m.MsgType LIKE 'urn:quote/%') AS a
        WHERE s.GroupId = @g;

        UPDATE dbo.QuoteState SET Closed = 1 WHERE GroupId = @g AND Answered >= Asked;

        DECLARE @h UNIQUEIDENTIFIER;
        DECLARE c CURSOR LOCAL FOR SELECT DISTINCT Handle FROM @msgs WHERE MsgType IN (
            N'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog', N'http://schemas.microsoft.com/SQL/ServiceBroker/Error');
        OPEN c
        WHILE 1 = 1
        BEGIN
            FETCH c INTO @h
            IF @@FETCH_STATUS <> 0 BREAK
            END CONVERSATION @h
        END
        CLOSE c
        DEALLOCATE c
        COMMIT TRANSACTION;
    END
END;
GO
DECLARE @asked INT, @g UNIQUEIDENTIFIER;
EXEC @asked = dbo.AskForQuotes 'bolt', 40, @g OUTPUT;
SELECT @asked AS asked, CASE WHEN @g IS NOT NULL THEN 'group' END AS g;
EXECUTE @asked = dbo.AskForQuotes @qty = 8, @item = 'nut';
SELECT COUNT(DISTINCT conversation_group_id) AS groups, COUNT(*) AS dialogs FROM sys.conversation_endpoints WHERE is_initiator = 1;
EXEC dbo.RunSupplier 1; EXEC RunSupplier 2; EXEC RunSupplier @id = 3;
EXEC dbo.RunBuyer;
SELECT Item, Qty, Asked, Answered, BestPrice, Closed FROM dbo.QuoteState ORDER BY Item;
SELECT state_desc, is_initiator, COUNT(*) AS n FROM sys.conversation_endpoints GROUP BY state_desc, is_initiator ORDER BY 1, 2;
SELECT q.name, p.rows FROM sys.service_queues q JOIN sys.internal_tables it ON it.parent_object_id = q.object_id
JOIN sys.partitions p ON p.object_id = it.object_id AND p.index_id = 1 WHERE q.is_ms_shipped = 0 ORDER BY q.name;
GO
USE master;
GO
DROP DATABASE Brokers;
GO

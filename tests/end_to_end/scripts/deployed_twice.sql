-- times: 2
/* Idempotent deployment */
SET NOCOUNT, XACT_ABORT ON;
GO
IF NOT EXISTS (SELECT 1 FROM sys.schemas WHERE name = N'bus') EXEC (N'CREATE SCHEMA bus AUTHORIZATION dbo;');
GO
PRINT N'Dropping in order of dependency';
IF OBJECT_ID(N'bus.OnOrder', N'P') IS NOT NULL AND EXISTS (SELECT * FROM sys.service_queues WHERE object_id = OBJECT_ID(N'bus.OrderQueue'))
    ALTER QUEUE bus.OrderQueue WITH ACTIVATION (DROP);
GO
DECLARE @h UNIQUEIDENTIFIER;
DECLARE dialogs CURSOR LOCAL FAST_FORWARD FOR
    SELECT e.conversation_handle FROM sys.conversation_endpoints AS e INNER JOIN sys.services AS s ON s.service_id = e.service_id WHERE s.name LIKE N'bus/%' ESCAPE '!';
OPEN dialogs;
WHILE (1 = 1)
BEGIN;
    FETCH NEXT FROM dialogs INTO @h;
    IF @@FETCH_STATUS <> 0 BREAK;
    END CONVERSATION @h WITH CLEANUP;
    PRINT N'cleaned a dialog';
END;
CLOSE dialogs; DEALLOCATE dialogs;
GO
IF EXISTS (SELECT * FROM sys.event_notifications WHERE name = N'OrderQueueDisabled' AND parent_id = OBJECT_ID(N'bus.OrderQueue')) DROP EVENT NOTIFICATION OrderQueueDisabled ON QUEUE bus.OrderQueue;
IF EXISTS (SELECT * FROM sys.conversation_priorities WHERE name = N'Urgent') DROP BROKER PRIORITY Urgent;
IF EXISTS (SELECT * FROM sys.remote_service_bindings WHERE name = N'ToShop') DROP REMOTE SERVICE BINDING ToShop;
IF EXISTS (SELECT * FROM sys.routes WHERE name = N'ShopRoute') DROP ROUTE ShopRoute;
IF EXISTS (SELECT * FROM sys.services WHERE name = N'bus/orders') DROP SERVICE [bus/orders];
IF EXISTS (SELECT * FROM sys.services WHERE name = N'bus/shop') DROP SERVICE [bus/shop];
IF EXISTS (SELECT * FROM sys.services WHERE name = N'bus/alerts') DROP SERVICE [bus/alerts];
IF OBJECT_ID(N'bus.OrderQueue') IS NOT NULL DROP QUEUE bus.OrderQueue;
IF OBJECT_ID(N'bus.ShopQueue', 'SQ') IS NOT NULL DROP QUEUE bus.ShopQueue;
IF EXISTS (SELECT * FROM sys.objects WHERE type = 'SQ' AND name = N'AlertQueue' AND schema_id = SCHEMA_ID('bus')) DROP QUEUE bus.AlertQueue;
IF EXISTS (SELECT * FROM sys.service_contracts WHERE name = N'bus/ordering') DROP CONTRACT [bus/ordering];
IF EXISTS (SELECT * FROM sys.service_message_types WHERE name = N'bus/order') DROP MESSAGE TYPE [bus/order];
IF EXISTS (SELECT * FROM sys.service_message_types WHERE name IN (N'bus/receipt')) DROP MESSAGE TYPE [bus/receipt];
IF EXISTS (SELECT * FROM sys.xml_schema_collections c WHERE c.name = 'OrderSchema' AND SCHEMA_NAME(c.schema_id) = 'bus') DROP XML SCHEMA COLLECTION bus.OrderSchema;
DROP PROCEDURE IF EXISTS bus.OnOrder, bus.PlaceOrder;
DROP TABLE IF EXISTS bus.Orders;
IF USER_ID('bus_agent') IS NOT NULL DROP USER bus_agent;
GO
PRINT N'Creating';
CREATE XML SCHEMA COLLECTION bus.OrderSchema AS N'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="order"><xs:complexType><xs:attribute name="id" type="xs:int" use="required"/></xs:complexType></xs:element></xs:schema>';
GO
CREATE MESSAGE TYPE [bus/order] AUTHORIZATION dbo VALIDATION = VALID_XML WITH SCHEMA COLLECTION bus.OrderSchema;
CREATE MESSAGE TYPE [bus/receipt] AUTHORIZATION dbo VALIDATION = NONE;
CREATE CONTRACT [bus/ordering] AUTHORIZATION dbo ([bus/order] SENT BY INITIATOR, [bus/receipt] SENT BY TARGET);
CREATE QUEUE bus.OrderQueue WITH STATUS = ON, RETENTION = OFF, POISON_MESSAGE_HANDLING (STATUS = ON);
CREATE QUEUE bus.ShopQueue WITH STATUS = ON , RETENTION = OFF;
CREATE QUEUE bus.AlertQueue;
CREATE SERVICE [bus/orders] AUTHORIZATION dbo ON QUEUE bus.OrderQueue ([bus/ordering]);
CREATE SERVICE [bus/shop] AUTHORIZATION dbo ON QUEUE bus.ShopQueue;
CREATE SERVICE [bus/alerts] ON QUEUE bus.AlertQueue ([http://schemas.microsoft.com/SQL/Notifications/PostEventNotification]);
CREATE ROUTE ShopRoute AUTHORIZATION dbo WITH SERVICE_NAME = N'bus/orders', ADDRESS = N'LOCAL';
CREATE USER bus_agent WITHOUT LOGIN WITH DEFAULT_SCHEMA = bus;
CREATE REMOTE SERVICE BINDING ToShop AUTHORIZATION dbo TO SERVICE N'bus/orders' WITH USER = bus_agent, ANONYMOUS = OFF;
CREATE BROKER PRIORITY Urgent FOR CONVERSATION SET (CONTRACT_NAME = [bus/ordering], LOCAL_SERVICE_NAME = [bus/shop], REMOTE_SERVICE_NAME = N'bus/orders', PRIORITY_LEVEL = 7);
CREATE EVENT NOTIFICATION OrderQueueDisabled ON QUEUE bus.OrderQueue FOR BROKER_QUEUE_DISABLED TO SERVICE N'bus/alerts', N'current database';
GO
GRANT SEND ON SERVICE::[bus/orders] TO bus_agent;
GRANT RECEIVE ON bus.OrderQueue TO bus_agent;
GRANT REFERENCES, CONTROL ON CONTRACT::[bus/ordering] TO bus_agent;
GRANT VIEW DEFINITION ON MESSAGE TYPE::[bus/order] TO bus_agent;
GO
CREATE TABLE bus.Orders (Id INT NOT NULL CONSTRAINT PK_bus_Orders PRIMARY KEY CLUSTERED WITH (FILLFACTOR = 90) ON [PRIMARY], PlacedAt DATETIME2 NOT NULL CONSTRAINT DF_bus_Orders_PlacedAt DEFAULT (SYSUTCDATETIME()), State VARCHAR(10) NOT NULL CONSTRAINT CK_bus_Orders_State CHECK (State IN ('new', 'done')) CONSTRAINT DF_State DEFAULT ('new')) ON [PRIMARY];
GO
CREATE PROCEDURE bus.PlaceOrder @Id INT, @Handle UNIQUEIDENTIFIER OUTPUT
WITH EXECUTE AS CALLER
AS
BEGIN;
    SET NOCOUNT ON;
    BEGIN TRY;
        BEGIN TRANSACTION PlaceOrder;
        INSERT INTO bus.Orders (Id) VALUES (@Id);
        BEGIN DIALOG CONVERSATION @Handle FROM SERVICE [bus/shop] TO SERVICE N'bus/orders', N'CURRENT DATABASE' ON CONTRACT [bus/ordering] WITH ENCRYPTION = OFF;
        DECLARE @Body XML(bus.OrderSchema) = (SELECT @Id AS [@id] FOR XML PATH (N'order'), TYPE);
        SEND ON CONVERSATION @Handle MESSAGE TYPE [bus/order] (@Body);
        COMMIT TRANSACTION PlaceOrder;
        RETURN 0;
    END TRY
    BEGIN CATCH;
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH;
END;
GO
CREATE PROCEDURE bus.OnOrder
AS
BEGIN
    DECLARE @Batch TABLE (RowNo INT IDENTITY(1, 1) PRIMARY KEY, Handle UNIQUEIDENTIFIER NOT NULL, TypeName SYSNAME NOT NULL, Body XML NULL, INDEX IX (Handle));
    DECLARE @No INT, @Handle UNIQUEIDENTIFIER, @Type SYSNAME, @Id INT, @Last INT;
    BEGIN TRANSACTION;
    RECEIVE conversation_handle, message_type_name, CONVERT(XML, message_body) AS b FROM bus.OrderQueue INTO @Batch;
    SELECT @No = 1, @Last = @@ROWCOUNT;
    WHILE @No <= @Last
    BEGIN
        SELECT @Handle = Handle, @Type = TypeName, @Id = Body.value(N'(/order/@id)[1]', N'INT') FROM @Batch WHERE RowNo = @No;
        IF @Type = N'bus/order'
        BEGIN
            UPDATE bus.Orders SET State = 'done' OUTPUT deleted.State AS was, inserted.State AS [is] WHERE Id = @Id;
            SEND ON CONVERSATION @Handle MESSAGE TYPE [bus/receipt] (CAST(N'order ' + FORMAT(@Id, N'0000') AS NVARCHAR(20)));
        END
        END CONVERSATION @Handle;
        SET @No += 1;
    END
    COMMIT;
    RETURN @Last;
END
GO
ALTER QUEUE bus.OrderQueue WITH ACTIVATION (STATUS = OFF, PROCEDURE_NAME = bus.OnOrder, MAX_QUEUE_READERS = 5, EXECUTE AS N'bus_agent');
GO
DECLARE @h UNIQUEIDENTIFIER, @n INT;
EXEC bus.PlaceOrder 1, @h OUTPUT;
EXEC @n = bus.OnOrder;
SELECT @n AS handled;
BEGIN TRY EXEC bus.PlaceOrder 1, @h OUTPUT; END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS number, ERROR_PROCEDURE() AS [procedure], @@TRANCOUNT AS tc; END CATCH;
SELECT Id, State FROM bus.Orders;
SELECT CAST(message_body AS NVARCHAR(20)) b, priority FROM bus.ShopQueue ORDER BY queuing_order;
SELECT p.permission_name, p.class_desc, p.state_desc FROM sys.database_permissions p WHERE p.grantee_principal_id = USER_ID(N'bus_agent') AND p.permission_name <> 'CONNECT' ORDER BY 1, 2;
GO

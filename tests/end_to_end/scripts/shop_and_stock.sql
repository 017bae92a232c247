SET NOCOUNT ON
GO
CREATE DATABASE Shop
CREATE DATABASE Stock
GO
ALTER DATABASE Shop SET TRUSTWORTHY ON
ALTER DATABASE Stock SET TRUSTWORTHY ON, ENABLE_BROKER
GO
USE Stock
GO
CREATE SCHEMA wh
GO
CREATE TABLE wh.Items (Sku CHAR(4) PRIMARY KEY, OnHand INT CHECK (OnHand >= 0))
INSERT wh.Items VALUES ('AAAA', 5), ('BBBB', 0)
CREATE MESSAGE TYPE Reserve VALIDATION = WELL_FORMED_XML CREATE MESSAGE TYPE Reserved VALIDATION = WELL_FORMED_XML
CREATE CONTRACT Reservations (Reserve SENT BY INITIATOR, Reserved SENT BY TARGET)
CREATE QUEUE wh.Requests CREATE SERVICE Warehouse ON QUEUE wh.Requests (Reservations)
GO
USE Shop
GO
CREATE TABLE Orders (Id INT IDENTITY PRIMARY KEY, Sku CHAR(4), Qty INT, Reserved BIT DEFAULT 0, Problem NVARCHAR(200))
GO
USE Stock
GO
CREATE SYNONYM dbo.ShopOrders FOR Shop.dbo.Orders
GO
CREATE PROCEDURE wh.Work AS
BEGIN
 SET NOCOUNT ON
 DECLARE @h UNIQUEIDENTIFIER, @x XML, @mt SYSNAME, @tries INT = 0
 WHILE @tries < 5
 BEGIN
  BEGIN TRY
   BEGIN TRAN
   RECEIVE TOP (1) @h = conversation_handle, @mt = message_type_name, @x = message_body FROM Stock.wh.Requests
   IF @@ROWCOUNT = 0 BEGIN COMMIT BREAK END
   IF @mt <> 'Reserve' END CONVERSATION @h
   ELSE BEGIN
    UPDATE wh.Items SET OnHand = OnHand - @x.value('(/r/@qty)[1]', 'int') WHERE Sku = @x.value('(/r/@sku)[1]', 'char(4)')
    IF @@ROWCOUNT = 0 RAISERROR ('unknown item', 16, 1)
    UPDATE dbo.ShopOrders SET Reserved = 1 WHERE Id = @x.value('(/r/@order)[1]', 'int')
    SEND ON CONVERSATION @h MESSAGE TYPE Reserved (@x)
    END CONVERSATION @h
   END
   COMMIT
  END TRY
  BEGIN CATCH
   SET @tries += 1
   IF @@TRANCOUNT > 0 ROLLBACK
   DECLARE @why NVARCHAR(3000) = CONCAT(N'(', ERROR_NUMBER(), N') ', LEFT(ERROR_MESSAGE(), 34))
   BEGIN TRAN
   RECEIVE TOP (1) @h = conversation_handle FROM wh.Requests WHERE conversation_handle = @h
   END CONVERSATION @h WITH ERROR = 1001 DESCRIPTION = @why
   COMMIT
  END CATCH
 END
END
GO
USE Shop
GO
CREATE MESSAGE TYPE Reserve VALIDATION = WELL_FORMED_XML CREATE MESSAGE TYPE Reserved VALIDATION = WELL_FORMED_XML
CREATE CONTRACT Reservations (Reserve SENT BY INITIATOR, Reserved SENT BY TARGET)
CREATE QUEUE Answers CREATE SERVICE ShopFront ON QUEUE Answers
GO
CREATE TRIGGER NewOrder ON Orders AFTER INSERT AS
BEGIN
 SET NOCOUNT ON
 DECLARE @id INT, @x XML, @h UNIQUEIDENTIFIER, @stock UNIQUEIDENTIFIER
 SELECT @stock = service_broker_guid FROM sys.databases WHERE name = 'Stock'
 DECLARE c CURSOR LOCAL FORWARD_ONLY FOR SELECT Id, (SELECT Id '@order', Sku '@sku', Qty '@qty' FOR XML PATH('r'), TYPE) FROM inserted
 OPEN c FETCH c INTO @id, @x
 WHILE @@FETCH_STATUS = 0 BEGIN
  BEGIN DIALOG @h FROM SERVICE ShopFront TO SERVICE 'Warehouse', @stock ON CONTRACT Reservations WITH ENCRYPTION = OFF
  SEND ON CONVERSATION @h MESSAGE TYPE Reserve (@x)
  UPDATE Orders SET Problem = CAST(@h AS NVARCHAR(200)) WHERE Id = @id
  FETCH c INTO @id, @x
 END
END
GO
INSERT Orders (Sku, Qty) SELECT 'AAAA', 2 UNION ALL SELECT 'BBBB', 1 UNION ALL SELECT 'ZZZZ', 1 UNION ALL SELECT 'AAAA', 3
EXEC Stock.wh.Work
GO
DECLARE @a TABLE (h UNIQUEIDENTIFIER, mt SYSNAME, b XML), @n INT = 12
WHILE @n > 0
BEGIN
 SET @n -= 1
 RECEIVE conversation_handle, message_type_name, CAST(message_body AS XML) FROM Answers INTO @a
END
;WITH XMLNAMESPACES (DEFAULT 'http://schemas.microsoft.com/SQL/ServiceBroker/Error')
UPDATE o SET Problem = CASE a.mt WHEN 'Reserved' THEN NULL ELSE a.b.value('(/Error/Description)[1]', 'nvarchar(200)') END
FROM Orders o INNER JOIN @a a ON o.Problem = CAST(a.h AS NVARCHAR(200)) WHERE a.mt NOT LIKE '%EndDialog'
SELECT o.Id, o.Sku, o.Qty, o.Reserved, o.Problem, i.OnHand FROM Orders AS o LEFT JOIN Stock.wh.Items AS i ON i.Sku = o.Sku ORDER BY o.Id
DECLARE @h UNIQUEIDENTIFIER
WHILE 1 = 1
BEGIN
 SELECT TOP (1) @h = h FROM @a
 IF @@ROWCOUNT = 0 BREAK
 BEGIN TRY END CONVERSATION @h END TRY BEGIN CATCH IF ERROR_NUMBER() <> 8426 THROW END CATCH
 DELETE @a WHERE h = @h
END
SELECT COUNT(*) AS shop FROM sys.conversation_endpoints
USE Stock
SELECT state_desc, COUNT(*) AS n FROM sys.conversation_endpoints GROUP BY state_desc ORDER BY state_desc
GO
USE master
DROP DATABASE Shop, Stock
GO
SELECT name FROM sys.databases WHERE name IN ('Shop', 'Stock')
GO

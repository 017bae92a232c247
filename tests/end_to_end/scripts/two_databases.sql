USE master
IF DB_ID('Shop_A') IS NOT NULL DROP DATABASE Shop_A
IF DB_ID('Warehouse_B') IS NOT NULL DROP DATABASE Warehouse_B
GO
CREATE DATABASE Shop_A
CREATE DATABASE Warehouse_B
GO
ALTER DATABASE Shop_A SET ENABLE_BROKER
ALTER DATABASE Shop_A SET TRUSTWORTHY ON
ALTER DATABASE Warehouse_B SET ENABLE_BROKER
GO
USE Warehouse_B
GO
CREATE XML SCHEMA COLLECTION StockSchema AS '<?xml version="1.0"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:stock" xmlns="urn:stock" elementFormDefault="qualified">
 <xs:element name="reserve"><xs:complexType><xs:sequence><xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:attribute name="sku" use="required" type="xs:string"/><xs:attribute name="qty" use="required"><xs:simpleType><xs:restriction base="xs:int"><xs:minInclusive value="1"/></xs:restriction></xs:simpleType></xs:attribute></xs:complexType></xs:element></xs:sequence><xs:attribute name="order" type="xs:int"/></xs:complexType></xs:element>
</xs:schema>'
GO
CREATE MESSAGE TYPE [urn:stock/reserve] VALIDATION = VALID_XML WITH SCHEMA COLLECTION StockSchema
CREATE MESSAGE TYPE [urn:stock/result] VALIDATION = WELL_FORMED_XML
CREATE CONTRACT [urn:stock] ([urn:stock/reserve] SENT BY INITIATOR, [urn:stock/result] SENT BY TARGET)
CREATE QUEUE dbo.StockQ
CREATE SERVICE [urn:stock/service] ON QUEUE StockQ ([urn:stock])
CREATE TABLE dbo.Stock (sku varchar(20) PRIMARY KEY, qty int NOT NULL CHECK (qty >= 0))
INSERT dbo.Stock SELECT 'A', 10 UNION ALL SELECT 'B', 1
GO
CREATE PROC dbo.HandleStock AS
SET NOCOUNT ON
DECLARE @h uniqueidentifier, @m xml, @t nvarchar(256), @ok bit
BEGIN TRAN
RECEIVE TOP(1) @h = conversation_handle, @m = message_body, @t = message_type_name FROM StockQ
IF @@ROWCOUNT = 0 BEGIN COMMIT RETURN 1 END
IF @t = N'urn:stock/reserve'
BEGIN
	BEGIN TRY
		SAVE TRAN s1;
		WITH XMLNAMESPACES ('urn:stock' AS s), lines AS (
			SELECT l.value('@sku', 'varchar(20)') AS sku, l.value('@qty', 'int') AS qty FROM @m.nodes('/s:reserve/s:line') AS x(l))
		UPDATE st SET qty = st.qty - l.qty FROM dbo.Stock st INNER JOIN (SELECT sku, SUM(qty) qty FROM lines GROUP BY sku) l ON l.sku = st.sku
		SET @ok = 1
	END TRY
	BEGIN CATCH
		IF XACT_STATE() = 1 ROLLBACK TRAN s1
		SELECT @ok = 0
		PRINT CONCAT('refused: ', ERROR_NUMBER())
	END CATCH
	DECLARE @r xml = (SELECT @ok AS [@ok], (SELECT sku AS [@sku], qty AS [text()] FROM dbo.Stock ORDER BY sku FOR XML PATH('stock'), TYPE) FOR XML PATH('result'));
	SEND ON CONVERSATION @h MESSAGE TYPE [urn:stock/result] (@r)
	END CONVERSATION @h
END
ELSE END CONVERSATION @h
COMMIT
RETURN 0
GO
USE Shop_A
GO
CREATE MESSAGE TYPE [urn:stock/reserve] VALIDATION = WELL_FORMED_XML
CREATE MESSAGE TYPE [urn:stock/result] VALIDATION = WELL_FORMED_XML
CREATE CONTRACT [urn:stock] ([urn:stock/reserve] SENT BY INITIATOR, [urn:stock/result] SENT BY TARGET)
CREATE QUEUE ShopQ
CREATE SERVICE [urn:shop] ON QUEUE ShopQ
GO
DECLARE @h uniqueidentifier, @i int = 1
WHILE @i < 5
BEGIN
	DECLARE @b xml
	SET @b = CASE @i WHEN 1 THEN '<reserve xmlns="urn:stock" order="1"><line sku="A" qty="3"/><line sku="B" qty="1"/></reserve>'
	WHEN 2 THEN '<reserve xmlns="urn:stock" order="2"><line sku="B" qty="1"/></reserve>'
	WHEN 3 THEN '<reserve xmlns="urn:stock" order="x"><line sku="B" qty="0"/></reserve>'
	ELSE '<reserve xmlns="urn:stock"/>' END
	BEGIN DIALOG @h FROM SERVICE [urn:shop] TO SERVICE 'urn:stock/service' ON CONTRACT [urn:stock] WITH ENCRYPTION = OFF;
	SEND ON CONVERSATION @h MESSAGE TYPE [urn:stock/reserve] (@b)
	SET @i += 1
END
GO
DECLARE @rc int = 0
WHILE @rc = 0 EXEC @rc = Warehouse_B.dbo.HandleStock
GO
SELECT message_type_name, CAST(message_body AS xml) AS body FROM ShopQ ORDER BY queuing_order
SELECT sku, qty FROM Warehouse_B.dbo.Stock
SELECT sku, qty FROM Warehouse_B..Stock WHERE sku IN ('A')
GO
SELECT name FROM Warehouse_B.sys.service_queues WHERE is_ms_shipped = 0
SELECT COUNT(*) FROM Warehouse_B.sys.tables WHERE name = 'Stock'
SELECT COUNT(*) FROM Shop_A.sys.tables
SELECT OBJECT_NAME(OBJECT_ID('Warehouse_B.dbo.Stock'), DB_ID('Warehouse_B'))
GO
USE master
GO
DROP DATABASE Shop_A, Warehouse_B
SELECT COUNT(*) FROM sys.databases WHERE name IN ('Shop_A', 'Warehouse_B')
GO
SELECT TOP 1 name FROM NoSuchDb.sys.tables
SELECT COUNT(*) n FROM msdb.sys.routes r JOIN tempdb.sys.routes t ON t.name = r.name
IF EXISTS (SELECT * FROM tempdb.sys.objects WHERE name = 'x') PRINT 'x'
SELECT COUNT(*) FROM tempdb.INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'x'
SELECT COUNT(*) FROM tempdb..sysobjects WHERE name LIKE '#x%'
GO
-- Tables of one name: errors tell that of the database in use; of several schemas the name alone.
CREATE DATABASE Zoo
CREATE DATABASE Ark
GO
USE Zoo
CREATE TABLE dbo.Beast (id INT PRIMARY KEY, legs INT NOT NULL CHECK (legs > 0))
USE Ark
CREATE TABLE dbo.Beast (id INT PRIMARY KEY, legs INT NOT NULL CHECK (legs > 0))
CREATE UNIQUE INDEX ux ON dbo.Beast (legs)
USE Zoo
CREATE UNIQUE INDEX ux ON dbo.Beast (legs)
GO
INSERT dbo.Beast VALUES (1, 4)
INSERT dbo.Beast VALUES (1, 3)
INSERT dbo.Beast VALUES (2, 4)
INSERT dbo.Beast VALUES (2, 0)
INSERT dbo.Beast VALUES (2, NULL)
GO
USE Ark
GO
INSERT dbo.Beast VALUES (3, 0)
GO
CREATE SCHEMA deck
GO
CREATE TABLE deck.Beast (id INT PRIMARY KEY, legs INT NOT NULL CHECK (legs > 0))
GO
INSERT deck.Beast VALUES (3, 0)
INSERT deck.Beast VALUES (3, NULL)
GO

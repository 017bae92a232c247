-- what monitoring and documentation ask of the catalog
SET NOCOUNT ON
GO
CREATE SCHEMA Sales
GO
CREATE TABLE Sales.OrderHeader (OrderId int PRIMARY KEY, Note nvarchar(10)); CREATE TABLE Sales.Other (a int)
GO
CREATE PROCEDURE Sales.DoIt AS RETURN 1
GO
CREATE QUEUE q WITH ACTIVATION (PROCEDURE_NAME = Sales.DoIt, MAX_QUEUE_READERS = 2, EXECUTE AS OWNER)
CREATE SERVICE S1 ON QUEUE q
EXEC sp_addextendedproperty 'd', 'of table', 'SCHEMA', 'Sales', 'TABLE', 'OrderHeader'
EXEC sp_addextendedproperty 'd', 'of column', 'SCHEMA', 'Sales', 'TABLE', 'OrderHeader', 'COLUMN', 'Note'
EXEC sp_addextendedproperty 'd', 'of queue', 'SCHEMA', 'dbo', 'QUEUE', 'q'
EXEC sp_addextendedproperty 'd', 'of service', 'SERVICE', 'S1'
EXEC sp_addextendedproperty 'd', 'of schema', 'SCHEMA', 'Sales'
SELECT * FROM fn_listextendedproperty(NULL, 'schema', 'Sales', 'table', default, NULL, NULL)
SELECT * FROM fn_listextendedproperty('d', 'schema', 'Sales', 'table', 'OrderHeader', 'column', NULL)
SELECT * FROM fn_listextendedproperty(NULL, 'schema', 'dbo', 'queue', NULL, NULL, NULL)
SELECT * FROM fn_listextendedproperty(NULL, 'service', NULL, NULL, NULL, NULL, NULL)
SELECT * FROM sys.fn_listextendedproperty(default, 'schema', default, default, default, default, default)
SELECT * FROM fn_listextendedproperty('x', 'schema', 'Sales', 'table', 'OrderHeader', 'column', NULL)
SELECT activation_procedure FROM sys.service_queues WHERE name = 'q'
SELECT SUSER_SNAME(0x01) sa
GO
UPDATE Sales.Other SET a = 1, a = 2
GO
CREATE PROCEDURE Sales.LongLine AS
SELECT '01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789' AS shown
GO
EXEC sp_helptext 'Sales.LongLine'
GO
CREATE DATABASE Elsewhere
GO
USE Elsewhere
GO
SELECT dbo.NoSuch(1)
CREATE SEQUENCE dbo.Numbers START WITH 5
SELECT start_value, current_value FROM sys.sequences
-- What is dropped has no properties any more, and a new one of its name has none yet.
CREATE QUEUE Papers
CREATE SERVICE [//Papers] ON QUEUE Papers
CREATE ROUTE ToPapers WITH ADDRESS = 'LOCAL'
CREATE REMOTE SERVICE BINDING WithPapers TO SERVICE '//Elsewhere' WITH USER = dbo
CREATE TABLE Sheets (a INT, b INT)
GO
EXEC sp_addextendedproperty 'says', 'queue', 'SCHEMA', 'dbo', 'QUEUE', 'Papers'
EXEC sp_addextendedproperty 'says', 'service', 'SERVICE', '//Papers'
EXEC sp_addextendedproperty 'says', 'route', 'ROUTE', 'ToPapers'
EXEC sp_addextendedproperty 'says', 'binding', 'REMOTE SERVICE BINDING', 'WithPapers'
EXEC sp_addextendedproperty 'says', 'table', 'SCHEMA', 'dbo', 'TABLE', 'Sheets'
EXEC sp_addextendedproperty 'says', 'column', 'SCHEMA', 'dbo', 'TABLE', 'Sheets', 'COLUMN', 'b'
SELECT class, class_desc, value FROM sys.extended_properties WHERE name = 'says' ORDER BY class, value
SELECT objtype, objname, value FROM fn_listextendedproperty('says', 'REMOTE SERVICE BINDING', DEFAULT, NULL, NULL, NULL, NULL)
ALTER TABLE Sheets DROP COLUMN b
SELECT value FROM sys.extended_properties WHERE name = 'says' AND class = 1 ORDER BY value
DROP SERVICE [//Papers]
DROP QUEUE Papers
DROP ROUTE ToPapers
DROP REMOTE SERVICE BINDING WithPapers
DROP TABLE Sheets
SELECT COUNT(*) AS still FROM sys.extended_properties WHERE name = 'says'
GO
CREATE REMOTE SERVICE BINDING WithPapers TO SERVICE '//Elsewhere' WITH USER = dbo
EXEC sp_addextendedproperty 'says', 'binding', 'REMOTE SERVICE BINDING', 'WithPapers'
GO

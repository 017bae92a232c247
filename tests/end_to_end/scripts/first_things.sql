-- A table is the first thing in master and msdb; views are read as XML, and beside EXEC of a text; what means nothing is refused.
CREATE DATABASE FirstLab
GO
USE FirstLab
GO
CREATE QUEUE dbo.ToDo
CREATE SERVICE [//First] ON QUEUE dbo.ToDo ([DEFAULT])
GO
USE master
GO
CREATE TABLE dbo.FirstInMaster (a int)
GO
USE msdb
GO
CREATE TABLE dbo.FirstInMsdb (a int)
GO
USE master
GO
DROP TABLE dbo.FirstInMaster
DROP TABLE msdb.dbo.FirstInMsdb
GO
USE FirstLab
GO
SELECT name FROM sys.services WHERE name LIKE '//%' FOR XML PATH
SELECT name FROM sys.services WHERE name LIKE '//%' FOR XML RAW
SELECT name FROM sys.services WHERE name LIKE '//%' FOR XML AUTO
GO
EXEC ('SELECT 1 AS one')
SELECT name, owner_sid, service_broker_guid FROM sys.databases WHERE name = 'msdb'
GO
CREATE ROUTE r WITH ADDRESS = 'LOCAL', MIRROR_ADDRESS = 'TCP://a:1'
GO
SELECT CASE WHEN COUNT(*) > 10 THEN 'there' END AS counters FROM sys.dm_os_performance_counters WHERE object_name LIKE '%Broker Statistics%'
GO

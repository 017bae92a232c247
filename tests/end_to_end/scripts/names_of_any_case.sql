-- Routes, bindings, priorities, notifications, certificates and extended properties are found by their names in any case, and two that
-- differ in nothing else are one. Services, contracts and message types are compared byte by byte.
CREATE QUEUE dbo.Desk;
CREATE SERVICE Desk ON QUEUE dbo.Desk ([DEFAULT]);
CREATE USER Partner WITHOUT LOGIN;
GO
CREATE ROUTE ToBranch WITH SERVICE_NAME = 'Branch', ADDRESS = 'LOCAL';
CREATE REMOTE SERVICE BINDING BranchUser TO SERVICE 'Branch' WITH USER = Partner;
CREATE BROKER PRIORITY Urgent FOR CONVERSATION SET (PRIORITY_LEVEL = 9);
CREATE EVENT NOTIFICATION DeskAwake ON QUEUE dbo.Desk FOR QUEUE_ACTIVATION TO SERVICE 'Desk', 'current database';
CREATE CERTIFICATE BranchKey ENCRYPTION BY PASSWORD = 'pass-PASS-1' WITH SUBJECT = 'branch';
EXEC sp_addextendedproperty 'Purpose', 'orders', 'SCHEMA', 'dbo', 'QUEUE', 'Desk';
EXEC sp_addextendedproperty 'Purpose', 'the branch', 'ROUTE', 'toBranch';
GO
CREATE ROUTE TOBRANCH WITH SERVICE_NAME = 'Other', ADDRESS = 'LOCAL';
GO
CREATE REMOTE SERVICE BINDING branchuser TO SERVICE 'Other' WITH USER = Partner;
GO
CREATE BROKER PRIORITY URGENT FOR CONVERSATION SET (CONTRACT_NAME = [DEFAULT], PRIORITY_LEVEL = 8);
GO
CREATE EVENT NOTIFICATION deskawake ON QUEUE dbo.Desk FOR BROKER_QUEUE_DISABLED TO SERVICE 'Desk', 'current database';
GO
CREATE CERTIFICATE branchkey ENCRYPTION BY PASSWORD = 'pass-PASS-2' WITH SUBJECT = 'another';
GO
EXEC sp_addextendedproperty 'PURPOSE', 'again', 'SCHEMA', 'dbo', 'QUEUE', 'Desk';
GO
CREATE SERVICE DESK ON QUEUE dbo.Desk;
GO
SELECT name FROM sys.routes WHERE name = 'tobranch'
UNION ALL SELECT name FROM sys.remote_service_bindings WHERE name = 'BRANCHUSER'
UNION ALL SELECT name FROM sys.conversation_priorities WHERE name IN ('urgent')
UNION ALL SELECT name FROM sys.event_notifications WHERE name = 'DESKAWAKE'
UNION ALL SELECT name FROM sys.certificates WHERE name = 'branchKEY'
UNION ALL SELECT name FROM sys.services WHERE name = 'desk';
SELECT HAS_PERMS_BY_NAME('TOBRANCH', 'ROUTE', 'ALTER') AS route, HAS_PERMS_BY_NAME('desk', 'SERVICE', 'SEND') AS service;
EXEC sp_updateextendedproperty 'purpose', 'orders of customers', 'SCHEMA', 'dbo', 'QUEUE', 'Desk';
SELECT name, value FROM fn_listextendedproperty('PURPOSE', 'SCHEMA', 'dbo', 'QUEUE', 'Desk', NULL, NULL);
EXEC sp_dropextendedproperty 'purpose', 'SCHEMA', 'dbo', 'QUEUE', 'Desk';
GRANT ALTER ON ROUTE::tobranch TO Partner;
ALTER AUTHORIZATION ON ROUTE::TOBRANCH TO dbo;
ALTER ROUTE tobranch WITH LIFETIME = 60;
ALTER REMOTE SERVICE BINDING BRANCHUSER WITH ANONYMOUS = ON;
ALTER BROKER PRIORITY urgent FOR CONVERSATION SET (PRIORITY_LEVEL = 2);
ALTER CERTIFICATE BRANCHKEY REMOVE PRIVATE KEY;
GO
DROP ROUTE tobranch;
DROP REMOTE SERVICE BINDING BranchUSER;
DROP BROKER PRIORITY URGENT;
DROP EVENT NOTIFICATION deskAWAKE ON QUEUE dbo.Desk;
DROP CERTIFICATE branchkey;
DROP SERVICE DESK;
SELECT (SELECT COUNT(*) FROM sys.routes WHERE name <> 'AutoCreatedLocal') AS routes, (SELECT COUNT(*) FROM sys.remote_service_bindings) AS bindings,
       (SELECT COUNT(*) FROM sys.conversation_priorities) AS priorities, (SELECT COUNT(*) FROM sys.event_notifications) AS notifications,
       (SELECT COUNT(*) FROM sys.certificates) AS certificates, (SELECT COUNT(*) FROM sys.services WHERE name = 'Desk') AS services;
GO

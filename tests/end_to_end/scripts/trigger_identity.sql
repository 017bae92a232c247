-- @@PROCID in a trigger is the trigger; triggers go with their table.
SET NOCOUNT ON
CREATE TABLE Watched (a INT)
GO
CREATE TRIGGER WatchedChange ON Watched AFTER INSERT, UPDATE, DELETE AS
  DECLARE @table SYSNAME
  SELECT @table = OBJECT_NAME(parent_id) FROM sys.triggers WHERE object_id = @@PROCID
  PRINT OBJECT_NAME(@@PROCID) + ' on ' + @table
  SELECT @table = OBJECT_NAME(parent_obj) FROM sysobjects WHERE id = @@PROCID AND xtype = 'TR'
  PRINT OBJECT_SCHEMA_NAME(@@PROCID) + '.' + @table
  IF @@PROCID = OBJECT_ID('WatchedChange') PRINT 'itself'
GO
INSERT Watched VALUES (1)
UPDATE Watched SET a = 2
DELETE Watched
DISABLE TRIGGER WatchedChange ON Watched
GO
CREATE TRIGGER WatchedInstead ON Watched INSTEAD OF INSERT AS
  IF @@PROCID = OBJECT_ID('WatchedInstead', 'TR') PRINT 'itself'
GO
INSERT Watched VALUES (1)
GO
CREATE TRIGGER WatchedDefinitions ON DATABASE FOR CREATE_TABLE, DROP_TABLE, DROP_TRIGGER, DROP_FUNCTION AS
  SELECT name, EVENTDATA().value('(/EVENT_INSTANCE/EventType)[1]', 'sysname') AS event FROM sys.triggers WHERE object_id = @@PROCID
GO
DROP TABLE Watched
GO
CREATE TABLE Watched (a INT)
GO
CREATE TRIGGER WatchedChange ON Watched AFTER INSERT AS PRINT 'made anew'
GO
INSERT Watched VALUES (1)
DROP TABLE Watched
SELECT COUNT(*) AS left_over FROM sys.objects WHERE name LIKE 'watched%'
DROP TRIGGER WatchedChange
GO
CREATE TABLE Watched (a INT)
DROP TRIGGER WatchedDefinitions ON DATABASE
GO
CREATE VIEW WatchedView AS SELECT a FROM Watched
GO
CREATE TRIGGER WatchedRows ON WatchedView INSTEAD OF INSERT, DELETE AS PRINT 'through the view'
GO
INSERT WatchedView VALUES (1)
DROP VIEW WatchedView
GO
CREATE TRIGGER WatchedRows ON Watched AFTER INSERT AS PRINT 'on the table'
GO
INSERT Watched VALUES (1)
GO

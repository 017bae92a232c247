-- A name may have an @ in it, by which PostgreSQL knows the parts of a trigger and the rows of a table variable.
SET NOCOUNT ON;
CREATE TABLE dbo.two (id int, v int);
GO
CREATE TRIGGER dbo.t ON dbo.two AFTER INSERT, UPDATE AS PRINT 't';
GO
CREATE TRIGGER dbo.t@r ON dbo.two AFTER INSERT, UPDATE AS IF UPDATE(v) PRINT OBJECT_NAME(@@PROCID);
GO
CREATE TRIGGER dbo.kept# ON dbo.two INSTEAD OF DELETE AS PRINT 'kept';
GO
CREATE TRIGGER dbo.[t@update] ON dbo.two AFTER INSERT AS PRINT 'no';
GO
INSERT dbo.two VALUES (1, 1); UPDATE dbo.two SET v = 2;
GO
DISABLE TRIGGER dbo.t ON dbo.two;
UPDATE dbo.two SET v = 2;
ENABLE TRIGGER dbo.t ON dbo.two;
GO
ALTER TRIGGER dbo.t ON dbo.two AFTER UPDATE AS PRINT 't again';
GO
UPDATE dbo.two SET v = 2;
DELETE dbo.two;
SELECT name, is_disabled, is_instead_of_trigger FROM sys.triggers ORDER BY name;
SELECT OBJECT_NAME(object_id) AS name, type_desc FROM sys.trigger_events ORDER BY 1, 2;
SELECT name FROM sys.objects WHERE type = 'TR' ORDER BY name;
GO
DROP TRIGGER dbo.t;
GO
UPDATE dbo.two SET v = 2;
GO
CREATE PROCEDURE dbo.p AS DECLARE @t TABLE (a int); INSERT @t VALUES (1); SELECT * FROM @t;
GO
CREATE PROCEDURE dbo.p@q AS DECLARE @t TABLE (a int); INSERT @t VALUES (2); SELECT * FROM @t;
GO
DROP PROCEDURE dbo.p;
GO
EXEC dbo.p@q;
GO
CREATE TRIGGER watch@all ON DATABASE FOR CREATE_TABLE AS PRINT 'made';
GO
CREATE TABLE dbo.x@y (a int);
GO

-- What stands on a table's columns when they are dropped, added, altered and renamed.
CREATE TABLE dbo.Part (Old int NULL, Id int IDENTITY NOT NULL, Code nvarchar(10) NULL, Price int NULL, Twice AS (Price * 2));
GO
CREATE TRIGGER dbo.PartChanged ON dbo.Part AFTER INSERT, UPDATE AS
    IF UPDATE(Code) PRINT 'Code';
    PRINT COLUMNS_UPDATED();
GO
ALTER TABLE dbo.Part DROP COLUMN Old;
GO
-- Columns keep their numbers: 2 to 5.
SET IDENTITY_INSERT dbo.Part ON;
INSERT INTO dbo.Part (Id, Code) VALUES (7, N'a');
SET IDENTITY_INSERT dbo.Part OFF;
UPDATE dbo.Part SET Price = 1;
GO
-- A trigger that asks for a column does not hinder that it grows.
ALTER TABLE dbo.Part ALTER COLUMN Code nvarchar(50) NULL;
ALTER TABLE dbo.Part ADD Weight int NULL, Height int NULL, Width int NULL, Depth int NULL;
GO
UPDATE dbo.Part SET Code = N'a long code of a part';
UPDATE dbo.Part SET Depth = 1;
EXEC sp_rename 'dbo.Part.Depth', 'Deep', 'COLUMN';
GO
UPDATE dbo.Part SET Deep = 2;
ALTER TABLE dbo.Part DROP COLUMN Code;
GO
UPDATE dbo.Part SET Price = 3;
ALTER TABLE dbo.Part ADD Code nvarchar(10);
GO
UPDATE dbo.Part SET Code = N'b';
DROP TRIGGER dbo.PartChanged;
GO
UPDATE dbo.Part SET Code = N'c';
SELECT Id, Code, Deep FROM dbo.Part;
-- Another identity column in the place of the one that is gone.
ALTER TABLE dbo.Part DROP COLUMN Id;
ALTER TABLE dbo.Part ADD Number int IDENTITY(100, 5);
GO
DBCC CHECKIDENT ('dbo.Part', RESEED, 500);
INSERT INTO dbo.Part (Code) VALUES (N'd');
SET IDENTITY_INSERT dbo.Part ON;
INSERT INTO dbo.Part (Number, Code) VALUES (1000, N'e');
SET IDENTITY_INSERT dbo.Part OFF;
INSERT INTO dbo.Part (Code) VALUES (N'f');
SELECT Number, Code FROM dbo.Part ORDER BY Number;
SELECT name FROM sys.identity_columns WHERE object_id = OBJECT_ID('dbo.Part');
GO
-- OUTPUT inserted.* and deleted.* of a procedure are what the table has now, also where it is older than the table.
CREATE PROCEDURE dbo.TakeJob AS
    WITH job AS (SELECT TOP (1) * FROM dbo.Job ORDER BY Id) DELETE job OUTPUT deleted.*;
GO
CREATE TABLE dbo.Job (Id int, What nvarchar(20));
GO
CREATE PROCEDURE dbo.MoveJob AS
    UPDATE TOP (1) dbo.Job SET Id = 9 OUTPUT deleted.*, inserted.Id AS Now, inserted.*;
    DELETE dbo.Job OUTPUT deleted.*;
GO
INSERT INTO dbo.Job VALUES (1, N'a'), (2, N'b');
EXEC dbo.TakeJob;
ALTER TABLE dbo.Job ADD Due datetime NOT NULL DEFAULT '2020-02-02';
ALTER TABLE dbo.Job DROP COLUMN What;
GO
EXEC dbo.MoveJob;
INSERT INTO dbo.Job (Id) VALUES (3);
EXEC dbo.TakeJob;
DECLARE @jobs TABLE (Id int, Due datetime);
INSERT INTO dbo.Job (Id) VALUES (4);
INSERT INTO @jobs EXEC dbo.TakeJob;
SELECT * FROM @jobs;
GO
-- Triggers of a table or view that is renamed.
CREATE TABLE dbo.Bolt (Id int, Size int);
GO
CREATE TRIGGER dbo.BoltChanged ON dbo.Bolt AFTER INSERT, UPDATE AS
    IF EXISTS (SELECT * FROM deleted) PRINT 'changed' ELSE PRINT 'new';
GO
CREATE VIEW dbo.Bolts AS SELECT Id, Size FROM dbo.Bolt;
GO
CREATE TRIGGER dbo.BoltsInsert ON dbo.Bolts INSTEAD OF INSERT AS
    IF NOT EXISTS (SELECT * FROM deleted) INSERT INTO dbo.Screw SELECT Id, Size FROM inserted;
GO
EXEC sp_rename 'dbo.Bolt', 'Screw';
EXEC sp_rename 'dbo.Bolts', 'Screws';
GO
INSERT INTO dbo.Screw VALUES (1, 2);
INSERT INTO dbo.Screws VALUES (2, 3);
UPDATE dbo.Screw SET Size = 4 WHERE Id = 1;
SELECT Id, Size FROM dbo.Screws;
GO

-- objects that are not there, each in the words of the statement that names it
TRUNCATE TABLE NoThere
GO
TRUNCATE TABLE dbo.NoThere
GO
CREATE INDEX ix ON NoThere (a)
GO
CREATE UNIQUE CLUSTERED INDEX ix ON dbo.[NoThere] (a)
GO
CREATE VIEW dbo.vv AS SELECT 1 AS a
GO
TRUNCATE TABLE dbo.vv
CREATE TABLE dbo.par (a int PRIMARY KEY); CREATE TABLE dbo.chi (a int REFERENCES dbo.par)
TRUNCATE TABLE dbo.par
CREATE INDEX ix ON dbo.par (nocol)
CREATE INDEX ix2 ON dbo.par (a)
CREATE INDEX ix2 ON dbo.par (a)
CREATE INDEX ix2 ON dbo.vv (a)
CREATE UNIQUE INDEX ix3 ON dbo.chi (a)
INSERT dbo.par VALUES (1)
GO
INSERT dbo.par VALUES (1)
GO
UPDATE dbo.par SET a = NULL
GO
DELETE dbo.par WHERE a = 1/0
GO
INSERT dbo.par VALUES ('x')
GO
SET XACT_ABORT ON
GO
INSERT dbo.par VALUES (1)
GO
GO
-- what needs the columns of a table fails when it is run
PRINT 'before'
IF OBJECT_ID('dbo.NoSuchTable') IS NOT NULL SELECT * FROM dbo.NoSuchTable FOR XML PATH('r')
IF OBJECT_ID('dbo.NoSuchTable') IS NOT NULL SELECT p.* FROM dbo.NoSuchTable PIVOT (SUM(a) FOR b IN ([1], [2])) AS p
PRINT 'after'
SELECT * FROM dbo.NoSuchTable FOR JSON PATH
PRINT 'not reached'
GO
SELECT p.[1] FROM dbo.NoSuchTable PIVOT (SUM(a) FOR b IN ([1], [2])) AS p
GO
CREATE PROCEDURE dbo.ShowLater AS SELECT * FROM dbo.MadeLater FOR XML RAW
GO
CREATE TABLE dbo.MadeLater (a INT)
GO
EXEC dbo.ShowLater
GO

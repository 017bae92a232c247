-- 3621 stands behind the error of a statement that changes rows, where the batch goes on
CREATE TABLE dbo.T3 (a int NOT NULL PRIMARY KEY, b tinyint NULL, c int NULL CHECK (c > 0), s varchar(3) NULL)
GO
INSERT dbo.T3 (a) VALUES (1)
INSERT dbo.T3 (a) VALUES (1)
PRINT @@ERROR
INSERT dbo.T3 (a, b) VALUES (2, 300)
INSERT dbo.T3 (a, b) SELECT 3, 1/0
UPDATE dbo.T3 SET c = 0
PRINT @@ROWCOUNT
UPDATE dbo.T3 SET s = 'toolong'
INSERT dbo.T3 (a) VALUES (NULL)
UPDATE dbo.T3 SET c = (SELECT 1 UNION ALL SELECT 2)
DELETE dbo.T3 WHERE a = 1/0
MERGE dbo.T3 t USING (SELECT 1 a) s ON s.a = t.a WHEN MATCHED THEN UPDATE SET c = -1;
SELECT 1/0
DECLARE @x tinyint
SET @x = 300
SELECT @x = 1/0
BEGIN TRY INSERT dbo.T3 (a) VALUES (1) END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH
GO
CREATE PROC dbo.ins3 AS INSERT dbo.T3 (a) VALUES (1); PRINT 'still';
GO
EXEC dbo.ins3
EXEC ('INSERT dbo.T3 (a) VALUES (1)')
SET XACT_ABORT ON
INSERT dbo.T3 (a) VALUES (1)
PRINT 'not'
GO
SET XACT_ABORT OFF
INSERT dbo.T3 (a, b) VALUES ('x', 1)
PRINT 'not'
GO
CREATE TRIGGER dbo.trg3 ON dbo.T3 AFTER INSERT AS DECLARE @i int = 1/0
GO
INSERT dbo.T3 (a) VALUES (99)
PRINT 'not'
GO
-- plain statements alone
INSERT dbo.T3 (a) VALUES (98)
UPDATE dbo.T3 SET s = 'not'
GO
DECLARE @t TABLE (a int PRIMARY KEY, c int CHECK (c > 0))
INSERT @t VALUES (1, 1); INSERT @t VALUES (1, 1)
UPDATE @t SET c = 0
SELECT COUNT(*) n FROM @t
CREATE TABLE #w (a int NOT NULL)
INSERT #w SELECT NULL
SELECT 1/0 AS a INTO #w2
TRUNCATE TABLE nothere
GO
-- in a name there may be what stands around it in the detail of an error
CREATE TRIGGER dbo.[trg, Line 3] ON dbo.T3 AFTER DELETE AS UPDATE dbo.T3 SET c = 0
GO
DECLARE @a int = 1
DELETE dbo.T3 WHERE a <> @a
DELETE dbo.T3 WHERE a = @a
PRINT 'not'
GO

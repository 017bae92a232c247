-- Temporary tables over procedures and dynamic SQL: each level has its own of a name, and leaves its caller's as it is.
SET NOCOUNT ON
GO
CREATE PROCEDURE dbo.Widen AS
ALTER TABLE #lot ADD Weight INT NULL
CREATE UNIQUE INDEX UX_lot ON #lot (Id)
GO
CREATE PROCEDURE dbo.OwnLot AS
CREATE TABLE #lot (Label VARCHAR(9) CONSTRAINT U_label UNIQUE, No_ INT IDENTITY PRIMARY KEY)
CREATE INDEX IX_lot ON #lot (No_)
INSERT #lot (Label) VALUES ('own')
SELECT Label, No_ FROM #lot
GO
CREATE PROCEDURE dbo.LotIfNone AS
IF OBJECT_ID('tempdb..#lot') IS NULL CREATE TABLE #lot (Id INT)
INSERT #lot (Id) VALUES (7)
GO
CREATE PROCEDURE dbo.Fails AS
SELECT 1 AS one INTO #lot
EXEC dbo.OwnLot
SELECT one FROM #lot
;THROW 50001, 'on the way out', 1
GO
CREATE PROCEDURE dbo.RollsBack AS
BEGIN TRANSACTION
CREATE TABLE #lot (x INT)
EXEC dbo.OwnLot
ROLLBACK
SELECT COUNT(*) AS callers FROM #lot
GO
CREATE PROCEDURE dbo.CountDown @n INT AS
CREATE TABLE #step (n INT PRIMARY KEY)
INSERT #step VALUES (@n)
SET @n -= 1
IF @n > 0 EXEC dbo.CountDown @n
SELECT n FROM #step
GO
CREATE TABLE #lot (Id INT PRIMARY KEY, Label VARCHAR(9) CONSTRAINT U_label UNIQUE)
CREATE INDEX IX_lot ON #lot (Label)
INSERT #lot VALUES (1, 'first')
EXEC ('ALTER TABLE #lot ADD Height INT NULL')
EXEC dbo.Widen
SELECT Id, Label, Height, Weight FROM #lot
EXEC dbo.OwnLot
EXEC dbo.LotIfNone
BEGIN TRY EXEC dbo.Fails END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH
EXEC dbo.RollsBack
EXEC ('SELECT 2 AS two INTO #lot; EXEC dbo.OwnLot; SELECT two FROM #lot')
DECLARE @name SYSNAME = N'dbo.OwnLot'
EXEC @name
SELECT Id, Label FROM #lot ORDER BY Id
INSERT #lot (Id, Label) VALUES (2, 'first')
EXEC dbo.CountDown 3
CREATE TABLE #lot (Id INT)
GO
DROP TABLE #lot
EXEC dbo.OwnLot
EXEC dbo.OwnLot
EXEC dbo.LotIfNone
IF OBJECT_ID('tempdb..#lot') IS NULL PRINT 'none is left'
CREATE TABLE #lot (id INT, label VARCHAR(9))
SELECT name, column_id FROM tempdb.sys.columns WHERE object_id = OBJECT_ID('tempdb..#lot') ORDER BY column_id
GO
-- The catalog of tempdb knows them, that of the database does not.
IF EXISTS (SELECT * FROM tempdb..sysobjects WHERE id = OBJECT_ID('tempdb..#lot')) DROP TABLE #lot
CREATE TABLE #lot (id INT CONSTRAINT PK_lot PRIMARY KEY)
SELECT t.name, s.name AS [schema], i.name AS [index]
FROM tempdb.sys.tables AS t JOIN tempdb.sys.schemas AS s ON s.schema_id = t.schema_id
LEFT JOIN tempdb.sys.indexes AS i ON i.object_id = t.object_id WHERE t.object_id = OBJECT_ID('tempdb..#lot')
SELECT COUNT(*) AS here FROM sys.objects WHERE name LIKE '#%'
DROP TABLE tempdb..#lot
GO

-- A column that no table of a statement has: found before anything of its batch runs, of the tables that are there.
CREATE TABLE dbo.t (A int, B int);
CREATE QUEUE dbo.q;
GO
PRINT 'not printed'; SELECT NoCol FROM dbo.t;
GO
PRINT 'not printed'; SELECT x.A, dbo.t.NoCol FROM dbo.t AS x;
GO
PRINT 'not printed'; SELECT o.A FROM dbo.t;
GO
PRINT 'not printed'; INSERT INTO dbo.t (A, NoCol) VALUES (1, 2);
GO
PRINT 'not printed'; UPDATE dbo.t SET NoCol = 1;
GO
PRINT 'not printed'; RECEIVE TOP (1) Body FROM dbo.q;
GO
PRINT 'not printed'; SELECT NoCol FROM sys.conversation_endpoints;
GO
PRINT 'not printed'; DECLARE @v TABLE (K int); SELECT v.NoCol FROM @v AS v JOIN dbo.t ON dbo.t.A = v.K;
GO
-- Nothing catches it, for nothing runs.
BEGIN TRY
    SELECT NoCol FROM dbo.t;
END TRY
BEGIN CATCH
    PRINT 'not printed';
END CATCH;
GO
-- A procedure, function and trigger with one are not made.
CREATE PROCEDURE dbo.p AS
    SELECT A FROM dbo.t;
    SELECT NoCol FROM dbo.t;
GO
CREATE FUNCTION dbo.f() RETURNS int AS BEGIN RETURN (SELECT MAX(NoCol) FROM dbo.t); END
GO
CREATE TRIGGER tr ON dbo.t AFTER INSERT AS UPDATE dbo.t SET NoCol = 1;
GO
SELECT name FROM sys.objects WHERE name IN ('p', 'f', 'tr');
GO
-- Dynamic SQL is a batch of its own.
PRINT 'before';
BEGIN TRY
    EXEC (N'PRINT ''not printed''; SELECT NoCol FROM dbo.t');
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE();
END CATCH;
GO
-- What is not there yet is looked at when the statement comes.
PRINT 'printed'; SELECT NoCol FROM dbo.Later;
GO
PRINT 'printed'; CREATE TABLE dbo.Later (A int); SELECT NoCol FROM dbo.Later;
GO
CREATE PROCEDURE dbo.Early AS SELECT C FROM dbo.Latest;
GO
CREATE TABLE dbo.Latest (C int);
EXEC dbo.Early;
GO
-- The server knows what strings have done.
EXEC (N'ALTER TABLE dbo.t ADD C int');
GO
SELECT C FROM dbo.t WHERE C = 1;
GO
-- A batch of an open transaction does not run either, and the transaction stays.
BEGIN TRANSACTION;
INSERT INTO dbo.t (A) VALUES (7);
GO
PRINT 'not printed'; SELECT NoCol FROM dbo.t;
GO
SELECT @@TRANCOUNT AS depth, (SELECT COUNT(*) FROM dbo.t) AS rows_there;
COMMIT;
GO
-- A statement that waits for a table of its batch is looked at when it comes, with what has come until then.
CREATE TABLE #rows (A int);
CREATE TABLE dbo.made (A int, D int);
EXEC (N'ALTER TABLE dbo.t ADD D int');
UPDATE t SET D = 1 FROM dbo.t AS t JOIN #rows AS r ON r.A = t.D;
UPDATE dbo.t SET D = 2 WHERE D IN (SELECT A FROM #rows);
SELECT t.D FROM dbo.t AS t JOIN dbo.made AS m ON m.D = t.D;
GO
-- So are the columns of rows that the statement itself lists, and what its tables make ambiguous or ungrouped.
CREATE TABLE dbo.u (K int PRIMARY KEY, A int, X xml);
GO
PRINT 'not printed'; SELECT q.NoCol FROM (SELECT A FROM dbo.t) AS q;
GO
PRINT 'not printed'; WITH c (Y) AS (SELECT A FROM dbo.t) SELECT A FROM c;
GO
PRINT 'not printed'; SELECT v.NoCol FROM (VALUES (1)) AS v (A) CROSS APPLY OPENJSON('[]') WITH (B int) AS j;
GO
PRINT 'not printed'; DELETE FROM dbo.t OUTPUT deleted.NoCol;
GO
PRINT 'not printed';
MERGE dbo.u AS u USING dbo.t AS t ON t.A = u.K WHEN NOT MATCHED THEN INSERT (K) VALUES (u.A) OUTPUT $action;
GO
PRINT 'not printed';
MERGE dbo.u AS u USING dbo.t AS t ON t.A = u.K WHEN MATCHED THEN DELETE OUTPUT inserted.NoCol;
GO
PRINT 'not printed'; SELECT A FROM dbo.t JOIN dbo.u ON K = B;
GO
PRINT 'not printed'; SELECT K, A, COUNT(*) FROM dbo.u GROUP BY K;
GO
PRINT 'not printed'; SELECT other.u.K FROM dbo.u;
GO
PRINT 'not printed'; SELECT K + 1, A FROM dbo.u GROUP BY K + 1;
GO
PRINT 'not printed'; SELECT K, (SELECT MAX(B) FROM dbo.t WHERE t.A = u.A) FROM dbo.u GROUP BY K;
GO
PRINT 'not printed'; SELECT DISTINCT K FROM dbo.u ORDER BY A;
GO
CREATE TRIGGER tr ON dbo.t AFTER INSERT AS SELECT NoCol FROM inserted;
GO
CREATE VIEW dbo.v AS SELECT K, A FROM dbo.u GROUP BY K;
GO
-- These stand for columns that are there, or wait.
EXEC (N'ALTER TABLE dbo.u ADD E int');
GO
WITH c AS (SELECT * FROM dbo.u) SELECT c.E FROM c;
DELETE dbo.u OUTPUT deleted.E;
MERGE dbo.u USING dbo.t AS t ON t.A = K WHEN NOT MATCHED AND A = 7 THEN INSERT (K, A) VALUES (A, A) OUTPUT inserted.E, inserted.K;
SELECT t.A, u.K FROM dbo.t JOIN dbo.u ON K = t.A ORDER BY A;
SELECT K, STRING_AGG(A, ',') WITHIN GROUP (ORDER BY E) AS l FROM dbo.u GROUP BY GROUPING SETS ((K), ()) ORDER BY K;
GO
PRINT 'printed'; SELECT q.NoCol FROM (SELECT A FROM dbo.LatestOfAll) AS q JOIN dbo.t ON 1 = 1;
GO
PRINT 'printed';
SELECT A + 1, CASE A + 1 WHEN 1 THEN B END FROM dbo.t GROUP BY A + 1, B;
SELECT A, (SELECT MAX(x.B) FROM dbo.t AS x WHERE x.A = t.A), (SELECT SUM(t.B)) FROM dbo.t GROUP BY A;
SELECT DISTINCT A + 1 AS n FROM dbo.t ORDER BY A + 1, n;
SELECT DISTINCT t.* FROM dbo.t ORDER BY B;
GO

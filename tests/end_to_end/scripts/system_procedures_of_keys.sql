CREATE TABLE dbo.Parts (Id int, Kind int, Code int CONSTRAINT uq_code UNIQUE, N int CONSTRAINT df_n DEFAULT 5 CONSTRAINT ck_n CHECK (N > 0), CONSTRAINT pk_parts PRIMARY KEY (Id, Kind))
CREATE TABLE dbo.Uses (X int, Y int, CONSTRAINT fk_uses FOREIGN KEY (X, Y) REFERENCES Parts (Id, Kind) ON DELETE CASCADE)
GO
CREATE TRIGGER trParts ON Parts AFTER INSERT, DELETE AS PRINT 'x'
GO
CREATE PROCEDURE dbo.AllParts AS SELECT * FROM Parts
GO
CREATE TABLE #k (q sysname, o sysname, t sysname, c sysname, n int, name sysname)
INSERT #k EXEC sp_pkeys 'Parts'
SELECT o, t, c, n, name FROM #k
CREATE TABLE #f (pq sysname, po sysname, pt sysname, pc sysname, fq sysname, fo sysname, ft sysname, fc sysname, n int, u int, d int, f sysname, p sysname, defers int)
INSERT #f EXEC sp_fkeys @pktable_name = 'Parts'
SELECT pt, pc, ft, fc, n, u, d, f, p FROM #f
GO
EXEC sp_helpconstraint 'dbo.Parts', 'nomsg'
EXEC sp_helpconstraint 'Uses', 'nomsg'
EXEC sp_helpconstraint 'nope'
EXEC sp_helptrigger 'dbo.Parts'
CREATE TABLE #p (q sysname, o sysname, name sysname, i int, t int, r int, remarks varchar(254), kind int)
INSERT #p EXEC sp_stored_procedures 'all%'
SELECT o, name, kind FROM #p
GO
CREATE ROLE readers
CREATE USER ann WITHOUT LOGIN
ALTER ROLE readers ADD MEMBER ann
CREATE TABLE #m (r sysname, m sysname, s varbinary(85))
INSERT #m EXEC sp_helprolemember 'readers'
SELECT r, m FROM #m

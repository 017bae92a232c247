-- case: selects one after another
SELECT 1 SELECT 2 a SELECT a FROM t WHERE b = 1 SELECT TOP 5 WITH TIES a FROM t ORDER BY a SELECT DISTINCT a INTO #x FROM t SELECT 1
-- expect
SqlStatement kind=SELECT text=`SELECT 1`
SqlStatement kind=SELECT text=`SELECT 2 a`
SqlStatement kind=SELECT text=`SELECT a FROM t WHERE b = 1`
SqlStatement kind=SELECT text=`SELECT TOP 5 WITH TIES a FROM t ORDER BY a`
SqlStatement kind=SELECT text=`SELECT DISTINCT a INTO #x FROM t`
SqlStatement kind=SELECT text=`SELECT 1`

-- case: set operators
SELECT 1 UNION SELECT 2 UNION ALL SELECT 3 EXCEPT SELECT 4 INTERSECT SELECT 5 ORDER BY 1 SELECT 6;
(SELECT 1) UNION (SELECT 2 UNION SELECT 3) ORDER BY 1 SELECT 7 UNION (SELECT 8)
SELECT 1 UNION ALL (SELECT 2) SELECT 9
-- expect
SqlStatement kind=SELECT text=`SELECT 1 UNION SELECT 2 UNION ALL SELECT 3 EXCEPT SELECT 4 INTERSECT SELECT 5 ORDER BY 1`
SqlStatement kind=SELECT text=`SELECT 6`
SqlStatement kind=SELECT text=`(SELECT 1) UNION (SELECT 2 UNION SELECT 3) ORDER BY 1`
SqlStatement kind=SELECT text=`SELECT 7 UNION (SELECT 8)`
SqlStatement kind=SELECT text=`SELECT 1 UNION ALL (SELECT 2)`
SqlStatement kind=SELECT text=`SELECT 9`

-- case: clauses that hold words of statements
DECLARE @a int
SELECT a, CASE WHEN b = 1 THEN 'x' ELSE CASE b WHEN 2 THEN 'y' END END AS c FROM t WITH (NOLOCK, INDEX(ix)) INNER MERGE JOIN u ON t.a = u.a LEFT OUTER LOOP JOIN v ON 1 = 1 CROSS APPLY dbo.f(t.a) AS f
  WHERE a IN (SELECT a FROM w) AND EXISTS (SELECT 1) GROUP BY a, b WITH ROLLUP HAVING COUNT(*) > 1 ORDER BY a OFFSET 10 ROWS FETCH NEXT 5 ROWS ONLY FOR XML PATH('r'), ROOT('x'), TYPE OPTION (RECOMPILE, MERGE JOIN, USE HINT('X'), MAXDOP 1)
SELECT a FROM t ORDER BY a OFFSET @a ROWS SELECT a FROM t ORDER BY a OFFSET 0 ROW FETCH FIRST 1 ROW ONLY SELECT 1
SELECT a FROM t FOR XML AUTO, ELEMENTS SELECT a FROM t FOR JSON PATH SELECT a FROM t FOR SYSTEM_TIME AS OF '2026-01-01' SELECT a FROM t FOR BROWSE PRINT 'x'
SELECT * FROM t PIVOT (SUM(a) FOR b IN ([x], [y])) AS p UNPIVOT (c FOR d IN (e, f)) AS q SELECT 2
SELECT * FROM OPENROWSET(BULK 'f', SINGLE_BLOB) AS x SELECT * FROM OPENQUERY(srv, 'select 1') SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) r, STRING_AGG(a, ',') WITHIN GROUP (ORDER BY a) FROM t WINDOW w AS (ORDER BY a)
SELECT @a = MAX(a), @a += 1 FROM t IF @a = 1 SELECT 3
-- expect
Declare declarations=(VariableDeclaration(variable=@a type=int))
SqlStatement kind=SELECT text=`SELECT a, CASE WHEN b = 1 THEN 'x' ELSE CASE b WHEN 2 THEN 'y' END END AS c FROM t WITH (NOLOCK, INDEX(ix)) INNER MERGE JOIN u ON t.a = u.a LEFT OUTER LOOP JOIN v ON 1 = 1 CROSS APPLY dbo.f(t.a) AS f WHERE a IN (SELECT a FROM w) AND EXISTS (SELECT 1) GROUP BY a, b WITH ROLLUP HAVING COUNT(*) > 1 ORDER BY a OFFSET 10 ROWS FETCH NEXT 5 ROWS ONLY FOR XML PATH('r'), ROOT('x'), TYPE OPTION (RECOMPILE, MERGE JOIN, USE HINT('X'), MAXDOP 1)`
SqlStatement kind=SELECT text=`SELECT a FROM t ORDER BY a OFFSET @a ROWS`
SqlStatement kind=SELECT text=`SELECT a FROM t ORDER BY a OFFSET 0 ROW FETCH FIRST 1 ROW ONLY`
SqlStatement kind=SELECT text=`SELECT 1`
SqlStatement kind=SELECT text=`SELECT a FROM t FOR XML AUTO, ELEMENTS`
SqlStatement kind=SELECT text=`SELECT a FROM t FOR JSON PATH`
SqlStatement kind=SELECT text=`SELECT a FROM t FOR SYSTEM_TIME AS OF '2026-01-01'`
SqlStatement kind=SELECT text=`SELECT a FROM t FOR BROWSE`
Print value=`'x'`
SqlStatement kind=SELECT text=`SELECT * FROM t PIVOT (SUM(a) FOR b IN ([x], [y])) AS p UNPIVOT (c FOR d IN (e, f)) AS q`
SqlStatement kind=SELECT text=`SELECT 2`
SqlStatement kind=SELECT text=`SELECT * FROM OPENROWSET(BULK 'f', SINGLE_BLOB) AS x`
SqlStatement kind=SELECT text=`SELECT * FROM OPENQUERY(srv, 'select 1')`
SqlStatement kind=SELECT text=`SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) r, STRING_AGG(a, ',') WITHIN GROUP (ORDER BY a) FROM t WINDOW w AS (ORDER BY a)`
SqlStatement kind=SELECT text=`SELECT @a = MAX(a), @a += 1 FROM t`
If condition=`@a = 1`
  SqlStatement kind=SELECT text=`SELECT 3`

-- case: inserts
DECLARE @t TABLE (a int)
INSERT INTO t (a, b) VALUES (1, 2), (3, 4) INSERT t SELECT a, b FROM u INSERT INTO t DEFAULT VALUES INSERT TOP (5) INTO t (a) OUTPUT inserted.a INTO @t SELECT a FROM u UNION SELECT 2 INSERT INTO t (a) (SELECT 1) SELECT 4
INSERT INTO t WITH (TABLOCK) (a) OUTPUT inserted.* VALUES (DEFAULT) SELECT 5
INSERT INTO t SELECT a FROM (DELETE FROM u OUTPUT deleted.a WHERE b = 1) AS d (a) INSERT t VALUES (1) SELECT 6
-- expect
Declare declarations=(TableVariableDeclaration(variable=@t definition=TableDefinition(columns=(ColumnDefinition(name=a type=int)))))
SqlStatement kind=INSERT text=`INSERT INTO t (a, b) VALUES (1, 2), (3, 4)`
SqlStatement kind=INSERT text=`INSERT t SELECT a, b FROM u`
SqlStatement kind=INSERT text=`INSERT INTO t DEFAULT VALUES`
SqlStatement kind=INSERT text=`INSERT TOP (5) INTO t (a) OUTPUT inserted.a INTO @t SELECT a FROM u UNION SELECT 2`
SqlStatement kind=INSERT text=`INSERT INTO t (a) (SELECT 1)`
SqlStatement kind=SELECT text=`SELECT 4`
SqlStatement kind=INSERT text=`INSERT INTO t WITH (TABLOCK) (a) OUTPUT inserted.* VALUES (DEFAULT)`
SqlStatement kind=SELECT text=`SELECT 5`
SqlStatement kind=INSERT text=`INSERT INTO t SELECT a FROM (DELETE FROM u OUTPUT deleted.a WHERE b = 1) AS d (a)`
SqlStatement kind=INSERT text=`INSERT t VALUES (1)`
SqlStatement kind=SELECT text=`SELECT 6`

-- case: updates and deletes
DECLARE @t TABLE (a int), @a int
UPDATE t SET a = 1 UPDATE TOP (10) t WITH (ROWLOCK) SET a += 1, @a = b = 2, x.modify('delete /a') OUTPUT deleted.a, inserted.a INTO @t FROM t JOIN u ON t.a = u.a WHERE t.b = 1 OPTION (RECOMPILE) DELETE FROM t WHERE CURRENT OF c DELETE TOP (1) t OUTPUT deleted.* FROM t INNER JOIN u ON t.a = u.a DELETE t
UPDATE c SET a = 2 FROM (SELECT TOP (1) a FROM t ORDER BY a) AS c UPDATE STATISTICS t WITH FULLSCAN TRUNCATE TABLE dbo.t TRUNCATE TABLE t WITH (PARTITIONS (1, 2)) PRINT 'x'
UPDATE t SET a = CASE WHEN b = 1 THEN 2 ELSE 3 END WHERE a = 1 IF @a = 1 DELETE t ELSE UPDATE t SET a = 1
-- expect
Declare declarations=(TableVariableDeclaration(variable=@t definition=TableDefinition(columns=(ColumnDefinition(name=a type=int)))), VariableDeclaration(variable=@a type=int))
SqlStatement kind=UPDATE text=`UPDATE t SET a = 1`
SqlStatement kind=UPDATE text=`UPDATE TOP (10) t WITH (ROWLOCK) SET a += 1, @a = b = 2, x.modify('delete /a') OUTPUT deleted.a, inserted.a INTO @t FROM t JOIN u ON t.a = u.a WHERE t.b = 1 OPTION (RECOMPILE)`
SqlStatement kind=DELETE text=`DELETE FROM t WHERE CURRENT OF c`
SqlStatement kind=DELETE text=`DELETE TOP (1) t OUTPUT deleted.* FROM t INNER JOIN u ON t.a = u.a`
SqlStatement kind=DELETE text=`DELETE t`
SqlStatement kind=UPDATE text=`UPDATE c SET a = 2 FROM (SELECT TOP (1) a FROM t ORDER BY a) AS c`
SqlStatement kind=UPDATE STATISTICS text=`UPDATE STATISTICS t WITH FULLSCAN`
SqlStatement kind=TRUNCATE TABLE text=`TRUNCATE TABLE dbo.t`
SqlStatement kind=TRUNCATE TABLE text=`TRUNCATE TABLE t WITH (PARTITIONS (1, 2))`
Print value=`'x'`
SqlStatement kind=UPDATE text=`UPDATE t SET a = CASE WHEN b = 1 THEN 2 ELSE 3 END WHERE a = 1`
If condition=`@a = 1`
  SqlStatement kind=DELETE text=`DELETE t`
Else
  SqlStatement kind=UPDATE text=`UPDATE t SET a = 1`
warning 3:67: UPDATE STATISTICS has no effect on PostgreSQL. | PostgreSQL gathers statistics by itself; ANALYZE does it now

-- case: merge
MERGE INTO t WITH (HOLDLOCK) AS d USING (SELECT 1 AS a) AS s ON d.a = s.a
WHEN MATCHED AND d.b = 1 THEN UPDATE SET b = s.b, c = 2 WHEN MATCHED THEN DELETE
WHEN NOT MATCHED BY TARGET THEN INSERT (a, b) VALUES (s.a, s.b) WHEN NOT MATCHED BY SOURCE THEN DELETE
OUTPUT $action, inserted.a, deleted.a;
MERGE t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET a = 1 WHEN NOT MATCHED THEN INSERT DEFAULT VALUES OPTION (LOOP JOIN); SELECT 1
-- expect
SqlStatement kind=MERGE text=`MERGE INTO t WITH (HOLDLOCK) AS d USING (SELECT 1 AS a) AS s ON d.a = s.a WHEN MATCHED AND d.b = 1 THEN UPDATE SET b = s.b, c = 2 WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY TARGET THEN INSERT (a, b) VALUES (s.a, s.b) WHEN NOT MATCHED BY SOURCE THEN DELETE OUTPUT $action, inserted.a, deleted.a`
SqlStatement kind=MERGE text=`MERGE t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET a = 1 WHEN NOT MATCHED THEN INSERT DEFAULT VALUES OPTION (LOOP JOIN)`
SqlStatement kind=SELECT text=`SELECT 1`

-- case: common table expressions
WITH x AS (SELECT 1 AS a), y (b) AS (SELECT a FROM x UNION ALL SELECT 2) SELECT * FROM x, y
;WITH x AS (SELECT a FROM t) DELETE FROM x WHERE a = 1; WITH x AS (SELECT 1 a) UPDATE t SET a = x.a FROM x; WITH x AS (SELECT 1 a) INSERT INTO t SELECT a FROM x; WITH x AS (SELECT 1 a) MERGE t USING x ON t.a = x.a WHEN MATCHED THEN DELETE;
WITH XMLNAMESPACES ('urn:a' AS a, DEFAULT 'urn:b') SELECT 1 FOR XML PATH; WITH XMLNAMESPACES ('urn:a' AS a), x AS (SELECT 1 b) SELECT b FROM x
BEGIN WITH x AS (SELECT 1 a) SELECT a FROM x END WITH z AS (SELECT 2 a) SELECT a FROM z
-- expect
SqlStatement kind=SELECT text=`WITH x AS (SELECT 1 AS a), y (b) AS (SELECT a FROM x UNION ALL SELECT 2) SELECT * FROM x, y` with_clause=True
SqlStatement kind=DELETE text=`WITH x AS (SELECT a FROM t) DELETE FROM x WHERE a = 1` with_clause=True
SqlStatement kind=UPDATE text=`WITH x AS (SELECT 1 a) UPDATE t SET a = x.a FROM x` with_clause=True
SqlStatement kind=INSERT text=`WITH x AS (SELECT 1 a) INSERT INTO t SELECT a FROM x` with_clause=True
SqlStatement kind=MERGE text=`WITH x AS (SELECT 1 a) MERGE t USING x ON t.a = x.a WHEN MATCHED THEN DELETE` with_clause=True
SqlStatement kind=SELECT text=`WITH XMLNAMESPACES ('urn:a' AS a, DEFAULT 'urn:b') SELECT 1 FOR XML PATH` with_clause=True
SqlStatement kind=SELECT text=`WITH XMLNAMESPACES ('urn:a' AS a), x AS (SELECT 1 b) SELECT b FROM x` with_clause=True
Block
  SqlStatement kind=SELECT text=`WITH x AS (SELECT 1 a) SELECT a FROM x` with_clause=True
SqlStatement kind=SELECT text=`WITH z AS (SELECT 2 a) SELECT a FROM z` with_clause=True

-- case: a table expression without the semicolon before it
SELECT 1 WITH x AS (SELECT 2 a) SELECT a FROM x
GO
DECLARE @a int WITH x AS (SELECT 2 a) SELECT a FROM x
GO
SET NOCOUNT ON WITH XMLNAMESPACES ('u' AS a) SELECT 1 FOR XML PATH
-- expect
1:10: 319: Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an xmlnamespaces clause or a change tracking context clause, the previous statement must be terminated with a semicolon. | write a semicolon before WITH
3:16: 319: Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an xmlnamespaces clause or a change tracking context clause, the previous statement must be terminated with a semicolon. | write a semicolon before WITH
5:16: 319: Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an xmlnamespaces clause or a change tracking context clause, the previous statement must be terminated with a semicolon. | write a semicolon before WITH

-- case: tables
CREATE TABLE dbo.t (a int NOT NULL IDENTITY (1, 1), b nvarchar(10) COLLATE Latin1_General_CI_AS NULL CONSTRAINT df DEFAULT (N'x'), c AS (a * 2) PERSISTED, [d e] xml, f timestamp, timestamp,
  CONSTRAINT pk PRIMARY KEY CLUSTERED (a ASC) WITH (PAD_INDEX = OFF) ON [PRIMARY], FOREIGN KEY (a) REFERENCES u (b) ON DELETE CASCADE ON UPDATE SET NULL, CHECK (a > 1),) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY] WITH (DATA_COMPRESSION = PAGE)
CREATE TABLE #t (a int) CREATE TABLE ##t (a int) SELECT 1
CREATE TABLE n AS NODE CREATE TABLE f AS FILETABLE WITH (FILETABLE_DIRECTORY = 'x')
ALTER TABLE t ADD b int NULL, CONSTRAINT c FOREIGN KEY (b) REFERENCES u (b) ON DELETE SET NULL ON UPDATE CASCADE ALTER TABLE t ALTER COLUMN b bigint NOT NULL ALTER TABLE t DROP COLUMN IF EXISTS b, CONSTRAINT c ALTER TABLE t WITH CHECK ADD CONSTRAINT d CHECK (b > 1) ALTER TABLE t NOCHECK CONSTRAINT ALL
ALTER TABLE t SET (LOCK_ESCALATION = AUTO) ALTER TABLE t ENABLE TRIGGER tr ALTER TABLE t DISABLE TRIGGER ALL ALTER TABLE t SWITCH TO u ALTER TABLE t REBUILD WITH (DATA_COMPRESSION = NONE) ALTER TABLE t DROP CONSTRAINT c DROP TABLE t, dbo.u DROP TABLE IF EXISTS #t SELECT 2
-- expect
CreateTable name=dbo.t definition=TableDefinition(columns=(ColumnDefinition(name=a type=int rest=`NOT NULL IDENTITY (1, 1)`), ColumnDefinition(name=b type=nvarchar(10) rest=`COLLATE Latin1_General_CI_AS NULL CONSTRAINT df DEFAULT (N'x')`), ColumnDefinition(name=c rest=`AS (a * 2) PERSISTED`), ColumnDefinition(name=[d e] type=xml), ColumnDefinition(name=f type=timestamp), ColumnDefinition(name=timestamp)) constraints=(`CONSTRAINT pk PRIMARY KEY CLUSTERED (a ASC) WITH (PAD_INDEX = OFF) ON [PRIMARY]`, `FOREIGN KEY (a) REFERENCES u (b) ON DELETE CASCADE ON UPDATE SET NULL`, `CHECK (a > 1)`))
CreateTable name=#t definition=TableDefinition(columns=(ColumnDefinition(name=a type=int)))
CreateTable name=##t definition=TableDefinition(columns=(ColumnDefinition(name=a type=int)))
SqlStatement kind=SELECT text=`SELECT 1`
CreateTable name=n
CreateTable name=f
SqlStatement kind=ALTER TABLE text=`ALTER TABLE t ADD b int NULL, CONSTRAINT c FOREIGN KEY (b) REFERENCES u (b) ON DELETE SET NULL ON UPDATE CASCADE`
SqlStatement kind=ALTER TABLE text=`ALTER TABLE t ALTER COLUMN b bigint NOT NULL`
SqlStatement kind=ALTER TABLE text=`ALTER TABLE t DROP COLUMN IF EXISTS b, CONSTRAINT c`
SqlStatement kind=ALTER TABLE text=`ALTER TABLE t WITH CHECK ADD CONSTRAINT d CHECK (b > 1)`
SqlStatement kind=ALTER TABLE text=`ALTER TABLE t NOCHECK CONSTRAINT ALL`
SqlStatement kind=ALTER TABLE text=`ALTER TABLE t SET (LOCK_ESCALATION = AUTO)`
SqlStatement kind=ALTER TABLE text=`ALTER TABLE t ENABLE TRIGGER tr`
SqlStatement kind=ALTER TABLE text=`ALTER TABLE t DISABLE TRIGGER ALL`
SqlStatement kind=ALTER TABLE text=`ALTER TABLE t SWITCH TO u`
SqlStatement kind=ALTER TABLE text=`ALTER TABLE t REBUILD WITH (DATA_COMPRESSION = NONE)`
SqlStatement kind=ALTER TABLE text=`ALTER TABLE t DROP CONSTRAINT c`
DropStatement kind=TABLE names=(t, dbo.u)
DropStatement kind=TABLE names=(#t) if_exists=True
SqlStatement kind=SELECT text=`SELECT 2`

-- case: indexes, types, sequences, statistics
CREATE INDEX ix ON t (a) CREATE UNIQUE CLUSTERED INDEX ix ON dbo.t (a DESC, b) INCLUDE (c) WHERE a > 1 WITH (DROP_EXISTING = ON) ON [PRIMARY] CREATE NONCLUSTERED COLUMNSTORE INDEX ix ON t (a) CREATE PRIMARY XML INDEX ix ON t (x) CREATE XML INDEX ix2 ON t (x) USING XML INDEX ix FOR PATH CREATE SPATIAL INDEX s ON t (g)
ALTER INDEX ALL ON t REBUILD WITH (FILLFACTOR = 80) ALTER INDEX ix ON t DISABLE ALTER INDEX ix ON t SET (IGNORE_DUP_KEY = ON) DROP INDEX ix ON t DROP INDEX t.ix, u.ix DROP INDEX IF EXISTS ix ON t
CREATE TYPE dbo.n FROM nvarchar(10) NOT NULL CREATE TYPE l AS TABLE (a int PRIMARY KEY) DROP TYPE l CREATE SEQUENCE s AS int START WITH 1 INCREMENT BY 1 ALTER SEQUENCE s RESTART WITH 5 DROP SEQUENCE IF EXISTS s CREATE STATISTICS st ON t (a) DROP STATISTICS t.st
SELECT NEXT VALUE FOR s
-- expect
SqlStatement kind=CREATE INDEX text=`CREATE INDEX ix ON t (a)`
SqlStatement kind=CREATE INDEX text=`CREATE UNIQUE CLUSTERED INDEX ix ON dbo.t (a DESC, b) INCLUDE (c) WHERE a > 1 WITH (DROP_EXISTING = ON) ON [PRIMARY]`
SqlStatement kind=CREATE INDEX text=`CREATE NONCLUSTERED COLUMNSTORE INDEX ix ON t (a)`
SqlStatement kind=CREATE XML INDEX text=`CREATE PRIMARY XML INDEX ix ON t (x)`
SqlStatement kind=CREATE XML INDEX text=`CREATE XML INDEX ix2 ON t (x) USING XML INDEX ix FOR PATH`
SqlStatement kind=CREATE INDEX text=`CREATE SPATIAL INDEX s ON t (g)`
SqlStatement kind=ALTER INDEX text=`ALTER INDEX ALL ON t REBUILD WITH (FILLFACTOR = 80)`
SqlStatement kind=ALTER INDEX text=`ALTER INDEX ix ON t DISABLE`
SqlStatement kind=ALTER INDEX text=`ALTER INDEX ix ON t SET (IGNORE_DUP_KEY = ON)`
SqlStatement kind=DROP INDEX text=`DROP INDEX ix ON t`
SqlStatement kind=DROP INDEX text=`DROP INDEX t.ix, u.ix`
SqlStatement kind=DROP INDEX text=`DROP INDEX IF EXISTS ix ON t`
SqlStatement kind=CREATE TYPE text=`CREATE TYPE dbo.n FROM nvarchar(10) NOT NULL`
SqlStatement kind=CREATE TYPE text=`CREATE TYPE l AS TABLE (a int PRIMARY KEY)`
DropStatement kind=TYPE names=(l)
SqlStatement kind=CREATE SEQUENCE text=`CREATE SEQUENCE s AS int START WITH 1 INCREMENT BY 1`
SqlStatement kind=ALTER SEQUENCE text=`ALTER SEQUENCE s RESTART WITH 5`
DropStatement kind=SEQUENCE names=(s) if_exists=True
SqlStatement kind=CREATE STATISTICS text=`CREATE STATISTICS st ON t (a)`
DropStatement kind=STATISTICS names=(t.st)
SqlStatement kind=SELECT text=`SELECT NEXT VALUE FOR s`
warning 3:212: CREATE STATISTICS has no effect on PostgreSQL. | PostgreSQL gathers statistics by itself; ANALYZE does it now

-- case: administration
DBCC CHECKIDENT ('t', RESEED, 0) WITH NO_INFOMSGS DBCC FREEPROCCACHE BACKUP DATABASE d TO DISK = 'x' WITH INIT, COMPRESSION RESTORE DATABASE d FROM DISK = 'x' WITH REPLACE, MOVE 'a' TO 'b' BACKUP LOG d TO DISK = N'x' CHECKPOINT CHECKPOINT 5 RECONFIGURE RECONFIGURE WITH OVERRIDE KILL 53 KILL 54 WITH STATUSONLY
EXEC sp_configure 'show advanced options', 1; RECONFIGURE;
ADD SIGNATURE TO dbo.p BY CERTIFICATE c WITH PASSWORD = 'x' ADD COUNTER SIGNATURE TO p BY CERTIFICATE c DROP SIGNATURE FROM p BY CERTIFICATE c
CREATE CREDENTIAL c WITH IDENTITY = 'x', SECRET = 'y' CREATE SERVER AUDIT a TO FILE (FILEPATH = 'x') WITH (ON_FAILURE = SHUTDOWN) ALTER SERVER AUDIT a WITH (STATE = ON) CREATE DATABASE AUDIT SPECIFICATION s FOR SERVER AUDIT a ADD (SELECT, INSERT, EXECUTE ON dbo.t BY dbo) WITH (STATE = ON)
CREATE EVENT SESSION e ON SERVER ADD EVENT sqlserver.broker_activation (ACTION (sqlserver.sql_text) WHERE (a > 1)) ADD TARGET package0.ring_buffer ALTER EVENT SESSION e ON SERVER DROP EVENT sqlserver.x ALTER EVENT SESSION e ON SERVER STATE = START DROP EVENT SESSION e ON SERVER
CREATE PARTITION FUNCTION f (int) AS RANGE LEFT FOR VALUES (1, 2) CREATE PARTITION SCHEME s AS PARTITION f ALL TO ([PRIMARY])
ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 4 ALTER DATABASE SCOPED CONFIGURATION CLEAR PROCEDURE_CACHE ALTER DATABASE SCOPED CONFIGURATION FOR SECONDARY SET MAXDOP = PRIMARY ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = AUTO ALTER RESOURCE GOVERNOR RECONFIGURE CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE c
-- expect
AdministrativeStatement kind=DBCC text=`DBCC CHECKIDENT ('t', RESEED, 0) WITH NO_INFOMSGS`
AdministrativeStatement kind=DBCC text=`DBCC FREEPROCCACHE`
AdministrativeStatement kind=BACKUP DATABASE text=`BACKUP DATABASE d TO DISK = 'x' WITH INIT, COMPRESSION`
AdministrativeStatement kind=RESTORE DATABASE text=`RESTORE DATABASE d FROM DISK = 'x' WITH REPLACE, MOVE 'a' TO 'b'`
AdministrativeStatement kind=BACKUP LOG text=`BACKUP LOG d TO DISK = N'x'`
AdministrativeStatement kind=CHECKPOINT text=`CHECKPOINT`
AdministrativeStatement kind=CHECKPOINT text=`CHECKPOINT 5`
AdministrativeStatement kind=RECONFIGURE text=`RECONFIGURE`
AdministrativeStatement kind=RECONFIGURE WITH OVERRIDE text=`RECONFIGURE WITH OVERRIDE`
AdministrativeStatement kind=KILL text=`KILL 53`
AdministrativeStatement kind=KILL text=`KILL 54 WITH STATUSONLY`
Execute module=sp_configure arguments=(Argument(value=`'show advanced options'`), Argument(value=`1`))
AdministrativeStatement kind=RECONFIGURE text=`RECONFIGURE`
AdministrativeStatement kind=ADD SIGNATURE text=`ADD SIGNATURE TO dbo.p BY CERTIFICATE c WITH PASSWORD = 'x'`
AdministrativeStatement kind=ADD COUNTER SIGNATURE text=`ADD COUNTER SIGNATURE TO p BY CERTIFICATE c`
AdministrativeStatement kind=DROP SIGNATURE text=`DROP SIGNATURE FROM p BY CERTIFICATE c`
AdministrativeStatement kind=CREATE CREDENTIAL text=`CREATE CREDENTIAL c WITH IDENTITY = 'x', SECRET = 'y'`
AdministrativeStatement kind=CREATE SERVER AUDIT text=`CREATE SERVER AUDIT a TO FILE (FILEPATH = 'x') WITH (ON_FAILURE = SHUTDOWN)`
AdministrativeStatement kind=ALTER SERVER AUDIT text=`ALTER SERVER AUDIT a WITH (STATE = ON)`
AdministrativeStatement kind=CREATE DATABASE AUDIT SPECIFICATION text=`CREATE DATABASE AUDIT SPECIFICATION s FOR SERVER AUDIT a ADD (SELECT, INSERT, EXECUTE ON dbo.t BY dbo) WITH (STATE = ON)`
AdministrativeStatement kind=CREATE EVENT SESSION text=`CREATE EVENT SESSION e ON SERVER ADD EVENT sqlserver.broker_activation (ACTION (sqlserver.sql_text) WHERE (a > 1)) ADD TARGET package0.ring_buffer`
AdministrativeStatement kind=ALTER EVENT SESSION text=`ALTER EVENT SESSION e ON SERVER DROP EVENT sqlserver.x`
AdministrativeStatement kind=ALTER EVENT SESSION text=`ALTER EVENT SESSION e ON SERVER STATE = START`
DropStatement kind=EVENT SESSION names=(e) on=EventScope(kind=SERVER)
AdministrativeStatement kind=CREATE PARTITION FUNCTION text=`CREATE PARTITION FUNCTION f (int) AS RANGE LEFT FOR VALUES (1, 2)`
AdministrativeStatement kind=CREATE PARTITION SCHEME text=`CREATE PARTITION SCHEME s AS PARTITION f ALL TO ([PRIMARY])`
AdministrativeStatement kind=ALTER DATABASE SCOPED CONFIGURATION SET text=`ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 4`
AdministrativeStatement kind=ALTER DATABASE SCOPED CONFIGURATION CLEAR text=`ALTER DATABASE SCOPED CONFIGURATION CLEAR PROCEDURE_CACHE`
AdministrativeStatement kind=ALTER DATABASE SCOPED CONFIGURATION FOR SECONDARY SET text=`ALTER DATABASE SCOPED CONFIGURATION FOR SECONDARY SET MAXDOP = PRIMARY`
AdministrativeStatement kind=ALTER SERVER CONFIGURATION SET text=`ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = AUTO`
AdministrativeStatement kind=ALTER RESOURCE GOVERNOR RECONFIGURE text=`ALTER RESOURCE GOVERNOR RECONFIGURE`
AdministrativeStatement kind=CREATE DATABASE ENCRYPTION KEY text=`CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE c`
warning 1:51: DBCC has no effect on PostgreSQL. | ANALYZE, VACUUM and ALTER SEQUENCE … RESTART do what most of DBCC does
warning 1:70: BACKUP DATABASE has no effect on PostgreSQL. | use pg_dump or pg_basebackup
warning 1:125: RESTORE DATABASE has no effect on PostgreSQL. | use pg_restore
warning 1:190: BACKUP LOG has no effect on PostgreSQL. | use continuous archiving (WAL)
warning 1:218: CHECKPOINT has no effect on PostgreSQL.
warning 1:229: CHECKPOINT has no effect on PostgreSQL.
warning 1:242: RECONFIGURE has no effect on PostgreSQL. | server settings are made with ALTER SYSTEM
warning 1:254: RECONFIGURE WITH OVERRIDE has no effect on PostgreSQL. | server settings are made with ALTER SYSTEM
warning 2:47: RECONFIGURE has no effect on PostgreSQL. | server settings are made with ALTER SYSTEM
warning 3:1: ADD SIGNATURE has no effect on PostgreSQL.
warning 3:61: ADD COUNTER SIGNATURE has no effect on PostgreSQL.
warning 3:105: DROP SIGNATURE has no effect on PostgreSQL.
warning 4:1: CREATE CREDENTIAL has no effect on PostgreSQL.
warning 4:55: CREATE SERVER AUDIT has no effect on PostgreSQL.
warning 4:131: ALTER SERVER AUDIT has no effect on PostgreSQL.
warning 4:170: CREATE DATABASE AUDIT SPECIFICATION has no effect on PostgreSQL.
warning 5:1: CREATE EVENT SESSION has no effect on PostgreSQL.
warning 5:148: ALTER EVENT SESSION has no effect on PostgreSQL.
warning 5:203: ALTER EVENT SESSION has no effect on PostgreSQL.
warning 6:1: CREATE PARTITION FUNCTION has no effect on PostgreSQL.
warning 6:67: CREATE PARTITION SCHEME has no effect on PostgreSQL.
warning 7:1: ALTER DATABASE SCOPED CONFIGURATION SET has no effect on PostgreSQL.
warning 7:52: ALTER DATABASE SCOPED CONFIGURATION CLEAR has no effect on PostgreSQL.
warning 7:110: ALTER DATABASE SCOPED CONFIGURATION FOR SECONDARY SET has no effect on PostgreSQL.
warning 7:181: ALTER SERVER CONFIGURATION SET has no effect on PostgreSQL.
warning 7:240: ALTER RESOURCE GOVERNOR RECONFIGURE has no effect on PostgreSQL.
warning 7:276: CREATE DATABASE ENCRYPTION KEY has no effect on PostgreSQL.

-- case: schemas and principals
GO
CREATE SCHEMA s
GO
CREATE SCHEMA s AUTHORIZATION ann CREATE TABLE t (a int) CREATE VIEW v AS SELECT a FROM s.t GRANT SELECT ON s.t TO bob
GO
CREATE SCHEMA AUTHORIZATION ann
GO
ALTER SCHEMA s TRANSFER dbo.t ALTER SCHEMA s TRANSFER TYPE::dbo.n ALTER SCHEMA s TRANSFER XML SCHEMA COLLECTION::dbo.c DROP SCHEMA IF EXISTS s
CREATE LOGIN ann WITH PASSWORD = N'x' MUST_CHANGE, CHECK_POLICY = OFF, DEFAULT_DATABASE = d CREATE LOGIN [D\u] FROM WINDOWS CREATE LOGIN c FROM CERTIFICATE c ALTER LOGIN ann DISABLE ALTER LOGIN ann WITH PASSWORD = 'y' ALTER LOGIN ann ADD CREDENTIAL c DROP LOGIN ann
CREATE USER ann CREATE USER ann FOR LOGIN ann WITH DEFAULT_SCHEMA = dbo CREATE USER p WITHOUT LOGIN CREATE USER c FROM CERTIFICATE c ALTER USER ann WITH NAME = anna DROP USER IF EXISTS ann
CREATE ROLE r AUTHORIZATION dbo CREATE SERVER ROLE sr ALTER ROLE r ADD MEMBER ann ALTER ROLE r DROP MEMBER [public] ALTER SERVER ROLE sysadmin ADD MEMBER ann ALTER ROLE r WITH NAME = q DROP ROLE r CREATE APPLICATION ROLE a WITH PASSWORD = 'x' DROP APPLICATION ROLE a
-- expect
CreateSchema name=s
GO
CreateSchema name=s owner=ann
  CreateTable name=t definition=TableDefinition(columns=(ColumnDefinition(name=a type=int)))
  CreateView action=CREATE name=v query=`SELECT a FROM s.t`
  Permission action=GRANT permissions=(PermissionName(name=SELECT)) securable=Securable(kind=OBJECT name=s.t) principals=(bob)
GO
CreateSchema name=ann owner=ann
GO
AlterSchema name=s securable_class=OBJECT object=dbo.t
AlterSchema name=s securable_class=TYPE object=dbo.n
AlterSchema name=s securable_class=XML SCHEMA COLLECTION object=dbo.c
DropStatement kind=SCHEMA names=(s) if_exists=True
CreateLogin name=ann text=`CREATE LOGIN ann WITH PASSWORD = N'x' MUST_CHANGE, CHECK_POLICY = OFF, DEFAULT_DATABASE = d`
CreateLogin name=[D\u] text=`CREATE LOGIN [D\u] FROM WINDOWS`
CreateLogin name=c text=`CREATE LOGIN c FROM CERTIFICATE c`
AlterPrincipal kind=LOGIN name=ann text=`ALTER LOGIN ann DISABLE`
AlterPrincipal kind=LOGIN name=ann text=`ALTER LOGIN ann WITH PASSWORD = 'y'`
AlterPrincipal kind=LOGIN name=ann text=`ALTER LOGIN ann ADD CREDENTIAL c`
DropStatement kind=LOGIN names=(ann)
CreateUser name=ann text=`CREATE USER ann`
CreateUser name=ann login=ann default_schema=dbo text=`CREATE USER ann FOR LOGIN ann WITH DEFAULT_SCHEMA = dbo`
CreateUser name=p without_login=True text=`CREATE USER p WITHOUT LOGIN`
CreateUser name=c certificate=c text=`CREATE USER c FROM CERTIFICATE c`
AlterPrincipal kind=USER name=ann text=`ALTER USER ann WITH NAME = anna`
DropStatement kind=USER names=(ann) if_exists=True
CreateRole kind=ROLE name=r owner=dbo text=`CREATE ROLE r AUTHORIZATION dbo`
CreateRole kind=SERVER ROLE name=sr text=`CREATE SERVER ROLE sr`
AlterRole kind=ROLE name=r action=ADD MEMBER member=ann
AlterRole kind=ROLE name=r action=DROP MEMBER member=public
AlterRole kind=SERVER ROLE name=sysadmin action=ADD MEMBER member=ann
AlterRole kind=ROLE name=r action=NAME member=q
DropStatement kind=ROLE names=(r)
CreateRole kind=APPLICATION ROLE name=a text=`CREATE APPLICATION ROLE a WITH PASSWORD = 'x'`
DropStatement kind=APPLICATION ROLE names=(a)

-- case: everything in one line
DECLARE @a int, @h uniqueidentifier SET @a = 1 IF @a = 1 SELECT 1 ELSE SELECT 2 WHILE @a < 3 BEGIN SET @a = @a + 1 IF @a = 2 BREAK END BEGIN TRAN UPDATE t SET a = 1 COMMIT EXEC p @a SELECT @a RETURN GOTO x x: PRINT 'x' OPEN c FETCH c CLOSE c DEALLOCATE c BEGIN TRY SELECT 1 END TRY BEGIN CATCH THROW END CATCH USE d SET NOCOUNT ON DROP TABLE t CREATE TABLE t (a int) INSERT t VALUES (1) DELETE t END CONVERSATION @h WAITFOR DELAY '0:0:1' PRINT 'y' RAISERROR ('x', 16, 1) REVERT GRANT SELECT ON t TO ann
-- expect
Declare declarations=(VariableDeclaration(variable=@a type=int), VariableDeclaration(variable=@h type=uniqueidentifier))
SetVariable variable=@a operator== value=`1`
If condition=`@a = 1`
  SqlStatement kind=SELECT text=`SELECT 1`
Else
  SqlStatement kind=SELECT text=`SELECT 2`
While condition=`@a < 3`
  Block
    SetVariable variable=@a operator== value=`@a + 1`
    If condition=`@a = 2`
      Break
BeginTransaction
SqlStatement kind=UPDATE text=`UPDATE t SET a = 1`
CommitTransaction
Execute module=p arguments=(Argument(value=`@a`))
SqlStatement kind=SELECT text=`SELECT @a`
Return
Goto label=x
Label name=x
Print value=`'x'`
OpenCursor cursor=CursorReference(name=c)
FetchCursor direction=NEXT cursor=CursorReference(name=c)
CloseCursor cursor=CursorReference(name=c)
DeallocateCursor cursor=CursorReference(name=c)
TryCatch
  SqlStatement kind=SELECT text=`SELECT 1`
Catch
  Throw
Use database=d
SetOption names=(NOCOUNT) value=ON
DropStatement kind=TABLE names=(t)
CreateTable name=t definition=TableDefinition(columns=(ColumnDefinition(name=a type=int)))
SqlStatement kind=INSERT text=`INSERT t VALUES (1)`
SqlStatement kind=DELETE text=`DELETE t`
EndConversation handle=`@h`
WaitForTime kind=DELAY value=`'0:0:1'`
Print value=`'y'`
RaiseError message=`'x'` severity=`16` state=`1`
Revert
Permission action=GRANT permissions=(PermissionName(name=SELECT)) securable=Securable(kind=OBJECT name=t) principals=(ann)

-- case: numbers, strings and binaries
SELECT 1, 1., .5, 1e5, 1.5E-3, 0x, 0xAB, $1.50, -$2, N'é', 'it''s', 'a' + 'b', 1.5e, {d '2026-01-01'}, {fn NOW()} PRINT 0x01
-- expect
SqlStatement kind=SELECT text=`SELECT 1, 1., .5, 1e5, 1.5E-3, 0x, 0xAB, $1.50, -$2, N'é', 'it''s', 'a' + 'b', 1.5e, {d '2026-01-01'}, {fn NOW()}`
Print value=`0x01`

-- case: comments anywhere
SELECT /* a */ 1 -- b
, /* c /* nested */ d */ 2 /* ; */ SELECT 3 -- GO
/*
GO
*/ SELECT 4
-- expect
SqlStatement kind=SELECT text=`SELECT /* a */ 1 -- b , /* c /* nested */ d */ 2`  # /* ; */
SqlStatement kind=SELECT text=`SELECT 3`  # -- GO
# /* GO */
SqlStatement kind=SELECT text=`SELECT 4`

-- case: no-break spaces
SELECT 1 SELECT　﻿2
-- expect
SqlStatement kind=SELECT text=`SELECT 1`
SqlStatement kind=SELECT text=`SELECT ﻿2`

-- case: calls whose first argument is a query
DECLARE @a int SET @a = ISNULL((SELECT 1), 3) SET @a = LEN((SELECT 1)) + COALESCE((SELECT 2), ((SELECT 3)))
IF ISNULL((SELECT COUNT(*) FROM t), 3) > 1 (SELECT 1)
IF @a = 1 (SELECT 2) UNION SELECT 3
PRINT CONVERT(varchar(10), (SELECT 1)) RETURN
-- expect
Declare declarations=(VariableDeclaration(variable=@a type=int))
SetVariable variable=@a operator== value=`ISNULL((SELECT 1), 3)`
SetVariable variable=@a operator== value=`LEN((SELECT 1)) + COALESCE((SELECT 2), ((SELECT 3)))`
If condition=`ISNULL((SELECT COUNT(*) FROM t), 3) > 1`
  SqlStatement kind=SELECT text=`(SELECT 1)`
If condition=`@a = 1`
  SqlStatement kind=SELECT text=`(SELECT 2) UNION SELECT 3`
Print value=`CONVERT(varchar(10), (SELECT 1))`
Return

-- case: MERGE RANGE is no MERGE
ALTER PARTITION FUNCTION pf() MERGE RANGE (100) SELECT 1
-- expect
AdministrativeStatement kind=ALTER PARTITION FUNCTION text=`ALTER PARTITION FUNCTION pf() MERGE RANGE (100)`
SqlStatement kind=SELECT text=`SELECT 1`
warning 1:1: ALTER PARTITION FUNCTION has no effect on PostgreSQL.

-- System-versioned (temporal) tables: what was, when, and what is refused while a history is kept.
CREATE SCHEMA hr;
GO
CREATE TABLE hr.Employee
(
    EmployeeId  INT            NOT NULL PRIMARY KEY CLUSTERED,
    Name        NVARCHAR(100)  NOT NULL,
    Salary      DECIMAL(10, 2) NULL,
    Yearly      AS Salary * 12,
    [ValidFrom] DATETIME2 (2)  GENERATED ALWAYS AS ROW START,
    [ValidTo]   DATETIME2 (2)  GENERATED ALWAYS AS ROW END,
    PERIOD FOR SYSTEM_TIME (ValidFrom, ValidTo)
)
WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = hr.EmployeeHistory, HISTORY_RETENTION_PERIOD = 6 MONTHS));
GO
INSERT INTO hr.Employee (EmployeeId, Name, Salary) VALUES (1, N'Ann', 100), (2, N'Bob', 200);
INSERT hr.Employee VALUES (3, N'Cid', 300, DEFAULT, DEFAULT);
WAITFOR DELAY '00:00:00.040';
DECLARE @hired DATETIME2 = SYSUTCDATETIME();
WAITFOR DELAY '00:00:00.040';
UPDATE hr.Employee SET Salary += 50 WHERE EmployeeId = 1;
DELETE hr.Employee WHERE EmployeeId = 2;
WAITFOR DELAY '00:00:00.040';
DECLARE @raised DATETIME2 = SYSUTCDATETIME();
WAITFOR DELAY '00:00:00.040';
BEGIN TRANSACTION;
UPDATE hr.Employee SET Salary = 1 WHERE EmployeeId = 3;
UPDATE hr.Employee SET Salary = 2 WHERE EmployeeId = 3;
COMMIT;
BEGIN TRANSACTION;
DELETE hr.Employee;
ROLLBACK;

SELECT EmployeeId, Name, Salary, Yearly FROM hr.Employee FOR SYSTEM_TIME AS OF @hired ORDER BY EmployeeId;
SELECT e.EmployeeId, e.Salary, was.Salary AS before_it
FROM hr.Employee AS e
JOIN hr.Employee FOR SYSTEM_TIME AS OF @hired AS was ON was.EmployeeId = e.EmployeeId
WHERE was.Salary <> e.Salary ORDER BY e.EmployeeId;
SELECT EmployeeId, Salary, IIF(ValidTo = '9999-12-31 23:59:59.99', 'is', 'was') AS state
FROM hr.Employee FOR SYSTEM_TIME ALL ORDER BY EmployeeId, ValidFrom;
SELECT EmployeeId, Salary FROM hr.Employee FOR SYSTEM_TIME FROM @hired TO @raised ORDER BY EmployeeId, Salary;
SELECT EmployeeId, Salary FROM hr.Employee FOR SYSTEM_TIME BETWEEN @raised AND '9999-12-31' ORDER BY EmployeeId, Salary;
SELECT EmployeeId, Salary FROM hr.Employee FOR SYSTEM_TIME CONTAINED IN ('2000-01-01', @raised) ORDER BY EmployeeId;
-- The version that lasted no time is in the history table only.
SELECT EmployeeId, Salary FROM hr.EmployeeHistory WHERE ValidFrom = ValidTo;
UPDATE e SET Salary = was.Salary
FROM hr.Employee e JOIN hr.Employee FOR SYSTEM_TIME AS OF @hired was ON was.EmployeeId = e.EmployeeId
WHERE e.EmployeeId = 3;
SELECT Salary FROM hr.Employee WHERE EmployeeId = 3;
GO
SELECT t.name, t.temporal_type_desc, OBJECT_NAME(t.history_table_id) AS history, p.start_column_id, p.end_column_id
FROM sys.tables t LEFT JOIN sys.periods p ON p.object_id = t.object_id ORDER BY t.name;
SELECT name, generated_always_type, generated_always_type_desc FROM sys.columns
WHERE object_id = OBJECT_ID('hr.Employee') AND generated_always_type > 0;
GO
INSERT hr.Employee VALUES (4, N'Dan', 1, '2020-01-01', '2021-01-01');
GO
INSERT hr.Employee (EmployeeId, Name, ValidFrom) SELECT 4, N'Dan', SYSUTCDATETIME();
GO
UPDATE hr.Employee SET ValidFrom = '2020-01-01';
GO
ALTER TABLE hr.Employee DROP COLUMN ValidTo;
GO
BEGIN TRY INSERT hr.EmployeeHistory SELECT * FROM hr.EmployeeHistory; END TRY BEGIN CATCH PRINT ERROR_MESSAGE(); END CATCH;
BEGIN TRY UPDATE hr.EmployeeHistory SET Salary = 0; END TRY BEGIN CATCH PRINT ERROR_MESSAGE(); END CATCH;
BEGIN TRY DELETE hr.EmployeeHistory; END TRY BEGIN CATCH PRINT ERROR_MESSAGE(); END CATCH;
BEGIN TRY TRUNCATE TABLE hr.Employee; END TRY BEGIN CATCH PRINT ERROR_MESSAGE(); END CATCH;
BEGIN TRY ALTER TABLE hr.Employee DROP PERIOD FOR SYSTEM_TIME; END TRY BEGIN CATCH PRINT ERROR_MESSAGE(); END CATCH;
GO
DROP TABLE hr.EmployeeHistory;
GO
-- Columns come, change and go in both tables.
ALTER TABLE hr.Employee ADD Room SMALLINT NOT NULL CONSTRAINT DF_Room DEFAULT 7, Note VARCHAR(10) NULL;
ALTER TABLE hr.Employee DROP CONSTRAINT DF_Room
ALTER TABLE hr.Employee ALTER COLUMN Room INT NOT NULL;
GO
UPDATE hr.Employee SET Room = 100000, Note = 'moved' WHERE EmployeeId = 1;
DELETE hr.Employee WHERE EmployeeId = 1;
SELECT Room, Note, Salary FROM hr.EmployeeHistory WHERE EmployeeId = 1 ORDER BY ValidTo, Room;
ALTER TABLE hr.Employee DROP COLUMN Note;
SELECT COUNT(*) FROM sys.columns WHERE object_id IN (OBJECT_ID('hr.Employee'), OBJECT_ID('hr.EmployeeHistory'));
GO
-- The way to clean a history, and to take everything away.
ALTER TABLE hr.Employee SET (SYSTEM_VERSIONING = OFF);
DELETE hr.EmployeeHistory WHERE EmployeeId < 3;
ALTER TABLE hr.Employee SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = hr.EmployeeHistory, DATA_CONSISTENCY_CHECK = ON));
SELECT DISTINCT EmployeeId FROM hr.Employee FOR SYSTEM_TIME ALL;
ALTER TABLE hr.Employee SET (SYSTEM_VERSIONING = OFF);
GO
SELECT EmployeeId FROM hr.Employee FOR SYSTEM_TIME ALL;
GO
ALTER TABLE hr.Employee SET (SYSTEM_VERSIONING = OFF);
GO
ALTER TABLE hr.Employee DROP PERIOD FOR SYSTEM_TIME;
UPDATE hr.Employee SET ValidFrom = '2020-01-01';
DROP TABLE hr.Employee;
DROP TABLE hr.EmployeeHistory;
GO
-- A table that is there becomes system-versioned; nobody who selects * sees it.
CREATE TABLE dbo.Account (Id INT IDENTITY PRIMARY KEY, Owner VARCHAR(20), Balance MONEY);
INSERT dbo.Account VALUES ('x', 5), ('y', 6);
GO
ALTER TABLE dbo.Account ADD
    SysStart DATETIME2(0) GENERATED ALWAYS AS ROW START HIDDEN NOT NULL
        CONSTRAINT DF_SysStart DEFAULT DATEADD(SECOND, -10, SYSUTCDATETIME()),
    SysEnd DATETIME2(0) GENERATED ALWAYS AS ROW END HIDDEN NOT NULL
        CONSTRAINT DF_SysEnd DEFAULT CONVERT(DATETIME2(0), '9999-12-31 23:59:59'),
    PERIOD FOR SYSTEM_TIME (SysStart, SysEnd);
GO
ALTER TABLE dbo.Account SET (SYSTEM_VERSIONING = ON);
GO
CREATE TRIGGER dbo.Account_u ON dbo.Account AFTER UPDATE AS
    INSERT INTO dbo.Account (Owner, Balance) SELECT 'was ' + Owner, Balance FROM deleted;
GO
UPDATE dbo.Account SET Balance += 1 WHERE Id = 1;
INSERT dbo.Account VALUES ('z', 7);
SELECT * FROM dbo.Account ORDER BY Id;
SELECT a.*, a.SysEnd FROM dbo.Account a WHERE Id = 1;
SELECT * FROM dbo.Account FOR SYSTEM_TIME ALL WHERE Id = 1 ORDER BY Balance;
ALTER TABLE dbo.Account ALTER COLUMN SysEnd DROP HIDDEN;
SELECT * FROM dbo.Account WHERE Id = 1;
SELECT COUNT(*) FROM sys.tables WHERE name LIKE 'mssql_temporalhistoryfor_[0-9]%' AND temporal_type = 1;
GO
DECLARE @t TABLE (a INT, b DATETIME2 GENERATED ALWAYS AS ROW START, c DATETIME2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (b, c));
GO
CREATE TABLE dbo.Without (a INT PRIMARY KEY, b DATETIME2 GENERATED ALWAYS AS ROW START NOT NULL);
GO
CREATE TABLE dbo.NoKey (a INT, b DATETIME2 GENERATED ALWAYS AS ROW START, c DATETIME2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (b, c))
    WITH (SYSTEM_VERSIONING = ON);
GO

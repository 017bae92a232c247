-- Logging: a module finds its own name, as it was written.
CREATE TABLE dbo.Log (Id int IDENTITY PRIMARY KEY, Source sysname NULL, Line int NULL)
GO
CREATE PROCEDURE dbo.WriteLog @Source sysname = NULL AS
SET NOCOUNT ON
SET @Source = COALESCE(@Source, OBJECT_NAME(@@PROCID))
INSERT dbo.Log (Source) VALUES (@Source)
GO
CREATE PROCEDURE dbo.LoadOrders AS
DECLARE @me sysname = QUOTENAME(OBJECT_SCHEMA_NAME(@@PROCID)) + '.' + QUOTENAME(OBJECT_NAME(@@PROCID))
EXEC dbo.WriteLog @me
EXEC dbo.WriteLog
EXEC ('PRINT ISNULL(OBJECT_NAME(@@PROCID), ''a string has no name'')')
INSERT dbo.Log (Source) SELECT Object_Name(@@ProcId)
GO
CREATE TRIGGER TR_Log ON dbo.Log FOR INSERT AS PRINT 'in ' + OBJECT_NAME(@@PROCID)
GO
CREATE FUNCTION dbo.Own() RETURNS bit AS BEGIN RETURN CASE WHEN @@PROCID = OBJECT_ID('dbo.Own') THEN 1 ELSE 0 END END
GO
EXEC dbo.LoadOrders
SELECT Id, Source, dbo.Own() own FROM dbo.Log ORDER BY Id
PRINT ISNULL(OBJECT_NAME(@@PROCID), 'a batch has no name')

-- SET IDENTITY_INSERT: values that are given push the identity on, never back.
SET NOCOUNT ON;
CREATE TABLE dbo.Dim (Id int IDENTITY(1,1) PRIMARY KEY, N nvarchar(10));
SET IDENTITY_INSERT dbo.Dim ON;
INSERT dbo.Dim (Id, N) VALUES (-1, N'unknown'), (0, N'none');
SET IDENTITY_INSERT dbo.Dim OFF;
INSERT dbo.Dim (N) VALUES (N'a'), (N'b');
SELECT Id, N FROM dbo.Dim ORDER BY Id;
GO
DELETE dbo.Dim WHERE Id > 0;
SET IDENTITY_INSERT dbo.Dim ON;
INSERT dbo.Dim (Id, N) VALUES (1, N'again');
SET IDENTITY_INSERT dbo.Dim OFF;
INSERT dbo.Dim (N) VALUES (N'c');
SELECT SCOPE_IDENTITY() AS three;
SET IDENTITY_INSERT dbo.Dim ON;
INSERT dbo.Dim (Id, N) VALUES (20, N'far');
SELECT @@IDENTITY AS twenty;
SET IDENTITY_INSERT dbo.Dim OFF;
INSERT dbo.Dim (N) VALUES (N'd');
SELECT IDENT_CURRENT('dbo.Dim') AS twenty_one;
GO
CREATE TABLE dbo.Down (Id int IDENTITY(-1,-1) PRIMARY KEY, N nvarchar(10));
INSERT dbo.Down DEFAULT VALUES;
SET IDENTITY_INSERT dbo.Down ON;
INSERT dbo.Down (Id) VALUES (-10), (5);
SET IDENTITY_INSERT dbo.Down OFF;
INSERT dbo.Down DEFAULT VALUES;
SELECT Id FROM dbo.Down ORDER BY Id;
GO
-- MERGE and INSERT … EXEC too.
CREATE TABLE dbo.Given (Id int, N nvarchar(10));
INSERT dbo.Given VALUES (3, N'below'), (7, N'seven');
CREATE TABLE dbo.Taken (Id int IDENTITY(5,1) PRIMARY KEY, N nvarchar(10));
GO
CREATE PROCEDURE dbo.Rows AS SELECT 12, N'twelve';
GO
SET IDENTITY_INSERT dbo.Taken ON;
MERGE dbo.Taken AS t USING dbo.Given AS g ON g.Id = t.Id
WHEN NOT MATCHED THEN INSERT (Id, N) VALUES (g.Id, g.N);
SET IDENTITY_INSERT dbo.Taken OFF;
INSERT dbo.Taken (N) VALUES (N'eight');
SET IDENTITY_INSERT dbo.Taken ON;
MERGE dbo.Taken AS t USING (VALUES (10, N'ten')) AS g (Id, N) ON g.Id = t.Id
WHEN NOT MATCHED THEN INSERT (Id, N) VALUES (g.Id, g.N) OUTPUT $action, inserted.Id;
SET IDENTITY_INSERT dbo.Taken OFF;
INSERT dbo.Taken (N) VALUES (N'eleven');
SET IDENTITY_INSERT dbo.Taken ON;
INSERT dbo.Taken (Id, N) EXEC dbo.Rows;
SET IDENTITY_INSERT dbo.Taken OFF;
INSERT dbo.Taken (N) VALUES (N'thirteen');
SELECT Id, N FROM dbo.Taken ORDER BY Id;
GO
-- In a transaction that an error would doom.
SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    TRUNCATE TABLE dbo.Dim;
    SET IDENTITY_INSERT dbo.Dim ON;
    INSERT dbo.Dim (Id, N) SELECT -1, N'unknown';
    SET IDENTITY_INSERT dbo.Dim OFF;
    INSERT dbo.Dim (N) VALUES (N'first');
    COMMIT;
    SELECT Id, N FROM dbo.Dim ORDER BY Id;
END TRY
BEGIN CATCH
    ROLLBACK;
    PRINT ERROR_MESSAGE();
END CATCH;
GO

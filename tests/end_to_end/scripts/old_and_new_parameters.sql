-- Parameters named @old, @new and @found, which PL/pgSQL takes for its own, are given by name to a procedure that is made later, or that
-- another script has made; and catalog views tell their names.
CREATE TABLE dbo.Change (Was NVARCHAR(20), Becomes NVARCHAR(20), Seen BIT, Note NVARCHAR(20));
GO
CREATE PROCEDURE dbo.Audited AS
    EXEC dbo.NoteChange @new = N'b', @OLD = N'a', @found = 1, @old_ = N'first';
    DECLARE @p SYSNAME = N'dbo.NoteChange';
    EXEC @p @old = N'c', @New = N'd', @found = 0;
    BEGIN TRY
        EXEC dbo.NoteChange @old = N'e', @newer = N'f';
    END TRY
    BEGIN CATCH
        PRINT ERROR_MESSAGE();
    END CATCH
    EXEC dbo.NoteChange @old = N'g';
GO
CREATE PROCEDURE dbo.NoteChange @old NVARCHAR(20), @new NVARCHAR(20), @found BIT = NULL, @old_ NVARCHAR(20) = N'none'
AS
    INSERT dbo.Change VALUES (@old, @new, @found, @old_);
GO
EXEC dbo.Audited;
EXEC sp_executesql N'EXEC dbo.NoteChange @old = @new, @new = @old, @old_ = N''dynamic''', N'@old NVARCHAR(20), @new NVARCHAR(20)', N'x', N'y';
SELECT * FROM dbo.Change;
SELECT name FROM sys.parameters WHERE object_id = OBJECT_ID('dbo.NoteChange') ORDER BY parameter_id;
GO

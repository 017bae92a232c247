-- Cursors that have a name and are assigned to variables.
CREATE TABLE dbo.Stop (no INT, name NVARCHAR(20));
INSERT dbo.Stop VALUES (1, N'quay'), (2, N'market'), (3, N'hill');
GO
DECLARE line CURSOR GLOBAL SCROLL FOR SELECT no, name FROM dbo.Stop ORDER BY no;
OPEN line;
GO
-- That of an earlier batch; the variable is one more name of it.
SET NOCOUNT ON;
DECLARE @l CURSOR, @no INT, @name NVARCHAR(20);
SET @l = line;
FETCH LAST FROM @l INTO @no, @name; PRINT @name;
DEALLOCATE @l;
FETCH PRIOR FROM line INTO @no, @name; PRINT @name;
DECLARE @again CURSOR;
SET @again = [LINE];
CLOSE @again;
DEALLOCATE line;
GO
DECLARE @l CURSOR;
PRINT 'before';
SET @l = line;
PRINT CONCAT('behind ', @@ERROR);
FETCH @l;
GO
DECLARE @l CURSOR;
BEGIN TRY SET @l = nobodys; END TRY BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_LINE(), ' ', ERROR_MESSAGE()); END CATCH;
GO
-- A procedure finds those of its callers.
CREATE PROCEDURE dbo.NextStop AS
DECLARE @l CURSOR, @name NVARCHAR(20);
SET @l = line;
FETCH NEXT FROM @l INTO @name;
PRINT ISNULL(@name, N'none');
GO
DECLARE line CURSOR GLOBAL FOR SELECT name FROM dbo.Stop ORDER BY no;
OPEN line;
EXEC dbo.NextStop;
EXEC dbo.NextStop;
DEALLOCATE GLOBAL line;
EXEC dbo.NextStop;
GO
-- Procedures that hand out what they have declared.
CREATE PROCEDURE dbo.LocalStops @c CURSOR VARYING OUTPUT AS
DECLARE mine CURSOR LOCAL SCROLL FOR SELECT name FROM dbo.Stop ORDER BY no;
SET @c = mine;
OPEN @c;
SELECT CURSOR_STATUS('local', 'mine') AS local_, CURSOR_STATUS('variable', '@c') AS variable_;
GO
CREATE PROCEDURE dbo.OpenedStops @c CURSOR VARYING OUTPUT AS
DECLARE mine CURSOR FOR SELECT name FROM dbo.Stop ORDER BY no DESC;
OPEN mine;
SET @c = mine;
DEALLOCATE mine;
FETCH mine;
GO
CREATE PROCEDURE dbo.NotHandedOut @skip BIT, @c CURSOR VARYING OUTPUT AS
DECLARE @name NVARCHAR(20), @turn INT = 0;
WHILE @turn < 2
BEGIN
    DECLARE mine CURSOR FOR SELECT name FROM dbo.Stop;
    OPEN mine;
    IF @skip = 0 SET @c = mine;
    FETCH mine INTO @name; PRINT @name;
    DEALLOCATE mine;
    SET @turn += 1;
END;
GO
DECLARE @got CURSOR, @name NVARCHAR(20);
EXEC dbo.LocalStops @got OUTPUT;
FETCH LAST FROM @got INTO @name; PRINT @name;
CLOSE @got; DEALLOCATE @got;
EXEC dbo.OpenedStops @got OUTPUT;
FETCH @got INTO @name; PRINT @name;
CLOSE @got; DEALLOCATE @got;
EXEC dbo.NotHandedOut 0, @got OUTPUT;
FETCH @got INTO @name; PRINT CONCAT('second: ', @name);
DEALLOCATE @got;
EXEC dbo.NotHandedOut 1, @got OUTPUT;
SELECT CURSOR_STATUS('variable', '@got') AS none_;
GO
DECLARE twice CURSOR LOCAL FOR SELECT 1;
DECLARE @c CURSOR;
EXEC dbo.LocalStops @c OUTPUT;
SET @c = twice;
DECLARE twice CURSOR LOCAL FOR SELECT 2;
OPEN @c;
FETCH twice;
GO

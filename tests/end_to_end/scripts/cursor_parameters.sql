-- Procedures that hand out cursors.
CREATE TABLE dbo.Item (id INT, name NVARCHAR(20));
INSERT dbo.Item VALUES (1, N'one'), (2, N'two'), (3, N'three');
GO
CREATE PROCEDURE dbo.ItemsFrom @from INT, @items CURSOR VARYING OUTPUT
AS
SET NOCOUNT ON;
SET @items = CURSOR FORWARD_ONLY STATIC FOR SELECT id, name FROM dbo.Item WHERE id >= @from ORDER BY id;
OPEN @items;
GO
CREATE PROCEDURE dbo.ItemsEitherWay @down BIT, @c CURSOR VARYING OUTPUT AS
IF @down = 1 SET @c = CURSOR SCROLL FOR SELECT id, name FROM dbo.Item ORDER BY id DESC;
ELSE SET @c = CURSOR SCROLL FOR SELECT id, name FROM dbo.Item ORDER BY id;
OPEN @c;
GO
CREATE PROC dbo.Unopened @c CURSOR VARYING OUT AS DECLARE here CURSOR GLOBAL FOR SELECT name FROM dbo.Item; SET @c = here;
GO
DECLARE @mine CURSOR, @id INT, @name NVARCHAR(20);
EXEC dbo.ItemsFrom @from = 2, @items = @mine OUTPUT;
FETCH NEXT FROM @mine INTO @id, @name;
WHILE (@@FETCH_STATUS = 0)
BEGIN
    PRINT CONCAT(@id, ' ', @name);
    FETCH NEXT FROM @mine INTO @id, @name;
END;
SELECT CURSOR_STATUS('variable', '@mine') AS open_, @@CURSOR_ROWS AS rows_;
CLOSE @mine;
DEALLOCATE @mine;
SELECT CURSOR_STATUS('variable', '@mine') AS gone;
EXEC dbo.ItemsEitherWay 1, @mine OUTPUT;
FETCH LAST FROM @mine INTO @id, @name; PRINT @name;
FETCH PRIOR FROM @mine;
DEALLOCATE @mine;
EXEC dbo.ItemsEitherWay 0, @mine OUTPUT;
FETCH FIRST FROM @mine INTO @id, @name; PRINT @name;
DEALLOCATE @mine;
EXEC dbo.Unopened @mine OUTPUT;
OPEN @mine;
FETCH @mine;
CLOSE here; DEALLOCATE here;
GO
CREATE PROCEDURE dbo.Outer_ @n INT AS
DECLARE @c CURSOR, @i INT, @t NVARCHAR(20);
EXEC dbo.ItemsFrom @n, @c OUTPUT;
WHILE 1 = 1
BEGIN
    FETCH NEXT FROM @c INTO @i, @t;
    IF @@FETCH_STATUS <> 0 BREAK;
    PRINT @t;
END;
DEALLOCATE @c;
GO
EXEC dbo.Outer_ 3;
GO
DECLARE @mine CURSOR, @name NVARCHAR(20), @p SYSNAME = N'dbo.ItemsFrom', @id INT;
EXEC @p 3, @mine OUTPUT;
FETCH NEXT FROM @mine INTO @id, @name; PRINT @name;
GO

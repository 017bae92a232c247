-- Cursors that dynamic SQL, an earlier batch or the caller has declared.
CREATE TABLE dbo.T (id INT, name NVARCHAR(20), at DATETIME);
INSERT dbo.T VALUES (1, N'one', '2026-01-01'), (2, N'two', '2026-02-01'), (3, NULL, NULL);
GO
DECLARE @table SYSNAME = N'dbo.T', @id INT, @name NVARCHAR(20), @at DATETIME;
EXEC ('DECLARE dyn CURSOR FOR SELECT id, name, at FROM ' + @table + ' ORDER BY id');
OPEN dyn;
FETCH NEXT FROM dyn INTO @id, @name, @at;
WHILE @@FETCH_STATUS = 0
BEGIN
    PRINT CONCAT(@id, ' ', @name, ' ', CONVERT(CHAR(10), @at, 120));
    FETCH NEXT FROM dyn INTO @id, @name, @at;
END
CLOSE dyn; DEALLOCATE dyn;
SELECT CURSOR_STATUS('global', 'dyn');
GO
DECLARE g CURSOR GLOBAL SCROLL STATIC FOR SELECT id FROM dbo.T ORDER BY id DESC;
OPEN g;
SELECT @@CURSOR_ROWS;
GO
DECLARE @i INT;
FETCH g INTO @i; PRINT @i;
FETCH LAST FROM g INTO @i; PRINT @i;
FETCH FIRST FROM g;
SELECT CURSOR_STATUS('global', 'g'), @@CURSOR_ROWS;
GO
CREATE PROCEDURE dbo.NextOne @v INT OUTPUT AS FETCH NEXT FROM g INTO @v;
GO
DECLARE @v INT; EXEC dbo.NextOne @v OUTPUT; PRINT @v;
IF CURSOR_STATUS('global', 'g') >= 0 CLOSE g;
DEALLOCATE g;
EXEC dbo.NextOne @v OUTPUT;
GO
DECLARE left_open CURSOR FOR SELECT name FROM dbo.T;
GO
DECLARE left_open CURSOR FOR SELECT name FROM dbo.T;
GO
OPEN left_open;
FETCH PRIOR FROM left_open;
GO
DECLARE @a INT, @b INT;
FETCH left_open INTO @a, @b;
DEALLOCATE left_open;
DEALLOCATE left_open;
GO
DECLARE @sql NVARCHAR(MAX) = N'DECLARE late CURSOR FAST_FORWARD FOR SELECT id FROM ' + QUOTENAME('dbo') + N'.' + QUOTENAME('T') + N' WHERE id > @low; OPEN late';
EXEC sp_executesql @sql, N'@low INT', @low = 1;
DECLARE @id INT;
FETCH NEXT FROM late INTO @id;
WHILE @@FETCH_STATUS <> -1
BEGIN
    IF @@FETCH_STATUS <> -2 PRINT @id;
    FETCH NEXT FROM late INTO @id;
END
CLOSE late
DEALLOCATE late
GO
-- A LOCAL and a GLOBAL cursor of one name are two.
CREATE PROCEDURE dbo.TwoOfOneName AS
DECLARE both CURSOR LOCAL FOR SELECT id FROM dbo.T WHERE id = 2;
DECLARE @v INT;
OPEN both;
FETCH NEXT FROM GLOBAL both INTO @v; PRINT CONCAT('global ', @v);
FETCH NEXT FROM both INTO @v; PRINT CONCAT('local ', @v);
SELECT CURSOR_STATUS('local', 'both'), CURSOR_STATUS('global', 'both');
DEALLOCATE both;
FETCH NEXT FROM GLOBAL both INTO @v; PRINT CONCAT('global ', @v);
CLOSE GLOBAL both;
SELECT CURSOR_STATUS('local', 'both'), CURSOR_STATUS('global', 'both');
GO
DECLARE both CURSOR GLOBAL FOR SELECT id FROM dbo.T ORDER BY id DESC;
OPEN both;
EXEC dbo.TwoOfOneName;
DEALLOCATE GLOBAL both;
DECLARE both CURSOR FOR SELECT id FROM dbo.T WHERE id = 1;
DECLARE both CURSOR LOCAL FOR SELECT id FROM dbo.T WHERE id = 3;
DECLARE @v INT;
OPEN GLOBAL both;
OPEN both;
FETCH GLOBAL both INTO @v; PRINT @v;
FETCH both INTO @v; PRINT @v;
DEALLOCATE GLOBAL both;
SELECT CURSOR_STATUS('local', 'both'), CURSOR_STATUS('global', 'both');
GO

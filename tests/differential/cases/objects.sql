-- Cursors, temporary tables, functions and strings; see reference.sql.
--
-- case: a static cursor: its rows are those of OPEN, and ROLLBACK leaves it alone
-- page: DECLARE CURSOR; FETCH; ROLLBACK TRANSACTION, the effect on cursors
DECLARE @a int;
DECLARE @b int;
INSERT INTO dbo.t2 (id, n) VALUES (1, 10), (2, 20), (3, 30);
DECLARE cur1 CURSOR LOCAL STATIC FOR SELECT id, n FROM dbo.t2 ORDER BY id;
OPEN cur1;
FETCH NEXT FROM cur1 INTO @a, @b;
WHILE @@FETCH_STATUS = 0
BEGIN
    BEGIN TRANSACTION;
    DELETE FROM dbo.t2;
    PRINT CONCAT(@a, N' ', @b);
    ROLLBACK TRANSACTION;
    FETCH NEXT FROM cur1 INTO @a, @b;
END;
PRINT CONCAT(N'end ', @@FETCH_STATUS, N' ', @a);
FETCH FIRST FROM cur1 INTO @a, @b;
PRINT @a;
FETCH LAST FROM cur1 INTO @a, @b;
PRINT @a;
FETCH PRIOR FROM cur1 INTO @a, @b;
PRINT @a;
CLOSE cur1;
DEALLOCATE cur1;
-- expect
-- batch 1
--   print 1 10
--   print 2 20
--   print 3 30
--   print end -1 3
--   print 1
--   print 3
--   print 2
-- table t2: (1, 10, NULL) (2, 20, NULL) (3, 30, NULL)
--
-- case: cursor statements out of place end only themselves
-- page: errors 16000-17999 (16905, 16915, 16916, 16917)
DECLARE @a int;
OPEN cur1;
PRINT @@ERROR;
DECLARE cur1 CURSOR LOCAL STATIC FOR SELECT id FROM dbo.t2 ORDER BY id;
FETCH NEXT FROM cur1 INTO @a;
DECLARE cur1 CURSOR LOCAL STATIC FOR SELECT id FROM dbo.t2 ORDER BY id;
OPEN cur1;
OPEN cur1;
CLOSE cur1;
CLOSE cur1;
BEGIN TRY
    DEALLOCATE cur1;
    DEALLOCATE cur1;
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE();
END CATCH;
-- expect
-- batch 1
--   error 16916 level 16 state 1 line 2: A cursor with the name 'cur1' does not exist.
--   print 16916
--   error 16917 level 16 state 1 line 5: Cursor is not open.
--   error 16915 level 16 state 1 line 6: A cursor with the name 'cur1' already exists.
--   error 16905 level 16 state 1 line 8: The cursor is already open.
--   error 16917 level 16 state 1 line 10: Cursor is not open.
--   print A cursor with the name 'cur1' does not exist.
--
-- case: a local cursor ends with its procedure, whatever ended that
-- page: DECLARE CURSOR, LOCAL
CREATE PROCEDURE dbo.p1
AS
    DECLARE cur1 CURSOR LOCAL STATIC FOR SELECT id FROM dbo.t2 ORDER BY id;
    OPEN cur1;
    THROW 50001, N'a', 1;
GO
BEGIN TRY
    EXEC dbo.p1;
END TRY
BEGIN CATCH
    PRINT ERROR_NUMBER();
END CATCH;
BEGIN TRY
    EXEC dbo.p1;
END TRY
BEGIN CATCH
    PRINT ERROR_NUMBER();
END CATCH;
OPEN cur1;
-- expect
-- batch 1
--   print 50001
--   print 50001
--   error 16916 level 16 state 1 line 13: A cursor with the name 'cur1' does not exist.
--
-- case: a temporary table is rolled back, and goes with its procedure
-- page: CREATE TABLE, temporary tables
CREATE PROCEDURE dbo.p1
AS
    CREATE TABLE #tmp_p1 (id int NOT NULL PRIMARY KEY, n int NULL);
    INSERT INTO #tmp_p1 (id, n) VALUES (1, 1);
    INSERT INTO #tmp_p1 (id, n) VALUES (1, 2);
    SELECT id AS c1, n AS c2 FROM #tmp_p1 ORDER BY id;
GO
EXEC dbo.p1;
EXEC dbo.p1;
BEGIN TRANSACTION;
CREATE TABLE #tmp_b (id int NOT NULL PRIMARY KEY, n int NULL);
INSERT INTO #tmp_b (id, n) VALUES (1, 1);
ROLLBACK TRANSACTION;
INSERT INTO #tmp_b (id, n) VALUES (2, 2);
PRINT N'never';
GO
CREATE TABLE #tmp_c (id int NOT NULL PRIMARY KEY, n int NULL);
GO
INSERT INTO #tmp_c (id, n) VALUES (3, 3);
SELECT id AS c1 FROM #tmp_c ORDER BY id;
DROP TABLE #tmp_c;
DROP TABLE #tmp_c;
PRINT @@ERROR;
-- expect
-- batch 1
--   error 2627 level 14 state 1 p1 line 5
--   print The statement has been terminated.
--   rows (1, 1)
--   error 2627 level 14 state 1 p1 line 5
--   print The statement has been terminated.
--   rows (1, 1)
--   error 208 level 16 state 0 line 7
-- batch 2
-- batch 3
--   rows (3)
--   error 3701 level 11 state 5 line 4: Cannot drop the table '#tmp_c', because it does not exist or you do not have permission.
--   print 3701
--
-- case: a trigger runs with its statement and undoes it with its error
-- page: CREATE TRIGGER; SET XACT_ABORT: ON is the default in a trigger
CREATE TRIGGER dbo.tr1 ON dbo.t1 AFTER INSERT
AS
    SET NOCOUNT ON;
    DECLARE @c int = (SELECT COUNT(*) FROM inserted);
    PRINT CONCAT(N'rows ', @c);
    INSERT INTO dbo.t2 (id, n, w) SELECT id, v, s FROM inserted;
    IF EXISTS (SELECT * FROM inserted WHERE v > 50)
        RAISERROR (N'large', 16, 1);
    PRINT N'end of trigger';
GO
INSERT INTO dbo.t1 (id, v, s) VALUES (1, 1, N'a'), (2, 2, N'b');
PRINT @@ROWCOUNT;
INSERT INTO dbo.t1 (id, v, s) VALUES (3, 60, N'c');
BEGIN TRANSACTION;
BEGIN TRY
    INSERT INTO dbo.t1 (id, v, s) VALUES (4, NULL, N'd');
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), N' ', ERROR_PROCEDURE(), N' ', ERROR_LINE(), N' ', XACT_STATE());
    ROLLBACK TRANSACTION;
END CATCH;
BEGIN TRANSACTION;
INSERT INTO dbo.t1 (id, v, s) VALUES (5, NULL, N'e');
PRINT N'never';
GO
PRINT @@TRANCOUNT;
-- expect
-- batch 1
--   print rows 2
--   print end of trigger
--   print 2
--   print rows 1
--   error 50000 level 16 state 1 tr1 line 8: large
--   print end of trigger
--   print rows 1
--   print 515 tr1 6 -1
--   print rows 1
--   error 515 level 16 state 2 tr1 line 6
--   print The statement has been terminated.
-- batch 2
--   print 0
-- table t1: (1, 1, 'a') (2, 2, 'b') (3, 60, 'c')
-- table t2: (1, 1, 'a') (2, 2, 'b') (3, 60, 'c')
--
-- case: an error in a function ends the statement that called it
-- page: CREATE FUNCTION; TRY...CATCH
CREATE FUNCTION dbo.f1 (@x int)
RETURNS int
AS
BEGIN
    DECLARE @r int = 0;
    WHILE @r < 3
        SET @r = @r + 1;
    IF @x = 9
        RETURN NULL;
    RETURN 12 / @x + @r;
END
GO
DECLARE @a int = 1;
SET @a = dbo.f1(2);
PRINT @a;
SET @a = dbo.f1(0);
PRINT CONCAT(@@ERROR, N' ', @a);
INSERT INTO dbo.t2 (id, n) VALUES (1, dbo.f1(1)), (2, dbo.f1(0));
BEGIN TRY
    PRINT ISNULL(dbo.f1(9), -5);
    SET @a = dbo.f1(@a - @a);
END TRY
BEGIN CATCH
    PRINT ERROR_NUMBER();
END CATCH;
-- expect
-- batch 1
--   print 9
--   error 8134 level 16 state 1 anywhere: Divide by zero error encountered.
--   print 8134 9
--   error 8134 level 16 state 1 anywhere: Divide by zero error encountered.
--   print The statement has been terminated.
--   print -5
--   print 8134
--
-- case: a procedure that was never called has not rolled back
-- page: EXECUTE; ROLLBACK TRANSACTION
CREATE PROCEDURE dbo.p2
    @out int = NULL OUTPUT
AS
    ROLLBACK TRANSACTION;
GO
CREATE PROCEDURE dbo.p1
    @p int
AS
    DECLARE @a int = 2;
    EXEC dbo.p2 @a OUTPUT, 1;
GO
BEGIN TRANSACTION;
EXEC dbo.p1 2;
GO
COMMIT TRANSACTION;
PRINT @@TRANCOUNT;
-- expect
-- batch 1
--   error 8144 level 16 state 2 p2 line 0
-- batch 2
--   print 0
--
-- case: calls may be nested 32 deep
-- page: CREATE PROCEDURE, limitations; errors 0-999 (217). decided: it ends the batch and rolls back
CREATE PROCEDURE dbo.p1
    @p int
AS
    DECLARE @next int = @p + 1;
    IF @p < 32
        EXEC dbo.p1 @next;
    ELSE
        PRINT CONCAT(N'depth ', @p);
GO
CREATE PROCEDURE dbo.p2
    @p int
AS
    DECLARE @next int = @p + 1;
    EXEC dbo.p2 @next;
GO
EXEC dbo.p1 1;
BEGIN TRANSACTION;
INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
EXEC dbo.p2 1;
PRINT N'never';
GO
PRINT @@TRANCOUNT;
BEGIN TRY
    EXEC dbo.p2 1;
END TRY
BEGIN CATCH
    PRINT ERROR_NUMBER();
END CATCH;
-- expect
-- batch 1
--   print depth 32
--   error 217 level 16 state 1 anywhere: Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).
-- batch 2
--   print 0
--   print 217
--
-- case: sp_executesql hands its OUTPUT parameters back at its normal end
-- page: sp_executesql; TRY...CATCH: lower level of execution
DECLARE @a int = 1;
DECLARE @b int = 2;
EXEC sp_executesql N'SET @y = @x + 40;
PRINT @y;
RETURN;
SET @y = 0;', N'@x int, @y int OUTPUT', @x = @b, @y = @a OUTPUT;
PRINT @a;
BEGIN TRY
    EXEC sp_executesql N'SET @y = 99;
INSERT INTO dbo.no_such_table (id) VALUES (1);', N'@y int OUTPUT', @y = @a OUTPUT;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), N' ', ERROR_LINE(), N' ', @a);
END CATCH;
-- expect
-- batch 1
--   print 42
--   print 42
--   print 208 2 42

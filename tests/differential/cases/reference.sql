-- Hand-derived from Microsoft's reference (MicrosoftDocs/sql-docs, docs/t-sql/…).
-- Each case names its page. "decided" marks what no page says; see README.md.
--
-- case: OFF, a failing statement undoes itself and the batch and its transaction go on
-- page: SET XACT_ABORT, first set of statements of the example
BEGIN TRANSACTION;
INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
INSERT INTO dbo.t2 (id, n) VALUES (1, 2);
PRINT CONCAT(@@ERROR, N' ', @@ROWCOUNT, N' ', @@TRANCOUNT);
INSERT INTO dbo.t2 (id, n) VALUES (3, 3);
COMMIT TRANSACTION;
-- expect
-- batch 1
--   error 2627 level 14 state 1 line 3
--   print The statement has been terminated.
--   print 2627 0 1
-- table t2: (1, 1, NULL) (3, 3, NULL)
--
-- case: a statement over several rows fails as a whole
-- page: SET XACT_ABORT, OFF: only the statement is rolled back
INSERT INTO dbo.t2 (id, n) VALUES (1, 1), (2, 2), (1, 3);
PRINT CONCAT(@@ERROR, N' ', @@ROWCOUNT);
-- expect
-- batch 1
--   error 2627 level 14 state 1 line 1
--   print The statement has been terminated.
--   print 2627 0
--
-- case: ON, the error ends the batch and the transaction; the next batch runs
-- page: SET XACT_ABORT, second set of statements of the example
SET XACT_ABORT ON;
BEGIN TRANSACTION;
INSERT INTO dbo.t2 (id, n) VALUES (4, 1);
INSERT INTO dbo.t2 (id, n) VALUES (5, NULL);
INSERT INTO dbo.t2 (id, n) VALUES (6, 1);
COMMIT TRANSACTION;
GO
PRINT CONCAT(N'next ', @@TRANCOUNT);
INSERT INTO dbo.t2 (id, n) VALUES (7, 1);
-- expect
-- batch 1
--   error 515 level 16 state 2 line 4
-- batch 2
--   print next 0
-- table t2: (7, 1, NULL)
--
-- case: OFF, a conversion error ends the batch and rolls back
-- page: SET XACT_ABORT: depending on the error the whole transaction goes even when OFF; TRY...CATCH
BEGIN TRANSACTION;
INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
DECLARE @a int = CAST(N'abc' AS int);
PRINT N'never';
GO
PRINT CONCAT(N'next ', @@TRANCOUNT);
-- expect
-- batch 1
--   error 245 level 16 state 1 line 3: Conversion failed when converting the nvarchar value 'abc' to data type int.
-- batch 2
--   print next 0
--
-- case: a conversion error in TRY dooms with XACT_ABORT OFF, division by zero does not
-- page: TRY...CATCH, Uncommittable Transactions
BEGIN TRANSACTION;
DECLARE @a int;
BEGIN TRY
    SET @a = 1 / 0;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), N' ', XACT_STATE(), N' ', ERROR_MESSAGE());
END CATCH;
BEGIN TRY
    SET @a = CAST(N'abc' AS int);
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), N' ', XACT_STATE());
END CATCH;
COMMIT TRANSACTION;
PRINT CONCAT(@@ERROR, N' ', @@TRANCOUNT);
ROLLBACK TRANSACTION;
PRINT CONCAT(@@ERROR, N' ', @@TRANCOUNT, N' ', XACT_STATE());
-- expect
-- batch 1
--   print 8134 1 Divide by zero error encountered.
--   print 245 -1
--   error 3930 level 16 state 1 line 15: The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.
--   print 3930 1
--   print 0 0 0
--
-- case: ON in TRY dooms: no write, no commit, no way back to a savepoint; reading is allowed
-- page: XACT_STATE; SAVE TRANSACTION, example; TRY...CATCH, example C
SET XACT_ABORT ON;
DECLARE @n int;
BEGIN TRANSACTION;
SAVE TRANSACTION sp1;
BEGIN TRY
    INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
    INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
END TRY
BEGIN CATCH
    SET XACT_ABORT OFF;
    PRINT CONCAT(ERROR_NUMBER(), N' ', XACT_STATE(), N' ', @@TRANCOUNT);
    SELECT @n = n FROM dbo.t2 WHERE id = 1;
    PRINT CONCAT(N'read ', @n);
    INSERT INTO dbo.t2 (id, n) VALUES (2, 2);
    PRINT CONCAT(@@ERROR, N' ', @@ROWCOUNT);
    COMMIT TRANSACTION;
    ROLLBACK TRANSACTION sp1;
    PRINT CONCAT(XACT_STATE(), N' ', @@TRANCOUNT);
    ROLLBACK TRANSACTION;
    INSERT INTO dbo.t2 (id, n) VALUES (3, 3);
END CATCH;
-- expect
-- batch 1
--   print 2627 -1 1
--   print read 1
--   error 3930 level 16 state 1 line 14: The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.
--   print 3930 0
--   error 3930 level 16 state 1 line 16: The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.
--   error 3931 level 16 state 1 line 17: The current transaction cannot be committed and cannot be rolled back to a savepoint. Roll back the entire transaction.
--   print -1 1
-- table t2: (3, 3, NULL)
--
-- case: a doomed transaction is rolled back when the batch ends
-- page: XACT_STATE: an error message tells that it was detected and rolled back
SET XACT_ABORT ON;
BEGIN TRANSACTION;
BEGIN TRY
    INSERT INTO dbo.t2 (id, n) VALUES (1, 1), (2, NULL);
END TRY
BEGIN CATCH
    PRINT CONCAT(N'caught ', @@ERROR, N' ', ERROR_STATE(), N' ', ERROR_SEVERITY());
END CATCH;
PRINT XACT_STATE();
GO
PRINT @@TRANCOUNT;
-- expect
-- batch 1
--   print caught 515 2 16
--   print -1
--   error 3998 level 16 state 1 line 1: Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.
-- batch 2
--   print 0
--
-- case: THROW without TRY ends the batch; with OFF the transaction stays open
-- page: THROW; SET XACT_ABORT: THROW honours it
BEGIN TRANSACTION;
INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
THROW 50001, N'enough', 7;
PRINT N'never';
GO
PRINT @@TRANCOUNT;
SET XACT_ABORT ON;
THROW 50002, N'more', 1;
GO
PRINT @@TRANCOUNT;
-- expect
-- batch 1
--   error 50001 level 16 state 7 line 3: enough
-- batch 2
--   print 1
--   error 50002 level 16 state 1 line 3: more
-- batch 3
--   print 0
--
-- case: RAISERROR ends nothing outside TRY, XACT_ABORT ON or not
-- page: RAISERROR: does not honour SET XACT_ABORT; @@ERROR is 0 for severities up to 10
SET XACT_ABORT ON;
BEGIN TRANSACTION;
RAISERROR (N'a %d %s', 16, 3, 5, N'b');
PRINT CONCAT(@@ERROR, N' ', @@TRANCOUNT);
RAISERROR (N'only a message', 10, 1);
PRINT CONCAT(@@ERROR, N' ', @@ROWCOUNT);
COMMIT TRANSACTION;
-- expect
-- batch 1
--   error 50000 level 16 state 3 line 3: a 5 b
--   print 50000 1
--   print only a message
--   print 0 0
--
-- case: RAISERROR from 11 on jumps to CATCH, below it does not
-- page: RAISERROR, Remarks
BEGIN TRY
    RAISERROR (N'low', 10, 1);
    PRINT N'still here';
    RAISERROR (N'high', 11, 9);
    PRINT N'never';
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_MESSAGE(), N' ', ERROR_NUMBER(), N' ', ERROR_SEVERITY(), N' ', ERROR_STATE(), N' ', ERROR_LINE());
END CATCH;
PRINT ISNULL(ERROR_NUMBER(), -1);
-- expect
-- batch 1
--   print low
--   print still here
--   print high 50000 11 9 4
--   print -1
--
-- case: RAISERROR in TRY with XACT_ABORT ON dooms
-- page: decided: that RAISERROR does not honour XACT_ABORT is said of going on outside TRY
SET XACT_ABORT ON;
BEGIN TRANSACTION;
BEGIN TRY
    RAISERROR (N'r', 16, 1);
END TRY
BEGIN CATCH
    PRINT XACT_STATE();
END CATCH;
ROLLBACK TRANSACTION;
-- expect
-- batch 1
--   print -1
--
-- case: the error of a called procedure goes to the caller's CATCH, with its own procedure and line
-- page: TRY...CATCH; ERROR_PROCEDURE; ERROR_LINE
CREATE PROCEDURE dbo.p1
AS
    INSERT INTO dbo.t2 (id, n) VALUES (1, 1);

    INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
    PRINT N'never';
GO
BEGIN TRY
    EXEC dbo.p1;
    PRINT N'never';
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), N' ', ERROR_PROCEDURE(), N' ', ERROR_LINE());
END CATCH;
-- expect
-- batch 1
--   print 2627 p1 5
-- table t2: (1, 1, NULL)
--
-- case: a procedure's own TRY handles; the caller goes on after EXEC
-- page: TRY...CATCH
CREATE PROCEDURE dbo.p1
AS
    BEGIN TRY
        THROW 50001, N'inner', 1;
    END TRY
    BEGIN CATCH
        PRINT CONCAT(N'p1 ', ERROR_MESSAGE());
    END CATCH;
GO
BEGIN TRY
    EXEC dbo.p1;
    PRINT N'after';
END TRY
BEGIN CATCH
    PRINT N'never';
END CATCH;
-- expect
-- batch 1
--   print p1 inner
--   print after
--
-- case: nested CATCH blocks each see their own error, a called procedure the nearest one
-- page: ERROR_LINE: "In nested CATCH blocks"; TRY...CATCH, Retrieving Error Information
CREATE PROCEDURE dbo.p1
AS
    PRINT CONCAT(N'p1 ', ERROR_NUMBER());
    BEGIN TRY
        THROW 50003, N'c', 1;
    END TRY
    BEGIN CATCH
        PRINT CONCAT(N'p1 ', ERROR_NUMBER());
    END CATCH;
    PRINT CONCAT(N'p1 ', ERROR_NUMBER());
GO
BEGIN TRY
    THROW 50001, N'a', 1;
END TRY
BEGIN CATCH
    PRINT ERROR_NUMBER();
    BEGIN TRY
        PRINT ERROR_NUMBER();
        THROW 50002, N'b', 1;
    END TRY
    BEGIN CATCH
        PRINT ERROR_NUMBER();
        EXEC dbo.p1;
    END CATCH;
    PRINT ERROR_NUMBER();
END CATCH;
PRINT CONCAT(N'outside ', ERROR_NUMBER());
-- expect
-- batch 1
--   print 50001
--   print 50001
--   print 50002
--   print p1 50002
--   print p1 50003
--   print p1 50002
--   print 50001
--   print outside 
--
-- case: an error in CATCH goes to the caller
-- page: TRY...CATCH: "If there is no nested TRY...CATCH construct, the error is passed back to the caller"
CREATE PROCEDURE dbo.p1
AS
    BEGIN TRY
        THROW 50001, N'a', 1;
    END TRY
    BEGIN CATCH
        RAISERROR (N'again', 14, 2);
        PRINT N'never in TRY of the caller';
    END CATCH;
GO
BEGIN TRY
    EXEC dbo.p1;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_MESSAGE(), N' ', ERROR_SEVERITY(), N' ', ERROR_LINE());
END CATCH;
EXEC dbo.p1;
-- expect
-- batch 1
--   print again 14 7
--   error 50000 level 14 state 2 p1 line 7: again
--   print never in TRY of the caller
--
-- case: THROW without arguments raises the caught error as it was
-- page: THROW, example B
CREATE PROCEDURE dbo.p1
AS
    BEGIN TRY
        INSERT INTO dbo.t2 (id, n) VALUES (1, NULL);
    END TRY
    BEGIN CATCH
        PRINT N'in catch';
        THROW;
        PRINT N'never';
    END CATCH;
GO
BEGIN TRY
    EXEC dbo.p1;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), N' ', ERROR_SEVERITY(), N' ', ERROR_STATE(), N' ', ERROR_PROCEDURE(), N' ', ERROR_LINE());
END CATCH;
EXEC dbo.p1;
PRINT N'never: THROW ended the batch';
-- expect
-- batch 1
--   print in catch
--   print 515 16 2 p1 4
--   print in catch
--   error 515 level 16 state 2 p1 line 4
--
-- case: 208 is not caught at its own level, but by the caller
-- page: TRY...CATCH, Errors Unaffected by a TRY...CATCH Construct
CREATE PROCEDURE dbo.p1
AS
    BEGIN TRY
        UPDATE dbo.t2 SET n = 5;
        INSERT INTO dbo.no_such_table (id) VALUES (1);
    END TRY
    BEGIN CATCH
        PRINT N'never';
    END CATCH;
    PRINT N'never either';
GO
BEGIN TRY
    EXEC dbo.p1;
END TRY
BEGIN CATCH
    PRINT CONCAT(N'caught ', ERROR_NUMBER(), N' ', ERROR_LINE());
END CATCH;
EXEC dbo.p1;
PRINT CONCAT(N'goes on ', @@ERROR);
BEGIN TRY
    INSERT INTO dbo.no_such_table (id) VALUES (1);
END TRY
BEGIN CATCH
    PRINT N'never';
END CATCH;
PRINT N'never';
GO
PRINT N'next';
-- expect
-- batch 1
--   print caught 208 5
--   error 208 level 16 state 1 p1 line 5
--   print goes on 208
--   error 208 level 16 state 1 line 10
-- batch 2
--   print next
--
-- case: a missing procedure fails the EXEC
-- page: EXECUTE; errors 2000-2999 (2812). decided: an error of the EXEC statement, caught by TRY
EXEC dbo.no_such_procedure;
PRINT @@ERROR;
BEGIN TRY
    EXEC dbo.no_such_procedure;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_MESSAGE(), ERROR_LINE());
END CATCH;
-- expect
-- batch 1
--   error 2812 level 16 state 62 line 1: Could not find stored procedure 'dbo.no_such_procedure'.
--   print 2812
--   print Could not find stored procedure 'dbo.no_such_procedure'.4
--
-- case: @@TRANCOUNT counts up and down, ROLLBACK goes to zero
-- page: @@TRANCOUNT, examples A and B
PRINT @@TRANCOUNT;
BEGIN TRANSACTION;
PRINT @@TRANCOUNT;
BEGIN TRANSACTION;
PRINT @@TRANCOUNT;
COMMIT TRANSACTION;
PRINT @@TRANCOUNT;
COMMIT TRANSACTION;
PRINT @@TRANCOUNT;
BEGIN TRANSACTION;
BEGIN TRANSACTION;
PRINT @@TRANCOUNT;
ROLLBACK TRANSACTION;
PRINT @@TRANCOUNT;
COMMIT TRANSACTION;
PRINT @@ERROR;
ROLLBACK TRANSACTION;
PRINT @@ERROR;
-- expect
-- batch 1
--   print 0
--   print 1
--   print 2
--   print 1
--   print 0
--   print 2
--   print 0
--   error 3902 level 16 state 1 line 15: The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.
--   print 3902
--   error 3903 level 16 state 1 line 17: The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.
--   print 3903
--
-- case: an inner COMMIT makes nothing permanent
-- page: COMMIT TRANSACTION, Remarks; ROLLBACK TRANSACTION, General Remarks
BEGIN TRANSACTION;
INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
BEGIN TRANSACTION;
INSERT INTO dbo.t2 (id, n) VALUES (2, 2);
COMMIT TRANSACTION;
ROLLBACK TRANSACTION;
-- expect
-- batch 1
--
-- case: variables and table variables keep their values over ROLLBACK
-- page: ROLLBACK TRANSACTION: local variables and table variables are not erased
DECLARE @a int = 1;
DECLARE @t TABLE (id int NOT NULL PRIMARY KEY, n int NULL);
BEGIN TRANSACTION;
SET @a = 2;
INSERT INTO @t (id, n) VALUES (1, 1), (2, 2);
INSERT INTO @t (id, n) VALUES (2, 2);
INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
ROLLBACK TRANSACTION;
PRINT @a;
SELECT id AS c1, n AS c2 FROM @t ORDER BY id;
-- expect
-- batch 1
--   error 2627 level 14 state 1 line 6
--   print The statement has been terminated.
--   print 2
--   rows (1, 1) (2, 2)
--
-- case: savepoints: the most recent of a name, again and again, without touching @@TRANCOUNT
-- page: SAVE TRANSACTION; ROLLBACK TRANSACTION, General Remarks
BEGIN TRANSACTION;
INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
SAVE TRANSACTION sp1;
INSERT INTO dbo.t2 (id, n) VALUES (2, 2);
SAVE TRANSACTION sp1;
INSERT INTO dbo.t2 (id, n) VALUES (3, 3);
ROLLBACK TRANSACTION sp1;
PRINT @@TRANCOUNT;
INSERT INTO dbo.t2 (id, n) VALUES (4, 4);
ROLLBACK TRANSACTION sp1;
COMMIT TRANSACTION;
-- expect
-- batch 1
--   print 1
-- table t2: (1, 1, NULL) (2, 2, NULL)
--
-- case: a later savepoint is gone after going back before it
-- page: ROLLBACK TRANSACTION; errors 6000-6999 (6401)
BEGIN TRANSACTION;
SAVE TRANSACTION sp1;
SAVE TRANSACTION sp2;
INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
ROLLBACK TRANSACTION sp1;
ROLLBACK TRANSACTION sp2;
INSERT INTO dbo.t2 (id, n) VALUES (2, 1);
COMMIT TRANSACTION;
-- expect
-- batch 1
--   error 6401 level 16 state 1 line 6: Cannot roll back sp2. No transaction or savepoint of that name was found.
-- table t2: (2, 1, NULL)
--
-- case: only the outermost transaction's name can be rolled back to
-- page: BEGIN TRANSACTION, General Remarks; ROLLBACK TRANSACTION, transaction_name
BEGIN TRANSACTION tran1;
INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
BEGIN TRANSACTION tran2;
ROLLBACK TRANSACTION tran2;
PRINT CONCAT(@@ERROR, N' ', @@TRANCOUNT);
ROLLBACK TRANSACTION tran1;
PRINT CONCAT(@@ERROR, N' ', @@TRANCOUNT);
-- expect
-- batch 1
--   error 6401 level 16 state 1 line 4: Cannot roll back tran2. No transaction or savepoint of that name was found.
--   print 6401 2
--   print 0 0
--
-- case: ROLLBACK in a called procedure: 266, and the caller goes on without a transaction
-- page: ROLLBACK TRANSACTION, Interoperability; errors 0-999 (266)
CREATE PROCEDURE dbo.p1
AS
    INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
    ROLLBACK TRANSACTION;
    INSERT INTO dbo.t2 (id, n) VALUES (2, 2);
GO
BEGIN TRANSACTION;
EXEC dbo.p1;
PRINT CONCAT(@@ERROR, N' ', @@TRANCOUNT);
COMMIT TRANSACTION;
-- expect
-- batch 1
--   error 266 level 16 state 2 p1 line 0: Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = 1, current count = 0.
--   print 266 0
--   error 3902 level 16 state 1 line 4: The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.
-- table t2: (2, 2, NULL)
--
-- case: BEGIN in a called procedure: 266, and the transaction is the caller's
-- page: errors 0-999 (266)
CREATE PROCEDURE dbo.p1
    @out int OUTPUT
AS
    BEGIN TRANSACTION;
    SET @out = 5;
    RETURN 3;
GO
DECLARE @o int;
DECLARE @rc int = 9;
BEGIN TRY
    EXEC @rc = dbo.p1 @o OUTPUT;
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), N' ', ERROR_PROCEDURE(), N' ', ERROR_LINE(), N' ', ERROR_STATE());
END CATCH;
PRINT CONCAT(@o, N' ', @rc, N' ', @@TRANCOUNT);
ROLLBACK TRANSACTION;
-- expect
-- batch 1
--   print 266 p1 0 2
--   print 5 3 1
--
-- case: OUTPUT and return status stay as they were when an error leaves the procedure
-- page: EXECUTE; TRY...CATCH. decided: values are handed back at the normal end only
CREATE PROCEDURE dbo.p1
    @out int OUTPUT
AS
    SET @out = 5;
    THROW 50001, N'a', 1;
    RETURN 3;
GO
DECLARE @o int = 1;
DECLARE @rc int = 9;
BEGIN TRY
    EXEC @rc = dbo.p1 @o OUTPUT;
END TRY
BEGIN CATCH
    PRINT CONCAT(@o, N' ', @rc);
END CATCH;
-- expect
-- batch 1
--   print 1 9
--
-- case: SET options of a procedure end with it
-- page: SET Statements: options set in a procedure are restored when it returns
CREATE PROCEDURE dbo.p1
AS
    SET XACT_ABORT ON;
GO
BEGIN TRANSACTION;
EXEC dbo.p1;
INSERT INTO dbo.t2 (id, n) VALUES (1, NULL);
PRINT CONCAT(@@ERROR, N' ', @@TRANCOUNT);
ROLLBACK TRANSACTION;
-- expect
-- batch 1
--   error 515 level 16 state 2 line 3
--   print The statement has been terminated.
--   print 515 1
--
-- case: SET options of the caller hold in the procedure, and over batches
-- page: SET Statements
CREATE PROCEDURE dbo.p1
AS
    INSERT INTO dbo.t1 (id, v, s) VALUES (1, 100, N'a');
    PRINT N'never';
GO
SET XACT_ABORT ON;
GO
BEGIN TRANSACTION;
EXEC dbo.p1;
PRINT N'never';
GO
PRINT @@TRANCOUNT;
-- expect
-- batch 1
-- batch 2
--   error 547 level 16 state 0 p1 line 3
-- batch 3
--   print 0
--
-- case: @@ERROR and @@ROWCOUNT are set by every statement, IF included
-- page: @@ERROR; @@ROWCOUNT
DECLARE @a int;
INSERT INTO dbo.t2 (id, n) VALUES (1, 1), (2, 2);
PRINT @@ROWCOUNT;
PRINT @@ROWCOUNT;
SET @a = 5;
PRINT @@ROWCOUNT;
SELECT @a = n FROM dbo.t2 WHERE id = 9;
PRINT CONCAT(@@ROWCOUNT, N' ', @a);
UPDATE dbo.t2 SET n = n + 1;
IF @@ROWCOUNT = 2
    PRINT CONCAT(N'in IF ', @@ROWCOUNT);
INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
IF @@ERROR <> 0
    PRINT CONCAT(N'in IF ', @@ERROR);
DELETE FROM dbo.t2 WHERE id = 1;
SELECT @a = @@ROWCOUNT;
PRINT @a;
-- expect
-- batch 1
--   print 2
--   print 0
--   print 1
--   print 0 5
--   print in IF 0
--   error 2627 level 14 state 1 line 12
--   print The statement has been terminated.
--   print in IF 0
--   print 1
-- table t2: (2, 3, NULL)
--
-- case: EXEC keeps @@ROWCOUNT and @@ERROR of the procedure's last statement
-- page: @@ROWCOUNT: EXECUTE preserves the previous value
CREATE PROCEDURE dbo.p1
AS
    INSERT INTO dbo.t2 (id, n) VALUES (1, 1), (2, 2);
GO
EXEC dbo.p1;
PRINT CONCAT(@@ERROR, N' ', @@ROWCOUNT);
EXEC dbo.p1;
PRINT CONCAT(@@ERROR, N' ', @@ROWCOUNT);
-- expect
-- batch 1
--   print 0 2
--   error 2627 level 14 state 1 p1 line 3
--   print The statement has been terminated.
--   print 2627 0
-- table t2: (1, 1, NULL) (2, 2, NULL)
--
-- case: BREAK, CONTINUE, RETURN and GOTO leave TRY and CATCH
-- page: TRY...CATCH: GOTO; WHILE; BREAK; CONTINUE; RETURN
CREATE PROCEDURE dbo.p1
    @p int
AS
    BEGIN TRY
        IF @p = 1
            RETURN 11;
        THROW 50001, N'a', 1;
    END TRY
    BEGIN CATCH
        RETURN 12;
    END CATCH;
GO
DECLARE @i int = 0;
DECLARE @rc int;
WHILE @i < 5
BEGIN
    SET @i = @i + 1;
    BEGIN TRY
        IF @i = 1
            CONTINUE;
        IF @i = 2
            THROW 50002, N'b', 1;
        IF @i = 4
            BREAK;
        PRINT CONCAT(N'try ', @i);
    END TRY
    BEGIN CATCH
        PRINT CONCAT(N'catch ', @i);
        CONTINUE;
    END CATCH;
    PRINT CONCAT(N'end ', @i);
END;
EXEC @rc = dbo.p1 1;
PRINT @rc;
EXEC @rc = dbo.p1 2;
PRINT @rc;
BEGIN TRY
    THROW 50003, N'c', 1;
END TRY
BEGIN CATCH
    IF ERROR_NUMBER() = 50003
        GOTO done;
    PRINT N'never';
END CATCH;
PRINT N'never';
done:
PRINT CONCAT(N'done ', ERROR_NUMBER());
-- expect
-- batch 1
--   print catch 2
--   print try 3
--   print end 3
--   print 11
--   print 12
--   print done 
--
-- case: a DECLARE in a loop does not reset, its initialiser runs each time
-- page: DECLARE @local_variable: the scope is the batch
DECLARE @i int = 0;
WHILE @i < 2
BEGIN
    SET @i = @i + 1;
    DECLARE @a int;
    DECLARE @b int = 1;
    SET @a = ISNULL(@a, 0) + 1;
    SET @b = @b + 1;
    PRINT CONCAT(@a, N' ', @b);
END;
-- expect
-- batch 1
--   print 1 2
--   print 2 2
--
-- case: GOTO backwards and into a loop
-- page: GOTO
DECLARE @i int = 0;
again:
SET @i = @i + 1;
PRINT @i;
IF @i < 3
    GOTO again;
GOTO inside;
WHILE @i < 6
BEGIN
    PRINT N'top';
    inside:
    SET @i = @i + 1;
    PRINT CONCAT(N'in ', @i);
END;
-- expect
-- batch 1
--   print 1
--   print 2
--   print 3
--   print in 4
--   print top
--   print in 5
--   print top
--   print in 6
--
-- case: a doomed transaction stays doomed through calls; the caller must roll back
-- page: XACT_STATE; TRY...CATCH
CREATE PROCEDURE dbo.p1
AS
    DECLARE @a int;
    BEGIN TRY
        SET @a = CAST(N'x' AS int);
    END TRY
    BEGIN CATCH
        PRINT N'p1 caught';
    END CATCH;
GO
BEGIN TRY
    BEGIN TRANSACTION;
    EXEC dbo.p1;
    PRINT XACT_STATE();
    COMMIT TRANSACTION;
    PRINT N'never';
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), N' ', ERROR_LINE(), N' ', @@TRANCOUNT);
END CATCH;
-- expect
-- batch 1
--   print p1 caught
--   print -1
--   print 3930 5 1
--   error 3998 level 16 state 1 line 1: Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.
--
-- case: THROW out of CATCH with a doomed transaction
-- page: THROW; XACT_STATE. decided: with OFF the batch ends and 3998 follows
BEGIN TRANSACTION;
BEGIN TRY
    DECLARE @a int = CAST(N'x' AS int);
END TRY
BEGIN CATCH
    THROW;
END CATCH;
GO
PRINT @@TRANCOUNT;
-- expect
-- batch 1
--   error 245 level 16 state 1 line 3: Conversion failed when converting the nvarchar value 'x' to data type int.
--   error 3998 level 16 state 1 line 1: Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.
-- batch 2
--   print 0
--
-- case: a transaction open over batches
-- page: BEGIN TRANSACTION: it lasts until COMMIT or ROLLBACK
BEGIN TRANSACTION;
INSERT INTO dbo.t2 (id, n) VALUES (1, 1);
GO
PRINT @@TRANCOUNT;
INSERT INTO dbo.t2 (id, n) VALUES (2, 1);
GO
ROLLBACK TRANSACTION;
INSERT INTO dbo.t2 (id, n) VALUES (3, 1);
-- expect
-- batch 1
-- batch 2
--   print 1
-- batch 3
-- table t2: (3, 1, NULL)
--
-- case: SAVE TRANSACTION without a transaction
-- page: SAVE TRANSACTION; errors 0-999 (628). decided: it ends the batch
SAVE TRANSACTION sp1;
PRINT N'never';
GO
BEGIN TRY
    SAVE TRANSACTION sp1;
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE();
END CATCH;
-- expect
-- batch 1
--   error 628 level 16 state 0 line 1: Cannot issue SAVE TRANSACTION when there is no active transaction.
-- batch 2
--   print Cannot issue SAVE TRANSACTION when there is no active transaction.
--
-- case: parameters: by name, default, missing, too many
-- page: EXECUTE; errors 0-999 (201), 8000-8999 (8144)
CREATE PROCEDURE dbo.p1
    @p int,
    @q int = 7
AS
    PRINT CONCAT(@p, N' ', @q);
GO
EXEC dbo.p1 1;
EXEC dbo.p1 @q = 2, @p = 1;
EXEC dbo.p1 @q = 2;
PRINT @@ERROR;
EXEC dbo.p1 1, 2, 3;
PRINT @@ERROR;
-- expect
-- batch 1
--   print 1 7
--   print 1 2
--   error 201 level 16 state 4 p1 line 0
--   print 201
--   error 8144 level 16 state 2 p1 line 0
--   print 8144
--
-- case: EXEC of a string has a scope of its own
-- page: EXECUTE; TRY...CATCH: lower level of execution
SET XACT_ABORT OFF;
BEGIN TRY
    EXEC (N'PRINT N''in'';
INSERT INTO dbo.no_such_table (id) VALUES (1);
PRINT N''never'';');
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), N' ', ERROR_LINE(), N' ', ISNULL(ERROR_PROCEDURE(), N'none'));
END CATCH;
EXEC (N'SET XACT_ABORT ON; RETURN; PRINT N''never'';');
INSERT INTO dbo.t2 (id, n) VALUES (1, NULL);
PRINT N'XACT_ABORT is OFF again';
-- expect
-- batch 1
--   print in
--   print 208 2 none
--   error 515 level 16 state 2 line 11
--   print The statement has been terminated.
--   print XACT_ABORT is OFF again
--
-- case: text is cut in a variable and refused in a column
-- page: nchar and nvarchar; errors 2000-2999 (2628)
DECLARE @s nvarchar(3) = N'abcdef';
PRINT @s;
INSERT INTO dbo.t1 (id, v, s) VALUES (1, 1, N'longer than ten');
PRINT @@ERROR;
-- expect
-- batch 1
--   print abc
--   error 2628 level 16 state 1 line 3
--   print The statement has been terminated.
--   print 2628

-- a savepoint round each message, its name written out or in a variable
SET NOCOUNT ON
CREATE TABLE dbo.W (i int);
DECLARE @sp varchar(32), @n int; SET @sp = 'sp1';
BEGIN TRAN
INSERT dbo.W VALUES (1)
SAVE TRAN sp1
INSERT dbo.W VALUES (2)
ROLLBACK TRAN @sp
PRINT 'after ' + CAST(@@TRANCOUNT AS varchar(3)) + ' ' + CAST(@@ERROR AS varchar(9))
SET @sp = 'sp2'
SAVE TRAN @sp
INSERT dbo.W VALUES (3)
ROLLBACK TRAN sp2
SELECT @n = COUNT(*) FROM dbo.W; PRINT @n
SAVE TRAN @sp
INSERT dbo.W VALUES (4)
SET @sp = 'other'
ROLLBACK TRAN @sp
PRINT @@ERROR
ROLLBACK TRAN sp2
SELECT @n = COUNT(*) FROM dbo.W; PRINT @n
ROLLBACK TRAN SP1
SET @sp = 'sp1'
ROLLBACK TRAN @sp
SELECT @n = COUNT(*) FROM dbo.W; PRINT @n
COMMIT
GO
BEGIN TRAN Outer1
DECLARE @t nvarchar(40) = N'Outer1'
SAVE TRAN s
ROLLBACK TRAN @t
PRINT @@TRANCOUNT
GO
CREATE PROC dbo.Handle @i int AS
DECLARE @save varchar(32) = 'msg' + CAST(@i AS varchar(10)), @tc int = @@TRANCOUNT
IF @tc = 0 BEGIN TRAN ELSE SAVE TRAN @save
BEGIN TRY
  INSERT dbo.W VALUES (@i * 100)
  IF @i % 2 = 0 RAISERROR(N'even %d', 16, 1, @i)
  IF @tc = 0 COMMIT
END TRY
BEGIN CATCH
  PRINT ERROR_MESSAGE() + ' ' + CAST(XACT_STATE() AS varchar(2))
  IF @tc = 0 ROLLBACK ELSE IF XACT_STATE() <> -1 ROLLBACK TRAN @save
END CATCH
GO
BEGIN TRAN
EXEC dbo.Handle 1
EXEC dbo.Handle 2
EXEC dbo.Handle 3
COMMIT
EXEC dbo.Handle 4
SELECT i FROM dbo.W ORDER BY i
GO
DECLARE @s char(10) = 'x', @i int = 0
BEGIN TRAN
WHILE @i < 3 BEGIN
 SET @i += 1
 SET @s = 'x' + CAST(@i AS char(1))
 SAVE TRANSACTION @s
 INSERT dbo.W VALUES (@i + 1000)
 IF @i = 2 ROLLBACK TRANSACTION @s
END
COMMIT
SELECT i FROM dbo.W WHERE i > 1000

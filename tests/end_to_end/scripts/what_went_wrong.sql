-- Every kind of error through one CATCH block, with XACT_ABORT off and on.
CREATE TABLE Wrong (nr int IDENTITY, step int, number int, state int, doomed varchar(3), place sysname NULL)
CREATE TABLE Cup (id int PRIMARY KEY, mark varchar(3))
GO
CREATE PROCEDURE Note @step int, @state int AS
INSERT Wrong (step, number, state, doomed, place)
VALUES (@step, ERROR_NUMBER(), ERROR_STATE(), CASE @state WHEN -1 THEN 'yes' ELSE 'no' END, ERROR_PROCEDURE())
GO
CREATE PROCEDURE Try @step int AS
SET NOCOUNT ON
DECLARE @state int
IF @step >= 20 SET XACT_ABORT ON
BEGIN TRY
    BEGIN TRANSACTION
    INSERT Cup VALUES (@step, 'new')
    IF @step % 10 = 1 INSERT Cup VALUES (@step, 'two')
    IF @step % 10 = 2 UPDATE Cup SET mark = 'longer'
    IF @step % 10 = 3 SELECT CAST('x' AS int)
    IF @step % 10 = 4 EXEC NoSuchProcedure
    IF @step % 10 = 5 EXEC ('SELECT * FROM NoSuchTable')
    IF @step % 10 = 6 THROW 50005, N'thrown', 3
    IF @step % 10 = 7 RAISERROR('raised', 14, 2)
    IF @step % 10 = 8 SEND ON CONVERSATION '6F9619FF-8B86-D011-B42D-00C04FC964FF' ('x')
    COMMIT
END TRY
BEGIN CATCH
    SET @state = XACT_STATE()
    IF @state <> 0 ROLLBACK
    EXEC Note @step, @state
END CATCH
GO
DECLARE @step int = 11
WHILE @step < 29 BEGIN EXEC Try @step SET @step += CASE @step WHEN 18 THEN 3 ELSE 1 END END
SELECT step, number, state, doomed, place FROM Wrong ORDER BY nr
SELECT * FROM Cup
GO

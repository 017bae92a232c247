-- Errors of a temporary table's rows name it in tempdb, and spell its names as the CREATE TABLE of the script or the procedure does.
SET NOCOUNT ON
CREATE TABLE #Staged (RowNo INT CONSTRAINT PK_Staged PRIMARY KEY, Amount MONEY NOT NULL CONSTRAINT CK_Amount CHECK (Amount > 0), Code CHAR(2))
CREATE UNIQUE INDEX IX_Code ON #Staged (Code)
INSERT #Staged VALUES (1, 5, 'a')
GO
INSERT #staged VALUES (2, NULL, 'b')
INSERT #STAGED VALUES (1, 5, 'b')
INSERT #Staged VALUES (2, 5, 'a')
INSERT #Staged VALUES (2, -5, 'b')
UPDATE #Staged SET AMOUNT = NULL
GO
CREATE PROCEDURE dbo.Stage @no INT, @amount MONEY AS
CREATE TABLE #Local (LineNumber INT NOT NULL PRIMARY KEY, Amount MONEY NOT NULL CONSTRAINT CK_Local CHECK (Amount > 0))
SELECT 1 AS OtherNumber, 'x' AS OtherText INTO #Other
BEGIN TRY INSERT #local VALUES (@no, @amount) INSERT #local VALUES (2, 5) PRINT 'staged' END TRY
BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH
INSERT #local VALUES (@no, @amount)
GO
EXEC dbo.Stage 1, NULL
EXEC dbo.Stage 1, -5
EXEC dbo.Stage 1, 5
GO
DROP TABLE #Staged
DROP PROCEDURE dbo.Stage
GO
CREATE TABLE #Odd ([Ends.] INT NOT NULL)
BEGIN TRY INSERT #Odd VALUES (NULL) END TRY
BEGIN CATCH PRINT ISNULL(ERROR_MESSAGE(), 'no message') END CATCH

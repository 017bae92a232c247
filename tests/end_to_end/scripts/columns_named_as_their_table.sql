-- A column may have the name of its table, of an alias, or of what the compiled text calls something of its own.
SET NOCOUNT ON
CREATE TABLE Status (Id INT PRIMARY KEY, Status INT, Note VARCHAR(10))
CREATE TABLE Heap (Heap INT, Old INT, Deleted INT)
INSERT Status VALUES (1, 2, 'x'), (3, 4, 'y')
INSERT Heap VALUES (1, 10, 0), (2, 20, 0)
UPDATE Status SET Status = 5 OUTPUT inserted.Status, deleted.Status AS was, deleted.Note WHERE Id = 3
UPDATE s SET Status = s.Status + t.Status OUTPUT deleted.Status FROM Status AS s JOIN Status AS t ON t.Id = s.Id
UPDATE Heap SET Heap = Heap * 10 OUTPUT deleted.*, inserted.Heap AS now
MERGE Heap USING (VALUES (10, 7), (30, 9)) AS s (Heap, Old) ON Heap.Heap = s.Heap
WHEN MATCHED THEN UPDATE SET Old = s.Old
WHEN NOT MATCHED THEN INSERT VALUES (s.Heap, s.Old, 1)
WHEN NOT MATCHED BY SOURCE THEN DELETE
OUTPUT $action, deleted.Old, inserted.Old AS now, deleted.Heap;
GO
-- Tables that only the run time knows.
CREATE PROCEDURE Later AS
DECLARE @first INT, @second INT
DECLARE found CURSOR LOCAL FOR SELECT * FROM Made
OPEN found
FETCH found INTO @first, @second
PRINT CONCAT(@first, ' ', @second)
GO
SET NOCOUNT ON
EXEC ('CREATE TABLE Made (q INT, v INT); INSERT Made VALUES (1, 2)')
EXEC Later
EXEC ('CREATE TABLE Merged (Merged INT, Old INT); INSERT Merged VALUES (1, 2), (5, 6)')
EXEC ('MERGE Merged USING (VALUES (1, 5), (2, 9)) AS s (a, b) ON Merged.Merged = s.a
WHEN MATCHED THEN UPDATE SET Old = s.b
WHEN NOT MATCHED THEN INSERT VALUES (s.a, s.b)
WHEN NOT MATCHED BY SOURCE THEN DELETE
OUTPUT $action, deleted.*, inserted.*;')
GO
CREATE QUEUE Far
CREATE SERVICE [//Far] ON QUEUE Far ([DEFAULT])
DECLARE @h UNIQUEIDENTIFIER
BEGIN DIALOG @h FROM SERVICE [//Far] TO SERVICE '//Far' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'first')
WAITFOR (RECEIVE message_type_name AS m, CAST(message_body AS NVARCHAR(10)) AS body FROM Far), TIMEOUT 100

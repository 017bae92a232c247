-- A list that has the identity column of a table variable is 544, which goes to CATCH; without a list it is 8101.
CREATE TABLE Numbered (id INT IDENTITY, a INT, c AS a + 1);
CREATE TABLE Plain (a INT);
GO
CREATE PROCEDURE TwoNumbers AS SELECT 1 AS a, 2 AS b;
GO
DECLARE @t TABLE (id INT IDENTITY, a INT), @u TABLE (id INT IDENTITY(10, 10), a INT);
INSERT @t (a) VALUES (1);
INSERT @t (id, a) VALUES (7, 2);
INSERT @t (id, a) SELECT 8, 2;
INSERT @t (id, a) EXEC TwoNumbers;
INSERT @t (a) OUTPUT inserted.id, inserted.a INTO @u (id, a) VALUES (3);
UPDATE @t SET a = 5 OUTPUT deleted.id, 7 INTO @u (id, a);
INSERT Plain OUTPUT inserted.a, 5 INTO @u (id, a) VALUES (1);
INSERT @t (a) OUTPUT inserted.a INTO @u (a) VALUES (4);
BEGIN TRY
    INSERT @t (a, id) VALUES (1, 2);
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ' ', ERROR_MESSAGE());
END CATCH;
SELECT a FROM @t;
SELECT id, a FROM @u;
SELECT COUNT(*) AS none FROM Plain;
GO
INSERT Numbered VALUES (1, 2);
GO
INSERT INTO dbo.Numbered SELECT 1, 2;
GO
INSERT Numbered VALUES (1, 2, 3);
GO
INSERT Numbered SELECT 1, 2, 3;
GO
DECLARE @t TABLE (id INT IDENTITY, a INT);
INSERT @t VALUES (1, 2), (2, 3);
GO
MERGE Numbered AS t USING (SELECT 1 AS a) AS s ON s.a = t.a WHEN NOT MATCHED THEN INSERT VALUES (4, 5);
GO
INSERT Numbered VALUES (6);
SELECT * FROM Numbered;
GO

-- The identity of a table variable is SCOPE_IDENTITY() and @@IDENTITY as a table's is; @ and @@ are names of variables.
SET NOCOUNT ON
CREATE TABLE Orders (id INT IDENTITY(100, 1), a INT)
GO
DECLARE @lines TABLE (id INT IDENTITY(5, 5), a INT), @plain TABLE (a INT)
INSERT Orders (a) VALUES (1)
INSERT @plain (a) VALUES (1)
SELECT SCOPE_IDENTITY() AS hundred, @@IDENTITY AS hundred
INSERT @lines (a) VALUES (1), (2)
SELECT SCOPE_IDENTITY() AS ten, @@IDENTITY AS ten
INSERT @lines (a) SELECT a FROM Orders WHERE a = 7
UPDATE @lines SET a = 3
SELECT SCOPE_IDENTITY() AS ten, @@IDENTITY AS ten
INSERT @lines (a) EXEC ('SELECT 4')
SELECT SCOPE_IDENTITY() AS fifteen, @@IDENTITY AS fifteen
INSERT Orders (a) VALUES (2)
SELECT SCOPE_IDENTITY() AS h_one, @@IDENTITY AS h_one
GO
CREATE PROCEDURE Counts AS
DECLARE @lines TABLE (id INT IDENTITY(50, 5), a INT)
INSERT @lines (a) VALUES (1), (2)
SELECT SCOPE_IDENTITY() AS fifty_five
GO
EXEC Counts
GO
DECLARE @ INT = 4, @@ INT, @$ INT = 6
SET @@ = @ + @$
SELECT @ AS four, @@ AS ten
EXEC sp_executesql N'SELECT @ AS five', N'@ INT', @ = 5
-- Numbers of rows that are gone are not given again.
CREATE TYPE dbo.Numbered AS TABLE (Id int IDENTITY(10, 5) PRIMARY KEY, What varchar(10));
GO
CREATE PROCEDURE dbo.Renumber AS
    DECLARE @n dbo.Numbered, @down TABLE (Id int IDENTITY(-1, -1), What varchar(10) UNIQUE);
    INSERT INTO @n (What) VALUES ('a'), ('b');
    DELETE FROM @n WHERE What = 'b';
    INSERT INTO @n (What) VALUES ('c');
    INSERT INTO @n (What) SELECT What FROM @n;
    DELETE FROM @n WHERE Id > 10;
    INSERT INTO @n DEFAULT VALUES;
    SELECT Id, What FROM @n;
    INSERT INTO @down (What) VALUES ('a');
    DELETE FROM @down;
    INSERT INTO @down (What) VALUES ('b'), ('c');
    INSERT INTO @down (What) OUTPUT inserted.Id VALUES ('d');
    SELECT MIN(Id) AS lowest, SCOPE_IDENTITY() AS last FROM @down;
GO
EXEC dbo.Renumber;
GO
CREATE FUNCTION dbo.Numbers() RETURNS @r TABLE (Id int IDENTITY, What varchar(10)) AS BEGIN
    INSERT INTO @r (What) VALUES ('a');
    DELETE FROM @r;
    INSERT INTO @r (What) VALUES ('b');
    RETURN;
END;
GO
SELECT Id, What FROM dbo.Numbers();
GO

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

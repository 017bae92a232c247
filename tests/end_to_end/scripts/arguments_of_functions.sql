-- DEFAULT as an argument, too few and too many of them; a sequence at its end.
CREATE FUNCTION dbo.three (@a INT = 1, @Order INT = 10, @c VARCHAR(5) = 'c') RETURNS VARCHAR(30) AS BEGIN RETURN CONCAT(@a, @Order, @c) END
GO
CREATE FUNCTION dbo.rowsof (@a INT = 1, @b INT = 2) RETURNS TABLE AS RETURN SELECT @a AS a, @b AS b
GO
CREATE FUNCTION dbo.nothing () RETURNS INT AS BEGIN RETURN 0 END
GO
SELECT dbo.three(DEFAULT, 5, 'x'), dbo.three(DEFAULT, DEFAULT, 'y'), dbo.three(2, DEFAULT, 'z'), dbo.three(2, DEFAULT, DEFAULT), dbo.nothing()
SELECT * FROM dbo.rowsof(DEFAULT, 7)
SELECT * FROM rowsof(DEFAULT, DEFAULT)
GO
SELECT dbo.three(1)
GO
SELECT dbo.three(1, 2, 'c', 4)
GO
SELECT * FROM dbo.rowsof(1)
GO
SELECT dbo.nothing(1)
GO
CREATE SEQUENCE few START WITH 1 MAXVALUE 2
SELECT NEXT VALUE FOR few
SELECT NEXT VALUE FOR few
SELECT NEXT VALUE FOR few
PRINT 'goes on'

-- ORDER BY of a SELECT that assigns variables is the table's column, whatever the variable is called.
CREATE TABLE dbo.Step (Id int, Name varchar(20), c1 int);
INSERT INTO dbo.Step VALUES (9, 'prepare', 3), (10, 'prepared', 2), (8, 'prep', 1);
GO
DECLARE @Id varchar(5), @Name varchar(4), @all varchar(50) = '', @sum int = 0, @c1 varchar(5);
SELECT TOP (1) @Id = Id FROM dbo.Step ORDER BY Id;
PRINT @Id;
SELECT @Id = Id FROM dbo.Step ORDER BY Id;
PRINT @Id;
SELECT TOP (1) @Id = s.Id FROM dbo.Step AS s ORDER BY s.Id DESC;
PRINT @Id;
SELECT TOP (1) @Name = Name, @Id = Id FROM dbo.Step ORDER BY Name DESC, Id;
PRINT @Id;
SELECT @all = @all + Name + ' ' FROM dbo.Step ORDER BY c1;
PRINT @all;
SELECT DISTINCT @c1 = c1 FROM dbo.Step ORDER BY c1;
PRINT @c1;
GO
CREATE PROCEDURE dbo.NextStep AS
    DECLARE @Id int, @Name varchar(20), @sum int = 0;
    SELECT TOP (1) @Id = Id, @Name = Name FROM dbo.Step ORDER BY Id;
    SELECT @sum = @sum + c1 FROM dbo.Step;
    UPDATE dbo.Step SET @Name = Name = Name + '!' WHERE Id = @Id;
    PRINT CONCAT(@Id, ' ', @Name, ' ', @sum);
GO
EXEC dbo.NextStep;
GO
-- A session in which the procedure has run goes on with it when columns get other types.
ALTER TABLE dbo.Step ALTER COLUMN Id bigint;
ALTER TABLE dbo.Step ALTER COLUMN c1 decimal(9, 2);
ALTER TABLE dbo.Step ALTER COLUMN Name nvarchar(50);
GO
EXEC dbo.NextStep;
DROP TABLE dbo.Step;
CREATE TABLE dbo.Step (Id smallint, Name nvarchar(10), c1 bigint);
INSERT INTO dbo.Step VALUES (1, 'new', 5);
EXEC dbo.NextStep;
GO

-- A column without a name has none, so ORDER BY takes the table's column, whatever PostgreSQL calls the other.
CREATE TABLE dbo.Car (Id int, Name varchar(20), [count] int, [case] int, upper int);
INSERT INTO dbo.Car VALUES (9, 'beetle', 1, 1, 2), (10, 'beech', 2, 2, 1);
CREATE TABLE dbo.Nick (Id int, Name varchar(20));
INSERT INTO dbo.Nick VALUES (9, 'a'), (10, 'b');
GO
SELECT CAST(Name AS varchar(3)), Id FROM dbo.Car ORDER BY Name;
SELECT CASE WHEN Id = 10 THEN 'zz' ELSE Name END, Id FROM dbo.Car ORDER BY Name;
SELECT TOP (1) CASE WHEN Id = 10 THEN 'zz' ELSE Name END FROM dbo.Car ORDER BY Name;
SELECT (SELECT n.Name FROM dbo.Nick AS n WHERE n.Id = Car.Id), Id FROM dbo.Car ORDER BY Name;
SELECT COUNT(*), Id FROM dbo.Car GROUP BY Id, [count] ORDER BY [count] DESC;
SELECT CASE Id WHEN 9 THEN 'z' ELSE 'a' END, Id FROM dbo.Car ORDER BY [case] DESC;
SELECT UPPER(REVERSE(Name)), Id FROM dbo.Car ORDER BY upper;
SELECT CAST(Id AS varchar(5)) AS Id FROM dbo.Car ORDER BY Id;
SELECT TOP (1) CAST(Id AS varchar(5)) FROM dbo.Car ORDER BY Id;
GO
-- A column is called like the one by which a common table expression finds its rows again.
CREATE TABLE dbo.Load (row_id int, place int);
INSERT INTO dbo.Load VALUES (1, 10), (2, 20), (3, 30);
WITH one AS (SELECT TOP (1) * FROM dbo.Load ORDER BY row_id DESC) DELETE one OUTPUT deleted.*;
WITH one AS (SELECT TOP (1) row_id, place FROM dbo.Load ORDER BY row_id) UPDATE one SET place = 11 OUTPUT deleted.*, inserted.place;
DECLARE @load TABLE (row_id int, place int);
INSERT INTO @load SELECT row_id, place FROM dbo.Load;
WITH one AS (SELECT TOP (1) * FROM @load ORDER BY row_id DESC) DELETE one OUTPUT deleted.*;
GO

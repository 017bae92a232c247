-- @@IDENTITY is NULL behind an INSERT into a table without an identity column, whoever runs it
SET NOCOUNT ON
CREATE TABLE dbo.counted (id INT IDENTITY, b INT)
CREATE TABLE dbo.bare (b INT)
GO
CREATE PROCEDURE dbo.add_bare AS INSERT dbo.bare VALUES (5)
GO
CREATE PROCEDURE dbo.add_counted AS INSERT dbo.counted VALUES (5)
GO
CREATE VIEW dbo.of_bare AS SELECT b FROM dbo.bare
GO
INSERT dbo.counted VALUES (1)
PRINT @@IDENTITY
INSERT dbo.bare VALUES (1)
PRINT CONCAT('bare ', @@IDENTITY, ' scope ', SCOPE_IDENTITY())
EXEC dbo.add_counted
PRINT @@IDENTITY
EXEC dbo.add_bare
PRINT CONCAT('in a procedure ', @@IDENTITY)
EXEC dbo.add_counted
UPDATE dbo.bare SET b = 6
DELETE dbo.bare
PRINT @@IDENTITY
INSERT dbo.bare OUTPUT inserted.b VALUES (1)
PRINT CONCAT('with OUTPUT ', @@IDENTITY)
EXEC dbo.add_counted
EXEC ('INSERT dbo.bare VALUES (1)')
PRINT CONCAT('in a string ', @@IDENTITY)
EXEC dbo.add_counted
CREATE TABLE #t (b INT)
INSERT #t VALUES (1)
PRINT CONCAT('temporary ', @@IDENTITY)
EXEC dbo.add_counted
PRINT @@IDENTITY
GO
-- a trigger's INSERT into such a table leaves what the statement itself made
CREATE TRIGGER dbo.noted ON dbo.counted AFTER INSERT AS INSERT dbo.bare SELECT b FROM inserted
GO
INSERT dbo.counted VALUES (9)
PRINT @@IDENTITY
INSERT dbo.bare SELECT 1 WHERE 1 = 0
PRINT CONCAT('no row ', @@IDENTITY)
GO

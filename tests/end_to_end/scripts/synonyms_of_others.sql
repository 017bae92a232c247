-- Synonyms outlive the database that they stand for; one of a queue is none that can be used.
CREATE DATABASE Front
CREATE DATABASE Back
GO
USE Back
CREATE TABLE t (a INT)
CREATE QUEUE q
CREATE SERVICE s ON QUEUE q ([DEFAULT])
INSERT t VALUES (1)
GO
USE Front
CREATE SYNONYM st FOR Back.dbo.t
CREATE SYNONYM sq FOR Back.dbo.q
SELECT * FROM st
GO
USE Back
DROP SERVICE s
DROP QUEUE q
CREATE QUEUE q
GO
SELECT COUNT(*) AS n FROM Front.dbo.sq
GO
CREATE VIEW v WITH SCHEMABINDING AS SELECT queuing_order FROM dbo.q
GO
DROP QUEUE q
GO
SELECT COUNT(*) AS n FROM v
DROP VIEW v
DROP QUEUE q
GO
USE master
DROP DATABASE Back
SELECT name FROM sys.databases WHERE name IN ('Front', 'Back')
SELECT name FROM Front.sys.synonyms ORDER BY name
GO
SELECT * FROM Front.dbo.st
GO

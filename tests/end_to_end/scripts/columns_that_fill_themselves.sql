-- Columns that nobody writes, a table that refers to itself, and a document that is removed.
SET NOCOUNT ON
CREATE TABLE dbo.Crew (Id INT IDENTITY PRIMARY KEY, Name VARCHAR(20), Shout AS UPPER(Name), Stamp ROWVERSION, Boss INT REFERENCES dbo.Crew (Id))
GO
INSERT dbo.Crew (Name, Stamp) VALUES ('ann', DEFAULT)
INSERT dbo.Crew (Name, Boss) VALUES ('bob', 1)
SELECT Id, Name, Shout, Boss FROM dbo.Crew ORDER BY Id
GO
INSERT dbo.Crew VALUES ('eve', DEFAULT, 1)
GO
INSERT dbo.Crew VALUES ('cy', 1)
GO
INSERT dbo.Crew (Name, Stamp) VALUES ('cy', 0x01)
GO
INSERT dbo.Crew (Name, Stamp) SELECT 'cy', 0x01
GO
UPDATE dbo.Crew SET Stamp = 0x01
GO
INSERT dbo.Crew (Name, Shout) VALUES ('cy', 'CY')
GO
UPDATE dbo.Crew SET Shout = 'CY'
GO
EXEC ('INSERT dbo.Crew (Name, Shout) VALUES (''cy'', ''CY'')')
INSERT dbo.Crew (Name, Boss) VALUES ('cy', 9)
DELETE dbo.Crew WHERE Id = 1
GO
CREATE VIEW dbo.CrewNames WITH SCHEMABINDING AS SELECT Name FROM dbo.Crew
GO
DROP TABLE dbo.Crew
GO
DECLARE @d INT, @e INT
EXEC sp_xml_preparedocument @d OUTPUT, N'<crew><m n="ann"/></crew>'
EXEC sp_xml_preparedocument @e OUTPUT, N'<crew><m n="bob"/></crew>'
EXEC sp_xml_removedocument @d
SELECT n FROM OPENXML(@e, '/crew/m') WITH (n VARCHAR(9))
EXEC sp_xml_removedocument @d
SELECT n FROM OPENXML(@d, '/crew/m') WITH (n VARCHAR(9))
GO
ALTER TABLE dbo.Crew ALTER COLUMN shout VARCHAR(5)
GO
ALTER TABLE dbo.Crew ALTER COLUMN Name TIMESTAMP
GO
CREATE TABLE dbo.Alone (Only_One INT) CREATE TABLE #alone (a INT)
ALTER TABLE dbo.Alone DROP COLUMN only_one
GO
CREATE VIEW dbo.OfMine AS SELECT a FROM #alone
GO
SELECT TOP (a) LEN(a) OVER (ORDER BY a) FROM #alone
GO
SELECT NTILE(0) OVER (ORDER BY Id) FROM dbo.Crew
GO
GO
CREATE TABLE dbo.Numbered (a INT)
INSERT dbo.Numbered VALUES (1), (2)
ALTER TABLE dbo.Numbered ADD v ROWVERSION NOT NULL
EXEC sp_rename 'dbo.Numbered.v', 'w', 'COLUMN'
GO
INSERT dbo.Numbered VALUES (3, DEFAULT)
SELECT COUNT(DISTINCT w) AS numbers FROM dbo.Numbered
DROP TABLE dbo.Numbered

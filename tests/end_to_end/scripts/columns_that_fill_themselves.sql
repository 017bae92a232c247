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
-- dates out of text: of JSON, by a style, by DATEFORMAT as the row is written
SET NOCOUNT ON
CREATE TABLE dbo.Reminder
(
    Doc NVARCHAR(200) CHECK (ISJSON(Doc) = 1),
    Due AS CONVERT(DATETIME2(0), JSON_VALUE(Doc, '$.due'), 126),
    Day_ AS CAST(JSON_VALUE(Doc, '$.day') AS DATE),
    Old AS TRY_CONVERT(DATETIME, JSON_VALUE(Doc, '$.day'), 103),
    At_ AS TRY_CAST(JSON_VALUE(Doc, '$.at') AS TIME(0)),
    Rounded AS CAST(JSON_VALUE(Doc, '$.due') AS SMALLDATETIME)
)
INSERT dbo.Reminder (Doc) VALUES (N'{"due":"2024-05-01T10:00:29.7","day":"2024-02-03","at":"7PM"}')
INSERT dbo.Reminder (Doc) VALUES (N'{"day":"2023-02-03","at":"soon"}')
SET DATEFORMAT dmy
INSERT dbo.Reminder (Doc) VALUES (N'{"day":"31/12/2024"}')
SET DATEFORMAT mdy
SELECT Due, Day_, Old, At_, Rounded FROM dbo.Reminder ORDER BY Day_ DESC, Due
GO
INSERT dbo.Reminder (Doc) VALUES (N'no JSON')
GO

-- DISABLE TRIGGER ALL leaves alone what belongs to the table itself: row versions, histories.
CREATE TABLE dbo.Price (Id INT PRIMARY KEY, Amount INT, Stamp ROWVERSION,
    F DATETIME2 GENERATED ALWAYS AS ROW START HIDDEN, U DATETIME2 GENERATED ALWAYS AS ROW END HIDDEN, PERIOD FOR SYSTEM_TIME (F, U))
    WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.PriceWas));
GO
CREATE TRIGGER dbo.Price_iu ON dbo.Price AFTER INSERT, UPDATE AS PRINT 'fired';
GO
INSERT dbo.Price (Id, Amount) VALUES (1, 10);
DECLARE @was BINARY(8) = (SELECT Stamp FROM dbo.Price);
ALTER TABLE dbo.Price DISABLE TRIGGER ALL;
UPDATE dbo.Price SET Amount = 11;
IF (SELECT Stamp FROM dbo.Price) > @was PRINT 'a new stamp';
SELECT Amount FROM dbo.PriceWas;
ALTER TABLE dbo.Price ENABLE TRIGGER Price_iu;
UPDATE dbo.Price SET Amount = 12;
DISABLE TRIGGER ALL ON dbo.Price;
UPDATE dbo.Price SET Amount = 13;
ENABLE TRIGGER dbo.Price_iu ON dbo.Price;
SELECT COUNT(*) AS versions FROM dbo.Price FOR SYSTEM_TIME ALL;
UPDATE dbo.Price SET Amount = 14;

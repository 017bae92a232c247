-- What a table variable computes of a row follows UPDATE, in OUTPUT, keys and CHECKs, too.
CREATE TABLE Price (Sku VARCHAR(9), Price DECIMAL(9, 2));
CREATE TYPE Line AS TABLE (Sku VARCHAR(9) PRIMARY KEY, Qty INT NOT NULL, Price DECIMAL(9, 2) DEFAULT 1, Amount AS Qty * Price);
INSERT Price VALUES ('a', 5), ('b', 6);
GO
DECLARE @line Line;
INSERT @line (Sku, Qty) VALUES ('a', 2), ('b', 10);
UPDATE @line SET Qty += 1 OUTPUT deleted.Amount AS old, inserted.Amount AS new WHERE Sku = 'a';
SELECT * FROM @line;
SELECT SUM(Amount) AS total FROM @line;
GO
DECLARE @line TABLE (Sku VARCHAR(9) PRIMARY KEY, Qty INT NOT NULL, Price DECIMAL(9, 2) DEFAULT 1, Amount AS Qty * Price,
    Label AS Sku + ':' + CAST(Qty AS VARCHAR(9)) UNIQUE, CHECK (Amount < 1000));
INSERT @line (Sku, Qty) VALUES ('a', 1), ('b', 2), ('c', 3);
UPDATE n SET Price = p.Price, Qty += 1 OUTPUT p.Sku, deleted.Amount AS old, inserted.Amount AS new, inserted.Label, p.Price * 2 AS twice
FROM @line AS n JOIN Price AS p ON p.Sku = n.Sku;
UPDATE TOP (1) n SET Qty = Qty * 2.6 FROM @line AS n WHERE Amount > 5;
SELECT * FROM @line;
WITH c AS (SELECT *, ROW_NUMBER() OVER (ORDER BY Sku DESC) AS rn FROM @line)
UPDATE c SET Qty = rn OUTPUT inserted.rn, inserted.Label, inserted.Amount;
UPDATE @line SET Qty = 500 WHERE Sku = 'a';
UPDATE @line SET Sku = 'x', Qty = 7;
SELECT * FROM @line;
GO

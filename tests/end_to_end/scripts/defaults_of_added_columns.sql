-- Rows that are there have the default of a column that may not be NULL, and of one WITH VALUES; others have NULL.
CREATE TABLE Shelf (Place INT)
INSERT INTO Shelf VALUES (1)
GO
CREATE TYPE Amount FROM INT NOT NULL
GO
ALTER TABLE Shelf ADD Free INT DEFAULT 5, Kept INT NULL CONSTRAINT DF_Kept DEFAULT 6 WITH VALUES, Needed INT NOT NULL DEFAULT 7,
    Typed Amount DEFAULT 8, Large INT DEFAULT 9 CHECK (Large > 8), Code UNIQUEIDENTIFIER DEFAULT NEWID() WITH VALUES
GO
ALTER TABLE Shelf ADD Id INT DEFAULT 10 PRIMARY KEY
GO
INSERT INTO Shelf (Place, Id) VALUES (2, 11)
SELECT Place, Free, Kept, Needed, Typed, Large, LEN(Code) AS CodeLength, Id FROM Shelf ORDER BY Place

-- One row for a table variable with keys: a look for each key, then the row is appended.
DECLARE @t TABLE (a INT PRIMARY KEY, b VARCHAR(3) UNIQUE, c INT), @new_row INT = 4
INSERT @t VALUES (1, 'x', 1)
INSERT @t (a, b) SELECT 2, NULL
INSERT @t VALUES (1, 'y', 1)
PRINT CONCAT(@@ERROR, ' ', @@ROWCOUNT)
INSERT @t VALUES (3, 'x', 1)
INSERT @t VALUES (3, NULL, 1)
INSERT @t VALUES (NULL, 'q', 1)
INSERT @t OUTPUT inserted.a, inserted.b VALUES (@new_row, 'z', 1)
INSERT @t VALUES (5, 'longer', 1)
BEGIN TRY
    INSERT @t VALUES (@new_row, 'zz', 1)
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE()
END CATCH
SELECT a, b, c FROM @t
GO
-- Values are computed once; numbers of IDENTITY, which are new ones, are not looked for.
DECLARE @u TABLE (a INT, b UNIQUEIDENTIFIER DEFAULT NEWID(), i INT IDENTITY, PRIMARY KEY (a, b), UNIQUE (i)), @v TABLE (a INT PRIMARY KEY)
INSERT @u (a) VALUES (1)
INSERT @u (a) VALUES (1)
INSERT @u (a) OUTPUT inserted.a INTO @v VALUES (7)
INSERT @u (a) OUTPUT inserted.a INTO @v VALUES (7)
SELECT a, i FROM @u
SELECT a FROM @v
PRINT SCOPE_IDENTITY()
GO
-- CHECKs, computed columns and IGNORE_DUP_KEY.
DECLARE @w TABLE (a INT PRIMARY KEY, b INT CHECK (b > 0)), @i TABLE (a INT PRIMARY KEY WITH (IGNORE_DUP_KEY = ON)), @c TABLE (a INT, d AS a % 2 UNIQUE)
INSERT @w VALUES (1, 1)
INSERT @w VALUES (2, 0)
INSERT @i VALUES (1)
INSERT @i VALUES (1)
INSERT @c VALUES (1)
INSERT @c VALUES (3)
SELECT (SELECT COUNT(*) FROM @w) AS w, (SELECT COUNT(*) FROM @i) AS i, (SELECT COUNT(*) FROM @c) AS c
GO
CREATE FUNCTION dbo.Pairs(@n INT) RETURNS @r TABLE (r INT PRIMARY KEY, new_row INT) AS
BEGIN
    DECLARE @i INT = 0
    WHILE @i < @n
    BEGIN
        INSERT @r VALUES (@i, @i * @i)
        SET @i += 1
    END
    RETURN
END
GO
SELECT r, new_row FROM dbo.Pairs(3)
GO
-- The key is told as that of a table is.
DECLARE @a TABLE (a INT NULL UNIQUE), @b TABLE (a INT, b VARCHAR(5), UNIQUE (a, b)), @m TABLE (m MONEY PRIMARY KEY), @d TABLE (d DATETIME PRIMARY KEY), @s TABLE (s SMALLDATETIME UNIQUE), @v TABLE (v VARBINARY(8) PRIMARY KEY)
INSERT @a VALUES (NULL)
INSERT @a VALUES (NULL)
INSERT @b VALUES (1, NULL), (1, NULL)
INSERT @m VALUES (1.5), (1.5)
INSERT @d VALUES ('2020-01-02 03:04:05.678'), ('2020-01-02 03:04:05.678')
INSERT @s VALUES ('2020-01-02 03:04'), (NULL), ('2020-01-02 03:04')
INSERT @v VALUES (0x0AFF), (0x0AFF)

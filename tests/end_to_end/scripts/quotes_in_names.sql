-- PostgreSQL's messages do not double the quotation marks in a name; ours tell the whole name.
CREATE TABLE dbo.[the "first"] (id int CONSTRAINT [key "a"] PRIMARY KEY, b int CONSTRAINT [b is "small"] CHECK (b < 10), c int)
CREATE TABLE dbo.second (a int CONSTRAINT [to "first"] REFERENCES dbo.[the "first"] (id), b int CONSTRAINT [a"] CHECK (b > 0), CONSTRAINT ["both] UNIQUE (a, b))
CREATE UNIQUE INDEX [c"] ON dbo.[the "first"] (c)
CREATE TABLE dbo.[plain] (a int CONSTRAINT [key ] CHECK (a > 0), b int CONSTRAINT [b is ] CHECK (b > 0))
GO
INSERT INTO dbo.[the "first"] VALUES (1, 1, 1)
INSERT INTO dbo.second VALUES (1, 1)
GO
INSERT INTO dbo.[the "first"] VALUES (1, 1, 2)
GO
INSERT INTO dbo.[the "first"] VALUES (2, 11, 2)
GO
INSERT INTO dbo.[the "first"] VALUES (2, 1, 1)
GO
INSERT INTO dbo.second VALUES (7, 1)
GO
INSERT INTO dbo.second VALUES (1, 0)
GO
INSERT INTO dbo.second VALUES (1, 1)
GO
DELETE FROM dbo.[the "first"]
GO
INSERT INTO dbo.[plain] VALUES (0, 1)
GO
DROP TABLE dbo.second, dbo.[the "first"], dbo.[plain]
GO

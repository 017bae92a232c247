-- Duplicates that a unique index meets, and a column that another one needs.
CREATE TABLE dup (a INT, b INT, c AS b * 2)
INSERT dup VALUES (1, 1), (1, 2)
CREATE UNIQUE INDEX u ON dup (a)
ALTER TABLE dup ADD CONSTRAINT uq UNIQUE (a)
DELETE dup WHERE b = 2
CREATE UNIQUE INDEX u ON dup (a)
INSERT dup VALUES (1, 3)
PRINT 'goes on'
GO
ALTER TABLE dup DROP COLUMN b
GO
DROP TABLE dup
GO
PRINT 'NULL is a value to a key'
CREATE TABLE one (a INT UNIQUE, b INT, c INT, CONSTRAINT both UNIQUE (b, c))
INSERT one VALUES (NULL, 1, NULL)
INSERT one VALUES (NULL, 1, 1)
INSERT one VALUES (1, 1, NULL)
CREATE UNIQUE INDEX u ON one (b) INCLUDE (a) WHERE a > 5
INSERT one VALUES (6, NULL, 1)
INSERT one VALUES (7, NULL, 2)
CREATE TABLE of_one (a INT REFERENCES one (a))
INSERT of_one VALUES (NULL), (6)
CREATE TABLE left_out (a INT, CONSTRAINT lo UNIQUE (a) WITH (IGNORE_DUP_KEY = ON))
INSERT left_out VALUES (NULL), (NULL), (1)
INSERT left_out VALUES (NULL), (2)
SELECT a FROM left_out ORDER BY a
GO

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

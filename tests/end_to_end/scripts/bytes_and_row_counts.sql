-- Bytes that a column does not hold are an error (2628).
CREATE TABLE too_long (id INT, bytes VARBINARY(2), fixed BINARY(2))
INSERT too_long (id, bytes) VALUES (1, 0x010203)
INSERT too_long (id, fixed) VALUES (2, 0x010203)
INSERT too_long VALUES (3, 0x0102, 0x01)
UPDATE too_long SET bytes = bytes + 0x03
SELECT * FROM too_long
GO
-- NULL and numbers below zero are no numbers of rows.
DECLARE @rows INT
DELETE TOP (@rows) too_long
SELECT TOP (@rows) id FROM too_long
SET @rows = -1
SELECT TOP (@rows) id FROM too_long
SELECT id FROM too_long ORDER BY id OFFSET @rows ROWS
SET @rows = 1
SELECT TOP (@rows) id FROM too_long

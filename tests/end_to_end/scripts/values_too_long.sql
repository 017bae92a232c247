-- What is too long for a column of a table variable is an error, as on tables, and the statement changes nothing.
SET NOCOUNT ON
CREATE QUEUE LongQ
CREATE SERVICE LongS ON QUEUE LongQ ([DEFAULT])
CREATE TABLE source (s NVARCHAR(20), n INT)
INSERT source VALUES (N'eleven char', 123456), (N'five', 12)
GO
DECLARE @v NVARCHAR(20) = N'longer than five', @t TABLE (a NVARCHAR(5), b CHAR(2), c VARBINARY(2), d INT DEFAULT 0)
INSERT @t (a) VALUES (N'literal')
INSERT @t (a) VALUES (@v)
INSERT @t (a) VALUES (N'a'), (N'literal')
INSERT @t (b) VALUES ('abc')
INSERT @t (c) VALUES (0x010203)
INSERT @t (a) SELECT s FROM source
INSERT @t (a) EXEC ('SELECT s FROM source')
INSERT source (s) OUTPUT inserted.s INTO @t (a) VALUES (N'by OUTPUT')
SELECT COUNT(*) AS none FROM @t
INSERT @t (a, b, c) VALUES (N'five ', 'ab', 0x0102), (N'blank   ', 'b ', NULL)
INSERT @t (a) VALUES (N'fits     ')
UPDATE @t SET a = N'literal'
UPDATE @t SET a = @v, d = 1
UPDATE @t SET a = s FROM source WHERE n = 123456
UPDATE @t SET a = s FROM source WHERE n = 12
SELECT a + '|' AS a, b, c, d FROM @t
DECLARE @k TABLE (k VARCHAR(3) PRIMARY KEY, l SYSNAME NULL)
INSERT @k (k) VALUES ('abcd')
INSERT @k (k) SELECT 'ab' + s FROM source
INSERT @k VALUES ('abc', REPLICATE('x', 129))
SELECT COUNT(*) AS none FROM @k
GO
DECLARE @h UNIQUEIDENTIFIER, @t TABLE (a NVARCHAR(5), t SYSNAME), @b TABLE (b VARBINARY(3))
BEGIN DIALOG @h FROM SERVICE LongS TO SERVICE 'LongS' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'longer');
BEGIN TRY
  RECEIVE message_body, message_type_name FROM LongQ INTO @t
END TRY
BEGIN CATCH
  PRINT ERROR_MESSAGE()
END CATCH
BEGIN TRY
  WAITFOR (RECEIVE message_body FROM LongQ INTO @b), TIMEOUT 10
END TRY
BEGIN CATCH
  PRINT ERROR_MESSAGE()
END CATCH
SELECT COUNT(*) AS still FROM LongQ;
RECEIVE LEFT(CAST(message_body AS NVARCHAR(20)), 5), message_type_name FROM LongQ INTO @t
SELECT a, t FROM @t
GO

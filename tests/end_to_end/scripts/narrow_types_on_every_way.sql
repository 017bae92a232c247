-- OUTPUT INTO, INSERT EXEC, RECEIVE INTO and OUTPUT parameters convert as an INSERT … SELECT does, where PostgreSQL's type
-- holds more than the column's: tinyint, smallmoney, smalldatetime, datetime, binary(n), varbinary(n).
SET NOCOUNT ON
CREATE QUEUE NarrowQ
CREATE SERVICE NarrowS ON QUEUE NarrowQ ([DEFAULT])
CREATE TABLE wide (i INT, y DATETIME2(6), m DECIMAL(12, 4), x VARBINARY(9))
INSERT wide VALUES (300, '2026-01-02 10:20:30.125', 300000, 0x010203)
CREATE TABLE narrow (way VARCHAR(20), i TINYINT, sd SMALLDATETIME, d DATETIME, t TIME(0), m SMALLMONEY, v VARBINARY(2), b BINARY(4))
GO
CREATE PROCEDURE Rows_of @column SYSNAME AS
DECLARE @s NVARCHAR(200) = N'SELECT ' + @column + N' FROM wide'
EXEC sp_executesql @s
GO
DECLARE @t TABLE (way VARCHAR(20), i TINYINT, sd SMALLDATETIME, d DATETIME, t TIME(0), m SMALLMONEY, v VARBINARY(2), b BINARY(4))
INSERT narrow (i) EXEC ('SELECT i FROM wide')
INSERT narrow (m) EXEC ('SELECT m FROM wide')
INSERT narrow (v) EXEC ('SELECT x FROM wide')
INSERT @t (i) EXEC ('SELECT i FROM wide')
INSERT @t (m) EXEC ('SELECT m FROM wide')
INSERT @t (v) EXEC ('SELECT x FROM wide')
UPDATE wide SET i = 300 OUTPUT inserted.i INTO narrow (i)
UPDATE wide SET i = 300 OUTPUT inserted.m INTO narrow (m)
UPDATE wide SET i = 300 OUTPUT inserted.x INTO narrow (v)
UPDATE wide SET i = 300 OUTPUT inserted.i INTO @t (i)
UPDATE wide SET i = 300 OUTPUT inserted.x INTO @t (v)
DELETE wide OUTPUT deleted.x, -1 INTO @t (v, i)
MERGE wide USING (SELECT 300 AS i) AS s ON 1 = 0 WHEN NOT MATCHED THEN INSERT (i) VALUES (i) OUTPUT inserted.i INTO narrow (i);
SELECT (SELECT COUNT(*) FROM narrow) AS narrow, (SELECT COUNT(*) FROM @t) AS t, (SELECT COUNT(*) FROM wide) AS wide
UPDATE wide SET i = 200, m = 3, x = 0x01
INSERT narrow EXEC ('SELECT ''EXEC'', i, y, y, y, m, x, x FROM wide')
INSERT @t EXEC ('SELECT ''EXEC'', i, y, y, y, m, x, x FROM wide')
UPDATE wide SET i = i OUTPUT 'OUTPUT INTO', inserted.i, inserted.y, inserted.y, inserted.y, inserted.m, inserted.x, inserted.x INTO narrow
UPDATE wide SET i = i OUTPUT 'OUTPUT INTO', inserted.i, inserted.y, inserted.y, inserted.y, inserted.m, inserted.x, inserted.x INTO @t
MERGE wide USING (SELECT 1 AS n) AS s ON 1 = 1 WHEN MATCHED THEN UPDATE SET i = 201
  OUTPUT 'MERGE', inserted.i, inserted.y, inserted.y, inserted.y, inserted.m, inserted.x, inserted.x INTO narrow;
SELECT * FROM narrow
SELECT * FROM @t
GO
DECLARE @h UNIQUEIDENTIFIER, @t TABLE (i TINYINT, b BINARY(4)), @k TABLE (b BINARY(4) PRIMARY KEY)
BEGIN DIALOG @h FROM SERVICE NarrowS TO SERVICE 'NarrowS' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (0x41);
SEND ON CONVERSATION @h (0x42);
RECEIVE TOP (1) 256 + message_sequence_number, message_body FROM NarrowQ INTO @t
RECEIVE TOP (1) message_sequence_number, message_body FROM NarrowQ INTO @t
RECEIVE TOP (1) message_body FROM NarrowQ INTO @k
SELECT i, b FROM @t
SELECT b FROM @k
GO
CREATE PROCEDURE Gives @i SMALLINT OUTPUT, @sd DATETIME2(0) OUTPUT, @d DATETIME2(3) OUTPUT, @v VARBINARY(9) OUTPUT, @b VARBINARY(9) OUTPUT AS
SELECT @i = ISNULL(@i, 200), @sd = '2026-01-02 10:20:30', @d = '2026-01-02 10:20:30.125', @v = 0x010203, @b = 0x01
GO
DECLARE @i TINYINT, @sd SMALLDATETIME, @d DATETIME, @v VARBINARY(2), @b BINARY(4), @p SYSNAME = N'Gives'
EXEC Gives @i OUTPUT, @sd OUTPUT, @d OUTPUT, @v OUTPUT, @b OUTPUT
SELECT @i AS i, @sd AS sd, @d AS d, @v AS v, @b AS b
SELECT @i = NULL, @sd = NULL, @d = NULL, @v = NULL, @b = NULL
EXEC @p @i OUTPUT, @sd OUTPUT, @d OUTPUT, @v OUTPUT, @b OUTPUT
SELECT @i AS i, @sd AS sd, @d AS d, @v AS v, @b AS b
SELECT @i = NULL, @sd = NULL, @d = NULL, @v = NULL, @b = NULL
EXEC sp_executesql N'EXEC Gives @1 OUTPUT, @2 OUTPUT, @3 OUTPUT, @4 OUTPUT, @5 OUTPUT',
  N'@1 SMALLINT OUTPUT, @2 DATETIME2(0) OUTPUT, @3 DATETIME2(3) OUTPUT, @4 VARBINARY(9) OUTPUT, @5 VARBINARY(9) OUTPUT',
  @i OUTPUT, @sd OUTPUT, @d OUTPUT, @v OUTPUT, @b OUTPUT
SELECT @i AS i, @sd AS sd, @d AS d, @v AS v, @b AS b
BEGIN TRY
  EXEC sp_executesql N'SET @o = 300', N'@o SMALLINT OUTPUT', @i OUTPUT
END TRY
BEGIN CATCH
  PRINT CONCAT('caught ', ERROR_NUMBER(), ', state ', XACT_STATE(), ', ', @i)
END CATCH
BEGIN TRY
  EXEC sp_executesql N'SET @o = ''text''', N'@o VARCHAR(9) OUTPUT', @i OUTPUT
END TRY
BEGIN CATCH
  PRINT CONCAT('caught ', ERROR_NUMBER(), ', ', @i)
END CATCH
GO
CREATE TABLE #t (i TINYINT, sd SMALLDATETIME, d DATETIME, d2 DATETIME2(3), v VARBINARY(2), b BINARY(4))
INSERT #t (i) EXEC ('SELECT 300')
INSERT #t (v) EXEC ('SELECT 0x010203')
INSERT #t EXEC ('SELECT i, y, y, y, x, x FROM wide')
SELECT * FROM #t
GO

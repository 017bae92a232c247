CREATE TABLE [a
b] ([c
  d] int)
GO
IF 1 = 1
BEGIN
  INSERT [a
b] ([c
  d]) VALUES (1)
  SELECT [c
  d] AS [e
f] FROM [a
b] PRINT 'x
  y'
END
GO
CREATE QUEUE [q
r]
GO
SELECT REPLACE(name, CHAR(10), '|') FROM sys.tables
SELECT REPLACE(name, CHAR(10), '|') FROM sys.service_queues WHERE is_ms_shipped = 0

-- How a broker is watched without reading its queues: rows of the system's tables by sys.partitions.
SET NOCOUNT ON
CREATE QUEUE Near CREATE QUEUE Far
CREATE SERVICE [//Near] ON QUEUE Near
CREATE SERVICE [//Far] ON QUEUE Far ([DEFAULT])
GO
CREATE VIEW Depths AS
SELECT o.name, p.rows [Depth] FROM sys.objects AS o JOIN sys.partitions AS p ON p.object_id = o.object_id
WHERE o.name IN ('sysxmitqueue', 'sysconvgroup', 'sysdesend', 'sysdercv')
GO
SELECT * FROM Depths ORDER BY name
DECLARE @near UNIQUEIDENTIFIER, @other UNIQUEIDENTIFIER, @lost UNIQUEIDENTIFIER;
BEGIN DIALOG @near FROM SERVICE [//Near] TO SERVICE '//Far' WITH ENCRYPTION = OFF;
BEGIN DIALOG @other FROM SERVICE [//Near] TO SERVICE '//Far' WITH RELATED_CONVERSATION = @near, ENCRYPTION = OFF;
BEGIN DIALOG @lost FROM SERVICE [//Near] TO SERVICE '//Nobody' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @near (N'first');
SEND ON CONVERSATION @lost (N'waits');
SEND ON CONVERSATION @lost (N'waits, too');
SELECT * FROM Depths ORDER BY name;
SELECT p.rows [XmitQ Depth] FROM sys.objects as o
JOIN sys.partitions AS p ON p.object_id = o.object_id
WHERE o.name = 'sysxmitqueue';
SELECT SUM(row_count) AS rows FROM sys.dm_db_partition_stats WHERE object_id = OBJECT_ID('sys.sysxmitqueue') AND index_id < 2;
SELECT name, type, type_desc, SCHEMA_NAME(schema_id) AS [schema], is_ms_shipped FROM sys.objects WHERE type = 'S' ORDER BY name;
SELECT COUNT(*) AS depth FROM sys.sysxmitqueue;

-- what the catalog says of a queue's columns: the types of the reference
CREATE QUEUE dbo.Shown
GO
SELECT c.name, TYPE_NAME(c.user_type_id) AS type, c.max_length, c.precision, c.scale FROM sys.columns AS c WHERE c.object_id = OBJECT_ID('dbo.Shown') ORDER BY c.column_id
SELECT COL_LENGTH('dbo.Shown', 'status') AS status, COL_LENGTH('dbo.Shown', 'service_name') AS service, COL_LENGTH('dbo.Shown', 'message_type_name') AS type,
       COL_LENGTH('dbo.Shown', 'message_body') AS body, COL_LENGTH('dbo.Shown', 'conversation_handle') AS handle, COL_LENGTH('dbo.Shown', 'nothing') AS nothing
SELECT COL_NAME(OBJECT_ID('dbo.Shown'), 2) AS second, COLUMNPROPERTY(OBJECT_ID('dbo.Shown'), 'priority', 'Precision') AS precision,
       COLUMNPROPERTY(OBJECT_ID('dbo.Shown'), 'service_name', 'Precision') AS letters, COLUMNPROPERTY(OBJECT_ID('dbo.Shown'), 'queuing_order', 'IsIdentity') AS counts
SELECT COUNT(*) AS n FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'Shown'
GO
GO
CREATE INDEX i ON dbo.Shown (status)

CREATE MESSAGE TYPE [json/order] VALIDATION = NONE
CREATE CONTRACT [json/c] ([json/order] SENT BY ANY)
CREATE QUEUE JQ WITH RETENTION = OFF
CREATE SERVICE JS ON QUEUE JQ ([json/c])
CREATE TABLE O (id int primary key, cust nvarchar(50), total money, placed datetime2(0), note nvarchar(max))
CREATE TABLE L (oid int, line int, sku varchar(10), qty decimal(9,2), constraint pk_l primary key (oid, line))
INSERT O VALUES (1, N'Ann "A" Müller', 10.50, '2024-02-03T04:05:06', NULL), (2, N'Bob', 0, '2024-02-04', N'tab	and \ slash')
INSERT L VALUES (1, 1, 'X', 2), (1, 2, 'Y', 0.5)
GO
CREATE PROC SendOrder @id int AS
SET NOCOUNT, XACT_ABORT ON
DECLARE @h uniqueidentifier, @json nvarchar(max)
SET @json = (SELECT o.id, o.cust AS [customer.name], o.total, o.placed, o.note, (SELECT l.line AS n, l.sku, l.qty FROM L l WHERE l.oid = o.id ORDER BY l.line FOR JSON PATH) AS lines FROM O o WHERE o.id = @id FOR JSON PATH, WITHOUT_ARRAY_WRAPPER)
BEGIN TRAN
BEGIN DIALOG @h FROM SERVICE JS TO SERVICE 'JS' ON CONTRACT [json/c] WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h MESSAGE TYPE [json/order] (@json);
COMMIT
GO
EXEC SendOrder 1; EXEC SendOrder 2
GO
DECLARE @t TABLE (h uniqueidentifier, body nvarchar(max))
WHILE 1 = 1
BEGIN
 RECEIVE conversation_handle, CAST(message_body AS nvarchar(max)) FROM JQ INTO @t
 IF @@ROWCOUNT = 0 BREAK
END
SELECT body FROM @t
SELECT JSON_VALUE(body, '$.customer.name') AS name, JSON_VALUE(body, '$.lines[0].sku') s, JSON_QUERY(body, '$.lines') q, ISJSON(body) ok, JSON_VALUE(body, 'lax $.note') note FROM @t
SELECT j.id, l.* FROM @t CROSS APPLY OPENJSON(body) WITH (id int, lines nvarchar(max) AS JSON) j OUTER APPLY OPENJSON(j.lines) WITH (n int, sku varchar(10) '$.sku', qty decimal(9,2)) l
SELECT [key], value, type FROM @t CROSS APPLY OPENJSON(body) WHERE JSON_VALUE(body, '$.id') = '2'
UPDATE @t SET body = JSON_MODIFY(body, '$.status', 'done') WHERE JSON_VALUE(body, '$.id') = 1
SELECT JSON_VALUE(body, '$.status') FROM @t
SELECT id, cust FROM O FOR JSON AUTO, ROOT('orders')
SELECT id, note FROM O ORDER BY id FOR JSON PATH, INCLUDE_NULL_VALUES
GO

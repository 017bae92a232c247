SET NOCOUNT ON
GO
CREATE TABLE stg_Sales (SaleId int NOT NULL, Store varchar(10), Amount decimal(12,2), SaleDate date, CONSTRAINT PK_stg PRIMARY KEY (SaleId))
CREATE TABLE dw_Sales (Store varchar(10) NOT NULL, [Month] char(7) NOT NULL, Total decimal(18,2) NOT NULL, Cnt int NOT NULL, RowVer rowversion, CONSTRAINT PK_dw PRIMARY KEY NONCLUSTERED (Store, [Month]))
CREATE MESSAGE TYPE [//etl/batch] VALIDATION = WELL_FORMED_XML
CREATE MESSAGE TYPE [//etl/done] VALIDATION = EMPTY
CREATE CONTRACT [//etl] AUTHORIZATION [dbo] ([//etl/batch] SENT BY INITIATOR, [//etl/done] SENT BY TARGET)
CREATE QUEUE [dbo].[etlSource]; CREATE QUEUE [dbo].[etlTarget];
CREATE SERVICE [//etl/source] ON QUEUE [dbo].[etlSource]([//etl]); CREATE SERVICE [//etl/target] ON QUEUE [dbo].[etlTarget]([//etl]);
GO
CREATE TYPE dbo.BatchRows AS TABLE (SaleId int PRIMARY KEY, Store varchar(10), Amount decimal(12,2), SaleDate date)
GO
CREATE PROCEDURE dbo.SendBatch @rows dbo.BatchRows READONLY, @conv uniqueidentifier = NULL OUTPUT
AS
BEGIN
  DECLARE @x xml = (SELECT SaleId AS "@id", Store AS "@store", Amount AS "@amount", SaleDate AS "@date" FROM @rows ORDER BY SaleId FOR XML PATH('sale'), ROOT('batch'), TYPE)
  IF @conv IS NULL BEGIN DIALOG @conv FROM SERVICE [//etl/source] TO SERVICE N'//etl/target' ON CONTRACT [//etl] WITH ENCRYPTION = OFF, LIFETIME = 3600;
  SEND ON CONVERSATION @conv MESSAGE TYPE [//etl/batch] (@x);
END
GO
CREATE PROCEDURE dbo.LoadBatches AS
BEGIN
  SET XACT_ABORT ON
  DECLARE @in TABLE (ord bigint PRIMARY KEY, h uniqueidentifier, t sysname, x xml)
  BEGIN TRAN
  RECEIVE queuing_order, conversation_handle, message_type_name, CASE WHEN message_type_name LIKE '//etl/%' THEN CAST(message_body AS xml) END AS x FROM etlTarget INTO @in
  IF @@ROWCOUNT = 0 BEGIN COMMIT RETURN 1 END
  ;WITH rows AS (
    SELECT s.c.value('@id', 'int') AS SaleId, s.c.value('@store', 'varchar(10)') AS Store, s.c.value('@amount', 'decimal(12,2)') AS Amount, s.c.value('@date', 'date') AS SaleDate,
      ROW_NUMBER() OVER (PARTITION BY s.c.value('@id', 'int') ORDER BY i.ord DESC) AS rn
    FROM @in i CROSS APPLY i.x.nodes('/batch/sale') s(c) WHERE i.t = N'//etl/batch')
  MERGE INTO stg_Sales WITH (HOLDLOCK) AS tgt USING (SELECT * FROM rows WHERE rn = 1) AS src ON tgt.SaleId = src.SaleId
  WHEN MATCHED AND (tgt.Amount <> src.Amount OR tgt.Store <> src.Store) THEN UPDATE SET Amount = src.Amount, Store = src.Store, SaleDate = src.SaleDate
  WHEN NOT MATCHED BY TARGET THEN INSERT (SaleId, Store, Amount, SaleDate) VALUES (src.SaleId, src.Store, src.Amount, src.SaleDate)
  OUTPUT $action, inserted.SaleId, deleted.Amount AS was, inserted.Amount AS [is];
  MERGE dw_Sales AS d USING (SELECT Store, CONVERT(char(7), SaleDate, 126) AS m, SUM(Amount) AS t, COUNT(*) c FROM stg_Sales GROUP BY Store, CONVERT(char(7), SaleDate, 126)) AS s ON d.Store = s.Store AND d.[Month] = s.m
  WHEN MATCHED THEN UPDATE SET Total = s.t, Cnt = s.c
  WHEN NOT MATCHED THEN INSERT (Store, [Month], Total, Cnt) VALUES (s.Store, s.m, s.t, s.c)
  WHEN NOT MATCHED BY SOURCE THEN DELETE;
  DECLARE @h uniqueidentifier, @t sysname
  WHILE EXISTS (SELECT 1 FROM @in)
  BEGIN
    SELECT TOP 1 @h = h, @t = t FROM @in ORDER BY ord
    IF @t = N'//etl/batch' SEND ON CONVERSATION @h MESSAGE TYPE [//etl/done]
    ELSE END CONVERSATION @h
    DELETE @in WHERE ord = (SELECT MIN(ord) FROM @in)
  END
  COMMIT
  RETURN 0
END
GO
DECLARE @r dbo.BatchRows, @c uniqueidentifier
INSERT @r VALUES (1, 'north', 10.50, '2024-01-05'), (2, 'south', 20, '2024-01-06'), (3, 'north', 5.25, '2024-02-01')
EXEC dbo.SendBatch @r, @c OUTPUT
DELETE @r
INSERT @r VALUES (3, 'north', 6.00, '2024-02-01'), (4, 'south', 1, '2024-02-02')
EXEC dbo.SendBatch @rows = @r, @conv = @c OUTPUT
DECLARE @rc int
EXEC @rc = dbo.LoadBatches
PRINT @rc
EXEC @rc = LoadBatches
PRINT @rc
SELECT Store, [Month], Total, Cnt FROM dw_Sales ORDER BY 1, 2
SELECT Store, SUM(Total) AS total, GROUPING(Store) g FROM dw_Sales GROUP BY ROLLUP (Store) ORDER BY g, Store
SELECT CASE WHEN COUNT(DISTINCT RowVer) = COUNT(*) THEN 'versions differ' END FROM dw_Sales
SELECT COUNT(*) FROM etlSource
GO

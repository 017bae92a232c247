-- ETL: files of rows come as messages, are staged, merged, and the rejects go back
USE tempdb
GO
IF OBJECT_ID('tempdb..#log') IS NOT NULL DROP TABLE #log
CREATE TABLE #log (step varchar(30), n int)
GO
IF SCHEMA_ID('stg') IS NULL EXEC sp_executesql N'CREATE SCHEMA stg'
GO
IF TYPE_ID('stg.RowList') IS NOT NULL DROP TYPE stg.RowList
GO
CREATE TYPE stg.RowList AS TABLE (line int NOT NULL, sku nvarchar(20) NULL, qty nvarchar(20) NULL, price nvarchar(20) NULL, PRIMARY KEY CLUSTERED (line ASC) WITH (IGNORE_DUP_KEY = OFF))
GO
CREATE TABLE stg.Product (sku nvarchar(20) NOT NULL CONSTRAINT pk_p PRIMARY KEY, qty int NOT NULL, price decimal(9,2) NULL, changed datetime2(0) NOT NULL CONSTRAINT df_p_changed DEFAULT SYSDATETIME(), ver int NOT NULL DEFAULT 1)
CREATE TABLE stg.Reject (id int IDENTITY(100, 10), file_no int, line int, reason nvarchar(200), CONSTRAINT pk_r PRIMARY KEY (id))
CREATE TABLE stg.Files (file_no int IDENTITY, h uniqueidentifier ROWGUIDCOL UNIQUE, received smalldatetime, rows_in int, rows_ok int, status AS CASE WHEN rows_ok IS NULL THEN 'new' WHEN rows_ok = rows_in THEN 'ok' ELSE 'partial' END)
GO
CREATE MESSAGE TYPE [stg/file] VALIDATION = WELL_FORMED_XML;
CREATE MESSAGE TYPE [stg/rejects] VALIDATION = WELL_FORMED_XML;
CREATE CONTRACT [stg/load] ([stg/file] SENT BY INITIATOR, [stg/rejects] SENT BY TARGET);
CREATE QUEUE stg.InQueue; CREATE QUEUE stg.SourceQueue;
CREATE SERVICE [stg/loader] ON QUEUE stg.InQueue ([stg/load]);
CREATE SERVICE [stg/source] ON QUEUE stg.SourceQueue;
GO
CREATE PROCEDURE stg.Load @rows stg.RowList READONLY, @file int, @ok int OUT
AS
SET NOCOUNT ON
DECLARE @changes TABLE (act nvarchar(10), sku nvarchar(20), old_qty int, new_qty int)
;WITH typed AS (
    SELECT line, sku, TRY_CONVERT(int, qty) AS q, TRY_CAST(REPLACE(price, ',', '.') AS decimal(9,2)) AS p, price,
           ROW_NUMBER() OVER (PARTITION BY sku ORDER BY line DESC) AS rn
    FROM @rows)
SELECT line, sku, q, p, rn,
    CASE WHEN NULLIF(LTRIM(RTRIM(sku)), '') IS NULL THEN N'no sku'
         WHEN q IS NULL THEN N'bad quantity'
         WHEN p IS NULL AND price IS NOT NULL THEN N'bad price'
         WHEN rn > 1 THEN N'superseded' END AS reason
INTO #t FROM typed
INSERT stg.Reject (file_no, line, reason) SELECT @file, line, reason FROM #t WHERE reason IS NOT NULL ORDER BY line
MERGE INTO stg.Product WITH (HOLDLOCK) AS tgt
USING (SELECT sku, q, p FROM #t WHERE reason IS NULL) AS src ON tgt.sku = src.sku
WHEN MATCHED AND src.q = 0 THEN DELETE
WHEN MATCHED AND (tgt.qty <> src.q OR ISNULL(tgt.price, -1) <> ISNULL(src.p, -1)) THEN UPDATE SET qty = src.q, price = COALESCE(src.p, tgt.price), ver += 1
WHEN NOT MATCHED BY TARGET AND src.q > 0 THEN INSERT (sku, qty, price) VALUES (src.sku, src.q, src.p)
OUTPUT $action, COALESCE(inserted.sku, deleted.sku), deleted.qty, inserted.qty INTO @changes;
SELECT @ok = COUNT(*) FROM #t WHERE reason IS NULL
INSERT #log SELECT act, COUNT(*) FROM @changes GROUP BY act
UPDATE stg.Files SET rows_in = (SELECT COUNT(*) FROM @rows), rows_ok = @ok WHERE file_no = @file
GO
CREATE PROCEDURE stg.ReadFiles @max tinyint = 3 AS
BEGIN
    SET NOCOUNT ON; SET XACT_ABORT ON;
    DECLARE @msgs TABLE (seq bigint, h uniqueidentifier, t nvarchar(256), b xml NULL);
    DECLARE @h uniqueidentifier, @b xml, @t nvarchar(256), @f int, @ok int;
    BEGIN TRAN;
    WHILE 1 = 1
    BEGIN
        DELETE @msgs;
        RECEIVE TOP (@max) message_sequence_number, conversation_handle, message_type_name, CASE validation WHEN 'X' THEN CAST(message_body AS xml) END
        FROM stg.InQueue INTO @msgs;
        IF NOT EXISTS (SELECT * FROM @msgs) BREAK;
        DECLARE m CURSOR LOCAL READ_ONLY FOR SELECT h, t, b FROM @msgs ORDER BY seq;
        OPEN m;
        FETCH NEXT FROM m INTO @h, @t, @b;
        WHILE (@@FETCH_STATUS <> -1)
        BEGIN
            IF (@@FETCH_STATUS <> -2) AND @t = 'stg/file'
            BEGIN
                INSERT stg.Files (h, received) SELECT @h, GETDATE() WHERE NOT EXISTS (SELECT * FROM stg.Files WHERE h = @h);
                SET @f = ISNULL((SELECT file_no FROM stg.Files WHERE h = @h), SCOPE_IDENTITY());
                DECLARE @r stg.RowList;
                DELETE @r;
                INSERT INTO @r (line, sku, qty, price)
                SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)), x.value('@sku', 'nvarchar(20)'), x.value('(qty/text())[1]', 'nvarchar(20)'), x.value('price[1]', 'nvarchar(20)')
                FROM @b.nodes('/file/row') AS n(x);
                EXEC stg.Load @rows = @r, @file = @f, @ok = @ok OUTPUT;
                DECLARE @answer xml = (SELECT line AS [@line], reason AS [text()] FROM stg.Reject WHERE file_no = @f ORDER BY line FOR XML PATH ('reject'), ROOT ('rejects'), TYPE);
                IF @answer IS NOT NULL SEND ON CONVERSATION @h MESSAGE TYPE [stg/rejects] (@answer);
            END
            ELSE IF @t LIKE '%/EndDialog' END CONVERSATION @h;
            FETCH NEXT FROM m INTO @h, @t, @b;
        END
        CLOSE m; DEALLOCATE m;
    END
    COMMIT;
END
GO
DECLARE @h uniqueidentifier, @x xml;
BEGIN DIALOG @h FROM SERVICE [stg/source] TO SERVICE N'stg/loader' ON CONTRACT [stg/load] WITH ENCRYPTION = OFF;
SET @x = N'<file><row sku="A"><qty>5</qty><price>1,50</price></row><row sku="B"><qty>7</qty></row><row sku="A"><qty>6</qty><price>1.60</price></row><row><qty>1</qty></row><row sku="C"><qty>many</qty></row></file>';
SEND ON CONVERSATION @h MESSAGE TYPE [stg/file] (@x);
BEGIN DIALOG @h FROM SERVICE [stg/source] TO SERVICE N'stg/loader' ON CONTRACT [stg/load] WITH ENCRYPTION = OFF;
SET @x.modify('delete /file/row[3]'); SET @x.modify('replace value of (/file/row[@sku="B"]/qty/text())[1] with "0"'); SET @x.modify('insert <row sku="D"><qty>3</qty><price>x</price></row> as last into (/file)[1]');
SEND ON CONVERSATION @h MESSAGE TYPE [stg/file] (@x);
EXEC stg.ReadFiles;
SELECT sku, qty, price, ver FROM stg.Product ORDER BY sku;
SELECT * FROM stg.Reject;
SELECT file_no, rows_in, rows_ok, status FROM stg.Files;
SELECT * FROM #log ORDER BY 1, 2;
RECEIVE CAST(message_body AS xml) AS b FROM stg.SourceQueue WHERE conversation_handle = @h;
GO

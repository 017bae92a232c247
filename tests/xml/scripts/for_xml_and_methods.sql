CREATE TABLE dbo.orders (id int, customer nvarchar(50), placed datetime, total money, note nvarchar(50) NULL, doc xml NULL);
INSERT INTO dbo.orders VALUES (1, N'ACME & Co', '20261120 10:00:00', 12.5, NULL, N'<x a="1">t</x>'), (2, N'Bob', '20261121', 1, N'n', NULL);
GO
SELECT id AS '@id', customer, placed AS 'at', total AS 'sum/total', note AS 'sum/note', doc FROM dbo.orders ORDER BY id FOR XML PATH('order'), ROOT('orders');
SELECT id, customer FROM dbo.orders FOR XML RAW;
SELECT id, customer FROM dbo.orders FOR XML AUTO, ELEMENTS;
SELECT id, note FROM dbo.orders FOR XML RAW('o'), ELEMENTS XSINIL;
SELECT N'I' AS op, (SELECT id, note FROM dbo.orders FOR XML RAW('new'), TYPE), doc FROM dbo.orders WHERE id = 1 FOR XML RAW('change');
SELECT STUFF((SELECT ',' + customer FROM dbo.orders ORDER BY id FOR XML PATH(''), TYPE).value('.', 'nvarchar(max)'), 1, 1, '') AS names;
SELECT (SELECT id AS 'data()' FROM dbo.orders ORDER BY id FOR XML PATH('')) AS ids;
WITH XMLNAMESPACES ('urn:a' AS a, DEFAULT 'urn:d') SELECT id AS '@a:id', note FROM dbo.orders FOR XML PATH('a:o'), ROOT('r');
WITH XMLNAMESPACES ('urn:a' AS a) SELECT id AS 'a:id', note AS 'b:note' FROM dbo.orders FOR XML RAW('a:o'), ROOT('a:r');
WITH XMLNAMESPACES ('urn:a' AS a) SELECT [a:o].id AS 'a:id', note AS 'a:n 1' FROM dbo.orders AS [a:o] FOR XML AUTO, ELEMENTS;
GO
DECLARE @x xml = (SELECT id AS '@id', (SELECT customer AS 'c' FOR XML PATH(''), TYPE) AS inner_xml FROM dbo.orders ORDER BY id FOR XML PATH('o'), ROOT('r'), TYPE);
SELECT @x;
SELECT T.c.value('@id', 'int') AS id, T.c.value('(inner_xml/c)[1]', 'nvarchar(20)') AS c, T.c.query('inner_xml') q FROM @x.nodes('/r/o') AS T(c) WHERE T.c.exist('inner_xml[c="Bob"]') = 0;
SET @x.modify('insert <new n="{count(/r/o)}"/> as last into (/r)[1]');
DECLARE @n int = 7; DECLARE @y xml = N'<y/>';
SET @x.modify('replace value of (/r/new/@n)[1] with sql:variable("@n")');
SET @x.modify('insert sql:variable("@y") into (/r/new)[1]');
SELECT @x.query('/r/new') AS q, @x.value('count(/r/o)', 'int') AS n, CAST(@x AS nvarchar(max)) AS t;
IF @x.exist('/r/new[@n=7]') = 1 PRINT 'seven';
SELECT o.id, t.c.value('@a', 'int') AS a, t.c.value('.', 'varchar(10)') AS v FROM dbo.orders o CROSS APPLY o.doc.nodes('/x') AS t(c);
UPDATE dbo.orders SET doc.modify('delete /x/@a') WHERE id = 1;
SELECT doc FROM dbo.orders WHERE id = 1;
DECLARE @b varbinary(max) = CAST(N'<m><Code>12</Code></m>' AS varbinary(max));
SELECT CAST(@b AS xml).value('(/m/Code)[1]', 'int') AS code;
WITH XMLNAMESPACES ('http://schemas.microsoft.com/SQL/ServiceBroker/Error' AS ssb)
SELECT CAST(N'<Error xmlns="http://schemas.microsoft.com/SQL/ServiceBroker/Error"><Code>-8462</Code><Description>d</Description></Error>' AS xml).value('(//ssb:Error/ssb:Code)[1]', 'INT') AS code;
GO
DECLARE @d xml;
BEGIN TRY SET @d = N'<a><b></a>'; END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS n, ERROR_MESSAGE() AS m; END CATCH;
SELECT TRY_CONVERT(xml, N'<a>') AS t;
GO
-- bytes and identifiers from variables and columns
DECLARE @b varbinary(max) = 0x0102FF, @hex varchar(9) = '0102FFAA', @h uniqueidentifier = '0011aabb-4455-6677-8899-aabbccddeeff', @x xml = '<r h="0011AABB-4455-6677-8899-AABBCCDDEEFF"/>'
SELECT CAST('' AS xml).value('xs:base64Binary(sql:column("t.b"))', 'varchar(max)') AS base64, CAST('' AS xml).value('xs:base64Binary(xs:hexBinary(sql:variable("@b")))', 'varchar(9)') AS again,
       CAST('' AS xml).value('xs:hexBinary(sql:variable("@hex"))', 'varbinary(max)') AS bytes, @x.exist('/r[@h = sql:variable("@h")]') AS found
  FROM (VALUES (@b)) AS t (b)
SET @x.modify('insert <file>{sql:variable("@b")}</file> into (/r)[1]')
SELECT @x AS x, @x.value('(/r/file)[1]', 'varbinary(max)') AS file_

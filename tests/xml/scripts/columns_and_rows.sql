CREATE XML SCHEMA COLLECTION dbo.OrderSchema AS N'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="o" type="xs:int"/></xs:schema>';
GO
CREATE TABLE dbo.t (id int, x xml, y xml(dbo.OrderSchema) NULL);
GO
DECLARE @x XML, @y XML(dbo.OrderSchema);
SET @x = N'<r><o id="1"><n>a</n></o><o id="2"><n>b</n></o></r>';
SET @y = N'<o>12</o>';
INSERT INTO dbo.t (id, x, y) SELECT T.c.value('@id','int'), T.c.query('.'), NULL FROM @x.nodes('/r/o') AS T(c);
SELECT id, x.value('(/o/n)[1]', 'varchar(5)') AS n FROM dbo.t WHERE x.exist('/o[n="b"]') = 1;
SELECT COUNT(*) AS c FROM @x.nodes('/r/o') AS T(c) WHERE T.c IS NOT NULL;
SELECT @x.query('/r/o[1]').value('(/o/@id)[1]', 'int') AS chained;
SELECT @y.value('(/o)[1]', 'int') + 1 AS typed;
DECLARE @id int = 2;
SELECT T.c.value('(n/text())[1]', 'nvarchar(10)') AS n, ROW_NUMBER() OVER (ORDER BY T.c) AS rn FROM @x.nodes('/r/o[@id=sql:variable("@id")]') AS T(c);
SELECT t.id, u.c.value('.', 'nvarchar(10)') FROM dbo.t AS t OUTER APPLY t.x.nodes('/o/zz') AS u(c);
GO
DECLARE @x xml = N'<a/>'; SELECT @x.value('/a/b', 'int');
GO
DECLARE @x xml; SET @x.modify('delete /a');
GO
DECLARE @x xml = N'<a b="1"/>'; IF @x.value('(/a/@b)[1]','int') = 1 SELECT DATALENGTH(@x) AS dl, LEN(CONVERT(nvarchar(max), @x)) AS l;
SELECT CONVERT(varchar(max), @x) + 'z' AS s;
SELECT @x AS [x] FOR XML PATH('r');
SELECT CONVERT(xml, N'<a>  <b/> </a>', 1) AS kept;
SELECT CAST('<a/>' AS xml) AS a UNION ALL SELECT CAST('<b/>' AS xml);

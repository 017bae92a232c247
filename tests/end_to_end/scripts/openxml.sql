DECLARE @lab int, @text varchar(500)
SET @text = '<lab><shelf no="7" room="east"><jar label="salt" grams="12"/><jar label="zinc" grams="3.5"/></shelf><shelf no="8"><keeper>Ida</keeper></shelf></lab>'
EXEC sp_xml_preparedocument @lab OUTPUT, @text
SELECT * FROM OPENXML(@lab, '/lab/shelf', 1) WITH ([no] int, room varchar(10))
SELECT label, g * 2 AS double_grams, shelf FROM OPENXML(@lab, '/lab/shelf/jar', 2) WITH (label varchar(10) '@label', g decimal(5,1) '@grams', shelf int '../@no')
SELECT s.keeper, s.[no] FROM OPENXML(@lab, '/lab/shelf', 3) WITH ([no] int, keeper nvarchar(20)) AS s WHERE s.keeper IS NOT NULL
CREATE TABLE #shelves (no int, room varchar(10))
INSERT #shelves SELECT * FROM OPENXML(@lab, '/lab/shelf', 1) WITH ([no] int, room varchar(10))
SELECT COUNT(*) AS shelves FROM #shelves
EXEC sp_xml_removedocument @lab
DECLARE @x xml = '<a b="7"/>', @second int
EXEC sys.sp_xml_preparedocument @hdoc = @second OUTPUT, @xmltext = @x
SELECT b FROM OPENXML(@second, 'a') WITH (b int)
SELECT b FROM OPENXML(99, '/a') WITH (b int)
GO
DECLARE @told int, @error xml = N'<Error xmlns="http://schemas.microsoft.com/SQL/ServiceBroker/Error"><Code>-8408</Code><Description>No &lt;contract&gt;</Description></Error>'
EXEC sp_xml_preparedocument @told OUTPUT, @error, N'<r xmlns:e="http://schemas.microsoft.com/SQL/ServiceBroker/Error" xmlns:o=''urn:other'' />'
SELECT Code, Told FROM OPENXML(@told, '/e:Error', 2) WITH (Code int 'e:Code', Told nvarchar(3000) 'e:Description')
SELECT Code FROM OPENXML(@told, '/o:Error', 2) WITH (Code int 'e:Code')
EXEC sp_xml_removedocument @told
-- The number is the next document's; its prefixes are not.
EXEC sp_xml_preparedocument @hdoc = @told OUTPUT, @xmltext = @error
SELECT Code FROM OPENXML(@told, '/e:Error', 2) WITH (Code int 'e:Code')
GO
DECLARE @told int
EXEC sp_xml_preparedocument @told OUTPUT, N'<a/>', N'<r xmlns:e='
GO
-- What is no XML ends the statement alone, and its transaction can be committed.
CREATE TABLE #read (outcome nvarchar(200))
DECLARE @told int, @code int
EXEC @code = sp_xml_preparedocument @told OUTPUT, N'<a><b></a>'
PRINT CONCAT('error ', @@ERROR, ' code ', @code)
EXEC sp_xml_removedocument @told
BEGIN TRANSACTION
BEGIN TRY
    EXEC sp_xml_preparedocument @told OUTPUT, N'<a>'
END TRY
BEGIN CATCH
    INSERT #read VALUES (CONCAT(ERROR_NUMBER(), '/', ERROR_STATE(), ' ', ERROR_MESSAGE(), ' ', XACT_STATE()))
END CATCH
COMMIT
SELECT outcome FROM #read
-- No text, and NULL, are documents without elements.
EXEC @code = sp_xml_preparedocument @told OUTPUT
SELECT b FROM OPENXML(@told, '/a') WITH (b int)
EXEC sp_xml_removedocument @told
EXEC @code = sp_xml_preparedocument @told OUTPUT, NULL
SELECT b FROM OPENXML(@told, '/a') WITH (b int)
EXEC sp_xml_removedocument @told
PRINT CONCAT('error ', @@ERROR, ' code ', @code)
GO
-- The columns of a table, without patterns; of one that nobody knows yet the run is refused, whatever it has then.
CREATE TABLE dbo.jars (label varchar(10) NOT NULL, grams decimal(6,2) DEFAULT 1, Filled datetime)
GO
DECLARE @lab int
EXEC sp_xml_preparedocument @lab OUTPUT, N'<lab><jar label="salt" grams="12" Filled="2026-01-02T03:04:05"/><jar label="zinc" filled="2026-01-02"/></lab>'
INSERT jars SELECT * FROM OPENXML(@lab, '/lab/jar') WITH [dbo].[jars]
SELECT j.label, x.Filled FROM OPENXML(@lab, '/lab/jar', 1) WITH jars x JOIN jars j ON j.label = x.label ORDER BY j.label
UPDATE j SET grams = x.grams + 1 FROM jars AS j INNER JOIN OPENXML(@lab, 'lab/jar', 1) WITH jars AS x ON x.label = j.label
SELECT label, grams, Filled FROM jars ORDER BY label
CREATE TABLE #labels (label varchar(2))
SELECT label FROM OPENXML(@lab, '/lab/jar', 1) WITH #labels
SELECT label FROM OPENXML(@lab, '/lab/jar', 1) WITH dbo.shelves
GO
CREATE PROCEDURE dbo.read_later AS
SELECT label FROM OPENXML(1, '/lab/jar', 1) WITH dbo.later
GO
EXEC dbo.read_later
GO
CREATE TABLE dbo.later (label varchar(2))
GO
EXEC dbo.read_later
GO

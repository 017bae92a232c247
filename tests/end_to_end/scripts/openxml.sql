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

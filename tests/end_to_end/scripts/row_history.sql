-- A trigger sends what changed; a reader writes it down.
CREATE TABLE Plant (id int IDENTITY PRIMARY KEY, name varchar(20) NOT NULL, height money DEFAULT 0)
CREATE TABLE History (nr int IDENTITY, kind char(1), was xml, became xml)
CREATE MESSAGE TYPE Change VALIDATION = WELL_FORMED_XML
CREATE CONTRACT Changes (Change SENT BY INITIATOR)
CREATE QUEUE Garden CREATE QUEUE Diary
CREATE SERVICE Gardener ON QUEUE Garden CREATE SERVICE Writer ON QUEUE Diary (Changes)
GO
CREATE TRIGGER plant_changed ON Plant AFTER INSERT, UPDATE, DELETE AS
IF @@ROWCOUNT = 0 RETURN
SET NOCOUNT ON
DECLARE @talk uniqueidentifier, @note xml, @kind char(1) =
    CASE WHEN NOT EXISTS (SELECT * FROM inserted) THEN 'D' WHEN EXISTS (SELECT * FROM deleted) THEN 'U' ELSE 'I' END
SET @note = (SELECT @kind AS [@kind], (SELECT * FROM deleted FOR XML PATH('row'), TYPE) AS was,
                    (SELECT * FROM inserted FOR XML PATH('row'), TYPE) AS became FOR XML PATH('change'), TYPE)
BEGIN DIALOG @talk FROM SERVICE Gardener TO SERVICE 'Writer' ON CONTRACT Changes WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @talk MESSAGE TYPE Change (@note)
END CONVERSATION @talk
GO
INSERT Plant (name, height) VALUES ('fern', 10), ('moss', 0.5)
UPDATE Plant SET height = height * 1.5 WHERE name = 'fern'
UPDATE Plant SET height = 1 WHERE name = 'oak'
DELETE Plant WHERE name = 'moss'
GO
SET NOCOUNT ON
DECLARE @note xml, @type sysname, @talk uniqueidentifier
WHILE 1 = 1
BEGIN
    RECEIVE TOP (1) @note = message_body, @type = message_type_name, @talk = conversation_handle FROM Diary
    IF @@ROWCOUNT = 0 BREAK
    IF @type = 'Change'
        INSERT History (kind, was, became)
        SELECT c.n.value('@kind', 'char(1)'), c.n.query('was/row'), c.n.query('became/row') FROM @note.nodes('/change') AS c(n)
    ELSE END CONVERSATION @talk
END
SELECT kind, was, became FROM History ORDER BY nr
SELECT h.nr, r.n.value('(name)[1]', 'varchar(20)') AS name, r.n.value('(height/text())[1]', 'money') AS height
FROM History AS h CROSS APPLY h.became.nodes('/row') AS r(n)
GO

-- A table called as the record in which compiled text keeps @@ERROR would have its column read for it: refused, until it has an alias.
CREATE TABLE dbo.Session (id int, Error int, rowcnt int)
INSERT dbo.Session VALUES (1, 77, 5)
GO
UPDATE Session SET rowcnt = @@ERROR
GO
UPDATE s SET rowcnt = @@ERROR FROM Session s
SELECT id, @@ROWCOUNT AS r, @@TRANCOUNT AS t FROM Session
SELECT * FROM Session s WHERE EXISTS (SELECT 1 FROM Session WHERE id = @@ERROR)
GO
SELECT * FROM Session
GO

-- CREATE RULE and CREATE DEFAULT, bound to columns, as scripts of version 2000 have them.
IF EXISTS (SELECT * FROM sysobjects WHERE name = 'zero' AND type = 'D') DROP DEFAULT zero
GO
CREATE DEFAULT zero AS 0
GO
create default dbo.[no phone] as 'UNKNOWN'
GO
CREATE RULE dbo.positive AS @v > 0
GO
create rule pub_idrule as @pub_id in ('1389', '0736') or @pub_id like '99[0-9][0-9]'
GO
CREATE TABLE titles (id int IDENTITY, price money NULL, pub_id char(4), phone varchar(12) NOT NULL)
INSERT titles (price, pub_id, phone) VALUES (-1, '0000', '1')
GO
EXEC sp_bindefault 'zero', 'titles.price'
EXEC sp_bindefault @defname = '[no phone]', @objname = 'dbo.titles.phone'
EXEC sp_bindrule 'pub_idrule', 'titles.pub_id'
EXEC sp_bindrule 'dbo.positive', 'titles.[id]'
GO
INSERT titles (pub_id) VALUES ('9912')
INSERT titles (pub_id) VALUES ('1234')
UPDATE titles SET pub_id = 'abcd' WHERE id = 2
SELECT id, price, pub_id, phone FROM titles ORDER BY id
GO
EXEC sp_unbindrule 'titles.pub_id'
EXEC sp_unbindefault 'titles.price'
DROP RULE pub_idrule
DROP DEFAULT zero
GO
INSERT titles (pub_id) VALUES ('1234')
SELECT price, pub_id FROM titles WHERE id > 2
GO
EXEC sp_bindrule 'pub_idrule', 'titles.pub_id'
GO
-- Names in quotes of either kind, with a quote in them.
CREATE RULE [at least]]one] AS @v >= 1
GO
CREATE TABLE [odd]]table] ([a'b] int)
GO
EXEC sp_bindrule '[at least]]one]', '[odd]]table]."a''b"'
GO
INSERT [odd]]table] VALUES (0)
GO
DROP TABLE [odd]]table]
DROP RULE [at least]]one]
GO
EXEC sp_bindrule '[at least]]one]', 'titles.id'
GO
-- KILL takes the number of a session.
KILL 2147483
GO
DECLARE @me varchar(20) = 'KILL ' + CAST(@@SPID AS varchar(10))
EXEC (@me)
GO
KILL 2147483 WITH STATUSONLY
GO

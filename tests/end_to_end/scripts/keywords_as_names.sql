create table conversation (send int, receive int, dialog int, status varchar(10), target int, service int, queue int, message int, contract int, type int, timer int, handle uniqueidentifier, [timeout] int, [group] int, activation int, retention int, lifetime int, priority int, initiator int, get int, [move] int, body int, route int, [first] int, [last] int, name sysname null, value int, [day] int, [month] int, level int, state int, number int, output int, source int, [date] datetime, [time] time, "order" int)
GO
insert conversation (send, receive, dialog, status, target, service, queue, message, contract, type) values (1,2,3,'x',4,5,6,7,8,9)
select send, receive, dialog, status, target, service, queue, message, contract, type, timer, handle from conversation
select c.send, c.receive as receive, c.dialog dialog, status = c.status, [target] = target from conversation as c where c.send = 1 and c.receive > 0 order by send, receive
update conversation set send = send + 1, receive = receive - 1, status = 'y' where dialog = 3
delete conversation where send = 77
GO
create procedure send @send int, @receive int = 2, @status varchar(10) output as set @status = 's' + cast(@send as varchar(10))
GO
declare @status varchar(10), @conversation uniqueidentifier
exec send 1, @status = @status output
print @status
exec send @send = 5, @receive = 7, @status = @status out
print @status
exec dbo.send 8, default, @status output
print @status
GO
create view message as select message as send from conversation
GO
select * from message
select count(*) queue from dbo.[message] as receive
GO
create queue status with status = on
create service service on queue status
create service [send] on queue dbo.[status] ([DEFAULT])
declare @dialog uniqueidentifier
begin dialog @dialog from service service to service 'send'
send on conversation @dialog ('x')
receive status, priority, queuing_order, message_body from status
receive * from dbo.status
GO
create type receive from int
GO
declare @send receive = 4 print @send
GO
create message type message
create contract contract (message sent by any)
create queue queue
create queue [conversation group]
drop contract contract
drop message type message
GO
select type from (select 1 type) type
select send.send from (select 1 send) send
GO
GO
-- Variables with two @: theirs, and another one than that with one.
DECLARE @@n INT = 5, @n INT = 1, @@rows TABLE (a INT)
SET @@n += 1
INSERT @@rows VALUES (@@n), (@n)
SELECT @@n AS nn, @n AS n, (SELECT SUM(a) FROM @@rows) AS s
IF @@n = 6 AND @@ROWCOUNT = 1 PRINT @@n
GO
CREATE PROCEDURE more @@a INT, @@b INT OUTPUT AS SET @@b = @@a + 1
GO
DECLARE @@b INT
EXEC more @@a = 4, @@b = @@b OUTPUT
PRINT @@b
GO
-- Words that PL/pgSQL reserves.
CREATE PROC dbo.Loop @max INT = 3 AS PRINT @max
GO
EXEC dbo.Loop
GO
CREATE PROC dbo.[while] @max INT = 3 AS DECLARE @begin INT = 1, @loop INT = 2; PRINT @max + @begin + @loop
GO
EXEC dbo.[while]
GO
CREATE FUNCTION dbo.[strict] (@if INT) RETURNS INT AS BEGIN RETURN @if + 1 END
GO
CREATE PROC dbo.[foreach] @x INT AS
BEGIN
    UPDATE dbo.[execute] SET [while] = @x WHERE [loop] = @x
    PRINT @@ROWCOUNT
    WHILE @x < dbo.[strict](3) SET @x += 1
    PRINT @x
    IF EXISTS (SELECT [loop] FROM dbo.[execute] WHERE [begin] IS NULL) GOTO loop
    PRINT 'never'
loop:
    SET @x += 1
    IF @x < 7 GOTO loop
    PRINT @x
END
GO
CREATE TABLE dbo.[execute] ([while] INT, [loop] INT, [begin] INT, [declare] INT, [into] INT, [strict] INT, [by] INT, [exit] INT)
GO
CREATE TRIGGER [for] ON dbo.[execute] AFTER INSERT AS SELECT [loop] FROM inserted
GO
INSERT dbo.[execute] ([loop], [strict]) VALUES (1, 8)
GO
EXEC dbo.[foreach] 1
SELECT [while], [loop], [begin], [declare], [into], [strict], [by], [exit] FROM dbo.[execute]
DECLARE @a INT, @b INT; SELECT @a = [into], @b = [strict] FROM dbo.[execute]; PRINT ISNULL(@a, 7) + @b
EXEC ('SELECT [loop] AS [begin] FROM dbo.[execute]')

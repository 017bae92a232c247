-- case: begin dialog, short
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER
BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b'
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=UNIQUEIDENTIFIER), VariableDeclaration(variable=@g type=UNIQUEIDENTIFIER))
BeginDialog handle=@h from_service=a to_service='b'

-- case: begin dialog, every clause
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER
BEGIN DIALOG CONVERSATION @h
  FROM SERVICE [//a] TO SERVICE N'//b', 'CURRENT DATABASE' ON CONTRACT [//c]
  WITH RELATED_CONVERSATION = @g, LIFETIME = 60, ENCRYPTION = OFF;
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=UNIQUEIDENTIFIER), VariableDeclaration(variable=@g type=UNIQUEIDENTIFIER))
BeginDialog handle=@h from_service=[//a] to_service=N'//b' broker_instance='CURRENT DATABASE' contract=[//c] related_conversation=`@g` lifetime=`60` encryption=False

-- case: begin dialog, options without commas
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER
BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b', 'D8D4D268-00A3-4C62-8F91-634B89C1E315' WITH RELATED_CONVERSATION_GROUP = @g LIFETIME = 600 ENCRYPTION = ON
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=UNIQUEIDENTIFIER), VariableDeclaration(variable=@g type=UNIQUEIDENTIFIER))
BeginDialog handle=@h from_service=a to_service='b' broker_instance='D8D4D268-00A3-4C62-8F91-634B89C1E315' related_conversation_group=`@g` lifetime=`600` encryption=True

-- case: begin dialog, names in variables
DECLARE @h uniqueidentifier, @a sysname, @b nvarchar(256), @c sysname, @i nvarchar(128), @l int
BEGIN DIALOG @h FROM SERVICE @a TO SERVICE @b, @i ON CONTRACT @c WITH LIFETIME = @l
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=uniqueidentifier), VariableDeclaration(variable=@a type=sysname), VariableDeclaration(variable=@b type=nvarchar(256)), VariableDeclaration(variable=@c type=sysname), VariableDeclaration(variable=@i type=nvarchar(128)), VariableDeclaration(variable=@l type=int))
BeginDialog handle=@h from_service=@a to_service=@b broker_instance=@i contract=@c lifetime=`@l`

-- case: send, every form
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER
SEND ON CONVERSATION @h
SEND ON CONVERSATION @h (N'x')
SEND ON CONVERSATION @h MESSAGE TYPE [//m];
SEND ON CONVERSATION (@h, @g) MESSAGE TYPE m (CAST(N'<a/>' AS xml))
SEND ON CONVERSATION @h, @g MESSAGE TYPE [DEFAULT] ((SELECT 1 FOR XML PATH('a')))
SEND ON CONVERSATION 'D8D4D268-00A3-4C62-8F91-634B89C1E315' (0x01)
SEND ON CONVERSATION (@h) (NULL)
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=UNIQUEIDENTIFIER), VariableDeclaration(variable=@g type=UNIQUEIDENTIFIER))
Send handles=(`@h`)
Send handles=(`@h`) body=`N'x'`
Send handles=(`@h`) message_type=[//m]
Send handles=(`@h`, `@g`) message_type=m body=`CAST(N'<a/>' AS xml)`
Send handles=(`@h`, `@g`) message_type=DEFAULT body=`(SELECT 1 FOR XML PATH('a'))`
Send handles=(`'D8D4D268-00A3-4C62-8F91-634B89C1E315'`) body=`0x01`
Send handles=(`@h`) body=`NULL`

-- case: send, type in a variable
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER
DECLARE @t sysname
SEND ON CONVERSATION @h MESSAGE TYPE @t (@t)
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=UNIQUEIDENTIFIER), VariableDeclaration(variable=@g type=UNIQUEIDENTIFIER))
Declare declarations=(VariableDeclaration(variable=@t type=sysname))
Send handles=(`@h`) message_type=@t body=`@t`

-- case: end conversation
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER
DECLARE @n int, @d nvarchar(3000)
END CONVERSATION @h
END CONVERSATION @h WITH ERROR = 1 DESCRIPTION = N'no'
END CONVERSATION @h WITH ERROR = @n DESCRIPTION = @d;
END CONVERSATION @h WITH CLEANUP
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=UNIQUEIDENTIFIER), VariableDeclaration(variable=@g type=UNIQUEIDENTIFIER))
Declare declarations=(VariableDeclaration(variable=@n type=int), VariableDeclaration(variable=@d type=nvarchar(3000)))
EndConversation handle=`@h`
EndConversation handle=`@h` error=`1` description=`N'no'`
EndConversation handle=`@h` error=`@n` description=`@d`
EndConversation handle=`@h` cleanup=True

-- case: timer
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER
BEGIN CONVERSATION TIMER (@h) TIMEOUT = 120
BEGIN CONVERSATION TIMER (@h) TIMEOUT = 60 * 5
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=UNIQUEIDENTIFIER), VariableDeclaration(variable=@g type=UNIQUEIDENTIFIER))
BeginConversationTimer handle=`@h` timeout=`120`
BeginConversationTimer handle=`@h` timeout=`60 * 5`

-- case: conversation groups
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER
GET CONVERSATION GROUP @g FROM Trader1.dbo.q
MOVE CONVERSATION @h TO @g
WAITFOR (GET CONVERSATION GROUP @g FROM q), TIMEOUT 100
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=UNIQUEIDENTIFIER), VariableDeclaration(variable=@g type=UNIQUEIDENTIFIER))
GetConversationGroup variable=@g queue=Trader1.dbo.q
MoveConversation handle=`@h` group=`@g`
WaitForMessage statement=GetConversationGroup(variable=@g queue=q) timeout=`100`

-- case: receive, every form
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER
DECLARE @n int, @t TABLE (m varbinary(max))
RECEIVE * FROM q
RECEIVE TOP (1) * FROM dbo.q
RECEIVE TOP (@n + 1) message_body, CAST(message_body AS nvarchar(max)) AS body, message_type_name type, t = 1, 'x' = 2, 3 AS 'three' FROM q
RECEIVE TOP (1) @h = conversation_handle, @g = conversation_group_id FROM q
RECEIVE * FROM q INTO @t WHERE conversation_handle = @h
RECEIVE message_body FROM q INTO @t WHERE conversation_group_id = @g
RECEIVE CASE WHEN validation = 'X' THEN 1 ELSE 0 END, status, priority FROM q
RECEIVE TOP(1) CONVERT(xml, message_body) FROM q
RECEIVE (message_body) AS b, -status FROM q
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=UNIQUEIDENTIFIER), VariableDeclaration(variable=@g type=UNIQUEIDENTIFIER))
Declare declarations=(VariableDeclaration(variable=@n type=int), TableVariableDeclaration(variable=@t definition=TableDefinition(columns=(ColumnDefinition(name=m type=varbinary(MAX))))))
Receive items=(ReceiveStar()) queue=q
Receive top=`1` items=(ReceiveStar()) queue=dbo.q
Receive top=`@n + 1` items=(ReceiveColumn(expression=`message_body`), ReceiveColumn(expression=`CAST(message_body AS nvarchar(max))` alias=body), ReceiveColumn(expression=`message_type_name` alias=type), ReceiveColumn(expression=`1` alias=t), ReceiveColumn(expression=`2` alias=x), ReceiveColumn(expression=`3` alias=three)) queue=q
Receive top=`1` items=(ReceiveAssignment(variable=@h expression=`conversation_handle`), ReceiveAssignment(variable=@g expression=`conversation_group_id`)) queue=q
Receive items=(ReceiveStar()) queue=q into=@t where=ReceiveFilter(column=conversation_handle value=`@h`)
Receive items=(ReceiveColumn(expression=`message_body`)) queue=q into=@t where=ReceiveFilter(column=conversation_group_id value=`@g`)
Receive items=(ReceiveColumn(expression=`CASE WHEN validation = 'X' THEN 1 ELSE 0 END`), ReceiveColumn(expression=`status`), ReceiveColumn(expression=`priority`)) queue=q
Receive top=`1` items=(ReceiveColumn(expression=`CONVERT(xml, message_body)`)) queue=q
Receive items=(ReceiveColumn(expression=`(message_body)` alias=b), ReceiveColumn(expression=`-status`)) queue=q

-- case: waitfor
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER
DECLARE @n int
WAITFOR (RECEIVE * FROM q)
WAITFOR (RECEIVE TOP (1) @h = conversation_handle FROM q), TIMEOUT 1000;
WAITFOR ( RECEIVE * FROM q; ), TIMEOUT -1
WAITFOR (RECEIVE * FROM q), TIMEOUT @n
WAITFOR DELAY '00:00:01'
WAITFOR TIME @n
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=UNIQUEIDENTIFIER), VariableDeclaration(variable=@g type=UNIQUEIDENTIFIER))
Declare declarations=(VariableDeclaration(variable=@n type=int))
WaitForMessage statement=Receive(items=(ReceiveStar()) queue=q)
WaitForMessage statement=Receive(top=`1` items=(ReceiveAssignment(variable=@h expression=`conversation_handle`)) queue=q) timeout=`1000`
WaitForMessage statement=Receive(items=(ReceiveStar()) queue=q) timeout=`-1`
WaitForMessage statement=Receive(items=(ReceiveStar()) queue=q) timeout=`@n`
WaitForTime kind=DELAY value=`'00:00:01'`
WaitForTime kind=TIME value=`@n`

-- case: words of Service Broker as names
SELECT status, priority, message_type_name type, target, send, receive, dialog, conversation, queue, service, contract, timeout
FROM status target JOIN dialog AS conversation ON target.send = conversation.receive
SELECT receive = 1, send = 2 INTO #queue FROM receive
UPDATE send SET status = 1 WHERE receive IS NULL
INSERT INTO queue (service, contract) VALUES (1, 2)
EXEC receive
EXEC dbo.send @target = 1, @queue = 2
-- expect
SqlStatement kind=SELECT text=`SELECT status, priority, message_type_name type, target, send, receive, dialog, conversation, queue, service, contract, timeout FROM status target JOIN dialog AS conversation ON target.send = conversation.receive`
SqlStatement kind=SELECT text=`SELECT receive = 1, send = 2 INTO #queue FROM receive`
SqlStatement kind=UPDATE text=`UPDATE send SET status = 1 WHERE receive IS NULL`
SqlStatement kind=INSERT text=`INSERT INTO queue (service, contract) VALUES (1, 2)`
Execute module=receive
Execute module=dbo.send arguments=(Argument(name=@target value=`1`), Argument(name=@queue value=`2`))

-- case: no terminators between conversation statements
DECLARE @h UNIQUEIDENTIFIER, @g UNIQUEIDENTIFIER
DECLARE @n int SET @n = 1 RECEIVE TOP (1) @h = conversation_handle FROM q IF @n = 1 SEND ON CONVERSATION @h (N'a') ELSE END CONVERSATION @h
IF @n > 1 BEGIN SEND ON CONVERSATION @h (N'b') END SEND ON CONVERSATION @h (N'c') SELECT @n END CONVERSATION @h BEGIN TRAN RECEIVE * FROM q COMMIT TRAN GET CONVERSATION GROUP @g FROM q
WHILE @n < 3 SET @n += 1 MOVE CONVERSATION @h TO @g BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b' SEND ON CONVERSATION @h SELECT 1 FROM t; RECEIVE * FROM q;
;SEND ON CONVERSATION @h;;RECEIVE * FROM q
-- expect
Declare declarations=(VariableDeclaration(variable=@h type=UNIQUEIDENTIFIER), VariableDeclaration(variable=@g type=UNIQUEIDENTIFIER))
Declare declarations=(VariableDeclaration(variable=@n type=int))
SetVariable variable=@n operator== value=`1`
Receive top=`1` items=(ReceiveAssignment(variable=@h expression=`conversation_handle`)) queue=q
If condition=`@n = 1`
  Send handles=(`@h`) body=`N'a'`
Else
  EndConversation handle=`@h`
If condition=`@n > 1`
  Block
    Send handles=(`@h`) body=`N'b'`
Send handles=(`@h`) body=`N'c'`
SqlStatement kind=SELECT text=`SELECT @n`
EndConversation handle=`@h`
BeginTransaction
Receive items=(ReceiveStar()) queue=q
CommitTransaction
GetConversationGroup variable=@g queue=q
While condition=`@n < 3`
  SetVariable variable=@n operator=+= value=`1`
MoveConversation handle=`@h` group=`@g`
BeginDialog handle=@h from_service=a to_service='b'
Send handles=(`@h`)
SqlStatement kind=SELECT text=`SELECT 1 FROM t`
Receive items=(ReceiveStar()) queue=q
Send handles=(`@h`)
Receive items=(ReceiveStar()) queue=q

-- case: RECEIVE behind what takes no alias is a statement
SELECT 1 RECEIVE
SELECT a b FROM t c RECEIVE * FROM q
SELECT a FROM t AS c WHERE a = 1 RECEIVE * FROM q
SELECT a FROM t WITH (NOLOCK) RECEIVE * FROM q
SELECT x.a FROM t AS x JOIN t AS y ON x.a = y.a ORDER BY x.a, y.a RECEIVE * FROM q
DELETE FROM t RECEIVE * FROM q
INSERT INTO t VALUES (1), (2) RECEIVE * FROM q
DECLARE @n int SELECT @n = 1 RECEIVE * FROM q
UPDATE t SET a = 1 RECEIVE * FROM q
IF EXISTS (SELECT 1 FROM t) RECEIVE * FROM q
-- expect
SqlStatement kind=SELECT text=`SELECT 1 RECEIVE`
SqlStatement kind=SELECT text=`SELECT a b FROM t c`
Receive items=(ReceiveStar()) queue=q
SqlStatement kind=SELECT text=`SELECT a FROM t AS c WHERE a = 1`
Receive items=(ReceiveStar()) queue=q
SqlStatement kind=SELECT text=`SELECT a FROM t WITH (NOLOCK)`
Receive items=(ReceiveStar()) queue=q
SqlStatement kind=SELECT text=`SELECT x.a FROM t AS x JOIN t AS y ON x.a = y.a ORDER BY x.a, y.a`
Receive items=(ReceiveStar()) queue=q
SqlStatement kind=DELETE text=`DELETE FROM t`
Receive items=(ReceiveStar()) queue=q
SqlStatement kind=INSERT text=`INSERT INTO t VALUES (1), (2)`
Receive items=(ReceiveStar()) queue=q
Declare declarations=(VariableDeclaration(variable=@n type=int))
SqlStatement kind=SELECT text=`SELECT @n = 1`
Receive items=(ReceiveStar()) queue=q
SqlStatement kind=UPDATE text=`UPDATE t SET a = 1`
Receive items=(ReceiveStar()) queue=q
If condition=`EXISTS (SELECT 1 FROM t)`
  Receive items=(ReceiveStar()) queue=q

-- case: receive's list may begin with a parenthesis or a sign; behind a table's name they are its own
RECEIVE (message_body) FROM q
GO
WAITFOR (RECEIVE (message_body) AS b FROM q), TIMEOUT 5
IF 1 = 1 BEGIN RECEIVE (status) FROM q END ELSE RECEIVE -status AS s FROM q
GO
CREATE TABLE receive (a INT)
INSERT receive (a) VALUES (1)
-- expect
Receive items=(ReceiveColumn(expression=`(message_body)`)) queue=q
GO
WaitForMessage statement=Receive(items=(ReceiveColumn(expression=`(message_body)` alias=b)) queue=q) timeout=`5`
If condition=`1 = 1`
  Block
    Receive items=(ReceiveColumn(expression=`(status)`)) queue=q
Else
  Receive items=(ReceiveColumn(expression=`-status` alias=s)) queue=q
GO
CreateTable name=receive definition=TableDefinition(columns=(ColumnDefinition(name=a type=INT)))
SqlStatement kind=INSERT text=`INSERT receive (a) VALUES (1)`

-- case: valid_xml without a collection
CREATE MESSAGE TYPE m VALIDATION = VALID_XML
-- expect
1:36: 102: VALIDATION = VALID_XML needs a schema collection. | write VALID_XML WITH SCHEMA COLLECTION name

-- case: unknown validation
CREATE MESSAGE TYPE m VALIDATION = XML
CREATE MESSAGE TYPE n VALIDATION = NONE WITH SCHEMA COLLECTION c
-- expect
1:36: 102: Incorrect syntax near 'XML'. | expected NONE, EMPTY, WELL_FORMED_XML or VALID_XML
2:41: 156: Incorrect syntax near the keyword 'WITH'. | only VALID_XML takes a schema collection

-- case: alter message type without validation
ALTER MESSAGE TYPE m
-- expect
1:21: 102: Incorrect syntax near 'm'. | expected VALIDATION

-- case: xml schema collection without a name
CREATE XML SCHEMA COLLECTION N'<schema/>'
-- expect
1:30: 102: Incorrect syntax near '<schema/>'. | write CREATE XML SCHEMA COLLECTION name AS N'…'

-- case: contract without messages
CREATE CONTRACT c ()
CREATE CONTRACT c
CREATE CONTRACT c (m SENT BY BOTH)
CREATE CONTRACT c (m)
-- expect
1:20: 102: Incorrect syntax near ')'. | expected a name
3:1: 156: Incorrect syntax near the keyword 'CREATE'. | expected AUTHORIZATION or '('
3:30: 102: Incorrect syntax near 'BOTH'. | expected ANY, INITIATOR or TARGET
4:21: 102: Incorrect syntax near ')'. | write SENT BY INITIATOR, SENT BY TARGET or SENT BY ANY

-- case: queue options
CREATE QUEUE q WITH STATUS = MAYBE
CREATE QUEUE q WITH STATUS = ON, STATUS = OFF
CREATE QUEUE q WITH ACTIVATION (MAX_QUEUE_READERS = 40000)
CREATE QUEUE q WITH ACTIVATION (MAX_QUEUE_READERS = many)
CREATE QUEUE q WITH SPEED = 1
CREATE QUEUE 'q'
ALTER QUEUE q
ALTER QUEUE q REBUILD WITH (FILLFACTOR = 5)
-- expect
1:30: 102: Incorrect syntax near 'MAYBE'. | expected OFF or ON
2:34: 102: Incorrect syntax near 'STATUS'. | this option is given twice
3:53: 187: The valid range for MAX_QUEUE_READERS is 0 to 32767. | MAX_QUEUE_READERS is between 0 and 32767
4:53: 102: Incorrect syntax near 'many'. | expected a number
5:21: 102: Incorrect syntax near 'SPEED'. | expected ACTIVATION, POISON_MESSAGE_HANDLING, RETENTION or STATUS
6:14: 102: Incorrect syntax near 'q'. | this name is no string: write it in brackets or bare
8:1: 156: Incorrect syntax near the keyword 'ALTER'. | expected MOVE, REBUILD, REORGANIZE or WITH
8:29: 156: Incorrect syntax near the keyword 'FILLFACTOR'. | expected MAXDOP = number

-- case: activation of a new queue is given whole
CREATE QUEUE q WITH ACTIVATION (STATUS = ON, PROCEDURE_NAME = p, MAX_QUEUE_READERS = 1)
CREATE QUEUE q WITH ACTIVATION (STATUS = OFF), RETENTION = ON
ALTER QUEUE q WITH ACTIVATION (STATUS = OFF)
CREATE QUEUE q WITH ACTIVATION (PROGRAM = 'billing')
-- expect
1:87: 102: Incorrect syntax near ')'. | ACTIVATION of a new queue needs EXECUTE AS
2:45: 102: Incorrect syntax near ')'. | ACTIVATION of a new queue needs PROCEDURE_NAME and MAX_QUEUE_READERS and EXECUTE AS

-- case: events that are none, events of queues elsewhere
CREATE EVENT NOTIFICATION n ON DATABASE FOR CREATE_TABLE, NO_SUCH_EVENT TO SERVICE 's', 'current database'
CREATE EVENT NOTIFICATION n ON DATABASE FOR QUEUE_ACTIVATION TO SERVICE 's', 'current database'
CREATE EVENT NOTIFICATION n ON SERVER FOR AUDIT_LOGIN, QUEUE_ACTIVATION TO SERVICE 's', 'current database'
CREATE EVENT NOTIFICATION n ON QUEUE q FOR QUEUE_ACTIVATION TO SERVICE 's', 'current database'
-- expect
1:59: 1084: 'NO_SUCH_EVENT' is an invalid event type.
2:45: 1098: The specified event type(s) is/are not valid on the specified target object. | QUEUE_ACTIVATION is an event of a queue: ON QUEUE name
3:56: 1098: The specified event type(s) is/are not valid on the specified target object. | QUEUE_ACTIVATION is an event of a queue: ON QUEUE name

-- case: options that databases do not have
ALTER DATABASE d SET ENABLE_BROKR
ALTER DATABASE d SET TRUSTWORTHY ON, BROKER ON
ALTER DATABASE d SET ENABLE_BROKER ON
ALTER DATABASE d SET NEW_BROKER WITH ROLLBACK
ALTER DATABASE CURRENT SET ENABLE_BROKER WITH ROLLBACK AFTER 5
-- expect
1:22: 102: Incorrect syntax near 'ENABLE_BROKR'. | did you mean 'ENABLE_BROKER'?
2:38: 102: Incorrect syntax near 'BROKER'. | expected an option of databases, such as ENABLE_BROKER, TRUSTWORTHY or RECOVERY
3:36: 156: Incorrect syntax near the keyword 'ON'. | ENABLE_BROKER has no value
4:38: 156: Incorrect syntax near the keyword 'ROLLBACK'. | expected ROLLBACK IMMEDIATE, ROLLBACK AFTER n SECONDS or NO_WAIT

-- case: several of a kind of which DROP takes one
DROP SERVICE a, b
DROP BROKER PRIORITY a, b
-- expect
1:15: 102: Incorrect syntax near ','. | DROP takes one of this kind: write a statement for each
2:23: 102: Incorrect syntax near ','. | DROP takes one of this kind: write a statement for each

-- case: RECEIVE without a list
RECEIVE FROM q
-- expect
1:9: 156: Incorrect syntax near the keyword 'FROM'. | RECEIVE needs *, columns or assignments before FROM

-- case: RECEIVE DISTINCT
RECEIVE DISTINCT message_body FROM q
-- expect
1:9: 156: Incorrect syntax near the keyword 'DISTINCT'. | RECEIVE needs *, columns or assignments before FROM

-- case: service without a queue
CREATE SERVICE s
CREATE SERVICE s (c)
CREATE SERVICE 's' ON QUEUE q
-- expect
2:1: 156: Incorrect syntax near the keyword 'CREATE'. | a service needs a queue: ON QUEUE name
2:18: 102: Incorrect syntax near '('. | a service needs a queue: ON QUEUE name
3:16: 102: Incorrect syntax near 's'. | this name is no string: write it in brackets or bare

-- case: route without an address
CREATE ROUTE r WITH SERVICE_NAME = 's'
CREATE ROUTE r WITH ADDRESS = LOCAL
CREATE ROUTE r WITH ADDRESS = 'LOCAL', LIFETIME = -1
-- expect
1:21: 102: CREATE ROUTE needs an ADDRESS. | ADDRESS = 'LOCAL', 'TRANSPORT' or 'TCP://host:port'
2:31: 102: Incorrect syntax near 'LOCAL'. | expected a string
3:51: 1080: The integer value -1 is out of range. | LIFETIME is between 0 and 2147483647

-- case: remote service binding without a user
CREATE REMOTE SERVICE BINDING b TO SERVICE 's' WITH ANONYMOUS = ON
-- expect
1:31: 102: CREATE REMOTE SERVICE BINDING needs a USER. | WITH USER = name

-- case: priority out of range
CREATE BROKER PRIORITY p FOR CONVERSATION SET (PRIORITY_LEVEL = 11)
-- expect
1:65: 33302: The PRIORITY_LEVEL that is specified for conversation priority 'p' is not valid. The value must be between 1 and 10. | PRIORITY_LEVEL is between 1 and 10

-- case: begin dialog
DECLARE @h uniqueidentifier
BEGIN DIALOG h FROM SERVICE a TO SERVICE 'b'
BEGIN DIALOG @h FROM SERVICE a TO SERVICE b
BEGIN DIALOG @h TO SERVICE 'b'
BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b' WITH ENCRYPTION = YES
BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b' WITH RELATED_CONVERSATION = @h, RELATED_CONVERSATION_GROUP = @h
BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b' ON CONTRACT 'c'
-- expect
2:14: 102: Incorrect syntax near 'h'. | the dialog's handle is a variable: BEGIN DIALOG @handle
3:43: 102: Incorrect syntax near 'b'. | TO SERVICE takes a string or a variable: TO SERVICE 'name'
4:17: 156: Incorrect syntax near the keyword 'TO'. | BEGIN DIALOG has FROM SERVICE, then TO SERVICE, ON CONTRACT, WITH
5:65: 102: Incorrect syntax near 'YES'. | expected OFF or ON
6:79: 102: Incorrect syntax near 'RELATED_CONVERSATION_GROUP'. | RELATED_CONVERSATION and RELATED_CONVERSATION_GROUP exclude each other
7:59: 102: Incorrect syntax near 'c'. | this name is no string: write it in brackets or bare

-- case: send and end conversation
DECLARE @h uniqueidentifier
SEND ON CONVERSATION @h MESSAGE TYPE 'm' (N'x')
SEND ON CONVERSATION @h ()
SEND CONVERSATION @h
END CONVERSATION @h WITH ERROR = 1
END CONVERSATION handle
GET CONVERSATION GROUP @h
MOVE CONVERSATION @h
-- expect
2:38: 102: Incorrect syntax near 'm'. | this name is no string: write it in brackets or bare
3:26: 102: Incorrect syntax near ')'. | leave the parentheses out to send a message without a body
4:6: 102: Incorrect syntax near 'CONVERSATION'. | write ON CONVERSATION and the handle after SEND
6:1: 156: Incorrect syntax near the keyword 'END'. | WITH ERROR = number needs DESCRIPTION = 'text'
6:18: 102: Incorrect syntax near 'handle'. | a conversation handle is a variable
8:1: 102: Incorrect syntax near 'MOVE'. | expected FROM
8:21: 102: Incorrect syntax near '@h'. | expected TO

-- case: receive mixes assignment and columns
DECLARE @h uniqueidentifier
RECEIVE @h = conversation_handle, message_body FROM q
RECEIVE message_body, @h = conversation_handle FROM q
-- expect
2:35: 8447: A RECEIVE statement that assigns a value to a variable must not be combined with data retrieval operations. | either assign every column to a variable, or none
3:23: 8447: A RECEIVE statement that assigns a value to a variable must not be combined with data retrieval operations. | either assign every column to a variable, or none

-- case: receive
DECLARE @h uniqueidentifier, @t TABLE (a int)
RECEIVE FROM q
RECEIVE * q
RECEIVE * FROM q WHERE message_type_name = 'x'
RECEIVE * FROM q WHERE conversation_handle = @h AND status = 1
RECEIVE @h = conversation_handle FROM q INTO @t
WAITFOR (RECEIVE * FROM q) TIMEOUT 5
WAITFOR (SELECT 1), TIMEOUT 5
RECEIVE * FROM q, TIMEOUT 5
-- expect
2:9: 156: Incorrect syntax near the keyword 'FROM'. | RECEIVE needs *, columns or assignments before FROM
3:11: 102: Incorrect syntax near 'q'. | expected ',' or FROM
4:24: 102: RECEIVE cannot be filtered by 'message_type_name'. | WHERE takes conversation_handle = … or conversation_group_id = …
5:49: 156: Incorrect syntax near the keyword 'AND'. | a RECEIVE is filtered by one condition: a conversation handle or a conversation group
6:9: 8450: Assignments in the RECEIVE projection are not allowed in conjunction with the INTO clause. | either assign to variables, or receive into the table
7:28: 102: Incorrect syntax near 'TIMEOUT'. | the comma before TIMEOUT is missing
8:10: 156: Incorrect syntax near the keyword 'SELECT'. | WAITFOR ( … ) takes RECEIVE or GET CONVERSATION GROUP
9:17: 102: Incorrect syntax near ','. | TIMEOUT stands behind the parenthesis of WAITFOR: WAITFOR (RECEIVE …), TIMEOUT 1000

-- case: undeclared variables
DECLARE @a int = 1, @b int = @a
SELECT @c, @d FROM @e WHERE x = @f
SET @g = 1
DECLARE @h int
EXEC p @i = @j, @k = 1
GO
SELECT @@ERROR, @@a
-- expect
1:30: 137: Must declare the scalar variable "@a".
2:8: 137: Must declare the scalar variable "@c".
2:12: 137: Must declare the scalar variable "@d".
2:20: 1087: Must declare the table variable "@e".
2:33: 137: Must declare the scalar variable "@f".
3:5: 137: Must declare the scalar variable "@g".
5:13: 137: Must declare the scalar variable "@j".

-- case: used before it is declared
SELECT @a
DECLARE @a int
GO
DECLARE @b int
GO
SELECT @b
-- expect
1:8: 137: Must declare the scalar variable "@a".
6:8: 137: Must declare the scalar variable "@b".

-- case: declared twice
DECLARE @a int, @A int
DECLARE @b int
IF 1 = 1 DECLARE @b int
GO
CREATE PROCEDURE p @a int, @a int AS DECLARE @a int
-- expect
1:17: 134: The variable name '@A' has already been declared. Variable names must be unique within a query batch or stored procedure.
3:18: 134: The variable name '@b' has already been declared. Variable names must be unique within a query batch or stored procedure.
5:28: 134: The variable name '@a' has already been declared. Variable names must be unique within a query batch or stored procedure.
5:46: 134: The variable name '@a' has already been declared. Variable names must be unique within a query batch or stored procedure.

-- case: labels
GOTO a
b: PRINT 'x'
B: PRINT 'y'
IF 1 = 1 GOTO b
-- expect
1:6: 133: A GOTO statement references the label 'a' but the label has not been declared.
3:1: 132: The label 'B' has already been declared. Label names must be unique within a query batch or stored procedure.

-- case: goto into a try block
GOTO a
BEGIN TRY
a: PRINT 'x'
END TRY BEGIN CATCH GOTO b END CATCH
b: PRINT 'y'
-- expect
1:1: 1026: GOTO cannot be used to jump into a TRY or CATCH scope.

-- case: break and continue outside a loop
BREAK
IF 1 = 1 CONTINUE
WHILE 1 = 1 BREAK
-- expect
1:1: 135: Cannot use a BREAK statement outside the scope of a WHILE statement.
2:10: 136: Cannot use a CONTINUE statement outside the scope of a WHILE statement.

-- case: throw outside catch
THROW
BEGIN TRY THROW END TRY BEGIN CATCH THROW; END CATCH
THROW 50000
THROW 50000, 'x' + 'y', 1
-- expect
1:1: 10704: To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement inside a CATCH block, or add error parameters to the THROW statement.
2:11: 10704: To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement inside a CATCH block, or add error parameters to the THROW statement.
4:1: 102: Incorrect syntax near 'THROW'. | expected ','

-- case: return with a value in a batch
RETURN 1
GO
CREATE TRIGGER t ON u AFTER INSERT AS RETURN 1
-- expect
1:1: 178: A RETURN statement with a return value cannot be used in this context.
3:39: 178: A RETURN statement with a return value cannot be used in this context.

-- case: raiserror
RAISERROR ('a' + 'b', 16, 1)
RAISERROR ('a', 16)
RAISERROR 50001 'old'
RAISERROR ('a', 16, 1) WITH LOUD
-- expect
1:16: 102: Incorrect syntax near '+'. | RAISERROR takes constants and variables, no expressions: put the text into a variable
2:19: 102: Incorrect syntax near ')'. | RAISERROR (message, severity, state, argument, …)
3:11: 102: Incorrect syntax near '50001'. | SQL Server 2012 removed this form: write RAISERROR (message, severity, state)
4:29: 102: Incorrect syntax near 'LOUD'. | expected LOG, NOWAIT or SETERROR

-- case: unclosed string
SELECT 'abc
FROM t
GO
PRINT 'next batch'
GO
SELECT [abc
-- expect
4:18: 105: Unclosed quotation mark after the character string ''. | the string at line 1, column 8 goes over a GO line: is its end missing?
6:8: 105: Unclosed quotation mark after the character string 'abc'. | the string at line 1, column 8 goes over a GO line: is its end missing?

-- case: unclosed comment
SELECT 1 /* a /* b */
GO
SELECT 2
-- expect
1:10: 113: Missing end comment mark '*/'. | comments nest: every /* inside the comment needs its own */

-- case: unclosed parenthesis
SELECT (1 + 2
PRINT 'x'
GO
SELECT COUNT(* FROM t;
INSERT INTO t (a VALUES (1)
-- expect
2:1: 156: Incorrect syntax near the keyword 'PRINT'. | the ( at line 1, column 8 is not closed
4:22: 102: Incorrect syntax near ';'. | the ( at line 4, column 13 is not closed
5:28: 102: Incorrect syntax near ')'. | the ( at line 5, column 15 is not closed

-- case: parenthesis that was not opened
SELECT 1)
PRINT 'x'
SET NOCOUNT ON)
-- expect
1:9: 102: Incorrect syntax near ')'. | there is no ( for it
3:15: 102: Incorrect syntax near ')'. | there is no ( for it

-- case: block that does not end
BEGIN
  PRINT 'x'
GO
IF 1 = 1
GO
BEGIN TRY PRINT 'a' END TRY
GO
END
GO
ELSE PRINT 'b'
GO
BEGIN END
GO
BEGIN TRY END TRY BEGIN CATCH END CATCH
-- expect
2:12: 102: Incorrect syntax near 'x'. | the BEGIN at line 1 has no END
4:9: 102: Incorrect syntax near '1'. | a statement is missing after the condition
6:28: 102: Incorrect syntax near 'TRY'. | BEGIN TRY … END TRY is followed by BEGIN CATCH … END CATCH, with nothing between them
8:1: 156: Incorrect syntax near the keyword 'END'. | it has no BEGIN
10:1: 156: Incorrect syntax near the keyword 'ELSE'. | it has no IF: several statements between IF and ELSE stand in BEGIN … END
12:7: 156: Incorrect syntax near the keyword 'END'. | a block holds at least one statement
14:11: 156: Incorrect syntax near the keyword 'END'. | a block holds at least one statement

-- case: case that does not end
SELECT CASE WHEN a = 1 THEN 2 FROM t
SELECT CASE WHEN 1 = 1 THEN 2 ELSE 3
PRINT 'x'
-- expect
2:1: 156: Incorrect syntax near the keyword 'SELECT'. | the CASE at line 1, column 8 is not closed
3:1: 156: Incorrect syntax near the keyword 'PRINT'. | the CASE at line 2, column 8 is not closed

-- case: expressions
DECLARE @a int
SET @a = 
SET @a = 1 +
IF @a PRINT 'x'
IF @a = = 1 PRINT 'x'
SET @a = 1 2
PRINT
WHILE PRINT 'x'
SET @a 1
IF NOT PRINT 'x'
-- expect
3:1: 156: Incorrect syntax near the keyword 'SET'. | expected an expression
4:1: 156: Incorrect syntax near the keyword 'IF'. | expected an expression
4:4: 4145: An expression of non-boolean type specified in a context where a condition is expected, near 'PRINT'. | compare it with something: @flag = 1
5:9: 102: Incorrect syntax near '='. | T-SQL compares with one =
6:12: 102: Incorrect syntax near '2'. | something is missing before '2', a comma or an operator maybe
8:1: 156: Incorrect syntax near the keyword 'WHILE'. | expected an expression
8:7: 156: Incorrect syntax near the keyword 'PRINT'. | a condition is missing
9:8: 102: Incorrect syntax near '1'. | write SET @variable = value
10:8: 156: Incorrect syntax near the keyword 'PRINT'. | expected an expression

-- case: prose
Here is the script that creates the queue.
GO
CREATE QUEUE q
GO
Now run the following statement:
SELECT 1
-- expect
1:6: 156: Incorrect syntax near the keyword 'is'. | 'Here' is taken for the procedure to call, as in EXEC Here; prose is a comment
5:9: 102: Incorrect syntax near 'the'. | 'Now' is taken for the procedure to call, as in EXEC Now; prose is a comment

-- case: words that begin no statement
PRINT 'x'
sp_who
FROM t SELECT 1
SELCT 2
THEN PRINT 'y'
-- expect
2:1: 102: Incorrect syntax near 'sp_who'. | 'sp_who' begins no statement: a procedure is called with EXEC, prose is a comment

-- case: five mistakes
CREATE QUEUE
CREATE SERVICE s ON q
CREATE CONTRACT c (m SENT TO TARGET)
DECLARE @h uniqueidentifer,
SELECT 1
END CONVERSATION
-- expect
2:1: 156: Incorrect syntax near the keyword 'CREATE'. | expected a name
2:21: 102: Incorrect syntax near 'q'. | write ON QUEUE and the name of the queue
3:27: 156: Incorrect syntax near the keyword 'TO'. | expected BY
5:1: 156: Incorrect syntax near the keyword 'SELECT'. | expected a variable
6:17: 102: Incorrect syntax near 'CONVERSATION'. | expected a string, a variable or '('

-- case: mistakes inside blocks
CREATE PROCEDURE p AS
BEGIN
  IF 1 = 1
  BEGIN
    SET @a 1
    PRINT 'x'
  END
  ELSE
  BEGIN
    CREATE QUEUE 1
    PRINT 'y'
  END
  SEND ON
END
GO
SELEC 1
-- expect
5:12: 102: Incorrect syntax near '1'. | write SET @variable = value
10:18: 102: Incorrect syntax near '1'. | expected a name
14:1: 156: Incorrect syntax near the keyword 'END'. | write ON CONVERSATION and the handle after SEND

-- case: modules first in their batch
SELECT 1
CREATE PROCEDURE p AS SELECT 1
GO
IF 1 = 1 CREATE VIEW v AS SELECT 1 a
GO
SET NOCOUNT ON
CREATE SCHEMA s
GO
CREATE PROCEDURE p AS CREATE PROCEDURE q AS SELECT 1
-- expect
2:1: 111: 'CREATE/ALTER PROCEDURE' must be the first statement in a query batch. | put GO before it
4:10: 111: 'CREATE VIEW' must be the first statement in a query batch. | put GO before it
7:1: 111: 'CREATE SCHEMA' must be the first statement in a query batch. | put GO before it
9:23: 111: 'CREATE/ALTER PROCEDURE' must be the first statement in a query batch. | a module cannot contain another one: put GO before it

-- case: functions have no side effects
CREATE FUNCTION f () RETURNS int AS BEGIN
DECLARE @h uniqueidentifier
SEND ON CONVERSATION @h
PRINT 'x'
BEGIN TRY RETURN 1 END TRY BEGIN CATCH END CATCH
END
GO
CREATE FUNCTION f () RETURNS int AS BEGIN RETURN 1 PRINT 'x' END
GO
CREATE FUNCTION f () RETURNS int AS RETURN 1
-- expect
3:1: 443: Invalid use of a side-effecting operator 'SEND' within a function.
4:1: 443: Invalid use of a side-effecting operator 'PRINT' within a function.
5:1: 455: The last statement included within a function must be a return statement.
5:1: 443: Invalid use of a side-effecting operator 'BEGIN TRY' within a function.
8:52: 455: The last statement included within a function must be a return statement.
8:52: 443: Invalid use of a side-effecting operator 'PRINT' within a function.
10:37: 156: Incorrect syntax near the keyword 'RETURN'. | the body of a scalar function stands between BEGIN and END

-- case: use in a procedure
CREATE PROCEDURE p AS USE master
-- expect
1:23: 154: a USE database statement is not allowed in a procedure, function or trigger.

-- case: options of set
SET NOCUNT ON
SET XACT_ABORT MAYBE
SET STATISTICS SPACE ON
SET LOCK_TIMEOUT ON
-- expect
1:1: 195: 'NOCUNT' is not a recognized SET option. | did you mean 'NOCOUNT'?
2:1: 195: 'XACT_ABORT' is not a recognized SET option. | SET XACT_ABORT takes ON or OFF
3:1: 195: 'STATISTICS SPACE' is not a recognized SET option.
4:1: 195: 'LOCK_TIMEOUT' is not a recognized SET option.

-- case: permissions
GRANT LOOK ON t TO ann
GRANT SELECT ON t
GRANT SELECT t TO ann
GRANT SELECT ON FOO::t TO ann
-- expect
1:7: 102: Incorrect syntax near 'LOOK'. | expected a permission, such as SELECT, EXECUTE, SEND, RECEIVE or CONTROL
3:1: 156: Incorrect syntax near the keyword 'GRANT'. | expected FROM, '(' or TO
3:7: 102: Incorrect syntax near 'T'. | no permission is called SELECT T
4:17: 102: Incorrect syntax near 'FOO'. | queues, tables, views and modules are OBJECT::name, or a name alone

-- case: what PostgreSQL cannot run
CREATE ASSEMBLY a FROM 'x.dll'
BULK INSERT t FROM 'f'
SHUTDOWN
EXEC ('x') AT srv
EXEC srv.db.dbo.p
BEGIN DISTRIBUTED TRAN
CREATE ENDPOINT e AS HTTP (PATH = '/x') FOR SOAP ()
CREATE AGGREGATE a (@x int) RETURNS int EXTERNAL NAME b.c
READTEXT t.c @p 0 1
CREATE SECURITY POLICY s ADD FILTER PREDICATE f(a) ON t
CREATE FULLTEXT CATALOG c AS DEFAULT CREATE FULLTEXT INDEX ON t (a) KEY INDEX ix ALTER FULLTEXT INDEX ON t DROP (a) DROP FULLTEXT CATALOG c DROP FULLTEXT INDEX ON t
GO
CREATE PROCEDURE p AS EXTERNAL NAME a.b.c
GO
CREATE TRIGGER t ON DATABASE FOR CREATE_TABLE AS PRINT 'x'
-- expect
1:1: CLR assemblies cannot run on PostgreSQL.
2:1: BULK INSERT reads files of the SQL Server machine; use COPY or \copy.
3:1: SHUTDOWN is not supported: a script cannot stop PostgreSQL.
4:15: EXEC … AT needs a linked server, which PostgreSQL does not have.
5:6: A call of a procedure on a linked server cannot run on PostgreSQL.
6:1: Distributed transactions are not supported.
7:1: HTTP and SOAP endpoints are not supported (SQL Server 2012 removed them).
8:1: CLR aggregates cannot run on PostgreSQL.
8:21: 137: Must declare the scalar variable "@x".
9:1: READTEXT is not supported; read the column with SUBSTRING.
9:14: 137: Must declare the scalar variable "@p".
10:1: Security policies are not translated; use row level security of PostgreSQL.
11:1: Full-text indexes are not supported; use text search of PostgreSQL (tsvector).
11:38: Full-text indexes are not supported; use text search of PostgreSQL (tsvector).
11:82: Full-text indexes are not supported; use text search of PostgreSQL (tsvector).
11:117: Full-text indexes are not supported; use text search of PostgreSQL (tsvector).
11:141: Full-text indexes are not supported; use text search of PostgreSQL (tsvector).
13:23: CLR assemblies cannot run on PostgreSQL.

-- case: go with something after it
SELECT 1
GO SELECT 2
SELECT 3
GO;
SELECT 4
GO 99999999999
-- expect
2:1: Incorrect syntax was encountered while parsing GO. | GO stands alone on its line: nothing may follow but a count and a comment
4:1: Incorrect syntax was encountered while parsing GO. | GO stands alone on its line: nothing may follow but a count and a comment
6:1: The count of GO is larger than 2147483647.

-- case: typographic characters
PRINT ‘x’
SELECT 1 – 2
-- expect
1:7: 102: Incorrect syntax near '‘'. | a typographic character (U+2018): write ' instead
1:9: 102: Incorrect syntax near '’'. | a typographic character (U+2019): write ' instead
2:10: 102: Incorrect syntax near '–'. | a typographic character (U+2013): write - instead

-- case: names that are too long
CREATE QUEUE qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq
CREATE QUEUE [rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr]
-- expect
1:14: 103: The identifier that starts with 'qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq' is too long. Maximum length is 128.

-- case: numbers that no type holds
SELECT 99999999999999999999999999999999999999, 999999999999999999999999999999999999990;
SELECT 0.00000000000000000000000000000000000001, 0.000000000000000000000000000000000000001;
SELECT 0000000000000000000000000000000000000000001, 1e308, 1E+309, 1e-999, 1e;
-- expect
1:48: 1007: The number '999999999999999999999999999999999999990' is out of the range for numeric representation (maximum precision 38).
2:50: 1007: The number '0.000000000000000000000000000000000000001' is out of the range for numeric representation (maximum precision 38).
3:60: 168: The floating point value '1E+309' is out of the range of computer representation (8 bytes).

-- case: too many parts in a name
EXEC a.b.c.d.e
CREATE QUEUE s.d.dbo.q WITH ACTIVATION (PROCEDURE_NAME = s.d.dbo.p, MAX_QUEUE_READERS = 1, EXECUTE AS CALLER);
RECEIVE * FROM s.d.dbo.q;
DROP QUEUE s.d.dbo.q
DROP VIEW d.dbo.v
CREATE QUEUE #Q
GO
CREATE PROCEDURE d..p AS RETURN
GO
CREATE VIEW #v AS SELECT 1 AS a
-- expect
1:6: 117: The object name 'a.b.c.d.e' contains more than the maximum number of prefixes. The maximum is 3.
1:6: A call of a procedure on a linked server cannot run on PostgreSQL.
2:14: 117: The object name 's.d.dbo.q' contains more than the maximum number of prefixes. The maximum is 2.
2:58: 117: The object name 's.d.dbo.p' contains more than the maximum number of prefixes. The maximum is 2.
2:103: 102: Incorrect syntax near 'CALLER'. | EXECUTE AS takes SELF, OWNER or a user's name in quotes
3:16: 117: The object name 's.d.dbo.q' contains more than the maximum number of prefixes. The maximum is 2.
4:12: 117: The object name 's.d.dbo.q' contains more than the maximum number of prefixes. The maximum is 2.
5:11: 166: 'DROP VIEW' does not allow specifying the database name as a prefix to the object name. | write USE, and GO, before it
6:14: 102: Incorrect syntax near '#Q'. | a queue cannot be temporary
8:18: 166: 'CREATE/ALTER PROCEDURE' does not allow specifying the database name as a prefix to the object name. | write USE, and GO, before it
10:13: 4103: #v: Temporary views are not allowed.

-- case: sqlcmd variable that nobody replaced
SELECT * FROM $(table)
-- expect
1:15: 102: Incorrect syntax near '$'. | this is a variable of sqlcmd: give it a value with -v name=value or :setvar

-- case: wide characters and tabs keep the caret in place
SELECT '日本語'	)
-- expect
1:14: 102: Incorrect syntax near ')'. | there is no ( for it

-- case: merge without its semicolon
MERGE t USING u ON 1 = 1 WHEN MATCHED THEN DELETE
SELECT 1
-- expect
1:44: 10713: A MERGE statement must be terminated by a semi-colon (;).

-- case: something missing inside a query
SELECT 1,,2
SELECT a, FROM t
SELECT FROM t
SELECT a FROM t WHERE
SELECT a FROM t WHERE = 1
SELECT a FROM t WHERE a = = 1 AND b = 2
SELECT SUM( FROM t)
SELECT f(a,, b), g(c,)
UPDATE t SET
DELETE FROM t WHERE a = 1 AND
INSERT INTO t SELECT a, b, FROM u
PRINT 'a' + (1 + )
DECLARE c CURSOR FOR SELECT a, FROM t
SELECT CASE WHEN THEN 1 END
SELECT a FROM t ORDER BY
SELECT a FROM t GROUP BY , b
-- expect
1:10: 102: Incorrect syntax near ','. | something is missing after '1,'
2:11: 156: Incorrect syntax near the keyword 'FROM'. | something is missing after 'a,'
3:8: 156: Incorrect syntax near the keyword 'FROM'. | something is missing after 'SELECT'
4:22: 156: Incorrect syntax near the keyword 'WHERE'. | something is missing after 'WHERE'
5:23: 102: Incorrect syntax near '='. | something is missing after 'WHERE'
6:27: 102: Incorrect syntax near '='. | something is missing after '='
7:13: 156: Incorrect syntax near the keyword 'FROM'. | something is missing after 'SUM('
8:12: 102: Incorrect syntax near ','. | something is missing after 'f(a,'
10:1: 156: Incorrect syntax near the keyword 'DELETE'.
10:30: 156: Incorrect syntax near the keyword 'AND'. | something is missing after 'AND'
11:28: 156: Incorrect syntax near the keyword 'FROM'. | something is missing after 'b,'
12:18: 102: Incorrect syntax near ')'. | something is missing after '+'
13:32: 156: Incorrect syntax near the keyword 'FROM'. | something is missing after 'a,'
14:18: 156: Incorrect syntax near the keyword 'THEN'. | something is missing after 'WHEN'
15:25: 156: Incorrect syntax near the keyword 'BY'. | something is missing after 'BY'
16:26: 102: Incorrect syntax near ','. | something is missing after 'BY'

-- case: drops of broker objects
DROP QUEUE IF EXISTS q
DROP SERVICE dbo.s
DROP MESSAGE TYPE a, d..b
DROP EVENT NOTIFICATION n
DROP QUEUE dbo.q ON DATABASE
-- expect
1:12: 156: Incorrect syntax near the keyword 'IF'. | DROP QUEUE has no IF EXISTS: ask sys.service_queues first
2:17: 102: Incorrect syntax near '.'. | SERVICE names have neither database nor schema
3:23: 102: Incorrect syntax near '.'. | MESSAGE TYPE names have neither database nor schema
4:25: 102: Incorrect syntax near 'n'. | expected ON SERVER, ON DATABASE or ON QUEUE name
5:18: 156: Incorrect syntax near the keyword 'ON'.

-- case: certificates that cannot be
CREATE CERTIFICATE c FROM ASSEMBLY a;
CREATE CERTIFICATE c FROM EXECUTABLE FILE = 'x.dll';
GO
CREATE CERTIFICATE c WITH SUBJECT = 'x', SUBJECT = 'y';
CREATE CERTIFICATE c FROM FILE = @file;
ALTER CERTIFICATE c REMOVE ATTESTED OPTION;
BACKUP CERTIFICATE c TO DISK = 'x';
BACKUP CERTIFICATE c TO FILE = 'x' WITH PRIVATE KEY (FILE = 'y', FILE = 'z');
OPEN SERVICE MASTER KEY;
OPEN MASTER KEY;
ALTER SERVICE MASTER KEY ADD ENCRYPTION BY PASSWORD = 'x';
-- expect
1:27: 102: Incorrect syntax near 'ASSEMBLY'. | expected FILE or BINARY: certificates in assemblies and executables are Windows's
2:27: 102: Incorrect syntax near 'EXECUTABLE'. | expected FILE or BINARY: certificates in assemblies and executables are Windows's
4:42: 102: Incorrect syntax near 'SUBJECT'. | expected START_DATE or EXPIRY_DATE
5:34: 102: Incorrect syntax near '@file'. | expected a string
5:34: 137: Must declare the scalar variable "@file".
6:21: 102: Incorrect syntax near 'REMOVE'. | expected WITH
7:25: 102: Incorrect syntax near 'DISK'. | expected FILE
8:66: 156: Incorrect syntax near the keyword 'FILE'. | expected FILE, BINARY, DECRYPTION BY PASSWORD or ENCRYPTION BY PASSWORD
9:1: 156: Incorrect syntax near the keyword 'OPEN'. | the service master key is always open
10:16: 102: Incorrect syntax near ';'. | expected DECRYPTION BY PASSWORD
11:26: 156: Incorrect syntax near the keyword 'ADD'. | expected REGENERATE, or of a database's key ADD or DROP ENCRYPTION BY

-- case: a number is followed by what its own statement can go on with
THROW 50000 + 1, 'x', 1
EXEC p 1 + 1
BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b' WITH LIFETIME = 5 + 5
SET ROWCOUNT 1 + 1
CREATE PROCEDURE p @a int = 1 + 1 AS RETURN
-- expect
1:13: 102: Incorrect syntax near '+'. | THROW takes a number, a message and a state: constants or variables, no expressions
2:10: 102: Incorrect syntax near '+'. | an argument of EXEC is a constant or a variable, no expression: put it into a variable
3:65: 102: Incorrect syntax near '+'. | expected ',', ENCRYPTION, LIFETIME, RELATED_CONVERSATION, RELATED_CONVERSATION_GROUP or the end of the statement
4:16: 102: Incorrect syntax near '+'. | expected the end of the statement
5:31: 102: Incorrect syntax near '+'. | expected AS, ',', FOR, OUT, OUTPUT, READONLY, VARYING or WITH

-- case: what can be national and varying
DECLARE @a int VARYING
DECLARE @a nvarchar VARYING (10)
DECLARE @a NATIONAL int
CREATE TABLE t (a NATIONAL TEXT, b dbo.char VARYING)
-- expect
1:16: 156: Incorrect syntax near the keyword 'VARYING'. | CHAR, NCHAR and BINARY can be VARYING
2:9: 134: The variable name '@a' has already been declared. Variable names must be unique within a query batch or stored procedure.
2:21: 156: Incorrect syntax near the keyword 'VARYING'. | CHAR, NCHAR and BINARY can be VARYING
3:9: 134: The variable name '@a' has already been declared. Variable names must be unique within a query batch or stored procedure.
3:21: 102: Incorrect syntax near 'int'. | expected CHAR, CHARACTER or TEXT
4:45: 156: Incorrect syntax near the keyword 'VARYING'. | CHAR, NCHAR and BINARY can be VARYING

-- case: a cursor FOR UPDATE names columns behind OF, or nothing
DECLARE a CURSOR FOR SELECT a FROM t FOR UPDATE a
GO
DECLARE a CURSOR FOR SELECT a FROM t FOR UPDATE OF
GO
DECLARE a CURSOR FOR SELECT a FROM t FOR UPDATE OF a, 1
GO
DECLARE a CURSOR FOR SELECT a FROM t FOR UPDATE OF a b
GO
DECLARE a CURSOR FOR SELECT a FROM t FOR UPDATE OF a, t.[b c]
-- expect
1:49: 102: Incorrect syntax near 'a'. | expected OF or the end of the statement
3:49: 156: Incorrect syntax near the keyword 'OF'. | expected the name of a column
5:55: 102: Incorrect syntax near '1'. | expected the name of a column
7:52: 102: Incorrect syntax near 'a'. | expected the name of a column

-- case: what a permission's statement has not
GRANT SELECT (a, [b c]), UPDATE (a) ON t TO ann
DENY SELECT ON t (a, b) TO ann
REVOKE SELECT ON t (a) FROM ann
GRANT SELECT ON t FROM ann
GRANT SELECT ON t TO ann CASCADE
DENY SELECT ON t TO ann WITH GRANT OPTION
DENY GRANT OPTION FOR SELECT ON t TO ann
GRANT SELECT ON t TO ann WITH GRANT OPTION WITH GRANT OPTION
-- expect
1:15: GRANT on columns is not supported. | GRANT on a view that has just these columns
2:19: DENY on columns is not supported. | GRANT on a view that has just these columns
3:21: REVOKE on columns is not supported. | GRANT on a view that has just these columns
4:19: 156: Incorrect syntax near the keyword 'FROM'. | GRANT has TO
5:26: 156: Incorrect syntax near the keyword 'CASCADE'. | expected the end of the statement
6:25: 156: Incorrect syntax near the keyword 'WITH'. | expected the end of the statement
7:6: 156: Incorrect syntax near the keyword 'GRANT'. | GRANT OPTION FOR belongs to REVOKE
8:44: 156: Incorrect syntax near the keyword 'WITH'. | expected the end of the statement

-- case: options that principals do not have
CREATE LOGIN l WITH PASSWROD = 'x'
CREATE LOGIN [d\l] FROM WINDWS
ALTER LOGIN l WITH DEFAULT_SCHEMA = dbo
CREATE USER u FOR LOGN l
CREATE USER u FOR LOGIN
ALTER USER u WITH NAMEE = v
ALTER APPLICATION ROLE r WITH LOGIN = l
ALTER APPLICATION ROLE r FROM l
-- expect
1:21: 102: Incorrect syntax near 'PASSWROD'. | expected CHECK_EXPIRATION or CHECK_POLICY or CREDENTIAL or DEFAULT_DATABASE or DEFAULT_LANGUAGE or NAME or OBJECT_ID or OLD_PASSWORD or PASSWORD or SID
2:25: 102: Incorrect syntax near 'WINDWS'. | expected WINDOWS or CERTIFICATE or ASYMMETRIC or EXTERNAL
3:20: 102: Incorrect syntax near 'DEFAULT_SCHEMA'. | expected CHECK_EXPIRATION or CHECK_POLICY or CREDENTIAL or DEFAULT_DATABASE or DEFAULT_LANGUAGE or NAME or OBJECT_ID or OLD_PASSWORD or PASSWORD or SID
4:19: 102: Incorrect syntax near 'LOGN'. | expected LOGIN or CERTIFICATE or ASYMMETRIC or EXTERNAL
5:19: 102: Incorrect syntax near 'LOGIN'. | a name is missing
6:19: 102: Incorrect syntax near 'NAMEE'. | expected ALLOW_ENCRYPTED_VALUE_MODIFICATIONS or DEFAULT_LANGUAGE or DEFAULT_SCHEMA or LOGIN or NAME or OBJECT_ID or OLD_PASSWORD or PASSWORD or SID or TYPE
7:31: 102: Incorrect syntax near 'LOGIN'. | expected DEFAULT_SCHEMA or NAME or PASSWORD
8:31: 102: Incorrect syntax near 'l'. | expected WITH

-- case: events of a trigger and parameters of functions
CREATE TRIGGER tr ON t AFTER INSERT, UPDATE, INSERT AS PRINT 'x'
GO
CREATE FUNCTION f(@a int, @b int OUTPUT) RETURNS int AS BEGIN RETURN 1 END
GO
DECLARE @aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa int
-- expect
1:1: 1034: Syntax error: Duplicate specification of the action "INSERT" in the trigger declaration.
3:27: 102: Incorrect syntax near 'OUTPUT'. | a function gives back what it RETURNS: its parameters are no OUTPUT
5:9: 103: The identifier that starts with '@aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' is too long. Maximum length is 128.

-- case: options of a cursor that exclude each other
DECLARE c CURSOR LOCAL GLOBAL FOR SELECT 1
GO
DECLARE c CURSOR SCROLL READ_ONLY FORWARD_ONLY FOR SELECT 1
GO
DECLARE c CURSOR STATIC FAST_FORWARD FOR SELECT 1
GO
DECLARE c CURSOR LOCAL FAST_FORWARD FORWARD_ONLY READ_ONLY FOR SELECT 1
GO
DECLARE @c CURSOR; SET @c = CURSOR FAST_FORWARD OPTIMISTIC FOR SELECT 1
GO
DECLARE c CURSOR STATIC SCROLL_LOCKS FOR SELECT 1
GO
DECLARE c SCROLL CURSOR STATIC FOR SELECT 1
GO
DECLARE c CURSOR READ_ONLY FOR SELECT 1 FOR READ ONLY
GO
DECLARE c CURSOR FAST_FORWARD FOR SELECT a FROM t FOR UPDATE
GO
DECLARE c INSENSITIVE CURSOR FOR SELECT a FROM t FOR UPDATE OF a
-- expect
1:24: 1048: Conflicting cursor options LOCAL and GLOBAL.
3:35: 1048: Conflicting cursor options SCROLL and FORWARD_ONLY.
5:25: 1048: Conflicting cursor options STATIC and FAST_FORWARD.
9:49: 1048: Conflicting cursor options FAST_FORWARD and OPTIMISTIC.
11:25: 1048: Conflicting cursor options STATIC and SCROLL_LOCKS.
13:1: 1049: Mixing old and new syntax to specify cursor options is not allowed.
15:32: 1058: Cannot specify both READ_ONLY and FOR READ ONLY on a cursor declaration.
17:35: 1048: Conflicting cursor options FAST_FORWARD and FOR UPDATE.
19:34: 16957: FOR UPDATE cannot be specified on a READ ONLY cursor.

-- case: words that are nearly those of Service Broker
CREATE MESAGE TYPE m
CREATE MESSAGE m VALIDATION = NONE
CREATE MESSAGE TYPE m WITH VALIDATION = NONE
CREATE MESSAGE TYPE m VALIDATION = NONE AUTHORIZATION dbo
CREATE CONTRACT //a/b (m SENT BY ANY)
CREATE SERVICE s QUEUE q (c)
SEND ON CONVERSATION @h MESAGE TYPE m ('x')
BEGIN CONVERSATION @h FROM SERVICE a TO SERVICE 'b'
WAITFOR RECEIVE * FROM q
WAITFOR (RECEIVE TOP (1) * FROM q, TIMEOUT 1000)
WAITFOR (RECEIVE * FROM q), TIMEOUT = 1000
WAITFOR DELAY 5
GRANT SEND ON SERVICE s TO u
-- expect
1:8: 102: Incorrect syntax near 'MESAGE'. | did you mean 'MESSAGE TYPE'?
2:8: 102: Incorrect syntax near 'MESSAGE'. | did you mean 'MESSAGE TYPE'?
3:23: 319: Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an xmlnamespaces clause or a change tracking context clause, the previous statement must be terminated with a semicolon. | expected AUTHORIZATION, VALIDATION or the end of the statement
4:41: 156: Incorrect syntax near the keyword 'AUTHORIZATION'. | AUTHORIZATION stands before VALIDATION
5:17: 102: Incorrect syntax near '/'. | a name with other signs than letters and digits stands in brackets: [//…]
6:18: 102: Incorrect syntax near 'QUEUE'. | a service needs a queue, and its contracts in parentheses: ON QUEUE name (contract)
7:25: 102: Incorrect syntax near 'MESAGE'. | did you mean 'MESSAGE TYPE'?
8:7: 102: Incorrect syntax near 'CONVERSATION'. | write BEGIN DIALOG CONVERSATION @handle, or BEGIN CONVERSATION TIMER (@handle) TIMEOUT = seconds
9:9: 102: Incorrect syntax near 'RECEIVE'. | a statement that is waited for stands in parentheses: WAITFOR (RECEIVE …), TIMEOUT 1000
10:34: 102: Incorrect syntax near ','. | TIMEOUT stands behind the parenthesis of WAITFOR: WAITFOR (RECEIVE …), TIMEOUT 1000
11:37: 102: Incorrect syntax near '='. | TIMEOUT takes milliseconds, without =
12:15: 102: Incorrect syntax near '5'. | write the time as a string: WAITFOR DELAY '00:00:05'
13:23: 102: Incorrect syntax near 's'. | a securable's class is written with ::, as in SERVICE::name

-- case: words of other languages
IF 1 = 1 PRINT 'a' ELSEIF 1 = 2 PRINT 'b'
IF 1 = 1 PRINT 'a' PRINT 'b' ELSE PRINT 'c'
RAISERROR 'a', 16, 1
DECLARE c CURSOR SELECT 1
INSERT INTO t VALUE (1)
PRINT 'it's'
PRINT 'a' GO
GO
CREATE PROCEDURE p @a INT @b INT AS SELECT 1
GO
CREATE PROCEDURE p @a AS SELECT 1
GO
CREATE PROCEDURE p @a INT BEGIN SELECT 1 END
GO
DECLARE @a INT
@a = 5
GO
CREATE FUNCTION f () RETURN INT AS BEGIN RETURN 1 END
GO
CREATE USER u WITHOUT LOGN
GO
SET NOCOUNT TRUE
GO
SELECT [a FROM t
-- expect
1:20: 102: Incorrect syntax near 'ELSEIF'. | write ELSE IF
2:30: 156: Incorrect syntax near the keyword 'ELSE'. | it has no IF: several statements between IF and ELSE stand in BEGIN … END
3:11: 102: Incorrect syntax near 'a'. | RAISERROR has parentheses: RAISERROR ('text', 16, 1)
4:18: 156: Incorrect syntax near the keyword 'SELECT'. | FOR is missing before the cursor's query
6:1: 156: Incorrect syntax near the keyword 'PRINT'. | did you mean 'VALUES'?
6:11: 102: Incorrect syntax near 's'. | the string at line 6, column 7 ends right before 's': is a quote missing? Inside a string it is written twice, as in 'it''s'
7:9: 105: Unclosed quotation mark after the character string ' GO'. | a quote inside a string is written twice: 'it''s'
9:27: 102: Incorrect syntax near '@b'. | a comma is missing before it
11:26: 156: Incorrect syntax near the keyword 'SELECT'. | the parameter has no type: @name type
13:27: 156: Incorrect syntax near the keyword 'BEGIN'. | AS is missing before the procedure's statements
16:1: 102: Incorrect syntax near '@a'. | write SET @a = …, or a comma if it goes on with what is before it
18:22: 156: Incorrect syntax near the keyword 'RETURN'. | did you mean 'RETURNS'?
20:23: 102: Incorrect syntax near 'LOGN'. | expected LOGIN
22:1: 195: 'NOCOUNT' is not a recognized SET option. | SET NOCOUNT takes ON or OFF
24:8: 105: Unclosed quotation mark after the character string 'a FROM t'. | the [ has no ]

-- case: an END that is missing
CREATE PROCEDURE p AS
BEGIN
  WHILE 1 = 1
  BEGIN
    BEGIN TRAN
    IF CASE WHEN 1 = 1 THEN 1 END = 1 BREAK
END
GO
IF 1 = 1 BEGIN PRINT 'a' ELSE PRINT 'b' END
-- expect
7:4: 156: Incorrect syntax near the keyword 'END'. | the BEGIN at line 2 has no END; by how the lines begin it is that of line 4
9:26: 156: Incorrect syntax near the keyword 'ELSE'. | the BEGIN at line 9 has no END before it

-- case: parts of TRY and CATCH that are missing
BEGIN
  BEGIN TRY
    PRINT 'a'
  BEGIN CATCH
    PRINT 'b'
  END CATCH
  SELCT 1 2
END
GO
BEGIN
  BEGIN TRY
    PRINT 'a'
  END TRY
  PRINT 'c'
  BEGIN CATCH
    PRINT 'b'
  END
  CREATE QUEUE 'q'
END
GO
BEGIN TRY
  PRINT 'a'
END
BEGIN CATCH
  THROW
END CATCH
-- expect
4:9: 102: Incorrect syntax near 'CATCH'. | the BEGIN TRY at line 2 has no END TRY before it
7:3: 102: Incorrect syntax near 'SELCT'. | did you mean 'SELECT'?
14:3: 156: Incorrect syntax near the keyword 'PRINT'. | BEGIN TRY … END TRY is followed by BEGIN CATCH … END CATCH, with nothing between them
18:3: 156: Incorrect syntax near the keyword 'CREATE'. | a BEGIN CATCH block ends with END CATCH
18:16: 102: Incorrect syntax near 'q'. | this name is no string: write it in brackets or bare
24:1: 156: Incorrect syntax near the keyword 'BEGIN'. | a BEGIN TRY block ends with END TRY

-- case: a TRY block without a statement and without its end, which recovery came back to for ever
BEGIN TRY
BEGIN CATCH SELECT 1 END CATCH
GO
BEGIN TRY BEGIN TRY BEGIN CATCH BEGIN CATCH END CATCH
GO
BEGIN TRY BEGIN CATCH
GO
IF 1 = 1 BEGIN TRY ; BEGIN CATCH SELECT 2 END CATCH ELSE SELEC 3
-- expect
2:7: 102: Incorrect syntax near 'CATCH'. | the BEGIN TRY at line 1 has no END TRY before it
4:27: 102: Incorrect syntax near 'CATCH'. | the BEGIN TRY at line 4 has no END TRY before it
4:39: 102: Incorrect syntax near 'CATCH'. | the BEGIN TRY at line 4 has no END TRY before it
4:49: 102: Incorrect syntax near 'CATCH'. | expected the end of the statement
6:17: 102: Incorrect syntax near 'CATCH'. | the BEGIN TRY at line 6 has no END TRY before it
6:22: 102: Incorrect syntax near 'CATCH'. | the BEGIN at line 6 has no END
8:28: 102: Incorrect syntax near 'CATCH'. | the BEGIN TRY at line 8 has no END TRY before it
8:58: 102: Incorrect syntax near 'SELEC'. | did you mean 'SELECT'?

-- case: throw that is a name
BEGIN TRY SELECT 1 END TRY BEGIN CATCH ROLLBACK TRANSACTION THROW; END CATCH
BEGIN TRY SELECT 1 END TRY BEGIN CATCH SELECT 2 THROW END CATCH
BEGIN TRY SELECT 1 END TRY BEGIN CATCH SELECT 2 AS THROW; ROLLBACK; THROW END CATCH
-- expect
TryCatch
  SqlStatement kind=SELECT text=`SELECT 1`
Catch
  RollbackTransaction name=THROW
TryCatch
  SqlStatement kind=SELECT text=`SELECT 1`
Catch
  SqlStatement kind=SELECT text=`SELECT 2 THROW`
TryCatch
  SqlStatement kind=SELECT text=`SELECT 1`
Catch
  SqlStatement kind=SELECT text=`SELECT 2 AS THROW`
  RollbackTransaction
  Throw
warning 1:61: THROW is a name of the statement before it here, and throws nothing. | write a semicolon before THROW
warning 2:49: THROW is a name of the statement before it here, and throws nothing. | write a semicolon before THROW

-- case: quotes that are missing
INSERT t VALUES ('ACME, 100), ('BOLT', 10);
GO
PRINT N'over
lines
PRINT 'x'
-- expect
5:1: 156: Incorrect syntax near the keyword 'PRINT'. | the string at line 1, column 18 ends right before 'BOLT': is a quote missing? Inside a string it is written twice, as in 'it''s'

-- case: words that are missing
CREATE dbo.q
DECLARE @a NVARCHAR(5) = N'a' @b INT
GO
CREATE PROCEDURE p AS 'x' + @a
-- expect
1:8: 102: Incorrect syntax near 'dbo'. | the kind of object is missing, as in CREATE QUEUE or CREATE TABLE
2:31: 102: Incorrect syntax near '@b'. | something is missing before '@b', a comma or an operator maybe
4:23: 102: Incorrect syntax near 'x'. | 'x' begins no statement: is a word before it missing?

-- case: a comma before the first column
SELECT ,a FROM t
SELECT DISTINCT ,a FROM t WHERE a IS DISTINCT FROM 1
-- expect
1:8: 102: Incorrect syntax near ','. | something is missing after 'SELECT'
2:17: 102: Incorrect syntax near ','. | something is missing after 'DISTINCT'

-- case: kinds of objects that ALTER, or CREATE OR ALTER, does not know
ALTER CONTRACT c (m SENT BY ANY)
ALTER EVENT NOTIFICATION n ON DATABASE FOR CREATE_TABLE TO SERVICE 's', 'current database'
ALTER SYNONYM a FOR b
CREATE OR ALTER MESSAGE TYPE m
-- expect
1:7: 102: Incorrect syntax near 'CONTRACT'. | T-SQL has no ALTER CONTRACT: drop it and create it again
2:7: 102: Incorrect syntax near 'EVENT'. | T-SQL has no ALTER EVENT NOTIFICATION: drop it and create it again
3:7: 102: Incorrect syntax near 'SYNONYM'. | T-SQL has no ALTER SYNONYM: drop it and create it again
4:17: 102: Incorrect syntax near 'MESSAGE'. | CREATE OR ALTER is for procedures, functions, views and triggers

-- case: a name or a word that is missing is said without what another kind of object would allow
CREATE MESSAGE TYPE m VALIDATION = NULL
ALTER MESSAGE TYPE m VALIDATION = 'NONE'
CREATE MESSAGE TYPE m VALIDATION = @v
DROP MESSAGE TYPE 'm'
DROP CONTRACT 'c'
ALTER QUEUE q WITH ACTIVATION (DROP, STATUS = ON)
DROP CONTRACT
-- expect
1:36: 156: Incorrect syntax near the keyword 'NULL'. | expected NONE, EMPTY, WELL_FORMED_XML or VALID_XML
2:35: 102: Incorrect syntax near 'NONE'. | expected NONE, EMPTY, WELL_FORMED_XML or VALID_XML
3:36: 102: Incorrect syntax near '@v'. | expected NONE, EMPTY, WELL_FORMED_XML or VALID_XML
4:19: 102: Incorrect syntax near 'm'. | this name is no string: write it in brackets or bare
5:15: 102: Incorrect syntax near 'c'. | this name is no string: write it in brackets or bare
6:36: 102: Incorrect syntax near ','. | expected ')'
7:14: 102: Incorrect syntax near 'CONTRACT'. | expected a name

-- case: events that queues do not have
CREATE EVENT NOTIFICATION n ON QUEUE q FOR CREATE_TABLE TO SERVICE 's', 'current database'
CREATE EVENT NOTIFICATION n ON QUEUE q FOR QUEUE_ACTIVATION, AUDIT_LOGIN TO SERVICE 's', 'current database'
CREATE EVENT NOTIFICATION n ON QUEUE q FOR queue_activation, BROKER_QUEUE_DISABLED TO SERVICE 's', 'current database'
-- expect
1:44: 1098: The specified event type(s) is/are not valid on the specified target object. | events of a queue are QUEUE_ACTIVATION and BROKER_QUEUE_DISABLED
2:62: 1098: The specified event type(s) is/are not valid on the specified target object. | events of a queue are QUEUE_ACTIVATION and BROKER_QUEUE_DISABLED

-- case: handles that are missing among several
SEND ON CONVERSATION (@h, ) MESSAGE TYPE m
SEND ON CONVERSATION () MESSAGE TYPE m
SEND ON CONVERSATION @h, MESSAGE TYPE m
-- expect
1:23: 137: Must declare the scalar variable "@h".
1:27: 102: Incorrect syntax near ')'. | expected a conversation handle
2:23: 102: Incorrect syntax near ')'. | expected a conversation handle
3:26: 102: Incorrect syntax near 'MESSAGE'. | expected a string, a variable or '('

-- case: the END of a CASE in a statement that cannot be read does not end the block
BEGIN
    PRINT 1 1 + CASE WHEN 1 = 1 THEN 2 END;
    PRINT 'x'
    BREAK
END
PRINT 'y'
END
-- expect
2:13: 102: Incorrect syntax near '1'. | something is missing before '1', a comma or an operator maybe
7:1: 156: Incorrect syntax near the keyword 'END'. | it has no BEGIN

-- case: a SEND without ON CONVERSATION that is the batch's first statement
SEND @h MESSAGE TYPE m (N'x')
-- expect
1:9: 102: Incorrect syntax near 'MESSAGE'. | write ON CONVERSATION and the handle after SEND

-- case: a SEND without ON that is the batch's first statement
SEND CONVERSATION @h MESSAGE TYPE m (N'x')
-- expect
1:19: 102: Incorrect syntax near '@h'. | write ON CONVERSATION and the handle after SEND

-- case: a reserved word as the name of a table
CREATE TABLE order (id INT);
-- expect
1:14: 156: Incorrect syntax near the keyword 'order'. | ORDER is a reserved word: as a name it stands in brackets, [order]

-- case: declare
DECLARE @a int, @b AS nvarchar(max) = N'x', @c decimal(10, 2) = -1.5, @d dbo.Money, @e sysname
DECLARE @x xml(CONTENT dbo.c), @y xml(DOCUMENT c), @z xml(c), @w [nvarchar](10), @v national character varying(5), @u double precision, @r character varying(3), @q binary varying(4), @o sys.sysname
DECLARE @k CURSOR
-- expect
Declare declarations=(VariableDeclaration(variable=@a type=int), VariableDeclaration(variable=@b type=nvarchar(MAX) initial=`N'x'`), VariableDeclaration(variable=@c type=decimal(10,2) initial=`-1.5`), VariableDeclaration(variable=@d type=dbo.Money), VariableDeclaration(variable=@e type=sysname))
Declare declarations=(VariableDeclaration(variable=@x type=DataType(name=xml xml_collection=dbo.c)), VariableDeclaration(variable=@y type=DataType(name=xml xml_collection=c xml_document=True)), VariableDeclaration(variable=@z type=DataType(name=xml xml_collection=c)), VariableDeclaration(variable=@w type=nvarchar(10)), VariableDeclaration(variable=@v type=nvarchar(5)), VariableDeclaration(variable=@u type=float), VariableDeclaration(variable=@r type=varchar(3)), VariableDeclaration(variable=@q type=varbinary(4)), VariableDeclaration(variable=@o type=sys.sysname))
Declare declarations=(CursorVariableDeclaration(variable=@k))

-- case: declare table variables
DECLARE @t TABLE (id int IDENTITY(1,1) NOT NULL PRIMARY KEY, name nvarchar(20) DEFAULT ('a, b') CHECK (name <> ''), total AS (id * 2), UNIQUE (name) WITH (IGNORE_DUP_KEY = ON), INDEX ix NONCLUSTERED (id, name))
DECLARE @u AS TABLE (a int, b xml, PRIMARY KEY CLUSTERED (a DESC),), @v dbo.Lines
-- expect
Declare declarations=(TableVariableDeclaration(variable=@t definition=TableDefinition(columns=(ColumnDefinition(name=id type=int rest=`IDENTITY(1,1) NOT NULL PRIMARY KEY`), ColumnDefinition(name=name type=nvarchar(20) rest=`DEFAULT ('a, b') CHECK (name <> '')`), ColumnDefinition(name=total rest=`AS (id * 2)`)) constraints=(`UNIQUE (name) WITH (IGNORE_DUP_KEY = ON)`, `INDEX ix NONCLUSTERED (id, name)`))))
Declare declarations=(TableVariableDeclaration(variable=@u definition=TableDefinition(columns=(ColumnDefinition(name=a type=int), ColumnDefinition(name=b type=xml)) constraints=(`PRIMARY KEY CLUSTERED (a DESC)`))), VariableDeclaration(variable=@v type=dbo.Lines))

-- case: table definition without the comma before its key
DECLARE @t TABLE (a int NOT NULL, b int NOT NULL PRIMARY KEY (a, b))
DECLARE @u TABLE (a int CONSTRAINT pk PRIMARY KEY (a))
-- expect
Declare declarations=(TableVariableDeclaration(variable=@t definition=TableDefinition(columns=(ColumnDefinition(name=a type=int rest=`NOT NULL`), ColumnDefinition(name=b type=int rest=`NOT NULL`)) constraints=(`PRIMARY KEY (a, b)`))))
Declare declarations=(TableVariableDeclaration(variable=@u definition=TableDefinition(columns=(ColumnDefinition(name=a type=int)) constraints=(`CONSTRAINT pk PRIMARY KEY (a)`))))

-- case: set variables
DECLARE @a int, @x xml
SET @a = 1 SET @a += 2 SET @a -= 1 SET @a *= 2 SET @a /= 2 SET @a %= 2 SET @a &= 1 SET @a |= 1 SET @a ^= 1
SET @a = (SELECT MAX(b) FROM t) SET @a = CASE WHEN @a > 1 THEN 1 ELSE (2) END
SET @x.modify('insert <a/> into (/b)[1]')
SET @a = @x.value('(/a)[1]', 'int') + @x.exist('/b')
-- expect
Declare declarations=(VariableDeclaration(variable=@a type=int), VariableDeclaration(variable=@x type=xml))
SetVariable variable=@a operator== value=`1`
SetVariable variable=@a operator=+= value=`2`
SetVariable variable=@a operator=-= value=`1`
SetVariable variable=@a operator=*= value=`2`
SetVariable variable=@a operator=/= value=`2`
SetVariable variable=@a operator=%= value=`2`
SetVariable variable=@a operator=&= value=`1`
SetVariable variable=@a operator=|= value=`1`
SetVariable variable=@a operator=^= value=`1`
SetVariable variable=@a operator== value=`(SELECT MAX(b) FROM t)`
SetVariable variable=@a operator== value=`CASE WHEN @a > 1 THEN 1 ELSE (2) END`
SetMethod variable=@x method=modify arguments=`'insert <a/> into (/b)[1]'`
SetVariable variable=@a operator== value=`@x.value('(/a)[1]', 'int') + @x.exist('/b')`

-- case: set options
DECLARE @n int
SET NOCOUNT ON SET NOCOUNT, XACT_ABORT OFF;
SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ
SET TRANSACTION ISOLATION LEVEL SNAPSHOT
SET TRAN ISOLATION LEVEL SERIALIZABLE
SET IDENTITY_INSERT dbo.t ON
SET STATISTICS IO, TIME ON
SET ROWCOUNT 10 SET ROWCOUNT @n SET TEXTSIZE 2147483647
SET LOCK_TIMEOUT -1 SET DATEFIRST @n SET DATEFORMAT dmy SET LANGUAGE 'us_english' SET LANGUAGE French
SET CONTEXT_INFO 0x0102 SET DEADLOCK_PRIORITY LOW SET DEADLOCK_PRIORITY -5
SET QUOTED_IDENTIFIER ON SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS ON SET IMPLICIT_TRANSACTIONS OFF SET FMTONLY OFF SET PARSEONLY OFF
-- expect
Declare declarations=(VariableDeclaration(variable=@n type=int))
SetOption names=(NOCOUNT) value=ON
SetOption names=(NOCOUNT, XACT_ABORT) value=OFF
SetOption names=(TRANSACTION ISOLATION LEVEL) value=READ UNCOMMITTED
SetOption names=(TRANSACTION ISOLATION LEVEL) value=REPEATABLE READ
SetOption names=(TRANSACTION ISOLATION LEVEL) value=SNAPSHOT
SetOption names=(TRANSACTION ISOLATION LEVEL) value=SERIALIZABLE
SetOption names=(IDENTITY_INSERT) value=ON table=dbo.t
SetOption names=(STATISTICS IO, STATISTICS TIME) value=ON
SetOption names=(ROWCOUNT) value=10 argument=`10`
SetOption names=(ROWCOUNT) value=@n argument=`@n`
SetOption names=(TEXTSIZE) value=2147483647 argument=`2147483647`
SetOption names=(LOCK_TIMEOUT) value=-1 argument=`-1`
SetOption names=(DATEFIRST) value=@n argument=`@n`
SetOption names=(DATEFORMAT) value=dmy argument=`dmy`
SetOption names=(LANGUAGE) value='us_english' argument=`'us_english'`
SetOption names=(LANGUAGE) value=French argument=`French`
SetOption names=(CONTEXT_INFO) value=0x0102 argument=`0x0102`
SetOption names=(DEADLOCK_PRIORITY) value=LOW argument=`LOW`
SetOption names=(DEADLOCK_PRIORITY) value=-5 argument=`-5`
SetOption names=(QUOTED_IDENTIFIER) value=ON
SetOption names=(ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS) value=ON
SetOption names=(IMPLICIT_TRANSACTIONS) value=OFF
SetOption names=(FMTONLY) value=OFF
SetOption names=(PARSEONLY) value=OFF

-- case: if and else
DECLARE @a int
IF @a = 1 PRINT 'x' ELSE PRINT 'y'
IF @a = 1 PRINT 'x'; ELSE PRINT 'y';
IF (@a = 1) BEGIN PRINT 'x' END; ELSE BEGIN PRINT 'y'; END;
IF EXISTS (SELECT * FROM t WHERE a = 1) SELECT 1
IF NOT EXISTS (SELECT 1) AND @a IS NOT NULL OR @a NOT IN (1, 2) AND @a NOT BETWEEN 1 AND 2 OR 'a' NOT LIKE 'b%' ESCAPE '\' SELECT 2
IF @a > 1 IF @a > 2 PRINT '3' ELSE PRINT '2'
IF @a = 1 SELECT 1 ELSE IF @a = 2 SELECT 2 ELSE IF @a = 3 SELECT 3 ELSE SELECT 4
IF UPDATE(a) PRINT 'a' IF UPDATE (a) OR UPDATE(b) UPDATE t SET a = 1 WHERE b = 2
IF (SELECT COUNT(*) FROM t) > 3 DELETE FROM t
IF @a IS DISTINCT FROM 1 PRINT 'd' IF @a = ALL (SELECT 1) PRINT 'e' IF @a <> ANY (SELECT 1) PRINT 'f' IF @a < > 1 PRINT 'g' IF @a ! = 1 PRINT 'h'
-- expect
Declare declarations=(VariableDeclaration(variable=@a type=int))
If condition=`@a = 1`
  Print value=`'x'`
Else
  Print value=`'y'`
If condition=`@a = 1`
  Print value=`'x'`
Else
  Print value=`'y'`
If condition=`(@a = 1)`
  Block
    Print value=`'x'`
Else
  Block
    Print value=`'y'`
If condition=`EXISTS (SELECT * FROM t WHERE a = 1)`
  SqlStatement kind=SELECT text=`SELECT 1`
If condition=`NOT EXISTS (SELECT 1) AND @a IS NOT NULL OR @a NOT IN (1, 2) AND @a NOT BETWEEN 1 AND 2 OR 'a' NOT LIKE 'b%' ESCAPE '\'`
  SqlStatement kind=SELECT text=`SELECT 2`
If condition=`@a > 1`
  If condition=`@a > 2`
    Print value=`'3'`
  Else
    Print value=`'2'`
If condition=`@a = 1`
  SqlStatement kind=SELECT text=`SELECT 1`
Else
  If condition=`@a = 2`
    SqlStatement kind=SELECT text=`SELECT 2`
  Else
    If condition=`@a = 3`
      SqlStatement kind=SELECT text=`SELECT 3`
    Else
      SqlStatement kind=SELECT text=`SELECT 4`
If condition=`UPDATE(a)`
  Print value=`'a'`
If condition=`UPDATE (a) OR UPDATE(b)`
  SqlStatement kind=UPDATE text=`UPDATE t SET a = 1 WHERE b = 2`
If condition=`(SELECT COUNT(*) FROM t) > 3`
  SqlStatement kind=DELETE text=`DELETE FROM t`
If condition=`@a IS DISTINCT FROM 1`
  Print value=`'d'`
If condition=`@a = ALL (SELECT 1)`
  Print value=`'e'`
If condition=`@a <> ANY (SELECT 1)`
  Print value=`'f'`
If condition=`@a < > 1`
  Print value=`'g'`
If condition=`@a ! = 1`
  Print value=`'h'`

-- case: while, break, continue
DECLARE @a int = 0
WHILE 1 = 1 BEGIN SET @a += 1 IF @a < 5 CONTINUE BREAK END
WHILE (1=1) IF @a = 1 BREAK ELSE CONTINUE
WHILE @a < 10 SET @a = @a + 1
WHILE 1 = 1 BEGIN TRY BREAK END TRY BEGIN CATCH BREAK END CATCH
-- expect
Declare declarations=(VariableDeclaration(variable=@a type=int initial=`0`))
While condition=`1 = 1`
  Block
    SetVariable variable=@a operator=+= value=`1`
    If condition=`@a < 5`
      Continue
    Break
While condition=`(1=1)`
  If condition=`@a = 1`
    Break
  Else
    Continue
While condition=`@a < 10`
  SetVariable variable=@a operator== value=`@a + 1`
While condition=`1 = 1`
  TryCatch
    Break
  Catch
    Break

-- case: blocks and semicolons
BEGIN PRINT 'a' END BEGIN; PRINT 'b'; END; ;; BEGIN BEGIN PRINT 'c' END END
IF 1 = 1 BEGIN ; END
-- expect
Block
  Print value=`'a'`
Block
  Print value=`'b'`
Block
  Block
    Print value=`'c'`
If condition=`1 = 1`
  Block
    EmptyStatement

-- case: try and catch
BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH END CATCH
BEGIN TRY
  BEGIN TRY PRINT 'a'; END TRY BEGIN CATCH THROW; END CATCH;
END TRY
BEGIN CATCH
  IF XACT_STATE() <> 0 ROLLBACK;
  THROW
END CATCH;
IF 1 = 1 BEGIN TRY PRINT 'b' END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH ELSE PRINT 'c'
-- expect
TryCatch
  SqlStatement kind=SELECT text=`SELECT 1/0`
Catch
TryCatch
  TryCatch
    Print value=`'a'`
  Catch
    Throw
Catch
  If condition=`XACT_STATE() <> 0`
    RollbackTransaction
  Throw
If condition=`1 = 1`
  TryCatch
    Print value=`'b'`
  Catch
    Print value=`ERROR_MESSAGE()`
Else
  Print value=`'c'`

-- case: goto and labels
start: PRINT 'a' GOTO done
[not done]: PRINT 'b' GOTO [start]
done:
IF 1 = 1 GOTO start
BEGIN in_block: PRINT 'c' END
finish : SELECT 1
-- expect
Label name=start
Print value=`'a'`
Goto label=done
Label name=[not done]
Print value=`'b'`
Goto label=start
Label name=done
If condition=`1 = 1`
  Goto label=start
Block
  Label name=in_block
  Print value=`'c'`
Label name=finish
SqlStatement kind=SELECT text=`SELECT 1`

-- case: return, throw, raiserror, print
GO
CREATE PROCEDURE p @n int, @s nvarchar(20) AS
RETURN RETURN 1 RETURN -1 RETURN (@n) RETURN @n + 1 RETURN (SELECT 1)
THROW 50001, 'x', 1; THROW @n, @s, 1 THROW 60000, N'y', @n
RAISERROR ('x', 16, 1) RAISERROR (N'%d of %s', 10, 1, 5, N'a') WITH NOWAIT, LOG RAISERROR (@s, @n, -1, @n, @s) WITH SETERROR RAISERROR(50005, 10, 1, N'a')
PRINT 'a' + CAST(@n AS varchar(10)) PRINT @s PRINT N'it''s' PRINT 'continued \
line'
-- expect
CreateProcedure action=CREATE name=p parameters=(Parameter(variable=@n type=int), Parameter(variable=@s type=nvarchar(20)))
  Return
  Return value=`1`
  Return value=`-1`
  Return value=`(@n)`
  Return value=`@n + 1`
  Return value=`(SELECT 1)`
  Throw number=`50001` message=`'x'` state=`1`
  Throw number=`@n` message=`@s` state=`1`
  Throw number=`60000` message=`N'y'` state=`@n`
  RaiseError message=`'x'` severity=`16` state=`1`
  RaiseError message=`N'%d of %s'` severity=`10` state=`1` arguments=(`5`, `N'a'`) options=(NOWAIT, LOG)
  RaiseError message=`@s` severity=`@n` state=`-1` arguments=(`@n`, `@s`) options=(SETERROR)
  RaiseError message=`50005` severity=`10` state=`1` arguments=(`N'a'`)
  Print value=`'a' + CAST(@n AS varchar(10))`
  Print value=`@s`
  Print value=`N'it''s'`
  Print value=`'continued \ line'`

-- case: transactions
DECLARE @t varchar(32) = 'x'
BEGIN TRAN BEGIN TRANSACTION BEGIN TRAN outer_one BEGIN TRANSACTION @t WITH MARK 'm' BEGIN TRAN a WITH MARK
SAVE TRAN s SAVE TRANSACTION @t
ROLLBACK ROLLBACK TRAN ROLLBACK TRANSACTION s ROLLBACK TRAN @t ROLLBACK WORK
COMMIT COMMIT TRAN COMMIT TRANSACTION outer_one COMMIT TRAN @t COMMIT WORK COMMIT TRAN a WITH (DELAYED_DURABILITY = ON)
BEGIN TRAN [my tran]; COMMIT;
-- expect
Declare declarations=(VariableDeclaration(variable=@t type=varchar(32) initial=`'x'`))
BeginTransaction
BeginTransaction
BeginTransaction name=outer_one
BeginTransaction name=@t mark='m'
BeginTransaction name=a mark=''
SaveTransaction name=s
SaveTransaction name=@t
RollbackTransaction
RollbackTransaction
RollbackTransaction name=s
RollbackTransaction name=@t
RollbackTransaction
CommitTransaction
CommitTransaction
CommitTransaction name=outer_one
CommitTransaction name=@t
CommitTransaction
CommitTransaction name=a
BeginTransaction name=[my tran]
CommitTransaction

-- case: exec
DECLARE @rc int, @p sysname, @a int
EXEC p EXECUTE dbo.p 1, N'x', @a OUTPUT, DEFAULT, NULL, -1.5, 0x01, name, @@spid
EXEC @rc = db..p @x = 1, @y = @a OUT, @z = DEFAULT, @w = abc WITH RECOMPILE
EXEC @p EXEC @rc = @p @a
EXEC p;1 EXEC p;2 5
EXEC [p q] 'a' EXEC sp_executesql N'SELECT @a', N'@a int', @a = 1
EXEC p WITH RESULT SETS UNDEFINED EXEC p WITH RESULT SETS NONE EXEC p WITH RECOMPILE, RESULT SETS ((a int, b nvarchar(10)), (c int))
EXEC sp_addrolemember db_owner, ann
-- expect
Declare declarations=(VariableDeclaration(variable=@rc type=int), VariableDeclaration(variable=@p type=sysname), VariableDeclaration(variable=@a type=int))
Execute module=p
Execute module=dbo.p arguments=(Argument(value=`1`), Argument(value=`N'x'`), Argument(value=`@a` output=True), Argument(), Argument(value=`NULL`), Argument(value=`-1.5`), Argument(value=`0x01`), Argument(value=`name`), Argument(value=`@@spid`))
Execute module=db..p return_variable=@rc arguments=(Argument(name=@x value=`1`), Argument(name=@y value=`@a` output=True), Argument(name=@z), Argument(name=@w value=`abc`)) recompile=True
Execute module=@p
Execute module=@p return_variable=@rc arguments=(Argument(value=`@a`))
Execute module=p number=1
Execute module=p;2 number=2 arguments=(Argument(value=`5`))
Execute module=p q arguments=(Argument(value=`'a'`))
Execute module=sp_executesql arguments=(Argument(value=`N'SELECT @a'`), Argument(value=`N'@a int'`), Argument(name=@a value=`1`))
Execute module=p result_sets=`UNDEFINED`
Execute module=p result_sets=`NONE`
Execute module=p recompile=True result_sets=`((a int, b nvarchar(10)), (c int))`
Execute module=sp_addrolemember arguments=(Argument(value=`db_owner`), Argument(value=`ann`))

-- case: exec of strings
DECLARE @s nvarchar(max), @a int
EXEC ('SELECT 1') EXECUTE(@s) EXEC (N'SELECT ' + @s + 'x') EXEC ('x') AS USER = 'ann' EXEC (@s) AS LOGIN = N'bob'
-- expect
Declare declarations=(VariableDeclaration(variable=@s type=nvarchar(MAX)), VariableDeclaration(variable=@a type=int))
ExecuteString text=`'SELECT 1'`
ExecuteString text=`@s`
ExecuteString text=`N'SELECT ' + @s + 'x'`
ExecuteString text=`'x'` as_kind=USER as_name='ann'
ExecuteString text=`@s` as_kind=LOGIN as_name=N'bob'

-- case: call without exec
sp_who 'active'
GO
dbo.p @a = 1, @b = 2 SELECT 1
GO
;sp_who
GO
sp_help;SELECT 2
GO
send 1
-- expect
Execute module=sp_who arguments=(Argument(value=`'active'`)) implicit=True
GO
Execute module=dbo.p arguments=(Argument(name=@a value=`1`), Argument(name=@b value=`2`)) implicit=True
SqlStatement kind=SELECT text=`SELECT 1`
GO
Execute module=sp_who implicit=True
GO
Execute module=sp_help implicit=True
SqlStatement kind=SELECT text=`SELECT 2`
GO
Execute module=send arguments=(Argument(value=`1`)) implicit=True

-- case: execute as
DECLARE @c varbinary(100), @u sysname
EXECUTE AS USER = 'ann' EXEC AS LOGIN = 'bob' WITH NO REVERT EXECUTE AS CALLER EXECUTE AS USER = @u WITH COOKIE INTO @c
REVERT REVERT WITH COOKIE = @c
-- expect
Declare declarations=(VariableDeclaration(variable=@c type=varbinary(100)), VariableDeclaration(variable=@u type=sysname))
ExecuteAs kind=USER principal='ann'
ExecuteAs kind=LOGIN principal='bob' no_revert=True
ExecuteAs kind=CALLER
ExecuteAs kind=USER principal=@u cookie=@c
Revert
Revert cookie=@c

-- case: insert exec
DECLARE @t TABLE (a int), @s nvarchar(10)
INSERT INTO @t EXEC p 1 INSERT #t (a, b) EXECUTE dbo.p @a = 2 INSERT t EXEC (@s) INSERT t EXEC sp_executesql @s
-- expect
Declare declarations=(TableVariableDeclaration(variable=@t definition=TableDefinition(columns=(ColumnDefinition(name=a type=int)))), VariableDeclaration(variable=@s type=nvarchar(10)))
InsertExecute target=`INSERT INTO @t` execute=Execute(module=p arguments=(Argument(value=`1`)))
InsertExecute target=`INSERT #t (a, b)` execute=Execute(module=dbo.p arguments=(Argument(name=@a value=`2`)))
InsertExecute target=`INSERT t` execute=ExecuteString(text=`@s`)
InsertExecute target=`INSERT t` execute=Execute(module=sp_executesql arguments=(Argument(value=`@s`)))

-- case: cursors
DECLARE @a int, @b int, @n int, @k CURSOR
DECLARE c CURSOR FOR SELECT a, b FROM t
DECLARE c2 INSENSITIVE SCROLL CURSOR FOR SELECT a FROM t ORDER BY a FOR READ ONLY
DECLARE c3 CURSOR LOCAL FAST_FORWARD FOR WITH x AS (SELECT 1 a) SELECT a FROM x
DECLARE c4 CURSOR GLOBAL SCROLL KEYSET OPTIMISTIC TYPE_WARNING FOR SELECT a FROM t WHERE b = 1 FOR UPDATE OF a, b
DECLARE c5 CURSOR FORWARD_ONLY STATIC READ_ONLY FOR SELECT a FROM t UNION ALL SELECT b FROM u;
DECLARE c6 CURSOR FOR SELECT a FROM t FOR UPDATE
SET @k = CURSOR LOCAL STATIC FOR SELECT a FROM t
SET @k = c
OPEN c FETCH NEXT FROM c INTO @a, @b OPEN GLOBAL c OPEN @k FETCH c FETCH FROM c INTO @a
FETCH PRIOR FROM c INTO @a FETCH FIRST FROM @k INTO @a FETCH LAST FROM c FETCH ABSOLUTE 5 FROM c FETCH RELATIVE -2 FROM c INTO @a FETCH ABSOLUTE @n FROM GLOBAL c INTO @a
WHILE @@FETCH_STATUS = 0 BEGIN FETCH NEXT FROM c INTO @a, @b END
CLOSE c DEALLOCATE c CLOSE GLOBAL c2 DEALLOCATE CURSOR c2 CLOSE @k DEALLOCATE @k
-- expect
Declare declarations=(VariableDeclaration(variable=@a type=int), VariableDeclaration(variable=@b type=int), VariableDeclaration(variable=@n type=int), CursorVariableDeclaration(variable=@k))
DeclareCursor name=c cursor=CursorDefinition(query=`SELECT a, b FROM t`)
DeclareCursor name=c2 cursor=CursorDefinition(options=(INSENSITIVE, SCROLL) query=`SELECT a FROM t ORDER BY a` updatable=READ ONLY)
DeclareCursor name=c3 cursor=CursorDefinition(options=(LOCAL, FAST_FORWARD) query=`WITH x AS (SELECT 1 a) SELECT a FROM x`)
DeclareCursor name=c4 cursor=CursorDefinition(options=(GLOBAL, SCROLL, KEYSET, OPTIMISTIC, TYPE_WARNING) query=`SELECT a FROM t WHERE b = 1` updatable=UPDATE update_columns=(a, b))
DeclareCursor name=c5 cursor=CursorDefinition(options=(FORWARD_ONLY, STATIC, READ_ONLY) query=`SELECT a FROM t UNION ALL SELECT b FROM u`)
DeclareCursor name=c6 cursor=CursorDefinition(query=`SELECT a FROM t` updatable=UPDATE)
SetCursorVariable variable=@k cursor=CursorDefinition(options=(LOCAL, STATIC) query=`SELECT a FROM t`)
SetVariable variable=@k operator== value=`c`
OpenCursor cursor=CursorReference(name=c)
FetchCursor direction=NEXT cursor=CursorReference(name=c) into=(@a, @b)
OpenCursor cursor=CursorReference(name=c is_global=True)
OpenCursor cursor=CursorReference(name=@k)
FetchCursor direction=NEXT cursor=CursorReference(name=c)
FetchCursor direction=NEXT cursor=CursorReference(name=c) into=(@a)
FetchCursor direction=PRIOR cursor=CursorReference(name=c) into=(@a)
FetchCursor direction=FIRST cursor=CursorReference(name=@k) into=(@a)
FetchCursor direction=LAST cursor=CursorReference(name=c)
FetchCursor direction=ABSOLUTE offset=`5` cursor=CursorReference(name=c)
FetchCursor direction=RELATIVE offset=`-2` cursor=CursorReference(name=c) into=(@a)
FetchCursor direction=ABSOLUTE offset=`@n` cursor=CursorReference(name=c is_global=True) into=(@a)
While condition=`@@FETCH_STATUS = 0`
  Block
    FetchCursor direction=NEXT cursor=CursorReference(name=c) into=(@a, @b)
CloseCursor cursor=CursorReference(name=c)
DeallocateCursor cursor=CursorReference(name=c)
CloseCursor cursor=CursorReference(name=c2 is_global=True)
DeallocateCursor cursor=CursorReference(name=c2)
CloseCursor cursor=CursorReference(name=@k)
DeallocateCursor cursor=CursorReference(name=@k)

-- case: comments
-- first
/* second */ PRINT 'a' -- after a
-- before b
PRINT /* inside */ 'b'; /* after b */ -- and more
IF 1 = 1 -- condition
BEGIN -- begins
  -- in
  PRINT 'c' -- after c
  -- last of the block
END -- after the block
ELSE
  -- other
  PRINT 'd'
BEGIN TRY
  PRINT 'e'
  -- end of try
END TRY
BEGIN CATCH
  -- nothing
END CATCH
-- end of batch
-- expect
# -- first
# /* second */
Print value=`'a'`  # -- after a
# -- before b
Print value=`'b'`  # /* after b */  # -- and more
If condition=`1 = 1`
  # -- condition
  Block  # -- after the block
    # -- begins
    # -- in
    Print value=`'c'`  # -- after c
    # -- last of the block
Else
  # -- other
  Print value=`'d'`
TryCatch
  Print value=`'e'`
  # -- end of try
Catch
  # -- nothing
# -- end of batch

-- case: names as keywords and odd names
DECLARE @type int, @From int, @@x int, @ int, @1 int, @a$b int, @é int
SET @type = 1 SET @@x = 2 SET @ = 3
SELECT [select], "from", [a]]b], "c""d", #t.x, ##u.y FROM [my db]..[t] AS [group]
CREATE TABLE #t ([primary] int, period int, [order by] int)
EXEC type
-- expect
Declare declarations=(VariableDeclaration(variable=@type type=int), VariableDeclaration(variable=@From type=int), VariableDeclaration(variable=@@x type=int), VariableDeclaration(variable=@ type=int), VariableDeclaration(variable=@1 type=int), VariableDeclaration(variable=@a$b type=int), VariableDeclaration(variable=@é type=int))
SetVariable variable=@type operator== value=`1`
SetVariable variable=@@x operator== value=`2`
SetVariable variable=@ operator== value=`3`
SqlStatement kind=SELECT text=`SELECT [select], "from", [a]]b], "c""d", #t.x, ##u.y FROM [my db]..[t] AS [group]`
CreateTable name=#t definition=TableDefinition(columns=(ColumnDefinition(name=primary type=int), ColumnDefinition(name=period type=int), ColumnDefinition(name=[order by] type=int)))
Execute module=type

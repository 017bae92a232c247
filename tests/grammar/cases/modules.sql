-- case: procedure
CREATE PROCEDURE dbo.p AS SELECT 1 SELECT 2;
-- expect
CreateProcedure action=CREATE name=dbo.p
  SqlStatement kind=SELECT text=`SELECT 1`
  SqlStatement kind=SELECT text=`SELECT 2`

-- case: procedure with everything
CREATE OR ALTER PROC [dbo].[p];2 (@a int, @b AS nvarchar(max) = N'x', @c dbo.Lines READONLY, @d int = NULL OUTPUT, @e decimal(5, 2) = -1.5 OUT, @f CURSOR VARYING OUTPUT, @g bit = 1, @h int NOT NULL = 3, @i sysname = abc, @j xml(c) = NULL)
WITH RECOMPILE, ENCRYPTION, EXECUTE AS 'ann' FOR REPLICATION AS
BEGIN
  SET NOCOUNT ON;
  SELECT @a
END
PRINT 'still in the body'
-- the end
-- expect
CreateProcedure action=CREATE OR ALTER name=dbo.p;2 number=2 parameters=(Parameter(variable=@a type=int), Parameter(variable=@b type=nvarchar(MAX) default=`N'x'`), Parameter(variable=@c type=dbo.Lines readonly=True), Parameter(variable=@d type=int default=`NULL` output=True), Parameter(variable=@e type=decimal(5,2) default=`-1.5` output=True), Parameter(variable=@f type=DataType(name=cursor varying=True) output=True), Parameter(variable=@g type=bit default=`1`), Parameter(variable=@h type=int default=`3` nullable=False), Parameter(variable=@i type=sysname default=`abc`), Parameter(variable=@j type=DataType(name=xml xml_collection=c) default=`NULL`)) options=ModuleOptions(words=(RECOMPILE, ENCRYPTION) execute_as=ExecuteAsClause(principal=USER user='ann')) for_replication=True
  Block
    SetOption names=(NOCOUNT) value=ON
    SqlStatement kind=SELECT text=`SELECT @a`
  Print value=`'still in the body'`
  # -- the end

-- case: parameters without parentheses
ALTER PROCEDURE p @a int = 1, @b varchar(10) OUTPUT WITH EXECUTE AS OWNER AS RETURN @a
-- expect
CreateProcedure action=ALTER name=p parameters=(Parameter(variable=@a type=int default=`1`), Parameter(variable=@b type=varchar(10) output=True)) options=ModuleOptions(execute_as=ExecuteAsClause(principal=OWNER))
  Return value=`@a`

-- case: procedure without body
CREATE PROC p AS
GO
CREATE PROC p @a int AS -- nothing
GO
CREATE PROC q () AS SELECT 1
-- expect
CreateProcedure action=CREATE name=p
GO
CreateProcedure action=CREATE name=p parameters=(Parameter(variable=@a type=int))
  # -- nothing
GO
CreateProcedure action=CREATE name=q
  SqlStatement kind=SELECT text=`SELECT 1`

-- case: natively compiled procedure
CREATE PROCEDURE p WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english') PRINT 'a' END
-- expect
CreateProcedure action=CREATE name=p options=ModuleOptions(words=(NATIVE_COMPILATION, SCHEMABINDING))
  AtomicBlock options=`TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english'`
    Print value=`'a'`

-- case: scalar function
CREATE FUNCTION dbo.f (@a int, @b int = 2) RETURNS decimal(10, 2) WITH SCHEMABINDING, RETURNS NULL ON NULL INPUT AS
BEGIN
  DECLARE @c int = @a + @b
  RETURN @c
  -- done
END
GO
CREATE FUNCTION f () RETURNS int BEGIN RETURN 1 END;
GO
CREATE FUNCTION f () RETURNS xml WITH INLINE = OFF, EXECUTE AS CALLER, CALLED ON NULL INPUT AS BEGIN RETURN NULL END
-- expect
CreateFunction action=CREATE name=dbo.f parameters=(Parameter(variable=@a type=int), Parameter(variable=@b type=int default=`2`)) kind=SCALAR returns=decimal(10,2) options=ModuleOptions(words=(SCHEMABINDING, RETURNS NULL ON NULL INPUT))
  Block
    Declare declarations=(VariableDeclaration(variable=@c type=int initial=`@a + @b`))
    Return value=`@c`
    # -- done
GO
CreateFunction action=CREATE name=f kind=SCALAR returns=int
  Block
    Return value=`1`
GO
CreateFunction action=CREATE name=f kind=SCALAR returns=xml options=ModuleOptions(words=(INLINE = OFF, CALLED ON NULL INPUT) execute_as=ExecuteAsClause(principal=CALLER))
  Block
    Return value=`NULL`

-- case: inline function
CREATE FUNCTION f (@a int) RETURNS TABLE AS RETURN (SELECT a FROM t WHERE b = @a)
GO
CREATE FUNCTION f (@a int) RETURNS TABLE WITH SCHEMABINDING RETURN SELECT a FROM dbo.t UNION SELECT @a;
GO
ALTER FUNCTION f () RETURNS TABLE AS RETURN (WITH x AS (SELECT 1 a) SELECT a FROM x);
GO
CREATE FUNCTION f () RETURNS TABLE AS RETURN WITH x AS (SELECT 1 a) SELECT a FROM x
-- expect
CreateFunction action=CREATE name=f parameters=(Parameter(variable=@a type=int)) kind=INLINE query=`SELECT a FROM t WHERE b = @a`
GO
CreateFunction action=CREATE name=f parameters=(Parameter(variable=@a type=int)) kind=INLINE options=ModuleOptions(words=(SCHEMABINDING)) query=`SELECT a FROM dbo.t UNION SELECT @a`
GO
CreateFunction action=ALTER name=f kind=INLINE query=`WITH x AS (SELECT 1 a) SELECT a FROM x`
GO
CreateFunction action=CREATE name=f kind=INLINE query=`WITH x AS (SELECT 1 a) SELECT a FROM x`

-- case: table-valued function
CREATE FUNCTION f (@a int) RETURNS @t TABLE (id int PRIMARY KEY, name nvarchar(10)) WITH SCHEMABINDING AS
BEGIN
  INSERT INTO @t SELECT @a, N'x'
  RETURN
END
-- expect
CreateFunction action=CREATE name=f parameters=(Parameter(variable=@a type=int)) kind=TABLE table_variable=@t table=TableDefinition(columns=(ColumnDefinition(name=id type=int rest=`PRIMARY KEY`), ColumnDefinition(name=name type=nvarchar(10)))) options=ModuleOptions(words=(SCHEMABINDING))
  Block
    SqlStatement kind=INSERT text=`INSERT INTO @t SELECT @a, N'x'`
    Return

-- case: triggers
CREATE TRIGGER dbo.tr ON dbo.t AFTER INSERT, UPDATE AS
IF UPDATE(a) PRINT 'a'
INSERT INTO log SELECT * FROM inserted
GO
CREATE TRIGGER tr ON t WITH EXECUTE AS SELF FOR DELETE NOT FOR REPLICATION AS PRINT 'b'
GO
ALTER TRIGGER tr ON v INSTEAD OF INSERT AS BEGIN PRINT 'c' END
GO
CREATE OR ALTER TRIGGER tr ON t FOR UPDATE WITH APPEND AS RETURN
-- expect
CreateTrigger action=CREATE name=dbo.tr target=dbo.t timing=AFTER events=(INSERT, UPDATE)
  If condition=`UPDATE(a)`
    Print value=`'a'`
  SqlStatement kind=INSERT text=`INSERT INTO log SELECT * FROM inserted`
GO
CreateTrigger action=CREATE name=tr target=t timing=AFTER events=(DELETE) options=ModuleOptions(execute_as=ExecuteAsClause(principal=SELF)) not_for_replication=True
  Print value=`'b'`
GO
CreateTrigger action=ALTER name=tr target=v timing=INSTEAD OF events=(INSERT)
  Block
    Print value=`'c'`
GO
CreateTrigger action=CREATE OR ALTER name=tr target=t timing=AFTER events=(UPDATE)
  Return

-- case: views
CREATE VIEW v AS SELECT a FROM t
GO
CREATE VIEW dbo.v (x, [y z]) WITH SCHEMABINDING, VIEW_METADATA AS SELECT a, b FROM dbo.t WHERE a > 1 WITH CHECK OPTION
GO
ALTER VIEW v AS WITH x AS (SELECT 1 a) SELECT a FROM x UNION ALL SELECT 2;
GO
CREATE OR ALTER VIEW v AS (SELECT 1 AS a)
-- expect
CreateView action=CREATE name=v query=`SELECT a FROM t`
GO
CreateView action=CREATE name=dbo.v columns=(x, [y z]) options=ModuleOptions(words=(SCHEMABINDING, VIEW_METADATA)) query=`SELECT a, b FROM dbo.t WHERE a > 1` check_option=True
GO
CreateView action=ALTER name=v query=`WITH x AS (SELECT 1 a) SELECT a FROM x UNION ALL SELECT 2`
GO
CreateView action=CREATE OR ALTER name=v query=`(SELECT 1 AS a)`

-- case: synonyms, dropping, switching
CREATE SYNONYM dbo.s FOR other.dbo.t
DROP PROCEDURE IF EXISTS p, dbo.q DROP PROC p DROP FUNCTION f DROP TRIGGER tr DROP TRIGGER tr2 ON DATABASE DROP VIEW v DROP SYNONYM s
ENABLE TRIGGER tr, dbo.tr2 ON dbo.t DISABLE TRIGGER ALL ON t; ENABLE TRIGGER ALL ON ALL SERVER DISABLE TRIGGER tr ON DATABASE
-- expect
CreateSynonym name=dbo.s target=other.dbo.t
DropStatement kind=PROCEDURE names=(p, dbo.q) if_exists=True
DropStatement kind=PROCEDURE names=(p)
DropStatement kind=FUNCTION names=(f)
DropStatement kind=TRIGGER names=(tr)
DropStatement kind=TRIGGER names=(tr2) on=EventScope(kind=DATABASE)
DropStatement kind=VIEW names=(v)
DropStatement kind=SYNONYM names=(s)
EnableTrigger enable=True triggers=(tr, dbo.tr2) target=dbo.t
EnableTrigger target=t
EnableTrigger enable=True scope=ALL SERVER
EnableTrigger triggers=(tr) scope=DATABASE

DECLARE @i int = 1, @sql nvarchar(max)
SET @sql = N''
WHILE @i < 3 BEGIN SET @sql = @sql + N'CREATE QUEUE SubQ' + CAST(@i AS nvarchar(2)) + N';' SET @i = @i + 1 END
EXEC (@sql)
GO
DECLARE @sql nvarchar(max)
SELECT @sql = text from (select 'PRINT ''hello''; SELECT 1 AS a' as text) t
EXEC sp_executesql @sql
GO
DECLARE @sql nvarchar(max) = ''
SELECT @sql = @sql + N'END CONVERSATION ''' + CAST(conversation_handle AS nvarchar(36)) + N''' WITH CLEANUP;' + CHAR(13) FROM sys.conversation_endpoints
EXEC (@sql)
GO
DECLARE @sql nvarchar(max)
SELECT @sql = COALESCE(@sql + CHAR(10), '') + 'DROP SERVICE ' + QUOTENAME(name) FROM sys.services WHERE service_id > 65535
PRINT @sql
EXEC (@sql)
SELECT @sql = (SELECT 'DROP QUEUE ' + QUOTENAME(SCHEMA_NAME(schema_id)) + '.' + QUOTENAME(name) + ';' FROM sys.service_queues WHERE is_ms_shipped = 0 FOR XML PATH(''))
EXEC sp_executesql @sql
SELECT @sql = STRING_AGG(N'DROP QUEUE ' + QUOTENAME(name), N';') FROM sys.service_queues WHERE is_ms_shipped = 0
EXEC sp_executesql @sql
GO
select name from sys.service_queues where is_ms_shipped = 0
create table dbo.tt (a int, b nvarchar(20))
insert tt values (1, N'x'), (2, N'y')
GO
create procedure dbo.dyn @where nvarchar(max), @n int output as
declare @s nvarchar(max) = (select N'select @n = count(*) from tt where ' + @where)
exec sp_executesql @s, N'@n int output', @n = @n output
set @s = (select N'select * from tt where a > @p and ' + @where + N' order by a')
exec sp_executesql @s, N'@p int', 0
GO
declare @n int
exec dbo.dyn N'b = N''y'' or b + N''z'' = N''xz''', @n output
print @n
begin try
declare @s varchar(max); select @s = v from (values ('raiserror(''inner %d'', 16, 1, 5)')) x(v)
exec (@s)
end try
begin catch print concat(error_message(), '|', error_procedure(), '|', error_line()) end catch
begin tran
select @s = v from (values ('insert tt values (9, N''in''); rollback; print @@trancount')) x(v)
exec (@s)
print @@trancount
select count(*) c from tt
select @s = v from (values ('create procedure made @x int as print @x * 2')) x(v)
exec (@s)
exec made 21
select @s = v from (values ('this is wrong')) x(v)
exec (@s)
select @s = v from (values ('declare @t table (i int identity primary key, v int); insert @t (v) select a from tt; select * from @t')) x(v)
exec (@s)
insert into tt exec (@s)
select * from tt
set @s = null
exec (@s)
print 'end'
GO

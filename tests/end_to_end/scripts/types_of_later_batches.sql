-- Batches after one that may leave a transaction open: types that one makes are for the next ones' variables.
begin try
  begin transaction
  create table Numbers (N int primary key)
  commit
end try
begin catch
  print error_message()
end catch
go
create type dbo.NumberList as table (N int primary key)
go
create xml schema collection Counts as N'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="n" type="xs:int"/></xs:schema>'
go
create type [dbo].[Word] from varchar(3)
go
create procedure Keep @list dbo.NumberList readonly as insert Numbers select N from @list
go
if 1 = 1
begin
  declare @list NumberList, @word dbo.Word = 'abcdef', @count xml(Counts) = '<n>3</n>'
  insert @list values (1), (2), (3)
  exec Keep @list
end
select count(*) as n, @word as word, @count as c from Numbers
go
declare @wrong xml(dbo.Counts)
set @wrong = '<n>three</n>'
go
begin transaction
go
insert Numbers values (4)
go
rollback
select count(*) as n from Numbers
go
drop procedure Keep
drop type dbo.NumberList
go
declare @gone dbo.NumberList
print 'not reached'
go

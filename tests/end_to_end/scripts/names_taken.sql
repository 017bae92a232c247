-- What stands under a name already stays as it is, and is dropped by its own statement.
create procedure dbo.Answer as print 'the first'
go
create procedure dbo.Answer as print 'the second'
go
exec dbo.Answer
exec ('create procedure Answer as print ''the third''')
exec Answer
go
alter procedure Question as print 'nothing to alter'
go
exec Question
go
create function Twice (@n int) returns int as begin return @n * 2 end
go
create function Twice (@n int) returns int as begin return @n * 3 end
go
print dbo.Twice(2)
go
create function Rows_of () returns table as return select 1 as a
go
create function Rows_of () returns table as return select 2 as a
go
select a from Rows_of()
go
create table Orders (Id int primary key)
go
create trigger Noted on Orders after insert as print 'noted'
go
create trigger Noted on Orders after insert as print 'noted twice'
go
create trigger Never on Nothing after insert as print 'never'
go
insert Orders values (1)
go
create view Orders as select 2 as Id
go
create or alter view Orders as select 2 as Id
go
alter view AllOrders as select Id from Orders
go
select * from AllOrders
go
create view AllOrders with schemabinding as select Id from dbo.Orders
go
create view AllOrders as select 1 as Id
go
create table Orders (Id int, index ByNumber (Id))
go
if exists (select * from sys.indexes where name = 'ByNumber') print 'an index on the wrong table'
go
create queue Inbox
go
create view Inbox as select 1 as a
go
create or alter view Inbox as select 1 as a
go
drop view Inbox
go
drop table dbo.Inbox
go
truncate table Inbox
go
drop view dbo.Orders
go
drop table if exists AllOrders
go
drop queue NoQueue
go
alter queue dbo.NoQueue with status = off
go
create service S on queue dbo.NoQueue
go
drop table Nothing, Orders
drop view AllOrders
drop queue Inbox
select count(*) as n from sys.objects where name in ('Orders', 'AllOrders', 'Inbox')

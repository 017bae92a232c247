set quoted_identifier off
go
print "a string with 'quotes'"
declare @x varchar(50) = "it's"
print @x + " and ""more"""
select "abc" as x where "a" = 'a'
insert into t values ("x")
go
create table t (a varchar(20) default "none", b int)
insert into t values ("x", 1)
insert t (b) values (2)
select * from t where a in ("x", "none")
exec("print 'inner'")
exec sp_executesql N"select 1 as one"
go
set quoted_identifier on
go
create table "my table" ("a b" int, [c]]d] int)
insert "my table" ("a b", [c]]d]) values (1, 2)
select "a b", [c]]d] as "say ""x""" from "my table"
create queue "my queue"
create service "my //service" on queue "my queue" ("DEFAULT")
declare @h uniqueidentifier
begin dialog @h from service "my //service" to service 'my //service' with encryption = off;
send on conversation @h (N'ünï €');
receive cast(message_body as nvarchar(max)) "bödy" from "my queue"
GO
GO
-- A name in double quotes is a string where it is an argument.
CREATE PROCEDURE said @what NVARCHAR(20), @times INT = 1 AS PRINT CONCAT(@what, ' x', @times)
GO
EXEC said "it""s", @times = "3"
EXEC said [a]]b]
EXEC said word

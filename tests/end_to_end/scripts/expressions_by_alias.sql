-- UPDATE and DELETE through a common table expression that FROM has under another name, and beside outer joins, change the rows that
-- are found and no others; SET of a variable reads columns by the expression's names.
create table o (id int primary key, n int default 0)
create table p (id int, m int)
insert o values (1,1),(2,1),(3,1),(4,2),(5,5)
insert p values (1, 50), (4, 60)
go
with c as (select id, n from o) delete x output deleted.id from c as x where x.id = 1
select * from o
go
with c (i, nn) as (select id, n from o where n < 50) delete x output deleted.i from c as x left join p on p.id = x.i where p.id is null and x.i > 4
select * from o
go
with c as (select id, n from o) update x set n = p.m from c as x join p on p.id = x.id
select * from o order by id
go
with c as (select id, n from o) update c set n = isnull(m, -1) output inserted.id, inserted.n from p right join c on p.id = c.id where n < 50
go
with c as (select id, n from o) update c set n = 7 from c as y where y.id = 2
select * from o order by id
go
with c as (select id as k, n from o) delete top (1) z output deleted.k from c as z left join p on z.k = p.id where p.m is null
go
declare @v int, @k int
;with c (i, nn) as (select top 1 id, n from o order by id desc) update c set @v = nn = nn + 1, @k = i
print concat(@v, ' ', @k)
select * from o order by id
go
declare @t table (id int, n int) insert @t values (1,1),(2,2),(3,3)
;with c as (select id, n from @t) delete x from c as x where x.id = 1
;with c as (select id, n from @t) update x set n = isnull(p.m, 0) from c as x left join p on p.id = x.id where x.id = 3
select * from @t
go

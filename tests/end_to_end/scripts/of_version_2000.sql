-- As scripts of SQL Server 2000 define logins, types and tables.
EXEC sp_addlogin N'webuser', N'pw', N'master'
EXEC sp_grantdbaccess N'webuser'
EXEC sp_addlogin 'other'
EXEC sp_adduser 'other', 'clerk', 'clerks'
EXEC sp_addrole 'clerks'
EXEC sp_adduser @loginame = 'other', @name_in_db = 'clerk2', @grpname = 'clerks'
EXEC sp_addrolemember 'db_datareader', 'clerk2'
EXEC sp_addrole 'clerks'
SELECT r.name AS role_name, m.name AS member_name
FROM sys.database_role_members rm
JOIN sys.database_principals r ON r.principal_id = rm.role_principal_id
JOIN sys.database_principals m ON m.principal_id = rm.member_principal_id ORDER BY 1, 2
EXEC sp_addtype tid, 'varchar(6)', 'NOT NULL'
EXEC sp_addtype @typename = N'empid', @phystype = 'char(4)', @nulltype = 'null'
EXEC sp_addtype 'birthday', datetime
GO
if exists (select * from dbo.sysobjects where id = object_id(N'[dbo].[titles]') and OBJECTPROPERTY(id, N'IsUserTable') = 1)
drop table [dbo].[titles]
GO
create table titles (num int identity, title_id tid constraint upk primary key clustered, old_id tid null, emp empid, born birthday)
create index ix_emp on titles (emp) with pad_index, fillfactor = 50
GO
grant select, insert on titles to clerks
insert titles (title_id) values ('BU1032')
insert titles (title_id) values (null)
insert titles (title_id) values ('much too long')
insert titles (title_id, emp) select 'PC8888', 'em'
declare @id tid, @e empid
select @e = emp + '|' from titles where title_id = 'PC8888'
set @id = 'cut after six'
select @id as id, @e as e
select c.name, t.name as type_name, c.is_nullable, c.max_length from syscolumns s
join sys.columns c on c.object_id = s.id and c.column_id = s.colid
join sys.types t on t.user_type_id = c.user_type_id where s.id = object_id('titles') order by s.colid
GO
create procedure add_title @id tid, @emp empid = 'none' as
insert titles (title_id, emp) values (@id, @emp)
GO
delete titles
dbcc checkident ('titles', reseed, 0) with no_infomsgs
exec add_title 'MC3026'
dbcc checkident (titles, reseed, 40)
exec add_title 'MC2222'
select num, title_id, emp from titles order by num
truncate table titles
dbcc checkident ('dbo.titles', reseed, 7)
exec add_title 'PS1372'
declare @t sysname, @n int
select @t = 'titles', @n = 3
dbcc checkident (@t, reseed, @n)
dbcc checkident (@t)
exec add_title 'PS2091'
select num, title_id from titles order by num
dbcc checkident ('nothing', reseed, 1)
GO
exec sp_droptype 'tid'
drop procedure add_title
drop table titles
exec sp_droptype tid
select name from systypes where name in ('tid', 'empid') order by name
select eventdata() as outside_of_a_ddl_trigger
GO
select count(*) as n, min(number) as first_one, max(number) as last_one from master..spt_values where type = 'P'
select top 2 dateadd(day, v.number, '20240228') as d from master.dbo.spt_values v where v.type = 'P' and v.number > 0 order by v.number
GO

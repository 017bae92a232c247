declare @v sql_variant = 5, @w sql_variant = N'abc', @d sql_variant = '2020-01-02'
select @v as v, @w as w, convert(int, @v) + 1 as n, cast(@w as varchar(2)) as x
set @v = getutcdate()
set @v = 1.50
select @v
create table #v (k sysname, v sql_variant)
insert #v values ('a', 1), ('b', N'two'), ('c', cast('2020-01-01' as datetime)), ('d', 0x0102)
select k, v from #v
select cast(v as int) from #v where k = 'a'
DECLARE @five sql_variant = 5, @word sql_variant = N'word'
IF @five = 5 AND @five > 3 AND 10 > @five AND @five BETWEEN 1 AND 8 PRINT 'a number'
IF @word = 5 OR @word <> 5 PRINT 'never' ELSE PRINT 'no number'
IF SERVERPROPERTY('EngineEdition') = 3 PRINT 'as publishing scripts ask'
GO
DECLARE @p sql_variant = 5, @money decimal(8,2) = 1.5, @text nvarchar(20) = N'abc'
SELECT SQL_VARIANT_PROPERTY(@p, 'BaseType') AS here_text, SQL_VARIANT_PROPERTY(@p, 'MaxLength') AS here_bytes, SQL_VARIANT_PROPERTY(@money, N'basetype') AS base,
       CAST(SQL_VARIANT_PROPERTY(@money, 'Precision') AS int) AS p, SQL_VARIANT_PROPERTY(@money, 'Scale') AS s,
       SQL_VARIANT_PROPERTY(@money, 'TotalBytes') AS bytes, SQL_VARIANT_PROPERTY(@text, 'MaxLength') AS width,
       SQL_VARIANT_PROPERTY(NULL, 'BaseType') AS none, SQL_VARIANT_PROPERTY(GETDATE(), 'BaseType') AS moment
GO

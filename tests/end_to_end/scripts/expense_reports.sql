-----------------------------------------------------------------------------
-- sample: expense reports (written for SQL Server 2005)
-----------------------------------------------------------------------------
use master
go
if exists (select name from sysdatabases where name = 'Expenses')
	drop database Expenses
go
create database Expenses
go
exec sp_dbcmptlevel Expenses, 90
exec sp_dboption 'Expenses', 'trunc. log on chkpt.', 'true'
go
use Expenses
go
set ansi_nulls on
set quoted_identifier on
set nocount on
go
if (select is_broker_enabled from sys.databases where name = db_name()) = 0
	alter database Expenses set enable_broker
go
create master key encryption by password = 'p@ssw0rd'
go
create xml schema collection ExpenseReport as
N'<?xml version="1.0" encoding="utf-16"?>
<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:expenses" xmlns="urn:expenses" elementFormDefault="qualified">
  <xsd:element name="report">
    <xsd:complexType>
      <xsd:sequence>
        <xsd:element name="line" maxOccurs="unbounded">
          <xsd:complexType>
            <xsd:simpleContent>
              <xsd:extension base="xsd:decimal">
                <xsd:attribute name="what" type="xsd:string" use="required"/>
              </xsd:extension>
            </xsd:simpleContent>
          </xsd:complexType>
        </xsd:element>
      </xsd:sequence>
      <xsd:attribute name="employee" type="xsd:int" use="required"/>
    </xsd:complexType>
  </xsd:element>
</xsd:schema>'
go
create message type [//Expenses/Report] validation = valid_xml with schema collection ExpenseReport
create message type [//Expenses/Decision] validation = none
create contract [//Expenses/Submission] ([//Expenses/Report] sent by initiator, [//Expenses/Decision] sent by target)
go
create queue ReportQueue with status = off
create queue EmployeeQueue
create service [//Expenses/Approvals] on queue ReportQueue ([//Expenses/Submission])
create service [//Expenses/Employee] on queue EmployeeQueue
go
create table Approvals (Id int identity, Employee int not null, Total money null, Lines int, Decision char(1) check (Decision in ('Y', 'N')), Body xml (ExpenseReport))
go
create procedure Approve as
	declare @message_body xml
	declare @message_type_name sysname
	declare @dialog uniqueidentifier
	declare @total money, @n int, @answer nvarchar(200)
	while (1 = 1)
	begin
		begin transaction
			waitfor (
				receive top(1)
					@message_type_name = message_type_name,
					@message_body = message_body,
					@dialog = conversation_handle
				from ReportQueue
			), timeout 200
			if (@@rowcount = 0)
				begin
					rollback transaction
					break
				end
			print 'message of type ' + @message_type_name
			if (@message_type_name = 'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog')
			begin
				end conversation @dialog
			end
			else if (@message_type_name = 'http://schemas.microsoft.com/SQL/ServiceBroker/Error')
			begin
				;with xmlnamespaces ('http://schemas.microsoft.com/SQL/ServiceBroker/Error' as e)
				select @answer = @message_body.value('(/e:Error/e:Description)[1]', 'nvarchar(200)')
				print @answer
				end conversation @dialog
			end
			else
			begin
				;with xmlnamespaces ('urn:expenses' as x)
				select @total = sum(l.value('.', 'money')), @n = count(*) from @message_body.nodes('/x:report/x:line') as t(l)
				insert Approvals (Employee, Total, Lines, Decision, Body)
				select @message_body.value('declare namespace x="urn:expenses"; (/x:report/@employee)[1]', 'int'), @total, @n,
					case when @total < $500 then 'Y' else 'N' end, @message_body
				set @answer = case when @total < 500.00 then 'approved' else 'refused: ' + convert(varchar(20), @total, 1) end
				;send on conversation @dialog message type [//Expenses/Decision] (@answer)
				end conversation @dialog
			end
		commit transaction
	end
go
alter queue ReportQueue with status = on, activation (status = off, procedure_name = Expenses.dbo.Approve, max_queue_readers = 2, execute as self)
go
create procedure Submit @employee int, @lines xml as
	declare @h uniqueidentifier, @m xml
	set @m = '<report xmlns="urn:expenses" employee="' + cast(@employee as varchar) + '">' + cast(@lines as nvarchar(max)) + '</report>'
	begin dialog conversation @h
		from service [//Expenses/Employee]
		to service '//Expenses/Approvals', 'current database'
		on contract [//Expenses/Submission]
		with lifetime = 3600, encryption = off;
	send on conversation @h message type [//Expenses/Report] (@m)
go
exec Submit 7, '<line xmlns="urn:expenses" what="taxi">30.5</line><line xmlns="urn:expenses" what="hotel">210</line>'
exec Submit 8, N'<line xmlns="urn:expenses" what="flight">1210.75</line>'
exec Submit 9, '<line xmlns="urn:expenses">12</line>'
go
exec Approve
go
select Employee, Total, Lines, Decision from Approvals order by Employee
declare @got table (t sysname, b varbinary(max), h uniqueidentifier)
declare @h uniqueidentifier
while 1 = 1
begin
	;receive message_type_name, message_body, conversation_handle from EmployeeQueue into @got
	if @@rowcount = 0 break
end
select case when t like '%/Error' then cast(cast(b as xml).query('declare namespace e="http://schemas.microsoft.com/SQL/ServiceBroker/Error"; /e:Error/e:Code/text()') as nvarchar(100)) else cast(b as nvarchar(100)) end as answer
from @got where b is not null order by 1
select @h = min(cast(h as char(36))) from @got where t like '%/Error'
end conversation @h
select state, is_initiator, far_service from sys.conversation_endpoints order by 1,2
go
-- typed XML
select Body.query('declare namespace x="urn:expenses"; data(/x:report/x:line)') from Approvals where Employee = 7
go
use master
go
drop database Expenses
go

-- scheduled job by conversation timer
CREATE QUEUE TimerQueue; CREATE SERVICE TimerService ON QUEUE TimerQueue ([DEFAULT])
CREATE TABLE Ticks (n int identity, at datetime default (getdate()), job sysname)
CREATE TABLE Jobs (job_id int identity(1,1) primary key, name sysname unique, proc_name nvarchar(300), every_seconds int, handle uniqueidentifier, last_run datetime, run_count int default 0, enabled bit not null default 1)
GO
CREATE PROC usp_Tick @name sysname AS INSERT Ticks (job) VALUES (@name)
GO
CREATE PROC usp_Schedule @name sysname, @proc nvarchar(300), @seconds int AS
BEGIN
 SET NOCOUNT ON; SET XACT_ABORT ON
 DECLARE @h uniqueidentifier
 BEGIN TRAN
 BEGIN DIALOG CONVERSATION @h FROM SERVICE [TimerService] TO SERVICE N'TimerService', N'current database' WITH ENCRYPTION = OFF
 INSERT Jobs (name, proc_name, every_seconds, handle) VALUES (@name, @proc, @seconds, @h)
 BEGIN CONVERSATION TIMER (@h) TIMEOUT = @seconds
 COMMIT
END
GO
CREATE PROC usp_RunJobs AS
BEGIN
 SET NOCOUNT ON
 DECLARE @h uniqueidentifier, @mt sysname, @name sysname, @proc nvarchar(300), @sec int
 WHILE 1 = 1
 BEGIN
  BEGIN TRAN
  SET @h = NULL
  WAITFOR (RECEIVE TOP (1) @h = conversation_handle, @mt = message_type_name FROM TimerQueue), TIMEOUT 1400
  IF @h IS NULL BEGIN COMMIT TRAN; BREAK; END
  IF @mt = N'http://schemas.microsoft.com/SQL/ServiceBroker/DialogTimer'
  BEGIN
   SELECT @name = name, @proc = proc_name, @sec = every_seconds FROM Jobs WHERE handle = @h AND enabled = 1
   IF @@ROWCOUNT = 1
   BEGIN
    EXEC @proc @name
    UPDATE Jobs SET last_run = GETDATE(), run_count = run_count + 1, enabled = CASE WHEN run_count >= 1 THEN 0 ELSE 1 END WHERE handle = @h
    IF EXISTS (SELECT * FROM Jobs WHERE handle = @h AND enabled = 1)
      BEGIN CONVERSATION TIMER (@h) TIMEOUT = @sec;
    ELSE END CONVERSATION @h
   END
  END
  ELSE END CONVERSATION @h
  COMMIT TRAN
 END
END
GO
EXEC usp_Schedule 'a', 'dbo.usp_Tick', 1
EXEC usp_RunJobs
SELECT job, COUNT(*) n FROM Ticks GROUP BY job
SELECT name, run_count, enabled FROM Jobs
SELECT COUNT(*) FROM sys.conversation_endpoints WHERE state = 'CO'
GO

-- A queue may name its procedure before that is there: the catalog shows it as the queue's script has it.
SET NOCOUNT ON
CREATE QUEUE dbo.Orders WITH ACTIVATION (STATUS = OFF, PROCEDURE_NAME = dbo.ReadOrders, MAX_QUEUE_READERS = 1, EXECUTE AS OWNER)
CREATE QUEUE dbo.Returns
ALTER QUEUE dbo.Returns WITH ACTIVATION (STATUS = OFF, PROCEDURE_NAME = [Read Returns], MAX_QUEUE_READERS = 1, EXECUTE AS SELF)
EXEC ('CREATE QUEUE dbo.Complaints WITH ACTIVATION (STATUS = OFF, PROCEDURE_NAME = dbo.[Read "Complaints"], MAX_QUEUE_READERS = 1, EXECUTE AS OWNER)')
GO
SELECT name, activation_procedure FROM sys.service_queues WHERE is_ms_shipped = 0 ORDER BY name
GO
CREATE PROCEDURE dbo.READORDERS AS RETURN 0
GO
CREATE PROCEDURE dbo.[Read RETURNS] AS RETURN 0
GO
ALTER QUEUE dbo.Returns WITH ACTIVATION (PROCEDURE_NAME = [read returns], MAX_QUEUE_READERS = 2)
ALTER QUEUE dbo.Complaints WITH ACTIVATION (DROP)
SELECT name, activation_procedure FROM sys.service_queues WHERE is_ms_shipped = 0 ORDER BY name

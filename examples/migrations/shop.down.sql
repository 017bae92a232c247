-- The way back, in the opposite order.

DROP PROCEDURE dbo.ServeCounter;
DROP TABLE dbo.Sold;
DROP SERVICE [//Shop/Counter];
DROP SERVICE [//Shop/Customer];
DROP QUEUE dbo.CounterQueue;
DROP QUEUE dbo.CustomerQueue;
DROP CONTRACT [//Shop/Ordering];
DROP MESSAGE TYPE [//Shop/Receipt], [//Shop/Order];
GO

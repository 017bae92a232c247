-- Columns in SQL Server's places: CREATE OR REPLACE can neither put one between others nor change their order.
DROP VIEW IF EXISTS sys.dm_tran_locks, sys.event_notifications;

-- sys.dm_tran_locks has resource_subtype in SQL Server's place: CREATE OR REPLACE can not put a column between others.
DROP VIEW IF EXISTS sys.dm_tran_locks;

-- They have more columns, in SQL Server's order: CREATE OR REPLACE cannot move one.
DROP VIEW IF EXISTS sys.dm_exec_query_stats, sys.dm_exec_procedure_stats, sys.dm_exec_trigger_stats, sys.dm_db_index_usage_stats,
    sys.dm_os_sys_info;

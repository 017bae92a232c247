-- What administrators ask of plans, indexes and the server: the columns are there, and nothing is found.
SELECT TOP (20) qs.total_worker_time / qs.execution_count AS avg_cpu, qs.total_logical_writes, qs.max_elapsed_time, qs.total_rows,
       qs.total_grant_kb, qs.total_spills, qs.query_hash,
       SUBSTRING(st.text, qs.statement_start_offset / 2 + 1,
                 (CASE qs.statement_end_offset WHEN -1 THEN DATALENGTH(st.text) ELSE qs.statement_end_offset END
                  - qs.statement_start_offset) / 2 + 1) AS statement_text
  FROM sys.dm_exec_query_stats AS qs CROSS APPLY sys.dm_exec_sql_text(qs.sql_handle) AS st
 ORDER BY avg_cpu DESC;
SELECT OBJECT_NAME(ps.object_id, ps.database_id) AS proc_name, ps.execution_count, ps.max_worker_time, ps.min_logical_reads, ps.total_spills
  FROM sys.dm_exec_procedure_stats AS ps WHERE ps.database_id = DB_ID();
SELECT OBJECT_NAME(ts.object_id) AS trigger_name, ts.type_desc, ts.cached_time, ts.max_elapsed_time FROM sys.dm_exec_trigger_stats AS ts;
SELECT i.name, us.user_seeks + us.user_scans + us.user_lookups AS reads, us.user_updates, us.last_user_seek, us.last_system_scan
  FROM sys.indexes AS i JOIN sys.dm_db_index_usage_stats AS us ON us.object_id = i.object_id AND us.index_id = i.index_id
 WHERE us.database_id = DB_ID();
SELECT CASE WHEN sqlserver_start_time <= SYSDATETIME() AND ms_ticks >= sqlserver_start_time_ms_ticks THEN 'runs' END AS since,
       cpu_count / hyperthread_ratio AS sockets, physical_memory_kb / 1024 AS memory_mb, committed_target_kb, scheduler_count,
       virtual_machine_type_desc
  FROM sys.dm_os_sys_info;
GO

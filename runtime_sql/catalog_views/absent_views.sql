-- Catalog and management views of what does not exist here (plan caches, schedulers, replicas, full-text
-- and partitioned tables …): they have SQL Server's columns and no rows, so that a monitoring script finds
-- nothing instead of failing.

CREATE OR REPLACE VIEW sys.dm_exec_cached_plans AS
SELECT NULL::integer AS bucketid, NULL::integer AS refcounts, NULL::integer AS usecounts,
       NULL::integer AS size_in_bytes, NULL::bytea AS memory_object_address, NULL::text AS cacheobjtype,
       NULL::text AS objtype, NULL::bytea AS plan_handle, NULL::integer AS pool_id
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_exec_procedure_stats AS
SELECT NULL::integer AS database_id, NULL::integer AS object_id, NULL::text AS type, NULL::text AS type_desc,
       NULL::bytea AS sql_handle, NULL::bytea AS plan_handle, NULL::timestamp(3) AS cached_time,
       NULL::timestamp(3) AS last_execution_time, NULL::bigint AS execution_count, NULL::bigint AS total_worker_time,
       NULL::bigint AS last_worker_time, NULL::bigint AS min_worker_time, NULL::bigint AS max_worker_time,
       NULL::bigint AS total_physical_reads, NULL::bigint AS last_physical_reads, NULL::bigint AS min_physical_reads,
       NULL::bigint AS max_physical_reads, NULL::bigint AS total_logical_writes, NULL::bigint AS last_logical_writes,
       NULL::bigint AS min_logical_writes, NULL::bigint AS max_logical_writes, NULL::bigint AS total_logical_reads,
       NULL::bigint AS last_logical_reads, NULL::bigint AS min_logical_reads, NULL::bigint AS max_logical_reads,
       NULL::bigint AS total_elapsed_time, NULL::bigint AS last_elapsed_time, NULL::bigint AS min_elapsed_time,
       NULL::bigint AS max_elapsed_time, NULL::bigint AS total_spills, NULL::bigint AS last_spills,
       NULL::bigint AS min_spills, NULL::bigint AS max_spills, NULL::bigint AS total_num_physical_reads,
       NULL::bigint AS last_num_physical_reads, NULL::bigint AS min_num_physical_reads,
       NULL::bigint AS max_num_physical_reads, NULL::bigint AS total_page_server_reads,
       NULL::bigint AS last_page_server_reads, NULL::bigint AS min_page_server_reads, NULL::bigint AS max_page_server_reads,
       NULL::bigint AS total_num_page_server_reads, NULL::bigint AS last_num_page_server_reads,
       NULL::bigint AS min_num_page_server_reads, NULL::bigint AS max_num_page_server_reads
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_exec_trigger_stats AS
SELECT NULL::integer AS database_id, NULL::integer AS object_id, NULL::text AS type, NULL::text AS type_desc,
       NULL::bytea AS sql_handle, NULL::bytea AS plan_handle, NULL::timestamp(3) AS cached_time,
       NULL::timestamp(3) AS last_execution_time, NULL::bigint AS execution_count, NULL::bigint AS total_worker_time,
       NULL::bigint AS last_worker_time, NULL::bigint AS min_worker_time, NULL::bigint AS max_worker_time,
       NULL::bigint AS total_physical_reads, NULL::bigint AS last_physical_reads, NULL::bigint AS min_physical_reads,
       NULL::bigint AS max_physical_reads, NULL::bigint AS total_logical_writes, NULL::bigint AS last_logical_writes,
       NULL::bigint AS min_logical_writes, NULL::bigint AS max_logical_writes, NULL::bigint AS total_logical_reads,
       NULL::bigint AS last_logical_reads, NULL::bigint AS min_logical_reads, NULL::bigint AS max_logical_reads,
       NULL::bigint AS total_elapsed_time, NULL::bigint AS last_elapsed_time, NULL::bigint AS min_elapsed_time,
       NULL::bigint AS max_elapsed_time, NULL::bigint AS total_spills, NULL::bigint AS last_spills,
       NULL::bigint AS min_spills, NULL::bigint AS max_spills, NULL::bigint AS total_num_physical_reads,
       NULL::bigint AS last_num_physical_reads, NULL::bigint AS min_num_physical_reads,
       NULL::bigint AS max_num_physical_reads, NULL::bigint AS total_page_server_reads,
       NULL::bigint AS last_page_server_reads, NULL::bigint AS min_page_server_reads, NULL::bigint AS max_page_server_reads,
       NULL::bigint AS total_num_page_server_reads, NULL::bigint AS last_num_page_server_reads,
       NULL::bigint AS min_num_page_server_reads, NULL::bigint AS max_num_page_server_reads
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_exec_session_wait_stats AS
SELECT NULL::integer AS session_id, NULL::text AS wait_type, NULL::bigint AS waiting_tasks_count,
       NULL::bigint AS wait_time_ms, NULL::bigint AS max_wait_time_ms, NULL::bigint AS signal_wait_time_ms
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_os_latch_stats AS
SELECT NULL::text AS latch_class, NULL::bigint AS waiting_requests_count, NULL::bigint AS wait_time_ms,
       NULL::bigint AS max_wait_time_ms
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_os_schedulers AS
SELECT NULL::bytea AS scheduler_address, NULL::integer AS parent_node_id, NULL::integer AS scheduler_id,
       NULL::integer AS cpu_id, NULL::text AS status, NULL::sys.bit AS is_online, NULL::sys.bit AS is_idle,
       NULL::integer AS current_tasks_count, NULL::integer AS runnable_tasks_count,
       NULL::integer AS current_workers_count, NULL::integer AS active_workers_count, NULL::bigint AS work_queue_count,
       NULL::integer AS pending_disk_io_count, NULL::integer AS load_factor
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_os_tasks AS
SELECT NULL::bytea AS task_address, NULL::text AS task_state, NULL::integer AS session_id,
       NULL::integer AS exec_context_id, NULL::integer AS request_id, NULL::bytea AS worker_address,
       NULL::integer AS scheduler_id, NULL::integer AS context_switches_count
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_os_workers AS
SELECT NULL::bytea AS worker_address, NULL::integer AS status, NULL::text AS state, NULL::bytea AS task_address,
       NULL::bytea AS thread_address, NULL::bytea AS scheduler_address
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_os_threads AS
SELECT NULL::bytea AS thread_address, NULL::sys.bit AS started_by_sqlservr, NULL::integer AS os_thread_id,
       NULL::integer AS status, NULL::bytea AS worker_address, NULL::bytea AS scheduler_address
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_os_memory_clerks AS
SELECT NULL::bytea AS memory_clerk_address, NULL::text AS type, NULL::text AS name, NULL::integer AS memory_node_id,
       NULL::bigint AS pages_kb, NULL::bigint AS virtual_memory_reserved_kb, NULL::bigint AS virtual_memory_committed_kb
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_os_buffer_descriptors AS
SELECT NULL::integer AS database_id, NULL::integer AS file_id, NULL::integer AS page_id, NULL::integer AS page_level,
       NULL::bigint AS allocation_unit_id, NULL::text AS page_type, NULL::integer AS row_count,
       NULL::integer AS free_space_in_bytes, NULL::sys.bit AS is_modified
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_os_process_memory AS
SELECT NULL::bigint AS physical_memory_in_use_kb, NULL::integer AS memory_utilization_percentage,
       NULL::bigint AS page_fault_count, NULL::sys.bit AS process_physical_memory_low
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_os_sys_memory AS
SELECT NULL::bigint AS total_physical_memory_kb, NULL::bigint AS available_physical_memory_kb,
       NULL::text AS system_memory_state_desc
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_os_ring_buffers AS
SELECT NULL::bytea AS ring_buffer_address, NULL::text AS ring_buffer_type, NULL::bigint AS timestamp,
       NULL::text AS record
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_os_host_info AS
SELECT NULL::text AS host_platform, NULL::text AS host_distribution, NULL::text AS host_release,
       NULL::text AS host_service_pack_level
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_server_services AS
SELECT NULL::text AS servicename, NULL::integer AS startup_type, NULL::text AS startup_type_desc,
       NULL::integer AS status, NULL::text AS status_desc, NULL::integer AS process_id,
       NULL::timestamp(3) AS last_startup_time, NULL::text AS service_account
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_xe_sessions AS
SELECT NULL::bytea AS address, NULL::text AS name, NULL::integer AS pending_buffers,
       NULL::integer AS total_regular_buffers, NULL::timestamp(3) AS create_time
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_hadr_database_replica_states AS
SELECT NULL::integer AS database_id, NULL::uuid AS group_id, NULL::uuid AS replica_id, NULL::uuid AS group_database_id,
       NULL::sys.bit AS is_local, NULL::sys.bit AS is_primary_replica, NULL::integer AS synchronization_state,
       NULL::text AS synchronization_state_desc, NULL::text AS synchronization_health_desc,
       NULL::bigint AS log_send_queue_size, NULL::bigint AS redo_queue_size
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_hadr_availability_replica_states AS
SELECT NULL::uuid AS replica_id, NULL::uuid AS group_id, NULL::sys.bit AS is_local, NULL::integer AS role,
       NULL::text AS role_desc, NULL::text AS operational_state_desc, NULL::text AS connected_state_desc,
       NULL::text AS synchronization_health_desc
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_db_missing_index_details AS
SELECT NULL::integer AS index_handle, NULL::integer AS database_id, NULL::integer AS object_id,
       NULL::text AS equality_columns, NULL::text AS inequality_columns, NULL::text AS included_columns,
       NULL::text AS statement
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_db_missing_index_groups AS
SELECT NULL::integer AS index_group_handle, NULL::integer AS index_handle
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_db_missing_index_group_stats AS
SELECT NULL::integer AS group_handle, NULL::bigint AS unique_compiles, NULL::bigint AS user_seeks,
       NULL::bigint AS user_scans, NULL::timestamp(3) AS last_user_seek, NULL::double precision AS avg_total_user_cost,
       NULL::double precision AS avg_user_impact
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_db_session_space_usage AS
SELECT NULL::integer AS session_id, NULL::integer AS database_id, NULL::bigint AS user_objects_alloc_page_count,
       NULL::bigint AS user_objects_dealloc_page_count, NULL::bigint AS internal_objects_alloc_page_count,
       NULL::bigint AS internal_objects_dealloc_page_count
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_db_task_space_usage AS
SELECT NULL::bytea AS task_address, NULL::integer AS session_id, NULL::integer AS request_id,
       NULL::integer AS exec_context_id, NULL::integer AS database_id, NULL::bigint AS user_objects_alloc_page_count,
       NULL::bigint AS user_objects_dealloc_page_count, NULL::bigint AS internal_objects_alloc_page_count,
       NULL::bigint AS internal_objects_dealloc_page_count
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_db_file_space_usage AS
SELECT NULL::integer AS database_id, NULL::integer AS file_id, NULL::bigint AS total_page_count,
       NULL::bigint AS allocated_extent_page_count, NULL::bigint AS unallocated_extent_page_count,
       NULL::bigint AS version_store_reserved_page_count, NULL::bigint AS user_object_reserved_page_count,
       NULL::bigint AS internal_object_reserved_page_count, NULL::bigint AS mixed_extent_page_count
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_tran_version_store_space_usage AS
SELECT NULL::integer AS database_id, NULL::bigint AS reserved_page_count, NULL::bigint AS reserved_space_kb
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_tran_active_snapshot_database_transactions AS
SELECT NULL::bigint AS transaction_id, NULL::bigint AS transaction_sequence_num, NULL::bigint AS commit_sequence_num,
       NULL::sys.bit AS is_snapshot, NULL::integer AS session_id, NULL::bigint AS elapsed_time_seconds
 WHERE false;

CREATE OR REPLACE VIEW sys.dm_io_pending_io_requests AS
SELECT NULL::bytea AS io_completion_request_address, NULL::text AS io_type, NULL::integer AS io_pending,
       NULL::bigint AS io_pending_ms_ticks, NULL::bytea AS io_handle
 WHERE false;

CREATE OR REPLACE VIEW sys.sql_dependencies AS
SELECT NULL::integer AS class, NULL::text AS class_desc, NULL::integer AS object_id, NULL::integer AS column_id,
       NULL::integer AS referenced_major_id, NULL::integer AS referenced_minor_id, NULL::sys.bit AS is_selected,
       NULL::sys.bit AS is_updated, NULL::sys.bit AS is_select_all
 WHERE false;

CREATE OR REPLACE VIEW sys.sql_expression_dependencies AS
SELECT NULL::integer AS referencing_id, NULL::integer AS referencing_minor_id, NULL::integer AS referencing_class,
       NULL::text AS referencing_class_desc, NULL::sys.bit AS is_schema_bound_reference,
       NULL::integer AS referenced_class, NULL::text AS referenced_class_desc, NULL::text AS referenced_server_name,
       NULL::text AS referenced_database_name, NULL::text AS referenced_schema_name,
       NULL::text AS referenced_entity_name, NULL::integer AS referenced_id, NULL::integer AS referenced_minor_id,
       NULL::sys.bit AS is_caller_dependent, NULL::sys.bit AS is_ambiguous
 WHERE false;

CREATE OR REPLACE VIEW sys.sysdepends AS
SELECT NULL::integer AS id, NULL::integer AS depid, NULL::integer AS number, NULL::integer AS depnumber,
       NULL::integer AS status, NULL::integer AS deptype, NULL::integer AS depdbid, NULL::integer AS depsiteid,
       NULL::sys.bit AS selall, NULL::sys.bit AS resultobj, NULL::sys.bit AS readobj
 WHERE false;

CREATE OR REPLACE VIEW sys.partition_functions AS
SELECT NULL::text AS name, NULL::integer AS function_id, NULL::text AS type, NULL::text AS type_desc,
       NULL::integer AS fanout, NULL::sys.bit AS boundary_value_on_right, NULL::sys.bit AS is_system,
       NULL::timestamp(3) AS create_date, NULL::timestamp(3) AS modify_date
 WHERE false;

CREATE OR REPLACE VIEW sys.partition_schemes AS
SELECT NULL::text AS name, NULL::integer AS data_space_id, NULL::text AS type, NULL::text AS type_desc,
       NULL::sys.bit AS is_default, NULL::sys.bit AS is_system, NULL::integer AS function_id
 WHERE false;

CREATE OR REPLACE VIEW sys.partition_range_values AS
SELECT NULL::integer AS function_id, NULL::integer AS boundary_id, NULL::integer AS parameter_id, NULL::text AS value
 WHERE false;

CREATE OR REPLACE VIEW sys.partition_parameters AS
SELECT NULL::integer AS function_id, NULL::integer AS parameter_id, NULL::integer AS system_type_id,
       NULL::integer AS max_length, NULL::integer AS user_type_id
 WHERE false;

CREATE OR REPLACE VIEW sys.destination_data_spaces AS
SELECT NULL::integer AS partition_scheme_id, NULL::integer AS destination_id, NULL::integer AS data_space_id
 WHERE false;

CREATE OR REPLACE VIEW sys.fulltext_catalogs AS
SELECT NULL::integer AS fulltext_catalog_id, NULL::text AS name, NULL::text AS path, NULL::sys.bit AS is_default,
       NULL::sys.bit AS is_accent_sensitivity_on
 WHERE false;

CREATE OR REPLACE VIEW sys.fulltext_indexes AS
SELECT NULL::integer AS object_id, NULL::integer AS unique_index_id, NULL::integer AS fulltext_catalog_id,
       NULL::sys.bit AS is_enabled, NULL::text AS change_tracking_state
 WHERE false;

CREATE OR REPLACE VIEW sys.fulltext_index_columns AS
SELECT NULL::integer AS object_id, NULL::integer AS column_id, NULL::integer AS type_column_id,
       NULL::integer AS language_id, NULL::integer AS statistical_semantics
 WHERE false;

CREATE OR REPLACE VIEW sys.traces AS
SELECT NULL::integer AS id, NULL::integer AS status, NULL::text AS path, NULL::bigint AS max_size,
       NULL::sys.bit AS is_default, NULL::bigint AS event_count
 WHERE false;

CREATE OR REPLACE VIEW sys.crypt_properties AS
SELECT NULL::integer AS class, NULL::text AS class_desc, NULL::integer AS major_id, NULL::bytea AS thumbprint,
       NULL::text AS crypt_type, NULL::text AS crypt_type_desc, NULL::bytea AS crypt_property
 WHERE false;

CREATE OR REPLACE VIEW sys.numbered_procedures AS
SELECT NULL::integer AS object_id, NULL::integer AS procedure_number, NULL::text AS definition
 WHERE false;

CREATE OR REPLACE VIEW sys.plan_guides AS
SELECT NULL::integer AS plan_guide_id, NULL::text AS name, NULL::timestamp(3) AS create_date,
       NULL::sys.bit AS is_disabled, NULL::text AS query_text
 WHERE false;

CREATE OR REPLACE VIEW sys.change_tracking_tables AS
SELECT NULL::integer AS object_id, NULL::sys.bit AS is_track_columns_updated_on, NULL::bigint AS min_valid_version,
       NULL::bigint AS begin_version, NULL::bigint AS cleanup_version
 WHERE false;

CREATE OR REPLACE VIEW sys.change_tracking_databases AS
SELECT NULL::integer AS database_id, NULL::sys.bit AS is_auto_cleanup_on, NULL::integer AS retention_period,
       NULL::integer AS retention_period_units, NULL::text AS retention_period_units_desc
 WHERE false;

CREATE OR REPLACE VIEW sys.availability_groups AS
SELECT NULL::uuid AS group_id, NULL::text AS name, NULL::text AS resource_id, NULL::integer AS failure_condition_level,
       NULL::integer AS health_check_timeout
 WHERE false;

CREATE OR REPLACE VIEW sys.availability_replicas AS
SELECT NULL::uuid AS replica_id, NULL::uuid AS group_id, NULL::text AS replica_server_name, NULL::bytea AS owner_sid,
       NULL::text AS endpoint_url, NULL::integer AS availability_mode
 WHERE false;

CREATE OR REPLACE VIEW sys.server_audits AS
SELECT NULL::integer AS audit_id, NULL::text AS name, NULL::uuid AS audit_guid, NULL::text AS type,
       NULL::sys.bit AS is_state_enabled
 WHERE false;

-- What CREATE is accepted for with a warning, so that DROP IF EXISTS by the catalog finds nothing.
CREATE OR REPLACE VIEW sys.server_audit_specifications AS
SELECT NULL::text AS name, NULL::integer AS server_specification_id, NULL::timestamp(3) AS create_date,
       NULL::timestamp(3) AS modified_date, NULL::smallint AS is_state_enabled, NULL::uuid AS audit_guid
 WHERE false;

CREATE OR REPLACE VIEW sys.database_audit_specifications AS
SELECT NULL::text AS name, NULL::integer AS database_specification_id, NULL::timestamp(3) AS create_date,
       NULL::timestamp(3) AS modified_date, NULL::sys.bit AS is_state_enabled, NULL::uuid AS audit_guid
 WHERE false;

CREATE OR REPLACE VIEW sys.server_event_sessions AS
SELECT NULL::integer AS event_session_id, NULL::text AS name, NULL::text AS event_retention_mode,
       NULL::text AS event_retention_mode_desc, NULL::integer AS max_dispatch_latency, NULL::integer AS max_memory,
       NULL::integer AS max_event_size, NULL::text AS memory_partition_mode, NULL::text AS memory_partition_mode_desc,
       NULL::sys.bit AS track_causality, NULL::sys.bit AS startup_state
 WHERE false;

CREATE OR REPLACE VIEW sys.resource_governor_resource_pools AS
SELECT NULL::integer AS pool_id, NULL::text AS name, NULL::integer AS min_cpu_percent,
       NULL::integer AS max_cpu_percent, NULL::integer AS min_memory_percent, NULL::integer AS max_memory_percent,
       NULL::integer AS cap_cpu_percent, NULL::integer AS min_iops_per_volume, NULL::integer AS max_iops_per_volume
 WHERE false;

CREATE OR REPLACE VIEW sys.resource_governor_workload_groups AS
SELECT NULL::integer AS group_id, NULL::text AS name, NULL::text AS importance,
       NULL::integer AS request_max_memory_grant_percent, NULL::integer AS request_max_cpu_time_sec,
       NULL::integer AS request_memory_grant_timeout_sec, NULL::integer AS max_dop,
       NULL::integer AS group_max_requests, NULL::integer AS pool_id, NULL::integer AS external_pool_id
 WHERE false;

CREATE OR REPLACE VIEW sys.database_scoped_credentials AS
SELECT NULL::text AS name, NULL::integer AS credential_id, NULL::integer AS principal_id,
       NULL::text AS credential_identity, NULL::timestamp(3) AS create_date, NULL::timestamp(3) AS modify_date,
       NULL::text AS target_type, NULL::integer AS target_id
 WHERE false;

-- An endpoint FOR DATABASE_MIRRORING cannot be made.
CREATE OR REPLACE VIEW sys.database_mirroring_endpoints AS
SELECT e.*, NULL::smallint AS role, NULL::text AS role_desc, NULL::sys.bit AS is_encryption_enabled,
       NULL::smallint AS connection_auth, NULL::text AS connection_auth_desc, NULL::integer AS certificate_id,
       NULL::smallint AS encryption_algorithm, NULL::text AS encryption_algorithm_desc
  FROM sys.endpoints AS e WHERE false;

CREATE OR REPLACE VIEW sys.xml_indexes AS
SELECT NULL::integer AS object_id, NULL::text AS name, NULL::integer AS index_id, NULL::integer AS type,
       NULL::integer AS using_xml_index_id, NULL::text AS secondary_type
 WHERE false;

CREATE OR REPLACE VIEW sys.hash_indexes AS
SELECT NULL::integer AS object_id, NULL::text AS name, NULL::integer AS index_id, NULL::integer AS bucket_count
 WHERE false;

CREATE OR REPLACE VIEW sys.external_tables AS
SELECT NULL::integer AS object_id, NULL::text AS name, NULL::integer AS schema_id, NULL::integer AS data_source_id
 WHERE false;

CREATE OR REPLACE VIEW sys.external_data_sources AS
SELECT NULL::integer AS data_source_id, NULL::text AS name, NULL::text AS location, NULL::text AS type_desc
 WHERE false;

CREATE OR REPLACE VIEW sys.query_store_query AS
SELECT NULL::bigint AS query_id, NULL::bigint AS query_text_id, NULL::bigint AS object_id, NULL::bytea AS query_hash,
       NULL::bigint AS count_compiles, NULL::timestamp(3) AS last_execution_time
 WHERE false;

CREATE OR REPLACE VIEW sys.query_store_plan AS
SELECT NULL::bigint AS plan_id, NULL::bigint AS query_id, NULL::text AS query_plan, NULL::sys.bit AS is_forced_plan,
       NULL::timestamp(3) AS last_execution_time
 WHERE false;

CREATE OR REPLACE VIEW sys.query_store_runtime_stats AS
SELECT NULL::bigint AS runtime_stats_id, NULL::bigint AS plan_id, NULL::bigint AS count_executions,
       NULL::double precision AS avg_duration, NULL::bigint AS last_duration, NULL::double precision AS avg_cpu_time
 WHERE false;

CREATE OR REPLACE VIEW sys.query_store_query_text AS
SELECT NULL::bigint AS query_text_id, NULL::text AS query_sql_text
 WHERE false;

CREATE OR REPLACE VIEW sys.database_scoped_configurations AS
SELECT NULL::integer AS configuration_id, NULL::text AS name, NULL::text AS value, NULL::text AS value_for_secondary
 WHERE false;

CREATE OR REPLACE VIEW sys.security_policies AS
SELECT NULL::integer AS object_id, NULL::text AS name, NULL::sys.bit AS is_enabled, NULL::sys.bit AS is_schema_bound
 WHERE false;

CREATE OR REPLACE VIEW sys.security_predicates AS
SELECT NULL::integer AS object_id, NULL::integer AS security_predicate_id, NULL::integer AS target_object_id,
       NULL::text AS predicate_definition
 WHERE false;

-- Functions of the same kind.
CREATE OR REPLACE FUNCTION sys.dm_io_virtual_file_stats(p_database_id integer, p_file_id integer)
RETURNS TABLE (database_id integer, file_id integer, sample_ms bigint, num_of_reads bigint, num_of_bytes_read bigint, io_stall_read_ms bigint,
               num_of_writes bigint, num_of_bytes_written bigint, io_stall_write_ms bigint, io_stall bigint, size_on_disk_bytes bigint)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT NULL::integer, NULL::integer, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint,
           NULL::bigint, NULL::bigint WHERE false;
END;

CREATE OR REPLACE FUNCTION sys.dm_exec_query_plan(p_plan_handle bytea)
RETURNS TABLE (dbid smallint, objectid integer, number smallint, encrypted sys.bit, query_plan text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT NULL::smallint, NULL::integer, NULL::smallint, NULL::sys.bit, NULL::text WHERE false;
END;

CREATE OR REPLACE FUNCTION sys.dm_exec_input_buffer(p_session_id integer, p_request_id integer)
RETURNS TABLE (event_type text, parameters smallint, event_info text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT 'Language Event'::text, 0::smallint, a.query FROM pg_stat_activity AS a WHERE a.pid = p_session_id;
END;

CREATE OR REPLACE FUNCTION sys.dm_exec_cursors(p_session_id integer)
RETURNS TABLE (session_id integer, cursor_id integer, name text, properties text, creation_time timestamp(3), is_open sys.bit,
               fetch_status integer)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT NULL::integer, NULL::integer, NULL::text, NULL::text, NULL::timestamp(3), NULL::sys.bit, NULL::integer WHERE false;
END;

CREATE OR REPLACE FUNCTION sys.dm_sql_referenced_entities(p_name text, p_class text)
RETURNS TABLE (referencing_minor_id integer, referenced_server_name text, referenced_database_name text, referenced_schema_name text,
               referenced_entity_name text, referenced_minor_name text, referenced_id integer, referenced_minor_id integer)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT NULL::integer, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::integer, NULL::integer WHERE false;
END;

CREATE OR REPLACE FUNCTION sys.dm_sql_referencing_entities(p_name text, p_class text)
RETURNS TABLE (referencing_schema_name text, referencing_entity_name text, referencing_id integer, referencing_class integer,
               referencing_class_desc text, is_caller_dependent sys.bit)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT NULL::text, NULL::text, NULL::integer, NULL::integer, NULL::text, NULL::sys.bit WHERE false;
END;

-- Every index, and none of them fragmented: index maintenance has nothing to do.
CREATE OR REPLACE FUNCTION sys.dm_db_index_physical_stats(p_database_id integer, p_object_id integer, p_index_id integer,
                                                          p_partition_number integer, p_mode text)
RETURNS TABLE (database_id integer, object_id integer, index_id integer, partition_number integer, index_type_desc text,
               alloc_unit_type_desc text, index_depth integer, index_level integer, avg_fragmentation_in_percent double precision,
               fragment_count bigint, avg_fragment_size_in_pages double precision, page_count bigint,
               avg_page_space_used_in_percent double precision, record_count bigint, ghost_record_count bigint)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT p_database_id, x.object_id, x.index_id, 1, CASE x.type WHEN 0 THEN 'HEAP' ELSE x.type_desc || ' INDEX' END, 'IN_ROW_DATA', 1, 0, 0.0::double precision, 1::bigint,
           1.0::double precision, 1::bigint, 100.0::double precision, 0::bigint, 0::bigint
      FROM sys.indexes AS x
     WHERE coalesce(x.object_id = p_object_id, true) AND coalesce(x.index_id = p_index_id, true);
END;

"""Columns of the views of schema sys, as runtime_sql/catalog_views makes them.

tests/architecture/test_sys_views.py compares them with a server; PGSB_GOLDEN=rewrite writes the list anew.
"""

from __future__ import annotations

from . import types as tm
from .types import SqlType

KINDS: dict[str, SqlType] = {
    "i": tm.INT,
    "l": tm.BIGINT,
    "h": tm.SMALLINT,
    "y": tm.TINYINT,
    "b": tm.BIT,
    "s": tm.SYSNAME,
    "n": tm.NVARCHAR_MAX,
    "g": tm.UNIQUEIDENTIFIER,
    "d": tm.DATETIME,
    "x": tm.VARBINARY_MAX,
    "f": tm.FLOAT,
    "r": tm.REAL,
}

VIEWS: dict[str, str] = {
    "all_columns": """
        object_id:i name:s column_id:i system_type_id:i user_type_id:i max_length:h precision:h scale:h
        collation_name:s is_nullable:b is_ansi_padded:b is_rowguidcol:b is_identity:b is_computed:b
        is_filestream:b is_replicated:b is_non_sql_subscribed:b is_merge_published:b is_dts_replicated:b
        is_xml_document:b xml_collection_id:i default_object_id:i rule_object_id:i is_sparse:b is_column_set:b
        generated_always_type:h generated_always_type_desc:s is_hidden:b is_masked:b
    """,
    "all_objects": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b
    """,
    "all_parameters": """
        object_id:i name:s parameter_id:i system_type_id:i user_type_id:i max_length:i precision:i scale:i
        is_output:b is_cursor_ref:b has_default_value:b default_value:n is_readonly:b is_nullable:b
    """,
    "all_sql_modules": """
        object_id:i definition:n uses_ansi_nulls:b uses_quoted_identifier:b is_schema_bound:b
        uses_database_collation:b is_recompiled:b null_on_null_input:b execute_as_principal_id:i
        uses_native_compilation:b inline_type:b is_inlineable:b
    """,
    "all_views": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b is_replicated:b
        has_replication_filter:b has_opaque_metadata:b has_unchecked_assembly_data:b with_check_option:b
        is_date_correlation_view:b is_tracked_by_cdc:b
    """,
    "allocation_units": """
        allocation_unit_id:l type:h type_desc:s container_id:l data_space_id:i total_pages:l used_pages:l
        data_pages:l
    """,
    "assemblies": """
        name:s principal_id:i assembly_id:i clr_name:s permission_set:h permission_set_desc:s is_visible:b
        create_date:d modify_date:d is_user_defined:b
    """,
    "assembly_modules": "object_id:i assembly_id:i assembly_class:n assembly_method:n",
    "asymmetric_keys": "name:s principal_id:i asymmetric_key_id:i algorithm_desc:s",
    "availability_groups": "group_id:g name:s resource_id:n failure_condition_level:i health_check_timeout:i",
    "availability_replicas": """
        replica_id:g group_id:g replica_server_name:s owner_sid:x endpoint_url:n availability_mode:i
    """,
    "certificates": """
        name:s certificate_id:i principal_id:i pvt_key_encryption_type:s pvt_key_encryption_type_desc:s
        is_active_for_begin_dialog:b issuer_name:n cert_serial_number:n sid:x string_sid:n subject:n
        expiry_date:d start_date:d thumbprint:x attested_by:n pvt_key_last_backup_date:d key_length:i
    """,
    "change_tracking_databases": """
        database_id:i is_auto_cleanup_on:b retention_period:i retention_period_units:i
        retention_period_units_desc:s
    """,
    "change_tracking_tables": """
        object_id:i is_track_columns_updated_on:b min_valid_version:l begin_version:l cleanup_version:l
    """,
    "check_constraints": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b is_disabled:b is_not_trusted:b
        parent_column_id:i definition:n is_not_for_replication:b uses_database_collation:b is_system_named:b
    """,
    "columns": """
        object_id:i name:s column_id:i system_type_id:y user_type_id:i max_length:i precision:y scale:y
        collation_name:s is_nullable:b is_ansi_padded:b is_rowguidcol:b is_identity:b is_computed:b
        is_filestream:b is_replicated:b is_non_sql_subscribed:b is_merge_published:b is_dts_replicated:b
        is_xml_document:b xml_collection_id:i default_object_id:i rule_object_id:i is_sparse:b is_column_set:b
        generated_always_type:y generated_always_type_desc:s is_hidden:b is_masked:b
    """,
    "computed_columns": """
        object_id:i name:s column_id:i system_type_id:i user_type_id:i max_length:h precision:h scale:h
        collation_name:s is_nullable:b is_ansi_padded:b is_rowguidcol:b is_identity:b is_computed:b
        is_filestream:b is_replicated:b is_non_sql_subscribed:b is_merge_published:b is_dts_replicated:b
        is_xml_document:b xml_collection_id:i default_object_id:i rule_object_id:i is_sparse:b is_column_set:b
        generated_always_type:h generated_always_type_desc:s is_hidden:b is_masked:b definition:n
        uses_database_collation:b is_persisted:b
    """,
    "configurations": """
        configuration_id:i name:s value:i minimum:i maximum:i value_in_use:i description:n is_dynamic:b
        is_advanced:b
    """,
    "conversation_endpoints": """
        conversation_handle:g conversation_id:g is_initiator:y service_contract_id:i conversation_group_id:g
        service_id:i lifetime:d state:s state_desc:s far_service:n far_broker_instance:n principal_id:i
        far_principal_id:i outbound_session_key_identifier:g inbound_session_key_identifier:g
        security_timestamp:d dialog_timer:d send_sequence:l last_send_tran_id:x end_dialog_sequence:l
        receive_sequence:l receive_sequence_frag:i system_sequence:l first_out_of_order_sequence:l
        last_out_of_order_sequence:l last_out_of_order_frag:i is_system:b priority:y
    """,
    "conversation_groups": "conversation_group_id:g service_id:i is_system:b",
    "conversation_priorities": """
        priority_id:i name:s service_contract_id:i local_service_id:i remote_service_name:n priority:y
    """,
    "credentials": "credential_id:i name:s credential_identity:n",
    "crypt_properties": """
        class:i class_desc:s major_id:i thumbprint:x crypt_type:s crypt_type_desc:s crypt_property:x
    """,
    "data_spaces": "name:s data_space_id:i type:s type_desc:s is_default:b",
    "database_audit_specifications": """
        name:s database_specification_id:i create_date:d modified_date:d is_state_enabled:b audit_guid:g
    """,
    "database_files": """
        file_id:i type:h type_desc:s data_space_id:i name:s physical_name:s state:h state_desc:s size:i
        max_size:i growth:i
    """,
    "database_mirroring": """
        database_id:i mirroring_guid:g mirroring_state:h mirroring_state_desc:s mirroring_role:h
        mirroring_role_desc:s mirroring_partner_name:s
    """,
    "database_mirroring_endpoints": """
        name:s endpoint_id:i principal_id:i protocol:h protocol_desc:s type:h type_desc:s state:h state_desc:s
        is_admin_endpoint:b role:h role_desc:s is_encryption_enabled:b connection_auth:h
        connection_auth_desc:s certificate_id:i encryption_algorithm:h encryption_algorithm_desc:s
    """,
    "database_permissions": """
        class:h class_desc:s major_id:i minor_id:i grantee_principal_id:i grantor_principal_id:i type:s
        permission_name:s state:n state_desc:s
    """,
    "database_principals": """
        name:s principal_id:i type:s type_desc:s default_schema_name:s create_date:d modify_date:d
        owning_principal_id:i sid:x is_fixed_role:b authentication_type:i authentication_type_desc:s
        default_language_name:s default_language_lcid:i allow_encrypted_value_modifications:b
    """,
    "database_role_members": "role_principal_id:i member_principal_id:i",
    "database_scoped_configurations": "configuration_id:i name:s value:n value_for_secondary:n",
    "database_scoped_credentials": """
        name:s credential_id:i principal_id:i credential_identity:n create_date:d modify_date:d target_type:s
        target_id:i
    """,
    "databases": """
        name:s database_id:i source_database_id:i owner_sid:x create_date:d compatibility_level:y
        collation_name:s user_access:y user_access_desc:s is_read_only:b is_auto_close_on:b
        is_auto_shrink_on:b state:y state_desc:s is_in_standby:b snapshot_isolation_state:y
        snapshot_isolation_state_desc:s is_read_committed_snapshot_on:b recovery_model:y recovery_model_desc:s
        is_trustworthy_on:b is_master_key_encrypted_by_server:b is_broker_enabled:b service_broker_guid:g
        is_honor_broker_priority_on:b is_db_chaining_on:b is_published:b is_encrypted:b containment:y
        log_reuse_wait:h log_reuse_wait_desc:s page_verify_option:h page_verify_option_desc:s
        is_auto_create_stats_on:b is_auto_update_stats_on:b is_query_store_on:b is_cdc_enabled:b
        is_subscribed:b is_distributor:b is_fulltext_enabled:b replica_id:g is_recursive_triggers_on:b
        is_ansi_null_default_on:b is_ansi_nulls_on:b is_ansi_padding_on:b is_ansi_warnings_on:b
        is_arithabort_on:b is_concat_null_yields_null_on:b is_numeric_roundabort_on:b
        is_quoted_identifier_on:b is_cursor_close_on_commit_on:b is_local_cursor_default:b
        is_auto_update_stats_async_on:b is_parameterization_forced:b is_date_correlation_on:b
        is_supplemental_logging_enabled:b is_merge_published:b is_sync_with_backup:b is_cleanly_shutdown:b
    """,
    "default_constraints": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b parent_column_id:i definition:n
        is_system_named:b
    """,
    "destination_data_spaces": "partition_scheme_id:i destination_id:i data_space_id:i",
    "dm_broker_activated_tasks": "spid:i database_id:i queue_id:i procedure_name:n execute_as:i",
    "dm_broker_connections": """
        connection_id:g transport_stream_id:g state:h state_desc:s connect_time:d login_time:d
        authentication_method:n principal_name:s remote_user_name:s last_activity_time:d is_accept:b
        login_state:h login_state_desc:s peer_certificate_id:i encryption_algorithm:h
        encryption_algorithm_desc:s receives_posted:h is_receive_flow_controlled:b sends_posted:h
        is_send_flow_controlled:b total_bytes_sent:l total_bytes_received:l total_fragments_sent:l
        total_fragments_received:l total_sends:l total_receives:l peer_arbitration_id:g
    """,
    "dm_broker_forwarded_messages": """
        conversation_id:g is_initiator:b to_service_name:s to_broker_instance:n from_service_name:s
        from_broker_instance:n adjacent_broker_address:n message_sequence_number:l message_fragment_number:i
        hops_remaining:h time_to_live:i time_consumed:i message_id:g
    """,
    "dm_broker_queue_monitors": """
        database_id:i queue_id:i state:n last_empty_rowset_time:d last_activated_time:d tasks_waiting:i
    """,
    "dm_db_file_space_usage": """
        database_id:i file_id:i total_page_count:l allocated_extent_page_count:l
        unallocated_extent_page_count:l version_store_reserved_page_count:l user_object_reserved_page_count:l
        internal_object_reserved_page_count:l mixed_extent_page_count:l
    """,
    "dm_db_index_usage_stats": """
        database_id:i object_id:i index_id:i user_seeks:l user_scans:l user_lookups:l user_updates:l
        last_user_seek:d last_user_scan:d last_user_lookup:d last_user_update:d system_seeks:l system_scans:l
        system_lookups:l system_updates:l last_system_seek:d last_system_scan:d last_system_lookup:d
        last_system_update:d
    """,
    "dm_db_missing_index_details": """
        index_handle:i database_id:i object_id:i equality_columns:n inequality_columns:n included_columns:n
        statement:n
    """,
    "dm_db_missing_index_group_stats": """
        group_handle:i unique_compiles:l user_seeks:l user_scans:l last_user_seek:d avg_total_user_cost:f
        avg_user_impact:f
    """,
    "dm_db_missing_index_groups": "index_group_handle:i index_handle:i",
    "dm_db_partition_stats": """
        partition_id:l object_id:i index_id:i partition_number:i row_count:l in_row_data_page_count:l
        in_row_used_page_count:l in_row_reserved_page_count:l lob_used_page_count:l lob_reserved_page_count:l
        row_overflow_used_page_count:l row_overflow_reserved_page_count:l used_page_count:l
        reserved_page_count:l
    """,
    "dm_db_session_space_usage": """
        session_id:i database_id:i user_objects_alloc_page_count:l user_objects_dealloc_page_count:l
        internal_objects_alloc_page_count:l internal_objects_dealloc_page_count:l
    """,
    "dm_db_task_space_usage": """
        task_address:x session_id:i request_id:i exec_context_id:i database_id:i
        user_objects_alloc_page_count:l user_objects_dealloc_page_count:l internal_objects_alloc_page_count:l
        internal_objects_dealloc_page_count:l
    """,
    "dm_exec_cached_plans": """
        bucketid:i refcounts:i usecounts:i size_in_bytes:i memory_object_address:x cacheobjtype:s objtype:s
        plan_handle:x pool_id:i
    """,
    "dm_exec_connections": """
        session_id:i connect_time:d net_transport:n client_net_address:n client_tcp_port:i
        most_recent_sql_handle:x last_read:d last_write:d most_recent_session_id:i protocol_type:s
        protocol_version:i endpoint_id:i encrypt_option:n auth_scheme:n node_affinity:h num_reads:i
        num_writes:i net_packet_size:i local_net_address:n local_tcp_port:i connection_id:g
        parent_connection_id:g
    """,
    "dm_exec_procedure_stats": """
        database_id:i object_id:i type:s type_desc:s sql_handle:x plan_handle:x cached_time:d
        last_execution_time:d execution_count:l total_worker_time:l last_worker_time:l min_worker_time:l
        max_worker_time:l total_physical_reads:l last_physical_reads:l min_physical_reads:l
        max_physical_reads:l total_logical_writes:l last_logical_writes:l min_logical_writes:l
        max_logical_writes:l total_logical_reads:l last_logical_reads:l min_logical_reads:l
        max_logical_reads:l total_elapsed_time:l last_elapsed_time:l min_elapsed_time:l max_elapsed_time:l
        total_spills:l last_spills:l min_spills:l max_spills:l total_num_physical_reads:l
        last_num_physical_reads:l min_num_physical_reads:l max_num_physical_reads:l total_page_server_reads:l
        last_page_server_reads:l min_page_server_reads:l max_page_server_reads:l total_num_page_server_reads:l
        last_num_page_server_reads:l min_num_page_server_reads:l max_num_page_server_reads:l
    """,
    "dm_exec_query_stats": """
        sql_handle:x statement_start_offset:i statement_end_offset:i plan_generation_num:l plan_handle:x
        creation_time:d last_execution_time:d execution_count:l total_worker_time:l last_worker_time:l
        min_worker_time:l max_worker_time:l total_physical_reads:l last_physical_reads:l min_physical_reads:l
        max_physical_reads:l total_logical_writes:l last_logical_writes:l min_logical_writes:l
        max_logical_writes:l total_logical_reads:l last_logical_reads:l min_logical_reads:l
        max_logical_reads:l total_clr_time:l last_clr_time:l min_clr_time:l max_clr_time:l
        total_elapsed_time:l last_elapsed_time:l min_elapsed_time:l max_elapsed_time:l query_hash:x
        query_plan_hash:x total_rows:l last_rows:l min_rows:l max_rows:l statement_sql_handle:x
        statement_context_id:l total_dop:l last_dop:l min_dop:l max_dop:l total_grant_kb:l last_grant_kb:l
        min_grant_kb:l max_grant_kb:l total_used_grant_kb:l last_used_grant_kb:l min_used_grant_kb:l
        max_used_grant_kb:l total_ideal_grant_kb:l last_ideal_grant_kb:l min_ideal_grant_kb:l
        max_ideal_grant_kb:l total_reserved_threads:l last_reserved_threads:l min_reserved_threads:l
        max_reserved_threads:l total_used_threads:l last_used_threads:l min_used_threads:l max_used_threads:l
        total_columnstore_segment_reads:l last_columnstore_segment_reads:l min_columnstore_segment_reads:l
        max_columnstore_segment_reads:l total_columnstore_segment_skips:l last_columnstore_segment_skips:l
        min_columnstore_segment_skips:l max_columnstore_segment_skips:l total_spills:l last_spills:l
        min_spills:l max_spills:l total_num_physical_reads:l last_num_physical_reads:l
        min_num_physical_reads:l max_num_physical_reads:l total_page_server_reads:l last_page_server_reads:l
        min_page_server_reads:l max_page_server_reads:l total_num_page_server_reads:l
        last_num_page_server_reads:l min_num_page_server_reads:l max_num_page_server_reads:l
    """,
    "dm_exec_requests": """
        session_id:i request_id:i start_time:d status:s command:s sql_handle:x plan_handle:x database_id:i
        blocking_session_id:i wait_type:s wait_time:i last_wait_type:s wait_resource:n
        open_transaction_count:i total_elapsed_time:i cpu_time:i reads:l writes:l logical_reads:l
        percent_complete:r statement_start_offset:i statement_end_offset:i row_count:l
        estimated_completion_time:l transaction_id:l user_id:i connection_id:g open_resultset_count:i
        context_info:x scheduler_id:i task_address:x text_size:i language:n date_format:n date_first:h
        quoted_identifier:b arithabort:b ansi_null_dflt_on:b ansi_defaults:b ansi_warnings:b ansi_padding:b
        ansi_nulls:b concat_null_yields_null:b transaction_isolation_level:h lock_timeout:i
        deadlock_priority:i prev_error:i nest_level:i granted_query_memory:i executing_managed_code:b
        group_id:i query_hash:x query_plan_hash:x statement_sql_handle:x statement_context_id:l dop:i
        parallel_worker_count:i external_script_request_id:g is_resumable:b
    """,
    "dm_exec_session_wait_stats": """
        session_id:i wait_type:s waiting_tasks_count:l wait_time_ms:l max_wait_time_ms:l signal_wait_time_ms:l
    """,
    "dm_exec_sessions": """
        session_id:i login_time:d host_name:s program_name:s login_name:s status:s database_id:i
        is_user_process:b last_request_start_time:d last_request_end_time:d open_transaction_count:i
        original_login_name:s transaction_isolation_level:h cpu_time:i memory_usage:i total_scheduled_time:i
        total_elapsed_time:i reads:l writes:l logical_reads:l row_count:l prev_error:i host_process_id:i
        client_interface_name:s nt_domain:n nt_user_name:s language:n client_version:i security_id:x
        original_security_id:x context_info:x endpoint_id:i text_size:i date_format:n date_first:h
        quoted_identifier:b arithabort:b ansi_null_dflt_on:b ansi_defaults:b ansi_warnings:b ansi_padding:b
        ansi_nulls:b concat_null_yields_null:b lock_timeout:i deadlock_priority:i last_successful_logon:d
        last_unsuccessful_logon:d unsuccessful_logons:l group_id:i authenticating_database_id:i
    """,
    "dm_exec_trigger_stats": """
        database_id:i object_id:i type:s type_desc:s sql_handle:x plan_handle:x cached_time:d
        last_execution_time:d execution_count:l total_worker_time:l last_worker_time:l min_worker_time:l
        max_worker_time:l total_physical_reads:l last_physical_reads:l min_physical_reads:l
        max_physical_reads:l total_logical_writes:l last_logical_writes:l min_logical_writes:l
        max_logical_writes:l total_logical_reads:l last_logical_reads:l min_logical_reads:l
        max_logical_reads:l total_elapsed_time:l last_elapsed_time:l min_elapsed_time:l max_elapsed_time:l
        total_spills:l last_spills:l min_spills:l max_spills:l total_num_physical_reads:l
        last_num_physical_reads:l min_num_physical_reads:l max_num_physical_reads:l total_page_server_reads:l
        last_page_server_reads:l min_page_server_reads:l max_page_server_reads:l total_num_page_server_reads:l
        last_num_page_server_reads:l min_num_page_server_reads:l max_num_page_server_reads:l
    """,
    "dm_hadr_availability_replica_states": """
        replica_id:g group_id:g is_local:b role:i role_desc:s operational_state_desc:s connected_state_desc:s
        synchronization_health_desc:s
    """,
    "dm_hadr_database_replica_states": """
        database_id:i group_id:g replica_id:g group_database_id:g is_local:b is_primary_replica:b
        synchronization_state:i synchronization_state_desc:s synchronization_health_desc:s
        log_send_queue_size:l redo_queue_size:l
    """,
    "dm_io_pending_io_requests": """
        io_completion_request_address:x io_type:s io_pending:i io_pending_ms_ticks:l io_handle:x
    """,
    "dm_os_buffer_descriptors": """
        database_id:i file_id:i page_id:i page_level:i allocation_unit_id:l page_type:s row_count:i
        free_space_in_bytes:i is_modified:b
    """,
    "dm_os_host_info": "host_platform:n host_distribution:n host_release:n host_service_pack_level:n",
    "dm_os_latch_stats": "latch_class:n waiting_requests_count:l wait_time_ms:l max_wait_time_ms:l",
    "dm_os_memory_clerks": """
        memory_clerk_address:x type:s name:s memory_node_id:i pages_kb:l virtual_memory_reserved_kb:l
        virtual_memory_committed_kb:l
    """,
    "dm_os_performance_counters": "object_name:s counter_name:s instance_name:s cntr_value:l cntr_type:i",
    "dm_os_process_memory": """
        physical_memory_in_use_kb:l memory_utilization_percentage:i page_fault_count:l
        process_physical_memory_low:b
    """,
    "dm_os_ring_buffers": "ring_buffer_address:x ring_buffer_type:s timestamp:l record:n",
    "dm_os_schedulers": """
        scheduler_address:x parent_node_id:i scheduler_id:i cpu_id:i status:n is_online:b is_idle:b
        current_tasks_count:i runnable_tasks_count:i current_workers_count:i active_workers_count:i
        work_queue_count:l pending_disk_io_count:i load_factor:i
    """,
    "dm_os_sys_info": """
        cpu_ticks:l ms_ticks:l cpu_count:i hyperthread_ratio:i physical_memory_kb:l virtual_memory_kb:l
        committed_kb:l committed_target_kb:l visible_target_kb:l stack_size_in_bytes:i os_quantum:l
        os_error_mode:i os_priority_class:i max_workers_count:i scheduler_count:i scheduler_total_count:i
        deadlock_monitor_serial_number:i sqlserver_start_time_ms_ticks:l sqlserver_start_time:d
        affinity_type:i affinity_type_desc:s process_kernel_time_ms:l process_user_time_ms:l time_source:i
        time_source_desc:s virtual_machine_type:i virtual_machine_type_desc:s softnuma_configuration:i
        softnuma_configuration_desc:s process_physical_affinity:n sql_memory_model:i sql_memory_model_desc:s
        socket_count:i cores_per_socket:i numa_node_count:i container_type:i container_type_desc:s
    """,
    "dm_os_sys_memory": """
        total_physical_memory_kb:l available_physical_memory_kb:l system_memory_state_desc:s
    """,
    "dm_os_tasks": """
        task_address:x task_state:n session_id:i exec_context_id:i request_id:i worker_address:x
        scheduler_id:i context_switches_count:i
    """,
    "dm_os_threads": """
        thread_address:x started_by_sqlservr:b os_thread_id:i status:i worker_address:x scheduler_address:x
    """,
    "dm_os_wait_stats": """
        wait_type:s waiting_tasks_count:l wait_time_ms:l max_wait_time_ms:l signal_wait_time_ms:l
    """,
    "dm_os_waiting_tasks": """
        session_id:i wait_duration_ms:l wait_type:s blocking_session_id:i resource_description:n
        waiting_task_address:x exec_context_id:i resource_address:x blocking_task_address:x
        blocking_exec_context_id:i
    """,
    "dm_os_workers": "worker_address:x status:i state:n task_address:x thread_address:x scheduler_address:x",
    "dm_qn_subscriptions": "id:i database_id:i sid:n object_id:i created:d timeout:i status:i",
    "dm_server_services": """
        servicename:n startup_type:i startup_type_desc:s status:i status_desc:s process_id:i
        last_startup_time:d service_account:n
    """,
    "dm_tran_active_snapshot_database_transactions": """
        transaction_id:l transaction_sequence_num:l commit_sequence_num:l is_snapshot:b session_id:i
        elapsed_time_seconds:l
    """,
    "dm_tran_active_transactions": """
        transaction_id:l name:s transaction_begin_time:d transaction_type:i transaction_state:i
        transaction_uow:g transaction_status:i transaction_status2:i dtc_state:i dtc_status:i
        dtc_isolation_level:i filestream_transaction_id:x
    """,
    "dm_tran_current_transaction": "transaction_id:l",
    "dm_tran_database_transactions": """
        transaction_id:l database_id:i database_transaction_begin_time:d database_transaction_type:i
        database_transaction_state:i database_transaction_status:i database_transaction_status2:i
        database_transaction_log_record_count:l database_transaction_replicate_record_count:i
        database_transaction_log_bytes_used:l database_transaction_log_bytes_reserved:l
        database_transaction_log_bytes_used_system:i database_transaction_log_bytes_reserved_system:i
        database_transaction_begin_lsn:l database_transaction_last_lsn:l
        database_transaction_most_recent_savepoint_lsn:l database_transaction_commit_lsn:l
        database_transaction_last_rollback_lsn:l database_transaction_next_undo_lsn:l
    """,
    "dm_tran_locks": """
        resource_type:s resource_subtype:s resource_database_id:i resource_description:n
        resource_associated_entity_id:l resource_lock_partition:i request_mode:n request_type:s
        request_status:n request_reference_count:h request_lifetime:i request_session_id:i
        request_exec_context_id:i request_request_id:i request_owner_type:s request_owner_id:l
        request_owner_guid:g request_owner_lockspace_id:n lock_owner_address:x
    """,
    "dm_tran_session_transactions": """
        session_id:i transaction_id:l enlist_count:i is_user_transaction:b is_local:b open_transaction_count:i
        transaction_descriptor:x is_enlisted:b is_bound:b
    """,
    "dm_tran_version_store_space_usage": "database_id:i reserved_page_count:l reserved_space_kb:l",
    "dm_xe_sessions": "address:x name:s pending_buffers:i total_regular_buffers:i create_time:d",
    "endpoints": """
        name:s endpoint_id:i principal_id:i protocol:h protocol_desc:s type:h type_desc:s state:h state_desc:s
        is_admin_endpoint:b
    """,
    "event_notification_event_types": "type:i type_name:s parent_type:i",
    "event_notifications": """
        name:s object_id:i parent_class:y parent_class_desc:s parent_id:i create_date:d modify_date:d
        service_name:n broker_instance:n principal_id:i creator_sid:x
    """,
    "events": "object_id:i type:i type_desc:s is_trigger_event:b event_group_type:i event_group_type_desc:s",
    "extended_properties": "class:y class_desc:s major_id:i minor_id:i name:s value:n",
    "external_data_sources": "data_source_id:i name:s location:n type_desc:s",
    "external_tables": "object_id:i name:s schema_id:i data_source_id:i",
    "filegroups": "name:s data_space_id:i type:s type_desc:s is_default:b is_read_only:b",
    "foreign_key_columns": """
        constraint_object_id:i constraint_column_id:i parent_object_id:i parent_column_id:i
        referenced_object_id:i referenced_column_id:i
    """,
    "foreign_keys": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b referenced_object_id:i
        key_index_id:i is_disabled:b is_not_for_replication:b is_not_trusted:b delete_referential_action:y
        delete_referential_action_desc:s update_referential_action:y update_referential_action_desc:s
        is_system_named:b
    """,
    "fulltext_catalogs": "fulltext_catalog_id:i name:s path:n is_default:b is_accent_sensitivity_on:b",
    "fulltext_index_columns": """
        object_id:i column_id:i type_column_id:i language_id:i statistical_semantics:i
    """,
    "fulltext_indexes": """
        object_id:i unique_index_id:i fulltext_catalog_id:i is_enabled:b change_tracking_state:n
    """,
    "hash_indexes": "object_id:i name:s index_id:i bucket_count:i",
    "identity_columns": """
        object_id:i name:s column_id:i system_type_id:i user_type_id:i max_length:h precision:h scale:h
        collation_name:s is_nullable:b is_ansi_padded:b is_rowguidcol:b is_identity:b is_computed:b
        is_filestream:b is_replicated:b is_non_sql_subscribed:b is_merge_published:b is_dts_replicated:b
        is_xml_document:b xml_collection_id:i default_object_id:i rule_object_id:i is_sparse:b is_column_set:b
        generated_always_type:h generated_always_type_desc:s is_hidden:b is_masked:b seed_value:l
        increment_value:l last_value:l is_not_for_replication:b
    """,
    "index_columns": """
        object_id:i index_id:i index_column_id:i column_id:i key_ordinal:y partition_ordinal:y
        is_descending_key:b is_included_column:b
    """,
    "indexes": """
        object_id:i name:s index_id:i type:y type_desc:s is_unique:b is_primary_key:b is_unique_constraint:b
        is_disabled:b data_space_id:i ignore_dup_key:b fill_factor:y is_padded:b is_hypothetical:b
        is_ignored_in_optimization:b allow_row_locks:b allow_page_locks:b has_filter:b filter_definition:n
        auto_created:b
    """,
    "information_schema_check_constraints": """
        constraint_catalog:n constraint_schema:n constraint_name:s check_clause:n
    """,
    "information_schema_column_privileges": """
        grantor:s grantee:s table_catalog:n table_schema:s table_name:s column_name:s privilege_type:s
        is_grantable:n
    """,
    "information_schema_columns": """
        table_catalog:s table_schema:s table_name:s column_name:s ordinal_position:i column_default:n
        is_nullable:s data_type:s character_maximum_length:i character_octet_length:i numeric_precision:h
        numeric_precision_radix:h numeric_scale:i datetime_precision:h character_set_catalog:s
        character_set_schema:s character_set_name:s collation_catalog:s collation_schema:s collation_name:s
        domain_catalog:s domain_schema:s domain_name:s
    """,
    "information_schema_constraint_column_usage": """
        table_catalog:n table_schema:n table_name:s column_name:s constraint_catalog:n constraint_schema:n
        constraint_name:s
    """,
    "information_schema_domains": """
        domain_catalog:n domain_schema:n domain_name:s data_type:s character_maximum_length:i
        character_octet_length:i collation_catalog:n collation_schema:n collation_name:s
        character_set_catalog:n character_set_schema:n character_set_name:s numeric_precision:i
        numeric_precision_radix:h numeric_scale:i datetime_precision:h domain_default:n
    """,
    "information_schema_key_column_usage": """
        constraint_catalog:n constraint_schema:s constraint_name:s table_catalog:n table_schema:s table_name:s
        column_name:s ordinal_position:i
    """,
    "information_schema_parameters": """
        specific_catalog:n specific_schema:s specific_name:s ordinal_position:i parameter_mode:n is_result:n
        as_locator:n parameter_name:s data_type:s character_maximum_length:i character_octet_length:i
        collation_catalog:n collation_schema:n collation_name:s character_set_catalog:n character_set_schema:n
        character_set_name:s numeric_precision:h numeric_precision_radix:h numeric_scale:h
        datetime_precision:h interval_type:s interval_precision:h user_defined_type_catalog:n
        user_defined_type_schema:n user_defined_type_name:s scope_catalog:n scope_schema:n scope_name:s
    """,
    "information_schema_referential_constraints": """
        constraint_catalog:n constraint_schema:n constraint_name:s unique_constraint_catalog:n
        unique_constraint_schema:n unique_constraint_name:s match_option:n update_rule:n delete_rule:n
    """,
    "information_schema_routines": """
        specific_catalog:n specific_schema:s specific_name:s routine_catalog:s routine_schema:s routine_name:s
        routine_type:s module_catalog:n module_schema:n module_name:s udt_catalog:n udt_schema:n udt_name:s
        data_type:s character_maximum_length:i character_octet_length:i collation_catalog:n collation_schema:n
        collation_name:s character_set_catalog:n character_set_schema:n character_set_name:s
        numeric_precision:h numeric_precision_radix:h numeric_scale:h datetime_precision:h interval_type:s
        interval_precision:h type_udt_catalog:n type_udt_schema:n type_udt_name:s scope_catalog:n
        scope_schema:n scope_name:s maximum_cardinality:l dtd_identifier:n routine_body:n routine_definition:n
        external_name:s external_language:n parameter_style:n is_deterministic:n sql_data_access:n
        is_null_call:n sql_path:n schema_level_routine:n max_dynamic_result_sets:h is_user_defined_cast:n
        is_implicitly_invocable:n created:d last_altered:d
    """,
    "information_schema_schemata": "catalog_name:s schema_name:s schema_owner:n",
    "information_schema_sequences": """
        sequence_catalog:n sequence_schema:n sequence_name:s data_type:s numeric_precision:i
        numeric_precision_radix:h numeric_scale:i start_value:l minimum_value:l maximum_value:l increment:l
        cycle_option:i declared_data_type:i declared_numeric_precision:i declared_numeric_scale:i
    """,
    "information_schema_table_constraints": """
        constraint_catalog:n constraint_schema:s constraint_name:s table_catalog:n table_schema:s table_name:s
        constraint_type:s is_deferrable:n initially_deferred:n
    """,
    "information_schema_table_privileges": """
        grantor:s grantee:s table_catalog:n table_schema:s table_name:s privilege_type:s is_grantable:n
    """,
    "information_schema_tables": "table_catalog:s table_schema:s table_name:s table_type:s",
    "information_schema_view_table_usage": """
        view_catalog:n view_schema:n view_name:s table_catalog:n table_schema:n table_name:s
    """,
    "information_schema_views": """
        table_catalog:s table_schema:s table_name:s view_definition:n check_option:n is_updatable:n
    """,
    "internal_tables": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b internal_type:i
        internal_type_desc:s parent_id:i parent_minor_id:i
    """,
    "key_constraints": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b unique_index_id:i is_system_named:b
        is_enforced:b
    """,
    "key_encryptions": "key_id:i thumbprint:x crypt_type:s crypt_type_desc:n crypt_property:x",
    "linked_logins": "server_id:i local_principal_id:i remote_name:s",
    "login_token": "principal_id:i sid:x name:s type:s usage:n",
    "master_files": """
        database_id:i file_id:i type:h type_desc:s data_space_id:i name:s physical_name:s state:h state_desc:s
        size:i max_size:i growth:i
    """,
    "message_type_xml_schema_collection_usages": "message_type_id:i xml_collection_id:i",
    "messages": "message_id:i language_id:i severity:y is_event_logged:b text:n",
    "numbered_procedures": "object_id:i procedure_number:i definition:n",
    "objects": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b
    """,
    "parameters": """
        object_id:i name:s parameter_id:i system_type_id:y user_type_id:i max_length:i precision:y scale:y
        is_output:b is_cursor_ref:b has_default_value:b default_value:n is_readonly:b is_nullable:b
    """,
    "partition_functions": """
        name:s function_id:i type:s type_desc:s fanout:i boundary_value_on_right:b is_system:b create_date:d
        modify_date:d
    """,
    "partition_parameters": "function_id:i parameter_id:i system_type_id:i max_length:i user_type_id:i",
    "partition_range_values": "function_id:i boundary_id:i parameter_id:i value:n",
    "partition_schemes": "name:s data_space_id:i type:s type_desc:s is_default:b is_system:b function_id:i",
    "partitions": """
        partition_id:l object_id:i index_id:i partition_number:i hobt_id:l rows:l data_compression:h
        data_compression_desc:s
    """,
    "periods": "name:s period_type:i period_type_desc:s object_id:i start_column_id:i end_column_id:i",
    "plan_guides": "plan_guide_id:i name:s create_date:d is_disabled:b query_text:n",
    "procedures": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b is_auto_executed:b
        is_execution_replicated:b is_repl_serializable_only:b skips_repl_constraints:b
    """,
    "query_store_plan": "plan_id:l query_id:l query_plan:n is_forced_plan:b last_execution_time:d",
    "query_store_query": """
        query_id:l query_text_id:l object_id:l query_hash:x count_compiles:l last_execution_time:d
    """,
    "query_store_query_text": "query_text_id:l query_sql_text:n",
    "query_store_runtime_stats": """
        runtime_stats_id:l plan_id:l count_executions:l avg_duration:f last_duration:l avg_cpu_time:f
    """,
    "remote_service_bindings": """
        name:s remote_service_binding_id:i principal_id:i remote_service_name:n service_contract_id:i
        remote_principal_id:i is_anonymous_on:b
    """,
    "resource_governor_resource_pools": """
        pool_id:i name:s min_cpu_percent:i max_cpu_percent:i min_memory_percent:i max_memory_percent:i
        cap_cpu_percent:i min_iops_per_volume:i max_iops_per_volume:i
    """,
    "resource_governor_workload_groups": """
        group_id:i name:s importance:n request_max_memory_grant_percent:i request_max_cpu_time_sec:i
        request_memory_grant_timeout_sec:i max_dop:i group_max_requests:i pool_id:i external_pool_id:i
    """,
    "routes": """
        name:s route_id:i principal_id:i remote_service_name:n broker_instance:n lifetime:d address:n
        mirror_address:n
    """,
    "schemas": "name:s schema_id:i principal_id:i",
    "security_policies": "object_id:i name:s is_enabled:b is_schema_bound:b",
    "security_predicates": "object_id:i security_predicate_id:i target_object_id:i predicate_definition:n",
    "sequences": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b start_value:l increment:l
        minimum_value:l maximum_value:l is_cycling:b current_value:l is_cached:b cache_size:i system_type_id:h
        user_type_id:i precision:i scale:i
    """,
    "server_audit_specifications": """
        name:s server_specification_id:i create_date:d modified_date:d is_state_enabled:h audit_guid:g
    """,
    "server_audits": "audit_id:i name:s audit_guid:g type:s is_state_enabled:b",
    "server_event_notifications": """
        name:s object_id:i parent_class:h parent_class_desc:s parent_id:i create_date:d modify_date:d
        service_name:s broker_instance:n creator_sid:x principal_id:i
    """,
    "server_event_sessions": """
        event_session_id:i name:s event_retention_mode:n event_retention_mode_desc:s max_dispatch_latency:i
        max_memory:i max_event_size:i memory_partition_mode:n memory_partition_mode_desc:s track_causality:b
        startup_state:b
    """,
    "server_events": """
        object_id:i type:i type_desc:s is_trigger_event:b event_group_type:i event_group_type_desc:s
    """,
    "server_permissions": """
        class:h class_desc:s major_id:i minor_id:i grantee_principal_id:i grantor_principal_id:i type:s
        permission_name:s state:n state_desc:s
    """,
    "server_principals": """
        name:s principal_id:i sid:x type:s type_desc:s is_disabled:b create_date:d modify_date:d
        default_database_name:s default_language_name:s credential_id:i owning_principal_id:i is_fixed_role:b
    """,
    "server_role_members": "role_principal_id:i member_principal_id:i",
    "server_trigger_events": """
        object_id:i type:i type_desc:s is_first:b is_last:b event_group_type:i event_group_type_desc:s
        is_trigger_event:b
    """,
    "server_triggers": """
        name:s object_id:i parent_class:h parent_class_desc:s parent_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_disabled:b
    """,
    "servers": "server_id:i name:s product:n provider:n data_source:n is_linked:b",
    "service_broker_endpoints": """
        name:s endpoint_id:i principal_id:i protocol:h protocol_desc:s type:h type_desc:s state:h state_desc:s
        is_admin_endpoint:b is_message_forwarding_enabled:b message_forwarding_size:i connection_auth:h
        connection_auth_desc:s certificate_id:i encryption_algorithm:h encryption_algorithm_desc:s
    """,
    "service_contract_message_usages": """
        service_contract_id:i message_type_id:i is_sent_by_initiator:b is_sent_by_target:b
    """,
    "service_contract_usages": "service_id:i service_contract_id:i",
    "service_contracts": "name:s service_contract_id:i principal_id:i",
    "service_message_types": """
        name:s message_type_id:i principal_id:i validation:s validation_desc:s xml_collection_id:i
    """,
    "service_queue_usages": "service_id:i service_queue_id:i",
    "service_queues": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b max_readers:i
        activation_procedure:n execute_as_principal_id:i is_activation_enabled:b is_receive_enabled:b
        is_enqueue_enabled:b is_retention_enabled:b is_poison_message_handling_enabled:b external_program:n
        max_rollbacks:i is_quarantine_enabled:b
    """,
    "services": "name:s service_id:i principal_id:i service_queue_id:i",
    "spt_values": "name:n number:i type:n low:i high:i status:i",
    "sql_dependencies": """
        class:i class_desc:s object_id:i column_id:i referenced_major_id:i referenced_minor_id:i is_selected:b
        is_updated:b is_select_all:b
    """,
    "sql_expression_dependencies": """
        referencing_id:i referencing_minor_id:i referencing_class:i referencing_class_desc:s
        is_schema_bound_reference:b referenced_class:i referenced_class_desc:s referenced_server_name:s
        referenced_database_name:s referenced_schema_name:s referenced_entity_name:s referenced_id:i
        referenced_minor_id:i is_caller_dependent:b is_ambiguous:b
    """,
    "sql_logins": """
        name:s principal_id:i sid:x type:s type_desc:s is_disabled:b create_date:d modify_date:d
        default_database_name:s default_language_name:s credential_id:i is_policy_checked:b
        is_expiration_checked:b
    """,
    "sql_modules": """
        object_id:i definition:n uses_ansi_nulls:b uses_quoted_identifier:b is_schema_bound:b
        uses_database_collation:b is_recompiled:b null_on_null_input:b execute_as_principal_id:i
        uses_native_compilation:b inline_type:b is_inlineable:b
    """,
    "stats": "object_id:i name:s stats_id:i auto_created:b user_created:b",
    "symmetric_keys": """
        name:s principal_id:i symmetric_key_id:i key_length:i key_algorithm:s algorithm_desc:n create_date:d
        modify_date:d key_guid:g key_thumbprint:x provider_type:s cryptographic_provider_guid:g
        cryptographic_provider_algid:x
    """,
    "synonyms": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b base_object_name:s
    """,
    "sysaltfiles": "fileid:i groupid:i size:i maxsize:i growth:i status:i perf:i dbid:i name:s filename:n",
    "syscolumns": """
        name:s id:i xtype:y colid:i length:i prec:i scale:i isnullable:b xusertype:i colorder:i cdefault:i
        domain:i number:i collation:s iscomputed:i isoutparam:i status:y
    """,
    "syscomments": "id:i colid:i number:h text:n",
    "sysdatabases": """
        name:s dbid:i crdate:d sid:x mode:h status:i status2:i category:i cmptlevel:i filename:n
    """,
    "sysdepends": """
        id:i depid:i number:i depnumber:i status:i deptype:i depdbid:i depsiteid:i selall:b resultobj:b
        readobj:b
    """,
    "sysfiles": "fileid:i groupid:i size:i maxsize:i growth:i status:i perf:i name:s filename:n",
    "sysforeignkeys": "constid:i fkeyid:i rkeyid:i fkey:i rkey:i keyno:i",
    "sysindexes": "id:i name:s indid:i rows:l rowcnt:l",
    "syslogins": "sid:x name:s loginname:s createdate:d dbname:s isntname:i sysadmin:i",
    "sysmessages": "error:i severity:i dlevel:h description:n msglangid:h",
    "sysobjects": """
        name:s id:i xtype:s uid:i parent_obj:i crdate:d type:s info:i status:i base_schema_ver:i replinfo:i
        ftcatid:i schema_ver:i refdate:d version:i category:i cache:i sysstat:i
    """,
    "sysprocesses": """
        spid:i kpid:i blocked:i waittime:l lastwaittype:s dbid:i login_time:d last_batch:d status:s hostname:s
        program_name:s loginame:s open_tran:i cmd:s
    """,
    "sysreferences": "constid:i fkeyid:i rkeyid:i",
    "system_columns": """
        object_id:i name:s column_id:i system_type_id:i user_type_id:i max_length:h precision:h scale:h
        collation_name:s is_nullable:b is_ansi_padded:b is_rowguidcol:b is_identity:b is_computed:b
        is_filestream:b is_replicated:b is_non_sql_subscribed:b is_merge_published:b is_dts_replicated:b
        is_xml_document:b xml_collection_id:i default_object_id:i rule_object_id:i is_sparse:b is_column_set:b
        generated_always_type:h generated_always_type_desc:s is_hidden:b is_masked:b
    """,
    "system_objects": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b
    """,
    "system_views": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b is_replicated:b
        has_replication_filter:b has_opaque_metadata:b has_unchecked_assembly_data:b with_check_option:b
        is_date_correlation_view:b is_tracked_by_cdc:b
    """,
    "systypes": "name:s xtype:i xusertype:i length:i prec:i scale:i",
    "sysusers": """
        uid:i name:s sid:x createdate:d updatedate:d hasdbaccess:i islogin:i issqluser:i issqlrole:i
        isapprole:i
    """,
    "table_types": """
        name:s user_type_id:i schema_id:i system_type_id:i is_user_defined:b is_table_type:b
        type_table_object_id:i
    """,
    "tables": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b lob_data_space_id:i
        filestream_data_space_id:i max_column_id_used:i lock_on_bulk_load:b uses_ansi_nulls:b is_replicated:b
        has_replication_filter:b is_merge_published:b is_sync_tran_subscribed:b has_unchecked_assembly_data:b
        text_in_row_limit:i large_value_types_out_of_row:b is_tracked_by_cdc:b lock_escalation:y
        lock_escalation_desc:s is_filetable:b is_memory_optimized:b durability:y durability_desc:s
        temporal_type:y temporal_type_desc:s history_table_id:i is_remote_data_archive_enabled:b is_external:b
        is_node:b is_edge:b
    """,
    "tcp_endpoints": """
        name:s endpoint_id:i principal_id:i protocol:h protocol_desc:s type:h type_desc:s state:h state_desc:s
        is_admin_endpoint:b port:i is_dynamic_port:b ip_address:n
    """,
    "traces": "id:i status:i path:n max_size:l is_default:b event_count:l",
    "transmission_queue": """
        conversation_handle:g to_service_name:n to_broker_instance:n from_service_name:n
        service_contract_name:n enqueue_time:d message_sequence_number:l message_type_name:n
        is_conversation_error:b is_end_of_dialog:b message_body:x transmission_status:n priority:y
    """,
    "trigger_event_types": "type:i type_name:s parent_type:i",
    "trigger_events": """
        object_id:i type:i type_desc:s is_first:b is_last:b event_group_type:i event_group_type_desc:s
        is_trigger_event:b
    """,
    "triggers": """
        name:s object_id:i parent_class:y parent_class_desc:s parent_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_disabled:b is_not_for_replication:b is_instead_of_trigger:b
    """,
    "types": """
        name:s system_type_id:y user_type_id:i schema_id:i max_length:i precision:y scale:y is_nullable:b
        is_user_defined:b is_table_type:b principal_id:i collation_name:s is_assembly_type:b
        default_object_id:i rule_object_id:i
    """,
    "user_token": "principal_id:i sid:x name:s type:s usage:n",
    "views": """
        name:s object_id:i principal_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_published:b is_schema_published:b is_replicated:b
        has_replication_filter:b has_opaque_metadata:b has_unchecked_assembly_data:b with_check_option:b
        is_date_correlation_view:b is_tracked_by_cdc:b
    """,
    "xml_indexes": "object_id:i name:s index_id:i type:i using_xml_index_id:i secondary_type:s",
    "xml_schema_collections": """
        xml_collection_id:i schema_id:i principal_id:i name:s create_date:d modify_date:d
    """,
    "xml_schema_namespaces": "xml_collection_id:i name:s xml_namespace_id:i",
}
"""Each view: its columns in order, name:kind."""

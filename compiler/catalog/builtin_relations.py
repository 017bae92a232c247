"""Columns of relations that every script knows without creating them: queues and sys views.

Only what the translation must know: a column's type decides how ``+``, comparisons and
conversions are written.
"""

from __future__ import annotations

from . import types as tm
from .names import COMPATIBILITY_VIEWS, INFORMATION_SCHEMA, ObjectName, fold
from .objects import ColumnInfo, TableInfo
from .types import SqlType

QUEUE_COLUMNS: tuple[ColumnInfo, ...] = tuple(
    ColumnInfo(name, type_, nullable=nullable)
    for name, type_, nullable in (
        ("status", tm.TINYINT, False),
        ("priority", tm.TINYINT, False),
        ("queuing_order", tm.BIGINT, False),
        ("conversation_group_id", tm.UNIQUEIDENTIFIER, False),
        ("conversation_handle", tm.UNIQUEIDENTIFIER, False),
        ("message_sequence_number", tm.BIGINT, False),
        ("service_name", tm.nvarchar(512), False),
        ("service_id", tm.INT, False),
        ("service_contract_name", tm.nvarchar(256), False),
        ("service_contract_id", tm.INT, False),
        ("message_type_name", tm.nvarchar(256), False),
        ("message_type_id", tm.INT, False),
        ("validation", SqlType("nchar", length=2), False),
        ("message_body", tm.VARBINARY_MAX, True),
        ("message_enqueue_time", tm.DATETIME, True),
    )
)
"""Columns of a queue, in the order of the CREATE QUEUE page."""

QUEUE = TableInfo(None, QUEUE_COLUMNS, read_only=True)
"""What RECEIVE's select list sees."""


def queue_table(name: ObjectName) -> TableInfo:
    """A queue as a relation that SELECT may read."""
    return TableInfo(name, QUEUE_COLUMNS, read_only=True)


_FAMILIES: dict[str, SqlType] = {
    "i": tm.INT,
    "l": tm.BIGINT,
    "s": tm.SYSNAME,
    "n": tm.NVARCHAR_MAX,
    "b": tm.BIT,
    "g": tm.UNIQUEIDENTIFIER,
    "d": tm.DATETIME,
    "y": tm.TINYINT,
    "x": tm.VARBINARY_MAX,
}

_VIEWS: dict[str, str] = {
    "databases": """
        name:s database_id:i source_database_id:i owner_sid:x create_date:d compatibility_level:y
        collation_name:s user_access:y user_access_desc:s is_read_only:b is_auto_close_on:b
        is_auto_shrink_on:b state:y state_desc:s is_in_standby:b snapshot_isolation_state:y
        snapshot_isolation_state_desc:s is_read_committed_snapshot_on:b recovery_model:y
        recovery_model_desc:s is_trustworthy_on:b is_master_key_encrypted_by_server:b is_broker_enabled:b
        service_broker_guid:g is_honor_broker_priority_on:b is_db_chaining_on:b is_published:b
        is_encrypted:b containment:y
    """,
    "objects": """
        name:s object_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d modify_date:d
        principal_id:i is_ms_shipped:b is_published:b is_schema_published:b
    """,
    "all_objects": """
        name:s object_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d modify_date:d
        principal_id:i is_ms_shipped:b is_published:b is_schema_published:b
    """,
    "tables": """
        name:s object_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d modify_date:d
        principal_id:i is_ms_shipped:b is_published:b is_schema_published:b lob_data_space_id:i
        filestream_data_space_id:i max_column_id_used:i lock_on_bulk_load:b uses_ansi_nulls:b
        is_replicated:b has_replication_filter:b is_merge_published:b is_sync_tran_subscribed:b
        has_unchecked_assembly_data:b text_in_row_limit:i large_value_types_out_of_row:b is_tracked_by_cdc:b
        lock_escalation:y lock_escalation_desc:s is_filetable:b is_memory_optimized:b durability:y
        durability_desc:s temporal_type:y temporal_type_desc:s history_table_id:i
        is_remote_data_archive_enabled:b is_external:b is_node:b is_edge:b
    """,
    "views": """
        name:s object_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d modify_date:d
        principal_id:i is_ms_shipped:b is_published:b is_schema_published:b is_replicated:b
        has_replication_filter:b has_opaque_metadata:b has_unchecked_assembly_data:b with_check_option:b
        is_date_correlation_view:b is_tracked_by_cdc:b
    """,
    "procedures": """
        name:s object_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d modify_date:d
        principal_id:i is_ms_shipped:b is_published:b is_schema_published:b is_auto_executed:b
        is_execution_replicated:b is_repl_serializable_only:b skips_repl_constraints:b
    """,
    "triggers": """
        name:s object_id:i parent_class:y parent_class_desc:s parent_id:i type:s type_desc:s create_date:d
        modify_date:d is_ms_shipped:b is_disabled:b is_not_for_replication:b is_instead_of_trigger:b
    """,
    "schemas": "name:s schema_id:i principal_id:i",
    "columns": """
        object_id:i name:s column_id:i system_type_id:y user_type_id:i max_length:i precision:y scale:y
        collation_name:s is_nullable:b is_ansi_padded:b is_rowguidcol:b is_identity:b is_computed:b
        is_filestream:b is_replicated:b is_non_sql_subscribed:b is_merge_published:b is_dts_replicated:b
        is_xml_document:b xml_collection_id:i default_object_id:i rule_object_id:i is_sparse:b
        is_column_set:b generated_always_type:y generated_always_type_desc:s is_hidden:b is_masked:b
    """,
    "indexes": """
        object_id:i name:s index_id:i type:y type_desc:s is_unique:b data_space_id:i ignore_dup_key:b
        is_primary_key:b is_unique_constraint:b fill_factor:y is_padded:b is_disabled:b is_hypothetical:b
        is_ignored_in_optimization:b allow_row_locks:b allow_page_locks:b has_filter:b filter_definition:n
        auto_created:b
    """,
    "types": """
        name:s system_type_id:y user_type_id:i schema_id:i principal_id:i max_length:i precision:y scale:y
        collation_name:s is_nullable:b is_user_defined:b is_assembly_type:b default_object_id:i
        rule_object_id:i is_table_type:b
    """,
    "service_queues": """
        name:s object_id:i schema_id:i type:s type_desc:s create_date:d modify_date:d max_readers:i
        activation_procedure:n execute_as_principal_id:i is_activation_enabled:b
        is_receive_enabled:b is_enqueue_enabled:b is_retention_enabled:b
        is_poison_message_handling_enabled:b
    """,
    "services": "name:s service_id:i principal_id:i service_queue_id:i",
    "service_contracts": "name:s service_contract_id:i principal_id:i",
    "service_message_types": """
        name:s message_type_id:i principal_id:i validation:s validation_desc:s xml_collection_id:i
    """,
    "service_contract_message_usages": """
        service_contract_id:i message_type_id:i is_sent_by_initiator:b is_sent_by_target:b
    """,
    "service_contract_usages": "service_id:i service_contract_id:i",
    "service_queue_usages": "service_id:i service_queue_id:i",
    "conversation_endpoints": """
        conversation_handle:g conversation_id:g is_initiator:b service_contract_id:i
        conversation_group_id:g service_id:i lifetime:d state:s state_desc:s far_service:n
        far_broker_instance:n principal_id:i far_principal_id:i outbound_session_key_identifier:g
        inbound_session_key_identifier:g security_timestamp:d dialog_timer:d send_sequence:l
        last_send_tran_id:x end_dialog_sequence:l receive_sequence:l receive_sequence_frag:i
        system_sequence:l first_out_of_order_sequence:l last_out_of_order_sequence:l
        last_out_of_order_frag:i is_system:b priority:y
    """,
    "conversation_groups": "conversation_group_id:g service_id:i is_system:b",
    "conversation_priorities": """
        priority_id:i name:s service_contract_id:i local_service_id:i remote_service_name:n
        priority:y
    """,
    "transmission_queue": """
        conversation_handle:g to_service_name:n to_broker_instance:n from_service_name:n
        service_contract_name:n enqueue_time:d message_sequence_number:l message_type_name:n
        is_conversation_error:b is_end_of_dialog:b message_body:x transmission_status:n priority:y
    """,
    "routes": """
        name:s route_id:i principal_id:i remote_service_name:n broker_instance:n lifetime:d
        address:n mirror_address:n
    """,
    "dm_broker_activated_tasks": "spid:i database_id:i queue_id:i procedure_name:n execute_as:i",
    "dm_broker_queue_monitors": """
        database_id:i queue_id:i state:n last_empty_rowset_time:d last_activated_time:d
        tasks_waiting:i
    """,
    "sysobjects": """
        name:s id:i xtype:s uid:i info:i status:i base_schema_ver:i replinfo:i parent_obj:i crdate:d
        ftcatid:i schema_ver:i type:s refdate:d version:i category:i cache:i sysstat:i
    """,
    "sysdatabases": "name:s dbid:i crdate:d status:i cmptlevel:i filename:n",
    "sysaltfiles": "fileid:i groupid:i size:i maxsize:i growth:i status:i dbid:i name:s filename:n",
    "sysfiles": "fileid:i groupid:i size:i maxsize:i growth:i status:i name:s filename:n",
    "sysmessages": "error:i severity:i description:n",
    "messages": "message_id:i language_id:i severity:y is_event_logged:b text:n",
    "server_principals": "name:s principal_id:i type:s type_desc:s",
    "database_principals": "name:s principal_id:i type:s type_desc:s",
    "index_columns": """
        object_id:i index_id:i index_column_id:i column_id:i key_ordinal:y partition_ordinal:y
        is_descending_key:b is_included_column:b
    """,
    "key_constraints": """
        name:s object_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d modify_date:d
        principal_id:i is_ms_shipped:b is_published:b is_schema_published:b unique_index_id:i
        is_system_named:b is_enforced:b
    """,
    "check_constraints": """
        name:s object_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d modify_date:d
        principal_id:i is_ms_shipped:b is_published:b is_schema_published:b is_disabled:b
        is_not_for_replication:b is_not_trusted:b parent_column_id:i definition:n uses_database_collation:b
        is_system_named:b
    """,
    "default_constraints": """
        name:s object_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d modify_date:d
        principal_id:i is_ms_shipped:b is_published:b is_schema_published:b parent_column_id:i definition:n
        is_system_named:b
    """,
    "foreign_keys": """
        name:s object_id:i schema_id:i parent_object_id:i type:s type_desc:s create_date:d modify_date:d
        principal_id:i is_ms_shipped:b is_published:b is_schema_published:b referenced_object_id:i
        key_index_id:i is_disabled:b is_not_for_replication:b is_not_trusted:b delete_referential_action:y
        delete_referential_action_desc:s update_referential_action:y update_referential_action_desc:s
        is_system_named:b
    """,
    "foreign_key_columns": """
        constraint_object_id:i constraint_column_id:i parent_object_id:i parent_column_id:i
        referenced_object_id:i referenced_column_id:i
    """,
    "identity_columns": "object_id:i name:s column_id:i seed_value:l increment_value:l last_value:l",
    "computed_columns": "object_id:i name:s column_id:i definition:n is_persisted:b",
    "parameters": """
        object_id:i name:s parameter_id:i system_type_id:y user_type_id:i max_length:i precision:y scale:y
        is_output:b is_cursor_ref:b has_default_value:b default_value:n is_readonly:b is_nullable:b
    """,
    "sql_modules": "object_id:i definition:n",
    "all_sql_modules": "object_id:i definition:n",
    "syscomments": "id:i colid:i text:n",
    "syscolumns": """
        name:s id:i xtype:y colid:i length:i prec:i scale:i isnullable:i xusertype:i colorder:i cdefault:i
        domain:i number:i collation:s iscomputed:i isoutparam:i status:y
    """,
    "sysindexes": "id:i name:s indid:i rows:l rowcnt:l",
    "sysusers": "uid:i name:s issqlrole:i issqluser:i",
    "syslogins": "name:s loginname:s dbname:s",
    "spt_values": "name:n number:i type:n low:i high:i status:i",
    "sysprocesses": """
        spid:i blocked:i waittime:l lastwaittype:s dbid:i login_time:d last_batch:d status:s hostname:s
        program_name:s loginame:s open_tran:i cmd:s
    """,
    "sequences": "name:s object_id:i schema_id:i current_value:l",
    "partitions": "partition_id:l object_id:i index_id:i partition_number:i hobt_id:l rows:l",
    "dm_db_partition_stats": "partition_id:l object_id:i index_id:i row_count:l",
    "internal_tables": """
        name:s object_id:i parent_id:i parent_object_id:i internal_type:i internal_type_desc:s
    """,
    "extended_properties": "class:y class_desc:s major_id:i minor_id:i name:s value:n",
    "configurations": "configuration_id:i name:s value:i value_in_use:i",
    "event_notifications": "name:s object_id:i parent_class:y parent_id:i service_name:n",
    "remote_service_bindings": """
        name:s remote_service_binding_id:i principal_id:i remote_service_name:n remote_principal_id:i
        is_anonymous_on:b
    """,
    "certificates": """
        name:s certificate_id:i principal_id:i pvt_key_encryption_type:s pvt_key_encryption_type_desc:s
        is_active_for_begin_dialog:b issuer_name:n cert_serial_number:n sid:x string_sid:n subject:n
        expiry_date:d start_date:d thumbprint:x attested_by:n pvt_key_last_backup_date:d key_length:i
    """,
    "symmetric_keys": """
        name:s principal_id:i symmetric_key_id:i key_length:i key_algorithm:s algorithm_desc:n create_date:d
        modify_date:d key_guid:g
    """,
    "key_encryptions": "key_id:i thumbprint:x crypt_type:s crypt_type_desc:n crypt_property:x",
    "xml_schema_collections": "xml_collection_id:i schema_id:i name:s",
    "dm_exec_requests": """
        session_id:i start_time:d status:s command:s blocking_session_id:i wait_type:s wait_time:i
        total_elapsed_time:i sql_handle:x
    """,
    "dm_os_performance_counters": "object_name:s counter_name:s instance_name:s cntr_value:l cntr_type:i",
    "information_schema_tables": "table_catalog:s table_schema:s table_name:s table_type:s",
    "information_schema_views": "table_catalog:s table_schema:s table_name:s view_definition:n",
    "information_schema_columns": """
        table_catalog:s table_schema:s table_name:s column_name:s ordinal_position:i column_default:n
        is_nullable:s data_type:s character_maximum_length:i
    """,
    "information_schema_routines": """
        routine_catalog:s routine_schema:s routine_name:s routine_type:s specific_schema:s specific_name:s
        routine_definition:n
    """,
    "information_schema_parameters": """
        specific_schema:s specific_name:s parameter_name:s ordinal_position:i data_type:s
    """,
    "information_schema_table_constraints": """
        constraint_schema:s constraint_name:s table_schema:s table_name:s constraint_type:s
    """,
    "information_schema_key_column_usage": """
        constraint_schema:s constraint_name:s table_schema:s table_name:s column_name:s ordinal_position:i
    """,
    "dm_exec_sessions": "session_id:i login_name:s host_name:s program_name:s status:s login_time:d",
}
"""Columns that scripts use, name:kind; the views themselves may have more."""

_OF_NAMES = frozenset(
    """
    databases objects all_objects tables views procedures triggers schemas columns indexes service_queues
    types server_principals database_principals sysobjects sysdatabases key_constraints check_constraints
    default_constraints foreign_keys identity_columns computed_columns parameters syscolumns sysindexes
    sysusers syslogins sequences
    """.split()
)
"""Views whose ``name`` is an identifier; names of services, contracts, message types are data."""

_NAME_COLUMNS = frozenset(
    """
    table_catalog table_schema table_name column_name routine_schema routine_name specific_schema
    specific_name parameter_name constraint_schema constraint_name
    """.split()
)
"""Columns of INFORMATION_SCHEMA that are identifiers."""


def system_view(name: ObjectName) -> TableInfo | None:
    """A view of schema sys; None for another name."""
    view = fold(name.name)
    if fold(name.schema or "") == "information_schema" and view in INFORMATION_SCHEMA:
        view = f"information_schema_{view}"
    elif fold(name.schema or "") != "sys" and not (
        view in COMPATIBILITY_VIEWS and fold(name.schema or "dbo") == "dbo"
    ):
        return None
    columns = _VIEWS.get(view)
    if columns is None:
        return None
    infos = []
    for entry in columns.split():
        column, _, kind = entry.partition(":")
        holds_names = (column == "name" and view in _OF_NAMES) or column in _NAME_COLUMNS
        infos.append(ColumnInfo(column, _FAMILIES[kind], holds_names=holds_names))
    # A view has more columns than the ones listed here: `*` stays open.
    return TableInfo(name, tuple(infos), read_only=True, partial=True)

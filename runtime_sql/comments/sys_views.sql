-- What \dv+ sys.* and \d+ show: a sentence for each view of schema sys and for each of its columns.
-- Under "*" stands what a column of that name holds wherever nothing else is said. "a < b" has the words of b for the
-- columns that it has from it. Two views or columns with a comma between them share what is said. Views that are not
-- installed (--parts broker) are passed over. The form is read by ssb_internal.describe_relations (comments/describe.sql);
-- tests/runtime/test_api.py finds what has no words, and words for what is not there.
DO $$ BEGIN PERFORM ssb_internal.describe_relations('sys', $words$
*
  name: Its name, spelled as it was given.
  object_id: Number of the object in sys.objects.
  parent_object_id: Number of the object that it belongs to.
  principal_id: Number of its owner in sys.database_principals.
  schema_id: Number of its schema in sys.schemas.
  database_id, dbid: Number of the T-SQL database in sys.databases.
  type_desc: The type, in words.
  state_desc: The state, in words.
  class_desc, parent_class_desc: The class, in words.
  create_date: When it was created, in the session's time zone.
  modify_date: When it was changed last, in the session's time zone.
  is_ms_shipped: 1: the system brings it along.
  is_published, is_schema_published, is_replicated, is_merge_published, has_replication_filter: Always 0: there is no replication of SQL Server's kind.
  is_not_for_replication: Always 0: there is no replication of SQL Server's kind.
  is_tracked_by_cdc: Always 0: there is no change data capture.
  has_unchecked_assembly_data: Always 0: there are no assemblies.
  uses_database_collation: Always 1: there is one collation.
  is_system_named: 1: nobody gave it a name.
  collation_name: The collation by which the session compares texts; NULL for other types.
  column_id: Number of the column in sys.columns.
  index_id: Number of the index in sys.indexes, 1 for a primary key; 0: the table itself.
  system_type_id: Number of the type that the system brings, as in sys.types.
  user_type_id: Number of the type in sys.types; an alias type has its own.
  max_length: Length in bytes, two for each character of a text; -1: (max), xml, or a table type.
  precision: Decimal digits of a number, or characters of a date; 0 for other types.
  scale: Digits after the point, or of a fraction of a second.
  is_nullable: 1: NULL is allowed.
  xml_collection_id: Number of the XML schema collection; 0 or NULL: there is none.
  default_object_id: Number of the default in sys.default_constraints; 0: there is none.
  rule_object_id: Always 0: there are no rules.
  service_id: Number of the service in sys.services.
  service_contract_id: Number of the contract in sys.service_contracts.
  message_type_id: Number of the message type in sys.service_message_types.
  queue_id, service_queue_id: Number of the queue, object_id of sys.service_queues.
  conversation_group_id: The conversation group.
  conversation_handle: This side's handle of the conversation.
  conversation_id: The conversation; the same on both sides.
  broker_instance, to_broker_instance: Broker identifier of the database, service_broker_guid of its sys.databases; NULL: any.
  session_id, spid: Number of the session: the process id of its PostgreSQL backend.
  login_time: When the session began.
  program_name: What the client calls itself (application_name).
  transaction_id: Number of the transaction; NULL while it has written nothing.
  blocking_session_id: The session that it waits for.
  open_transaction_count: 1 in a transaction, 0 outside of one.
  sql_handle, plan_handle: Handle for sys.dm_exec_sql_text and sys.dm_exec_query_plan.
  definition: The text of the definition.
  data_space_id: Number of the filegroup; 1, PRIMARY, is the only one.
  is_default: 1: used where nothing else is said.
  key_length: Length of the key in bits.
  thumbprint: SHA-1 of the certificate.
  partition_number: Always 1: tables of SQL Server's partitioned kind do not exist.
  wait_type: What is waited for: SQL Server's name for the broker's waits, else PostgreSQL's.
  id: Number of an object, object_id of sys.objects.
  table_catalog, constraint_catalog, specific_catalog, routine_catalog, catalog_name, unique_constraint_catalog: The T-SQL database, always the session's.
  table_schema: Schema of the table.
  table_name: Name of the table or view.
  column_name: Name of the column.
  constraint_schema: Schema of the constraint.
  constraint_name: Name of the constraint.
  specific_schema, routine_schema: Schema of the routine.
  specific_name, routine_name: Name of the routine.
  ordinal_position: Its place, from 1.
  data_type: Name of its type.

databases: The T-SQL databases of this instance, each with a broker of its own. They are sets of schemas in one PostgreSQL database.
  name: Its name.
  database_id: Its number: 1 to 4 are the system's, 5 is the first of the user's.
  source_database_id: Always NULL: there are no snapshots of databases.
  owner_sid: The owner: the name, as bytes; 0x01 for sa.
  compatibility_level: As ALTER DATABASE set it, else 160. Nothing depends on it.
  user_access: 0: MULTI_USER, 1: SINGLE_USER, 2: RESTRICTED_USER, as ALTER DATABASE set it. Nobody is kept out.
  user_access_desc: The same, in words.
  is_read_only: 1 after ALTER DATABASE … SET READ_ONLY. Nothing is refused by it.
  is_auto_close_on, is_auto_shrink_on, is_in_standby: Always 0: PostgreSQL has no such option.
  state: 0: ONLINE, 5: EMERGENCY, 6: OFFLINE, as ALTER DATABASE set it. USE refuses one that is offline.
  state_desc: The same, in words.
  snapshot_isolation_state: 0: OFF, 1: ON, as ALTER DATABASE … SET ALLOW_SNAPSHOT_ISOLATION set it, else 0. SNAPSHOT is allowed in either.
  snapshot_isolation_state_desc: The same, in words.
  is_read_committed_snapshot_on: Always 1: readers do not wait for writers.
  recovery_model: 1: FULL, 2: BULK_LOGGED, 3: SIMPLE, as ALTER DATABASE set it, else 1. Nothing depends on it.
  recovery_model_desc: The recovery model, in words.
  is_trustworthy_on: 1 after ALTER DATABASE … SET TRUSTWORTHY ON.
  is_master_key_encrypted_by_server: 1: the database's master key opens by the service master key, without a password.
  is_broker_enabled: 1: its broker delivers messages; 0: they wait.
  service_broker_guid: Its broker identifier, by which BEGIN DIALOG and routes name it.
  is_honor_broker_priority_on: 1 after ALTER DATABASE … SET HONOR_BROKER_PRIORITY ON.
  is_db_chaining_on: Always 0: ownership is not chained across databases.
  is_subscribed, is_distributor: Always 0: there is no replication of SQL Server's kind.
  is_encrypted: Always 0: whether PostgreSQL's files are encrypted is not known here.
  containment: Always 0, NONE.
  log_reuse_wait: Always 0, NOTHING.
  log_reuse_wait_desc: Always NOTHING.
  page_verify_option: Always 2, CHECKSUM, whatever data_checksums says.
  page_verify_option_desc: Always CHECKSUM.
  is_auto_create_stats_on, is_auto_update_stats_on: Always 1: PostgreSQL's autovacuum does that.
  is_query_store_on: Always 0: there is no query store.
  is_cdc_enabled: Always 0: there is no change data capture.
  is_fulltext_enabled: Always 0: there is no full-text search of SQL Server's kind.
  replica_id: Always NULL: there are no availability groups.
  is_recursive_triggers_on: 1 after ALTER DATABASE … SET RECURSIVE_TRIGGERS ON.
  is_ansi_null_default_on, is_ansi_nulls_on, is_ansi_padding_on, is_ansi_warnings_on, is_arithabort_on, is_concat_null_yields_null_on, is_numeric_roundabort_on, is_quoted_identifier_on, is_cursor_close_on_commit_on, is_local_cursor_default: Always 0, as in a new database of SQL Server: sessions say it.
  is_auto_update_stats_async_on, is_parameterization_forced, is_date_correlation_on, is_supplemental_logging_enabled, is_merge_published, is_sync_with_backup, is_cleanly_shutdown: Always 0: PostgreSQL has no such option.

schemas: The schemas of the session's T-SQL database, with those that the system brings (guest, INFORMATION_SCHEMA, sys).
  schema_id: Its number: 1 for dbo.

database_principals: Users and roles of the session's T-SQL database, and PostgreSQL's roles, each of which is a user too.
  principal_id: Its number; a PostgreSQL role has its oid, below 20000 two thousand million more.
  type: S: user, C: user of a certificate, R: role, A: application role.
  default_schema_name: Schema in which its statements look first; NULL for roles.
  create_date, modify_date: When it was created, in the session's time zone; NULL for what the system brings and PostgreSQL's roles.
  owning_principal_id: Whose a role is, 1 for dbo; NULL for users and what the system brings.
  sid: Its name, as bytes; of dbo that of the database's owner; NULL for the other users and roles that the system brings.
  is_fixed_role: 1: a fixed database role, such as db_owner.
  authentication_type: 1, by the instance; 0 for roles, users without a login and what the system brings, but for dbo.
  authentication_type_desc: The same, in words: INSTANCE or NONE.
  default_language_name, default_language_lcid: Always NULL: no database is contained.
  allow_encrypted_value_modifications: Always 0: there is no Always Encrypted.

database_role_members: Who is a member of which role, in the session's T-SQL database.
  role_principal_id: Number of the role in sys.database_principals.
  member_principal_id: Number of the member in sys.database_principals.

server_principals: Logins, and PostgreSQL's roles, of which those that may log in are logins; sa, public and sysadmin.
  principal_id: Its number, 1 for sa; a PostgreSQL role has its oid, below 20000 two thousand million more.
  sid: Its name, as bytes; of what the system brings its number.
  type: S: login, R: role.
  is_disabled: Always 0.
  create_date, modify_date: When it was created, in the session's time zone; NULL for what the system brings and PostgreSQL's roles.
  default_database_name: master; for PostgreSQL's roles the PostgreSQL database.
  default_language_name: us_english for logins.
  credential_id: Always NULL: there are no credentials.
  owning_principal_id: Whose a role is: 1, sa; NULL for logins.
  is_fixed_role: 1 for sysadmin.

sql_logins < server_principals: Logins with a password: the rows of type S of sys.server_principals.
  is_policy_checked, is_expiration_checked: Always 0: PostgreSQL checks passwords by its own rules.

database_permissions: What GRANT and DENY said in the session's T-SQL database; of tables, views and routines what PostgreSQL's GRANT gave, but to everybody on a routine.
  class: What it is about, 0: database, 1: object, 3: schema, 4: principal, 10: XML schema collection, 15: message type, 16: contract, 17: service, 18: remote service binding, 19: route, 25: certificate.
  major_id: Number of what it is about; 0: the database.
  minor_id: Always 0: there are no permissions on columns.
  grantee_principal_id: Who has it, a number of sys.database_principals.
  grantor_principal_id: Who gave it, a number of sys.database_principals.
  type: The permission, in two or four letters; NULL for one that SQL Server does not have.
  permission_name: The permission, in words.
  state: G: granted, W: granted with grant option, D: denied.

certificates: The certificates of the session's T-SQL database.
  certificate_id: Its number.
  pvt_key_encryption_type: What the private key is encrypted by: MK, the master key, PW, a password; NA: there is none here.
  pvt_key_encryption_type_desc: The same, in words.
  is_active_for_begin_dialog: 1: new dialogs may use it.
  issuer_name: Who issued it.
  cert_serial_number: Its serial number.
  sid: Its security identifier, made of the thumbprint.
  string_sid: The same as text.
  subject: Whom it is about.
  expiry_date: Until when it is valid, UTC.
  start_date: Since when it is valid, UTC.
  attested_by: Always NULL.
  pvt_key_last_backup_date: When the private key was backed up last, UTC.

symmetric_keys: The master key of the session's T-SQL database, and in master the service master key. Others cannot be made.
  symmetric_key_id: Its number: 101, 102 for the service master key.
  key_length: Always 256 bits.
  key_algorithm: Always A3.
  algorithm_desc: Always AES_256.
  create_date: When it was created, UTC.
  modify_date: When it was changed last, UTC.
  key_guid: The key's identifier.
  key_thumbprint, provider_type, cryptographic_provider_guid, cryptographic_provider_algid: Always NULL: there are no cryptographic providers.

key_encryptions: What opens the master key of the session's T-SQL database.
  key_id: Always 101, the master key.
  thumbprint: Always NULL.
  crypt_type: ESKM: the service master key, ESKP: a password.
  crypt_type_desc: The same, in words.
  crypt_property: The encrypted key.

objects: Tables, views, synonyms, sequences, routines, triggers, constraints and queues of the session's T-SQL database.
  object_id: Its number: PostgreSQL's oid; a queue has its own.
  principal_id: Number of the owner of a queue; NULL for others: whoever owns them in PostgreSQL.
  parent_object_id: Number of the table of a constraint, default or trigger, and of the queue of an internal table; 0 for others.
  type: U: table, V: view, SN: synonym, SO: sequence, P, FN, IF, TF, AF: routines, TR: trigger, PK, UQ, F, C, D: constraints, SQ: queue, IT: its internal table.
  create_date: When it was created; NULL but for queues: PostgreSQL does not keep it.
  modify_date: When it was changed last; NULL but for queues: PostgreSQL does not keep it.
  is_ms_shipped: 1: a queue that the system brings.

all_objects < objects: Those of sys.objects and of sys.system_objects.
  type: As in sys.objects; of the system's: S: table, V: view, FN: function.
  is_ms_shipped: 1: the system brings it along.

system_objects < objects: What PostgreSQL and the runtime bring.
  type: S: table, V: view, FN: function.
  is_ms_shipped: Always 1.

tables < objects: The tables of the session's T-SQL database.
  type: Always U.
  lob_data_space_id, filestream_data_space_id: Always NULL: PostgreSQL has no such places.
  max_column_id_used: The highest number that a column has had.
  lock_on_bulk_load: Always 0.
  uses_ansi_nulls: Always 1: a comparison with NULL is unknown.
  is_sync_tran_subscribed: Always 0: there is no replication of SQL Server's kind.
  text_in_row_limit: Always 0.
  large_value_types_out_of_row: Always 0: PostgreSQL decides for each value.
  lock_escalation: Always 0, TABLE. PostgreSQL does not escalate locks.
  lock_escalation_desc: Always TABLE.
  is_filetable: Always 0: there are no FileTables.
  is_memory_optimized: Always 0: there are no memory-optimized tables.
  durability: Always 0, SCHEMA_AND_DATA.
  durability_desc: Always SCHEMA_AND_DATA.
  temporal_type: 0: an ordinary table, 1: history of another, 2: system-versioned.
  temporal_type_desc: The same, in words.
  history_table_id: Number of the history table of a system-versioned one.
  is_remote_data_archive_enabled, is_external, is_node, is_edge: Always 0: there are no such tables.

periods: The periods for system time of tables.
  name: Always SYSTEM_TIME.
  period_type: Always 1, SYSTEM_TIME_PERIOD.
  period_type_desc: Always SYSTEM_TIME_PERIOD.
  object_id: Number of the table.
  start_column_id: Number of the column with the beginning.
  end_column_id: Number of the column with the end.

views < objects: The views of the session's T-SQL database.
  type: Always V.
  has_opaque_metadata: Always 0.
  with_check_option: 1: WITH CHECK OPTION.
  is_date_correlation_view: Always 0.

all_views < views: Those of sys.views and of sys.system_views.

system_views < views: The views that PostgreSQL and the runtime bring.

procedures < objects: The procedures of the session's T-SQL database.
  type: Always P.
  is_auto_executed: Always 0: nothing runs when the server starts.
  is_execution_replicated, is_repl_serializable_only, skips_repl_constraints: Always 0: there is no replication of SQL Server's kind.

triggers: Triggers of tables and views, and DDL triggers of the session's T-SQL database.
  parent_class: 1: of a table or view, 0: of the database.
  parent_id: Number of the table or view; 0 for DDL triggers.
  type: Always TR.
  create_date, modify_date: When it was created, for DDL triggers; NULL for others: PostgreSQL does not keep it.
  is_ms_shipped: Always 0.
  is_disabled: 1 after DISABLE TRIGGER.
  is_instead_of_trigger: 1: INSTEAD OF, 0: AFTER.

server_triggers < triggers: DDL triggers ON ALL SERVER.
  parent_class: Always 100.
  parent_class_desc: Always SERVER.
  parent_id: Always 0.
  create_date, modify_date: When it was created, in the session's time zone.

trigger_events: The events that fire each trigger of sys.triggers: an event named directly, or in a group.
  object_id: Number of the trigger in sys.triggers.
  type: Number of the event: 1 INSERT, 2 UPDATE, 3 DELETE, else as in sys.trigger_event_types.
  type_desc: The event's name.
  is_first, is_last: Always 0: PostgreSQL fires triggers in the order of their names.
  event_group_type: Number of the group that was named; NULL: the event itself.
  event_group_type_desc: Name of that group.
  is_trigger_event: Always 1.

server_trigger_events < trigger_events: The events that fire each trigger of sys.server_triggers.
  object_id: Number of the trigger in sys.server_triggers.

events < trigger_events: The events of triggers and of event notifications.
  object_id: Number of the trigger, or of the event notification.
  is_trigger_event: 1: of a trigger, 0: of an event notification.

server_events < events: The events of triggers and event notifications ON … SERVER.

event_notification_event_types: The events, and the groups of them, that event notifications may name.
  type: Its number; from 10001 on it is a group.
  type_name: Its name.
  parent_type: Number of the group that it is in; NULL: in none.

trigger_event_types < event_notification_event_types: The events, and the groups of them, that DDL triggers may name.

types: The system's types, and those that CREATE TYPE made in the session's T-SQL database.
  name: Its name.
  system_type_id: Number of the type that it is made of; 243: a table type.
  user_type_id: Its number.
  schema_id: Number of its schema; 4, sys, for the system's.
  principal_id: Always NULL: the schema's owner has it.
  is_user_defined: 1: CREATE TYPE made it.
  is_table_type: 1: CREATE TYPE … AS TABLE.
  is_assembly_type: Always 0: there are no assemblies.
  default_object_id: Always 0: defaults are not bound to types.

table_types: The types that CREATE TYPE … AS TABLE made.
  system_type_id: Always 243.
  user_type_id: Its number in sys.types.
  is_user_defined, is_table_type: Always 1.
  type_table_object_id: PostgreSQL's number of its row type, whose columns pg_attribute has.

columns: The columns of tables, views and queues.
  object_id: Number of the table, view or queue.
  column_id: Its number, from 1. Numbers of dropped columns are not used again.
  is_ansi_padded: Always 1.
  is_rowguidcol, is_filestream, is_xml_document, is_sparse, is_column_set, is_masked: Always 0: PostgreSQL has no such columns.
  is_identity: 1: an IDENTITY column.
  is_computed: 1: a computed column.
  is_non_sql_subscribed, is_dts_replicated: Always 0: there is no replication of SQL Server's kind.
  xml_collection_id: Always 0: the type of an xml column with a collection is a domain that validates.
  generated_always_type: 1: beginning of the period for system time, 2: its end, 0: neither.
  generated_always_type_desc: The same, in words.
  is_hidden: 1: SELECT * leaves it out.

all_columns < columns: Those of sys.columns and of sys.system_columns.

system_columns < columns: The columns of what PostgreSQL and the runtime bring.

identity_columns < columns: The IDENTITY columns.
  is_identity: Always 1.
  seed_value: The first value.
  increment_value: What comes on top each time.
  last_value: The value that was given out last; NULL: none was.

computed_columns < columns: The computed columns.
  is_computed: Always 1.
  definition: The expression, in PostgreSQL's words.
  is_persisted: Always 1: PostgreSQL keeps their values.

indexes: The indexes of tables, and a row with the number 0 for each table that has no primary key.
  object_id: Number of the table.
  name: Its name; NULL for the table itself.
  index_id: Its number in the table: 0: the table itself, 1: the primary key, from 2 on the others, as they came.
  type: 0: heap, 1: clustered (the primary key), 2: nonclustered. PostgreSQL keeps no table in an index's order.
  is_unique: 1: each key is there once.
  is_primary_key: 1: it belongs to a primary key.
  is_unique_constraint: 1: it belongs to a UNIQUE constraint.
  is_disabled, is_padded, is_hypothetical, is_ignored_in_optimization: Always 0: PostgreSQL has no such indexes.
  ignore_dup_key: Always 0, also after IGNORE_DUP_KEY = ON.
  fill_factor: FILLFACTOR in percent; 0: nobody chose one.
  allow_row_locks, allow_page_locks: Always 1.
  has_filter: 1: it holds the rows of a condition only.
  filter_definition: That condition, in PostgreSQL's words.
  auto_created: Always 0.

index_columns: The columns of indexes.
  object_id: Number of the table.
  index_column_id: Its place in the index, from 1.
  column_id: Number of the column in sys.columns; 0: an expression.
  key_ordinal: Its place in the key, from 1; 0: it is included only.
  partition_ordinal: Always 0.
  is_descending_key: 1: sorted downwards.
  is_included_column: 1: INCLUDE.

stats: One row for each index: PostgreSQL keeps its statistics by column, and not here.
  object_id: Number of the table.
  name: Name of the index.
  stats_id: Number of the index.
  auto_created, user_created: Always 0.

key_constraints < objects: Primary keys and UNIQUE constraints.
  type: PK or UQ.
  unique_index_id: Number of its index in sys.indexes.
  is_system_named: Always 0: PostgreSQL does not tell.
  is_enforced: Always 1.

foreign_keys < objects: The foreign keys.
  type: Always F.
  referenced_object_id: Number of the table that it points to; 0 while it is switched off.
  key_index_id: Number of the referenced table's index in sys.indexes.
  is_disabled: 1 after NOCHECK CONSTRAINT.
  is_not_trusted: 1: rows that were there have not been checked.
  delete_referential_action, update_referential_action: 0: NO ACTION, 1: CASCADE, 2: SET NULL, 3: SET DEFAULT.
  delete_referential_action_desc, update_referential_action_desc: The action, in words.
  is_system_named: Always 0: PostgreSQL does not tell.

foreign_key_columns: The columns of foreign keys, pair by pair.
  constraint_object_id: Number of the foreign key.
  constraint_column_id: Place of the pair, from 1.
  parent_object_id: Number of the table that has the foreign key.
  parent_column_id: Number of its column.
  referenced_object_id: Number of the table that it points to.
  referenced_column_id: Number of that table's column.

check_constraints < objects: The CHECK constraints.
  type: Always C.
  is_disabled: 1 after NOCHECK CONSTRAINT.
  is_not_trusted: 1: rows that were there have not been checked.
  parent_column_id: Number of the column, where it is about one only; 0 for others.
  definition: The condition, in PostgreSQL's words.
  is_system_named: Always 0: PostgreSQL does not tell.

default_constraints < objects: The defaults of columns. PostgreSQL gives them no names: those that a script gave are kept, others are made up.
  type: Always D.
  principal_id, create_date, modify_date: Always NULL: PostgreSQL does not keep it.
  is_ms_shipped: Always 0.
  parent_column_id: Number of the column.
  definition: The value in parentheses; in PostgreSQL's words but constants and functions without arguments.

internal_tables < objects: The tables that hold the messages of queues: one for each queue, as far as SQL Server's names go.
  object_id: Its number: the queue's, negative.
  type: Always IT.
  internal_type: Always 201, QUEUE_MESSAGES.
  internal_type_desc: Always QUEUE_MESSAGES.
  parent_id: Number of the queue.
  parent_minor_id: Always 0.

service_queues < objects: The queues of the session's T-SQL database, and the three that the system brings.
  type: Always SQ.
  principal_id: Number of its owner in sys.database_principals.
  create_date: When it was created, in the session's time zone.
  modify_date: When it was altered last, in the session's time zone.
  max_readers: MAX_QUEUE_READERS.
  activation_procedure: PROCEDURE_NAME of ACTIVATION, with its schema.
  execute_as_principal_id: As whom the procedure runs: a number of sys.database_principals; -2: OWNER, NULL: there is none.
  is_activation_enabled: 1: ACTIVATION (STATUS = ON).
  is_receive_enabled: 1: RECEIVE works; 0: STATUS = OFF, or a poison message stopped the queue.
  is_enqueue_enabled: 1: messages may come; 0: they wait in sys.transmission_queue.
  is_retention_enabled: 1: RETENTION = ON.
  is_poison_message_handling_enabled: 1: as many rollbacks in a row as max_rollbacks says stop the queue.
  external_program: A program outside of the server that ACTIVATION starts. SQL Server has no such column.
  max_rollbacks: How many rollbacks in a row make a poison message. SQL Server has no such column.
  is_quarantine_enabled: 1: a poison message sets its conversation group aside, and the queue goes on. SQL Server has no such column.

sequences < objects: The sequences of the session's T-SQL database.
  type: Always SO.
  start_value: START WITH.
  increment: INCREMENT BY.
  minimum_value: MINVALUE.
  maximum_value: MAXVALUE.
  is_cycling: 1: CYCLE.
  current_value: The value that was given out last; before the first one, the start.
  is_cached: 1: CACHE with more than one value.
  cache_size: How many values CACHE has; NULL without one.
  system_type_id: The number of the type behind AS.
  user_type_id: The number of the type behind AS.
  precision: Of that type.
  scale: Of that type.

synonyms < objects: The synonyms of the session's T-SQL database.
  type: Always SN.
  base_object_name: What it stands for, in brackets; with the database where that is another.

sql_modules: The texts of procedures, functions, views and triggers.
  definition: Its T-SQL text where that was kept, else PostgreSQL's.
  uses_ansi_nulls, uses_quoted_identifier: Always 1.
  is_schema_bound: 1: WITH SCHEMABINDING.
  uses_database_collation, is_recompiled: Always 0.
  null_on_null_input: 1: a scalar function WITH RETURNS NULL ON NULL INPUT.
  execute_as_principal_id: Always NULL: a module runs with its caller's rights.
  uses_native_compilation, inline_type, is_inlineable: Always 0.

all_sql_modules < sql_modules: The same rows as sys.sql_modules.

parameters: The parameters of procedures and functions.
  object_id: Number of the routine.
  name: Its name, with the @.
  parameter_id: Its place, from 1; 0: what a function returns, which has no name.
  is_output: 1: OUTPUT, or what a function returns.
  is_cursor_ref: Always 0.
  has_default_value: Always 0, as in SQL Server.
  default_value: Always NULL.
  is_readonly: 1: a table-valued parameter.
  is_nullable: Always 1.

all_parameters < parameters: The same rows as sys.parameters.

extended_properties: What sp_addextendedproperty wrote in the session's T-SQL database.
  class: What it is about, 0: database, 1: object or column, 3: schema, 15: message type, 16: contract, 17: service, 19: route, 100: something else.
  major_id: Number of what it is about; 0: the database.
  minor_id: Number of the column; 0: the whole.
  value: What was written, as text.

service_message_types: The message types of the session's T-SQL database, with those that the system brings.
  message_type_id: Its number.
  validation: N: none, E: the body is empty, X: it is well-formed XML, or valid by a collection.
  validation_desc: BINARY, EMPTY or XML.
  xml_collection_id: Number of the XML schema collection of VALID_XML WITH SCHEMA COLLECTION; NULL: none.

message_type_xml_schema_collection_usages: Which message types validate by which XML schema collection.

service_contracts: The contracts of the session's T-SQL database, with those that the system brings.
  service_contract_id: Its number.

service_contract_message_usages: The message types of each contract, and who may send them.
  is_sent_by_initiator: 1: the initiator may send it.
  is_sent_by_target: 1: the target may send it.

services: The services of the session's T-SQL database, and the three that the system brings.
  service_id: Its number; to 65535 the system's.

service_queue_usages: Which service reads which queue.

service_contract_usages: The contracts under which each service is a target.

routes: The routes of the session's T-SQL database.
  route_id: Its number.
  remote_service_name: SERVICE_NAME; NULL: it is for any service.
  broker_instance: BROKER_INSTANCE; NULL: it is for any.
  lifetime: Until when it is used, UTC; NULL: for ever.
  address: Where its messages go: LOCAL, TRANSPORT, or the address of an instance.
  mirror_address: MIRROR_ADDRESS, which is used where ADDRESS does not answer.

remote_service_bindings: Which user stands for a remote service: that user's certificate is the one of the dialogs with it.
  remote_service_binding_id: Its number.
  remote_service_name: The remote service.
  service_contract_id: Always 0: a binding is for every contract.
  remote_principal_id: Number of the user in sys.database_principals.
  is_anonymous_on: 1: the remote service is not told who begins the dialog.

conversation_priorities: What CREATE BROKER PRIORITY made in the session's T-SQL database.
  priority_id: Its number.
  service_contract_id: Number of the contract in sys.service_contracts; NULL: any.
  local_service_id: Number of the near service in sys.services; NULL: any.
  remote_service_name: Name of the far service; NULL: any.
  priority: From 1 to 10; higher ones come first.

event_notifications: The event notifications of the session's T-SQL database and of its queues.
  object_id: Its number.
  parent_class: 0: of the database, 1: of a queue.
  parent_id: Number of the queue; 0: the database.
  modify_date: When it was created: it cannot be altered.
  service_name: The service that is told.
  creator_sid: WITH FAN_IN the login that made it; else NULL.

server_event_notifications < event_notifications: The event notifications ON SERVER.
  parent_class: Always 100.
  parent_class_desc: Always SERVER.
  parent_id: Always 0.
  principal_id: Always 1.

endpoints: The endpoint that CREATE ENDPOINT … FOR SERVICE_BROKER made.
  endpoint_id: Its number.
  protocol: Always 2, TCP.
  protocol_desc: Always TCP.
  type: Always 3, SERVICE_BROKER.
  type_desc: Always SERVICE_BROKER.
  state: 0: STARTED, 1: STOPPED, 2: DISABLED.
  is_admin_endpoint: Always 0.

tcp_endpoints < endpoints: The endpoint with its address.
  port: LISTENER_PORT.
  is_dynamic_port: Always 0.
  ip_address: LISTENER_IP; NULL: ALL.

service_broker_endpoints < endpoints: The endpoint with the broker's options.
  is_message_forwarding_enabled: 1: MESSAGE_FORWARDING = ENABLED.
  message_forwarding_size: MESSAGE_FORWARD_SIZE, in megabytes.
  connection_auth: How connections authenticate themselves, 1 to 10: NTLM, KERBEROS, NEGOTIATE, CERTIFICATE, then two of them in turn.
  connection_auth_desc: The same, in words.
  certificate_id: Number of the certificate, in master; 0: there is none.
  encryption_algorithm: 0: NONE, 1: RC4, 2: AES, from 3 on the lists of them. It is noted: connections use TLS.
  encryption_algorithm_desc: The same, in words.

xml_schema_collections: The XML schema collections of the session's T-SQL database.
  xml_collection_id: Its number.
  principal_id: Always NULL: the schema's owner has it.
  modify_date: When it was created.

xml_schema_namespaces: The target namespaces of XML schema collections.
  name: The namespace.
  xml_namespace_id: Its place in the collection, from 1.

conversation_endpoints: This side of each conversation of the session's T-SQL database.
  is_initiator: 1: the initiator's side, 0: the target's.
  service_id: Number of this side's service in sys.services.
  lifetime: When the conversation ends by itself, UTC.
  state: SO: nothing sent yet, CO: conversing, DI: the far side has ended it, DO: ended here, which the far side does not know yet, CD: closed, ER: by an error.
  far_service: Name of the far side's service.
  far_broker_instance: Broker identifier of the far side's database; NULL: not named, and nothing has arrived there yet.
  principal_id: As whom this side takes part, a number of sys.database_principals; 1: dbo.
  far_principal_id: As whom the far side takes part here; 0: anonymous.
  outbound_session_key_identifier: The key of what is sent to another instance; zeros: there is none.
  inbound_session_key_identifier: The key of what comes from another instance; zeros: there is none.
  security_timestamp: When this side came to be; of one that is CLOSED, from when on it may be removed. UTC.
  dialog_timer: When the conversation timer is due, UTC; 1900-01-01: none is set.
  send_sequence: Number of the next message that is sent.
  last_send_tran_id: Always six zero bytes.
  end_dialog_sequence: Number of the EndDialog message that was sent; -1: not ended here.
  receive_sequence: Number of the next message that is expected.
  receive_sequence_frag, system_sequence, last_out_of_order_frag: Always 0.
  first_out_of_order_sequence, last_out_of_order_sequence: Always -1: messages out of order wait elsewhere.
  is_system: 1: of an event notification.
  priority: From 1 to 10; 5 unless a broker priority fits.

conversation_groups: The groups of the conversations that are not closed.
  is_system: Always 0.

transmission_queue: The messages that cannot be put on their queue yet, or are on their way to another instance.
  to_service_name: The service that the message is for.
  to_broker_instance: Broker identifier of its database; NULL: any.
  from_service_name: The service that sent it.
  service_contract_name: The conversation's contract.
  enqueue_time: When it was sent, UTC.
  message_sequence_number: Its number in the conversation, from 0.
  message_type_name: Its message type.
  is_conversation_error: 1: END CONVERSATION WITH ERROR sent it.
  is_end_of_dialog: 1: END CONVERSATION sent it.
  message_body: The bytes that were sent; NULL: no body, or the caller may not receive from the sender's queue.
  transmission_status: Why it waits; empty: nobody has tried yet.
  priority: The conversation's, 1 to 10.

dm_broker_queue_monitors: The queues with activation, as the daemon sees them.
  state: INACTIVE: nothing to do, or no daemon; NOTIFIED: told to look; RECEIVES_OCCURRING: programs receive.
  last_empty_rowset_time: When a RECEIVE found the queue empty last.
  last_activated_time: When a program was started last.
  tasks_waiting: Programs that run now.

dm_broker_activated_tasks: The activation procedures that run now.
  procedure_name: The procedure, with its schema.
  execute_as: As whom it runs, a number of sys.database_principals.

dm_broker_connections: Connections that this instance's daemon keeps to others. Those that others opened are not known here. Members of pg_monitor see them.
  connection_id: The connection.
  transport_stream_id, authentication_method, principal_name, peer_certificate_id, peer_arbitration_id: Always NULL: connections are PostgreSQL's.
  encryption_algorithm: Always NULL: see the next column.
  state: Always 4, LOGGED_IN.
  state_desc: Always LOGGED_IN.
  connect_time, login_time: When it was made.
  remote_user_name: The role as which it has logged in there.
  last_activity_time: When something was sent last.
  is_accept: Always 0: this side opened it.
  login_state: Always 12, ONLINE.
  login_state_desc: Always ONLINE.
  encryption_algorithm_desc: TLS or NONE.
  receives_posted, is_receive_flow_controlled, sends_posted, is_send_flow_controlled: Always NULL: there is no such flow control.
  total_bytes_sent: Bytes of messages that were sent.
  total_sends: Sets of messages that were sent.
  total_bytes_received, total_receives, total_fragments_sent, total_fragments_received: Always NULL: not counted.

dm_broker_forwarded_messages: Messages that pass through this instance. Members of pg_monitor see them.
  is_initiator: 1: the initiator sent it.
  to_service_name: The service that the message is for.
  from_service_name: The service that sent it.
  from_broker_instance: Broker identifier of the sender's database.
  adjacent_broker_address: Where it goes next.
  message_sequence_number: Its number in the conversation, from 0.
  message_fragment_number, message_id: Always NULL.
  hops_remaining: How many instances it may still pass.
  time_to_live: How long it may be on its way, in seconds.
  time_consumed: How long it has been on its way, in seconds.

dm_exec_sessions: The sessions of this PostgreSQL database.
  host_name: The client's host, where PostgreSQL looks it up (log_hostname), else NULL.
  login_name: The role.
  status: running or sleeping.
  database_id: The T-SQL database that this session uses, and 5 of others.
  is_user_process: 1: a client's, 0: the server's own.
  last_request_start_time, last_request_end_time: When the last statement began, and when it ended; no end while it runs.
  original_login_name: The role.
  transaction_isolation_level: 1 to 5, read uncommitted to serializable, and snapshot; NULL for other sessions than one's own.
  cpu_time, memory_usage, total_scheduled_time, reads, writes, logical_reads, row_count, prev_error: Always 0: PostgreSQL does not count that by session.
  total_elapsed_time: Milliseconds since the session began.
  host_process_id, client_interface_name, nt_domain, nt_user_name: Always NULL: PostgreSQL's clients do not tell.
  language: Always us_english.
  client_version, last_successful_logon, last_unsuccessful_logon, unsuccessful_logons: Always NULL: PostgreSQL does not tell.
  security_id, original_security_id: The role's, as in sys.server_principals.
  context_info: What SET CONTEXT_INFO said; NULL for other sessions than one's own.
  endpoint_id: 4: TCP, 2: a Unix socket.
  text_size: Always 2147483647.
  date_format, date_first, lock_timeout: What SET said; NULL for other sessions than one's own.
  quoted_identifier, arithabort, ansi_null_dflt_on, ansi_warnings, ansi_padding, ansi_nulls, concat_null_yields_null: Always 1.
  ansi_defaults: Always 0.
  deadlock_priority: Always 0.
  group_id: Always NULL: there are no workload groups.
  authenticating_database_id: Always 0: roles are the server's.

dm_os_performance_counters: Service Broker's counters, as far as the engine and the daemon know them.
  object_name: Group of counters, such as SQLServer:Broker Statistics.
  counter_name: The counter.
  instance_name: The PostgreSQL database; empty for transport.
  cntr_value: Its value. One "per second" is a running total: read it twice, and divide by the time between.
  cntr_type: 272696576: a running total, 65792: the number itself, 1073874176: an average's sum, 1073939712: what it is divided by.

messages: Messages of sp_addmessage, and those of the system that are known here.
  message_id: Its number; from 50001 on they are the user's.
  language_id: The language: 1033 is English.
  severity: Its level, 1 to 25.
  is_event_logged: 1: WITH LOG. It is noted only.
  text: The text, with places for arguments.

partitions: One for each row of sys.indexes, and two for each queue.
  partition_id, hobt_id: Number made of the object's and the index's.
  object_id: Number of the table, or of a queue's internal table.
  rows: Rows of the table: counted where they are few, else estimated; of a queue its messages, also those that RETENTION keeps.
  data_compression: Always 0, NONE.
  data_compression_desc: Always NONE.

dm_db_partition_stats: The size of each row of sys.partitions.
  partition_id: Its number there.
  object_id: Number of the table, or of a queue's internal table.
  row_count: Rows, as in sys.partitions.
  in_row_data_page_count, in_row_used_page_count, in_row_reserved_page_count, used_page_count, reserved_page_count: Size in pages of 8 KB, with what is stored outside of the rows.
  lob_used_page_count, lob_reserved_page_count, row_overflow_used_page_count, row_overflow_reserved_page_count: Always 0: it is counted in the other columns.

information_schema_tables: INFORMATION_SCHEMA.TABLES: tables and views.
  table_type: BASE TABLE or VIEW.

information_schema_view_table_usage: What the views of the session's T-SQL database read.
  view_catalog, table_catalog: The T-SQL database.
  view_schema: The view's schema.
  view_name: The view.
  table_schema: Schema of what it reads.
  table_name: The table, view or queue that it reads.

information_schema_views: INFORMATION_SCHEMA.VIEWS.
  view_definition: Its T-SQL text where that was kept, else PostgreSQL's.
  check_option: CASCADE: WITH CHECK OPTION, NONE: without.
  is_updatable: Always NO, as in SQL Server.

information_schema_columns: INFORMATION_SCHEMA.COLUMNS: the columns of tables and views.
  column_default: The definition of sys.default_constraints; NULL: there is none.
  is_nullable: YES or NO.
  character_maximum_length: Of text and binary types: how many characters or bytes; -1: (max), xml.
  character_octet_length: Of text and binary types: how many bytes; -1: (max), xml.
  numeric_precision: Of numbers: decimal digits, of float and real binary ones.
  numeric_precision_radix: Of numbers: 10; of float and real 2.
  numeric_scale: Of exact numbers: digits after the point.
  datetime_precision: Of dates and times: digits of the second's fraction.
  character_set_catalog: Of text types: master.
  collation_catalog, collation_schema, character_set_schema: Always NULL, as in SQL Server.
  character_set_name: Of text types: UNICODE or iso_1.
  domain_catalog: Of an alias type: the T-SQL database; NULL for other types.
  domain_schema: Of an alias type: its schema.
  domain_name: The alias type.

information_schema_routines: INFORMATION_SCHEMA.ROUTINES: procedures and functions.
  routine_type: PROCEDURE or FUNCTION.
  module_catalog, module_schema, module_name, udt_catalog, udt_schema, udt_name: Always NULL, as in SQL Server.
  data_type: What a function returns, TABLE of one that returns rows; NULL: a procedure.
  character_maximum_length: Of text and binary types: how many characters or bytes; -1: (max), xml.
  character_octet_length: Of text and binary types: how many bytes; -1: (max), xml.
  collation_catalog, collation_schema, character_set_schema: Always NULL, as in SQL Server.
  character_set_name: Of text types: UNICODE or iso_1.
  numeric_precision: Of numbers: decimal digits, of float and real binary ones.
  numeric_precision_radix: Of numbers: 10; of float and real 2.
  numeric_scale: Of exact numbers: digits after the point.
  datetime_precision: Of dates and times: digits of the second's fraction.
  character_set_catalog, interval_type, interval_precision, type_udt_catalog, type_udt_schema, type_udt_name: Always NULL, as in SQL Server.
  scope_catalog, scope_schema, scope_name, maximum_cardinality, dtd_identifier: Always NULL, as in SQL Server.
  routine_body: Always SQL.
  routine_definition: The first 4000 characters of its T-SQL text where that was kept, else of PostgreSQL's.
  external_name, external_language, parameter_style, sql_path: Always NULL, as in SQL Server.
  is_deterministic: Always NO: nothing here asks whether it is.
  sql_data_access: MODIFIES: a procedure; READS: a function.
  is_null_call: YES: a scalar function that runs with NULL, too; NO: one with RETURNS NULL ON NULL INPUT.
  schema_level_routine: Always YES.
  max_dynamic_result_sets: -1: a procedure; 0: a function.
  is_user_defined_cast, is_implicitly_invocable: Always NO.
  created, last_altered: Always NULL: PostgreSQL does not keep it.

information_schema_parameters: INFORMATION_SCHEMA.PARAMETERS: the parameters of routines.
  parameter_mode: IN, INOUT, or OUT: what a function returns.
  is_result: YES: what a function returns.
  as_locator: Always NO.
  parameter_name: Its name, with the @.
  data_type: Its type; table type: a table-valued parameter.
  character_maximum_length: Of text and binary types: how many characters or bytes; -1: (max), xml.
  character_octet_length: Of text and binary types: how many bytes; -1: (max), xml.
  collation_catalog, collation_schema, character_set_schema: Always NULL, as in SQL Server.
  character_set_name: Of text types: UNICODE or iso_1.
  numeric_precision: Of numbers: decimal digits, of float and real binary ones.
  numeric_precision_radix: Of numbers: 10; of float and real 2.
  numeric_scale: Of exact numbers: digits after the point.
  datetime_precision: Of dates and times: digits of the second's fraction.
  character_set_catalog: Of text types: master.
  interval_type, interval_precision, scope_catalog, scope_schema, scope_name: Always NULL, as in SQL Server.
  user_defined_type_catalog: Of an alias or table type: the T-SQL database; NULL for other types.
  user_defined_type_schema: Of an alias or table type: its schema.
  user_defined_type_name: The alias or table type.

information_schema_schemata: INFORMATION_SCHEMA.SCHEMATA: the schemas.
  schema_name: Its name.
  schema_owner: Name of its owner.

information_schema_sequences: INFORMATION_SCHEMA.SEQUENCES: the sequences.
  sequence_catalog: The T-SQL database.
  sequence_schema: The sequence's schema.
  sequence_name: The sequence.
  data_type: The type of its numbers.
  numeric_precision: How many decimal digits that has.
  numeric_precision_radix: Always 10: the digits are decimal.
  numeric_scale: Digits after the point.
  start_value: The first number.
  minimum_value, maximum_value: Its bounds.
  increment: The step, which may be negative.
  cycle_option: 1: it begins anew at its end.
  declared_data_type, declared_numeric_precision, declared_numeric_scale: Always NULL: no sequence is of an alias type.

information_schema_domains: INFORMATION_SCHEMA.DOMAINS: the alias types, but table types.
  domain_catalog: The T-SQL database.
  domain_schema: The type's schema.
  domain_name: The alias type.
  data_type: The type that it stands for.
  character_maximum_length: Of text and binary types: how many characters or bytes; -1: (max), xml.
  character_octet_length: Of text and binary types: how many bytes; -1: (max), xml.
  collation_catalog, collation_schema, character_set_schema, domain_default: Always NULL, as in SQL Server.
  character_set_catalog: Of text types: master.
  character_set_name: Of text types: UNICODE or iso_1.
  numeric_precision: Of numbers: decimal digits, of float and real binary ones.
  numeric_precision_radix: Of numbers: 10; of float and real 2.
  numeric_scale: Of exact numbers: digits after the point.
  datetime_precision: Of dates and times: digits of the second's fraction.

information_schema_table_constraints: INFORMATION_SCHEMA.TABLE_CONSTRAINTS: keys, UNIQUE and CHECK constraints.
  constraint_type: PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK.
  is_deferrable, initially_deferred: Always NO.

information_schema_table_privileges: INFORMATION_SCHEMA.TABLE_PRIVILEGES: what the user granted on tables and views, and what the user or public was granted.
  grantor: Who granted it.
  grantee: Who was granted it.
  privilege_type: SELECT, INSERT, UPDATE, DELETE or REFERENCES.
  is_grantable: YES: with GRANT OPTION.

information_schema_column_privileges: INFORMATION_SCHEMA.COLUMN_PRIVILEGES: the same, for each column.
  grantor: Who granted it.
  grantee: Who was granted it.
  privilege_type: SELECT, INSERT, UPDATE or REFERENCES.
  is_grantable: YES: with GRANT OPTION.

information_schema_key_column_usage: INFORMATION_SCHEMA.KEY_COLUMN_USAGE: the columns of keys and UNIQUE constraints.
  ordinal_position: Its place in the key, from 1.

information_schema_constraint_column_usage: INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE: the columns of keys, UNIQUE and CHECK constraints; of a foreign key those of its own table.

information_schema_check_constraints: INFORMATION_SCHEMA.CHECK_CONSTRAINTS.
  check_clause: The condition, in PostgreSQL's words.

information_schema_referential_constraints: INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS: the foreign keys.
  unique_constraint_schema: Schema of the foreign key, which stands for that of the key it points to.
  unique_constraint_name: Name of the key that it points to; NULL: an index without a constraint.
  match_option: Always SIMPLE.
  update_rule, delete_rule: NO ACTION, CASCADE, SET NULL or SET DEFAULT.

sysobjects: The objects of sys.objects under the names of SQL Server 2000.
  xtype, type: The type, as in sys.objects.
  uid: Number of its schema.
  parent_obj: Number of the object that it belongs to; 0: none.
  crdate, refdate: When it was created and changed; NULL but for queues.
  info, status, base_schema_ver, replinfo, ftcatid, schema_ver, version, cache: Always 0.
  category: 2: an object of the system; else 0.
  sysstat: 1: system table, 2: view, 3: table, 4: procedure, 6: default; 0: others.

syscolumns: The columns of sys.columns under the names of SQL Server 2000.
  xtype: Number of the system's type.
  xusertype: Number of the type in sys.types.
  colid, colorder: Number of the column.
  length: Length in bytes; -1: (max).
  prec: Decimal digits.
  isnullable: 1: NULL is allowed.
  cdefault: Number of the default; 0: none.
  domain, number, isoutparam: Always 0.
  collation: The collation; NULL for types other than text.
  iscomputed: 1: a computed column.
  status: 128: an IDENTITY column, else 0.

sysindexes: The indexes of sys.indexes under the names of SQL Server 2000.
  indid: Number of the index; 0: the table itself.
  rows, rowcnt: Rows of the table: counted where they are few, else estimated.

sysdatabases: The databases of sys.databases under the names of SQL Server 2000.
  crdate: When it was created.
  sid: The owner: the name, as bytes.
  mode, status, status2, category: Always 0.
  cmptlevel: compatibility_level of sys.databases.
  filename: A file's name, made of the database's. There is no such file.

sysusers: The users and roles of sys.database_principals under the names of SQL Server 2000.
  uid: principal_id of sys.database_principals.
  sid: Its name, as bytes, where sys.database_principals has it.
  createdate, updatedate: When it was created and changed; NULL for what the system brings and PostgreSQL's roles.
  hasdbaccess: 1: a user, 0: a role.
  islogin, issqluser: 1: a user without a certificate.
  issqlrole: 1: a role.
  isapprole: 1: an application role.

syslogins: The logins of sys.server_principals under the names of SQL Server 2000.
  sid: Its name, as bytes.
  loginname: Its name.
  createdate: When it was created; NULL for PostgreSQL's roles.
  dbname: default_database_name of sys.server_principals.
  isntname, sysadmin: Always 0.

systypes: The types of sys.types under the names of SQL Server 2000.
  xtype: Number of the system's type.
  xusertype: Number of the type.
  length: Length in bytes; -1: (max), xml, a table type.
  prec: Decimal digits of a number, or characters of a date.

syscomments: The texts of sys.sql_modules under the names of SQL Server 2000; each is one piece.
  colid, number: Always 1.
  text: The text.

sysreferences: The foreign keys under the names of SQL Server 2000.
  constid: Number of the foreign key.
  fkeyid: Number of the table that has it.
  rkeyid: Number of the table that it points to.

sysforeignkeys < sysreferences: The columns of foreign keys, pair by pair, under the names of SQL Server 2000.
  fkey: Number of the column of the table that has it.
  rkey: Number of the column that it points to.
  keyno: Place of the pair, from 1.

sysmessages: The messages of sys.messages under the names of SQL Server 2000.
  error: message_id of sys.messages.
  severity: Its level.
  dlevel: Always 0.
  description: The text.
  msglangid: language_id of sys.messages.

sysprocesses: The sessions of sys.dm_exec_sessions under the names of SQL Server 2000.
  kpid, waittime: Always 0.
  blocked: The session that it waits for; 0: none.
  lastwaittype: What it waits for, in PostgreSQL's words; empty: nothing.
  last_batch: When its last statement began.
  status: running or sleeping.
  hostname: The client's host, where PostgreSQL looks it up.
  loginame: The role.
  open_tran: 1 in a transaction, 0 outside of one.
  cmd: AWAITING COMMAND; of one that runs (EXECUTE).

spt_values: The numbers 0 to 2047 of master..spt_values, by which scripts count.
  name, low, high: Always NULL.
  number: The number.
  type: Always P.
  status: Always 0.

dm_exec_connections: The connections to this PostgreSQL database.
  connect_time: When it was made.
  net_transport: TCP, or Shared memory for a Unix socket.
  client_net_address: The client's address; NULL for a Unix socket.
  client_tcp_port: The client's port; -1 for a Unix socket.
  most_recent_sql_handle: Handle of its statement, for sys.dm_exec_sql_text.
  last_read, last_write: When it began or ended a statement last.
  most_recent_session_id: The same as session_id.
  protocol_type: Always TSQL.
  protocol_version, num_reads, num_writes, net_packet_size, parent_connection_id: Always NULL: PostgreSQL does not tell.
  endpoint_id: 4: TCP, 2: a Unix socket.
  encrypt_option: TRUE: by TLS; FALSE also where the session is another role's and PostgreSQL does not tell.
  auth_scheme: KERBEROS by GSSAPI, else SQL.
  node_affinity: Always 0.
  local_net_address: The server's address; NULL for a Unix socket and for other sessions than one's own.
  local_tcp_port: The server's port; NULL for a Unix socket.
  connection_id: Its own, made of the process and its beginning.

dm_exec_requests: The statements that run in this PostgreSQL database.
  request_id: Always 0: a session has one at a time.
  start_time: When it began.
  status: running; suspended: it waits.
  command: The first word of the statement, as PostgreSQL has it.
  database_id: The T-SQL database that this session uses, and 5 of others.
  blocking_session_id: The session that it waits for; 0: none.
  wait_time: Since when it has waited, at most: milliseconds since its state changed; 0: it does not wait.
  last_wait_type: What it waits for, in PostgreSQL's words; empty: nothing.
  wait_resource: Always empty: sys.dm_tran_locks tells.
  total_elapsed_time: Milliseconds since it began.
  cpu_time, reads, writes, logical_reads, percent_complete, row_count, estimated_completion_time: Always 0: PostgreSQL does not count that by statement.
  statement_start_offset: Always 0: the statement is the whole text.
  statement_end_offset: Always -1: the statement is the whole text.
  user_id: Number of its role in sys.database_principals.
  connection_id: As in sys.dm_exec_connections.
  open_resultset_count: Always 1.
  granted_query_memory, executing_managed_code, is_resumable: Always 0: there is no such thing.
  scheduler_id, task_address, nest_level, query_hash, query_plan_hash, statement_sql_handle, statement_context_id, dop, parallel_worker_count, external_script_request_id: Always NULL: PostgreSQL does not tell.
  context_info, text_size, language, date_format, date_first, quoted_identifier, arithabort, ansi_null_dflt_on, ansi_defaults, ansi_warnings, ansi_padding, ansi_nulls, concat_null_yields_null, transaction_isolation_level, lock_timeout, deadlock_priority, prev_error, group_id: As in sys.dm_exec_sessions.

dm_tran_session_transactions: The sessions that are in a transaction.
  enlist_count, is_user_transaction, is_local: Always 1.
  open_transaction_count: Always 1: nested ones are the session's affair.
  transaction_descriptor: Always NULL: PostgreSQL does not tell.
  is_enlisted, is_bound: Always 0: there are no distributed transactions.

dm_tran_active_transactions: The transactions that run in this PostgreSQL database.
  name: Always user_transaction.
  transaction_begin_time: When it began.
  transaction_type: Always 1, reads and writes.
  transaction_state: Always 2, active.
  transaction_status, transaction_status2: Always 0.
  dtc_state, dtc_status: Always 0: there are no distributed transactions.
  transaction_uow, dtc_isolation_level, filestream_transaction_id: Always NULL: there are no distributed transactions.

dm_tran_database_transactions: The transactions of sys.dm_tran_active_transactions by database.
  database_id: Always 5: which T-SQL database a session uses is its own affair.
  database_transaction_begin_time: When it began.
  database_transaction_type: Always 1, reads and writes.
  database_transaction_state: Always 4, it has written.
  database_transaction_status, database_transaction_status2: Always 0.
  database_transaction_log_record_count, database_transaction_replicate_record_count, database_transaction_log_bytes_used, database_transaction_log_bytes_reserved, database_transaction_log_bytes_used_system, database_transaction_log_bytes_reserved_system: Always NULL: PostgreSQL does not count that by transaction.
  database_transaction_begin_lsn, database_transaction_last_lsn, database_transaction_most_recent_savepoint_lsn, database_transaction_commit_lsn, database_transaction_last_rollback_lsn, database_transaction_next_undo_lsn: Always NULL: PostgreSQL does not tell.

dm_tran_current_transaction: The session's transaction.
  transaction_id: Its number.

dm_tran_locks: Who holds or awaits which lock. A conversation group that a session holds is a row of METADATA.
  resource_type: OBJECT: table or view, RID: row, APPLICATION: sp_getapplock, METADATA: see the next column; else PostgreSQL's word.
  resource_subtype: CONVERSATION_GROUP of METADATA; else empty.
  resource_database_id: The database of a conversation group; else 5.
  resource_description: $hash of the conversation group; else empty.
  resource_associated_entity_id: Number of the table; 0: none.
  resource_lock_partition, request_lifetime, request_exec_context_id, request_request_id: Always 0.
  request_mode: SQL Server's mode that is nearest to PostgreSQL's: Sch-S, IS, IX, S, U, X, Sch-M.
  request_type: Always LOCK.
  request_status: GRANT or WAIT.
  request_reference_count: Always 1: PostgreSQL does not count.
  request_session_id: The session; NULL: one of several that may have it.
  request_owner_type: Always TRANSACTION.
  request_owner_id, request_owner_guid, request_owner_lockspace_id, lock_owner_address: Always NULL: the session tells.

dm_os_waiting_tasks: The statements that wait, and the daemon's sessions that wait for something to do.
  wait_duration_ms: How long it has waited, at most, in milliseconds.
  resource_description: Always empty.
  exec_context_id, blocking_exec_context_id: 0; NULL: nobody blocks it.
  waiting_task_address, resource_address, blocking_task_address: Always NULL: PostgreSQL has processes.

dm_os_sys_info: The server.
  ms_ticks: Milliseconds since PostgreSQL was started.
  cpu_count, hyperthread_ratio: Always 1: PostgreSQL does not tell.
  cpu_ticks, process_kernel_time_ms, process_user_time_ms: Always NULL: PostgreSQL does not tell.
  physical_memory_kb, virtual_memory_kb, committed_kb, committed_target_kb, visible_target_kb: Always NULL: PostgreSQL does not tell.
  stack_size_in_bytes, os_quantum, os_error_mode, os_priority_class: Always NULL: PostgreSQL does not tell.
  socket_count, cores_per_socket, numa_node_count: Always NULL: PostgreSQL does not tell.
  max_workers_count: How many sessions there may be, max_connections.
  scheduler_count, scheduler_total_count, deadlock_monitor_serial_number: Always NULL: PostgreSQL has no schedulers.
  sqlserver_start_time_ms_ticks: Always 0: ms_ticks counts from there.
  sqlserver_start_time: When PostgreSQL was started.
  affinity_type, affinity_type_desc, process_physical_affinity, softnuma_configuration, softnuma_configuration_desc: Always NULL: the system decides.
  time_source, time_source_desc, sql_memory_model, sql_memory_model_desc: Always NULL: PostgreSQL has one of them only.
  virtual_machine_type, virtual_machine_type_desc, container_type, container_type_desc: Always NULL: PostgreSQL does not tell.

servers: The instance: one row.
  server_id: Always 0.
  name, data_source: @@SERVERNAME.
  product: Always SQL Server.
  provider: Always SQLNCLI.
  is_linked: Always 0: there are no linked servers.

configurations: Some of sp_configure's options, with the values that this instance behaves by. They cannot be changed.
  configuration_id: Its number.
  value, value_in_use: Its value.
  minimum, maximum: Between which values SQL Server allows it.
  description: What it is.
  is_dynamic: Always 1.
  is_advanced: 1: an advanced option.

master_files: One file for each T-SQL database. PostgreSQL has its own; these stand for them.
  file_id: Always 1.
  type: Always 0, ROWS.
  type_desc: Always ROWS.
  name: The database's name.
  physical_name: A path made of the database's name. There is no such file.
  state: Always 0, ONLINE.
  state_desc: Always ONLINE.
  size: Size of the whole PostgreSQL database, in pages of 8 KB.
  max_size: Always -1: as large as the disk.
  growth: Always 0.

database_files < master_files: The row of sys.master_files for the session's T-SQL database.

sysaltfiles: The files of sys.master_files under the names of SQL Server 2000.
  fileid, groupid: Always 1.
  size: Size of the whole PostgreSQL database, in pages of 8 KB.
  maxsize: Always -1: as large as the disk.
  growth, status, perf: Always 0.
  filename: A path made of the database's name. There is no such file.

sysfiles < sysaltfiles: The row of sys.sysaltfiles for the session's T-SQL database.

filegroups: The one filegroup.
  name: Always PRIMARY.
  data_space_id: Always 1.
  type: Always FG.
  type_desc: Always ROWS_FILEGROUP.
  is_default: Always 1.
  is_read_only: Always 0.

data_spaces < filegroups: The one filegroup.

allocation_units: One for each row of sys.partitions.
  allocation_unit_id, container_id: partition_id of sys.partitions.
  type: Always 1, IN_ROW_DATA.
  type_desc: Always IN_ROW_DATA.
  total_pages, used_pages, data_pages: Size in pages of 8 KB.

database_mirroring: One row for each database. None is mirrored.
  mirroring_guid, mirroring_state, mirroring_state_desc, mirroring_role, mirroring_role_desc, mirroring_partner_name: Always NULL.

assemblies: No rows: there are no assemblies.
  assembly_id: Its number.
  clr_name: Its full name.
  permission_set: What its code may do.
  permission_set_desc: The same, in words.
  is_visible: 1: T-SQL may call it.
  is_user_defined: 1: a user made it.

assembly_modules: No rows: there are no assemblies.
  assembly_id: Number of the assembly.
  assembly_class: Its class.
  assembly_method: Its method.

asymmetric_keys: No rows: asymmetric keys cannot be made; certificates can.
  asymmetric_key_id: Its number.
  algorithm_desc: The algorithm, in words.

credentials: No rows: there are no credentials.
  credential_id: Its number.
  credential_identity: The identity that it gives.

linked_logins: No rows: there are no linked servers.
  server_id: Number of the server in sys.servers.
  local_principal_id: Number of the login in sys.server_principals.
  remote_name: Its name there.

server_role_members: No rows: members of roles are PostgreSQL's affair.
  role_principal_id: Number of the role in sys.server_principals.
  member_principal_id: Number of the member in sys.server_principals.

server_permissions: What GRANT and DENY said about the server, logins and endpoints.
  class: What it is about, 100: the server, 101: a login, 105: an endpoint.
  major_id: Number of what it is about; 0: the server.
  minor_id: Always 0.
  grantee_principal_id: Who has it, a number of sys.server_principals.
  grantor_principal_id: Who gave it, a number of sys.server_principals.
  type: The permission, in two or four letters; NULL for one that SQL Server does not have.
  permission_name: The permission, in words.
  state: G: granted, W: granted with grant option, D: denied.

user_token: Who the session is in its T-SQL database now, and the roles that count for it, as IS_MEMBER tells.
  principal_id: Number of the user or role in sys.database_principals.
  sid: As in sys.database_principals.
  type: SQL USER, ROLE or USER MAPPED TO CERTIFICATE.
  usage: What it counts for, GRANT OR DENY: nobody has DENY ONLY here.

login_token: The login of the session now, and the server roles that count for it, as IS_SRVROLEMEMBER tells.
  principal_id: Number of the login or role in sys.server_principals.
  sid: As in sys.server_principals.
  type: SQL LOGIN or SERVER ROLE.
  usage: What it counts for, GRANT OR DENY: nobody has DENY ONLY here.

dm_qn_subscriptions: No rows: there are no query notifications.
  id: Its number.
  sid: Whose it is.
  created: When it was made.
  timeout: After how many seconds it ends.
  status: Its state.

dm_os_wait_stats: No rows: PostgreSQL sums up no waits. sys.dm_os_waiting_tasks shows those of now.
  waiting_tasks_count: How many waits there were.
  wait_time_ms: How long they were together, in milliseconds.
  max_wait_time_ms: How long the longest was, in milliseconds.
  signal_wait_time_ms: How long there was no processor after them, in milliseconds.

dm_exec_session_wait_stats < dm_os_wait_stats: No rows: PostgreSQL sums up no waits.

dm_os_latch_stats: No rows: PostgreSQL sums up no waits for latches.
  latch_class: The kind of latch.
  waiting_requests_count: How many waits there were.
  wait_time_ms: How long they were together, in milliseconds.
  max_wait_time_ms: How long the longest was, in milliseconds.

dm_exec_procedure_stats: No rows: pg_stat_user_functions has such figures.
  type: P: procedure, TR: trigger.
  cached_time: When the plan was made.
  last_execution_time: When it ran last.
  execution_count: How often it ran.
  total_worker_time, last_worker_time, min_worker_time, max_worker_time: Processor time, in microseconds.
  total_elapsed_time, last_elapsed_time, min_elapsed_time, max_elapsed_time: How long it took, in microseconds.
  total_logical_reads, last_logical_reads, min_logical_reads, max_logical_reads: Pages that were read.
  total_logical_writes, last_logical_writes, min_logical_writes, max_logical_writes: Pages that were written.
  total_physical_reads, last_physical_reads, min_physical_reads, max_physical_reads: Pages that were read from the disk.
  total_num_physical_reads, last_num_physical_reads, min_num_physical_reads, max_num_physical_reads: Reads of the disk.
  total_page_server_reads, last_page_server_reads, min_page_server_reads, max_page_server_reads: Pages that another server read.
  total_num_page_server_reads, last_num_page_server_reads, min_num_page_server_reads, max_num_page_server_reads: Reads of another server.
  total_spills, last_spills, min_spills, max_spills: Pages that did not fit into memory.

dm_exec_trigger_stats < dm_exec_procedure_stats: No rows: pg_stat_user_functions has such figures.

dm_exec_query_stats < dm_exec_procedure_stats: No rows: PostgreSQL's extension pg_stat_statements has such figures.
  statement_start_offset, statement_end_offset: Where in the text the statement stands, in bytes.
  plan_generation_num: Number of the plan among those of the statement.
  creation_time: When the plan was made.
  total_clr_time, last_clr_time, min_clr_time, max_clr_time: Time in .NET, in microseconds.
  query_hash, query_plan_hash, statement_sql_handle: What statements or plans have that are alike.
  statement_context_id: Number of the settings that it ran under.
  total_rows, last_rows, min_rows, max_rows: Rows that it gave.
  total_dop, last_dop, min_dop, max_dop: How many worked on it at once.
  total_grant_kb, last_grant_kb, min_grant_kb, max_grant_kb: Memory that it got, in kB.
  total_used_grant_kb, last_used_grant_kb, min_used_grant_kb, max_used_grant_kb: Memory that it used, in kB.
  total_ideal_grant_kb, last_ideal_grant_kb, min_ideal_grant_kb, max_ideal_grant_kb: Memory that it would have liked, in kB.
  total_reserved_threads, last_reserved_threads, min_reserved_threads, max_reserved_threads: Threads kept for it.
  total_used_threads, last_used_threads, min_used_threads, max_used_threads: Threads that it used.
  total_columnstore_segment_reads, last_columnstore_segment_reads, min_columnstore_segment_reads, max_columnstore_segment_reads: Segments of column stores that were read.
  total_columnstore_segment_skips, last_columnstore_segment_skips, min_columnstore_segment_skips, max_columnstore_segment_skips: Segments of column stores that were not read.

dm_exec_cached_plans: No rows: each PostgreSQL session keeps its own plans.
  bucketid, pool_id: Where it is kept.
  refcounts: How many use it.
  usecounts: How often it was used.
  size_in_bytes: Its size.
  memory_object_address: Where it lies.
  cacheobjtype, objtype: What kind it is.

dm_db_index_usage_stats: No rows: pg_stat_user_indexes has such figures.
  user_seeks: How often a key was looked up.
  user_scans: How often it was read through.
  user_lookups: How often the row was fetched.
  user_updates: How often it was changed.
  last_user_seek, last_user_scan, last_user_lookup, last_user_update: When it was so last.
  system_seeks, system_scans, system_lookups, system_updates: How often the system did so.
  last_system_seek, last_system_scan, last_system_lookup, last_system_update: When the system did so last.

dm_db_missing_index_details: No rows: PostgreSQL suggests no indexes.
  index_handle: Number of the suggestion.
  equality_columns, inequality_columns, included_columns: Columns of the suggested index.
  statement: The table.

dm_db_missing_index_groups: No rows: PostgreSQL suggests no indexes.
  index_group_handle: Number of the group.
  index_handle: Number of the suggestion.

dm_db_missing_index_group_stats: No rows: PostgreSQL suggests no indexes.
  group_handle: Number of the group.
  unique_compiles: How many statements would have it.
  user_seeks, user_scans: How often it would have been used.
  last_user_seek: When it would have been used last.
  avg_total_user_cost: What those statements cost.
  avg_user_impact: By how many percent that would fall.

dm_db_session_space_usage: No rows: PostgreSQL does not count temporary space by session.
  user_objects_alloc_page_count, internal_objects_alloc_page_count: Pages that were taken.
  user_objects_dealloc_page_count, internal_objects_dealloc_page_count: Pages that were given back.

dm_db_task_space_usage < dm_db_session_space_usage: No rows: PostgreSQL does not count temporary space by statement.
  task_address: The task.
  request_id, exec_context_id: Number of the statement and of its part.

dm_db_file_space_usage: No rows: PostgreSQL does not count space by file.
  file_id: Number of the file.
  total_page_count, allocated_extent_page_count, unallocated_extent_page_count, mixed_extent_page_count: Pages of the file.
  version_store_reserved_page_count, user_object_reserved_page_count, internal_object_reserved_page_count: Pages by what they are for.

dm_tran_version_store_space_usage: No rows: PostgreSQL keeps old versions of rows in the tables.
  reserved_page_count: Pages.
  reserved_space_kb: Kilobytes.

dm_tran_active_snapshot_database_transactions: No rows: every transaction of PostgreSQL has a snapshot.
  transaction_sequence_num, commit_sequence_num: Its place in the order of versions.
  is_snapshot: 1: SNAPSHOT isolation.
  elapsed_time_seconds: How long it has run.

dm_os_schedulers: No rows: PostgreSQL has no schedulers.
  scheduler_address: Where it lies.
  parent_node_id, scheduler_id, cpu_id: Numbers of node, scheduler and processor.
  status: Its state.
  is_online, is_idle: Whether it works.
  current_tasks_count, runnable_tasks_count, current_workers_count, active_workers_count, work_queue_count, pending_disk_io_count: What it has to do.
  load_factor: How much that is.

dm_os_tasks: No rows: PostgreSQL has processes. sys.dm_exec_requests shows what they do.
  task_address, worker_address: Where it lies.
  task_state: Its state.
  exec_context_id, request_id, scheduler_id: Numbers of its part, statement and scheduler.
  context_switches_count: How often it gave the processor away.

dm_os_workers: No rows: PostgreSQL has processes.
  worker_address, task_address, thread_address, scheduler_address: Where it and its kin lie.
  status: Its state, as bits.
  state: Its state, in words.

dm_os_threads: No rows: PostgreSQL has processes.
  thread_address, worker_address, scheduler_address: Where it and its kin lie.
  started_by_sqlservr: 1: the server started it.
  os_thread_id: Its number in the operating system.
  status: Its state, as bits.

dm_os_memory_clerks: No rows: pg_backend_memory_contexts shows a session's memory.
  memory_clerk_address: Where it lies.
  type: What it is for.
  memory_node_id: Number of the node.
  pages_kb, virtual_memory_reserved_kb, virtual_memory_committed_kb: Kilobytes.

dm_os_buffer_descriptors: No rows: PostgreSQL's extension pg_buffercache shows buffers.
  file_id, page_id, page_level, allocation_unit_id: Which page it is.
  page_type: What kind of page.
  row_count: Rows on it.
  free_space_in_bytes: Free bytes on it.
  is_modified: 1: it has to be written.

dm_os_process_memory: No rows: PostgreSQL does not tell.
  physical_memory_in_use_kb: Kilobytes in use.
  memory_utilization_percentage: How much of it is in memory.
  page_fault_count: Page faults.
  process_physical_memory_low: 1: it lacks memory.

dm_os_sys_memory: No rows: PostgreSQL does not tell.
  total_physical_memory_kb, available_physical_memory_kb: Kilobytes of the machine.
  system_memory_state_desc: Whether that is enough.

dm_os_ring_buffers: No rows: PostgreSQL has a log instead.
  ring_buffer_address: Where it lies.
  ring_buffer_type: What it records.
  timestamp: When, in milliseconds since the start.
  record: What was recorded.

dm_os_host_info: No rows: PostgreSQL does not tell.
  host_platform, host_distribution, host_release, host_service_pack_level: The operating system.

dm_server_services: No rows: PostgreSQL does not tell.
  servicename: The service of the operating system.
  startup_type: How it starts.
  startup_type_desc: How it starts, in words.
  status: Its state.
  status_desc: The state, in words.
  process_id: Its process.
  last_startup_time: When it was started.
  service_account: As whom it runs.

dm_xe_sessions: No rows: there are no extended events.
  address: Where it lies.
  pending_buffers, total_regular_buffers: Its buffers.
  create_time: When it was made.

dm_hadr_database_replica_states: No rows: there are no availability groups. pg_stat_replication shows PostgreSQL's replicas.
  group_id, replica_id, group_database_id: The group, the replica, and the database in the group.
  is_local: 1: this instance.
  is_primary_replica: 1: the primary.
  synchronization_state: Its state.
  synchronization_state_desc: The state, in words.
  synchronization_health_desc: Whether that is well, in words.
  log_send_queue_size, redo_queue_size: Kilobytes that are still to be sent, and to be applied.

dm_hadr_availability_replica_states: No rows: there are no availability groups.
  replica_id, group_id: The replica and the group.
  is_local: 1: this instance.
  role: What it is.
  role_desc: What it is, in words.
  operational_state_desc, connected_state_desc, synchronization_health_desc: Its state, in words.

availability_groups: No rows: there are no availability groups.
  group_id: The group.
  resource_id: What the cluster calls it.
  failure_condition_level: Which faults count.
  health_check_timeout: After how many milliseconds without an answer.

availability_replicas: No rows: there are no availability groups.
  replica_id, group_id: The replica and the group.
  replica_server_name: Its server.
  owner_sid: Whose it is.
  endpoint_url: Its address.
  availability_mode: Whether commits wait for it.

dm_io_pending_io_requests: No rows: PostgreSQL does not tell.
  io_completion_request_address, io_handle: The request and its file.
  io_type: What kind it is.
  io_pending: 1: the operating system has it.
  io_pending_ms_ticks: How long it has waited, in milliseconds.

sql_dependencies: No rows: pg_depend knows what depends on what.
  class: What kind of dependency.
  referenced_major_id, referenced_minor_id: What it depends on.
  is_selected, is_updated, is_select_all: How it is used.

sql_expression_dependencies: No rows: pg_depend knows what depends on what.
  referencing_id, referencing_minor_id, referencing_class: What depends.
  referencing_class_desc, referenced_class_desc: The class, in words.
  is_schema_bound_reference: 1: WITH SCHEMABINDING.
  referenced_class, referenced_id, referenced_minor_id: What it depends on.
  referenced_server_name, referenced_database_name, referenced_schema_name, referenced_entity_name: The name of what it depends on, part by part.
  is_caller_dependent, is_ambiguous: 1: it shows only when it runs.

sysdepends: No rows: pg_depend knows what depends on what.
  depid, number, depnumber, depdbid, depsiteid: What it depends on.
  status, deptype: What kind of dependency.
  selall, resultobj, readobj: How it is used.

partition_functions: No rows: there are no partition functions.
  function_id: Its number.
  type: What kind it is.
  fanout: How many partitions it makes.
  boundary_value_on_right: 1: RANGE RIGHT.
  is_system: 1: the system's.

partition_schemes: No rows: there are no partition schemes.
  data_space_id: Its number.
  type: What kind it is.
  is_system: 1: the system's.
  function_id: Number of the partition function.

partition_range_values: No rows: there are no partition functions.
  function_id, boundary_id, parameter_id: The function, and which of its boundaries.
  value: The boundary.

partition_parameters: No rows: there are no partition functions.
  function_id, parameter_id: The function, and which of its parameters.

destination_data_spaces: No rows: there are no partition schemes.
  partition_scheme_id: Number of the scheme.
  destination_id: Number of the partition.

fulltext_catalogs: No rows: there is no full-text search of SQL Server's kind.
  fulltext_catalog_id: Its number.
  path: Where it lies.
  is_accent_sensitivity_on: 1: accents count.

fulltext_indexes: No rows: there is no full-text search of SQL Server's kind.
  unique_index_id: Number of the key's index.
  fulltext_catalog_id: Number of the catalog.
  is_enabled: 1: it is used.
  change_tracking_state: How it follows changes.

fulltext_index_columns: No rows: there is no full-text search of SQL Server's kind.
  type_column_id: Number of the column with the kind of document.
  language_id: Its language.
  statistical_semantics: 1: with semantics.

traces: No rows: there are no traces.
  id: Its number.
  status: 1: it runs.
  path: Its file.
  max_size: How large that may get, in megabytes.
  is_default: 1: the default trace.
  event_count: How much it has recorded.

crypt_properties: No rows: modules are not signed.
  class: What is signed.
  major_id: Number of what is signed.
  thumbprint: SHA-1 of the key.
  crypt_type: What kind of signature.
  crypt_type_desc: The same, in words.
  crypt_property: The signature.

numbered_procedures: No rows: procedures have no numbers.
  procedure_number: Its number.

plan_guides: No rows: PostgreSQL takes no hints.
  plan_guide_id: Its number.
  is_disabled: 1: it is not used.
  query_text: The statement that it is for.

change_tracking_tables: No rows: there is no change tracking.
  is_track_columns_updated_on: 1: by column.
  min_valid_version, begin_version, cleanup_version: From which version on changes are known.

change_tracking_databases: No rows: there is no change tracking.
  is_auto_cleanup_on: 1: what is old goes by itself.
  retention_period: How long it is kept.
  retention_period_units: In what that is measured.
  retention_period_units_desc: The same, in words.

server_audits: No rows: there are no audits.
  audit_id: Its number.
  audit_guid: Its identifier.
  type: Where it writes.
  is_state_enabled: 1: it records.

server_audit_specifications: No rows: there are no audits.
  server_specification_id: Its number.
  modified_date: When it was changed last.
  is_state_enabled: 1: it records.
  audit_guid: The audit that it belongs to.

database_audit_specifications: No rows: there are no audits.
  database_specification_id: Its number.
  modified_date: When it was changed last.
  is_state_enabled: 1: it records.
  audit_guid: The audit that it belongs to.

server_event_sessions: No rows: there are no extended events.
  event_session_id: Its number.
  event_retention_mode, event_retention_mode_desc: How many events may be lost.
  max_dispatch_latency: How long events wait, in milliseconds.
  max_memory, max_event_size: Memory for them, and for a large one.
  memory_partition_mode, memory_partition_mode_desc: Where that memory is.
  track_causality: 1: events say what they follow from.
  startup_state: 1: it starts with the server.

resource_governor_resource_pools: No rows: there are no resource pools.
  pool_id: Its number.
  min_cpu_percent, max_cpu_percent, cap_cpu_percent: Its part of the processors.
  min_memory_percent, max_memory_percent: Its part of the memory.
  min_iops_per_volume, max_iops_per_volume: Reads and writes in a second.

resource_governor_workload_groups: No rows: there are no workload groups.
  group_id: Its number.
  importance: LOW, MEDIUM or HIGH.
  request_max_memory_grant_percent, request_max_cpu_time_sec, request_memory_grant_timeout_sec: Limits of a statement.
  max_dop: Processors for a statement.
  group_max_requests: Statements at a time.
  pool_id, external_pool_id: Numbers of the pools that it uses.

database_scoped_credentials: No rows: there are no credentials.
  credential_id: Its number.
  credential_identity: Who it stands for.
  target_type, target_id: What it is for.

database_mirroring_endpoints < endpoints: No rows: an endpoint FOR DATABASE_MIRRORING cannot be made.
  role, role_desc: What the instance is in mirroring.
  is_encryption_enabled: 1: connections are encrypted.
  connection_auth, connection_auth_desc: How connections authenticate themselves.
  certificate_id: Number of the certificate.
  encryption_algorithm, encryption_algorithm_desc: How connections are encrypted.

xml_indexes: No rows: there are no XML indexes.
  type: What kind it is.
  using_xml_index_id: Number of the primary one.
  secondary_type: What a secondary one is for.

hash_indexes: No rows: there are no memory-optimized tables.
  bucket_count: How many buckets it has.

external_tables: No rows: PostgreSQL's foreign tables are tables here.
  data_source_id: Number of the data source.

external_data_sources: No rows: there are none of SQL Server's kind.
  data_source_id: Its number.
  location: Its address.

query_store_query: No rows: there is no query store.
  query_id, query_text_id: Numbers of the statement and of its text.
  query_hash: Equal for statements that are alike.
  count_compiles: How often it was compiled.
  last_execution_time: When it ran last.

query_store_plan: No rows: there is no query store.
  plan_id, query_id: Numbers of the plan and of its statement.
  query_plan: The plan.
  is_forced_plan: 1: no other is taken.
  last_execution_time: When it ran last.

query_store_runtime_stats: No rows: there is no query store.
  runtime_stats_id, plan_id: Its number, and the plan's.
  count_executions: How often it ran.
  avg_duration, last_duration, avg_cpu_time: How long it took, in microseconds.

query_store_query_text: No rows: there is no query store.
  query_text_id: Its number.
  query_sql_text: The statement.

database_scoped_configurations: No rows: there are none of SQL Server's options by database.
  configuration_id: Its number.
  value, value_for_secondary: Its value, on the primary and on others.

security_policies: No rows: PostgreSQL's row security policies are not shown here.
  is_enabled: 1: it is applied.
  is_schema_bound: 1: WITH SCHEMABINDING.

security_predicates: No rows: PostgreSQL's row security policies are not shown here.
  security_predicate_id: Its number in the policy.
  target_object_id: Number of the table.
  predicate_definition: The condition.
$words$); END $$;

COMMENT ON DOMAIN sys.bit IS 'bit: 0 or 1.';
COMMENT ON DOMAIN sys.xml IS 'xml: a document or a fragment, in the form in which SQL Server would write it.';

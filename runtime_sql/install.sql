-- Contents of the runtime. The installer (installer.py) applies these files in this order, in one transaction, between
-- statements of its own: bodies of functions are not checked meanwhile, as they call what comes later.
-- `pgsb install --parts broker` leaves out what stands between "begin" and "end".

-- Schemas, version, types, errors
\ir schema/schemas.sql
\ir schema/runtime_version.sql
\ir schema/types.sql
\ir schema/errors.sql
\ir schema/nvarchar.sql
\ir schema/session.sql

-- Tables
\ir schema/databases.sql
\ir schema/definitions.sql
\ir schema/keys.sql
\ir schema/conversations.sql
\ir schema/messages.sql
\ir schema/system_definitions.sql
\ir schema/activity.sql
\ir schema/translations.sql
\ir schema/remote_conversations.sql
\ir schema/dialog_paths.sql
\ir schema/locks.sql

-- Definitions
\ir names/spelling.sql
\ir definitions/names.sql
\ir definitions/check_permissions.sql
\ir definitions/message_types.sql
\ir definitions/contracts.sql
\ir definitions/queues.sql
\ir definitions/services.sql
\ir definitions/routes.sql
\ir definitions/broker_priorities.sql
\ir definitions/endpoints.sql
\ir definitions/event_notifications.sql
\ir definitions/databases.sql
\ir definitions/principals.sql
\ir definitions/follow_owner.sql
\ir definitions/identity_columns.sql
\ir definitions/permissions.sql

-- Certificates and master keys
\ir security/ask_client.sql
\ir security/master_keys.sql
\ir security/service_master_key.sql
\ir security/certificates.sql

\ir definitions/statements.sql

-- What sessions of compiled scripts tell their client
\ir session/messages.sql
\ir session/result_sets.sql

-- T-SQL's names
\ir names/tsql_names.sql
\ir names/default_names.sql
\ir names/synonyms.sql
\ir names/renaming.sql
\ir names/dynamic_names.sql

-- Errors: what PostgreSQL's become, and what they do to a session
\ir errors/names_in_messages.sql
\ir errors/foreign_keys.sql
\ir errors/constraints.sql
\ir errors/values.sql
\ir errors/queries.sql
\ir errors/missing_objects.sql
\ir errors/objects.sql
\ir errors/permissions.sql
\ir errors/server.sql
\ir errors/native_errors.sql
\ir errors/handling.sql

-- Batches and transactions
\ir session/outlives_rollback.sql
\ir session/transactions.sql
\ir session/batches.sql
\ir session/waitfor.sql
\ir session/temporary_tables.sql
\ir session/execute_as.sql
\ir session/runtime_compiled_sql.sql
\ir session/open_batches.sql

-- Modules: procedures, functions, triggers, views
\ir modules/update_notes.sql
\ir modules/alterations.sql
\ir modules/column_binding.sql
\ir modules/prepare.sql
\ir modules/drop.sql
\ir modules/triggers.sql
\ir modules/view_bindings.sql
\ir modules/sources.sql
\ir modules/definers.sql
\ir modules/arguments.sql
\ir modules/trampolines.sql
\ir modules/execute.sql
\ir modules/running_triggers.sql
\ir modules/nesting.sql

-- What queues need of tables
\ir statements/constraints_off.sql
\ir statements/system_versioning.sql

-- Conversations
\ir conversations/find_messages.sql
\ir conversations/low_water.sql
\ir conversations/endpoints.sql
\ir conversations/begin_dialog.sql
\ir conversations/deliver.sql
\ir conversations/send_retained.sql
\ir conversations/send.sql
\ir conversations/receive_wanted.sql
\ir conversations/receive_slow_path.sql
\ir conversations/receive_by_snapshot.sql
\ir conversations/receive.sql
\ir conversations/end_conversation.sql
\ir conversations/conversation_groups.sql
\ir conversations/end_conversations.sql
\ir conversations/purge_messages.sql
\ir conversations/message_traces.sql
\ir conversations/wait_for_message.sql
\ir conversations/send_sets.sql
\ir conversations/send_new.sql
\ir conversations/end_dialogs.sql
\ir conversations/dialog_fast_path.sql
\ir conversations/poison_messages.sql
\ir conversations/attempts.sql
\ir transport/departures.sql
\ir transport/remote_routing.sql
\ir transport/dialog_security.sql
\ir transport/configuration_notices.sql
\ir transport/fragments.sql
\ir transport/outgoing.sql
\ir transport/settle_sets.sql
\ir transport/outgoing_sets.sql
\ir transport/forwarding.sql
\ir transport/transport_security.sql
\ir transport/incoming.sql
\ir transport/incoming_sets.sql
\ir conversations/rotate_messages.sql

-- What falls due
\ir conversations/deliver_due.sql

-- Catalog views of the broker
\ir catalog_views/databases.sql
\ir catalog_views/keys.sql
\ir catalog_views/objects.sql
\ir catalog_views/broker_definitions.sql
\ir catalog_views/conversations.sql
\ir catalog_views/activity.sql
\ir catalog_views/storage.sql
\ir catalog_views/event_types.sql

-- Texts of errors
\ir functions/text/formatmessage.sql
\ir functions/text/messages.sql

-- XML text: whether a message is well formed
\ir xml/text/characters.sql
\ir xml/text/errors.sql
\ir xml/text/scan.sql
\ir xml/text/read.sql
\ir xml/text/canonical.sql
\ir xml/text/node_index.sql
\ir xml/text/decode.sql
\ir xml/text/write.sql

-- The activation daemon's part
\ir activation/broker_state.sql
\ir activation/broker_queues.sql
\ir activation/broker_sweep.sql
\ir activation/quarantine.sql
\ir activation/quarantine_filters.sql
\ir activation/recycled_dialogs.sql
\ir activation/definition_events.sql
\ir activation/ddl_triggers.sql

-- Bulk claims
\ir bulk/claimed_front.sql
\ir bulk/claims.sql
\ir bulk/claim_messages.sql
\ir bulk/read_claims.sql
\ir bulk/streams.sql
\ir bulk/answer_claim.sql
\ir bulk/truncate_claimed.sql
\ir bulk/complete_claims.sql
\ir bulk/bulk_schemas.sql

-- Measures for operators
\ir measures/samples.sql
\ir measures/queue_status.sql
\ir measures/conversation_timeline.sql
\ir measures/conversations.sql
\ir measures/transport.sql
\ir measures/log.sql
\ir measures/performance_counters.sql

-- Checks for operators
\ir checks/kinds.sql
\ir checks/stalls.sql
\ir checks/runtime.sql
\ir checks/instance.sql
\ir checks/daemon.sql
\ir checks/queues.sql
\ir checks/conversations.sql
\ir checks/transport.sql
\ir checks/dialog.sql
\ir checks/diagnose.sql
\ir checks/troubles.sql

-- begin part tsql: the T-SQL language beyond the broker's statements

-- XML schema collections
\ir definitions/xml_schema_collections.sql

-- Cursors, INSERT … EXEC
\ir session/captured_rows.sql
\ir session/cursors.sql

-- Checks on table variables, IGNORE_DUP_KEY, AVG, rowversion
\ir statements/triggers.sql
\ir statements/merge.sql
\ir statements/recursion.sql
\ir statements/table_variables.sql
\ir statements/key_locks.sql
\ir statements/ignore_dup_key.sql
\ir statements/average.sql
\ir statements/rowversion.sql
\ir statements/insert_columns.sql
\ir session/kept_cursors.sql

-- T-SQL built-in functions
\ir functions/conversion/choice.sql
\ir functions/conversion/read_numbers.sql
\ir functions/conversion/convert_integers.sql
\ir functions/conversion/convert_decimals.sql
\ir functions/conversion/read_dates.sql
\ir functions/conversion/convert_dates.sql
\ir functions/conversion/date_text.sql
\ir functions/conversion/convert_varchar.sql
\ir functions/conversion/convert_varbinary.sql
\ir functions/conversion/derived.sql
\ir functions/conversion/nvarchar_to_varbinary.sql
\ir functions/conversion/parse.sql
\ir functions/text/strings.sql
\ir functions/text/patterns.sql
\ir functions/text/format.sql
\ir functions/text/hashes.sql
\ir functions/numbers/percentiles.sql
\ir functions/numbers/present_values.sql
\ir functions/numbers/numbers.sql
\ir functions/numbers/operators.sql
\ir functions/numbers/bits.sql
\ir functions/dates/date_arithmetic.sql
\ir functions/dates/clock.sql
\ir functions/dates/date_construction.sql
\ir functions/dates/time_zones.sql
\ir functions/json/json.sql
\ir functions/metadata/session_functions.sql
\ir functions/metadata/objects.sql
\ir functions/metadata/properties.sql
\ir functions/metadata/identity.sql
\ir security/certificate_functions.sql

-- Catalog views that need those functions
\ir catalog_views/table_parts.sql
\ir catalog_views/information_schema.sql
\ir catalog_views/compatibility_views.sql
\ir catalog_views/sessions.sql
\ir catalog_views/absent_views.sql
\ir catalog_views/further_properties.sql

-- XML: methods, XQuery, schemas
\ir for_clauses/for_xml.sql
\ir for_clauses/for_json.sql
\ir for_clauses/for_xml_explicit.sql
\ir xml/xquery/static.sql
\ir xml/xquery/parse_expressions.sql
\ir xml/xquery/parse_paths.sql
\ir xml/xquery/parse_primary.sql
\ir xml/xquery/parse_constructors.sql
\ir xml/xquery/parse_modification.sql
\ir xml/xquery/paths.sql
\ir xml/xquery/values.sql
\ir xml/xquery/functions.sql
\ir xml/xquery/construct.sql
\ir xml/xquery/methods.sql
\ir xml/xquery/modify.sql
\ir xml/schema/tree.sql
\ir xml/schema/simple_types.sql
\ir xml/schema/values.sql
\ir xml/schema/complex_types.sql
\ir xml/schema/automaton.sql
\ir xml/schema/compile.sql
\ir xml/schema/validate.sql
\ir xml/schema/typed_xml.sql

-- end part tsql

-- Grants and comments
\ir schema/replica_identity.sql
\ir grants.sql
\ir comments/describe.sql
\ir comments/ssb.sql
\ir comments/sys_views.sql
\ir comments/sys_functions.sql

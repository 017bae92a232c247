-- Contents of the runtime. The installer applies these files in this order;
-- so does psql -f install.sql (in one transaction: psql -1).

-- Schemas, version, types, errors
\ir 010_schemas.sql
\ir 011_runtime_version.sql
\ir 012_types.sql
\ir 015_errors.sql
\ir 020_session.sql

-- Tables
\ir 030_databases.sql
\ir 031_definitions.sql
\ir 032_conversations.sql
\ir 033_messages.sql
\ir 034_system_definitions.sql
\ir 035_activity.sql
\ir 036_translations.sql
\ir 037_remote_conversations.sql

-- Definitions
\ir 100_names.sql
\ir 101_permissions.sql
\ir 102_message_types.sql
\ir 103_contracts.sql
\ir 104_queues.sql
\ir 105_services.sql
\ir 106_routes.sql
\ir 107_broker_priorities.sql
\ir 108_endpoints.sql
\ir 109_event_notifications.sql
\ir 110_databases.sql
\ir 111_principals.sql
\ir 112_permissions.sql
\ir 113_xml_schema_collections.sql

-- Sessions of compiled scripts: messages, errors, transactions, calls
\ir 120_messages.sql
\ir 121_result_sets.sql
\ir 122_native_errors.sql
\ir 123_errors.sql
\ir 124_transactions.sql
\ir 125_batches.sql
\ir 126_waitfor.sql
\ir 127_modules.sql
\ir 128_execute.sql
\ir 129_cursors.sql

-- Checks on table variables, IGNORE_DUP_KEY, AVG, rowversion, nesting
\ir 130_triggers.sql
\ir 131_merge.sql
\ir 133_default_names.sql
\ir 134_constraints_off.sql
\ir 135_table_variables.sql
\ir 136_ignore_dup_key.sql
\ir 137_average.sql
\ir 138_rowversion.sql
\ir 139_nesting.sql
\ir 140_late_text.sql
\ir 141_system_versioning.sql
\ir 142_kept_cursors.sql

-- Conversations
\ir 147_find_messages.sql
\ir 148_low_water.sql
\ir 149_endpoints.sql
\ir 150_begin_dialog.sql
\ir 151_deliver.sql
\ir 152_send.sql
\ir 153_receive.sql
\ir 154_end_conversation.sql
\ir 155_conversation_groups.sql
\ir 156_end_conversations.sql
\ir 157_wait_for_message.sql
\ir 158_send_sets.sql
\ir 159_usual_dialogs.sql
\ir 160_poison_messages.sql
\ir 161_attempts.sql
\ir 170_routes_away.sql
\ir 171_transport_out.sql
\ir 172_transport_in.sql
\ir 180_rotate_messages.sql

-- What falls due
\ir 210_deliver_due.sql

-- Catalog views
\ir 300_databases.sql
\ir 301_objects.sql
\ir 310_broker_definitions.sql
\ir 320_conversations.sql
\ir 330_activity.sql
\ir 331_storage.sql

-- T-SQL built-in functions
\ir 401_choice.sql
\ir 410_read_numbers.sql
\ir 411_convert_integers.sql
\ir 412_convert_decimals.sql
\ir 413_read_dates.sql
\ir 414_convert_dates.sql
\ir 415_date_text.sql
\ir 416_convert_varchar.sql
\ir 417_convert_varbinary.sql
\ir 419_parse.sql
\ir 430_strings.sql
\ir 431_patterns.sql
\ir 432_format.sql
\ir 433_formatmessage.sql
\ir 434_hashes.sql
\ir 435_messages.sql
\ir 436_percentiles.sql
\ir 437_present_values.sql
\ir 440_numbers.sql
\ir 441_operators.sql
\ir 442_bits.sql
\ir 450_date_arithmetic.sql
\ir 451_clock.sql
\ir 452_date_construction.sql
\ir 453_time_zones.sql
\ir 460_json.sql
\ir 470_session_functions.sql
\ir 471_objects.sql
\ir 472_properties.sql
\ir 473_identity.sql

-- Catalog views that need those functions
\ir 480_table_parts.sql
\ir 481_information_schema.sql
\ir 482_compatibility_views.sql
\ir 483_sessions.sql
\ir 484_absent_views.sql
\ir 485_further_properties.sql

-- XML
\ir 505_xml_characters.sql
\ir 506_xml_errors.sql
\ir 510_xml_scan.sql
\ir 511_xml_read.sql
\ir 512_xml_usual.sql
\ir 513_xml_index.sql
\ir 515_xml_decode.sql
\ir 520_xml_of.sql
\ir 530_for_xml.sql
\ir 531_for_json.sql
\ir 532_for_xml_explicit.sql
\ir 540_xq_static.sql
\ir 541_xq_expressions.sql
\ir 542_xq_paths.sql
\ir 543_xq_primary.sql
\ir 544_xq_constructors.sql
\ir 545_xq_modification.sql
\ir 550_xq_paths.sql
\ir 551_xq_values.sql
\ir 552_xq_functions.sql
\ir 553_xq_construct.sql
\ir 555_xml_methods.sql
\ir 556_xml_modify.sql
\ir 560_xsd_tree.sql
\ir 561_xsd_simple_types.sql
\ir 562_xsd_values.sql
\ir 563_xsd_complex_types.sql
\ir 564_xsd_automaton.sql
\ir 565_xsd_compile.sql
\ir 566_xsd_validate.sql
\ir 567_typed_xml.sql

-- The activation daemon's part
\ir 600_broker_state.sql
\ir 610_broker_queues.sql
\ir 620_broker_sweep.sql
\ir 630_quarantine.sql
\ir 640_recycled_dialogs.sql
\ir 650_definition_events.sql

-- Bulk claims
\ir 700_claims.sql
\ir 710_complete_claims.sql
\ir 720_bulk_schemas.sql

-- Grants
\ir 900_grants.sql

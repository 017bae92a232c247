-- What \df+ ssb.*, \dv+ ssb.*, \dT+ ssb.* and \d+ show: one sentence for everything in ssb that users call or read.
-- A routine's overloads share one. What stands in ssb without a line here fails tests/runtime/test_api.py:
-- give it one, and a signature in docs/api.md, or put it into ssb_internal.
DO $$
DECLARE
    v_routine record;
    v_column record;
BEGIN
    FOR v_routine IN
        SELECT p.oid::regprocedure AS name, c.comment
          FROM (VALUES
            -- Conversations
            ('begin_dialog', 'BEGIN DIALOG: begins a conversation between two services and returns its handle. Nothing is sent yet.'),
            ('send', 'SEND: appends a message to the far side''s queue. Text is stored as nvarchar is: UTF-8, or UTF-16 where that was chosen.'),
            ('send_many', 'SEND ON CONVERSATION (a, b, …): the same message on several conversations, on all of them or on none.'),
            ('send_batch', 'Sends a set of messages, one for each element of the arrays, and returns how many. All or none.'),
            ('receive', 'RECEIVE: takes the next messages of one conversation group off the queue, in order, and locks the group until the transaction ends.'),
            ('get_conversation_group', 'GET CONVERSATION GROUP: locks the group whose message is next and returns its id; NULL when nothing is there.'),
            ('end_conversation', 'END CONVERSATION, also WITH ERROR and WITH CLEANUP.'),
            ('end_conversations', 'END CONVERSATION of many handles as a set; returns how many were ended.'),
            ('move_conversation', 'MOVE CONVERSATION: puts a conversation into another group.'),
            ('begin_conversation_timer', 'BEGIN CONVERSATION TIMER: a DialogTimer message comes to this side''s queue after so many seconds; 0 or NULL: none.'),
            ('get_transmission_status', 'GET_TRANSMISSION_STATUS: why a conversation''s first unsent message waits; empty when none does.'),
            ('message_is_waiting', 'Whether RECEIVE with these arguments might find a message. It may be gone by then.'),
            ('wait_for_message', 'WAITFOR (RECEIVE …): returns when a message may be there, when the queue stops being readable, or at the deadline.'),
            ('send_new', 'BEGIN DIALOG and its first SEND in one; returns the handle.'),
            ('receive_and_end', 'RECEIVE, and END CONVERSATION of what was received from; a conversation with messages left is not ended.'),
            ('end_finished', 'Ends up to max conversations whose far sides have ended, as a set; returns how many. Errors are left unless asked for.'),
            ('end_finished_dialogs', 'Service program of a queue of one-way senders: end_finished until nothing is left.'),
            ('send_recycled', 'Sends on the dialog that the key keeps, and changes it for a new one after max_age or max_messages. Returns its handle.'),
            ('end_recycled_dialogs', 'Service program of the initiator''s queue for send_recycled: ends and closes its dialogs.'),
            ('watch_queue', 'Tells whether a listener of the channel ssb_arrival sleeps: then the queue''s next message is announced by NOTIFY.'),
            -- Bodies
            ('nvarchar_encoding', 'The bytes of nvarchar in this instance: utf8, or utf16 after pgsb install --nvarchar utf16.'),
            ('nvarchar_bytes', 'A text as SEND of an nvarchar puts it into a body.'),
            ('nvarchar_text', 'The text of such a body. A byte order mark in front goes.'),
            -- Upkeep
            ('deliver_due', 'Brings about what is due: timers, lifetimes, waiting messages. Returns when the next thing falls due.'),
            ('tidy_up', 'One step of whatever gives space back; returns what it did.'),
            ('tidy', 'All steps of tidy_up, if it is time for them.'),
            ('rotate_messages', 'Changes over between the two message tables and truncates the drained one; returns what it did.'),
            -- Quarantine
            ('resubmit_quarantined', 'Lets a group that was set aside be received again; returns how many messages it has.'),
            ('drop_quarantined', 'Deletes the messages of a group that was set aside; returns how many.'),
            ('set_aside', 'Sets a conversation group aside by hand, as QUARANTINE = ON does: false where somebody has it or nothing waits.'),
            ('fail_quarantined', 'Ends the conversation of a group that was set aside with an error, which the other side receives.'),
            ('resubmit_all_quarantined', 'resubmit_quarantined of every group that the filters choose.'),
            ('drop_all_quarantined', 'drop_quarantined of every group that the filters choose.'),
            ('set_trace_context', 'What this session sends carries this W3C traceparent, and what it receives continues its own.'),
            ('trace_message', 'Gives the message that this session has sent last on a conversation a W3C traceparent.'),
            ('message_traces', 'The traceparents of received messages, by their queuing_order; each is told once.'),
            ('purge_messages', 'Takes messages off a queue as if they had been received and thrown away; count_only only counts them.'),
            ('fail_all_quarantined', 'fail_quarantined of every group that the filters choose.'),
            -- What operators look at
            ('queue_history', 'A queue''s depth and rates over time, from the daemon''s samples.'),
            ('conversation_timeline', 'What happened on a conversation, event by event, as far as the tables still know.'),
            ('diagnose', 'What is wrong, worst first, each with a stable number and the statement that mends it; nothing found: no row.'),
            ('take_from_afar', 'For daemons of other instances: takes their messages. The interface between instances keeps its name and arguments.'),
            -- Definitions
            ('create_message_type', 'CREATE MESSAGE TYPE.'), ('alter_message_type', 'ALTER MESSAGE TYPE.'),
            ('drop_message_type', 'DROP MESSAGE TYPE.'),
            ('create_contract', 'CREATE CONTRACT: message types, and for each who may send it.'), ('drop_contract', 'DROP CONTRACT.'),
            ('create_queue', 'CREATE QUEUE. The queue''s messages show in a view of its name.'),
            ('alter_queue', 'ALTER QUEUE. NULL leaves an option as it is.'),
            ('maintain_queue', 'ALTER QUEUE … REBUILD | REORGANIZE | MOVE: checked; there is nothing to do.'),
            ('drop_queue', 'DROP QUEUE.'),
            ('create_service', 'CREATE SERVICE on a queue, with the contracts under which it is a target.'),
            ('alter_service', 'ALTER SERVICE.'), ('drop_service', 'DROP SERVICE: its conversations end, the far sides receive an Error.'),
            ('create_route', 'CREATE ROUTE: where dialogs with a service go.'), ('alter_route', 'ALTER ROUTE.'), ('drop_route', 'DROP ROUTE.'),
            ('create_remote_service_binding', 'CREATE REMOTE SERVICE BINDING.'),
            ('alter_remote_service_binding', 'ALTER REMOTE SERVICE BINDING.'),
            ('drop_remote_service_binding', 'DROP REMOTE SERVICE BINDING.'),
            ('create_broker_priority', 'CREATE BROKER PRIORITY. NULL means ANY, for the level 5.'),
            ('alter_broker_priority', 'ALTER BROKER PRIORITY.'), ('drop_broker_priority', 'DROP BROKER PRIORITY.'),
            ('create_endpoint', 'CREATE ENDPOINT … FOR SERVICE_BROKER.'), ('alter_endpoint', 'ALTER ENDPOINT.'), ('drop_endpoint', 'DROP ENDPOINT.'),
            ('create_event_notification', 'CREATE EVENT NOTIFICATION: a service that is told of events.'),
            ('drop_event_notification', 'DROP EVENT NOTIFICATION.'),
            ('create_xml_schema_collection', 'CREATE XML SCHEMA COLLECTION.'), ('alter_xml_schema_collection', 'ALTER XML SCHEMA COLLECTION … ADD.'),
            ('drop_xml_schema_collection', 'DROP XML SCHEMA COLLECTION.'),
            ('create_certificate', 'CREATE CERTIFICATE.'), ('alter_certificate', 'ALTER CERTIFICATE.'), ('drop_certificate', 'DROP CERTIFICATE.'),
            ('create_master_key', 'CREATE MASTER KEY.'), ('alter_master_key', 'ALTER MASTER KEY.'),
            ('drop_master_key', 'DROP MASTER KEY.'), ('open_master_key', 'OPEN MASTER KEY.'), ('close_master_key', 'CLOSE MASTER KEY.'),
            ('backup_master_key', 'BACKUP MASTER KEY.'), ('restore_master_key', 'RESTORE MASTER KEY.'),
            ('add_master_key_encryption', 'ALTER MASTER KEY ADD ENCRYPTION.'),
            ('drop_master_key_encryption', 'ALTER MASTER KEY DROP ENCRYPTION.'),
            ('regenerate_master_key', 'ALTER MASTER KEY REGENERATE.'),
            ('regenerate_service_master_key', 'ALTER SERVICE MASTER KEY REGENERATE.'),
            ('backup_service_master_key', 'BACKUP SERVICE MASTER KEY.'),
            ('restore_service_master_key', 'RESTORE SERVICE MASTER KEY.'),
            ('backup_certificate', 'BACKUP CERTIFICATE.'),
            -- Principals, permissions, databases
            ('create_principal', 'CREATE USER, LOGIN, ROLE or APPLICATION ROLE.'), ('alter_principal', 'ALTER USER, LOGIN, ROLE or APPLICATION ROLE.'),
            ('drop_principal', 'DROP USER, LOGIN, ROLE or APPLICATION ROLE.'),
            ('add_member', 'ALTER ROLE … ADD MEMBER.'), ('drop_member', 'ALTER ROLE … DROP MEMBER.'),
            ('ensure_schema', 'Makes a T-SQL database''s dbo schema unless it is there.'),
            ('create_schema', 'CREATE SCHEMA in a T-SQL database.'), ('drop_schema', 'DROP SCHEMA of a T-SQL database.'),
            ('alter_authorization', 'ALTER AUTHORIZATION: a new owner; NULL: the schema''s.'),
            ('grant_permission', 'GRANT.'), ('deny_permission', 'DENY.'), ('revoke_permission', 'REVOKE.'),
            ('create_database', 'CREATE DATABASE: a T-SQL database, which is a set of schemas.'),
            ('drop_database', 'DROP DATABASE of a T-SQL database.'), ('alter_database', 'ALTER DATABASE: the broker''s and other options, or a new name.'),
            ('use_database', 'USE: the session''s current T-SQL database.'), ('db_name', 'DB_NAME(): the session''s current T-SQL database.'),
            -- Errors
            ('error_number_of', 'SQL Server''s error number for an SQLSTATE of ours (S8426, T0BOV); NULL for any other.'),
            ('sqlstate_of', 'The SQLSTATE with which SQL Server''s error number is raised.')
          ) AS c (name, comment)
          JOIN pg_proc AS p ON p.pronamespace = 'ssb'::regnamespace AND p.proname = c.name
    LOOP
        EXECUTE format('COMMENT ON ROUTINE %s IS %L', v_routine.name, v_routine.comment);
    END LOOP;

    FOR v_column IN
        SELECT r.oid::regclass AS relation, r.relkind, c.name, c.comment
          FROM (VALUES
            ('message', NULL, 'A row of RECEIVE.'),
            ('message', 'status', '1: received.'),
            ('message', 'priority', 'The conversation''s, 1 to 10; higher ones come first.'),
            ('message', 'queuing_order', 'Place in the queue; unique in it.'),
            ('message', 'conversation_group_id', 'The group, whose lock the receiver''s transaction holds.'),
            ('message', 'conversation_handle', 'This side''s handle of the conversation.'),
            ('message', 'message_sequence_number', 'From 0 by conversation and side, with gaps from the 17th on; -1 for messages that the broker made.'),
            ('message', 'service_name', 'The service that the message came to.'),
            ('message', 'service_id', 'Its number.'),
            ('message', 'service_contract_name', 'The conversation''s contract.'),
            ('message', 'service_contract_id', 'Its number.'),
            ('message', 'message_type_name', 'The message type.'),
            ('message', 'message_type_id', 'Its number.'),
            ('message', 'validation', 'N: none, E: empty, X: XML.'),
            ('message', 'message_body', 'The bytes that were sent; NULL: no body.'),
            ('message', 'message_enqueue_time', 'When the message came to the queue, UTC.'),
            ('quarantine', NULL, 'Messages of conversation groups that were set aside because receiving them kept failing.'),
            ('quarantine', 'queue', 'The queue, as ssb.receive takes it.'),
            ('quarantine', 'conversation_group_id', 'For resubmit_quarantined, drop_quarantined and fail_quarantined.'),
            ('quarantine', 'conversation_handle', 'This side''s handle.'),
            ('quarantine', 'queuing_order', 'Place in the queue.'),
            ('quarantine', 'message_type_name', 'The message type.'),
            ('quarantine', 'message_body', 'The bytes that were sent.'),
            ('quarantine', 'is_poison', '1 for the message that failed.'),
            ('quarantine', 'rollbacks', 'How often in a row it was rolled back.'),
            ('quarantine', 'error', 'The last error, as far as the daemon or the bulk job wrote it down.'),
            ('quarantine', 'quarantined_at', 'When the group was set aside.'),
            ('broker_daemons', NULL, 'Daemons that are connected, and which one leads.'),
            ('broker_daemons', 'host', 'Where it runs.'),
            ('broker_daemons', 'version', 'Of pgsb.'),
            ('broker_daemons', 'is_leading', 'It starts the programs; the others stand by.'),
            ('broker_daemons', 'leads_since', 'NULL: it does not lead.'),
            ('broker_daemons', 'pid', 'Of its session in this server.'),
            ('claims', NULL, 'What bulk jobs and streams have set aside, of the caller''s roles; all of it for members of pg_monitor.'),
            ('claims', 'claim_id', 'The claim''s number.'),
            ('claims', 'queue', 'As ssb.receive takes it.'),
            ('claims', 'role', 'Who claimed, and alone may read and complete.'),
            ('claims', 'pid', 'The session''s process, as in pg_stat_activity.'),
            ('claims', 'claimed_at', 'Since when.'),
            ('claims', 'stream', 'The stream that it belongs to; NULL: it lives as long as its session.'),
            ('claims', 'expires_at', 'Until when it waits for its stream.'),
            ('claims', 'conversations', 'How many conversations.'),
            ('claims', 'messages', 'How many messages.'),
            ('claims', 'state', 'held: its session is there; stream: it waits for its stream; over: it ends with the daemon''s next look.'),
            ('queue_status', NULL, 'Every queue that the caller may see, with what an operator asks first.'),
            ('queue_status', 'database_name', 'The T-SQL database.'),
            ('queue_status', 'queue', 'As ssb.receive takes it.'),
            ('queue_status', 'state', 'ON, OFF, STOPPED BY POISON or BROKER DISABLED.'),
            ('queue_status', 'depth', 'Messages that wait.'),
            ('queue_status', 'is_estimate', 'Depth is estimated: more wait than are counted.'),
            ('queue_status', 'oldest_at', 'When the oldest waiting message came.'),
            ('queue_status', 'oldest_age', 'How long it has waited.'),
            ('queue_status', 'enqueued_total', 'Messages that ever came, those of rolled-back transactions included.'),
            ('queue_status', 'in_per_second', 'Since the daemon''s last sample; NULL without one.'),
            ('queue_status', 'out_per_second', 'Since the daemon''s last sample; NULL without one.'),
            ('queue_status', 'program', 'The activation procedure or external program.'),
            ('queue_status', 'is_activation_enabled', 'ACTIVATION (STATUS = ON).'),
            ('queue_status', 'monitor_state', 'Of the queue monitor: INACTIVE, NOTIFIED or RECEIVES_OCCURRING.'),
            ('queue_status', 'readers', 'Programs that run now.'),
            ('queue_status', 'readers_wanted', 'Those and the ones that the queue monitor would start now, up to MAX_QUEUE_READERS.'),
            ('queue_status', 'max_readers', 'MAX_QUEUE_READERS.'),
            ('queue_status', 'rollbacks_in_a_row', 'As far as they are on record; 0 while all goes well.'),
            ('queue_status', 'quarantined_groups', 'Conversation groups that are set aside.'),
            ('queue_status', 'retained', 'Messages that RETENTION = ON keeps.'),
            ('queue_status', 'held_by', 'Who has the group of the first message: a session, a claim, quarantine.'),
            ('queue_status', 'held_by_pid', 'That session.'),
            ('queue_status', 'held_since', 'Since when.'),
            ('queue_status', 'services', 'The services on the queue.'),
            ('queue_status', 'queue_id', 'object_id of sys.service_queues.'),
            ('queue_status', 'database_id', 'database_id of sys.databases.'),
            ('log_recent', NULL, 'The newest 1,000 lines of the daemon''s log, newest first.'),
            ('log_recent', 'log_id', 'Rises with each line.'),
            ('log_recent', 'logged_at', 'When it was written.'),
            ('log_recent', 'level', 'info, warning or error.'),
            ('log_recent', 'event', 'What happened, in one word.'),
            ('log_recent', 'queue', 'The queue concerned, if any.'),
            ('log_recent', 'program', 'The service program concerned, if any.'),
            ('log_recent', 'pid', 'Its session.'),
            ('log_recent', 'error_number', 'SQL Server''s number of the error.'),
            ('log_recent', 'message', 'The text.')
          ) AS c (relation, name, comment)
          JOIN pg_class AS r ON r.relnamespace = 'ssb'::regnamespace AND r.relname = c.relation
         WHERE c.name IS NULL OR EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = r.oid AND a.attname = c.name AND a.attnum > 0)
    LOOP
        IF v_column.name IS NOT NULL THEN
            EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', v_column.relation, v_column.name, v_column.comment);
        ELSE
            EXECUTE format('COMMENT ON %s %s IS %L', CASE v_column.relkind WHEN 'c' THEN 'TYPE' ELSE 'VIEW' END,
                           v_column.relation, v_column.comment);
        END IF;
    END LOOP;
END;
$$;

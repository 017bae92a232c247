-- What \df+ ssb.*, \dv+ ssb.*, \dT+ ssb.* and \d+ show: one sentence for everything in ssb that users call or read.
-- What stands in ssb without words here fails tests/runtime/test_api.py: give it some, and a signature in docs/api.md,
-- or put it into ssb_internal.
DO $$ BEGIN PERFORM ssb_internal.describe_routines('ssb', $words$
begin_dialog: BEGIN DIALOG: begins a conversation between two services and returns its handle. Nothing is sent yet.
send: SEND: appends a message to the far side's queue. Text is stored as nvarchar is: UTF-8, or UTF-16 where that was chosen.
send_many: SEND ON CONVERSATION (a, b, …): the same message on several conversations, on all of them or on none.
send_batch: Sends a set of messages, one for each element of the arrays, and returns how many. All or none.
receive: RECEIVE: takes the next messages of one conversation group off the queue, in order, and locks the group until the transaction ends.
get_conversation_group: GET CONVERSATION GROUP: locks the group whose message is next and returns its id; NULL when nothing is there.
end_conversation: END CONVERSATION, also WITH ERROR and WITH CLEANUP.
end_conversations: END CONVERSATION of many handles as a set; returns how many were ended.
move_conversation: MOVE CONVERSATION: puts a conversation into another group.
begin_conversation_timer: BEGIN CONVERSATION TIMER: a DialogTimer message comes to this side's queue after so many seconds; 0 or NULL: none.
get_transmission_status: GET_TRANSMISSION_STATUS: why a conversation's first unsent message waits; empty when none does.
message_is_waiting: Whether RECEIVE with these arguments might find a message. It may be gone by then.
wait_for_message: WAITFOR (RECEIVE …): returns when a message may be there, when the queue stops being readable, or at the deadline.
send_new: BEGIN DIALOG and its first SEND in one; returns the handle.
receive_and_end: RECEIVE, and END CONVERSATION of what was received from; a conversation with messages left is not ended.
end_finished: Ends up to max conversations whose far sides have ended, as a set; returns how many. Errors are left unless asked for.
end_finished_dialogs: Service program of a queue of one-way senders: end_finished until nothing is left.
send_recycled: Sends on the dialog that the key keeps, and changes it for a new one after max_age or max_messages. Returns its handle.
end_recycled_dialogs: Service program of the initiator's queue for send_recycled: ends and closes its dialogs.
watch_queue: Tells whether a listener of the channel ssb_arrival sleeps: then the queue's next message is announced by NOTIFY.
nvarchar_encoding: The bytes of nvarchar in this instance: utf8, or utf16 after pgsb install --nvarchar utf16.
nvarchar_bytes: A text as SEND of an nvarchar puts it into a body.
nvarchar_text: The text of such a body. A byte order mark in front goes.
deliver_due: Brings about what is due: timers, lifetimes, waiting messages. Returns when the next thing falls due.
tidy_up: One step of whatever gives space back; returns what it did.
tidy: All steps of tidy_up, if it is time for them.
rotate_messages: Changes over between the two message tables and truncates the drained one; returns what it did.
resubmit_quarantined: Lets a group that was set aside be received again; returns how many messages it has.
drop_quarantined: Deletes the messages of a group that was set aside; returns how many.
set_aside: Sets a conversation group aside by hand, as QUARANTINE = ON does: false where somebody has it or nothing waits.
fail_quarantined: Ends the conversation of a group that was set aside with an error, which the other side receives.
resubmit_all_quarantined: resubmit_quarantined of every group that the filters choose.
drop_all_quarantined: drop_quarantined of every group that the filters choose.
set_trace_context: What this session sends carries this W3C traceparent, and what it receives continues its own.
trace_message: Gives the message that this session has sent last on a conversation a W3C traceparent.
message_traces: The traceparents of received messages, by their queuing_order; each is told once.
release_claim: Gives the messages of a claim back to its queue, when its stream has stopped and will not come again; returns how many.
purge_messages: Takes messages off a queue as if they had been received and thrown away; count_only only counts them.
fail_all_quarantined: fail_quarantined of every group that the filters choose.
queue_history: A queue's depth and rates over time, from the daemon's samples.
end_abandoned: Ends conversations that diagnose finds under 401 to 404, at most max; those with messages to be received stay. Returns how many.
conversation_timeline: What happened on a conversation, event by event, as far as the tables still know.
diagnose: What is wrong, worst first, each with a stable number and the statement that mends it; nothing found: no row.
take_from_afar: For daemons of other instances: takes their messages. The interface between instances keeps its name and arguments.
create_message_type: CREATE MESSAGE TYPE.
alter_message_type: ALTER MESSAGE TYPE.
drop_message_type: DROP MESSAGE TYPE.
create_contract: CREATE CONTRACT: message types, and for each who may send it.
drop_contract: DROP CONTRACT.
create_queue: CREATE QUEUE. The queue's messages show in a view of its name.
alter_queue: ALTER QUEUE. NULL leaves an option as it is.
maintain_queue: ALTER QUEUE … REBUILD | REORGANIZE | MOVE: checked; there is nothing to do.
drop_queue: DROP QUEUE.
create_service: CREATE SERVICE on a queue, with the contracts under which it is a target.
alter_service: ALTER SERVICE.
drop_service: DROP SERVICE: its conversations end, the far sides receive an Error.
create_route: CREATE ROUTE: where dialogs with a service go.
alter_route: ALTER ROUTE.
drop_route: DROP ROUTE.
create_remote_service_binding: CREATE REMOTE SERVICE BINDING.
alter_remote_service_binding: ALTER REMOTE SERVICE BINDING.
drop_remote_service_binding: DROP REMOTE SERVICE BINDING.
create_broker_priority: CREATE BROKER PRIORITY. NULL means ANY, for the level 5.
alter_broker_priority: ALTER BROKER PRIORITY.
drop_broker_priority: DROP BROKER PRIORITY.
create_endpoint: CREATE ENDPOINT … FOR SERVICE_BROKER.
alter_endpoint: ALTER ENDPOINT.
drop_endpoint: DROP ENDPOINT.
create_event_notification: CREATE EVENT NOTIFICATION: a service that is told of events.
drop_event_notification: DROP EVENT NOTIFICATION.
create_xml_schema_collection: CREATE XML SCHEMA COLLECTION.
alter_xml_schema_collection: ALTER XML SCHEMA COLLECTION … ADD.
drop_xml_schema_collection: DROP XML SCHEMA COLLECTION.
create_certificate: CREATE CERTIFICATE.
alter_certificate: ALTER CERTIFICATE.
drop_certificate: DROP CERTIFICATE.
create_master_key: CREATE MASTER KEY.
drop_master_key: DROP MASTER KEY.
open_master_key: OPEN MASTER KEY.
close_master_key: CLOSE MASTER KEY.
backup_master_key: BACKUP MASTER KEY.
restore_master_key: RESTORE MASTER KEY.
add_master_key_encryption: ALTER MASTER KEY ADD ENCRYPTION.
drop_master_key_encryption: ALTER MASTER KEY DROP ENCRYPTION.
regenerate_master_key: ALTER MASTER KEY REGENERATE.
regenerate_service_master_key: ALTER SERVICE MASTER KEY REGENERATE.
backup_service_master_key: BACKUP SERVICE MASTER KEY.
restore_service_master_key: RESTORE SERVICE MASTER KEY.
backup_certificate: BACKUP CERTIFICATE.
create_principal: CREATE USER, LOGIN, ROLE or APPLICATION ROLE.
alter_principal: ALTER USER, LOGIN, ROLE or APPLICATION ROLE.
drop_principal: DROP USER, LOGIN, ROLE or APPLICATION ROLE.
add_member: ALTER ROLE … ADD MEMBER.
drop_member: ALTER ROLE … DROP MEMBER.
ensure_schema: Makes a T-SQL database's dbo schema unless it is there.
create_schema: CREATE SCHEMA in a T-SQL database.
drop_schema: DROP SCHEMA of a T-SQL database.
alter_authorization: ALTER AUTHORIZATION: a new owner; NULL: the schema's.
grant_permission: GRANT.
deny_permission: DENY.
revoke_permission: REVOKE.
create_database: CREATE DATABASE: a T-SQL database, which is a set of schemas.
drop_database: DROP DATABASE of a T-SQL database.
alter_database: ALTER DATABASE: the broker's and other options, or a new name.
use_database: USE: the session's current T-SQL database.
db_name: DB_NAME(): the session's current T-SQL database.
error_number_of: SQL Server's error number for an SQLSTATE of ours (S8426, T0BOV); NULL for any other.
sqlstate_of: The SQLSTATE with which SQL Server's error number is raised.
$words$); END $$;

DO $$ BEGIN PERFORM ssb_internal.describe_relations('ssb', $words$
message: A row of RECEIVE.
  status: 1: received.
  priority: The conversation's, 1 to 10; higher ones come first.
  queuing_order: Place in the queue; unique in it.
  conversation_group_id: The group, whose lock the receiver's transaction holds.
  conversation_handle: This side's handle of the conversation.
  message_sequence_number: From 0 by conversation and side, with gaps from the 17th on; -1 for messages that the broker made.
  service_name: The service that the message came to.
  service_id: Its number.
  service_contract_name: The conversation's contract.
  service_contract_id: Its number.
  message_type_name: The message type.
  message_type_id: Its number.
  validation: N: none, E: empty, X: XML.
  message_body: The bytes that were sent; NULL: no body.
  message_enqueue_time: When the message came to the queue, UTC.

quarantine: Messages of conversation groups that were set aside because receiving them kept failing.
  queue: The queue, as ssb.receive takes it.
  conversation_group_id: For resubmit_quarantined, drop_quarantined and fail_quarantined.
  conversation_handle: This side's handle.
  queuing_order: Place in the queue.
  message_type_name: The message type.
  message_body: The bytes that were sent.
  is_poison: 1 for the message that failed.
  rollbacks: How often in a row it was rolled back.
  error: The last error, as far as the daemon or the bulk job wrote it down.
  quarantined_at: When the group was set aside.

broker_daemons: Daemons that are connected, and which one leads.
  host: Where it runs.
  version: Of pgsb.
  is_leading: It starts the programs; the others stand by.
  leads_since: NULL: it does not lead.
  pid: Of its session in this server.

claims: What bulk jobs and streams have set aside, of the caller's roles; all of it for members of pg_monitor.
  claim_id: The claim's number.
  queue: As ssb.receive takes it.
  role: Who claimed, and alone may read and complete.
  pid: The session's process, as in pg_stat_activity.
  claimed_at: Since when.
  stream: The stream that it belongs to; NULL: it lives as long as its session.
  expires_at: Until when it waits for its stream; not while the stream runs.
  conversations: How many conversations.
  messages: How many messages.
  state: held: its session is there; stream: its stream runs; waiting: its stream has stopped, and is waited for; over: it ends with the daemon's next look.

queue_status: Every queue that the caller may see, with what an operator asks first.
  database_name: The T-SQL database.
  queue: As ssb.receive takes it.
  state: ON, OFF, STOPPED BY POISON or BROKER DISABLED.
  depth: Messages that wait.
  is_estimate: Depth is estimated: more wait than are counted.
  oldest_at: When the oldest waiting message came.
  oldest_age: How long it has waited.
  enqueued_total: Messages that ever came, those of rolled-back transactions included.
  in_per_second: Since the daemon's last sample; NULL without one.
  out_per_second: Since the daemon's last sample; NULL without one.
  program: The activation procedure or external program.
  is_activation_enabled: ACTIVATION (STATUS = ON).
  monitor_state: Of the queue monitor: INACTIVE, NOTIFIED or RECEIVES_OCCURRING.
  readers: Programs that run now.
  readers_wanted: Those and the ones that the queue monitor would start now, up to MAX_QUEUE_READERS.
  max_readers: MAX_QUEUE_READERS.
  rollbacks_in_a_row: As far as they are on record; 0 while all goes well.
  quarantined_groups: Conversation groups that are set aside.
  retained: Messages that RETENTION = ON keeps.
  held_by: Who has the group of the first message: a session, a prepared transaction, a claim, quarantine.
  held_by_pid: That session.
  held_since: Since when.
  services: The services on the queue.
  queue_id: object_id of sys.service_queues.
  database_id: database_id of sys.databases.

log_recent: The newest 1,000 lines of the daemon's log, newest first.
  log_id: Rises with each line.
  logged_at: When it was written.
  level: info, warning or error.
  event: What happened, in one word.
  queue: The queue concerned, if any.
  program: The service program concerned, if any.
  pid: Its session.
  error_number: SQL Server's number of the error.
  message: The text.
$words$); END $$;

-- What ssb.diagnose can find: number, severity, what it is, what it means. A number is never given to something else.
--
-- 1xx  the instance and the server     4xx  conversations
-- 2xx  the daemon                      5xx  routes and transport
-- 3xx  queues and activation           6xx  one dialog's configuration, from service to service
CREATE OR REPLACE FUNCTION ssb_internal.finding_kinds()
RETURNS TABLE (number integer, severity text, title text, meaning text)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    VALUES
    (101, 'error', 'the broker of a database is disabled',
     'Its services send and receive nothing; messages for them wait in the transmission queue.'),
    (102, 'warning', 'an old transaction keeps dead rows alive',
     'VACUUM can remove nothing that was deleted since it began. Queues go on; tables grow, and reports on them slow down.'),
    (103, 'warning', 'autovacuum is off',
     'Dead rows of conversations and messages are never removed, and planner statistics grow stale.'),
    (104, 'warning', 'the conversation table is mostly dead rows',
     'Autovacuum cannot keep up, or something keeps the rows alive (102).'),
    (105, 'warning', 'connections are nearly used up',
     'When none is left, service programs cannot start and clients are refused.'),
    (106, 'error', 'a crash of the server can lose messages',
     'With fsync or full_page_writes off, messages that were committed may be gone or broken after a crash.'),
    (107, 'info', 'only A to Z have upper and lower case here',
     'The database''s LC_CTYPE is C: names with other letters are not found when they are written in another case.'),
    (108, 'info', 'the server does not notice clients that die in a WAITFOR',
     'A session whose client has gone waits on, and holds its locks, until something comes to its queue.'),
    (109, 'info', 'the runtime''s owner does not see what other sessions do',
     'Checks for old transactions and held groups find only its own sessions, and held_since of ssb.queue_status stays empty.'),
    (110, 'info', 'the runtime belongs to a superuser',
     'Its functions run with the owner''s rights: the owner of the database is enough.'),
    (111, 'warning', 'a publication has the broker''s tables',
     'Its subscribers get every message, and cannot receive it in order. One that lacks these tables stops, and its slot keeps WAL here.'),
    (112, 'error', 'the database takes no changes',
     'All that changes something fails with 3906. Services that run PostgreSQL do this to a database whose disk is full.'),
    (113, 'info', 'the server tells errors in another language than English',
     'T-SQL''s errors are made of PostgreSQL''s messages: some have the wrong number then, or no names in them.'),
    (114, 'error', 'triggers do not fire',
     'The daemon is not told of new and changed queues, triggers of scripts are passed over, and foreign keys are not checked.'),
    (115, 'error', 'parts of the runtime are missing',
     'Somebody or some tool has dropped or changed them, and what needs them fails. An upgrade makes them anew; rows of a table that was dropped are lost.'),
    (116, 'warning', 'a replication slot keeps much WAL',
     'The server keeps all that the reader of the slot still wants, until the disk is full. Then nothing is sent or received.'),
    (117, 'error', 'a lock on a table of the runtime keeps everybody waiting',
     'Nothing is sent or received, or no queue is made, before that transaction ends. ALTER TABLE, VACUUM FULL, LOCK TABLE and dumps take such locks.'),
    (118, 'error', 'commits wait for a standby',
     'Every COMMIT waits for a synchronous standby that is gone or far behind: nothing is sent or received.'),
    (119, 'warning', 'WAL is not archived',
     'The server keeps it until the disk is full, and no restore reaches past that time. The server''s log tells why the command fails.'),
    (120, 'warning', 'the numbers of transactions run out',
     'At 2.1 billion PostgreSQL takes no more changes. A transaction or slot that is old (102), or autovacuum that is off (103), keeps VACUUM from it.'),
    (121, 'error', 'the runtime has another owner than what he made',
     'Programs WITH EXECUTE AS OWNER run as a role that owns nothing here. It is so after a dump was restored to another owner.'),
    (122, 'warning', 'this server cannot read the database''s XML',
     'It was installed where PostgreSQL has libxml, and has come to a server without. Queues go on; T-SQL with XML fails.'),
    -- Told by pgsb itself (observe/findings.py), which alone knows what it brings.
    (123, 'warning', 'the runtime is of another version than pgsb',
     'What is found is what the checks of its version know. pgsb upgrade brings an earlier runtime up to date; a later one wants the pgsb that installed it.'),
    (124, 'warning', 'the database is a copy, and has its original''s broker identity',
     'Other instances take the dialogs that came along for the original''s: what the copy sends is lost or takes the place of messages, and ends dialogs there.'),
    (201, 'error', 'no daemon runs, and there is something for one to do',
     'Service programs are not started; timers are late; nothing is carried to other instances, and nothing that they have sealed is opened.'),
    (202, 'info', 'one daemon runs, and none stands by',
     'If its machine goes, programs are not started until somebody starts another daemon.'),
    (203, 'warning', 'the daemon is of another version',
     'It was not restarted after an upgrade.'),
    (204, 'error', 'service programs fail',
     'The program of this queue ended with an error in the last minutes; its messages are back in the queue.'),
    (205, 'error', 'a service program cannot be started',
     'The daemon could not even call it: no such role, no connection, an external program that it does not know.'),
    (206, 'warning', 'a service program makes no progress',
     'It has been in one transaction for long, or runs without receiving while messages wait.'),
    (301, 'error', 'poison messages have stopped a queue',
     'Transactions that received from it were rolled back time after time. RECEIVE fails with 9617 until the queue is on again.'),
    (302, 'warning', 'a queue is off and messages wait',
     'STATUS = OFF: nobody can receive; what is sent waits in the transmission queue.'),
    (303, 'warning', 'messages wait and nobody receives',
     'The queue has no activation, and nobody has received from it for long.'),
    (304, 'warning', 'a queue falls behind with all its readers at work',
     'As many readers run as MAX_QUEUE_READERS allows, and the oldest message has waited for long.'),
    (305, 'error', 'the activation procedure does not exist',
     'The daemon logs error 2812 whenever a message comes.'),
    (306, 'error', 'the principal of EXECUTE AS is no PostgreSQL role',
     'The program cannot be started: error 15517.'),
    (307, 'error', 'the principal of EXECUTE AS may not execute the procedure',
     'The program fails before it begins: error 229.'),
    (308, 'error', 'the principal of EXECUTE AS may not receive from the queue',
     'The program fails at its RECEIVE: error 229.'),
    (309, 'warning', 'transactions that received were rolled back',
     'When as many are rolled back in a row as the queue allows, it is stopped, or the message''s group is set aside.'),
    (310, 'warning', 'conversation groups are in quarantine',
     'Their messages wait for somebody to decide: resubmit, fail or drop.'),
    (311, 'warning', 'a transaction holds a conversation group for long',
     'Messages of this group are passed by all other readers until it ends.'),
    (312, 'warning', 'activation is on with MAX_QUEUE_READERS = 0',
     'No program is ever started.'),
    (313, 'error', 'the daemon may not become the principal of EXECUTE AS',
     'The login of the readers may not SET ROLE to that role: the program cannot be started, error 15517.'),
    (314, 'info', 'a queue retains many messages',
     'RETENTION = ON keeps what was sent and received until the conversation ends.'),
    (315, 'warning', 'messages wait for a stream of Spark that does not run',
     'Nobody else receives them before the stream is started again, or its claim expires.'),
    (316, 'error', 'a queue is not found under its name',
     'Its schema or its view was renamed or dropped: T-SQL that names the queue fails with 208. Its messages are kept.'),
    (317, 'warning', 'a transaction that drops a queue keeps others waiting',
     'Who sends to that queue or receives from it waits until the transaction ends. Other queues go on.'),
    (401, 'warning', 'conversations are begun and never ended',
     'Both sides are open, old and without messages. Each costs two rows for ever, and reports on conversations slow down.'),
    (402, 'warning', 'one side has ended, the other does not',
     'The program of this queue does not answer EndDialog with END CONVERSATION, or nobody receives it.'),
    (403, 'warning', 'conversations with an error are not ended',
     'The program of this queue does not answer Error with END CONVERSATION, or nobody receives it.'),
    (404, 'info', 'conversations are begun and nothing is sent',
     'BEGIN DIALOG without a SEND: the row stays until the conversation is ended.'),
    (501, 'error', 'messages cannot be delivered',
     'They wait in the transmission queue for the reason that stands there.'),
    (502, 'error', 'routes lead to other instances, and no endpoint is started',
     'Without an endpoint that is started an instance neither sends to others nor takes messages from them.'),
    (503, 'warning', 'a route has expired or soon will',
     'New dialogs do not take a route whose lifetime is over.'),
    (504, 'error', 'a certificate has expired',
     'Neither this instance nor another secures dialogs with it any more: their messages wait.'),
    (505, 'warning', 'a certificate expires soon',
     'From then on neither this instance nor another secures dialogs with it: their messages wait.'),
    (506, 'error', 'a remote service binding names a user that does not exist',
     'Dialogs with encryption to that service cannot be secured.'),
    (507, 'warning', 'messages for another instance do not arrive',
     'It cannot be reached, or does not take them. They wait, and are tried again.'),
    (508, 'error', 'the endpoint''s AUTHENTICATION = CERTIFICATE cannot be met',
     'Other instances cannot log in with a certificate as long as the server, or master, lacks what it takes.'),
    (509, 'warning', 'the database was restored or failed over, and dialogs with other instances are older',
     'If anything was lost, one end has counted messages that the other lacks: what is sent with their numbers is lost without a word, or waits for ever.'),
    (510, 'error', 'another instance has forgotten messages that it had',
     'It was restored to an earlier time. These messages wait until the remedy of 509 is said over there, or the conversation is ended here.'),
    (601, 'error', 'the initiating service does not exist', 'BEGIN DIALOG fails with 8423.'),
    (602, 'error', 'no way leads to the target service',
     'It is not in this instance, and no route leads to another: messages wait in the transmission queue.'),
    (603, 'error', 'the contract does not exist at the initiator', 'BEGIN DIALOG fails with 8425.'),
    (604, 'error', 'the target service does not offer the contract', 'The dialog is refused: both sides get Error -8408.'),
    (605, 'error', 'the two sides define the contract differently',
     'Messages that one side sends are refused by the other.'),
    (606, 'error', 'the initiator may not send to the target service',
     'Messages wait: You do not have permission to access the service.'),
    (607, 'error', 'the target''s queue does not take messages', 'Messages wait in the transmission queue until it is on.'),
    (608, 'error', 'no way leads back to the initiating service', 'Replies, and the end of the dialog, never arrive.'),
    (609, 'error', 'encryption is asked for and cannot be had',
     'Messages wait: to seal them takes a remote service binding, certificates and a database master key.'),
    (610, 'info', 'the other end is in another instance and was not looked at',
     'pgsb diagnose --to-dsn names it, and then compares both ends.'),
    (611, 'warning', 'several services have the target''s name', 'Each new dialog goes to one of them at random.'),
    (612, 'warning', 'a message type is validated differently at the two ends',
     'What one end lets pass the other may refuse.');
$$;

-- What is long, old and many. p_limits changes some of them: {"waiting": "1 hour"}.
CREATE OR REPLACE FUNCTION ssb_internal.diagnosis_limits(p_limits jsonb DEFAULT '{}')
RETURNS TABLE (waiting interval, old_transaction interval, recent interval, leak_age interval, leak_count bigint,
               unended_age interval, unended_count bigint, dead_rows bigint, connections numeric, expiry interval, kept_wal text, unfrozen bigint)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_defaults CONSTANT jsonb := '{"waiting": "10 minutes", "old_transaction": "1 hour", "recent": "10 minutes", "leak_age": "1 day",
        "leak_count": 1000, "unended_age": "1 hour", "unended_count": 100, "dead_rows": 100000, "connections": 0.9, "expiry": "30 days", "kept_wal": "1 GB",
        "unfrozen": 1000000000}';
    v_unknown text;
BEGIN
    SELECT k INTO v_unknown FROM jsonb_object_keys(coalesce(p_limits, '{}')) AS k WHERE NOT v_defaults ? k LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% is no limit of ssb.diagnose', quote_literal(v_unknown) USING ERRCODE = '22023',
            HINT = 'There are ' || (SELECT string_agg(k, ', ' ORDER BY k COLLATE "C") FROM jsonb_object_keys(v_defaults) AS k) || '.';
    END IF;
    RETURN QUERY SELECT l.* FROM jsonb_to_record(v_defaults || coalesce(p_limits, '{}'))
        AS l (waiting interval, old_transaction interval, recent interval, leak_age interval, leak_count bigint,
              unended_age interval, unended_count bigint, dead_rows bigint, connections numeric, expiry interval, kept_wal text, unfrozen bigint);
END;
$$;

-- 1 message, 2 messages.
CREATE OR REPLACE FUNCTION ssb_internal.counted(p_count bigint, p_noun text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT p_count || ' ' || p_noun || CASE WHEN p_count = 1 THEN '' ELSE 's' END; $$;

-- What a remedy for pgsb shell begins with where it is about a T-SQL database other than the default one, in which the shell begins.
CREATE OR REPLACE FUNCTION ssb_internal.use_of(p_database_id integer)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce((SELECT format('USE %s; ', ssb_internal.in_brackets(ssb_internal.database_name(d.database_id)))
                       FROM ssb.database AS d WHERE d.database_id = p_database_id AND d.schema_prefix <> ''), '');
$$;

-- The same of what is for psql and reads views of schema sys, which show one T-SQL database.
CREATE OR REPLACE FUNCTION ssb_internal.use_in_psql(p_database_id integer)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce((SELECT format('SELECT ssb.use_database(%L); ', ssb_internal.database_name(d.database_id))
                       FROM ssb.database AS d WHERE d.database_id = p_database_id AND d.schema_prefix <> ''), '');
$$;

-- A remedy that sets one of the server's settings; NULL where the command that starts the server has it, which no statement changes.
CREATE OR REPLACE FUNCTION ssb_internal.setting_remedy(p_name text, p_value text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('ALTER SYSTEM SET %I = %s; SELECT pg_reload_conf();', s.name, p_value)
      FROM pg_settings AS s WHERE s.name = p_name AND s.source <> 'command line';
$$;

-- Of such a setting: where no statement changes it, why.
CREATE OR REPLACE FUNCTION ssb_internal.setting_place(p_name text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE s.source WHEN 'command line' THEN ', by the command that starts the server: change it there' ELSE '' END
      FROM pg_settings AS s WHERE s.name = p_name;
$$;

-- [schema].[queue].
CREATE OR REPLACE FUNCTION ssb_internal.tsql_name_there(p_queue ssb.queue)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ssb_internal.in_brackets(coalesce((SELECT s.schema_name FROM ssb.schema_of_database AS s WHERE s.name = p_queue.schema_name),
                                             p_queue.schema_name))
           || '.' || ssb_internal.in_brackets(p_queue.spelling);
$$;

-- The same, with the T-SQL database where it is not the default one.
CREATE OR REPLACE FUNCTION ssb_internal.tsql_name(p_queue ssb.queue)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN d.schema_prefix <> '' THEN ssb_internal.in_brackets(ssb_internal.database_name(d.database_id)) || '.' ELSE '' END
           || ssb_internal.tsql_name_there(p_queue)
      FROM ssb.database AS d WHERE d.database_id = p_queue.database_id;
$$;

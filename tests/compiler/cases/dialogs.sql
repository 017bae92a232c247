-- case: hello, world
CREATE MESSAGE TYPE [//Hello/Request] VALIDATION = NONE;
CREATE MESSAGE TYPE [//Hello/Reply] VALIDATION = NONE;
CREATE CONTRACT [//Hello] ([//Hello/Request] SENT BY INITIATOR, [//Hello/Reply] SENT BY TARGET);
CREATE QUEUE dbo.TargetQueue;
CREATE QUEUE dbo.InitiatorQueue;
CREATE SERVICE [//Target] ON QUEUE dbo.TargetQueue ([//Hello]);
CREATE SERVICE [//Initiator] ON QUEUE dbo.InitiatorQueue;
GO
DECLARE @handle uniqueidentifier, @message nvarchar(100) = N'Hello';
BEGIN TRANSACTION;
BEGIN DIALOG CONVERSATION @handle
    FROM SERVICE [//Initiator] TO SERVICE N'//Target' ON CONTRACT [//Hello]
    WITH ENCRYPTION = OFF, LIFETIME = 600;
SEND ON CONVERSATION @handle MESSAGE TYPE [//Hello/Request] (@message);
BEGIN CONVERSATION TIMER (@handle) TIMEOUT = 120;
COMMIT;
GO
DECLARE @handle uniqueidentifier, @type sysname, @body nvarchar(100);
RECEIVE TOP (1) @handle = conversation_handle, @type = message_type_name, @body = CAST(message_body AS nvarchar(100))
FROM dbo.TargetQueue;
PRINT @body;
IF @type = N'//Hello/Request'
BEGIN
    SEND ON CONVERSATION @handle MESSAGE TYPE [//Hello/Reply] (@body + N' World');
    END CONVERSATION @handle;
END
GO
RECEIVE message_type_name, CAST(message_body AS nvarchar(100)) AS body, message_sequence_number FROM dbo.InitiatorQueue;
-- expect
SELECT ssb.create_message_type('//Hello/Request', validation => 'NONE');

SELECT ssb.create_message_type('//Hello/Reply', validation => 'NONE');

SELECT ssb.create_contract('//Hello', message_types => ARRAY['//Hello/Request', '//Hello/Reply']::text[], sent_by => ARRAY['INITIATOR', 'TARGET']::text[]);

SELECT ssb.create_queue('dbo.targetqueue', spelling => 'TargetQueue');

SELECT ssb.create_queue('dbo.initiatorqueue', spelling => 'InitiatorQueue');

SELECT ssb.create_service('//Target', queue => 'dbo.targetqueue', contracts => ARRAY['//Hello']::text[]);

SELECT ssb.create_service('//Initiator', queue => 'dbo.initiatorqueue');

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        handle uuid;
        message varchar(100) := 'Hello';
    BEGIN
        session := ssb_internal.begin_transaction(session);
        BEGIN
            handle := ssb.begin_dialog('//Initiator', '//Target', '//Hello', lifetime => 600, encryption => false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb.send(handle, '//Hello/Request', message);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb.begin_conversation_timer(handle, 120);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        CALL ssb_internal.commit_transaction(session, 8);
        EXIT batch WHEN session.leaving;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        handle uuid;
        type varchar(128);
        body varchar(100);
        received record;
    BEGIN
        BEGIN
            SELECT conversation_handle, message_type_name, sys.convert_nvarchar(message_body, 100) AS value_3
            FROM ssb.receive('dbo.targetqueue', 1)
            INTO received;
            IF FOUND THEN
                handle := received.conversation_handle;
                type := received.message_type_name;
                body := received.value_3;
            END IF;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(body);
        IF type = '//Hello/Request' THEN
            BEGIN
                PERFORM ssb.send(handle, '//Hello/Reply', body || ' World');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            BEGIN
                PERFORM ssb.end_conversation(handle);
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;

SELECT message_type_name, sys.convert_nvarchar(message_body, 100) AS body, message_sequence_number FROM ssb.receive('dbo.initiatorqueue');
-- shows
Hello
message_type_name                                        body        message_sequence_number
-------------------------------------------------------- ----------- -----------------------
//Hello/Reply                                            Hello World                       0
http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog NULL                              1

(2 rows affected)

-- case: RECEIVE without a row leaves the variables alone
CREATE QUEUE dbo.q;
GO
DECLARE @handle uniqueidentifier = '00000000-0000-0000-0000-000000000001', @body varbinary(max);
RECEIVE @handle = conversation_handle, @body = message_body FROM dbo.q WHERE conversation_group_id = @handle;
PRINT @@ROWCOUNT;
PRINT @handle;
-- expect
SELECT ssb.create_queue('dbo.q');

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        handle uuid := '00000000-0000-0000-0000-000000000001';
        body bytea;
        received record;
    BEGIN
        BEGIN
            session.rowcount := 0;
            FOR received IN SELECT conversation_handle, message_body FROM ssb.receive('dbo.q', conversation_group => coalesce(handle, ssb_internal.no_conversation_group())) LOOP
                handle := received.conversation_handle;
                body := received.message_body;
                session.rowcount := session.rowcount + 1;
            END LOOP;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(session.rowcount::integer::text);
        BEGIN
            PERFORM ssb_internal.print(sys.convert_nvarchar(handle));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 8436, Level 16, State 1, Line 2
The conversation group "<uuid>" is not found.
0
<uuid>

-- case: RECEIVE INTO a table variable
CREATE QUEUE dbo.q;
CREATE SERVICE s ON QUEUE dbo.q ([DEFAULT]);
GO
DECLARE @h uniqueidentifier, @m TABLE (handle uniqueidentifier, body varbinary(max));
BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'one');
SEND ON CONVERSATION @h (N'two');
RECEIVE TOP (10) conversation_handle, message_body FROM dbo.q INTO @m;
PRINT @@ROWCOUNT;
SELECT CAST(body AS nvarchar(10)) AS body FROM @m;
-- expect
SELECT ssb.create_queue('dbo.q');

SELECT ssb.create_service('s', queue => 'dbo.q', contracts => ARRAY['DEFAULT']::text[]);

SELECT ssb_internal.define_row_type('pg_temp."@m"', 'handle uuid, body bytea');

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        h uuid;
        m pg_temp."@m"[] := '{}';
        begun uuid;
    BEGIN
        BEGIN
            begun := ssb_internal.begin_and_send('s', 's', 'DEFAULT', 'DEFAULT', CAST('one' AS text), p_is_encrypted => false);
        EXCEPTION WHEN OTHERS THEN begun := NULL;  -- the statements tell what is wrong
        END;
        IF begun IS NOT NULL THEN
            h := begun;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        ELSE
            BEGIN
                h := ssb.begin_dialog('s', 's', encryption => false);
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            BEGIN
                PERFORM ssb.send(h, 'DEFAULT', CAST('one' AS text));
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
        BEGIN
            PERFORM ssb.send(h, 'DEFAULT', CAST('two' AS text));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            SELECT batch.m || array_agg(ROW(conversation_handle, message_body)::pg_temp."@m"), count(*) FROM ssb.receive('dbo.q', 10) INTO m, session.rowcount;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(session.rowcount::integer::text);
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.convert_nvarchar(body, 10) AS body FROM unnest(batch.m) AS m;
            session := ssb_internal.show(session, result, '[{"name":"body","type":"varchar(10)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

2
body
----
one
two

(2 rows affected)

-- case: WAITFOR RECEIVE gives up after its timeout
CREATE QUEUE dbo.q;
GO
DECLARE @h uniqueidentifier;
WAITFOR (RECEIVE TOP (1) @h = conversation_handle FROM dbo.q), TIMEOUT 1;
PRINT @@ROWCOUNT;
WAITFOR (GET CONVERSATION GROUP @h FROM dbo.q), TIMEOUT 1;
IF @h IS NULL PRINT 'nothing';
WAITFOR (RECEIVE * FROM dbo.q), TIMEOUT 1;
-- expect
SELECT ssb.create_queue('dbo.q');

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    output_rows text[];
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        h uuid;
        deadline timestamptz;
        received record;
    BEGIN
        deadline := ssb_internal.deadline(1);
        <<waiting_1>>
        LOOP
            BEGIN
                SELECT conversation_handle FROM ssb.receive('dbo.q', 1) INTO received;
                GET DIAGNOSTICS session.rowcount = ROW_COUNT;
                IF FOUND THEN
                    h := received.conversation_handle;
                    EXIT waiting_1;
                END IF;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving; EXIT waiting_1;
            END;
            EXIT waiting_1 WHEN clock_timestamp() >= deadline;
            CALL ssb.wait_for_message('dbo.q', deadline, may_commit => ssb_internal.may_commit(session));
        END LOOP waiting_1;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(session.rowcount::integer::text);
        deadline := ssb_internal.deadline(1);
        <<waiting_2>>
        LOOP
            BEGIN
                h := ssb.get_conversation_group('dbo.q');
                EXIT waiting_2 WHEN h IS NOT NULL;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving; EXIT waiting_2;
            END;
            EXIT waiting_2 WHEN clock_timestamp() >= deadline;
            CALL ssb.wait_for_message('dbo.q', deadline, may_commit => ssb_internal.may_commit(session));
        END LOOP waiting_2;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        IF h IS NULL THEN
            PERFORM ssb_internal.print('nothing');
        END IF;
        deadline := ssb_internal.deadline(1);
        <<waiting_3>>
        LOOP
            BEGIN
                SELECT array_agg(ssb_internal.row_values(row_to_json(m.*))) FROM (SELECT * FROM ssb.receive('dbo.q')) AS m INTO output_rows;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving; EXIT waiting_3;
            END;
            IF output_rows IS NOT NULL OR clock_timestamp() >= deadline THEN
                session := ssb_internal.show_collected(session, coalesce(output_rows, '{}'), '[{"name":"status","type":"smallint"},{"name":"priority","type":"smallint"},{"name":"queuing_order","type":"bigint"},{"name":"conversation_group_id","type":"uuid"},{"name":"conversation_handle","type":"uuid"},{"name":"message_sequence_number","type":"bigint"},{"name":"service_name","type":"varchar(512)"},{"name":"service_id","type":"integer"},{"name":"service_contract_name","type":"varchar(256)"},{"name":"service_contract_id","type":"integer"},{"name":"message_type_name","type":"varchar(256)"},{"name":"message_type_id","type":"integer"},{"name":"validation","type":"char(2)"},{"name":"message_body","type":"bytea"},{"name":"message_enqueue_time","type":"timestamp(3)"}]');
                EXIT waiting_3;
            END IF;
            CALL ssb.wait_for_message('dbo.q', deadline, may_commit => ssb_internal.may_commit(session));
        END LOOP waiting_3;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
0
nothing
status priority queuing_order conversation_group_id conversation_handle message_sequence_number service_name service_id service_contract_name service_contract_id message_type_name message_type_id validation message_body message_enqueue_time
------ -------- ------------- --------------------- ------------------- ----------------------- ------------ ---------- --------------------- ------------------- ----------------- --------------- ---------- ------------ --------------------

(0 rows affected)

-- case: names in variables, several handles, no body
CREATE QUEUE dbo.q;
CREATE SERVICE s ON QUEUE dbo.q ([DEFAULT]);
GO
DECLARE @a uniqueidentifier, @b uniqueidentifier, @from sysname = N's', @to nvarchar(256) = N's',
        @contract sysname = N'DEFAULT', @type sysname = N'DEFAULT';
BEGIN DIALOG @a FROM SERVICE @from TO SERVICE @to ON CONTRACT @contract WITH ENCRYPTION = OFF;
BEGIN DIALOG @b FROM SERVICE @from TO SERVICE @to WITH RELATED_CONVERSATION = @a, ENCRYPTION = OFF;
SEND ON CONVERSATION (@a, @b) MESSAGE TYPE @type (0x0102);
SEND ON CONVERSATION @a;
SELECT COUNT(*) AS messages FROM dbo.q;
SEND ON CONVERSATION @a (NULL);
PRINT @@ERROR;
END CONVERSATION @a WITH ERROR = 7 DESCRIPTION = N'enough';
END CONVERSATION @b WITH CLEANUP;
MOVE CONVERSATION @b TO @a;
PRINT @@ERROR;
-- expect
SELECT ssb.create_queue('dbo.q');

SELECT ssb.create_service('s', queue => 'dbo.q', contracts => ARRAY['DEFAULT']::text[]);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        a uuid;
        b uuid;
        "from" varchar(128) := 's';
        "to" varchar(256) := 's';
        contract varchar(128) := 'DEFAULT';
        type varchar(128) := 'DEFAULT';
    BEGIN
        BEGIN
            a := ssb.begin_dialog("from", "to", contract, encryption => false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            b := ssb.begin_dialog("from", "to", related_conversation => a, encryption => false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb.send_many(ARRAY[a, b]::uuid[], type, '\x0102'::bytea);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb.send(a);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS messages FROM dbo.q;
            session := ssb_internal.show(session, result, '[{"name":"messages","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            PERFORM ssb.send(a, 'DEFAULT', CAST(NULL AS text));
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(session.error::text);
        BEGIN
            PERFORM ssb.end_conversation(a, error => 7, description => 'enough');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb.end_conversation(b, cleanup => true);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb.move_conversation(b, a);
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 12, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(session.error::text);
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
messages
--------
       3

(1 row affected)

Msg 8433, Level 16, State 1, Line 8
The message body may not be NULL.  A zero-length UNICODE or binary string is allowed.
8433
Msg 8426, Level 16, State 1, Line 12
The conversation handle "<uuid>" is not found.
8426

-- case: an error of SEND is an error of the statement
DECLARE @h uniqueidentifier = '00000000-0000-0000-0000-000000000001';
SEND ON CONVERSATION @h (N'x');
PRINT @@ERROR;
BEGIN TRY
    END CONVERSATION @h;
END TRY
BEGIN CATCH
    PRINT ERROR_NUMBER();
END CATCH
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        h uuid := '00000000-0000-0000-0000-000000000001';
    BEGIN
        BEGIN
            PERFORM ssb.send(h, 'DEFAULT', CAST('x' AS text));
            session.error := 0;
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        PERFORM ssb_internal.print(session.error::text);
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            BEGIN
                PERFORM ssb.end_conversation(h);
            EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT try_1;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print((session.caught).number::text);
            session.caught := NULL;  -- END CATCH
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 8426, Level 16, State 1, Line 2
The conversation handle "<uuid>" is not found.
8426
8426

-- case: RECEIVE INTO converts, counts and checks as INSERT does
CREATE QUEUE kept
CREATE SERVICE kept ON QUEUE kept ([DEFAULT])
GO
DECLARE @h uniqueidentifier
BEGIN DIALOG @h FROM SERVICE kept TO SERVICE 'kept' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'<a>1</a>');
SEND ON CONVERSATION @h (N'<a>2</a>');
SEND ON CONVERSATION @h (N'<a>3</a>');
DECLARE @plain TABLE (body xml, body_again nvarchar(max), place varchar(5))
RECEIVE TOP (1) message_body, message_body, queuing_order FROM kept INTO @plain
SELECT body.value('/a[1]', 'int') AS a, body_again, place FROM @plain
DECLARE @keyed TABLE (id int IDENTITY(10, 10), h uniqueidentifier PRIMARY KEY, body nvarchar(max))
RECEIVE TOP (1) conversation_handle, message_body FROM kept INTO @keyed
SELECT id, body FROM @keyed
BEGIN TRY
    RECEIVE TOP (1) conversation_handle, message_body FROM kept INTO @keyed
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number
END CATCH
SELECT COUNT(*) AS still_there FROM kept
GO
-- expect
SELECT ssb.create_queue('dbo.kept');

SELECT ssb.create_service('kept', queue => 'dbo.kept', contracts => ARRAY['DEFAULT']::text[]);

SELECT ssb_internal.define_row_type('pg_temp."@plain"', 'body sys.xml, body_again text, place varchar(5)');

SELECT ssb_internal.define_row_type('pg_temp."@keyed"', 'id integer, h uuid, body text');

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        h uuid;
        begun uuid;
        plain pg_temp."@plain"[] := '{}';
        keyed pg_temp."@keyed"[] := '{}';
        keyed_last integer;
    BEGIN
        BEGIN
            begun := ssb_internal.begin_and_send('kept', 'kept', 'DEFAULT', 'DEFAULT', CAST('<a>1</a>' AS text), p_is_encrypted => false);
        EXCEPTION WHEN OTHERS THEN begun := NULL;  -- the statements tell what is wrong
        END;
        IF begun IS NOT NULL THEN
            h := begun;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        ELSE
            BEGIN
                h := ssb.begin_dialog('kept', 'kept', encryption => false);
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            BEGIN
                PERFORM ssb.send(h, 'DEFAULT', CAST('<a>1</a>' AS text));
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
        BEGIN
            PERFORM ssb.send(h, 'DEFAULT', CAST('<a>2</a>' AS text));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb.send(h, 'DEFAULT', CAST('<a>3</a>' AS text));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            SELECT batch.plain || array_agg(ROW(sys.xml_of(message_body), sys.text_of(message_body), sys.fitting(sys.convert_varchar(queuing_order, 5), 5))::pg_temp."@plain"), count(*) FROM ssb.receive('dbo.kept', 1) INTO plain, session.rowcount;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.convert_int(sys.xml_value(body, '/a[1]'), 'nvarchar') AS a, body_again, place
            FROM unnest(batch.plain) AS plain;
            session := ssb_internal.show(session, result, '[{"name":"a","type":"integer"},{"name":"body_again","type":"text"},{"name":"place","type":"varchar(5)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            SELECT batch.keyed || array_agg(ROW(COALESCE(GREATEST(batch.keyed_last, (batch.keyed)[cardinality(batch.keyed)].id), 0) + n."@place" * 10, sys.not_null(n.h, 'h', '@keyed'), n.body)::pg_temp."@keyed" ORDER BY n."@place"), count(*)
            FROM (SELECT n.*, row_number() OVER (PARTITION BY n.h ORDER BY n."@place") AS nth_1
                  FROM (SELECT n.*, row_number() OVER () AS "@place"
                        FROM (SELECT conversation_handle, sys.text_of(message_body) FROM ssb.receive('dbo.kept', 1)) AS n (h, body)) AS n) AS n
            LEFT JOIN (SELECT h, true AS found FROM unnest(batch.keyed) AS r) AS old_1 ON old_1.h = n.h
            WHERE sys.unique_key(n.nth_1 = 1 AND old_1.found IS NULL, 'PRIMARY KEY', '@keyed', concat(n.h))
            INTO keyed, session.rowcount;
            PERFORM ssb_internal.show_count(session);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT id, body FROM unnest(batch.keyed) AS keyed;
            session := ssb_internal.show(session, result, '[{"name":"id","type":"integer"},{"name":"body","type":"text"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            BEGIN
                SELECT batch.keyed || array_agg(ROW(COALESCE(GREATEST(batch.keyed_last, (batch.keyed)[cardinality(batch.keyed)].id), 0) + n."@place" * 10, sys.not_null(n.h, 'h', '@keyed'), n.body)::pg_temp."@keyed" ORDER BY n."@place"), count(*)
                FROM (SELECT n.*, row_number() OVER (PARTITION BY n.h ORDER BY n."@place") AS nth_1
                      FROM (SELECT n.*, row_number() OVER () AS "@place"
                            FROM (SELECT conversation_handle, sys.text_of(message_body) FROM ssb.receive('dbo.kept', 1)) AS n (h, body)) AS n) AS n
                LEFT JOIN (SELECT h, true AS found FROM unnest(batch.keyed) AS r) AS old_1 ON old_1.h = n.h
                WHERE sys.unique_key(n.nth_1 = 1 AND old_1.found IS NULL, 'PRIMARY KEY', '@keyed', concat(n.h))
                INTO keyed, session.rowcount;
                PERFORM ssb_internal.show_count(session);
            EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 13, SQLSTATE, SQLERRM); EXIT try_1;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        EXIT batch WHEN session.unresolved;
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            BEGIN
                result := NULL;
                OPEN result FOR SELECT (session.caught).number AS number;
                session := ssb_internal.show(session, result, '[{"name":"number","type":"integer"}]');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 16, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            session.caught := NULL;  -- END CATCH
        END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS still_there FROM dbo.kept;
            session := ssb_internal.show(session, result, '[{"name":"still_there","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 18, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(1 row affected)

a body_again place
- ---------- -----
1 <a>1</a>   0

(1 row affected)

(1 row affected)

id body
-- --------
10 <a>2</a>

(1 row affected)

number
------
  2627

(1 row affected)

still_there
-----------
          1

(1 row affected)

-- case: BEGIN DIALOG and the SEND that follows are one call, with the errors and lines of two
CREATE MESSAGE TYPE job VALIDATION = NONE;
CREATE MESSAGE TYPE checked VALIDATION = WELL_FORMED_XML;
CREATE CONTRACT jobs (job SENT BY INITIATOR, checked SENT BY INITIATOR);
CREATE QUEUE dbo.q;
CREATE SERVICE s ON QUEUE dbo.q (jobs);
GO
DECLARE @h uniqueidentifier, @before uniqueidentifier, @body nvarchar(100), @n int = 0;
WHILE @n < 3
BEGIN
    SET @body = N'job ' + CAST(@n AS nvarchar(10));
    -- One call, but
    BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' ON CONTRACT jobs WITH ENCRYPTION = OFF;
    -- two statements.
    SEND ON CONVERSATION @h MESSAGE TYPE job (@body);
    PRINT @@ROWCOUNT;
    SET @n += 1;
END;
SET @before = @h;
SET @body = N'no XML';
BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' ON CONTRACT jobs;
SEND ON CONVERSATION @h MESSAGE TYPE checked (@body);
PRINT @@ERROR;
PRINT CASE WHEN @h <> @before THEN 'the dialog is there' END;
SELECT COUNT(*) AS begun FROM sys.conversation_endpoints WHERE conversation_handle = @h;
SET @before = @h;
SET @body = NULL;
BEGIN TRY
    BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' ON CONTRACT jobs;
    SEND ON CONVERSATION @h MESSAGE TYPE job (@body);
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ' in line ', ERROR_LINE());
END CATCH;
BEGIN TRY
    BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' ON CONTRACT nothing;
    SEND ON CONVERSATION @h MESSAGE TYPE job (N'x');
END TRY
BEGIN CATCH
    PRINT CONCAT(ERROR_NUMBER(), ' in line ', ERROR_LINE());
END CATCH;
BEGIN TRANSACTION;
BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' ON CONTRACT jobs;
SEND ON CONVERSATION @h MESSAGE TYPE job (N'rolled back');
ROLLBACK;
SELECT COUNT(*) AS begun FROM sys.conversation_endpoints WHERE conversation_handle = @h;
SELECT CAST(message_body AS nvarchar(20)) AS body FROM dbo.q ORDER BY queuing_order;
SELECT is_initiator, state, COUNT(*) AS sides FROM sys.conversation_endpoints GROUP BY is_initiator, state ORDER BY 1, 2;
-- expect
SELECT ssb.create_message_type('job', validation => 'NONE');

SELECT ssb.create_message_type('checked', validation => 'WELL_FORMED_XML');

SELECT ssb.create_contract('jobs', message_types => ARRAY['job', 'checked']::text[], sent_by => ARRAY['INITIATOR', 'INITIATOR']::text[]);

SELECT ssb.create_queue('dbo.q');

SELECT ssb.create_service('s', queue => 'dbo.q', contracts => ARRAY['jobs']::text[]);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        h uuid;
        before uuid;
        body varchar(100);
        n integer := 0;
        begun uuid;
    BEGIN
        WHILE n < 3 LOOP
            BEGIN
                body := 'job ' || sys.convert_nvarchar(n, 10);
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            -- One call, but
            -- two statements.
            BEGIN
                begun := ssb_internal.begin_and_send('s', 's', 'jobs', 'job', body, p_is_encrypted => false);
            EXCEPTION WHEN OTHERS THEN begun := NULL;  -- the statements tell what is wrong
            END;
            IF begun IS NOT NULL THEN
                h := begun;
                session.rowcount := 0;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            ELSE
                BEGIN
                    h := ssb.begin_dialog('s', 's', 'jobs', encryption => false);
                EXCEPTION WHEN OTHERS THEN
                    session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
                END;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                BEGIN
                    PERFORM ssb.send(h, 'job', body);
                    session.rowcount := 0;
                EXCEPTION WHEN OTHERS THEN
                    session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
                END;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            END IF;
            PERFORM ssb_internal.print(session.rowcount::integer::text);
            BEGIN
                n := n + 1;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
        END LOOP;
        before := h;
        body := 'no XML';
        BEGIN
            begun := ssb_internal.begin_and_send('s', 's', 'jobs', 'checked', body);
        EXCEPTION WHEN OTHERS THEN begun := NULL;  -- the statements tell what is wrong
        END;
        IF begun IS NOT NULL THEN
            h := begun;
            session.error := 0;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        ELSE
            BEGIN
                h := ssb.begin_dialog('s', 's', 'jobs');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 14, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            BEGIN
                PERFORM ssb.send(h, 'checked', body);
                session.error := 0;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 15, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
        PERFORM ssb_internal.print(session.error::text);
        BEGIN
            PERFORM ssb_internal.print(CASE WHEN h <> before THEN 'the dialog is there' END);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 17, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS begun FROM sys.conversation_endpoints WHERE conversation_handle = batch.h;
            session := ssb_internal.show(session, result, '[{"name":"begun","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 18, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        before := h;
        body := NULL;
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_1>>
        BEGIN
            BEGIN
                begun := ssb_internal.begin_and_send('s', 's', 'jobs', 'job', body);
            EXCEPTION WHEN OTHERS THEN begun := NULL;  -- the statements tell what is wrong
            END;
            IF begun IS NOT NULL THEN
                h := begun;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            ELSE
                BEGIN
                    h := ssb.begin_dialog('s', 's', 'jobs');
                EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 22, SQLSTATE, SQLERRM); EXIT try_1;
                END;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                BEGIN
                    PERFORM ssb.send(h, 'job', body);
                EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 23, SQLSTATE, SQLERRM); EXIT try_1;
                END;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            END IF;
        END try_1;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print(concat((session.caught).number, ' in line ', (session.caught).line));
            session.caught := NULL;  -- END CATCH
        END IF;
        session.try_depth := ssb_internal.tries(session.try_depth + 1);  -- BEGIN TRY
        <<try_2>>
        BEGIN
            BEGIN
                begun := ssb_internal.begin_and_send('s', 's', 'nothing', 'job', CAST('x' AS text));
            EXCEPTION WHEN OTHERS THEN begun := NULL;  -- the statements tell what is wrong
            END;
            IF begun IS NOT NULL THEN
                h := begun;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            ELSE
                BEGIN
                    h := ssb.begin_dialog('s', 's', 'nothing');
                EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 29, SQLSTATE, SQLERRM); EXIT try_2;
                END;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
                BEGIN
                    PERFORM ssb.send(h, 'job', CAST('x' AS text));
                EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 30, SQLSTATE, SQLERRM); EXIT try_2;
                END;
                IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            END IF;
        END try_2;
        session.try_depth := ssb_internal.tries(session.try_depth - 1);  -- END TRY
        IF session.leaving THEN  -- BEGIN CATCH
            session := ssb_internal.begin_catch(session);
            PERFORM ssb_internal.print(concat((session.caught).number, ' in line ', (session.caught).line));
            session.caught := NULL;  -- END CATCH
        END IF;
        session := ssb_internal.begin_transaction(session);
        BEGIN
            begun := ssb_internal.begin_and_send('s', 's', 'jobs', 'job', CAST('rolled back' AS text));
        EXCEPTION WHEN OTHERS THEN begun := NULL;  -- the statements tell what is wrong
        END;
        IF begun IS NOT NULL THEN
            h := begun;
        ELSE
            BEGIN
                h := ssb.begin_dialog('s', 's', 'jobs');
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 36, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            BEGIN
                PERFORM ssb.send(h, 'job', CAST('rolled back' AS text));
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 37, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
        END IF;
        CALL ssb_internal.rollback_transaction(session, 38);
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS begun FROM sys.conversation_endpoints WHERE conversation_handle = batch.h;
            session := ssb_internal.show(session, result, '[{"name":"begun","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 39, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.convert_nvarchar(message_body, 20) AS body FROM dbo.q ORDER BY queuing_order;
            session := ssb_internal.show(session, result, '[{"name":"body","type":"varchar(20)"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 40, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT is_initiator, state, count(*) AS sides
            FROM sys.conversation_endpoints
            GROUP BY is_initiator, state
            ORDER BY 1 NULLS FIRST, 2 NULLS FIRST;
            session := ssb_internal.show(session, result, '[{"name":"is_initiator","type":"smallint"},{"name":"state","type":"varchar(128)"},{"name":"sides","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 41, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
0
0
0
0
the dialog is there
begun
-----
    1

(1 row affected)

8433 in line 23
8425 in line 29
begun
-----
    0

(1 row affected)

body
------
job 0
job 1
job 2
no XML

(4 rows affected)

is_initiator state sides
------------ ----- -----
           0 CO        4
           1 CO        4
           1 SO        1

(3 rows affected)

-- case: a SEND that needs its dialog is a call of its own
CREATE QUEUE dbo.q;
CREATE SERVICE s ON QUEUE dbo.q ([DEFAULT]);
GO
DECLARE @h uniqueidentifier, @other uniqueidentifier;
BEGIN DIALOG @other FROM SERVICE s TO SERVICE 's';
BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' WITH LIFETIME = 60;
SEND ON CONVERSATION @h (N'it has a lifetime');
BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's';
SEND ON CONVERSATION @other (N'of another dialog');
BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's';
SEND ON CONVERSATION @h (@h);
BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's';
SEND ON CONVERSATION @h ((SELECT MAX(state) FROM sys.conversation_endpoints));
BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's';
SEND ON CONVERSATION @h;
-- expect
SELECT ssb.create_queue('dbo.q');

SELECT ssb.create_service('s', queue => 'dbo.q', contracts => ARRAY['DEFAULT']::text[]);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        h uuid;
        other uuid;
    BEGIN
        BEGIN
            other := ssb.begin_dialog('s', 's');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            h := ssb.begin_dialog('s', 's', lifetime => 60);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb.send(h, 'DEFAULT', CAST('it has a lifetime' AS text));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            h := ssb.begin_dialog('s', 's');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb.send(other, 'DEFAULT', CAST('of another dialog' AS text));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            h := ssb.begin_dialog('s', 's');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 7, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb.send(h, 'DEFAULT', sys.convert_varbinary(h));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            h := ssb.begin_dialog('s', 's');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb.send(h, 'DEFAULT', (SELECT max(state) FROM sys.conversation_endpoints));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 10, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            h := ssb.begin_dialog('s', 's');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 11, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            PERFORM ssb.send(h);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 12, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows


-- case: RECEIVE calls functions of the queue's schema, and of one with the queue's name
CREATE QUEUE parcels;
GO
CREATE SCHEMA parcels;
GO
CREATE FUNCTION dbo.weight(@b VARBINARY(MAX)) RETURNS INT AS BEGIN RETURN DATALENGTH(@b); END
GO
CREATE FUNCTION parcels.price(@b VARBINARY(MAX)) RETURNS INT AS BEGIN RETURN DATALENGTH(@b); END
GO
RECEIVE dbo.weight(message_body) AS w, parcels.price(parcels.message_body) AS p, dbo.parcels.status FROM dbo.parcels;
-- expect
SELECT ssb.create_queue('dbo.parcels');

SELECT ssb.create_schema('parcels');

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'FUNCTION', 'dbo.weight', 'bytea');

CREATE OR REPLACE FUNCTION dbo.weight(b bytea)
RETURNS integer
STABLE
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $weight$
#variable_conflict use_column
<<weight>>
BEGIN
    RETURN sys.datalength(b);
END weight;
$weight$;

END;
$whole$;

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'FUNCTION', 'parcels.price', 'bytea');

CREATE OR REPLACE FUNCTION parcels.price(b bytea)
RETURNS integer
STABLE
SET search_path = pg_catalog, pg_temp
LANGUAGE plpgsql AS $price$
#variable_conflict use_column
<<price>>
BEGIN
    RETURN sys.datalength(b);
END price;
$price$;

END;
$whole$;

SELECT dbo.weight(message_body) AS w, parcels.price(message_body) AS p, status FROM ssb.receive('dbo.parcels');
-- shows
w p status
- - ------

(0 rows affected)

-- case: TOP of RECEIVE is a number: NULL takes nothing
CREATE QUEUE few;
CREATE SERVICE [//few] ON QUEUE few ([DEFAULT]);
GO
DECLARE @h UNIQUEIDENTIFIER, @n INT;
BEGIN DIALOG @h FROM SERVICE [//few] TO SERVICE '//few' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'one');
SEND ON CONVERSATION @h (N'two');
RECEIVE TOP (@n) message_sequence_number FROM few;
WAITFOR (RECEIVE TOP (@n) @h = conversation_handle FROM few), TIMEOUT 1;
SET @n = 1;
RECEIVE TOP (@n) message_sequence_number FROM few;
SELECT COUNT(*) AS left_ FROM few;
-- expect
SELECT ssb.create_queue('dbo.few');

SELECT ssb.create_service('//few', queue => 'dbo.few', contracts => ARRAY['DEFAULT']::text[]);

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        h uuid;
        n integer;
        begun uuid;
        deadline timestamptz;
        received record;
    BEGIN
        BEGIN
            begun := ssb_internal.begin_and_send('//few', '//few', 'DEFAULT', 'DEFAULT', CAST('one' AS text), p_is_encrypted => false);
        EXCEPTION WHEN OTHERS THEN begun := NULL;  -- the statements tell what is wrong
        END;
        IF begun IS NOT NULL THEN
            h := begun;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        ELSE
            BEGIN
                h := ssb.begin_dialog('//few', '//few', encryption => false);
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
            BEGIN
                PERFORM ssb.send(h, 'DEFAULT', CAST('one' AS text));
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
        BEGIN
            PERFORM ssb.send(h, 'DEFAULT', CAST('two' AS text));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT message_sequence_number FROM ssb.receive('dbo.few', sys.top_count(n));
            session := ssb_internal.show(session, result, '[{"name":"message_sequence_number","type":"bigint"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        deadline := ssb_internal.deadline(1);
        <<waiting_1>>
        LOOP
            BEGIN
                FOR received IN SELECT conversation_handle FROM ssb.receive('dbo.few', sys.top_count(n)) LOOP
                    h := received.conversation_handle;
                END LOOP;
                EXIT waiting_1 WHEN FOUND;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving; EXIT waiting_1;
            END;
            EXIT waiting_1 WHEN clock_timestamp() >= deadline;
            CALL ssb.wait_for_message('dbo.few', deadline, may_commit => ssb_internal.may_commit(session));
        END LOOP waiting_1;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        n := 1;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT message_sequence_number FROM ssb.receive('dbo.few', sys.top_count(n));
            session := ssb_internal.show(session, result, '[{"name":"message_sequence_number","type":"bigint"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 8, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT count(*) AS left_ FROM dbo.few;
            session := ssb_internal.show(session, result, '[{"name":"left_","type":"integer"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 9, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
Msg 1060, Level 15, State 1, Line 5
The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.
Msg 1060, Level 15, State 1, Line 6
The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.
message_sequence_number
-----------------------
                      0

(1 row affected)

left_
-----
    1

(1 row affected)

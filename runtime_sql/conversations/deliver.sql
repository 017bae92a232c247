-- Putting a message on a queue: what SEND, END CONVERSATION and redelivery share.
-- Called by  the functions of conversations/
-- Locks      none: the caller holds the sender's group; receivers are not asked

-- Writes one row to the table that takes new messages.
CREATE OR REPLACE FUNCTION ssb_internal.store_message(p_queue_id integer, p_endpoint_id bigint, p_order bigint, p_number bigint,
    p_enqueued_at timestamptz, p_message_type_id integer, p_priority smallint, p_validation char(2), p_body bytea)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_rotation bigint := coalesce(pg_sequence_last_value('ssb.rotation_state'), 0);
BEGIN
    IF v_rotation % 2 = 0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (p_queue_id, p_endpoint_id, p_order, p_number, p_enqueued_at, p_message_type_id, p_priority, p_validation, p_body);
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (p_queue_id, p_endpoint_id, p_order, p_number, p_enqueued_at, p_message_type_id, p_priority, p_validation, p_body);
    END IF;
    RETURN p_order;
END;
$$;

-- Appends to the receiver's queue and returns its place there. The transaction's
-- number is drawn before the order: ssb.receive's low-water mark relies on that.
CREATE OR REPLACE FUNCTION ssb_internal.put_message(p_receiver ssb.conversation_endpoint, p_message_type_id integer,
                                                    p_number bigint, p_validation char(2), p_body bytea)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_order bigint;
BEGIN
    PERFORM pg_current_xact_id();
    IF p_message_type_id IN (1, 3) AND ssb_internal.others_may_wait(p_receiver) THEN
        INSERT INTO ssb.urgent_conversation (queue_id, endpoint_id) VALUES (p_receiver.queue_id, p_receiver.endpoint_id);
        PERFORM nextval('ssb.urgent_conversations');     -- after the lock that the INSERT takes
    END IF;
    PERFORM pg_try_advisory_xact_lock(1397965379, q.order_sequence::oid::integer)     -- see ssb.send
       FROM ssb.queue AS q WHERE q.queue_id = p_receiver.queue_id;
    SELECT ssb_internal.store_message(q.queue_id, p_receiver.endpoint_id, nextval(q.order_sequence), p_number, clock_timestamp(),
                                      p_message_type_id, p_receiver.priority, p_validation,
                                      CASE WHEN p_validation = 'N' THEN p_body ELSE nullif(p_body, '') END) INTO v_order
      FROM ssb.queue AS q WHERE q.queue_id = p_receiver.queue_id;
    PERFORM ssb_internal.announce_arrival(q.queue_id) FROM ssb.queue AS q
      WHERE q.queue_id = p_receiver.queue_id AND ssb_internal.queue_state(q.state_sequence) % 2 = 1;
    RETURN v_order;
END;
$$;

-- Whether messages of the conversation wait, or somebody may be sending one: its order may be lower
-- than that of what is put now.
CREATE OR REPLACE FUNCTION ssb_internal.others_may_wait(p_receiver ssb.conversation_endpoint)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $$
BEGIN
    PERFORM FROM ssb.message_stored AS m WHERE m.endpoint_id = p_receiver.endpoint_id LIMIT 1;
    IF FOUND OR p_receiver.far_endpoint_id IS NULL THEN
        RETURN FOUND;
    END IF;
    BEGIN
        -- A sender holds his own side's group. The lock is given back at once.
        PERFORM FROM ssb.conversation_endpoint AS f
          CROSS JOIN LATERAL (SELECT FROM ssb.conversation_endpoint AS l WHERE l.endpoint_id = f.lock_id
                                 FOR NO KEY UPDATE SKIP LOCKED) AS l
          WHERE f.endpoint_id = p_receiver.far_endpoint_id;
        RAISE EXCEPTION USING ERRCODE = CASE WHEN FOUND THEN 'SP001' ELSE 'SP002' END, MESSAGE = 'done';
    EXCEPTION
        WHEN SQLSTATE 'SP001' THEN RETURN false;
        WHEN SQLSTATE 'SP002' THEN RETURN true;
    END;
END;
$$;

-- NOTIFY makes commits wait for each other, so it is sent only while a watcher has
-- asked for it (ssb.watch_queue): once it is awake, it looks by itself.
CREATE OR REPLACE FUNCTION ssb_internal.announce_arrival(p_queue_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('ssb_arrival', p_queue_id::text) WHERE current_setting('ssb.two_phase', true) IS DISTINCT FROM 'on';
END;
$$;

-- The body of an Error message.
CREATE OR REPLACE FUNCTION ssb_internal.error_body(p_code integer, p_description text)
RETURNS bytea
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.xml_bytes(format('<Error xmlns="http://schemas.microsoft.com/SQL/ServiceBroker/Error"><Code>%s</Code>'
                                         '<Description>%s</Description></Error>', p_code, ssb_internal.xml_text(p_description)));
END;
$$;

-- An Error that the broker itself makes: it comes to this side's own queue, and
-- the side can only END from then on. A later one is not put: the first counts.
CREATE OR REPLACE FUNCTION ssb_internal.fail_endpoint(p_endpoint_id bigint, p_code integer, p_description text,
                                                      p_is_refused boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_endpoint ssb.conversation_endpoint;
BEGIN
    UPDATE ssb.conversation_endpoint AS e
       SET is_error = true, is_refused = e.is_refused OR p_is_refused, due_at = e.dialog_timer
     WHERE e.endpoint_id = p_endpoint_id AND e.closed_at IS NULL AND NOT e.is_error
    RETURNING e.* INTO v_endpoint;
    IF FOUND THEN
        PERFORM ssb_internal.put_message(v_endpoint, 1, -1, 'X', ssb_internal.error_body(p_code, p_description));
    END IF;
END;
$$;

-- The service of that name in this instance, or in that T-SQL database of it. One out of several is taken at random.
CREATE OR REPLACE FUNCTION ssb_internal.choose_service(p_name text, p_instance text)
RETURNS ssb.service
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT s
              FROM ssb.service AS s
              JOIN ssb.database AS d ON d.database_id = s.database_id
             WHERE s.name = p_name AND (p_instance IS NULL OR d.service_broker_guid::text = lower(p_instance))
             ORDER BY d.is_broker_enabled DESC, random() LIMIT 1);
END;
$$;

-- Which service the initiator means; it stays for the dialog. Without one, status says why.
CREATE OR REPLACE FUNCTION ssb_internal.find_target(p_endpoint ssb.conversation_endpoint, OUT service ssb.service, OUT status text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_address text;
BEGIN
    -- Dialogs that routes lead away have gone another way before (ssb_internal.forward_to_remote); this one is at home.
    v_address := (SELECT f.address FROM ssb_internal.find_route(p_endpoint.database_id, p_endpoint.far_service,
                                                                p_endpoint.far_broker_instance, 'LOCAL', false) AS f);
    IF v_address IS NULL THEN
        status := 'No route matches the destination service name for this conversation. Create a route to the destination service name for '
                  'messages in this conversation to be delivered.';
        RETURN;
    ELSIF upper(v_address COLLATE "C") <> 'LOCAL' THEN
        status := ssb_internal.status_on_route(v_address);
        RETURN;
    END IF;
    service := ssb_internal.choose_service(p_endpoint.far_service, p_endpoint.far_broker_instance);
    IF service.service_id IS NULL THEN
        status := ssb_internal.status_on_route(NULL);
    END IF;
END;
$$;

-- The target's endpoint, made when the first message comes. NULL when the target
-- does not take part: status says why it has to wait, refusal why it never will.
CREATE OR REPLACE FUNCTION ssb_internal.make_target(p_endpoint ssb.conversation_endpoint, OUT target ssb.conversation_endpoint,
                                                    OUT status text, OUT refusal_code integer, OUT refusal text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_found record;
    v_service ssb.service;
    v_contract ssb.contract;
BEGIN
    LOOP
        SELECT t.* INTO v_found FROM ssb_internal.find_target(p_endpoint) AS t;
        v_service := v_found.service;
        IF v_service.service_id IS NULL THEN
            status := v_found.status;
            RETURN;
        END IF;
        EXIT WHEN ssb_internal.share_service(v_service) OR current_setting('transaction_isolation') <> 'read committed';
    END LOOP;
    status := ssb_internal.reason_to_wait(v_service.queue_id);
    IF status IS NOT NULL THEN
        RETURN;
    END IF;
    -- The dialog is its initiating service's: that one's owner needs SEND, whoever is sending.
    IF NOT p_endpoint.is_system
       AND NOT EXISTS (
           SELECT FROM ssb.service AS s
            WHERE s.service_id = p_endpoint.service_id
              AND (ssb_internal.same_principal(s.owner, v_service.owner)
                   OR CASE WHEN ssb_internal.role_of(s.owner) IS NULL AND lower(s.owner COLLATE "C") <> 'dbo'
                           THEN ssb_internal.user_may_send(s.owner, v_service)
                           ELSE ssb_internal.has_permission(coalesce(ssb_internal.role_of(s.owner), ssb_internal.runtime_owner()), 'SERVICE',
                                                            v_service.service_id, 'SEND', v_service.owner, v_service.database_id) END))
       AND NOT (v_service.database_id <> p_endpoint.database_id AND ssb_internal.sends_by_certificate(p_endpoint, v_service))
    THEN
        status := format('You do not have permission to access the service ''%s''.', v_service.name);
        RETURN;
    END IF;
    IF p_endpoint.is_encrypted AND v_service.database_id <> p_endpoint.database_id
       AND (SELECT d.options ->> 'LOCAL_DIALOG_SECURITY' = 'ON' FROM ssb.database AS d WHERE d.database_id = p_endpoint.database_id) THEN
        status := ssb_internal.local_security_status(p_endpoint, v_service.database_id);
        IF status IS NOT NULL THEN
            RETURN;
        END IF;
    END IF;
    v_contract := ssb_internal.find_contract(v_service.database_id, p_endpoint.contract_name);
    IF v_contract.contract_id IS NULL
       OR NOT EXISTS (SELECT FROM ssb.service_contract_usage AS u
                       WHERE u.service_id = v_service.service_id AND u.contract_id = v_contract.contract_id) THEN
        refusal_code := -8408;
        refusal := format('Target service ''%s'' does not support contract ''%s''.', v_service.name, p_endpoint.contract_name);
        RETURN;
    END IF;
    target := ssb_internal.make_endpoint(false, p_endpoint.conversation_id, v_service, v_contract.contract_id, v_contract.name,
        p_endpoint.service_name,
        (SELECT d.service_broker_guid::text FROM ssb.database AS d WHERE d.database_id = p_endpoint.database_id),
        NULL, NULL, p_endpoint.lifetime, p_endpoint.is_encrypted, p_endpoint.is_system, p_endpoint);
    UPDATE ssb.conversation_endpoint AS e
       SET far_endpoint_id = target.endpoint_id, far_queue_id = target.queue_id, far_order = target.near_order,
           far_state = target.near_state, far_contract_id = target.contract_id, far_priority = target.priority
     WHERE e.endpoint_id = p_endpoint.endpoint_id;
END;
$$;

-- Why nothing can be put on this queue now; NULL when it can.
CREATE OR REPLACE FUNCTION ssb_internal.reason_to_wait(p_queue_id integer)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_queue ssb.queue;
    v_is_off boolean;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    v_is_off := NOT v_queue.is_enqueue_enabled OR ssb_internal.is_being_dropped(p_queue_id);
    IF NOT v_is_off AND ssb_internal.is_poisoned(v_queue) THEN
        -- Who alters the queue in a transaction that goes on is not waited for: what comes from elsewhere, and what is due, is others', too.
        PERFORM FROM ssb.queue AS q WHERE q.queue_id = p_queue_id FOR NO KEY UPDATE SKIP LOCKED;
        v_is_off := NOT FOUND OR ssb_internal.disable_if_poisoned(v_queue);
    END IF;
    IF v_is_off THEN
        RETURN 'One or more messages could not be delivered to the local service targeted by this dialog.';
    ELSIF NOT v_queue.is_accepting THEN
        RETURN 'The Service Broker in the target database is unavailable: ''The service broker is administratively disabled.''.';
    END IF;
    RETURN NULL;
END;
$$;

-- Hands one message of p_sender to its far side. Returns NULL when that is settled
-- (it is on the queue, or was refused, or nobody wants it any more), else the
-- reason why it has to wait.
CREATE OR REPLACE FUNCTION ssb_internal.deliver(p_sender_id bigint, p_message_type_name text, p_number bigint,
                                                p_is_end_of_dialog boolean, p_is_error boolean, p_body bytea)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_sender ssb.conversation_endpoint;
    v_receiver ssb.conversation_endpoint;
    v_made record;
    v_usage ssb.contract_message_usage;
    v_reason text;
    v_order bigint;
BEGIN
    -- Before the contract is read: ALTER MESSAGE TYPE waits for us, or we for it.
    IF NOT pg_try_advisory_xact_lock_shared(1397965377, hashtext(p_message_type_name)) THEN
        PERFORM ssb_internal.await_definition();
    END IF;
    SELECT e.* INTO STRICT v_sender FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_sender_id;
    IF NOT (SELECT d.is_broker_enabled FROM ssb.database AS d WHERE d.database_id = v_sender.database_id) THEN
        RETURN 'The broker is disabled in the sender''s database.';
    END IF;
    IF v_sender.far_endpoint_id IS NULL THEN
        SELECT t.* INTO v_made FROM ssb_internal.make_target(v_sender) AS t;
        v_receiver := v_made.target;
        IF v_made.status IS NOT NULL THEN
            RETURN v_made.status;
        ELSIF v_made.refusal IS NOT NULL THEN
            PERFORM ssb_internal.fail_endpoint(v_sender.endpoint_id, v_made.refusal_code, v_made.refusal, true);
            RETURN NULL;
        END IF;
    ELSE
        SELECT e.* INTO v_receiver FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_sender.far_endpoint_id;
        IF NOT FOUND THEN
            RETURN 'The remote conversation endpoint is either in a state where no more messages can be exchanged, '
                   'or it has been dropped.';
        ELSIF v_receiver.closed_at IS NOT NULL OR (v_receiver.is_system AND v_receiver.is_initiator) THEN
            -- Ended meanwhile, or an event notification, whose own side nobody reads. It was sent all the same, and counts.
            UPDATE ssb.conversation_endpoint AS e SET sent_count = greatest(e.sent_count, p_number + 1), sent_order = NULL
             WHERE e.endpoint_id = v_sender.endpoint_id;
            RETURN NULL;
        END IF;
        v_reason := ssb_internal.reason_to_wait(v_receiver.queue_id);
        IF v_reason IS NOT NULL THEN
            RETURN v_reason;
        END IF;
    END IF;

    IF p_is_end_of_dialog THEN
        v_order := ssb_internal.put_message(v_receiver, 2, p_number, 'E', NULL);
    ELSIF p_is_error THEN
        v_order := ssb_internal.put_message(v_receiver, 1, p_number, 'X', p_body);
    ELSE
        SELECT u.* INTO v_usage FROM ssb.contract_message_usage AS u
         WHERE u.contract_id = v_receiver.contract_id AND u.message_type_name = p_message_type_name;
        IF NOT FOUND THEN
            PERFORM ssb_internal.fail_endpoint(v_sender.endpoint_id, -8498, format('The remote service has sent a message of type ''%s'' '
                'that is not part of the local contract.', p_message_type_name), true);
            RETURN NULL;
        ELSIF v_sender.is_initiator AND NOT v_usage.is_sent_by_initiator THEN
            PERFORM ssb_internal.fail_endpoint(v_sender.endpoint_id, -8457, format('The message received was sent by the initiator of the '
                'conversation, but the message type ''%s'' is marked SENT BY TARGET in the contract.', p_message_type_name), true);
            RETURN NULL;
        ELSIF NOT v_sender.is_initiator AND NOT v_usage.is_sent_by_target THEN
            PERFORM ssb_internal.fail_endpoint(v_sender.endpoint_id, -8437, format('The message received was sent by a Target service, but '
                'the message type ''%s'' is marked SENT BY INITIATOR in the contract.', p_message_type_name), true);
            RETURN NULL;
        END IF;
        v_reason := ssb_internal.validate_body(v_usage, v_sender, p_number, p_body);
        IF v_reason IS NOT NULL THEN
            PERFORM ssb_internal.fail_endpoint(v_sender.endpoint_id, CASE v_usage.validation WHEN 'X' THEN -9615 ELSE -8430 END,
                                               v_reason, true);
            RETURN NULL;
        END IF;
        v_order := ssb_internal.put_message(v_receiver, v_usage.message_type_id, p_number, v_usage.validation, p_body);
    END IF;
    UPDATE ssb.conversation_endpoint AS e
       SET sent_count = greatest(e.sent_count, p_number + 1), sent_order = v_order,
           plain_type = CASE WHEN v_usage.validation = 'N' THEN v_usage.message_type_name ELSE e.plain_type END,
           plain_type_id = CASE WHEN v_usage.validation = 'N' THEN v_usage.message_type_id ELSE e.plain_type_id END
     WHERE e.endpoint_id = v_sender.endpoint_id;
    RETURN NULL;
END;
$$;

-- Whether the body is right for this validation of this message type, as far as that is known without a schema: what SEND
-- asks before it takes the fast path. False: ssb_internal.validate_body finds out.
CREATE OR REPLACE FUNCTION ssb_internal.is_valid_body(p_message_type_id integer, p_validation char(2), p_body bytea)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF p_validation = 'N' OR p_body = '' THEN
        RETURN true;
    ELSIF p_validation <> 'X'
          OR (SELECT t.collection_id IS NOT NULL FROM ssb.message_type AS t WHERE t.message_type_id = p_message_type_id) THEN
        RETURN false;
    END IF;
    RETURN ssb_internal.xml_fault(p_body) IS NULL;
END;
$$;

-- VALIDATION as the target's message type wants it. NULL: the body is right.
CREATE OR REPLACE FUNCTION ssb_internal.validate_body(p_usage ssb.contract_message_usage, p_sender ssb.conversation_endpoint,
                                                      p_number bigint, p_body bytea)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_compiled jsonb;
    v_fault text;
BEGIN
    IF p_usage.validation = 'N' OR coalesce(length(p_body), 0) = 0 THEN
        -- A body that is missing or of zero length is NULL, which every validation accepts.
        RETURN NULL;
    ELSIF p_usage.validation = 'E' THEN
        RETURN 'The message body failed the configured validation.';
    END IF;
    SELECT c.compiled INTO v_compiled FROM ssb.message_type AS t
      JOIN ssb.xml_schema_collection AS c ON c.collection_id = t.collection_id
     WHERE t.message_type_id = p_usage.message_type_id;
    v_fault := ssb_internal.xml_fault(p_body);
    IF v_fault IS NULL AND v_compiled IS NOT NULL THEN
        -- A statement of its own: without collections the function need not be there (pgsb install --parts broker).
        v_fault := ssb_internal.xml_schema_validate(v_compiled, p_body);
    END IF;
    IF v_fault IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN format('A message of type ''%s'' failed XML validation on the target service. %s This occurred in the message with '
                  'Conversation ID ''%s'', Initiator: %s, and Message sequence number: %s.', p_usage.message_type_name, v_fault,
                  upper(p_sender.conversation_id::text), CASE WHEN p_sender.is_initiator THEN 1 ELSE 0 END, p_number);
END;
$$;

-- Delivers now, or keeps the message in sys.transmission_queue. What was sent
-- earlier on the conversation goes first.
CREATE OR REPLACE FUNCTION ssb_internal.deliver_or_keep(p_sender ssb.conversation_endpoint, p_message_type_name text, p_number bigint,
                                                        p_is_end_of_dialog boolean, p_is_error boolean, p_body bytea)
RETURNS boolean                                    -- delivered
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_status text;
    v_is_remote boolean;
    v_trace text;
BEGIN
    IF current_setting('pgsb.traceparent', true) <> '' AND NOT p_is_end_of_dialog AND NOT p_is_error THEN
        v_trace := ssb_internal.trace_to_send(p_sender.endpoint_id, p_message_type_name);
    END IF;
    IF p_sender.far_endpoint_id IS NULL THEN
        v_status := ssb_internal.forward_to_remote(p_sender, p_is_end_of_dialog OR p_is_error);
    END IF;
    v_is_remote := v_status IS NOT NULL;
    IF v_status IS NULL AND p_sender.has_waiting AND NOT ssb_internal.deliver_waiting(p_sender.endpoint_id) THEN
        v_status := 'Earlier messages of this conversation are waiting.';
    ELSIF v_status IS NULL THEN
        v_status := ssb_internal.deliver(p_sender.endpoint_id, p_message_type_name, p_number, p_is_end_of_dialog, p_is_error, p_body);
        IF v_status IS NULL THEN
            IF v_trace IS NOT NULL THEN
                PERFORM ssb_internal.keep_trace(e.far_endpoint_id, e.sent_order, p_number, v_trace)
                   FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_sender.endpoint_id;
            END IF;
            RETURN true;
        END IF;
    END IF;
    INSERT INTO ssb.transmission (database_id, endpoint_id, to_service, message_sequence_number, message_type_name,
                                  is_end_of_dialog, is_conversation_error, enqueued_at, body, transmission_status, trace, priority,
                                  peer_id)
    VALUES (p_sender.database_id, p_sender.endpoint_id, p_sender.far_service, p_number, p_message_type_name,
            p_is_end_of_dialog, p_is_error, clock_timestamp(), p_body, v_status, v_trace,
            -- That of a dialog does not change while messages of it wait: they leave in order.
            CASE WHEN p_sender.priority = 5 THEN 5
                 ELSE coalesce((SELECT t.priority FROM ssb.transmission AS t
                                 WHERE t.endpoint_id BETWEEN p_sender.endpoint_id AND p_sender.endpoint_id
                                 ORDER BY t.endpoint_id, t.message_sequence_number LIMIT 1),
                               (SELECT p_sender.priority FROM ssb.database AS d
                                 WHERE d.database_id = p_sender.database_id AND d.is_honor_broker_priority_on), 5) END,
            CASE WHEN v_is_remote THEN (SELECT r.peer_id FROM ssb.remote_conversation AS r WHERE r.endpoint_id = p_sender.endpoint_id) END);
    UPDATE ssb.conversation_endpoint AS e SET has_waiting = true, sent_count = p_number + 1, sent_order = NULL
     WHERE e.endpoint_id = p_sender.endpoint_id AND NOT (v_is_remote AND p_sender.has_waiting AND NOT p_is_end_of_dialog);
    RETURN false;
END;
$$;

-- Tries the waiting messages of one conversation again, in order, up to the first
-- that still has to wait. True when none is left. Those of a dialog with another instance are the daemon's;
-- only their route is looked up again.
-- Locks  the caller holds the sender's group
CREATE OR REPLACE FUNCTION ssb_internal.deliver_waiting(p_endpoint_id bigint)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_sort = off
SET jit = off
AS $$
DECLARE
    v_endpoint ssb.conversation_endpoint;
    v_message ssb.transmission;
    v_status text;
BEGIN
    SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e
     WHERE e.endpoint_id = p_endpoint_id AND e.far_endpoint_id IS NULL AND e.has_waiting;
    IF FOUND AND ssb_internal.forward_to_remote(v_endpoint) IS NOT NULL THEN
        RETURN false;
    END IF;
    FOR v_message IN
        -- (In the order of an index for it: see ssb_internal.number_behind_waiting.)
        SELECT t.* FROM ssb.transmission AS t WHERE t.endpoint_id BETWEEN p_endpoint_id AND p_endpoint_id
         ORDER BY t.endpoint_id, t.message_sequence_number
    LOOP
        v_status := ssb_internal.deliver(p_endpoint_id, v_message.message_type_name, v_message.message_sequence_number,
                                         v_message.is_end_of_dialog, v_message.is_conversation_error, v_message.body);
        IF v_status IS NOT NULL THEN
            UPDATE ssb.transmission AS t SET transmission_status = v_status
             WHERE t.endpoint_id = p_endpoint_id AND t.transmission_status <> v_status;
            RETURN false;
        END IF;
        IF v_message.trace IS NOT NULL THEN
            PERFORM ssb_internal.keep_trace(e.far_endpoint_id, e.sent_order, v_message.message_sequence_number, v_message.trace)
               FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_endpoint_id;
        END IF;
        DELETE FROM ssb.transmission AS t
         WHERE t.endpoint_id = p_endpoint_id AND t.message_sequence_number = v_message.message_sequence_number
           AND t.transmission_id = v_message.transmission_id;
        IF v_message.is_end_of_dialog OR v_message.is_conversation_error THEN
            PERFORM ssb_internal.note_close_known(p_endpoint_id);
        END IF;
    END LOOP;
    UPDATE ssb.conversation_endpoint AS e SET has_waiting = false WHERE e.endpoint_id = p_endpoint_id AND e.has_waiting;
    RETURN true;
END;
$$;

-- After the obstacle is gone: every conversation with messages for the services of
-- this queue. One whose group somebody else holds is left to the next look. p_with_remote: dialogs that wait for another
-- instance too, which may be none of its any more; those who only look leave them to changes of routes and the daemon, and
-- what a database without a broker has sent to ENABLE_BROKER.
CREATE OR REPLACE FUNCTION ssb_internal.deliver_waiting_for_queue(p_queue_id integer, p_with_remote boolean DEFAULT true)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_endpoint_id bigint;
BEGIN
    FOR v_endpoint_id IN
        SELECT w.endpoint_id
          FROM (SELECT DISTINCT t.endpoint_id
                  FROM (SELECT s.name FROM ssb.service AS s WHERE s.queue_id = p_queue_id OFFSET 0) AS s
                 CROSS JOIN LATERAL (SELECT t.endpoint_id FROM ssb.transmission AS t WHERE t.to_service = s.name OFFSET 0) AS t) AS w
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = w.endpoint_id
          JOIN ssb.database AS d ON d.database_id = e.database_id
         WHERE p_with_remote
            OR (d.is_broker_enabled
                AND NOT EXISTS (SELECT FROM ssb.remote_conversation AS r WHERE r.endpoint_id = w.endpoint_id AND r.address IS NOT NULL))
         ORDER BY CASE WHEN d.is_honor_broker_priority_on THEN e.priority ELSE 5 END DESC, w.endpoint_id
    LOOP
        IF ssb_internal.try_lock_endpoint(v_endpoint_id) THEN
            PERFORM ssb_internal.deliver_waiting(v_endpoint_id);
        END IF;
    END LOOP;
END;
$$;

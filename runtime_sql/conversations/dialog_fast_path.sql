-- Dialogs that carry a message or two: the fast path of BEGIN DIALOG and the first SEND, in a few
-- statements, as ssb.send does it for later messages. (ssb.send_new does both in three, and the fast path of END
-- CONVERSATION stands in end_conversation.sql.)
--
-- The fast path takes: both sides in one T-SQL database with one owner, the only service of that
-- name, routes that all lead here, a body that is valid without a schema, a
-- dialog that shares its group with no other, queues that accept
-- and that nobody waits to be told of. (Dialogs that leave for another instance:
-- ssb_internal.send_first_to_remote.) Each function here returns false,
-- or nothing, and has done nothing but lock its side's group, where that does not hold;
-- the slow path then does it, and knows the errors. Their callers have the planner
-- set as it must be.

-- Rights and states, as in ssb.send: PUBLIC's SELECT on a queue's state sequence says
-- that messages may simply be appended, that on its column that they may be where it retains; the caller's USAGE of
-- its order sequence is RECEIVE.

-- BEGIN DIALOG in a group of its own. NULL: not on the fast path.
-- Called by  ssb.begin_dialog
-- Locks      the service's advisory lock, shared: see ssb_internal.share_service
CREATE OR REPLACE FUNCTION ssb_internal.begin_dialog_fast_path(p_database_id integer, p_service text, p_far_service text, p_contract text,
                                                           p_is_encrypted boolean, p_lifetime timestamptz)
RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_id bigint;
    v_handle uuid;
    v_service_id integer;
    v_queue_id integer;
    v_order regclass;
    v_state regclass;
    v_contract_id integer;
    v_priority smallint := 5;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    SELECT nextval('ssb.endpoint_id'), gen_random_uuid(), p.service_id, p.queue_id, p.near_order, p.near_state, p.contract_id,
           p.near_priority
      INTO v_id, v_handle, v_service_id, v_queue_id, v_order, v_state, v_contract_id, v_priority
      FROM ssb.dialog_path AS p
     WHERE p.database_id = p_database_id AND p.from_service = p_service AND p.to_service = p_far_service AND p.contract = p_contract
       -- First the lock, then the epoch (ssb_internal.share_service).
       AND CASE WHEN pg_try_advisory_xact_lock_shared(1397965377, ssb_internal.service_lock(p.service_id))
                THEN p.epoch = coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0) END
       AND has_sequence_privilege(ssb_internal.calling_role(), p.near_order, 'USAGE');
    IF NOT FOUND THEN
        -- For a target that is elsewhere, or not there yet; of the level 5.
        SELECT nextval('ssb.endpoint_id'), gen_random_uuid(), s.service_id, q.queue_id, q.order_sequence, q.state_sequence, c.contract_id, 5
          INTO v_id, v_handle, v_service_id, v_queue_id, v_order, v_state, v_contract_id, v_priority
          FROM ssb.service AS s
          JOIN ssb.queue AS q ON q.queue_id = s.queue_id
          JOIN ssb.contract AS c ON c.name = p_contract AND coalesce(c.database_id, 0) IN (0, p_database_id)
         WHERE s.name = p_service AND s.database_id = p_database_id
           AND has_sequence_privilege(ssb_internal.calling_role(),
                                      q.order_sequence, 'USAGE')
           AND NOT EXISTS (SELECT FROM ssb.broker_priority AS p
                            WHERE p.database_id = p_database_id AND coalesce(p.contract_id, c.contract_id) = c.contract_id
                              AND coalesce(p.service_id, s.service_id) = s.service_id
                              AND coalesce(p.remote_service, p_far_service) = p_far_service);
        IF NOT FOUND OR NOT ssb_internal.share_service(ROW(v_service_id, p_database_id, p_service, v_queue_id, '')::ssb.service) THEN
            RETURN NULL;
        END IF;
    END IF;
    INSERT INTO ssb.conversation_endpoint
           (endpoint_id, conversation_handle, conversation_id, is_initiator, is_encrypted, is_system, lock_id,
            conversation_group_id, database_id, service_id, queue_id, near_order, near_state, contract_id, priority,
            service_name, contract_name, far_service, lifetime, due_at)
    VALUES (v_id, v_handle, v_handle, true, p_is_encrypted, false, v_id,
            v_handle, p_database_id, v_service_id, v_queue_id, v_order, v_state, v_contract_id, v_priority,
            p_service, p_contract, p_far_service, p_lifetime, p_lifetime);
    RETURN v_handle;
END;
$$;

-- The first message of an initiator, of which ssb.send has found that it is open and may send; makes the target's endpoint.
-- Called by  ssb.send and ssb_internal.send_retained, which have locked its group
CREATE OR REPLACE FUNCTION ssb_internal.send_first_fast_path(p_endpoint_id bigint, p_message_type text, p_body bytea)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- The lock on the message type comes before its contract is read: ALTER MESSAGE TYPE
    -- waits for us, or we for it.
    v_lock text := CASE WHEN pg_try_advisory_xact_lock_shared(1397965377, hashtext(p_message_type)) THEN ''
                        ELSE ssb_internal.await_definition() END;
    v_handle uuid;
    v_conversation_id uuid;
    v_is_encrypted boolean;
    v_database_id integer;
    v_lifetime timestamptz;
    v_queue_id integer;
    v_near_order regclass;
    v_near_state regclass;
    v_contract_id integer;
    v_far_id bigint;
    v_far_service_id integer;
    v_far_queue_id integer;
    v_far_order regclass;
    v_far_state regclass;
    v_broker_guid text;
    v_service text;
    v_far_service text;
    v_contract text;
    v_type_id integer;
    v_validation char(2);
    v_order bigint;
    v_priority smallint;
    v_far_priority smallint;
    v_is_in_0 boolean;
BEGIN
    LOOP
        -- The order below the group's lock, which the caller has, and after its advisory lock, as in ssb.send: an UPDATE
        -- may draw it, as nobody else can change the row now.
        UPDATE ssb.conversation_endpoint AS e
           SET far_endpoint_id = nextval('ssb.endpoint_id'), far_queue_id = p.far_queue_id, far_order = p.far_order,
               far_state = p.far_state, far_contract_id = p.contract_id, far_priority = p.far_priority, sent_count = 1,
               sent_order = CASE WHEN pg_try_advisory_xact_lock(1397965379, p.far_order::oid::integer) IS NOT NULL
                                 THEN nextval(p.far_order) END,
               plain_type_id = CASE WHEN u.validation = 'N' THEN u.message_type_id END,
               plain_type = CASE WHEN u.validation = 'N' THEN u.message_type_name END
          FROM ssb.dialog_path AS p
          JOIN ssb.contract_message_usage AS u ON u.contract_id = p.contract_id AND u.message_type_name = p_message_type
         WHERE p.database_id = e.database_id AND p.from_service = e.service_name
           AND p.to_service = e.far_service AND p.contract = e.contract_name
           -- First the lock, then the epoch, which ALTER and DROP SERVICE draw below their lock (ssb_internal.share_service). Then the
           -- queue's state: of a path that is out of date the queue may be about to be dropped.
           AND CASE WHEN p.far_service_id IS NOT NULL
                         AND pg_try_advisory_xact_lock_shared(1397965377, ssb_internal.service_lock(p.far_service_id))
                    THEN p.epoch = coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0)
                         AND ssb_internal.is_accepting(p.far_state)
                         AND coalesce(pg_sequence_last_value(p.far_state), 0) = 0 END
           AND e.endpoint_id = p_endpoint_id AND e.is_initiator AND NOT e.is_system AND e.far_broker_instance IS NULL
           AND e.sent_count = 0
           AND p.service_id = e.service_id AND p.queue_id = e.queue_id AND p.contract_id = e.contract_id
           AND u.is_sent_by_initiator
           AND (u.validation = 'N' OR ssb_internal.is_valid_body(u.message_type_id, u.validation, p_body))
        -- From the endpoint what it has, too: each column of the others goes up through the whole plan.
        RETURNING ssb_internal.target_handle(e.conversation_handle), e.conversation_id, e.is_encrypted, e.database_id, e.lifetime,
                  e.queue_id, e.near_order, e.near_state, e.contract_id, p.far_service_id, e.far_queue_id, e.far_order, e.far_state,
                  p.broker_guid, e.service_name, e.far_service, e.contract_name, u.message_type_id, u.validation, e.far_endpoint_id,
                  e.sent_order, e.priority, e.far_priority,
                  coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) % 2 = 0
             INTO v_handle, v_conversation_id, v_is_encrypted, v_database_id, v_lifetime,
                  v_queue_id, v_near_order, v_near_state, v_contract_id, v_far_service_id, v_far_queue_id, v_far_order, v_far_state,
                  v_broker_guid, v_service, v_far_service, v_contract, v_type_id, v_validation, v_far_id, v_order, v_priority, v_far_priority,
                  v_is_in_0;
        EXIT WHEN FOUND;
        IF ssb_internal.send_first_to_remote(p_endpoint_id, p_message_type, p_body) THEN
            RETURN true;
        ELSIF v_lock IS NULL
           OR (SELECT f.far_service_id FROM ssb.conversation_endpoint AS e
                CROSS JOIN LATERAL ssb_internal.find_dialog_path(e.database_id, e.service_name, e.far_service, e.contract_name) AS f
                WHERE e.endpoint_id = p_endpoint_id AND e.is_initiator AND NOT e.is_system AND e.far_broker_instance IS NULL
                  AND e.sent_count = 0
                  AND NOT EXISTS (SELECT FROM ssb.dialog_path AS p
                                   WHERE p.database_id = e.database_id AND p.from_service = e.service_name
                                     AND p.to_service = e.far_service AND p.contract = e.contract_name
                                     AND p.epoch = coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0))) IS NULL THEN
            RETURN false;
        END IF;
        v_lock := NULL;
    END LOOP;
    -- The path is there several times: a number and an order were drawn for each.
    IF currval('ssb.endpoint_id') > v_far_id THEN
        PERFORM ssb_internal.thin_dialog_paths(v_database_id, v_service, v_far_service, v_contract);
    END IF;
    INSERT INTO ssb.conversation_endpoint
           (endpoint_id, conversation_handle, conversation_id, is_initiator, is_encrypted, is_system, lock_id,
            conversation_group_id, database_id, service_id, queue_id, near_order, near_state, contract_id, priority,
            service_name, contract_name, far_service, far_broker_instance, first_type_id, first_type,
            far_endpoint_id, far_queue_id, far_order, far_state, far_contract_id, far_priority, lifetime, due_at)
    VALUES (v_far_id, v_handle, v_conversation_id, false, v_is_encrypted, false, v_far_id,
            v_handle, v_database_id, v_far_service_id, v_far_queue_id, v_far_order, v_far_state, v_contract_id, v_far_priority,
            v_far_service, v_contract, v_service, v_broker_guid, v_type_id, p_message_type,
            p_endpoint_id, v_queue_id, v_near_order, v_near_state, v_contract_id, v_priority, v_lifetime,
            coalesce(v_lifetime, now() + interval '31 minutes'));
    IF v_validation <> 'N' AND p_body = '' THEN
        p_body := NULL;
    END IF;
    IF v_is_in_0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_far_queue_id, v_far_id, v_order, 0, clock_timestamp(), v_type_id, v_far_priority, v_validation, p_body);
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_far_queue_id, v_far_id, v_order, 0, clock_timestamp(), v_type_id, v_far_priority, v_validation, p_body);
    END IF;
    IF current_setting('pgsb.traceparent', true) <> '' THEN
        PERFORM ssb_internal.trace_sent(p_endpoint_id, p_message_type, v_far_id, v_order);
    END IF;
    RETURN true;
END;
$$;

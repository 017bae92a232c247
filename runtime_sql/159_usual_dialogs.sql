-- Dialogs that carry a message or two: the usual BEGIN DIALOG, first SEND and END
-- CONVERSATION in a few statements, as ssb.send does it for later messages.
--
-- Usual is: both sides in one T-SQL database with one owner, the only service of that
-- name, routes that all lead here, no priorities, a message type without validation, a
-- dialog without lifetime that shares its group with no other, queues that accept and
-- retain nothing and that nobody waits to be told of. Each function here returns false,
-- or nothing, and has done nothing but lock its side's group, where that does not hold;
-- the careful functions then do it, and know the errors. Their callers have the planner
-- set as it must be.

-- Rights and states, as in ssb.send: PUBLIC's SELECT on a queue's state sequence says
-- that messages may simply be appended, the caller's USAGE of its order sequence RECEIVE.

-- BEGIN DIALOG in a group of its own. NULL: not usual.
-- Called by  ssb.begin_dialog
CREATE OR REPLACE FUNCTION ssb.begin_usual_dialog(p_database_id integer, p_service text, p_far_service text, p_contract text,
                                                  p_is_encrypted boolean)
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
BEGIN
    SELECT nextval('ssb.endpoint_id'), gen_random_uuid(), s.service_id, q.queue_id, q.order_sequence, q.state_sequence, c.contract_id
      INTO v_id, v_handle, v_service_id, v_queue_id, v_order, v_state, v_contract_id
      FROM ssb.service AS s
      JOIN ssb.queue AS q ON q.queue_id = s.queue_id
      JOIN ssb.contract AS c ON c.name = p_contract AND coalesce(c.database_id, 0) IN (0, p_database_id)
     WHERE s.name = p_service AND s.database_id = p_database_id
       AND has_sequence_privilege(coalesce(nullif(current_setting('role'), 'none')::name, session_user),
                                  q.order_sequence, 'USAGE')
       AND NOT EXISTS (SELECT FROM ssb.broker_priority AS p WHERE p.database_id = p_database_id);
    IF FOUND THEN
        INSERT INTO ssb.conversation_endpoint
               (endpoint_id, conversation_handle, conversation_id, is_initiator, is_encrypted, is_system, lock_id,
                conversation_group_id, database_id, service_id, queue_id, near_order, near_state, contract_id, priority,
                service_name, contract_name, far_service)
        VALUES (v_id, v_handle, gen_random_uuid(), true, p_is_encrypted, false, v_id,
                gen_random_uuid(), p_database_id, v_service_id, v_queue_id, v_order, v_state, v_contract_id, 5,
                p_service, p_contract, p_far_service);
    END IF;
    RETURN v_handle;
END;
$$;

-- The first message of an initiator, of which ssb.send has found that it is open and may send; makes the target's endpoint.
-- Called by  ssb.send, which has locked its group
CREATE OR REPLACE FUNCTION ssb.send_usual_first(p_endpoint_id bigint, p_message_type text, p_body bytea)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_near record;
    v_far record;
BEGIN
    -- The lock on the message type comes before its contract is read: ALTER MESSAGE TYPE
    -- waits for us, or we for it.
    SELECT e.endpoint_id, e.conversation_id, e.database_id, e.service_id, e.service_name, e.far_service, e.contract_id,
           e.contract_name, e.queue_id, e.near_order, e.near_state, e.priority, e.is_encrypted,
           pg_advisory_xact_lock_shared(1397965377, hashtext(p_message_type))
      INTO v_near
      FROM ssb.conversation_endpoint AS e
     WHERE e.endpoint_id = p_endpoint_id AND e.is_initiator AND NOT e.is_system AND e.far_broker_instance IS NULL
       AND e.sent_count = 0;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- The order after its advisory lock, as in ssb.send.
    SELECT s.service_id, q.queue_id, q.order_sequence, q.state_sequence, u.message_type_id, d.service_broker_guid::text AS guid,
           nextval('ssb.endpoint_id') AS id, pg_try_advisory_xact_lock(1397965379, q.order_sequence::oid::integer),
           nextval(q.order_sequence) AS queuing_order, coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) AS rotation
      INTO v_far
      FROM ssb.service AS s
      JOIN ssb.queue AS q ON q.queue_id = s.queue_id
      JOIN ssb.database AS d ON d.database_id = s.database_id
      JOIN ssb.service_contract_usage AS c ON c.service_id = s.service_id AND c.contract_id = v_near.contract_id
      JOIN ssb.contract_message_usage AS u ON u.contract_id = v_near.contract_id AND u.message_type_name = p_message_type
     WHERE s.name = v_near.far_service AND s.database_id = v_near.database_id AND d.is_broker_enabled
       AND u.is_plain_from_initiator
       AND coalesce(pg_sequence_last_value(q.state_sequence), 0) = 0
       AND has_sequence_privilege('public', q.state_sequence, 'SELECT')
       AND s.owner = (SELECT o.owner FROM ssb.service AS o WHERE o.service_id = v_near.service_id)
       AND NOT EXISTS (SELECT FROM ssb.service AS o WHERE o.name = v_near.far_service AND o.database_id <> v_near.database_id)
       AND NOT EXISTS (SELECT FROM ssb.broker_priority AS p WHERE p.database_id = v_near.database_id)
       -- Of the routes that match, the best is taken: here they all lead here.
       AND (SELECT bool_and(upper(r.address) = 'LOCAL' AND r.expires_at IS NULL) FROM ssb.route AS r
             WHERE r.database_id = v_near.database_id AND coalesce(r.service_name, v_near.far_service) = v_near.far_service);
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO ssb.conversation_endpoint
           (endpoint_id, conversation_handle, conversation_id, is_initiator, is_encrypted, is_system, lock_id,
            conversation_group_id, database_id, service_id, queue_id, near_order, near_state, contract_id, priority,
            service_name, contract_name, far_service, far_broker_instance, first_type_id, first_type,
            far_endpoint_id, far_queue_id, far_order, far_state, far_contract_id, far_priority)
    VALUES (v_far.id, gen_random_uuid(), v_near.conversation_id, false, v_near.is_encrypted, false, v_far.id,
            gen_random_uuid(), v_near.database_id, v_far.service_id, v_far.queue_id, v_far.order_sequence,
            v_far.state_sequence, v_near.contract_id, 5,
            v_near.far_service, v_near.contract_name, v_near.service_name, v_far.guid, v_far.message_type_id, p_message_type,
            v_near.endpoint_id, v_near.queue_id, v_near.near_order, v_near.near_state, v_near.contract_id, v_near.priority);
    UPDATE ssb.conversation_endpoint AS e
       SET far_endpoint_id = v_far.id, far_queue_id = v_far.queue_id, far_order = v_far.order_sequence,
           far_state = v_far.state_sequence, far_contract_id = v_near.contract_id, far_priority = 5,
           sent_count = 1, sent_order = v_far.queuing_order, plain_type_id = v_far.message_type_id, plain_type = p_message_type
     WHERE e.endpoint_id = v_near.endpoint_id;
    IF v_far.rotation % 2 = 0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_far.queue_id, v_far.id, v_far.queuing_order, 0, clock_timestamp(), v_far.message_type_id, 5, 'N', p_body);
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_far.queue_id, v_far.id, v_far.queuing_order, 0, clock_timestamp(), v_far.message_type_id, 5, 'N', p_body);
    END IF;
    RETURN true;
END;
$$;

-- END CONVERSATION without error: of a side whose far side is open, which is told; or
-- of an initiator whose far side has ended the dialog, of which nothing is left.
-- Called by  ssb.end_conversation
-- Locks      this side's group
CREATE OR REPLACE FUNCTION ssb.end_usual(p_handle uuid)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_near record;
    v_closed_at timestamptz;
    v_is_known boolean;
    v_order bigint;
    v_rotation bigint;
BEGIN
    SELECT e.endpoint_id, e.is_initiator, e.sent_count, e.sent_order, e.far_endpoint_id, e.far_queue_id, e.far_order, e.far_priority
      INTO v_near
      FROM ssb.conversation_endpoint AS e
     WHERE e.conversation_handle = p_handle AND e.lock_id = e.endpoint_id AND e.closed_at IS NULL AND NOT e.is_error
       AND NOT e.has_waiting AND e.lifetime IS NULL AND NOT e.is_system AND e.far_outcome IS NULL
       AND has_sequence_privilege('public', e.near_state, 'SELECT')
       AND has_sequence_privilege('public', e.far_state, 'SELECT')
       AND coalesce(pg_sequence_last_value(e.far_state), 0) = 0
       AND has_sequence_privilege(coalesce(nullif(current_setting('role'), 'none')::name, session_user),
                                  e.near_order, 'USAGE')
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- After the lock: what the far side is now, and that nothing else hangs on this one.
    SELECT f.closed_at, f.is_close_known AND NOT f.is_closed_by_error, coalesce(pg_sequence_last_value('ssb.rotation_state'), 0)
      INTO v_closed_at, v_is_known, v_rotation
      FROM ssb.conversation_endpoint AS f
     WHERE f.endpoint_id = v_near.far_endpoint_id AND NOT f.is_refused
       AND NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS o
                        WHERE o.lock_id = v_near.endpoint_id AND o.endpoint_id <> v_near.endpoint_id)
       AND NOT EXISTS (SELECT FROM ssb.retained_message AS r WHERE r.endpoint_id = v_near.endpoint_id);
    IF NOT FOUND OR v_rotation & 2 <> 0 OR (v_closed_at IS NOT NULL AND NOT (v_is_known AND v_near.is_initiator)) THEN
        RETURN false;
    END IF;
    -- Nobody will receive what is left.
    IF v_rotation % 2 = 0 THEN
        DELETE FROM ssb.message_0 AS m WHERE m.endpoint_id = v_near.endpoint_id;
    ELSE
        DELETE FROM ssb.message_1 AS m WHERE m.endpoint_id = v_near.endpoint_id;
    END IF;
    IF v_closed_at IS NOT NULL THEN
        DELETE FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_near.endpoint_id;
        RETURN true;
    END IF;
    v_order := CASE WHEN pg_try_advisory_xact_lock(1397965379, v_near.far_order::oid::integer) IS NOT NULL  -- see ssb.send
                    THEN nextval(v_near.far_order) END;
    IF v_rotation % 2 = 0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_near.far_queue_id, v_near.far_endpoint_id, v_order,
                CASE WHEN v_near.sent_count < 16 OR v_near.sent_order IS NULL THEN v_near.sent_count
                     ELSE v_near.sent_count + v_order - v_near.sent_order - 1 END,
                clock_timestamp(), 2, v_near.far_priority, 'E', NULL);
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_near.far_queue_id, v_near.far_endpoint_id, v_order,
                CASE WHEN v_near.sent_count < 16 OR v_near.sent_order IS NULL THEN v_near.sent_count
                     ELSE v_near.sent_count + v_order - v_near.sent_order - 1 END,
                clock_timestamp(), 2, v_near.far_priority, 'E', NULL);
    END IF;
    UPDATE ssb.conversation_endpoint AS e
       SET sent_count = v_near.sent_count + 1, sent_order = v_order, closed_at = clock_timestamp(), is_close_known = true,
           is_closed_by_error = false, dialog_timer = NULL,
           due_at = clock_timestamp() + interval '30 minutes'
     WHERE e.endpoint_id = v_near.endpoint_id;
    RETURN true;
END;
$$;

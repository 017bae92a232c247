-- SEND where a queue has RETENTION = ON.
--
-- Locks      the sender's group, as ssb.send; the advisory lock of the receiver's queue, if it is free

-- What was sent stays in the sender's queue, where that retains. p_body: as it was sent.
-- Called by  those who have sent, with the sender's group locked
CREATE OR REPLACE FUNCTION ssb_internal.retain_sent(p_endpoint_id bigint, p_queue_id integer, p_order_sequence regclass, p_number bigint,
                                                    p_type_id integer, p_priority smallint, p_validation char(2), p_body bytea)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO ssb.retained_message (queue_id, endpoint_id, status, queuing_order, message_sequence_number, enqueued_at,
                                      message_type_id, priority, validation, body)
    VALUES (p_queue_id, p_endpoint_id, 3, nextval(p_order_sequence), p_number, clock_timestamp(),
            p_type_id, p_priority, p_validation, CASE WHEN p_validation = 'E' THEN nullif(p_body, '') ELSE p_body END);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.retain_sent(bigint, integer, regclass, bigint, integer, smallint, char, bytea) FROM PUBLIC;

-- SEND from a queue that retains, or to one: otherwise as ssb.send has it on its fast path, of dialogs that are a group by
-- themselves. False: nothing was done but lock the sender's group.
-- Called by  ssb.send, where one of the queues is not plain
CREATE OR REPLACE FUNCTION ssb_internal.send_retained(p_handle uuid, p_message_type text, p_body bytea)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_endpoint_id bigint;
    v_queue_id integer;
    v_near_order regclass;
    v_priority smallint;
    v_contract_id integer;
    v_far_contract_id integer;
    v_is_initiator boolean;
    v_is_retaining boolean;
    v_count bigint;
    v_count_order bigint;
    v_far_endpoint_id bigint;
    v_far_queue_id integer;
    v_far_order regclass;
    v_far_priority smallint;
    v_type_id integer;
    v_validation char(2);
    v_order bigint;
    v_number bigint := 0;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    -- A queue that retains must accept, for its senders' sake (9618).
    SELECT e.endpoint_id, e.queue_id, e.near_order, e.priority, e.contract_id, e.is_initiator,
           NOT has_sequence_privilege('public', e.near_state, 'SELECT'), e.sent_count, e.sent_order,
           e.far_endpoint_id, e.far_queue_id, e.far_order, e.far_priority, e.far_contract_id
      INTO v_endpoint_id, v_queue_id, v_near_order, v_priority, v_contract_id, v_is_initiator, v_is_retaining, v_count, v_count_order,
           v_far_endpoint_id, v_far_queue_id, v_far_order, v_far_priority, v_far_contract_id
      FROM ssb.conversation_endpoint AS e
     WHERE e.conversation_handle = p_handle AND e.lock_id = e.endpoint_id AND e.closed_at IS NULL AND NOT e.is_error
       AND NOT e.has_waiting AND (e.lifetime IS NULL OR e.lifetime > clock_timestamp())
       AND ssb_internal.is_accepting(e.near_state) AND coalesce(pg_sequence_last_value(e.near_state), 0) < 2
       AND ssb_internal.is_accepting(coalesce(e.far_state, e.near_state))
       AND coalesce(pg_sequence_last_value(e.far_state), 0) = 0
       AND has_sequence_privilege(ssb_internal.calling_role(),
                                  e.near_order, 'USAGE')
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- The contract of both sides is one where they are in one database.
    SELECT u.message_type_id, u.validation INTO v_type_id, v_validation
      FROM ssb.contract_message_usage AS u
     WHERE u.contract_id = v_contract_id AND u.message_type_name = p_message_type
       AND coalesce(v_far_contract_id, u.contract_id) = v_contract_id
       AND CASE WHEN v_is_initiator THEN u.is_sent_by_initiator ELSE u.is_sent_by_target END
       AND (u.validation = 'N' OR ssb_internal.is_valid_body(u.message_type_id, u.validation, p_body));
    IF NOT FOUND THEN
        RETURN false;
    ELSIF v_far_endpoint_id IS NULL THEN
        IF v_count > 0 OR NOT v_is_initiator OR NOT ssb_internal.send_first_fast_path(v_endpoint_id, p_message_type, p_body) THEN
            RETURN false;
        END IF;
    ELSE
        -- The order, after the lock, as in ssb.send.
        SELECT nextval(v_far_order) INTO v_order
          FROM ssb.conversation_endpoint AS f
         WHERE f.endpoint_id = v_far_endpoint_id AND f.closed_at IS NULL AND NOT f.is_refused
           AND pg_try_advisory_xact_lock(1397965379, v_far_order::oid::integer) IS NOT NULL;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
        IF v_count < 16 OR v_count_order IS NULL THEN
            UPDATE ssb.conversation_endpoint AS e SET sent_count = v_count + 1, sent_order = v_order
             WHERE e.endpoint_id = v_endpoint_id;
            v_count_order := v_order - 1;
        END IF;
        v_number := v_count + v_order - v_count_order - 1;
        PERFORM ssb_internal.store_message(v_far_queue_id, v_far_endpoint_id, v_order, v_number, clock_timestamp(), v_type_id,
                                           v_far_priority, v_validation, CASE WHEN v_validation = 'N' THEN p_body ELSE nullif(p_body, '') END);
        IF current_setting('pgsb.traceparent', true) <> '' THEN
            PERFORM ssb_internal.trace_sent(v_endpoint_id, p_message_type, v_far_endpoint_id, v_order);
        END IF;
    END IF;
    IF v_is_retaining THEN
        PERFORM ssb_internal.retain_sent(v_endpoint_id, v_queue_id, v_near_order, v_number, v_type_id, v_priority, v_validation, p_body);
    END IF;
    RETURN true;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.send_retained(uuid, text, bytea) FROM PUBLIC;

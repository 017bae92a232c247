-- RECEIVE … WHERE conversation_handle or conversation_group_id: its fast path, on a queue as ssb.receive has it on its own.
--
-- The conversation is known, so nothing is walked: its row is locked, its first message looked at under a new snapshot, and
-- what it has is deleted and returned. Where that is not all (no message, somebody else holds the group, something fell
-- due, the message was tried before) no row is returned and nothing was done but lock: ssb_internal.receive_slow_path does it.
--
-- Called by  ssb.receive, of a queue where no dialogs share a group, nothing is urgent
-- Locks      the group's row, to the end of the transaction
CREATE OR REPLACE FUNCTION ssb_internal.receive_wanted(p_queue_id integer, p_top bigint, p_conversation uuid, p_group uuid,
                                                       p_is_retaining boolean)
RETURNS SETOF ssb.message
LANGUAGE plpgsql
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_endpoint_id bigint;
    v_handle uuid;
    v_group uuid;
    v_service_name text;
    v_service_id integer;
    v_contract_name text;
    v_contract_id integer;
    v_is_due boolean;
    v_order bigint;
    v_last bigint := 9223372036854775807;
    v_is_untried boolean;
    v_found_group text;
BEGIN
    IF p_conversation IS NOT NULL THEN
        SELECT e.endpoint_id, e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
               e.contract_name, e.contract_id, e.due_at <= clock_timestamp()
          INTO v_endpoint_id, v_handle, v_group, v_service_name, v_service_id, v_contract_name, v_contract_id, v_is_due
          FROM ssb.conversation_endpoint AS e
         WHERE e.conversation_handle = p_conversation AND e.queue_id = p_queue_id AND e.lock_id = e.endpoint_id
           AND e.closed_at IS NULL AND e.claim_id IS NULL AND coalesce(p_group = e.conversation_group_id, p_group IS NULL)
           FOR NO KEY UPDATE SKIP LOCKED;
    ELSE
        SELECT e.endpoint_id, e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
               e.contract_name, e.contract_id, e.due_at <= clock_timestamp()
          INTO v_endpoint_id, v_handle, v_group, v_service_name, v_service_id, v_contract_name, v_contract_id, v_is_due
          FROM ssb.conversation_endpoint AS e
         WHERE e.conversation_group_id = p_group AND e.queue_id = p_queue_id AND e.lock_id = e.endpoint_id
           AND e.closed_at IS NULL AND e.claim_id IS NULL
           FOR NO KEY UPDATE SKIP LOCKED;
    END IF;
    IF v_endpoint_id IS NULL OR v_is_due THEN
        RETURN;
    END IF;
    SELECT m.queuing_order, m.xmax = 0 INTO v_order, v_is_untried
      FROM ssb.message_stored AS m WHERE m.endpoint_id = v_endpoint_id ORDER BY m.queuing_order LIMIT 1;
    IF v_is_untried IS NOT TRUE THEN
        RETURN;
    ELSIF p_top = 1 THEN
        v_last := v_order;
    ELSIF p_top IS NOT NULL THEN
        SELECT max(w.queuing_order) INTO v_last
          FROM (SELECT m.queuing_order FROM ssb.message_stored AS m
                 WHERE m.endpoint_id = v_endpoint_id ORDER BY m.queuing_order LIMIT p_top) AS w;
    END IF;
    IF p_group IS NOT NULL THEN
        -- That it was there, for those who ask for it again when they have ended it (ssb_internal.is_of_queue).
        v_found_group := set_config('ssb.found_group', p_queue_id || ' ' || p_group, true);
    END IF;
    IF p_is_retaining THEN
        RETURN QUERY
        WITH gone AS (
            DELETE FROM ssb.message_stored AS m
             WHERE m.endpoint_id = v_endpoint_id AND m.queuing_order BETWEEN v_order AND v_last
            RETURNING m.*
        ), kept AS (
            INSERT INTO ssb.retained_message (queue_id, endpoint_id, status, queuing_order, message_sequence_number,
                                              enqueued_at, message_type_id, priority, validation, body)
            SELECT m.queue_id, m.endpoint_id, 0, m.queuing_order, m.message_sequence_number,
                   m.enqueued_at, m.message_type_id, m.priority, m.validation, m.body FROM gone AS m
        )
        SELECT 1::smallint, m.priority, m.queuing_order, v_group, v_handle, m.message_sequence_number, v_service_name, v_service_id,
               v_contract_name, v_contract_id, t.name, m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3)
          FROM gone AS m JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id
         ORDER BY m.queuing_order;
    ELSE
        RETURN QUERY
        WITH gone AS (
            DELETE FROM ssb.message_stored AS m
             WHERE m.endpoint_id = v_endpoint_id AND m.queuing_order BETWEEN v_order AND v_last
            RETURNING m.*
        )
        SELECT 1::smallint, m.priority, m.queuing_order, v_group, v_handle, m.message_sequence_number, v_service_name, v_service_id,
               v_contract_name, v_contract_id, t.name, m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3)
          FROM gone AS m JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id
         ORDER BY m.queuing_order;
    END IF;
    IF current_setting('pgsb.traceparent', true) <> '' THEN
        PERFORM ssb_internal.trace_received(v_endpoint_id, v_order);
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.receive_wanted(integer, bigint, uuid, uuid, boolean) FROM PUBLIC;

-- What compiled RECEIVE … WHERE gives instead of a variable that is NULL: to ssb.receive that would be any conversation.
CREATE OR REPLACE FUNCTION ssb_internal.no_conversation()
RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(8418, 'The conversation handle is missing. Specify a conversation handle.');
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.no_conversation_group()
RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(8420, 'The conversation group is missing. Specify a conversation group.');
END;
$$;

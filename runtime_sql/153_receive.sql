-- RECEIVE.
--
-- Finding: walk the queue in (priority, order) from the session's low-water mark,
-- lock the group of the first message whose group nobody else holds (SKIP
-- LOCKED), then read that group again under a fresh snapshot, delete and return.
-- Taking the first statement's word would return messages that another reader has
-- received and committed between its snapshot and our lock.
--
-- Low-water mark: dead rows of received messages stay in the index until VACUUM
-- can remove them, which an old snapshot prevents for hours. So each session
-- remembers, per queue and priority, an order below which there is nothing, in a
-- custom setting: no write, gone with the session, undone with the transaction.
-- It may pass an order only when no message with a lower one can still appear:
-- a sender has its transaction id before it takes its order (see put_message and
-- send). So we note the sequence's last value S, then a snapshot's xmax X; once a
-- later snapshot's xmin has reached X, every order up to S is decided.
--
-- Called by  compiled RECEIVE, ssb.wait_for_message's caller
-- Locks      the group's row, to the end of the transaction

CREATE OR REPLACE FUNCTION ssb.receive(queue text, top bigint DEFAULT NULL, conversation uuid DEFAULT NULL,
                                       conversation_group uuid DEFAULT NULL)
RETURNS SETOF ssb.message
LANGUAGE plpgsql SECURITY DEFINER
ROWS 10
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_queue ssb.queue;
    v_fails integer;                   -- rollbacks in a row; NULL: nothing on record
    v_has_due boolean;
    v_was_retried boolean := false;
    v_priority smallint;
    v_low bigint;
    v_found record;
    v_conversation record;
    v_left bigint := top;
    v_last bigint;
    v_count bigint;
    v_taken bigint := 0;
BEGIN
    SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.name = queue;
    IF NOT FOUND THEN
        v_queue := ssb.queue_of(queue);
    END IF;
    IF NOT has_sequence_privilege(ssb.caller(), v_queue.order_sequence, 'SELECT') THEN
        PERFORM ssb.require_receive(v_queue);
    END IF;
    IF pg_sequence_last_value(v_queue.state_sequence) > 1 THEN
        v_fails := ssb.judge_attempts(v_queue);
        IF v_fails >= v_queue.max_rollbacks AND v_queue.is_poison_handling_enabled AND NOT v_queue.is_quarantine_enabled THEN
            PERFORM ssb.keep_poisoned(v_queue);
            v_queue.is_receive_enabled := false;
        END IF;
    END IF;
    IF NOT v_queue.is_receive_enabled THEN
        PERFORM ssb.raise_error(9617, format('The service queue "%s" is currently disabled.', v_queue.spelling));
    ELSIF top < 0 THEN
        PERFORM ssb.raise_error(127, 'A TOP N or FETCH rowcount value may not be negative.', 15);
    ELSIF top = 0 THEN
        RETURN;
    END IF;
    SELECT count(*) > 0 INTO v_has_due
      FROM (SELECT FROM ssb.conversation_endpoint AS e
             WHERE e.queue_id = v_queue.queue_id AND e.due_at <= clock_timestamp() LIMIT 1) AS d;
    IF v_has_due THEN
        v_has_due := ssb.deliver_due_on(v_queue);
    END IF;

    LOOP
        -- 1. A group that is ours.
        v_found := NULL;
        IF conversation IS NOT NULL OR conversation_group IS NOT NULL THEN
            SELECT f.* INTO v_found FROM ssb.find_wanted(v_queue, conversation, conversation_group) AS f;
        ELSE
            FOREACH v_priority IN ARRAY v_queue.priorities LOOP
                v_low := coalesce(nullif(current_setting('ssb.low_' || v_queue.queue_id || '_' || v_priority, true), '')::bigint,
                                  v_queue.low_water);
                SELECT m.endpoint_id, m.queuing_order, m.xmax <> 0 AS was_tried, e.conversation_handle, e.service_name,
                       e.service_id, e.contract_name, e.contract_id, g.group_id, g.conversation_group_id
                  INTO v_found
                  FROM ssb.message_stored AS m
                  JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id
                  JOIN ssb.conversation_group AS g ON g.group_id = e.group_id
                 WHERE m.queue_id = v_queue.queue_id AND m.priority = v_priority AND m.queuing_order >= v_low
                   AND e.closed_at IS NULL
                   AND (g.claim_id IS NULL OR NOT ssb.claim_is_alive(g.claim_id))
                 ORDER BY m.queuing_order LIMIT 1
                   FOR NO KEY UPDATE OF g SKIP LOCKED;
                IF coalesce(v_found.queuing_order, pg_sequence_last_value(v_queue.order_sequence)) - v_low > 100 THEN
                    PERFORM ssb.raise_low_water(v_queue, v_priority, v_low);
                END IF;
                EXIT WHEN v_found.group_id IS NOT NULL;
            END LOOP;
        END IF;
        IF v_found.group_id IS NULL THEN
            EXIT WHEN v_was_retried OR NOT ssb.fetch_waiting(v_queue);
            v_was_retried := true;
            CONTINUE;
        END IF;

        -- 2. Its messages, as they are now that it is locked.
        IF v_left = 1 AND v_found.queuing_order IS NOT NULL AND NOT v_queue.is_retention_enabled THEN
            RETURN QUERY
            WITH gone AS (
                DELETE FROM ssb.message_stored AS m
                 WHERE m.endpoint_id = v_found.endpoint_id AND m.queuing_order = v_found.queuing_order
                RETURNING m.*
            )
            SELECT 1::smallint, m.priority, m.queuing_order, v_found.conversation_group_id, v_found.conversation_handle,
                   m.message_sequence_number, v_found.service_name, v_found.service_id, v_found.contract_name,
                   v_found.contract_id, t.name, m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3)
              FROM gone AS m JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id;
            GET DIAGNOSTICS v_taken = ROW_COUNT;
        ELSE
            FOR v_conversation IN
                SELECT e.endpoint_id, e.conversation_handle, e.service_name, e.service_id, e.contract_name, e.contract_id,
                       first.queuing_order
                  FROM ssb.conversation_endpoint AS e
                 CROSS JOIN LATERAL (SELECT m.queuing_order FROM ssb.message_stored AS m WHERE m.endpoint_id = e.endpoint_id
                                      ORDER BY m.queuing_order LIMIT 1) AS first
                 WHERE e.group_id = v_found.group_id AND e.closed_at IS NULL
                   AND (conversation IS NULL OR e.conversation_handle = conversation)
                 ORDER BY e.priority DESC, first.queuing_order
            LOOP
                v_last := NULL;
                IF v_left IS NOT NULL THEN
                    SELECT m.queuing_order INTO v_last FROM ssb.message_stored AS m
                     WHERE m.endpoint_id = v_conversation.endpoint_id AND m.queuing_order >= v_conversation.queuing_order
                     ORDER BY m.queuing_order OFFSET v_left - 1 LIMIT 1;
                END IF;
                IF v_queue.is_retention_enabled THEN
                    INSERT INTO ssb.retained_message (queue_id, endpoint_id, status, queuing_order, message_sequence_number,
                                                      enqueued_at, message_type_id, priority, validation, body)
                    SELECT m.queue_id, m.endpoint_id, 0, m.queuing_order, m.message_sequence_number,
                           m.enqueued_at, m.message_type_id, m.priority, m.validation, m.body
                      FROM ssb.message_stored AS m
                     WHERE m.endpoint_id = v_conversation.endpoint_id
                       AND m.queuing_order BETWEEN v_conversation.queuing_order AND coalesce(v_last, 9223372036854775807);
                    SELECT max(r.queuing_order) INTO v_last FROM ssb.retained_message AS r
                     WHERE r.endpoint_id = v_conversation.endpoint_id AND r.status = 0;
                END IF;
                RETURN QUERY
                WITH gone AS (
                    DELETE FROM ssb.message_stored AS m
                     WHERE m.endpoint_id = v_conversation.endpoint_id
                       AND m.queuing_order BETWEEN v_conversation.queuing_order AND coalesce(v_last, 9223372036854775807)
                    RETURNING m.*
                )
                SELECT 1::smallint, m.priority, m.queuing_order, v_found.conversation_group_id,
                       v_conversation.conversation_handle, m.message_sequence_number, v_conversation.service_name,
                       v_conversation.service_id, v_conversation.contract_name, v_conversation.contract_id, t.name,
                       m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3)
                  FROM gone AS m JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id
                 ORDER BY m.queuing_order;
                GET DIAGNOSTICS v_count = ROW_COUNT;
                v_taken := v_taken + v_count;
                v_left := v_left - v_count;
                EXIT WHEN v_left = 0;
            END LOOP;
        END IF;

        IF v_taken > 0 THEN
            -- A message that a rolled-back RECEIVE deleted before carries that transaction in xmax.
            IF (v_fails IS NOT NULL OR v_found.was_tried OR v_has_due) AND v_queue.is_poison_handling_enabled THEN
                PERFORM ssb.note_attempt(v_queue, coalesce(v_fails, CASE WHEN v_found.was_tried THEN 1 ELSE 0 END));
            END IF;
            RETURN;
        END IF;
        -- Somebody received them between finding and locking: look again.
        EXIT WHEN conversation IS NOT NULL OR conversation_group IS NOT NULL;
    END LOOP;
END;
$$;

-- WHERE conversation_handle = or conversation_group_id =: its group, locked; a row
-- of NULLs while somebody else holds it or it has no message.
CREATE OR REPLACE FUNCTION ssb.find_wanted(p_queue ssb.queue, p_conversation uuid, p_group uuid,
    OUT endpoint_id bigint, OUT queuing_order bigint, OUT was_tried boolean, OUT conversation_handle uuid,
    OUT service_name text, OUT service_id integer, OUT contract_name text, OUT contract_id integer,
    OUT group_id bigint, OUT conversation_group_id uuid)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    IF p_conversation IS NOT NULL THEN
        PERFORM FROM ssb.conversation_endpoint AS e
          WHERE e.conversation_handle = p_conversation AND e.queue_id = p_queue.queue_id AND e.closed_at IS NULL;
        IF NOT FOUND THEN
            PERFORM ssb.raise_handle_not_found(p_conversation);
        END IF;
    END IF;
    IF p_group IS NOT NULL THEN
        PERFORM FROM ssb.conversation_group AS g
          WHERE g.conversation_group_id = p_group AND g.queue_id = p_queue.queue_id;
        IF NOT FOUND THEN
            PERFORM ssb.raise_error(8436, format('The conversation group "%s" is not found.', upper(p_group::text)));
        END IF;
    END IF;
    SELECT e.endpoint_id, first.queuing_order, first.was_tried, e.conversation_handle, e.service_name, e.service_id,
           e.contract_name, e.contract_id, g.group_id, g.conversation_group_id
      INTO endpoint_id, queuing_order, was_tried, conversation_handle, service_name, service_id,
           contract_name, contract_id, group_id, conversation_group_id
      FROM ssb.conversation_group AS g
      JOIN ssb.conversation_endpoint AS e ON e.group_id = g.group_id
     CROSS JOIN LATERAL (SELECT m.queuing_order, m.xmax <> 0 AS was_tried FROM ssb.message_stored AS m
                          WHERE m.endpoint_id = e.endpoint_id ORDER BY m.queuing_order LIMIT 1) AS first
     WHERE (p_conversation IS NULL OR e.conversation_handle = p_conversation)
       AND (p_group IS NULL OR g.conversation_group_id = p_group)
       AND g.queue_id = p_queue.queue_id AND e.closed_at IS NULL
       AND (g.claim_id IS NULL OR NOT ssb.claim_is_alive(g.claim_id))
     ORDER BY e.priority DESC, first.queuing_order LIMIT 1
       FOR NO KEY UPDATE OF g SKIP LOCKED;
END;
$$;

-- Moves this session's low-water mark up, and clears away messages whose endpoint
-- has gone: sent in the moment in which the receiver ended the conversation.
CREATE OR REPLACE FUNCTION ssb.raise_low_water(p_queue ssb.queue, p_priority smallint, p_low bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_setting text := p_queue.queue_id || '_' || p_priority;
    v_seen text := nullif(current_setting('ssb.seen_' || v_setting, true), '');
    v_first record;
    v_last bigint;
    v_low bigint;
BEGIN
    -- One snapshot for the whole transaction cannot tell what came after it.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN;
    END IF;
    -- Every order up to this is decided: the snapshot that followed it is in the past.
    v_last := CASE WHEN pg_snapshot_xmin(pg_current_snapshot()) >= split_part(v_seen, ':', 2)::xid8
                   THEN split_part(v_seen, ':', 1)::bigint END;
    IF v_last >= p_low THEN
        FOR v_try IN 1..100 LOOP
            SELECT m.queuing_order, m.endpoint_id,
                   EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                            WHERE e.endpoint_id = m.endpoint_id AND e.closed_at IS NULL) AS is_wanted
              INTO v_first
              FROM ssb.message_stored AS m
             WHERE m.queue_id = p_queue.queue_id AND m.priority = p_priority AND m.queuing_order >= p_low
             ORDER BY m.queuing_order LIMIT 1;
            EXIT WHEN v_first.is_wanted IS NOT FALSE;
            DELETE FROM ssb.message_stored AS m
             WHERE m.endpoint_id = v_first.endpoint_id AND m.queuing_order = v_first.queuing_order;
        END LOOP;
        v_low := least(v_first.queuing_order, v_last + 1);
        IF v_low > p_low THEN
            PERFORM set_config('ssb.low_' || v_setting, v_low::text, false);
        END IF;
    END IF;
    IF v_seen IS NULL OR v_last IS NOT NULL THEN
        v_last := pg_sequence_last_value(p_queue.order_sequence);
        -- A new statement, and so a new snapshot: after the value was read.
        PERFORM set_config('ssb.seen_' || v_setting, v_last || ':' || pg_snapshot_xmax(pg_current_snapshot()), false);
    END IF;
END;
$$;

-- Hook for bulk claims (7xx): RECEIVE passes a claimed group while this is true.
-- A claim lives as long as its owner's session, which holds its advisory lock.
CREATE OR REPLACE FUNCTION ssb.claim_is_alive(p_claim_id bigint)
RETURNS boolean
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_locks AS l
                    WHERE l.locktype = 'advisory' AND l.granted AND l.database = (SELECT d.oid FROM pg_database AS d
                                                                                   WHERE d.datname = current_database())
                      AND l.classid = 1397965376::oid AND l.objid = p_claim_id::oid AND l.objsubid = 2);
$$;

-- Messages for this queue's services that had to wait elsewhere: true when some
-- can be tried again.
CREATE OR REPLACE FUNCTION ssb.fetch_waiting(p_queue ssb.queue)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ssb.transmission) THEN
        RETURN false;
    ELSIF NOT EXISTS (SELECT FROM ssb.service AS s JOIN ssb.transmission AS t ON t.to_service = s.name
                       WHERE s.queue_id = p_queue.queue_id) THEN
        RETURN false;
    END IF;
    PERFORM ssb.deliver_waiting_for_queue(p_queue.queue_id);
    RETURN true;
END;
$$;

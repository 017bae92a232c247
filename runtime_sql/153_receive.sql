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
SET jit = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_queue_id integer;
    v_is_enabled boolean;
    v_is_retaining boolean;
    v_priorities smallint[];
    v_order_sequence regclass;
    v_state_sequence regclass;
    v_fails integer;                   -- rollbacks in a row; NULL: nothing on record
    v_has_due boolean;
    v_was_retried boolean := false;
    v_has_quarantined boolean := false;
    v_priority smallint;
    v_low bigint;
    v_slot bigint;
    v_lock_id bigint;
    v_endpoint_id bigint;
    v_order bigint;
    v_tried_by xid;
    v_is_first_fatal boolean;          -- one rollback disables: every transaction must be on record
    v_conversation record;
    v_message record;
    v_left bigint := top;
    v_last bigint;
    v_count bigint;
    v_taken bigint := 0;
BEGIN
    SELECT q.queue_id, q.is_receive_enabled, q.is_retention_enabled, q.priorities, q.low_water, q.order_sequence, q.state_sequence,
           q.max_rollbacks = 1
      INTO v_queue_id, v_is_enabled, v_is_retaining, v_priorities, v_low, v_order_sequence, v_state_sequence, v_is_first_fatal
      FROM ssb.queue AS q WHERE q.name = queue;
    IF NOT FOUND THEN
        SELECT q.queue_id, q.is_receive_enabled, q.is_retention_enabled, q.priorities, q.low_water, q.order_sequence, q.state_sequence,
               q.max_rollbacks = 1
          INTO v_queue_id, v_is_enabled, v_is_retaining, v_priorities, v_low, v_order_sequence, v_state_sequence, v_is_first_fatal
          FROM ssb.queue_of(queue) AS q;
    END IF;
    IF NOT has_sequence_privilege(coalesce(nullif(current_setting('role'), 'none')::name, session_user),
                                  v_order_sequence, 'SELECT') THEN
        PERFORM ssb.require_receive(q) FROM ssb.queue AS q WHERE q.queue_id = v_queue_id;
    END IF;
    IF pg_sequence_last_value(v_state_sequence) > 1 THEN
        SELECT j.fails, v_is_enabled AND NOT j.is_poisoned INTO v_fails, v_is_enabled
          FROM ssb.judge_attempts(v_queue_id) AS j;
    END IF;
    IF NOT v_is_enabled THEN
        PERFORM ssb.raise_error(9617, format('The service queue "%s" is currently disabled.', q.spelling))
           FROM ssb.queue AS q WHERE q.queue_id = v_queue_id;
    ELSIF top < 0 THEN
        PERFORM ssb.raise_error(127, 'A TOP N or FETCH rowcount value may not be negative.', 15);
    ELSIF top = 0 THEN
        RETURN;
    END IF;
    PERFORM FROM ssb.conversation_endpoint AS e WHERE e.queue_id = v_queue_id AND e.due_at <= clock_timestamp() LIMIT 1;
    v_has_due := FOUND AND ssb.deliver_due_on(v_queue_id);

    LOOP
        -- 1. A group that is ours.
        v_lock_id := NULL;
        IF conversation IS NOT NULL OR conversation_group IS NOT NULL THEN
            SELECT f.lock_id, f.endpoint_id, f.queuing_order, f.tried_by INTO v_lock_id, v_endpoint_id, v_order, v_tried_by
              FROM ssb.find_wanted(v_queue_id, conversation, conversation_group) AS f;
        ELSE
            v_slot := coalesce(pg_sequence_last_value('ssb.message_slot'), 0);
            FOREACH v_priority IN ARRAY v_priorities LOOP
                v_low := greatest(v_low, nullif(current_setting('ssb.low_' || v_queue_id || '_' || v_priority, true), '')::bigint);
                IF v_slot = 0 THEN
                    SELECT m.endpoint_id, m.queuing_order, m.xmax, e.lock_id
                      INTO v_endpoint_id, v_order, v_tried_by, v_lock_id
                      FROM ssb.message_0 AS m
                      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id
                      JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id
                     WHERE m.queue_id = v_queue_id AND m.priority = v_priority AND m.queuing_order >= v_low
                       AND e.closed_at IS NULL AND (l.claim_id IS NULL OR NOT ssb.claim_is_alive(l.claim_id))
                     ORDER BY m.queuing_order LIMIT 1
                       FOR NO KEY UPDATE OF l SKIP LOCKED;
                ELSIF v_slot = 1 THEN
                    SELECT m.endpoint_id, m.queuing_order, m.xmax, e.lock_id
                      INTO v_endpoint_id, v_order, v_tried_by, v_lock_id
                      FROM ssb.message_1 AS m
                      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id
                      JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id
                     WHERE m.queue_id = v_queue_id AND m.priority = v_priority AND m.queuing_order >= v_low
                       AND e.closed_at IS NULL AND (l.claim_id IS NULL OR NOT ssb.claim_is_alive(l.claim_id))
                     ORDER BY m.queuing_order LIMIT 1
                       FOR NO KEY UPDATE OF l SKIP LOCKED;
                ELSE
                    SELECT m.endpoint_id, m.queuing_order, m.xmax, e.lock_id
                      INTO v_endpoint_id, v_order, v_tried_by, v_lock_id
                      FROM ssb.message_stored AS m
                      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id
                      JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id
                     WHERE m.queue_id = v_queue_id AND m.priority = v_priority AND m.queuing_order >= v_low
                       AND e.closed_at IS NULL AND (l.claim_id IS NULL OR NOT ssb.claim_is_alive(l.claim_id))
                     ORDER BY m.queuing_order LIMIT 1
                       FOR NO KEY UPDATE OF l SKIP LOCKED;
                END IF;
                IF coalesce(v_order, pg_sequence_last_value(v_order_sequence)) - v_low > 100 THEN
                    PERFORM ssb.raise_low_water(v_queue_id, v_priority, v_low, v_order_sequence);
                END IF;
                EXIT WHEN v_lock_id IS NOT NULL;
            END LOOP;
        END IF;
        IF v_lock_id IS NULL THEN
            EXIT WHEN v_was_retried OR NOT ssb.fetch_waiting(v_queue_id);
            v_was_retried := true;
            CONTINUE;
        END IF;

        -- Rolled back too often: set aside where the queue wants that (630_quarantine.sql).
        IF v_fails IS NOT NULL AND v_tried_by <> 0 AND NOT v_has_quarantined
           AND ssb.quarantine_if_poisoned(v_queue_id, v_lock_id, v_endpoint_id, v_order, v_fails) THEN
            v_has_quarantined := true;
            CONTINUE;
        END IF;

        -- 2. Its messages, as they are now that it is locked.
        IF v_left = 1 AND NOT v_is_retaining THEN
            DELETE FROM ssb.message_stored AS m
             WHERE m.endpoint_id = v_endpoint_id AND m.queuing_order = v_order
               -- An earlier one came back: its reader rolled back after we had passed it, before we had its lock.
               AND NOT EXISTS (SELECT FROM ssb.message_stored AS o
                                WHERE o.endpoint_id = v_endpoint_id AND o.queuing_order >= v_low AND o.queuing_order < v_order)
            RETURNING m.message_sequence_number, m.enqueued_at, m.message_type_id, m.priority, m.validation, m.body
                 INTO v_message;
            IF FOUND THEN
                RETURN QUERY
                SELECT 1::smallint, v_message.priority, v_order, e.conversation_group_id, e.conversation_handle,
                       v_message.message_sequence_number, e.service_name, e.service_id, e.contract_name, e.contract_id,
                       t.name, v_message.message_type_id, v_message.validation, v_message.body,
                       v_message.enqueued_at::timestamp(3)
                  FROM ssb.conversation_endpoint AS e, ssb.message_type AS t
                 WHERE e.endpoint_id = v_endpoint_id AND t.message_type_id = v_message.message_type_id;
                v_taken := 1;
            END IF;
        ELSE
            FOR v_conversation IN
                SELECT e.endpoint_id, e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                       e.contract_name, e.contract_id, first.queuing_order
                  FROM ssb.conversation_endpoint AS e
                 CROSS JOIN LATERAL (SELECT m.queuing_order FROM ssb.message_stored AS m WHERE m.endpoint_id = e.endpoint_id
                                      ORDER BY m.queuing_order LIMIT 1) AS first
                 WHERE e.lock_id = v_lock_id AND e.closed_at IS NULL
                   AND (conversation IS NULL OR e.conversation_handle = conversation)
                 ORDER BY e.priority DESC, first.queuing_order
            LOOP
                v_last := NULL;
                IF v_left IS NOT NULL THEN
                    SELECT m.queuing_order INTO v_last FROM ssb.message_stored AS m
                     WHERE m.endpoint_id = v_conversation.endpoint_id AND m.queuing_order >= v_conversation.queuing_order
                     ORDER BY m.queuing_order OFFSET v_left - 1 LIMIT 1;
                END IF;
                IF v_is_retaining THEN
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
                SELECT 1::smallint, m.priority, m.queuing_order, v_conversation.conversation_group_id,
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
            IF v_fails IS NOT NULL OR v_tried_by <> 0 OR v_has_due OR v_is_first_fatal THEN
                PERFORM ssb.note_attempt(v_queue_id, v_fails, v_tried_by);
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
CREATE OR REPLACE FUNCTION ssb.find_wanted(p_queue_id integer, p_conversation uuid, p_group uuid,
    OUT lock_id bigint, OUT endpoint_id bigint, OUT queuing_order bigint, OUT tried_by xid)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    IF p_conversation IS NOT NULL THEN
        PERFORM FROM ssb.conversation_endpoint AS e
          WHERE e.conversation_handle = p_conversation AND e.queue_id = p_queue_id AND e.closed_at IS NULL;
        IF NOT FOUND THEN
            PERFORM ssb.raise_handle_not_found(p_conversation);
        END IF;
    END IF;
    IF p_group IS NOT NULL THEN
        PERFORM FROM ssb.conversation_endpoint AS e
          WHERE e.conversation_group_id = p_group AND e.queue_id = p_queue_id AND e.closed_at IS NULL LIMIT 1;
        IF NOT FOUND THEN
            PERFORM ssb.raise_error(8436, format('The conversation group "%s" is not found.', upper(p_group::text)));
        END IF;
    END IF;
    SELECT e.lock_id, e.endpoint_id, first.queuing_order, first.tried_by
      INTO lock_id, endpoint_id, queuing_order, tried_by
      FROM ssb.conversation_endpoint AS e
      JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id
     CROSS JOIN LATERAL (SELECT m.queuing_order, m.xmax AS tried_by FROM ssb.message_stored AS m
                          WHERE m.endpoint_id = e.endpoint_id ORDER BY m.queuing_order LIMIT 1) AS first
     WHERE (p_conversation IS NULL OR e.conversation_handle = p_conversation)
       AND (p_group IS NULL OR e.conversation_group_id = p_group)
       AND e.queue_id = p_queue_id AND e.closed_at IS NULL
       AND (l.claim_id IS NULL OR NOT ssb.claim_is_alive(l.claim_id))
     ORDER BY e.priority DESC, first.queuing_order LIMIT 1
       FOR NO KEY UPDATE OF l SKIP LOCKED;
END;
$$;

-- Moves this session's low-water mark up, and clears away messages whose endpoint
-- has gone: sent in the moment in which the receiver ended the conversation.
CREATE OR REPLACE FUNCTION ssb.raise_low_water(p_queue_id integer, p_priority smallint, p_low bigint,
                                               p_order_sequence regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_setting text := p_queue_id || '_' || p_priority;
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
            SELECT m.queuing_order, m.endpoint_id INTO v_first
              FROM ssb.message_stored AS m
             WHERE m.queue_id = p_queue_id AND m.priority = p_priority AND m.queuing_order >= p_low
             ORDER BY m.queuing_order LIMIT 1;
            EXIT WHEN NOT FOUND;
            PERFORM FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_first.endpoint_id AND e.closed_at IS NULL;
            EXIT WHEN FOUND;
            DELETE FROM ssb.message_stored AS m
             WHERE m.endpoint_id = v_first.endpoint_id AND m.queuing_order = v_first.queuing_order;
        END LOOP;
        v_low := least(v_first.queuing_order, v_last + 1);
        IF v_low > p_low THEN
            PERFORM set_config('ssb.low_' || v_setting, v_low::text, false);
        END IF;
    END IF;
    IF v_seen IS NULL OR v_last IS NOT NULL THEN
        v_last := pg_sequence_last_value(p_order_sequence);
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
CREATE OR REPLACE FUNCTION ssb.fetch_waiting(p_queue_id integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ssb.transmission) THEN
        RETURN false;
    ELSIF NOT EXISTS (SELECT FROM ssb.service AS s JOIN ssb.transmission AS t ON t.to_service = s.name
                       WHERE s.queue_id = p_queue_id) THEN
        RETURN false;
    END IF;
    PERFORM ssb.deliver_waiting_for_queue(p_queue_id);
    RETURN true;
END;
$$;

-- RECEIVE with every case: groups of several dialogs, poison messages, what falls due or waits elsewhere, errors.
--
-- Called by  ssb.receive, where its fast path found that something is special or wrong
-- Locks      the group's row, to the end of the transaction
CREATE OR REPLACE FUNCTION ssb_internal.receive_slow_path(p_queue text, p_top bigint, p_conversation uuid, p_group uuid)
RETURNS SETOF ssb.message
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_queue ssb.queue := ssb_internal.queue_to_receive(p_queue);
    v_is_wanted CONSTANT boolean := p_conversation IS NOT NULL OR p_group IS NOT NULL;
    v_moment CONSTANT text := (date_part('epoch', clock_timestamp()) * 10)::bigint::text;
    v_is_time_to_look boolean;
    v_is_enabled boolean := v_queue.is_receive_enabled;
    v_fails integer;                   -- rollbacks in a row; NULL: nothing on record
    v_has_due boolean;
    v_was_retried boolean := false;
    v_has_quarantined boolean := false;
    v_priority smallint;
    v_low bigint;
    v_position bigint[];
    at_rotation CONSTANT integer := 6; -- of v_position, see low_water.sql
    v_found record;
    v_urgent_order bigint;
    v_urgent_tried_by xid;
BEGIN
    PERFORM ssb_internal.require_receive(v_queue);
    IF pg_sequence_last_value(v_queue.state_sequence) > 1 THEN
        SELECT j.fails, v_is_enabled AND NOT j.is_poisoned INTO v_fails, v_is_enabled
          FROM ssb_internal.judge_attempts(v_queue.queue_id) AS j;
    END IF;
    IF NOT v_is_enabled THEN
        PERFORM ssb_internal.raise_error(9617, format('The service queue "%s" is currently disabled.', v_queue.spelling));
    ELSIF p_top < 0 THEN
        PERFORM ssb_internal.raise_error(127, 'A TOP N or FETCH rowcount value may not be negative.', 15);
    ELSIF p_top = 0 THEN
        RETURN;
    END IF;
    -- The tables were switched since: from now on ssb.receive looks where the messages are.
    FOREACH v_priority IN ARRAY v_queue.priorities LOOP
        v_position := nullif(current_setting('ssb.read_position_' || v_queue.queue_id || '_' || v_priority, true), '')::bigint[];
        IF v_position[at_rotation] <> coalesce(pg_sequence_last_value('ssb.rotation_state'), 0)
           AND current_setting('transaction_isolation') = 'read committed' THEN
            v_position[at_rotation] := coalesce(pg_sequence_last_value('ssb.rotation_state'), 0);
            PERFORM set_config('ssb.read_position_' || v_queue.queue_id || '_' || v_priority, v_position::text, false);
        END IF;
    END LOOP;
    v_is_time_to_look := current_setting('ssb.looked_' || v_queue.queue_id, true) IS DISTINCT FROM v_moment;
    IF v_is_time_to_look THEN
        PERFORM set_config('ssb.looked_' || v_queue.queue_id, v_moment, false);
    END IF;

    -- Conversations that have ended, or whose Error or timer was received: nothing is urgent any more.
    DELETE FROM ssb.urgent_conversation AS u
     WHERE u.queue_id = v_queue.queue_id
       AND u.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.urgent_conversation AS o
                                WHERE o.queue_id = v_queue.queue_id
                                  AND NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                                                   WHERE e.endpoint_id = o.endpoint_id AND e.queue_id = o.queue_id
                                                     AND e.closed_at IS NULL OFFSET 0)
                                  FOR UPDATE SKIP LOCKED));

    LOOP
        -- 1. A group that is ours.
        IF v_is_wanted THEN
            IF NOT ssb_internal.is_of_queue(v_queue.queue_id, p_conversation, p_group) THEN
                PERFORM ssb_internal.raise_not_of_queue(p_conversation, p_group);
            END IF;
            SELECT f.* INTO v_found FROM ssb_internal.find_wanted(v_queue.queue_id, p_conversation, p_group) AS f;
            v_low := v_queue.low_water;
        ELSE
            FOREACH v_priority IN ARRAY v_queue.priorities LOOP
                SELECT f.* INTO v_found FROM ssb_internal.find_first(v_queue.queue_id, v_priority, v_queue.low_water) AS f;
                v_low := ssb_internal.low_water(v_queue.queue_id, v_priority, v_queue.low_water);
                -- Not by the sequence's last value: reading it leaves the lock by which senders are known.
                IF v_is_time_to_look OR v_found.queuing_order - v_low > 32 THEN
                    PERFORM ssb_internal.raise_low_water(v_queue.queue_id, v_priority, v_low, v_queue.order_sequence,
                                                         v_found.queuing_order);
                END IF;
                -- Its messages may begin earlier: one may have been passed, whose reader rolled
                -- back before we had the lock.
                v_low := v_found.from_order;
                EXIT WHEN v_found.lock_id IS NOT NULL;
            END LOOP;
        END IF;
        -- Timers and the like: whenever there is nothing else, and every tenth of a second.
        IF v_has_due IS NULL AND (v_found.lock_id IS NULL OR v_is_time_to_look) THEN
            PERFORM FROM ssb.conversation_endpoint AS e
              WHERE e.queue_id = v_queue.queue_id AND e.due_at <= (SELECT clock_timestamp()) LIMIT 1;
            v_has_due := FOUND AND ssb_internal.deliver_due_on(v_queue.queue_id);
            CONTINUE WHEN v_has_due AND v_found.lock_id IS NULL;
        END IF;
        IF v_found.lock_id IS NULL THEN
            EXIT WHEN v_was_retried OR NOT ssb_internal.fetch_waiting(v_queue.queue_id);
            v_was_retried := true;
            CONTINUE;
        END IF;

        IF v_found.tried_by = 0 THEN
            -- What overtakes the message that was found is taken before it, and may have been tried.
            SELECT m.queuing_order, m.xmax INTO v_urgent_order, v_urgent_tried_by
              FROM ssb.message_stored AS m
             WHERE m.endpoint_id = v_found.endpoint_id AND m.message_type_id IN (1, 3)
               AND EXISTS (SELECT FROM ssb.urgent_conversation AS u
                            WHERE u.queue_id = v_queue.queue_id AND u.endpoint_id = v_found.endpoint_id)
             ORDER BY m.message_type_id DESC, m.queuing_order LIMIT 1;
            IF v_urgent_tried_by <> 0 THEN
                v_found.queuing_order := v_urgent_order;
                v_found.tried_by := v_urgent_tried_by;
            END IF;
        END IF;
        IF v_found.tried_by <> 0 THEN
            -- Its reader was still at it when we looked, and has committed: that is no trial.
            PERFORM FROM ssb.message_stored AS m
              WHERE m.endpoint_id = v_found.endpoint_id AND m.queuing_order = v_found.queuing_order;
            CONTINUE WHEN NOT FOUND AND NOT v_is_wanted;
            v_found.tried_by := CASE WHEN FOUND THEN v_found.tried_by ELSE '0'::xid END;
        END IF;
        IF v_found.tried_by <> 0 THEN
            SELECT j.fails, NOT j.is_poisoned INTO v_fails, v_is_enabled
              FROM ssb_internal.judge_message(v_queue.queue_id, v_found.queuing_order, v_fails) AS j;
            IF NOT v_is_enabled THEN
                PERFORM ssb_internal.raise_error(9617, format('The service queue "%s" is currently disabled.', v_queue.spelling));
            END IF;
        END IF;
        -- Rolled back too often: set aside where the queue wants that (activation/quarantine.sql).
        IF v_fails IS NOT NULL AND v_found.tried_by <> 0 AND NOT v_has_quarantined
           AND ssb_internal.quarantine_if_poisoned(v_queue.queue_id, v_found.lock_id, v_found.endpoint_id, v_found.queuing_order,
                                                   v_fails) THEN
            v_has_quarantined := true;
            CONTINUE;
        END IF;

        -- 2. Its messages, as they are now that it is locked.
        RETURN QUERY SELECT t.* FROM ssb_internal.take_messages(v_queue.queue_id, v_found.lock_id, p_conversation, p_top, v_low) AS t;
        IF FOUND THEN
            IF current_setting('pgsb.traceparent', true) <> '' THEN
                PERFORM ssb_internal.trace_received(v_found.lock_id, v_found.queuing_order);
            END IF;
            IF v_fails IS NOT NULL OR v_has_due OR v_queue.max_rollbacks = 1 THEN
                PERFORM ssb_internal.note_attempt(v_queue.queue_id);
            END IF;
            RETURN;
        END IF;
        -- Somebody received them between finding and locking: look again.
        EXIT WHEN v_is_wanted;
    END LOOP;
END;
$$;

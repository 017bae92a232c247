-- Short dialogs at a client's price: what takes a statement for each message or conversation, in one.

-- RECEIVE of the next p_groups groups, each as ssb.receive gives it, and END CONVERSATION of theirs. What the
-- caller's transaction does with the messages is safe with them: if it rolls back, nothing was received or ended.
-- A conversation of which messages are left on the queue (TOP, or a message that came
-- meanwhile) is not ended yet, because END would throw them away: the call that receives its last one ends it.
-- So is one whose timer ran out (DialogTimer): it is not finished.
--
-- Locks  the groups, to the end of the transaction
CREATE OR REPLACE FUNCTION ssb.receive_and_end(queue text, top bigint DEFAULT NULL, groups integer DEFAULT 1)
RETURNS SETOF ssb.message
LANGUAGE plpgsql SECURITY DEFINER
ROWS 10
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_message ssb.message;
    v_handles uuid[] := '{}';          -- received from, in order, each once
    v_timers uuid[] := '{}';
    v_ends uuid[];
BEGIN
    IF groups IS NULL OR groups < 1 THEN
        PERFORM ssb_internal.raise_error(1014, 'A TOP or FETCH clause contains an invalid value.', 15, 1,
                                         'groups is how many conversation groups to receive from: 1 or more.');
    END IF;
    FOR v_group IN 1..groups LOOP
        FOR v_message IN SELECT m.* FROM ssb.receive(queue, top) AS m LOOP
            IF v_message.conversation_handle IS DISTINCT FROM v_handles[cardinality(v_handles)]
               AND v_message.conversation_handle <> ALL (v_handles) THEN
                v_handles := v_handles || v_message.conversation_handle;
            END IF;
            IF v_message.message_type_id = 3 THEN
                v_timers := v_timers || v_message.conversation_handle;
            END IF;
            RETURN NEXT v_message;
        END LOOP;
        EXIT WHEN NOT FOUND;
    END LOOP;
    IF v_handles <> '{}' THEN
        SELECT array_agg(h.handle ORDER BY h.place) INTO v_ends
          FROM unnest(v_handles) WITH ORDINALITY AS h (handle, place)
          JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = h.handle
         WHERE h.handle <> ALL (v_timers)
           AND NOT EXISTS (SELECT FROM ssb.message_stored AS m WHERE m.endpoint_id = e.endpoint_id);
        PERFORM ssb_internal.end_set(coalesce(v_ends, '{}'));
    END IF;
END;
$$;

-- The side of those who only send: END CONVERSATION of up to p_max conversations on the queue whose far sides have
-- ended them, that is, whose next message is an EndDialog. All of them as a set, without the messages going to
-- the client. Errors are for a program to look at; with errors they are ended too. Returns how many conversations were
-- ended; conversations that somebody else is receiving from are passed.
--
-- Locks  the groups, to the end of the transaction
CREATE OR REPLACE FUNCTION ssb.end_finished(queue text, max bigint DEFAULT 1000, errors boolean DEFAULT false)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_queue ssb.queue := ssb_internal.queue_to_receive(queue);
    v_found bigint[];
    v_handles uuid[];
    v_fresh uuid[];
    v_priority smallint;
    v_first bigint;
    v_low bigint;
    v_from bigint;
BEGIN
    PERFORM ssb_internal.require_receive(v_queue);
    IF NOT v_queue.is_receive_enabled OR ssb_internal.is_poisoned(v_queue) THEN
        PERFORM ssb_internal.raise_error(9617, format('The service queue "%s" is currently disabled.', v_queue.spelling));
    ELSIF max IS NULL OR max < 1 THEN
        PERFORM ssb_internal.raise_error(1014, 'A TOP or FETCH clause contains an invalid value.', 15, 1,
                                         'max is how many conversations to end at most: 1 or more.');
    END IF;
    v_handles := '{}';
    FOREACH v_priority IN ARRAY v_queue.priorities LOOP
        v_low := ssb_internal.low_water(v_queue.queue_id, v_priority, v_queue.low_water);
        v_from := v_low;
        v_first := NULL;
        LOOP
            -- The lock first; whether it is finished is asked again below it.
            SELECT array_agg(x.endpoint_id ORDER BY x.queuing_order), coalesce(v_first, min(x.queuing_order)), max(x.queuing_order) + 1
              INTO v_found, v_first, v_from
              FROM (SELECT m.endpoint_id, m.queuing_order
                      FROM (SELECT m.endpoint_id, m.queuing_order FROM ssb.message_stored AS m
                             WHERE m.queue_id = v_queue.queue_id AND m.priority = v_priority
                               AND m.queuing_order >= v_from
                               AND (m.message_type_id = 2 OR m.message_type_id = 1 AND errors)
                             ORDER BY m.queuing_order) AS m
                     CROSS JOIN LATERAL (SELECT e.lock_id FROM ssb.conversation_endpoint AS e
                                          WHERE e.endpoint_id = m.endpoint_id AND e.closed_at IS NULL) AS e
                     CROSS JOIN LATERAL (SELECT FROM ssb.conversation_endpoint AS l
                                          WHERE l.endpoint_id = e.lock_id AND l.claim_id IS NULL
                                            FOR NO KEY UPDATE SKIP LOCKED) AS l
                     LIMIT max - cardinality(v_handles)) AS x;
            EXIT WHEN v_found IS NULL;
            -- Each once: a dialog that was ended, and whose lifetime was over later, has both messages.
            SELECT array_agg(e.conversation_handle ORDER BY h.place) INTO v_fresh
              FROM (SELECT u.endpoint_id, min(u.place) AS place FROM unnest(v_found) WITH ORDINALITY AS u (endpoint_id, place)
                     GROUP BY u.endpoint_id) AS h
              JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = h.endpoint_id AND e.closed_at IS NULL
             CROSS JOIN LATERAL (SELECT m.message_type_id FROM ssb.message_stored AS m
                                  WHERE m.endpoint_id = h.endpoint_id ORDER BY m.queuing_order LIMIT 1) AS m
             WHERE m.message_type_id = 2 OR m.message_type_id = 1 AND errors;
            v_handles := v_handles || coalesce(v_fresh, '{}');
            -- Those that have another message before their EndDialog keep nobody behind them from ending.
            EXIT WHEN v_fresh IS NOT NULL;
        END LOOP;
        IF v_first - v_low > 128 THEN
            PERFORM ssb_internal.raise_low_water(v_queue.queue_id, v_priority, v_low, v_queue.order_sequence, v_first);
        END IF;
        EXIT WHEN cardinality(v_handles) >= max;
    END LOOP;
    PERFORM ssb_internal.end_set(v_handles);
    RETURN cardinality(v_handles);
END;
$$;

-- The service program of a queue on which only senders wait for the end of their dialogs: as its activation
-- procedure it finds the queue by itself. Errors stay on the queue, for somebody to look at.
CREATE OR REPLACE PROCEDURE ssb.end_finished_dialogs(queue text DEFAULT NULL)
LANGUAGE plpgsql
AS $$
#variable_conflict use_variable
DECLARE
    v_queue text := coalesce(queue, ssb_internal.activated_queue());
BEGIN
    LOOP
        EXIT WHEN ssb.end_finished(v_queue, 1000) OPERATOR(pg_catalog.=) 0;
        COMMIT;
    END LOOP;
END;
$$;

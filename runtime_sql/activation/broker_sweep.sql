-- The daemon's slow look at everything, once a second: what is due, queues to be
-- disabled, messages whose NOTIFY got lost. One statement for all queues, because
-- 200 quiet ones must cost next to nothing.
--
-- Called by  the daemon
-- Locks      what ssb_internal.deliver_due_on locks; at its end, if it is free, ssb.urgent_conversation, SHARE

-- p_quiet are the queues that the daemon takes for empty; of these, awake returns
-- those that are not. next_due is when the next timer or lifetime ends; a time that has passed where more is due than this has brought about.
CREATE OR REPLACE FUNCTION ssb_internal.broker_sweep(p_quiet integer[], OUT awake integer[], OUT next_due timestamptz)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '100ms'
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_has_waiting boolean := EXISTS (SELECT FROM ssb.transmission);
    v_queue ssb.queue;
    v_queues integer[];
    c_timers CONSTANT integer := 1000;              -- of a queue, as one set
    v_first bigint[];                               -- of a queue, what is due first
    v_has_put boolean;
    v_has_more boolean := false;
BEGIN
    -- Numbers first: most often there is none, and whole rows are wide.
    FOR v_try IN 1..100 LOOP
        BEGIN
            SELECT array_agg(q.queue_id) INTO v_queues
              FROM ssb.queue AS q
             WHERE EXISTS (SELECT FROM ssb.conversation_endpoint AS e WHERE e.queue_id = q.queue_id AND e.due_at <= v_now)
                OR CASE WHEN NOT q.is_receive_enabled OR (q.xmax <> 0 AND ssb_internal.is_being_dropped(q.queue_id)) THEN false
                        ELSE pg_sequence_last_value(q.state_sequence) > 1 END
                OR (v_has_waiting AND EXISTS (SELECT FROM (SELECT s.name FROM ssb.service AS s WHERE s.queue_id = q.queue_id OFFSET 0) AS s
                                               CROSS JOIN LATERAL (SELECT FROM ssb.transmission AS t
                                                                    WHERE t.to_service = s.name AND t.peer_id IS NULL LIMIT 1) AS t));
            EXIT;
        EXCEPTION WHEN internal_error OR lock_not_available THEN
            -- Somebody has dropped a queue between the look at its row and the one at its state: a relation could not be opened,
            -- which each server says in its own language. Or he is about to, and the next look sees it at the row.
            IF v_try = 100 OR (SQLSTATE = 'XX000' AND SQLERRM !~ 'OID\s*\d') THEN
                RAISE;
            END IF;
        END;
    END LOOP;
    FOR v_queue IN SELECT q.* FROM ssb.queue AS q WHERE q.queue_id = ANY (v_queues) ORDER BY q.queue_id LOOP
        CONTINUE WHEN ssb_internal.is_being_dropped(v_queue.queue_id);
        -- Who has a queue in an open transaction (ALTER QUEUE, say) holds up nothing of the others'. What is due comes about
        -- even where the queue's state has to wait for him.
        BEGIN
            PERFORM ssb_internal.disable_if_poisoned(v_queue);
            PERFORM ssb_internal.quarantine_poisoned(v_queue);
            PERFORM ssb_internal.judge_attempts(v_queue.queue_id);
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
        BEGIN
            v_first := ARRAY(SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e
                              WHERE e.queue_id = v_queue.queue_id AND e.due_at <= v_now ORDER BY e.due_at LIMIT 400);
            v_has_put := ssb_internal.fire_timers(v_queue.queue_id, v_now, c_timers);
            v_has_put := ssb_internal.deliver_due_on(v_queue.queue_id) OR v_has_put;
            -- What nothing could be done about, for its group is held or the queue takes no messages, is looked at again in a second.
            v_has_more := v_has_more
                OR (EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                             WHERE e.queue_id = v_queue.queue_id AND e.due_at <= v_now ORDER BY e.due_at OFFSET 0)
                    AND (v_has_put
                         OR cardinality(v_first) > (SELECT count(*) FROM ssb.conversation_endpoint AS e
                                                     WHERE e.endpoint_id = ANY (v_first) AND e.due_at <= v_now)));
            IF v_has_waiting THEN
                PERFORM ssb_internal.fetch_waiting(v_queue.queue_id);
            END IF;
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
    END LOOP;
    BEGIN
        PERFORM ssb_internal.sweep_claims();
    EXCEPTION WHEN lock_not_available THEN
        NULL;
    END;
    SELECT coalesce(array_agg(p.queue_id), '{}') INTO awake
      FROM unnest(p_quiet) AS p (queue_id)
     WHERE EXISTS (SELECT FROM ssb.message_stored AS m WHERE m.queue_id = p.queue_id)
       AND EXISTS (SELECT FROM ssb.queue AS q WHERE q.queue_id = p.queue_id AND q.is_receive_enabled);
    SELECT CASE WHEN v_has_more THEN v_now ELSE min(d.due_at) END INTO next_due
      FROM ssb.queue AS q
     CROSS JOIN LATERAL (SELECT e.due_at FROM ssb.conversation_endpoint AS e
                          WHERE e.queue_id = q.queue_id AND e.due_at > v_now ORDER BY e.due_at LIMIT 1) AS d;
    -- None is left: RECEIVE need not look for them. Whoever writes one locks the table before he counts it.
    IF pg_sequence_last_value('ssb.urgent_conversations') IS NOT NULL AND NOT EXISTS (SELECT FROM ssb.urgent_conversation) THEN
        BEGIN
            LOCK TABLE ssb.urgent_conversation IN SHARE MODE NOWAIT;
            IF NOT EXISTS (SELECT FROM ssb.urgent_conversation) THEN
                PERFORM setval('ssb.urgent_conversations', 1, false);
            END IF;
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.broker_sweep(integer[]) FROM PUBLIC;

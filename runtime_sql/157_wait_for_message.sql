-- WAITFOR (RECEIVE …), WAITFOR (GET CONVERSATION GROUP …): waiting inside the server.

-- Whether a RECEIVE now would return something. Takes the group's lock when it
-- does, which the RECEIVE to follow would take anyway. 9617 is RECEIVE's to raise:
-- a queue that cannot be read counts as worth a look.
CREATE OR REPLACE FUNCTION ssb.message_is_waiting(queue text, conversation uuid DEFAULT NULL,
                                                  conversation_group uuid DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_queue ssb.queue;
    v_is_worth boolean;
    v_found record;
BEGIN
    -- Nearly always there is nothing, and one statement knows it: on a queue as ssb.receive
    -- has it in its fast way, no message from the session's mark on, nothing due, and
    -- nothing that waits to be put here.
    IF coalesce(conversation, conversation_group) IS NULL THEN
        SELECT EXISTS (SELECT FROM ssb.message_0 AS m
                        WHERE m.queue_id = q.queue_id AND m.priority = 5 AND m.queuing_order >= q.low)
            OR EXISTS (SELECT FROM ssb.message_1 AS m
                        WHERE m.queue_id = q.queue_id AND m.priority = 5 AND m.queuing_order >= q.low)
            OR EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                        WHERE e.queue_id = q.queue_id AND e.due_at <= clock_timestamp())
            OR EXISTS (SELECT FROM ssb.service AS s JOIN ssb.transmission AS t ON t.to_service = s.name
                        WHERE s.queue_id = q.queue_id)
          INTO v_is_worth
          FROM (SELECT q.queue_id,
                       coalesce((nullif(current_setting('ssb.mark_' || q.queue_id || '_5', true), '')::bigint[])[1], 0) AS low
                  FROM ssb.queue AS q
                 WHERE q.name = queue AND q.is_plain_reader
                   AND current_setting('ssb.held_' || q.queue_id || '_5', true) IN ('') IS NOT FALSE
                   AND coalesce(pg_sequence_last_value(q.state_sequence), 0) < 2
                   AND has_sequence_privilege(coalesce(nullif(current_setting('role'), 'none')::name, session_user),
                                              q.order_sequence, 'SELECT')
                OFFSET 0) AS q;
        IF NOT v_is_worth THEN
            RETURN false;
        END IF;
    END IF;
    v_queue := ssb.queue_of(queue);
    PERFORM ssb.require_receive(v_queue);
    IF NOT v_queue.is_receive_enabled OR ssb.is_poisoned(v_queue)
       OR EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                   WHERE e.queue_id = v_queue.queue_id AND e.due_at <= clock_timestamp() AND e.closed_at IS NULL)
       OR ssb.fetch_waiting(v_queue.queue_id) THEN
        RETURN true;
    ELSIF conversation IS NULL AND conversation_group IS NULL THEN
        RETURN (ssb.lock_first_group(v_queue)).lock_id IS NOT NULL;
    END IF;
    SELECT f.* INTO v_found FROM ssb.find_wanted(v_queue.queue_id, conversation, conversation_group) AS f;
    RETURN v_found.lock_id IS NOT NULL;
END;
$$;

-- Returns when a message may be there, when the queue cannot be read any more, or
-- at the deadline. Looks again after 0.5 ms at first, then ever more slowly up to
-- 100 ms: quick while there is traffic, cheap when there is none. With may_commit
-- the empty transaction ends between the looks, so that waiting for hours holds
-- back no VACUUM.
CREATE OR REPLACE PROCEDURE ssb.wait_for_message(queue text, deadline timestamptz, conversation uuid DEFAULT NULL,
                                                 conversation_group uuid DEFAULT NULL, may_commit boolean DEFAULT false)
LANGUAGE plpgsql
AS $$
DECLARE
    v_pause double precision := 0.0005;
    v_left double precision;
    v_round integer := 0;
BEGIN
    LOOP
        EXIT WHEN ssb.message_is_waiting(queue, conversation, conversation_group);
        -- PostgreSQL before 17 has no infinite intervals.
        v_left := CASE WHEN pg_catalog.isfinite(deadline)
                       THEN pg_catalog.date_part('epoch', deadline OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp())
                       ELSE 1 END;
        EXIT WHEN v_left OPERATOR(pg_catalog.<=) 0;
        IF may_commit THEN
            COMMIT;
            v_round := v_round OPERATOR(pg_catalog.+) 1;
            IF v_round OPERATOR(pg_catalog.%) 256 OPERATOR(pg_catalog.=) 0 THEN
                -- A rotation that was begun goes on at every look.
                IF ssb.tidy_up() OPERATOR(pg_catalog.=) ANY (ARRAY['switched', 'moved']) THEN
                    v_round := v_round OPERATOR(pg_catalog.-) 1;
                END IF;
                COMMIT;
            END IF;
        END IF;
        PERFORM pg_catalog.pg_sleep(least(v_pause, v_left));
        v_pause := least(v_pause OPERATOR(pg_catalog.*) 1.05, 0.1);
    END LOOP;
END;
$$;

-- GET CONVERSATION GROUP, MOVE CONVERSATION, BEGIN CONVERSATION TIMER, GET_TRANSMISSION_STATUS.

-- The group that RECEIVE would take from, locked. NULL when there is none. On a queue as ssb.receive has it on its fast path it
-- is nearly always that of the first message. The session's mark is raised as there (low_water.sql): who receives from
-- the group alone never looks for a first message.
CREATE OR REPLACE FUNCTION ssb.get_conversation_group(queue text)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_position bigint[];
    v_queue_id integer;
    v_order_sequence regclass;
    v_level smallint := 5;             -- that is looked at
    v_levels smallint[];               -- of a queue that has several
    v_low bigint;
    v_order bigint;
    v_endpoint_id bigint;
    v_is_untried boolean;
    v_is_undone boolean := false;      -- the mark
    v_group uuid;
    v_noted text;
    v_queue ssb.queue;
    v_found record;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    BEGIN
        SELECT q.queue_id, q.order_sequence, q.low_water,
               nullif(current_setting('ssb.read_position_' || q.queue_id || '_5', true), '')::bigint[],
               CASE WHEN NOT q.is_plain_reader AND q.priorities <> '{5}' THEN q.priorities END
          INTO v_queue_id, v_order_sequence, v_low, v_position, v_levels
          FROM ssb.queue AS q
         WHERE q.name = queue AND q.is_receive_enabled AND NOT q.has_groups
           -- With a column, as in ssb.receive: else it would be a plan node of its own.
           AND CASE WHEN q.max_rollbacks > 1 THEN current_setting('transaction_isolation') = 'read committed' END
           AND coalesce(pg_sequence_last_value(q.state_sequence), 0) < 2
           AND (pg_sequence_last_value('ssb.urgent_conversations') IS NULL
                OR NOT EXISTS (SELECT FROM ssb.urgent_conversation AS u WHERE u.queue_id = q.queue_id))
           AND has_sequence_privilege(ssb_internal.calling_role(), q.order_sequence, 'USAGE')
           AND NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                            WHERE e.queue_id = q.queue_id AND e.due_at <= (SELECT clock_timestamp()));
    EXCEPTION WHEN internal_error THEN
        -- It waited for a DROP QUEUE, and the sequence is gone.
        v_queue_id := NULL;
    END;
    IF v_levels IS NOT NULL THEN
        -- The first that has something above the session's mark, or below it. (An array's elements come in their order.)
        SELECT l.level, l.position INTO v_level, v_position
          FROM (SELECT l.level,
                       nullif(current_setting('ssb.read_position_' || v_queue_id || '_' || l.level, true), '')::bigint[] AS position
                  FROM unnest(v_levels) AS l (level) OFFSET 0) AS l
         WHERE l.position[5 /* at_skipped */] > 0
            OR EXISTS (SELECT FROM ssb.message_stored AS m
                        WHERE m.queue_id = v_queue_id AND m.priority = l.level
                          AND m.queuing_order >= greatest(v_low, l.position[1 /* at_low_water */]))
         LIMIT 1;
    END IF;
    IF v_position[11 /* at_marked_by */] IS NOT NULL THEN
        v_is_undone := ssb_internal.is_undone(v_position[11 /* at_marked_by */]);
        IF NOT v_is_undone AND pg_current_xact_id_if_assigned() IS NULL THEN
            v_position[11 /* at_marked_by */] := NULL;      -- committed: it need not be asked again
            v_noted := set_config('ssb.read_position_' || v_queue_id || '_' || v_level, v_position::text, false);
        END IF;
    END IF;
    IF FOUND AND NOT v_is_undone AND coalesce(v_position[5 /* at_skipped */], 0) = 0 THEN
        v_low := greatest(v_low, v_position[1 /* at_low_water */]);
        SELECT m.endpoint_id, m.queuing_order, m.xmax = 0 INTO v_endpoint_id, v_order, v_is_untried
          FROM ssb.message_stored AS m
         WHERE m.queue_id = v_queue_id AND m.priority = v_level AND m.queuing_order >= v_low ORDER BY m.queuing_order LIMIT 1;
        IF v_is_untried THEN
            SELECT e.conversation_group_id INTO v_group
              FROM ssb.conversation_endpoint AS e
             WHERE e.endpoint_id = v_endpoint_id AND e.lock_id = v_endpoint_id AND e.closed_at IS NULL AND e.claim_id IS NULL
               FOR NO KEY UPDATE SKIP LOCKED;
        END IF;
        IF v_group IS NOT NULL THEN
            -- Still there, now that it is locked?
            PERFORM FROM ssb.message_stored AS m WHERE m.endpoint_id = v_endpoint_id AND m.queuing_order = v_order AND m.xmax = 0;
            IF FOUND THEN
                IF v_order > coalesce(v_position[7 /* at_raise_beyond */], v_low + 128) THEN
                    PERFORM ssb_internal.raise_low_water(v_queue_id, v_level, v_low, v_order_sequence, v_order);
                ELSIF v_order > v_low + 48 AND v_order <= v_position[3 /* at_decided */] THEN
                    -- All orders below are decided, and gone.
                    v_position[1 /* at_low_water */] := v_order;
                    v_position[11 /* at_marked_by */] := pg_current_xact_id()::text::bigint;
                    v_position[2 /* at_act_beyond */] := least(v_order + 48, v_position[7 /* at_raise_beyond */]);
                    v_noted := set_config('ssb.read_position_' || v_queue_id || '_' || v_level, v_position::text, false);
                END IF;
                RETURN v_group;
            END IF;
        END IF;
    END IF;
    v_queue := ssb_internal.queue_to_receive(queue);
    PERFORM ssb_internal.require_receive(v_queue);
    IF NOT v_queue.is_receive_enabled OR ssb_internal.is_poisoned(v_queue) THEN
        PERFORM ssb_internal.raise_error(9617, format('The service queue "%s" is currently disabled.', v_queue.spelling));
    END IF;
    PERFORM ssb_internal.deliver_due_on(v_queue.queue_id);
    FOR v_round IN 1..2 LOOP
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            SELECT r.conversation_group_id INTO v_group FROM ssb_internal.receive_by_snapshot(queue, NULL, true) AS r;
            IF FOUND THEN
                RETURN v_group;
            END IF;
        ELSE
            LOOP
                SELECT f.* INTO v_found FROM ssb_internal.lock_first_group(v_queue) AS f;
                IF v_found.lock_id IS NULL THEN
                    EXIT;
                END IF;
                PERFORM FROM ssb.conversation_endpoint AS e
                  CROSS JOIN LATERAL (SELECT FROM ssb.message_stored AS m WHERE m.endpoint_id = e.endpoint_id LIMIT 1) AS m
                  WHERE e.lock_id = v_found.lock_id AND e.closed_at IS NULL LIMIT 1;
                IF FOUND THEN
                    RETURN v_found.conversation_group_id;
                END IF;
            END LOOP;
        END IF;
        EXIT WHEN v_round = 2 OR NOT ssb_internal.fetch_waiting(v_queue.queue_id);
    END LOOP;
    RETURN NULL;
END;
$$;

-- The highest priority group with messages that nobody else holds, locked.
CREATE OR REPLACE FUNCTION ssb_internal.lock_first_group(p_queue ssb.queue, OUT lock_id bigint, OUT conversation_group_id uuid)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_priority smallint;
    v_low bigint;
    v_order bigint;
BEGIN
    FOREACH v_priority IN ARRAY p_queue.priorities LOOP
        SELECT f.lock_id, e.conversation_group_id, f.queuing_order INTO lock_id, conversation_group_id, v_order
          FROM ssb_internal.find_first(p_queue.queue_id, v_priority, p_queue.low_water) AS f
         CROSS JOIN LATERAL (SELECT e.conversation_group_id FROM ssb.conversation_endpoint AS e
                              WHERE e.endpoint_id = f.endpoint_id OFFSET 0) AS e;     -- by its key, whatever the statistics
        IF FOUND THEN
            v_low := ssb_internal.low_water(p_queue.queue_id, v_priority, p_queue.low_water);
            IF v_order - v_low > 128 THEN
                PERFORM ssb_internal.raise_low_water(p_queue.queue_id, v_priority, v_low, p_queue.order_sequence, v_order);
            END IF;
            EXIT;
        END IF;
    END LOOP;
END;
$$;

-- A claim reads a conversation's messages in its group: who would move it waits until the claim is over, as for a reader.
-- NULL: no other session's has it.
-- Called by  ssb.move_conversation
CREATE OR REPLACE FUNCTION ssb_internal.claim_of_another(p_handle uuid)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    RETURN (SELECT l.claim_id FROM ssb.conversation_endpoint AS e
              JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id
             WHERE e.conversation_handle = p_handle AND l.claim_id > 0
               AND NOT EXISTS (SELECT FROM ssb.claim AS c WHERE c.claim_id = l.claim_id AND c.pid = pg_backend_pid())
               AND ssb_internal.claim_is_alive(l.claim_id));
END;
$$;

-- Called by  ssb.move_conversation, which holds no lock yet
CREATE OR REPLACE FUNCTION ssb_internal.await_claim(p_claim_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ssb.claim AS c WHERE c.claim_id = p_claim_id AND c.expires_at IS NULL) THEN
        PERFORM pg_sleep(0.05);
    ELSIF current_setting('lock_timeout') <> '0' THEN
        PERFORM pg_advisory_lock_shared(1397965376, p_claim_id), pg_advisory_unlock_shared(1397965376, p_claim_id);
    ELSE
        -- The claim's own session has it, to its end: so a deadlock is found. But anybody may take it, too: then the
        -- caller looks again.
        PERFORM set_config('lock_timeout', '3s', true);
        PERFORM pg_advisory_lock_shared(1397965376, p_claim_id), pg_advisory_unlock_shared(1397965376, p_claim_id);
        PERFORM set_config('lock_timeout', '0', true);
    END IF;
EXCEPTION WHEN lock_not_available THEN
    IF current_setting('lock_timeout') <> '0' THEN
        RAISE;
    END IF;
END;
$$;

-- Locks both groups, the one with the lower number first.
CREATE OR REPLACE FUNCTION ssb.move_conversation(handle uuid, conversation_group uuid)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_variable
DECLARE
    v_endpoint ssb.conversation_endpoint;
    v_queue ssb.queue;
    v_destination bigint;
    v_locked bigint[];
    v_claim_id integer;
    v_state char(2);
BEGIN
    IF handle IS NULL THEN
        PERFORM ssb_internal.raise_error(8418, 'The conversation handle is missing. Specify a conversation handle.');
    ELSIF conversation_group IS NULL THEN
        PERFORM ssb_internal.raise_error(8420, 'The conversation group is missing. Specify a conversation group.');
    END IF;
    LOOP
        v_claim_id := ssb_internal.claim_of_another(handle);
        IF v_claim_id IS NULL THEN
            BEGIN
                SELECT array_agg(l.endpoint_id) INTO v_locked
                  FROM (SELECT l.endpoint_id FROM ssb.conversation_endpoint AS l
                         WHERE l.endpoint_id IN (SELECT e.lock_id FROM ssb.conversation_endpoint AS e
                                                  WHERE e.conversation_handle = handle OR e.conversation_group_id = conversation_group)
                         ORDER BY l.endpoint_id FOR NO KEY UPDATE) AS l;
                v_endpoint := ssb_internal.lock_endpoint(handle);
                v_claim_id := ssb_internal.claim_of_another(handle);
                v_destination := ssb_internal.find_group(conversation_group, v_endpoint.service_id);
                EXIT WHEN v_claim_id IS NULL AND (v_destination IS NULL OR v_destination = ANY (v_locked));
                -- The claim came before our lock, and cannot complete while we have that. Or the group has another leader now.
                RAISE EXCEPTION USING ERRCODE = 'SP001', MESSAGE = 'done';
            EXCEPTION WHEN SQLSTATE 'SP001' THEN
                NULL;
            END;
        END IF;
        PERFORM ssb_internal.await_claim(v_claim_id) WHERE v_claim_id IS NOT NULL;
    END LOOP;
    v_state := ssb_internal.endpoint_state(v_endpoint);
    IF v_endpoint.endpoint_id IS NULL OR v_state IS NULL THEN
        PERFORM ssb_internal.raise_handle_not_found(handle);
    END IF;
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = v_endpoint.queue_id;
    PERFORM ssb_internal.require_receive(v_queue);
    IF v_state IN ('CD', 'DO') THEN
        PERFORM ssb_internal.raise_error(8438, format('The conversation endpoint is not in a valid state for MOVE CONVERSATION. '
                                                      'The current endpoint state is ''%s''.', v_state));
    END IF;
    IF v_destination IS NULL THEN
        PERFORM ssb_internal.raise_error(8439, format('The destination conversation group ''%s'' is invalid.',
                                                      upper(conversation_group::text)));
    ELSIF v_destination <> v_endpoint.lock_id THEN
        UPDATE ssb.queue AS q SET has_groups = true WHERE q.queue_id = v_endpoint.queue_id AND NOT q.has_groups;
        PERFORM ssb_internal.hand_over_group(v_endpoint.endpoint_id, v_endpoint.claim_id);
        PERFORM ssb_internal.note_joined(v_destination);
        UPDATE ssb.conversation_endpoint AS e SET lock_id = v_destination, conversation_group_id = conversation_group, claim_id = NULL
         WHERE e.endpoint_id = v_endpoint.endpoint_id;
    END IF;
END;
$$;

-- After so many seconds a DialogTimer message arrives on this side's own queue. A
-- later call replaces an earlier one; 0 or NULL takes it back. Nothing sleeps here:
-- ssb.deliver_due turns a due timer into that message when the next RECEIVE or the
-- daemon looks.
CREATE OR REPLACE FUNCTION ssb.begin_conversation_timer(handle uuid, seconds integer)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_variable
DECLARE
    v_endpoint ssb.conversation_endpoint;
    v_state char(2);
    v_at timestamptz;
BEGIN
    IF handle IS NULL THEN
        PERFORM ssb_internal.raise_error(8418, 'The conversation handle is missing. Specify a conversation handle.');
    ELSIF seconds < 0 THEN
        PERFORM ssb_internal.raise_error(1080, format('The integer value %s is out of range.', seconds), 15, 1,
                                         'TIMEOUT is a number of seconds.');
    END IF;
    v_endpoint := ssb_internal.lock_endpoint(handle);
    v_state := ssb_internal.endpoint_state(v_endpoint);
    IF v_endpoint.endpoint_id IS NULL OR v_state IS NULL THEN
        PERFORM ssb_internal.raise_handle_not_found(handle);
    END IF;
    PERFORM ssb_internal.require_receive(q) FROM ssb.queue AS q WHERE q.queue_id = v_endpoint.queue_id;
    -- clock_timestamp, not now: a service program may have been in its
    -- transaction for minutes, and the timeout counts from this statement.
    v_at := clock_timestamp() + make_interval(secs => nullif(seconds, 0));
    IF v_state IN ('CD', 'DO', 'ER') THEN
        PERFORM ssb_internal.raise_error(8458, format('The conversation endpoint is not in a valid state for BEGIN CONVERSATION TIMER. '
                                                      'The current endpoint state is ''%s''.', v_state));
    ELSIF v_at > v_endpoint.lifetime THEN
        PERFORM ssb_internal.raise_error(8410, 'The conversation timer cannot be set beyond the conversation''s lifetime.');
    END IF;
    UPDATE ssb.conversation_endpoint AS e SET dialog_timer = v_at, due_at = least(v_at, e.lifetime)
     WHERE e.endpoint_id = v_endpoint.endpoint_id;
END;
$$;

-- '' when nothing waits, and when there is no such conversation.
CREATE OR REPLACE FUNCTION ssb.get_transmission_status(handle uuid)
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    RETURN coalesce((SELECT t.transmission_status
                       FROM ssb.conversation_endpoint AS e
                      CROSS JOIN LATERAL (SELECT t.transmission_status FROM ssb.transmission AS t
                                           WHERE t.endpoint_id BETWEEN e.endpoint_id AND e.endpoint_id
                                           ORDER BY t.endpoint_id, t.message_sequence_number LIMIT 1) AS t
                      WHERE e.conversation_handle = handle
                        AND (e.closed_at IS NULL OR NOT e.is_close_known OR NOT e.is_initiator)), '');
END;
$$;

-- What has arrived of a set leaves the transmission queue; of the rest is noted why it waits.
--
-- For the runtime's owner only.
-- Called by  ssb_internal.next_set, which settles the set before, and the daemon

-- Which of these dialogs have messages that somebody else holds: END CONVERSATION has taken them away, WITH ERROR or CLEANUP, or a trace was
-- noted, in a transaction that is open. It may stay so, and the messages to all other instances would wait behind the daemon's
-- statement: what is held is left for later. p_until: for each dialog, up to which number it matters, NULL: all; p_most: of each dialog
-- no more than its first ones. What is free stays locked.
-- (Only where something is special: a lock for each message that has arrived would cost each of them.)
--
-- Called by  ssb_internal.settle_taken, settle_sent and try_parked, which have locked the remote conversations' rows
CREATE OR REPLACE FUNCTION ssb_internal.held_dialogs(p_endpoints bigint[], p_until bigint[], p_most integer DEFAULT NULL)
RETURNS bigint[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_mergejoin = off
SET enable_hashjoin = off
SET jit = off
AS $$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT u.endpoint_id
          FROM unnest(p_endpoints, p_until) AS u (endpoint_id, until)
         CROSS JOIN LATERAL (SELECT r.acknowledged FROM ssb.remote_conversation AS r WHERE r.endpoint_id = u.endpoint_id OFFSET 0) AS r
         CROSS JOIN LATERAL (SELECT f.ctid AS place FROM ssb.transmission AS f
                              WHERE f.endpoint_id BETWEEN u.endpoint_id AND u.endpoint_id AND f.message_sequence_number >= r.acknowledged - 1
                                AND f.message_sequence_number < coalesce(u.until, 9223372036854775807)
                              ORDER BY f.endpoint_id, f.message_sequence_number LIMIT p_most) AS f
          LEFT JOIN LATERAL (SELECT true AS is_free FROM ssb.transmission AS l WHERE l.ctid = f.place
                                FOR NO KEY UPDATE SKIP LOCKED) AS l ON true
         WHERE l.is_free IS NULL);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.held_dialogs(bigint[], bigint[], integer) FROM PUBLIC;

-- Settles messages of dialogs that were taken as far as the other instance says: the dialogs' next_numbers, which instance that is where
-- it says so, the keys that were used. A dialog whose row somebody holds, as a SEND does that has looked for its route, keeps its
-- messages: they are sent again. So does one of whose messages somebody holds one, after a while.
-- Locks  the remote conversations' rows
CREATE OR REPLACE FUNCTION ssb_internal.settle_taken(p_endpoints bigint[], p_next_numbers bigint[], p_instances text[], p_key_ids uuid[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_mergejoin = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET lock_timeout = '100ms'
AS $$
DECLARE
    v_mine bigint[];
    v_parked bigint[];
    v_held bigint[];
    v_is_whole boolean;                             -- of all dialogs
BEGIN
    SELECT array_agg(r.endpoint_id), array_agg(r.endpoint_id) FILTER (WHERE r.failures > 0) INTO v_mine, v_parked
      FROM (SELECT r.endpoint_id, r.failures FROM ssb.remote_conversation AS r
             WHERE r.endpoint_id = ANY (p_endpoints) FOR NO KEY UPDATE SKIP LOCKED) AS r;
    FOR v_look IN 1..2 LOOP
        v_is_whole := cardinality(v_mine) = cardinality(p_endpoints);
        BEGIN
            -- What has arrived of each dialog is a range: to look for each message is 0.6 µs more of it. Below what is acknowledged is nothing any
            -- more, unless it ends the dialog: who moves that number deletes. (Plans are made while nothing waits, and serve for long: a dialog's
            -- range is a subquery that is read by its index alone.)
            DELETE FROM ssb.transmission AS t
             WHERE t.ctid = ANY (ARRAY(
                       SELECT f.ctid
                         FROM unnest(p_endpoints, p_next_numbers) AS u (endpoint_id, next_number)
                        CROSS JOIN LATERAL (SELECT r.acknowledged FROM ssb.remote_conversation AS r WHERE r.endpoint_id = u.endpoint_id OFFSET 0) AS r
                        CROSS JOIN LATERAL (SELECT f.ctid FROM ssb.transmission AS f
                                             WHERE f.endpoint_id = u.endpoint_id AND f.message_sequence_number >= r.acknowledged
                                               AND f.message_sequence_number < u.next_number
                                               AND NOT f.is_end_of_dialog AND NOT f.is_conversation_error OFFSET 0) AS f
                        WHERE v_is_whole OR u.endpoint_id IN (SELECT unnest(v_mine))));
            UPDATE ssb.remote_conversation AS r
               SET far_instance = coalesce(r.far_instance, u.instance), acknowledged = greatest(r.acknowledged, u.next_number),
                   sent_bytes = CASE WHEN r.acknowledged < u.next_number THEN 0 ELSE r.sent_bytes END,
                   outbound_key_id = coalesce(u.key_id, r.outbound_key_id), failures = 0, retry_at = NULL
              FROM unnest(p_endpoints, p_next_numbers, p_instances, p_key_ids) AS u (endpoint_id, next_number, instance, key_id)
             WHERE r.endpoint_id = u.endpoint_id
               AND (v_is_whole OR r.endpoint_id = ANY (v_mine))
               AND (r.failures > 0 OR r.acknowledged < u.next_number OR (r.far_instance IS NULL AND u.instance IS NOT NULL)
                    OR r.outbound_key_id IS DISTINCT FROM coalesce(u.key_id, r.outbound_key_id));
            IF v_parked IS NOT NULL THEN
                UPDATE ssb.transmission AS t SET peer_id = r.peer_id
                  FROM ssb.remote_conversation AS r
                 WHERE t.endpoint_id = ANY (v_parked) AND r.endpoint_id = t.endpoint_id AND t.peer_id IS DISTINCT FROM r.peer_id;
            END IF;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            -- From now on they are this transaction's, or left out.
            v_held := ssb_internal.held_dialogs(v_mine, ARRAY(SELECT CASE WHEN v_parked IS NULL OR m.endpoint_id <> ALL (v_parked) THEN u.next_number END
                                                                FROM unnest(v_mine) WITH ORDINALITY AS m (endpoint_id, n)
                                                                JOIN unnest(p_endpoints, p_next_numbers) AS u (endpoint_id, next_number)
                                                                  ON u.endpoint_id = m.endpoint_id
                                                               ORDER BY m.n));
            PERFORM ssb_internal.put_off(v_held, NULL);
            v_mine := ARRAY(SELECT m FROM unnest(v_mine) AS m WHERE m <> ALL (v_held));
            v_parked := ARRAY(SELECT m FROM unnest(v_parked) AS m WHERE m <> ALL (v_held));
        END;
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.settle_taken(bigint[], bigint[], text[], uuid[]) FROM PUBLIC;

-- What the other instance answered, an object for each dialog: endpoint_id; next_number, below which it has
-- everything; taken_bytes, how much of that message; status, why it does not take more now; refusal and its code, why never; instance, which it is.
-- A dialog of which somebody holds something is passed: it is sent and answered once more.
-- Locks  the remote conversations' rows; the group of a side that has ended its conversation, when the far side knows
CREATE OR REPLACE FUNCTION ssb_internal.settle_sent(p_answers jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_mergejoin = off
SET jit = off
AS $$
DECLARE
    v_answer record;
    v_endpoint ssb.conversation_endpoint;
    v_is_over boolean;
    v_has_progressed boolean;
    v_ends bigint[] := ARRAY(SELECT a.endpoint_id
                               FROM jsonb_to_recordset(p_answers) AS a (endpoint_id bigint, next_number bigint)
                              CROSS JOIN LATERAL (SELECT FROM ssb.transmission AS t
                                                   WHERE t.endpoint_id = a.endpoint_id AND t.message_sequence_number < a.next_number
                                                     AND (t.is_end_of_dialog OR t.is_conversation_error) LIMIT 1) AS t);
BEGIN
    -- As a set, where nothing is special.
    PERFORM ssb_internal.settle_taken(t.endpoints, t.next_numbers, t.instances, t.key_ids)
       FROM (SELECT array_agg(a.endpoint_id) AS endpoints, array_agg(a.next_number) AS next_numbers, array_agg(a.instance) AS instances,
                    array_agg(a.key_id) AS key_ids
               FROM jsonb_to_recordset(p_answers)
                 AS a (endpoint_id bigint, next_number bigint, status text, refusal text, instance text, key_id uuid)
              WHERE a.status IS NULL AND a.refusal IS NULL AND a.endpoint_id <> ALL (v_ends)) AS t
      WHERE t.endpoints IS NOT NULL;
    UPDATE ssb.remote_conversation AS r SET sent_bytes = a.taken_bytes
      FROM jsonb_to_recordset(p_answers) AS a (endpoint_id bigint, next_number bigint, taken_bytes bigint)
     CROSS JOIN LATERAL (SELECT k.endpoint_id FROM ssb.remote_conversation AS k
                          WHERE k.endpoint_id = a.endpoint_id FOR NO KEY UPDATE SKIP LOCKED) AS k
     WHERE a.taken_bytes >= 0 AND r.endpoint_id = k.endpoint_id AND r.acknowledged = a.next_number AND r.sent_bytes <> a.taken_bytes;
    FOR v_answer IN
        SELECT a.* FROM jsonb_to_recordset(p_answers)
            AS a (endpoint_id bigint, next_number bigint, status text, refusal_code integer, refusal text, instance text, key_id uuid)
         WHERE a.status IS NOT NULL OR a.refusal IS NOT NULL OR a.endpoint_id = ANY (v_ends)
         ORDER BY a.endpoint_id
    LOOP
        -- Who brings a message of the dialog holds its row, and may hold it for long; so may others its messages.
        PERFORM FROM ssb.remote_conversation AS r WHERE r.endpoint_id = v_answer.endpoint_id FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND AND EXISTS (SELECT FROM ssb.remote_conversation AS r WHERE r.endpoint_id = v_answer.endpoint_id);
        v_has_progressed := v_answer.next_number > (SELECT r.acknowledged FROM ssb.remote_conversation AS r
                                                     WHERE r.endpoint_id = v_answer.endpoint_id);
        IF ssb_internal.held_dialogs(ARRAY[v_answer.endpoint_id],
                                     ARRAY[CASE WHEN v_answer.refusal IS NULL AND v_answer.endpoint_id <> ALL (v_ends) AND NOT v_has_progressed
                                                THEN coalesce(v_answer.next_number, 0) END]) <> '{}' THEN
            PERFORM ssb_internal.put_off(ARRAY[v_answer.endpoint_id], NULL);
            CONTINUE;
        END IF;
        UPDATE ssb.remote_conversation AS r
           SET far_instance = coalesce(r.far_instance, v_answer.instance),
               acknowledged = greatest(r.acknowledged, v_answer.next_number),
               sent_bytes = CASE WHEN r.acknowledged < v_answer.next_number THEN 0 ELSE r.sent_bytes END,
               outbound_key_id = coalesce(v_answer.key_id, r.outbound_key_id),
               failures = CASE WHEN v_answer.status IS NULL OR v_has_progressed THEN 0 ELSE r.failures END
         WHERE r.endpoint_id = v_answer.endpoint_id;
        DELETE FROM ssb.transmission AS t
         WHERE t.endpoint_id = v_answer.endpoint_id AND t.message_sequence_number < v_answer.next_number
           AND NOT t.is_end_of_dialog AND NOT t.is_conversation_error;
        v_is_over := EXISTS (SELECT FROM ssb.transmission AS t
                              WHERE t.endpoint_id = v_answer.endpoint_id
                                AND (t.is_end_of_dialog OR t.is_conversation_error)
                                AND (t.message_sequence_number < v_answer.next_number OR v_answer.refusal IS NOT NULL));
        IF v_is_over AND ssb_internal.try_lock_endpoint(v_answer.endpoint_id) THEN
            DELETE FROM ssb.transmission AS t WHERE t.endpoint_id = v_answer.endpoint_id;
            PERFORM ssb_internal.note_close_known(v_answer.endpoint_id);
            SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e
             WHERE e.endpoint_id = v_answer.endpoint_id AND e.closed_at IS NOT NULL
               AND CASE WHEN e.is_cleaned_up AND NOT EXISTS (SELECT FROM ssb.service AS s WHERE s.service_id = e.service_id) THEN true
                        ELSE e.is_initiator AND EXISTS (SELECT FROM ssb.remote_conversation AS r
                                                         WHERE r.endpoint_id = e.endpoint_id AND r.far_outcome IS NOT NULL) END;
            IF FOUND THEN
                PERFORM ssb_internal.remove_endpoint(v_endpoint);
            END IF;
        ELSIF v_answer.refusal IS NOT NULL THEN
            PERFORM ssb_internal.fail_by_remote(v_answer.endpoint_id, v_answer.refusal_code, v_answer.refusal);
            DELETE FROM ssb.transmission AS t
             WHERE t.endpoint_id = v_answer.endpoint_id AND NOT t.is_end_of_dialog AND NOT t.is_conversation_error;
        END IF;
        IF v_answer.status IS NOT NULL AND NOT v_has_progressed THEN
            PERFORM ssb_internal.put_off(ARRAY[v_answer.endpoint_id], v_answer.status);
        ELSIF v_is_over AND EXISTS (SELECT FROM ssb.transmission AS t WHERE t.endpoint_id = v_answer.endpoint_id) THEN
            -- Somebody holds the group: it is sent and answered once more, and settled then.
            PERFORM ssb_internal.put_off(ARRAY[v_answer.endpoint_id], t.transmission_status)
               FROM (SELECT t.transmission_status FROM ssb.transmission AS t WHERE t.endpoint_id = v_answer.endpoint_id LIMIT 1) AS t;
        ELSE
            UPDATE ssb.transmission AS t SET peer_id = r.peer_id
              FROM ssb.remote_conversation AS r
             WHERE t.endpoint_id = v_answer.endpoint_id AND r.endpoint_id = t.endpoint_id AND t.peer_id IS DISTINCT FROM r.peer_id;
        END IF;
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.settle_sent(jsonb) FROM PUBLIC;

-- A daemon of an earlier version says which messages were in the set, too: it goes on until it is replaced.
CREATE OR REPLACE FUNCTION ssb_internal.settle_sent(p_answers jsonb, p_ids bigint[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.settle_sent(p_answers);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.settle_sent(jsonb, bigint[]) FROM PUBLIC;

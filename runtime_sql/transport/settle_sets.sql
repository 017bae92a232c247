-- What has arrived of a set leaves the transmission queue; of the rest is noted why it waits.
--
-- For the runtime's owner only.
-- Called by  ssb_internal.next_set, which settles the set before, and the daemon

-- Settles messages of dialogs that were taken as far as the other instance says: the dialogs' next_numbers, which instance that is where
-- it says so, the keys that were used. A dialog whose row somebody holds, as a SEND does that has looked for its route, keeps its
-- messages: they are sent again.
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
AS $$
DECLARE
    v_mine bigint[];
    v_parked bigint[];
    v_is_whole boolean;                             -- of all dialogs
BEGIN
    SELECT array_agg(r.endpoint_id), array_agg(r.endpoint_id) FILTER (WHERE r.failures > 0) INTO v_mine, v_parked
      FROM (SELECT r.endpoint_id, r.failures FROM ssb.remote_conversation AS r
             WHERE r.endpoint_id = ANY (p_endpoints) FOR NO KEY UPDATE SKIP LOCKED) AS r;
    v_is_whole := cardinality(v_mine) = cardinality(p_endpoints);
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
       AND (cardinality(v_mine) = cardinality(p_endpoints) OR r.endpoint_id = ANY (v_mine))
       AND (r.failures > 0 OR r.acknowledged < u.next_number OR (r.far_instance IS NULL AND u.instance IS NOT NULL)
            OR r.outbound_key_id IS DISTINCT FROM coalesce(u.key_id, r.outbound_key_id));
    IF v_parked IS NOT NULL THEN
        UPDATE ssb.transmission AS t SET peer_id = r.peer_id
          FROM ssb.remote_conversation AS r
         WHERE t.endpoint_id = ANY (v_parked) AND r.endpoint_id = t.endpoint_id AND t.peer_id IS DISTINCT FROM r.peer_id;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.settle_taken(bigint[], bigint[], text[], uuid[]) FROM PUBLIC;

-- What the other instance answered, an object for each dialog: endpoint_id; next_number, below which it has
-- everything; taken_bytes, how much of that message; status, why it does not take more now; refusal and its code, why never; instance, which it is.
-- Locks  the group of a side that has ended its conversation, when the far side knows
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
     WHERE a.taken_bytes >= 0 AND r.endpoint_id = a.endpoint_id AND r.acknowledged = a.next_number AND r.sent_bytes <> a.taken_bytes;
    FOR v_answer IN
        SELECT a.* FROM jsonb_to_recordset(p_answers)
            AS a (endpoint_id bigint, next_number bigint, status text, refusal_code integer, refusal text, instance text, key_id uuid)
         WHERE a.status IS NOT NULL OR a.refusal IS NOT NULL OR a.endpoint_id = ANY (v_ends)
         ORDER BY a.endpoint_id
    LOOP
        v_has_progressed := v_answer.next_number > (SELECT r.acknowledged FROM ssb.remote_conversation AS r
                                                     WHERE r.endpoint_id = v_answer.endpoint_id);
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

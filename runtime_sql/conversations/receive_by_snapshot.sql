-- RECEIVE and GET CONVERSATION GROUP where one snapshot serves the whole transaction (REPEATABLE READ, SNAPSHOT, SERIALIZABLE). What other readers have taken
-- since then is still seen, and a serialization failure for who takes it too. In SQL Server no level makes readers of a queue fail
-- beside one another: so the groups are tried one by one, each in a subtransaction, and those that others had are passed.
--
-- Called by  ssb.receive, ssb.get_conversation_group
-- Locks      the group's row, to the end of the transaction

-- The messages of one group, as RECEIVE with that group has them, or (p_is_held) no more than the group, to be held; none where
-- somebody holds it or had it since the snapshot.
CREATE OR REPLACE FUNCTION ssb_internal.take_group_by_snapshot(p_queue text, p_top bigint, p_lock_id bigint, p_group uuid, p_is_held boolean)
RETURNS ssb.message[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_reason text;
BEGIN
    PERFORM FROM ssb.conversation_endpoint AS l
      WHERE l.endpoint_id = p_lock_id AND (l.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(l.claim_id))
        FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF NOT p_is_held THEN
        RETURN ARRAY(SELECT r FROM ssb_internal.receive_slow_path(p_queue, p_top, NULL, p_group) AS r);
    END IF;
    PERFORM FROM ssb.conversation_endpoint AS e
      CROSS JOIN LATERAL (SELECT m.xmax FROM ssb.message_stored AS m WHERE m.endpoint_id = e.endpoint_id) AS m
      WHERE e.lock_id = p_lock_id AND e.closed_at IS NULL
        AND m.xmax <> '0' AND ssb_internal.fate(m.xmax::text::bigint) = 'committed';
    IF FOUND THEN
        RAISE serialization_failure;       -- and the group is free again
    END IF;
    RETURN ARRAY[jsonb_populate_record(NULL::ssb.message, jsonb_build_object('conversation_group_id', p_group))];
EXCEPTION WHEN serialization_failure THEN
    GET STACKED DIAGNOSTICS v_reason = PG_EXCEPTION_DETAIL;
    IF v_reason LIKE 'Reason code%' THEN
        RAISE;                             -- reads and writes of SERIALIZABLE transactions: whatever comes next would fail
    END IF;
    RETURN NULL;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.take_group_by_snapshot(text, bigint, bigint, uuid, boolean) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.receive_by_snapshot(p_queue text, p_top bigint, p_is_held boolean DEFAULT false)
RETURNS SETOF ssb.message
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $$
DECLARE
    v_queue CONSTANT ssb.queue := ssb_internal.queue_to_receive(p_queue);
    v_level smallint;
    v_skipped bigint[];
    v_low bigint;
    v_found record;
    v_tried bigint[] := '{}';
    v_messages ssb.message[];
BEGIN
    PERFORM ssb_internal.require_receive(v_queue);
    IF v_queue.is_receive_enabled AND coalesce(p_top, 1) > 0 THEN
        FOREACH v_level IN ARRAY v_queue.priorities LOOP
            v_skipped := nullif(current_setting('ssb.skipped_' || v_queue.queue_id || '_' || v_level, true), '')::bigint[];
            v_low := least(ssb_internal.low_water(v_queue.queue_id, v_level, v_queue.low_water),
                           (SELECT min(h) FROM unnest(v_skipped[cardinality(v_skipped) / 2 + 1:]) AS h));
            FOR v_found IN
                SELECT e.lock_id, e.conversation_group_id
                  FROM ssb.message_stored AS m
                 CROSS JOIN LATERAL (SELECT e.lock_id, e.conversation_group_id FROM ssb.conversation_endpoint AS e
                                      WHERE e.endpoint_id = m.endpoint_id AND e.closed_at IS NULL OFFSET 0) AS e
                 WHERE m.queue_id = v_queue.queue_id AND m.priority = v_level AND m.queuing_order >= v_low
                 ORDER BY m.queuing_order
            LOOP
                CONTINUE WHEN v_found.lock_id = ANY (v_tried);
                v_messages := ssb_internal.take_group_by_snapshot(p_queue, p_top, v_found.lock_id, v_found.conversation_group_id,
                                                                  p_is_held);
                IF v_messages <> '{}' THEN
                    RETURN QUERY SELECT m.* FROM unnest(v_messages) AS m;
                    RETURN;
                END IF;
                v_tried := v_tried || v_found.lock_id;
            END LOOP;
        END LOOP;
    END IF;
    -- Errors, and what falls due or waits elsewhere. Groups that others have or had are not tried again.
    IF v_tried = '{}' AND NOT p_is_held THEN
        RETURN QUERY SELECT r.* FROM ssb_internal.receive_slow_path(p_queue, p_top, NULL, NULL) AS r;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.receive_by_snapshot(text, bigint, boolean) FROM PUBLIC;

-- Finding a message whose group is free, and taking what its group has, with every case: for
-- ssb_internal.receive_slow_path, GET CONVERSATION GROUP and those who wait.
--
-- Called by  ssb.receive, ssb_internal.receive_slow_path, ssb_internal.lock_first_group, ssb_internal.look_for_message
-- Locks      the group's row, to the end of the transaction

CREATE OR REPLACE FUNCTION ssb_internal.message_type_name(p_message_type_id integer)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT t.name FROM ssb.message_type AS t WHERE t.message_type_id = p_message_type_id);
END;
$$;

-- Up to p_left messages of a group that the caller holds: the conversation with the
-- highest priority first, among equals the one with the oldest message; all of one
-- before the next. Of a conversation a DialogTimer message comes first, then an Error, then
-- the others by number. For groups of several conversations, retaining queues, and while
-- both message tables are in use. No message of the group is below p_low.
CREATE OR REPLACE FUNCTION ssb_internal.take_messages(p_queue_id integer, p_lock_id bigint, p_conversation uuid, p_left bigint,
                                                      p_low bigint)
RETURNS SETOF ssb.message
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_is_retaining CONSTANT boolean := (SELECT q.is_retention_enabled FROM ssb.queue AS q WHERE q.queue_id = p_queue_id);
    v_conversations refcursor;
    v_conversation record;
    v_level CONSTANT smallint := (SELECT q.priorities[1] FROM ssb.queue AS q WHERE q.queue_id = p_queue_id AND cardinality(q.priorities) = 1);
    v_is_large boolean := false;                    -- the group has very many conversations: those at the front may be enough
    v_left bigint := p_left;
    v_urgent bigint[];
    v_first bigint;
    v_last bigint;
    v_count bigint;
BEGIN
    IF p_conversation IS NULL AND v_left IS NOT NULL AND v_level IS NOT NULL THEN
        PERFORM FROM ssb.conversation_endpoint AS e
          WHERE e.lock_id = p_lock_id AND e.queue_id = p_queue_id AND e.closed_at IS NULL OFFSET 32 LIMIT 1;
        v_is_large := FOUND;
    END IF;
    LOOP
        IF v_is_large THEN
            -- Those with a message among the queue's first orders: no other one has an older message. To look at each conversation for
            -- each message that is received would be the square of them. (A range, and no LIMIT: what was deleted and lies there still is
            -- met, too.)
            OPEN v_conversations FOR
                SELECT e.endpoint_id, e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                       e.contract_name, e.contract_id, first.queuing_order,
                       ARRAY(SELECT u.ctid FROM ssb.urgent_conversation AS u
                              WHERE u.queue_id = p_queue_id AND u.endpoint_id = e.endpoint_id) AS urgent
                  FROM (SELECT w.endpoint_id, min(w.queuing_order) AS queuing_order
                          FROM (SELECT m.endpoint_id, m.queuing_order FROM ssb.message_stored AS m
                                 WHERE m.queue_id = p_queue_id AND m.priority = v_level AND m.queuing_order >= p_low
                                   AND m.queuing_order < p_low + 64 + least(v_left, 1000) OFFSET 0) AS w
                         GROUP BY w.endpoint_id) AS first
                 CROSS JOIN LATERAL (SELECT e.* FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = first.endpoint_id OFFSET 0) AS e
                 WHERE e.lock_id = p_lock_id AND e.queue_id = p_queue_id AND e.closed_at IS NULL
                 ORDER BY first.queuing_order;
        ELSE
            OPEN v_conversations FOR
                SELECT e.endpoint_id, e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                       e.contract_name, e.contract_id, first.queuing_order,
                       ARRAY(SELECT u.ctid FROM ssb.urgent_conversation AS u
                              WHERE u.queue_id = p_queue_id AND u.endpoint_id = e.endpoint_id) AS urgent
                  FROM ssb.conversation_endpoint AS e
                 CROSS JOIN LATERAL (SELECT m.queuing_order FROM ssb.message_stored AS m
                                      WHERE m.endpoint_id = e.endpoint_id AND m.queuing_order >= p_low
                                      ORDER BY m.queuing_order LIMIT 1) AS first
                 WHERE e.lock_id = p_lock_id AND e.queue_id = p_queue_id AND e.closed_at IS NULL
                   AND (p_conversation IS NULL OR e.conversation_handle = p_conversation)
                 ORDER BY e.priority DESC, first.queuing_order;
        END IF;
        LOOP
            FETCH v_conversations INTO v_conversation;
            EXIT WHEN NOT FOUND;
            -- Urgent ones one by one, then NULL for all others.
            v_urgent := '{NULL}';
            IF v_conversation.urgent <> '{}' THEN
                SELECT array_agg(u.queuing_order ORDER BY u.message_type_id DESC, u.queuing_order) || NULL::bigint INTO v_urgent
                  FROM (SELECT m.queuing_order, m.message_type_id FROM ssb.message_stored AS m
                         WHERE m.endpoint_id = v_conversation.endpoint_id AND m.queuing_order >= p_low
                           AND m.message_type_id IN (1, 3) OFFSET 0) AS u;
                IF v_left IS NULL OR cardinality(v_urgent) - 1 <= v_left THEN
                    DELETE FROM ssb.urgent_conversation AS u
                     WHERE u.queue_id = p_queue_id AND u.endpoint_id = v_conversation.endpoint_id
                       AND u.ctid = ANY (v_conversation.urgent);
                END IF;
            END IF;
            FOREACH v_first IN ARRAY v_urgent LOOP
                v_last := v_first;
                IF v_first IS NULL THEN
                    v_first := v_conversation.queuing_order;
                    v_last := 9223372036854775807;
                    IF v_left IS NOT NULL THEN
                        SELECT max(w.queuing_order) INTO v_last
                          FROM (SELECT m.queuing_order FROM ssb.message_stored AS m
                                 WHERE m.endpoint_id = v_conversation.endpoint_id AND m.queuing_order >= v_first
                                 ORDER BY m.queuing_order LIMIT v_left) AS w;
                    END IF;
                END IF;
                IF v_is_retaining THEN
                    -- The order of what was copied, so that no more is deleted than that.
                    WITH kept AS (
                        INSERT INTO ssb.retained_message AS r (queue_id, endpoint_id, status, queuing_order,
                                                               message_sequence_number, enqueued_at, message_type_id, priority,
                                                               validation, body)
                        SELECT m.queue_id, m.endpoint_id, 0, m.queuing_order, m.message_sequence_number,
                               m.enqueued_at, m.message_type_id, m.priority, m.validation, m.body
                          FROM ssb.message_stored AS m
                         WHERE m.endpoint_id = v_conversation.endpoint_id AND m.queuing_order BETWEEN v_first AND v_last
                        RETURNING r.queuing_order
                    )
                    SELECT max(k.queuing_order) INTO v_last FROM kept AS k;
                END IF;
                RETURN QUERY
                WITH gone AS (
                    DELETE FROM ssb.message_stored AS m
                     WHERE m.endpoint_id = v_conversation.endpoint_id AND m.queuing_order BETWEEN v_first AND v_last
                    RETURNING m.*
                )
                SELECT 1::smallint, m.priority, m.queuing_order, v_conversation.conversation_group_id,
                       v_conversation.conversation_handle, m.message_sequence_number, v_conversation.service_name,
                       v_conversation.service_id, v_conversation.contract_name, v_conversation.contract_id, t.name,
                       m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3)
                  FROM gone AS m JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id
                 ORDER BY m.queuing_order;
                GET DIAGNOSTICS v_count = ROW_COUNT;
                v_left := v_left - v_count;
                EXIT WHEN v_left = 0;
            END LOOP;
            EXIT WHEN v_left = 0;
        END LOOP;
        CLOSE v_conversations;
        EXIT WHEN v_left = 0 OR NOT v_is_large;
        v_is_large := false;
    END LOOP;
END;
$$;

-- The first message of one priority whose group nobody else holds; that group is
-- then locked. Conversations that the low-water mark has passed come first: their
-- messages are the oldest. from_order: no message of the group is below it.
CREATE OR REPLACE FUNCTION ssb_internal.find_first(p_queue_id integer, p_priority smallint, p_base_low bigint,
    OUT lock_id bigint, OUT endpoint_id bigint, OUT queuing_order bigint, OUT tried_by xid, OUT from_order bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_key CONSTANT text := p_queue_id || '_' || p_priority;
    v_low CONSTANT bigint := ssb_internal.low_water(p_queue_id, p_priority, p_base_low);
    v_skipped CONSTANT bigint[] := nullif(current_setting('ssb.skipped_' || v_key, true), '')::bigint[];
    v_behind record;                   -- of the claims' front (bulk/claimed_front.sql)
BEGIN
    -- Another conversation of the group may have another priority, and its mark.
    from_order := CASE WHEN (SELECT q.has_groups AND cardinality(q.priorities) > 1 FROM ssb.queue AS q
                              WHERE q.queue_id = p_queue_id) THEN p_base_low ELSE v_low END;
    IF v_skipped IS NOT NULL THEN
        from_order := least(from_order, (SELECT min(h) FROM unnest(v_skipped[cardinality(v_skipped) / 2 + 1:]) AS h));
        SELECT e.lock_id, f.endpoint_id, f.queuing_order, f.tried_by
          INTO lock_id, endpoint_id, queuing_order, tried_by
          FROM (SELECT h.endpoint_id, m.queuing_order, m.tried_by
                  FROM unnest(v_skipped[1:cardinality(v_skipped) / 2], v_skipped[cardinality(v_skipped) / 2 + 1:]) AS h (endpoint_id, low)
                 CROSS JOIN LATERAL (SELECT m.queuing_order, m.xmax AS tried_by
                                       FROM ssb.message_stored AS m
                                      WHERE m.endpoint_id = h.endpoint_id AND m.queuing_order >= h.low
                                      ORDER BY m.queuing_order LIMIT 1) AS m
                 ORDER BY m.queuing_order OFFSET 0) AS f
         CROSS JOIN LATERAL (SELECT e.lock_id FROM ssb.conversation_endpoint AS e
                              WHERE e.endpoint_id = f.endpoint_id AND e.closed_at IS NULL
                                AND e.queue_id = p_queue_id OFFSET 0) AS e  -- anybody may write to a setting
         CROSS JOIN LATERAL (SELECT FROM ssb.conversation_endpoint AS l
                              WHERE l.endpoint_id = e.lock_id AND (l.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(l.claim_id))
                                FOR NO KEY UPDATE SKIP LOCKED) AS l
         ORDER BY f.queuing_order LIMIT 1;
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    SELECT b.* INTO v_behind FROM ssb_internal.behind_claims(p_queue_id, p_priority) AS b;
    IF v_behind.others <> '{}' THEN
        SELECT e.lock_id, f.endpoint_id, f.queuing_order, f.tried_by
          INTO lock_id, endpoint_id, queuing_order, tried_by
          FROM (SELECT h.endpoint_id, m.queuing_order, m.tried_by
                  FROM unnest(v_behind.others) AS h (endpoint_id)
                 CROSS JOIN LATERAL (SELECT m.queuing_order, m.xmax AS tried_by
                                       FROM ssb.message_stored AS m
                                      WHERE m.endpoint_id = h.endpoint_id
                                      ORDER BY m.queuing_order LIMIT 1) AS m
                 ORDER BY m.queuing_order OFFSET 0) AS f
         CROSS JOIN LATERAL (SELECT e.lock_id FROM ssb.conversation_endpoint AS e
                              WHERE e.endpoint_id = f.endpoint_id AND e.closed_at IS NULL OFFSET 0) AS e
         CROSS JOIN LATERAL (SELECT FROM ssb.conversation_endpoint AS l
                              WHERE l.endpoint_id = e.lock_id AND (l.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(l.claim_id))
                                FOR NO KEY UPDATE SKIP LOCKED) AS l
         ORDER BY f.queuing_order LIMIT 1;
        IF FOUND THEN
            from_order := least(from_order, queuing_order);
            RETURN;
        END IF;
    END IF;
    SELECT e.lock_id, m.endpoint_id, m.queuing_order, m.xmax
      INTO lock_id, endpoint_id, queuing_order, tried_by
      FROM ssb.message_stored AS m
     CROSS JOIN LATERAL (SELECT e.lock_id FROM ssb.conversation_endpoint AS e
                          WHERE e.endpoint_id = m.endpoint_id AND e.closed_at IS NULL OFFSET 0) AS e
     CROSS JOIN LATERAL (SELECT FROM ssb.conversation_endpoint AS l
                          WHERE l.endpoint_id = e.lock_id AND (l.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(l.claim_id))
                            FOR NO KEY UPDATE SKIP LOCKED) AS l
     WHERE m.queue_id = p_queue_id AND m.priority = p_priority AND m.queuing_order >= greatest(v_low, v_behind.from_order)
     ORDER BY m.queuing_order LIMIT 1;
END;
$$;

-- For the fast path of ssb.receive: of one level's messages in the 200 orders from p_from on the first that is its group's first, and
-- whose group nobody else holds; that is then locked. No group has a message below p_least. The message may have been
-- tried before. p_rotation is what ssb.rotation_state is thought to be, rotation what it is; a row of NULLs when there
-- is none, or when both tables are in use (rotation is then -1).
CREATE OR REPLACE FUNCTION ssb_internal.find_first_beyond(p_queue_id integer, p_rotation bigint, p_from bigint, p_least bigint,
    p_priority smallint, OUT place tid, OUT endpoint_id bigint, OUT queuing_order bigint, OUT type_id integer, OUT is_untried boolean,
    OUT is_in_0 boolean, OUT rotation bigint, OUT handle uuid, OUT conversation_group uuid, OUT service_name text,
    OUT service_id integer, OUT contract_name text, OUT contract_id integer, OUT type_name text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    IF p_rotation & 3 = 0 THEN
        SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.is_untried, true,
               coalesce(pg_sequence_last_value('ssb.rotation_state'), 0),
               e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
               e.contract_name, e.contract_id, CASE WHEN e.first_type_id = m.message_type_id THEN e.first_type END
          INTO place, endpoint_id, queuing_order, type_id, is_untried, is_in_0, rotation,
               handle, conversation_group, service_name, service_id, contract_name, contract_id, type_name
          FROM (SELECT m.*
                  FROM (SELECT DISTINCT ON (m.endpoint_id)
                               m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.xmax = 0 AS is_untried
                          FROM ssb.message_0 AS m
                         WHERE m.queue_id = p_queue_id AND m.priority = p_priority
                           AND m.queuing_order BETWEEN p_from AND p_from + 199
                         ORDER BY m.endpoint_id, m.queuing_order) AS m
                 WHERE NOT EXISTS (SELECT FROM ssb.message_0 AS o
                                    WHERE o.endpoint_id = m.endpoint_id
                                      AND o.queuing_order BETWEEN p_least AND p_from - 1 OFFSET 0)
                 ORDER BY m.queuing_order OFFSET 0) AS m
         CROSS JOIN LATERAL (SELECT e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                                    e.contract_name, e.contract_id, e.first_type_id, e.first_type
                               FROM ssb.conversation_endpoint AS e
                              WHERE e.endpoint_id = m.endpoint_id AND e.lock_id = m.endpoint_id AND e.closed_at IS NULL
                                AND (e.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(e.claim_id))
                                FOR NO KEY UPDATE SKIP LOCKED) AS e
         ORDER BY m.queuing_order LIMIT 1;
    ELSIF p_rotation & 3 = 1 THEN
        SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.is_untried, false,
               coalesce(pg_sequence_last_value('ssb.rotation_state'), 0),
               e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
               e.contract_name, e.contract_id, CASE WHEN e.first_type_id = m.message_type_id THEN e.first_type END
          INTO place, endpoint_id, queuing_order, type_id, is_untried, is_in_0, rotation,
               handle, conversation_group, service_name, service_id, contract_name, contract_id, type_name
          FROM (SELECT m.*
                  FROM (SELECT DISTINCT ON (m.endpoint_id)
                               m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.xmax = 0 AS is_untried
                          FROM ssb.message_1 AS m
                         WHERE m.queue_id = p_queue_id AND m.priority = p_priority
                           AND m.queuing_order BETWEEN p_from AND p_from + 199
                         ORDER BY m.endpoint_id, m.queuing_order) AS m
                 WHERE NOT EXISTS (SELECT FROM ssb.message_1 AS o
                                    WHERE o.endpoint_id = m.endpoint_id
                                      AND o.queuing_order BETWEEN p_least AND p_from - 1 OFFSET 0)
                 ORDER BY m.queuing_order OFFSET 0) AS m
         CROSS JOIN LATERAL (SELECT e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                                    e.contract_name, e.contract_id, e.first_type_id, e.first_type
                               FROM ssb.conversation_endpoint AS e
                              WHERE e.endpoint_id = m.endpoint_id AND e.lock_id = m.endpoint_id AND e.closed_at IS NULL
                                AND (e.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(e.claim_id))
                                FOR NO KEY UPDATE SKIP LOCKED) AS e
         ORDER BY m.queuing_order LIMIT 1;
    ELSE
        rotation := -1;
    END IF;
END;
$$;

-- Whether the conversation, and a group, are the queue's, or are not asked for.
-- A group is gone with its last conversation. Who receives from it until nothing comes,
-- and ends its conversations on the way, still asks for it once: within the transaction
-- that found it before, it is the queue's, and has no message.
CREATE OR REPLACE FUNCTION ssb_internal.is_of_queue(p_queue_id integer, p_conversation uuid, p_group uuid)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF p_conversation IS NOT NULL THEN
        PERFORM FROM ssb.conversation_endpoint AS e
          WHERE e.conversation_handle = p_conversation AND e.queue_id = p_queue_id AND e.closed_at IS NULL;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
    END IF;
    IF p_group IS NOT NULL THEN
        PERFORM FROM ssb.conversation_endpoint AS e
          WHERE e.conversation_group_id = p_group AND e.queue_id = p_queue_id AND e.closed_at IS NULL LIMIT 1;
        IF FOUND THEN
            PERFORM set_config('ssb.found_group', p_queue_id || ' ' || p_group, true);
        ELSIF current_setting('ssb.found_group', true) IS DISTINCT FROM p_queue_id || ' ' || p_group THEN
            RETURN false;
        END IF;
    END IF;
    RETURN true;
END;
$$;

-- 8426 or 8436: one of them is not.
CREATE OR REPLACE FUNCTION ssb_internal.raise_not_of_queue(p_conversation uuid, p_group uuid)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_conversation IS NOT NULL THEN
        PERFORM ssb_internal.raise_handle_not_found(p_conversation);
    END IF;
    PERFORM ssb_internal.raise_error(8436, format('The conversation group "%s" is not found.', upper(p_group::text)));
END;
$$;

-- WHERE conversation_handle = or conversation_group_id =: its group, locked, and which conversation's messages are taken
-- first; a row of NULLs while somebody else holds it, it has no message, or it is not the queue's (ssb_internal.is_of_queue):
-- who waits is not to fail where it ends between two looks.
CREATE OR REPLACE FUNCTION ssb_internal.find_wanted(p_queue_id integer, p_conversation uuid, p_group uuid,
    OUT lock_id bigint, OUT endpoint_id bigint, OUT queuing_order bigint, OUT tried_by xid)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    SELECT e.lock_id, e.endpoint_id, e.queuing_order, e.tried_by
      INTO lock_id, endpoint_id, queuing_order, tried_by
      FROM (SELECT e.lock_id, e.endpoint_id, e.priority, m.queuing_order, m.tried_by
              FROM ssb.conversation_endpoint AS e
             CROSS JOIN LATERAL (SELECT m.queuing_order, m.xmax AS tried_by FROM ssb.message_stored AS m
                                  WHERE m.endpoint_id = e.endpoint_id ORDER BY m.queuing_order LIMIT 1) AS m
             WHERE e.conversation_handle = p_conversation AND e.closed_at IS NULL
               AND (p_group IS NULL OR e.conversation_group_id = p_group)
            UNION ALL
            SELECT e.lock_id, e.endpoint_id, e.priority, m.queuing_order, m.tried_by
              FROM ssb.conversation_endpoint AS e
             CROSS JOIN LATERAL (SELECT m.queuing_order, m.xmax AS tried_by FROM ssb.message_stored AS m
                                  WHERE m.endpoint_id = e.endpoint_id ORDER BY m.queuing_order LIMIT 1) AS m
             WHERE p_conversation IS NULL AND e.conversation_group_id = p_group AND e.queue_id = p_queue_id
               AND e.closed_at IS NULL
             ORDER BY priority DESC, queuing_order OFFSET 0) AS e
     CROSS JOIN LATERAL (SELECT FROM ssb.conversation_endpoint AS l
                          WHERE l.endpoint_id = e.lock_id AND (l.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(l.claim_id))
                            FOR NO KEY UPDATE SKIP LOCKED) AS l
     ORDER BY e.priority DESC, e.queuing_order LIMIT 1;
END;
$$;

-- Messages for this queue's services that had to wait elsewhere are tried again: true when something was put on the queue. (Or
-- somebody has drawn an order meanwhile.) What leaves for a service of the same name in another instance has a peer.
-- Where thousands wait for what no look brings about (a right, a key), a session that has tried them all in vain tries again
-- when twenty times as long has passed.
CREATE OR REPLACE FUNCTION ssb_internal.fetch_waiting(p_queue_id integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_setting CONSTANT text := 'ssb.tried_in_vain_' || p_queue_id;
    v_began CONSTANT timestamptz := clock_timestamp();
    v_again timestamptz;
    v_order_sequence regclass;
    v_last bigint;
BEGIN
    PERFORM FROM (SELECT s.name FROM ssb.service AS s WHERE s.queue_id = p_queue_id OFFSET 0) AS s
      CROSS JOIN LATERAL (SELECT FROM ssb.transmission AS t WHERE t.to_service = s.name AND t.peer_id IS NULL LIMIT 1) AS t LIMIT 1;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_again := to_timestamp(nullif(current_setting(v_setting, true), '')::double precision);
    IF v_again > v_began AND v_again < v_began + interval '10 minutes' THEN
        RETURN false;
    END IF;
    SELECT q.order_sequence, ssb_internal.last_order(q.order_sequence) INTO v_order_sequence, v_last
      FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    IF NOT FOUND THEN
        RETURN false;                      -- dropped in this moment
    END IF;
    PERFORM ssb_internal.deliver_waiting_for_queue(p_queue_id, false);
    IF ssb_internal.last_order(v_order_sequence) > v_last THEN
        RETURN true;
    END IF;
    v_again := clock_timestamp() + least(20 * (clock_timestamp() - v_began), interval '1 minute');
    IF v_again > v_began + interval '2 seconds' THEN
        PERFORM set_config(v_setting, extract(epoch FROM v_again)::text, false);
    END IF;
    RETURN false;
END;
$$;

-- RECEIVE.
--
-- Finding: walk the queue in (priority, order) from the session's low-water mark,
-- lock the group of the first message whose group nobody else holds (SKIP LOCKED),
-- then read again under a fresh snapshot, delete and return. Taking the first
-- statement's word would return messages that another reader has received and
-- committed between its snapshot and our lock.
--
-- The row that is to be locked stands in a LATERAL subquery of its own, here and
-- below: so it is always looked up by its key, once for each message on the way,
-- whatever the statistics make of the join; behind a subquery that is in order, so that no
-- sorting comes after the locking.
--
-- Most RECEIVEs take the fast path: no WHERE (which has its own in receive_wanted.sql), on a queue where no dialogs share a
-- group, nothing was rolled back, where each statement has a snapshot of its own (receive_by_snapshot.sql has the others). It looks level by level, from the highest that a dialog of the queue ever had: a conversation's
-- messages all have its level. What it costs is mostly what its
-- statements and expressions cost to set up, each of them once in a transaction. So the
-- statements have one table each (one with joins costs more than its parts; the look beyond the next orders over
-- ssb.message_stored costs a RECEIVE of nothing a sixth more), and there are few expressions. Orders are looked at 128 at a time: an index scan reads all entries of a page
-- that its condition allows before it returns the first. Every tenth of a second it sees whether
-- something fell due. Where anything is special ssb_internal.receive_slow_path does it.
--
-- It returns no rows only when nothing was free: each group that has messages was tried.
--
-- One message table is read where ssb.rotation_state is still what it was when the read position was
-- written: that is asked in the statement that looks, after its snapshot was taken. So in that
-- snapshot all messages are in the one table. (Two that are in use are read as ssb.message_stored:
-- neither has the older messages of every conversation.)
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
SET enable_bitmapscan = off
SET enable_indexscan = on               -- the order of what a DELETE returns is that of its index
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_queue_id integer;
    v_level smallint;                  -- that is looked at
    v_levels smallint[];               -- of a queue that has several, or retains: those still to be looked at
    v_is_retaining boolean;            -- the queue retains
    v_is_last boolean;
    -- Its places: low_water.sql. (Numbers, because a constant is an expression in every call.)
    v_position bigint[];
    v_noted bigint;
    v_is_first_visit boolean := false; -- of this session to this queue
    v_is_time_to_look boolean;         -- first look in this tenth of a second
    v_skipped bigint[];                   -- groups whose messages the read position has passed, see ssb_internal.raise_low_water
    v_least bigint;                    -- no group has a message below
    v_passed bigint;                   -- order of the first message, when it was somebody's
    v_from bigint;                     -- where the walk past it begins
    v_claimed bigint;                  -- where that begins which is behind what claims have taken
    v_start bigint;                    -- where the look for the first message begins
    v_first bigint;                    -- its order
    v_noted_mark text;
    v_is_held boolean;
    v_is_special boolean;
    v_place tid;
    v_endpoint_id bigint;
    v_order bigint;
    v_last bigint;
    v_memory text;
    v_is_untried boolean;              -- no RECEIVE that was rolled back has taken it before, none takes it now
    v_is_in_0 boolean;                 -- ssb.message_0, not ssb.message_1
    v_rotation bigint;
    v_type_id integer;
    v_type_name text;
    v_handle uuid;
    v_group uuid;
    v_service_name text;
    v_service_id integer;
    v_contract_name text;
    v_contract_id integer;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    <<fast_path>>
    BEGIN
        BEGIN
            -- The mark, unless there may be urgent conversations or other levels: so that costs no expression of its own.
            SELECT q.queue_id, 5::smallint, CASE WHEN NOT q.is_plain_reader THEN q.priorities END, q.is_retention_enabled,
                   CASE WHEN q.is_plain_reader AND pg_sequence_last_value('ssb.urgent_conversations') IS NULL
                        THEN nullif(current_setting('ssb.read_position_' || q.queue_id || '_5', true), '')::bigint[] END
              INTO v_queue_id, v_level, v_levels, v_is_retaining, v_position
              FROM ssb.queue AS q
             WHERE q.name = queue AND q.is_receive_enabled AND NOT q.has_groups
               -- (As a condition of its own, without a column, it would be a plan node above the scan, which then has all columns.)
               AND CASE WHEN q.max_rollbacks > 1 THEN current_setting('transaction_isolation') = 'read committed' END
               AND coalesce(pg_sequence_last_value(q.state_sequence), 0) < 2
               AND has_sequence_privilege(ssb_internal.calling_role(),
                                          q.order_sequence, 'USAGE');
        EXCEPTION WHEN internal_error THEN
            -- It waited for a DROP QUEUE, and the sequence is gone. (A block for this costs a microsecond.)
            v_queue_id := NULL;
        END;
        <<levels>>
        LOOP
            IF (v_position[6 /* at_rotation */] >= 0 AND coalesce(conversation, conversation_group) IS NULL) IS NOT TRUE THEN
                IF v_queue_id IS NOT NULL AND coalesce(conversation, conversation_group) IS NOT NULL
                   AND (top > 0 OR top IS NULL)
                   AND (pg_sequence_last_value('ssb.urgent_conversations') IS NULL
                        OR NOT EXISTS (SELECT FROM ssb.urgent_conversation AS u WHERE u.queue_id = v_queue_id)) THEN
                    RETURN QUERY SELECT w.* FROM ssb_internal.receive_wanted(v_queue_id, top, conversation, conversation_group,
                                                                                   v_is_retaining) AS w;
                    IF FOUND THEN
                        RETURN;
                    END IF;
                END IF;
                EXIT fast_path WHEN v_queue_id IS NULL OR v_position IS NOT NULL OR coalesce(conversation, conversation_group) IS NOT NULL;
                IF pg_sequence_last_value('ssb.urgent_conversations') IS NOT NULL THEN
                    PERFORM FROM ssb.urgent_conversation AS u WHERE u.queue_id = v_queue_id LIMIT 1;
                    EXIT fast_path WHEN FOUND;
                    v_position := nullif(current_setting('ssb.read_position_' || v_queue_id || '_' || v_level, true), '')::bigint[];
                END IF;
                IF cardinality(v_levels) > 1 THEN
                    -- The first level that surely has something, or may have: above the session's mark, below it (at_skipped),
                    -- in the other table; or whose mark was not seen to in this tenth of a second: it is raised by those
                    -- who look for a message in vain. Else the last. (An array's elements come in their order.)
                    SELECT p.level, v_levels[p.nth + 1:], p.position
                      INTO v_level, v_levels, v_position
                      FROM (SELECT coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) AS rotation,
                                   (date_part('epoch', clock_timestamp()) * 10)::bigint AS moment OFFSET 0) AS n
                     CROSS JOIN LATERAL (SELECT l.level, l.nth, l.position
                                           FROM (SELECT l.level, l.nth,
                                                        nullif(current_setting('ssb.read_position_' || v_queue_id || '_' || l.level, true),
                                                               '')::bigint[] AS position
                                                   FROM unnest(v_levels) WITH ORDINALITY AS l (level, nth) OFFSET 0) AS l
                                          WHERE l.nth = cardinality(v_levels) OR l.position[5 /* at_skipped */] > 0
                                             OR coalesce(l.position[6 /* at_rotation */] <> n.rotation OR l.position[4 /* at_looked */] <> n.moment, true)
                                             OR CASE n.rotation & 3
                                                WHEN 0 THEN EXISTS (SELECT FROM ssb.message_0 AS m
                                                                     WHERE m.queue_id = v_queue_id AND m.priority = l.level
                                                                       AND m.queuing_order >= l.position[1 /* at_low_water */])
                                                WHEN 1 THEN EXISTS (SELECT FROM ssb.message_1 AS m
                                                                     WHERE m.queue_id = v_queue_id AND m.priority = l.level
                                                                       AND m.queuing_order >= l.position[1 /* at_low_water */])
                                                ELSE true END
                                          LIMIT 1) AS p;
                ELSIF v_levels IS NOT NULL THEN
                    v_level := v_levels[1];
                    v_levels := '{}';
                    v_position := nullif(current_setting('ssb.read_position_' || v_queue_id || '_' || v_level, true), '')::bigint[];
                END IF;
                IF v_position IS NULL THEN
                    -- Nothing is known of this queue yet.
                    SELECT ARRAY[q.low_water, -1, -1, 0, 0, coalesce(pg_sequence_last_value('ssb.rotation_state'), 0), -1]
                      INTO v_position FROM ssb.queue AS q WHERE q.queue_id = v_queue_id;
                    -- A session that comes only once, as a pool's may, need not learn anything: its second visit does that.
                    v_type_name := set_config('ssb.read_position_' || v_queue_id || '_' || v_level, v_position::text, false);
                    v_type_name := NULL;
                    v_is_first_visit := true;
                ELSE
                    EXIT fast_path WHEN (v_position[6 /* at_rotation */] >= 0) IS NOT TRUE;
                END IF;
            END IF;
            IF v_position[4 /* at_looked */] <> (date_part('epoch', clock_timestamp()) * 10)::bigint THEN
                -- Not looked at in this tenth of a second. (The time as a subquery: a volatile function is no condition of an
                -- index, and every side with a moment to come would be read.)
                PERFORM FROM ssb.conversation_endpoint AS e
                  WHERE e.queue_id = v_queue_id AND e.due_at <= (SELECT clock_timestamp()) LIMIT 1;
                EXIT fast_path WHEN FOUND;
                IF v_position[11 /* at_marked_by */] IS NOT NULL THEN
                    IF ssb_internal.is_undone(v_position[11 /* at_marked_by */]) THEN
                        -- Rolled back after it was prepared, or not decided: the mark is forgotten.
                        v_type_name := set_config('ssb.skipped_' || v_queue_id || '_' || v_level, '', false)
                                    || set_config('ssb.read_position_' || v_queue_id || '_' || v_level, '', false);
                        EXIT fast_path;
                    END IF;
                END IF;
                v_is_time_to_look := NOT v_is_first_visit;
                IF v_is_first_visit THEN
                    v_position[2 /* at_act_beyond */] := 9223372036854775807;
                ELSIF v_position[3 /* at_decided */] < 0 OR v_position[5 /* at_skipped */] > 0 THEN
                    -- Perhaps it can be raised now: at the end.
                    IF v_position[7 /* at_raise_beyond */] = -1 AND pg_current_xact_id_if_assigned() IS NULL THEN
                        v_noted := (SELECT ssb_internal.last_order(q.order_sequence) FROM ssb.queue AS q WHERE q.queue_id = v_queue_id);
                    END IF;
                    v_position[2 /* at_act_beyond */] := -1;
                    v_position[7 /* at_raise_beyond */] := -1;
                    v_position[8 /* at_free */] := NULL;
                ELSE
                    v_position[4 /* at_looked */] := (date_part('epoch', clock_timestamp()) * 10)::bigint;
                    v_position[8 /* at_free */] := NULL;
                    -- As an assignment: PERFORM would be a statement of its own.
                    v_type_name := set_config('ssb.read_position_' || v_queue_id || '_' || v_level, v_position::text, false);
                END IF;
            END IF;
            LOOP
                IF v_position[5 /* at_skipped */] > 0 THEN
                    -- Of the groups whose messages the read position has passed the first that is free: theirs are the oldest.
                    v_skipped := nullif(current_setting('ssb.skipped_' || v_queue_id || '_' || v_level, true), '')::bigint[];
                    SELECT h.endpoint_id, h.low, e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                           e.contract_name, e.contract_id
                      INTO v_endpoint_id, v_least, v_handle, v_group, v_service_name, v_service_id, v_contract_name, v_contract_id
                      FROM unnest(v_skipped[1:v_position[5 /* at_skipped */]], v_skipped[v_position[5 /* at_skipped */] + 1:]) AS h (endpoint_id, low)
                     CROSS JOIN LATERAL (SELECT e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                                                e.contract_name, e.contract_id
                                           FROM ssb.conversation_endpoint AS e
                                          WHERE e.endpoint_id = h.endpoint_id AND e.lock_id = h.endpoint_id
                                            AND e.queue_id = v_queue_id    -- anybody may write to a setting
                                            AND e.closed_at IS NULL AND e.claim_id IS NULL
                                            FOR NO KEY UPDATE SKIP LOCKED) AS e
                     LIMIT 1;
                    IF FOUND THEN
                        SELECT m.ctid, m.queuing_order, m.message_type_id, m.xmax = 0, m.tableoid = 'ssb.message_0'::regclass,
                               coalesce(pg_sequence_last_value('ssb.rotation_state'), 0)
                          INTO v_place, v_order, v_type_id, v_is_untried, v_is_in_0, v_rotation
                          FROM ssb.message_stored AS m
                         WHERE m.endpoint_id = v_endpoint_id AND m.queuing_order >= v_least AND m.queuing_order < v_position[1 /* at_low_water */]
                         ORDER BY m.queuing_order LIMIT 1;
                        EXIT fast_path WHEN v_rotation <> v_position[6 /* at_rotation */];
                        IF NOT FOUND THEN
                            -- Somebody has received all of those.
                            SELECT array_agg(h.endpoint_id) || array_agg(h.low)
                              INTO v_skipped
                              FROM unnest(v_skipped[1:v_position[5 /* at_skipped */]], v_skipped[v_position[5 /* at_skipped */] + 1:]) AS h (endpoint_id, low)
                             WHERE h.endpoint_id <> v_endpoint_id;
                            v_position[5 /* at_skipped */] := coalesce(cardinality(v_skipped), 0) / 2;
                            v_type_name := set_config('ssb.skipped_' || v_queue_id || '_' || v_level, coalesce(v_skipped::text, ''), false)
                                        || set_config('ssb.read_position_' || v_queue_id || '_' || v_level, v_position::text, false);
                            v_type_name := NULL;
                            v_handle := NULL;
                            CONTINUE;
                        END IF;
                    END IF;
                END IF;
                IF v_handle IS NULL THEN
                    v_start := v_position[1 /* at_low_water */];
                    IF v_position[9 /* at_behind_claims */] > 0 THEN
                        -- When this session looked last, claims had the front (bulk/claimed_front.sql).
                        v_claimed := (SELECT b.from_order FROM ssb.claimed_front AS f
                                       CROSS JOIN LATERAL ssb_internal.behind_claims(f.queue_id, f.priority) AS b
                                       WHERE f.queue_id = v_queue_id AND f.priority = v_level AND b.others = '{}');
                        IF v_claimed > v_start THEN
                            v_start := CASE WHEN v_claimed >= v_position[10 /* at_claims_end */]
                                            THEN greatest(v_claimed, v_position[9 /* at_behind_claims */]) ELSE v_claimed END;
                            v_passed := v_position[1 /* at_low_water */];
                        END IF;
                    END IF;
                    -- The first message.
                    IF v_position[6 /* at_rotation */] & 3 = 0 THEN
                        SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.xmax = 0, true
                          INTO v_place, v_endpoint_id, v_order, v_type_id, v_is_untried, v_is_in_0
                          FROM ssb.message_0 AS m
                         WHERE m.queue_id = v_queue_id AND m.priority = v_level AND m.queuing_order BETWEEN v_start AND v_start + 127
                           AND coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) = v_position[6 /* at_rotation */]
                         ORDER BY m.queuing_order;
                    ELSIF v_position[6 /* at_rotation */] & 3 = 1 THEN
                        SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.xmax = 0, false
                          INTO v_place, v_endpoint_id, v_order, v_type_id, v_is_untried, v_is_in_0
                          FROM ssb.message_1 AS m
                         WHERE m.queue_id = v_queue_id AND m.priority = v_level AND m.queuing_order BETWEEN v_start AND v_start + 127
                           AND coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) = v_position[6 /* at_rotation */]
                         ORDER BY m.queuing_order;
                    ELSE
                        SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.xmax = 0,
                               m.tableoid = 'ssb.message_0'::regclass
                          INTO v_place, v_endpoint_id, v_order, v_type_id, v_is_untried, v_is_in_0
                          FROM ssb.message_stored AS m
                         WHERE m.queue_id = v_queue_id AND m.priority = v_level AND m.queuing_order BETWEEN v_start AND v_start + 127
                           AND coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) = v_position[6 /* at_rotation */]
                         ORDER BY m.queuing_order;
                    END IF;
                    IF NOT FOUND THEN
                        -- There is none so near.
                        IF v_position[6 /* at_rotation */] & 3 = 0 THEN
                            SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.xmax = 0, true,
                                   coalesce(pg_sequence_last_value('ssb.rotation_state'), 0)
                              INTO v_place, v_endpoint_id, v_order, v_type_id, v_is_untried, v_is_in_0, v_rotation
                              FROM ssb.message_0 AS m
                             WHERE m.queue_id = v_queue_id AND m.priority = v_level AND m.queuing_order >= v_start
                             ORDER BY m.queuing_order LIMIT 1;
                        ELSIF v_position[6 /* at_rotation */] & 3 = 1 THEN
                            SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.xmax = 0, false,
                                   coalesce(pg_sequence_last_value('ssb.rotation_state'), 0)
                              INTO v_place, v_endpoint_id, v_order, v_type_id, v_is_untried, v_is_in_0, v_rotation
                              FROM ssb.message_1 AS m
                             WHERE m.queue_id = v_queue_id AND m.priority = v_level AND m.queuing_order >= v_start
                             ORDER BY m.queuing_order LIMIT 1;
                        ELSE
                            SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.xmax = 0,
                                   m.tableoid = 'ssb.message_0'::regclass,
                                   coalesce(pg_sequence_last_value('ssb.rotation_state'), 0)
                              INTO v_place, v_endpoint_id, v_order, v_type_id, v_is_untried, v_is_in_0, v_rotation
                              FROM ssb.message_stored AS m
                             WHERE m.queue_id = v_queue_id AND m.priority = v_level AND m.queuing_order >= v_start
                             ORDER BY m.queuing_order LIMIT 1;
                        END IF;
                        EXIT fast_path WHEN v_rotation <> v_position[6 /* at_rotation */];
                        EXIT WHEN v_order IS NULL;
                    END IF;
                    v_first := v_order;
                    IF v_is_untried AND (v_skipped IS NULL OR v_endpoint_id <> ALL (v_skipped)) THEN
                        SELECT e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                               e.contract_name, e.contract_id, CASE WHEN e.first_type_id = v_type_id THEN e.first_type END
                          INTO v_handle, v_group, v_service_name, v_service_id, v_contract_name, v_contract_id, v_type_name
                          FROM ssb.conversation_endpoint AS e
                         WHERE e.endpoint_id = v_endpoint_id AND e.lock_id = v_endpoint_id AND e.closed_at IS NULL AND e.claim_id IS NULL
                           FOR NO KEY UPDATE SKIP LOCKED;
                    END IF;
                    IF v_handle IS NULL THEN
                        -- Another session has locked its group: look and lock in one. Behind it, messages that somebody is
                        -- receiving need not be tried; nor those of a group that has an earlier one, which its
                        -- reader may put back at any moment.
                        v_passed := v_order;
                        v_least := coalesce(v_skipped[v_position[5 /* at_skipped */] + 1], v_position[1 /* at_low_water */]);
                        -- What claims have taken is passed in one step (bulk/claimed_front.sql).
                        IF v_claimed IS NULL THEN
                            v_claimed := (SELECT b.from_order FROM ssb.claimed_front AS f
                                           CROSS JOIN LATERAL ssb_internal.behind_claims(f.queue_id, f.priority) AS b
                                           WHERE f.queue_id = v_queue_id AND f.priority = v_level AND b.others = '{}');
                            IF v_claimed > v_passed THEN
                                v_position[9 /* at_behind_claims */] := v_claimed;
                                v_position[10 /* at_claims_end */] := v_claimed;
                                v_noted_mark := set_config('ssb.read_position_' || v_queue_id || '_' || v_level, v_position::text, false);
                            END IF;
                        END IF;
                        v_from := greatest(v_passed, v_claimed, v_position[8 /* at_free */]);
                        v_is_held := v_passed <= v_position[3 /* at_decided */] AND v_endpoint_id = ANY (v_skipped);
                        IF v_from > v_passed THEN
                            -- The walk will not begin with it: is it free again? (Asked for in the statement above, this
                            -- would cost each reader an expression more.)
                            SELECT e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                                   e.contract_name, e.contract_id, CASE WHEN e.first_type_id = v_type_id THEN e.first_type END
                              INTO v_handle, v_group, v_service_name, v_service_id, v_contract_name, v_contract_id, v_type_name
                              FROM ssb.conversation_endpoint AS e
                             WHERE e.endpoint_id = v_endpoint_id AND e.lock_id = v_endpoint_id AND e.closed_at IS NULL
                               AND e.claim_id IS NULL
                               FOR NO KEY UPDATE SKIP LOCKED;
                        END IF;
                        IF v_handle IS NOT NULL THEN
                            v_rotation := v_position[6 /* at_rotation */];
                        ELSIF v_position[6 /* at_rotation */] & 3 = 0 THEN
                            SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.is_untried, true,
                                   coalesce(pg_sequence_last_value('ssb.rotation_state'), 0),
                                   e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                                   e.contract_name, e.contract_id, CASE WHEN e.first_type_id = m.message_type_id THEN e.first_type END
                              INTO v_place, v_endpoint_id, v_order, v_type_id, v_is_untried, v_is_in_0, v_rotation,
                                   v_handle, v_group, v_service_name, v_service_id, v_contract_name, v_contract_id, v_type_name
                              FROM (SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.xmax = 0 AS is_untried
                                      FROM ssb.message_0 AS m
                                     WHERE m.queue_id = v_queue_id AND m.priority = v_level AND m.queuing_order BETWEEN v_from AND v_from + 31
                                       AND (m.xmax = 0 OR m.queuing_order = v_passed)
                                       AND NOT EXISTS (SELECT FROM ssb.message_0 AS o
                                                        WHERE o.endpoint_id = m.endpoint_id
                                                          AND o.queuing_order BETWEEN v_least AND m.queuing_order - 1 OFFSET 0)
                                     ORDER BY m.queuing_order OFFSET 0) AS m
                             CROSS JOIN LATERAL (SELECT e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                                                        e.contract_name, e.contract_id, e.first_type_id, e.first_type
                                                   FROM ssb.conversation_endpoint AS e
                                                  WHERE e.endpoint_id = m.endpoint_id AND e.lock_id = m.endpoint_id
                                                    AND e.closed_at IS NULL AND e.claim_id IS NULL
                                                    FOR NO KEY UPDATE SKIP LOCKED) AS e
                             ORDER BY m.queuing_order LIMIT 1;
                        ELSIF v_position[6 /* at_rotation */] & 3 = 1 THEN
                            SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.is_untried, false,
                                   coalesce(pg_sequence_last_value('ssb.rotation_state'), 0),
                                   e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                                   e.contract_name, e.contract_id, CASE WHEN e.first_type_id = m.message_type_id THEN e.first_type END
                              INTO v_place, v_endpoint_id, v_order, v_type_id, v_is_untried, v_is_in_0, v_rotation,
                                   v_handle, v_group, v_service_name, v_service_id, v_contract_name, v_contract_id, v_type_name
                              FROM (SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.xmax = 0 AS is_untried
                                      FROM ssb.message_1 AS m
                                     WHERE m.queue_id = v_queue_id AND m.priority = v_level AND m.queuing_order BETWEEN v_from AND v_from + 31
                                       AND (m.xmax = 0 OR m.queuing_order = v_passed)
                                       AND NOT EXISTS (SELECT FROM ssb.message_1 AS o
                                                        WHERE o.endpoint_id = m.endpoint_id
                                                          AND o.queuing_order BETWEEN v_least AND m.queuing_order - 1 OFFSET 0)
                                     ORDER BY m.queuing_order OFFSET 0) AS m
                             CROSS JOIN LATERAL (SELECT e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                                                        e.contract_name, e.contract_id, e.first_type_id, e.first_type
                                                   FROM ssb.conversation_endpoint AS e
                                                  WHERE e.endpoint_id = m.endpoint_id AND e.lock_id = m.endpoint_id
                                                    AND e.closed_at IS NULL AND e.claim_id IS NULL
                                                    FOR NO KEY UPDATE SKIP LOCKED) AS e
                             ORDER BY m.queuing_order LIMIT 1;
                        ELSE
                            SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.is_untried, m.is_in_0,
                                   coalesce(pg_sequence_last_value('ssb.rotation_state'), 0),
                                   e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                                   e.contract_name, e.contract_id, CASE WHEN e.first_type_id = m.message_type_id THEN e.first_type END
                              INTO v_place, v_endpoint_id, v_order, v_type_id, v_is_untried, v_is_in_0, v_rotation,
                                   v_handle, v_group, v_service_name, v_service_id, v_contract_name, v_contract_id, v_type_name
                              FROM (SELECT m.ctid, m.endpoint_id, m.queuing_order, m.message_type_id, m.xmax = 0 AS is_untried,
                                           m.tableoid = 'ssb.message_0'::regclass AS is_in_0
                                      FROM ssb.message_stored AS m
                                     WHERE m.queue_id = v_queue_id AND m.priority = v_level AND m.queuing_order BETWEEN v_from AND v_from + 31
                                       AND (m.xmax = 0 OR m.queuing_order = v_passed)
                                       AND NOT EXISTS (SELECT FROM ssb.message_stored AS o
                                                        WHERE o.endpoint_id = m.endpoint_id
                                                          AND o.queuing_order BETWEEN v_least AND m.queuing_order - 1 OFFSET 0)
                                     ORDER BY m.queuing_order OFFSET 0) AS m
                             CROSS JOIN LATERAL (SELECT e.conversation_handle, e.conversation_group_id, e.service_name, e.service_id,
                                                        e.contract_name, e.contract_id, e.first_type_id, e.first_type
                                                   FROM ssb.conversation_endpoint AS e
                                                  WHERE e.endpoint_id = m.endpoint_id AND e.lock_id = m.endpoint_id
                                                    AND e.closed_at IS NULL AND e.claim_id IS NULL
                                                    FOR NO KEY UPDATE SKIP LOCKED) AS e
                             ORDER BY m.queuing_order LIMIT 1;
                        END IF;
                        IF v_handle IS NULL THEN
                            -- Further on; and now each group is tried that has anything there.
                            SELECT f.* FROM ssb_internal.find_first_beyond(v_queue_id, v_position[6 /* at_rotation */],
                                                                           greatest(v_passed, v_claimed), v_least, v_level) AS f
                              INTO v_place, v_endpoint_id, v_order, v_type_id, v_is_untried, v_is_in_0, v_rotation,
                                   v_handle, v_group, v_service_name, v_service_id, v_contract_name, v_contract_id, v_type_name;
                            IF v_is_held THEN
                                -- The read position can pass that group's messages.
                                v_position[2 /* at_act_beyond */] := -1;
                                v_position[7 /* at_raise_beyond */] := -1;
                            END IF;
                            v_from := v_passed + 1;
                        END IF;
                        EXIT fast_path WHEN v_rotation <> v_position[6 /* at_rotation */];
                        EXIT WHEN v_handle IS NULL;
                        IF v_from > v_passed AND v_order > v_from + 15 THEN
                            -- For the rest of this tenth of a second the walk begins here.
                            v_position[8 /* at_free */] := v_order;
                            v_noted_mark := set_config('ssb.read_position_' || v_queue_id || '_' || v_level, v_position::text, false);
                        END IF;
                    END IF;
                END IF;
                IF v_type_id = 2 THEN
                    v_type_name := 'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog';
                ELSIF v_type_name IS NULL THEN
                    SELECT t.name INTO v_type_name FROM ssb.message_type AS t WHERE t.message_type_id = v_type_id;
                END IF;

                IF top = 1 AND NOT v_is_retaining THEN
                    IF v_is_in_0 THEN
                        RETURN QUERY
                        DELETE FROM ssb.message_0 AS m
                         WHERE m.ctid = v_place AND m.endpoint_id = v_endpoint_id AND m.queuing_order = v_order AND m.xmax = 0
                        RETURNING 1::smallint, m.priority, m.queuing_order, v_group, v_handle, m.message_sequence_number,
                                  v_service_name, v_service_id, v_contract_name, v_contract_id, v_type_name,
                                  m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3);
                    ELSE
                        RETURN QUERY
                        DELETE FROM ssb.message_1 AS m
                         WHERE m.ctid = v_place AND m.endpoint_id = v_endpoint_id AND m.queuing_order = v_order AND m.xmax = 0
                        RETURNING 1::smallint, m.priority, m.queuing_order, v_group, v_handle, m.message_sequence_number,
                                  v_service_name, v_service_id, v_contract_name, v_contract_id, v_type_name,
                                  m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3);
                    END IF;
                    EXIT WHEN FOUND;
                ELSIF top = 1 THEN
                    IF v_is_in_0 THEN
                        RETURN QUERY
                        WITH taken AS (
                            DELETE FROM ssb.message_0 AS m
                             WHERE m.ctid = v_place AND m.endpoint_id = v_endpoint_id AND m.queuing_order = v_order AND m.xmax = 0
                            RETURNING m.*
                        ), kept AS (
                            INSERT INTO ssb.retained_message (queue_id, endpoint_id, status, queuing_order, message_sequence_number,
                                                              enqueued_at, message_type_id, priority, validation, body)
                            SELECT m.queue_id, m.endpoint_id, 0, m.queuing_order, m.message_sequence_number,
                                   m.enqueued_at, m.message_type_id, m.priority, m.validation, m.body FROM taken AS m
                        )
                        SELECT 1::smallint, m.priority, m.queuing_order, v_group, v_handle, m.message_sequence_number,
                               v_service_name, v_service_id, v_contract_name, v_contract_id, v_type_name,
                               m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3) FROM taken AS m;
                    ELSE
                        RETURN QUERY
                        WITH taken AS (
                            DELETE FROM ssb.message_1 AS m
                             WHERE m.ctid = v_place AND m.endpoint_id = v_endpoint_id AND m.queuing_order = v_order AND m.xmax = 0
                            RETURNING m.*
                        ), kept AS (
                            INSERT INTO ssb.retained_message (queue_id, endpoint_id, status, queuing_order, message_sequence_number,
                                                              enqueued_at, message_type_id, priority, validation, body)
                            SELECT m.queue_id, m.endpoint_id, 0, m.queuing_order, m.message_sequence_number,
                                   m.enqueued_at, m.message_type_id, m.priority, m.validation, m.body FROM taken AS m
                        )
                        SELECT 1::smallint, m.priority, m.queuing_order, v_group, v_handle, m.message_sequence_number,
                               v_service_name, v_service_id, v_contract_name, v_contract_id, v_type_name,
                               m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3) FROM taken AS m;
                    END IF;
                    EXIT WHEN FOUND;
                ELSE
                    -- Nothing of this group has been moved before we had its lock, nor will be.
                    EXIT fast_path WHEN top <= 0 OR NOT v_is_untried
                                    OR coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) <> v_position[6 /* at_rotation */];
                    v_last := 9223372036854775807;
                    IF top IS NOT NULL AND v_position[6 /* at_rotation */] & 2 = 0 THEN
                        IF v_is_in_0 THEN
                            SELECT max(w.queuing_order) INTO v_last
                              FROM (SELECT m.queuing_order FROM ssb.message_0 AS m
                                     WHERE m.endpoint_id = v_endpoint_id AND m.queuing_order >= v_order
                                     ORDER BY m.queuing_order LIMIT top) AS w;
                        ELSE
                            SELECT max(w.queuing_order) INTO v_last
                              FROM (SELECT m.queuing_order FROM ssb.message_1 AS m
                                     WHERE m.endpoint_id = v_endpoint_id AND m.queuing_order >= v_order
                                     ORDER BY m.queuing_order LIMIT top) AS w;
                        END IF;
                    END IF;
                    IF top > 2000 THEN
                        -- What is more than work_mem goes to a file before it is returned.
                        v_memory := current_setting('work_mem');
                        IF pg_size_bytes(v_memory) < 16777216 THEN
                            PERFORM set_config('work_mem', '16MB', true);
                        END IF;
                    END IF;
                    IF v_position[6 /* at_rotation */] & 2 <> 0 THEN
                        RETURN QUERY SELECT t.* FROM ssb_internal.take_messages(v_queue_id, v_endpoint_id, NULL, top, v_order) AS t;
                    ELSIF v_is_retaining THEN
                        RETURN QUERY
                        WITH taken AS (
                            DELETE FROM ssb.message_stored AS m
                             WHERE m.endpoint_id = v_endpoint_id AND m.queuing_order BETWEEN v_order AND v_last
                            RETURNING m.*
                        ), kept AS (
                            INSERT INTO ssb.retained_message (queue_id, endpoint_id, status, queuing_order, message_sequence_number,
                                                              enqueued_at, message_type_id, priority, validation, body)
                            SELECT m.queue_id, m.endpoint_id, 0, m.queuing_order, m.message_sequence_number,
                                   m.enqueued_at, m.message_type_id, m.priority, m.validation, m.body FROM taken AS m
                        )
                        SELECT 1::smallint, m.priority, m.queuing_order, v_group, v_handle, m.message_sequence_number,
                               v_service_name, v_service_id, v_contract_name, v_contract_id,
                               CASE WHEN m.message_type_id = v_type_id THEN v_type_name
                                    ELSE ssb_internal.message_type_name(m.message_type_id) END,
                               m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3)
                          FROM taken AS m ORDER BY m.queuing_order;
                    ELSIF v_is_in_0 THEN
                        RETURN QUERY
                        DELETE FROM ssb.message_0 AS m
                         WHERE m.endpoint_id = v_endpoint_id AND m.queuing_order BETWEEN v_order AND v_last
                        RETURNING 1::smallint, m.priority, m.queuing_order, v_group, v_handle, m.message_sequence_number,
                                  v_service_name, v_service_id, v_contract_name, v_contract_id,
                                  CASE WHEN m.message_type_id = v_type_id THEN v_type_name
                                       ELSE ssb_internal.message_type_name(m.message_type_id) END,
                                  m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3);
                    ELSE
                        RETURN QUERY
                        DELETE FROM ssb.message_1 AS m
                         WHERE m.endpoint_id = v_endpoint_id AND m.queuing_order BETWEEN v_order AND v_last
                        RETURNING 1::smallint, m.priority, m.queuing_order, v_group, v_handle, m.message_sequence_number,
                                  v_service_name, v_service_id, v_contract_name, v_contract_id,
                                  CASE WHEN m.message_type_id = v_type_id THEN v_type_name
                                       ELSE ssb_internal.message_type_name(m.message_type_id) END,
                                  m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3);
                    END IF;
                    IF v_memory IS NOT NULL THEN
                        v_type_name := set_config('work_mem', v_memory, true);
                    END IF;
                    EXIT WHEN FOUND;
                END IF;
                -- What somebody has received and rolled back is for the slow path. What somebody has
                -- received between our look and our lock is not there any more.
                IF NOT v_is_untried THEN
                    PERFORM FROM ssb.message_stored AS m WHERE m.endpoint_id = v_endpoint_id AND m.queuing_order = v_order;
                    EXIT fast_path WHEN FOUND;
                END IF;
                v_passed := NULL;
                v_handle := NULL;
            END LOOP;
            IF current_setting('pgsb.traceparent', true) <> '' THEN
                PERFORM ssb_internal.trace_received(v_endpoint_id, v_order);
            END IF;

            IF v_order <= v_position[2 /* at_act_beyond */] THEN
                RETURN;
            ELSIF v_order IS NULL THEN
                EXIT fast_path WHEN top <= 0;
                v_is_last := coalesce(cardinality(v_levels), 0) = 0;
                IF v_is_last THEN
                    -- Nothing, unless it fell due, or waits elsewhere; or the tables were switched. Nor may a transaction that can
                    -- only be rolled back look: the slow path tells it.
                    SELECT coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) <> v_position[6 /* at_rotation */]
                           OR EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                                       WHERE e.queue_id = v_queue_id AND e.due_at <= (SELECT clock_timestamp()))
                           OR EXISTS (SELECT FROM (SELECT s.name FROM ssb.service AS s WHERE s.queue_id = v_queue_id OFFSET 0) AS s
                                       CROSS JOIN LATERAL (SELECT FROM ssb.transmission AS t WHERE t.to_service = s.name AND t.peer_id IS NULL LIMIT 1) AS t)
                           OR current_setting('transaction_read_only') = 'on'
                      INTO v_is_special;
                ELSE
                    -- Nothing of this level, where all its messages were in the table that was looked at.
                    v_is_special := coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) <> v_position[6 /* at_rotation */];
                END IF;
                EXIT fast_path WHEN v_is_special;
                IF v_passed IS NOT NULL OR v_position[5 /* at_skipped */] > 0 THEN
                    -- Or there are more further on; or a claim that set some aside is over; or groups came to be shared.
                    IF v_passed IS NOT NULL THEN
                        PERFORM FROM ssb.message_stored AS m
                          WHERE m.queue_id = v_queue_id AND m.priority = v_level
                            AND m.queuing_order >= greatest(v_passed, v_claimed) + 200
                          LIMIT 1;
                        EXIT fast_path WHEN FOUND;
                    END IF;
                    SELECT q.has_groups OR NOT q.is_receive_enabled
                           OR EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                                       WHERE e.endpoint_id = ANY (v_skipped[1:v_position[5 /* at_skipped */]])
                                         AND e.claim_id IS NOT NULL AND NOT ssb_internal.claim_is_alive(e.claim_id))
                      INTO v_is_special FROM ssb.queue AS q WHERE q.queue_id = v_queue_id;
                    EXIT fast_path WHEN v_is_special;
                END IF;
                IF v_is_time_to_look THEN
                    PERFORM ssb_internal.raise_low_water(q.queue_id, v_level, v_position[1 /* at_low_water */], q.order_sequence, NULL, v_noted)
                       FROM ssb.queue AS q WHERE q.queue_id = v_queue_id;
                END IF;
                EXIT levels WHEN v_is_last;
                v_position := NULL;
                v_is_first_visit := false;
                v_is_time_to_look := NULL;
                v_noted := NULL;
                v_skipped := NULL;
                v_claimed := NULL;
                v_passed := NULL;
                CONTINUE levels;
            END IF;
            v_passed := coalesce(v_passed, v_order);
            IF v_order > v_position[7 /* at_raise_beyond */] THEN
                PERFORM ssb_internal.raise_low_water(q.queue_id, v_level, v_position[1 /* at_low_water */], q.order_sequence, v_order, v_noted)
                   FROM ssb.queue AS q WHERE q.queue_id = v_queue_id;
            ELSIF v_passed <= v_position[3 /* at_decided */] AND v_passed > v_position[1 /* at_low_water */]
                  AND coalesce(v_claimed, 0) <= v_position[1 /* at_low_water */] THEN
                -- All orders below are decided, and gone.
                v_position[1 /* at_low_water */] := v_passed;
                v_position[11 /* at_marked_by */] := pg_current_xact_id()::text::bigint;
                v_position[2 /* at_act_beyond */] := least(v_passed + 48, v_position[7 /* at_raise_beyond */]);
                v_type_name := set_config('ssb.read_position_' || v_queue_id || '_' || v_level, v_position::text, false);
            ELSIF v_first > v_position[9 /* at_behind_claims */] + 48 AND v_first <= v_position[3 /* at_decided */]
                  AND v_claimed > v_position[1 /* at_low_water */] THEN
                -- The same for those behind the claims.
                v_position[9 /* at_behind_claims */] := v_first;
                v_position[10 /* at_claims_end */] := v_claimed;
                v_position[11 /* at_marked_by */] := pg_current_xact_id()::text::bigint;
                v_type_name := set_config('ssb.read_position_' || v_queue_id || '_' || v_level, v_position::text, false);
            END IF;
            RETURN;
        END LOOP levels;
        RETURN;
    END fast_path;
    IF coalesce(conversation, conversation_group) IS NULL AND current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN QUERY SELECT r.* FROM ssb_internal.receive_by_snapshot(queue, top) AS r;
    ELSE
        RETURN QUERY SELECT r.* FROM ssb_internal.receive_slow_path(queue, top, conversation, conversation_group) AS r;
    END IF;
END;
$$;

-- END of many conversations in one call.
--
-- What the fast path of END (end_conversation.sql) does for one conversation is done for all of them by one
-- statement; where something is special about one, ssb.end_conversation ends it. Up to 1,000 are looked up
-- by index, with plans that are kept: to make them takes as long as to end a hundred. For more than
-- that plans are made in each call, as a few thousand conversations and a million want different ones.
--
-- Called by  compiled END CONVERSATION of many, ssb_internal.complete_claim
-- Locks      the groups, in the order of their numbers

-- Those on the fast path, as they are now that they are locked. is_last: an initiator
-- whose far side has ended the dialog, of which nothing is left. place: in p_handles.
-- p_after, after: see ssb_internal.end_set.
CREATE OR REPLACE FUNCTION ssb_internal.fast_path_ends(p_handles uuid[], p_after bigint[])
RETURNS TABLE (place bigint, endpoint_id bigint, after bigint, sent_count bigint, sent_order bigint, far_endpoint_id bigint,
               far_queue_id integer, far_order regclass, far_priority smallint, is_last boolean)
LANGUAGE plpgsql
ROWS 1000
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    RETURN QUERY
    WITH named AS MATERIALIZED (
        SELECT h.place, e.endpoint_id, coalesce(h.after, -1) AS after, e.sent_count, e.sent_order, e.far_endpoint_id,
               e.far_queue_id, e.far_order, e.far_priority, e.near_order, e.near_state, e.far_state, f.closed_at,
               count(*) OVER (PARTITION BY e.conversation_id) AS sides
          FROM unnest(p_handles, p_after) WITH ORDINALITY AS h (handle, after, place)
          JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = h.handle
          JOIN ssb.conversation_endpoint AS f ON f.endpoint_id = e.far_endpoint_id
         WHERE e.lock_id = e.endpoint_id AND e.closed_at IS NULL AND NOT e.is_error AND NOT e.has_waiting
           AND coalesce(e.lifetime > clock_timestamp(), true) AND NOT e.is_system AND e.far_outcome IS NULL
           AND NOT f.is_refused AND coalesce(e.claim_id, 0) >= 0
           AND (f.closed_at IS NULL OR (e.is_initiator AND f.is_close_known AND NOT f.is_closed_by_error))
    ), plain AS MATERIALIZED (
        SELECT d.near_order, d.near_state, d.far_state
          FROM (SELECT DISTINCT n.near_order, n.near_state, n.far_order, n.far_state FROM named AS n OFFSET 0) AS d
         WHERE has_sequence_privilege('public', d.near_state, 'SELECT')
           AND has_sequence_privilege('public', d.far_state, 'SELECT')
           AND coalesce(pg_sequence_last_value(d.far_state), 0) = 0
           AND has_sequence_privilege(ssb_internal.calling_role(), d.near_order, 'USAGE')
           -- For which readers wait, as with ssb.send.
           AND pg_try_advisory_xact_lock(1397965379, d.far_order::oid::integer) IS NOT NULL
    )
    SELECT n.place, n.endpoint_id, n.after, n.sent_count, n.sent_order, n.far_endpoint_id, n.far_queue_id, n.far_order,
           n.far_priority, n.closed_at IS NOT NULL
      FROM named AS n
      JOIN plain AS p USING (near_order, near_state, far_state)
     -- Of both sides of one dialog the second follows from the first.
     WHERE n.sides = 1
       AND NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS o
                        WHERE o.lock_id = n.endpoint_id AND o.endpoint_id <> n.endpoint_id)
       AND NOT EXISTS (SELECT FROM ssb.retained_message AS r WHERE r.endpoint_id = n.endpoint_id);
END;
$$;

-- Ends them without error: all of them or none. Each one's far side is told behind all that it was sent; between
-- conversations those of the fast path come first, each kind in the order given. Of p_handles[i] no
-- message up to p_after[i] is left, the caller says (NULL: it does not know). An index
-- keeps what a transaction has deleted until it is over: passing a million such
-- entries would cost as much as deleting them did.
CREATE OR REPLACE FUNCTION ssb_internal.end_set(p_handles uuid[], p_after bigint[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_rotation bigint;
    v_rest uuid[] := p_handles;
    v_handle uuid;
BEGIN
    IF cardinality(p_handles) > 3 THEN
        IF cardinality(p_handles) > 1000 THEN
            PERFORM set_config(s.name, s.setting, true)
               FROM (VALUES ('plan_cache_mode', 'force_custom_plan'), ('enable_seqscan', 'on'), ('enable_hashjoin', 'on'),
                            ('enable_mergejoin', 'on')) AS s (name, setting);
        END IF;
        PERFORM FROM ssb.conversation_endpoint AS l
          WHERE l.endpoint_id IN (SELECT e.lock_id FROM unnest(p_handles) AS h (handle)
                                    JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = h.handle)
          ORDER BY l.endpoint_id FOR NO KEY UPDATE;
        v_rotation := coalesce(pg_sequence_last_value('ssb.rotation_state'), 0);
        IF (SELECT count(DISTINCT h.handle) FROM unnest(p_handles) AS h (handle)) < cardinality(p_handles) THEN
            NULL;                      -- the second END of one conversation is an error
        ELSIF v_rotation & 3 = 0 THEN
            WITH fast AS MATERIALIZED (
                SELECT u.* FROM ssb_internal.fast_path_ends(p_handles, p_after) AS u
            ), told AS (
                INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                           message_type_id, priority, validation, body)
                SELECT o.far_queue_id, o.far_endpoint_id, o.queuing_order,
                       CASE WHEN o.sent_count < 16 OR o.sent_order IS NULL THEN o.sent_count
                            ELSE o.sent_count + o.queuing_order - o.sent_order - 1 END,
                       clock_timestamp(), 2, o.far_priority, 'E', NULL
                  FROM (SELECT u.*, nextval(u.far_order) AS queuing_order
                          FROM (SELECT u.* FROM fast AS u WHERE NOT u.is_last ORDER BY u.place) AS u) AS o
            ), forgotten AS (
                DELETE FROM ssb.message_0 AS m USING fast AS u
                 WHERE m.endpoint_id = u.endpoint_id AND m.queuing_order > u.after
            ), closed AS (
                UPDATE ssb.conversation_endpoint AS e
                   SET closed_at = clock_timestamp(), is_close_known = true, is_closed_by_error = false, dialog_timer = NULL,
                       due_at = CASE WHEN e.due_at IS NULL OR e.dialog_timer IS NOT NULL OR e.lifetime IS NOT NULL
                                     THEN clock_timestamp() + interval '30 minutes' ELSE e.due_at END
                  FROM fast AS u WHERE e.endpoint_id = u.endpoint_id AND NOT u.is_last
            ), removed AS (
                DELETE FROM ssb.conversation_endpoint AS e USING fast AS u WHERE e.endpoint_id = u.endpoint_id AND u.is_last
            )
            SELECT array_agg(h.handle ORDER BY h.place) INTO v_rest
              FROM unnest(p_handles) WITH ORDINALITY AS h (handle, place)
             WHERE NOT EXISTS (SELECT FROM fast AS u WHERE u.place = h.place);
        ELSIF v_rotation & 3 = 1 THEN
            WITH fast AS MATERIALIZED (
                SELECT u.* FROM ssb_internal.fast_path_ends(p_handles, p_after) AS u
            ), told AS (
                INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                           message_type_id, priority, validation, body)
                SELECT o.far_queue_id, o.far_endpoint_id, o.queuing_order,
                       CASE WHEN o.sent_count < 16 OR o.sent_order IS NULL THEN o.sent_count
                            ELSE o.sent_count + o.queuing_order - o.sent_order - 1 END,
                       clock_timestamp(), 2, o.far_priority, 'E', NULL
                  FROM (SELECT u.*, nextval(u.far_order) AS queuing_order
                          FROM (SELECT u.* FROM fast AS u WHERE NOT u.is_last ORDER BY u.place) AS u) AS o
            ), forgotten AS (
                DELETE FROM ssb.message_1 AS m USING fast AS u
                 WHERE m.endpoint_id = u.endpoint_id AND m.queuing_order > u.after
            ), closed AS (
                UPDATE ssb.conversation_endpoint AS e
                   SET closed_at = clock_timestamp(), is_close_known = true, is_closed_by_error = false, dialog_timer = NULL,
                       due_at = CASE WHEN e.due_at IS NULL OR e.dialog_timer IS NOT NULL OR e.lifetime IS NOT NULL
                                     THEN clock_timestamp() + interval '30 minutes' ELSE e.due_at END
                  FROM fast AS u WHERE e.endpoint_id = u.endpoint_id AND NOT u.is_last
            ), removed AS (
                DELETE FROM ssb.conversation_endpoint AS e USING fast AS u WHERE e.endpoint_id = u.endpoint_id AND u.is_last
            )
            SELECT array_agg(h.handle ORDER BY h.place) INTO v_rest
              FROM unnest(p_handles) WITH ORDINALITY AS h (handle, place)
             WHERE NOT EXISTS (SELECT FROM fast AS u WHERE u.place = h.place);
        END IF;
    END IF;
    FOREACH v_handle IN ARRAY coalesce(v_rest, '{}') LOOP
        PERFORM ssb.end_conversation(v_handle);
    END LOOP;
END;
$$;

-- The same for everybody. Returns how many.
CREATE OR REPLACE FUNCTION ssb.end_conversations(handles uuid[])
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.end_set(handles);
    RETURN coalesce(cardinality(handles), 0);
END;
$$;

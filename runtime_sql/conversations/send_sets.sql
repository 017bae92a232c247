-- SEND of many messages in one call: on several conversations, or many on one.
--
-- What ssb.send does for one message is done for all of them by a few statements:
-- lock the groups, look that nothing is special, draw the orders, append. Where
-- something is special about a conversation (its first message, validation,
-- retention, a watcher to wake, an error), its messages go one by one up to there.
--
-- Called by  compiled SEND on several conversations, events, ssb.send_batch's callers
-- Locks      the senders' groups, in the order of their numbers: two such calls cannot
--            deadlock with each other unless their transactions hold more

-- Appends messages of one type to one conversation that is a group by itself. False:
-- something is special, and nothing is done.
CREATE OR REPLACE FUNCTION ssb_internal.send_plain_run(p_handle uuid, p_type text, p_bodies bytea[])
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_endpoint_id bigint;
    v_count bigint;
    v_count_order bigint;
    v_far_endpoint_id bigint;
    v_far_queue_id integer;
    v_far_order regclass;
    v_far_priority smallint;
    v_type_id integer;
    v_rotation bigint;
    v_is_counting boolean;
    v_now timestamptz;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    SELECT e.endpoint_id, e.sent_count, e.sent_order, e.far_endpoint_id, e.far_queue_id, e.far_order, e.far_priority,
           CASE WHEN e.plain_type = p_type THEN e.plain_type_id END
      INTO v_endpoint_id, v_count, v_count_order, v_far_endpoint_id, v_far_queue_id, v_far_order, v_far_priority, v_type_id
      FROM ssb.conversation_endpoint AS e
     WHERE e.conversation_handle = p_handle AND e.lock_id = e.endpoint_id AND e.closed_at IS NULL AND NOT e.is_error
       AND NOT e.has_waiting AND coalesce(e.lifetime > clock_timestamp(), true)
       AND has_sequence_privilege('public', e.near_state, 'SELECT')
       AND has_sequence_privilege('public', e.far_state, 'SELECT')
       AND coalesce(pg_sequence_last_value(e.far_state), 0) = 0
       AND has_sequence_privilege(ssb_internal.calling_role(),
                                  e.near_order, 'USAGE')
       FOR NO KEY UPDATE;
    IF v_type_id IS NULL THEN
        RETURN false;
    END IF;
    SELECT coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) INTO v_rotation
      FROM ssb.conversation_endpoint AS f
     WHERE f.endpoint_id = v_far_endpoint_id AND f.closed_at IS NULL AND NOT f.is_refused
       AND pg_try_advisory_xact_lock(1397965379, v_far_order::oid::integer) IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_is_counting := v_count < 16 OR v_count_order IS NULL;
    v_now := clock_timestamp();
    -- unnest in a SELECT list hands out one element after the other; in FROM it would copy them all first.
    IF v_rotation % 2 = 0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT v_far_queue_id, v_far_endpoint_id, o.queuing_order,
               CASE WHEN v_is_counting THEN o.number ELSE v_count + o.queuing_order - v_count_order - 1 END,
               v_now, v_type_id, v_far_priority, 'N', o.body
          FROM (SELECT nextval(v_far_order) AS queuing_order, b.number, b.body
                  FROM (SELECT generate_series(v_count, v_count + cardinality(p_bodies) - 1) AS number,
                               unnest(p_bodies) AS body) AS b) AS o;
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT v_far_queue_id, v_far_endpoint_id, o.queuing_order,
               CASE WHEN v_is_counting THEN o.number ELSE v_count + o.queuing_order - v_count_order - 1 END,
               v_now, v_type_id, v_far_priority, 'N', o.body
          FROM (SELECT nextval(v_far_order) AS queuing_order, b.number, b.body
                  FROM (SELECT generate_series(v_count, v_count + cardinality(p_bodies) - 1) AS number,
                               unnest(p_bodies) AS body) AS b) AS o;
    END IF;
    IF v_is_counting THEN
        UPDATE ssb.conversation_endpoint AS e
           SET sent_count = e.sent_count + cardinality(p_bodies),
               sent_order = (SELECT max(m.queuing_order) FROM ssb.message_stored AS m WHERE m.endpoint_id = e.far_endpoint_id)
         WHERE e.endpoint_id = v_endpoint_id;
    END IF;
    RETURN true;
END;
$$;

-- Appends p_handles[i], p_types[i], p_bodies[i] for all i, where p_types and p_bodies
-- may be NULL for p_type and p_body in every message. NULL: done. Else nothing is
-- done, and the number is the last place at which a conversation that needs
-- ssb_internal.send_slow_path is met for the first time.
CREATE OR REPLACE FUNCTION ssb_internal.send_plain_set(p_handles uuid[], p_types text[], p_bodies bytea[],
                                                       p_type text DEFAULT NULL, p_body bytea DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_locked bigint[];
    v_plain text[];                    -- pairs of queues that are in their default state, and the caller's
    v_special integer;
    v_is_counting boolean;             -- some conversation still counts its messages one by one
    v_rank bigint[];                   -- message i is that many messages after the first of its conversation here
    v_rotation bigint;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    -- Messages with a trace go one by one.
    IF current_setting('pgsb.traceparent', true) <> '' THEN
        RETURN cardinality(p_handles);
    ELSIF ssb_internal.send_set_to_known_remote(p_handles, p_types, p_bodies, p_type, p_body) THEN
        RETURN NULL;
    END IF;
    IF p_handles[1] = ALL (p_handles) AND (p_types IS NULL OR p_types[1] = ALL (p_types))
       AND ssb_internal.send_plain_run(p_handles[1], coalesce(p_types[1], p_type), coalesce(p_bodies, ARRAY[p_body])) THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(l.endpoint_id) INTO v_locked
      FROM (SELECT l.endpoint_id FROM ssb.conversation_endpoint AS l
             WHERE l.endpoint_id = ANY (ARRAY(SELECT e.lock_id FROM ssb.conversation_endpoint AS e
                                               WHERE e.conversation_handle = ANY (p_handles)))
             ORDER BY l.endpoint_id FOR NO KEY UPDATE) AS l;
    -- One of them has moved while we waited: then they go one by one.
    IF v_locked IS DISTINCT FROM (SELECT array_agg(d.lock_id ORDER BY d.lock_id)
                                    FROM (SELECT DISTINCT e.lock_id FROM ssb.conversation_endpoint AS e
                                           WHERE e.conversation_handle = ANY (p_handles)) AS d) THEN
        RETURN cardinality(p_handles);
    END IF;

    -- As ssb.send, after the locks: who waited for them sees what the holder did. Rights
    -- and states are looked up once for each pair of queues, and the lock taken for which their readers wait.
    SELECT array_agg(ROW(d.near_order, d.near_state, d.far_state)::text) INTO v_plain
      FROM (SELECT DISTINCT e.near_order, e.near_state, e.far_order, e.far_state
              FROM (SELECT DISTINCT u.handle FROM unnest(p_handles) AS u (handle)) AS u
              JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = u.handle OFFSET 0) AS d
     WHERE has_sequence_privilege('public', d.near_state, 'SELECT')
       AND has_sequence_privilege('public', d.far_state, 'SELECT')
       AND coalesce(pg_sequence_last_value(d.far_state), 0) = 0
       AND has_sequence_privilege(ssb_internal.calling_role(), d.near_order, 'USAGE')
       AND pg_try_advisory_xact_lock(1397965379, d.far_order::oid::integer) IS NOT NULL;
    SELECT max(p.place) FILTER (WHERE p.is_special), bool_or(p.is_counting) INTO v_special, v_is_counting
      FROM (SELECT s.place, e.sent_count < 16 OR e.sent_order IS NULL AS is_counting,
                   (e.closed_at IS NULL AND NOT e.is_error AND NOT e.has_waiting AND coalesce(e.lifetime > clock_timestamp(), true)
                    AND f.closed_at IS NULL AND NOT f.is_refused
                    AND ROW(e.near_order, e.near_state, e.far_state)::text = ANY (v_plain)
                    AND CASE WHEN e.plain_type = s.message_type THEN e.plain_type_id
                             ELSE (SELECT t.message_type_id FROM ssb.contract_message_usage AS t
                                    WHERE t.contract_id = e.contract_id AND t.message_type_name = s.message_type
                                      AND e.far_contract_id = e.contract_id
                                      AND CASE WHEN e.is_initiator THEN t.is_plain_from_initiator
                                               ELSE t.is_plain_from_target END) END IS NOT NULL) IS NOT TRUE AS is_special
              FROM (SELECT u.handle, coalesce(u.message_type, p_type) AS message_type, min(u.place) AS place
                      FROM unnest(p_handles, p_types) WITH ORDINALITY AS u (handle, message_type, place)
                     GROUP BY 1, 2) AS s
              LEFT JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = s.handle
              LEFT JOIN ssb.conversation_endpoint AS f ON f.endpoint_id = e.far_endpoint_id) AS p;
    IF v_special IS NOT NULL THEN
        RETURN v_special;
    END IF;
    IF v_is_counting THEN
        SELECT array_agg(r.rank ORDER BY r.place) INTO v_rank
          FROM (SELECT u.place, row_number() OVER (PARTITION BY u.handle ORDER BY u.place) - 1 AS rank
                  FROM unnest(p_handles) WITH ORDINALITY AS u (handle, place)) AS r;
    END IF;

    v_rotation := coalesce(pg_sequence_last_value('ssb.rotation_state'), 0);
    IF v_rotation % 2 = 0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT o.far_queue_id, o.far_endpoint_id, o.queuing_order,
               CASE WHEN o.rank IS NOT NULL AND (o.sent_count < 16 OR o.sent_order IS NULL) THEN o.sent_count + o.rank
                    ELSE o.sent_count + o.queuing_order - o.sent_order - 1 END,
               clock_timestamp(), o.message_type_id, o.far_priority, 'N', o.body
          FROM (SELECT p.*, nextval(p.far_order) AS queuing_order
                  FROM (SELECT e.far_queue_id, e.far_endpoint_id, e.far_order, e.far_priority, e.sent_count, e.sent_order,
                               u.rank, CASE WHEN p_bodies IS NULL THEN p_body ELSE u.body END AS body,
                               CASE WHEN e.plain_type = coalesce(u.message_type, p_type) THEN e.plain_type_id
                                    ELSE (SELECT t.message_type_id FROM ssb.contract_message_usage AS t
                                           WHERE t.contract_id = e.contract_id
                                             AND t.message_type_name = coalesce(u.message_type, p_type))
                                    END AS message_type_id
                          FROM unnest(p_handles, p_types, p_bodies, v_rank)
                               WITH ORDINALITY AS u (handle, message_type, body, rank, place)
                          JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = u.handle
                         ORDER BY u.place) AS p) AS o;
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT o.far_queue_id, o.far_endpoint_id, o.queuing_order,
               CASE WHEN o.rank IS NOT NULL AND (o.sent_count < 16 OR o.sent_order IS NULL) THEN o.sent_count + o.rank
                    ELSE o.sent_count + o.queuing_order - o.sent_order - 1 END,
               clock_timestamp(), o.message_type_id, o.far_priority, 'N', o.body
          FROM (SELECT p.*, nextval(p.far_order) AS queuing_order
                  FROM (SELECT e.far_queue_id, e.far_endpoint_id, e.far_order, e.far_priority, e.sent_count, e.sent_order,
                               u.rank, CASE WHEN p_bodies IS NULL THEN p_body ELSE u.body END AS body,
                               CASE WHEN e.plain_type = coalesce(u.message_type, p_type) THEN e.plain_type_id
                                    ELSE (SELECT t.message_type_id FROM ssb.contract_message_usage AS t
                                           WHERE t.contract_id = e.contract_id
                                             AND t.message_type_name = coalesce(u.message_type, p_type))
                                    END AS message_type_id
                          FROM unnest(p_handles, p_types, p_bodies, v_rank)
                               WITH ORDINALITY AS u (handle, message_type, body, rank, place)
                          JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = u.handle
                         ORDER BY u.place) AS p) AS o;
    END IF;
    IF v_is_counting THEN
        UPDATE ssb.conversation_endpoint AS e
           SET sent_count = e.sent_count + n.messages,
               sent_order = (SELECT max(m.queuing_order) FROM ssb.message_stored AS m WHERE m.endpoint_id = e.far_endpoint_id)
          FROM (SELECT u.handle, count(*) AS messages FROM unnest(p_handles) AS u (handle) GROUP BY 1) AS n
         WHERE e.conversation_handle = n.handle AND (e.sent_count < 16 OR e.sent_order IS NULL);
    END IF;
    RETURN NULL;
END;
$$;

-- One message on several conversations: all of them or none. A NULL body is none here.
CREATE OR REPLACE FUNCTION ssb_internal.send_to_all(p_handles uuid[], p_message_type text, p_body bytea)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_place integer;
    v_handle uuid;
BEGIN
    v_place := array_position(p_handles, NULL);
    IF v_place IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(8441, format('The conversation handle at position %s is missing. Specify a conversation handle.',
                                                      v_place));
    END IF;
    SELECT max(h.place), (array_agg(h.handle))[1] INTO v_place, v_handle
      FROM unnest(p_handles) WITH ORDINALITY AS h (handle, place)
     GROUP BY h.handle HAVING count(*) > 1 ORDER BY 1 LIMIT 1;
    IF FOUND THEN
        PERFORM ssb_internal.raise_error(8451, format('The conversation handle ''%s'' at position %s appears more than once.',
                                                      upper(v_handle::text), v_place));
    END IF;
    IF cardinality(p_handles) > 0 AND ssb_internal.send_plain_set(p_handles, NULL, NULL, p_message_type, p_body) IS NULL THEN
        RETURN;
    END IF;
    FOR v_place IN 1..coalesce(cardinality(p_handles), 0) LOOP
        PERFORM ssb_internal.send_slow_path(p_handles[v_place], p_message_type, p_body, v_place);
    END LOOP;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.send_many(handles uuid[], message_type text, body bytea)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    IF body IS NULL THEN
        PERFORM ssb_internal.raise_error(8433, 'The message body may not be NULL.  A zero-length UNICODE or binary string is allowed.');
    END IF;
    PERFORM ssb_internal.send_to_all(handles, message_type, body);
END;
$$;

CREATE OR REPLACE FUNCTION ssb.send_many(handles uuid[], message_type text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.send_to_all(handles, message_type, NULL);
END;
$$;

CREATE OR REPLACE FUNCTION ssb.send_many(handles uuid[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb.send_many(handles, 'DEFAULT');
END;
$$;

CREATE OR REPLACE FUNCTION ssb.send_many(handles uuid[], message_type text, body text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb.send_many(handles, message_type, ssb.nvarchar_bytes(body));
END;
$$;

-- Many messages at once, in the order given; NULL elements are not allowed, except
-- bodies, where they mean none. All of them or none.
CREATE OR REPLACE FUNCTION ssb.send_batch(handles uuid[], message_types text[], bodies bytea[])
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_count integer := coalesce(cardinality(handles), 0);
    v_done integer := 0;
    v_special integer;
BEGIN
    IF cardinality(message_types) IS DISTINCT FROM cardinality(handles)
       OR cardinality(bodies) IS DISTINCT FROM cardinality(handles) THEN
        PERFORM ssb_internal.raise_error(8114, 'Error converting data type array to messages: handles, message_types and bodies must be of '
                                               'equal length.', 16, 5);
    END IF;
    -- Twice: what was special about a conversation is often only its first message.
    -- A set costs what some four messages cost that go one by one.
    FOR v_try IN 1..2 LOOP
        EXIT WHEN v_count - v_done < 4;
        IF v_done = 0 THEN
            v_special := ssb_internal.send_plain_set(handles, message_types, bodies);   -- slices would be copies
        ELSE
            v_special := v_done
                + ssb_internal.send_plain_set(handles[v_done + 1:], message_types[v_done + 1:], bodies[v_done + 1:]);
        END IF;
        IF v_special IS NULL THEN
            RETURN v_count;
        END IF;
        FOR v_place IN v_done + 1..v_special LOOP
            PERFORM ssb_internal.send_or_signal(handles[v_place], message_types[v_place], bodies[v_place]);
        END LOOP;
        v_done := v_special;
    END LOOP;
    FOR v_place IN v_done + 1..v_count LOOP
        PERFORM ssb_internal.send_or_signal(handles[v_place], message_types[v_place], bodies[v_place]);
    END LOOP;
    RETURN v_count;
END;
$$;

-- The next set of messages for another instance.
--
-- For the runtime's owner only.
-- Called by  the daemon

-- What the other instance needs to know of a dialog, as JSON (no jsonb: making one here, of which the other instance reads the text, takes
-- twice as long). Nothing is said that goes without saying (transport/forwarding.sql), for of a new dialog reading this is a tenth of the other
-- instance's part. It is put into the statements that call it.
CREATE OR REPLACE FUNCTION ssb_internal.dialog_descriptor(p_endpoint ssb.conversation_endpoint, p_remote ssb.remote_conversation,
                                                          p_instance text)
RETURNS text
LANGUAGE sql VOLATILE
RETURN concat('{"conversation_id":"', (p_endpoint).conversation_id, '","is_initiator":', (p_endpoint).is_initiator::text,
              ',"key":"', (p_remote).session_key, '","to_service":', to_json((p_endpoint).far_service),
              ',"to_instance":' || to_json(coalesce((p_endpoint).far_broker_instance, (p_remote).far_instance))::text,
              ',"from_service":', to_json((p_endpoint).service_name), ',"from_instance":"', p_instance,
              '","contract":', to_json((p_endpoint).contract_name),
              ',"lifetime":' || extract(epoch FROM (p_endpoint).lifetime - clock_timestamp())::text,
              ',"is_encrypted":', (p_endpoint).is_encrypted::text, '}');
REVOKE EXECUTE ON FUNCTION ssb_internal.dialog_descriptor(ssb.conversation_endpoint, ssb.remote_conversation, text) FROM PUBLIC;

-- … and of one that never goes in the clear: what the daemon's spans show. All else ssb_internal.secure_dialogs tells.
CREATE OR REPLACE FUNCTION ssb_internal.sealed_descriptor(p_endpoint ssb.conversation_endpoint)
RETURNS text
LANGUAGE sql VOLATILE
RETURN concat('{"conversation_id":"', (p_endpoint).conversation_id, '","to_service":', to_json((p_endpoint).far_service), '}');
REVOKE EXECUTE ON FUNCTION ssb_internal.sealed_descriptor(ssb.conversation_endpoint) FROM PUBLIC;

-- The next messages for a peer as arrays, and about each of their dialogs what the other instance needs to know. What this
-- returns may arrive: dialogs are marked, and a message that its sender committed without waiting for the disk
-- is there from now on, whatever happens to this server. So the call is a transaction of its own.
--
-- The highest priority goes first; in each the dialogs take turns, from behind (p_after_endpoint, p_after_id), which is where the set
-- before ended; NULL: from the first one. A set is p_messages and p_bytes at most, or one message. Of a body larger than p_fragment the
-- next fragment is the last thing in a set (transport/fragments.sql); NULL: the other instance does not know of them. It divides into eight
-- dialogs where so many have something. p_under_way: dialogs whose last set has not been answered yet.
--
-- What it settles before: of dialogs of which all was taken (p_ids, which nobody looks at) p_endpoints, p_next_numbers, p_instances and
-- p_key_ids of those that were sealed; NULL: nothing. On a quiet dialog that is all that the call does, and waits for no disk.
--
-- Which dialogs have something transmission_by_peer tells. Of messages that were sent as one it has the last alone (is_last_of_run), and of
-- each dialog the newest stands first; the oldest is found by the primary key, from the number that the other instance has told (below it may be what ends the dialog). So rows that have left, and that
-- VACUUM has not removed yet, are not met: of a dialog that streams that may be a million.
-- Plans are made while the queue is empty and serve when it is full, so all but these orders is off, and every statement asks
-- for one: where there is next to nothing, reading all of another index costs the same. (EXISTS keeps an order only with OFFSET.)
--
-- sides: NULL where all dialogs are in the clear, else what the daemon needs to seal them, pair by pair (endpoints: NULL where they are the
-- set's); conversation_ids, keys, contracts and lifetimes are those of the sides' dialogs, in their order. traced: NULL, or for
-- each message with a trace its place in the set, from 0, and when it was sent. No row: nothing is there.
CREATE OR REPLACE FUNCTION ssb_internal.next_set(p_peer_id integer, p_set uuid, p_messages integer, p_bytes bigint, p_fragment bigint,
    p_under_way bigint[], p_after_priority integer, p_after_endpoint bigint, p_after_id bigint,
    p_ids bigint[], p_endpoints bigint[], p_next_numbers bigint[], p_instances text[], p_key_ids uuid[])
RETURNS TABLE (dialogs text, places integer[], numbers bigint[], message_types text[], kinds text[], bodies bytea[],
               ids bigint[], endpoints bigint[], sides jsonb, conversation_ids uuid[], keys uuid[], contracts text[],
               lifetimes double precision[], traced jsonb, bytes bigint, after_priority integer, after_endpoint bigint, after_id bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_sort = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_stopped CONSTANT text := 'The Service Broker protocol transport is disabled or not configured.';
    v_left_out bigint[] := p_under_way;
    v_databases integer[];                          -- that send, and their service_broker_guid
    v_instances text[];
    v_priority smallint;
    v_from_endpoint bigint;
    v_from_id bigint;
    v_until bigint;
    v_quota integer;
    v_part record;
    v_short bigint := least(p_bytes / greatest(p_messages, 1) - 200, p_fragment);      -- bodies no longer than this all fit
    v_is_measured boolean;
    v_is_flat boolean;                              -- the dialogs have a message each, and never had many: read as they stand
    v_fitting bigint[];
    v_is_cut boolean;
    v_new bigint[];
    v_sealed bigint[];
    v_is_encrypted boolean;                         -- one of the dialogs wants to be
    v_found bigint[];                               -- both
    v_marked bigint[];                              -- of those the ones that may leave
    v_count integer;
    v_is_full boolean;
    v_written pg_lsn;                               -- what has to be on the disk before the set leaves; NULL: all that has been written
BEGIN
    IF p_endpoints IS NOT NULL THEN
        PERFORM ssb_internal.settle_taken(p_endpoints, p_next_numbers, p_instances, p_key_ids);
    END IF;
    -- (One statement for both: of a message on a quiet dialog, functions for them would be a tenth.)
    SELECT EXISTS (SELECT FROM ssb.broker_endpoint AS b WHERE b.state = 'STARTED') AS is_started,
           EXISTS (SELECT FROM ssb.remote_conversation AS r
                    WHERE r.peer_id = p_peer_id AND r.retry_at <= (SELECT clock_timestamp()) ORDER BY r.retry_at OFFSET 0) AS has_due
      INTO v_part;
    IF NOT v_part.is_started THEN
        PERFORM ssb_internal.note_transport_failure(p_peer_id, v_stopped);
        RETURN;
    ELSIF v_part.has_due THEN
        -- Half a set: behind a set full of tries, and the next, a new dialog's message would wait until all that is parked was tried.
        PERFORM ssb_internal.try_parked(p_peer_id, greatest(p_messages / 2, 1));
    END IF;
    -- Once more where dialogs are found to be left out.
    <<tries>>
    LOOP
        -- One message alone, of a dialog in the clear that has sent before, as on a quiet one: it is the set. (What was written by the time
        -- of this statement's snapshot has the commits of all that it sees. Reading tidies pages up, which is written too.)
        SELECT t.transmission_id, t.endpoint_id, t.number, t.message_type_name, t.body, t.length, x.dialog, l.written INTO v_part
          FROM (SELECT pg_current_wal_insert_lsn() AS written OFFSET 0) AS l
         CROSS JOIN LATERAL
               (SELECT t.transmission_id, t.endpoint_id, t.message_sequence_number AS number, t.message_type_name, t.body,
                       coalesce(length(t.body), 0) AS length, t.priority
                  FROM ssb.transmission AS t
                 WHERE t.peer_id = p_peer_id AND t.is_last_of_run AND NOT t.is_end_of_dialog AND NOT t.is_conversation_error AND t.trace IS NULL
                   AND l.written IS NOT NULL
                 ORDER BY t.priority DESC LIMIT 1) AS t
         CROSS JOIN LATERAL (SELECT ssb_internal.dialog_descriptor(e, r, d.service_broker_guid::text) AS dialog, r.acknowledged
                               FROM ssb.remote_conversation AS r
                               JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = r.endpoint_id
                               JOIN ssb.database AS d ON d.database_id = e.database_id
                              WHERE r.endpoint_id = t.endpoint_id AND r.retry_at IS NULL AND r.peer_id = p_peer_id
                                AND r.is_under_way AND r.security = 'N' AND d.is_broker_enabled OFFSET 0) AS x
         WHERE t.length <= v_short AND t.endpoint_id <> ALL (v_left_out)
           -- Nothing of the same dialog (what has left of it is stepped over), of a later one, of a lower priority.
           AND NOT EXISTS (SELECT FROM ssb.transmission AS o
                            WHERE o.endpoint_id = t.endpoint_id AND o.message_sequence_number >= x.acknowledged - 1
                              AND o.transmission_id <> t.transmission_id ORDER BY o.message_sequence_number OFFSET 0)
           AND NOT EXISTS (SELECT FROM ssb.transmission AS o
                            WHERE o.peer_id = p_peer_id AND o.is_last_of_run AND o.priority = t.priority AND o.endpoint_id + 0 > t.endpoint_id
                            ORDER BY o.endpoint_id + 0, o.transmission_id + 0 DESC OFFSET 0)
           AND NOT EXISTS (SELECT FROM ssb.transmission AS o
                            WHERE o.peer_id = p_peer_id AND o.is_last_of_run AND o.priority < t.priority ORDER BY o.priority DESC OFFSET 0);
        IF FOUND THEN
            dialogs := v_part.dialog;
            places := ARRAY[0];
            numbers := ARRAY[v_part.number];
            message_types := ARRAY[v_part.message_type_name];
            kinds := ARRAY['message'];
            bodies := ARRAY[v_part.body];
            ids := ARRAY[v_part.transmission_id];
            endpoints := ARRAY[v_part.endpoint_id];
            bytes := v_part.length + 200;
            v_written := v_part.written;
            EXIT;
        END IF;
        -- (Looked up once: a join is a look for each dialog.)
        SELECT coalesce(array_agg(d.database_id), '{}'), array_agg(d.service_broker_guid::text) INTO v_databases, v_instances
          FROM ssb.database AS d WHERE d.is_broker_enabled;
        dialogs := '';
        places := '{}';
        endpoints := '{}';
        bytes := 0;
        sides := NULL;
        conversation_ids := NULL;
        keys := NULL;
        contracts := NULL;
        lifetimes := NULL;
        traced := NULL;
        v_new := '{}';
        v_sealed := '{}';
        v_is_encrypted := false;
        v_count := 0;
        v_priority := (SELECT t.priority FROM ssb.transmission AS t WHERE t.peer_id = p_peer_id AND t.is_last_of_run ORDER BY t.priority DESC LIMIT 1);
        v_is_full := false;
        WHILE v_priority IS NOT NULL AND NOT v_is_full LOOP
            v_from_endpoint := CASE WHEN v_priority = p_after_priority THEN coalesce(p_after_endpoint, 0) ELSE 0 END;
            v_from_id := CASE WHEN v_priority = p_after_priority THEN coalesce(p_after_id, 0) ELSE 0 END;
            IF v_from_id = 9223372036854775807 THEN
                v_from_endpoint := v_from_endpoint + 1;          -- nothing of that dialog is looked at
                v_from_id := 0;
            END IF;
            v_until := NULL;
            LOOP
                SELECT p_messages / greatest(count(*), 1), coalesce(max(w.length) > v_short, false),
                       count(*) = 8 AND max(w.number) < 200
                       AND NOT bool_or(EXISTS (SELECT FROM ssb.transmission AS t
                                                             WHERE t.endpoint_id = w.endpoint_id
                                                               AND t.message_sequence_number >= (SELECT r.acknowledged - 1
                                                                                                   FROM ssb.remote_conversation AS r
                                                                                                  WHERE r.endpoint_id = w.endpoint_id)
                                                             ORDER BY t.message_sequence_number OFFSET 1))
                  INTO v_quota, v_is_measured, v_is_flat
                  FROM (WITH RECURSIVE walk AS (
                            (SELECT t.endpoint_id, t.message_sequence_number AS number, length(t.body) AS length, 1 AS n
                               FROM ssb.transmission AS t
                              WHERE t.peer_id = p_peer_id AND t.is_last_of_run AND t.priority = v_priority
                                AND t.endpoint_id + 0 >= v_from_endpoint AND (t.endpoint_id <> v_from_endpoint OR t.transmission_id > v_from_id)
                              ORDER BY t.endpoint_id + 0, t.transmission_id + 0 DESC LIMIT 1)
                            UNION ALL
                            SELECT x.endpoint_id, x.number, x.length, w.n + 1
                              FROM walk AS w
                             CROSS JOIN LATERAL (SELECT t.endpoint_id, t.message_sequence_number AS number, length(t.body) AS length
                                                   FROM ssb.transmission AS t
                                                  WHERE t.peer_id = p_peer_id AND t.is_last_of_run AND t.priority = v_priority AND t.endpoint_id + 0 > w.endpoint_id
                                                    AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)
                                                  ORDER BY t.endpoint_id + 0, t.transmission_id + 0 DESC LIMIT 1) AS x
                             WHERE w.n < 8)
                        SELECT w.endpoint_id, w.number, w.length FROM walk AS w) AS w;
                v_is_cut := false;
                v_is_flat := v_is_flat AND NOT v_is_measured;
                -- Bodies that are short fit together, whatever they are. Where one is not, their lengths are read first.
                LOOP
                    IF v_is_measured THEN
                        SELECT array_agg(m.transmission_id), bool_or(bytes + m.so_far + m.next_length > p_bytes) OR bool_or(m.is_large)
                          INTO v_fitting, v_is_cut
                          FROM (SELECT l.transmission_id, l.is_large, sum(l.length) OVER w AS so_far, row_number() OVER w AS n,
                                       sum(l.is_large::integer) OVER w AS large_so_far, lead(l.length) OVER () AS next_length
                                  FROM (WITH RECURSIVE walk AS (
                                            (SELECT t.endpoint_id
                                               FROM ssb.transmission AS t
                                              WHERE t.peer_id = p_peer_id AND t.is_last_of_run AND t.priority = v_priority
                                                AND t.endpoint_id + 0 >= v_from_endpoint
                                                AND (t.endpoint_id <> v_from_endpoint OR t.transmission_id > v_from_id)
                                                AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)
                                              ORDER BY t.endpoint_id + 0, t.transmission_id + 0 DESC LIMIT 1)
                                            UNION ALL
                                            SELECT x.endpoint_id
                                              FROM walk AS w
                                             CROSS JOIN LATERAL (SELECT t.endpoint_id FROM ssb.transmission AS t
                                                                  WHERE t.peer_id = p_peer_id AND t.is_last_of_run AND t.priority = v_priority
                                                                    AND t.endpoint_id + 0 > w.endpoint_id
                                                                    AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)
                                                                  ORDER BY t.endpoint_id + 0, t.transmission_id + 0 DESC LIMIT 1) AS x)
                                        SELECT t.transmission_id, least(coalesce(length(t.body), 0), p_fragment) + 200 AS length,
                                               (length(t.body) > p_fragment) IS TRUE AS is_large
                                          FROM walk AS w
                                         CROSS JOIN LATERAL (SELECT r.acknowledged FROM ssb.remote_conversation AS r
                                                               JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = r.endpoint_id
                                                               JOIN ssb.database AS d ON d.database_id = e.database_id
                                                              WHERE r.endpoint_id = w.endpoint_id AND r.retry_at IS NULL
                                                                AND r.peer_id = p_peer_id AND d.is_broker_enabled
                                                                AND w.endpoint_id NOT IN (SELECT unnest(v_left_out)) OFFSET 0) AS x
                                         CROSS JOIN LATERAL (SELECT t.transmission_id, t.body FROM ssb.transmission AS t
                                                              WHERE t.endpoint_id = w.endpoint_id AND t.message_sequence_number >= x.acknowledged - 1
                                                                AND t.peer_id = p_peer_id AND t.priority = v_priority
                                                                AND (w.endpoint_id <> v_from_endpoint OR t.transmission_id > v_from_id)
                                                              ORDER BY t.message_sequence_number LIMIT v_quota) AS t
                                         LIMIT p_messages - v_count) AS l
                                WINDOW w AS (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS m
                         WHERE (bytes + m.so_far <= p_bytes OR (v_count = 0 AND m.n = 1)) AND m.large_so_far - m.is_large::integer = 0;
                    END IF;
                    -- A dialog's place is its turn in the walk, where none is left out.
                    SELECT string_agg(m.dialog, ',') FILTER (WHERE m.is_first) AS dialogs,
                           array_agg(cardinality(endpoints) + m.turn - 1) AS places, array_agg(m.number) AS numbers,
                           array_agg(m.message_type_name) AS message_types,
                           array_agg(CASE WHEN m.is_large
                                          THEN format('fragment %s %s %s', m.sent_bytes, length(m.body), extract(epoch FROM m.enqueued_at))
                                          WHEN m.is_end_of_dialog THEN 'end' WHEN m.is_conversation_error THEN 'error' ELSE 'message' END) AS kinds,
                           array_agg(CASE WHEN NOT v_is_measured AND length(m.body) > v_short THEN NULL
                                          WHEN m.is_large THEN substring(m.body FROM m.sent_bytes::integer + 1 FOR p_fragment::integer)
                                          ELSE m.body END) AS bodies,
                           array_agg(m.transmission_id) AS ids,
                           array_agg(m.endpoint_id) FILTER (WHERE m.is_first) AS endpoints,
                           array_agg(m.endpoint_id) FILTER (WHERE m.is_first AND (m.security IS NULL OR NOT m.is_under_way)) AS new,
                           array_agg(m.endpoint_id) FILTER (WHERE m.is_first AND m.security <> 'N') AS sealed,
                           sum(least(coalesce(length(m.body), 0), p_fragment) + 200) AS bytes, count(*)::integer AS messages,
                           max(length(m.body)) AS longest, bool_or(m.is_large) AS has_large, max(m.turn) AS turns, bool_or(m.trace IS NOT NULL) AS has_traces,
                           bool_or(m.is_encrypted) AS is_encrypted, max(m.n) AS most
                      INTO v_part
                      FROM (WITH RECURSIVE walk AS (
                                (SELECT t.endpoint_id, 1 AS turn
                                   FROM ssb.transmission AS t
                                  WHERE t.peer_id = p_peer_id AND t.is_last_of_run AND t.priority = v_priority
                                    AND t.endpoint_id + 0 >= v_from_endpoint
                                    AND (t.endpoint_id <> v_from_endpoint OR t.transmission_id > v_from_id)
                                    AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)
                                  ORDER BY t.endpoint_id + 0, t.transmission_id + 0 DESC LIMIT 1)
                                UNION ALL
                                SELECT x.endpoint_id, w.turn + 1
                                  FROM walk AS w
                                 CROSS JOIN LATERAL (SELECT t.endpoint_id FROM ssb.transmission AS t
                                                      WHERE t.peer_id = p_peer_id AND t.is_last_of_run AND t.priority = v_priority
                                                        AND t.endpoint_id + 0 > w.endpoint_id
                                                        AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)
                                                      ORDER BY t.endpoint_id + 0, t.transmission_id + 0 DESC LIMIT 1) AS x)
                            SELECT w.turn, w.endpoint_id, t.transmission_id, t.transmission_id = f.first_id AS is_first,
                                   t.message_sequence_number AS number, t.message_type_name,
                                   t.is_end_of_dialog, t.is_conversation_error, t.body, (length(t.body) > p_fragment) IS TRUE AS is_large,
                                   t.trace, t.enqueued_at, CASE WHEN t.message_sequence_number = x.acknowledged THEN x.sent_bytes ELSE 0 END AS sent_bytes,
                                   x.is_under_way, x.security, x.is_encrypted, x.dialog, 1::bigint AS n
                              FROM walk AS w
                             CROSS JOIN LATERAL (SELECT r.is_under_way, r.security, r.acknowledged, r.sent_bytes, e.is_encrypted,
                                                        CASE WHEN r.security <> 'N' OR (e.is_encrypted AND e.is_initiator)
                                                             THEN ssb_internal.sealed_descriptor(e)
                                                             ELSE ssb_internal.dialog_descriptor(e, r,
                                                                      v_instances[array_position(v_databases, e.database_id)]) END AS dialog
                                                   FROM ssb.remote_conversation AS r
                                                   JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = r.endpoint_id
                                                  WHERE r.endpoint_id = w.endpoint_id AND r.retry_at IS NULL
                                                    AND r.peer_id = p_peer_id AND e.database_id = ANY (v_databases)
                                                    AND w.endpoint_id NOT IN (SELECT unnest(v_left_out)) OFFSET 0) AS x
                             CROSS JOIN LATERAL (SELECT t.message_sequence_number AS first_number, t.transmission_id AS first_id
                                                   FROM ssb.transmission AS t
                                                  WHERE t.endpoint_id = w.endpoint_id AND t.message_sequence_number >= x.acknowledged - 1
                                                    AND t.peer_id = p_peer_id AND t.priority = v_priority
                                                    AND (w.endpoint_id <> v_from_endpoint OR t.transmission_id > v_from_id)
                                                  ORDER BY t.message_sequence_number LIMIT 1) AS f
                             CROSS JOIN LATERAL (SELECT t.* FROM ssb.transmission AS t
                                                  WHERE t.endpoint_id = w.endpoint_id AND t.message_sequence_number >= f.first_number
                                                    AND t.peer_id = p_peer_id AND t.priority = v_priority
                                                  ORDER BY t.message_sequence_number LIMIT v_quota) AS t
                             WHERE NOT v_is_flat
                            UNION ALL
                            -- (Of messages that were sent as one the last alone stands there: its number is not the next one. Then, and where
                            -- a dialog has several, they are read once more, as above.)
                            SELECT t.position::integer, t.endpoint_id, t.transmission_id, true, t.message_sequence_number,
                                   t.message_type_name, t.is_end_of_dialog, t.is_conversation_error, t.body, false, t.trace, t.enqueued_at, 0,
                                   x.is_under_way, x.security, x.is_encrypted, x.dialog,
                                   CASE WHEN t.message_sequence_number > x.acknowledged THEN 2::bigint ELSE t.n END
                              FROM (SELECT t.*, CASE WHEN lead(t.endpoint_id) OVER w = t.endpoint_id THEN 2::bigint ELSE 1 END AS n,
                                           row_number() OVER w AS position
                                      FROM ssb.transmission AS t
                                     WHERE t.peer_id = p_peer_id AND t.is_last_of_run AND t.priority = v_priority
                                       AND t.endpoint_id + 0 >= v_from_endpoint
                                       AND (t.endpoint_id <> v_from_endpoint OR t.transmission_id > v_from_id)
                                       AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)
                                    WINDOW w AS (ORDER BY t.endpoint_id + 0, t.transmission_id + 0 DESC)) AS t
                             CROSS JOIN LATERAL (SELECT r.is_under_way, r.security, r.acknowledged, e.is_encrypted,
                                                        CASE WHEN r.security <> 'N' OR (e.is_encrypted AND e.is_initiator)
                                                             THEN ssb_internal.sealed_descriptor(e)
                                                             ELSE ssb_internal.dialog_descriptor(e, r,
                                                                      v_instances[array_position(v_databases, e.database_id)]) END AS dialog
                                                   FROM ssb.remote_conversation AS r
                                                   JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = r.endpoint_id
                                                  WHERE r.endpoint_id = t.endpoint_id AND r.retry_at IS NULL
                                                    AND r.peer_id = p_peer_id AND e.database_id = ANY (v_databases)
                                                    AND t.endpoint_id NOT IN (SELECT unnest(v_left_out)) OFFSET 0) AS x
                             WHERE v_is_flat
                             LIMIT CASE WHEN v_is_measured THEN coalesce(cardinality(v_fitting), 0) ELSE p_messages - v_count END) AS m;
                    -- (What was sent after they were read is not measured yet.)
                    EXIT WHEN CASE WHEN v_is_measured THEN v_part.ids IS NOT DISTINCT FROM v_fitting
                                   ELSE coalesce(v_part.longest, 0) <= v_short AND coalesce(v_part.most, 0) <= 1 END;
                    v_is_measured := coalesce(v_part.longest, 0) > v_short OR v_is_measured;
                    v_is_flat := false;
                END LOOP;
                IF v_part.messages > 0 THEN
                    IF v_part.turns > cardinality(v_part.endpoints) THEN
                        v_part.places := ARRAY(SELECT (cardinality(endpoints) + dense_rank() OVER (ORDER BY u.place) - 1)::integer
                                                 FROM unnest(v_part.places) WITH ORDINALITY AS u (place, n) ORDER BY u.n);
                    END IF;
                    IF v_part.has_traces THEN
                        traced := coalesce(traced, '[]') || (
                            SELECT jsonb_agg(jsonb_build_object('at', v_count + u.n - 1, 'trace', t.trace, 'sent', extract(epoch FROM t.enqueued_at))
                                             ORDER BY u.n)
                              FROM unnest(v_part.places, v_part.numbers, v_part.ids) WITH ORDINALITY AS u (place, number, transmission_id, n)
                              JOIN ssb.transmission AS t
                                ON t.endpoint_id = v_part.endpoints[u.place - cardinality(endpoints) + 1]
                               AND t.message_sequence_number = u.number AND t.transmission_id = u.transmission_id AND t.trace IS NOT NULL);
                    END IF;
                    IF v_count = 0 THEN
                        dialogs := v_part.dialogs;
                        places := v_part.places;
                        numbers := v_part.numbers;
                        message_types := v_part.message_types;
                        kinds := v_part.kinds;
                        bodies := v_part.bodies;
                        ids := v_part.ids;
                        endpoints := v_part.endpoints;
                    ELSE
                        dialogs := dialogs || ',' || v_part.dialogs;
                        places := places || v_part.places;
                        numbers := numbers || v_part.numbers;
                        message_types := message_types || v_part.message_types;
                        kinds := kinds || v_part.kinds;
                        bodies := bodies || v_part.bodies;
                        ids := ids || v_part.ids;
                        endpoints := endpoints || v_part.endpoints;
                    END IF;
                    v_new := v_new || coalesce(v_part.new, '{}');
                    v_sealed := v_sealed || coalesce(v_part.sealed, '{}');
                    v_is_encrypted := v_is_encrypted OR v_part.is_encrypted;
                    v_count := v_count + v_part.messages;
                    bytes := bytes + v_part.bytes;
                    after_priority := v_priority;
                    after_endpoint := v_part.endpoints[cardinality(v_part.endpoints)];
                    -- Behind a fragment the dialog has its next turn when that has arrived.
                    after_id := CASE WHEN v_part.has_large THEN 9223372036854775807 ELSE v_part.ids[cardinality(v_part.ids)] END;
                END IF;
                v_is_full := v_count >= p_messages OR coalesce(v_is_cut, false);
                -- From the first dialog up to where this began.
                EXIT WHEN v_is_full OR v_until IS NOT NULL OR v_from_endpoint = 0;
                v_until := v_from_endpoint - CASE WHEN v_from_endpoint = ANY (endpoints) THEN 1 ELSE 0 END;
                v_from_endpoint := 0;
                v_from_id := 0;
            END LOOP;
            v_priority := (SELECT t.priority FROM ssb.transmission AS t
                            WHERE t.peer_id = p_peer_id AND t.is_last_of_run AND t.priority < v_priority ORDER BY t.priority DESC LIMIT 1);
        END LOOP;
        IF v_count = 0 THEN
            IF EXISTS (SELECT FROM ssb.transmission AS t WHERE t.peer_id = p_peer_id AND t.is_last_of_run ORDER BY t.priority DESC OFFSET 0) THEN
                PERFORM ssb_internal.park_stragglers(ARRAY(SELECT r.endpoint_id FROM ssb.remote_conversation AS r
                                                            WHERE r.peer_id = p_peer_id AND r.retry_at IS NOT NULL));
            END IF;
            -- Nothing leaves: what was settled need not be on the disk. Where a crash takes it back, those messages are sent again, and the
            -- other instance knows by their numbers that it has them.
            PERFORM set_config('synchronous_commit', 'off', true);
            RETURN;
        END IF;
        IF NOT v_is_full THEN
            after_endpoint := NULL;                 -- there is no more: the next set begins at the front
        END IF;
        EXIT WHEN cardinality(v_new) = 0 AND cardinality(v_sealed) = 0;
        -- Which security each dialog has: those that lack what theirs needs are put off. Those that a change of routes is just taking
        -- back, or whose row somebody holds, are left out. (In the set's order: what is of one pair is then sealed as it stands. Of two
        -- priorities, or not known to be under way, a dialog may be named twice.)
        v_found := v_new || v_sealed;
        IF cardinality(v_found) <> (SELECT count(DISTINCT f) FROM unnest(v_found) AS f) THEN
            v_found := ARRAY(SELECT DISTINCT f FROM unnest(v_found) AS f);
        END IF;
        IF cardinality(v_sealed) = 0 AND NOT v_is_encrypted AND ssb_internal.needs_no_security() THEN
            SELECT array_agg(r.endpoint_id) INTO v_marked
              FROM (SELECT r.endpoint_id FROM ssb.remote_conversation AS r
                     WHERE r.endpoint_id = ANY (v_found) AND r.peer_id = p_peer_id AND r.retry_at IS NULL
                       FOR NO KEY UPDATE SKIP LOCKED) AS r;
            UPDATE ssb.remote_conversation AS r SET security = 'N', is_under_way = true WHERE r.endpoint_id = ANY (v_marked);
        ELSE
            v_marked := '{}';
            FOR v_part IN SELECT s.* FROM ssb_internal.secure_dialogs(v_found, p_peer_id) AS s LOOP
                v_marked := v_marked || v_part.endpoints;
                IF v_part.security <> 'N' THEN
                    sides := coalesce(sides, '[]') || jsonb_build_array(jsonb_build_object(
                        'endpoints', CASE WHEN v_part.endpoints <> endpoints THEN v_part.endpoints END, 'database_id', v_part.database_id, 'security', v_part.security,
                        'near', v_part.near, 'far', v_part.far, 'key_id', v_part.key_id, 'is_initiator', v_part.is_initiator,
                        'to_service', v_part.to_service, 'to_instance', v_part.to_instance, 'from_service', v_part.from_service,
                        'from_instance', v_part.from_instance));
                    conversation_ids := conversation_ids || v_part.conversation_ids;
                    keys := keys || v_part.keys;
                    contracts := contracts || v_part.contracts;
                    lifetimes := lifetimes || v_part.lifetimes;
                END IF;
            END LOOP;
        END IF;
        EXIT WHEN cardinality(v_marked) = cardinality(v_found);
        sides := NULL;
        v_left_out := v_left_out || ARRAY(SELECT f FROM unnest(v_found) AS f WHERE f <> ALL (coalesce(v_marked, '{}')));
    END LOOP;
    -- Once more: what was sent after the endpoint stopped may have been read by a call that began before. (Dialogs that were marked
    -- stay so, like those of a set that does not arrive.)
    IF NOT ssb_internal.has_started_endpoint() THEN
        PERFORM ssb_internal.note_transport_failure(p_peer_id, v_stopped);
        RETURN;
    END IF;
    -- The first one says which set it is, for all of them.
    dialogs := concat('[{"set":', coalesce(to_json(p_set)::text, 'null'), ',', substr(dialogs, 2), ']');
    -- Where all that has been written is on the disk already, there is nothing to wait for.
    IF current_setting('synchronous_standby_names') <> '' OR coalesce(v_written, pg_current_wal_insert_lsn()) > pg_current_wal_flush_lsn() THEN
        PERFORM pg_logical_emit_message(true, 'pgsb', '');
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    RETURN NEXT;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.next_set(integer, uuid, integer, bigint, bigint, bigint[], integer, bigint, bigint, bigint[], bigint[],
                                                 bigint[], text[], uuid[]) FROM PUBLIC;

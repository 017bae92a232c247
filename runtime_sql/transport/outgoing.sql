-- The transport: messages on their way to other instances. The daemon reads them here set by set, hands each to
-- ssb_internal.take_from_peer of the other instance, and settles here what that answered. Every step may be done
-- twice: the far side knows by its number what has come already.
--
-- A message that may leave has a peer, and its place in the index transmission_by_peer: by priority, then by dialog. A set is read
-- from there dialog by dialog, each in order, from behind the dialog that the set before ended with: so what a set
-- costs does not depend on how much waits, and no dialog's backlog delays another dialog. A dialog whose messages are not taken
-- is parked: it has a time for its next try (retry_at), and all its messages but those that will be tried then lose their peer.
--
-- For the runtime's owner only, as the daemon's other functions.
-- Called by  the daemon

-- Without an endpoint that is started an instance neither takes messages from others nor sends them any.
CREATE OR REPLACE FUNCTION ssb_internal.has_started_endpoint()
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM ssb.broker_endpoint AS b WHERE b.state = 'STARTED');
END;
$$;

-- Most instances have no dialogs with others, and their daemons need not look.
CREATE OR REPLACE FUNCTION ssb_internal.has_transport()
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM ssb.route AS r
                    WHERE upper(r.address) <> 'LOCAL' OR r.service_name = 'SQL/ServiceBroker/BrokerConfiguration')
        OR EXISTS (SELECT FROM ssb.remote_conversation)
        OR (ssb_internal.has_started_endpoint() AND EXISTS (SELECT FROM ssb.master_key));   -- others may seal messages for this instance
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.has_transport() FROM PUBLIC;

-- Dialogs whose route has changed while somebody held their group, or has expired, are looked at again; also dialogs that are
-- no others' yet. Returned is what has to be given back at the next look, which does nothing where all is as it was then.
-- Locks  their groups, where nobody holds them
CREATE OR REPLACE FUNCTION ssb_internal.follow_routes(p_known text)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_endpoint_id bigint;
    v_has_missed boolean := false;
    v_expired text := ' ' || (SELECT count(*) FROM ssb.route AS r WHERE r.expires_at <= clock_timestamp());
    v_state text;
BEGIN
    PERFORM ssb_internal.request_routes();
    IF coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0) || v_expired = p_known THEN
        RETURN p_known;
    END IF;
    v_state := ssb_internal.epoch_of_routes(NULL) || v_expired;       -- NULL: somebody is changing definitions just now
    FOR v_endpoint_id IN
        WITH waiting AS MATERIALIZED (
            SELECT e.endpoint_id, e.database_id, e.far_service, r.address, r.mirror_address,
                   coalesce(r.is_under_way, false) AS is_under_way,
                   coalesce(e.far_broker_instance, r.far_instance) AS instance
              FROM (SELECT DISTINCT t.endpoint_id FROM ssb.transmission AS t) AS t
              JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = t.endpoint_id AND e.far_endpoint_id IS NULL
              LEFT JOIN ssb.remote_conversation AS r ON r.endpoint_id = t.endpoint_id
        ), astray AS MATERIALIZED (
            SELECT w.*
              FROM (SELECT DISTINCT w.database_id, w.far_service, w.instance, w.address, w.mirror_address, w.is_under_way
                      FROM waiting AS w) AS w
             CROSS JOIN LATERAL ssb_internal.find_route(w.database_id, w.far_service, w.instance, w.address, w.is_under_way) AS f
             WHERE (nullif(upper(f.address), 'LOCAL'), f.mirror_address) IS DISTINCT FROM (upper(w.address), w.mirror_address)
        )
        SELECT w.endpoint_id
          FROM waiting AS w
          JOIN astray AS a ON a.database_id = w.database_id AND a.far_service = w.far_service AND a.is_under_way = w.is_under_way
           AND (a.instance, a.address, a.mirror_address) IS NOT DISTINCT FROM (w.instance, w.address, w.mirror_address)
         ORDER BY w.endpoint_id
    LOOP
        IF ssb_internal.try_lock_endpoint(v_endpoint_id) THEN
            PERFORM ssb_internal.deliver_waiting(v_endpoint_id);
        ELSE
            v_has_missed := true;
        END IF;
    END LOOP;
    RETURN CASE WHEN NOT v_has_missed THEN v_state END;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.follow_routes(text) FROM PUBLIC;

-- The instances for which something is there that could leave now. p_told: those that look for their messages themselves, as
-- they have just been told to: of rows that are not committed yet, or are dead, one look reads all, and one is enough.
-- (The time as a subquery: a volatile function is no condition of an index, and every parked dialog would be read.)
CREATE OR REPLACE FUNCTION ssb_internal.transport_peers(p_told integer[])
RETURNS TABLE (peer_id integer, address text, mirror_address text, has_forwarded boolean)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT p.peer_id, p.address, p.mirror_address, f.is_there
      FROM ssb.transport_peer AS p
     CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM ssb.forwarded_set AS f
                                         WHERE f.address = p.address
                                           AND f.mirror_address IS NOT DISTINCT FROM p.mirror_address) AS is_there) AS f
     WHERE f.is_there
        OR (p.peer_id <> ALL (p_told) AND EXISTS (SELECT FROM ssb.transmission AS t WHERE t.peer_id = p.peer_id))
        OR EXISTS (SELECT FROM ssb.remote_conversation AS r WHERE r.peer_id = p.peer_id AND r.retry_at <= (SELECT clock_timestamp()));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.transport_peers(integer[]) FROM PUBLIC;

-- Of dialogs that are parked and due, the first messages get their peer back: they are tried, no more than go through every instance
-- that forwards (MESSAGE_FORWARD_SIZE). Where those are taken, the rest
-- follows (ssb_internal.settle_taken). A message that was sent meanwhile may have its peer already: then they all get it, for
-- a dialog's messages leave in order.
CREATE OR REPLACE FUNCTION ssb_internal.try_parked(p_peer_id integer, p_messages integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_sort = off                               -- see ssb_internal.number_behind_waiting
SET jit = off
AS $$
DECLARE
    v_due bigint[];
BEGIN
    SELECT array_agg(r.endpoint_id) INTO v_due
      FROM (SELECT r.endpoint_id FROM ssb.remote_conversation AS r
             WHERE r.peer_id = p_peer_id AND r.retry_at <= (SELECT clock_timestamp())
             ORDER BY r.retry_at LIMIT p_messages FOR NO KEY UPDATE SKIP LOCKED) AS r;
    IF v_due IS NOT NULL THEN
        PERFORM ssb_internal.park_stragglers(v_due);
        UPDATE ssb.remote_conversation AS r SET retry_at = NULL WHERE r.endpoint_id = ANY (v_due);
        UPDATE ssb.transmission AS t SET peer_id = p_peer_id
         WHERE t.transmission_id IN (SELECT f.transmission_id
                                       FROM unnest(v_due) AS d (endpoint_id)
                                      CROSS JOIN LATERAL (SELECT f.transmission_id, row_number() OVER w AS n,
                                                                 sum(length(f.body) + 200) OVER w AS so_far
                                                            FROM (SELECT f.* FROM ssb.transmission AS f
                                                                   WHERE f.endpoint_id BETWEEN d.endpoint_id AND d.endpoint_id
                                                                   ORDER BY f.endpoint_id, f.transmission_id LIMIT 16) AS f
                                                          WINDOW w AS (ORDER BY f.endpoint_id, f.transmission_id)) AS f
                                      WHERE f.n = 1 OR f.so_far <= 491520);
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.try_parked(integer, integer) FROM PUBLIC;

-- Messages that were sent while their dialog was parked: SEND does not ask.
CREATE OR REPLACE FUNCTION ssb_internal.park_stragglers(p_endpoints bigint[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    UPDATE ssb.transmission AS t SET peer_id = NULL WHERE t.endpoint_id = ANY (p_endpoints) AND t.peer_id IS NOT NULL;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.park_stragglers(bigint[]) FROM PUBLIC;

-- Messages of these dialogs wait for a while, longer each time, and their status says why.
CREATE OR REPLACE FUNCTION ssb_internal.put_off(p_endpoints bigint[], p_status text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    UPDATE ssb.remote_conversation AS r
       SET failures = least(r.failures, 20) + 1,
           retry_at = clock_timestamp() + least(30, 0.1 * 2 ^ least(r.failures, 20)) * interval '1 second'
     WHERE r.endpoint_id = ANY (p_endpoints);
    UPDATE ssb.transmission AS t SET transmission_status = p_status, peer_id = NULL
     WHERE t.endpoint_id = ANY (p_endpoints) AND (t.transmission_status <> p_status OR t.peer_id IS NOT NULL);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.put_off(bigint[], text) FROM PUBLIC;

-- What the other instance needs to know of a dialog, as JSON (no jsonb: making one here, of which the other instance reads the text, takes
-- twice as long). p_rest: what is the same for all dialogs of the set, from the comma on. It is put into the statements that call it.
CREATE OR REPLACE FUNCTION ssb_internal.dialog_descriptor(p_endpoint ssb.conversation_endpoint, p_remote ssb.remote_conversation,
                                                          p_database ssb.database, p_rest text)
RETURNS text
LANGUAGE sql VOLATILE
RETURN concat('{"conversation_id":"', (p_endpoint).conversation_id, '","is_initiator":', (p_endpoint).is_initiator::text,
              ',"key":"', (p_remote).session_key, '","to_service":', to_json((p_endpoint).far_service),
              ',"to_instance":', coalesce(to_json(coalesce((p_endpoint).far_broker_instance, (p_remote).far_instance))::text, 'null'),
              ',"from_service":', to_json((p_endpoint).service_name), ',"from_instance":"', (p_database).service_broker_guid,
              '","contract":', to_json((p_endpoint).contract_name), ',"lifetime":',
              coalesce(date_part('epoch', (p_endpoint).lifetime - clock_timestamp())::text, 'null'),
              ',"is_encrypted":', (p_endpoint).is_encrypted::text, p_rest);
REVOKE EXECUTE ON FUNCTION ssb_internal.dialog_descriptor(ssb.conversation_endpoint, ssb.remote_conversation, ssb.database, text) FROM PUBLIC;

-- The next messages for a peer as arrays, and about each of their dialogs what the other instance needs to know. What this
-- returns may arrive: dialogs are marked, and a message that its sender committed without waiting for the disk
-- is there from now on, whatever happens to this server. So the call is a transaction of its own.
--
-- The highest priority goes first; in each the dialogs take turns, from behind (p_after_endpoint, p_after_id), which is where the set
-- before ended; NULL: from the first one. A set is p_messages and p_bytes at most, or one message. Of a body larger than p_fragment the
-- next fragment is the last thing in a set (transport/fragments.sql); NULL: the other instance does not know of them. It divides into eight
-- dialogs where so many have something. p_under_way: dialogs whose last set has not been answered yet.
--
-- What it settles before: p_ids, of messages that were all taken, and of their dialogs p_endpoints, p_next_numbers, p_instances and
-- p_key_ids of those that were sealed; NULL: nothing.
--
-- Plans are made while the queue is empty and serve when it is full, so all but transmission_by_peer's order is off: where there is next to
-- nothing, reading another index and sorting costs the same.
--
-- sides: NULL where all dialogs are in the clear, else what the daemon needs to seal them, by endpoint. traced: NULL, or for
-- each message with a trace its place in the set, from 0, and when it was sent. No row: nothing is there.
CREATE OR REPLACE FUNCTION ssb_internal.next_set(p_peer_id integer, p_set uuid, p_messages integer, p_bytes bigint, p_fragment bigint,
    p_under_way bigint[], p_after_priority integer, p_after_endpoint bigint, p_after_id bigint,
    p_ids bigint[], p_endpoints bigint[], p_next_numbers bigint[], p_instances text[], p_key_ids uuid[])
RETURNS TABLE (dialogs text, places integer[], numbers bigint[], message_types text[], kinds text[], bodies bytea[],
               ids bigint[], endpoints bigint[], sides jsonb, traced jsonb, bytes bigint, after_priority integer, after_endpoint bigint,
               after_id bigint)
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
    v_left_out bigint[] := p_under_way;
    v_priority smallint;
    v_from_endpoint bigint;
    v_from_id bigint;
    v_until bigint;
    v_quota integer;
    v_part record;
    v_rest text := concat(',"hops_remaining":16,"time_to_live":60,"time_consumed":0,"traces":{},"set":', coalesce(to_json(p_set)::text, 'null'), '}');
    v_short bigint := least(p_bytes / greatest(p_messages, 1) - 200, p_fragment);      -- bodies no longer than this all fit
    v_is_measured boolean;
    v_is_flat boolean;                              -- the dialogs have hardly more than a message each: read as they stand, not one after the other
    v_fitting bigint[];
    v_is_cut boolean;
    v_new bigint[];
    v_sealed bigint[];
    v_is_encrypted boolean;                         -- one of the dialogs wants to be
    v_marked bigint[];                              -- of those the ones that may leave
    v_count integer;
    v_is_full boolean;
BEGIN
    IF p_ids IS NOT NULL THEN
        PERFORM ssb_internal.settle_taken(p_ids, p_endpoints, p_next_numbers, p_instances, p_key_ids, true);
    END IF;
    IF NOT ssb_internal.has_started_endpoint() THEN
        PERFORM ssb_internal.note_transport_failure(p_peer_id,
            'Service Broker''s endpoint is not started in this instance: CREATE or ALTER ENDPOINT … STATE = STARTED.');
        RETURN;
    END IF;
    PERFORM ssb_internal.try_parked(p_peer_id, p_messages);
    -- Once more where dialogs are found to be left out.
    <<tries>>
    LOOP
        -- One message alone, of a dialog in the clear that has sent before, as on a quiet one: it is the set.
        SELECT t.transmission_id, t.endpoint_id, t.number, t.message_type_name, t.body, t.length, x.dialog INTO v_part
          FROM (SELECT t.transmission_id, t.endpoint_id, t.message_sequence_number AS number, t.message_type_name, t.body,
                       coalesce(length(t.body), 0) AS length
                  FROM ssb.transmission AS t
                 WHERE t.peer_id = p_peer_id AND NOT t.is_end_of_dialog AND NOT t.is_conversation_error AND t.trace IS NULL LIMIT 1) AS t
         CROSS JOIN LATERAL (SELECT ssb_internal.dialog_descriptor(e, r, d, v_rest) AS dialog
                               FROM ssb.remote_conversation AS r
                               JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = r.endpoint_id
                               JOIN ssb.database AS d ON d.database_id = e.database_id
                              WHERE r.endpoint_id = t.endpoint_id AND r.retry_at IS NULL AND r.peer_id = p_peer_id
                                AND r.is_under_way AND r.security = 'N' AND d.is_broker_enabled OFFSET 0) AS x
         WHERE (SELECT count(*) FROM (SELECT FROM ssb.transmission AS o WHERE o.peer_id = p_peer_id LIMIT 2) AS o) = 1
           AND t.length <= v_short AND t.endpoint_id <> ALL (v_left_out);
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
            EXIT;
        END IF;
        dialogs := '';
        places := '{}';
        endpoints := '{}';
        bytes := 0;
        sides := NULL;
        traced := NULL;
        v_new := '{}';
        v_sealed := '{}';
        v_is_encrypted := false;
        v_count := 0;
        v_priority := (SELECT t.priority FROM ssb.transmission AS t WHERE t.peer_id = p_peer_id ORDER BY t.priority DESC LIMIT 1);
        v_is_full := false;
        WHILE v_priority IS NOT NULL AND NOT v_is_full LOOP
            v_from_endpoint := CASE WHEN v_priority = p_after_priority THEN coalesce(p_after_endpoint, 0) ELSE 0 END;
            v_from_id := CASE WHEN v_priority = p_after_priority THEN coalesce(p_after_id, 0) ELSE 0 END;
            v_until := NULL;
            LOOP
                SELECT p_messages / greatest(count(*), 1), coalesce(max(w.length) > v_short, false),
                       count(*) = 8 AND NOT bool_or(EXISTS (SELECT FROM ssb.transmission AS t
                                                             WHERE t.peer_id = p_peer_id AND t.priority = v_priority
                                                               AND t.endpoint_id + 0 = w.endpoint_id OFFSET 1))
                  INTO v_quota, v_is_measured, v_is_flat
                  FROM (WITH RECURSIVE walk AS (
                            (SELECT t.endpoint_id, length(t.body) AS length, 1 AS n FROM ssb.transmission AS t
                              WHERE t.peer_id = p_peer_id AND t.priority = v_priority
                                AND (t.endpoint_id + 0, t.transmission_id + 0) > (v_from_endpoint, v_from_id)
                              ORDER BY t.endpoint_id + 0, t.transmission_id + 0 LIMIT 1)
                            UNION ALL
                            SELECT x.endpoint_id, x.length, w.n + 1
                              FROM walk AS w
                             CROSS JOIN LATERAL (SELECT t.endpoint_id, length(t.body) AS length FROM ssb.transmission AS t
                                                  WHERE t.peer_id = p_peer_id AND t.priority = v_priority AND t.endpoint_id + 0 > w.endpoint_id
                                                    AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)
                                                  ORDER BY t.endpoint_id + 0 LIMIT 1) AS x
                             WHERE w.n < 8)
                        SELECT w.endpoint_id, w.length FROM walk AS w) AS w;
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
                                            (SELECT t.endpoint_id, t.transmission_id AS first_id
                                               FROM ssb.transmission AS t
                                              WHERE t.peer_id = p_peer_id AND t.priority = v_priority
                                                AND (t.endpoint_id + 0, t.transmission_id + 0) > (v_from_endpoint, v_from_id)
                                                AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)
                                              ORDER BY t.endpoint_id + 0, t.transmission_id + 0 LIMIT 1)
                                            UNION ALL
                                            SELECT x.endpoint_id, x.first_id
                                              FROM walk AS w
                                             CROSS JOIN LATERAL (SELECT t.endpoint_id, t.transmission_id AS first_id FROM ssb.transmission AS t
                                                                  WHERE t.peer_id = p_peer_id AND t.priority = v_priority
                                                                    AND t.endpoint_id + 0 > w.endpoint_id
                                                                    AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)
                                                                  ORDER BY t.endpoint_id + 0, t.transmission_id + 0 LIMIT 1) AS x)
                                        SELECT t.transmission_id, least(coalesce(length(t.body), 0), p_fragment) + 200 AS length,
                                               (length(t.body) > p_fragment) IS TRUE AS is_large
                                          FROM walk AS w
                                         CROSS JOIN LATERAL (SELECT FROM ssb.remote_conversation AS r
                                                               JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = r.endpoint_id
                                                               JOIN ssb.database AS d ON d.database_id = e.database_id
                                                              WHERE r.endpoint_id = w.endpoint_id AND r.retry_at IS NULL
                                                                AND r.peer_id = p_peer_id AND d.is_broker_enabled
                                                                AND w.endpoint_id <> ALL (v_left_out) OFFSET 0) AS x
                                         CROSS JOIN LATERAL (SELECT t.transmission_id, t.body FROM ssb.transmission AS t
                                                              WHERE t.peer_id = p_peer_id AND t.priority = v_priority
                                                                AND t.endpoint_id + 0 = w.endpoint_id AND t.transmission_id + 0 >= w.first_id
                                                              ORDER BY t.transmission_id + 0 LIMIT v_quota) AS t
                                         LIMIT p_messages - v_count) AS l
                                WINDOW w AS (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS m
                         WHERE (bytes + m.so_far <= p_bytes OR (v_count = 0 AND m.n = 1)) AND m.large_so_far - m.is_large::integer = 0;
                    END IF;
                    -- A dialog's place is its turn in the walk, where none is left out.
                    SELECT string_agg(m.dialog, ',') FILTER (WHERE m.is_first) AS dialogs,
                           array_agg(cardinality(endpoints) + m.turn - 1) AS places, array_agg(m.number) AS numbers,
                           array_agg(m.message_type_name) AS message_types,
                           array_agg(CASE WHEN m.is_large
                                          THEN format('fragment %s %s %s', m.sent_bytes, length(m.body), date_part('epoch', m.enqueued_at))
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
                                (SELECT t.endpoint_id, t.transmission_id AS first_id, 1 AS turn
                                   FROM ssb.transmission AS t
                                  WHERE t.peer_id = p_peer_id AND t.priority = v_priority
                                    AND (t.endpoint_id + 0, t.transmission_id + 0) > (v_from_endpoint, v_from_id)
                                    AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)
                                  ORDER BY t.endpoint_id + 0, t.transmission_id + 0 LIMIT 1)
                                UNION ALL
                                SELECT x.endpoint_id, x.first_id, w.turn + 1
                                  FROM walk AS w
                                 CROSS JOIN LATERAL (SELECT t.endpoint_id, t.transmission_id AS first_id FROM ssb.transmission AS t
                                                      WHERE t.peer_id = p_peer_id AND t.priority = v_priority
                                                        AND t.endpoint_id + 0 > w.endpoint_id
                                                        AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)
                                                      ORDER BY t.endpoint_id + 0, t.transmission_id + 0 LIMIT 1) AS x)
                            SELECT w.turn, w.endpoint_id, t.transmission_id, t.transmission_id = w.first_id AS is_first,
                                   t.message_sequence_number AS number, t.message_type_name,
                                   t.is_end_of_dialog, t.is_conversation_error, t.body, (length(t.body) > p_fragment) IS TRUE AS is_large,
                                   t.trace, t.enqueued_at, CASE WHEN t.message_sequence_number = x.acknowledged THEN x.sent_bytes ELSE 0 END AS sent_bytes,
                                   x.is_under_way, x.security, x.is_encrypted, x.dialog, 1::bigint AS n
                              FROM walk AS w
                             CROSS JOIN LATERAL (SELECT r.is_under_way, r.security, r.acknowledged, r.sent_bytes, e.is_encrypted,
                                                        ssb_internal.dialog_descriptor(e, r, d, v_rest) AS dialog
                                                   FROM ssb.remote_conversation AS r
                                                   JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = r.endpoint_id
                                                   JOIN ssb.database AS d ON d.database_id = e.database_id
                                                  WHERE r.endpoint_id = w.endpoint_id AND r.retry_at IS NULL
                                                    AND r.peer_id = p_peer_id AND d.is_broker_enabled
                                                    AND w.endpoint_id <> ALL (v_left_out) OFFSET 0) AS x
                             CROSS JOIN LATERAL (SELECT t.* FROM ssb.transmission AS t
                                                  WHERE t.peer_id = p_peer_id AND t.priority = v_priority
                                                    AND t.endpoint_id + 0 = w.endpoint_id AND t.transmission_id + 0 >= w.first_id
                                                  ORDER BY t.transmission_id + 0 LIMIT v_quota) AS t
                             WHERE NOT v_is_flat
                            UNION ALL
                            SELECT (t.position - t.n + 1)::integer, t.endpoint_id, t.transmission_id, t.n = 1, t.message_sequence_number,
                                   t.message_type_name, t.is_end_of_dialog, t.is_conversation_error, t.body, false, t.trace, t.enqueued_at, 0,
                                   x.is_under_way, x.security, x.is_encrypted, x.dialog, t.n
                              FROM (SELECT t.*, row_number() OVER (PARTITION BY t.endpoint_id + 0 ORDER BY t.transmission_id + 0) AS n,
                                           row_number() OVER (ORDER BY t.endpoint_id + 0, t.transmission_id + 0) AS position
                                      FROM ssb.transmission AS t
                                     WHERE t.peer_id = p_peer_id AND t.priority = v_priority
                                       AND (t.endpoint_id + 0, t.transmission_id + 0) > (v_from_endpoint, v_from_id)
                                       AND t.endpoint_id + 0 <= coalesce(v_until, 9223372036854775807)) AS t
                             CROSS JOIN LATERAL (SELECT r.is_under_way, r.security, e.is_encrypted,
                                                        ssb_internal.dialog_descriptor(e, r, d, v_rest) AS dialog
                                                   FROM ssb.remote_conversation AS r
                                                   JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = r.endpoint_id
                                                   JOIN ssb.database AS d ON d.database_id = e.database_id
                                                  WHERE r.endpoint_id = t.endpoint_id AND r.retry_at IS NULL
                                                    AND r.peer_id = p_peer_id AND d.is_broker_enabled
                                                    AND t.endpoint_id <> ALL (v_left_out) OFFSET 0) AS x
                             WHERE v_is_flat
                             LIMIT CASE WHEN v_is_measured THEN coalesce(cardinality(v_fitting), 0) ELSE p_messages - v_count END) AS m;
                    -- (What was sent after they were read is not measured yet.)
                    EXIT WHEN CASE WHEN v_is_measured THEN v_part.ids IS NOT DISTINCT FROM v_fitting
                                   ELSE coalesce(v_part.longest, 0) <= v_short AND coalesce(v_part.most, 0) <= v_quota END;
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
                            SELECT jsonb_agg(jsonb_build_object('at', v_count + u.n - 1, 'trace', t.trace, 'sent', date_part('epoch', t.enqueued_at))
                                             ORDER BY u.n)
                              FROM unnest(v_part.ids) WITH ORDINALITY AS u (transmission_id, n)
                              JOIN ssb.transmission AS t ON t.transmission_id = u.transmission_id AND t.trace IS NOT NULL);
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
                            WHERE t.peer_id = p_peer_id AND t.priority < v_priority ORDER BY t.priority DESC LIMIT 1);
        END LOOP;
        IF v_count = 0 THEN
            IF EXISTS (SELECT FROM ssb.transmission AS t WHERE t.peer_id = p_peer_id) THEN
                PERFORM ssb_internal.park_stragglers(ARRAY(SELECT r.endpoint_id FROM ssb.remote_conversation AS r
                                                            WHERE r.peer_id = p_peer_id AND r.retry_at IS NOT NULL));
            END IF;
            RETURN;
        END IF;
        IF NOT v_is_full THEN
            after_endpoint := NULL;                 -- there is no more: the next set begins at the front
        END IF;
        EXIT WHEN cardinality(v_new) = 0 AND cardinality(v_sealed) = 0;
        -- Which security each dialog has: those that lack what theirs needs are put off. Those that a change of routes is just taking
        -- back, or whose row somebody holds, are left out.
        SELECT array_agg(r.endpoint_id) INTO v_marked
          FROM (SELECT r.endpoint_id FROM ssb.remote_conversation AS r
                 WHERE r.endpoint_id = ANY (v_new || v_sealed) AND r.peer_id = p_peer_id AND r.retry_at IS NULL
                   FOR NO KEY UPDATE SKIP LOCKED) AS r;
        IF cardinality(v_sealed) = 0 AND NOT v_is_encrypted AND ssb_internal.needs_no_security() THEN
            UPDATE ssb.remote_conversation AS r SET security = 'N', is_under_way = true WHERE r.endpoint_id = ANY (v_marked);
        ELSE
            SELECT array_agg(s.endpoint_id), jsonb_object_agg(s.endpoint_id, jsonb_build_object('near', s.near, 'far', s.far, 'key_id', s.key_id))
                                             FILTER (WHERE s.security <> 'N')
              INTO v_marked, sides
              FROM ssb_internal.secure_dialogs(v_marked) AS s;
        END IF;
        v_new := ARRAY(SELECT DISTINCT n FROM unnest(v_new || v_sealed) AS n);
        IF cardinality(v_marked) = cardinality(v_new) THEN
            sides := (SELECT jsonb_object_agg(r.endpoint_id, (sides -> r.endpoint_id::text)
                                              || jsonb_build_object('security', r.security, 'database_id', r.database_id)
                                              || CASE WHEN r.security = 'A' AND NOT r.is_initiator
                                                      THEN jsonb_build_object('key_id', (SELECT k.key_id FROM ssb.dialog_key AS k
                                                                                          WHERE k.key_id = r.inbound_key_id
                                                                                            AND k.database_id = r.database_id))
                                                      ELSE '{}' END)
                        FROM ssb.remote_conversation AS r
                       WHERE sides IS NOT NULL AND r.endpoint_id = ANY (v_marked) AND sides ? r.endpoint_id::text);
            EXIT;
        END IF;
        v_left_out := v_left_out || ARRAY(SELECT n FROM unnest(v_new) AS n WHERE n <> ALL (coalesce(v_marked, '{}')));
    END LOOP;
    dialogs := '[' || dialogs || ']';
    -- Where all that has been written is on the disk already, there is nothing to wait for.
    IF current_setting('synchronous_standby_names') <> '' OR pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn() THEN
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

-- The other instance cannot be reached, or let nobody in. The status of each message says why.
CREATE OR REPLACE FUNCTION ssb_internal.note_transport_failure(p_peer_id integer, p_status text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    UPDATE ssb.transmission AS t SET transmission_status = p_status WHERE t.peer_id = p_peer_id AND t.transmission_status <> p_status;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.note_transport_failure(integer, text) FROM PUBLIC;

-- Settles messages of dialogs that were taken as far as the other instance says: the dialogs' next_numbers, which instance that is where
-- it says so, the keys that were used. p_is_all: every one of p_ids was taken. A dialog whose row somebody holds, as a SEND does that
-- has looked for its route, keeps its messages: they are sent again.
-- Locks  the remote conversations' rows
CREATE OR REPLACE FUNCTION ssb_internal.settle_taken(p_ids bigint[], p_endpoints bigint[], p_next_numbers bigint[], p_instances text[],
                                                     p_key_ids uuid[], p_is_all boolean)
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
BEGIN
    SELECT array_agg(r.endpoint_id), array_agg(r.endpoint_id) FILTER (WHERE r.failures > 0) INTO v_mine, v_parked
      FROM (SELECT r.endpoint_id, r.failures FROM ssb.remote_conversation AS r
             WHERE r.endpoint_id = ANY (p_endpoints) FOR NO KEY UPDATE SKIP LOCKED) AS r;
    UPDATE ssb.remote_conversation AS r
       SET route_epoch = CASE WHEN r.far_instance IS NOT NULL OR u.instance IS NULL THEN r.route_epoch END,
           far_instance = coalesce(r.far_instance, u.instance), acknowledged = greatest(r.acknowledged, u.next_number),
           sent_bytes = CASE WHEN r.acknowledged < u.next_number THEN 0 ELSE r.sent_bytes END,
           outbound_key_id = coalesce(u.key_id, r.outbound_key_id), failures = 0, retry_at = NULL
      FROM unnest(p_endpoints, p_next_numbers, p_instances, p_key_ids) AS u (endpoint_id, next_number, instance, key_id)
     WHERE r.endpoint_id = u.endpoint_id
       AND (cardinality(v_mine) = cardinality(p_endpoints) OR r.endpoint_id = ANY (v_mine))
       AND (r.failures > 0 OR r.acknowledged < u.next_number OR (r.far_instance IS NULL AND u.instance IS NOT NULL)
            OR r.outbound_key_id IS DISTINCT FROM coalesce(u.key_id, r.outbound_key_id));
    IF p_is_all AND 0 <> ALL (p_next_numbers) AND cardinality(v_mine) = cardinality(p_endpoints) THEN
        DELETE FROM ssb.transmission AS t WHERE t.transmission_id = ANY (p_ids);
    ELSE
        DELETE FROM ssb.transmission AS t
         WHERE t.transmission_id = ANY (ARRAY(
                   SELECT f.transmission_id
                     FROM unnest(p_ids) AS i (transmission_id)
                    CROSS JOIN LATERAL (SELECT f.* FROM ssb.transmission AS f WHERE f.transmission_id = i.transmission_id OFFSET 0) AS f
                     JOIN unnest(p_endpoints, p_next_numbers) AS u (endpoint_id, next_number) ON u.endpoint_id = f.endpoint_id
                    WHERE f.message_sequence_number < u.next_number AND f.endpoint_id = ANY (v_mine)));
    END IF;
    IF v_parked IS NOT NULL THEN
        UPDATE ssb.transmission AS t SET peer_id = r.peer_id
          FROM ssb.remote_conversation AS r
         WHERE t.endpoint_id = ANY (v_parked) AND r.endpoint_id = t.endpoint_id AND t.peer_id IS DISTINCT FROM r.peer_id;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.settle_taken(bigint[], bigint[], bigint[], text[], uuid[], boolean) FROM PUBLIC;

-- What the other instance answered, an object for each dialog: endpoint_id; next_number, below which it has
-- everything; taken_bytes, how much of that message; status, why it does not take more now; refusal and its code, why never; instance, which it is. p_ids: the messages
-- of the set that is answered.
-- Locks  the group of a side that has ended its conversation, when the far side knows
CREATE OR REPLACE FUNCTION ssb_internal.settle_sent(p_answers jsonb, p_ids bigint[])
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
    v_ends bigint[] := ARRAY(SELECT t.endpoint_id FROM ssb.transmission AS t
                              WHERE t.transmission_id = ANY (p_ids) AND (t.is_end_of_dialog OR t.is_conversation_error));
BEGIN
    -- As a set, where nothing is special.
    PERFORM ssb_internal.settle_taken(p_ids, t.endpoints, t.next_numbers, t.instances, t.key_ids, false)
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
           SET route_epoch = CASE WHEN r.far_instance IS NOT NULL OR v_answer.instance IS NULL THEN r.route_epoch END,
               far_instance = coalesce(r.far_instance, v_answer.instance),
               acknowledged = greatest(r.acknowledged, v_answer.next_number),
               sent_bytes = CASE WHEN r.acknowledged < v_answer.next_number THEN 0 ELSE r.sent_bytes END,
               outbound_key_id = coalesce(v_answer.key_id, r.outbound_key_id),
               failures = CASE WHEN v_answer.status IS NULL OR v_has_progressed THEN 0 ELSE r.failures END
         WHERE r.endpoint_id = v_answer.endpoint_id;
        DELETE FROM ssb.transmission AS t
         WHERE t.transmission_id = ANY (p_ids) AND t.endpoint_id = v_answer.endpoint_id
           AND t.message_sequence_number < v_answer.next_number AND NOT t.is_end_of_dialog AND NOT t.is_conversation_error;
        v_is_over := EXISTS (SELECT FROM ssb.transmission AS t
                              WHERE t.endpoint_id = v_answer.endpoint_id
                                AND (t.is_end_of_dialog OR t.is_conversation_error)
                                AND (t.message_sequence_number < v_answer.next_number OR v_answer.refusal IS NOT NULL));
        IF v_is_over AND ssb_internal.try_lock_endpoint(v_answer.endpoint_id) THEN
            DELETE FROM ssb.transmission AS t WHERE t.endpoint_id = v_answer.endpoint_id;
            PERFORM ssb_internal.note_close_known(v_answer.endpoint_id);
            SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e
             WHERE e.endpoint_id = v_answer.endpoint_id AND e.closed_at IS NOT NULL AND e.is_initiator
               AND EXISTS (SELECT FROM ssb.remote_conversation AS r
                            WHERE r.endpoint_id = e.endpoint_id AND r.far_outcome IS NOT NULL);
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
REVOKE EXECUTE ON FUNCTION ssb_internal.settle_sent(jsonb, bigint[]) FROM PUBLIC;

-- Of dialogs that are over, what came is remembered for a day after the last message.
--
-- Called by  the daemon, every ten minutes
CREATE OR REPLACE FUNCTION ssb_internal.forget_remote_conversations()
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ssb_internal.forget_fragments();
    -- Sets that nobody has opened, and answers that nobody has asked for: their sender was ended, or waits no more.
    DELETE FROM ssb.sealed_set AS s WHERE s.came_at < clock_timestamp() - interval '5 minutes';
    DELETE FROM ssb.set_answer AS a WHERE a.answered_at < clock_timestamp() - interval '5 minutes';
    DELETE FROM ssb.remote_conversation AS r
     WHERE r.taken_at < clock_timestamp() - interval '1 day'
       AND NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = r.endpoint_id);
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.forget_remote_conversations() FROM PUBLIC;

-- For sys.dm_broker_connections.
CREATE OR REPLACE FUNCTION ssb_internal.transport_connected(p_connection_id uuid, p_address text, p_remote_user text, p_is_encrypted boolean)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM ssb.transport_connection AS c
     WHERE NOT EXISTS (SELECT FROM pg_stat_activity AS a WHERE a.pid = c.pid AND a.backend_start = c.backend_start);
    INSERT INTO ssb.transport_connection (connection_id, address, pid, backend_start, remote_user, is_encrypted)
    SELECT p_connection_id, p_address, a.pid, a.backend_start, p_remote_user, p_is_encrypted
      FROM pg_stat_activity AS a WHERE a.pid = pg_backend_pid();
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.transport_connected(uuid, text, text, boolean) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.transport_used(p_connection_id uuid, p_bytes bigint, p_sends bigint)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE ssb.transport_connection AS c
       SET bytes_sent = c.bytes_sent + p_bytes, sends = c.sends + p_sends, active_at = clock_timestamp()
     WHERE c.connection_id = p_connection_id;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.transport_used(uuid, bigint, bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.transport_closed(p_connection_id uuid)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ DELETE FROM ssb.transport_connection AS c WHERE c.connection_id = p_connection_id; $$;
REVOKE EXECUTE ON FUNCTION ssb_internal.transport_closed(uuid) FROM PUBLIC;

-- SECURITY DEFINER: whether a session is there still is not shown to everybody.
CREATE OR REPLACE FUNCTION ssb_internal.open_transport_connections()
RETURNS SETOF ssb.transport_connection
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.* FROM ssb.transport_connection AS c
      JOIN pg_stat_activity AS a ON a.pid = c.pid AND a.backend_start = c.backend_start;
$$;

-- Messages that pass through this instance (MESSAGE_FORWARDING = ENABLED). They are taken down in an unlogged table, and
-- the daemon carries them on to the address of msdb's route as it carries this instance's own. Nothing is
-- acknowledged or opened here: what the next instance answers goes back to whoever brought the set, so in the end to
-- the sender, who keeps the messages until the destination has them. A crash loses only what is sent again.
--
-- What travels with each dialog, beside what the destination reads: hops_remaining; time_to_live and time_consumed,
-- in seconds; set, the sender's number of the set, which the first dialog has for all. What it does not say is what the dialogs have that
-- nobody has passed on yet.
--
-- Called by  ssb_internal.take_incoming, ssb_internal.take_sealed; the daemon
-- Locks      the endpoint's row, for MESSAGE_FORWARD_SIZE

-- Most instances lead nobody on. As PL/pgSQL: one of SQL with a SET clause is planned anew for each set of messages.
CREATE OR REPLACE FUNCTION ssb_internal.may_lead_on()
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM ssb.route AS r WHERE r.database_id = 4 AND upper(r.address COLLATE "C") <> 'LOCAL');
END;
$$;

-- What a dialog has that says nothing of it.
CREATE OR REPLACE FUNCTION ssb_internal.not_passed_on()
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN '{"hops_remaining": 16, "time_to_live": 60, "time_consumed": 0}';
END;
$$;

-- How much further a dialog's messages may go. What it says counts only where that is less than a new one has: whoever has brought it
-- does not let it go in a circle for ever.
CREATE OR REPLACE FUNCTION ssb_internal.way_left(p_dialog jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_new jsonb := ssb_internal.not_passed_on();
    v_consumed numeric := coalesce((p_dialog ->> 'time_consumed')::numeric, 0);
BEGIN
    RETURN jsonb_build_object(
        'hops_remaining', least((p_dialog ->> 'hops_remaining')::integer, (v_new ->> 'hops_remaining')::integer),
        'time_to_live', least((p_dialog ->> 'time_to_live')::numeric, (v_new ->> 'time_to_live')::numeric),
        'time_consumed', CASE WHEN v_consumed BETWEEN 0 AND 1e6 THEN v_consumed ELSE 1e6 END);
END;
$$;

-- Some of the dialogs of a set, each with its place there.
CREATE OR REPLACE FUNCTION ssb_internal.part_of_dialogs(p_dialogs jsonb, p_places integer[])
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT jsonb_agg((p_dialogs -> u.place) || ssb_internal.way_left(p_dialogs -> u.place) || jsonb_build_object('place', u.place)
                             ORDER BY u.n)
              FROM unnest(p_places) WITH ORDINALITY AS u (place, n));
END;
$$;

-- Dialogs that are sealed as one block, each with what is said once, for all of them (conversation_ids). traces stay where they are.
CREATE OR REPLACE FUNCTION ssb_internal.whole_dialogs(p_dialogs jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT jsonb_agg(CASE WHEN i.n = 1 THEN d.header ELSE d.header - '{key_id,version,traces,place}'::text[] END
                                 || jsonb_build_object('conversation_id', i.id)
                             ORDER BY d.place, i.n)
              FROM (SELECT d.value - 'conversation_ids' AS header, d.place,
                           CASE jsonb_typeof(d.value -> 'conversation_ids') WHEN 'array' THEN d.value -> 'conversation_ids'
                                ELSE jsonb_build_array(d.value -> 'conversation_id') END AS ids
                      FROM jsonb_array_elements(p_dialogs) WITH ORDINALITY AS d (value, place) OFFSET 0) AS d
             CROSS JOIN LATERAL jsonb_array_elements(d.ids) WITH ORDINALITY AS i (id, n));
END;
$$;

-- Of the dialogs of a set those that are not for here, by msdb's routes. Dialogs that have a side here are, and
-- answers that name this instance. Of several routes it is always the same one: a dialog's messages stay together.
CREATE OR REPLACE FUNCTION ssb_internal.next_hops(p_dialogs jsonb)
RETURNS TABLE (place integer, address text, mirror_address text, hops_remaining integer, seconds_left double precision)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT d.place::integer - 1, f.address, f.mirror_address, (w.way ->> 'hops_remaining')::integer,
           (w.way ->> 'time_to_live')::double precision - (w.way ->> 'time_consumed')::double precision
      FROM ROWS FROM (jsonb_to_recordset(p_dialogs) AS (conversation_id uuid, is_initiator boolean, to_service text, to_instance text))
           WITH ORDINALITY AS d (conversation_id, is_initiator, to_service, to_instance, place)
     CROSS JOIN LATERAL ssb_internal.find_route(4, d.to_service, d.to_instance, NULL, false, d.conversation_id::text) AS f
     CROSS JOIN LATERAL (SELECT ssb_internal.way_left(p_dialogs -> (d.place::integer - 1)) AS way OFFSET 0) AS w
     WHERE upper(f.address COLLATE "C") <> 'LOCAL'
       AND (d.is_initiator OR d.to_instance IS NULL
            OR NOT EXISTS (SELECT FROM ssb.database AS b WHERE b.service_broker_guid::text = lower(d.to_instance)))
       AND NOT EXISTS (SELECT FROM ssb.remote_conversation AS r
                        WHERE r.conversation_id = d.conversation_id AND r.is_initiator = NOT d.is_initiator);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.next_hops(jsonb) FROM PUBLIC;

-- Takes down what goes on. Returned are the dialogs that are not for here: status says why one's messages are dropped,
-- NULL: they are on their way. Dialogs that are sealed as one block (the first one names its key) go the same way, or their sender
-- has to seal them apart (is_apart).
CREATE OR REPLACE FUNCTION ssb_internal.forward_set(p_set_id uuid, p_dialogs jsonb, p_places integer[], p_numbers bigint[],
    p_message_types text[], p_kinds text[], p_bodies bytea[], p_exchanges text[])
RETURNS TABLE (place integer, status text, is_apart boolean)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    v_part record;
    v_endpoint ssb.broker_endpoint;
    v_bytes bigint;
    v_messages bigint;
    v_status text;
    v_way record;                                   -- of each dialog that goes on
    v_apart integer[];
BEGIN
    SELECT array_agg(h.place) AS places, array_agg(h.address) AS addresses, array_agg(h.mirror_address) AS mirrors,
           array_agg(h.hops_remaining > 0 AND h.seconds_left > 0) AS are_alive, array_agg(h.seconds_left) AS seconds_left
      INTO v_way
      FROM ssb_internal.next_hops(p_dialogs) AS h;
    IF v_way.places IS NOT NULL AND p_exchanges IS NOT NULL THEN
        SELECT array_agg(p.place) INTO v_apart
          FROM (SELECT array_agg(d.place) AS places, count(w.place) AS going,
                       count(DISTINCT (w.address, w.mirror_address, w.is_alive)) FILTER (WHERE w.place IS NOT NULL) AS ways
                  FROM (SELECT d.place::integer - 1 AS place, count(*) FILTER (WHERE d.value ? 'key_id') OVER (ORDER BY d.place) AS block
                          FROM jsonb_array_elements(p_dialogs) WITH ORDINALITY AS d (value, place)) AS d
                  LEFT JOIN unnest(v_way.places, v_way.addresses, v_way.mirrors, v_way.are_alive)
                            AS w (place, address, mirror_address, is_alive) ON w.place = d.place
                 GROUP BY d.block) AS b
         CROSS JOIN unnest(b.places) AS p (place)
         WHERE b.ways > 1 OR b.going BETWEEN 1 AND cardinality(b.places) - 1;
        RETURN QUERY SELECT u.place, 'The message is dropped: others that are sealed with it have to go another way.', true
                       FROM unnest(v_apart) AS u (place);
    END IF;
    FOR v_part IN
        SELECT h.address, h.mirror_address, h.is_alive, array_agg(h.place ORDER BY h.place) AS places, min(h.seconds_left) AS seconds_left
          FROM unnest(v_way.places, v_way.addresses, v_way.mirrors, v_way.are_alive, v_way.seconds_left)
               AS h (place, address, mirror_address, is_alive, seconds_left)
         WHERE h.place <> ALL (coalesce(v_apart, '{}'))
         GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    LOOP
        PERFORM ssb_internal.require_handy_set(p_dialogs, p_places, p_bodies, p_exchanges, pg_column_size(p_numbers)::bigint
                    + coalesce(pg_column_size(p_message_types), 0) + coalesce(pg_column_size(p_kinds), 0));
        -- Whoever brings more is counted with what he has brought. He alone waits for himself: his transaction may stay open. So the limit
        -- can be passed by what others bring at the same moment, and by as much again of one who never commits.
        PERFORM ssb_internal.lock_name('forward ' || session_user);
        SELECT e.* INTO v_endpoint FROM ssb.broker_endpoint AS e WHERE e.state = 'STARTED';
        SELECT count(*), coalesce(sum(coalesce(length(m.body), 0) + 200), 0) INTO v_messages, v_bytes
          FROM unnest(p_places, p_bodies) AS m (place, body) WHERE m.place = ANY (v_part.places);
        v_status := CASE
            WHEN NOT v_endpoint.message_forwarding
            THEN 'Could not forward the message because forwarding is disabled in this SQL Server instance.'
            WHEN p_set_id IS NULL
            THEN 'The message is dropped: it has to be forwarded, and the sender''s version of the runtime does not know of that.'
            WHEN NOT v_part.is_alive
            THEN 'The message is dropped: it has been forwarded too often, or for too long. Routes may lead in a circle.'
            WHEN NOT ssb_internal.has_transport_daemon()
            THEN 'The message is dropped: the instance that has to forward it has no daemon.'
            WHEN v_bytes + (SELECT coalesce(sum(f.bytes), 0) FROM ssb.forwarded_set AS f)
                 > v_endpoint.message_forward_size * 1048576::bigint
            THEN format('The message is dropped: the instance that has to forward it holds no more than MESSAGE_FORWARD_SIZE = %s MB.',
                        v_endpoint.message_forward_size) END;
        IF v_status IS NULL THEN
            INSERT INTO ssb.forwarded_set (set_id, address, mirror_address, dialogs, places, numbers, message_types, kinds, bodies,
                                           exchanges, bytes, expires_at)
            SELECT p_set_id, v_part.address, v_part.mirror_address, ssb_internal.part_of_dialogs(p_dialogs, v_part.places),
                   array_agg(array_position(v_part.places, m.place) - 1 ORDER BY m.n), array_agg(m.number ORDER BY m.n),
                   array_agg(m.type ORDER BY m.n), array_agg(m.kind ORDER BY m.n), array_agg(m.body ORDER BY m.n), p_exchanges,
                   v_bytes, clock_timestamp() + v_part.seconds_left * interval '1 second'
              FROM unnest(p_places, p_numbers, p_message_types, p_kinds, p_bodies)
                   WITH ORDINALITY AS m (place, number, type, kind, body, n)
             WHERE m.place = ANY (v_part.places)
            HAVING count(*) > 0;
            PERFORM ssb_internal.peer_of(v_part.address, v_part.mirror_address);
            PERFORM ssb_internal.announce_departure();
        ELSE
            PERFORM ssb_internal.count_events('forwarded_discarded', v_messages);
        END IF;
        RETURN QUERY SELECT u.place, v_status, false FROM unnest(v_part.places) AS u (place);
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.forward_set(uuid, jsonb, integer[], bigint[], text[], text[], bytea[], text[]) FROM PUBLIC;

-- For the daemon: what goes on to an address and is not under way already. What has been here for too long is
-- dropped, wherever it should have gone.
CREATE OR REPLACE FUNCTION ssb_internal.forwarded_sets(p_address text, p_mirror_address text, p_under_way bigint[])
RETURNS TABLE (forwarded_id bigint, set_id uuid, dialogs jsonb, places integer[], numbers bigint[], message_types text[], kinds text[],
               bodies bytea[], exchanges text[])
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM ssb_internal.answer_forwarded(f.forwarded_id,
                (SELECT jsonb_agg(jsonb_build_object('place', d.value -> 'place', 'status',
                                                     'The message is dropped: it has been on its way for too long.'))
                   FROM jsonb_array_elements(f.dialogs) AS d), true, false)
       FROM ssb.forwarded_set AS f WHERE f.expires_at < clock_timestamp();
    RETURN QUERY
    SELECT f.forwarded_id, f.set_id,
           (SELECT jsonb_agg(d.value || jsonb_build_object('hops_remaining', (d.value ->> 'hops_remaining')::integer - 1,
                                 'time_consumed', (d.value ->> 'time_consumed')::numeric
                                                  + extract(epoch FROM clock_timestamp() - f.came_at)) ORDER BY d.place)
              FROM jsonb_array_elements(f.dialogs) WITH ORDINALITY AS d (value, place)),
           f.places, f.numbers, f.message_types, f.kinds, f.bodies, f.exchanges
      FROM ssb.forwarded_set AS f
     WHERE f.address = p_address AND f.mirror_address IS NOT DISTINCT FROM p_mirror_address
       AND f.forwarded_id <> ALL (p_under_way)
     ORDER BY f.forwarded_id LIMIT 1;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.forwarded_sets(text, text, bigint[]) FROM PUBLIC;

-- What the next instance answered, for whoever has brought the set; p_is_all: nothing more will come.
CREATE OR REPLACE FUNCTION ssb_internal.answer_forwarded(p_forwarded_id bigint, p_answers jsonb, p_is_all boolean, p_has_arrived boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
    v_set ssb.forwarded_set;
BEGIN
    SELECT f.* INTO v_set FROM ssb.forwarded_set AS f WHERE f.forwarded_id = p_forwarded_id FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM ssb_internal.keep_answers(v_set.set_id, v_set.sender, p_answers);
    IF p_is_all THEN
        DELETE FROM ssb.forwarded_set AS f WHERE f.forwarded_id = p_forwarded_id;
        PERFORM ssb_internal.count_events(CASE WHEN p_has_arrived THEN 'forwarded' ELSE 'forwarded_discarded' END,
                                          cardinality(v_set.numbers));
        IF p_has_arrived THEN
            PERFORM ssb_internal.count_events('forwarded_bytes', v_set.bytes);
        END IF;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.answer_forwarded(bigint, jsonb, boolean, boolean) FROM PUBLIC;

-- The next instance cannot be reached: whoever has brought what should go there need not wait.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_forwarded(p_address text, p_mirror_address text, p_status text)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
    SELECT ssb_internal.answer_forwarded(f.forwarded_id,
               (SELECT jsonb_agg(jsonb_build_object('place', d.value -> 'place', 'status', p_status)) FROM jsonb_array_elements(f.dialogs) AS d),
               true, false)
      FROM ssb.forwarded_set AS f
     WHERE f.address = p_address AND f.mirror_address IS NOT DISTINCT FROM p_mirror_address;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.refuse_forwarded(text, text, text) FROM PUBLIC;

-- For sys.dm_broker_forwarded_messages. SECURITY DEFINER: the table holds bodies, and is not shown.
CREATE OR REPLACE FUNCTION ssb_internal.forwarded_messages()
RETURNS TABLE (conversation_id uuid, is_initiator boolean, to_service text, to_instance text, from_service text, from_instance text,
               address text, number bigint, hops_remaining integer, time_to_live double precision, time_consumed double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    IF NOT ssb_internal.may_monitor() OR pg_is_in_recovery() THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT d.conversation_id, d.is_initiator, d.to_service, d.to_instance, d.from_service, d.from_instance, f.address, m.number,
           d.hops_remaining, d.time_to_live, d.time_consumed + date_part('epoch', clock_timestamp() - f.came_at)
      FROM ssb.forwarded_set AS f
     CROSS JOIN LATERAL ROWS FROM (jsonb_to_recordset(f.dialogs)
                                   AS (conversation_id uuid, is_initiator boolean, to_service text, to_instance text,
                                       from_service text, from_instance text, hops_remaining integer,
                                       time_to_live double precision, time_consumed double precision))
           WITH ORDINALITY AS d (conversation_id, is_initiator, to_service, to_instance, from_service, from_instance, hops_remaining,
                                 time_to_live, time_consumed, place)
      JOIN LATERAL unnest(f.places, f.numbers) AS m (place, number) ON m.place = d.place - 1;
END;
$$;

-- Which way the messages of a dialog go, and dialogs that leave this instance.
-- Called by  SEND, END CONVERSATION, redelivery; changes of routes; the daemon
-- Locks      the caller holds the sender's group

-- The routes that match a service. level: the lower counts; 0 and 1: the service's name, with and without the instance that the dialog
-- names, 2 and 3: no name. (Where the dialog names none, an instance of the route does not matter, but counts less.) rank, among those
-- of a level: 0 has a mirror, 1 LOCAL and the service is here, 2 another instance, 3 TRANSPORT, 4 LOCAL though the service is not here.
-- A name that tells an address itself ('TCP://host:4022/…') is what ADDRESS = 'TRANSPORT' is for; for others such a route is none.
--
-- Bound to its tables when it is made, and put into the statements that call it.
CREATE OR REPLACE FUNCTION ssb_internal.routes_for(p_database_id integer, p_service text, p_instance text)
RETURNS TABLE (address text, mirror_address text, expires_at timestamptz, level integer, rank integer)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE WHEN upper(r.address COLLATE "C") = 'TRANSPORT' THEN substring(p_service FROM '^[^/]+//[^/]+') ELSE r.address END,
           r.mirror_address, r.expires_at,
           2 * (r.service_name IS NULL)::integer + ((r.broker_instance IS NULL) = (p_instance IS NOT NULL))::integer,
           CASE WHEN r.mirror_address IS NOT NULL THEN 0
                WHEN upper(r.address COLLATE "C") = 'LOCAL'
                THEN CASE WHEN EXISTS (SELECT FROM ssb.service AS s
                                         JOIN ssb.database AS d ON d.database_id = s.database_id
                                        WHERE s.name = p_service
                                          AND (p_instance IS NULL OR d.service_broker_guid::text = lower(p_instance)))
                          THEN 1 ELSE 4 END
                WHEN upper(r.address COLLATE "C") = 'TRANSPORT' THEN 3 ELSE 2 END
      FROM ssb.route AS r
     WHERE r.database_id = p_database_id
       AND coalesce(r.service_name, p_service) = p_service
       AND (r.broker_instance IS NULL OR lower(r.broker_instance) = lower(p_instance) OR p_instance IS NULL)
       AND (upper(r.address COLLATE "C") <> 'TRANSPORT' OR p_service ~* '^tcp://([^]:/[]+|\[[0-9a-f:.%]+\]):[0-9]+(/|$)');
END;
REVOKE EXECUTE ON FUNCTION ssb_internal.routes_for(integer, text, text) FROM PUBLIC;

-- Which route a dialog takes: of those of the first level that has any, of the lowest rank. Several of a kind share new dialogs. A dialog
-- that is under way keeps to its route, whose LIFETIME is about new ones. Without any route, the instance that the dialog names is found
-- where it is here.
--
-- With a seed, the one of several is always the same for the same seed: an instance that forwards remembers no
-- dialogs. is_only: it is the only one of its kind.
--
-- As PL/pgSQL, whose plans are kept.
CREATE OR REPLACE FUNCTION ssb_internal.find_route(p_database_id integer, p_service text, p_instance text, p_current text,
                                                   p_is_under_way boolean, p_seed text DEFAULT NULL,
                                                   OUT address text, OUT mirror_address text, OUT is_only boolean)
LANGUAGE plpgsql VOLATILE                           -- random: among several, each has its turn
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    SELECT f.address, f.mirror_address, count(*) OVER kind = 1 INTO address, mirror_address, is_only
      FROM ssb_internal.routes_for(p_database_id, p_service, p_instance) AS f
     WHERE coalesce(f.expires_at, 'infinity') > clock_timestamp() OR (p_is_under_way AND lower(f.address) = lower(p_current))
    WINDOW kind AS (ORDER BY f.level, (p_is_under_way AND lower(f.address) = lower(p_current)) DESC NULLS LAST, f.rank,
                             lower(f.address) = lower(p_current) DESC NULLS LAST)
     -- (Counted are those up to the last that is as good: of the best kind, all of it.)
     ORDER BY count(*) OVER kind, CASE WHEN p_seed IS NULL THEN random() ELSE hashtext(lower(f.address) || p_seed) END
     LIMIT 1;
    IF address IS NULL AND p_instance IS NOT NULL
       AND EXISTS (SELECT FROM ssb.service AS s JOIN ssb.database AS d ON d.database_id = s.database_id
                    WHERE s.name = p_service AND d.service_broker_guid::text = lower(p_instance)) THEN
        address := 'LOCAL';
        is_only := true;
    END IF;
END;
$$;

-- What transmission_status tells about a message for which the daemon has done nothing yet. As PL/pgSQL: one of SQL with a
-- SET clause is planned anew for each message.
CREATE OR REPLACE FUNCTION ssb_internal.status_on_route(p_address text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN p_address IS NULL
                THEN 'The target service name could not be found. Ensure that the service name is specified correctly and/or '
                     'the routing information has been supplied.'
                ELSE format('The route leads to ''%s'', another instance. The message waits for transport.', p_address) END;
END;
$$;

-- The number of the instance at a pair of addresses. NULL without an address.
CREATE OR REPLACE FUNCTION ssb_internal.peer_of(p_address text, p_mirror_address text)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_peer_id integer;
BEGIN
    IF p_address IS NULL THEN
        RETURN NULL;
    END IF;
    LOOP
        SELECT p.peer_id INTO v_peer_id FROM ssb.transport_peer AS p
         WHERE p.address = p_address AND coalesce(p.mirror_address, '') = coalesce(p_mirror_address, '');
        IF FOUND THEN
            RETURN v_peer_id;
        END IF;
        INSERT INTO ssb.transport_peer (address, mirror_address) VALUES (p_address, p_mirror_address) ON CONFLICT DO NOTHING;
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.peer_of(text, text) FROM PUBLIC;

-- A route's address is a peer as soon as the route is there: of those who send there first the second would wait for the first one's
-- transaction, and so would what other instances bring.
--
-- Called by  ssb_internal.create_route, alter_route
CREATE OR REPLACE FUNCTION ssb_internal.note_address(p_address text, p_mirror_address text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF upper(p_address COLLATE "C") NOT IN ('LOCAL', 'TRANSPORT') THEN
        PERFORM ssb_internal.peer_of(p_address, p_mirror_address);
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.note_address(text, text) FROM PUBLIC;

-- NULL: the dialog is one inside this instance, as far as routes tell. Else it is the transport's, and this
-- is why its messages wait. The route is looked up anew each time: it may have changed since the last message.
-- p_is_last: no message follows for which the route need be known.
DROP FUNCTION IF EXISTS ssb_internal.forward_to_remote(ssb.conversation_endpoint);
CREATE OR REPLACE FUNCTION ssb_internal.forward_to_remote(p_sender ssb.conversation_endpoint, p_is_last boolean DEFAULT false)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_remote ssb.remote_conversation;
    v_address text;
    v_mirror text;
    v_delay text;
    v_epoch bigint;
    v_peer_id integer;
    v_is_only boolean;
    v_path ssb.dialog_path;
BEGIN
    SELECT r.* INTO v_remote FROM ssb.remote_conversation AS r WHERE r.endpoint_id = p_sender.endpoint_id;
    IF v_remote.endpoint_id IS NULL AND NOT p_sender.is_initiator THEN
        RETURN NULL;
    END IF;
    IF NOT p_is_last THEN
        v_epoch := ssb_internal.epoch_of_routes();
    END IF;
    SELECT CASE WHEN upper(f.address COLLATE "C") <> 'LOCAL' THEN f.address END, f.mirror_address, f.is_only INTO v_address, v_mirror, v_is_only
      FROM ssb_internal.find_route(p_sender.database_id, p_sender.far_service,
                                   coalesce(p_sender.far_broker_instance, v_remote.far_instance), v_remote.address,
                                   coalesce(v_remote.is_under_way, false)) AS f;
    IF (v_address IS NULL OR NOT coalesce(v_remote.is_under_way, false))
       AND v_address IS DISTINCT FROM coalesce(v_remote.address, '')
       AND ssb_internal.awaits_route(p_sender.database_id, p_sender.far_service,
                                     coalesce(p_sender.far_broker_instance, v_remote.far_instance)) THEN
        v_address := NULL;
        v_mirror := NULL;
        v_delay := ssb_internal.status_without_notice('MissingRoute');
        UPDATE ssb.transmission AS t SET transmission_status = v_delay
         WHERE t.endpoint_id = p_sender.endpoint_id AND t.transmission_status <> v_delay;
        PERFORM ssb_internal.announce_departure();
    END IF;
    IF v_address IS NULL OR EXISTS (SELECT FROM ssb.route AS r WHERE r.database_id = p_sender.database_id AND r.expires_at IS NOT NULL) THEN
        v_epoch := NULL;                            -- for the next message it is looked up again
    END IF;
    IF v_remote.endpoint_id IS NULL THEN
        IF v_address IS NULL THEN
            RETURN v_delay;
        END IF;
        v_peer_id := ssb_internal.peer_of(v_address, v_mirror);
        INSERT INTO ssb.remote_conversation (endpoint_id, conversation_id, is_initiator, database_id, service_id, address,
                                             mirror_address, peer_id)
        VALUES (p_sender.endpoint_id, p_sender.conversation_id, true, p_sender.database_id, p_sender.service_id, v_address,
                v_mirror, v_peer_id);
        IF v_epoch IS NOT NULL AND v_is_only AND p_sender.far_broker_instance IS NULL AND NOT p_sender.is_system
           AND NOT ssb_internal.has_notice_route(p_sender.database_id) THEN
            SELECT s.database_id, s.name, p_sender.far_service, c.name, s.service_id, q.queue_id, q.order_sequence, q.state_sequence,
                   c.contract_id, NULL, NULL, NULL, NULL, d.service_broker_guid::text, v_epoch, v_peer_id, v_address, v_mirror, 5, 5
              INTO v_path
              FROM ssb.service AS s
              JOIN ssb.database AS d ON d.database_id = s.database_id
              JOIN ssb.queue AS q ON q.queue_id = s.queue_id
              JOIN ssb.contract AS c ON c.contract_id = p_sender.contract_id
             WHERE s.service_id = p_sender.service_id
               AND NOT EXISTS (SELECT FROM ssb.broker_priority AS p
                                WHERE p.database_id = s.database_id AND coalesce(p.contract_id, c.contract_id) = c.contract_id
                                  AND coalesce(p.service_id, s.service_id) = s.service_id
                                  AND coalesce(p.remote_service, p_sender.far_service) = p_sender.far_service);
            IF FOUND THEN
                PERFORM ssb_internal.keep_dialog_path(v_path);
            END IF;
        END IF;
        IF p_sender.has_waiting THEN
            UPDATE ssb.transmission AS t SET peer_id = v_peer_id, transmission_status = ssb_internal.status_on_route(v_address)
             WHERE t.endpoint_id = p_sender.endpoint_id;
        END IF;
    ELSIF v_address IS NULL AND v_remote.is_initiator AND NOT v_remote.is_under_way THEN
        -- Nothing has left yet: it is a dialog of this instance again. (The daemon may be about to send it.)
        DELETE FROM ssb.remote_conversation AS r WHERE r.endpoint_id = p_sender.endpoint_id AND NOT r.is_under_way;
        IF FOUND THEN
            UPDATE ssb.transmission AS t SET peer_id = NULL WHERE t.endpoint_id = p_sender.endpoint_id AND t.peer_id IS NOT NULL;
            RETURN v_delay;
        END IF;
    ELSIF (v_address, v_mirror) IS DISTINCT FROM (v_remote.address, v_remote.mirror_address) THEN
        v_peer_id := ssb_internal.peer_of(v_address, v_mirror);
        UPDATE ssb.remote_conversation AS r
           SET address = v_address, mirror_address = v_mirror, peer_id = v_peer_id, failures = 0, retry_at = NULL
         WHERE r.endpoint_id = p_sender.endpoint_id;
        UPDATE ssb.transmission AS t
           SET peer_id = v_peer_id, transmission_status = coalesce(v_delay, ssb_internal.status_on_route(v_address))
         WHERE t.endpoint_id = p_sender.endpoint_id;
    END IF;
    -- In the sender's own row: that of the remote conversation, which who brings messages waits for, would be locked to the end of the
    -- sender's transaction.
    IF v_epoch IS NOT NULL THEN
        UPDATE ssb.conversation_endpoint AS e SET route_epoch = ssb_internal.mark_of_routes(v_epoch, v_remote.far_instance)
         WHERE e.endpoint_id = p_sender.endpoint_id
           AND e.route_epoch IS DISTINCT FROM ssb_internal.mark_of_routes(v_epoch, v_remote.far_instance);
    END IF;
    PERFORM ssb_internal.announce_departure_to(coalesce(v_peer_id, v_remote.peer_id));
    RETURN coalesce(v_delay, ssb_internal.status_on_route(v_address));
END;
$$;

-- A dialog's route is known while no route has changed since, and until the other instance has told which one it is.
CREATE OR REPLACE FUNCTION ssb_internal.mark_of_routes(p_epoch bigint, p_far_instance text)
RETURNS bigint
LANGUAGE sql IMMUTABLE
RETURN 2 * p_epoch + (p_far_instance IS NOT NULL)::integer;
REVOKE EXECUTE ON FUNCTION ssb_internal.mark_of_routes(bigint, text) FROM PUBLIC;

-- The route by which the target's side of a dialog that begins will answer; NULL: none leads out of here, and its first SEND finds out.
CREATE OR REPLACE FUNCTION ssb_internal.way_back(p_database_id integer, p_far_service text, p_far_instance text,
                                                 OUT address text, OUT mirror_address text, OUT peer_id integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    SELECT f.address, f.mirror_address INTO address, mirror_address
      FROM ssb_internal.find_route(p_database_id, p_far_service, p_far_instance, NULL, false) AS f
     WHERE upper(f.address COLLATE "C") <> 'LOCAL';
    peer_id := ssb_internal.peer_of(address, mirror_address);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.way_back(integer, text, text) FROM PUBLIC;

-- The epoch up to which routes are what whoever asks now sees; NULL where somebody is changing definitions: see
-- ssb_internal.find_dialog_path.
DROP FUNCTION IF EXISTS ssb_internal.epoch_of_routes(bigint);
CREATE OR REPLACE FUNCTION ssb_internal.epoch_of_routes()
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_epoch bigint := coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0);
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed'
       OR EXISTS (SELECT FROM pg_locks AS l
                   WHERE l.locktype = 'relation' AND l.relation = 'ssb_locks.definitions'::regclass AND l.mode = 'RowShareLock'
                     AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())) THEN
        RETURN NULL;
    END IF;
    RETURN v_epoch;
END;
$$;

-- A dialog's first message, and what the instance has to know of the dialog beside its endpoint.
CREATE OR REPLACE FUNCTION ssb_internal.put_first_to_remote(p_endpoint_id bigint, p_conversation_id uuid, p_path ssb.dialog_path,
                                                            p_message_type text, p_body bytea)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO ssb.remote_conversation (endpoint_id, conversation_id, is_initiator, database_id, service_id, address, mirror_address, peer_id)
    VALUES (p_endpoint_id, p_conversation_id, true, p_path.database_id, p_path.service_id, p_path.address, p_path.mirror_address,
            p_path.peer_id);
    INSERT INTO ssb.transmission (database_id, endpoint_id, to_service, message_sequence_number, message_type_name,
                                  is_end_of_dialog, is_conversation_error, enqueued_at, body, transmission_status, peer_id)
    VALUES (p_path.database_id, p_endpoint_id, p_path.to_service, 0, p_message_type, false, false, clock_timestamp(), p_body,
            ssb_internal.status_on_route(p_path.address), p_path.peer_id);
    PERFORM ssb_internal.announce_departure_to(p_path.peer_id);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.put_first_to_remote(bigint, uuid, ssb.dialog_path, text, bytea) FROM PUBLIC;

-- The first message of an initiator that leaves, of which ssb.send has found that it is open and may send. Most new dialogs go the way
-- that an earlier one of the same names has gone (ssb.dialog_path). False: nothing is done.
--
-- Called by  ssb_internal.send_first_fast_path, which has locked the message type, and whose caller has locked the group
CREATE OR REPLACE FUNCTION ssb_internal.send_first_to_remote(p_endpoint_id bigint, p_message_type text, p_body bytea)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_dialog record;
BEGIN
    SELECT e.conversation_id, p AS path, u.validation INTO v_dialog
      FROM ssb.conversation_endpoint AS e
      JOIN ssb.dialog_path AS p
        ON p.database_id = e.database_id AND p.from_service = e.service_name AND p.to_service = e.far_service AND p.contract = e.contract_name
      JOIN ssb.contract_message_usage AS u ON u.contract_id = p.contract_id AND u.message_type_name = p_message_type
     WHERE e.endpoint_id = p_endpoint_id AND e.is_initiator AND NOT e.is_system AND e.far_broker_instance IS NULL
       AND e.sent_count = 0 AND e.priority = 5
       AND p.service_id = e.service_id AND p.queue_id = e.queue_id AND p.contract_id = e.contract_id
       AND p.peer_id IS NOT NULL AND p.epoch = coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0)
       AND u.is_sent_by_initiator;
    IF NOT FOUND OR current_setting('pgsb.traceparent', true) <> '' THEN
        RETURN false;
    END IF;
    PERFORM ssb_internal.put_first_to_remote(p_endpoint_id, v_dialog.conversation_id, v_dialog.path, p_message_type,
                                             CASE WHEN v_dialog.validation = 'E' THEN nullif(p_body, '') ELSE p_body END);
    UPDATE ssb.conversation_endpoint AS e
       SET has_waiting = true, sent_count = 1, sent_order = NULL, route_epoch = ssb_internal.mark_of_routes((v_dialog.path).epoch, NULL)
     WHERE e.endpoint_id = p_endpoint_id;
    RETURN true;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.send_first_to_remote(bigint, text, bytea) FROM PUBLIC;

-- BEGIN DIALOG and that message as one, for a dialog with no other clause than ENCRYPTION. The handle; NULL: nothing is done.
--
-- Called by  ssb_internal.begin_and_send, which has locked the message type, and found no path that ends here
CREATE OR REPLACE FUNCTION ssb_internal.begin_and_send_to_remote(p_database_id integer, p_from_service text, p_to_service text, p_contract text,
                                                                 p_message_type text, p_body bytea, p_is_encrypted boolean)
RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_handle CONSTANT uuid := gen_random_uuid();
    v_path ssb.dialog_path;
    v_found record;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    SELECT p AS path, u.validation, nextval('ssb.endpoint_id') AS endpoint_id INTO v_found
      FROM ssb.dialog_path AS p
      JOIN ssb.contract_message_usage AS u ON u.contract_id = p.contract_id AND u.message_type_name = p_message_type
     WHERE p.database_id = p_database_id AND p.from_service = p_from_service AND p.to_service = p_to_service AND p.contract = p_contract
       AND p.peer_id IS NOT NULL AND u.is_sent_by_initiator AND p_body IS NOT NULL
       -- First the lock, then the epoch (ssb_internal.share_service).
       AND CASE WHEN pg_try_advisory_xact_lock_shared(1397965377, ssb_internal.service_lock(p.service_id))
                THEN p.epoch = coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0) END
       AND has_sequence_privilege(ssb_internal.calling_role(), p.near_order, 'USAGE')
       AND has_sequence_privilege('public', p.near_state, 'SELECT');
    IF NOT FOUND OR current_setting('pgsb.traceparent', true) <> '' THEN
        RETURN NULL;
    END IF;
    v_path := v_found.path;
    INSERT INTO ssb.conversation_endpoint
           (endpoint_id, conversation_handle, conversation_id, is_initiator, is_encrypted, is_system, lock_id,
            conversation_group_id, database_id, service_id, queue_id, near_order, near_state, contract_id, priority,
            service_name, contract_name, far_service, has_waiting, sent_count, route_epoch)
    VALUES (v_found.endpoint_id, v_handle, v_handle, true, coalesce(p_is_encrypted, true), false, v_found.endpoint_id,
            v_handle, p_database_id, v_path.service_id, v_path.queue_id, v_path.near_order, v_path.near_state, v_path.contract_id, 5,
            p_from_service, p_contract, p_to_service, true, 1, ssb_internal.mark_of_routes(v_path.epoch, NULL));
    PERFORM ssb_internal.put_first_to_remote(v_found.endpoint_id, v_handle, v_path, p_message_type,
                                             CASE WHEN v_found.validation = 'E' THEN nullif(p_body, '') ELSE p_body END);
    RETURN v_handle;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.begin_and_send_to_remote(integer, text, text, text, text, bytea, boolean) FROM PUBLIC;

-- SEND of messages of one type on a dialog whose route is known, and whose earlier messages have gone, or wait, for transport. False:
-- something is special, or wrong, nothing is done, and ssb_internal.send_slow_path finds out. Who reads for the other instance is told
-- which one it is, so that nobody has to look.
-- Locks  the sender's group
CREATE OR REPLACE FUNCTION ssb_internal.send_to_known_remote(p_handle uuid, p_message_type text, p_bodies bytea[])
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_sender record;
    v_remote record;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    SELECT e.endpoint_id, e.database_id, e.far_service, e.contract_id, e.is_initiator, e.sent_count, e.route_epoch INTO v_sender
      FROM ssb.conversation_endpoint AS e
     WHERE e.conversation_handle = p_handle AND e.lock_id = e.endpoint_id AND e.far_endpoint_id IS NULL AND e.has_waiting
       AND e.closed_at IS NULL AND NOT e.is_error AND e.lifetime IS NULL AND e.priority = 5 AND NOT e.is_system
       AND has_sequence_privilege('public', e.near_state, 'SELECT')
       AND has_sequence_privilege(ssb_internal.calling_role(), e.near_order, 'USAGE')
       FOR NO KEY UPDATE;
    IF NOT FOUND OR current_setting('pgsb.traceparent', true) <> '' THEN
        RETURN false;
    END IF;
    SELECT greatest(v_sender.sent_count, r.acknowledged, ssb_internal.number_behind_waiting(v_sender.endpoint_id)) AS first_number,
           ssb_internal.status_on_route(r.address) AS status, r.peer_id INTO v_remote
      FROM ssb.remote_conversation AS r
      JOIN ssb.contract_message_usage AS u ON u.contract_id = v_sender.contract_id AND u.message_type_name = p_message_type
     WHERE r.endpoint_id = v_sender.endpoint_id AND r.address IS NOT NULL AND r.far_outcome IS NULL
       AND v_sender.route_epoch
           = ssb_internal.mark_of_routes(coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0), r.far_instance)
       AND CASE WHEN v_sender.is_initiator THEN u.is_sent_by_initiator ELSE u.is_sent_by_target END;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO ssb.transmission (database_id, endpoint_id, to_service, message_sequence_number, message_type_name,
                                  is_end_of_dialog, is_conversation_error, enqueued_at, body, transmission_status, peer_id, is_last_of_run)
    SELECT v_sender.database_id, v_sender.endpoint_id, v_sender.far_service, v_remote.first_number + m.n, p_message_type, false, false,
           clock_timestamp(), m.body, v_remote.status, v_remote.peer_id, m.n = cardinality(p_bodies) - 1
      FROM (SELECT generate_series(0, cardinality(p_bodies) - 1) AS n, unnest(p_bodies) AS body) AS m;
    -- (Most of the time nothing streams, and a function for it would be a twentieth of a SEND.)
    IF coalesce(pg_sequence_last_value('ssb.transport_streaming'), 0) = 0 THEN
        PERFORM pg_notify('ssb_transport', v_remote.peer_id::text) WHERE current_setting('ssb.two_phase', true) IS DISTINCT FROM 'on';
    ELSE
        PERFORM ssb_internal.announce_departure_to(v_remote.peer_id);
    END IF;
    RETURN true;
END;
$$;

-- The same for a set of messages, p_handles[i], p_types[i], p_bodies[i], where p_types and p_bodies may be NULL for p_type and
-- p_body in every message. False: nothing is done.
-- Locks  the senders' groups, in the order of their numbers
CREATE OR REPLACE FUNCTION ssb_internal.send_set_to_known_remote(p_handles uuid[], p_types text[], p_bodies bytea[], p_type text,
                                                                 p_body bytea)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_handles uuid[];
    v_endpoints bigint[];
    v_databases integer[];
    v_services text[];
    v_contracts integer[];
    v_are_initiators boolean[];
    v_next bigint[];
    v_marks bigint[];
    v_peers integer[];
    v_statuses text[];
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    -- Most sets are for dialogs inside this instance: one look tells.
    PERFORM FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = p_handles[1] AND e.far_endpoint_id IS NULL AND e.has_waiting;
    IF NOT FOUND THEN
        RETURN false;
    ELSIF p_handles[1] = ALL (p_handles) AND (p_types IS NULL OR p_types[1] = ALL (p_types)) THEN
        RETURN ssb_internal.send_to_known_remote(p_handles[1], coalesce(p_types[1], p_type), coalesce(p_bodies, ARRAY[p_body]));
    END IF;
    SELECT array_agg(l.conversation_handle), array_agg(l.endpoint_id), array_agg(l.database_id), array_agg(l.far_service),
           array_agg(l.contract_id), array_agg(l.is_initiator), array_agg(l.sent_count), array_agg(l.route_epoch)
      INTO v_handles, v_endpoints, v_databases, v_services, v_contracts, v_are_initiators, v_next, v_marks
      FROM (SELECT e.*
              FROM ssb.conversation_endpoint AS e
             WHERE e.conversation_handle = ANY (p_handles) AND e.lock_id = e.endpoint_id AND e.far_endpoint_id IS NULL AND e.has_waiting
               AND e.closed_at IS NULL AND NOT e.is_error AND e.lifetime IS NULL AND e.priority = 5 AND NOT e.is_system
               AND has_sequence_privilege('public', e.near_state, 'SELECT')
               AND has_sequence_privilege(ssb_internal.calling_role(), e.near_order, 'USAGE')
             ORDER BY e.endpoint_id FOR NO KEY UPDATE) AS l;
    IF v_handles IS NULL OR (p_handles[1] <> ANY (p_handles)
                             AND cardinality(v_handles) <> (SELECT count(DISTINCT h) FROM unnest(p_handles) AS h)) THEN
        RETURN false;
    END IF;
    -- After the locks, as in ssb_internal.send_to_known_remote.
    SELECT array_agg(greatest(u.sent_count, r.acknowledged, ssb_internal.number_behind_waiting(u.endpoint_id)) ORDER BY u.n),
           array_agg(r.peer_id ORDER BY u.n), array_agg(ssb_internal.status_on_route(r.address) ORDER BY u.n)
      INTO v_next, v_peers, v_statuses
      FROM unnest(v_endpoints, v_next, v_marks) WITH ORDINALITY AS u (endpoint_id, sent_count, mark, n)
      JOIN ssb.remote_conversation AS r ON r.endpoint_id = u.endpoint_id
     WHERE r.address IS NOT NULL AND r.far_outcome IS NULL
       AND u.mark = ssb_internal.mark_of_routes(coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0), r.far_instance);
    IF cardinality(v_next) IS DISTINCT FROM cardinality(v_handles) THEN
        RETURN false;
    END IF;
    -- Each type of each contract once.
    IF EXISTS (SELECT FROM (SELECT DISTINCT d.contract_id, d.is_initiator, m.message_type
                              FROM (SELECT DISTINCT u.handle, coalesce(u.message_type, p_type) AS message_type
                                      FROM unnest(p_handles, p_types) AS u (handle, message_type)) AS m
                              JOIN unnest(v_handles, v_contracts, v_are_initiators) AS d (handle, contract_id, is_initiator)
                                ON d.handle = m.handle) AS k
                WHERE NOT EXISTS (SELECT FROM ssb.contract_message_usage AS u
                                   WHERE u.contract_id = k.contract_id AND u.message_type_name = k.message_type
                                     AND CASE WHEN k.is_initiator THEN u.is_sent_by_initiator ELSE u.is_sent_by_target END)) THEN
        RETURN false;
    END IF;
    INSERT INTO ssb.transmission (database_id, endpoint_id, to_service, message_sequence_number, message_type_name,
                                  is_end_of_dialog, is_conversation_error, enqueued_at, body, transmission_status, peer_id, is_last_of_run)
    SELECT d.database_id, d.endpoint_id, d.far_service, d.next_number + u.rank - 1, coalesce(u.message_type, p_type), false, false,
           clock_timestamp(), CASE WHEN p_bodies IS NULL THEN p_body ELSE u.body END, d.status, d.peer_id, u.is_last
      FROM (SELECT u.*, row_number() OVER w AS rank, lead(u.place) OVER w IS NULL AS is_last
              FROM unnest(p_handles, p_types, p_bodies) WITH ORDINALITY AS u (handle, message_type, body, place)
            WINDOW w AS (PARTITION BY u.handle ORDER BY u.place)) AS u
      JOIN unnest(v_handles, v_endpoints, v_databases, v_services, v_next, v_statuses, v_peers)
           AS d (handle, endpoint_id, database_id, far_service, next_number, status, peer_id) ON d.handle = u.handle
     ORDER BY u.place;
    PERFORM ssb_internal.announce_departure_to(p.peer_id) FROM (SELECT DISTINCT unnest(v_peers) AS peer_id) AS p;
    RETURN true;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.send_set_to_known_remote(uuid[], text[], bytea[], text, bytea) FROM PUBLIC;

-- The broker of this instance, or somebody in its name, has something to say to an open dialog that a
-- message from another instance, or the answer to one of ours, has settled: an Error in the near queue. Once.
-- Locks  the remote conversation's row
CREATE OR REPLACE FUNCTION ssb_internal.fail_by_remote(p_endpoint_id bigint, p_code integer, p_description text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    UPDATE ssb.remote_conversation AS r SET far_outcome = 'ER' WHERE r.endpoint_id = p_endpoint_id AND r.far_outcome IS NULL;
    IF FOUND THEN
        PERFORM ssb_internal.put_message(e, 1, -1, 'X', ssb_internal.error_body(p_code, p_description))
           FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_endpoint_id AND e.closed_at IS NULL;
    END IF;
END;
$$;

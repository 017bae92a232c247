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
                    WHERE upper(r.address COLLATE "C") <> 'LOCAL' OR r.service_name = 'SQL/ServiceBroker/BrokerConfiguration')
        OR EXISTS (SELECT FROM ssb.remote_conversation)
        OR (ssb_internal.has_started_endpoint() AND EXISTS (SELECT FROM ssb.master_key));   -- others may seal messages for this instance
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.has_transport() FROM PUBLIC;

-- Of the dialogs with messages that wait, those that find_route leads elsewhere than they wait for. Routes are looked at once for a service,
-- and each dialog's own among them. p_database_id, p_services: only what waits from there, for those; NULL: all. p_with_near: also those
-- that wait for no other instance and are led to none. addresses, mirror_addresses: where all of them are other instances, and none is
-- where the dialog waits now, the routes that share it; else NULL.
DROP FUNCTION IF EXISTS ssb_internal.astray_dialogs(integer, text[], boolean);
CREATE OR REPLACE FUNCTION ssb_internal.astray_dialogs(p_database_id integer, p_services text[], p_with_near boolean)
RETURNS TABLE (endpoint_id bigint, address text, is_under_way boolean, addresses text[], mirror_addresses text[])
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH waiting AS MATERIALIZED (
        SELECT e.endpoint_id, e.database_id, e.far_service, r.address, r.mirror_address,
               coalesce(r.is_under_way, false) AS is_under_way,
               coalesce(e.far_broker_instance, r.far_instance) AS instance
          FROM (SELECT DISTINCT t.endpoint_id FROM ssb.transmission AS t
                 WHERE t.database_id = coalesce(p_database_id, t.database_id)
                   AND (p_services IS NULL OR t.to_service = ANY (p_services))) AS t
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = t.endpoint_id AND e.far_endpoint_id IS NULL
          LEFT JOIN ssb.remote_conversation AS r ON r.endpoint_id = t.endpoint_id
    ), ways AS MATERIALIZED (
        SELECT w.*, row_number() OVER () AS n
          FROM (SELECT DISTINCT w.database_id, w.far_service, w.instance FROM waiting AS w) AS w
    ), routes AS MATERIALIZED (
        SELECT w.n, lower(f.address) AS known_as, f.address, f.mirror_address, f.level, f.rank,
               coalesce(f.expires_at, 'infinity') > clock_timestamp() AS is_valid
          FROM ways AS w
         CROSS JOIN LATERAL ssb_internal.routes_for(w.database_id, w.far_service, w.instance) AS f
    ), best AS MATERIALIZED (
        SELECT r.n, r.level, r.rank, array_agg(r.address) AS addresses, array_agg(r.mirror_address) AS mirror_addresses
          FROM (SELECT r.*, rank() OVER (PARTITION BY r.n ORDER BY r.level, r.rank) AS place FROM routes AS r WHERE r.is_valid) AS r
         WHERE r.place = 1
         GROUP BY r.n, r.level, r.rank
    ), groups AS MATERIALIZED (
        SELECT g.*, w.n
          FROM (SELECT DISTINCT w.database_id, w.far_service, w.instance, w.address, w.mirror_address, w.is_under_way FROM waiting AS w) AS g
          JOIN ways AS w ON w.database_id = g.database_id AND w.far_service = g.far_service AND w.instance IS NOT DISTINCT FROM g.instance
    ), own AS (
        -- Where the dialog waits now, if there is a route to there still: the best one.
        SELECT DISTINCT ON (g.n, g.address, g.mirror_address, g.is_under_way) g.n, g.address, g.mirror_address, g.is_under_way, r.level, r.rank,
               r.mirror_address IS NOT DISTINCT FROM g.mirror_address AS has_same_mirror
          FROM groups AS g
          JOIN routes AS r ON r.n = g.n AND r.known_as = lower(g.address) AND (r.is_valid OR g.is_under_way)
         ORDER BY g.n, g.address, g.mirror_address, g.is_under_way, r.level, r.rank, r.mirror_address IS NOT DISTINCT FROM g.mirror_address DESC
    ), astray AS MATERIALIZED (
        SELECT g.*, o.n IS NULL AND b.rank NOT IN (1, 4) AS is_plain, b.addresses, b.mirror_addresses
          FROM groups AS g
          LEFT JOIN best AS b ON b.n = g.n
          LEFT JOIN own AS o ON o.n = g.n AND o.address = g.address AND o.mirror_address IS NOT DISTINCT FROM g.mirror_address
                            AND o.is_under_way = g.is_under_way
         WHERE CASE WHEN g.address IS NULL THEN p_with_near OR b.rank NOT IN (1, 4)
                    WHEN o.n IS NULL OR NOT o.has_same_mirror THEN true
                    WHEN b.n IS NULL OR o.level < b.level THEN false
                    WHEN g.is_under_way THEN o.level > b.level
                    ELSE (o.level, o.rank) > (b.level, b.rank) END
    )
    SELECT w.endpoint_id, w.address, w.is_under_way, CASE WHEN a.is_plain THEN a.addresses END, CASE WHEN a.is_plain THEN a.mirror_addresses END
      FROM waiting AS w
      JOIN astray AS a ON a.database_id = w.database_id AND a.far_service = w.far_service AND a.is_under_way = w.is_under_way
       AND (a.instance, a.address, a.mirror_address) IS NOT DISTINCT FROM (w.instance, w.address, w.mirror_address)
     ORDER BY w.endpoint_id;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.astray_dialogs(integer, text[], boolean) FROM PUBLIC;

-- Looks again at dialogs with messages that wait, as ssb_internal.astray_dialogs finds them. Most are led to another instance than they
-- wait for, and nothing else about them is special: those move as one; the others one by one. False: somebody holds some of them.
-- Locks  their groups, and the remote conversations' rows, where nobody holds them
CREATE OR REPLACE FUNCTION ssb_internal.reroute(p_database_id integer, p_services text[], p_with_near boolean)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_astray record;
    v_plain record;
    v_moved bigint[];
    v_begun bigint[];
    v_endpoint_id bigint;
    v_has_all boolean := true;
BEGIN
    SELECT array_agg(a.endpoint_id) AS endpoints, array_agg(a.endpoint_id) FILTER (WHERE a.addresses IS NOT NULL) AS plain,
           array_agg(a.address) FILTER (WHERE a.addresses IS NOT NULL) AS known,
           array_agg(a.is_under_way) FILTER (WHERE a.addresses IS NOT NULL) AS are_under_way,
           array_agg(a.addresses[a.choice]) FILTER (WHERE a.addresses IS NOT NULL) AS addresses,
           array_agg(a.mirror_addresses[a.choice]) FILTER (WHERE a.addresses IS NOT NULL) AS mirrors
      INTO v_astray
      FROM (SELECT a.*, 1 + floor(random() * cardinality(a.addresses))::integer AS choice
              FROM ssb_internal.astray_dialogs(p_database_id, p_services, p_with_near) AS a OFFSET 0) AS a;
    IF v_astray.endpoints IS NULL THEN
        RETURN true;
    END IF;
    IF v_astray.plain IS NOT NULL THEN
        -- Dialogs that lead their own group, of databases where nobody is asked for routes.
        SELECT array_agg(l.endpoint_id) AS endpoints, array_agg(l.address) AS addresses, array_agg(l.mirror) AS mirrors,
               array_agg(l.known) AS known, array_agg(l.is_under_way) AS are_under_way
          INTO v_plain
          FROM (SELECT e.endpoint_id, u.address, u.mirror, u.known, u.is_under_way
                  FROM unnest(v_astray.plain, v_astray.addresses, v_astray.mirrors, v_astray.known, v_astray.are_under_way)
                       AS u (endpoint_id, address, mirror, known, is_under_way)
                  JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = u.endpoint_id
                 WHERE e.lock_id = e.endpoint_id AND e.far_endpoint_id IS NULL AND e.has_waiting AND (u.known IS NOT NULL OR e.is_initiator)
                   AND e.database_id <> ALL (ARRAY(SELECT d.database_id FROM ssb.database AS d WHERE ssb_internal.has_notice_route(d.database_id)))
                 ORDER BY e.endpoint_id
                   FOR NO KEY UPDATE OF e SKIP LOCKED) AS l;
        -- Those that waited for another instance: where nobody holds their row, as the daemon does, and it is what it was.
        SELECT array_agg(l.endpoint_id) INTO v_moved
          FROM (SELECT r.endpoint_id
                  FROM unnest(v_plain.endpoints, v_plain.known, v_plain.are_under_way) AS u (endpoint_id, known, is_under_way)
                  JOIN ssb.remote_conversation AS r ON r.endpoint_id = u.endpoint_id
                 WHERE r.address = u.known AND r.is_under_way = u.is_under_way
                 ORDER BY r.endpoint_id
                   FOR NO KEY UPDATE OF r SKIP LOCKED) AS l;
        UPDATE ssb.remote_conversation AS r
           SET address = u.address, mirror_address = u.mirror, peer_id = p.peer_id, failures = 0, retry_at = NULL
          FROM unnest(v_plain.endpoints, v_plain.addresses, v_plain.mirrors) AS u (endpoint_id, address, mirror)
          JOIN unnest(v_moved) AS m (endpoint_id) ON m.endpoint_id = u.endpoint_id
          JOIN (SELECT d.*, ssb_internal.peer_of(d.address, d.mirror) AS peer_id
                  FROM (SELECT DISTINCT d.address, d.mirror FROM unnest(v_plain.addresses, v_plain.mirrors) AS d (address, mirror)) AS d
                OFFSET 0) AS p ON p.address = u.address AND p.mirror IS NOT DISTINCT FROM u.mirror
         WHERE r.endpoint_id = u.endpoint_id;
        -- And those that waited for a route.
        WITH begun AS (
            INSERT INTO ssb.remote_conversation (endpoint_id, conversation_id, is_initiator, database_id, service_id, address, mirror_address,
                                                 peer_id)
            SELECT e.endpoint_id, e.conversation_id, true, e.database_id, e.service_id, u.address, u.mirror, p.peer_id
              FROM unnest(v_plain.endpoints, v_plain.addresses, v_plain.mirrors, v_plain.known) AS u (endpoint_id, address, mirror, known)
              JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = u.endpoint_id
              JOIN (SELECT d.*, ssb_internal.peer_of(d.address, d.mirror) AS peer_id
                      FROM (SELECT DISTINCT d.address, d.mirror FROM unnest(v_plain.addresses, v_plain.mirrors) AS d (address, mirror)) AS d
                    OFFSET 0) AS p ON p.address = u.address AND p.mirror IS NOT DISTINCT FROM u.mirror
             WHERE u.known IS NULL AND e.is_initiator
            ON CONFLICT DO NOTHING
            RETURNING endpoint_id)
        SELECT array_agg(b.endpoint_id) INTO v_begun FROM begun AS b;
        v_moved := v_moved || v_begun;
        UPDATE ssb.transmission AS t SET peer_id = r.peer_id, transmission_status = ssb_internal.status_on_route(r.address)
          FROM ssb.remote_conversation AS r
         WHERE t.endpoint_id = ANY (v_moved) AND r.endpoint_id = t.endpoint_id;
        IF v_moved IS NOT NULL THEN
            PERFORM ssb_internal.announce_departure();
        END IF;
    END IF;
    FOR v_endpoint_id IN SELECT unnest(v_astray.endpoints) EXCEPT SELECT unnest(v_moved) ORDER BY 1 LOOP
        IF ssb_internal.try_lock_endpoint(v_endpoint_id) THEN
            PERFORM ssb_internal.deliver_waiting(v_endpoint_id);
        ELSE
            v_has_all := false;
        END IF;
    END LOOP;
    RETURN v_has_all;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.reroute(integer, text[], boolean) FROM PUBLIC;

-- Which routes a transaction has changed, for as long as it is open. Never a row of one that has committed.
CREATE TABLE IF NOT EXISTS ssb.changed_route (database_id integer NOT NULL, service_name text);

-- At the end of a transaction that changed routes: what waits for these services and is led elsewhere now, or was led nowhere. NULL: the
-- route is for all services; and who is asked for routes is asked for those of any service.
-- Locks  as ssb_internal.reroute; the daemon looks at what somebody holds (ssb_internal.follow_routes), and after a transaction of
--        another isolation than read committed, which could not commit where a dialog has sent since it began
CREATE OR REPLACE FUNCTION ssb_internal.routes_have_changed()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('transaction_isolation') = 'read committed' THEN
        PERFORM ssb_internal.reroute(NEW.database_id, CASE WHEN NEW.service_name <> 'SQL/ServiceBroker/BrokerConfiguration'
                                                           THEN ARRAY[NEW.service_name] END, true);
    ELSE
        PERFORM ssb_internal.announce_departure();
    END IF;
    RETURN NULL;
END;
$$;
DROP TRIGGER IF EXISTS routes_have_changed ON ssb.changed_route;
CREATE CONSTRAINT TRIGGER routes_have_changed AFTER INSERT ON ssb.changed_route
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ssb_internal.routes_have_changed();

-- After a change of routes. Not at once: dialogs that are moved are locked, and who brings messages of one of them would wait for this
-- transaction to end, with everything else from that instance.
DROP FUNCTION IF EXISTS ssb_internal.deliver_waiting_on_routes(integer, text[]);
CREATE OR REPLACE FUNCTION ssb_internal.follow_routes_at_commit(p_database_id integer, VARIADIC p_services text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO ssb.changed_route (database_id, service_name) SELECT DISTINCT p_database_id, s.name FROM unnest(p_services) AS s (name);
    DELETE FROM ssb.changed_route;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.follow_routes_at_commit(integer, text[]) FROM PUBLIC;

-- Dialogs whose route has changed while somebody held their group, or has expired, are looked at again; also dialogs that are
-- no others' yet. Returned is what has to be given back at the next look, which does nothing where all is as it was then.
-- Locks  as ssb_internal.reroute
CREATE OR REPLACE FUNCTION ssb_internal.follow_routes(p_known text)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_expired text := ' ' || (SELECT count(*) FROM ssb.route AS r WHERE r.expires_at <= clock_timestamp());
    v_state text;
BEGIN
    PERFORM ssb_internal.request_routes();
    IF coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0) || v_expired = p_known THEN
        RETURN p_known;
    END IF;
    v_state := ssb_internal.epoch_of_routes() || v_expired;       -- NULL: somebody is changing definitions just now
    RETURN CASE WHEN ssb_internal.reroute(NULL, NULL, false) THEN v_state END;
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
SET enable_sort = off                               -- see ssb_internal.next_set
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
        OR (p.peer_id <> ALL (p_told) AND EXISTS (SELECT FROM ssb.transmission AS t
                                                    WHERE t.peer_id = p.peer_id AND t.is_last_of_run
                                                    ORDER BY t.priority DESC OFFSET 0))
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
    v_held bigint[];
BEGIN
    SELECT array_agg(r.endpoint_id) INTO v_due
      FROM (SELECT r.endpoint_id FROM ssb.remote_conversation AS r
             WHERE r.peer_id = p_peer_id AND r.retry_at <= (SELECT clock_timestamp())
             ORDER BY r.retry_at LIMIT p_messages FOR NO KEY UPDATE SKIP LOCKED) AS r;
    IF v_due IS NOT NULL THEN
        v_held := ssb_internal.held_dialogs(v_due, NULL, 16);
        PERFORM ssb_internal.put_off(v_held, NULL);
        v_due := ARRAY(SELECT d FROM unnest(v_due) AS d WHERE d <> ALL (v_held));
        PERFORM ssb_internal.park_stragglers(v_due);
        UPDATE ssb.remote_conversation AS r SET retry_at = NULL WHERE r.endpoint_id = ANY (v_due);
        -- Each is found by itself: of those that were sent as one the last may not be among them.
        UPDATE ssb.transmission AS t SET peer_id = p_peer_id, is_last_of_run = true
         WHERE t.ctid = ANY (ARRAY(SELECT f.ctid
                                     FROM unnest(v_due) AS d (endpoint_id)
                                    CROSS JOIN LATERAL (SELECT f.ctid, row_number() OVER w AS n,
                                                               sum(length(f.body) + 200) OVER w AS so_far
                                                          FROM (SELECT f.ctid, f.endpoint_id, f.message_sequence_number, f.body
                                                                  FROM ssb.transmission AS f
                                                                 WHERE f.endpoint_id BETWEEN d.endpoint_id AND d.endpoint_id
                                                                 ORDER BY f.endpoint_id, f.message_sequence_number LIMIT 16) AS f
                                                        WINDOW w AS (ORDER BY f.endpoint_id, f.message_sequence_number)) AS f
                                    WHERE f.n = 1 OR f.so_far <= 491520));
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.try_parked(integer, integer) FROM PUBLIC;

-- A dialog is parked for 30 seconds at the most: where it is for longer, the server's clock has gone back, and it is tried now.
--
-- Called by  the daemon, with each look
CREATE OR REPLACE FUNCTION ssb_internal.heed_clock()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_peer_id integer;
BEGIN
    FOR v_peer_id IN
        SELECT p.peer_id FROM ssb.transport_peer AS p
         WHERE EXISTS (SELECT FROM ssb.remote_conversation AS r
                        WHERE r.peer_id = p.peer_id AND r.retry_at > v_now + interval '1 minute' ORDER BY r.retry_at OFFSET 0)
    LOOP
        UPDATE ssb.remote_conversation AS r SET retry_at = v_now
         WHERE r.endpoint_id IN (SELECT k.endpoint_id FROM ssb.remote_conversation AS k
                                  WHERE k.peer_id = v_peer_id AND k.retry_at > v_now + interval '1 minute'
                                    FOR NO KEY UPDATE SKIP LOCKED);
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.heed_clock() FROM PUBLIC;

-- Messages that were sent while their dialog was parked: SEND does not ask.
CREATE OR REPLACE FUNCTION ssb_internal.park_stragglers(p_endpoints bigint[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    UPDATE ssb.transmission AS t SET peer_id = NULL
     WHERE t.ctid = ANY (ARRAY(SELECT f.ctid FROM ssb.transmission AS f
                                WHERE f.endpoint_id = ANY (p_endpoints) AND f.peer_id IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.park_stragglers(bigint[]) FROM PUBLIC;

-- Messages of these dialogs wait for a while, longer each time, and their status says why (NULL: as it is). What somebody holds is passed: who
-- looks for messages leaves a dialog out that is parked, or whose row is held.
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
     WHERE r.endpoint_id = ANY (ARRAY(SELECT k.endpoint_id FROM ssb.remote_conversation AS k
                                       WHERE k.endpoint_id = ANY (p_endpoints) FOR NO KEY UPDATE SKIP LOCKED));
    UPDATE ssb.transmission AS t SET transmission_status = coalesce(p_status, t.transmission_status), peer_id = NULL
     WHERE t.ctid = ANY (ARRAY(SELECT f.ctid FROM ssb.transmission AS f
                                WHERE f.endpoint_id = ANY (p_endpoints) AND (f.transmission_status <> p_status OR f.peer_id IS NOT NULL)
                                  FOR NO KEY UPDATE SKIP LOCKED));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.put_off(bigint[], text) FROM PUBLIC;

-- The other instance cannot be reached, or let nobody in. The status of each message says why.
CREATE OR REPLACE FUNCTION ssb_internal.note_transport_failure(p_peer_id integer, p_status text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    UPDATE ssb.transmission AS t SET transmission_status = p_status
     WHERE t.ctid = ANY (ARRAY(
               SELECT w.ctid FROM ssb.transmission AS w
                WHERE w.endpoint_id = ANY (ARRAY(SELECT DISTINCT f.endpoint_id FROM ssb.transmission AS f
                                                  WHERE f.peer_id = p_peer_id AND f.is_last_of_run))
                  AND w.peer_id = p_peer_id AND w.transmission_status <> p_status
                  FOR NO KEY UPDATE SKIP LOCKED));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.note_transport_failure(integer, text) FROM PUBLIC;

-- Of dialogs that are over, what came is remembered for a day after the last message.
--
-- Called by  the daemon, every ten minutes
CREATE OR REPLACE FUNCTION ssb_internal.forget_remote_conversations()
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ssb_internal.forget_fragments();
    SELECT ssb_internal.forget_unused_dialog_keys();
    -- Sets that nobody has opened, and answers that nobody has asked for: their sender was ended, or waits no more.
    DELETE FROM ssb.sealed_set AS s WHERE s.came_at < clock_timestamp() - interval '5 minutes';
    -- (Who asks for one, or brings a message, in a transaction that he keeps open, is not waited for.)
    DELETE FROM ssb.set_answer AS a
     WHERE a.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.set_answer AS o
                                WHERE o.answered_at < clock_timestamp() - interval '5 minutes' FOR UPDATE SKIP LOCKED));
    DELETE FROM ssb.remote_conversation AS r
     WHERE r.endpoint_id = ANY (ARRAY(SELECT o.endpoint_id FROM ssb.remote_conversation AS o
                                       WHERE o.taken_at < clock_timestamp() - interval '1 day'
                                         AND NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = o.endpoint_id)
                                         FOR UPDATE SKIP LOCKED));
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

-- For those who may monitor, as VIEW SERVER STATE. SECURITY DEFINER: whether a session is there still is not shown to everybody.
CREATE OR REPLACE FUNCTION ssb_internal.open_transport_connections()
RETURNS SETOF ssb.transport_connection
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ssb_internal.may_monitor() AND NOT pg_is_in_recovery() THEN
        RETURN QUERY
        SELECT c.* FROM ssb.transport_connection AS c
          JOIN pg_stat_activity AS a ON a.pid = c.pid AND a.backend_start = c.backend_start;
    END IF;
END;
$$;

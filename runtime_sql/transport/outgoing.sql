-- The transport: messages on their way to other instances. The daemon reads them here, hands them to
-- ssb.take_from_afar of the other instance, and settles here what that answered. Every step may be done
-- twice: the far side knows by its number what has come already.
--
-- For the runtime's owner only, as the daemon's other functions.
-- Called by  the daemon

-- Without an endpoint that is started an instance neither takes messages from others nor sends them any.
CREATE OR REPLACE FUNCTION ssb_internal.has_started_endpoint()
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT EXISTS (SELECT FROM ssb.broker_endpoint AS b WHERE b.state = 'STARTED'); $$;

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

-- Where messages have to go. A route may have expired, or its change met a group that was in use: those
-- dialogs are looked at again, also dialogs that are no others' yet.
-- Locks  their groups, where nobody holds them
CREATE OR REPLACE FUNCTION ssb_internal.transport_addresses()
RETURNS TABLE (address text, mirror_address text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_endpoint_id bigint;
BEGIN
    PERFORM ssb_internal.request_routes();
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
        END IF;
    END LOOP;
    RETURN QUERY
    SELECT DISTINCT r.address, r.mirror_address
      FROM (SELECT DISTINCT t.endpoint_id FROM ssb.transmission AS t) AS t
      JOIN ssb.remote_conversation AS r ON r.endpoint_id = t.endpoint_id
     WHERE r.address IS NOT NULL
    UNION
    SELECT f.address, f.mirror_address FROM ssb.forwarded_set AS f;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.transport_addresses() FROM PUBLIC;

-- The next messages for an address, those of the highest priority and the oldest first, at most p_bytes of them (one at least). What this returns
-- may arrive: dialogs are marked, and a message that its sender committed without waiting for the disk is
-- there from now on, whatever happens to this server. So the call is a transaction of its own. p_under_way: dialogs
-- whose last set has not been answered yet.
CREATE OR REPLACE FUNCTION ssb_internal.messages_to_send(p_address text, p_mirror_address text, p_messages integer, p_bytes bigint,
                                                         p_under_way bigint[] DEFAULT '{}')
RETURNS TABLE (endpoint_id bigint, conversation_id uuid, is_initiator boolean, session_key uuid, to_service text,
               to_instance text, from_service text, from_instance text, contract text, lifetime double precision,
               is_encrypted boolean, database_id integer, security char(1), inbound_key_id uuid, near text, far text,
               message_sequence_number bigint, message_type text, kind text, body bytea, enqueued_at timestamptz, trace text)
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
    v_ids bigint[];
    v_endpoints bigint[];
    v_secured bigint[];
    v_near text[];
    v_far text[];
BEGIN
    IF NOT ssb_internal.has_started_endpoint() THEN
        PERFORM ssb_internal.note_transport_failure(p_address, p_mirror_address,
            'Service Broker''s endpoint is not started in this instance: CREATE or ALTER ENDPOINT … STATE = STARTED.');
        RETURN;
    END IF;
    SELECT array_agg(w.transmission_id) INTO v_ids
      FROM (SELECT t.transmission_id, sum(coalesce(length(t.body), 0) + 200) OVER (ORDER BY t.priority DESC, t.transmission_id) AS so_far,
                   row_number() OVER (ORDER BY t.priority DESC, t.transmission_id) AS place
              FROM (SELECT t.transmission_id, t.priority, t.body
                      FROM ssb.transmission AS t
                      JOIN ssb.remote_conversation AS r ON r.endpoint_id = t.endpoint_id
                      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = t.endpoint_id
                      JOIN ssb.database AS d ON d.database_id = e.database_id
                     WHERE r.address = p_address AND r.mirror_address IS NOT DISTINCT FROM p_mirror_address
                       AND coalesce(r.retry_at, '-infinity') <= clock_timestamp() AND d.is_broker_enabled
                       AND t.endpoint_id <> ALL (p_under_way)
                     ORDER BY t.priority DESC, t.transmission_id LIMIT p_messages) AS t) AS w
     WHERE w.so_far <= p_bytes OR w.place = 1;
    IF v_ids IS NULL THEN
        RETURN;
    END IF;
    -- Which security each dialog has: those that lack what theirs needs are left out, and wait.
    SELECT array_agg(DISTINCT t.endpoint_id) INTO v_endpoints FROM ssb.transmission AS t WHERE t.transmission_id = ANY (v_ids);
    SELECT coalesce(array_agg(s.endpoint_id), '{}'), array_agg(s.near), array_agg(s.far) INTO v_secured, v_near, v_far
      FROM ssb_internal.secure_dialogs(v_endpoints) AS s;
    v_endpoints := ARRAY(SELECT r.endpoint_id FROM ssb.remote_conversation AS r
                          WHERE r.endpoint_id = ANY (v_endpoints) AND (r.security = 'N' OR r.endpoint_id = ANY (v_secured)));
    -- A dialog that a change of routes is just taking back is left out: its row is held.
    UPDATE ssb.remote_conversation AS r SET is_under_way = true
     WHERE r.endpoint_id = ANY (v_endpoints) AND NOT r.is_under_way;
    PERFORM pg_logical_emit_message(true, 'pgsb', '');
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    RETURN QUERY
    SELECT e.endpoint_id, e.conversation_id, e.is_initiator, r.session_key, e.far_service,
           coalesce(e.far_broker_instance, r.far_instance), e.service_name, d.service_broker_guid::text, e.contract_name,
           date_part('epoch', e.lifetime - clock_timestamp()), e.is_encrypted, e.database_id, r.security, r.inbound_key_id, u.near,
           u.far,
           t.message_sequence_number, t.message_type_name,
           CASE WHEN t.is_end_of_dialog THEN 'end' WHEN t.is_conversation_error THEN 'error' ELSE 'message' END, t.body,
           t.enqueued_at, t.trace
      FROM ssb.transmission AS t
      JOIN ssb.remote_conversation AS r ON r.endpoint_id = t.endpoint_id
      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = t.endpoint_id
      JOIN ssb.database AS d ON d.database_id = e.database_id
      LEFT JOIN unnest(v_secured, v_near, v_far) AS u (endpoint_id, near, far) ON u.endpoint_id = e.endpoint_id
     WHERE t.transmission_id = ANY (v_ids) AND r.is_under_way AND r.address = p_address AND t.endpoint_id = ANY (v_endpoints)
     ORDER BY t.transmission_id;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.messages_to_send(text, text, integer, bigint, bigint[]) FROM PUBLIC;

-- The other instance cannot be reached, or let nobody in. The status of each message says why.
CREATE OR REPLACE FUNCTION ssb_internal.note_transport_failure(p_address text, p_mirror_address text, p_status text)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
    UPDATE ssb.transmission AS t SET transmission_status = p_status
      FROM ssb.remote_conversation AS r
     WHERE r.endpoint_id = t.endpoint_id AND r.address = p_address AND r.mirror_address IS NOT DISTINCT FROM p_mirror_address
       AND coalesce(r.retry_at, '-infinity') <= clock_timestamp() AND t.transmission_status <> p_status;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.note_transport_failure(text, text, text) FROM PUBLIC;

-- What the other instance answered, an object for each dialog: endpoint_id; next_number, below which it has
-- everything; status, why it does not take more now; refusal and its code, why never; instance, which it is.
-- Locks  the group of a side that has ended its conversation, when the far side knows
CREATE OR REPLACE FUNCTION ssb_internal.settle_sent(p_answers jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_answer record;
    v_endpoint ssb.conversation_endpoint;
BEGIN
    FOR v_answer IN
        SELECT a.* FROM jsonb_to_recordset(p_answers)
            AS a (endpoint_id bigint, next_number bigint, status text, refusal_code integer, refusal text, instance text, key_id uuid)
         ORDER BY a.endpoint_id
    LOOP
        UPDATE ssb.remote_conversation AS r
           SET route_epoch = CASE WHEN r.far_instance IS NOT NULL OR v_answer.instance IS NULL THEN r.route_epoch END,
               far_instance = coalesce(r.far_instance, v_answer.instance),
               acknowledged = greatest(r.acknowledged, v_answer.next_number),
               outbound_key_id = coalesce(v_answer.key_id, r.outbound_key_id),
               failures = CASE WHEN v_answer.status IS NULL THEN 0 ELSE least(r.failures, 20) + 1 END,
               retry_at = CASE WHEN v_answer.status IS NOT NULL
                               THEN clock_timestamp() + least(30, 0.1 * 2 ^ least(r.failures, 20)) * interval '1 second' END
         WHERE r.endpoint_id = v_answer.endpoint_id
           AND (v_answer.status IS NOT NULL OR r.failures > 0 OR r.acknowledged < v_answer.next_number OR (r.far_instance IS NULL AND v_answer.instance IS NOT NULL)
                OR r.outbound_key_id IS DISTINCT FROM coalesce(v_answer.key_id, r.outbound_key_id));
        DELETE FROM ssb.transmission AS t
         WHERE t.endpoint_id = v_answer.endpoint_id AND t.message_sequence_number < v_answer.next_number
           AND NOT t.is_end_of_dialog AND NOT t.is_conversation_error;
        IF EXISTS (SELECT FROM ssb.transmission AS t
                    WHERE t.endpoint_id = v_answer.endpoint_id
                      AND (t.is_end_of_dialog OR t.is_conversation_error)
                      AND (t.message_sequence_number < v_answer.next_number OR v_answer.refusal IS NOT NULL))
           AND ssb_internal.try_lock_endpoint(v_answer.endpoint_id) THEN
            -- Where somebody holds the group it is sent and answered once more, and settled then.
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
            PERFORM ssb_internal.fail_from_afar(v_answer.endpoint_id, v_answer.refusal_code, v_answer.refusal);
            DELETE FROM ssb.transmission AS t
             WHERE t.endpoint_id = v_answer.endpoint_id AND NOT t.is_end_of_dialog AND NOT t.is_conversation_error;
        END IF;
        IF v_answer.status IS NOT NULL THEN
            UPDATE ssb.transmission AS t SET transmission_status = v_answer.status
             WHERE t.endpoint_id = v_answer.endpoint_id AND t.transmission_status <> v_answer.status;
        END IF;
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.settle_sent(jsonb) FROM PUBLIC;

-- Of dialogs that are over, what came is remembered for a day after the last message.
CREATE OR REPLACE FUNCTION ssb_internal.forget_remote_conversations()
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
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

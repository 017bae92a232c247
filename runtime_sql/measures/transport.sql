-- The part of the transmission queue that reports look at: 100,000 messages from the newest dialogs on; and of what lies behind them up to
-- 100 that wait for each instance, for the next try of its dialogs, and here for each of 1,000 services. So many messages for one
-- place do not hide that others wait for another.
--
-- Called by  transport_measures, transmission_reasons, check_transport
CREATE OR REPLACE FUNCTION ssb_internal.transmissions_to_report()
RETURNS TABLE (transmission_id bigint, database_id integer, endpoint_id bigint, to_service text, message_sequence_number bigint,
               enqueued_at timestamptz, transmission_status text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
    WITH RECURSIVE newest AS MATERIALIZED (
        SELECT t.transmission_id, t.database_id, t.endpoint_id, t.to_service, t.message_sequence_number, t.enqueued_at, t.transmission_status
          FROM ssb.transmission AS t ORDER BY t.endpoint_id DESC, t.message_sequence_number DESC LIMIT 100000),
    -- NULL where there is nothing behind it.
    last AS MATERIALIZED (
        SELECT n.endpoint_id, n.message_sequence_number FROM newest AS n
         ORDER BY n.endpoint_id DESC, n.message_sequence_number DESC OFFSET 99999),
    service AS (
        (SELECT t.to_service FROM ssb.transmission AS t WHERE t.peer_id IS NULL AND EXISTS (SELECT FROM last) ORDER BY t.to_service LIMIT 1)
        UNION ALL
        SELECT (SELECT t.to_service FROM ssb.transmission AS t
                 WHERE t.peer_id IS NULL AND t.to_service > s.to_service ORDER BY t.to_service LIMIT 1)
          FROM service AS s WHERE s.to_service IS NOT NULL),
    behind AS (
        SELECT t.transmission_id, t.database_id, t.endpoint_id, t.to_service, t.message_sequence_number, t.enqueued_at, t.transmission_status
          FROM last CROSS JOIN ssb.transport_peer AS p
         CROSS JOIN LATERAL (SELECT * FROM ssb.transmission AS t WHERE t.peer_id = p.peer_id AND t.is_last_of_run
                              ORDER BY t.priority DESC, t.endpoint_id + 0, (t.transmission_id + 0) DESC LIMIT 100) AS t
        UNION
        SELECT t.transmission_id, t.database_id, t.endpoint_id, t.to_service, t.message_sequence_number, t.enqueued_at, t.transmission_status
          FROM last CROSS JOIN ssb.transport_peer AS p
         CROSS JOIN LATERAL (SELECT r.endpoint_id FROM ssb.remote_conversation AS r
                              WHERE r.peer_id = p.peer_id AND r.retry_at IS NOT NULL ORDER BY r.retry_at LIMIT 100) AS r
         CROSS JOIN LATERAL (SELECT * FROM ssb.transmission AS t WHERE t.endpoint_id = r.endpoint_id
                              ORDER BY t.message_sequence_number LIMIT 1) AS t
        UNION
        SELECT t.transmission_id, t.database_id, t.endpoint_id, t.to_service, t.message_sequence_number, t.enqueued_at, t.transmission_status
          FROM (SELECT s.to_service FROM service AS s LIMIT 1000) AS s
         CROSS JOIN LATERAL (SELECT * FROM ssb.transmission AS t WHERE t.peer_id IS NULL AND t.to_service = s.to_service
                              ORDER BY t.endpoint_id LIMIT 100) AS t)
    SELECT * FROM newest
    UNION ALL
    SELECT b.* FROM behind AS b JOIN last AS l ON (b.endpoint_id, b.message_sequence_number) < (l.endpoint_id, l.message_sequence_number);
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.transmissions_to_report() FROM PUBLIC;

-- What leaves this instance, by the address it goes to; address NULL: what waits here for a queue, a service or a right.
-- Of very many messages waiting and oldest_at know a part. failing: those of them that were tried in vain, and status then says why;
-- failures: in a row, of messages that the other instance did not take.
--
-- Called by  the daemon's metrics, pgsb dashboard
DROP FUNCTION IF EXISTS ssb_internal.transport_measures();
CREATE FUNCTION ssb_internal.transport_measures()
RETURNS TABLE (address text, waiting bigint, dialogs bigint, oldest_at timestamptz, failures integer, retry_at timestamptz,
               status text, is_connected boolean, connected_at timestamptz, messages_sent bigint, bytes_sent bigint,
               failing bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    IF NOT ssb_internal.may_monitor() THEN
        PERFORM ssb_internal.raise_error(300, 'VIEW SERVER STATE permission was denied on object ''server'', database ''master''.', 14, 1,
                                         'GRANT pg_monitor TO this role.');
    END IF;
    RETURN QUERY
    WITH waiting AS MATERIALIZED (
        SELECT lower(r.address) AS address, count(*) AS messages, count(DISTINCT t.endpoint_id) AS dialogs,
               min(t.enqueued_at) AS oldest_at, max(r.failures) AS failures, min(r.retry_at) AS retry_at,
               (array_agg(t.transmission_status ORDER BY t.transmission_status = ssb_internal.status_on_route(r.address),
                                                         t.transmission_id DESC))[1] AS status,
               count(*) FILTER (WHERE r.address IS NOT NULL
                                  AND t.transmission_status NOT IN ('', ssb_internal.status_on_route(r.address))) AS failing
          FROM ssb_internal.transmissions_to_report() AS t
          LEFT JOIN ssb.remote_conversation AS r ON r.endpoint_id = t.endpoint_id
         GROUP BY lower(r.address)),
    connected AS MATERIALIZED (
        SELECT lower(c.address) AS address, min(c.connected_at) AS connected_at, sum(c.sends)::bigint AS sends,
               sum(c.bytes_sent)::bigint AS bytes
          FROM ssb_internal.open_transport_connections() AS c GROUP BY lower(c.address))
    SELECT coalesce(w.address, c.address), coalesce(w.messages, 0), coalesce(w.dialogs, 0), w.oldest_at, coalesce(w.failures, 0),
           w.retry_at, w.status, c.address IS NOT NULL, c.connected_at, coalesce(c.sends, 0), coalesce(c.bytes, 0), coalesce(w.failing, 0)
      FROM waiting AS w FULL JOIN connected AS c ON c.address = w.address
     ORDER BY 1 NULLS FIRST;
END;
$$;

-- What waits in the transmission queues of all T-SQL databases and why: by service and reason, the most first.
CREATE OR REPLACE FUNCTION ssb_internal.transmission_reasons()
RETURNS TABLE (from_service text, to_service text, status text, messages bigint, oldest_at timestamptz, conversation_handle uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM ssb_internal.require_monitor();
    RETURN QUERY
    SELECT e.service_name, t.to_service, t.transmission_status, count(*), min(t.enqueued_at),
           (array_agg(e.conversation_handle ORDER BY t.transmission_id))[1]
      FROM ssb_internal.transmissions_to_report() AS t
      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = t.endpoint_id
     GROUP BY e.service_name, t.to_service, t.transmission_status ORDER BY count(*) DESC LIMIT 100;
END;
$$;

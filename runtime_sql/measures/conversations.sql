-- Conversations for operators: a search with a limit, the bodies of what waits, and who talks with whom.
--
-- Called by  pgsb dashboard

-- 300 for those who are no operators.
CREATE OR REPLACE FUNCTION ssb_internal.require_monitor()
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT ssb_internal.may_monitor() THEN
        PERFORM ssb_internal.raise_error(300, 'VIEW SERVER STATE permission was denied on object ''server'', database ''master''.', 14, 1,
                                'GRANT pg_monitor TO this role.');
    END IF;
END;
$$;

-- Conversation sides, the newest first, at most p_limit of them that come before p_before (an endpoint_id, for the next page).
-- NULL matches everything.
--
-- p_service   its own service, or the far one (LIKE)
-- p_type      a message of this type waits in its queue
-- p_text      … and has this text in its body, in UTF-8 or UTF-16: only in queues that the caller may receive from
-- p_older, p_newer  begun longer ago, or more lately, than this
CREATE OR REPLACE FUNCTION ssb_internal.find_conversations(p_service text DEFAULT NULL, p_state text DEFAULT NULL, p_type text DEFAULT NULL,
                                                  p_text text DEFAULT NULL, p_older interval DEFAULT NULL, p_newer interval DEFAULT NULL,
                                                  p_queue text DEFAULT NULL, p_before bigint DEFAULT NULL, p_limit integer DEFAULT 100)
RETURNS TABLE (endpoint_id bigint, conversation_handle uuid, conversation_group_id uuid, side text, service_name text, far_service text,
               contract_name text, state text, started_at timestamptz, waiting bigint, queue text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM ssb_internal.require_monitor();
    RETURN QUERY
    SELECT e.endpoint_id, e.conversation_handle, e.conversation_group_id, CASE WHEN e.is_initiator THEN 'initiator' ELSE 'target' END,
           e.service_name, e.far_service, e.contract_name, s.state::text, e.started_at,
           (SELECT count(*) FROM (SELECT FROM ssb.message_stored AS m WHERE m.endpoint_id = e.endpoint_id LIMIT 1000) AS counted_rows),
           q.name::text
      FROM ssb.conversation_endpoint AS e
      LEFT JOIN ssb.queue AS q ON q.queue_id = e.queue_id
     CROSS JOIN LATERAL (SELECT ssb_internal.endpoint_state(e) AS state OFFSET 0) AS s
     WHERE e.endpoint_id < coalesce(p_before, 9223372036854775807) AND s.state IS NOT NULL
       AND (p_service IS NULL OR e.service_name LIKE p_service OR e.far_service LIKE p_service)
       AND (p_queue IS NULL OR q.name = p_queue)
       AND (p_state IS NULL OR s.state = p_state)
       AND (p_older IS NULL OR e.started_at < clock_timestamp() - p_older)
       AND (p_newer IS NULL OR e.started_at > clock_timestamp() - p_newer)
       AND ((p_type IS NULL AND p_text IS NULL)
            OR EXISTS (SELECT FROM ssb.message_stored AS m JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id
                        WHERE m.endpoint_id = e.endpoint_id AND (p_type IS NULL OR t.name LIKE p_type)
                          AND (p_text IS NULL
                               OR (ssb_internal.may_receive(q) AND (position(convert_to(p_text, 'UTF8') IN m.body) > 0
                                   OR position(ssb_internal.utf16_bytes(p_text) IN m.body) > 0)))))
     ORDER BY e.endpoint_id DESC LIMIT least(p_limit, 1000);
END;
$$;

-- The messages of both sides of a dialog that wait here or in the transmission queue, with their bodies. A body is NULL
-- for those who may not receive from the queue (or, of what waits to leave, from the sender's).
CREATE OR REPLACE FUNCTION ssb_internal.conversation_bodies(p_handle uuid, p_limit integer DEFAULT 200)
RETURNS TABLE (side text, place text, message_type_name text, message_sequence_number bigint, enqueued_at timestamptz, bytes integer, body bytea)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM ssb_internal.require_monitor();
    RETURN QUERY
    WITH sides AS MATERIALIZED (
        SELECT e.* FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = p_handle
        UNION ALL
        SELECT f.* FROM ssb.conversation_endpoint AS e JOIN ssb.conversation_endpoint AS f ON f.endpoint_id = e.far_endpoint_id
         WHERE e.conversation_handle = p_handle)
    SELECT CASE WHEN s.is_initiator THEN 'target' ELSE 'initiator' END, q.name::text, t.name, nullif(m.message_sequence_number, -1),
           m.enqueued_at, octet_length(m.body), CASE WHEN ssb_internal.may_receive(q) THEN substr(m.body, 1, 262144) END
      FROM sides AS s
      JOIN ssb.queue AS q ON q.queue_id = s.queue_id
     CROSS JOIN LATERAL (SELECT * FROM ssb.message_stored AS m WHERE m.endpoint_id = s.endpoint_id ORDER BY m.queuing_order LIMIT p_limit) AS m
      JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id
    UNION ALL
    SELECT CASE WHEN s.is_initiator THEN 'initiator' ELSE 'target' END, 'transmission queue', x.message_type_name, x.message_sequence_number,
           x.enqueued_at, octet_length(x.body), CASE WHEN ssb_internal.may_receive(q) THEN substr(x.body, 1, 262144) END
      FROM sides AS s
      JOIN ssb.queue AS q ON q.queue_id = s.queue_id
     CROSS JOIN LATERAL (SELECT * FROM ssb.transmission AS x WHERE x.endpoint_id = s.endpoint_id ORDER BY x.message_sequence_number LIMIT p_limit) AS x
     ORDER BY 5, 4;
END;
$$;

-- Who talks with whom: open dialogs by initiating service, target service and contract. Of a large table a sample of its
-- pages is read: counts are then estimates. address is where a route leads.
CREATE OR REPLACE FUNCTION ssb_internal.traffic()
RETURNS TABLE (from_service text, to_service text, contract_name text, conversations bigint, address text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_rows double precision := (SELECT greatest(c.reltuples, 0) FROM pg_class AS c WHERE c.oid = 'ssb.conversation_endpoint'::regclass);
    v_part double precision := least(100, 100 * 50000 / greatest(v_rows, 1));
BEGIN
    PERFORM ssb_internal.require_monitor();
    RETURN QUERY EXECUTE format($q$
        SELECT CASE WHEN e.is_initiator THEN e.service_name ELSE e.far_service END, CASE WHEN e.is_initiator THEN e.far_service ELSE e.service_name END,
               e.contract_name, ceil(count(*) * 100 / $1)::bigint, max(r.address)
          FROM ssb.conversation_endpoint AS e %s
          LEFT JOIN ssb.remote_conversation AS r ON r.endpoint_id = e.endpoint_id
         WHERE e.closed_at IS NULL AND (e.is_initiator OR r.endpoint_id IS NOT NULL)
         GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 200 $q$,
        CASE WHEN v_part < 100 THEN format('TABLESAMPLE SYSTEM (%s)', v_part) END)
    USING v_part;
END;
$$;

-- Depths of these queues over the last p_back, one number for each p_step: for small charts.
CREATE OR REPLACE FUNCTION ssb_internal.depth_histories(p_queue_ids integer[], p_back interval DEFAULT '30 minutes', p_step interval DEFAULT '1 minute')
RETURNS TABLE (queue_id integer, depths bigint[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM ssb_internal.require_monitor();
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT w.queue_id, array_agg(coalesce(s.depths[array_position(s.queue_ids, w.queue_id)], 0) ORDER BY s.sampled_at)
      FROM (SELECT DISTINCT ON (date_bin(p_step, n.sampled_at, 'epoch')) n.*
              FROM ssb.queue_sample AS n WHERE n.sampled_at > (SELECT clock_timestamp()) - p_back
             ORDER BY date_bin(p_step, n.sampled_at, 'epoch'), n.sampled_at DESC) AS s
     CROSS JOIN unnest(p_queue_ids) AS w (queue_id)
     GROUP BY w.queue_id;
END;
$$;

-- Groups in quarantine, with the message that failed; its body is NULL for those who may not receive from the queue.
CREATE OR REPLACE FUNCTION ssb_internal.quarantined_groups(p_queue text DEFAULT NULL, p_limit integer DEFAULT 200)
RETURNS TABLE (queue text, conversation_group_id uuid, conversation_handle uuid, service_name text, far_service text,
               message_type_name text, rollbacks integer, error text, quarantined_at timestamptz, messages bigint, body bytea)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM ssb_internal.require_monitor();
    RETURN QUERY
    SELECT q.name::text, g.conversation_group_id, e.conversation_handle, e.service_name, e.far_service, t.name, g.rollbacks,
           coalesce(ssb_internal.last_error(q.name, g.quarantined_at), g.error), g.quarantined_at,
           (SELECT count(*) FROM ssb.conversation_endpoint AS o JOIN ssb.message_stored AS m ON m.endpoint_id = o.endpoint_id
             WHERE o.lock_id = g.lock_id AND o.queue_id = g.queue_id),
           CASE WHEN ssb_internal.may_receive(q) THEN substr(m.body, 1, 4096) END
      FROM ssb.quarantined_group AS g
      JOIN ssb.queue AS q ON q.queue_id = g.queue_id
      LEFT JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = g.endpoint_id
      LEFT JOIN ssb.message_stored AS m ON m.endpoint_id = g.endpoint_id AND m.queuing_order = g.queuing_order
      LEFT JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id
     WHERE p_queue IS NULL OR q.name = p_queue
     ORDER BY g.quarantine_id DESC LIMIT p_limit;
END;
$$;

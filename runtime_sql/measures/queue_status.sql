-- ssb.queue_status: every queue of every T-SQL database, with what an operator asks first.
--
-- Sending and receiving write nothing down for this. How many messages ever came is the queue's
-- order sequence; how many wait is counted up to a limit, beyond which it is estimated by the
-- orders of the first and the last; how fast they come and go is the difference to a sample.
-- Sequences are read as tables: the server's functions leave a lock by which senders are known.

-- How much waits. enqueued_total also counts messages whose transactions were rolled back. Counted exactly
-- up to p_exact messages a queue; beyond, is_estimate is true. Whether a side look is needed stands inside it: behind ON
-- it would be asked when the look is done.
CREATE OR REPLACE FUNCTION ssb_internal.queue_depths(p_queue_id integer DEFAULT NULL, p_exact integer DEFAULT 10000)
RETURNS TABLE (queue_id integer, enqueued_total bigint, depth bigint, is_estimate boolean, oldest_at timestamptz,
               head_endpoint bigint, head_taker xid)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
    -- (The state first, as a RECEIVE does: two orders and a DROP QUEUE would be a deadlock.)
    SELECT q.queue_id,
           CASE WHEN ssb_internal.last_order_seen(q.state_sequence) IS NOT NULL THEN ssb_internal.last_order_seen(q.order_sequence) + 1 END,
           CASE WHEN n.counted <= p_exact THEN n.counted ELSE greatest(n.counted, l.last_order - h.first_order + 1) END,
           n.counted > p_exact, h.oldest_at, h.head_endpoint, h.head_taker
      FROM ssb.queue AS q
     CROSS JOIN LATERAL (SELECT count(*) AS counted
                           FROM (SELECT FROM ssb.message_stored AS m WHERE m.queue_id = q.queue_id
                                  LIMIT p_exact::bigint + 1) AS counted_rows) AS n
      LEFT JOIN LATERAL (
            SELECT min(f.enqueued_at) AS oldest_at, min(f.queuing_order) AS first_order,
                   (array_agg(f.endpoint_id ORDER BY f.priority DESC))[1] AS head_endpoint,
                   (array_agg(f.taker ORDER BY f.priority DESC))[1] AS head_taker
              FROM unnest(CASE WHEN n.counted > 0 THEN q.priorities END) AS p (priority)
             CROSS JOIN LATERAL (SELECT m.enqueued_at, m.queuing_order, m.endpoint_id, m.priority, m.xmax AS taker
                                   FROM ssb.message_stored AS m
                                  WHERE m.queue_id = q.queue_id AND m.priority = p.priority
                                  ORDER BY m.queuing_order LIMIT 1) AS f) AS h ON true
      LEFT JOIN LATERAL (
            SELECT max(f.queuing_order) AS last_order
              FROM unnest(CASE WHEN n.counted > p_exact THEN q.priorities END) AS p (priority)
             CROSS JOIN LATERAL (SELECT m.queuing_order FROM ssb.message_stored AS m
                                  WHERE m.queue_id = q.queue_id AND m.priority = p.priority
                                  ORDER BY m.queuing_order DESC LIMIT 1) AS f) AS l ON true
     WHERE q.queue_id = p_queue_id OR p_queue_id IS NULL;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.queue_depths(integer, integer) FROM PUBLIC;

-- The state of queues; of one when p_queue is given, as ssb.receive takes it ('dbo.orders').
--
-- in_per_second, out_per_second  against the daemon's newest sample that is 5 to 120 seconds old; NULL without one
-- rollbacks_in_a_row   as far as they are on record: 0 while all goes well
-- readers_wanted       those at work and those that the daemon's monitor would start now (daemon/monitor.py): one where none
--                      runs, more when a message waits for 0.1 seconds, each for a group that nobody holds, up to
--                      MAX_QUEUE_READERS. Such groups are looked for among the first messages, at most 1,000.
-- held_by              who has the group of the queue's first message: a session, a claim, quarantine
--
-- Called by  ssb.queue_status, ssb.diagnose, the daemon's metrics, pgsb top, pgsb dashboard
CREATE OR REPLACE FUNCTION ssb_internal.queue_measures(p_queue text DEFAULT NULL, p_exact integer DEFAULT 10000)
RETURNS TABLE (database_name text, queue text, state text, depth bigint, is_estimate boolean, oldest_at timestamptz,
               oldest_age interval, enqueued_total bigint, in_per_second numeric, out_per_second numeric,
               program text, is_activation_enabled boolean, monitor_state text, readers integer, readers_wanted integer, max_readers integer,
               rollbacks_in_a_row integer, quarantined_groups bigint, retained bigint, held_by text, held_by_pid integer,
               held_since timestamptz, services text[], queue_id integer, database_id integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_sees_all boolean := ssb_internal.may_monitor();
    v_queue_id integer := CASE WHEN p_queue IS NOT NULL THEN (ssb_internal.queue_of(p_queue)).queue_id END;
    v_sample ssb.queue_sample;
BEGIN
    SELECT s.* INTO v_sample FROM ssb.queue_sample AS s
     WHERE s.sampled_at BETWEEN (SELECT clock_timestamp()) - interval '120 seconds' AND (SELECT clock_timestamp()) - interval '5 seconds'
     ORDER BY s.sampled_at DESC LIMIT 1;
    RETURN QUERY
    WITH depths AS MATERIALIZED (
        SELECT d.*, e.lock_id, l.claim_id, l.xmax AS locker
          FROM ssb_internal.queue_depths(v_queue_id, p_exact) AS d
          LEFT JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = d.head_endpoint
          LEFT JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id
    ), holders AS MATERIALIZED (
        SELECT k.transactionid, a.pid, a.application_name, a.xact_start
          FROM pg_locks AS k JOIN pg_stat_activity AS a ON a.pid = k.pid
         WHERE k.locktype = 'transactionid' AND k.mode = 'ExclusiveLock' AND k.granted
           AND EXISTS (SELECT FROM depths AS d WHERE d.depth > 0)
    ), held AS MATERIALIZED (
        SELECT array_agg(h.transactionid) AS by_transactions FROM holders AS h
    ), tasks AS MATERIALIZED (
        SELECT t.queue_id, count(*)::integer AS running FROM ssb_internal.running_tasks() AS t GROUP BY t.queue_id
    ), aside AS MATERIALIZED (
        SELECT g.queue_id, count(*) AS groups FROM ssb.quarantined_group AS g GROUP BY g.queue_id
    ), before AS MATERIALIZED (
        SELECT u.queue_id, u.total, u.depth FROM unnest(v_sample.queue_ids, v_sample.orders, v_sample.depths)
               AS u (queue_id, total, depth)
    )
    SELECT ssb_internal.database_name(q.database_id), q.name::text,
           CASE WHEN NOT b.is_broker_enabled THEN 'BROKER DISABLED'
                WHEN NOT q.is_receive_enabled AND s.fails = 4095 THEN 'STOPPED BY POISON'
                WHEN q.is_poison_handling_enabled AND NOT q.is_quarantine_enabled AND s.fails = 4095 THEN 'STOPPED BY POISON'
                WHEN NOT q.is_receive_enabled OR NOT q.is_enqueue_enabled THEN 'OFF'
                ELSE 'ON' END,
           d.depth, d.is_estimate, d.oldest_at, clock_timestamp() - d.oldest_at, d.enqueued_total,
           round((d.enqueued_total - f.total) / w.seconds, 2),
           round(greatest(d.enqueued_total - f.total - (d.depth - f.depth), 0) / w.seconds, 2),
           coalesce(q.activation_procedure, q.external_program), q.is_activation_enabled, coalesce(m.state, 'INACTIVE'),
           coalesce(t.running, 0),
           coalesce(t.running, 0)
           + CASE WHEN o.groups > 0 AND coalesce(t.running, 0) = 0 THEN 1
                  WHEN o.waits_since < clock_timestamp() - interval '0.1 seconds'
                  THEN least(o.groups, greatest(q.max_readers - t.running, 0))
                  ELSE 0 END,
           q.max_readers,
           CASE WHEN s.state >= 2 THEN CASE s.fails WHEN 4095 THEN q.max_rollbacks ELSE s.fails END ELSE 0 END,
           coalesce(a.groups, 0),
           CASE WHEN q.is_retention_enabled
                THEN (SELECT count(*) FROM (SELECT FROM ssb.retained_message AS r WHERE r.queue_id = q.queue_id
                                             LIMIT p_exact) AS counted_rows)
                ELSE 0 END,
           CASE WHEN d.claim_id < 0 THEN 'quarantine'
                WHEN c.pid IS NOT NULL THEN format('claim %s, session %s', d.claim_id, c.pid)
                WHEN h.pid IS NOT NULL THEN concat('session ', h.pid, ' (' || nullif(h.application_name, '') || ')') END,
           CASE WHEN d.claim_id < 0 THEN NULL ELSE coalesce(c.pid, h.pid) END,
           CASE WHEN d.claim_id < 0
                THEN (SELECT g.quarantined_at FROM ssb.quarantined_group AS g WHERE g.quarantine_id = -d.claim_id)
                ELSE coalesce(c.claimed_at, h.xact_start) END,
           ARRAY(SELECT v.name FROM ssb.service AS v WHERE v.queue_id = q.queue_id ORDER BY v.name),
           q.queue_id, q.database_id
      FROM depths AS d
      JOIN ssb.queue AS q ON q.queue_id = d.queue_id
      JOIN ssb.database AS b ON b.database_id = q.database_id
     CROSS JOIN held AS x
     CROSS JOIN LATERAL (SELECT g.state, (g.state >> 2 & 4095)::integer AS fails
                           FROM (SELECT greatest(ssb_internal.last_order_seen(q.state_sequence), 0) AS state) AS g) AS s
      LEFT JOIN before AS f ON f.queue_id = q.queue_id
      LEFT JOIN LATERAL (SELECT extract(epoch FROM clock_timestamp() - v_sample.sampled_at)::numeric AS seconds) AS w ON true
      LEFT JOIN ssb.queue_monitor AS m ON m.queue_id = q.queue_id
      LEFT JOIN tasks AS t ON t.queue_id = q.queue_id
      LEFT JOIN aside AS a ON a.queue_id = q.queue_id
      LEFT JOIN LATERAL (
            SELECT count(*)::integer AS groups, min(w.waits_since) AS waits_since
              FROM (SELECT e.lock_id, min(m.enqueued_at) AS waits_since, bool_or(m.taker = ANY (x.by_transactions)) AS is_taken
                      FROM (SELECT m.endpoint_id, m.enqueued_at, m.xmax AS taker FROM ssb.message_stored AS m
                             WHERE m.queue_id = q.queue_id
                               -- Asked before the look; behind ON it would be asked when it is done.
                               AND q.is_activation_enabled AND q.is_receive_enabled AND q.max_readers > 0
                               AND d.depth > 0 AND b.is_broker_enabled
                             ORDER BY m.priority DESC, m.queuing_order
                             LIMIT least(1000, 20 * q.max_readers + 80)) AS m
                      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id AND e.closed_at IS NULL
                     GROUP BY e.lock_id) AS w
              JOIN ssb.conversation_endpoint AS g ON g.endpoint_id = w.lock_id
             WHERE (g.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(g.claim_id))
               AND (g.xmax = ANY (x.by_transactions) OR w.is_taken) IS NOT TRUE) AS o
        ON o.groups > 0 AND NOT ssb_internal.is_seen_poisoned(q)
      LEFT JOIN ssb.claim AS c ON c.claim_id = d.claim_id AND ssb_internal.claim_is_alive(d.claim_id)
      LEFT JOIN LATERAL (SELECT o.* FROM holders AS o
                          WHERE o.transactionid IN (d.locker, d.head_taker) LIMIT 1) AS h ON c.pid IS NULL
     WHERE v_sees_all OR ssb_internal.may_receive(q);
END;
$$;

CREATE OR REPLACE VIEW ssb.queue_status AS
SELECT m.* FROM ssb_internal.queue_measures() AS m ORDER BY m.database_name, m.queue;
GRANT SELECT ON ssb.queue_status TO PUBLIC;

-- How a queue's depth and rates went, from the daemon's samples: one row for each step of the time that lies back.
CREATE OR REPLACE FUNCTION ssb.queue_history(queue text, back interval DEFAULT '1 hour', step interval DEFAULT '15 seconds')
RETURNS TABLE (sampled_at timestamptz, depth bigint, in_per_second numeric, out_per_second numeric)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_queue ssb.queue := ssb_internal.queue_of(queue);
BEGIN
    IF NOT ssb_internal.may_monitor() THEN
        PERFORM ssb_internal.require_receive(v_queue);
    END IF;
    RETURN QUERY
    SELECT h.sampled_at, h.depth, round(greatest(h.total - h.total_before, 0) / h.seconds, 2),
           round(greatest(h.total - h.total_before - (h.depth - h.depth_before), 0) / h.seconds, 2)
      FROM (SELECT s.sampled_at, s.depth, s.total, lag(s.total) OVER w AS total_before, lag(s.depth) OVER w AS depth_before,
                   extract(epoch FROM s.sampled_at - lag(s.sampled_at) OVER w) AS seconds
              FROM (SELECT DISTINCT ON (date_bin(step, n.sampled_at, 'epoch'))
                           n.sampled_at, coalesce(n.orders[p.place], 0) AS total, coalesce(n.depths[p.place], 0) AS depth
                      FROM ssb.queue_sample AS n
                     CROSS JOIN LATERAL (SELECT array_position(n.queue_ids, v_queue.queue_id) AS place) AS p
                     WHERE n.sampled_at > (SELECT clock_timestamp()) - back
                     ORDER BY date_bin(step, n.sampled_at, 'epoch'), n.sampled_at DESC) AS s
            WINDOW w AS (ORDER BY s.sampled_at)) AS h
     WHERE h.seconds > 0
     ORDER BY h.sampled_at;
END;
$$;

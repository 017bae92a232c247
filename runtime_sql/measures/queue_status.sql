-- ssb.queue_status: every queue of every T-SQL database, with what an operator asks first.
--
-- Sending and receiving write nothing down for this. How many messages ever came is the queue's
-- order sequence; how many wait is counted up to a limit, beyond which it is estimated by the
-- orders of the first and the last; how fast they come and go is the difference to a sample.
-- Sequences are read as tables (ssb_internal.last_orders_seen): the server's functions leave a lock by which senders are known.

-- How much waits in a queue. Counted exactly up to p_exact messages; beyond, is_estimate is true.
CREATE OR REPLACE FUNCTION ssb_internal.queue_depth(p_queue ssb.queue, p_exact integer, OUT depth bigint, OUT is_estimate boolean,
                                                    OUT oldest_at timestamptz, OUT head_endpoint bigint, OUT head_taker xid)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_first bigint;
BEGIN
    depth := (SELECT count(*) FROM (SELECT FROM ssb.message_stored AS m WHERE m.queue_id = p_queue.queue_id
                                     LIMIT p_exact::bigint + 1) AS counted_rows);
    is_estimate := depth > p_exact;
    IF depth = 0 THEN
        RETURN;
    END IF;
    SELECT min(f.enqueued_at), min(f.queuing_order), (array_agg(f.endpoint_id ORDER BY f.priority DESC))[1],
           (array_agg(f.taker ORDER BY f.priority DESC))[1]
      INTO oldest_at, v_first, head_endpoint, head_taker
      FROM unnest(p_queue.priorities) AS p (priority)
     CROSS JOIN LATERAL (SELECT m.enqueued_at, m.queuing_order, m.endpoint_id, m.priority, m.xmax AS taker
                           FROM ssb.message_stored AS m
                          WHERE m.queue_id = p_queue.queue_id AND m.priority = p.priority
                          ORDER BY m.queuing_order LIMIT 1) AS f;
    IF is_estimate THEN
        SELECT greatest(depth, max(f.queuing_order) - v_first + 1) INTO depth
          FROM unnest(p_queue.priorities) AS p (priority)
         CROSS JOIN LATERAL (SELECT m.queuing_order FROM ssb.message_stored AS m
                              WHERE m.queue_id = p_queue.queue_id AND m.priority = p.priority
                              ORDER BY m.queuing_order DESC LIMIT 1) AS f;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.queue_depth(ssb.queue, integer) FROM PUBLIC;

-- The numbers of the transactions that run.
CREATE OR REPLACE FUNCTION ssb_internal.running_transactions()
RETURNS xid[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_agg(k.transactionid) FROM pg_locks AS k
     WHERE k.locktype = 'transactionid' AND k.mode = 'ExclusiveLock' AND k.granted;
$$;

-- Up to which number ssb.queue_status counts: that of ssb_internal.queue_measures, whose view it is then.
CREATE OR REPLACE FUNCTION ssb_internal.exact_depth()
RETURNS integer
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(nullif(current_setting('pgsb.exact_depth', true), '')::integer, 10000);
$$;

-- What ssb.queue_status has to look up for each queue; no row for who is no operator and may not receive from it.
--
-- p_running      ssb_internal.running_transactions(), asked once for all queues
-- p_exact        up to which number messages are counted
-- state          that of the state sequence (conversations/attempts.sql)
-- enqueued_total  also counts messages whose transactions were rolled back; NULL when somebody drops the queue meanwhile
-- free_groups    those with messages that nobody holds, where the queue has a program that could be started; waits_since: the
--                oldest of their messages. They are looked for among the first messages, at most 1,000.
-- held_by        who has the group of the queue's first message: a session, a prepared transaction, a claim, quarantine
--
-- Called by  ssb.queue_status
CREATE OR REPLACE FUNCTION ssb_internal.measured_queue(p_queue_id integer, p_running xid[], p_exact integer)
RETURNS TABLE (state bigint, enqueued_total bigint, depth bigint, is_estimate boolean, oldest_at timestamptz, free_groups integer,
               waits_since timestamptz, retained bigint, held_by text, held_by_pid integer, held_since timestamptz)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_queue ssb.queue;
    v_last bigint[];
    v_depth record;
    v_claim bigint;
    v_locker xid;
BEGIN
    SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    IF NOT FOUND OR NOT (ssb_internal.may_monitor() OR ssb_internal.may_receive(v_queue)) THEN
        RETURN;
    END IF;
    v_last := ssb_internal.last_orders_seen(v_queue.state_sequence, v_queue.order_sequence);
    state := greatest(v_last[1], 0);
    enqueued_total := v_last[2] + 1;
    SELECT d.* INTO v_depth FROM ssb_internal.queue_depth(v_queue, p_exact) AS d;
    depth := v_depth.depth;
    is_estimate := v_depth.is_estimate;
    oldest_at := v_depth.oldest_at;
    retained := CASE WHEN v_queue.is_retention_enabled
                     THEN (SELECT count(*) FROM (SELECT FROM ssb.retained_message AS r WHERE r.queue_id = p_queue_id
                                                  LIMIT p_exact) AS counted_rows)
                     ELSE 0 END;
    IF depth > 0 THEN
        SELECT l.claim_id, l.xmax INTO v_claim, v_locker
          FROM ssb.conversation_endpoint AS e JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id
         WHERE e.endpoint_id = v_depth.head_endpoint;
        IF v_claim < 0 THEN
            held_by := 'quarantine';
            held_since := (SELECT g.quarantined_at FROM ssb.quarantined_group AS g WHERE g.quarantine_id = -v_claim);
        ELSE
            IF v_claim > 0 THEN
                SELECT c.pid, c.claimed_at, format('claim %s, session %s', v_claim, c.pid) INTO held_by_pid, held_since, held_by
                  FROM ssb.claim AS c WHERE c.claim_id = v_claim AND ssb_internal.claim_is_alive(v_claim);
            END IF;
            IF held_by_pid IS NULL AND (v_locker = ANY (p_running) OR v_depth.head_taker = ANY (p_running)) THEN
                SELECT a.pid, a.xact_start, concat('session ', a.pid, ' (' || nullif(a.application_name, '') || ')')
                  INTO held_by_pid, held_since, held_by
                  FROM pg_locks AS k JOIN pg_stat_activity AS a ON a.pid = k.pid
                 WHERE k.locktype = 'transactionid' AND k.mode = 'ExclusiveLock' AND k.granted
                   AND k.transactionid IN (v_locker, v_depth.head_taker)
                 LIMIT 1;
                IF NOT FOUND THEN
                    -- One that is prepared is no session's.
                    SELECT p.prepared, format('prepared transaction %s', p.gid) INTO held_since, held_by
                      FROM pg_prepared_xacts AS p
                     WHERE p.database = current_database() AND p.transaction IN (v_locker, v_depth.head_taker)
                     LIMIT 1;
                END IF;
            END IF;
        END IF;
        IF v_queue.is_activation_enabled AND v_queue.is_receive_enabled AND v_queue.max_readers > 0
           AND (SELECT b.is_broker_enabled FROM ssb.database AS b WHERE b.database_id = v_queue.database_id)
           AND NOT (state >= 2 AND ssb_internal.is_seen_poisoned(p_queue_id)) THEN
            SELECT count(*)::integer, min(w.waits_since) INTO free_groups, waits_since
              FROM (SELECT e.lock_id, min(m.enqueued_at) AS waits_since, bool_or(m.taker = ANY (p_running)) AS is_taken
                      FROM (SELECT m.endpoint_id, m.enqueued_at, m.xmax AS taker FROM ssb.message_stored AS m
                             WHERE m.queue_id = p_queue_id
                             ORDER BY m.priority DESC, m.queuing_order
                             LIMIT least(1000, 20 * v_queue.max_readers + 80)) AS m
                      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id AND e.closed_at IS NULL
                     GROUP BY e.lock_id) AS w
              JOIN ssb.conversation_endpoint AS g ON g.endpoint_id = w.lock_id
             WHERE (g.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(g.claim_id))
               AND (g.xmax = ANY (p_running) OR w.is_taken) IS NOT TRUE;
        END IF;
    END IF;
    RETURN NEXT;
END;
$$;

-- The daemon's newest sample that is 5 to 120 seconds old, of the queues that the caller may see: none on a standby.
CREATE OR REPLACE FUNCTION ssb_internal.last_sample()
RETURNS TABLE (queue_id integer, total bigint, depth bigint, seconds numeric)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_may_monitor boolean := ssb_internal.may_monitor();
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT u.queue_id, u.total, u.depth, extract(epoch FROM clock_timestamp() - n.sampled_at)::numeric
      FROM (SELECT n.* FROM ssb.queue_sample AS n
             WHERE n.sampled_at BETWEEN (SELECT clock_timestamp()) - interval '120 seconds'
                                    AND (SELECT clock_timestamp()) - interval '5 seconds'
             ORDER BY n.sampled_at DESC LIMIT 1) AS n
     CROSS JOIN LATERAL unnest(n.queue_ids, n.orders, n.depths) AS u (queue_id, total, depth)
     WHERE v_may_monitor OR EXISTS (SELECT FROM ssb.queue AS q WHERE q.queue_id = u.queue_id AND ssb_internal.may_receive(q));
END;
$$;

-- The state of queues: a view of few parts, so that who asks for one queue by name looks at one. What everybody may know of a
-- queue (sys.service_queues) stands beside what its own function gives to who may see it.
--
-- in_per_second, out_per_second  against the daemon's newest sample that is 5 to 120 seconds old; NULL without one
-- rollbacks_in_a_row   as far as they are on record: 0 while all goes well
-- readers_wanted       those at work and those that the daemon's monitor would start now (daemon/monitor.py): one where none
--                      runs, more when a message waits for 0.1 seconds, each for a group that nobody holds, up to
--                      MAX_QUEUE_READERS
CREATE OR REPLACE VIEW ssb.queue_status AS
SELECT ssb_internal.database_name(q.database_id) AS database_name, q.name COLLATE "default" AS queue,
       CASE WHEN NOT b.is_broker_enabled THEN 'BROKER DISABLED'
            WHEN NOT q.is_receive_enabled AND s.fails = 4095 THEN 'STOPPED BY POISON'
            WHEN q.is_poison_handling_enabled AND NOT q.is_quarantine_enabled AND s.fails = 4095 THEN 'STOPPED BY POISON'
            WHEN NOT q.is_receive_enabled OR NOT q.is_enqueue_enabled THEN 'OFF'
            ELSE 'ON' END AS state,
       d.depth, d.is_estimate, d.oldest_at, clock_timestamp() - d.oldest_at AS oldest_age, d.enqueued_total,
       round((d.enqueued_total - f.total) / f.seconds, 2) AS in_per_second,
       round(greatest(d.enqueued_total - f.total - (d.depth - f.depth), 0) / f.seconds, 2) AS out_per_second,
       coalesce(q.activation_procedure, q.external_program) COLLATE "default" AS program, q.is_activation_enabled,
       coalesce(m.state, 'INACTIVE') AS monitor_state, coalesce(t.running, 0) AS readers,
       coalesce(t.running, 0)
       + CASE WHEN d.free_groups > 0 AND coalesce(t.running, 0) = 0 THEN 1
              WHEN d.waits_since < clock_timestamp() - interval '0.1 seconds'
              THEN least(d.free_groups, greatest(q.max_readers - t.running, 0))
              ELSE 0 END AS readers_wanted,
       q.max_readers,
       CASE WHEN d.state >= 2 THEN CASE s.fails WHEN 4095 THEN q.max_rollbacks ELSE s.fails END ELSE 0 END AS rollbacks_in_a_row,
       coalesce(a.groups, 0) AS quarantined_groups, d.retained, d.held_by, d.held_by_pid, d.held_since,
       ARRAY(SELECT v.name FROM ssb.service AS v WHERE v.queue_id = q.queue_id ORDER BY v.name) COLLATE "default" AS services, q.queue_id, q.database_id
  FROM ssb.queue AS q
  JOIN ssb.database AS b ON b.database_id = q.database_id
 CROSS JOIN LATERAL ssb_internal.measured_queue(q.queue_id, (SELECT ssb_internal.running_transactions()),
                                                (SELECT ssb_internal.exact_depth())) AS d
 CROSS JOIN LATERAL (SELECT (d.state >> 2 & 4095)::integer AS fails) AS s
  LEFT JOIN ssb_internal.queue_monitors() AS m ON m.queue_id = q.queue_id
  LEFT JOIN (SELECT r.queue_id, count(*)::integer AS running FROM ssb_internal.running_tasks() AS r GROUP BY r.queue_id) AS t
    ON t.queue_id = q.queue_id
  LEFT JOIN (SELECT g.queue_id, count(*) AS groups FROM ssb.quarantined_group AS g GROUP BY g.queue_id) AS a ON a.queue_id = q.queue_id
  LEFT JOIN ssb_internal.last_sample() AS f ON f.queue_id = q.queue_id
 ORDER BY 1, 2;
GRANT SELECT ON ssb.queue_status TO PUBLIC;

-- The same, of one queue when p_queue is given, as ssb.receive takes it ('dbo.orders'), with another limit up to which is counted.
--
-- Called by  ssb.diagnose, the daemon's metrics, pgsb top, pgsb dashboard
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
    v_queue_id integer := CASE WHEN p_queue IS NOT NULL THEN (ssb_internal.queue_of(p_queue)).queue_id END;
    v_before text := coalesce(current_setting('pgsb.exact_depth', true), '');
BEGIN
    PERFORM set_config('pgsb.exact_depth', p_exact::text, true);
    IF p_queue IS NULL THEN
        RETURN QUERY SELECT s.* FROM ssb.queue_status AS s;
    ELSE
        RETURN QUERY SELECT s.* FROM ssb.queue_status AS s WHERE s.queue_id = v_queue_id;
    END IF;
    PERFORM set_config('pgsb.exact_depth', v_before, true);
END;
$$;

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
    IF pg_is_in_recovery() THEN
        RETURN;
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

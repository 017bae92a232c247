-- Checks 2xx: the daemon, and what it says of service programs. Called by ssb.diagnose.
-- p_version is the caller's pgsb; NULL when it is not one.
CREATE OR REPLACE FUNCTION ssb_internal.check_daemon(p_limits jsonb, p_version text)
RETURNS TABLE (number integer, object text, detail text, remedy text, run_with text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 201, 'pgsb broker', concat_ws('; ', w.queues, w.others), 'pgsb broker', 'shell'
      FROM (SELECT (SELECT format('%s with activation: %s', ssb_internal.counted(count(*), 'queue'), string_agg(q.name, ', ' ORDER BY q.name))
                      FROM ssb_internal.broker_queues() AS q HAVING count(*) > 0) AS queues,
                   CASE WHEN ssb_internal.has_started_endpoint() AND ssb_internal.has_transport()
                        THEN 'routes to other instances, dialogs with them, or keys with which they seal messages for this one' END AS others) AS w
     -- On a standby none leads before the promotion.
     WHERE NOT EXISTS (SELECT FROM ssb.broker_daemons AS d WHERE d.is_leading) AND NOT pg_is_in_recovery()
       AND coalesce(w.queues, w.others) IS NOT NULL
    UNION ALL
    SELECT 202, d.host, format('leads since %s', to_char(d.leads_since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           'pgsb broker  # on another machine', 'shell'
      FROM ssb.broker_daemons AS d
     WHERE d.is_leading AND NOT EXISTS (SELECT FROM ssb.broker_daemons AS o WHERE NOT o.is_leading)
    UNION ALL
    SELECT 203, d.host, format('it is pgsb %s, this is pgsb %s', d.version, p_version), 'systemctl restart pgsb', 'shell'
      FROM ssb.broker_daemons AS d WHERE d.version <> p_version
    UNION ALL
    SELECT CASE b.event WHEN 'reader_failed' THEN 204 WHEN 'not_started' THEN 205 ELSE 206 END, b.queue,
           format('%s in the last %s, last: %s', ssb_internal.counted(count(*), 'time'),
                  ssb_internal.counted(ceil(extract(epoch FROM l.recent) / 60)::bigint, 'minute'),
                  (array_agg(concat('Msg ' || b.error_number || ': ', b.message) ORDER BY b.log_id DESC))[1]),
           CASE WHEN b.event = 'slow_reader'
                THEN format('SELECT pg_terminate_backend(%s);', (array_agg(b.pid ORDER BY b.log_id DESC))[1])
                ELSE format('SELECT * FROM ssb.log_recent WHERE queue = %L;', b.queue) END, 'psql'
      FROM ssb.broker_log AS b CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l
     WHERE b.event IN ('reader_failed', 'not_started', 'slow_reader') AND b.logged_at > clock_timestamp() - l.recent
       AND (b.event <> 'slow_reader' OR EXISTS (SELECT FROM ssb_internal.running_tasks() AS t WHERE t.pid = b.pid))
       -- A program that was mended has ended well since, or the queue is empty.
       AND EXISTS (SELECT FROM ssb.queue AS q JOIN ssb.message_stored AS m ON m.queue_id = q.queue_id WHERE q.name = b.queue)
     GROUP BY b.event, b.queue, l.recent;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.check_daemon(jsonb, text) FROM PUBLIC;

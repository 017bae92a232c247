-- Checks 117, 118 and 317: what makes everybody wait, or who comes to a queue. They read no table of the runtime, which somebody may
-- have locked.
--
-- p_is_locked  the caller could not get a table himself: whoever has locked one so that it cannot be read is told, too
CREATE OR REPLACE FUNCTION ssb_internal.check_stalls(p_limits jsonb, p_is_locked boolean DEFAULT false)
RETURNS TABLE (number integer, object text, detail text, remedy text, run_with text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    -- Nobody waits, mostly: that is soon seen, and nothing else planned.
    IF p_is_locked OR EXISTS (SELECT FROM pg_locks AS k WHERE k.locktype = 'relation' AND NOT k.granted) THEN
        RETURN QUERY
        -- What the runtime does itself waits for tables, and keeps them, for less than this.
        WITH RECURSIVE limits AS (SELECT least(l.waiting, interval '5 seconds') AS patience FROM ssb_internal.diagnosis_limits(p_limits) AS l),
        locks AS MATERIALIZED (
            -- Those of a queue's sequences hold up nobody else.
            SELECT k.*, c.relkind = 'S' AND c.relname ~ '^queue_(order|state)_' AS is_of_a_queue
              FROM pg_locks AS k
              JOIN pg_class AS c ON c.oid = k.relation
              JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE k.locktype = 'relation' AND k.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
               AND n.nspname = 'ssb'),
        waiting AS MATERIALIZED (
            SELECT k.pid, k.relation, k.is_of_a_queue, k.waitstart FROM locks AS k CROSS JOIN limits AS l
             WHERE NOT k.granted AND k.waitstart <= clock_timestamp() - l.patience
             ORDER BY k.waitstart LIMIT 100),
        -- Who waits may stand behind another who waits. 0 is a prepared transaction.
        chain (waiter, relation, is_of_a_queue, waitstart, pid) AS (
            SELECT w.pid, w.relation, w.is_of_a_queue, w.waitstart, b.pid
              FROM waiting AS w CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS b (pid)
            UNION
            SELECT c.waiter, c.relation, c.is_of_a_queue, c.waitstart, b.pid FROM chain AS c CROSS JOIN LATERAL unnest(pg_blocking_pids(c.pid)) AS b (pid) WHERE c.pid <> 0),
        blocking AS (
            SELECT c.pid, c.relation, c.is_of_a_queue, c.waiter, c.waitstart FROM chain AS c WHERE c.pid = 0 OR cardinality(pg_blocking_pids(c.pid)) = 0
            UNION
            SELECT coalesce(k.pid, 0), k.relation, false, NULL, NULL FROM locks AS k
             WHERE p_is_locked AND NOT k.is_of_a_queue AND k.granted AND k.mode = 'AccessExclusiveLock' AND k.pid IS DISTINCT FROM pg_backend_pid()),
        told AS (
            SELECT b.pid, array_agg(DISTINCT b.relation) AS relations, CASE WHEN bool_and(b.is_of_a_queue) THEN 317 ELSE 117 END AS number,
                   format('%s: %s %s%s', string_agg(DISTINCT b.relation::regclass::text, ', '), ssb_internal.counted(count(DISTINCT b.waiter), 'session'),
                          CASE WHEN count(DISTINCT b.waiter) = 1 THEN 'waits' ELSE 'wait' END,
                          ', the first since ' || to_char(min(b.waitstart) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')) AS what
              FROM blocking AS b GROUP BY b.pid)
        SELECT t.number, format('session %s', t.pid),
               format('%s of %s, %s, has %s', coalesce(nullif(a.application_name, ''), 'a client'), a.usename, coalesce(a.state, 'in the background'), t.what),
               format('SELECT pg_terminate_backend(%s);', t.pid), 'psql'
          FROM told AS t JOIN pg_stat_activity AS a ON a.pid = t.pid
        UNION ALL
        SELECT t.number, format('prepared transaction %s', p.gid), format('prepared by %s, has %s', p.owner, t.what), format('ROLLBACK PREPARED %L;', p.gid), 'psql'
          FROM told AS t CROSS JOIN pg_prepared_xacts AS p
         WHERE t.pid = 0 AND p.database = current_database()
           AND EXISTS (SELECT FROM pg_locks AS k JOIN locks AS h ON h.virtualtransaction = k.virtualtransaction
                        WHERE k.transactionid = p.transaction AND k.pid IS NULL AND h.pid IS NULL AND h.relation = ANY (t.relations));
    END IF;
    IF EXISTS (SELECT FROM pg_stat_activity AS a WHERE a.wait_event = 'SyncRep') THEN
        RETURN QUERY
        WITH limits AS (SELECT least(l.waiting, interval '5 seconds') AS patience FROM ssb_internal.diagnosis_limits(p_limits) AS l)
        SELECT 118, 'synchronous_standby_names',
               format('it is %L, and %s connected: %s in COMMIT, the first since %s', current_setting('synchronous_standby_names'),
                      CASE s.standbys WHEN 0 THEN 'no standby is' WHEN 1 THEN '1 standby is' ELSE s.standbys || ' standbys are' END,
                      ssb_internal.counted(c.waiting, 'session') || CASE WHEN c.waiting = 1 THEN ' waits' ELSE ' wait' END,
                      to_char(c.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
               'ALTER SYSTEM SET synchronous_standby_names = ''''; SELECT pg_reload_conf();  -- where the standby cannot come back: from then on a fail-over may lose messages',
               'psql'
          FROM (SELECT count(*) AS waiting, min(a.query_start) AS since FROM pg_stat_activity AS a CROSS JOIN limits AS l
                 WHERE a.datname = current_database() AND a.wait_event = 'SyncRep' AND a.query_start <= clock_timestamp() - l.patience) AS c
         CROSS JOIN (SELECT count(*) AS standbys FROM pg_stat_replication) AS s
         WHERE c.waiting > 0;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.check_stalls(jsonb, boolean) FROM PUBLIC;

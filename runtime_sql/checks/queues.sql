-- Checks 3xx: queues and activation, on the measures that ssb.queue_status shows.

-- PostgreSQL's ALTER SCHEMA, ALTER VIEW and DROP VIEW know nothing of queues. The view that a queue has under another name
-- is found by its text, which is read for those queues alone.
CREATE OR REPLACE FUNCTION ssb_internal.check_queue_views()
RETURNS TABLE (queue_id integer, queue text, detail text, remedy text, run_with text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
    WITH astray AS MATERIALIZED (
        SELECT q.queue_id, q.name, q.schema_name, q.relation_name, n.oid AS schema, o.oid AS taken
          FROM ssb.queue AS q
          LEFT JOIN pg_namespace AS n ON n.nspname = q.schema_name
          LEFT JOIN pg_class AS o ON o.relnamespace = n.oid AND o.relname = q.relation_name
         WHERE o.relkind IS DISTINCT FROM 'v')
    SELECT a.queue_id, a.name, f.detail, f.remedy, CASE WHEN f.remedy = 'pgsb upgrade' THEN 'shell' ELSE 'psql' END
      FROM astray AS a
      LEFT JOIN LATERAL (
           SELECT c.oid::regclass AS name, c.relnamespace AS schema,
                  EXISTS (SELECT FROM ssb.queue AS k WHERE k.schema_name = w.nspname)
                  OR EXISTS (SELECT FROM ssb.schema_of_database AS k WHERE k.name = w.nspname) AS is_of_others
             FROM pg_class AS c JOIN pg_namespace AS w ON w.oid = c.relnamespace
            WHERE c.relkind = 'v' AND w.nspname NOT IN ('ssb', 'ssb_internal', 'sys')
              AND EXISTS (SELECT FROM pg_depend AS d JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                           WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = 'ssb.retained_message'::regclass AND r.ev_class = c.oid)
              AND pg_get_viewdef(c.oid) ~ format('queue_id = ''?%s\M', a.queue_id)
            ORDER BY c.oid LIMIT 1) AS v ON true
     CROSS JOIN LATERAL (
           SELECT CASE WHEN a.taken IS NOT NULL THEN format('%s has its name', pg_describe_object('pg_class'::regclass, a.taken, 0))
                       WHEN v.name IS NOT NULL THEN format('its view is %s', v.name)
                       WHEN a.schema IS NULL THEN format('there is no schema %I', a.schema_name)
                       ELSE 'its view is gone' END,
                  CASE WHEN a.taken IS NOT NULL THEN format('ALTER TABLE %s RENAME TO %I;', a.taken::regclass, a.relation_name || '_table')
                       WHEN a.schema IS NULL AND NOT v.is_of_others
                       THEN format('ALTER SCHEMA %s RENAME TO %I;', v.schema::regnamespace, a.schema_name)
                       WHEN a.schema IS NULL THEN format('CREATE SCHEMA %I;', a.schema_name)
                       WHEN v.schema <> a.schema THEN format('ALTER VIEW %s SET SCHEMA %I;', v.name, a.schema_name)
                       WHEN v.name IS NOT NULL THEN format('ALTER VIEW %s RENAME TO %I;', v.name, a.relation_name)
                       ELSE 'pgsb upgrade' END) AS f (detail, remedy);
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.check_queue_views() FROM PUBLIC;

-- On measures that were taken already. Every finding's object is a queue's name.
CREATE OR REPLACE FUNCTION ssb_internal.check_measured_queues(p_measured ssb.queue_status[], p_limits jsonb)
RETURNS TABLE (number integer, object text, detail text, remedy text, run_with text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
    WITH measured AS MATERIALIZED (
        SELECT m.*, q AS definition, l.waiting, m.oldest_age > l.waiting AS is_late
          FROM unnest(p_measured) AS m
          JOIN ssb.queue AS q ON q.queue_id = m.queue_id
         CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l),
    -- The programs, as the daemon would call them, and as whom.
    programs AS MATERIALIZED (
        SELECT m.queue, m.queue_id, m.definition, q.activation_procedure, q.order_sequence, q.owner, q.database_id,
               coalesce(q.execute_as, q.owner) AS principal, ssb_internal.role_of(coalesce(q.execute_as, q.owner)) AS role,
               p.oid AS procedure, p.prosecdef, p.pronamespace
          FROM measured AS m JOIN ssb.queue AS q ON q.queue_id = m.queue_id
          LEFT JOIN LATERAL (SELECT f.oid, f.prosecdef, f.pronamespace
                               FROM pg_proc AS f JOIN pg_namespace AS n ON n.oid = f.pronamespace
                              WHERE ARRAY[n.nspname::text, f.proname::text] = parse_ident(q.activation_procedure) AND f.prokind = 'p'
                              LIMIT 1) AS p ON true
         WHERE q.is_activation_enabled)
    SELECT 301, m.queue, format('after %s in a row; %s in the queue', ssb_internal.counted(m.rollbacks_in_a_row, 'rollback'), ssb_internal.counted(m.depth, 'message')),
           format('ALTER QUEUE %s WITH STATUS = ON;', ssb_internal.tsql_name(m.definition)), 'pgsb shell'
      FROM measured AS m WHERE m.state = 'STOPPED BY POISON'
    UNION ALL
    SELECT 302, m.queue, format('%s in the queue', ssb_internal.counted(m.depth, 'message')), format('ALTER QUEUE %s WITH STATUS = ON;', ssb_internal.tsql_name(m.definition)), 'pgsb shell'
      FROM measured AS m WHERE m.state = 'OFF' AND m.depth > 0
    UNION ALL
    SELECT 303, m.queue, format('%s, the oldest since %s%s', ssb_internal.counted(m.depth, 'message'), to_char(m.oldest_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
                                CASE WHEN m.out_per_second IS NULL THEN '; whether anybody receives was not measured' END),
           format('ALTER QUEUE %s WITH ACTIVATION (STATUS = ON, PROCEDURE_NAME = dbo.MyProgram, MAX_QUEUE_READERS = 4, EXECUTE AS OWNER);',
                  ssb_internal.tsql_name(m.definition)), 'pgsb shell'
      FROM measured AS m
     WHERE m.state = 'ON' AND m.is_late AND NOT m.is_activation_enabled AND m.held_by IS NULL AND coalesce(m.out_per_second, 0) = 0
    UNION ALL
    SELECT 304, m.queue, format('%s, the oldest waits for %s, %s', ssb_internal.counted(m.depth, 'message'), date_trunc('second', m.oldest_age),
                                ssb_internal.counted(m.readers, 'reader')),
           format('ALTER QUEUE %s WITH ACTIVATION (MAX_QUEUE_READERS = %s);', ssb_internal.tsql_name(m.definition), least(m.max_readers * 2, 32767)), 'pgsb shell'
      FROM measured AS m
     WHERE m.state = 'ON' AND m.is_late AND m.is_activation_enabled AND m.max_readers > 0 AND m.readers >= m.max_readers
    UNION ALL
    SELECT 305, p.queue, format('%s is not there', p.activation_procedure),
           format('ALTER QUEUE %s WITH ACTIVATION (PROCEDURE_NAME = dbo.MyProgram);', ssb_internal.tsql_name(p.definition)), 'pgsb shell'
      FROM programs AS p WHERE p.activation_procedure IS NOT NULL AND p.procedure IS NULL
    UNION ALL
    SELECT 306, p.queue, format('there is no role %s', p.principal), format('CREATE ROLE %I;', p.principal), 'psql'
      FROM programs AS p WHERE p.role IS NULL
    UNION ALL
    SELECT 307, p.queue, format('%s may not execute %s', p.role, p.procedure::regprocedure),
           format('GRANT USAGE ON SCHEMA %s TO %I; GRANT EXECUTE ON PROCEDURE %s TO %2$I;', p.pronamespace::regnamespace, p.role,
                  p.procedure::regprocedure), 'psql'
      FROM programs AS p
     WHERE p.role IS NOT NULL AND p.procedure IS NOT NULL
       AND NOT (has_function_privilege(p.role, p.procedure, 'EXECUTE') AND has_schema_privilege(p.role, p.pronamespace, 'USAGE'))
    UNION ALL
    SELECT 308, p.queue, format('%s may not receive', p.role),
           ssb_internal.use_of(p.database_id) || format('GRANT RECEIVE ON %s TO %s;', ssb_internal.tsql_name_there(p.definition), ssb_internal.in_brackets(p.principal)),
           'pgsb shell'
      FROM programs AS p
     WHERE p.role IS NOT NULL AND p.prosecdef IS NOT TRUE
       AND NOT has_sequence_privilege(p.role, p.order_sequence, 'USAGE')
       AND NOT ssb_internal.has_permission(p.role, 'QUEUE', p.queue_id, 'RECEIVE', p.owner, p.database_id)
    UNION ALL
    SELECT 309, m.queue, format('%s in a row', m.rollbacks_in_a_row), format('SELECT * FROM ssb.log_recent WHERE queue = %L;', m.queue), 'psql'
      FROM measured AS m WHERE m.rollbacks_in_a_row > 0 AND m.state <> 'STOPPED BY POISON'
    UNION ALL
    SELECT 310, m.queue, format('%s, the last error: %s', ssb_internal.counted(m.quarantined_groups, 'group'),
                                coalesce((SELECT coalesce(ssb_internal.last_error(m.queue, g.quarantined_at), g.error) FROM ssb.quarantined_group AS g
                                           WHERE g.queue_id = m.queue_id ORDER BY g.quarantine_id DESC LIMIT 1), 'not known')),
           format('SELECT ssb.resubmit_all_quarantined(queue => %L);', m.queue), 'psql'
      FROM measured AS m WHERE m.quarantined_groups > 0
    UNION ALL
    SELECT 311, m.queue, format('%s, since %s', m.held_by, to_char(m.held_since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           format('SELECT pg_terminate_backend(%s);', m.held_by_pid), 'psql'
      FROM measured AS m WHERE m.held_by_pid IS NOT NULL AND m.held_since < clock_timestamp() - m.waiting
    UNION ALL
    SELECT 311, m.queue, format('%s, since %s', m.held_by, to_char(m.held_since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           format('ROLLBACK PREPARED %L;', p.gid), 'psql'
      FROM measured AS m JOIN pg_prepared_xacts AS p ON m.held_by = format('prepared transaction %s', p.gid) AND m.held_since = p.prepared
     WHERE p.database = current_database() AND m.held_since < clock_timestamp() - m.waiting
    UNION ALL
    SELECT 312, m.queue, 'MAX_QUEUE_READERS = 0', format('ALTER QUEUE %s WITH ACTIVATION (MAX_QUEUE_READERS = 4);', ssb_internal.tsql_name(m.definition)), 'pgsb shell'
      FROM measured AS m WHERE m.is_activation_enabled AND m.max_readers = 0
    UNION ALL
    SELECT 313, p.queue, format('%s may not become %s', d.login, p.role), format('GRANT %I TO %I%s;', p.role, d.login,
                CASE WHEN pg_has_role(d.login, p.role, 'MEMBER') THEN ' WITH SET TRUE' END), 'psql'
      FROM programs AS p
     CROSS JOIN LATERAL (SELECT a.usename AS login FROM pg_stat_activity AS a
                          WHERE a.datname = current_database() AND a.application_name IN ('pgsb reader', 'pgsb broker')
                          ORDER BY a.application_name = 'pgsb reader' DESC LIMIT 1) AS d
     WHERE p.role IS NOT NULL AND NOT ssb_internal.may_become(d.login, p.role)
    UNION ALL
    SELECT 314, m.queue, format('%s messages or more', m.retained), format('ALTER QUEUE %s WITH RETENTION = OFF;', ssb_internal.tsql_name(m.definition)), 'pgsb shell'
      FROM measured AS m WHERE m.retained >= 1000
    UNION ALL
    SELECT 315, m.queue, format('claim %s of the stream %s has %s, waiting since %s; it expires %s', k.claim_id, k.stream,
                                ssb_internal.counted((SELECT sum(c.messages)::bigint FROM ssb.claimed_conversation AS c WHERE c.claim_id = k.claim_id),
                                                     'message'),
                                to_char(coalesce(k.waits_since, k.claimed_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
                                to_char(k.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           format('SELECT ssb.release_claim(%s);', k.claim_id), 'psql'
      FROM measured AS m JOIN ssb.claim AS k ON k.queue_id = m.queue_id
     WHERE k.expires_at > clock_timestamp() AND coalesce(k.waits_since, k.claimed_at) < clock_timestamp() - m.waiting AND NOT ssb_internal.stream_runs(k.role, k.stream)
    UNION ALL
    SELECT 316, g.queue, g.detail, g.remedy, g.run_with FROM ssb_internal.check_queue_views() AS g JOIN measured AS m ON m.queue_id = g.queue_id;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.check_measured_queues(ssb.queue_status[], jsonb) FROM PUBLIC;

-- Called by  ssb.diagnose
CREATE OR REPLACE FUNCTION ssb_internal.check_queues(p_limits jsonb)
RETURNS TABLE (number integer, object text, detail text, remedy text, run_with text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT f.* FROM ssb_internal.check_measured_queues(
        ARRAY(SELECT ROW(m.*)::ssb.queue_status FROM ssb_internal.queue_measures(NULL, 1000) AS m), p_limits) AS f;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.check_queues(jsonb) FROM PUBLIC;

-- Every queue with what is found of it (an array of findings as ssb.diagnose has them), measured once for both: reading
-- two sequences a queue is most of either. For those who are no operators nothing is looked for: findings is NULL.
--
-- Called by  pgsb dashboard
CREATE OR REPLACE FUNCTION ssb_internal.queues_with_findings(p_limits jsonb DEFAULT '{}')
RETURNS TABLE (measures ssb.queue_status, findings jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_measured ssb.queue_status[] := ARRAY(SELECT ROW(m.*)::ssb.queue_status FROM ssb_internal.queue_measures(NULL, 1000) AS m);
BEGIN
    IF NOT ssb_internal.may_monitor() THEN
        RETURN QUERY SELECT m, NULL::jsonb FROM unnest(v_measured) AS m;
        RETURN;
    END IF;
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT f.object, jsonb_agg(jsonb_build_object(
                   'number', f.number, 'severity', k.severity, 'object', f.object, 'title', k.title, 'detail', f.detail,
                   'meaning', k.meaning, 'remedy', f.remedy,
                   'run_with', CASE WHEN f.remedy IS NOT NULL THEN f.run_with END)) AS findings
          FROM ssb_internal.check_measured_queues(v_measured, p_limits) AS f
          JOIN ssb_internal.finding_kinds() AS k ON k.number = f.number
         GROUP BY f.object)
    SELECT m, coalesce(f.findings, '[]') FROM unnest(v_measured) AS m LEFT JOIN found AS f ON f.object = m.queue;
END;
$$;

-- Checks 4xx: conversations that nobody ends, by pattern. Called by ssb.diagnose.
--
-- Of a large table a sample of its pages is read, some 10,000 rows: counts are then estimates.
CREATE OR REPLACE FUNCTION ssb_internal.check_conversations(p_limits jsonb)
RETURNS TABLE (number integer, object text, detail text, remedy text, run_with text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_rows double precision := (SELECT greatest(c.reltuples, 0) FROM pg_class AS c WHERE c.oid = 'ssb.conversation_endpoint'::regclass);
    v_part double precision := least(100, 100 * 10000 / greatest(v_rows, 1));
BEGIN
    RETURN QUERY EXECUTE format($q$
    WITH open AS MATERIALIZED (
        SELECT e.service_name, e.far_service, e.contract_name, e.is_initiator, e.queue_id, e.database_id,
               CASE WHEN e.is_error OR f.is_refused OR e.far_outcome = 'ER' OR (f.is_close_known AND f.is_closed_by_error) THEN 403
                    WHEN e.far_outcome = 'DI' OR f.is_close_known THEN 402
                    WHEN e.is_initiator AND e.sent_count = 0 AND NOT e.has_waiting THEN 404
                    ELSE 401 END AS number,
               coalesce(f.closed_at, e.started_at) AS since, e.endpoint_id, e.lifetime
          FROM ssb.conversation_endpoint AS e %s
          LEFT JOIN LATERAL (SELECT o.* FROM ssb.conversation_endpoint AS o WHERE o.endpoint_id = e.far_endpoint_id
                              LIMIT 1) AS f ON true
         WHERE e.closed_at IS NULL AND NOT e.is_system),
    patterns AS (
        SELECT o.number, o.service_name, o.far_service, o.contract_name, (count(*) * 100 / $2)::bigint AS conversations,
               min(o.since) AS since, o.queue_id, o.database_id
          FROM open AS o CROSS JOIN ssb_internal.diagnosis_limits($1) AS l
         WHERE o.since < clock_timestamp() - CASE WHEN o.number IN (402, 403) THEN l.unended_age ELSE l.leak_age END
           AND (o.number <> 401 OR (o.is_initiator AND o.lifetime IS NULL
                AND (SELECT m.endpoint_id FROM ssb.message_stored AS m WHERE m.endpoint_id = o.endpoint_id LIMIT 1) IS NULL))
         GROUP BY o.number, o.service_name, o.far_service, o.contract_name, o.queue_id, o.database_id)
    SELECT p.number, p.service_name,
           format('%%s%%s to %%s on contract %%s, the first since %%s', CASE WHEN $2 < 100 THEN 'about ' END,
                  ssb_internal.counted(p.conversations, 'conversation'), p.far_service, p.contract_name,
                  to_char(p.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           format('SELECT count(ssb.end_conversation(conversation_handle)) FROM (SELECT e.conversation_handle FROM sys.conversation_endpoints AS e'
                  ' JOIN sys.services AS s ON s.service_id = e.service_id WHERE s.name = %%L AND e.far_service = %%L AND e.state = %%L'
                  ' AND e.security_timestamp < now() AT TIME ZONE ''UTC'' - %%L::interval LIMIT 1000) AS old;', p.service_name, p.far_service,
                  CASE p.number WHEN 401 THEN 'CO' WHEN 402 THEN 'DI' WHEN 403 THEN 'ER' ELSE 'SO' END,
                  CASE WHEN p.number IN (402, 403) THEN l.unended_age ELSE l.leak_age END), 'psql'
      FROM patterns AS p CROSS JOIN ssb_internal.diagnosis_limits($1) AS l
     WHERE p.conversations >= CASE WHEN p.number IN (402, 403) THEN l.unended_count ELSE l.leak_count END
     ORDER BY p.conversations DESC LIMIT 50 $q$,
        CASE WHEN v_part < 100 THEN format('TABLESAMPLE SYSTEM (%s)', v_part) END)
    USING p_limits, v_part;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.check_conversations(jsonb) FROM PUBLIC;

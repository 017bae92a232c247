-- Checks 4xx: conversations that nobody ends, by pattern. Called by ssb.diagnose.
--
-- Of a large table a sample of its pages is read, some 10,000 rows: counts are then estimates.

-- Sides that are open and should not be, by the number of what is found of them. Whose messages wait to be received, here or at the
-- far side, are not: a reader that comes once a day is no leak, and to end them would throw messages away.
--
-- p_part    the per cent of the table to look at
-- p_before  older ones only: since then
CREATE OR REPLACE FUNCTION ssb_internal.abandoned_sides(p_part double precision, p_before timestamptz)
RETURNS TABLE (number integer, endpoint_id bigint, conversation_handle uuid, service_name text, far_service text, contract_name text,
               since timestamptz, database_id integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
    WITH open AS MATERIALIZED (
        SELECT CASE WHEN e.is_error OR f.is_refused OR r.far_outcome = 'ER' OR e.far_outcome = 'ER' OR (f.is_close_known AND f.is_closed_by_error)
                    THEN 403
                    WHEN r.far_outcome = 'DI' OR e.far_outcome = 'DI' OR f.is_close_known THEN 402
                    WHEN e.is_initiator AND e.sent_count = 0 AND NOT e.has_waiting THEN 404
                    ELSE 401 END AS number,
               e.endpoint_id, e.conversation_handle, e.service_name, e.far_service, e.contract_name, coalesce(f.closed_at, e.started_at) AS since,
               e.database_id, e.is_initiator, e.lifetime, e.dialog_timer, e.far_endpoint_id
          FROM ssb.conversation_endpoint AS e %s
          LEFT JOIN LATERAL (SELECT c.far_outcome FROM ssb.remote_conversation AS c WHERE c.endpoint_id = e.endpoint_id LIMIT 1) AS r ON true
          LEFT JOIN LATERAL (SELECT o.* FROM ssb.conversation_endpoint AS o WHERE o.endpoint_id = e.far_endpoint_id LIMIT 1) AS f ON true
         WHERE e.closed_at IS NULL AND NOT e.is_system)
    SELECT o.number, o.endpoint_id, o.conversation_handle, o.service_name, o.far_service, o.contract_name, o.since, o.database_id
      FROM open AS o
     WHERE o.since < $1
       AND CASE WHEN o.number IN (402, 403)
                -- The Error and the EndDialog themselves, a timer's message: nothing is lost with them.
                THEN (SELECT m.endpoint_id FROM ssb.message_stored AS m WHERE m.endpoint_id = o.endpoint_id AND m.message_type_id NOT IN (1, 2, 3) LIMIT 1) IS NULL
                ELSE (o.number = 404 OR (o.is_initiator AND o.lifetime IS NULL)) AND o.dialog_timer IS NULL
                     AND (SELECT m.endpoint_id FROM ssb.message_stored AS m WHERE m.endpoint_id = o.endpoint_id LIMIT 1) IS NULL
                     AND (SELECT m.endpoint_id FROM ssb.message_stored AS m WHERE m.endpoint_id = o.far_endpoint_id LIMIT 1) IS NULL
                     AND (SELECT t.endpoint_id FROM ssb.transmission AS t WHERE t.endpoint_id = o.endpoint_id LIMIT 1) IS NULL
                     AND (SELECT t.endpoint_id FROM ssb.transmission AS t WHERE t.endpoint_id = o.far_endpoint_id LIMIT 1) IS NULL END $q$,
        CASE WHEN p_part < 100 THEN format('TABLESAMPLE SYSTEM (%s)', p_part) END)
    USING p_before;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.abandoned_sides(double precision, timestamptz) FROM PUBLIC;

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
    RETURN QUERY
    WITH patterns AS (
        SELECT o.number, o.service_name, o.far_service, o.contract_name, (count(*) * 100 / v_part)::bigint AS conversations,
               min(o.since) AS since, o.database_id, l.age, l.count
          FROM ssb_internal.abandoned_sides(v_part, (SELECT clock_timestamp() - least(d.unended_age, d.leak_age)
                                                        FROM ssb_internal.diagnosis_limits(p_limits) AS d)) AS o
         CROSS JOIN LATERAL (SELECT CASE WHEN o.number IN (402, 403) THEN d.unended_age ELSE d.leak_age END AS age,
                                    CASE WHEN o.number IN (402, 403) THEN d.unended_count ELSE d.leak_count END AS count
                               FROM ssb_internal.diagnosis_limits(p_limits) AS d) AS l
         WHERE o.since < clock_timestamp() - l.age
         GROUP BY o.number, o.service_name, o.far_service, o.contract_name, o.database_id, l.age, l.count)
    SELECT p.number, p.service_name,
           format('%s%s to %s on contract %s, the first since %s', CASE WHEN v_part < 100 THEN 'about ' END,
                  ssb_internal.counted(p.conversations, 'conversation'), p.far_service, p.contract_name,
                  to_char(p.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           format('SELECT ssb.end_abandoned(%s, %L, %L, %L, older_than => %L%s);', p.number, p.service_name, p.far_service, p.contract_name,
                  p.age, (SELECT format(', database => %L', ssb_internal.database_name(d.database_id)) FROM ssb.database AS d
                           WHERE d.database_id = p.database_id AND d.schema_prefix <> '')), 'psql'
      FROM patterns AS p
     WHERE p.conversations >= p.count
     ORDER BY p.conversations DESC LIMIT 50;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.check_conversations(jsonb) FROM PUBLIC;

-- Ends conversations that ssb.diagnose finds under this number (401 to 404), at most so many, and returns how many there were. The
-- caller needs the right to end each of them.
CREATE OR REPLACE FUNCTION ssb.end_abandoned(finding integer, service text, far_service text, contract text, older_than interval,
                                             max integer DEFAULT 1000, database text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_side record;
    v_count bigint := 0;
BEGIN
    FOR v_side IN
        SELECT a.conversation_handle, a.endpoint_id FROM ssb_internal.abandoned_sides(100, clock_timestamp() - older_than) AS a
         WHERE a.number = finding AND a.service_name = service AND a.far_service = far_service AND a.contract_name = contract
           AND a.database_id = v_database_id
         ORDER BY a.endpoint_id LIMIT max
    LOOP
        -- One may have come meanwhile, and END throws it away.
        CONTINUE WHEN EXISTS (SELECT FROM ssb.message_stored AS m WHERE m.endpoint_id = v_side.endpoint_id AND m.message_type_id NOT IN (1, 2, 3));
        PERFORM ssb.end_conversation(v_side.conversation_handle);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END;
$$;

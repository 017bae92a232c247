-- ssb.diagnose: what is wrong, worst first, each with a stable number and the statement that mends it. For operators
-- (members of pg_monitor or of the runtime's owner).
--
-- from_service … encryption  also: would this dialog work? (see ssb_internal.check_dialog)
-- limits      what is long, old and many, where it is not the default: {"waiting": "1 hour"} (ssb_internal.diagnosis_limits)
-- version     the caller's pgsb, to compare with the daemon's
-- parts       of 'instance', 'daemon', 'queues', 'conversations', 'transport', those to look at; NULL: all
--
-- Called by  pgsb diagnose, the daemon's metrics, pgsb top, pgsb dashboard
CREATE OR REPLACE FUNCTION ssb.diagnose(from_service text DEFAULT NULL, to_service text DEFAULT NULL, to_broker text DEFAULT NULL,
                                        contract text DEFAULT NULL, encryption text DEFAULT NULL, limits jsonb DEFAULT '{}',
                                        version text DEFAULT NULL, far_end jsonb DEFAULT NULL, parts text[] DEFAULT NULL)
RETURNS TABLE (number integer, severity text, object text, title text, detail text, meaning text, remedy text, run_with text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '2s'
AS $$
#variable_conflict use_column
BEGIN
    IF NOT ssb_internal.may_monitor() THEN
        PERFORM ssb_internal.raise_error(300, 'VIEW SERVER STATE permission was denied on object ''server'', database ''master''.', 14, 1,
                                         'GRANT pg_monitor TO this role.');
    ELSIF $5 NOT IN ('on', 'off', 'anonymous') THEN
        RAISE EXCEPTION 'encryption is on, off or anonymous, not %', $5 USING ERRCODE = '22023';
    END IF;
    PERFORM ssb_internal.diagnosis_limits($6);
    BEGIN
        RETURN QUERY
        SELECT f.number, k.severity, f.object, k.title, f.detail, k.meaning, f.remedy, CASE WHEN f.remedy IS NOT NULL THEN f.run_with END
          FROM (SELECT * FROM ssb_internal.check_instance($6) AS c WHERE 'instance' = ANY (coalesce($9, '{instance}'))
                UNION ALL
                SELECT * FROM ssb_internal.check_stalls($6) AS c WHERE 'instance' = ANY (coalesce($9, '{instance}'))
                UNION ALL
                SELECT * FROM ssb_internal.check_runtime() AS c WHERE 'instance' = ANY (coalesce($9, '{instance}'))
                UNION ALL
                SELECT * FROM ssb_internal.check_daemon($6, $7) AS c WHERE 'daemon' = ANY (coalesce($9, '{daemon}'))
                UNION ALL
                SELECT * FROM ssb_internal.check_queues($6) AS c WHERE 'queues' = ANY (coalesce($9, '{queues}'))
                UNION ALL
                SELECT * FROM ssb_internal.check_conversations($6) AS c WHERE 'conversations' = ANY (coalesce($9, '{conversations}'))
                UNION ALL
                SELECT * FROM ssb_internal.check_transport($6) AS c WHERE 'transport' = ANY (coalesce($9, '{transport}'))
                UNION ALL
                SELECT * FROM ssb_internal.check_dialog($1, $2, $3, $4, $5, $8) AS c WHERE num_nonnulls($1, $2) > 0) AS f
          JOIN ssb_internal.finding_kinds() AS k ON k.number = f.number
         ORDER BY array_position('{error,warning,info}', k.severity), f.number, f.object, f.detail;
    EXCEPTION WHEN undefined_table OR undefined_function OR undefined_column OR invalid_schema_name THEN
        -- What the other checks ask is among what is missing.
        RETURN QUERY
        SELECT f.number, k.severity, f.object, k.title, f.detail, k.meaning, f.remedy, f.run_with
          FROM ssb_internal.check_runtime() AS f JOIN ssb_internal.finding_kinds() AS k ON k.number = f.number
         ORDER BY f.object;
        IF NOT FOUND THEN
            RAISE;
        END IF;
    WHEN lock_not_available THEN
        -- Somebody has locked what the other checks read.
        RETURN QUERY
        SELECT f.number, k.severity, f.object, k.title, f.detail, k.meaning, f.remedy, f.run_with
          FROM ssb_internal.check_stalls(coalesce($6, '{}') || '{"waiting": "0"}', true) AS f JOIN ssb_internal.finding_kinds() AS k ON k.number = f.number
         ORDER BY f.number, f.object;
        IF NOT FOUND THEN
            RAISE;
        END IF;
    END;
END;
$$;

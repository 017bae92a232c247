-- ssb.log_recent: the newest 1,000 lines of the daemon's log, newest first. Programs print what they like: operators
-- see all of it, others the lines of queues that they may receive from.
CREATE OR REPLACE FUNCTION ssb_internal.log_lines(p_limit integer DEFAULT 1000, p_queue text DEFAULT NULL, p_levels text[] DEFAULT NULL,
                                                  p_after bigint DEFAULT NULL)
RETURNS SETOF ssb.broker_log
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_sees_all boolean := ssb_internal.may_monitor();
    v_queues text[] := CASE WHEN NOT v_sees_all
                            THEN ARRAY(SELECT q.name FROM ssb.queue AS q WHERE ssb_internal.may_receive(q)) END;
BEGIN
    RETURN QUERY
    SELECT b.* FROM ssb.broker_log AS b
     WHERE (v_sees_all OR b.queue = ANY (v_queues)) AND (p_queue IS NULL OR b.queue = p_queue)
       AND (p_levels IS NULL OR b.level = ANY (p_levels)) AND (p_after IS NULL OR b.log_id > p_after)
     ORDER BY b.log_id DESC LIMIT p_limit;
END;
$$;

CREATE OR REPLACE VIEW ssb.log_recent AS
SELECT l.* FROM ssb_internal.log_lines() AS l;
GRANT SELECT ON ssb.log_recent TO PUBLIC;

-- The same as SQL Server's error log has it.
-- Called by  compiled sp_readerrorlog, xp_readerrorlog
CREATE OR REPLACE FUNCTION ssb_internal.error_log()
RETURNS TABLE (log_id bigint, log_date timestamp(3), process_info text, line text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT l.log_id, l.logged_at::timestamp(3), coalesce('spid' || l.pid || 's', 'Server'),
           CASE WHEN q.queue_id IS NOT NULL AND l.program IS NOT NULL AND l.event IN ('print', 'result_set', 'error', 'reader_failed')
                THEN format('The activated proc ''%s'' running on queue ''%s.%s.%s'' output the following:  ''%s''',
                            ssb_internal.bracketed_name(l.program), ssb_internal.database_name(q.database_id),
                            ssb_internal.tsql_schema(q.schema_name), q.spelling, l.message)
                ELSE concat_ws(': ', l.event, l.queue, l.program, l.message) END
      FROM ssb_internal.log_lines() AS l LEFT JOIN ssb.queue AS q ON q.name = l.queue;
END;
$$;

-- Puts into the log what an operator has changed, and who he is: p_who as the dashboard knows him.
-- Called by  pgsb dashboard
CREATE OR REPLACE FUNCTION ssb_internal.note_change(p_who text, p_what text, p_queue text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT ssb_internal.may_monitor() THEN
        PERFORM ssb_internal.raise_error(300, 'VIEW SERVER STATE permission was denied on object ''server'', database ''master''.', 14, 1,
                                'GRANT pg_monitor TO this role.');
    END IF;
    INSERT INTO ssb.broker_log (level, event, queue, pid, message)
    VALUES ('info', 'changed', p_queue, pg_backend_pid(),
            format('%s, as %s: %s', left(p_who, 200), ssb_internal.caller(), left(p_what, 2000)));
END;
$$;

-- ssb.broker_daemons for operators.
CREATE OR REPLACE FUNCTION ssb_internal.daemons_running()
RETURNS SETOF ssb.broker_daemons
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT ssb_internal.may_monitor() THEN
        PERFORM ssb_internal.raise_error(300, 'VIEW SERVER STATE permission was denied on object ''server'', database ''master''.', 14, 1,
                                'GRANT pg_monitor TO this role.');
    END IF;
    RETURN QUERY SELECT d.* FROM ssb.broker_daemons AS d;
END;
$$;

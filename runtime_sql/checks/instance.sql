-- Checks 1xx: the instance and the server's settings. Called by ssb.diagnose.

-- Whose setting makes what the runtime's owner does read-only, and how ALTER names that; no row: nobody's.
CREATE OR REPLACE FUNCTION ssb_internal.who_forbids_changes()
RETURNS TABLE (whom text, statement text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH said AS (
        SELECT coalesce(r.rolname, '') AS role, d.datname AS database, split_part(c.part, '=', 2)::boolean AS is_on
          FROM pg_db_role_setting AS s
         CROSS JOIN LATERAL unnest(s.setconfig) AS c (part)
          LEFT JOIN pg_roles AS r ON r.oid = s.setrole
          LEFT JOIN pg_database AS d ON d.oid = s.setdatabase
         WHERE split_part(c.part, '=', 1) = 'default_transaction_read_only' AND coalesce(d.datname, current_database()) = current_database()
    ), valid AS (
        SELECT s.role, s.database, s.is_on FROM said AS s WHERE s.role IN ('', ssb_internal.runtime_owner())
        UNION ALL
        -- The server's own: this session knows it where nobody said something of its role.
        SELECT NULL, NULL, g.reset_val::boolean FROM pg_settings AS g
         WHERE g.name = 'default_transaction_read_only' AND NOT EXISTS (SELECT FROM said AS s WHERE s.role IN ('', session_user))
         ORDER BY 1 DESC NULLS LAST, 2 NULLS LAST LIMIT 1
    )
    SELECT CASE WHEN v.role <> '' THEN format('the role %s', v.role) WHEN v.database IS NOT NULL THEN 'this database' ELSE 'the server' END,
           CASE WHEN v.role <> '' THEN format('ROLE %I', v.role) || coalesce(' IN DATABASE ' || quote_ident(v.database), '')
                WHEN v.database IS NOT NULL THEN format('DATABASE %I', v.database)
                WHEN v.role IS NOT NULL THEN 'ROLE ALL' ELSE 'SYSTEM' END
      FROM valid AS v WHERE v.is_on;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.who_forbids_changes() FROM PUBLIC;

-- False where sys.xml is PostgreSQL's xml (schema/types.sql) on a server that was built without libxml.
CREATE OR REPLACE FUNCTION ssb_internal.reads_xml()
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF (SELECT t.typbasetype FROM pg_type AS t WHERE t.oid = to_regtype('sys.xml')) = 'xml'::regtype THEN
        PERFORM '<a/>'::xml;
    END IF;
    RETURN true;
EXCEPTION WHEN feature_not_supported THEN
    RETURN false;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.reads_xml() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.check_instance(p_limits jsonb)
RETURNS TABLE (number integer, object text, detail text, remedy text, run_with text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 101, ssb_internal.database_name(d.database_id), 'is_broker_enabled is 0, and it has services',
           format('ALTER DATABASE %s SET ENABLE_BROKER;', ssb_internal.in_brackets(ssb_internal.database_name(d.database_id))), 'pgsb shell'
      FROM ssb.database AS d
     WHERE NOT d.is_broker_enabled AND EXISTS (SELECT FROM ssb.service AS s WHERE s.database_id = d.database_id)
    UNION ALL
    SELECT 102, format('session %s', a.pid),
           format('%s of %s, %s, in a transaction since %s', coalesce(nullif(a.application_name, ''), 'a client'), a.usename,
                  a.state, to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           format('SELECT pg_terminate_backend(%s);', a.pid), 'psql'
      FROM pg_stat_activity AS a CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l
     WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND coalesce(a.backend_xmin, a.backend_xid) IS NOT NULL
       AND a.xact_start < clock_timestamp() - l.old_transaction
    UNION ALL
    SELECT 102, format('prepared transaction %s', p.gid),
           format('prepared by %s at %s', p.owner, to_char(p.prepared AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           format('ROLLBACK PREPARED %L;', p.gid), 'psql'
      FROM pg_prepared_xacts AS p CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l
     WHERE p.database = current_database() AND p.prepared < clock_timestamp() - l.old_transaction
    UNION ALL
    -- Inactive slots alone: one in use moves on.
    SELECT 102, format('replication slot %s', s.slot_name),
           format('inactive, and %s transactions behind', greatest(age(s.xmin), age(s.catalog_xmin))),
           format('SELECT pg_drop_replication_slot(%L);', s.slot_name), 'psql'
      FROM pg_replication_slots AS s
     WHERE NOT s.active AND s.xmin IS NOT NULL
    UNION ALL
    -- hot_standby_feedback: of the standby's oldest transaction it tells the number, not the time.
    SELECT 102, format('standby %s', r.application_name),
           format('it asks to keep what the last %s transactions have deleted: end its oldest transaction there', w.behind), NULL, NULL
      FROM pg_stat_replication AS r
      LEFT JOIN pg_replication_slots AS s ON s.active_pid = r.pid
     CROSS JOIN LATERAL (SELECT greatest(age(r.backend_xmin), age(s.xmin)) AS behind) AS w
     CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l
     WHERE w.behind >= l.dead_rows
    UNION ALL
    SELECT 103, 'autovacuum', 'the server''s setting is off' || ssb_internal.setting_place('autovacuum'),
           ssb_internal.setting_remedy('autovacuum', 'on'), 'psql'
     WHERE current_setting('autovacuum') = 'off'
    UNION ALL
    SELECT 103, c.oid::regclass::text, 'autovacuum_enabled is off for this table',
           format('ALTER TABLE %s RESET (autovacuum_enabled);', c.oid::regclass), 'psql'
      FROM pg_class AS c
     WHERE c.oid IN ('ssb.conversation_endpoint'::regclass, 'ssb.message_0'::regclass, 'ssb.message_1'::regclass)
       AND 'autovacuum_enabled=false' = ANY (c.reloptions)
    UNION ALL
    SELECT 104, s.relid::regclass::text, format('%s rows are dead, %s live', s.n_dead_tup, s.n_live_tup),
           format('VACUUM (ANALYZE) %s;', s.relid::regclass), 'psql'
      FROM pg_stat_all_tables AS s CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l
     WHERE s.relid = 'ssb.conversation_endpoint'::regclass AND s.n_dead_tup >= l.dead_rows AND s.n_dead_tup > s.n_live_tup
    UNION ALL
    SELECT 105, 'max_connections', format('%s of %s are in use, and %s are for superusers', n.used, r.most, r.reserved),
           format('ALTER SYSTEM SET max_connections = %s;  -- and restart the server', r.most * 2), 'psql'
      FROM (SELECT count(*) AS used FROM pg_stat_activity AS a WHERE a.backend_type = 'client backend') AS n
     -- reserved_connections came with 16.
     CROSS JOIN (SELECT current_setting('max_connections')::integer AS most,
                        current_setting('superuser_reserved_connections')::integer
                        + coalesce(current_setting('reserved_connections', true)::integer, 0) AS reserved) AS r
     CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l
     WHERE n.used >= l.connections * (r.most - r.reserved)
    UNION ALL
    SELECT 106, s.name, 'is off' || ssb_internal.setting_place(s.name), ssb_internal.setting_remedy(s.name, 'on'), 'psql'
      FROM pg_settings AS s WHERE s.name IN ('fsync', 'full_page_writes') AND s.setting = 'off'
    UNION ALL
    SELECT 107, current_database()::text, 'lower(''É'') is not ''é''',
           'CREATE DATABASE shop TEMPLATE template0 LC_CTYPE ''C.UTF-8'';  -- and move there', 'psql'
     WHERE lower('É') <> 'é'
    UNION ALL
    SELECT 108, 'client_connection_check_interval', 'is 0',
           format('ALTER DATABASE %I SET client_connection_check_interval = ''1s'';', current_database()), 'psql'
      FROM pg_settings AS s WHERE s.name = 'client_connection_check_interval' AND s.reset_val = '0'
    UNION ALL
    SELECT 109, ssb_internal.runtime_owner()::text, 'is no member of pg_read_all_stats', format('GRANT pg_monitor TO %I;', ssb_internal.runtime_owner()), 'psql'
     WHERE NOT pg_has_role(ssb_internal.runtime_owner(), 'pg_read_all_stats', 'USAGE')
    UNION ALL
    SELECT 110, ssb_internal.runtime_owner()::text, 'is a superuser', NULL, NULL
      FROM pg_roles AS r WHERE r.rolname = ssb_internal.runtime_owner() AND r.rolsuper
    UNION ALL
    SELECT 111, format('publication %s', p.pubname),
           CASE WHEN p.puballtables THEN 'it is FOR ALL TABLES' ELSE 'it has tables of schema ssb' END,
           format('DROP PUBLICATION %I;  -- and make it FOR the TABLEs that are meant, none of schema ssb', p.pubname), 'psql'
      FROM pg_publication AS p
     WHERE (p.pubdelete OR p.pubupdate)
       -- Named one by one, or with their schema, which PostgreSQL 14 does not have.
       AND EXISTS (SELECT FROM pg_get_publication_tables(p.pubname::text) AS t JOIN pg_class AS c ON c.oid = t.relid
                    WHERE c.relnamespace = 'ssb'::regnamespace)
    UNION ALL
    -- Of the runtime's owner, as whom the daemon writes: whoever looks may be a role that never does.
    SELECT 112, 'default_transaction_read_only',
           format('is on for %s%s', w.whom, CASE w.statement WHEN 'SYSTEM' THEN ssb_internal.setting_place('default_transaction_read_only') END),
           'SET default_transaction_read_only = off; '
           || CASE w.statement WHEN 'SYSTEM' THEN ssb_internal.setting_remedy('default_transaction_read_only', 'off')
                   ELSE format('ALTER %s RESET default_transaction_read_only;', w.statement) END, 'psql'
      FROM ssb_internal.who_forbids_changes() AS w
    UNION ALL
    -- pgsb sets it for the sessions of superusers.
    SELECT 113, 'lc_messages', format('is %s', s.reset_val), format('ALTER DATABASE %I SET lc_messages = ''C'';', current_database()), 'psql'
      FROM pg_settings AS s WHERE s.name = 'lc_messages' AND s.reset_val !~* '^(c|posix|en|$)'
    UNION ALL
    -- What a load or a replication tool has left behind. A role of its own may have it.
    SELECT 114, 'session_replication_role',
           format('is replica for %s%s', w.whom, CASE w.statement WHEN 'SYSTEM' THEN ssb_internal.setting_place('session_replication_role') END),
           CASE w.statement WHEN 'SYSTEM' THEN ssb_internal.setting_remedy('session_replication_role', 'origin')
                ELSE format('ALTER %s RESET session_replication_role;', w.statement) END, 'psql'
      FROM (SELECT CASE WHEN r.oid IS NOT NULL THEN format('the role %s', r.rolname) WHEN d.oid IS NOT NULL THEN 'this database'
                        ELSE 'all roles' END AS whom,
                   CASE WHEN r.oid IS NOT NULL THEN format('ROLE %I', r.rolname) || coalesce(' IN DATABASE ' || quote_ident(d.datname), '')
                        WHEN d.oid IS NOT NULL THEN format('DATABASE %I', d.datname) ELSE 'ROLE ALL' END AS statement
              FROM pg_db_role_setting AS s LEFT JOIN pg_roles AS r ON r.oid = s.setrole LEFT JOIN pg_database AS d ON d.oid = s.setdatabase
             WHERE 'session_replication_role=replica' = ANY (s.setconfig) AND coalesce(d.datname, current_database()) = current_database()
               AND coalesce(r.rolname, ssb_internal.runtime_owner()) = ssb_internal.runtime_owner()
            UNION ALL
            SELECT 'the server', 'SYSTEM' FROM pg_settings AS g
             WHERE g.name = 'session_replication_role' AND g.setting = 'replica' AND g.source IN ('configuration file', 'command line')) AS w
    UNION ALL
    SELECT 116, format('replication slot %s', s.slot_name),
           format('%s of WAL, and %s', pg_size_pretty(w.kept), CASE WHEN s.active THEN 'its reader is behind' ELSE 'nobody reads it' END),
           CASE WHEN NOT s.active THEN format('SELECT pg_drop_replication_slot(%L);', s.slot_name) END, 'psql'
      FROM pg_replication_slots AS s
     CROSS JOIN LATERAL (SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - s.restart_lsn)::bigint AS kept) AS w
     CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l
     WHERE w.kept >= pg_size_bytes(l.kept_wal)
    UNION ALL
    SELECT 119, 'archive_command',
           format('%s failures, the last of %s; %s', a.failed_count, a.last_failed_wal,
                  coalesce('archived until ' || to_char(a.last_archived_time AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'), 'nothing was ever archived')),
           NULL, NULL
      FROM pg_stat_archiver AS a CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l
     WHERE current_setting('archive_mode') <> 'off' AND a.last_failed_time > coalesce(a.last_archived_time, '-infinity')
       AND coalesce(a.last_archived_time, a.stats_reset, '-infinity') < clock_timestamp() - l.waiting
    UNION ALL
    SELECT 120, format('database %s', d.datname),
           format('%s transactions and %s multixacts since rows were last frozen, of which %s holds the oldest', age(d.datfrozenxid),
                  mxid_age(d.datminmxid),
                  (SELECT c.oid::regclass FROM pg_class AS c WHERE c.relkind IN ('r', 'm', 't')
                    ORDER BY greatest(age(c.relfrozenxid), mxid_age(c.relminmxid)) DESC LIMIT 1)),
           'VACUUM (FREEZE);', 'psql'
      FROM pg_database AS d CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l
     WHERE d.datname = current_database() AND greatest(age(d.datfrozenxid), mxid_age(d.datminmxid)) >= l.unfrozen
    UNION ALL
    SELECT 121, ssb_internal.runtime_owner(), format('queues and services belong to %s', v.owner), 'pgsb upgrade', 'shell'
      FROM ssb.runtime_version AS v WHERE v.owner <> ssb_internal.runtime_owner()
    UNION ALL
    SELECT 122, 'sys.xml', 'is PostgreSQL''s xml, which this server lacks', NULL, NULL
     WHERE NOT ssb_internal.reads_xml();
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.check_instance(jsonb) FROM PUBLIC;

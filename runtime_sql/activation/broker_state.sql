-- What the activation daemon (pgsb broker) keeps in the database, and its log.
-- None of it is needed for sending and receiving: without a daemon nothing is
-- started by itself, that is all.

-- Daemons of this database. One leads: the one whose session holds the advisory
-- lock; a row whose session has gone says nothing.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.broker_daemon (
    pid           integer     PRIMARY KEY,            -- of the session that holds, or wants, the lock
    backend_start timestamptz NOT NULL,
    host          text        NOT NULL,               -- machine and process of the daemon itself
    version       text        NOT NULL,
    leads_since   timestamptz
);

-- SQL Server's error log, as far as activation writes it: PRINT and errors of
-- service programs, and what the daemon did. The newest 10,000 lines are kept.
CREATE TABLE IF NOT EXISTS ssb.broker_log (
    log_id       bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    logged_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    level        text        NOT NULL,
    event        text        NOT NULL,                -- 'print', 'reader_failed', …
    queue        text,
    program      text,                                -- the procedure, or the program's name
    pid          integer,                             -- of the reader: @@SPID
    error_number integer,
    message      text        NOT NULL,
    CONSTRAINT "a log line is debug, info, warning or error" CHECK (level IN ('debug', 'info', 'warning', 'error'))
);

-- Appends lines, an array of objects with the columns' names, and drops the oldest. age is how many seconds ago a line was
-- written: the daemon's clock may be another than the server's, by which everything else goes. Daemons of before told logged_at alone.
--
-- Called by  the daemon
CREATE OR REPLACE FUNCTION ssb_internal.write_broker_log(p_lines jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_last bigint;
BEGIN
    INSERT INTO ssb.broker_log (logged_at, level, event, queue, program, pid, error_number, message)
    SELECT coalesce(v_now - l.age * interval '1 second', l.logged_at), l.level, l.event, l.queue, l.program, l.pid, l.error_number,
           coalesce(l.message, '')
      FROM jsonb_to_recordset(p_lines) AS l (logged_at timestamptz, age double precision, level text, event text, queue text,
                                             program text, pid integer, error_number integer, message text);
    -- What was set aside before the reason was written down. (Not behind somebody who is deciding about it.)
    UPDATE ssb.quarantined_group AS g SET error = ssb_internal.last_error(q.name, g.quarantined_at)
      FROM ssb.queue AS q
     WHERE q.queue_id = g.queue_id
       AND g.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.quarantined_group AS o
                                 JOIN ssb.queue AS p ON p.queue_id = o.queue_id
                                WHERE EXISTS (SELECT FROM jsonb_to_recordset(p_lines) AS l (logged_at timestamptz, age double precision, queue text)
                                               WHERE l.queue = p.name
                                                 AND coalesce(v_now - l.age * interval '1 second', l.logged_at)
                                                     BETWEEN o.quarantined_at - interval '1 minute' AND o.quarantined_at)
                                  FOR NO KEY UPDATE OF o SKIP LOCKED));
    SELECT max(b.log_id) INTO v_last FROM ssb.broker_log AS b;
    DELETE FROM ssb.broker_log AS b WHERE b.log_id <= v_last - 10000;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.write_broker_log(jsonb) FROM PUBLIC;

-- The heartbeat: the leader counts it up once a second. A sequence, because a row would
-- leave a dead one behind each time.
CREATE SEQUENCE IF NOT EXISTS ssb.broker_heartbeat;

-- The leader's own session holds the first of these advisory locks; its other sessions share the
-- second, so that the next leader finds and ends them.
CREATE OR REPLACE FUNCTION ssb_internal.leader_lock() RETURNS bigint LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$ SELECT 1397965313::bigint $$;
CREATE OR REPLACE FUNCTION ssb_internal.leader_fence() RETURNS bigint LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$ SELECT 1397965314::bigint $$;

-- Sessions of this database that hold the advisory lock and may be a daemon's: anybody may take such a lock,
-- but the functions here are not for everybody.
CREATE OR REPLACE FUNCTION ssb_internal.holders_of(p_lock bigint)
RETURNS SETOF integer
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.pid FROM pg_locks AS l
     WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
       AND l.classid::bigint = p_lock >> 32 AND l.objid::bigint = p_lock & 4294967295
       AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
       AND EXISTS (SELECT FROM pg_stat_activity AS a
                    WHERE a.pid = l.pid AND has_schema_privilege(a.usesysid, 'ssb_internal', 'USAGE')
                      AND has_function_privilege(a.usesysid, 'ssb_internal.broker_try_to_lead()', 'EXECUTE'));
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.holders_of(bigint) FROM PUBLIC;

-- Ends all sessions but the caller's that hold the advisory lock, whoever they are, and waits for their end.
-- Returns who they were: machine and process of a daemon, session and role of a stranger; NULL: nobody. Raises 42501 that
-- says so, where the caller may not end one.
CREATE OR REPLACE FUNCTION ssb_internal.end_holders_of(p_lock bigint)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_holder record;
    v_ended text;
BEGIN
    FOR v_holder IN
        SELECT a.pid, coalesce(d.host, format('session %s of role %s, no daemon,', a.pid, a.usename)) AS name
          FROM pg_locks AS l
          JOIN pg_stat_activity AS a ON a.pid = l.pid
          LEFT JOIN ssb.broker_daemon AS d ON d.pid = a.pid AND d.backend_start = a.backend_start
         WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.pid <> pg_backend_pid()
           AND l.classid::bigint = p_lock >> 32 AND l.objid::bigint = p_lock & 4294967295
           AND l.database = (SELECT c.oid FROM pg_database AS c WHERE c.datname = current_database())
    LOOP
        BEGIN
            IF pg_terminate_backend(v_holder.pid, 1000) THEN
                v_ended := concat_ws(', ', v_ended, v_holder.name);
            END IF;
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE insufficient_privilege USING
                MESSAGE = format('%s holds a lock of the daemon: %s', v_holder.name, SQLERRM),
                HINT = format('End it as a superuser or a member of pg_signal_backend: SELECT pg_terminate_backend(%s)', v_holder.pid);
        END;
    END LOOP;
    RETURN v_ended;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.end_holders_of(bigint) FROM PUBLIC;

-- A daemon's session asks for the lead. If another has it, the heartbeat tells whether that one is well.
--
-- Called by  daemon/leader.py
CREATE OR REPLACE FUNCTION ssb_internal.broker_try_to_lead(OUT leads boolean, OUT heartbeat bigint)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT pg_try_advisory_lock(ssb_internal.leader_lock()), pg_sequence_last_value('ssb.broker_heartbeat'); $$;
REVOKE EXECUTE ON FUNCTION ssb_internal.broker_try_to_lead() FROM PUBLIC;

-- Another session of the leader whose own one is this. False when that one leads no longer: then the
-- session must not be used. One that has joined is ended by the next leader before it leads.
CREATE OR REPLACE FUNCTION ssb_internal.broker_joined(p_listener integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Daemons only share it.
    IF NOT pg_try_advisory_lock_shared(ssb_internal.leader_fence()) THEN
        PERFORM ssb_internal.end_holders_of(ssb_internal.leader_fence());
        PERFORM pg_advisory_lock_shared(ssb_internal.leader_fence());
    END IF;
    RETURN p_listener IN (SELECT ssb_internal.holders_of(ssb_internal.leader_lock()));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.broker_joined(integer) FROM PUBLIC;

-- The leader hangs: ends its own session, or a stranger's that has the lock, so that it is free. Returns its
-- machine and process, NULL when nobody leads. Raises 42501 where the caller may not end it.
CREATE OR REPLACE FUNCTION ssb_internal.broker_end_leader()
RETURNS text
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ssb_internal.end_holders_of(ssb_internal.leader_lock()); $$;
REVOKE EXECUTE ON FUNCTION ssb_internal.broker_end_leader() FROM PUBLIC;

-- Which server this is, which of its histories, which database: another one after a restore to an earlier time, a promotion, a dump that was
-- restored, a copy. NULL on a standby.
-- Called by  ssb_internal.broker_began, ssb_internal.restored_dialogs
CREATE OR REPLACE FUNCTION ssb_internal.lineage()
RETURNS text
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT pg_is_in_recovery() THEN
        RETURN (SELECT format('%s %s %s', c.system_identifier, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), d.oid)
                  FROM pg_control_system() AS c, pg_database AS d WHERE d.datname = current_database());
    END IF;
    RETURN NULL;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.lineage() FROM PUBLIC;

-- A daemon introduces itself; p_leads once it holds the lock. Taking the lead, it
-- ends the sessions that the leader before has left, and waits until they are gone:
-- their process may have hung, and go on at any moment, or the server may not have
-- noticed yet that it died.
CREATE OR REPLACE FUNCTION ssb_internal.broker_began(p_host text, p_version text, p_leads boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_pid integer;
BEGIN
    DELETE FROM ssb.broker_daemon AS d
     WHERE d.pid = pg_backend_pid()
        OR NOT EXISTS (SELECT FROM pg_stat_activity AS a WHERE a.pid = d.pid AND a.backend_start = d.backend_start);
    INSERT INTO ssb.broker_daemon (pid, backend_start, host, version, leads_since)
    SELECT a.pid, a.backend_start, p_host, p_version, CASE WHEN p_leads THEN clock_timestamp() END
      FROM pg_stat_activity AS a WHERE a.pid = pg_backend_pid();
    IF p_leads THEN
        -- All at once, and then waited for one by one.
        PERFORM pg_terminate_backend(h) FROM ssb_internal.holders_of(ssb_internal.leader_fence()) AS h;
        PERFORM pg_terminate_backend(t.pid)
           FROM ssb.activated_task AS t
           JOIN pg_stat_activity AS a ON a.pid = t.pid AND a.backend_start = t.backend_start;
        FOR v_pid IN SELECT h FROM ssb_internal.holders_of(ssb_internal.leader_fence()) AS h LOOP
            PERFORM pg_terminate_backend(v_pid, 5000);
        END LOOP;
        IF EXISTS (SELECT FROM ssb_internal.holders_of(ssb_internal.leader_fence())) THEN
            RAISE EXCEPTION 'sessions of the leader before do not end: %',
                (SELECT string_agg(h::text, ', ') FROM ssb_internal.holders_of(ssb_internal.leader_fence()) AS h);
        END IF;
        DELETE FROM ssb.activated_task;
        DELETE FROM ssb.queue_monitor;
        UPDATE ssb.runtime_version AS v
           SET lineage = l.now_here, lineage_since = CASE WHEN v.lineage IS NOT NULL THEN clock_timestamp() END
          FROM ssb_internal.lineage() AS l (now_here) WHERE v.lineage IS DISTINCT FROM l.now_here;
        -- Come to another server (pg_upgrade, a dump), and led here: copies that are made here are copies of this one. See check 124.
        IF FOUND THEN
            UPDATE ssb.database AS d SET guid_made_in = i.here FROM ssb_internal.database_identity() AS i (here)
             WHERE split_part(d.guid_made_in, '/', 1) <> split_part(i.here, '/', 1);
        END IF;
        -- Of the queues that a daemon watches; whoever else watches one still does.
        PERFORM ssb_internal.set_watcher(q.state_sequence, false) FROM ssb.queue AS q
          WHERE q.is_watched AND NOT ssb_internal.is_being_dropped(q.queue_id);
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.broker_began(text, text, boolean) FROM PUBLIC;

-- For the view below, to those who may read it; nothing on a standby.
CREATE OR REPLACE FUNCTION ssb_internal.introduced_daemons()
RETURNS SETOF ssb.broker_daemon
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT pg_is_in_recovery() AND has_table_privilege(ssb_internal.caller(), 'ssb.broker_daemons', 'SELECT') THEN
        RETURN QUERY SELECT d.* FROM ssb.broker_daemon AS d;
    END IF;
END;
$$;

-- For operators: who leads, and since when.
CREATE OR REPLACE VIEW ssb.broker_daemons AS
SELECT d.host, d.version, d.leads_since IS NOT NULL AS is_leading, d.leads_since, d.pid
  FROM ssb_internal.introduced_daemons() AS d
  JOIN pg_stat_activity AS a ON a.pid = d.pid AND a.backend_start = d.backend_start;

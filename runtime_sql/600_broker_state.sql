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

-- Appends lines, an array of objects with the columns' names, and drops the oldest.
--
-- Called by  the daemon
CREATE OR REPLACE FUNCTION ssb.write_broker_log(p_lines jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_last bigint;
BEGIN
    INSERT INTO ssb.broker_log (logged_at, level, event, queue, program, pid, error_number, message)
    SELECT l.logged_at, l.level, l.event, l.queue, l.program, l.pid, l.error_number, coalesce(l.message, '')
      FROM jsonb_to_recordset(p_lines) AS l (logged_at timestamptz, level text, event text, queue text, program text,
                                             pid integer, error_number integer, message text);
    -- What was set aside before the reason was written down.
    UPDATE ssb.quarantined_group AS g SET error = ssb.last_error(q.name, g.quarantined_at)
      FROM ssb.queue AS q
     WHERE q.queue_id = g.queue_id
       AND EXISTS (SELECT FROM jsonb_to_recordset(p_lines) AS l (logged_at timestamptz, queue text)
                    WHERE l.queue = q.name AND l.logged_at BETWEEN g.quarantined_at - interval '1 minute' AND g.quarantined_at);
    SELECT max(b.log_id) INTO v_last FROM ssb.broker_log AS b;
    DELETE FROM ssb.broker_log AS b WHERE b.log_id <= v_last - 10000;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb.write_broker_log(jsonb) FROM PUBLIC;

-- A daemon introduces itself; p_leads once it holds the lock. Taking the lead, it
-- ends the readers of the one before: their client has gone, and their work with
-- it, but the server may not have noticed yet.
CREATE OR REPLACE FUNCTION ssb.broker_began(p_host text, p_version text, p_leads boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM ssb.broker_daemon AS d
     WHERE d.pid = pg_backend_pid()
        OR NOT EXISTS (SELECT FROM pg_stat_activity AS a WHERE a.pid = d.pid AND a.backend_start = d.backend_start);
    INSERT INTO ssb.broker_daemon (pid, backend_start, host, version, leads_since)
    SELECT a.pid, a.backend_start, p_host, p_version, CASE WHEN p_leads THEN clock_timestamp() END
      FROM pg_stat_activity AS a WHERE a.pid = pg_backend_pid();
    IF p_leads THEN
        PERFORM pg_terminate_backend(t.pid)
           FROM ssb.activated_task AS t
           JOIN pg_stat_activity AS a ON a.pid = t.pid AND a.backend_start = t.backend_start;
        DELETE FROM ssb.activated_task;
        DELETE FROM ssb.queue_monitor;
        PERFORM ssb.set_watcher(q.state_sequence, false) FROM ssb.queue AS q;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb.broker_began(text, text, boolean) FROM PUBLIC;

-- For operators: who leads, and since when.
CREATE OR REPLACE VIEW ssb.broker_daemons AS
SELECT d.host, d.version, d.leads_since IS NOT NULL AS is_leading, d.leads_since, d.pid
  FROM ssb.broker_daemon AS d
  JOIN pg_stat_activity AS a ON a.pid = d.pid AND a.backend_start = d.backend_start;

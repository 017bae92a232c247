-- Dynamic management views: what is going on now, in the whole instance.

-- Readers at work. A session that waits for its next run stays in the table, so that
-- starting it needs no further statement. SECURITY DEFINER: a program that runs as
-- somebody else could not see its own session.
--
-- A standby has no unlogged tables, and refuses each statement that names one: what reads them for views asks first.
CREATE OR REPLACE FUNCTION ssb_internal.running_tasks()
RETURNS SETOF ssb.activated_task
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT t.* FROM ssb.activated_task AS t
      JOIN pg_stat_activity AS a ON a.pid = t.pid AND a.backend_start = t.backend_start
     WHERE a.state <> 'idle';
END;
$$;

-- What the daemon sees of queues: sys.dm_broker_queue_monitors shows it to everybody.
CREATE OR REPLACE FUNCTION ssb_internal.queue_monitors()
RETURNS SETOF ssb.queue_monitor
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT pg_is_in_recovery() THEN
        RETURN QUERY SELECT m.* FROM ssb.queue_monitor AS m;
    END IF;
END;
$$;

-- The queue whose program this session is running, NULL in all other sessions. The runtime's own service programs ask,
-- and may run as a role that reads no table.
CREATE OR REPLACE FUNCTION ssb_internal.activated_queue()
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT q.name FROM ssb_internal.running_tasks() AS t JOIN ssb.queue AS q ON q.queue_id = t.queue_id
             WHERE t.pid = pg_backend_pid());
END;
$$;

CREATE OR REPLACE VIEW sys.dm_broker_queue_monitors AS
SELECT q.database_id, q.queue_id, coalesce(m.state, 'INACTIVE') AS state,
       m.last_empty_rowset_time::timestamp(3) AS last_empty_rowset_time, m.last_activated_time::timestamp(3) AS last_activated_time,
       (SELECT count(*) FROM ssb_internal.running_tasks() AS t WHERE t.queue_id = q.queue_id)::integer AS tasks_waiting
  FROM ssb.queue AS q LEFT JOIN ssb_internal.queue_monitors() AS m ON m.queue_id = q.queue_id
 WHERE q.is_activation_enabled OR m.queue_id IS NOT NULL;

CREATE OR REPLACE VIEW sys.dm_broker_activated_tasks AS
SELECT t.pid AS spid, q.database_id, t.queue_id,
       coalesce(CASE t.procedure_name WHEN q.activation_procedure THEN q.activation_spelling END,
                ssb_internal.bracketed_name(t.procedure_name)) AS procedure_name,
       ssb_internal.principal_id_of(t.execute_as, q.database_id) AS execute_as
  FROM ssb_internal.running_tasks() AS t
  JOIN ssb.queue AS q ON q.queue_id = t.queue_id;

-- Connections that the daemon of this instance keeps to others. Those that others have opened to this one
-- are PostgreSQL's: nobody else knows what they are for.
CREATE OR REPLACE VIEW sys.dm_broker_connections AS
SELECT c.connection_id, NULL::uuid AS transport_stream_id, 4::smallint AS state, 'LOGGED_IN' AS state_desc,
       c.connected_at::timestamp(3) AS connect_time, c.connected_at::timestamp(3) AS login_time, NULL::text AS authentication_method,
       NULL::text AS principal_name, c.remote_user AS remote_user_name, c.active_at::timestamp(3) AS last_activity_time,
       0::sys.bit AS is_accept, 12::smallint AS login_state, 'ONLINE' AS login_state_desc, NULL::integer AS peer_certificate_id,
       NULL::smallint AS encryption_algorithm, CASE WHEN c.is_encrypted THEN 'TLS' ELSE 'NONE' END AS encryption_algorithm_desc,
       NULL::smallint AS receives_posted, NULL::sys.bit AS is_receive_flow_controlled, NULL::smallint AS sends_posted,
       NULL::sys.bit AS is_send_flow_controlled, c.bytes_sent AS total_bytes_sent, NULL::bigint AS total_bytes_received,
       NULL::bigint AS total_fragments_sent, NULL::bigint AS total_fragments_received, c.sends AS total_sends,
       NULL::bigint AS total_receives, NULL::uuid AS peer_arbitration_id
  FROM ssb_internal.open_transport_connections() AS c;

-- Messages passing through; to members of pg_monitor. Times are seconds.
CREATE OR REPLACE VIEW sys.dm_broker_forwarded_messages AS
SELECT f.conversation_id, f.is_initiator::integer::sys.bit AS is_initiator, f.to_service AS to_service_name,
       f.to_instance AS to_broker_instance, f.from_service AS from_service_name, f.from_instance AS from_broker_instance,
       f.address AS adjacent_broker_address, f.number AS message_sequence_number, NULL::integer AS message_fragment_number,
       least(f.hops_remaining, 255)::smallint AS hops_remaining, least(f.time_to_live, 1e9)::integer AS time_to_live,
       least(f.time_consumed, 1e9)::integer AS time_consumed, NULL::uuid AS message_id
  FROM ssb_internal.forwarded_messages() AS f;

CREATE OR REPLACE VIEW sys.dm_exec_sessions AS
SELECT a.pid AS session_id, a.backend_start::timestamp(3) AS login_time, a.client_hostname AS host_name, a.application_name AS program_name,
       a.usename::text AS login_name, CASE a.state WHEN 'active' THEN 'running' ELSE 'sleeping' END AS status,
       CASE a.pid WHEN pg_backend_pid() THEN ssb_internal.current_database_id() ELSE 5 END AS database_id,
       (a.backend_type = 'client backend')::integer::sys.bit AS is_user_process,
       a.query_start::timestamp(3) AS last_request_start_time,
       (CASE WHEN a.state <> 'active' THEN a.state_change END)::timestamp(3) AS last_request_end_time,
       (a.xact_start IS NOT NULL)::integer AS open_transaction_count, a.usename::text AS original_login_name,
       -- Of others PostgreSQL does not tell.
       CASE WHEN a.pid = pg_backend_pid()
            -- What SET said where that is not PostgreSQL's level.
            THEN CASE coalesce(nullif(nullif(current_setting('pgsb.snapshot', true), 'off'), ''), current_setting('transaction_isolation'))
                 WHEN 'read uncommitted' THEN 1 WHEN 'read committed' THEN 2 WHEN 'repeatable read' THEN 3
                 WHEN 'serializable' THEN 4 ELSE 5 END END::smallint AS transaction_isolation_level,
       0 AS cpu_time, 0 AS memory_usage, 0 AS total_scheduled_time,
       least(extract(epoch FROM clock_timestamp() - a.backend_start) * 1000, 2147483647)::integer AS total_elapsed_time, 0::bigint AS reads, 0::bigint AS writes,
       0::bigint AS logical_reads, 0::bigint AS row_count, 0 AS prev_error, NULL::integer AS host_process_id,
       NULL::text AS client_interface_name, NULL::text AS nt_domain, NULL::text AS nt_user_name, 'us_english'::text AS language,
       NULL::integer AS client_version, convert_to(a.usename::text, 'UTF8') AS security_id, convert_to(a.usename::text, 'UTF8') AS original_security_id,
       -- What a session has set, of one's own.
       decode(CASE WHEN o.is_own THEN nullif(current_setting('pgsb.context_info', true), '') END, 'hex') AS context_info,
       CASE WHEN a.client_addr IS NULL THEN 2 ELSE 4 END AS endpoint_id, 2147483647 AS text_size,
       CASE WHEN o.is_own THEN coalesce(nullif(lower(current_setting('pgsb.dateformat', true)), ''), 'mdy') END AS date_format,
       CASE WHEN o.is_own THEN coalesce(nullif(current_setting('pgsb.datefirst', true), ''), '7') END::smallint AS date_first,
       1::sys.bit AS quoted_identifier, 1::sys.bit AS arithabort, 1::sys.bit AS ansi_null_dflt_on, 0::sys.bit AS ansi_defaults,
       1::sys.bit AS ansi_warnings, 1::sys.bit AS ansi_padding, 1::sys.bit AS ansi_nulls, 1::sys.bit AS concat_null_yields_null,
       CASE WHEN o.is_own
            THEN coalesce(nullif((date_part('epoch', current_setting('lock_timeout')::interval) * 1000)::integer, 0), -1) END AS lock_timeout,
       0 AS deadlock_priority, NULL::timestamp(3) AS last_successful_logon, NULL::timestamp(3) AS last_unsuccessful_logon,
       NULL::bigint AS unsuccessful_logons, NULL::integer AS group_id, 0 AS authenticating_database_id
  FROM pg_stat_activity AS a
 CROSS JOIN LATERAL (SELECT a.pid = pg_backend_pid() AS is_own) AS o
 WHERE a.datname = current_database();

-- Dynamic management views of sessions, requests, transactions and locks, as far as
-- monitoring scripts ask: PostgreSQL's activity under SQL Server's column names.

CREATE OR REPLACE VIEW sys.dm_exec_connections AS
SELECT a.pid AS session_id, a.backend_start::timestamp(3) AS connect_time, CASE WHEN a.client_addr IS NULL THEN 'Shared memory' ELSE 'TCP' END
           AS net_transport,
       host(a.client_addr) AS client_net_address, a.client_port AS client_tcp_port, a.pid::text::bytea AS most_recent_sql_handle,
       a.state_change::timestamp(3) AS last_read, a.state_change::timestamp(3) AS last_write, a.pid AS most_recent_session_id,
       'TSQL'::text AS protocol_type, NULL::integer AS protocol_version, CASE WHEN a.client_addr IS NULL THEN 2 ELSE 4 END AS endpoint_id,
       CASE WHEN t.ssl THEN 'TRUE' ELSE 'FALSE' END AS encrypt_option,
       CASE WHEN k.gss_authenticated THEN 'KERBEROS' ELSE 'SQL' END AS auth_scheme, 0::smallint AS node_affinity,
       NULL::integer AS num_reads, NULL::integer AS num_writes, NULL::integer AS net_packet_size,
       CASE WHEN a.pid = pg_backend_pid() THEN host(inet_server_addr()) END AS local_net_address,
       CASE WHEN a.client_addr IS NOT NULL THEN current_setting('port')::integer END AS local_tcp_port,
       -- Nothing else tells a process from an earlier one of its number.
       md5(a.pid || ' ' || extract(epoch FROM a.backend_start))::uuid AS connection_id, NULL::uuid AS parent_connection_id
  FROM pg_stat_activity AS a
  LEFT JOIN pg_stat_ssl AS t ON t.pid = a.pid
  LEFT JOIN pg_stat_gssapi AS k ON k.pid = a.pid
 WHERE a.datname = current_database();

CREATE OR REPLACE VIEW sys.dm_exec_requests AS
SELECT a.pid AS session_id, 0 AS request_id, a.query_start::timestamp(3) AS start_time,
       CASE WHEN a.wait_event_type IN ('Lock', 'Timeout', 'IPC') THEN 'suspended' ELSE 'running' END AS status,
       upper(split_part(ltrim(a.query), ' ', 1)) AS command, a.pid::text::bytea AS sql_handle, a.pid::text::bytea AS plan_handle,
       CASE a.pid WHEN pg_backend_pid() THEN ssb_internal.current_database_id() ELSE 5 END AS database_id, coalesce((pg_blocking_pids(a.pid))[1], 0) AS blocking_session_id,
       -- SQL Server's name for a WAITFOR (RECEIVE …); of other roles' sessions operators alone see the text.
       CASE WHEN a.wait_event IN ('PgSleep', 'advisory') AND a.query ~ 'wait_for_message\(' THEN 'BROKER_RECEIVE_WAITFOR'
            ELSE a.wait_event END AS wait_type,
       CASE WHEN a.wait_event IS NOT NULL THEN (extract(epoch FROM clock_timestamp() - a.state_change) * 1000)::integer ELSE 0 END AS wait_time,
       coalesce(a.wait_event, '') AS last_wait_type, ''::text AS wait_resource, (a.xact_start IS NOT NULL)::integer AS open_transaction_count,
       (extract(epoch FROM clock_timestamp() - a.query_start) * 1000)::integer AS total_elapsed_time, 0 AS cpu_time,
       0::bigint AS reads, 0::bigint AS writes, 0::bigint AS logical_reads, 0::real AS percent_complete,
       0 AS statement_start_offset, -1 AS statement_end_offset, 0::bigint AS row_count, 0::bigint AS estimated_completion_time,
       a.backend_xid::text::bigint AS transaction_id, sys.user_id(sys.user_of_role(a.usename)) AS user_id,
       md5(a.pid || ' ' || extract(epoch FROM a.backend_start))::uuid AS connection_id, 1 AS open_resultset_count, s.context_info,
       NULL::integer AS scheduler_id, NULL::bytea AS task_address, s.text_size, s.language, s.date_format, s.date_first, s.quoted_identifier,
       s.arithabort, s.ansi_null_dflt_on, s.ansi_defaults, s.ansi_warnings, s.ansi_padding, s.ansi_nulls, s.concat_null_yields_null,
       s.transaction_isolation_level, s.lock_timeout, s.deadlock_priority, s.prev_error, NULL::integer AS nest_level,
       0 AS granted_query_memory, 0::sys.bit AS executing_managed_code, s.group_id, NULL::bytea AS query_hash, NULL::bytea AS query_plan_hash,
       NULL::bytea AS statement_sql_handle, NULL::bigint AS statement_context_id, NULL::integer AS dop, NULL::integer AS parallel_worker_count,
       NULL::uuid AS external_script_request_id, 0::sys.bit AS is_resumable
  FROM pg_stat_activity AS a
  JOIN sys.dm_exec_sessions AS s ON s.session_id = a.pid
 WHERE a.datname = current_database() AND a.state = 'active';

-- The text of a request, by the handle that dm_exec_requests and dm_exec_connections give.
CREATE OR REPLACE FUNCTION sys.dm_exec_sql_text(handle bytea)
RETURNS TABLE (dbid smallint, objectid integer, number smallint, encrypted sys.bit, text text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT 5::smallint, NULL::integer, NULL::smallint, 0::sys.bit, a.query
      FROM pg_stat_activity AS a WHERE a.pid::text = convert_from(handle, 'UTF8');
END;

CREATE OR REPLACE VIEW sys.dm_tran_session_transactions AS
SELECT a.pid AS session_id, a.backend_xid::text::bigint AS transaction_id, 1 AS enlist_count, 1::sys.bit AS is_user_transaction,
       1::sys.bit AS is_local, (a.xact_start IS NOT NULL)::integer AS open_transaction_count, NULL::bytea AS transaction_descriptor,
       0::sys.bit AS is_enlisted, 0::sys.bit AS is_bound
  FROM pg_stat_activity AS a WHERE a.datname = current_database() AND a.xact_start IS NOT NULL;

CREATE OR REPLACE VIEW sys.dm_tran_active_transactions AS
SELECT a.backend_xid::text::bigint AS transaction_id, 'user_transaction'::text AS name, a.xact_start::timestamp(3) AS transaction_begin_time,
       1 AS transaction_type, 2 AS transaction_state, NULL::uuid AS transaction_uow, 0 AS transaction_status, 0 AS transaction_status2,
       0 AS dtc_state, 0 AS dtc_status, NULL::integer AS dtc_isolation_level, NULL::bytea AS filestream_transaction_id
  FROM pg_stat_activity AS a WHERE a.datname = current_database() AND a.xact_start IS NOT NULL;

CREATE OR REPLACE VIEW sys.dm_tran_database_transactions AS
SELECT t.transaction_id, 5 AS database_id, t.transaction_begin_time AS database_transaction_begin_time,
       1 AS database_transaction_type, 4 AS database_transaction_state, 0 AS database_transaction_status, 0 AS database_transaction_status2,
       NULL::bigint AS database_transaction_log_record_count, NULL::integer AS database_transaction_replicate_record_count,
       NULL::bigint AS database_transaction_log_bytes_used, NULL::bigint AS database_transaction_log_bytes_reserved,
       NULL::integer AS database_transaction_log_bytes_used_system, NULL::integer AS database_transaction_log_bytes_reserved_system,
       NULL::bigint AS database_transaction_begin_lsn, NULL::bigint AS database_transaction_last_lsn,
       NULL::bigint AS database_transaction_most_recent_savepoint_lsn, NULL::bigint AS database_transaction_commit_lsn,
       NULL::bigint AS database_transaction_last_rollback_lsn, NULL::bigint AS database_transaction_next_undo_lsn
  FROM sys.dm_tran_active_transactions AS t;

CREATE OR REPLACE VIEW sys.dm_tran_current_transaction AS
SELECT sys.current_transaction_id() AS transaction_id;

-- Whether the transaction runs, perhaps as a part of another.
CREATE OR REPLACE FUNCTION ssb_internal.is_running(p_transaction xid)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    -- Numbers without their epoch: the one that lies next to the youngest.
    SELECT n.number > 2 AND pg_xact_status((n.youngest - (((n.youngest - n.number) << 32) >> 32))::text::xid8) = 'in progress'
      FROM (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS youngest, p_transaction::text::bigint AS number) AS n;
$$;

-- The conversation groups that transactions hold, and their sessions. Such a lock is one of the leader's row (docs/engine.md):
-- it stands in xmax, or the transaction itself made the row. Where a savepoint or a TRY took part, xmax is the number of a
-- part that has ended, or of several lockers (a multixact). A part tells not whose it is: it is that of the one transaction
-- that is older and has to do with the table; of several such it is told with the session NULL.
-- Locks  a row for a moment, whose old xmax reads like the number of lockers who still run
CREATE OR REPLACE FUNCTION ssb_internal.held_groups()
RETURNS TABLE (database_id integer, conversation_group_id uuid, session_id integer)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_holders jsonb;
    v_oldest integer;
    v_multixacts integer := (SELECT max(mxid_age(d.datminmxid)) FROM pg_database AS d);
    v_row record;
    v_lockers xid[];
    v_is_free boolean;
BEGIN
    SELECT jsonb_object_agg(l.transactionid::text, l.pid), max(age(l.transactionid)) INTO v_holders, v_oldest
      FROM pg_locks AS l WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted;
    IF v_holders IS NULL THEN
        RETURN;
    END IF;
    FOR v_row IN
        SELECT e.endpoint_id, e.database_id, e.conversation_group_id, e.xmin AS maker, e.xmax AS locker FROM ssb.conversation_endpoint AS e
         WHERE e.endpoint_id = e.lock_id
           AND (age(e.xmin) <= v_oldest OR age(e.xmax) <= v_oldest AND e.xmax <> '0' OR mxid_age(e.xmax) BETWEEN 1 AND v_multixacts)
    LOOP
        database_id := v_row.database_id;
        conversation_group_id := v_row.conversation_group_id;
        IF ssb_internal.is_running(v_row.maker) THEN
            session_id := pg_backend_pid();  -- nobody else sees the row
            RETURN NEXT;
            CONTINUE;
        END IF;
        v_lockers := CASE WHEN ssb_internal.is_running(v_row.locker) THEN ARRAY[v_row.locker] END;
        IF v_lockers IS NULL AND mxid_age(v_row.locker) BETWEEN 1 AND v_multixacts THEN
            v_lockers := ARRAY(SELECT m.xid FROM pg_get_multixact_members(v_row.locker) AS m WHERE ssb_internal.is_running(m.xid));
        END IF;
        CONTINUE WHEN coalesce(v_lockers, '{}') = '{}';
        session_id := (SELECT min((v_holders ->> l::text)::integer) FROM unnest(v_lockers) AS l);
        IF session_id IS NULL THEN
            SELECT CASE WHEN count(DISTINCT h.value) = 1 THEN min(h.value::text::integer) END INTO session_id
              FROM jsonb_each(v_holders) AS h
             WHERE age(h.key::xid) > (SELECT max(age(l)) FROM unnest(v_lockers) AS l)
               AND EXISTS (SELECT FROM pg_locks AS t
                            WHERE t.pid = h.value::text::integer AND t.locktype = 'relation' AND t.relation = 'ssb.conversation_endpoint'::regclass
                              AND t.mode IN ('RowShareLock', 'RowExclusiveLock') AND t.granted);
        END IF;
        IF v_lockers <> ARRAY[v_row.locker] AND session_id IS DISTINCT FROM pg_backend_pid() THEN
            -- Lockers by their common number: an old transaction may have had the same one.
            BEGIN
                v_is_free := EXISTS (SELECT FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_row.endpoint_id FOR SHARE SKIP LOCKED);
                RAISE EXCEPTION USING ERRCODE = 'S0000';
            EXCEPTION
                WHEN SQLSTATE 'S0000' THEN
                    CONTINUE WHEN v_is_free;
                WHEN read_only_sql_transaction THEN
                    NULL;  -- most likely it is what it looks like
            END;
        END IF;
        RETURN NEXT;
    END LOOP;
END;
$$;

-- Who holds or awaits what. PostgreSQL counts no requests, and knows the owner by the session alone.
CREATE OR REPLACE VIEW sys.dm_tran_locks AS
SELECT l.resource_type, l.resource_subtype, l.resource_database_id, l.resource_description, l.resource_associated_entity_id,
       0 AS resource_lock_partition, l.request_mode, 'LOCK'::text AS request_type, l.request_status, 1::smallint AS request_reference_count,
       0 AS request_lifetime, l.request_session_id, 0 AS request_exec_context_id, 0 AS request_request_id,
       'TRANSACTION'::text AS request_owner_type, NULL::bigint AS request_owner_id, NULL::uuid AS request_owner_guid,
       NULL::text AS request_owner_lockspace_id, NULL::bytea AS lock_owner_address
  FROM (
    SELECT CASE k.locktype WHEN 'relation' THEN 'OBJECT' WHEN 'tuple' THEN 'RID' WHEN 'advisory' THEN 'APPLICATION' ELSE upper(k.locktype) END
               AS resource_type, ''::text AS resource_subtype, 5 AS resource_database_id, ''::text AS resource_description,
           coalesce(k.relation::bigint, 0) AS resource_associated_entity_id,
           CASE k.mode WHEN 'AccessShareLock' THEN 'Sch-S' WHEN 'RowShareLock' THEN 'IS' WHEN 'RowExclusiveLock' THEN 'IX'
                       WHEN 'ShareLock' THEN 'S' WHEN 'ExclusiveLock' THEN 'X' WHEN 'AccessExclusiveLock' THEN 'Sch-M' ELSE 'U' END AS request_mode,
           CASE WHEN k.granted THEN 'GRANT' ELSE 'WAIT' END AS request_status, k.pid AS request_session_id
      FROM pg_locks AS k
     WHERE (k.database IS NULL OR k.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
       -- The engine's own (see docs/engine.md) are nobody's application locks.
       AND (k.locktype <> 'advisory' OR k.objsubid <> 2 OR k.classid NOT BETWEEN 1397965376::oid AND 1397965391::oid)
    UNION ALL
    SELECT DISTINCT 'METADATA', 'CONVERSATION_GROUP', g.database_id,
           '$hash = ' || concat_ws(':', '0x' || substr(h.digits, 1, 8), '0x' || substr(h.digits, 9, 8), '0x' || substr(h.digits, 17, 8)),
           0::bigint, 'X', 'GRANT', g.session_id
      FROM ssb_internal.held_groups() AS g
     CROSS JOIN LATERAL (SELECT upper(replace(g.conversation_group_id::text, '-', '')) AS digits) AS h) AS l;

CREATE OR REPLACE VIEW sys.dm_os_waiting_tasks AS
SELECT r.session_id, r.wait_time::bigint AS wait_duration_ms, r.wait_type, nullif(r.blocking_session_id, 0) AS blocking_session_id,
       ''::text AS resource_description, NULL::bytea AS waiting_task_address, 0 AS exec_context_id, NULL::bytea AS resource_address,
       NULL::bytea AS blocking_task_address, CASE WHEN r.blocking_session_id <> 0 THEN 0 END AS blocking_exec_context_id
  FROM sys.dm_exec_requests AS r WHERE r.wait_type IS NOT NULL
UNION ALL
-- The daemon's own sessions, which wait for something to do: for events, and for messages that leave.
SELECT a.pid, (extract(epoch FROM clock_timestamp() - a.state_change) * 1000)::bigint,
       CASE a.application_name WHEN 'pgsb transport' THEN 'BROKER_TRANSMITTER' ELSE 'BROKER_EVENTHANDLER' END, NULL, '',
       NULL, 0, NULL, NULL, NULL
  FROM pg_stat_activity AS a
 WHERE a.datname = current_database() AND a.application_name IN ('pgsb broker', 'pgsb transport') AND a.state = 'idle';

-- What PostgreSQL does not count: no rows, so that monitoring finds nothing (docs/dialect.md says why of waits).
CREATE OR REPLACE VIEW sys.dm_os_wait_stats AS
SELECT NULL::text AS wait_type, NULL::bigint AS waiting_tasks_count, NULL::bigint AS wait_time_ms, NULL::bigint AS max_wait_time_ms,
       NULL::bigint AS signal_wait_time_ms
 WHERE false;
CREATE OR REPLACE VIEW sys.dm_exec_query_stats AS
SELECT NULL::bytea AS sql_handle, NULL::integer AS statement_start_offset, NULL::integer AS statement_end_offset,
       NULL::bigint AS plan_generation_num, NULL::bytea AS plan_handle, NULL::timestamp(3) AS creation_time,
       NULL::timestamp(3) AS last_execution_time, NULL::bigint AS execution_count, NULL::bigint AS total_worker_time,
       NULL::bigint AS last_worker_time, NULL::bigint AS min_worker_time, NULL::bigint AS max_worker_time,
       NULL::bigint AS total_physical_reads, NULL::bigint AS last_physical_reads, NULL::bigint AS min_physical_reads,
       NULL::bigint AS max_physical_reads, NULL::bigint AS total_logical_writes, NULL::bigint AS last_logical_writes,
       NULL::bigint AS min_logical_writes, NULL::bigint AS max_logical_writes, NULL::bigint AS total_logical_reads,
       NULL::bigint AS last_logical_reads, NULL::bigint AS min_logical_reads, NULL::bigint AS max_logical_reads,
       NULL::bigint AS total_clr_time, NULL::bigint AS last_clr_time, NULL::bigint AS min_clr_time,
       NULL::bigint AS max_clr_time, NULL::bigint AS total_elapsed_time, NULL::bigint AS last_elapsed_time,
       NULL::bigint AS min_elapsed_time, NULL::bigint AS max_elapsed_time, NULL::bytea AS query_hash,
       NULL::bytea AS query_plan_hash, NULL::bigint AS total_rows, NULL::bigint AS last_rows, NULL::bigint AS min_rows,
       NULL::bigint AS max_rows, NULL::bytea AS statement_sql_handle, NULL::bigint AS statement_context_id,
       NULL::bigint AS total_dop, NULL::bigint AS last_dop, NULL::bigint AS min_dop, NULL::bigint AS max_dop,
       NULL::bigint AS total_grant_kb, NULL::bigint AS last_grant_kb, NULL::bigint AS min_grant_kb,
       NULL::bigint AS max_grant_kb, NULL::bigint AS total_used_grant_kb, NULL::bigint AS last_used_grant_kb,
       NULL::bigint AS min_used_grant_kb, NULL::bigint AS max_used_grant_kb, NULL::bigint AS total_ideal_grant_kb,
       NULL::bigint AS last_ideal_grant_kb, NULL::bigint AS min_ideal_grant_kb, NULL::bigint AS max_ideal_grant_kb,
       NULL::bigint AS total_reserved_threads, NULL::bigint AS last_reserved_threads, NULL::bigint AS min_reserved_threads,
       NULL::bigint AS max_reserved_threads, NULL::bigint AS total_used_threads, NULL::bigint AS last_used_threads,
       NULL::bigint AS min_used_threads, NULL::bigint AS max_used_threads, NULL::bigint AS total_columnstore_segment_reads,
       NULL::bigint AS last_columnstore_segment_reads, NULL::bigint AS min_columnstore_segment_reads,
       NULL::bigint AS max_columnstore_segment_reads, NULL::bigint AS total_columnstore_segment_skips,
       NULL::bigint AS last_columnstore_segment_skips, NULL::bigint AS min_columnstore_segment_skips,
       NULL::bigint AS max_columnstore_segment_skips, NULL::bigint AS total_spills, NULL::bigint AS last_spills,
       NULL::bigint AS min_spills, NULL::bigint AS max_spills, NULL::bigint AS total_num_physical_reads,
       NULL::bigint AS last_num_physical_reads, NULL::bigint AS min_num_physical_reads,
       NULL::bigint AS max_num_physical_reads, NULL::bigint AS total_page_server_reads,
       NULL::bigint AS last_page_server_reads, NULL::bigint AS min_page_server_reads, NULL::bigint AS max_page_server_reads,
       NULL::bigint AS total_num_page_server_reads, NULL::bigint AS last_num_page_server_reads,
       NULL::bigint AS min_num_page_server_reads, NULL::bigint AS max_num_page_server_reads
 WHERE false;
CREATE OR REPLACE VIEW sys.dm_db_index_usage_stats AS
SELECT NULL::integer AS database_id, NULL::integer AS object_id, NULL::integer AS index_id, NULL::bigint AS user_seeks,
       NULL::bigint AS user_scans, NULL::bigint AS user_lookups, NULL::bigint AS user_updates,
       NULL::timestamp(3) AS last_user_seek, NULL::timestamp(3) AS last_user_scan, NULL::timestamp(3) AS last_user_lookup,
       NULL::timestamp(3) AS last_user_update, NULL::bigint AS system_seeks, NULL::bigint AS system_scans,
       NULL::bigint AS system_lookups, NULL::bigint AS system_updates, NULL::timestamp(3) AS last_system_seek,
       NULL::timestamp(3) AS last_system_scan, NULL::timestamp(3) AS last_system_lookup,
       NULL::timestamp(3) AS last_system_update
 WHERE false;
CREATE OR REPLACE VIEW sys.dm_os_sys_info AS
SELECT NULL::bigint AS cpu_ticks, (extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000)::bigint AS ms_ticks,
       1 AS cpu_count, 1 AS hyperthread_ratio, NULL::bigint AS physical_memory_kb, NULL::bigint AS virtual_memory_kb,
       NULL::bigint AS committed_kb, NULL::bigint AS committed_target_kb, NULL::bigint AS visible_target_kb,
       NULL::integer AS stack_size_in_bytes, NULL::bigint AS os_quantum, NULL::integer AS os_error_mode, NULL::integer AS os_priority_class,
       current_setting('max_connections')::integer AS max_workers_count, NULL::integer AS scheduler_count,
       NULL::integer AS scheduler_total_count, NULL::integer AS deadlock_monitor_serial_number, 0::bigint AS sqlserver_start_time_ms_ticks,
       pg_postmaster_start_time()::timestamp(3) AS sqlserver_start_time, NULL::integer AS affinity_type, NULL::text AS affinity_type_desc,
       NULL::bigint AS process_kernel_time_ms, NULL::bigint AS process_user_time_ms, NULL::integer AS time_source,
       NULL::text AS time_source_desc, NULL::integer AS virtual_machine_type, NULL::text AS virtual_machine_type_desc,
       NULL::integer AS softnuma_configuration, NULL::text AS softnuma_configuration_desc, NULL::text AS process_physical_affinity,
       NULL::integer AS sql_memory_model, NULL::text AS sql_memory_model_desc, NULL::integer AS socket_count,
       NULL::integer AS cores_per_socket, NULL::integer AS numa_node_count, NULL::integer AS container_type, NULL::text AS container_type_desc;

-- Compiled KILL asks this first.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_kill_in_transaction(p_trancount integer)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_trancount > 0 THEN
        PERFORM ssb_internal.raise_error(6115, 'KILL command cannot be used inside user transactions.');
    END IF;
END;
$$;

-- SET TRANSACTION ISOLATION LEVEL SNAPSHOT, compiled, asks this first: what began otherwise does not change to it.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_snapshot_in_transaction(p_trancount integer)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_trancount > 0 AND current_setting('pgsb.snapshot', true) IS DISTINCT FROM 'on' THEN
        PERFORM ssb_internal.raise_error(3951, format('Transaction failed in database ''%s'' because the statement was run under snapshot '
            'isolation but the transaction did not start in snapshot isolation. You cannot change the isolation level of the transaction to '
            'snapshot after the transaction has started unless the transaction was originally started under snapshot isolation level.',
            ssb.db_name()));
    END IF;
END;
$$;

-- KILL: ends a session, whose number is that of its process. Called by compiled KILL.
CREATE OR REPLACE FUNCTION ssb_internal.kill(p_session integer, status_only boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- NULL for a session of another role, whom PostgreSQL asks below.
    v_kind text := (SELECT coalesce(a.backend_type, 'client backend') FROM pg_stat_activity AS a WHERE a.pid = p_session);
BEGIN
    IF p_session <= 0 THEN
        PERFORM ssb_internal.raise_error(6101, format('Session ID %s is not valid.', p_session));
    ELSIF v_kind IS NULL THEN
        PERFORM ssb_internal.raise_error(6106, format('Process ID %s is not an active process ID.', p_session), 16, 2);
    ELSIF p_session = pg_backend_pid() THEN
        PERFORM ssb_internal.raise_error(6104, 'Cannot use KILL to kill your own process.');
    ELSIF v_kind <> 'client backend' THEN
        PERFORM ssb_internal.raise_error(6107, 'Only user processes can be killed.', 14);
    ELSIF status_only THEN
        PERFORM ssb_internal.raise_error(6120, format('Status report cannot be obtained. Rollback operation for Process ID %s is not in progress.',
                                                      p_session));
    END IF;
    PERFORM pg_terminate_backend(p_session);
END;
$$;

-- What passes through, and the daemon's counts by name: nothing on a standby.
CREATE OR REPLACE FUNCTION ssb_internal.counted_by_daemon(OUT passing bigint, OUT passing_bytes bigint, OUT of jsonb)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    passing := 0;
    passing_bytes := 0;
    of := '{}';
    IF NOT pg_is_in_recovery() THEN
        SELECT coalesce(sum(cardinality(f.numbers)), 0), coalesce(sum(f.bytes), 0) INTO passing, passing_bytes FROM ssb.forwarded_set AS f;
        SELECT coalesce(jsonb_object_agg(c.name, c.value), '{}') INTO of
          FROM (SELECT c.name, sum(c.value) AS value FROM ssb.broker_counter AS c GROUP BY c.name) AS c;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.counted_by_daemon() FROM PUBLIC;

-- sys.dm_os_performance_counters: Service Broker's counters, as far as the engine and the daemon know them. A counter
-- "per second" is a running total here as it is in SQL Server: who reads it twice divides by the time. What the daemon counts
-- comes with its samples. Names: "SQL Server, Broker Statistics Object" and its neighbours in SQL Server's documentation, spelled as
-- in sys.dm_os_performance_counters. Those that would cost each message something are not counted: SQL SENDs and RECEIVEs,
-- priorities, local and remote messages apart, rolled back transactions, what is received from the network. Those of what is
-- not here (Broker TO Statistics) would say nothing.
CREATE OR REPLACE FUNCTION ssb_internal.performance_counters()
RETURNS TABLE (object_name text, counter_name text, value bigint, is_rate boolean)
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
    WITH totals AS MATERIALIZED (
        SELECT coalesce((SELECT sum(ssb_internal.last_order_seen(q.order_sequence) + 1) FROM ssb.queue AS q), 0)::bigint AS enqueued,
               greatest(ssb_internal.last_order(pg_get_serial_sequence('ssb.transmission', 'transmission_id')::regclass), 0) AS entered,
               (SELECT count(*) FROM ssb.transmission) AS waiting,
               (SELECT count(*) FROM ssb.conversation_endpoint AS e WHERE e.due_at IS NOT NULL AND e.dialog_timer IS NOT NULL) AS timers,
               (SELECT count(*) FROM ssb_internal.open_transport_connections()) AS connections,
               (SELECT coalesce(sum(octet_length(t.body)), 0) FROM ssb.transmission AS t
                 WHERE EXISTS (SELECT FROM ssb.remote_conversation AS r WHERE r.endpoint_id = t.endpoint_id))::bigint AS pending_bytes,
               (SELECT count(*) FROM ssb.transmission AS t
                 WHERE EXISTS (SELECT FROM ssb.remote_conversation AS r WHERE r.endpoint_id = t.endpoint_id)) AS pending,
               (SELECT count(*) FROM ssb_internal.running_tasks()) AS running),
    counted AS MATERIALIZED (SELECT c.* FROM ssb_internal.counted_by_daemon() AS c)
    SELECT c.object_name, c.counter_name, coalesce(c.value, 0), c.counter_name LIKE '%/sec'
      FROM totals AS t CROSS JOIN counted AS d
     CROSS JOIN LATERAL (VALUES
        ('Broker Statistics', 'Activation Errors Total', (d.of ->> 'readers_failed')::bigint),
        ('Broker Statistics', 'Corrupted Messages Total', (d.of ->> 'messages_corrupted')::bigint),
        ('Broker Statistics', 'Dequeued TransmissionQ Msgs/sec', greatest(t.entered - t.waiting, 0)),
        ('Broker Statistics', 'Dialog Timer Event Count', t.timers),
        ('Broker Statistics', 'Dropped Messages Total', (d.of ->> 'messages_dropped')::bigint),
        ('Broker Statistics', 'Enqueued Messages Total', t.enqueued),
        ('Broker Statistics', 'Enqueued Messages/sec', t.enqueued),
        ('Broker Statistics', 'Enqueued TransmissionQ Msgs/sec', t.entered),
        ('Broker Statistics', 'Forwarded Messages Total', (d.of ->> 'forwarded')::bigint),
        ('Broker Statistics', 'Forwarded Messages/sec', (d.of ->> 'forwarded')::bigint),
        ('Broker Statistics', 'Forwarded Msg Byte Total', (d.of ->> 'forwarded_bytes')::bigint),
        ('Broker Statistics', 'Forwarded Msg Bytes/sec', (d.of ->> 'forwarded_bytes')::bigint),
        ('Broker Statistics', 'Forwarded Msg Discarded Total', (d.of ->> 'forwarded_discarded')::bigint),
        ('Broker Statistics', 'Forwarded Msg Discarded/sec', (d.of ->> 'forwarded_discarded')::bigint),
        ('Broker Statistics', 'Forwarded Pending Msg Bytes', d.passing_bytes),
        ('Broker Statistics', 'Forwarded Pending Msg Count', d.passing),
        ('Broker Activation', 'Stored Procedures Invoked/sec', (d.of ->> 'procedures_started')::bigint),
        ('Broker Activation', 'Task Limit Reached', (d.of ->> 'limit_reached')::bigint),
        ('Broker Activation', 'Task Limit Reached/sec', (d.of ->> 'limit_reached')::bigint),
        ('Broker Activation', 'Tasks Aborted/sec', (d.of ->> 'readers_failed')::bigint),
        ('Broker Activation', 'Tasks Running', t.running),
        ('Broker Activation', 'Tasks Started/sec', (d.of ->> 'readers_started')::bigint),
        ('Broker/DBM Transport', 'Open Connection Count', t.connections),
        ('Broker/DBM Transport', 'Message Fragment Sends/sec', (d.of ->> 'transport_messages')::bigint),
        ('Broker/DBM Transport', 'Pending Bytes for Send I/O', t.pending_bytes),
        ('Broker/DBM Transport', 'Pending Msg Frags for Send I/O', t.pending),
        ('Broker/DBM Transport', 'Send I/O bytes/sec', (d.of ->> 'transport_bytes')::bigint),
        ('Broker/DBM Transport', 'Send I/O Bytes Total', (d.of ->> 'transport_bytes')::bigint),
        ('Broker/DBM Transport', 'Send I/O Len Avg', (d.of ->> 'transport_bytes')::bigint),
        ('Broker/DBM Transport', 'Send I/O Len Avg Base', (d.of ->> 'transport_sets')::bigint),
        ('Broker/DBM Transport', 'Msg Fragment Send Size Avg', (d.of ->> 'transport_bytes')::bigint),
        ('Broker/DBM Transport', 'Msg Fragment Send Size Avg Base', (d.of ->> 'transport_messages')::bigint),
        ('Broker/DBM Transport', 'Send I/Os/sec', (d.of ->> 'transport_sets')::bigint)) AS c (object_name, counter_name, value);
$$;

DROP VIEW IF EXISTS sys.dm_os_performance_counters;
CREATE VIEW sys.dm_os_performance_counters AS
SELECT ('SQLServer:' || c.object_name)::char(128) AS object_name, c.counter_name::char(128) AS counter_name,
       CASE c.object_name WHEN 'Broker/DBM Transport' THEN '' ELSE current_database() END::char(128) AS instance_name,
       c.value AS cntr_value, CASE WHEN c.is_rate THEN 272696576 WHEN c.counter_name LIKE '% Avg' THEN 1073874176
                                  WHEN c.counter_name LIKE '% Avg Base' THEN 1073939712 ELSE 65792 END AS cntr_type
  FROM ssb_internal.performance_counters() AS c;

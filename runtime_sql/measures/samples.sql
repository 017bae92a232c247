-- What the measures remember: one row for each look at all queues, and the daemon's counts.
-- Unlogged: after a crash there is nothing of it that anybody has to have.
--
-- A row holds the numbers of all queues in arrays, so that a thousand queues cost one
-- insert and no dead index entries.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.queue_sample (
    sampled_at timestamptz PRIMARY KEY,
    queue_ids  integer[]   NOT NULL,
    orders     bigint[]    NOT NULL,               -- messages that ever came, by the queue's order sequence
    depths     bigint[]    NOT NULL,
    CONSTRAINT "a sample has as many orders and depths as queues"
        CHECK (cardinality(queue_ids) = cardinality(orders) AND cardinality(queue_ids) = cardinality(depths))
);

-- What the daemon counts since it was made or the server crashed: readers started, failed, …
-- One name may have several rows, which count together: nobody waits for another's transaction (ssb_internal.count_events).
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.broker_counter (
    name  text   NOT NULL,
    value bigint NOT NULL
);

-- What the engine itself counts, where that is rare. In a row that is free, or a new one: another instance that brings messages may leave
-- its transaction open, and would keep all others' messages out, and the daemon's samples.
CREATE OR REPLACE FUNCTION ssb_internal.count_events(p_name text, p_count bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE ssb.broker_counter AS c SET value = c.value + p_count
     WHERE c.ctid = (SELECT o.ctid FROM ssb.broker_counter AS o WHERE o.name = p_name LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
        INSERT INTO ssb.broker_counter (name, value) VALUES (p_name, p_count);
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.count_events(text, bigint) FROM PUBLIC;

-- Operators: members of pg_monitor, and of the role that owns the runtime. Others see the queues
-- that they may receive from.
CREATE OR REPLACE FUNCTION ssb_internal.may_monitor()
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pg_has_role(ssb_internal.caller(), 'pg_monitor', 'USAGE') OR pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE');
END;
$$;

-- Notes the state of all queues, and adds to the daemon's counts what p_counts has: an object of
-- names and increments. Samples older than p_keep go, and so does what is of no use any more.
--
-- Called by  the daemon, every 15 seconds
CREATE OR REPLACE FUNCTION ssb_internal.sample_queues(p_counts jsonb DEFAULT '{}', p_keep interval DEFAULT '1 day')
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO ssb.queue_sample (sampled_at, queue_ids, orders, depths)
    SELECT clock_timestamp(), coalesce(array_agg(o.queue_id), '{}'), coalesce(array_agg(o.last_order + 1), '{}'),
           coalesce(array_agg((SELECT d.depth FROM ssb_internal.queue_depth(o.queue, 1000) AS d)), '{}')
      FROM (SELECT q.queue_id, q AS queue, ssb_internal.last_order_seen(q.order_sequence) AS last_order FROM ssb.queue AS q OFFSET 0) AS o
     WHERE o.last_order >= 0;
    DELETE FROM ssb.queue_sample AS s WHERE s.sampled_at < (SELECT clock_timestamp()) - p_keep;
    PERFORM ssb_internal.forget_traces();
    PERFORM ssb_internal.forget_key_locks();
    PERFORM ssb_internal.count_events(p.key, p.value::bigint) FROM jsonb_each_text(p_counts) AS p;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.sample_queues(jsonb, interval) FROM PUBLIC;

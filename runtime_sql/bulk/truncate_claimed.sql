-- A claim's messages taken away by TRUNCATE, where they are nearly all that there is.
--
-- DELETE writes each row, and VACUUM reads and writes it once more: half of what a large claim costs the session that
-- completes it. TRUNCATE costs the same whatever is there. What else is in the table, a few messages for others, is read before and
-- written again behind it.
--
-- Its lock is one beside which nobody sends and receives, to the end of the transaction. So it is the last thing that a completion
-- does, when it has all other locks that it needs: with this one it waits for nobody. It is tried for 5 ms, as rotation does
-- (conversations/rotate_messages.sql); where somebody has the table, DELETE is the way. And only who owns the runtime has it: others
-- could keep the lock, in a transaction that goes on. Of the owner's, one whose COMMIT does not come is ended after five seconds.
--
-- An older snapshot finds the table empty, or without those that were written again. Whoever has looked into the table has a lock on it,
-- with which there is no TRUNCATE.
--
-- Called by  ssb_internal.complete_claim, which holds the claim's groups
-- Locks      the message table, exclusively, if nobody uses it

-- Whether it is worth while to try. p_messages, p_conversations: the claim's.
CREATE OR REPLACE FUNCTION ssb_internal.may_truncate_claimed(p_messages bigint, p_conversations bigint)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Each session plans its statements anew behind it, and what lies between conversations is looked for by one probe for each.
    RETURN p_messages >= 100000 AND p_messages >= 16 * p_conversations
           AND current_setting('transaction_isolation') = 'read committed'
           AND pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE')
           -- As the planner estimates what is there (NULL: nobody has counted).
           AND (SELECT sum(pg_relation_size(c.oid) / 8192.0 * c.reltuples / c.relpages) FROM pg_class AS c
                 WHERE c.oid IN ('ssb.message_0'::regclass, 'ssb.message_1'::regclass) AND c.relpages > 0 AND c.reltuples >= 0)
               > 2 * p_messages IS NOT TRUE;
END;
$$;

-- All messages of a table beside those of a claim, p_most and 64 MB of bodies at most, else NULL. The table's index by endpoint tells
-- where they are, between the last message of one claimed conversation and the first of the next.
CREATE OR REPLACE FUNCTION ssb_internal.messages_beside_claim(p_claim_id integer, p_table regclass, p_most bigint)
RETURNS ssb.message_stored[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_material = off
SET max_parallel_workers_per_gather = 0
SET jit = off
AS $$
DECLARE
    v_rest ssb.message_stored[];
BEGIN
    EXECUTE format($rest$
        WITH rest AS MATERIALIZED (
            SELECT m.*
              FROM (SELECT c.endpoint_id, c.last_order, lead(c.endpoint_id) OVER (ORDER BY c.endpoint_id) AS next_one
                      FROM ssb.claimed_conversation AS c WHERE c.claim_id = $1
                     UNION ALL
                    SELECT -9223372036854775808, 0, min(c.endpoint_id) FROM ssb.claimed_conversation AS c WHERE c.claim_id = $1) AS g
             CROSS JOIN LATERAL (
                   SELECT s.* FROM %1$s AS s
                    WHERE (s.endpoint_id, s.queuing_order) > (g.endpoint_id, g.last_order)
                      AND s.endpoint_id < coalesce(g.next_one, 9223372036854775807)
                    ORDER BY s.endpoint_id, s.queuing_order LIMIT $2 + 1) AS m
             LIMIT $2 + 1
        )
        SELECT CASE WHEN t.messages <= $2 AND t.bytes <= 67108864
                    THEN ARRAY(SELECT ROW(r.endpoint_id, r.queuing_order, r.message_sequence_number, r.enqueued_at, r.queue_id,
                                          r.message_type_id, r.priority, r.validation, r.body)::ssb.message_stored FROM rest AS r) END
          FROM (SELECT count(*) AS messages, coalesce(sum(octet_length(r.body)), 0) AS bytes FROM rest AS r) AS t$rest$, p_table)
      INTO v_rest USING p_claim_id, p_most;
    RETURN v_rest;
END;
$$;

-- Whether the replies of a staging table (NULL: none) and the ends, so many messages in all, may be kept in memory until the table is
-- empty, 64 MB of bodies at most as they were before they were compressed. There they need not be read and written once more.
CREATE OR REPLACE FUNCTION ssb_internal.may_hold_replies(p_staging regclass, p_messages bigint)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_bytes bigint := 0;
BEGIN
    IF p_messages > 100000 THEN
        RETURN false;
    END IF;
    IF p_staging IS NOT NULL THEN
        EXECUTE format('SELECT coalesce(sum(octet_length(s.message_body)), 0) FROM %s AS s', p_staging) INTO v_bytes;
    END IF;
    RETURN v_bytes <= 67108864;
END;
$$;

-- Writes whole messages, in the order in which queues are read.
CREATE OR REPLACE FUNCTION ssb_internal.write_messages(p_messages ssb.message_stored[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
BEGIN
    EXECUTE format('INSERT INTO ssb.%I (endpoint_id, queuing_order, message_sequence_number, enqueued_at, queue_id,'
                   '                    message_type_id, priority, validation, body)'
                   ' SELECT r.endpoint_id, r.queuing_order, r.message_sequence_number, r.enqueued_at, r.queue_id,'
                   '        r.message_type_id, r.priority, r.validation, r.body'
                   '   FROM unnest($1) AS r ORDER BY r.queue_id, r.queuing_order',
                   CASE coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) & 1 WHEN 0 THEN 'message_0' ELSE 'message_1' END)
      USING p_messages;
END;
$$;

-- Takes them away, and writes those of p_held. Returns how many, or NULL where nothing was done. The rest loses what xmax tells
-- (conversations/poison_messages.sql), as what rotation moves.
CREATE OR REPLACE FUNCTION ssb_internal.truncate_claimed(p_claim_id integer, p_messages bigint, p_held ssb.message_stored[])
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '5ms'
SET jit = off
AS $$
DECLARE
    v_rotation CONSTANT bigint := coalesce(pg_sequence_last_value('ssb.rotation_state'), 0);
    v_table CONSTANT regclass := CASE v_rotation & 1 WHEN 0 THEN 'ssb.message_0' ELSE 'ssb.message_1' END;
    v_rest ssb.message_stored[];
    v_there bigint;
BEGIN
    -- While both tables may hold messages it is rotation's turn.
    IF v_rotation & 6 <> 0 THEN
        RETURN NULL;
    END IF;
    BEGIN
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_table);
        IF coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) <> v_rotation THEN
            RAISE lock_not_available;
        END IF;
        v_rest := ssb_internal.messages_beside_claim(p_claim_id, v_table, p_messages / 16);
        IF v_rest IS NULL THEN
            RAISE lock_not_available;              -- gives the lock back
        END IF;
        EXECUTE format('SELECT count(*) FROM %s', v_table) INTO v_there;
        EXECUTE format('TRUNCATE %s', v_table);
        PERFORM ssb_internal.write_messages(v_rest || p_held);
    EXCEPTION WHEN lock_not_available OR object_in_use THEN
        RETURN NULL;
    END;
    IF (SELECT s.setting::integer NOT BETWEEN 1 AND 5000 FROM pg_settings AS s WHERE s.name = 'idle_in_transaction_session_timeout') THEN
        PERFORM set_config('idle_in_transaction_session_timeout', '5s', true);
    END IF;
    RETURN v_there - cardinality(v_rest);
END;
$$;

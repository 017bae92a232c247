-- Giving space back while an old snapshot keeps VACUUM from it.
--
-- Messages go to one of two tables. When that one has grown large, and most of it is
-- dead, new ones go to the other; what is left in the first is moved over, group
-- by group, as their locks are free; when nothing is left the first is called drained, and
-- truncated, which needs no VACUUM and no snapshot's consent. Moving costs no more than the
-- dead space it gives back.
--
-- A sender may have read ssb.rotation_state before the switch and insert after it. But reading a
-- sequence's last value leaves a lock on it to the end of the transaction. So whoever
-- has that lock after the switch may still bring a message to the old table, and nobody else
-- can; when they all have ended, and then nothing is there, nothing will ever be. From that
-- moment on nobody needs the old table any more; TRUNCATE can take its time.
--
-- Called by  the daemon and ssb.wait_for_message between transactions (TRUNCATE
--            keeps readers and senders out until its transaction ends), or by
--            hand: SELECT ssb.rotate_messages()
-- Locks      an advisory lock, so that one session at a time rotates; groups whose
--            messages it moves; the drained table, exclusively, if nobody uses it

-- One step. Returns what it did: 'nothing', 'switched', 'moved' (call again at once),
-- 'waiting' (for transactions, for groups that are held, or for the drained table, which
-- somebody uses: call again soon) or 'truncated'. Until the old table is drained RECEIVE looks into
-- both, so the steps should follow each other quickly: ssb.tidy. p_threshold: bytes below which a
-- table is left alone.
CREATE OR REPLACE FUNCTION ssb.rotate_messages(p_threshold bigint DEFAULT 67108864)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_rotation bigint;
    v_next bigint;                     -- ssb.rotation_state's next value, without its lower bits
    v_current regclass;
    v_other regclass;
    v_known text[];
    v_users text[];
    v_moved bigint;
BEGIN
    -- An old snapshot would not see what it truncates.
    IF current_setting('transaction_isolation') <> 'read committed' OR NOT pg_try_advisory_xact_lock(1397965378) THEN
        RETURN 'nothing';
    END IF;
    v_rotation := coalesce(pg_sequence_last_value('ssb.rotation_state'), 0);
    v_next := ((v_rotation >> 3) + 1) << 3;
    v_current := CASE v_rotation % 2 WHEN 0 THEN 'ssb.message_0' ELSE 'ssb.message_1' END;
    v_other := CASE v_rotation % 2 WHEN 0 THEN 'ssb.message_1' ELSE 'ssb.message_0' END;
    IF v_rotation & 6 = 0 THEN
        IF pg_relation_size(v_current) < p_threshold OR NOT ssb.is_mostly_dead(v_current) THEN
            RETURN 'nothing';
        END IF;
        -- From this moment on new messages go to the other table; readers look into both.
        PERFORM setval('ssb.rotation_state', v_next + 2 + (1 - v_rotation % 2));
        RETURN 'switched';
    END IF;
    IF v_rotation & 2 <> 0 THEN
        SELECT r.users INTO v_known FROM ssb.rotation AS r WHERE r.state = v_rotation;
        v_users := ssb.rotation_users(v_known);
        IF v_users IS DISTINCT FROM v_known THEN
            DELETE FROM ssb.rotation;
            INSERT INTO ssb.rotation (state, users) VALUES (v_rotation, v_users);
        END IF;
        -- After that: what they have sent can be seen now.
        v_moved := ssb.move_messages(v_other);
        IF v_moved > 0 THEN
            RETURN 'moved';
        ELSIF v_moved = 0 OR cardinality(v_users) > 0 THEN
            RETURN 'waiting';
        END IF;
        v_rotation := v_next + 4 + v_rotation % 2;
        v_next := v_next + 8;
        PERFORM setval('ssb.rotation_state', v_rotation);
    END IF;
    IF ssb.truncate_drained(v_other) THEN
        PERFORM setval('ssb.rotation_state', v_next + v_rotation % 2);
        RETURN 'truncated';
    END IF;
    RETURN 'waiting';
END;
$$;

-- The transactions of others that have read ssb.rotation_state and go on; with a list of them, those
-- on the list. A prepared transaction is always one: it was called something else before.
CREATE OR REPLACE FUNCTION ssb.rotation_users(p_among text[])
RETURNS text[]
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(DISTINCT l.virtualtransaction ORDER BY l.virtualtransaction), '{}')
      FROM pg_locks AS l
     WHERE l.locktype = 'relation' AND l.relation = 'ssb.rotation_state'::regclass AND l.mode = 'RowExclusiveLock'
       AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
       AND l.pid IS DISTINCT FROM pg_backend_pid()
       AND (p_among IS NULL OR l.pid IS NULL OR l.virtualtransaction = ANY (p_among));
$$;

-- Whether at most a third of a table's space is messages that are still there. An
-- estimate by a sample of pages: statistics are as old as the last ANALYZE.
CREATE OR REPLACE FUNCTION ssb.is_mostly_dead(p_table regclass)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = on
AS $$
DECLARE
    v_pages bigint := pg_relation_size(p_table) / current_setting('block_size')::bigint;
    v_sample double precision := least(100, 20000.0 / greatest(v_pages, 1));
    v_live double precision;
BEGIN
    -- 8 of 9 parts of a page are rows; 36 bytes of each is what PostgreSQL adds.
    EXECUTE format('SELECT coalesce(sum(pg_column_size(m.*) + 36), 0) FROM %s AS m TABLESAMPLE SYSTEM (%s)', p_table, v_sample)
       INTO v_live;
    RETURN v_live / v_sample * 100 < pg_relation_size(p_table) / 3.0;
END;
$$;

-- Moves up to 5,000 messages, of conversations that nobody holds, to the table that
-- takes new ones, with their order. They lose what xmax tells (see 160). NULL: there is none at all.
CREATE OR REPLACE FUNCTION ssb.move_messages(p_from regclass)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_endpoints bigint[];
    v_endpoint_id bigint;
    v_moved bigint := 0;
    v_count bigint;
BEGIN
    EXECUTE format('SELECT array_agg(DISTINCT m.endpoint_id) FROM (SELECT m.endpoint_id FROM %s AS m LIMIT 5000) AS m', p_from)
       INTO v_endpoints;
    IF v_endpoints IS NULL THEN
        RETURN NULL;
    END IF;
    FOREACH v_endpoint_id IN ARRAY v_endpoints LOOP
        IF EXISTS (SELECT FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_endpoint_id) THEN
            CONTINUE WHEN NOT ssb.try_lock_endpoint(v_endpoint_id);
            EXECUTE format(
                'WITH moved AS (DELETE FROM %s AS m WHERE m.endpoint_id = $1 RETURNING m.*)'
                ' SELECT count(ssb.store_message(m.queue_id, m.endpoint_id, m.queuing_order, m.message_sequence_number,'
                ' m.enqueued_at, m.message_type_id, m.priority, m.validation, m.body)) FROM moved AS m', p_from)
               INTO v_count USING v_endpoint_id;
        ELSE
            -- Sent in the moment in which the receiver ended the conversation.
            EXECUTE format('DELETE FROM %s AS m WHERE m.endpoint_id = $1', p_from) USING v_endpoint_id;
            GET DIAGNOSTICS v_count = ROW_COUNT;
        END IF;
        v_moved := v_moved + v_count;
        EXIT WHEN v_moved >= 5000;
    END LOOP;
    RETURN v_moved;
END;
$$;

-- Truncates the drained table, if it can be had within 5 ms: everybody who comes later
-- waits behind a waiting TRUNCATE. (Without waiting at all it would never be had while
-- several sessions are busy, though each holds it only for a moment.)
CREATE OR REPLACE FUNCTION ssb.truncate_drained(p_table regclass)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '5ms'
AS $$
BEGIN
    EXECUTE format('TRUNCATE %s', p_table);
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END;
$$;

-- What anybody who waits may do for all between two transactions: who may receive from some
-- queue. (A lock that a step leaves lasts as long as its transaction.)
CREATE OR REPLACE FUNCTION ssb.tidy_up()
RETURNS text
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM ssb.queue AS q
                              WHERE has_sequence_privilege(coalesce(nullif(current_setting('role'), 'none')::name, session_user),
                                                           q.order_sequence, 'USAGE'))
                THEN ssb.rotate_messages() ELSE 'nothing' END;
$$;

-- All steps of one rotation, each in a transaction of its own, if one is due. Gives up
-- for this time when somebody has the drained table for long: pg_dump, a report on a queue.
CREATE OR REPLACE PROCEDURE ssb.tidy()
LANGUAGE plpgsql
AS $$
DECLARE
    v_step text;
    v_pause double precision := 0.01;
BEGIN
    LOOP
        v_step := ssb.tidy_up();
        COMMIT;
        EXIT WHEN v_step OPERATOR(pg_catalog.=) ANY (ARRAY['nothing', 'truncated']);
        IF v_step OPERATOR(pg_catalog.=) 'waiting' THEN
            -- Each try looks through the dead rows of the old table, or has others wait for its lock.
            EXIT WHEN v_pause OPERATOR(pg_catalog.>) 0.5;
            PERFORM pg_catalog.pg_sleep(v_pause);
            v_pause := v_pause OPERATOR(pg_catalog.*) 1.5;
        END IF;
    END LOOP;
END;
$$;

REVOKE EXECUTE ON FUNCTION ssb.rotate_messages(bigint) FROM PUBLIC;

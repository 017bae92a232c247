-- Giving space back while an old snapshot keeps VACUUM from it.
--
-- Messages go to one of two tables. When that one has grown large, and most of it is
-- dead, new ones go to the other; what is left in the first is moved over, as its groups'
-- locks are free; when nothing is left the first is called drained, and
-- truncated, which needs no VACUUM and no snapshot's consent. Moving costs no more than the
-- dead space it gives back.
--
-- Large is 64 MB. Where VACUUM can do its work that is seldom reached, and it keeps a table
-- at the size of what goes through it between two of its visits. Where it has been there and
-- an old snapshot has kept it from removing most rows, 4 MB are large: so a pinned table stays
-- at about the same size, and one that is not pinned is not rotated without need.
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
-- Locks      ssb_locks.rotation (no advisory lock, which everybody may take and keep), so that one session at a time rotates; groups whose
--            messages it moves; the drained table, exclusively, if nobody uses it

-- One step. Returns what it did: 'nothing', 'switched', 'moved' (call again at once),
-- 'waiting' (for transactions, for groups that are held, or for the drained table, which
-- somebody uses: call again soon) or 'truncated'. Until the old table is drained RECEIVE looks into
-- both, so the steps should follow each other quickly: ssb.tidy. p_threshold: bytes below which a
-- table is left alone; a sixteenth of it for one that VACUUM could not clear.
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
    v_large bigint;
    v_old record;                      -- of ssb.rotation, as the last step left it
    v_users text[];
    v_from tid;
    v_done record;
BEGIN
    -- An old snapshot would not see what it truncates.
    IF current_setting('transaction_isolation') <> 'read committed' OR pg_is_in_recovery() THEN
        RETURN 'nothing';
    END IF;
    BEGIN
        LOCK TABLE ssb_locks.rotation IN SHARE ROW EXCLUSIVE MODE NOWAIT;
    EXCEPTION WHEN lock_not_available THEN
        RETURN 'nothing';
    END;
    v_rotation := coalesce(pg_sequence_last_value('ssb.rotation_state'), 0);
    v_next := ((v_rotation >> 3) + 1) << 3;
    v_current := CASE v_rotation % 2 WHEN 0 THEN 'ssb.message_0' ELSE 'ssb.message_1' END;
    v_other := CASE v_rotation % 2 WHEN 0 THEN 'ssb.message_1' ELSE 'ssb.message_0' END;
    IF v_rotation & 6 = 0 THEN
        v_large := CASE WHEN ssb_internal.is_vacuumed_in_vain(v_current) THEN p_threshold / 16 ELSE p_threshold END;
        IF pg_relation_size(v_current) < v_large OR NOT ssb_internal.is_mostly_dead(v_current) THEN
            RETURN 'nothing';
        END IF;
        -- From this moment on new messages go to the other table; readers look into both.
        v_rotation := v_next + 2 + (1 - v_rotation % 2);
        PERFORM setval('ssb.rotation_state', v_rotation);
        INSERT INTO ssb.rotation (state, users, place) VALUES (v_rotation, ssb_internal.rotation_users(NULL), '(0,0)');
        RETURN 'switched';
    END IF;
    IF v_rotation & 2 <> 0 THEN
        SELECT r.users, r.place INTO v_old FROM ssb.rotation AS r WHERE r.state = v_rotation;
        -- Without a row, which a lost connection may have undone: from the start.
        v_from := CASE WHEN FOUND AND v_old.place IS NOT NULL THEN v_old.place ELSE '(0,0)' END;
        v_users := ssb_internal.rotation_users(v_old.users);
        IF v_old.users IS NOT NULL AND v_old.place IS NULL AND cardinality(v_users) > 0 THEN
            -- All has been moved that was free. More may come: it is moved when all has come.
            RETURN 'waiting';
        END IF;
        -- After that look at the users: what they have sent can be seen now.
        v_done := ssb_internal.move_messages(v_other, v_current, v_from);
        IF (v_users, v_done.place) IS DISTINCT FROM (v_old.users, v_old.place) THEN
            DELETE FROM ssb.rotation AS r WHERE r.state = v_rotation;
            INSERT INTO ssb.rotation (state, users, place) VALUES (v_rotation, v_users, v_done.place);
        END IF;
        IF v_done.place IS NOT NULL OR v_done.moved > 0 OR v_from <> '(0,0)' THEN
            RETURN 'moved';
        ELSIF v_done.held > 0 OR cardinality(v_users) > 0 THEN
            RETURN 'waiting';
        END IF;
        DELETE FROM ssb.rotation AS r WHERE r.state = v_rotation;
        v_rotation := v_next + 4 + v_rotation % 2;
        v_next := v_next + 8;
        PERFORM setval('ssb.rotation_state', v_rotation);
    END IF;
    -- Who has the table may have it for long: pg_dump, a report on a queue. So those whom the first
    -- look has found are given their time. Where all of them have ended and others have come, a moment
    -- without any may never be: these are waited for, as long as it took the first ones.
    SELECT r.users, date_part('epoch', clock_timestamp() - r.noted_at) * 1000 AS age INTO v_old
      FROM ssb.rotation AS r WHERE r.state = v_rotation;
    v_users := ssb_internal.table_users(v_other);
    IF NOT v_users && coalesce(v_old.users, v_users) THEN
        IF ssb_internal.truncate_drained(v_other, CASE WHEN cardinality(v_users) = 0 THEN 5
                                                           ELSE least(greatest(v_old.age, 100), 1000)::integer END) THEN
            DELETE FROM ssb.rotation AS r WHERE r.state = v_rotation;
            PERFORM setval('ssb.rotation_state', v_next + v_rotation % 2);
            RETURN 'truncated';
        END IF;
        DELETE FROM ssb.rotation AS r WHERE r.state = v_rotation;
        INSERT INTO ssb.rotation (state, users) VALUES (v_rotation, v_users);
    ELSIF v_old.users IS NULL THEN
        INSERT INTO ssb.rotation (state, users) VALUES (v_rotation, v_users);
    END IF;
    RETURN 'waiting';
END;
$$;

-- The transactions of others that have read ssb.rotation_state and go on; with a list of them, those
-- on the list. A prepared transaction is always one: it was called something else before.
CREATE OR REPLACE FUNCTION ssb_internal.rotation_users(p_among text[])
RETURNS text[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT coalesce(array_agg(DISTINCT l.virtualtransaction ORDER BY l.virtualtransaction), '{}')
              FROM pg_locks AS l
             WHERE l.locktype = 'relation' AND l.relation = 'ssb.rotation_state'::regclass AND l.mode = 'RowExclusiveLock'
               AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
               AND l.pid IS DISTINCT FROM pg_backend_pid()
               AND (p_among IS NULL OR l.pid IS NULL OR l.virtualtransaction = ANY (p_among)));
END;
$$;

-- The transactions of others that have read or written a table and go on.
CREATE OR REPLACE FUNCTION ssb_internal.table_users(p_table regclass)
RETURNS text[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT coalesce(array_agg(DISTINCT l.virtualtransaction ORDER BY l.virtualtransaction), '{}')
              FROM pg_locks AS l
             WHERE l.locktype = 'relation' AND l.relation = p_table AND l.granted
               AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
               AND l.pid IS DISTINCT FROM pg_backend_pid());
END;
$$;

-- Whether at most a third of a table's space is messages that are still there. An
-- estimate by a sample of pages: statistics are as old as the last ANALYZE.
CREATE OR REPLACE FUNCTION ssb_internal.is_mostly_dead(p_table regclass)
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

-- Whether VACUUM has been through the table since it was truncated, and left most of its
-- pages with rows that it may not remove. (Where it may, its pages are all-visible then.)
CREATE OR REPLACE FUNCTION ssb_internal.is_vacuumed_in_vain(p_table regclass)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT c.relpages > 0 AND c.relallvisible < c.relpages / 2 FROM pg_class AS c WHERE c.oid = p_table);
END;
$$;

-- Moves the next 1,000 messages after p_from, those of conversations that nobody holds, to the
-- table that takes new ones, with their order. They lose what xmax tells (poison_messages.sql). moved: how
-- many left the table; held: how many could not; place: the last one looked at, NULL: there are no more.
CREATE OR REPLACE FUNCTION ssb_internal.move_messages(p_table regclass, p_to regclass, p_from tid,
                                                      OUT moved bigint, OUT held bigint, OUT place tid)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $$
DECLARE
    v_places tid[];
    v_endpoints bigint[];
    v_locks bigint[];
    v_orphans bigint;
BEGIN
    EXECUTE format('SELECT coalesce(array_agg(m.ctid ORDER BY m.ctid), %L), array_agg(m.endpoint_id)'
                   ' FROM (SELECT m.ctid, m.endpoint_id FROM %s AS m WHERE m.ctid > $1 LIMIT 1000) AS m', '{}', p_table)
       INTO v_places, v_endpoints USING p_from;
    place := v_places[1000];
    moved := 0;
    held := cardinality(v_places);
    IF held = 0 THEN
        RETURN;
    END IF;
    SELECT array_agg(f.lock_id) INTO v_locks
      FROM (SELECT e.lock_id
              FROM (SELECT DISTINCT e.lock_id
                      FROM (SELECT DISTINCT unnest(v_endpoints) AS endpoint_id) AS u
                      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = u.endpoint_id AND e.closed_at IS NULL
                     ORDER BY e.lock_id) AS e
             CROSS JOIN LATERAL (SELECT FROM ssb.conversation_endpoint AS l
                                  WHERE l.endpoint_id = e.lock_id FOR NO KEY UPDATE SKIP LOCKED) AS l) AS f;
    -- As it is now that they are locked: somebody may have moved a conversation.
    SELECT array_agg(e.endpoint_id) INTO v_endpoints
      FROM (SELECT DISTINCT unnest(v_endpoints) AS endpoint_id) AS u
      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = u.endpoint_id AND e.closed_at IS NULL
     WHERE e.lock_id = ANY (v_locks);
    -- And somebody may have received messages. (coalesce: found by their places, not by an index.)
    EXECUTE format('WITH moved AS (DELETE FROM %s AS m WHERE m.ctid = ANY ($1) AND coalesce(m.endpoint_id = ANY ($2), false)'
                   '               RETURNING m.*)'
                   ' INSERT INTO %s (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,'
                   '                 message_type_id, priority, validation, body)'
                   ' SELECT m.queue_id, m.endpoint_id, m.queuing_order, m.message_sequence_number, m.enqueued_at,'
                   '        m.message_type_id, m.priority, m.validation, m.body FROM moved AS m', p_table, p_to)
      USING v_places, v_endpoints;
    GET DIAGNOSTICS moved = ROW_COUNT;
    held := held - moved;
    IF held > 0 THEN
        -- Sent in the moment in which the receiver ended the conversation.
        EXECUTE format('DELETE FROM %1$s AS m WHERE m.ctid = ANY (ARRAY('
                       'SELECT m.ctid FROM %1$s AS m WHERE m.ctid = ANY ($1) AND NOT EXISTS ('
                       'SELECT FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = m.endpoint_id AND e.closed_at IS NULL)'
                       ' FOR UPDATE SKIP LOCKED))', p_table)
          USING v_places;
        GET DIAGNOSTICS v_orphans = ROW_COUNT;
        moved := moved + v_orphans;
        held := held - v_orphans;
    END IF;
END;
$$;

-- Truncates the drained table, if it can be had within so many milliseconds: everybody who
-- comes later waits behind a waiting TRUNCATE. (Without waiting at all it would seldom be
-- had while several sessions are busy, though each holds it only for a moment.)
CREATE OR REPLACE FUNCTION ssb_internal.truncate_drained(p_table regclass, p_patience integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '5ms'
AS $$
BEGIN
    PERFORM set_config('lock_timeout', p_patience::text, true);
    EXECUTE format('TRUNCATE %s', p_table);
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END;
$$;

-- What anybody who waits may do for all between two transactions: who may receive from some
-- queue. A lock that a step leaves lasts as long as its transaction, and nobody sends or receives beside that of TRUNCATE.
-- So to who does not own the runtime it is given where the procedures call it that commit at once: the stack tells.
-- (No name in it is taken for another: one with other characters than letters stands in quotes.)
CREATE OR REPLACE FUNCTION ssb.tidy_up()
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_stack text;
    v_quoted CONSTANT text := '\n"«»„“”''‘’「『';
BEGIN
    IF NOT pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE') THEN
        GET DIAGNOSTICS v_stack = PG_CONTEXT;
        IF v_stack !~ format('^[^\n]*\n[^%1$s]*PL/pgSQL[^%1$s]* ssb\.(tidy\(\)|wait_for_message\([^()%1$s]*\)) [^%1$s]*(\n|$)', v_quoted)
           OR NOT EXISTS (SELECT FROM ssb.queue AS q WHERE has_sequence_privilege(ssb_internal.calling_role(), q.order_sequence, 'USAGE')) THEN
            RETURN 'nothing';
        END IF;
    END IF;
    RETURN ssb.rotate_messages();
END;
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

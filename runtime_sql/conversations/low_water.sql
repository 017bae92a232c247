-- Low-water marks. Dead rows of received messages stay in the index until VACUUM can
-- remove them, which an old snapshot prevents for hours; and messages of groups that
-- somebody else holds may lie ahead in thousands. So each session remembers, per
-- queue and priority, an order below which there is nothing for it, except messages
-- of a few conversations that it found held, which ssb_internal.find_first looks at first. In
-- custom settings: no write, gone with the session, undone with the transaction.
-- Their names end in <queue>_<priority>.
--
-- ssb.read_position_… is an array of bigint; functions name its places so (RECEIVE in comments):
--   at_low_water      the mark
--   at_act_beyond     an order beyond which ssb.receive does something about the mark
--   at_decided        an order up to which the mark may simply be set, being decided; -1: not known
--   at_looked         the tenth of a second in which something was looked for last
--   at_skipped        how many conversations are in ssb.skipped_…
--   at_rotation       ssb.rotation_state at that time
--   at_raise_beyond   an order beyond which ssb.receive calls ssb_internal.raise_low_water
--   at_free           the order of a message that was free in that tenth of a second, far behind the first; or NULL
--   at_behind_claims  where bulk claims had the queue's front: below it nothing is behind them, …
--   at_claims_end     … as long as the claims do not end before this order
--   at_marked_by      the transaction that set the mark: what it has received itself may be below
-- ssb.skipped_…: endpoints; then for each an order below which it has nothing, the lowest first.
-- ssb.seen_… is an array of bigint, explained below:
--   at_order, at_number            S and X
--   at_locks_looked                the tenth of a second of a look at the locks
--   at_next_order, at_noted_by     the next S, and the transaction that noted it
--   at_numbers_looked              the tenth of a second of a look at the numbers in use
--   at_noted                       that in which the sequence was read for S
--
-- The mark may pass an order only when no message with a lower one can still
-- appear: a sender has its transaction's number before it takes its order (see
-- ssb.send, ssb_internal.put_message). So we note the sequence's last value S (or in the same tenth of a second, as that is
-- expensive to read, the order of the message that was found). The number X that
-- a later transaction of the same session gets was given after that; so once the oldest
-- running transaction is X or younger, every order up to S is decided. (A snapshot's xmax
-- will not do for X: it is one more than the youngest transaction that has ended, and
-- running ones may be younger.) A session that does it all in one transaction looks what
-- numbers are in use, which is expensive, every tenth of a second. While S waits for X, the next
-- S waits for its X.
--
-- A transaction's settings go with it when it is rolled back, but not one's that was prepared: what that has received
-- comes back below the mark, if it is rolled back later. So a mark counts as long as the transaction that set it has not been.
--
-- Transactions that stay open for hours would stop that, so what counts
-- in the end is whether one of those older than X is a sender: it holds the lock on
-- the order sequence that nextval leaves. (Nothing here reads that sequence's last
-- value in the ordinary way, which leaves the same lock.)
--
-- Called by  ssb.receive, ssb_internal.receive_slow_path, ssb_internal.find_first
-- Locks      none

-- Whether a transaction of this session is none that goes on in it or has committed: it was prepared.
CREATE OR REPLACE FUNCTION ssb_internal.is_undone(p_transaction bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN p_transaction IS DISTINCT FROM pg_current_xact_id_if_assigned()::text::bigint
       AND coalesce(pg_xact_status(p_transaction::text::xid8) <> 'committed', false);
END;
$$;

-- The caller's low-water mark for one priority.
CREATE OR REPLACE FUNCTION ssb_internal.low_water(p_queue_id integer, p_priority smallint, p_base_low bigint)
RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    at_low_water CONSTANT integer := 1;    -- places of v_position
    at_marked_by CONSTANT integer := 11;
    v_position CONSTANT bigint[] := nullif(current_setting('ssb.read_position_' || p_queue_id || '_' || p_priority, true), '')::bigint[];
BEGIN
    IF v_position[at_marked_by] IS NOT NULL AND ssb_internal.is_undone(v_position[at_marked_by]) THEN
        RETURN p_base_low;
    END IF;
    RETURN greatest(p_base_low, v_position[at_low_water]);
END;
$$;

-- The last order that was drawn. By no function of the server's: those leave the lock by which senders are known.
CREATE OR REPLACE FUNCTION ssb_internal.last_order(p_order_sequence regclass)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_last bigint;
BEGIN
    EXECUTE format('SELECT s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END FROM %s AS s', p_order_sequence) INTO v_last;
    RETURN v_last;
END;
$$;

-- The same for those who look at many queues: of all of these sequences, NULL when somebody drops one meanwhile. Until he commits he
-- has it, and nobody waits for that: the other queues are to be seen. The subtransaction's end gives their locks back at once: those
-- of thousands of queues fill the server's table of locks, and everybody's statements fail.
CREATE OR REPLACE FUNCTION ssb_internal.last_orders_seen(VARIADIC p_sequences regclass[])
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '10ms'
AS $$
DECLARE
    v_sequence regclass;
    v_last bigint[] := '{}';
BEGIN
    FOREACH v_sequence IN ARRAY p_sequences LOOP
        v_last := v_last || ssb_internal.last_order(v_sequence);
    END LOOP;
    RAISE EXCEPTION USING ERRCODE = 'SP001', MESSAGE = 'read';
EXCEPTION
    WHEN SQLSTATE 'SP001' THEN
        RETURN v_last;
    WHEN lock_not_available OR undefined_table OR syntax_error THEN     -- its name is a number then
        RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.last_order_seen(p_sequence regclass)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (ssb_internal.last_orders_seen(p_sequence))[1];
END;
$$;

-- Whether somebody else has drawn an order and runs, of those with a number below p_before (NULL: of all). A
-- prepared transaction has no process.
CREATE OR REPLACE FUNCTION ssb_internal.has_senders(p_order_sequence regclass, p_before bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM pg_locks AS s
          JOIN pg_locks AS t ON t.virtualtransaction = s.virtualtransaction AND t.locktype = 'transactionid' AND t.granted
         WHERE s.locktype = 'relation' AND s.relation = p_order_sequence AND s.mode = 'RowExclusiveLock'
           AND s.pid IS DISTINCT FROM pg_backend_pid()
           AND (p_before IS NULL OR age(t.transactionid) > age((p_before & 4294967295)::text::xid)));
END;
$$;

-- p_found is the order of the first message that was free, NULL when none was: what
-- is still there below it belongs to groups that somebody holds, or to conversations
-- that ended while it was being sent; those messages are cleared away here. What lies just
-- before it is left above the mark: other readers will be through with it in a moment, and
-- ssb.receive passes that much by itself. p_noted, at a session's second visit: the last order, read before
-- this transaction got its number.
CREATE OR REPLACE FUNCTION ssb_internal.raise_low_water(p_queue_id integer, p_priority smallint, p_low bigint,
                                                        p_order_sequence regclass, p_found bigint, p_noted bigint DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    at_decided CONSTANT integer := 3;  -- places of v_position
    at_looked CONSTANT integer := 4;
    at_free CONSTANT integer := 8;
    at_behind_claims CONSTANT integer := 9;
    at_claims_end CONSTANT integer := 10;
    at_order CONSTANT integer := 1;    -- places of v_seen
    at_number CONSTANT integer := 2;
    at_locks_looked CONSTANT integer := 3;
    at_next_order CONSTANT integer := 4;
    at_noted_by CONSTANT integer := 5;
    at_numbers_looked CONSTANT integer := 6;
    at_noted CONSTANT integer := 7;
    v_key CONSTANT text := p_queue_id || '_' || p_priority;
    v_seen bigint[] := coalesce(nullif(current_setting('ssb.seen_' || v_key, true), ''), '{}')::bigint[];
    v_own CONSTANT bigint := pg_current_xact_id_if_assigned()::text::bigint;
    v_oldest CONSTANT bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    v_next bigint;                     -- X for the next S
    v_moment CONSTANT text := (date_part('epoch', clock_timestamp()) * 10)::bigint::text;  -- one look at the locks each
    v_skipped bigint[] := nullif(current_setting('ssb.skipped_' || v_key, true), '')::bigint[];
    v_skipped_from bigint[];
    v_position CONSTANT bigint[] := nullif(current_setting('ssb.read_position_' || v_key, true), '')::bigint[];
    v_count integer := coalesce(cardinality(v_skipped) / 2, 0);
    v_noted bigint;
    v_decided bigint;
    v_first record;
    v_claim_id bigint;
    v_last bigint;
    v_low bigint;
    v_from bigint := p_low;
    v_beyond bigint;
BEGIN
    -- One snapshot for the whole transaction cannot tell what came after it.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN;
    END IF;
    IF v_seen[at_next_order] IS NULL THEN
        -- Nothing is known yet. Then it is worth a look whether anybody is sending.
        v_noted := coalesce(p_noted, ssb_internal.last_order(p_order_sequence));
        IF (p_noted IS NOT NULL AND v_oldest >= v_own)
           OR ((p_noted IS NOT NULL OR p_found IS NULL OR p_found > p_low + 200)
               AND NOT ssb_internal.has_senders(p_order_sequence, NULL)) THEN
            v_last := v_noted;
        END IF;
    ELSE
        IF v_own IS DISTINCT FROM v_seen[at_noted_by] THEN
            v_next := v_own;
        END IF;
        IF v_next IS NULL AND v_seen[at_numbers_looked] <> v_moment::bigint THEN
            v_seen[at_numbers_looked] := v_moment;
            SELECT greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
                            max(v_oldest + age((v_oldest & 4294967295)::text::xid) - age(t.transactionid)) + 1)
              INTO v_next
              FROM pg_locks AS t WHERE t.locktype = 'transactionid' AND t.granted;
        END IF;
        -- Every order up to this is decided, if it is.
        IF v_oldest >= v_next THEN
            v_last := v_seen[at_next_order];
        ELSIF v_oldest >= v_seen[at_number] THEN
            v_last := v_seen[at_order];
        ELSIF v_seen[at_number] IS NOT NULL AND v_seen[at_locks_looked] <> v_moment::bigint
              AND NOT ssb_internal.has_senders(p_order_sequence, v_seen[at_number]) THEN
            v_last := v_seen[at_order];
        END IF;
    END IF;
    -- What was decided once is so for ever.
    v_decided := greatest(v_last, v_position[at_decided]);
    IF v_decided >= p_low THEN
        v_low := greatest(p_low, least(p_found, v_decided + 1));     -- a skipped one may be found below the mark
        v_skipped_from := coalesce(v_skipped[cardinality(v_skipped) / 2 + 1:], '{}');
        v_skipped := coalesce(v_skipped[1:cardinality(v_skipped) / 2], '{}');
        FOR v_try IN 1..100 LOOP
            SELECT m.queuing_order, m.endpoint_id INTO v_first
              FROM ssb.message_stored AS m
             WHERE m.queue_id = p_queue_id AND m.priority = p_priority
               AND m.queuing_order >= v_from AND m.queuing_order < v_low AND m.endpoint_id <> ALL (v_skipped)
             ORDER BY m.queuing_order LIMIT 1;
            EXIT WHEN NOT FOUND;
            SELECT e.claim_id INTO v_claim_id
              FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_first.endpoint_id AND e.closed_at IS NULL;
            IF NOT FOUND THEN
                DELETE FROM ssb.message_stored AS m
                 WHERE m.endpoint_id = v_first.endpoint_id AND m.queuing_order = v_first.queuing_order;
            -- What claims have taken is passed in one step by all who look (bulk/claimed_front.sql).
            ELSIF coalesce(v_claim_id, -1) < 0 AND cardinality(v_skipped) < 32 AND v_try < 100
                  AND v_low - v_first.queuing_order > 200 THEN
                v_skipped := v_skipped || v_first.endpoint_id;
                v_skipped_from := v_skipped_from || v_first.queuing_order;
            ELSE
                v_low := v_first.queuing_order;
                EXIT;
            END IF;
            v_from := v_first.queuing_order + 1;
        END LOOP;
        IF v_skipped <> '{}' THEN
            -- Those that still have something below the mark, and from where.
            SELECT array_agg(h.endpoint_id ORDER BY f.queuing_order), array_agg(f.queuing_order ORDER BY f.queuing_order)
              INTO v_skipped, v_skipped_from
              FROM unnest(v_skipped, v_skipped_from) AS h (endpoint_id, low)
             CROSS JOIN LATERAL (SELECT m.queuing_order FROM ssb.message_stored AS m
                                  WHERE m.endpoint_id = h.endpoint_id AND m.queuing_order >= h.low AND m.queuing_order < v_low
                                  ORDER BY m.queuing_order LIMIT 1) AS f;
            PERFORM set_config('ssb.skipped_' || v_key, coalesce((v_skipped || v_skipped_from)::text, ''), false);
        END IF;
        v_count := coalesce(cardinality(v_skipped), 0);
    END IF;
    -- ssb.receive goes a few orders beyond what is decided before it calls for more; if
    -- that is not possible now, it goes on until the next tenth of a second.
    v_low := coalesce(v_low, p_low);
    v_beyond := CASE WHEN v_last IS NULL AND v_seen[at_number] IS NOT NULL THEN v_low + 1000000 ELSE greatest(v_low, v_last) + 128 END;
    PERFORM set_config('ssb.read_position_' || v_key,
        (ARRAY[v_low,
              CASE WHEN v_last IS NULL THEN v_beyond ELSE least(v_low + 48, v_beyond) END,
              coalesce(v_last, -1), v_moment::bigint,
              v_count,
              coalesce(pg_sequence_last_value('ssb.rotation_state'), 0),
              v_beyond,
              CASE WHEN v_position[at_looked] = v_moment::bigint THEN v_position[at_free] END,
              v_position[at_behind_claims], v_position[at_claims_end], v_own])::text, false);
    IF v_noted IS NOT NULL AND v_last IS NOT NULL THEN
        RETURN;                            -- known at once: there is nothing to wait for
    ELSIF v_noted IS NOT NULL OR (v_next IS NOT NULL AND (v_last IS NOT NULL OR v_seen[at_number] IS NULL)) THEN
        IF v_noted IS NULL AND p_found > 0 AND v_seen[at_noted] = v_moment::bigint THEN
            v_noted := p_found;            -- it was drawn before, and the last one is expensive to read
        ELSIF v_noted IS NULL THEN
            v_noted := ssb_internal.last_order(p_order_sequence);
            v_seen[at_noted] := v_moment;
        END IF;
        v_seen := ARRAY[v_seen[at_next_order], v_next, 0, v_noted, v_own, v_moment::bigint, v_seen[at_noted]];
    ELSE
        v_seen[at_locks_looked] := v_moment;
    END IF;
    PERFORM set_config('ssb.seen_' || v_key, v_seen::text, false);
END;
$$;

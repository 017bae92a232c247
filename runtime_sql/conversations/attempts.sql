-- Attempts: the transactions that have received from a queue with a rollback on record,
-- until it is known how they ended.
--
-- A rollback erases what was written to tables, and a crashed client never reports. Sequences
-- are not undone. So the numbers of these transactions stand in a few sequences, and each
-- RECEIVE looks up in the server's commit log how those have ended that it finds there. A
-- program that commits makes its commit known itself: a deferred trigger sets the count
-- back. A rollback seen afterwards came after that commit, or while it was under way.
--
-- Whoever reads and writes here holds one lock, for some 0.1 ms, not to the end of its
-- transaction: it is taken in a subtransaction that is always rolled back, which does not
-- touch the sequences. No advisory lock, which everybody may take and keep.

CREATE TABLE IF NOT EXISTS ssb.attempt_lock ();

-- Bit n - 1 is set while ssb.attempt_<n> is in use, and here: when it has made its commit known.
CREATE SEQUENCE IF NOT EXISTS ssb.attempts_in_use MINVALUE 0 START 0;
CREATE SEQUENCE IF NOT EXISTS ssb.attempts_told MINVALUE 0 START 0;

-- The queue in the upper half, the transaction's number (without its epoch) in the lower.
-- Negative: a transaction that may have received, or not: its commit counts, its rollback does not.
DO $$
BEGIN
    FOR v_number IN 1 .. 62 LOOP
        EXECUTE format('CREATE SEQUENCE IF NOT EXISTS ssb.attempt_%s MINVALUE -9223372036854775807 START 0', v_number);
    END LOOP;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.attempt_sequence(p_number integer)
RETURNS regclass
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ('ssb.attempt_' || p_number)::regclass;
END;
$$;

-- With its epoch: of all numbers that end so, the nearest to the present ones.
CREATE OR REPLACE FUNCTION ssb_internal.whole_transaction(p_transaction bigint)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT n.next + ((p_transaction - n.next + 2147483648) & 4294967295) - 2147483648
      FROM (SELECT pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint AS next) AS n;
END;

-- 'in progress', 'committed', 'aborted'; NULL for one too old to be known, or of another
-- server, from which the sequences were restored.
CREATE OR REPLACE FUNCTION ssb_internal.fate(p_transaction bigint)
RETURNS text
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_next CONSTANT bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    v_whole CONSTANT bigint := v_next + ((p_transaction - v_next + 2147483648) & 4294967295) - 2147483648;
BEGIN
    IF v_whole < v_next THEN
        RETURN CASE WHEN v_whole > 2 THEN pg_xact_status(v_whole::text::xid8) END;
    END IF;
    -- Newer than any that has ended; most often one that goes on.
    BEGIN
        RETURN pg_xact_status(v_whole::text::xid8);
    EXCEPTION WHEN invalid_parameter_value THEN
        RETURN NULL;
    END;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.attempts_on_record(p_queue_id integer)
RETURNS TABLE (number integer, transaction bigint, is_certain boolean, is_told boolean, fate text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT a.number, abs(a.value) & 4294967295, a.value > 0,
           (coalesce(pg_sequence_last_value('ssb.attempts_told'), 0) >> a.number - 1) & 1 = 1, ssb_internal.fate(abs(a.value) & 4294967295)
      FROM (SELECT n AS number, pg_sequence_last_value(ssb_internal.attempt_sequence(n)) AS value
              FROM generate_series(1, 62) AS n
             WHERE (pg_sequence_last_value('ssb.attempts_in_use') >> n - 1) & 1 = 1 OFFSET 0) AS a
     WHERE abs(a.value) >> 32 = p_queue_id;
$$;

-- The caller holds the lock. Where 62 are in use, one is not written down: its rollback
-- will not count.
CREATE OR REPLACE FUNCTION ssb_internal.put_attempt(p_queue_id integer, p_transaction bigint, p_is_certain boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_used bigint := coalesce(pg_sequence_last_value('ssb.attempts_in_use'), 0);
    v_number integer;
BEGIN
    IF v_used = 4611686018427387903 THEN
        -- Queues from which nobody receives any more keep theirs; the rollbacks among them are given up.
        SELECT coalesce(bit_or(1::bigint << a.number - 1), 0) INTO v_used
          FROM (SELECT n AS number, ssb_internal.fate(abs(pg_sequence_last_value(ssb_internal.attempt_sequence(n))) & 4294967295) AS fate
                  FROM generate_series(1, 62) AS n) AS a
         WHERE a.fate = 'in progress'
            OR (a.fate = 'committed' AND (coalesce(pg_sequence_last_value('ssb.attempts_told'), 0) >> a.number - 1) & 1 = 0);
    END IF;
    SELECT n INTO v_number FROM generate_series(1, 62) AS n WHERE (v_used >> n - 1) & 1 = 0 ORDER BY n LIMIT 1;
    IF FOUND THEN
        PERFORM setval(ssb_internal.attempt_sequence(v_number),
                       ((p_queue_id::bigint << 32) | p_transaction) * CASE WHEN p_is_certain THEN 1 ELSE -1 END),
                setval('ssb.attempts_in_use', v_used | (1::bigint << v_number - 1)),
                setval('ssb.attempts_told', coalesce(pg_sequence_last_value('ssb.attempts_told'), 0) & ~(1::bigint << v_number - 1));
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.free_attempts(p_numbers integer[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM setval('ssb.attempts_in_use', pg_sequence_last_value('ssb.attempts_in_use')
                                         & ~(SELECT bit_or(1::bigint << n - 1) FROM unnest(p_numbers) AS n))
     WHERE cardinality(p_numbers) > 0;
END;
$$;

-- Transactions that have looked at the queue's state, go on, and are not among the p_known: they
-- received before anything was on record, and most often left their number in a
-- message, or they only looked. The state's sequence is locked by who has read it, to
-- the end of the transaction; senders have locked the order's sequence as well.
--
-- What a message carries may be the number of a subtransaction, and whose cannot be
-- told. But what goes with the same command (cmax) is each a transaction of its own:
-- when there are as many of these as candidates, all have received.
CREATE OR REPLACE FUNCTION ssb_internal.receivers_under_way(p_queue ssb.queue, p_known bigint[])
RETURNS TABLE (transaction bigint, is_certain boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
    v_candidates bigint[];
    v_senders bigint[];
    v_direct bigint[];
    v_others integer;
BEGIN
    SELECT array_agg(l.top & 4294967295) FILTER (WHERE NOT l.is_sender), array_agg(l.top & 4294967295) FILTER (WHERE l.is_sender)
      INTO v_candidates, v_senders
      FROM (SELECT min(ssb_internal.whole_transaction(l.transactionid::text::bigint))
                       FILTER (WHERE l.locktype = 'transactionid') AS top,
                   bool_or(coalesce(l.relation = p_queue.state_sequence::oid, false)) AS is_reader,
                   bool_or(coalesce(l.relation = p_queue.order_sequence::oid, false)) AS is_sender
              FROM pg_locks AS l
             WHERE l.granted
               AND ((l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock')
                    OR (l.locktype = 'relation' AND l.mode = 'RowExclusiveLock'
                        AND l.relation IN (p_queue.state_sequence::oid, p_queue.order_sequence::oid)
                        AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())))
             GROUP BY l.virtualtransaction) AS l
     WHERE l.is_reader AND l.top IS NOT NULL AND NOT l.top & 4294967295 = ANY (p_known);
    IF v_candidates IS NULL AND v_senders IS NULL THEN
        RETURN;
    END IF;
    v_candidates := coalesce(v_candidates, '{}');
    v_senders := coalesce(v_senders, '{}');
    WITH held AS (
        SELECT DISTINCT m.xmax::text::bigint AS holder, m.cmax::text AS command
          FROM unnest(p_queue.priorities) AS p (priority)
         CROSS JOIN LATERAL (SELECT m.xmax, m.cmax FROM ssb.message_stored AS m
                              WHERE m.queue_id = p_queue.queue_id AND m.priority = p.priority
                              ORDER BY m.queuing_order LIMIT 200) AS m
         WHERE m.xmax <> 0 AND ssb_internal.fate(m.xmax::text::bigint) = 'in progress'
    )
    SELECT coalesce(array_agg(DISTINCT h.holder) FILTER (WHERE h.holder = ANY (v_candidates || v_senders)), '{}'),
           coalesce((SELECT max(c.number) FROM (SELECT count(*) AS number FROM held AS o
                                                 WHERE NOT o.holder = ANY (v_candidates || v_senders || p_known)
                                                 GROUP BY o.command) AS c), 0)
      INTO v_direct, v_others FROM held AS h;
    -- Subtransactions of the known ones may be among them, but not of our own: what it has received
    -- it does not see.
    v_others := v_others - cardinality(array_remove(p_known, pg_current_xact_id()::text::bigint & 4294967295));
    RETURN QUERY
    SELECT c, c = ANY (v_direct) OR v_others >= (SELECT count(*) FROM unnest(v_candidates) AS o WHERE NOT o = ANY (v_direct))
      FROM unnest(v_candidates) AS c
    UNION ALL
    SELECT s, s = ANY (v_direct) FROM unnest(v_senders) AS s
     WHERE s = ANY (v_direct)
        OR v_others > (SELECT count(*) FROM unnest(v_candidates) AS o WHERE NOT o = ANY (v_direct));
END;
$$;

-- Brings the record up to date and returns the rollbacks in a row; NULL when nothing is on record,
-- 4095 when the queue was stopped. p_occasion is
--   read     somebody wants to know, and may not be allowed to write
--   judge    RECEIVE or the daemon wants to know
--   begin    a rollback was noticed, nothing being on record: p_fails in a row, of which
--            the first is certain to be no older than the last commit if p_is_certain
--   note     this transaction has received
--   commit   it is about to commit
--   lost     a rollback of which no transaction tells: a stream's batch has failed (bulk/streams.sql)
-- One function with few calls of others: most of its time goes into setting those up.
CREATE OR REPLACE FUNCTION ssb_internal.settle_attempts(p_queue ssb.queue, p_occasion text, p_fails integer DEFAULT 0,
                                                        p_is_certain boolean DEFAULT true)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_before bigint := coalesce(pg_sequence_last_value(p_queue.state_sequence), 0);
    v_after bigint;
    v_was_on_record boolean;
    v_fails integer;
    v_commits integer;
    v_looks integer;
    v_is_doubtful boolean;
    v_own bigint;
    v_own_number integer;
    v_used bigint;
    v_told bigint;
    v_freed bigint := 0;
    v_value bigint;
    v_number integer := 0;
    v_transaction bigint;
    v_fate text;
    v_known bigint[] := '{}';
    v_committed integer := 0;
    v_aborted integer := (p_occasion = 'lost')::integer;
    v_other record;
    v_is_alone boolean := true;
BEGIN
    -- Having read it, we hold its lock: nobody drops the queue while we hold ours.
    IF v_before < 2 AND p_occasion NOT IN ('begin', 'note', 'lost') THEN
        RETURN NULL;
    END IF;
    v_own := CASE WHEN p_occasion = 'read' THEN pg_current_xact_id_if_assigned() ELSE pg_current_xact_id() END
             ::text::bigint & 4294967295;
    BEGIN
        IF NOT pg_is_in_recovery() THEN
            LOCK TABLE ssb.attempt_lock IN SHARE UPDATE EXCLUSIVE MODE;
        END IF;
        v_before := coalesce(pg_sequence_last_value(p_queue.state_sequence), 0);
        v_was_on_record := v_before >= 2;
        v_fails := (v_before >> 2) & 4095;
        v_commits := (v_before >> 14) & 255;
        v_is_doubtful := (v_before >> 22) & 1 = 1;
        v_looks := (v_before >> 23) & 15;
        IF v_fails = 4095 THEN
            RAISE EXCEPTION USING ERRCODE = 'SP001', MESSAGE = 'done';
        ELSIF NOT v_was_on_record AND p_occasion NOT IN ('begin', 'note', 'lost') THEN
            v_fails := NULL;
            RAISE EXCEPTION USING ERRCODE = 'SP001', MESSAGE = 'done';
        END IF;

        -- 1. How those on record have ended.
        v_used := coalesce(pg_sequence_last_value('ssb.attempts_in_use'), 0);
        v_told := coalesce(pg_sequence_last_value('ssb.attempts_told'), 0);
        WHILE v_used >> v_number > 0 LOOP
            v_number := v_number + 1;
            CONTINUE WHEN (v_used >> v_number - 1) & 1 = 0;
            v_value := pg_sequence_last_value(('ssb.attempt_' || v_number)::regclass);
            CONTINUE WHEN abs(v_value) >> 32 <> p_queue.queue_id;
            v_transaction := abs(v_value) & 4294967295;
            v_fate := ssb_internal.fate(v_transaction);
            IF v_fate = 'in progress' THEN
                v_known := v_known || v_transaction;
                IF v_transaction = v_own THEN
                    v_own_number := v_number;
                ELSE
                    v_is_alone := false;
                END IF;
            ELSE
                v_freed := v_freed | (1::bigint << v_number - 1);
                IF v_fate = 'committed' AND (v_told >> v_number - 1) & 1 = 0 THEN
                    v_committed := v_committed + 1;
                ELSIF v_fate = 'aborted' AND v_value > 0 THEN
                    v_aborted := v_aborted + 1;
                END IF;
            END IF;
        END LOOP;
        IF p_occasion <> 'read' AND v_freed > 0 THEN
            PERFORM setval('ssb.attempts_in_use', v_used & ~v_freed);
        END IF;

        -- 2. Who else is at it. Somebody may have looked at the state just before the record
        -- began, and have received a moment later: so some of the next look as well.
        IF NOT v_was_on_record OR (v_looks > 0 AND p_occasion = 'judge') THEN
            FOR v_other IN SELECT u.* FROM ssb_internal.receivers_under_way(p_queue, v_known || coalesce(v_own, 0)) AS u LOOP
                v_is_alone := false;
                PERFORM ssb_internal.put_attempt(p_queue.queue_id, v_other.transaction, v_other.is_certain);
            END LOOP;
            v_looks := CASE WHEN v_was_on_record THEN v_looks - 1 ELSE 15 END;
        END IF;

        -- 3. What that makes. Of a commit and rollbacks that are seen at the same time, nobody
        -- can tell which was last: the rollbacks do not count.
        IF NOT v_was_on_record THEN
            v_fails := CASE WHEN p_is_certain THEN p_fails ELSE v_is_alone::integer END;
            v_is_doubtful := NOT p_is_certain AND v_is_alone;
        ELSIF v_committed > 0 THEN
            v_fails := 0;
            v_is_doubtful := false;
        ELSE
            v_fails := v_fails + v_aborted - (v_is_doubtful AND NOT v_is_alone)::integer;
            v_is_doubtful := v_is_doubtful AND v_is_alone;
        END IF;
        v_fails := least(v_fails, 4094);
        v_commits := CASE WHEN v_aborted > 0 THEN 0 ELSE v_commits END + v_committed + (p_occasion = 'commit')::integer;
        IF v_fails >= p_queue.max_rollbacks AND NOT p_queue.is_quarantine_enabled
           AND p_occasion IN ('judge', 'begin', 'commit', 'lost') AND p_queue.is_poison_handling_enabled THEN
            -- So that it lasts: RECEIVE is about to raise 9617, which undoes any UPDATE.
            v_fails := 4095;
        ELSIF p_occasion = 'commit' THEN
            v_fails := 0;
            v_is_doubtful := false;
        END IF;
        IF v_fails < 4095 AND (v_commits > 15 OR NOT p_queue.is_poison_handling_enabled) THEN
            v_fails := NULL;
        END IF;

        -- 4. On record.
        IF p_occasion <> 'read' THEN
            IF p_occasion = 'commit' AND v_own_number IS NOT NULL THEN
                PERFORM setval('ssb.attempts_told', v_told | (1::bigint << v_own_number - 1));
            ELSIF p_occasion = 'note' AND (v_own_number IS NULL OR pg_sequence_last_value(('ssb.attempt_' || v_own_number)::regclass) < 0) THEN
                -- Somebody may have seen it before, and not known whether it would find a message.
                PERFORM ssb_internal.free_attempts(ARRAY[v_own_number]) WHERE v_own_number IS NOT NULL;
                PERFORM ssb_internal.put_attempt(p_queue.queue_id, v_own, true);
            END IF;
            v_after := (v_before & 1)
                       | CASE WHEN v_fails IS NULL THEN 0
                              ELSE 2 | (v_fails::bigint << 2) | (v_commits::bigint << 14)
                                   | (v_is_doubtful::integer::bigint << 22) | (v_looks::bigint << 23) END;
            IF v_after < 2 OR v_fails = 4095 THEN
                PERFORM ssb_internal.set_attempts(p_queue, v_after);
            ELSIF v_after <> v_before THEN
                PERFORM setval(p_queue.state_sequence, v_after);
            END IF;
        END IF;
        RAISE EXCEPTION USING ERRCODE = 'SP001', MESSAGE = 'done';
    EXCEPTION WHEN SQLSTATE 'SP001' THEN
        RETURN v_fails;
    END;
END;
$$;

-- The row is no more than the occasion for the trigger, which runs when everything else is done.
CREATE TABLE IF NOT EXISTS ssb.attempt_end (queue_id integer NOT NULL);

CREATE OR REPLACE FUNCTION ssb_internal.attempt_ends()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue;
BEGIN
    SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.queue_id = NEW.queue_id;
    IF FOUND THEN
        PERFORM ssb_internal.settle_attempts(v_queue, 'commit');
    END IF;
    RETURN NULL;
END;
$$;
DROP TRIGGER IF EXISTS attempt_ends ON ssb.attempt_end;
CREATE CONSTRAINT TRIGGER attempt_ends AFTER INSERT ON ssb.attempt_end
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ssb_internal.attempt_ends();

-- When this transaction commits, counting starts anew. Once is enough; ROLLBACK to a savepoint
-- undoes the setting with the row.
CREATE OR REPLACE FUNCTION ssb_internal.reset_at_commit(p_queue_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_setting CONSTANT text := 'ssb.attempt_' || p_queue_id;
    v_own CONSTANT text := pg_current_xact_id()::text;
    v_place tid;
BEGIN
    IF current_setting(v_setting, true) = v_own THEN
        RETURN;
    END IF;
    PERFORM set_config(v_setting, v_own, true);
    INSERT INTO ssb.attempt_end AS a (queue_id) VALUES (p_queue_id) RETURNING a.ctid INTO v_place;
    DELETE FROM ssb.attempt_end AS a WHERE a.ctid = v_place;
END;
$$;

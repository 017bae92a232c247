-- Poison messages: transactions that received and rolled back, one after another.
--
-- As long as all goes well, RECEIVE writes nothing down. But the message row that a lost
-- transaction deleted keeps that transaction's number in xmax: seeing it, RECEIVE
-- knows that the message was tried before, at no cost to messages that were not. (An END CONVERSATION that would
-- have taken it away, and was rolled back, looks the same.)
-- From then on, until 15 commits have come without a rollback between, every
-- transaction that receives is on record (conversations/attempts.sql).
--
-- The queue's state sequence is 0 while there is nothing special. Otherwise, from the lowest bit:
--    1  a watcher sleeps and wants a NOTIFY (ssb.watch_queue)
--    1  attempts are on record
--   12  rollbacks in a row; 4095 means that they have stopped the queue
--    8  commits since the last rollback
--    1  the first of the rollbacks counts only if nobody else receives meanwhile
--    4  how many more look for transactions that received before there was a record
-- It is written under the lock of conversations/attempts.sql.

CREATE OR REPLACE FUNCTION ssb_internal.queue_state(p_sequence regclass)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce(pg_sequence_last_value(p_sequence), 0);
END;
$$;

-- Whether somebody drops the queue in a transaction that goes on: to its end he has the queue's sequences, and who asks for one of them
-- waits. So those who look after everybody's queues ask before. (Most often nobody has touched the row since it was written.)
CREATE OR REPLACE FUNCTION ssb_internal.is_being_dropped(p_queue_id integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM ssb.queue AS q
      WHERE q.queue_id = p_queue_id AND q.xmax <> 0 AND ssb_internal.fate(q.xmax::text::bigint) = 'in progress';
    IF NOT FOUND THEN
        RETURN false;
    ELSIF current_setting('transaction_read_only')::boolean THEN
        RETURN true;                       -- it may be altered only, which cannot be told here
    END IF;
    PERFORM FROM ssb.queue AS q WHERE q.queue_id = p_queue_id FOR KEY SHARE SKIP LOCKED;
    RETURN NOT FOUND;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.is_being_dropped(integer) FROM PUBLIC;

-- The state for those who look at many queues: NULL for one that somebody drops meanwhile.
CREATE OR REPLACE FUNCTION ssb_internal.queue_state_seen(p_sequence regclass)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.queue_state(p_sequence);
EXCEPTION WHEN internal_error THEN
    IF has_sequence_privilege(p_sequence, 'SELECT') IS NOT NULL THEN
        RAISE;
    END IF;
    RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.set_watcher(p_sequence regclass, p_is_asleep boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    BEGIN
        PERFORM ssb_internal.queue_state(p_sequence);
        LOCK TABLE ssb.attempt_lock IN SHARE UPDATE EXCLUSIVE MODE;
        PERFORM setval(p_sequence, ssb_internal.queue_state(p_sequence) / 2 * 2 + p_is_asleep::integer);
        RAISE EXCEPTION USING ERRCODE = 'SP001', MESSAGE = 'done';
    EXCEPTION
        WHEN SQLSTATE 'SP001' THEN
            RETURN;
        WHEN internal_error THEN
            IF has_sequence_privilege(p_sequence, 'SELECT') IS NOT NULL THEN
                RAISE;
            END IF;                    -- somebody has dropped the queue meanwhile
    END;
END;
$$;

-- Another state: what is still under way is forgotten. The watcher's wish stays.
CREATE OR REPLACE FUNCTION ssb_internal.set_attempts(p_queue ssb.queue, p_state bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.queue_state(p_queue.state_sequence);
    BEGIN
        LOCK TABLE ssb.attempt_lock IN SHARE UPDATE EXCLUSIVE MODE;
        PERFORM ssb_internal.free_attempts(ARRAY(SELECT a.number FROM ssb_internal.attempts_on_record(p_queue.queue_id) AS a));
        PERFORM setval(p_queue.state_sequence, (ssb_internal.queue_state(p_queue.state_sequence) & 1) | (p_state & ~1::bigint));
        RAISE EXCEPTION USING ERRCODE = 'SP001', MESSAGE = 'done';
    EXCEPTION WHEN SQLSTATE 'SP001' THEN
        RETURN;
    END;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.forget_attempts(p_queue ssb.queue)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.set_attempts(p_queue, 0);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.keep_poisoned(p_queue ssb.queue)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.set_attempts(p_queue, 2 | (4095 << 2));
END;
$$;

-- Rollbacks in a row up to now; NULL when nothing is on record; 4095 when the queue was
-- stopped.
CREATE OR REPLACE FUNCTION ssb_internal.failed_attempts(p_queue ssb.queue)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.settle_attempts(p_queue, 'read');
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.failed_attempts(ssb.queue) FROM PUBLIC;

-- The same for RECEIVE and the daemon: it is put on record what they find.
CREATE OR REPLACE FUNCTION ssb_internal.judge_attempts(p_queue_id integer, OUT fails integer, OUT is_poisoned boolean)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_queue ssb.queue;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    fails := ssb_internal.settle_attempts(v_queue, 'judge');
    is_poisoned := v_queue.is_poison_handling_enabled AND NOT v_queue.is_quarantine_enabled AND coalesce(fails = 4095, false);
END;
$$;

-- RECEIVE has found a message that was tried before, the one of this order. When
-- nothing is on record yet, a record begins.
--
-- With how many rollbacks? While every message that the queue ever had is still there,
-- nobody has received and committed, and all whose numbers the messages carry count.
-- (A number may be a subtransaction's, and one transaction has many of these: but
-- then their commands have different numbers, cmax. So of the numbers that go with the
-- same command, each is a transaction of its own.) Otherwise one; and not even that one
-- while others are receiving, for one of them may have committed after it.
--
-- Called by  ssb_internal.receive_slow_path
CREATE OR REPLACE FUNCTION ssb_internal.judge_message(p_queue_id integer, p_order bigint, p_fails integer,
                                                      OUT fails integer, OUT is_poisoned boolean)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
    v_queue ssb.queue;
    v_since bigint;
    v_is_first boolean;
    v_count integer;
    v_most integer;
    v_is_whole boolean := false;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    is_poisoned := false;
    fails := p_fails;
    IF NOT v_queue.is_poison_handling_enabled OR p_fails IS NOT NULL THEN
        RETURN;
    END IF;
    -- A number that is still to come is another server's: the queue came with a dump.
    v_since := CASE WHEN v_queue.attempts_since < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
                    THEN v_queue.attempts_since ELSE 0 END;
    WITH near AS (
        SELECT m.queuing_order, m.xmax::text::bigint AS number, m.cmax::text AS command
          FROM unnest(v_queue.priorities) AS p (priority)
         CROSS JOIN LATERAL (SELECT m.queuing_order, m.xmax, m.cmax FROM ssb.message_stored AS m
                              WHERE m.queue_id = p_queue_id AND m.priority = p.priority
                              ORDER BY m.queuing_order LIMIT 200) AS m
    ), lost AS (
        SELECT n.command, n.number FROM near AS n
         WHERE n.number <> 0 AND ssb_internal.whole_transaction(n.number) > v_since AND ssb_internal.fate(n.number) = 'aborted'
    )
    SELECT (SELECT count(*) FROM near),
           (SELECT max(c.number) FROM (SELECT count(DISTINCT l.number) AS number FROM lost AS l GROUP BY l.command) AS c),
           EXISTS (SELECT FROM lost AS l JOIN near AS n ON n.number = l.number AND n.queuing_order = p_order)
      INTO v_count, v_most, v_is_first;
    -- Nothing, where it was tried by somebody who was pardoned.
    IF v_most IS NULL AND NOT v_is_first THEN
        SELECT ssb_internal.fate(m.xmax::text::bigint) = 'aborted'
               AND ssb_internal.whole_transaction(m.xmax::text::bigint) > v_since
          INTO v_is_first
          FROM ssb.message_stored AS m WHERE m.queue_id = p_queue_id AND m.queuing_order = p_order;
    END IF;
    IF v_most IS NULL AND v_is_first IS NOT TRUE THEN
        RETURN;
    END IF;
    IF v_count < 200 THEN
        EXECUTE format('SELECT s.last_value < $1 FROM %s AS s', v_queue.order_sequence) INTO v_is_whole USING v_count;
    END IF;
    fails := ssb_internal.settle_attempts(v_queue, 'begin', coalesce(v_most, 1), v_is_whole);
    is_poisoned := NOT v_queue.is_quarantine_enabled AND coalesce(fails = 4095, false);
END;
$$;

-- Puts this transaction on record. A second RECEIVE of one transaction is no second
-- attempt; it may follow ROLLBACK to a savepoint.
DROP FUNCTION IF EXISTS ssb_internal.note_attempt(integer, integer);
CREATE OR REPLACE FUNCTION ssb_internal.note_attempt(p_queue_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_queue ssb.queue;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    IF v_queue.is_poison_handling_enabled THEN
        PERFORM ssb_internal.settle_attempts(v_queue, 'note');
        PERFORM ssb_internal.reset_at_commit(p_queue_id);
    END IF;
END;
$$;

-- ALTER QUEUE … STATUS = ON, and POISON_MESSAGE_HANDLING that comes on: what messages carry from before counts no more.
CREATE OR REPLACE FUNCTION ssb_internal.pardon(p_queue ssb.queue)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    UPDATE ssb.queue AS q SET attempts_since = pg_current_xact_id()::text::bigint WHERE q.queue_id = p_queue.queue_id;
    PERFORM ssb_internal.forget_attempts(p_queue);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.is_poisoned(p_queue ssb.queue)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN p_queue.is_poison_handling_enabled AND NOT p_queue.is_quarantine_enabled
       AND coalesce(ssb_internal.failed_attempts(p_queue) >= p_queue.max_rollbacks, false);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.is_poisoned(ssb.queue) FROM PUBLIC;

-- The same for those who look at many queues, views of the system and the daemon: one that somebody drops meanwhile is no error.
-- (What DROP QUEUE has locked is gone when the look goes on. Where a queue is used, a handler would cost each message something.)
CREATE OR REPLACE FUNCTION ssb_internal.is_seen_poisoned(p_queue_id integer)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_queue ssb.queue;
BEGIN
    SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    RETURN coalesce(ssb_internal.is_poisoned(v_queue), false);
EXCEPTION WHEN internal_error THEN
    IF has_sequence_privilege(v_queue.state_sequence, 'SELECT') IS NOT NULL THEN
        RAISE;
    END IF;
    RETURN false;
END;
$$;

-- For those who can commit (SEND, the daemon, a waiting RECEIVE): switches the
-- queue off in the catalog and fires BROKER_QUEUE_DISABLED. True when it is off by
-- poison now.
-- Locks  the queue's row
CREATE OR REPLACE FUNCTION ssb_internal.disable_if_poisoned(p_queue ssb.queue)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF NOT ssb_internal.is_poisoned(p_queue) THEN
        RETURN false;
    END IF;
    SELECT q.* INTO p_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue.queue_id AND q.is_receive_enabled FOR NO KEY UPDATE;
    IF FOUND THEN
        -- Whom we waited for may have switched it on again, and what was counted is forgotten.
        IF NOT ssb_internal.is_poisoned(p_queue) THEN
            RETURN false;
        END IF;
        UPDATE ssb.queue AS q SET is_receive_enabled = false, is_enqueue_enabled = false, modify_date = now()
         WHERE q.queue_id = p_queue.queue_id;
        PERFORM ssb_internal.keep_poisoned(p_queue);
        PERFORM ssb_internal.refresh_queue(p_queue.queue_id);
        PERFORM ssb_internal.fire_queue_event(p_queue, 'BROKER_QUEUE_DISABLED');
    END IF;
    RETURN true;
END;
$$;

-- The same for those who tidy up: they do not wait for an open transaction that has altered the queue (ALTER QUEUE, DISABLE_BROKER); who
-- uses the queue next finds it out.
CREATE OR REPLACE FUNCTION ssb_internal.disable_if_free(p_queue ssb.queue)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF NOT ssb_internal.is_poisoned(p_queue) THEN
        RETURN false;
    END IF;
    PERFORM FROM ssb.queue AS q WHERE q.queue_id = p_queue.queue_id FOR NO KEY UPDATE SKIP LOCKED;
    RETURN FOUND AND ssb_internal.disable_if_poisoned(p_queue);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.disable_if_free(ssb.queue) FROM PUBLIC;

-- After a ROLLBACK: stops the queues that it was the last straw for, where a notification asks to be told.
-- The others are found by who uses them next. True when there is something to commit.
CREATE OR REPLACE FUNCTION ssb_internal.tell_of_poison()
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue;
    v_told boolean := false;
BEGIN
    FOR v_queue IN
        SELECT q.* FROM ssb.queue AS q
         WHERE q.is_receive_enabled
           AND EXISTS (SELECT FROM ssb.event_notification AS n
                        WHERE n.queue_id = q.queue_id AND 'BROKER_QUEUE_DISABLED' = ANY (n.events))
           AND CASE WHEN q.xmax <> 0 AND ssb_internal.is_being_dropped(q.queue_id) THEN false
                    ELSE ssb_internal.queue_state_seen(q.state_sequence) > 1 END
         ORDER BY q.queue_id
    LOOP
        v_told := ssb_internal.may_receive(v_queue) AND ssb_internal.disable_if_free(v_queue) OR v_told;
    END LOOP;
    RETURN v_told;
END;
$$;

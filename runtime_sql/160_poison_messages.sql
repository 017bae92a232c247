-- Poison messages: transactions that received and rolled back, one after another.
--
-- A rollback erases every trace in tables, and a crashed client never reports.
-- Two things survive. The message row that the lost transaction deleted keeps that
-- transaction's number in xmax: seeing it, RECEIVE knows that the message was
-- tried before, at no cost to messages that were not. And sequences do not roll
-- back: from then on RECEIVE leaves its transaction's number and the count so far
-- in the queue's state sequence, and the next one asks how that transaction
-- ended. Committed starts again, aborted counts.
--
-- The state is 0 while there is nothing special. Otherwise: transaction * 512 +
-- count * 2 + 1 if a watcher sleeps and wants a NOTIFY (ssb.watch_queue); count 255
-- means disabled. Reading and writing it are two steps: of two sessions that write
-- at the same moment one may be lost. A lost count is one rollback more before the
-- queue stops, a lost wake-up waits for the watcher's next round.

CREATE OR REPLACE FUNCTION ssb.queue_state(p_sequence regclass)
RETURNS bigint
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT coalesce(pg_sequence_last_value(p_sequence), 0); $$;

CREATE OR REPLACE FUNCTION ssb.set_watcher(p_sequence regclass, p_is_asleep boolean)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT setval(p_sequence, ssb.queue_state(p_sequence) / 2 * 2 + CASE WHEN p_is_asleep THEN 1 ELSE 0 END);
$$;

CREATE OR REPLACE FUNCTION ssb.set_attempts(p_queue ssb.queue, p_transaction bigint, p_count integer)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT setval(p_queue.state_sequence,
                  p_transaction * 512 + p_count * 2 + ssb.queue_state(p_queue.state_sequence) % 2);
$$;

-- Rollbacks in a row up to now; NULL when nothing is on record.
CREATE OR REPLACE FUNCTION ssb.failed_attempts(p_queue ssb.queue)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_state bigint := ssb.queue_state(p_queue.state_sequence);
    v_count integer := v_state / 2 % 256;
BEGIN
    IF v_state < 2 THEN
        RETURN NULL;
    ELSIF v_count = 255 THEN
        RETURN 255;
    END IF;
    RETURN CASE pg_xact_status((v_state / 512)::text::xid8)
        WHEN 'aborted' THEN v_count + 1
        WHEN 'in progress' THEN v_count
    END;
EXCEPTION WHEN invalid_parameter_value THEN
    -- After a crash the number may not have been used again yet: that transaction is lost.
    RETURN v_count + 1;
END;
$$;

-- The same for RECEIVE, which clears the record after a commit and makes it last
-- when the limit is reached: RECEIVE is about to raise 9617, which undoes any
-- UPDATE, and transaction numbers are forgotten one day.
CREATE OR REPLACE FUNCTION ssb.judge_attempts(p_queue_id integer, OUT fails integer, OUT is_poisoned boolean)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_queue ssb.queue;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    fails := ssb.failed_attempts(v_queue);
    is_poisoned := fails IS NOT NULL AND ssb.is_poisoned(v_queue);
    IF fails IS NULL AND ssb.queue_state(v_queue.state_sequence) >= 2 THEN
        PERFORM ssb.forget_attempts(v_queue);
    ELSIF is_poisoned THEN
        PERFORM ssb.keep_poisoned(v_queue);
    END IF;
END;
$$;

-- Leaves this transaction on record, after p_fails rollbacks in a row; p_tried_by is
-- what the message carries in xmax: one rollback more, if nothing is on record yet
-- and the queue was not switched on since. A second RECEIVE of one transaction is no
-- second attempt.
CREATE OR REPLACE FUNCTION ssb.note_attempt(p_queue_id integer, p_fails integer, p_tried_by xid)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_transaction bigint := pg_current_xact_id()::text::bigint;
    v_queue ssb.queue;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    IF v_queue.is_poison_handling_enabled AND ssb.queue_state(v_queue.state_sequence) / 512 <> v_transaction THEN
        PERFORM ssb.set_attempts(v_queue, v_transaction, least(254, coalesce(p_fails,
            CASE WHEN p_tried_by <> 0 AND v_transaction - age(p_tried_by) > v_queue.attempts_since THEN 1 ELSE 0 END)));
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.forget_attempts(p_queue ssb.queue)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ssb.set_attempts(p_queue, 0, 0); $$;

-- ALTER QUEUE … STATUS = ON: what messages carry from before counts no more.
CREATE OR REPLACE FUNCTION ssb.pardon(p_queue ssb.queue)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    UPDATE ssb.queue AS q SET attempts_since = pg_current_xact_id()::text::bigint WHERE q.queue_id = p_queue.queue_id;
    PERFORM ssb.forget_attempts(p_queue);
END;
$$;

CREATE OR REPLACE FUNCTION ssb.keep_poisoned(p_queue ssb.queue)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ssb.set_attempts(p_queue, 0, 255); $$;

CREATE OR REPLACE FUNCTION ssb.is_poisoned(p_queue ssb.queue)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN p_queue.is_poison_handling_enabled AND NOT p_queue.is_quarantine_enabled
       AND coalesce(ssb.failed_attempts(p_queue) >= p_queue.max_rollbacks, false);
END;
$$;

-- For those who can commit (SEND, the daemon, a waiting RECEIVE): switches the
-- queue off in the catalog and fires BROKER_QUEUE_DISABLED. True when it is off by
-- poison now.
-- Locks  the queue's row
CREATE OR REPLACE FUNCTION ssb.disable_if_poisoned(p_queue ssb.queue)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF NOT ssb.is_poisoned(p_queue) THEN
        RETURN false;
    END IF;
    UPDATE ssb.queue AS q SET is_receive_enabled = false, is_enqueue_enabled = false, modify_date = now()
     WHERE q.queue_id = p_queue.queue_id AND q.is_receive_enabled;
    IF FOUND THEN
        PERFORM ssb.keep_poisoned(p_queue);
        PERFORM ssb.refresh_queue(p_queue.queue_id);
        PERFORM ssb.fire_queue_event(p_queue, 'BROKER_QUEUE_DISABLED');
    END IF;
    RETURN true;
END;
$$;

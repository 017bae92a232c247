-- Poison messages: transactions that received and rolled back, one after another.
--
-- A rollback erases every trace in tables, and a crashed client never reports.
-- Two things survive. The message row that the lost transaction deleted keeps that
-- transaction's number in xmax: seeing it, RECEIVE knows that the message was
-- tried before, at no cost to messages that were not. And sequences do not roll
-- back: from then on RECEIVE leaves its transaction's number and the count so far
-- in the queue's attempt sequence, and the next one asks how that transaction
-- ended. Committed starts again, aborted counts.
--
-- The sequence's value is transaction * 256 + count, 0 for nothing on record, and
-- count 255 for: disabled.

-- Rollbacks in a row up to now; NULL when nothing is on record. Clears the record
-- after a commit.
CREATE OR REPLACE FUNCTION ssb.judge_attempts(p_queue ssb.queue)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_fails integer := ssb.failed_attempts(p_queue);
BEGIN
    IF v_fails IS NULL AND pg_sequence_last_value(p_queue.attempt_sequence) <> 0 THEN
        PERFORM ssb.forget_attempts(p_queue);
    END IF;
    RETURN v_fails;
END;
$$;

-- The same without a write, for views.
CREATE OR REPLACE FUNCTION ssb.failed_attempts(p_queue ssb.queue)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_value bigint := coalesce(pg_sequence_last_value(p_queue.attempt_sequence), 0);
    v_count integer := v_value % 256;
BEGIN
    IF v_value = 0 THEN
        RETURN NULL;
    ELSIF v_count = 255 THEN
        RETURN 255;
    END IF;
    RETURN CASE pg_xact_status((v_value / 256)::text::xid8)
        WHEN 'aborted' THEN v_count + 1
        WHEN 'in progress' THEN v_count
    END;
EXCEPTION WHEN invalid_parameter_value THEN
    -- After a crash the number may not have been used yet: that transaction is gone.
    RETURN v_count + 1;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.note_attempt(p_queue ssb.queue, p_fails integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_transaction bigint := pg_current_xact_id()::text::bigint;
BEGIN
    -- A second RECEIVE of one transaction is no second attempt.
    IF pg_sequence_last_value(p_queue.attempt_sequence) / 256 IS DISTINCT FROM v_transaction THEN
        PERFORM setval(p_queue.attempt_sequence, v_transaction * 256 + least(p_fails, 254));
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.forget_attempts(p_queue ssb.queue)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ SELECT setval(p_queue.attempt_sequence, 0); $$;

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

-- RECEIVE is about to raise 9617, which undoes any UPDATE. The mark in the sequence
-- stays; transaction numbers are forgotten one day, this is not.
CREATE OR REPLACE FUNCTION ssb.keep_poisoned(p_queue ssb.queue)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ SELECT setval(p_queue.attempt_sequence, 255); $$;

-- For those who can commit (SEND, the daemon, a waiting RECEIVE): switches the
-- queue off in the catalog and fires BROKER_QUEUE_DISABLED. True when it is off by
-- poison now.
-- Locks  the queue's row
CREATE OR REPLACE FUNCTION ssb.disable_if_poisoned(p_queue ssb.queue)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
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

-- Poison messages: transactions that received and rolled back, one after another.
--
-- A rollback erases every trace in tables, and a crashed client never reports.
-- Three things survive. The message row that the lost transaction deleted keeps that
-- transaction's number in xmax: seeing it, RECEIVE knows that the message was
-- tried before, at no cost to messages that were not. Sequences do not roll back:
-- from then on each transaction that receives adds one to the attempts in the
-- queue's state sequence. And locks end with their transaction: each holds a shared
-- advisory lock, so of the attempts as many have ended as there are locks too few.
-- They were rolled back, except those that have left a row in ssb.committed_attempt.
-- A new one there, and counting starts anew; when that has happened 15 times without
-- a rollback between, there is nothing special any more.
--
-- The state is 0 while there is nothing special. Otherwise, from the lowest bit:
--    1  a watcher sleeps and wants a NOTIFY (ssb.watch_queue)
--   12  attempts since the last commit that was noticed; 4095 means disabled
--   24  the transaction that added the last one
--    4  commits noticed since the last rollback
--    8  rows of ssb.committed_attempt when a commit was noticed last, modulo 256:
--       only a commit can change what is visible there
-- Reading and writing it are two steps: of two sessions that write at the same
-- moment one may be lost. A lost attempt is one rollback more before the queue
-- stops, a lost wake-up waits for the watcher's next round.

-- Transactions that received while rollbacks were being counted, and committed.
CREATE TABLE IF NOT EXISTS ssb.committed_attempt (
    queue_id    integer NOT NULL,
    transaction bigint  NOT NULL
);
CREATE INDEX IF NOT EXISTS committed_attempt_by_queue ON ssb.committed_attempt (queue_id);

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

CREATE OR REPLACE FUNCTION ssb.attempts_of(p_sequence regclass, OUT is_on_record boolean, OUT attempts integer,
                                           OUT transaction bigint, OUT commits integer, OUT noticed integer)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.state >= 2, (s.state >> 1) & 4095, (s.state >> 13) & 16777215, (s.state >> 37) & 15, (s.state >> 41) & 255
      FROM (SELECT ssb.queue_state(p_sequence) AS state) AS s;
$$;

CREATE OR REPLACE FUNCTION ssb.set_attempts(p_sequence regclass, p_attempts integer, p_transaction bigint DEFAULT 0,
                                            p_commits integer DEFAULT 0, p_noticed integer DEFAULT 0)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT setval(p_sequence, (ssb.queue_state(p_sequence) & 1) | (p_attempts::bigint << 1) | ((p_transaction & 16777215) << 13)
                              | (p_commits::bigint << 37) | ((p_noticed & 255)::bigint << 41));
$$;

-- Transactions that have received, or tried to, and go on.
CREATE OR REPLACE FUNCTION ssb.attempts_under_way(p_queue_id integer)
RETURNS integer
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT count(*)::integer FROM pg_locks AS l
     WHERE l.locktype = 'advisory' AND l.classid = 1397965379::oid AND l.objid = p_queue_id::oid AND l.objsubid = 2
       AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database());
$$;

-- Rows of those that have committed; NULL in a transaction that has its own row there
-- already, and so was judged before.
CREATE OR REPLACE FUNCTION ssb.attempts_committed(p_queue_id integer)
RETURNS integer
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
    SELECT CASE WHEN count(*) FILTER (WHERE c.transaction = pg_current_xact_id_if_assigned()::text::bigint) = 0
                THEN count(*)::integer END
      FROM ssb.committed_attempt AS c WHERE c.queue_id = p_queue_id;
$$;

-- Rollbacks in a row up to now; NULL when nothing is on record, or a commit has
-- made it void; 4095 when the queue was disabled.
CREATE OR REPLACE FUNCTION ssb.failed_attempts(p_queue ssb.queue)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_record record;
    v_fails integer;
BEGIN
    IF ssb.queue_state(p_queue.state_sequence) < 2 THEN
        RETURN NULL;
    END IF;
    SELECT a.* INTO v_record FROM ssb.attempts_of(p_queue.state_sequence) AS a;
    IF v_record.attempts = 4095 THEN
        RETURN 4095;
    ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
        -- An old snapshot does not show who has committed.
        RETURN 0;
    END IF;
    -- In this order: an attempt is locked before it is counted, and its row can be
    -- seen before its lock has gone.
    v_fails := greatest(0, v_record.attempts - ssb.attempts_under_way(p_queue.queue_id));
    IF coalesce(ssb.attempts_committed(p_queue.queue_id) & 255, v_record.noticed) <> v_record.noticed THEN
        RETURN NULL;
    END IF;
    RETURN v_fails;
END;
$$;

-- The same for RECEIVE, which notices commits, and makes the record last when the
-- limit is reached: RECEIVE is about to raise 9617, which undoes any UPDATE.
CREATE OR REPLACE FUNCTION ssb.judge_attempts(p_queue_id integer, OUT fails integer, OUT is_poisoned boolean)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_queue ssb.queue;
    v_record record;
    v_under_way integer;
    v_committed integer;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    is_poisoned := false;
    SELECT a.* INTO v_record FROM ssb.attempts_of(v_queue.state_sequence) AS a;
    IF v_record.attempts = 4095 OR NOT v_record.is_on_record OR current_setting('transaction_isolation') <> 'read committed' THEN
        fails := ssb.failed_attempts(v_queue);
        is_poisoned := ssb.is_poisoned(v_queue);
        RETURN;
    END IF;
    -- As in ssb.failed_attempts, which is not called: it would all be looked up twice.
    v_under_way := ssb.attempts_under_way(p_queue_id);
    v_committed := ssb.attempts_committed(p_queue_id);
    IF coalesce(v_committed & 255, v_record.noticed) = v_record.noticed THEN
        fails := greatest(0, v_record.attempts - v_under_way);
        is_poisoned := v_queue.is_poison_handling_enabled AND NOT v_queue.is_quarantine_enabled
                       AND fails >= v_queue.max_rollbacks;
        IF is_poisoned THEN
            PERFORM ssb.keep_poisoned(v_queue);
        END IF;
        RETURN;
    END IF;
    v_record.commits := CASE WHEN v_record.attempts - v_under_way > ((v_committed - v_record.noticed) & 255) THEN 0
                             ELSE v_record.commits + 1 END;
    IF v_record.commits > 15 THEN
        PERFORM ssb.forget_attempts(v_queue);
        RETURN;
    END IF;
    fails := 0;
    PERFORM ssb.set_attempts(v_queue.state_sequence, least(4094, v_under_way), v_record.transaction, v_record.commits,
                             v_committed);
END;
$$;

-- RECEIVE has found a message that was tried before, the one of this order: p_fails
-- rollbacks are on record. Those of transactions that received before anything was on
-- record, several at a time, can be seen in the messages that follow.
--
-- What a message carries may be the number of a subtransaction, and one transaction
-- has many of these: but then their commands have different numbers (cmax). So of the
-- numbers that go with the same command, each is a transaction of its own. And if
-- none of the messages from the first of them to the one behind the last is gone,
-- nobody has received and committed meanwhile.
--
-- Called by  ssb.receive_carefully
CREATE OR REPLACE FUNCTION ssb.judge_message(p_queue_id integer, p_order bigint, p_fails integer,
                                             OUT fails integer, OUT is_poisoned boolean)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
    v_next CONSTANT bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    v_queue ssb.queue;
    v_since bigint;
    v_is_whole boolean;
    v_first integer;
    v_most integer;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    is_poisoned := false;
    fails := p_fails;
    IF NOT v_queue.is_poison_handling_enabled OR current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN;
    END IF;
    SELECT greatest(v_queue.attempts_since, max(c.transaction)) INTO v_since
      FROM ssb.committed_attempt AS c WHERE c.queue_id = p_queue_id;
    WITH near AS (
        SELECT m.queuing_order, m.xmax <> 0 AS is_tried, m.cmax::text AS command,
               v_next - (v_next - m.xmax::text::bigint & 4294967295) AS tried_by,
               m.queuing_order = p_order - 1 + row_number() OVER (ORDER BY m.queuing_order) AS is_next
          FROM unnest(v_queue.priorities) AS p (priority)
         CROSS JOIN LATERAL (SELECT m.queuing_order, m.xmax, m.cmax FROM ssb.message_stored AS m
                              WHERE m.queue_id = p_queue_id AND m.priority = p.priority AND m.queuing_order >= p_order
                              ORDER BY m.queuing_order LIMIT 200) AS m
    ), lost AS (
        SELECT n.command, n.tried_by, n.queuing_order FROM near AS n
         WHERE n.is_tried AND n.tried_by > v_since AND pg_xact_status(n.tried_by::text::xid8) = 'aborted'
    )
    SELECT coalesce((SELECT max(n.queuing_order) FROM near AS n WHERE n.is_next)
                    > (SELECT max(n.queuing_order) FROM near AS n WHERE n.is_tried), false),
           (SELECT count(*) FROM lost AS l WHERE l.queuing_order = p_order),
           (SELECT max(c.number) FROM (SELECT count(DISTINCT l.tried_by) AS number FROM lost AS l GROUP BY l.command) AS c)
      INTO v_is_whole, v_first, v_most;
    -- The last message of the queue has none behind it.
    IF NOT v_is_whole AND v_most > 1 THEN
        EXECUTE format('SELECT s.last_value < $1 + (SELECT count(*) FROM ssb.message_stored AS m
                                                     WHERE m.queue_id = $2 AND m.queuing_order >= $1)
                          FROM %s AS s', v_queue.order_sequence)
           INTO v_is_whole USING p_order, p_queue_id;
    END IF;
    -- Nothing, where it was tried by somebody who has committed since, or who was pardoned.
    fails := greatest(fails, nullif(CASE WHEN v_is_whole THEN v_most ELSE v_first END, 0));
    is_poisoned := NOT v_queue.is_quarantine_enabled AND coalesce(fails >= v_queue.max_rollbacks, false);
    IF is_poisoned THEN
        PERFORM ssb.keep_poisoned(v_queue);
    END IF;
END;
$$;

-- Adds this transaction to the attempts, after p_fails rollbacks in a row. A second
-- RECEIVE of one transaction is no second attempt; it may follow ROLLBACK to a
-- savepoint, which has taken the lock and the row.
DROP FUNCTION IF EXISTS ssb.note_attempt(integer, integer, xid);
CREATE OR REPLACE FUNCTION ssb.note_attempt(p_queue_id integer, p_fails integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_transaction CONSTANT bigint := pg_current_xact_id()::text::bigint;
    v_queue ssb.queue;
    v_record record;
    v_committed integer;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    v_committed := ssb.attempts_committed(p_queue_id);
    IF v_committed IS NULL OR NOT v_queue.is_poison_handling_enabled THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(1397965379, p_queue_id);
    SELECT a.* INTO v_record FROM ssb.attempts_of(v_queue.state_sequence) AS a;
    IF NOT v_record.is_on_record THEN
        v_record.noticed := v_committed;
        v_record.attempts := coalesce(p_fails, 0);
    END IF;
    IF v_record.transaction <> v_transaction & 16777215 THEN
        PERFORM ssb.set_attempts(v_queue.state_sequence, least(4094, v_record.attempts + 1), v_transaction, v_record.commits,
                                 v_record.noticed);
    END IF;
    -- Old rows go now and then. That they are fewer is seen when this transaction has committed.
    IF v_committed > 200 THEN
        DELETE FROM ssb.committed_attempt AS c
         WHERE c.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.committed_attempt AS o
                                    WHERE o.queue_id = p_queue_id FOR UPDATE SKIP LOCKED));
    END IF;
    INSERT INTO ssb.committed_attempt (queue_id, transaction) VALUES (p_queue_id, v_transaction);
END;
$$;

CREATE OR REPLACE FUNCTION ssb.forget_attempts(p_queue ssb.queue)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ssb.set_attempts(p_queue.state_sequence, 0); $$;

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
AS $$ SELECT ssb.set_attempts(p_queue.state_sequence, 4095); $$;

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

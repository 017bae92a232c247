-- WAITFOR (RECEIVE …), WAITFOR (GET CONVERSATION GROUP …): waiting inside the server.

-- Whether a RECEIVE now would put something on its queue that is due: of the groups with a timer or lifetime that is over the
-- first that nobody holds is locked. What somebody holds comes when he is done.
CREATE OR REPLACE FUNCTION ssb_internal.lock_due(p_queue_id integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
AS $$
BEGIN
    PERFORM FROM (SELECT e.lock_id FROM ssb.conversation_endpoint AS e
                   WHERE e.queue_id = p_queue_id AND e.due_at <= (SELECT clock_timestamp()) AND e.closed_at IS NULL
                     AND least(e.dialog_timer, e.lifetime) <= clock_timestamp()
                   ORDER BY e.due_at LIMIT 2000) AS d
      CROSS JOIN LATERAL (SELECT FROM ssb.conversation_endpoint AS l
                           WHERE l.endpoint_id = d.lock_id FOR NO KEY UPDATE SKIP LOCKED) AS l
      LIMIT 1;
    RETURN FOUND;
END;
$$;

-- Ends the program that the daemon has started where its queue has gone while it waited, with nothing in hand: what it
-- waits for cannot come any more, and that is no error of the program's. As a cancelled statement does, so that no TRY
-- takes it; the daemon knows the words.
CREATE OR REPLACE FUNCTION ssb_internal.end_program_without_queue()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pg_current_xact_id_if_assigned() IS NULL
       AND EXISTS (SELECT FROM ssb.activated_task AS t
                    WHERE t.pid = pg_backend_pid()
                      AND NOT EXISTS (SELECT FROM ssb.queue AS q WHERE q.queue_id = t.queue_id)
                      -- Another process may have got the number of one that died. NULL: not for this role to see.
                      AND t.backend_start = ANY (SELECT coalesce(a.backend_start, t.backend_start)
                                                   FROM pg_stat_get_activity(t.pid) AS a)) THEN
        RAISE EXCEPTION 'The queue of this program was dropped while it waited.' USING ERRCODE = 'query_canceled';
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.end_program_without_queue() FROM PUBLIC;

-- Whether a RECEIVE now would return something: true; false when there is nothing at
-- all; NULL when what is there is in other hands. Takes the group's lock when it is
-- true, which the RECEIVE to follow would take anyway. What is wrong is RECEIVE's to raise, where a TRY or the next
-- statement follows: a queue that cannot be read counts as worth a look, as do one that has gone, a right that has been
-- taken away, and a conversation or group that is no longer the queue's.
CREATE OR REPLACE FUNCTION ssb_internal.look_for_message(p_queue text, p_conversation uuid, p_group uuid)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_queue ssb.queue;
    v_is_fast_path boolean;
    v_is_worth boolean;
    v_endpoint_id bigint;
    v_found record;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    -- Nearly always there is nothing, and one statement knows it: on a queue as ssb.receive
    -- has it on its fast path, no message from the session's mark on, nothing due, and
    -- nothing that waits to be put here. When there is something, it is nearly always a
    -- message that nobody has tried and a group that nobody has.
    IF coalesce(p_conversation, p_group) IS NULL THEN
        BEGIN
            SELECT true,
                   coalesce((SELECT m.endpoint_id FROM ssb.message_0 AS m
                              WHERE m.queue_id = q.queue_id AND m.priority = 5 AND m.queuing_order >= q.low
                              ORDER BY m.queuing_order LIMIT 1),
                            (SELECT m.endpoint_id FROM ssb.message_1 AS m
                              WHERE m.queue_id = q.queue_id AND m.priority = 5 AND m.queuing_order >= q.low
                              ORDER BY m.queuing_order LIMIT 1)),
                   EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                            WHERE e.queue_id = q.queue_id AND e.due_at <= (SELECT clock_timestamp()))
                   OR EXISTS (SELECT FROM (SELECT s.name FROM ssb.service AS s WHERE s.queue_id = q.queue_id OFFSET 0) AS s
                               CROSS JOIN LATERAL (SELECT FROM ssb.transmission AS t WHERE t.to_service = s.name AND t.peer_id IS NULL LIMIT 1) AS t)
              INTO v_is_fast_path, v_endpoint_id, v_is_worth
              FROM (SELECT q.queue_id,
                           ssb_internal.low_water(q.queue_id, 5::smallint, 0) AS low
                      FROM ssb.queue AS q
                     WHERE q.name = p_queue AND q.is_plain_reader
                       AND current_setting('ssb.skipped_' || q.queue_id || '_5', true) IN ('') IS NOT FALSE
                       AND coalesce(pg_sequence_last_value(q.state_sequence), 0) < 2
                       AND has_sequence_privilege(ssb_internal.calling_role(),
                                                  q.order_sequence, 'USAGE')
                    OFFSET 0) AS q;
        EXCEPTION WHEN internal_error THEN
            PERFORM ssb_internal.end_program_without_queue();
            RETURN true;               -- it waited for a DROP QUEUE, and the sequence is gone
        END;
        IF v_is_fast_path AND NOT v_is_worth THEN
            IF v_endpoint_id IS NULL THEN
                RETURN false;
            END IF;
            PERFORM FROM ssb.conversation_endpoint AS e
              WHERE e.endpoint_id = v_endpoint_id AND e.lock_id = v_endpoint_id AND e.closed_at IS NULL AND e.claim_id IS NULL
                FOR NO KEY UPDATE SKIP LOCKED;
            IF FOUND THEN
                -- Still there, and never tried? Else it is for the careful.
                PERFORM FROM ssb.message_stored AS m WHERE m.endpoint_id = v_endpoint_id AND m.xmax = 0 LIMIT 1;
                IF FOUND THEN
                    RETURN true;
                END IF;
            END IF;
        END IF;
    END IF;
    SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.name = p_queue;
    IF NOT FOUND THEN
        SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.name = ssb_internal.normal_name(p_queue);
    END IF;
    BEGIN
        PERFORM pg_sequence_last_value(v_queue.state_sequence);
    EXCEPTION WHEN internal_error THEN
        PERFORM ssb_internal.end_program_without_queue();
        RETURN true;                   -- as above
    END;
    IF v_queue.queue_id IS NULL THEN
        PERFORM ssb_internal.end_program_without_queue();
        RETURN true;
    ELSIF NOT ssb_internal.may_receive(v_queue) THEN
        RETURN true;
    ELSIF NOT v_queue.is_receive_enabled OR ssb_internal.is_poisoned(v_queue)
       OR (v_queue.is_accepting AND ssb_internal.lock_due(v_queue.queue_id))
       OR ssb_internal.fetch_waiting(v_queue.queue_id) THEN
        RETURN true;
    ELSIF p_conversation IS NULL AND p_group IS NULL THEN
        RETURN nullif((ssb_internal.lock_first_group(v_queue)).lock_id IS NOT NULL, false);
    END IF;
    IF NOT ssb_internal.is_of_queue(v_queue.queue_id, p_conversation, p_group) THEN
        RETURN true;
    END IF;
    SELECT f.* INTO v_found FROM ssb_internal.find_wanted(v_queue.queue_id, p_conversation, p_group) AS f;
    RETURN nullif(v_found.lock_id IS NOT NULL, false);
END;
$$;

-- What a RECEIVE would raise of names and rights.
CREATE OR REPLACE FUNCTION ssb_internal.require_readable(p_queue text, p_conversation uuid, p_group uuid)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_queue ssb.queue := ssb_internal.queue_of(p_queue);
BEGIN
    PERFORM ssb_internal.require_receive(v_queue);
    IF NOT ssb_internal.is_of_queue(v_queue.queue_id, p_conversation, p_group) THEN
        PERFORM ssb_internal.raise_not_of_queue(p_conversation, p_group);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.message_is_waiting(queue text, conversation uuid DEFAULT NULL,
                                                  conversation_group uuid DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.require_readable(queue, conversation, conversation_group);
    RETURN coalesce(ssb_internal.look_for_message(queue, conversation, conversation_group), false);
END;
$$;

-- The sequence whose value moves whenever a message comes to a queue. NULL: not for this caller.
CREATE OR REPLACE FUNCTION ssb_internal.order_sequence_of(p_queue text)
RETURNS regclass
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT q.order_sequence FROM ssb.queue AS q
             WHERE q.name = p_queue
               AND has_sequence_privilege(ssb_internal.calling_role(),
                                          q.order_sequence, 'USAGE'));
END;
$$;

-- Returns when a message may be there, when the queue cannot be read any more, or
-- at the deadline, for which NULL and infinity stand for none. Looks again every millisecond at first (pg_sleep rounds up to whole
-- ones, and 0.001 to two), then after 2 % of what it has waited, at most 100 ms; after 10 % where what is
-- there is in other hands. With may_commit the empty transaction ends between the looks,
-- so that waiting for hours holds back no VACUUM; and most looks are at one sequence
-- only, from which every sender draws an order. A look that has found nothing at all
-- holds good until that sequence has moved, if every order drawn before is decided: see
-- ssb_internal.raise_low_water. (What comes without an order, such as a timer that is due, is
-- found by a real look each quarter of a second, each half one at last.)
--
-- When the sequence has moved, nothing is there yet, and a transaction runs, that is most likely the
-- sender, which commits. The advisory lock that it holds (see ssb.send) is then waited for instead of a
-- sleep, and at most as long: its end wakes us at once. The lock is only a hint. Where the sender has none,
-- another one stays open, or a stranger took it, the looks go on as they do without it.
CREATE OR REPLACE PROCEDURE ssb.wait_for_message(queue text, deadline timestamptz, conversation uuid DEFAULT NULL,
                                                 conversation_group uuid DEFAULT NULL, may_commit boolean DEFAULT false)
LANGUAGE plpgsql
AS $$
DECLARE
    v_pause double precision := 0.0009;
    v_left double precision;
    v_round integer := 0;
    v_sequence pg_catalog.regclass;
    v_last bigint;                     -- its value now
    v_seen bigint;                     -- its value before some look
    v_xmin bigint;                     -- the oldest transaction that has a number and runs; none: the next number
    v_next bigint;                     -- the next transaction's number
    v_horizon bigint;                  -- who has drawn an order up to v_seen has a number below this one
    v_is_found boolean;
    v_is_quiet boolean := false;       -- there was nothing, and while the sequence stands there is nothing
    v_look_at timestamptz;
    v_is_coming boolean := false;      -- somebody is sending: the lock that tells of his end is waited for
    v_tidy_at timestamptz := pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) pg_catalog.make_interval(secs => 25);
BEGIN
    -- One snapshot for the whole transaction could not tell what came when.
    IF may_commit AND coalesce(conversation, conversation_group) IS NULL
       AND pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.=) 'read committed'
       AND pg_catalog.current_setting('default_transaction_isolation') OPERATOR(pg_catalog.=) 'read committed' THEN
        v_sequence := ssb_internal.order_sequence_of(queue);
        -- The caller's role may be another than this procedure's.
        IF NOT pg_catalog.has_sequence_privilege(v_sequence, 'USAGE') THEN
            v_sequence := NULL;
        END IF;
    END IF;
    -- RECEIVE has found nothing in this snapshot that others had not.
    IF pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.<>) 'read committed' THEN
        IF may_commit THEN
            COMMIT;
        ELSE
            PERFORM pg_catalog.pg_sleep(0.05);
        END IF;
    END IF;
    LOOP
        IF v_sequence IS NOT NULL THEN
            BEGIN
                LOOP
                    v_last := pg_catalog.pg_sequence_last_value(v_sequence);
                    EXIT WHEN NOT v_is_quiet OR v_last IS DISTINCT FROM v_seen OR v_left OPERATOR(pg_catalog.<=) 0
                           OR pg_catalog.clock_timestamp() OPERATOR(pg_catalog.>=) v_look_at;
                    PERFORM pg_catalog.pg_sleep(least(v_pause, v_left));
                    v_round := v_round OPERATOR(pg_catalog.+) 1;
                    IF v_round OPERATOR(pg_catalog.>) 50 THEN
                        v_pause := least(v_pause OPERATOR(pg_catalog.*) 1.02, 0.1);
                    END IF;
                    -- PostgreSQL before 17 has no infinite intervals.
                    IF pg_catalog.isfinite(deadline) THEN
                        v_left := pg_catalog.date_part('epoch', deadline OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp());
                    END IF;
                END LOOP;
            EXCEPTION WHEN internal_error OR undefined_table OR insufficient_privilege THEN
                -- Dropped, or revoked: looks tell.
                v_sequence := NULL;
                v_is_quiet := false;
                v_is_coming := false;
            END;
        END IF;
        IF v_sequence IS NOT NULL THEN
            -- That value was read under a lock by which senders are known: it goes before
            -- a RECEIVE makes this a long transaction. Then age() tells the next number as it
            -- is now, after that value was read. (A snapshot's xmax would not do: transactions
            -- that run may have numbers above it.)
            COMMIT;
            v_xmin := pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::pg_catalog.text::bigint;
            v_next := v_xmin OPERATOR(pg_catalog.+) pg_catalog.age(
                (v_xmin OPERATOR(pg_catalog.&) 4294967295)::pg_catalog.text::pg_catalog.xid);
            -- Something has come, and nobody is about to commit: RECEIVE may look itself.
            EXIT WHEN v_is_quiet AND v_last OPERATOR(pg_catalog.>) v_seen AND v_xmin OPERATOR(pg_catalog.>=) v_next;
            IF v_last IS DISTINCT FROM v_seen OR v_horizon IS NULL THEN
                v_is_coming := v_xmin OPERATOR(pg_catalog.<) v_next;
                v_seen := v_last;
                v_horizon := v_next;
            END IF;
            v_is_quiet := v_xmin OPERATOR(pg_catalog.>=) v_horizon;
            v_look_at := pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) pg_catalog.make_interval(
                secs => greatest(0.25, v_pause OPERATOR(pg_catalog.*) 5));
        END IF;
        IF v_sequence IS NULL AND pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.=) 'read committed' THEN
            v_is_found := ssb_internal.look_for_message(queue, conversation, conversation_group);
        ELSIF v_sequence IS NULL THEN
            BEGIN
                v_is_found := ssb_internal.look_for_message(queue, conversation, conversation_group);
            EXCEPTION WHEN serialization_failure THEN
                -- Another reader was there since this transaction's snapshot.
                v_is_found := false;
            END;
        ELSE
            BEGIN
                v_is_found := ssb_internal.look_for_message(queue, conversation, conversation_group);
            EXCEPTION WHEN internal_error OR undefined_table THEN
                -- Dropped while we looked: the next look is by its name.
                v_sequence := NULL;
                v_is_found := NULL;
                v_is_coming := false;
            END;
        END IF;
        EXIT WHEN v_is_found;
        v_is_quiet := v_is_quiet AND v_is_found IS NOT NULL;
        v_left := CASE WHEN pg_catalog.isfinite(deadline)
                       THEN pg_catalog.date_part('epoch', deadline OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp())
                       WHEN deadline OPERATOR(pg_catalog.<) pg_catalog.clock_timestamp() THEN 0
                       ELSE 1 END;
        EXIT WHEN v_left OPERATOR(pg_catalog.<=) 0;
        IF may_commit THEN
            COMMIT;
            IF pg_catalog.clock_timestamp() OPERATOR(pg_catalog.>=) v_tidy_at THEN
                -- A rotation that was begun goes on at every look.
                IF ssb.tidy_up() OPERATOR(pg_catalog.<>) ALL (ARRAY['switched', 'moved']) THEN
                    v_tidy_at := pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) pg_catalog.make_interval(secs => 25);
                END IF;
                COMMIT;
            END IF;
        END IF;
        CONTINUE WHEN v_is_quiet;
        IF v_is_coming THEN
            BEGIN
                PERFORM pg_catalog.set_config('lock_timeout', greatest(
                    (least(v_pause, v_left) OPERATOR(pg_catalog.*) 1000)::integer, 1)::pg_catalog.text, true);
                PERFORM pg_catalog.pg_advisory_xact_lock_shared(1397965379, v_sequence::pg_catalog.oid::integer);
                v_is_coming := false;
            EXCEPTION WHEN lock_not_available THEN
                NULL;                      -- still sending
            END;
            COMMIT;
        ELSE
            PERFORM pg_catalog.pg_sleep(least(v_pause, v_left));
        END IF;
        v_round := v_round OPERATOR(pg_catalog.+) 1;
        IF v_is_found IS NULL THEN
            v_pause := least(v_pause OPERATOR(pg_catalog.*) 1.1, 0.1);
        ELSIF v_round OPERATOR(pg_catalog.>) 50 THEN
            v_pause := least(v_pause OPERATOR(pg_catalog.*) 1.02, 0.1);
        END IF;
    END LOOP;
    IF may_commit THEN
        PERFORM ssb_internal.pin_search_path();
    END IF;
END;
$$;

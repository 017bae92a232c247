-- What falls due: conversation timers, lifetimes, and closed endpoints whose 30
-- minutes are over. Nothing waits for it in a process of its own: whoever looks at
-- the queue first brings it about; the daemon only looks often.
--
-- Called by  RECEIVE, GET CONVERSATION GROUP, ssb.wait_for_message, the daemon
-- Locks      the groups concerned; one that somebody else holds is left for later

-- Whether what is due of an endpoint is a message, which a queue that is OFF does not take. The others are not to wait behind it.
CREATE OR REPLACE FUNCTION ssb_internal.waits_for_its_queue(p_closed_at timestamptz, p_timer timestamptz, p_lifetime timestamptz, p_now timestamptz)
RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN p_closed_at IS NULL AND coalesce(least(p_timer, p_lifetime) <= p_now, false);

-- What most of it is, as two sets: short dialogs whose sides may both go, and sides that were to be
-- looked at and are still open, which have nothing due. The rest is for ssb_internal.deliver_due_on.
CREATE OR REPLACE FUNCTION ssb_internal.sweep_dialogs(p_queue_id integer, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
AS $$
DECLARE
    v_is_accepting CONSTANT boolean := (SELECT q.is_accepting FROM ssb.queue AS q WHERE q.queue_id = p_queue_id);
    v_gone bigint[] := ARRAY(
        SELECT e.endpoint_id
          FROM (SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e
                 WHERE e.queue_id = p_queue_id AND e.due_at <= p_now
                   AND (v_is_accepting OR NOT ssb_internal.waits_for_its_queue(e.closed_at, e.dialog_timer, e.lifetime, p_now))
                 ORDER BY e.due_at LIMIT 300) AS d
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = d.endpoint_id
         WHERE e.closed_at <= p_now - interval '30 minutes' AND e.is_close_known AND NOT e.has_waiting
           AND e.lock_id = e.endpoint_id AND coalesce(e.claim_id, 0) >= 0 AND e.far_endpoint_id IS NOT NULL
           AND NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS f WHERE f.endpoint_id = e.far_endpoint_id)
           AND NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS o
                            WHERE o.lock_id = e.endpoint_id AND o.endpoint_id <> e.endpoint_id)
           FOR UPDATE OF e SKIP LOCKED);
BEGIN
    IF v_gone <> '{}' THEN
        DELETE FROM ssb.message_stored AS m WHERE m.endpoint_id = ANY (v_gone);
        DELETE FROM ssb.retained_message AS r WHERE r.endpoint_id = ANY (v_gone);
        DELETE FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = ANY (v_gone);
    END IF;
    UPDATE ssb.conversation_endpoint AS e SET due_at = NULL
     WHERE e.endpoint_id = ANY (ARRAY(
        SELECT o.endpoint_id
          FROM (SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e
                 WHERE e.queue_id = p_queue_id AND e.due_at <= p_now
                   AND (v_is_accepting OR NOT ssb_internal.waits_for_its_queue(e.closed_at, e.dialog_timer, e.lifetime, p_now))
                 ORDER BY e.due_at LIMIT 300) AS d
          JOIN ssb.conversation_endpoint AS o ON o.endpoint_id = d.endpoint_id
         WHERE o.closed_at IS NULL AND o.dialog_timer IS NULL AND o.lifetime IS NULL AND o.lock_id = o.endpoint_id
           FOR NO KEY UPDATE OF o SKIP LOCKED));
END;
$$;

-- Whether all that is due of an endpoint is its timer, and its group is led by itself.
CREATE OR REPLACE FUNCTION ssb_internal.is_timer_alone(p_endpoint ssb.conversation_endpoint, p_now timestamptz)
RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN coalesce((p_endpoint).dialog_timer <= p_now AND (p_endpoint).closed_at IS NULL
                AND ((p_endpoint).is_error OR coalesce((p_endpoint).lifetime > p_now, true))
                AND (p_endpoint).lock_id = (p_endpoint).endpoint_id, false);

-- Puts the DialogTimer messages of timers that are over, p_most at most, as a set: one by one each took 240 µs, and where a hundred thousand end at
-- once, as those of all sessions that a nightly job has begun, the last was a quarter of an hour late. True when it put one.
-- Dialogs whose LIFETIME is over as well, and groups that somebody holds, are left.
--
-- Called by  ssb_internal.deliver_due_on, broker_sweep
-- Locks      the groups; and for a moment those of the far sides
CREATE OR REPLACE FUNCTION ssb_internal.fire_timers(p_queue_id integer, p_now timestamptz, p_most integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
    v_queue ssb.queue;
    v_fired bigint[];
    v_urgent bigint[];
    v_held bigint[];
BEGIN
    SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id AND q.is_accepting;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_fired := ARRAY(
        SELECT e.endpoint_id
          FROM (SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e
                 WHERE e.queue_id = p_queue_id AND e.due_at <= p_now ORDER BY e.due_at LIMIT p_most) AS d
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = d.endpoint_id
         WHERE ssb_internal.is_timer_alone(e, p_now)
           FOR NO KEY UPDATE OF e SKIP LOCKED);
    IF v_fired = '{}' THEN
        RETURN false;
    END IF;
    -- As ssb_internal.put_message and others_may_wait do it for one.
    PERFORM pg_current_xact_id();
    v_urgent := ARRAY(SELECT f FROM unnest(v_fired) AS f
                       WHERE EXISTS (SELECT FROM ssb.message_stored AS m WHERE m.endpoint_id = f ORDER BY m.queuing_order OFFSET 0));
    BEGIN
        SELECT array_agg(e.endpoint_id) INTO v_held
          FROM (SELECT f AS endpoint_id FROM unnest(v_fired) AS f WHERE f <> ALL (v_urgent) OFFSET 0) AS f
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = f.endpoint_id AND e.far_endpoint_id IS NOT NULL
          LEFT JOIN LATERAL (SELECT true AS is_free
                               FROM (SELECT o.lock_id FROM ssb.conversation_endpoint AS o WHERE o.endpoint_id = e.far_endpoint_id OFFSET 0) AS o
                              CROSS JOIN LATERAL (SELECT FROM ssb.conversation_endpoint AS l WHERE l.endpoint_id = o.lock_id
                                                     FOR NO KEY UPDATE SKIP LOCKED) AS l) AS o ON true
         WHERE o.is_free IS NULL;
        RAISE EXCEPTION USING ERRCODE = 'SP001', MESSAGE = 'done';
    EXCEPTION WHEN SQLSTATE 'SP001' THEN
        v_urgent := v_urgent || coalesce(v_held, '{}');
    END;
    IF v_urgent <> '{}' THEN
        INSERT INTO ssb.urgent_conversation (queue_id, endpoint_id) SELECT p_queue_id, u FROM unnest(v_urgent) AS u;
        PERFORM nextval('ssb.urgent_conversations');
    END IF;
    PERFORM pg_try_advisory_xact_lock(1397965379, v_queue.order_sequence::oid::integer);
    IF coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) % 2 = 0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT p_queue_id, t.endpoint_id, nextval(v_queue.order_sequence), -1, clock_timestamp(), 3, t.priority, 'E', NULL
          FROM (SELECT e.endpoint_id, e.priority FROM ssb.conversation_endpoint AS e
                 WHERE e.endpoint_id = ANY (v_fired) ORDER BY e.dialog_timer) AS t;
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT p_queue_id, t.endpoint_id, nextval(v_queue.order_sequence), -1, clock_timestamp(), 3, t.priority, 'E', NULL
          FROM (SELECT e.endpoint_id, e.priority FROM ssb.conversation_endpoint AS e
                 WHERE e.endpoint_id = ANY (v_fired) ORDER BY e.dialog_timer) AS t;
    END IF;
    UPDATE ssb.conversation_endpoint AS e
       SET dialog_timer = NULL, due_at = CASE WHEN NOT e.is_error THEN e.lifetime END
     WHERE e.endpoint_id = ANY (v_fired);
    IF ssb_internal.queue_state(v_queue.state_sequence) % 2 = 1 THEN
        PERFORM ssb_internal.announce_arrival(p_queue_id);
    END IF;
    RETURN true;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.fire_timers(integer, timestamptz, integer) FROM PUBLIC;

-- True when it put a message on the queue. At most 300 endpoints a call, so that
-- no RECEIVE pays for everybody. What cannot come about now, as its group is locked or the queue takes no messages,
-- is passed, and keeps nothing from coming that is due later.
CREATE OR REPLACE FUNCTION ssb_internal.deliver_due_on(p_queue_id integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
AS $$
DECLARE
    v_endpoint_id bigint;
    v_endpoint ssb.conversation_endpoint;
    v_now timestamptz := clock_timestamp();
    v_has_put boolean := false;
    v_is_accepting boolean := (SELECT q.is_accepting FROM ssb.queue AS q WHERE q.queue_id = p_queue_id);
    v_free bigint[];
BEGIN
    PERFORM FROM ssb.conversation_endpoint AS e WHERE e.queue_id = p_queue_id AND e.due_at <= v_now LIMIT 1;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM ssb_internal.sweep_dialogs(p_queue_id, v_now);
    v_has_put := ssb_internal.fire_timers(p_queue_id, v_now, 100);
    v_free := ARRAY(
        SELECT d.endpoint_id
          FROM (SELECT e.endpoint_id, e.lock_id, ssb_internal.is_timer_alone(e, v_now) AS is_timer FROM ssb.conversation_endpoint AS e
                 WHERE e.queue_id = p_queue_id AND e.due_at <= v_now
                   AND (v_is_accepting OR NOT ssb_internal.waits_for_its_queue(e.closed_at, e.dialog_timer, e.lifetime, v_now))
                 ORDER BY e.due_at LIMIT 2000) AS d
         CROSS JOIN LATERAL (SELECT FROM ssb.conversation_endpoint AS l
                              WHERE l.endpoint_id = d.lock_id FOR NO KEY UPDATE SKIP LOCKED) AS l
         WHERE NOT d.is_timer
         LIMIT 100);
    FOREACH v_endpoint_id IN ARRAY v_free LOOP
        -- It may have come to another group.
        CONTINUE WHEN NOT ssb_internal.try_lock_endpoint(v_endpoint_id);
        SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e
         WHERE e.endpoint_id = v_endpoint_id AND e.due_at <= v_now;
        CONTINUE WHEN NOT FOUND;
        IF v_endpoint.closed_at > v_now - interval '30 minutes' THEN
            UPDATE ssb.conversation_endpoint AS e SET due_at = e.closed_at + interval '30 minutes'
             WHERE e.endpoint_id = v_endpoint_id;
            CONTINUE;
        ELSIF v_endpoint.closed_at IS NOT NULL THEN
            PERFORM ssb_internal.remove_closed(v_endpoint);
            CONTINUE;
        END IF;
        CONTINUE WHEN NOT v_is_accepting
                      AND ssb_internal.waits_for_its_queue(v_endpoint.closed_at, v_endpoint.dialog_timer, v_endpoint.lifetime, v_now);
        IF v_endpoint.dialog_timer <= v_now THEN
            PERFORM ssb_internal.put_message(v_endpoint, 3, -1, 'E', NULL);
            v_has_put := true;
        END IF;
        UPDATE ssb.conversation_endpoint AS e
           SET dialog_timer = CASE WHEN e.dialog_timer > v_now THEN e.dialog_timer END,
               due_at = least(CASE WHEN e.dialog_timer > v_now THEN e.dialog_timer END,
                              CASE WHEN NOT e.is_error THEN e.lifetime END)
         WHERE e.endpoint_id = v_endpoint_id;
        IF v_endpoint.lifetime <= v_now AND NOT v_endpoint.is_error THEN
            PERFORM ssb_internal.fail_endpoint(v_endpoint_id, -8489, 'The dialog has exceeded the specified LIFETIME.');
            v_has_put := true;
        END IF;
    END LOOP;
    RETURN v_has_put;
END;
$$;

-- The row of a closed side is the far side's only way to know how it ended. If that
-- side is still open it is told for good first, under its own group's lock.
CREATE OR REPLACE FUNCTION ssb_internal.remove_closed(p_endpoint ssb.conversation_endpoint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_far ssb.conversation_endpoint;
BEGIN
    IF NOT p_endpoint.is_close_known THEN
        -- Its EndDialog is still waiting somewhere: ask again in a while.
        UPDATE ssb.conversation_endpoint AS e SET due_at = clock_timestamp() + interval '30 minutes'
         WHERE e.endpoint_id = p_endpoint.endpoint_id;
        RETURN;
    ELSIF EXISTS (SELECT FROM ssb.conversation_endpoint AS f WHERE f.endpoint_id = p_endpoint.far_endpoint_id) THEN
        IF NOT ssb_internal.try_lock_endpoint(p_endpoint.far_endpoint_id) THEN
            -- Others come first that may go.
            UPDATE ssb.conversation_endpoint AS e SET due_at = clock_timestamp() + interval '10 seconds'
             WHERE e.endpoint_id = p_endpoint.endpoint_id;
            RETURN;
        END IF;
        -- As it is now that it is locked.
        SELECT f.* INTO v_far FROM ssb.conversation_endpoint AS f WHERE f.endpoint_id = p_endpoint.far_endpoint_id;
        IF v_far.has_waiting THEN
            -- Now that this side can still tell that nobody wants it.
            PERFORM ssb_internal.deliver_waiting(v_far.endpoint_id);
        END IF;
        IF v_far.closed_at IS NULL THEN
            UPDATE ssb.conversation_endpoint AS f
               SET far_outcome = CASE WHEN p_endpoint.is_closed_by_error THEN 'ER' ELSE 'DI' END
             WHERE f.endpoint_id = v_far.endpoint_id;
        ELSIF v_far.is_initiator THEN
            PERFORM ssb_internal.remove_endpoint(v_far);
        END IF;
    END IF;
    PERFORM ssb_internal.remove_endpoint(p_endpoint);
END;
$$;

-- Of all queues where something is due, whoever asks: it would come about at this moment without anybody. What a session does
-- that has waited for it.
CREATE OR REPLACE FUNCTION ssb_internal.deliver_all_due()
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_queue ssb.queue;
    v_now timestamptz := clock_timestamp();
BEGIN
    FOR v_queue IN
        SELECT q.* FROM ssb.queue AS q
         WHERE EXISTS (SELECT FROM ssb.conversation_endpoint AS e WHERE e.queue_id = q.queue_id AND e.due_at <= v_now)
    LOOP
        -- It locks what is due, to the end of the caller's transaction.
        IF ssb_internal.may_receive(v_queue) THEN
            PERFORM ssb_internal.deliver_due_on(v_queue.queue_id);
        END IF;
    END LOOP;
END;
$$;

-- The same for one queue by name, or for all: what the daemon calls. Returns
-- when the next thing falls due (NULL: nothing does).
CREATE OR REPLACE FUNCTION ssb.deliver_due(queue text DEFAULT NULL)
RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_variable
DECLARE
    v_queue ssb.queue;
    v_next timestamptz;
BEGIN
    FOR v_queue IN
        SELECT q.* FROM ssb.queue AS q
         WHERE queue IS NULL OR q.queue_id = (ssb_internal.queue_of(queue)).queue_id
    LOOP
        IF ssb_internal.may_receive(v_queue) AND NOT ssb_internal.is_being_dropped(v_queue.queue_id) THEN
            PERFORM ssb_internal.disable_if_free(v_queue);
            PERFORM ssb_internal.deliver_due_on(v_queue.queue_id);
            PERFORM ssb_internal.fetch_waiting(v_queue.queue_id);
        END IF;
    END LOOP;
    SELECT min(e.due_at) INTO v_next FROM ssb.queue AS q
     CROSS JOIN LATERAL (SELECT e.due_at FROM ssb.conversation_endpoint AS e
                          WHERE e.queue_id = q.queue_id AND e.due_at IS NOT NULL ORDER BY e.due_at LIMIT 1) AS e
     WHERE queue IS NULL OR q.queue_id = (ssb_internal.queue_of(queue)).queue_id;
    RETURN v_next;
END;
$$;

-- Streams of Spark: under whose name they run, and the claims that wait for them to come again (claims.sql).

-- From here on the caller's session runs the stream of that name, until it ends. Where another one does:
-- its process and since when, and nothing is changed. Rows of sessions of the caller's that are gone go.
--
-- Called by  pgsb.bulk.streaming
-- Locks      the rows of the caller's role, to the end of the transaction, and nobody else's; an advisory lock
--            (1397965383, lock_id), to the end of the session
CREATE OR REPLACE FUNCTION ssb_internal.run_stream(stream text, OUT pid integer, OUT since timestamptz)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_caller CONSTANT name := ssb_internal.caller();
    v_lock_id integer;
BEGIN
    PERFORM ssb_internal.require_some_queue();
    DELETE FROM ssb.running_stream AS s WHERE s.role = v_caller AND NOT ssb_internal.stream_runs(s.role, s.stream);
    LOOP
        v_lock_id := nextval('ssb.claim_id');
        EXIT WHEN pg_try_advisory_lock(1397965383, v_lock_id);
    END LOOP;
    -- Of two at once the second waits for the first here.
    INSERT INTO ssb.running_stream AS s (role, stream, lock_id, pid, since)
    VALUES (v_caller, run_stream.stream, v_lock_id, pg_backend_pid(), clock_timestamp())
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM pg_advisory_unlock(1397965383, v_lock_id);
        RETURN QUERY
        SELECT s.pid, s.since FROM ssb.running_stream AS s WHERE s.role = v_caller AND s.stream = run_stream.stream;
        IF NOT FOUND THEN
            RETURN QUERY SELECT r.* FROM ssb_internal.run_stream(run_stream.stream) AS r;  -- the other one has gone meanwhile
        END IF;
    ELSE
        -- What has expired stays so: others may have received of it.
        UPDATE ssb.claim AS c SET stream = NULL
         WHERE c.stream = run_stream.stream AND c.role = v_caller AND c.expires_at <= clock_timestamp();
        UPDATE ssb.claim AS c SET waits_since = NULL
         WHERE c.stream = run_stream.stream AND c.role = v_caller AND c.waits_since IS NOT NULL;
    END IF;
END;
$$;

-- A stream is still there: its claims wait so many seconds more. Returns them, with their queues, the oldest first.
CREATE OR REPLACE FUNCTION ssb_internal.claims_of_stream(stream text, wait integer DEFAULT NULL)
RETURNS TABLE (claim_id integer, queue text, claimed_at timestamptz)
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    WITH renewed AS (
        UPDATE ssb.claim AS c
           SET expires_at = greatest(c.expires_at, clock_timestamp() + make_interval(secs => coalesce($2, 604800)))
         WHERE c.stream = $1 AND c.role = ssb_internal.caller() AND ssb_internal.claim_is_held(c.claim_id)
        RETURNING c.claim_id, c.queue_id, c.claimed_at
    )
    SELECT r.claim_id, q.name, r.claimed_at FROM renewed AS r JOIN ssb.queue AS q ON q.queue_id = r.queue_id
     ORDER BY r.claimed_at, r.claim_id;
$$;

-- Whose the claim is that was made at this moment, where it and its queue are there; NULL: they are not. A stream that comes again under another role
-- hears that from nothing else.
--
-- Called by  pgsb.bulk.streaming
CREATE OR REPLACE FUNCTION ssb_internal.role_of_claim(claim_id integer, claimed_at timestamptz)
RETURNS name
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.role FROM ssb.claim AS c JOIN ssb.queue AS q ON q.queue_id = c.queue_id WHERE c.claim_id = $1 AND c.claimed_at = $2;
$$;

-- A stream begins a batch of a claim. Where one of it was begun before, that has failed, or its driver has died: it counts as a RECEIVE
-- that was rolled back (conversations/poison_messages.sql). After as many as the queue bears it is stopped, or the group of the
-- claim's first message is set aside and the batch comes without it. False: the queue is off, and the batch must not run. True also
-- where the claim has ended.
--
-- Called by  pgsb.bulk.streaming
-- Locks      the claim's row, the first message's group, and the front's rows of its queue
CREATE OR REPLACE FUNCTION ssb_internal.begin_batch(claim_id integer, claimed_at timestamptz)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_variable
DECLARE
    v_claim ssb.claim;
    v_queue ssb.queue;
    v_fails integer;
    v_first record;
    v_priority smallint;
BEGIN
    SELECT c.* INTO v_claim FROM ssb.claim AS c
     WHERE c.claim_id = claim_id AND c.claimed_at = claimed_at AND c.role = ssb_internal.caller() AND ssb_internal.claim_is_alive(c.claim_id)
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN true;
    END IF;
    SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.queue_id = v_claim.queue_id;
    IF NOT v_claim.is_begun OR v_queue.queue_id IS NULL THEN
        UPDATE ssb.claim AS c SET is_begun = true WHERE c.claim_id = v_claim.claim_id;
        RETURN true;
    ELSIF NOT v_queue.is_receive_enabled THEN
        RETURN false;
    END IF;
    v_fails := ssb_internal.settle_attempts(v_queue, 'lost', 1);
    IF NOT v_queue.is_quarantine_enabled OR v_fails < v_queue.max_rollbacks OR v_fails IS NULL THEN
        RETURN NOT ssb_internal.disable_if_poisoned(v_queue);
    END IF;
    SELECT m.endpoint_id, m.queuing_order, e.lock_id INTO v_first
      FROM ssb.claimed_conversation AS c
      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id AND e.closed_at IS NULL
      JOIN ssb.message_stored AS m ON m.endpoint_id = c.endpoint_id AND m.queuing_order <= c.last_order
     WHERE c.claim_id = v_claim.claim_id
     ORDER BY m.priority DESC, m.queuing_order LIMIT 1;
    IF NOT FOUND THEN
        RETURN true;
    END IF;
    PERFORM FROM ssb.conversation_endpoint AS l WHERE l.endpoint_id = v_first.lock_id FOR NO KEY UPDATE;
    PERFORM ssb_internal.quarantine_if_poisoned(v_queue.queue_id, v_first.lock_id, v_first.endpoint_id, v_first.queuing_order, v_fails);
    PERFORM ssb_internal.forget_attempts(v_queue);
    DELETE FROM ssb.claimed_conversation AS c
     USING ssb.conversation_endpoint AS e
     WHERE c.claim_id = v_claim.claim_id AND e.endpoint_id = c.endpoint_id AND e.lock_id = v_first.lock_id;
    IF NOT EXISTS (SELECT FROM ssb.claimed_conversation AS c WHERE c.claim_id = v_claim.claim_id) THEN
        -- The batch is run, and has nothing.
        INSERT INTO ssb.completed_claim (claim_id, claimed_at, deleted, replied, ended, failed)
        VALUES (v_claim.claim_id, v_claim.claimed_at, 0, 0, 0, 0);
        PERFORM ssb_internal.drop_claim(v_claim.claim_id);
    END IF;
    -- The front has the group's messages as the claim's, which goes on without them.
    DELETE FROM ssb.claimed_front AS f WHERE f.queue_id = v_queue.queue_id;
    FOREACH v_priority IN ARRAY v_queue.priorities LOOP
        PERFORM ssb_internal.note_claimed_front(v_queue.queue_id, v_priority, ssb_internal.decided_order(v_queue.order_sequence, 1));
    END LOOP;
    RETURN true;
END;
$$;

-- The messages of a claim, whose stream does not run, are free now and not only when it expires. Returns how many. The stream
-- fails when it comes again, unless it goes on without them (failOnDataLoss = false). For the claim's role, and operators.
CREATE OR REPLACE FUNCTION ssb.release_claim(claim_id integer)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_claim ssb.claim;
    v_messages bigint;
BEGIN
    SELECT c.* INTO v_claim FROM ssb.claim AS c WHERE c.claim_id = release_claim.claim_id FOR UPDATE;
    IF NOT FOUND OR NOT (ssb_internal.has_or_may_become(ssb_internal.caller(), v_claim.role)
                         OR pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE')) THEN
        PERFORM ssb_internal.raise_claim_lost(claim_id);
    ELSIF v_claim.expires_at IS NULL OR ssb_internal.stream_runs(v_claim.role, v_claim.stream) THEN
        RAISE EXCEPTION 'claim % is in use', claim_id USING ERRCODE = '55006',
            HINT = 'It ends with its job, or is released when its stream has stopped.';
    END IF;
    SELECT sum(c.messages)::bigint INTO v_messages FROM ssb.claimed_conversation AS c WHERE c.claim_id = release_claim.claim_id;
    PERFORM ssb_internal.drop_claim(claim_id);
    RETURN coalesce(v_messages, 0);
END;
$$;

-- Before the messages of a queue are counted that a run is to take: what a claim would find comes to it, timers that are due and messages
-- that could not be delivered before. False, and nothing came: the queue is off.
--
-- Called by  pgsb.bulk.streaming
-- Locks      as a claim does (claim_messages.sql)
CREATE OR REPLACE FUNCTION ssb_internal.bring_in(queue text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue := ssb_internal.queue_of(queue);
BEGIN
    PERFORM ssb_internal.require_receive(v_queue);
    IF NOT v_queue.is_receive_enabled OR ssb_internal.is_poisoned(v_queue) THEN
        RETURN false;
    END IF;
    PERFORM ssb_internal.deliver_due_on(v_queue.queue_id);
    PERFORM ssb_internal.fetch_waiting(v_queue.queue_id);
    RETURN true;
END;
$$;

-- What a stream's progress says of a queue: messages that wait, also in claims, and when the first of them came; and those
-- that are set aside, which wait for somebody's decision and not for the stream.
--
-- Called by  pgsb.bulk.streaming
CREATE OR REPLACE FUNCTION ssb_internal.waiting_on(queue text, OUT waiting bigint, OUT set_aside bigint, OUT oldest timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_queue ssb.queue := ssb_internal.queue_of(queue);
BEGIN
    PERFORM ssb_internal.require_receive(v_queue);
    SELECT count(*) FILTER (WHERE NOT m.is_set_aside), count(*) FILTER (WHERE m.is_set_aside), min(m.enqueued_at) FILTER (WHERE NOT m.is_set_aside)
      INTO waiting, set_aside, oldest
      FROM (SELECT s.enqueued_at,
                   e.lock_id IN (SELECT g.lock_id FROM ssb.quarantined_group AS g WHERE g.queue_id = v_queue.queue_id) AS is_set_aside
              FROM ssb.message_stored AS s
              JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = s.endpoint_id AND e.closed_at IS NULL
             WHERE s.queue_id = v_queue.queue_id) AS m;
END;
$$;

-- The queues of the current database, of which a pattern chooses: schema and name as people see them and without quotes, and
-- the name by which functions know the queue.
--
-- Called by  pgsb.bulk.source_options
CREATE OR REPLACE FUNCTION ssb_internal.queues_to_choose()
RETURNS TABLE (shown text, name text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ssb_internal.tsql_schema(q.schema_name) || '.' || q.relation_name, q.name
      FROM ssb.queue AS q WHERE q.database_id = ssb_internal.current_database_id() ORDER BY 2;
$$;

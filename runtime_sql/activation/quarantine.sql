-- POISON_MESSAGE_HANDLING (QUARANTINE = ON): instead of stopping the queue, the
-- group whose message was rolled back MAX_ROLLBACKS times in a row is set aside.
-- The rest of the queue goes on; so does sending to the group.
--
-- Set aside means: the group is claimed (claim_id of its lock's row) by a negative
-- number, which no session owns. Its messages stay where they are, in their order,
-- so resubmitting is one update.
CREATE TABLE IF NOT EXISTS ssb.quarantined_group (
    quarantine_id         bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    queue_id              integer     NOT NULL,
    lock_id               bigint      NOT NULL,           -- the endpoint whose row is the group's lock
    conversation_group_id uuid        NOT NULL,
    endpoint_id           bigint      NOT NULL,           -- the message that was rolled back …
    queuing_order         bigint      NOT NULL,
    rollbacks             integer     NOT NULL,
    error                 text,                           -- kept for when the log has no more of that time
    quarantined_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS quarantined_group_by_group ON ssb.quarantined_group (conversation_group_id);

-- What went wrong in a queue up to p_at, as far as the daemon has written it down: the
-- last error, or, of a program that catches its errors, the last that it printed.
CREATE OR REPLACE FUNCTION ssb_internal.last_error(p_queue text, p_at timestamptz)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT b.message FROM ssb.broker_log AS b
     WHERE b.queue = p_queue AND b.logged_at <= p_at AND (b.level = 'error' OR b.event IN ('print', 'output'))
     ORDER BY b.level = 'error' DESC, b.log_id DESC LIMIT 1;
$$;

-- What is set aside, message by message; is_poison marks the one that failed. The
-- daemon writes its log a moment after things happen, so the log is looked at anew.
DROP VIEW IF EXISTS ssb.quarantine;
CREATE VIEW ssb.quarantine AS
SELECT g.queue, g.conversation_group_id, e.conversation_handle, m.queuing_order, t.name AS message_type_name,
       m.body AS message_body,
       (m.endpoint_id = g.endpoint_id AND m.queuing_order = g.queuing_order)::integer::sys.bit AS is_poison,
       g.rollbacks, g.last_error AS error, g.quarantined_at
  FROM (SELECT g.*, q.name AS queue, coalesce(ssb_internal.last_error(q.name, g.quarantined_at), g.error) AS last_error
          FROM ssb.quarantined_group AS g JOIN ssb.queue AS q ON q.queue_id = g.queue_id OFFSET 0) AS g
  JOIN ssb.conversation_endpoint AS e ON e.lock_id = g.lock_id AND e.queue_id = g.queue_id
  JOIN ssb.message_stored AS m ON m.endpoint_id = e.endpoint_id
  JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id
 ORDER BY g.quarantine_id, m.queuing_order;

-- Called by  the daemon, which reports those that it has not seen before
CREATE OR REPLACE FUNCTION ssb_internal.groups_set_aside()
RETURNS TABLE (quarantine_id bigint, queue text, conversation_group text, message text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT g.quarantine_id, q.name, upper(g.conversation_group_id::text),
           format('message %s of type %s, conversation %s, was rolled back %s times', g.queuing_order,
                  (SELECT ssb_internal.message_type_name(m.message_type_id) FROM ssb.message_stored AS m
                    WHERE m.endpoint_id = g.endpoint_id AND m.queuing_order = g.queuing_order),
                  (SELECT upper(e.conversation_handle::text) FROM ssb.conversation_endpoint AS e
                    WHERE e.endpoint_id = g.endpoint_id), g.rollbacks)
      FROM ssb.quarantined_group AS g JOIN ssb.queue AS q ON q.queue_id = g.queue_id
     ORDER BY g.quarantine_id;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.groups_set_aside() FROM PUBLIC;

-- Sets the group aside if the queue wants that and p_fails rollbacks are enough. In
-- RECEIVE's transaction: when that one rolls back as well, the next RECEIVE comes
-- here again, since the count stays on record.
--
-- Called by  ssb_internal.receive_slow_path, begin_batch and quarantine_poisoned; the caller holds the group
CREATE OR REPLACE FUNCTION ssb_internal.quarantine_if_poisoned(p_queue_id integer, p_lock_id bigint, p_endpoint_id bigint,
                                                               p_order bigint, p_fails integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue;
    v_quarantine_id bigint;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    IF NOT v_queue.is_quarantine_enabled OR NOT v_queue.is_poison_handling_enabled
       OR p_fails IS NULL OR p_fails < v_queue.max_rollbacks THEN
        RETURN false;
    END IF;
    INSERT INTO ssb.quarantined_group AS g
           (queue_id, lock_id, conversation_group_id, endpoint_id, queuing_order, rollbacks, error)
    SELECT p_queue_id, p_lock_id, e.conversation_group_id, p_endpoint_id, p_order, p_fails,
           ssb_internal.last_error(v_queue.name, clock_timestamp())
      FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_endpoint_id
    RETURNING g.quarantine_id INTO v_quarantine_id;
    UPDATE ssb.conversation_endpoint AS l SET claim_id = -v_quarantine_id WHERE l.endpoint_id = p_lock_id;
    -- If this is committed, counting starts anew; if not, it was no attempt at a message.
    PERFORM ssb_internal.reset_at_commit(p_queue_id);
    RETURN true;
END;
$$;

-- The same for those who only look after the queue: its first message that a lost
-- transaction had received. Here the record can be cleared, for nothing follows that
-- could roll back.
--
-- Called by  ssb_internal.broker_sweep
CREATE OR REPLACE FUNCTION ssb_internal.quarantine_poisoned(p_queue ssb.queue)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_fails integer := CASE WHEN p_queue.is_quarantine_enabled THEN ssb_internal.failed_attempts(p_queue) END;
    v_found record;
BEGIN
    IF v_fails IS NULL OR v_fails < p_queue.max_rollbacks THEN
        RETURN false;
    END IF;
    SELECT m.endpoint_id, m.queuing_order, e.lock_id INTO v_found
      FROM ssb.message_stored AS m
      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id
      JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id
     WHERE m.queue_id = p_queue.queue_id AND m.xmax <> 0 AND e.closed_at IS NULL
       AND (l.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(l.claim_id))
     ORDER BY m.priority DESC, m.queuing_order LIMIT 1
       FOR NO KEY UPDATE OF l SKIP LOCKED;
    IF NOT FOUND OR NOT ssb_internal.quarantine_if_poisoned(p_queue.queue_id, v_found.lock_id, v_found.endpoint_id,
                                                            v_found.queuing_order, v_fails) THEN
        RETURN false;
    END IF;
    PERFORM ssb_internal.forget_attempts(p_queue);
    RETURN true;
END;
$$;

-- Ends a group's quarantine; 8436 when it is in none. The caller needs ALTER on the queue.
CREATE OR REPLACE FUNCTION ssb_internal.end_quarantine(p_group uuid)
RETURNS ssb.quarantined_group
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_group ssb.quarantined_group;
    v_queue ssb.queue;
BEGIN
    -- Of two that decide about it the second finds none.
    SELECT g.* INTO v_group FROM ssb.quarantined_group AS g WHERE g.conversation_group_id = p_group FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_error(8436, format('The conversation group "%s" is not found.', upper(p_group::text)), 16, 1,
                                         'The view ssb.quarantine shows what is set aside.');
    END IF;
    v_queue := ssb_internal.queue_to_change('alter', (SELECT q.name FROM ssb.queue AS q WHERE q.queue_id = v_group.queue_id));
    DELETE FROM ssb.quarantined_group AS g WHERE g.quarantine_id = v_group.quarantine_id;
    UPDATE ssb.conversation_endpoint AS l SET claim_id = NULL
     WHERE l.endpoint_id = v_group.lock_id AND l.claim_id = -v_group.quarantine_id;
    PERFORM ssb_internal.pardon(v_queue);
    RETURN v_group;
END;
$$;

-- The group can be received again, from the message that failed. Returns how many
-- messages that are.
DROP FUNCTION IF EXISTS ssb.resubmit_quarantined(uuid);
CREATE FUNCTION ssb.resubmit_quarantined(conversation_group uuid)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_group ssb.quarantined_group := ssb_internal.end_quarantine(conversation_group);
BEGIN
    RETURN count(*) FROM ssb.conversation_endpoint AS e
             JOIN ssb.message_stored AS m ON m.endpoint_id = e.endpoint_id
            WHERE e.lock_id = v_group.lock_id AND e.queue_id = v_group.queue_id;
END;
$$;

-- The message that failed is deleted; the group can be received again, from the next
-- one. Returns how many were deleted: 0 when its conversation was ended meanwhile.
DROP FUNCTION IF EXISTS ssb.drop_quarantined(uuid);
CREATE FUNCTION ssb.drop_quarantined(conversation_group uuid)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_group ssb.quarantined_group := ssb_internal.end_quarantine(conversation_group);
    v_count integer;
BEGIN
    DELETE FROM ssb.message_stored AS m
     WHERE m.endpoint_id = v_group.endpoint_id AND m.queuing_order = v_group.queuing_order;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END;
$$;

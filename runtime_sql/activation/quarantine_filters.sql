-- Decisions about groups in quarantine: fail one, and resubmit, drop or fail all that a filter finds. The single
-- ones are beside the quarantine itself. All need the right to ALTER the queue, and to fail, RECEIVE from it.

-- Ends the conversation whose message failed, with an error that the other side receives. The rest of its
-- group can be received again. Returns the conversation's handle.
CREATE OR REPLACE FUNCTION ssb.fail_quarantined(conversation_group uuid, error integer, description text)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_group ssb.quarantined_group;
    v_handle uuid;
BEGIN
    IF error IS NULL OR description IS NULL THEN
        PERFORM ssb_internal.raise_error(8419, 'Both the error code and the description must be provided for END CONVERSATION WITH ERROR. '
                                               'Neither value can be NULL.');
    END IF;
    v_group := ssb_internal.end_quarantine(conversation_group);
    SELECT e.conversation_handle INTO v_handle FROM ssb.conversation_endpoint AS e
     WHERE e.endpoint_id = v_group.endpoint_id AND e.closed_at IS NULL;
    IF FOUND THEN
        PERFORM ssb.end_conversation(v_handle, error, description);
    END IF;
    RETURN v_handle;
END;
$$;

-- The groups in quarantine that match: of a queue, with the error text LIKE p_error (of the log or as noted), set
-- aside for longer than p_older_than, with a poison message of type p_message_type. NULL matches everything.
-- Locks  the rows of ssb.quarantined_group: what somebody else decides about meanwhile does not match
CREATE OR REPLACE FUNCTION ssb_internal.quarantined_matching(p_queue text, p_error text, p_message_type text, p_older_than interval)
RETURNS SETOF uuid
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT g.conversation_group_id
      FROM ssb.quarantined_group AS g JOIN ssb.queue AS q ON q.queue_id = g.queue_id
     WHERE (p_queue IS NULL OR q.queue_id = (ssb_internal.queue_of(p_queue)).queue_id)
       AND (p_error IS NULL OR coalesce(ssb_internal.last_error(q.name, g.quarantined_at), g.error) LIKE p_error)
       AND (p_older_than IS NULL OR g.quarantined_at < clock_timestamp() - p_older_than)
       AND (p_message_type IS NULL
            OR EXISTS (SELECT FROM ssb.message_stored AS m JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id
                        WHERE m.endpoint_id = g.endpoint_id AND m.queuing_order = g.queuing_order AND t.name = p_message_type))
     ORDER BY g.quarantine_id FOR UPDATE OF g;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.quarantined_matching(text, text, text, interval) FROM PUBLIC;

-- All three return how many groups they decided about: all of those that match, or none, with the error.
CREATE OR REPLACE FUNCTION ssb.resubmit_all_quarantined(queue text DEFAULT NULL, error_like text DEFAULT NULL,
                                                        message_type text DEFAULT NULL, older_than interval DEFAULT NULL)
RETURNS bigint
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT count(ssb.resubmit_quarantined(g)) FROM ssb_internal.quarantined_matching($1, $2, $3, $4) AS g; $$;

CREATE OR REPLACE FUNCTION ssb.drop_all_quarantined(queue text DEFAULT NULL, error_like text DEFAULT NULL,
                                                    message_type text DEFAULT NULL, older_than interval DEFAULT NULL)
RETURNS bigint
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT count(ssb.drop_quarantined(g)) FROM ssb_internal.quarantined_matching($1, $2, $3, $4) AS g; $$;

CREATE OR REPLACE FUNCTION ssb.fail_all_quarantined(error integer, description text, queue text DEFAULT NULL,
                                                    error_like text DEFAULT NULL, message_type text DEFAULT NULL,
                                                    older_than interval DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_group uuid;
    v_count bigint := 0;
BEGIN
    FOR v_group IN SELECT g FROM ssb_internal.quarantined_matching($3, $4, $5, $6) AS g LOOP
        PERFORM ssb.fail_quarantined(v_group, $1, $2);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END;
$$;

-- Sets a group aside by hand, before its first message, as QUARANTINE does with those that fail: the undo of
-- ssb.resubmit_quarantined. False where it has no messages (any more), is set aside, or somebody has it. The caller needs ALTER on
-- the queue.
CREATE OR REPLACE FUNCTION ssb.set_aside(conversation_group uuid, error text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_variable
DECLARE
    v_queue ssb.queue;
    v_first record;
BEGIN
    SELECT q.* INTO v_queue FROM ssb.queue AS q
     WHERE q.queue_id = (SELECT e.queue_id FROM ssb.conversation_endpoint AS e
                          WHERE e.conversation_group_id = conversation_group LIMIT 1);
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_error(8436, format('The conversation group "%s" is not found.', upper(conversation_group::text)));
    END IF;
    v_queue := ssb_internal.queue_to_change('alter', v_queue.name);
    SELECT l.endpoint_id AS lock_id, l.claim_id INTO v_first
      FROM ssb.conversation_endpoint AS l
     WHERE l.endpoint_id = (SELECT e.lock_id FROM ssb.conversation_endpoint AS e
                             WHERE e.conversation_group_id = conversation_group LIMIT 1)
       FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND OR (v_first.claim_id IS NOT NULL AND ssb_internal.claim_is_alive(v_first.claim_id)) THEN
        RETURN false;
    END IF;
    -- After the lock: nobody takes them now.
    SELECT v_first.lock_id, m.endpoint_id, m.queuing_order INTO v_first
      FROM ssb.conversation_endpoint AS e
      JOIN ssb.message_stored AS m ON m.endpoint_id = e.endpoint_id
     WHERE e.lock_id = v_first.lock_id AND e.queue_id = v_queue.queue_id AND e.closed_at IS NULL
     ORDER BY m.queuing_order LIMIT 1;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    WITH noted AS (
        INSERT INTO ssb.quarantined_group AS g
               (queue_id, lock_id, conversation_group_id, endpoint_id, queuing_order, rollbacks, error)
        VALUES (v_queue.queue_id, v_first.lock_id, conversation_group, v_first.endpoint_id, v_first.queuing_order, 0, error)
        RETURNING g.quarantine_id)
    UPDATE ssb.conversation_endpoint AS l SET claim_id = -n.quarantine_id FROM noted AS n WHERE l.endpoint_id = v_first.lock_id;
    RETURN true;
END;
$$;

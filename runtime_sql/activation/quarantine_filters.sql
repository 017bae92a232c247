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
CREATE OR REPLACE FUNCTION ssb_internal.quarantined_matching(p_queue text, p_error text, p_message_type text, p_older_than interval)
RETURNS SETOF uuid
LANGUAGE sql STABLE
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
     ORDER BY g.quarantine_id;
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

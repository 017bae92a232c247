-- END CONVERSATION.
-- Called by  compiled END CONVERSATION, DROP SERVICE; 156 for those that a set leaves
-- Locks      this side's group. The far side's row is read, never written: its
--            state follows from ours (ssb.endpoint_state).

-- Takes away what this side has in its queue: nobody will receive it.
CREATE OR REPLACE FUNCTION ssb.forget_messages(p_endpoint_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    DELETE FROM ssb.message_stored AS m WHERE m.endpoint_id = p_endpoint_id;
    DELETE FROM ssb.retained_message AS r WHERE r.endpoint_id = p_endpoint_id;
END;
$$;

-- The endpoint with all that hangs on it.
CREATE OR REPLACE FUNCTION ssb.remove_endpoint(p_endpoint ssb.conversation_endpoint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    PERFORM ssb.forget_messages(p_endpoint.endpoint_id);
    IF p_endpoint.has_waiting THEN
        DELETE FROM ssb.transmission AS t WHERE t.endpoint_id = p_endpoint.endpoint_id;
    END IF;
    PERFORM ssb.hand_over_group(p_endpoint.endpoint_id);
    DELETE FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_endpoint.endpoint_id;
END;
$$;

-- Marks a side as closed. An initiator's row has no more to tell once the far side
-- has closed too; a target's stays for 30 minutes, as SQL Server keeps it.
CREATE OR REPLACE FUNCTION ssb.close_endpoint(p_endpoint ssb.conversation_endpoint, p_is_known boolean, p_by_error boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF p_endpoint.is_initiator AND p_is_known
       AND (p_endpoint.far_endpoint_id IS NULL OR p_endpoint.far_outcome IS NOT NULL
            OR NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS f
                            WHERE f.endpoint_id = p_endpoint.far_endpoint_id AND f.closed_at IS NULL)) THEN
        PERFORM ssb.remove_endpoint(p_endpoint);
        RETURN;
    END IF;
    PERFORM ssb.forget_messages(p_endpoint.endpoint_id);
    IF p_is_known AND p_endpoint.has_waiting AND p_endpoint.far_endpoint_id IS NULL THEN
        -- For another instance, where the other side has ended, too: nobody reads there any more.
        DELETE FROM ssb.transmission AS t WHERE t.endpoint_id = p_endpoint.endpoint_id;
    END IF;
    UPDATE ssb.conversation_endpoint AS e
       SET closed_at = clock_timestamp(), is_close_known = p_is_known, is_closed_by_error = p_by_error,
           dialog_timer = NULL, due_at = clock_timestamp() + interval '30 minutes'
     WHERE e.endpoint_id = p_endpoint.endpoint_id;
END;
$$;

-- An EndDialog or Error that had to wait has reached the far side at last.
CREATE OR REPLACE FUNCTION ssb.note_close_known(p_endpoint_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    UPDATE ssb.conversation_endpoint AS e
       SET is_close_known = true, closed_at = clock_timestamp(), due_at = clock_timestamp() + interval '30 minutes'
     WHERE e.endpoint_id = p_endpoint_id AND e.closed_at IS NOT NULL;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.end_conversation(handle uuid, error integer DEFAULT NULL, description text DEFAULT NULL,
                                                cleanup boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_endpoint ssb.conversation_endpoint;
    v_queue ssb.queue;
    v_state char(2);
    v_number bigint;
    v_is_known boolean := true;
BEGIN
    IF coalesce(error::text, description) IS NULL AND cleanup IS NOT TRUE AND ssb.end_usual(handle) THEN
        RETURN;
    ELSIF handle IS NULL THEN
        PERFORM ssb.raise_error(8418, 'The conversation handle is missing. Specify a conversation handle.');
    ELSIF (error IS NULL) <> (description IS NULL) THEN
        PERFORM ssb.raise_error(8419, 'Both the error code and the description must be provided for END CONVERSATION WITH ERROR. '
                                      'Neither value can be NULL.');
    ELSIF error <= 0 THEN
        PERFORM ssb.raise_error(1080, format('The integer value %s is out of range.', error), 15, 1,
                                'The failure code of END CONVERSATION WITH ERROR is greater than 0.');
    END IF;
    v_endpoint := ssb.lock_endpoint(handle);
    v_state := ssb.endpoint_state(v_endpoint);
    IF v_endpoint.endpoint_id IS NULL OR v_state IS NULL THEN
        PERFORM ssb.raise_handle_not_found(handle);
    END IF;
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = v_endpoint.queue_id;
    PERFORM ssb.require_receive(v_queue);
    IF v_endpoint.is_system THEN
        PERFORM ssb.drop_notification_of(v_endpoint.conversation_handle, v_endpoint.far_endpoint_id);
    END IF;
    IF cleanup AND v_state = 'CD' THEN
        -- The far side was told already, and learns it from this row until that goes.
        UPDATE ssb.conversation_endpoint AS e SET is_cleaned_up = true WHERE e.endpoint_id = v_endpoint.endpoint_id;
        RETURN;
    ELSIF cleanup THEN
        PERFORM ssb.remove_endpoint(v_endpoint);
        PERFORM ssb.drop_system_side(v_endpoint);
        RETURN;
    ELSIF v_state IN ('CD', 'DO') THEN
        PERFORM ssb.raise_error(8427, format('The conversation endpoint is not in a valid state for END CONVERSATION. '
                                             'The current endpoint state is ''%s''.', v_state));
    END IF;

    -- Tell the far side, unless it has ended itself, knows, or was never told of us.
    IF v_state = 'CO' THEN
        v_number := ssb.next_number(v_endpoint);
        IF error IS NOT NULL AND v_endpoint.has_waiting THEN
            DELETE FROM ssb.transmission AS t WHERE t.endpoint_id = v_endpoint.endpoint_id;
            v_endpoint.has_waiting := false;
            UPDATE ssb.conversation_endpoint AS e SET has_waiting = false WHERE e.endpoint_id = v_endpoint.endpoint_id;
        END IF;
        IF error IS NULL THEN
            v_is_known := ssb.deliver_or_keep(v_endpoint, 'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog',
                                              v_number, true, false, NULL);
        ELSIF v_endpoint.far_endpoint_id IS NOT NULL
              OR EXISTS (SELECT FROM ssb.remote_conversation AS r WHERE r.endpoint_id = v_endpoint.endpoint_id) THEN
            v_is_known := ssb.deliver_or_keep(v_endpoint, 'http://schemas.microsoft.com/SQL/ServiceBroker/Error',
                                              v_number, false, true, ssb.error_body(error, left(description, 3000)));
        END IF;
        SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_endpoint.endpoint_id;
    END IF;
    PERFORM ssb.close_endpoint(v_endpoint, v_is_known, error IS NOT NULL);
    PERFORM ssb.drop_system_side(v_endpoint);
END;
$$;

-- The target of an event notification has ended its dialog: nobody would ever end the other side.
-- Locks  that side's group; who sends from there holds it, and never waits for this side's
CREATE OR REPLACE FUNCTION ssb.drop_system_side(p_endpoint ssb.conversation_endpoint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF p_endpoint.is_system AND NOT p_endpoint.is_initiator THEN
        PERFORM ssb.remove_endpoint(f)
           FROM ssb.conversation_endpoint AS f WHERE f.endpoint_id = p_endpoint.far_endpoint_id AND f.is_system;
        UPDATE ssb.conversation_endpoint AS e SET far_outcome = 'DI' WHERE e.endpoint_id = p_endpoint.endpoint_id;
    END IF;
END;
$$;

-- This side's service is being dropped: the far side learns it as an Error.
CREATE OR REPLACE FUNCTION ssb.tell_far_side_of_loss(p_endpoint ssb.conversation_endpoint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_endpoint.closed_at IS NULL AND p_endpoint.far_endpoint_id IS NOT NULL AND ssb.endpoint_state(p_endpoint) = 'CO' THEN
        PERFORM ssb.fail_endpoint(p_endpoint.far_endpoint_id, -8470, 'Remote service has been dropped.');
    END IF;
END;
$$;
